// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Flows between hosts and errors at a rate, as the ports of the simulated fabric count them. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "complib/random.h"
#include "tests/run_suite.h"
#include "tests/unit/sim_net.h"

#define SIZE 2024 /* with 24 octets of headers: 512 words */
#define WORDS 512
#define SECOND 1000 /* ms */

static struct net *net;
static unsigned int hosts[16];

static void nothing(struct timer *timer)
{
	(void)timer;
}

/* Virtual time stays where nothing happens: a timer moves it on. */
static void run_ns(uint64_t ns)
{
	struct timer timer;

	timer_init(&timer, net->actor, nothing);
	timer_start(&timer, ns);
	runtime_run(net->rt, NULL, NULL, runtime_now(net->rt) + ns);
	timer_stop(&timer);
}

static void run_ms(uint64_t ms)
{
	run_ns(ms * NS_PER_MS);
}

static void start(const char *spec)
{
	net = net_new(spec, NULL);
	for (unsigned int i = 0; i < G_N_ELEMENTS(hosts); i++) {
		g_autofree char *name = g_strdup_printf("host-%u", i);
		int node = sim_find_name(net->sim, name);

		hosts[i] = node < 0 ? 0 : node;
	}
	net_bring_up(net);
	run_ms(100 * SECOND); /* traps are over */
}

static void setup(void)
{
	start("fattree:4");
}

static void teardown(void)
{
	net_free(net);
}

static bool add(unsigned int from, unsigned int to, double rate)
{
	const struct sim_flow flow = {
		.from_node = hosts[from],
		.from_port = 1,
		.to_node = hosts[to],
		.to_port = 1,
		.rate = rate,
		.size = SIZE,
	};

	return sim_traffic_add(net->sim, &flow);
}

static uint64_t count(unsigned int node, unsigned int port, enum sim_port_counter which)
{
	return sim_true_count(net->sim, node, port, which);
}

static uint64_t host_count(unsigned int host, enum sim_port_counter which)
{
	return count(hosts[host], 1, which);
}

/* The switch port that a host is connected to. */
static unsigned int leaf_of(unsigned int host, unsigned int *port)
{
	unsigned int node;

	ck_assert(sim_peer(net->sim, hosts[host], 1, &node, port));
	return node;
}

static uint64_t leaf_count(unsigned int host, enum sim_port_counter which)
{
	unsigned int port, node = leaf_of(host, &port);

	return count(node, port, which);
}

/* Octets a second of a link; all of a fabric are the same. */
static double link_rate(void)
{
	struct sim_flow_view view;
	const struct sim_flow flow = {
		.from_node = hosts[0],
		.from_port = 1,
		.to_node = hosts[1],
		.to_port = 1,
		.rate = 1,
		.of_link = true,
		.size = SIZE,
	};

	ck_assert(sim_traffic_add(net->sim, &flow));
	sim_traffic_view(net->sim, 0, &view);
	sim_traffic_clear(net->sim);
	return view.wanted;
}

/* ---- sums over the fabric ---- */

static void check_cables(void)
{
	static const enum sim_port_counter pairs[][2] = {
		{SIM_COUNT_PORT_XMIT_DATA, SIM_COUNT_PORT_RCV_DATA},
		{SIM_COUNT_PORT_XMIT_PKTS, SIM_COUNT_PORT_RCV_PKTS},
		{SIM_COUNT_PORT_UNICAST_XMIT_PKTS, SIM_COUNT_PORT_UNICAST_RCV_PKTS},
	};

	for (unsigned int node = 0; node < sim_nodes(net->sim); node++) {
		struct sim_node_view view;
		unsigned int peer, peer_port;

		sim_node_view(net->sim, node, &view);
		for (unsigned int port = 1; port <= view.num_ports; port++)
			for (unsigned int i = 0; i < G_N_ELEMENTS(pairs); i++)
				if (sim_peer(net->sim, node, port, &peer, &peer_port))
					ck_assert_uint_eq(count(node, port, pairs[i][0]),
							  count(peer, peer_port, pairs[i][1]));
	}
}

static uint64_t sum(unsigned int node, enum sim_port_counter which)
{
	struct sim_node_view view;
	uint64_t total = 0;

	sim_node_view(net->sim, node, &view);
	for (unsigned int port = 1; port <= view.num_ports; port++)
		total += count(node, port, which);
	return total;
}

