# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Our fields and those of tshark 4.0 that show them.

Every field of include/iba/*.def is in one of the tables here, or in two where tshark knows it in
some places only; test_tshark.py fails otherwise, and when an entry is no longer true."""

# type: (what the names of its fields at tshark begin with, our names). tshark's are ours without
# underscores, or given after '='; those with a dot are whole, '+' joins the parts of a field.
TABLE = {
    'lrh': ('lrh', 'vl sl dlid slid'),
    'bth': ('bth', 'p_key=p_key dest_qp'),
    'deth': ('deth', 'q_key=q_key src_qp'),
    'notice': ('notice', '''
        is_generic type producer_type=producertypevendorid trap_number=trapnumberdeviceid
        issuer_lid notice_toggle notice_count data_details'''),
    'mad_header': ('mad', '''
        base_version mgmt_class class_version method status class_specific transaction_id
        attribute_id attribute_modifier'''),
    'smp': ('smplid', 'm_key'),
    'dr_smp': ('mad', '''
        base_version mgmt_class class_version method hop_pointer=smpdirected.hoppointer
        hop_count=smpdirected.hopcount transaction_id attribute_id attribute_modifier
        m_key=smplid.mkey dr_slid=smpdirected.drslid dr_dlid=smpdirected.drdlid
        initial_path=smpdirected.initialpath return_path=smpdirected.returnpath'''),
    'node_description': ('nodedescription', 'node_string'),
    'node_info': ('nodeinfo', '''
        base_version class_version node_type num_ports system_image_guid node_guid port_guid
        partition_cap device_id revision local_port_num vendor_id'''),
    'switch_info': ('switchinfo', '''
        linear_fdb_cap random_fdb_cap multicast_fdb_cap linear_fdb_top default_port
        default_multicast_primary_port default_multicast_not_primary_port life_time_value
        port_state_change optimized_sl_to_vl_mapping_programming lids_per_port
        partition_enforcement_cap inbound_enforcement_cap outbound_enforcement_cap
        filter_raw_inbound_cap filter_raw_outbound_cap enhanced_port0=enhancedportzero'''),
    'guid_info': ('switchinfo', 'guid'),
    'port_info': ('portinfo', '''
        m_key=m_key gid_prefix=guid lid master_sm_lid capability_mask diag_code
        m_key_lease_period=m_keyleaseperiod local_port_num link_width_enabled
        link_width_supported link_width_active link_speed_supported port_state
        port_physical_state link_down_default_state m_key_protect_bits=m_keyprotectbits lmc
        link_speed_active link_speed_enabled neighbor_mtu master_sm_sl vl_cap init_type
        vl_high_limit vl_arbitration_high_cap vl_arbitration_low_cap init_type_reply mtu_cap
        vl_stall_count hoq_life operational_vls partition_enforcement_inbound
        partition_enforcement_outbound filter_raw_inbound filter_raw_outbound
        m_key_violations=m_keyviolations p_key_violations=p_keyviolations
        q_key_violations=q_keyviolations guid_cap client_reregister subnet_timeout
        resp_time_value local_phy_errors overrun_errors max_credit_hint
        link_round_trip_latency'''),
    'p_key_table': ('p_keytable', 'p_key=membershiptype+p_keybase'),
    'sl_to_vl_table': ('sltovlmappingtable', 'vl=sltovlhighbits+sltovllowbits'),
    'vl_arbitration_entry': ('vlarbitrationtable', 'vl weight'),
    'linear_forwarding_table': ('linearforwardingtable', 'port'),
    'random_forwarding_entry': ('randomforwardingtable', 'lid valid lmc port'),
    'sm_info': ('sminfo', 'guid sm_key=sm_key act_count priority sm_state'),
    'vendor_diag': ('vendordiag', 'next_index diag_data'),
    'class_port_info': ('classportinfo', '''
        base_version class_version capability_mask capability_mask2 resp_time_value
        redirect_gid redirect_tc redirect_sl redirect_fl redirect_lid redirect_p_key
        redirect_qp redirect_q_key trap_gid trap_tc trap_sl trap_fl trap_lid trap_p_key
        trap_qp trap_q_key'''),
    'rmpp_header': ('rmpp', '''
        rmpp_version rmpp_type rmpp_status segment_number=data1+segmentnumber
        data2=data2+payloadlength'''),
    'sa_header': ('sa', 'sm_key attribute_offset component_mask'),
    'grh': ('grh', 'traffic_class=tclass flow_label hop_limit=hoplmt sgid dgid'),
    'inform_info': ('informinfo', '''
        gid lid_range_begin lid_range_end is_generic subscribe type
        trap_number=trapnumberdeviceid qpn resp_time_value
        producer_type=producertypevendorid'''),
    'node_record': ('sa', 'lid'),
    'port_info_record': ('sa', 'endport_lid port_num'),
    'sl_to_vl_table_record': ('sa', 'lid input_port_num output_port_num'),
    'switch_info_record': ('sa', 'lid'),
    'linear_forwarding_table_record': ('sa', 'lid block_num=blocknum_sixteenbit'),
    'random_forwarding_table_record': ('sa', 'lid block_num=blocknum_sixteenbit'),
    'multicast_forwarding_table_record': ('sa', 'lid position block_num=blocknum_ninebit'),
    'sm_info_record': ('sa', 'lid'),
    'link_record': ('linkrecord', 'from_lid from_port to_port to_lid'),
    'guid_info_record': ('sa', 'lid block_num=blocknum_eightbit'),
    'service_record': ('linkrecord', '''
        service_id service_gid service_p_key=servicep_key service_lease service_key
        service_name service_data8=servicedata service_data16=servicedata
        service_data32=servicedata service_data64=servicedata'''),
    'p_key_table_record': ('sa', 'lid block_num=blocknum_sixteenbit port_num'),
    'path_record': ('pathrecord', '''
        dgid sgid dlid slid raw_traffic flow_label hop_limit t_class reversible numb_path
        p_key=p_key sl mtu_selector mtu rate_selector rate packet_life_time_selector
        packet_life_time preference'''),
    'vl_arbitration_table_record': ('sa', 'lid output_port_num block_num=blocknum_eightbit'),
    'mc_member_record': ('mcmemberrecord', '''
        mgid port_gid q_key=q_key mlid mtu_selector mtu t_class p_key=p_key rate_selector
        rate packet_life_time_selector packet_life_time sl flow_label hop_limit scope
        join_state proxy_join'''),
    'trace_record': ('tracerecord', '''
        gid_prefix id_generation node_type node_id chassis_id entry_port_id exit_port_id
        entry_port exit_port'''),
    'multi_path_record': ('multipathrecord', '''
        raw_traffic flow_label hop_limit t_class reversible numb_path p_key=p_key
        mtu_selector mtu rate_selector rate packet_life_time_selector packet_life_time
        independence_selector gid_scope sgid_count dgid_count'''),
    'multi_path_query': ('multipathrecord', 'gid=sdgid'),
    'service_association_record': ('serviceassociationrecord', 'service_key service_name'),
    'inform_info_record': ('informinforecord', 'subscriber_gid enumeration=enum'),
    'port_counters': ('portcounters', '''
        port_select counter_select symbol_error_counter link_error_recovery_counter
        link_downed_counter port_rcv_errors port_rcv_remote_physical_errors
        port_rcv_switch_relay_errors port_xmit_discards port_xmit_constraint_errors
        port_rcv_constraint_errors local_link_integrity_errors
        excessive_buffer_overrun_errors vl15_dropped port_xmit_data port_rcv_data
        port_xmit_pkts port_rcv_pkts'''),
    'port_counters_extended': ('portcounters_ext', '''
        port_select counter_select port_xmit_data port_rcv_data port_xmit_pkts port_rcv_pkts
        port_unicast_xmit_pkts port_unicast_rcv_pkts port_multicast_xmit_pkts
        port_multicast_rcv_pkts'''),
    'trap_gid': ('trap', 'gid=gidaddr'),
    'trap_switch': ('trap', 'lid=lidaddr'),
    'trap_port': ('trap', 'lid=lidaddr port_num=portno'),
    'trap_local_change': ('trap', 'lid=lidaddr other_local_changes capability_mask'),
    'trap_system_image': ('trap', 'lid=lidaddr system_image_guid'),
    'trap_m_key': ('trap', '''
        lid=lidaddr dr_slid method attribute_id attribute_modifier m_key dr_notice
        dr_path_truncated dr_hop_count dr_notice_return_path'''),
    'trap_key': ('trap', 'lid1=lidaddr1 lid2=lidaddr2 key sl qp1 qp2 gid1=gidaddr1 gid2=gidaddr2'),
}

# Fields of which tshark shows some bits or elements only.
PARTIAL = {
    'multicast_forwarding_table.port_mask': (
        'multicastforwardingtable.portmask', '16 of the 32 masks of a block (IBA 14.2.5.12)'),
    'led_info.led_mask': ('ledinfo.ledmask', 'the first bit, the only one with a meaning'),
    'trap_local_change.change_flags': (
        'trap.linkspeecenabledchange trap.linkwidthenabledchange trap.nodedescriptionchange',
        'the first three flags'),
}

# Fields that tshark decodes differently from the IBA.
WRONG = {
    'rmpp_header.resp_time': (
        'rmpp.rresptime', 'RRespTime has 5 bits (IBA 13.6.2.1), tshark gives it 4'),
    'rmpp_header.rmpp_flags': (
        'rmpp.rmppflags',
        'RMPPFlags has 3 bits (IBA 13.6.2.1), tshark adds the last of RRespTime'),
    'dr_smp.status': (
        'smpdirected.smpstatus', 'Status has 15 bits (IBA 14.2.1.2), tshark adds the D bit to it'),
    'dr_smp.direction': (
        'smpdirected.d', 'D is one bit (IBA 14.2.1.2), tshark shows the whole octet'),
    'multi_path_record.sl': (
        'multipathrecord.sl', 'SL has 4 bits after QoSClass (IBA 15.2.5.20), tshark has 16'),
    'multi_path_record.qos_class': (
        'multipathrecord.sl', 'tshark counts QoSClass to the SL'),
}

# Reasons, and the fields that tshark shows as raw octets or not at all; type.* is all of a type.
UNKNOWN = {
    'later than tshark': '''
        switch_info.multicast_fdb_top port_info.multicast_p_key_trap_suppression_enabled
        port_info.link_speed_ext_active2 port_info.link_speed_ext_supported2
        port_info.link_speed_ext_enabled2 port_info.capability_mask2
        port_info.link_speed_ext_active port_info.link_speed_ext_supported
        port_info.link_speed_ext_enabled port_info_extended.* port_info_extended_record.*
        port_info_record.options path_record.service_id path_record.qos_class
        multi_path_record.service_id_msb multi_path_record.service_id_lsb
        trap_local_change.capability_mask2 port_counters.counter_select2
        port_counters.qp1_dropped port_counters.port_xmit_wait
        port_counters_extended.counter_select2 port_counters_extended.symbol_error_counter
        port_counters_extended.link_error_recovery_counter
        port_counters_extended.link_downed_counter port_counters_extended.port_rcv_errors
        port_counters_extended.port_rcv_remote_physical_errors
        port_counters_extended.port_rcv_switch_relay_errors
        port_counters_extended.port_xmit_discards
        port_counters_extended.port_xmit_constraint_errors
        port_counters_extended.port_rcv_constraint_errors
        port_counters_extended.local_link_integrity_errors
        port_counters_extended.excessive_buffer_overrun_errors
        port_counters_extended.vl15_dropped port_counters_extended.port_xmit_wait
        port_counters_extended.qp1_dropped''',
    'taken for reserved': 'class_port_info.trap_hl',
    'not in the Notice of a GMP': 'sa_notice.issuer_gid',
    'not of the IBA': 'ext_port_info.*',
    'of the optional attributes of class Perf': '''
        port_samples_control.* port_samples_result.* port_rcv_error_details.*
        port_xmit_discard_details.* port_op_rcv_counters.* port_flow_ctl_counters.*
        port_vl_op_packets.* port_vl_op_data.* port_vl_xmit_flow_ctl_update_errors.*
        port_vl_xmit_wait_counters.* port_samples_result_extended.*
        port_extended_speeds_counters.* sw_port_vl_congestion.* port_rcv_con_ctrl.*
        port_sl_rcv_fecn.* port_sl_rcv_becn.* port_xmit_con_ctrl.* port_vl_xmit_time_cong.*
        port_xmit_data_sl.* port_rcv_data_sl.*''',
    'tshark gives up at the first field, an IPv6 address in 2 octets': 'trap_switch_p_key.*',
    'of class CC': '''
        cc_mad.cc_key congestion_info.* congestion_key_info.* congestion_log_switch.*
        congestion_log_event_switch.* congestion_log_ca.* congestion_log_event_ca.*
        switch_congestion_setting.* switch_port_congestion_element.* ca_congestion_setting.*
        ca_congestion_entry.* congestion_control_table.* congestion_control_entry.*
        time_stamp.* trap_cc_key.*''',
}

# Classes of which it knows no attribute.
UNKNOWN_CLASSES = {0x21}

# Not in any MAD here: GIDs are taken as a whole; these classes are not used; SMs of ours exchange
# data in the reserved octets of SMInfo; what congestion control was before its errata is not sent.
NOT_SAMPLED = '''
    gid.* vendor_header.* trap_b_key.* sm_ability.* congestion_log_ca_old.*
    congestion_log_event_ca_old.* ca_congestion_setting_packed.* ca_congestion_entry_packed.*
    congestion_control_table_packed.*'''
