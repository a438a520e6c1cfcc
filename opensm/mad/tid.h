// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Slots: what a TransactionID names. The low half of one is a slot's number and an age; each try
 * of a transaction has an age of its own, because the kernel refuses a request equal in
 * TransactionID and class to one that it still holds, and it may hold one for long. So an answer
 * tells which try it is for, and one that is forged or of an earlier transaction of the slot finds
 * nothing.
 */
#ifndef MAD_TID_H
#define MAD_TID_H

#include "complib/actor.h"
#include "vendor/vendor.h"

#define TID_SLOT_BITS 13
#define TID_AGE (UINT32_C(1) << TID_SLOT_BITS)
#define TID_SLOTS_MAX TID_AGE

struct mad;
struct tid_slot;

/* Whose transactions use a slot. */
struct tid_user {
	/* A response whose TID is that of try n, from 1, of the slot. False: it is no answer. */
	bool (*answer)(struct tid_slot *slot, unsigned int n, const struct vendor_mad *received);
	/* The device gave up the try that is out, or would not send it. */
	void (*returned)(struct tid_slot *slot, const struct vendor_mad *returned);
};

/* First member of a transaction. */
struct tid_slot {
	struct timer timer; /* of its user */
	struct mad *mad;
	const struct tid_user *user;
	struct tid_slot *next_free;
	uint32_t first_tid;
	unsigned int n_tries; /* TIDs given out */
	bool in_use;
};

struct tid_table {
	struct tid_slot *slots[TID_SLOTS_MAX]; /* by number */
	unsigned int n_slots;
};

/* Gives the slot its number; fire is the user's. */
void tid_add(struct tid_table *table, struct tid_slot *slot, struct mad *mad, struct actor *actor,
	     const struct tid_user *user, void (*fire)(struct timer *timer));

/* Takes the first of a list of free slots, for a transaction that has made no try. */
struct tid_slot *tid_take(struct tid_slot **free_slots);
void tid_release(struct tid_slot **free_slots, struct tid_slot *slot);

/* The slot in use that has given out this TID, or NULL; *n is then the number of the try. */
struct tid_slot *tid_find(const struct tid_table *table, uint64_t tid, unsigned int *n);

/* The TID of the next try; it is given out by tid_tried(). */
static inline uint32_t tid_next(const struct tid_slot *slot)
{
	return slot->first_tid + slot->n_tries * TID_AGE;
}

static inline void tid_tried(struct tid_slot *slot)
{
	slot->n_tries++;
}

#endif
