// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Performance management agents that can do less, or more, or that misbehave. */
#include <check.h>
#include <string.h>

#include "complib/random.h"
#include "tests/run_suite.h"
#include "tests/unit/sim_net.h"

#define GET IBA_METHOD_GET
#define SET IBA_METHOD_SET
#define OP_MAD 0x64  /* UD SEND Only */
#define OP_NONE 0x17 /* of no packet that the simulator has */

static struct net *net;
static unsigned int sw, other, third; /* the client's leaf, hosts at other ports */

static void setup(void)
{
	net = net_new("fattree:4", NULL);
	sw = sim_find_name(net->sim, "leaf-0-0");
	other = sim_find_name(net->sim, "host-1");
	third = sim_find_name(net->sim, "host-2");
	ck_assert(vendor_bind(net->vendor, IBA_CLASS_PERF, false, &net->client, NULL));
	net_bring_up(net);
	net_run_ms(net, 100000); /* traps are over */
}

static void teardown(void)
{
	net_free(net);
}

/* An answer's status, or -1; *id is its attribute. */
static int ask_at(const struct vendor_address *to, uint8_t method, uint16_t *id,
		  const struct wire_type *type, void *host)
{
	struct vendor_mad *answer;
	uint8_t mad[256];
	int status = -1;

	net_smp(net, mad, IBA_CLASS_PERF, method, *id, 0);
	memset(mad + 24, 0, 232);
	wire_encode(type, host, mad + IBA_PM_DATA_OFFSET);
	answer = net_ask_at(net, to, mad);
	if (answer->status == VENDOR_RECEIVED) {
		status = answer->data[4] << 8 | answer->data[5];
		*id = answer->data[16] << 8 | answer->data[17];
		wire_decode(*id == IBA_ATTR_CLASS_PORT_INFO ? &iba_class_port_info_type : type,
			    answer->data + IBA_PM_DATA_OFFSET, host);
	}
	vendor_mad_free(answer);
	return status;
}

static int ask(unsigned int node, uint8_t method, uint16_t id, const struct wire_type *type,
	       void *host)
{
	const struct vendor_address to = {
		.lid = net_lid(node), .qpn = IBA_QP1, .qkey = IBA_QP1_Q_KEY};

	return ask_at(&to, method, &id, type, host);
}

static struct iba_class_port_info class_port_info(unsigned int node)
{
	struct iba_class_port_info info = {0};

	ck_assert_int_eq(ask(node, GET, IBA_ATTR_CLASS_PORT_INFO, &iba_class_port_info_type, &info),
			 0);
	return info;
}

static int get_narrow(unsigned int node, uint8_t port, struct iba_port_counters *counters)
{
	*counters = (struct iba_port_counters){.port_select = port};
	return ask(node, GET, IBA_ATTR_PORT_COUNTERS, &iba_port_counters_type, counters);
}

static int get_wide(unsigned int node, uint8_t port, struct iba_port_counters_extended *counters)
{
	*counters = (struct iba_port_counters_extended){.port_select = port};
	return ask(node, GET, IBA_ATTR_PORT_COUNTERS_EXTENDED, &iba_port_counters_extended_type,
		   counters);
}

static void without(uint32_t abilities)
{
	sim_pma_set(net->sim, sw, sim_pma_default(IBA_NODE_SWITCH) & ~abilities);
}

static void with(uint32_t abilities)
{
	sim_pma_set(net->sim, sw, sim_pma_default(IBA_NODE_SWITCH) | abilities);
}

/* ---- abilities ---- */

static const struct {
	uint32_t without;
	uint16_t mask;
	uint32_t mask2;
} masks[] = {
	{0, 0xD300, 2},
	{SIM_PMA_ALL_PORTS, 0xD200, 2},
	{SIM_PMA_EXTENDED, 0xD100, 0},
	{SIM_PMA_IETF, 0xD500, 2},
	{SIM_PMA_ADDITIONAL, 0xD300, 0},
	{SIM_PMA_XMIT_WAIT, 0xC300, 2},
	{SIM_PMA_QP1_DROPPED, 0x5300, 2},
	{SIM_PMA_RS_FEC, 0x9300, 2},
	{SIM_PMA_EXTENDED | SIM_PMA_IETF, 0xD100, 0},
};

