// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine ftree: for trees, of any number of ranks, any width on each and with parts missing. Up to
 * the top and down again, with ports spread so that on a full tree no two hosts of a shift
 * permutation share a cable (anchor.c).
 *
 * The tree is found by the distance from the hosts, or goes by the roots that the operator named;
 * a network that does not stand in layers is refused. Hosts that are compute nodes are spread
 * first, as if there were no others; where only I/O nodes are named, all others count as compute
 * nodes. Those that are none may stand on a switch of any rank, and are reached like it. Where all
 * hosts are alike, what switches send to each other, and detours of lost cables, go by way of a
 * crown (crown.c).
 *
 * Some hosts may have no way up and then down to each other: compute nodes if cables were lost,
 * others as they stand, as on two roots. For them connect.c finds ways that go down before they go
 * up, as long as that closes no credit loop; for I/O nodes with as many such hops as the operator
 * allows. Of hosts that are no compute nodes, some may stay without a path to each other; this is
 * told. Compute nodes, and the subnet manager, may not: then the engine refuses.
 */
#include <string.h>

#include "route/crown.h"
#include "route/orient.h"
#include "route/shortest.h"
#include "route/trace.h"

static GHashTable *set_of(const uint64_t *guids, uint32_t n)
{
	GHashTable *set = g_hash_table_new(g_int64_hash, g_int64_equal);

	for (uint32_t i = 0; i < n; i++)
		g_hash_table_add(set, (gpointer)&guids[i]);
	return set;
}

/*
 * Marks the targets that are spread after the compute nodes, and the switches that have no other;
 * false if this leaves no compute node.
 */
static bool put_off_others(struct route_graph *graph, const struct fabric *fabric,
			   const struct route_input *input)
{
	g_autoptr(GHashTable) compute = set_of(input->compute, input->n_compute);
	g_autoptr(GHashTable) io = set_of(input->io, input->n_io);
	bool any = false;

	graph->reverse_hops = input->reverse_hops;
	graph->aside = g_malloc0(graph->n + 1);
	for (uint32_t t = 0; t < route_n_targets(graph); t++) {
		struct route_target *target = &graph->targets[t];
		uint32_t port = fabric_port_by_lid(fabric, target->lid);
		const uint64_t *guid = &fabric->ports[port].guid;
		bool is_io = g_hash_table_contains(io, guid);

		target->later = input->n_compute ? !g_hash_table_contains(compute, guid) : is_io;
		graph->aside[target->leaf] |= ROUTE_ASIDE | (is_io ? ROUTE_ASIDE_IO : 0);
	}
	for (uint32_t t = 0; t < route_n_targets(graph); t++) {
		any |= !graph->targets[t].later;
		if (!graph->targets[t].later)
			graph->aside[graph->targets[t].leaf] = 0;
	}
	return any;
}

uint32_t route_ftree_order(struct route_graph *graph, const struct fabric *fabric,
			   const struct route_input *input, uint32_t *order)
{
	graph->from_roots = input->from_roots;
	if (input->n_compute || input->n_io)
		put_off_others(graph, fabric, input);
	return route_tree_order(graph, order);
}

/* Whether more than one pair of leaves in four, of those not aside, have no way up and down. */
static bool is_far(const struct route_graph *graph, const uint8_t *hops)
{
	uint64_t far = 0, leaves = 0;

	for (uint32_t from = 0; from < graph->n; from++) {
		const uint8_t *row = hops + (size_t)from * graph->n;
		bool any = memchr(row, ROUTE_FAR, graph->n);

		if (!route_has_hosts(graph, from))
			continue;
		leaves++;
		for (uint32_t to = 0; any && to < graph->n; to++)
			far += row[to] == ROUTE_FAR && route_has_hosts(graph, to) &&
			       !route_are_aside(graph, from, to);
	}
	return far * 4 > leaves * leaves;
}

static uint8_t *ftree_hops(struct route_graph *graph, const struct fabric *fabric,
			   const struct route_input *input, uint8_t *next, GError **error)
{
	g_autofree uint64_t *keys = route_keys(fabric, input);
	uint8_t *hops;

	graph->from_roots = input->from_roots;
	if ((input->n_compute || input->n_io) && !put_off_others(graph, fabric, input)) {
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_INPUT,
			    "by the files of compute and I/O nodes no node is a compute node");
		return NULL;
	}
	if (!graph->aside && !input->n_roots) {
		hops = route_tree_hops_shortest(graph, fabric, keys, next);
		if (hops)
			return hops;
	}
	if (!route_orient_tree(graph, keys) && graph->n > 1) {
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
			    "the switches do not stand in layers: this is no tree%s",
			    input->n_compute || input->n_io
				    ? ""
				    : ", unless io_guid_file names hosts above the leaves");
		return NULL;
	}
	if (input->n_roots && !route_orient_to_roots(graph, fabric, input, keys, error))
		return NULL;
	hops = route_hops_or_error(graph, next, error);
	if (hops && is_far(graph, hops) && !route_reaches(graph, fabric, hops, error))
		g_clear_pointer(&hops, g_free);
	return hops;
}

