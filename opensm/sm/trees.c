// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See trees.h. Everything here belongs to the actor "sm". */
#include "sm/trees.h"

#include <glib.h>
#include <string.h>

/* Where the tree of an MLID has to lead. */
struct planted {
	uint64_t *ends; /* switch << 16 | exit << 1 | only sends, of each member in turn */
	uint32_t n;
	uint32_t room; /* as of route_group */
	uint32_t left_out;
};

struct trees {
	struct fabric *fabric;	  /* that they were grown in; NULL: there are none yet */
	struct mc_groups *groups; /* whose they are */
	struct routing *routing;  /* whose order they keep to; NULL: they keep to none */
	GHashTable *grounds;	  /* uint32_t room -> struct route_ground, of its cables */
	struct planted *planted[MC_N_MLIDS]; /* NULL: nobody has the MLID */
	struct route_tree *trees[MC_N_MLIDS];
};

static void free_ground(gpointer ground)
{
	route_ground_free(ground);
}

struct trees *trees_new(void)
{
	struct trees *trees = g_new0(struct trees, 1);

	trees->grounds = g_hash_table_new_full(NULL, NULL, NULL, free_ground);
	return trees;
}

static void uproot(struct trees *trees, uint32_t i)
{
	if (trees->planted[i])
		g_free(trees->planted[i]->ends);
	g_clear_pointer(&trees->planted[i], g_free);
	g_clear_pointer(&trees->trees[i], route_tree_unref);
}

void trees_free(struct trees *trees)
{
	for (uint32_t i = 0; i < MC_N_MLIDS; i++)
		uproot(trees, i);
	g_hash_table_unref(trees->grounds);
	if (trees->fabric)
		fabric_unref(trees->fabric);
	mc_groups_unref(trees->groups);
	routing_unref(trees->routing);
	g_free(trees);
}

const struct route_tree *trees_get(const struct trees *trees, uint16_t mlid)
{
	return trees->trees[mlid - IBA_LID_MCAST_FIRST];
}

struct mc_trees *trees_publish(const struct trees *trees)
{
	return mc_trees_new(trees->fabric, trees->trees);
}

void trees_seed(struct trees *trees, const struct mc_trees *before)
{
	struct fabric *fabric = fabric_ref(before->fabric);

	if (trees->fabric)
		fabric_unref(trees->fabric);
	trees->fabric = fabric;
	for (uint32_t i = 0; i < MC_N_MLIDS; i++) {
		uproot(trees, i);
		trees->trees[i] = before->trees[i] ? route_tree_ref(before->trees[i]) : NULL;
	}
}

/* ---- what changed ---- */

static const struct mc_block *block_of(const struct mc_groups *groups, uint32_t block)
{
	return groups ? groups->blocks[block] : NULL;
}

void trees_compare(const struct trees *trees, const struct mc_groups *groups,
		   bool differs[IBA_MFT_BLOCKS])
{
	for (uint32_t i = 0; i < IBA_MFT_BLOCKS; i++)
		differs[i] |= block_of(trees->groups, i) != block_of(groups, i);
}

static bool same_places(const struct fabric *a, const struct fabric *b)
{
	return a && a->shape == b->shape && a->n_switches == b->n_switches &&
	       a->n_ports == b->n_ports;
}

static bool same_room(const struct fabric *a, const struct fabric *b)
{
	for (uint32_t sw = 0; sw < b->n_switches; sw++)
		if (fabric_mlids(a, sw) != fabric_mlids(b, sw))
			return false;
	return true;
}

/* Every cable and every endport has its place in the one where it has it in the other. */
static bool same_cables(const struct fabric *a, const struct fabric *b)
{
	if (a == b)
		return true;
	if (!same_places(a, b) || !same_room(a, b))
		return false;
	for (uint32_t i = 0; i < b->n_ports; i++)
		if (a->ports[i].peer != b->ports[i].peer)
			return false;
	return true;
}

static bool same_order(const struct routing *a, const struct routing *b)
{
	const uint32_t *one = a ? a->order : NULL, *other = b ? b->order : NULL;

	if (!one || !other)
		return one == other;
	return a->n_switches == b->n_switches && !memcmp(one, other, a->n_switches * sizeof(*one));
}