START_TEST(test_masks)
{
	without(masks[_i].without);
	ck_assert_uint_eq(class_port_info(sw).capability_mask, masks[_i].mask);
	ck_assert_uint_eq(class_port_info(sw).capability_mask2, masks[_i].mask2);
}
END_TEST

START_TEST(test_abilities)
{
	struct iba_port_counters narrow;
	struct iba_port_counters_extended wide;

	for (unsigned int i = 0; i < SIM_COUNT_PORT_LOCAL_PHYSICAL_ERRORS; i++)
		sim_port_count(net->sim, sw, 3, i, 5);
	without(SIM_PMA_ALL_PORTS);
	ck_assert_int_eq(get_narrow(sw, 0xFF, &narrow), IBA_STATUS_INVALID_FIELD);
	sim_pma_set_type(net->sim, IBA_NODE_CA, sim_pma_default(IBA_NODE_CA) | SIM_PMA_ALL_PORTS);
	ck_assert_int_eq(get_narrow(other, 0xFF, &narrow), 0);
	without(SIM_PMA_EXTENDED);
	ck_assert_int_eq(get_wide(sw, 3, &wide), IBA_STATUS_UNSUP_METHOD_ATTR);
	ck_assert_int_eq(get_narrow(sw, 3, &narrow), 0);
	ck_assert_uint_eq(narrow.port_xmit_data, 5);
	without(SIM_PMA_IETF);
	ck_assert_int_eq(get_wide(sw, 3, &wide), 0);
	ck_assert_uint_eq(wide.port_unicast_xmit_pkts, 0);
	ck_assert_uint_eq(wide.port_multicast_rcv_pkts, 0);
	ck_assert_uint_eq(wide.port_xmit_pkts, 5);
	ck_assert_uint_eq(wide.symbol_error_counter, 5);
	without(SIM_PMA_ADDITIONAL);
	ck_assert_int_eq(get_wide(sw, 3, &wide), 0);
	ck_assert_uint_eq(wide.symbol_error_counter, 0);
	ck_assert_uint_eq(wide.port_xmit_wait, 0);
	ck_assert_uint_eq(wide.port_unicast_xmit_pkts, 5);
	without(SIM_PMA_XMIT_WAIT | SIM_PMA_QP1_DROPPED);
	ck_assert_int_eq(get_wide(sw, 3, &wide), 0);
	ck_assert_uint_eq(wide.port_xmit_wait, 0);
	ck_assert_uint_eq(wide.qp1_dropped, 0);
	ck_assert_int_eq(get_narrow(sw, 3, &narrow), 0);
	ck_assert_uint_eq(narrow.port_xmit_wait, 0);
	ck_assert_uint_eq(narrow.qp1_dropped, 0);
	ck_assert_uint_eq(narrow.vl15_dropped, 5);
}
END_TEST

/* What the agent does not have cannot be set either. */
START_TEST(test_set_of_nothing)
{
	struct iba_port_counters narrow = {.port_select = 3, .counter_select2 = 3};

	without(SIM_PMA_XMIT_WAIT);
	sim_port_count(net->sim, sw, 3, SIM_COUNT_PORT_XMIT_WAIT, 5);
	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_PORT_COUNTERS, &iba_port_counters_type, &narrow), 0);
	without(0);
	ck_assert_int_eq(get_narrow(sw, 3, &narrow), 0);
	ck_assert_uint_eq(narrow.port_xmit_wait, 5);
}
END_TEST

START_TEST(test_one_register)
{
	struct iba_port_counters narrow = {.port_select = 3, .counter_select = 0x1001};
	struct iba_port_counters_extended wide;

	with(SIM_PMA_ONE_REGISTER);
	sim_port_count(net->sim, sw, 3, SIM_COUNT_PORT_XMIT_DATA, UINT64_C(1) << 33);
	sim_port_count(net->sim, sw, 3, SIM_COUNT_PORT_RCV_DATA, 7);
	sim_port_count(net->sim, sw, 3, SIM_COUNT_SYMBOL_ERROR, 7);
	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_PORT_COUNTERS, &iba_port_counters_type, &narrow), 0);
	ck_assert_uint_eq(narrow.port_xmit_data, 0);
	ck_assert_int_eq(get_wide(sw, 3, &wide), 0);
	ck_assert_uint_eq(wide.port_xmit_data, 0);
	ck_assert_uint_eq(wide.port_rcv_data, 7);
	ck_assert_uint_eq(wide.symbol_error_counter, 7); /* only data counters are shared */
	ck_assert_uint_eq(sim_true_count(net->sim, sw, 3, SIM_COUNT_PORT_XMIT_DATA), UINT64_C(1)
											     << 33);
}
END_TEST

