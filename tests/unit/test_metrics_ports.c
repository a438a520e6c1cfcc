// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Metrics of ports: which ports and counters are told, and what is left out. */
#include <check.h>
#include <string.h>

#include "ctl/metrics/metrics.h"
#include "iba/constants.h"
#include "tests/run_suite.h"
#include "tests/unit/perf_fixture.h"

#define SWITCH_A UINT64_C(0x10)
#define SWITCH_B UINT64_C(0x20)
#define HOST UINT64_C(0x30)

static struct perf_layout *layout;
static struct perf_image *image;

static void start(void)
{
	static const struct fixture_node nodes[] = {
		{SWITCH_A, IBA_NODE_SWITCH, 3},
		{SWITCH_B, IBA_NODE_SWITCH, 3},
		{HOST, IBA_NODE_CA, 1},
	};

	layout = fixture_layout(nodes, G_N_ELEMENTS(nodes));
	fixture_cable(layout, SWITCH_A, 1, SWITCH_B, 1);
	fixture_cable(layout, SWITCH_A, 2, HOST, 1);
	image = fixture_image(layout, 1, 10, 1);
	image->details[0].row = fixture_row(layout, SWITCH_A, 1);
}

static void stop(void)
{
	perf_image_unref(image);
	perf_layout_unref(layout);
}

static uint32_t row_of(uint64_t guid, uint8_t port)
{
	return fixture_row(layout, guid, port);
}

/* The rules have a group: port 2 of switch A. */
static char *run(const char *line)
{
	static const char rules_text[] = "group some 0x10:2\n";
	struct perf_rules *rules =
		perf_rules_parse("rules", rules_text, sizeof(rules_text) - 1, NULL);
	g_auto(GStrv) words = g_strsplit(line, " ", -1);
	struct metrics_request request;
	struct metrics_text text;
	char *result, *why = metrics_request_parse(&request, words);

	ck_assert_ptr_nonnull(rules);
	ck_assert_msg(!why, "%s", why);
	metrics_text_init(&text, -1, request.open_metrics);
	if (metrics_write_ports(&text, &request, image, rules, &why))
		result = g_strdup(text.out->str);
	else
		result = why;
	metrics_text_clear(&text);
	metrics_request_clear(&request);
	perf_rules_unref(rules);
	return result;
}

static void expect(const char *line, const char *text)
{
	g_autofree char *all = run(line);

	ck_assert_msg(strstr(all, text), "%s: no \"%s\" in %s", line, text, all);
}

static void expect_no(const char *line, const char *text)
{
	g_autofree char *all = run(line);

	ck_assert_msg(!strstr(all, text), "%s: \"%s\" in %s", line, text, all);
}

static unsigned int count(const char *line, const char *text)
{
	g_autofree char *all = run(line);
	unsigned int n = 0;

	for (const char *at = all; (at = strstr(at, text)); at++)
		n++;
	return n;
}

#define A "guid=\"0x0000000000000010\""
#define B "guid=\"0x0000000000000020\""
#define H "guid=\"0x0000000000000030\""
#define DATA "\ninfiniband_switch_port_transmit_data_bytes_total{"
#define SYMBOL "\ninfiniband_switch_port_symbol_error_total{"

START_TEST(values)
{
	image->total[PERF_XMIT_DATA][row_of(SWITCH_A, 1)] = 100;
	image->total[PERF_RCV_DATA][row_of(SWITCH_A, 1)] = UINT64_MAX / 2;
	image->total[PERF_XMIT_PKTS][row_of(HOST, 1)] = 7;
	image->details[0].have = 1u << PERF_DETAIL_DLID_MAPPING;
	image->details[0].total[PERF_DETAIL_DLID_MAPPING] = 5;
	expect("all", DATA A ",port=\"1\"} 400\n");
	expect("all", "\ninfiniband_switch_port_receive_data_bytes_total{" A
		      ",port=\"1\"} 18446744073709551615\n");
	expect("all", "\ninfiniband_hca_port_transmit_packets_total{" H ",port=\"1\"} 7\n");
	expect("all", "\ninfiniband_switch_port_dli_mapping_errors_total{" A ",port=\"1\"} 5\n");
	expect("all", "\ninfiniband_switch_port_dlid_mapping_errors_total{" A ",port=\"1\"} 5\n");
	expect_no("all", "malformed");
	expect("all",
	       "\ninfiniband_switch_port_rate_bytes_per_second{" A ",port=\"1\"} 12500000000\n");
	expect("all", "\ninfiniband_switch_port_raw_rate_bytes_per_second{" A
		      ",port=\"1\"} 12890625000\n");
	expect("all", "\ninfiniband_hca_rate_bytes_per_second{" H "} 12500000000\n");
	expect("all", "\ninfiniband_exporter_last_execution{collector=\"switch\"} 1700000010\n");
}
END_TEST

/* Only infos have names, and a name may have any letters. */
START_TEST(names)
{
	g_free(layout->nodes[0].name);
	layout->nodes[0].name = g_strdup("a\"b\\c");
	expect("all", "\ninfiniband_switch_info{" A ",switch=\"a\\\"b\\\\c\",lid=\"1\"} 1\n");
	expect("all", "\ninfiniband_hca_uplink_info{" H ",port=\"1\",hca=\"node 30\","
		      "uplink=\"a\\\"b\\\\c\",uplink_guid=\"0x0000000000000010\","
		      "uplink_type=\"SW\",uplink_port=\"2\",uplink_lid=\"1\"} 1\n");
	ck_assert_uint_eq(count("all", "a\\\""), 1 + 2 + 2);
}
END_TEST