/* Where switches went; NULL: they are where they were. */
static uint32_t *find_moved(const struct fabric *from, const struct fabric *to)
{
	uint32_t *moved;

	if (!from || same_places(from, to))
		return NULL;
	moved = g_new(uint32_t, from->n_switches);
	for (uint32_t sw = 0; sw < from->n_switches; sw++) {
		uint32_t node = fabric_node_by_guid(to, from->nodes[from->switches[sw].node].guid);

		moved[sw] = node == FABRIC_NONE ? FABRIC_NONE : to->nodes[node].sw;
	}
	return moved;
}

/* ---- growing ---- */

struct follow {
	struct trees *trees;
	struct fabric *fabric;
	struct mc_groups *groups;
	struct routing *routing;
	bool same; /* cables and order are as they were */
	bool all;  /* are to be told of */
	uint32_t *moved;
	bool *changed;
	trees_tell_fn *tell;
	void *arg;
};

/* The least room that leaves out the same switches. */
static uint32_t room_of(const struct fabric *fabric, uint16_t mlid)
{
	uint32_t room = mlid - IBA_LID_MCAST_FIRST + 1u, least = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		if (fabric_mlids(fabric, sw) < room)
			least = MAX(least, fabric_mlids(fabric, sw) + 1);
	return least;
}

static struct route_ground *ground_of(const struct follow *follow, uint32_t room)
{
	struct trees *trees = follow->trees;
	struct route_ground *ground = g_hash_table_lookup(trees->grounds, GUINT_TO_POINTER(room));

	if (!ground) {
		ground = route_ground_new(follow->fabric, follow->routing, room);
		g_hash_table_insert(trees->grounds, GUINT_TO_POINTER(room), ground);
	}
	return ground;
}

struct members {
	GArray *ports;	    /* uint32_t */
	GArray *only_sends; /* bool */
	GArray *ends;	    /* uint64_t: see struct planted */
};

static void add_members(const struct follow *follow, const struct mc_group *group,
			struct members *members)
{
	for (uint32_t i = 0; i < group->n_ports; i++) {
		uint32_t port = fabric_port_by_guid(follow->fabric, group->port_guids[i]);
		bool only_sends = group->only_sends[i];
		uint64_t end;
		uint8_t exit = 0;

		if (port == FABRIC_NONE || !fabric_is_connected(follow->fabric, port))
			continue;
		end = (uint64_t)fabric_leaf(follow->fabric, port, &exit) << 16;
		end |= (uint64_t)exit << 1 | only_sends;
		g_array_append_val(members->ports, port);
		g_array_append_val(members->only_sends, only_sends);
		g_array_append_val(members->ends, end);
	}
}

static void grow(const struct follow *follow, uint16_t mlid, const struct route_group *group,
		 struct planted *planted)
{
	struct route_tree **tree = &follow->trees->trees[mlid - IBA_LID_MCAST_FIRST];
	g_autofree char *witness = NULL;
	struct route_tree *grown =
		route_multicast_on(ground_of(follow, group->room), follow->fabric, group, *tree,
				   follow->moved, &planted->left_out);

	route_tree_unref(*tree);
	*tree = grown;
	follow->changed[mc_block_of(mlid)] = true;
	if (route_tree_verify(follow->fabric, grown, group, &witness))
		return;
	follow->tell(follow->arg, mlid, 0, witness);
	g_clear_pointer(tree, route_tree_unref);
}

static bool is_planted(const struct follow *follow, uint16_t mlid, const struct members *members,
		       uint32_t room)
{
	const struct planted *planted = follow->trees->planted[mlid - IBA_LID_MCAST_FIRST];

	return follow->same && planted && planted->n == members->ends->len &&
	       planted->room == room &&
	       (!planted->n || !memcmp(planted->ends, members->ends->data,
				       planted->n * sizeof(uint64_t)));
}

