// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reading all paths takes long in a large tree, where few channels carry too much. So only switches
 * with such a channel are examined. What a leaf sends is known, as nothing passes through it: its
 * entries are moved one by one. For other switches, all paths to the LIDs that they send by that
 * channel are read.
 */
#include "route/fill/relief.h"

#include <string.h>

#include "route/graph/parallel.h"
#include "route/graph/watch.h"
#include "route/value/base.h"

#define STEP 4 /* relief is for what exceeds all but one part in this many of the busiest */
#define GAIN 8 /* relief goes on as long as the busiest channel loses one part in this many */

/* ---- one LID ---- */

static uint32_t channel_of(const struct route_relief *relief, uint32_t sw, uint16_t lid)
{
	return relief->columns ? route_columns_get(relief->columns, sw, lid)
			       : route_flows_channel(relief->flows, relief->routing, sw, lid);
}

static void put(const struct route_relief *relief, uint32_t sw, uint16_t lid, uint32_t channel)
{
	if (relief->columns)
		route_columns_put(relief->columns, sw, lid, channel);
	else
		routing_put(relief->routing, sw, lid, relief->flows->graph->links[channel]);
}

/* The path to a LID from a switch: for each hop, the channel. */
#define each_hop(relief, sw, lid, c)                                                               \
	for (uint32_t at = sw, c;                                                                  \
	     at != (relief)->dest &&       (c = channel_of(relief, at, lid)) != FABRIC_NONE;      \
	     at = (relief)->flows->channels->to[c])

/* The load of the busiest channel on the path from a switch; may end early at least. */
static uint64_t most_from(const struct route_relief *relief, uint32_t sw, uint16_t lid,
			  uint64_t least)
{
	uint64_t most = 0;

	each_hop(relief, sw, lid, c) {
		most = MAX(most, relief->load[c]);
		if (most >= least)
			break;
	}
	return most;
}

/* Adds to the flow on the path from a switch. */
static void add_from(const struct route_relief *relief, uint32_t sw, uint16_t lid, int64_t amount)
{
	each_hop(relief, sw, lid, c) {
		uint32_t to = relief->flows->channels->to[c];

		relief->load[c] += amount;
		relief->flows->sent[to] += amount;
		if (relief->transit && to != relief->dest)
			relief->transit[to] = true;
	}
}

/*
 * Whether other LIDs of the same port, whose targets are side by side, leave by this channel (2),
 * or by another one to its system (1).
 */
static unsigned int sharing(const struct route_relief *relief, uint32_t sw, uint32_t t,
			    uint32_t channel)
{
	const struct route_graph *graph = relief->flows->graph;
	const uint32_t *system = graph->system, *to = relief->flows->channels->to;
	const struct route_target *targets = graph->targets;
	uint32_t first = t - targets[t].offset, last = graph->first_target[targets[t].leaf + 1];
	unsigned int most = 0;

	for (uint32_t i = first; i < last && targets[i].offset == i - first; i++) {
		uint32_t c = i == t ? FABRIC_NONE : channel_of(relief, sw, targets[i].lid);

		if (c == channel)
			most = 2;
		else if (c != FABRIC_NONE && system[to[c]] == system[to[channel]])
			most = MAX(most, 1);
	}
	return most;
}

/* The search at one switch. */
struct best {
	uint32_t channel; /* that begins the path whose busiest channel carries least */
	uint64_t least;
	unsigned int sharing; /* of the LIDs of the port, before */
};

static void try(const struct route_relief *relief, uint32_t sw, uint32_t t, uint32_t channel,
		struct best *best)
{
	uint16_t lid = relief->flows->graph->targets[t].lid;
	uint64_t most = relief->load[channel];

	if (most >= best->least || channel == best->channel ||
	    (relief->apart && sharing(relief, sw, t, channel) > best->sharing))
		return;
	most = MAX(most, most_from(relief, relief->flows->channels->to[channel], lid, best->least));
	if (most < best->least)
		*best = (struct best){channel, most, best->sharing};
}

/* route_flows_leads() to a destination to which the flows are not turned. */
static bool leads(const struct route_relief *relief, uint32_t sw, uint32_t channel)
{
	const struct route_flows *flows = relief->flows;
	const uint8_t *hops = flows->hops + relief->dest;
	uint32_t n = flows->graph->n;
	uint8_t here = hops[(size_t)sw * n], there;

	there = hops[(size_t)flows->channels->to[channel] * n];
	if (!flows->rises)
		return there + 1u == here;
	return ((there | flows->rises[channel]) + 1u == here) &
	       !(there & ROUTE_UP & ~flows->rises[channel]);
}

