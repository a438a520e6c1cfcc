// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast: one tree a multicast LID, which joins the members of all groups that share it, and
 * the difference to the tables of the switches. A table is a grid: blocks of 32 MLIDs across,
 * positions of 16 ports down (IBA 14.2.5.12). Only blocks with groups are read and written, and
 * those that had some until no switch holds anything there any more.
 */
#include <string.h>

#include "route/graph.h"
#include "sm/sm_private.h"

#define PER_BLOCK 32
#define PORTS_PER_POSITION 16
#define BLOCK_BYTES sizeof(struct iba_multicast_forwarding_table)

/* Wanted tables of all switches: masks[(sw * n + place) * positions + position][MLID]. */
struct mft {
	struct route_graph *graph;
	uint32_t n;			 /* blocks in use */
	uint16_t blocks[IBA_MFT_BLOCKS]; /* by place */
	uint16_t places[IBA_MFT_BLOCKS]; /* by block */
	bool needed[IBA_MFT_BLOCKS];	 /* by place: a group is there, or a switch was written */
	uint16_t (*masks)[PER_BLOCK];
};

static uint16_t *mft_row(const struct mft *mft, uint32_t sw, uint32_t place, uint32_t position)
{
	return mft->masks[((size_t)sw * mft->n + place) * IBA_MFT_POSITIONS + position];
}

static uint32_t block_of(uint16_t mlid)
{
	return (mlid - IBA_LID_MCAST_FIRST) / PER_BLOCK;
}

static void add_tree(const struct mft *mft, uint16_t mlid, const struct route_tree *tree)
{
	uint32_t place = mft->places[block_of(mlid)], column = mlid % PER_BLOCK;

	for (uint32_t i = 0; i < tree->n; i++)
		for (uint32_t position = 0; position < IBA_MFT_POSITIONS; position++) {
			uint64_t word = tree->ports[i].bits[position / 4];

			mft_row(mft, tree->switches[i], place, position)[column] =
				word >> (position % 4 * 16);
		}
}

/* Members of groups[first..] with the same MLID, as ports of the fabric; *next: past them. */
static GArray *members_of(const struct fabric *fabric, const struct mc_groups *groups,
			  uint32_t first, uint32_t *next)
{
	GArray *members = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t i = first;

	for (; i < groups->n && groups->groups[i].mlid == groups->groups[first].mlid; i++)
		for (uint32_t m = 0; m < groups->groups[i].n_ports; m++) {
			uint32_t port =
				fabric_port_by_guid(fabric, groups->groups[i].port_guids[m]);

			if (port != FABRIC_NONE && fabric_is_connected(fabric, port))
				g_array_append_val(members, port);
		}
	*next = i;
	return members;
}

static void make_tree(struct sm *sm, const struct mft *mft, uint16_t mlid, const GArray *members)
{
	const uint32_t *ports = (const uint32_t *)(void *)members->data;
	g_autofree char *witness = NULL;
	uint32_t left_out;
	struct route_tree *tree =
		route_multicast_on(mft->graph, sm->fabric, ports, members->len, &left_out);

	if (left_out)
		sm_problem(sm, "multicast LID 0x%04x: %u members cannot be reached", mlid,
			   left_out);
	if (left_out || route_tree_verify(sm->fabric, tree, ports, members->len, &witness))
		add_tree(mft, mlid, tree);
	else
		sm_problem(sm, "multicast LID 0x%04x: tree not used: %s", mlid, witness);
	route_tree_free(tree);
}

static void make_trees(struct sm *sm, const struct mft *mft, const struct mc_groups *groups)
{
	for (uint32_t i = 0; i < groups->n;) {
		uint16_t mlid = groups->groups[i].mlid;
		GArray *members = members_of(sm->fabric, groups, i, &i);

		make_tree(sm, mft, mlid, members);
		g_array_unref(members);
	}
}

/* ---- writing ---- */

