// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See held.h. A requester is kept as long as it holds octets or has an unacknowledged answer. */
#include "sa/admit/held.h"

#include <pthread.h>

struct requester {
	size_t octets;
	/*
	 * Size of its largest answer. After that answer has ended: 0; the others then count as
	 * before until more octets are taken for one of them.
	 */
	size_t largest;
	uint64_t doubt_until_ns;
};

struct sa_held {
	struct context *context;
	pthread_mutex_t lock;
	GHashTable *requesters; /* struct requester by LID */
	size_t octets;
};

struct sa_held *sa_held_new(struct context *context)
{
	struct sa_held *held = g_new0(struct sa_held, 1);

	held->context = context;
	pthread_mutex_init(&held->lock, NULL);
	held->requesters = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	return held;
}

void sa_held_free(struct sa_held *held)
{
	g_hash_table_unref(held->requesters);
	pthread_mutex_destroy(&held->lock);
	g_free(held);
}

static struct requester *find(struct sa_held *held, uint16_t lid)
{
	return g_hash_table_lookup(held->requesters, GUINT_TO_POINTER((guint)lid));
}

static struct requester *find_or_make(struct sa_held *held, uint16_t lid)
{
	struct requester *requester = find(held, lid);

	if (!requester) {
		requester = g_new0(struct requester, 1);
		g_hash_table_insert(held->requesters, GUINT_TO_POINTER((guint)lid), requester);
	}
	return requester;
}

static void forget_if_idle(struct sa_held *held, uint16_t lid, const struct requester *requester)
{
	if (!requester->octets && requester->doubt_until_ns <= runtime_now(held->context->rt))
		g_hash_table_remove(held->requesters, GUINT_TO_POINTER((guint)lid));
}

static size_t most_of_others(const struct sa_held *held, const struct requester *requester)
{
	return requester->doubt_until_ns > runtime_now(held->context->rt) ? SA_MAX_HELD_IN_DOUBT
									   : SA_MAX_HELD_BY_ONE;
}

static bool may_take(const struct sa_held *held, const struct requester *requester, size_t answer,
		     size_t more)
{
	size_t left = SA_MAX_HELD - held->octets;
	size_t others = requester->octets + more - MAX(requester->largest, answer);

	if (more > left || MAX(answer, others) > left - more)
		return false;
	return others <= most_of_others(held, requester);
}

bool sa_held_take(struct sa_held *held, uint16_t lid, size_t has, size_t more)
{
	struct requester *requester;
	bool taken;

	pthread_mutex_lock(&held->lock);
	requester = find_or_make(held, lid);
	taken = may_take(held, requester, has + more, more);
	if (taken) {
		requester->octets += more;
		requester->largest = MAX(requester->largest, has + more);
		held->octets += more;
		counter_add(&held->context->counters, sa_octets_held, more);
	}
	forget_if_idle(held, lid, requester);
	pthread_mutex_unlock(&held->lock);
	return taken;
}

void sa_held_give(struct sa_held *held, uint16_t lid, size_t keeps, size_t less)
{
	struct requester *requester;

	pthread_mutex_lock(&held->lock);
	requester = find(held, lid);
	requester->octets -= less;
	if (requester->largest == keeps + less)
		requester->largest = keeps;
	held->octets -= less;
	counter_add(&held->context->counters, sa_octets_held, -(unsigned long long)less);
	forget_if_idle(held, lid, requester);
	pthread_mutex_unlock(&held->lock);
}

void sa_held_note(struct sa_held *held, uint16_t lid, enum vendor_end end)
{
	struct requester *requester;

	pthread_mutex_lock(&held->lock);
	requester = find(held, lid);
	if (end == VENDOR_SILENT)
		requester->doubt_until_ns = runtime_now(held->context->rt) + SA_DOUBT_NS;
	else if (end == VENDOR_DELIVERED)
		requester->doubt_until_ns = 0;
	pthread_mutex_unlock(&held->lock);
}
