// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Switches that refuse some of what is set: a block of a table, a LinearFDBTop. By the tables of
 * the simulated switches, all hosts reach each other all the same; the switch is named, and it is
 * used again once it accepts the Set. Also switches and hosts that refuse something that cannot be
 * bypassed: all others are served as ever.
 */
#include <check.h>
#include <limits.h>
#include <string.h>

#include "client.h"
#include "ctl/command/command.h"
#include "client/control.h"
#include "scenario.h"
#include "tests/run_suite.h"

#define TREE "xgft:16,13:1,4" /* 13 leaves with 16 hosts each, four spines: 225 LIDs */
#define HOSTS 208
#define LFT IBA_ATTR_LINEAR_FORWARDING_TABLE
#define MFT IBA_ATTR_MULTICAST_FORWARDING_TABLE

static const enum sim_refusal_kind kinds[] = {SIM_REFUSE_BY_STATUS, SIM_REFUSE_IGNORE};

static uint64_t sweeps(struct scenario *s)
{
	const struct counters *counters = &daemon_context(s->daemon)->counters;

	return counter_get(counters, sweeps_partial) + counter_get(counters, sweeps_heavy);
}

static bool get_through(struct scenario *s, unsigned int from, uint16_t lid, unsigned int to)
{
	unsigned int node, port;

	sim_peer(s->sim, from, 1, &node, &port);
	for (unsigned int hops = 0; hops < 16; hops++) {
		struct sim_node_view view;

		sim_node_view(s->sim, node, &view);
		if (view.type != IBA_NODE_SWITCH)
			return node == to;
		if (lid > view.switch_info->linear_fdb_top || view.lft[lid] > view.num_ports ||
		    sim_port_info(s->sim, node, view.lft[lid])->port_state != IBA_PORT_ACTIVE ||
		    !sim_peer(s->sim, node, view.lft[lid], &node, &port))
			return false;
	}
	return false;
}

static bool is_host(struct scenario *s, unsigned int node)
{
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	return view.type != IBA_NODE_SWITCH;
}

/* Pairs of hosts, all but one host, that no packet gets between by the present tables. */
static unsigned int lost_pairs_but(struct scenario *s, unsigned int but)
{
	unsigned int lost = 0;

	for (unsigned int from = 0; from < sim_nodes(s->sim); from++)
		for (unsigned int to = 0; to < sim_nodes(s->sim); to++)
			lost += from != to && from != but && to != but && is_host(s, from) &&
				is_host(s, to) && !get_through(s, from, scenario_lid(s, to), to);
	return lost;
}

static unsigned int lost_pairs(struct scenario *s)
{
	return lost_pairs_but(s, UINT_MAX);
}

/* Entries for LIDs of hosts in a block of a switch that lead somewhere. */
static unsigned int transit(struct scenario *s, const char *name, uint32_t block)
{
	unsigned int leaf = scenario_node(s, "leaf-3"), n = 0, port, peer, peer_port;
	struct sim_node_view view;

	sim_node_view(s->sim, leaf, &view);
	for (uint32_t lid = 64 * block; lid < 64 * (block + 1); lid++)
		for (port = 17; port <= 20; port++)
			n += view.lft[lid] == port &&
			     sim_peer(s->sim, leaf, port, &peer, &peer_port) &&
			     peer == scenario_node(s, name);
	return n;
}

/* The text in health, and its severity. */
static void check_health(struct scenario *s, const char *text, bool there)
{
	struct command_env env = {.daemon = s->daemon, .sim = s->sim};
	struct command_answer answer;

	command_run(&env, "health", true, &answer);
	ck_assert_msg((strstr(answer.text, text) != NULL) == there, "%s", answer.text);
	g_free(answer.text);
}

static void refuse(struct scenario *s, const char *name, uint16_t attribute, uint32_t modifier,
		   enum sim_refusal_kind kind)
{
	ck_assert(sim_node_refuse_block(s->sim, scenario_node(s, name), attribute, modifier, kind));
}

