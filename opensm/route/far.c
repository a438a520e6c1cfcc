// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * In a tree without one root nearly half of the pairs of switches have no legal path, and none is
 * wanted: packets of management go by detours (connect.c). A repair looks at few of them.
 *
 * A detour depends on the cables and on the hops of the switches that it passes until one has a
 * legal path. So a pair is looked at if its hops were searched anew, if its switch has other cables
 * than before or got or lost its hosts, if it has or had a via of connect.c; and, as by one step
 * more, if its switch sends, or sent at home, to one that is looked at for the same destination.
 * All others would get what they have.
 */
#include "route/far.h"

#include <string.h>

#include "route/parallel.h"

#define DETOUR_MAX 4 /* switches without a legal path on the way to one that has */

struct pair {
	uint32_t sw, to;
};

struct far {
	const struct route_change *change;
	const struct route_vias *vias;
	struct routing *routing;
	uint32_t n_words; /* of a row of marked */
	uint64_t *marked; /* [switch * n_words]: bit n: so is the pair to switch n */
	GArray *pairs;	  /* those whose neighbours are to be looked at yet */
	uint32_t *back;	  /* [edge]: that of its other end; made when it is needed */
};

/* ---- which pairs ---- */

static bool is_far(const struct route_change *change, uint32_t sw, uint32_t to)
{
	return change->hops[(size_t)sw * change->n + to] == ROUTE_FAR;
}

/* False if it was marked before, or has a legal path. */
static bool mark(struct far *far, uint32_t sw, uint32_t to)
{
	uint64_t *word = &far->marked[(size_t)sw * far->n_words + to / 64];
	uint64_t bit = UINT64_C(1) << to % 64;

	if (*word & bit || !is_far(far->change, sw, to))
		return false;
	*word |= bit;
	return true;
}

static void mark_to_follow(struct far *far, uint32_t sw, uint32_t to)
{
	struct pair pair = { sw, to };

	if (mark(far, sw, to))
		g_array_append_val(far->pairs, pair);
}

/* Nobody need follow these: the others that go there are marked likewise. */
static void mark_columns(struct far *far)
{
	const struct route_change *change = far->change;

	for (uint32_t sw = 0; sw < change->n; sw++)
		for (uint32_t i = 0; i < change->n_dests; i++)
			mark(far, sw, change->dests[i]);
}

/* Whether it got its first hosts, or lost the last. */
static bool has_other_use(const struct route_change *change, uint32_t sw)
{
	return route_has_hosts(change->graph, sw) !=
	       route_has_hosts(change->old->trace->graph, change->before[sw]);
}

static void mark_rows(struct far *far)
{
	const struct route_change *change = far->change;

	for (uint32_t sw = 0; sw < change->n; sw++) {
		const uint8_t *hops = change->hops + (size_t)sw * change->n, *to = hops;
		const uint8_t *end = hops + change->n;

		if (!change->touched[sw] && !has_other_use(change, sw))
			continue;
		for (; (to = memchr(to, ROUTE_FAR, end - to)); to++)
			mark_to_follow(far, sw, to - hops);
	}
}

static void mark_vias(struct far *far, const struct route_vias *vias, uint32_t n,
		      const uint32_t *now)
{
	for (uint32_t sw = 0; vias && sw < n; sw++) {
		for (uint32_t i = vias->first[sw]; i < vias->first[sw + 1]; i++) {
			uint32_t from = now ? now[sw] : sw;
			uint32_t to = now ? now[vias->vias[i].to] : vias->vias[i].to;

			if (from != FABRIC_NONE && to != FABRIC_NONE)
				mark_to_follow(far, from, to);
		}
	}
}

/* ---- who sends to them ---- */

/* Edges by the switch where they lead: the end of those of sw is in end[sw]. */
static uint32_t *sort_incoming(const struct route_graph *graph, uint32_t *end)
{
	uint32_t n_edges = graph->first_edge[graph->n], *in = g_new(uint32_t, n_edges + 1);

	memset(end, 0, (graph->n + 1) * sizeof(*end));
	for (uint32_t e = 0; e < n_edges; e++)
		end[graph->edges[e].to + 1]++;
	for (uint32_t sw = 0; sw < graph->n; sw++)
		end[sw + 1] += end[sw];
	for (uint32_t e = 0; e < n_edges; e++)
		in[end[graph->edges[e].to]++] = e;
	return in;
}

/* An edge that enters a switch stands with others in the order of the switches it leaves. */
static void find_back(struct far *far)
{
	const struct route_graph *graph = far->change->graph;
	g_autofree uint32_t *end = g_new(uint32_t, graph->n + 1), *in = sort_incoming(graph, end);
	g_autofree uint32_t *edge_to = g_new(uint32_t, graph->n + 1);
	g_autofree uint32_t *from = g_new(uint32_t, graph->first_edge[graph->n] + 1);

	far->back = g_new(uint32_t, graph->first_edge[graph->n] + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
			from[e] = sw;
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
			edge_to[graph->edges[e].to] = e;
		for (uint32_t i = sw ? end[sw - 1] : 0; i < end[sw]; i++)
			far->back[in[i]] = edge_to[from[in[i]]];
	}
}

/* Whether a table sends any LID of a switch by this edge. */
static bool sends_by(const struct route_graph *graph, const uint8_t *lft, uint32_t edge,
		     uint32_t to)
{
	unsigned int n = graph->own_lid[to] ? 1u << graph->own_lmc[to] : 0;
	const uint8_t *links = graph->links + graph->edges[edge].first_link;

	for (unsigned int i = 0; i < n; i++)
		if (memchr(links, lft[graph->own_lid[to] + i], graph->edges[edge].n_links))
			return true;
	return false;
}

