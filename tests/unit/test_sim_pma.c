// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The performance management agent of simulated nodes, and what their ports count. */
#include <check.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/sim_net.h"

#define GET IBA_METHOD_GET
#define SET IBA_METHOD_SET
#define MAD_WORDS 72 /* a MAD with its headers, without GRH */

static struct net *net;
static unsigned int sw, other; /* the client's leaf, a host at its port 2 */

static void setup(void)
{
	net = net_new("fattree:4", NULL);
	sw = sim_find_name(net->sim, "leaf-0-0");
	other = sim_find_name(net->sim, "host-1");
	ck_assert(vendor_bind(net->vendor, IBA_CLASS_PERF, false, &net->client, NULL));
	net_bring_up(net);
	net_run_ms(net, 100000); /* traps are over */
}

static void teardown(void)
{
	net_free(net);
}

static int ask(unsigned int node, uint8_t method, uint16_t attribute, const struct wire_type *type,
	       void *host)
{
	uint8_t mad[256];
	int status;

	net_smp(net, mad, IBA_CLASS_PERF, method, attribute, 0);
	memset(mad + 24, 0, 232);
	wire_encode(type, host, mad + IBA_PM_DATA_OFFSET);
	status = net_gmp_ask(net, net_lid(node), mad);
	if (status >= 0)
		wire_decode(type, mad + IBA_PM_DATA_OFFSET, host);
	return status;
}

static struct iba_port_counters counters_of(unsigned int node, uint8_t port)
{
	struct iba_port_counters counters = {.port_select = port};

	ck_assert_int_eq(ask(node, GET, IBA_ATTR_PORT_COUNTERS, &iba_port_counters_type, &counters),
			 0);
	ck_assert_uint_eq(counters.port_select, port);
	return counters;
}

static struct iba_port_counters_extended extended_of(unsigned int node, uint8_t port)
{
	struct iba_port_counters_extended counters = {.port_select = port};

	ck_assert_int_eq(ask(node, GET, IBA_ATTR_PORT_COUNTERS_EXTENDED,
			     &iba_port_counters_extended_type, &counters),
			 0);
	return counters;
}

START_TEST(test_class_port_info)
{
	struct iba_class_port_info info = {0};

	ck_assert_int_eq(ask(sw, GET, IBA_ATTR_CLASS_PORT_INFO, &iba_class_port_info_type, &info),
			 0);
	ck_assert_uint_eq(info.class_version, 1);
	ck_assert_uint_ne(info.capability_mask & IBA_PM_CAP_ALL_PORT_SELECT, 0);
	ck_assert_uint_ne(info.capability_mask & IBA_PM_CAP_EXTENDED_WIDTH, 0);
	ck_assert_uint_ne(info.capability_mask & IBA_PM_CAP_XMIT_WAIT, 0);
	ck_assert_int_eq(
		ask(other, GET, IBA_ATTR_CLASS_PORT_INFO, &iba_class_port_info_type, &info), 0);
	ck_assert_uint_eq(info.capability_mask & IBA_PM_CAP_ALL_PORT_SELECT, 0);
	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_CLASS_PORT_INFO, &iba_class_port_info_type, &info),
			 IBA_STATUS_UNSUP_METHOD_ATTR);
}
END_TEST

static const struct {
	bool of_switch;
	uint8_t port;
	uint16_t attribute;
	int status;
} statuses[] = {
	{true, 1, IBA_ATTR_PORT_COUNTERS, 0},
	{true, 4, IBA_ATTR_PORT_COUNTERS, 0},
	{true, 0xFF, IBA_ATTR_PORT_COUNTERS, 0},
	{true, 0, IBA_ATTR_PORT_COUNTERS, IBA_STATUS_INVALID_FIELD},
	{true, 5, IBA_ATTR_PORT_COUNTERS, IBA_STATUS_INVALID_FIELD},
	{false, 1, IBA_ATTR_PORT_COUNTERS, 0},
	{false, 2, IBA_ATTR_PORT_COUNTERS, IBA_STATUS_INVALID_FIELD},
	{false, 0xFF, IBA_ATTR_PORT_COUNTERS, IBA_STATUS_INVALID_FIELD},
	{true, 1, IBA_ATTR_PORT_COUNTERS_EXTENDED, 0},
	{true, 1, IBA_ATTR_PORT_RCV_ERROR_DETAILS, 0},
	{true, 1, IBA_ATTR_PORT_XMIT_DISCARD_DETAILS, 0},
	{true, 1, IBA_ATTR_PORT_EXTENDED_SPEEDS_COUNTERS, 0},
	{false, 1, IBA_ATTR_PORT_EXTENDED_SPEEDS_COUNTERS, 0},
	{true, 1, IBA_ATTR_PORT_OP_RCV_COUNTERS, IBA_STATUS_UNSUP_METHOD_ATTR},
	{true, 1, 0x7777, IBA_STATUS_UNSUP_METHOD_ATTR},
};

