// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Second pass of the proof by an order: entries that turn from down to up, and what comes of them.
 */
#include <string.h>

#include "route/parallel.h"
#include "route/verify_proof.h"

/* ---- turns ---- */

/* One switch, and for each exit port the row that says which LIDs the next switch sends up. */
struct turner {
	const struct verify_proof *proof;
	uint32_t sw;
	const uint8_t *lft;
	const uint64_t *up[256];
	uint64_t *wrong; /* LIDs that turn anywhere */
	uint64_t turns;
	struct verify_turn *list; /* the first of them */
	uint64_t n_listed, room;
};

static void view_switch(struct turner *turner, uint32_t sw)
{
	const struct verify_proof *proof = turner->proof;
	const struct verify *verify = proof->verify;
	uint32_t first = verify->first[sw];

	turner->sw = sw;
	turner->lft = verify->routing->lft[sw];
	for (unsigned int num = 0; num < 256; num++)
		turner->up[num] = proof->none;
	for (uint32_t c = first; c < verify->first[sw + 1]; c++) {
		uint32_t to = verify->to[c];

		if (to == sw) /* a plug: no way is worse */
			turner->up[c - first] = proof->all;
		else if (to != FABRIC_NONE && !verify_leads_up(proof->order, sw, to))
			turner->up[c - first] = proof->up + (size_t)to * proof->n_words;
	}
}

static void list_turn(struct turner *turner, uint16_t lid)
{
	if (turner->n_listed == turner->room) {
		turner->room = MAX(64, 2 * turner->room);
		turner->list = g_renew(struct verify_turn, turner->list, turner->room);
	}
	turner->list[turner->n_listed++] = (struct verify_turn){ turner->sw, lid };
}

static void note_turns(struct turner *turner, uint32_t word, uint64_t lids)
{
	struct verify *verify = turner->proof->verify;

	for (; lids; lids &= lids - 1) {
		uint16_t lid = word * 64 + __builtin_ctzll(lids);
		uint8_t port = turner->lft[lid];
		uint32_t to = verify_across(verify, turner->sw, port);
		uint8_t out = verify->routing->lft[to][lid];

		dependency_add(verify->dependency, turner->sw, port, out);
		if (turner->turns++ < turner->proof->turns_listed)
			list_turn(turner, lid);
		if (verify_across(verify, to, out) == turner->sw)
			turner->turns = turner->proof->turns_max + 1; /* to and fro: give up */
	}
}

/* Of 64 LIDs, those that lead down and are then led up. Runs with one exit port are common. */
static uint64_t turns_among(const struct turner *turner, uint32_t word, uint64_t lids)
{
	const uint8_t *lft = turner->lft + word * 64;
	uint64_t turns = 0;

	for (unsigned int i = 0; i < 64; i += 8) {
		uint64_t mask = lids & UINT64_C(0xFF) << i, ports;

		if (!mask)
			continue;
		memcpy(&ports, lft + i, sizeof(ports));
		if (ports == lft[i] * UINT64_C(0x0101010101010101)) {
			turns |= turner->up[lft[i]][word] & mask;
			continue;
		}
		for (; mask; mask &= mask - 1) {
			unsigned int k = __builtin_ctzll(mask);

			turns |= turner->up[lft[k]][word] & UINT64_C(1) << k;
		}
	}
	return turns;
}

static void find_turns(void *arg, uint32_t first, uint32_t last)
{
	struct verify_proof *proof = arg;
	struct turner *turner = g_new0(struct turner, 1);

	turner->proof = proof;
	turner->wrong = g_new0(uint64_t, proof->n_words);
	for (uint32_t sw = first; sw < last && turner->turns <= proof->turns_max; sw++) {
		const uint64_t *up = proof->up + (size_t)sw * proof->n_words;

		view_switch(turner, sw);
		for (uint32_t w = 0; w < proof->n_words; w++) {
			uint64_t known = turner->wrong[w] & ~proof->hosts[w];
			uint64_t lids = proof->lids[w] & ~up[w] & ~known;
			uint64_t turns = lids ? turns_among(turner, w, lids) : 0;

			turner->wrong[w] |= turns;
			if (turns & proof->hosts[w])
				note_turns(turner, w, turns & proof->hosts[w]);
		}
	}
	pthread_mutex_lock(&proof->lock);
	for (uint32_t w = 0; w < proof->n_words; w++)
		proof->turning[w] |= turner->wrong[w];
	proof->n_turns += turner->turns;
	g_array_append_vals(proof->turns, turner->list, turner->n_listed);
	pthread_mutex_unlock(&proof->lock);
	g_free(turner->list);
	g_free(turner->wrong);
	g_free(turner);
}

