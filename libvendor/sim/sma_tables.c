// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The tables of a node: GUIDs, P_Keys, SL to VL, VL arbitration, unicast and multicast forwarding.
 * A table uses memory only once it was written, and is stored for its most frequent reader:
 * forwarding tables in host order, tables that only the SM reads as wire bytes.
 */
#include <string.h>

#include "libvendor/sim/sim_private.h"

#define BLOCK IBA_SMP_DATA_BYTES

/* ---- GUIDInfo: 14.2.5.5 ---- */

uint16_t sma_guid_info(struct sma_request *request)
{
	struct sim_port *port = request->end;
	struct iba_guid_info info = {{0}};
	unsigned int first = request->modifier * 8;

	if (request->modifier >= SIM_GUID_CAP / 8)
		return IBA_STATUS_INVALID_FIELD;
	if (request->set) {
		if (!port->guids)
			port->guids = g_new0(uint64_t, SIM_GUID_CAP);
		wire_decode(&iba_guid_info_type, request->data, &info);
		memcpy(port->guids + first, info.guid, sizeof(info.guid));
	}
	if (port->guids)
		memcpy(info.guid, port->guids + first, sizeof(info.guid));
	if (!first)
		info.guid[0] = port->guid; /* read only */
	wire_encode(&iba_guid_info_type, &info, request->data);
	return IBA_STATUS_OK;
}

/* ---- P_KeyTable: 14.2.5.7 ---- */

static bool is_end_port(const struct sim_port *port)
{
	return !port->node->sw || !port->number;
}

static unsigned int p_key_cap(const struct sim_port *port)
{
	return is_end_port(port) ? port->node->partition_cap : SIM_SWITCH_P_KEYS;
}

const uint16_t *sma_p_keys(const struct sim_port *port, unsigned int *n)
{
	static const uint16_t power_on[1] = {IBA_P_KEY_DEFAULT_FULL};

	*n = port->p_keys ? p_key_cap(port) : is_end_port(port);
	return port->p_keys ? port->p_keys : power_on;
}

/* Equal base, and at least one of the two is a full member. */
static bool p_key_matches(uint16_t a, uint16_t b)
{
	return a & IBA_P_KEY_BASE_MASK && !((a ^ b) & IBA_P_KEY_BASE_MASK) &&
	       (a | b) & IBA_P_KEY_FULL_MEMBER;
}

int sma_find_p_key(const struct sim_port *port, uint16_t p_key)
{
	unsigned int n;
	const uint16_t *p_keys = sma_p_keys(port, &n);

	for (unsigned int i = 0; i < n; i++)
		if (p_key_matches(p_keys[i], p_key))
			return i;
	return -1;
}

uint16_t sma_p_key_table(struct sma_request *request)
{
	unsigned int block = request->modifier & 0xFFFF, number = request->modifier >> 16;
	struct sim_port *port = request->end;
	struct iba_p_key_table table = {{0}};
	const uint16_t *p_keys;
	unsigned int n;
	size_t bytes;

	if (request->node->sw) {
		if (number > request->node->num_ports)
			return IBA_STATUS_INVALID_FIELD;
		port = &request->node->ports[number];
	}
	n = p_key_cap(port);
	if (block * 32 >= n)
		return IBA_STATUS_INVALID_FIELD;
	if (request->set) {
		if (!port->p_keys) {
			port->p_keys = g_new0(uint16_t, n);
			port->p_keys[0] = is_end_port(port) ? IBA_P_KEY_DEFAULT_FULL : 0;
		}
		wire_decode(&iba_p_key_table_type, request->data, &table);
		bytes = MIN(32, n - block * 32) * sizeof(*table.p_key);
		if (memcmp(port->p_keys + block * 32, table.p_key, bytes) != 0)
			sim_vendors_tell(request->sim, port, VENDOR_P_KEYS_CHANGED);
		memcpy(port->p_keys + block * 32, table.p_key, bytes);
	}
	p_keys = sma_p_keys(port, &n);
	for (unsigned int i = 0; i < 32; i++)
		table.p_key[i] = block * 32 + i < n ? p_keys[block * 32 + i] : 0;
	wire_encode(&iba_p_key_table_type, &table, request->data);
	return IBA_STATUS_OK;
}

/* ---- SLtoVLMappingTable: 14.2.5.8 ---- */

/* After power on SL n uses VL n modulo the eight VLs. */
static uint8_t *sl_to_vl_new(unsigned int inputs)
{
	static const uint8_t power_on[SIM_SL_TO_VL_BYTES] = {0x01, 0x23, 0x45, 0x67,
							     0x01, 0x23, 0x45, 0x67};
	uint8_t *table = g_malloc((size_t)inputs * SIM_SL_TO_VL_BYTES);

	for (unsigned int i = 0; i < inputs; i++)
		memcpy(table + i * SIM_SL_TO_VL_BYTES, power_on, SIM_SL_TO_VL_BYTES);
	return table;
}

