// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads tables for the SA: GUIDInfo and SMInfo, which no sweep reads, and SLtoVL and VLArbitration,
 * which sweeps read with QoS only. What the builder knows of these, and of P_Key and multicast
 * tables, is not queried. Tables are read only on demand, and only once: the result, an inventory
 * (subnet/inventory.h), is kept until a sweep finds a reason to doubt it.
 *
 * Each request of the SA is a scan over ports of the frozen fabric. A port whose table is not known
 * yet is a reading, with one SMP per block. SMPs are sent only while no sweep runs, and few enough
 * at a time that a sweep which begins finds the window almost empty; readings that a sweep may have
 * made outdated are repeated after it. The first block of a reading is sent alone: a node that does
 * not answer costs one SMP with its retries, and is then left alone for a while.
 *
 * All of it belongs to the actor "sm".
 */
#include "subnet/inventory.h"

#include <string.h>

#include "sm/discover/discover.h"
#include "sm/election/mastership.h"
#include "sm/read/read.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

#define READINGS_MAX 8 /* at once */
#define OUTSTANDING_MAX 8
#define SCANS_MAX 512		      /* more than the queries that wait in the SA */
#define PUBLISH_DELAY (2 * NS_PER_MS) /* many small requests cost one publication */
#define MLIDS_PER_BLOCK 32

struct scan {
	enum inventory_kind kind;
	uint16_t lid;	       /* 0: every endport */
	uint8_t port;	       /* of a node; or INVENTORY_ALL_PORTS */
	struct fabric *fabric; /* that has the ports; NULL: begin (again) */
	uint32_t next, end;
	unsigned int open; /* its readings in progress */
};

enum block_state {
	BLOCK_TO_READ,
	BLOCK_SETTLED,
};

/* One table of one port being read. */
struct reading {
	struct sm *sm;
	struct scan *scan;
	enum inventory_kind kind;
	uint64_t guid;
	uint32_t n_ports;
	uint8_t port;
	uint64_t epoch;	  /* of the node's tables at its start */
	uint32_t n, next; /* blocks; the next one to check */
	unsigned int out;
	bool answered, silent;
	bool stale;	/* a sweep ran since its start */
	uint8_t *state; /* enum block_state of each block */
	uint8_t *has;
	uint8_t *blocks;
};

struct table_reader {
	struct inventory_maker *maker;
	GPtrArray *scans;    /* scans for one LID before those for all */
	GPtrArray *readings; /* in progress */
	unsigned int out;
	unsigned int all_read; /* bits of the kinds read for all ports since the last publication */
	uint64_t carrying;     /* inventory_ports_with_data() at the end of the last sweep */
	struct timer publish;
	struct sm *sm;
};

static void reading_free(struct reading *reading)
{
	g_free(reading->state);
	g_free(reading->has);
	g_free(reading->blocks);
	g_free(reading);
}

static void scan_free(struct scan *scan)
{
	fabric_unref(scan->fabric);
	g_free(scan);
}

/* ---- what is known without a query ---- */

static void settle_block(struct reading *reading, uint32_t block, const void *bytes)
{
	size_t size = inventory_type(reading->kind)->size;

	reading->state[block] = BLOCK_SETTLED;
	reading->has[block] = bytes != NULL;
	if (bytes)
		memcpy(reading->blocks + block * size, bytes, size);
}

/* A table of the builder. */
static void settle_known(struct reading *reading, const struct builder_node *node,
			 const struct trust_table *table)
{
	size_t size = inventory_type(reading->kind)->size;

	for (uint32_t block = 0; block < reading->n; block++) {
		const void *bytes = trust_get(node, table, block, size);

		if (reading->state[block] == BLOCK_TO_READ && bytes)
			settle_block(reading, block, bytes);
	}
}

