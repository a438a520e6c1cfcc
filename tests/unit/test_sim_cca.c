// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The congestion control agent of simulated nodes. */
#include <check.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/sim_net.h"
#include "vendor/sim_cc.h"

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

static int ask_lid(uint16_t lid, uint8_t method, uint16_t attribute, uint32_t modifier,
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
	status = net_gmp_ask(net, lid, mad);
	if (status >= 0)
		wire_decode(type, mad + offset, host_struct);
	return status;
}

#define ASK_LID(lid, method, attribute, modifier, type, host_struct)                               \
	ask_lid(lid, method, IBA_ATTR_##attribute, modifier, &iba_##type##_type, host_struct)
#define ASK(node, method, attribute, modifier, type, host_struct)                                  \
	ASK_LID(net_lid(node), method, attribute, modifier, type, host_struct)

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

/* ---- what agents are ---- */

static const struct {
	struct sim_cc_rule rule;
	int get, set;		     /* statuses of requests for the CACongestionSetting */
	unsigned int answered, kept; /* CCTI_Timer */
} rules[] = {
	{{0, 0, SIM_CC_STATUS, IBA_STATUS_UNSUP_METHOD_ATTR}, 0xC, 0xC, 0, 0},
	{{0, IBA_METHOD_SET, SIM_CC_STATUS, IBA_STATUS_UNSUP_VERSION}, 0, 4, 0, 0},
	{{IBA_ATTR_CA_CONGESTION_SETTING, IBA_METHOD_GET, SIM_CC_STATUS, 0x1C}, 0x1C, 0, 7, 7},
	{{IBA_ATTR_CONGESTION_INFO, 0, SIM_CC_STATUS, 0x1C}, 0, 0, 7, 7},
	{{0, 0, SIM_CC_SILENCE, 0}, -1, -1, 0, 0},
	{{IBA_ATTR_CA_CONGESTION_SETTING, IBA_METHOD_SET, SIM_CC_SILENCE, 0}, 0, -1, 0, 0},
	{{0, 0, SIM_CC_IGNORE, 0}, 0, 0, 0, 0},
	{{IBA_ATTR_CA_CONGESTION_SETTING, 0, SIM_CC_FORGET, 0}, 0, 0, 7, 0},
};

START_TEST(test_rules)
{
	struct iba_ca_congestion_setting setting = {.control_map = 1, .sl[0] = {.ccti_timer = 7}};
	struct sim_cc_rule rule = rules[_i].rule;
	struct sim_cc_view view;

	ck_assert(sim_cc_answer(net->sim, host, &rule));
	ck_assert_int_eq(ASK(host, SET, CA_CONGESTION_SETTING, 0, ca_congestion_setting, &setting),
			 rules[_i].set);
	if (!rules[_i].set)
		ck_assert_uint_eq(setting.sl[0].ccti_timer, rules[_i].answered);
	ck_assert_int_eq(ASK(host, GET, CA_CONGESTION_SETTING, 0, ca_congestion_setting, &setting),
			 rules[_i].get);
	sim_cc_view(net->sim, host, 1, &view);
	ck_assert_uint_eq(view.ca_setting.sl[0].ccti_timer, rules[_i].kept);
	/* Another node has its own; a restart does not help, the end of the rule does. */
	ck_assert_int_eq(ASK(sw, GET, CONGESTION_INFO, 0, ca_congestion_setting, &setting), 0);
	sim_cc_restart(net->sim, host);
	ck_assert_int_eq(ASK(host, GET, CA_CONGESTION_SETTING, 0, ca_congestion_setting, &setting),
			 rules[_i].get);
	rule.answer = SIM_CC_SERVE;
	ck_assert(sim_cc_answer(net->sim, host, &rule));
	setting = (struct iba_ca_congestion_setting){.control_map = 1, .sl[0] = {.ccti_timer = 7}};
	ck_assert_int_eq(ASK(host, SET, CA_CONGESTION_SETTING, 0, ca_congestion_setting, &setting),
			 0);
	sim_cc_view(net->sim, host, 1, &view);
	ck_assert_uint_eq(view.ca_setting.sl[0].ccti_timer, 7);
	ck_assert_uint_eq(sim_cc_requests(net->sim, host, IBA_ATTR_CA_CONGESTION_SETTING, SET), 2);
	ck_assert_uint_eq(sim_cc_requests(net->sim, host, IBA_ATTR_CA_CONGESTION_SETTING, GET), 2);
	ck_assert_uint_eq(sim_cc_requests(net->sim, host, IBA_ATTR_TIME_STAMP, GET), 0);
}
END_TEST

/* The newest rule that fits counts, and there is an end to them. */
START_TEST(test_rule_order)
{
	struct sim_cc_rule rule = {0, 0, SIM_CC_STATUS, 0x0C};
	struct iba_congestion_info info = {0};

	ck_assert(sim_cc_answer(net->sim, host, &rule));
	rule = (struct sim_cc_rule){IBA_ATTR_CONGESTION_INFO, GET, SIM_CC_STATUS, 0x1C};
	ck_assert(sim_cc_answer(net->sim, host, &rule));
	ck_assert_int_eq(ASK(host, GET, CONGESTION_INFO, 0, congestion_info, &info), 0x1C);
	ck_assert_int_eq(ASK(host, GET, TIME_STAMP, 0, time_stamp, &info), 0x0C);
	for (unsigned int i = 2; i < SIM_CC_RULES_MAX; i++) {
		rule.attribute = 0x100 + i;
		ck_assert(sim_cc_answer(net->sim, host, &rule));
		ck_assert(sim_cc_answer(net->sim, host, &rule)); /* replaces itself */
	}
	rule.attribute = 0x200;
	ck_assert(!sim_cc_answer(net->sim, host, &rule));
	sim_cc_set_default(net->sim, host);
	ck_assert_int_eq(ASK(host, GET, CONGESTION_INFO, 0, congestion_info, &info), 0);
}
END_TEST

START_TEST(test_silence)
{
	struct iba_congestion_info info = {0};

	sim_cc_silence(net->sim, host, 5 * NS_PER_S);
	ck_assert_int_eq(ASK(host, GET, CONGESTION_INFO, 0, congestion_info, &info), -1);
	net_run_ms(net, 6000);
	ck_assert_int_eq(ASK(host, GET, CONGESTION_INFO, 0, congestion_info, &info), 0);
}
END_TEST

START_TEST(test_kinds)
{
	struct iba_class_port_info class_port_info = {0};
	struct iba_congestion_info info = {0};
	struct iba_congestion_key_info key = {.cc_key = 5};

	ck_assert_int_eq(ASK(host, GET, CLASS_PORT_INFO, 0, class_port_info, &class_port_info), 0);
	ck_assert_uint_eq(class_port_info.capability_mask, 1);
	ck_assert(!sim_cc_set_info(net->sim, host, 0, SIM_CC_BLOCKS_MAX + 1));
	ck_assert(sim_cc_set_info(net->sim, host, 0x60, 5));
	sim_cc_set(net->sim, host, SIM_CC_VERSION_1 | SIM_CC_KEYLESS);
	ck_assert_int_eq(ASK(host, GET, CLASS_PORT_INFO, 0, class_port_info, &class_port_info), 0);
	ck_assert_uint_eq(class_port_info.class_version, 1);
	ck_assert_uint_eq(class_port_info.capability_mask, 0);
	ck_assert_int_eq(ASK(host, GET, CONGESTION_INFO, 0, congestion_info, &info), 0);
	ck_assert_uint_eq(info.congestion_info, 0x60);
	ck_assert_uint_eq(info.control_table_cap, 5);
	ck_assert_int_eq(ASK(host, GET, CONGESTION_KEY_INFO, 0, congestion_key_info, &key), 0xC);
	ck_assert_int_eq(ASK(host, SET, CONGESTION_KEY_INFO, 0, congestion_key_info, &key), 0xC);
	sim_cc_set(net->sim, host, SIM_CC_GARBAGE);
	ck_assert_int_gt(ASK(host, GET, CONGESTION_INFO, 0, congestion_info, &info), 0);
}
END_TEST

START_TEST(test_refuses_same)
{
	struct iba_ca_congestion_setting setting = {.control_map = 1, .sl[0] = {.ccti_timer = 7}};

	sim_cc_set(net->sim, host, SIM_CC_REFUSES_SAME);
	ck_assert_int_eq(ASK(host, SET, CA_CONGESTION_SETTING, 0, ca_congestion_setting, &setting),
			 0);
	ck_assert_int_eq(ASK(host, SET, CA_CONGESTION_SETTING, 0, ca_congestion_setting, &setting),
			 IBA_STATUS_INVALID_FIELD);
	setting.sl[0].ccti_timer++;
	ck_assert_int_eq(ASK(host, SET, CA_CONGESTION_SETTING, 0, ca_congestion_setting, &setting),
			 0);
}
END_TEST

/* Asked for as octets: ones exactly where no field is. */
START_TEST(test_other_bits)
{
	uint8_t mad[256];

	sim_cc_set(net->sim, host, SIM_CC_OTHER_BITS);
	net_smp(net, mad, IBA_CLASS_CC, GET, IBA_ATTR_CA_CONGESTION_SETTING, 0);
	mad[2] = IBA_CC_CLASS_VERSION;
	memset(mad + 24, 0, 232);
	ck_assert_int_eq(net_gmp_ask(net, net_lid(host), mad), 0);
	for (unsigned int i = 0; i < 16; i++) {
		static const uint8_t entry[8] = {0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF};

		ck_assert_mem_eq(mad + 64 + 4 + 8 * i, entry, 8);
	}
	ck_assert_uint_eq(mad[64], 0);
}
END_TEST

/* Port 0 of a switch as a CA. */
START_TEST(test_port0)
{
	struct iba_ca_congestion_setting setting = {.control_map = 1, .sl[0] = {.ccti_timer = 7}};
	struct iba_class_port_info class_port_info = {0};
	struct iba_congestion_info info = {0};

	sim_cc_set(net->sim, sw, SIM_CC_DEFAULT | SIM_CC_PORT0);
	ck_assert_int_eq(ASK(sw, GET, CLASS_PORT_INFO, 0, class_port_info, &class_port_info), 0);
	ck_assert_uint_eq(class_port_info.capability_mask, 0x101);
	ck_assert_int_eq(ASK(sw, GET, CONGESTION_INFO, 0, congestion_info, &info), 0);
	ck_assert_uint_eq(info.control_table_cap, 2);
	ck_assert_int_eq(ASK(sw, SET, CA_CONGESTION_SETTING, 0, ca_congestion_setting, &setting),
			 0);
	ck_assert_uint_eq(setting.sl[0].ccti_timer, 7);
	ck_assert_int_eq(
		ASK(host, GET, SWITCH_CONGESTION_SETTING, 0, switch_congestion_setting, &setting),
		IBA_STATUS_UNSUP_METHOD_ATTR);
	sim_cc_set(net->sim, sw, SIM_CC_DEFAULT);
	ck_assert_int_eq(ASK(sw, GET, CA_CONGESTION_SETTING, 0, ca_congestion_setting, &setting),
			 IBA_STATUS_UNSUP_METHOD_ATTR);
}
END_TEST

/* A table of 16 blocks, and one that is cut. */
START_TEST(test_large_table)
{
	struct iba_congestion_control_table table = {.ccti_limit = 1023};
	struct sim_cc_view view;

	ck_assert(sim_cc_set_info(net->sim, host, 0, 16));
	table.entry[63].cct_multiplier = 99;
	ck_assert_int_eq(
		ASK(host, SET, CONGESTION_CONTROL_TABLE, 15, congestion_control_table, &table), 0);
	sim_cc_view(net->sim, host, 1, &view);
	ck_assert_uint_eq(view.entry[1023].cct_multiplier, 99);
	ck_assert_uint_eq(view.ccti_limit, 1023);
	ck_assert(sim_cc_set_info(net->sim, host, 0, 1));
	sim_cc_view(net->sim, host, 1, &view);
	ck_assert_uint_eq(view.ccti_limit, 0);
	table.ccti_limit = 64;
	ck_assert_int_eq(
		ASK(host, SET, CONGESTION_CONTROL_TABLE, 0, congestion_control_table, &table),
		IBA_STATUS_INVALID_FIELD);
	table.ccti_limit = 63;
	ck_assert_int_eq(
		ASK(host, SET, CONGESTION_CONTROL_TABLE, 0, congestion_control_table, &table), 0);
	ck_assert_int_eq(
		ASK(host, SET, CONGESTION_CONTROL_TABLE, 1, congestion_control_table, &table),
		IBA_STATUS_INVALID_FIELD);
}
END_TEST

/* ---- the form before the errata ---- */

START_TEST(test_old_form_setting)
{
	struct iba_ca_congestion_setting_packed setting = {
		.control_map = 3, .sl[15] = {.ccti_increase = 1, .ccti_timer = 150, .ccti_min = 2}};
	struct iba_congestion_control_table_packed table = {.ccti_limit = 1};
	struct iba_class_port_info class_port_info = {.trap_lid = 1};
	struct iba_congestion_key_info key = {.cc_key = 5};
	struct sim_cc_view view;

	sim_cc_set(net->sim, host, SIM_CC_OLD_FORM);
	cc_key = 99; /* not looked at */
	ck_assert_int_eq(ASK(host, GET, CLASS_PORT_INFO, 0, class_port_info, &class_port_info), 0);
	ck_assert_uint_eq(class_port_info.class_version, 1);
	ck_assert_uint_eq(class_port_info.resp_time_value, 18);
	ck_assert_int_eq(ASK(host, SET, CLASS_PORT_INFO, 0, class_port_info, &class_port_info),
			 0xC);
	ck_assert_int_eq(ASK(host, GET, CONGESTION_KEY_INFO, 0, congestion_key_info, &key), 0xC);
	ck_assert_int_eq(ASK(host, GET, TIME_STAMP, 0, time_stamp, &key), 0xC);
	ck_assert_int_eq(
		ASK(host, SET, CA_CONGESTION_SETTING, 0, ca_congestion_setting_packed, &setting),
		0);
	ck_assert_uint_eq(setting.sl[15].ccti_timer, 150); /* the request, mirrored */
	ck_assert_int_eq(
		ASK(host, GET, CA_CONGESTION_SETTING, 0, ca_congestion_setting_packed, &setting),
		0);
	ck_assert_uint_eq(setting.sl[15].ccti_timer, 0); /* not in effect */
	ck_assert_int_eq(ASK(host, SET, CONGESTION_CONTROL_TABLE, 0,
			     congestion_control_table_packed, &table),
			 0);
	ck_assert_int_eq(
		ASK(host, GET, CA_CONGESTION_SETTING, 0, ca_congestion_setting_packed, &setting),
		0);
	ck_assert_uint_eq(setting.sl[15].ccti_timer, 150);
	ck_assert_uint_eq(setting.sl[15].ccti_min, 2);
	ck_assert_uint_eq(setting.port_control, 1);
	sim_cc_view(net->sim, host, 1, &view);
	ck_assert_uint_eq(view.ca_setting.sl[15].ccti_increase, 1);
	ck_assert_uint_eq(view.ccti_limit, 1);
}
END_TEST

static const struct {
	uint8_t method;
	unsigned int block;
	uint16_t limit;
	int status;
	uint16_t after; /* limit in effect, or answered to a Get */
} old_tables[] = {
	{IBA_METHOD_GET, 0, 0, 0, 63},	   {IBA_METHOD_GET, 1, 0, 0xC, 0},
	{IBA_METHOD_SET, 0, 63, 0, 63},	   {IBA_METHOD_SET, 1, 127, 0, 127},
	{IBA_METHOD_GET, 1, 0, 0, 127},	   {IBA_METHOD_SET, 1, 127, 0xC, 127},
	{IBA_METHOD_SET, 0, 10, 0, 10},	   {IBA_METHOD_GET, 1, 0, 0xC, 0},
	{IBA_METHOD_SET, 2, 191, 0xC, 10}, {IBA_METHOD_SET, 1, 100, 0, 47},
};

START_TEST(test_old_form_table)
{
	struct iba_congestion_control_table_packed table = {0};
	struct sim_cc_view view;

	sim_cc_set(net->sim, host, SIM_CC_OLD_FORM);
	for (unsigned int i = 0; i < G_N_ELEMENTS(old_tables); i++) {
		table.ccti_limit = old_tables[i].limit;
		table.entry[0].cct_multiplier = 7;
		ck_assert_int_eq(ask_lid(net_lid(host), old_tables[i].method,
					 IBA_ATTR_CONGESTION_CONTROL_TABLE, old_tables[i].block,
					 &iba_congestion_control_table_packed_type, &table),
				 old_tables[i].status);
		sim_cc_view(net->sim, host, 1, &view);
		if (old_tables[i].method == SET)
			ck_assert_uint_eq(view.ccti_limit, old_tables[i].after);
		else if (!old_tables[i].status)
			ck_assert_uint_eq(table.ccti_limit, old_tables[i].after);
	}
	ck_assert_uint_eq(view.entry[64].cct_multiplier, 7);
}
END_TEST

/* What is written by the layout of today lands elsewhere, which reading it back shows. */
START_TEST(test_old_form_mistaken)
{
	struct iba_ca_congestion_setting setting = {.control_map = 0xFFFF};
	struct iba_congestion_control_table table = {.ccti_limit = 63};

	for (unsigned int sl = 0; sl < 16; sl++)
		setting.sl[sl] = (struct iba_ca_congestion_entry){150, 1, 2, 0};
	for (unsigned int i = 0; i < 64; i++)
		table.entry[i].cct_multiplier = i;
	sim_cc_set(net->sim, host, SIM_CC_OLD_FORM);
	ck_assert_int_eq(ASK(host, SET, CA_CONGESTION_SETTING, 0, ca_congestion_setting, &setting),
			 0);
	ck_assert_int_eq(
		ASK(host, SET, CONGESTION_CONTROL_TABLE, 0, congestion_control_table, &table), 0);
	ck_assert_int_eq(ASK(host, GET, CA_CONGESTION_SETTING, 0, ca_congestion_setting, &setting),
			 0);
	ck_assert_uint_eq(setting.sl[0].ccti_timer, 150); /* at its octets in both */
	ck_assert_uint_eq(setting.sl[15].ccti_timer, 0);  /* behind the packed ones */
	ck_assert_int_eq(
		ASK(host, GET, CONGESTION_CONTROL_TABLE, 0, congestion_control_table, &table), 0);
	ck_assert_uint_eq(table.entry[62].cct_multiplier, 62);
	ck_assert_uint_eq(table.entry[63].cct_multiplier, 0);
}
END_TEST

/* ---- ports and restarts ---- */

static const char two_ports[] = "Switch 4 \"S-1\" # \"sw\"\n"
				"[1] \"H-1\"[1]\n[2] \"H-2\"[1]\n[3] \"H-2\"[2]\n"
				"Ca 1 \"H-1\" # \"one\"\n[1] \"S-1\"[1]\n"
				"Ca 2 \"H-2\" # \"two\"\n[1] \"S-1\"[2]\n[2] \"S-1\"[3]\n";

/* Both ports of a CA have keys and settings of their own. */
START_TEST(test_two_ports)
{
	struct iba_congestion_key_info key = {.cc_key = 0x55};
	struct iba_congestion_info info = {0};
	struct iba_switch_info switch_info;
	struct iba_port_info port_info;
	struct sim_cc_view view;
	uint16_t lid = 100;
	unsigned int two;
	uint8_t lft[64];

	net_free(net);
	net = net_new_text(two_ports);
	ck_assert(vendor_bind(net->vendor, IBA_CLASS_CC, false, &net->client, NULL));
	two = sim_find_name(net->sim, "two");
	sim_link_set(net->sim, two, 2, false);
	net_bring_up(net);
	sim_link_set(net->sim, two, 2, true);
	port_info = *sim_port_info(net->sim, two, 2);
	port_info.lid = lid;
	port_info.port_state = IBA_PORT_ACTIVE;
	sim_set_port_info(net->sim, two, 2, &port_info);
	sw = sim_find_name(net->sim, "sw");
	port_info = *sim_port_info(net->sim, sw, 3);
	port_info.port_state = IBA_PORT_ACTIVE;
	sim_set_port_info(net->sim, sw, 3, &port_info);
	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_SWITCH_INFO, 0, lft), 0);
	wire_decode(&iba_switch_info_type, lft, &switch_info);
	switch_info.linear_fdb_top = lid;
	wire_encode(&iba_switch_info_type, &switch_info, lft);
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_SWITCH_INFO, 0, lft), 0);
	memset(lft, 0xFF, sizeof(lft));
	lft[lid % 64] = 3;
	ck_assert_int_eq(
		net_direct_ask(net, sw, SET, IBA_ATTR_LINEAR_FORWARDING_TABLE, lid / 64, lft), 0);
	ck_assert_int_eq(ASK_LID(lid, SET, CONGESTION_KEY_INFO, 0, congestion_key_info, &key), 0);
	ck_assert_int_eq(ASK_LID(lid, GET, CONGESTION_INFO, 0, congestion_info, &info), -1);
	ck_assert_int_eq(ASK(two, GET, CONGESTION_INFO, 0, congestion_info, &info), 0);
	sim_cc_view(net->sim, two, 1, &view);
	ck_assert_uint_eq(view.key.cc_key, 0);
	sim_cc_view(net->sim, two, 2, &view);
	ck_assert_uint_eq(view.key.cc_key, 0x55);
	ck_assert_uint_eq(view.key.cc_key_violations, 1);
}
END_TEST

