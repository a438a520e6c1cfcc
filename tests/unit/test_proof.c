// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verifier and the stages of transitions against an independent checker (proof.h), over random
 * fabrics, engines, lanes, small tables and damage to all of these.
 *
 * ROUTE_SEEDS=17 runs only that seed, ROUTE_SEEDS=1-100000 many; a seed is some 40 cases.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "route/renew/renew.h"
#include "route/transition/transition.h"
#include "route/value/lanes.h"
#include "tests/run_suite.h"
#include "tests/unit/proof_routing.h"
#include "tests/unit/route_churn.h"
#include "tests/unit/route_shapes.h"

#define SEEDS 700
#define CHUNK 50  /* seeds for one process */
#define BROKEN 20 /* tables of a seed */
#define CHANGES 6 /* transitions of a seed */

static const char *const engines[] = {"minhop", "updn", "dnup",	  "ftree", "dor",
				      "sssp",	"lash", "dfsssp", "nue"};

struct tally {
	uint64_t verdicts, cyclic, switches_only, looping, incomplete;
	uint64_t transitions, at_once, ordered, discarded, budget_exceeded, unsafe_at_once, stages;
};

struct trial {
	uint64_t state;
	struct fabric *fabric;
	struct proof_net *net;
	struct route_demand *demand; /* NULL: all send to all */
	bool *idle;		     /* [from * n + to]: from demand, as the checker reads it */
	const char *what;
	struct tally *tally;
};

/* ---- tables ---- */

static struct routing *compute(struct trial *trial, const char *name)
{
	struct route_input input = {.threads = 1,
				    .demand = trial->demand,
				    .nue_max_num_vls = make_number(&trial->state, 3)};
	const struct route_engine *engine = route_find(name);
	enum route_way way;

	return routing_renew(engine, trial->fabric, &input, NULL, &way, NULL);
}

static struct routing *copy_of(const struct trial *trial, const struct routing *routing)
{
	struct routing *copy = routing_new(trial->fabric, routing->engine, routing->promises);
	size_t n = trial->fabric->n_switches;

	for (uint32_t sw = 0; sw < n; sw++)
		memcpy(copy->lft[sw], routing->lft[sw], routing->n_blocks * 64);
	if (routing->order)
		copy->order = g_memdup2(routing->order, n * sizeof(uint32_t));
	if (!routing->lanes)
		return copy;
	copy->lanes = g_memdup2(routing->lanes, sizeof(*routing->lanes));
	if (routing->lanes->sl)
		copy->lanes->sl = g_memdup2(routing->lanes->sl, n * n + 1);
	return copy;
}

/* ---- verdicts ---- */

static struct proof_verdict judge(struct trial *trial, const struct routing *routing,
				  const uint8_t **rows)
{
	struct proof_lanes lanes = proof_lanes_of(routing);
	struct proof_case what = {
		.net = trial->net,
		.lft = rows,
		.lanes = routing->lanes ? &lanes : NULL,
		.idle = trial->idle,
		.excused = routing->promises & ROUTE_DEADLOCK_FREE,
	};

	return proof_judge(&what, NULL, 0);
}

static struct proof_verdict expect_verdict(struct trial *trial, const struct routing *routing,
					   const char *how)
{
	const uint8_t **rows = proof_rows_for(trial->net, routing->lft, routing->n_blocks * 64);
	struct proof_verdict slow = judge(trial, routing, rows);
	const struct route_input input = {.threads = 1, .demand = trial->demand};
	struct route_verdict fast;

	route_verify_by(trial->fabric, routing, &input, &fast);
	ck_assert_msg(fast.complete == slow.complete && fast.loop_free == slow.loop_free &&
			      fast.acyclic == slow.acyclic &&
			      fast.hosts_acyclic == slow.hosts_acyclic,
		      "%s, %s, %s: verifier and checker say complete %d %d, loop free %d %d, "
		      "acyclic %d %d, of hosts %d %d: %s",
		      trial->what, routing->engine->name, how, fast.complete, slow.complete,
		      fast.loop_free, slow.loop_free, fast.acyclic, slow.acyclic,
		      fast.hosts_acyclic, slow.hosts_acyclic, fast.witness);
	trial->tally->verdicts++;
	trial->tally->incomplete += !slow.complete;
	trial->tally->looping += !slow.loop_free;
	trial->tally->cyclic += !slow.hosts_acyclic;
	trial->tally->switches_only += slow.hosts_acyclic && !slow.acyclic;
	route_verdict_clear(&fast);
	proof_rows_free(rows, trial->net->n);
	return slow;
}

