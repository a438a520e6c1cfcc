// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The command perfmgr, on images made by hand that a daemon in virtual time has published. */
#include "core/options.h"
#include "ctl/command/command.h"
#include "client/control.h"
#include "ctl/perfmgr/word.h"
#include "perf/disk/image_file.h"
#include "perf/judge/perf_rules.h"
#include "perf/perf.h"
#include "tests/run_suite.h"
#include "tests/scenario/scenario.h"
#include "tests/unit/perf_fixture.h"

#include <check.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct scenario *s;
static struct command_env env;
static char *text;
static char *directory;
static struct perf_image *last;

static void made(struct scenario *scenario, void *arg)
{
	(void)arg;
	env = (struct command_env){.daemon = scenario->daemon, .sim = scenario->sim};
}

/* Takes over the image. */
static void publish(struct perf_image *image)
{
	struct perf_image *ring[] = {image};

	last = image;
	slot_publish(&daemon_context(s->daemon)->perf_images, fixture_ring(ring, 1));
}

static void set_up(void)
{
	struct perf_layout *layout;
	struct perf_image *image;
	uint32_t row;

	setenv("TZ", "UTC", 1);
	tzset();
	directory = g_dir_make_tmp("opensm-perfmgr-XXXXXX", NULL);
	s = scenario_new("fattree:2", 1);
	scenario_option(s, "--dump_files_dir", directory);
	s->made = made;
	scenario_start(s);
	layout = perf_leaf_layout(PERF_LEAF_TIME);
	image = perf_leaf_image(layout, 180);
	row = fixture_row(image->layout, PERF_LEAF_HOST_B, 1);
	image->total[PERF_SYMBOL_ERRORS][row] = 5;
	image->total[PERF_XMIT_DATA][row] = 1080;
	image->at_least[row] = 1u << PERF_SYMBOL_ERRORS;
	publish(image);
	perf_layout_unref(layout);
}

static void tear_down(void)
{
	g_autofree char *file = g_build_filename(directory, "opensm_port_counters.log", NULL);

	scenario_stop(s);
	scenario_free(s);
	g_unlink(file);
	g_rmdir(directory);
	g_clear_pointer(&directory, g_free);
	g_clear_pointer(&text, g_free);
}

static bool is_done(void *arg)
{
	return command_work_is_done(arg);
}

static const char *ask_for(const char *line, bool good)
{
	struct command_answer answer;

	g_free(text);
	command_run(&env, line, true, &answer);
	if (answer.work) {
		g_free(answer.text);
		ck_assert(runtime_run(s->rt, is_done, answer.work, UINT64_MAX));
		command_answer_work(answer.work, &answer);
	}
	text = answer.text;
	ck_assert_msg(answer.failed != good, "%s: %s", line, text);
	return text;
}

static const char *ask(const char *line)
{
	return ask_for(line, true);
}

static void expect(const char *line, const char *answer)
{
	ck_assert_str_eq(ask(line), answer);
}

static void expect_error(const char *line, const char *answer)
{
	ck_assert_str_eq(ask_for(line, false), answer);
}