/* A restart of the agent: the links stay up, settings and time are lost. */
START_TEST(test_warm_restart)
{
	struct iba_congestion_key_info key = {.cc_key = 0x55};
	struct iba_time_stamp stamp = {0};

	ck_assert_int_eq(ASK(sw, SET, CONGESTION_KEY_INFO, 0, congestion_key_info, &key), 0);
	sim_cc_set_time(net->sim, sw, 5000000);
	cc_key = 0x55;
	ck_assert_int_eq(ASK(sw, GET, TIME_STAMP, 0, time_stamp, &stamp), 0);
	ck_assert_uint_ge(stamp.time_stamp, 5000000);
	sim_cc_restart(net->sim, sw);
	ck_assert(sim_link_up(net->sim, sw, 1));
	cc_key = 0;
	ck_assert_int_eq(ASK(sw, GET, CONGESTION_KEY_INFO, 0, congestion_key_info, &key), 0);
	ck_assert_uint_eq(key.cc_key, 0);
	ck_assert_int_eq(ASK(sw, GET, TIME_STAMP, 0, time_stamp, &stamp), 0);
	ck_assert_uint_lt(stamp.time_stamp, 5000000);
}
END_TEST

/* ---- traps ---- */

/* Traps of a switch or host to this client, which is a manager here. */
static void expect_traps(unsigned int node)
{
	struct iba_class_port_info info = {
		.trap_lid = net_lid(net->self),
		.trap_p_key = 0xFFFF,
		.trap_qp = IBA_QP1,
		.trap_q_key = IBA_QP1_Q_KEY,
	};
	struct iba_congestion_key_info key = {.cc_key = 0x55, .cc_key_lease_period = 60};

	net_free(net);
	net = net_new("fattree:4", NULL);
	ck_assert(vendor_bind(net->vendor, IBA_CLASS_CC, true, &net->client, NULL));
	net_bring_up(net);
	info.trap_lid = net_lid(net->self);
	ck_assert_int_eq(ASK(node, SET, CLASS_PORT_INFO, 0, class_port_info, &info), 0);
	ck_assert_int_eq(ASK(node, SET, CONGESTION_KEY_INFO, 0, congestion_key_info, &key), 0);
}

