// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Channels stand in a row such that each depends on later ones only. A turn that leads on to a
 * later channel is free. One that leads back to an earlier one, then, is not: what depends on then
 * is searched as far as the place of the first channel; if this is met there would be a cycle, else
 * all that was found moves behind it (A. Marchetti-Spaccamela, U. Nanni, H. Rohnert: maintaining a
 * topological order under edge insertions, 1996).
 *
 * The first order is free: channels up by falling place of their switch, then those down by rising
 * place. If the switches above the transit make a tree with it as the root, then a packet that
 * turned there, or between, cannot come back. So their channels towards the transit come as early
 * as they can, right after the channels up from everybody else; then come those up from there.
 */
#include "route/turns.h"

#include <string.h>

enum { TURN_NEW, TURN_ALLOWED, TURN_REFUSED };

struct turns {
	const struct route_graph *graph;
	uint32_t *from;	   /* [edge] */
	uint32_t *place;   /* [edge]: in the row */
	uint32_t *row;
	size_t *first;	   /* [edge]: in verdicts, of the first edge at its far end */
	uint8_t *verdicts; /* of a turn, once it was judged */
	uint16_t *allowed; /* [edge]: turns from it */
	uint32_t *seen;	   /* [edge]: number of the search that met it */
	uint32_t *passed;  /* [2 * switch]: number of the search that came up, or down, to it ... */
	uint32_t *origin;  /* ... and from where it did first; FABRIC_NONE: by several ways up */
	uint32_t search;
	GArray *stack;
	uint64_t work;
};

/* ---- the first order ---- */

static void put_channel(struct turns *turns, uint32_t edge, uint32_t *n)
{
	turns->place[edge] = *n;
	turns->row[(*n)++] = edge;
}

/* Channels up, or down, from the switch; of those down only the ones that lead to near. */
static void put_channels(struct turns *turns, uint32_t sw, bool up, const bool *near, bool inside,
			 uint32_t *n)
{
	const struct route_graph *graph = turns->graph;

	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
		bool goes_near = near[sw] && near[graph->edges[e].to];

		if (graph->up[e] == up && (up || goes_near == inside))
			put_channel(turns, e, n);
	}
}

static void put_all(struct turns *turns, const bool *near)
{
	const struct route_graph *graph = turns->graph;
	uint32_t *at = g_new(uint32_t, graph->n + 1), n = 0;

	for (uint32_t sw = 0; sw < graph->n; sw++)
		at[graph->order[sw]] = sw;
	for (uint32_t i = graph->n; i--;)
		if (!near[at[i]])
			put_channels(turns, at[i], true, near, false, &n);
	for (uint32_t i = 0; i < graph->n; i++)
		put_channels(turns, at[i], false, near, true, &n);
	for (uint32_t i = graph->n; i--;)
		if (near[at[i]])
			put_channels(turns, at[i], true, near, false, &n);
	for (uint32_t i = 0; i < graph->n; i++)
		put_channels(turns, at[i], false, near, false, &n);
	g_assert(n == graph->first_edge[graph->n]);
	g_free(at);
}

/* Marks the transit and what is above it; false if some way splits on the way down to it. */
static bool mark_above(const struct route_graph *graph, uint32_t transit, bool *near)
{
	uint32_t *queue = g_new(uint32_t, graph->n + 1), n = 0;
	bool single = true;

	near[transit] = true;
	queue[n++] = transit;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = queue[i];

		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			uint32_t to = graph->edges[e].to;

			if (!graph->up[e])
				continue;
			single &= !near[to];
			if (near[to])
				continue;
			near[to] = true;
			queue[n++] = to;
		}
	}
	g_free(queue);
	return single;
}

static void order_channels(struct turns *turns, uint32_t transit)
{
	bool *near = g_new0(bool, turns->graph->n + 1);

	if (!mark_above(turns->graph, transit, near))
		memset(near, false, turns->graph->n);
	put_all(turns, near);
	g_free(near);
}

/* ---- what depends on a channel ---- */

static void visit(struct turns *turns, uint32_t edge, uint32_t limit)
{
	turns->work++;
	if (turns->place[edge] > limit || turns->seen[edge] == turns->search)
		return;
	turns->seen[edge] = turns->search;
	g_array_append_val(turns->stack, edge);
}

/* All ways on from where an edge leads, if up: nobody goes back to where he comes from. */
static void visit_from_below(struct turns *turns, uint32_t edge, uint32_t limit)
{
	const struct route_graph *graph = turns->graph;
	uint32_t sw = graph->edges[edge].to, *origin = &turns->origin[2 * sw];
	bool again = turns->passed[2 * sw] == turns->search;

	if (again && (*origin == FABRIC_NONE || *origin == turns->from[edge]))
		return;
	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
		if ((graph->edges[e].to == (again ? *origin : turns->from[edge])) == again)
			visit(turns, e, limit);
	*origin = again ? FABRIC_NONE : turns->from[edge];
	turns->passed[2 * sw] = turns->search;
}

