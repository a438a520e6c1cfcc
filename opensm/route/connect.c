// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Pairs of switch and LID without a legal path, in a graph that is oriented.
 *
 * What may be left in a tree that lost cables is a leaf that cannot go up and then down to a switch
 * whose cable it lost, and a spine that cannot reach the hosts behind one; or some hosts stand on
 * roots, from which no way leads up and down to other roots. Such a pair gets a path with a turn
 * from down to up, provided that with this turn, those allowed before, and all legal ones,
 * channel dependencies still have no cycle (turns.c). Where none is found the pair stays without a
 * path and its entry says discard: deadlock would harm all, this harms the management of one
 * switch. Hosts come first; an engine that cannot connect all of them gives up before.
 *
 * Turns at different places soon close a cycle. So all such paths lead, as far as they can, to the
 * transit: the leaf that has legal paths to and from most switches. Nearly all of them turn there,
 * or where they meet a legal path to their destination before. What this does not connect is
 * searched for in the neighbourhood, switch by switch.
 *
 * A turn must be allowed towards every edge that begins a best path. So the tables of legal paths
 * may be any mixture of best ones, before and after, and the paths depend on graph and hops only.
 *
 * Hosts that are set aside, as I/O nodes on the roots of a tree, may have no legal paths to each
 * other. These are connected likewise if one of them is an I/O node, but by no more hops the wrong
 * way than the operator allows: hops down before hops up.
 *
 * From one switch without hosts to another, as from spine to spine, paths go as the search of hops
 * found them; the verifier explains why these do not count.
 */
#include <string.h>

#include "route/orient.h"
#include "route/parallel.h"
#include "route/shortest.h"
#include "route/turns.h"

#define WORK_MAX (UINT64_C(1) << 25) /* edges looked at; what is not connected by then stays so */
#define FARTHEST 4 /* a search meets at most so many switches without a legal path on its way */
#define PATH_MAX_HOPS 64

struct turn {
	uint32_t edge, then;
};

/* From a switch without a legal path to another, by an edge. */
struct via {
	uint32_t from, to, edge;
	uint32_t wrong; /* hops the wrong way from there on */
	bool must;	/* hosts that must have it go by it */
};

struct connect {
	const struct route_graph *graph;
	const uint8_t *hops;
	uint32_t *part; /* [switch]: number of its connected part */
	struct turns *turns;
	uint32_t transit;
	uint32_t *toward; /* [switch]: the edge that leads it to the transit; or FABRIC_NONE */
	uint32_t *via;	  /* [switch]: the edge to the destination at hand, if found is that */
	uint32_t *found;
	uint32_t *wrong; /* [switch]: hops the wrong way from there on, if found */
	uint32_t *at;	 /* [switch]: its place among vias, if found */
	GArray *vias;	/* all that were found */
	GArray *path;	/* edges of the path at hand */
	GArray *fresh;	/* turns that it is the first to need */
	bool known_only; /* it may need none */
	uint64_t *dead;	 /* [2 * switch + known_only]: how far a search went on there in vain */
	uint64_t alive;	 /* less than that: it was before the last success, or to another switch */
	uint64_t work;
	uint64_t lost;	 /* pairs of switches with hosts that were not connected */
	bool hosts_only; /* others need not be */
};

/* ---- a path ---- */

static bool is_far(const struct connect *connect, uint32_t from, uint32_t to)
{
	return connect->hops[(size_t)from * connect->graph->n + to] == ROUTE_FAR;
}

/* Whether a switch is connected to the destination, in one way or the other. */
static bool is_settled(const struct connect *connect, uint32_t sw, uint32_t to)
{
	return !is_far(connect, sw, to) || connect->found[sw] == to;
}

static bool try_turn(struct connect *connect, uint32_t edge, uint32_t then)
{
	struct turn turn = { edge, then };

	if (turns_known(connect->turns, edge, then))
		return true;
	if (connect->known_only || !turns_allow(connect->turns, edge, then))
		return false;
	g_array_append_val(connect->fresh, turn);
	return true;
}

/* Whether packets that come by this edge get on as the tables of its far end say. */
static bool arrives(struct connect *connect, uint32_t edge, uint32_t to)
{
	const struct route_graph *graph = connect->graph;
	uint32_t sw = graph->edges[edge].to;
	const uint8_t *hops = connect->hops + to;

	if (connect->found[sw] == to)
		return try_turn(connect, edge, connect->via[sw]);
	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
		if (route_leads(graph, e, hops[(size_t)sw * graph->n],
				hops[(size_t)graph->edges[e].to * graph->n]) &&
		    !try_turn(connect, edge, e))
			return false;
	return true;
}

