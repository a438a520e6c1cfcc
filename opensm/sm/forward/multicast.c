// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast tables: the difference between the tables according to the trees (trees.c) and those of
 * the switches. A table is a grid: blocks of 32 MLIDs across, positions of 16 ports down (IBA
 * 14.2.5.12). Only blocks with groups are read and written, and blocks that had some until no
 * switch holds anything there any more. When groups changed only their blocks are read and written.
 *
 * Tables change in two passes, so that no member of a tree before and after misses a packet, and no
 * mixture of old and new entries sends packets around a loop:
 *
 *	old and new links of an MLID make no ring	the new ones at once: paths stay
 *	they make one					first what both have, then the new ones
 *
 *	READ --> TREES --> PASS 1 --> PASS 2 --> PASS 3: all as wanted? the SA is notified
 *
 * Each of these walks (walk.c) over the blocks, and over the switches for each.
 */
#include <string.h>

#include "sm/discover/discover.h"
#include "sm/forward/forward.h"
#include "sm/forward/trees.h"
#include "sm/health/health.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/write/write.h"
#include "subnet/small_tables.h"

#define PER_BLOCK MC_PER_BLOCK
#define BLOCK_BYTES sizeof(struct iba_multicast_forwarding_table)

enum stage { STAGE_READ, STAGE_TREES, STAGE_PASS };

struct multicast {
	struct trees *trees;
	enum stage stage;
	uint32_t blocks[IBA_MFT_BLOCKS]; /* the parts of a walk */
	bool used[IBA_MFT_BLOCKS];	 /* blocks that may be in use in some switch */
	bool dirty[IBA_MFT_BLOCKS];	 /* some switch may hold other entries than wanted */
	bool *look;			 /* [switch]: check all blocks, not only these */
	uint32_t *epochs;   /* [switch]: epoch with all its other blocks as wanted; 0: none */
	unsigned int pass;  /* from 1; 3: only checks the result of the others */
	bool written;	    /* something was written in this pass */
	bool differs;	    /* some position differs, in the block of the current switch */
	bool still;	    /* some switch before the current one differs, in this block */
	uint32_t rings;	    /* columns where pass 1 writes only links that both trees have */
	bool changed;	    /* some tree has changed since they were published */
	uint64_t told;	    /* serial of the groups last reported to the SA */
	char **small;	    /* as of small_tables_tell_groups(), as last logged */
	uint32_t positions; /* of the switch that has the most */
	uint16_t (*want)[PER_BLOCK]; /* a block: [switch * positions + position][MLID] */
};

struct multicast *multicast_new(void)
{
	struct multicast *multicast = g_new0(struct multicast, 1);

	multicast->trees = trees_new();
	return multicast;
}

void multicast_free(struct multicast *multicast)
{
	trees_free(multicast->trees);
	g_strfreev(multicast->small);
	g_free(multicast->look);
	g_free(multicast->epochs);
	g_free(multicast->want);
	g_free(multicast);
}

static uint32_t positions_of(const struct builder_node *node)
{
	return IBA_MFT_POSITIONS_OF(node->info.num_ports);
}

/* In node->mft. */
static uint32_t index_of(const struct builder_node *node, uint32_t block, uint32_t position)
{
	return block * positions_of(node) + position;
}

static uint32_t blocks_of(const struct builder_node *node)
{
	return (node->switch_info.multicast_fdb_cap + PER_BLOCK - 1) / PER_BLOCK;
}

/* A switch that does not answer as last known: a Set to it has probably not arrived. */
static const uint16_t *known_block(const struct builder_node *node, uint32_t block,
				   uint32_t position)
{
	uint32_t index = index_of(node, block, position);

	return builder_is_silent(node) ? trust_last(&node->mft, index, BLOCK_BYTES)
				       : trust_get(node, &node->mft, index, BLOCK_BYTES);
}

/* Most subnets have groups in few blocks, and many switches: the array doubles when needed. */
static void reserve(struct builder_node *node, uint32_t block)
{
	uint32_t n = 1;

	while (n <= block)
		n *= 2;
	trust_reserve(&node->mft, n * positions_of(node), BLOCK_BYTES);
}

