// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The congestion control agent of simulated nodes. */
#include <check.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/sim_net.h"

#define GET IBA_METHOD_GET
#define SET IBA_METHOD_SET

static struct net *net;
static unsigned int sw, host; /* a switch, a host */
static uint64_t cc_key;

static void setup(void)
{
	net = net_new("fattree:4", NULL);
	sw = sim_find_name(net->sim, "leaf-0-0");
	host = sim_find_name(net->sim, "host-1");
	cc_key = 0;
	ck_assert(vendor_bind(net->vendor, IBA_CLASS_CC, false, &net->client, NULL));
	net_bring_up(net);
}

static void teardown(void)
{
	net_free(net);
}

static int ask_at(unsigned int node, uint8_t method, uint16_t attribute, uint32_t modifier,
		  const struct wire_type *type, void *host_struct)
{
	unsigned int offset =
		attribute == IBA_ATTR_CONGESTION_LOG ? IBA_CC_LOG_DATA_OFFSET : IBA_CC_DATA_OFFSET;
	uint8_t mad[256];
	int status;

	net_smp(net, mad, IBA_CLASS_CC, method, attribute, modifier);
	mad[2] = IBA_CC_CLASS_VERSION;
	memset(mad + 24, 0, 232);
	for (unsigned int i = 0; i < 8; i++)
		mad[24 + i] = cc_key >> (56 - 8 * i);
	wire_encode(type, host_struct, mad + offset);
	status = net_gmp_ask(net, net_lid(node), mad);
	if (status >= 0)
		wire_decode(type, mad + offset, host_struct);
	return status;
}

