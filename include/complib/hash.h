// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#ifndef COMPLIB_HASH_H
#define COMPLIB_HASH_H

#include <stdint.h>

/*
 * Hash of the uint64_t at key, mostly a GUID, for a GHashTable. It determines the order in which a
 * table is walked, and so the order of packets: g_int64_hash() differs between GLib versions.
 */
static inline unsigned int hash_uint64(const void *key)
{
	return (unsigned int)*(const uint64_t *)key;
}

/* Spreads the bits of x upwards: the upper half of the result depends on all of them. */
static inline uint64_t hash_spread(uint64_t x)
{
	return x * UINT64_C(0x9E3779B97F4A7C15); /* 2^64 divided by the golden ratio */
}

#endif
