// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a P_Key table should hold, given what it holds: pure. */
#ifndef SM_WRITE_PKEY_PLAN_H
#define SM_WRITE_PKEY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* Of an index that is empty: what was there last. */
struct p_key_left {
	uint16_t p_key; /* 0: nothing, as far as is known */
	bool closed;	/* no other partition may have the index yet */
	uint64_t since; /* when that P_Key left it */
};

struct p_key_plan {
	const uint16_t *is; /* [room] */
	uint32_t room;
	const uint16_t *keys; /* they differ from each other and are not 0 */
	uint32_t n; /* at most room: a policy gives no port more */
	uint16_t index0; /* of these, the one for index 0; 0: none */
	bool moves;	 /* it goes there even if it has another index, or another key has that */
	const struct p_key_left *left; /* [room]; NULL: nothing is known */
	bool closes; /* an index that a key leaves now is closed */
};

/*
 * Fills want[room]: a key that the table has, with whatever membership, keeps its index, because
 * clients hold on to indexes; index 0 is not left empty; the others go to the index that their
 * partition had before, then to the first that nobody had, then to the one that was left longest
 * ago, and to those of keys that are not wanted any more only when there are no others. Returns
 * how many have no index, as all that are left are closed.
 */
uint32_t p_key_plan_make(const struct p_key_plan *plan, uint16_t *want);

/*
 * From one policy to the next a host is never reached by whom neither lets talk to it, and keeps
 * the keys that both give it. So whoever leaves a partition does so before anybody comes or is
 * made a full member there, and new full members are there before others cease to be one. Keys
 * that nobody leaves can be added before all else: who talks by another key from now on has it in
 * time.
 */
enum p_key_stage {
	P_KEY_ADD_QUIET, /* keys that nobody leaves, or full memberships there */
	P_KEY_REMOVE,
	P_KEY_RAISE, /* limited members become full ones */
	P_KEY_LOWER,
	P_KEY_ADD, /* all that is left, moves to another index included */
};

/* Notes in loud[P_KEY_BASES] the partitions that this table leaves, or where it ceases to be full.
 */
void p_key_plan_loud(const uint16_t *is, const uint16_t *want, uint32_t room, bool *loud);
/* What the table holds after that stage, in which loud is what all of them noted. */
void p_key_plan_stage(const uint16_t *is, const uint16_t *want, uint32_t room,
		      enum p_key_stage stage, const bool *loud, uint16_t *next);

/* Passes what is or want pass, as far as there is room: of a switch between two policies. */
void p_key_plan_both(const uint16_t *is, const uint16_t *want, uint32_t room, uint16_t *both);

#endif
