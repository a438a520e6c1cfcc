// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Slots and their TransactionIDs. */
#include "mad/tid.h"

void tid_add(struct tid_table *table, struct tid_slot *slot, struct mad *mad, struct actor *actor,
	     const struct tid_user *user, void (*fire)(struct timer *timer))
{
	g_assert(table->n_slots < TID_SLOTS_MAX);
	timer_init(&slot->timer, actor, fire);
	slot->mad = mad;
	slot->user = user;
	slot->first_tid = TID_AGE + table->n_slots;
	table->slots[table->n_slots++] = slot;
}

struct tid_slot *tid_take(struct tid_slot **free_slots)
{
	struct tid_slot *slot = *free_slots;

	*free_slots = slot->next_free;
	slot->first_tid += slot->n_tries * TID_AGE;
	slot->n_tries = 0;
	slot->in_use = true;
	return slot;
}

void tid_release(struct tid_slot **free_slots, struct tid_slot *slot)
{
	timer_stop(&slot->timer);
	slot->in_use = false;
	slot->next_free = *free_slots;
	*free_slots = slot;
}

struct tid_slot *tid_find(const struct tid_table *table, uint64_t tid, unsigned int *n)
{
	unsigned int number = tid & (TID_AGE - 1);
	struct tid_slot *slot = number < table->n_slots ? table->slots[number] : NULL;

	if (!slot || !slot->in_use)
		return NULL;
	*n = ((uint32_t)tid - slot->first_tid) / TID_AGE + 1;
	return *n <= slot->n_tries ? slot : NULL;
}
