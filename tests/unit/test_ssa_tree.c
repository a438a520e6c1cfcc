// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Nodes of the Scalable SA with Redis servers: epochs in and out of a core, joins, parents. */
#include <check.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ssa/node/node.h"
#include "ssa/node/push.h"
#include "ssa/tree/join.h"
#include "ssa/tree/member.h"
#include "ssa/tree/remote.h"
#include "ssa/wire/alive.h"
#include "tests/run_suite.h"
#include "tests/unit/node_bed.h"
#include "tests/unit/redis_server.h"

#define KEY "0123456789abcdef0123456789abcdef"
#define MAX_NODES 8
#define JOINS 40000

static struct node_bed bed;
static struct redis_server *servers[MAX_NODES];
static struct ssa_node *nodes[MAX_NODES];
static struct ssa_settings *settings[MAX_NODES];
static unsigned int n_servers, n_nodes;

static char *uri_of(unsigned int server)
{
	return g_strdup_printf("redis://127.0.0.1:%u", servers[server]->port);
}

static void begin(unsigned int count)
{
	node_bed_begin(&bed, KEY);
	n_nodes = 0;
	for (n_servers = 0; n_servers < count; n_servers++)
		servers[n_servers] = redis_server_start(0, NULL);
}

static void end(void)
{
	for (unsigned int i = n_nodes; i-- > 0;) {
		ssa_node_stop(nodes[i]);
		ssa_settings_free(settings[i]);
	}
	for (unsigned int i = 0; i < n_servers; i++)
		redis_server_free(servers[i]);
	node_bed_end(&bed);
}

