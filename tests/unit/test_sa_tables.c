// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Records of tables from an inventory: everything requested, and nothing unknown. */
#include <check.h>
#include <string.h>

#include "route/value/lanes.h"
#include "sa/admit/held.h"
#include "tests/run_suite.h"
#include "tests/unit/test_sa_make.h"

#define NOW (100 * UINT64_C(1000000000))

static struct subnet *subnet;
static struct inventory_maker *maker;
static struct inventory *inventory;

/* Caps as of real hardware; two ports have an SM. */
static void equip(struct fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		struct iba_port_info *info = &fabric->ports[i].info;

		info->vl_cap = IBA_VLS_VL0_7;
		info->vl_arbitration_low_cap = 40;
		info->vl_arbitration_high_cap = 8;
		info->capability_mask = IBA_PORT_CAP_SL_MAPPING;
		info->guid_cap = 24;
	}
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		fabric->nodes[i].info.partition_cap = 64;
	for (uint32_t i = 0; i < fabric->n_switches; i++) {
		fabric->switches[i].info.multicast_fdb_cap = 64;
		fabric->switches[i].info.partition_enforcement_cap = 32;
	}
}

/* Octets that identify their table. */
static void fill(uint32_t port, enum inventory_kind kind, uint32_t n, uint8_t *blocks, uint8_t *has)
{
	size_t size = inventory_type(kind)->size;

	for (uint32_t block = 0; block < n; block++) {
		has[block] = true;
		if (inventory_block_is_zero(subnet->fabric, port, kind, block))
			continue;
		for (size_t i = 0; i < size; i++)
			blocks[block * size + i] = (uint8_t)(port * 7 + block * 3 + kind + i) & 0xF;
	}
}

static void put(uint32_t port, enum inventory_kind kind)
{
	const struct fabric *fabric = subnet->fabric;
	const struct fabric_node *node = &fabric->nodes[fabric->ports[port].node];
	uint32_t n = inventory_blocks(fabric, port, kind);
	uint8_t blocks[64 * 128] = {0}, has[64] = {0};

	if (!n)
		return;
	fill(port, kind, n, blocks, has);
	inventory_put(maker, node->guid, node->num_ports + 1u, fabric->ports[port].num, kind,
		      blocks, has, n, NOW, 1);
}

static void publish(void)
{
	inventory_unref(inventory);
	inventory = inventory_publish(maker);
}

static void setup(void)
{
	subnet = make_subnet("fattree:4", 1, 0);
	subnet->options->qos = true;
	equip(subnet->fabric);
	subnet->fabric->ports[endport(subnet, 7, true)].info.capability_mask |= IBA_PORT_CAP_SM;
	maker = inventory_maker_new();
	for (uint32_t i = 0; i < subnet->fabric->n_ports; i++)
		for (unsigned int kind = 0; kind < INVENTORY_KINDS; kind++)
			put(i, kind);
	publish();
}

static void teardown(void)
{
	inventory_unref(inventory);
	inventory = NULL;
	inventory_maker_free(maker);
	subnet_unref(subnet);
}

/* Records at a host, at a switch, and of all 16 hosts and 20 switches with 4 ports. */
static const struct kind {
	enum inventory_kind kind;
	uint16_t attribute;
	const struct wire_type *type;
	unsigned int host, sw, all;
	unsigned int data_at; /* of the table in the record on the wire */
	int8_t port, block;   /* components, -1: none */
} kinds[] = {
	{INVENTORY_SL_TO_VL, IBA_ATTR_SL_TO_VL_TABLE_RECORD, &iba_sl_to_vl_table_record_type, 1, 25,
	 16 + 20 * 25, 8, 2, 1},
	{INVENTORY_VL_ARBITRATION, IBA_ATTR_VL_ARBITRATION_TABLE_RECORD,
	 &iba_vl_arbitration_table_record_type, 4, 20, 4 * 16 + 20 * 20, 8, 1, 2},
	{INVENTORY_GUID_INFO, IBA_ATTR_GUID_INFO_RECORD, &iba_guid_info_record_type, 3, 3, 3 * 36,
	 8, -1, 1},
	{INVENTORY_SM_INFO, IBA_ATTR_SM_INFO_RECORD, &iba_sm_info_record_type, 1, 0, 2, 4, -1, -1},
	{INVENTORY_P_KEYS, IBA_ATTR_P_KEY_TABLE_RECORD, &iba_p_key_table_record_type, 2, 6,
	 2 * 16 + 20 * 6, 8, 2, 1},
	{INVENTORY_MULTICAST, IBA_ATTR_MULTICAST_FORWARDING_TABLE_RECORD,
	 &iba_multicast_forwarding_table_record_type, 0, 2, 20 * 2, 8, -1, 3},
};

