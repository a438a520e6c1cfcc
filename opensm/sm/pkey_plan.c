// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The default key stands at index 0, where o10-5.1.1 expects it. Then keys take the index they
 * have; then the same key with another membership does; what is left is new.
 */
#include "sm/pkey_plan.h"

#include <string.h>

#include "policy/partition.h"

static bool holds(const uint16_t *table, uint32_t room, uint16_t key)
{
	for (uint32_t i = 0; i < room; i++)
		if (table[i] == key)
			return true;
	return false;
}

static bool is_default(uint16_t key)
{
	return P_KEY_BASE(key) == P_KEY_BASE(P_KEY_DEFAULT);
}

/* Of two memberships in the default partition the full one. */
static void place_default(const uint16_t *keys, uint32_t n, uint16_t *want)
{
	for (uint32_t i = 0; i < n; i++)
		if (is_default(keys[i]) && keys[i] > want[0])
			want[0] = keys[i];
}

static void keep_index(const uint16_t *is, uint32_t room, uint16_t key, uint16_t same_bits,
		       uint16_t *want)
{
	for (uint32_t i = 0; i < room; i++)
		if (is[i] && !want[i] && !((is[i] ^ key) & same_bits)) {
			want[i] = key;
			return;
		}
}

static bool place_new(uint16_t key, uint32_t room, uint16_t *want)
{
	for (uint32_t i = 0; i < room; i++)
		if (!want[i]) {
			want[i] = key;
			return true;
		}
	return false;
}

bool p_key_plan_make(const uint16_t *is, uint32_t room, const uint16_t *keys, uint32_t n,
		     uint16_t *want)
{
	static const uint16_t same_bits[] = {0xFFFF, P_KEY_BASE(0xFFFF)};
	bool all = true;

	memset(want, 0, room * sizeof(*want));
	if (room)
		place_default(keys, n, want);
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < n; i++)
			if (!holds(want, room, keys[i]))
				keep_index(is, room, keys[i], same_bits[pass], want);
	for (uint32_t i = 0; i < n; i++)
		if (!holds(want, room, keys[i]))
			all &= place_new(keys[i], room, want);
	return all;
}
