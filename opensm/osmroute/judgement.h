// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A table of an engine: the verifier's verdict, its cost and its quality. */
#ifndef OSMROUTE_JUDGEMENT_H
#define OSMROUTE_JUDGEMENT_H

#include "fabric/builder.h"
#include "osmroute/cost.h"
#include "osmroute/quality.h"
#include "policy/partition/partition.h"
#include "route/engine.h"
#include "route/renew/renew.h"

/* What to judge. */
struct judge_task {
	struct builder *builder; /* with LIDs assigned */
	const struct route_input *input;
	const struct options *options;
	struct partition_rules *rules; /* which may send to which; NULL: all to all */
	const GArray *ties; /* cables to which these partitions are tied, struct tie_row */
	struct quality_effort effort;
	unsigned int repeats; /* of engine and verifier, at least 1: costs are medians */
	uint32_t lose;	      /* cables between switches to lose at a time; 0: none */
	unsigned int outages; /* 1 << enum outage_kind: to be lost and restored one at a time */
	unsigned int trials;  /* number of random losses */
	uint64_t seed;	      /* of the losses */
	const struct routing *held; /* what switches hold before a transition; NULL: none */
};

struct judgement {
	char *refusal; /* why the engine made no table, all below is then empty; or NULL */
	struct cost engine, verify;
	bool good; /* the verifier accepts it: it may be programmed */
	struct route_verdict verdict;
	struct quality quality;
	unsigned int lanes; /* virtual lanes that its paths need */
	uint64_t blocks; /* of 64 entries, in the LFTs of all switches */
	char *note; /* on the tables, for the operator; NULL: none */
	char *digest;	 /* SHA-256 of all tables */
	enum route_way way; /* how it was derived */
};

/* The demand on a fabric. */
struct judge_traffic {
	struct partitions *partitions;
	struct route_demand *demand; /* NULL: all to all */
	struct route_ties *ties;
	struct route_input input; /* of the task; with demand if engines are to use it */
};

void judge_traffic_init(struct judge_traffic *traffic, const struct judge_task *task,
			const struct fabric *fabric);
void judge_traffic_clear(struct judge_traffic *traffic);

/* The table of an engine and its cost, or NULL and a refusal in the judgement. */
struct routing *judgement_compute(const struct judge_task *task, const struct fabric *fabric,
				  const struct route_engine *engine, struct judgement *judgement);
/*
 * What the daemon makes of its previous table when the fabric has changed: a repair if that is
 * possible and right, else a new table, with old entries after a loss.
 */
struct routing *judgement_repair(const struct judge_task *task, const struct fabric *fabric,
				 const struct route_engine *engine, const struct routing *old,
				 struct judgement *judgement);
/* Fills the rest of the judgement. */
void judgement_weigh(const struct judge_task *task, const struct fabric *fabric,
		     const struct routing *routing, struct judgement *judgement);
void judgement_clear(struct judgement *judgement);

#endif
