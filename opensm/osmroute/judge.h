// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One engine on one fabric, whole and after losses. */
#ifndef OSMROUTE_JUDGE_H
#define OSMROUTE_JUDGE_H

#include "osmroute/judgement.h"
#include "osmroute/passage.h"

/* After a random loss of cables. */
struct judge_trial {
	struct judgement after;
	uint32_t lost;	  /* cables */
	uint32_t n_hosts; /* cut off from the SM's port */
	uint64_t changed; /* LFT blocks to program */
};

struct judge_report {
	const struct route_engine *engine;
	struct judgement before;
	struct routing *routing; /* NULL if refused */
	struct passage passage;	 /* from the tables that switches hold; not to a wrong table */
	GArray *trials;		 /* struct judge_trial; none if refused */
	GPtrArray *outages;	 /* struct outage_report; none if refused */
};

/*
 * The report of this engine; fabric is the builder's, frozen. Each engine loses the same parts,
 * which are restored at the end.
 */
struct judge_report *judge_engine(const struct judge_task *task, const struct fabric *fabric,
				  const struct route_engine *engine);
void judge_report_free(struct judge_report *report);

/* Whether the engine refused, or the verifier rejected a table, now or after a loss. */
bool judge_refused(const struct judge_report *report);
bool judge_rejected(const struct judge_report *report);

#endif