START_TEST(test_status)
{
	uint8_t mad[256];

	net_smp(net, mad, IBA_CLASS_PERF, GET, statuses[_i].attribute, 0);
	mad[IBA_PM_DATA_OFFSET + 1] = statuses[_i].port;
	ck_assert_int_eq(net_gmp_ask(net, net_lid(statuses[_i].of_switch ? sw : other), mad),
			 statuses[_i].status);
	net_smp(net, mad, IBA_CLASS_PERF, GET, statuses[_i].attribute, 0);
	mad[2] = 7;
	ck_assert_int_eq(net_gmp_ask(net, net_lid(sw), mad), IBA_STATUS_UNSUP_VERSION);
}
END_TEST

/* A request in through port 1, its answer out: and no SMP counts. */
START_TEST(test_traffic)
{
	struct iba_port_counters counters;
	struct iba_port_counters_extended extended;

	ck_assert_uint_eq(sim_port_counter(net->sim, sw, 1, SIM_COUNT_PORT_RCV_PKTS), 0);
	counters = counters_of(sw, 1);
	ck_assert_uint_eq(counters.port_rcv_pkts, 1);
	ck_assert_uint_eq(counters.port_rcv_data, MAD_WORDS);
	ck_assert_uint_eq(counters.port_xmit_pkts, 0);
	counters = counters_of(other, 1);
	ck_assert_uint_eq(counters.port_rcv_pkts, 1);
	counters = counters_of(sw, 2);
	ck_assert_uint_eq(counters.port_rcv_pkts, 1);
	ck_assert_uint_eq(counters.port_xmit_pkts, 1);
	ck_assert_uint_eq(counters.port_xmit_data, MAD_WORDS);
	extended = extended_of(sw, 2);
	ck_assert_uint_eq(extended.port_rcv_data, MAD_WORDS);
	ck_assert_uint_eq(extended.port_unicast_rcv_pkts, 1);
	ck_assert_uint_eq(extended.port_multicast_rcv_pkts, 0);
	extended = extended_of(sw, 1);
	ck_assert_uint_eq(extended.port_rcv_pkts, 5);
	ck_assert_uint_eq(extended.port_xmit_pkts, 4);
}
END_TEST

/* Both attributes are cleared separately, and only the selected fields. */
START_TEST(test_clear)
{
	struct iba_port_counters counters = {.port_select = 2, .counter_select = 1 << 12 | 1};
	struct iba_port_counters_extended extended = {.port_select = 2, .counter_select = 1};

	sim_port_count(net->sim, sw, 2, SIM_COUNT_PORT_XMIT_DATA, 1000);
	sim_port_count(net->sim, sw, 2, SIM_COUNT_PORT_RCV_DATA, 2000);
	sim_port_count(net->sim, sw, 2, SIM_COUNT_SYMBOL_ERROR, 7);
	sim_port_count(net->sim, sw, 2, SIM_COUNT_PORT_XMIT_WAIT, 9);
	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_PORT_COUNTERS, &iba_port_counters_type, &counters),
			 0);
	counters = counters_of(sw, 2);
	ck_assert_uint_eq(counters.port_xmit_data, 0);
	ck_assert_uint_eq(counters.port_rcv_data, 2000);
	ck_assert_uint_eq(counters.symbol_error_counter, 0);
	ck_assert_uint_eq(counters.port_xmit_wait, 9);
	ck_assert_uint_eq(extended_of(sw, 2).port_xmit_data, 1000);
	ck_assert_uint_eq(extended_of(sw, 2).symbol_error_counter, 7);
	sim_port_count(net->sim, sw, 2, SIM_COUNT_PORT_XMIT_DATA, 50);
	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_PORT_COUNTERS_EXTENDED,
			     &iba_port_counters_extended_type, &extended),
			 0);
	ck_assert_uint_eq(extended_of(sw, 2).port_xmit_data, 0);
	ck_assert_uint_eq(extended_of(sw, 2).port_rcv_data, 2000);
	ck_assert_uint_eq(counters_of(sw, 2).port_xmit_data, 50);
	counters = (struct iba_port_counters){.port_select = 2, .counter_select2 = 1};
	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_PORT_COUNTERS, &iba_port_counters_type, &counters),
			 0);
	ck_assert_uint_eq(counters_of(sw, 2).port_xmit_wait, 0);
	counters = (struct iba_port_counters){
		.port_select = 2, .counter_select = 4, .link_downed_counter = 44};
	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_PORT_COUNTERS, &iba_port_counters_type, &counters),
			 0);
	ck_assert_uint_eq(counters_of(sw, 2).link_downed_counter, 44);
}
END_TEST

