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
 * is none in truth. Their LIDs, and those with entries that lead nowhere, are followed from all
 * switches at once (verify_columns.c). So are many of switches, as those of spines are in trees:
 * their exceptions count only on paths from hosts.
 *
 * What the first pass keeps is one bit an entry: it leads up.
 */
#include <stdlib.h>
#include <string.h>

#include "route/orient.h"
#include "route/parallel.h"
#include "route/verify.h"

#define ENTRIES_A_TURN 8 /* more turns than one in so many entries are no exceptions */

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
	uint32_t *leaves = g_new(uint32_t, graph->n + 1), n = 0;
	uint32_t *rank = g_new(uint32_t, graph->n + 1);

	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (route_has_hosts(graph, sw))
			leaves[n++] = sw;
	route_rank(graph, leaves, n, rank);
	for (uint32_t sw = 0; sw < graph->n; sw++)
		rank[sw] = ROUTE_NO_RANK - rank[sw];
	order_by(order, rank, graph->n);
	g_free(leaves);
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

static bool leads_up(const struct verify_order *order, uint32_t from, uint32_t to)
{
	return order->place[to] < order->place[from];
}

/* ---- all entries of all switches ---- */

struct proof {
	struct verify *verify;
	const struct verify_order *order;
	uint32_t n_words;   /* of a bit per LID of the tables */
	uint32_t *first_own; /* [switch]: of its LIDs in own; one more */
	uint64_t *hosts;    /* LIDs of hosts */
	uint64_t *lids;	    /* these and LIDs of switches */
	uint8_t *octets;    /* [LID]: the same as 0xFF or 0 */
	uint64_t *up;	    /* [switch * n_words + word]: their entries there lead up */
	uint64_t *none, *all; /* such rows */
	uint64_t turns_max;
	_Atomic uint64_t turns;
	_Atomic unsigned int widest; /* hops of what was followed */
};

#define CLASS_UP 0x0001
#define CLASS_OTHER 0x0100 /* neither up nor down */
/* Exit ports that follow each other: those for which (int8_t)(port - bias) < limit. */
struct port_run {
	uint8_t bias;
	int8_t limit;
	uint8_t up; /* 1 or 0 */
};

/* What the exit ports of one switch are, twice: by port, and as runs of one class. */
struct classes {
	uint16_t of[256];
	struct port_run runs[2];
	bool as_runs; /* these are all; the second may be the first again */
};

static void list_runs(struct classes *classes)
{
	unsigned int n = 0, first = 0;

	for (unsigned int num = 1; num <= 256; num++) {
		if (num < 256 && classes->of[num] == classes->of[first])
			continue;
		if (classes->of[first] != CLASS_OTHER) {
			if (n < 2)
				classes->runs[n] = (struct port_run){
					first + 128, num - first - 128,
					classes->of[first] == CLASS_UP };
			n++;
		}
		first = num;
	}
	if (n == 1)
		classes->runs[1] = classes->runs[0];
	classes->as_runs = n == 1 || n == 2;
}

static void class_ports(const struct proof *proof, uint32_t sw, struct classes *classes)
{
	const struct route_graph *graph = proof->verify->graph;

	for (unsigned int num = 0; num < 256; num++)
		classes->of[num] = CLASS_OTHER;
	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
		const struct route_edge *edge = &graph->edges[e];
		uint16_t way = leads_up(proof->order, sw, edge->to) ? CLASS_UP : 0;

		for (unsigned int k = 0; k < edge->n_links; k++)
			classes->of[graph->links[edge->first_link + k]] = way;
	}
	list_runs(classes);
}

/* Classes of 64 entries as bits, looked up one by one. */
static void class_each(const uint8_t *lft, const uint16_t of[256], uint64_t *up, uint64_t *other)
{
	uint64_t ups = 0, others = 0;

	for (unsigned int i = 0; i < 64; i += 8) {
		unsigned int bits = of[lft[i]] | of[lft[i + 1]] << 1 | of[lft[i + 2]] << 2 |
				    of[lft[i + 3]] << 3 | of[lft[i + 4]] << 4 |
				    of[lft[i + 5]] << 5 | of[lft[i + 6]] << 6 | of[lft[i + 7]] << 7;

		ups |= (uint64_t)(bits & 0xFF) << i;
		others |= (uint64_t)(bits >> 8) << i;
	}
	*up = ups;
	*other = others;
}

