// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which device is at which cable. Nodes are identified by GUID only, so a cable that was moved and
 * a second device with the same GUID look alike at first.
 *
 * Two switches with one GUID look like one that has the cables of both, and nothing that either
 * reports has to contradict that. So a new cable between switches counts when both ends report it;
 * the first one through which a switch is found, and one that was there before, count at once.
 * Queries over the cables that count are answered by one of the two, whose ports lead to its own
 * neighbours: those of the other do not count, and are excluded.
 *
 * A channel adapter cannot be asked which port is at the other end of its cable. If it is found at
 * another cable than its known one, the device at that one is queried first: if it still is the
 * adapter, there are two, and the new one is excluded. If it is not, the adapter was moved.
 */
#include "sm/discover/discover.h"
#include "sm/health/health.h"
#include "sm/read/read.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

static const char moved[] = "it may be another device";

static bool are_switches(const struct builder_port *a, const struct builder_port *b)
{
	return builder_is_switch(a->node) && builder_is_switch(b->node);
}

/* The probe of this sweep has found that the cable of port leads to far. */
static bool leads_to(const struct builder_port *port, const struct builder_port *far)
{
	return builder_far_end(port) == far;
}

/* ---- cables that moved ---- */

/*
 * A switch is not where this sweep found it: on the way to it, and to all nodes behind it, another
 * one may have answered. So its cables are probed again as if all links had bounced.
 */
static void doubt_cables(const struct sm *sm, struct builder_node *node)
{
	if (!builder_is_switch(node) || node->seen != sm->builder->sweep)
		return;
	node->recheck_from = 0;
	builder_mark(node);
}

/*
 * The node of that end is not where it was known to be: it may be another device, and writes
 * through a switch that moved may have reached other nodes than intended.
 */
static void uproot(struct sm *sm, struct builder_port *end)
{
	if (builder_is_switch(end->node)) {
		sm->sweep.switch_moved = true;
		audit_all_soon(sm);
	}
	node_lose_trust(sm, end->node, moved);
	doubt_cables(sm, end->node);
}

/* A known node is at another cable: what its ports reported may belong to another node. */
static void node_moved(struct sm *sm, const struct builder_port *port, struct builder_port *far)
{
	if (far->peer) {
		uproot(sm, far);
		builder_mark(far->peer->node); /* or is there another one with its GUID? */
	} else if (trust_n_blocks(&far->p_keys) && !builder_is_switch(far->node)) {
		node_lose_trust(sm, far->node, moved); /* its cable was lost already */
	}
	if (!leads_to(far, port))
		far->read = 0;
}

/* far is where another node was: writes to that node may have reached far, and any of its ports. */
static void displace(struct sm *sm, struct builder_port *port, struct builder_port *far)
{
	if (!port->peer)
		return;
	if (!builder_is_switch(far->node))
		builder_mark(far->node);
	uproot(sm, port->peer);
}

static void connect_ends(struct sm *sm, struct builder_port *port, struct builder_port *far)
{
	displace(sm, port, far);
	node_moved(sm, port, far);
	builder_link(port, far);
}

void cables_drop_unconfirmed(struct builder_node *node)
{
	for (unsigned int num = 1; num <= node->info.num_ports; num++) {
		struct builder_port *port = &node->ports[num];

		if (port->peer && !leads_to(port->peer, port))
			builder_lose_link(port);
	}
}

/* ---- the SM's own cable ---- */

/* What was read so far in this sweep, if anything, belongs to other devices. */
static bool own_cable_moved(struct sm *sm, struct builder_port *own, struct builder_port *far)
{
	bool seen = builder_cable_is(own, CABLE_SEEN);

	if (own != sm->builder->sm_port || !own->peer || own->peer == far)
		return false;
	own_port_moved(sm);
	sm->sweep.start_over = seen || sm->sweep.kind != SWEEP_KIND_HEAVY;
	if (sm->sweep.start_over)
		builder_link(own, far);
	return sm->sweep.start_over;
}

/* ---- two devices with one GUID ---- */

