// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Forwarding tables: the routing against what the switches hold, block by block.
 *
 * A switch is written when all switches are done through which the new routes lead from the SM to
 * it, and back. LID-routed SMPs then still need its own LID and its way back: so the blocks with
 * these two entries go first, by mixed or directed routes. A Get that is needed anyway is then sent
 * LID-routed, which proves that route (reach.c): the rest uses it, and mixed routes lead to
 * switches behind it. Where routes wait for each other in a ring, or lead nowhere, the nearest
 * switches go first.
 *
 * If the order in which entries change matters, the routing comes with stages (transition.h): each
 * one is finished before the next begins. A switch that does not accept its part is skipped until
 * the last stage: a dead switch must not keep others from new routes, and entries that stay the
 * same there do no harm.
 *
 * Stages that need SL2VL tables, or links that are coming up, are written by later steps, when
 * these are ready.
 *
 * A routing that follows an older one shares with it the rows that did not change. A switch that
 * was found to hold a row is not compared with it again, until something is known of its table that
 * was not known then.
 */
#include <string.h>

#include "route/transition/transition.h"
#include "sm/discover/discover.h"
#include "sm/forward/forward.h"
#include "sm/forward/held.h"
#include "sm/health/health.h"
#include "sm/read/read.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/write/write.h"

#define PER_BLOCK 64
#define BLOCK_BYTES sizeof(struct iba_linear_forwarding_table)
#define PER_VISIT 4 /* blocks: as many as an SMA is sent at a time */

/* Steps of a sweep that write forwarding tables. */
enum program_when {
	PROGRAM_FIRST,
	PROGRAM_MAPPED, /* SL2VL tables are as the routes need them */
	PROGRAM_LAST,	/* links are ACTIVE */
};

enum progress {
	TO_DO,
	NOW, /* in this round and the next */
	DONE,
};

struct program {
	void (*written)(struct sm *sm); /* all switches that accept the routes have them */
	struct routing *seen;		/* routing whose rows tables were found to equal */
	struct route_stages *stages;	/* NULL: the routing is written at once */
	struct held *held;		/* the tables at the start of the stages */
	uint32_t stage;			/* that is being written */
	bool maps_first;		/* SL2VL tables have to be written before the stages */
	bool *failed;	   /* [switch]: it did not accept its part of an earlier stage; or NULL */
	uint8_t *progress; /* enum progress of each switch */
	uint32_t to_do;
};

struct program *program_new(void (*written)(struct sm *sm))
{
	struct program *program = g_new0(struct program, 1);

	program->written = written;
	return program;
}

void program_take_stages(struct sm *sm, struct route_stages *stages, struct held *held,
			 bool maps_first)
{
	struct program *program = sm->program;

	route_stages_free(program->stages);
	held_free(program->held);
	g_clear_pointer(&program->failed, g_free);
	program->stages = stages;
	program->held = held;
	program->stage = 0;
	program->maps_first = maps_first;
}

struct held *program_held(struct sm *sm)
{
	return held_new(sm->builder, sm->fabric, sm->program->seen);
}

void program_free(struct program *program)
{
	route_stages_free(program->stages);
	held_free(program->held);
	routing_unref(program->seen);
	g_free(program->failed);
	g_free(program->progress);
	g_free(program);
}

/* ---- differences ---- */

/* What a switch should hold now. */
static const uint8_t *row_of(const struct sm *sm, uint32_t sw)
{
	const struct program *program = sm->program;

	return program->stages ? program->stages->rows[program->stage][sw] : sm->routing->lft[sw];
}

/*
 * What a block should hold. Routes do not use a block that the switch does not accept: when it is
 * tried, the entries that it would otherwise hold show whether the switch accepts it now.
 */
static const uint8_t *block_of(const struct sm *sm, const struct builder_node *node, uint32_t sw,
			       uint32_t block)
{
	const struct routing *routing = sm->routing;

	if (!trust_refuses(&node->lft, block))
		return row_of(sm, sw) + block * PER_BLOCK;
	if (routing->unlimited)
		routing = routing->unlimited;
	return routing->lft[sw] + block * PER_BLOCK;
}

