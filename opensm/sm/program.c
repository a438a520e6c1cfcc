// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Forwarding tables: what the routing wants against what the switches hold, block by block.
 *
 * Switches are written in order of distance from the SM. When the layers before a switch are done,
 * its LID is routed to it; what is missing is its way back to the SM, and its own LID. So the
 * blocks with these two entries go first, by mixed or directed routes; the rest follows LID-routed.
 *
 * A routing that follows an older one shares with it the rows that did not change. A switch that
 * was seen to hold a row is not compared with it again, until something is known of its table that
 * was not known then.
 */
#include <string.h>

#include "sm/sm_private.h"

#define PER_BLOCK 64
#define BLOCK_BYTES sizeof(struct iba_linear_forwarding_table)

/* Whether the switch is known to hold what the routing wants, without a look at the blocks. */
static bool holds_row(const struct sm *sm, const struct builder_node *node, uint32_t sw)
{
	return node->row && node->row_of == sm->programs && node->row == sm->routing->lft[sw];
}

/* ---- reading back ---- */

static void on_block_read(struct sm_request *request)
{
	request->node->row = NULL;
	/* A block that was not read stays unknown: it will be written. */
	sm_block_read(request, &request->node->lft, &iba_linear_forwarding_table_type);
}

static void read_block(struct sm *sm, struct builder_node *node, uint32_t block)
{
	struct sm_request *request =
		sm_request_new(sm, node, IBA_METHOD_GET, IBA_ATTR_LINEAR_FORWARDING_TABLE, block);

	request->block = block;
	request->done = on_block_read;
	sm_request_send(request);
}

static bool block_known(const struct builder_node *node, uint32_t block)
{
	return builder_table_get(&node->lft, block, BLOCK_BYTES) != NULL;
}

/*
 * Reads the blocks first..last of each switch that held something when it was met. The first block
 * tries whether the switch, if its LID stays, can be reached LID-routed: not after a link was lost,
 * for what is still routed over it is answered by silence.
 */
static void read_tables(struct sm *sm, uint32_t first, uint32_t last, bool try_lid)
{
	for (uint32_t i = 0; i < sm->fabric->n_switches; i++) {
		struct builder_node *node = sm_switch(sm, i);
		uint32_t held = node->switch_info.linear_fdb_top / PER_BLOCK;

		if (!node->warm)
			continue;
		if (try_lid && node->entry && node->ports[0].info.lid == node->ports[0].lid)
			node->lid_routed = true;
		if (holds_row(sm, node, i))
			continue;
		for (uint32_t block = first; block <= MIN(last, held); block++)
			if (!block_known(node, block))
				read_block(sm, node, block);
	}
}

enum step_result step_readback(struct sm *sm)
{
	uint32_t last = sm->routing->n_blocks - 1;

	for (uint32_t i = 0; i < sm->fabric->n_switches; i++)
		builder_table_reserve(&sm_switch(sm, i)->lft, sm->routing->n_blocks, BLOCK_BYTES);
	if (!sm->sweep.round) {
		read_tables(sm, 0, 0, !sm->sweep.lost_link);
		return STEP_AGAIN;
	}
	read_tables(sm, 1, last, false);
	return STEP_WAIT;
}

/* ---- writing ---- */

static void on_block_set(struct sm_request *request)
{
	request->node->row = NULL;
	sm_block_written(request, &request->node->lft, &iba_linear_forwarding_table_type);
}

static bool block_differs(const struct sm *sm, const struct builder_node *node, uint32_t sw,
			  uint32_t block)
{
	const void *is;

	if (holds_row(sm, node, sw))
		return false;
	is = builder_table_get(&node->lft, block, BLOCK_BYTES);
	return !is || memcmp(is, sm->routing->lft[sw] + block * PER_BLOCK, BLOCK_BYTES);
}

static bool table_differs(const struct sm *sm, const struct builder_node *node, uint32_t sw)
{
	for (uint32_t block = 0; block < sm->routing->n_blocks; block++)
		if (block_differs(sm, node, sw, block))
			return true;
	return false;
}

static void write_block(struct sm *sm, struct builder_node *node, uint32_t sw, uint32_t block)
{
	struct sm_request *request;

	if (!block_differs(sm, node, sw, block))
		return;
	request = sm_request_new(sm, node, IBA_METHOD_SET, IBA_ATTR_LINEAR_FORWARDING_TABLE, block);
	wire_encode(&iba_linear_forwarding_table_type, sm->routing->lft[sw] + block * PER_BLOCK,
		    request->mad.data);
	request->block = block;
	request->done = on_block_set;
	counter_inc(&sm->context->counters, lft_blocks_set);
	sm_request_send(request);
}