/* A node by the lines of its configuration, and the key of all. */
static void start(const char *format, ...)
{
	g_autofree char *key = g_build_filename(bed.directory, "key", NULL);
	g_autofree char *lines = NULL, *text = NULL;
	GError *error = NULL;
	va_list arguments;

	ck_assert(
		g_file_set_contents_full(key, KEY "\n", -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
	va_start(arguments, format);
	lines = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	text = g_strdup_printf("%skey_file %s\n", lines, key);
	settings[n_nodes] = ssa_settings_parse("ssa.conf", text, strlen(text), &error);
	ck_assert_msg(settings[n_nodes] != NULL, "%s", error ? error->message : "");
	nodes[n_nodes] = ssa_node_start(settings[n_nodes], &error);
	ck_assert_msg(nodes[n_nodes] != NULL, "%s", error ? error->message : "");
	n_nodes++;
}

static void start_core(unsigned int server)
{
	start("role core\nannounce FALSE\nstore %s\nserver redis://127.0.0.1:%u\nnode_guid %x\n",
	      bed.uri, servers[server]->port, 0xC0 + server);
}

static void start_server(const char *role, unsigned int server)
{
	start("role %s\nserver redis://127.0.0.1:%u\ncore redis://127.0.0.1:%u\nnode_guid %x\n",
	      role, servers[server]->port, servers[0]->port, 0x100 + server);
}

/* An agent, with a snapshot named by its number. */
static void start_agent(unsigned int number)
{
	start("role agent\ncore redis://127.0.0.1:%u\nport_guid %016" G_GINT64_MODIFIER
	      "x\nsnapshot %s/snapshot%u\n",
	      servers[0]->port, ssa_tables_guid(number), bed.directory, number);
}

static uint64_t epoch_of_agent(unsigned int number)
{
	g_autofree char *file = g_strdup_printf("%s/snapshot%u", bed.directory, number);
	struct ssa_snapshot *snapshot = ssa_snapshot_map(file, NULL);
	uint64_t epoch = snapshot ? snapshot->epoch : 0;

	ssa_snapshot_unref(snapshot);
	return epoch;
}

/* The epoch that a store has; 0: none. */
static uint64_t epoch_of_store(const char *uri)
{
	struct ssa_store *store = node_bed_store(uri, false);
	g_autoptr(GBytes) bytes = ssa_store_manifest(store, NULL);
	struct ssa_manifest manifest;
	bool good = bytes && ssa_manifest_parse(bytes, bed.key, &manifest, NULL);

	ssa_store_close(store);
	return good ? manifest.epoch : 0;
}

static uint64_t store_of_server(unsigned int server)
{
	g_autofree char *uri = uri_of(server);

	return epoch_of_store(uri);
}

/* ---- a core ---- */

static bool push_once(const char *from, const char *to, struct ssa_manifest *manifest,
		      uint64_t *moved)
{
	struct ssa_store *a = node_bed_store(from, true), *b = node_bed_store(to, true);
	g_autoptr(GError) error = NULL;
	bool good = ssa_push_once(a, b, true, bed.key, manifest, moved, &error);

	ck_assert_msg(good, "%s", error ? error->message : "");
	ssa_store_close(a);
	ssa_store_close(b);
	return good;
}

/* Out while this SM is MASTER, in while another one is; only what is missing is copied. */
START_TEST(test_push_and_pull)
{
	struct ssa_manifest manifest;
	g_autofree char *shared = NULL;
	uint64_t cold, moved;

	begin(1);
	shared = uri_of(0);
	node_bed_publish(&bed, bed.uri, 5, 1);
	push_once(bed.uri, shared, &manifest, &cold);
	ck_assert_uint_eq(epoch_of_store(shared), 1);
	push_once(bed.uri, shared, &manifest, &moved);
	ck_assert_uint_eq(moved, 0);
	node_bed_change(&bed, SSA_PATHS, 1);
	node_bed_publish(&bed, bed.uri, 5, 2);
	push_once(bed.uri, shared, &manifest, &moved);
	ck_assert_uint_eq(epoch_of_store(shared), 2);
	ck_assert_uint_lt(moved * 4, cold);
	node_bed_change(&bed, SSA_PATHS, 2);
	node_bed_publish(&bed, shared, 6, 3);
	push_once(bed.uri, shared, &manifest, &moved);
	ck_assert_uint_eq(manifest.term, 6);
	ck_assert_uint_eq(epoch_of_store(bed.uri), 3);
	end();
}
END_TEST

static void set_pulse(const char *uri, GBytes *key, uint64_t time_us)
{
	const struct ssa_alive alive = {.term = 5, .epoch = 1, .time_us = time_us};
	g_autofree char *text = ssa_alive_text(&alive, SSA_TABLES_PREFIX, key);
	struct ssa_store *store = node_bed_store(uri, true);

	ck_assert(ssa_store_set_pulse(store, text, NULL));
	ssa_store_close(store);
}

/* 0: none that is signed. */
static uint64_t pulse_of(const char *uri)
{
	struct ssa_store *store = node_bed_store(uri, false);
	g_autofree char *text = ssa_store_pulse(store, NULL);
	struct ssa_alive alive;

	ssa_store_close(store);
	return text && ssa_alive_parse(text, SSA_TABLES_PREFIX, bed.key, &alive) ? alive.time_us
										 : 0;
}

/* The later one goes to where it is not; one that is not signed goes nowhere. */
START_TEST(test_pulse_is_passed_on)
{
	static const struct {
		uint64_t local, shared, then;
	} cases[] = {{0, 0, 0}, {7, 0, 7}, {7, 7, 7}, {8, 7, 8}, {8, 9, 9}};
	struct ssa_manifest manifest;
	g_autofree char *shared = NULL;
	uint64_t moved;

	begin(1);
	shared = uri_of(0);
	node_bed_publish(&bed, bed.uri, 5, 1);
	for (unsigned int i = 0; i < G_N_ELEMENTS(cases); i++) {
		if (cases[i].local)
			set_pulse(bed.uri, bed.key, cases[i].local);
		if (cases[i].shared)
			set_pulse(shared, bed.key, cases[i].shared);
		push_once(bed.uri, shared, &manifest, &moved);
		ck_assert_uint_eq(pulse_of(bed.uri), cases[i].then);
		ck_assert_uint_eq(pulse_of(shared), cases[i].then);
	}
	set_pulse(bed.uri, NULL, 1000);
	push_once(bed.uri, shared, &manifest, &moved);
	ck_assert_uint_eq(pulse_of(bed.uri), 9);
	end();
}
END_TEST

/* What others have written there is not passed on, and replaced by what is signed. */
START_TEST(test_unsigned_is_replaced)
{
	struct ssa_manifest manifest;
	g_autofree char *shared = NULL;
	GBytes *key;
	uint64_t moved;

	begin(1);
	shared = uri_of(0);
	node_bed_publish(&bed, bed.uri, 5, 7);
	key = g_steal_pointer(&bed.key);
	node_bed_change(&bed, SSA_PATHS, 1);
	node_bed_publish(&bed, shared, 5, 2);
	bed.key = key;
	ck_assert_uint_eq(epoch_of_store(shared), 0);
	push_once(bed.uri, shared, &manifest, &moved);
	ck_assert_uint_eq(epoch_of_store(shared), 7);
	ck_assert_uint_eq(epoch_of_store(bed.uri), 7);
	end();
}
END_TEST

START_TEST(test_core_follows_its_store)
{
	g_autofree char *shared = NULL;
	int64_t begun_us;

	begin(1);
	shared = uri_of(0);
	start_core(0);
	node_bed_publish(&bed, bed.uri, 5, 1);
	ck_assert(node_bed_wait(epoch_of_store(shared) == 1));
	begun_us = g_get_monotonic_time();
	for (uint64_t epoch = 2; epoch < 5; epoch++) {
		node_bed_change(&bed, SSA_PATHS, (uint32_t)epoch);
		node_bed_publish(&bed, bed.uri, 5, epoch);
		ck_assert(node_bed_wait(epoch_of_store(shared) == epoch));
	}
	/* It looks every 10 seconds without being told. */
	ck_assert_int_lt(g_get_monotonic_time() - begun_us, 15 * G_USEC_PER_SEC);
	node_bed_publish(&bed, shared, 6, 9);
	ck_assert(node_bed_wait(epoch_of_store(bed.uri) == 9));
	redis_server_kill(servers[0]);
	redis_server_restart(servers[0], NULL);
	ck_assert(node_bed_wait(epoch_of_store(shared) == 9));
	end();
}
END_TEST

/* ---- the tree ---- */

START_TEST(test_small_site)
{
	int64_t begun_us;

	begin(1);
	start_core(0);
	start_agent(1);
	node_bed_publish(&bed, bed.uri, 5, 1);
	ck_assert(node_bed_wait(epoch_of_agent(1) == 1));
	begun_us = g_get_monotonic_time();
	for (uint64_t epoch = 2; epoch < 6; epoch++) {
		node_bed_change(&bed, SSA_PATHS, 1);
		node_bed_publish(&bed, bed.uri, 5, epoch);
		ck_assert(node_bed_wait(epoch_of_agent(1) == epoch));
	}
	/* It looks every 5 seconds without being told. */
	ck_assert_int_lt(g_get_monotonic_time() - begun_us, 10 * G_USEC_PER_SEC);
	end();
}
END_TEST

static struct ssa_listed_node find_listed_at(unsigned int server, uint64_t guid)
{
	g_autofree char *uri = uri_of(server), *key = ssa_remote_key(SSA_TABLES_PREFIX, "tree", 0);
	const struct ssa_store_options options = {0};
	struct ssa_remote *remote = ssa_remote_open(uri, &options, NULL);
	g_autofree char *text = remote ? ssa_remote_get(remote, key, NULL) : NULL;
	g_autoptr(GArray) listed = ssa_tree_parse(text ? text : "");
	struct ssa_listed_node node = {0};

	ssa_remote_close(remote);
	for (guint i = 0; i < listed->len; i++)
		if (g_array_index(listed, struct ssa_listed_node, i).guid == guid)
			node = g_array_index(listed, struct ssa_listed_node, i);
	return node;
}

static struct ssa_listed_node find_listed(uint64_t guid)
{
	return find_listed_at(0, guid);
}

static bool is_joined(uint64_t guid, unsigned int roles, unsigned int server)
{
	return find_listed_at(server, guid).roles == roles;
}

/* The number of the join that was answered last. */
static uint64_t answered(uint64_t guid)
{
	g_autofree char *uri = uri_of(0), *key = ssa_remote_key(SSA_TABLES_PREFIX, "parents", guid);
	const struct ssa_store_options options = {0};
	struct ssa_remote *remote = ssa_remote_open(uri, &options, NULL);
	g_autofree char *text = remote ? ssa_remote_get(remote, key, NULL) : NULL;
	struct ssa_answer answer = {0};

	ssa_remote_close(remote);
	return text && ssa_answer_parse(text, &answer) ? answer.number : 0;
}

static bool has_parent(uint64_t guid, uint64_t parent)
{
	return find_listed(guid).parents[0] == parent;
}

/* How many times the server has been asked to SET. */
static unsigned int sets(void)
{
	g_autofree char *text =
		redis_server_ask(servers[0]->port, "INFO commandstats\r\nQUIT\r\n", 10000);
	const char *line = strstr(text, "cmdstat_set:calls=");

	return line ? (unsigned int)strtoul(strchr(line, '=') + 1, NULL, 10) : 0;
}

/* Joins never cease where there are many hosts: those that have come are answered meanwhile. */
START_TEST(test_joins_without_end)
{
	g_autofree char *channel = ssa_remote_key(SSA_TABLES_PREFIX, "join", 0);
	g_autoptr(GString) flood = g_string_new(NULL);
	unsigned int before;
	int fd;

	begin(1);
	start_core(0);
	ck_assert(node_bed_wait(is_joined(0xC0, SSA_ROLE_CORE, 0)));
	for (unsigned int i = 1; i <= JOINS; i++)
		g_string_append_printf(flood,
				       "PUBLISH %s '{\"guid\":\"77\",\"roles\":8,\"join\":%u}'\r\n",
				       channel, i);
	before = sets();
	fd = redis_server_tell(servers[0]->port, flood->str);
	ck_assert(node_bed_wait(is_joined(0x77, SSA_ROLE_AGENT, 0)));
	ck_assert(node_bed_wait(answered(0x77) == JOINS));
	close(fd);
	/* once at the end, if none were answered before; how often depends on the machine */
	ck_assert_uint_gt(sets() - before, 2);
	end();
}
END_TEST

/* A core that was told while it did not listen yet is told again soon, and not after a minute. */
START_TEST(test_core_starts_later)
{
	g_autofree char *second = NULL;

	begin(2);
	second = uri_of(1);
	start("role core\nstore files:%s/other\nserver %s\ncore redis://127.0.0.1:%u\ncore %s\n"
	      "node_guid 2\n",
	      bed.directory, second, servers[0]->port, second);
	ck_assert(node_bed_wait(is_joined(2, SSA_ROLE_CORE, 1)));
	start_core(0);
	ck_assert(node_bed_wait(is_joined(2, SSA_ROLE_CORE, 0)));
	end();
}
END_TEST

/* core > distribution > 2 access > agent: epochs come through, and past an access node that dies.
 */
START_TEST(test_cascade_and_loss)
{
	uint64_t guid = ssa_tables_guid(1), primary;
	unsigned int lost;
	int64_t begun_us;

	begin(4);
	start_core(0);
	start_server("distribution", 1);
	ck_assert(node_bed_wait(has_parent(0x101, 0xC0)));
	start_server("access", 2);
	start_server("access", 3);
	ck_assert(node_bed_wait(has_parent(0x102, 0x101) && has_parent(0x103, 0x101)));
	start_agent(1);
	ck_assert(node_bed_wait(has_parent(guid, 0x102) || has_parent(guid, 0x103)));
	node_bed_publish(&bed, bed.uri, 5, 1);
	ck_assert(node_bed_wait(epoch_of_agent(1) == 1));
	node_bed_change(&bed, SSA_PATHS, 1);
	node_bed_publish(&bed, bed.uri, 5, 2);
	ck_assert(node_bed_wait(epoch_of_agent(1) == 2));
	/* An access server without an epoch would be given up as well. */
	ck_assert(node_bed_wait(store_of_server(2) == 2 && store_of_server(3) == 2));
	primary = find_listed(guid).parents[0];
	lost = primary == 0x103 ? 3 : 2;
	redis_server_kill(servers[lost]);
	begun_us = g_get_monotonic_time();
	node_bed_change(&bed, SSA_PATHS, 1);
	node_bed_publish(&bed, bed.uri, 5, 3);
	ck_assert(node_bed_wait(epoch_of_agent(1) == 3));
	printf("an epoch past a lost parent: %" G_GINT64_FORMAT " ms\n",
	       (g_get_monotonic_time() - begun_us) / 1000);
	ck_assert(node_bed_wait(has_parent(guid, lost == 2 ? 0x103 : 0x102)));
	end();
}
END_TEST

/* Milliseconds until a reader that only looks when it is told has that epoch. */
static int64_t told_after(struct ssa_store *reader, uint64_t epoch)
{
	int64_t begun_us = g_get_monotonic_time();
	struct ssa_manifest manifest = {0};

	while (manifest.epoch != epoch && g_get_monotonic_time() - begun_us < 30 * G_USEC_PER_SEC) {
		g_autoptr(GError) error = NULL;
		g_autoptr(GBytes) bytes = NULL;

		ck_assert_msg(ssa_store_wait(reader, 30000, &error), "%s",
			      error ? error->message : "");
		bytes = ssa_store_manifest(reader, NULL);
		if (bytes)
			ssa_manifest_parse(bytes, bed.key, &manifest, NULL);
	}
	return (g_get_monotonic_time() - begun_us) / 1000;
}

/*
 * A server that loses its parent becomes the replica of the backup at once, and those that read
 * from it hear of the epoch that has come with that.
 */
START_TEST(test_replica_goes_to_the_backup)
{
	g_autofree char *first = NULL, *second = NULL, *own = NULL;
	struct ssa_store *reader;
	int64_t ms;

	begin(3);
	first = uri_of(0);
	second = uri_of(1);
	own = uri_of(2);
	start("role access\nserver %s\nparent %s\nparent %s\nnode_guid 7\n", own, first, second);
	node_bed_publish(&bed, first, 5, 1);
	node_bed_publish(&bed, second, 5, 2);
	ck_assert(node_bed_wait(epoch_of_store(own) == 1));
	reader = node_bed_store(own, false);
	ck_assert(ssa_store_wait(reader, 0, NULL)); /* subscribes */
	redis_server_kill(servers[0]);
	ms = told_after(reader, 2);
	printf("another parent's epoch in a server: %" G_GINT64_FORMAT " ms\n", ms);
	ck_assert_int_lt(ms, 15000);
	ssa_store_close(reader);
	redis_server_kill(servers[2]);
	redis_server_restart(servers[2], NULL);
	ck_assert(node_bed_wait(epoch_of_store(own) == 2));
	end();
}
END_TEST

/* Each core has what is newest anywhere, in its server and for its daemon. */
START_TEST(test_two_cores)
{
	g_autofree char *first = NULL, *second = NULL, *other = NULL;

	begin(2);
	first = uri_of(0);
	second = uri_of(1);
	other = g_strdup_printf("files:%s/other", bed.directory);
	start("role core\nannounce FALSE\nstore %s\nserver %s\ncore %s\ncore %s\nnode_guid 1\n",
	      bed.uri, first, first, second);
	start("role core\nannounce FALSE\nstore %s\nserver %s\ncore %s\ncore %s\nnode_guid 2\n",
	      other, second, first, second);
	node_bed_publish(&bed, bed.uri, 5, 1);
	ck_assert(node_bed_wait(epoch_of_store(second) == 1 && epoch_of_store(other) == 1));
	node_bed_change(&bed, SSA_PATHS, 1);
	node_bed_publish(&bed, other, 6, 2);
	ck_assert(node_bed_wait(epoch_of_store(first) == 2 && epoch_of_store(bed.uri) == 2));
	end();
}
END_TEST

/* ---- the pulse ---- */

/* Whether a node has joined since the join of that number, which is set to the last one's. */
static bool has_joined(struct ssa_remote *core, uint64_t guid, uint64_t *number)
{
	g_autofree char *key = ssa_remote_key(SSA_TABLES_PREFIX, "node", guid);
	g_autofree char *text = ssa_remote_get(core, key, NULL);
	uint64_t before = *number;
	struct ssa_join join;

	if (text && ssa_join_parse(text, &join))
		*number = join.number;
	return *number != before;
}

/* A core by hand: answers the next join, with that parent; "": it knows none. */
static void answer_join(struct ssa_remote *core, uint64_t guid, uint64_t *number,
			const char *address)
{
	g_autofree char *parents = ssa_remote_key(SSA_TABLES_PREFIX, "parents", guid);
	g_autofree char *answer_text = NULL;
	struct ssa_answer answer = {.guids = {*address ? 0xC0 : 0}};

	ck_assert(node_bed_wait(has_joined(core, guid, number)));
	answer.number = *number;
	g_strlcpy(answer.addresses[0], address, sizeof(answer.addresses[0]));
	answer_text = ssa_answer_text(&answer);
	ck_assert(ssa_remote_set(core, parents, answer_text, 0, NULL));
}

static void on_parents(void *arg, const char *primary, const char *backup)
{
	(void)backup;
	atomic_store((atomic_bool *)arg, primary != NULL);
}

/* As one that has just started, while the parent of the core before is gone: within seconds. */
START_TEST(test_core_that_knows_no_parent_is_asked_again)
{
	struct ssa_store_options options = {.more = &ssa_store_redis, .writes = true};
	g_autoptr(GPtrArray) cores = g_ptr_array_new_with_free_func(g_free);
	struct ssa_members_config config = {.prefix = SSA_TABLES_PREFIX, .options = options};
	struct ssa_reporter *reporter = ssa_reporter_new(NULL, NULL);
	struct ssa_members *members;
	struct ssa_member *member;
	struct ssa_remote *core;
	g_autofree char *channel = ssa_remote_key(SSA_TABLES_PREFIX, "join", 0);
	g_autofree char *subscribe = g_strdup_printf("SUBSCRIBE %s\r\n", channel);
	uint64_t number = 0;
	atomic_bool told = false;
	int fd;

	begin(1);
	g_ptr_array_add(cores, uri_of(0));
	config.cores = cores;
	fd = redis_server_tell(servers[0]->port, subscribe);
	core = ssa_remote_open(cores->pdata[0], &options, NULL);
	members = ssa_members_new(&config);
	member = ssa_members_add(members, 0x77, SSA_ROLE_AGENT, NULL, reporter, on_parents, &told);
	ssa_members_start(members);
	answer_join(core, 0x77, &number, "");
	answer_join(core, 0x77, &number, "h:1");
	ck_assert(node_bed_wait(atomic_load(&told)));
	ssa_member_changed(member, true);
	answer_join(core, 0x77, &number, "");
	answer_join(core, 0x77, &number, "h:2");
	/* Then it has what it wants, and comes again after a minute. */
	ck_assert(!node_bed_wait_ms(has_joined(core, 0x77, &number), 1500));
	ssa_members_free(members);
	ssa_reporter_free(reporter);
	ssa_remote_close(core);
	close(fd);
	end();
}
END_TEST

START_TEST(test_alive)
{
	g_autoptr(GBytes) key = g_bytes_new_static(KEY, strlen(KEY));
	g_autoptr(GBytes) other = g_bytes_new_static("another key of enough octets", 28);
	const struct ssa_alive alive = {7, 8, 9};
	g_autofree char *text = ssa_alive_text(&alive, 1, key);
	g_autofree char *plain = ssa_alive_text(&alive, 1, NULL);
	struct ssa_alive read;

	ck_assert(ssa_alive_parse(text, 1, key, &read));
	ck_assert_mem_eq(&read, &alive, sizeof(read));
	ck_assert(!ssa_alive_parse(text, 2, key, &read));
	ck_assert(!ssa_alive_parse(text, 1, other, &read));
	ck_assert(!ssa_alive_parse(plain, 1, key, &read));
	ck_assert(ssa_alive_parse(plain, 1, NULL, &read));
	ck_assert(!ssa_alive_parse("", 1, NULL, &read));
	ck_assert(!ssa_alive_parse("1 2", 1, NULL, &read));
	ck_assert(!ssa_alive_is_news(&alive, &alive));
	ck_assert(ssa_alive_is_news(&(struct ssa_alive){8, 1, 1}, &alive));
	ck_assert(!ssa_alive_is_news(&(struct ssa_alive){6, 9, 99}, &alive));
}
END_TEST

/* ---- texts ---- */

START_TEST(test_texts)
{
	struct ssa_join join = {.guid = UINT64_MAX,
				.roles = 12,
				.number = 5,
				.bad = 3,
				.parents = {11, 12},
				.term = 13,
				.epoch = 9,
				.updates = 14,
				.errors = 15,
				.switches = 16,
				.started_us = 17,
				.updated_us = 18,
				.confirmed_us = 19,
				.error_us = 20};
	struct ssa_answer answer = {.number = 7, .guids = {1, UINT64_MAX}}, answer_read;
	g_autofree char *text = NULL, *answer_text = NULL;
	struct ssa_join read;

	g_strlcpy(join.address, "[::1]:6379", sizeof(join.address));
	g_strlcpy(join.parent, "h:2", sizeof(join.parent));
	memset(join.name, 'n', sizeof(join.name) - 1);
	g_strlcpy(join.error, "it's \"bad\"\n", sizeof(join.error));
	text = ssa_join_text(&join);
	ck_assert(ssa_join_parse(text, &read));
	ck_assert_str_eq(read.error, "it's \"bad\"?");
	g_strlcpy(join.error, read.error, sizeof(join.error));
	ck_assert_mem_eq(&read, &join, sizeof(read));
	g_strlcpy(answer.addresses[1], "h:1", sizeof(answer.addresses[1]));
	answer_text = ssa_answer_text(&answer);
	ck_assert(ssa_answer_parse(answer_text, &answer_read));
	ck_assert_mem_eq(&answer, &answer_read, sizeof(answer));
}
END_TEST

static const char *const bad_texts[] = {
	"",
	"{}",
	"[]",
	"1",
	"{\"guid\":1}",
	"{\"guid\":\"1\",\"roles\":\"2\"}",
	"{\"guid\":\"0\",\"roles\":8}",
	"{\"guid\":\"zz\",\"roles\":8}",
	"{\"guid\":\"1\",\"roles\":16}",
	"{\"guid\":\"1\",\"roles\":-1}",
};

/* One octet more than there is room for: an address is refused, other texts are cut. */
START_TEST(test_long_texts)
{
	struct ssa_join join = {.guid = 1, .roles = 8};
	g_autofree char *text = NULL, *address = NULL, *name = NULL;
	g_auto(GStrv) at_address = NULL, at_name = NULL;
	struct ssa_join read;

	memset(join.name, 'n', sizeof(join.name) - 1);
	memset(join.address, 'h', sizeof(join.address) - 1);
	text = ssa_join_text(&join);
	ck_assert(ssa_join_parse(text, &read));
	at_address = g_strsplit(text, "hhh", 2);
	address = g_strjoin("hhhh", at_address[0], at_address[1], NULL);
	ck_assert(!ssa_join_parse(address, &read));
	at_name = g_strsplit(text, "nnn", 2);
	name = g_strjoin("nnnn", at_name[0], at_name[1], NULL);
	ck_assert(ssa_join_parse(name, &read));
	ck_assert_str_eq(read.name, join.name);
}
END_TEST

START_TEST(test_bad_texts)
{
	struct ssa_join join;

	ck_assert(!ssa_join_parse(bad_texts[_i], &join));
}
END_TEST

START_TEST(test_list)
{
	struct ssa_listed_node node = {.guid = 1, .roles = 8, .parents = {2, 3}, .seen_s = 4};
	g_autoptr(GString) text = g_string_new("garbage\n0 8 0 0 0 0 0 -\n1 99 0 0 0 0 0 -\n");
	g_autoptr(GArray) listed = NULL;

	ssa_tree_append(text, &node);
	g_string_append(text, "1 2 3");
	listed = ssa_tree_parse(text->str);
	ck_assert_uint_eq(listed->len, 1);
	ck_assert_mem_eq(listed->data, &node, sizeof(node));
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_tree");
	TCase *texts = tcase_create("texts"), *core = tcase_create("core");
	TCase *tree = tcase_create("tree");

	tcase_add_test(texts, test_alive);
	tcase_add_test(texts, test_texts);
	tcase_add_test(texts, test_long_texts);
	tcase_add_loop_test(texts, test_bad_texts, 0, (int)G_N_ELEMENTS(bad_texts));
	tcase_add_test(texts, test_list);
	suite_add_tcase(suite, texts);
	tcase_set_timeout(core, 240);
	tcase_set_timeout(tree, 240);
	if (redis_server_installed()) {
		tcase_add_test(core, test_push_and_pull);
		tcase_add_test(core, test_pulse_is_passed_on);
		tcase_add_test(core, test_unsigned_is_replaced);
		tcase_add_test(core, test_core_follows_its_store);
		tcase_add_test(tree, test_small_site);
		tcase_add_test(core, test_two_cores);
		tcase_add_test(core, test_core_that_knows_no_parent_is_asked_again);
		tcase_add_test(tree, test_joins_without_end);
		tcase_add_test(tree, test_core_starts_later);
		tcase_add_test(tree, test_cascade_and_loss);
		tcase_add_test(core, test_replica_goes_to_the_backup);
	}
	suite_add_tcase(suite, core);
	suite_add_tcase(suite, tree);
	return suite;
}
