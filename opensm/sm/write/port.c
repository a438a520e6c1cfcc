// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ports: PortInfo as it should be, and the way from INIT over ARMED to ACTIVE (IBA 7.2.7). Both
 * ends of a link are ARMED before either is ACTIVE. Only what differs is set.
 */
#include <string.h>

#include "route/value/lanes.h"
#include "sm/discover/discover.h"
#include "sm/health/health.h"
#include "sm/keys/keys.h"
#include "sm/read/read.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/write/write_private.h"

#define EXT_SPEED_XDR 16 /* force_link_speed_ext */
#define EXT_SPEEDS_ALL 31
#define KEEP 0 /* in LinkSpeedEnabled, LinkWidthEnabled and states of Set(PortInfo): no change */

/* What a Set of PortInfo requests; owned by it. */
struct change {
	uint8_t state; /* PortState */
	bool speeds;   /* it changes width or speeds */
};

static const struct change *change_of(const struct sm_request *request)
{
	return request->owned;
}

static bool is_endport(const struct builder_port *port)
{
	return port->num == 0 || !builder_is_switch(port->node);
}

/* Options of the form "these bits, everything supported, or (0) leave alone". */
static uint8_t enabled(uint8_t is, uint8_t supported, uint8_t option, uint8_t all)
{
	uint8_t wanted = option == all ? supported : option & supported;

	return wanted ? wanted : is; /* a port that supports none would refuse the whole PortInfo */
}

/*
 * One option for LinkSpeedExtEnabled and its second part, which is for XDR and has no known value
 * for none: if XDR is not wanted that part stays as it is.
 */
static void want_extended_speeds(uint8_t option, struct iba_port_info *want)
{
	uint8_t supported = want->link_speed_ext_supported;

	if (option == IBA_LINK_SPEED_EXT_DISABLED) {
		want->link_speed_ext_enabled = supported ? option : want->link_speed_ext_enabled;
		return;
	}
	want->link_speed_ext_enabled = enabled(want->link_speed_ext_enabled,
					       supported & ~EXT_SPEED_XDR, option, EXT_SPEEDS_ALL);
	if (option & EXT_SPEED_XDR && want->link_speed_ext_supported2)
		want->link_speed_ext_enabled2 = want->link_speed_ext_supported2;
}

static struct builder_speeds speeds_of(const struct iba_port_info *info)
{
	return (struct builder_speeds){info->link_width_enabled, info->link_speed_enabled,
				       info->link_speed_ext_enabled, info->link_speed_ext_enabled2};
}

static void put_speeds(struct iba_port_info *info, struct builder_speeds speeds)
{
	info->link_width_enabled = speeds.width;
	info->link_speed_enabled = speeds.plain;
	info->link_speed_ext_enabled = speeds.ext;
	info->link_speed_ext_enabled2 = speeds.ext2;
}

static bool are_equal(struct builder_speeds a, struct builder_speeds b)
{
	return a.width == b.width && a.plain == b.plain && a.ext == b.ext && a.ext2 == b.ext2;
}

static void want_speeds(const struct options *o, const struct builder_port *port,
			struct iba_port_info *want)
{
	want->link_width_enabled = enabled(want->link_width_enabled, want->link_width_supported,
					   o->force_link_width, IBA_LINK_WIDTH_ALL_SUPPORTED);
	want->link_speed_enabled = enabled(want->link_speed_enabled, want->link_speed_supported,
					   o->force_link_speed, IBA_LINK_SPEED_ALL_SUPPORTED);
	want_extended_speeds(o->force_link_speed_ext, want);
	if (are_equal(speeds_of(want), port->refused_speeds))
		put_speeds(want, speeds_of(&port->info));
}

uint8_t port_operational_vls(const struct sm *sm, const struct builder_port *port)
{
	const struct builder_port *far = port->peer;

	if (!far || !far->known)
		return port->info.operational_vls;
	return MIN(MIN(port->info.vl_cap, far->info.vl_cap), sm->options->max_op_vls);
}

static void want_link(const struct sm *sm, const struct builder_port *port,
		      struct iba_port_info *want)
{
	const struct options *o = sm->options;
	const struct iba_port_info *far = &port->peer->info;
	bool leaf = !builder_is_switch(port->peer->node);

