// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Records of tables that the published subnet does not hold: SLtoVL, VLArbitration, GUIDInfo,
 * P_Keys, multicast forwarding, SMInfo (IBA 15.2.5.5 to 15.2.5.20). They come from the inventory.
 * If the inventory lacks a table the query waits: it says what must be read, and runs again. An
 * exception are SLtoVL and VLArbitration of all ports, which can be millions of blocks: without QoS
 * they are reported as far as they are known. They run on any thread.
 *
 * A node that does not answer is skipped in a table of all nodes; a query for that node alone is
 * answered BUSY.
 */
#include <string.h>

#include "sa/sa_private.h"

/* One kind of such records. All have the LID as component 0. */
struct table {
	enum inventory_kind kind;
	bool every_port;	 /* every port of a switch, not only port 0 */
	uint64_t port_component; /* 0: the record has no port number */
	uint8_t (*wanted_port)(const struct sa_query *query);
	bool no_ca_port; /* for CAs and routers the port is reported as 0 */
	/*
	 * Without QoS the SM leaves these tables as the devices set them: a query for those of all
	 * ports gets zeros for tables that were not requested before.
	 */
	bool zeros;
	bool of_lanes;	      /* but the SM sets these for a routing with lanes */
	uint64_t of_switches; /* components that only apply to switches */
	void (*fill)(const struct sa_query *query, uint32_t port, uint32_t block, const void *bytes,
		     union sa_any *record);
};

#define LID_COMPONENT UINT64_C(1)

/* Which tables a query means, before they are looked up. */
struct table_query {
	struct sa_query *query;
	const struct table *table;
	struct sa_span span;
	uint16_t lid; /* 0: any */
	uint8_t port; /* INVENTORY_ALL_PORTS: any */
	bool zeros;   /* zeros stand for unknown tables */
};

static bool is_of_switch(const struct table_query *q)
{
	const struct fabric *fabric = q->query->subnet->fabric;

	return q->span.first < q->span.end &&
	       fabric_is_switch(fabric, fabric->ports[q->span.first].node);
}

static struct table_query narrow(struct sa_query *query, const struct table *table)
{
	struct table_query q = {.query = query, .table = table, .port = INVENTORY_ALL_PORTS};
	uint16_t lid = query->wanted.sm_info.lid;

	if (sa_wants(query, LID_COMPONENT))
		q.lid = lid;
	q.span = table->every_port ? sa_narrow_to_ports(query, LID_COMPONENT, lid)
				   : sa_narrow_by_lid(query, LID_COMPONENT, lid);
	q.zeros = table->zeros && !q.lid && !query->subnet->options->qos &&
		  !(table->of_lanes && query->subnet->routing->lanes);
	if (q.lid && !is_of_switch(&q))
		query->mask &= ~table->of_switches;
	if (table->port_component && sa_wants(query, table->port_component)) {
		query->mask &= ~table->port_component;
		q.port = table->wanted_port(query);
		if (q.port == INVENTORY_ALL_PORTS) /* no port has this number */
			q.span.end = q.span.first;
	}
	return q;
}

static uint8_t shown_port(const struct table *table, const struct fabric *fabric, uint32_t port)
{
	if (table->no_ca_port && !fabric_is_switch(fabric, fabric->ports[port].node))
		return 0;
	return fabric->ports[port].num;
}

/* The blocks a port may have, if the query means the port and the requester may see it. */
static uint32_t blocks_of(const struct table_query *q, uint32_t port)
{
	const struct fabric *fabric = q->query->subnet->fabric;

	if (q->port != INVENTORY_ALL_PORTS && q->port != shown_port(q->table, fabric, port))
		return 0;
	if (!q->table->every_port && !fabric_is_endport(fabric, port))
		return 0;
	if (!sa_may_see(q->query, fabric_endport_of(fabric, port)))
		return 0;
	return inventory_blocks(fabric, port, q->table->kind);
}

static enum inventory_state look(const struct table_query *q, uint32_t port,
				 const struct inventory_list **list)
{
	const struct sa_query *query = q->query;
	const struct fabric *fabric = query->subnet->fabric;
	const struct fabric_port *p = &fabric->ports[port];

	return inventory_look(query->inventory, fabric->nodes[p->node].guid, p->num, q->table->kind,
			      query->now, list);
}

/* What the SM must read: everything the query needs, and no more of a switch. */
static uint64_t want_of(const struct table_query *q)
{
	uint8_t number = q->lid && is_of_switch(q) ? q->port : INVENTORY_ALL_PORTS;

	return inventory_want(q->table->kind, q->lid, number);
}

