// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The event bus: fixed before the actors start, then only read. */
#include "core/events.h"

struct handler {
	struct actor *actor;
	event_fn *handle;
	void *arg;
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

void event_subscribe(struct event_bus *bus, enum event_type type, struct actor *actor,
		     event_fn *handle, void *arg)
{
	struct handler handler = {.actor = actor, .handle = handle, .arg = arg};

	g_array_append_val(bus->handlers[type], handler);
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
		struct delivery *delivery = g_new0(struct delivery, 1);

		delivery->message.run = deliver;
		delivery->handle = handler->handle;
		delivery->arg = handler->arg;
		delivery->value = value;
		actor_post(handler->actor, &delivery->message);
	}
}
