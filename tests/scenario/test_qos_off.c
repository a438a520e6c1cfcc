// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SL2VL tables that are in the hardware though QoS is off: they stay as they are, unless they map
 * SLs to lanes that their links no longer have.
 */
#include <check.h>
#include <string.h>

#include "client.h"
#include "iba/codes.h"
#include "lanes.h"
#include "scenario.h"
#include "sm/schedule/plan.h"
#include "tests/run_suite.h"

/* Other tables than the initial ones of ports. */
#define ON_ALL_LANES "qos TRUE\nqos_sl2vl 0,1,2,3,4,5,6,7,7,6,5,4,3,2,1,0\n"
#define ON_ONE_LANE "qos TRUE\nqos_sl2vl 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n"
#define ONE_DROPPED "qos TRUE\nqos_sl2vl 0,15,2,3,4,5,6,7\n"
#define C(field) IBA_COMPONENT(mc_member_record, field)
#define MEMBER_MAKES                                                                               \
	(C(mgid) | C(port_gid) | C(join_state) | C(q_key) | C(p_key) | C(t_class) |                \
	 C(flow_label) | C(sl))
#define SAID "QoS is off: the SL2VL tables of "

static struct scenario *s;
static struct {
	unsigned int gets, sets;
} smps;

static void count_smps(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		       const uint8_t *data, size_t length)
{
	(void)arg;
	(void)now_ns;
	(void)to;
	(void)from;
	smps.gets += scenario_is_smp(data, length, IBA_METHOD_GET, IBA_ATTR_SL_TO_VL_TABLE);
	smps.sets += scenario_is_smp(data, length, IBA_METHOD_SET, IBA_ATTR_SL_TO_VL_TABLE);
}

static void forget_smps(void)
{
	memset(&smps, 0, sizeof(smps));
	g_string_truncate(s->text, 0);
}

static void make(const char *spec)
{
	s = scenario_new(spec, 1);
	sim_set_trace(s->sim, count_smps, NULL);
	forget_smps();
}

