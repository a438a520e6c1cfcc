// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Notices that wait: which are kept when there are too many, of one port and of all. */
#include <check.h>
#include <string.h>

#include "core/traps.h"
#include "iba/codes.h"
#include "sa/clients/notices.h"
#include "tests/run_suite.h"

static struct sa_notices *notices;

static void setup(void)
{
	notices = sa_notices_new();
}

static void teardown(void)
{
	sa_notices_free(notices);
}

static unsigned int add(uint16_t trap_number, uint32_t what, uint64_t origin)
{
	struct iba_sa_notice told = {
		.notice = {.is_generic = 1, .trap_number = trap_number, .issuer_lid = 1}};

	memcpy(told.notice.data_details, &what, sizeof(what));
	return sa_notices_add(notices, &told, (struct iba_gid){0, what}, origin, NULL, 0);
}

/* The GUIDs of notices after a serial, as text; a gap is a number in brackets. */
static char *tell(enum sa_notice_kind kind, uint64_t serial)
{
	const struct sa_notice *notice = sa_notices_after(notices, kind, serial);
	GString *text = g_string_new("");

	for (; notice; notice = sa_notice_next(notice))
		g_string_append_printf(text, notice->is_gap ? "[%u]" : "%u ",
				       notice->is_gap ? (unsigned int)notice->n_dropped
						      : (unsigned int)notice->gid.guid);
	return g_string_free(text, FALSE);
}

static void expect(enum sa_notice_kind kind, uint64_t serial, const char *told)
{
	g_autofree char *text = tell(kind, serial);

	ck_assert_str_eq(text, told);
}

/* A joined notice is at the place of the later one. */
START_TEST(test_joined)
{
	add(IBA_TRAP_LINK_INTEGRITY, 1, 7);
	add(IBA_TRAP_LINK_INTEGRITY, 2, 7);
	add(IBA_TRAP_LINK_INTEGRITY, 1, 7);
	expect(SA_NOTICES_OTHER, 0, "2 1 ");
	expect(SA_NOTICES_OTHER, 2, "1 ");
	expect(SA_NOTICES_PORTS, 0, "");
	add(IBA_TRAP_GID_OUT_OF_SERVICE, 3, 3);
	add(IBA_TRAP_GID_IN_SERVICE, 3, 3);
	expect(SA_NOTICES_PORTS, 0, "3 3 ");
	add(IBA_TRAP_GID_OUT_OF_SERVICE, 3, 3);
	expect(SA_NOTICES_PORTS, 0, "3 ");
	sa_notices_forget(notices, SA_NOTICES_PORTS, UINT64_MAX);
	expect(SA_NOTICES_PORTS, 0, "");
	expect(SA_NOTICES_OTHER, 0, "2 1 ");
}
END_TEST

/* A held notice says whether it is yet to be reported. */
START_TEST(test_held)
{
	struct sa_notice *notice;

	add(IBA_TRAP_GID_IN_SERVICE, 1, 1);
	notice = sa_notice_ref(sa_notices_after(notices, SA_NOTICES_PORTS, 0));
	ck_assert(sa_notice_counts(notice));
	add(IBA_TRAP_GID_OUT_OF_SERVICE, 1, 1);
	ck_assert(!sa_notice_counts(notice));
	sa_notice_unref(notice);
}
END_TEST

/* Of one origin the newest; of others all. */
START_TEST(test_too_much_of_one)
{
	unsigned int dropped = 0;

	add(IBA_TRAP_LINK_INTEGRITY, 0, 7);
	for (unsigned int i = 1; i <= SA_NOTICES_OF_ORIGIN + 5; i++)
		dropped += add(IBA_TRAP_LINK_INTEGRITY, i, 8);
	ck_assert_uint_eq(dropped, 5);
	ck_assert_uint_eq(sa_notices_count(notices, SA_NOTICES_OTHER), SA_NOTICES_OF_ORIGIN + 2);
	sa_notices_forget(notices, SA_NOTICES_OTHER, SA_NOTICES_OF_ORIGIN);
	expect(SA_NOTICES_OTHER, SA_NOTICES_OF_ORIGIN + 4, "1028 1029 ");
	ck_assert(sa_notices_after(notices, SA_NOTICES_OTHER, 0));
	sa_notices_clear(notices);
	ck_assert_uint_eq(sa_notices_count(notices, SA_NOTICES_OTHER), 0);
	add(IBA_TRAP_LINK_INTEGRITY, 9, 8);
	expect(SA_NOTICES_OTHER, 0, "9 ");
}
END_TEST

static unsigned int count_of(uint64_t origin)
{
	const struct sa_notice *notice = sa_notices_after(notices, SA_NOTICES_OTHER, 0);
	unsigned int n = 0;

	for (; notice; notice = sa_notice_next(notice))
		n += !notice->is_gap && sa_notice_origin(notice) == origin;
	return n;
}

/* All together: origins with most notices lose some, those with few lose none. */
START_TEST(test_too_much_of_all)
{
	const unsigned int n_noisy = 20, quiet = 1000;
	unsigned int room = sa_notices_room(SA_NOTICES_OTHER), what = 0, kept = 0;

	for (unsigned int i = 0; i < 3; i++)
		add(IBA_TRAP_LINK_INTEGRITY, what++, quiet);
	for (unsigned int i = 0; i < SA_NOTICES_OF_ORIGIN * n_noisy; i++)
		add(IBA_TRAP_LINK_INTEGRITY, what++, i % n_noisy);
	ck_assert_uint_eq(count_of(quiet), 3);
	for (unsigned int i = 0; i < n_noisy; i++) {
		ck_assert_uint_ge(count_of(i), room / n_noisy - 1);
		ck_assert_uint_le(count_of(i), room / n_noisy + 1);
		kept += count_of(i);
	}
	ck_assert_uint_eq(kept + 3, room);
	ck_assert_uint_eq(sa_notices_count(notices, SA_NOTICES_OTHER), room + n_noisy);
}
END_TEST

/* Between SM and SA: a LID that sends many traps does not displace those of others. */
START_TEST(test_traps)
{
	struct iba_notice notice = {.is_generic = 1, .trap_number = IBA_TRAP_LINK_INTEGRITY};
	struct traps *traps = NULL;
	unsigned int of_quiet = 0;

	for (unsigned int i = 0; i < 3 * TRAPS_KEPT; i++) {
		struct traps *before = traps;

		traps = traps_with(before, &notice, i % 20 ? 5 : 6);
		traps_unref(before);
	}
	ck_assert_uint_eq(traps->n, TRAPS_KEPT);
	ck_assert_uint_eq(traps->end, 3 * TRAPS_KEPT);
	for (unsigned int i = 0; i < traps->n; i++) {
		ck_assert(!i || traps->all[i].serial > traps->all[i - 1].serial);
		of_quiet += traps->all[i].from == 6;
	}
	ck_assert_uint_eq(of_quiet, 10);
	ck_assert_uint_eq(traps->all[traps->n - 1].serial, traps->end - 1);
	traps_unref(traps);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_notices");
	TCase *tcase = tcase_create("notices");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_joined);
	tcase_add_test(tcase, test_held);
	tcase_add_test(tcase, test_too_much_of_one);
	tcase_add_test(tcase, test_too_much_of_all);
	tcase_add_test(tcase, test_traps);
	suite_add_tcase(suite, tcase);
	return suite;
}
