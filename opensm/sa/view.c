// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The view: eight octets a port say where its cable leads and what the link can do, so that the
 * walk of a path touches per switch one octet of its forwarding table and one such entry. Rates
 * are kept as ranks, whose order is that of the rates (the codes are numbered by age).
 */
#include "sa/view.h"

#include "iba/codes.h"

enum hop_kind {
	HOP_NONE,   /* no running link */
	HOP_SWITCH, /* next is a switch */
	HOP_END,    /* next is an endport */
};

struct sa_hop {
	uint32_t next;
	uint8_t kind;
	uint8_t mtu;
	uint8_t rank;
};

struct sa_switch {
	uint32_t first_port;
	uint32_t n_ports; /* port 0 included */
};

static void rank_rates(struct sa_view *view)
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
}

/* What the port itself allows; a port that tells nothing (port 0 often) does not limit. */
static void limit_by(const struct sa_view *view, struct sa_hop *hop, const struct fabric_port *port)
{
	uint8_t rank = view->rank[port->rate & 63];

	if (port->mtu && port->mtu < hop->mtu)
		hop->mtu = port->mtu;
	if (rank && rank < hop->rank)
		hop->rank = rank;
}

/* Over the cable of a port; port 0 leads to itself. */
static struct sa_hop make_hop(const struct sa_view *view, uint32_t index)
{
	const struct fabric *fabric = view->subnet->fabric;
	const struct fabric_port *port = &fabric->ports[index], *peer;
	struct sa_hop hop = {.mtu = IBA_MTU_4096, .rank = view->n_rates, .kind = HOP_END};

	limit_by(view, &hop, port);
	if (port->num == 0) {
		hop.next = index;
		return hop;
	}
	if (port->peer == FABRIC_NONE || port->rate == 0)
		return (struct sa_hop){.kind = HOP_NONE};
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

struct sa_view *sa_view_new(struct subnet *subnet)
{
	const struct fabric *fabric = subnet->fabric;
	struct sa_view *view = g_new0(struct sa_view, 1);

	ref_init(&view->ref);
	view->subnet = subnet;
	rank_rates(view);
	view->hops = g_new(struct sa_hop, fabric->n_ports);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		view->hops[i] = make_hop(view, i);
	view->switches = g_new(struct sa_switch, fabric->n_switches);
	for (uint32_t i = 0; i < fabric->n_switches; i++) {
		const struct fabric_node *node = &fabric->nodes[fabric->switches[i].node];

		view->switches[i].first_port = node->first_port;
		view->switches[i].n_ports = node->num_ports + 1u;
	}
	return view;
}

struct sa_view *sa_view_ref(struct sa_view *view)
{
	ref_get(&view->ref);
	return view;
}

void sa_view_unref(struct sa_view *view)
{
	if (!view || !ref_put(&view->ref))
		return;
	subnet_unref(view->subnet);
	g_free(view->hops);
	g_free(view->switches);
	g_free(view);
}

/* From one hop to the next; NULL if the forwarding table leads nowhere. */
static const struct sa_hop *next_hop(const struct sa_view *view, uint32_t sw, uint16_t dlid)
{
	uint8_t exit = routing_port(view->subnet->routing, sw, dlid);

	if (exit >= view->switches[sw].n_ports)
		return NULL;
	return &view->hops[view->switches[sw].first_port + exit];
}

/* A packet on its way. */
struct walk {
	const struct sa_hop *hop; /* the one it takes now; NULL: none, it is lost */
	uint32_t to;
	uint16_t dlid;
	struct sa_hop least; /* on all hops so far */
};

/* Takes the hop; false if that was the last. */
static bool walk_on(const struct sa_view *view, struct walk *walk)
{
	const struct sa_hop *hop = walk->hop;

	if (!hop)
		return false;
	walk->least.mtu = MIN(walk->least.mtu, hop->mtu);
	walk->least.rank = MIN(walk->least.rank, hop->rank);
	if (hop->kind != HOP_SWITCH)
		return false;
	walk->hop = next_hop(view, hop->next, walk->dlid);
	return true;
}

static bool walk_arrived(const struct walk *walk)
{
	return walk->hop && walk->hop->kind == HOP_END && walk->hop->next == walk->to;
}

static struct walk walk_from(const struct sa_view *view, uint32_t from, uint32_t to, uint16_t dlid)
{
	const struct fabric *fabric = view->subnet->fabric;
	const struct fabric_port *source = &fabric->ports[from];
	struct walk walk = {
		.hop = &view->hops[from],
		.to = to,
		.dlid = dlid,
		.least = {.mtu = IBA_MTU_4096, .rank = view->n_rates},
	};

	if (source->num == 0) {
		limit_by(view, &walk.least, source);
		walk.hop = next_hop(view, fabric->nodes[source->node].sw, dlid);
	}
	return walk;
}

static void fill_loopback(const struct sa_view *view, const struct fabric_port *port,
			  struct sa_way *way)
{
	struct sa_hop least = {.mtu = IBA_MTU_4096, .rank = view->n_rates};

	limit_by(view, &least, port);
	*way = (struct sa_way){
		.mtu = least.mtu,
		.rate = port->rate ? view->rate[least.rank] : IBA_RATE_2_5,
		.reversible = true,
	};
}

/* Both directions in step: each waits for memory while the other does. */
bool sa_view_walk(const struct sa_view *view, uint32_t from, uint32_t to, uint16_t slid,
		  uint16_t dlid, struct sa_way *way)
{
	struct walk there, back;

	if (from == to) {
		fill_loopback(view, &view->subnet->fabric->ports[from], way);
		return true;
	}
	there = walk_from(view, from, to, dlid);
	back = walk_from(view, to, from, slid);
	for (unsigned int n = 0; n <= IBA_MAX_HOPS; n++) {
		bool one = walk_on(view, &there), other = walk_on(view, &back);

		if (!one && !other)
			break;
	}
	*way = (struct sa_way){
		.mtu = there.least.mtu,
		.rate = view->rate[there.least.rank],
		.reversible = walk_arrived(&back),
	};
	return walk_arrived(&there);
}
