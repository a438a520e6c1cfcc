// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The codec: walks the rows of a wire type for encoding, decoding and matching. It knows big-endian
 * bit fields and nothing of InfiniBand.
 *
 * All functions are pure in their arguments; tables are constant, so any thread may call them.
 * Tables are part of the program: wire_check checks them in the tests, and they are trusted here.
 * Buffers are as long as the type says, so no packet content can cause accesses outside them.
 */
#include <complib/scalar.h>
#include <complib/wire.h>
#include <string.h>

#define EQUAL_BYTES_MAX 256 /* of a MAD */

static inline bool is_octets(const struct wire_field *field)
{
	return field->width == 8 && field->size == 1 && field->bit % 8 == 0;
}

/* Loads bits at any position, octet by octet, touching no octet outside the field. */
static uint64_t load_bits(const uint8_t *wire, unsigned int bit, unsigned int width)
{
	const uint8_t *p = wire + bit / 8;
	unsigned int have = 8 - bit % 8;
	uint64_t value = *p & (0xFFu >> (bit % 8));

	if (width <= have)
		return value >> (have - width);
	for (width -= have; width >= 8; width -= 8)
		value = value << 8 | *++p;
	return width > 0 ? value << width | p[1] >> (8 - width) : value;
}

/* Stores bits that were 0 before. */
static void store_bits(uint8_t *wire, unsigned int bit, unsigned int width, uint64_t value)
{
	uint8_t *p = wire + bit / 8;
	unsigned int have = 8 - bit % 8;

	if (width < 64)
		value &= (UINT64_C(1) << width) - 1;
	if (width <= have) {
		*p |= (uint8_t)(value << (have - width));
		return;
	}
	width -= have;
	*p++ |= (uint8_t)(value >> width);
	for (; width >= 8; width -= 8)
		*p++ = (uint8_t)(value >> (width - 8));
	if (width > 0)
		*p |= (uint8_t)(value << (8 - width));
}

static inline uint64_t load_wire(const uint8_t *wire, unsigned int bit, unsigned int width)
{
	const uint8_t *p = wire + bit / 8;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	if (bit % 8 + width <= 8) /* most fields: within one octet */
		return *p >> (8 - bit % 8 - width) & (0xFFu >> (8 - width));
	if (bit % 8 != 0)
		return load_bits(wire, bit, width);
	switch (width) {
	case 16:
		memcpy(&v16, p, sizeof(v16));
		return GUINT16_FROM_BE(v16);
	case 32:
		memcpy(&v32, p, sizeof(v32));
		return GUINT32_FROM_BE(v32);
	case 64:
		memcpy(&v64, p, sizeof(v64));
		return GUINT64_FROM_BE(v64);
	default:
		return load_bits(wire, bit, width);
	}
}

static inline void store_wire(uint8_t *wire, unsigned int bit, unsigned int width, uint64_t value)
{
	uint8_t *p = wire + bit / 8;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	if (bit % 8 + width <= 8) {
		*p |= (uint8_t)((value & (0xFFu >> (8 - width))) << (8 - bit % 8 - width));
		return;
	}
	if (bit % 8 != 0) {
		store_bits(wire, bit, width, value);
		return;
	}
	switch (width) {
	case 16:
		v16 = GUINT16_TO_BE((uint16_t)value);
		memcpy(p, &v16, sizeof(v16));
		break;
	case 32:
		v32 = GUINT32_TO_BE((uint32_t)value);
		memcpy(p, &v32, sizeof(v32));
		break;
	case 64:
		v64 = GUINT64_TO_BE(value);
		memcpy(p, &v64, sizeof(v64));
		break;
	default:
		store_bits(wire, bit, width, value);
	}
}

uint64_t wire_value(const struct wire_field *field, const void *host, unsigned int index)
{
	return scalar_load((const uint8_t *)host + field->offset + index * field->size,
			   field->size);
}