static unsigned int times(const char *what)
{
	unsigned int n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

/* ---- the classic daemon's words ---- */

START_TEST(state)
{
	expect("perfmgr", "Performance Manager status:\n"
			  "state                        : Disabled\n"
			  "sweep state                  : Sleeping\n"
			  "sweep time                   : 180s\n"
			  "outstanding queries/max      : 0/500\n"
			  "remove missing nodes from DB : TRUE\n"
			  "query ClassPortInfo          : TRUE\n");
	ask("status");
	ck_assert_ptr_nonnull(strstr(text, "\n\n   PerfMgr state/sweep state : Disabled/Sleeping\n"
					   "\n   MAD stats\n"));
	expect("pm clear_rm_nodes", "");
	expect("pm clear_query_cpi", "");
	expect("pm sweep_time 30", "");
	ask("pm");
	ck_assert_ptr_nonnull(strstr(text, "sweep time                   : 30s\n"));
	ck_assert_ptr_nonnull(strstr(text, "remove missing nodes from DB : FALSE\n"
					   "query ClassPortInfo          : FALSE\n"));
	expect("pm set_rm_nodes", "");
	expect("pm set_query_cpi", "");
	expect("pm enable", "");
	ask("pm json");
	ck_assert_ptr_nonnull(strstr(text, "\"word\":\"state\",\"state\":\"Enabled\""));
	ck_assert_ptr_nonnull(strstr(text, "\"rm_nodes\":true,\"query_cpi\":true"));
	ck_assert_ptr_nonnull(strstr(text, ",\"virtual_time\":true,"));
	expect("pm disable", "");
	expect("pm disable json", "{\"word\":\"disable\"}\n");
	expect("pm sweep", "sweep initiated...\n");
	expect("pm clear_counters", "");
}
END_TEST

START_TEST(nodes_that_are_gone)
{
	expect("pm clear_inactive", "Removed 0 nodes from Database\n");
	last->layout->nodes[1].active = false;
	expect("pm clear_inactive", "Removed 1 nodes from Database\n");
	ask("pm pc host-b");
	ck_assert_ptr_nonnull(strstr(text, "\"host-b\" 0x200000000000300 active FALSE port 1\n"));
}
END_TEST

static const struct {
	const char *line, *answer;
} errors[] = {
	{"pm bogus", "\"bogus\" option not found\n"},
	{"pm PC", "\"PC\" option not found\n"},
	{"pm p", "\"p\" option not found\n"},
	{"pm \"\"", "\"\" option not found\n"},
	{"pm sweep_time", "sweep_time requires a time period (in seconds) to be specified\n"},
	{"pm sweep_time 0",
	 "sweep_time requires a positive time period (in seconds) to be specified\n"},
	{"pm sweep_time abc",
	 "sweep_time requires a positive time period (in seconds) to be specified\n"},
	{"pm sweep_time -5",
	 "sweep_time requires a positive time period (in seconds) to be specified\n"},
	{"pm sweep_time 1.5",
	 "sweep_time requires a positive time period (in seconds) to be specified\n"},
	{"pm sweep_time 65536", "sweep_time: 65536: expected at most 65535 seconds\n"},
	{"pm sweep_time 99999999999999999999",
	 "sweep_time: 99999999999999999999: expected at most 65535 seconds\n"},
	{"pm pc nobody", "Node nobody not found...\n"},
	{"pm pc 0x99", "Node 0x99 not found...\n"},
	{"pm pc 153", "Node 0x99 not found...\n"},
	{"pm pc 0x99:1", "Node 0x99 not found...\n"},
	{"pm pc :1", "Node 0x0 not found...\n"},
	{"pm pc host-b host-b", "Node host-b host-b not found...\n"},
	{"pm pc weird", "Node weird not found...\n"},
	{"pm pe nobody:1", "Node nobody not found...\n"},
	{"pm pc 0x20000000000030000000000", "Node 0x20000000000030000000000 not found...\n"},
};

static const char *const without_arguments[] = {
	"enable",	  "disable",	   "sweep",
	"clear_counters", "set_rm_nodes",  "clear_rm_nodes",
	"clear_inactive", "set_query_cpi", "clear_query_cpi",
	"images",	  "rules",	   "help",
	"sweep_time 30",  "dump_counters", "dump_counters mach",
};

START_TEST(words_too_many)
{
	g_autofree char *line = g_strdup_printf("pm %s x", without_arguments[_i]);

	expect_error(line, "Invalid perfmgr command: 'x' is not expected\nperfmgr [WORD] "
			   "[ARGUMENT...]\n");
}
END_TEST

START_TEST(what_it_refuses)
{
	expect_error(errors[_i].line, errors[_i].answer);
}
END_TEST

START_TEST(counters)
{
	static const char *const lines[] = {
		"pm pc host-b",
		"perfmgr print_counters host-b:1",
		"pm pc 0x200000000000300",
		"pm pc \"host-b\"",
		"pm pc host-b:0x1",
		"pm pc 144115188075856640:1",
		"pm pc \"host-b\":1",
		"pm pc 'host-b:1'",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
		ask(lines[i]);
		ck_assert_msg(g_str_has_prefix(text,
					       "\"host-b\" 0x200000000000300 active TRUE port 1\n"
					       "     Last Reset           : Wed Nov 18 "),
			      "%s: %s", lines[i], text);
		ck_assert_uint_eq(times("active TRUE"), 1);
		ck_assert_ptr_nonnull(strstr(text, "     symbol_err_cnt       : 5\n"));
		ck_assert_ptr_nonnull(strstr(text, "     xmit_data            : 1080 (4.219KB)\n"));
		ck_assert(g_str_has_suffix(text, "     multicast_rcv_pkts   : 0 (0.000)\n"));
	}
	ask("pm pc");
	ck_assert_uint_eq(times("active TRUE"), 6); /* port 4 of the leaf was never read */
	ask("pm pc host a");
	ck_assert_uint_eq(times("active TRUE"), 1);
	ask("pm pc \"host a\":1");
	ck_assert_uint_eq(times("active TRUE"), 1);
	ask("pm pc weird:name");
	ck_assert_uint_eq(times("\"weird:name\" 0x200000000000400"), 1);
	ask("pm pc weird:name:1");
	ck_assert_uint_eq(times("\"weird:name\" 0x200000000000400"), 1);
	ask("pm pc leaf one:2");
	ck_assert_uint_eq(times("active TRUE"), 1);
	ck_assert_uint_eq(times(" port 2\n"), 1);
	expect("pm pc leaf one:4", "");
}
END_TEST

START_TEST(wrong_ports)
{
	static const char *const ports[] = {"9",
					    "x",
					    "",
					    "1x",
					    "-1",
					    "0",
					    "999",
					    "0x",
					    "256",
					    "4294967297",
					    "18446744073709551617"};

	for (size_t i = 0; i < G_N_ELEMENTS(ports); i++) {
		g_autofree char *line = g_strdup_printf("pm pc host-b:%s", ports[i]);
		g_autofree char *warning = g_strdup_printf(
			"Warning: \"%s\" is not a valid port\n\"host-b\" 0x2", ports[i]);

		ask(line);
		ck_assert_msg(g_str_has_prefix(text, warning), "%s: %s", line, text);
	}
}
END_TEST

START_TEST(only_errors)
{
	expect("pm pe", "\"host-b\" 0x200000000000300 active TRUE port 1\n"
			"     Last Reset           : Wed Nov 18 11:06:40 2026\n"
			"     Last Error Update    : Wed Nov 18 11:09:40 2026\n"
			"     symbol_err_cnt       : 5\n");
	expect("pm print_errors host a", "");
}
END_TEST

START_TEST(counters_as_json)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *port, *totals;
	JsonArray *ports;

	last->have[fixture_row(last->layout, PERF_LEAF_HOST_B, 1)] &= ~(1u << PERF_XMIT_WAIT);
	g_free(last->layout->nodes[1].name);
	last->layout->nodes[1].name = g_strdup("rack 5");
	ck_assert(json_parser_load_from_data(parser, ask("pm pc rack 5 json"), -1, NULL));
	ports = json_object_get_array_member(json_node_get_object(json_parser_get_root(parser)),
					     "ports");
	ck_assert_uint_eq(json_array_get_length(ports), 1);
	port = json_array_get_object_element(ports, 0);
	ck_assert_str_eq(json_object_get_string_member(port, "node"), "rack 5");
	ck_assert_str_eq(json_object_get_string_member(port, "description"), "host-b");
	ck_assert_str_eq(json_object_get_string_member(port, "guid"), "0x0200000000000300");
	ck_assert_int_eq(json_object_get_int_member(port, "read"), PERF_LEAF_TIME + 180);
	totals = json_object_get_object_member(port, "counters");
	ck_assert_int_eq(json_object_get_int_member(totals, "SymbolErrorCounter"), 5);
	ck_assert_int_eq(json_object_get_int_member(totals, "QP1Dropped"), 0);
	ck_assert(!json_object_has_member(totals, "PortXmitWait"));
	ck_assert_str_eq(
		json_array_get_string_element(json_object_get_array_member(port, "at_least"), 0),
		"SymbolErrorCounter");
	/* The map's name and the device's own both find it. */
	ask("pm pc host-b");
	ck_assert_uint_eq(times("\"rack 5\""), 1);
}
END_TEST

