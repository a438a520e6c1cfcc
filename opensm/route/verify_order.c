// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The proof by an order of the switches, which looks at each entry once, in the order of memory.
 *
 * Each edge leads up or down in the order. Let every entry for a LID lead up, lead down or hand it
 * to its owner, and no entry that leads down hand it to a switch whose entry leads up. Then packets
 * go up and then down. Either way places are strictly monotone, so a path comes to an end, which
 * can only be the owner; and dependencies of channels follow the order, so they have no cycle.
 * That the order is any good is not assumed: a bad one finds exceptions everywhere.
 *
 * Entries that turn from down to up are the exceptions. Few of them, as in trees that lost cables,
 * are noted as dependencies; if there is no cycle with them and whatever the order allows, there
 * is none in truth (verify_cycle.c). Paths go on from each (verify_turns.c): a loop has a turn.
 * LIDs with entries that lead nowhere are followed from all switches at once (verify_columns.c). So
 * are those of switches that turn, as those of spines do in trees: that counts only on paths from
 * hosts.
 *
 * What the first pass keeps is one bit an entry: it leads up.
 */
#include <stdlib.h>
#include <string.h>

#include "route/orient.h"
#include "route/verify_proof.h"

#define ENTRIES_A_TURN 8  /* more turns than one in so many entries are no exceptions */
#define ENTRIES_A_WALK 64 /* more are not walked one by one */

/* ---- orders ---- */

struct standing {
	uint32_t place, sw;
};

