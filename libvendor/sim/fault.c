// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Faults caused by tests and the console: of links, cables, nodes, agents and packets.
 *
 * Every function runs on the sim's actor and acts at once; faults that take time (a flapping link)
 * use a timer of that actor, so that in a virtual runtime the same calls give the same events. A
 * fault of a cable moves with the cable, a fault of a port stays with the port, and a fault of a
 * node's agent outlives a power cycle: it is not a state of the node, but a property of its
 * firmware.
 */
#include <string.h>

#include "libvendor/sim/sim_private.h"

#define SYMBOL_ERRORS 16 /* on a link whose signal gets bad */

/* ---- links that flap ---- */

struct sim_flap {
	struct timer timer;
	struct sim *sim;
	struct sim_port *port;
	struct sim_flap *next;
	uint64_t down_ns, up_ns;
	unsigned int left; /* times it will still come up */
};

static struct sim_port *far_end(const struct sim_port *port)
{
	return &port->peer->ports[port->peer_number];
}

/* For a link that is about to fail or was trained again: counts some errors at both ends. */
static void count_bad_signal(struct sim_port *port)
{
	struct sim_port *ends[] = {port, far_end(port)};

	for (unsigned int i = 0; i < G_N_ELEMENTS(ends); i++) {
		if (!sim_is_link_up(ends[i]))
			continue;
		sim_count(ends[i], SIM_COUNT_SYMBOL_ERROR, SYMBOL_ERRORS);
		sim_count(ends[i], SIM_COUNT_LINK_ERROR_RECOVERY, 1);
	}
}

static void set_cable(struct sim *sim, struct sim_port *port, bool plugged)
{
	port->cable = plugged;
	far_end(port)->cable = plugged;
	sim_link_update(sim, port);
}

static void flap_free(struct sim_flap *flap)
{
	struct sim_flap **at = &flap->sim->flaps;

	while (*at != flap)
		at = &(*at)->next;
	*at = flap->next;
	timer_stop(&flap->timer);
	g_free(flap);
}

static void flap_fire(struct timer *timer)
{
	struct sim_flap *flap = (struct sim_flap *)timer;

	if (flap->port->cable) {
		timer_start(timer, flap->down_ns);
		count_bad_signal(flap->port);
		set_cable(flap->sim, flap->port, false);
		return;
	}
	set_cable(flap->sim, flap->port, true);
	if (--flap->left)
		timer_start(timer, flap->up_ns);
	else
		flap_free(flap);
}

/* Any other change of the cable ends its flapping; returns whether it did. */
static bool flap_end(struct sim *sim, const struct sim_port *port)
{
	bool ended = false;

	for (struct sim_flap *flap = sim->flaps, *next; flap; flap = next) {
		next = flap->next;
		if (flap->port != port && far_end(flap->port) != port)
			continue;
		flap_free(flap);
		ended = true;
	}
	return ended;
}

bool sim_link_flap(struct sim *sim, unsigned int node, unsigned int number, uint64_t down_ns,
		   uint64_t up_ns, unsigned int times)
{
	struct sim_port *port = sim_port_at(sim, node, number);
	struct sim_flap *flap;

	if (!port->peer)
		return false;
	flap_end(sim, port);
	set_cable(sim, port, true);
	if (!times)
		return true;
	flap = g_new0(struct sim_flap, 1);
	flap->sim = sim;
	flap->port = port;
	flap->down_ns = down_ns;
	flap->up_ns = up_ns;
	flap->left = times;
	flap->next = sim->flaps;
	sim->flaps = flap;
	timer_init(&flap->timer, sim->actor, flap_fire);
	flap_fire(&flap->timer);
	return true;
}

void sim_faults_clear(struct sim *sim)
{
	while (sim->flaps)
		flap_free(sim->flaps);
}

/* ---- links and cables ---- */

bool sim_link_set(struct sim *sim, unsigned int node, unsigned int number, bool up)
{
	struct sim_port *port = sim_port_at(sim, node, number);

	if (!port->peer)
		return false;
	flap_end(sim, port);
	set_cable(sim, port, up);
	return true;
}

