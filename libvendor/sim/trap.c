// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Traps that the SMA of a node sends to its SM (IBA 13.4.8, 14.2.5.1), and those of its congestion
 * control agent to where ClassPortInfo says (A10.4.3.2).
 *
 * A trap is repeated until its receiver represses it, or the sender gives up. While it is being
 * repeated, a further change of the same kind restarts it with a new TransactionID instead of
 * adding another one: the SM looks at the node anyway. An end port sends traps only once an SM gave
 * it a LID and the SM's LID, and, unless it is port 0 of a switch, once it is ACTIVE.
 */
#include <string.h>

#include "libvendor/sim/sim_private.h"

#define TRAP_INTERVAL (3 * NS_PER_S)
#define TRAP_SENDS 10

static bool may_send(const struct sim_port *port, uint8_t mgmt_class)
{
	if (!port->node->up || !port->info.lid || port->info.port_state != IBA_PORT_ACTIVE)
		return false;
	if (mgmt_class == IBA_CLASS_CC)
		return sim_cc_trap_target(port) != NULL;
	return !port->node->mute && port->info.master_sm_lid;
}

static struct sim_packet *make_smp(const struct sim_trap *trap)
{
	const struct sim_port *port = trap->port;
	struct sim_packet *packet = sim_packet_new(trap->sim);
	struct iba_smp smp = {
		.header =
			{
				.base_version = IBA_BASE_VERSION,
				.mgmt_class = IBA_CLASS_SUBN_LID,
				.class_version = IBA_SMP_CLASS_VERSION,
				.method = IBA_METHOD_TRAP,
				.transaction_id = trap->tid,
				.attribute_id = IBA_ATTR_NOTICE,
			},
	};

	wire_encode(&iba_notice_type, &trap->notice, smp.data);
	wire_encode(&iba_smp_type, &smp, packet->data);
	packet->dlid = port->info.master_sm_lid;
	packet->sl = port->info.master_sm_sl;
	packet->src_qp = packet->dest_qp = IBA_QP0;
	packet->q_key = 0;
	return packet;
}

static struct sim_packet *make_gmp(const struct sim_trap *trap)
{
	const struct iba_class_port_info *to = sim_cc_trap_target(trap->port);
	struct sim_packet *packet = sim_packet_new(trap->sim);
	struct iba_sa_notice notice = {
		.notice = trap->notice,
		.issuer_gid = {trap->port->info.gid_prefix, trap->port->guid},
	};
	struct iba_cc_mad mad = {
		.header =
			{
				.base_version = IBA_BASE_VERSION,
				.mgmt_class = IBA_CLASS_CC,
				.class_version = IBA_CC_CLASS_VERSION,
				.method = IBA_METHOD_TRAP,
				.transaction_id = trap->tid,
				.attribute_id = IBA_ATTR_NOTICE,
			},
	};

	wire_encode(&iba_sa_notice_type, &notice, mad.data);
	wire_encode(&iba_cc_mad_type, &mad, packet->data);
	packet->dlid = to->trap_lid;
	packet->sl = to->trap_sl;
	packet->p_key = to->trap_p_key;
	packet->src_qp = IBA_QP1;
	packet->dest_qp = to->trap_qp;
	packet->q_key = to->trap_q_key;
	return packet;
}

static void send_once(struct sim *sim, const struct sim_trap *trap)
{
	const struct sim_port *port = trap->port;
	struct sim_packet *packet;

	sim->counters.traps++;
	if (sim->traps_lost)
		return;
	packet = trap->mgmt_class == IBA_CLASS_CC ? make_gmp(trap) : make_smp(trap);
	packet->node = port->node;
	packet->port = port->number;
	packet->slid = port->info.lid;
	packet->grh = (struct vendor_address){0};
	sim_inject(packet);
}

static void trap_free(struct sim_trap *trap)
{
	struct sim_trap **at = &trap->port->node->traps;

	while (*at != trap)
		at = &(*at)->next;
	*at = trap->next;
	timer_stop(&trap->timer);
	g_free(trap);
}

static void trap_fire(struct timer *timer)
{
	struct sim_trap *trap = (struct sim_trap *)timer;

	if (!trap->left || !may_send(trap->port, trap->mgmt_class)) {
		trap_free(trap);
		return;
	}
	trap->left--;
	timer_start(&trap->timer, TRAP_INTERVAL);
	/* Last: without latencies a TrapRepress may end this trap during the call. */
	send_once(trap->sim, trap);
}

/* The trap of the same kind that is being repeated. */
static struct sim_trap *find(const struct sim_port *port, uint8_t mgmt_class,
			     const struct iba_notice *notice)
{
	struct sim_trap *trap = port->node->traps;

	while (trap && (trap->port != port || trap->mgmt_class != mgmt_class ||
			trap->notice.trap_number != notice->trap_number ||
			trap->notice.is_generic != notice->is_generic))
		trap = trap->next;
	return trap;
}

