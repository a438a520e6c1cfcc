// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The inventory as its readers see it: which tables a port can have (IBA 14.2.5), and how a table
 * is found. Blocks of zeros at the end of a table take no memory: most ports with 128 GUIDs use
 * one.
 */
#include "subnet/inventory.h"

#include <glib.h>
#include <string.h>

#include "complib/hash.h"
#include "subnet/inventory_private.h"

#define PER_P_KEY_BLOCK 32
#define PER_GUID_BLOCK 8
#define PER_MFT_BLOCK 32
#define VL_ARB_BLOCKS 4
#define VL_ARB_PER_BLOCK 32

/* ---- which tables a port can have ---- */

static bool is_switch_port(const struct fabric *fabric, uint32_t port)
{
	return fabric_is_switch(fabric, fabric->ports[port].node);
}

/* Port 0 of a switch does not forward, and has no VLs unless it is an enhanced one (IBA 18.2). */
static bool has_vls(const struct fabric *fabric, uint32_t port)
{
	const struct fabric_port *p = &fabric->ports[port];

	if (iba_vls_count(p->info.vl_cap) < 2)
		return false;
	return p->num != 0 || !is_switch_port(fabric, port) ||
	       fabric->switches[fabric->nodes[p->node].sw].info.enhanced_port0;
}

static uint32_t sl_to_vl_blocks(const struct fabric *fabric, uint32_t port)
{
	return is_switch_port(fabric, port) ? fabric->nodes[fabric->ports[port].node].num_ports + 1u
					    : 1;
}

static uint32_t vl_arbitration_blocks(const struct fabric *fabric, uint32_t port)
{
	(void)fabric;
	(void)port;
	return VL_ARB_BLOCKS;
}

/* A port without a cable, or that is not reported, carries no data. */
static bool carries_data(const struct fabric *fabric, uint32_t port)
{
	return fabric->ports[port].known && has_vls(fabric, port) &&
	       ((fabric->ports[port].num == 0 && is_switch_port(fabric, port)) ||
		fabric->ports[port].peer != FABRIC_NONE);
}

uint64_t inventory_ports_with_data(const struct fabric *fabric)
{
	uint64_t sum = 0;

	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		uint64_t guid = fabric->nodes[fabric->ports[port].node].guid;
		uint64_t mixed = hash_spread(guid ^ (uint64_t)fabric->ports[port].num << 56);

		if (carries_data(fabric, port))
			sum += hash_spread(mixed ^ mixed >> 32);
	}
	return sum;
}

static bool maps_sl_to_vl(const struct fabric *fabric, uint32_t out, uint32_t block)
{
	uint32_t endport = fabric_endport_of(fabric, out);
	uint32_t in = is_switch_port(fabric, out) ? endport + block : out;

	return fabric->ports[endport].info.capability_mask & IBA_PORT_CAP_SL_MAPPING &&
	       (in == endport || carries_data(fabric, in));
}

static bool arbitrates(const struct fabric *fabric, uint32_t port, uint32_t block)
{
	const struct iba_port_info *info = &fabric->ports[port].info;
	uint8_t cap = block < 2 ? info->vl_arbitration_low_cap : info->vl_arbitration_high_cap;

	return cap > block % 2 * VL_ARB_PER_BLOCK;
}

bool inventory_block_is_zero(const struct fabric *fabric, uint32_t port, enum inventory_kind kind,
			     uint32_t block)
{
	if (kind == INVENTORY_SL_TO_VL)
		return !carries_data(fabric, port) || !maps_sl_to_vl(fabric, port, block);
	if (kind == INVENTORY_VL_ARBITRATION)
		return !carries_data(fabric, port) || !arbitrates(fabric, port, block);
	return false;
}

static uint32_t guid_info_blocks(const struct fabric *fabric, uint32_t port)
{
	if (!fabric_is_endport(fabric, port))
		return 0;
	return (fabric->ports[port].info.guid_cap + PER_GUID_BLOCK - 1u) / PER_GUID_BLOCK;
}

static uint32_t sm_info_blocks(const struct fabric *fabric, uint32_t port)
{
	if (!fabric_is_endport(fabric, port))
		return 0;
	return port == fabric->sm_port ||
	       (fabric->ports[port].info.capability_mask & IBA_PORT_CAP_SM) != 0;
}

/*
 * External switch ports have tables of their own if the switch enforces partitions (IBA 14.2.5.7).
 */
static uint32_t p_key_blocks(const struct fabric *fabric, uint32_t port)
{
	const struct fabric_node *node = &fabric->nodes[fabric->ports[port].node];
	uint32_t cap = MAX(1, node->info.partition_cap);

	if (!fabric_is_endport(fabric, port))
		cap = fabric->switches[node->sw].info.partition_enforcement_cap;
	return (cap + PER_P_KEY_BLOCK - 1) / PER_P_KEY_BLOCK;
}

static uint32_t multicast_blocks(const struct fabric *fabric, uint32_t port)
{
	uint32_t node = fabric->ports[port].node;

	if (fabric->ports[port].num != 0 || !fabric_is_switch(fabric, node))
		return 0;
	return fabric->switches[fabric->nodes[node].sw].info.multicast_fdb_cap / PER_MFT_BLOCK *
	       IBA_MFT_POSITIONS_OF(fabric->nodes[node].num_ports);
}

