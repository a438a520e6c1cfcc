// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Routes as text: forwarding tables, their quality, hop counts, roots.
 *
 * Hop counts are those of the engine: for up/down routing, of the shortest legal paths. Where an
 * entry does not use a port on a shortest path, opensm.fdbs names a port that is on one.
 */
#include <inttypes.h>
#include <string.h>

#include "ctl/dump/dump_private.h"
#include "route/fill/shortest.h"

/* A switch whose lines are being written. */
struct row {
	uint32_t sw;
	uint8_t num_ports;
	uint32_t edge_of[256]; /* per port; FABRIC_NONE: no switch at the other end */
};

static void open_row(const struct dump_view *view, uint32_t sw, struct row *row)
{
	const struct route_graph *graph = view->plan.graph;

	row->sw = sw;
	row->num_ports = view->fabric->nodes[view->fabric->switches[sw].node].num_ports;
	memset(row->edge_of, 0xFF, sizeof(row->edge_of));
	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
		for (unsigned int k = 0; k < graph->edges[e].n_links; k++)
			row->edge_of[graph->links[graph->edges[e].first_link + k]] = e;
}

static unsigned int least_hops(const struct dump_view *view, uint32_t sw, uint32_t to)
{
	return route_distance(&view->plan.order, view->hops[(size_t)sw * view->plan.graph->n + to]);
}

/* Hops to a switch through this port; ROUTE_FAR if there is no legal path. */
static unsigned int hops_by(const struct dump_view *view, const struct row *row, unsigned int num,
			    uint32_t to)
{
	const struct route_order *order = &view->plan.order;
	const struct route_graph *graph = order->graph;
	uint32_t edge = row->edge_of[num];
	unsigned int hops;
	uint8_t there;

	if (!num)
		return row->sw == to ? 0 : ROUTE_FAR;
	if (edge == FABRIC_NONE)
		return ROUTE_FAR;
	there = view->hops[(size_t)graph->edges[edge].to * graph->n + to];
	if (there == ROUTE_FAR || (order->up && !order->up[edge] && there & ROUTE_UP))
		return ROUTE_FAR;
	hops = route_distance(order, there) + (order->weight ? order->weight[edge] : 1u);
	return MIN(hops, ROUTE_FAR);
}

static const struct fabric_node *switch_node(const struct dump_view *view, uint32_t sw)
{
	return &view->fabric->nodes[view->fabric->switches[sw].node];
}

/* ---- opensm-lfts.dump ---- */

static const char *node_kind(const struct fabric_node *node)
{
	switch (node->type) {
	case IBA_NODE_CA:
		return "Channel Adapter";
	case IBA_NODE_SWITCH:
		return "Switch";
	case IBA_NODE_ROUTER:
		return "Router";
	default:
		return "Unknown Node Type";
	}
}

/* Writes the name of a node on one line. */
static void put_name(const struct fabric *fabric, uint32_t node, FILE *out)
{
	for (const char *name = fabric_called(fabric, node); *name; name++)
		fputc((unsigned char)*name < ' ' || *name == 0x7F ? '.' : *name, out);
}

static void put_owner(const struct fabric *fabric, uint32_t port, FILE *out)
{
	uint32_t node = fabric->ports[port].node;

	fprintf(out, "%s portguid 0x%016" PRIx64 ": '", node_kind(&fabric->nodes[node]),
		fabric->ports[port].guid);
	put_name(fabric, node, out);
	fputs("'\n", out);
}

static void put_lft(const struct dump_view *view, uint32_t sw, FILE *out)
{
	const struct fabric *fabric = view->fabric;
	const struct routing *routing = view->subnet->routing;
	unsigned int n = 0;

	fprintf(out, "Unicast lids [0-%u] of switch Lid %u guid 0x%016" PRIx64 " ('", routing->top,
		fabric->ports[fabric_switch_port(fabric, sw, 0)].lid, switch_node(view, sw)->guid);
	put_name(fabric, fabric->switches[sw].node, out);
	fputs("'):\n", out);
	for (uint32_t lid = 1; lid <= routing->top; lid++) {
		uint8_t port = routing_port(routing, sw, lid);
		uint32_t owner = fabric_port_by_lid(fabric, lid);

		if (port == ROUTE_NO_PORT)
			continue;
		fprintf(out, "0x%04x %03u # ", lid, port);
		if (owner == FABRIC_NONE)
			fputs("unknown node and type\n", out);
		else
			put_owner(fabric, owner, out);
		n++;
	}
	fprintf(out, "%u lids dumped\n", n);
}