/* Packets that a switch received are sent or counted as dropped. Without MADs for the switch. */
static void check_switches(const uint64_t *before)
{
	for (unsigned int node = 0; node < sim_nodes(net->sim); node++) {
		struct sim_node_view view;
		uint64_t lost;

		sim_node_view(net->sim, node, &view);
		if (view.type != IBA_NODE_SWITCH)
			continue;
		lost = sum(node, SIM_COUNT_PORT_XMIT_DISCARDS) +
		       sum(node, SIM_COUNT_PORT_RCV_SWITCH_RELAY_ERRORS);
		ck_assert_uint_eq(sum(node, SIM_COUNT_PORT_RCV_PKTS) -
					  sum(node, SIM_COUNT_PORT_XMIT_PKTS) - lost,
				  before[node]);
	}
}

/* What switches have received more than sent or lost: MADs to themselves. */
static uint64_t *kept(void)
{
	uint64_t *all = g_new0(uint64_t, sim_nodes(net->sim));

	for (unsigned int node = 0; node < sim_nodes(net->sim); node++)
		all[node] = sum(node, SIM_COUNT_PORT_RCV_PKTS) -
			    sum(node, SIM_COUNT_PORT_XMIT_PKTS) -
			    sum(node, SIM_COUNT_PORT_XMIT_DISCARDS) -
			    sum(node, SIM_COUNT_PORT_RCV_SWITCH_RELAY_ERRORS);
	return all;
}

/* ---- one flow ---- */

START_TEST(test_one_flow)
{
	uint64_t packets = host_count(15, SIM_COUNT_PORT_RCV_PKTS);
	uint64_t words = host_count(15, SIM_COUNT_PORT_RCV_DATA);
	struct sim_flow_view view;

	ck_assert(add(3, 15, 4.0 * WORDS * 1000)); /* 1000 packets a second */
	run_ms(10 * SECOND);
	ck_assert_uint_eq(host_count(15, SIM_COUNT_PORT_RCV_PKTS) - packets, 10000);
	ck_assert_uint_eq(host_count(15, SIM_COUNT_PORT_RCV_DATA) - words, 10000 * WORDS);
	check_cables();
	sim_traffic_view(net->sim, 0, &view);
	ck_assert_uint_eq(view.hops, 6);
	ck_assert_ptr_null(view.ends);
	ck_assert_double_eq(view.arrives, 4.0 * WORDS * 1000);
	ck_assert_uint_eq(host_count(3, SIM_COUNT_PORT_XMIT_WAIT), 0);
	sim_traffic_clear(net->sim);
	ck_assert_uint_eq(sim_traffic_flows(net->sim), 0);
	run_ms(10 * SECOND);
	ck_assert_uint_eq(host_count(15, SIM_COUNT_PORT_RCV_PKTS) - packets, 10000);
}
END_TEST

/* Read at any time in any order, all ports tell of the same packets. */
START_TEST(test_odd_times)
{
	uint64_t seed = 7;

	ck_assert(add(0, 9, 12345678.9));
	ck_assert(add(2, 9, 77777));
	ck_assert(add(2, 1, 3.3));
	for (unsigned int i = 0; i < 200; i++) {
		unsigned int host = random_below(&seed, 16);

		run_ns(random_below(&seed, 100 * NS_PER_MS));
		host_count(host, SIM_COUNT_PORT_RCV_PKTS);
		leaf_count(host, SIM_COUNT_PORT_RCV_PKTS);
		if (i % 20 == 0)
			check_cables();
	}
	check_cables();
}
END_TEST

static const struct {
	unsigned int from, to, port;
	double rate;
	unsigned int size;
	uint8_t sl;
} wrong[] = {
	{0, 0, 1, 1, SIZE, 0},	  {0, 1, 2, 1, SIZE, 0},   {0, 1, 0, 1, SIZE, 0},
	{0, 1, 1, -1, SIZE, 0},	  {0, 1, 1, NAN, SIZE, 0}, {0, 1, 1, INFINITY, SIZE, 0},
	{0, 1, 1, 2e12, SIZE, 0}, {0, 1, 1, 1, 4097, 0},   {0, 1, 1, 1, SIZE, 16},
};