/* Without padding between its fields: lists of blocks are compared octet by octet. */
static void settle_own_sm_info(struct reading *reading)
{
	_Alignas(uint64_t) uint8_t host[IBA_SMP_DATA_BYTES] = {0};
	uint8_t wire[IBA_SMP_DATA_BYTES] = {0};
	const struct sm_told own = sm_info_own(reading->sm);

	wire_encode(&iba_sm_info_type, &own.info, wire);
	wire_decode(&iba_sm_info_type, wire, host);
	settle_block(reading, 0, host);
}

static void settle_from_builder(struct reading *reading, const struct builder_node *node)
{
	switch (reading->kind) {
	case INVENTORY_P_KEYS:
		settle_known(reading, node, &node->ports[reading->port].p_keys);
		break;
	case INVENTORY_MULTICAST:
		settle_known(reading, node, &node->mft);
		break;
	case INVENTORY_SL_TO_VL:
		settle_known(reading, node, &node->ports[reading->port].sl_to_vl);
		break;
	case INVENTORY_VL_ARBITRATION:
		settle_known(reading, node, &node->ports[reading->port].vl_arb);
		break;
	case INVENTORY_GUID_INFO:
		settle_known(reading, node, &node->ports[reading->port].guids);
		break;
	case INVENTORY_SM_INFO:
		if (&node->ports[reading->port] == reading->sm->builder->sm_port)
			settle_own_sm_info(reading);
		break;
	default:
		break;
	}
}

/* Blocks of multicast tables beyond the highest MLID in use are empty. */
static uint32_t blocks_in_use(const struct sm *sm, enum inventory_kind kind, uint32_t num_ports,
			      uint32_t n)
{
	uint32_t used = 0;

	if (kind != INVENTORY_MULTICAST)
		return n;
	if (sm->mlid_top)
		used = (sm->mlid_top - IBA_LID_MCAST_FIRST) / MLIDS_PER_BLOCK + 1;
	return MIN(n, used * IBA_MFT_POSITIONS_OF(num_ports));
}

static struct reading *reading_new(struct sm *sm, struct scan *scan, uint32_t port)
{
	const struct fabric *fabric = scan->fabric;
	const struct fabric_node *node = &fabric->nodes[fabric->ports[port].node];
	struct builder_node *known = builder_find(sm->builder, node->guid);
	struct reading *reading = g_new0(struct reading, 1);
	static const uint8_t zeros[IBA_SMP_DATA_BYTES];

	reading->sm = sm;
	reading->scan = scan;
	reading->kind = scan->kind;
	reading->guid = node->guid;
	reading->n_ports = node->num_ports + 1u;
	reading->port = fabric->ports[port].num;
	reading->epoch = known ? known->epoch : 0;
	reading->n = blocks_in_use(sm, scan->kind, node->num_ports,
				   inventory_blocks(fabric, port, scan->kind));
	reading->state = g_malloc0(reading->n);
	reading->has = g_malloc0(reading->n);
	reading->blocks = g_malloc0(reading->n * inventory_type(scan->kind)->size);
	for (uint32_t block = 0; block < reading->n; block++)
		if (inventory_block_is_zero(fabric, port, scan->kind, block))
			settle_block(reading, block, zeros);
	if (known && reading->port <= known->info.num_ports)
		settle_from_builder(reading, known);
	return reading;
}

/* ---- the end of a reading ---- */

/* The next block to be read from here on; false if there is none. */
static bool has_more(struct reading *reading)
{
	while (reading->next < reading->n && reading->state[reading->next] == BLOCK_SETTLED)
		reading->next++;
	return reading->next < reading->n && !reading->silent && !reading->stale;
}

static void reading_finish(struct reading *reading)
{
	struct sm *sm = reading->sm;
	struct table_reader *reader = sm->table_reader;
	uint64_t now = actor_now(sm->actor);

	if (reading->silent) {
		counter_inc(&sm->context->counters, tables_silent);
		inventory_put_silent(reader->maker, reading->guid, reading->n_ports, now,
				     reading->epoch);
	} else if (!reading->stale) {
		inventory_put(reader->maker, reading->guid, reading->n_ports, reading->port,
			      reading->kind, reading->blocks, reading->has, reading->n, now,
			      reading->epoch);
	}
	reading_free(reading);
}

