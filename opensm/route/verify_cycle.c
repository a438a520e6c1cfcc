// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The dependencies of a proof by an order that has exceptions: these, which are noted one by one,
 * and all that the order allows, which are more than there are. A cycle of them is one in truth if
 * there are LIDs that go each of its steps. Steps that none goes are taken out, and the search
 * begins again.
 */
#include "route/verify_proof.h"

#define SEARCHES_MAX 16

static void add_edge(const struct route_graph *graph, const struct route_edge *edge,
		     struct dependency_ports *ports)
{
	for (unsigned int k = 0; k < edge->n_links; k++) {
		uint8_t num = graph->links[edge->first_link + k];

		ports->word[num / 64] |= UINT64_C(1) << num % 64;
	}
}

/* All that up and then down may mean, except that nobody turns back where it came from. */
static void allow_edge(const struct verify_proof *proof, uint32_t sw, const struct route_edge *edge)
{
	const struct route_graph *graph = proof->verify->graph;
	bool up = verify_leads_up(proof->order, sw, edge->to);
	struct dependency_ports outs = { { 0 } };

	for (uint32_t e = graph->first_edge[edge->to]; e < graph->first_edge[edge->to + 1]; e++) {
		uint32_t to = graph->edges[e].to;

		if (to != sw && (up || !verify_leads_up(proof->order, edge->to, to)))
			add_edge(graph, &graph->edges[e], &outs);
	}
	for (unsigned int k = 0; k < edge->n_links; k++)
		dependency_add_set(proof->verify->dependency, sw,
				   graph->links[edge->first_link + k], &outs);
}

static void allow_edges(const struct verify_proof *proof)
{
	const struct route_graph *graph = proof->verify->graph;

	for (uint32_t sw = 0; sw < graph->n; sw++)
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
			allow_edge(proof, sw, &graph->edges[e]);
}

enum step { STEP_UNUSED, STEP_PERHAPS, STEP_REAL };

/* Whether LIDs leave by one channel and then by the other. Those of switches need not count. */
static enum step judge_step(const struct verify_proof *proof, struct dependency_channel from,
			    struct dependency_channel to)
{
	const struct routing *routing = proof->verify->routing;
	const uint8_t *here = routing->lft[from.sw], *there = routing->lft[to.sw];
	enum step step = STEP_UNUSED;

	for (uint32_t lid = 1; lid <= routing->top; lid++) {
		if (here[lid] != from.port || there[lid] != to.port || !proof->octets[lid])
			continue;
		if (proof->hosts[lid / 64] >> lid % 64 & 1)
			return STEP_REAL;
		step = STEP_PERHAPS;
	}
	return step;
}

/* Takes out what is not used; the least certain of the steps. */
static enum step judge_cycle(const struct verify_proof *proof, const GArray *cycle)
{
	enum step least = STEP_REAL;

	for (uint32_t i = 0; i < cycle->len; i++) {
		struct dependency_channel from = g_array_index(cycle, struct dependency_channel, i);
		struct dependency_channel to = g_array_index(cycle, struct dependency_channel,
							     (i + 1) % cycle->len);
		enum step step = judge_step(proof, from, to);

		if (step == STEP_UNUSED)
			dependency_remove(proof->verify->dependency, from.sw, from.port, to.port);
		least = MIN(least, step);
	}
	return least;
}

bool verify_settle_cycle(const struct verify_proof *proof)
{
	struct verify *verify = proof->verify;

	allow_edges(proof);
	for (unsigned int search = 0; search < SEARCHES_MAX; search++) {
		GArray *cycle = dependency_cycle(verify->dependency);
		enum step least;

		if (!cycle)
			return true;
		least = judge_cycle(proof, cycle);
		if (least == STEP_REAL) {
			verify->cycle = cycle;
			return true;
		}
		g_array_unref(cycle);
		if (least == STEP_PERHAPS)
			return false;
	}
	return false;
}