START_TEST(test_wrong_flows)
{
	struct sim_flow flow = {
		.from_node = hosts[wrong[_i].from],
		.from_port = 1,
		.to_node = hosts[wrong[_i].to],
		.to_port = wrong[_i].port,
		.rate = wrong[_i].rate,
		.size = wrong[_i].size,
		.sl = wrong[_i].sl,
	};

	ck_assert(!sim_traffic_add(net->sim, &flow));
	ck_assert_uint_eq(sim_traffic_flows(net->sim), 0);
	flow.to_node = sim_find_name(net->sim, "leaf-0-0");
	flow.to_port = 1;
	ck_assert(!sim_traffic_add(net->sim, &flow));
	ck_assert(!sim_traffic_random(net->sim, SIM_FLOWS_MAX + 1, &flow));
}
END_TEST

/* ---- hot spots ---- */

/* Two hosts of other leaves send to one as fast as they can. */
START_TEST(test_hot_spot)
{
	double rate = link_rate(), seconds = 10, got;
	uint64_t before = host_count(0, SIM_COUNT_PORT_RCV_DATA);
	unsigned int port, node = leaf_of(0, &port);

	ck_assert(add(5, 0, rate));
	ck_assert(add(9, 0, rate));
	run_ms(10 * SECOND);
	got = 4.0 * (double)(host_count(0, SIM_COUNT_PORT_RCV_DATA) - before);
	ck_assert_double_eq_tol(got / rate / seconds, 1, 1e-6);
	check_cables();
	/* The hot port never waits; each source waits half of the time. */
	ck_assert_uint_eq(count(node, port, SIM_COUNT_PORT_XMIT_WAIT), 0);
	for (unsigned int host = 5; host <= 9; host += 4) {
		double waited = 8.0 * (double)host_count(host, SIM_COUNT_PORT_XMIT_WAIT);

		ck_assert_double_eq_tol(waited / rate / seconds, 0.5, 1e-6);
	}
	ck_assert_uint_eq(host_count(3, SIM_COUNT_PORT_XMIT_WAIT), 0);
	ck_assert_uint_eq(sum(node, SIM_COUNT_PORT_XMIT_DISCARDS), 0);
}
END_TEST

/* Ticks of lanes are longer, and counted on each lane. */
START_TEST(test_lane_ticks)
{
	double rate = link_rate();
	uint64_t usual, of_lanes;

	sim_pma_set(net->sim, hosts[9], sim_pma_default(IBA_NODE_CA) | SIM_PMA_LANE_TICKS);
	ck_assert(add(5, 0, rate));
	ck_assert(add(9, 0, rate));
	run_ms(10 * SECOND);
	usual = host_count(5, SIM_COUNT_PORT_XMIT_WAIT);
	of_lanes = host_count(9, SIM_COUNT_PORT_XMIT_WAIT);
	ck_assert_double_eq_tol((double)usual * 8 / ((double)of_lanes * 32 * 4), 1, 1e-6);
}
END_TEST

START_TEST(test_discards)
{
	g_autofree uint64_t *before = kept();
	double rate = link_rate();
	uint64_t discards = 0, details = 0, waits;

	ck_assert(add(5, 0, rate));
	ck_assert(add(9, 0, rate));
	sim_traffic_discard(net->sim, 0.25);
	run_ms(10 * SECOND);
	for (unsigned int node = 0; node < sim_nodes(net->sim); node++) {
		discards += sum(node, SIM_COUNT_PORT_XMIT_DISCARDS);
		details += sum(node, SIM_COUNT_PORT_SW_HOQ_LIFETIME_LIMIT_DISCARDS);
	}
	ck_assert_uint_eq(discards, details);
	/* A quarter of the other half of 2 flows. */
	ck_assert_double_eq_tol((double)discards * WORDS * 4 / rate / 10, 0.25, 1e-5);
	waits = host_count(5, SIM_COUNT_PORT_XMIT_WAIT);
	ck_assert_double_eq_tol((double)waits * 8 / rate / 10, 0.375, 1e-5);
	check_cables();
	check_switches(before);
}
END_TEST

