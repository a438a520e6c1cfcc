// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Shortest paths in networks of any shape, chosen by load.
 *
 * Destinations are routed one after the other. For each, switches are taken from the farthest to
 * the nearest: what a switch sends (its own hosts and all that farther switches send through it)
 * is known when its turn comes. It takes the way on which the busiest link carries least so far:
 * not just the next link counts, as in graphs that are oriented all ways may meet again near the
 * top. After a first round over all destinations each is taken out and routed anew in the
 * presence of all others, which evens out what the order of the first round did.
 *
 * The LIDs of a port (LMC) use different links at a switch where there are any.
 *
 * Of links that are equally good each LID begins with another one. Where the operator says in which
 * order a switch tries its ports it always begins with the first of these.
 *
 * Where the operator wants paths scattered, the link is drawn instead: by a hash of seed, switch
 * and LID, so that the same seed gives the same tables.
 */
#include <glib.h>
#include <string.h>

#include "route/flows.h"
#include "route/shortest.h"
#include "route/trace.h"

#define HOST_FLOW 16 /* flow of a host, where that of a switch itself is 1 */
#define ROUNDS 2
#define WORK_AGAIN (UINT64_C(1) << 23) /* pairs of switch and LID up to which a second round pays */
#define WORK_EACH (UINT64_C(1) << 25)  /* above, LIDs of a leaf are routed by the bundle */

struct balance {
	const struct route_graph *graph;
	struct routing *routing;
	struct route_flows flows;
	uint64_t *loads[2];	   /* [ignored] by link: what does not count, among itself */
	uint64_t *load;		   /* of the LID at hand */
	struct route_step *chosen; /* by switch */
	uint32_t *turns;	   /* [n]: the LID at hand modulo n, for n up to most_steps */
	uint32_t most_steps;
	uint32_t leaf; /* at hand */
	uint64_t *own; /* [class of demand * n + switch]: flow of its hosts to these; then to all */
	uint64_t *ahead; /* by switch: load of the busiest link on the best way to the leaf */
	uint32_t *used_by; /* by link: port of the last target that used it, as the number of its
			      base target + 1 */
	uint32_t *uses;	   /* by link: of its LIDs: whether any goes to the same system, how many
			      to the same switch, how many over this link */
	const struct route_port_order **tried; /* [switch]: how to try ports; NULL: as it comes */
	uint32_t bundle;   /* LIDs of a leaf routed together */
	const struct route_input *input;
	uint32_t turn; /* LID at hand */
	uint32_t seed; /* of the target at hand: links are drawn; 0: chosen by load */
};

/* What hosts send to a target; NULL: to a switch. */
static const uint64_t *own_flow(const struct balance *balance, const struct route_target *target)
{
	size_t row = target && balance->graph->senders ? target->demand_class
							: balance->graph->n_classes;

	return balance->own + row * balance->graph->n;
}

/* Steps of a switch by the order in which it tries its ports. */
static void sort_steps(struct balance *balance, uint32_t sw)
{
	const struct route_port_order *order = balance->tried[sw];
	struct route_step *steps = &balance->flows.steps[balance->flows.first[sw]];
	const uint8_t *ports = balance->graph->links;

	for (uint32_t i = 1; i < balance->flows.last[sw] - balance->flows.first[sw]; i++) {
		struct route_step step = steps[i];
		uint32_t place = route_port_place(order, ports[step.channel]), at = i;

		for (; at && route_port_place(order, ports[steps[at - 1].channel]) > place; at--)
			steps[at] = steps[at - 1];
		steps[at] = step;
	}
}

static void turn_to(struct balance *balance, uint32_t leaf)
{
	balance->leaf = leaf;
	route_flows_turn_to(&balance->flows, leaf);
}

/* Lists the steps for a target of the leaf; FABRIC_NONE: for its own LIDs. */
static void list_steps(struct balance *balance, uint32_t target)
{
	struct route_flows *flows = &balance->flows;

	if (!route_flows_list_steps(flows, target))
		return;
	balance->most_steps = 0;
	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i], n = flows->last[sw] - flows->first[sw];

		if (balance->tried && balance->tried[sw])
			sort_steps(balance, sw);
		balance->most_steps = MAX(balance->most_steps, n);
	}
}

