// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The SM's own port. If its link goes down, or the switch at the other end is reset, no trap gets
 * here to tell: so the port is asked between sweeps, which costs no packet on any link.
 */
#include "sm/sm_private.h"

#define WATCH_NS NS_PER_S

static void on_port_info(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct builder_port *own = request->port;
	struct iba_port_info info;

	if (!sm_request_ok(request) || own != sm->builder->sm_port || sweep_runs(sm))
		return;
	wire_decode(&iba_port_info_type, request->mad.data, &info);
	if (info.port_state == own->info.port_state)
		return;
	builder_mark(own->node);
	if (own->peer)
		builder_mark(own->peer->node);
	sweep_want(sm, SWEEP_CHANGE);
}

static void on_watch(struct timer *timer)
{
	struct sm *sm = (struct sm *)((char *)timer - offsetof(struct sm, watch));
	struct builder_port *own = sm->builder->sm_port;
	struct sm_request *request;

	own_port_watch(sm);
	if (!sm->schedule.discovered || sweep_runs(sm) || !own || !own->num)
		return;
	request = sm_request_port(sm, own, IBA_METHOD_GET, IBA_ATTR_PORT_INFO, own->num);
	request->aside = true;
	request->done = on_port_info;
	sm_request_send(request);
}

void own_port_watch(struct sm *sm)
{
	if (sm->options->sweep_interval)
		timer_start(&sm->watch, WATCH_NS);
}

void own_port_init(struct sm *sm)
{
	timer_init(&sm->watch, sm->actor, on_watch);
}
