// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Names from the file of node_name_map_name: where people read them, and where they must not be. */
#include <check.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <string.h>

#include "client.h"
#include "ctl/command/command.h"
#include "ctl/dump/dump.h"
#include "ctl/report/journal.h"
#include "scenario.h"
#include "tests/run_suite.h"

/* UTF-8, and quotes that do not end the name. */
#define NAME "rack 7 'b\303\274ro'"

static struct scenario *s;
static struct command_env env;
static struct dumps *dumps;

static void make_readers(struct scenario *scenario, void *arg)
{
	(void)arg;
	log_set_flags(scenario->log, log_flags(scenario->log) | LOG_ROUTING);
	env = (struct command_env){
		.daemon = scenario->daemon,
		.journal = journal_new(scenario->daemon),
	};
	dumps = dumps_new(scenario->daemon);
}

static char *in_directory(const char *name)
{
	return g_build_filename(s->directory, name, NULL);
}

static uint64_t guid_of(const char *description)
{
	struct sim_node_view view;

	sim_node_view(s->sim, scenario_node(s, description), &view);
	return view.node_guid;
}

/* Writes the map: one line for each of the pairs of a description and a name. */
static void write_map(const char *const *pairs)
{
	g_autofree char *file = in_directory("names");
	g_autoptr(GString) text = g_string_new("# names\n");

	for (; *pairs; pairs += 2)
		g_string_append_printf(text, "0x%" PRIx64 " \"%s\"\n", guid_of(pairs[0]), pairs[1]);
	scenario_old_file(file, text->str);
}

/* conf: more lines of opensm.conf. */
static void begin(const char *const *pairs, const char *conf)
{
	g_autofree char *file = NULL, *partitions = NULL, *all = NULL;

	s = scenario_new("fattree:4", 1);
	s->made = make_readers;
	file = in_directory("names");
	partitions = in_directory("partitions.conf");
	scenario_old_file(partitions, "Default=0x7fff,ipoib:ALL=full;\n"
				      "A=0x11:\"gpu-*\"=full,\"host-1\"=full;\n");
	all = g_strdup_printf("node_name_map_name %s\ndump_files_dir %s\n"
			      "partition_config_file %s\n%s",
			      file, s->directory, partitions, conf);
	scenario_conf(s, all);
	if (pairs)
		write_map(pairs);
	scenario_start(s);
	scenario_converge(s, 20);
}

static void end(void)
{
	scenario_stop(s);
	journal_free(env.journal);
	dumps_free(dumps);
	scenario_free(s);
}

/* As main.c does it. */
static void hang_up(void)
{
	daemon_reread_logged(s->daemon);
	scenario_heavy_sweep(s, 10);
	scenario_run_ms(s, 1000);
}

static char *answer(const char *line)
{
	struct command_answer told;

	command_run(&env, line, true, &told);
	return told.text;
}

static void expect(const char *line, const char *text, bool there)
{
	g_autofree char *told = answer(line);

	ck_assert_msg((strstr(told, text) != NULL) == there, "%s %s %s:\n%s", line,
		      there ? "lacks" : "has", text, told);
}

static void expect_in_dump(const char *name, const char *text, bool there)
{
	g_autofree char *file = in_directory(name), *dump = NULL;

	ck_assert_msg(g_file_get_contents(file, &dump, NULL, NULL), "there is no %s", name);
	ck_assert_msg((strstr(dump, text) != NULL) == there, "%s %s %s:\n%s", name,
		      there ? "lacks" : "has", text, dump);
}

static void expect_event(const char *text)
{
	for (unsigned int i = 0; i < journal_length(env.journal); i++)
		if (strstr(journal_at(env.journal, i)->text, text))
			return;
	ck_abort_msg("no event has %s", text);
}

static const char *const host_3[] = {"host-3", NAME, NULL};

START_TEST(people_read_them)
{
	begin(host_3, "routing_engine ftree\n");
	expect("path host-0 host-3", NAME " (0x", true);
	expect("path host-0 host-3", "host-3", false);
	expect("path host-0 host-3 json", "\"node\":\"" NAME "\"", true);
	expect("path host-0 host-3 json", "\"node_description\":\"host-3\"", true);
	expect("path host-0 host-3 json", "\"node_description\":\"host-0\"", false);
	expect_in_dump("opensm-subnet.lst", "{" NAME "} LID:", true);
	expect_in_dump("opensm-subnet.lst", "host-3", false);
	expect_in_dump("opensm-subnet.lst", "{host-2}", true);
	expect_in_dump("opensm-lfts.dump", ": '" NAME "'\n", true);
	expect_in_dump("opensm-lfts.dump", "host-3", false);
	expect_in_dump("opensm-ftree-ca-order.dump", "\t" NAME "\n", true);
	expect_in_dump("opensm-ftree-ca-order.dump", "host-3", false);
	scenario_check_log(s, "host-3", false);
	end();
}
END_TEST

START_TEST(events_and_health_have_them)
{
	unsigned int node;

	begin(host_3, "");
	node = scenario_node(s, "host-3");
	scenario_set_links(s, node, false);
	scenario_run_ms(s, 3000);
	expect_event("host " NAME " (0x");
	scenario_check_log(s, "of node:" NAME "\n", true);
	scenario_set_links(s, node, true);
	scenario_run_ms(s, 3000);
	scenario_check_log(s, "of node: " NAME "\n", true);
	sim_node_mute(s->sim, node, true);
	hang_up();
	scenario_run_ms(s, 5000);
	expect("health", NAME, true);
	scenario_check_log(s, "'" NAME "' (0x", true); /* as the SM writes it */
	scenario_check_log(s, "host-3", false);
	end();
}
END_TEST

