// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a P_Key table should hold, given what it holds: pure. */
#ifndef SM_PKEY_PLAN_H
#define SM_PKEY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Fills want[room] with the n keys, which differ from each other and are not 0. The default key
 * goes to index 0; a key that is[room] has, with whatever membership, keeps its index, because
 * clients hold on to indexes; the others go to the first free ones. False if not all had room.
 */
bool p_key_plan_make(const uint16_t *is, uint32_t room, const uint16_t *keys, uint32_t n,
		     uint16_t *want);

#endif