static void guess_key(unsigned int node, unsigned int times)
{
	uint8_t mad[256];

	net_smp(net, mad, IBA_CLASS_CC, SET, IBA_ATTR_CA_CONGESTION_SETTING, 3);
	mad[2] = IBA_CC_CLASS_VERSION;
	memset(mad + 24, 0x77, 8);
	for (unsigned int i = 0; i < times; i++) {
		const struct vendor_address to = {
			.lid = net_lid(node), .qpn = IBA_QP1, .qkey = IBA_QP1_Q_KEY};

		ck_assert(vendor_send(net->vendor, &to, mad, 256, 0));
	}
}

/* The next trap; its TID in mad. False: none within that time. */
static bool take_trap(uint8_t mad[256], uint64_t ms)
{
	struct vendor_mad *taken = net_take(net, ms);

	if (!taken)
		return false;
	ck_assert_uint_eq(taken->data[3], IBA_METHOD_TRAP);
	memcpy(mad, taken->data, 256);
	vendor_mad_free(taken);
	return true;
}

static void repress(unsigned int node, const uint8_t trap[256], uint8_t key)
{
	const struct vendor_address to = {
		.lid = net_lid(node), .qpn = IBA_QP1, .qkey = IBA_QP1_Q_KEY};
	uint8_t mad[256];

	memcpy(mad, trap, 256);
	mad[3] = IBA_METHOD_TRAP_REPRESS;
	mad[31] = key;
	ck_assert(vendor_send(net->vendor, &to, mad, 256, 0));
	net_run_ms(net, 10);
}

