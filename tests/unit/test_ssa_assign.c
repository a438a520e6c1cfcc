// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The parents of all nodes: properties of random trees, and how they change. */
#include <check.h>
#include <string.h>

#include "ssa/tree/assign.h"
#include "tests/run_suite.h"

#define MAX_NODES 400

static struct ssa_assign_rules rules = {.fanout = {10, 20, 200}};

static void add(struct ssa_tree_node *nodes, uint32_t *n, unsigned int roles, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++, (*n)++)
		nodes[*n] = (struct ssa_tree_node){.guid = *n + 1, .roles = roles};
}

static uint32_t children_of(const struct ssa_tree_node *nodes, uint32_t n, uint64_t guid,
			    unsigned int which)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++)
		count += nodes[i].parents[which] == guid;
	return count;
}

/* What holds for every tree. */
static void check_tree(struct ssa_tree_node *nodes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct ssa_tree_node *node = &nodes[i];
		unsigned int layer = ssa_assign_layer(node->roles);

		ck_assert_uint_eq(node->children, children_of(nodes, n, node->guid, 0));
		ck_assert_uint_eq(node->backups, children_of(nodes, n, node->guid, 1));
		ck_assert(!node->parents[1] || node->parents[0]);
		ck_assert(!node->parents[0] || node->parents[0] != node->parents[1]);
		for (unsigned int k = 0; k < 2; k++) {
			const struct ssa_tree_node *parent =
				ssa_assign_find(nodes, n, node->parents[k]);

			ck_assert(!node->parents[k] || parent);
			ck_assert(!parent || ssa_assign_layer(parent->roles) < layer);
			ck_assert(!parent || parent->guid != node->bad);
		}
	}
}

static unsigned int random_roles(GRand *random)
{
	static const unsigned int roles[] = {
		SSA_ROLE_CORE,
		SSA_ROLE_DISTRIBUTION,
		SSA_ROLE_DISTRIBUTION | SSA_ROLE_ACCESS,
		SSA_ROLE_ACCESS,
		SSA_ROLE_ACCESS | SSA_ROLE_AGENT,
	};

	return g_rand_int_range(random, 0, 4) ? SSA_ROLE_AGENT
					      : roles[g_rand_int_range(random, 0, 5)];
}

static uint32_t random_nodes(GRand *random, struct ssa_tree_node *nodes)
{
	uint32_t n = (uint32_t)g_rand_int_range(random, 1, MAX_NODES);

	for (uint32_t i = 0; i < n; i++)
		nodes[i] = (struct ssa_tree_node){.guid = (uint64_t)i * 3 + 1,
						  .roles = random_roles(random)};
	return n;
}

static void shuffle(GRand *random, struct ssa_tree_node *nodes, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)g_rand_int_range(random, 0, (gint32)i);
		struct ssa_tree_node node = nodes[i - 1];

		nodes[i - 1] = nodes[k];
		nodes[k] = node;
	}
}

static bool exists(const struct ssa_tree_node *nodes, uint32_t n, unsigned int layer)
{
	for (uint32_t i = 0; i < n; i++)
		if (ssa_assign_layer(nodes[i].roles) < layer)
			return true;
	return false;
}

/* The order of the nodes does not matter, and each node that can have a parent has one. */
START_TEST(test_random_trees)
{
	struct ssa_tree_node a[MAX_NODES], b[MAX_NODES];
	GRand *random = g_rand_new_with_seed((guint32)_i);
	uint32_t n = random_nodes(random, a);

	memcpy(b, a, sizeof(a[0]) * n);
	shuffle(random, b, n);
	ssa_assign(a, n, &rules);
	ssa_assign(b, n, &rules);
	ck_assert_mem_eq(a, b, sizeof(a[0]) * n);
	check_tree(a, n);
	for (uint32_t i = 0; i < n; i++)
		ck_assert(a[i].parents[0] || !exists(a, n, ssa_assign_layer(a[i].roles)));
	g_rand_free(random);
}
END_TEST

/* Only nodes whose parent is gone or bad are moved, and nothing changes twice. */
START_TEST(test_random_losses)
{
	struct ssa_tree_node before[MAX_NODES], after[MAX_NODES];
	GRand *random = g_rand_new_with_seed((guint32)_i);
	uint32_t n = random_nodes(random, before), left = 0;

	ssa_assign(before, n, &rules);
	for (uint32_t i = 0; i < n; i++)
		if (g_rand_int_range(random, 0, 5))
			after[left++] = before[i];
	for (uint32_t i = 0; i < left; i++)
		if (!g_rand_int_range(random, 0, 10))
			after[i].bad = after[i].parents[g_rand_int_range(random, 0, 2)];
	ssa_assign(after, left, &rules);
	check_tree(after, left);
	for (uint32_t i = 0; i < left; i++) {
		const struct ssa_tree_node *old = ssa_assign_find(before, n, after[i].guid);
		bool stays = old->parents[0] && after[i].bad != old->parents[0] &&
			     ssa_assign_find(after, left, old->parents[0]);

		ck_assert(!stays || after[i].parents[0] == old->parents[0]);
	}
	memcpy(before, after, sizeof(after[0]) * left);
	ssa_assign(after, left, &rules);
	ck_assert_mem_eq(before, after, sizeof(after[0]) * left);
	g_rand_free(random);
}
END_TEST