/* ---- what stays without a path ---- */

struct left_out {
	uint64_t n;	   /* pairs of switch and LID of a host */
	uint32_t from, to; /* the worst of them */
	bool wrong;	   /* this must not be */
};

static bool is_left_out(const struct routing *routing, uint32_t from, uint32_t to)
{
	const struct route_graph *graph = routing->trace->graph;
	size_t pair = (size_t)from * graph->n + to;

	return routing->trace->hops[pair] == ROUTE_FAR &&
	       routing->trace->next[pair] != ROUTE_NO_PORT && route_has_hosts(graph, to) &&
	       routing_port(routing, from, graph->targets[graph->first_target[to]].lid) ==
		       ROUTE_NO_PORT;
}

static void add_left_out(struct left_out *left_out, const struct route_graph *graph, uint32_t from,
			 uint32_t to, uint32_t sm)
{
	bool wrong = !route_are_aside(graph, from, to) || from == sm || to == sm;

	if (!left_out->n || (wrong && !left_out->wrong)) {
		left_out->from = from;
		left_out->to = to;
	}
	left_out->wrong |= wrong;
	left_out->n += route_n_hosts(graph, to);
}

static struct left_out count_left_out(const struct fabric *fabric, const struct routing *routing)
{
	const struct route_graph *graph = routing->trace->graph;
	struct left_out left_out = {0};
	uint8_t exit;
	uint32_t sm = fabric_leaf(fabric, fabric->sm_port, &exit);

	for (uint32_t from = 0; from < graph->n; from++) {
		if (!route_has_hosts(graph, from) ||
		    !memchr(routing->trace->hops + (size_t)from * graph->n, ROUTE_FAR, graph->n))
			continue;
		for (uint32_t to = 0; to < graph->n; to++)
			if (is_left_out(routing, from, to))
				add_left_out(&left_out, graph, from, to, sm);
	}
	return left_out;
}

static const char *name_of(const struct fabric *fabric, uint32_t sw)
{
	return fabric->nodes[fabric->switches[sw].node].description;
}

/* Tells what is left out; false if that must not be. */
static bool excuse(const struct fabric *fabric, struct routing *routing, GError **error)
{
	const struct route_graph *graph = routing->trace->graph;
	struct left_out left_out = count_left_out(fabric, routing);
	g_autofree char *before = NULL;

	if (!left_out.n)
		return true;
	if (left_out.wrong) {
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
			    "no way up and then down from switch '%s' to hosts of '%s', which must "
			    "reach each other, and no other without a credit loop or more than %u "
			    "reverse hops to I/O nodes",
			    name_of(fabric, left_out.from), name_of(fabric, left_out.to),
			    graph->reverse_hops);
		return false;
	}
	before = routing->note;
	routing->note = g_strdup_printf(
		"%s%s%" G_GUINT64_FORMAT " paths between hosts that are no compute nodes are left "
		"out, as from switch '%s' to hosts of '%s': they go down before they go up, and "
		"either these are no I/O nodes, or %u reverse hops do not do, or there would be a "
		"credit loop",
		before ? before : "", before ? "; " : "", left_out.n,
		name_of(fabric, left_out.from), name_of(fabric, left_out.to),
		graph->reverse_hops);
	routing->aside = g_new(bool, graph->n + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		routing->aside[sw] = graph->aside[sw];
	return true;
}

static struct routing *ftree_compute(const struct fabric *fabric, const struct route_input *input,
				     GError **error)
{
	struct routing *routing = route_by_hops(&route_engine_ftree, fabric, input, error);

	if (routing && routing->trace->graph->up && !excuse(fabric, routing, error))
		g_clear_pointer(&routing, routing_unref);
	return routing;
}

const struct route_engine route_engine_ftree = {
	.name = "ftree",
	.summary = "trees: up and down, no contention under shifts; free of credit loops",
	.promises = ROUTE_DEADLOCK_FREE,
	.compute = ftree_compute,
	.hops = ftree_hops,
};