START_TEST(test_trap)
{
	unsigned int node = _i ? sw : host;
	struct iba_sa_notice notice;
	struct iba_trap_cc_key details;
	struct iba_cc_mad decoded;
	struct sim_cc_view view;
	uint8_t mad[256];

	expect_traps(node);
	guess_key(node, 1000);
	ck_assert(take_trap(mad, 100));
	wire_decode(&iba_cc_mad_type, mad, &decoded);
	wire_decode(&iba_sa_notice_type, decoded.data, &notice);
	wire_decode(&iba_trap_cc_key_type, notice.notice.data_details, &details);
	ck_assert_uint_eq(decoded.header.mgmt_class, IBA_CLASS_CC);
	ck_assert_uint_eq(decoded.header.class_version, IBA_CC_CLASS_VERSION);
	ck_assert_uint_eq(decoded.header.attribute_id, IBA_ATTR_NOTICE);
	ck_assert_uint_eq(notice.notice.trap_number, 0);
	ck_assert_uint_eq(notice.notice.is_generic, 1);
	ck_assert_uint_eq(notice.notice.issuer_lid, net_lid(node));
	ck_assert_uint_eq(notice.issuer_gid.guid, sim_port_guid(net->sim, node, _i ? 0 : 1));
	ck_assert_uint_eq(details.slid, net_lid(net->self));
	ck_assert_uint_eq(details.method, SET);
	ck_assert_uint_eq(details.attribute_id, IBA_ATTR_CA_CONGESTION_SETTING);
	ck_assert_uint_eq(details.attribute_modifier, 3);
	ck_assert_uint_eq(details.qp, IBA_QP1);
	ck_assert_uint_eq(details.cc_key, UINT64_C(0x7777777777777777));
	/* A thousand violations are one trap, which is repeated every 3 s. */
	ck_assert(!take_trap(mad, 2500));
	ck_assert(take_trap(mad, 600));
	/* A sender that does not know the key does not repress it. */
	repress(node, mad, 0);
	ck_assert(take_trap(mad, 3100));
	repress(node, mad, 0x55);
	ck_assert(!take_trap(mad, 10000));
	sim_cc_view(net->sim, node, 1, &view);
	ck_assert_uint_eq(view.key.cc_key_violations, 1001);
	guess_key(node, 1);
	ck_assert(take_trap(mad, 100)); /* a new one */
}
END_TEST

