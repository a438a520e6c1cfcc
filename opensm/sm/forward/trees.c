// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See trees.h. Everything here belongs to the actor "sm". */
#include "sm/forward/trees.h"

#include <glib.h>
#include <string.h>

/* The switches and ports that the tree of an MLID has to reach. */
struct planted {
	uint64_t *ends; /* switch << 16 | exit << 1 | only sends, of each member in turn */
	uint32_t n;
	uint32_t room; /* as of route_group */
	uint32_t excluded;
};

/* An update that was begun and has not ended. */
struct follow {
	struct fabric *fabric;
	struct mc_groups *groups;
	struct routing *routing;
	bool same;   /* cables, order and trunk have not changed */
	bool places; /* order, switches and their table sizes have not changed */
	bool hosts;  /* cables of hosts have not changed either */
	bool all;    /* report all trees */
	bool silent; /* some switch is silent */
	uint32_t *moved;
	uint32_t *load;	   /* [switch]: trees with this root; NULL: roots are not spread */
	GHashTable *bases; /* as in struct trees; the same ones if same */
	GHashTable *stale; /* uint32_t room -> bool [switch] of route_multicast_base_compare() */
	bool replaced[MC_N_MLIDS]; /* replaced by the following: */
	struct planted *planted[MC_N_MLIDS];
	struct route_tree *trees[MC_N_MLIDS];
};

struct trees {
	struct fabric *fabric;	  /* in which they were grown; NULL: there are none yet */
	struct mc_groups *groups; /* that they belong to */
	struct routing *routing;  /* whose order they follow; NULL: none */
	GHashTable *bases;	  /* uint32_t room -> struct route_multicast_base, for its cables */
	struct planted *planted[MC_N_MLIDS]; /* NULL: the MLID is unused */
	struct route_tree *trees[MC_N_MLIDS];
	struct follow *follow; /* NULL: no update was begun */
};

static void free_base(gpointer base)
{
	route_multicast_base_free(base);
}

static GHashTable *bases_new(void)
{
	return g_hash_table_new_full(NULL, NULL, NULL, free_base);
}

struct trees *trees_new(void)
{
	struct trees *trees = g_new0(struct trees, 1);

	trees->bases = bases_new();
	return trees;
}

static void planted_free(struct planted *planted)
{
	g_free(planted->ends);
	g_free(planted);
}

static void uproot(struct trees *trees, uint32_t i)
{
	g_clear_pointer(&trees->planted[i], planted_free);
	g_clear_pointer(&trees->trees[i], route_tree_unref);
}

static void follow_free(struct follow *follow)
{
	for (uint32_t i = 0; i < MC_N_MLIDS; i++) {
		g_clear_pointer(&follow->planted[i], planted_free);
		route_tree_unref(follow->trees[i]);
	}
	fabric_unref(follow->fabric);
	mc_groups_unref(follow->groups);
	routing_unref(follow->routing);
	g_hash_table_unref(follow->bases);
	g_hash_table_unref(follow->stale);
	g_free(follow->moved);
	g_free(follow->load);
	g_free(follow);
}

void trees_free(struct trees *trees)
{
	g_clear_pointer(&trees->follow, follow_free);
	for (uint32_t i = 0; i < MC_N_MLIDS; i++)
		uproot(trees, i);
	g_hash_table_unref(trees->bases);
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

	fabric_unref(trees->fabric);
	trees->fabric = fabric;
	for (uint32_t i = 0; i < MC_N_MLIDS; i++) {
		uproot(trees, i);
		trees->trees[i] = before->trees[i] ? route_tree_ref(before->trees[i]) : NULL;
	}
}

/* ---- changes ---- */

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

static bool is_silent(const struct fabric *fabric, uint32_t sw)
{
	return fabric->nodes[fabric->switches[sw].node].silent;
}

static bool any_silent(const struct fabric *fabric)
{
	for (uint32_t sw = 0; fabric && sw < fabric->n_switches; sw++)
		if (is_silent(fabric, sw))
			return true;
	return false;
}

/* A silent switch keeps its tables. */
static bool same_silent(const struct fabric *a, const struct fabric *b)
{
	for (uint32_t sw = 0; sw < b->n_switches; sw++)
		if (is_silent(a, sw) != is_silent(b, sw))
			return false;
	return true;
}

