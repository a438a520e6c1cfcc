// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The rows of iba/all.def again, expanded into code: offsets and widths are constants that the
 * compiler folds, which makes an SA query a third cheaper than walking the tables. The tables
 * remain the definition; a test checks that both agree.
 */
#include "libvendor/iba/codec.h"

#include <iba/iba.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE uint64_t low_bits(unsigned int width)
{
	return width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
}

/* A field lies within 8 octets, or is 64 bits at an octet. */
ALWAYS_INLINE uint64_t get(const uint8_t *wire, unsigned int bit, unsigned int width)
{
	const uint8_t *p = wire + bit / 8;
	unsigned int octets = (bit % 8 + width + 7) / 8;
	uint64_t value = 0;
	uint32_t v32;
	uint16_t v16;

	if (bit % 8 == 0 && width == 64) {
		memcpy(&value, p, sizeof(value));
		return GUINT64_FROM_BE(value);
	}
	if (bit % 8 == 0 && width == 32) {
		memcpy(&v32, p, sizeof(v32));
		return GUINT32_FROM_BE(v32);
	}
	if (bit % 8 == 0 && width == 16) {
		memcpy(&v16, p, sizeof(v16));
		return GUINT16_FROM_BE(v16);
	}
	for (unsigned int i = 0; i < octets; i++)
		value = value << 8 | p[i];
	return value >> (octets * 8 - bit % 8 - width) & low_bits(width);
}

ALWAYS_INLINE void put(uint8_t *wire, unsigned int bit, unsigned int width, uint64_t value)
{
	uint8_t *p = wire + bit / 8;
	unsigned int octets = (bit % 8 + width + 7) / 8;
	uint32_t v32;
	uint16_t v16;

	if (bit % 8 == 0 && width == 64) {
		value = GUINT64_TO_BE(value);
		memcpy(p, &value, sizeof(value));
	} else if (bit % 8 == 0 && width == 32) {
		v32 = GUINT32_TO_BE((uint32_t)value);
		memcpy(p, &v32, sizeof(v32));
	} else if (bit % 8 == 0 && width == 16) {
		v16 = GUINT16_TO_BE((uint16_t)value);
		memcpy(p, &v16, sizeof(v16));
	} else {
		value = (value & low_bits(width)) << (octets * 8 - bit % 8 - width);
		for (unsigned int i = 0; i < octets; i++)
			p[i] |= (uint8_t)(value >> (octets - 1 - i) * 8);
	}
}

#define FITS(bit, width) ((bit) % 8 + (width) <= 64)

#define IBA_TYPE(type, bits)                                                                       \
	void iba_encode_##type(const void *from, uint8_t *wire)                                    \
	{                                                                                          \
		const struct iba_##type *host = from;
#define IBA_END(type) }
#define IBA_FIELD(type, name, ctype, bit, width, component, match, print)                          \
	G_STATIC_ASSERT(FITS(bit, width));                                                         \
	put(wire, bit, width, host->name);
#define IBA_ARRAY(type, name, ctype, count, bit, width, component, match, print)                   \
	for (unsigned int i = 0; i < (count); i++)                                                 \
		put(wire, (bit) + i * (width), width, host->name[i]);
#define IBA_BYTES(type, name, count, bit, component, match, print)                                 \
	memcpy(wire + (bit) / 8, host->name, count);
#define IBA_TEXT(type, name, count, bit, component) memcpy(wire + (bit) / 8, host->name, count);
#define IBA_NEST(type, name, nested, bit, component, match, print)                                 \
	iba_encode_##nested(&host->name, wire + (bit) / 8);
#define IBA_NESTS(type, name, nested, count, bit)                                                  \
	for (unsigned int i = 0; i < (count); i++)                                                 \
		iba_encode_##nested(&host->name[i], wire + (bit) / 8 + i * iba_##nested##_bytes);
#include <iba/all.def>

#define IBA_TYPE(type, bits)                                                                       \
	void iba_decode_##type(const uint8_t *wire, void *to)                                      \
	{                                                                                          \
		struct iba_##type *host = to;
#define IBA_END(type) }
#define IBA_FIELD(type, name, ctype, bit, width, component, match, print)                          \
	host->name = (ctype)get(wire, bit, width);
#define IBA_ARRAY(type, name, ctype, count, bit, width, component, match, print)                   \
	for (unsigned int i = 0; i < (count); i++)                                                 \
		host->name[i] = (ctype)get(wire, (bit) + i * (width), width);
#define IBA_BYTES(type, name, count, bit, component, match, print)                                 \
	memcpy(host->name, wire + (bit) / 8, count);
#define IBA_TEXT(type, name, count, bit, component) memcpy(host->name, wire + (bit) / 8, count);
#define IBA_NEST(type, name, nested, bit, component, match, print)                                 \
	iba_decode_##nested(wire + (bit) / 8, &host->name);
#define IBA_NESTS(type, name, nested, count, bit)                                                  \
	for (unsigned int i = 0; i < (count); i++)                                                 \
		iba_decode_##nested(wire + (bit) / 8 + i * iba_##nested##_bytes, &host->name[i]);
#include <iba/all.def>