/* ---- damage ---- */

static uint32_t any_switch(struct trial *trial)
{
	return make_number(&trial->state, trial->net->n);
}

static uint32_t any_lid(struct trial *trial)
{
	return 1 + make_number(&trial->state, MAX(trial->net->n_lids, 2) - 1);
}

/* Tables of an engine may have no room for the last LIDs. */
static void put(struct routing *routing, uint32_t sw, uint32_t lid, uint8_t port)
{
	if (lid < routing->n_blocks * 64)
		routing->lft[sw][lid] = port;
}

static void send_by_any(struct trial *trial, struct routing *routing, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++) {
		uint32_t sw = any_switch(trial), lid = any_lid(trial);
		uint32_t node = trial->fabric->switches[sw].node;

		put(routing, sw, lid,
		    make_number(&trial->state, make_number(&trial->state, 8)
						       ? trial->fabric->nodes[node].num_ports + 1u
						       : 256));
	}
}

/* Each switch sends to the owner along a random tree. */
static void send_round(struct trial *trial, struct routing *routing, uint32_t lid)
{
	const struct proof_net *net = trial->net;
	g_autofree bool *in = g_new0(bool, net->n + 1);

	if (lid >= net->n_lids || net->home[lid] == PROOF_NONE)
		return;
	in[net->home[lid]] = true;
	for (uint32_t i = 0; i < 60 * net->n; i++) {
		uint32_t sw = any_switch(trial), num = make_number(&trial->state, 12);
		uint32_t to = net->across[sw * 256 + num];

		if (in[sw] || to == PROOF_NONE || !in[to])
			continue;
		in[sw] = true;
		put(routing, sw, lid, num);
	}
}

static void send_some_round(struct trial *trial, struct routing *routing, bool of_hosts,
			    uint32_t one_in)
{
	for (uint32_t lid = 1; lid < trial->net->n_lids; lid++)
		if (trial->net->of_host[lid] == of_hosts && !make_number(&trial->state, one_in))
			send_round(trial, routing, lid);
}

static void change_lanes(struct trial *trial, struct routing *routing)
{
	struct route_lanes *lanes = routing->lanes;
	uint32_t times = make_number(&trial->state, trial->net->n * 2 + 1);

	for (uint32_t i = 0; lanes && lanes->sl && i < times; i++) {
		uint32_t from = any_switch(trial), to = any_switch(trial);
		uint8_t *sl = &lanes->sl[from * trial->net->n + to];

		*sl = make_number(&trial->state, 30) ? make_number(&trial->state, lanes->n)
						     : ROUTE_NO_SL;
	}
	if (lanes && !make_number(&trial->state, 4)) {
		uint32_t sl = make_number(&trial->state, 16);

		lanes->vl[sl] = make_number(&trial->state, 9);
	}
}

static void break_tables(struct trial *trial, struct routing *routing)
{
	switch (make_number(&trial->state, 6)) {
	case 0:
		send_by_any(trial, routing, 1);
		break;
	case 1:
		send_by_any(trial, routing, 1 + make_number(&trial->state, 9));
		break;
	case 2:
		send_some_round(trial, routing, true, 1 + make_number(&trial->state, 12));
		break;
	case 3:
		send_some_round(trial, routing, false, 1 + make_number(&trial->state, 4));
		break;
	case 4:
		send_round(trial, routing, any_lid(trial));
		break;
	default:
		change_lanes(trial, routing);
	}
	if (!make_number(&trial->state, 6))
		routing->promises ^= ROUTE_DEADLOCK_FREE;
}

/* ---- transitions ---- */

