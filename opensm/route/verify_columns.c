// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Follows many LIDs from all switches at once. A tile has a row for each switch and a column for
 * each LID; an element is one more than the hops to the owner, 0 while these are not known. A
 * switch knows them as soon as the next one does, so switches are visited in the order in which
 * packets come: first entries that lead down, from the bottom to the top, then those that lead up,
 * from the top to the bottom. What is known then goes up and then down. The others, which turn
 * from down to up somewhere, are visited until nothing more becomes known.
 */
#include <string.h>

#include "route/verify.h"
#include "route/parallel.h"

#define WIDTH_MAX 1024 /* columns of a tile */
#define WIDTH_UNIT 64

struct columns {
	struct verify *verify;
	const struct verify_order *order;
	const struct verify_column *columns;
	uint32_t n;
	uint32_t width; /* columns of a tile */
	_Atomic uint64_t *follow;
	_Atomic unsigned int *widest;
};

enum { WAY_DOWN = 1, WAY_UP = 2 };

struct tile {
	const struct columns *all;
	const struct verify *verify;
	const struct verify_column *columns;
	uint32_t n;		 /* columns */
	uint16_t lids[WIDTH_MAX];
	uint32_t width;
	uint8_t *depth;		 /* [switch * width + column]; one more row that stays 0 */
	const uint8_t *nowhere;	 /* that row */
	const uint8_t *rows[256]; /* rows of the neighbours of a switch by exit port */
	uint32_t *open;		 /* switches that have unknown elements, from the bottom up */
	uint32_t n_open;
};

static uint8_t *row_of(const struct tile *tile, uint32_t sw)
{
	return tile->depth + (size_t)sw * tile->width;
}

/* Sets the rows of the neighbours that ways lead to; false if there is none. */
static bool view(struct tile *tile, uint32_t sw, unsigned int ways)
{
	const struct route_graph *graph = tile->verify->graph;
	const uint32_t *place = tile->all->order->place;
	bool any = false;

	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
		const struct route_edge *edge = &graph->edges[e];

		if (!(ways & (place[edge->to] < place[sw] ? WAY_UP : WAY_DOWN)))
			continue;
		any = true;
		for (unsigned int k = 0; k < edge->n_links; k++)
			tile->rows[graph->links[edge->first_link + k]] = row_of(tile, edge->to);
	}
	return any;
}

/* All rows lead nowhere again. */
static void look_away(struct tile *tile, uint32_t sw)
{
	const struct route_graph *graph = tile->verify->graph;
	const struct route_edge *first = &graph->edges[graph->first_edge[sw]];
	const struct route_edge *last = &graph->edges[graph->first_edge[sw + 1]];

	for (const struct route_edge *edge = first; edge < last; edge++)
		for (unsigned int k = 0; k < edge->n_links; k++)
			tile->rows[graph->links[edge->first_link + k]] = tile->nowhere;
}

/* Takes over what the neighbours in view know; elements that are known have no entry to these. */
static void visit(struct tile *tile, uint32_t sw, unsigned int ways)
{
	const uint8_t *lft = tile->verify->routing->lft[sw];
	const uint8_t *const *rows = tile->rows;
	const uint16_t *lids = tile->lids;
	uint8_t *restrict depth = row_of(tile, sw);
	uint32_t n = tile->n;

	if (!view(tile, sw, ways))
		return;
	for (uint32_t i = 0; i < n; i++) {
		uint8_t next = rows[lft[lids[i]]][i];

		depth[i] |= next + (next != 0);
	}
	look_away(tile, sw);
}

/* The same for any neighbour, and for unknown elements only; true if any became known. */
static bool revisit(struct tile *tile, uint32_t sw)
{
	const uint8_t *lft = tile->verify->routing->lft[sw];
	const uint8_t *const *rows = tile->rows;
	const uint16_t *lids = tile->lids;
	uint8_t *restrict depth = row_of(tile, sw);
	uint32_t n = tile->n;
	uint8_t known = 0;

	view(tile, sw, WAY_DOWN | WAY_UP);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t next = rows[lft[lids[i]]][i];
		uint8_t unknown = -(depth[i] == 0);
		uint8_t news = unknown & (next + (next != 0));

		depth[i] |= news;
		known |= news;
	}
	look_away(tile, sw);
	return known;
}

static void begin(struct tile *tile)
{
	const struct routing *routing = tile->verify->routing;

	memset(tile->depth, 0, ((size_t)tile->verify->graph->n + 1) * tile->width);
	for (uint32_t i = 0; i < tile->n; i++) {
		const struct verify_column *column = &tile->columns[i];

		tile->lids[i] = column->lid;
		if (routing->lft[column->sw][column->lid] == column->exit)
			row_of(tile, column->sw)[i] = 1;
	}
}

