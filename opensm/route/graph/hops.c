// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Hops to destinations, 64 at a time: each switch has a line of 64 octets, and takes the offers of
 * its neighbours where they are less.
 *
 * With directions the places of the switches say when the hops of neighbours are final: from
 * the bottom to the top for paths down, then from the top to the bottom for paths up. Otherwise
 * switches are visited back and forth until nothing changes, with the weights of edges if they have
 * any.
 *
 * If the next hop is needed too, neighbours take turns: neighbour i of m gets the destinations i, i
 * + m, i + 2m, ... among those it is nearer to. In the middle of a tree half of them lead the other
 * way: so a round with the turns shifted by half follows. What is left are destinations that one
 * neighbour does not lead to although similar ones do; they are offered to other neighbours,
 * different ones at each switch, and then to any that lead there. The turns of a switch begin at
 * its own number: so a destination is approached from all sides.
 */
#include <glib.h>
#include <stdatomic.h>
#include <string.h>

#include "route/engine.h"
#include "route/graph/order.h"
#include "route/graph/parallel.h"
#include "route/graph/watch.h"

#define LINE 64 /* a constant, so that many octets are handled at once */
#define NO_PORT 0xFF

/* Shared by the threads of a search. */
struct job {
	const struct route_order *order;
	const uint32_t *at; /* [place]: the switch, if there are directions */
	const uint32_t *dests;
	uint32_t n_dests;
	uint8_t *hops, *next;
	atomic_bool too_far;
};

/* The search for some destinations. */
struct search {
	const struct job *job;
	const struct route_order *order;
	const struct route_graph *graph;
	uint32_t first, n;
	uint8_t *lines;		/* [switch * LINE] */
	uint8_t far[LINE];	/* ROUTE_FAR for a destination that is a leaf, else 0 */
	uint8_t (*leads)[LINE]; /* [neighbour]: 0xFF if it leads nearer to a destination, else 0 */
};

static uint8_t *line_of(const struct search *search, uint32_t sw)
{
	return search->lines + (size_t)sw * LINE;
}

/* Takes an offer plus weight where that is less; FAR stays; paths that begin upwards are marked. */
static void line_offer(uint8_t *restrict line, const uint8_t *restrict there, uint8_t up,
		       uint8_t weight)
{
	for (unsigned int i = 0; i < LINE; i++) {
		uint8_t hops = (there[i] | up) + weight;

		hops |= -(uint8_t)(hops < weight); /* sums that overflow are FAR */
		line[i] = hops < line[i] ? hops : line[i];
	}
}

static void begin(struct search *search)
{
	memset(search->lines, ROUTE_FAR, (size_t)search->graph->n * LINE);
	memset(search->far, 0, LINE);
	for (uint32_t i = 0; i < search->n; i++) {
		uint32_t dest = search->job->dests[search->first + i];

		line_of(search, dest)[i] = 0;
		search->far[i] = search->order->joined && search->order->leaf[dest] ? ROUTE_FAR : 0;
	}
}

/* Whether all but ROUTE_FAR is at most this value, ignoring bits outside the mask. */
static bool is_near(const struct search *search, uint8_t most, uint8_t mask)
{
	uint8_t wrong[LINE] = {0}, any = 0;

	for (uint32_t sw = 0; sw < search->graph->n; sw++) {
		const uint8_t *line = line_of(search, sw);

		for (unsigned int i = 0; i < LINE; i++)
			wrong[i] |= (uint8_t)((line[i] != ROUTE_FAR) & ((line[i] & mask) > most));
	}
	for (unsigned int i = 0; i < LINE; i++)
		any |= wrong[i];
	return !any;
}

/* ---- oriented ---- */

/* What an edge offers: if it is closed for traffic to leaves, only the rest. */
static const uint8_t *brought_by(const struct search *search, uint32_t edge, uint8_t some[LINE])
{
	const uint8_t *there = line_of(search, search->graph->edges[edge].to);

	if (!route_is_closed(search->order, edge))
		return there;
	for (unsigned int i = 0; i < LINE; i++)
		some[i] = there[i] | search->far[i];
	return some;
}