START_TEST(test_no_trap)
{
	uint8_t mad[256];

	expect_traps(host);
	sim_cc_set(net->sim, host, 0);
	guess_key(host, 1);
	ck_assert(!take_trap(mad, 4000));
	sim_cc_set(net->sim, host, SIM_CC_DEFAULT);
	guess_key(host, 1);
	ck_assert(take_trap(mad, 100));
	sim_cc_restart(net->sim, host); /* its destination is lost */
	ck_assert(!take_trap(mad, 4000));
	expect_traps(host);
	guess_key(host, 1);
	ck_assert(take_trap(mad, 100));
	sim_set_traps_lost(net->sim, true);
	ck_assert(!take_trap(mad, 40000)); /* it gives up */
	sim_set_traps_lost(net->sim, false);
	ck_assert(!take_trap(mad, 4000));
}
END_TEST

/* ---- logs ---- */

START_TEST(test_switch_log)
{
	struct sim_cc_event event = {.slid = net_lid(host), .dlid = net_lid(net->self), .sl = 3};
	struct iba_congestion_log_switch log = {0};
	uint32_t young;

	ck_assert(!sim_cc_event(net->sim, sw, 0, &event, 1));
	ck_assert(!sim_cc_event(net->sim, sw, 5, &event, 1));
	ck_assert(sim_cc_event(net->sim, sw, 2, &event, 20));
	event.slid = 77;
	net_run_ms(net, 5);
	sim_cc_set_time(net->sim, sw, 10000);
	ck_assert(sim_cc_event(net->sim, sw, 4, &event, 1));
	ck_assert_int_eq(ASK(sw, GET, CONGESTION_LOG, 0, congestion_log_switch, &log), 0);
	ck_assert_uint_eq(log.log_type, IBA_CC_LOG_SWITCH);
	ck_assert_uint_eq(log.log_events_counter, 21);
	ck_assert_uint_eq(log.port_map[31], 1 << 2 | 1 << 4);
	/* A ring: the last one is not at an end. */
	ck_assert_uint_eq(log.event[0].slid, 77);
	young = log.event[0].time_stamp;
	ck_assert_uint_eq(young, 10000);
	for (unsigned int i = 1; i < 15; i++) {
		ck_assert_uint_eq(log.event[i].slid, net_lid(host));
		ck_assert_uint_eq(log.event[i].dlid, net_lid(net->self));
		ck_assert_uint_eq(log.event[i].sl, 3);
	}
	ck_assert_int_eq(ASK(sw, GET, CONGESTION_LOG, 0, congestion_log_switch, &log), 0);
	ck_assert_uint_eq(log.log_events_counter, 0);
	ck_assert_uint_eq(log.port_map[31], 0);
	ck_assert_uint_eq(log.event[0].slid, 77);
	ck_assert(sim_cc_event(net->sim, sw, 4, &event, 70000));
	ck_assert_int_eq(ASK(sw, GET, CONGESTION_LOG, 0, congestion_log_switch, &log), 0);
	ck_assert_uint_eq(log.log_events_counter, 0xFFFF);
	/* What ports counted. */
	ck_assert_uint_eq(sim_true_count(net->sim, sw, 2, SIM_COUNT_VL_CONGESTION + 3), 20);
	ck_assert_uint_eq(sim_true_count(net->sim, net->self, 1, SIM_COUNT_PORT_PKT_RCV_FECN),
			  70021);
	ck_assert_uint_eq(sim_true_count(net->sim, net->self, 1, SIM_COUNT_SL_RCV_FECN + 3), 70021);
}
END_TEST

