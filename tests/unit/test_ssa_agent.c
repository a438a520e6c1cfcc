// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The agent of a host: its snapshot's file, and what it refuses. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <utime.h>

#include "ssa/node/agent.h"
#include "ssa/node/follow.h"
#include "ssa/node/settings.h"
#include "ssa/wire/alive.h"
#include "tests/run_suite.h"
#include "tests/unit/node_bed.h"

#define KEY "0123456789abcdef0123456789abcdef"
#define HOST 13 /* of which the agent is */

static struct node_bed bed;
static struct ssa_agent *agent;
static struct ssa_store *store;
static char *file;

static struct ssa_agent_config agent_config(void)
{
	return (struct ssa_agent_config){
		.prefix = SSA_TABLES_PREFIX,
		.key = bed.key,
		.wanted = {.guids = {ssa_tables_guid(HOST)}, .addresses = true},
		.file = file};
}

static void start_agent(void)
{
	struct ssa_agent_config config = agent_config();

	agent = ssa_agent_new(&config);
}

static void begin(const char *key)
{
	node_bed_begin(&bed, key);
	file = g_build_filename(bed.directory, "snapshot", NULL);
	store = node_bed_store(bed.uri, false);
	start_agent();
}

static void end(void)
{
	ssa_agent_free(agent);
	ssa_store_close(store);
	g_free(file);
	node_bed_end(&bed);
}

static enum ssa_update update(void)
{
	g_autoptr(GError) error = NULL;
	enum ssa_update result = ssa_agent_update(agent, store, &error);

	ck_assert_msg(result != SSA_UPDATE_FAILED, "%s", error ? error->message : "no error");
	return result;
}

static void update_fails(const char *text)
{
	g_autoptr(GError) error = NULL;

	ck_assert_int_eq(ssa_agent_update(agent, store, &error), SSA_UPDATE_FAILED);
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(strstr(error->message, text), "'%s', expected '%s' in it", error->message,
		      text);
}

/* What a consumer finds. */
static uint64_t epoch_of_file(void)
{
	struct ssa_snapshot *snapshot = ssa_snapshot_map(file, NULL);
	uint64_t epoch = snapshot ? snapshot->epoch : 0;

	ssa_snapshot_unref(snapshot);
	return epoch;
}

static struct stat file_status(void)
{
	struct stat status;

	ck_assert_int_eq(stat(file, &status), 0);
	return status;
}

static void reopen(const char *uri)
{
	ssa_store_close(store);
	store = node_bed_store(uri, false);
}

/* ---- epochs ---- */

START_TEST(test_first_epoch)
{
	const struct ssa_snapshot *snapshot;

	begin(NULL);
	update_fails("cannot open the directory");
	ck_assert(!g_file_test(file, G_FILE_TEST_EXISTS));
	node_bed_publish(&bed, bed.uri, 5, 1);
	ck_assert_int_eq(update(), SSA_UPDATE_NEWER);
	ck_assert_uint_eq(epoch_of_file(), 1);
	ck_assert_uint_eq(file_status().st_mode & 07777, 0644);
	snapshot = ssa_agent_snapshot(agent);
	ck_assert_uint_eq(snapshot->tables[SSA_PATHS].parts[0].here, 1);
	ck_assert_uint_eq(snapshot->tables[SSA_PATHS].rows, node_bed_size.leaves);
	end();
}
END_TEST

START_TEST(test_nothing_is_written_if_nothing_changed)
{
	const struct utimbuf long_ago = {1000, 1000};
	struct stat before, after;

	begin(NULL);
	node_bed_publish(&bed, bed.uri, 5, 1);
	update();
	ck_assert_int_eq(utime(file, &long_ago), 0);
	before = file_status();
	ck_assert_int_eq(update(), SSA_UPDATE_SAME);
	ssa_agent_free(agent);
	start_agent();
	ck_assert_int_eq(update(), SSA_UPDATE_SAME);
	after = file_status();
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	ck_assert_int_eq(after.st_mtime, 1000);
	ssa_agent_confirm(agent);
	after = file_status();
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	ck_assert_int_gt(after.st_mtime, 1000);
	end();
}
END_TEST

