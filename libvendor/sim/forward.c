// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Forwarding: hop by hop, by the tables that were actually programmed.
 *
 * A packet is always at one node, which it entered through one of its ports. It is LID-routed while
 * the LRH has a DLID, and on a directed hop while that is the permissive LID; a mixed route changes
 * between the two at a switch (IBA 14.2.2). LID-routed hops need no software and are made at once,
 * adding up their latency; a directed hop is made by the SMA of the switch and is queued there. So
 * a packet costs one event (a timer of the sim's actor) for each SMA that handles it, and none in a
 * fabric without latencies.
 *
 * SMPs travel on VL15 as soon as the link is up, and no counter of the ports counts them; GMPs pass
 * only where both ports are ACTIVE.
 */
#include <string.h>

#include "libvendor/sim/sim_private.h"

#define LINK_HOPS_MAX 64

/* ---- packets ---- */

static void list_add(struct sim_packet **list, struct sim_packet *packet)
{
	packet->next = *list;
	packet->prev = list;
	if (*list)
		(*list)->prev = &packet->next;
	*list = packet;
}

static void list_remove(struct sim_packet *packet)
{
	*packet->prev = packet->next;
	if (packet->next)
		packet->next->prev = packet->prev;
}

static void packet_fire(struct timer *timer);

struct sim_packet *sim_packet_new(struct sim *sim)
{
	struct sim_packet *packet = sim->free_packets;

	if (packet) {
		sim->free_packets = packet->next;
	} else {
		packet = g_new0(struct sim_packet, 1);
		packet->sim = sim;
		timer_init(&packet->timer, sim->actor, packet_fire);
	}
	packet->hops = 0;
	packet->delay = 0;
	packet->from_here = true;
	packet->stage = SIM_ARRIVING;
	return packet;
}

void sim_packet_free(struct sim_packet *packet)
{
	packet->next = packet->sim->free_packets;
	packet->sim->free_packets = packet;
}

/* Notes why a packet is not forwarded. */
static bool refuse(struct sim_packet *packet, const char *why)
{
	packet->why = why;
	return false;
}

void sim_packet_drop(struct sim_packet *packet, const char *why)
{
	const uint8_t *data = packet->data;

	packet->sim->counters.dropped++;
	log_debug(packet->sim->log,
		  "Dropped at '%s' port %u: %s (class 0x%02x method 0x%02x attribute 0x%04x, "
		  "LIDs %u to %u)",
		  packet->node->description, packet->port, why, data[SIM_MAD_CLASS],
		  data[SIM_MAD_METHOD], sim_read16(data + SIM_MAD_ATTRIBUTE), packet->slid,
		  packet->dlid);
	sim_packet_free(packet);
}

/* ---- one hop ---- */

static bool may_pass(const struct sim_packet *packet, const struct sim_port *port)
{
	if (sim_is_smp(packet))
		return port->info.port_physical_state == IBA_PHYS_LINK_UP &&
		       port->info.port_state >= IBA_PORT_INIT;
	return port->info.port_state == IBA_PORT_ACTIVE;
}

static bool discard(struct sim_packet *packet, struct sim_port *port)
{
	if (!sim_is_smp(packet)) {
		sim_count(port, SIM_COUNT_PORT_XMIT_DISCARDS, 1);
		sim_count(port, SIM_COUNT_PORT_INACTIVE_DISCARDS, 1);
	}
	return refuse(packet, "the link on its route is not up");
}

static bool is_enforced(const struct sim_packet *packet, const struct sim_port *port, bool inbound)
{
	return port->node->sw && !sim_is_smp(packet) &&
	       (inbound ? port->info.partition_enforcement_inbound
			: port->info.partition_enforcement_outbound);
}

/*
 * 10.9.6: a switch port that enforces partitions. SMs give it the P_Keys of the host behind it.
 * Packets from that host carry one of these, possibly as limited member, where two limited members
 * would not match by 10.9.3; packets to the host must match one of them.
 */
static bool table_passes(const struct sim_port *port, uint16_t p_key, bool inbound)
{
	return sma_find_p_key(port, inbound ? p_key | IBA_P_KEY_FULL_MEMBER : p_key) >= 0;
}

static bool partition_passes(const struct sim_packet *packet, struct sim_port *port, bool inbound)
{
	if (!is_enforced(packet, port, inbound) || table_passes(port, packet->p_key, inbound))
		return true;
	if (port->info.p_key_violations < 0xFFFF)
		port->info.p_key_violations++;
	sim_count(port,
		  inbound ? SIM_COUNT_PORT_RCV_CONSTRAINT_ERRORS
			  : SIM_COUNT_PORT_XMIT_CONSTRAINT_ERRORS,
		  1);
	sim_trap_switch_p_key(packet, port);
	return false;
}

/* By SL, VL and OpCode, at the ends whose agent has such attributes. */
static void count_lanes(const struct sim_packet *packet, struct sim_port *port,
			struct sim_port *peer)
{
	const struct sim_lanes lanes = {
		.packets = 1,
		.words = sim_words(packet),
		.sl = packet->sl & 0xF,
		.vl = sma_vl(port, packet->from_here ? 0 : packet->port, packet->sl & 0xF),
		.op = SIM_OP_MAD,
	};

	if (port->node->pma & SIM_PMA_OPTIONAL)
		sim_count_lanes(port, &lanes, true);
	if (peer->node->pma & SIM_PMA_OPTIONAL && !port->black_hole)
		sim_count_lanes(peer, &lanes, false);
}

/* The enhanced port 0 of a switch sends into the switch what the switch sends. */
static void count_port0(const struct sim_packet *packet)
{
	struct sim_node *node = packet->node;

	if (node->sw && packet->from_here && node->pma & SIM_PMA_PORT0)
		sim_count_sent(packet, &node->ports[0]);
}

/* Packets on data VLs are checked for their partition, and counted; SMPs on VL15 are not. */
static bool gmp_passes(struct sim_packet *packet, struct sim_port *port, struct sim_port *peer)
{
	if (!partition_passes(packet, port, false))
		return refuse(packet, "its P_Key may not leave by this port");
	count_port0(packet);
	sim_count_sent(packet, port);
	if ((port->node->pma | peer->node->pma) & SIM_PMA_OPTIONAL)
		count_lanes(packet, port, peer);
	if (port->black_hole)
		return true;
	sim_count_received(packet, peer);
	return partition_passes(packet, peer, true) ||
	       refuse(packet, "its P_Key may not come in by the next port");
}

/* Sends the packet out of a port and over its cable. False: it does not leave. */
static bool transmit(struct sim_packet *packet, unsigned int out)
{
	struct sim_node *node = packet->node;
	struct sim_port *port, *peer;

	if (out < 1 || out > node->num_ports)
		return refuse(packet, "its route leads out of no port");
	if (++packet->hops > LINK_HOPS_MAX)
		return refuse(packet, "its route has no end");
	port = &node->ports[out];
	peer = port->peer ? &port->peer->ports[port->peer_number] : NULL;
	if (!peer || !may_pass(packet, port) || !may_pass(packet, peer))
		return discard(packet, port);
	if (!sim_is_smp(packet) && !gmp_passes(packet, port, peer))
		return false;
	if (port->black_hole)
		return refuse(packet, "the port is a black hole");
	packet->node = port->peer;
	packet->port = port->peer_number;
	packet->from_here = false;
	packet->delay += packet->sim->config.hop_ns;
	return true;
}

uint8_t sim_route(const struct sim_switch *sw, uint16_t lid)
{
	return sw->lft && lid <= sw->info.linear_fdb_top && lid < sw->info.linear_fdb_cap
		       ? sw->lft[lid]
		       : IBA_PORT_NONE;
}

static bool relay_error(struct sim_packet *packet, enum sim_port_counter which)
{
	struct sim_port *port = &packet->node->ports[packet->port];

	if (!packet->from_here && !sim_is_smp(packet)) {
		sim_count(port, SIM_COUNT_PORT_RCV_SWITCH_RELAY_ERRORS, 1);
		sim_count(port, which, 1);
	}
	return refuse(packet, which == SIM_COUNT_PORT_LOOPING_ERRORS ? "its route turns back"
								     : "no route to its LID");
}

/* Whether a switch on the way handles the packet itself: sim_set_lid_hops_max(). */
static bool is_taken(const struct sim_packet *packet)
{
	unsigned int max = packet->sim->lid_hops_max;

	return max && packet->hops >= max && sim_is_smp(packet);
}

/* Forwards through all switches to the end port with the DLID. False: the packet was lost. */
static bool route_by_lid(struct sim_packet *packet)
{
	for (;;) {
		struct sim_node *node = packet->node;
		uint8_t out;

		if (!node->sw) {
			if (sim_owns_lid(&node->ports[packet->port], packet->dlid))
				return true;
			if (!packet->from_here)
				return refuse(packet, "its LID is not that of this port");
			if (!transmit(packet, packet->port))
				return false;
			continue;
		}
		if (is_taken(packet)) {
			packet->port = packet->from_here ? 0 : packet->port;
			return true;
		}
		out = sim_route(node->sw, packet->dlid);
		if (out == 0) {
			packet->port = packet->from_here ? 0 : packet->port;
			return sim_owns_lid(&node->ports[0], packet->dlid) ||
			       refuse(packet, "its LID is not that of this switch");
		}
		if (out == IBA_PORT_NONE)
			return relay_error(packet, SIM_COUNT_PORT_DLID_MAPPING_ERRORS);
		/* A packet is not sent back to where it came from (IBA 18.2.4.3). */
		if (out == packet->port && !packet->from_here)
			return relay_error(packet, SIM_COUNT_PORT_LOOPING_ERRORS);
		if (!transmit(packet, out))
			return false;
	}
}

/* ---- directed routes: IBA 14.2.2 ---- */

enum smi_verdict {
	SMI_DROP,
	SMI_HOP,   /* by port *out */
	SMI_LID,   /* LID-routed to *lid */
	SMI_LOCAL, /* it is for this node */
};

/* The directed part of a request ends here; a LID-routed part may follow. */
static enum smi_verdict smi_tail(const struct sim_packet *packet, unsigned int at, uint16_t *lid)
{
	*lid = sim_read16(packet->data + at);
	if (*lid == IBA_LID_PERMISSIVE)
		return SMI_LOCAL;
	if (!packet->sim->config.mixed_routing || (!packet->node->sw && !packet->from_here))
		return SMI_DROP;
	return SMI_LID;
}

/* 14.2.2.1 and 14.2.2.2: the initial path. */
static enum smi_verdict smi_request(struct sim_packet *packet, uint8_t *out, uint16_t *lid)
{
	uint8_t *data = packet->data;
	uint8_t count = data[SIM_MAD_HOP_COUNT];
	uint8_t *pointer = &data[SIM_MAD_HOP_POINTER];
	bool is_switch = packet->node->sw != NULL;

	if (count >= IBA_MAX_HOPS || *pointer > count + 1)
		return SMI_DROP;
	if (*pointer == count + 1)
		return SMI_LOCAL;
	if (*pointer && !packet->from_here)
		data[SIM_MAD_RETURN_PATH + *pointer] = packet->port;
	if (*pointer == count) {
		++*pointer;
		return smi_tail(packet, SIM_MAD_DR_DLID, lid);
	}
	if (!is_switch && !packet->from_here)
		return SMI_DROP;
	/* The LID-routed part ends here. */
	if (!*pointer && !packet->from_here && !packet->sim->config.mixed_routing)
		return SMI_DROP;
	*out = data[SIM_MAD_INITIAL_PATH + ++*pointer];
	if (!is_switch && *out != packet->port)
		return SMI_DROP;
	packet->sim->counters.directed_hops++;
	return SMI_HOP;
}

/* 14.2.2.3 and 14.2.2.4: the return path. */
static enum smi_verdict smi_response(struct sim_packet *packet, uint8_t *out, uint16_t *lid)
{
	uint8_t *data = packet->data;
	uint8_t count = data[SIM_MAD_HOP_COUNT];
	uint8_t *pointer = &data[SIM_MAD_HOP_POINTER];

	if (count >= IBA_MAX_HOPS || *pointer > count + 1)
		return SMI_DROP;
	if (!*pointer)
		return SMI_LOCAL;
	--*pointer;
	if (!*pointer)
		return smi_tail(packet, SIM_MAD_DR_SLID, lid);
	if (!packet->node->sw && !packet->from_here)
		return SMI_DROP;
	*out = data[SIM_MAD_RETURN_PATH + *pointer];
	if (!packet->node->sw && *out != packet->port)
		return SMI_DROP;
	return SMI_HOP;
}

/* ---- a packet's path ---- */

/* Whether software of the node handles it; a client's answer at an end port bypasses the SMA. */
static bool needs_sma(const struct sim_packet *packet)
{
	if (!sim_is_smp(packet) ||
	    (packet->from_here && !sim_is_returning(packet) && packet->data[SIM_MAD_HOP_COUNT]))
		return false;
	if (packet->from_here)
		return packet->data[SIM_MAD_METHOD] <= IBA_METHOD_SET;
	return packet->node->sw || packet->data[SIM_MAD_METHOD] <= IBA_METHOD_SET;
}

/* Waits for delay. */
static void packet_wait(struct sim_packet *packet, uint64_t delay)
{
	packet->delay = 0;
	list_add(&packet->sim->waiting, packet);
	timer_start(&packet->timer, delay);
}

/* Whether the node answers the request itself, rather than forwarding it. */
static bool is_served_here(const struct sim_packet *packet)
{
	const uint8_t *data = packet->data;

	if (data[SIM_MAD_METHOD] > IBA_METHOD_SET)
		return false;
	return data[SIM_MAD_CLASS] != IBA_CLASS_SUBN_DIRECTED ||
	       (data[SIM_MAD_HOP_POINTER] >= data[SIM_MAD_HOP_COUNT] &&
		sim_read16(data + SIM_MAD_DR_DLID) == IBA_LID_PERMISSIVE);
}

static bool sets_all_rows(const struct sim_packet *packet)
{
	const uint32_t all = IBA_SL_TO_VL_MOD_ALL_INPUT | IBA_SL_TO_VL_MOD_ALL_OUTPUT;

	return packet->data[SIM_MAD_METHOD] == IBA_METHOD_SET &&
	       sim_read16(packet->data + SIM_MAD_ATTRIBUTE) == IBA_ATTR_SL_TO_VL_TABLE &&
	       (sim_read32(packet->data + SIM_MAD_MODIFIER) & all) == all;
}

/* True if the packet now waits in the queue of an SMA. */
static bool queue_at_sma(struct sim_packet *packet)
{
	struct sim_node *node = packet->node;
	uint64_t service = packet->sim->config.sma_ns, *busy_until = &node->busy_until;
	uint64_t now, start;

	if (!needs_sma(packet))
		return false;
	if (is_served_here(packet) && (node->get_ns || node->set_ns)) {
		service = packet->data[SIM_MAD_METHOD] == IBA_METHOD_SET ? node->set_ns
									 : node->get_ns;
		busy_until = &node->serves_until;
	}
	if (node->wildcard_ns && is_served_here(packet)) {
		service = sets_all_rows(packet) ? node->wildcard_ns : service;
		busy_until = &node->serves_until;
	}
	if (!service)
		return false;
	now = actor_now(packet->sim->actor);
	start = MAX(now, *busy_until);
	*busy_until = start + service;
	packet->stage = SIM_SERVED;
	packet_wait(packet, start + service - now);
	return true;
}

/* Forwards it from a node that handled it. False: it is for this node. */
static bool hand_on(struct sim_packet *packet, bool *lost)
{
	uint8_t out = 0;
	uint16_t lid = 0;
	enum smi_verdict verdict;

	*lost = false;
	if (packet->data[SIM_MAD_CLASS] != IBA_CLASS_SUBN_DIRECTED)
		return false;
	if (packet->node->sw && packet->node->hung && !packet->from_here) {
		packet->why = "the SMA of a switch on its directed route hangs";
		*lost = true;
		return true;
	}
	verdict = sim_is_returning(packet) ? smi_response(packet, &out, &lid)
					   : smi_request(packet, &out, &lid);
	switch (verdict) {
	case SMI_LOCAL:
		return false;
	case SMI_HOP:
		packet->dlid = IBA_LID_PERMISSIVE;
		packet->slid = IBA_LID_PERMISSIVE;
		*lost = !transmit(packet, out);
		return true;
	case SMI_LID:
		packet->slid = sim_end_port(packet->node, packet->port)->info.lid;
		packet->dlid = lid;
		packet->from_here = true; /* its LID-routed part begins here */
		packet->hops = 0;
		*lost = !route_by_lid(packet);
		return true;
	default:
		packet->why = "its directed route is wrong";
		*lost = true;
		return true;
	}
}

static void packet_run(struct sim_packet *packet)
{
	bool lost;

	for (;;) {
		if (packet->stage == SIM_ARRIVING) {
			if (packet->delay) {
				packet_wait(packet, packet->delay);
				return;
			}
			if (!packet->node->up) {
				sim_packet_drop(packet, "the node is switched off");
				return;
			}
			if (queue_at_sma(packet))
				return;
		}
		packet->stage = SIM_ARRIVING;
		if (!hand_on(packet, &lost))
			break;
		if (lost) {
			sim_packet_drop(packet, packet->why);
			return;
		}
	}
	sim_local(packet);
}

static void packet_fire(struct timer *timer)
{
	struct sim_packet *packet = (struct sim_packet *)timer;

	list_remove(packet);
	packet_run(packet);
}

/* First step of a packet: if it has a DLID, it is first forwarded by that. */
static void packet_start(struct sim_packet *packet)
{
	if (packet->dlid == IBA_LID_PERMISSIVE &&
	    packet->data[SIM_MAD_CLASS] != IBA_CLASS_SUBN_DIRECTED) {
		sim_packet_drop(packet, "the permissive LID without a directed route");
		return;
	}
	if (packet->dlid != IBA_LID_PERMISSIVE) {
		if (!route_by_lid(packet)) {
			sim_packet_drop(packet, packet->why);
			return;
		}
	}
	packet_run(packet);
}

/* ---- entering the fabric ---- */

static void mix(uint64_t *digest, uint64_t word)
{
	*digest = (*digest ^ word) * UINT64_C(0x100000001B3);
	*digest ^= *digest >> 29;
}

static void record(struct sim *sim, const struct sim_packet *packet)
{
	uint64_t guid = sim_end_port(packet->node, packet->port)->guid;
	uint64_t word;

	mix(&sim->digest, actor_now(sim->actor));
	mix(&sim->digest, guid);
	mix(&sim->digest, (uint64_t)packet->dlid << 16 | packet->slid);
	for (unsigned int i = 0; i < IBA_MAD_BYTES; i += sizeof(word)) {
		memcpy(&word, packet->data + i, sizeof(word));
		mix(&sim->digest, word);
	}
	if (sim->trace) {
		const struct vendor_address to = {
			.lid = packet->dlid,
			.sl = packet->sl,
			.qpn = packet->dest_qp,
			.qkey = packet->q_key,
		};

		sim->trace(sim->trace_arg, actor_now(sim->actor), &to, guid, packet->data,
			   IBA_MAD_BYTES);
	}
}

static void count(struct sim *sim, const struct sim_packet *packet)
{
	if (!sim_is_smp(packet)) {
		sim->counters.gmps++;
		return;
	}
	sim->counters.smps++;
	if (packet->data[SIM_MAD_CLASS] == IBA_CLASS_SUBN_DIRECTED && !sim_is_returning(packet) &&
	    packet->data[SIM_MAD_HOP_COUNT])
		sim->counters.directed_smps++;
}

static void jitter(struct sim_packet *packet)
{
	uint64_t range = packet->sim->config.jitter_ns;

	if (range)
		packet->delay += sim_draw(packet->sim) % range;
}

static void duplicate(const struct sim_packet *packet)
{
	struct sim_packet *twin = sim_packet_new(packet->sim);
	struct timer timer = twin->timer;

	*twin = *packet;
	twin->timer = timer;
	jitter(twin);
	packet_start(twin);
}

/*
 * Whether the octet is part of the path. Changing it could send a Set to another device, which no
 * defect of memory or cables does.
 */
static bool is_of_path(const struct sim_packet *packet, unsigned int octet)
{
	return packet->data[SIM_MAD_CLASS] == IBA_CLASS_SUBN_DIRECTED &&
	       (octet == SIM_MAD_HOP_POINTER || octet == SIM_MAD_HOP_COUNT ||
		octet >= SIM_MAD_INITIAL_PATH);
}

static void corrupt(struct sim_packet *packet)
{
	unsigned int bit = sim_draw(packet->sim) % (IBA_MAD_BYTES * 8);

	if (is_of_path(packet, bit / 8))
		bit = SIM_MAD_SMP_DATA * 8 + bit % (IBA_SMP_DATA_BYTES * 8);
	packet->data[bit / 8] ^= 0x80 >> bit % 8;
	packet->sim->counters.corrupted++;
}

bool sim_packet_lost(struct sim_packet *packet, double probability)
{
	if (!sim_chance(packet->sim, probability))
		return false;
	packet->sim->counters.lost++;
	sim_packet_free(packet);
	return true;
}

void sim_inject(struct sim_packet *packet)
{
	struct sim *sim = packet->sim;

	count(sim, packet);
	record(sim, packet);
	if (sim_packet_lost(packet, sim->config.loss) ||
	    sim_packet_lost(packet, packet->node->loss))
		return;
	if (sim_chance(sim, sim->config.duplicate))
		duplicate(packet);
	if (sim_chance(sim, sim->config.corrupt))
		corrupt(packet);
	jitter(packet);
	packet_start(packet);
}

void sim_forward_clear(struct sim *sim)
{
	while (sim->waiting) {
		struct sim_packet *packet = sim->waiting;

		timer_stop(&packet->timer);
		list_remove(packet);
		g_free(packet);
	}
	while (sim->free_packets) {
		struct sim_packet *packet = sim->free_packets;

		sim->free_packets = packet->next;
		g_free(packet);
	}
}
