// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The attributes as decoded here and by libibmad, an independent decoder: for every field that both
 * know, the same random octets give the same value. Without libibmad the test is skipped.
 */
#include <stdio.h>
#ifndef HAVE_IBMAD

int main(void)
{
	puts("SKIP: built without libibmad");
	return 77;
}

#else
#include <check.h>
#include <infiniband/mad.h>
#include <string.h>

#include <iba/iba.h>

#include "tests/run_suite.h"

#define ROUNDS 100
#define ROOM 512

struct row {
	const struct wire_type *type;
	const char *nest, *field;
	unsigned int octet; /* of the type's start in the buffer that libibmad counts from */
	enum MAD_FIELDS mad;
};

#define AT(type, octet, field, mad)                                                                \
	{                                                                                          \
		&iba_##type##_type, NULL, #field, octet, mad                                       \
	}
#define OF(type, field, mad) AT(type, 0, field, mad)
#define IN(type, nest, field, mad)                                                                 \
	{                                                                                          \
		&iba_##type##_type, #nest, #field, 0, mad                                          \
	}

/*
 * Of PortInfoExtended the HDR and NDR rows are excluded: libibmad 44 has them at 96, 144 and 128,
 * 176, the first on top of EDRFECModeEnabled: halves of 32-bit words not swapped. It also has
 * QP1Dropped of PortCounters at 176, on top of VL15Dropped.
 */
