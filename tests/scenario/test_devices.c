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

int main(void)
{
	Suite *suite = suite_create("devices");
	TCase *tcase = tcase_create("devices");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, tavor_gets_its_mtu);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
