// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * When the next sweep begins, and which nodes the running one covers. Reasons gather in
 * sm->schedule until their delay is over; sweep.c then begins the sweep that covers them.
 */
#include "sm/discover/discover.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

/*
 * Traps come in bunches: a sweep starts this long after the first. If the subnet was quiet before,
 * it starts almost at once: changes reported while it discovers are covered by the same sweep.
 */
#define SETTLE_NS (10 * NS_PER_MS)
#define SETTLE_QUIET_NS NS_PER_MS
/* When switches are queried in case a trap of theirs was lost with a cable. */
#define FOLLOW_NS NS_PER_S
/* After a sweep with errors the next one waits, twice as long each time. */
#define RETRY_FIRST_NS (100 * NS_PER_MS)
#define RETRY_MAX_NS (10 * NS_PER_S)

void sweep_advance(struct sm *sm)
{
	sm->schedule.advance(sm);
}

void audit_all_soon(struct sm *sm)
{
	sm->schedule.audit_all = true;
}

void sweep_flag(struct sm *sm, unsigned int flag, bool on)
{
	if (on)
		atomic_fetch_or(&sm->context->sweep, flag);
	else
		atomic_fetch_and(&sm->context->sweep, ~flag);
}

/* When to check again: soon if there is no subnet to read, else after sweep_interval. */
void schedule_interval(struct sm *sm)
{
	uint64_t delay = sm->options->sweep_interval * NS_PER_S;
	uint64_t retry = RETRY_FIRST_NS << MIN(sm->schedule.failures, 10u);
	/* No trap reports a new cable: the port only goes to INIT. */
	uint64_t most = sm->schedule.port_down ? NS_PER_S : RETRY_MAX_NS;

	if (!sm->schedule.discovered || sm->schedule.reasons & SWEEP_HEAVY)
		delay = MIN(retry, most);
	else if (sm->schedule.traps_lost) /* of other nodes, whose traps have not arrived */
		delay = FOLLOW_NS;
	if (delay)
		timer_start(&sm->schedule.interval, delay);
}

static bool is_settled(const struct sm *sm)
{
	const struct builder *builder = sm->builder;

	return !builder->all_touched && sm->options == sm->schedule.settled_for &&
	       builder->sm_port && builder->sm_port->lid == sm->schedule.settled_lid;
}

bool sweep_is_local(const struct sm *sm)
{
	return sm->sweep.kind == SWEEP_KIND_PARTIAL && is_settled(sm);
}

bool sweep_has_local_p_keys(const struct sm *sm)
{
	return (sm->sweep.kind == SWEEP_KIND_PARTIAL || sm->sweep.kind == SWEEP_KIND_POLICY) &&
	       is_settled(sm);
}

GPtrArray *sweep_nodes(const struct sm *sm)
{
	return sweep_is_local(sm) ? g_ptr_array_copy(sm->builder->touched, NULL, NULL)
				  : builder_order(sm->builder);
}

/* The settings of a port depend on its node, and on the port at the other end of its cable. */
GPtrArray *sweep_ports(const struct sm *sm, bool local)
{
	g_autoptr(GPtrArray) nodes =
		local ? g_ptr_array_ref(sm->builder->touched) : builder_order(sm->builder);
	GPtrArray *ports = g_ptr_array_new();

	for (guint i = 0; i < nodes->len; i++) {
		struct builder_node *node = nodes->pdata[i];

		for (unsigned int num = 0; num <= node->info.num_ports; num++) {
			struct builder_port *port = &node->ports[num], *peer = port->peer;

			if (port->known)
				g_ptr_array_add(ports, port);
			if (local && peer && peer->known && !builder_is_touched(peer->node))
				g_ptr_array_add(ports, peer);
		}
	}
	return ports;
}

bool schedule_may_log(struct sm *sm, unsigned int *held_back)
{
	return log_limit_pass(&sm->schedule.provoked_log, actor_now(sm->actor), 20, NS_PER_S,
			      held_back);
}

bool schedule_is_provoked(unsigned int reasons)
{
	return reasons & (SWEEP_LINK_TRAP | SWEEP_LOCAL_TRAP | SWEEP_LIGHT | SWEEP_CHANGE);
}

uint64_t schedule_patience(const struct sm *sm)
{
	const struct schedule *schedule = &sm->schedule;
	const unsigned int gathered = SWEEP_LINK_TRAP | SWEEP_LOCAL_TRAP | SWEEP_LIGHT |
				      SWEEP_GROUPS | SWEEP_ERRORS | SWEEP_CHANGE;
	uint64_t now = actor_now(sm->actor);

	if (schedule->reasons & ~gathered || schedule->reasons == SWEEP_GROUPS)
		return 0; /* the SA has gathered them */
	if (!schedule_is_provoked(schedule->reasons))
		return SETTLE_NS;
	if (bucket_is_full(&schedule->provoked, now))
		return SETTLE_QUIET_NS;
	return MAX(SETTLE_NS, bucket_wait(&schedule->provoked, now));
}

bool sweep_is_discovering(const struct sm *sm)
{
	return sm->sweep.step <= STEP_INDEX_DISCOVER &&
	       sm->sweep.kind & (SWEEP_KIND_HEAVY | SWEEP_KIND_PARTIAL);
}

/*
 * Time until the running sweep is cancelled for later changes: longer each time, so that flapping
 * links do not keep a sweep from finishing. A light sweep may find the same again each time that it
 * begins, so it is cancelled no more often than such sweeps may begin.
 */
static uint64_t cancel_delay(const struct sm *sm)
{
	if (sm->sweep.kind == SWEEP_KIND_LIGHT)
		return MAX(SETTLE_NS,
			   bucket_wait(&sm->schedule.provoked, actor_now(sm->actor)));
	return SETTLE_QUIET_NS << MIN(sm->schedule.cancelled * 2, 16u);
}

void sweep_want(struct sm *sm, unsigned int reasons)
{
	const unsigned int changes = SWEEP_LINK_TRAP | SWEEP_LOCAL_TRAP | SWEEP_CHANGE;
	struct timer *settle = &sm->schedule.settle;
	uint64_t delay;

	if (sm_rests(sm))
		return; /* a heavy sweep follows when it no longer rests */
	sm->schedule.reasons |= reasons;
	if (sweep_runs(sm) && !(reasons & changes))
		return;
	delay = schedule_patience(sm);
	if (sweep_runs(sm))
		delay = sweep_is_discovering(sm) ? 0 : cancel_delay(sm);
	if (!timer_running(settle) || settle->when > actor_now(sm->actor) + delay)
		timer_start(settle, delay);
}

void sweep_want_next(struct sm *sm, unsigned int reasons)
{
	if (sweep_runs(sm) && !sweep_is_discovering(sm) && !sm_rests(sm))
		sm->schedule.reasons |= reasons;
	else
		sweep_want(sm, reasons);
}

void sweep_look_at(struct sm *sm, struct builder_node *node)
{
	builder_mark(node);
	sweep_want(sm, SWEEP_CHANGE);
}