#define ASK(node, method, attribute, modifier, type, host_struct)                                  \
	ask_at(node, method, IBA_ATTR_##attribute, modifier, &iba_##type##_type, host_struct)

START_TEST(test_info)
{
	struct iba_class_port_info class_port_info = {.trap_lid = 7, .base_version = 9};
	struct iba_congestion_info info = {0};

	ck_assert_int_eq(ASK(sw, SET, CLASS_PORT_INFO, 0, class_port_info, &class_port_info), 0);
	ck_assert_uint_eq(class_port_info.trap_lid, 7);
	ck_assert_uint_eq(class_port_info.base_version, 1);
	ck_assert_uint_eq(class_port_info.class_version, IBA_CC_CLASS_VERSION);
	ck_assert_int_eq(ASK(sw, GET, CONGESTION_INFO, 0, congestion_info, &info), 0);
	ck_assert_uint_eq(info.control_table_cap, 0);
	ck_assert_int_eq(ASK(host, GET, CONGESTION_INFO, 0, congestion_info, &info), 0);
	ck_assert_uint_eq(info.control_table_cap, 2);
	ck_assert_int_eq(ASK(host, SET, CONGESTION_INFO, 0, congestion_info, &info),
			 IBA_STATUS_UNSUP_METHOD_ATTR);
}
END_TEST

START_TEST(test_key)
{
	struct iba_congestion_key_info key = {
		.cc_key = 0x55, .cc_key_protect_bit = 1, .cc_key_lease_period = 10};
	struct iba_congestion_info info = {0};

	ck_assert_int_eq(ASK(host, SET, CONGESTION_KEY_INFO, 0, congestion_key_info, &key), 0);
	ck_assert_uint_eq(key.cc_key, 0x55);
	ck_assert_int_eq(ASK(host, GET, CONGESTION_INFO, 0, congestion_info, &info), -1);
	ck_assert_int_eq(ASK(host, SET, CONGESTION_KEY_INFO, 0, congestion_key_info, &key), -1);
	ck_assert_int_eq(ASK(host, GET, CONGESTION_KEY_INFO, 0, congestion_key_info, &key), 0);
	ck_assert_uint_eq(key.cc_key, 0);
	ck_assert_uint_eq(key.cc_key_violations, 2);
	cc_key = 0x55;
	ck_assert_int_eq(ASK(host, GET, CONGESTION_KEY_INFO, 0, congestion_key_info, &key), 0);
	ck_assert_uint_eq(key.cc_key, 0x55);
	ck_assert_uint_eq(key.cc_key_protect_bit, 1);
	ck_assert_int_eq(ASK(host, GET, CONGESTION_INFO, 0, congestion_info, &info), 0);
	key.cc_key_violations = 0;
	ck_assert_int_eq(ASK(host, SET, CONGESTION_KEY_INFO, 0, congestion_key_info, &key), 0);
	ck_assert_uint_eq(key.cc_key_violations, 0);
	cc_key = 1;
	ck_assert_int_eq(ASK(host, GET, CONGESTION_INFO, 0, congestion_info, &info), -1);
	net_run_ms(net, 11000); /* the lease is over: the key shows */
	ck_assert_int_eq(ASK(host, GET, CONGESTION_KEY_INFO, 0, congestion_key_info, &key), 0);
	ck_assert_uint_eq(key.cc_key, 0x55);
	/* Other nodes have keys of their own. */
	ck_assert_int_eq(ASK(sw, GET, CONGESTION_INFO, 0, congestion_info, &info), 0);
}
END_TEST

START_TEST(test_switch_setting)
{
	struct iba_switch_congestion_setting setting = {
		.control_map = 0x14, .threshold = 5, .packet_size = 6, .marking_rate = 7};

	setting.victim_mask[0] = 0xFF;
	ck_assert_int_eq(
		ASK(sw, SET, SWITCH_CONGESTION_SETTING, 0, switch_congestion_setting, &setting), 0);
	ck_assert_uint_eq(setting.threshold, 5);
	ck_assert_uint_eq(setting.victim_mask[0], 0); /* not in ControlMap */
	setting = (struct iba_switch_congestion_setting){.control_map = 1};
	setting.victim_mask[31] = 2;
	ck_assert_int_eq(
		ASK(sw, SET, SWITCH_CONGESTION_SETTING, 0, switch_congestion_setting, &setting), 0);
	ck_assert_uint_eq(setting.victim_mask[31], 2);
	ck_assert_uint_eq(setting.marking_rate, 7);
	ck_assert_int_eq(
		ASK(host, GET, SWITCH_CONGESTION_SETTING, 0, switch_congestion_setting, &setting),
		IBA_STATUS_UNSUP_METHOD_ATTR);
}
END_TEST

START_TEST(test_switch_ports)
{
	struct iba_switch_port_congestion_setting setting = {
		.port[2] = {.valid = 1, .threshold = 3, .cong_parm_marking_rate = 9},
		.port[3] = {.threshold = 4},
	};

	ck_assert_int_eq(ASK(sw, SET, SWITCH_PORT_CONGESTION_SETTING, 0,
			     switch_port_congestion_setting, &setting),
			 0);
	ck_assert_uint_eq(setting.port[2].threshold, 3);
	ck_assert_uint_eq(setting.port[2].cong_parm_marking_rate, 9);
	ck_assert_uint_eq(setting.port[3].threshold, 0);
	ck_assert_int_eq(ASK(sw, GET, SWITCH_PORT_CONGESTION_SETTING, 1,
			     switch_port_congestion_setting, &setting),
			 IBA_STATUS_INVALID_FIELD);
}
END_TEST

START_TEST(test_ca_setting)
{
	struct iba_ca_congestion_setting setting = {
		.control_map = 2,
		.port_control = 1,
		.sl[1] = {.ccti_timer = 11, .ccti_increase = 12},
		.sl[2] = {.ccti_timer = 13},
	};

	ck_assert_int_eq(ASK(host, SET, CA_CONGESTION_SETTING, 0, ca_congestion_setting, &setting),
			 0);
	ck_assert_uint_eq(setting.sl[1].ccti_timer, 11);
	ck_assert_uint_eq(setting.sl[1].ccti_increase, 12);
	ck_assert_uint_eq(setting.sl[2].ccti_timer, 0);
	ck_assert_uint_eq(setting.port_control, 1);
	ck_assert_int_eq(ASK(sw, GET, CA_CONGESTION_SETTING, 0, ca_congestion_setting, &setting),
			 IBA_STATUS_UNSUP_METHOD_ATTR);
}
END_TEST

START_TEST(test_control_table)
{
	struct iba_congestion_control_table table = {
		.ccti_limit = 100, .entry[63] = {.cct_shift = 2, .cct_multiplier = 500}};

	ck_assert_int_eq(
		ASK(host, SET, CONGESTION_CONTROL_TABLE, 1, congestion_control_table, &table), 0);
	ck_assert_int_eq(
		ASK(host, GET, CONGESTION_CONTROL_TABLE, 0, congestion_control_table, &table), 0);
	ck_assert_uint_eq(table.ccti_limit, 100);
	ck_assert_uint_eq(table.entry[63].cct_multiplier, 0);
	ck_assert_int_eq(
		ASK(host, GET, CONGESTION_CONTROL_TABLE, 1, congestion_control_table, &table), 0);
	ck_assert_uint_eq(table.entry[63].cct_multiplier, 500);
	ck_assert_uint_eq(table.entry[63].cct_shift, 2);
	ck_assert_int_eq(
		ASK(host, GET, CONGESTION_CONTROL_TABLE, 2, congestion_control_table, &table),
		IBA_STATUS_INVALID_FIELD);
	table.ccti_limit = 128;
	ck_assert_int_eq(
		ASK(host, SET, CONGESTION_CONTROL_TABLE, 0, congestion_control_table, &table),
		IBA_STATUS_INVALID_FIELD);
}
END_TEST

START_TEST(test_log_and_time)
{
	struct iba_congestion_log_switch log = {0};
	struct iba_congestion_log_ca ca_log = {0};
	struct iba_time_stamp stamp = {0};

	/* An event is needed for time to go on. */
	sim_link_flap(net->sim, sim_find_name(net->sim, "host-9"), 1, 1024 * NS_PER_MS, 0, 1);
	net_run_ms(net, 1024);
	ck_assert_int_eq(ASK(host, GET, TIME_STAMP, 0, time_stamp, &stamp), 0);
	ck_assert_uint_ge(stamp.time_stamp, 1000000);
	ck_assert_int_eq(ASK(sw, GET, CONGESTION_LOG, 0, congestion_log_switch, &log), 0);
	ck_assert_uint_eq(log.log_type, IBA_CC_LOG_SWITCH);
	ck_assert_uint_ge(log.current_time_stamp, 1000000);
	ck_assert_uint_eq(log.log_events_counter, 0);
	ck_assert_int_eq(ASK(host, GET, CONGESTION_LOG, 0, congestion_log_ca, &ca_log), 0);
	ck_assert_uint_eq(ca_log.log_type, IBA_CC_LOG_CA);
}
END_TEST

/* Without power everything is lost. */
START_TEST(test_power)
{
	struct iba_congestion_key_info key = {.cc_key = 0x55};

	ck_assert_int_eq(ASK(sw, SET, CONGESTION_KEY_INFO, 0, congestion_key_info, &key), 0);
	for (unsigned int i = 0; i < sim_nodes(net->sim); i++) {
		sim_node_set(net->sim, i, false);
		sim_node_set(net->sim, i, true);
	}
	net_bring_up(net);
	ck_assert_int_eq(ASK(sw, GET, CONGESTION_KEY_INFO, 0, congestion_key_info, &key), 0);
	ck_assert_uint_eq(key.cc_key, 0);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sim_cca");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_info);
	tcase_add_test(tcase, test_key);
	tcase_add_test(tcase, test_switch_setting);
	tcase_add_test(tcase, test_switch_ports);
	tcase_add_test(tcase, test_ca_setting);
	tcase_add_test(tcase, test_control_table);
	tcase_add_test(tcase, test_log_and_time);
	tcase_add_test(tcase, test_power);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