/* Entries of the old tables in the switches of a new fabric. */
static const uint8_t **held_rows(struct trial *trial, const struct fabric *before,
				 const struct routing *old, uint32_t n_lids)
{
	const struct fabric *now = trial->fabric;
	const uint8_t **rows = g_new0(const uint8_t *, now->n_switches + 1);

	for (uint32_t sw = 0; sw < now->n_switches; sw++) {
		uint32_t node =
			fabric_node_by_guid(before, now->nodes[now->switches[sw].node].guid);
		uint8_t *row = g_malloc(MAX(n_lids, trial->net->n_lids));

		memset(row, PROOF_DISCARD, MAX(n_lids, trial->net->n_lids));
		if (node != FABRIC_NONE)
			memcpy(row, old->lft[before->nodes[node].sw],
			       MIN(n_lids, old->n_blocks * 64));
		rows[sw] = row;
	}
	return rows;
}

static bool *discarded_lids(const struct trial *trial, const struct route_stages *stages,
			    const uint8_t **held)
{
	bool *lids = g_new0(bool, trial->net->n_lids);

	for (uint32_t sw = 0; stages->n_discarded && sw < trial->net->n; sw++)
		for (uint32_t lid = 1; lid < trial->net->n_lids; lid++)
			lids[lid] |= stages->rows[0][sw][lid] != held[sw][lid];
	return lids;
}

static bool is_free(struct trial *trial, const struct routing *routing, const uint8_t **rows)
{
	return judge(trial, routing, rows).acyclic;
}

/* Each stage after the one before it, and all at once if there is only one. */
static void expect_stages(struct trial *trial, const struct routing *routing, const uint8_t **held,
			  const struct route_stages *stages)
{
	struct proof_lanes lanes = proof_lanes_of(routing);
	struct proof_case before = {trial->net, held, routing->lanes ? &lanes : NULL, NULL, false};
	const uint8_t **last = proof_rows_for(trial->net, routing->lft, routing->n_blocks * 64);
	g_autofree bool *dropped = discarded_lids(trial, stages, held);
	bool free_before = is_free(trial, routing, held) && is_free(trial, routing, last);
	struct proof_mixture mixture = proof_mix(&before, last, held, last, dropped);
	bool unsafe = mixture.loops || mixture.drops || (free_before && !mixture.acyclic);
	bool may_lose = stages->by_entries || stages->only_loops;

	trial->tally->unsafe_at_once += unsafe;
	ck_assert_msg(!stages->n_discarded || stages->budget_exceeded || !free_before ||
			      !mixture.acyclic || mixture.loops,
		      "%s, %s: %u LIDs are discarded without need", trial->what,
		      routing->engine->name, stages->n_discarded);
	for (uint32_t i = 0; i < stages->n; i++) {
		const uint8_t **after =
			proof_rows_for(trial->net, (uint8_t *const *)stages->rows[i],
				       routing->n_blocks * 64);

		mixture = proof_mix(&before, after, held, last, dropped);
		ck_assert_msg(!mixture.loops && (!mixture.drops || may_lose) &&
				      (!free_before || mixture.acyclic),
			      "%s, %s: stage %u of %u: %u LIDs loop, %u lose, acyclic %d",
			      trial->what, routing->engine->name, i + 1, stages->n, mixture.loops,
			      mixture.drops, mixture.acyclic);
		if (i)
			proof_rows_free((const uint8_t **)before.lft, trial->net->n);
		before.lft = after;
	}
	for (uint32_t sw = 0; sw < trial->net->n; sw++)
		ck_assert(!memcmp(before.lft[sw], last[sw], routing->n_blocks * 64));
	proof_rows_free((const uint8_t **)before.lft, trial->net->n);
	proof_rows_free(last, trial->net->n);
}

/* Mostly as much as is needed, else not enough for all, or for anything. */
static uint64_t work_of(struct trial *trial)
{
	uint64_t all = (uint64_t)trial->net->n * trial->net->n_lids;

	return make_number(&trial->state, 3) ? ROUTE_STAGES_WORK
					     : make_number(&trial->state, 12 * all);
}