	if (port->peer->known)
		want->neighbor_mtu = MIN(port->info.mtu_cap, far->mtu_cap);
	want->operational_vls = port_operational_vls(sm, port);
	want->vl_high_limit = qos_high_limit(sm, port);
	want_speeds(o, port, want);
	want->local_phy_errors = o->local_phy_errors_threshold;
	want->overrun_errors = o->overrun_errors_threshold;
	if (!builder_is_switch(port->node))
		return;
	want->vl_stall_count = leaf ? o->leaf_vl_stall_count : o->vl_stall_count;
	want->hoq_life = leaf ? o->leaf_head_of_queue_lifetime : o->head_of_queue_lifetime;
}

/* SL with which the port queries the SM; sm_sl, unless routes need another one. */
static uint8_t sm_sl_of(const struct sm *sm, const struct builder_port *port)
{
	uint32_t node;

	if (!routing_has_sm_sl(sm->routing))
		return sm->options->sm_sl;
	node = fabric_node_by_guid(sm->fabric, port->node->guid);
	if (node == FABRIC_NONE)
		return sm->options->sm_sl;
	return routing_sm_sl(sm->routing, sm->fabric, fabric_port_of(sm->fabric, node, port->num),
			     sm->options->sm_sl);
}

static void want_endport(const struct sm *sm, const struct builder_port *port,
			 struct iba_port_info *want)
{
	const struct options *o = sm->options;

	want->lid = port->lid;
	want->lmc = port->lmc;
	want->gid_prefix = o->subnet_prefix;
	want->master_sm_lid = sm->builder->sm_port->lid;
	want->master_sm_sl = sm_sl_of(sm, port);
	want->m_key = keys_wanted(sm, port);
	want->m_key_lease_period = o->m_key_lease_period;
	want->m_key_protect_bits = want->m_key ? o->m_key_protection_level : 0;
	want->subnet_timeout = o->subnet_timeout;
}

bool port_may_reregister(const struct sm *sm, const struct builder_port *port)
{
	return !sm->options->no_clients_rereg && !builder_is_switch(port->node) &&
	       port->info.capability_mask & IBA_PORT_CAP_CLIENT_REREGISTRATION;
}

/* Clients' registrations are lost if this SM is new to them, or they to it. */
static bool wants_reregister(const struct sm *sm, const struct builder_port *port,
			     const struct iba_port_info *want)
{
	if (!port_may_reregister(sm, port))
		return false;
	if (port->info.port_state == IBA_PORT_INIT)
		return true;
	if (want->master_sm_lid != port->info.master_sm_lid)
		return !sm->takeover.vouched_lid ||
		       port->info.master_sm_lid != sm->takeover.vouched_lid;
	/* A dry run beside a running master does not know which clients that has asked. */
	return !port->reregistered && !(sm->dry && sm->schedule.succeeded);
}

bool port_wanted(const struct sm *sm, const struct builder_port *port, struct iba_port_info *want)
{
	bool reregister;

	memcpy(want, &port->info, sizeof(*want));
	if (port->peer)
		want_link(sm, port, want);
	if (is_endport(port))
		want_endport(sm, port, want);
	p_keys_enforcement(sm, port, want);
	reregister = wants_reregister(sm, port, want);
	if (!reregister && wire_equal(&iba_port_info_type, want, &port->info))
		return false;
	want->client_reregister = reregister;
	return true;
}

/* The link went down since the port was read: what was learned then is outdated. */
static void tell_bounce(struct sm *sm, struct builder_port *port)
{
	if (builder_is_switch(port->node))
		port->node->check = true;
	else
		trust_lose(port->node);
	sweep_look_at(sm, port->node);
}

void port_answered(const struct sm_request *request)
{
	struct builder_port *port = request->port;
	struct iba_port_info info;

	wire_decode(&iba_port_info_type, request->mad.data, &info);
	if (info.port_state <= IBA_PORT_INIT && info.port_state < port->info.port_state)
		tell_bounce(request->sm, port);
	if (info.lid != port->info.lid)
		builder_reach_changed(port->node->builder);
	info.client_reregister = 0;
	builder_set_info(port, &info);
}

