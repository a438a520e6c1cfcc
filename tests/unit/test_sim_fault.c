// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Faults of the simulated fabric: packets, links, cables, nodes and their agents, traps. */
#include <check.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/sim_net.h"

#define GET IBA_METHOD_GET
#define SET IBA_METHOD_SET

static struct net *net;
static unsigned int sw, other; /* a switch, a host at its port 2 */

static void setup(void)
{
	net = net_new("fattree:4", NULL);
	sw = sim_find_name(net->sim, "leaf-0-0");
	other = sim_find_name(net->sim, "host-1");
}

static void teardown(void)
{
	net_free(net);
}

static void get_node_info(unsigned int node, struct iba_node_info *info)
{
	uint8_t data[64] = {0};

	ck_assert_int_eq(net_direct_ask(net, node, GET, IBA_ATTR_NODE_INFO, 0, data), 0);
	wire_decode(&iba_node_info_type, data, info);
}

static bool port_state_change(void)
{
	struct iba_switch_info info;
	uint8_t data[64] = {0};

	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_SWITCH_INFO, 0, data), 0);
	wire_decode(&iba_switch_info_type, data, &info);
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_SWITCH_INFO, 0, data), 0);
	return info.port_state_change;
}

/* ---- packets ---- */

/* Answers to n requests, of which each was sent once. */
static unsigned int answered(unsigned int n)
{
	const struct vendor_address to = {.lid = IBA_LID_PERMISSIVE};
	unsigned int received = 0;
	uint8_t smp[256];

	for (unsigned int i = 0; i < n; i++) {
		struct vendor_mad *mad;

		net_smp(net, smp, IBA_CLASS_SUBN_DIRECTED, GET, IBA_ATTR_NODE_INFO, 0);
		net_direct(net, smp, i % sim_nodes(net->sim));
		ck_assert(vendor_send(net->vendor, &to, smp, 256, NET_TIMEOUT_MS));
		mad = net_take(net, 2 * NET_TIMEOUT_MS);
		ck_assert_ptr_nonnull(mad);
		received += mad->status == VENDOR_RECEIVED;
		vendor_mad_free(mad);
	}
	return received;
}

/* Of one node only: those behind it and beside it are reached as before. */
START_TEST(test_node_loss)
{
	unsigned int of_node = 0, nodes = sim_nodes(net->sim);

	sim_node_set_loss(net->sim, other, 0.3);
	for (unsigned int i = 0; i < 200; i++)
		of_node += net_direct_ask(net, other, GET, IBA_ATTR_NODE_INFO, 0, NULL) == 0;
	ck_assert_uint_gt(of_node, 70); /* 0.7 * 0.7 */
	ck_assert_uint_lt(of_node, 130);
	sim_node_set_loss(net->sim, other, 0);
	sim_node_set_loss(net->sim, sw, 1);
	ck_assert_uint_eq(answered(nodes), nodes - 1);
}
END_TEST

START_TEST(test_corrupt)
{
	struct sim_counters counters;

	sim_set_corrupt(net->sim, 1);
	/* A flip in TID, class, method or the path loses it, one in the data does not. */
	ck_assert_uint_lt(answered(2000), 1900);
	sim_counters(net->sim, &counters);
	ck_assert_uint_ge(counters.corrupted, 2000);
	ck_assert_uint_gt(counters.mads_received, 500);
	sim_set_corrupt(net->sim, 0);
	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_NODE_INFO, 0, NULL), 0);
	sim_counters(net->sim, &counters);
	ck_assert_uint_lt(counters.corrupted, 2 * 2000 + 1);
}
END_TEST

