// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The general services agents of every node (IBA 13.5): dispatch of management classes on QP1. A
 * client that bound a class as manager on the port has precedence (local.c asks it), but for
 * congestion control.
 */
#include "libvendor/sim/sim_private.h"

static const struct {
	uint8_t mgmt_class;
	uint16_t (*serve)(struct sim_packet *packet);
} agents[] = {
	{IBA_CLASS_PERF, sim_pma},
	{IBA_CLASS_CC, sim_cca},
};

static void make_response(struct sim_packet *packet, uint16_t status)
{
	const struct sim_port *port = sim_end_port(packet->node, packet->port);
	uint32_t src_qp = packet->src_qp;

	packet->data[SIM_MAD_METHOD] = IBA_METHOD_GET_RESP;
	sim_write16(packet->data + SIM_MAD_STATUS, status);
	packet->src_qp = packet->dest_qp;
	packet->dest_qp = src_qp;
	packet->q_key = IBA_QP1_Q_KEY;
	if (!packet->grh.has_grh)
		return;
	packet->grh.gid.prefix = port->info.gid_prefix;
	packet->grh.gid.guid = port->guid;
}

/* QP1, or a QP to which an agent redirected. */
static bool is_agents_qp(const struct sim_packet *packet)
{
	if (packet->dest_qp == IBA_QP1)
		return packet->q_key == IBA_QP1_Q_KEY;
	return packet->data[SIM_MAD_CLASS] == IBA_CLASS_PERF && sim_pma_behind(packet);
}

bool sim_gsa_serves(const struct sim_packet *packet)
{
	uint8_t method = packet->data[SIM_MAD_METHOD];

	if (method != IBA_METHOD_GET && method != IBA_METHOD_SET)
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(agents); i++)
		if (agents[i].mgmt_class == packet->data[SIM_MAD_CLASS])
			return is_agents_qp(packet);
	return false;
}

bool sim_gsa(struct sim_packet *packet)
{
	uint16_t status = IBA_STATUS_UNSUP_VERSION;

	for (size_t i = 0; i < G_N_ELEMENTS(agents); i++)
		if (agents[i].mgmt_class == packet->data[SIM_MAD_CLASS] &&
		    packet->data[0] == IBA_BASE_VERSION)
			status = agents[i].serve(packet);
	if (status == SIM_GSA_SILENT)
		return false;
	make_response(packet, status);
	return true;
}