START_TEST(test_ca_log)
{
	struct sim_cc_event event = {
		.dlid = 9, .sl = 5, .local_qp = 0x123, .remote_qp = 0x456, .service_type = 1};
	struct iba_congestion_log_ca log = {0};
	struct iba_congestion_log_ca_old old = {0};

	ck_assert(!sim_cc_event(net->sim, host, 2, &event, 1));
	ck_assert(sim_cc_event(net->sim, host, 1, &event, 2));
	ck_assert_int_eq(ASK(host, GET, CONGESTION_LOG, 0, congestion_log_ca, &log), 0);
	ck_assert_uint_eq(log.log_type, IBA_CC_LOG_CA);
	ck_assert_uint_eq(log.threshold_event_counter, 2);
	ck_assert_uint_eq(log.threshold_congestion_event_map, 1 << 5);
	ck_assert_uint_eq(log.event[1].local_qp_cn_entry, 0x123);
	ck_assert_uint_eq(log.event[1].remote_qp_number_cn_entry, 0x456);
	ck_assert_uint_eq(log.event[1].sl_cn_entry, 5);
	ck_assert_uint_eq(log.event[1].service_type_cn_entry, 1);
	ck_assert_uint_eq(log.event[1].local_lid_cn, net_lid(host));
	ck_assert_uint_eq(log.event[1].remote_lid_cn_entry, 9);
	ck_assert_uint_eq(log.event[2].local_qp_cn_entry, 0);
	sim_cc_set(net->sim, host, SIM_CC_DEFAULT | SIM_CC_OLD_LOG);
	ck_assert_int_eq(ASK(host, GET, CONGESTION_LOG, 0, congestion_log_ca_old, &old), 0);
	ck_assert_uint_eq(old.threshold_event_counter, 0);
	ck_assert_uint_eq(old.threshold_congestion_event_map, 0);
	ck_assert_uint_eq(old.event[1].local_qp_cn_entry, 0x123);
	ck_assert_uint_eq(old.event[1].remote_qp_number_cn_entry, 0x456);
	ck_assert_uint_eq(old.event[1].sl_cn_entry, 5);
	ck_assert_uint_eq(old.event[1].service_type_cn_entry, 1);
	ck_assert_uint_eq(old.event[1].remote_lid_cn_entry, 9);
	ck_assert(sim_cc_event(net->sim, host, 1, &event, UINT32_MAX));
	ck_assert_int_eq(ASK(host, GET, CONGESTION_LOG, 0, congestion_log_ca, &log), 0);
	ck_assert_uint_eq(log.threshold_event_counter, 0xFFFF);
	ck_assert_uint_eq(sim_true_count(net->sim, host, 1, SIM_COUNT_PORT_PKT_RCV_BECN),
			  2 + (uint64_t)UINT32_MAX);
	ck_assert_uint_eq(sim_true_count(net->sim, host, 1, SIM_COUNT_SL_RCV_BECN + 5),
			  2 + (uint64_t)UINT32_MAX);
}
END_TEST

