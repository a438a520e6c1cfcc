// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ClientReregister at a bounded rate (client_rereg_rate): each port that is asked comes back with a
 * request for every group, service and subscription that it has. As many as the bucket holds are
 * asked by the Set(PortInfo) that a sweep sends anyway, the others in turn by an extra one. So are
 * those that the SA requests: their registrations were lost, and they may not know it.
 */
#include "sm/discover/discover.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/write/write_private.h"

#define OWN_PORT_NS (10 * NS_PER_MS) /* before a sweep may know the SM's own port again */

struct due {
	uint64_t node_guid;
	unsigned int num;
};

struct reregister {
	struct sm *sm;
	struct bucket bucket;
	uint32_t rate; /* with which the bucket was made */
	GQueue due;    /* struct due */
	struct timer timer;
};

static void follow_rate(struct reregister *r)
{
	uint32_t rate = r->sm->options->client_rereg_rate;

	if (rate && rate != r->rate)
		bucket_init(&r->bucket, rate, rate);
	r->rate = rate;
}

static bool take(struct reregister *r)
{
	return !r->rate || bucket_take(&r->bucket, actor_now(r->sm->actor));
}

static void wait_for_turn(struct reregister *r)
{
	uint64_t wait = r->rate ? bucket_wait(&r->bucket, actor_now(r->sm->actor)) : 0;

	if (!g_queue_is_empty(&r->due) && !timer_running(&r->timer))
		timer_start(&r->timer, wait);
}

void reregister_later(struct sm *sm, struct builder_port *port)
{
	struct reregister *r = sm->settings->reregister;
	struct due due = {port->node->guid, port->num};

	if (port->reregister_due)
		return;
	port->reregister_due = true;
	port->reregistered = false;
	g_queue_push_tail(&r->due, g_memdup2(&due, sizeof(due)));
	wait_for_turn(r);
}

bool reregister_now(struct sm *sm, struct builder_port *port)
{
	struct reregister *r = sm->settings->reregister;

	follow_rate(r);
	if (!port->reregister_due && take(r))
		return true;
	reregister_later(sm, port);
	return false;
}

void reregister_wanted(struct sm *sm, uint64_t port_guid)
{
	const struct fabric *fabric = sm->fabric;
	struct builder_port *port = port_published(
		sm, fabric ? fabric_port_by_guid(fabric, port_guid) : FABRIC_NONE);

	if (port && port->known && sm_is_master(sm) && port_may_reregister(sm, port))
		reregister_later(sm, port);
}

/* A port that came back from INIT meanwhile was asked then. */
static void ask(struct sm *sm, const struct due *due)
{
	struct builder_node *node = builder_find(sm->builder, due->node_guid);
	struct builder_port *port;

	if (!node || due->num > node->info.num_ports)
		return;
	port = &node->ports[due->num];
	port->reregister_due = false;
	if (!port->known || port->reregistered)
		return;
	counter_inc(&sm->context->counters, clients_reregistered);
	port_reregister(sm, port);
}

static void on_turn(struct timer *timer)
{
	struct reregister *r = container_of(timer, struct reregister, timer);

	if (!r->sm->builder->sm_port) { /* a sweep will ask it */
		timer_start(timer, OWN_PORT_NS);
		return;
	}
	follow_rate(r);
	while (!g_queue_is_empty(&r->due) && take(r)) {
		struct due *due = g_queue_pop_head(&r->due);

		ask(r->sm, due);
		g_free(due);
	}
	wait_for_turn(r);
}

void reregister_forget(struct sm *sm)
{
	struct reregister *r = sm->settings->reregister;
	GHashTableIter iter;
	struct builder_node *node;

	timer_stop(&r->timer);
	g_queue_clear_full(&r->due, g_free);
	g_hash_table_iter_init(&iter, sm->builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node))
		for (unsigned int num = 0; num <= node->info.num_ports; num++)
			node->ports[num].reregistered = node->ports[num].reregister_due = false;
}

struct reregister *reregister_new(struct sm *sm)
{
	struct reregister *r = g_new0(struct reregister, 1);

	r->sm = sm;
	g_queue_init(&r->due);
	timer_init(&r->timer, sm->actor, on_turn);
	return r;
}

void reregister_free(struct reregister *r)
{
	timer_stop(&r->timer);
	g_queue_clear_full(&r->due, g_free);
	g_free(r);
}
