// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a file leaves open is as the filler, a routing by some engine, has it, as long as that goes
 * well. The paths of the file may be others, though: the filler sends a packet on to a switch that
 * the file has send it back. For the LIDs where this happens, distances are those by the entries of
 * the file: a switch with an entry is one hop farther than the switch that this leads to, and one
 * without takes the nearest of its neighbours. So every entry leads nearer, and there is no loop.
 *
 * Where a cable is gone, or a host has another place, to lead on what arrives there would be a
 * detour, and in a tree one that goes down and up again, which can close a credit loop. So entries
 * that lead there are overruled: those from which packets arrive by the file alone stay, all others
 * of the LID are as the filler has them. There is no loop: a packet is on a path of the filler
 * until it meets a switch from which it arrives by the file.
 */
#include "route/file_fill.h"

#include <string.h>

#include "route/graph.h"

enum state {
	UNKNOWN,
	ON_THE_WAY,
	ARRIVES,
	FAILS,
};

struct fill {
	const struct fabric *fabric;
	const struct routing *said, *filler;
	const struct route_graph *graph;
	struct routing *routing;
	uint8_t *state;	 /* [n] enum state */
	uint32_t *level; /* [n] */
	uint32_t *queue; /* [n] */
	uint32_t *used;	 /* [link]: LIDs that were led over it here */
	uint64_t *around, *overruled;
};

static bool is_said(const struct fill *fill, uint32_t sw, uint16_t lid)
{
	return fill->said->lft[sw][lid] != ROUTE_NO_PORT;
}

uint32_t route_next_switch(const struct fabric *fabric, uint32_t sw, uint8_t port)
{
	if (!port || port > fabric->nodes[fabric->switches[sw].node].num_ports)
		return FABRIC_NONE;
	return route_switch_across(fabric, fabric_switch_port(fabric, sw, port));
}

/* Whether some switches have an entry for the LID from the file, and others have not. */
static bool is_mixed(const struct fill *fill, uint16_t lid)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < fill->graph->n; sw++)
		n += is_said(fill, sw, lid);
	return n && n < fill->graph->n;
}

/* The switch to which one sends a LID. */
static uint32_t next_of(const struct fill *fill, uint32_t sw, uint16_t lid)
{
	return route_next_switch(fill->fabric, sw, fill->routing->lft[sw][lid]);
}

/* Follows the entries from a switch to one of which it is known what becomes of the packet. */
static enum state follow(struct fill *fill, uint32_t sw, uint16_t lid)
{
	enum state end;
	uint32_t n = 0;

	while (sw != FABRIC_NONE && fill->state[sw] == UNKNOWN) {
		fill->state[sw] = ON_THE_WAY;
		fill->queue[n++] = sw;
		sw = next_of(fill, sw, lid);
	}
	end = sw != FABRIC_NONE && fill->state[sw] == ARRIVES ? ARRIVES : FAILS;
	while (n)
		fill->state[fill->queue[--n]] = end;
	return end;
}

/* Tells of each switch whether packets arrive, if asked by the entries of the file alone. */
static bool all_arrive(struct fill *fill, uint32_t leaf, uint16_t lid, bool by_file)
{
	bool good = true;

	memset(fill->state, UNKNOWN, fill->graph->n);
	for (uint32_t sw = 0; by_file && sw < fill->graph->n; sw++)
		if (!is_said(fill, sw, lid))
			fill->state[sw] = FAILS;
	fill->state[leaf] = ARRIVES;
	for (uint32_t sw = 0; sw < fill->graph->n; sw++)
		if (fill->state[sw] == UNKNOWN)
			good = follow(fill, sw, lid) == ARRIVES && good;
	return good;
}