START_TEST(what_was_not_read)
{
	uint32_t silent = row_of(SWITCH_A, 2), narrow = row_of(SWITCH_A, 3);

	image->flags[silent] = PERF_SILENT | PERF_EVER; /* it has a value, of an earlier sweep */
	image->total[PERF_SYMBOL_ERRORS][silent] = 9;
	image->have[narrow] &= ~(1u << PERF_XMIT_WAIT);
	image->flags[row_of(SWITCH_B, 1)] = PERF_DOWN | PERF_EVER;
	image->flags[row_of(HOST, 1)] = 0;
	expect_no("all", A ",port=\"2\"");
	expect_no("errors", A ",port=\"2\"");
	expect_no("all", "transmit_wait_total{" A ",port=\"3\"}");
	expect("all", "transmit_wait_total{" A ",port=\"1\"} 0\n");
	expect_no("all", "{" B ",port=\"1\"");
	expect_no("all", "infiniband_hca_port");
	expect_no("all", "infiniband_hca_info");
	expect("all", "\ninfiniband_switch_collect_timeout{" A ",collector=\"switch\"} 1\n");
	expect("all", "\ninfiniband_switch_collect_timeout{" B ",collector=\"switch\"} 0\n");
	expect("errors", "\ninfiniband_switch_collect_timeout{" A ",collector=\"switch\"} 1\n");
	expect_no("errors", "collect_timeout{" B);
	expect("errors", "\ninfiniband_exporter_collect_timeouts{collector=\"switch\"} 1\n");
	expect("errors", "\ninfiniband_exporter_collect_timeouts{collector=\"hca\"} 0\n");
}
END_TEST

START_TEST(levels)
{
	image->total[PERF_LINK_DOWNED][row_of(SWITCH_B, 2)] = 1;
	expect_no("errors", A);
	expect("errors", "\ninfiniband_switch_port_link_downed_total{" B ",port=\"2\"} 1\n");
	expect("errors", SYMBOL B ",port=\"2\"} 0\n");
	expect("errors", "\ninfiniband_switch_info{" B);
	expect_no("errors", DATA);
	expect_no("errors", "port=\"1\"");
	ck_assert_uint_eq(count("traffic", DATA), 6);
	ck_assert_uint_eq(count("traffic", SYMBOL), 1);
	expect_no("traffic", "hca_port");
	ck_assert_uint_eq(count("all", SYMBOL), 6);
	ck_assert_uint_eq(count("all", "\ninfiniband_hca_port_symbol_error_total{"), 1);
}
END_TEST

START_TEST(filters)
{
	unsigned int n = 0;

	for (unsigned int i = 1; i <= 3; i++) {
		g_autofree char *line = g_strdup_printf("all shard=%u/3", i);

		n += count(line, DATA);
		ck_assert_uint_eq(count(line, DATA) % 3, 0); /* whole switches */
	}
	ck_assert_uint_eq(n, 6);
	ck_assert_uint_eq(count("all guid=0x10", DATA), 3);
	ck_assert_uint_eq(count("all guid=0x10 guid=20", DATA), 6);
	ck_assert_uint_eq(count("all guid=0x11", DATA), 0);
	ck_assert_uint_eq(count("all scope=hosts", DATA), 1);
	ck_assert_uint_eq(count("all group=some", DATA), 1);
	expect("all group=some", DATA A ",port=\"2\"} 0\n");
	ck_assert_uint_eq(count("all group=some guid=0x20", DATA), 0);
	expect("all group=other", "group=other: perfmgr_rules_file has no such group");
}
END_TEST

START_TEST(at_least)
{
	uint32_t row = row_of(SWITCH_A, 1);

	image->total[PERF_SYMBOL_ERRORS][row] = 65535;
	image->at_least[row] = 1u << PERF_SYMBOL_ERRORS | 1u << PERF_XMIT_DATA;
	image->details[0].have = image->details[0].at_least = 1u << PERF_DETAIL_MALFORMED;
	expect("errors",
	       "\nopensm_perf_port_at_least{" A ",port=\"1\",counter=\"symbol_error\"} 1\n");
	expect("errors", ",counter=\"malformed_packet_errors\"} 1\n");
	expect_no("errors", "transmit_data");
	expect("all", ",counter=\"transmit_data_bytes\"} 1\n");
	ck_assert_uint_eq(count("all", "at_least{"), 3);
}
END_TEST

START_TEST(no_image)
{
	struct perf_image *there = g_steal_pointer(&image);
	g_autofree char *text = run("all openmetrics"), *nothing = run("errors");

	image = there;
	ck_assert_str_eq(text, "");
	ck_assert_str_eq(nothing, "");
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("metrics_ports");
	TCase *ports = tcase_create("ports");

	tcase_add_checked_fixture(ports, start, stop);
	tcase_add_test(ports, values);
	tcase_add_test(ports, names);
	tcase_add_test(ports, what_was_not_read);
	tcase_add_test(ports, levels);
	tcase_add_test(ports, filters);
	tcase_add_test(ports, at_least);
	tcase_add_test(ports, no_image);
	suite_add_tcase(suite, ports);
	return suite;
}