START_TEST(test_port0)
{
	struct iba_port_counters counters;
	uint8_t data[64];
	struct iba_switch_info info;

	ck_assert_int_eq(get_narrow(sw, 0, &counters), IBA_STATUS_INVALID_FIELD);
	with(SIM_PMA_PORT0);
	ck_assert_int_eq(get_narrow(sw, 0, &counters), 0);
	ck_assert_uint_eq(counters.port_rcv_pkts, 1); /* this request */
	ck_assert_uint_eq(counters.port_xmit_pkts, 0);
	ck_assert_int_eq(get_narrow(sw, 0, &counters), 0);
	ck_assert_uint_eq(counters.port_rcv_pkts, 2);
	ck_assert_uint_eq(counters.port_xmit_pkts, 1);
	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_SWITCH_INFO, 0, data), 0);
	wire_decode(&iba_switch_info_type, data, &info);
	ck_assert_uint_eq(info.enhanced_port0, 1);
}
END_TEST

START_TEST(test_lanes)
{
	struct iba_port_extended_speeds_counters speeds = {.port_select = 2};
	struct iba_port_samples_control control = {.port_select = 1};
	char *name = sim_counter_name(SIM_COUNT_FEC_CORRECTED_LANE + 3);
	enum sim_port_counter which;

	ck_assert_str_eq(name, "FECCorrectableLane[3]");
	ck_assert(sim_find_counter(name, &which));
	ck_assert_uint_eq(which, SIM_COUNT_FEC_CORRECTED_LANE + 3);
	ck_assert(!sim_find_counter("FECCorrectableLane[12]", &which));
	g_free(name);
	sim_port_count(net->sim, sw, 2, which, UINT64_C(1) << 40);
	sim_port_count(net->sim, sw, 2, SIM_COUNT_ERROR_DETECTION_LANE + 11, 9);
	sim_port_count(net->sim, sw, 2, SIM_COUNT_PORT_FEC_CORRECTED_SYMBOL, 4);
	ck_assert_int_eq(ask(sw, GET, IBA_ATTR_PORT_EXTENDED_SPEEDS_COUNTERS,
			     &iba_port_extended_speeds_counters_type, &speeds),
			 0);
	ck_assert_uint_eq(speeds.fec_correctable_block_ctr_lane[3], UINT32_MAX);
	ck_assert_uint_eq(speeds.fec_correctable_block_ctr_lane[2], 0);
	ck_assert_uint_eq(speeds.error_detection_counter_lane[11], 9);
	ck_assert_uint_eq(speeds.port_fec_corrected_symbol_ctr, 4);
	speeds.counter_select = UINT64_C(1) << 17; /* lane 3 */
	speeds.fec_correctable_block_ctr_lane[3] = 0;
	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_PORT_EXTENDED_SPEEDS_COUNTERS,
			     &iba_port_extended_speeds_counters_type, &speeds),
			 0);
	ck_assert_uint_eq(speeds.fec_correctable_block_ctr_lane[3], 0);
	ck_assert_uint_eq(speeds.error_detection_counter_lane[11], 9);
	without(SIM_PMA_RS_FEC);
	ck_assert_int_eq(ask(sw, GET, IBA_ATTR_PORT_EXTENDED_SPEEDS_COUNTERS,
			     &iba_port_extended_speeds_counters_type, &speeds),
			 0);
	ck_assert_uint_eq(speeds.port_fec_corrected_symbol_ctr, 0);
	ck_assert_int_eq(ask(sw, GET, IBA_ATTR_PORT_SAMPLES_CONTROL, &iba_port_samples_control_type,
			     &control),
			 0);
	ck_assert_uint_eq(control.tick, 7);
	with(SIM_PMA_LANE_TICKS);
	ck_assert_int_eq(ask(sw, GET, IBA_ATTR_PORT_SAMPLES_CONTROL, &iba_port_samples_control_type,
			     &control),
			 0);
	ck_assert_uint_eq(control.tick, 31);
}
END_TEST