START_TEST(before_the_first_image)
{
	slot_publish(&daemon_context(s->daemon)->perf_images, fixture_ring(NULL, 0));
	expect("pm pc", "");
	expect("pm pe", "");
	expect_error("pm pc host-b", "Node host-b not found...\n");
	expect("pm clear_inactive", "Removed 0 nodes from Database\n");
	expect("pm dump_redir", "\nRedirection Table\n-----------------\n");
	expect("pm clear_redir", "");
	expect("pm dump_counters", "");
}
END_TEST

/* ---- redirection ---- */

START_TEST(redirections)
{
	struct perf_images *images;
	struct perf_image *ring[] = {perf_image_ref(last)};

	expect("pm dump_redir", "\nRedirection Table\n-----------------\n");
	expect("pm dump_redir nobody", "\nRedirection Table\n-----------------\n"
				       "Node nobody not found...\n");
	expect("pm clear_redir", "");
	expect("pm clear_redir nobody", "Node nobody not found...\n");
	images = fixture_ring(ring, 1);
	images->n_redirections = 2;
	images->redirections = g_new0(struct perf_redirection, 2);
	images->redirections[0] = (struct perf_redirection){.guid = PERF_LEAF_HOST_B,
							    .port = 1,
							    .from_lid = 2,
							    .lid = 9,
							    .qpn = 0x41,
							    .p_key = 0xffff,
							    .p_key_index = 3};
	images->redirections[1] =
		(struct perf_redirection){.guid = PERF_LEAF_SWITCH, .lid = 8, .qpn = 1};
	slot_publish(&daemon_context(s->daemon)->perf_images, images);
	expect("pm dump_redir host-b", "\nRedirection Table\n-----------------\n"
				       "   Node GUID       ESP0   Name\n"
				       "   ---------       ----   ----\n"
				       "   0x200000000000300 0      host-b\n"
				       "\n   Port Valid  LIDs     PKey  QP    PKey Index\n"
				       "   ---- -----  ----     ----  --    ----------\n"
				       "   1    1      2->9  0xffff 0x41   3\n\n");
	ask("pm dump_redir");
	ck_assert_uint_eq(times("   Node GUID "), 2);
	ask("pm dump_redir json");
	ck_assert_ptr_nonnull(strstr(text, "\"to_lid\":9,\"p_key\":\"0xffff\",\"qp\":65"));
}
END_TEST

