// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The attributes the SA serves, one row each (IBA 15.2.5). */
#include "sa/sa_private.h"

static const struct sa_record records[] = {
	{
		.attribute = IBA_ATTR_CLASS_PORT_INFO,
		.name = "ClassPortInfo",
		.type = &iba_class_port_info_type,
		.flags = SA_ANYBODY | SA_QUICK,
		.each = sa_class_port_info_each,
	},
	{
		.attribute = IBA_ATTR_NODE_RECORD,
		.name = "NodeRecord",
		.type = &iba_node_record_type,
		.has_table = true,
		.each = sa_node_each,
	},
	{
		.attribute = IBA_ATTR_PORT_INFO_RECORD,
		.name = "PortInfoRecord",
		.type = &iba_port_info_record_type,
		.has_table = true,
		.each = sa_port_info_each,
	},
	{
		.attribute = IBA_ATTR_SWITCH_INFO_RECORD,
		.name = "SwitchInfoRecord",
		.type = &iba_switch_info_record_type,
		.has_table = true,
		.each = sa_switch_info_each,
	},
	{
		.attribute = IBA_ATTR_LINEAR_FORWARDING_TABLE_RECORD,
		.name = "LinearForwardingTableRecord",
		.type = &iba_linear_forwarding_table_record_type,
		.has_table = true,
		.each = sa_lft_each,
	},
	{
		.attribute = IBA_ATTR_MULTICAST_FORWARDING_TABLE_RECORD,
		.name = "MulticastForwardingTableRecord",
		.type = &iba_multicast_forwarding_table_record_type,
		.has_table = true,
		.each = sa_mft_each,
	},
	{
		.attribute = IBA_ATTR_SL_TO_VL_TABLE_RECORD,
		.name = "SLtoVLMappingTableRecord",
		.type = &iba_sl_to_vl_table_record_type,
		.has_table = true,
		.each = sa_sl_to_vl_each,
	},
	{
		.attribute = IBA_ATTR_VL_ARBITRATION_TABLE_RECORD,
		.name = "VLArbitrationTableRecord",
		.type = &iba_vl_arbitration_table_record_type,
		.has_table = true,
		.each = sa_vl_arbitration_each,
	},
	{
		.attribute = IBA_ATTR_GUID_INFO_RECORD,
		.name = "GuidInfoRecord",
		.type = &iba_guid_info_record_type,
		.has_table = true,
		.each = sa_guid_info_each,
	},
	{
		.attribute = IBA_ATTR_SM_INFO_RECORD,
		.name = "SMInfoRecord",
		.type = &iba_sm_info_record_type,
		.has_table = true,
		.each = sa_sm_info_each,
	},
	{
		.attribute = IBA_ATTR_LINK_RECORD,
		.name = "LinkRecord",
		.type = &iba_link_record_type,
		.has_table = true,
		.each = sa_link_each,
	},
	{
		.attribute = IBA_ATTR_P_KEY_TABLE_RECORD,
		.name = "P_KeyTableRecord",
		.type = &iba_p_key_table_record_type,
		.flags = SA_TRUSTED,
		.has_table = true,
		.each = sa_p_key_table_each,
	},
	{
		.attribute = IBA_ATTR_PATH_RECORD,
		.name = "PathRecord",
		.type = &iba_path_record_type,
		.has_table = true,
		.each = sa_path_each,
		.needs_store = sa_path_needs_store,
		.is_quick = sa_path_is_quick,
	},
	{
		.attribute = IBA_ATTR_MC_MEMBER_RECORD,
		.name = "MCMemberRecord",
		.type = &iba_mc_member_record_type,
		.flags = SA_REGISTRY,
		.has_table = true,
		.each = sa_member_each,
		.set = sa_member_set,
		.remove = sa_member_remove,
	},
};

const struct sa_record *sa_records(unsigned int *n)
{
	*n = G_N_ELEMENTS(records);
	return records;
}

const struct sa_record *sa_record_find(uint16_t attribute)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(records); i++)
		if (records[i].attribute == attribute)
			return &records[i];
	return NULL;
}
