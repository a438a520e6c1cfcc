// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See held.h. A requester is known as long as it has something or is in doubt. */
#include "sa/held.h"

#include <pthread.h>

struct requester {
	size_t octets;
	unsigned int answers; /* that have octets */
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
	if (!requester->answers && requester->doubt_until_ns <= runtime_now(held->context->rt))
		g_hash_table_remove(held->requesters, GUINT_TO_POINTER((guint)lid));
}

static bool may_take(const struct sa_held *held, const struct requester *requester, size_t has,
		     size_t more)
{
	size_t octets = requester->octets + more;
	bool alone = requester->answers == (has ? 1 : 0);

	if (octets > SA_MAX_HELD || held->octets + more > SA_MAX_HELD - octets)
		return false;
	if (alone)
		return true;
	if (requester->doubt_until_ns > runtime_now(held->context->rt))
		return octets <= SA_MAX_HELD_IN_DOUBT;
	return octets <= SA_MAX_HELD_BY_ONE;
}

bool sa_held_take(struct sa_held *held, uint16_t lid, size_t has, size_t more)
{
	struct requester *requester;
	bool taken;

	pthread_mutex_lock(&held->lock);
	requester = find_or_make(held, lid);
	taken = may_take(held, requester, has, more);
	if (taken) {
		requester->answers += !has;
		requester->octets += more;
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
	requester->answers -= !keeps;
	requester->octets -= less;
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
