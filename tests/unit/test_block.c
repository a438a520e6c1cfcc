// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Blocks: how they are laid out and sealed, and what is accepted of a block made elsewhere. */
#define _GNU_SOURCE /* memfd_create, seals */
#include "plugin/base/block.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complib/random.h"
#include "tests/run_suite.h"

/* The head as the other side could write it: magic, size, then the places of sections. */
struct head {
	uint64_t magic, size;
	struct block_place places[BLOCK_SECTIONS];
};

static void make(struct block *block, const struct block_plan *plan)
{
	g_autoptr(GError) error = NULL;

	if (!block_new(block, "test", plan, &error))
		ck_abort_msg("%s", error->message);
}

static void freeze(struct block *block)
{
	g_autoptr(GError) error = NULL;

	if (!block_freeze(block, &error))
		ck_abort_msg("%s", error->message);
}

/* A second descriptor of the file, mapped. */
static void map(struct block *to, const struct block *from, bool writable)
{
	g_autoptr(GError) error = NULL;

	if (!block_map(to, dup(from->file), writable, &error))
		ck_abort_msg("%s", error->message);
}

/* Refused, with a reason, and the file is closed. */
static void check_refused(int file, bool writable, const char *why)
{
	g_autoptr(GError) error = NULL;
	struct block block;

	ck_assert(!block_map(&block, file, writable, &error));
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(strstr(error->message, why) != NULL, "%s", error->message);
	ck_assert_int_eq(block.file, -1);
	ck_assert_ptr_null(block.octets);
	ck_assert_int_eq(fcntl(file, F_GETFD), -1);
}

/* ---- layout ---- */

START_TEST(every_section_is_its_own)
{
	static const uint32_t sizes[] = {1, 2, 8, 24, 100};
	struct block_plan plan = {0};
	struct block block, other;
	uint64_t n;
	uint32_t size;

	for (unsigned int i = 0; i < BLOCK_SECTIONS - 1; i++)
		block_want(&plan, (i * 7) % (BLOCK_SECTIONS - 1), sizes[i % 5], i * 3);
	make(&block, &plan);
	for (unsigned int i = 0; i < BLOCK_SECTIONS - 1; i++) {
		uint8_t *at = block_section(&block, i, 1, &n, &size);

		ck_assert_ptr_nonnull(at);
		ck_assert_uint_eq((uintptr_t)at % 64, 0);
		ck_assert_uint_eq(n, plan.sections[i].n);
		ck_assert_uint_eq(size, plan.sections[i].element);
		for (uint64_t k = 0; k < n * size; k++)
			ck_assert_uint_eq(at[k], 0);
		memset(at, (int)i + 1, n * size);
	}
	freeze(&block);
	map(&other, &block, false);
	for (unsigned int i = 0; i < BLOCK_SECTIONS - 1; i++) {
		const uint8_t *at = block_section(&other, i, 1, &n, &size);

		ck_assert_uint_eq(n * size, plan.sections[i].n * plan.sections[i].element);
		for (uint64_t k = 0; k < n * size; k++)
			ck_assert_uint_eq(at[k], i + 1);
	}
	ck_assert_ptr_null(block_section(&other, BLOCK_SECTIONS - 1, 1, &n, &size));
	ck_assert_uint_eq(n, 0);
	block_clear(&other);
	block_clear(&block);
}
END_TEST

/* An empty section is there, in a block of any size; one that was not wanted is not. */
START_TEST(empty_sections)
{
	struct block_plan plan = {0};
	struct block block, other;
	uint64_t n = 9;

	make(&block, &plan);
	freeze(&block);
	map(&other, &block, false);
	ck_assert_ptr_null(block_section(&other, 0, 0, &n, NULL));
	ck_assert_uint_eq(n, 0);
	block_clear(&other);
	block_clear(&block);

	block_want(&plan, 3, 8, 0);
	make(&block, &plan);
	freeze(&block);
	map(&other, &block, false);
	ck_assert_ptr_nonnull(block_section(&other, 3, 8, &n, NULL));
	ck_assert_uint_eq(n, 0);
	block_clear(&other);
	block_clear(&block);
}
END_TEST

/* Elements may be longer than the reader knows them, but neither shorter nor out of line. */
START_TEST(elements)
{
	struct block_plan plan = {0};
	struct block block;
	uint64_t n;

	block_want(&plan, 0, 40, 2);
	block_want(&plan, 1, 42, 2);
	make(&block, &plan);
	ck_assert_ptr_nonnull(block_section(&block, 0, 24, &n, NULL));
	ck_assert_ptr_nonnull(block_section(&block, 0, 40, &n, NULL));
	ck_assert_ptr_null(block_section(&block, 0, 48, &n, NULL));
	ck_assert_ptr_null(block_section(&block, 1, 24, &n, NULL));
	ck_assert_ptr_null(block_section(&block, 1, 4, &n, NULL));
	ck_assert_ptr_nonnull(block_section(&block, 1, 2, &n, NULL));
	ck_assert_uint_eq(n, 2);
	block_clear(&block);
	block_clear(&block);
	ck_assert_ptr_null(block_section(&block, 0, 24, &n, NULL));
}
END_TEST