union record {
	uint16_t lid;
	union sa_any any;
};

static const union record anything;

static struct ask ask_for(const struct kind *kind)
{
	return (struct ask){
		.subnet = subnet,
		.inventory = inventory,
		.now = NOW,
		.from = endport(subnet, 0, true),
		.sm_key = TEST_SA_KEY,
		.attribute = kind->attribute,
		.method = IBA_METHOD_GET_TABLE,
		.type = kind->type,
		.record = &anything,
	};
}

static uint16_t lid_at(uint32_t port)
{
	return subnet->fabric->ports[port].lid;
}

static uint32_t some_switch(void)
{
	return subnet->fabric->nodes[subnet->fabric->switches[3].node].first_port;
}

static unsigned int count(const struct ask *ask)
{
	struct told told = tell(ask);
	unsigned int n = told.n;

	ck_assert(!told.waits);
	ck_assert_uint_eq(told.header.status, IBA_STATUS_OK);
	told_clear(&told);
	return n;
}

static unsigned int count_at(const struct kind *kind, uint32_t port)
{
	union record wanted = {.lid = lid_at(port)};
	struct ask ask = ask_for(kind);

	ask.mask = 1;
	ask.record = &wanted;
	return count(&ask);
}

START_TEST(test_counts)
{
	const struct kind *kind = &kinds[_i];
	struct ask ask = ask_for(kind);
	union record wanted = {.lid = 0xBFFE};

	ck_assert_uint_eq(count(&ask), kind->all);
	ck_assert_uint_eq(count_at(kind, endport(subnet, 7, true)), kind->host);
	ck_assert_uint_eq(count_at(kind, some_switch()), kind->sw);
	ask.mask = 1;
	ask.record = &wanted; /* an unassigned LID */
	ck_assert_uint_eq(count(&ask), 0);
}
END_TEST

/* Tables that were read are returned, though the port has fewer by now. */
START_TEST(test_less_by_now)
{
	uint32_t port = endport(subnet, 7, true);

	subnet->fabric->ports[port].info.guid_cap = 8;
	ck_assert_uint_eq(count_at(&kinds[2], port), kinds[2].host);
}
END_TEST

/* Which table of which port a record is about. */
static uint32_t block_of(const struct fabric_node *node, enum inventory_kind kind,
			 const union sa_any *record, uint8_t *number)
{
	switch (kind) {
	case INVENTORY_SL_TO_VL:
		if (record->sl_to_vl.output_port_num) /* 0: of a host */
			*number = record->sl_to_vl.output_port_num;
		return record->sl_to_vl.input_port_num;
	case INVENTORY_VL_ARBITRATION:
		*number = record->vl_arbitration.output_port_num;
		return record->vl_arbitration.block_num - 1u;
	case INVENTORY_GUID_INFO:
		return record->guid_info.block_num;
	case INVENTORY_P_KEYS:
		*number = record->p_key_table.port_num;
		return record->p_key_table.block_num;
	case INVENTORY_MULTICAST:
		return record->mft.block_num * IBA_MFT_POSITIONS_OF(node->num_ports) +
		       record->mft.position;
	default:
		return 0;
	}
}

