// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine ftree: for trees, of any number of ranks, any width on each and with parts missing. Up to
 * the top and down again, with ports spread so that on a full tree no two hosts of a shift
 * permutation share a cable (tree.c).
 *
 * The tree is found by the distance from the hosts, or goes by the roots that the operator named;
 * a network that does not stand in layers is refused. Hosts that are compute nodes are spread
 * first, as if there were no others; where only I/O nodes are named, all others count as compute
 * nodes. An I/O node on a switch of any rank is reached like a switch of that rank; from one to
 * another at the top there is a way only where connect.c finds one without a credit loop, since
 * hops in the reverse direction are what deadlocks are made of.
 */
#include "route/orient.h"
#include "route/shortest.h"

static GHashTable *set_of(const uint64_t *guids, uint32_t n)
{
	GHashTable *set = g_hash_table_new(g_int64_hash, g_int64_equal);

	for (uint32_t i = 0; i < n; i++)
		g_hash_table_add(set, (gpointer)&guids[i]);
	return set;
}

/* Marks the targets that are spread after the compute nodes. */
static void put_off_others(struct route_graph *graph, const struct fabric *fabric,
			   const struct route_input *input)
{
	g_autoptr(GHashTable) compute = set_of(input->compute, input->n_compute);
	g_autoptr(GHashTable) io = set_of(input->io, input->n_io);

	for (uint32_t t = 0; t < route_n_targets(graph); t++) {
		uint32_t port = fabric_port_by_lid(fabric, graph->targets[t].lid);
		const uint64_t *guid = &fabric->ports[port].guid;

		graph->targets[t].later = input->n_compute ? !g_hash_table_contains(compute, guid)
							   : g_hash_table_contains(io, guid);
	}
}

uint32_t route_ftree_order(struct route_graph *graph, const struct fabric *fabric,
			   const struct route_input *input, uint32_t *order)
{
	graph->from_roots = input->from_roots;
	if (input->n_compute || input->n_io)
		put_off_others(graph, fabric, input);
	return route_tree_order(graph, order);
}

static uint8_t *ftree_hops(struct route_graph *graph, const struct fabric *fabric,
			   const struct route_input *input, uint8_t *next, GError **error)
{
	g_autofree uint64_t *keys = route_keys(fabric, input);

	if (!route_orient_tree(graph, keys) && graph->n > 1) {
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
			    "the switches do not stand in layers: this is no tree");
		return NULL;
	}
	if (input->n_roots && !route_orient_to_roots(graph, fabric, input, keys, error))
		return NULL;
	graph->from_roots = input->from_roots;
	if (input->n_compute || input->n_io)
		put_off_others(graph, fabric, input);
	return route_legal_hops(graph, fabric, next, error);
}

static struct routing *ftree_compute(const struct fabric *fabric, const struct route_input *input,
				     GError **error)
{
	return route_by_hops(&route_engine_ftree, fabric, input, error);
}

const struct route_engine route_engine_ftree = {
	.name = "ftree",
	.summary = "trees: up and down, no contention under shifts; free of credit loops",
	.promises = ROUTE_DEADLOCK_FREE,
	.compute = ftree_compute,
	.hops = ftree_hops,
};