/* Octets that are 0 or 1 as bits. */
static uint64_t pack(const uint8_t octets[64])
{
	uint64_t bits = 0;

#pragma GCC unroll 8
	for (unsigned int i = 0; i < 64; i += 8) {
		uint64_t eight;

		memcpy(&eight, octets + i, sizeof(eight));
		eight = GUINT64_FROM_LE(eight);
		bits |= eight * UINT64_C(0x0102040810204080) >> 56 << i;
	}
	return bits;
}

static bool any_of(const uint8_t octets[64])
{
	uint64_t any = 0;

#pragma GCC unroll 8
	for (unsigned int i = 0; i < 64; i += 8) {
		uint64_t eight;

		memcpy(&eight, octets + i, sizeof(eight));
		any |= eight;
	}
	return any;
}

/*
 * The same by runs, in a loop that compilers know to do on vectors; false if some LID that counts,
 * of which there is 0xFF in octets, leads neither up nor down.
 */
static bool class_runs(const uint8_t *lft, const struct classes *classes, const uint8_t *octets,
		       uint64_t *up)
{
	const struct port_run one = classes->runs[0], two = classes->runs[1];
	uint8_t ups[64], others[64];

	for (unsigned int i = 0; i < 64; i++) {
		uint8_t in_one = -((int8_t)(lft[i] - one.bias) < one.limit);
		uint8_t in_two = -((int8_t)(lft[i] - two.bias) < two.limit);

		ups[i] = (in_one & one.up) | (in_two & two.up);
		others[i] = octets[i] & ~(in_one | in_two);
	}
	*up = pack(ups);
	return !any_of(others);
}

/* The innermost loop: all entries of a switch. */
static void class_entries(const struct proof *proof, const uint8_t *lft,
			  const struct classes *classes, uint64_t *restrict up,
			  uint64_t *restrict other)
{
	for (uint32_t w = 0; w < proof->n_words; w++) {
		const uint8_t *entries = lft + w * 64;

		other[w] = 0;
		if (classes->as_runs &&
		    class_runs(entries, classes, proof->octets + w * 64, &up[w]))
			continue;
		class_each(entries, classes->of, &up[w], &other[w]);
	}
}

/* At their leaf or switch LIDs may be handed to their owners. */
static void allow_exits(const struct proof *proof, uint32_t sw, uint64_t *other)
{
	const struct route_graph *graph = proof->verify->graph;
	const struct routing *routing = proof->verify->routing;

	for (uint32_t t = graph->first_target[sw]; t < graph->first_target[sw + 1]; t++) {
		uint16_t lid = graph->targets[t].lid;

		if (lid <= routing->top && routing->lft[sw][lid] == graph->targets[t].exit)
			other[lid / 64] &= ~(UINT64_C(1) << lid % 64);
	}
	for (uint32_t i = proof->first_own[sw]; i < proof->first_own[sw + 1]; i++) {
		uint16_t lid = proof->verify->own[i].lid;

		if (routing->lft[sw][lid] == 0)
			other[lid / 64] &= ~(UINT64_C(1) << lid % 64);
	}
}

static void suspect_words(const struct proof *proof, const uint64_t *words)
{
	for (uint32_t w = 0; w < proof->n_words; w++)
		if (words[w])
			atomic_fetch_or(&proof->verify->suspects[w], words[w]);
}

