// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Slots: what a TransactionID names. Each try of a transaction has a TID of its own, because the
 * kernel refuses a request with the same TransactionID and class as one that it still holds, and it
 * may hold one for long; so an answer shows which try it is for.
 *
 * TIDs are drawn at random from all 32 bits that are available: a node that sends forged answers
 * has to guess one of the few in use. In virtual time they are drawn from the seed of the runtime,
 * so that a seed gives the same bytes.
 */
#ifndef MAD_TID_H
#define MAD_TID_H

#include "complib/actor.h"
#include "vendor/vendor.h"

struct mad;
struct tid_slot;

/* The user of slots: a kind of transaction. */
struct tid_user {
	/* A response with the TID of try n, from 1, of the slot. False: it is not an answer. */
	bool (*answer)(struct tid_slot *slot, unsigned int n, const struct vendor_mad *received);
	/* The device gave up the try in flight, or would not send it. */
	void (*returned)(struct tid_slot *slot, const struct vendor_mad *returned);
};

/* First member of a transaction. */
struct tid_slot {
	struct timer timer; /* of its user */
	struct mad *mad;
	const struct tid_user *user;
	struct tid_slot *next_free;
	struct tid_try *tries; /* latest first; the first may not have been sent yet */
	unsigned int n_tries;  /* number of tries that were sent */
};

struct tid_table {
	GHashTable *tries; /* uint32_t -> struct tid_try, owned */
	uint64_t seed;	   /* of the draw in virtual time; 0: the kernel's random numbers */
	uint32_t drawn[64];
	unsigned int n_drawn; /* numbers drawn but not used yet */
};

void tid_init(struct tid_table *table, const struct runtime *rt);
void tid_clear(struct tid_table *table); /* after the last slot was released */

/* fire is the callback of the user. */
void tid_add(struct tid_slot *slot, struct mad *mad, struct actor *actor,
	     const struct tid_user *user, void (*fire)(struct timer *timer));

/* Takes the first of a list of free slots, for a transaction without tries. */
struct tid_slot *tid_take(struct tid_slot **free_slots);
void tid_release(struct tid_table *table, struct tid_slot **free_slots, struct tid_slot *slot);

/* The slot in use to which this TID was given, or NULL; *n is set to the number of the try. */
struct tid_slot *tid_find(const struct tid_table *table, uint64_t tid, unsigned int *n);

/* The TID of the next try; tid_tried() marks it as used. */
uint32_t tid_next(struct tid_table *table, struct tid_slot *slot);
void tid_tried(struct tid_slot *slot, uint64_t now_ns);

/* When try n, from 1, was sent. */
uint64_t tid_sent_ns(const struct tid_slot *slot, unsigned int n);
/* Calls it for each try after n that was sent. */
void tid_each(const struct tid_slot *slot, unsigned int n,
	      void (*call)(void *arg, uint32_t tid, uint64_t sent_ns), void *arg);

#endif
