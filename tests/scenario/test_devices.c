// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the SM does for particular kinds of devices: a Tavor HCA, hardware that has FDR10. */
#include <check.h>
#include <string.h>

#include "client.h"
#include "ctl/command/command.h"
#include "tests/run_suite.h"

#define P(name) IBA_COMPONENT(path_record, name)
#define M(name) IBA_COMPONENT(multi_path_record, name)

static struct scenario *s;

static void setup(void)
{
	s = scenario_new("devices.topo", 1);
}

static void teardown(void)
{
	scenario_free(s);
}

static void start(const char *conf)
{
	scenario_conf(s, conf);
	scenario_start(s);
	scenario_converge(s, 10);
}

static void reread(const char *conf)
{
	scenario_conf(s, conf);
	scenario_expect(s, daemon_reread(s->daemon, NULL));
	scenario_heavy_sweep(s, 5);
	scenario_converge(s, 10);
}

static char *run(const char *line)
{
	struct command_env env = {.daemon = s->daemon};
	struct command_answer answer = {0};

	command_run(&env, line, true, &answer);
	return answer.text;
}

/* ---- enable_quirks ---- */

static uint64_t guid_of(const char *host)
{
	return sim_port_guid(s->sim, scenario_node(s, host), 1);
}

/* The MTU of the path to a host; with a selector, that of a request with that MTU; 0: no path. */
static unsigned int mtu_to(struct client *client, const char *host, int selector, uint8_t mtu)
{
	struct iba_path_record path = {
		.sgid = client_gid(client),
		.dgid = {IBA_DEFAULT_GID_PREFIX, guid_of(host)},
		.mtu_selector = selector < 0 ? 0 : (uint8_t)selector,
		.mtu = mtu,
	};
	uint64_t mask = P(sgid) | P(dgid) | (selector < 0 ? 0 : P(mtu_selector) | P(mtu));
	int status = client_ask(client, IBA_METHOD_GET, IBA_ATTR_PATH_RECORD, mask,
				&iba_path_record_type, &path);

	return status == 0 ? path.mtu : 0;
}

static unsigned int multi_path_mtu_to(struct client *client, const char *host)
{
	const struct iba_multi_path_record record = {.sgid_count = 1, .dgid_count = 1};
	struct iba_gid gids[] = {client_gid(client), {IBA_DEFAULT_GID_PREFIX, guid_of(host)}};
	g_autoptr(GByteArray) data = g_byte_array_new(), records = NULL;
	uint8_t wire[IBA_MAD_BYTES] = {0};
	unsigned int n = 0;

	wire_encode(&iba_multi_path_record_type, &record, wire);
	g_byte_array_append(data, wire, iba_multi_path_record_bytes);
	for (unsigned int i = 0; i < G_N_ELEMENTS(gids); i++) {
		wire_encode(&iba_gid_type, &gids[i], wire);
		g_byte_array_append(data, wire, iba_gid_bytes);
	}
	records = client_ask_long(client, IBA_METHOD_GET_MULTI, IBA_ATTR_MULTI_PATH_RECORD,
				  M(sgid_count) | M(dgid_count), data, &iba_path_record_type, &n);
	ck_assert_ptr_nonnull(records);
	ck_assert_uint_eq(n, 1);
	return ((const struct iba_path_record *)(const void *)records->data)->mtu;
}

