// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Attributes that only some nodes have; enforcement of partitions; traps of violated keys. */
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

static void drain(void)
{
	struct vendor_mad *mad;

	while ((mad = net_take(net, 0)))
		vendor_mad_free(mad);
}

/* ---- attributes ---- */

START_TEST(test_vendor_diag)
{
	uint8_t data[64];

	memset(data, 0xFF, sizeof(data));
	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_VENDOR_DIAG, 0, data), 0);
	for (unsigned int i = 0; i < sizeof(data); i++)
		ck_assert_uint_eq(data[i], 0);
	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_VENDOR_DIAG, 1, data),
			 IBA_STATUS_INVALID_FIELD);
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_VENDOR_DIAG, 0, data),
			 IBA_STATUS_UNSUP_METHOD_ATTR);
}
END_TEST

static void sl_to_vl(unsigned int in, unsigned int out, uint8_t data[64])
{
	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_SL_TO_VL_TABLE, in << 8 | out, data),
			 0);
}

START_TEST(test_optimized_sl_to_vl)
{
	struct iba_switch_info info;
	uint8_t data[64] = {0};

	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_SWITCH_INFO, 0, data), 0);
	wire_decode(&iba_switch_info_type, data, &info);
	ck_assert_uint_eq(info.optimized_sl_to_vl_mapping_programming, 1);
	memset(data, 0x11, sizeof(data));
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_SL_TO_VL_TABLE, 0x30000, data), 0);
	for (unsigned int in = 0; in <= 4; in++)
		for (unsigned int out = 1; out <= 4; out++) {
			sl_to_vl(in, out, data);
			ck_assert_uint_eq(data[0], 0x11);
			ck_assert_uint_eq(data[7], 0x11);
			ck_assert_uint_eq(data[8], 0);
		}
	memset(data, 0x22, sizeof(data));
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_SL_TO_VL_TABLE, 0x20003, data), 0);
	memset(data, 0x33, sizeof(data));
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_SL_TO_VL_TABLE, 0x10200, data), 0);
	for (unsigned int in = 0; in <= 4; in++)
		for (unsigned int out = 1; out <= 4; out++) {
			sl_to_vl(in, out, data);
			ck_assert_uint_eq(data[0], in == 2 ? 0x33 : out == 3 ? 0x22 : 0x11);
		}
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_SL_TO_VL_TABLE, 0x20005, data),
			 IBA_STATUS_INVALID_FIELD);
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_SL_TO_VL_TABLE, 0x10500, data),
			 IBA_STATUS_INVALID_FIELD);
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_SL_TO_VL_TABLE, 0x40000, data),
			 IBA_STATUS_INVALID_FIELD);
	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_SL_TO_VL_TABLE, 0x30000, data),
			 IBA_STATUS_INVALID_FIELD);
}
END_TEST

static struct net *cable_net(const char *rate)
{
	g_autofree char *text = g_strdup_printf("Switch 2 \"s\"\n[1] \"a\"[1] # \"a\" lid 0 %s\n"
						"[2] \"b\"[1] # \"b\" lid 0 4xQDR\n"
						"Ca 1 \"a\"\nCa 1 \"b\"\n",
						rate);

	return net_new_text(text);
}

static int ext_port_info(struct net *on, unsigned int node, unsigned int port, uint8_t method,
			 struct iba_ext_port_info *info)
{
	uint8_t data[64] = {0};
	int status;

	wire_encode(&iba_ext_port_info_type, info, data);
	status = net_direct_ask(on, node, method, IBA_ATTR_EXT_PORT_INFO, port, data);
	wire_decode(&iba_ext_port_info_type, data, info);
	return status;
}

