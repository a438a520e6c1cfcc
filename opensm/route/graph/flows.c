// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/graph/flows.h"

#include <pthread.h>
#include <string.h>

#include "route/fill/ties.h"
#include "route/graph/parallel.h"
#include "route/graph/watch.h"
#include "route/value/base.h"

static uint8_t *find_rises(const struct route_order *order, const struct route_channels *channels)
{
	uint8_t *rises = g_malloc0(channels->n + 1);

	for (uint32_t e = 0; e < order->graph->first_edge[order->graph->n]; e++)
		memset(rises + order->graph->edges[e].first_link, order->up[e] ? ROUTE_UP : 0,
		       order->graph->edges[e].n_links);
	return rises;
}

void route_flows_init(struct route_flows *flows, const struct route_plan *plan,
		      const struct route_channels *channels, const uint8_t *hops)
{
	const struct route_graph *graph = plan->graph;

	*flows = (struct route_flows){
		.plan = plan, .graph = graph, .hops = hops, .dest = FABRIC_NONE};
	flows->own = channels ? NULL : route_channels_new(graph, NULL);
	flows->channels = channels ? channels : flows->own;
	flows->far = g_malloc(graph->n + 1);
	flows->order = g_new(uint32_t, graph->n + 1);
	flows->sent = g_new0(uint64_t, graph->n + 1);
	flows->first = g_new(uint32_t, graph->n + 1);
	flows->last = g_new(uint32_t, graph->n + 1);
	flows->steps = g_new(struct route_step, graph->n_links + 1);
	flows->rises = plan->order.up ? find_rises(&plan->order, flows->channels) : NULL;
	flows->penalty = plan->wishes.tied ? g_new0(uint32_t, graph->n + 1) : NULL;
}

void route_flows_clear(struct route_flows *flows)
{
	route_channels_free(flows->own);
	g_free(flows->far);
	g_free(flows->order);
	g_free(flows->sent);
	g_free(flows->first);
	g_free(flows->last);
	g_free(flows->steps);
	g_free(flows->rises);
	g_free(flows->penalty);
}

uint32_t route_order_by_distance(const struct route_order *order, const uint8_t *hops,
				 uint32_t *switches)
{
	uint32_t n = order->graph->n, start[256 + 1] = {0};
	uint8_t mask = route_distance_mask(order);

	for (uint32_t sw = 0; sw < n; sw++)
		start[256 - (hops[sw] == ROUTE_FAR ? ROUTE_FAR : hops[sw] & mask)]++;
	start[1] = 0; /* those that do not reach the destination */
	for (unsigned int i = 1; i <= 256; i++)
		start[i] += start[i - 1];
	for (uint32_t sw = 0; sw < n; sw++)
		if (hops[sw] && hops[sw] != ROUTE_FAR)
			switches[start[255 - (hops[sw] & mask)]++] = sw;
	return start[255];
}

/* Whether hops are the same in both directions. */
static bool is_plain(const struct route_order *order)
{
	return !order->up && !order->weight;
}

void route_flows_turn_to(struct route_flows *flows, uint32_t dest)
{
	uint32_t n = flows->graph->n;

	if (is_plain(&flows->plan->order))
		memcpy(flows->far, flows->hops + (size_t)dest * n, n);
	else
		for (uint32_t sw = 0; sw < n; sw++)
			flows->far[sw] = flows->hops[(size_t)sw * n + dest];
	flows->n_order = route_order_by_distance(&flows->plan->order, flows->far, flows->order);
	flows->dest = dest;
	flows->listed = false;
	if (flows->penalty)
		flows->penalty[dest] = 0;
}

/*
 * Without directions and weights, where any channel leads nearer that ends nearer. Which ones do is
 * hard to predict, so there is no branch.
 */
static struct route_step *list_plain(const struct route_flows *flows, uint32_t sw,
				     struct route_step *restrict step)
{
	const uint32_t *to = flows->channels->to, *first = flows->channels->first;
	const uint8_t *far = flows->far;
	uint8_t nearer = far[sw] - 1;

	for (uint32_t c = first[sw]; c < first[sw + 1]; c++) {
		*step = (struct route_step){c, to[c]};
		step += far[to[c]] == nearer;
	}
	return step;
}

/* With directions. */
static struct route_step *list_directed(const struct route_flows *flows, uint32_t sw,
					struct route_step *restrict step)
{
	const uint32_t *to = flows->channels->to, *first = flows->channels->first;
	bool mixed = flows->plan->order.mixed;

	for (uint32_t c = first[sw]; c < first[sw + 1]; c++) {
		*step = (struct route_step){c, to[c]};
		step += mixed ? route_flows_leads(flows, sw, c)
			      : route_flows_leads_on(flows, sw, c);
	}
	return step;
}

static struct route_step *list_weighed(const struct route_flows *flows, uint32_t sw,
				       struct route_step *step)
{
	const struct route_graph *graph = flows->graph;
	const uint8_t *far = flows->far;

	route_each_edge(graph, sw, edge) {
		if (!route_leads(&flows->plan->order, edge - graph->edges, far[sw], far[edge->to]))
			continue;
		for (uint32_t k = 0; k < edge->n_links; k++)
			*step++ = (struct route_step){edge->first_link + k, edge->to};
	}
	return step;
}