/* Takes back turns and edges of the path behind these. */
static void step_back(struct connect *connect, uint32_t n_fresh, uint32_t n_path)
{
	for (uint32_t i = n_fresh; i < connect->fresh->len; i++) {
		const struct turn *turn = &g_array_index(connect->fresh, struct turn, i);

		turns_withdraw(connect->turns, turn->edge, turn->then);
	}
	g_array_set_size(connect->fresh, n_fresh);
	g_array_set_size(connect->path, n_path);
}

/* Hops the wrong way on the path at hand, from the one with this number on. */
static uint32_t count_wrong(const struct connect *connect, uint32_t first, uint32_t to)
{
	const struct route_graph *graph = connect->graph;
	uint32_t i = connect->path->len, wrong = 0;
	uint32_t end = graph->edges[g_array_index(connect->path, uint32_t, i - 1)].to;
	bool rises = connect->hops[(size_t)end * graph->n + to] & ROUTE_UP;

	if (connect->found[end] == to)
		wrong = connect->wrong[end];
	while (i-- > first) {
		bool up = graph->up[g_array_index(connect->path, uint32_t, i)];

		rises |= up;
		wrong += !up && rises;
	}
	return wrong;
}

/* Lays a path towards the transit up to a switch that is connected. */
static bool lay_by_transit(struct connect *connect, uint32_t from, uint32_t to)
{
	uint32_t before = FABRIC_NONE, sw = from;

	while (connect->path->len < PATH_MAX_HOPS) {
		uint32_t e = connect->toward[sw];

		if (e == FABRIC_NONE || (before != FABRIC_NONE && !try_turn(connect, before, e)))
			return false;
		g_array_append_val(connect->path, e);
		sw = connect->graph->edges[e].to;
		if (is_settled(connect, sw, to))
			return arrives(connect, e, to);
		before = e;
	}
	return false;
}

/*
 * Whether there is no need to go on from a switch again. Who came there before may have come by
 * another edge: so some ways that there are can be missed.
 */
static bool is_dead(struct connect *connect, uint32_t sw, unsigned int more)
{
	return connect->dead[2 * sw + connect->known_only] >= connect->alive + more;
}

/* Lays a path that begins by this edge and meets at most so many more switches not connected. */
static bool lay_on(struct connect *connect, uint32_t edge, uint32_t to, unsigned int more)
{
	const struct route_graph *graph = connect->graph;
	uint32_t sw = graph->edges[edge].to;
	uint32_t n_fresh = connect->fresh->len, n_path = connect->path->len;
	bool settled = is_settled(connect, sw, to);

	connect->work++;
	if (!settled && (!more || is_dead(connect, sw, more)))
		return false;
	g_array_append_val(connect->path, edge);
	if (settled && arrives(connect, edge, to))
		return true;
	for (uint32_t e = graph->first_edge[sw]; !settled && e < graph->first_edge[sw + 1]; e++) {
		if (graph->edges[e].to == turns_from(connect->turns, edge) ||
		    !lay_on(connect, e, to, more - 1))
			continue;
		if (try_turn(connect, edge, e))
			return true;
		step_back(connect, n_fresh, n_path + 1);
	}
	step_back(connect, n_fresh, n_path);
	if (!settled)
		connect->dead[2 * sw + connect->known_only] = connect->alive + more;
	return false;
}

static bool search(struct connect *connect, uint32_t from, uint32_t to, unsigned int more)
{
	const struct route_graph *graph = connect->graph;

	for (uint32_t e = graph->first_edge[from]; e < graph->first_edge[from + 1]; e++)
		if (lay_on(connect, e, to, more))
			return true;
	return false;
}

static void keep_path(struct connect *connect, uint32_t to)
{
	for (uint32_t i = 0; i < connect->path->len; i++) {
		uint32_t e = g_array_index(connect->path, uint32_t, i);
		struct via via = { turns_from(connect->turns, e), to, e,
				   count_wrong(connect, i, to), false };

		connect->wrong[via.from] = via.wrong;
		connect->via[via.from] = e;
		connect->found[via.from] = to;
		connect->at[via.from] = connect->vias->len;
		g_array_append_val(connect->vias, via);
	}
	connect->alive += FARTHEST + 1;
}