/* Moves what a switch sends to a target, whose path is without that flow meanwhile. */
static void move(const struct route_relief *relief, uint32_t sw, uint32_t t, int64_t sent)
{
	const struct route_flows *flows = relief->flows;
	const uint32_t *first = flows->channels->first;
	uint16_t lid = flows->graph->targets[t].lid;
	uint32_t was = channel_of(relief, sw, lid);
	struct best best = {was, 0, 0};

	if (relief->apart)
		best.sharing = sharing(relief, sw, t, was);
	add_from(relief, sw, lid, -sent);
	best.least = most_from(relief, sw, lid, UINT64_MAX);
	if (flows->listed && flows->dest == relief->dest)
		for (uint32_t i = flows->first[sw]; i < flows->last[sw]; i++)
			try(relief, sw, t, flows->steps[i].channel, &best);
	else
		for (uint32_t c = first[sw]; c < first[sw + 1]; c++)
			if (leads(relief, sw, c))
				try(relief, sw, t, c, &best);
	if (best.channel != was)
		put(relief, sw, lid, best.channel);
	add_from(relief, sw, lid, sent);
}

static bool is_over(const struct route_relief *relief, uint32_t sw, uint16_t lid)
{
	uint32_t c = channel_of(relief, sw, lid);

	return c != FABRIC_NONE && relief->load[c] > relief->limit;
}

/* Adds up what passes each switch. Returns whether any of it passes a channel over the limit. */
static bool gather(const struct route_relief *relief, uint16_t lid)
{
	const struct route_flows *flows = relief->flows;
	bool any = false;

	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i], c;

		if (!flows->sent[sw])
			continue;
		c = channel_of(relief, sw, lid);
		if (c == FABRIC_NONE)
			continue;
		flows->sent[flows->channels->to[c]] += flows->sent[sw];
		any |= relief->load[c] > relief->limit;
	}
	return any;
}

bool route_relief_move(struct route_relief *relief, uint32_t t)
{
	const struct route_flows *flows = relief->flows;
	uint16_t lid = flows->graph->targets[t].lid;

	relief->dest = flows->dest;
	if (!gather(relief, lid))
		return false;
	for (uint32_t i = flows->n_order; i-- > 0;) {
		uint32_t sw = flows->order[i];

		if (flows->sent[sw] &&
		    most_from(relief, sw, lid, relief->limit + 1) > relief->limit)
			move(relief, sw, t, flows->sent[sw]);
	}
	return true;
}

/* ---- loads ---- */

static bool counts(const struct route_relief *relief, uint32_t t)
{
	const struct route_plan *plan = relief->flows->plan;

	return (relief->index == ROUTE_RELIEF_ALL ||
		plan->graph->targets[t].offset == relief->index) &&
	       !plan->wishes.of[t].ignored;
}

#define AT_ONCE 16 /* LIDs of a leaf: their entries are side by side in each table */

/* State of one thread. */
struct sum {
	const struct route_relief *relief;
	struct route_flows flows;
	uint64_t *load, *passing;
	uint32_t *sent; /* [switch * AT_ONCE + i]: what others send to LID i through it */
	uint32_t targets[AT_ONCE], n;
	uint16_t lids[AT_ONCE];
};

/* Takes what a switch sends to each LID by itself and for others. False: nothing. */
static bool take_sent(struct sum *sum, uint32_t sw, uint32_t *restrict amount)
{
	const struct route_wishes *wishes = &sum->flows.plan->wishes;
	uint32_t *sent = &sum->sent[(size_t)sw * AT_ONCE];
	uint32_t hosts = route_n_hosts(sum->flows.graph, sw), any = 0, all = 0;

	for (uint32_t i = 0; i < AT_ONCE; i++) {
		any |= sent[i];
		all += sent[i];
	}
	if (!any && !hosts)
		return false;
	sum->passing[sw] += all;
	for (uint32_t i = 0; i < AT_ONCE; i++)
		amount[i] = sent[i] + hosts;
	for (uint32_t i = 0; wishes->senders && hosts && i < sum->n; i++)
		amount[i] = sent[i] + route_n_senders(wishes, sw, sum->targets[i]);
	memset(sent, 0, AT_ONCE * sizeof(*sent));
	return true;
}