/* ---- the file ---- */

static char *wait_for_file(void)
{
	g_autofree char *file = g_build_filename(directory, "opensm_port_counters.log", NULL);
	char *contents = NULL;

	scenario_run_ms(s, 10);
	ck_assert(g_file_get_contents(file, &contents, NULL, NULL));
	return contents;
}

START_TEST(files)
{
	g_autofree char *people = NULL, *machines = NULL;

	expect("pm dump_counters", "");
	people = wait_for_file();
	ck_assert_str_eq(people, ask("pm pc"));
	expect("pm dump_counters mach", "");
	machines = wait_for_file();
	ck_assert(g_str_has_prefix(machines, "\nName\tGUID\tActive\tPort\tLast Reset\t"));
	ck_assert_ptr_nonnull(
		strstr(machines, "\nhost-b\t0x200000000000300\tTRUE\t1\tWed Nov 18 "));
}
END_TEST

START_TEST(files_that_cannot_be_written)
{
	struct context *context = daemon_context(s->daemon);
	struct options *options = slot_take(&context->options);

	slot_publish(&context->options,
		     options_copy_with(options, OPTION_event_db_dump_file, "/no/where", NULL));
	expect("pm dump_counters", "");
	scenario_run_ms(s, 10);
	ck_assert_ptr_nonnull(
		strstr(s->text->str, "ERR Failed to dump file /no/where : No such file "));
	slot_publish(&context->options,
		     options_copy_with(options, OPTION_event_db_dump_file, "/dev/null", NULL));
	expect("pm dump_counters", "");
	scenario_run_ms(s, 10);
	ck_assert_ptr_nonnull(
		strstr(s->text->str, "ERR Failed to dump file /dev/null : it is not a regular "));
	ck_assert(!g_file_test("/dev/null", G_FILE_TEST_IS_REGULAR));
	options_unref(options);
}
END_TEST

/* Something else is where the directory for images should be. */
START_TEST(history_that_cannot_be_written)
{
	g_autofree char *perf = g_build_filename(s->cache_dir, "perf", NULL);

	ck_assert(g_file_set_contents(perf, "x", 1, NULL));
	ask("perfmgr json");
	ck_assert_ptr_nonnull(strstr(text, "\"history_failed\":0,\"history_failing\":false"));
	expect("perfmgr enable", "");
	scenario_run_ms(s, 2000);
	ask("perfmgr json");
	ck_assert_ptr_nonnull(strstr(text, "\"history_written\":0,\"history_failed\":1,"
					   "\"history_failing\":true"));
	ask("health");
	ck_assert_ptr_nonnull(strstr(text, "counters of ports could not be saved"));
	g_unlink(perf);
	scenario_run_ms(s, 400 * 1000);
	ask("perfmgr json");
	ck_assert_ptr_nonnull(strstr(text, "\"history_files\":1,"));
	ck_assert_ptr_nonnull(strstr(text, "\"history_written\":1,\"history_failed\":1,"
					   "\"history_failing\":false"));
	ask("health");
	ck_assert_ptr_null(strstr(text, "counters of ports"));
}
END_TEST