/* After one row has changed: the list and the chunk of its table, also if it had rested before. */
START_TEST(test_only_changes_are_fetched)
{
	uint64_t cold, before;

	begin(NULL);
	node_bed_publish(&bed, bed.uri, 5, 1);
	update();
	cold = ssa_agent_fetched(agent);
	node_bed_change(&bed, SSA_LANES, 0);
	node_bed_publish(&bed, bed.uri, 5, 2);
	update();
	node_bed_change(&bed, SSA_PATHS, HOST / node_bed_size.hosts);
	node_bed_publish(&bed, bed.uri, 5, 3);
	before = ssa_agent_fetched(agent);
	ck_assert_int_eq(update(), SSA_UPDATE_NEWER);
	ck_assert_uint_eq(epoch_of_file(), 3);
	ck_assert_uint_gt(ssa_agent_fetched(agent), before);
	ck_assert_uint_lt((ssa_agent_fetched(agent) - before) * 4, cold);
	end();
}
END_TEST

START_TEST(test_restart_fetches_only_what_the_file_lacks)
{
	uint64_t cold;

	begin(NULL);
	node_bed_publish(&bed, bed.uri, 5, 1);
	update();
	cold = ssa_agent_fetched(agent);
	ssa_agent_free(agent);
	start_agent();
	update();
	ck_assert_uint_lt(ssa_agent_fetched(agent) * 3, cold);
	end();
}
END_TEST

/* ---- refusals ---- */

START_TEST(test_never_back)
{
	g_autofree char *other = NULL;

	begin(NULL);
	other = g_strdup_printf("files:%s/other", bed.directory);
	node_bed_publish(&bed, bed.uri, 5, 7);
	update();
	node_bed_publish(&bed, other, 4, 9);
	reopen(other);
	update_fails("older than term 5, epoch 7");
	node_bed_publish(&bed, other, 5, 6);
	update_fails("older than term 5, epoch 7");
	ssa_agent_free(agent);
	start_agent();
	update_fails("older than term 5, epoch 7");
	ck_assert_uint_eq(epoch_of_file(), 7);
	node_bed_publish(&bed, other, 6, 1);
	ck_assert_int_eq(update(), SSA_UPDATE_NEWER);
	end();
}
END_TEST

START_TEST(test_keys)
{
	GBytes *key;

	begin(KEY);
	node_bed_publish(&bed, bed.uri, 5, 1);
	update();
	key = bed.key;
	bed.key = NULL;
	node_bed_publish(&bed, bed.uri, 6, 2);
	update_fails("");
	bed.key = g_bytes_new_static("another key of a length that will do", 36);
	node_bed_publish(&bed, bed.uri, 7, 3);
	update_fails("");
	ck_assert_uint_eq(epoch_of_file(), 1);
	g_bytes_unref(bed.key);
	bed.key = key;
	node_bed_publish(&bed, bed.uri, 8, 4);
	ck_assert_int_eq(update(), SSA_UPDATE_NEWER);
	end();
}
END_TEST

START_TEST(test_other_subnet)
{
	begin(NULL);
	bed.made.prefix = 0x1234;
	node_bed_publish(&bed, bed.uri, 5, 1);
	update_fails("expected 0xfe80000000000000");
	end();
}
END_TEST

START_TEST(test_missing_chunk)
{
	g_autofree char *chunks = NULL, *moved = NULL;

	begin(NULL);
	node_bed_publish(&bed, bed.uri, 5, 1);
	update();
	node_bed_change(&bed, SSA_PATHS, 0);
	node_bed_publish(&bed, bed.uri, 5, 2);
	chunks = g_build_filename(bed.directory, "store", "chunks", NULL);
	moved = g_build_filename(bed.directory, "moved", NULL);
	ck_assert_int_eq(rename(chunks, moved), 0);
	reopen(bed.uri);
	update_fails("no chunk");
	ck_assert_uint_eq(epoch_of_file(), 1);
	ck_assert_int_eq(rename(moved, chunks), 0);
	reopen(bed.uri);
	ck_assert_int_eq(update(), SSA_UPDATE_NEWER);
	ck_assert_uint_eq(epoch_of_file(), 2);
	end();
}
END_TEST

/* An epoch without its chunks is not a store that has none yet, also for an agent that has none. */
START_TEST(test_missing_chunks_of_the_first_epoch)
{
	g_autofree char *chunks = NULL, *moved = NULL;
	g_autoptr(GError) error = NULL;

	begin(NULL);
	node_bed_publish(&bed, bed.uri, 5, 1);
	chunks = g_build_filename(bed.directory, "store", "chunks", NULL);
	moved = g_build_filename(bed.directory, "moved", NULL);
	ck_assert_int_eq(rename(chunks, moved), 0);
	ck_assert_int_eq(ssa_agent_update(agent, store, &error), SSA_UPDATE_FAILED);
	ck_assert(g_error_matches(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE));
	end();
}
END_TEST