/* ---- optional attributes ---- */

static const uint16_t optional[] = {0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1E, 0x30,
				    0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37};

static int status_of(uint16_t attribute)
{
	uint8_t mad[256];

	net_smp(net, mad, IBA_CLASS_PERF, GET, attribute, 0);
	memset(mad + 24, 0, 232);
	mad[IBA_PM_DATA_OFFSET + 1] = 1;
	return net_gmp_ask(net, net_lid(sw), mad);
}

START_TEST(test_optional)
{
	struct iba_port_samples_control control = {.port_select = 1};

	for (unsigned int on = 0; on < 2; on++) {
		if (on)
			with(SIM_PMA_OPTIONAL);
		for (unsigned int i = 0; i < G_N_ELEMENTS(optional); i++)
			ck_assert_int_eq(status_of(optional[i]),
					 on ? 0 : IBA_STATUS_UNSUP_METHOD_ATTR);
		ck_assert_int_eq(ask(sw, GET, IBA_ATTR_PORT_SAMPLES_CONTROL,
				     &iba_port_samples_control_type, &control),
				 0);
		ck_assert_uint_eq(control.option_mask,
				  on ? UINT64_C(0x01FF000000FFFFC0) : UINT64_C(0xFFC0));
	}
	ck_assert_int_eq(status_of(0x13), IBA_STATUS_UNSUP_METHOD_ATTR);
	without(SIM_PMA_DETAILS);
	ck_assert_int_eq(status_of(IBA_ATTR_PORT_RCV_ERROR_DETAILS), IBA_STATUS_UNSUP_METHOD_ATTR);
	ck_assert_int_eq(status_of(IBA_ATTR_PORT_XMIT_DISCARD_DETAILS),
			 IBA_STATUS_UNSUP_METHOD_ATTR);
	without(SIM_PMA_SPEEDS);
	ck_assert_int_eq(status_of(IBA_ATTR_PORT_EXTENDED_SPEEDS_COUNTERS),
			 IBA_STATUS_UNSUP_METHOD_ATTR);
}
END_TEST

/* By OpCode, VL and SL: a request of this test is SL 0. */
START_TEST(test_by_op_code)
{
	struct iba_port_op_rcv_counters op = {.op_code = OP_MAD, .port_select = 1};
	struct iba_port_vl_op_packets packets = {.op_code = OP_MAD, .port_select = 1};
	struct iba_port_vl_op_data data = {.op_code = OP_NONE, .port_select = 1};
	struct iba_port_rcv_data_sl sl = {.port_select = 1};
	struct iba_port_vl_xmit_wait_counters wait = {.port_select = 1};

	with(SIM_PMA_OPTIONAL);
	ck_assert_int_eq(
		ask(sw, GET, IBA_ATTR_PORT_OP_RCV_COUNTERS, &iba_port_op_rcv_counters_type, &op),
		0);
	ck_assert_uint_eq(op.port_op_rcv_pkts, 1);
	ck_assert_uint_eq(op.port_op_rcv_data, 72);
	ck_assert_int_eq(
		ask(sw, GET, IBA_ATTR_PORT_VL_OP_PACKETS, &iba_port_vl_op_packets_type, &packets),
		0);
	ck_assert_uint_eq(packets.port_vl_op_packets[0], 2);
	ck_assert_uint_eq(packets.port_vl_op_packets[1], 0);
	ck_assert_int_eq(ask(sw, GET, IBA_ATTR_PORT_VL_OP_DATA, &iba_port_vl_op_data_type, &data),
			 0);
	ck_assert_uint_eq(data.port_vl_op_data[0], 0);
	ck_assert_int_eq(ask(sw, GET, IBA_ATTR_PORT_RCV_DATA_SL, &iba_port_rcv_data_sl_type, &sl),
			 0);
	ck_assert_uint_eq(sl.port_rcv_data_sl[0], 4 * 72);
	sim_port_count(net->sim, sw, 1, SIM_COUNT_VL_XMIT_WAIT + 5, 70000);
	ck_assert_int_eq(ask(sw, GET, IBA_ATTR_PORT_VL_XMIT_WAIT_COUNTERS,
			     &iba_port_vl_xmit_wait_counters_type, &wait),
			 0);
	ck_assert_uint_eq(wait.port_vl_xmit_wait[5], 0xFFFF);
	ck_assert_uint_eq(wait.port_vl_xmit_wait[4], 0);
	/* OpCodes that do not exist here cannot be cleared. */
	op = (struct iba_port_op_rcv_counters){
		.op_code = OP_NONE, .port_select = 1, .counter_select = 3};
	ck_assert_int_eq(
		ask(sw, SET, IBA_ATTR_PORT_OP_RCV_COUNTERS, &iba_port_op_rcv_counters_type, &op),
		0);
	ck_assert_uint_ge(sim_port_counter(net->sim, sw, 1, SIM_COUNT_OP_RCV_PKTS), 5);
}
END_TEST