static void class_switches(void *arg, uint32_t first, uint32_t last)
{
	struct proof *proof = arg;
	uint64_t *other = g_new(uint64_t, proof->n_words);
	uint64_t *wrong = g_new0(uint64_t, proof->n_words);
	struct classes classes;

	for (uint32_t sw = first; sw < last; sw++) {
		class_ports(proof, sw, &classes);
		class_entries(proof, proof->verify->routing->lft[sw], &classes,
			      proof->up + (size_t)sw * proof->n_words, other);
		allow_exits(proof, sw, other);
		for (uint32_t w = 0; w < proof->n_words; w++)
			wrong[w] |= other[w] & proof->lids[w];
	}
	suspect_words(proof, wrong);
	g_free(other);
	g_free(wrong);
}

/* ---- turns ---- */

/* One switch, and for each exit port the row that says which LIDs the next switch sends up. */
struct turner {
	const struct proof *proof;
	uint32_t sw;
	const uint8_t *lft;
	const uint64_t *up[256];
	uint64_t *wrong; /* LIDs that turn anywhere */
	uint64_t turns;
};

static void view_switch(struct turner *turner, uint32_t sw)
{
	const struct proof *proof = turner->proof;
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
		else if (to != FABRIC_NONE && !leads_up(proof->order, sw, to))
			turner->up[c - first] = proof->up + (size_t)to * proof->n_words;
	}
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
		turner->turns++;
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
	struct proof *proof = arg;
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
	suspect_words(proof, turner->wrong);
	atomic_fetch_add(&proof->turns, turner->turns);
	g_free(turner->wrong);
	g_free(turner);
}

/* ---- LIDs that need to be followed ---- */

struct columns {
	GArray *hosts, *own, *shown; /* suspects of hosts, of switches, and those that are not */
};

static void sort_column(const struct proof *proof, struct columns *columns,
			struct verify_column column, bool host)
{
	GArray *to = columns->shown;

	if (column.lid > proof->verify->routing->top)
		return;
	if (verify_is_suspect(proof->verify, column.lid))
		to = host ? columns->hosts : columns->own;
	g_array_append_val(to, column);
}

static void sort_columns(const struct proof *proof, struct columns *columns)
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

static void follow_columns(struct proof *proof, const GArray *columns, _Atomic uint64_t *follow)
{
	verify_columns(proof->verify, proof->order, (const struct verify_column *)columns->data,
		       columns->len, follow, &proof->widest);
}

/* LIDs of switches; false if hosts send none of them down and then up. */
static bool follow_own(struct proof *proof, const GArray *own)
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

/* ---- dependencies ---- */

static void add_edge(const struct route_graph *graph, const struct route_edge *edge,
		     struct dependency_ports *ports)
{
	for (unsigned int k = 0; k < edge->n_links; k++) {
		uint8_t num = graph->links[edge->first_link + k];

		ports->word[num / 64] |= UINT64_C(1) << num % 64;
	}
}

/* All that go up and then down may do, except that they never turn back where they came from. */
static void allow_edge(const struct proof *proof, uint32_t sw, const struct route_edge *edge)
{
	const struct route_graph *graph = proof->verify->graph;
	bool up = leads_up(proof->order, sw, edge->to);
	struct dependency_ports outs = { { 0 } };

	for (uint32_t e = graph->first_edge[edge->to]; e < graph->first_edge[edge->to + 1]; e++) {
		uint32_t to = graph->edges[e].to;

		if (to != sw && (up || !leads_up(proof->order, edge->to, to)))
			add_edge(graph, &graph->edges[e], &outs);
	}
	for (unsigned int k = 0; k < edge->n_links; k++)
		dependency_add_set(proof->verify->dependency, sw,
				   graph->links[edge->first_link + k], &outs);
}

/* Whether the turns noted close no cycle. */
static bool turns_are_harmless(const struct proof *proof)
{
	const struct route_graph *graph = proof->verify->graph;
	GArray *cycle;

	for (uint32_t sw = 0; sw < graph->n; sw++)
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
			allow_edge(proof, sw, &graph->edges[e]);
	cycle = dependency_cycle(proof->verify->dependency);
	if (cycle)
		g_array_unref(cycle);
	return !cycle;
}

/* ---- the longest path ---- */