/* More than there can be of memory. */
START_TEST(too_large)
{
	g_autoptr(GError) error = NULL;
	struct block_plan plan = {0};
	struct block block;

	block_want(&plan, 0, 8, UINT64_C(1) << 60);
	ck_assert(!block_new(&block, "test", &plan, &error));
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(block.file, -1);
	g_clear_error(&error);
	block_want(&plan, 0, 8, UINT64_MAX / 8); /* with the head, it overflows */
	ck_assert(!block_new(&block, "test", &plan, &error));
	ck_assert_ptr_nonnull(error);
	g_clear_error(&error);
	block_want(&plan, 0, 16, UINT64_MAX / 8);
	ck_assert(!block_new(&block, "test", &plan, &error));
	ck_assert_ptr_nonnull(error);
}
END_TEST

/* ---- seals ---- */

static void check_frozen(int file)
{
	uint8_t octet = 1;

	ck_assert_int_eq(ftruncate(file, 0), -1);
	ck_assert_int_eq(ftruncate(file, 1 << 20), -1);
	ck_assert_int_eq(pwrite(file, &octet, 1, 0), -1);
	ck_assert_ptr_eq(mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), MAP_FAILED);
	ck_assert_int_eq(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
}

START_TEST(frozen)
{
	struct block_plan plan = {0};
	struct block block;

	block_want(&plan, 0, 8, 1000);
	make(&block, &plan);
	ck_assert_int_eq(ftruncate(block.file, 0), -1);
	ck_assert_int_eq(ftruncate(block.file, 1 << 20), -1);
	freeze(&block);
	check_frozen(block.file);
	check_refused(dup(block.file), true, "mmap");
	block_clear(&block);
}
END_TEST

/* A block that another process, or this one, still writes to cannot be frozen. */
START_TEST(mapped_elsewhere)
{
	g_autoptr(GError) error = NULL;
	struct block_plan plan = {0};
	struct block block, other;

	block_want(&plan, 0, 8, 1000);
	make(&block, &plan);
	map(&other, &block, true);
	ck_assert(!block_freeze(&block, &error));
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(block.file, -1);
	block_clear(&other);
}
END_TEST

START_TEST(memory_of_all_is_taken)
{
	struct block_plan plan = {0};
	struct block block;
	struct stat stat;

	block_want(&plan, 0, 1, 1 << 20);
	make(&block, &plan);
	ck_assert_int_eq(fstat(block.file, &stat), 0);
	ck_assert_int_ge(stat.st_blocks * 512, 1 << 20);
	block_clear(&block);
}
END_TEST

START_TEST(not_sealed)
{
	static const int lacking[] = {0, F_SEAL_SHRINK, F_SEAL_GROW | F_SEAL_WRITE,
				      F_SEAL_SHRINK | F_SEAL_WRITE};
	struct block_plan plan = {0};
	struct block block;
	int file;

	block_want(&plan, 0, 8, 10);
	make(&block, &plan);
	check_refused(dup(block.file), false, "not sealed"); /* it can be written to */
	for (unsigned int i = 0; i < G_N_ELEMENTS(lacking); i++) {
		file = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		ck_assert_int_eq(write(file, block.octets, block.size), (ssize_t)block.size);
		ck_assert_int_eq(fcntl(file, F_ADD_SEALS, lacking[i]), 0);
		check_refused(file, false, "not sealed");
	}
	block_clear(&block);
}
END_TEST

START_TEST(not_a_block)
{
	g_autoptr(GError) error = NULL;
	struct block block;
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	check_refused(ends[0], false, "not sealed");
	check_refused(ends[1], true, "not sealed");
	check_refused(open("/dev/null", O_RDWR | O_CLOEXEC), true, "not sealed");
	ck_assert(!block_map(&block, -1, false, &error));
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(block.file, -1);
	block_clear(&block);
}
END_TEST

/* A file in huge pages, which may be missing when they are read. */
START_TEST(huge_pages)
{
	int file = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);

	if (file < 0)
		return; /* the kernel has none */
	ck_assert_int_eq(ftruncate(file, 1 << 30), 0);
	ck_assert_int_eq(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), 0);
	check_refused(file, false, "not sealed");
}
END_TEST

/* ---- hostile heads ---- */

#define HOSTILE_SIZE 8192u
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static int sealed(const void *octets, size_t size)
{
	int file = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ck_assert_int_eq(write(file, octets, size), (ssize_t)size);
	ck_assert_int_eq(fcntl(file, F_ADD_SEALS, SEALS), 0);
	return file;
}