/* Rate of a lane in Mb/s: with and without the encoding overhead. */
static const struct {
	unsigned int from, to;
} speeds[TOPOLOGY_SPEEDS] = {
	[TOPOLOGY_SDR] = {2500, 2500},	   [TOPOLOGY_DDR] = {5000, 5000},
	[TOPOLOGY_QDR] = {10000, 10000},   [TOPOLOGY_FDR10] = {10312, 10313},
	[TOPOLOGY_FDR] = {14000, 14063},   [TOPOLOGY_EDR] = {25000, 25782},
	[TOPOLOGY_HDR] = {50000, 53125},   [TOPOLOGY_NDR] = {100000, 106250},
	[TOPOLOGY_XDR] = {200000, 212500},
};

static bool find_speed(unsigned int lane_mbps, uint8_t *speed)
{
	for (unsigned int i = 0; i < TOPOLOGY_SPEEDS; i++) {
		if (lane_mbps < speeds[i].from || lane_mbps > speeds[i].to)
			continue;
		*speed = i;
		return true;
	}
	return false;
}

bool sim_link_degrade(struct sim *sim, unsigned int node, unsigned int number, unsigned int lanes,
		      unsigned int lane_mbps)
{
	struct sim_port *port = sim_port_at(sim, node, number);
	bool known = lanes == 1 || lanes == 2 || lanes == 4 || lanes == 8 || lanes == 12;
	uint8_t speed;

	if (!port->peer || !known || !find_speed(lane_mbps, &speed))
		return false;
	port->cable_lanes = far_end(port)->cable_lanes = lanes;
	port->cable_speed = far_end(port)->cable_speed = speed;
	count_bad_signal(port);
	sim_link_bounce(sim, port);
	return true;
}

bool sim_link_black_hole(struct sim *sim, unsigned int node, unsigned int port, bool on)
{
	struct sim_node *at = sim_node_at(sim, node);

	if (port < 1 || port > at->num_ports)
		return false;
	sim_changes(sim);
	at->ports[port].black_hole = on;
	return true;
}

void sim_set_lid_hops_max(struct sim *sim, unsigned int hops)
{
	sim->lid_hops_max = hops;
}

static void plug(struct sim_port *a, struct sim_port *b)
{
	a->peer = b->node;
	a->peer_number = b->number;
	b->peer = a->node;
	b->peer_number = a->number;
}

bool sim_cable_move(struct sim *sim, unsigned int node, unsigned int number, unsigned int to_node,
		    unsigned int to_number)
{
	struct sim_port *from = sim_port_at(sim, node, number), *to, *far;
	bool plugged;

	if (!from->peer || to_number < 1 || to_number > sim_node_at(sim, to_node)->num_ports)
		return false;
	to = sim_port_at(sim, to_node, to_number);
	far = far_end(from);
	if (to == from || (to->peer && to != far))
		return false;
	plugged = flap_end(sim, from) || from->cable;
	set_cable(sim, from, false);
	from->peer = NULL;
	to->cable_lanes = from->cable_lanes;
	to->cable_speed = from->cable_speed;
	plug(far, to);
	set_cable(sim, to, plugged);
	return true;
}

/* The cable end that was in a port, after unplugging it. */
struct cable_end {
	struct sim_port *far; /* NULL: there was no cable */
	bool plugged;
	uint8_t lanes, speed;
};

static struct cable_end cable_take(struct sim *sim, struct sim_port *port)
{
	struct cable_end end = {.lanes = port->cable_lanes, .speed = port->cable_speed};

	if (!port->peer)
		return end;
	end.far = far_end(port);
	end.plugged = flap_end(sim, port) || port->cable;
	set_cable(sim, port, false);
	port->peer = end.far->peer = NULL;
	return end;
}

static void cable_put(struct sim *sim, struct sim_port *port, const struct cable_end *end)
{
	if (!end->far)
		return;
	port->cable_lanes = end->lanes;
	port->cable_speed = end->speed;
	plug(end->far, port);
	set_cable(sim, port, end->plugged);
}