/* The first copy is sent by a separate event, as its cause is still being handled. */
static bool notice_start(struct sim *sim, struct sim_port *port, uint8_t mgmt_class,
			 const struct iba_notice *notice)
{
	struct sim_node *node = port->node;
	struct sim_trap *trap = find(port, mgmt_class, notice);

	if (!may_send(port, mgmt_class))
		return false;
	if (!trap) {
		trap = g_new0(struct sim_trap, 1);
		trap->sim = sim;
		trap->port = port;
		trap->mgmt_class = mgmt_class;
		trap->next = node->traps;
		node->traps = trap;
		timer_init(&trap->timer, sim->actor, trap_fire);
	}
	trap->left = TRAP_SENDS;
	trap->tid = ++sim->next_tid;
	trap->notice = *notice;
	timer_start(&trap->timer, 0);
	return true;
}

static struct iba_notice notice_of(const struct sim_port *port, uint16_t number, uint8_t type,
				   const struct wire_type *details_type, const void *details)
{
	struct iba_notice notice = {
		.is_generic = 1,
		.type = type,
		.producer_type = port->node->type, /* the codes are the same: 13.4.8.2 */
		.trap_number = number,
		.issuer_lid = port->info.lid,
	};

	g_assert(wire_bytes(details_type) == sizeof(notice.data_details));
	wire_encode(details_type, details, notice.data_details);
	return notice;
}

static void trap_start(struct sim *sim, struct sim_port *port, uint16_t number,
		       const struct wire_type *type, const void *details)
{
	uint8_t urgency = number == IBA_TRAP_LINK_STATE_CHANGE ? IBA_NOTICE_URGENT
			  : number >= IBA_TRAP_BAD_M_KEY       ? IBA_NOTICE_SECURITY
							       : IBA_NOTICE_INFO;
	struct iba_notice notice = notice_of(port, number, urgency, type, details);

	notice_start(sim, port, IBA_CLASS_SUBN_LID, &notice);
}

bool sim_trap(struct sim *sim, unsigned int node, unsigned int port,
	      const struct iba_notice *notice)
{
	struct sim_node *from = sim_node_at(sim, node);
	unsigned int number = from->sw ? 0 : port;

	if (number > from->num_ports || (!from->sw && !number))
		return false;
	return notice_start(sim, &from->ports[number], IBA_CLASS_SUBN_LID, notice);
}

/* ---- violations of keys: 14.3.8 to 14.3.11 ---- */

/* One trap of a kind at a time: many violations do not cause a storm of traps. */
static void violation_start(struct sim *sim, struct sim_port *port, uint16_t number,
			    const struct wire_type *type, const void *details)
{
	const struct iba_notice kind = {.is_generic = 1, .trap_number = number};

	if (!find(port, IBA_CLASS_SUBN_LID, &kind))
		trap_start(sim, port, number, type, details);
}

void sim_trap_m_key(const struct sim_packet *packet, struct sim_port *port)
{
	const uint8_t *data = packet->data;
	struct iba_trap_m_key details = {
		.lid = packet->slid,
		.method = data[SIM_MAD_METHOD],
		.attribute_id = sim_read16(data + SIM_MAD_ATTRIBUTE),
		.attribute_modifier = sim_read32(data + SIM_MAD_MODIFIER),
		.m_key = sim_read64(data + SIM_MAD_M_KEY),
		.dr_notice = data[SIM_MAD_CLASS] == IBA_CLASS_SUBN_DIRECTED,
	};
	unsigned int hops = data[SIM_MAD_HOP_COUNT] % IBA_MAX_HOPS;

	if (details.dr_notice) {
		details.dr_slid = sim_read16(data + SIM_MAD_DR_SLID);
		details.dr_hop_count = hops;
		details.dr_path_truncated = hops > sizeof(details.dr_notice_return_path);
		memcpy(details.dr_notice_return_path, data + SIM_MAD_RETURN_PATH + 1,
		       MIN(hops, sizeof(details.dr_notice_return_path)));
	}
	violation_start(packet->sim, port, IBA_TRAP_BAD_M_KEY, &iba_trap_m_key_type, &details);
}

void sim_trap_key(const struct sim_packet *packet, struct sim_port *port, uint16_t number)
{
	struct iba_trap_key details = {
		.lid1 = packet->slid,
		.lid2 = packet->dlid,
		.key = number == IBA_TRAP_BAD_P_KEY ? packet->p_key : packet->q_key,
		.sl = packet->sl,
		.qp1 = packet->src_qp,
		.qp2 = packet->dest_qp,
	};

	if (packet->grh.has_grh) {
		details.gid1 = packet->grh.gid;
		details.gid2.prefix = port->info.gid_prefix;
		details.gid2.guid = port->guid;
	}
	violation_start(packet->sim, port, number, &iba_trap_key_type, &details);
}