/* Times wrap after 73 minutes; events of more than two such periods ago are zeros. */
START_TEST(test_log_wraps)
{
	struct sim_cc_event event = {.slid = 1, .dlid = 2};
	struct iba_congestion_log_switch log = {0};
	const uint64_t wrap_ms = (UINT64_C(1) << 32) * 1024 / NS_PER_MS;

	sim_cc_set_time(net->sim, sw, UINT32_MAX - 1000);
	ck_assert(sim_cc_event(net->sim, sw, 1, &event, 1));
	/* Something has to happen for time to go on. */
	sim_link_flap(net->sim, sim_find_name(net->sim, "host-9"), 1, 100 * NS_PER_S, NS_PER_S,
		      1000);
	net_run_ms(net, 1100 * 100);
	ck_assert_int_eq(ASK(sw, GET, CONGESTION_LOG, 0, congestion_log_switch, &log), 0);
	ck_assert_uint_eq(log.event[0].time_stamp, UINT32_MAX - 1000);
	ck_assert_uint_lt(log.current_time_stamp, UINT32_MAX / 2);
	net_run_ms(net, wrap_ms);
	ck_assert_int_eq(ASK(sw, GET, CONGESTION_LOG, 0, congestion_log_switch, &log), 0);
	ck_assert_uint_eq(log.event[0].slid, 1);
	net_run_ms(net, wrap_ms);
	ck_assert_int_eq(ASK(sw, GET, CONGESTION_LOG, 0, congestion_log_switch, &log), 0);
	ck_assert_uint_eq(log.event[0].slid, 0);
	ck_assert_uint_eq(log.event[0].time_stamp, 0);
}
END_TEST

