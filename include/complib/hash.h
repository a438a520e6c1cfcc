// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#ifndef COMPLIB_HASH_H
#define COMPLIB_HASH_H

#include <stdint.h>

/*
 * Of the uint64_t at key, a GUID mostly, for a GHashTable. The order in which a table is walked,
 * and so that of packets, follows from it: g_int64_hash() is another one in newer versions of GLib.
 */
static inline unsigned int hash_uint64(const void *key)
{
	return (unsigned int)*(const uint64_t *)key;
}

#endif