/* Each record is the table that was put in for its LID, port and block. */
START_TEST(test_contents)
{
	const struct kind *kind = &kinds[_i];
	const struct fabric *fabric = subnet->fabric;
	struct ask ask = ask_for(kind);
	struct told told = tell(&ask);
	size_t stride = told.sa.attribute_offset * 8u;
	const struct wire_type *type = inventory_type(kind->kind);

	for (unsigned int i = 0; i < told.n; i++) {
		const uint8_t *wire = told.data + IBA_SA_DATA_OFFSET + i * stride;
		uint32_t port = fabric_port_by_lid(fabric, wire[0] << 8 | wire[1]), block;
		uint8_t blocks[64 * 128] = {0}, has[64] = {0}, expected[64] = {0};
		uint8_t number = fabric->ports[port].num;
		union sa_any record;

		told_record(&told, kind->type, i, &record);
		if (kind->kind == INVENTORY_SL_TO_VL &&
		    !fabric_is_switch(fabric, fabric->ports[port].node))
			ck_assert_uint_eq(record.sl_to_vl.output_port_num, 0);
		block = block_of(&fabric->nodes[fabric->ports[port].node], kind->kind, &record,
				 &number);
		port = fabric_port_of(fabric, fabric->ports[port].node, number);
		fill(port, kind->kind, inventory_blocks(fabric, port, kind->kind), blocks, has);
		ck_assert(has[block]);
		wire_encode(type, blocks + block * type->size, expected);
		ck_assert(memcmp(wire + kind->data_at, expected, wire_bytes(type)) == 0);
	}
	ck_assert_uint_eq(told.n, kind->all);
	told_clear(&told);
}
END_TEST

/* The components that name a port and a block select the record with these values. */
START_TEST(test_components)
{
	const struct kind *kind = &kinds[_i];
	struct ask ask = ask_for(kind);
	struct told told = tell(&ask);
	union sa_any record;

	ask.record = &record;
	ask.method = IBA_METHOD_GET;
	for (unsigned int i = 0; i < told.n; i += 3) {
		struct told one;

		told_record(&told, kind->type, i, &record);
		ask.mask = 1 | (kind->port < 0 ? 0 : UINT64_C(1) << kind->port) |
			   (kind->block < 0 ? 0 : UINT64_C(1) << kind->block);
		one = tell(&ask);
		ck_assert_uint_eq(one.header.status, IBA_STATUS_OK);
		ck_assert(memcmp(one.data + IBA_SA_DATA_OFFSET,
				 told.data + IBA_SA_DATA_OFFSET + i * told.sa.attribute_offset * 8u,
				 wire_bytes(kind->type)) == 0);
		told_clear(&one);
	}
	told_clear(&told);
}
END_TEST

/* Nothing known: the query says what has to be read, as narrowly as the request. */
START_TEST(test_waits)
{
	const struct kind *kind = &kinds[_i];
	union record wanted = {
		.lid = lid_at(kind->host ? endport(subnet, 7, true) : some_switch())};
	struct ask ask = ask_for(kind);
	struct told told;

	ask.inventory = NULL;
	ask.record = &wanted;
	told = tell(&ask);
	ck_assert(told.waits);
	ck_assert_uint_eq(told.want, inventory_want(kind->kind, 0, INVENTORY_ALL_PORTS));
	told_clear(&told);
	ask.mask = 1;
	told = tell(&ask);
	ck_assert(told.waits);
	ck_assert_uint_eq(told.want, inventory_want(kind->kind, wanted.lid, INVENTORY_ALL_PORTS));
	told_clear(&told);
	/* one table is enough for one port, whatever else is unknown */
	ck_assert(inventory_forget(maker, kind->kind));
	put(fabric_port_by_lid(subnet->fabric, wanted.lid), kind->kind);
	publish();
	ask.inventory = inventory;
	if (kind->port < 0 || kind->host)
		ck_assert_uint_gt(count(&ask), 0);
	ask.mask = 0;
	told = tell(&ask);
	ck_assert(told.waits);
	told_clear(&told);
}
END_TEST

