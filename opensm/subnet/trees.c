// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "subnet/trees.h"

#include <glib.h>

struct mc_trees *mc_trees_new(struct fabric *fabric, struct route_tree *const *trees)
{
	struct mc_trees *copy = g_new0(struct mc_trees, 1);

	ref_init(&copy->ref);
	copy->fabric = fabric_ref(fabric);
	for (uint32_t i = 0; i < MC_N_MLIDS; i++)
		copy->trees[i] = trees[i] ? route_tree_ref(trees[i]) : NULL;
	copy->tops = g_new(uint16_t, fabric->n_switches);
	for (uint32_t i = 0; i < fabric->n_switches; i++)
		copy->tops[i] = fabric->switches[i].info.multicast_fdb_top;
	return copy;
}

struct mc_trees *mc_trees_ref(struct mc_trees *trees)
{
	ref_get(&trees->ref);
	return trees;
}

void mc_trees_unref(struct mc_trees *trees)
{
	if (!trees || !ref_put(&trees->ref))
		return;
	for (uint32_t i = 0; i < MC_N_MLIDS; i++)
		route_tree_unref(trees->trees[i]);
	fabric_unref(trees->fabric);
	g_free(trees->tops);
	g_free(trees);
}

bool mc_trees_top(const struct mc_trees *trees, uint64_t guid, uint16_t *top)
{
	uint32_t node = trees ? fabric_node_by_guid(trees->fabric, guid) : FABRIC_NONE;

	if (node == FABRIC_NONE || !fabric_is_switch(trees->fabric, node))
		return false;
	*top = trees->tops[trees->fabric->nodes[node].sw];
	return true;
}