/* Counted by SL, VL and OpCode where the agent has such attributes. */
START_TEST(test_lanes)
{
	struct sim_flow flow = {
		.from_node = hosts[5],
		.from_port = 1,
		.to_node = hosts[0],
		.to_port = 1,
		.rate = 1,
		.of_link = true,
		.size = SIZE,
		.sl = 11,
	};
	uint64_t packets;

	sim_pma_set_type(net->sim, IBA_NODE_CA, sim_pma_default(IBA_NODE_CA) | SIM_PMA_OPTIONAL);
	ck_assert(sim_traffic_add(net->sim, &flow));
	flow.from_node = hosts[9];
	ck_assert(sim_traffic_add(net->sim, &flow));
	run_ms(SECOND);
	packets = host_count(0, SIM_COUNT_OP_RCV_PKTS + 1);
	ck_assert_uint_gt(packets, 100000);
	/* After power on VL is SL modulo 8. */
	ck_assert_uint_eq(host_count(0, SIM_COUNT_VL_OP_PACKETS + 16 + 3), packets);
	ck_assert_uint_eq(host_count(0, SIM_COUNT_SL_RCV_DATA + 11), packets * WORDS);
	ck_assert_uint_gt(host_count(5, SIM_COUNT_SL_XMIT_DATA + 11), 0);
	ck_assert_uint_gt(host_count(5, SIM_COUNT_PORT_XMIT_WAIT), 0);
	ck_assert_uint_eq(host_count(5, SIM_COUNT_VL_XMIT_WAIT + 3),
			  host_count(5, SIM_COUNT_PORT_XMIT_WAIT));
}
END_TEST

/* ---- broken paths ---- */

static void set_route(unsigned int node, uint16_t lid, uint8_t port)
{
	uint8_t data[64] = {0};

	ck_assert_int_eq(net_direct_ask(net, node, IBA_METHOD_GET, IBA_ATTR_LINEAR_FORWARDING_TABLE,
					lid / 64, data),
			 0);
	data[lid % 64] = port;
	ck_assert_int_eq(net_direct_ask(net, node, IBA_METHOD_SET, IBA_ATTR_LINEAR_FORWARDING_TABLE,
					lid / 64, data),
			 0);
}

START_TEST(test_no_route)
{
	unsigned int port, node = leaf_of(3, &port);
	uint64_t errors;
	struct sim_flow_view view;

	ck_assert(add(3, 15, 4.0 * WORDS * 1000));
	run_ms(SECOND);
	ck_assert_uint_eq(count(node, port, SIM_COUNT_PORT_RCV_SWITCH_RELAY_ERRORS), 0);
	set_route(node, net_lid(hosts[15]), 0xFF);
	run_ms(SECOND);
	errors = count(node, port, SIM_COUNT_PORT_RCV_SWITCH_RELAY_ERRORS);
	ck_assert_uint_eq(errors, 1000);
	ck_assert_uint_eq(count(node, port, SIM_COUNT_PORT_DLID_MAPPING_ERRORS), errors);
	sim_traffic_view(net->sim, 0, &view);
	ck_assert_str_eq(view.ends, "no route to its LID");
	ck_assert_double_eq(view.arrives, 0);
	set_route(node, net_lid(hosts[15]), port);
	run_ms(SECOND);
	ck_assert_uint_eq(count(node, port, SIM_COUNT_PORT_LOOPING_ERRORS), 1000);
	check_cables();
}
END_TEST

START_TEST(test_no_link)
{
	unsigned int port, node = leaf_of(15, &port);
	uint64_t arrived, discards;

	ck_assert(add(3, 15, 4.0 * WORDS * 1000));
	run_ms(SECOND);
	arrived = host_count(15, SIM_COUNT_PORT_RCV_PKTS);
	sim_link_set(net->sim, node, port, false);
	discards = count(node, port, SIM_COUNT_PORT_XMIT_DISCARDS);
	run_ms(SECOND);
	discards = count(node, port, SIM_COUNT_PORT_XMIT_DISCARDS) - discards;
	ck_assert_uint_eq(discards, 1000);
	ck_assert_uint_ge(count(node, port, SIM_COUNT_PORT_INACTIVE_DISCARDS), discards);
	ck_assert_uint_eq(host_count(15, SIM_COUNT_PORT_RCV_PKTS), arrived);
	/* A source without a link sends nothing, and counts nothing. */
	sim_link_set(net->sim, hosts[3], 1, false);
	discards = sum(node, SIM_COUNT_PORT_XMIT_DISCARDS);
	run_ms(SECOND);
	ck_assert_uint_eq(sum(node, SIM_COUNT_PORT_XMIT_DISCARDS), discards);
	ck_assert_uint_eq(host_count(3, SIM_COUNT_PORT_XMIT_DISCARDS), 0);
}
END_TEST

