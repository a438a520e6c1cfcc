// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A whole tree by TLS, with the users of the sample: they may do all that the nodes do, and nothing
 * with which a host could harm others.
 */
#include <check.h>
#include <string.h>

#include "ssa/node/node.h"
#include "ssa/tree/remote.h"
#include "tests/run_suite.h"
#include "tests/unit/node_bed.h"
#include "tests/unit/tls_site.h"

#define KEY "0123456789abcdef0123456789abcdef"
#define SERVERS 3
#define NODES 4
#define HOST 13
#define OTHER 57

static struct node_bed bed;
static struct tls_site *site;
static struct redis_server *servers[SERVERS]; /* core, distribution, access */
static struct ssa_settings *settings[NODES];
static struct ssa_node *nodes[NODES];
static unsigned int n_nodes;

static void begin(unsigned int n)
{
	node_bed_begin(&bed, KEY);
	site = tls_site_new();
	n_nodes = 0;
	for (unsigned int i = 0; i < n; i++)
		servers[i] = tls_site_server(site, NULL);
}

static void end(void)
{
	while (n_nodes-- > 0) {
		ssa_node_stop(nodes[n_nodes]);
		ssa_settings_free(settings[n_nodes]);
	}
	for (unsigned int i = 0; i < SERVERS; i++)
		g_clear_pointer(&servers[i], redis_server_free);
	tls_site_free(site);
	node_bed_end(&bed);
}

static struct ssa_remote *connect_as(unsigned int server, const char *user, const char *ca,
				     GError **error)
{
	g_autofree char *uri =
		g_strdup_printf("rediss://%s@127.0.0.1:%u", user, servers[server]->port);
	g_autofree char *file = tls_site_secret(site, "asked", user);
	const struct ssa_store_options options = {
		.ca_file = ca, .password_file = file, .timeout_ms = NODE_BED_PATIENCE_MS};

	return ssa_remote_open(uri, &options, error);
}

static struct ssa_remote *be(unsigned int server, const char *user)
{
	GError *error = NULL;
	struct ssa_remote *remote = connect_as(server, user, site->ca, &error);

	ck_assert_msg(remote != NULL, "%s", error ? error->message : "");
	return remote;
}

/* ---- a tree ---- */

/* Its server (SERVERS: none) as that user, and the core's as that one. */
static void start(const char *role, unsigned int server, const char *own, const char *user,
		  const char *more)
{
	g_autofree char *key = tls_site_secret(site, "key", KEY);
	g_autofree char *secret = tls_site_secret(site, user, user);
	g_autofree char *own_secret = tls_site_secret(site, own, own);
	g_autofree char *line = NULL, *text = NULL;
	GError *error = NULL;

	if (server < SERVERS)
		line = g_strdup_printf("server rediss://%s@127.0.0.1:%u\n", own,
				       servers[server]->port);
	text = g_strdup_printf("role %s\n%score rediss://%s@127.0.0.1:%u\ntls_ca %s\nkey_file %s\n"
			       "password_file %s\nserver_password_file %s\n%s",
			       role, line ? line : "", user, servers[0]->port, site->ca, key,
			       secret, own_secret, more);
	settings[n_nodes] = ssa_settings_parse("ssa.conf", text, strlen(text), &error);
	ck_assert_msg(settings[n_nodes] != NULL, "%s", error ? error->message : "");
	nodes[n_nodes] = ssa_node_start(settings[n_nodes], &error);
	ck_assert_msg(nodes[n_nodes] != NULL, "%s", error ? error->message : "");
	n_nodes++;
}

static void start_tree(void)
{
	g_autofree char *store = g_strdup_printf("store %s\nnode_guid c0\n", bed.uri);
	g_autofree char *beside =
		g_strdup_printf("role agent\nnode_guid 102\nport_guid %016" G_GINT64_MODIFIER
				"x\nsnapshot %s/beside\n",
				ssa_tables_guid(OTHER), bed.directory);
	g_autofree char *agent =
		g_strdup_printf("port_guid %016" G_GINT64_MODIFIER "x\nsnapshot %s/agent\n",
				ssa_tables_guid(HOST), bed.directory);

	start("core", 0, "writer", "writer", store);
	start("distribution", 1, "tree", "reader", "node_guid 101\n");
	start("access", 2, "tree", "reader", beside);
	start("agent", SERVERS, "reader", "reader", agent);
}

static uint64_t epoch_of(const char *name)
{
	g_autofree char *file = g_build_filename(bed.directory, name, NULL);
	struct ssa_snapshot *snapshot = ssa_snapshot_map(file, NULL);
	uint64_t epoch = snapshot ? snapshot->epoch : 0;

	ssa_snapshot_unref(snapshot);
	return epoch;
}

static bool all_have(uint64_t epoch)
{
	return epoch_of("agent") == epoch && epoch_of("beside") == epoch;
}

