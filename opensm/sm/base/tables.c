// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tables that are read and written in blocks: where each is in struct builder_node, and the
 * AttributeModifier of a block.
 */
#include "sm/base/base.h"

uint32_t p_keys_modifier(const struct builder_port *port, uint32_t block)
{
	return builder_is_switch(port->node) ? (uint32_t)port->num << 16 | block : block;
}

uint32_t qos_modifier(const struct builder_port *port, uint16_t attribute, uint32_t block)
{
	bool is_switch = builder_is_switch(port->node);

	if (attribute == IBA_ATTR_VL_ARBITRATION_TABLE)
		return (block + 1) << 16 | (is_switch ? port->num : 0);
	return is_switch ? block << IBA_SL_TO_VL_MOD_INPUT_SHIFT | port->num : 0;
}

const struct wire_type *sm_table_type(uint16_t attribute)
{
	switch (attribute) {
	case IBA_ATTR_LINEAR_FORWARDING_TABLE:
		return &iba_linear_forwarding_table_type;
	case IBA_ATTR_MULTICAST_FORWARDING_TABLE:
		return &iba_multicast_forwarding_table_type;
	case IBA_ATTR_GUID_INFO:
		return &iba_guid_info_type;
	case IBA_ATTR_SL_TO_VL_TABLE:
		return &iba_sl_to_vl_table_type;
	case IBA_ATTR_VL_ARBITRATION_TABLE:
		return &iba_vl_arbitration_table_type;
	default:
		return &iba_p_key_table_type;
	}
}

struct trust_table *sm_table(struct builder_node *node, unsigned int port, uint16_t attribute)
{
	switch (attribute) {
	case IBA_ATTR_LINEAR_FORWARDING_TABLE:
		return &node->lft;
	case IBA_ATTR_MULTICAST_FORWARDING_TABLE:
		return &node->mft;
	case IBA_ATTR_GUID_INFO:
		return &node->ports[port].guids;
	case IBA_ATTR_SL_TO_VL_TABLE:
		return &node->ports[port].sl_to_vl;
	case IBA_ATTR_VL_ARBITRATION_TABLE:
		return &node->ports[port].vl_arb;
	default:
		return &node->ports[port].p_keys;
	}
}
