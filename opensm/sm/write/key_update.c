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
#include "sm/read/read.h"
#include "sm/smp/smp.h"
#include "sm/write/write_private.h"

#define PACE_NS (10 * NS_PER_MS)
#define PACE_PORTS 10

struct key_update {
	struct sm *sm;
	struct timer interval; /* the next generation */
	uint64_t next;	       /* generation being written; it begins after that */
	struct timer pace;     /* for the next ports that get it */
	GArray *waiting;       /* of struct key_owner: ports that may not have it yet */
};

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
	request->sender = REQUEST_OUTSIDE_SWEEP;
	request->done = on_answer;
	sm_request_send(request);
}

static void on_pace(struct timer *timer)
{
	struct key_update *update = container_of(timer, struct key_update, pace);
	struct sm *sm = update->sm;
	GArray *waiting = update->waiting;

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
static void begin_generation(struct key_update *update)
{
	struct sm *sm = update->sm;
	g_autoptr(GPtrArray) nodes = NULL;

	keys_begin_generation(sm, update->next);
	nodes = builder_order(sm->builder);
	g_array_set_size(update->waiting, 0);
	for (guint i = nodes->len; i-- > 0;)
		list_owners(nodes->pdata[i], update->waiting);
	timer_start(&update->pace, 0);
}

/* Meanwhile it may have become standby, or have found ports of that generation or a later one. */
static void on_generation_written(void *arg, bool good)
{
	struct key_update *update = arg;
	const struct sm *sm = update->sm;

	if (good && timer_running(&update->interval) && sm->schedule.discovered &&
	    update->next == keys_generation(sm) + 1)
		begin_generation(update);
}

static void on_interval(struct timer *timer)
{
	struct key_update *update = container_of(timer, struct key_update, interval);
	struct sm *sm = update->sm;

	key_update_schedule(sm);
	if (!timer_running(timer) || !sm->schedule.discovered)
		return;
	update->next = keys_generation(sm) + 1;
	if (!key_memory_save_generation(sm, update->next, on_generation_written, update))
		begin_generation(update);
}

void key_update_schedule(struct sm *sm)
{
	const struct options *options = sm->options;
	struct timer *interval = &sm->settings->key_update->interval;
	uint64_t period = options->m_key_update_interval * 60 * NS_PER_S;

	if (!period || !options->m_key_per_port || !sm_is_master(sm))
		timer_stop(interval);
	else if (!timer_running(interval) || interval->when > actor_now(sm->actor) + period)
		timer_start(interval, period);
}

struct key_update *key_update_new(struct sm *sm)
{
	struct key_update *update = g_new0(struct key_update, 1);

	update->sm = sm;
	update->waiting = g_array_new(FALSE, FALSE, sizeof(struct key_owner));
	timer_init(&update->interval, sm->actor, on_interval);
	timer_init(&update->pace, sm->actor, on_pace);
	return update;
}

void key_update_free(struct key_update *update)
{
	timer_stop(&update->interval);
	timer_stop(&update->pace);
	g_array_unref(update->waiting);
	g_free(update);
}