/* This stage only sets entries to discard. */
static bool is_discarding(const struct program *program)
{
	return program->stages && program->stages->n_discarded && !program->stage;
}

/* Number of its blocks, among those in use. */
static uint32_t blocks_of(const struct sm *sm, const struct builder_node *node)
{
	return MIN(sm->routing->n_blocks, (builder_fdb_cap(node) + PER_BLOCK - 1) / PER_BLOCK);
}

static bool block_differs(const struct sm *sm, const struct builder_node *node, uint32_t sw,
			  uint32_t block)
{
	const void *is = trust_get(node, &node->lft, block, BLOCK_BYTES);

	if (trust_refuses(&node->lft, block) && (sm->program->stages || !health_is_due(sm, node)))
		return false;
	if (!is)
		return !is_discarding(sm->program);
	return memcmp(is, block_of(sm, node, sw, block), BLOCK_BYTES);
}

static bool table_differs(const struct sm *sm, const struct builder_node *node, uint32_t sw)
{
	if (trust_is_equal(node, &node->lft, row_of(sm, sw)))
		return false;
	for (uint32_t block = 0; block < blocks_of(sm, node); block++)
		if (block_differs(sm, node, sw, block))
			return true;
	return false;
}

/* False: it is as it should be, or the values to keep are unknown. */
static bool switch_info_wanted(const struct sm *sm, const struct builder_node *node,
			       struct iba_switch_info *want)
{
	*want = node->switch_info;
	if (!node->has_switch_info)
		return false;
	want->port_state_change = 0; /* 1 would clear a change that has not been read yet */
	want->linear_fdb_top = MIN(sm->routing->top, builder_fdb_cap(node) - 1);
	if (node->top_refused && want->linear_fdb_top > node->switch_info.linear_fdb_top &&
	    !health_is_due(sm, node))
		want->linear_fdb_top = node->switch_info.linear_fdb_top;
	want->life_time_value = sm->options->packet_life_time;
	return want->linear_fdb_top != node->switch_info.linear_fdb_top ||
	       want->life_time_value != node->switch_info.life_time_value;
}

static bool is_as_wanted(const struct sm *sm, struct builder_node *node, uint32_t sw)
{
	struct iba_switch_info info;
	struct iba_port_info port0;

	return !table_differs(sm, node, sw) && !switch_info_wanted(sm, node, &info) &&
	       !(node->ports[0].known && port_wanted(sm, &node->ports[0], &port0));
}

/* ---- writing ---- */

static void write_block(struct sm *sm, struct builder_node *node, uint32_t sw, uint32_t block)
{
	struct sm_request *request;

	if (!block_differs(sm, node, sw, block))
		return;
	request = sm_request_new(sm, node, IBA_METHOD_SET, IBA_ATTR_LINEAR_FORWARDING_TABLE, block);
	wire_encode(&iba_linear_forwarding_table_type, block_of(sm, node, sw, block),
		    request->mad.data);
	request->block = block;
	counter_inc(&sm->context->counters, lft_blocks_set);
	sm_block_send(request);
}

static bool is_first_block(const struct sm *sm, const struct builder_node *node, uint32_t block)
{
	return block == sm->builder->sm_port->lid / PER_BLOCK ||
	       block == node->ports[0].lid / PER_BLOCK;
}

/* Directed routes to it may end before it, and no Set goes by LID before a Get has tested it. */
static bool is_to_be_proven(const struct sm *sm, struct builder_node *node)
{
	return reach_is_blind(node) && reach_is_unproven(sm, node);
}

/*
 * Port 0, LinearFDBTop, and the blocks with the SM's LID and its own. If directed routes end before
 * it, the proof comes first.
 */
