// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a sweep of the counters writes to the log. */
#include "perf/read/report.h"
#include "tests/run_suite.h"
#include "tests/unit/perf_fixture.h"

#include <check.h>
#include <string.h>

static struct options *options;
static struct perf_image *old, *new;
static uint32_t host_a, host_b, leaf[5]; /* rows; those of the leaf by port */
static char *text;

static void set_up(void)
{
	struct perf_layout *layout = perf_leaf_layout(PERF_LEAF_TIME);

	options = options_new();
	old = perf_leaf_image(layout, 0);
	for (uint32_t row = 0; row < layout->n_rows; row++)
		old->total[PERF_SYMBOL_ERRORS][row] = 1000;
	new = perf_leaf_next(old, 180);
	perf_layout_unref(layout);
	host_a = fixture_row(new->layout, PERF_LEAF_HOST_A, 1);
	host_b = fixture_row(new->layout, PERF_LEAF_HOST_B, 1);
	for (uint8_t port = 1; port <= 4; port++)
		leaf[port] = fixture_row(new->layout, PERF_LEAF_SWITCH, port);
}

static void tear_down(void)
{
	g_clear_pointer(&text, g_free);
	perf_image_unref(old);
	perf_image_unref(new);
	options_unref(options);
}

/* The texts of the lines after their head, and the flags of each before it. */
static const char *report_at(const struct perf_image *before, unsigned int flags)
{
	GString *all = g_string_new(NULL);
	struct log *log = log_new_capture(all);
	g_auto(GStrv) lines = NULL;
	g_autoptr(GString) out = g_string_new(NULL);
	struct perf_image *ring[] = {(struct perf_image *)before};
	struct perf_images images = {.n = before ? 1 : 0, .images = ring};

	log_set_flags(log, flags);
	perf_report_sweep(log, options, &images, new);
	log_free(log);
	lines = g_strsplit(all->str, "\n", -1);
	for (unsigned int i = 0; lines[i] && *lines[i]; i++)
		g_string_append_printf(out, "%s\n", strstr(lines[i], "0x0"));
	g_string_free(all, TRUE);
	g_free(text);
	return text = g_strdup(out->str);
}

static const char *report(void)
{
	return report_at(old, LOG_ERROR | LOG_INFO);
}

START_TEST(lines_of_the_classic_daemon)
{
	new->total[PERF_SYMBOL_ERRORS][host_b] += 5;
	ck_assert_str_eq(report(),
			 "0x01 -> ERR 5431: SymbolErrorCounter : 5 : node \"host-b\" (NodeGUID: "
			 "0x200000000000300) : port 1 connected to \"leaf one\" (NodeGUID: "
			 "0x200000080000100) : port 2\n");
	new->total[PERF_LINK_DOWNED][leaf[3]] += 1;
	new->layout->places[leaf[3]].peer = PERF_NONE;
	ck_assert_str_eq(report(),
			 "0x01 -> ERR 5433: LinkDownedCounter : 1 : node \"leaf one\" (NodeGUID: "
			 "0x200000080000100) : port 3\n"
			 "0x01 -> ERR 5431: SymbolErrorCounter : 5 : node \"host-b\" (NodeGUID: "
			 "0x200000000000300) : port 1 connected to \"leaf one\" (NodeGUID: "
			 "0x200000080000100) : port 2\n");
}
END_TEST

/* The image before knows what was at the other end of a cable that is pulled. */
START_TEST(a_pulled_cable)
{
	struct perf_layout *now = perf_leaf_layout(PERF_LEAF_TIME);

	perf_image_unref(new);
	new = perf_leaf_image(now, 180);
	memcpy(new->total[PERF_SYMBOL_ERRORS], old->total[PERF_SYMBOL_ERRORS],
	       now->n_rows * sizeof(uint64_t));
	now->places[leaf[2]].peer = now->places[host_b].peer = PERF_NONE;
	new->total[PERF_LINK_DOWNED][leaf[2]] = 1;
	ck_assert_str_eq(report(),
			 "0x01 -> ERR 5433: LinkDownedCounter : 1 : node \"leaf one\" (NodeGUID: "
			 "0x200000080000100) : port 2 connected to \"host-b\" (NodeGUID: "
			 "0x200000000000300) : port 1\n");
	perf_layout_unref(now);
}
END_TEST

