// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Directions of edges, for engines that restrict the turns of paths. */
#include "route/order/orient.h"

#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool route_is_layered(const struct route_graph *graph, const uint32_t *rank)
{
	for (uint32_t sw = 0; sw < graph->n; sw++)
		route_each_edge(graph, sw, edge)
			if (rank[edge->to] + 1 != rank[sw] && rank[sw] + 1 != rank[edge->to])
				return false;
	return true;
}

void route_orient_edges(struct route_order *order)
{
	const struct route_graph *graph = order->graph;

	for (uint32_t sw = 0; sw < graph->n; sw++)
		route_each_edge(graph, sw, edge)
			order->up[edge - graph->edges] = order->place[edge->to] < order->place[sw];
}

void route_orient_by(struct route_order *order, uint32_t *place)
{
	const struct route_graph *graph = order->graph;

	g_clear_pointer(&order->inverted, g_free);
	g_clear_pointer(&order->joined, g_free);
	g_clear_pointer(&order->leaf, g_free);
	g_clear_pointer(&order->base, g_free);
	g_free(order->place);
	g_free(order->up);
	order->open = order->mixed = false;
	order->place = place;
	order->up = place ? g_new(bool, graph->first_edge[graph->n] + 1) : NULL;
	if (place)
		route_orient_edges(order);
}

/* The place of a switch in the order: the first difference of these decides. */
struct standing {
	uint64_t by[3];
	uint32_t sw;
};

static int compare_standings(const void *a, const void *b)
{
	const struct standing *x = a, *y = b;

	for (unsigned int i = 0; i < G_N_ELEMENTS(x->by); i++)
		if (x->by[i] != y->by[i])
			return x->by[i] < y->by[i] ? -1 : 1;
	return 0;
}

uint32_t *route_order(uint32_t n, const uint32_t *rank, const uint64_t *key)
{
	g_autofree struct standing *standings = g_new(struct standing, n + 1);
	uint32_t *order = g_new(uint32_t, n + 1);

	for (uint32_t sw = 0; sw < n; sw++)
		standings[sw] = (struct standing){{rank[sw], key ? key[sw] : sw}, sw};
	qsort(standings, n, sizeof(*standings), compare_standings);
	for (uint32_t i = 0; i < n; i++)
		order[standings[i].sw] = i;
	return order;
}

void route_orient(struct route_order *order, const uint32_t *rank, const uint64_t *key)
{
	route_orient_by(order, route_order(order->graph->n, rank, key));
}

uint64_t *route_keys(const struct fabric *fabric, const struct route_input *input)
{
	uint32_t n = fabric->n_switches;
	g_autofree struct standing *standings = g_new(struct standing, n + 1);
	uint64_t *keys = g_new(uint64_t, n + 1);

	for (uint32_t sw = 0; sw < n; sw++) {
		uint64_t guid = fabric->nodes[fabric->switches[sw].node].guid;

		standings[sw] = (struct standing){{1, 0, guid}, sw}; /* 0 for those with an id */
	}
	for (uint32_t i = 0; i < input->n_ids; i++) {
		uint32_t sw = route_switch_by_guid(fabric, input->ids[i].guid);

		if (sw == FABRIC_NONE)
			continue;
		standings[sw].by[0] = 0;
		standings[sw].by[1] = input->ids[i].id;
	}
	qsort(standings, n, sizeof(*standings), compare_standings);
	for (uint32_t i = 0; i < n; i++)
		keys[standings[i].sw] = i;
	return keys;
}

bool route_orient_from_hosts(struct route_order *order, const uint64_t *key)
{
	const struct route_graph *graph = order->graph;
	g_autofree uint32_t *rank = g_new(uint32_t, graph->n + 1);
	bool any = route_rank_from_hosts(graph, rank);

	for (uint32_t sw = 0; sw < graph->n; sw++)
		rank[sw] = ROUTE_NO_RANK - rank[sw];
	route_orient(order, rank, key);
	return any;
}

static const char *name_of(const struct fabric *fabric, uint32_t sw)
{
	return fabric_called(fabric, fabric->switches[sw].node);
}

/* ---- roots that the operator named ---- */

struct roots_named {
	uint32_t *roots; /* switches, without repetition */
	uint32_t n;
	uint32_t absent, hosts, twice, aside; /* GUIDs; aside: switches not connected to a root */
	uint64_t first_absent;
	uint32_t first_host, first_aside; /* node; switch */
};

static void find_roots(struct roots_named *named, const struct fabric *fabric,
		       const struct route_input *input)
{
	g_autofree bool *seen = g_new0(bool, fabric->n_switches + 1);

	named->roots = g_new(uint32_t, fabric->n_switches + 1);
	for (uint32_t i = 0; i < input->n_roots; i++) {
		uint32_t node = route_node_named(fabric, input->roots[i]), sw;

		if (node == FABRIC_NONE) {
			if (!named->absent++)
				named->first_absent = input->roots[i];
			continue;
		}
		if (!fabric_is_switch(fabric, node)) {
			if (!named->hosts++)
				named->first_host = node;
			continue;
		}
		sw = fabric->nodes[node].sw;
		named->twice += seen[sw];
		if (!seen[sw])
			named->roots[named->n++] = sw;
		seen[sw] = true;
	}
}