static void write_first(struct sm *sm, void *item)
{
	uint32_t sw = GPOINTER_TO_UINT(item);
	struct builder_node *node = sm_switch(sm, sw);
	struct builder_port *port0 = &node->ports[0];
	struct iba_switch_info info;
	struct iba_port_info want;

	trust_reserve(&node->lft, sm->routing->n_blocks, BLOCK_BYTES);
	if (is_to_be_proven(sm, node)) {
		description_get(sm, node);
		return;
	}
	if (port0->known && port_wanted(sm, port0, &want))
		port_send(sm, port0, &want, IBA_PORT_NO_CHANGE);
	if (switch_info_wanted(sm, node, &info))
		switch_info_send(sm, node, &info);
	for (uint32_t block = 0; block < blocks_of(sm, node); block++)
		if (is_first_block(sm, node, block))
			write_block(sm, node, sw, block);
}

/* A Get by LID, if one is due or there is more to write. */
static void prove(struct sm *sm, void *item)
{
	uint32_t sw = GPOINTER_TO_UINT(item);
	struct builder_node *node = sm_switch(sm, sw);

	if (reach_is_blind(node)) {
		write_first(sm, item);
		return;
	}
	if (!reach_is_unproven(sm, node))
		return;
	if (node->ports[0].known && p_keys_read(sm, &node->ports[0]))
		return;
	if (table_differs(sm, node, sw))
		description_get(sm, node);
}

static void write_some(struct sm *sm, void *item)
{
	uint32_t sw = GPOINTER_TO_UINT(item), block = sm->sweep.part * PER_VISIT;
	struct builder_node *node = sm_switch(sm, sw);

	if (trust_is_equal(node, &node->lft, row_of(sm, sw)))
		return;
	if (is_to_be_proven(sm, node)) {
		health_fault(sm, node,
			     "its tables cannot be written yet: a switch on the way does not "
			     "answer, and the switch cannot be reached by LID");
		return;
	}
	for (unsigned int i = 0; i < PER_VISIT && block < blocks_of(sm, node); i++, block++)
		if (!is_first_block(sm, node, block))
			write_block(sm, node, sw, block);
}

/* ---- order ---- */

/* The next switch on the new route to a LID; FABRIC_NONE: the route ends here, or leads nowhere. */
static uint32_t next_switch(const struct sm *sm, uint32_t sw, uint16_t lid)
{
	const struct fabric *fabric = sm->fabric;
	const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];
	uint8_t out = row_of(sm, sw)[lid];
	uint32_t peer;

	if (!out || out > node->num_ports)
		return FABRIC_NONE;
	peer = fabric->ports[node->first_port + out].peer;
	return peer == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[fabric->ports[peer].node].sw;
}

/* Whether all switches on the new route from one to a LID are done, except sw. */
static bool way_is_done(const struct sm *sm, uint32_t from, uint16_t lid, uint32_t sw)
{
	unsigned int hops = 0;

	for (; from != FABRIC_NONE && hops <= IBA_MAX_HOPS; hops++) {
		if (from != sw && sm->program->progress[from] != DONE)
			return false;
		from = next_switch(sm, from, lid);
	}
	return hops <= IBA_MAX_HOPS;
}

static bool is_ready(const struct sm *sm, uint32_t start, uint32_t sw)
{
	return way_is_done(sm, start, sm_switch(sm, sw)->ports[0].lid, sw) &&
	       way_is_done(sm, sw, sm->builder->sm_port->lid, sw);
}

/* The switches that come next; if no route leads to any, the nearest. */
static void choose(struct sm *sm)
{
	const struct fabric *fabric = sm->fabric;
	uint8_t *progress = sm->program->progress, exit;
	uint32_t start = fabric_leaf(fabric, fabric->sm_port, &exit);
	uint32_t nearest = UINT32_MAX, n = 0;

	for (uint32_t i = 0; i < fabric->n_switches; i++) {
		if (progress[i] != TO_DO)
			continue;
		nearest = MIN(nearest, fabric->switches[i].hops);
		if (start != FABRIC_NONE && is_ready(sm, start, i)) {
			progress[i] = NOW;
			n++;
		}
	}
	for (uint32_t i = 0; !n && i < fabric->n_switches; i++)
		if (progress[i] == TO_DO && fabric->switches[i].hops == nearest)
			progress[i] = NOW;
}