/* ---- the wanted contents of a block ---- */

static uint16_t *row_of(const struct multicast *multicast, uint32_t sw, uint32_t position)
{
	return multicast->want[(size_t)sw * multicast->positions + position];
}

static void add_tree(const struct multicast *multicast, uint32_t column,
		     const struct route_tree *tree)
{
	for (uint32_t i = 0; tree && i < tree->n; i++)
		for (uint32_t position = 0; position < multicast->positions; position++) {
			uint64_t word = tree->ports[i].bits[position / 4];

			row_of(multicast, tree->switches[i], position)[column] =
				(uint16_t)(word >> (position % 4 * 16));
		}
}

/* A switch that does not answer keeps its tables. */
static void keep_silent(const struct sm *sm, uint32_t block)
{
	for (uint32_t sw = 0; sw < sm->fabric->n_switches; sw++) {
		const struct builder_node *node = sm_switch(sm, sw);

		for (uint32_t i = 0; builder_is_silent(node) && i < positions_of(node); i++) {
			const uint16_t *is = known_block(node, block, i);

			if (is)
				memcpy(row_of(sm->multicast, sw, i), is, BLOCK_BYTES);
			else
				memset(row_of(sm->multicast, sw, i), 0, BLOCK_BYTES);
		}
	}
}

static void make_block(const struct sm *sm, uint32_t block)
{
	struct multicast *multicast = sm->multicast;

	memset(multicast->want, 0,
	       (size_t)sm->fabric->n_switches * multicast->positions * BLOCK_BYTES);
	for (uint32_t column = 0; column < PER_BLOCK; column++)
		add_tree(multicast, column,
			 trees_get(multicast->trees,
				   (uint16_t)(IBA_LID_MCAST_FIRST + block * PER_BLOCK + column)));
	keep_silent(sm, block);
}

/* ---- old and new links together ---- */

/* Columns in which something must be added, and something removed. */
static uint32_t find_mixed(const struct sm *sm, uint32_t block)
{
	uint32_t more = 0, less = 0;

	for (uint32_t sw = 0; sw < sm->fabric->n_switches; sw++) {
		const struct builder_node *node = sm_switch(sm, sw);

		for (uint32_t position = 0; position < positions_of(node); position++) {
			const uint16_t *is = known_block(node, block, position);
			const uint16_t *want = row_of(sm->multicast, sw, position);

			if (!is || !memcmp(is, want, BLOCK_BYTES))
				continue;
			for (uint32_t column = 0; column < PER_BLOCK; column++) {
				more |= (uint32_t)((want[column] & ~is[column]) != 0) << column;
				less |= (uint32_t)((is[column] & ~want[column]) != 0) << column;
			}
		}
	}
	return more & less;
}

static uint32_t find_top(uint32_t *up, uint32_t sw)
{
	while (up[sw] != sw)
		sw = up[sw] = up[up[sw]];
	return sw;
}

/* A port in the old tree or the new one; false if its cable joins parts that are joined already. */
static bool join_port(const struct sm *sm, uint32_t sw, unsigned int num, uint8_t *seen,
		      uint32_t *up)
{
	const struct fabric *fabric = sm->fabric;
	uint32_t port, peer, to;

	if (!num || num > fabric->nodes[fabric->switches[sw].node].num_ports)
		return true;
	port = fabric_switch_port(fabric, sw, (uint8_t)num);
	peer = fabric->ports[port].peer;
	to = peer == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[fabric->ports[peer].node].sw;
	if (to == FABRIC_NONE || seen[peer])
		return true;
	seen[port] = 1;
	if (find_top(up, sw) == find_top(up, to))
		return false;
	up[find_top(up, sw)] = find_top(up, to);
	return true;
}

