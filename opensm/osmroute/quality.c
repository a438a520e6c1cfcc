// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Figures of a table, found by following flows through it, whatever engine made it. The order of
 * hosts is that of their LIDs, hence of the walk from the SM's port: neighbours are near, as in a
 * job's list of nodes.
 *
 * All to all is not followed pair by pair: for each destination the table is a forest, along which
 * flows add up. Tables with loops and holes do no harm here; flows that do not arrive are not
 * counted.
 */
#include "osmroute/quality.h"

#include <string.h>

#include "complib/random.h"

#define ANY_VL -1

struct host {
	uint32_t leaf; /* its switch */
	uint16_t lid;
	uint8_t exit; /* port of the leaf */
	uint32_t demand_class; /* 0 without demand */
};

struct net {
	const struct fabric *fabric;
	const struct routing *routing;
	uint32_t n_hosts;
	struct host *hosts;
	uint64_t *at;	  /* [switch]: hosts attached to it */
	const struct route_demand *demand; /* NULL: all send to all */
	uint64_t *senders; /* [class * switches + switch]: hosts there that send to the class */
	uint32_t *across; /* [port]: switch at the other end of a switch's port, or FABRIC_NONE */
	uint64_t *load;	  /* [port] */
	int vl;		  /* count only flows on this virtual lane; ANY_VL: all */
	uint32_t *path;	  /* scratch: channels, no more than switches */
};

static void list_hosts(struct net *net)
{
	const struct fabric *fabric = net->fabric;

	net->hosts = g_new(struct host, fabric->n_ports + 1);
	net->at = g_new0(uint64_t, fabric->n_switches + 1);
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint32_t port = fabric_port_by_lid(fabric, lid);
		struct host host = {.lid = lid};

		if (port == FABRIC_NONE || fabric->ports[port].lid != lid ||
		    fabric_is_switch(fabric, fabric->ports[port].node))
			continue;
		host.leaf = fabric_leaf(fabric, port, &host.exit);
		if (host.leaf == FABRIC_NONE)
			continue;
		if (net->demand)
			host.demand_class = net->demand->class_of[port];
		net->hosts[net->n_hosts++] = host;
		net->at[host.leaf]++;
	}
}

static void count_senders(struct net *net)
{
	uint32_t n = net->fabric->n_switches, n_classes = net->demand ? net->demand->n_classes : 1;

	net->senders = g_new0(uint64_t, (size_t)n_classes * n + 1);
	for (uint32_t i = 0; i < net->n_hosts; i++)
		for (uint32_t to = 0; to < n_classes; to++)
			if (!net->demand ||
			    net->demand->sends[net->hosts[i].demand_class * n_classes + to])
				net->senders[to * n + net->hosts[i].leaf]++;
}

static bool sends_to_itself(const struct net *net, const struct host *host)
{
	return !net->demand ||
	       net->demand->sends[host->demand_class * net->demand->n_classes + host->demand_class];
}

static void list_channels(struct net *net)
{
	const struct fabric *fabric = net->fabric;

	net->across = g_new(uint32_t, fabric->n_ports + 1);
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct fabric_port *port = &fabric->ports[i];

		net->across[i] = FABRIC_NONE;
		if (port->num && port->peer != FABRIC_NONE && fabric_is_switch(fabric, port->node))
			net->across[i] = fabric->nodes[fabric->ports[port->peer].node].sw;
	}
}

static void net_init(struct net *net, const struct fabric *fabric, const struct routing *routing,
		     const struct route_demand *demand)
{
	*net = (struct net){
		.fabric = fabric, .routing = routing, .demand = demand, .vl = ANY_VL};
	list_hosts(net);
	count_senders(net);
	list_channels(net);
	net->load = g_new0(uint64_t, fabric->n_ports + 1);
	net->path = g_new(uint32_t, fabric->n_switches + 1);
}

static void net_clear(struct net *net)
{
	g_free(net->hosts);
	g_free(net->at);
	g_free(net->senders);
	g_free(net->across);
	g_free(net->load);
	g_free(net->path);
}

static void clear_load(struct net *net)
{
	memset(net->load, 0, net->fabric->n_ports * sizeof(*net->load));
}

