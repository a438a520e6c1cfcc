// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * All engines on random fabrics of all kinds, with random options of the operator: an engine's
 * result keeps its promises, on any number of threads, and the file engine reads it back. Then the
 * tables are broken in defined ways, and the verifier must agree with the slow checker.
 *
 * Each seed is independent: ROUTE_SEEDS=17 runs only that one, ROUTE_SEEDS=1-100000 many.
 */
#include <check.h>
#include <string.h>

#include "route/value/lanes.h"
#include "tests/run_suite.h"
#include "tests/unit/route_checker.h"
#include "tests/unit/route_shapes.h"

#define SEEDS 400
#define CHUNK 20 /* seeds for one process */

static const char *const engines[] = {"minhop", "updn", "dnup", "ftree",    "dor", "sssp",
				      "dfsssp", "lash", "nue",	"hoplanes", "file"};
#define ENGINES G_N_ELEMENTS(engines)
#define FIRST_LAYERED 5 /* one of these and those after it for a seed */
#define FILE_ENGINE (ENGINES - 1)

enum harm {
	HARM_ENTRY,  /* one random entry */
	HARM_OCTET,  /* some entries with any octet */
	HARM_SWAP,   /* the rows of two switches */
	HARM_ZERO,   /* port 0 for a LID everywhere */
	HARM_NONE,   /* no port for a LID somewhere */
	HARM_DEAD,   /* a port without a cable */
	HARM_LOOP,   /* two neighbours that send a LID to each other */
	HARM_DETOUR, /* every LID along a random tree: good, but dependencies cross */
	HARM_LANES,  /* some pairs use other SLs, or none */
	HARM_ROUND,  /* packets to the second next switch of a ring go round it */
	HARMS,
};

static const char *const harm_names[HARMS] = {
	"a random entry", "random octets", "rows swapped", "a column zeroed", "an entry discarded",
	"a dead port",	  "a loop",	   "detours",	   "other lanes",     "round a ring",
};

/* Counts events, so that a test can tell that it covered its cases. */
struct tally {
	unsigned int kinds[SHAPE_KINDS];
	unsigned int routed[ENGINES], refused[ENGINES];
	unsigned int promised[ENGINES]; /* no credit loop */
	unsigned int broken[HARMS], incomplete[HARMS], looping[HARMS];
	unsigned int only_credit_loop[HARMS];
	unsigned int cut, discarded;
};

struct trial {
	uint64_t seed, state;
	struct fabric *fabric;
	const char *what; /* the fabric */
	struct tally *tally;
};

/* What the operator may ask for; the arrays that an input points to. */
struct wishes {
	uint64_t roots[4], compute[8], io[24], ahead[8];
	struct route_id ids[8];
	struct route_endport ignored[8];
	struct route_port_order port_orders[4];
	struct route_weight weights[16];
	struct route_input input;
};

/* ---- wishes ---- */

static uint64_t some_guid(struct trial *trial, bool of_switch)
{
	const struct fabric *fabric = trial->fabric;
	uint32_t node = make_number(&trial->state, fabric->n_nodes);

	if (make_number(&trial->state, 20) == 0)
		return 0x123456; /* of no node */
	if (of_switch && fabric->n_switches)
		node = fabric->switches[make_number(&trial->state, fabric->n_switches)].node;
	return of_switch ? fabric->nodes[node].guid : fabric->nodes[node].info.port_guid;
}

static uint32_t some_guids(struct trial *trial, bool of_switch, uint64_t *guids, uint32_t max)
{
	uint32_t n = make_number(&trial->state, 2) ? 0 : make_number(&trial->state, max + 1);

	for (uint32_t i = 0; i < n; i++)
		guids[i] = some_guid(trial, of_switch);
	return n;
}

/* Ports of different switches, each in a shuffled order. */
static uint32_t some_port_orders(struct trial *trial, struct route_port_order *orders)
{
	const struct fabric *fabric = trial->fabric;
	uint32_t n = make_number(&trial->state, 5);

	n = MIN(n, fabric->n_switches);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = fabric->switches[i].node;

		orders[i].guid = fabric->nodes[node].guid;
		orders[i].n = fabric->nodes[node].num_ports;
		for (uint32_t p = 0; p < orders[i].n; p++) {
			uint32_t other = make_number(&trial->state, p + 1);

			orders[i].ports[p] = orders[i].ports[other];
			orders[i].ports[other] = p + 1;
		}
	}
	return n;
}