/* How many nodes have a parent, as a host reads it in the tree. */
static unsigned int placed(void)
{
	g_autofree char *key = ssa_remote_key(SSA_TABLES_PREFIX, "tree", 0), *text = NULL;
	struct ssa_remote *remote = be(0, "reader");
	GError *error = NULL;
	g_autoptr(GArray) listed = NULL;
	unsigned int n = 0;

	text = ssa_remote_get(remote, key, &error);
	ck_assert_msg(!error, "%s", error ? error->message : "");
	ssa_remote_close(remote);
	listed = ssa_tree_parse(text ? text : "");
	for (guint i = 0; i < listed->len; i++)
		n += g_array_index(listed, struct ssa_listed_node, i).parents[0] != 0;
	return n;
}

/* Except NOAUTH: a replica says PING before it shows its password. */
static void expect_no_refusal(unsigned int server)
{
	static const char *const kinds[] = {"NOPERM", "WRONGPASS", "ERR"};
	struct ssa_remote *remote = be(server, "writer");
	struct resp_reply *reply = ssa_remote_ask(remote, NULL, "INFO", "errorstats", NULL);

	ck_assert(reply && reply->kind == RESP_TEXT);
	for (unsigned int i = 0; i < G_N_ELEMENTS(kinds); i++) {
		g_autofree char *line = g_strdup_printf("errorstat_%s:", kinds[i]);

		ck_assert_msg(!strstr(reply->text, line), "server %u: %s", server, reply->text);
	}
	resp_reply_free(reply);
	ssa_remote_close(remote);
}

START_TEST(test_nothing_is_refused)
{
	begin(SERVERS);
	start_tree();
	node_bed_publish(&bed, bed.uri, 5, 1);
	ck_assert(node_bed_wait(all_have(1)));
	ck_assert(node_bed_wait(placed() == NODES - 1));
	node_bed_change(&bed, SSA_PATHS, 1);
	node_bed_publish(&bed, bed.uri, 5, 2);
	ck_assert(node_bed_wait(all_have(2)));
	for (unsigned int i = 0; i < SERVERS; i++)
		expect_no_refusal(i);
	end();
}
END_TEST

/* ---- what users may not do ---- */

static void try(struct ssa_remote *remote, const char *command, const char *key, bool allowed)
{
	GError *error = NULL;
	struct resp_reply *reply = ssa_remote_ask(remote, &error, command, key, "text", NULL);

	ck_assert_msg((reply != NULL) == allowed, "%s %s at %s: %s", command, key,
		      ssa_remote_uri(remote), error ? error->message : "allowed");
	if (error)
		ck_assert_msg(strstr(error->message, "NOPERM"), "%s", error->message);
	g_clear_error(&error);
	resp_reply_free(reply);
}

static const struct {
	const char *name;
	uint64_t guid;
	const char *command;
	bool host, writer, tree;
} tries[] = {
	{"node", 0x77, "SET", true, true},	{"join", 0, "PUBLISH", true, true},
	{"manifest", 0, "SET", false, true},	{"epoch", 0, "SET", false, true},
	{"kept", 0, "SET", false, true},	{"tree", 0, "SET", false, true},
	{"alive", 0, "SET", false, true},	{"parents", 0x77, "SET", false, true},
	{"c:node", 0x77, "SET", false, true},	{"epoch", 0, "PUBLISH", false, true, true},
	{"node", 0x77, "APPEND", false, false}, {"node", 0x77, "EXPIRE", false, false},
	{"node", 0x77, "RENAME", false, false}, {"manifest", 0, "GETSET", false, false},
	{"manifest", 0, "DEL", false, false},
};

START_TEST(test_what_hosts_may_not)
{
	struct ssa_remote *reader, *writer, *replica, *tree;

	begin(1);
	reader = be(0, "reader");
	writer = be(0, "writer");
	replica = be(0, "replica");
	tree = be(0, "tree");
	for (unsigned int i = 0; i < G_N_ELEMENTS(tries); i++) {
		g_autofree char *key =
			ssa_remote_key(SSA_TABLES_PREFIX, tries[i].name, tries[i].guid);

		try(reader, tries[i].command, key, tries[i].host);
		try(writer, tries[i].command, key, tries[i].writer);
		try(replica, tries[i].command, key, false);
		try(tree, tries[i].command, key, tries[i].tree);
	}
	ssa_remote_close(reader);
	ssa_remote_close(writer);
	ssa_remote_close(replica);
	ssa_remote_close(tree);
	end();
}
END_TEST

/* A session that was begun with another CA is not gone on with. */
START_TEST(test_another_ca)
{
	GError *error = NULL;

	begin(1);
	for (unsigned int i = 0; i < 4; i++) {
		ssa_remote_close(be(0, "reader"));
		ck_assert_ptr_null(connect_as(0, "reader", i % 2 ? NULL : site->other_ca, &error));
		ck_assert_msg(g_error_matches(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE) &&
				      strstr(error->message, "TLS"),
			      "%s", error->message);
		g_clear_error(&error);
	}
	end();
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_users");
	TCase *tcase = tcase_create("users");

	tcase_set_timeout(tcase, 180);
	if (tls_site_possible()) {
		tcase_add_test(tcase, test_nothing_is_refused);
		tcase_add_test(tcase, test_what_hosts_may_not);
		tcase_add_test(tcase, test_another_ca);
	}
	suite_add_tcase(suite, tcase);
	return suite;
}