static int compare_standings(const void *a, const void *b)
{
	const struct standing *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/* Any numbers will do: of equal ones the lower index is up. */
static void order_by(struct verify_order *order, const uint32_t *places, uint32_t n)
{
	struct standing *standings = g_new(struct standing, n + 1);

	for (uint32_t sw = 0; sw < n; sw++)
		standings[sw] = (struct standing){ places[sw], sw };
	qsort(standings, n, sizeof(*standings), compare_standings);
	for (uint32_t i = 0; i < n; i++) {
		order->switches[i] = standings[i].sw;
		order->place[standings[i].sw] = i;
	}
	g_free(standings);
}

static void order_from_hosts(struct verify_order *order, const struct route_graph *graph)
{
	uint32_t *rank = g_new(uint32_t, graph->n + 1);

	route_rank_from_hosts(graph, rank);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		rank[sw] = ROUTE_NO_RANK - rank[sw];
	order_by(order, rank, graph->n);
	g_free(rank);
}

void verify_order_init(struct verify_order *order, const struct verify *verify)
{
	uint32_t n = verify->graph->n;

	order->place = g_new(uint32_t, n + 1);
	order->switches = g_new(uint32_t, n + 1);
	if (verify->routing->order)
		order_by(order, verify->routing->order, n);
	else
		order_from_hosts(order, verify->graph);
}

void verify_order_clear(struct verify_order *order)
{
	g_free(order->place);
	g_free(order->switches);
}

/* ---- LIDs that need to be followed ---- */

struct columns {
	GArray *hosts, *own, *shown; /* suspects of hosts, of switches, and those that are not */
};

static void sort_column(const struct verify_proof *proof, struct columns *columns,
			struct verify_column column, bool host)
{
	GArray *to = columns->shown;

	if (column.lid > proof->verify->routing->top)
		return;
	if (verify_is_suspect(proof->verify, column.lid))
		to = host ? columns->hosts : columns->own;
	g_array_append_val(to, column);
}

static void sort_columns(const struct verify_proof *proof, struct columns *columns)
{
	const struct verify *verify = proof->verify;
	const struct route_target *targets = verify->graph->targets;

	columns->hosts = g_array_new(FALSE, FALSE, sizeof(struct verify_column));
	columns->own = g_array_new(FALSE, FALSE, sizeof(struct verify_column));
	columns->shown = g_array_new(FALSE, FALSE, sizeof(struct verify_column));
	for (uint32_t t = 0; t < route_n_targets(verify->graph); t++)
		sort_column(proof, columns,
			    (struct verify_column){ targets[t].leaf, targets[t].lid,
						    targets[t].exit },
			    true);
	for (uint32_t i = 0; i < verify->n_own; i++)
		sort_column(proof, columns, verify->own[i], false);
}

static void columns_clear(struct columns *columns)
{
	g_array_unref(columns->hosts);
	g_array_unref(columns->own);
	g_array_unref(columns->shown);
}

static void follow_columns(struct verify_proof *proof, const GArray *columns,
			   _Atomic uint64_t *follow)
{
	verify_columns(proof->verify, proof->order, (const struct verify_column *)columns->data,
		       columns->len, follow, &proof->widest);
}

/* LIDs of switches; false if hosts send none of them down and then up. */
static bool follow_own(struct verify_proof *proof, const GArray *own)
{
	struct verify *verify = proof->verify;
	uint32_t n = verify->graph->n;
	_Atomic uint64_t *follow = g_new0(_Atomic uint64_t, VERIFY_LID_WORDS);
	uint8_t *column = g_malloc(n + 1), *state = g_malloc(n + 1);
	bool any = false;

	follow_columns(proof, own, follow);
	for (uint32_t i = 0; i < own->len; i++) {
		uint16_t lid = g_array_index(own, struct verify_column, i).lid;

		if (!(follow[lid / 64] >> lid % 64 & 1))
			continue;
		any = true;
		for (uint32_t sw = 0; sw < n; sw++)
			column[sw] = verify->routing->lft[sw][lid];
		verify_follow(verify, column, state);
	}
	g_free(follow);
	g_free(column);
	g_free(state);
	return any;
}

/* ---- the whole ---- */

static void add_lid(struct verify_proof *proof, uint16_t lid)
{
	proof->lids[lid / 64] |= UINT64_C(1) << lid % 64;
	proof->octets[lid] = 0xFF;
}

static void list_lids(struct verify_proof *proof)
{
	const struct verify *verify = proof->verify;
	uint32_t sw = 0;

	for (uint32_t t = 0; t < route_n_targets(verify->graph); t++) {
		uint16_t lid = verify->graph->targets[t].lid;

		if (lid > verify->routing->top)
			continue;
		add_lid(proof, lid);
		proof->hosts[lid / 64] |= UINT64_C(1) << lid % 64;
		proof->target[lid] = t;
	}
	for (uint32_t i = 0; i < verify->n_own; i++) {
		add_lid(proof, verify->own[i].lid);
		while (sw <= verify->own[i].sw)
			proof->first_own[sw++] = i;
	}
	while (sw <= verify->graph->n)
		proof->first_own[sw++] = verify->n_own;
}

/* LIDs of switches that turn; those of hosts if there are too many turns to walk from each. */
static void suspect_turning(struct verify_proof *proof)
{
	bool many = proof->n_turns > proof->turns_listed;

	for (uint32_t w = 0; w < proof->n_words; w++)
		atomic_fetch_or(&proof->verify->suspects[w],
				proof->turning[w] & (many ? UINT64_MAX : ~proof->hosts[w]));
	if (many)
		g_array_set_size(proof->turns, 0);
}

/*
 * In a tree with an inverted root: LIDs of switches, and of hosts that are reached over its top.
 * False if others might go farther, or these are not few.
 */
static bool measure_few(struct verify_proof *proof, const GArray *shown)
{
	GArray *few = g_array_new(FALSE, FALSE, sizeof(struct verify_column));
	uint64_t *over = g_new0(uint64_t, proof->n_words);
	unsigned int rest = verify_most_hops_but(proof, over);
	bool done;

	for (uint32_t i = 0; i < shown->len; i++) {
		struct verify_column column = g_array_index(shown, struct verify_column, i);
		uint32_t w = column.lid / 64;

		if ((~proof->hosts[w] | over[w]) >> column.lid % 64 & 1)
			g_array_append_val(few, column);
	}
	done = few->len <= shown->len / 2;
	if (done)
		follow_columns(proof, few, NULL);
	g_array_unref(few);
	g_free(over);
	return done && proof->widest >= rest;
}

/*
 * What is shown by each entry for itself is followed only if it might go farther than the rest; as
 * few of it as will do.
 */
static void measure(struct verify_proof *proof, const GArray *shown)
{
	if (proof->widest < verify_most_hops(proof) && !measure_few(proof, shown))
		follow_columns(proof, shown, NULL);
	else
		verify_walk_turns(proof);
	proof->verify->verdict->max_hops = proof->widest;
}

static bool follow_own_and_settle(struct verify_proof *proof, const GArray *own)
{
	bool more = follow_own(proof, own);

	if (!more && (!proof->n_turns || proof->settled))
		return true;
	return verify_settle_cycle(proof);
}

static bool follow(struct verify_proof *proof, struct columns *columns)
{
	struct verify *verify = proof->verify;

	for (uint32_t w = 0; w < proof->n_words; w++)
		atomic_store(&verify->suspects[w], 0);
	follow_columns(proof, columns->hosts, NULL);
	if (verify->cycle)
		follow_columns(proof, columns->own, NULL);
	else if (!follow_own_and_settle(proof, columns->own))
		return false;
	measure(proof, columns->shown);
	return true;
}

/* Where credit loops are to be expected they are looked for before anything else. */
static bool prove(struct verify_proof *proof)
{
	struct columns columns;
	bool proved;

	verify_class_entries(proof);
	verify_find_turns(proof);
	if (proof->n_turns > proof->turns_max)
		return false;
	proof->settled = proof->n_turns &&
			 !(proof->verify->routing->promises & ROUTE_DEADLOCK_FREE);
	if (proof->settled && !verify_settle_cycle(proof))
		return false;
	suspect_turning(proof);
	sort_columns(proof, &columns);
	proved = follow(proof, &columns);
	columns_clear(&columns);
	return proved;
}

static void proof_init(struct verify_proof *proof, struct verify *verify,
		       const struct verify_order *order)
{
	uint32_t n = verify->graph->n, n_words = verify->routing->n_blocks;
	uint64_t entries = (uint64_t)n * route_n_targets(verify->graph);

	*proof = (struct verify_proof){ .verify = verify, .order = order, .n_words = n_words };
	proof->turns_max = entries / ENTRIES_A_TURN;
	proof->turns_listed = entries / ENTRIES_A_WALK;
	proof->target = g_new(uint32_t, n_words * 64);
	proof->first_own = g_new(uint32_t, n + 1);
	proof->hosts = g_new0(uint64_t, n_words);
	proof->lids = g_new0(uint64_t, n_words);
	proof->octets = g_malloc0(n_words * 64);
	proof->up = g_new(uint64_t, (size_t)n * n_words + 1);
	proof->none = g_new0(uint64_t, n_words);
	proof->all = g_new(uint64_t, n_words);
	memset(proof->all, 0xFF, n_words * sizeof(uint64_t));
	proof->turning = g_new0(uint64_t, n_words);
	proof->turns = g_array_new(FALSE, FALSE, sizeof(struct verify_turn));
	pthread_mutex_init(&proof->lock, NULL);
	list_lids(proof);
}

static void proof_clear(struct verify_proof *proof)
{
	g_free(proof->target);
	g_free(proof->first_own);
	g_free(proof->hosts);
	g_free(proof->lids);
	g_free(proof->octets);
	g_free(proof->up);
	g_free(proof->none);
	g_free(proof->all);
	g_free(proof->turning);
	g_array_unref(proof->turns);
	pthread_mutex_destroy(&proof->lock);
}

bool verify_by_order(struct verify *verify, const struct verify_order *order)
{
	struct verify_proof proof;
	bool proved;

	proof_init(&proof, verify, order);
	proved = prove(&proof);
	proof_clear(&proof);
	return proved;
}
