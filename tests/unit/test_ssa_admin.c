// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ssadmin and opensm-ssa as programs: their words, answers and exit status. */
#include <check.h>
#include <json-glib/json-glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ssa/node/agent.h"
#include "ssa/node/node.h"
#include "tests/run_suite.h"
#include "tests/unit/node_bed.h"
#include "tests/unit/redis_server.h"

#define HOST 13
#define OTHER 57

static struct node_bed bed;
static char *file, *output, *errors;

static char *program(const char *name)
{
	const char *top = getenv("top_builddir");

	return g_build_filename(top ? top : ".", "opensm", "ssa", name, NULL);
}

/* The exit status of ssadmin with these words. */
static int run(const char *format, ...)
{
	g_autofree char *path = program("admin/ssadmin"), *words = NULL, *line = NULL;
	g_auto(GStrv) argv = NULL;
	g_autoptr(GError) error = NULL;
	va_list arguments;
	int status;

	va_start(arguments, format);
	words = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	line = g_strdup_printf("%s %s", path, words);
	argv = g_strsplit(line, " ", -1);
	g_clear_pointer(&output, g_free);
	g_clear_pointer(&errors, g_free);
	ck_assert_msg(
		g_spawn_sync(NULL, argv, NULL, 0, NULL, NULL, &output, &errors, &status, &error),
		"%s", error ? error->message : "");
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void expect(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "'%s', expected '%s' in it", text, part);
}

static void expect_json(void)
{
	g_autoptr(JsonParser) parser = json_parser_new();

	ck_assert_msg(json_parser_load_from_data(parser, output, -1, NULL), "not JSON: %s", output);
}

/* Writes the half-world of a host into a file. */
static char *take_snapshot(const char *name)
{
	char *path = g_build_filename(bed.directory, name, NULL);
	struct ssa_agent_config config = {.prefix = SSA_TABLES_PREFIX,
					  .wanted = {.guids = {ssa_tables_guid(HOST)}},
					  .file = path};
	struct ssa_agent *agent = ssa_agent_new(&config);
	struct ssa_store *store = node_bed_store(bed.uri, false);

	ck_assert_int_eq(ssa_agent_update(agent, store, NULL), SSA_UPDATE_NEWER);
	ssa_store_close(store);
	ssa_agent_free(agent);
	return path;
}

static void begin(void)
{
	node_bed_begin(&bed, NULL);
	node_bed_publish(&bed, bed.uri, 5, 1);
	file = take_snapshot("snapshot");
}

static void end(void)
{
	g_free(file);
	g_clear_pointer(&output, g_free);
	g_clear_pointer(&errors, g_free);
	node_bed_end(&bed);
}

/* ---- snapshots ---- */

START_TEST(test_snapshot)
{
	begin();
	ck_assert_int_eq(run("-s %s snapshot", file), 0);
	expect(output, "term 5, epoch 1");
	expect(output, "ENDPORTS");
	ck_assert_int_eq(run("-s %s --json snapshot", file), 0);
	expect_json();
	ck_assert_int_eq(run("--store %s snapshot", bed.uri), 0);
	expect(output, "IPV4");
	ck_assert_int_eq(run("-s %s/none snapshot", bed.directory), 3);
	expect(errors, "none");
	end();
}
END_TEST

START_TEST(test_difference)
{
	g_autofree char *other = NULL;

	begin();
	ck_assert_int_eq(run("-s %s snapshot %s", file, file), 0);
	node_bed_change(&bed, SSA_PATHS, HOST / node_bed_size.hosts);
	node_bed_publish(&bed, bed.uri, 5, 2);
	other = take_snapshot("other");
	ck_assert_int_eq(run("-s %s snapshot %s", file, other), 1);
	expect(output, "PATHS");
	expect(output, "1 of those in both differ");
	ck_assert_ptr_null(strstr(output, "ENDPORTS"));
	ck_assert_int_eq(run("-s %s --json snapshot %s", file, other), 1);
	expect_json();
	end();
}
END_TEST