static void on_read_again(struct sm_request *request)
{
	if (!sm_request_ok(request)) {
		sm_request_failed(request);
		return;
	}
	port_answered(request);
	if (request->port->info.port_state < change_of(request)->state)
		health_refused(request->sm, request->port, "port %u refused state %u",
			       request->port->num, change_of(request)->state);
}

/*
 * A port refuses a state that it already has: the answer to the first Set was lost and this is the
 * answer to the second. The state that the port reports is what counts.
 */
static void read_again(const struct sm_request *refused)
{
	struct sm_request *request = sm_request_port(refused->sm, refused->port, IBA_METHOD_GET,
						     IBA_ATTR_PORT_INFO, refused->mad.modifier);

	request->owned = g_memdup2(refused->owned, sizeof(struct change));
	request->done = on_read_again;
	sm_request_send(request);
}

/* In a cancelled sweep, without an answer: the next one reads the port. */
static void doubt_port(struct sm_request *request)
{
	if (request->mad.result == MAD_STATUS || !request->tries)
		return;
	request->port->read = 0;
	builder_mark(request->node);
}

/*
 * A port that does not allow changes of speeds is logged once, and set without them. A second try
 * may be refused for its state, which the first has set: see read_again().
 */
static bool refuses_speeds(const struct sm_request *request)
{
	struct builder_port *port = request->port;
	struct iba_port_info want;

	if (request->mad.result != MAD_STATUS || !change_of(request)->speeds || request->tries > 1)
		return false;
	port_wanted(request->sm, port, &want);
	port->refused_speeds = speeds_of(&want);
	health_refused(request->sm, port, "port %u does not accept width and speeds", port->num);
	port_wanted(request->sm, port, &want);
	port_send(request->sm, port, &want, change_of(request)->state);
	return true;
}

static void on_set(struct sm_request *request)
{
	bool late = sm_request_is_late(request);

	audit_set(request);
	if (!sm_request_ok(request))
		request->port->reregistered = false; /* if the Set was to request it */
	if (sm_request_ok(request)) {
		port_answered(request);
		port_health_set(request->sm, request->port);
	} else if (late) {
		doubt_port(request);
	} else if (refuses_speeds(request)) {
		return;
	} else if (request->mad.result == MAD_STATUS &&
		   change_of(request)->state != IBA_PORT_NO_CHANGE) {
		read_again(request);
	} else {
		sm_request_failed(request);
	}
}

/* Values that are as they should be are not set. */
static void keep_speeds(struct iba_port_info *info, const struct iba_port_info *is)
{
	if (info->link_width_enabled == is->link_width_enabled)
		info->link_width_enabled = KEEP;
	if (info->link_speed_enabled == is->link_speed_enabled)
		info->link_speed_enabled = KEEP;
	if (info->link_speed_ext_enabled == is->link_speed_ext_enabled)
		info->link_speed_ext_enabled = KEEP;
	if (info->link_speed_ext_enabled2 == is->link_speed_ext_enabled2)
		info->link_speed_ext_enabled2 = KEEP;
}

static struct sm_request *states_set(struct sm *sm, struct builder_port *port,
				     const struct iba_port_info *want, uint8_t state,
				     uint8_t physical)
{
	struct sm_request *request;
	struct change *change = g_new(struct change, 1);
	struct iba_port_info info = *want;

	info.port_state = state;
	info.port_physical_state = physical;
	info.link_down_default_state = KEEP;
	keep_speeds(&info, &port->info);
	change->state = state;
	change->speeds = !are_equal(speeds_of(&info), (struct builder_speeds){KEEP});
	request = sm_request_port_set(sm, port, &info);
	request->owned = change;
	request->done = on_set;
	port->reregistered |= want->client_reregister; /* the answer need not report it */
	return request;
}

struct sm_request *port_set(struct sm *sm, struct builder_port *port,
			    const struct iba_port_info *want, uint8_t state)
{
	return states_set(sm, port, want, state, KEEP);
}

void port_send(struct sm *sm, struct builder_port *port, const struct iba_port_info *want,
	       uint8_t state)
{
	if (state > IBA_PORT_INIT)
		port->activated = port->node->activated = sm->builder->sweep;
	sm_request_send(port_set(sm, port, want, state));
}

void port_send_states(struct sm *sm, struct builder_port *port, uint8_t state, uint8_t physical)
{
	sm_request_send(states_set(sm, port, &port->info, state, physical));
}