START_TEST(test_samples_extended)
{
	struct iba_port_samples_control control = {
		.port_select = 3, .sample_interval = 10, .counter_select = {1, 0x4008}};
	struct iba_port_samples_result_extended result = {0};

	with(SIM_PMA_OPTIONAL);
	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_PORT_SAMPLES_CONTROL, &iba_port_samples_control_type,
			     &control),
			 0);
	sim_port_count(net->sim, sw, 3, SIM_COUNT_PORT_XMIT_DATA, UINT64_C(1) << 40);
	net_run_ms(net, 1);
	ck_assert_int_eq(ask(sw, GET, IBA_ATTR_PORT_SAMPLES_RESULT_EXTENDED,
			     &iba_port_samples_result_extended_type, &result),
			 0);
	ck_assert_uint_eq(result.extended_width, 2);
	ck_assert_uint_eq(result.sample_status, 0);
}
END_TEST

/* ---- resets ---- */

/* A restart clears the registers, and nothing clears the true count. */
START_TEST(test_restart)
{
	struct iba_port_counters counters = {.port_select = 3, .counter_select = 1};

	sim_port_count(net->sim, sw, 3, SIM_COUNT_SYMBOL_ERROR, 70000);
	sim_port_count(net->sim, sw, 3, SIM_COUNT_VL_XMIT_WAIT, 3);
	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_PORT_COUNTERS, &iba_port_counters_type, &counters),
			 0);
	sim_port_count(net->sim, sw, 3, SIM_COUNT_SYMBOL_ERROR, 6);
	ck_assert_int_eq(get_narrow(sw, 3, &counters), 0);
	ck_assert_uint_eq(counters.symbol_error_counter, 6);
	ck_assert_uint_eq(sim_port_counter(net->sim, sw, 3, SIM_COUNT_SYMBOL_ERROR), 70006);
	sim_pma_set(net->sim, sw, SIM_PMA_PORT0);
	sim_node_set(net->sim, sw, false);
	sim_node_set(net->sim, sw, true);
	ck_assert_uint_eq(sim_port_counter(net->sim, sw, 3, SIM_COUNT_SYMBOL_ERROR), 0);
	ck_assert_uint_eq(sim_port_counter(net->sim, sw, 3, SIM_COUNT_VL_XMIT_WAIT), 0);
	ck_assert_uint_eq(sim_true_count(net->sim, sw, 3, SIM_COUNT_SYMBOL_ERROR), 70006);
	ck_assert_uint_eq(sim_true_count(net->sim, sw, 3, SIM_COUNT_VL_XMIT_WAIT), 3);
	ck_assert_uint_eq(sim_pma_abilities(net->sim, sw), SIM_PMA_PORT0); /* its firmware */
}
END_TEST

