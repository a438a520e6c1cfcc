// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Files that are read again when nobody says that they changed: whether they did. */
#ifndef CTL_FOLLOWED_H
#define CTL_FOLLOWED_H

#include <glib.h>
#include <stdbool.h>

/* Some that are read together. All 0: never. */
struct followed {
	char *read; /* how they looked when they were read last */
};

/* To be called before they are read: their names (char *), NULL where none is given. */
void followed_read(struct followed *followed, const GPtrArray *names);
/* Whether they look otherwise than when they were read last. */
bool followed_changed(const struct followed *followed, const GPtrArray *names);
void followed_clear(struct followed *followed);

#endif
