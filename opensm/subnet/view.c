// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The view: eight octets per port say where its cable leads and what the link can do, so that the
 * walk of a path touches one octet of the LFT and one such entry per switch. Rates are kept as
 * ranks, whose order is that of the rates (the codes are numbered by age).
 *
 * The result of a walk is cached by the switch where it began and the DLID, in one octet: all hosts
 * of a leaf go the same way, and in a large fabric each step of a walk is a cache miss. Any thread
 * may write an octet; all write the same value.
 */
#include "subnet/view.h"

#include <stdlib.h>
#include <string.h>

#include "iba/codes.h"

/* The result of a walk from a switch, in an octet: MTU in the high bits, rank below; never 0. */
#define REST_RANK_BITS 5
#define REST_LOST 0xFF /* no MTU has the code 7 */

enum hop_kind {
	HOP_NONE,   /* no running link */
	HOP_SWITCH, /* next is a switch */
	HOP_END,    /* next is an endport */
};

struct subnet_hop {
	uint32_t next;
	uint8_t kind;
	uint8_t mtu;
	uint8_t rank;
};

struct subnet_switch {
	uint32_t first_port;
	uint32_t n_ports; /* port 0 included */
};

static void rank_rates(struct subnet_view *view)
{
	for (unsigned int code = 0; code < G_N_ELEMENTS(view->rank); code++) {
		if (iba_rate_tenths(code) == 0)
			continue;
		view->n_rates++;
		view->rank[code] = 1;
		for (unsigned int other = 0; other < G_N_ELEMENTS(view->rank); other++)
			if (iba_rate_tenths(other) && iba_rate_compare(other, code) < 0)
				view->rank[code]++;
		view->rate[view->rank[code]] = code;
	}
	g_assert(view->n_rates < 1u << REST_RANK_BITS);
}

/*
 * Limits a hop to what the port allows; a port that reports nothing (often port 0) does not limit.
 */
static void limit_by(const struct subnet_view *view, struct subnet_hop *hop,
		     const struct fabric_port *port)
{
	uint8_t rank = view->rank[port->rate & 63];

	if (port->mtu && port->mtu < hop->mtu)
		hop->mtu = port->mtu;
	if (rank && rank < hop->rank)
		hop->rank = rank;
}

/* The hop over the cable of a port; port 0 leads to itself. */
static struct subnet_hop make_hop(const struct subnet_view *view, uint32_t index)
{
	const struct fabric *fabric = view->subnet->fabric;
	const struct fabric_port *port = &fabric->ports[index], *peer;
	struct subnet_hop hop = {.mtu = IBA_MTU_4096, .rank = view->n_rates, .kind = HOP_END};

	limit_by(view, &hop, port);
	if (port->num == 0) {
		hop.next = index;
		return hop;
	}
	if (port->peer == FABRIC_NONE || port->rate == 0)
		return (struct subnet_hop){.kind = HOP_NONE};
	peer = &fabric->ports[port->peer];
	hop.next = port->peer;
	if (fabric_is_switch(fabric, peer->node)) {
		hop.kind = HOP_SWITCH;
		hop.next = fabric->nodes[peer->node].sw;
	} else {
		limit_by(view, &hop, peer);
	}
	return hop;
}

/* A row per switch, by DLID. 0: not walked yet. Pages that are never used cost nothing. */
static atomic_uchar *rest_new(const struct fabric *fabric)
{
	return calloc((size_t)fabric->n_switches * (fabric->max_lid + 1u), 1);
}

struct subnet_view *subnet_view_new(struct subnet *subnet)
{
	const struct fabric *fabric = subnet->fabric;
	struct subnet_view *view = g_new0(struct subnet_view, 1);

	ref_init(&view->ref);
	view->subnet = subnet;
	rank_rates(view);
	view->router = prefix_routes_first_router(fabric);
	view->hops = g_new(struct subnet_hop, fabric->n_ports);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		view->hops[i] = make_hop(view, i);
	view->rest = rest_new(fabric);
	view->switches = g_new(struct subnet_switch, fabric->n_switches);
	for (uint32_t i = 0; i < fabric->n_switches; i++) {
		const struct fabric_node *node = &fabric->nodes[fabric->switches[i].node];

		view->switches[i].first_port = node->first_port;
		view->switches[i].n_ports = node->num_ports + 1u;
	}
	return view;
}