/* In two thirds of the cases the input is empty. */
static void make_wishes(struct trial *trial, struct wishes *wishes)
{
	struct route_input *input = &wishes->input;

	*wishes = (struct wishes){
		.input = {.threads = 1, .nue_max_num_vls = 1, .find_mesh = trial->seed % 2}};
	if (make_number(&trial->state, 3))
		return;
	input->roots = wishes->roots;
	input->n_roots = some_guids(trial, true, wishes->roots, 4);
	input->compute = wishes->compute;
	input->n_compute = some_guids(trial, false, wishes->compute, 8);
	input->io = wishes->io;
	input->n_io = some_guids(trial, false, wishes->io, 24);
	input->ahead = wishes->ahead;
	input->n_ahead = some_guids(trial, false, wishes->ahead, 8);
	input->ids = wishes->ids;
	input->n_ids = make_number(&trial->state, 9);
	input->ignored = wishes->ignored;
	input->n_ignored = make_number(&trial->state, 9);
	input->port_orders = wishes->port_orders;
	input->n_port_orders = some_port_orders(trial, wishes->port_orders);
	input->scatter = make_number(&trial->state, 3) ? 0 : make_number(&trial->state, 1000);
	input->ahead_not_scattered = make_number(&trial->state, 2);
	input->shift = make_number(&trial->state, 2);
	input->count_switches = make_number(&trial->state, 2);
	input->vls = make_number(&trial->state, 10);
	input->sm_sl = make_number(&trial->state, 2) ? 0 : make_number(&trial->state, 15);
	input->lash_start_vl = make_number(&trial->state, 3) ? 0 : make_number(&trial->state, 9);
	input->nue_max_num_vls = make_number(&trial->state, 4);
	input->from_roots = make_number(&trial->state, 2);
	input->weights = wishes->weights;
	input->n_weights = make_number(&trial->state, 2) ? 0 : make_number(&trial->state, 17);
	for (uint32_t i = 0; i < input->n_ids; i++)
		wishes->ids[i] = (struct route_id){ some_guid(trial, true), i % 4 };
	for (uint32_t i = 0; i < input->n_ignored; i++)
		wishes->ignored[i] = (struct route_endport){ some_guid(trial, false), -1 };
	for (uint32_t i = 0; i < input->n_weights; i++) {
		wishes->weights[i].guid = some_guid(trial, true);
		wishes->weights[i].port = 1 + make_number(&trial->state, 8);
		wishes->weights[i].weight =
			make_number(&trial->state, 4) ? 1 + make_number(&trial->state, 5) : 255;
	}
}

/* ---- the file engine ---- */

/* The tables of a routing as a file would have them, without unassigned LIDs. */
static void lfts_of(const struct fabric *fabric, const struct routing *routing, GArray *lfts,
		    GArray *entries)
{
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		struct route_lft lft = {
			.guid = fabric->nodes[fabric->switches[sw].node].guid,
			.first = entries->len,
		};

		for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
			uint32_t port = fabric_port_by_lid(fabric, lid);
			struct route_lft_entry entry = { .line = lid, .lid = lid };

			entry.port = routing_port(routing, sw, lid);
			if (port == FABRIC_NONE || entry.port == ROUTE_NO_PORT)
				continue;
			entry.guid = lid % 2 ? fabric->ports[port].guid : 0;
			g_array_append_val(entries, entry);
		}
		lft.n = entries->len - lft.first;
		g_array_append_val(lfts, lft);
	}
}

/* The file engine's routing from the tables of another; NULL and error if it refuses them. */
static struct routing *read_back(const struct fabric *fabric, const struct routing *routing,
				 struct route_input input, GError **error)
{
	GArray *lfts = g_array_new(FALSE, FALSE, sizeof(struct route_lft));
	GArray *entries = g_array_new(FALSE, FALSE, sizeof(struct route_lft_entry));
	struct routing *again;

	lfts_of(fabric, routing, lfts, entries);
	input.lfts = (struct route_lfts){
		.file = "tables",
		.lfts = (const struct route_lft *)(const void *)lfts->data,
		.n = lfts->len,
		.entries = (const struct route_lft_entry *)(const void *)entries->data,
	};
	again = route_compute(route_find("file"), fabric, &input, error);
	g_array_unref(lfts);
	g_array_unref(entries);
	return again;
}