void dump_lfts(struct dump_view *view, FILE *out)
{
	for (uint32_t i = 0; i < view->fabric->n_switches && dump_goes_on(view, out); i++)
		put_lft(view, view->switches[i], out);
}

/* ---- opensm.fdbs ---- */

/* The lowest port on a shortest path. */
static unsigned int best_port(const struct dump_view *view, const struct row *row, uint32_t to)
{
	for (unsigned int num = 1; num <= row->num_ports; num++)
		if (hops_by(view, row, num, to) == least_hops(view, row->sw, to))
			return num;
	return 0;
}

/* What is known of an entry: port and hops, which for a host include its cable. */
static void put_fdb(const struct dump_view *view, const struct row *row, uint32_t lid, FILE *out)
{
	const struct fabric *fabric = view->fabric;
	uint8_t port = routing_port(view->subnet->routing, row->sw, lid), exit;
	uint32_t owner = fabric_port_by_lid(fabric, lid);
	uint32_t leaf = owner == FABRIC_NONE ? FABRIC_NONE : fabric_leaf(fabric, owner, &exit);
	unsigned int cable, hops, least;

	fprintf(out, "0x%04X : ", lid);
	if (leaf == FABRIC_NONE || port == ROUTE_NO_PORT) {
		fputs("UNREACHABLE\n", out);
		return;
	}
	cable = fabric_is_switch(fabric, fabric->ports[owner].node) ? 0 : 1;
	hops = row->sw == leaf && port == exit ? 0 : hops_by(view, row, port, leaf);
	least = least_hops(view, row->sw, leaf);
	if (hops == ROUTE_FAR || least == ROUTE_FAR)
		fprintf(out, "%03u  : HOPS UNKNOWN\n", port);
	else if (hops == least)
		fprintf(out, "%03u  : %02u   : yes\n", port, hops + cable);
	else
		fprintf(out, "%03u  : %02u   : No %u hop path possible via port %u!\n", port,
			hops + cable, least + cable, best_port(view, row, leaf));
}

void dump_fdbs(struct dump_view *view, FILE *out)
{
	struct row row;

	if (!dump_view_route(view))
		return;
	for (uint32_t i = 0; i < view->fabric->n_switches && dump_goes_on(view, out); i++) {
		open_row(view, view->switches[i], &row);
		fprintf(out,
			"dump_ucast_routes: Switch 0x%016" PRIx64 "\n"
			"LID    : Port : Hops : Optimal\n",
			switch_node(view, row.sw)->guid);
		for (uint32_t lid = 1; lid <= view->subnet->routing->top; lid++)
			put_fdb(view, &row, lid, out);
	}
}

/* ---- opensm-lid-matrix.dump ---- */

static void put_hops(const struct dump_view *view, const struct row *row, uint32_t lid,
		     uint32_t port, FILE *out)
{
	const struct fabric *fabric = view->fabric;
	uint32_t to = fabric->nodes[fabric->ports[port].node].sw;

	fprintf(out, "0x%04x: %02x", lid, least_hops(view, row->sw, to));
	for (unsigned int num = 1; num <= row->num_ports; num++)
		fprintf(out, " %02x", hops_by(view, row, num, to));
	fprintf(out, " # portguid 0x%016" PRIx64 "\n", fabric->ports[port].guid);
}

void dump_lid_matrix(struct dump_view *view, FILE *out)
{
	const struct fabric *fabric = view->fabric;
	struct row row;

	if (!dump_view_route(view))
		return;
	for (uint32_t i = 0; i < fabric->n_switches && dump_goes_on(view, out); i++) {
		open_row(view, view->switches[i], &row);
		fprintf(out, "Switch: guid 0x%016" PRIx64 "\n", switch_node(view, row.sw)->guid);
		for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
			uint32_t port = fabric_port_by_lid(fabric, lid);

			if (port != FABRIC_NONE && fabric->ports[port].lid == lid &&
			    fabric_is_switch(fabric, fabric->ports[port].node))
				put_hops(view, &row, lid, port, out);
		}
	}
}

/* ---- opensm-updn-roots.dump ---- */

