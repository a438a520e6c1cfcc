// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine ftree: for trees, of any number of ranks, any width on each and with parts missing. Paths
 * go up to the top and down again, with ports spread so that on a full tree no two hosts of a shift
 * permutation share a cable (ancestor.c).
 *
 * The tree is found by the distance from the hosts, or from the middle of the hosts if these are on
 * several ranks (roots.c), or by the roots that the operator named; a network that is not layered
 * is refused. Compute nodes are spread first, as if there were no other hosts; if only I/O nodes
 * are named, all others count as compute nodes. Other hosts may be on a switch of any rank, and are
 * reached as the switch is.
 *
 * All hosts and switches reach each other: an order with a single top (single_top.c) covers
 * switches that lost cables, and hosts on several roots, so that no limit of reverse hops is
 * needed.
 */
#include "complib/hash.h"
#include "route/fill/shortest.h"
#include "route/order/orient.h"
#include "route/value/base.h"

static GHashTable *set_of(const uint64_t *guids, uint32_t n)
{
	GHashTable *set = g_hash_table_new(hash_uint64, g_int64_equal);

	for (uint32_t i = 0; i < n; i++)
		g_hash_table_add(set, (gpointer)&guids[i]);
	return set;
}

/* Marks the targets that are spread after the compute nodes; false if no compute node is left. */
static bool put_off_others(struct route_wishes *wishes, const struct fabric *fabric,
			   const struct route_input *input)
{
	g_autoptr(GHashTable) compute = set_of(input->compute, input->n_compute);
	g_autoptr(GHashTable) io = set_of(input->io, input->n_io);
	bool any = false;

	for (uint32_t t = 0; t < route_n_targets(wishes->graph); t++) {
		struct route_wish *wish = &wishes->of[t];
		uint32_t port = fabric_port_by_lid(fabric, wishes->graph->targets[t].lid);
		const uint64_t *guid = &fabric->ports[port].guid;

		wish->later = input->n_compute ? !g_hash_table_contains(compute, guid)
					       : g_hash_table_contains(io, guid);
		any |= !wish->later;
	}
	return any;
}

uint32_t route_ftree_order(struct route_wishes *wishes, const struct fabric *fabric,
			   const struct route_input *input, uint32_t *order)
{
	wishes->from_roots = input->from_roots;
	if (input->n_compute || input->n_io)
		put_off_others(wishes, fabric, input);
	return route_tree_order(wishes, order);
}

/*
 * Ranks of a tree: by the distance from the roots that the operator named, else from the hosts, or
 * from their middle if these are on several ranks. NULL and error if it is not a tree.
 */
static uint32_t *find_ranks(struct route_plan *plan, const struct fabric *fabric,
			    const struct route_input *input, const uint64_t *keys, GError **error)
{
	const struct route_graph *graph = plan->graph;
	g_autofree uint32_t *rank = g_new0(uint32_t, graph->n + 1);
	bool tree = route_tree_rank(&plan->wishes, rank) || graph->n <= 1;

	if (input->n_roots) {
		g_free(rank);
		rank = route_rank_from_roots(&plan->order, fabric, input, keys, error);
		if (!rank)
			return NULL;
		tree |= route_is_layered(graph, rank);
	} else if (!tree) {
		tree = route_orient_middle(&plan->order, keys, rank) &&
		       route_is_layered(graph, rank);
	}
	if (!tree)
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
			    "the switches do not form layers: this is not a tree%s",
			    input->n_compute || input->n_io
				    ? ""
				    : ", unless io_guid_file names hosts above the leaves");
	return tree ? g_steal_pointer(&rank) : NULL;
}

static uint8_t *ftree_hops(struct route_plan *plan, const struct fabric *fabric,
			   const struct route_input *input, uint8_t *next, GError **error)
{
	g_autofree uint64_t *keys = route_keys(fabric, input);
	g_autofree uint32_t *rank = NULL;

	plan->wishes.from_roots = input->from_roots;
	if ((input->n_compute || input->n_io) && !put_off_others(&plan->wishes, fabric, input)) {
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_INPUT,
			    "according to the files of compute and I/O nodes, no node is a "
			    "compute node");
		return NULL;
	}
	rank = find_ranks(plan, fabric, input, keys, error);
	return rank ? route_ranked_hops(&plan->order, fabric, rank, keys, next, error) : NULL;
}

const struct route_engine route_engine_ftree = {
	.name = "ftree",
	.summary = "trees: up and down, no contention under shifts; free of credit loops",
	.promises = ROUTE_DEADLOCK_FREE,
	.ties = true,
	.hops = ftree_hops,
};
