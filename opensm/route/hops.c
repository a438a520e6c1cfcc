// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Breadth-first search from all switches at once. A block of 512 destinations is a cache line of
 * bits at each switch; one level of the search ORs the lines of the neighbours, and each bit is
 * looked at singly only once, when it arrives.
 *
 * Where the next hop is wanted too, neighbours take turns: neighbour i of m gets the destinations
 * i, i + m, i + 2m, ... among those it is nearer to. In the midst of a tree half of them lead the
 * other way: so a round with the turns shifted by half follows, but not at leaves. The rest is what
 * one neighbour cannot bring although those like it can; it is offered to others, to different ones
 * at each switch, and then to any that can. The turns of a switch begin at its own number: so a
 * destination is approached on all sides.
 *
 * In an oriented graph there are two passes: who reaches the destination by going down alone;
 * then, level by level of the whole length, who gets there by going up first.
 */
#include <glib.h>
#include <stdatomic.h>
#include <string.h>

#include "route/graph.h"
#include "route/parallel.h"
#include "route/weights.h"

#define LINE_WORDS 8
#define LINE_BITS (LINE_WORDS * 64)

struct line {
	uint64_t word[LINE_WORDS];
};

enum way {
	WAY_ANY,
	WAY_DOWN,
	WAY_UP,
};

struct search {
	const struct route_graph *graph;
	enum way way;
	uint32_t n_dests;
	uint32_t first;	      /* destination of bit 0 */
	struct line upper;    /* destinations that are no leaves, if edges are closed */
	struct line *front;   /* destinations that are level hops from a switch */
	struct line *arrive;  /* those that are level + 1 hops from it */
	struct line *reached; /* those that are no more than level hops from it */
	GArray *down;	      /* fronts of the pass down, level by level: graph->n lines each */
	struct line *turns[256]; /* [m]: m lines, line i for neighbour i; made on demand */
	uint8_t *hops, *next;
};