/* A value that a Set wrote saturates as well, without touching its twin. */
START_TEST(test_set_high)
{
	struct iba_port_counters_extended wide = {
		.port_select = 3, .counter_select = 1, .port_xmit_data = UINT64_MAX - 2};
	struct iba_port_counters narrow = {
		.port_select = 3, .counter_select = 0x200, .local_link_integrity_errors = 0xE};

	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_PORT_COUNTERS_EXTENDED,
			     &iba_port_counters_extended_type, &wide),
			 0);
	ck_assert_int_eq(ask(sw, SET, IBA_ATTR_PORT_COUNTERS, &iba_port_counters_type, &narrow), 0);
	sim_port_count(net->sim, sw, 3, SIM_COUNT_PORT_XMIT_DATA, 9);
	sim_port_count(net->sim, sw, 3, SIM_COUNT_LOCAL_LINK_INTEGRITY_ERRORS, 1);
	ck_assert_int_eq(get_narrow(sw, 3, &narrow), 0);
	ck_assert_uint_eq(narrow.port_xmit_data, 9);
	ck_assert_uint_eq(narrow.local_link_integrity_errors, 0xF);
	sim_port_count(net->sim, sw, 3, SIM_COUNT_LOCAL_LINK_INTEGRITY_ERRORS, 1);
	ck_assert_int_eq(get_narrow(sw, 3, &narrow), 0);
	ck_assert_uint_eq(narrow.local_link_integrity_errors, 0xF);
	ck_assert_int_eq(get_wide(sw, 3, &wide), 0);
	ck_assert_uint_eq(wide.port_xmit_data, UINT64_MAX);
	ck_assert_uint_eq(wide.local_link_integrity_errors, 2);
}
END_TEST

/* ---- misbehaviour ---- */

START_TEST(test_misbehaves)
{
	struct iba_port_counters first, second;
	uint8_t data[64];
	int status;

	with(SIM_PMA_SILENT);
	ck_assert_int_eq(get_narrow(sw, 1, &first), -1);
	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_NODE_INFO, 0, data), 0);
	with(SIM_PMA_WRONG_PORT);
	ck_assert_int_eq(get_narrow(sw, 1, &first), 0);
	ck_assert_uint_eq(first.port_select, 2);
	with(SIM_PMA_BACKWARDS);
	ck_assert_int_eq(get_narrow(sw, 1, &first), 0);
	ck_assert_int_eq(get_narrow(sw, 1, &second), 0);
	ck_assert_uint_lt(second.port_rcv_data, first.port_rcv_data);
	with(SIM_PMA_GARBAGE);
	status = get_narrow(sw, 1, &first);
	ck_assert_int_gt(status, 0);
	ck_assert_int_ne(get_narrow(sw, 1, &first), status);
	with(0);
	for (unsigned int i = 0; i < 3; i++) {
		static const uint16_t statuses[] = {0x000C, 0x001C, 0x8001};

		sim_pma_set_status(net->sim, sw, statuses[i]);
		ck_assert_int_eq(get_narrow(sw, 1, &first), statuses[i]);
		ck_assert_int_eq(ask(sw, GET, IBA_ATTR_CLASS_PORT_INFO, &iba_class_port_info_type,
				     &(struct iba_class_port_info){0}),
				 statuses[i]);
	}
	sim_pma_set_status(net->sim, sw, 0);
	ck_assert_int_eq(get_narrow(sw, 1, &first), 0);
}
END_TEST

/* ---- redirection ---- */

static struct sim_redirect redirect_to(unsigned int node, uint32_t qp, uint32_t q_key)
{
	return (struct sim_redirect){
		.gid = {IBA_DEFAULT_GID_PREFIX, sim_port_guid(net->sim, node, 1)},
		.lid = net_lid(node),
		.p_key = 0xFFFF,
		.qp = qp,
		.q_key = q_key,
	};
}

union told {
	struct iba_port_counters counters;
	struct iba_class_port_info info;
};

static union told redirected(unsigned int node)
{
	const struct vendor_address to = {
		.lid = net_lid(node), .qpn = IBA_QP1, .qkey = IBA_QP1_Q_KEY};
	uint16_t id = IBA_ATTR_PORT_COUNTERS;
	union told told = {.counters = {.port_select = 1}};

	ck_assert_int_eq(ask_at(&to, GET, &id, &iba_port_counters_type, &told),
			 IBA_STATUS_REDIRECT);
	ck_assert_uint_eq(id, IBA_ATTR_CLASS_PORT_INFO);
	return told;
}