#define EVERY_STEP UINT64_MAX

static uint32_t penalty_by(const struct route_flows *flows, const struct route_step *step)
{
	return flows->penalty[step->to] +
	       route_penalty(&flows->plan->wishes, step->channel, flows->listed_for);
}

/* Keeps only the steps of least penalty. Nearer switches must be done already. */
static void keep_least_penalty(struct route_flows *flows, uint32_t sw)
{
	uint32_t n = flows->first[sw];

	flows->penalty[sw] = UINT32_MAX;
	for (uint32_t i = n; i < flows->last[sw]; i++)
		flows->penalty[sw] = MIN(flows->penalty[sw], penalty_by(flows, &flows->steps[i]));
	for (uint32_t i = n; i < flows->last[sw]; i++)
		if (penalty_by(flows, &flows->steps[i]) == flows->penalty[sw])
			flows->steps[n++] = flows->steps[i];
	flows->last[sw] = n;
}

bool route_flows_list_steps(struct route_flows *flows, uint32_t target)
{
	struct route_step *(*list)(const struct route_flows *, uint32_t, struct route_step *) =
		is_plain(&flows->plan->order) ? list_plain
		: flows->rises		      ? list_directed
					      : list_weighed;
	struct route_step *step = flows->steps;
	uint64_t partitions = EVERY_STEP;

	if (flows->penalty && target != FABRIC_NONE)
		partitions = flows->plan->wishes.partitions[target];
	if (flows->listed && flows->listed_for == partitions)
		return false;
	flows->listed = true;
	flows->listed_for = partitions;

	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i];

		flows->first[sw] = step - flows->steps;
		step = list(flows, sw, step);
		flows->last[sw] = step - flows->steps;
	}
	for (uint32_t i = flows->n_order; partitions != EVERY_STEP && i-- > 0;)
		keep_least_penalty(flows, flows->order[i]);
	return true;
}

bool route_flows_is_least(const struct route_flows *flows, uint32_t sw, uint32_t channel)
{
	const struct route_step step = {channel, flows->channels->to[channel]};

	return !flows->penalty || flows->listed_for == EVERY_STEP ||
	       penalty_by(flows, &step) == flows->penalty[sw];
}

/* ---- flows by the tables ---- */

void route_flows_send(struct route_flows *flows, const struct routing *routing, uint32_t t)
{
	const struct route_target *target = &flows->graph->targets[t];

	if (flows->dest != target->leaf)
		route_flows_turn_to(flows, target->leaf);
	for (uint32_t i = 0; i < flows->n_order; i++)
		flows->sent[flows->order[i]] =
			route_n_senders(&flows->plan->wishes, flows->order[i], t);
	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i];
		uint32_t c = route_flows_channel(flows, routing, sw, target->lid);

		if (c != FABRIC_NONE)
			flows->sent[flows->channels->to[c]] += flows->sent[sw];
	}
}

void route_flows_load(const struct route_flows *flows, const struct routing *routing, uint32_t t,
		      bool in, uint64_t *load)
{
	uint16_t lid = flows->graph->targets[t].lid;

	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i], c = route_flows_channel(flows, routing, sw, lid);

		if (c != FABRIC_NONE)
			load[c] += in ? flows->sent[sw] : -flows->sent[sw];
	}
}

/* ---- sum of all loads ---- */

/* Shared by the threads. */
struct sum {
	const struct routing *routing;
	pthread_mutex_t lock;
	uint64_t *load; /* [link] */
};

static void add_leaves(void *arg, uint32_t first, uint32_t last)
{
	struct sum *sum = arg;
	const struct route_plan *plan = &sum->routing->repair_state->plan;
	const struct route_graph *graph = plan->graph;
	g_autofree uint64_t *load = g_new0(uint64_t, graph->n_links + 1);
	struct route_flows flows;

	route_flows_init(&flows, plan, NULL, sum->routing->repair_state->hops);
	for (uint32_t t = graph->first_target[first]; t < graph->first_target[last]; t++) {
		if (!route_watch_look(graph->watch))
			break;
		if (plan->wishes.of[t].ignored)
			continue;
		route_flows_send(&flows, sum->routing, t);
		route_flows_load(&flows, sum->routing, t, true, load);
	}
	pthread_mutex_lock(&sum->lock);
	for (uint32_t link = 0; link < graph->n_links; link++)
		sum->load[link] += load[link];
	pthread_mutex_unlock(&sum->lock);
	route_flows_clear(&flows);
}

uint64_t *routing_loads(const struct routing *routing, unsigned int threads)
{
	const struct route_graph *graph = routing->repair_state->plan.graph;
	struct sum sum = {.routing = routing, .lock = PTHREAD_MUTEX_INITIALIZER};

	sum.load = g_new0(uint64_t, graph->n_links + 1);
	route_parallel(threads, graph->n, add_leaves, &sum);
	return sum.load;
}

uint64_t route_greatest(const struct route_graph *graph, const uint64_t *load)
{
	uint64_t most = 0;

	for (uint32_t link = 0; link < graph->n_links; link++)
		most = MAX(most, load[link]);
	return most;
}

uint64_t routing_peak(const struct routing *routing, unsigned int threads)
{
	g_autofree uint64_t *load = routing_loads(routing, threads);

	return route_greatest(routing->repair_state->plan.graph, load);
}