START_TEST(test_fdr10)
{
	struct iba_ext_port_info info = {0};
	struct iba_port_info port;
	struct net *fdr10 = cable_net("4xFDR10");
	unsigned int s = sim_find_name(fdr10->sim, "s"), b = sim_find_name(fdr10->sim, "b");

	ck_assert_int_eq(ext_port_info(net, sw, 1, GET, &info), IBA_STATUS_UNSUP_METHOD_ATTR);
	ck_assert_int_eq(ext_port_info(fdr10, b, 1, GET, &info), IBA_STATUS_UNSUP_METHOD_ATTR);
	ck_assert_int_eq(ext_port_info(fdr10, s, 3, GET, &info), IBA_STATUS_INVALID_FIELD);
	ck_assert_int_eq(ext_port_info(fdr10, s, 2, GET, &info), 0);
	ck_assert_uint_eq(info.link_speed_supported, 0); /* of that port */
	ck_assert_int_eq(ext_port_info(fdr10, s, 1, GET, &info), 0);
	ck_assert_uint_eq(info.link_speed_supported, IBA_EXT_PORT_SPEED_FDR10);
	ck_assert_uint_eq(info.link_speed_enabled, IBA_EXT_PORT_SPEED_FDR10);
	ck_assert_uint_eq(info.link_speed_active, IBA_EXT_PORT_SPEED_FDR10);
	net_port_get(fdr10, s, 1, &port);
	ck_assert_uint_eq(port.link_speed_active, IBA_SPEED_QDR);
	ck_assert_uint_eq(port.link_speed_ext_active, 0);
	info.link_speed_enabled = 2;
	ck_assert_int_eq(ext_port_info(fdr10, s, 1, SET, &info), IBA_STATUS_INVALID_FIELD);
	info.link_speed_enabled = 0;
	ck_assert_int_eq(ext_port_info(fdr10, s, 1, SET, &info), 0);
	ck_assert_uint_eq(info.link_speed_enabled, IBA_EXT_PORT_SPEED_FDR10); /* no change asked */
	info.state_change_enable = 1;
	info.link_speed_enabled = 0;
	ck_assert_int_eq(ext_port_info(fdr10, s, 1, SET, &info), 0);
	ck_assert_uint_eq(info.link_speed_enabled, 0);
	ck_assert_uint_eq(info.link_speed_active, IBA_EXT_PORT_SPEED_FDR10); /* until it trains */
	ck_assert_int_eq(net_port_state(fdr10, s, 1, IBA_PORT_DOWN), 0);
	ck_assert_int_eq(ext_port_info(fdr10, s, 1, GET, &info), 0);
	ck_assert_uint_eq(info.link_speed_active, 0);
	net_free(fdr10);
}
END_TEST

static int extended(struct net *on, unsigned int node, uint8_t method,
		    struct iba_port_info_extended *info)
{
	uint8_t data[64] = {0};
	int status;

	wire_encode(&iba_port_info_extended_type, info, data);
	status = net_direct_ask(on, node, method, IBA_ATTR_PORT_INFO_EXTENDED, 1, data);
	wire_decode(&iba_port_info_extended_type, data, info);
	return status;
}

START_TEST(test_port_info_extended)
{
	struct iba_port_info_extended info = {0}, wanted = {.edr_fec_mode_enabled = 3};
	struct net *qdr = cable_net("4xQDR");

	ck_assert_uint_ne(sim_port_info(net->sim, other, 1)->capability_mask2 &
				  IBA_PORT_CAP2_PORT_INFO_EXTENDED,
			  0);
	ck_assert_int_eq(extended(net, other, GET, &info), 0);
	ck_assert_uint_eq(info.capability_mask, 1);
	ck_assert_uint_eq(info.fec_mode_active, 3);
	ck_assert_uint_eq(info.edr_fec_mode_enabled, info.edr_fec_mode_supported);
	ck_assert_int_eq(extended(net, other, SET, &wanted), 0);
	ck_assert_uint_eq(wanted.fec_mode_active, 1);
	ck_assert_uint_eq(wanted.ndr_fec_mode_enabled, info.ndr_fec_mode_enabled);
	wanted.hdr_fec_mode_enabled = 0x8000;
	ck_assert_int_eq(extended(net, other, SET, &wanted), IBA_STATUS_INVALID_FIELD);
	ck_assert_int_eq(extended(qdr, sim_find_name(qdr->sim, "b"), GET, &info), 0);
	ck_assert_uint_eq(info.fec_mode_active, 0);
	net_free(qdr);
}
END_TEST

