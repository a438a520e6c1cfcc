// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How the daemon would change switches from tables that they hold to new ones: transition.h. */
#ifndef OSMROUTE_PASSAGE_H
#define OSMROUTE_PASSAGE_H

#include "core/options.h"
#include "route/engine.h"

struct passage {
	uint32_t stages;    /* 0: not asked for */
	uint32_t ordered;   /* LIDs whose switches are written one after another */
	uint32_t discarded; /* LIDs that discard first */
	uint64_t blocks;    /* of 64 entries, written in all stages */
	char *exposed;	    /* which part of the change may deadlock; NULL: none, or not asked */
};

/*
 * The tables of a file in the format of --tables, or NULL and error; with the SLs of hosts as in
 * the daemon's file path_sls (NULL: all use SL 0).
 */
struct routing *passage_held(const struct fabric *fabric, const struct options *options,
			     const char *file, const char *sls, GError **error);
/* verdict: on the new tables. */
void passage_find(const struct routing *held, const struct routing *routing,
		  const struct route_verdict *verdict, struct passage *passage);
void passage_clear(struct passage *passage);

#endif