enum column {
	COLUMN_GOOD, /* every entry leads to a switch or to the owner, or is empty */
	COLUMN_DEAD, /* some lead nowhere, or to another's port */
	COLUMN_LOOP, /* some packet loops for ever */
};

static enum column judge_column(const struct fabric *fabric, const struct routing *routing,
				uint16_t lid)
{
	enum column column = COLUMN_GOOD;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		unsigned int hops;

		switch (checker_walk(fabric, routing, sw, lid, &hops)) {
		case CHECKER_LOOP:
			return COLUMN_LOOP;
		case CHECKER_HOLE:
			column = COLUMN_DEAD;
			break;
		case CHECKER_DISCARDED: /* missing ones are filled in */
		case CHECKER_REACHED:
			break;
		}
	}
	return column;
}

/* Whether the engine filled LIDs of switches better by updn, to avoid deadlock. */
static bool is_replaced(const struct fabric *fabric, const struct routing *again, uint16_t lid)
{
	return again->promises & ROUTE_DEADLOCK_FREE &&
	       fabric_is_switch(fabric, fabric->ports[fabric_port_by_lid(fabric, lid)].node);
}

/* Entries that lead somewhere are as they were; open ones, and dead ones, lead to the owner. */
static void expect_column(const struct fabric *fabric, const struct routing *routing,
			  const struct routing *again, uint16_t lid, const char *what)
{
	enum column column = judge_column(fabric, routing, lid);
	uint32_t leaf = checker_leaf(fabric, lid);

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		uint8_t port = routing_port(routing, sw, lid);
		unsigned int hops;

		if (column == COLUMN_GOOD && port != ROUTE_NO_PORT &&
		    routing_port(again, sw, lid) != port)
			ck_abort_msg("%s: switch %u LID %u: port %u was read back as %u", what, sw,
				     lid, port, routing_port(again, sw, lid));
		if (column == COLUMN_LOOP || leaf == FABRIC_NONE ||
		    checker_walk(fabric, again, leaf, lid, &hops) != CHECKER_REACHED)
			continue;
		if (checker_walk(fabric, again, sw, lid, &hops) == CHECKER_LOOP)
			ck_abort_msg("%s: LID %u loops since it was read back", what, lid);
	}
}

static void expect_entries(const struct fabric *fabric, const struct routing *routing,
			   const struct routing *again, const char *what)
{
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++)
		if (fabric_port_by_lid(fabric, lid) != FABRIC_NONE &&
		    !is_replaced(fabric, again, lid))
			expect_column(fabric, routing, again, lid, what);
}

static bool fits_ports(const struct fabric *fabric, const struct routing *routing)
{
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
			uint8_t port = routing_port(routing, sw, lid);

			if (fabric_port_by_lid(fabric, lid) != FABRIC_NONE &&
			    port != ROUTE_NO_PORT &&
			    port > fabric->nodes[fabric->switches[sw].node].num_ports)
				return false;
		}
	}
	return true;
}

/* Tables, broken or not, pass through the file engine unchanged. */
static void try_file(struct trial *trial, const struct routing *routing, const char *what)
{
	const struct route_input input = { .threads = 1 };
	GError *error = NULL;
	struct routing *again = read_back(trial->fabric, routing, input, &error);
	struct checker checker;

	ck_assert_msg((again != NULL) == fits_ports(trial->fabric, routing), "%s: %s", what,
		      error ? error->message : "read, with ports that a switch does not have");
	trial->tally->routed[FILE_ENGINE] += again != NULL;
	trial->tally->refused[FILE_ENGINE] += again == NULL;
	if (again) {
		ck_assert_ptr_null(error);
		expect_entries(trial->fabric, routing, again, what);
		checker_run(&checker, trial->fabric, again);
		ck_assert_msg(checker_agrees(&checker, 1, what) ||
				      !(again->promises & ROUTE_DEADLOCK_FREE),
			      "%s: read back with a promise that is not kept", what);
		checker_clear(&checker);
	}
	routing_unref(again);
	g_clear_error(&error);
}

/* ---- engines ---- */

/* Whether an engine may refuse this input: unknown roots, or a fabric. */
static bool may_refuse(const char *engine, const struct route_input *input)
{
	if (!strcmp(engine, "updn"))
		return input->n_roots != 0;
	return !strcmp(engine, "dnup") || !strcmp(engine, "ftree") || !strcmp(engine, "dfsssp") ||
	       !strcmp(engine, "lash") || !strcmp(engine, "hoplanes"); /* lanes run out */
}