/* Sets of everything with flipped bits, again and again: nothing crashes. */
START_TEST(test_corrupt_sets)
{
	static const uint16_t attributes[] = {
		IBA_ATTR_SWITCH_INFO,
		IBA_ATTR_PORT_INFO,
		IBA_ATTR_P_KEY_TABLE,
		IBA_ATTR_SL_TO_VL_TABLE,
		IBA_ATTR_VL_ARBITRATION_TABLE,
		IBA_ATTR_LINEAR_FORWARDING_TABLE,
		IBA_ATTR_MULTICAST_FORWARDING_TABLE,
		IBA_ATTR_GUID_INFO,
	};

	net_bring_up(net);
	sim_set_corrupt(net->sim, 0.5);
	sim_set_duplicate(net->sim, 0.3);
	for (unsigned int i = 0; i < 16000; i++) {
		unsigned int node = i % 7 ? i % sim_nodes(net->sim) : sw;
		uint16_t attribute = attributes[i % G_N_ELEMENTS(attributes)];
		bool directed = i % 2;
		uint8_t smp[256];

		net_smp(net, smp, directed ? IBA_CLASS_SUBN_DIRECTED : IBA_CLASS_SUBN_LID,
			i % 3 ? GET : SET, attribute, i % 11);
		if (directed)
			net_direct(net, smp, node);
		memset(smp + 64, i, 64);
		vendor_mad_free(net_ask(net, directed ? IBA_LID_PERMISSIVE : net_lid(node), smp));
	}
	sim_set_corrupt(net->sim, 0);
	ck_assert_int_eq(net_direct_ask(net, net->self, GET, IBA_ATTR_NODE_INFO, 0, NULL), 0);
}
END_TEST

START_TEST(test_delay)
{
	uint64_t start = runtime_now(net->rt);

	sim_set_delay(net->sim, 1000, 0);
	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_NODE_INFO, 0, NULL), 0);
	ck_assert_uint_eq(runtime_now(net->rt) - start, 2000);
	sim_set_duplicate(net->sim, 1);
	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_NODE_INFO, 0, NULL), 0);
	sim_set_delay(net->sim, 1000, 500);
	for (unsigned int i = 0; i < 100; i++) {
		start = runtime_now(net->rt);
		ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_NODE_INFO, 0, NULL), 0);
		ck_assert_uint_ge(runtime_now(net->rt) - start, 2000);
		ck_assert_uint_lt(runtime_now(net->rt) - start, 3000);
	}
}
END_TEST

/* ---- links ---- */

static const struct {
	unsigned int lanes, mbps;
	uint8_t width, speed, ext;
} cables[] = {
	{4, 25781, IBA_WIDTH_4X, IBA_SPEED_QDR, IBA_SPEED_EXT_EDR},
	{1, 25781, IBA_WIDTH_1X, IBA_SPEED_QDR, IBA_SPEED_EXT_EDR},
	{2, 25000, IBA_WIDTH_1X, IBA_SPEED_QDR, IBA_SPEED_EXT_EDR}, /* 2X is unsupported */
	{4, 14062, IBA_WIDTH_4X, IBA_SPEED_QDR, IBA_SPEED_EXT_FDR},
	{4, 10000, IBA_WIDTH_4X, IBA_SPEED_QDR, 0},
	{1, 5000, IBA_WIDTH_1X, IBA_SPEED_DDR, 0},
	{12, 2500, IBA_WIDTH_4X, IBA_SPEED_SDR, 0},
	{12, 212500, IBA_WIDTH_4X, IBA_SPEED_QDR, IBA_SPEED_EXT_EDR},
};

START_TEST(test_degrade)
{
	const struct iba_port_info *near = sim_port_info(net->sim, sw, 2);
	const struct iba_port_info *far = sim_port_info(net->sim, other, 1);

	port_state_change();
	ck_assert(sim_link_degrade(net->sim, other, 1, 1, 2500));
	port_state_change();
	ck_assert_int_eq(net_port_state(net, sw, 2, IBA_PORT_ARMED), 0);
	ck_assert(sim_link_degrade(net->sim, sw, 2, cables[_i].lanes, cables[_i].mbps));
	ck_assert_uint_eq(near->link_width_active, cables[_i].width);
	ck_assert_uint_eq(near->link_speed_active, cables[_i].speed);
	ck_assert_uint_eq(near->link_speed_ext_active, cables[_i].ext);
	ck_assert_uint_eq(far->link_width_active, cables[_i].width);
	ck_assert_uint_eq(far->link_speed_ext_active, cables[_i].ext);
	ck_assert_uint_eq(near->port_state, IBA_PORT_INIT);
	ck_assert_uint_eq(near->link_width_enabled, far->link_width_enabled);
	ck_assert(port_state_change());
	/* It stays so when the link trains again. */
	sim_link_set(net->sim, sw, 2, false);
	sim_link_set(net->sim, sw, 2, true);
	ck_assert_uint_eq(near->link_width_active, cables[_i].width);
	ck_assert_uint_eq(near->link_speed_ext_active, cables[_i].ext);
}
END_TEST