static uint64_t most_load(const struct net *net)
{
	uint64_t most = 0;

	for (uint32_t c = 0; c < net->fabric->n_ports; c++)
		most = MAX(most, net->load[c]);
	return most;
}

/* The channel by which a switch sends to a LID, or FABRIC_NONE: to no switch. */
static uint32_t channel_to(const struct net *net, uint32_t sw, uint16_t lid)
{
	const struct fabric *fabric = net->fabric;
	const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];
	uint8_t num = routing_port(net->routing, sw, lid);

	if (num > node->num_ports || net->across[node->first_port + num] == FABRIC_NONE)
		return FABRIC_NONE;
	return node->first_port + num;
}

static bool delivers(const struct net *net, const struct host *to)
{
	return routing_port(net->routing, to->leaf, to->lid) == to->exit;
}

/* ---- single flows ---- */

/* Lists channels from host to host in path; returns how many, FABRIC_NONE if it breaks off. */
static uint32_t walk(const struct net *net, const struct host *from, const struct host *to)
{
	uint32_t sw = from->leaf, hops = 0;

	while (sw != to->leaf) {
		uint32_t c = channel_to(net, sw, to->lid);

		if (c == FABRIC_NONE || hops == net->fabric->n_switches)
			return FABRIC_NONE;
		net->path[hops++] = c;
		sw = net->across[c];
	}
	return delivers(net, to) ? hops : FABRIC_NONE;
}

/* Adds one flow to the load of each channel on its path, if it arrives. */
static void add_flow(const struct net *net, const struct host *from, const struct host *to)
{
	uint32_t hops = walk(net, from, to);

	for (uint32_t i = 0; hops != FABRIC_NONE && i < hops; i++)
		net->load[net->path[i]]++;
}

/* A flow's share of the busiest link on its path. */
static double share_of(const struct net *net, const struct host *from, const struct host *to)
{
	uint32_t hops = walk(net, from, to);
	uint64_t most = 1;

	for (uint32_t i = 0; hops != FABRIC_NONE && i < hops; i++)
		most = MAX(most, net->load[net->path[i]]);
	return hops == FABRIC_NONE ? 0 : 1.0 / most;
}

/* ---- all to all ---- */

/* The flows to one host at each switch. */
struct tide {
	uint64_t *flow;	    /* flows that meet here */
	uint32_t *hops;	    /* of the farthest of these flows */
	uint32_t *waiting;  /* switches that send here and are not processed yet */
	uint32_t *next;	    /* channel, or FABRIC_NONE */
	uint32_t *queue;
};

static void tide_init(struct tide *tide, uint32_t n)
{
	tide->flow = g_new(uint64_t, n);
	tide->hops = g_new(uint32_t, n);
	tide->waiting = g_new(uint32_t, n);
	tide->next = g_new(uint32_t, n);
	tide->queue = g_new(uint32_t, n);
}

static void tide_clear(struct tide *tide)
{
	g_free(tide->flow);
	g_free(tide->hops);
	g_free(tide->waiting);
	g_free(tide->next);
	g_free(tide->queue);
}

/* Whether traffic from hosts of one switch to hosts of another is on the lane that counts. */
static bool counts(const struct net *net, uint32_t from, uint32_t to)
{
	const struct route_lanes *lanes = net->routing->lanes;
	uint8_t sl;

	if (net->vl == ANY_VL || !lanes)
		return net->vl <= 0;
	sl = route_lanes_sl(lanes, from, to);
	return sl < ROUTE_SLS && lanes->vl[sl] == net->vl;
}

/* Starts one flow at the leaf of every other host that sends to this one. */
static void start_tide(const struct net *net, const struct host *to, struct tide *tide)
{
	uint32_t n = net->fabric->n_switches;

	memcpy(tide->flow, net->senders + (size_t)to->demand_class * n, n * sizeof(*tide->flow));
	memset(tide->hops, 0, n * sizeof(*tide->hops));
	memset(tide->waiting, 0, n * sizeof(*tide->waiting));
	tide->flow[to->leaf] -= sends_to_itself(net, to);
	for (uint32_t sw = 0; sw < n; sw++) {
		if (!counts(net, sw, to->leaf))
			tide->flow[sw] = 0;
		tide->next[sw] = sw == to->leaf ? FABRIC_NONE : channel_to(net, sw, to->lid);
		if (tide->next[sw] != FABRIC_NONE)
			tide->waiting[net->across[tide->next[sw]]]++;
	}
}

