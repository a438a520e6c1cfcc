// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Counters as text. The expected texts were printed by Debian's opensm 3.3.23. */
#include "perf/image/record.h"
#include "tests/run_suite.h"
#include "tests/unit/perf_fixture.h"

#include <check.h>
#include <stdlib.h>
#include <time.h>

static void use_utc(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
}

/* host-b with some errors and data. */
static struct perf_image *make(struct perf_record *record)
{
	struct perf_layout *layout = perf_leaf_layout(PERF_LEAF_TIME);
	struct perf_image *image = perf_leaf_image(layout, 180);
	uint32_t row = fixture_row(image->layout, PERF_LEAF_HOST_B, 1);

	perf_layout_unref(layout);
	image->total[PERF_SYMBOL_ERRORS][row] = 5;
	image->total[PERF_RCV_ERRORS][row] = 10;
	image->total[PERF_XMIT_DATA][row] = 1080;
	image->total[PERF_RCV_DATA][row] = UINT64_C(4611686018427388048);
	image->total[PERF_XMIT_PKTS][row] = 1048577;
	image->total[PERF_RCV_PKTS][row] = 15;
	image->total[PERF_UNICAST_XMIT_PKTS][row] = UINT64_C(98765432109879);
	image->total[PERF_UNICAST_RCV_PKTS][row] = 1023;
	image->total[PERF_MULTICAST_XMIT_PKTS][row] = 1024;
	ck_assert(perf_record_of(record, image, row));
	return image;
}

#define HEAD                                                                                       \
	"\"host-b\" 0x200000000000300 active TRUE port 1\n"                                        \
	"     Last Reset           : Wed Nov 18 11:06:40 2026\n"                                   \
	"     Last Error Update    : Wed Nov 18 11:09:40 2026\n"

START_TEST(for_people)
{
	struct perf_record record;
	struct perf_image *image = make(&record);
	g_autoptr(GString) out = g_string_new(NULL);

	perf_record_print(&record, out);
	ck_assert_str_eq(out->str,
			 HEAD "     symbol_err_cnt       : 5\n"
			      "     link_err_recover     : 0\n"
			      "     link_downed          : 0\n"
			      "     rcv_err              : 10\n"
			      "     rcv_rem_phys_err     : 0\n"
			      "     rcv_switch_relay_err : 0\n"
			      "     xmit_discards        : 0\n"
			      "     xmit_constraint_err  : 0\n"
			      "     rcv_constraint_err   : 0\n"
			      "     link_integrity_err   : 0\n"
			      "     buf_overrun_err      : 0\n"
			      "     vl15_dropped         : 0\n"
			      "     xmit_wait            : 0\n"
			      "     Last Data Update     : Wed Nov 18 11:09:40 2026\n"
			      "     xmit_data            : 1080 (4.219KB)\n"
			      "     rcv_data             : 4611686018427388048 (16.000EB)\n"
			      "     xmit_pkts            : 1048577 (1.000M)\n"
			      "     rcv_pkts             : 15 (15.000)\n"
			      "     unicast_xmit_pkts    : 98765432109879 (89.827T)\n"
			      "     unicast_rcv_pkts     : 1023 (1023.000)\n"
			      "     multicast_xmit_pkts  : 1024 (1.000K)\n"
			      "     multicast_rcv_pkts   : 0 (0.000)\n");
	g_string_truncate(out, 0);
	ck_assert(perf_record_has_errors(&record));
	perf_record_print_errors(&record, out);
	ck_assert_str_eq(out->str, HEAD "     symbol_err_cnt       : 5\n"
					"     rcv_err              : 10\n");
	perf_image_unref(image);
}
END_TEST

START_TEST(for_machines)
{
	struct perf_record record;
	struct perf_image *image = make(&record);
	g_autoptr(GString) out = g_string_new(NULL);

	record.active = false;
	record.name = "a\tname\nof two lines";
	perf_record_titles(out);
	perf_record_columns(&record, out);
	ck_assert_str_eq(
		out->str,
		"Name\tGUID\tActive\tPort\tLast Reset\tLast Error Update\tLast Data Update\t"
		"symbol_err_cnt\tlink_err_recover\tlink_downed\trcv_err\trcv_rem_phys_err\t"
		"rcv_switch_relay_err\txmit_discards\txmit_constraint_err\trcv_constraint_err\t"
		"link_int_err\tbuf_overrun_err\tvl15_dropped\txmit_wait\txmit_data\trcv_data\t"
		"xmit_pkts\trcv_pkts\tunicast_xmit_pkts\tunicast_rcv_pkts\tmulticast_xmit_pkts\t"
		"multicast_rcv_pkts\n"
		"a.name.of two lines\t0x200000000000300\tFALSE\t1\tWed Nov 18 11:06:40 2026\t"
		"Wed Nov 18 11:09:40 2026\tWed Nov 18 11:09:40 2026\t5\t0\t0\t10\t0\t0\t0\t0\t0\t"
		"0\t0\t0\t0\t1080\t4611686018427388048\t1048577\t15\t98765432109879\t1023\t1024\t"
		"0\n");
	perf_image_unref(image);
}
END_TEST

/* A port that was never read has none; waiting alone is an error; no time is too strange. */
START_TEST(special_records)
{
	struct perf_record record;
	struct perf_image *image = make(&record);
	g_autoptr(GString) out = g_string_new(NULL);
	uint32_t row = fixture_row(image->layout, PERF_LEAF_HOST_A, 1);

	ck_assert(!perf_record_of(&record, image, fixture_row(image->layout, PERF_LEAF_SWITCH, 4)));
	ck_assert(perf_record_of(&record, image, row));
	ck_assert(!perf_record_has_errors(&record));
	image->total[PERF_QP1_DROPPED][row] = 1; /* the classic daemon does not know it */
	ck_assert(perf_record_of(&record, image, row));
	ck_assert(!perf_record_has_errors(&record));
	image->total[PERF_XMIT_WAIT][row] = 1;
	ck_assert(perf_record_of(&record, image, row));
	ck_assert(perf_record_has_errors(&record));
	record.read = INT64_MAX;
	record.since = INT64_MIN;
	perf_record_print(&record, out);
	ck_assert_ptr_nonnull(strstr(out->str, "Last Reset           : ?\n"));
	perf_image_unref(image);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("perf_record");
	TCase *tcase = tcase_create("records");

	tcase_add_unchecked_fixture(tcase, use_utc, NULL);
	tcase_add_test(tcase, for_people);
	tcase_add_test(tcase, for_machines);
	tcase_add_test(tcase, special_records);
	suite_add_tcase(suite, tcase);
	return suite;
}