/* Whether links of the old tree and of the new one form a ring. */
static bool makes_ring(const struct sm *sm, uint32_t block, uint32_t column)
{
	g_autofree uint32_t *up = g_new(uint32_t, sm->fabric->n_switches);
	g_autofree uint8_t *seen = g_malloc0(sm->fabric->n_ports);

	for (uint32_t sw = 0; sw < sm->fabric->n_switches; sw++)
		up[sw] = sw;
	for (uint32_t sw = 0; sw < sm->fabric->n_switches; sw++)
		for (uint32_t i = 0; i < positions_of(sm_switch(sm, sw)); i++) {
			const uint16_t *is = known_block(sm_switch(sm, sw), block, i);
			unsigned int bits =
				row_of(sm->multicast, sw, i)[column] | (is ? is[column] : 0u);

			for (unsigned int bit = 0; bits >> bit; bit++)
				if (bits >> bit & 1 &&
				    !join_port(sm, sw, i * IBA_MFT_PORTS + bit, seen, up))
					return true;
		}
	return false;
}

/* Columns in which pass 1 writes only the links that both trees have. */
static uint32_t find_rings(const struct sm *sm, uint32_t block)
{
	uint32_t mixed = find_mixed(sm, block), rings = 0;

	for (uint32_t column = 0; column < PER_BLOCK; column++)
		if (mixed >> column & 1 && makes_ring(sm, block, column))
			rings |= UINT32_C(1) << column;
	return rings;
}

/* ---- writing ---- */

/* Members that are in a table just read, but not in the replica that was taken over. */
static void ask_unknown(struct sm *sm, struct builder_node *node, uint32_t position,
			const uint16_t *is, const uint16_t *want)
{
	uint16_t unknown = 0;

	for (uint32_t column = 0; column < PER_BLOCK; column++)
		unknown |= is[column] & ~want[column];
	for (uint32_t bit = 0; bit < IBA_MFT_PORTS; bit++) {
		uint32_t num = position * IBA_MFT_PORTS + bit;
		struct builder_port *peer;

		if (!(unknown >> bit & 1) || num > node->info.num_ports)
			continue;
		peer = node->ports[num].peer;
		if (peer && peer->known && port_may_reregister(sm, peer))
			reregister_later(sm, peer);
	}
}

static void send_block(struct sm *sm, struct builder_node *node, uint32_t index,
		       const uint16_t *masks)
{
	struct sm_request *request =
		sm_request_new(sm, node, IBA_METHOD_SET, IBA_ATTR_MULTICAST_FORWARDING_TABLE,
			       sm_mft_modifier(node->info.num_ports, index));

	wire_encode(&iba_multicast_forwarding_table_type, masks, request->mad.data);
	request->block = index;
	counter_inc(&sm->context->counters, mft_blocks_set);
	sm_block_send(request);
	sm->multicast->written = true;
}

/*
 * Unknown blocks are written in the first pass; if one is unknown in the second, that Set got no
 * answer, and another sweep tries the node again. The same goes for a block that differs.
 */
/*
 * A block that the switch does not accept: trees avoid the switch there. To find out whether it
 * accepts the block by now, one bit is written that differs from what it holds, in the column of an
 * MLID that leads nowhere.
 */
static void try_block(struct sm *sm, struct builder_node *node, uint32_t block, uint32_t position,
		      const uint16_t *want)
{
	const uint16_t *is = known_block(node, block, position);
	uint16_t masks[PER_BLOCK];
	uint32_t column = PER_BLOCK - 1;

	if (!health_is_due(sm, node))
		return;
	memcpy(masks, want, BLOCK_BYTES);
	while (column && want[column])
		column--;
	if (!is || !memcmp(is, want, BLOCK_BYTES))
		masks[column] ^= 1;
	send_block(sm, node, index_of(node, block, position), masks);
}

