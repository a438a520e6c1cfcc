// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The core of the Scalable SA in the daemon: which changes of a subnet make an epoch, and of which
 * tables; what a host then answers from the store is what the SA answers on the wire.
 */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>

#include "client.h"
#include "managers.h"
#include "ssa/look/look.h"
#include "ssa/store/store.h"
#include "ssa/wire/alive.h"
#include "tests/run_suite.h"

#define C(name) IBA_COMPONENT(path_record, name)
#define ALIAS UINT64_C(0x0002C903000A0001)
#define KEY "0123456789abcdef0123456789abcdef"

static char *directory;
static GBytes *key;

/* ---- a reader of the store ---- */

static GBytes *get(void *store, const char *name, GError **error)
{
	return ssa_store_get(store, name, error);
}

static struct ssa_store *open_store(void)
{
	g_autofree char *uri = g_strdup_printf("files:%s", directory);
	g_autoptr(GError) error = NULL;
	struct ssa_store *store = ssa_store_open(uri, IBA_DEFAULT_GID_PREFIX, NULL, &error);

	ck_assert_msg(store != NULL, "%s", error ? error->message : "");
	return store;
}

/* Term 0: the store has no manifest. */
static struct ssa_manifest read_manifest(void)
{
	struct ssa_store *store = open_store();
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) bytes = ssa_store_manifest(store, &error);
	struct ssa_manifest manifest = {0};

	if (bytes)
		ck_assert_msg(ssa_manifest_parse(bytes, key, &manifest, &error), "%s",
			      error ? error->message : "");
	ssa_store_close(store);
	return manifest;
}

static struct ssa_snapshot *read_snapshot(const struct ssa_manifest *manifest)
{
	const struct ssa_wanted wanted = {.whole = true};
	struct ssa_store *store = open_store();
	g_autoptr(GError) error = NULL;
	struct ssa_snapshot *snapshot = ssa_wire_join(manifest, NULL, &wanted, get, store, &error);

	ck_assert_msg(snapshot != NULL, "%s", error ? error->message : "");
	ssa_store_close(store);
	return snapshot;
}

/* The tables of which the hash differs, as "ENDPORTS PATHS". */
static char *differing(const struct ssa_manifest *a, const struct ssa_manifest *b)
{
	GString *text = g_string_new(NULL);

	for (unsigned int i = 0; i < b->n; i++) {
		const struct ssa_listed *new = &b->tables[i], *old = NULL;

		for (unsigned int k = 0; k < a->n; k++)
			if (a->tables[k].id == new->id)
				old = &a->tables[k];
		if (!old || memcmp(old->hash, new->hash, sizeof(new->hash)) != 0)
			g_string_append_printf(text, "%s%s", text->len ? " " : "",
					       ssa_table_name(new->id));
		else
			ck_assert_str_eq(old->list, new->list);
	}
	return g_string_free(text, FALSE);
}

static void expect_same_epoch(const struct ssa_manifest *before)
{
	struct ssa_manifest now = read_manifest();

	ck_assert_uint_eq(now.epoch, before->epoch);
	ck_assert_uint_eq(now.term, before->term);
}

static void expect_epoch(struct ssa_manifest *last, const char *tables)
{
	struct ssa_manifest now = read_manifest();
	g_autofree char *which = differing(last, &now);

	ck_assert_str_eq(which, tables);
	ck_assert_uint_eq(now.epoch, last->epoch + 1);
	ck_assert_uint_eq(now.term, last->term);
	*last = now;
}

/* ---- worlds ---- */

static char *ssa_conf(const char *more)
{
	return g_strdup_printf("ssa TRUE\nssa_directory %s\n%s", directory, more);
}

static struct scenario *up(const char *spec, const char *more)
{
	struct scenario *s = scenario_new(spec, 3);
	g_autofree char *conf = ssa_conf(more);

	scenario_conf(s, conf);
	scenario_start(s);
	scenario_converge(s, 60);
	return s;
}

static void setup(void)
{
	directory = g_dir_make_tmp("opensm-ssa.XXXXXX", NULL);
	ck_assert_ptr_nonnull(directory);
}

static void remove_tree(const char *path)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *child = g_build_filename(path, name, NULL);

		remove_tree(child);
	}
	g_clear_pointer(&dir, g_dir_close);
	remove(path);
}