START_TEST(test_degrade_invalid)
{
	ck_assert(!sim_link_degrade(net->sim, sw, 2, 3, 25781));
	ck_assert(!sim_link_degrade(net->sim, sw, 2, 0, 25781));
	ck_assert(!sim_link_degrade(net->sim, sw, 2, 4, 0));
	ck_assert(!sim_link_degrade(net->sim, sw, 2, 4, 7000));
	ck_assert(!sim_link_degrade(net->sim, sw, 0, 4, 25781));
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 2)->link_speed_ext_active, IBA_SPEED_EXT_EDR);
}
END_TEST

START_TEST(test_flap)
{
	port_state_change();
	ck_assert(sim_link_flap(net->sim, sw, 2, 10 * NS_PER_MS, 20 * NS_PER_MS, 3));
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert(!sim_link_up(net->sim, sw, 2));
		net_run_ms(net, 9);
		ck_assert(!sim_link_up(net->sim, other, 1));
		net_run_ms(net, 2);
		ck_assert(sim_link_up(net->sim, sw, 2));
		net_run_ms(net, 18);
		ck_assert(sim_link_up(net->sim, sw, 2));
		net_run_ms(net, 1);
	}
	net_run_ms(net, 1000);
	ck_assert(sim_link_up(net->sim, sw, 2));
	ck_assert(port_state_change());
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 2)->port_state, IBA_PORT_INIT);
	ck_assert(!sim_link_flap(net->sim, sw, 0, 1, 1, 1));
}
END_TEST

/* A cable pulled by hand stays pulled; one that flaps at the end does not leak. */
START_TEST(test_flap_ends)
{
	ck_assert(sim_link_flap(net->sim, sw, 2, NS_PER_MS, NS_PER_MS, 1000));
	net_run_ms(net, 7);
	sim_link_set(net->sim, other, 1, false);
	net_run_ms(net, 50);
	ck_assert(!sim_link_up(net->sim, sw, 2));
	ck_assert(sim_link_flap(net->sim, sw, 2, NS_PER_MS, NS_PER_MS, 0));
	ck_assert(sim_link_up(net->sim, sw, 2));
	ck_assert(sim_link_flap(net->sim, sw, 2, NS_PER_MS, NS_PER_MS, 1000));
	ck_assert(sim_link_flap(net->sim, other, 1, NS_PER_S, NS_PER_S, 1000));
	net_run_ms(net, 900);
	ck_assert(!sim_link_up(net->sim, sw, 2));
}
END_TEST

START_TEST(test_black_hole)
{
	struct sim_counters before, after;

	ck_assert(!sim_link_black_hole(net->sim, sw, 0, true));
	ck_assert(!sim_link_black_hole(net->sim, sw, 5, true));
	sim_counters(net->sim, &before);
	ck_assert(sim_link_black_hole(net->sim, other, 1, true)); /* its answers */
	ck_assert_int_eq(net_direct_ask(net, other, GET, IBA_ATTR_NODE_INFO, 0, NULL), -1);
	sim_counters(net->sim, &after);
	ck_assert_uint_eq(after.gets - before.gets, 1);
	ck_assert(sim_link_black_hole(net->sim, sw, 2, true)); /* the requests */
	ck_assert_int_eq(net_direct_ask(net, other, GET, IBA_ATTR_NODE_INFO, 0, NULL), -1);
	sim_counters(net->sim, &before);
	ck_assert_uint_eq(after.gets, before.gets);
	ck_assert(sim_link_up(net->sim, sw, 2));
	sim_link_black_hole(net->sim, sw, 2, false);
	sim_link_black_hole(net->sim, other, 1, false);
	ck_assert_int_eq(net_direct_ask(net, other, GET, IBA_ATTR_NODE_INFO, 0, NULL), 0);
}
END_TEST