bool sim_cable_swap(struct sim *sim, unsigned int node_a, unsigned int number_a,
		    unsigned int node_b, unsigned int number_b)
{
	struct sim_port *a = sim_port_at(sim, node_a, number_a);
	struct sim_port *b = sim_port_at(sim, node_b, number_b);
	struct cable_end of_a, of_b;

	if (a == b || (!a->peer && !b->peer) || (a->peer && far_end(a) == b) ||
	    (a->peer && far_end(a) == a) || (b->peer && far_end(b) == b))
		return false;
	of_a = cable_take(sim, a);
	of_b = cable_take(sim, b);
	cable_put(sim, a, &of_b);
	cable_put(sim, b, &of_a);
	return true;
}

/* ---- nodes and their agents ---- */

void sim_node_set(struct sim *sim, unsigned int index, bool up)
{
	struct sim_node *node = sim_node_at(sim, index);

	if (node->up == up)
		return;
	if (sim->traffic)
		sim_traffic_settle_all(sim); /* until the restart */
	sim_changes(sim);
	node->up = up;
	if (!up) {
		sim_trap_clear(node);
		sim_node_reset(node);
	}
	node->cc_zero = actor_now(sim->actor);
	for (unsigned int i = 1; i <= node->num_ports; i++)
		sim_link_update(sim, &node->ports[i]);
}

void sim_device_set(struct sim *sim, unsigned int index, bool there)
{
	struct sim_node *node = sim_node_at(sim, index);

	if (node->removed != there)
		return;
	node->removed = !there;
	node->returns += there;
	if (!there)
		sim_vendors_lose(sim, node, true);
	sim_node_set(sim, index, there);
	if (there)
		sim_vendors_lose(sim, node, false);
}

void sim_device_refuse(struct sim *sim, unsigned int node, bool refuses)
{
	sim_node_at(sim, node)->refuses_sends = refuses;
}

void sim_node_mute(struct sim *sim, unsigned int node, bool mute)
{
	sim_node_at(sim, node)->mute = mute;
}

void sim_node_hang(struct sim *sim, unsigned int node, bool hung)
{
	sim_node_mute(sim, node, hung);
	sim_node_at(sim, node)->hung = hung;
}

void sim_node_set_loss(struct sim *sim, unsigned int node, double loss)
{
	sim_node_at(sim, node)->loss = loss;
}

void sim_node_refuse(struct sim *sim, unsigned int node, uint16_t attribute)
{
	sim_node_at(sim, node)->refused = attribute;
}

bool sim_node_refuse_block(struct sim *sim, unsigned int index, uint16_t attribute,
			   uint32_t modifier, enum sim_refusal_kind kind)
{
	struct sim_node *node = sim_node_at(sim, index);
	struct sim_refusal *free_one = NULL;

	for (unsigned int i = 0; i < SIM_REFUSALS_MAX; i++) {
		struct sim_refusal *refusal = &node->refusals[i];

		if (refusal->kind && refusal->attribute == attribute &&
		    refusal->modifier == modifier)
			refusal->kind = SIM_REFUSE_NOT;
		if (!refusal->kind)
			free_one = refusal;
	}
	if (kind && free_one)
		*free_one = (struct sim_refusal){attribute, modifier, kind};
	return !kind || free_one;
}

void sim_node_slow_wildcards(struct sim *sim, unsigned int index, uint64_t ns)
{
	sim_node_at(sim, index)->wildcard_ns = ns;
}

void sim_node_ext_port_info(struct sim *sim, unsigned int index, bool lies, bool mute)
{
	struct sim_node *node = sim_node_at(sim, index);

	node->ext_port_info_lies = lies;
	node->ext_port_info_mute = mute;
}

bool sim_fdr10_enabled(const struct sim *sim, unsigned int node, unsigned int port)
{
	return sim_port_at(sim, node, port)->fdr10_enabled;
}