static const struct row rows[] = {
	OF(mad_header, base_version, IB_MAD_BASEVER_F),
	OF(mad_header, mgmt_class, IB_MAD_MGMTCLASS_F),
	OF(mad_header, class_version, IB_MAD_CLASSVER_F),
	OF(mad_header, status, IB_MAD_STATUS_F),
	OF(mad_header, transaction_id, IB_MAD_TRID_F),
	OF(mad_header, attribute_id, IB_MAD_ATTRID_F),
	OF(mad_header, attribute_modifier, IB_MAD_ATTRMOD_F),
	OF(dr_smp, hop_count, IB_DRSMP_HOPCNT_F),
	OF(dr_smp, hop_pointer, IB_DRSMP_HOPPTR_F),
	OF(dr_smp, status, IB_DRSMP_STATUS_F),
	OF(dr_smp, direction, IB_DRSMP_DIRECTION_F),
	OF(dr_smp, m_key, IB_MAD_MKEY_F),
	OF(dr_smp, dr_dlid, IB_DRSMP_DRDLID_F),
	OF(dr_smp, dr_slid, IB_DRSMP_DRSLID_F),
	OF(dr_smp, initial_path, IB_DRSMP_PATH_F),
	OF(dr_smp, return_path, IB_DRSMP_RPATH_F),
	OF(smp, m_key, IB_MAD_MKEY_F),
	IN(sa_mad, sa, sm_key, IB_SA_MKEY_F),
	IN(sa_mad, sa, attribute_offset, IB_SA_ATTROFFS_F),
	IN(sa_mad, sa, component_mask, IB_SA_COMPMASK_F),
	OF(sa_mad, data, IB_SA_DATA_F),
	IN(sa_mad, rmpp, rmpp_version, IB_SA_RMPP_VERS_F),
	IN(sa_mad, rmpp, rmpp_type, IB_SA_RMPP_TYPE_F),
	IN(sa_mad, rmpp, resp_time, IB_SA_RMPP_RESP_F),
	IN(sa_mad, rmpp, rmpp_flags, IB_SA_RMPP_FLAGS_F),
	IN(sa_mad, rmpp, rmpp_status, IB_SA_RMPP_STATUS_F),
	IN(sa_mad, rmpp, segment_number, IB_SA_RMPP_SEGNUM_F),
	IN(sa_mad, rmpp, data2, IB_SA_RMPP_NEWWIN_F),
	AT(vendor_header, 36, oui, IB_VEND2_OUI_F),
	OF(gid, prefix, IB_GID_PREFIX_F),
	OF(gid, guid, IB_GID_GUID_F),
	OF(port_info, m_key, IB_PORT_MKEY_F),
	OF(port_info, gid_prefix, IB_PORT_GID_PREFIX_F),
	OF(port_info, lid, IB_PORT_LID_F),
	OF(port_info, master_sm_lid, IB_PORT_SMLID_F),
	OF(port_info, capability_mask, IB_PORT_CAPMASK_F),
	OF(port_info, diag_code, IB_PORT_DIAG_F),
	OF(port_info, m_key_lease_period, IB_PORT_MKEY_LEASE_F),
	OF(port_info, local_port_num, IB_PORT_LOCAL_PORT_F),
	OF(port_info, link_width_enabled, IB_PORT_LINK_WIDTH_ENABLED_F),
	OF(port_info, link_width_supported, IB_PORT_LINK_WIDTH_SUPPORTED_F),
	OF(port_info, link_width_active, IB_PORT_LINK_WIDTH_ACTIVE_F),
	OF(port_info, link_speed_supported, IB_PORT_LINK_SPEED_SUPPORTED_F),
	OF(port_info, port_state, IB_PORT_STATE_F),
	OF(port_info, port_physical_state, IB_PORT_PHYS_STATE_F),
	OF(port_info, link_down_default_state, IB_PORT_LINK_DOWN_DEF_F),
	OF(port_info, m_key_protect_bits, IB_PORT_MKEY_PROT_BITS_F),
	OF(port_info, lmc, IB_PORT_LMC_F),
	OF(port_info, link_speed_active, IB_PORT_LINK_SPEED_ACTIVE_F),
	OF(port_info, link_speed_enabled, IB_PORT_LINK_SPEED_ENABLED_F),
	OF(port_info, neighbor_mtu, IB_PORT_NEIGHBOR_MTU_F),
	OF(port_info, master_sm_sl, IB_PORT_SMSL_F),
	OF(port_info, vl_cap, IB_PORT_VL_CAP_F),
	OF(port_info, init_type, IB_PORT_INIT_TYPE_F),
	OF(port_info, vl_high_limit, IB_PORT_VL_HIGH_LIMIT_F),
	OF(port_info, vl_arbitration_high_cap, IB_PORT_VL_ARBITRATION_HIGH_CAP_F),
	OF(port_info, vl_arbitration_low_cap, IB_PORT_VL_ARBITRATION_LOW_CAP_F),
	OF(port_info, init_type_reply, IB_PORT_INIT_TYPE_REPLY_F),
	OF(port_info, mtu_cap, IB_PORT_MTU_CAP_F),
	OF(port_info, vl_stall_count, IB_PORT_VL_STALL_COUNT_F),
	OF(port_info, hoq_life, IB_PORT_HOQ_LIFE_F),
	OF(port_info, operational_vls, IB_PORT_OPER_VLS_F),
	OF(port_info, partition_enforcement_inbound, IB_PORT_PART_EN_INB_F),
	OF(port_info, partition_enforcement_outbound, IB_PORT_PART_EN_OUTB_F),
	OF(port_info, filter_raw_inbound, IB_PORT_FILTER_RAW_INB_F),
	OF(port_info, filter_raw_outbound, IB_PORT_FILTER_RAW_OUTB_F),
	OF(port_info, m_key_violations, IB_PORT_MKEY_VIOL_F),
	OF(port_info, p_key_violations, IB_PORT_PKEY_VIOL_F),
	OF(port_info, q_key_violations, IB_PORT_QKEY_VIOL_F),
	OF(port_info, guid_cap, IB_PORT_GUID_CAP_F),
	OF(port_info, client_reregister, IB_PORT_CLIENT_REREG_F),
	OF(port_info, multicast_p_key_trap_suppression_enabled, IB_PORT_MCAST_PKEY_SUPR_ENAB_F),
	OF(port_info, subnet_timeout, IB_PORT_SUBN_TIMEOUT_F),
	OF(port_info, resp_time_value, IB_PORT_RESP_TIME_VAL_F),
	OF(port_info, local_phy_errors, IB_PORT_LOCAL_PHYS_ERR_F),
	OF(port_info, overrun_errors, IB_PORT_OVERRUN_ERR_F),
	OF(port_info, max_credit_hint, IB_PORT_MAX_CREDIT_HINT_F),
	OF(port_info, link_round_trip_latency, IB_PORT_LINK_ROUND_TRIP_F),
	OF(port_info, capability_mask2, IB_PORT_CAPMASK2_F),
	OF(port_info, link_speed_ext_active, IB_PORT_LINK_SPEED_EXT_ACTIVE_F),
	OF(port_info, link_speed_ext_supported, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F),
	OF(port_info, link_speed_ext_enabled, IB_PORT_LINK_SPEED_EXT_ENABLED_F),
	OF(node_info, base_version, IB_NODE_BASE_VERS_F),
	OF(node_info, class_version, IB_NODE_CLASS_VERS_F),
	OF(node_info, node_type, IB_NODE_TYPE_F),
	OF(node_info, num_ports, IB_NODE_NPORTS_F),
	OF(node_info, system_image_guid, IB_NODE_SYSTEM_GUID_F),
	OF(node_info, node_guid, IB_NODE_GUID_F),
	OF(node_info, port_guid, IB_NODE_PORT_GUID_F),
	OF(node_info, partition_cap, IB_NODE_PARTITION_CAP_F),
	OF(node_info, device_id, IB_NODE_DEVID_F),
	OF(node_info, revision, IB_NODE_REVISION_F),
	OF(node_info, local_port_num, IB_NODE_LOCAL_PORT_F),
	OF(node_info, vendor_id, IB_NODE_VENDORID_F),
	OF(node_description, node_string, IB_NODE_DESC_F),
	OF(node_record, lid, IB_SA_NR_LID_F),
	IN(node_record, node_info, base_version, IB_SA_NR_BASEVER_F),
	IN(node_record, node_info, class_version, IB_SA_NR_CLASSVER_F),
	IN(node_record, node_info, node_type, IB_SA_NR_TYPE_F),
	IN(node_record, node_info, num_ports, IB_SA_NR_NPORTS_F),
	IN(node_record, node_info, system_image_guid, IB_SA_NR_SYSTEM_GUID_F),
	IN(node_record, node_info, node_guid, IB_SA_NR_GUID_F),
	IN(node_record, node_info, port_guid, IB_SA_NR_PORT_GUID_F),
	IN(node_record, node_info, partition_cap, IB_SA_NR_PARTITION_CAP_F),
	IN(node_record, node_info, device_id, IB_SA_NR_DEVID_F),
	IN(node_record, node_info, revision, IB_SA_NR_REVISION_F),
	IN(node_record, node_info, local_port_num, IB_SA_NR_LOCAL_PORT_F),
	IN(node_record, node_info, vendor_id, IB_SA_NR_VENDORID_F),
	IN(node_record, node_description, node_string, IB_SA_NR_NODEDESC_F),
	OF(switch_info, linear_fdb_cap, IB_SW_LINEAR_FDB_CAP_F),
	OF(switch_info, random_fdb_cap, IB_SW_RANDOM_FDB_CAP_F),
	OF(switch_info, multicast_fdb_cap, IB_SW_MCAST_FDB_CAP_F),
	OF(switch_info, linear_fdb_top, IB_SW_LINEAR_FDB_TOP_F),
	OF(switch_info, default_port, IB_SW_DEF_PORT_F),
	OF(switch_info, default_multicast_primary_port, IB_SW_DEF_MCAST_PRIM_F),
	OF(switch_info, default_multicast_not_primary_port, IB_SW_DEF_MCAST_NOT_PRIM_F),
	OF(switch_info, life_time_value, IB_SW_LIFE_TIME_F),
	OF(switch_info, port_state_change, IB_SW_STATE_CHANGE_F),
	OF(switch_info, optimized_sl_to_vl_mapping_programming, IB_SW_OPT_SLTOVL_MAPPING_F),
	OF(switch_info, lids_per_port, IB_SW_LIDS_PER_PORT_F),
	OF(switch_info, partition_enforcement_cap, IB_SW_PARTITION_ENFORCE_CAP_F),
	OF(switch_info, inbound_enforcement_cap, IB_SW_PARTITION_ENF_INB_F),
	OF(switch_info, outbound_enforcement_cap, IB_SW_PARTITION_ENF_OUTB_F),
	OF(switch_info, filter_raw_inbound_cap, IB_SW_FILTER_RAW_INB_F),
	OF(switch_info, filter_raw_outbound_cap, IB_SW_FILTER_RAW_OUTB_F),
	OF(switch_info, enhanced_port0, IB_SW_ENHANCED_PORT0_F),
	OF(switch_info, multicast_fdb_top, IB_SW_MCAST_FDB_TOP_F),
	OF(linear_forwarding_table, port, IB_LINEAR_FORW_TBL_F),
	OF(multicast_forwarding_table, port_mask, IB_MULTICAST_FORW_TBL_F),
	OF(sl_to_vl_table, vl, IB_SLTOVL_MAPPING_TABLE_F),
	OF(notice, is_generic, IB_NOTICE_IS_GENERIC_F),
	OF(notice, type, IB_NOTICE_TYPE_F),
	OF(notice, producer_type, IB_NOTICE_PRODUCER_F),
	OF(notice, trap_number, IB_NOTICE_TRAP_NUMBER_F),
	OF(notice, issuer_lid, IB_NOTICE_ISSUER_LID_F),
	OF(notice, notice_toggle, IB_NOTICE_TOGGLE_F),
	OF(notice, notice_count, IB_NOTICE_COUNT_F),
	OF(notice, data_details, IB_NOTICE_DATA_DETAILS_F),
	AT(trap_switch, 10, lid, IB_NOTICE_DATA_LID_F),
	AT(trap_local_change, 10, lid, IB_NOTICE_DATA_144_LID_F),
	AT(trap_local_change, 10, capability_mask, IB_NOTICE_DATA_144_CAPMASK_F),
	OF(sm_info, guid, IB_SMINFO_GUID_F),
	OF(sm_info, sm_key, IB_SMINFO_KEY_F),
	OF(sm_info, act_count, IB_SMINFO_ACT_F),
	OF(sm_info, priority, IB_SMINFO_PRIO_F),
	OF(sm_info, sm_state, IB_SMINFO_STATE_F),
	OF(multi_path_record, numb_path, IB_SA_MP_NPATH_F),
	OF(multi_path_record, sgid_count, IB_SA_MP_NSRC_F),
	OF(multi_path_record, dgid_count, IB_SA_MP_NDEST_F),
	OF(path_record, dgid, IB_SA_PR_DGID_F),
	OF(path_record, sgid, IB_SA_PR_SGID_F),
	OF(path_record, dlid, IB_SA_PR_DLID_F),
	OF(path_record, slid, IB_SA_PR_SLID_F),
	OF(path_record, numb_path, IB_SA_PR_NPATH_F),
	OF(path_record, sl, IB_SA_PR_SL_F),
	OF(mc_member_record, mgid, IB_SA_MCM_MGID_F),
	OF(mc_member_record, port_gid, IB_SA_MCM_PORTGID_F),
	OF(mc_member_record, q_key, IB_SA_MCM_QKEY_F),
	OF(mc_member_record, mlid, IB_SA_MCM_MLID_F),
	OF(mc_member_record, sl, IB_SA_MCM_SL_F),
	OF(mc_member_record, mtu, IB_SA_MCM_MTU_F),
	OF(mc_member_record, rate, IB_SA_MCM_RATE_F),
	OF(mc_member_record, t_class, IB_SA_MCM_TCLASS_F),
	OF(mc_member_record, p_key, IB_SA_MCM_PKEY_F),
	OF(mc_member_record, flow_label, IB_SA_MCM_FLOW_LABEL_F),
	OF(mc_member_record, join_state, IB_SA_MCM_JOIN_STATE_F),
	OF(mc_member_record, proxy_join, IB_SA_MCM_PROXY_JOIN_F),
	OF(service_record, service_id, IB_SA_SR_ID_F),
	OF(service_record, service_gid, IB_SA_SR_GID_F),
	OF(service_record, service_p_key, IB_SA_SR_PKEY_F),
	OF(service_record, service_lease, IB_SA_SR_LEASE_F),
	OF(service_record, service_key, IB_SA_SR_KEY_F),
	OF(service_record, service_name, IB_SA_SR_NAME_F),
	OF(guid_info_record, lid, IB_SA_GIR_LID_F),
	OF(guid_info_record, block_num, IB_SA_GIR_BLOCKNUM_F),
	OF(class_port_info, base_version, IB_CPI_BASEVER_F),
	OF(class_port_info, class_version, IB_CPI_CLASSVER_F),
	OF(class_port_info, capability_mask, IB_CPI_CAPMASK_F),
	OF(class_port_info, capability_mask2, IB_CPI_CAPMASK2_F),
	OF(class_port_info, resp_time_value, IB_CPI_RESP_TIME_VALUE_F),
	OF(class_port_info, redirect_gid, IB_CPI_REDIRECT_GID_F),
	OF(class_port_info, redirect_tc, IB_CPI_REDIRECT_TC_F),
	OF(class_port_info, redirect_sl, IB_CPI_REDIRECT_SL_F),
	OF(class_port_info, redirect_fl, IB_CPI_REDIRECT_FL_F),
	OF(class_port_info, redirect_lid, IB_CPI_REDIRECT_LID_F),
	OF(class_port_info, redirect_p_key, IB_CPI_REDIRECT_PKEY_F),
	OF(class_port_info, redirect_qp, IB_CPI_REDIRECT_QP_F),
	OF(class_port_info, redirect_q_key, IB_CPI_REDIRECT_QKEY_F),
	OF(class_port_info, trap_gid, IB_CPI_TRAP_GID_F),
	OF(class_port_info, trap_tc, IB_CPI_TRAP_TC_F),
	OF(class_port_info, trap_sl, IB_CPI_TRAP_SL_F),
	OF(class_port_info, trap_fl, IB_CPI_TRAP_FL_F),
	OF(class_port_info, trap_lid, IB_CPI_TRAP_LID_F),
	OF(class_port_info, trap_p_key, IB_CPI_TRAP_PKEY_F),
	OF(class_port_info, trap_qp, IB_CPI_TRAP_QP_F),
	OF(class_port_info, trap_q_key, IB_CPI_TRAP_QKEY_F),
	OF(class_port_info, trap_hl, IB_CPI_TRAP_HL_F),
	OF(port_info_extended, capability_mask, IB_PORT_EXT_CAPMASK_F),
	OF(port_info_extended, fec_mode_active, IB_PORT_EXT_FEC_MODE_ACTIVE_F),
	OF(port_info_extended, fdr_fec_mode_supported, IB_PORT_EXT_FDR_FEC_MODE_SUPPORTED_F),
	OF(port_info_extended, fdr_fec_mode_enabled, IB_PORT_EXT_FDR_FEC_MODE_ENABLED_F),
	OF(port_info_extended, edr_fec_mode_supported, IB_PORT_EXT_EDR_FEC_MODE_SUPPORTED_F),
	OF(port_info_extended, edr_fec_mode_enabled, IB_PORT_EXT_EDR_FEC_MODE_ENABLED_F),
	OF(ext_port_info, state_change_enable, IB_MLNX_EXT_PORT_STATE_CHG_ENABLE_F),
	OF(ext_port_info, link_speed_supported, IB_MLNX_EXT_PORT_LINK_SPEED_SUPPORTED_F),
	OF(ext_port_info, link_speed_enabled, IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F),
	OF(ext_port_info, link_speed_active, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F),
	OF(port_counters, port_select, IB_PC_PORT_SELECT_F),
	OF(port_counters, counter_select, IB_PC_COUNTER_SELECT_F),
	OF(port_counters, symbol_error_counter, IB_PC_ERR_SYM_F),
	OF(port_counters, link_error_recovery_counter, IB_PC_LINK_RECOVERS_F),
	OF(port_counters, link_downed_counter, IB_PC_LINK_DOWNED_F),
	OF(port_counters, port_rcv_errors, IB_PC_ERR_RCV_F),
	OF(port_counters, port_rcv_remote_physical_errors, IB_PC_ERR_PHYSRCV_F),
	OF(port_counters, port_rcv_switch_relay_errors, IB_PC_ERR_SWITCH_REL_F),
	OF(port_counters, port_xmit_discards, IB_PC_XMT_DISCARDS_F),
	OF(port_counters, port_xmit_constraint_errors, IB_PC_ERR_XMTCONSTR_F),
	OF(port_counters, port_rcv_constraint_errors, IB_PC_ERR_RCVCONSTR_F),
	OF(port_counters, counter_select2, IB_PC_COUNTER_SELECT2_F),
	OF(port_counters, local_link_integrity_errors, IB_PC_ERR_LOCALINTEG_F),
	OF(port_counters, excessive_buffer_overrun_errors, IB_PC_ERR_EXCESS_OVR_F),
	OF(port_counters, vl15_dropped, IB_PC_VL15_DROPPED_F),
	OF(port_counters, port_xmit_data, IB_PC_XMT_BYTES_F),
	OF(port_counters, port_rcv_data, IB_PC_RCV_BYTES_F),
	OF(port_counters, port_xmit_pkts, IB_PC_XMT_PKTS_F),
	OF(port_counters, port_rcv_pkts, IB_PC_RCV_PKTS_F),
	OF(port_counters, port_xmit_wait, IB_PC_XMT_WAIT_F),
	OF(port_counters_extended, port_select, IB_PC_EXT_PORT_SELECT_F),
	OF(port_counters_extended, counter_select, IB_PC_EXT_COUNTER_SELECT_F),
	OF(port_counters_extended, port_xmit_data, IB_PC_EXT_XMT_BYTES_F),
	OF(port_counters_extended, port_rcv_data, IB_PC_EXT_RCV_BYTES_F),
	OF(port_counters_extended, port_xmit_pkts, IB_PC_EXT_XMT_PKTS_F),
	OF(port_counters_extended, port_rcv_pkts, IB_PC_EXT_RCV_PKTS_F),
	OF(port_counters_extended, port_unicast_xmit_pkts, IB_PC_EXT_XMT_UPKTS_F),
	OF(port_counters_extended, port_unicast_rcv_pkts, IB_PC_EXT_RCV_UPKTS_F),
	OF(port_counters_extended, port_multicast_xmit_pkts, IB_PC_EXT_XMT_MPKTS_F),
	OF(port_counters_extended, port_multicast_rcv_pkts, IB_PC_EXT_RCV_MPKTS_F),
	OF(port_counters_extended, counter_select2, IB_PC_EXT_COUNTER_SELECT2_F),
	OF(port_counters_extended, symbol_error_counter, IB_PC_EXT_ERR_SYM_F),
	OF(port_counters_extended, link_error_recovery_counter, IB_PC_EXT_LINK_RECOVERS_F),
	OF(port_counters_extended, link_downed_counter, IB_PC_EXT_LINK_DOWNED_F),
	OF(port_counters_extended, port_rcv_errors, IB_PC_EXT_ERR_RCV_F),
	OF(port_counters_extended, port_rcv_remote_physical_errors, IB_PC_EXT_ERR_PHYSRCV_F),
	OF(port_counters_extended, port_rcv_switch_relay_errors, IB_PC_EXT_ERR_SWITCH_REL_F),
	OF(port_counters_extended, port_xmit_discards, IB_PC_EXT_XMT_DISCARDS_F),
	OF(port_counters_extended, port_xmit_constraint_errors, IB_PC_EXT_ERR_XMTCONSTR_F),
	OF(port_counters_extended, port_rcv_constraint_errors, IB_PC_EXT_ERR_RCVCONSTR_F),
	OF(port_counters_extended, local_link_integrity_errors, IB_PC_EXT_ERR_LOCALINTEG_F),
	OF(port_counters_extended, excessive_buffer_overrun_errors, IB_PC_EXT_ERR_EXCESS_OVR_F),
	OF(port_counters_extended, vl15_dropped, IB_PC_EXT_VL15_DROPPED_F),
	OF(port_counters_extended, port_xmit_wait, IB_PC_EXT_XMT_WAIT_F),
	OF(port_counters_extended, qp1_dropped, IB_PC_EXT_QP1_DROP_F),
	OF(port_xmit_discard_details, port_inactive_discards, IB_PC_XMT_INACT_DISC_F),
	OF(port_xmit_discard_details, port_neighbor_mtu_discards, IB_PC_XMT_NEIGH_MTU_DISC_F),
	OF(port_xmit_discard_details, port_sw_lifetime_limit_discards, IB_PC_XMT_SW_LIFE_DISC_F),
	OF(port_xmit_discard_details, port_sw_hoq_lifetime_limit_discards, IB_PC_XMT_SW_HOL_DISC_F),
	OF(port_rcv_error_details, port_local_physical_errors, IB_PC_RCV_LOCAL_PHY_ERR_F),
	OF(port_rcv_error_details, port_malformed_packet_errors, IB_PC_RCV_MALFORMED_PKT_ERR_F),
	OF(port_rcv_error_details, port_buffer_overrun_errors, IB_PC_RCV_BUF_OVR_ERR_F),
	OF(port_rcv_error_details, port_dlid_mapping_errors, IB_PC_RCV_DLID_MAP_ERR_F),
	OF(port_rcv_error_details, port_vl_mapping_errors, IB_PC_RCV_VL_MAP_ERR_F),
	OF(port_rcv_error_details, port_looping_errors, IB_PC_RCV_LOOPING_ERR_F),
	OF(port_samples_control, op_code, IB_PSC_OPCODE_F),
	OF(port_samples_control, port_select, IB_PSC_PORT_SELECT_F),
	OF(port_samples_control, tick, IB_PSC_TICK_F),
	OF(port_samples_control, counter_width, IB_PSC_COUNTER_WIDTH_F),
	OF(port_samples_control, counter_mask0, IB_PSC_COUNTER_MASK0_F),
	OF(port_samples_control, counter_masks1_to9, IB_PSC_COUNTER_MASKS1TO9_F),
	OF(port_samples_control, counter_masks10_to14, IB_PSC_COUNTER_MASKS10TO14_F),
	OF(port_samples_control, sample_mechanisms, IB_PSC_SAMPLE_MECHS_F),
	OF(port_samples_control, sample_status, IB_PSC_SAMPLE_STATUS_F),
	OF(port_samples_control, option_mask, IB_PSC_OPTION_MASK_F),
	OF(port_samples_control, vendor_mask, IB_PSC_VENDOR_MASK_F),
	OF(port_samples_control, sample_start, IB_PSC_SAMPLE_START_F),
	OF(port_samples_control, sample_interval, IB_PSC_SAMPLE_INTVL_F),
	OF(port_samples_control, tag, IB_PSC_TAG_F),
	OF(port_samples_control, samples_only_option_mask, IB_PSC_SAMPLES_ONLY_OPT_MASK_F),
	OF(port_samples_result, tag, IB_PSR_TAG_F),
	OF(port_samples_result, sample_status, IB_PSR_SAMPLE_STATUS_F),
	OF(port_extended_speeds_counters, port_select, IB_PESC_PORT_SELECT_F),
	OF(port_extended_speeds_counters, counter_select, IB_PESC_COUNTER_SELECT_F),
	OF(port_extended_speeds_counters, sync_header_error_counter, IB_PESC_SYNC_HDR_ERR_CTR_F),
	OF(port_extended_speeds_counters, unknown_block_counter, IB_PESC_UNK_BLOCK_CTR_F),
	OF(port_extended_speeds_counters, port_fec_correctable_block_ctr,
	   IB_PESC_PORT_FEC_CORR_BLOCK_CTR_F),
	OF(port_extended_speeds_counters, port_fec_uncorrectable_block_ctr,
	   IB_PESC_PORT_FEC_UNCORR_BLOCK_CTR_F),
	OF(port_extended_speeds_counters, port_fec_corrected_symbol_ctr,
	   IB_PESC_PORT_FEC_CORR_SYMBOL_CTR_F),
	OF(port_op_rcv_counters, port_op_rcv_pkts, IB_PC_PORT_OP_RCV_PKTS_F),
	OF(port_op_rcv_counters, port_op_rcv_data, IB_PC_PORT_OP_RCV_DATA_F),
	OF(port_flow_ctl_counters, port_xmit_flow_pkts, IB_PC_PORT_XMIT_FLOW_PKTS_F),
	OF(port_flow_ctl_counters, port_rcv_flow_pkts, IB_PC_PORT_RCV_FLOW_PKTS_F),
	OF(port_rcv_con_ctrl, port_pkt_rcv_fecn, IB_PC_RCV_CON_CTRL_PKT_RCV_FECN_F),
	OF(port_rcv_con_ctrl, port_pkt_rcv_becn, IB_PC_RCV_CON_CTRL_PKT_RCV_BECN_F),
	OF(port_xmit_con_ctrl, port_xmit_time_cong, IB_PC_XMIT_CON_CTRL_TIME_CONG_F),
	OF(cc_mad, cc_key, IB_CC_CCKEY_F),
	OF(congestion_info, congestion_info, IB_CC_CONGESTION_INFO_F),
	OF(congestion_info, control_table_cap, IB_CC_CONGESTION_INFO_CONTROL_TABLE_CAP_F),
	OF(congestion_key_info, cc_key, IB_CC_CONGESTION_KEY_INFO_CC_KEY_F),
	OF(congestion_key_info, cc_key_protect_bit, IB_CC_CONGESTION_KEY_INFO_CC_KEY_PROTECT_BIT_F),
	OF(congestion_key_info, cc_key_lease_period,
	   IB_CC_CONGESTION_KEY_INFO_CC_KEY_LEASE_PERIOD_F),
	OF(congestion_key_info, cc_key_violations, IB_CC_CONGESTION_KEY_INFO_CC_KEY_VIOLATIONS_F),
	OF(congestion_log_switch, log_type, IB_CC_CONGESTION_LOG_LOGTYPE_F),
	OF(congestion_log_switch, congestion_flags, IB_CC_CONGESTION_LOG_CONGESTION_FLAGS_F),
	OF(congestion_log_switch, log_events_counter,
	   IB_CC_CONGESTION_LOG_SWITCH_LOG_EVENTS_COUNTER_F),
	OF(congestion_log_switch, current_time_stamp,
	   IB_CC_CONGESTION_LOG_SWITCH_CURRENT_TIME_STAMP_F),
	OF(congestion_log_switch, port_map, IB_CC_CONGESTION_LOG_SWITCH_PORTMAP_F),
	OF(congestion_log_event_switch, slid, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SLID_F),
	OF(congestion_log_event_switch, dlid, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_DLID_F),
	OF(congestion_log_event_switch, sl, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SL_F),
	OF(congestion_log_event_switch, time_stamp, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_TIMESTAMP_F),
	OF(congestion_log_ca, threshold_event_counter,
	   IB_CC_CONGESTION_LOG_CA_THRESHOLD_EVENT_COUNTER_F),
	OF(congestion_log_ca, threshold_congestion_event_map,
	   IB_CC_CONGESTION_LOG_CA_THRESHOLD_CONGESTION_EVENT_MAP_F),
	OF(congestion_log_ca, current_time_stamp, IB_CC_CONGESTION_LOG_CA_CURRENT_TIMESTAMP_F),
	OF(congestion_log_event_ca, local_qp_cn_entry,
	   IB_CC_CONGESTION_LOG_ENTRY_CA_LOCAL_QP_CN_ENTRY_F),
	OF(congestion_log_event_ca, sl_cn_entry, IB_CC_CONGESTION_LOG_ENTRY_CA_SL_CN_ENTRY_F),
	OF(congestion_log_event_ca, service_type_cn_entry,
	   IB_CC_CONGESTION_LOG_ENTRY_CA_SERVICE_TYPE_CN_ENTRY_F),
	OF(congestion_log_event_ca, remote_qp_number_cn_entry,
	   IB_CC_CONGESTION_LOG_ENTRY_CA_REMOTE_QP_NUMBER_CN_ENTRY_F),
	OF(congestion_log_event_ca, local_lid_cn, IB_CC_CONGESTION_LOG_ENTRY_CA_LOCAL_LID_CN_F),
	OF(congestion_log_event_ca, remote_lid_cn_entry,
	   IB_CC_CONGESTION_LOG_ENTRY_CA_REMOTE_LID_CN_ENTRY_F),
	OF(congestion_log_event_ca, time_stamp_cn_entry,
	   IB_CC_CONGESTION_LOG_ENTRY_CA_TIMESTAMP_CN_ENTRY_F),
	OF(switch_congestion_setting, control_map, IB_CC_SWITCH_CONGESTION_SETTING_CONTROL_MAP_F),
	OF(switch_congestion_setting, victim_mask, IB_CC_SWITCH_CONGESTION_SETTING_VICTIM_MASK_F),
	OF(switch_congestion_setting, credit_mask, IB_CC_SWITCH_CONGESTION_SETTING_CREDIT_MASK_F),
	OF(switch_congestion_setting, threshold, IB_CC_SWITCH_CONGESTION_SETTING_THRESHOLD_F),
	OF(switch_congestion_setting, packet_size, IB_CC_SWITCH_CONGESTION_SETTING_PACKET_SIZE_F),
	OF(switch_congestion_setting, cs_threshold, IB_CC_SWITCH_CONGESTION_SETTING_CS_THRESHOLD_F),
	OF(switch_congestion_setting, cs_return_delay,
	   IB_CC_SWITCH_CONGESTION_SETTING_CS_RETURN_DELAY_F),
	OF(switch_congestion_setting, marking_rate, IB_CC_SWITCH_CONGESTION_SETTING_MARKING_RATE_F),
	OF(switch_port_congestion_element, valid,
	   IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_VALID_F),
	OF(switch_port_congestion_element, control_type,
	   IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_CONTROL_TYPE_F),
	OF(switch_port_congestion_element, threshold,
	   IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_THRESHOLD_F),
	OF(switch_port_congestion_element, packet_size,
	   IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_PACKET_SIZE_F),
	OF(switch_port_congestion_element, cong_parm_marking_rate,
	   IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_CONG_PARM_MARKING_RATE_F),
	OF(ca_congestion_setting, port_control, IB_CC_CA_CONGESTION_SETTING_PORT_CONTROL_F),
	OF(ca_congestion_setting, control_map, IB_CC_CA_CONGESTION_SETTING_CONTROL_MAP_F),
	OF(ca_congestion_entry, ccti_timer, IB_CC_CA_CONGESTION_ENTRY_CCTI_TIMER_F),
	OF(ca_congestion_entry, ccti_increase, IB_CC_CA_CONGESTION_ENTRY_CCTI_INCREASE_F),
	OF(ca_congestion_entry, trigger_threshold, IB_CC_CA_CONGESTION_ENTRY_TRIGGER_THRESHOLD_F),
	OF(ca_congestion_entry, ccti_min, IB_CC_CA_CONGESTION_ENTRY_CCTI_MIN_F),
	OF(congestion_control_table, ccti_limit, IB_CC_CONGESTION_CONTROL_TABLE_CCTI_LIMIT_F),
	OF(congestion_control_entry, cct_shift, IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_CCT_SHIFT_F),
	OF(congestion_control_entry, cct_multiplier,
	   IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_CCT_MULTIPLIER_F),
	OF(time_stamp, time_stamp, IB_CC_TIMESTAMP_F),
};

