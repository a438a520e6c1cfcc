// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The paths that clients get: by requests of several MADs, after changes, beyond the subnet. */
#include <check.h>
#include <string.h>

#include "client.h"
#include "tests/run_suite.h"

#define M(name) IBA_COMPONENT(multi_path_record, name)
#define HOSTS 16

static struct scenario *s;

static void setup(void)
{
	s = scenario_new("fattree:4", 1);
}

static void teardown(void)
{
	scenario_free(s);
}

static struct client *client_on(const char *host)
{
	return client_new(s, scenario_node(s, host));
}

static uint64_t guid_of(unsigned int host)
{
	g_autofree char *name = g_strdup_printf("host-%u", host);

	return sim_port_guid(s->sim, scenario_node(s, name), 1);
}

static void append(GByteArray *data, const struct wire_type *type, const void *record)
{
	uint8_t wire[IBA_MAD_BYTES] = {0};

	wire_encode(type, record, wire);
	g_byte_array_append(data, wire, (guint)wire_bytes(type));
}

/* From the client to all others, twice each: three MADs. */
static GByteArray *ask_for_all(struct client *client, unsigned int *n)
{
	const struct iba_multi_path_record record = {.sgid_count = 1, .dgid_count = 2 * HOSTS};
	struct iba_gid gid = client_gid(client);
	g_autoptr(GByteArray) data = g_byte_array_new();

	append(data, &iba_multi_path_record_type, &record);
	append(data, &iba_gid_type, &gid);
	for (unsigned int i = 0; i < 2 * HOSTS; i++) {
		gid.guid = guid_of(i % HOSTS);
		append(data, &iba_gid_type, &gid);
	}
	return client_ask_long(client, IBA_METHOD_GET_MULTI, IBA_ATTR_MULTI_PATH_RECORD,
			       M(sgid_count) | M(dgid_count), data, &iba_path_record_type, n);
}

static void check_all(struct client *client)
{
	unsigned int n;
	g_autoptr(GByteArray) records = ask_for_all(client, &n);
	const struct iba_path_record *paths;

	ck_assert_ptr_nonnull(records);
	ck_assert_uint_eq(n, HOSTS);
	paths = (const void *)records->data;
	for (unsigned int i = 0; i < HOSTS; i++) {
		struct iba_path_record path;

		ck_assert_int_eq(client_path(client, guid_of(i), &path), 0);
		ck_assert(paths[i].dgid.guid == guid_of(i));
		ck_assert_uint_eq(paths[i].dlid, path.dlid);
		ck_assert_uint_eq(paths[i].slid, path.slid);
		ck_assert_uint_eq(paths[i].rate, path.rate);
	}
}

START_TEST(request_of_several_mads)
{
	struct client *client;

	scenario_start(s);
	scenario_converge(s, 10);
	client = client_on("host-9");
	check_all(client);
	sim_set_loss(s->sim, 0.1);
	for (unsigned int i = 0; i < 5; i++)
		check_all(client);
	client_free(client);
}
END_TEST

static GByteArray *trace(struct client *client, unsigned int to, unsigned int *n)
{
	const struct iba_path_record path = {
		.sgid = client_gid(client),
		.dgid = {IBA_DEFAULT_GID_PREFIX, guid_of(to)},
	};
	g_autoptr(GByteArray) data = g_byte_array_new();

	append(data, &iba_path_record_type, &path);
	return client_ask_long(client, IBA_METHOD_GET_TRACE_TABLE, IBA_ATTR_TRACE_RECORD,
			       IBA_COMPONENT(path_record, sgid) | IBA_COMPONENT(path_record, dgid),
			       data, &iba_trace_record_type, n);
}

static uint64_t node_guid(unsigned int node)
{
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	return view.node_guid;
}

/* The cable of the path is pulled: the path changes. */
START_TEST(trace_follows_the_tables)
{
	struct client *client;
	g_autoptr(GByteArray) before = NULL, after = NULL;
	const struct iba_trace_record *hops;
	unsigned int n, leaf = 0;

	scenario_start(s);
	scenario_converge(s, 10);
	client = client_on("host-0");
	before = trace(client, 15, &n);
	ck_assert_ptr_nonnull(before);
	ck_assert_uint_eq(n, 7);
	hops = (const void *)before->data;
	ck_assert(hops[0].node_id && hops[0].entry_port == 0 && hops[6].exit_port == 0);
	while (node_guid(leaf) != hops[1].node_id)
		leaf++;
	sim_link_set(s->sim, leaf, hops[1].exit_port, false);
	scenario_converge(s, 10);
	after = trace(client, 15, &n);
	ck_assert_ptr_nonnull(after);
	ck_assert_uint_eq(n, 7);
	ck_assert(((const struct iba_trace_record *)(const void *)after->data)[1].exit_port !=
		  hops[1].exit_port);
	ck_assert(((const struct iba_trace_record *)(const void *)after->data)[1].id_generation !=
		  hops[1].id_generation);
	client_free(client);
}
END_TEST

static unsigned int routes_in_use(void)
{
	struct subnet *subnet = slot_take(&daemon_context(s->daemon)->subnet);
	unsigned int n = subnet->prefix_routes->routes->len;

	subnet_unref(subnet);
	return n;
}

/* A wrong file does not remove the previous routes. */
START_TEST(wrong_prefix_routes)
{
	g_autofree char *file = g_build_filename(s->directory, "routes", NULL);
	g_autofree char *conf = g_strdup_printf("prefix_routes_file %s\n", file);

	ck_assert(g_file_set_contents(file, "fec0000000000001 *\n", -1, NULL));
	scenario_conf(s, conf);
	scenario_start(s);
	scenario_converge(s, 10);
	ck_assert_uint_eq(routes_in_use(), 1);
	ck_assert(g_file_set_contents(file, "* *\nfec0::1 *\n", -1, NULL));
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	scenario_heavy_sweep(s, 10);
	ck_assert_uint_eq(routes_in_use(), 1);
	ck_assert_ptr_nonnull(strstr(daemon_refusal(s->daemon, DAEMON_PREFIX_ROUTES)->why,
				     "routes:2: found 'fec0::1 *'"));
	scenario_check_log(s, "the prefix routes are unchanged: ", true);
	ck_assert(g_file_set_contents(file, "* *\nfec0000000000001 *\n", -1, NULL));
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	scenario_heavy_sweep(s, 10);
	ck_assert_uint_eq(routes_in_use(), 2);
	ck_assert_ptr_null(daemon_refusal(s->daemon, DAEMON_PREFIX_ROUTES)->why);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("paths");
	TCase *tcase = tcase_create("paths");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, request_of_several_mads);
	tcase_add_test(tcase, trace_follows_the_tables);
	tcase_add_test(tcase, wrong_prefix_routes);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
