// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Events of the local port on their way to the one actor that watches it. They are bits: while a
 * message is in transit, further events are added to it, so a storm of events costs no memory.
 */
#include "vendor/vendor_private.h"

struct vendor_watch {
	atomic_uint events; /* not delivered yet; 0: no message in transit */
	atomic_int users;   /* the port, and the message */
	struct actor *actor;
	vendor_event_fn *on_event;
	void *arg;
};

struct told {
	struct message message;
	struct vendor_watch *watch;
};

static void release(struct vendor_watch *watch)
{
	if (atomic_fetch_sub(&watch->users, 1) == 1)
		g_free(watch);
}

static void told_drop(struct message *message)
{
	release(((struct told *)message)->watch);
	g_free(message);
}

static void told_run(struct message *message)
{
	struct vendor_watch *watch = ((struct told *)message)->watch;
	unsigned int events = atomic_exchange(&watch->events, 0);

	if (events)
		watch->on_event(watch->arg, events);
	told_drop(message);
}

void vendor_tell(struct vendor *vendor, unsigned int events)
{
	struct vendor_watch *watch = atomic_load(&vendor->watch);
	struct told *told;

	if (!watch || atomic_fetch_or(&watch->events, events))
		return;
	told = g_new0(struct told, 1);
	told->message.run = told_run;
	told->message.drop = told_drop;
	told->watch = watch;
	atomic_fetch_add(&watch->users, 1);
	actor_post(watch->actor, &told->message);
}

void vendor_tell_lost(struct vendor *vendor, bool lost)
{
	atomic_store(&vendor->lost, lost);
	vendor_tell(vendor, lost ? VENDOR_LOST : VENDOR_BACK);
}

bool vendor_is_lost(const struct vendor *vendor)
{
	return atomic_load(&vendor->lost);
}

void vendor_watch(struct vendor *vendor, struct actor *actor, vendor_event_fn *on_event, void *arg)
{
	struct vendor_watch *watch = g_new0(struct vendor_watch, 1);

	g_assert(!atomic_load(&vendor->watch));
	watch->users = 1;
	watch->actor = actor;
	watch->on_event = on_event;
	watch->arg = arg;
	atomic_store(&vendor->watch, watch);
	if (vendor_is_lost(vendor))
		vendor_tell(vendor, VENDOR_LOST);
}

void vendor_unwatch(struct vendor_watch *watch)
{
	if (!watch)
		return;
	atomic_store(&watch->events, 0); /* a message in transit then has no events */
	release(watch);
}
