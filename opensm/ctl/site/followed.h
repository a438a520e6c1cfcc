// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files that are read again when nobody says that they changed: whether they did, and whether that
 * is over. What has just been written may be half of what it is to be: it counts once it is two
 * seconds old, or looks as it did a second ago, if clocks do not agree.
 */
#ifndef CTL_SITE_FOLLOWED_H
#define CTL_SITE_FOLLOWED_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define FOLLOWED_AGAIN_NS UINT64_C(1000000000)

/* Some that are read together. All 0: never. */
struct followed {
	char *read; /* how they looked when they were read last */
	char *seen; /* and when they were last found to be too young; NULL: never */
	uint64_t seen_ns; /* since when */
};

enum followed_state {
	FOLLOWED_SAME,	/* they look as they did when they were read last */
	FOLLOWED_YOUNG, /* otherwise, but may change yet: to be looked at after FOLLOWED_AGAIN_NS */
	FOLLOWED_OTHER,
};

/* To be called before they are read: their names (char *), NULL where none is given. */
void followed_read(struct followed *followed, const GPtrArray *names);
enum followed_state followed_look(struct followed *followed, const GPtrArray *names,
				  uint64_t now_ns);
void followed_clear(struct followed *followed);

#endif