#define ALL_OUTPUTS 0x10000
#define ALL_INPUTS 0x20000

uint8_t sma_vl(const struct sim_port *port, unsigned int in, uint8_t sl)
{
	const uint8_t *row = port->sl_to_vl;

	if (!row)
		return sl % 8;
	row += (port->node->sw ? in : 0) * SIM_SL_TO_VL_BYTES;
	return sl % 2 ? row[sl / 2] & 0xF : row[sl / 2] >> 4;
}

static void sl_to_vl_write(struct sim_port *port, unsigned int first, unsigned int last,
			   const uint8_t *data)
{
	unsigned int inputs = port->node->sw ? port->node->num_ports + 1U : 1;

	if (!port->sl_to_vl)
		port->sl_to_vl = sl_to_vl_new(inputs);
	for (unsigned int in = first; in <= last; in++)
		memcpy(port->sl_to_vl + in * SIM_SL_TO_VL_BYTES, data, SIM_SL_TO_VL_BYTES);
}

/* One Set writes the rows of all inputs, outputs, or both (OptimizedSLtoVLMappingProgramming). */
static uint16_t sl_to_vl_set_all(struct sma_request *request, unsigned int in, unsigned int out)
{
	struct sim_node *node = request->node;
	bool inputs = request->modifier & ALL_INPUTS, outputs = request->modifier & ALL_OUTPUTS;
	unsigned int last = outputs ? node->num_ports : out;

	if (node->refuses_wildcards) {
		memset(request->data, 0, BLOCK);
		return node->says_nothing_of_it ? IBA_STATUS_OK : IBA_STATUS_INVALID_FIELD;
	}
	if (!request->set || request->modifier >> 18 || (!outputs && out > node->num_ports) ||
	    (!inputs && in > node->num_ports))
		return IBA_STATUS_INVALID_FIELD;
	for (unsigned int port = outputs ? 1 : out; port <= last; port++)
		sl_to_vl_write(&node->ports[port], inputs ? 0 : in, inputs ? node->num_ports : in,
			       request->data);
	memset(request->data + SIM_SL_TO_VL_BYTES, 0, BLOCK - SIM_SL_TO_VL_BYTES);
	return IBA_STATUS_OK;
}

/* In a switch the modifier gives input and output port; otherwise the port is that of the SMP. */
uint16_t sma_sl_to_vl_table(struct sma_request *request)
{
	unsigned int in = request->modifier >> 8 & 0xFF, out = request->modifier & 0xFF;
	struct sim_port *port = request->end;

	if (!request->node->sw) {
		in = 0;
	} else {
		if (request->modifier >> 16)
			return sl_to_vl_set_all(request, in, out);
		if (in > request->node->num_ports || out > request->node->num_ports)
			return IBA_STATUS_INVALID_FIELD;
		port = &request->node->ports[out];
	}
	if (request->set)
		sl_to_vl_write(port, in, in, request->data);
	memset(request->data, 0, BLOCK);
	if (port->sl_to_vl) {
		memcpy(request->data, port->sl_to_vl + in * SIM_SL_TO_VL_BYTES, SIM_SL_TO_VL_BYTES);
	} else {
		g_autofree uint8_t *fresh = sl_to_vl_new(1);

		memcpy(request->data, fresh, SIM_SL_TO_VL_BYTES);
	}
	return IBA_STATUS_OK;
}

/* ---- VLArbitrationTable: 14.2.5.9 ---- */

/* Blocks 1 and 2 are the lower and upper half of the low priority table, 3 and 4 of the high. */
uint16_t sma_vl_arbitration_table(struct sma_request *request)
{
	unsigned int block = request->modifier >> 16, number = request->modifier & 0xFFFF;
	struct sim_port *port = request->end;
	unsigned int cap, entries;

	if (request->node->sw) {
		if (number > request->node->num_ports)
			return IBA_STATUS_INVALID_FIELD;
		port = &request->node->ports[number];
	}
	if (block < 1 || block > SIM_VL_ARB_BLOCKS)
		return IBA_STATUS_INVALID_FIELD;
	cap = block <= 2 ? port->info.vl_arbitration_low_cap : port->info.vl_arbitration_high_cap;
	if (block % 2 == 0)
		cap = cap > 32 ? cap - 32 : 0;
	entries = MIN(cap, 32);
	if (!entries)
		return IBA_STATUS_INVALID_FIELD;
	if (request->set && !port->vl_arb)
		port->vl_arb = g_malloc0(SIM_VL_ARB_BLOCKS * BLOCK);
	if (request->set)
		memcpy(port->vl_arb + (block - 1) * BLOCK, request->data, entries * 2);
	memset(request->data, 0, BLOCK);
	if (port->vl_arb)
		memcpy(request->data, port->vl_arb + (block - 1) * BLOCK, entries * 2);
	return IBA_STATUS_OK;
}