/* Arrays whose elements libibmad knows, one after the other from this one on. */
static const struct row arrays[] = {
	OF(port_samples_control, counter_select, IB_PSC_COUNTER_SEL0_F),
	OF(port_samples_result, counter, IB_PSR_COUNTER0_F),
	OF(port_extended_speeds_counters, error_detection_counter_lane,
	   IB_PESC_ERR_DET_CTR_LANE0_F),
	OF(port_extended_speeds_counters, fec_correctable_block_ctr_lane,
	   IB_PESC_FEC_CORR_BLOCK_CTR_LANE0_F),
	OF(port_extended_speeds_counters, fec_uncorrectable_block_ctr_lane,
	   IB_PESC_FEC_UNCORR_BLOCK_CTR_LANE0_F),
	OF(port_extended_speeds_counters, fec_correctable_block_ctr_lane,
	   IB_PESC_RSFEC_FEC_CORR_SYMBOL_CTR_LANE0_F),
	OF(port_vl_op_packets, port_vl_op_packets, IB_PC_PORT_VL_OP_PACKETS0_F),
	OF(port_vl_op_data, port_vl_op_data, IB_PC_PORT_VL_OP_DATA0_F),
	OF(port_vl_xmit_flow_ctl_update_errors, port_vl_xmit_flow_ctl_update_errors,
	   IB_PC_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS0_F),
	OF(port_vl_xmit_wait_counters, port_vl_xmit_wait, IB_PC_PORT_VL_XMIT_WAIT0_F),
	OF(sw_port_vl_congestion, sw_port_vl_congestion, IB_PC_SW_PORT_VL_CONGESTION0_F),
	OF(port_sl_rcv_fecn, port_sl_rcv_fecn, IB_PC_SL_RCV_FECN0_F),
	OF(port_sl_rcv_becn, port_sl_rcv_becn, IB_PC_SL_RCV_BECN0_F),
	OF(port_vl_xmit_time_cong, port_vl_xmit_time_cong, IB_PC_VL_XMIT_TIME_CONG0_F),
	OF(port_xmit_data_sl, port_xmit_data_sl, IB_PC_XMT_DATA_SL0_F),
	OF(port_rcv_data_sl, port_rcv_data_sl, IB_PC_RCV_DATA_SL0_F),
	OF(guid_info, guid, IB_GI_GUID0_F),
};

