// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Hosts that send data while the daemon manages the subnet: the simulator's counters agree at both
 * ends of each cable, and each switch sends or drops what it received.
 */
#include <check.h>

#include "scenario.h"
#include "tests/run_suite.h"

#define FLOWS 1000
#define HOUR 3600

static uint64_t count(const struct scenario *s, unsigned int node, unsigned int port,
		      enum sim_port_counter which)
{
	return sim_true_count(s->sim, node, port, which);
}

static void check_cable(struct scenario *s, unsigned int node, unsigned int port)
{
	static const enum sim_port_counter pairs[][2] = {
		{SIM_COUNT_PORT_XMIT_DATA, SIM_COUNT_PORT_RCV_DATA},
		{SIM_COUNT_PORT_XMIT_PKTS, SIM_COUNT_PORT_RCV_PKTS},
	};
	unsigned int peer, peer_port;

	if (!sim_peer(s->sim, node, port, &peer, &peer_port))
		return;
	for (unsigned int i = 0; i < G_N_ELEMENTS(pairs); i++)
		ck_assert_uint_eq(count(s, node, port, pairs[i][0]),
				  count(s, peer, peer_port, pairs[i][1]));
}

/* What came in less what went out or was dropped, of a switch. */
static void check_switch(struct scenario *s, unsigned int node, unsigned int ports)
{
	uint64_t in = 0, out = 0, dropped = 0;

	for (unsigned int port = 1; port <= ports; port++) {
		in += count(s, node, port, SIM_COUNT_PORT_RCV_PKTS);
		out += count(s, node, port, SIM_COUNT_PORT_XMIT_PKTS);
		dropped += count(s, node, port, SIM_COUNT_PORT_XMIT_DISCARDS) +
			   count(s, node, port, SIM_COUNT_PORT_RCV_SWITCH_RELAY_ERRORS);
	}
	ck_assert_uint_eq(in, out + dropped);
}

/* Packets that all hosts sent and received. */
static void check_all(struct scenario *s, uint64_t *sent, uint64_t *received)
{
	*sent = *received = 0;
	for (unsigned int node = 0; node < sim_nodes(s->sim); node++) {
		struct sim_node_view view;

		sim_node_view(s->sim, node, &view);
		for (unsigned int port = 1; port <= view.num_ports; port++)
			check_cable(s, node, port);
		if (view.type == IBA_NODE_SWITCH) {
			check_switch(s, node, view.num_ports);
			continue;
		}
		*sent += count(s, node, 1, SIM_COUNT_PORT_XMIT_PKTS);
		*received += count(s, node, 1, SIM_COUNT_PORT_RCV_PKTS);
	}
}

static struct scenario *start(double rate)
{
	const struct sim_flow like = {.rate = rate, .size = 2000};
	struct scenario *s = scenario_new("fattree:8", 1);

	scenario_conf(s, "sweep_interval 60\n");
	scenario_start(s);
	scenario_converge(s, 10);
	ck_assert(sim_traffic_random(s->sim, FLOWS, &like));
	return s;
}

/* In a healthy fabric every packet arrives. */
START_TEST(an_hour)
{
	struct scenario *s = start(1e8);
	uint64_t sent, received;

	scenario_run_ms(s, HOUR * 1000);
	check_all(s, &sent, &received);
	ck_assert_uint_eq(sent, received);
	/* All that was wanted, unless a link was too busy for it. */
	ck_assert_double_ge((double)sent * 2024, 0.5 * FLOWS * 1e8 * HOUR);
	ck_assert_double_le((double)sent * 2024, 1.001 * FLOWS * 1e8 * HOUR);
	scenario_free(s);
}
END_TEST

/* Cables and switches that fail and return, too much traffic, and discards. */
START_TEST(a_bad_hour)
{
	struct scenario *s = start(1e9);
	uint64_t sent, received;

	sim_traffic_discard(s->sim, 0.01);
	for (unsigned int i = 0; i < 12; i++) {
		unsigned int node, port, sw = scenario_random_switch(s);

		scenario_random_link(s, &node, &port);
		sim_link_set(s->sim, node, port, false);
		scenario_run_ms(s, 1 + scenario_random(s, HOUR * 1000 / 36));
		check_all(s, &sent, &received);
		sim_node_set(s->sim, sw, false);
		scenario_run_ms(s, 1 + scenario_random(s, HOUR * 1000 / 36));
		sim_link_set(s->sim, node, port, true);
		sim_node_set(s->sim, sw, true);
		scenario_run_ms(s, 1 + scenario_random(s, HOUR * 1000 / 36));
	}
	check_all(s, &sent, &received);
	ck_assert_uint_lt(received, sent);
	ck_assert_double_gt((double)received, 0.5 * (double)sent);
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("traffic");
	TCase *tcase = tcase_create("traffic");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, an_hour);
	tcase_add_test(tcase, a_bad_hour);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