/* All tables, many of them not in the cache: no more work than necessary for each entry. */
static void add_switch(struct sum *sum, uint32_t sw)
{
	const struct route_channels *channels = sum->flows.channels;
	const uint32_t *to = channels->to, *of_port = &channels->of_port[(size_t)sw * 256];
	const uint8_t *lft = sum->relief->routing->lft[sw];
	uint32_t amount[AT_ONCE], *restrict sent = sum->sent;
	uint64_t *restrict load = sum->load;

	if (!take_sent(sum, sw, amount))
		return;
	for (uint32_t i = 0; i < sum->n; i++) {
		uint32_t c = of_port[lft[sum->lids[i]]];

		if (!amount[i] || c == FABRIC_NONE)
			continue;
		load[c] += amount[i];
		sent[(size_t)to[c] * AT_ONCE + i] += amount[i];
	}
}

static void add_some(struct sum *sum)
{
	const struct route_flows *flows = &sum->flows;

	for (uint32_t i = 0; i < flows->n_order; i++)
		add_switch(sum, flows->order[i]);
	memset(&sum->sent[(size_t)flows->dest * AT_ONCE], 0, AT_ONCE * sizeof(*sum->sent));
	sum->n = 0;
}

static void add_leaf(struct sum *sum, uint32_t leaf)
{
	const struct route_graph *graph = sum->flows.graph;

	route_flows_turn_to(&sum->flows, leaf);
	for (uint32_t t = graph->first_target[leaf]; t < graph->first_target[leaf + 1]; t++) {
		if (!counts(sum->relief, t))
			continue;
		sum->lids[sum->n] = graph->targets[t].lid;
		sum->targets[sum->n++] = t;
		if (sum->n == AT_ONCE)
			add_some(sum);
	}
	if (sum->n)
		add_some(sum);
}

static void add_leaves(void *arg, uint32_t first, uint32_t last)
{
	struct route_relief *relief = arg;
	const struct route_graph *graph = relief->flows->graph;
	struct sum sum = {.relief = relief};

	sum.load = g_new0(uint64_t, graph->n_links + 1);
	sum.passing = g_new0(uint64_t, graph->n + 1);
	sum.sent = g_new0(uint32_t, (size_t)graph->n * AT_ONCE + 1);
	route_flows_init(&sum.flows, relief->flows->plan, relief->flows->channels,
			 relief->flows->hops);
	for (uint32_t leaf = first; leaf < last; leaf++)
		if (route_has_hosts(graph, leaf) && route_watch_step(graph->watch))
			add_leaf(&sum, leaf);
	pthread_mutex_lock(&relief->lock);
	for (uint32_t c = 0; c < graph->n_links; c++)
		relief->load[c] += sum.load[c];
	for (uint32_t sw = 0; sw < graph->n; sw++)
		relief->transit[sw] |= sum.passing[sw] != 0;
	pthread_mutex_unlock(&relief->lock);
	route_flows_clear(&sum.flows);
	g_free(sum.load);
	g_free(sum.passing);
	g_free(sum.sent);
}

/*
 * What leaves a switch through which nothing passes is the same in all tables, and so is what
 * comes to it: its busiest channel carries at least its share, in whole LIDs on the way out.
 */
static uint64_t find_bound(const struct route_relief *relief)
{
	const struct route_channels *channels = relief->flows->channels;
	const struct route_plan *plan = relief->flows->plan;
	g_autofree uint64_t *in = g_new0(uint64_t, plan->graph->n + 1);
	uint64_t bound = 0;

	for (uint32_t c = 0; c < channels->n; c++)
		in[channels->to[c]] += relief->load[c];
	for (uint32_t sw = 0; sw < plan->graph->n; sw++) {
		uint64_t unit = plan->wishes.senders ? 1 : route_n_hosts(plan->graph, sw);
		uint64_t out = 0, n = 0;

		for (uint32_t c = channels->first[sw]; c < channels->first[sw + 1]; c++) {
			out += relief->load[c];
			n += channels->to[c] != sw;
		}
		if (relief->transit[sw] || !n || !unit)
			continue;
		bound = MAX(bound, (out / unit + n - 1) / n * unit);
		bound = MAX(bound, (in[sw] + n - 1) / n);
	}
	return bound;
}

void route_relief_init(struct route_relief *relief, struct route_flows *flows,
		       struct routing *routing, uint32_t index)
{
	const struct route_graph *graph = flows->graph;

