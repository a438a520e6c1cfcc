// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast trees as cables, switches and hosts come and go: trees that are kept equal those that a
 * full recomputation would give, and none crosses a switch without room for its MLID.
 */
#include <check.h>
#include <string.h>

#include "route/engine.h"
#include "route/renew/renew.h"
#include "sm/forward/trees.h"
#include "tests/run_suite.h"
#include "tests/unit/route_churn.h"
#include "tests/unit/route_shapes.h"

#define SEEDS 150
#define CHUNK 15 /* seeds for one process */
#define CHANGES 8
#define N_BLOCKS 2

static struct {
	uint64_t kept, grown; /* trees, after a change */
	uint64_t partial;     /* trees in fabrics where some switch had no room */
} seen;

/* ---- groups ---- */

static uint32_t random_endport(const struct fabric *fabric, uint64_t *state)
{
	uint32_t port;

	do {
		port = make_number(state, fabric->n_ports);
	} while (!fabric_is_endport(fabric, port));
	return port;
}

static struct mc_group *make_group(const struct fabric *fabric, uint16_t mlid, uint64_t *state)
{
	uint32_t n = make_number(state, 6);
	struct mc_group *group = mc_group_new(n);

	group->mlid = mlid;
	for (group->n_ports = 0; group->n_ports < n; group->n_ports++) {
		uint32_t port = random_endport(fabric, state);

		group->port_guids[group->n_ports] = fabric->ports[port].guid;
		group->only_sends[group->n_ports] = !make_number(state, 8);
	}
	return group;
}

static struct mc_groups *make_groups(const struct fabric *fabric, uint64_t *state)
{
	struct mc_groups *groups = mc_groups_new(1);

	for (uint32_t i = 0; i < N_BLOCKS; i++) {
		struct mc_block *block = mc_block_new(MC_PER_BLOCK);

		for (uint32_t k = 0; k < MC_PER_BLOCK; k++)
			block->groups[k] = make_group(
				fabric, (uint16_t)(IBA_LID_MCAST_FIRST + i * MC_PER_BLOCK + k),
				state);
		groups->blocks[i] = block;
		groups->n += block->n;
	}
	return groups;
}

/* ---- trees ---- */

static void on_trouble(void *arg, uint16_t mlid, uint32_t excluded, const char *witness)
{
	(void)excluded;
	ck_assert_msg(!witness, "%s: MLID 0x%04x: %s", (const char *)arg, mlid, witness);
}

static void follow(struct trees *trees, struct fabric *fabric, struct routing *routing,
		   struct mc_groups *groups, char *what)
{
	bool changed[IBA_MFT_BLOCKS];

	trees_begin(trees, fabric, routing, groups, false, true);
	for (uint32_t i = 0; i < IBA_MFT_BLOCKS; i++)
		trees_follow(trees, i, on_trouble, NULL, what);
	trees_end(trees, changed);
}

static bool same_tree(const struct route_tree *a, const struct route_tree *b)
{
	if (a->n != b->n)
		return false;
	return !a->n || (a->root == b->root &&
			 !memcmp(a->switches, b->switches, a->n * sizeof(*a->switches)) &&
			 !memcmp(a->ports, b->ports, a->n * sizeof(*a->ports)) &&
			 !memcmp(a->up, b->up, a->n));
}

static void check_room(const struct fabric *fabric, const struct route_tree *tree, uint16_t mlid,
		       const char *what)
{
	for (uint32_t i = 0; i < tree->n; i++)
		ck_assert_msg(fabric_mlids(fabric, tree->switches[i]) >
				      (uint32_t)(mlid - IBA_LID_MCAST_FIRST),
			      "%s: MLID 0x%04x crosses a switch without room", what, mlid);
}

/* Compares kept trees with those grown again after the previous ones. */
static void compare(const struct trees *trees, const struct mc_trees *before, struct fabric *fabric,
		    struct routing *routing, struct mc_groups *groups, char *what)
{
	struct trees *anew = trees_new();

	if (before)
		trees_seed(anew, before);
	follow(anew, fabric, routing, groups, what);
	for (uint32_t i = 0; i < N_BLOCKS * MC_PER_BLOCK; i++) {
		uint16_t mlid = (uint16_t)(IBA_LID_MCAST_FIRST + i);
		const struct route_tree *tree = trees_get(trees, mlid);

		ck_assert_msg(same_tree(tree, trees_get(anew, mlid)),
			      "%s: MLID 0x%04x: another tree", what, mlid);
		check_room(fabric, tree, mlid, what);
		if (before && tree == before->trees[i])
			seen.kept++;
		else
			seen.grown++;
	}
	trees_free(anew);
}

/* ---- fabrics ---- */

