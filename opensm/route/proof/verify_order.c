// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The proof by an order of the switches, by which tables of trees with tens of thousands of hosts
 * are verified several times as fast as by walks (verify_walk.c).
 *
 * Each edge leads up or down in the order. Let every packet go up, then down, and then to the owner
 * of its LID. In both phases places are strictly monotone, so there is no loop; and dependencies of
 * channels follow the order, so they have no cycle. The order need not be good: a bad one proves
 * nothing.
 *
 * Many LIDs are followed from all switches at once. A tile has a row for each switch and a column
 * for each LID; an element is one more than the hops to the owner, 0 while these are unknown. The
 * hops of a switch are known once those of the next switch are, so switches are visited against the
 * paths: first entries that lead down, from the bottom to the top, then those that lead up, from
 * the top to the bottom. An element that is unknown after that is not on such a path, and nothing
 * is proved.
 */
#include <stdatomic.h>
#include <string.h>

#include "route/graph/parallel.h"
#include "route/graph/watch.h"
#include "route/order/orient.h"
#include "route/proof/verify.h"

#define WIDTH 1024			  /* LIDs per tile */
#define ONES UINT64_C(0x0101010101010101) /* 1 in each octet */
#define HIGHS (ONES << 7)
#define NOBODY 0x80 /* instead of hops: the LID has no owner */

struct proof {
	struct verify *verify;
	uint32_t *place;    /* [switch]: in an order; edges to a lower place lead up */
	uint32_t *switches; /* by place */
	uint8_t *unknown;   /* [LID]: 0; NOBODY: no owner */
	_Atomic unsigned int widest;
	_Atomic bool failed;
};

/* The order that the routing claims, or by the distance from hosts if it claims none. */
static void find_order(struct proof *proof)
{
	const struct verify *verify = proof->verify;
	uint32_t n = verify->graph->n;
	g_autofree uint32_t *rank = g_new(uint32_t, n + 1);

	if (!verify->routing->order)
		route_rank_from_hosts(verify->graph, rank);
	for (uint32_t sw = 0; sw < n; sw++)
		rank[sw] = verify->routing->order ? verify->routing->order[sw]
						  : ROUTE_NO_RANK - rank[sw];
	proof->place = route_order(n, rank, NULL);
	proof->switches = g_new(uint32_t, n + 1);
	for (uint32_t sw = 0; sw < n; sw++)
		proof->switches[proof->place[sw]] = sw;
}

/* ---- tiles ---- */

struct tile {
	const struct proof *proof;
	uint32_t first, n;	  /* LIDs; whole blocks */
	uint8_t *depth;		  /* [switch * WIDTH + LID]; one more row that stays 0 */
	bool *any;		  /* [switch]: it has known elements */
	const uint8_t *rows[256]; /* by exit port: of a neighbour in view, or the zero row */
};

static uint8_t *row_of(const struct tile *tile, uint32_t sw)
{
	return tile->depth + (size_t)sw * WIDTH;
}

/* Makes the exit ports of an edge refer to a row. */
static void view(struct tile *tile, const struct route_edge *edge, uint32_t sw)
{
	const uint8_t *links = tile->proof->verify->graph->links + edge->first_link;

	for (unsigned int k = 0; k < edge->n_links; k++)
		tile->rows[links[k]] = row_of(tile, sw);
}

/* Elements known at the next switches become known. Runs of LIDs with one exit port are common. */
static void take_over(const struct tile *tile, const uint8_t *lft, uint8_t *depth)
{
	for (uint32_t i = 0; i < tile->n; i += 8) {
		uint64_t ports, next, known;

		memcpy(&ports, lft + i, sizeof(ports));
		memcpy(&known, depth + i, sizeof(known));
		if (ports == lft[i] * ONES) {
			memcpy(&next, tile->rows[lft[i]] + i, sizeof(next));
			next &= ~HIGHS;
			known |= next + ((next + ~HIGHS) >> 7 & ONES);
			memcpy(depth + i, &known, sizeof(known));
			continue;
		}
		for (uint32_t k = i; k < i + 8; k++) {
			uint8_t hops = tile->rows[lft[k]][k] & ~NOBODY;

			depth[k] |= hops + (hops != 0);
		}
	}
}