START_TEST(tavor_gets_its_mtu)
{
	static const struct {
		int selector;
		uint8_t mtu, got;
	} asked[] = {
		{-1, 0, IBA_MTU_1024},
		{IBA_SELECTOR_GREATER, IBA_MTU_512, IBA_MTU_1024},
		{IBA_SELECTOR_GREATER, IBA_MTU_1024, IBA_MTU_4096},
		{IBA_SELECTOR_GREATER, IBA_MTU_4096, 0},
		{IBA_SELECTOR_LESS, IBA_MTU_4096, IBA_MTU_1024},
		{IBA_SELECTOR_LESS, IBA_MTU_1024, IBA_MTU_512},
		{IBA_SELECTOR_EXACTLY, IBA_MTU_256, IBA_MTU_256},
		{IBA_SELECTOR_EXACTLY, IBA_MTU_1024, IBA_MTU_1024},
		{IBA_SELECTOR_EXACTLY, IBA_MTU_2048, IBA_MTU_2048},
		{IBA_SELECTOR_BEST, IBA_MTU_256, IBA_MTU_4096},
	};
	struct client *host, *tavor;
	g_autofree char *text = NULL;

	start("");
	host = client_new(s, scenario_node(s, "host"));
	tavor = client_new(s, scenario_node(s, "tavor"));
	ck_assert_uint_eq(mtu_to(host, "tavor", -1, 0), IBA_MTU_4096);
	reread("enable_quirks TRUE\n");
	for (unsigned int i = 0; i < G_N_ELEMENTS(asked); i++)
		ck_assert_uint_eq(mtu_to(host, "tavor", asked[i].selector, asked[i].mtu),
				  asked[i].got);
	ck_assert_uint_eq(mtu_to(tavor, "host", -1, 0), IBA_MTU_1024);
	ck_assert_uint_eq(mtu_to(host, "other", -1, 0), IBA_MTU_4096);
	ck_assert_uint_eq(multi_path_mtu_to(host, "tavor"), IBA_MTU_1024);
	ck_assert_uint_eq(multi_path_mtu_to(host, "other"), IBA_MTU_4096);
	text = run("path 0x2000000400001 0x2000000200001");
	ck_assert_ptr_nonnull(strstr(text, "a Tavor HCA at an end, by option enable_quirks"));
	reread("enable_quirks FALSE\n");
	ck_assert_uint_eq(mtu_to(host, "tavor", -1, 0), IBA_MTU_4096);
	client_free(host);
	client_free(tavor);
}
END_TEST

/* ---- fdr10 ---- */

static unsigned int gets, sets; /* of ExtendedPortInfo */

static void count_ext_port_info(void *arg, uint64_t now_ns, const struct vendor_address *to,
				uint64_t from, const uint8_t *data, size_t length)
{
	(void)arg;
	(void)now_ns;
	(void)to;
	(void)from;
	gets += scenario_is_smp(data, length, IBA_METHOD_GET, IBA_ATTR_EXT_PORT_INFO);
	sets += scenario_is_smp(data, length, IBA_METHOD_SET, IBA_ATTR_EXT_PORT_INFO);
}

static void start_counting(const char *conf)
{
	gets = sets = 0;
	sim_set_trace(s->sim, count_ext_port_info, NULL);
	start(conf);
}

/* The number of Gets in the next heavy sweep, which sends as many Sets as expected. */
static unsigned int gets_of_sweep(unsigned int n_sets)
{
	gets = sets = 0;
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	scenario_heavy_sweep(s, 10);
	ck_assert_uint_eq(sets, n_sets);
	return gets;
}

static bool is_enabled(const char *name, unsigned int port)
{
	return sim_fdr10_enabled(s->sim, scenario_node(s, name), port);
}

static void bounce(const char *name, unsigned int port)
{
	unsigned int node = scenario_node(s, name);

	sim_link_set(s->sim, node, port, false);
	scenario_run_ms(s, 100);
	sim_link_set(s->sim, node, port, true);
	scenario_converge(s, 10);
}

static void expect_told(const char *line, const char *text, bool there)
{
	g_autofree char *told = run(line);

	if (!strstr(told, text) == there)
		scenario_fail(s, "%s: %s", line, told);
}

/*
 * The ports of s0, s1, sm and host that are up are asked, 9 in all; that of old once, as it refuses
 * the attribute, and that of other, a device of another vendor, never.
 */
START_TEST(fdr10_asks_known_devices)
{
	start_counting("");
	ck_assert_uint_gt(gets, 0);
	ck_assert_uint_eq(gets % 9, 1);
	ck_assert_uint_eq(sets, 0);
	ck_assert_uint_eq(gets_of_sweep(0), 9);
	expect_told("portstatus", "10.3125 Gbps (FDR10)", true);
	reread("fdr10 0\n");
	ck_assert_uint_eq(gets_of_sweep(0), 0);
	expect_told("portstatus", "FDR10", false);
	reread("fdr10 255\n");
	ck_assert_uint_eq(gets_of_sweep(0), 0);
	reread("fdr10 1\n");
	expect_told("portstatus", "10.3125 Gbps (FDR10)", true);
}
END_TEST