/* A torn manifest is told with the store that has it. */
START_TEST(test_which_store)
{
	g_autofree char *manifest = NULL;

	begin(NULL);
	node_bed_publish(&bed, bed.uri, 5, 1);
	manifest = g_build_filename(bed.directory, "store", "manifest", NULL);
	ck_assert_int_eq(truncate(manifest, 100), 0);
	update_fails(bed.uri);
	end();
}
END_TEST

/* A file that was removed or cut off is written again, and not told to be current as it is. */
START_TEST(test_file_is_restored)
{
	begin(NULL);
	node_bed_publish(&bed, bed.uri, 5, 1);
	update();
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_int_eq(remove(file), 0);
		ssa_agent_confirm(agent);
		ck_assert_uint_eq(epoch_of_file(), 1);
		ck_assert_int_eq(truncate(file, 0), 0);
		ssa_agent_confirm(agent);
		ck_assert_uint_eq(epoch_of_file(), 1);
		ssa_agent_free(agent);
		start_agent(); /* with what is in the file */
		ck_assert_ptr_nonnull(ssa_agent_snapshot(agent));
	}
	end();
}
END_TEST

/* A FIFO in place of the file is not opened, which could take for ever. */
START_TEST(test_fifo)
{
	begin(NULL);
	ssa_agent_free(agent);
	ck_assert_int_eq(mkfifo(file, 0600), 0);
	start_agent();
	ck_assert_ptr_null(ssa_agent_snapshot(agent));
	end();
}
END_TEST

START_TEST(test_broken_file)
{
	begin(NULL);
	node_bed_publish(&bed, bed.uri, 5, 1);
	ssa_agent_free(agent);
	ck_assert(g_file_set_contents(file, "no snapshot", -1, NULL));
	start_agent();
	ck_assert_ptr_null(ssa_agent_snapshot(agent));
	ck_assert_int_eq(update(), SSA_UPDATE_NEWER);
	ck_assert_uint_eq(epoch_of_file(), 1);
	end();
}
END_TEST

/* Tried again as long as it fails: what is in the file is what the agent has. */
START_TEST(test_file_cannot_be_written)
{
	begin(NULL);
	ssa_agent_free(agent);
	g_free(file);
	file = g_build_filename(bed.directory, "later", "snapshot", NULL);
	start_agent();
	node_bed_publish(&bed, bed.uri, 5, 1);
	update_fails("later/snapshot");
	ck_assert_ptr_null(ssa_agent_snapshot(agent));
	{
		g_autofree char *directory = g_path_get_dirname(file);

		ck_assert_int_eq(mkdir(directory, 0755), 0);
	}
	ck_assert_int_eq(update(), SSA_UPDATE_NEWER);
	ck_assert_uint_eq(epoch_of_file(), 1);
	end();
}
END_TEST

/* ---- configuration ---- */

/* ---- whether the epoch is the current one ---- */

static void set_pulse(uint64_t epoch, uint64_t time_us)
{
	const struct ssa_alive alive = {.term = 5, .epoch = epoch, .time_us = time_us};
	g_autofree char *text = ssa_alive_text(&alive, SSA_TABLES_PREFIX, bed.key);
	struct ssa_store *writer = node_bed_store(bed.uri, true);

	ck_assert(ssa_store_set_pulse(writer, text, NULL));
	ssa_store_close(writer);
}

/*
 * Whether the file's time becomes the present one, within that time, by a pulse of that epoch and
 * time; 0: there is none.
 */
static bool becomes_current(uint64_t epoch, uint64_t time_us, unsigned int ms)
{
	const struct utimbuf long_ago = {1000, 1000};
	int64_t end_us = g_get_monotonic_time() + ms * INT64_C(1000);

	ck_assert_int_eq(utime(file, &long_ago), 0);
	if (epoch)
		set_pulse(epoch, time_us);
	while (file_status().st_mtime == 1000 && g_get_monotonic_time() < end_us)
		g_usleep(2000);
	return file_status().st_mtime != 1000;
}

/*
 * Also where the daemon's own directory is read: as long as it says nothing, or the same as before,
 * or something of another epoch, the snapshot becomes older.
 */