/* From the start, one block of a spine: the others are used. Then it accepts the block. */
START_TEST(one_block_of_a_spine)
{
	struct scenario *s = scenario_new(TREE, 1);
	uint64_t before;

	scenario_conf(s, "sweep_interval 100000\n");
	refuse(s, "spine-2-1", LFT, 2, kinds[_i]);
	scenario_start(s);
	scenario_run_ms(s, 3000);
	scenario_expect_at_most(s, lost_pairs(s), 0);
	scenario_expect_at_most(s, transit(s, "spine-2-1", 2), 0);
	scenario_expect(s, transit(s, "spine-2-1", 1) > 0);
	scenario_check_log(s, "spine-2-1", true);
	scenario_check_log(s, "block 2 of its LinearForwardingTable", true);
	check_health(s, "spine-2-1", true);
	scenario_heavy_sweep(s, 10);
	scenario_run_ms(s, 120 * 1000);
	scenario_expect_at_most(s, lost_pairs(s), 0);
	before = sweeps(s);
	scenario_run_ms(s, 600 * 1000);
	scenario_expect_at_most(s, sweeps(s) - before, 12); /* seldom */
	refuse(s, "spine-2-1", LFT, 2, SIM_REFUSE_NOT);
	scenario_run_ms(s, 70 * 1000);
	scenario_expect(s, transit(s, "spine-2-1", 2) > 0);
	scenario_expect_at_most(s, lost_pairs(s), 0);
	scenario_converge(s, 5);
	check_health(s, "spine-2-1", false);
	scenario_free(s);
}
END_TEST

/* It begins to do so while the fabric is in use, and a cable is lost. */
START_TEST(begins_later)
{
	struct scenario *s = scenario_new(TREE, 1);
	unsigned int down = scenario_node(s, "leaf-5");

	scenario_start(s);
	scenario_converge(s, 10);
	for (uint32_t block = 0; block < 4; block++)
		refuse(s, "spine-2-1", LFT, block, kinds[_i]);
	sim_link_set(s->sim, down, 17 + 1, false); /* to that spine: its blocks change */
	scenario_run_ms(s, 2000);
	scenario_expect_at_most(s, lost_pairs(s), 0);
	sim_link_set(s->sim, down, 17 + 1, true);
	sim_link_set(s->sim, down, 17 + 2, false);
	scenario_run_ms(s, 2000);
	scenario_expect_at_most(s, lost_pairs(s), 0);
	for (uint32_t block = 0; block < 4; block++)
		refuse(s, "spine-2-1", LFT, block, SIM_REFUSE_NOT);
	scenario_run_ms(s, 130 * 1000);
	scenario_converge(s, 5);
	scenario_free(s);
}
END_TEST

/* Two spines refuse one block each; or both the same one. */
START_TEST(two_spines)
{
	struct scenario *s = scenario_new(TREE, 1);

	refuse(s, "spine-2-1", LFT, 2, SIM_REFUSE_BY_STATUS);
	refuse(s, "spine-2-2", LFT, _i ? 2 : 1, SIM_REFUSE_IGNORE);
	scenario_start(s);
	scenario_run_ms(s, 3000);
	scenario_expect_at_most(s, lost_pairs(s), 0);
	scenario_expect_at_most(s, transit(s, "spine-2-1", 2), 0);
	scenario_expect_at_most(s, transit(s, "spine-2-2", _i ? 2 : 1), 0);
	scenario_free(s);
}
END_TEST

/* No bypass: hosts on that leaf cannot send there, all others can, and it is logged. */
START_TEST(one_block_of_a_leaf)
{
	struct scenario *s = scenario_new(TREE, 1);

	refuse(s, "leaf-2", LFT, 2, kinds[_i]);
	scenario_start(s);
	scenario_run_ms(s, 5000);
	scenario_expect_at_most(s, lost_pairs(s), 16 * 64);
	check_health(s, "leaf-2", true);
	check_health(s, "LIDs 0x0080 to 0x00bf", true);
	refuse(s, "leaf-2", LFT, 2, SIM_REFUSE_NOT);
	scenario_run_ms(s, 70 * 1000);
	scenario_converge(s, 5);
	scenario_free(s);
}
END_TEST