static struct subnet_view *view_with(struct subnet_view *view, struct alias_guids *aliases,
				     struct mc_trees *trees)
{
	const size_t rest = offsetof(struct subnet_view, subnet);
	struct subnet_view *with = g_new0(struct subnet_view, 1);

	ref_init(&with->ref);
	with->base = subnet_view_ref(view->base ? view->base : view);
	with->aliases = aliases ? alias_guids_ref(aliases) : NULL;
	with->trees = trees ? mc_trees_ref(trees) : NULL;
	memcpy((char *)with + rest, (const char *)view + rest, sizeof(*with) - rest);
	return with;
}

struct subnet_view *subnet_view_with(struct subnet_view *view, struct alias_guids *aliases)
{
	return view_with(view, aliases, view->trees);
}

struct subnet_view *subnet_view_with_trees(struct subnet_view *view, struct mc_trees *trees)
{
	return view_with(view, view->aliases, trees);
}

struct subnet_view *subnet_view_ref(struct subnet_view *view)
{
	ref_get(&view->ref);
	return view;
}

void subnet_view_unref(struct subnet_view *view)
{
	if (!view || !ref_put(&view->ref))
		return;
	if (view->base) {
		alias_guids_unref(view->aliases);
		mc_trees_unref(view->trees);
		subnet_view_unref(view->base);
		g_free(view);
		return;
	}
	subnet_unref(view->subnet);
	g_free(view->hops);
	g_free(view->switches);
	free(view->rest);
	g_free(view);
}

void subnet_view_prefetch(const struct subnet_view *view, uint32_t port)
{
	if (port >= view->subnet->fabric->n_ports)
		return;
	__builtin_prefetch(&view->subnet->fabric->ports[port]);
	__builtin_prefetch(&view->hops[port]);
	__builtin_prefetch(&view->subnet->partitions->class_of[port]);
}

/* The next hop; NULL if the forwarding table leads nowhere. */
static const struct subnet_hop *next_hop(const struct subnet_view *view, uint32_t sw, uint16_t dlid)
{
	uint8_t exit = routing_port(view->subnet->routing, sw, dlid);

	if (exit >= view->switches[sw].n_ports)
		return NULL;
	return &view->hops[view->switches[sw].first_port + exit];
}

/* A packet being followed. */
struct walk {
	const struct subnet_hop *hop; /* the next one to take; NULL: the packet is lost */
	uint16_t dlid;
	struct subnet_hop least; /* the minimum of all hops so far */
};

/* Takes the hop; false if that was the last one. */
static bool walk_on(const struct subnet_view *view, struct walk *walk)
{
	const struct subnet_hop *hop = walk->hop;

	if (!hop)
		return false;
	walk->least.mtu = MIN(walk->least.mtu, hop->mtu);
	walk->least.rank = MIN(walk->least.rank, hop->rank);
	if (hop->kind != HOP_SWITCH)
		return false;
	walk->hop = next_hop(view, hop->next, walk->dlid);
	return true;
}

static bool walk_arrived(const struct subnet_view *view, const struct walk *walk)
{
	return walk->hop && walk->hop->kind == HOP_END &&
	       walk->hop->next == view->subnet->fabric->lid_port[walk->dlid];
}

static uint8_t rest_make(const struct subnet_view *view, const struct walk *walk)
{
	if (!walk_arrived(view, walk))
		return REST_LOST;
	return (uint8_t)(walk->least.mtu << REST_RANK_BITS | walk->least.rank);
}

/* One end of a path: the switch where forwarding begins, and the hop that leads to it. */
struct start {
	uint32_t sw; /* FABRIC_NONE: none, the cable leads to a host or nowhere */
	struct subnet_hop own;
	atomic_uchar *rest;
	uint8_t known;
};

