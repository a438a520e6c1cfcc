// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Publication of immutable objects: see handoff.h. The lock covers two loads and a count, so that
 * readers, which take one reference per query, rarely wait for each other. A reference is dropped
 * outside the lock, since freeing a whole fabric takes a while.
 */
#include <glib.h>

#include <complib/handoff.h>

void slot_init(struct slot *slot, void (*get)(void *object), void (*put)(void *object))
{
	int err = pthread_mutex_init(&slot->lock, NULL);

	g_assert(err == 0);
	slot->object = NULL;
	slot->get = get;
	slot->put = put;
}

void slot_publish(struct slot *slot, void *object)
{
	void *old;

	pthread_mutex_lock(&slot->lock);
	old = slot->object;
	slot->object = object;
	pthread_mutex_unlock(&slot->lock);
	if (old)
		slot->put(old);
}

void slot_clear(struct slot *slot)
{
	slot_publish(slot, NULL);
	pthread_mutex_destroy(&slot->lock);
}

void *slot_take(struct slot *slot)
{
	void *object;

	pthread_mutex_lock(&slot->lock);
	object = slot->object;
	if (object)
		slot->get(object);
	pthread_mutex_unlock(&slot->lock);
	return object;
}