	*relief = (struct route_relief){
		.flows = flows,
		.routing = routing,
		.index = index,
		.load = g_new0(uint64_t, graph->n_links + 1),
		.transit = g_new0(bool, graph->n + 1),
		.hot = g_new(uint32_t, graph->n + 1),
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	relief->apart = route_n_indexes(graph) > 1;
	route_parallel(graph->threads, graph->n, add_leaves, relief);
	relief->bound = find_bound(relief);
}

void route_relief_clear(struct route_relief *relief)
{
	g_free(relief->load);
	g_free(relief->transit);
	g_free(relief->hot);
}

/* ---- all ---- */

static void find_hot(struct route_relief *relief)
{
	const struct route_channels *channels = relief->flows->channels;

	relief->n_hot = 0;
	for (int transit = 0; transit < 2; transit++) {
		for (uint32_t sw = 0; sw < relief->flows->graph->n; sw++) {
			bool hot = false;

			for (uint32_t c = channels->first[sw]; c < channels->first[sw + 1]; c++)
				hot |= relief->load[c] > relief->limit;
			if (hot && relief->transit[sw] == transit)
				relief->hot[relief->n_hot++] = sw;
		}
		if (!transit)
			relief->n_hot_leaves = relief->n_hot;
	}
}

/* Sets what each switch itself sends to a target. */
static void set_sent(const struct route_flows *flows, uint32_t t)
{
	for (uint32_t sw = 0; sw < flows->graph->n; sw++)
		flows->sent[sw] = route_n_senders(&flows->plan->wishes, sw, t);
}

static void relieve_target(struct route_relief *relief, uint32_t t)
{
	struct route_flows *flows = relief->flows;
	const struct route_target *target = &flows->graph->targets[t];
	bool over = false;

	relief->dest = target->leaf;
	for (uint32_t i = 0; i < relief->n_hot_leaves; i++) {
		uint32_t sw = relief->hot[i];

		if (sw == target->leaf || !is_over(relief, sw, target->lid))
			continue;
		if (relief->transit[sw] || flows->penalty)
			over = true;
		else
			move(relief, sw, t, route_n_senders(&flows->plan->wishes, sw, t));
	}
	for (uint32_t i = relief->n_hot_leaves; i < relief->n_hot && !over; i++)
		over = is_over(relief, relief->hot[i], target->lid);
	if (!over)
		return;
	if (flows->dest != target->leaf)
		route_flows_turn_to(flows, target->leaf);
	if (flows->penalty)
		route_flows_list_steps(flows, t);
	set_sent(flows, t);
	route_relief_move(relief, t);
}

#define STEP_TARGETS 16 /* between reports to the watch */

uint64_t route_relief_run(struct route_relief *relief, uint64_t limit)
{
	const struct route_graph *graph = relief->flows->graph;

	relief->limit = limit;
	find_hot(relief);
	for (uint32_t t = 0; t < route_n_targets(graph); t++) {
		if (t % STEP_TARGETS == 0 && !route_watch_step(graph->watch))
			break;
		if (counts(relief, t))
			relieve_target(relief, t);
	}
	return route_greatest(graph, relief->load);
}

double route_relief_peak(const struct route_relief *relief)
{
	const struct route_graph *graph = relief->flows->graph;
	uint64_t sum = 0;

	for (uint32_t c = 0; c < graph->n_links; c++)
		sum += relief->load[c];
	return sum ? (double)route_greatest(graph, relief->load) * graph->n_links / sum : 1;
}

static void relieve_index(struct route_flows *flows, struct routing *routing, uint32_t index)
{
	struct route_relief relief;
	uint64_t most, was = UINT64_MAX;

	route_relief_init(&relief, flows, routing, index);
	most = route_greatest(flows->graph, relief.load);
	while (most > relief.bound && most < was - was / GAIN) {
		was = most;
		most = route_relief_run(&relief, MAX(relief.bound, most - most / STEP));
	}
	routing->base->peak = MAX(routing->base->peak, route_relief_peak(&relief));
	route_relief_clear(&relief);
}

uint64_t route_relief_busiest(const struct route_plan *plan, const uint8_t *hops,
			      struct routing *routing, double *peak)
{
	uint32_t n_indexes = route_n_indexes(plan->graph);
	struct route_flows flows;
	uint64_t most = 0;

	*peak = 0;
	route_flows_init(&flows, plan, NULL, hops);
	for (uint32_t i = 0; i < n_indexes; i++) {
		struct route_relief relief;

		route_relief_init(&relief, &flows, routing, i);
		most = MAX(most, route_greatest(plan->graph, relief.load));
		*peak = MAX(*peak, route_relief_peak(&relief));
		route_relief_clear(&relief);
	}
	route_flows_clear(&flows);
	return most;
}

void route_relieve(const struct route_plan *plan, const uint8_t *hops, struct routing *routing)
{
	const struct route_graph *graph = plan->graph;
	uint32_t n_indexes = route_n_indexes(graph);
	struct route_flows flows;

	route_watch_begin(graph->watch, "balancing loads", 0);
	route_flows_init(&flows, plan, NULL, hops);
	for (uint32_t i = 0; i < n_indexes; i++)
		relieve_index(&flows, routing, i);
	route_flows_clear(&flows);
}