bool sim_fdr10_active(const struct sim *sim, unsigned int node, unsigned int port)
{
	return sim_port_at(sim, node, port)->fdr10_active;
}

void sim_node_set_service(struct sim *sim, unsigned int index, uint64_t get_ns, uint64_t set_ns)
{
	struct sim_node *node = sim_node_at(sim, index);

	node->get_ns = get_ns;
	node->set_ns = set_ns;
	node->serves_until = 0;
}

void sim_node_fix_speeds(struct sim *sim, unsigned int node, bool fixed)
{
	sim_node_at(sim, node)->fixed_speeds = fixed;
}

void sim_node_refuse_wildcards(struct sim *sim, unsigned int node, bool silently)
{
	sim_node_at(sim, node)->refuses_wildcards = true;
	sim_node_at(sim, node)->says_nothing_of_it = silently;
}

void sim_node_stubborn(struct sim *sim, unsigned int node, bool stubborn)
{
	sim_node_at(sim, node)->stubborn = stubborn;
}

void sim_set_node_guid(struct sim *sim, unsigned int node, uint64_t guid)
{
	sim_node_at(sim, node)->claimed_guid = guid;
}

void sim_set_m_key(struct sim *sim, unsigned int node, unsigned int port, uint64_t m_key,
		   uint8_t protect_bits, uint16_t lease)
{
	struct iba_port_info *info = &sim_node_at(sim, node)->ports[port].info;

	info->m_key = m_key;
	info->m_key_protect_bits = protect_bits;
	info->m_key_lease_period = lease;
}

void sim_set_port_info(struct sim *sim, unsigned int node, unsigned int port,
		       const struct iba_port_info *info)
{
	sim_changes(sim);
	sim_node_at(sim, node)->ports[port].info = *info;
}

void sim_set_port_guid(struct sim *sim, unsigned int node, unsigned int port, uint64_t guid)
{
	sim_node_at(sim, node)->ports[port].claimed_guid = guid;
}

void sim_set_linear_fdb_cap(struct sim *sim, unsigned int node, uint16_t cap)
{
	sim_changes(sim);
	sim_node_at(sim, node)->sw->info.linear_fdb_cap = cap;
}

void sim_set_multicast_fdb_cap(struct sim *sim, unsigned int node, uint16_t cap)
{
	sim_node_at(sim, node)->sw->info.multicast_fdb_cap = cap;
}

void sim_set_partition_cap(struct sim *sim, unsigned int index, uint16_t cap)
{
	struct sim_node *node = sim_node_at(sim, index);

	node->partition_cap = cap;
	for (unsigned int i = 0; i <= node->num_ports; i++)
		g_clear_pointer(&node->ports[i].p_keys, g_free);
}

bool sim_set_description(struct sim *sim, unsigned int index, const char *description)
{
	struct sim_node *node = sim_node_at(sim, index);

	if (strlen(description) > IBA_SMP_DATA_BYTES)
		return false;
	g_free(node->description);
	node->description = g_strdup(description);
	for (unsigned int i = node->sw ? 0 : 1; i <= (node->sw ? 0 : node->num_ports); i++)
		sim_trap_local_change(sim, &node->ports[i], IBA_TRAP_144_NODE_DESCRIPTION);
	return true;
}

void sim_set_traps_lost(struct sim *sim, bool lost)
{
	sim->traps_lost = lost;
}

/* ---- packets ---- */

void sim_set_loss(struct sim *sim, double loss)
{
	sim->config.loss = loss;
}

void sim_set_duplicate(struct sim *sim, double duplicate)
{
	sim->config.duplicate = duplicate;
}

void sim_set_corrupt(struct sim *sim, double corrupt)
{
	sim->config.corrupt = corrupt;
}

void sim_set_delay(struct sim *sim, uint64_t hop_ns, uint64_t jitter_ns)
{
	sim->config.hop_ns = hop_ns;
	sim->config.jitter_ns = jitter_ns;
}

void sim_set_timeout_delay(struct sim *sim, uint64_t max_ns)
{
	sim->config.timeout_delay_ns = max_ns;
}