static void try_transition(struct trial *trial, const struct fabric *before,
			   const struct routing *old, const struct routing *routing)
{
	const uint8_t **held = held_rows(trial, before, old, routing->n_blocks * 64);
	bool cyclic = !is_free(trial, routing, held);
	struct route_verdict verdict;
	struct route_stages *stages;

	route_verify(trial->fabric, routing, &verdict);
	stages = route_stages_new(trial->fabric, held, cyclic, routing, &verdict, work_of(trial),
				  NULL);
	expect_stages(trial, routing, held, stages);
	ck_assert_msg((verdict.acyclic && !cyclic) || !verdict.loop_free || !stages->n_discarded,
		      "%s, %s: %u LIDs are discarded, but credits loop anyway", trial->what,
		      routing->engine->name, stages->n_discarded);
	trial->tally->transitions++;
	trial->tally->at_once += stages->n == 1;
	trial->tally->ordered += stages->n_ordered != 0;
	trial->tally->discarded += stages->n_discarded != 0;
	trial->tally->budget_exceeded += stages->budget_exceeded;
	trial->tally->stages = MAX(trial->tally->stages, stages->n);
	route_stages_free(stages);
	route_verdict_clear(&verdict);
	proof_rows_free(held, trial->net->n);
}

/* Something goes or comes, or another engine takes over. */
static void change_fabric(struct trial *trial, struct churn *churn)
{
	uint32_t times = 1 + make_number(&trial->state, 3);

	for (uint32_t i = 0; i < times; i++) {
		enum churn_kind kind = make_number(&trial->state, 4)   ? CHURN_CABLE
				       : make_number(&trial->state, 2) ? CHURN_SWITCH
								       : CHURN_HOST;
		uint32_t thing =
			churn_choose(churn, &trial->state, kind, !make_number(&trial->state, 2));

		if (thing != FABRIC_NONE)
			churn_toggle(churn, thing);
	}
}

static void try_changes(struct trial *trial, struct builder *builder)
{
	const char *name = engines[make_number(&trial->state, G_N_ELEMENTS(engines))];
	struct churn *churn = churn_new(builder);
	struct routing *old = compute(trial, name);
	struct fabric *before = fabric_ref(trial->fabric);

	for (unsigned int i = 0; old && i < CHANGES; i++) {
		struct route_input input = {.threads = 1};
		struct routing *now;
		enum route_way way;

		if (!make_number(&trial->state, 8))
			name = engines[make_number(&trial->state, G_N_ELEMENTS(engines))];
		else
			change_fabric(trial, churn);
		proof_net_free(trial->net);
		fabric_unref(trial->fabric);
		trial->fabric = builder_freeze(builder);
		trial->net = proof_net_new(trial->fabric);
		now = routing_renew(route_find(name), trial->fabric, &input, old, &way, NULL);
		if (!now)
			break;
		try_transition(trial, before, old, now);
		routing_unref(old);
		old = now;
		fabric_unref(before);
		before = fabric_ref(trial->fabric);
	}
	routing_unref(old);
	fabric_unref(before);
	churn_free(churn);
}

/* ---- the whole ---- */

static void limit_tables(struct trial *trial)
{
	uint32_t n = trial->fabric->n_switches;

	if (n && trial->fabric->max_lid > 2 && !make_number(&trial->state, 8)) {
		struct fabric_switch *sw = &trial->fabric->switches[any_switch(trial)];

		sw->info.linear_fdb_cap = 2 + make_number(&trial->state, trial->fabric->max_lid);
	}
}

/* Hosts of two to four classes, by their LIDs; each sends only within its class. */
static void divide_hosts(struct trial *trial)
{
	const struct fabric *fabric = trial->fabric;
	const struct proof_net *net = trial->net;
	uint32_t n = 2 + make_number(&trial->state, 3);
	uint32_t *class_of = g_new0(uint32_t, fabric->n_ports + 1);
	bool *sends = g_new0(bool, n * n);

	for (uint32_t i = 0; i < n; i++)
		sends[i * n + i] = true;
	for (uint32_t port = 0; port < fabric->n_ports; port++)
		class_of[port] = fabric->ports[port].lid % n;
	trial->demand = g_new(struct route_demand, 1);
	*trial->demand = (struct route_demand){n, class_of, sends};
	trial->idle = g_new(bool, net->n * net->n);
	memset(trial->idle, true, net->n * net->n);
	for (uint32_t a = 1; a < net->n_lids; a++)
		for (uint32_t b = 1; b < net->n_lids; b++)
			if (net->home[a] != PROOF_NONE && net->home[b] != PROOF_NONE &&
			    (net->home[a] == net->sm || net->home[b] == net->sm ||
			     (net->of_host[a] && net->of_host[b] &&
			      class_of[fabric->lid_port[a]] == class_of[fabric->lid_port[b]])))
				trial->idle[net->home[a] * net->n + net->home[b]] = false;
}