/* If it does not answer, a sweep reads it, and asks it again as long as it is there. */
static void on_reregistered(struct sm_request *request)
{
	audit_set(request);
	if (!request->node->builder)
		return;
	if (sm_request_ok(request)) {
		port_answered(request);
		return;
	}
	sweep_look_at(request->sm, request->node);
	if (sm_is_master(request->sm))
		reregister_later(request->sm, request->port);
}

void port_reregister(struct sm *sm, struct builder_port *port)
{
	struct sm_request *request;
	struct iba_port_info want;

	port_wanted(sm, port, &want);
	want.client_reregister = 1;
	request = port_set(sm, port, &want, IBA_PORT_NO_CHANGE);
	request->sender = REQUEST_OUTSIDE_SWEEP;
	request->done = on_reregistered;
	sm_request_send(request);
}

/* ---- steps ---- */

static void each_port(struct sm *sm, sweep_visit *visit)
{
	sweep_walk(sm, sweep_ports(sm, sweep_is_local(sm)), 1, visit);
}

/* No LID was left for it: it would refuse to come up, and LID 0. */
static bool is_host_without_lid(const struct builder_port *port)
{
	return port->num != 0 && is_endport(port) && !port->lid;
}

/*
 * Whether this SM may raise its state. Port 0 of a switch has a state of its own only if it is
 * enhanced.
 */
static bool has_state(const struct builder_port *port)
{
	if (port->num == 0)
		return port->node->switch_info.enhanced_port0;
	return port->peer && port->peer->known && !is_host_without_lid(port) &&
	       !is_host_without_lid(port->peer);
}

static void arm(struct sm *sm, void *item)
{
	struct builder_port *port = item;
	struct iba_port_info want;
	bool init = has_state(port) && port->info.port_state == IBA_PORT_INIT;
	bool differs;

	if (!port->known || port_health_act(sm, port) || (!has_state(port) && !is_endport(port)) ||
	    (is_host_without_lid(port) && !port->info.lid))
		return;
	differs = port_wanted(sm, port, &want);
	if (want.client_reregister && !init && !reregister_now(sm, port)) {
		want.client_reregister = 0;
		differs = !wire_equal(&iba_port_info_type, &want, &port->info);
	}
	if (init || differs)
		port_send(sm, port, &want, init ? IBA_PORT_ARMED : IBA_PORT_NO_CHANGE);
}

enum step_result step_arm(struct sm *sm)
{
	each_port(sm, arm);
	return STEP_NEXT;
}

/* For a link that does not come up: its other end got further, so the switch here is to blame. */
static const struct builder_port *held_up_by(const struct builder_port *port)
{
	const struct builder_port *peer = port->peer;
	bool ahead = peer && peer->info.port_state > port->info.port_state;

	return ahead && builder_is_switch(port->node) ? &port->node->ports[0] : port;
}

static void activate(struct sm *sm, void *item)
{
	struct builder_port *port = item;
	struct iba_port_info want;

	if (has_state(port) && port->info.port_state == IBA_PORT_INIT) {
		held_up_note(sm, port);
		health_refused(sm, held_up_by(port), "port %u stays in INIT", port->num);
	}
	if (!has_state(port) || port->info.port_state != IBA_PORT_ARMED)
		return;
	port_wanted(sm, port, &want); /* not what the port reported, which may hide its M_Key */
	port_send(sm, port, &want, IBA_PORT_ACTIVE);
}

enum step_result step_activate(struct sm *sm)
{
	each_port(sm, activate);
	return STEP_NEXT;
}

/*
 * The settings did not bring it up: the next sweep checks, unless it is tried at intervals anyway.
 */
static void not_confirmed(struct sm *sm, struct builder_node *node)
{
	if (!health_is_sick(sm, node))
		sweep_look_at(sm, node);
}

static void on_other_end(struct sm_request *request)
{
	struct iba_port_info info;

	if (!sm_request_ok(request)) {
		sm_request_failed(request);
		return;
	}
	wire_decode(&iba_port_info_type, request->mad.data, &info);
	if (info.port_state != IBA_PORT_ACTIVE)
		not_confirmed(request->sm, request->node);
}

