// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The SM's own port, where all directed routes begin. If its link goes down, or the switch at the
 * other end is reset, no trap gets here to report it; if its cable is moved, every route leads to
 * another device, and that device answers. Without its LID, which is lost with a reset or
 * overwritten by another SM, no answers arrive; for a switch, where it is port 0, not even the
 * state shows this. So the port is queried between sweeps, and sweeps probe its other end: light
 * and partial ones when they begin, a heavy one when it has read all.
 *
 * Where the local HCA reports events, the port is queried at once. If its link goes down during a
 * sweep, that is over: further writes might reach other nodes than intended. If an HCA is lost and
 * comes back, because its driver was loaded again or it was reset, the SM waits, and then begins
 * again.
 */
#include "sm/discover/discover_private.h"
#include "sm/election/mastership.h"
#include "sm/health/health.h"
#include "sm/keys/keys.h"
#include "sm/read/read.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

#define WATCH_NS NS_PER_S
#define EVENT_NS NS_PER_MS /* events arrive together: delay of the query after the first */

/* It is unknown what was written where, and which device answered. */
void own_port_moved(struct sm *sm)
{
	log_info(sm->log, "the SM's port has moved to another place in the subnet");
	trust_lose_switches(sm->builder);
	audit_all_soon(sm);
}

/* With the key of the device known to be there; or with all, as it may be another one. */
static void ask_neighbour(struct sm *sm, bool by_any_key, void (*done)(struct sm_request *request))
{
	struct sm_request *request = sm_request_beyond(sm, sm->builder->sm_port);

	request->phase = by_any_key ? REQUEST_FIRST_TRIES : REQUEST_FULL_RETRIES;
	request->mad.tries = by_any_key ? 0 : 1;
	request->mad.arg = by_any_key ? request : NULL;
	request->done = done;
	sm_request_send(request);
}

/* NodeInfo of the device at the other end. */
static void on_neighbour(struct sm_request *request)
{
	struct sm *sm = request->sm;
	const struct builder_port *own = request->port, *peer = own->peer;
	struct iba_node_info info;

	if (own != sm->builder->sm_port || !peer)
		return;
	if (!sm_request_ok(request)) {
		if (!request->mad.arg && keys_are_used(sm->options))
			ask_neighbour(sm, true, request->done);
		else if (!builder_is_silent(peer->node) && sm->sweep.kind == SWEEP_KIND_PARTIAL)
			builder_mark(peer->node); /* all directed routes go through it */
		return;
	}
	wire_decode(&iba_node_info_type, request->mad.data, &info);
	if (builder_port_is(peer, &info))
		return;
	own_port_moved(sm);
	sm->sweep.start_over = true;
}

static void mark_both_ends(const struct builder_port *own)
{
	builder_mark(own->node);
	if (own->peer)
		builder_mark(own->peer->node);
}

/* Its link is up, and the last sweep lost the device at the other end. */
static bool leads_nowhere(const struct builder_port *own)
{
	return own->num && builder_link_is_up(own) && !own->peer;
}

static bool is_as_set(const struct iba_port_info *known, const struct iba_port_info *now)
{
	return now->lid == known->lid && now->lmc == known->lmc &&
	       now->gid_prefix == known->gid_prefix && now->master_sm_lid == known->master_sm_lid;
}

/* Once before a sweep has checked: a port that does not keep its settings has to wait. */
static void set_again(struct sm *sm, struct builder_port *own, const struct iba_port_info *now)
{
	if (health_has_differed(sm, own->node))
		return;
	log_error(sm->log,
		  "the configuration of the SM's own port has changed: LID 0x%04x, LMC %u, "
		  "MasterSMLID 0x%04x, GID prefix 0x%016" G_GINT64_MODIFIER "x; it is being "
		  "restored",
		  now->lid, now->lmc, now->master_sm_lid, now->gid_prefix);
	builder_mark(own->node);
	health_differs(sm, own->node);
}

static void on_port_info(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct builder_port *own = request->port;
	struct iba_port_info info;
	enum own_port_owner owner;

	if (!sm_request_ok(request) || own != sm->builder->sm_port || sweep_runs(sm) ||
	    request->serial != sm->sweep.serial || sm_rests(sm))
		return;
	wire_decode(&iba_port_info_type, request->mad.data, &info);
	owner = mastership_own_port_read(sm, &info);
	if (owner == OWN_PORT_DISPUTED)
		timer_start(&sm->discovery->own_port, WATCH_NS);
	if (info.port_state != own->info.port_state || leads_nowhere(own)) {
		mark_both_ends(own);
		sweep_want(sm, SWEEP_CHANGE);
	} else if (owner == OWN_PORT_OURS && sm_is_master(sm) && !is_as_set(&own->info, &info)) {
		set_again(sm, own, &info);
	}
}

static void on_watch(struct timer *timer)
{
	struct sm *sm = container_of(timer, struct discovery, own_port)->sm;

	own_port_watch(sm);
	if (sm->builder->sm_port && !sweep_runs(sm) && sm->schedule.discovered &&
	    !sm->schedule.inhibited)
		own_port_ask(sm, on_port_info);
}

void own_port_watch(struct sm *sm)
{
	if (sm->options->sweep_interval)
		timer_start(&sm->discovery->own_port, WATCH_NS);
}

static void on_lost(struct sm *sm)
{
	struct sm_about own;

	sweep_flag(sm, SWEEP_FLAG_PORT_LOST, true);
	sm_about_own(&own, "port", sm);
	log_milestone_error_about(
		sm->log, PORT_DOWN, &own.about,
		"the device of the SM's port, %s, is gone: waiting for it to return",
		vendor_name(sm->vendor));
	mastership_port_lost(sm);
}

static void on_back(struct sm *sm)
{
	sweep_flag(sm, SWEEP_FLAG_PORT_LOST, false);
	log_sys(sm->log, "the SM's port is back: %s", vendor_name(sm->vendor));
	mastership_port_back(sm);
}

static void on_down(struct sm *sm)
{
	if (sm->builder->sm_port)
		mark_both_ends(sm->builder->sm_port);
	sweep_break(sm);
}

void own_port_event(void *arg, unsigned int events)
{
	struct sm *sm = arg;

	log_verbose(sm->log, "local events 0x%02x of the SM's port", events);
	if (events & VENDOR_LOST && !sm_port_is_lost(sm))
		on_lost(sm);
	if (sm_port_is_lost(sm) && !vendor_is_lost(sm->vendor))
		on_back(sm);
	if (sm_port_is_lost(sm))
		return;
	mastership_port_changed(sm);
	if (sm_rests(sm))
		return;
	if (events & VENDOR_PORT_DOWN)
		on_down(sm);
	if (!timer_running(&sm->discovery->own_port) ||
	    sm->discovery->own_port.when > actor_now(sm->actor) + EVENT_NS)
		timer_start(&sm->discovery->own_port, EVENT_NS);
}

void own_port_rest(struct sm *sm)
{
	timer_stop(&sm->discovery->own_port);
}

void own_port_init(struct discovery *discovery)
{
	timer_init(&discovery->own_port, discovery->sm->actor, on_watch);
}

enum step_result step_own_port(struct sm *sm)
{
	const struct builder_port *own = sm->builder->sm_port;

	if (sm->sweep.round)
		return sm->sweep.start_over ? STEP_HEAVY : STEP_NEXT;
	if (!own || !own->num || !own->peer)
		return STEP_NEXT;
	ask_neighbour(sm, false, on_neighbour);
	return STEP_AGAIN;
}