START_TEST(every_counter_has_its_number)
{
	static const char *const numbers[] = {"5431: SymbolErrorCounter : 1 ",
					      "5432: LinkErrorRecoveryCounter : 1 ",
					      "5433: LinkDownedCounter : 1 ",
					      "5434: PortRcvErrors : 1 ",
					      "5435: PortRcvRemotePhysicalErrors : 1 ",
					      "5436: PortRcvSwitchRelayErrors : 1 ",
					      "5437: PortXmitDiscards : 1 ",
					      "5438: PortXmitConstraintErrors : 1 ",
					      "5439: PortRcvConstraintErrors : 1 ",
					      "543A: LocalLinkIntegrityErrors : 1 ",
					      "543B: ExcessiveBufferOverrunErrors : 1 ",
					      "543C: VL15Dropped : 1 "};

	options->perfmgr_log_lines = 100;
	for (int i = 0; i < PERF_COUNTERS; i++)
		new->total[i][host_a]++;
	report();
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
		ck_assert_msg(strstr(text, numbers[i]) != NULL, "%s is not in\n%s", numbers[i],
			      text);
	ck_assert_ptr_null(strstr(text, "XmitWait"));
	options->perfmgr_log_errors = false;
	ck_assert_str_eq(report(), "");
}
END_TEST

START_TEST(waiting)
{
	options->perfmgr_xmit_wait_log = true;
	options->perfmgr_xmit_wait_threshold = 100;
	new->total[PERF_XMIT_WAIT][host_a] = 99;
	ck_assert_str_eq(report(), "");
	new->total[PERF_XMIT_WAIT][host_a] = 100;
	ck_assert_str_eq(report(), "0x01 -> ERR 543D: XmitWait : 100 : node \"host a\" (NodeGUID: "
				   "0x200000000000200) : port 1\n");
	options->perfmgr_xmit_wait_log = false;
	ck_assert_str_eq(report(), "");
}
END_TEST

/* Nothing is known of what came before a first reading, or during a silence. */
START_TEST(no_line_without_two_readings)
{
	new->total[PERF_RCV_ERRORS][host_a] = 7;
	new->flags[host_a] |= PERF_BASELINE;
	ck_assert_str_eq(report(), "");
	new->flags[host_a] = PERF_EVER; /* not asked */
	ck_assert_str_eq(report(), "");
	new->flags[host_a] = PERF_READ | PERF_EVER;
	old->flags[host_a] = 0;
	ck_assert_str_eq(report(), "");
	ck_assert_str_eq(report_at(NULL, LOG_ERROR | LOG_INFO), "");
	old->flags[host_a] = PERF_EVER | PERF_SILENT;
	report();
	ck_assert_ptr_nonnull(strstr(text, "ERR 5434: PortRcvErrors : 7 "));
	ck_assert_ptr_nonnull(strstr(text, "0x02 -> PerfMgr: the agent of host a "
					   "(0x200000000000200) port 1 LID 1 answers again\n"));
}
END_TEST

/* After clear_counters totals are below the old ones. */
START_TEST(totals_that_the_operator_cleared)
{
	memset(new->total[PERF_SYMBOL_ERRORS], 0, new->layout->n_rows * sizeof(uint64_t));
	ck_assert_str_eq(report(), "");
	new->total[PERF_SYMBOL_ERRORS][host_b] = 3;
	report();
	ck_assert_ptr_nonnull(strstr(text, "SymbolErrorCounter : 3 : node \"host-b\""));
}
END_TEST

START_TEST(the_worst_first_and_a_bound)
{
	options->perfmgr_log_lines = 2;
	new->total[PERF_SYMBOL_ERRORS][host_a] += 10;
	new->total[PERF_SYMBOL_ERRORS][host_b] += 100000;
	new->total[PERF_XMIT_DISCARDS][leaf[1]] += 10000;
	new->total[PERF_LINK_DOWNED][leaf[2]] += 2;
	report();
	ck_assert(g_str_has_prefix(text, "0x01 -> ERR 5431: SymbolErrorCounter : 100000 "));
	ck_assert_ptr_nonnull(strstr(text, "\n0x01 -> ERR 5437: PortXmitDiscards : 10000 "));
	ck_assert_ptr_null(strstr(text, "5433"));
	ck_assert_ptr_nonnull(strstr(text, "\n0x01 -> ERR PerfMgr: 2 more lines of this sweep are "
					   "not written: perfmgr_log_lines is 2; "));
	options->perfmgr_log_lines = 0;
	report();
	ck_assert(g_str_has_prefix(text, "0x01 -> ERR PerfMgr: 4 more lines "));
}
END_TEST