static void try_threads(const struct trial *trial, const struct route_engine *engine,
			struct route_input input, const struct routing *routing, const char *what)
{
	static const unsigned int threads[] = { 2, 3, 5 };

	for (size_t i = 0; i < G_N_ELEMENTS(threads); i++) {
		g_autofree char *more = g_strdup_printf("%s, %u threads", what, threads[i]);
		struct routing *again;

		input.threads = threads[i];
		again = route_compute(engine, trial->fabric, &input, NULL);
		ck_assert_msg(again, "%s: refused", more);
		checker_same_tables(routing, again, more);
		ck_assert_msg(again->promises == routing->promises, "%s: other promises", more);
		routing_unref(again);
	}
}

/* The routing of an engine, or NULL if it refuses and may. */
static struct routing *try_engine(struct trial *trial, unsigned int number,
				  const struct wishes *wishes)
{
	const struct route_engine *engine = route_find(engines[number]);
	g_autofree char *what =
		g_strdup_printf("%s, %s%s", trial->what, engine->name,
				wishes->input.ids ? ", wishes" : "");
	GError *error = NULL;
	struct routing *routing = route_compute(engine, trial->fabric, &wishes->input, &error);

	ck_assert_msg((routing == NULL) == (error != NULL), "%s: neither tables nor error", what);
	trial->tally->routed[number] += routing != NULL;
	trial->tally->refused[number] += routing == NULL;
	if (!routing) {
		ck_assert_msg(may_refuse(engine->name, &wishes->input), "%s: %s", what,
			      error->message);
		ck_assert_msg(error->domain == ROUTE_ERROR, "%s: %s", what, error->message);
		g_error_free(error);
		return NULL;
	}
	ck_assert_msg(!strcmp(routing->engine->name, engine->name), "%s", what);
	if (!wishes->input.n_weights || strcmp(engine->name, "minhop"))
		ck_assert_msg((routing->promises & engine->promises) == engine->promises, "%s",
			      what);
	checker_accept(trial->fabric, routing, what);
	trial->tally->promised[number] += (routing->promises & ROUTE_DEADLOCK_FREE) != 0;
	if (trial->seed % 3 == 0)
		try_threads(trial, engine, wishes->input, routing, what);
	if (trial->seed % 5 == number)
		try_file(trial, routing, what);
	return routing;
}

/* ---- harm ---- */

static uint32_t some_switch(struct trial *trial)
{
	return make_number(&trial->state, trial->fabric->n_switches);
}

static uint8_t some_port(struct trial *trial, uint32_t sw)
{
	return make_number(&trial->state,
			   trial->fabric->nodes[trial->fabric->switches[sw].node].num_ports + 1u);
}

/* An assigned LID, or 0. */
static uint16_t some_lid(struct trial *trial)
{
	for (unsigned int tries = 0; trial->fabric->max_lid && tries < 100; tries++) {
		uint16_t lid = 1 + make_number(&trial->state, trial->fabric->max_lid);

		if (fabric_port_by_lid(trial->fabric, lid) != FABRIC_NONE)
			return lid;
	}
	return 0;
}

/* A switch across any port, or FABRIC_NONE. */
static uint32_t some_neighbour(struct trial *trial, uint32_t sw, uint8_t *num)
{
	for (unsigned int tries = 0; tries < 60; tries++) {
		uint32_t to;

		*num = some_port(trial, sw);
		to = checker_next_switch(trial->fabric, sw, *num);
		if (to != FABRIC_NONE && to != sw)
			return to;
	}
	return FABRIC_NONE;
}

static bool make_loop(struct trial *trial, struct routing *routing, uint16_t lid)
{
	uint32_t a = some_switch(trial);
	uint8_t there, back;
	uint32_t b = some_neighbour(trial, a, &there);

	if (b == FABRIC_NONE)
		return false;
	for (back = 1; checker_next_switch(trial->fabric, b, back) != a; back++)
		;
	routing->lft[a][lid] = there;
	routing->lft[b][lid] = back;
	return true;
}