/* Takes the offers of the neighbours that are up, or of those that are down. */
static void take_offers(const struct search *search, uint32_t sw, bool up)
{
	const struct route_graph *graph = search->graph;
	uint8_t some[LINE];

	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
		if (search->order->up[e] == up)
			line_offer(line_of(search, sw), brought_by(search, e, some),
				   up ? ROUTE_UP : 0, 1);
}

static bool search_oriented(const struct search *search)
{
	uint32_t n = search->graph->n;

	for (uint32_t place = n; place--;)
		take_offers(search, search->job->at[place], false);
	if (!is_near(search, ROUTE_UP_HOPS_MAX, 0xFF))
		return false;
	for (uint32_t place = 0; place < n; place++)
		take_offers(search, search->job->at[place], true);
	return is_near(search, ROUTE_UP_HOPS_MAX, (uint8_t)~ROUTE_UP);
}

/* ---- without an orientation ---- */

/* Whether the offers of its neighbours changed the line of a switch. */
static bool take_all_offers(const struct search *search, uint32_t sw)
{
	const struct route_graph *graph = search->graph;
	const uint8_t *weights = search->order->weight;
	uint8_t *line = line_of(search, sw), was[LINE];

	memcpy(was, line, LINE);
	route_each_edge(graph, sw, edge) {
		uint8_t weight = weights ? weights[edge - graph->edges] : 1;

		if (weight != ROUTE_WEIGHT_CLOSED)
			line_offer(line, line_of(search, edge->to), 0, weight);
	}
	return memcmp(was, line, LINE) != 0;
}

static bool search_any(const struct search *search)
{
	uint32_t n = search->graph->n;
	bool changed = true, back = false;

	for (; changed; back = !back) {
		changed = false;
		for (uint32_t i = 0; i < n; i++)
			changed |= take_all_offers(search, back ? n - 1 - i : i);
	}
	return search->order->weight || is_near(search, ROUTE_HOPS_MAX, 0xFF);
}

/* ---- next hops ---- */

/* Where an edge begins a best path: 0xFF, else 0; adds to the number of edges that do. */
static void find_leads(const struct search *search, const uint8_t *here, uint32_t edge,
		       uint8_t *restrict leads, uint8_t *restrict n_leads)
{
	const bool *up = search->order->up;
	uint8_t mark = up && up[edge] ? ROUTE_UP : 0, limit = up && !mark ? ROUTE_UP : ROUTE_FAR;
	uint8_t some[LINE];
	const uint8_t *there = brought_by(search, edge, some);

	for (unsigned int i = 0; i < LINE; i++) {
		uint8_t hops = (there[i] | mark) + 1;

		leads[i] = -(uint8_t)((there[i] < limit) & (hops == here[i]));
		n_leads[i] -= leads[i];
	}
}

/* Gives a port the destinations with this number that it leads to and that have no port yet. */
static void give(uint8_t *restrict next, uint8_t port, const uint8_t *restrict leads,
		 const uint8_t *restrict numbers, uint8_t number)
{
	for (unsigned int i = 0; i < LINE; i++) {
		bool given = (next[i] == NO_PORT) & (leads[i] != 0) & (numbers[i] == number);

		next[i] = given ? port : next[i];
	}
}

static bool is_given(const uint8_t *next, const uint8_t *n_leads)
{
	uint8_t any = 0;

	for (unsigned int i = 0; i < LINE; i++)
		any |= (uint8_t)((next[i] == NO_PORT) & (n_leads[i] != 0));
	return !any;
}

static void give_by_turns(const struct search *search, uint32_t sw, uint8_t next[LINE],
			  const uint8_t n_leads[LINE])
{
	const struct route_graph *graph = search->graph;
	const struct route_edge *edges = graph->edges + graph->first_edge[sw];
	uint32_t m = route_degree(graph, sw), turn = search->first % m;
	uint32_t other = m > 1 ? sw + 1 + sw / m % (m - 1) : sw;
	const uint32_t shifts[] = {sw, sw + m / 2, other, other + m / 2, other + m / 4};
	uint8_t turns[LINE], all[LINE] = {0};

	for (uint32_t i = 0; i < LINE; i++, turn = turn + 1 < m ? turn + 1 : 0)
		turns[i] = turn;
	for (uint32_t round = 0; round < G_N_ELEMENTS(shifts); round++) {
		for (uint32_t i = 0; i < m; i++)
			give(next, graph->links[edges[i].first_link], search->leads[i], turns,
			     (i + shifts[round]) % m);
		if (is_given(next, n_leads))
			return;
	}
	for (uint32_t k = 0; k < m; k++) {
		uint32_t i = (k + sw) % m;

		give(next, graph->links[edges[i].first_link], search->leads[i], all, 0);
	}
}