/*
 * The order of the forest, leaves first; a switch is processed when all flows that enter it are
 * known. Switches in a loop never are. Returns the number of switches.
 */
static uint32_t sort_forest(const struct net *net, struct tide *tide)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < net->fabric->n_switches; sw++)
		if (!tide->waiting[sw])
			tide->queue[n++] = sw;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = tide->next[tide->queue[i]];

		if (c != FABRIC_NONE && !--tide->waiting[net->across[c]])
			tide->queue[n++] = net->across[c];
	}
	return n;
}

/* Sets waiting, which is free by now, to whether the flow of each switch arrives. */
static void mark_arriving(const struct net *net, const struct host *to, struct tide *tide,
			  uint32_t n)
{
	uint32_t *good = tide->waiting;

	memset(good, 0, net->fabric->n_switches * sizeof(*good));
	good[to->leaf] = delivers(net, to);
	while (n--) {
		uint32_t sw = tide->queue[n], c = tide->next[sw];

		if (c != FABRIC_NONE)
			good[sw] = good[net->across[c]];
	}
}

/* Adds the flows to one host from all others to the load and the figures. */
static void add_all_to(const struct net *net, const struct host *to, struct tide *tide,
		       struct quality *quality)
{
	uint32_t n;

	start_tide(net, to, tide);
	n = sort_forest(net, tide);
	mark_arriving(net, to, tide, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = tide->queue[i], c = tide->next[sw], there;

		if (c == FABRIC_NONE || !tide->waiting[sw] || !tide->flow[sw])
			continue;
		there = net->across[c];
		net->load[c] += tide->flow[sw];
		tide->flow[there] += tide->flow[sw];
		tide->hops[there] = MAX(tide->hops[there], tide->hops[sw] + 1);
	}
	if (!tide->waiting[to->leaf])
		return;
	quality->routed += tide->flow[to->leaf];
	quality->max_hops = MAX(quality->max_hops, tide->hops[to->leaf]);
}

/* Pairs of hosts that send to each other. */
static uint64_t count_pairs(const struct net *net)
{
	uint32_t n = net->fabric->n_switches;
	uint64_t pairs = 0;

	for (uint32_t i = 0; i < net->n_hosts; i++) {
		const uint64_t *senders = net->senders + (size_t)net->hosts[i].demand_class * n;

		for (uint32_t sw = 0; sw < n; sw++)
			pairs += senders[sw];
		pairs -= sends_to_itself(net, &net->hosts[i]);
	}
	return pairs;
}

static void all_to_all(const struct net *net, struct quality *quality)
{
	struct tide tide;
	uint64_t sum = 0;

	quality->n_hosts = net->n_hosts;
	quality->pairs = count_pairs(net);
	tide_init(&tide, net->fabric->n_switches);
	for (uint32_t i = 0; i < net->n_hosts; i++)
		add_all_to(net, &net->hosts[i], &tide, quality);
	tide_clear(&tide);
	for (uint32_t c = 0; c < net->fabric->n_ports; c++) {
		quality->n_channels += net->across[c] != FABRIC_NONE;
		sum += net->load[c];
	}
	quality->most_load = most_load(net);
	if (!sum)
		return;
	quality->mean_hops = (double)sum / quality->routed;
	quality->mean_load = (double)sum / quality->n_channels;
	quality->load_ratio = quality->most_load / quality->mean_load;
}

/* Traffic from a switch's hosts to a host, on the current lane, where lanes change on the path. */
static void add_turns(const struct net *net, const struct host *from, const struct host *to)
{
	const struct fabric *fabric = net->fabric;
	const struct route_lanes *lanes = net->routing->lanes;
	uint8_t sl = route_lanes_sl(lanes, from->leaf, to->leaf), in = from->exit;
	uint32_t hops = sl < ROUTE_SLS ? walk(net, from, to) : FABRIC_NONE;

	for (uint32_t i = 0; hops != FABRIC_NONE && i < hops; i++) {
		const struct fabric_port *port = &fabric->ports[net->path[i]];

		if (route_lanes_vl(lanes, fabric->nodes[port->node].sw, in, port->num, sl) ==
		    net->vl)
			net->load[net->path[i]] += net->at[from->leaf];
		in = fabric->ports[port->peer].num;
	}
}