START_TEST(cleared_by_others)
{
	new->flags[host_b] |= PERF_RESET | PERF_RESET_ERRORS;
	new->flags[leaf[1]] |= PERF_RESET | PERF_RESET_DATA;
	ck_assert_str_eq(report(),
			 "0x01 -> ERR 540A: Detected an out of band error clear on host-b "
			 "(0x200000000000300) port 1\n"
			 "0x01 -> ERR 540B: Detected an out of band data counter clear on "
			 "node leaf one (0x200000080000100) port 1\n");
	new->flags[host_b] |= PERF_RESTARTED; /* then no program cleared them */
	new->flags[leaf[1]] |= PERF_RESTARTED;
	ck_assert_str_eq(report(), "");
	new->flags[host_b] = PERF_READ | PERF_EVER | PERF_CLEARED;
	ck_assert_str_eq(report(), "");
	report_at(old, LOG_ERROR | LOG_INFO | LOG_VERBOSE);
	ck_assert_str_eq(text, "0x04 -> PerfMgr: Counter overflow: host-b (0x200000000000300) port "
			       "1; clearing counters\n");
}
END_TEST

/* Once for each change, and once for a switch. */
START_TEST(agents)
{
	for (unsigned int port = 1; port <= 3; port++)
		new->flags[leaf[port]] = PERF_SILENT | PERF_EVER;
	new->flags[host_b] = PERF_REFUSED | PERF_EVER;
	ck_assert_str_eq(report(),
			 "0x01 -> ERR 5402: leaf one (0x200000080000100) port 1 LID 4: its "
			 "agent does not answer\n"
			 "0x01 -> ERR 5402: host-b (0x200000000000300) port 1 LID 2: its "
			 "agent answers with errors only\n");
	memcpy(old->flags, new->flags, new->layout->n_rows * sizeof(*new->flags));
	ck_assert_str_eq(report(), "");
	for (unsigned int port = 1; port <= 3; port++)
		new->flags[leaf[port]] = PERF_READ | PERF_EVER;
	ck_assert_str_eq(report(),
			 "0x02 -> PerfMgr: the agent of leaf one (0x200000080000100) port 1 "
			 "LID 4 answers again\n");
}
END_TEST

/* The layout changes: rows are found by GUID and port; new ones are not compared. */
START_TEST(another_layout)
{
	struct perf_layout *layout = perf_leaf_layout(PERF_LEAF_TIME);
	struct perf_layout *less = perf_leaf_layout(PERF_LEAF_TIME);

	/* host a is not in the old image. */
	for (uint32_t i = 0; i < less->n_rows; i++)
		less->places[i].peer = PERF_NONE;
	g_free(less->nodes[0].name);
	g_free(less->nodes[0].description);
	memmove(less->nodes, less->nodes + 1, --less->n_nodes * sizeof(*less->nodes));
	memmove(less->places, less->places + 1, --less->n_rows * sizeof(*less->places));
	for (uint32_t i = 0; i < less->n_nodes; i++)
		less->nodes[i].first_row--;
	for (uint32_t i = 0; i < less->n_rows; i++)
		less->places[i].node--;
	perf_image_unref(old);
	perf_image_unref(new);
	old = perf_leaf_image(less, 0);
	new = perf_leaf_image(layout, 180);
	new->total[PERF_RCV_ERRORS][host_a] = 9;
	new->total[PERF_RCV_ERRORS][host_b] = 8;
	new->total[PERF_RCV_ERRORS][leaf[3]] = 7;
	report();
	ck_assert_ptr_null(strstr(text, "host a"));
	ck_assert_ptr_nonnull(strstr(text, "PortRcvErrors : 8 : node \"host-b\""));
	ck_assert_ptr_nonnull(strstr(text, "PortRcvErrors : 7 : node \"leaf one\" (NodeGUID: "
					   "0x200000080000100) : port 3 "));
	perf_layout_unref(layout);
	perf_layout_unref(less);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("perf_report");
	TCase *tcase = tcase_create("lines");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, lines_of_the_classic_daemon);
	tcase_add_test(tcase, a_pulled_cable);
	tcase_add_test(tcase, every_counter_has_its_number);
	tcase_add_test(tcase, waiting);
	tcase_add_test(tcase, no_line_without_two_readings);
	tcase_add_test(tcase, totals_that_the_operator_cleared);
	tcase_add_test(tcase, the_worst_first_and_a_bound);
	tcase_add_test(tcase, cleared_by_others);
	tcase_add_test(tcase, agents);
	tcase_add_test(tcase, another_layout);
	suite_add_tcase(suite, tcase);
	return suite;
}