void verify_find_turns(struct verify_proof *proof)
{
	route_parallel(proof->verify->graph->threads, proof->verify->graph->n, find_turns, proof);
}

/* ---- the longest path ---- */

/* Edges up that can follow each other, but none from switches in which this ends. */
static uint32_t longest_chain(const struct verify_proof *proof, const bool *ends)
{
	const struct route_graph *graph = proof->verify->graph;
	uint32_t *chain = g_new0(uint32_t, graph->n + 1), longest = 0;

	for (uint32_t p = 0; p < graph->n; p++) {
		uint32_t sw = proof->order->switches[p];

		for (uint32_t e = graph->first_edge[sw];
		     e < graph->first_edge[sw + 1] && !(ends && ends[sw]); e++)
			if (verify_leads_up(proof->order, sw, graph->edges[e].to))
				chain[sw] = MAX(chain[sw], chain[graph->edges[e].to] + 1);
		longest = MAX(longest, chain[sw]);
	}
	g_free(chain);
	return longest;
}

unsigned int verify_most_hops(const struct verify_proof *proof)
{
	return 2 * longest_chain(proof, NULL);
}

/* The one neighbour above, or FABRIC_NONE if there are more, or none. */
static uint32_t only_above(const struct verify_proof *proof, uint32_t sw)
{
	const struct route_graph *graph = proof->verify->graph;
	uint32_t above = FABRIC_NONE;

	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
		if (!verify_leads_up(proof->order, sw, graph->edges[e].to))
			continue;
		if (above != FABRIC_NONE)
			return FABRIC_NONE;
		above = graph->edges[e].to;
	}
	return above;
}

/* Whether nobody is above a switch, and nobody else above its neighbours. */
static bool is_sole_top(const struct verify_proof *proof, const uint32_t *above, uint32_t sw)
{
	const struct route_graph *graph = proof->verify->graph;

	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
		if (above[graph->edges[e].to] != sw)
			return false;
	return true;
}

/* Adds what a switch sends up to the top, if it is not for hosts there. */
static void add_over(const struct verify_proof *proof, uint32_t sw, uint32_t top, uint64_t *over)
{
	const struct route_graph *graph = proof->verify->graph;
	const uint64_t *up = proof->up + (size_t)sw * proof->n_words;
	uint64_t *there = g_new0(uint64_t, proof->n_words);

	for (uint32_t t = graph->first_target[top]; t < graph->first_target[top + 1]; t++)
		if (graph->targets[t].lid <= proof->verify->routing->top)
			there[graph->targets[t].lid / 64] |= UINT64_C(1)
							     << graph->targets[t].lid % 64;
	for (uint32_t w = 0; w < proof->n_words; w++)
		over[w] |= up[w] & proof->hosts[w] & ~there[w];
	g_free(there);
}

unsigned int verify_most_hops_but(const struct verify_proof *proof, uint64_t *over)
{
	uint32_t n = proof->verify->graph->n, hops, *above = g_new(uint32_t, n + 1);
	bool *ends = g_new0(bool, n + 1);

	for (uint32_t sw = 0; sw < n; sw++)
		above[sw] = only_above(proof, sw);
	for (uint32_t sw = 0; sw < n; sw++) {
		if (above[sw] == FABRIC_NONE || !is_sole_top(proof, above, above[sw]))
			continue;
		ends[sw] = true;
		add_over(proof, sw, above[sw], over);
	}
	hops = MAX(longest_chain(proof, NULL), 2 * longest_chain(proof, ends));
	g_free(above);
	g_free(ends);
	return hops;
}