/* ---- views ---- */

/* Three images, 60 s apart: host a sends 1.25 GB/s, host-b a tenth of that with some errors. */
static void publish_ring_to(struct perf_layout *end)
{
	struct perf_layout *layout = perf_leaf_layout(PERF_LEAF_TIME);
	struct perf_image *ring[3];

	for (unsigned int i = 0; i < 3; i++) {
		struct perf_image *image = ring[i] = perf_leaf_image(i == 2 ? end : layout, 60 * i);
		uint64_t units = UINT64_C(60) * i * (1250000000 / 4);
		uint32_t a = fixture_row(image->layout, PERF_LEAF_HOST_A, 1);
		uint32_t b = fixture_row(image->layout, PERF_LEAF_HOST_B, 1);
		uint32_t leaf = fixture_row(image->layout, PERF_LEAF_SWITCH, 1);

		image->id += 1000;
		image->total[PERF_XMIT_DATA][a] = units;
		image->total[PERF_RCV_DATA][leaf] = units;
		image->total[PERF_XMIT_DATA][b] = units / 10;
		image->total[PERF_XMIT_PKTS][a] = 6000 * i;
		image->total[PERF_RCV_PKTS][leaf] = 5994 * i;
		image->total[PERF_SYMBOL_ERRORS][b] = i ? 7 : 0;
		image->missed[b] = i == 1 ? 1u << PERF_SYMBOL_ERRORS : 0;
	}
	perf_layout_unref(layout);
	last = ring[2];
	slot_publish(&daemon_context(s->daemon)->perf_images, fixture_ring(ring, 3));
}

static void publish_ring(void)
{
	struct perf_layout *layout = perf_leaf_layout(PERF_LEAF_TIME);

	publish_ring_to(layout);
	perf_layout_unref(layout);
}

START_TEST(top)
{
	ask("pm top");
	ck_assert_str_eq(text, "The counters were not read twice yet\n");
	publish_ring();
	expect("pm top", "From 2026-11-18 11:06:40 to 2026-11-18 11:08:40, 3 images\n"
			 "XmitUtilisation      PORT                             CONNECTED TO\n"
			 "10.00 %              host a port 1                    leaf one port 1\n"
			 "1.00 %               host-b port 1                    leaf one port 2\n");
	expect("pm top 1 rate 60",
	       "From 2026-11-18 11:07:40 to 2026-11-18 11:08:40, 2 images\n"
	       "PortXmitData/s       PORT                             CONNECTED "
	       "TO\n"
	       "1.25 GB/s            host a port 1                    leaf one "
	       "port 1\n");
	ask("pm top XmitWaitShare");
	ck_assert_ptr_nonnull(strstr(text, "No port has any XmitWaitShare\n"));
	ask("pm top wait json");
	ck_assert_ptr_nonnull(strstr(text, "\"of\":\"XmitWaitShare\""));
	ask("pm top RawBER");
	ck_assert_ptr_nonnull(strstr(text, "No port has any RawBER\n"));
	ask("pm top SymbolErrorCounter 2d");
	ck_assert_ptr_nonnull(strstr(text, ": nothing older is known of the time asked for\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n>= 7 "));
	ask("pm top VL15Dropped");
	ck_assert_ptr_nonnull(strstr(text, "No port has any VL15Dropped\n"));
	ask("pm top rate switches");
	ck_assert_ptr_nonnull(strstr(text, "No port has any PortXmitData/s\n"));
	ask("pm top 1 rate json");
	ck_assert_ptr_nonnull(strstr(text, "\"of\":\"PortXmitData/s\",\"unit\":\"octets per "
					   "second\""));
	ck_assert_ptr_nonnull(strstr(text, "\"value\":1250000000.0,"));
	ck_assert_ptr_nonnull(strstr(text, "\"trend\":[1250000000.0,1250000000.0]"));
}
END_TEST

static const char *const wrong_views[] = {
	"pm top 0",
	"pm top 1001",
	"pm top 10 bogus",
	"pm top 5x",
	"pm top 999999d",
	"pm top -1",
	"pm top rate 0s",
	"pm history",
	"pm history host-b:1 0",
	"pm history host-b:1 9999",
	"pm history host-b:1 bogus",
	"pm cable",
	"pm groups 7x",
	"pm groups 1s 2s",
	"pm cable host-b:1 bogus",
	"pm cable host-b:1 1s 2s",
};