static void setup(void)
{
	make("fattree:4");
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

static void restart(const char *conf)
{
	scenario_stop(s);
	forget_smps();
	start(conf);
}

static void reread(const char *conf)
{
	scenario_conf(s, conf);
	forget_smps();
	ck_assert(daemon_reread(s->daemon, NULL));
	scenario_heavy_sweep(s, 10);
	scenario_converge(s, 10);
}

static void check_row(unsigned int node, unsigned int port, unsigned int in)
{
	const uint8_t *row = sim_sl_to_vl(s->sim, node, port, in);
	unsigned int lanes = iba_vls_count(sim_port_info(s->sim, node, port)->operational_vls);

	for (unsigned int sl = 0; row && sl < 16; sl++) {
		unsigned int vl = row[sl / 2] >> (sl % 2 ? 0 : 4) & 0xF;

		ck_assert_msg(vl < lanes, "node %u port %u input %u: SL %u on VL %u of %u", node,
			      port, in, sl, vl, lanes);
	}
}

/* No port with a link maps an SL to a lane that the link does not have. */
static void check_rows(void)
{
	for (unsigned int node = 0; node < sim_nodes(s->sim); node++) {
		struct sim_node_view view;
		unsigned int inputs;

		sim_node_view(s->sim, node, &view);
		inputs = view.type == IBA_NODE_SWITCH ? view.num_ports : 0;
		for (unsigned int port = 1; port <= view.num_ports; port++)
			for (unsigned int in = 0; in <= inputs; in++)
				if (sim_link_up(s->sim, node, port) &&
				    (!in || sim_link_up(s->sim, node, in)))
					check_row(node, port, in);
	}
}

/* Everything is as it should be, which was logged once, and stays so. */
static void check_reset(void)
{
	g_autofree char *wrong = scenario_lanes_violation(s);

	ck_assert_msg(!wrong, "%s", wrong);
	check_rows();
	scenario_check_log(s, SAID, true);
	forget_smps();
	scenario_heavy_sweep(s, 10);
	ck_assert_uint_eq(smps.gets + smps.sets, 0);
	scenario_check_log(s, SAID, false);
}

static const char *const fewer[] = {
	"max_op_vls 1\nsm_sl 1\n",
	"max_op_vls 2\nsm_sl 3\n",
	("max_op_vls 1\nsm_sl 1\nuse_optimized_slvl TRUE\n"
	 "qos_sl2vl 15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15\n"),
};

/* In one step, or only when it has been off for a while. */
START_TEST(turned_off_with_fewer_lanes)
{
	start(ON_ALL_LANES);
	if (_i % 2) {
		reread("qos FALSE\n");
		ck_assert_uint_eq(smps.gets + smps.sets, 0);
	}
	reread(fewer[_i / 2]);
	check_reset();
}
END_TEST

/* Of the previous SM only the state of the ports is known. */
START_TEST(restarted_with_fewer_lanes)
{
	start(ON_ALL_LANES);
	if (_i % 2) {
		restart("qos FALSE\n");
		ck_assert_uint_eq(smps.gets + smps.sets, 0);
		reread(fewer[_i / 2]);
	} else {
		restart(fewer[_i / 2]);
	}
	check_reset();
}
END_TEST

/* Lanes of an engine, and another one that needs none. */
START_TEST(lanes_of_an_engine)
{
	teardown();
	make("torus:5x4:1");
	start("routing_engine hoplanes\n");
	if (_i)
		restart("routing_engine updn\nmax_op_vls 1\nsm_sl 1\n");
	else
		reread("routing_engine updn\nmax_op_vls 1\nsm_sl 1\n");
	check_rows();
	forget_smps();
	scenario_heavy_sweep(s, 10);
	ck_assert_uint_eq(smps.gets + smps.sets, 0);
}
END_TEST

/* QoS dropped packets of an SL: the SA no longer knows of that, and offers the SL again. */
START_TEST(turned_off_with_a_dropped_sl)
{
	start(ONE_DROPPED);
	reread("sm_sl 0\n");
	ck_assert_uint_eq(smps.gets + smps.sets, 0);
	scenario_check_log(s, SAID, false);
	reread("sm_sl 1\n");
	check_reset();
}
END_TEST

/* As above through a group that a host makes. */
START_TEST(group_on_a_dropped_sl)
{
	struct client *client;
	struct iba_mc_member_record record = {
		.mgid = {UINT64_C(0xFF12A01BFE800000), 0x42},
		.q_key = 1,
		.p_key = 0xFFFF,
		.join_state = IBA_JOIN_FULL_MEMBER,
		.sl = 1,
	};

	start(ONE_DROPPED);
	reread("qos FALSE\n");
	client = client_new(s, scenario_node(s, "host-9"));
	record.port_gid = client_gid(client);
	ck_assert_int_eq(client_ask(client, IBA_METHOD_SET, IBA_ATTR_MC_MEMBER_RECORD,
				    MEMBER_MAKES, &iba_mc_member_record_type, &record),
			 0);
	scenario_converge(s, 10);
	scenario_heavy_sweep(s, 10);
	client_free(client);
	check_reset();
}
END_TEST

/* Tables that mislead no packet stay. */
START_TEST(lanes_that_are_left)
{
	start(ON_ONE_LANE);
	if (_i)
		restart("max_op_vls 1\n");
	else
		reread("max_op_vls 1\n");
	ck_assert_uint_eq(smps.sets, 0);
	scenario_check_log(s, SAID, false);
}
END_TEST

/* A fabric with its initial tables costs no SMPs for them, nor does a cable or a restart. */
START_TEST(cold)
{
	unsigned int node, port;

	start("max_op_vls 1\n");
	scenario_random_link(s, &node, &port);
	sim_link_set(s->sim, node, port, false);
	scenario_converge(s, 10);
	sim_link_set(s->sim, node, port, true);
	scenario_converge(s, 10);
	scenario_heavy_sweep(s, 10);
	ck_assert_uint_eq(smps.gets + smps.sets, 0);
	restart("max_op_vls 1\n");
	ck_assert_uint_eq(smps.gets + smps.sets, 0);
}
END_TEST

/* Nor does a switch that is reset after QoS was turned off. */
START_TEST(reset_since)
{
	unsigned int node = scenario_node(s, "core-0-0");

	start(ON_ALL_LANES);
	reread("qos FALSE\n");
	sim_node_set(s->sim, node, false);
	scenario_run_ms(s, 50);
	sim_node_set(s->sim, node, true);
	scenario_converge(s, 10);
	ck_assert_uint_eq(smps.gets + smps.sets, 0);
}
END_TEST

static const char *const names[] = {"leaf-1-0", "core-0-0", "host-9"};

/* Cut off meanwhile: the node kept its tables. */
START_TEST(away_when_lanes_go)
{
	unsigned int away = scenario_node(s, names[_i / 2]);

	start(ON_ALL_LANES);
	scenario_set_links(s, away, false);
	scenario_converge(s, 10);
	if (_i % 2)
		restart(fewer[0]);
	else
		reread(fewer[0]);
	scenario_set_links(s, away, true);
	scenario_converge(s, 10);
	check_rows();
}
END_TEST

/* Links were down only while there was no SM. */
START_TEST(bounced_without_an_sm)
{
	unsigned int node = scenario_node(s, names[_i]);

	start(ON_ALL_LANES);
	scenario_stop(s);
	scenario_set_links(s, node, false);
	scenario_run_ms(s, 1000);
	scenario_set_links(s, node, true);
	start(fewer[0]);
	check_reset();
}
END_TEST

/* SMPs are lost; what was begun is finished, whatever lanes ports report by then. */
START_TEST(with_loss)
{
	start(ON_ALL_LANES);
	sim_set_loss(s->sim, 0.1);
	scenario_conf(s, fewer[0]);
	if (_i) {
		ck_assert(daemon_reread(s->daemon, NULL));
		event_emit(&daemon_context(s->daemon)->bus, EVENT_SWEEP_WANTED, SWEEP_HEAVY);
		scenario_run_ms(s, 100);
	} else {
		scenario_stop(s);
		scenario_start(s);
	}
	scenario_converge(s, 120);
	sim_set_loss(s->sim, 0);
	scenario_run_ms(s, 15000);
	check_rows();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("qos_off");
	TCase *tcase = tcase_create("qos_off");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, turned_off_with_fewer_lanes, 0, 2 * G_N_ELEMENTS(fewer));
	tcase_add_loop_test(tcase, restarted_with_fewer_lanes, 0, 2 * G_N_ELEMENTS(fewer));
	tcase_add_loop_test(tcase, lanes_of_an_engine, 0, 2);
	tcase_add_test(tcase, turned_off_with_a_dropped_sl);
	tcase_add_test(tcase, group_on_a_dropped_sl);
	tcase_add_loop_test(tcase, lanes_that_are_left, 0, 2);
	tcase_add_test(tcase, cold);
	tcase_add_test(tcase, reset_since);
	tcase_add_loop_test(tcase, away_when_lanes_go, 0, 2 * G_N_ELEMENTS(names));
	tcase_add_loop_test(tcase, bounced_without_an_sm, 0, G_N_ELEMENTS(names));
	tcase_add_loop_test(tcase, with_loss, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