/* ---- the step ---- */

/* A switch that failed in an earlier stage is not written before the last one. */
static bool is_excluded(const struct program *program, uint32_t sw)
{
	return program->failed && program->failed[sw] && program->stage + 1 < program->stages->n;
}

/* Only switches that are not as they should be have to be written. */
static void begin(struct sm *sm)
{
	struct program *program = sm->program;

	if (!program->seen) /* nothing is shared yet, and rows may be from now on */
		program->seen = routing_ref(sm->routing);
	g_free(program->progress);
	program->progress = g_malloc0(sm->fabric->n_switches);
	program->to_do = 0;
	for (uint32_t i = 0; i < sm->fabric->n_switches; i++) {
		struct builder_node *node = sm_switch(sm, i);
		bool done = is_excluded(program, i) || builder_is_silent(node) ||
			    is_as_wanted(sm, node, i);

		program->progress[i] = done ? DONE : TO_DO;
		program->to_do += !done;
	}
}

/*
 * A switch that holds its row of the current routing, which is kept, needs no memory for it. A
 * block that it does not accept differs from the row.
 */
static void share_row(struct sm *sm, uint32_t sw)
{
	struct builder_node *node = sm_switch(sm, sw);

	if (trust_next_refused(&node->lft, 0) != TRUST_NONE) {
		trust_equal(node, &node->lft, NULL);
		return;
	}
	trust_share(node, &node->lft, sm->routing->lft[sw], blocks_of(sm, node));
}

static bool is_known(const struct builder_node *node, uint32_t n_blocks)
{
	for (uint32_t block = 0; block < n_blocks; block++)
		if (!trust_get(node, &node->lft, block, BLOCK_BYTES))
			return false;
	return true;
}

void program_see(struct sm *sm, struct routing *held)
{
	if (sm->program->seen)
		return;
	sm->program->seen = routing_ref(held);
	for (uint32_t i = 0; i < sm->fabric->n_switches; i++) {
		struct builder_node *node = sm_switch(sm, i);

		if (is_known(node, held->n_blocks) &&
		    trust_next_refused(&node->lft, 0) == TRUST_NONE)
			trust_share(node, &node->lft, held->lft[i], held->n_blocks);
	}
}

/* The switches of the last two rounds are done. */
static void tick_off(struct sm *sm)
{
	struct program *program = sm->program;
	bool keeps = program->seen == sm->routing && !program->stages;

	for (uint32_t i = 0; i < sm->fabric->n_switches; i++) {
		if (program->progress[i] != NOW)
			continue;
		program->progress[i] = DONE;
		program->to_do--;
		if (keeps && !table_differs(sm, sm_switch(sm, i), i))
			share_row(sm, i);
	}
}

/* From here on tables are found to equal rows of this routing. True if all do. */
static bool note_rows(struct sm *sm)
{
	const GPtrArray *switches = sm->builder->switches;
	bool all_equal = true;

	for (uint32_t i = 0; i < sm->fabric->n_switches; i++) {
		struct builder_node *node = sm_switch(sm, i);
		bool differs = table_differs(sm, node, i);

		if (differs)
			trust_equal(node, &node->lft, NULL);
		else
			share_row(sm, i);
		all_equal &= !differs;
	}
	for (guint i = 0; i < switches->len; i++) { /* switches that are not in the fabric */
		struct builder_node *node = switches->pdata[i];

		if (node->index == FABRIC_NONE)
			trust_equal(node, &node->lft, NULL);
	}
	routing_unref(sm->program->seen);
	sm->program->seen = routing_ref(sm->routing);
	return all_equal;
}