#define VALID_WITHOUT_GRH 0x3F /* LIDs, P_Key, SL and QPs */

void sim_trap_switch_p_key(const struct sim_packet *packet, const struct sim_port *port)
{
	struct sim_port *end = &port->node->ports[0];
	const struct iba_trap_switch_p_key details = {
		.data_valid = VALID_WITHOUT_GRH,
		.lid1 = packet->slid,
		.lid2 = packet->dlid,
		.p_key = packet->p_key,
		.sl = packet->sl,
		.qp1 = packet->src_qp,
		.qp2 = packet->dest_qp,
		.sw_lid = end->info.lid,
		.port_num = port->number,
	};

	violation_start(packet->sim, end, IBA_TRAP_SWITCH_BAD_P_KEY, &iba_trap_switch_p_key_type,
			&details);
}

void sim_trap_cc_key(const struct sim_packet *packet, struct sim_port *port)
{
	const uint8_t *data = packet->data;
	const struct iba_trap_cc_key details = {
		.slid = packet->slid,
		.method = data[SIM_MAD_METHOD],
		.attribute_id = sim_read16(data + SIM_MAD_ATTRIBUTE),
		.attribute_modifier = sim_read32(data + SIM_MAD_MODIFIER),
		.qp = packet->src_qp,
		.cc_key = sim_read64(data + SIM_MAD_CC_KEY),
		.source_gid = packet->grh.has_grh ? packet->grh.gid : (struct iba_gid){0},
	};
	struct iba_notice notice = notice_of(port, IBA_CC_TRAP_BAD_CC_KEY, IBA_NOTICE_SECURITY,
					     &iba_trap_cc_key_type, &details);

	if (!find(port, IBA_CLASS_CC, &notice))
		notice_start(packet->sim, port, IBA_CLASS_CC, &notice);
}

/* ---- changes ---- */

void sim_trap_port_change(struct sim *sim, struct sim_node *node)
{
	const struct iba_trap_switch details = {.lid = node->ports[0].info.lid};

	trap_start(sim, &node->ports[0], IBA_TRAP_LINK_STATE_CHANGE, &iba_trap_switch_type,
		   &details);
}

void sim_trap_local_change(struct sim *sim, struct sim_port *port, uint16_t change_flags)
{
	const struct iba_trap_local_change details = {
		.lid = port->info.lid,
		.other_local_changes = change_flags != 0,
		.capability_mask = port->info.capability_mask,
		.capability_mask2 = port->info.capability_mask2,
		.change_flags = change_flags,
	};

	trap_start(sim, port, IBA_TRAP_LOCAL_CHANGES, &iba_trap_local_change_type, &details);
}

/* ---- their end ---- */

static struct sim_trap *find_tid(const struct sim_port *port, uint8_t mgmt_class, uint64_t tid)
{
	struct sim_trap *trap = port->node->traps;

	while (trap && (trap->mgmt_class != mgmt_class || trap->tid != tid))
		trap = trap->next;
	return trap;
}

bool sim_trap_repress(struct sim_port *port, const struct sim_packet *packet)
{
	const uint8_t *data = packet->data;
	struct sim_trap *trap = find_tid(port, IBA_CLASS_SUBN_LID, sim_read64(data + SIM_MAD_TID));

	if (!trap)
		return false;
	/* A sender that does not know the M_Key cannot repress the trap. */
	if (sim_m_key_passes(packet->sim, port, sim_read64(data + SIM_MAD_M_KEY),
			     IBA_METHOD_TRAP_REPRESS))
		trap_free(trap);
	return true;
}

bool sim_trap_is_repeated(const struct sim_port *port, uint8_t mgmt_class, uint64_t tid)
{
	const struct sim_trap *trap = find_tid(port, mgmt_class, tid);

	return trap && trap->port == port;
}

void sim_trap_end(struct sim_port *port, uint8_t mgmt_class, uint64_t tid)
{
	trap_free(find_tid(port, mgmt_class, tid));
}

void sim_trap_clear_class(struct sim_node *node, uint8_t mgmt_class)
{
	for (struct sim_trap *trap = node->traps, *next; trap; trap = next) {
		next = trap->next;
		if (trap->mgmt_class == mgmt_class)
			trap_free(trap);
	}
}

void sim_trap_clear(struct sim_node *node)
{
	while (node->traps)
		trap_free(node->traps);
}