/* Hosts of a switch share paths: the first of them is followed. */
static void lane_by_turn(const struct net *net)
{
	g_autofree bool *seen = g_new0(bool, net->fabric->n_switches + 1);

	for (uint32_t i = 0; i < net->n_hosts; i++) {
		const struct host *from = &net->hosts[i];

		for (uint32_t k = 0; !seen[from->leaf] && k < net->n_hosts; k++)
			if (net->hosts[k].leaf != from->leaf)
				add_turns(net, from, &net->hosts[k]);
		seen[from->leaf] = true;
	}
}

static void lane_by_lane(struct net *net, struct quality *quality)
{
	const struct route_lanes *lanes = net->routing->lanes;
	struct quality ignored = {0};

	quality->lane_load[0] = quality->most_load;
	for (unsigned int vl = 0; lanes && vl < ROUTE_SLS; vl++) {
		quality->lane_load[vl] = 0;
		if (vl < lanes->first || vl >= lanes->first + lanes->n)
			continue;
		clear_load(net);
		net->vl = (int)vl;
		if (lanes->turns)
			lane_by_turn(net);
		else
			all_to_all(net, &ignored);
		quality->lane_load[vl] = most_load(net);
	}
	net->vl = ANY_VL;
}

/* ---- patterns ---- */

static void try_shifts(struct net *net, uint32_t most, struct quality *quality)
{
	uint32_t all = net->n_hosts ? net->n_hosts - 1 : 0, n = MIN(all, most);

	for (uint32_t k = 0; k < n; k++) {
		uint32_t s = 1 + (uint64_t)k * all / n;
		uint64_t load;

		clear_load(net);
		for (uint32_t i = 0; i < net->n_hosts; i++)
			add_flow(net, &net->hosts[i],
				 &net->hosts[((uint64_t)i + s) % net->n_hosts]);
		load = most_load(net);
		if (load > quality->worst_shift) {
			quality->worst_shift = load;
			quality->worst_s = s;
		}
	}
	quality->shifts = n;
}

/* Host 2 k is matched with host 2 k + 1. */
static void shuffle(struct host *hosts, uint32_t n, uint64_t *state)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t other = random_below(state, i);
		struct host swap = hosts[other];

		hosts[other] = hosts[i - 1];
		hosts[i - 1] = swap;
	}
}

/* Leaves the hosts in a different order. */
static void try_matchings(struct net *net, const struct quality_effort *effort,
			  struct quality *quality)
{
	uint32_t pairs = net->n_hosts / 2;
	uint64_t state = effort->seed;
	double sum = 0;

	if (!pairs)
		return;
	for (uint32_t round = 0; round < effort->matchings; round++) {
		const struct host *hosts = net->hosts;

		clear_load(net);
		shuffle(net->hosts, net->n_hosts, &state);
		for (uint32_t i = 0; i < 2 * pairs; i++)
			add_flow(net, &hosts[i], &hosts[i ^ 1]);
		for (uint32_t i = 0; i < 2 * pairs; i++)
			sum += share_of(net, &hosts[i], &hosts[i ^ 1]);
	}
	quality->matchings = effort->matchings;
	if (effort->matchings)
		quality->bisection = sum / (2.0 * pairs * effort->matchings);
}

void quality_measure(const struct fabric *fabric, const struct routing *routing,
		     const struct route_demand *demand, const struct quality_effort *effort,
		     struct quality *quality)
{
	struct net net;

	*quality = (struct quality){0};
	net_init(&net, fabric, routing, demand);
	all_to_all(&net, quality);
	lane_by_lane(&net, quality);
	try_shifts(&net, effort->shifts, quality);
	try_matchings(&net, effort, quality);
	net_clear(&net);
}

uint64_t *quality_load(const struct fabric *fabric, const struct routing *routing)
{
	struct quality ignored = {0};
	struct net net;
	uint64_t *load;

	net_init(&net, fabric, routing, NULL);
	all_to_all(&net, &ignored);
	load = g_steal_pointer(&net.load);
	net_clear(&net);
	return load;
}