START_TEST(test_path)
{
	uint64_t host = ssa_tables_guid(HOST), other = ssa_tables_guid(OTHER);

	begin();
	ck_assert_int_eq(run("-s %s path 0x%016" G_GINT64_MODIFIER "x %u", file, host,
			     ssa_tables_lid(&node_bed_size, OTHER)),
			 0);
	expect(output, "DLID");
	ck_assert_int_eq(run("-s %s -j path 0x%016" G_GINT64_MODIFIER "x 0x%016" G_GINT64_MODIFIER
			     "x",
			     file, host, other),
			 0);
	expect_json();
	expect(output, "\"answer\":\"found\"");
	/* The half-world of a host lacks the ways of others; a store has them. */
	ck_assert_int_eq(run("-s %s path 0x%016" G_GINT64_MODIFIER "x 0x%016" G_GINT64_MODIFIER "x",
			     file, other, host),
			 4);
	ck_assert_int_eq(run("--store %s path 0x%016" G_GINT64_MODIFIER "x 0x%016" G_GINT64_MODIFIER
			     "x",
			     bed.uri, other, host),
			 0);
	ck_assert_int_eq(run("-s %s path 0x1 0x2", file), 1);
	expect(errors, "'0x1': no such port");
	end();
}
END_TEST

START_TEST(test_usage)
{
	begin();
	ck_assert_int_eq(run("path 1"), 2);
	expect(errors, "expected path A B");
	ck_assert_int_eq(run("dance"), 2);
	expect(errors, "'dance': expected one of");
	ck_assert_int_eq(run("-r x ping"), 2);
	ck_assert_int_eq(run("--filter=king ping"), 2);
	ck_assert_int_eq(run("-f long nodeinfo"), 2);
	ck_assert_int_eq(run("-n 0 verify"), 2);
	expect(errors, "-n 0: expected a number of at least 1");
	ck_assert_int_eq(run("-c %s/none ping", bed.directory), 2);
	ck_assert_int_eq(run("--core redis://127.0.0.1:1 tree"), 3);
	g_setenv("GIO_USE_TLS", "dummy", TRUE); /* as where glib-networking is missing */
	ck_assert_int_eq(run("--core rediss://127.0.0.1:1 tree"), 3);
	expect(errors, "rediss://127.0.0.1:1: no TLS: GLib needs glib-networking for that");
	g_unsetenv("GIO_USE_TLS");
	end();
}
END_TEST

/* ---- nodes ---- */

static struct ssa_node *start(struct ssa_settings **settings, const char *text)
{
	g_autoptr(GError) error = NULL;
	struct ssa_node *node;

	*settings = ssa_settings_parse("f", text, strlen(text), &error);
	ck_assert_msg(*settings != NULL, "%s", error ? error->message : "");
	node = ssa_node_start(*settings, &error);
	ck_assert_msg(node != NULL, "%s", error ? error->message : "");
	return node;
}