/* Edges up that can follow each other, and then as many down. */
static unsigned int most_hops(const struct proof *proof)
{
	const struct route_graph *graph = proof->verify->graph;
	uint32_t *chain = g_new0(uint32_t, graph->n + 1), longest = 0;

	for (uint32_t p = 0; p < graph->n; p++) {
		uint32_t sw = proof->order->switches[p];

		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++)
			if (leads_up(proof->order, sw, graph->edges[e].to))
				chain[sw] = MAX(chain[sw], chain[graph->edges[e].to] + 1);
		longest = MAX(longest, chain[sw]);
	}
	g_free(chain);
	return 2 * longest;
}

/* ---- the whole ---- */

static void add_lid(struct proof *proof, uint16_t lid, bool host)
{
	if (lid > proof->verify->routing->top)
		return;
	proof->lids[lid / 64] |= UINT64_C(1) << lid % 64;
	if (host)
		proof->hosts[lid / 64] |= UINT64_C(1) << lid % 64;
	proof->octets[lid] = 0xFF;
}

static void list_lids(struct proof *proof)
{
	const struct verify *verify = proof->verify;
	uint32_t sw = 0;

	for (uint32_t t = 0; t < route_n_targets(verify->graph); t++)
		add_lid(proof, verify->graph->targets[t].lid, true);
	for (uint32_t i = 0; i < verify->n_own; i++) {
		add_lid(proof, verify->own[i].lid, false);
		while (sw <= verify->own[i].sw)
			proof->first_own[sw++] = i;
	}
	while (sw <= verify->graph->n)
		proof->first_own[sw++] = verify->n_own;
}

/* What is shown by each entry for itself is followed only if it might go farther than the rest. */
static bool follow(struct proof *proof, struct columns *columns)
{
	struct verify *verify = proof->verify;

	for (uint32_t w = 0; w < proof->n_words; w++)
		atomic_store(&verify->suspects[w], 0);
	follow_columns(proof, columns->hosts, NULL);
	if (follow_own(proof, columns->own) && !turns_are_harmless(proof))
		return false;
	if (proof->widest < most_hops(proof))
		follow_columns(proof, columns->shown, NULL);
	verify->verdict->max_hops = proof->widest;
	verify->verdict->acyclic = true;
	return true;
}

static bool prove(struct proof *proof)
{
	const struct route_graph *graph = proof->verify->graph;
	struct columns columns;
	bool proved;

	route_parallel(graph->threads, graph->n, class_switches, proof);
	route_parallel(graph->threads, graph->n, find_turns, proof);
	if (proof->turns > proof->turns_max || (proof->turns && !turns_are_harmless(proof)))
		return false;
	sort_columns(proof, &columns);
	proved = follow(proof, &columns);
	columns_clear(&columns);
	return proved;
}

bool verify_by_order(struct verify *verify, const struct verify_order *order)
{
	struct proof proof = { .verify = verify, .order = order };
	uint32_t n = verify->graph->n;
	bool proved;

	proof.n_words = verify->routing->n_blocks;
	proof.first_own = g_new(uint32_t, n + 1);
	proof.hosts = g_new0(uint64_t, proof.n_words);
	proof.lids = g_new0(uint64_t, proof.n_words);
	proof.octets = g_malloc0(proof.n_words * 64);
	proof.none = g_new0(uint64_t, proof.n_words);
	proof.all = g_new(uint64_t, proof.n_words);
	memset(proof.all, 0xFF, proof.n_words * sizeof(uint64_t));
	proof.up = g_new(uint64_t, (size_t)n * proof.n_words + 1);
	list_lids(&proof);
	proof.turns_max = (uint64_t)n * route_n_targets(verify->graph) / ENTRIES_A_TURN;
	proved = prove(&proof);
	g_free(proof.first_own);
	g_free(proof.hosts);
	g_free(proof.lids);
	g_free(proof.octets);
	g_free(proof.none);
	g_free(proof.all);
	g_free(proof.up);
	return proved;
}