static bool has_cable_of_its_own(const struct builder_port *far)
{
	return far->peer && !builder_is_switch(far->node);
}

static void leave_out(struct sm *sm, struct builder_port *port)
{
	const struct builder_port *far = port->cable.far_end;
	char name[SM_NAME_SIZE], other[SM_NAME_SIZE];
	g_autofree char *why = NULL;

	if (has_cable_of_its_own(far))
		why = g_strdup_printf("but also behind port %u of %s", far->peer->num,
				      sm_node_name(far->peer->node, other, sizeof(other)));
	sm->sweep.duplicate_guid = true;
	health_exclude(sm, port->node,
		       "duplicate GUID or cable moved: port %u of %s is behind port %u, %s",
		       far->num, sm_node_name(far->node, name, sizeof(name)), port->num,
		       why ? why : "but does not lead back there");
}

/* Whether its switch will still be read in this sweep, which then probes the other end. */
static bool will_be_followed(const struct sm *sm, const struct builder_port *port)
{
	bool met = port->node->looked_at == sm->sweep.serial;

	return met ? port->read != sm->builder->sweep : sm->sweep.kind == SWEEP_KIND_HEAVY;
}

/*
 * Probes the cable that far is known to have. For the SM's own port, where all paths begin, the
 * probe goes to the port itself, for its other end.
 */
static void ask_known_cable(struct sm *sm, struct builder_port *far)
{
	struct builder_port *known = far->peer;

	builder_cable(far, CABLE_EVENT_CONTESTED);
	builder_cable(known, CABLE_EVENT_CONTESTED);
	if (far == sm->builder->sm_port) {
		port_probe(sm, far);
		return;
	}
	builder_cable(far, CABLE_EVENT_STALE);
	builder_cable(known, CABLE_EVENT_STALE);
	if (!will_be_followed(sm, known))
		builder_mark(known->node);
}

/* Only this end reports that cable so far. */
static void join_half(struct sm *sm, struct builder_port *port, struct builder_port *far)
{
	displace(sm, port, far);
	builder_lose_link(port);
	builder_cable(port, CABLE_EVENT_ASKED);
	port->cable.far_end = far;
}

/* The device that answered behind port is known at another cable: cables_settle() decides. */
static bool is_elsewhere(struct sm *sm, struct builder_port *port, struct builder_port *far)
{
	if (!has_cable_of_its_own(far) || far->peer == port || port == sm->builder->sm_port)
		return false;
	if (!builder_cable_is(far, CABLE_CONTESTED))
		ask_known_cable(sm, far);
	join_half(sm, port, far);
	return true;
}

static bool is_placed(const struct sm *sm, const struct builder_node *node)
{
	const struct builder_port *own = sm->builder->sm_port;
	bool placed = own && own->node == node;

	for (unsigned int num = 1; !placed && num <= node->info.num_ports; num++)
		placed = node->ports[num].peer;
	return placed;
}

/*
 * Unless done already; it does not matter what its port reported before, or through which cable it
 * was found.
 */
static void ask_other_end(const struct sm *sm, struct builder_port *far)
{
	if (builder_cable_is(far, CABLE_ASKED | CABLE_CONTESTED) || will_be_followed(sm, far))
		return;
	builder_cable(far, CABLE_EVENT_CONTESTED);
	builder_cable(far, CABLE_EVENT_STALE);
	builder_mark(far->node);
}

/* False as long as only this end reports a new cable between two switches. */
static bool counts(struct sm *sm, struct builder_port *port, struct builder_port *far)
{
	if (!are_switches(port, far) || !is_placed(sm, far->node) || leads_to(far, port))
		return true;
	join_half(sm, port, far);
	ask_other_end(sm, far);
	return false;
}

/* A packet has come through it: it was reported down before the cable was there. */
static void doubt_down(struct builder_port *port)
{
	if (builder_link_is_up(port) || !port->known)
		return;
	port->known = false;
	builder_mark(port->node);
}

/*
 * A loopback plug: light sweeps check that it still is. Writes to the device that was there before
 * may have come back to the switch.
 */
