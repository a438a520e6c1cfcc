// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The heap against a reference that is scanned, under random operations. */
#include <check.h>
#include <glib.h>

#include <complib/heap.h>

#include "tests/run_suite.h"

#define ELEMENTS 200
#define OPERATIONS 20000

struct element {
	unsigned int key;
	size_t place;
};

static bool element_before(const void *a, const void *b)
{
	return ((const struct element *)a)->key < ((const struct element *)b)->key;
}

static size_t *element_place(void *element)
{
	return &((struct element *)element)->place;
}

/* Compares with a scan of all elements; one assertion a call, as each costs a system call. */
static bool is_consistent(const struct heap *heap, const struct element *all)
{
	const struct element *top = heap_top(heap);
	unsigned int least = G_MAXUINT, count = 0;

	for (int i = 0; i < ELEMENTS; i++) {
		if (!all[i].place)
			continue;
		if (all[i].place > heap->count || heap->slots[all[i].place] != &all[i])
			return false;
		least = MIN(least, all[i].key);
		count++;
	}
	for (size_t i = 2; i <= heap->count; i++)
		if (element_before(heap->slots[i], heap->slots[i / 2]))
			return false;
	return heap->count == count && (count ? top->key == least : !top);
}

START_TEST(test_random_operations)
{
	g_autofree struct element *all = g_new0(struct element, ELEMENTS);
	GRand *rand = g_rand_new_with_seed(42);
	struct heap heap;

	heap_init(&heap, element_before, element_place);
	for (int i = 0; i < OPERATIONS; i++) {
		struct element *e = &all[g_rand_int_range(rand, 0, ELEMENTS)];
		unsigned int key = (unsigned int)g_rand_int_range(rand, 0, 100);

		if (!e->place) {
			e->key = key;
			heap_insert(&heap, e);
		} else if (g_rand_boolean(rand)) {
			e->key = key;
			heap_moved(&heap, e);
		} else {
			heap_remove(&heap, e);
		}
		ck_assert(is_consistent(&heap, all));
	}
	heap_clear(&heap);
	for (int i = 0; i < ELEMENTS; i++)
		ck_assert_uint_eq(all[i].place, 0);
	g_rand_free(rand);
}
END_TEST

START_TEST(test_drains_in_order)
{
	struct element all[ELEMENTS] = {0};
	unsigned int last = 0;
	struct element *e;
	struct heap heap;
	int drained = 0;

	heap_init(&heap, element_before, element_place);
	for (int i = 0; i < ELEMENTS; i++) {
		all[i].key = (unsigned int)(i * 7919) % 1009;
		heap_insert(&heap, &all[i]);
	}
	while ((e = heap_top(&heap))) {
		ck_assert_uint_ge(e->key, last);
		last = e->key;
		heap_remove(&heap, e);
		drained++;
	}
	ck_assert_int_eq(drained, ELEMENTS);
	heap_clear(&heap);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("heap");
	TCase *tcase = tcase_create("heap");

	tcase_add_test(tcase, test_random_operations);
	tcase_add_test(tcase, test_drains_in_order);
	suite_add_tcase(suite, tcase);
	return suite;
}
