// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * TraceRecord (IBA 15.2.5.18): the nodes on the path that a PathRecord describes, in order, as the
 * forwarding tables are programmed.
 *
 * Both ends must be named; of several paths between them it is the one that Get(PathRecord)
 * returns. IDs of nodes and ports are their GUIDs; a switch port without a GUID is identified by
 * the PortGUID of the switch and its port number. ChassisID is SystemImageGUID. The IDs are valid
 * as long as IDGeneration does not change. For a node that the requester may not see, only NodeType
 * is reported.
 */
#include "sa/record/paths.h"

#define C(name) IBA_COMPONENT(path_record, name)

bool sa_trace(const struct subnet *subnet, uint32_t from, uint32_t to, uint16_t dlid,
	      struct sa_trace *trace)
{
	const struct fabric *fabric = subnet->fabric;

	trace->n = 0;
	for (uint32_t at = from; at != FABRIC_NONE;) {
		const struct fabric_node *node = &fabric->nodes[fabric->ports[at].node];
		uint8_t exit = node->sw == FABRIC_NONE
				       ? fabric->ports[at].num
				       : routing_port(subnet->routing, node->sw, dlid);
		uint32_t out = node->first_port + exit;

		if (node->sw == FABRIC_NONE ? at == to : exit == 0)
			return at == to || out == to;
		if (exit > node->num_ports || trace->n == G_N_ELEMENTS(trace->out) ||
		    (node->sw == FABRIC_NONE && at != from))
			return false;
		trace->out[trace->n++] = out;
		at = fabric->ports[out].peer;
	}
	return false;
}

static uint64_t port_id(const struct fabric *fabric, uint32_t port)
{
	return port == FABRIC_NONE ? 0 : fabric->ports[fabric_endport_of(fabric, port)].guid;
}

/* in and out are FABRIC_NONE at the start and the end of the path. */
static bool put_node(struct sa_query *query, uint32_t at, uint32_t in, uint32_t out)
{
	const struct fabric *fabric = query->subnet->fabric;
	const struct fabric_node *node = &fabric->nodes[fabric->ports[at].node];
	struct iba_trace_record record = {
		.gid_prefix = query->subnet->options->subnet_prefix,
		.id_generation = (uint16_t)query->subnet->generation,
		.node_type = node->type,
	};

	if (sa_may_see(query, fabric_endport_of(fabric, at))) {
		record.node_id = node->guid;
		record.chassis_id = node->info.system_image_guid;
		record.entry_port_id = port_id(fabric, in);
		record.exit_port_id = port_id(fabric, out);
		record.entry_port = in == FABRIC_NONE ? 0 : fabric->ports[in].num;
		record.exit_port = out == FABRIC_NONE ? 0 : fabric->ports[out].num;
	}
	return sa_put(query, &record);
}

/* Takes only the first path. */
static bool take(struct paths *paths, uint32_t from, uint32_t to,
		 const struct iba_path_record *record)
{
	struct sa_query *query = paths->query;
	const struct fabric *fabric = query->subnet->fabric;
	uint32_t at = from, in = FABRIC_NONE;
	struct sa_trace trace;

	if (!sa_trace(query->subnet, from, to, record->dlid, &trace))
		return false;
	for (unsigned int i = 0; i < trace.n; i++) {
		if (!put_node(query, at, in, trace.out[i]))
			return false;
		at = in = fabric->ports[trace.out[i]].peer;
	}
	put_node(query, at, in, FABRIC_NONE);
	return false;
}

uint16_t sa_trace_each(struct sa_query *query)
{
	struct paths paths;
	const struct iba_path_record *wanted = &query->wanted.path;
	uint16_t status = paths_begin(&paths, query, wanted, query->mask);

	if (status == IBA_STATUS_OK &&
	    (!sa_wants(query, C(sgid) | C(slid)) || !sa_wants(query, C(dgid) | C(dlid))))
		status = IBA_SA_INSUFFICIENT_COMPONENTS;
	if (status == IBA_STATUS_OK)
		status = paths_resolve_from(&paths);
	if (status == IBA_STATUS_OK)
		status = paths_resolve_to(&paths);
	if (status != IBA_STATUS_OK)
		return status;
	paths.take = take;
	return paths_each(&paths);
}