void wire_set_value(const struct wire_field *field, void *host, unsigned int index, uint64_t value)
{
	scalar_store((uint8_t *)host + field->offset + index * field->size, field->size, value);
}

static inline void encode_uints(const struct wire_field *field, const uint8_t *host, uint8_t *wire)
{
	unsigned int bit = field->bit;

	for (unsigned int i = 0; i < field->count; i++) {
		store_wire(wire, bit, field->width, scalar_load(host, field->size));
		bit += field->width;
		host += field->size;
	}
}

static inline void decode_uints(const struct wire_field *field, const uint8_t *wire, uint8_t *host)
{
	unsigned int bit = field->bit;

	for (unsigned int i = 0; i < field->count; i++) {
		scalar_store(host, field->size, load_wire(wire, bit, field->width));
		bit += field->width;
		host += field->size;
	}
}

static void encode_fields(const struct wire_type *type, const uint8_t *host, uint8_t *wire)
{
	const struct wire_field *end = type->fields + type->n_fields;

	for (const struct wire_field *field = type->fields; field < end; field++) {
		const uint8_t *from = host + field->offset;
		uint8_t *to = wire + field->bit / 8;

		if (field->kind == WIRE_NEST) {
			for (unsigned int i = 0; i < field->count; i++)
				encode_fields(field->nested, from + i * field->size,
					      to + i * wire_bytes(field->nested));
		} else if (field->count > 1 && is_octets(field)) {
			memcpy(to, from, field->count);
		} else {
			encode_uints(field, from, wire);
		}
	}
}

void wire_encode(const struct wire_type *type, const void *host, uint8_t *wire)
{
	memset(wire, 0, wire_bytes(type));
	if (type->encode)
		type->encode(host, wire);
	else
		encode_fields(type, host, wire);
}

static void decode_fields(const struct wire_type *type, const uint8_t *wire, uint8_t *host)
{
	const struct wire_field *end = type->fields + type->n_fields;

	for (const struct wire_field *field = type->fields; field < end; field++) {
		const uint8_t *from = wire + field->bit / 8;
		uint8_t *to = host + field->offset;

		if (field->kind == WIRE_NEST) {
			for (unsigned int i = 0; i < field->count; i++)
				decode_fields(field->nested, from + i * wire_bytes(field->nested),
					      to + i * field->size);
		} else if (field->count > 1 && is_octets(field)) {
			memcpy(to, from, field->count);
		} else {
			decode_uints(field, wire, to);
		}
	}
}

void wire_decode(const struct wire_type *type, const uint8_t *wire, void *host)
{
	if (type->decode)
		type->decode(wire, host);
	else
		decode_fields(type, wire, host);
}

bool wire_equal(const struct wire_type *type, const void *a, const void *b)
{
	uint8_t one[EQUAL_BYTES_MAX], other[EQUAL_BYTES_MAX];

	g_assert(wire_bytes(type) <= EQUAL_BYTES_MAX);
	wire_encode(type, a, one);
	wire_encode(type, b, other);
	return !memcmp(one, other, wire_bytes(type));
}

/* A type whose fields have no components of their own is one component of the embedding type. */
static bool is_atom(const struct wire_type *type)
{
	for (unsigned int i = 0; i < type->n_fields; i++)
		if (type->fields[i].component != WIRE_NO_COMPONENT)
			return false;
	return true;
}

static inline bool agree(uint64_t query, uint64_t candidate, bool as_bits)
{
	return as_bits ? (query & candidate) == query : query == candidate;
}

static inline bool element_agrees(const struct wire_field *field, const uint8_t *query,
				  const uint8_t *candidate, unsigned int index, bool as_bits)
{
	return agree(wire_value(field, query, index), wire_value(field, candidate, index), as_bits);
}