static void write_block(struct sm *sm, struct builder_node *node, uint32_t block, uint32_t position,
			const uint16_t *want, uint32_t rings)
{
	const uint16_t *is = known_block(node, block, position);
	uint16_t masks[PER_BLOCK];

	if (trust_refuses(&node->mft, index_of(node, block, position))) {
		if (sm->multicast->pass == 1)
			try_block(sm, node, block, position, want);
		return;
	}
	if (is && memcmp(is, want, BLOCK_BYTES) == 0)
		return;
	sm->multicast->differs = true;
	if (is && sm->takeover.reconcile)
		ask_unknown(sm, node, position, is, want);
	if (sm->multicast->pass > (is ? 2 : 1))
		return;
	for (uint32_t column = 0; column < PER_BLOCK; column++) {
		masks[column] = want[column];
		if (is && rings >> column & 1)
			masks[column] &= is[column];
	}
	if (!is || memcmp(is, masks, BLOCK_BYTES))
		send_block(sm, node, index_of(node, block, position), masks);
}

/* Limited to its table: trees of higher MLIDs avoid it, and it refuses a higher top. */
static void write_top(struct sm *sm, struct builder_node *node)
{
	struct iba_switch_info want = node->switch_info;
	uint32_t last = IBA_LID_MCAST_FIRST - 1u + node->switch_info.multicast_fdb_cap;

	if (!sm->options->use_mfttop || !node->has_switch_info ||
	    !(node->ports[0].info.capability_mask & IBA_PORT_CAP_MULTICAST_FDB_TOP))
		return;
	want.port_state_change = 0;
	want.multicast_fdb_top =
		sm->mlid_top ? (uint16_t)MIN(sm->mlid_top, last) : IBA_LID_MCAST_FIRST - 1;
	if (want.multicast_fdb_top != node->switch_info.multicast_fdb_top)
		switch_info_send(sm, node, &want);
}

static void write_switch(struct sm *sm, uint32_t sw, uint32_t block)
{
	struct multicast *multicast = sm->multicast;
	struct builder_node *node = sm_switch(sm, sw);

	if (block >= blocks_of(node))
		return;
	if (builder_is_silent(node)) {
		trust_equal(node, &node->mft, NULL); /* so all is checked when it answers */
		return;
	}
	multicast->differs = false;
	reserve(node, block);
	for (uint32_t position = 0; position < positions_of(node); position++)
		write_block(sm, node, block, position, row_of(multicast, sw, position),
			    multicast->rings);
	multicast->look[sw] |= multicast->differs;
	multicast->still |= multicast->differs;
}

static bool looks_at_any(const struct sm *sm)
{
	for (uint32_t sw = 0; sw < sm->fabric->n_switches; sw++)
		if (sm->multicast->look[sw])
			return true;
	return false;
}

/* Over all blocks with something to do; after the last switch it finishes the block. */
static void walk(struct sm *sm, sweep_visit *visit)
{
	struct multicast *multicast = sm->multicast;
	GPtrArray *switches = g_ptr_array_new();
	bool any = looks_at_any(sm);
	uint32_t n = 0;

	for (uint32_t block = 0; block < IBA_MFT_BLOCKS; block++)
		if (sm->multicast->used[block] && (any || multicast->dirty[block]))
			multicast->blocks[n++] = block;
	for (uint32_t sw = 0; sw <= sm->fabric->n_switches; sw++)
		g_ptr_array_add(switches, GUINT_TO_POINTER(sw));
	sweep_walk(sm, switches, n, visit);
}

static void begin_block(struct sm *sm, uint32_t block)
{
	struct multicast *multicast = sm->multicast;

	multicast->still = false;
	make_block(sm, block);
	multicast->rings = multicast->pass == 1 ? find_rings(sm, block) : 0;
}

/* A block that was not finished, as the sweep was cancelled, stays as dirty as it was. */
static void pass_switch(struct sm *sm, void *item)
{
	struct multicast *multicast = sm->multicast;
	uint32_t sw = GPOINTER_TO_UINT(item), block = multicast->blocks[sm->sweep.part];

	if (!sw)
		begin_block(sm, block);
	if (sw == sm->fabric->n_switches)
		multicast->dirty[block] = multicast->still;
	else if (multicast->dirty[block] || multicast->look[sw])
		write_switch(sm, sw, block);
}

static void begin_pass(struct sm *sm)
{
	struct multicast *multicast = sm->multicast;

	multicast->pass++;
	multicast->written = false;
	walk(sm, pass_switch);
}