START_TEST(test_only_a_pulse_confirms)
{
	struct ssa_reporter *reporter = ssa_reporter_new(NULL, NULL);
	struct ssa_follow_config config = {.reporter = reporter, .look_ms = 5};
	struct ssa_follow *follow;

	begin(KEY);
	config.agent = agent_config();
	node_bed_publish(&bed, bed.uri, 5, 1);
	set_pulse(1, 100);
	follow = ssa_follow_start(&config);
	ssa_follow_parents(follow, bed.uri, NULL);
	while (!g_file_test(file, G_FILE_TEST_EXISTS))
		g_usleep(2000);
	ck_assert(!becomes_current(0, 0, 50));
	/* On a busy machine this may be the first that is heard, which may be an old one. */
	ck_assert(becomes_current(1, 101, 500) || becomes_current(1, 102, 3000));
	ck_assert(!becomes_current(0, 0, 50));
	ck_assert(!becomes_current(2, 103, 50));
	ck_assert(becomes_current(1, 104, 3000));
	ssa_follow_stop(follow);
	ssa_reporter_free(reporter);
	end();
}
END_TEST

static const char *const mistakes[][2] = {
	{"", "ssa.conf: role: expected at least one"},
	{"role king\n", "ssa.conf:1: role: found 'king', expected core, distribution"},
	{"role agent\nport_guid zero\n", "ssa.conf:2: port_guid: found 'zero'"},
	{"role agent\n", "without core, cores are found at the SA: expected key_file"},
	{"role access\nserver redis://h\n", "cores are found at the SA: expected key_file"},
	{"role agent\nkey_file /k\npassword_file /p\n", "expected tls_ca beside password_file"},
	{"role agent\nkey_file /k\ncore_user a@b\n", "ssa.conf:3: core_user: found 'a@b'"},
	{"role agent\nstore /x\n", "ssa.conf:2: store: found '/x', expected files:"},
	{"role core\nserver redis://h\n", "role core: expected store"},
	{"role access\ncore redis://h\n", "role access: expected server"},
	{"role core\nrole access\nstore files:/x\nserver redis://h\n",
	 "role core: expected no dist"},
	{"role agent\nstore files:/x\nsnapshot y\n", "ssa.conf:3: snapshot: found 'y'"},
	{"role agent\nstore files:/x\nacm_files y\n", "ssa.conf:3: acm_files: found 'y'"},
	{"role agent\nstore files:/x\nstore files:/y\n", "ssa.conf:3: store: line 2 has given it"},
	{"role agent\nstore files:/x\nfanout_core 0\n", "expected a number from 1 to 10000"},
	{"role agent\nparent redis://a\nparent redis://b\nparent redis://c\n", "at most two"},
	{"role agent\nstore files:/x\ntls_cert /c\n", "tls_cert and tls_key: expected both"},
	{"role agent\nstore files:/x\nfoo 1\n", "'foo': expected an option of ssa.conf(5)"},
	{"role agent\ncore http://h\n", "ssa.conf:2: core: found 'http://h', expected redis://"},
	{"role agent\ncore redis://\n", "ssa.conf:2: core: found 'redis://', expected redis://"},
	{"role agent\nparent redis://h:0\n", "ssa.conf:2: parent: found 'redis://h:0'"},
	{"role access\nserver redis://[::1\n", "ssa.conf:2: server: found 'redis://[::1'"},
	{"role agent\ncore redis://u:secret@h\n", "has a password, which others can see"},
	{"role access\naddress here\n", "ssa.conf:2: address: found 'here', expected HOST:PORT"},
};

START_TEST(test_mistakes)
{
	g_autoptr(GError) error = NULL;
	const char *text = mistakes[_i][0];
	struct ssa_settings *settings = ssa_settings_parse("ssa.conf", text, strlen(text), &error);

	ck_assert_ptr_null(settings);
	ck_assert_msg(strstr(error->message, mistakes[_i][1]), "'%s', expected '%s' in it",
		      error->message, mistakes[_i][1]);
	ck_assert_ptr_null(strstr(error->message, "secret"));
}
END_TEST

START_TEST(test_settings)
{
	static const char text[] = "role agent # of this host\nrole access\n"
				   "core redis://a:1\ncore rediss://u@b\nserver redis://[::1]:3\n"
				   "port_guid 0x12\nport_guid 13\nfanout_access 5\n";
	g_autoptr(GError) error = NULL;
	struct ssa_settings *settings = ssa_settings_parse("f", text, strlen(text), &error);

	ck_assert_msg(settings != NULL, "%s", error ? error->message : "");
	ck_assert_uint_eq(settings->roles, SSA_ROLE_AGENT | SSA_ROLE_ACCESS);
	ck_assert_uint_eq(settings->cores->len, 2);
	ck_assert_uint_eq(g_array_index(settings->guids, uint64_t, 1), 0x13);
	ck_assert_uint_eq(settings->fanout[0], 10);
	ck_assert_uint_eq(settings->fanout[2], 5);
	ck_assert_str_eq(settings->snapshot, "/run/opensm-ssa/snapshot");
	ssa_settings_free(settings);
}
END_TEST

