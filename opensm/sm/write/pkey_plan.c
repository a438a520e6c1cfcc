// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Keys keep their index; next come those of which the table has another membership; then the one
 * for index 0 (o10-5.1.1 expects the default key there) goes there if it can; the rest are new. If
 * that one has an index already and index 0 would be empty, it has both from then on, unless the
 * room is needed: most programs use index 0, others the one that they found.
 *
 * A client that opened a queue pair by an index keeps that index, and not the P_Key: if another key
 * takes the index of a former partition, clients that are still there use that key. So such an
 * index is taken last.
 */
#include "sm/write/pkey_plan.h"

#include <string.h>

#include "policy/partition/partition.h"

static bool holds(const uint16_t *table, uint32_t room, uint16_t key)
{
	for (uint32_t i = 0; i < room; i++)
		if (table[i] == key)
			return true;
	return false;
}

static void keep_index(const struct p_key_plan *plan, uint16_t key, uint16_t same_bits,
		       uint16_t *want)
{
	const uint16_t *is = plan->is;

	for (uint32_t i = 0; i < plan->room; i++)
		if (is[i] && !want[i] && !((is[i] ^ key) & same_bits)) {
			want[i] = key;
			return;
		}
}

/* Why a key can have an index, the best first. A client may remember the last three. */
enum rank {
	RANK_OWN,    /* its partition had the index */
	RANK_NEW,    /* no partition had it */
	RANK_LEFT,   /* another partition had it */
	RANK_LEAVES, /* a key that is no longer wanted has it */
	RANK_SECOND, /* the key at index 0 has it as a second one */
	RANK_NONE,
};

static enum rank rank_of(const struct p_key_plan *plan, const uint16_t *want, uint32_t i,
			 uint16_t key)
{
	static const struct p_key_left nothing;
	const struct p_key_left *left = plan->left ? &plan->left[i] : &nothing;

	if (want[i])
		return i && want[i] == want[0] && !plan->closes ? RANK_SECOND : RANK_NONE;
	if (plan->is[i])
		return plan->closes ? RANK_NONE : RANK_LEAVES;
	if (!left->p_key)
		return RANK_NEW;
	if (P_KEY_BASE(left->p_key) == P_KEY_BASE(key))
		return RANK_OWN;
	return left->closed ? RANK_NONE : RANK_LEFT;
}

/* False: no index is available at that rank or a better one. */
static bool place_new(const struct p_key_plan *plan, uint16_t key, enum rank worst, uint16_t *want)
{
	enum rank best = worst + 1;
	uint32_t at = 0;

	for (uint32_t i = 0; i < plan->room; i++) {
		enum rank rank = rank_of(plan, want, i, key);

		if (rank < best || (rank == RANK_LEFT && rank == best &&
				    plan->left[i].since < plan->left[at].since)) {
			best = rank;
			at = i;
		}
	}
	if (best <= worst)
		want[at] = key;
	return best <= worst;
}

/* The key at index 0 gives up its second index, which is free when it is no longer closed. */
static void drop_second(const struct p_key_plan *plan, uint16_t *want)
{
	for (uint32_t i = 1; i < plan->room; i++)
		if (want[i] && want[i] == want[0])
			want[i] = 0;
}

/* Whether index 0 is closed to the wanted key: only in a port that is in use. */
static bool is_first_closed(const struct p_key_plan *plan)
{
	uint16_t had = plan->is[0];

	if (plan->moves)
		return false;
	if (!had && plan->left && plan->left[0].closed)
		had = plan->left[0].p_key;
	return had && P_KEY_BASE(had) != P_KEY_BASE(plan->index0) && (!plan->is[0] || plan->closes);
}

static void place_first(const struct p_key_plan *plan, uint16_t *want)
{
	if (plan->index0 && plan->room && !want[0] && !is_first_closed(plan))
		want[0] = plan->index0;
}

