// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Records that describe the published subnet as it is: ClassPortInfo, and those of nodes, ports,
 * switches, links and linear forwarding tables (IBA 15.2.5.1 to 15.2.5.14). They only read the
 * query's subnet and run on any thread.
 *
 * Each narrows by LID if the query gives one. Any LID of a port's range (LMC) stands for the port;
 * records show the base LID.
 */
#include <string.h>

#include "sa/sa_private.h"

/* AttributeModifier bits of a PortInfoRecord query: capability masks are matched bit by bit. */
#define CAP_MASK_MATCH IBA_PORT_INFO_RECORD_MOD_CAP_MASK_MATCH
#define CAP_MASK2_MATCH (UINT32_C(1) << 30)

#define LFT_PORTS_PER_BLOCK 64

struct sa_span sa_narrow_by_lid(struct sa_query *query, uint64_t component, uint16_t lid)
{
	const struct fabric *fabric = query->subnet->fabric;
	uint32_t port;

	if (!sa_wants(query, component))
		return (struct sa_span){0, fabric->n_ports};
	query->mask &= ~component;
	port = fabric_port_by_lid(fabric, lid);
	if (port == FABRIC_NONE)
		return (struct sa_span){0, 0};
	return (struct sa_span){port, port + 1};
}

struct sa_span sa_narrow_to_ports(struct sa_query *query, uint64_t component, uint16_t lid)
{
	const struct fabric *fabric = query->subnet->fabric;
	bool narrowed = sa_wants(query, component);
	struct sa_span span = sa_narrow_by_lid(query, component, lid);

	if (narrowed && span.first < span.end) {
		const struct fabric_node *node = &fabric->nodes[fabric->ports[span.first].node];

		if (node->type == IBA_NODE_SWITCH)
			span.end = node->first_port + node->num_ports + 1;
	}
	return span;
}

bool sa_is_live_endport(const struct fabric *fabric, uint32_t port)
{
	return fabric_is_endport(fabric, port) && fabric->ports[port].known &&
	       fabric->ports[port].lid != 0;
}

/*
 * RespTimeValue: a client may consider a request or its answer lost after this time plus twice the
 * travel time. So it is the time of an SMP that the SA may need, as in the classic daemon, or the
 * time for which an answer is held on purpose. A request that waits longer because the SA is
 * overloaded is answered BUSY, or recognized when the client repeats it.
 */
static uint64_t response_ns(const struct options *options)
{
	uint64_t hold_ms = MAX(options->join_answer_timeout, options->alias_answer_timeout);

	return MAX(options->transaction_timeout, hold_ms) * NS_PER_MS;
}

uint16_t sa_class_port_info_each(struct sa_query *query)
{
	struct iba_class_port_info info = {
		.base_version = IBA_BASE_VERSION,
		.class_version = IBA_SA_CLASS_VERSION,
		.capability_mask2 = query->subnet->qos ? IBA_SA_CAP2_QOS : 0,
		.resp_time_value = iba_timeout_code(response_ns(query->subnet->options)),
	};
	unsigned int n;
	const struct sa_row *rows = sa_rows(&n);

	for (unsigned int i = 0; i < n; i++) {
		info.capability_mask |= rows[i].caps;
		info.capability_mask2 |= rows[i].caps2;
	}
	if (query->subnet->options->disable_multicast)
		info.capability_mask &= (uint16_t)~IBA_SA_CAP_UD_MULTICAST;
	sa_offer(query, &info, FABRIC_NONE);
	return IBA_STATUS_OK;
}

/* NodeInfo as the node would report it through this port. */
static void fill_node(const struct fabric *fabric, uint32_t port, struct iba_node_record *record)
{
	const struct fabric_port *p = &fabric->ports[port];
	const struct fabric_node *node = &fabric->nodes[p->node];

	record->lid = p->lid;
	record->node_info = node->info;
	record->node_info.port_guid = p->guid;
	record->node_info.local_port_num = p->num;
	memcpy(record->node_description.node_string, node->description,
	       sizeof(record->node_description.node_string));
}

