// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/graph/columns.h"

#include <string.h>

#include "route/graph/parallel.h"
#include "route/graph/watch.h"
#include "route/value/base.h"

#define TILE 64 /* switches: small enough that their tables stay in the cache */

void route_columns_init(struct route_columns *columns, const struct route_channels *channels,
			uint32_t n, uint16_t top)
{
	size_t size = (size_t)n * (top + 1);

	*columns = (struct route_columns){n, channels, g_malloc(size + 1)};
	memset(columns->steps, ROUTE_NO_STEP, size);
}

void route_columns_clear(struct route_columns *columns)
{
	g_clear_pointer(&columns->steps, g_free);
}

struct filling {
	const struct route_columns *columns;
	const struct route_graph *graph;
	struct routing *routing;
};

/* A range of tiles. */
static void fill_tiles(void *arg, uint32_t first, uint32_t last)
{
	const struct filling *filling = arg;
	const struct routing *routing = filling->routing;
	uint32_t end = MIN(last * TILE, filling->graph->n);

	for (uint32_t begin = first * TILE; begin < end; begin += TILE) {
		uint32_t tile_end = MIN(begin + TILE, end);

		for (uint32_t sw = begin; sw < tile_end; sw++)
			memset(routing->lft[sw], ROUTE_NO_PORT,
			       (size_t)routing->n_blocks * ROUTE_BLOCK);
		if (!route_watch_step(filling->graph->watch))
			continue;
		for (uint32_t lid = 1; lid <= routing->top; lid++)
			for (uint32_t sw = begin; sw < tile_end; sw++) {
				uint32_t c = route_columns_get(filling->columns, sw, lid);

				if (c != FABRIC_NONE)
					routing->lft[sw][lid] = filling->graph->links[c];
			}
	}
}

void route_columns_fill(const struct route_columns *columns, const struct route_graph *graph,
			struct routing *routing)
{
	struct filling filling = {columns, graph, routing};

	route_watch_begin(graph->watch, "filling tables", (graph->n + TILE - 1) / TILE);
	route_parallel(graph->threads, (graph->n + TILE - 1) / TILE, fill_tiles, &filling);
	for (uint32_t t = 0; t < route_n_targets(graph); t++)
		routing->lft[graph->targets[t].leaf][graph->targets[t].lid] =
			graph->targets[t].exit;
	for (uint32_t sw = 0; sw < graph->n; sw++)
		memset(routing->lft[sw] + graph->own_lid[sw], 0, route_n_own(graph, sw));
}

void route_columns_read(const struct route_columns *columns, const struct routing *routing)
{
	for (uint32_t begin = 0; begin < columns->n; begin += TILE)
		for (uint32_t lid = 1; lid <= routing->top; lid++)
			for (uint32_t sw = begin; sw < MIN(begin + TILE, columns->n); sw++) {
				uint32_t c = route_channel(columns->channels, sw,
							   routing->lft[sw][lid]);

				if (c != FABRIC_NONE)
					route_columns_put(columns, sw, lid, c);
			}
}
