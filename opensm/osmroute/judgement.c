// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Runs an engine as the daemon does: repair of an earlier table, or a new one, then the verifier.
 * Engines are not known by name here.
 */
#include "osmroute/judgement.h"

#include <stdlib.h>

#include "policy/files/ties.h"
#include "policy/partition/demand.h"
#include "route/value/lanes.h"

void judge_traffic_init(struct judge_traffic *traffic, const struct judge_task *task,
			const struct fabric *fabric)
{
	*traffic = (struct judge_traffic){.input = *task->input};
	if (!task->rules)
		return;
	traffic->partitions = partitions_make(task->rules, task->options, fabric);
	traffic->demand = demand_of_partitions(traffic->partitions);
	if (task->options->partition_aware_routing)
		traffic->input.demand = traffic->demand;
	traffic->input.ties = traffic->ties = ties_make(task->ties, traffic->partitions);
}

void judge_traffic_clear(struct judge_traffic *traffic)
{
	demand_free(traffic->demand);
	ties_free(traffic->ties);
	partitions_unref(traffic->partitions);
}

static int compare_costs(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	return x->seconds < y->seconds ? -1 : x->seconds > y->seconds;
}

/* The cost with median seconds; memory is the greatest, as caches of malloc() hide some. */
static struct cost median_cost(struct cost *costs, unsigned int n)
{
	struct cost cost;

	qsort(costs, n, sizeof(*costs), compare_costs);
	cost = costs[n / 2];
	cost.least = costs[0].seconds;
	for (unsigned int i = 0; i < n; i++)
		cost.memory = MAX(cost.memory, costs[i].memory);
	return cost;
}

static struct routing *make_once(const struct route_input *input, const struct fabric *fabric,
				 const struct route_engine *engine, const struct routing *old,
				 struct judgement *judgement)
{
	g_autoptr(GError) error = NULL;
	struct routing *routing =
		routing_renew(engine, fabric, input, old, &judgement->way, &error);

	if (!routing)
		judgement->refusal = g_utf8_make_valid(error->message, -1);
	return routing;
}

static struct routing *make(const struct judge_task *task, const struct fabric *fabric,
			    const struct route_engine *engine, const struct routing *old,
			    struct judgement *judgement)
{
	g_autofree struct cost *costs = g_new(struct cost, task->repeats);
	struct routing *routing = NULL;
	struct judge_traffic traffic;

	judge_traffic_init(&traffic, task, fabric);
	for (unsigned int i = 0; i < task->repeats && (routing || !i); i++) {
		struct cost_meter meter;

		routing_unref(routing);
		cost_begin(&meter, task->input->threads);
		routing = make_once(&traffic.input, fabric, engine, old, judgement);
		cost_end(&meter, &costs[i]);
	}
	judge_traffic_clear(&traffic);
	if (routing)
		judgement->engine = median_cost(costs, task->repeats);
	return routing;
}

struct routing *judgement_compute(const struct judge_task *task, const struct fabric *fabric,
				  const struct route_engine *engine, struct judgement *judgement)
{
	return make(task, fabric, engine, NULL, judgement);
}

struct routing *judgement_repair(const struct judge_task *task, const struct fabric *fabric,
				 const struct route_engine *engine, const struct routing *old,
				 struct judgement *judgement)
{
	struct routing *routing = make(task, fabric, engine, old, judgement);
	struct route_verdict verdict;
	struct judge_traffic traffic;
	bool right;

	if (!routing || judgement->way == ROUTE_ANEW)
		return routing;
	judge_traffic_init(&traffic, task, fabric);
	right = route_verify_by(fabric, routing, &traffic.input, &verdict);
	judge_traffic_clear(&traffic);
	route_verdict_clear(&verdict);
	if (right)
		return routing;
	routing_unref(routing);
	return make(task, fabric, engine, NULL, judgement);
}

static void add_lanes(GChecksum *sum, const struct route_lanes *lanes)
{
	const struct route_turns *turns = lanes->turns;
	uint32_t n = lanes->n_switches;

	g_checksum_update(sum, lanes->vl, sizeof(lanes->vl));
	if (lanes->sl)
		g_checksum_update(sum, lanes->sl, (gssize)n * n);
	for (uint32_t sw = 0; turns && sw < n; sw++)
		g_checksum_update(sum, (const guchar *)&turns->rows[turns->first[sw]],
				  (gssize)turns->width[sw] * turns->width[sw] *
					  sizeof(*turns->rows));
}

/* Of LFTs and lanes: the SLs of paths, and SLtoVLMappingTables. */
static char *digest_of(const struct routing *routing)
{
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	char *digest;

	for (uint32_t sw = 0; sw < routing->n_switches; sw++)
		g_checksum_update(sum, routing->lft[sw], routing->top + 1);
	if (routing->lanes)
		add_lanes(sum, routing->lanes);
	digest = g_strdup(g_checksum_get_string(sum));
	g_checksum_free(sum);
	return digest;
}

void judgement_weigh(const struct judge_task *task, const struct fabric *fabric,
		     const struct routing *routing, struct judgement *judgement)
{
	g_autofree struct cost *costs = g_new(struct cost, task->repeats);
	struct judge_traffic traffic;

	judge_traffic_init(&traffic, task, fabric);
	for (unsigned int i = 0; i < task->repeats; i++) {
		struct cost_meter meter;

		route_verdict_clear(&judgement->verdict);
		cost_begin(&meter, task->input->threads);
		judgement->good = route_verify_by(fabric, routing, &traffic.input,
						  &judgement->verdict);
		cost_end(&meter, &costs[i]);
	}
	judgement->verify = median_cost(costs, task->repeats);
	judgement->blocks = (uint64_t)routing->n_blocks * routing->n_switches;
	judgement->lanes = routing->lanes ? routing->lanes->n : 1;
	judgement->digest = digest_of(routing);
	judgement->note = g_strdup(routing->note);
	quality_measure(fabric, routing, traffic.demand, &task->effort, &judgement->quality);
	judge_traffic_clear(&traffic);
}

void judgement_clear(struct judgement *judgement)
{
	g_free(judgement->refusal);
	g_free(judgement->digest);
	g_free(judgement->note);
	route_verdict_clear(&judgement->verdict);
}