/* What is sent to the QP told is answered for the node that redirected. */
START_TEST(test_redirect)
{
	struct sim_redirect to = redirect_to(third, 0x123, 0x80000007);
	struct vendor_address there = {.lid = net_lid(third), .qpn = 0x123, .qkey = 0x80000007};
	union told told;
	uint16_t id = IBA_ATTR_PORT_COUNTERS;

	sim_port_count(net->sim, other, 1, SIM_COUNT_SYMBOL_ERROR, 77);
	sim_pma_redirect(net->sim, other, &to);
	told = redirected(other);
	ck_assert_uint_eq(told.info.redirect_lid, net_lid(third));
	ck_assert_uint_eq(told.info.redirect_qp, 0x123);
	ck_assert_uint_eq(told.info.redirect_q_key, 0x80000007);
	ck_assert_uint_eq(told.info.redirect_p_key, 0xFFFF);
	told.counters = (struct iba_port_counters){.port_select = 1};
	ck_assert_int_eq(ask_at(&there, GET, &id, &iba_port_counters_type, &told), 0);
	ck_assert_uint_eq(told.counters.symbol_error_counter, 77);
	/* The agent of that node serves as before; another Q_Key gets no answer. */
	ck_assert_int_eq(get_narrow(third, 1, &told.counters), 0);
	ck_assert_uint_eq(told.counters.symbol_error_counter, 0);
	there.qkey = IBA_QP1_Q_KEY;
	ck_assert_int_eq(ask_at(&there, GET, &id, &iba_port_counters_type, &told), -1);
	sim_pma_redirect(net->sim, other, NULL);
	ck_assert_int_eq(get_narrow(other, 1, &told.counters), 0);
}
END_TEST

/* LID 0: the GID says where; its port answers at the QP told. */
START_TEST(test_redirect_gid)
{
	struct sim_redirect to = redirect_to(third, 0x55, 0x80000007);
	const struct vendor_address there = {
		.lid = net_lid(third), .qpn = 0x55, .qkey = 0x80000007};
	union told told;
	uint16_t id = IBA_ATTR_PORT_COUNTERS;

	to.lid = 0;
	sim_pma_redirect(net->sim, other, &to);
	told = redirected(other);
	ck_assert_uint_eq(told.info.redirect_lid, 0);
	ck_assert_uint_eq(told.info.redirect_gid.guid, sim_port_guid(net->sim, third, 1));
	told.counters = (struct iba_port_counters){.port_select = 1};
	ck_assert_int_eq(ask_at(&there, GET, &id, &iba_port_counters_type, &told), 0);
}
END_TEST

/* In a circle, and to what makes no sense: told as it is. */
START_TEST(test_redirect_nonsense)
{
	struct sim_redirect to = redirect_to(third, IBA_QP1, IBA_QP1_Q_KEY);

	sim_pma_redirect(net->sim, other, &to);
	to = redirect_to(other, IBA_QP1, IBA_QP1_Q_KEY);
	sim_pma_redirect(net->sim, third, &to);
	ck_assert_uint_eq(redirected(other).info.redirect_lid, net_lid(third));
	ck_assert_uint_eq(redirected(third).info.redirect_lid, net_lid(other));
	to.lid = 0xC000;
	to.qp = 0;
	to.p_key = 0x1234;
	sim_pma_redirect(net->sim, other, &to);
	ck_assert_uint_eq(redirected(other).info.redirect_lid, 0xC000);
	ck_assert_uint_eq(redirected(other).info.redirect_qp, 0);
	ck_assert_uint_eq(redirected(other).info.redirect_p_key, 0x1234);
}
END_TEST