static bool kill_port(struct trial *trial, struct routing *routing, uint16_t lid)
{
	for (unsigned int tries = 0; tries < 60; tries++) {
		uint32_t sw = some_switch(trial);
		uint8_t num = some_port(trial, sw);

		if (!num || trial->fabric->ports[fabric_switch_port(trial->fabric, sw, num)].peer !=
				    FABRIC_NONE)
			continue;
		routing->lft[sw][lid] = num;
		return true;
	}
	return false;
}

/* Reaches everything, by detours. */
static bool route_detours(struct trial *trial, struct routing *routing)
{
	const struct fabric *fabric = trial->fabric;
	uint32_t n = fabric->n_switches;
	g_autofree bool *in = g_new(bool, n);

	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint32_t leaf = checker_leaf(fabric, lid), left = n - 1;

		if (leaf == FABRIC_NONE)
			continue;
		memset(in, 0, n * sizeof(*in));
		in[leaf] = true;
		for (unsigned int tries = 0; left && tries < 40 * n; tries++) {
			uint32_t sw = some_switch(trial), to;
			uint8_t num = some_port(trial, sw);

			to = checker_next_switch(fabric, sw, num);
			if (in[sw] || to == FABRIC_NONE || !in[to])
				continue;
			in[sw] = true;
			routing->lft[sw][lid] = num;
			left--;
		}
	}
	return n > 1;
}

/* A ring of at least three switches, by a walk that does not turn back; 0 if none was found. */
static uint32_t find_ring(struct trial *trial, uint32_t *ring, uint8_t *ports)
{
	uint32_t n = 0, sw = some_switch(trial);

	while (n < 64) {
		uint8_t num;
		uint32_t to = some_neighbour(trial, sw, &num);

		if (to == FABRIC_NONE)
			return 0;
		if (n && to == ring[n - 1])
			return 0;
		ring[n] = sw;
		ports[n++] = num;
		for (uint32_t i = 0; i + 2 < n; i++) {
			if (ring[i] != to)
				continue;
			memmove(ring, ring + i, (n - i) * sizeof(*ring));
			memmove(ports, ports + i, n - i);
			return n - i;
		}
		sw = to;
	}
	return 0;
}

/* Switch i of a ring sends what is at switch i + 2 by way of switch i + 1. */
static bool send_round(struct trial *trial, struct routing *routing)
{
	uint32_t ring[65], n = 0;
	uint8_t ports[65];

	for (unsigned int tries = 0; !n && tries < 30; tries++)
		n = find_ring(trial, ring, ports);
	if (!n)
		return false;
	for (uint32_t lid = 1; lid <= trial->fabric->max_lid; lid++) {
		uint32_t leaf = checker_leaf(trial->fabric, lid);

		for (uint32_t i = 0; i < n; i++) {
			if (leaf != ring[(i + 2) % n])
				continue;
			routing->lft[ring[i]][lid] = ports[i];
			routing->lft[ring[(i + 1) % n]][lid] = ports[(i + 1) % n];
		}
	}
	return true;
}

/* Not always the same both ways; nor on lanes that all cables have. */
static bool change_lanes(struct trial *trial, struct routing *routing)
{
	struct route_lanes *lanes = routing->lanes;
	uint32_t n = trial->fabric->n_switches, times;

	if (!lanes)
		return false;
	times = 1 + make_number(&trial->state, n * n);
	for (uint32_t i = 0; i < times; i++) {
		size_t from = some_switch(trial), to = some_switch(trial);

		lanes->sl[from * n + to] = make_number(&trial->state, 40)
						   ? make_number(&trial->state, lanes->n + 1u)
						   : ROUTE_NO_SL;
	}
	if (!make_number(&trial->state, 4)) {
		uint32_t sl = some_switch(trial) % ROUTE_SLS;

		lanes->vl[sl] = make_number(&trial->state, 10);
	}
	for (uint32_t i = make_number(&trial->state, 4) * times; lanes->turns && i; i--) {
		uint32_t sw = some_switch(trial);
		uint16_t width = lanes->turns->width[sw];
		uint32_t lane = make_number(&trial->state, lanes->n + 1u);
		uint32_t sl = make_number(&trial->state, ROUTE_SLS);
		uint32_t out = make_number(&trial->state, width);
		uint32_t in = make_number(&trial->state, width);

		route_turns_put(lanes->turns, sw, in, out, sl, lane);
	}
	return true;
}