/* The bits of a field as they follow each other on the wire, at most 64. */
static uint64_t joined(const struct wire_field *field, const void *host)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < field->count; i++)
		value = (field->width < 64 ? value << field->width : 0) |
			wire_value(field, host, i);
	return value;
}

static bool agrees(const struct wire_field *field, const struct wire_type *type,
		   const uint8_t *wire, uint8_t *buffer, enum MAD_FIELDS mad)
{
	unsigned int bits = field->width * field->count;
	_Alignas(8) uint8_t host[4 * ROOM], theirs[ROOM] = {0};
	uint8_t ours[ROOM];
	uint32_t v32;
	uint64_t v64;

	wire_decode(type, wire, host);
	mad_decode_field(buffer, mad, theirs);
	if (bits > 64) {
		wire_encode(type, host, ours);
		return memcmp(ours + field->bit / 8, theirs, bits / 8) == 0;
	}
	memcpy(&v32, theirs, sizeof(v32));
	memcpy(&v64, theirs, sizeof(v64));
	return joined(field, host) == (bits <= 32 ? v32 : v64);
}

START_TEST(test_agrees)
{
	const struct row *row = &rows[_i];
	const struct wire_type *type = row->type;
	unsigned int octet = row->octet, bad = 0;
	g_autoptr(GRand) rand = g_rand_new_with_seed(_i);
	const struct wire_field *field;
	uint8_t buffer[ROOM];

	if (row->nest) {
		field = wire_find_field(type, row->nest);
		ck_assert_ptr_nonnull(field);
		octet += field->bit / 8;
		type = field->nested;
	}
	field = wire_find_field(type, row->field);
	ck_assert_ptr_nonnull(field);
	for (int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < ROOM; i++)
			buffer[i] = (uint8_t)g_rand_int(rand);
		bad += !agrees(field, type, buffer + octet, buffer, row->mad);
	}
	ck_assert_msg(bad == 0, "%s.%s is not %s", type->name, field->name,
		      mad_field_name(row->mad));
}
END_TEST