/* ---- cables ---- */

static void teardown_setup(const char *text)
{
	net_free(net);
	net = net_new_text(text);
	sw = sim_find_name(net->sim, "sw");
	other = sim_find_name(net->sim, "b");
}

START_TEST(test_cable_move)
{
	unsigned int peer, peer_port;

	teardown_setup("Switch 4 \"sw\"\n[1] \"a\"[1]\n[2] \"b\"[1]\nCa 1 \"a\"\nCa 1 \"b\"\n");
	ck_assert(!sim_cable_move(net->sim, sw, 2, sw, 1)); /* in use */
	ck_assert(!sim_cable_move(net->sim, sw, 2, sw, 2));
	ck_assert(!sim_cable_move(net->sim, sw, 2, sw, 0));
	ck_assert(!sim_cable_move(net->sim, sw, 2, sw, 5));
	ck_assert(!sim_cable_move(net->sim, sw, 3, sw, 4)); /* none there */
	ck_assert(sim_link_degrade(net->sim, sw, 2, 1, 10000));
	ck_assert(sim_cable_move(net->sim, sw, 2, sw, 4));
	ck_assert(!sim_peer(net->sim, sw, 2, &peer, &peer_port));
	ck_assert(!sim_link_up(net->sim, sw, 2));
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 2)->port_state, IBA_PORT_DOWN);
	ck_assert(sim_peer(net->sim, other, 1, &peer, &peer_port));
	ck_assert_uint_eq(peer, sw);
	ck_assert_uint_eq(peer_port, 4);
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 4)->port_state, IBA_PORT_INIT);
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 4)->link_width_active, IBA_WIDTH_1X);
	net->paths[other][2] = 4;
	ck_assert_int_eq(net_direct_ask(net, other, GET, IBA_ATTR_NODE_INFO, 0, NULL), 0);
	/* Unplugged cables move, too. */
	sim_link_set(net->sim, other, 1, false);
	ck_assert(sim_cable_move(net->sim, sw, 4, sw, 3));
	ck_assert(!sim_link_up(net->sim, sw, 3));
	sim_link_set(net->sim, other, 1, true);
	ck_assert(sim_link_up(net->sim, sw, 3));
	/* One that flaps is plugged in, though its link is down. */
	ck_assert(sim_link_flap(net->sim, sw, 3, NS_PER_S, NS_PER_S, 1));
	ck_assert(!sim_link_up(net->sim, sw, 3));
	ck_assert(sim_cable_move(net->sim, sw, 3, sw, 2));
	ck_assert(sim_link_up(net->sim, sw, 2));
	ck_assert(sim_link_flap(net->sim, sw, 2, NS_PER_S, NS_PER_S, 1));
	ck_assert(sim_cable_swap(net->sim, sw, 1, sw, 2));
	ck_assert(sim_link_up(net->sim, sw, 1));
	ck_assert(sim_link_up(net->sim, sw, 2));
}
END_TEST

static void expect_peer(unsigned int node, unsigned int port, unsigned int peer,
			unsigned int peer_port)
{
	unsigned int is, is_port;

	ck_assert(sim_peer(net->sim, node, port, &is, &is_port));
	ck_assert_uint_eq(is, peer);
	ck_assert_uint_eq(is_port, peer_port);
	ck_assert(sim_peer(net->sim, peer, peer_port, &is, &is_port));
	ck_assert_uint_eq(is, node);
	ck_assert_uint_eq(is_port, port);
}