START_TEST(test_mtu_and_black_hole)
{
	struct iba_port_info info;
	unsigned int port, node = leaf_of(15, &port);
	uint64_t sent, received;

	ck_assert(add(3, 15, 4.0 * WORDS * 1000));
	info = *sim_port_info(net->sim, node, port);
	info.neighbor_mtu = IBA_MTU_1024;
	sim_set_port_info(net->sim, node, port, &info);
	run_ms(SECOND);
	ck_assert_uint_eq(count(node, port, SIM_COUNT_PORT_NEIGHBOR_MTU_DISCARDS), 1000);
	info.neighbor_mtu = IBA_MTU_2048;
	sim_set_port_info(net->sim, node, port, &info);
	sim_link_black_hole(net->sim, node, port, true);
	sent = count(node, port, SIM_COUNT_PORT_XMIT_PKTS);
	received = host_count(15, SIM_COUNT_PORT_RCV_PKTS);
	run_ms(SECOND);
	ck_assert_uint_eq(count(node, port, SIM_COUNT_PORT_XMIT_PKTS) - sent, 1000);
	ck_assert_uint_eq(host_count(15, SIM_COUNT_PORT_RCV_PKTS), received);
}
END_TEST

START_TEST(test_vl15)
{
	unsigned int port, node = leaf_of(3, &port);
	uint8_t data[64];

	memset(data, 0xFF, sizeof(data));
	ck_assert(add(3, 15, 4.0 * WORDS * 1000));
	for (unsigned int out = 1; out <= 4; out++) {
		memset(data, 0xFF, sizeof(data));
		ck_assert_int_eq(net_direct_ask(net, node, IBA_METHOD_SET, IBA_ATTR_SL_TO_VL_TABLE,
						port << 8 | out, data),
				 0);
	}
	run_ms(SECOND);
	ck_assert_uint_eq(count(node, port, SIM_COUNT_PORT_VL_MAPPING_ERRORS), 1000);
}
END_TEST

/* A restart: registers begin again at 0, no packet is made up, the truth stays. */
START_TEST(test_restart)
{
	unsigned int port, node = leaf_of(3, &port);
	uint64_t before;

	ck_assert(add(3, 15, 4.0 * WORDS * 1000));
	run_ms(SECOND);
	sim_node_set(net->sim, node, false);
	before = count(node, port, SIM_COUNT_PORT_RCV_PKTS);
	ck_assert_uint_ge(before, 1000);
	sim_node_set(net->sim, node, true);
	run_ms(SECOND);
	ck_assert_uint_eq(sim_port_counter(net->sim, node, port, SIM_COUNT_PORT_RCV_PKTS), 0);
	ck_assert_uint_eq(count(node, port, SIM_COUNT_PORT_RCV_PKTS), before);
	check_cables();
}
END_TEST

/* Random flows, discards, and links that come and go, read now and then. */
START_TEST(test_random)
{
	const struct sim_flow like = {.rate = 3e9, .size = 1000};
	g_autofree uint64_t *before = kept();
	uint64_t seed = 99;

	sim_set_traps_lost(net->sim, true); /* they count where they are discarded only */
	ck_assert(sim_traffic_random(net->sim, 300, &like));
	ck_assert_uint_eq(sim_traffic_flows(net->sim), 300);
	sim_traffic_discard(net->sim, 0.1);
	for (unsigned int i = 0; i < 60; i++) {
		unsigned int host = random_below(&seed, 16), port, node = leaf_of(host, &port);
		unsigned int up = random_below(&seed, 4) + 1;

		run_ns(random_below(&seed, 30 * NS_PER_MS));
		host_count(host, SIM_COUNT_PORT_RCV_DATA);
		if (i % 3 == 0)
			set_route(node, net_lid(hosts[random_below(&seed, 16)]), up);
		if (i % 7 == 0)
			sim_link_set(net->sim, hosts[host], 1, i % 2);
		if (i % 10 == 0)
			check_cables();
	}
	check_cables();
	check_switches(before);
}
END_TEST