static const struct row {
	uint16_t attribute;
	const struct wire_type *type;
	uint32_t (*blocks)(const struct fabric *fabric, uint32_t port);
} rows[INVENTORY_KINDS] = {
	[INVENTORY_SL_TO_VL] = {IBA_ATTR_SL_TO_VL_TABLE, &iba_sl_to_vl_table_type, sl_to_vl_blocks},
	[INVENTORY_VL_ARBITRATION] = {IBA_ATTR_VL_ARBITRATION_TABLE, &iba_vl_arbitration_table_type,
				      vl_arbitration_blocks},
	[INVENTORY_GUID_INFO] = {IBA_ATTR_GUID_INFO, &iba_guid_info_type, guid_info_blocks},
	[INVENTORY_SM_INFO] = {IBA_ATTR_SM_INFO, &iba_sm_info_type, sm_info_blocks},
	[INVENTORY_P_KEYS] = {IBA_ATTR_P_KEY_TABLE, &iba_p_key_table_type, p_key_blocks},
	[INVENTORY_MULTICAST] = {IBA_ATTR_MULTICAST_FORWARDING_TABLE,
				 &iba_multicast_forwarding_table_type, multicast_blocks},
};

uint16_t inventory_attribute(enum inventory_kind kind)
{
	return rows[kind].attribute;
}

const struct wire_type *inventory_type(enum inventory_kind kind)
{
	return rows[kind].type;
}

/* For ports that were read and whose endport has a LID: others cannot be reported. */
uint32_t inventory_blocks(const struct fabric *fabric, uint32_t port, enum inventory_kind kind)
{
	uint32_t endport = fabric_endport_of(fabric, port);

	if (!fabric->ports[port].known || !fabric->ports[endport].known ||
	    fabric->ports[endport].lid == 0)
		return 0;
	return rows[kind].blocks(fabric, port);
}

/* ---- a table ---- */

static bool is_zero(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i])
			return false;
	return true;
}

struct inventory_list *inventory_list_new(enum inventory_kind kind, const void *blocks,
					  const uint8_t *has, uint32_t n)
{
	size_t size = rows[kind].type->size, stored = n * size;
	struct inventory_list *list;

	while (stored && is_zero((const uint8_t *)blocks + stored - size, size))
		stored -= size;
	list = g_malloc0(sizeof(*list) + stored + n);
	ref_init(&list->ref);
	list->block_bytes = (uint32_t)size;
	list->n = n;
	list->n_stored = (uint32_t)(stored / size);
	if (stored)
		memcpy(list->data, blocks, stored);
	if (n)
		memcpy(list->data + stored, has, n);
	return list;
}

struct inventory_list *inventory_list_ref(struct inventory_list *list)
{
	ref_get(&list->ref);
	return list;
}

void inventory_list_unref(struct inventory_list *list)
{
	if (list && ref_put(&list->ref))
		g_free(list);
}

uint32_t inventory_list_blocks(const struct inventory_list *list)
{
	return list->n;
}

uint32_t inventory_list_count(const struct inventory_list *list)
{
	const uint8_t *has = list->data + (size_t)list->n_stored * list->block_bytes;
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++)
		n += has[i] != 0;
	return n;
}

const void *inventory_list_block(const struct inventory_list *list, uint32_t block)
{
	static const uint64_t zeros[IBA_SMP_DATA_BYTES / sizeof(uint64_t)];
	size_t stored = (size_t)list->n_stored * list->block_bytes;

	if (block >= list->n || !list->data[stored + block])
		return NULL;
	if (block >= list->n_stored)
		return zeros;
	return list->data + (size_t)block * list->block_bytes;
}

/* ---- all tables ---- */

void inventory_node_unref(struct inventory_node *node)
{
	if (!ref_put(&node->ref))
		return;
	for (unsigned int kind = 0; kind < INVENTORY_KINDS; kind++)
		inventory_node_clear(node, kind);
	g_free(node);
}

void inventory_node_clear(struct inventory_node *node, enum inventory_kind kind)
{
	struct inventory_list **lists = node->lists[kind];

	for (uint32_t i = 0; lists && i < node->n_ports; i++)
		inventory_list_unref(lists[i]);
	g_free(lists);
	node->lists[kind] = NULL;
}

struct inventory *inventory_ref(struct inventory *inventory)
{
	ref_get(&inventory->ref);
	return inventory;
}

void inventory_unref(struct inventory *inventory)
{
	if (!inventory || !ref_put(&inventory->ref))
		return;
	for (uint32_t i = 0; i < inventory->n; i++)
		inventory_node_unref(inventory->nodes[i]);
	g_free(inventory->nodes);
	g_free(inventory);
}

uint32_t inventory_place(struct inventory_node *const *nodes, uint32_t n, uint64_t guid)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (nodes[middle]->guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

enum inventory_state inventory_node_look(const struct inventory_node *node, const uint32_t *epoch,
					 uint8_t port, enum inventory_kind kind, uint64_t now_ns,
					 const struct inventory_list **list)
{
	bool current = node->lists[kind] && node->epoch[kind] == epoch[kind] &&
		       port < node->n_ports && node->lists[kind][port];

	if (current &&
	    (kind != INVENTORY_SM_INFO || now_ns - node->sm_info_ns < INVENTORY_SM_INFO_NS)) {
		*list = node->lists[kind][port];
		return INVENTORY_KNOWN;
	}
	if (node->silent_ns && now_ns - node->silent_ns < INVENTORY_SILENT_NS)
		return INVENTORY_SILENT;
	return INVENTORY_UNKNOWN;
}

enum inventory_state inventory_look(const struct inventory *inventory, uint64_t node_guid,
				    uint8_t port, enum inventory_kind kind, uint64_t now_ns,
				    const struct inventory_list **list)
{
	uint32_t place;

	if (!inventory)
		return INVENTORY_UNKNOWN;
	place = inventory_place(inventory->nodes, inventory->n, node_guid);
	if (place == inventory->n || inventory->nodes[place]->guid != node_guid)
		return INVENTORY_UNKNOWN;
	return inventory_node_look(inventory->nodes[place], inventory->epoch, port, kind, now_ns,
				   list);
}
