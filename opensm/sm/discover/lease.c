// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Leases of M_Keys (IBA 14.2.4). The first SMP with a wrong key starts the lease of a port, any
 * with the right one stops it; if it ends, the port gives up its protection for good, since the SM
 * might have been lost together with the key.
 *
 * Trap 256 reports most violations: the port then gets a Get(PortInfo). For those that are not
 * reported (a source of too many traps is ignored), and for switches where light sweeps are rare,
 * each endport gets one twice per lease. Deviations are left to a sweep.
 */
#include "sm/discover/discover_private.h"
#include "sm/keys/keys.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

static bool is_used(const struct options *options)
{
	return keys_are_used(options) && options->m_key_lease_period &&
	       options->m_key_protection_level;
}

static void on_port_info(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct builder_node *node = request->node;
	struct iba_port_info info;

	if (!sm_request_ok(request) || !node->builder)
		return;
	wire_decode(&iba_port_info_type, request->mad.data, &info);
	if (info.m_key_protect_bits == sm->options->m_key_protection_level &&
	    info.m_key_lease_period == sm->options->m_key_lease_period)
		return;
	sweep_look_at(sm, node);
}

static void ask(struct sm *sm, struct builder_port *port)
{
	struct sm_request *request =
		sm_request_port(sm, port, IBA_METHOD_GET, IBA_ATTR_PORT_INFO, port->num);

	request->sender = REQUEST_OUTSIDE_SWEEP;
	request->done = on_port_info;
	sm_request_send(request);
}

void lease_violated(struct sm *sm, struct builder_port *port)
{
	if (port && is_used(sm->options))
		ask(sm, port);
}

static void ask_endports(struct sm *sm)
{
	g_autoptr(GPtrArray) nodes = builder_order(sm->builder);

	for (guint i = 0; i < nodes->len; i++) {
		struct builder_node *node = nodes->pdata[i];

		if (builder_is_switch(node)) {
			if (node->ports[0].known)
				ask(sm, &node->ports[0]);
			continue;
		}
		for (unsigned int num = 1; num <= node->info.num_ports; num++)
			if (node->ports[num].known && node->ports[num].peer)
				ask(sm, &node->ports[num]);
	}
}

static void start(struct sm *sm)
{
	uint64_t period = sm->options->m_key_lease_period * NS_PER_S / 2;

	if (!is_used(sm->options))
		timer_stop(&sm->discovery->lease);
	else if (!timer_running(&sm->discovery->lease) ||
		 sm->discovery->lease.when > actor_now(sm->actor) + period)
		timer_start(&sm->discovery->lease, period);
}

/* A heavy sweep reads all ports itself. */
static void on_lease(struct timer *timer)
{
	struct sm *sm = container_of(timer, struct discovery, lease)->sm;

	if (sm->schedule.discovered && sm->sweep.kind != SWEEP_KIND_HEAVY)
		ask_endports(sm);
	start(sm);
}

static void on_sweep_done(void *arg, uint64_t value)
{
	(void)value;
	start(arg);
}

void lease_rest(struct sm *sm)
{
	timer_stop(&sm->discovery->lease);
}

void lease_init(struct discovery *discovery)
{
	struct sm *sm = discovery->sm;

	timer_init(&discovery->lease, sm->actor, on_lease);
	event_subscribe(&sm->context->bus, EVENT_SWEEP_DONE, sm->actor, on_sweep_done, sm);
}