static void plant(const struct follow *follow, uint16_t mlid, struct members *members)
{
	struct planted **planted = &follow->trees->planted[mlid - IBA_LID_MCAST_FIRST];
	const struct route_group group = {
		.members = (const uint32_t *)(void *)members->ports->data,
		.only_sends = (const bool *)members->only_sends->data,
		.n_members = members->ports->len,
		.room = room_of(follow->fabric, mlid),
	};

	if (!is_planted(follow, mlid, members, group.room)) {
		if (*planted)
			g_free((*planted)->ends);
		else
			*planted = g_new0(struct planted, 1);
		(*planted)->n = group.n_members;
		(*planted)->room = group.room;
		(*planted)->ends =
			g_memdup2(members->ends->data, members->ends->len * sizeof(uint64_t));
		grow(follow, mlid, &group, *planted);
	} else if (!follow->all) {
		return;
	}
	if ((*planted)->left_out)
		follow->tell(follow->arg, mlid, (*planted)->left_out, NULL);
}

/* ---- block by block ---- */

/* The groups of one MLID. */
struct slice {
	struct mc_group *const *groups;
	uint32_t n;
};

/* From *next on; *next gets where the others begin. */
static struct slice slice_of(const struct mc_block *block, uint16_t mlid, uint32_t *next)
{
	struct slice slice = {block ? block->groups + *next : NULL, 0};

	while (block && *next < block->n && block->groups[*next]->mlid == mlid) {
		slice.n++;
		++*next;
	}
	return slice;
}

static void follow_mlid(const struct follow *follow, uint16_t mlid, const struct slice *slice)
{
	struct members members = {
		.ports = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.only_sends = g_array_new(FALSE, FALSE, sizeof(bool)),
		.ends = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
	};

	for (uint32_t i = 0; i < slice->n; i++)
		add_members(follow, slice->groups[i], &members);
	plant(follow, mlid, &members);
	g_array_unref(members.ports);
	g_array_unref(members.only_sends);
	g_array_unref(members.ends);
}

static void follow_block(const struct follow *follow, uint32_t index)
{
	const struct mc_block *before = block_of(follow->trees->groups, index);
	const struct mc_block *now = block_of(follow->groups, index);
	uint32_t next_before = 0, next_now = 0;

	if (before == now && follow->same && !follow->all)
		return;
	for (uint32_t i = index * MC_PER_BLOCK; i < (index + 1) * MC_PER_BLOCK; i++) {
		uint16_t mlid = (uint16_t)(IBA_LID_MCAST_FIRST + i);
		struct slice old = slice_of(before, mlid, &next_before);
		struct slice new = slice_of(now, mlid, &next_now);

		if (!new.n) {
			follow->changed[index] |= trees_get(follow->trees, mlid) != NULL;
			uproot(follow->trees, i);
		} else if (!follow->same || follow->all || old.n != new.n ||
			   memcmp(old.groups, new.groups, new.n * sizeof(struct mc_group *))) {
			follow_mlid(follow, mlid, &new);
		}
	}
}

void trees_follow(struct trees *trees, struct fabric *fabric, struct routing *routing,
		  struct mc_groups *groups, bool all, bool changed[IBA_MFT_BLOCKS],
		  trees_tell_fn *tell, void *arg)
{
	g_autofree uint32_t *moved = find_moved(trees->fabric, fabric);
	const struct follow follow = {
		.trees = trees,
		.fabric = fabric,
		.groups = groups,
		.routing = routing,
		.same = trees->fabric && same_cables(trees->fabric, fabric) &&
			same_order(trees->routing, routing),
		.all = all,
		.moved = moved,
		.changed = changed,
		.tell = tell,
		.arg = arg,
	};

	if (!follow.same)
		g_hash_table_remove_all(trees->grounds);
	for (uint32_t i = 0; i < IBA_MFT_BLOCKS; i++)
		follow_block(&follow, i);
	fabric_ref(fabric);
	if (trees->fabric)
		fabric_unref(trees->fabric);
	trees->fabric = fabric;
	mc_groups_unref(trees->groups);
	trees->groups = mc_groups_ref(groups);
	if (routing)
		routing_ref(routing);
	routing_unref(trees->routing);
	trees->routing = routing;
}
