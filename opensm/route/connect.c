// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Pairs of switch and LID without a legal path, in a graph that is oriented.
 *
 * Every host reaches every host by a legal path, or the engine has given up before. What may be
 * left in a tree that lost cables is a leaf that cannot go up and then down to a switch whose
 * cable it lost, and a spine that cannot reach the hosts behind one. Such a pair gets a path with
 * a turn from down to up, provided that with this turn, those allowed before, and all legal ones,
 * channel dependencies still have no cycle. Where none is found the pair stays without a path and
 * its entry says discard: deadlock would harm all, this harms the management of one switch.
 *
 * From one switch without hosts to another, as from spine to spine, paths go as the search found
 * them; the verifier explains why these do not count.
 *
 * Channels are edges here: what holds for one of parallel links holds for all.
 */
#include "route/shortest.h"

#define WORK_MAX (UINT64_C(1) << 26) /* edges looked at; what is not connected by then stays so */
#define FARTHEST 2 /* switches without a legal path on the way to one that has */

struct connect {
	const struct route_graph *graph;
	const uint8_t *hops;
	struct routing *routing;
	uint32_t *from;	   /* [edge]: the switch it leaves */
	GArray **turns;	   /* [edge]: edges it may go on to, besides the legal ones */
	GHashTable *asked; /* turns judged before: edge << 32 | edge -> allowed or not */
	GHashTable *fixed; /* pairs that others may go through, as of pair_key() */
	uint32_t *seen;	   /* [edge]: number of the search that met it */
	uint32_t search;
	GArray *stack;
	uint64_t work;
};

/* ---- may there be another turn? ---- */

static void visit(struct connect *connect, uint32_t edge)
{
	if (connect->seen[edge] == connect->search)
		return;
	connect->seen[edge] = connect->search;
	g_array_append_val(connect->stack, edge);
}

static void visit_next(struct connect *connect, uint32_t edge)
{
	const struct route_graph *graph = connect->graph;
	uint32_t to = graph->edges[edge].to;

	for (uint32_t e = graph->first_edge[to]; e < graph->first_edge[to + 1]; e++)
		if ((graph->up[edge] || !graph->up[e]) &&
		    graph->edges[e].to != connect->from[edge])
			visit(connect, e);
	connect->work += graph->first_edge[to + 1] - graph->first_edge[to];
	for (uint32_t i = 0; connect->turns[edge] && i < connect->turns[edge]->len; i++)
		visit(connect, g_array_index(connect->turns[edge], uint32_t, i));
}

/* Whether packets on the edge start may wait for those on goal. */
static bool depends(struct connect *connect, uint32_t start, uint32_t goal)
{
	connect->search++;
	g_array_set_size(connect->stack, 0);
	visit(connect, start);
	while (connect->stack->len && connect->seen[goal] != connect->search) {
		uint32_t edge = g_array_index(connect->stack, uint32_t, connect->stack->len - 1);

		g_array_set_size(connect->stack, connect->stack->len - 1);
		visit_next(connect, edge);
	}
	return connect->seen[goal] == connect->search;
}

static bool judge_turn(struct connect *connect, uint32_t edge, uint32_t then)
{
	if (connect->work > WORK_MAX || depends(connect, then, edge))
		return false;
	if (!connect->turns[edge])
		connect->turns[edge] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(connect->turns[edge], then);
	return true;
}

/* Allows packets to go on from one edge to the other; false if that could close a cycle. */
static bool allow_turn(struct connect *connect, uint32_t edge, uint32_t then)
{
	const struct route_graph *graph = connect->graph;
	int64_t key = (int64_t)edge << 32 | then;
	gpointer answer;

	if ((graph->up[edge] || !graph->up[then]) && graph->edges[then].to != connect->from[edge])
		return true;
	if (!g_hash_table_lookup_extended(connect->asked, &key, NULL, &answer)) {
		answer = GINT_TO_POINTER(judge_turn(connect, edge, then));
		g_hash_table_insert(connect->asked, g_memdup2(&key, sizeof(key)), answer);
	}
	return GPOINTER_TO_INT(answer);
}

/* ---- paths ---- */

/* LIDs of a switch: its own, or those of its hosts, one after the other; 0 at the end. */
static uint16_t lid_of(const struct route_graph *graph, uint32_t sw, bool own, uint32_t i)
{
	if (!own && i < graph->first_target[sw + 1] - graph->first_target[sw])
		return graph->targets[graph->first_target[sw] + i].lid;
	if (own && graph->own_lid[sw] && i < 1u << graph->own_lmc[sw])
		return graph->own_lid[sw] + i;
	return 0;
}