/* The finalizer of MurmurHash3: each bit of the words changes half of those of the result. */
static uint32_t draw(uint32_t seed, uint32_t sw, uint32_t lid)
{
	uint64_t x = (uint64_t)seed << 32 ^ (uint64_t)sw << 16 ^ lid;

	x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return (x ^ x >> 33) >> 16;
}

/* Load of the busiest link on the best way to the leaf that begins with this step. */
static uint64_t load_by(const struct balance *balance, const struct route_step *step)
{
	return MAX(balance->load[step->channel], balance->ahead[step->to]);
}

/*
 * Least load, from a start that goes round, and notes it. For a port with several LIDs (owner) a
 * system that none of them goes to yet comes first, then the switch and the link with the fewest.
 * Inline: without an owner, as for most, engines take 3 % less.
 */
static inline struct route_step choose(struct balance *balance, uint32_t sw, uint32_t start,
				       uint32_t owner)
{
	const struct route_step *steps = &balance->flows.steps[balance->flows.first[sw]];
	const struct route_step *best = steps;
	uint32_t n = balance->flows.last[sw] - balance->flows.first[sw];
	uint64_t best_cost = UINT64_MAX, least = UINT64_MAX;

	for (uint32_t i = start; i < start + n; i++) {
		const struct route_step *step = &steps[i < n ? i : i - n];
		uint64_t cost = load_by(balance, step);

		least = MIN(least, cost);
		if (owner && balance->used_by[step->channel] == owner)
			cost += (uint64_t)balance->uses[step->channel] << 40;
		best = cost < best_cost ? step : best;
		best_cost = MIN(cost, best_cost);
	}
	balance->ahead[sw] = least;
	return *best;
}

static struct route_step draw_step(const struct balance *balance, uint32_t sw)
{
	uint32_t first = balance->flows.first[sw], n = balance->flows.last[sw] - first;

	return balance->flows.steps[first + draw(balance->seed, sw, balance->turn) % n];
}

/* Notes that a LID of the owner goes over this link, with all that have something in common. */
static void note_use(struct balance *balance, uint32_t sw, uint32_t link, uint32_t owner)
{
	const uint32_t *system = balance->graph->system, *to = balance->flows.channels->to;

	for (uint32_t i = balance->flows.first[sw]; i < balance->flows.last[sw]; i++) {
		uint32_t other = balance->flows.steps[i].channel;

		if (system[to[other]] != system[to[link]])
			continue;
		if (balance->used_by[other] != owner)
			balance->uses[other] = 0;
		balance->used_by[other] = owner;
		balance->uses[other] |= 1u << 16;
		balance->uses[other] += (uint32_t)(to[other] == to[link]) << 8 | (other == link);
	}
}

static void start_flow(struct balance *balance, const uint64_t *own)
{
	for (uint32_t i = 0; i < balance->flows.n_order; i++) {
		uint32_t sw = balance->flows.order[i];

		balance->flows.sent[sw] = own ? own[sw] : 1;
	}
}

static void take_out(struct balance *balance, uint16_t lid, const uint64_t *own, uint32_t n_lids)
{
	start_flow(balance, own);
	for (uint32_t i = 0; i < balance->flows.n_order; i++) {
		uint32_t sw = balance->flows.order[i];
		uint32_t link = route_channel(balance->flows.channels, sw,
					      balance->routing->lft[sw][lid]);

		balance->load[link] -= balance->flows.sent[sw] * n_lids;
		balance->flows.sent[balance->flows.channels->to[link]] += balance->flows.sent[sw];
	}
}

/*
 * Each switch chooses by what is on the links now: what this LID adds to those of a switch depends
 * on its own choice only. So the nearest may be first, as the others look ahead to them.
 */
