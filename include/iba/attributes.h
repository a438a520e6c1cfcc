// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The wire type of each attribute of each class, for printers, captures and tests. */
#ifndef IBA_ATTRIBUTES_H
#define IBA_ATTRIBUTES_H

#include <iba/iba.h>

struct iba_attribute {
	uint8_t mgmt_class; /* IBA_CLASS_SUBN_LID for both kinds of routing */
	uint16_t attribute;
	enum iba_set names;
	const struct wire_type *type;
};

/* All rows of attributes.def in their order, then one without a type. */
extern const struct iba_attribute iba_attributes[];

/* The row of an attribute of a class; NULL if the class is unknown or has no such attribute. */
const struct iba_attribute *iba_attribute_find(uint8_t mgmt_class, uint16_t attribute);

/* The attribute's name as the IBA writes it; NULL if there is no such row. */
const char *iba_attribute_name(uint8_t mgmt_class, uint16_t attribute);

/* Offset of its data in a MAD, in octets; 0 for an unknown class. */
unsigned int iba_attribute_offset(uint8_t mgmt_class, uint16_t attribute);

/* The data_details of a generic Notice of subnet management or administration; NULL: unknown. */
const struct wire_type *iba_trap_details(uint16_t trap_number);

#endif
