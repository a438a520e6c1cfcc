// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A packet at its destination: the SMA of the node answers it, or a client of the port gets it.
 *
 * SMInfo belongs to the SM that bound the class on a port with IsSM; without one the SMA answers
 * that it does not know the attribute.
 */
#include "libvendor/sim/sim_private.h"

/* Swaps the addresses and sends the packet from here. */
static void respond(struct sim_packet *packet)
{
	const struct sim_port *port = sim_end_port(packet->node, packet->port);
	uint16_t own = sim_owns_lid(port, packet->dlid) ? packet->dlid : port->info.lid;
	bool directed = packet->data[SIM_MAD_CLASS] == IBA_CLASS_SUBN_DIRECTED &&
			sim_read16(packet->data + SIM_MAD_DR_DLID) == IBA_LID_PERMISSIVE;
	uint16_t slid = packet->slid;

	packet->slid = directed ? IBA_LID_PERMISSIVE : own;
	packet->dlid = directed ? IBA_LID_PERMISSIVE : slid;
	packet->port = port->node->sw ? 0 : packet->port;
	packet->from_here = true;
	packet->hops = 0;
	packet->delay = 0;
	sim_inject(packet);
}

static void serve(struct sim_packet *packet)
{
	if (packet->node->mute) {
		sim_count(&packet->node->ports[MAX(packet->port, 1)], SIM_COUNT_VL15_DROPPED, 1);
		sim_packet_free(packet);
		return;
	}
	if (packet->data[SIM_MAD_METHOD] == IBA_METHOD_SET)
		packet->sim->counters.sets++;
	else
		packet->sim->counters.gets++;
	if (sim_sma(packet))
		respond(packet);
	else
		sim_packet_free(packet);
}

static bool is_for_sm(const struct sim_port *port, const struct sim_packet *packet)
{
	return sim_read16(packet->data + SIM_MAD_ATTRIBUTE) == IBA_ATTR_SM_INFO &&
	       port->info.capability_mask & IBA_PORT_CAP_SM && sim_client_takes(port, packet);
}

static void local_smp(struct sim_port *port, struct sim_packet *packet)
{
	uint8_t method = packet->data[SIM_MAD_METHOD];
	bool taken;

	if (method & IBA_METHOD_RESPONSE) {
		taken = sim_client_response(port, packet);
	} else if (method == IBA_METHOD_TRAP || method == IBA_METHOD_REPORT ||
		   is_for_sm(port, packet)) {
		taken = sim_client_unsolicited(port, packet);
	} else if (method == IBA_METHOD_TRAP_REPRESS) {
		taken = sim_client_response(port, packet) || sim_trap_repress(port, packet) ||
			sim_client_unsolicited(port, packet);
	} else {
		serve(packet);
		return;
	}
	if (taken)
		sim_packet_free(packet);
	else
		sim_packet_drop(packet, "no client takes it there");
}

static bool deliver_gmp(struct sim_port *port, struct sim_packet *packet)
{
	if (packet->dest_qp != IBA_QP1)
		return false;
	if (packet->q_key != IBA_QP1_Q_KEY) {
		if (port->info.q_key_violations < 0xFFFF)
			port->info.q_key_violations++;
		sim_trap_key(packet, port, IBA_TRAP_BAD_Q_KEY);
		return false;
	}
	if (packet->data[SIM_MAD_METHOD] & IBA_METHOD_RESPONSE)
		return sim_client_response(port, packet);
	return sim_client_unsolicited(port, packet);
}

/* Served by the agent of its class. */
static void serve_gmp(struct sim_packet *packet)
{
	if (sim_gsa(packet))
		respond(packet);
	else
		sim_packet_free(packet);
}

/* The agent of congestion control is asked even where a manager of its class listens for traps. */
static bool is_for_agent(const struct sim_port *port, const struct sim_packet *packet)
{
	return sim_gsa_serves(packet) &&
	       (packet->data[SIM_MAD_CLASS] == IBA_CLASS_CC || !sim_client_takes(port, packet));
}

static bool is_repress(const struct sim_packet *packet)
{
	return packet->data[SIM_MAD_CLASS] == IBA_CLASS_CC &&
	       packet->data[SIM_MAD_METHOD] == IBA_METHOD_TRAP_REPRESS &&
	       packet->dest_qp == IBA_QP1 && packet->q_key == IBA_QP1_Q_KEY;
}

static void local_gmp(struct sim_port *port, struct sim_packet *packet)
{
	int index = sma_find_p_key(port, packet->p_key);

	if (packet->node->sw && packet->node->pma & SIM_PMA_PORT0 && !packet->from_here)
		sim_count_received(packet, port);
	if (index < 0) {
		if (port->info.p_key_violations < 0xFFFF)
			port->info.p_key_violations++;
		sim_trap_key(packet, port, IBA_TRAP_BAD_P_KEY);
		sim_packet_drop(packet, "P_Key does not match");
		return;
	}
	packet->grh.p_key_index = index;
	if (is_for_agent(port, packet))
		serve_gmp(packet);
	else if ((is_repress(packet) && sim_cc_repress(port, packet)) || deliver_gmp(port, packet))
		sim_packet_free(packet);
	else
		sim_packet_drop(packet, "no client takes it there");
}

void sim_local(struct sim_packet *packet)
{
	struct sim_port *port = sim_end_port(packet->node, packet->port);

	if (sim_packet_lost(packet, packet->node->loss))
		return;
	if (sim_is_smp(packet) && packet->dest_qp != IBA_QP0)
		sim_packet_drop(packet, "an SMP to a QP other than 0");
	else if (sim_is_smp(packet))
		local_smp(port, packet);
	else
		local_gmp(port, packet);
}