/* With room for all, no parent has more than its share, nor more than its fan-out. */
START_TEST(test_shares)
{
	struct ssa_tree_node nodes[MAX_NODES];
	uint32_t n = 0;

	add(nodes, &n, SSA_ROLE_CORE, 2);
	add(nodes, &n, SSA_ROLE_DISTRIBUTION, 4);
	add(nodes, &n, SSA_ROLE_ACCESS, 8);
	add(nodes, &n, SSA_ROLE_AGENT, 300);
	ssa_assign(nodes, n, &rules);
	check_tree(nodes, n);
	for (uint32_t i = 0; i < 2; i++)
		ck_assert_uint_eq(nodes[i].children, 2);
	for (uint32_t i = 2; i < 6; i++)
		ck_assert_uint_eq(nodes[i].children, 2);
	for (uint32_t i = 6; i < 14; i++) {
		ck_assert_uint_ge(nodes[i].children, 37);
		ck_assert_uint_le(nodes[i].children, 38);
		ck_assert_uint_le(nodes[i].backups, 45);
	}
}
END_TEST

/* What does not fit goes a layer up; if nothing fits, to the least crowded of the nearest. */
START_TEST(test_room)
{
	const struct ssa_assign_rules tight = {.fanout = {10, 20, 5}};
	struct ssa_tree_node nodes[MAX_NODES];
	uint32_t n = 0;

	add(nodes, &n, SSA_ROLE_CORE, 1);
	add(nodes, &n, SSA_ROLE_ACCESS, 2);
	add(nodes, &n, SSA_ROLE_AGENT, 13);
	ssa_assign(nodes, n, &tight);
	ck_assert_uint_eq(nodes[1].children, 5);
	ck_assert_uint_eq(nodes[2].children, 5);
	ck_assert_uint_eq(nodes[0].children, 5);
	add(nodes, &n, SSA_ROLE_AGENT, 4);
	ssa_assign(nodes, n, &tight);
	check_tree(nodes, n);
	ck_assert_uint_eq(nodes[0].children + nodes[1].children + nodes[2].children, n - 1);
	ck_assert_uint_eq(nodes[1].children, 7);
	ck_assert_uint_eq(nodes[2].children, 7);
}
END_TEST

static uint32_t odd_are_near(void *arg, const struct ssa_tree_node *child,
			     const struct ssa_tree_node *parent)
{
	(void)arg;
	return (child->guid + parent->guid) % 2 ? 4 : 2;
}

START_TEST(test_hops)
{
	struct ssa_assign_rules near = rules;
	struct ssa_tree_node nodes[MAX_NODES];
	uint32_t n = 0;

	near.hops = odd_are_near;
	add(nodes, &n, SSA_ROLE_ACCESS, 2);
	add(nodes, &n, SSA_ROLE_AGENT, 100);
	ssa_assign(nodes, n, &near);
	for (uint32_t i = 2; i < n; i += 2)
		ck_assert_uint_eq(nodes[i].parents[0], 1);
	ck_assert_uint_eq(nodes[0].children, 50);
}
END_TEST

/* A parent that has come late gets its share, no faster than is allowed. */
START_TEST(test_balance)
{
	struct ssa_assign_rules moving = rules;
	struct ssa_tree_node nodes[MAX_NODES];
	uint32_t n = 0, moved, rounds = 0;

	add(nodes, &n, SSA_ROLE_ACCESS, 1);
	add(nodes, &n, SSA_ROLE_AGENT, 100);
	ssa_assign(nodes, n, &rules);
	add(nodes, &n, SSA_ROLE_ACCESS, 1);
	ck_assert_uint_eq(ssa_assign(nodes, n, &rules), 0);
	ck_assert_uint_eq(nodes[0].children, 100);
	moving.moves = 5;
	do {
		moved = ssa_assign(nodes, n, &moving);
		ck_assert_uint_le(moved, 5);
		check_tree(nodes, n);
		rounds++;
	} while (moved && rounds < 100);
	ck_assert_uint_eq(nodes[0].children, 50);
	ck_assert_uint_le(rounds, 11);
}
END_TEST

/* A node that loses its primary goes to its backup, which it reads from already. */
START_TEST(test_backup_takes_over)
{
	struct ssa_tree_node nodes[MAX_NODES], left[MAX_NODES];
	uint32_t n = 0, m = 0;

	add(nodes, &n, SSA_ROLE_ACCESS, 3);
	add(nodes, &n, SSA_ROLE_AGENT, 30);
	ssa_assign(nodes, n, &rules);
	for (uint32_t i = 1; i < n; i++)
		left[m++] = nodes[i];
	ssa_assign(left, m, &rules);
	check_tree(left, m);
	for (uint32_t i = 0; i < m; i++) {
		const struct ssa_tree_node *old = ssa_assign_find(nodes, n, left[i].guid);

		if (old->parents[0] == 1)
			ck_assert_uint_eq(left[i].parents[0], old->parents[1]);
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_assign");
	TCase *tcase = tcase_create("assign");

	tcase_add_loop_test(tcase, test_random_trees, 0, 100);
	tcase_add_loop_test(tcase, test_random_losses, 0, 100);
	tcase_add_test(tcase, test_shares);
	tcase_add_test(tcase, test_room);
	tcase_add_test(tcase, test_hops);
	tcase_add_test(tcase, test_balance);
	tcase_add_test(tcase, test_backup_takes_over);
	suite_add_tcase(suite, tcase);
	return suite;
}