/* Neither a NodeRecord nor what is kept for the next start. */
START_TEST(the_wire_and_state_have_descriptions)
{
	const struct iba_node_record any = {0};
	struct client *client;
	g_autoptr(GByteArray) records = NULL;
	g_autoptr(GDir) dir = NULL;
	unsigned int n = 0, found = 0;
	const char *name;

	begin(host_3, "m_key 0x5\n");
	client = client_new(s, scenario_node(s, "host-1"));
	records = client_table(client, IBA_ATTR_NODE_RECORD, 0, &iba_node_record_type, &any, &n);
	ck_assert_ptr_nonnull(records);
	for (unsigned int i = 0; i < n; i++) {
		const struct iba_node_record *record =
			&((const struct iba_node_record *)(const void *)records->data)[i];
		const char *text = (const char *)record->node_description.node_string;

		ck_assert(!strstr(text, "rack 7"));
		found += !strcmp(text, "host-3");
	}
	ck_assert_uint_eq(found, 1);
	client_free(client);
	dir = g_dir_open(s->cache_dir, 0, NULL);
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *file = g_build_filename(s->cache_dir, name, NULL), *text = NULL;

		if (g_file_get_contents(file, &text, NULL, NULL))
			ck_assert_msg(!strstr(text, "rack 7"), "%s: %s", name, text);
	}
	end();
}
END_TEST

START_TEST(a_hangup_brings_other_names)
{
	static const char *const other[] = {"host-3", "rack 8", "host-2", "rack 9", NULL};
	static const char *const none[] = {NULL};

	begin(host_3, "");
	write_map(other);
	hang_up();
	expect("path host-2 host-3", "rack 9 (0x", true);
	expect("path host-2 host-3", "rack 8 (0x", true);
	expect_in_dump("opensm-subnet.lst", "{rack 8}", true);
	scenario_check_log(s, "node names changed", true);
	write_map(none);
	hang_up();
	expect("path host-2 host-3", "host-3 (0x", true);
	expect_in_dump("opensm-subnet.lst", "{host-2}", true);
	end();
}
END_TEST

/* Each line that a change of the file makes wrong, and a file that is away. */
START_TEST(wrong_lines_and_files_are_told)
{
	g_autofree char *file = NULL, *text = NULL, *missing = NULL;

	begin(NULL, "");
	missing = g_strdup_printf("node_name_map_name: %s/names: No such file", s->directory);
	scenario_check_log(s, missing, true);
	expect("path host-0 host-3", "host-3 (0x", true);
	file = in_directory("names");
	text = g_strdup_printf("host-3 rack 7\n0x%" PRIx64 " rack 8\n0x%" PRIx64 " rack 9\n",
			       guid_of("host-3"), guid_of("host-3"));
	scenario_old_file(file, text);
	hang_up();
	scenario_check_log(s, "names:1: found 'host-3 rack 7', expected the GUID", true);
	scenario_check_log(s, "names:3: found 'rack 9', expected one line for 0x", true);
	expect("path host-0 host-3", "rack 8 (0x", true);
	g_unlink(file);
	hang_up();
	scenario_check_log(s, "the node names are unchanged: ", true);
	expect("path host-0 host-3", "rack 8 (0x", true);
	end();
}
END_TEST

/* An operator may type either; a word that fits two nodes is refused. */
START_TEST(commands_take_both)
{
	static const char *const pairs[] = {"host-3", "rack-7", "host-2", "host-1", NULL};

	begin(pairs, "");
	expect("path host-0 rack-7", "rack-7 (0x", true);
	expect("path host-0 host-3", "rack-7 (0x", true);
	expect("path host-0 host-2", "host-1 (0x", true);
	expect("path host-0 host-1", "several nodes are called 'host-1'", true);
	expect("path host-0 rack-8", "there is no node 'rack-8'", true);
	end();
}
END_TEST

static uint16_t second_key(const char *host)
{
	unsigned int n;
	const uint16_t *keys = sim_p_keys(s->sim, scenario_node(s, host), 1, &n);

	return n > 1 ? keys[1] : 0;
}

/* A name in partitions.conf is the given one or the description, and follows the map. */
START_TEST(partitions_take_both)
{
	static const char *const pairs[] = {"host-3", "gpu-1", NULL};
	static const char *const other[] = {"host-2", "gpu-1", NULL};

	begin(pairs, "");
	ck_assert_uint_eq(second_key("host-1"), 0x8011);
	ck_assert_uint_eq(second_key("host-3"), 0x8011);
	ck_assert_uint_ne(second_key("host-2"), 0x8011);
	write_map(other);
	hang_up();
	ck_assert_uint_eq(second_key("host-2"), 0x8011);
	ck_assert_uint_ne(second_key("host-3"), 0x8011);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("node_names");
	TCase *tcase = tcase_create("node_names");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, people_read_them);
	tcase_add_test(tcase, events_and_health_have_them);
	tcase_add_test(tcase, the_wire_and_state_have_descriptions);
	tcase_add_test(tcase, a_hangup_brings_other_names);
	tcase_add_test(tcase, wrong_lines_and_files_are_told);
	tcase_add_test(tcase, commands_take_both);
	tcase_add_test(tcase, partitions_take_both);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
