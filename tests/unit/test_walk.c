// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Walks of a step: in which order they visit, when they wait, and what is left when they end. */
#include <check.h>

#include "sm/sm_private.h"
#include "tests/run_suite.h"

#define FULL 4096

static struct sm sm;
static struct runtime *rt;
static GString *story;

static void setup(void)
{
	rt = runtime_new(RUNTIME_VIRTUAL);
	sm = (struct sm){.actor = actor_new(rt, "sm"), .builder = builder_new()};
	story = g_string_new(NULL);
}

static void teardown(void)
{
	walks_drop(&sm);
	g_string_free(story, TRUE);
	actor_free(sm.actor);
	builder_free(sm.builder);
	runtime_free(rt);
}

static void tell(struct sm *of, void *item)
{
	ck_assert(of->sweep.at_step);
	g_string_append_printf(story, " %s%u", item ? (char *)item : "-", of->sweep.part);
	of->sweep.pending++;
}

static GPtrArray *items(const char *first, const char *second)
{
	GPtrArray *array = g_ptr_array_new();

	if (first)
		g_ptr_array_add(array, (char *)first);
	if (second)
		g_ptr_array_add(array, (char *)second);
	return array;
}

static bool go_on(void)
{
	bool through = walks_are_through(&sm, actor_now(sm.actor));

	ck_assert(!sm.sweep.at_step);
	return through;
}

/* A part of all before the next part of any, and a walk before the next one. */
START_TEST(order)
{
	sweep_walk(&sm, items("a", "b"), 2, tell);
	sweep_walk(&sm, items(NULL, NULL), 3, tell);
	sweep_walk(&sm, NULL, 2, tell);
	sweep_walk(&sm, items("c", NULL), 0, tell);
	sweep_walk(&sm, items("d", NULL), 1, tell);
	ck_assert(go_on());
	ck_assert_str_eq(story->str, " a0 b0 a1 b1 -0 -1 d0");
	ck_assert(go_on());
}
END_TEST

/* For one SMP that came back, or turned out to be slow, one more visit. */
START_TEST(room)
{
	sm.sweep.pending = FULL - 1;
	sweep_walk(&sm, items("a", "b"), 2, tell);
	ck_assert(!go_on());
	ck_assert_str_eq(story->str, " a0");
	sm.sweep.pending--;
	ck_assert(!go_on());
	ck_assert_str_eq(story->str, " a0 b0");
	sm.sweep.slow++;
	ck_assert(!go_on());
	ck_assert_str_eq(story->str, " a0 b0 a1");
	ck_assert(!go_on());
	sm.sweep.pending = 0;
	sm.sweep.slow = 0;
	ck_assert(go_on());
	ck_assert_str_eq(story->str, " a0 b0 a1 b1");
}
END_TEST

static void begin_another(struct sm *of, void *item)
{
	tell(of, item);
	sweep_walk(of, items("x", NULL), 1, tell);
}

/* One that is begun meanwhile comes after those that wait. */
START_TEST(walk_of_a_walk)
{
	sweep_walk(&sm, items("a", "b"), 1, begin_another);
	sweep_walk(&sm, items("c", NULL), 1, tell);
	ck_assert(go_on());
	ck_assert_str_eq(story->str, " a0 b0 c0 x0 x0");
}
END_TEST

START_TEST(dropped)
{
	sm.sweep.pending = FULL;
	sweep_walk(&sm, items("a", NULL), 1, tell);
	ck_assert(!go_on());
	walks_drop(&sm);
	ck_assert(go_on());
	ck_assert_str_eq(story->str, "");
}
END_TEST

/* A doubtful switch stays doubtful if the sweep is cancelled before it was asked. */
START_TEST(doubts_of_a_cancelled_sweep)
{
	struct iba_node_info info = {.node_type = IBA_NODE_SWITCH, .num_ports = 2, .node_guid = 1};
	struct builder_node *node = builder_add(sm.builder, &info);

	node->check = true;
	sm.sweep.pending = FULL;
	ck_assert_int_eq(step_compare(&sm), STEP_NEXT);
	ck_assert(!go_on());
	walks_drop(&sm);
	ck_assert(node->check);
	sm.sweep.pending = 0;
	ck_assert_int_eq(step_compare(&sm), STEP_NEXT);
	ck_assert(go_on()); /* nothing that could be compared is known of it */
	ck_assert(!node->check);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("walk");
	TCase *tcase = tcase_create("walk");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, order);
	tcase_add_test(tcase, room);
	tcase_add_test(tcase, walk_of_a_walk);
	tcase_add_test(tcase, dropped);
	tcase_add_test(tcase, doubts_of_a_cancelled_sweep);
	suite_add_tcase(suite, tcase);
	return suite;
}