/* Records an unread table will make; how much of multicast tables is in use is unknown. */
static uint32_t expected(const struct table_query *q, uint32_t blocks)
{
	return q->table->kind == INVENTORY_MULTICAST ? 0 : blocks;
}

/* Checks what is known: sets query->waits if a table must be read; otherwise an error, or OK. */
static uint16_t check(const struct table_query *q)
{
	struct sa_query *query = q->query;
	const struct inventory_list *list;
	bool unknown = false;
	uint64_t n = 0;

	for (uint32_t i = q->span.first; i < q->span.end; i++) {
		uint32_t blocks = blocks_of(q, i);

		if (!blocks)
			continue;
		switch (look(q, i, &list)) {
		case INVENTORY_KNOWN:
			n += inventory_list_count(list);
			break;
		case INVENTORY_UNKNOWN:
			unknown |= !q->zeros;
			n += expected(q, blocks);
			break;
		case INVENTORY_SILENT:
			if (q->lid)
				return IBA_STATUS_BUSY;
			n += q->zeros ? blocks : 0;
		}
	}
	if (!query->mask && !sa_room_for(query, n))
		return IBA_SA_NO_RESOURCES;
	query->waits = unknown;
	query->want = want_of(q);
	return IBA_STATUS_OK;
}

static bool offer_table(const struct table_query *q, uint32_t port)
{
	static const uint8_t zeros[IBA_SMP_DATA_BYTES];
	const struct inventory_list *list;
	uint32_t n = blocks_of(q, port);
	bool is_known;

	if (!n)
		return true;
	is_known = look(q, port, &list) == INVENTORY_KNOWN;
	if (is_known)
		n = inventory_list_blocks(list);
	else if (!q->zeros)
		return true;
	for (uint32_t block = 0; block < n; block++) {
		const void *bytes = is_known ? inventory_list_block(list, block) : zeros;
		union sa_any record;

		if (!bytes)
			continue;
		q->table->fill(q->query, port, block, bytes, &record);
		if (!sa_offer(q->query, &record, fabric_endport_of(q->query->subnet->fabric, port)))
			return false;
	}
	return true;
}

static uint16_t each(struct sa_query *query, const struct table *table)
{
	struct table_query q = narrow(query, table);
	uint16_t status = check(&q);

	if (status != IBA_STATUS_OK || query->waits)
		return status;
	for (uint32_t i = q.span.first; i < q.span.end; i++)
		if (!offer_table(&q, i))
			break;
	return IBA_STATUS_OK;
}

static uint16_t lid_of(const struct sa_query *query, uint32_t port)
{
	const struct fabric *fabric = query->subnet->fabric;

	return fabric->ports[fabric_endport_of(fabric, port)].lid;
}

static uint8_t number_of(const struct sa_query *query, uint32_t port)
{
	return query->subnet->fabric->ports[port].num;
}

/* ---- SLtoVLMappingTableRecord: 15.2.5.5 ---- */

static uint8_t sl_to_vl_port(const struct sa_query *query)
{
	return query->wanted.sl_to_vl.output_port_num;
}

static void sl_to_vl_fill(const struct sa_query *query, uint32_t port, uint32_t block,
			  const void *bytes, union sa_any *record)
{
	const struct fabric *fabric = query->subnet->fabric;

	record->sl_to_vl = (struct iba_sl_to_vl_table_record){
		.lid = lid_of(query, port),
		.input_port_num = (uint8_t)block,
		.output_port_num = number_of(query, port),
	};
	if (!fabric_is_switch(fabric, fabric->ports[port].node))
		record->sl_to_vl.output_port_num = 0;
	memcpy(&record->sl_to_vl.sl_to_vl_table, bytes, sizeof(struct iba_sl_to_vl_table));
}

uint16_t sa_sl_to_vl_each(struct sa_query *query)
{
	static const struct table table = {
		.kind = INVENTORY_SL_TO_VL,
		.every_port = true,
		.no_ca_port = true,
		.zeros = true,
		.of_lanes = true,
		.of_switches = IBA_COMPONENT(sl_to_vl_table_record, output_port_num) |
			       IBA_COMPONENT(sl_to_vl_table_record, input_port_num),
		.port_component = IBA_COMPONENT(sl_to_vl_table_record, output_port_num),
		.wanted_port = sl_to_vl_port,
		.fill = sl_to_vl_fill,
	};

	return each(query, &table);
}