static void join_hosts(struct trial *trial)
{
	if (trial->demand) {
		g_free((void *)trial->demand->class_of);
		g_free((void *)trial->demand->sends);
	}
	g_clear_pointer(&trial->demand, g_free);
	g_clear_pointer(&trial->idle, g_free);
}

static void try_seed(uint64_t seed, struct tally *tally)
{
	struct trial trial = {.tally = tally};
	struct routing *routing;
	struct shape shape;

	do {
		shape_random(&shape, seed);
		seed += 1000000007;
	} while (shape.kind == SHAPE_LARGE && (shape_clear(&shape), true));
	trial.state = shape.state;
	trial.what = shape.what->str;
	trial.fabric = builder_freeze(shape.builder);
	trial.net = proof_net_new(trial.fabric);
	if (trial.net->n) {
		limit_tables(&trial);
		proof_net_free(trial.net);
		trial.net = proof_net_new(trial.fabric);
		if (!make_number(&trial.state, 3))
			divide_hosts(&trial);
		routing =
			compute(&trial, engines[make_number(&trial.state, G_N_ELEMENTS(engines))]);
		for (unsigned int i = 0; routing && i < BROKEN; i++) {
			struct routing *copy = copy_of(&trial, routing);

			if (i)
				break_tables(&trial, copy);
			expect_verdict(&trial, copy, i ? "broken" : "as computed");
			routing_unref(copy);
		}
		routing_unref(routing);
		join_hosts(&trial);
		try_changes(&trial, shape.builder);
	}
	proof_net_free(trial.net);
	fabric_unref(trial.fabric);
	shape_clear(&shape);
}

static void tell(const struct tally *tally)
{
	printf("%" PRIu64 " verdicts (%" PRIu64 " credit loops of hosts, %" PRIu64
	       " of switches only, %" PRIu64 " loops, %" PRIu64 " incomplete), %" PRIu64
	       " transitions (%" PRIu64 " at once, %" PRIu64 " would be unsafe at once, %" PRIu64
	       " ordered, %" PRIu64 " discard, %" PRIu64 " in haste, at most %" PRIu64 " stages)\n",
	       tally->verdicts, tally->cyclic, tally->switches_only, tally->looping,
	       tally->incomplete, tally->transitions, tally->at_once, tally->unsafe_at_once,
	       tally->ordered, tally->discarded, tally->budget_exceeded, tally->stages);
	fflush(stdout);
}

START_TEST(test_no_difference)
{
	struct shape_seeds seeds = shape_seeds(SEEDS);
	uint64_t first = seeds.first + (uint64_t)_i * CHUNK;
	struct tally tally = {0};

	for (uint64_t seed = first; seed < first + CHUNK && seed <= seeds.last; seed++)
		try_seed(seed, &tally);
	if (seeds.last - first + 1 >= CHUNK) { /* the trials covered their cases */
		ck_assert_uint_gt(tally.cyclic, 20);
		ck_assert_uint_gt(tally.switches_only, 1);
		ck_assert_uint_gt(tally.looping, 5);
		ck_assert_uint_gt(tally.incomplete, 20);
		ck_assert_uint_gt(tally.unsafe_at_once, 5);
	}
	tell(&tally);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("proof");
	TCase *tcase = tcase_create("proof");
	struct shape_seeds seeds = shape_seeds(SEEDS);

	tcase_set_timeout(tcase, 300);
	tcase_add_loop_test(tcase, test_no_difference, 0,
			    (int)((seeds.last - seeds.first) / CHUNK + 1));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
