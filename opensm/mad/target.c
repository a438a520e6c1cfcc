// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Targets: each has a queue. Those with something to send and less than TARGET_WINDOW in flight
 * stand in a ring and are served in turn.
 *
 * A target that answers nothing is sent one request again and again and nothing new; what else was
 * in flight waits. Its queue ends with the request that was tried in vain, so it costs what one
 * request costs. A Set waits for an older one of the same
 * block: a late try of that one could undo it.
 */
#include <string.h>

#include "mad/mad_private.h"

/* ---- the ring ---- */

/* older: in flight, or NULL if that has just come back. */
static bool is_older_set(const struct mad_request *older, const struct mad_request *set)
{
	return older && older->method == IBA_METHOD_SET && older->attribute == set->attribute &&
	       older->modifier == set->modifier;
}

static bool waits_for_older(const struct target *target, const struct mad_request *request)
{
	if (request->method != IBA_METHOD_SET)
		return false;
	for (unsigned int i = 0; i < target->in_flight; i++)
		if (is_older_set(target->flight[i]->request, request))
			return true;
	return false;
}

static bool can_send(const struct target *target)
{
	return target->first && target->in_flight < TARGET_WINDOW && !target->silent &&
	       !waits_for_older(target, target->first);
}

static void ring_add(struct mad *mad, struct target *target)
{
	if (target->in_ring || !can_send(target))
		return;
	target->in_ring = true;
	target->next = NULL;
	if (mad->ring_last)
		mad->ring_last->next = target;
	else
		mad->ring_first = target;
	mad->ring_last = target;
}

static struct target *ring_take(struct mad *mad)
{
	struct target *target = mad->ring_first;

	if (!target)
		return NULL;
	mad->ring_first = target->next;
	if (!mad->ring_first)
		mad->ring_last = NULL;
	target->in_ring = false;
	return target;
}

/* One in the ring is freed when it is taken out of it. */
static void free_if_empty(struct mad *mad, struct target *target)
{
	if (!target->in_ring && !target->in_flight && !target->first)
		g_hash_table_remove(mad->targets, &target->key);
}

struct target *target_next(struct mad *mad)
{
	struct target *target;

	while ((target = ring_take(mad))) {
		if (can_send(target))
			return target;
		free_if_empty(mad, target); /* it changed while it stood in the ring */
	}
	return NULL;
}

/* ---- the queue ---- */

static void append(struct target *target, struct mad_request *request)
{
	request->next = NULL;
	if (target->last)
		target->last->next = request;
	else
		target->first = request;
	target->last = request;
}

void target_enqueue(struct mad *mad, struct mad_request *request)
{
	struct target_key key = {request->target, request->target_port};
	struct target *target = g_hash_table_lookup(mad->targets, &key);

	if (!target) {
		target = g_new0(struct target, 1);
		target->key = key;
		g_hash_table_insert(mad->targets, &target->key, target);
	}
	append(target, request);
	counter_inc(&mad->context->counters, smp_waiting);
	ring_add(mad, target);
}

void target_requeue(struct mad *mad, struct target *target, struct mad_request *request)
{
	struct mad_request **at = &target->first;

	while (*at && (*at)->sent) /* they came back before */
		at = &(*at)->next;
	request->next = *at;
	*at = request;
	if (!request->next)
		target->last = request;
	counter_inc(&mad->context->counters, smp_waiting);
}

static struct mad_request *take_first(struct target *target)
{
	struct mad_request *request = target->first;

	target->first = request->next;
	if (!target->first)
		target->last = NULL;
	return request;
}

void target_dequeue(struct mad *mad, struct target *target, struct transaction *transaction)
{
	transaction->request = take_first(target);
	target->flight[target->in_flight++] = transaction;
	counter_add(&mad->context->counters, smp_waiting, -1);
	ring_add(mad, target);
}

void target_flush(struct mad *mad, struct target *target, enum mad_result result, bool dead,
		  bool (*pick)(const struct mad *mad, const struct mad_request *request,
			       const void *arg),
		  const void *arg)
{
	struct mad_request *request = target->first;

	target->first = target->last = NULL;
	while (request) {
		struct mad_request *next = request->next;

		if (pick(mad, request, arg)) {
			counter_add(&mad->context->counters, smp_waiting, -1);
			request->result = result;
			request->dead = dead;
			mad_hand_back(request);
		} else {
			append(target, request);
		}
		request = next;
	}
	ring_add(mad, target); /* another request may be the first now */
}

static bool is_cancelled(const struct mad *mad, const struct mad_request *request, const void *arg)
{
	(void)arg;
	return mad_is_cancelled(mad, request);
}

void target_cancel(struct mad *mad)
{
	GHashTableIter iter;
	struct target *target;

	g_hash_table_iter_init(&iter, mad->targets);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&target))
		target_flush(mad, target, MAD_CANCELLED, false, is_cancelled, NULL);
}

/* ---- what its transactions tell ---- */

void target_answered(struct mad *mad, struct target *target)
{
	target->answers++;
	target->silent = false;
	ring_add(mad, target);
}

static bool has_overdue(const struct target *target)
{
	for (unsigned int i = 0; i < target->in_flight; i++)
		if (target->flight[i]->overdue)
			return true;
	return false;
}

void target_release(struct mad *mad, struct target *target, const struct transaction *transaction)
{
	unsigned int i = 0;

	while (target->flight[i] != transaction)
		i++;
	target->flight[i] = target->flight[--target->in_flight];
	target->silent = target->silent && has_overdue(target);
	ring_add(mad, target);
	free_if_empty(mad, target);
}

/* ---- all of them ---- */

static guint target_hash(gconstpointer key)
{
	const struct target_key *target = key;

	return g_int64_hash(&target->guid) + (guint)target->port;
}

static gboolean target_equal(gconstpointer a, gconstpointer b)
{
	return !memcmp(a, b, sizeof(struct target_key));
}

void target_init(struct mad *mad)
{
	mad->targets = g_hash_table_new_full(target_hash, target_equal, NULL, g_free);
}

void target_clear(struct mad *mad)
{
	GHashTableIter iter;
	struct target *target;

	g_hash_table_iter_init(&iter, mad->targets);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&target))
		while (target->first)
			mad_drop(take_first(target));
	g_hash_table_unref(mad->targets);
}
