// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The InfiniBand attributes as host-order structs, expanded from the rows of iba/all.def: for each
 * type T a struct iba_T, its codec table iba_T_type, its octets on the wire iba_T_bytes and the
 * component numbers iba_T_c_NAME.
 */
#ifndef IBA_IBA_H
#define IBA_IBA_H

#include <complib/wire.h>
#include <iba/constants.h>
#include <stddef.h>
#include <stdint.h>

#define IBA_NC WIRE_NO_COMPONENT

/* The host structs. */
#define IBA_TYPE(type, bits) struct iba_##type {
#define IBA_END(type) };
#define IBA_FIELD(type, name, ctype, bit, width, component, match, print) ctype name;
#define IBA_ARRAY(type, name, ctype, count, bit, width, component, match, print) ctype name[count];
#define IBA_BYTES(type, name, count, bit, component, match, print) uint8_t name[count];
#define IBA_TEXT(type, name, count, bit, component) char name[count];
#define IBA_NEST(type, name, nested, bit, component, match, print) struct iba_##nested name;
#define IBA_NESTS(type, name, nested, count, bit) struct iba_##nested name[count];
#include <iba/all.def>

/* The number of each component in the ComponentMask, for IBA_COMPONENT; IBA_NC for no component. */
#define IBA_TYPE(type, bits) enum iba_##type##_component {
#define IBA_END(type) };
#define IBA_FIELD(type, name, ctype, bit, width, component, match, print)                          \
	iba_##type##_c_##name = component,
#define IBA_ARRAY(type, name, ctype, count, bit, width, component, match, print)                   \
	iba_##type##_c_##name = component,
#define IBA_BYTES(type, name, count, bit, component, match, print)                                 \
	iba_##type##_c_##name = component,
#define IBA_TEXT(type, name, count, bit, component) iba_##type##_c_##name = component,
#define IBA_NEST(type, name, nested, bit, component, match, print)                                 \
	iba_##type##_c_##name = component,
#define IBA_NESTS(type, name, nested, count, bit) iba_##type##_c_##name = IBA_NC,
#define IBA_ALIAS(type, name, component) iba_##type##_c_##name = component,
#include <iba/all.def>

/* Octets on the wire, as a constant expression: iba_node_record_bytes. */
#define IBA_TYPE(type, bits) enum { iba_##type##_bytes = (bits) / 8 };
#include <iba/all.def>

#define IBA_TYPE(type, bits) extern const struct wire_type iba_##type##_type;
#include <iba/all.def>

/* ComponentMask bit of a field, a constant: IBA_COMPONENT(path_record, dgid). */
#define IBA_COMPONENT(type, name) (UINT64_C(1) << iba_##type##_c_##name)

/*
 * ComponentMask bit of a field of an attribute that the record embeds under the attribute's own
 * name: IBA_COMPONENT_NESTED(node_record, node_info, node_type).
 */
#define IBA_COMPONENT_NESTED(type, nested, name)                                                   \
	(UINT64_C(1) << (iba_##type##_c_##nested + iba_##nested##_c_##name))

/* Every type of all.def in its order, NULL terminated. */
extern const struct wire_type *const iba_types[];

static inline bool iba_gid_equal(struct iba_gid a, struct iba_gid b)
{
	return a.prefix == b.prefix && a.guid == b.guid;
}

static inline bool iba_gid_is_multicast(struct iba_gid gid)
{
	return gid.prefix >> 56 == 0xFF;
}

/* The protocol signature in an MGID: one of IBA_MGID_SIGNATURE_IPV4 ..., or any other value. */
static inline uint16_t iba_mgid_signature(struct iba_gid mgid)
{
	return (uint16_t)(mgid.prefix >> 32);
}

static inline bool iba_lid_is_unicast(uint16_t lid)
{
	return lid >= IBA_LID_UCAST_FIRST && lid <= IBA_LID_UCAST_LAST;
}

/* The two classes of SMPs: LID-routed and directed. */
static inline bool iba_class_is_smp(uint8_t mgmt_class)
{
	return mgmt_class == IBA_CLASS_SUBN_LID || mgmt_class == IBA_CLASS_SUBN_DIRECTED;
}

static inline bool iba_lid_is_multicast(uint16_t lid)
{
	return lid >= IBA_LID_MCAST_FIRST && lid <= IBA_LID_MCAST_LAST;
}

#endif