/* It answers with success, and does not keep the block: an audit finds that. */
START_TEST(takes_and_loses)
{
	struct scenario *s = scenario_new(TREE, 1);

	scenario_conf(s, "audit_nodes 100\nsweep_interval 2\n");
	scenario_start(s);
	scenario_converge(s, 10);
	for (uint32_t block = 0; block < 4; block++)
		refuse(s, "spine-2-1", LFT, block, SIM_REFUSE_LIE);
	sim_link_set(s->sim, scenario_node(s, "leaf-5"), 17 + 1, false); /* to that spine */
	scenario_run_ms(s, 1000);
	sim_link_set(s->sim, scenario_node(s, "leaf-5"), 17 + 1, true);
	sim_link_set(s->sim, scenario_node(s, "leaf-5"), 17 + 2, false);
	sim_link_set(s->sim, scenario_node(s, "leaf-6"), 17 + 1, false);
	scenario_run_ms(s, 60 * 1000);
	scenario_expect_at_most(s, lost_pairs(s), 0);
	for (uint32_t block = 0; block < 4; block++)
		refuse(s, "spine-2-1", LFT, block, SIM_REFUSE_NOT);
	scenario_run_ms(s, 130 * 1000);
	scenario_converge(s, 5);
	scenario_free(s);
}
END_TEST

/* LinearFDBTop is part of SwitchInfo: LIDs above that of a refusing switch are routed around it. */
START_TEST(top)
{
	struct scenario *s = scenario_new(TREE, 1);

	refuse(s, "spine-2-1", IBA_ATTR_SWITCH_INFO, 0, kinds[_i]);
	scenario_start(s);
	scenario_run_ms(s, 3000);
	scenario_expect_at_most(s, lost_pairs(s), 0);
	for (uint32_t block = 0; block < 4; block++)
		scenario_expect_at_most(s, transit(s, "spine-2-1", block), 0);
	check_health(s, "spine-2-1", true);
	refuse(s, "spine-2-1", IBA_ATTR_SWITCH_INFO, 0, SIM_REFUSE_NOT);
	scenario_run_ms(s, 130 * 1000);
	scenario_converge(s, 5);
	scenario_expect(s, transit(s, "spine-2-1", 2) > 0);
	scenario_free(s);
}
END_TEST

/* A block of the MFT: trees use other spines, for all groups, and this one again later. */
START_TEST(multicast)
{
	struct scenario *s = scenario_new(TREE, 1);
	struct client *clients[3];
	uint64_t guids[G_N_ELEMENTS(clients)];

	for (unsigned int i = 0; i < 4; i++) {
		g_autofree char *name = g_strdup_printf("spine-2-%u", i);

		for (uint32_t position = 0; i < 3 && position < 2; position++)
			refuse(s, name, MFT, position << 28, kinds[_i]);
	}
	scenario_start(s);
	scenario_run_ms(s, 3000);
	for (unsigned int i = 0; i < G_N_ELEMENTS(clients); i++) {
		g_autofree char *name = g_strdup_printf("host-%u", 20 * i + 5);
		unsigned int node = scenario_node(s, name);

		clients[i] = client_new(s, node);
		client_send_member(clients[i], true);
		guids[i] = sim_port_guid(s->sim, node, 1);
	}
	scenario_run_ms(s, 3000);
	scenario_check_tree(s, IBA_LID_MCAST_FIRST, guids, G_N_ELEMENTS(guids));
	check_health(s, "of its MFT", true);
	for (unsigned int i = 0; i < 3; i++) {
		g_autofree char *name = g_strdup_printf("spine-2-%u", i);

		for (uint32_t position = 0; position < 2; position++)
			refuse(s, name, MFT, position << 28, SIM_REFUSE_NOT);
	}
	scenario_run_ms(s, 130 * 1000);
	scenario_check_tree(s, IBA_LID_MCAST_FIRST, guids, G_N_ELEMENTS(guids));
	check_health(s, "of its MFT", false);
	for (unsigned int i = 0; i < G_N_ELEMENTS(clients); i++)
		client_free(clients[i]);
	scenario_free(s);
}
END_TEST