/* ---- the end ---- */

/* A block without groups that was found empty in every switch is not checked any more. */
static void drop_unused(struct sm *sm)
{
	for (uint32_t block = 0; block < IBA_MFT_BLOCKS; block++)
		sm->multicast->used[block] &=
			sm->groups->blocks[block] || sm->multicast->dirty[block];
}

static void tell_programmed(struct sm *sm)
{
	struct multicast *multicast = sm->multicast;

	if (sm->groups->serial == multicast->told)
		return;
	multicast->told = sm->groups->serial;
	event_emit(&sm->context->bus, EVENT_GROUPS_PROGRAMMED, multicast->told);
}

/* Switches that were found as wanted are not checked again until there is evidence of a change. */
static void note_switches(struct sm *sm)
{
	struct multicast *multicast = sm->multicast;
	bool clean = true;

	for (uint32_t block = 0; block < IBA_MFT_BLOCKS; block++)
		clean &= !multicast->dirty[block];
	for (uint32_t sw = 0; clean && sw < sm->fabric->n_switches; sw++) {
		struct builder_node *node = sm_switch(sm, sw);

		if (node->epoch == multicast->epochs[sw] && !builder_is_silent(node))
			trust_equal(node, &node->mft, multicast);
	}
	if (clean)
		tell_programmed(sm);
}

/* Whether a switch holds another MulticastFDBTop than the published one. */
static bool differs_in_top(const struct sm *sm, const struct mc_trees *published)
{
	for (uint32_t sw = 0; sw < sm->fabric->n_switches; sw++) {
		const struct builder_node *node = sm_switch(sm, sw);
		uint16_t top;

		if (!mc_trees_top(published, node->guid, &top) ||
		    top != node->switch_info.multicast_fdb_top)
			return true;
	}
	return false;
}

static void publish(struct sm *sm)
{
	struct multicast *multicast = sm->multicast;
	struct mc_trees *before = slot_take(&sm->context->trees), *trees;

	if (multicast->changed || differs_in_top(sm, before)) {
		trees = trees_publish(multicast->trees);
		for (uint32_t sw = 0; sw < sm->fabric->n_switches; sw++)
			trees->tops[sw] = sm_switch(sm, sw)->switch_info.multicast_fdb_top;
		slot_publish(&sm->context->trees, trees);
		event_emit(&sm->context->bus, EVENT_TREES_PUBLISHED, 0);
	}
	mc_trees_unref(before);
	multicast->changed = false;
}

/* Each line is logged once while it is true; health always shows them. */
static void tell_small(struct sm *sm)
{
	struct multicast *multicast = sm->multicast;
	char **lines = small_tables_tell_groups(sm->fabric, sm->groups);

	sm_log_new_lines(sm, multicast->small, lines);
	if (!lines && multicast->small)
		log_info(sm->log, "all switches that forward multicast have room for all groups");
	g_strfreev(multicast->small);
	multicast->small = lines;
}

static void finish(struct sm *sm)
{
	struct multicast *multicast = sm->multicast;

	publish(sm);
	tell_small(sm);
	note_switches(sm);
	drop_unused(sm);
	sm->takeover.reconcile = false;
	g_clear_pointer(&multicast->want, g_free);
	g_clear_pointer(&multicast->look, g_free);
	g_clear_pointer(&multicast->epochs, g_free);
}

/* ---- reading back ---- */

static void on_read(struct sm_request *request)
{
	/* A block that could not be read stays unknown: it will be written. */
	sm_block_read(request);
}

static void read_block(struct sm *sm, struct builder_node *node, uint32_t block, uint32_t position)
{
	uint32_t index = index_of(node, block, position);
	struct sm_request *request;

	if (trust_get(node, &node->mft, index, BLOCK_BYTES))
		return;
	request = sm_request_new(sm, node, IBA_METHOD_GET, IBA_ATTR_MULTICAST_FORWARDING_TABLE,
				 sm_mft_modifier(node->info.num_ports, index));
	request->block = index;
	request->belief = true;
	request->done = on_read;
	sm_request_send(request);
}