START_TEST(views_refuse)
{
	publish_ring();
	ask_for(wrong_views[_i], false);
	ck_assert_msg(g_str_has_prefix(text, "Invalid perfmgr command: "), "%s", text);
	ck_assert_ptr_nonnull(strstr(text, "expected "));
}
END_TEST

START_TEST(history)
{
	expect_error("pm history nobody", "Node nobody not found...\n");
	expect_error("pm history host-b:7", "Warning: \"7\" is not a valid port\n");
	expect_error("pm history \"leaf one\"", "'leaf one' has 4 ports: expected NODE:PORT\n");
	publish_ring();
	ask("pm history host-b");
	ck_assert(g_str_has_prefix(text, "PortXmitData/s of host-b port 1 connected to leaf one "
					 "port 2\n"));
	ck_assert(g_str_has_suffix(text, "2026-11-18 11:07:40  125.00 MB/s\n"
					 "2026-11-18 11:08:40  125.00 MB/s\n"));
	ask("pm history host-b:1 symbol_err_cnt 24");
	ck_assert_ptr_nonnull(strstr(text, "2026-11-18 11:07:40  >= 7\n"
					   "2026-11-18 11:08:40  0\n"));
}
END_TEST

START_TEST(cable)
{
	publish_ring();
	ask("pm cable \"host a\" 120");
	ck_assert_ptr_nonnull(strstr(text, " host a port 1               leaf one port 1\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "\nPortXmitPkts                     12000                       0\n"));
	ck_assert_ptr_nonnull(strstr(
		text, "\nPortRcvPkts                      0                           11988\n"));
	ck_assert_ptr_nonnull(strstr(text, "Sent by host a port 1 less received at the other end: "
					   "0.1 packets a second\n"));
	expect_error("pm cable \"leaf one\":4",
		     "it is not known what is at the other end of the cable\n");
}
END_TEST

/* The image before knows its other end. */
START_TEST(pulled_cable)
{
	struct perf_layout *now = perf_leaf_layout(PERF_LEAF_TIME);

	for (uint32_t row = 0; row < now->n_rows; row++)
		now->places[row].peer = PERF_NONE;
	publish_ring_to(now);
	perf_layout_unref(now);
	ask("pm cable \"host a\"");
	ck_assert_ptr_nonnull(
		strstr(text, "\nThe link is down: the cable connected these ports last\n"));
	ck_assert_ptr_nonnull(strstr(text, " host a port 1               leaf one port 1\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "\nPortXmitPkts                     12000                       0\n"));
	ask("pm cable \"host a\" json");
	ck_assert_ptr_nonnull(strstr(text, "\"link_down\":true"));
	ask("pm top 1 rate 60");
	ck_assert_ptr_nonnull(strstr(text, "host a port 1                    leaf one port 1\n"));
	ask("pm history host-b");
	ck_assert(g_str_has_prefix(text, "PortXmitData/s of host-b port 1 connected to leaf one "
					 "port 2\n"));
}
END_TEST

START_TEST(sums)
{
	publish_ring();
	ask("pm groups 2m");
	ck_assert_ptr_nonnull(strstr(text, "\nall       send            6        1.375     0.00 "
					   "    1.83    10.00        0\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nswitches  receive         0        0.000 "));
	ask("pm groups json");
	ck_assert_ptr_nonnull(strstr(text, "\"tenths\":[5,1,0,0,0,0,0,0,0,0]"));
	ck_assert_ptr_nonnull(strstr(text, "\"SymbolErrorCounter\":7,"));
}
END_TEST

#define RULES                                                                                      \
	"group rack 0x0200000080000100:1 \"host*\"\n"                                              \
	"PortRcvErrors group rack alarm 5 in 60 or 9 in 600\n"                                     \
	"VL15Dropped host off\n"

static void use_rules(const char *rules)
{
	struct perf_rules *parsed = perf_rules_parse("/etc/rules", rules, strlen(rules), NULL);

	ck_assert_ptr_nonnull(parsed);
	slot_publish(&daemon_context(s->daemon)->perf_rules, parsed);
}

START_TEST(rules)
{
	ask("pm rules");
	ck_assert(g_str_has_prefix(text, "# rules built in\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nPortRcvErrors "));
	use_rules(RULES);
	expect("pm rules", "# rules of /etc/rules\n" RULES);
	ask("pm rules json");
	ck_assert_ptr_nonnull(strstr(text, "\"file\":\"/etc/rules\""));
	ck_assert_ptr_nonnull(strstr(text, "\"line\":2,\"value\":\"PortRcvErrors\",\"level\":"
					   "\"alarm\",\"off\":false,"));
	expect_error("pm rules x", "Invalid perfmgr command: 'x' is not expected\nperfmgr [WORD] "
				   "[ARGUMENT...]\n");
}
END_TEST

START_TEST(groups_of_the_rules)
{
	use_rules(RULES "group empty 0x99\n");
	publish_ring();
	ask("pm groups");
	ck_assert_ptr_nonnull(strstr(text, "\nrack      send            3        1.375 "));
	ck_assert_ptr_nonnull(strstr(text, "\nempty     send            0        0.000 "));
	use_rules(RULES "group a_row_of_many_racks 0x99\n");
	ask("pm groups");
	ck_assert_ptr_nonnull(strstr(text, "\nGROUP                SIDE        PORTS "));
	ck_assert_ptr_nonnull(strstr(text, "\nrack                 send            3 "));
	ck_assert_ptr_nonnull(strstr(text, "\na_row_of_many_racks  send            0 "));
	use_rules(RULES "group empty 0x99\n");
	ask("pm top SymbolErrorCounter rack");
	ck_assert_uint_eq(times("\n"), 3);
	ck_assert_ptr_nonnull(strstr(text, "\n>= 7                 host-b port 1 "));
	ask("pm top rate rack hosts");
	ck_assert_uint_eq(times("\n"), 4);
	ask("pm top rate empty");
	ck_assert_ptr_nonnull(strstr(text, "No port has any "));
	ask_for("pm top rate Rack", false);
}
END_TEST

/* ---- files ---- */

/* Keeps an image of seconds before the ring, when host-b had counted n errors. */
static void keep(unsigned int seconds, uint64_t n)
{
	struct perf_layout *layout = perf_leaf_layout(PERF_LEAF_TIME);
	struct perf_image *image = perf_leaf_image(layout, 0);
	g_autofree char *file = NULL, *name = NULL;
	g_autoptr(GDateTime) time = NULL;
	const char *kept;
	GByteArray *octets;
	uint64_t run;

	ck_assert(perf_stored(daemon_perf(s->daemon), &kept, &run));
	image->id = 1000 - seconds;
	image->began_ns -= seconds * NS_PER_S;
	image->ended_ns -= seconds * NS_PER_S;
	image->ended_us -= seconds * INT64_C(1000000);
	for (uint32_t row = 0; row < layout->n_rows; row++)
		image->read_ns[row] -= image->read_ns[row] ? seconds * NS_PER_S : 0;
	image->total[PERF_SYMBOL_ERRORS][fixture_row(image->layout, PERF_LEAF_HOST_B, 1)] = n;
	time = g_date_time_new_from_unix_utc(image->ended_us / G_USEC_PER_SEC);
	name = g_date_time_format(time, "image-%Y%m%dT%H%M%S.500Z-1");
	file = g_build_filename(kept, name, NULL);
	octets = perf_image_encode(image, run, image->id - 1, NULL, NULL, 1);
	ck_assert_int_eq(g_mkdir_with_parents(kept, 0700), 0);
	ck_assert(g_file_set_contents(file, (char *)octets->data, octets->len, NULL));
	g_byte_array_unref(octets);
	perf_image_unref(image);
	perf_layout_unref(layout);
}

START_TEST(views_of_files)
{
	scenario_run_ms(s, 1); /* files that are too old have been removed */
	keep(600, 1);
	keep(300, 4);
	publish_ring();
	ask("pm history host-b:1 SymbolErrorCounter");
	ck_assert_uint_eq(times("\n"), 3);
	ask("pm history host-b:1 SymbolErrorCounter 24");
	ck_assert_uint_eq(times("\n"), 5);
	ck_assert_ptr_nonnull(strstr(text, "port 2\n2026-11-18 11:01:40  3\n2026-11-18 11:06:40 "));
	ask("pm history host-b:1 SymbolErrorCounter 24 json");
	ck_assert_ptr_nonnull(strstr(text, "\"files\":2,\"files_skipped\":0,"));
	ask("pm top SymbolErrorCounter 10m");
	ck_assert(g_str_has_prefix(text,
				   "From 2026-11-18 10:56:40 to 2026-11-18 11:08:40, 5 images\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n>= 10                host-b port 1 "));
	ask("pm groups 10m json");
	ck_assert_ptr_nonnull(strstr(text, "\"images\":5,"));
	ck_assert_ptr_nonnull(strstr(text, "\"whole\":true,\"files\":2,"));
	ask("pm cable host-b:1 10m");
	ck_assert_ptr_nonnull(strstr(text, "\nSymbolErrorCounter               >= 10 "));
	ask_for("pm cable \"leaf one\":4 10m", false);
	ck_assert_str_eq(text, "it is not known what is at the other end of the cable\n");
}
END_TEST

/* A session that goes away, a daemon that ends. */
START_TEST(files_that_are_not_waited_for)
{
	struct command_answer answer;

	keep(600, 1);
	publish_ring();
	for (unsigned int i = 0; i < 3; i++) {
		command_run(&env, "pm top rate 10m", true, &answer);
		ck_assert(answer.later);
		ck_assert_ptr_nonnull(answer.work);
		g_free(answer.text);
		if (i == 2)
			break;
		if (i == 1)
			scenario_run_ms(s, 10);
		command_work_drop(answer.work);
	}
	command_answer_work(answer.work, &answer);
	ck_assert_str_eq(answer.text, "files are still being read, or cannot be read now\n");
	ck_assert_uint_eq(answer.status, CONTROL_FAILED);
	g_free(answer.text);
}
END_TEST

START_TEST(images)
{
	publish_ring();
	ask("pm images");
	ck_assert_uint_eq(times("\n"), 4);
	ck_assert_ptr_nonnull(strstr(text,
				     "\n    1121  2026-11-18 11:08:40     0.500 s        7   "
				     "     6        0        0        0        0        1\n"));
}
END_TEST

/* ---- rights and help ---- */

START_TEST(which_words_change_something)
{
	static const char *const looking = " print_counters print_errors dump_redir top history "
					   "rules images groups cable help ";
	g_autofree char *help = NULL;
	const struct perfmgr_word *word;

	ask("help pm");
	for (unsigned int i = 0; (word = perfmgr_describe(i)) != NULL; i++) {
		g_autofree char *line = g_strdup_printf("pm %s json", word->name);
		g_autofree char *padded = g_strdup_printf(" %s ", word->name);
		g_autofree char *line_of = g_strdup_printf("\n   %s", word->name);

		ck_assert_msg(command_changes(line) == !strstr(looking, padded), "%s", line);
		ck_assert_msg(strstr(text, line_of) != NULL, "%s", line_of);
	}
	help = g_strdup(strchr(text, '\n') + 1);
	expect("pm help", help);
	ck_assert(command_changes("perfmgr sweep"));
	ck_assert(!command_changes("perfmgr pc"));
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("console_perfmgr");
	TCase *tcase = tcase_create("words");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, state);
	tcase_add_test(tcase, nodes_that_are_gone);
	tcase_add_loop_test(tcase, what_it_refuses, 0, G_N_ELEMENTS(errors));
	tcase_add_loop_test(tcase, words_too_many, 0, G_N_ELEMENTS(without_arguments));
	tcase_add_test(tcase, counters);
	tcase_add_test(tcase, wrong_ports);
	tcase_add_test(tcase, only_errors);
	tcase_add_test(tcase, counters_as_json);
	tcase_add_test(tcase, before_the_first_image);
	tcase_add_test(tcase, redirections);
	tcase_add_test(tcase, files);
	tcase_add_test(tcase, files_that_cannot_be_written);
	tcase_add_test(tcase, history_that_cannot_be_written);
	tcase_add_test(tcase, top);
	tcase_add_loop_test(tcase, views_refuse, 0, G_N_ELEMENTS(wrong_views));
	tcase_add_test(tcase, history);
	tcase_add_test(tcase, cable);
	tcase_add_test(tcase, images);
	tcase_add_test(tcase, pulled_cable);
	tcase_add_test(tcase, sums);
	tcase_add_test(tcase, rules);
	tcase_add_test(tcase, groups_of_the_rules);
	tcase_add_test(tcase, views_of_files);
	tcase_add_test(tcase, files_that_are_not_waited_for);
	tcase_add_test(tcase, which_words_change_something);
	suite_add_tcase(suite, tcase);
	return suite;
}
