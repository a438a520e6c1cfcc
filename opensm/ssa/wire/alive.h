// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The pulse: the daemon that is MASTER says in its store now and then which epoch is the current
 * one. Cores and replicas pass it on as it is, so a host knows that the daemon and all that is
 * between them work, and that it has missed nothing. It is signed as manifests are, and a reader
 * takes none twice, so a store cannot keep an old epoch in use by repeating it.
 */
#ifndef SSA_WIRE_ALIVE_H
#define SSA_WIRE_ALIVE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SSA_ALIVE_S 10	  /* seconds from one to the next */
#define SSA_ALIVE_MAX 256 /* octets of its text, at most */

struct ssa_alive {
	uint64_t term, epoch;
	uint64_t time_us; /* by the clock of the daemon */
};

/* key NULL: not signed. Free with g_free(). */
char *ssa_alive_text(const struct ssa_alive *alive, uint64_t prefix, GBytes *key);
/* False: it is none, or not signed by the key; *alive is unchanged. */
bool ssa_alive_parse(const char *text, uint64_t prefix, GBytes *key, struct ssa_alive *alive);
/* Whether it is later than the last one: by term, then by time. */
bool ssa_alive_is_news(const struct ssa_alive *alive, const struct ssa_alive *last);

#endif