/* A host with two ports: the agent of port 1 redirects to the LID of port 2, which serves both. */
START_TEST(test_redirect_other_port)
{
	static const char text[] = "vendid=0x2c9\ndevid=1\nsysimgguid=1\nswitchguid=0x100(100)\n"
				   "Switch 3 \"S-100\" # \"sw\" base port 0 lid 0 lmc 0\n"
				   "[1] \"H-200\"[1](201)\n[2] \"H-300\"[1](301)\n"
				   "[3] \"H-300\"[2](302)\n\n"
				   "caguid=0x200\nCa 1 \"H-200\" # \"a\"\n[1](201) \"S-100\"[1]\n\n"
				   "caguid=0x300\nCa 2 \"H-300\" # \"two\"\n[1](301) \"S-100\"[2]\n"
				   "[2](302) \"S-100\"[3]\n";
	struct iba_port_counters counters;
	struct iba_port_info info;
	struct sim_redirect to;
	uint8_t data[64];
	int two, at;

	teardown();
	net = net_new_text(text);
	two = sim_find_name(net->sim, "two");
	at = sim_find_name(net->sim, "sw");
	ck_assert_int_ge(two, 0);
	ck_assert(vendor_bind(net->vendor, IBA_CLASS_PERF, false, &net->client, NULL));
	sim_link_set(net->sim, at, 3, false);
	net_bring_up(net);
	sim_link_set(net->sim, at, 3, true);
	info = *sim_port_info(net->sim, two, 2);
	info.lid = 40;
	info.port_state = IBA_PORT_ACTIVE;
	sim_set_port_info(net->sim, two, 2, &info);
	info = *sim_port_info(net->sim, at, 3);
	info.port_state = IBA_PORT_ACTIVE;
	sim_set_port_info(net->sim, at, 3, &info);
	ck_assert_int_eq(net_direct_ask(net, at, GET, IBA_ATTR_LINEAR_FORWARDING_TABLE, 0, data),
			 0);
	data[40] = 3;
	ck_assert_int_eq(net_direct_ask(net, at, SET, IBA_ATTR_LINEAR_FORWARDING_TABLE, 0, data),
			 0);
	ck_assert_int_eq(net_direct_ask(net, at, GET, IBA_ATTR_SWITCH_INFO, 0, data), 0);
	data[6] = 0;
	data[7] = 63; /* LinearFDBTop */
	ck_assert_int_eq(net_direct_ask(net, at, SET, IBA_ATTR_SWITCH_INFO, 0, data), 0);
	to = redirect_to(two, IBA_QP1, IBA_QP1_Q_KEY);
	to.lid = 40;
	sim_pma_redirect(net->sim, two, &to);
	sim_port_count(net->sim, two, 1, SIM_COUNT_SYMBOL_ERROR, 5);
	ck_assert_uint_eq(redirected(two).info.redirect_lid, 40);
	counters = (struct iba_port_counters){.port_select = 1};
	ck_assert_int_eq(ask(39, GET, IBA_ATTR_PORT_COUNTERS, &iba_port_counters_type, &counters),
			 0);
	ck_assert_uint_eq(counters.symbol_error_counter, 5);
}
END_TEST

/* Requests of random octets, to agents of random abilities: an answer, or none. */
START_TEST(test_hostile)
{
	uint64_t seed = 5;
	unsigned int answers = 0;

	for (unsigned int i = 0; i < 4000; i++) {
		const struct vendor_address to = {
			.lid = net_lid(sw), .qpn = IBA_QP1, .qkey = IBA_QP1_Q_KEY};
		struct vendor_mad *answer;
		uint8_t mad[256];

		if (i % 50 == 0)
			sim_pma_set(net->sim, sw, (uint32_t)random_next(&seed) &
						 ~(SIM_PMA_SILENT | SIM_PMA_MUTE_SAMPLES));
		net_smp(net, mad, IBA_CLASS_PERF, i % 2 ? GET : SET, random_below(&seed, 0x40), 0);
		for (unsigned int at = 24; at < 256; at++)
			mad[at] = random_next(&seed) >> 8;
		if (i % 4)
			mad[IBA_PM_DATA_OFFSET + 1] = i % 5;
		answer = net_ask_at(net, &to, mad);
		answers += answer->status == VENDOR_RECEIVED;
		vendor_mad_free(answer);
	}
	ck_assert_uint_eq(answers, 4000);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sim_agents");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_masks, 0, G_N_ELEMENTS(masks));
	tcase_add_test(tcase, test_abilities);
	tcase_add_test(tcase, test_set_of_nothing);
	tcase_add_test(tcase, test_one_register);
	tcase_add_test(tcase, test_port0);
	tcase_add_test(tcase, test_lanes);
	tcase_add_test(tcase, test_optional);
	tcase_add_test(tcase, test_by_op_code);
	tcase_add_test(tcase, test_samples_extended);
	tcase_add_test(tcase, test_restart);
	tcase_add_test(tcase, test_set_high);
	tcase_add_test(tcase, test_misbehaves);
	tcase_add_test(tcase, test_redirect);
	tcase_add_test(tcase, test_redirect_gid);
	tcase_add_test(tcase, test_redirect_nonsense);
	tcase_add_test(tcase, test_redirect_other_port);
	tcase_add_test(tcase, test_hostile);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