static bool elements_agree(const struct wire_field *field, const uint8_t *query,
			   const uint8_t *candidate, bool as_bits)
{
	for (unsigned int i = 0; i < field->count; i++)
		if (!element_agrees(field, query, candidate, i, as_bits))
			return false;
	return true;
}

static bool whole_agrees(const struct wire_type *type, const uint8_t *query,
			 const uint8_t *candidate, bool as_bits)
{
	for (unsigned int i = 0; i < type->n_fields; i++) {
		const struct wire_field *field = &type->fields[i];
		unsigned int n = field->kind == WIRE_NEST ? field->count : 0;

		for (unsigned int j = 0; j < n; j++) {
			size_t offset = field->offset + j * field->size;

			if (!whole_agrees(field->nested, query + offset, candidate + offset,
					  as_bits))
				return false;
		}
		if (n == 0 && !elements_agree(field, query, candidate, as_bits))
			return false;
	}
	return true;
}

static bool integers_match(const struct wire_field *field, const uint8_t *query,
			   const uint8_t *candidate, uint64_t mask, uint64_t bits)
{
	for (unsigned int i = 0; i < field->count; i++) {
		uint64_t component = UINT64_C(1) << (field->component + i);
		bool as_bits = (bits & component) || field->match == WIRE_MATCH_BITS;

		if ((mask & component) && !element_agrees(field, query, candidate, i, as_bits))
			return false;
	}
	return true;
}

static bool match_fields(const struct wire_type *type, const uint8_t *query,
			 const uint8_t *candidate, uint64_t mask, uint64_t bits)
{
	for (unsigned int i = 0; mask && i < type->n_fields; i++) {
		const struct wire_field *field = &type->fields[i];
		const uint8_t *q = query + field->offset, *c = candidate + field->offset;
		bool as_bits, matches;

		if (field->component == WIRE_NO_COMPONENT || field->match == WIRE_MATCH_NEVER ||
		    !(mask >> field->component))
			continue;
		as_bits = (bits >> field->component & 1) || field->match == WIRE_MATCH_BITS;
		if (field->kind == WIRE_UINT)
			matches = integers_match(field, query, candidate, mask, bits);
		else if (field->kind == WIRE_NEST && !is_atom(field->nested))
			matches = match_fields(field->nested, q, c, mask >> field->component,
					       bits >> field->component);
		else if (!(mask >> field->component & 1))
			matches = true;
		else if (field->kind == WIRE_NEST)
			matches = whole_agrees(field->nested, q, c, as_bits);
		else
			matches = elements_agree(field, query, candidate, as_bits);
		if (!matches)
			return false;
	}
	return true;
}

bool wire_match_bits(const struct wire_type *type, const void *query, const void *candidate,
		     uint64_t mask, uint64_t bits)
{
	return match_fields(type, query, candidate, mask, bits);
}

bool wire_match(const struct wire_type *type, const void *query, const void *candidate,
		uint64_t mask)
{
	return match_fields(type, query, candidate, mask, 0);
}

/* Components of one field, counted from component 0 of its type. */
static uint64_t field_components(const struct wire_field *field)
{
	uint64_t components = 1;

	if (field->component == WIRE_NO_COMPONENT)
		return 0;
	if (field->kind == WIRE_NEST && !is_atom(field->nested))
		components = wire_components(field->nested);
	else if (field->kind == WIRE_UINT)
		components = field->count >= 64 ? UINT64_MAX : (UINT64_C(1) << field->count) - 1;
	return components << field->component;
}

uint64_t wire_components(const struct wire_type *type)
{
	uint64_t components = 0;

	for (unsigned int i = 0; i < type->n_fields; i++)
		components |= field_components(&type->fields[i]);
	return components;
}

const struct wire_field *wire_find_field(const struct wire_type *type, const char *name)
{
	for (unsigned int i = 0; i < type->n_fields; i++)
		if (strcmp(type->fields[i].name, name) == 0)
			return &type->fields[i];
	return NULL;
}