/* Members that a table just read back has and the replica that was taken over has not. */
static void ask_unknown(struct sm *sm, struct builder_node *node, uint32_t position,
			const uint16_t *is, const uint16_t *want)
{
	uint16_t unknown = 0;

	for (uint32_t column = 0; column < PER_BLOCK; column++)
		unknown |= is[column] & ~want[column];
	for (uint32_t bit = 0; bit < PORTS_PER_POSITION; bit++) {
		uint32_t num = position * PORTS_PER_POSITION + bit;
		struct builder_port *peer;

		if (!(unknown >> bit & 1) || num > node->info.num_ports)
			continue;
		peer = node->ports[num].peer;
		if (peer && peer->known && port_may_reregister(sm, peer))
			reregister_later(sm, peer);
	}
}

/* False: it is as it should be. */
static bool write_block(struct sm *sm, struct builder_node *node, uint32_t block, uint32_t position,
			const uint16_t *want)
{
	uint32_t index = block * IBA_MFT_POSITIONS + position;
	const void *is = trust_get(node, &node->mft, index, BLOCK_BYTES);
	struct sm_request *request;

	if (is && memcmp(is, want, BLOCK_BYTES) == 0)
		return false;
	if (is && sm->takeover.reconcile)
		ask_unknown(sm, node, position, is, want);
	request = sm_request_new(sm, node, IBA_METHOD_SET, IBA_ATTR_MULTICAST_FORWARDING_TABLE,
				 sm_mft_modifier(index));
	wire_encode(&iba_multicast_forwarding_table_type, want, request->mad.data);
	request->block = index;
	sm_block_send(request);
	return true;
}

static void write_top(struct sm *sm, struct builder_node *node)
{
	struct iba_switch_info want = node->switch_info;

	if (!sm->options->use_mfttop || !node->has_switch_info ||
	    !(node->ports[0].info.capability_mask & IBA_PORT_CAP_MULTICAST_FDB_TOP))
		return;
	want.port_state_change = 0;
	want.multicast_fdb_top = sm->mlid_top ? sm->mlid_top : IBA_LID_MCAST_FIRST - 1;
	if (want.multicast_fdb_top != node->switch_info.multicast_fdb_top)
		switch_info_send(sm, node, &want);
}

static void write_switch(struct sm *sm, struct mft *mft, uint32_t sw)
{
	struct builder_node *node = sm_switch(sm, sw);
	uint32_t positions = node->info.num_ports / PORTS_PER_POSITION + 1;
	uint32_t room = node->switch_info.multicast_fdb_cap / PER_BLOCK;

	if (!room)
		return; /* it forwards no multicast */
	write_top(sm, node);
	for (uint32_t place = 0; place < mft->n && mft->blocks[place] < room; place++) {
		uint32_t block = mft->blocks[place];

		trust_reserve(&node->mft, (block + 1) * IBA_MFT_POSITIONS, BLOCK_BYTES);
		for (uint32_t position = 0; position < positions; position++)
			mft->needed[place] |= write_block(sm, node, block, position,
							  mft_row(mft, sw, place, position));
	}
}

/* Where they are in a compact copy of the tables. */
static void find_places(const struct sm *sm, struct mft *mft)
{
	for (uint32_t block = 0; block < IBA_MFT_BLOCKS; block++)
		if (sm->mft_used[block]) {
			mft->places[block] = (uint16_t)mft->n;
			mft->blocks[mft->n++] = (uint16_t)block;
		}
}

/* A block without groups that every switch was found to hold empty is looked at no more. */
static void drop_unused(struct sm *sm, const struct mft *mft)
{
	for (uint32_t place = 0; place < mft->n; place++)
		sm->mft_used[mft->blocks[place]] = mft->needed[place];
}

