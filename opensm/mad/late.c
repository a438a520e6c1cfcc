// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Answers that arrive when their request has already failed, from an SMA that takes longer than all
 * tries of a request. They show that it lives, and how long it takes. If the same Get has been
 * queued again by then, the late answer completes it. That of a Set does not, as a later Set may
 * have written to the table since.
 *
 * Tries are kept in the order in which they were given up, for LATE_MS after they were sent.
 */
#include <string.h>

#include "mad/mad_private.h"

#define TRIES_MAX 8192

struct late_try {
	uint32_t tid; /* first: the key */
	uint64_t sent_ns;
	struct target_key key;
	struct mad_request asked; /* only for comparing requests */
};

struct late {
	GHashTable *tries; /* uint32_t -> struct late_try, owned */
	GQueue order;	   /* of late_try, the oldest first */
};

static void drop_first(struct late *late)
{
	struct late_try *try = g_queue_pop_head(&late->order);

	g_hash_table_remove(late->tries, &try->tid);
}

static void drop_old(struct mad *mad)
{
	struct late *late = mad->late;
	uint64_t now = actor_now(mad->actor);

	while (!g_queue_is_empty(&late->order)) {
		const struct late_try *try = g_queue_peek_head(&late->order);

		if (now - try->sent_ns < LATE_MS * NS_PER_MS &&
		    g_queue_get_length(&late->order) < TRIES_MAX)
			return;
		drop_first(late);
	}
}

static void keep(void *arg, uint32_t tid, uint64_t sent_ns)
{
	const struct transaction *transaction = arg;
	const struct mad_request *request = transaction->request;
	struct late *late = transaction->slot.mad->late;
	struct late_try *try;

	if (g_hash_table_contains(late->tries, &tid))
		return;
	try = g_new0(struct late_try, 1);
	try->tid = tid;
	try->sent_ns = sent_ns;
	try->key = transaction->target->key;
	try->asked.method = request->method;
	try->asked.attribute = request->attribute;
	try->asked.modifier = request->modifier;
	try->asked.m_key = request->m_key;
	try->asked.route.lid = request->route.lid;
	g_hash_table_add(late->tries, try);
	g_queue_push_tail(&late->order, try);
}

void late_keep(struct mad *mad, const struct transaction *transaction, unsigned int n)
{
	const struct mad_request *request = transaction->request;

	if (n == transaction->slot.n_tries || request->probe || request->lid_only)
		return;
	drop_old(mad);
	tid_each(&transaction->slot, n, keep, (void *)transaction);
}

static struct late_try *take(struct late *late, const struct vendor_mad *received)
{
	struct iba_mad_header header;
	struct late_try *try;
	uint32_t key;

	wire_decode(&iba_mad_header_type, received->data, &header);
	key = (uint32_t)header.transaction_id;
	try = g_hash_table_lookup(late->tries, &key);
	if (!try || !iba_class_is_smp(received->data[1]) ||
	    (received->data[1] == IBA_CLASS_SUBN_LID &&
	     received->remote.lid != try->asked.route.lid) ||
	    !smp_decode(&try->asked, received->data))
		return NULL;
	g_hash_table_steal(late->tries, &key);
	g_queue_remove(&late->order, try);
	return try;
}

bool late_answer(struct mad *mad, const struct vendor_mad *received)
{
	struct late_try *try;
	struct target *target;

	drop_old(mad);
	try = take(mad->late, received);
	if (!try)
		return false;
	counter_inc(&mad->context->counters, smp_late);
	target = target_get(mad, &try->key);
	target_took(mad, target, try->asked.method, actor_now(mad->actor) - try->sent_ns, true);
	target_answered(mad, target);
	target_named(mad, target, &try->asked, true);
	if (try->asked.method != IBA_METHOD_GET ||
	    !transaction_late(mad, target, &try->asked, received))
		target_let_go(mad, target);
	g_free(try);
	return true;
}

void late_init(struct mad *mad)
{
	mad->late = g_new0(struct late, 1);
	mad->late->tries = g_hash_table_new_full(g_int_hash, g_int_equal, NULL, g_free);
	g_queue_init(&mad->late->order);
}

void late_clear(struct mad *mad)
{
	g_queue_clear(&mad->late->order);
	g_hash_table_unref(mad->late->tries);
	g_free(mad->late);
}
