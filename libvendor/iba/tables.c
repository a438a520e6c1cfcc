// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The codec tables of the IBA attributes: only the expanded rows of iba/all.def. Constant data; any
 * thread may read it.
 */
#include <iba/iba.h>

#include "libvendor/iba/codec.h"

#define HOST_OFFSET(type, name) offsetof(struct iba_##type, name)

#define IBA_TYPE(type, bits) static const struct wire_field type##_fields[] = {
#define IBA_END(type)                                                                              \
	}                                                                                          \
	;

#define IBA_ARRAY(type, name_, ctype, count_, bit_, width_, component_, match_, print_)            \
	{.name = #name_,                                                                           \
	 .bit = bit_,                                                                              \
	 .width = width_,                                                                          \
	 .count = count_,                                                                          \
	 .offset = HOST_OFFSET(type, name_),                                                       \
	 .size = sizeof(ctype),                                                                    \
	 .component = component_,                                                                  \
	 .kind = WIRE_UINT,                                                                        \
	 .print = WIRE_##print_,                                                                   \
	 .match = WIRE_MATCH_##match_},

#define IBA_FIELD(type, name, ctype, bit, width, component, match, print)                          \
	IBA_ARRAY(type, name, ctype, 1, bit, width, component, match, print)

#define IBA_BYTES(type, name_, count_, bit_, component_, match_, print_)                           \
	{.name = #name_,                                                                           \
	 .bit = bit_,                                                                              \
	 .width = 8,                                                                               \
	 .count = count_,                                                                          \
	 .offset = HOST_OFFSET(type, name_),                                                       \
	 .size = 1,                                                                                \
	 .component = component_,                                                                  \
	 .kind = WIRE_BYTES,                                                                       \
	 .print = WIRE_##print_,                                                                   \
	 .match = WIRE_MATCH_##match_},

#define IBA_TEXT(type, name, count, bit, component)                                                \
	IBA_BYTES(type, name, count, bit, component, EQUAL, TEXT)

#define IBA_NEST_ROW(type, name_, nested_, count_, bit_, component_, match_, print_)               \
	{.name = #name_,                                                                           \
	 .nested = &iba_##nested_##_type,                                                          \
	 .bit = bit_,                                                                              \
	 .width = iba_##nested_##_bytes * 8,                                                       \
	 .count = count_,                                                                          \
	 .offset = HOST_OFFSET(type, name_),                                                       \
	 .size = sizeof(struct iba_##nested_),                                                     \
	 .component = component_,                                                                  \
	 .kind = WIRE_NEST,                                                                        \
	 .print = WIRE_##print_,                                                                   \
	 .match = WIRE_MATCH_##match_},

#define IBA_NEST(type, name, nested, bit, component, match, print)                                 \
	IBA_NEST_ROW(type, name, nested, 1, bit, component, match, print)
#define IBA_NESTS(type, name, nested, count, bit)                                                  \
	IBA_NEST_ROW(type, name, nested, count, bit, IBA_NC, EQUAL, DEC)

#include <iba/all.def>

#define IBA_TYPE(type, bits_)                                                                      \
	const struct wire_type iba_##type##_type = {                                               \
		.name = #type,                                                                     \
		.fields = type##_fields,                                                           \
		.n_fields = G_N_ELEMENTS(type##_fields),                                           \
		.bits = bits_,                                                                     \
		.size = sizeof(struct iba_##type),                                                 \
		.encode = iba_encode_##type,                                                       \
		.decode = iba_decode_##type,                                                       \
	};
#include <iba/all.def>

const struct wire_type *const iba_types[] = {
#define IBA_TYPE(type, bits) &iba_##type##_type,
#include <iba/all.def>
	NULL,
};