START_TEST(test_saturate)
{
	struct iba_port_counters counters;

	for (unsigned int i = 0; i < SIM_PORT_COUNTERS; i++)
		ck_assert(sim_port_count(net->sim, sw, 3, i, UINT64_MAX - 3));
	sim_port_count(net->sim, sw, 3, SIM_COUNT_VL15_DROPPED, 1000);
	counters = counters_of(sw, 3);
	ck_assert_uint_eq(counters.symbol_error_counter, 0xFFFF);
	ck_assert_uint_eq(counters.link_downed_counter, 0xFF);
	ck_assert_uint_eq(counters.local_link_integrity_errors, 0xF);
	ck_assert_uint_eq(counters.excessive_buffer_overrun_errors, 0xF);
	ck_assert_uint_eq(counters.vl15_dropped, 0xFFFF);
	ck_assert_uint_eq(counters.qp1_dropped, 0xFFFF);
	ck_assert_uint_eq(counters.port_xmit_data, UINT32_MAX);
	ck_assert_uint_eq(counters.port_xmit_wait, UINT32_MAX);
	ck_assert_uint_eq(extended_of(sw, 3).vl15_dropped, UINT64_MAX);
	ck_assert(!sim_port_count(net->sim, sw, 0, SIM_COUNT_VL15_DROPPED, 1));
	ck_assert(!sim_port_count(net->sim, sw, 5, SIM_COUNT_VL15_DROPPED, 1));
	ck_assert(!sim_port_count(net->sim, sw, 1, SIM_PORT_COUNTERS, 1));
}
END_TEST

START_TEST(test_all_ports)
{
	struct iba_port_counters counters = {.port_select = 0xFF, .counter_select = 0xFFFF};

	sim_port_count(net->sim, sw, 1, SIM_COUNT_SYMBOL_ERROR, 3);
	sim_port_count(net->sim, sw, 4, SIM_COUNT_SYMBOL_ERROR, 4);
	ck_assert_uint_eq(counters_of(sw, 0xFF).symbol_error_counter, 7);
	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_PORT_COUNTERS, &iba_port_counters_type, &counters),
			 0);
	for (unsigned int port = 1; port <= 4; port++)
		ck_assert_uint_eq(counters_of(sw, port).symbol_error_counter, 0);
}
END_TEST

START_TEST(test_details)
{
	struct iba_port_rcv_error_details rcv = {.port_select = 1};
	struct iba_port_xmit_discard_details xmit = {.port_select = 1};
	struct iba_port_extended_speeds_counters speeds = {.port_select = 1};

	sim_port_count(net->sim, sw, 1, SIM_COUNT_PORT_BUFFER_OVERRUN_ERRORS, 70000);
	sim_port_count(net->sim, sw, 1, SIM_COUNT_PORT_NEIGHBOR_MTU_DISCARDS, 8);
	sim_port_count(net->sim, sw, 1, SIM_COUNT_PORT_FEC_CORRECTABLE_BLOCK, 9);
	ck_assert_int_eq(ask(sw, GET, IBA_ATTR_PORT_RCV_ERROR_DETAILS,
			     &iba_port_rcv_error_details_type, &rcv),
			 0);
	ck_assert_uint_eq(rcv.port_buffer_overrun_errors, 0xFFFF);
	ck_assert_int_eq(ask(sw, GET, IBA_ATTR_PORT_XMIT_DISCARD_DETAILS,
			     &iba_port_xmit_discard_details_type, &xmit),
			 0);
	ck_assert_uint_eq(xmit.port_neighbor_mtu_discards, 8);
	ck_assert_int_eq(ask(sw, GET, IBA_ATTR_PORT_EXTENDED_SPEEDS_COUNTERS,
			     &iba_port_extended_speeds_counters_type, &speeds),
			 0);
	ck_assert_uint_eq(speeds.port_fec_correctable_block_ctr, 9);
	speeds.counter_select = UINT64_C(1) << 38;
	speeds.port_fec_correctable_block_ctr = 0;
	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_PORT_EXTENDED_SPEEDS_COUNTERS,
			     &iba_port_extended_speeds_counters_type, &speeds),
			 0);
	ck_assert_uint_eq(speeds.port_fec_correctable_block_ctr, 0);
}
END_TEST

