// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Keeping what need not change. A routing made anew after a loss is free to choose differently
 * everywhere, as all that is a matter of turns moves on by one. Each entry that was right before
 * and still begins a best path is put back, so that only what is broken gets programmed. Any
 * mixture of entries that all lead nearer is complete and free of loops; if the engine's graph is
 * oriented, also of credit loops.
 *
 * After a gain of cables this would leave the new ones idle: then take the new routing as it is.
 */
#include "route/engine.h"
#include "route/graph.h"

struct keep {
	const struct fabric *fabric, *old_fabric;
	const struct routing *old;
	struct routing *routing;
	struct route_graph *graph;
	const uint8_t *hops;
	uint16_t *lids;	  /* that belong to the same endport as before */
	uint32_t *leaves; /* of these */
	uint32_t n;
};

static void list_lids(struct keep *keep)
{
	uint16_t top = MIN(keep->routing->top, keep->old->top);

	keep->lids = g_new(uint16_t, top + 1u);
	keep->leaves = g_new(uint32_t, top + 1u);
	for (uint32_t lid = 1; lid <= top; lid++) {
		uint32_t port = fabric_port_by_lid(keep->fabric, lid);
		uint32_t old_port = fabric_port_by_lid(keep->old_fabric, lid), leaf;
		uint8_t exit;

		if (port == FABRIC_NONE || old_port == FABRIC_NONE ||
		    keep->fabric->ports[port].guid != keep->old_fabric->ports[old_port].guid)
			continue;
		leaf = fabric_leaf(keep->fabric, port, &exit);
		if (leaf == FABRIC_NONE)
			continue;
		keep->lids[keep->n] = lid;
		keep->leaves[keep->n++] = leaf;
	}
}

static uint64_t keep_switch(const struct keep *keep, uint32_t sw)
{
	const struct fabric *fabric = keep->fabric, *old_fabric = keep->old_fabric;
	const struct route_graph *graph = keep->graph;
	uint32_t old_node =
		fabric_node_by_guid(old_fabric, fabric->nodes[fabric->switches[sw].node].guid);
	const uint8_t *own = keep->hops + (size_t)sw * graph->n, *old;
	uint8_t *lft = keep->routing->lft[sw];
	uint32_t edges[256];
	uint64_t kept = 0;

	if (old_node == FABRIC_NONE || !fabric_is_switch(old_fabric, old_node))
		return 0;
	old = keep->old->lft[old_fabric->nodes[old_node].sw];
	route_edges_by_port(graph, sw, edges);
	for (uint32_t i = 0; i < keep->n; i++) {
		uint16_t lid = keep->lids[i];
		uint32_t leaf = keep->leaves[i], e = edges[old[lid]];

		if (old[lid] == lft[lid] || e == FABRIC_NONE ||
		    !route_leads(graph, e, own[leaf],
				 keep->hops[(size_t)graph->edges[e].to * graph->n + leaf]))
			continue;
		lft[lid] = old[lid];
		kept++;
	}
	return kept;
}

uint64_t routing_keep(const struct fabric *fabric, const struct route_input *input,
		      struct routing *routing, const struct fabric *old_fabric,
		      const struct routing *old)
{
	const struct route_engine *engine = route_find(routing->engine);
	struct keep keep = { fabric, old_fabric, old, routing };
	g_autofree uint8_t *hops = NULL;
	uint64_t kept = 0;

	g_assert(routing->n_switches == fabric->n_switches);
	g_assert(old->n_switches == old_fabric->n_switches);
	if (!engine || !engine->hops)
		return 0;
	keep.graph = route_graph_new(fabric);
	keep.hops = hops = engine->hops(keep.graph, fabric, input, NULL, NULL);
	if (hops) {
		list_lids(&keep);
		for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
			kept += keep_switch(&keep, sw);
	}
	route_graph_free(keep.graph);
	g_free(keep.lids);
	g_free(keep.leaves);
	return kept;
}