uint16_t sa_node_each(struct sa_query *query)
{
	const struct fabric *fabric = query->subnet->fabric;
	struct sa_span span =
		sa_narrow_by_lid(query, IBA_COMPONENT(node_record, lid), query->wanted.node.lid);

	for (uint32_t i = span.first; i < span.end; i++) {
		struct iba_node_record record;

		if (!sa_is_live_endport(fabric, i))
			continue;
		fill_node(fabric, i, &record);
		if (!sa_offer(query, &record, i))
			break;
	}
	return IBA_STATUS_OK;
}

/* The bits of the two capability masks that a port must have; those components are then settled. */
struct capabilities {
	uint32_t mask;
	uint16_t mask2;
};

static struct capabilities take_capabilities(struct sa_query *query)
{
	const uint64_t mask = IBA_COMPONENT_NESTED(port_info_record, port_info, capability_mask);
	const uint64_t mask2 = IBA_COMPONENT_NESTED(port_info_record, port_info, capability_mask2);
	const struct iba_port_info *wanted = &query->wanted.port_info.port_info;
	struct capabilities must = {0, 0};

	if ((query->header.attribute_modifier & CAP_MASK_MATCH) && sa_wants(query, mask)) {
		must.mask = wanted->capability_mask;
		query->mask &= ~mask;
	}
	if ((query->header.attribute_modifier & CAP_MASK2_MATCH) && sa_wants(query, mask2)) {
		must.mask2 = wanted->capability_mask2;
		query->mask &= ~mask2;
	}
	return must;
}

static bool offer_port_info(struct sa_query *query, uint32_t port, struct capabilities must)
{
	const struct fabric *fabric = query->subnet->fabric;
	const struct fabric_port *p = &fabric->ports[port];
	uint32_t endport = fabric_endport_of(fabric, port);
	struct iba_port_info_record record = {
		.endport_lid = fabric->ports[endport].lid,
		.port_num = p->num,
		.port_info = p->info,
	};

	if (!p->known || record.endport_lid == 0 || (must.mask & ~p->info.capability_mask) ||
	    (must.mask2 & ~p->info.capability_mask2))
		return true;
	if (!query->from.privileged)
		record.port_info.m_key = 0;
	return sa_offer(query, &record, endport);
}

uint16_t sa_port_info_each(struct sa_query *query)
{
	struct sa_span span =
		sa_narrow_to_ports(query, IBA_COMPONENT(port_info_record, endport_lid),
				   query->wanted.port_info.endport_lid);
	struct capabilities must = take_capabilities(query);

	for (uint32_t i = span.first; i < span.end; i++)
		if (!offer_port_info(query, i, must))
			break;
	return IBA_STATUS_OK;
}

/* Whether the port is an endport in use, and of a switch. */
static bool is_live_switch(const struct fabric *fabric, uint32_t port)
{
	return sa_is_live_endport(fabric, port) &&
	       fabric_is_switch(fabric, fabric->ports[port].node);
}

/* SwitchInfo as it was found, except for fields that the multicast trees have changed since. */
static struct iba_switch_info switch_info_of(const struct sa_query *query, uint32_t node)
{
	const struct fabric *fabric = query->subnet->fabric;
	struct iba_switch_info info = fabric->switches[fabric->nodes[node].sw].info;

	mc_trees_top(query->view->trees, fabric->nodes[node].guid, &info.multicast_fdb_top);
	return info;
}

uint16_t sa_switch_info_each(struct sa_query *query)
{
	const struct fabric *fabric = query->subnet->fabric;
	struct sa_span span = sa_narrow_by_lid(query, IBA_COMPONENT(switch_info_record, lid),
					       query->wanted.switch_info.lid);

	for (uint32_t i = span.first; i < span.end; i++) {
		const struct fabric_port *port = &fabric->ports[i];
		struct iba_switch_info_record record = {.lid = port->lid};

		if (!is_live_switch(fabric, i))
			continue;
		record.switch_info = switch_info_of(query, port->node);
		if (!sa_offer(query, &record, i))
			break;
	}
	return IBA_STATUS_OK;
}