static void choose_all(struct balance *balance, uint32_t owner)
{
	balance->ahead[balance->leaf] = 0;
	for (uint32_t n = 1; n <= balance->most_steps; n++)
		balance->turns[n] = balance->turn % n;
	for (uint32_t i = balance->flows.n_order; i--;) {
		uint32_t sw = balance->flows.order[i];
		uint32_t n = balance->flows.last[sw] - balance->flows.first[sw];
		uint32_t start = balance->turns[n];

		if (balance->graph->shift)
			start = (balance->turn + sw) % n;
		if (balance->tried && balance->tried[sw])
			start = 0;
		if (balance->seed)
			balance->chosen[sw] = draw_step(balance, sw);
		else if (owner)
			balance->chosen[sw] = choose(balance, sw, start, owner);
		else
			balance->chosen[sw] = choose(balance, sw, start, 0);
		if (owner)
			note_use(balance, sw, balance->chosen[sw].channel, owner);
	}
}

static void put_in(struct balance *balance, uint16_t lid, const uint64_t *own, uint32_t n_lids,
		   uint32_t owner)
{
	balance->turn = lid;
	choose_all(balance, owner);
	start_flow(balance, own);
	for (uint32_t i = 0; i < balance->flows.n_order; i++) {
		uint32_t sw = balance->flows.order[i];
		struct route_step step = balance->chosen[sw];

		balance->load[step.channel] += balance->flows.sent[sw] * n_lids;
		balance->flows.sent[step.to] += balance->flows.sent[sw];
		balance->routing->lft[sw][lid] = balance->graph->links[step.channel];
	}
}

/* Other LIDs of a bundle go where its first goes. */
static void copy_column(struct balance *balance, uint16_t from, uint16_t to)
{
	for (uint32_t i = 0; i < balance->flows.n_order; i++) {
		uint8_t *lft = balance->routing->lft[balance->flows.order[i]];

		lft[to] = lft[from];
	}
}

/* Whether what holds for a target does for another one of its leaf. */
static bool is_alike(const struct route_graph *graph, uint32_t a, uint32_t b)
{
	return graph->targets[a].ignored == graph->targets[b].ignored &&
	       graph->targets[a].demand_class == graph->targets[b].demand_class &&
	       (!graph->tied || graph->partitions[a] == graph->partitions[b]);
}

/* How many targets from t on are routed as one. */
static uint32_t bundle_at(const struct balance *balance, uint32_t t, uint32_t last, bool several)
{
	uint32_t most = several ? 1 : MIN(balance->bundle, last - t), n = 1;

	while (n < most && is_alike(balance->graph, t, t + n))
		n++;
	return n;
}

/* Targets [t, t + the result), which hang on this leaf, as one. */
static uint32_t route_target(struct balance *balance, uint32_t leaf, uint32_t t, bool again,
			     uint32_t *n_owners)
{
	const struct route_graph *graph = balance->graph;
	const struct route_target *target = &graph->targets[t];
	uint32_t last = graph->first_target[leaf + 1], n;
	bool several = target->offset || (t + 1 < last && graph->targets[t + 1].offset == 1);
	const uint64_t *own = own_flow(balance, target);

	list_steps(balance, t);
	n = bundle_at(balance, t, last, several);
	balance->load = balance->loads[target->ignored];
	*n_owners += several && !target->offset;
	balance->seed = target->ahead && balance->input->ahead_not_scattered
				? 0
				: balance->input->scatter;
	if (again)
		take_out(balance, target->lid, own, n);
	put_in(balance, target->lid, own, n, several ? *n_owners : 0);
	for (uint32_t i = 0; i < n; i++) {
		balance->routing->lft[leaf][target[i].lid] = target[i].exit;
		if (i)
			copy_column(balance, target->lid, target[i].lid);
	}
	return n;
}

static void route_ahead(struct balance *balance, bool again, uint32_t *n_owners)
{
	const struct route_graph *graph = balance->graph;
	uint32_t n;

	for (uint32_t i = 0; i < graph->n_ahead; i += n) {
		uint32_t leaf = graph->targets[graph->ahead[i]].leaf;

		turn_to(balance, leaf);
		n = route_target(balance, leaf, graph->ahead[i], again, n_owners);
	}
}