/* Follows entries that lead up, or those that lead down; others refer to unknown elements. */
static void visit(struct tile *tile, uint32_t sw, bool up)
{
	const struct verify *verify = tile->proof->verify;
	const struct route_graph *graph = verify->graph;
	const uint32_t *place = tile->proof->place;
	bool any = false;

	route_each_edge(graph, sw, edge) {
		if (!tile->any[edge->to] || (place[edge->to] < place[sw]) != up)
			continue;
		view(tile, edge, edge->to);
		any = true;
	}
	if (!any)
		return;
	take_over(tile, verify->routing->lft[sw] + tile->first, row_of(tile, sw));
	tile->any[sw] = true;
	route_each_edge(graph, sw, edge)
		view(tile, edge, graph->n);
}

static void begin(struct tile *tile)
{
	const struct proof *proof = tile->proof;
	const struct routing *routing = proof->verify->routing;

	memset(tile->any, false, routing->n_switches);
	for (uint32_t sw = 0; sw < routing->n_switches; sw++)
		memcpy(row_of(tile, sw), proof->unknown + tile->first, tile->n);
	for (uint32_t i = 0; i < tile->n; i++) {
		uint32_t lid = tile->first + i;
		const struct verify_owner *owner = &proof->verify->owners[lid];

		if (proof->unknown[lid] == NOBODY || routing->lft[owner->sw][lid] != owner->exit)
			continue;
		row_of(tile, owner->sw)[i] = 1;
		tile->any[owner->sw] = true;
	}
}

static unsigned int most_hops(const struct tile *tile)
{
	const uint8_t *last = row_of(tile, tile->proof->verify->graph->n);
	uint8_t most[64] = {0}, all = 1;

	for (const uint8_t *depth = tile->depth; depth < last; depth += sizeof(most))
		for (uint32_t i = 0; i < sizeof(most); i++)
			most[i] = MAX(most[i], depth[i] & (uint8_t)~NOBODY);
	for (uint32_t i = 0; i < sizeof(most); i++)
		all = MAX(all, most[i]);
	return all - 1u;
}

/* Whether all packets to these LIDs go up, then down, and arrive. */
static bool follow_tile(struct tile *tile)
{
	const struct proof *proof = tile->proof;
	uint32_t n = proof->verify->graph->n;

	begin(tile);
	for (uint32_t p = n; p--;)
		visit(tile, proof->switches[p], false);
	for (uint32_t p = 0; p < n; p++)
		visit(tile, proof->switches[p], true);
	for (uint32_t sw = 0; sw < n; sw++)
		if (memchr(row_of(tile, sw), 0, tile->n))
			return false;
	return true;
}

static void widen(_Atomic unsigned int *widest, unsigned int hops)
{
	unsigned int now = *widest;

	while (now < hops && !atomic_compare_exchange_weak(widest, &now, hops))
		;
}

static void follow_tiles(void *arg, uint32_t first, uint32_t last)
{
	struct proof *proof = arg;
	const struct verify *verify = proof->verify;
	struct tile *tile = g_new0(struct tile, 1);

	tile->proof = proof;
	tile->depth = g_malloc0(((size_t)verify->graph->n + 1) * WIDTH);
	tile->any = g_new(bool, verify->graph->n + 1);
	for (unsigned int num = 0; num < G_N_ELEMENTS(tile->rows); num++)
		tile->rows[num] = row_of(tile, verify->graph->n);
	for (uint32_t i = first; i < last && !proof->failed; i++) {
		tile->first = i * WIDTH;
		tile->n = MIN(verify->routing->n_blocks * 64 - tile->first, WIDTH);
		if (route_watch_step(verify->graph->watch) && follow_tile(tile))
			widen(&proof->widest, most_hops(tile));
		else
			proof->failed = true;
	}
	g_free(tile->depth);
	g_free(tile->any);
	g_free(tile);
}

/* ---- the whole ---- */

bool verify_by_order(struct verify *verify)
{
	struct proof proof = {.verify = verify};
	uint32_t n_lids = verify->routing->n_blocks * 64;

	proof.unknown = g_malloc(MAX(n_lids, verify->n_lids));
	memset(proof.unknown, NOBODY, n_lids);
	for (uint32_t lid = 0; lid < verify->n_lids; lid++) {
		if (verify->owners[lid].sw == FABRIC_NONE)
			continue;
		proof.unknown[lid] = 0;
		proof.failed |= lid > verify->routing->top;
	}
	find_order(&proof);
	route_watch_begin(verify->graph->watch, "proof by an order",
			  (n_lids + WIDTH - 1) / WIDTH);
	route_parallel(verify->graph->threads, (n_lids + WIDTH - 1) / WIDTH, follow_tiles, &proof);
	verify->verdict->max_hops = proof.widest;
	g_free(proof.place);
	g_free(proof.switches);
	g_free(proof.unknown);
	return !proof.failed;
}