/* Ranges of libibmad's enumeration that the rows must cover without a gap. */
static const struct {
	enum MAD_FIELDS first, end;
} covered[] = {
	{IB_PORT_FIRST_F, IB_PORT_LAST_F},
	{IB_NODE_FIRST_F, IB_NODE_LAST_F},
	{IB_SW_FIRST_F, IB_SW_LAST_F},
	{IB_LINEAR_FORW_TBL_F, IB_PC_FIRST_F},
	{IB_SMINFO_GUID_F, IB_SA_RMPP_D1_F},
	{IB_SA_PR_DGID_F, IB_SA_SR_DATA_F},
	{IB_CPI_BASEVER_F, IB_CPI_TRAP_QKEY_F + 1},
	{IB_PORT_CAPMASK2_F, IB_PORT_LINK_SPEED_EXT_LAST_F},
	{IB_MLNX_EXT_PORT_STATE_CHG_ENABLE_F, IB_MLNX_EXT_PORT_LAST_F},
	{IB_SA_NR_FIRST_F, IB_SA_NR_LAST_F},
	{IB_PORT_EXT_FIRST_F, IB_PORT_EXT_LAST_F},
	{IB_PC_FIRST_F, IB_PC_LAST_F},
	{IB_PC_EXT_FIRST_F, IB_PC_EXT_LAST_F},
	{IB_PC_EXT_COUNTER_SELECT2_F, IB_PC_EXT_ERR_LAST_F},
	{IB_PC_XMT_INACT_DISC_F, IB_PC_XMT_DISC_LAST_F},
	{IB_PC_RCV_LOCAL_PHY_ERR_F, IB_PC_RCV_ERR_LAST_F},
	{IB_PSC_OPCODE_F, IB_PSC_COUNTER_SEL0_F},
	{IB_CC_CCKEY_F, IB_CC_CONGESTION_INFO_LAST_F},
	{IB_CC_CONGESTION_KEY_INFO_FIRST_F, IB_CC_CONGESTION_KEY_INFO_LAST_F},
	{IB_CC_CONGESTION_LOG_SWITCH_FIRST_F, IB_CC_CONGESTION_LOG_SWITCH_LAST_F},
	{IB_CC_CONGESTION_LOG_ENTRY_SWITCH_FIRST_F, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_LAST_F},
	{IB_CC_CONGESTION_LOG_CA_FIRST_F, IB_CC_CONGESTION_LOG_CA_LAST_F},
	{IB_CC_CONGESTION_LOG_ENTRY_CA_FIRST_F, IB_CC_CONGESTION_LOG_ENTRY_CA_LAST_F},
	{IB_CC_SWITCH_CONGESTION_SETTING_FIRST_F, IB_CC_SWITCH_CONGESTION_SETTING_LAST_F},
	{IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_FIRST_F,
	 IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_LAST_F},
	{IB_CC_CA_CONGESTION_SETTING_FIRST_F, IB_CC_CA_CONGESTION_SETTING_LAST_F},
	{IB_CC_CA_CONGESTION_ENTRY_FIRST_F, IB_CC_CA_CONGESTION_ENTRY_LAST_F},
	{IB_CC_CONGESTION_CONTROL_TABLE_FIRST_F, IB_CC_CONGESTION_CONTROL_TABLE_LAST_F},
	{IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_FIRST_F, IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_LAST_F},
	{IB_CC_TIMESTAMP_FIRST_F, IB_CC_TIMESTAMP_LAST_F},
};