START_TEST(test_cable_swap)
{
	unsigned int peer, peer_port, a;

	teardown_setup("Switch 4 \"sw\"\n[1] \"a\"[1]\n[2] \"b\"[1]\nCa 1 \"a\"\nCa 1 \"b\"\n");
	a = sim_find_name(net->sim, "a");
	ck_assert(!sim_cable_swap(net->sim, sw, 1, sw, 1));
	ck_assert(!sim_cable_swap(net->sim, sw, 1, a, 1)); /* two ends of one */
	ck_assert(!sim_cable_swap(net->sim, sw, 3, sw, 4)); /* none there */
	ck_assert(sim_link_degrade(net->sim, sw, 2, 1, 10000));
	ck_assert(sim_cable_swap(net->sim, sw, 1, sw, 2));
	expect_peer(sw, 1, other, 1);
	expect_peer(sw, 2, a, 1);
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 1)->port_state, IBA_PORT_INIT);
	ck_assert_uint_eq(sim_port_info(net->sim, a, 1)->port_state, IBA_PORT_INIT);
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 1)->link_width_active, IBA_WIDTH_1X);
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 2)->link_width_active, IBA_WIDTH_4X);
	/* With an empty port, and with a cable that is not plugged in. */
	sim_link_set(net->sim, a, 1, false);
	ck_assert(sim_cable_swap(net->sim, sw, 2, sw, 4));
	ck_assert(!sim_peer(net->sim, sw, 2, &peer, &peer_port));
	expect_peer(sw, 4, a, 1);
	ck_assert(!sim_link_up(net->sim, sw, 4));
	ck_assert(sim_cable_swap(net->sim, a, 1, other, 1));
	expect_peer(sw, 4, other, 1);
	expect_peer(sw, 1, a, 1);
	ck_assert(!sim_link_up(net->sim, other, 1));
	ck_assert(sim_link_up(net->sim, a, 1));
}
END_TEST

START_TEST(test_loopback)
{
	unsigned int peer, peer_port;
	struct iba_node_info info;
	struct sim_node_view view;

	teardown_setup("Switch 4 \"sw\"\n[1] \"a\"[1]\n[2] \"b\"[1]\nCa 1 \"a\"\nCa 1 \"b\"\n");
	ck_assert(sim_cable_move(net->sim, other, 1, sw, 2)); /* both ends in one port */
	ck_assert(sim_peer(net->sim, sw, 2, &peer, &peer_port));
	ck_assert_uint_eq(peer, sw);
	ck_assert_uint_eq(peer_port, 2);
	ck_assert(sim_link_up(net->sim, sw, 2));
	ck_assert(!sim_link_up(net->sim, other, 1));
	get_node_info(other, &info); /* the switch answers in its place */
	sim_node_view(net->sim, sw, &view);
	ck_assert_uint_eq(info.node_guid, view.node_guid);
	ck_assert_uint_eq(info.local_port_num, 2);
	ck_assert(sim_cable_move(net->sim, sw, 2, sw, 3)); /* a switch connected to itself */
	get_node_info(other, &info);
	ck_assert_uint_eq(info.local_port_num, 3);
	ck_assert(sim_cable_move(net->sim, sw, 3, other, 1));
	get_node_info(other, &info);
	ck_assert_uint_eq(info.node_type, IBA_NODE_CA);
}
END_TEST

/* ---- nodes ---- */

START_TEST(test_node_guid)
{
	struct iba_node_info info;
	struct sim_node_view view;
	uint64_t was;

	get_node_info(other, &info);
	was = info.node_guid;
	sim_set_node_guid(net->sim, other, 0);
	get_node_info(other, &info);
	ck_assert_uint_eq(info.node_guid, 0);
	ck_assert_uint_eq(info.port_guid, sim_port_guid(net->sim, other, 1));
	sim_node_view(net->sim, sw, &view);
	sim_set_node_guid(net->sim, other, view.node_guid);
	get_node_info(other, &info);
	ck_assert_uint_eq(info.node_guid, view.node_guid);
	ck_assert_int_eq(sim_find_guid(net->sim, was), other);
	ck_assert_int_eq(sim_find_guid(net->sim, view.node_guid), sw);
	sim_node_set(net->sim, other, false);
	sim_node_set(net->sim, other, true);
	get_node_info(other, &info);
	ck_assert_uint_eq(info.node_guid, view.node_guid);
}
END_TEST