/* Each switch has the room that its GUID implies, which sometimes differs. */
static void make_room(struct fabric *fabric, uint64_t salt)
{
	static const uint16_t rooms[] = {0, 8, 40};
	bool partial = false;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		uint64_t state = fabric->nodes[fabric->switches[sw].node].guid ^ salt;
		bool small = salt && !make_number(&state, 5);

		fabric->switches[sw].info.multicast_fdb_cap =
			small ? rooms[make_number(&state, G_N_ELEMENTS(rooms))] : 0x4000;
		partial |= small;
	}
	seen.partial += partial ? N_BLOCKS * MC_PER_BLOCK : 0;
}

static struct routing *renew(const struct fabric *fabric, const char *engine,
			     const struct routing *old)
{
	const struct route_input input = {.threads = 1};
	enum route_way way;

	return routing_renew(route_find(engine), fabric, &input, old, &way, NULL);
}

struct trial {
	struct shape shape;
	struct churn *churn;
	uint64_t salt;
	struct fabric *fabric;
	struct routing *routing;
	struct mc_groups *groups;
	struct trees *trees;
};

static void change(struct trial *trial)
{
	uint64_t *state = &trial->shape.state;
	enum churn_kind kind = make_number(state, 8) ? CHURN_CABLE : make_number(state, 3);
	uint32_t thing = churn_choose(trial->churn, state, kind, make_number(state, 2));

	if (thing != FABRIC_NONE)
		churn_toggle(trial->churn, thing);
	if (!make_number(state, 10))
		trial->salt = make_number(state, 1000);
}

static void look(struct trial *trial)
{
	static const char *const engines[] = {"updn", "minhop", "dfsssp"}; /* with a trunk */
	struct mc_trees *before = trial->fabric ? trees_publish(trial->trees) : NULL;
	struct fabric *fabric = builder_freeze_changes(trial->shape.builder);
	struct routing *routing;

	if (fabric) {
		make_room(fabric, trial->salt);
		routing =
			renew(fabric, engines[trial->salt % G_N_ELEMENTS(engines)], trial->routing);
		if (!trial->groups)
			trial->groups = make_groups(fabric, &trial->shape.state);
		follow(trial->trees, fabric, routing, trial->groups, trial->shape.what->str);
		compare(trial->trees, before, fabric, routing, trial->groups,
			trial->shape.what->str);
		fabric_unref(trial->fabric);
		trial->fabric = fabric;
		routing_unref(trial->routing);
		trial->routing = routing;
	}
	mc_trees_unref(before);
}

/* The trunk of dfsssp begins where the SM is; nothing else changes. */
static void move_sm(struct trial *trial)
{
	struct mc_trees *before = trees_publish(trial->trees);
	struct fabric *fabric = trial->fabric;

	fabric->sm_port = make_number(&trial->shape.state, fabric->n_ports);
	routing_unref(trial->routing);
	trial->routing = renew(fabric, "dfsssp", NULL);
	follow(trial->trees, fabric, trial->routing, trial->groups, trial->shape.what->str);
	compare(trial->trees, before, fabric, trial->routing, trial->groups,
		trial->shape.what->str);
	mc_trees_unref(before);
}

static void try_seed(uint64_t seed)
{
	struct trial trial = {.trees = trees_new(), .salt = seed % 3 ? seed : 0};

	shape_random(&trial.shape, seed);
	trial.churn = churn_new(trial.shape.builder);
	for (unsigned int i = 0; i < CHANGES; i++) {
		look(&trial);
		change(&trial);
	}
	for (unsigned int i = 0; i < 2; i++)
		move_sm(&trial);
	trees_free(trial.trees);
	mc_groups_unref(trial.groups);
	fabric_unref(trial.fabric);
	routing_unref(trial.routing);
	churn_free(trial.churn);
	shape_clear(&trial.shape);
}

/* Number of trees kept in each chunk of the usual seeds: as many as possible. */
static const uint64_t kept[SEEDS / CHUNK] = {5142, 4322, 5070, 6018, 5424,
					     5339, 6193, 5035, 6198, 5597};

static void kept_is_as_grown(unsigned int chunk)
{
	struct shape_seeds seeds = shape_seeds(SEEDS);
	uint64_t before = seen.kept;

	for (uint64_t seed = seeds.first + (uint64_t)chunk * CHUNK;
	     seed < seeds.first + (uint64_t)(chunk + 1) * CHUNK && seed <= seeds.last; seed++)
		try_seed(seed);
	ck_assert_uint_gt(seen.kept, seen.grown / 10);
	ck_assert_uint_gt(seen.grown, 0);
	ck_assert_uint_gt(seen.partial, 0);
	if (seeds.first == 1 && seeds.last == SEEDS)
		ck_assert_uint_eq(seen.kept - before, kept[chunk]);
}

START_TEST(test_kept_is_as_grown)
{
	kept_is_as_grown((unsigned int)_i);
}
END_TEST

/* Other seeds. */
START_TEST(test_kept_is_as_grown_too)
{
	kept_is_as_grown((unsigned int)_i);
}
END_TEST

/* ---- roots ---- */

#define SPINES 4
#define SPREAD_TREE "xgft:4,4:1,4"