/* Of switches that are as they should be, only new blocks. */
static void read_switch(struct sm *sm, void *item)
{
	const struct multicast *multicast = sm->multicast;
	uint32_t sw = GPOINTER_TO_UINT(item), block = multicast->blocks[sm->sweep.part];
	struct builder_node *node;

	if (sw == sm->fabric->n_switches || !(multicast->dirty[block] || multicast->look[sw]))
		return;
	node = sm_switch(sm, sw);
	if (block >= blocks_of(node))
		return;
	reserve(node, block);
	for (uint32_t position = 0; position < positions_of(node); position++)
		read_block(sm, node, block, position);
}

static void look_at_switches(struct sm *sm)
{
	struct multicast *multicast = sm->multicast;
	bool all = sm->sweep.kind != SWEEP_KIND_GROUPS;

	multicast->positions = 1;
	for (uint32_t i = 0; i < sm->fabric->n_switches; i++) {
		struct builder_node *node = sm_switch(sm, i);
		bool equal = trust_is_equal(node, &node->mft, multicast) &&
			     trust_next_refused(&node->mft, 0) == TRUST_NONE;

		multicast->look[i] = all && !equal;
		multicast->epochs[i] = all || equal ? node->epoch : 0;
		multicast->positions = MAX(multicast->positions, positions_of(node));
	}
}

static void use_blocks(struct sm *sm, const struct mc_groups *groups)
{
	sm->mlid_top = 0;
	for (uint32_t i = 0; i < IBA_MFT_BLOCKS; i++) {
		const struct mc_block *block = groups->blocks[i];

		if (block)
			sm->mlid_top = block->groups[block->n - 1]->mlid;
		else if (sm->multicast->used[i])
			sm->mlid_top = (uint16_t)(IBA_LID_MCAST_FIRST + (i + 1) * PER_BLOCK - 1);
		sm->multicast->used[i] |= block != NULL;
	}
}

/*
 * MLIDs are assigned from the lowest: a group that the replica lacks is there, or in the next
 * block.
 */
static void use_next_block(struct sm *sm)
{
	uint32_t next = sm->mlid_top ? mc_block_of(sm->mlid_top) + 1 : 0;

	if (sm->takeover.reconcile && next < IBA_MFT_BLOCKS)
		sm->multicast->used[next] = sm->multicast->dirty[next] = true;
}

/* ---- the step ---- */

/* "; NAME does not answer and keeps its tables", for the first such switch; or "" */
static char *blame(const struct sm *sm)
{
	const struct fabric *fabric = sm->fabric;
	char name[FABRIC_NAME_SIZE];
	uint32_t sw = 0, n = fabric->n_switches;

	while (sw < n && !fabric->nodes[fabric->switches[sw].node].silent)
		sw++;
	if (sw == n)
		return g_strdup("");
	return g_strdup_printf(
		"; %s does not answer and keeps its tables",
		fabric_node_name(fabric, fabric->switches[sw].node, name, sizeof(name)));
}

static void tell_tree(void *arg, uint16_t mlid, uint32_t excluded, const char *witness)
{
	struct sm *sm = arg;
	g_autofree char *why = blame(sm);

	if (witness)
		sm_problem(sm, "multicast LID 0x%04x: tree not used: %s", mlid, witness);
	else
		sm_problem(sm, "multicast LID 0x%04x: %u members cannot be reached%s", mlid,
			   excluded, why);
}

/* Entries above MulticastFDBTop are not in use; 0 means no limit (IBA 14.2.5.4). */
static bool is_in_force(const struct builder_node *node, uint16_t mlid)
{
	uint16_t top = node->switch_info.multicast_fdb_top;

	return !(node->ports[0].info.capability_mask & IBA_PORT_CAP_MULTICAST_FDB_TOP) || !top ||
	       mlid <= top;
}

