// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a P_Key table should hold, given what it holds: pure. */
#ifndef SM_WRITE_PKEY_PLAN_H
#define SM_WRITE_PKEY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* What an empty index last held. */
struct p_key_left {
	uint16_t p_key; /* 0: nothing, as far as known */
	bool closed;	/* another partition must not use the index yet */
	uint64_t since; /* when that P_Key left it */
};

struct p_key_plan {
	const uint16_t *is; /* [room] */
	uint32_t room;
	const uint16_t *keys; /* all different, none 0 */
	uint32_t n; /* at most room: a policy gives no port more */
	uint16_t index0; /* one of keys, for index 0; 0: none */
	bool moves;	 /* it goes to index 0 even from another index or in place of a key */
	const struct p_key_left *left; /* [room]; NULL: nothing is known */
	bool closes; /* an index that a key leaves now is closed */
};

/*
 * Fills want[room]. A key already in the table, with any membership, keeps its index, because
 * clients hold on to indexes; index 0 is not left empty; other keys go to the index that their
 * partition had before, then to the first one never used, then to the one that was left longest
 * ago, and only if there are no others, to those of keys no longer wanted. Returns the number of
 * keys without an index, as all remaining ones are closed.
 */
uint32_t p_key_plan_make(const struct p_key_plan *plan, uint16_t *want);

/*
 * During a change of policy a host is never reachable by a host that neither policy allows to talk
 * to it, and keeps the keys that both policies give it. So hosts leave a partition before others
 * are added or become full members there, and new full members are added before others stop being
 * full. Keys that no host leaves can be added first: hosts that use another key from now on get it
 * in time.
 */
enum p_key_stage {
	P_KEY_ADD_QUIET, /* keys that no host leaves, or full memberships there */
	P_KEY_REMOVE,
	P_KEY_RAISE, /* limited members become full ones */
	P_KEY_LOWER,
	P_KEY_ADD, /* all the rest, including moves to another index */
};

/*
 * Marks in loud[P_KEY_BASES] the partitions that this table leaves, or where it stops being
 * full.
 */
void p_key_plan_loud(const uint16_t *is, const uint16_t *want, uint32_t room, bool *loud);
/* What the table holds after that stage; loud has the marks of all tables. */
void p_key_plan_stage(const uint16_t *is, const uint16_t *want, uint32_t room,
		      enum p_key_stage stage, const bool *loud, uint16_t *next);

/* Contains the keys of is and of want, as far as there is room: a switch between two policies. */
void p_key_plan_both(const uint16_t *is, const uint16_t *want, uint32_t room, uint16_t *both);

#endif