static void teardown(void)
{
	remove_tree(directory);
	g_clear_pointer(&directory, g_free);
	g_clear_pointer(&key, g_bytes_unref);
}

/* ---- tests ---- */

/* Unless an answer changes, the epoch stays. */
START_TEST(same_answers)
{
	struct scenario *s = up("fattree:4", "");
	struct ssa_manifest first = read_manifest(), again;
	unsigned int node, port;

	ck_assert_uint_eq(first.epoch, 1);
	ck_assert_uint_ne(first.term, 0);
	scenario_heavy_sweep(s, 60);
	expect_same_epoch(&first);
	/* Between switches there are other ways, which can carry as much. */
	scenario_random_link(s, &node, &port);
	sim_link_set(s->sim, node, port, false);
	scenario_converge(s, 60);
	expect_same_epoch(&first);
	scenario_stop(s);
	scenario_start(s);
	scenario_converge(s, 60);
	again = read_manifest();
	ck_assert_uint_eq(again.epoch, first.epoch);
	ck_assert_uint_gt(again.term, first.term);
	scenario_free(s);
}
END_TEST

/* 0: none. */
static uint64_t read_pulse(struct ssa_alive *alive)
{
	struct ssa_store *store = open_store();
	g_autofree char *text = ssa_store_pulse(store, NULL);

	memset(alive, 0, sizeof(*alive));
	if (text)
		ck_assert(ssa_alive_parse(text, IBA_DEFAULT_GID_PREFIX, key, alive));
	ssa_store_close(store);
	return alive->time_us;
}

/* As long as this SM is MASTER, hosts hear that their epoch is the current one, and no longer. */
START_TEST(pulse)
{
	struct scenario *s = up("fattree:4", "");
	struct ssa_manifest now = read_manifest();
	struct ssa_alive alive;
	uint64_t last;

	scenario_run_ms(s, (SSA_ALIVE_S + 1) * 1000);
	last = read_pulse(&alive);
	ck_assert_uint_ne(last, 0);
	ck_assert_uint_eq(alive.term, now.term);
	ck_assert_uint_eq(alive.epoch, now.epoch);
	scenario_run_ms(s, (SSA_ALIVE_S + 1) * 1000);
	ck_assert_uint_gt(read_pulse(&alive), last);
	last = alive.time_us;
	scenario_stop(s);
	scenario_run_ms(s, 5 * SSA_ALIVE_S * 1000);
	ck_assert_uint_eq(read_pulse(&alive), last);
	scenario_free(s);
}
END_TEST

/* Each kind of change is an epoch of the tables that it concerns. */
START_TEST(changes)
{
	struct scenario *s = up("fattree:4", "");
	struct ssa_manifest last = read_manifest();
	unsigned int host = scenario_node(s, "host-7");
	struct client *client;
	struct iba_guid_info_record record = {.lid = scenario_lid(s, host)};

	scenario_set_links(s, host, false);
	scenario_converge(s, 60);
	expect_epoch(&last, "ENDPORTS PATHS REACH DESCRIPTIONS");
	scenario_set_links(s, host, true);
	scenario_converge(s, 60);
	expect_epoch(&last, "ENDPORTS PATHS REACH DESCRIPTIONS");
	client = client_new(s, host);
	record.guid_info.guid[1] = ALIAS;
	ck_assert_int_eq(client_ask(client, IBA_METHOD_SET, IBA_ATTR_GUID_INFO_RECORD,
				    IBA_COMPONENT(guid_info_record, lid) |
					    IBA_COMPONENT(guid_info_record, block_num) |
					    UINT64_C(1) << 5,
				    &iba_guid_info_record_type, &record),
			 0);
	scenario_run_ms(s, 2000);
	expect_epoch(&last, "ALIASES");
	client_free(client);
	scenario_free(s);
}
END_TEST