/* Paths have the rate of QDR. */
START_TEST(fdr10_is_set_at_both_ends)
{
	struct iba_path_record path;
	struct client *host;

	start_counting("fdr10 2\n");
	/* of s0 ports 1, 2 and 4, of s1 ports 1 and 2, of sm and host; not of other */
	ck_assert_uint_eq(sets, 7);
	ck_assert(!is_enabled("s0", 1) && !is_enabled("s0", 4) && !is_enabled("s1", 1));
	ck_assert(is_enabled("other", 1));
	ck_assert_uint_eq(gets_of_sweep(0), 9);
	bounce("s0", 1);
	ck_assert(!sim_fdr10_active(s->sim, scenario_node(s, "s0"), 1));
	reread("fdr10 1\n");
	ck_assert(is_enabled("s0", 1) && is_enabled("s1", 1) && is_enabled("host", 1));
	ck_assert(!is_enabled("s0", 4)); /* the other end is not known to support it */
	ck_assert_uint_eq(gets_of_sweep(0), 9);
	expect_told("ports slow", "s1", false); /* it counts as QDR */
	bounce("s0", 1);
	ck_assert(sim_fdr10_active(s->sim, scenario_node(s, "s0"), 1));
	expect_told("portstatus", "10.3125 Gbps (FDR10)", true);
	host = client_new(s, scenario_node(s, "host"));
	ck_assert_int_eq(client_path(host, guid_of("sm"), &path), 0);
	ck_assert_uint_eq(path.rate, IBA_RATE_40);
	client_free(host);
}
END_TEST

/* One that refuses to change, or says that it has and does not, is told once and left alone. */
START_TEST(fdr10_is_refused)
{
	unsigned int s1 = scenario_node(s, "s1"), ports = 2;

	if (_i)
		sim_node_refuse(s->sim, s1, IBA_ATTR_EXT_PORT_INFO);
	else
		for (unsigned int port = 1; port <= ports; port++)
			sim_node_refuse_block(s->sim, s1, IBA_ATTR_EXT_PORT_INFO, port,
					      SIM_REFUSE_IGNORE);
	start_counting("fdr10 2\n");
	ck_assert_uint_eq(sets, 7);
	ck_assert(is_enabled("s1", 1) && !is_enabled("s0", 1));
	ck_assert_uint_eq(gets_of_sweep(0), 9);
	scenario_check_log(s, "port 1 does not accept FDR10 being disabled", true);
	reread("fdr10 1\n");
	reread("fdr10 2\n");
	scenario_check_log(s, "accept FDR10 being enabled", false);
	ck_assert(is_enabled("s1", 1));
}
END_TEST

/* One that does not answer that is not taken for dead, and asked once; nonsense changes nothing. */
START_TEST(fdr10_answers_of_bad_devices)
{
	unsigned int sweep;

	sim_node_ext_port_info(s->sim, scenario_node(s, "s1"), _i == 0, _i == 1);
	start_counting("");
	sweep = gets_of_sweep(0);
	ck_assert_uint_eq(sweep, _i ? 6 : 9);
	scenario_check_log(s, "SUBNET UP", true);
	scenario_check_log(s, "ERR", false);
	reread("fdr10 2\n");
	ck_assert_uint_eq(gets_of_sweep(0), _i ? 6 : 9);
	ck_assert(!is_enabled("s0", 1));
	scenario_check(s);
}
END_TEST

/* What is protected takes the right key. */
START_TEST(fdr10_with_keys)
{
	start_counting("fdr10 2\nm_key 0x1234\nm_key_protection_level 2\n");
	ck_assert_uint_eq(sets, 7);
	ck_assert(!is_enabled("s0", 1) && !is_enabled("host", 1));
	reread("fdr10 1\nm_key 0x1234\nm_key_protection_level 2\n");
	ck_assert(is_enabled("s0", 1) && is_enabled("host", 1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("devices");
	TCase *tcase = tcase_create("devices");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, tavor_gets_its_mtu);
	tcase_add_test(tcase, fdr10_asks_known_devices);
	tcase_add_test(tcase, fdr10_is_set_at_both_ends);
	tcase_add_loop_test(tcase, fdr10_is_refused, 0, 2);
	tcase_add_loop_test(tcase, fdr10_answers_of_bad_devices, 0, 2);
	tcase_add_test(tcase, fdr10_with_keys);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