static void find_next(const struct search *search, uint32_t sw, uint8_t next[LINE])
{
	const struct route_graph *graph = search->graph;
	uint32_t first = graph->first_edge[sw], m = route_degree(graph, sw);
	uint8_t n_leads[LINE] = {0};

	memset(next, NO_PORT, LINE);
	for (uint32_t i = 0; i < m; i++)
		find_leads(search, line_of(search, sw), first + i, search->leads[i], n_leads);
	for (uint32_t i = 0; i < m; i++)
		give(next, graph->links[graph->edges[first + i].first_link], search->leads[i],
		     n_leads, 1);
	if (!is_given(next, n_leads))
		give_by_turns(search, sw, next, n_leads);
}

/* ---- the whole search ---- */

static void take_over(const struct search *search)
{
	const struct job *job = search->job;
	uint8_t next[LINE];

	for (uint32_t sw = 0; sw < search->graph->n; sw++) {
		size_t at = (size_t)sw * job->n_dests + search->first;

		memcpy(job->hops + at, line_of(search, sw), search->n);
		if (!job->next)
			continue;
		find_next(search, sw, next);
		memcpy(job->next + at, next, search->n);
	}
}

static void search_blocks(void *arg, uint32_t first, uint32_t last)
{
	struct job *job = arg;
	const struct route_graph *graph = job->order->graph;
	struct search search = {.job = job, .order = job->order, .graph = graph};

	search.lines = g_malloc((size_t)graph->n * LINE + 1);
	search.leads = g_malloc(256 * LINE);
	for (uint32_t block = first; block < last; block++) {
		search.first = block * LINE;
		search.n = MIN(job->n_dests - search.first, LINE);
		begin(&search);
		if (!route_watch_step(graph->watch) ||
		    !(job->order->up ? search_oriented : search_any)(&search)) {
			atomic_store(&job->too_far, true);
			break;
		}
		take_over(&search);
	}
	g_free(search.lines);
	g_free(search.leads);
}

bool route_hops(const struct route_order *order, const uint32_t *dests, uint32_t n_dests,
		uint8_t *hops, uint8_t *next)
{
	const struct route_graph *graph = order->graph;
	g_autofree uint32_t *at = order->up ? g_new(uint32_t, graph->n + 1) : NULL;
	struct job job = {order, at, dests, n_dests, hops, order->weight ? NULL : next};

	for (uint32_t sw = 0; at && sw < graph->n; sw++)
		at[order->place[sw]] = sw;
	atomic_init(&job.too_far, false);
	route_watch_begin(graph->watch, "distances", (n_dests + LINE - 1) / LINE);
	route_parallel(graph->threads, (n_dests + LINE - 1) / LINE, search_blocks, &job);
	return !atomic_load(&job.too_far);
}

uint8_t *route_hops_all(const struct route_order *order, uint8_t *next)
{
	uint32_t n = order->graph->n;
	g_autofree uint32_t *dests = g_new(uint32_t, n + 1);
	g_autofree uint8_t *hops = g_malloc((size_t)n * n + 1);

	for (uint32_t sw = 0; sw < n; sw++)
		dests[sw] = sw;
	return route_hops(order, dests, n, hops, next) ? g_steal_pointer(&hops) : NULL;
}

GQuark route_error_quark(void)
{
	return g_quark_from_static_string("route-error");
}

uint8_t *route_hops_or_error(const struct route_order *order, uint8_t *next, GError **error)
{
	uint8_t *hops = route_hops_all(order, next);

	if (!hops)
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
			    "switches are more than %u hops apart",
			    order->up ? ROUTE_UP_HOPS_MAX : ROUTE_HOPS_MAX);
	return hops;
}