static void write_tables(struct sm *sm, const struct mc_groups *groups)
{
	struct mft mft = {0};

	find_places(sm, &mft);
	for (uint32_t i = 0; i < groups->n; i++)
		mft.needed[mft.places[block_of(groups->groups[i].mlid)]] = true;
	mft.masks =
		g_malloc0((size_t)sm->fabric->n_switches * mft.n * IBA_MFT_POSITIONS * BLOCK_BYTES);
	mft.graph = route_trees_graph(sm->fabric, sm->routing);
	make_trees(sm, &mft, groups);
	route_graph_free(mft.graph);
	for (uint32_t i = 0; i < sm->fabric->n_switches; i++)
		write_switch(sm, &mft, i);
	drop_unused(sm, &mft);
	sm->takeover.reconcile = false;
	g_free(mft.masks);
}

/* ---- reading back ---- */

static void on_read(struct sm_request *request)
{
	/* A block that was not read stays unknown: it will be written. */
	sm_block_read(request);
}

static void read_block(struct sm *sm, struct builder_node *node, uint32_t block, uint32_t position)
{
	uint32_t index = block * IBA_MFT_POSITIONS + position;
	struct sm_request *request;

	if (trust_get(node, &node->mft, index, BLOCK_BYTES))
		return;
	request = sm_request_new(sm, node, IBA_METHOD_GET, IBA_ATTR_MULTICAST_FORWARDING_TABLE,
				 sm_mft_modifier(index));
	request->block = index;
	request->belief = true;
	request->done = on_read;
	sm_request_send(request);
}

static void read_tables(struct sm *sm)
{
	for (uint32_t i = 0; i < sm->fabric->n_switches; i++) {
		struct builder_node *node = sm_switch(sm, i);
		uint32_t positions = node->info.num_ports / PORTS_PER_POSITION + 1;
		uint32_t room = node->switch_info.multicast_fdb_cap / PER_BLOCK;

		for (uint32_t block = 0; block < MIN(room, IBA_MFT_BLOCKS); block++) {
			if (!sm->mft_used[block])
				continue;
			trust_reserve(&node->mft, (block + 1) * IBA_MFT_POSITIONS, BLOCK_BYTES);
			for (uint32_t position = 0; position < positions; position++)
				read_block(sm, node, block, position);
		}
	}
}

static void use_blocks(struct sm *sm, const struct mc_groups *groups)
{
	for (uint32_t i = 0; i < groups->n; i++)
		sm->mft_used[block_of(groups->groups[i].mlid)] = true;
	sm->mlid_top = groups->n ? groups->groups[groups->n - 1].mlid : 0;
	for (uint32_t block = IBA_MFT_BLOCKS; block-- > 0;)
		if (sm->mft_used[block]) {
			uint32_t first = IBA_LID_MCAST_FIRST + block * PER_BLOCK;

			if (first > sm->mlid_top)
				sm->mlid_top = (uint16_t)(first + PER_BLOCK - 1);
			break;
		}
}

/* MLIDs are given out from the lowest: a group that the replica lacks is there, or in the next. */
static void use_next_block(struct sm *sm)
{
	uint32_t next = sm->mlid_top ? block_of(sm->mlid_top) + 1 : 0;

	if (sm->takeover.reconcile && next < IBA_MFT_BLOCKS)
		sm->mft_used[next] = true;
}

/* What is read in the first round is of the groups that the second one writes. */
enum step_result step_multicast(struct sm *sm)
{
	const struct mc_groups *groups;

	if (!sm->sweep.round) {
		mc_groups_unref(sm->groups);
		sm->groups = slot_take(&sm->context->groups);
	}
	groups = sm->groups; /* before the SA was heard from there is nothing to write */
	if (!groups || !sm->fabric || !sm->routing || sm->options->disable_multicast)
		return STEP_NEXT;
	if (!sm->sweep.round) {
		use_blocks(sm, groups);
		use_next_block(sm);
		read_tables(sm);
		return STEP_AGAIN;
	}
	write_tables(sm, groups);
	return STEP_NEXT;
}