static const struct {
	const char *text;
	bool finds;
} finders[] = {
	{"role agent\nkey_file /k\n", true},
	{"role agent\nkey_file /k\npassword_file /p\ntls_ca /c\n", true},
	{"role access\nserver redis://h\nkey_file /k\n", true},
	{"role agent\ncore redis://h\n", false},
	{"role agent\nparent redis://h\n", false},
	{"role agent\nstore files:/x\n", false},
	{"role agent\nfake_agents 3\nstore files:/x\nkey_file /k\n", true},
	{"role core\nrole agent\nstore files:/x\nserver redis://h\n", false},
};

START_TEST(test_which_nodes_find_their_cores)
{
	const char *text = finders[_i].text;
	g_autoptr(GError) error = NULL;
	struct ssa_settings *settings = ssa_settings_parse("f", text, strlen(text), &error);

	ck_assert_msg(settings != NULL, "%s", error ? error->message : "");
	ck_assert_int_eq(ssa_settings_finds_cores(settings), finders[_i].finds);
	ssa_settings_free(settings);
}
END_TEST

static void make_port(const char *top, const char *port, const char *gid, const char *layer)
{
	g_autofree char *path = g_build_filename(top, port, "gids", NULL);
	g_autofree char *first = g_build_filename(path, "0", NULL);
	g_autofree char *link = g_build_filename(top, port, "link_layer", NULL);

	ck_assert_int_eq(g_mkdir_with_parents(path, 0755), 0);
	ck_assert(g_file_set_contents(first, gid, -1, NULL));
	ck_assert(g_file_set_contents(link, layer, -1, NULL));
}

START_TEST(test_ports_of_the_host)
{
	g_autoptr(GArray) guids = NULL;

	node_bed_begin(&bed, NULL);
	make_port(bed.directory, "mlx5_1/ports/1", "fe80:0000:0000:0000:0002:c903:0000:0002\n",
		  "InfiniBand\n");
	make_port(bed.directory, "mlx5_0/ports/2", "fe80:0000:0000:0000:0002:c903:0000:0001\n",
		  "InfiniBand\n");
	make_port(bed.directory, "eth_0/ports/1", "fe80:0000:0000:0000:0002:c903:0000:0003\n",
		  "Ethernet\n");
	make_port(bed.directory, "bad/ports/1", "fe80::1\n", "InfiniBand\n");
	guids = ssa_host_guids(bed.directory);
	ck_assert_uint_eq(guids->len, 2);
	ck_assert_uint_eq(g_array_index(guids, uint64_t, 0), 0x0002c90300000001);
	ck_assert_uint_eq(g_array_index(guids, uint64_t, 1), 0x0002c90300000002);
	node_bed_end(&bed);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_agent");
	TCase *epochs = tcase_create("epochs"), *refusals = tcase_create("refusals");
	TCase *settings = tcase_create("settings");

	tcase_add_test(epochs, test_first_epoch);
	tcase_add_test(epochs, test_nothing_is_written_if_nothing_changed);
	tcase_add_test(epochs, test_only_changes_are_fetched);
	tcase_add_test(epochs, test_restart_fetches_only_what_the_file_lacks);
	suite_add_tcase(suite, epochs);
	tcase_add_test(refusals, test_never_back);
	tcase_add_test(refusals, test_keys);
	tcase_add_test(refusals, test_other_subnet);
	tcase_add_test(refusals, test_missing_chunk);
	tcase_add_test(refusals, test_missing_chunks_of_the_first_epoch);
	tcase_add_test(refusals, test_which_store);
	tcase_add_test(refusals, test_file_is_restored);
	tcase_add_test(refusals, test_fifo);
	tcase_add_test(refusals, test_broken_file);
	tcase_add_test(refusals, test_file_cannot_be_written);
	tcase_add_test(refusals, test_only_a_pulse_confirms);
	suite_add_tcase(suite, refusals);
	tcase_add_loop_test(settings, test_mistakes, 0, (int)G_N_ELEMENTS(mistakes));
	tcase_add_test(settings, test_settings);
	tcase_add_loop_test(settings, test_which_nodes_find_their_cores, 0,
			    (int)G_N_ELEMENTS(finders));
	tcase_add_test(settings, test_ports_of_the_host);
	suite_add_tcase(suite, settings);
	return suite;
}
