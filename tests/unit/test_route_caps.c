// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Switches with a LinearFDBCap below the LIDs in use, or which refuse some blocks: no engine routes
 * LIDs through them that they cannot hold, on random fabrics of all kinds, as cables are lost, and
 * as caps change. The slow checker knows caps and refused blocks, too.
 */
#include <check.h>
#include <string.h>

#include "route/renew/renew.h"
#include "route/transition/fdb_cap.h"
#include "tests/run_suite.h"
#include "tests/unit/route_checker.h"
#include "tests/unit/route_churn.h"
#include "tests/unit/route_shapes.h"

#define SEEDS 300
#define CHUNK 20 /* seeds for one process */

/* In half of the cases one or two switches refuse one or two blocks. */
static void make_refusals(struct fabric *fabric, uint64_t *state)
{
	uint32_t n_blocks = fabric->max_lid / FABRIC_LFT_BLOCK + 1u, n = 0;
	uint32_t sw = make_number(state, fabric->n_switches + 1), times = make_number(state, 4);

	g_free(fabric->refusals);
	fabric->refusals = g_new(struct fabric_refusal, 4);
	for (; times > 1 && sw < fabric->n_switches && times < 4; times++, sw++)
		fabric->refusals[n++] =
			(struct fabric_refusal){sw, make_number(state, n_blocks)};
	fabric->n_refusals = n;
}

/* Some switches get one of a few caps, the others none. */
static void make_caps(struct fabric *fabric, uint64_t *state)
{
	uint16_t caps[3];

	for (unsigned int i = 0; i < G_N_ELEMENTS(caps); i++)
		caps[i] = 1 + make_number(state, fabric->max_lid + 1u);
	for (uint32_t i = 1 + make_number(state, 4); i > 0 && fabric->n_switches; i--) {
		uint32_t sw = make_number(state, fabric->n_switches);

		fabric->switches[sw].info.linear_fdb_cap =
			caps[make_number(state, G_N_ELEMENTS(caps))];
	}
	make_refusals(fabric, state);
}

static bool is_limited(const struct fabric *fabric)
{
	struct route_room *room = route_room_new(fabric);
	bool limited = room != NULL;

	route_room_free(room);
	return limited;
}

/* No table has an entry that its switch cannot hold. */
static void check_rows(const struct fabric *fabric, const struct routing *routing, const char *what)
{
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		for (uint32_t lid = 0; lid <= routing->top; lid++)
			if (!fabric_holds(fabric, sw, lid) &&
			    routing->lft[sw][lid] != ROUTE_NO_PORT)
				ck_abort_msg("%s: switch %u holds LID %u", what, sw, lid);
}

static unsigned int refused; /* by updn, since a test began to count */

/* Engines that refuse what they cannot route without credit loops. */
static bool is_deadlock_free(const struct route_engine *engine)
{
	static const char *const layered[] = {"lash", "dfsssp", "hoplanes", NULL};

	return engine->promises & ROUTE_DEADLOCK_FREE || g_strv_contains(layered, engine->name);
}

/* The routing of an engine after another one, or NULL if it refuses, which minhop must not. */
static struct routing *renew(const struct route_engine *engine, const struct fabric *fabric,
			     const struct routing *old, const char *what)
{
	const struct route_input input = {.threads = 1};
	g_autoptr(GError) error = NULL;
	g_autofree char *text = g_strdup_printf("%s, %s", what, engine->name);
	enum route_way way;
	struct routing *routing = routing_renew(engine, fabric, &input, old, &way, &error);

	if (!routing && strcmp(engine->name, "minhop")) {
		refused += !strcmp(engine->name, "updn");
		return NULL;
	}
	ck_assert_msg(routing != NULL, "%s: %s", text, error ? error->message : "");
	checker_accept_owned(fabric, routing, text);
	check_rows(fabric, routing, text);
	ck_assert_msg(!is_deadlock_free(engine) || routing->promises & ROUTE_DEADLOCK_FREE,
		      "%s: not free of credit loops", text);
	ck_assert_int_eq(routing->unlimited != NULL, is_limited(fabric));
	return routing;
}

/* ---- random ---- */

/* Equal input gives an equal result; other caps give other tables, and none the previous ones. */
static void follow(const struct route_engine *engine, struct shape *shape, struct fabric *fabric,
		   struct routing *first)
{
	const char *what = shape->what->str;
	struct routing *routing = renew(engine, fabric, first, what), *free_of;

	ck_assert_ptr_eq(routing, first);
	routing_unref(routing);
	make_caps(fabric, &shape->state);
	routing = renew(engine, fabric, first, what);
	if (!routing)
		return;
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		fabric->switches[sw].info.linear_fdb_cap = 0;
	fabric->n_refusals = 0;
	free_of = renew(engine, fabric, routing, what);
	ck_assert(!routing->unlimited || free_of == routing->unlimited);
	routing_unref(free_of);
	routing_unref(routing);
}

/* Something is lost below it. */
static void lose(const struct route_engine *engine, struct shape *shape,
		 const struct fabric *before, const struct routing *first)
{
	struct churn *churn = churn_new(shape->builder);
	uint32_t thing = churn_choose(churn, &shape->state, make_number(&shape->state, 3), false);
	struct fabric *fabric;

	if (thing != FABRIC_NONE)
		churn_toggle(churn, thing);
	fabric = builder_freeze(shape->builder);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		uint32_t was =
			fabric_node_by_guid(before, fabric->nodes[fabric->switches[sw].node].guid);

		fabric->switches[sw].info.linear_fdb_cap =
			before->switches[before->nodes[was].sw].info.linear_fdb_cap;
	}
	routing_unref(renew(engine, fabric, first, shape->what->str));
	if (thing != FABRIC_NONE)
		churn_toggle(churn, thing);
	churn_free(churn);
	fabric_unref(fabric);
}