/* A partition is a change of what the policy says, and of the kinds of ports. */
START_TEST(partitions)
{
	g_autofree char *file = g_build_filename(directory, "partitions.conf", NULL);
	g_autofree char *more = g_strdup_printf("partition_config_file %s\n", file);
	struct scenario *s;
	struct ssa_manifest first, now;
	g_autofree char *which = NULL;
	struct ssa_snapshot *snapshot;

	scenario_old_file(file, "Default=0x7fff: ALL=full;\n");
	s = up("fattree:4", more);
	first = read_manifest();
	scenario_stop(s);
	scenario_old_file(file, "Default=0x7fff: ALL=limited, SELF=full;\nA=5: ALL_CAS=full;\n");
	scenario_start(s);
	scenario_run_ms(s, 10000);
	now = read_manifest();
	which = differing(&first, &now);
	ck_assert_str_eq(which, "SUBNET ENDPORTS PAIRS VERDICTS");
	snapshot = read_snapshot(&now);
	ck_assert_uint_eq(ssa_32(snapshot->subnet->n_classes), 3); /* SM, hosts, switches */
	ssa_snapshot_unref(snapshot);
	scenario_free(s);
}
END_TEST

/* Read again when it changes; a mistake leaves what there was. */
START_TEST(addresses)
{
	g_autofree char *file = g_build_filename(directory, "addresses", NULL);
	g_autofree char *more = g_strdup_printf("ssa_address_file %s\n", file);
	struct scenario *s = up("fattree:4", more);
	struct ssa_manifest last = read_manifest();
	struct ssa_snapshot *snapshot;
	uint32_t n;

	ck_assert(g_file_set_contents(file, "a fe80::1\n10.0.0.1 fe80::2 0x12 0x40\n", -1, NULL));
	scenario_run_ms(s, 15000);
	expect_epoch(&last, "NAMES IPV4");
	ck_assert(g_file_set_contents(file, "a fe80::7\n10.0.0.1 b\n", -1, NULL));
	scenario_run_ms(s, 15000);
	expect_same_epoch(&last);
	scenario_check_log(s, "addresses:2:10: ", true);
	snapshot = read_snapshot(&last);
	ck_assert_uint_eq(ssa_look_named(snapshot, "a", &n)->rest.gid[15], 1);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(ssa_look_ipv4(snapshot, (const uint8_t[]){10, 0, 0, 1}, &n)->rest.qpn[2],
			  0x12);
	ck_assert_ptr_null(ssa_look_named(snapshot, "b", &n));
	ssa_snapshot_unref(snapshot);
	ck_assert_int_eq(remove(file), 0);
	scenario_run_ms(s, 15000);
	expect_epoch(&last, "NAMES IPV4");
	scenario_free(s);
}
END_TEST