/* What is odd about the GUIDs; NULL: nothing. */
static char *tell_odd(const struct roots_named *named, const struct fabric *fabric)
{
	GString *text = g_string_new(NULL);

	if (named->absent)
		g_string_append_printf(text,
				       ", %u root GUIDs are not in the fabric (0x%016" PRIx64 ")",
				       named->absent, named->first_absent);
	if (named->hosts)
		g_string_append_printf(text, ", %u root GUIDs do not belong to a switch ('%s')",
				       named->hosts, fabric_called(fabric, named->first_host));
	if (named->twice)
		g_string_append_printf(text, ", %u root GUIDs are listed twice", named->twice);
	if (named->aside)
		g_string_append_printf(text,
				       ", %u switches are not connected to a root ('%s') and are "
				       "routed by the distance from their hosts",
				       named->aside, name_of(fabric, named->first_aside));
	if (text->len)
		g_string_erase(text, 0, 2);
	return g_string_free(text, !text->len);
}

/*
 * Parts without a root: if all switches of a part have hosts, or none, one becomes its root; other
 * parts are ranked by the distance from their hosts.
 */
static void rank_aside(const struct route_graph *graph, struct roots_named *named,
		       const uint64_t *key, uint32_t *rank)
{
	g_autofree uint32_t *part = route_parts(graph, NULL);
	g_autofree uint32_t *depth = g_new(uint32_t, graph->n + 1);
	g_autofree uint32_t *root = g_new(uint32_t, graph->n + 1); /* [part] */
	g_autofree bool *deep = g_new0(bool, graph->n + 1);	   /* [part] */
	uint32_t n_roots = named->n;

	route_rank_from_hosts(graph, depth);
	memset(root, 0xFF, graph->n * sizeof(*root));
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		if (rank[sw] != ROUTE_NO_RANK)
			continue;
		if (!named->aside++)
			named->first_aside = sw;
		if (root[part[sw]] == FABRIC_NONE || key[sw] < key[root[part[sw]]])
			root[part[sw]] = sw;
		deep[part[sw]] |= depth[sw] && depth[sw] != ROUTE_NO_RANK;
	}
	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (root[sw] != FABRIC_NONE && !deep[sw])
			named->roots[n_roots++] = root[sw];
	route_rank(graph, named->roots, n_roots, rank);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (rank[sw] == ROUTE_NO_RANK)
			rank[sw] -= depth[sw];
}

uint32_t *route_rank_from_roots(struct route_order *order, const struct fabric *fabric,
				const struct route_input *input, const uint64_t *key,
				GError **error)
{
	const struct route_graph *graph = order->graph;
	uint32_t *rank = g_new(uint32_t, graph->n + 1);
	g_autofree char *odd = NULL;
	struct roots_named named = {0};

	find_roots(&named, fabric, input);
	if (named.n) {
		route_rank(graph, named.roots, named.n, rank);
		rank_aside(graph, &named, key, rank);
	}
	odd = tell_odd(&named, fabric);
	g_free(named.roots);
	if (!named.n) {
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_INPUT, "there is no root: %s", odd);
		g_clear_pointer(&rank, g_free);
	} else {
		g_free(order->note);
		order->note = g_steal_pointer(&odd);
	}
	return rank;
}

bool route_reaches(const struct route_graph *graph, const struct fabric *fabric,
		   const uint8_t *hops, GError **error)
{
	g_autofree uint32_t *part = NULL;

	for (uint32_t from = 0; from < graph->n; from++) {
		const uint8_t *row = hops + (size_t)from * graph->n;

		if (!memchr(row, ROUTE_FAR, graph->n))
			continue;
		if (!part)
			part = route_parts(graph, NULL);
		for (uint32_t to = 0; to < graph->n; to++) {
			if (row[to] != ROUTE_FAR || part[from] != part[to] ||
			    !(route_is_source(graph, from) || route_is_source(graph, to)))
				continue;
			g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
				    "there is no path up and then down from switch '%s' to '%s'",
				    name_of(fabric, from), name_of(fabric, to));
			return false;
		}
	}
	return true;
}

uint8_t *route_legal_hops(struct route_order *order, const struct fabric *fabric, uint8_t *next,
			  GError **error)
{
	const struct route_graph *graph = order->graph;
	uint8_t *hops;

	route_join_tops(order);
	hops = route_hops_or_error(order, next, error);
	if (hops && order->joined && !route_reaches(graph, fabric, hops, NULL)) {
		order->open = true;
		g_free(hops);
		hops = route_hops_or_error(order, next, error);
	}
	if (hops && !route_reaches(graph, fabric, hops, error))
		g_clear_pointer(&hops, g_free);
	return hops;
}

uint8_t *route_ranked_hops(struct route_order *order, const struct fabric *fabric,
			   const uint32_t *rank, const uint64_t *key, uint8_t *next, GError **error)
{
	uint8_t *hops = NULL;

	if (route_orient_inverted(order, rank, key))
		hops = route_legal_hops(order, fabric, next, NULL);
	if (hops && (!order->inverted || route_inversion_holds(order, hops)))
		return hops;
	g_free(hops);
	route_orient(order, rank, key);
	return route_legal_hops(order, fabric, next, error);
}
