// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Forwarding tables read from the hardware: if nothing is known of a switch that holds something (a
 * restart, an earlier SM), or if what is known is in doubt.
 *
 * As long as the tables are unknown, it is unknown which nodes can be reached by LID. A subnet that
 * was set up before probably still is, and reading does no harm: so LIDs are tried here, and a
 * switch that does not answer for its first block is queried for the rest by directed routes.
 */
#include <string.h>

#include "sm/discover/discover.h"
#include "sm/read/read.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

#define PER_BLOCK 64
#define BLOCK_BYTES sizeof(struct iba_linear_forwarding_table)
#define ANEW_MAX 3  /* sweeps in a row that begin again as switches fell silent */
#define PER_VISIT 4 /* blocks: as many as an SMA is queried for at a time */

/* ---- comparing ---- */

/* The contents of all of a table after a reset. */
static uint8_t cleared_octet(uint16_t attribute)
{
	return attribute == IBA_ATTR_LINEAR_FORWARDING_TABLE ? IBA_PORT_NONE : 0;
}

static void on_compared(struct sm_request *request)
{
	struct builder_node *node = request->node;
	const struct wire_type *type = sm_table_type(request->mad.attribute);
	unsigned int num = request->port ? request->port->num : 0;
	const void *known = trust_get(node, sm_table(node, num, request->mad.attribute),
				      request->block, type->size);
	_Alignas(uint64_t) uint8_t now[IBA_SMP_DATA_BYTES];
	char name[SM_NAME_SIZE];

	if (!sm_request_ok(request)) {
		node->check = true;
		if (!sm_request_is_late(request))
			sm_request_failed(request);
		return;
	}
	wire_decode(type, request->mad.data, now);
	if (!known || wire_equal(type, known, now))
		return;
	log_info(request->sm->log,
		 "%s does not hold the tables that were written to it: it was "
		 "reset",
		 sm_node_name(node, name, sizeof(name)));
	trust_lose(node);
}

/* Whether the block is known, and differs from power-on. */
static bool says_something(struct builder_node *node, unsigned int num, uint16_t attribute,
			   uint32_t block)
{
	size_t size = sm_table_type(attribute)->size;
	const uint8_t *known = trust_get(node, sm_table(node, num, attribute), block, size);

	for (size_t i = 0; known && i < size; i++)
		if (known[i] != cleared_octet(attribute))
			return true;
	return false;
}

/*
 * Of the blocks that are evidence, the one that has been known longest: a newer one may have been
 * written after the reset. The number of blocks if there is none.
 */
static uint32_t block_to_compare(struct builder_node *node, unsigned int num, uint16_t attribute)
{
	const struct trust_table *table = sm_table(node, num, attribute);
	uint32_t n = trust_n_blocks(table), oldest = n;

	for (uint32_t block = 0; block < n; block++)
		if (says_something(node, num, attribute, block) &&
		    (oldest == n || trust_is_older(table, block, oldest)))
			oldest = block;
	return oldest;
}

/* False if no known part of the table could be compared. */
static bool compare(struct sm *sm, struct builder_node *node, unsigned int num, uint16_t attribute)
{
	struct builder_port *port = &node->ports[num];
	uint32_t block = block_to_compare(node, num, attribute), modifier = block;
	struct sm_request *request;

	if (block >= trust_n_blocks(sm_table(node, num, attribute)))
		return false;
	if (attribute == IBA_ATTR_MULTICAST_FORWARDING_TABLE)
		modifier = sm_mft_modifier(node->info.num_ports, block);
	else if (attribute == IBA_ATTR_P_KEY_TABLE)
		modifier = p_keys_modifier(port, block);
	request = num ? sm_request_port(sm, port, IBA_METHOD_GET, attribute, modifier)
		      : sm_request_new(sm, node, IBA_METHOD_GET, attribute, modifier);
	request->block = block;
	request->belief = true;
	request->done = on_compared;
	sm_request_send(request);
	return true;
}

/*
 * The LFT may be one block, which the SM has written after the reset: so the P_Key table of a port
 * is compared too.
 */
static void compare_p_keys(struct sm *sm, struct builder_node *node)
{
	unsigned int num = node->info.num_ports;

	while (num && !compare(sm, node, num, IBA_ATTR_P_KEY_TABLE))
		num--;
}