/* ---- asking ---- */

static uint32_t modifier_of(const struct reading *reading, bool is_switch)
{
	uint32_t block = reading->next, port = reading->port;

	switch (reading->kind) {
	case INVENTORY_SL_TO_VL:
		return is_switch ? block << IBA_SL_TO_VL_MOD_INPUT_SHIFT | port : 0;
	case INVENTORY_VL_ARBITRATION:
		return (block + 1) << 16 | port;
	case INVENTORY_P_KEYS:
		return is_switch ? port << 16 | block : block;
	case INVENTORY_MULTICAST:
		return sm_mft_modifier(reading->n_ports - 1, block);
	default:
		return block;
	}
}

static void take_answer(struct reading *reading, const struct sm_request *request)
{
	_Alignas(uint64_t) uint8_t host[IBA_SMP_DATA_BYTES] = {0};
	const struct mad_request *mad = &request->mad;

	if (mad->result == MAD_TIMEOUT ||
	    (mad->result == MAD_STATUS && mad->status & IBA_STATUS_BUSY)) {
		reading->silent = true;
		return;
	}
	reading->answered = true;
	if (mad->result == MAD_OK)
		wire_decode(inventory_type(reading->kind), mad->data, host);
	settle_block(reading, request->block, mad->result == MAD_OK ? host : NULL);
}

static void on_answer(struct sm_request *request)
{
	struct reading *reading = request->mad.arg;
	struct sm *sm = reading->sm;

	reading->out--;
	sm->table_reader->out--;
	take_answer(reading, request);
	if (!reading->out && !has_more(reading)) {
		reading->scan->open--;
		g_ptr_array_remove_fast(sm->table_reader->readings, reading);
		reading_finish(reading);
	}
	table_reader_advance(sm);
}

/* False: the node has gone. */
static bool send_next(struct reading *reading)
{
	struct sm *sm = reading->sm;
	struct builder_node *node = builder_find(sm->builder, reading->guid);
	struct sm_request *request;
	bool is_switch;

	if (!node || reading->port > node->info.num_ports)
		return false;
	is_switch = builder_is_switch(node);
	request = sm_request_port(sm, &node->ports[reading->port], IBA_METHOD_GET,
				  inventory_attribute(reading->kind),
				  modifier_of(reading, is_switch));
	request->sender = REQUEST_OUTSIDE_SWEEP;
	request->block = reading->next++;
	request->mad.arg = reading;
	request->done = on_answer;
	reading->out++;
	sm->table_reader->out++;
	counter_inc(&sm->context->counters, tables_read);
	sm_request_send(request);
	return true;
}

static unsigned int outstanding_max(const struct sm *sm)
{
	unsigned int window = sm->options->max_wire_smps;

	return window ? CLAMP(window / 2, 1, OUTSTANDING_MAX) : OUTSTANDING_MAX;
}

static void send_some(struct sm *sm)
{
	struct table_reader *reader = sm->table_reader;

	for (guint i = 0; i < reader->readings->len; i++) {
		struct reading *reading = reader->readings->pdata[i];

		while (reader->out < outstanding_max(sm) && has_more(reading) &&
		       (reading->answered || !reading->out))
			if (!send_next(reading)) {
				reading->stale = true;
				break;
			}
	}
}

/* ---- scans ---- */

static void scan_begin(const struct sm *sm, struct scan *scan)
{
	const struct fabric *fabric = sm->fabric;
	uint32_t port;

	scan->fabric = fabric_ref(sm->fabric);
	scan->next = 0;
	scan->end = fabric->n_ports;
	if (!scan->lid)
		return;
	port = fabric_port_by_lid(fabric, scan->lid);
	scan->end = 0;
	if (port == FABRIC_NONE)
		return;
	scan->next = port;
	scan->end = port + 1;
	if (fabric_is_switch(fabric, fabric->ports[port].node))
		scan->end += fabric->nodes[fabric->ports[port].node].num_ports;
}