/* Signed by the key; a reader with another key believes nothing. */
START_TEST(signed_by_key)
{
	g_autofree char *file = g_build_filename(directory, "key", NULL);
	g_autofree char *more = g_strdup_printf("ssa_key_file %s\n", file);
	struct scenario *s;
	struct ssa_store *store;
	struct ssa_manifest manifest;
	g_autoptr(GBytes) bytes = NULL, other = g_bytes_new_static(KEY, sizeof(KEY) - 2);
	g_autoptr(GError) error = NULL;

	ck_assert(
		g_file_set_contents_full(file, KEY "\n", -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
	key = g_bytes_new_static(KEY, sizeof(KEY) - 1);
	s = up("fattree:4", more);
	ck_assert(read_manifest().authenticated);
	store = open_store();
	bytes = ssa_store_manifest(store, NULL);
	ck_assert(!ssa_manifest_parse(bytes, other, &manifest, &error));
	ck_assert(g_error_matches(error, SSA_WIRE_ERROR, SSA_WIRE_ERROR_KEY));
	ssa_store_close(store);
	scenario_free(s);
}
END_TEST

/* The next master, which finds the epoch in its store, continues it with a higher term. */
START_TEST(takeover)
{
	struct managers *m = managers_new("fattree:4", 5);
	g_autofree char *conf = ssa_conf("");
	g_autofree char *first_conf = g_strconcat(conf, "sm_priority 3\n", NULL);
	g_autofree char *second_conf = g_strconcat(conf, "sm_priority 2\n", NULL);
	struct ssa_manifest first, now;

	managers_up_with_standby(m, first_conf, second_conf);
	scenario_run_ms(m->s, 30000);
	first = read_manifest();
	ck_assert_uint_eq(first.epoch, 1);
	managers_retire(m, 0);
	scenario_run_ms(m->s, 120000);
	now = read_manifest();
	ck_assert_uint_gt(now.term, first.term);
	ck_assert_uint_eq(now.epoch, first.epoch);
	ck_assert_uint_ne(now.sm_guid, first.sm_guid);
	managers_free(m);
}
END_TEST

/* Chunks that vanish while the daemon runs are put again with the next epoch. */
START_TEST(damaged_store)
{
	g_autofree char *chunks = g_build_filename(directory, "chunks", NULL);
	struct scenario *s = up("fattree:4", "");
	struct ssa_manifest first = read_manifest(), now;
	struct ssa_snapshot *snapshot;

	remove_tree(chunks);
	scenario_set_links(s, scenario_node(s, "host-7"), false);
	scenario_converge(s, 60);
	now = read_manifest();
	ck_assert_uint_eq(now.epoch, first.epoch + 1);
	snapshot = read_snapshot(&now);
	ck_assert_uint_eq(snapshot->n_endports, 16 + 20 - 1);
	ssa_snapshot_unref(snapshot);
	scenario_free(s);
}
END_TEST

/* Another SM puts its epoch into the store, with tables as they are. */
static struct ssa_manifest publish_as_other(const struct ssa_manifest *first)
{
	struct ssa_manifest other = *first;
	g_autofree char *uri = g_strdup_printf("files:%s", directory);
	const struct ssa_store_options options = {.writes = true};
	struct ssa_store *store = ssa_store_open(uri, first->prefix, &options, NULL);
	g_autoptr(GPtrArray) names = ssa_wire_names(first, get, store, NULL);
	g_autoptr(GBytes) bytes = NULL;

	other.term += 1000;
	other.sm_guid++;
	bytes = ssa_manifest_encode(&other, NULL);
	ck_assert(ssa_store_publish(store, bytes, other.term, other.epoch,
				    (const char *const *)names->pdata, names->len, NULL));
	ssa_store_close(store);
	return other;
}

/* Two masters, each with the other's epochs in its store: the one that publishes last wins. */
START_TEST(two_masters)
{
	struct scenario *s = up("fattree:4", "");
	struct ssa_manifest first = read_manifest(), other = publish_as_other(&first), now;

	scenario_set_links(s, scenario_node(s, "host-7"), false);
	scenario_converge(s, 60);
	now = read_manifest();
	ck_assert_uint_eq(now.sm_guid, first.sm_guid);
	ck_assert_uint_gt(now.term, other.term);
	ck_assert_uint_eq(now.epoch, other.epoch + 1);
	scenario_check_log(s, "another SM has published too", true);
	scenario_free(s);
}
END_TEST

static void pulse_as_other(const struct ssa_manifest *other, uint64_t time_us)
{
	const struct ssa_alive alive = {other->term, other->epoch, time_us};
	g_autofree char *uri = g_strdup_printf("files:%s", directory);
	g_autofree char *text = ssa_alive_text(&alive, other->prefix, NULL);
	const struct ssa_store_options options = {.writes = true};
	struct ssa_store *store = ssa_store_open(uri, other->prefix, &options, NULL);

	ck_assert(ssa_store_set_pulse(store, text, NULL));
	ssa_store_close(store);
}

/* This SM has published again, and its pulse is of that epoch. */
static void expect_own(const struct ssa_manifest *first, uint64_t term)
{
	struct ssa_manifest now = read_manifest();
	struct ssa_alive alive;

	ck_assert_uint_eq(now.sm_guid, first->sm_guid);
	ck_assert_uint_gt(now.term, term);
	read_pulse(&alive);
	ck_assert_uint_eq(alive.term, now.term);
	ck_assert_uint_eq(alive.epoch, now.epoch);
}

/*
 * A MASTER that was stopped for a while, as a virtual machine that is moved, finds that another SM
 * was MASTER meanwhile: as long as that says that it is, nothing is done; then hosts get an epoch
 * of this one, though nothing has changed in the subnet.
 */
START_TEST(stopped_master)
{
	struct scenario *s = up("fattree:4", "");
	struct ssa_manifest first = read_manifest(), other = publish_as_other(&first);
	struct ssa_alive alive;

	for (unsigned int i = 1; i <= 6; i++) {
		pulse_as_other(&other, i);
		scenario_run_ms(s, SSA_ALIVE_S * 1000);
		ck_assert_uint_eq(read_pulse(&alive), i);
	}
	expect_same_epoch(&other);
	scenario_run_ms(s, 5 * SSA_ALIVE_S * 1000);
	expect_own(&first, other.term);
	scenario_free(s);
}
END_TEST

/* A store that was emptied is filled, though nothing has changed in the subnet. */
START_TEST(emptied_store)
{
	struct scenario *s = up("fattree:4", "");
	struct ssa_manifest first = read_manifest(), now;

	remove_tree(directory);
	scenario_run_ms(s, 3 * SSA_ALIVE_S * 1000);
	expect_own(&first, first.term);
	now = read_manifest();
	ssa_snapshot_unref(read_snapshot(&now));
	scenario_free(s);
}
END_TEST

/* What could not be published is tried again, though nothing changes. */
START_TEST(tried_again)
{
	g_autofree char *lock = g_build_filename(directory, "lock", NULL);
	struct scenario *s = up("fattree:4", "");
	struct ssa_manifest last = read_manifest();

	ck_assert_int_eq(remove(lock), 0);
	ck_assert_int_eq(g_mkdir(lock, 0700), 0);
	scenario_set_links(s, scenario_node(s, "host-7"), false);
	scenario_converge(s, 60);
	scenario_run_ms(s, 3 * SSA_ALIVE_S * 1000);
	expect_same_epoch(&last);
	ck_assert_int_eq(remove(lock), 0);
	scenario_run_ms(s, 2 * SSA_ALIVE_S * 1000);
	expect_epoch(&last, "ENDPORTS PATHS REACH DESCRIPTIONS");
	scenario_free(s);
}
END_TEST

/* Routers: what is on the wire is what the snapshot says. */
START_TEST(as_the_sa_on_the_wire)
{
	g_autofree char *file = g_build_filename(directory, "prefix-routes.conf", NULL);
	g_autofree char *more = g_strdup_printf("prefix_routes_file %s\n", file);
	struct scenario *s;
	struct ssa_manifest manifest;
	struct ssa_snapshot *snapshot;
	struct client *client;
	unsigned int found = 0;
	static const uint64_t prefixes[] = {IBA_DEFAULT_GID_PREFIX, UINT64_C(0xFEC0000000000001),
					    UINT64_C(0xFEC0000000000002)};

	scenario_old_file(file, "0xfec0000000000001 *\n");
	s = up("router.topo", more);
	manifest = read_manifest();
	snapshot = read_snapshot(&manifest);
	client = client_new(s, scenario_node(s, "host-1"));
	for (uint32_t i = 0; i < snapshot->n_endports * G_N_ELEMENTS(prefixes); i++) {
		struct iba_path_record
			record =
				{
					.sgid = client_gid(client),
					.dgid = {prefixes[i / snapshot->n_endports],
						 ssa_64(snapshot->endports[i % snapshot->n_endports]
								.guid)},
				},
			looked;
		enum ssa_look look =
			ssa_look_path(snapshot, ssa_look_guid(snapshot, client_guid(client)),
				      &record, C(sgid) | C(dgid), &looked, NULL);
		int status = client_ask(client, IBA_METHOD_GET, IBA_ATTR_PATH_RECORD,
					C(sgid) | C(dgid), &iba_path_record_type, &record);
		uint8_t a[iba_path_record_bytes], b[iba_path_record_bytes];

		ck_assert_int_eq(look, status == 0 ? SSA_LOOK_FOUND : SSA_LOOK_NONE);
		if (status)
			continue;
		found++;
		wire_encode(&iba_path_record_type, &record, a);
		wire_encode(&iba_path_record_type, &looked, b);
		ck_assert_mem_eq(a, b, sizeof(a));
	}
	ck_assert_uint_eq(found, 2 * snapshot->n_endports);
	client_free(client);
	ssa_snapshot_unref(snapshot);
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ssa");
	TCase *tcase = tcase_create("core");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, same_answers);
	tcase_add_test(tcase, pulse);
	tcase_add_test(tcase, changes);
	tcase_add_test(tcase, partitions);
	tcase_add_test(tcase, addresses);
	tcase_add_test(tcase, signed_by_key);
	tcase_add_test(tcase, takeover);
	tcase_add_test(tcase, damaged_store);
	tcase_add_test(tcase, two_masters);
	tcase_add_test(tcase, stopped_master);
	tcase_add_test(tcase, emptied_store);
	tcase_add_test(tcase, tried_again);
	tcase_add_test(tcase, as_the_sa_on_the_wire);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