/* Of a switch one port is read, if only that was requested; of a host all it has. */
START_TEST(test_waits_of_port)
{
	struct ask ask = ask_for(&kinds[4]);
	union record wanted;

	ask.inventory = NULL;
	ask.record = &wanted;
	ask.mask = 1 | IBA_COMPONENT(p_key_table_record, port_num);
	for (unsigned int of_switch = 0; of_switch < 2; of_switch++) {
		uint16_t lid = lid_at(of_switch ? some_switch() : endport(subnet, 7, true));
		struct told told;

		wanted.any.p_key_table = (struct iba_p_key_table_record){.lid = lid, .port_num = 1};
		told = tell(&ask);
		ck_assert(told.waits);
		ck_assert_uint_eq(told.want, inventory_want(INVENTORY_P_KEYS, lid,
							    of_switch ? 1 : INVENTORY_ALL_PORTS));
		told_clear(&told);
	}
}
END_TEST

/* A node that does not answer has no records, and no query waits for it. */
START_TEST(test_silent)
{
	const struct kind *kind = &kinds[_i];
	uint32_t port = kind->host ? endport(subnet, 7, true) : some_switch();
	const struct fabric_node *node = &subnet->fabric->nodes[subnet->fabric->ports[port].node];
	union record wanted = {.lid = lid_at(port)};
	struct ask ask = ask_for(kind);
	struct told told;

	ck_assert(inventory_forget(maker, kind->kind));
	for (uint32_t i = 0; i < subnet->fabric->n_ports; i++)
		if (subnet->fabric->ports[i].node != subnet->fabric->ports[port].node)
			put(i, kind->kind);
	inventory_put_silent(maker, node->guid, node->num_ports + 1u, NOW, 1);
	publish();
	ask.inventory = inventory;
	ask.record = &wanted;
	ck_assert_uint_eq(count(&ask), kind->all - (kind->host ? kind->host : kind->sw));
	ask.mask = 1;
	told = tell(&ask);
	ck_assert(!told.waits);
	ck_assert_uint_eq(told.header.status, IBA_STATUS_BUSY);
	told_clear(&told);
	ask.now += INVENTORY_SILENT_NS; /* after a while it is asked again */
	told = tell(&ask);
	ck_assert(told.waits);
	told_clear(&told);
}
END_TEST

static const uint16_t two_worlds[][4] = {{0x8001}, {0x8002}};

/* Records that may not be seen are neither returned nor waited for. */
START_TEST(test_partitions_hide)
{
	const struct kind *kind = &kinds[_i];
	struct ask ask;
	struct told told;

	subnet = with_partitions(subnet, two_worlds, 2, NULL, 0);
	ask = ask_for(kind);
	ask.sm_key = 0;
	if (kind->kind == INVENTORY_P_KEYS) {
		told = tell(&ask);
		ck_assert_uint_eq(told.header.status, IBA_SA_DENIED);
		told_clear(&told);
		return;
	}
	ck_assert_uint_lt(count(&ask), kind->all);
	ck_assert(inventory_forget(maker, kind->kind));
	for (uint32_t i = 0; i < subnet->fabric->n_ports; i++)
		if (partitions_shared(subnet->partitions, ask.from,
				      fabric_endport_of(subnet->fabric, i)))
			put(i, kind->kind);
	publish();
	ask.inventory = inventory;
	count(&ask);
	ask.sm_key = TEST_SA_KEY;
	told = tell(&ask);
	ck_assert(told.waits);
	told_clear(&told);
}
END_TEST