/* False if this fabric has no room for it. */
static bool do_harm(struct trial *trial, struct routing *routing, enum harm harm)
{
	uint32_t sw = some_switch(trial), other = some_switch(trial);
	uint16_t lid = some_lid(trial);
	uint8_t *swap = routing->lft[sw];

	if (!lid)
		return false;
	switch (harm) {
	case HARM_ENTRY:
		routing->lft[sw][lid] = some_port(trial, sw);
		return true;
	case HARM_OCTET:
		for (unsigned int i = 0; i < 4; i++) {
			sw = some_switch(trial);
			lid = some_lid(trial);
			routing->lft[sw][lid] = make_number(&trial->state, 256);
		}
		return true;
	case HARM_SWAP:
		routing->lft[sw] = routing->lft[other];
		routing->lft[other] = swap;
		return sw != other;
	case HARM_ZERO:
		for (sw = 0; sw < trial->fabric->n_switches; sw++)
			routing->lft[sw][lid] = 0;
		return true;
	case HARM_NONE:
		routing->lft[sw][lid] = ROUTE_NO_PORT;
		return true;
	case HARM_DEAD:
		return kill_port(trial, routing, lid);
	case HARM_LOOP:
		return make_loop(trial, routing, lid);
	case HARM_DETOUR:
		return route_detours(trial, routing);
	case HARM_LANES:
		return change_lanes(trial, routing);
	case HARM_ROUND:
		return send_round(trial, routing);
	case HARMS:
		break;
	}
	g_assert_not_reached();
}

static struct route_lanes *copy_of_lanes(const struct fabric *fabric,
					 const struct route_lanes *lanes)
{
	struct route_lanes *copy = g_memdup2(lanes, sizeof(*lanes));
	size_t n = lanes->n_switches;

	if (lanes->sl)
		copy->sl = g_memdup2(lanes->sl, n * n + 1);
	if (!lanes->turns)
		return copy;
	copy->turns = route_turns_new(fabric);
	for (uint32_t sw = 0; sw < n; sw++)
		memcpy(copy->turns->rows + copy->turns->first[sw],
		       lanes->turns->rows + lanes->turns->first[sw],
		       sizeof(uint64_t) * copy->turns->width[sw] * copy->turns->width[sw]);
	return copy;
}

/* Rows that may be written; with the order that the engine claims, a senseless one, or none. */
static struct routing *copy_of(struct trial *trial, const struct routing *routing)
{
	struct routing *copy = routing_new(trial->fabric, routing->engine, routing->promises);
	uint32_t n = trial->fabric->n_switches, claim = make_number(&trial->state, 4);

	for (uint32_t sw = 0; sw < n; sw++)
		memcpy(copy->lft[sw], routing->lft[sw], routing->n_blocks * 64);
	if (routing->lanes)
		copy->lanes = copy_of_lanes(trial->fabric, routing->lanes);
	if (routing->order && claim > 1)
		copy->order = g_memdup2(routing->order, n * sizeof(uint32_t));
	if (claim != 1)
		return copy;
	copy->order = g_new(uint32_t, n + 1);
	for (uint32_t sw = 0; sw < n; sw++)
		copy->order[sw] = make_number(&trial->state, n);
	return copy;
}

static void judge_harm(struct trial *trial, struct routing *routing, enum harm harm)
{
	g_autofree char *what = g_strdup_printf("%s, %s with %s", trial->what,
						routing->engine->name, harm_names[harm]);
	struct checker checker;

	checker_run(&checker, trial->fabric, routing);
	checker_agrees(&checker, 1 + trial->seed % 3, what);
	trial->tally->broken[harm]++;
	trial->tally->incomplete[harm] += !checker.verdict.complete;
	trial->tally->looping[harm] += !checker.verdict.loop_free;
	trial->tally->only_credit_loop[harm] += checker.verdict.complete &&
						checker.verdict.loop_free &&
						!checker.verdict.acyclic;
	trial->tally->cut += checker.verdict.cut;
	trial->tally->discarded += checker.verdict.discarded != 0;
	if (trial->seed % 4 == 0)
		try_file(trial, routing, what);
	checker_clear(&checker);
	routing->promises ^= ROUTE_DEADLOCK_FREE;
	checker_run(&checker, trial->fabric, routing);
	checker_agrees(&checker, 1, what);
	checker_clear(&checker);
}

static void try_harm(struct trial *trial, const struct routing *routing, enum harm harm)
{
	struct routing *broken = copy_of(trial, routing);

	if (do_harm(trial, broken, harm))
		judge_harm(trial, broken, harm);
	routing_unref(broken);
}