static void compare_tables(struct sm *sm, void *item)
{
	struct builder_node *node = item;

	node->check = false; /* not before: the sweep may be cancelled until then */
	compare(sm, node, 0, IBA_ATTR_LINEAR_FORWARDING_TABLE);
	compare(sm, node, 0, IBA_ATTR_MULTICAST_FORWARDING_TABLE);
	compare_p_keys(sm, node);
}

enum step_result step_compare(struct sm *sm)
{
	const GPtrArray *switches = sm->builder->switches;
	GPtrArray *doubted = g_ptr_array_new();

	for (guint i = 0; i < switches->len; i++) {
		struct builder_node *node = switches->pdata[i];

		if (node->check)
			g_ptr_array_add(doubted, node);
	}
	sweep_walk(sm, doubted, 1, compare_tables);
	return STEP_NEXT;
}

/* ---- reading ---- */

/* A block that could not be read stays unknown: it will be written. */
static void on_block_read(struct sm_request *request)
{
	if (!sm_block_read(request) && request->mad.result == MAD_TIMEOUT &&
	    !sm_request_is_late(request) && !kept_was_read(request->node))
		request->sm->sweep.unread = request->node->guid;
}

bool lfts_are_unread(struct sm *sm)
{
	struct schedule *schedule = &sm->schedule;
	uint64_t guid = sm->sweep.unread;
	bool again = guid && guid != schedule->unread && schedule->anew < ANEW_MAX && !sm->dry;

	schedule->unread = guid;
	schedule->anew = again ? schedule->anew + 1 : 0;
	if (again)
		log_info(sm->log,
			 "switch 0x%016" G_GINT64_MODIFIER "x stopped answering before its "
			 "forwarding table was read: starting again",
			 guid);
	return again;
}

/*
 * Entries beyond LinearFDBTop are not in use; if that is 0, none are. A value above LinearFDBCap is
 * not credible.
 */
static bool is_in_force(const struct builder_node *node, uint32_t block)
{
	uint32_t top = MIN(node->switch_info.linear_fdb_top, builder_fdb_cap(node) - 1);

	return top && block <= top / PER_BLOCK;
}

static void read_block(struct sm *sm, struct builder_node *node, uint32_t block)
{
	struct sm_request *request;

	if (!is_in_force(node, block) || trust_get(node, &node->lft, block, BLOCK_BYTES))
		return;
	request = sm_request_new(sm, node, IBA_METHOD_GET, IBA_ATTR_LINEAR_FORWARDING_TABLE, block);
	request->block = block;
	request->by_likely_lid = true;
	request->belief = true;
	request->done = on_block_read;
	sm_request_send(request);
}

/* The blocks with the SM's LID and its own: they show whether it is reached by its LID. */
static void read_first(struct sm *sm, void *item)
{
	struct builder_node *node = item;
	uint32_t of_sm = sm->builder->sm_port->lid / PER_BLOCK;

	trust_reserve(&node->lft, sm->fabric->max_lid / PER_BLOCK + 1, BLOCK_BYTES);
	read_block(sm, node, of_sm);
	if (node->ports[0].lid / PER_BLOCK != of_sm)
		read_block(sm, node, node->ports[0].lid / PER_BLOCK);
}

static void read_some(struct sm *sm, void *item)
{
	uint32_t block = sm->sweep.part * PER_VISIT;

	for (unsigned int i = 0; i < PER_VISIT && block <= sm->fabric->max_lid / PER_BLOCK; i++)
		read_block(sm, item, block++);
}

enum step_result step_readback(struct sm *sm)
{
	uint32_t n_parts = sm->fabric->max_lid / PER_BLOCK / PER_VISIT + 1;
	GPtrArray *switches = g_ptr_array_new();

	builder_reach_changed(sm->builder);
	for (uint32_t i = 0; i < sm->fabric->n_switches; i++) {
		struct builder_node *node = sm_switch(sm, i);

		if (!sm->sweep.round || !trust_is_whole(&node->lft, node->epoch))
			g_ptr_array_add(switches, node);
	}
	sweep_walk(sm, switches, sm->sweep.round ? n_parts : 1,
		   sm->sweep.round ? read_some : read_first);
	return sm->sweep.round ? STEP_NEXT : STEP_AGAIN;
}