/* Unknown blocks count as empty. */
static void find_held(void *arg, uint32_t sw, uint16_t mlid, struct route_port_set *ports)
{
	const struct builder_node *node = sm_switch(arg, sw);
	uint32_t column = (mlid - IBA_LID_MCAST_FIRST) % PER_BLOCK;

	if (!is_in_force(node, mlid))
		return;
	for (uint32_t i = 0; i < positions_of(node); i++) {
		const uint16_t *is = known_block(node, mc_block_of(mlid), i);

		if (is)
			ports->bits[i / 4] |= (uint64_t)is[column] << i % 4 * IBA_MFT_PORTS;
	}
}

static void begin(struct sm *sm)
{
	struct multicast *multicast = sm->multicast;

	g_free(multicast->look);
	g_free(multicast->epochs);
	multicast->look = g_new0(bool, sm->fabric->n_switches);
	multicast->epochs = g_new0(uint32_t, sm->fabric->n_switches);
	multicast->pass = 0;
	multicast->stage = STAGE_READ;
	use_blocks(sm, sm->groups);
	use_next_block(sm);
	trees_compare(multicast->trees, sm->groups, multicast->dirty);
	look_at_switches(sm);
	walk(sm, read_switch);
}

/* A dry run starts from the trees of the running daemon. */
static void seed_trees(struct sm *sm)
{
	struct mc_trees *running = sm->dry ? slot_take(&sm->context->trees) : NULL;

	if (running)
		trees_seed(sm->multicast->trees, running);
	mc_trees_unref(running);
}

static void grow_block(struct sm *sm, void *item)
{
	(void)item;
	trees_follow(sm->multicast->trees, sm->sweep.part, tell_tree, find_held, sm);
}

static void begin_trees(struct sm *sm)
{
	struct multicast *multicast = sm->multicast;

	multicast->stage = STAGE_TREES;
	seed_trees(sm);
	g_free(multicast->want);
	multicast->want =
		g_malloc((sm->fabric->n_switches + (size_t)1) * multicast->positions * BLOCK_BYTES);
	trees_begin(multicast->trees, sm->fabric, sm->routing, sm->groups,
		    sm->sweep.kind != SWEEP_KIND_GROUPS, sm->options->mc_spread_roots);
	sweep_walk(sm, NULL, IBA_MFT_BLOCKS, grow_block);
}

static void end_trees(struct sm *sm)
{
	struct multicast *multicast = sm->multicast;
	bool changed[IBA_MFT_BLOCKS] = {false};

	trees_end(multicast->trees, changed);
	for (uint32_t block = 0; block < IBA_MFT_BLOCKS; block++) {
		multicast->dirty[block] |= changed[block];
		multicast->changed |= changed[block];
	}
	for (uint32_t sw = 0; sw < sm->fabric->n_switches; sw++)
		if (blocks_of(sm_switch(sm, sw)) && !builder_is_silent(sm_switch(sm, sw)))
			write_top(sm, sm_switch(sm, sw));
}

/* Slow switches may be written after all others: the result is what counts. */
static enum step_result next_stage(struct sm *sm)
{
	struct multicast *multicast = sm->multicast;

	switch (multicast->stage) {
	case STAGE_READ:
		begin_trees(sm);
		return STEP_AGAIN;
	case STAGE_TREES:
		end_trees(sm);
		multicast->stage = STAGE_PASS;
		return STEP_AGAIN;
	default:
		if (multicast->pass && sm->sweep.pending)
			return STEP_LATER;
		if (multicast->pass && !multicast->written) {
			finish(sm);
			return STEP_NEXT;
		}
		begin_pass(sm);
		return STEP_LATER;
	}
}

enum step_result step_multicast(struct sm *sm)
{
	if (!sm->sweep.round) {
		mc_groups_unref(sm->groups);
		sm->groups = slot_take(&sm->context->groups);
	}
	if (sm->groups && sm->options->disable_multicast)
		tell_programmed(sm); /* no tables could differ */
	/* Until the SA has reported its groups there is nothing to write. */
	if (!sm->groups || !sm->fabric || !sm->routing || sm->options->disable_multicast)
		return STEP_NEXT;
	if (sm->sweep.round)
		return next_stage(sm);
	begin(sm);
	return STEP_AGAIN;
}