/* Whether hosts of one are to be connected with hosts of the other by few hops the wrong way. */
static bool is_limited(const struct route_graph *graph, uint32_t from, uint32_t to)
{
	return graph->reverse_hops && route_has_hosts(graph, from) && route_has_hosts(graph, to) &&
	       route_are_aside(graph, from, to) &&
	       (graph->aside[from] | graph->aside[to]) & ROUTE_ASIDE_IO;
}

/* Each edge of a path can be a hop the wrong way. */
static bool lay_limited(struct connect *connect, uint32_t from, uint32_t to)
{
	uint32_t limit = connect->graph->reverse_hops;

	if (from != connect->transit && lay_by_transit(connect, from, to) &&
	    count_wrong(connect, 0, to) <= limit)
		return true;
	step_back(connect, 0, 0);
	for (unsigned int more = 0; more <= FARTHEST && more < limit; more++) {
		if (search(connect, from, to, more) && count_wrong(connect, 0, to) <= limit)
			return true;
		step_back(connect, 0, 0);
	}
	return false;
}

static bool lay(struct connect *connect, uint32_t from, uint32_t to)
{
	bool done;

	if (is_limited(connect->graph, from, to) && lay_limited(connect, from, to))
		return true;
	if (from != connect->transit && lay_by_transit(connect, from, to))
		return true;
	step_back(connect, 0, 0);
	for (unsigned int i = 0; i < 2 * (FARTHEST + 1); i++) {
		connect->known_only = i % 2 == 0;
		done = search(connect, from, to, i / 2);
		connect->known_only = false;
		if (done)
			return true;
	}
	return false;
}

static void connect_pair(struct connect *connect, uint32_t from, uint32_t to)
{
	if (is_settled(connect, from, to) || connect->part[from] != connect->part[to] ||
	    connect->work + turns_work(connect->turns) > WORK_MAX)
		return;
	g_array_set_size(connect->path, 0);
	g_array_set_size(connect->fresh, 0);
	if (lay(connect, from, to))
		keep_path(connect, to);
}

/* ---- all pairs ---- */

/* Legal paths can be walked in both directions: a row tells who has none to the switch, too. */
static bool has_far(const struct connect *connect, uint32_t sw)
{
	return memchr(connect->hops + (size_t)sw * connect->graph->n, ROUTE_FAR,
		      connect->graph->n);
}

/* Whether both have hosts, which must have paths to each other. */
static bool must_meet(const struct connect *connect, uint32_t from, uint32_t to)
{
	const struct route_graph *graph = connect->graph;

	return route_has_hosts(graph, from) && route_has_hosts(graph, to) &&
	       !route_are_aside(graph, from, to) && connect->part[from] == connect->part[to];
}

/* Marks the way of a pair that must meet. */
static void mark_must(struct connect *connect, uint32_t from, uint32_t to)
{
	for (uint32_t sw = from; connect->found[sw] == to;) {
		struct via *via = &g_array_index(connect->vias, struct via, connect->at[sw]);

		via->must = true;
		sw = connect->graph->edges[via->edge].to;
	}
}

static void connect_to(struct connect *connect, uint32_t to)
{
	const struct route_graph *graph = connect->graph;
	const uint8_t *hops = connect->hops + (size_t)to * graph->n;
	bool has_hosts = route_has_hosts(graph, to);

	if (!has_far(connect, to))
		return;
	connect->alive += FARTHEST + 1;
	for (uint32_t from = 0; from < graph->n; from++) {
		if (hops[from] != ROUTE_FAR || (!has_hosts && !route_has_hosts(graph, from)))
			continue;
		connect_pair(connect, connect->transit, to);
		connect_pair(connect, from, to);
		if (!must_meet(connect, from, to))
			continue;
		connect->lost += connect->found[from] != to;
		mark_must(connect, from, to);
	}
}

/* Whether hosts have no legal path to those of this switch. */
static bool misses_hosts(const struct connect *connect, uint32_t to)
{
	const struct route_graph *graph = connect->graph;
	const uint8_t *hops = connect->hops + (size_t)to * graph->n;

	if (!route_has_hosts(graph, to) || !has_far(connect, to))
		return false;
	for (uint32_t from = 0; from < graph->n; from++)
		if (hops[from] == ROUTE_FAR && must_meet(connect, from, to))
			return true;
	return false;
}