/* Without QoS no SM made the tables of VLs: queries for all ports do not wait for them. */
START_TEST(test_no_qos)
{
	const struct kind *kind = &kinds[_i];
	union record wanted = {.lid = lid_at(endport(subnet, 7, true))};
	struct ask ask = ask_for(kind);
	struct told told;

	subnet->options->qos = false;
	ask.record = &wanted;
	told = tell(&ask);
	ask.inventory = NULL;
	ck_assert_uint_eq(count(&ask), kind->all);
	told_clear(&told);
	told = tell(&ask);
	for (size_t i = 0; i < told.n; i++) {
		const uint8_t *record =
			told.data + IBA_SA_DATA_OFFSET + i * told.sa.attribute_offset * 8u;

		for (size_t k = 0; k < wire_bytes(inventory_type(kind->kind)); k++)
			ck_assert_uint_eq(record[kind->data_at + k], 0);
	}
	told_clear(&told);
	subnet->routing->lanes = g_new0(struct route_lanes, 1); /* by which it made SLtoVL */
	told = tell(&ask);
	ck_assert_int_eq(told.waits, kind->kind == INVENTORY_SL_TO_VL);
	told_clear(&told);
	g_clear_pointer(&subnet->routing->lanes, g_free);
	ask.mask = 1;
	told = tell(&ask);
	ck_assert(told.waits); /* of one node they are read */
	told_clear(&told);
	ask.inventory = inventory;
	ck_assert_uint_eq(count(&ask), kind->host);
}
END_TEST

/* The port behind a LID of a host is that port, whatever number is requested. */
START_TEST(test_host_port)
{
	const struct kind *kind = &kinds[_i];
	union record host = {.lid = lid_at(endport(subnet, 7, true))};
	struct ask ask = ask_for(kind);

	for (unsigned int number = 0; number < 8; number++) {
		if (kind->kind == INVENTORY_SL_TO_VL) {
			host.any.sl_to_vl.output_port_num = (uint8_t)number;
			host.any.sl_to_vl.input_port_num = (uint8_t)number;
			ask.mask = 7;
		} else {
			host.any.vl_arbitration.output_port_num = (uint8_t)number;
			ask.mask = 3;
		}
		ask.record = &host;
		ck_assert_uint_eq(count(&ask), kind->host);
	}
}
END_TEST

START_TEST(test_sm_key_is_hidden)
{
	struct ask ask = ask_for(&kinds[3]);

	for (unsigned int i = 0; i < 3; i++) {
		struct iba_sm_info_record record;
		struct told told;

		ask.sm_key = i ? TEST_SA_KEY : 0;
		if (i == 2)
			ask.sm_key = subnet->options->sa_key = KNOWN_SA_KEY;
		told = tell(&ask);
		ck_assert_uint_eq(told.n, 2);
		told_record(&told, &iba_sm_info_record_type, 0, &record);
		ck_assert_int_eq(record.sm_info.sm_key != 0, i == 1);
		ck_assert(record.sm_info.guid != 0);
		told_clear(&told);
	}
	ask.now += INVENTORY_SM_INFO_NS;
	ask.mask = 0;
	{
		struct told told = tell(&ask);

		ck_assert(told.waits); /* a present state is reported, not a former one */
		told_clear(&told);
	}
}
END_TEST

/* ---- limits ---- */

static struct context context;

static uint16_t run_with(uint16_t attribute, struct sa_held *held, size_t *length)
{
	struct ask ask = {.subnet = subnet,
			  .attribute = attribute,
			  .method = IBA_METHOD_GET_TABLE,
			  .sm_key = TEST_SA_KEY};
	struct vendor_address from = {.qpn = 1, .lid = lid_at(endport(subnet, 0, true))};
	struct subnet_view *view = subnet_view_new(subnet_ref(subnet));
	uint64_t before = counter_get(&context.counters, sa_octets_held);
	uint8_t octets[IBA_MAD_BYTES];
	struct sa_query query;

	ask_encode(&ask, octets);
	ck_assert(sa_query_begin(&query, view, &from, octets, sizeof(octets)));
	query.held = held;
	sa_query_run(&query, NULL);
	g_free(sa_query_finish(&query, length));
	ck_assert_uint_eq(counter_get(&context.counters, sa_octets_held),
			  before + query.reply.held);
	if (query.reply.held)
		sa_held_give(held, from.lid, 0, query.reply.held);
	subnet_view_unref(view);
	return query.status == IBA_STATUS_OK && query.reply.held != *length ? UINT16_MAX
									    : query.status;
}