/* Hops to the leaf by way of entries of the file where there are any. */
static void find_levels(struct fill *fill, uint32_t leaf, uint16_t lid)
{
	const struct route_graph *graph = fill->graph;
	uint32_t n = 0;

	memset(fill->level, 0xFF, graph->n * sizeof(*fill->level));
	fill->level[leaf] = 0;
	fill->queue[n++] = leaf;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t to = fill->queue[i];

		route_each_edge(graph, to, edge) {
			uint32_t sw = edge->to;

			if (fill->level[sw] != FABRIC_NONE ||
			    (is_said(fill, sw, lid) && next_of(fill, sw, lid) != to))
				continue;
			fill->level[sw] = fill->level[to] + 1;
			fill->queue[n++] = sw;
		}
	}
}

/* An open entry leads to the nearest neighbour, by the cable that was taken least. */
static void lead_nearer(struct fill *fill, uint32_t sw, uint16_t lid)
{
	const struct route_graph *graph = fill->graph;
	uint32_t next = next_of(fill, sw, lid), best = FABRIC_NONE;

	if (next != FABRIC_NONE && fill->level[next] + 1 == fill->level[sw])
		return;
	route_each_edge(graph, sw, edge) {
		if (fill->level[edge->to] + 1 != fill->level[sw])
			continue;
		for (uint32_t k = edge->first_link; k < edge->first_link + edge->n_links; k++)
			if (best == FABRIC_NONE || fill->used[k] < fill->used[best])
				best = k;
	}
	fill->used[best]++;
	fill->routing->lft[sw][lid] = graph->links[best];
	(*fill->around)++;
}

/* Leaves to the filler what does not arrive by the file alone. */
static void overrule(struct fill *fill, uint32_t leaf, uint16_t lid)
{
	fill->routing->lft[leaf][lid] = fill->filler->lft[leaf][lid];
	all_arrive(fill, leaf, lid, true);
	for (uint32_t sw = 0; sw < fill->graph->n; sw++) {
		uint8_t port = fill->filler->lft[sw][lid];

		if (fill->state[sw] == ARRIVES || fill->routing->lft[sw][lid] == port)
			continue;
		fill->routing->lft[sw][lid] = port;
		(*fill->overruled)++;
	}
}

static void fill_lid(struct fill *fill, uint32_t leaf, uint16_t lid, bool dead)
{
	if (dead) {
		overrule(fill, leaf, lid);
		return;
	}
	if (all_arrive(fill, leaf, lid, false))
		return;
	find_levels(fill, leaf, lid);
	for (uint32_t sw = 0; sw < fill->graph->n; sw++)
		if (sw != leaf && fill->level[sw] != FABRIC_NONE && !is_said(fill, sw, lid))
			lead_nearer(fill, sw, lid);
}

static struct routing *copy(const struct routing *said, const struct routing *filler)
{
	struct routing *routing = routing_new(said->fabric, said->engine, said->promises);

	for (uint32_t sw = 0; sw < routing->n_switches; sw++)
		for (uint32_t lid = 0; lid <= routing->top; lid++)
			routing->lft[sw][lid] = said->lft[sw][lid] != ROUTE_NO_PORT
							? said->lft[sw][lid]
							: filler->lft[sw][lid];
	return routing;
}

struct routing *route_file_fill(const struct routing *said, const bool *dead,
				const struct routing *filler, uint64_t *around,
				uint64_t *overruled)
{
	struct route_graph *graph = route_graph_new(said->fabric);
	struct fill fill = {
		.fabric = said->fabric,
		.said = said,
		.filler = filler,
		.graph = graph,
		.routing = copy(said, filler),
		.state = g_malloc(graph->n + 1),
		.level = g_new(uint32_t, graph->n + 1),
		.queue = g_new(uint32_t, graph->n + 1),
		.used = g_new0(uint32_t, graph->n_links + 1),
		.around = around,
		.overruled = overruled,
	};

	for (uint32_t lid = 1; lid <= said->top; lid++) {
		uint8_t exit;
		uint32_t leaf = route_leaf_of(said->fabric, lid, &exit);

		if (leaf != FABRIC_NONE && is_mixed(&fill, lid))
			fill_lid(&fill, leaf, lid, dead[lid]);
	}
	g_free(fill.state);
	g_free(fill.level);
	g_free(fill.queue);
	g_free(fill.used);
	route_graph_free(graph);
	return fill.routing;
}