static uint64_t count(unsigned int port, enum sim_port_counter which)
{
	return sim_port_counter(net->sim, sw, port, which);
}

static void set_route(uint16_t lid, uint8_t port)
{
	uint8_t data[64] = {0};

	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_LINEAR_FORWARDING_TABLE, 0, data),
			 0);
	data[lid] = port;
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_LINEAR_FORWARDING_TABLE, 0, data),
			 0);
}

static void ask_in_vain(void)
{
	struct iba_port_counters counters = {.port_select = 1};

	ck_assert_int_eq(
		ask(other, GET, IBA_ATTR_PORT_COUNTERS, &iba_port_counters_type, &counters), -1);
}

/* Errors count where they occur. */
START_TEST(test_errors)
{
	sim_link_set(net->sim, sw, 2, false);
	ck_assert_uint_eq(count(2, SIM_COUNT_LINK_DOWNED), 1);
	ck_assert_uint_eq(sim_port_counter(net->sim, other, 1, SIM_COUNT_LINK_DOWNED), 1);
	ask_in_vain();
	ck_assert_uint_eq(count(2, SIM_COUNT_PORT_XMIT_DISCARDS), 1);
	ck_assert_uint_eq(count(2, SIM_COUNT_PORT_INACTIVE_DISCARDS), 1);
	set_route(net_lid(other), 0xFF);
	ask_in_vain();
	ck_assert_uint_eq(count(1, SIM_COUNT_PORT_RCV_SWITCH_RELAY_ERRORS), 1);
	ck_assert_uint_eq(count(1, SIM_COUNT_PORT_DLID_MAPPING_ERRORS), 1);
	set_route(net_lid(other), 1);
	ask_in_vain();
	ck_assert_uint_eq(count(1, SIM_COUNT_PORT_RCV_SWITCH_RELAY_ERRORS), 2);
	ck_assert_uint_eq(count(1, SIM_COUNT_PORT_LOOPING_ERRORS), 1);
	sim_node_mute(net->sim, sw, true);
	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_NODE_INFO, 0, NULL), -1);
	ck_assert_uint_eq(count(1, SIM_COUNT_VL15_DROPPED), 1);
	sim_node_mute(net->sim, sw, false);
	ck_assert_uint_eq(count(3, SIM_COUNT_SYMBOL_ERROR), 0);
	ck_assert(sim_link_degrade(net->sim, sw, 3, 1, 25781));
	ck_assert_uint_gt(count(3, SIM_COUNT_SYMBOL_ERROR), 0);
	ck_assert(sim_link_flap(net->sim, sw, 4, 1000, 1000, 5));
	net_run_ms(net, 1);
	ck_assert_uint_eq(count(4, SIM_COUNT_LINK_DOWNED), 5);
	ck_assert_uint_eq(count(4, SIM_COUNT_LINK_ERROR_RECOVERY), 5);
	sim_node_set(net->sim, sw, false); /* and all counts are lost */
	ck_assert_uint_eq(count(4, SIM_COUNT_LINK_DOWNED), 0);
}
END_TEST

