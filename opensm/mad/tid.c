// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Slots and their TransactionIDs. */
#include "mad/tid.h"

#include <errno.h>
#include <sys/random.h>

#include "complib/random.h"

/* A TID in use. */
struct tid_try {
	uint32_t tid; /* first: the key */
	unsigned int n;
	uint64_t sent_ns;
	struct tid_slot *slot;
	struct tid_try *earlier;
};

void tid_init(struct tid_table *table, const struct runtime *rt)
{
	table->tries = g_hash_table_new_full(g_int_hash, g_int_equal, NULL, g_free);
	if (runtime_mode(rt) == RUNTIME_VIRTUAL)
		table->seed = MAX(runtime_seed(rt), 1);
}

void tid_clear(struct tid_table *table)
{
	g_clear_pointer(&table->tries, g_hash_table_unref);
}

/* ---- random TIDs ---- */

static uint32_t draw(struct tid_table *table)
{
	if (table->seed)
		return (uint32_t)(random_upper(&table->seed) >> 32);
	while (!table->n_drawn) {
		ssize_t got = getrandom(table->drawn, sizeof(table->drawn), 0);

		if (got < 0 && errno != EINTR)
			g_error("no random numbers: %s", g_strerror(errno));
		table->n_drawn = got > 0 ? (unsigned int)got / sizeof(table->drawn[0]) : 0;
	}
	return table->drawn[--table->n_drawn];
}

/* ---- slots ---- */

void tid_add(struct tid_slot *slot, struct mad *mad, struct actor *actor,
	     const struct tid_user *user, void (*fire)(struct timer *timer))
{
	timer_init(&slot->timer, actor, fire);
	slot->mad = mad;
	slot->user = user;
}

struct tid_slot *tid_take(struct tid_slot **free_slots)
{
	struct tid_slot *slot = *free_slots;

	*free_slots = slot->next_free;
	slot->n_tries = 0;
	return slot;
}

void tid_release(struct tid_table *table, struct tid_slot **free_slots, struct tid_slot *slot)
{
	timer_stop(&slot->timer);
	while (slot->tries) {
		struct tid_try *try = slot->tries;

		slot->tries = try->earlier;
		g_hash_table_remove(table->tries, &try->tid);
	}
	slot->next_free = *free_slots;
	*free_slots = slot;
}

struct tid_slot *tid_find(const struct tid_table *table, uint64_t tid, unsigned int *n)
{
	const uint32_t key = (uint32_t)tid;
	const struct tid_try *try = g_hash_table_lookup(table->tries, &key);

	if (!try || try->n > try->slot->n_tries)
		return NULL;
	*n = try->n;
	return try->slot;
}

uint32_t tid_next(struct tid_table *table, struct tid_slot *slot)
{
	struct tid_try *try = slot->tries;

	if (try && try->n > slot->n_tries)
		return try->tid; /* the device did not accept it yet */
	try = g_new(struct tid_try, 1);
	try->n = slot->n_tries + 1;
	try->slot = slot;
	try->earlier = slot->tries;
	do
		try->tid = draw(table);
	while (!try->tid || g_hash_table_contains(table->tries, &try->tid));
	g_hash_table_add(table->tries, try);
	slot->tries = try;
	return try->tid;
}

void tid_tried(struct tid_slot *slot, uint64_t now_ns)
{
	slot->n_tries++;
	slot->tries->sent_ns = now_ns;
}

uint64_t tid_sent_ns(const struct tid_slot *slot, unsigned int n)
{
	const struct tid_try *try = slot->tries;

	while (try->n != n)
		try = try->earlier;
	return try->sent_ns;
}

void tid_each(const struct tid_slot *slot, unsigned int n,
	      void (*call)(void *arg, uint32_t tid, uint64_t sent_ns), void *arg)
{
	for (const struct tid_try *try = slot->tries; try; try = try->earlier)
		if (try->n > n && try->n <= slot->n_tries)
			call(arg, try->tid, try->sent_ns);
}
