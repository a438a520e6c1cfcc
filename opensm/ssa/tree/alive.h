// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The pulse of the core: it says in its Redis server now and then which epoch is the current one.
 * Replicas pass it on, so a host knows that all servers above it work, and that it has missed
 * nothing. It is signed as manifests are, and a reader takes none twice, so a store cannot keep an
 * old epoch in use by repeating it.
 */
#ifndef SSA_TREE_ALIVE_H
#define SSA_TREE_ALIVE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SSA_ALIVE_S 10 /* seconds from one to the next */

struct ssa_alive {
	uint64_t term, epoch;
	uint64_t time_us; /* by the clock of the core */
};

/* key NULL: not signed. Free with g_free(). */
char *ssa_alive_text(const struct ssa_alive *alive, uint64_t prefix, GBytes *key);
/* False: it is none, or not signed by the key. */
bool ssa_alive_parse(const char *text, uint64_t prefix, GBytes *key, struct ssa_alive *alive);
/* Whether it is later than the last one: by term, then by time. */
bool ssa_alive_is_news(const struct ssa_alive *alive, const struct ssa_alive *last);

#endif
