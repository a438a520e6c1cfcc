// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Unsigned integers in memory of 1, 2, 4 or 8 octets; table rows give the size at run time. */
#ifndef COMPLIB_SCALAR_H
#define COMPLIB_SCALAR_H

#include <stddef.h>
#include <stdint.h>

/* The unsigned integer of size octets at host, which is aligned for its type. */
static inline uint64_t scalar_load(const void *host, size_t size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)host;
	case 2:
		return *(const uint16_t *)host;
	case 4:
		return *(const uint32_t *)host;
	default:
		return *(const uint64_t *)host;
	}
}

/* Writes value, cut to size octets, to the unsigned integer at host. */
static inline void scalar_store(void *host, size_t size, uint64_t value)
{
	switch (size) {
	case 1:
		*(uint8_t *)host = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)host = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)host = (uint32_t)value;
		break;
	default:
		*(uint64_t *)host = value;
	}
}

#endif