START_TEST(test_stubborn)
{
	struct iba_port_info info;
	uint8_t data[64] = {1, 2, 3};

	sim_node_stubborn(net->sim, sw, true);
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_LINEAR_FORWARDING_TABLE, 0, data),
			 0);
	ck_assert_uint_eq(data[0], 0xFF);
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_NODE_INFO, 0, data),
			 IBA_STATUS_UNSUP_METHOD_ATTR);
	ck_assert_int_eq(net_port_state(net, sw, 2, IBA_PORT_ARMED), 0);
	net_port_get(net, sw, 2, &info);
	ck_assert_uint_eq(info.port_state, IBA_PORT_INIT);
	sim_node_stubborn(net->sim, sw, false);
	ck_assert_int_eq(net_port_state(net, sw, 2, IBA_PORT_ARMED), 0);
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 2)->port_state, IBA_PORT_ARMED);
}
END_TEST

/* ---- traps ---- */

static unsigned int traps_within(uint64_t ms, struct iba_notice *notice)
{
	unsigned int n = 0;
	struct vendor_mad *mad;

	net_run_ms(net, ms);
	while ((mad = net_take(net, 0))) {
		ck_assert_uint_eq(mad->data[3], IBA_METHOD_TRAP);
		wire_decode(&iba_notice_type, mad->data + 64, notice);
		vendor_mad_free(mad);
		n++;
	}
	return n;
}

START_TEST(test_trap)
{
	struct iba_notice sent = {.is_generic = 1, .trap_number = 129, .issuer_lid = 0x777}, got;

	ck_assert(!sim_trap(net->sim, sw, 0, &sent)); /* knows no SM */
	net_bring_up(net);
	traps_within(100000, &got);
	ck_assert(!sim_trap(net->sim, other, 0, &sent));
	ck_assert(!sim_trap(net->sim, other, 2, &sent));
	sent.data_details[53] = 9;
	ck_assert(sim_trap(net->sim, other, 1, &sent));
	ck_assert_uint_eq(traps_within(1000, &got), 1);
	ck_assert_uint_eq(got.trap_number, 129);
	ck_assert_uint_eq(got.issuer_lid, 0x777);
	ck_assert_uint_eq(got.data_details[53], 9);
	ck_assert_uint_eq(traps_within(100000, &got), 9);
	sent.is_generic = 0;
	ck_assert(sim_trap(net->sim, sw, 3, &sent)); /* the port does not matter */
	ck_assert_uint_eq(traps_within(1000, &got), 1);
	ck_assert_uint_eq(got.is_generic, 0);
}
END_TEST

/* Repeated traps arrive once traps are no longer lost. */
START_TEST(test_traps_lost)
{
	struct iba_notice got;

	net_bring_up(net);
	traps_within(100000, &got);
	sim_set_traps_lost(net->sim, true);
	sim_link_set(net->sim, other, 1, false);
	ck_assert_uint_eq(traps_within(5000, &got), 0);
	sim_set_traps_lost(net->sim, false);
	ck_assert_uint_ge(traps_within(5000, &got), 1);
	ck_assert_uint_eq(got.trap_number, IBA_TRAP_LINK_STATE_CHANGE);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sim_fault");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_node_loss);
	tcase_add_test(tcase, test_corrupt);
	tcase_add_test(tcase, test_corrupt_sets);
	tcase_add_test(tcase, test_delay);
	tcase_add_loop_test(tcase, test_degrade, 0, G_N_ELEMENTS(cables));
	tcase_add_test(tcase, test_degrade_invalid);
	tcase_add_test(tcase, test_flap);
	tcase_add_test(tcase, test_flap_ends);
	tcase_add_test(tcase, test_black_hole);
	tcase_add_test(tcase, test_cable_move);
	tcase_add_test(tcase, test_cable_swap);
	tcase_add_test(tcase, test_loopback);
	tcase_add_test(tcase, test_node_guid);
	tcase_add_test(tcase, test_stubborn);
	tcase_add_test(tcase, test_trap);
	tcase_add_test(tcase, test_traps_lost);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