const uint8_t *sim_sl_to_vl(const struct sim *sim, unsigned int node, unsigned int port,
			    unsigned int input)
{
	const uint8_t *rows = sim_port_at((struct sim *)sim, node, port)->sl_to_vl;

	return rows ? rows + (size_t)input * SIM_SL_TO_VL_BYTES : NULL;
}

const uint8_t *sim_vl_arbitration(const struct sim *sim, unsigned int node, unsigned int port,
				  unsigned int block)
{
	const uint8_t *blocks = sim_port_at((struct sim *)sim, node, port)->vl_arb;

	return blocks ? blocks + (size_t)(block - 1) * BLOCK : NULL;
}

/* ---- LinearForwardingTable: 14.2.5.10 ---- */

uint16_t sma_linear_forwarding_table(struct sma_request *request)
{
	struct sim_switch *sw = request->node->sw;

	if (request->modifier >= SIM_LFT_ENTRIES / BLOCK ||
	    request->modifier * BLOCK >= sw->info.linear_fdb_cap)
		return IBA_STATUS_INVALID_FIELD;
	if (request->set) {
		if (!sw->lft) {
			sw->lft = g_malloc(SIM_LFT_ENTRIES);
			memset(sw->lft, IBA_PORT_NONE, SIM_LFT_ENTRIES);
		}
		memcpy(sw->lft + request->modifier * BLOCK, request->data, BLOCK);
	} else if (sw->lft) {
		memcpy(request->data, sw->lft + request->modifier * BLOCK, BLOCK);
	} else {
		memset(request->data, IBA_PORT_NONE, BLOCK);
	}
	return IBA_STATUS_OK;
}

/* ---- MulticastForwardingTable: 14.2.5.12 ---- */

/* The 32 masks of a block and position; NULL: not written yet. */
static uint16_t *mft_masks(struct sim_node *node, unsigned int block, unsigned int position,
			   bool make)
{
	unsigned int positions = node->num_ports / 16 + 1;
	size_t size = (size_t)positions * SIM_MFT_BLOCK;
	struct sim_switch *sw = node->sw;

	if (block >= sw->mft_blocks) {
		if (!make)
			return NULL;
		sw->mft = g_renew(uint16_t, sw->mft, (block + 1) * size);
		memset(sw->mft + sw->mft_blocks * size, 0,
		       (block + 1 - sw->mft_blocks) * size * sizeof(uint16_t));
		sw->mft_blocks = block + 1;
	}
	return sw->mft + block * size + position * SIM_MFT_BLOCK;
}

uint16_t sma_multicast_forwarding_table(struct sma_request *request)
{
	unsigned int position = request->modifier >> 28, block = request->modifier & 0xFFFFFFF;
	struct iba_multicast_forwarding_table table = {{0}};
	uint16_t *masks;

	if (position > request->node->num_ports / 16U ||
	    block * SIM_MFT_BLOCK >= request->node->sw->info.multicast_fdb_cap)
		return IBA_STATUS_INVALID_FIELD;
	masks = mft_masks(request->node, block, position, request->set);
	if (request->set) {
		wire_decode(&iba_multicast_forwarding_table_type, request->data, &table);
		memcpy(masks, table.port_mask, sizeof(table.port_mask));
	} else if (masks) {
		memcpy(table.port_mask, masks, sizeof(table.port_mask));
	}
	wire_encode(&iba_multicast_forwarding_table_type, &table, request->data);
	return IBA_STATUS_OK;
}

void sim_mft(const struct sim *sim, unsigned int node_index, uint16_t mlid, uint16_t mask[16])
{
	struct sim_node *node = &sim->nodes[node_index];
	unsigned int entry = mlid - IBA_LID_MCAST_FIRST;

	memset(mask, 0, 16 * sizeof(*mask));
	if (!node->sw || mlid < IBA_LID_MCAST_FIRST)
		return;
	for (unsigned int position = 0; position <= node->num_ports / 16U; position++) {
		const uint16_t *masks = mft_masks(node, entry / SIM_MFT_BLOCK, position, false);

		mask[position] = masks ? masks[entry % SIM_MFT_BLOCK] : 0;
	}
}
