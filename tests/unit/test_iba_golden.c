// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Attributes as octets typed by hand from the IBA's figures, against the values that they mean. */
#include <check.h>
#include <string.h>

#include <iba/iba.h>

#include "tests/run_suite.h"

#define LINK_LOCAL IBA_DEFAULT_GID_PREFIX

static const struct iba_gid gid1 = {LINK_LOCAL, UINT64_C(0x0002c90300000001)};
static const struct iba_gid gid2 = {LINK_LOCAL, UINT64_C(0x0002c90300000002)};

#define GID1 "fe80000000000000 0002c90300000001"
#define GID2 "fe80000000000000 0002c90300000002"

/* Blanks are for legibility; octets missing at the end are 0. */
static void from_hex(const char *hex, uint8_t *wire, size_t n)
{
	size_t digits = 0;

	memset(wire, 0, n);
	for (; *hex; hex++) {
		if (*hex == ' ')
			continue;
		ck_assert(g_ascii_isxdigit(*hex) && digits / 2 < n);
		wire[digits / 2] = (uint8_t)(wire[digits / 2] << 4 | g_ascii_xdigit_value(*hex));
		digits++;
	}
	ck_assert_uint_eq(digits % 2, 0);
}

static void check_golden(const struct wire_type *type, const void *host, const char *hex)
{
	uint8_t golden[256], wire[256];
	_Alignas(8) uint8_t decoded[512];

	ck_assert_uint_le(wire_bytes(type), sizeof(golden));
	from_hex(hex, golden, wire_bytes(type));
	wire_encode(type, host, wire);
	ck_assert_mem_eq(wire, golden, wire_bytes(type));
	memset(decoded, 0xEE, sizeof(decoded));
	wire_decode(type, golden, decoded);
	ck_assert(wire_match(type, host, decoded, UINT64_MAX));
	wire_encode(type, decoded, wire);
	ck_assert_mem_eq(wire, golden, wire_bytes(type));
}

