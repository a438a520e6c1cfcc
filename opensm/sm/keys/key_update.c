// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * New keys for ports that have keys of their own (m_key_update_interval):
 *
 *	the master's interval ends -> the new generation is on the disk -> a few ports at a time get
 *	Set(PortInfo), with their current key -> a port that answers has the new one
 *
 * A port that does not answer may have either: a sweep reads it, and key_ring.c tries both. A crash
 * at any moment, or a takeover by another SM, leaves ports of two generations, which the first
 * sweep of the next master makes one again.
 */
#include "sm/discover/discover.h"
#include "sm/keys/keys.h"
#include "sm/keys/keys_private.h"
#include "sm/read/read.h"
#include "sm/smp/smp.h"
#include "sm/write/write.h"

#define PACE_NS (10 * NS_PER_MS)
#define PACE_PORTS 10

struct key_owner {
	uint64_t node_guid;
	uint8_t port;
};

static void on_answer(struct sm_request *request)
{
	if (!request->node->builder)
		return;
	audit_set(request);
	if (sm_request_ok(request))
		port_answered(request);
	else
		sweep_look_at(request->sm, request->node);
}

static void give_key(struct sm *sm, struct builder_port *port)
{
	struct iba_port_info want = port->info;
	struct sm_request *request;

	want.m_key = keys_wanted(sm, port);
	if (!port->known || want.m_key == port->info.m_key)
		return;
	request = port_set(sm, port, &want, IBA_PORT_NO_CHANGE);
	request->aside = true;
	request->done = on_answer;
	sm_request_send(request);
}

static void on_pace(struct timer *timer)
{
	struct keys *keys = container_of(timer, struct keys, pace);
	struct sm *sm = keys->sm;
	GArray *waiting = keys->waiting;

	if (sm_rests(sm) || !sm->schedule.discovered)
		g_array_set_size(waiting, 0); /* the next sweep does it */
	for (unsigned int i = 0; waiting->len && i < PACE_PORTS; i++) {
		struct key_owner *owner =
			&g_array_index(waiting, struct key_owner, waiting->len - 1);
		struct builder_node *node = builder_find(sm->builder, owner->node_guid);

		if (node && owner->port <= node->info.num_ports)
			give_key(sm, &node->ports[owner->port]);
		g_array_set_size(waiting, waiting->len - 1);
	}
	if (waiting->len)
		timer_start(timer, PACE_NS);
	else
		keys_remember(sm);
}

static void list_owners(const struct builder_node *node, GArray *waiting)
{
	unsigned int first = builder_is_switch(node) ? 0 : 1;
	unsigned int last = builder_is_switch(node) ? 0 : node->info.num_ports;

	for (unsigned int num = first; num <= last; num++) {
		struct key_owner owner = {node->guid, (uint8_t)num};

		if (node->ports[num].known)
			g_array_append_val(waiting, owner);
	}
}

/* It is on the disk, or nothing is stored at all. */
static void begin_generation(struct keys *keys)
{
	struct sm *sm = keys->sm;
	g_autoptr(GPtrArray) nodes = NULL;
	struct key_rule rule;

	keys->generation = keys->next;
	log_info(sm->log, "M_Keys of ports: generation %" G_GUINT64_FORMAT, keys->generation);
	rule = keys_rule(sm);
	key_ring_set(keys->ring, &rule);
	nodes = builder_order(sm->builder);
	g_array_set_size(keys->waiting, 0);
	for (guint i = nodes->len; i-- > 0;)
		list_owners(nodes->pdata[i], keys->waiting);
	timer_start(&keys->pace, 0);
}

/* Meanwhile it may have become standby, or have found ports of that generation or a later one. */
static void on_generation_written(void *arg, bool good)
{
	struct keys *keys = arg;

	if (good && timer_running(&keys->update) && keys->sm->schedule.discovered &&
	    keys->next == keys->generation + 1)
		begin_generation(keys);
}

static void on_update(struct timer *timer)
{
	struct keys *keys = container_of(timer, struct keys, update);
	struct sm *sm = keys->sm;

	key_update_schedule(sm);
	if (!timer_running(timer) || !sm->schedule.discovered)
		return;
	keys->next = keys->generation + 1;
	if (!key_memory_save_generation(sm, keys->next, on_generation_written))
		begin_generation(keys);
}

void key_update_schedule(struct sm *sm)
{
	const struct options *options = sm->options;
	struct timer *update = &sm->keys->update;
	uint64_t period = options->m_key_update_interval * 60 * NS_PER_S;

	if (!period || !options->m_key_per_port || !sm_is_master(sm))
		timer_stop(update);
	else if (!timer_running(update) || update->when > actor_now(sm->actor) + period)
		timer_start(update, period);
}

void key_update_init(struct sm *sm)
{
	struct keys *keys = sm->keys;

	keys->waiting = g_array_new(FALSE, FALSE, sizeof(struct key_owner));
	timer_init(&keys->update, sm->actor, on_update);
	timer_init(&keys->pace, sm->actor, on_pace);
}

void key_update_free(struct keys *keys)
{
	timer_stop(&keys->update);
	timer_stop(&keys->pace);
	g_array_unref(keys->waiting);
}