static bool scan_wants(const struct sm *sm, const struct scan *scan, uint32_t port)
{
	const struct fabric *fabric = scan->fabric;
	const struct fabric_port *p = &fabric->ports[port];

	return (scan->port == INVENTORY_ALL_PORTS || scan->port == p->num) &&
	       inventory_blocks(fabric, port, scan->kind) &&
	       inventory_maker_look(sm->table_reader->maker, fabric->nodes[p->node].guid, p->num,
				    scan->kind, actor_now(sm->actor)) == INVENTORY_UNKNOWN;
}

/* Advances to the next port; false if there is none, or it has to wait. */
static bool scan_step(struct sm *sm, struct scan *scan)
{
	struct reading *reading;

	if (!sm->fabric)
		return false;
	if (!scan->fabric)
		scan_begin(sm, scan);
	while (scan->next < scan->end && !scan_wants(sm, scan, scan->next))
		scan->next++;
	if (scan->next >= scan->end)
		return false;
	reading = reading_new(sm, scan, scan->next);
	if (!has_more(reading)) {
		reading_finish(reading);
		scan->next++;
		return true;
	}
	if (sweep_runs(sm)) {
		reading_free(reading);
		return false;
	}
	scan->open++;
	scan->next++;
	g_ptr_array_add(sm->table_reader->readings, reading);
	return true;
}

static void publish(struct table_reader *reader, unsigned int all_read)
{
	struct context *context = reader->sm->context;

	timer_stop(&reader->publish);
	reader->all_read = 0;
	slot_publish(&context->inventory, inventory_publish(reader->maker));
	event_emit(&context->bus, EVENT_INVENTORY_PUBLISHED, all_read);
}

static void publish_due(struct timer *timer)
{
	size_t offset = offsetof(struct table_reader, publish);
	struct table_reader *reader = (struct table_reader *)((char *)timer - offset);

	publish(reader, reader->all_read);
}

/* Removes finished scans; true if there were any. */
static bool end_scans(struct table_reader *reader)
{
	bool ended = false;

	for (guint i = 0; i < reader->scans->len;) {
		struct scan *scan = reader->scans->pdata[i];

		if (!scan->fabric || scan->next < scan->end || scan->open) {
			i++;
			continue;
		}
		reader->all_read |= scan->lid ? 0 : 1u << scan->kind;
		g_ptr_array_remove_index(reader->scans, i);
		scan_free(scan);
		ended = true;
	}
	return ended;
}

/*
 * Ends readings that cannot continue: their node is gone, or a sweep ran. True if there were any.
 */
static bool end_stale(struct table_reader *reader)
{
	bool ended = false;

	for (guint i = reader->readings->len; i-- > 0;) {
		struct reading *reading = reader->readings->pdata[i];

		if (!reading->stale || reading->out)
			continue;
		reading->scan->open--;
		g_ptr_array_remove_index_fast(reader->readings, i);
		reading_free(reading);
		ended = true;
	}
	return ended;
}

static void go_on(struct sm *sm)
{
	struct table_reader *reader = sm->table_reader;

	for (guint i = 0; i < reader->scans->len; i++)
		while (reader->readings->len < READINGS_MAX &&
		       scan_step(sm, reader->scans->pdata[i]))
			;
	if (!sweep_runs(sm))
		send_some(sm);
}

void table_reader_advance(struct sm *sm)
{
	struct table_reader *reader = sm->table_reader;

	end_stale(reader);
	do
		go_on(sm);
	while (end_stale(reader));
	if (end_scans(reader) && !timer_running(&reader->publish))
		timer_start(&reader->publish, PUBLISH_DELAY);
}