/* The octets of a good block with one section of 64-bit numbers in the last place. */
static struct head *good(void)
{
	struct head *head = g_malloc0(HOSTILE_SIZE);
	struct block_plan plan = {0};
	struct block block;

	make(&block, &plan);
	memcpy(head, block.octets, sizeof(*head));
	block_clear(&block);
	head->size = HOSTILE_SIZE;
	head->places[BLOCK_SECTIONS - 1] = (struct block_place){.at = 1024, .n = 1, .element = 8};
	return head;
}

static const struct {
	struct block_place place;
	bool fine;
} places[] = {
	{{1024, (HOSTILE_SIZE - 1024) / 8, 8, 0}, true},
	{{HOSTILE_SIZE, 0, 8, 0}, true},
	{{1024, (HOSTILE_SIZE - 1024) / 8 + 1, 8, 0}, false},
	{{HOSTILE_SIZE, 1, 1, 0}, false},
	{{HOSTILE_SIZE + 64, 0, 1, 0}, false},
	{{UINT64_MAX - 63, 1, 1, 0}, false},
	{{UINT64_MAX - 63, 64, 1, 0}, false},
	{{1024, UINT64_C(1) << 61, 8, 0}, false}, /* the product is 0 in 64 bits */
	{{1024, UINT64_MAX, UINT32_MAX, 0}, false},
	{{1024, UINT64_MAX / 8 + 2, 8, 0}, false},
	{{1028, 1, 8, 0}, false},
	{{0, 1, 8, 0}, false}, /* on the head itself */
	{{704, 1, 8, 0}, false},
	{{0, 0, 8, 0}, false},
};

START_TEST(hostile_places)
{
	g_autofree struct head *head = good();
	g_autoptr(GError) error = NULL;
	struct block block;
	uint64_t n;

	head->places[BLOCK_SECTIONS - 1] = places[_i].place;
	if (!places[_i].fine) {
		check_refused(sealed(head, HOSTILE_SIZE), false, "not within");
		return;
	}
	ck_assert(block_map(&block, sealed(head, HOSTILE_SIZE), false, &error));
	ck_assert_ptr_nonnull(block_section(&block, BLOCK_SECTIONS - 1, 8, &n, NULL));
	ck_assert_uint_eq(n, places[_i].place.n);
	block_clear(&block);
}
END_TEST

START_TEST(hostile_heads)
{
	g_autofree struct head *head = good();

	check_refused(sealed(head, sizeof(*head) - 1), false, "too short");
	check_refused(sealed(head, 0), false, "too short");
	check_refused(sealed(head, HOSTILE_SIZE - 1), false, "does not begin");
	head->size++;
	check_refused(sealed(head, HOSTILE_SIZE), false, "does not begin");
	head->size--;
	head->magic ^= 1;
	check_refused(sealed(head, HOSTILE_SIZE), false, "does not begin");
}
END_TEST

/* The other side of a writable block changes its table: what was accepted stays as it was. */
START_TEST(table_changes_later)
{
	struct block_plan plan = {0};
	struct block block, other;
	struct head *head;
	uint64_t state = 47, n;
	uint8_t *before;
	uint32_t size;

	block_want(&plan, 0, 8, 100);
	make(&block, &plan);
	map(&other, &block, true);
	before = block_section(&other, 0, 8, &n, &size);
	head = (struct head *)(void *)block.octets;
	for (unsigned int i = 0; i < 1000; i++) {
		for (unsigned int k = 0; k < BLOCK_SECTIONS; k++) {
			head->places[k].at = random_next(&state);
			head->places[k].n = random_next(&state);
			head->places[k].element = (uint32_t)random_next(&state);
		}
		ck_assert_ptr_eq(block_section(&other, 0, 8, &n, &size), before);
		ck_assert_uint_eq(n, 100);
		ck_assert_uint_eq(size, 8);
		ck_assert_ptr_null(block_section(&other, 1, 0, &n, &size));
	}
	block_clear(&other);
	block_clear(&block);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("block");
	TCase *tcase = tcase_create("block");

	tcase_add_test(tcase, every_section_is_its_own);
	tcase_add_test(tcase, empty_sections);
	tcase_add_test(tcase, elements);
	tcase_add_test(tcase, too_large);
	tcase_add_test(tcase, frozen);
	tcase_add_test(tcase, mapped_elsewhere);
	tcase_add_test(tcase, memory_of_all_is_taken);
	tcase_add_test(tcase, not_sealed);
	tcase_add_test(tcase, not_a_block);
	tcase_add_test(tcase, huge_pages);
	tcase_add_loop_test(tcase, hostile_places, 0, G_N_ELEMENTS(places));
	tcase_add_test(tcase, hostile_heads);
	tcase_add_test(tcase, table_changes_later);
	suite_add_tcase(suite, tcase);
	return suite;
}