/*
 * A link may bounce between the check of its far end and the Set of its near one: then the near end
 * becomes ACTIVE, the far one waits in INIT, and no switch has a change to report.
 */
static void confirm(struct sm *sm, void *item)
{
	const struct builder_port *port = item;
	struct builder_port *peer = port->peer;
	struct sm_request *request;

	if (port->activated != sm->builder->sweep || !peer || !has_state(peer) ||
	    peer->activated == sm->builder->sweep)
		return;
	request = sm_request_port(sm, peer, IBA_METHOD_GET, IBA_ATTR_PORT_INFO, peer->num);
	request->done = on_other_end;
	sm_request_send(request);
}

static void on_still_calm(struct sm_request *request)
{
	struct iba_switch_info info;

	if (!sm_request_ok(request)) {
		sm_request_failed(request);
		return;
	}
	wire_decode(&iba_switch_info_type, request->mad.data, &info);
	if (!info.port_state_change) {
		switch_set_confirmed(request->node);
		return;
	}
	not_confirmed(request->sm, request->node);
}

/* No link of it went down while its ports were brought up, if it reports no change now. */
static void confirm_switch(struct sm *sm, void *item)
{
	struct builder_node *node = item;

	if (node->activated == sm->builder->sweep)
		sm_get(sm, node, IBA_ATTR_SWITCH_INFO, 0, on_still_calm);
}

enum step_result step_confirm(struct sm *sm)
{
	each_port(sm, confirm);
	sweep_walk(sm, g_ptr_array_copy(sm->builder->switches, NULL, NULL), 1, confirm_switch);
	return STEP_NEXT;
}

/* A successful Set that did not set what it should is an error too. */
static void check_set(struct sm *sm, const struct builder_port *port)
{
	if (is_endport(port) && port->lid != port->info.lid)
		health_refused(sm, port, "port %u did not accept LID 0x%04x", port->num, port->lid);
	else if (is_endport(port) && port->lid &&
		 port->info.master_sm_lid != sm->builder->sm_port->lid)
		health_refused(sm, port, "port %u did not accept the SM's LID", port->num);
	else if (is_endport(port) && port->lid &&
		 port->info.gid_prefix != sm->options->subnet_prefix)
		health_refused(sm, port, "port %u did not accept the GID prefix", port->num);
}

/* A state that a port may be in (IBA 14.2.5.6). */
static bool is_a_state(unsigned int state)
{
	return state >= IBA_PORT_DOWN && state <= IBA_PORT_ACTIVE;
}

static void check(struct sm *sm, void *item)
{
	struct builder_port *port = item;

	if (!port->known || builder_is_silent(port->node)) /* silent since a moment ago */
		return;
	check_set(sm, port);
	if (!has_state(port))
		return;
	if (port->info.port_state == IBA_PORT_ARMED) {
		held_up_note(sm, port);
		health_refused(sm, held_up_by(port), "port %u stays in ARMED", port->num);
	}
	if (!is_a_state(port->info.port_state)) {
		port_health_event(sm, port, PORT_ILLEGAL);
		health_fault(sm, port->node, "PortInfo of port %u is invalid (PortState %u)",
			     port->num, port->info.port_state);
	}
}

enum step_result step_check(struct sm *sm)
{
	const struct builder_port *own = sm->builder->sm_port;

	if (own->num != 0 && own->info.port_state == IBA_PORT_DOWN)
		sm_problem(sm, "the SM's port went down");
	each_port(sm, check);
	if (unsure_remains(sm))
		sweep_want_next(sm, SWEEP_UNSURE);
	held_up_sweep_ended(sm);
	return STEP_NEXT;
}

struct settings *settings_new(struct sm *sm)
{
	struct settings *settings = g_new0(struct settings, 1);

	settings->p_keys = p_keys_new(sm);
	settings->vl_tables = vl_tables_new();
	settings->aliases = aliases_new();
	settings->key_update = key_update_new(sm);
	settings->reregister = reregister_new(sm);
	return settings;
}

void settings_free(struct settings *settings)
{
	p_keys_free(settings->p_keys);
	vl_tables_free(settings->vl_tables);
	aliases_free(settings->aliases);
	key_update_free(settings->key_update);
	reregister_free(settings->reregister);
	g_free(settings);
}