static void plug_met(struct sm *sm, struct builder_port *port)
{
	if (port->cable.state != CABLE_LOOPBACK)
		node_lose_trust(sm, port->node, "a loopback plug is in one of its ports");
	builder_lose_link(port);
	builder_touch(port->node);
	builder_cable(port, CABLE_EVENT_LOOPBACK);
}

bool cable_answered(struct sm *sm, struct builder_port *port, struct builder_port *far)
{
	if (far == port) {
		plug_met(sm, port);
		return false;
	}
	if (port_health_excludes(sm, port, far)) {
		port_exclude(port);
		return false;
	}
	if (own_cable_moved(sm, port, far) || is_elsewhere(sm, port, far))
		return false;
	port->cable.far_end = far;
	if (port->peer != far) {
		if (!counts(sm, port, far))
			return false;
		connect_ends(sm, port, far);
	}
	doubt_down(port);
	doubt_down(far);
	builder_cable(port, CABLE_EVENT_ACCEPTED);
	builder_link_seen(port);
	return true;
}

/* The other end has been probed too, and is at another cable, or has none. */
static bool is_contradicted(const struct builder_port *far)
{
	return builder_far_end(far) || (far->peer && builder_cable_is(far, CABLE_SEEN)) ||
	       builder_is_down(far);
}

static bool is_at_its_place(const struct sm *sm, const struct builder_port *far)
{
	bool met = sm->sweep.kind != SWEEP_KIND_HEAVY || far->node->seen == sm->builder->sweep;

	if (!builder_is_switch(far->node))
		return is_contradicted(far);
	return met && is_placed(sm, far->node);
}

/* Of two host ports with one GUID, the one found first is not in use yet, and the other is. */
static bool is_in_use_instead(const struct builder_port *port, const struct builder_port *far)
{
	return has_cable_of_its_own(far) && far->peer->info.port_state == IBA_PORT_INIT &&
	       port->info.port_state > IBA_PORT_INIT;
}

/* The device has left its previous cable: this end is probed once more, and then it counts. */
static bool find_a_place(struct sm *sm, struct builder_port *port)
{
	struct builder_port *far = port->cable.far_end;

	if (is_at_its_place(sm, far) && !is_in_use_instead(port, far))
		return false;
	if (!builder_is_switch(far->node))
		builder_lose_link(far);
	else
		for (unsigned int num = 1; num <= far->node->info.num_ports; num++)
			builder_lose_link(&far->node->ports[num]);
	port_probe(sm, port);
	return true;
}

/* That the other end is down may be newer than the report of this one: it is probed again later. */
static bool may_be_down_since(struct sm *sm, struct builder_port *port)
{
	if (!builder_is_down(port->cable.far_end) || port->cable.state == CABLE_UNSURE)
		return false;
	builder_cable(port, CABLE_EVENT_UNSURE);
	sm->schedule.traps_lost = true;
	return true;
}

static bool judge(struct sm *sm, struct builder_port *port)
{
	struct builder_port *far = port->cable.far_end;

	if (may_be_down_since(sm, port))
		return false;
	if (is_contradicted(far)) {
		leave_out(sm, port);
	} else { /* it could not be probed */
		connect_ends(sm, port, far);
		builder_link_seen(port);
	}
	return false;
}

/* Cables that only one end has reported. */
static bool for_each_half(struct sm *sm, bool (*fn)(struct sm *sm, struct builder_port *port))
{
	const GPtrArray *switches = sm->builder->switches;
	bool any = false;

	for (guint i = 0; i < switches->len; i++) {
		struct builder_node *node = switches->pdata[i];

		if (node->looked_at != sm->sweep.serial)
			continue;
		for (unsigned int num = 1; num <= node->info.num_ports; num++) {
			struct builder_port *port = &node->ports[num];
			const struct builder_port *far = builder_far_end(port);

			if (far && port->peer != far)
				any |= fn(sm, port);
		}
	}
	return any;
}

bool cables_settle(struct sm *sm)
{
	return for_each_half(sm, find_a_place) || for_each_half(sm, judge);
}