START_TEST(test_covers)
{
	for (unsigned int mad = covered[_i].first; mad < (unsigned int)covered[_i].end; mad++) {
		bool found = false;

		for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
			found |= rows[i].mad == mad;
		ck_assert_msg(found, "no row for %s", mad_field_name(mad));
	}
}
END_TEST

START_TEST(test_elements)
{
	const struct row *row = &arrays[_i];
	const struct wire_field *field = wire_find_field(row->type, row->field);
	g_autoptr(GRand) rand = g_rand_new_with_seed(_i);
	_Alignas(8) uint8_t host[4 * ROOM];
	uint8_t buffer[ROOM];

	ck_assert_ptr_nonnull(field);
	for (int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < ROOM; i++)
			buffer[i] = (uint8_t)g_rand_int(rand);
		wire_decode(row->type, buffer, host);
		for (unsigned int i = 0; i < field->count; i++)
			ck_assert_uint_eq(wire_value(field, host, i),
					  field->width > 32
						  ? mad_get_field64(buffer, 0, row->mad + i)
						  : mad_get_field(buffer, 0, row->mad + i));
	}
}
END_TEST

START_TEST(test_guids_of_record)
{
	struct iba_guid_info_record record;
	uint8_t wire[iba_guid_info_record_bytes];

	for (unsigned int i = 0; i < sizeof(wire); i++)
		wire[i] = (uint8_t)(i * 31 + 7);
	wire_decode(&iba_guid_info_record_type, wire, &record);
	for (unsigned int i = 0; i < 8; i++)
		ck_assert_uint_eq(record.guid_info.guid[i],
				  mad_get_field64(wire, 0, IB_SA_GIR_GUID0_F + i));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iba against libibmad");
	TCase *tcase = tcase_create("fields");

	tcase_add_loop_test(tcase, test_agrees, 0, G_N_ELEMENTS(rows));
	tcase_add_loop_test(tcase, test_covers, 0, G_N_ELEMENTS(covered));
	tcase_add_loop_test(tcase, test_elements, 0, G_N_ELEMENTS(arrays));
	tcase_add_test(tcase, test_guids_of_record);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

#endif
