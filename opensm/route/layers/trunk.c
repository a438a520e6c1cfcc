// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/layers/layered.h"

#include <string.h>

#include "route/graph/parallel.h"

/* A lane that gets the steps of the trunk. */
struct noting {
	const struct layered *layered;
	struct acyclic *lane;
};

/*
 * The switch of the SM: its shortest paths lead nearer or away, as those of the tree do, so that
 * both share one lane. If the SM is not in the fabric, a switch with hosts: in fat trees only there
 * do packets go down and up again.
 */
static uint32_t find_root(const struct layered *layered)
{
	uint32_t root = layered->graph->sm_switch;

	if (root != FABRIC_NONE)
		return root;
	for (root = 0; root < layered->graph->n; root++)
		if (route_has_hosts(layered->graph, root))
			return root;
	return 0;
}

/* Breadth first, over switches not found yet: parent[switch] gets the channel that leads there. */
static void grow(const struct route_channels *channels, uint32_t root, uint32_t *parent, bool *met,
		 uint32_t *list)
{
	uint32_t n = 0;

	if (!met[root])
		list[n++] = root;
	met[root] = true;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t c = channels->first[list[i]]; c < channels->first[list[i] + 1]; c++) {
			uint32_t to = channels->to[c];

			if (met[to])
				continue;
			met[to] = true;
			parent[to] = channels->back[c];
			list[n++] = to;
		}
}

/* The path to the root, if it leads nearer: then the way up adds no new step. */
static uint32_t path_to(const struct layered *layered, uint32_t sw, uint32_t root)
{
	const struct route_order *order = &layered->plan.order;
	const uint8_t *hops = layered->hops + (size_t)root * layered->graph->n;
	uint16_t lid = route_lid_of(layered->graph, root);
	uint32_t c = lid ? route_columns_get(&layered->way->columns, sw, lid) : FABRIC_NONE;

	return c != FABRIC_NONE && route_distance(order, hops[layered->channels->to[c]]) <
						   route_distance(order, hops[sw])
		       ? c
		       : FABRIC_NONE;
}

static void drop(struct layered_way *way)
{
	g_clear_pointer(&way->trunk, g_free);
	if (way->routing)
		g_clear_pointer(&way->routing->trunk, g_free);
}

void layered_find_trunk(struct layered *layered, bool by_paths)
{
	const struct route_channels *channels = layered->channels;
	struct layered_way *way = layered->way;
	uint32_t n = layered->graph->n, root = find_root(layered);
	g_autofree uint32_t *parent = g_new(uint32_t, n + 1), *list = g_new(uint32_t, n + 1);
	g_autofree bool *met = g_new0(bool, n + 1);

	drop(way);
	if (!layered->wants_trunk)
		return;
	way->trunk = g_new0(bool, channels->n + 1);
	way->routing->trunk = g_malloc0(n + 1);
	memset(parent, 0xFF, n * sizeof(*parent));
	if (n)
		grow(channels, root, parent, met, list);
	for (uint32_t sw = 0; sw < n; sw++)
		grow(channels, sw, parent, met, list);
	for (uint32_t sw = 0; sw < n; sw++) {
		uint32_t path = by_paths && sw != root ? path_to(layered, sw, root) : FABRIC_NONE;
		uint32_t c = path != FABRIC_NONE ? path : parent[sw];

		if (c == FABRIC_NONE)
			continue;
		way->trunk[c] = way->trunk[channels->back[c]] = true;
		way->routing->trunk[sw] = layered->graph->links[c];
	}
}

static void note_trunk(void *arg, uint32_t first, uint32_t last)
{
	const struct noting *noting = arg;
	const struct route_channels *channels = noting->layered->channels;

	for (uint32_t c = first; c < last; c++)
		route_each_step(channels, c, next)
			if (layered_is_trunk(noting->layered, c, next))
				acyclic_note(noting->lane, (struct acyclic_step){c, next});
}

void layered_note_trunk(const struct layered *layered, struct acyclic *lane)
{
	struct noting noting = {layered, lane};

	if (layered_has_trunk(layered))
		route_parallel(layered->graph->threads, layered->channels->n, note_trunk, &noting);
}

void layered_take_trunk(const struct layered *layered, struct acyclic *lane)
{
	layered_note_trunk(layered, lane);
	if (layered_has_trunk(layered))
		acyclic_sort(lane);
}

bool layered_with_trunk(struct layered *layered, GError **error)
{
	g_autoptr(GError) first = NULL;

	layered->wants_trunk = true;
	if (layered->engine->route(layered, &first))
		return true;
	layered->wants_trunk = false;
	for (enum spread_by by = 0; by < SPREAD_WAYS; by++) {
		drop(&layered->ways[by]);
		g_clear_pointer(&layered->ways[by].all, acyclic_free);
		layered->ways[by].is_refused = false;
	}
	if (!layered->engine->route(layered, error))
		return false;
	routing_note(layered->way->routing,
		     "with room for multicast trees %s; so multicast trees get no lane of their "
		     "own and may close credit loops with paths on the lane of their SL",
		     first->message);
	return true;
}
