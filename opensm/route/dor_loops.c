// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Credit loops of dimension order. Channels are edges, and what the verifier counts counts here:
 * packets from everywhere to switches with hosts, and from these to all. A loop that leaves each of
 * its switches by the same port is a ring, that is a dimension of a torus, and rings are what an
 * operator has to know of first. Any other loop means that paths do not keep to an order of
 * dimensions: switches are not cabled alike, or a cable is missing and paths go round the hole.
 */
#include <string.h>

#include "route/dependency.h"
#include "route/dor.h"
#include "route/parallel.h"

#define LOOP_HOPS 8 /* of a loop that is no ring, in the text */
#define RINGS 8	    /* ports of rings in the text */

struct loops {
	const struct dor *dor;
	const struct fabric *fabric;
	uint32_t *first, *across; /* channels, as dependency_new() wants them */
	struct dependency *dependency;
	uint32_t *straight; /* [edge]: the one with the same port that its packets ask for next */
};

static uint8_t port_of(const struct loops *loops, uint32_t edge)
{
	const struct route_graph *graph = loops->dor->graph;

	return graph->links[graph->edges[edge].first_link];
}

/* Packets that leave sw by edge ask for this one next. */
static void depend(struct loops *loops, uint32_t sw, uint32_t edge, uint32_t then)
{
	uint8_t port = port_of(loops, edge), out = port_of(loops, then);

	dependency_add(loops->dependency, sw, port, out);
	if (port == out)
		loops->straight[edge] = then;
}

static void follow_to_hosts(void *arg, uint32_t first, uint32_t last)
{
	struct loops *loops = arg;
	const struct dor *dor = loops->dor;
	const struct route_graph *graph = dor->graph;

	for (uint32_t sw = first; sw < last; sw++) {
		for (uint32_t to = 0; to < graph->n; to++) {
			uint32_t edge = dor_step(dor, sw, to), then;

			if (edge == FABRIC_NONE || !route_has_hosts(graph, to))
				continue;
			then = dor_step(dor, graph->edges[edge].to, to);
			if (then != FABRIC_NONE)
				depend(loops, sw, edge, then);
		}
	}
}

/* From all hosts to a switch that has none. */
static void follow_to_switch(struct loops *loops, uint32_t to, bool *seen)
{
	const struct dor *dor = loops->dor;
	const struct route_graph *graph = dor->graph;

	memset(seen, false, graph->n);
	for (uint32_t from = 0; from < graph->n; from++) {
		uint32_t sw = from, edge = dor_step(dor, sw, to);

		if (!route_has_hosts(graph, from))
			continue;
		while (edge != FABRIC_NONE && !seen[sw]) {
			uint32_t next = graph->edges[edge].to;
			uint32_t then = dor_step(dor, next, to);

			seen[sw] = true;
			if (then != FABRIC_NONE)
				depend(loops, sw, edge, then);
			sw = next;
			edge = then;
		}
	}
}

static void follow_to_switches(struct loops *loops)
{
	const struct route_graph *graph = loops->dor->graph;
	bool *seen = g_new(bool, graph->n + 1);

	for (uint32_t to = 0; to < graph->n; to++)
		if (!route_has_hosts(graph, to) && graph->own_lid[to])
			follow_to_switch(loops, to, seen);
	g_free(seen);
}

static void index_channels(struct loops *loops)
{
	const struct fabric *fabric = loops->fabric;
	const struct route_graph *graph = loops->dor->graph;
	uint32_t n = 0;

	loops->first = g_new(uint32_t, graph->n + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		loops->first[sw] = n;
		n += fabric->nodes[fabric->switches[sw].node].num_ports + 1u;
	}
	loops->first[graph->n] = n;
	loops->across = g_new(uint32_t, n + 1);
	memset(loops->across, 0xFF, n * sizeof(*loops->across));
	for (uint32_t sw = 0; sw < graph->n; sw++)
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
			loops->across[loops->first[sw] + port_of(loops, e)] = graph->edges[e].to;
}

/* ---- in words ---- */

static const char *name_of(const struct loops *loops, uint32_t sw)
{
	return loops->fabric->nodes[loops->fabric->switches[sw].node].description;
}

/* Edges of the ring that this edge is part of; 0: it is of none. walk numbers the walks. */
static uint32_t ring_of(const struct loops *loops, uint32_t edge, uint32_t *walked, uint32_t walk)
{
	uint32_t length = 0, e = edge, start;

	while (e != FABRIC_NONE && !walked[e]) {
		walked[e] = walk;
		e = loops->straight[e];
	}
	if (e == FABRIC_NONE || walked[e] != walk)
		return 0;
	start = e;
	do {
		length++;
		e = loops->straight[e];
	} while (e != start);
	return length;
}

/* The rings by each port, of which the first is told; NULL if there are none. */
static char *tell_rings(const struct loops *loops)
{
	const struct route_graph *graph = loops->dor->graph;
	uint32_t *walked = g_new0(uint32_t, graph->first_edge[graph->n] + 1), n = 0;
	bool told[256] = { false };
	g_autoptr(GString) text = g_string_new(NULL);

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			uint32_t length = walked[e] ? 0 : ring_of(loops, e, walked, e + 1);

			if (!length || told[port_of(loops, e)])
				continue;
			told[port_of(loops, e)] = true;
			if (n++ < RINGS)
				g_string_append_printf(
					text, "%sport %u (one of %u switches, from '%s')",
					n > 1 ? ", " : "", port_of(loops, e), length,
					name_of(loops, sw));
		}
	}
	g_free(walked);
	if (n > RINGS)
		g_string_append_printf(text, " and %u more ports", n - RINGS);
	if (!n)
		return NULL;
	return g_strdup_printf("can deadlock: as on any torus, paths go all round the rings by "
			       "%s; updn has no such paths", text->str);
}

static char *tell_loop(const struct loops *loops, const GArray *loop)
{
	GString *text =
		g_string_new("can deadlock: paths do not keep to one order of dimensions: ");

	for (uint32_t i = 0; i < loop->len && i < LOOP_HOPS; i++) {
		const struct dependency_channel *channel =
			&g_array_index(loop, struct dependency_channel, i);

		g_string_append_printf(text, "'%s' port %u, ", name_of(loops, channel->sw),
				       channel->port);
	}
	if (loop->len > LOOP_HOPS)
		g_string_append_printf(text, "%u more, ", loop->len - LOOP_HOPS);
	g_string_append(text,
			"and again; a cable is missing, or dimensions have not the same ports at "
			"all switches (port_search_ordering_file); updn has no such paths");
	return g_string_free(text, FALSE);
}

char *dor_find_loops(const struct dor *dor, const struct fabric *fabric)
{
	const struct route_graph *graph = dor->graph;
	struct loops loops = { .dor = dor, .fabric = fabric };
	uint32_t n_edges = graph->first_edge[graph->n];
	char *text = NULL;
	GArray *loop;

	index_channels(&loops);
	loops.dependency = dependency_new(graph->n, loops.first, loops.across);
	loops.straight = g_new(uint32_t, n_edges + 1);
	memset(loops.straight, 0xFF, n_edges * sizeof(*loops.straight));
	route_parallel(graph->threads, graph->n, follow_to_hosts, &loops);
	follow_to_switches(&loops);
	loop = dependency_cycle(loops.dependency);
	if (loop) {
		text = tell_rings(&loops);
		if (!text)
			text = tell_loop(&loops, loop);
		g_array_unref(loop);
	}
	dependency_free(loops.dependency);
	g_free(loops.straight);
	g_free(loops.first);
	g_free(loops.across);
	return text;
}