static void route_targets(struct balance *balance, uint32_t leaf, bool again, uint32_t *n_owners)
{
	const struct route_graph *graph = balance->graph;
	uint32_t last = graph->first_target[leaf + 1], n;

	for (uint32_t t = graph->first_target[leaf]; t < last; t += n)
		n = graph->targets[t].ahead ? 1 : route_target(balance, leaf, t, again, n_owners);
}

static void route_own_lids(struct balance *balance, uint32_t sw, bool again)
{
	const struct route_graph *graph = balance->graph;
	unsigned int n = route_n_own(graph, sw);
	const uint64_t *own = balance->input->count_switches ? own_flow(balance, NULL) : NULL;

	list_steps(balance, FABRIC_NONE);
	balance->seed = balance->input->scatter;
	balance->load = balance->loads[false];
	for (unsigned int i = 0; i < n; i++) {
		uint16_t lid = graph->own_lid[sw] + i;

		if (again)
			take_out(balance, lid, own, 1);
		put_in(balance, lid, own, 1, 0);
		balance->routing->lft[sw][lid] = 0;
	}
}

static void route_all(struct balance *balance)
{
	const struct route_graph *graph = balance->graph;
	uint64_t work = (uint64_t)graph->n * (route_n_targets(graph) + graph->n);
	int rounds = work > WORK_AGAIN ? 1 : ROUNDS;
	uint32_t n_owners = 0;

	balance->bundle = balance->input->scatter || graph->n_ahead ? 1 : 1 + work / WORK_EACH;
	for (int round = 0; round < rounds; round++) {
		route_ahead(balance, round, &n_owners);
		for (uint32_t sw = 0; sw < graph->n; sw++) {
			turn_to(balance, sw);
			route_targets(balance, sw, round, &n_owners);
			route_own_lids(balance, sw, round);
		}
	}
}

static void find_own_flows(struct balance *balance)
{
	const struct route_graph *graph = balance->graph;
	size_t n = graph->n, n_classes = graph->senders ? graph->n_classes : 0;

	balance->own = g_new(uint64_t, (n_classes + 1) * n + 1);
	for (size_t i = 0; i < n_classes * n; i++)
		balance->own[i] = 1 + HOST_FLOW * (uint64_t)graph->senders[i];
	for (uint32_t sw = 0; sw < n; sw++)
		balance->own[n_classes * n + sw] =
			1 + HOST_FLOW * (uint64_t)route_n_hosts(graph, sw);
}

/* Of all links, as a multiple of the mean. */
static double peak_of(const struct balance *balance)
{
	uint32_t n = balance->graph->n_links;
	uint64_t sum = 0, most = 0;

	for (uint32_t link = 0; link < n; link++) {
		sum += balance->loads[false][link];
		most = MAX(most, balance->loads[false][link]);
	}
	return sum ? (double)most * n / sum : 1;
}

void route_balance_fill(const struct route_graph *graph, const struct fabric *fabric,
			const uint8_t *hops, const struct route_input *input,
			struct routing *routing)
{
	struct balance balance = {
		.graph = graph,
		.routing = routing,
		.input = input,
	};
	uint32_t n = graph->n + 1, n_links = graph->n_links + 1;

	for (unsigned int i = 0; i < 2; i++)
		balance.loads[i] = g_new0(uint64_t, n_links);
	balance.chosen = g_new(struct route_step, n);
	balance.turns = g_new(uint32_t, 256);
	balance.used_by = g_new0(uint32_t, n_links);
	balance.uses = g_new0(uint32_t, n_links);
	balance.ahead = g_new0(uint64_t, n);
	route_flows_init(&balance.flows, graph, hops);
	find_own_flows(&balance);
	balance.tried = route_port_orders(fabric, input);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		memset(routing->lft[sw], ROUTE_NO_PORT, routing->n_blocks * 64);
	route_all(&balance);
	routing->home->peak = peak_of(&balance);
	route_flows_clear(&balance.flows);
	g_free(balance.loads[false]);
	g_free(balance.loads[true]);
	g_free(balance.chosen);
	g_free(balance.turns);
	g_free(balance.own);
	g_free(balance.used_by);
	g_free(balance.uses);
	g_free(balance.ahead);
	g_free(balance.tried);
}
