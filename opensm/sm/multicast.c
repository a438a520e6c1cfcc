// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast: one tree a multicast LID, which joins the members of all groups that share it, and
 * the difference to the tables of the switches. A table is a grid: blocks of 32 MLIDs across,
 * positions of 16 ports down (IBA 14.2.5.12).
 */
#include <string.h>

#include "route/graph.h"
#include "sm/sm_private.h"

#define PER_BLOCK 32
#define PORTS_PER_POSITION 16
#define BLOCK_BYTES sizeof(struct iba_multicast_forwarding_table)

/* Wanted tables of all switches: masks[(sw * blocks + block) * positions + position][MLID]. */
struct mft {
	struct route_graph *graph;
	uint32_t blocks;
	uint16_t (*masks)[PER_BLOCK];
};

static uint16_t *mft_row(const struct mft *mft, uint32_t sw, uint32_t block, uint32_t position)
{
	return mft->masks[((size_t)sw * mft->blocks + block) * IBA_MFT_POSITIONS + position];
}

static void add_tree(const struct mft *mft, uint16_t mlid, const struct route_tree *tree)
{
	uint32_t index = mlid - IBA_LID_MCAST_FIRST;

	for (uint32_t i = 0; i < tree->n; i++)
		for (uint32_t position = 0; position < IBA_MFT_POSITIONS; position++) {
			uint64_t word = tree->ports[i].bits[position / 4];

			mft_row(mft, tree->switches[i], index / PER_BLOCK,
				position)[index % PER_BLOCK] = word >> (position % 4 * 16);
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

static void write_block(struct sm *sm, struct builder_node *node, uint32_t block, uint32_t position,
			const uint16_t *want)
{
	uint32_t index = block * IBA_MFT_POSITIONS + position;
	const void *is = trust_get(node, &node->mft, index, BLOCK_BYTES);
	struct sm_request *request;

	if (is && memcmp(is, want, BLOCK_BYTES) == 0)
		return;
	request = sm_request_new(sm, node, IBA_METHOD_SET, IBA_ATTR_MULTICAST_FORWARDING_TABLE,
				 sm_mft_modifier(index));
	wire_encode(&iba_multicast_forwarding_table_type, want, request->mad.data);
	request->block = index;
	sm_block_send(request);
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

static void write_switch(struct sm *sm, const struct mft *mft, uint32_t sw)
{
	struct builder_node *node = sm_switch(sm, sw);
	uint32_t positions = node->info.num_ports / PORTS_PER_POSITION + 1;
	uint32_t room = node->switch_info.multicast_fdb_cap / PER_BLOCK;

	if (!room)
		return; /* it forwards no multicast */
	trust_reserve(&node->mft, mft->blocks * IBA_MFT_POSITIONS, BLOCK_BYTES);
	write_top(sm, node);
	for (uint32_t block = 0; block < MIN(mft->blocks, room); block++)
		for (uint32_t position = 0; position < positions; position++)
			write_block(sm, node, block, position, mft_row(mft, sw, block, position));
}

static void write_tables(struct sm *sm, const struct mc_groups *groups, uint32_t blocks)
{
	struct mft mft = {.blocks = blocks};

	mft.masks = g_malloc0((size_t)sm->fabric->n_switches * mft.blocks * IBA_MFT_POSITIONS *
			      BLOCK_BYTES);
	mft.graph = route_graph_new(sm->fabric);
	make_trees(sm, &mft, groups);
	route_graph_free(mft.graph);
	for (uint32_t i = 0; i < sm->fabric->n_switches; i++)
		write_switch(sm, &mft, i);
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

static void read_tables(struct sm *sm, uint32_t blocks)
{
	for (uint32_t i = 0; i < sm->fabric->n_switches; i++) {
		struct builder_node *node = sm_switch(sm, i);
		uint32_t positions = node->info.num_ports / PORTS_PER_POSITION + 1;
		uint32_t room = node->switch_info.multicast_fdb_cap / PER_BLOCK;

		trust_reserve(&node->mft, blocks * IBA_MFT_POSITIONS, BLOCK_BYTES);
		for (uint32_t block = 0; block < MIN(blocks, room); block++)
			for (uint32_t position = 0; position < positions; position++)
				read_block(sm, node, block, position);
	}
}

/* What is read in the first round is of the groups that the second one writes. */
enum step_result step_multicast(struct sm *sm)
{
	const struct mc_groups *groups;
	uint32_t blocks;

	if (!sm->sweep.round) {
		mc_groups_unref(sm->groups);
		sm->groups = slot_take(&sm->context->groups);
	}
	groups = sm->groups; /* before the SA was heard from there is nothing to write */
	if (!groups || !sm->fabric || !sm->routing || sm->options->disable_multicast)
		return STEP_NEXT;
	if (groups->n)
		sm->mlid_top = MAX(sm->mlid_top, groups->groups[groups->n - 1].mlid);
	blocks = sm->mlid_top ? (sm->mlid_top - IBA_LID_MCAST_FIRST) / PER_BLOCK + 1 : 0;
	if (!sm->sweep.round) {
		read_tables(sm, blocks);
		return STEP_AGAIN;
	}
	write_tables(sm, groups, blocks);
	return STEP_NEXT;
}