/* Where hosts miss hosts first. */
static void connect_each(struct connect *connect)
{
	const struct route_graph *graph = connect->graph;
	bool *done = g_new0(bool, graph->n + 1);

	done[connect->transit] = true;
	for (uint32_t to = 0; to < graph->n; to++) {
		if (done[to] || !misses_hosts(connect, to))
			continue;
		connect_to(connect, to);
		done[to] = true;
	}
	for (uint32_t to = 0; to < graph->n && !connect->hosts_only; to++)
		if (!done[to])
			connect_to(connect, to);
	g_free(done);
}

/* The switch with hosts that has legal paths to most others, or FABRIC_NONE if all pairs have. */
static uint32_t find_transit(const struct route_graph *graph, const uint8_t *hops)
{
	uint32_t best = FABRIC_NONE, fewest = UINT32_MAX, most = 0;

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		const uint8_t *row = hops + (size_t)sw * graph->n;
		uint32_t far = 0;

		if (!route_has_hosts(graph, sw))
			continue;
		for (uint32_t to = 0; to < graph->n; to++)
			far += row[to] == ROUTE_FAR;
		if (far < fewest)
			best = sw;
		fewest = MIN(fewest, far);
		most = MAX(most, far);
	}
	return most ? best : FABRIC_NONE;
}

static void lead_to_transit(struct connect *connect)
{
	const struct route_graph *graph = connect->graph;
	const uint8_t *hops = connect->hops + connect->transit;

	memset(connect->toward, 0xFF, graph->n * sizeof(*connect->toward));
	connect_to(connect, connect->transit);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		if (connect->found[sw] == connect->transit)
			connect->toward[sw] = connect->via[sw];
		for (uint32_t e = graph->first_edge[sw];
		     e < graph->first_edge[sw + 1] && connect->toward[sw] == FABRIC_NONE; e++)
			if (route_leads(graph, e, hops[(size_t)sw * graph->n],
					hops[(size_t)graph->edges[e].to * graph->n]))
				connect->toward[sw] = e;
	}
}

static void find_ways(struct connect *connect)
{
	const struct route_graph *graph = connect->graph;

	connect->part = route_parts(graph);
	connect->turns = turns_new(graph, connect->transit);
	connect->toward = g_new(uint32_t, graph->n + 1);
	connect->via = g_new(uint32_t, graph->n + 1);
	connect->found = g_new(uint32_t, graph->n + 1);
	memset(connect->found, 0xFF, graph->n * sizeof(*connect->found));
	connect->wrong = g_new(uint32_t, graph->n + 1);
	connect->at = g_new(uint32_t, graph->n + 1);
	connect->dead = g_new0(uint64_t, 2 * (size_t)graph->n + 1);
	connect->path = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	connect->fresh = g_array_new(FALSE, FALSE, sizeof(struct turn));
	lead_to_transit(connect);
	connect_each(connect);
	g_free(connect->part);
	turns_free(connect->turns);
	g_free(connect->toward);
	g_free(connect->via);
	g_free(connect->found);
	g_free(connect->wrong);
	g_free(connect->at);
	g_free(connect->dead);
	g_array_unref(connect->path);
	g_array_unref(connect->fresh);
}

/* All vias (g_array_unref them), or those that hosts need of each other; how many lack one. */
static GArray *connect_all(const struct route_graph *graph, const uint8_t *hops, bool hosts_only,
			   uint64_t *lost)
{
	struct connect connect = { .graph = graph, .hops = hops, .hosts_only = hosts_only };

	connect.vias = g_array_new(FALSE, FALSE, sizeof(struct via));
	connect.transit = find_transit(graph, hops);
	if (connect.transit != FABRIC_NONE)
		find_ways(&connect);
	*lost = connect.lost;
	return connect.vias;
}

bool route_connects_hosts(const struct route_graph *graph, const uint8_t *hops)
{
	uint64_t lost;

	g_array_unref(connect_all(graph, hops, true, &lost));
	return !lost;
}

/* ---- entries ---- */

/* Between hosts that are aside a via serves only within the limit; without hosts no limit is. */
static bool is_for_hosts(const struct route_graph *graph, const struct via *via)
{
	bool both = route_has_hosts(graph, via->from) && route_are_aside(graph, via->from, via->to);

	return !both || via->must ||
	       (is_limited(graph, via->from, via->to) && via->wrong <= graph->reverse_hops);
}