/* Memory of long answers is counted, and returned by their sender; too much is BUSY. */
START_TEST(test_answers_are_counted)
{
	struct sa_held *held;
	size_t length;

	context.rt = runtime_new(RUNTIME_VIRTUAL);
	held = sa_held_new(&context);
	ck_assert_uint_eq(run_with(IBA_ATTR_NODE_RECORD, held, &length), IBA_STATUS_OK);
	ck_assert_uint_eq(length, IBA_SA_DATA_OFFSET + n_endports(subnet) * 112);
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_uint_eq(run_with(IBA_ATTR_PATH_RECORD, held, &length), IBA_STATUS_OK);
		ck_assert(sa_held_take(held, lid_at(endport(subnet, 0, true)), 0,
				       SA_MAX_HELD_BY_ONE));
	}
	ck_assert_uint_eq(run_with(IBA_ATTR_PATH_RECORD, held, &length), IBA_STATUS_BUSY);
	ck_assert_uint_eq(length, IBA_MAD_BYTES);
	sa_held_free(held);
	runtime_free(context.rt);
}
END_TEST

#define MOST ((SA_MAX_REPLY - IBA_SA_DATA_OFFSET) / 72) /* records of P_Keys in an answer */
#define LONG 2048					/* blocks of a port, at most */

/* A fabric with MOST blocks in all. */
static void make_most(void)
{
	struct fabric *fabric;
	uint32_t n = 0;

	subnet_unref(subnet);
	subnet = make_subnet("fattree:8", 0, 0);
	fabric = subnet->fabric;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		fabric->nodes[i].info.partition_cap = 0xFFFF;
	for (uint32_t i = 0; i < fabric->n_switches; i++)
		fabric->switches[i].info.partition_enforcement_cap = 800 * 32;
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		n += inventory_blocks(fabric, i, INVENTORY_P_KEYS);
	fabric->switches[0].info.partition_enforcement_cap -= (n - MOST) / 8 * 32;
	fabric->nodes[1].info.partition_cap -= (n - MOST) % 8 * 32;
}

static void put_long(uint64_t node_guid, uint8_t num)
{
	g_autofree uint8_t *blocks = g_malloc0(LONG * inventory_type(INVENTORY_P_KEYS)->size);
	uint8_t has[LONG];

	memset(has, 1, sizeof(has));
	inventory_put(maker, node_guid, num + 1u, num, INVENTORY_P_KEYS, blocks, has, LONG, NOW, 1);
}

static void check_fits(const struct ask *ask, bool fits)
{
	struct told told = tell(ask);

	ck_assert_int_eq(told.waits, fits);
	ck_assert_uint_eq(told.header.status, fits ? IBA_STATUS_OK : IBA_SA_NO_RESOURCES);
	told_clear(&told);
}

/* What is too much for an answer is not read: with known tables, without silent nodes. */
START_TEST(test_too_much_to_read)
{
	struct fabric *fabric;
	struct fabric_port *port;
	struct ask ask;

	make_most();
	fabric = subnet->fabric;
	port = &fabric->ports[endport(subnet, 5, true)];
	inventory_forget(maker, INVENTORY_P_KEYS);
	if (_i == 1)
		put_long(fabric->nodes[port->node].guid, port->num);
	if (_i == 2) {
		inventory_put_silent(maker, fabric->nodes[port->node].guid, 2, NOW, 1);
		fabric->switches[0].info.partition_enforcement_cap += LONG / 8 * 32;
	}
	publish();
	ask = ask_for(&kinds[4]);
	check_fits(&ask, true);
	fabric->nodes[1].info.partition_cap += 32; /* one block more */
	check_fits(&ask, false);
	ask.mask = IBA_COMPONENT(p_key_table_record, block_num);
	check_fits(&ask, true);
}
END_TEST