/* n groups of all hosts; one host is missing in those with fewer members. */
static struct mc_groups *groups_of_all(const struct fabric *fabric, uint32_t n, const bool *fewer)
{
	struct mc_groups *groups = mc_groups_new(1);
	struct mc_block *block = mc_block_new(n);

	for (uint32_t i = 0; i < n; i++) {
		struct mc_group *group = mc_group_new(fabric->n_ports);

		group->mlid = (uint16_t)(IBA_LID_MCAST_FIRST + i);
		group->n_ports = 0;
		for (uint32_t port = 0; port < fabric->n_ports; port++) {
			if (!fabric_is_endport(fabric, port) || !fabric->ports[port].num)
				continue;
			group->only_sends[group->n_ports] = false;
			group->port_guids[group->n_ports++] = fabric->ports[port].guid;
		}
		group->n_ports -= fewer && fewer[i];
		block->groups[i] = group;
	}
	groups->blocks[0] = block;
	groups->n = n;
	return groups;
}

static uint32_t root_of(const struct trees *trees, uint32_t i)
{
	return trees_get(trees, (uint16_t)(IBA_LID_MCAST_FIRST + i))->root;
}

/* How many of n trees have that root. */
static uint32_t trees_at(const struct trees *trees, uint32_t n, uint32_t root)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; i++)
		at += root_of(trees, i) == root;
	return at;
}

static void expect_even(const struct trees *trees, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_ge(trees_at(trees, n, root_of(trees, i)), n / SPINES);
		ck_assert_uint_le(trees_at(trees, n, root_of(trees, i)), (n + SPINES - 1) / SPINES);
	}
}

/*
 * Groups come while others, those of the spines with fewest trees, are grown again. No engine leads
 * the trees to a trunk.
 */
START_TEST(test_roots_are_spread)
{
	struct fabric *fabric = make_fabric(SPREAD_TREE, 0);
	struct mc_groups *groups = groups_of_all(fabric, 10, NULL);
	struct trees *trees = trees_new();
	bool fewer[16] = {false};

	make_room(fabric, 0);
	follow(trees, fabric, NULL, groups, SPREAD_TREE);
	expect_even(trees, 10);
	for (uint32_t i = 0; i < 10; i++)
		fewer[i] = trees_at(trees, 10, root_of(trees, i)) == 2;
	mc_groups_unref(groups);
	groups = groups_of_all(fabric, 16, fewer);
	follow(trees, fabric, NULL, groups, SPREAD_TREE);
	expect_even(trees, 16);
	trees_free(trees);
	mc_groups_unref(groups);
	fabric_unref(fabric);
}
END_TEST

/* Trees of the previous master whose groups are gone, and then one whose members are. */
START_TEST(test_seeded)
{
	struct fabric *fabric = make_fabric(SPREAD_TREE, 0);
	struct mc_groups *groups = groups_of_all(fabric, 10, NULL);
	struct trees *first = trees_new(), *trees = trees_new();
	struct mc_trees *before;
	bool fewer[5] = {false, false, true};

	make_room(fabric, 0);
	follow(first, fabric, NULL, groups, SPREAD_TREE);
	before = trees_publish(first);
	trees_seed(trees, before);
	ck_assert_ptr_eq(trees_get(trees, IBA_LID_MCAST_FIRST + 7), before->trees[7]);
	mc_groups_unref(groups);
	groups = groups_of_all(fabric, 5, NULL);
	follow(trees, fabric, NULL, groups, SPREAD_TREE);
	for (uint16_t i = 0; i < 10; i++) {
		const struct route_tree *tree = trees_get(trees, IBA_LID_MCAST_FIRST + i);

		ck_assert_msg(i < 5 ? tree != NULL : !tree, "MLID %u", i);
		ck_assert(!tree || same_tree(tree, before->trees[i]));
	}
	mc_groups_unref(groups);
	groups = groups_of_all(fabric, 5, fewer);
	follow(trees, fabric, NULL, groups, SPREAD_TREE);
	for (uint16_t i = 0; i < 5; i++)
		ck_assert_int_eq(
			same_tree(trees_get(trees, IBA_LID_MCAST_FIRST + i), before->trees[i]),
			!fewer[i]);
	mc_trees_unref(before);
	trees_free(first);
	trees_free(trees);
	mc_groups_unref(groups);
	fabric_unref(fabric);
}
END_TEST

TEST_SUITE
{
	struct shape_seeds seeds = shape_seeds(SEEDS);
	int chunks = (int)((seeds.last - seeds.first) / CHUNK + 1);
	Suite *suite = suite_create("trees");
	TCase *tcase = tcase_create("trees");

	tcase_add_loop_test(tcase, test_kept_is_as_grown, 0, (chunks + 1) / 2);
	tcase_add_loop_test(tcase, test_kept_is_as_grown_too, (chunks + 1) / 2, chunks);
	tcase_add_test(tcase, test_roots_are_spread);
	tcase_add_test(tcase, test_seeded);
	tcase_set_timeout(tcase, 600);
	suite_add_tcase(suite, tcase);
	return suite;
}