/* ---- as text ---- */

static char *text_of(unsigned int node, unsigned int port)
{
	GString *text = g_string_new(NULL);

	sim_cc_append_text(net->sim, node, port, text);
	return g_string_free(text, FALSE);
}

START_TEST(test_text)
{
	struct iba_switch_congestion_setting setting = {
		.control_map = 0x1F, .threshold = 15, .packet_size = 8, .cs_return_delay = 0x4005};
	struct iba_switch_port_congestion_setting ports = {.port[2] = {.valid = 1, .threshold = 3}};
	struct iba_congestion_control_table table = {
		.ccti_limit = 2, .entry[2] = {.cct_shift = 1, .cct_multiplier = 9}};
	struct iba_ca_congestion_setting ca = {.control_map = 1, .sl[0] = {150, 1, 2, 0}};
	g_autofree char *before = text_of(host, 1), *of_switch = NULL, *of_host = NULL;

	setting.victim_mask[30] = 1;
	setting.victim_mask[31] = 0x1E;
	ck_assert_str_eq(before, "key: none ProtectBit 0 LeasePeriod 0\n"
				 "CA: PortControl 0x0000 ControlMap 0x0000\n"
				 "table: CCTI_Limit 0\n");
	ASK(sw, SET, SWITCH_CONGESTION_SETTING, 0, switch_congestion_setting, &setting);
	ASK(sw, SET, SWITCH_PORT_CONGESTION_SETTING, 0, switch_port_congestion_setting, &ports);
	of_switch = text_of(sw, 0);
	ck_assert_str_eq(of_switch,
			 "key: none ProtectBit 0 LeasePeriod 0\n"
			 "switch: ControlMap 0x1F VictimMask 0x011E CreditMask 0x00 Threshold 15 "
			 "PacketSize 8 CSThreshold 0 CSReturnDelay 1:5 MarkingRate 0\n"
			 "switch port 2: ControlType 0 Threshold 3 PacketSize 0 CongParm 0\n");
	ASK(host, SET, CA_CONGESTION_SETTING, 0, ca_congestion_setting, &ca);
	ASK(host, SET, CONGESTION_CONTROL_TABLE, 0, congestion_control_table, &table);
	of_host = text_of(host, 1);
	ck_assert_str_eq(of_host,
			 "key: none ProtectBit 0 LeasePeriod 0\n"
			 "CA: PortControl 0x0000 ControlMap 0x0001\n"
			 "CA SL 0: CCTI_Timer 150 CCTI_Increase 1 TriggerThreshold 2 CCTI_Min 0\n"
			 "table: CCTI_Limit 2 0:0,0:0,1:9\n");
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
	tcase_add_loop_test(tcase, test_rules, 0, G_N_ELEMENTS(rules));
	tcase_add_test(tcase, test_rule_order);
	tcase_add_test(tcase, test_silence);
	tcase_add_test(tcase, test_kinds);
	tcase_add_test(tcase, test_refuses_same);
	tcase_add_test(tcase, test_other_bits);
	tcase_add_test(tcase, test_port0);
	tcase_add_test(tcase, test_large_table);
	tcase_add_test(tcase, test_old_form_setting);
	tcase_add_test(tcase, test_old_form_table);
	tcase_add_test(tcase, test_old_form_mistaken);
	tcase_add_test(tcase, test_two_ports);
	tcase_add_test(tcase, test_warm_restart);
	tcase_add_loop_test(tcase, test_trap, 0, 2);
	tcase_add_test(tcase, test_no_trap);
	tcase_add_test(tcase, test_switch_log);
	tcase_add_test(tcase, test_ca_log);
	tcase_add_test(tcase, test_log_wraps);
	tcase_add_test(tcase, test_text);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
