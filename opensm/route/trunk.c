// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/trunk.h"

/*
 * The switch of the SM: its shortest paths lead nearer or away, as those of the tree then do, so
 * that both go together on one lane. If it is nowhere, one with hosts: in fat trees only there
 * packets then go down and up again.
 */
uint32_t layered_trunk_root(const struct layered *layered)
{
	uint32_t root = layered->graph->sm_switch;

	if (root != FABRIC_NONE)
		return root;
	for (root = 0; root < layered->graph->n; root++)
		if (route_has_hosts(layered->graph, root))
			return root;
	return 0;
}

struct growth {
	uint32_t *parent; /* [switch]: channel that leads there; FABRIC_NONE: none */
	bool *met;	  /* [switch] */
	uint32_t *list;	  /* switches as they were met */
	uint32_t n;
};

static void meet(struct growth *growth, uint32_t sw, uint32_t parent)
{
	if (growth->met[sw])
		return;
	growth->met[sw] = true;
	growth->parent[sw] = parent;
	growth->list[growth->n++] = sw;
}

/* Breadth first, over what was not met yet. */
static void grow(struct growth *growth, const struct route_channels *channels, uint32_t root)
{
	uint32_t i = growth->n;

	meet(growth, root, FABRIC_NONE);
	for (; i < growth->n; i++) {
		uint32_t sw = growth->list[i];

		for (uint32_t c = channels->first[sw]; c < channels->first[sw + 1]; c++)
			meet(growth, channels->to[c], channels->back[c]);
	}
}

/* By the paths to the root: then the way up takes no new step. */
static void follow_paths(struct growth *growth, const struct layered *layered, uint32_t root)
{
	const struct route_channels *channels = layered->channels;
	const uint8_t *hops = layered->hops + (size_t)root * layered->graph->n;
	uint16_t lid = route_lid_of(layered->graph, root);

	for (uint32_t i = 1; lid && i < growth->n; i++) {
		uint32_t sw = growth->list[i];
		uint32_t c = route_columns_get(&layered->way->columns, sw, lid);

		if (c != FABRIC_NONE && hops[channels->to[c]] < hops[sw])
			growth->parent[sw] = c;
	}
}

static void drop(struct layered_way *way)
{
	g_clear_pointer(&way->trunk, g_free);
	if (way->routing)
		g_clear_pointer(&way->routing->trunk, g_free);
}

static void take(struct layered *layered, const struct growth *growth)
{
	for (uint32_t sw = 0; sw < layered->graph->n; sw++) {
		uint32_t c = growth->parent[sw];

		if (c == FABRIC_NONE)
			continue;
		layered->way->trunk[c] = layered->way->trunk[layered->channels->back[c]] = true;
		layered->way->routing->trunk[sw] = layered->graph->links[c];
	}
}

void layered_find_trunk(struct layered *layered, uint32_t root, bool by_paths)
{
	uint32_t n = layered->graph->n;
	struct growth growth = {
		.parent = g_new(uint32_t, n + 1),
		.met = g_new0(bool, n + 1),
		.list = g_new(uint32_t, n + 1),
	};

	drop(layered->way);
	layered->way->trunk = g_new0(bool, layered->channels->n + 1);
	layered->way->routing->trunk = g_malloc0(n + 1);
	if (n) {
		grow(&growth, layered->channels, root);
		if (by_paths)
			follow_paths(&growth, layered, root);
	}
	for (uint32_t sw = 0; sw < n; sw++)
		grow(&growth, layered->channels, sw);
	take(layered, &growth);
	g_free(growth.parent);
	g_free(growth.met);
	g_free(growth.list);
}

bool layered_take_trunk(const struct layered *layered, struct acyclic *lane)
{
	const struct route_channels *channels = layered->channels;
	const bool *trunk = layered->way->trunk;

	for (uint32_t c = 0; trunk && c < channels->n; c++)
		route_each_step(channels, c, next) {
			struct acyclic_step step = {c, next};

			if (trunk[c] && trunk[next] && next != channels->back[c] &&
			    !acyclic_add(lane, &step, 1))
				return false;
		}
	return true;
}

/* What is known of tables that were to have one. */
static void give_up(struct layered_way *way)
{
	drop(way);
	g_clear_pointer(&way->all, acyclic_free);
	way->is_refused = false;
}

bool layered_with_trunk(struct layered *layered, GError **error)
{
	g_autoptr(GError) first = NULL;

	layered->wants_trunk = true;
	if (layered->engine->route(layered, &first))
		return true;
	layered->wants_trunk = false;
	for (enum spread_by by = 0; by < SPREAD_WAYS; by++)
		give_up(&layered->ways[by]);
	if (!layered->engine->route(layered, error))
		return false;
	routing_note(layered->way->routing,
		     "with room for multicast trees %s; so these have none, and may close credit "
		     "loops with paths on the lane of their SL",
		     first->message);
	return true;
}