/* ---- the whole ---- */

static void try_fabric(struct trial *trial)
{
	unsigned int chosen = make_number(&trial->state, FIRST_LAYERED + 1);
	struct wishes wishes;

	make_wishes(trial, &wishes);
	for (unsigned int i = 0; i < FILE_ENGINE; i++) {
		struct routing *routing;

		if (i >= FIRST_LAYERED &&
		    trial->seed % (FILE_ENGINE - FIRST_LAYERED) + FIRST_LAYERED != i)
			continue;
		routing = try_engine(trial, i, &wishes);

		for (enum harm harm = 0; routing && MIN(i, FIRST_LAYERED) == chosen && harm < HARMS;
		     harm++)
			if (trial->fabric->n_switches)
				try_harm(trial, routing, harm);
		routing_unref(routing);
	}
}

static void try_seed(uint64_t seed, struct tally *tally)
{
	struct trial trial = { .seed = seed, .tally = tally };
	struct shape shape;

	shape_random(&shape, seed);
	trial.fabric = builder_freeze(shape.builder);
	trial.state = shape.state;
	if (make_number(&trial.state, 7) == 0) {
		shape_cut(trial.fabric, &trial.state, 10);
		g_string_append(shape.what, ", cut");
	}
	trial.what = shape.what->str;
	tally->kinds[shape.kind]++;
	try_fabric(&trial);
	fabric_unref(trial.fabric);
	shape_clear(&shape);
}

START_TEST(test_engines_keep_their_promises)
{
	struct shape_seeds seeds = shape_seeds(SEEDS);
	uint64_t first = seeds.first + (uint64_t)_i * CHUNK;
	struct tally tally = { 0 };

	for (uint64_t seed = first; seed < first + CHUNK && seed <= seeds.last; seed++)
		try_seed(seed, &tally);
}
END_TEST

/* The trials above covered their cases. */
START_TEST(test_trials_meet_everything)
{
	struct tally tally = { 0 };

	for (uint64_t seed = 1001; seed <= 1300; seed++)
		try_seed(seed, &tally);
	for (unsigned int i = 0; i < SHAPE_KINDS; i++)
		ck_assert_msg(tally.kinds[i] > 0, "no fabric of kind %u", i);
	for (unsigned int i = 0; i < ENGINES; i++)
		ck_assert_msg(tally.routed[i] > 40, "%s routed %u", engines[i], tally.routed[i]);
	for (unsigned int i = 0; i < HARMS; i++)
		ck_assert_msg(tally.broken[i] > 8, "%s: %u times", harm_names[i], tally.broken[i]);
	ck_assert_uint_gt(tally.promised[4], 10); /* dor on meshes and small grids */
	ck_assert_uint_lt(tally.promised[4], tally.routed[4]);
	ck_assert_uint_gt(tally.refused[2] + tally.refused[3], 20);
	ck_assert_uint_gt(tally.refused[FILE_ENGINE], 0);
	ck_assert_uint_gt(tally.incomplete[HARM_ENTRY], 10);
	ck_assert_uint_gt(tally.incomplete[HARM_SWAP], 10);
	ck_assert_uint_gt(tally.incomplete[HARM_ZERO], 20);
	ck_assert_uint_gt(tally.incomplete[HARM_DEAD], 20);
	ck_assert_uint_gt(tally.looping[HARM_LOOP], 20);
	ck_assert_uint_gt(tally.only_credit_loop[HARM_DETOUR], 20);
	ck_assert_uint_gt(tally.only_credit_loop[HARM_ROUND], 10);
	ck_assert_uint_gt(tally.only_credit_loop[HARM_LANES], 1);
	ck_assert_uint_gt(tally.incomplete[HARM_LANES], 3);
	ck_assert_uint_gt(tally.cut, 10);
	ck_assert_uint_gt(tally.discarded, 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("route_property");
	TCase *tcase = tcase_create("property");
	struct shape_seeds seeds = shape_seeds(SEEDS);

	tcase_set_timeout(tcase, 300);
	tcase_add_loop_test(tcase, test_engines_keep_their_promises, 0,
			    (int)((seeds.last - seeds.first) / CHUNK + 1));
	if (!g_getenv("ROUTE_SEEDS"))
		tcase_add_test(tcase, test_trials_meet_everything);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
