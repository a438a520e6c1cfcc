// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The event bus: set up before the actors start, then only read. */
#include "core/events.h"

struct handler {
	struct actor *actor;
	event_fn *handle;
	void *arg;
	const atomic_bool *on; /* NULL: always */
};

struct delivery {
	struct message message;
	event_fn *handle;
	void *arg;
	uint64_t value;
};

const char *event_name(enum event_type type)
{
	static const char *const names[] = {
#define EVENT(name, value) #name,
#include "core/events.def"
#undef EVENT
	};

	return names[type];
}

/* 16 bits of reasons, 8 of the kind, one of errors; 39 bits of microseconds are six days. */
uint64_t sweep_done_pack(const struct sweep_done *done)
{
	return (uint64_t)(done->reasons & 0xFFFF) | (uint64_t)(done->kind & 0xFF) << 16 |
	       (uint64_t)done->errors << 24 | MIN(done->took_us, UINT64_MAX >> 25) << 25;
}

struct sweep_done sweep_done_unpack(uint64_t value)
{
	return (struct sweep_done){
		.reasons = value & 0xFFFF,
		.kind = value >> 16 & 0xFF,
		.errors = value >> 24 & 1,
		.took_us = value >> 25,
	};
}

/* 21 bits each; more are told as 2,097,151. */
#define COUNT_BITS 21
#define COUNT_MAX ((1u << COUNT_BITS) - 1)

uint64_t registered_pack(const struct registered *registered)
{
	return (uint64_t)MIN(registered->services, COUNT_MAX) |
	       (uint64_t)MIN(registered->subscriptions, COUNT_MAX) << COUNT_BITS |
	       (uint64_t)MIN(registered->alias_guids, COUNT_MAX) << 2 * COUNT_BITS;
}

struct registered registered_unpack(uint64_t value)
{
	return (struct registered){
		.services = value & COUNT_MAX,
		.subscriptions = value >> COUNT_BITS & COUNT_MAX,
		.alias_guids = value >> 2 * COUNT_BITS & COUNT_MAX,
	};
}

void event_bus_init(struct event_bus *bus)
{
	for (int i = 0; i < N_EVENTS; i++)
		bus->handlers[i] = g_array_new(FALSE, FALSE, sizeof(struct handler));
}

void event_bus_clear(struct event_bus *bus)
{
	for (int i = 0; i < N_EVENTS; i++)
		g_array_unref(bus->handlers[i]);
}

void event_subscribe_while(struct event_bus *bus, enum event_type type, struct actor *actor,
			   event_fn *handle, void *arg, const atomic_bool *on)
{
	struct handler handler = {.actor = actor, .handle = handle, .arg = arg, .on = on};

	g_array_append_val(bus->handlers[type], handler);
}

void event_subscribe(struct event_bus *bus, enum event_type type, struct actor *actor,
		     event_fn *handle, void *arg)
{
	event_subscribe_while(bus, type, actor, handle, arg, NULL);
}

bool event_is_heard(const struct event_bus *bus, enum event_type type)
{
	return bus->handlers[type]->len != 0;
}

static void deliver(struct message *msg)
{
	struct delivery *delivery = (struct delivery *)msg;

	delivery->handle(delivery->arg, delivery->value);
	g_free(delivery);
}

void event_emit(const struct event_bus *bus, enum event_type type, uint64_t value)
{
	const GArray *handlers = bus->handlers[type];

	for (guint i = 0; i < handlers->len; i++) {
		const struct handler *handler = &g_array_index(handlers, struct handler, i);
		struct delivery *delivery;

		if (handler->on && !atomic_load_explicit(handler->on, memory_order_relaxed))
			continue;
		delivery = g_new0(struct delivery, 1);
		delivery->message.run = deliver;
		delivery->handle = handler->handle;
		delivery->arg = handler->arg;
		delivery->value = value;
		actor_post(handler->actor, &delivery->message);
	}
}