/* What hosts send and is not known yet turns up after it went down, or ends elsewhere. */
static void note_follow(const struct tile *tile, uint32_t sw)
{
	const uint8_t *depth = row_of(tile, sw);

	for (uint32_t i = 0; i < tile->n; i++)
		if (!depth[i])
			atomic_fetch_or(&tile->all->follow[tile->lids[i] / 64],
					UINT64_C(1) << tile->lids[i] % 64);
}

static void list_open(struct tile *tile)
{
	const uint32_t *switches = tile->all->order->switches;

	tile->n_open = 0;
	for (uint32_t p = tile->verify->graph->n; p--;) {
		if (!memchr(row_of(tile, switches[p]), 0, tile->n))
			continue;
		tile->open[tile->n_open++] = switches[p];
		if (tile->all->follow && route_is_source(tile->verify->graph, switches[p]))
			note_follow(tile, switches[p]);
	}
}

/* To and fro, since packets may turn often. */
static void revisit_open(struct tile *tile)
{
	bool known = true;

	for (unsigned int round = 0; known && tile->n_open; round++) {
		uint32_t left = 0;

		known = false;
		for (uint32_t i = 0; i < tile->n_open; i++)
			known |= revisit(tile, tile->open[round % 2 ? tile->n_open - 1 - i : i]);
		for (uint32_t i = 0; i < tile->n_open; i++)
			if (memchr(row_of(tile, tile->open[i]), 0, tile->n))
				tile->open[left++] = tile->open[i];
		tile->n_open = left;
	}
}

static void note_widest(const struct tile *tile)
{
	uint8_t most[WIDTH_UNIT] = { 0 }, widest = 0;
	const uint8_t *last = row_of(tile, tile->verify->graph->n);

	for (const uint8_t *depth = tile->depth; depth < last; depth += WIDTH_UNIT)
		for (uint32_t i = 0; i < WIDTH_UNIT; i++)
			most[i] = MAX(most[i], depth[i]);
	for (uint32_t i = 0; i < WIDTH_UNIT; i++)
		widest = MAX(widest, most[i]);
	verify_widen(tile->all->widest, widest ? widest - 1u : 0);
}

static void follow_tile(struct tile *tile)
{
	const uint32_t *switches = tile->all->order->switches;
	uint32_t n = tile->verify->graph->n;

	begin(tile);
	for (uint32_t p = n; p--;)
		visit(tile, switches[p], WAY_DOWN);
	for (uint32_t p = 0; p < n; p++)
		visit(tile, switches[p], WAY_UP);
	list_open(tile);
	revisit_open(tile);
	note_widest(tile);
	for (uint32_t k = 0; k < tile->n_open; k++)
		for (uint32_t i = 0; i < tile->n; i++)
			if (!row_of(tile, tile->open[k])[i])
				verify_suspect(tile->all->verify, tile->lids[i]);
}

static void follow_tiles(void *arg, uint32_t first, uint32_t last)
{
	const struct columns *all = arg;
	uint32_t n = all->verify->graph->n;
	struct tile *tile = g_new0(struct tile, 1);

	tile->all = all;
	tile->verify = all->verify;
	tile->width = all->width;
	tile->depth = g_malloc(((size_t)n + 1) * all->width);
	tile->nowhere = row_of(tile, n);
	for (unsigned int num = 0; num < G_N_ELEMENTS(tile->rows); num++)
		tile->rows[num] = tile->nowhere;
	tile->open = g_new(uint32_t, n + 1);
	for (uint32_t i = first; i < last; i++) {
		tile->columns = all->columns + (size_t)i * all->width;
		tile->n = MIN(all->n - i * all->width, all->width);
		follow_tile(tile);
	}
	g_free(tile->depth);
	g_free(tile->open);
	g_free(tile);
}

void verify_columns(struct verify *verify, const struct verify_order *order,
		    const struct verify_column *columns, uint32_t n, _Atomic uint64_t *follow,
		    _Atomic unsigned int *widest)
{
	struct columns all = { verify, order, columns, n, 0, follow, widest };
	unsigned int threads = MAX(verify->graph->threads, 1);

	if (!n)
		return;
	all.width = MIN((n + threads - 1) / threads, WIDTH_MAX);
	all.width = (all.width + WIDTH_UNIT - 1) / WIDTH_UNIT * WIDTH_UNIT;
	route_parallel(threads, (n + all.width - 1) / all.width, follow_tiles, &all);
}