/* ---- walks: how far it is by way of turns ---- */

struct upstream {
	uint32_t sw, hops;
};

struct turn_walk {
	struct verify_proof *proof;
	uint32_t *prefix; /* [switch]: no way up and then down that leads there is longer */
	struct upstream *stack; /* no longer than there are switches */
};

/* Hops to the owner; 0 if it is not met. */
static uint32_t walk_turn(const struct verify_proof *proof, struct verify_turn turn)
{
	const struct verify *verify = proof->verify;
	const struct route_target *target = &verify->graph->targets[proof->target[turn.lid]];
	uint32_t sw = turn.sw;

	for (uint32_t hops = 0; hops <= verify->graph->n; hops++) {
		uint8_t port = verify->routing->lft[sw][turn.lid];

		if (sw == target->leaf && port == target->exit)
			return hops;
		sw = verify_across(verify, sw, port);
		if (sw == FABRIC_NONE)
			return 0;
	}
	return 0;
}

/* The most hops that packets to the LID of a turn have gone when they come there. */
static uint32_t hops_before(struct turn_walk *walk, struct verify_turn turn)
{
	const struct verify *verify = walk->proof->verify;
	const struct route_graph *graph = verify->graph;
	uint32_t most = 0, n = 0;

	walk->stack[n++] = (struct upstream){ turn.sw, 0 };
	while (n) {
		struct upstream at = walk->stack[--n];

		most = MAX(most, at.hops);
		for (uint32_t e = graph->first_edge[at.sw]; e < graph->first_edge[at.sw + 1]; e++) {
			uint32_t from = graph->edges[e].to;
			uint8_t port = verify->routing->lft[from][turn.lid];

			if (verify_across(verify, from, port) == at.sw)
				walk->stack[n++] = (struct upstream){ from, at.hops + 1 };
		}
	}
	return most;
}

/* Who comes to a turn is looked for only where that might make the longest path. */
static void walk_turns(void *arg, uint32_t first, uint32_t last)
{
	const struct turn_walk *all = arg;
	struct turn_walk walk = *all;
	struct verify_proof *proof = walk.proof;

	walk.stack = g_new(struct upstream, proof->verify->graph->n + 1);
	for (uint32_t i = first; i < last; i++) {
		struct verify_turn turn = g_array_index(proof->turns, struct verify_turn, i);
		uint32_t hops = walk_turn(proof, turn);

		if (!hops)
			verify_suspect(proof->verify, turn.lid);
		else if (hops + walk.prefix[turn.sw] > atomic_load(&proof->widest))
			verify_widen(&proof->widest, hops + hops_before(&walk, turn));
	}
	g_free(walk.stack);
}

/* How far packets may have gone when they come to each switch; twice by places, up and down. */
static uint32_t *find_prefixes(const struct verify_proof *proof)
{
	const struct route_graph *graph = proof->verify->graph;
	uint32_t *prefix = g_new0(uint32_t, graph->n + 1);

	for (uint32_t p = graph->n; p--;) {
		uint32_t sw = proof->order->switches[p];

		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			uint32_t to = graph->edges[e].to;

			if (verify_leads_up(proof->order, sw, to))
				prefix[to] = MAX(prefix[to], prefix[sw] + 1);
		}
	}
	for (uint32_t p = 0; p < graph->n; p++) {
		uint32_t sw = proof->order->switches[p];

		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			uint32_t to = graph->edges[e].to;

			if (!verify_leads_up(proof->order, sw, to))
				prefix[to] = MAX(prefix[to], prefix[sw] + 1);
		}
	}
	return prefix;
}

void verify_walk_turns(struct verify_proof *proof)
{
	struct turn_walk all = { .proof = proof };

	all.prefix = find_prefixes(proof);
	route_parallel(proof->verify->graph->threads, proof->turns->len, walk_turns, &all);
	g_free(all.prefix);
}
