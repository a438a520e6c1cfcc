// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Table-driven codec between wire format (big endian, bit-packed) and host structs.
 *
 * A wire type is an array of field rows. Rows are written once, in a .def list, from which the
 * host struct, the table, the SA ComponentMask bits and the tests are generated (see iba/iba.h).
 * Bit offsets count from the start of the type, most significant bit first, as the IBA does.
 */
#ifndef COMPLIB_WIRE_H
#define COMPLIB_WIRE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_kind {
	WIRE_UINT,  /* 1..64 bits in a uint8_t, uint16_t, uint32_t or uint64_t */
	WIRE_BYTES, /* octets copied unchanged; width is 8, count the number of octets */
	WIRE_NEST,  /* an embedded wire type */
};

enum wire_print {
	WIRE_DEC,
	WIRE_HEX,
	WIRE_LID,
	WIRE_GUID,
	WIRE_GID,  /* a nested pair of 64-bit words printed as an IPv6 address */
	WIRE_TEXT, /* octets up to the first NUL, unprintable ones escaped */
	WIRE_HIDE, /* a key: printed as whether it is set, never its value */
	WIRE_PRINTS,
};

enum wire_match {
	WIRE_MATCH_EQUAL,    /* component equals */
	WIRE_MATCH_NEVER,    /* component is not compared here: selectors, reserved, keys */
	WIRE_MATCH_BITS,     /* every bit set in the query is set in the candidate */
	WIRE_MATCHES,
};

#define WIRE_NO_COMPONENT (-1)

struct wire_type;

struct wire_field {
	const char *name;
	const struct wire_type *nested; /* of WIRE_NEST */
	uint16_t bit;	/* offset of the first element on the wire */
	uint16_t width; /* bits of one element on the wire */
	uint16_t count; /* adjacent elements; 1 for a plain field */
	uint16_t offset; /* of the first element in the host struct */
	uint16_t size;	 /* bytes of one element in the host struct */
	/*
	 * ComponentMask bit. Array of integers: the bit of element 0, followed by the others.
	 * Nested type: offset added to its components, or the bit of the whole if it has no
	 * components.
	 */
	int16_t component;
	uint8_t kind, print, match;
};

struct wire_type {
	const char *name;
	const struct wire_field *fields;
	uint16_t n_fields;
	uint16_t bits; /* size on the wire, a multiple of 8 */
	uint16_t size; /* sizeof the host struct */
	/*
	 * Generated code for types where speed matters; NULL: the rows are walked. encode gets
	 * zeroed octets.
	 */
	void (*encode)(const void *host, uint8_t *wire);
	void (*decode)(const uint8_t *wire, void *host);
};

static inline size_t wire_bytes(const struct wire_type *type)
{
	return type->bits / 8;
}

/* Writes wire_bytes(type) octets; reserved bits become 0; a value wider than its field is cut. */
void wire_encode(const struct wire_type *type, const void *host, uint8_t *wire);

/* Reads wire_bytes(type) octets; every field of host is set, padding is left alone. */
void wire_decode(const struct wire_type *type, const uint8_t *wire, void *host);

/* Whether both have the same encoding, ignoring padding; for types of at most 256 octets. */
bool wire_equal(const struct wire_type *type, const void *a, const void *b);

/*
 * True if candidate agrees with query in every component whose bit is set in mask, under each
 * field's match rule. Bits of mask that belong to no field are ignored.
 */
bool wire_match(const struct wire_type *type, const void *query, const void *candidate,
		uint64_t mask);

/*
 * As wire_match(), but components whose bit is set in bits are compared as WIRE_MATCH_BITS whatever
 * their row says (except WIRE_MATCH_NEVER): for queries about capability masks.
 */
bool wire_match_bits(const struct wire_type *type, const void *query, const void *candidate,
		     uint64_t mask, uint64_t bits);

/* ComponentMask bits that belong to a field of the type, nested fields included. */
uint64_t wire_components(const struct wire_type *type);

/* The field of that name, not looking into nested types; NULL if there is none. */
const struct wire_field *wire_find_field(const struct wire_type *type, const char *name);

/*
 * Reads or sets element index of a WIRE_UINT or WIRE_BYTES field; setting cuts the value to the
 * host size.
 */
uint64_t wire_value(const struct wire_field *field, const void *host, unsigned int index);
void wire_set_value(const struct wire_field *field, void *host, unsigned int index, uint64_t value);

/*
 * Appends one "name:............value" line per field, as infiniband-diags does. Fields of nested
 * types keep their own names; those of element i of an array get the prefix "array[i].".
 */
void wire_print(const struct wire_type *type, const void *host, GString *out);
/* Appends all fields on one line: " name=value" for each field that is not 0. */
void wire_print_words(const struct wire_type *type, const void *host, GString *out);

/*
 * Checks the table itself: fields inside the type and in host bounds, no overlap on the wire or
 * in the host struct, width fits the host element, components unique. On failure *why says what
 * is wrong (free with g_free).
 */
bool wire_check(const struct wire_type *type, char **why);

#endif