static void on_switch_info_set(struct sm_request *request)
{
	if (!sm_request_ok(request)) {
		sm_request_failed(request);
		return;
	}
	wire_decode(&iba_switch_info_type, request->mad.data, &request->node->switch_info);
	builder_switch_info_set(request->node);
}

void switch_info_send(struct sm *sm, struct builder_node *node, const struct iba_switch_info *want)
{
	struct sm_request *request =
		sm_request_new(sm, node, IBA_METHOD_SET, IBA_ATTR_SWITCH_INFO, 0);

	wire_encode(&iba_switch_info_type, want, request->mad.data);
	request->done = on_switch_info_set;
	sm_request_send(request);
}

static void write_switch_info(struct sm *sm, struct builder_node *node)
{
	struct iba_switch_info want = node->switch_info;

	if (!node->has_switch_info)
		return;		    /* what to keep is not known */
	want.port_state_change = 0; /* 1 would clear a change that nobody has looked at yet */
	if (want.linear_fdb_top == sm->routing->top &&
	    want.life_time_value == sm->options->packet_life_time)
		return;
	want.linear_fdb_top = sm->routing->top;
	want.life_time_value = sm->options->packet_life_time;
	switch_info_send(sm, node, &want);
}

static bool can_be_answered(const struct sm *sm, const struct builder_node *node, uint32_t sw)
{
	uint16_t sm_lid = sm->builder->sm_port->lid;
	uint16_t own_lid = node->ports[0].lid;

	return node->ports[0].info.lid == own_lid &&
	       !block_differs(sm, node, sw, sm_lid / PER_BLOCK) &&
	       !block_differs(sm, node, sw, own_lid / PER_BLOCK) &&
	       node->switch_info.linear_fdb_top == sm->routing->top;
}

/* Port 0, LinearFDBTop, and the blocks with the SM's LID and its own. */
static void write_first(struct sm *sm, struct builder_node *node, uint32_t sw)
{
	struct builder_port *port0 = &node->ports[0];
	struct iba_port_info want;

	if (!can_be_answered(sm, node, sw))
		node->lid_routed = false;
	if (port0->known && link_wanted(sm, port0, &want))
		link_send(sm, port0, &want, IBA_PORT_NO_CHANGE);
	write_switch_info(sm, node);
	write_block(sm, node, sw, sm->builder->sm_port->lid / PER_BLOCK);
	if (port0->lid / PER_BLOCK != sm->builder->sm_port->lid / PER_BLOCK)
		write_block(sm, node, sw, port0->lid / PER_BLOCK);
}

static void write_rest(struct sm *sm, struct builder_node *node, uint32_t sw)
{
	node->lid_routed = node->entry && can_be_answered(sm, node, sw);
	if (holds_row(sm, node, sw))
		return;
	for (uint32_t block = 0; block < sm->routing->n_blocks; block++)
		write_block(sm, node, sw, block);
}

/* From here on the rows are those of this routing. */
static void note_rows(struct sm *sm)
{
	uint64_t number = sm->programs + 1;

	for (uint32_t i = 0; i < sm->fabric->n_switches; i++) {
		struct builder_node *node = sm_switch(sm, i);

		node->row = table_differs(sm, node, i) ? NULL : sm->routing->lft[i];
		node->row_of = number;
	}
	routing_unref(sm->programmed);
	sm->programmed = routing_ref(sm->routing);
	sm->programs = number;
}

static uint32_t last_layer(const struct fabric *fabric)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < fabric->n_switches; i++)
		last = MAX(last, fabric->switches[i].hops);
	return last;
}

/* Two rounds a layer of switches: first what makes them answer, then the rest. */
enum step_result step_program(struct sm *sm)
{
	uint32_t layer = sm->sweep.round / 2;
	bool rest = sm->sweep.round % 2;

	if (layer > last_layer(sm->fabric)) {
		note_rows(sm);
		return STEP_NEXT;
	}
	for (uint32_t i = 0; i < sm->fabric->n_switches; i++) {
		if (sm->fabric->switches[i].hops != layer)
			continue;
		if (rest)
			write_rest(sm, sm_switch(sm, i), i);
		else
			write_first(sm, sm_switch(sm, i), i);
	}
	return STEP_AGAIN;
}