/* Whether packets that came by this edge may go on as the tables of its far end say. */
static bool may_go_on(struct connect *connect, uint32_t edge, uint32_t to, bool own)
{
	const struct route_graph *graph = connect->graph;
	uint32_t sw = graph->edges[edge].to, edges[256];
	uint16_t lid;

	route_edges_by_port(graph, sw, edges);
	for (uint32_t i = 0; (lid = lid_of(graph, to, own, i)); i++) {
		uint32_t then = edges[connect->routing->lft[sw][lid]];

		if (then == FABRIC_NONE || !allow_turn(connect, edge, then))
			return false;
	}
	return true;
}

static bool is_legal(const struct connect *connect, uint32_t sw, uint32_t to)
{
	return connect->hops[(size_t)sw * connect->graph->n + to] != ROUTE_FAR;
}

static int64_t pair_key(uint32_t sw, uint32_t to, bool own)
{
	return (int64_t)sw << 32 | (int64_t)to << 1 | own;
}

static bool is_fixed(const struct connect *connect, uint32_t sw, uint32_t to, bool own)
{
	int64_t key = pair_key(sw, to, own);

	return g_hash_table_contains(connect->fixed, &key);
}

static void set_entries(struct connect *connect, uint32_t edge, uint32_t to, bool own)
{
	const struct route_graph *graph = connect->graph;
	uint8_t port = graph->links[graph->edges[edge].first_link];
	int64_t key = pair_key(connect->from[edge], to, own);
	uint16_t lid;

	for (uint32_t i = 0; (lid = lid_of(graph, to, own, i)); i++)
		connect->routing->lft[connect->from[edge]][lid] = port;
	g_hash_table_add(connect->fixed, g_memdup2(&key, sizeof(key)));
}

/*
 * Whether packets that come by this edge get on, by at most so many more switches without a legal
 * path; their entries are then set.
 */
static bool go_on(struct connect *connect, uint32_t edge, uint32_t to, bool own, unsigned int more)
{
	const struct route_graph *graph = connect->graph;
	uint32_t sw = graph->edges[edge].to;

	connect->work++;
	if (is_legal(connect, sw, to) || is_fixed(connect, sw, to, own))
		return may_go_on(connect, edge, to, own);
	if (!more)
		return false;
	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
		if (graph->edges[e].to == connect->from[edge] ||
		    !go_on(connect, e, to, own, more - 1) || !allow_turn(connect, edge, e))
			continue;
		set_entries(connect, e, to, own);
		return true;
	}
	return false;
}

static void connect_pair(struct connect *connect, uint32_t sw, uint32_t to, bool own)
{
	const struct route_graph *graph = connect->graph;

	for (unsigned int more = 0; more <= FARTHEST; more++) {
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			if (connect->work > WORK_MAX)
				return;
			if (!go_on(connect, e, to, own, more))
				continue;
			set_entries(connect, e, to, own);
			return;
		}
	}
}

static void connect_pair_once(struct connect *connect, uint32_t sw, uint32_t to, bool own)
{
	if (!is_fixed(connect, sw, to, own))
		connect_pair(connect, sw, to, own);
}

static void connect_switch(struct connect *connect, const uint8_t *next, uint32_t sw)
{
	const struct route_graph *graph = connect->graph;
	uint8_t *lft = connect->routing->lft[sw];

	for (uint32_t to = 0; to < graph->n; to++) {
		uint16_t lid;

		if (is_legal(connect, sw, to) || next[to] == ROUTE_NO_PORT)
			continue;
		if (route_has_hosts(graph, sw)) {
			connect_pair_once(connect, sw, to, true);
			continue;
		}
		for (uint32_t i = 0; (lid = lid_of(graph, to, true, i)); i++)
			if (lft[lid] == ROUTE_NO_PORT)
				lft[lid] = next[to];
		if (route_has_hosts(graph, to))
			connect_pair_once(connect, sw, to, false);
	}
}

static void free_turns(gpointer turns)
{
	if (turns)
		g_array_unref(turns);
}

void route_connect(const struct route_graph *graph, const uint8_t *hops, const uint8_t *next,
		   struct routing *routing)
{
	uint32_t n_edges = graph->first_edge[graph->n];
	struct connect connect = { .graph = graph, .hops = hops, .routing = routing };

	connect.from = g_new(uint32_t, n_edges + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
			connect.from[e] = sw;
	connect.turns = g_new0(GArray *, n_edges + 1);
	connect.asked = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	connect.fixed = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	connect.seen = g_new0(uint32_t, n_edges + 1);
	connect.stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t sw = 0; sw < graph->n; sw++)
		connect_switch(&connect, next + (size_t)sw * graph->n, sw);
	for (uint32_t e = 0; e < n_edges; e++)
		free_turns(connect.turns[e]);
	g_free(connect.turns);
	g_free(connect.from);
	g_hash_table_unref(connect.asked);
	g_hash_table_unref(connect.fixed);
	g_free(connect.seen);
	g_array_unref(connect.stack);
}
