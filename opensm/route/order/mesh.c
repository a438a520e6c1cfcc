// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Two cables of a switch that are in two dimensions of a mesh close a square with two others, and
 * those in one dimension do not. So opposite sides of squares are put in one class: all cables
 * between two neighbouring slices of a mesh. Classes that continue each other straight at more
 * switches than they close squares are one dimension. What a few lost cables hide, others show. A
 * ring of four is a square: it counts as two dimensions of a hypercube, which needs even fewer
 * lanes.
 */
#include "route/layers/layered.h"

#include <string.h>

#define DEGREE_MAX 32
#define CLASSES_MAX 1024
#define DIMENSIONS_MAX 16

struct mesh {
	const struct route_graph *graph;
	uint32_t n_edges;
	uint32_t *class; /* [edge]: another of its class, or itself as representative */
	uint32_t *index; /* [edge]: index of the class, if it is the representative */
	uint32_t *some;	 /* [class]: one of its edges */
	uint32_t n;	 /* classes */
	/* [class * n + class]: switches where they close no square, minus those where they do */
	int32_t *straight;
};

static uint32_t class_of(uint32_t *class, uint32_t edge)
{
	while (class[edge] != edge)
		edge = class[edge] = class[class[edge]];
	return edge;
}

static void join(uint32_t *class, uint32_t a, uint32_t b)
{
	a = class_of(class, a);
	b = class_of(class, b);
	class[MAX(a, b)] = MIN(a, b);
}

/*
 * The edge that leads from across b to where `edge`, which begins across a, leads: with edges a and
 * b of a switch these close a square. FABRIC_NONE: they do not.
 */
static uint32_t closing_edge(const struct mesh *mesh, uint32_t sw, uint32_t b,
			     const struct route_edge *edge)
{
	const struct route_graph *graph = mesh->graph;

	return edge->to == sw ? FABRIC_NONE : route_edge_to(graph, graph->edges[b].to, edge->to);
}

/* Whether two edges of a switch are sides of a square. */
static bool is_corner(const struct mesh *mesh, uint32_t sw, uint32_t a, uint32_t b)
{
	const struct route_graph *graph = mesh->graph;

	route_each_edge (graph, graph->edges[a].to, edge)
		if (closing_edge(mesh, sw, b, edge) != FABRIC_NONE)
			return true;
	return false;
}

typedef void corner_fn(struct mesh *mesh, uint32_t sw, uint32_t a, uint32_t b);

/* Calls for any two edges of a switch. */
static void each_corner(struct mesh *mesh, corner_fn *call)
{
	const uint32_t *first = mesh->graph->first_edge;

	for (uint32_t sw = 0; sw < mesh->graph->n; sw++)
		for (uint32_t a = first[sw]; a < first[sw + 1]; a++)
			for (uint32_t b = a + 1; b < first[sw + 1]; b++)
				call(mesh, sw, a, b);
}

/* Joins opposite sides of all squares of which two edges of a switch are sides. */
static void join_sides(struct mesh *mesh, uint32_t sw, uint32_t a, uint32_t b)
{
	const struct route_graph *graph = mesh->graph;

	route_each_edge (graph, graph->edges[a].to, edge) {
		uint32_t last = closing_edge(mesh, sw, b, edge);

		if (last == FABRIC_NONE)
			continue;
		join(mesh->class, a, last);
		join(mesh->class, b, edge - graph->edges);
	}
}

static void vote(struct mesh *mesh, uint32_t sw, uint32_t a, uint32_t b)
{
	uint32_t x = mesh->index[class_of(mesh->class, a)];
	uint32_t y = mesh->index[class_of(mesh->class, b)];

	mesh->straight[(size_t)MIN(x, y) * mesh->n + MAX(x, y)] +=
		is_corner(mesh, sw, a, b) ? -1 : 1;
}

/* Joins both directions of a cable, and opposite sides of squares. */
static void make_classes(struct mesh *mesh)
{
	const struct route_graph *graph = mesh->graph;

	for (uint32_t e = 0; e < mesh->n_edges; e++)
		mesh->class[e] = e;
	for (uint32_t sw = 0; sw < graph->n; sw++)
		route_each_edge(graph, sw, edge)
			join(mesh->class, edge - graph->edges, route_edge_to(graph, edge->to, sw));
	each_corner(mesh, join_sides);
}

static void number_classes(struct mesh *mesh)
{
	mesh->n = 0;
	for (uint32_t e = 0; e < mesh->n_edges; e++)
		if (class_of(mesh->class, e) == e) {
			mesh->some[mesh->n] = e;
			mesh->index[e] = mesh->n++;
		}
}

/* Joins classes that continue each other straight. */
static void join_classes(struct mesh *mesh)
{
	mesh->straight = g_new0(int32_t, (size_t)mesh->n * mesh->n + 1);
	each_corner(mesh, vote);
	for (uint32_t x = 0; x < mesh->n; x++)
		for (uint32_t y = x + 1; y < mesh->n; y++)
			if (mesh->straight[(size_t)x * mesh->n + y] > 0)
				join(mesh->class, mesh->some[x], mesh->some[y]);
	g_free(mesh->straight);
}

/* Dimension numbers by link; the first class in each that is not all of it is its dateline. */
static uint8_t *number_dimensions(struct mesh *mesh, const uint32_t *slice)
{
	const struct route_graph *graph = mesh->graph;
	uint32_t dateline[DIMENSIONS_MAX];
	bool is_ring[DIMENSIONS_MAX] = {false};
	uint8_t *dimension;

	if (mesh->n < 2 || mesh->n > DIMENSIONS_MAX)
		return NULL;
	dimension = g_malloc(graph->n_links);
	memset(dateline, 0xFF, sizeof(dateline));
	for (uint32_t e = 0; e < mesh->n_edges; e++) {
		uint32_t d = mesh->index[class_of(mesh->class, e)];

		if (dateline[d] == FABRIC_NONE)
			dateline[d] = slice[e];
		is_ring[d] |= slice[e] != dateline[d];
	}
	for (uint32_t e = 0; e < mesh->n_edges; e++) {
		uint32_t d = mesh->index[class_of(mesh->class, e)];
		uint8_t is_dateline = is_ring[d] && slice[e] == dateline[d] ? ROUTE_DATELINE : 0;

		memset(dimension + graph->edges[e].first_link, d | is_dateline,
		       graph->edges[e].n_links);
	}
	return dimension;
}

uint8_t *route_dimensions(const struct route_graph *graph)
{
	uint32_t n_edges = graph->first_edge[graph->n];
	struct mesh mesh = {.graph = graph, .n_edges = n_edges};
	uint8_t *dimension = NULL;
	g_autofree uint32_t *slice = g_new(uint32_t, n_edges + 1);

	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (route_degree(graph, sw) > DEGREE_MAX)
			return NULL;
	mesh.class = g_new(uint32_t, n_edges + 1);
	mesh.index = g_new(uint32_t, n_edges + 1);
	mesh.some = g_new(uint32_t, n_edges + 1);
	make_classes(&mesh);
	number_classes(&mesh);
	if (mesh.n <= CLASSES_MAX) {
		for (uint32_t e = 0; e < n_edges; e++)
			slice[e] = class_of(mesh.class, e);
		join_classes(&mesh);
		number_classes(&mesh);
		dimension = number_dimensions(&mesh, slice);
	}
	g_free(mesh.class);
	g_free(mesh.index);
	g_free(mesh.some);
	return dimension;
}