/* A node reports only what it supports. */
START_TEST(test_capabilities)
{
	struct net *qdr = cable_net("4xQDR"), *hdr = cable_net("4xHDR");
	const struct iba_port_info *info = sim_port_info(qdr->sim, 0, 0);

	ck_assert_uint_eq(info->capability_mask & IBA_PORT_CAP_EXTENDED_SPEEDS, 0);
	ck_assert_uint_eq(info->capability_mask2 & IBA_PORT_CAP2_LINK_SPEED_HDR, 0);
	info = sim_port_info(hdr->sim, 0, 0);
	ck_assert_uint_ne(info->capability_mask & IBA_PORT_CAP_EXTENDED_SPEEDS, 0);
	ck_assert_uint_ne(info->capability_mask2 & IBA_PORT_CAP2_LINK_SPEED_HDR, 0);
	ck_assert_uint_eq(info->capability_mask2 & IBA_PORT_CAP2_LINK_SPEED_NDR, 0);
	ck_assert_uint_ne(sim_port_info(hdr->sim, 0, 1)->link_width_supported & IBA_WIDTH_2X, 0);
	ck_assert(sim_link_degrade(hdr->sim, 0, 1, 2, 50000));
	ck_assert_uint_eq(sim_port_info(hdr->sim, 0, 1)->link_width_active, IBA_WIDTH_2X);
	net_free(qdr);
	net_free(hdr);
}
END_TEST

/* ---- violations ---- */

/* The only trap within a second, which must have that number. */
static struct iba_notice one_trap(uint16_t number, void *details, const struct wire_type *type)
{
	struct vendor_mad *mad;
	struct iba_notice notice;

	net_run_ms(net, 1000);
	mad = net_take(net, 0);
	ck_assert_ptr_nonnull(mad);
	ck_assert_uint_eq(mad->data[3], IBA_METHOD_TRAP);
	wire_decode(&iba_notice_type, mad->data + 64, &notice);
	wire_decode(type, notice.data_details, details);
	ck_assert_uint_eq(notice.trap_number, number);
	ck_assert_uint_eq(notice.type, IBA_NOTICE_SECURITY);
	ck_assert_uint_eq(notice.is_generic, 1);
	vendor_mad_free(mad);
	ck_assert_ptr_null(net_take(net, 0));
	return notice;
}

static void bring_up(void)
{
	net_bring_up(net);
	net_run_ms(net, 100000); /* traps of that are over */
	drain();
}

START_TEST(test_bad_m_key)
{
	struct iba_port_info info;
	struct iba_trap_m_key details;

	bring_up();
	net_port_get(net, other, 1, &info);
	info.port_state = info.port_physical_state = 0;
	info.m_key = 0x99;
	ck_assert_int_eq(net_port_set(net, other, 1, &info), 0);
	ck_assert_int_eq(net_direct_ask(net, other, GET, IBA_ATTR_NODE_INFO, 0, NULL), 0);
	net->m_key = 0x1234;
	for (unsigned int i = 0; i < 5; i++) /* one trap all the same */
		ck_assert_int_eq(net_direct_ask(net, other, SET, IBA_ATTR_LED_INFO, 7, NULL), -1);
	ck_assert_uint_eq(one_trap(256, &details, &iba_trap_m_key_type).issuer_lid, net_lid(other));
	ck_assert_uint_eq(details.method, SET);
	ck_assert_uint_eq(details.attribute_id, IBA_ATTR_LED_INFO);
	ck_assert_uint_eq(details.attribute_modifier, 7);
	ck_assert_uint_eq(details.m_key, 0x1234);
	ck_assert_uint_eq(details.dr_notice, 1);
	ck_assert_uint_eq(details.dr_hop_count, 2);
	ck_assert_uint_eq(details.dr_slid, IBA_LID_PERMISSIVE);
	ck_assert_uint_eq(details.dr_notice_return_path[0], 1);
	ck_assert_uint_eq(sim_port_info(net->sim, other, 1)->m_key_violations, 5);
}
END_TEST

START_TEST(test_bad_m_key_by_lid)
{
	struct iba_port_info info;
	struct iba_trap_m_key details;

	bring_up();
	net_port_get(net, sw, 0, &info);
	info.port_state = info.port_physical_state = 0;
	info.m_key = 0x99;
	info.m_key_protect_bits = 2;
	ck_assert_int_eq(net_port_set(net, sw, 0, &info), 0);
	ck_assert_int_eq(net_lid_ask(net, net_lid(sw), GET, IBA_ATTR_NODE_INFO, 0, NULL), -1);
	one_trap(256, &details, &iba_trap_m_key_type);
	ck_assert_uint_eq(details.lid, net_lid(net->self));
	ck_assert_uint_eq(details.dr_notice, 0);
}
END_TEST

