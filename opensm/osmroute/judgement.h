// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A table of an engine: what the verifier says of it, what it cost and is worth. */
#ifndef OSMROUTE_JUDGEMENT_H
#define OSMROUTE_JUDGEMENT_H

#include "fabric/builder.h"
#include "osmroute/cost.h"
#include "osmroute/quality.h"
#include "policy/partition/partition.h"
#include "route/engine.h"

/* What is asked. */
struct judge_task {
	struct builder *builder; /* with LIDs */
	const struct route_input *input;
	const struct options *options;
	struct partition_rules *rules; /* who may send to whom; NULL: all to all */
	const GArray *ties; /* cables that these partitions are tied to, struct tie_row */
	struct quality_effort effort;
	unsigned int repeats; /* of engine and verifier, at least 1: their costs are medians */
	uint32_t lose;	      /* cables between switches to lose at a time; 0: none */
	unsigned int outages; /* 1 << enum outage_kind: what to lose and get back one at a time */
	unsigned int trials;  /* how often */
	uint64_t seed;	      /* of the losses */
	const struct routing *held; /* what switches hold, to get from there; NULL: no question */
};

struct judgement {
	char *refusal; /* why the engine made no table, which leaves all below empty; or NULL */
	struct cost engine, verify;
	bool good; /* the verifier's answer: such a table may be programmed */
	struct route_verdict verdict;
	struct quality quality;
	unsigned int lanes; /* virtual lanes that its paths need */
	uint64_t blocks; /* of 64 entries, in the LFTs of all switches */
	char *note; /* what the operator should know of the tables; NULL: nothing */
	char *digest;	 /* SHA-256 of all tables, equal for equal ones */
	enum route_way way; /* how it came about */
};

/* Who sends to whom on a fabric. */
struct judge_traffic {
	struct partitions *partitions;
	struct route_demand *demand; /* NULL: all to all */
	struct route_ties *ties;
	struct route_input input; /* of the task; with demand, if engines are to mind it */
};

void judge_traffic_init(struct judge_traffic *traffic, const struct judge_task *task,
			const struct fabric *fabric);
void judge_traffic_clear(struct judge_traffic *traffic);

/* The table of an engine and its cost, or NULL and a refusal in the judgement. */
struct routing *judgement_compute(const struct judge_task *task, const struct fabric *fabric,
				  const struct route_engine *engine, struct judgement *judgement);
/*
 * What the daemon makes of the table that it had when the fabric is another now: a repair if that
 * is possible and right, else a table computed anew, with old entries after a loss.
 */
struct routing *judgement_repair(const struct judge_task *task, const struct fabric *fabric,
				 const struct route_engine *engine, const struct routing *old,
				 struct judgement *judgement);
/* All else of the judgement. */
void judgement_weigh(const struct judge_task *task, const struct fabric *fabric,
		     const struct routing *routing, struct judgement *judgement);
void judgement_clear(struct judgement *judgement);

#endif