static struct start start_from(const struct subnet_view *view, uint32_t from, uint16_t dlid)
{
	const struct fabric *fabric = view->subnet->fabric;
	const struct fabric_port *source = &fabric->ports[from];
	struct start start = {
		.own = view->hops[from],
		.sw = FABRIC_NONE,
		.known = REST_LOST,
	};

	if (source->num == 0) {
		start.own = (struct subnet_hop){.mtu = IBA_MTU_4096, .rank = view->n_rates};
		limit_by(view, &start.own, source);
		start.sw = fabric->nodes[source->node].sw;
	} else if (start.own.kind == HOP_SWITCH) {
		start.sw = start.own.next;
	}
	if (start.sw == FABRIC_NONE || dlid > fabric->max_lid)
		return start;
	start.rest = &view->rest[(size_t)start.sw * (fabric->max_lid + 1u) + dlid];
	start.known = atomic_load_explicit(start.rest, memory_order_relaxed);
	return start;
}

/* Needs no walk if the result is cached. */
static struct walk begin_walk(const struct subnet_view *view, const struct start *start,
			      uint16_t dlid)
{
	return (struct walk){
		.hop = start->known ? NULL : next_hop(view, start->sw, dlid),
		.dlid = dlid,
		.least = {.mtu = IBA_MTU_4096, .rank = view->n_rates},
	};
}

static void end_walk(const struct subnet_view *view, struct start *start, const struct walk *walk)
{
	if (start->known)
		return;
	start->known = rest_make(view, walk);
	atomic_store_explicit(start->rest, start->known, memory_order_relaxed);
}

/* Walks both directions in step: each waits for memory while the other runs. */
static void find_rest(const struct subnet_view *view, struct start *there, uint16_t dlid,
		      struct start *back, uint16_t slid)
{
	struct walk one = begin_walk(view, there, dlid), other = begin_walk(view, back, slid);
	bool on = true, other_on = true;

	for (unsigned int n = 0; n < IBA_MAX_HOPS && (on || other_on); n++) {
		on = walk_on(view, &one);
		other_on = walk_on(view, &other);
	}
	if (on) /* it would go on: too far, or in a circle */
		one.hop = NULL;
	if (other_on)
		other.hop = NULL;
	end_walk(view, there, &one);
	end_walk(view, back, &other);
}

static void fill_loopback(const struct subnet_view *view, const struct fabric_port *port,
			  struct subnet_way *way)
{
	struct subnet_hop least = {.mtu = IBA_MTU_4096, .rank = view->n_rates};

	limit_by(view, &least, port);
	*way = (struct subnet_way){
		.mtu = least.mtu,
		.rate = port->rate ? view->rate[least.rank] : IBA_RATE_2_5,
		.reversible = true,
	};
}

/* Two hosts without a switch between them; false: no cable connects them. */
static bool walk_cable(const struct subnet_view *view, uint32_t from, uint32_t to,
		       struct subnet_way *way)
{
	const struct subnet_hop *hop = &view->hops[from];

	*way = (struct subnet_way){
		.mtu = hop->mtu,
		.rate = view->rate[hop->rank],
		.reversible = true,
	};
	return hop->kind == HOP_END && hop->next == to;
}

bool subnet_view_walk(const struct subnet_view *view, uint32_t from, uint32_t to, uint16_t slid,
		      uint16_t dlid, struct subnet_way *way)
{
	struct start there, back;

	if (from == to) {
		fill_loopback(view, &view->subnet->fabric->ports[from], way);
		return true;
	}
	there = start_from(view, from, dlid);
	back = start_from(view, to, slid);
	if (!there.rest)
		return walk_cable(view, from, to, way);
	if (!there.known || !back.known)
		find_rest(view, &there, dlid, &back, slid);
	if (there.known == REST_LOST)
		return false;
	*way = (struct subnet_way){
		.mtu = MIN(there.own.mtu, there.known >> REST_RANK_BITS),
		.rate = view->rate[MIN(there.own.rank, there.known & ((1u << REST_RANK_BITS) - 1))],
		.reversible = back.known != REST_LOST,
	};
	return true;
}