static const struct line *turn(struct search *search, unsigned int m, unsigned int i)
{
	if (!search->turns[m]) {
		search->turns[m] = g_new0(struct line, m);
		for (unsigned int bit = 0; bit < LINE_BITS; bit++)
			search->turns[m][bit % m].word[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	return &search->turns[m][i];
}

static void line_or(struct line *to, const struct line *from)
{
	for (int w = 0; w < LINE_WORDS; w++)
		to->word[w] |= from->word[w];
}

/* Notes what arrives at sw: distance, and the port it is sent to. */
static void note(struct search *search, uint32_t sw, const struct line *line, uint8_t hops,
		 uint8_t port)
{
	size_t row = (size_t)sw * search->n_dests + search->first;

	for (int w = 0; w < LINE_WORDS; w++) {
		for (uint64_t bits = line->word[w]; bits; bits &= bits - 1) {
			size_t at = row + w * 64 + __builtin_ctzll(bits);

			search->hops[at] = hops;
			if (search->next)
				search->next[at] = port;
		}
	}
}

static bool is_open(const struct search *search, uint32_t edge)
{
	return search->way == WAY_ANY || search->graph->up[edge] == (search->way == WAY_UP);
}

/* What an edge brings to a switch. */
static const struct line *front_of(const struct search *search, uint32_t edge, struct line *some)
{
	const struct line *front = &search->front[search->graph->edges[edge].to];

	if (!route_is_closed(search->graph, edge))
		return front;
	for (int w = 0; w < LINE_WORDS; w++)
		some->word[w] = front->word[w] & search->upper.word[w];
	return some;
}

/* Bits that edge e brings to sw and nobody has taken; limited to mask unless that is NULL. */
static bool take(struct search *search, uint32_t sw, uint32_t e, const struct line *mask,
		 struct line *got)
{
	struct line some;
	const struct line *front = front_of(search, e, &some);
	const struct line *reached = &search->reached[sw];
	struct line *arrive = &search->arrive[sw];
	uint64_t any = 0;

	for (int w = 0; w < LINE_WORDS; w++) {
		got->word[w] = front->word[w] & ~reached->word[w] & ~arrive->word[w];
		if (mask)
			got->word[w] &= mask->word[w];
		arrive->word[w] |= got->word[w];
		any |= got->word[w];
	}
	return any;
}

/* Destinations that some neighbour brings to sw; false if there are none. */
static bool arriving(const struct search *search, uint32_t sw, struct line *line)
{
	const struct route_graph *graph = search->graph;
	struct line some;
	uint64_t any = 0;

	memset(line, 0, sizeof(*line));
	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
		if (is_open(search, e))
			line_or(line, front_of(search, e, &some));
	for (int w = 0; w < LINE_WORDS; w++) {
		line->word[w] &= ~search->reached[sw].word[w];
		any |= line->word[w];
	}
	return any;
}

static bool arrive_by_turns(struct search *search, uint32_t sw, uint8_t hops)
{
	const struct route_graph *graph = search->graph;
	uint32_t first = graph->first_edge[sw], m = route_degree(graph, sw);
	uint32_t other = m > 1 ? sw + 1 + sw / m % (m - 1) : sw;
	const uint32_t shifts[] = { sw, sw + m / 2, other, other + m / 2, other + m / 4 };
	struct line all, got;

	if (!arriving(search, sw, &all))
		return false;
	for (uint32_t round = 0; round <= G_N_ELEMENTS(shifts); round++) {
		bool last = round == G_N_ELEMENTS(shifts);

		if (round == 1 && route_has_hosts(graph, sw))
			continue;

		for (uint32_t i = 0; i < m; i++) {
			uint32_t e = first + (last ? (i + sw) % m : i);
			const struct route_edge *edge = &graph->edges[e];
			const struct line *mask =
				last ? NULL : turn(search, m, (i + shifts[round]) % m);

			if (is_open(search, e) && take(search, sw, e, mask, &got))
				note(search, sw, &got, hops, graph->links[edge->first_link]);
		}
		if (!memcmp(&search->arrive[sw], &all, sizeof(all)))
			break;
	}
	return true;
}

static bool arrive_at(struct search *search, uint32_t sw, uint8_t hops)
{
	if (search->next)
		return arrive_by_turns(search, sw, hops);
	if (!arriving(search, sw, &search->arrive[sw]))
		return false;
	note(search, sw, &search->arrive[sw], hops, 0);
	return true;
}

/* One level; true if any destination arrived anywhere. */
static bool search_level(struct search *search, uint8_t hops, const struct line *all)
{
	uint32_t n = search->graph->n;
	struct line *swap = search->front;
	bool any = false;

	memset(search->arrive, 0, n * sizeof(struct line));
	for (uint32_t sw = 0; sw < n; sw++)
		if (memcmp(&search->reached[sw], all, sizeof(*all)))
			any |= arrive_at(search, sw, hops);
	for (uint32_t sw = 0; sw < n; sw++)
		line_or(&search->reached[sw], &search->arrive[sw]);
	search->front = search->arrive;
	search->arrive = swap;
	return any;
}

/* Sets the block's destinations out; all gets their bits. */
static void search_begin(struct search *search, const uint32_t *dests, struct line *all)
{
	uint32_t n = search->graph->n;
	uint32_t bits = MIN(search->n_dests - search->first, LINE_BITS);

	memset(all, 0, sizeof(*all));
	memset(&search->upper, 0, sizeof(search->upper));
	memset(search->front, 0, n * sizeof(struct line));
	memset(search->reached, 0, n * sizeof(struct line));
	for (uint32_t sw = 0; sw < n; sw++) {
		size_t row = (size_t)sw * search->n_dests + search->first;

		memset(search->hops + row, ROUTE_FAR, bits);
		if (search->next)
			memset(search->next + row, 0xFF, bits);
	}
	for (uint32_t bit = 0; bit < bits; bit++) {
		uint32_t sw = dests[search->first + bit];

		all->word[bit / 64] |= UINT64_C(1) << bit % 64;
		if (search->graph->joined && !search->graph->leaf[sw])
			search->upper.word[bit / 64] |= UINT64_C(1) << bit % 64;
		search->front[sw].word[bit / 64] |= UINT64_C(1) << bit % 64;
		search->reached[sw].word[bit / 64] |= UINT64_C(1) << bit % 64;
		search->hops[(size_t)sw * search->n_dests + search->first + bit] = 0;
	}
}

static bool search_block(struct search *search, const uint32_t *dests)
{
	unsigned int level = 1;
	struct line all;

	search_begin(search, dests, &all);
	while (search_level(search, level, &all))
		if (level++ == ROUTE_HOPS_MAX)
			return false;
	return true;
}

/* ---- oriented ---- */

static bool pass_down(struct search *search, const struct line *all)
{
	unsigned int level = 1;

	search->way = WAY_DOWN;
	g_array_set_size(search->down, 0);
	do {
		if (level > ROUTE_UP_HOPS_MAX)
			return false;
		g_array_append_vals(search->down, search->front, search->graph->n);
	} while (search_level(search, level++, all));
	return true;
}

/* What an earlier pass reached at this level goes on from there too; false if it ended before. */
static bool join_front(struct search *search, const GArray *fronts, unsigned int level)
{
	uint32_t n = search->graph->n;

	if ((size_t)(level + 1) * n > fronts->len)
		return false;
	for (uint32_t sw = 0; sw < n; sw++)
		line_or(&search->front[sw],
			&g_array_index(fronts, struct line, (size_t)level * n + sw));
	return true;
}

static bool pass_up(struct search *search, const struct line *all)
{
	uint32_t n = search->graph->n;
	bool joined, any = true;

	search->way = WAY_UP;
	memset(search->front, 0, n * sizeof(struct line));
	for (unsigned int level = 1;; level++) {
		joined = join_front(search, search->down, level - 1);
		if (!any && !joined)
			return true;
		if (level > ROUTE_UP_HOPS_MAX)
			return false;
		any = search_level(search, ROUTE_UP | level, all);
	}
}

static bool search_oriented(struct search *search, const uint32_t *dests)
{
	struct line all;

	search_begin(search, dests, &all);
	return pass_down(search, &all) && pass_up(search, &all);
}

/* What the threads of a search share. */
struct job {
	const struct route_graph *graph;
	const uint32_t *dests;
	uint32_t n_dests;
	uint8_t *hops, *next;
	atomic_bool too_far;
};

static void search_blocks(void *arg, uint32_t first, uint32_t last)
{
	struct job *job = arg;
	struct search search = {
		.graph = job->graph,
		.n_dests = job->n_dests,
		.hops = job->hops,
		.next = job->next,
	};
	uint32_t n = job->graph->n;

	search.down = g_array_new(FALSE, FALSE, sizeof(struct line));
	search.front = g_new(struct line, n);
	search.arrive = g_new(struct line, n);
	search.reached = g_new(struct line, n);
	for (uint32_t block = first; block < last; block++) {
		search.first = block * LINE_BITS;
		if (!(search.graph->up ? search_oriented : search_block)(&search, job->dests)) {
			atomic_store(&job->too_far, true);
			break;
		}
	}
	for (unsigned int m = 0; m < G_N_ELEMENTS(search.turns); m++)
		g_free(search.turns[m]);
	g_array_unref(search.down);
	g_free(search.front);
	g_free(search.arrive);
	g_free(search.reached);
}

bool route_hops(const struct route_graph *graph, const uint32_t *dests, uint32_t n_dests,
		uint8_t *hops, uint8_t *next)
{
	struct job job = { graph, dests, n_dests, hops, next };

	if (graph->weight)
		return route_weighted_hops(graph, dests, n_dests, hops, next);
	atomic_init(&job.too_far, false);
	route_parallel(graph->threads, (n_dests + LINE_BITS - 1) / LINE_BITS, search_blocks, &job);
	return !atomic_load(&job.too_far);
}

uint8_t *route_hops_all(const struct route_graph *graph, uint8_t *next)
{
	uint32_t *dests = g_new(uint32_t, graph->n + 1);
	uint8_t *hops = g_malloc((size_t)graph->n * graph->n + 1);

	for (uint32_t sw = 0; sw < graph->n; sw++)
		dests[sw] = sw;
	if (!route_hops(graph, dests, graph->n, hops, next)) {
		g_free(hops);
		hops = NULL;
	}
	g_free(dests);
	return hops;
}