static void visit_from_above(struct turns *turns, uint32_t edge, uint32_t limit)
{
	const struct route_graph *graph = turns->graph;
	uint32_t sw = graph->edges[edge].to, first = graph->first_edge[sw];

	for (uint32_t i = 0; turns->allowed[edge] && i < route_degree(graph, sw); i++)
		if (turns->verdicts[turns->first[edge] + i] == TURN_ALLOWED)
			visit(turns, first + i, limit);
	if (turns->passed[2 * sw + 1] == turns->search)
		return;
	turns->passed[2 * sw + 1] = turns->search;
	for (uint32_t e = first; e < graph->first_edge[sw + 1]; e++)
		if (!graph->up[e])
			visit(turns, e, limit);
}

/* Marks what packets on start may wait for, up to the place of goal; whether that is met. */
static bool depends(struct turns *turns, uint32_t start, uint32_t goal)
{
	uint32_t limit = turns->place[goal];

	turns->search++;
	g_array_set_size(turns->stack, 0);
	visit(turns, start, limit);
	while (turns->stack->len && turns->seen[goal] != turns->search) {
		uint32_t edge = g_array_index(turns->stack, uint32_t, turns->stack->len - 1);

		g_array_set_size(turns->stack, turns->stack->len - 1);
		if (turns->graph->up[edge])
			visit_from_below(turns, edge, limit);
		else
			visit_from_above(turns, edge, limit);
	}
	return turns->seen[goal] == turns->search;
}

/* Moves what the last search marked, from the place first on, to right behind edge. */
static void move_behind(struct turns *turns, uint32_t first, uint32_t edge)
{
	uint32_t last = turns->place[edge], to = first;
	GArray *moved = turns->stack;

	g_array_set_size(moved, 0);
	for (uint32_t i = first; i <= last; i++) {
		uint32_t e = turns->row[i];

		if (turns->seen[e] == turns->search)
			g_array_append_val(moved, e);
		else
			put_channel(turns, e, &to);
	}
	for (uint32_t i = 0; i < moved->len; i++)
		put_channel(turns, g_array_index(moved, uint32_t, i), &to);
	turns->work += last - first;
}

/* ---- interface ---- */

uint32_t turns_from(const struct turns *turns, uint32_t edge)
{
	return turns->from[edge];
}

static bool is_legal(const struct turns *turns, uint32_t edge, uint32_t then)
{
	const struct route_graph *graph = turns->graph;

	return (graph->up[edge] || !graph->up[then]) && graph->edges[then].to != turns->from[edge];
}

static uint8_t *verdict_of(const struct turns *turns, uint32_t edge, uint32_t then)
{
	const struct route_graph *graph = turns->graph;

	return &turns->verdicts[turns->first[edge] + then -
				graph->first_edge[graph->edges[edge].to]];
}

bool turns_known(const struct turns *turns, uint32_t edge, uint32_t then)
{
	return is_legal(turns, edge, then) || *verdict_of(turns, edge, then) == TURN_ALLOWED;
}

bool turns_allow(struct turns *turns, uint32_t edge, uint32_t then)
{
	uint8_t *verdict = verdict_of(turns, edge, then);

	if (turns_known(turns, edge, then))
		return true;
	if (*verdict == TURN_REFUSED || turns->graph->edges[then].to == turns->from[edge])
		return false;
	if (turns->place[edge] > turns->place[then]) {
		if (depends(turns, then, edge)) {
			*verdict = TURN_REFUSED;
			return false;
		}
		move_behind(turns, turns->place[then], edge);
	}
	*verdict = TURN_ALLOWED;
	turns->allowed[edge]++;
	return true;
}

void turns_withdraw(struct turns *turns, uint32_t edge, uint32_t then)
{
	g_assert(*verdict_of(turns, edge, then) == TURN_ALLOWED);
	*verdict_of(turns, edge, then) = TURN_NEW;
	turns->allowed[edge]--;
}

uint64_t turns_work(const struct turns *turns)
{
	return turns->work;
}

struct turns *turns_new(const struct route_graph *graph, uint32_t transit)
{
	struct turns *turns = g_new0(struct turns, 1);
	uint32_t n_edges = graph->first_edge[graph->n];
	size_t n_verdicts = 0;

	turns->graph = graph;
	turns->from = g_new(uint32_t, n_edges + 1);
	turns->first = g_new(size_t, n_edges + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			turns->from[e] = sw;
			turns->first[e] = n_verdicts;
			n_verdicts += route_degree(graph, graph->edges[e].to);
		}
	}
	turns->verdicts = g_malloc0(n_verdicts + 1);
	turns->place = g_new(uint32_t, n_edges + 1);
	turns->row = g_new(uint32_t, n_edges + 1);
	turns->allowed = g_new0(uint16_t, n_edges + 1);
	turns->seen = g_new0(uint32_t, n_edges + 1);
	turns->passed = g_new0(uint32_t, 2 * (size_t)graph->n + 1);
	turns->origin = g_new(uint32_t, 2 * (size_t)graph->n + 1);
	turns->stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	order_channels(turns, transit);
	return turns;
}

void turns_free(struct turns *turns)
{
	g_free(turns->from);
	g_free(turns->place);
	g_free(turns->row);
	g_free(turns->first);
	g_free(turns->verdicts);
	g_free(turns->allowed);
	g_free(turns->seen);
	g_free(turns->passed);
	g_free(turns->origin);
	g_array_unref(turns->stack);
	g_free(turns);
}