/* Whether what is to be written now, has to wait for a later step of the sweep. */
static bool is_too_early(const struct program *program, enum program_when when)
{
	const struct route_stages *stages = program->stages;

	if (!stages || when == PROGRAM_LAST)
		return false;
	return program->stage >= stages->first_linked ||
	       (program->maps_first && when == PROGRAM_FIRST);
}

/* False if the current stage was the last. */
static bool next_stage(struct sm *sm)
{
	struct program *program = sm->program;

	if (!program->stages)
		return false;
	if (!program->failed)
		program->failed = g_new0(bool, sm->fabric->n_switches);
	for (uint32_t i = 0; i < sm->fabric->n_switches; i++)
		program->failed[i] |= table_differs(sm, sm_switch(sm, i), i);
	if (++program->stage < program->stages->n)
		return true;
	program_take_stages(sm, NULL, NULL, false);
	return false;
}

/* Rounds for the switches that are ready. */
enum round {
	FIRST, /* what makes them answer by LID */
	PROOF, /* a Get that proves it */
	REST,
	ROUNDS,
};

static void run_round(struct sm *sm, enum round round)
{
	static sweep_visit *const visits[ROUNDS] = {write_first, prove, write_some};
	uint32_t n_parts = round == REST ? sm->routing->n_blocks / PER_VISIT + 1 : 1;
	GPtrArray *switches = g_ptr_array_new();

	for (uint32_t i = 0; i < sm->fabric->n_switches; i++)
		if (sm->program->progress[i] == NOW)
			g_ptr_array_add(switches, GUINT_TO_POINTER(i));
	sweep_walk(sm, switches, n_parts, visits[round]);
}

/* A block that holds what it should counts as accepted, whatever the switch answered. */
static void take_what_is_held(struct sm *sm)
{
	for (uint32_t sw = 0; sw < sm->fabric->n_switches; sw++) {
		struct builder_node *node = sm_switch(sm, sw);
		uint32_t block = 0;

		while ((block = trust_next_refused(&node->lft, block)) < blocks_of(sm, node)) {
			const void *is = trust_get(node, &node->lft, block, BLOCK_BYTES);

			if (is && !memcmp(is, block_of(sm, node, sw, block), BLOCK_BYTES))
				health_block_taken(sm, node, IBA_ATTR_LINEAR_FORWARDING_TABLE,
						   block);
			block++;
		}
	}
}

static enum step_result program_when(struct sm *sm, enum program_when when)
{
	struct program *program = sm->program;
	enum round round = sm->sweep.round % ROUNDS;

	if (is_too_early(program, when) || (when != PROGRAM_FIRST && !program->stages))
		return STEP_NEXT;
	if (!sm->sweep.round) {
		take_what_is_held(sm);
		begin(sm);
	} else if (round == FIRST) {
		tick_off(sm);
	}
	if (round == FIRST && !program->to_do && program->stages && sm->sweep.pending) {
		sm->sweep.round--; /* a retry of a Set of this stage would undo the next */
		return STEP_LATER;
	}
	while (round == FIRST && !program->to_do && next_stage(sm)) {
		if (is_too_early(program, when))
			return STEP_NEXT;
		begin(sm);
	}
	if (round == FIRST && !program->to_do) {
		program->written(sm);
		if (note_rows(sm)) /* sites wait for these words of the classic daemon */
			log_info(sm->log, "%s tables configured on all switches",
				 sm->routing->engine->name);
		return STEP_NEXT;
	}
	if (round == FIRST)
		choose(sm);
	builder_reach_changed(sm->builder);
	run_round(sm, round);
	return STEP_AGAIN;
}

enum step_result step_program(struct sm *sm)
{
	return program_when(sm, PROGRAM_FIRST);
}

enum step_result step_program_mapped(struct sm *sm)
{
	return program_when(sm, PROGRAM_MAPPED);
}

enum step_result step_program_linked(struct sm *sm)
{
	return program_when(sm, PROGRAM_LAST);
}