START_TEST(test_nodes)
{
	struct redis_server *server = redis_server_start(0, NULL);
	g_autofree char *uri = g_strdup_printf("redis://127.0.0.1:%u", server->port);
	g_autofree char *core_text = NULL, *agent_text = NULL;
	struct ssa_settings *core_settings, *agent_settings;
	struct ssa_node *core, *agent;

	begin();
	core_text = g_strdup_printf(
		"role core\nannounce FALSE\nstore %s\nserver %s\nnode_guid c0\n", bed.uri, uri);
	agent_text = g_strdup_printf("role agent\ncore %s\nport_guid %016" G_GINT64_MODIFIER
				     "x\nsnapshot %s/s\n",
				     uri, ssa_tables_guid(HOST), bed.directory);
	ck_assert_int_eq(run("--core %s ping", uri), 3); /* Redis answers, but no core is there */
	expect(errors, "no core has told of its nodes");
	core = start(&core_settings, core_text);
	agent = start(&agent_settings, agent_text);
	ck_assert(node_bed_wait(run("--core %s tree", uri) == 0 &&
				strstr(output, "core 127.0.0.1") && strstr(output, "  0x") &&
				strstr(output, "epoch 1\n")));
	ck_assert_int_eq(run("--core %s -r d ping", uri), 0);
	expect(output, " ms\n");
	expect(output, "agent: heard of");
	ck_assert_int_eq(run("--core %s -r d --filter=acm ping", uri), 0);
	ck_assert_ptr_null(strstr(output, " ms\n"));
	/* The core hears of it within five seconds. */
	ck_assert(node_bed_wait(run("--core %s -f full nodeinfo c0", uri) == 0 &&
				strstr(output, "epochs taken 1, errors 0, parents given up 0\n")));
	expect(output, "down: primary of");
	ck_assert(node_bed_wait(
		run("--core %s stats c0", uri) == 0 &&
		strstr(output, "  children 1, of which 0 have an older epoch; backup of 0\n")));
	ck_assert_int_eq(
		run("--core %s stats 0x%016" G_GINT64_MODIFIER "x", uri, ssa_tables_guid(HOST)), 0);
	expect(output, "epochs taken");
	ck_assert_int_eq(run("--core %s stats 0x77", uri), 1);
	ck_assert_int_eq(run("--core %s --json -r d -f full nodeinfo", uri), 0);
	expect_json();
	expect(output, "\"children\":1");
	ck_assert_int_eq(run("--core %s --json tree", uri), 0);
	expect_json();
	expect(output, "\"children\":[{");
	ssa_node_stop(agent);
	ssa_node_stop(core);
	ssa_settings_free(agent_settings);
	ssa_settings_free(core_settings);
	redis_server_free(server);
	end();
}
END_TEST

/* ---- opensm-ssa ---- */

static GPid spawn(const char *config, const char *option)
{
	g_autofree char *path = program("node/opensm-ssa");
	char *argv[] = {path, (char *)"-c", (char *)config, (char *)option, NULL};
	GPid pid;

	ck_assert(
		g_spawn_async(NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &pid, NULL));
	return pid;
}

static int status_of(GPid pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static uint64_t epoch_of(const char *path)
{
	struct ssa_snapshot *snapshot = ssa_snapshot_map(path, NULL);
	uint64_t epoch = snapshot ? snapshot->epoch : 0;

	ssa_snapshot_unref(snapshot);
	return epoch;
}

START_TEST(test_daemon)
{
	g_autofree char *config = NULL, *text = NULL, *taken = NULL;
	GPid pid;

	begin();
	config = g_build_filename(bed.directory, "ssa.conf", NULL);
	taken = g_build_filename(bed.directory, "taken", NULL);
	ck_assert(g_file_set_contents(config, "role agent\n", -1, NULL));
	ck_assert_int_eq(status_of(spawn(config, "--check")), 1);
	ck_assert_int_eq(status_of(spawn("/no/such/file", NULL)), 1);
	text = g_strdup_printf("role agent\nstore %s\nsnapshot %s\nport_guid %016" G_GINT64_MODIFIER
			       "x\n",
			       bed.uri, taken, ssa_tables_guid(HOST));
	ck_assert(g_file_set_contents(config, text, -1, NULL));
	ck_assert_int_eq(status_of(spawn(config, "--check")), 0);
	pid = spawn(config, NULL);
	ck_assert(node_bed_wait(epoch_of(taken) == 1));
	node_bed_change(&bed, SSA_PATHS, HOST / node_bed_size.hosts);
	node_bed_publish(&bed, bed.uri, 5, 2);
	ck_assert(node_bed_wait(epoch_of(taken) == 2));
	kill(pid, SIGTERM);
	ck_assert_int_eq(status_of(pid), 0);
	end();
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_admin");
	TCase *tcase = tcase_create("admin");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, test_snapshot);
	tcase_add_test(tcase, test_difference);
	tcase_add_test(tcase, test_path);
	tcase_add_test(tcase, test_usage);
	tcase_add_test(tcase, test_daemon);
	if (redis_server_installed())
		tcase_add_test(tcase, test_nodes);
	suite_add_tcase(suite, tcase);
	return suite;
}
