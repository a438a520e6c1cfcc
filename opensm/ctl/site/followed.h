// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files that are read again without a request: detects that they changed and that the writing is
 * over. A file just written may be incomplete: it is accepted once it is two seconds old or, where
 * clocks do not agree, unchanged for a second.
 */
#ifndef CTL_SITE_FOLLOWED_H
#define CTL_SITE_FOLLOWED_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define FOLLOWED_AGAIN_NS UINT64_C(1000000000)

/* Files that are read together. All 0: never read. */
struct followed {
	char *read; /* how they looked when they were last read */
	char *seen; /* how they looked when they were last found too young; NULL: never */
	uint64_t seen_ns; /* since when they look like that */
};

enum followed_state {
	FOLLOWED_SAME,	/* they look as they did when they were read last */
	FOLLOWED_YOUNG, /* they differ, but may still change: look again after FOLLOWED_AGAIN_NS */
	FOLLOWED_OTHER,
};

/* Call before the files are read, with their names (char *), NULL where none is given. */
void followed_read(struct followed *followed, const GPtrArray *names);
enum followed_state followed_look(struct followed *followed, const GPtrArray *names,
				  uint64_t now_ns);
void followed_clear(struct followed *followed);

#endif