/* All pairs of a large fabric do not fit; of a small one they do. */
START_TEST(test_world_of_paths)
{
	struct sa_held *held;
	size_t length;

	context.rt = runtime_new(RUNTIME_VIRTUAL);
	held = sa_held_new(&context);
	ck_assert_uint_eq(run_with(IBA_ATTR_PATH_RECORD, held, &length), IBA_STATUS_OK);
	ck_assert_uint_gt(length, 36 * 36 * 64);
	subnet_unref(subnet);
	subnet = make_subnet("fattree:16", 0, 0); /* 1344 endports */
	ck_assert_uint_eq(run_with(IBA_ATTR_PATH_RECORD, held, &length), IBA_SA_NO_RESOURCES);
	ck_assert_uint_eq(length, IBA_MAD_BYTES);
	sa_held_free(held);
	runtime_free(context.rt);
}
END_TEST

/* Of all these Get returns the first one. */
START_TEST(test_any_path)
{
	struct ask ask = {.attribute = IBA_ATTR_PATH_RECORD, .method = IBA_METHOD_GET};

	subnet_unref(subnet);
	subnet = make_subnet("fattree:16", 0, 0);
	ask.subnet = subnet;
	ask.from = endport(subnet, 0, true);
	ck_assert_uint_eq(count(&ask), 1);
}
END_TEST

/* What this SA does not have is reported as unsupported, by each method. */
START_TEST(test_unsupported)
{
	static const uint16_t attributes[] = {IBA_ATTR_RANDOM_FORWARDING_TABLE_RECORD,
					      IBA_ATTR_TRACE_RECORD,
					      IBA_ATTR_SERVICE_ASSOCIATION_RECORD};
	static const uint8_t methods[] = {IBA_METHOD_GET, IBA_METHOD_GET_TABLE, IBA_METHOD_SET,
					  IBA_METHOD_GET_MULTI};

	for (unsigned int i = 0; i < G_N_ELEMENTS(attributes) * G_N_ELEMENTS(methods); i++) {
		struct ask ask = {.subnet = subnet,
				  .attribute = attributes[i / G_N_ELEMENTS(methods)],
				  .method = methods[i % G_N_ELEMENTS(methods)]};
		struct told told = tell(&ask);

		ck_assert_uint_eq(told.header.status, IBA_STATUS_UNSUP_METHOD_ATTR);
		ck_assert_uint_eq(told.length, IBA_MAD_BYTES);
		told_clear(&told);
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_tables");
	TCase *tcase = tcase_create("tables");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_counts, 0, G_N_ELEMENTS(kinds));
	tcase_add_test(tcase, test_less_by_now);
	tcase_add_loop_test(tcase, test_contents, 0, G_N_ELEMENTS(kinds));
	tcase_add_loop_test(tcase, test_components, 0, G_N_ELEMENTS(kinds));
	tcase_add_loop_test(tcase, test_waits, 0, G_N_ELEMENTS(kinds));
	tcase_add_test(tcase, test_waits_of_port);
	tcase_add_loop_test(tcase, test_silent, 0, G_N_ELEMENTS(kinds));
	tcase_add_loop_test(tcase, test_partitions_hide, 0, G_N_ELEMENTS(kinds));
	tcase_add_loop_test(tcase, test_no_qos, 0, 2);
	tcase_add_loop_test(tcase, test_host_port, 0, 2);
	tcase_add_test(tcase, test_sm_key_is_hidden);
	tcase_add_test(tcase, test_answers_are_counted);
	tcase_add_loop_test(tcase, test_too_much_to_read, 0, 3);
	tcase_add_test(tcase, test_world_of_paths);
	tcase_add_test(tcase, test_any_path);
	tcase_add_test(tcase, test_unsupported);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
