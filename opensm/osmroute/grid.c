// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Without the cables of one dimension a grid falls into slices, which the cables of that dimension
 * join to a line or a ring: a switch's coordinates are the numbers of its slice in each dimension.
 * The first two dimensions are columns and rows; the third puts such planes side by side, the
 * fourth puts those below each other, and so on, with a free cell between two planes.
 */
#include "osmroute/grid.h"

#include <glib.h>

#include "complib/hash.h"
#include "route/graph/graph.h"
#include "route/layers/layered.h"

struct grid {
	struct route_graph *graph;
	uint8_t *dimension; /* [link] */
	uint32_t *slice; /* [switch]: another switch of its slice, or itself as representative */
	uint32_t (*beside)[2]; /* [representative of a slice]: adjacent slices */
	uint32_t *place;       /* [representative of a slice]: its number */
};

static uint32_t slice_of(uint32_t *slice, uint32_t sw)
{
	while (slice[sw] != sw)
		sw = slice[sw] = slice[slice[sw]];
	return sw;
}

static unsigned int dimension_of(const struct grid *grid, uint32_t edge)
{
	return grid->dimension[grid->graph->edges[edge].first_link] & ~ROUTE_DATELINE;
}

/* Calls visit for each pair of neighbours; false as soon as visit returns false. */
static bool each_edge(struct grid *grid, unsigned int dimension,
		      bool (*visit)(struct grid *grid, uint32_t a, uint32_t b, bool along))
{
	const struct route_graph *graph = grid->graph;

	for (uint32_t sw = 0; sw < graph->n; sw++)
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
			if (!visit(grid, sw, graph->edges[e].to,
				   dimension_of(grid, e) == dimension))
				return false;
	return true;
}

static bool join_slices(struct grid *grid, uint32_t a, uint32_t b, bool along)
{
	if (!along) {
		a = slice_of(grid->slice, a);
		b = slice_of(grid->slice, b);
		grid->slice[MAX(a, b)] = MIN(a, b);
	}
	return true;
}

/* False if a slice would be beside itself or beside three others. */
static bool put_beside(struct grid *grid, uint32_t a, uint32_t b, bool along)
{
	uint32_t *beside;

	if (!along)
		return true;
	a = slice_of(grid->slice, a);
	b = slice_of(grid->slice, b);
	beside = grid->beside[a];
	if (beside[0] == FABRIC_NONE)
		beside[0] = b;
	else if (beside[0] != b && beside[1] == FABRIC_NONE)
		beside[1] = b;
	return a != b && (beside[0] == b || beside[1] == b);
}

/* An end of the line of slices, or any slice of a ring. */
static uint32_t first_slice(const struct grid *grid)
{
	for (uint32_t sw = 0; sw < grid->graph->n; sw++)
		if (grid->slice[sw] == sw && grid->beside[sw][1] == FABRIC_NONE)
			return sw;
	return slice_of(grid->slice, 0);
}

/* Numbers the slices of a dimension; returns their number, 0 if they form neither line nor ring. */
static uint32_t number_slices(struct grid *grid, unsigned int dimension)
{
	uint32_t n = 0, n_slices = 0, at;

	for (uint32_t sw = 0; sw < grid->graph->n; sw++) {
		grid->slice[sw] = sw;
		grid->place[sw] = grid->beside[sw][0] = grid->beside[sw][1] = FABRIC_NONE;
	}
	each_edge(grid, dimension, join_slices);
	if (!each_edge(grid, dimension, put_beside))
		return 0;
	for (uint32_t sw = 0; sw < grid->graph->n; sw++)
		n_slices += slice_of(grid->slice, sw) == sw;
	at = first_slice(grid);
	while (at != FABRIC_NONE && grid->place[at] == FABRIC_NONE) {
		const uint32_t *beside = grid->beside[at];
		bool was_first = beside[0] == FABRIC_NONE || grid->place[beside[0]] != FABRIC_NONE;

		grid->place[at] = n++;
		at = beside[was_first];
	}
	return n == n_slices ? n : 0;
}

static unsigned int n_dimensions(const struct grid *grid)
{
	unsigned int n = 0;

	for (uint32_t e = 0; e < grid->graph->first_edge[grid->graph->n]; e++)
		n = MAX(n, dimension_of(grid, e) + 1);
	return n;
}

/* Whether no two switches are in one cell. */
static bool are_apart(const struct grid_cell *cells, uint32_t n)
{
	g_autoptr(GHashTable) taken = g_hash_table_new(hash_uint64, g_int64_equal);
	g_autofree uint64_t *keys = g_new(uint64_t, n + 1);

	for (uint32_t sw = 0; sw < n; sw++) {
		keys[sw] = (uint64_t)cells[sw].x << 32 | cells[sw].y;
		if (!g_hash_table_add(taken, &keys[sw]))
			return false;
	}
	return true;
}

static bool put_in_cells(struct grid *grid, struct grid_cell *cells)
{
	uint32_t stride[2] = {1, 1}; /* of columns and rows: even and odd dimensions */
	unsigned int n = n_dimensions(grid);

	for (unsigned int dimension = 0; dimension < n; dimension++) {
		uint32_t *step = &stride[dimension % 2];
		uint32_t slices = number_slices(grid, dimension);

		if (slices == 0)
			return false;
		for (uint32_t sw = 0; sw < grid->graph->n; sw++) {
			uint32_t *cell = dimension % 2 ? &cells[sw].y : &cells[sw].x;

			*cell += *step * grid->place[slice_of(grid->slice, sw)];
		}
		*step *= slices + 1;
	}
	return are_apart(cells, grid->graph->n);
}

struct grid_cell *grid_cells(const struct fabric *fabric)
{
	struct grid grid = {.graph = route_graph_new(fabric)};
	uint32_t n = grid.graph->n;
	struct grid_cell *cells = NULL;

	grid.dimension = route_dimensions(grid.graph);
	if (grid.dimension) {
		cells = g_new0(struct grid_cell, n + 1);
		grid.slice = g_new(uint32_t, n + 1);
		grid.place = g_new(uint32_t, n + 1);
		grid.beside = g_malloc_n(n + 1, sizeof(*grid.beside));
		if (!put_in_cells(&grid, cells))
			g_clear_pointer(&cells, g_free);
	}
	g_free(grid.beside);
	g_free(grid.place);
	g_free(grid.slice);
	g_free(grid.dimension);
	route_graph_free(grid.graph);
	return cells;
}