static void follow(struct far *far, struct pair pair)
{
	const struct route_change *change = far->change;
	const struct route_graph *graph = change->graph;

	for (uint32_t e = graph->first_edge[pair.sw]; e < graph->first_edge[pair.sw + 1]; e++) {
		uint32_t sw = graph->edges[e].to, before = change->before[sw];

		if (is_far(change, sw, pair.to) &&
		    (sends_by(graph, change->old->home->rows[change->row[sw]], far->back[e],
			      pair.to) ||
		     (before != FABRIC_NONE &&
		      sends_by(graph, change->old->lft[before], far->back[e], pair.to))))
			mark_to_follow(far, sw, pair.to);
	}
}

static void mark_all(struct far *far)
{
	const struct route_change *change = far->change;

	mark_columns(far);
	mark_rows(far);
	mark_vias(far, far->vias, change->n, NULL);
	mark_vias(far, change->old->trace->vias, change->n_before, change->now);
	if (far->pairs->len)
		find_back(far);
	for (guint i = 0; i < far->pairs->len; i++)
		follow(far, g_array_index(far->pairs, struct pair, i));
}

/* ---- entries ---- */

/* The switch to which this one sent the LID at home, or by the old routing; FABRIC_NONE: none. */
static uint32_t sent_to(const struct route_change *change, bool at_home, uint32_t sw, uint16_t lid)
{
	const struct fabric *fabric = change->fabric;
	const uint8_t *lft = change->old->home->rows[change->row[sw]];
	uint32_t peer;

	if (!at_home && change->before[sw] == FABRIC_NONE)
		return FABRIC_NONE;
	if (!at_home)
		lft = change->old->lft[change->before[sw]];
	if (lft[lid] > fabric->nodes[fabric->switches[sw].node].num_ports)
		return FABRIC_NONE;
	peer = fabric->ports[fabric_switch_port(fabric, sw, lft[lid])].peer;
	return peer == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[fabric->ports[peer].node].sw;
}

/* Whether one of these tables still begins a way to a switch that has a legal path. */
static bool gets_there(const struct route_change *change, bool at_home, uint32_t sw, uint32_t to,
		       uint16_t lid)
{
	uint32_t first = sw;

	for (unsigned int i = 0; sw == first || is_far(change, sw, to); i++) {
		sw = sent_to(change, at_home, sw, lid);
		if (sw == FABRIC_NONE || sw == first || i > DETOUR_MAX)
			return false;
	}
	return true;
}

/*
 * A detour for management only stays if it still gets there. Home's goes first: if it gets there
 * from here, it does from every switch on its way, and each of them takes it for the same reason.
 * So no detour leads back to where another begins.
 */
static uint8_t keep_detour(const struct route_change *change, uint32_t sw, uint32_t to,
			   uint16_t lid)
{
	if (gets_there(change, true, sw, to, lid))
		return change->old->home->rows[change->row[sw]][lid];
	if (gets_there(change, false, sw, to, lid))
		return change->old->lft[change->before[sw]][lid];
	return change->next ? change->next[(size_t)sw * change->n + to] : ROUTE_NO_PORT;
}

static const struct route_via *find_via(const struct far *far, uint32_t sw, uint32_t to)
{
	for (uint32_t i = far->vias ? far->vias->first[sw] : 0;
	     far->vias && i < far->vias->first[sw + 1]; i++)
		if (far->vias->vias[i].to == to)
			return &far->vias->vias[i];
	return NULL;
}

static void repair_pair(const struct far *far, uint32_t sw, uint32_t to)
{
	const struct route_graph *graph = far->change->graph;
	const struct route_via *via = find_via(far, sw, to);
	unsigned int n = graph->own_lid[to] ? 1u << graph->own_lmc[to] : 0;

	route_put_far(graph, sw, to, via, far->routing);
	for (unsigned int i = 0; !via && !route_has_hosts(graph, sw) && i < n; i++)
		routing_put(far->routing, sw, graph->own_lid[to] + i,
			    keep_detour(far->change, sw, to, graph->own_lid[to] + i));
}

static void repair_rows(void *arg, uint32_t first, uint32_t last)
{
	const struct far *far = arg;

	for (uint32_t sw = first; sw < last; sw++) {
		const uint64_t *marked = far->marked + (size_t)sw * far->n_words;

		for (uint32_t w = 0; w < far->n_words; w++)
			for (uint64_t bits = marked[w]; bits; bits &= bits - 1)
				repair_pair(far, sw, w * 64 + __builtin_ctzll(bits));
	}
}

uint64_t route_far_repair(const struct route_change *change, const struct route_vias *vias,
			  struct routing *routing)
{
	uint64_t n = 0;
	struct far far = {
		.change = change,
		.vias = vias,
		.routing = routing,
		.n_words = change->n / 64 + 1,
		.pairs = g_array_new(FALSE, FALSE, sizeof(struct pair)),
	};

	far.marked = g_new0(uint64_t, (size_t)change->n * far.n_words + 1);
	mark_all(&far);
	route_parallel(change->graph->threads, change->n, repair_rows, &far);
	for (size_t i = 0; i < (size_t)change->n * far.n_words; i++)
		n += (uint64_t)__builtin_popcountll(far.marked[i]);
	g_free(far.marked);
	g_free(far.back);
	g_array_unref(far.pairs);
	return n;
}
