// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Ranks of switches and directions of edges, for engines that restrict the turns of paths. */
#include "route/orient.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "route/shortest.h"

void route_rank(const struct route_graph *graph, const uint32_t *from, uint32_t n, uint32_t *rank)
{
	uint32_t *queue = g_new(uint32_t, graph->n + 1), tail = 0;

	memset(rank, 0xFF, graph->n * sizeof(*rank));
	for (uint32_t i = 0; i < n; i++) {
		if (rank[from[i]] != ROUTE_NO_RANK)
			continue;
		rank[from[i]] = 0;
		queue[tail++] = from[i];
	}
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t sw = queue[head];

		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			uint32_t to = graph->edges[e].to;

			if (rank[to] != ROUTE_NO_RANK)
				continue;
			rank[to] = rank[sw] + 1;
			queue[tail++] = to;
		}
	}
	g_free(queue);
}

void route_orient_by(struct route_graph *graph, uint32_t *order)
{
	g_free(graph->order);
	graph->order = order;
	if (!graph->up)
		graph->up = g_new(bool, graph->first_edge[graph->n] + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
			graph->up[e] = order[graph->edges[e].to] < order[sw];
}

/* A switch while its place in the order of ranks is found. */
struct standing {
	uint32_t rank;
	uint64_t key;
	uint32_t sw;
};

static gint compare_standings(gconstpointer a, gconstpointer b)
{
	const struct standing *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

void route_orient(struct route_graph *graph, const uint32_t *rank, const uint64_t *key)
{
	struct standing *standings = g_new(struct standing, graph->n + 1);
	uint32_t *order = g_new(uint32_t, graph->n + 1);

	for (uint32_t sw = 0; sw < graph->n; sw++)
		standings[sw] = (struct standing){ rank[sw], key[sw], sw };
	qsort(standings, graph->n, sizeof(*standings), compare_standings);
	for (uint32_t i = 0; i < graph->n; i++)
		order[standings[i].sw] = i;
	g_free(standings);
	route_orient_by(graph, order);
}

/* A switch while its place in the order is found. */
struct place {
	bool has_id;
	uint64_t id, guid;
	uint32_t sw;
};

static gint compare_places(gconstpointer a, gconstpointer b)
{
	const struct place *x = a, *y = b;

	if (x->has_id != y->has_id)
		return x->has_id ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

uint64_t *route_keys(const struct fabric *fabric, const struct route_input *input)
{
	uint32_t n = fabric->n_switches;
	struct place *places = g_new0(struct place, n + 1);
	uint64_t *keys = g_new(uint64_t, n + 1);

	for (uint32_t sw = 0; sw < n; sw++) {
		places[sw].sw = sw;
		places[sw].guid = fabric->nodes[fabric->switches[sw].node].guid;
	}
	for (uint32_t i = 0; i < input->n_ids; i++) {
		uint32_t node = fabric_node_by_guid(fabric, input->ids[i].guid);

		if (node == FABRIC_NONE || !fabric_is_switch(fabric, node))
			continue;
		places[fabric->nodes[node].sw].has_id = true;
		places[fabric->nodes[node].sw].id = input->ids[i].id;
	}
	qsort(places, n, sizeof(*places), compare_places);
	for (uint32_t i = 0; i < n; i++)
		keys[places[i].sw] = i;
	g_free(places);
	return keys;
}

bool route_orient_from_hosts(struct route_graph *graph, const uint64_t *key)
{
	uint32_t *leaves = g_new(uint32_t, graph->n + 1), n = 0;
	uint32_t *rank = g_new(uint32_t, graph->n + 1);

	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (route_has_hosts(graph, sw))
			leaves[n++] = sw;
	route_rank(graph, leaves, n, rank);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		rank[sw] = ROUTE_NO_RANK - rank[sw];
	route_orient(graph, rank, key);
	g_free(leaves);
	g_free(rank);
	return n != 0;
}

bool route_orient_tree(struct route_graph *graph, const uint64_t *key)
{
	uint32_t *rank = g_new(uint32_t, graph->n + 1);
	bool layered = route_tree_rank(graph, rank);

	if (layered)
		route_orient(graph, rank, key);
	g_free(rank);
	return layered;
}

bool route_orient_to_roots(struct route_graph *graph, const struct fabric *fabric,
			   const struct route_input *input, const uint64_t *key, GError **error)
{
	uint32_t *roots = g_new(uint32_t, input->n_roots + 1), n = 0;
	uint32_t *rank = g_new(uint32_t, graph->n + 1);

	for (uint32_t i = 0; i < input->n_roots; i++) {
		uint32_t node = fabric_node_by_guid(fabric, input->roots[i]);

		if (node != FABRIC_NONE && fabric_is_switch(fabric, node))
			roots[n++] = fabric->nodes[node].sw;
	}
	if (n) {
		route_rank(graph, roots, n, rank);
		route_orient(graph, rank, key);
	} else {
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_INPUT,
			    "none of the %u root switches is in the fabric", input->n_roots);
	}
	g_free(roots);
	g_free(rank);
	return n != 0;
}

static const char *name_of(const struct fabric *fabric, uint32_t sw)
{
	return fabric->nodes[fabric->switches[sw].node].description;
}

/* Whether cables connect two switches. */
static bool are_connected(const struct route_graph *graph, uint32_t from, uint32_t to)
{
	g_autofree uint32_t *rank = g_new(uint32_t, graph->n + 1);

	route_rank(graph, &from, 1, rank);
	return rank[to] != ROUTE_NO_RANK;
}

static bool reaches_all(const struct route_graph *graph, const struct fabric *fabric,
			const uint8_t *hops, uint32_t sw, GError **error)
{
	for (uint32_t to = 0; to < graph->n; to++) {
		if (hops[(size_t)sw * graph->n + to] != ROUTE_FAR || !route_has_hosts(graph, to) ||
		    route_are_aside(graph, sw, to) || !are_connected(graph, sw, to))
			continue;
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
			    "no way up and then down from switch '%s' to '%s'",
			    name_of(fabric, sw), name_of(fabric, to));
		return false;
	}
	return true;
}

bool route_reaches(const struct route_graph *graph, const struct fabric *fabric,
		   const uint8_t *hops, GError **error)
{
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		if (!route_has_hosts(graph, sw) ||
		    !memchr(hops + (size_t)sw * graph->n, ROUTE_FAR, graph->n))
			continue;
		if (!reaches_all(graph, fabric, hops, sw, error))
			return false;
	}
	return true;
}

uint8_t *route_legal_hops(const struct route_graph *graph, const struct fabric *fabric,
			  uint8_t *next, GError **error)
{
	uint8_t *hops = route_hops_or_error(graph, next, error);

	if (hops && !route_reaches(graph, fabric, hops, error)) {
		g_free(hops);
		hops = NULL;
	}
	return hops;
}