/* ---- the ways to a LID from everywhere ---- */

#define WAY_UNKNOWN 0
#define WAY_OPEN 0xFE /* being followed; no MTU has the code 7 */

/* What switches do with packets to the LIDs of a block. */
struct fan {
	const struct subnet_view *view;
	uint32_t block;
	uint32_t to[FABRIC_LFT_BLOCK]; /* endports that have the LIDs */
	uint8_t *ways;		       /* [switch][64]: the result */
	uint8_t *hops;		       /* [switch][64]: links to the endport */
	uint32_t *stack;	       /* [switch]: those followed */
};

static inline size_t fan_at(uint32_t sw, unsigned int i)
{
	return (size_t)sw * FABRIC_LFT_BLOCK + i;
}

static inline uint8_t add_hop(const struct subnet_hop *hop, uint8_t way)
{
	const unsigned int mask = (1u << REST_RANK_BITS) - 1;

	return (uint8_t)(MIN(hop->mtu, way >> REST_RANK_BITS) << REST_RANK_BITS |
			 MIN(hop->rank, way & mask));
}

static inline const uint8_t *fan_row(const struct fan *fan, uint32_t sw)
{
	return fan->view->subnet->routing->lft[sw] + fan->block * FABRIC_LFT_BLOCK;
}

static const struct subnet_hop *fan_hop(const struct fan *fan, uint32_t sw, unsigned int i)
{
	const struct subnet_switch *at = &fan->view->switches[sw];
	uint8_t exit = fan_row(fan, sw)[i];

	return exit < at->n_ports ? &fan->view->hops[at->first_port + exit] : NULL;
}

/* Follows packets until the way is known or they are lost, then returns along the switches. */
static void fan_follow(const struct fan *fan, uint32_t sw, unsigned int i)
{
	uint32_t n = 0;
	unsigned int hops = 0;
	uint8_t way = REST_LOST;

	while (fan->ways[fan_at(sw, i)] == WAY_UNKNOWN) {
		const struct subnet_hop *hop = fan_hop(fan, sw, i);

		fan->ways[fan_at(sw, i)] = WAY_OPEN;
		fan->stack[n++] = sw;
		if (!hop || hop->kind == HOP_NONE)
			break;
		if (hop->kind == HOP_END) {
			if (hop->next == fan->to[i]) {
				way = (uint8_t)(hop->mtu << REST_RANK_BITS | hop->rank);
				fan->ways[fan_at(sw, i)] = way;
				fan->hops[fan_at(sw, i)] = 1;
				n--;
			}
			break;
		}
		sw = hop->next;
	}
	if (fan->ways[fan_at(sw, i)] != WAY_UNKNOWN && fan->ways[fan_at(sw, i)] != WAY_OPEN) {
		way = fan->ways[fan_at(sw, i)];
		hops = fan->hops[fan_at(sw, i)];
	}
	while (n) {
		sw = fan->stack[--n];
		if (way != REST_LOST && ++hops <= IBA_MAX_HOPS)
			way = add_hop(fan_hop(fan, sw, i), way);
		else
			way = REST_LOST;
		fan->ways[fan_at(sw, i)] = way;
		fan->hops[fan_at(sw, i)] = (uint8_t)hops;
	}
}

/*
 * The ways from a switch to all LIDs of the block. Most often the next switch is known already, so
 * that a step costs no loop; and what it touches is near: one line of the LFT, the cables of one
 * switch, and the lines of its neighbours.
 */
static void fan_from(const struct fan *fan, uint32_t sw)
{
	const struct subnet_switch at = fan->view->switches[sw];
	const struct subnet_hop *hops = fan->view->hops + at.first_port;
	const uint8_t *row = fan_row(fan, sw);

	for (unsigned int i = 0; i < FABRIC_LFT_BLOCK; i++) {
		const struct subnet_hop *hop = row[i] < at.n_ports ? &hops[row[i]] : NULL;
		size_t next;

		if (fan->ways[fan_at(sw, i)] != WAY_UNKNOWN)
			continue;
		next = hop && hop->kind == HOP_SWITCH ? fan_at(hop->next, i) : fan_at(sw, i);
		if (fan->ways[next] == WAY_UNKNOWN || fan->ways[next] >= WAY_OPEN ||
		    fan->hops[next] >= IBA_MAX_HOPS) {
			fan_follow(fan, sw, i);
			continue;
		}
		fan->ways[fan_at(sw, i)] = add_hop(hop, fan->ways[next]);
		fan->hops[fan_at(sw, i)] = fan->hops[next] + 1;
	}
}

