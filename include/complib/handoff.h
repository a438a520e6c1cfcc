// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The few primitives through which threads synchronize, based on pthread and C11 atomics: GLib's
 * own are not instrumented, so ThreadSanitizer would miss races or report false ones.
 */
#ifndef COMPLIB_HANDOFF_H
#define COMPLIB_HANDOFF_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A reference count embedded in an immutable object. */
struct ref {
	atomic_uint count;
};

static inline void ref_init(struct ref *ref)
{
	atomic_init(&ref->count, 1);
}

static inline void ref_get(struct ref *ref)
{
	atomic_fetch_add_explicit(&ref->count, 1, memory_order_relaxed);
}

/* True if that was the last reference: the caller frees the object. */
static inline bool ref_put(struct ref *ref)
{
	return atomic_fetch_sub_explicit(&ref->count, 1, memory_order_acq_rel) == 1;
}

/*
 * A published pointer to an immutable counted object: one thread publishes, any thread takes a
 * reference of its own. get and put are the object's own (NULL never reaches them).
 */
struct slot {
	pthread_mutex_t lock;
	void *object;
	void (*get)(void *object);
	void (*put)(void *object);
};

void slot_init(struct slot *slot, void (*get)(void *object), void (*put)(void *object));
void slot_clear(struct slot *slot);		    /* drops the object */
void slot_publish(struct slot *slot, void *object); /* takes over the caller's reference */
void *slot_take(struct slot *slot);		    /* a new reference, or NULL */

#endif