#define LAST_TREE 5 /* of the engines; those after it are equal here */

static void try_seed(uint64_t seed)
{
	struct shape shape;

	for (unsigned int e = 0; route_engines()[e]; e++) {
		const struct route_engine *engine = route_engines()[e];
		struct routing *routing;
		struct fabric *fabric;

		if (!strcmp(engine->name, "file") || !strcmp(engine->name, "torus-2QoS"))
			continue; /* there is none */
		if (e > LAST_TREE && (seed + e) % 4)
			continue; /* one of the layered ones */
		shape_random(&shape, seed);
		fabric = builder_freeze(shape.builder);
		if (fabric)
			make_caps(fabric, &shape.state);
		routing = fabric ? renew(engine, fabric, NULL, shape.what->str) : NULL;
		if (routing) {
			lose(engine, &shape, fabric, routing);
			follow(engine, &shape, fabric, routing);
		}
		routing_unref(routing);
		fabric_unref(fabric);
		shape_clear(&shape);
	}
}

START_TEST(test_random)
{
	struct shape_seeds seeds = shape_seeds(SEEDS);

	refused = 0;
	for (uint64_t i = 0; i < CHUNK; i++) {
		uint64_t seed = seeds.first + (uint64_t)_i * CHUNK + i;

		if (seed <= seeds.last)
			try_seed(seed);
	}
	ck_assert_uint_le(refused, CHUNK / 6); /* 16 in all, at most 3 in a chunk */
}
END_TEST

/* ---- a tree with a small spine ---- */

struct tree {
	struct fabric *fabric;
	uint32_t spine;
};

static uint32_t switch_of(const struct fabric *fabric, const char *description)
{
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		if (!strcmp(fabric->nodes[fabric->switches[sw].node].description, description))
			return sw;
	ck_abort_msg("no %s", description);
}

static void tree_init(struct tree *tree)
{
	tree->fabric = make_fabric("xgft:16,13:1,4", 0);
	tree->spine = switch_of(tree->fabric, "spine-2-1");
	tree->fabric->switches[tree->spine].info.linear_fdb_cap = 64;
}

/* LIDs in a range of hosts elsewhere that leaves send to the spine. */
static unsigned int sent_to_spine(const struct tree *tree, const struct routing *routing,
				  uint32_t first, uint32_t last)
{
	unsigned int n = 0;

	for (uint32_t sw = 0; sw < tree->fabric->n_switches; sw++)
		for (uint32_t lid = first; lid <= last; lid++)
			n += checker_next_switch(tree->fabric, sw,
						 routing_port(routing, sw, lid)) == tree->spine;
	return n;
}

/* LIDs that it holds go through it, others through the other three; in every engine for trees. */
START_TEST(test_small_spine)
{
	static const char *const names[] = {"minhop", "updn", "dnup", "ftree"};
	const struct route_engine *engine = route_find(names[_i]);
	struct tree tree;
	struct routing *routing;

	tree_init(&tree);
	routing = renew(engine, tree.fabric, NULL, "tree");
	ck_assert_ptr_nonnull(routing);
	ck_assert_uint_gt(sent_to_spine(&tree, routing, 1, 63), 100);
	ck_assert_uint_eq(sent_to_spine(&tree, routing, 64, tree.fabric->max_lid), 0);
	ck_assert_int_ne(routing->promises & ROUTE_DEADLOCK_FREE, 0);
	routing_unref(routing);
	fabric_unref(tree.fabric);
}
END_TEST

/* The verifier refuses tables that lead through it. */
START_TEST(test_verifier_knows)
{
	const struct route_input input = {.threads = 1};
	struct route_verdict verdict;
	struct tree tree;
	struct routing *routing;

	tree_init(&tree);
	routing = route_compute(route_find("updn"), tree.fabric, &input, NULL);
	ck_assert(!route_verify(tree.fabric, routing, &verdict));
	ck_assert(!verdict.complete);
	ck_assert_ptr_nonnull(strstr(verdict.witness, "spine-2-1"));
	route_verdict_clear(&verdict);
	routing_unref(routing);
	fabric_unref(tree.fabric);
}
END_TEST

/* However many different caps there are, the number of computations is bounded. */
START_TEST(test_many_caps)
{
	struct fabric *fabric = make_fabric("fattree:8", 0);
	const struct route_input input = {.threads = 1};
	struct route_room *room;
	struct routing *routing;
	enum route_way way;
	unsigned int steps = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		fabric->switches[sw].info.linear_fdb_cap = fabric->max_lid - sw;
	fabric->n_refusals = 0;
	room = route_room_new(fabric);
	for (uint32_t lid = 0; lid < FABRIC_LIDS; lid = route_room_next(room, lid))
		steps++;
	route_room_free(room);
	ck_assert_uint_le(steps, 16);
	routing = routing_renew(route_find("updn"), fabric, &input, NULL, &way, NULL);
	ck_assert_ptr_nonnull(routing);
	check_rows(fabric, routing, "many");
	routing_unref(routing);
	fabric_unref(fabric);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("route_caps");
	TCase *tcase = tcase_create("caps");
	struct shape_seeds seeds = shape_seeds(SEEDS);
	int chunks = (int)((seeds.last - seeds.first) / CHUNK) + 1;

	tcase_set_timeout(tcase, 300);
	tcase_add_loop_test(tcase, test_random, 0, chunks);
	tcase_add_loop_test(tcase, test_small_spine, 0, 4);
	tcase_add_test(tcase, test_verifier_knows);
	tcase_add_test(tcase, test_many_caps);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