struct route_vias *route_vias_new(const struct route_graph *graph, const uint8_t *hops)
{
	struct route_vias *sorted = g_new(struct route_vias, 1);
	uint64_t lost;
	GArray *vias = connect_all(graph, hops, false, &lost);
	uint32_t *first = g_new0(uint32_t, graph->n + 2);

	for (uint32_t i = 0; i < vias->len; i++)
		first[g_array_index(vias, struct via, i).from + 2]++;
	for (uint32_t sw = 0; sw < graph->n; sw++)
		first[sw + 2] += first[sw + 1];
	*sorted = (struct route_vias){ g_new(struct route_via, vias->len + 1), first };
	for (uint32_t i = 0; i < vias->len; i++) {
		const struct via *via = &g_array_index(vias, struct via, i);

		sorted->vias[first[via->from + 1]++] = (struct route_via){
			.to = via->to,
			.port = graph->links[graph->edges[via->edge].first_link],
			.for_hosts = is_for_hosts(graph, via),
		};
	}
	g_array_unref(vias);
	return sorted;
}

void route_vias_free(struct route_vias *vias)
{
	if (!vias)
		return;
	g_free(vias->vias);
	g_free(vias->first);
	g_free(vias);
}

void route_put_far(const struct route_graph *graph, uint32_t sw, uint32_t to,
		   const struct route_via *via, struct routing *routing)
{
	unsigned int n = graph->own_lid[to] ? 1u << graph->own_lmc[to] : 0;

	for (unsigned int i = 0; i < n && (via || route_has_hosts(graph, sw)); i++)
		routing_put(routing, sw, graph->own_lid[to] + i, via ? via->port : ROUTE_NO_PORT);
	for (uint32_t t = graph->first_target[to]; t < graph->first_target[to + 1]; t++)
		routing_put(routing, sw, graph->targets[t].lid,
			    via && via->for_hosts ? via->port : ROUTE_NO_PORT);
}

/* From a switch without hosts, where no via is wanted: what is there already stays, else it is as
 * the search of hops found it. */
static void put_detour(const struct route_graph *graph, uint32_t sw, uint32_t to, uint8_t next,
		       struct routing *routing)
{
	unsigned int n = graph->own_lid[to] ? 1u << graph->own_lmc[to] : 0;

	for (unsigned int i = 0; i < n; i++)
		if (routing->lft[sw][graph->own_lid[to] + i] == ROUTE_NO_PORT)
			routing_put(routing, sw, graph->own_lid[to] + i, next);
}

/* What the threads that write entries share. */
struct put {
	const struct route_graph *graph;
	const uint8_t *hops, *next;
	const struct route_vias *vias;
	struct routing *routing;
};

/* Entries of one switch for all that it has no legal path to; via[] by destination, or NULL. */
static void put_switch(const struct put *put, uint32_t sw, const struct route_via *const *via)
{
	const struct route_graph *graph = put->graph;
	const uint8_t *hops = put->hops + (size_t)sw * graph->n, *end = hops + graph->n;
	const uint8_t *next = put->next + (size_t)sw * graph->n;

	for (const uint8_t *far = hops; (far = memchr(far, ROUTE_FAR, end - far)); far++) {
		uint32_t to = far - hops;

		route_put_far(graph, sw, to, via[to], put->routing);
		if (!via[to] && !route_has_hosts(graph, sw))
			put_detour(graph, sw, to, next[to], put->routing);
	}
}

static void put_switches(void *arg, uint32_t begin, uint32_t end)
{
	const struct put *put = arg;
	const struct route_via **via = g_new0(const struct route_via *, put->graph->n + 1);

	for (uint32_t sw = begin; sw < end; sw++) {
		uint32_t first = put->vias->first[sw], last = put->vias->first[sw + 1];

		for (uint32_t i = first; i < last; i++)
			via[put->vias->vias[i].to] = &put->vias->vias[i];
		put_switch(put, sw, via);
		for (uint32_t i = first; i < last; i++)
			via[put->vias->vias[i].to] = NULL;
	}
	g_free(via);
}

struct route_vias *route_connect(const struct route_graph *graph, const uint8_t *hops,
				 const uint8_t *next, struct routing *routing)
{
	struct route_vias *vias = route_vias_new(graph, hops);
	struct put put = { graph, hops, next, vias, routing };

	route_parallel(graph->threads, graph->n, put_switches, &put);
	return vias;
}