/* A GMP of a class that no client serves. */
static void send_gmp(unsigned int node, uint32_t q_key)
{
	const struct vendor_address to = {.lid = net_lid(node), .qpn = IBA_QP1, .qkey = q_key};
	uint8_t mad[256];

	net_smp(net, mad, IBA_CLASS_BM, GET, IBA_ATTR_CLASS_PORT_INFO, 0);
	ck_assert(vendor_send(net->vendor, &to, mad, 256, 0));
}

static void set_p_keys(unsigned int node, unsigned int port, uint16_t p_key)
{
	uint8_t data[64] = {p_key >> 8, p_key & 0xFF};

	ck_assert_int_eq(net_direct_ask(net, node, SET, IBA_ATTR_P_KEY_TABLE, port << 16, data), 0);
}

START_TEST(test_bad_p_key)
{
	struct iba_trap_key details;

	bring_up();
	send_gmp(other, IBA_QP1_Q_KEY);
	set_p_keys(other, 0, 0x8123);
	send_gmp(other, IBA_QP1_Q_KEY);
	one_trap(257, &details, &iba_trap_key_type);
	ck_assert_uint_eq(details.lid1, net_lid(net->self));
	ck_assert_uint_eq(details.lid2, net_lid(other));
	ck_assert_uint_eq(details.key, 0xFFFF);
	ck_assert_uint_eq(details.qp1, 1);
	ck_assert_uint_eq(details.qp2, 1);
	ck_assert_uint_eq(sim_port_info(net->sim, other, 1)->p_key_violations, 1);
}
END_TEST

START_TEST(test_bad_q_key)
{
	struct iba_trap_key details;

	bring_up();
	send_gmp(other, 0x11111);
	one_trap(258, &details, &iba_trap_key_type);
	ck_assert_uint_eq(details.key, 0x11111);
	ck_assert_uint_eq(sim_port_info(net->sim, other, 1)->q_key_violations, 1);
}
END_TEST

/* At a leaf's port: P_Keys outside its table do not pass, and no SMP is stopped. */
START_TEST(test_enforcement)
{
	struct iba_trap_switch_p_key details;
	struct sim_counters before, after;
	struct iba_port_info info;
	bool inbound = _i;
	unsigned int port = inbound ? 1 : 2; /* of the client, of the other */

	bring_up();
	net_port_get(net, sw, port, &info);
	info.port_state = info.port_physical_state = 0;
	info.partition_enforcement_inbound = inbound;
	info.partition_enforcement_outbound = !inbound;
	ck_assert_int_eq(net_port_set(net, sw, port, &info), 0);
	set_p_keys(sw, port, 0x8123);
	sim_counters(net->sim, &before);
	send_gmp(other, IBA_QP1_Q_KEY);
	one_trap(259, &details, &iba_trap_switch_p_key_type);
	sim_counters(net->sim, &after);
	ck_assert_uint_eq(after.dropped - before.dropped, 1);
	ck_assert_uint_eq(details.port_num, port);
	ck_assert_uint_eq(details.p_key, 0xFFFF);
	ck_assert_uint_eq(details.sw_lid, net_lid(sw));
	ck_assert_uint_eq(sim_port_info(net->sim, sw, port)->p_key_violations, 1);
	ck_assert_int_eq(net_lid_ask(net, net_lid(other), GET, IBA_ATTR_NODE_INFO, 0, NULL), 0);
	set_p_keys(sw, port, 0x7FFF); /* limited lets full members through */
	send_gmp(other, IBA_QP1_Q_KEY);
	net_run_ms(net, 10);
	ck_assert_uint_eq(sim_port_info(net->sim, sw, port)->p_key_violations, 1);
	ck_assert_uint_eq(sim_port_info(net->sim, other, 1)->p_key_violations, 0);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sim_violation");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_vendor_diag);
	tcase_add_test(tcase, test_optimized_sl_to_vl);
	tcase_add_test(tcase, test_fdr10);
	tcase_add_test(tcase, test_port_info_extended);
	tcase_add_test(tcase, test_capabilities);
	tcase_add_test(tcase, test_bad_m_key);
	tcase_add_test(tcase, test_bad_m_key_by_lid);
	tcase_add_test(tcase, test_bad_p_key);
	tcase_add_test(tcase, test_bad_q_key);
	tcase_add_loop_test(tcase, test_enforcement, 0, 2);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