void table_reader_want(struct sm *sm, uint64_t want)
{
	struct table_reader *reader = sm->table_reader;
	struct scan *scan;

	if (reader->scans->len >= SCANS_MAX)
		return; /* the requester will ask again */
	for (guint i = 0; i < reader->scans->len; i++) {
		scan = reader->scans->pdata[i];
		if (inventory_want(scan->kind, scan->lid, scan->port) == want)
			return;
	}
	scan = g_new0(struct scan, 1);
	scan->kind = inventory_want_kind(want);
	scan->lid = inventory_want_lid(want);
	scan->port = inventory_want_port(want);
	g_ptr_array_insert(reader->scans, scan->lid ? 0 : -1, scan);
	table_reader_advance(sm);
}

/* ---- sweeps ---- */

/* What was read in another epoch of the node may belong to another device, or predate a reset. */
static bool is_still_true(void *arg, uint64_t guid, uint64_t epoch)
{
	struct sm *sm = arg;
	const struct builder_node *node = builder_find(sm->builder, guid);

	return node && node->epoch == epoch;
}

static bool is_unwritten(void *arg, uint64_t guid, uint64_t epoch)
{
	(void)epoch;
	return !g_hash_table_contains(arg, &guid);
}

void table_reader_written(struct sm *sm, GHashTable *nodes)
{
	struct table_reader *reader = sm->table_reader;

	for (guint i = 0; i < reader->readings->len; i++)
		((struct reading *)reader->readings->pdata[i])->stale = true;
	if (inventory_prune(reader->maker, is_unwritten, nodes))
		publish(reader, reader->all_read);
}

/* The tables of a port without data are reported as zeros, and no longer when it has data again. */
static bool other_ports_carry_data(struct table_reader *reader)
{
	const struct fabric *fabric = reader->sm->fabric;
	uint64_t before = reader->carrying;

	reader->carrying = fabric ? inventory_ports_with_data(fabric) : 0;
	return reader->carrying != before;
}

void table_reader_sweep_ended(struct sm *sm, enum sweep_kind kind)
{
	struct table_reader *reader = sm->table_reader;
	bool changed = false;

	if (kind != SWEEP_KIND_LIGHT) {
		changed = inventory_forget(reader->maker, INVENTORY_MULTICAST);
		changed |= inventory_forget(reader->maker, INVENTORY_P_KEYS);
		if (sm->sweep.qos_set || other_ports_carry_data(reader)) {
			changed |= inventory_forget(reader->maker, INVENTORY_SL_TO_VL);
			changed |= inventory_forget(reader->maker, INVENTORY_VL_ARBITRATION);
		}
		changed |= inventory_prune(reader->maker, is_still_true, sm) != 0;
		for (guint i = 0; i < reader->readings->len; i++)
			((struct reading *)reader->readings->pdata[i])->stale = true;
		for (guint i = 0; i < reader->scans->len; i++) {
			struct scan *scan = reader->scans->pdata[i];

			fabric_unref(scan->fabric);
			scan->fabric = NULL;
		}
	}
	if (changed)
		publish(reader, ~0u);
	table_reader_advance(sm);
}

/* ---- life ---- */

struct table_reader *table_reader_new(struct sm *sm)
{
	struct table_reader *reader = g_new0(struct table_reader, 1);

	reader->sm = sm;
	reader->maker = inventory_maker_new();
	reader->scans = g_ptr_array_new();
	reader->readings = g_ptr_array_new();
	timer_init(&reader->publish, sm->actor, publish_due);
	return reader;
}

void table_reader_free(struct table_reader *reader)
{
	for (guint i = 0; i < reader->readings->len; i++)
		reading_free(reader->readings->pdata[i]);
	for (guint i = 0; i < reader->scans->len; i++)
		scan_free(reader->scans->pdata[i]);
	g_ptr_array_unref(reader->readings);
	g_ptr_array_unref(reader->scans);
	inventory_maker_free(reader->maker);
	g_free(reader);
}