/* Roots are the given ones or, if none are given, the switches without an up link. */
static bool is_named_root(const struct dump_view *view, uint32_t sw)
{
	const struct route_input *input = view->input;

	for (uint32_t i = 0; i < input->n_roots; i++)
		if (input->roots[i] == switch_node(view, sw)->guid ||
		    fabric_port_by_guid(view->fabric, input->roots[i]) ==
			    fabric_switch_port(view->fabric, sw, 0))
			return true;
	return false;
}

static bool is_found_root(const struct route_order *order, uint32_t sw)
{
	const struct route_graph *graph = order->graph;

	if (!order->up)
		return false;
	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
		if (order->up[e])
			return false;
	return true;
}

/*
 * Writes the given roots, or those found. In most trees one leaf is placed above all others
 * (single_top.c); a reader of the file wants the top of the tree instead.
 */
void dump_updn_roots(struct dump_view *view, FILE *out)
{
	g_autofree uint32_t *rank = g_new(uint32_t, view->fabric->n_switches + 1);
	bool named = view->input->n_roots, tree;

	if (!dump_view_route(view))
		return;
	tree = !named && (view->plan.order.inverted || view->plan.order.joined) &&
	       route_tree_rank(&view->plan.wishes, rank);
	for (uint32_t i = 0; i < view->fabric->n_switches; i++) {
		uint32_t sw = view->switches[i];

		if (named ? is_named_root(view, sw)
			  : tree ? !rank[sw] : is_found_root(&view->plan.order, sw))
			fprintf(out, "0x%" PRIx64 "\n", switch_node(view, sw)->guid);
	}
}

/* ---- opensm-ftree-ca-order.dump ---- */

/*
 * Compute nodes in the order in which ftree numbers them. Leaves with fewer nodes than others are
 * padded, so that equal places of the leaves stand at equal distances. Leaves before the first and
 * after the last compute node are skipped, as are those without any host.
 */
struct places {
	const struct route_graph *graph;
	const struct route_wish *wishes; /* [target] */
	uint32_t *order;	     /* switches, leaves first */
	uint32_t first, last, leaves; /* in order; compute nodes are on [first, last) */
	uint32_t most;		     /* compute nodes of the fullest leaf */
};

static bool is_compute(const struct places *places, uint32_t target)
{
	return !places->graph->targets[target].offset && !places->wishes[target].later;
}

static uint32_t count_compute(const struct places *places, uint32_t sw)
{
	const struct route_graph *graph = places->graph;
	uint32_t n = 0;

	for (uint32_t t = graph->first_target[sw]; t < graph->first_target[sw + 1]; t++)
		n += is_compute(places, t);
	return n;
}

static void find_places(struct places *places)
{
	places->first = places->leaves;
	for (uint32_t i = 0; i < places->leaves; i++) {
		uint32_t n = count_compute(places, places->order[i]);

		if (!n)
			continue;
		places->first = MIN(places->first, i);
		places->last = i + 1;
		places->most = MAX(places->most, n);
	}
}

static void put_compute(const struct dump_view *view, const struct places *places, uint32_t sw,
			uint32_t least, FILE *out)
{
	const struct route_graph *graph = places->graph;
	uint32_t n = 0;

	for (uint32_t t = graph->first_target[sw]; t < graph->first_target[sw + 1]; t++) {
		const struct route_target *target = &graph->targets[t];
		uint32_t port = fabric_port_by_lid(view->fabric, target->lid);

		if (!is_compute(places, t))
			continue;
		fprintf(out, "0x%04x\t", target->lid);
		put_name(view->fabric, view->fabric->ports[port].node, out);
		fputc('\n', out);
		n++;
	}
	for (; n < least; n++)
		fputs("0xFFFF\tDUMMY\n", out);
}

void dump_ca_order(struct dump_view *view, FILE *out)
{
	uint32_t n = view->fabric->n_switches;
	struct places places = {.order = g_new(uint32_t, n + 1)};
	struct route_plan plan;

	route_plan_init(&plan, view->fabric);
	places.graph = plan.graph;
	places.wishes = plan.wishes.of;
	places.leaves = route_ftree_order(&plan.wishes, view->fabric, view->input, places.order);
	find_places(&places);
	for (uint32_t i = places.first; i < places.last; i++)
		if (route_has_hosts(plan.graph, places.order[i]))
			put_compute(view, &places, places.order[i], places.most, out);
	for (uint32_t i = places.leaves; places.leaves && i < n; i++)
		put_compute(view, &places, places.order[i], 0, out);
	g_free(places.order);
	route_plan_clear(&plan);
}