/* A refusal that ends at once does not change routes. */
START_TEST(once)
{
	struct scenario *s = scenario_new(TREE, 1);

	scenario_start(s);
	scenario_converge(s, 10);
	refuse(s, "spine-2-1", LFT, 2, SIM_REFUSE_BY_STATUS);
	sim_link_set(s->sim, scenario_node(s, "leaf-5"), 17 + 1, false);
	scenario_run_ms(s, 50);
	refuse(s, "spine-2-1", LFT, 2, SIM_REFUSE_NOT);
	scenario_converge(s, 5);
	scenario_check_log(s, "routes avoid it", false);
	scenario_free(s);
}
END_TEST

/* What routes bypass is not a reason to disable anything, whatever the policy of ports. */
START_TEST(stays_on)
{
	struct scenario *s = scenario_new(TREE, 1);
	g_autofree char *file = g_build_filename(s->directory, "ports", NULL);
	g_autofree char *conf =
		g_strdup_printf("hm_ports_health_policy_file %s\nsweep_interval 30\n", file);

	scenario_old_file(file, "set_errors switch disable release never\n");
	scenario_conf(s, conf);
	refuse(s, "spine-2-1", LFT, 2, kinds[_i]);
	scenario_start(s);
	for (unsigned int i = 0; i < 15; i++) { /* when it is retried */
		scenario_run_ms(s, 65 * 1000);
		daemon_sweep(s->daemon, SWEEP_HEAVY);
	}
	scenario_check_log(s, "it does not accept", true);
	scenario_check_log(s, "unhealthy", false);
	for (unsigned int port = 1; port <= 13; port++)
		scenario_expect(s, sim_link_up(s->sim, scenario_node(s, "spine-2-1"), port));
	scenario_expect_at_most(s, lost_pairs(s), 0);
	scenario_free(s);
}
END_TEST

/* ---- what cannot be bypassed ---- */


#define EXTENDED (UINT32_C(1) << 31) /* SMSupportExtendedSpeeds */

static const struct {
	const char *node;
	uint16_t attribute;
	uint32_t modifier;
} refusals[] = {
	{"host-50", IBA_ATTR_P_KEY_TABLE, 0},
	{"leaf-3", IBA_ATTR_P_KEY_TABLE, 3 << 16}, /* of the port to host-50 */
	{"host-50", IBA_ATTR_SL_TO_VL_TABLE, 0},
	{"leaf-3", IBA_ATTR_SL_TO_VL_TABLE, 17 << 8 | 3}, /* from an uplink to that port */
	{"leaf-3", IBA_ATTR_SL_TO_VL_TABLE, 3 << 8 | 17},
	{"host-50", IBA_ATTR_VL_ARBITRATION_TABLE, 1 << 16},
	{"leaf-3", IBA_ATTR_VL_ARBITRATION_TABLE, 1 << 16 | 17},
	{"host-50", IBA_ATTR_PORT_INFO, EXTENDED | 1},
	{"leaf-3", IBA_ATTR_PORT_INFO, EXTENDED | 3},
	{"leaf-3", IBA_ATTR_PORT_INFO, EXTENDED | 17},
	{"spine-2-1", IBA_ATTR_PORT_INFO, EXTENDED | 4}, /* to leaf-3 */
	{"spine-2-1", IBA_ATTR_PORT_INFO, EXTENDED | 0},
};
#define REFUSALS G_N_ELEMENTS(refusals)

static void start_with_partitions(struct scenario *s)
{
	g_autofree char *file = g_build_filename(s->directory, "partitions.conf", NULL);
	g_autofree char *conf = g_strdup_printf(
		"sweep_interval 100000\nqos TRUE\nqos_sl2vl 0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,7\n"
		"qos_max_vls 4\nqos_vlarb_high 0:9,1:5\npartition_config_file %s\n",
		file);

	scenario_old_file(file, "Default=0x7fff,ipoib: ALL=full;\nA=0x11: ALL=full;\n");
	scenario_conf(s, conf);
	scenario_start(s);
}

static bool has_p_key(struct scenario *s, unsigned int node, uint16_t p_key)
{
	unsigned int n;
	const uint16_t *p_keys = sim_p_keys(s->sim, node, 1, &n);

	for (unsigned int i = 0; i < n; i++)
		if (p_keys[i] == p_key)
			return true;
	return false;
}

