// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Shortest paths in networks of any shape, chosen by load.
 *
 * Destinations are routed one after the other. For each, switches are taken from the farthest to
 * the nearest: what a switch sends (its own hosts and all that farther switches send through it) is
 * known when its turn comes. It takes the path whose busiest link carries least so far: the next
 * link alone does not decide, since in oriented graphs all paths may meet again near the top. After
 * a first round over all destinations each is removed and routed again with all others in place,
 * which evens out the effect of the order of the first round.
 *
 * The LIDs of a port (LMC) use different links at a switch if it has several.
 *
 * Each LID starts at another of several equally good links. If the operator orders the ports of a
 * switch, it always starts with the first port of that order.
 *
 * If the operator wants scattered paths, the link is chosen at random instead: by a hash of seed,
 * switch and LID, so that the same seed gives the same tables.
 */
#include <glib.h>
#include <string.h>

#include "route/fill/batches.h"
#include "route/fill/shortest.h"
#include "route/graph/columns.h"
#include "route/graph/flows.h"
#include "route/value/base.h"

#define HOST_FLOW 16 /* flow of a host; that of a switch itself is 1 */
#define ROUNDS 2
#define WORK_AGAIN (UINT64_C(1) << 23) /* (switch, LID) pairs up to which a second round pays */
#define BATCHES 256 /* if there are at least two switches for each */

/* State of one thread. */
struct balance {
	const struct route_plan *plan;
	const struct route_graph *graph; /* of the plan */
	const struct route_columns *columns;
	struct route_flows flows;
	uint64_t *load; /* [ignored * n_links + link]: ignored LIDs are balanced apart */
	uint32_t aside;		   /* the first for the current LID */
	uint32_t most_steps;	   /* that a switch may have */
	uint32_t *turns;	   /* [n]: the current LID modulo n, for n up to most_steps */
	/* [class of demand * n + switch]: flow of its hosts to the class; the last class is all */
	const uint64_t *own;
	uint64_t *ahead; /* by switch: load of the busiest link on the best path to the leaf */
	uint32_t *used_by; /* by link: port of the last target that used it, by number from 1 */
	uint32_t *uses;	   /* by link, of its LIDs: whether any goes to the same system, how many
			      to the same switch, how many over this link */
	const struct route_port_order **tried; /* [switch]: order of ports; NULL: any */
	uint32_t n_owners; /* ports with several LIDs so far */
	bool again;	   /* each LID is removed first */
	const struct route_input *input;
	uint32_t seed; /* of the current target: links at random; 0: by load */
};

/* Flow of hosts to a target; FABRIC_NONE: to a switch. */
static const uint64_t *own_flow(const struct balance *balance, uint32_t target)
{
	const struct route_wishes *wishes = &balance->plan->wishes;
	size_t row = target != FABRIC_NONE && wishes->senders ? wishes->of[target].demand_class
							      : wishes->n_classes;

	return balance->own + row * balance->graph->n;
}

/* Sorts the steps of a switch by its order of ports. */
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
	balance->ahead[leaf] = 0;
	route_flows_turn_to(&balance->flows, leaf);
}

/* Lists the steps for a target of the leaf; FABRIC_NONE: for its own LIDs. */
static void list_steps(struct balance *balance, uint32_t target)
{
	struct route_flows *flows = &balance->flows;

	if (!route_flows_list_steps(flows, target))
		return;
	for (uint32_t i = 0; balance->tried && i < flows->n_order; i++)
		if (balance->tried[flows->order[i]])
			sort_steps(balance, flows->order[i]);
}

/* The finalizer of MurmurHash3: each bit of the words changes half of the bits of the result. */
static uint32_t draw(uint32_t seed, uint32_t sw, uint32_t lid)
{
	uint64_t x = (uint64_t)seed << 32 ^ (uint64_t)sw << 16 ^ lid;

	x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return (x ^ x >> 33) >> 16;
}

/* Load of the busiest link on the best path to the leaf that begins with this step. */
static uint64_t load_by(const struct balance *balance, const struct route_step *step)
{
	return MAX(balance->load[balance->aside + step->channel], balance->ahead[step->to]);
}

/*
 * load_by() as a cost; for a port with several LIDs (owner) a system that none of them uses yet is
 * best, then the switch and the link with the fewest.
 */
static inline uint64_t cost_by(const struct balance *balance, const struct route_step *step,
			       uint32_t owner)
{
	uint64_t used = owner && balance->used_by[step->channel] == owner
				? balance->uses[step->channel]
				: 0;

	return load_by(balance, step) + (used << 40);
}

/*
 * The link of least cost, starting at a link that rotates; notes the least load. Inline: without an
 * owner, which is the usual case, engines take 3 % less time.
 */