/* Flows need no packets: what goes over the wire, and the random numbers, stay as they are. */
START_TEST(test_no_packets)
{
	const struct sim_flow like = {.rate = 1e9, .size = SIZE};
	uint64_t digests[2];

	for (unsigned int i = 0; i < 2; i++) {
		if (i) {
			teardown();
			setup();
			ck_assert(sim_traffic_random(net->sim, 100, &like));
		}
		sim_set_loss(net->sim, 0.1);
		for (unsigned int n = 0; n < 20; n++) {
			uint8_t data[64] = {0};

			net_direct_ask(net, hosts[n % 16], IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0,
				       data);
			run_ms(100);
		}
		host_count(0, SIM_COUNT_PORT_RCV_PKTS);
		digests[i] = sim_trace_digest(net->sim);
	}
	ck_assert_uint_eq(digests[0], digests[1]);
}
END_TEST

/* ---- errors ---- */

START_TEST(test_errors)
{
	unsigned int port, node = leaf_of(3, &port);
	struct sim_error_view view;
	uint64_t before = leaf_count(3, SIM_COUNT_LINK_ERROR_RECOVERY);

	ck_assert(sim_errors_set(net->sim, node, port, SIM_COUNT_LINK_ERROR_RECOVERY, 2.5));
	ck_assert(sim_errors_set(net->sim, node, port, SIM_COUNT_VL15_DROPPED, 1e6));
	run_ms(10 * SECOND);
	ck_assert_uint_eq(leaf_count(3, SIM_COUNT_LINK_ERROR_RECOVERY) - before, 25);
	ck_assert_uint_eq(leaf_count(3, SIM_COUNT_VL15_DROPPED), 10000000);
	ck_assert_uint_eq(sim_errors(net->sim), 2);
	sim_errors_view(net->sim, 0, &view);
	ck_assert_uint_eq(view.node, node);
	ck_assert_uint_eq(view.which, SIM_COUNT_LINK_ERROR_RECOVERY);
	/* Another rate, then none: what was begun is not lost. */
	ck_assert(sim_errors_set(net->sim, node, port, SIM_COUNT_LINK_ERROR_RECOVERY, 0.15));
	ck_assert_uint_eq(sim_errors(net->sim), 2);
	run_ms(10 * SECOND);
	ck_assert_uint_eq(leaf_count(3, SIM_COUNT_LINK_ERROR_RECOVERY) - before, 26);
	ck_assert(sim_errors_set(net->sim, node, port, SIM_COUNT_LINK_ERROR_RECOVERY, 0));
	sim_errors_clear(net->sim);
	run_ms(100 * SECOND);
	ck_assert_uint_eq(leaf_count(3, SIM_COUNT_LINK_ERROR_RECOVERY) - before, 26);
	ck_assert(!sim_errors_set(net->sim, node, 0, SIM_COUNT_VL15_DROPPED, 1));
	ck_assert(!sim_errors_set(net->sim, node, 5, SIM_COUNT_VL15_DROPPED, 1));
	ck_assert(!sim_errors_set(net->sim, node, 1, SIM_BAD_CABLE + 1, 1));
	ck_assert(!sim_errors_set(net->sim, node, 1, SIM_BAD_CABLE, NAN));
	ck_assert(!sim_errors_set(net->sim, node, 1, SIM_BAD_CABLE, -1));
	ck_assert_uint_eq(sim_errors(net->sim), 0);
}
END_TEST

/* Sum of PortRcvRemotePhysicalErrors of all hosts. */
static uint64_t remote_errors(void)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < G_N_ELEMENTS(hosts); i++)
		total += host_count(i, SIM_COUNT_PORT_RCV_REMOTE_PHYSICAL_ERRORS);
	return total;
}