/* Hosts, all but one, that lack the P_Key. */
static unsigned int lack(struct scenario *s, uint16_t p_key, unsigned int but)
{
	unsigned int n = 0;

	for (unsigned int node = 0; node < sim_nodes(s->sim); node++)
		n += node != but && is_host(s, node) && !has_p_key(s, node, p_key);
	return n;
}

/* From the start, and with later events; it is logged, retried seldom, and repaired in the end. */
START_TEST(no_way_around)
{
	struct scenario *s = scenario_new(TREE, 1);
	const char *name = refusals[_i % REFUSALS].node;
	uint16_t attribute = refusals[_i % REFUSALS].attribute;
	unsigned int host = scenario_node(s, "host-50");
	uint64_t serial, before;

	refuse(s, name, attribute, refusals[_i % REFUSALS].modifier, kinds[_i / REFUSALS]);
	start_with_partitions(s);
	scenario_run_ms(s, 5000);
	scenario_expect_at_most(s, lost_pairs_but(s, host), 0);
	scenario_expect_at_most(s, lack(s, 0x8011, host), 0);
	check_health(s, name, true);
	ck_assert(daemon_change_partitions(s->daemon, "B=0x12: 0x1=full", 0, &serial, NULL));
	scenario_run_ms(s, 60 * 1000);
	before = sweeps(s);
	scenario_run_ms(s, 120 * 1000);
	scenario_expect_at_most(s, sweeps(s) - before, 14); /* each ten seconds, and few beside */
	scenario_expect_at_most(s, lost_pairs_but(s, host), 0);
	refuse(s, name, attribute, refusals[_i % REFUSALS].modifier, SIM_REFUSE_NOT);
	scenario_run_ms(s, 12 * 1000);
	scenario_converge(s, 5);
	scenario_expect_at_most(s, lost_pairs(s), 0);
	scenario_expect_at_most(s, lack(s, 0x8011, UINT_MAX), 0);
	check_health(s, name, false);
	scenario_free(s);
}
END_TEST

/* The only link of a leaf, or the last one left: excluding it would be of no use. */
START_TEST(only_link)
{
	struct scenario *s = scenario_new(_i ? "xgft:4,3:1,2" : "xgft:4,3:1,1", 1);
	unsigned int leaf = scenario_node(s, "leaf-1");

	scenario_conf(s, "sweep_interval 100000\n");
	refuse(s, "leaf-1", IBA_ATTR_PORT_INFO, EXTENDED | 5, kinds[0]); /* to spine-2-0 */
	scenario_start(s);
	scenario_run_ms(s, 5000);
	check_health(s, "port 5 stays in INIT", true);
	scenario_expect_at_most(s, lost_pairs(s), _i ? 0 : 2 * 4 * 8);
	if (_i) {
		sim_link_set(s->sim, leaf, 6, false); /* to the other one */
		scenario_run_ms(s, 5000);
		scenario_expect_at_most(s, lost_pairs(s), 2 * 4 * 8);
	}
	refuse(s, "leaf-1", IBA_ATTR_PORT_INFO, EXTENDED | 5, SIM_REFUSE_NOT);
	scenario_run_ms(s, 15 * 1000);
	scenario_converge(s, 5);
	scenario_expect_at_most(s, lost_pairs(s), 0);
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("refusing_switch");
	TCase *tcase = tcase_create("refusing_switch");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, one_block_of_a_spine, 0, 2);
	tcase_add_loop_test(tcase, begins_later, 0, 2);
	tcase_add_loop_test(tcase, two_spines, 0, 2);
	tcase_add_loop_test(tcase, one_block_of_a_leaf, 0, 2);
	tcase_add_test(tcase, takes_and_loses);
	tcase_add_loop_test(tcase, top, 0, 2);
	tcase_add_loop_test(tcase, multicast, 0, 2);
	tcase_add_test(tcase, once);
	tcase_add_loop_test(tcase, stays_on, 0, 2);
	tcase_add_loop_test(tcase, no_way_around, 0, 2 * REFUSALS);
	tcase_add_loop_test(tcase, only_link, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
