// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MADs of a port connection: struct ib_user_mad on the client's side, agents of the sim on ours.
 *
 * Errors that the kernel returns from write() are returned here as a MAD with a status, since a
 * client does not wait for an answer to a frame.
 */
#include <errno.h>
#include <string.h>

#include "libvendor/osmsim/server.h"

#define MAD_HEADER 24
#define QUEUE_MAX (200000 * (sizeof(struct ib_user_mad) + IBA_MAD_BYTES)) /* octets */

/* ---- to the client ---- */

static void to_umad_address(ib_mad_addr_t *out, const struct vendor_address *in)
{
	*out = (ib_mad_addr_t){
		.qpn = htobe32(in->qpn),
		.qkey = htobe32(in->qkey),
		.lid = htobe16(in->lid),
		.sl = in->sl,
		.path_bits = in->path_bits,
		.pkey_index = in->p_key_index,
	};
	if (in->has_grh) {
		out->grh_present = 1;
		out->hop_limit = in->hop_limit;
		out->traffic_class = in->traffic_class;
		out->flow_label = htobe32(in->flow_label);
		out->ib_gid.global.subnet_prefix = htobe64(in->gid.prefix);
		out->ib_gid.global.interface_id = htobe64(in->gid.guid);
	}
}

static void put_mad(struct connection *port, struct ib_user_mad *umad, const uint8_t *data,
		    size_t length)
{
	uint8_t padded[IBA_MAD_BYTES] = {0};

	umad->length = sizeof(*umad) + length;
	if (length < sizeof(padded)) {
		memcpy(padded, data, length);
		data = padded;
		length = sizeof(padded);
	}
	connection_put(port, OSMSIM_MAD, umad, sizeof(*umad), data, length);
}

static void mad_receive(void *arg, enum vendor_status status, const struct vendor_address *remote,
			const uint8_t *data, size_t length)
{
	const struct port_agent *agent = arg;
	struct connection *port = agent->connection;
	struct ib_user_mad umad = {.agent_id = agent->id};

	to_umad_address(&umad.addr, remote);
	if (status != VENDOR_RECEIVED) {
		umad.status = ETIMEDOUT;
		put_mad(port, &umad, data, MAD_HEADER);
	} else if (port->out.tail - port->out.head > QUEUE_MAX) {
		port->dropped++;
	} else {
		port->received++;
		put_mad(port, &umad, data, length);
	}
}

/* ---- from the client ---- */

static struct vendor_address from_umad_address(const ib_mad_addr_t *in)
{
	struct vendor_address out = {
		.qpn = be32toh(in->qpn),
		.qkey = be32toh(in->qkey),
		.lid = be16toh(in->lid),
		.sl = in->sl & 0xF,
		.path_bits = in->path_bits,
		.p_key_index = in->pkey_index,
	};

	if (in->grh_present) {
		out.has_grh = true;
		out.hop_limit = in->hop_limit;
		out.traffic_class = in->traffic_class;
		out.flow_label = be32toh(in->flow_label);
		out.gid.prefix = be64toh(in->ib_gid.global.subnet_prefix);
		out.gid.guid = be64toh(in->ib_gid.global.interface_id);
	}
	return out;
}

static int send_mad(struct connection *port, const struct ib_user_mad *umad, uint8_t *data,
		    size_t length)
{
	const struct port_agent *agent;
	const struct agent_send send = {
		.to = from_umad_address(&umad->addr),
		.timeout_ms = umad->timeout_ms,
		.retries = umad->retries,
		.data = data,
		.length = length,
	};

	if (umad->agent_id >= OSMSIM_MAX_AGENTS || !port->agents[umad->agent_id].agent)
		return -EINVAL;
	agent = &port->agents[umad->agent_id];
	if (iba_class_is_smp(data[SIM_MAD_CLASS]) != (agent->qpn == IBA_QP0))
		return -EINVAL;
	port->sent++;
	return agent_send(agent->agent, &send);
}

void mad_frame(struct connection *port, uint8_t *data, size_t length)
{
	struct ib_user_mad umad;

	if (length < sizeof(umad) + MAD_HEADER) {
		connection_refuse(port, "a MAD is shorter than its header");
		return;
	}
	memcpy(&umad, data, sizeof(umad));
	data += sizeof(umad);
	if (send_mad(port, &umad, data, length - sizeof(umad)) == 0)
		return;
	umad.status = EINVAL;
	put_mad(port, &umad, data, MAD_HEADER);
}

/* ---- agents ---- */

int mad_register(struct connection *port, const struct connection *control,
		 const struct osmsim_register *request)
{
	const struct agent_filter filter = {
		.qpn = request->qpn,
		.mgmt_class = request->mgmt_class,
		.class_version = request->class_version,
		.rmpp_version = request->rmpp_version,
		.oui = request->oui,
		.methods = {request->method_mask[0], request->method_mask[1]},
	};
	struct port_agent *agent = NULL;
	int result;

	if (request->qpn > IBA_QP1 || request->mgmt_class > 0xFF ||
	    request->class_version >= AGENT_ANY_VERSION || request->rmpp_version > 0xFF)
		return -EINVAL;
	for (unsigned int i = 0; i < OSMSIM_MAX_AGENTS && !agent; i++)
		if (!port->agents[i].agent)
			agent = &port->agents[i];
	if (!agent)
		return -ENOMEM;
	agent->connection = port;
	agent->id = agent - port->agents;
	agent->control = control->number;
	agent->qpn = request->qpn;
	agent->agent = agent_new(port->server->sim, port->port, mad_receive, agent);
	result = agent_register(agent->agent, &filter);
	if (result == 0)
		return (int)agent->id;
	g_clear_pointer(&agent->agent, agent_free);
	return result;
}

static bool is_connected(const struct server *server, uint32_t number)
{
	const struct connection *connection;
	GHashTableIter iter;

	g_hash_table_iter_init(&iter, server->connections);
	while (g_hash_table_iter_next(&iter, (gpointer *)&connection, NULL))
		if (connection->number == number && !connection->closing)
			return true;
	return false;
}

int mad_unregister(struct connection *port, const struct connection *control, uint32_t agent)
{
	if (agent >= OSMSIM_MAX_AGENTS || !port->agents[agent].agent)
		return -EINVAL;
	if (port->agents[agent].control != control->number &&
	    is_connected(port->server, port->agents[agent].control))
		return -EPERM;
	g_clear_pointer(&port->agents[agent].agent, agent_free);
	return 0;
}

void mad_close(struct connection *port)
{
	for (unsigned int i = 0; i < OSMSIM_MAX_AGENTS; i++)
		g_clear_pointer(&port->agents[i].agent, agent_free);
	g_clear_pointer(&port->agents, g_free);
	g_hash_table_remove(port->server->handles, GUINT_TO_POINTER(port->handle));
}