/* ---- VLArbitrationTableRecord: 15.2.5.18 ---- */

static uint8_t vl_arbitration_port(const struct sa_query *query)
{
	return query->wanted.vl_arbitration.output_port_num;
}

static void vl_arbitration_fill(const struct sa_query *query, uint32_t port, uint32_t block,
				const void *bytes, union sa_any *record)
{
	record->vl_arbitration = (struct iba_vl_arbitration_table_record){
		.lid = lid_of(query, port),
		.output_port_num = number_of(query, port),
		.block_num = (uint8_t)(block + 1),
	};
	memcpy(&record->vl_arbitration.vl_arbitration_table, bytes,
	       sizeof(struct iba_vl_arbitration_table));
}

uint16_t sa_vl_arbitration_each(struct sa_query *query)
{
	static const struct table table = {
		.kind = INVENTORY_VL_ARBITRATION,
		.every_port = true,
		.zeros = true,
		.of_switches = IBA_COMPONENT(vl_arbitration_table_record, output_port_num),
		.port_component = IBA_COMPONENT(vl_arbitration_table_record, output_port_num),
		.wanted_port = vl_arbitration_port,
		.fill = vl_arbitration_fill,
	};

	return each(query, &table);
}

/* ---- P_KeyTableRecord: 15.2.5.11 ---- */

static uint8_t p_key_table_port(const struct sa_query *query)
{
	return query->wanted.p_key_table.port_num;
}

static void p_key_table_fill(const struct sa_query *query, uint32_t port, uint32_t block,
			     const void *bytes, union sa_any *record)
{
	record->p_key_table = (struct iba_p_key_table_record){
		.lid = lid_of(query, port),
		.block_num = (uint16_t)block,
		.port_num = number_of(query, port),
	};
	memcpy(&record->p_key_table.p_key_table, bytes, sizeof(struct iba_p_key_table));
}

uint16_t sa_p_key_table_each(struct sa_query *query)
{
	static const struct table table = {
		.kind = INVENTORY_P_KEYS,
		.every_port = true,
		.port_component = IBA_COMPONENT(p_key_table_record, port_num),
		.wanted_port = p_key_table_port,
		.fill = p_key_table_fill,
	};

	return each(query, &table);
}

/* ---- GuidInfoRecord: 15.2.5.20 ---- */

static void guid_info_fill(const struct sa_query *query, uint32_t port, uint32_t block,
			   const void *bytes, union sa_any *record)
{
	record->guid_info = (struct iba_guid_info_record){
		.lid = lid_of(query, port),
		.block_num = (uint8_t)block,
	};
	memcpy(&record->guid_info.guid_info, bytes, sizeof(struct iba_guid_info));
}

uint16_t sa_guid_info_each(struct sa_query *query)
{
	static const struct table table = {.kind = INVENTORY_GUID_INFO, .fill = guid_info_fill};

	return each(query, &table);
}

/* ---- SMInfoRecord: 15.2.5.10 ---- */

static void sm_info_fill(const struct sa_query *query, uint32_t port, uint32_t block,
			 const void *bytes, union sa_any *record)
{
	(void)block;
	record->sm_info = (struct iba_sm_info_record){.lid = lid_of(query, port)};
	memcpy(&record->sm_info.sm_info, bytes, sizeof(struct iba_sm_info));
	if (!query->from.privileged)
		record->sm_info.sm_info.sm_key = 0;
}

uint16_t sa_sm_info_each(struct sa_query *query)
{
	static const struct table table = {.kind = INVENTORY_SM_INFO, .fill = sm_info_fill};

	return each(query, &table);
}

/* ---- MulticastForwardingTableRecord: 15.2.5.8 ---- */

static void mft_fill(const struct sa_query *query, uint32_t port, uint32_t block, const void *bytes,
		     union sa_any *record)
{
	const struct fabric *fabric = query->subnet->fabric;
	uint32_t positions =
		IBA_MFT_POSITIONS_OF(fabric->nodes[fabric->ports[port].node].num_ports);

	record->mft = (struct iba_multicast_forwarding_table_record){
		.lid = lid_of(query, port),
		.position = block % positions & 0xF,
		.block_num = (uint16_t)(block / positions),
	};
	memcpy(&record->mft.multicast_forwarding_table, bytes,
	       sizeof(struct iba_multicast_forwarding_table));
}

uint16_t sa_mft_each(struct sa_query *query)
{
	static const struct table table = {.kind = INVENTORY_MULTICAST, .fill = mft_fill};

	return each(query, &table);
}