/* A key at index 0 keeps another index that it also has. */
static void keep_second(const struct p_key_plan *plan, uint16_t *want)
{
	for (uint32_t i = 1; i < plan->room; i++)
		if (plan->is[i] && !want[i] && P_KEY_BASE(plan->is[i]) == P_KEY_BASE(want[0]))
			want[i] = want[0];
}

uint32_t p_key_plan_make(const struct p_key_plan *plan, uint16_t *want)
{
	static const uint16_t same_bits[] = {0xFFFF, P_KEY_BASE(0xFFFF)};
	uint32_t without = 0;

	memset(want, 0, plan->room * sizeof(*want));
	if (plan->moves)
		place_first(plan, want);
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < plan->n; i++)
			if (!holds(want, plan->room, plan->keys[i]))
				keep_index(plan, plan->keys[i], same_bits[pass], want);
	place_first(plan, want);
	if (!plan->moves)
		keep_second(plan, want);
	for (uint32_t i = 0; i < plan->n; i++)
		if (!holds(want, plan->room, plan->keys[i]))
			place_new(plan, plan->keys[i], RANK_OWN, want);
	for (uint32_t i = 0; i < plan->n; i++)
		if (!holds(want, plan->room, plan->keys[i]))
			without += !place_new(plan, plan->keys[i], RANK_SECOND, want);
	if (without)
		drop_second(plan, want);
	return without;
}

static bool holds_base(const uint16_t *table, uint32_t room, uint16_t key)
{
	for (uint32_t i = 0; i < room; i++)
		if (table[i] && P_KEY_BASE(table[i]) == P_KEY_BASE(key))
			return true;
	return false;
}

static bool is_lowered(uint16_t is, uint16_t want)
{
	return is != want && P_KEY_BASE(is) == P_KEY_BASE(want) && is & P_KEY_FULL;
}

void p_key_plan_loud(const uint16_t *is, const uint16_t *want, uint32_t room, bool *loud)
{
	for (uint32_t i = 0; i < room; i++)
		if (is[i] && (is_lowered(is[i], want[i]) || !holds_base(want, room, is[i])))
			loud[P_KEY_BASE(is[i])] = true;
}

/* The stage in which entry i gets its new value, or, if that differs, is emptied. */
static enum p_key_stage stage_of(const uint16_t *is, const uint16_t *want, uint32_t room,
				 uint32_t i, const bool *loud)
{
	if (!is[i])
		return loud[P_KEY_BASE(want[i])] || holds_base(is, room, want[i]) ? P_KEY_ADD
										  : P_KEY_ADD_QUIET;
	if (is_lowered(is[i], want[i]))
		return P_KEY_LOWER;
	if (P_KEY_BASE(is[i]) == P_KEY_BASE(want[i]))
		return loud[P_KEY_BASE(want[i])] ? P_KEY_RAISE : P_KEY_ADD_QUIET;
	return holds_base(want, room, is[i]) ? P_KEY_ADD : P_KEY_REMOVE;
}

void p_key_plan_stage(const uint16_t *is, const uint16_t *want, uint32_t room,
		      enum p_key_stage stage, const bool *loud, uint16_t *next)
{
	memcpy(next, is, room * sizeof(*next));
	for (uint32_t i = 0; i < room; i++)
		if (is[i] != want[i] &&
		    (stage == P_KEY_ADD || stage_of(is, want, room, i, loud) == stage))
			next[i] = stage == P_KEY_REMOVE ? 0 : want[i];
}

void p_key_plan_both(const uint16_t *is, const uint16_t *want, uint32_t room, uint16_t *both)
{
	for (uint32_t i = 0; i < room; i++) {
		if (!is[i])
			both[i] = want[i];
		else if (P_KEY_BASE(is[i]) == P_KEY_BASE(want[i]))
			both[i] = is[i] | want[i];
		else
			both[i] = is[i];
	}
}