/* The cable from host 3 to its leaf: what it damages is told there, and further on. */
START_TEST(test_bad_cable)
{
	unsigned int port, node = leaf_of(3, &port);
	uint64_t damaged;

	ck_assert(add(3, 15, 1e6));
	ck_assert(add(3, 8, 1e6));
	ck_assert(add(3, 2, 1e6));
	ck_assert(add(4, 15, 1e6));
	ck_assert(sim_errors_set(net->sim, node, port, SIM_BAD_CABLE, 1000));
	run_ms(10 * SECOND);
	ck_assert_uint_eq(leaf_count(3, SIM_COUNT_SYMBOL_ERROR) +
				  leaf_count(3, SIM_COUNT_PORT_FEC_CORRECTED_SYMBOL),
			  10000);
	damaged = leaf_count(3, SIM_COUNT_PORT_RCV_ERRORS);
	ck_assert_uint_ge(damaged, 9);
	ck_assert_uint_eq(leaf_count(3, SIM_COUNT_PORT_LOCAL_PHYSICAL_ERRORS), damaged);
	ck_assert_uint_eq(remote_errors(), damaged);
	ck_assert_uint_eq(host_count(4, SIM_COUNT_PORT_RCV_REMOTE_PHYSICAL_ERRORS), 0);
	/* The other flow to host 15 crosses no bad cable, and no host of other flows tells any. */
	ck_assert_uint_gt(host_count(15, SIM_COUNT_PORT_RCV_REMOTE_PHYSICAL_ERRORS), 0);
	ck_assert_uint_gt(host_count(2, SIM_COUNT_PORT_RCV_REMOTE_PHYSICAL_ERRORS), 0);
	ck_assert_uint_eq(host_count(3, SIM_COUNT_PORT_RCV_ERRORS), 0);
	/* A flow less, then no link. */
	sim_traffic_clear(net->sim);
	ck_assert(add(3, 8, 1e6));
	run_ms(10 * SECOND);
	ck_assert_uint_eq(remote_errors(), leaf_count(3, SIM_COUNT_PORT_RCV_ERRORS));
	sim_link_set(net->sim, node, port, false);
	damaged = leaf_count(3, SIM_COUNT_PORT_RCV_ERRORS);
	run_ms(10 * SECOND);
	ck_assert_uint_eq(leaf_count(3, SIM_COUNT_PORT_RCV_ERRORS), damaged);
}
END_TEST

/* Slow links have no FEC: symbol errors. Fast ones: corrected symbols, and rarely a bad block. */
START_TEST(test_fec)
{
	unsigned int port, node = leaf_of(3, &port);
	uint64_t lanes = 0;

	ck_assert(sim_link_degrade(net->sim, node, port, 4, 10000));
	ck_assert(sim_errors_set(net->sim, node, port, SIM_BAD_CABLE, 1024));
	run_ms(SECOND);
	ck_assert_uint_eq(leaf_count(3, SIM_COUNT_PORT_FEC_CORRECTED_SYMBOL), 0);
	ck_assert_uint_eq(leaf_count(3, SIM_COUNT_PORT_LOCAL_PHYSICAL_ERRORS), 64);
	ck_assert(sim_link_degrade(net->sim, node, port, 12, 212500));
	ck_assert_uint_ne(sim_port_info(net->sim, node, port)->link_speed_ext_active, 0);
	run_ms(10 * SECOND);
	ck_assert_uint_eq(leaf_count(3, SIM_COUNT_PORT_FEC_CORRECTED_SYMBOL), 10240);
	ck_assert_uint_eq(leaf_count(3, SIM_COUNT_PORT_FEC_UNCORRECTABLE_BLOCK), 10);
	ck_assert_uint_eq(leaf_count(3, SIM_COUNT_PORT_LOCAL_PHYSICAL_ERRORS), 74);
	for (unsigned int i = 0; i < 12; i++)
		lanes += leaf_count(3, SIM_COUNT_FEC_CORRECTED_LANE + i);
	ck_assert_uint_eq(lanes, 10240);
	ck_assert_uint_gt(leaf_count(3, SIM_COUNT_FEC_CORRECTED_LANE + 3), 0);
	ck_assert_uint_eq(leaf_count(3, SIM_COUNT_FEC_CORRECTED_LANE + 4), 0);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sim_traffic");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_one_flow);
	tcase_add_test(tcase, test_odd_times);
	tcase_add_loop_test(tcase, test_wrong_flows, 0, G_N_ELEMENTS(wrong));
	tcase_add_test(tcase, test_hot_spot);
	tcase_add_test(tcase, test_lane_ticks);
	tcase_add_test(tcase, test_discards);
	tcase_add_test(tcase, test_lanes);
	tcase_add_test(tcase, test_no_route);
	tcase_add_test(tcase, test_no_link);
	tcase_add_test(tcase, test_mtu_and_black_hole);
	tcase_add_test(tcase, test_vl15);
	tcase_add_test(tcase, test_restart);
	tcase_add_test(tcase, test_random);
	tcase_add_test(tcase, test_no_packets);
	tcase_add_test(tcase, test_errors);
	tcase_add_test(tcase, test_bad_cable);
	tcase_add_test(tcase, test_fec);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
