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