START_TEST(test_constraints)
{
	struct iba_port_info info;

	net_port_get(net, sw, 2, &info);
	info.port_state = info.port_physical_state = 0;
	info.partition_enforcement_outbound = 1; /* its table is empty */
	ck_assert_int_eq(net_port_set(net, sw, 2, &info), 0);
	ask_in_vain();
	ck_assert_uint_eq(count(2, SIM_COUNT_PORT_XMIT_CONSTRAINT_ERRORS), 1);
	ck_assert_uint_eq(count(2, SIM_COUNT_PORT_XMIT_PKTS), 0);
	info.port_state = info.port_physical_state = 0;
	info.partition_enforcement_outbound = 0;
	info.partition_enforcement_inbound = 1;
	ck_assert_int_eq(net_port_set(net, sw, 2, &info), 0);
	ask_in_vain();
	ck_assert_uint_eq(count(2, SIM_COUNT_PORT_XMIT_PKTS), 1);
	ck_assert_uint_eq(count(2, SIM_COUNT_PORT_RCV_CONSTRAINT_ERRORS), 1);
}
END_TEST

#define TICKS(us) ((us) * 1000 / 32) /* Tick 7: 8 symbols of 4 ns */

START_TEST(test_samples)
{
	struct iba_port_samples_control control = {
		.port_select = 3,
		.sample_start = TICKS(1000),
		.sample_interval = TICKS(10000),
		.tag = 0x1234,
		.counter_select = {1, 4, 0, 99},
	};
	struct iba_port_samples_result result = {0};

	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_PORT_SAMPLES_CONTROL, &iba_port_samples_control_type,
			     &control),
			 0);
	ck_assert_uint_eq(control.sample_status, 1);
	sim_port_count(net->sim, sw, 3, SIM_COUNT_PORT_XMIT_DATA, 100);
	net_run_ms(net, 2);
	control.tag = 0x9999; /* too early */
	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_PORT_SAMPLES_CONTROL, &iba_port_samples_control_type,
			     &control),
			 0);
	ck_assert_uint_eq(control.sample_status, 2);
	ck_assert_uint_eq(control.tag, 0x1234);
	sim_port_count(net->sim, sw, 3, SIM_COUNT_PORT_XMIT_DATA, 20);
	sim_port_count(net->sim, sw, 3, SIM_COUNT_PORT_RCV_PKTS, 3);
	net_run_ms(net, 20);
	sim_port_count(net->sim, sw, 3, SIM_COUNT_PORT_XMIT_DATA, 100);
	ck_assert_int_eq(
		ask(sw, GET, IBA_ATTR_PORT_SAMPLES_RESULT, &iba_port_samples_result_type, &result),
		0);
	ck_assert_uint_eq(result.sample_status, 0);
	ck_assert_uint_eq(result.tag, 0x1234);
	ck_assert_uint_eq(result.counter[0], 20);
	ck_assert_uint_eq(result.counter[1], 3);
	ck_assert_uint_eq(result.counter[3], 0);
	control.port_select = 9;
	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_PORT_SAMPLES_CONTROL, &iba_port_samples_control_type,
			     &control),
			 IBA_STATUS_INVALID_FIELD);
}
END_TEST

/* A client that is manager of the class gets the requests instead. */
START_TEST(test_manager)
{
	struct vendor *vendor = sim_open(net->sim, sim_port_guid(net->sim, other, 1), NULL);
	struct vendor_mad *mad;
	uint8_t request[256];
	const struct vendor_address to = {
		.lid = net_lid(other), .qpn = IBA_QP1, .qkey = IBA_QP1_Q_KEY};

	ck_assert(vendor_bind(vendor, IBA_CLASS_PERF, true, &net->client, NULL));
	net_smp(net, request, IBA_CLASS_PERF, GET, IBA_ATTR_PORT_COUNTERS, 0);
	ck_assert(vendor_send(net->vendor, &to, request, 256, 0));
	mad = net_take(net, 10);
	ck_assert_ptr_nonnull(mad);
	ck_assert_uint_eq(mad->data[3], GET);
	vendor_mad_free(mad);
	vendor_close(vendor);
	counters_of(other, 1);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sim_pma");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_class_port_info);
	tcase_add_loop_test(tcase, test_status, 0, G_N_ELEMENTS(statuses));
	tcase_add_test(tcase, test_traffic);
	tcase_add_test(tcase, test_clear);
	tcase_add_test(tcase, test_saturate);
	tcase_add_test(tcase, test_all_ports);
	tcase_add_test(tcase, test_details);
	tcase_add_test(tcase, test_errors);
	tcase_add_test(tcase, test_constraints);
	tcase_add_test(tcase, test_samples);
	tcase_add_test(tcase, test_manager);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
