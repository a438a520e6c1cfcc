// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Hops from all switches to a few destinations, which a repair needs. The search of all pairs
 * (hops.c) goes level by level; this one goes switch by switch, and looks at each edge but once or
 * twice, for 64 destinations at a time: each switch has a line of as many octets.
 *
 * In an oriented graph the places of the switches say when the hops of neighbours are final: from
 * the bottom to the top for ways down, then from the top to the bottom for ways up. Else switches
 * are taken to and fro until nothing changes.
 */
#include "route/columns.h"

#include <stdatomic.h>
#include <string.h>

#include "route/parallel.h"

#define LINE 64 /* a constant: so the octets are dealt with many at once */

struct job {
	const struct route_graph *graph;
	const uint32_t *at; /* [place]: the switch, in an oriented graph */
	const uint32_t *dests;
	uint32_t n_dests;
	uint8_t *hops;
	atomic_bool too_far;
};

/* Some destinations. */
struct columns {
	const struct job *job;
	const struct route_graph *graph;
	uint32_t first, n;
	uint8_t *lines; /* [switch * LINE] */
	uint8_t far[LINE]; /* ROUTE_FAR: a destination that is a leaf, else 0 */
};

static uint8_t *line_of(const struct columns *columns, uint32_t sw)
{
	return columns->lines + (size_t)sw * LINE;
}

/* One hop more, if that is less; FAR stays, and what begins upwards is so marked. */
static void line_offer(uint8_t *restrict line, const uint8_t *restrict there, uint8_t up)
{
	for (unsigned int i = 0; i < LINE; i++) {
		uint8_t hops = there[i] == ROUTE_FAR ? ROUTE_FAR : (uint8_t)((there[i] | up) + 1);

		line[i] = hops < line[i] ? hops : line[i];
	}
}

static void begin(struct columns *columns)
{
	memset(columns->lines, ROUTE_FAR, (size_t)columns->graph->n * LINE);
	memset(columns->far, 0, LINE);
	for (uint32_t i = 0; i < columns->n; i++) {
		uint32_t dest = columns->job->dests[columns->first + i];

		line_of(columns, dest)[i] = 0;
		columns->far[i] =
			columns->graph->joined && columns->graph->leaf[dest] ? ROUTE_FAR : 0;
	}
}

/* What is offered to a switch by an edge that is closed for what leads to leaves. */
static void offer_closed(const struct columns *columns, uint8_t *line, const uint8_t *there)
{
	uint8_t some[LINE];

	for (unsigned int i = 0; i < LINE; i++)
		some[i] = there[i] | columns->far[i];
	line_offer(line, some, 0);
}

/* Takes what the neighbours offer that are up, or down. */
static void take_offers(const struct columns *columns, uint32_t sw, bool up)
{
	const struct route_graph *graph = columns->graph;
	uint8_t *line = line_of(columns, sw);

	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
		const uint8_t *there = line_of(columns, graph->edges[e].to);

		if (graph->up[e] == up && route_is_closed(graph, e))
			offer_closed(columns, line, there);
		else if (graph->up[e] == up)
			line_offer(line, there, up ? ROUTE_UP : 0);
	}
}

/* Whether all that is not ROUTE_FAR is less than the limit, ROUTE_UP aside. */
static bool is_near(const struct columns *columns, uint8_t limit, uint8_t mask)
{
	uint8_t wrong[LINE] = {0}, any = 0;

	for (uint32_t sw = 0; sw < columns->graph->n; sw++) {
		const uint8_t *line = line_of(columns, sw);

		for (unsigned int i = 0; i < LINE; i++)
			wrong[i] |= (uint8_t)((line[i] != ROUTE_FAR) & ((line[i] & mask) >= limit));
	}
	for (unsigned int i = 0; i < LINE; i++)
		any |= wrong[i];
	return !any;
}

static bool search_oriented(const struct columns *columns)
{
	uint32_t n = columns->graph->n;

	for (uint32_t place = n; place--;)
		take_offers(columns, columns->job->at[place], false);
	if (!is_near(columns, ROUTE_UP_HOPS_MAX, 0xFF))
		return false;
	for (uint32_t place = 0; place < n; place++)
		take_offers(columns, columns->job->at[place], true);
	return is_near(columns, ROUTE_UP_HOPS_MAX, (uint8_t)~ROUTE_UP);
}

static bool search_any(const struct columns *columns)
{
	const struct route_graph *graph = columns->graph;
	bool changed = true, back = false;
	uint8_t was[LINE];

	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < graph->n; i++) {
			uint32_t sw = back ? graph->n - 1 - i : i;
			uint8_t *line = line_of(columns, sw);

			memcpy(was, line, LINE);
			for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
				line_offer(line, line_of(columns, graph->edges[e].to), 0);
			changed |= memcmp(was, line, LINE) != 0;
		}
		back = !back;
	}
	return is_near(columns, ROUTE_HOPS_MAX, 0xFF);
}

/* ---- all of it ---- */

static void take_over(const struct columns *columns)
{
	const struct job *job = columns->job;

	for (uint32_t sw = 0; sw < columns->graph->n; sw++) {
		size_t at = (size_t)sw * job->n_dests + columns->first;

		memcpy(job->hops + at, line_of(columns, sw), columns->n);
	}
}

static void search_blocks(void *arg, uint32_t first, uint32_t last)
{
	struct job *job = arg;
	const struct route_graph *graph = job->graph;
	struct columns columns = { .job = job, .graph = graph };

	columns.lines = g_malloc((size_t)graph->n * LINE + 1);
	for (uint32_t block = first; block < last; block++) {
		columns.first = block * LINE;
		columns.n = MIN(job->n_dests - columns.first, LINE);
		begin(&columns);
		if (!(graph->up ? search_oriented : search_any)(&columns)) {
			atomic_store(&job->too_far, true);
			break;
		}
		take_over(&columns);
	}
	g_free(columns.lines);
}

bool route_columns(const struct route_graph *graph, const uint32_t *dests, uint32_t n_dests,
		   uint8_t *hops)
{
	g_autofree uint32_t *at = graph->up ? g_new(uint32_t, graph->n + 1) : NULL;
	struct job job = {graph, at, dests, n_dests, hops};

	g_assert(!graph->weight);
	for (uint32_t sw = 0; at && sw < graph->n; sw++)
		at[graph->order[sw]] = sw;
	atomic_init(&job.too_far, false);
	route_parallel(graph->threads, (n_dests + LINE - 1) / LINE, search_blocks, &job);
	return !atomic_load(&job.too_far);
}