static bool same_room(const struct fabric *a, const struct fabric *b)
{
	for (uint32_t sw = 0; sw < b->n_switches; sw++)
		if (fabric_mlids(a, sw) != fabric_mlids(b, sw))
			return false;
	return true;
}

/* Every cable is in both fabrics, with the same indices; of hosts or of all. */
static bool same_cables(const struct fabric *a, const struct fabric *b, bool hosts)
{
	for (uint32_t i = 0; a != b && i < b->n_ports; i++)
		if (a->ports[i].peer != b->ports[i].peer &&
		    (!hosts || !fabric_is_switch(b, b->ports[i].node)))
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

static bool same_trunk(const struct routing *a, const struct routing *b)
{
	const uint8_t *one = a ? a->trunk : NULL, *other = b ? b->trunk : NULL;

	if (!one || !other)
		return one == other;
	return a->n_switches == b->n_switches && !memcmp(one, other, a->n_switches);
}

/* The new indices of switches; NULL: they are unchanged. */
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

/* The smallest room that excludes the same switches. */
static uint32_t room_of(const struct fabric *fabric, uint16_t mlid)
{
	uint32_t room = mlid - IBA_LID_MCAST_FIRST + 1u, least = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		if (fabric_mlids(fabric, sw) < room)
			least = MAX(least, fabric_mlids(fabric, sw) + 1);
	return least;
}

static struct route_multicast_base *base_of(const struct follow *follow, uint32_t room)
{
	struct route_multicast_base *base =
		g_hash_table_lookup(follow->bases, GUINT_TO_POINTER(room));

	if (!base) {
		base = route_multicast_base_new(follow->fabric, follow->routing, room);
		g_hash_table_insert(follow->bases, GUINT_TO_POINTER(room), base);
	}
	return base;
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

/* ---- kept ---- */

/* Switches whose paths have changed; NULL: there was no such base. */
static const bool *stale_of(const struct trees *trees, uint32_t room)
{
	const struct follow *follow = trees->follow;
	const struct route_multicast_base *before =
		g_hash_table_lookup(trees->bases, GUINT_TO_POINTER(room));
	bool *stale = g_hash_table_lookup(follow->stale, GUINT_TO_POINTER(room));

	if (!stale && before) {
		stale = route_multicast_base_compare(before, base_of(follow, room));
		g_hash_table_insert(follow->stale, GUINT_TO_POINTER(room), stale);
	}
	return stale;
}

/*
 * Whether growing would give the same tree: it excludes no member, its cables are there, and no
 * path from its root or to a switch with members has become longer or shorter.
 */
static bool would_stay(const struct trees *trees, uint32_t i, uint32_t room)
{
	const struct follow *follow = trees->follow;
	const struct planted *planted = trees->planted[i];
	const bool *stale = follow->places ? stale_of(trees, room) : NULL;

	if (!stale || planted->excluded)
		return false;
	for (uint32_t k = 0; k < planted->n; k++)
		if (stale[planted->ends[k] >> 16])
			return false;
	return route_tree_stays(trees->trees[i],
				g_hash_table_lookup(trees->bases, GUINT_TO_POINTER(room)),
				trees->fabric, base_of(follow, room), follow->fabric);
}

static bool is_kept(const struct trees *trees, uint32_t i)
{
	const struct follow *follow = trees->follow;
	const struct planted *planted = trees->planted[i];
	uint32_t room = room_of(follow->fabric, (uint16_t)(IBA_LID_MCAST_FIRST + i));

	return trees->trees[i] && planted->room == room &&
	       (follow->same || (!follow->silent && would_stay(trees, i, room)));
}

static bool same_ends(const struct planted *planted, const struct members *members)
{
	return planted && planted->n == members->ends->len &&
	       (!planted->n ||
		!memcmp(planted->ends, members->ends->data, planted->n * sizeof(uint64_t)));
}

/* ---- growing ---- */

struct calls {
	trees_tell_fn *tell;
	trees_held_fn *held;
	void *arg;
};

/* [switch]: what silent ones hold; NULL: all answer. */
static struct route_port_set **find_held(const struct follow *follow, uint16_t mlid,
					 const struct calls *calls)
{
	uint32_t n = follow->fabric->n_switches;
	struct route_port_set **held;

	if (!follow->silent)
		return NULL;
	held = g_new0(struct route_port_set *, n + 1);
	for (uint32_t sw = 0; sw < n; sw++)
		if (is_silent(follow->fabric, sw)) {
			held[sw] = g_new0(struct route_port_set, 1);
			calls->held(calls->arg, sw, mlid, held[sw]);
		}
	return held;
}

static void free_held(struct route_port_set **held, uint32_t n)
{
	for (uint32_t sw = 0; held && sw < n; sw++)
		g_free(held[sw]);
	g_free(held);
}

/* The current index of the root of an old tree; FABRIC_NONE: it is gone. */
static uint32_t find_root(const struct follow *follow, const struct route_tree *tree)
{
	if (!tree || !tree->n)
		return FABRIC_NONE;
	return follow->moved ? follow->moved[tree->root] : tree->root;
}

static void weigh(struct follow *follow, uint32_t root, bool more)
{
	if (follow->load && root != FABRIC_NONE)
		follow->load[root] += more ? 1 : -1;
}

static void grow(struct trees *trees, uint32_t i, const struct route_group *group,
		 const struct calls *calls)
{
	struct follow *follow = trees->follow;
	g_autofree char *witness = NULL;
	struct route_tree *grown =
		route_multicast_on(base_of(follow, group->room), follow->fabric, group,
				   trees->trees[i], follow->moved, &follow->planted[i]->excluded);

	follow->trees[i] = grown;
	weigh(follow, find_root(follow, trees->trees[i]), false);
	weigh(follow, grown->n ? grown->root : FABRIC_NONE, true);
	if (route_tree_verify(follow->fabric, grown, group, &witness))
		return;
	calls->tell(calls->arg, (uint16_t)(IBA_LID_MCAST_FIRST + i), 0, witness);
	g_clear_pointer(&follow->trees[i], route_tree_unref);
}

static struct planted *planted_new(const struct members *members, uint32_t room)
{
	struct planted *planted = g_new0(struct planted, 1);

	planted->n = members->ends->len;
	planted->room = room;
	planted->ends = g_memdup2(members->ends->data, members->ends->len * sizeof(uint64_t));
	return planted;
}

/* Grown, unless the old tree with the same members can be kept. */
static void plant(struct trees *trees, uint32_t i, struct members *members,
		  const struct calls *calls)
{
	struct follow *follow = trees->follow;
	uint16_t mlid = (uint16_t)(IBA_LID_MCAST_FIRST + i);
	struct route_port_set **held;
	struct route_group group = {
		.members = (const uint32_t *)(void *)members->ports->data,
		.only_sends = (const bool *)members->only_sends->data,
		.n_members = members->ports->len,
		.room = room_of(follow->fabric, mlid),
		.load = follow->load,
	};

	if (same_ends(trees->planted[i], members) && is_kept(trees, i))
		return;
	follow->replaced[i] = true;
	follow->planted[i] = planted_new(members, group.room);
	held = find_held(follow, mlid, calls);
	group.held = (const struct route_port_set *const *)held;
	grow(trees, i, &group, calls);
	free_held(held, follow->fabric->n_switches);
}

/* ---- block by block ---- */

/* The groups of one MLID. */
struct slice {
	struct mc_group *const *groups;
	uint32_t n;
};

/* From *next on; *next is set to the beginning of the others. */
static struct slice slice_of(const struct mc_block *block, uint16_t mlid, uint32_t *next)
{
	struct slice slice = {block ? block->groups + *next : NULL, 0};

	while (block && *next < block->n && block->groups[*next]->mlid == mlid) {
		slice.n++;
		++*next;
	}
	return slice;
}

static void follow_members(struct trees *trees, uint32_t i, const struct slice *slice,
			   const struct calls *calls)
{
	struct members members = {
		.ports = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.only_sends = g_array_new(FALSE, FALSE, sizeof(bool)),
		.ends = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
	};

	for (uint32_t k = 0; k < slice->n; k++)
		add_members(trees->follow, slice->groups[k], &members);
	plant(trees, i, &members, calls);
	g_array_unref(members.ports);
	g_array_unref(members.only_sends);
	g_array_unref(members.ends);
}

static void follow_mlid(struct trees *trees, uint32_t i, const struct slice *old,
			const struct slice *new, const struct calls *calls)
{
	const struct follow *follow = trees->follow;
	bool same = old->n == new->n && trees->planted[i] &&
		    !memcmp(old->groups, new->groups, new->n * sizeof(struct mc_group *));
	const struct planted *planted;

	if (same && follow->same && !follow->all)
		return;
	if (!same || !follow->hosts || !is_kept(trees, i))
		follow_members(trees, i, new, calls);
	planted = follow->replaced[i] ? follow->planted[i] : trees->planted[i];
	if (planted->excluded && (follow->replaced[i] || follow->all))
		calls->tell(calls->arg, (uint16_t)(IBA_LID_MCAST_FIRST + i), planted->excluded,
			    NULL);
}

void trees_follow(struct trees *trees, uint32_t block, trees_tell_fn *tell, trees_held_fn *held,
		  void *arg)
{
	struct follow *follow = trees->follow;
	const struct mc_block *before = block_of(trees->groups, block);
	const struct mc_block *now = block_of(follow->groups, block);
	const struct calls calls = {tell, held, arg};
	uint32_t next_before = 0, next_now = 0;

	if (before == now && follow->same && !follow->all)
		return;
	for (uint32_t i = block * MC_PER_BLOCK; i < (block + 1) * MC_PER_BLOCK; i++) {
		uint16_t mlid = (uint16_t)(IBA_LID_MCAST_FIRST + i);
		struct slice old = slice_of(before, mlid, &next_before);
		struct slice new = slice_of(now, mlid, &next_now);

		if (new.n)
			follow_mlid(trees, i, &old, &new, &calls);
		else
			follow->replaced[i] = trees->planted[i] || trees->trees[i];
	}
}

/* ---- beginning and end ---- */

void trees_begin(struct trees *trees, struct fabric *fabric, struct routing *routing,
		 struct mc_groups *groups, bool all, bool spread)
{
	struct follow *follow = g_new0(struct follow, 1);

	g_clear_pointer(&trees->follow, follow_free);
	trees->follow = follow;
	follow->fabric = fabric_ref(fabric);
	follow->groups = mc_groups_ref(groups);
	follow->routing = routing ? routing_ref(routing) : NULL;
	follow->moved = find_moved(trees->fabric, fabric);
	follow->silent = any_silent(fabric);
	follow->places = same_places(trees->fabric, fabric) && same_room(trees->fabric, fabric) &&
			 same_silent(trees->fabric, fabric) && same_order(trees->routing, routing);
	follow->hosts = follow->places && same_cables(trees->fabric, fabric, true);
	follow->same = follow->hosts && same_cables(trees->fabric, fabric, false) &&
		       same_trunk(trees->routing, routing);
	follow->all = all;
	follow->load = spread ? g_new0(uint32_t, fabric->n_switches) : NULL;
	for (uint32_t i = 0; spread && i < MC_N_MLIDS; i++)
		weigh(follow, find_root(follow, trees->trees[i]), true);
	follow->bases = follow->same ? g_hash_table_ref(trees->bases) : bases_new();
	follow->stale = g_hash_table_new_full(NULL, NULL, NULL, g_free);
}

#define SWAP(a, b)                                                                                 \
	do {                                                                                       \
		void *swap_ = (a);                                                                 \
		(a) = (b);                                                                         \
		(b) = swap_;                                                                       \
	} while (0)

static void replace(struct trees *trees, uint32_t i)
{
	uproot(trees, i);
	trees->planted[i] = g_steal_pointer(&trees->follow->planted[i]);
	trees->trees[i] = g_steal_pointer(&trees->follow->trees[i]);
}

void trees_end(struct trees *trees, bool changed[IBA_MFT_BLOCKS])
{
	struct follow *follow = trees->follow;

	for (uint32_t i = 0; i < MC_N_MLIDS; i++)
		if (follow->replaced[i]) {
			changed[i / MC_PER_BLOCK] = true;
			replace(trees, i);
		}
	SWAP(trees->fabric, follow->fabric);
	SWAP(trees->groups, follow->groups);
	SWAP(trees->routing, follow->routing);
	SWAP(trees->bases, follow->bases);
	g_clear_pointer(&trees->follow, follow_free);
}