static inline uint32_t choose(struct balance *balance, uint32_t sw, uint32_t start, uint32_t owner)
{
	const struct route_step *steps = &balance->flows.steps[balance->flows.first[sw]];
	const struct route_step *best = &steps[start];
	uint32_t n = balance->flows.last[sw] - balance->flows.first[sw];
	uint64_t least = load_by(balance, best), best_cost = cost_by(balance, best, owner);

	for (uint32_t i = start + 1; i < start + n; i++) {
		const struct route_step *step = &steps[i < n ? i : i - n];
		uint64_t cost = cost_by(balance, step, owner);

		best = cost < best_cost ? step : best;
		best_cost = MIN(cost, best_cost);
		if (owner)
			least = MIN(least, load_by(balance, step));
	}
	balance->ahead[sw] = owner ? least : best_cost;
	return best->channel;
}

static uint32_t draw_link(const struct balance *balance, uint32_t sw, uint16_t lid)
{
	uint32_t first = balance->flows.first[sw], n = balance->flows.last[sw] - first;

	return balance->flows.steps[first + draw(balance->seed, sw, lid) % n].channel;
}

/* Notes that a LID of the owner uses this link, with all links of the same switch or system. */
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

/* Adds the flows (own) from hosts to a LID, or subtracts them. */
static void add_flows(struct balance *balance, uint16_t lid, const uint64_t *own, bool out)
{
	const struct route_flows *flows = &balance->flows;
	uint64_t *load = balance->load;

	for (uint32_t i = 0; i < flows->n_order; i++)
		flows->sent[flows->order[i]] = own ? own[flows->order[i]] : 1;
	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i], link = route_columns_get(balance->columns, sw, lid);
		int64_t amount = out ? -flows->sent[sw] : flows->sent[sw];

		load[balance->aside + link] += amount;
		flows->sent[flows->channels->to[link]] += flows->sent[sw];
	}
}

/*
 * Each switch chooses by the present loads of links: what this LID adds to the links of a switch
 * depends on that switch's choice only. So the nearest can be first, as the others need its result.
 */
static void choose_all(struct balance *balance, uint16_t lid, uint32_t owner)
{
	for (uint32_t n = 1; n <= balance->most_steps; n++)
		balance->turns[n] = lid % n;
	for (uint32_t i = balance->flows.n_order; i--;) {
		uint32_t sw = balance->flows.order[i];
		uint32_t n = balance->flows.last[sw] - balance->flows.first[sw];
		uint32_t start = balance->turns[n], link;

		if (balance->plan->wishes.shift)
			start = (lid + sw) % n;
		if (balance->tried && balance->tried[sw])
			start = 0;
		if (balance->seed)
			link = draw_link(balance, sw, lid);
		else if (owner)
			link = choose(balance, sw, start, owner);
		else
			link = choose(balance, sw, start, 0);
		if (owner)
			note_use(balance, sw, link, owner);
		route_columns_put(balance->columns, sw, lid, link);
	}
}

static void route_lid(struct balance *balance, uint16_t lid, const uint64_t *own, uint32_t owner)
{
	if (balance->again)
		add_flows(balance, lid, own, true);
	choose_all(balance, lid, owner);
	add_flows(balance, lid, own, false);
}

/* Flows are turned to the leaf of the target; owners number the ports with several LIDs. */
static void route_target(struct balance *balance, uint32_t t)
{
	const struct route_graph *graph = balance->graph;
	const struct route_target *target = &graph->targets[t];
	const struct route_wish *wish = &balance->plan->wishes.of[t];
	bool several = target->offset || (t + 1 < graph->first_target[target->leaf + 1] &&
					  graph->targets[t + 1].offset == 1);
	const uint64_t *own = own_flow(balance, t);

	list_steps(balance, t);
	balance->aside = wish->ignored ? graph->n_links : 0;
	balance->n_owners += several && !target->offset;
	balance->seed =
		wish->ahead && balance->input->ahead_not_scattered ? 0 : balance->input->scatter;
	route_lid(balance, target->lid, own, several ? balance->n_owners : 0);
}

static void route_ahead(struct balance *balance, uint64_t *load)
{
	const struct route_wishes *wishes = &balance->plan->wishes;

	balance->load = load;
	for (uint32_t i = 0; i < wishes->n_ahead; i++) {
		turn_to(balance, balance->graph->targets[wishes->ahead[i]].leaf);
		route_target(balance, wishes->ahead[i]);
	}
}

static void route_own_lids(struct balance *balance, uint32_t sw)
{
	const struct route_graph *graph = balance->graph;
	unsigned int n = route_n_own(graph, sw);
	const uint64_t *own =
		balance->input->count_switches ? own_flow(balance, FABRIC_NONE) : NULL;

	list_steps(balance, FABRIC_NONE);
	balance->seed = balance->input->scatter;
	balance->aside = 0;
	for (unsigned int i = 0; i < n; i++)
		route_lid(balance, graph->own_lid[sw] + i, own, 0);
}

