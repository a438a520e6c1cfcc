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

#endif
