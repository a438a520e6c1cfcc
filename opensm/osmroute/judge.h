// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One engine on one fabric: its table, what the verifier says of it, what it cost and is worth. */
#ifndef OSMROUTE_JUDGE_H
#define OSMROUTE_JUDGE_H

#include "fabric/builder.h"
#include "osmroute/cost.h"
#include "osmroute/quality.h"
#include "route/engine.h"

/* What is asked. */
struct judge_task {
	struct builder *builder; /* with LIDs */
	const struct route_input *input;
	struct quality_effort effort;
	unsigned int repeats; /* of engine and verifier, at least 1: their costs are medians */
	uint32_t lose;	      /* cables between switches to lose at a time; 0: none */
	unsigned int trials;  /* how often */
	uint64_t seed;	      /* of the losses */
};

struct judgement {
	char *refusal; /* why the engine made no table, which leaves all below empty; or NULL */
	struct cost engine, verify;
	bool good; /* the verifier's answer: such a table may be programmed */
	struct route_verdict verdict;
	struct quality quality;
	uint64_t blocks; /* of 64 entries, in the LFTs of all switches */
};

/* After a loss. */
struct judge_trial {
	struct judgement after;
	uint32_t lost;	  /* cables */
	uint32_t n_hosts; /* that are cut off from the SM's port */
	uint64_t kept;	  /* entries put back by routing_keep() */
	uint64_t changed; /* LFT blocks to program */
};

struct judge_report {
	const struct route_engine *engine;
	struct judgement before;
	struct routing *routing; /* NULL if refused */
	GArray *trials;		 /* struct judge_trial; none if refused */
};

/*
 * The report of this engine; fabric is the builder's, frozen. Each engine loses the same cables,
 * which are back in place at the end.
 */
struct judge_report *judge_engine(const struct judge_task *task, const struct fabric *fabric,
				  const struct route_engine *engine);
void judge_report_free(struct judge_report *report);

/* Whether the engine refused, or the verifier rejected a table, now or after a loss. */
bool judge_refused(const struct judge_report *report);
bool judge_rejected(const struct judge_report *report);

#endif