static void route_switch(void *arg, uint32_t sw, uint64_t *load)
{
	struct balance *balance = arg;
	const struct route_graph *graph = balance->graph;

	balance->load = load;
	turn_to(balance, sw);
	for (uint32_t t = graph->first_target[sw]; t < graph->first_target[sw + 1]; t++)
		if (!balance->plan->wishes.of[t].ahead)
			route_target(balance, t);
	route_own_lids(balance, sw);
}

/* All threads. */
static void route_all(struct balance *const *threads, unsigned int n, uint64_t *load)
{
	const struct route_graph *graph = threads[0]->graph;
	uint64_t work = (uint64_t)graph->n * (route_n_targets(graph) + graph->n);
	int rounds = work > WORK_AGAIN ? 1 : ROUNDS;

	for (int round = 0; round < rounds; round++) {
		for (unsigned int i = 0; i < n; i++)
			threads[i]->again = round;
		route_ahead(threads[0], load);
		route_batches(graph->n, MAX(graph->n / BATCHES, 2), load,
			      (threads[0]->input->n_ignored ? 2 : 1) * graph->n_links, route_switch,
			      (void *const *)threads, n);
	}
}

static uint64_t *find_own_flows(const struct route_wishes *wishes)
{
	size_t n = wishes->graph->n, n_classes = wishes->senders ? wishes->n_classes : 0;
	uint64_t *own = g_new(uint64_t, (n_classes + 1) * n + 1);

	for (size_t i = 0; i < n_classes * n; i++)
		own[i] = 1 + HOST_FLOW * (uint64_t)wishes->senders[i];
	for (uint32_t sw = 0; sw < n; sw++)
		own[n_classes * n + sw] =
			1 + HOST_FLOW * (uint64_t)route_n_hosts(wishes->graph, sw);
	return own;
}

/* The greatest load of n links, as a multiple of the mean. */
static double peak_of(const uint64_t *load, uint32_t n)
{
	uint64_t sum = 0, most = 0;

	for (uint32_t link = 0; link < n; link++) {
		sum += load[link];
		most = MAX(most, load[link]);
	}
	return sum ? (double)most * n / sum : 1;
}

static struct balance *balance_new(const struct balance *like,
				   const struct route_channels *channels, const uint8_t *hops)
{
	struct balance *balance = g_memdup2(like, sizeof(*like));
	uint32_t n = like->graph->n + 1, n_links = like->graph->n_links + 1;

	for (uint32_t sw = 0; sw < like->graph->n; sw++)
		balance->most_steps = MAX(balance->most_steps,
					  channels->first[sw + 1] - channels->first[sw]);
	balance->turns = g_new(uint32_t, balance->most_steps + 1);
	balance->used_by = g_new0(uint32_t, n_links);
	balance->uses = g_new0(uint32_t, n_links);
	balance->ahead = g_new0(uint64_t, n);
	route_flows_init(&balance->flows, like->plan, channels, hops);
	return balance;
}

static void balance_free(struct balance *balance)
{
	route_flows_clear(&balance->flows);
	g_free(balance->turns);
	g_free(balance->used_by);
	g_free(balance->uses);
	g_free(balance->ahead);
	g_free(balance);
}

void route_balance_fill(const struct route_plan *plan, const struct fabric *fabric,
			const uint8_t *hops, const struct route_input *input,
			struct routing *routing)
{
	const struct route_graph *graph = plan->graph;
	struct route_channels *channels = route_channels_new(graph, NULL);
	struct route_columns columns;
	g_autofree uint64_t *load = g_new0(uint64_t, 2 * (size_t)graph->n_links + 1);
	g_autofree uint64_t *own = find_own_flows(&plan->wishes);
	g_autofree const struct route_port_order **tried = route_port_orders(fabric, input);
	struct balance balance = {
		.plan = plan,
		.graph = graph,
		.columns = &columns,
		.own = own,
		.tried = tried,
		.input = input,
	};
	unsigned int n = MAX(graph->threads, 1);
	g_autofree struct balance **threads = g_new(struct balance *, n);

	route_columns_init(&columns, channels, graph->n, routing->top);
	for (unsigned int i = 0; i < n; i++)
		threads[i] = balance_new(&balance, channels, hops);
	route_all(threads, n, load);
	route_columns_fill(&columns, graph, routing);
	route_columns_clear(&columns);
	routing->base->peak = peak_of(load, graph->n_links);
	routing->base->by_load = true;
	for (unsigned int i = 0; i < n; i++)
		balance_free(threads[i]);
	route_channels_free(channels);
}