#define GOLDEN(test, type, hex, ...)                                                               \
	START_TEST(test_##test)                                                                    \
	{                                                                                          \
		const struct iba_##type host = {__VA_ARGS__};                                      \
                                                                                                   \
		check_golden(&iba_##type##_type, &host, hex);                                      \
	}                                                                                          \
	END_TEST

GOLDEN(mad_header, mad_header, "01 04 01 81 001c 0000 0123456789abcdef 0012 0000 80000001",
       .base_version = 1, .mgmt_class = IBA_CLASS_PERF, .class_version = 1,
       .method = IBA_METHOD_GET_RESP, .status = IBA_STATUS_INVALID_FIELD,
       .transaction_id = UINT64_C(0x0123456789abcdef), .attribute_id = 0x12,
       .attribute_modifier = UINT32_C(0x80000001))

GOLDEN(dr_smp, dr_smp,
       "01 81 01 81 801c 02 03 0000000100000002 0011 0000 00000001 1122334455667788 ffff fffe",
       .base_version = 1, .mgmt_class = IBA_CLASS_SUBN_DIRECTED, .class_version = 1,
       .method = IBA_METHOD_GET_RESP, .direction = 1, .status = IBA_STATUS_INVALID_FIELD,
       .hop_pointer = 2, .hop_count = 3, .transaction_id = UINT64_C(0x100000002),
       .attribute_id = IBA_ATTR_NODE_INFO, .attribute_modifier = 1,
       .m_key = UINT64_C(0x1122334455667788), .dr_slid = IBA_LID_PERMISSIVE, .dr_dlid = 0xFFFE)

GOLDEN(rmpp_header, rmpp_header, "01 01 93 76 00000005 000000dc", .rmpp_version = 1,
       .rmpp_type = IBA_RMPP_DATA, .resp_time = 18, .rmpp_flags = IBA_RMPP_ACTIVE | IBA_RMPP_FIRST,
       .rmpp_status = IBA_RMPP_TOO_LONG, .segment_number = 5, .data2 = 220)

GOLDEN(sa_header, sa_header, "0000000000000001 0008 0000 000000000000001c", .sm_key = 1,
       .attribute_offset = 8,
       .component_mask = IBA_COMPONENT(path_record, dgid) | IBA_COMPONENT(path_record, sgid) |
			 IBA_COMPONENT(path_record, dlid))

GOLDEN(node_info, node_info,
       "01 01 02 24 0002c90300a1b2c0 0002c90300a1b2c3 0002c90300a1b2c4"
       "0008 c738 000000a1 07 0002c9",
       .base_version = 1, .class_version = 1, .node_type = IBA_NODE_SWITCH, .num_ports = 36,
       .system_image_guid = UINT64_C(0x0002c90300a1b2c0), .node_guid = UINT64_C(0x0002c90300a1b2c3),
       .port_guid = UINT64_C(0x0002c90300a1b2c4), .partition_cap = 8, .device_id = 0xC738,
       .revision = 0xA1, .local_port_num = 7, .vendor_id = 0x2C9)

GOLDEN(switch_info, switch_info, "c000 0000 0100 0030 00 ff fe 95 0001 0020 d8 00 c0ff",
       .linear_fdb_cap = 0xC000, .multicast_fdb_cap = 256, .linear_fdb_top = 48,
       .default_multicast_primary_port = 255, .default_multicast_not_primary_port = 254,
       .life_time_value = 18, .port_state_change = 1, .optimized_sl_to_vl_mapping_programming = 1,
       .lids_per_port = 1, .partition_enforcement_cap = 32, .inbound_enforcement_cap = 1,
       .outbound_enforcement_cap = 1, .filter_raw_outbound_cap = 1, .enhanced_port0 = 1,
       .multicast_fdb_top = 0xC0FF)

GOLDEN(port_info, port_info,
       "1122334455667788 fe80000000000000 0004 0001 0251486a 0000 003c 01 03 03 02"
       "74 52 42 47 50 40 04 08 09 05 f0 4a 0001 0002 0003 20 b2 10 87 0102 29 0a0b0c 0437 4f 0e",
       .m_key = UINT64_C(0x1122334455667788), .gid_prefix = LINK_LOCAL, .lid = 4,
       .master_sm_lid = 1, .capability_mask = 0x0251486A, .m_key_lease_period = 60,
       .local_port_num = 1, .link_width_enabled = IBA_WIDTH_1X | IBA_WIDTH_4X,
       .link_width_supported = IBA_WIDTH_1X | IBA_WIDTH_4X, .link_width_active = IBA_WIDTH_4X,
       .link_speed_supported = 7, .port_state = IBA_PORT_ACTIVE,
       .port_physical_state = IBA_PHYS_LINK_UP, .link_down_default_state = 2,
       .m_key_protect_bits = 1, .lmc = 2, .link_speed_active = IBA_SPEED_QDR,
       .link_speed_enabled = 7, .neighbor_mtu = IBA_MTU_4096, .vl_cap = IBA_VLS_VL0_7,
       .vl_high_limit = 4, .vl_arbitration_high_cap = 8, .vl_arbitration_low_cap = 9,
       .mtu_cap = IBA_MTU_4096, .vl_stall_count = 7, .hoq_life = 16,
       .operational_vls = IBA_VLS_VL0_7, .partition_enforcement_inbound = 1,
       .filter_raw_inbound = 1, .m_key_violations = 1, .p_key_violations = 2, .q_key_violations = 3,
       .guid_cap = 32, .client_reregister = 1, .multicast_p_key_trap_suppression_enabled = 1,
       .subnet_timeout = 18, .resp_time_value = 16, .local_phy_errors = 8, .overrun_errors = 7,
       .max_credit_hint = 0x102, .link_speed_ext_active2 = 1, .link_speed_ext_supported2 = 1,
       .link_speed_ext_enabled2 = 1, .link_round_trip_latency = 0x0A0B0C, .capability_mask2 = 0x437,
       .link_speed_ext_active = IBA_SPEED_EXT_HDR, .link_speed_ext_supported = 15,
       .link_speed_ext_enabled = 14)

GOLDEN(sm_info, sm_info, "0002c90300000001 0000000000000001 0000002a e3",
       .guid = UINT64_C(0x0002c90300000001), .sm_key = 1, .act_count = 42, .priority = 14,
       .sm_state = IBA_SM_MASTER)

GOLDEN(sl_to_vl_table, sl_to_vl_table, "0123456789abcdef",
       .vl = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})

GOLDEN(vl_arbitration_table, vl_arbitration_table, "0340 0eff 0001",
       .entry = {{.vl = 3, .weight = 64}, {.vl = 14, .weight = 255}, {.vl = 0, .weight = 1}})

GOLDEN(notice, notice, "84 000002 0080 0007 8003 0007", .is_generic = 1, .type = IBA_NOTICE_INFO,
       .producer_type = IBA_PRODUCER_SWITCH, .trap_number = IBA_TRAP_LINK_STATE_CHANGE,
       .issuer_lid = 7, .notice_toggle = 1, .notice_count = 3, .data_details = {0, 7})

GOLDEN(trap_gid, trap_gid, "000000000000" GID1, .gid = gid1)

GOLDEN(trap_port, trap_port, "0000 0005 11", .lid = 5, .port_num = 17)

GOLDEN(trap_local_change, trap_local_change, "0000 0005 00 01 0251486a 0009 0021", .lid = 5,
       .other_local_changes = 1, .capability_mask = 0x0251486A,
       .change_flags = IBA_TRAP_144_NODE_DESCRIPTION | IBA_TRAP_144_SM_PRIORITY,
       .capability_mask2 = 0x21)

GOLDEN(trap_system_image, trap_system_image, "0000 0005 0000 0002c90300000001", .lid = 5,
       .system_image_guid = UINT64_C(0x0002c90300000001))

GOLDEN(trap_m_key, trap_m_key, "0000 0005 fffe 02 00 0015 80000001 1122334455667788 00 83 000102",
       .lid = 5, .dr_slid = 0xFFFE, .method = IBA_METHOD_SET, .attribute_id = IBA_ATTR_PORT_INFO,
       .attribute_modifier = UINT32_C(0x80000001), .m_key = UINT64_C(0x1122334455667788),
       .dr_notice = 1, .dr_hop_count = 3, .dr_notice_return_path = {0, 1, 2})

GOLDEN(trap_key, trap_key, "0000 0005 0006 0000ffff 30 000011 00 000012" GID1 GID2, .lid1 = 5,
       .lid2 = 6, .key = 0xFFFF, .sl = 3, .qp1 = 17, .qp2 = 18, .gid1 = gid1, .gid2 = gid2)

GOLDEN(trap_switch_p_key, trap_switch_p_key,
       "0003 0005 0006 8001 30 000011 00 000012" GID1 GID2 "0009 0c", .data_valid = 3, .lid1 = 5,
       .lid2 = 6, .p_key = 0x8001, .sl = 3, .qp1 = 17, .qp2 = 18, .gid1 = gid1, .gid2 = gid2,
       .sw_lid = 9, .port_num = 12)

GOLDEN(class_port_info, class_port_info,
       "01 02 1a00 000004d2" GID1 "01 234567 0009 ffff 00 000001 80010000" GID2
       "0a bcdef0 000b 7fff ff 000002 12345678",
       .base_version = 1, .class_version = 2, .capability_mask = 0x1A00, .capability_mask2 = 0x26,
       .resp_time_value = 18, .redirect_gid = gid1, .redirect_tc = 1, .redirect_sl = 2,
       .redirect_fl = 0x34567, .redirect_lid = 9, .redirect_p_key = 0xFFFF, .redirect_qp = 1,
       .redirect_q_key = IBA_QP1_Q_KEY, .trap_gid = gid2, .trap_tc = 10, .trap_sl = 11,
       .trap_fl = 0xCDEF0, .trap_lid = 11, .trap_p_key = 0x7FFF, .trap_hl = 255, .trap_qp = 2,
       .trap_q_key = 0x12345678)

GOLDEN(node_record, node_record,
       "0005 0000 01 01 01 02 0002c90300000000 0002c90300000001 0002c90300000002 0080 1017"
       "00000000 02 0002c9 6e6f646531204843412d31",
       .lid = 5,
       .node_info = {.base_version = 1,
		     .class_version = 1,
		     .node_type = IBA_NODE_CA,
		     .num_ports = 2,
		     .system_image_guid = UINT64_C(0x0002c90300000000),
		     .node_guid = UINT64_C(0x0002c90300000001),
		     .port_guid = UINT64_C(0x0002c90300000002),
		     .partition_cap = 128,
		     .device_id = 0x1017,
		     .local_port_num = 2,
		     .vendor_id = 0x2C9},
       .node_description = {"node1 HCA-1"})

GOLDEN(link_record, link_record, "0001 05 06 0002", .from_lid = 1, .from_port = 5, .to_port = 6,
       .to_lid = 2)

GOLDEN(path_record, path_record,
       "1000000000000abc" GID1 GID2 "0005 0006 81234540 a5 83 8001 abc9 84 90 92 01",
       .service_id = UINT64_C(0x1000000000000abc), .dgid = gid1, .sgid = gid2, .dlid = 5, .slid = 6,
       .raw_traffic = 1, .flow_label = 0x12345, .hop_limit = 64, .t_class = 0xA5, .reversible = 1,
       .numb_path = 3, .p_key = 0x8001, .qos_class = 0xABC, .sl = 9,
       .mtu_selector = IBA_SELECTOR_EXACTLY, .mtu = IBA_MTU_2048,
       .rate_selector = IBA_SELECTOR_EXACTLY, .rate = IBA_RATE_100,
       .packet_life_time_selector = IBA_SELECTOR_EXACTLY, .packet_life_time = 18, .preference = 1)

GOLDEN(mc_member_record, mc_member_record,
       "ff12401bffff0000 00000000ffffffff" GID1 "00000b1b c000 84 11 ffff 83 92 3abcdeff 25 80",
       .mgid = {UINT64_C(0xff12401bffff0000), 0xFFFFFFFF}, .port_gid = gid1, .q_key = 0xB1B,
       .mlid = 0xC000, .mtu_selector = IBA_SELECTOR_EXACTLY, .mtu = IBA_MTU_2048, .t_class = 0x11,
       .p_key = 0xFFFF, .rate_selector = IBA_SELECTOR_EXACTLY, .rate = IBA_RATE_10,
       .packet_life_time_selector = IBA_SELECTOR_EXACTLY, .packet_life_time = 18, .sl = 3,
       .flow_label = 0xABCDE, .hop_limit = 255, .scope = IBA_SCOPE_LINK_LOCAL, .join_state = 5,
       .proxy_join = 1)

GOLDEN(multi_path_record, multi_path_record,
       "81234540 a5 83 8001 abc9 84 90 92 10 40 02 03 00000000000abc", .raw_traffic = 1,
       .flow_label = 0x12345, .hop_limit = 64, .t_class = 0xA5, .reversible = 1, .numb_path = 3,
       .p_key = 0x8001, .qos_class = 0xABC, .sl = 9, .mtu_selector = 2, .mtu = 4,
       .rate_selector = 2, .rate = 16, .packet_life_time_selector = 2, .packet_life_time = 18,
       .service_id_msb = 0x10, .independence_selector = 1, .sgid_count = 2, .dgid_count = 3,
       .service_id_lsb = 0xABC)

GOLDEN(service_record, service_record,
       "1000000000000abc" GID1 "8001 0000 ffffffff 000102030405060708090a0b0c0d0e0f"
       "4441504c 000000000000000000000000 00000000000000000000000000000000"
       "00000000000000000000000000000000 00000000000000000000000000000000"
       "11000000000000000000000000000022 33330000000000000000000000004444"
       "55555555000000000000000066666666 77777777777777778888888888888888",
       .service_id = UINT64_C(0x1000000000000abc), .service_gid = gid1, .service_p_key = 0x8001,
       .service_lease = UINT32_MAX,
       .service_key = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
       .service_name = "DAPL", .service_data8 = {[0] = 0x11, [15] = 0x22},
       .service_data16 = {[0] = 0x3333, [7] = 0x4444},
       .service_data32 = {[0] = 0x55555555, [3] = 0x66666666},
       .service_data64 = {UINT64_C(0x7777777777777777), UINT64_C(0x8888888888888888)})

GOLDEN(inform_info_record, inform_info_record,
       GID1 "0001 000000000000" GID2 "ffff 0001 0000 01 01 0003 0040 000001 12 00 000004",
       .subscriber_gid = gid1, .enumeration = 1,
       .inform_info = {.gid = gid2,
		       .lid_range_begin = 0xFFFF,
		       .lid_range_end = 1,
		       .is_generic = 1,
		       .subscribe = 1,
		       .type = IBA_NOTICE_SUBN_MGT,
		       .trap_number = IBA_TRAP_GID_IN_SERVICE,
		       .qpn = 1,
		       .resp_time_value = 18,
		       .producer_type = IBA_PRODUCER_CLASS_MANAGER})

GOLDEN(sm_info_record, sm_info_record, "0005 0000 0002c90300000001 0000000000000000 0000002a e3",
       .lid = 5,
       .sm_info = {.guid = UINT64_C(0x0002c90300000001),
		   .act_count = 42,
		   .priority = 14,
		   .sm_state = IBA_SM_MASTER})

GOLDEN(multicast_forwarding_table_record, multicast_forwarding_table_record,
       "0005 3123 00000000 8001", .lid = 5, .position = 3, .block_num = 0x123,
       .multicast_forwarding_table = {.port_mask = {0x8001}})

GOLDEN(sl_to_vl_table_record, sl_to_vl_table_record, "0005 01 02 00000000 0100000000000002",
       .lid = 5, .input_port_num = 1, .output_port_num = 2,
       .sl_to_vl_table = {.vl = {[1] = 1, [15] = 2}})

GOLDEN(vl_arbitration_table_record, vl_arbitration_table_record, "0005 01 03 00000000 0740",
       .lid = 5, .output_port_num = 1, .block_num = 3,
       .vl_arbitration_table = {.entry = {{.vl = 7, .weight = 64}}})

GOLDEN(p_key_table_record, p_key_table_record, "0005 0001 02 000000 ffff 8001", .lid = 5,
       .block_num = 1, .port_num = 2, .p_key_table = {.p_key = {0xFFFF, 0x8001}})

GOLDEN(linear_forwarding_table_record, linear_forwarding_table_record, "0005 0001 00000000 ff 02",
       .lid = 5, .block_num = 1, .linear_forwarding_table = {.port = {255, 2}})

GOLDEN(trap_cc_key, trap_cc_key, "0005 02 00 0015 0000 00000003 00 000001 0123456789abcdef" GID1,
       .slid = 5, .method = IBA_METHOD_SET, .attribute_id = IBA_ATTR_SWITCH_PORT_CONGESTION_SETTING,
       .attribute_modifier = 3, .qp = 1, .cc_key = UINT64_C(0x0123456789abcdef), .source_gid = gid1)

GOLDEN(trap_b_key, trap_b_key, "0005 02 00 0010 00000003 00 000001 0123456789abcdef" GID1, .lid = 5,
       .method = IBA_METHOD_SET, .attribute_id = 0x10, .attribute_modifier = 3, .qp = 1,
       .b_key = UINT64_C(0x0123456789abcdef), .gid = gid1)

GOLDEN(random_forwarding_table, random_forwarding_table, "0005 b0 02 c000 00 ff",
       .entry = {{.lid = 5, .valid = 1, .lmc = 3, .port = 2}, {.lid = 0xC000, .port = 255}})

GOLDEN(port_counters, port_counters,
       "00 02 ffff 0001 02 03 0004 0005 0006 0007 08 09 01 ab 000c 000d"
       "0000000e 0000000f 00000010 00000011 00000012",
       .port_select = 2, .counter_select = 0xFFFF, .symbol_error_counter = 1,
       .link_error_recovery_counter = 2, .link_downed_counter = 3, .port_rcv_errors = 4,
       .port_rcv_remote_physical_errors = 5, .port_rcv_switch_relay_errors = 6,
       .port_xmit_discards = 7, .port_xmit_constraint_errors = 8, .port_rcv_constraint_errors = 9,
       .counter_select2 = 1, .local_link_integrity_errors = 10,
       .excessive_buffer_overrun_errors = 11, .qp1_dropped = 12, .vl15_dropped = 13,
       .port_xmit_data = 14, .port_rcv_data = 15, .port_xmit_pkts = 16, .port_rcv_pkts = 17,
       .port_xmit_wait = 18)

GOLDEN(port_samples_result_extended, port_samples_result_extended,
       "abcd 0002 80000000 0000000000000001 0000000000000002", .tag = 0xABCD, .sample_status = 2,
       .extended_width = 2, .counter = {1, 2})

#define TESTS                                                                                      \
	X(mad_header)                                                                              \
	X(dr_smp) X(rmpp_header) X(sa_header) X(node_info) X(switch_info) X(port_info) X(          \
		sm_info) X(sl_to_vl_table) X(vl_arbitration_table) X(notice) X(trap_gid)           \
		X(trap_port) X(trap_local_change) X(trap_system_image) X(trap_m_key) X(            \
			trap_key) X(trap_switch_p_key) X(class_port_info) X(node_record)           \
			X(link_record) X(path_record) X(mc_member_record) X(multi_path_record) X(  \
				service_record) X(inform_info_record) X(sm_info_record)            \
				X(multicast_forwarding_table_record) X(sl_to_vl_table_record)      \
					X(vl_arbitration_table_record) X(p_key_table_record) X(    \
						linear_forwarding_table_record) X(trap_cc_key)     \
						X(trap_b_key) X(random_forwarding_table)           \
							X(port_counters)                           \
								X(port_samples_result_extended)

TEST_SUITE
{
	Suite *suite = suite_create("iba_golden");
	TCase *tcase = tcase_create("golden");

#define X(name) tcase_add_test(tcase, test_##name);
	TESTS
#undef X
	suite_add_tcase(suite, tcase);
	return suite;
}
