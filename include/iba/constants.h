// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Values that the IBA names, expanded from the rows of iba/constants.def, and their texts. */
#ifndef IBA_CONSTANTS_H
#define IBA_CONSTANTS_H

#include <stdint.h>

#define IBA_SET(set) enum {
#define IBA_VALUE(name, value, text) name = (value),
#define IBA_SET_END(set) };
#include <iba/constants.def>

/* The sets themselves, for iba_name: IBA_SET_METHOD, IBA_SET_PORT_STATE, ... */
enum iba_set {
#define IBA_SET(set) IBA_SET_##set,
#include <iba/constants.def>
};

/* Text of a value in a set, as the IBA writes it; NULL if the set has no such value. */
const char *iba_name(enum iba_set set, uint32_t value);

#define IBA_MAD_BYTES 256
#define IBA_SMP_DATA_BYTES 64
#define IBA_SMP_DATA_OFFSET 64
#define IBA_SA_DATA_BYTES 200
#define IBA_SA_DATA_OFFSET 56
#define IBA_PM_DATA_BYTES 192
#define IBA_PM_DATA_OFFSET 64
#define IBA_CC_DATA_BYTES 192
#define IBA_CC_DATA_OFFSET 64
#define IBA_CC_LOG_DATA_BYTES 224
#define IBA_CC_LOG_DATA_OFFSET 32 /* of CongestionLog */
#define IBA_MAX_HOPS 64

#define IBA_BASE_VERSION 1
#define IBA_SMP_CLASS_VERSION 1
#define IBA_SA_CLASS_VERSION 2
#define IBA_PERF_CLASS_VERSION 1
#define IBA_CC_CLASS_VERSION 2
#define IBA_RMPP_VERSION 1

#define IBA_LID_UCAST_FIRST 0x0001
#define IBA_LID_UCAST_LAST 0xBFFF
#define IBA_LID_MCAST_FIRST 0xC000
#define IBA_LID_MCAST_LAST 0xFFFE
#define IBA_LID_PERMISSIVE 0xFFFF

#define IBA_QP0 0
#define IBA_QP1 1
#define IBA_QP_MULTICAST 0xFFFFFF
#define IBA_QP1_Q_KEY UINT32_C(0x80010000)

#define IBA_P_KEY_DEFAULT_FULL 0xFFFF
#define IBA_P_KEY_DEFAULT_LIMITED 0x7FFF
#define IBA_P_KEY_FULL_MEMBER 0x8000 /* the membership bit */
#define IBA_P_KEY_BASE_MASK 0x7FFF

#define IBA_DEFAULT_GID_PREFIX UINT64_C(0xFE80000000000000)
#define IBA_SA_WELL_KNOWN_GUID UINT64_C(0x0200000000000002)

#define IBA_LINK_WIDTH_ALL_SUPPORTED 0xFF /* in LinkWidthEnabled: all supported widths */
#define IBA_LINK_SPEED_ALL_SUPPORTED 0xF  /* in LinkSpeedEnabled: all supported speeds */
#define IBA_LINK_SPEED_EXT_DISABLED 30	  /* in LinkSpeedExtEnabled: extended speeds off */
#define IBA_PORT_NONE 0xFF		  /* in a linear forwarding table: drop */
#define IBA_SWITCH_MAX_PORT 254
#define IBA_PORT_SELECT_ALL 0xFF /* PortSelect of performance management: all ports */
#define IBA_MGMT_VL 15
#define IBA_LMC_MAX 7

/* AttributeModifier of Get/Set(PortInfo): the SM understands the extended speeds. */
#define IBA_PORT_INFO_MOD_EXTENDED_SPEEDS UINT32_C(0x80000000)
/*
 * AttributeModifier of Get/Set(SLtoVLMappingTable): output port, input port above it. A switch with
 * OptimizedSLtoVLMappingProgramming takes a Set for all ports of a kind at once.
 */
#define IBA_SL_TO_VL_MOD_INPUT_SHIFT 8
#define IBA_SL_TO_VL_MOD_ALL_OUTPUT UINT32_C(0x10000)
#define IBA_SL_TO_VL_MOD_ALL_INPUT UINT32_C(0x20000)
/*
 * AttributeModifier of Get/Set(MulticastForwardingTable): block of 32 MLIDs, above it the position:
 * which 16 ports (IBA 14.2.5.12).
 */
#define IBA_MFT_POSITIONS 16u
#define IBA_MFT_BLOCKS 512u /* of 32 MLIDs */
#define IBA_MFT_MOD_POSITION_SHIFT 28
#define IBA_MFT_PORTS 16u /* of a position */
/* Of a switch with ports 0 to num_ports. */
#define IBA_MFT_POSITIONS_OF(num_ports) ((num_ports) / IBA_MFT_PORTS + 1)
/* AttributeModifier of a query for PortInfoRecord: match CapabilityMask bit by bit. */
#define IBA_PORT_INFO_RECORD_MOD_CAP_MASK_MATCH UINT32_C(0x80000000)

#endif
