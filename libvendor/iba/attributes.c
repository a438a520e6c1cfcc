// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The rows of iba/attributes.def. Constant data; any thread may read it. */
#include <iba/attributes.h>

const struct iba_attribute iba_attributes[] = {
#define IBA_ATTRIBUTE(class_, id, set, type_)                                                      \
	{.mgmt_class = class_,                                                                     \
	 .attribute = id,                                                                          \
	 .names = IBA_SET_##set,                                                                   \
	 .type = &iba_##type_##_type},
#include <iba/attributes.def>
	{.type = NULL},
};

const struct iba_attribute *iba_attribute_find(uint8_t mgmt_class, uint16_t attribute)
{
	if (mgmt_class == IBA_CLASS_SUBN_DIRECTED)
		mgmt_class = IBA_CLASS_SUBN_LID;
	for (const struct iba_attribute *row = iba_attributes; row->type; row++)
		if (row->mgmt_class == mgmt_class && row->attribute == attribute)
			return row;
	return NULL;
}

const char *iba_attribute_name(uint8_t mgmt_class, uint16_t attribute)
{
	const struct iba_attribute *row = iba_attribute_find(mgmt_class, attribute);

	return row ? iba_name(row->names, attribute) : NULL;
}

unsigned int iba_attribute_offset(uint8_t mgmt_class, uint16_t attribute)
{
	switch (mgmt_class) {
	case IBA_CLASS_SUBN_LID:
	case IBA_CLASS_SUBN_DIRECTED:
		return IBA_SMP_DATA_OFFSET;
	case IBA_CLASS_SUBN_ADM:
		return IBA_SA_DATA_OFFSET;
	case IBA_CLASS_PERF:
		return IBA_PM_DATA_OFFSET;
	case IBA_CLASS_CC:
		return attribute == IBA_ATTR_CONGESTION_LOG ? IBA_CC_LOG_DATA_OFFSET
							    : IBA_CC_DATA_OFFSET;
	default:
		return 0;
	}
}

const struct wire_type *iba_trap_details(uint16_t trap_number)
{
	switch (trap_number) {
	case IBA_TRAP_GID_IN_SERVICE:
	case IBA_TRAP_GID_OUT_OF_SERVICE:
	case IBA_TRAP_MCAST_GROUP_CREATED:
	case IBA_TRAP_MCAST_GROUP_DELETED:
		return &iba_trap_gid_type;
	case IBA_TRAP_LINK_STATE_CHANGE:
		return &iba_trap_switch_type;
	case IBA_TRAP_LINK_INTEGRITY:
	case IBA_TRAP_BUFFER_OVERRUN:
	case IBA_TRAP_WATCHDOG:
		return &iba_trap_port_type;
	case IBA_TRAP_LOCAL_CHANGES:
		return &iba_trap_local_change_type;
	case IBA_TRAP_SYSTEM_IMAGE_GUID:
		return &iba_trap_system_image_type;
	case IBA_TRAP_BAD_M_KEY:
		return &iba_trap_m_key_type;
	case IBA_TRAP_BAD_P_KEY:
	case IBA_TRAP_BAD_Q_KEY:
		return &iba_trap_key_type;
	case IBA_TRAP_SWITCH_BAD_P_KEY:
		return &iba_trap_switch_p_key_type;
	default:
		return NULL;
	}
}