uint32_t *subnet_view_order(const struct subnet_view *view)
{
	const struct fabric *fabric = view->subnet->fabric;
	uint32_t n = fabric->n_switches, first = 0, end = 0;
	uint32_t *order = g_new(uint32_t, n + 1);
	g_autofree bool *seen = g_new0(bool, n + 1);

	for (uint32_t sw = 0; sw < n; sw++)
		for (uint32_t i = 1; i < view->switches[sw].n_ports && !seen[sw]; i++)
			if (view->hops[view->switches[sw].first_port + i].kind == HOP_END) {
				seen[sw] = true;
				order[n - ++end] = sw;
			}
	for (; first < end; first++) {
		const struct subnet_switch *at = &view->switches[order[n - 1 - first]];

		for (uint32_t i = 1; i < at->n_ports; i++) {
			const struct subnet_hop *hop = &view->hops[at->first_port + i];

			if (hop->kind == HOP_SWITCH && !seen[hop->next]) {
				seen[hop->next] = true;
				order[n - ++end] = hop->next;
			}
		}
	}
	for (uint32_t sw = 0; sw < n; sw++) /* without any host near */
		if (!seen[sw])
			order[n - ++end] = sw;
	return order;
}

void subnet_view_ways(const struct subnet_view *view, const uint32_t *order, uint32_t block,
		      uint8_t *ways)
{
	const struct fabric *fabric = view->subnet->fabric;
	const struct routing *routing = view->subnet->routing;
	uint32_t n = fabric->n_switches;
	g_autofree uint8_t *hops = g_malloc((size_t)n * FABRIC_LFT_BLOCK + 1);
	g_autofree uint32_t *stack = g_new(uint32_t, n + 1);
	struct fan fan = {view, block, {0}, ways, hops, stack};
	uint8_t start[FABRIC_LFT_BLOCK]; /* nothing is forwarded to a LID that no port has */

	for (uint32_t i = 0; i < FABRIC_LFT_BLOCK; i++) {
		uint32_t lid = block * FABRIC_LFT_BLOCK + i;

		fan.to[i] = lid <= routing->top ? fabric_port_by_lid(fabric, (uint16_t)lid)
						: FABRIC_NONE;
		start[i] = fan.to[i] == FABRIC_NONE ? REST_LOST : WAY_UNKNOWN;
	}
	for (uint32_t sw = 0; sw < n; sw++)
		memcpy(&ways[fan_at(sw, 0)], start, sizeof(start));
	for (uint32_t k = 0; k < n && block < routing->n_blocks; k++) {
		if (k + 4 < n)
			__builtin_prefetch(fan_row(&fan, order[k + 4]));
		fan_from(&fan, order[k]);
	}
}

uint8_t subnet_view_own_way(const struct subnet_view *view, uint32_t from, uint32_t *sw,
			    uint32_t *peer)
{
	struct start start = start_from(view, from, 0);

	*sw = start.sw;
	*peer = start.sw == FABRIC_NONE && start.own.kind == HOP_END ? start.own.next : FABRIC_NONE;
	if (*sw == FABRIC_NONE && *peer == FABRIC_NONE)
		return REST_LOST;
	return (uint8_t)(start.own.mtu << REST_RANK_BITS | start.own.rank);
}

uint8_t subnet_view_inner_way(const struct subnet_view *view, uint32_t port)
{
	struct subnet_way way;

	fill_loopback(view, &view->subnet->fabric->ports[port], &way);
	return (uint8_t)(way.mtu << REST_RANK_BITS | view->rank[way.rate]);
}
