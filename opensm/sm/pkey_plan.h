// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a P_Key table should hold, given what it holds: pure. */
#ifndef SM_PKEY_PLAN_H
#define SM_PKEY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct p_key_plan {
	const uint16_t *is; /* [room] */
	uint32_t room;
	const uint16_t *keys; /* they differ from each other and are not 0 */
	uint32_t n;
	uint16_t index0; /* of these, the one for index 0; 0: none */
	bool moves;	 /* it goes there even if it has another index, or another key has that */
};

/*
 * Fills want[room]: a key that the table has, with whatever membership, keeps its index, because
 * clients hold on to indexes; the others go to the first free ones, and to those of keys that are
 * not wanted any more only when there are no others. False if not all had room.
 */
bool p_key_plan_make(const struct p_key_plan *plan, uint16_t *want);

/*
 * On the way from is to want nobody who has a key before and after is to be without: both[i] is
 * what entry i holds while some keys are new and those that go are still there, a full membership
 * if there is one of the two.
 */
void p_key_plan_both(const uint16_t *is, const uint16_t *want, uint32_t room, uint16_t *both);

#endif