/* Offers blocks [first, end) of the LFT of the switch that the endport belongs to. */
static bool offer_lft(struct sa_query *query, uint32_t port, struct sa_span blocks)
{
	const struct fabric *fabric = query->subnet->fabric;
	const struct routing *routing = query->subnet->routing;
	uint32_t sw = fabric->nodes[fabric->ports[port].node].sw;

	for (uint32_t block = blocks.first; block < blocks.end; block++) {
		struct iba_linear_forwarding_table_record record = {
			.lid = fabric->ports[port].lid,
			.block_num = block,
		};

		memcpy(record.linear_forwarding_table.port,
		       routing->lft[sw] + block * LFT_PORTS_PER_BLOCK, LFT_PORTS_PER_BLOCK);
		if (!sa_offer(query, &record, port))
			return false;
	}
	return true;
}

static struct sa_span narrow_blocks(struct sa_query *query)
{
	const uint64_t component = IBA_COMPONENT(linear_forwarding_table_record, block_num);
	uint32_t n = query->subnet->routing->n_blocks, wanted = query->wanted.lft.block_num;

	if (!sa_wants(query, component))
		return (struct sa_span){0, n};
	query->mask &= ~component;
	return (struct sa_span){MIN(wanted, n), MIN(wanted + 1, n)};
}

uint16_t sa_lft_each(struct sa_query *query)
{
	const struct fabric *fabric = query->subnet->fabric;
	struct sa_span span = sa_narrow_by_lid(
		query, IBA_COMPONENT(linear_forwarding_table_record, lid), query->wanted.lft.lid);
	struct sa_span blocks = narrow_blocks(query);
	uint64_t n = 0;

	for (uint32_t i = span.first; i < span.end; i++)
		if (is_live_switch(fabric, i) && sa_may_see(query, i))
			n += blocks.end - blocks.first;
	if (!query->mask && !sa_room_for(query, n))
		return IBA_SA_NO_RESOURCES;
	for (uint32_t i = span.first; i < span.end; i++)
		if (is_live_switch(fabric, i) && !offer_lft(query, i, blocks))
			break;
	return IBA_STATUS_OK;
}

/* The link out of a port, in that direction, if it is up and leads to the wanted endport. */
static bool offer_link(struct sa_query *query, uint32_t from, uint32_t wanted_to)
{
	const struct fabric *fabric = query->subnet->fabric;
	const struct fabric_port *here = &fabric->ports[from];
	struct iba_link_record record;
	uint32_t from_end, to_end;

	if (here->peer == FABRIC_NONE || here->rate == 0)
		return true;
	from_end = fabric_endport_of(fabric, from);
	to_end = fabric_endport_of(fabric, here->peer);
	record = (struct iba_link_record){
		.from_lid = fabric->ports[from_end].lid,
		.from_port = here->num,
		.to_port = fabric->ports[here->peer].num,
		.to_lid = fabric->ports[to_end].lid,
	};
	if (record.from_lid == 0 || record.to_lid == 0 || !sa_may_see(query, from_end))
		return true;
	if (wanted_to != FABRIC_NONE && wanted_to != to_end)
		return true;
	return sa_offer(query, &record, to_end);
}

uint16_t sa_link_each(struct sa_query *query)
{
	const struct fabric *fabric = query->subnet->fabric;
	struct sa_span span = sa_narrow_to_ports(query, IBA_COMPONENT(link_record, from_lid),
						 query->wanted.link.from_lid);
	uint32_t to = FABRIC_NONE;

	if (sa_wants(query, IBA_COMPONENT(link_record, to_lid))) {
		query->mask &= ~IBA_COMPONENT(link_record, to_lid);
		to = fabric_port_by_lid(fabric, query->wanted.link.to_lid);
		if (to == FABRIC_NONE)
			return IBA_STATUS_OK;
	}
	for (uint32_t i = span.first; i < span.end; i++)
		if (!offer_link(query, i, to))
			break;
	return IBA_STATUS_OK;
}
