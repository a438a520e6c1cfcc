// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Stages of a change of tables. A column is all entries for one LID, before and after; in a mixture
 * each switch uses one or the other.
 *
 * A column that neither loops nor loses packets in any mixture may be written at once. In any other
 * column an entry that changes waits for those that change further on, along its new path: packets
 * stay on their old path until they reach a new entry, and then on the new one. If only loops are
 * possible, entries wait for those that are part of a loop with them. A block of 64 LIDs is written
 * once, unless its LIDs need their switches in different orders.
 *
 * Credit loops concern all columns together. If all paths go up and then down in one order, and
 * those of the mixtures too, there are none. Otherwise the channel dependencies of the routing are
 * added to those of the mixtures of each column. A column that closes a cycle is written in an
 * order, as above. If that does not help, columns change one group after another: while a group
 * changes, those before it have their new entries, and those after it the old ones. What has no
 * place in any group discards first: then its packets have old paths among old ones, or new ones.
 *
 * If there is an order, it is enough to examine each entry and the next one on its paths: no packet
 * goes down and then up if entries that lead down to a switch which will lead up discard first, and
 * those that will lead down to one which leads up are written last. That affects fewer entries than
 * many whole columns.
 *
 * Entries that lead over a link which is not ACTIVE yet, though packets arrive by the old ones,
 * come after all that need not wait for links, and those that wait for them come after them. If a
 * group has any, all later groups come after it.
 *
 * Lost paths are not repaired while this is computed. So the work is limited: for the rest, entries
 * are examined as above; without an order, all changing entries discard first. If the old or the
 * new routing has a credit loop of its own, nothing is done against them. Then whatever would take
 * longer is examined in one pass: an entry waits for those with which it may loop, and if possible
 * for the next one if that leads nowhere yet. That takes no longer than routing and verification
 * did.
 */
#include "route/transition/transition.h"

#include <string.h>

#include "iba/codes.h"
#include "route/graph/bits.h"
#include "route/graph/watch.h"
#include "route/layers/acyclic.h"
#include "route/layers/lane_channels.h"
#include "route/value/lanes.h"

#define PER_BLOCK 64
/* Passes over columns until they have an order; mostly fewer are needed. */
#define ROUNDS_MOST 10
/* Stages of a block that is written once, at most; else there are some for each of its LIDs. */
#define STAGES_FEW 16
/* Groups of columns that change one after another, at most. */
#define GROUPS_MOST 6
/* Stages from this one on are written when links that are coming up are ACTIVE. */
#define LINKED_STAGES (1u << 16)

/* Entries that keep their old value in earlier stages. */
struct late {
	uint32_t sw;
	uint16_t lid, n;
	uint32_t stage;
};

/* An entry of a column that is written after that of another switch. */
struct wait {
	uint32_t sw, other;
	bool loops; /* both may be part of a loop; else packets may be lost */
};

/* Entries that discard first. */
struct cut {
	uint32_t sw;
	uint16_t lid;
};

/* How a switch forwards a LID before and after, and in mixtures. */
struct hop {
	uint32_t channel[2]; /* by which packets leave; FABRIC_NONE: to no other switch */
	uint32_t to[2];	     /* the next switch before and after; FABRIC_NONE: none */
	bool arrives[2];     /* packets reach the owner */
	bool moves;	     /* the entry changes */
	bool may_loop;	     /* part of a loop in some mixture, or between two such loops */
	bool fails;	     /* packets may be lost in some mixture */
	uint16_t sls;	     /* of packets that start here */
	uint16_t vls[2];     /* of packets of one SL that leave by the entry */
};

/* The column of a LID. */
struct column {
	uint16_t lid;
	uint32_t home; /* the switch of its owner, or FABRIC_NONE */
	uint8_t exit;
	struct hop *hops; /* [switch] */
	bool may_loop, loses;
};

struct transition {
	const struct fabric *fabric;
	const struct routing *routing;
	struct route_watch *watch; /* or NULL */
	struct route_graph *graph;
	struct route_channels *channels;
	const uint8_t *const *tables[2]; /* [switch]: before and after */
	uint32_t n;
	uint8_t *none; /* row of a switch of which nothing is known */
	struct column column;
	uint32_t n_lids;		 /* in a row */
	uint64_t *changes, *ordered, *discarded; /* [block]: LIDs */
	uint8_t *group; /* [LID]: from 0; columns change group after group */
	unsigned int n_groups;
	uint32_t stages_before; /* those of the groups before */
	bool links_up; /* the current group comes after entries that wait for links */
	bool strict; /* order all as if they could lose packets: then no credit loop */
	uint64_t work, work_max;
	bool budget_exceeded; /* some work was skipped */
	bool by_entries, only_loops;
	bool no_credits; /* credit loops are ignored */
	GArray *cuts;	/* of struct cut */
	uint64_t *cut;	/* [block]: LIDs that have cuts */
	uint8_t *marks; /* [switch]: of the current column, HAZARD_..; or that it leads LIDs on */
	GArray *late;
	uint32_t n_stages, n_linked; /* stages until links are up, and after that */
	bool *is_rising; /* [channel]: its link is coming up; NULL: no link is */
	uint32_t *senders; /* [switch]: scratch */
	struct lane_channels *by_lane;
	struct acyclic *lanes;
	GArray *steps; /* pairs of consecutive channels by lane */
	GArray *waits; /* struct wait: of the current columns */
};

/* ---- the tables ---- */

static void find_changes(struct transition *t)
{
	route_watch_begin(t->watch, "changes of tables", t->n);
	for (uint32_t sw = 0; sw < t->n && route_watch_step(t->watch); sw++) {
		const uint8_t *old = t->tables[0][sw], *now = t->tables[1][sw];

		for (uint32_t lid = 0; old != now && lid < t->n_lids; lid++)
			t->changes[lid / 64] |= (uint64_t)(old[lid] != now[lid]) << lid % 64;
	}
}

static uint32_t count_bits(const struct transition *t, const uint64_t *bits)
{
	uint32_t n = 0;

	for (uint32_t block = 0; block < t->routing->n_blocks; block++)
		n += __builtin_popcountll(bits[block]);
	return n;
}

/* What remains when switches without senders, or without a next switch, are removed repeatedly. */
static void find_loops(struct transition *t)
{
	struct hop *hops = t->column.hops;
	uint32_t *senders = t->senders, left = t->n;
	bool more = true;

	memset(senders, 0, t->n * sizeof(*senders));
	for (uint32_t i = 0; i < 2 * t->n; i++) {
		hops[i / 2].may_loop = true;
		if (hops[i / 2].to[i % 2] != FABRIC_NONE)
			senders[hops[i / 2].to[i % 2]]++;
	}
	while (more && left) {
		more = false;
		for (uint32_t sw = 0; sw < t->n; sw++) {
			const uint32_t *to = hops[sw].to;
			bool sends = false;

			for (unsigned int side = 0; side < 2; side++)
				sends |= to[side] != FABRIC_NONE && hops[to[side]].may_loop;
			if (!hops[sw].may_loop || (senders[sw] && sends))
				continue;
			hops[sw].may_loop = false;
			more = true;
			left--;
			for (unsigned int side = 0; side < 2; side++)
				if (to[side] != FABRIC_NONE)
					senders[to[side]]--;
		}
	}
	t->column.may_loop = left;
}

/* Where packets arrive by the tables before and after; and where some mixture may lose them. */
static void find_fates(struct transition *t)
{
	struct column *column = &t->column;
	struct hop *hops = column->hops;
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t i = 0; i < 2 * t->n; i++) {
			struct hop *hop = &hops[i / 2];
			unsigned int side = i % 2;
			const struct hop *next;

			if (hop->to[side] == FABRIC_NONE)
				continue;
			next = &hops[hop->to[side]];
			if (next->arrives[side] > hop->arrives[side])
				hop->arrives[side] = more = true;
			if (next->fails > hop->fails)
				hop->fails = more = true;
		}
	}
	column->loses = t->strict;
	for (uint32_t sw = 0; column->home != FABRIC_NONE && sw < t->n; sw++)
		column->loses |= hops[sw].fails && hops[sw].arrives[0] && hops[sw].arrives[1];
}

static void load_entries(struct transition *t, uint16_t lid)
{
	struct column *column = &t->column;

	t->work += t->n;
	column->lid = lid;
	column->home = route_leaf_of(t->fabric, lid, &column->exit);
	for (uint32_t sw = 0; sw < t->n; sw++) {
		struct hop *hop = &column->hops[sw];

		hop->moves = t->tables[0][sw][lid] != t->tables[1][sw][lid];
		hop->fails = false;
		for (unsigned int side = 0; side < 2; side++) {
			uint8_t port = t->tables[side][sw][lid];
			uint32_t channel = route_channel(t->channels, sw, port);

			hop->channel[side] = channel;
			hop->to[side] =
				channel == FABRIC_NONE ? channel : t->channels->to[channel];
			hop->arrives[side] = sw == column->home && port == column->exit;
			hop->fails |= channel == FABRIC_NONE && !hop->arrives[side];
		}
	}
}

/* Loads a column, and finds what its mixtures can do. */
static void load(struct transition *t, uint16_t lid)
{
	load_entries(t, lid);
	find_loops(t);
	find_fates(t);
}

/* ---- order ---- */

/* Whether an entry that changes must wait for another on its new path. */
static bool waits_for(const struct column *column, uint32_t sw, uint32_t other)
{
	const struct hop *hops = column->hops;

	return hops[other].moves && (column->loses || (hops[sw].may_loop && hops[other].may_loop));
}

/* Whether an entry would lose packets now, since its link is not ACTIVE yet. */
static bool needs_link(const struct transition *t, uint32_t sw)
{
	const struct hop *hop = &t->column.hops[sw];

	return t->is_rising && !t->links_up && hop->moves && hop->arrives[0] &&
	       hop->channel[1] != FABRIC_NONE && t->is_rising[hop->channel[1]];
}

static bool any_needs_link(const struct transition *t)
{
	for (uint32_t sw = 0; t->is_rising && sw < t->n; sw++)
		if (needs_link(t, sw))
			return true;
	return false;
}

/* The earliest stage in which an entry may be written. */
static uint32_t earliest(const struct transition *t, const uint32_t *stage, uint32_t sw,
			 uint32_t last_good)
{
	const struct column *column = &t->column;
	const struct hop *hops = column->hops;
	uint32_t least = column->loses && !hops[sw].arrives[1] ? last_good + 1 : 1, n = 0;

	if (needs_link(t, sw))
		least = MAX(least, LINKED_STAGES);
	for (uint32_t to = hops[sw].to[1]; to != FABRIC_NONE && n++ < t->n; to = hops[to].to[1])
		if (waits_for(column, sw, to))
			least = MAX(least, stage[to] + 1);
	return least;
}

/* True if some entry was delayed. */
static bool delay(const struct transition *t, uint32_t *stage)
{
	const struct hop *hops = t->column.hops;
	uint32_t last_good = 0;
	bool moved = false;

	for (uint32_t sw = 0; sw < t->n; sw++)
		if (hops[sw].moves && hops[sw].arrives[1])
			last_good = MAX(last_good, stage[sw]);
	for (uint32_t sw = 0; sw < t->n; sw++) {
		uint32_t least = hops[sw].moves ? earliest(t, stage, sw, last_good) : 0;

		moved |= least > stage[sw];
		stage[sw] = MAX(stage[sw], least);
	}
	return moved;
}

static bool is_too_much(const struct transition *t, uint64_t columns)
{
	return route_is_cancelled(t->watch) || t->work + columns * t->n > t->work_max;
}

/* Stages of switches that are safe for all of these LIDs of a block; false: there are none. */
static bool find_stages(struct transition *t, uint32_t block, uint64_t lids, uint32_t *stage)
{
	uint32_t rounds = 0, most = 4 * MIN(t->n, 64) + 4;
	bool moved = true;

	memset(stage, 0, t->n * sizeof(*stage));
	for (; moved && rounds < most && !is_too_much(t, PER_BLOCK); rounds++) {
		moved = false;
		for (uint64_t rest = lids; rest && route_watch_look(t->watch); rest &= rest - 1) {
			load(t, block * PER_BLOCK + __builtin_ctzll(rest));
			moved |= delay(t, stage);
		}
	}
	return !moved;
}

static void note_late(struct transition *t, const uint32_t *stage, uint16_t lid, uint16_t n)
{
	for (uint32_t sw = 0; sw < t->n; sw++) {
		bool own_links = stage[sw] >= LINKED_STAGES;
		struct late late = {sw, lid, n, stage[sw] + (own_links ? 0 : t->stages_before)};

		if (!stage[sw])
			continue;
		if (late.stage > 1)
			g_array_append_val(t->late, late);
		if (late.stage >= LINKED_STAGES)
			t->n_linked = MAX(t->n_linked, late.stage - LINKED_STAGES + 1);
		else
			t->n_stages = MAX(t->n_stages, late.stage);
	}
}

/* For LIDs of a block; others there may have other stages. */
static void note_block(struct transition *t, const uint32_t *stage, uint32_t block, uint64_t lids)
{
	if (lids == UINT64_MAX) {
		note_late(t, stage, block * PER_BLOCK, PER_BLOCK);
		return;
	}
	for (; lids; lids &= lids - 1)
		note_late(t, stage, block * PER_BLOCK + __builtin_ctzll(lids), 1);
}

/* The number of a stage, from 1, when all are known. */
static uint32_t stage_number(const struct transition *t, uint32_t stage)
{
	return stage < LINKED_STAGES ? stage : stage - LINKED_STAGES + t->n_stages + 1;
}

/* ---- order of entries examined in one pass ---- */

/* Whether the old entry leads anywhere. */
static bool leads_on(const struct hop *hop)
{
	return hop->to[0] != FABRIC_NONE || hop->arrives[0];
}

/* Entries wait for the next one on their new path that may loop with them, or leads nowhere. */
static void list_waits(struct transition *t, uint16_t lid)
{
	const struct hop *hops = t->column.hops;

	load_entries(t, lid);
	find_loops(t);
	for (uint32_t sw = 0; sw < t->n; sw++) {
		uint32_t to = hops[sw].to[1], n = 0;
		struct wait wait = {sw, to, false};

		t->marks[sw] |= leads_on(&hops[sw]);
		if (!hops[sw].moves || to == FABRIC_NONE)
			continue;
		if (leads_on(&hops[sw]) && !leads_on(&hops[to]))
			g_array_append_val(t->waits, wait);
		while (hops[sw].may_loop && to != FABRIC_NONE && n++ < t->n &&
		       !(hops[to].moves && hops[to].may_loop))
			to = hops[to].to[1];
		wait = (struct wait){sw, to, true};
		if (hops[sw].may_loop && to != FABRIC_NONE)
			g_array_append_val(t->waits, wait);
	}
}

/*
 * Stages in which no entry loops and, with losses, none is lost that waits for another; without
 * losses, switches that hold nothing come first, which avoids most losses. False: there are none.
 */
static bool find_stages_of_waits(struct transition *t, bool losses, uint32_t most, uint32_t *stage)
{
	uint32_t rounds = 0;
	bool moved = true;

	for (uint32_t sw = 0; sw < t->n; sw++)
		stage[sw] = losses || !t->marks[sw] ? 1 : 2;
	for (; moved && rounds < most && route_watch_look(t->watch); rounds++) {
		moved = false;
		for (uint32_t i = 0; i < t->waits->len; i++) {
			const struct wait *wait = &g_array_index(t->waits, struct wait, i);

			if ((!losses && !wait->loops) || stage[wait->sw] > stage[wait->other])
				continue;
			stage[wait->sw] = stage[wait->other] + 1;
			moved = true;
		}
	}
	return !moved;
}

/* One by one, as they need their switches in different orders. */
static void order_each(struct transition *t, uint32_t block, uint64_t lids, uint32_t *stage)
{
	t->only_loops = true;
	for (; lids && route_watch_look(t->watch); lids &= lids - 1) {
		uint16_t lid = block * PER_BLOCK + __builtin_ctzll(lids);

		g_array_set_size(t->waits, 0);
		memset(t->marks, 0, t->n);
		list_waits(t, lid);
		if (find_stages_of_waits(t, false, t->n, stage))
			note_late(t, stage, lid, 1);
		else
			t->discarded[block] |= lids & -lids;
	}
}

/* LIDs with entries that wait for links, which should not delay those of the others. */
static uint64_t find_linked(struct transition *t, uint32_t block, uint64_t lids)
{
	uint64_t linked = 0;

	for (; t->is_rising && lids && !is_too_much(t, PER_BLOCK); lids &= lids - 1) {
		route_watch_look(t->watch);
		load(t, block * PER_BLOCK + __builtin_ctzll(lids));
		linked |= any_needs_link(t) ? lids & -lids : 0;
	}
	return linked;
}

static void order_fully(struct transition *t, uint32_t block, uint64_t lids, uint32_t *stage)
{
	uint64_t linked = find_linked(t, block, lids);

	if (find_stages(t, block, lids & ~linked, stage)) {
		note_block(t, stage, block,
			   linked || t->n_groups > 1 ? lids & ~linked : UINT64_MAX);
		lids = linked;
	}
	for (; lids; lids &= lids - 1) {
		unsigned int bit = __builtin_ctzll(lids);

		/* Not where the routing itself loops, as old entries of an unused LID may. */
		if (find_stages(t, block, UINT64_C(1) << bit, stage))
			note_late(t, stage, block * PER_BLOCK + bit, 1);
		else if (is_too_much(t, PER_BLOCK))
			break;
	}
	t->budget_exceeded |= lids != 0;
	if (lids && t->no_credits)
		order_each(t, block, lids, stage);
	else
		t->discarded[block] |= lids;
}

static void order_quickly(struct transition *t, uint32_t block, uint64_t lids, uint32_t *stage)
{
	g_array_set_size(t->waits, 0);
	memset(t->marks, 0, t->n);
	for (uint64_t rest = lids; rest && route_watch_look(t->watch); rest &= rest - 1) {
		uint32_t before = t->waits->len;

		list_waits(t, block * PER_BLOCK + __builtin_ctzll(rest));
		if (t->waits->len == before)
			t->ordered[block] &= ~(rest & -rest);
	}
	if (find_stages_of_waits(t, true, STAGES_FEW, stage) ||
	    find_stages_of_waits(t, false, STAGES_FEW, stage))
		note_late(t, stage, block * PER_BLOCK, PER_BLOCK);
	else
		order_each(t, block, lids, stage);
}

static void order_block(struct transition *t, uint32_t block, unsigned int group, uint32_t *stage)
{
	uint64_t lids = t->ordered[block] & ~t->discarded[block];

	for (unsigned int i = 0; t->n_groups > 1 && i < PER_BLOCK; i++)
		lids &= ~((uint64_t)(t->group[block * PER_BLOCK + i] != group) << i);
	if (lids && t->only_loops)
		order_quickly(t, block, lids, stage);
	else if (lids)
		order_fully(t, block, lids, stage);
}

/* ---- credit loops ---- */

/* SLs of packets to the current LID that start at a switch. */
static uint16_t sls_from(const struct transition *t, uint32_t sw)
{
	const struct route_lanes *lanes = t->routing->lanes;
	uint32_t home = t->column.home;

	if (home == FABRIC_NONE)
		return lanes ? 0 : 1;
	if (!route_is_source(t->graph, sw) && t->column.exit == 0)
		return 0;
	return route_lanes_sls_between(lanes, sw, home, t->graph->sm_switch);
}

/* The VL of packets that leave by an entry; last: the channel by which they came, or none. */
static unsigned int vl_of(const struct transition *t, uint32_t last, uint32_t channel,
			  unsigned int sl)
{
	const struct route_lanes *lanes = t->routing->lanes;
	const uint8_t *links = t->graph->links;

	return !lanes ? 0
		      : route_lanes_vl(lanes, t->channels->from[channel],
				       last == FABRIC_NONE ? 0 : links[t->channels->back[last]],
				       links[channel], sl);
}

/* Packets of an SL reach a switch; true if they leave it on VLs that were not known. */
static bool pass(struct transition *t, uint32_t sw, uint32_t last, unsigned int sl)
{
	struct hop *hop = &t->column.hops[sw];
	bool more = false;

	for (unsigned int side = 0; side < 2; side++) {
		uint32_t channel = hop->channel[side];
		uint16_t bit = channel == FABRIC_NONE ? 0 : 1u << vl_of(t, last, channel, sl);

		more |= bit & ~hop->vls[side];
		hop->vls[side] |= bit;
	}
	return more;
}

/* VLs of packets of an SL that pass each switch, in any mixture; false: there are none. */
static bool spread_lanes(struct transition *t, unsigned int sl)
{
	struct hop *hops = t->column.hops;
	bool more = false;

	for (uint32_t sw = 0; sw < t->n; sw++) {
		hops[sw].vls[0] = hops[sw].vls[1] = 0;
		more |= hops[sw].sls >> sl & 1 && pass(t, sw, FABRIC_NONE, sl);
	}
	if (!more)
		return false;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < 2 * t->n; i++) {
			const struct hop *hop = &hops[i / 2];

			if (hop->vls[i % 2] && hop->to[i % 2] != FABRIC_NONE)
				more |= pass(t, hop->to[i % 2], hop->channel[i % 2], sl);
		}
	}
	return true;
}

/* Whether an entry of one side may coincide with the next switch's entry of the other. */
static bool may_meet(const struct column *column, uint32_t sw, unsigned int side, uint32_t to,
		     unsigned int next_side)
{
	return side == 0 || next_side == 1 || !column->hops[sw].moves ||
	       !waits_for(column, sw, to);
}

/* Lists a step of packets of an SL, on each lane by which they come. */
static void list_step(struct transition *t, uint16_t vls, uint32_t from, uint32_t to,
		      unsigned int sl)
{
	struct acyclic_step step = {
		.to = lane_channel(t->by_lane, to, vl_of(t, from, to, sl)),
	};

	for (; vls; vls &= vls - 1) {
		step.from = lane_channel(t->by_lane, from, __builtin_ctz(vls));
		g_array_append_val(t->steps, step);
	}
}

#define SIDES_ALL 0xF
/* Lists pairs of consecutive channels of packets of an SL, before, after, or mixed. */
static void list_steps(struct transition *t, unsigned int sides, unsigned int sl)
{
	const struct column *column = &t->column;

	for (uint32_t sw = 0; sw < t->n; sw++)
		for (unsigned int i = 0; i < 4; i++) {
			const struct hop *hop = &column->hops[sw];
			uint32_t to = hop->to[i / 2], next;

			if (!(sides >> i & 1) || !hop->vls[i / 2] || to == FABRIC_NONE ||
			    !may_meet(column, sw, i / 2, to, i % 2))
				continue;
			next = column->hops[to].channel[i % 2];
			if (next != FABRIC_NONE)
				list_step(t, hop->vls[i / 2], hop->channel[i / 2], next, sl);
		}
}

/* Lists the steps of all packets to the current LID. */
static void list_all_steps(struct transition *t, unsigned int sides)
{
	uint16_t all = 0;

	for (uint32_t sw = 0; sw < t->n; sw++)
		all |= t->column.hops[sw].sls = sls_from(t, sw);
	g_array_set_size(t->steps, 0);
	for (; all; all &= all - 1)
		if (spread_lanes(t, __builtin_ctz(all)))
			list_steps(t, sides, __builtin_ctz(all));
}

static bool leads_up(const struct transition *t, uint32_t channel)
{
	uint32_t from = t->channels->from[channel], to = t->channels->to[channel];
	const uint32_t *order = t->routing->order;

	return order[to] < order[from] || (order[to] == order[from] && to < from);
}

/* Whether packets may go down and then up. */
static bool turns(struct transition *t)
{
	if (!t->routing->order)
		return true;
	list_all_steps(t, SIDES_ALL);
	for (uint32_t i = 0; i < t->steps->len; i++) {
		const struct acyclic_step *step = &g_array_index(t->steps, struct acyclic_step, i);

		if (!leads_up(t, lane_channel_of(t->by_lane, step->from)) &&
		    leads_up(t, lane_channel_of(t->by_lane, step->to)))
			return true;
	}
	return false;
}

/* Adds the steps of a column, even if they close cycles (force), or returns false. */
static bool add_column(struct transition *t, unsigned int sides, bool force)
{
	const struct acyclic_step *steps;

	list_all_steps(t, sides);
	steps = (const struct acyclic_step *)(const void *)t->steps->data;
	for (uint32_t i = 0; force && i < t->steps->len; i++)
		acyclic_note(t->lanes, steps[i]);
	return force || acyclic_add(t->lanes, steps, t->steps->len);
}

/* Adds the tables after, or before for the LIDs in old, and nothing else. */
static void note_sides(struct transition *t, const uint64_t *old)
{
	g_clear_pointer(&t->lanes, acyclic_free);
	t->lanes = acyclic_new(t->by_lane->channels);
	route_watch_begin(t->watch, "credit loops of tables", t->routing->top);
	for (uint32_t lid = 1; lid <= t->routing->top && route_watch_step(t->watch); lid++) {
		unsigned int side = !bits_has(old, lid);

		load_entries(t, lid);
		if (t->column.home == FABRIC_NONE)
			continue;
		for (uint32_t sw = 0; sw < t->n; sw++) {
			struct hop *hop = &t->column.hops[sw];

			hop->to[!side] = hop->to[side];
			hop->channel[!side] = hop->channel[side];
		}
		add_column(t, side ? 0x8 : 0x1, true);
	}
}

/* Adds all of the tables before or after, and nothing else; false: they have a cycle. */
static bool note_tables(struct transition *t, unsigned int side)
{
	g_autofree uint64_t *old = g_new0(uint64_t, t->routing->n_blocks);

	if (!side)
		memset(old, 0xFF, t->routing->n_blocks * sizeof(*old));
	note_sides(t, old);
	return acyclic_sort(t->lanes);
}

/* Finds columns that close a cycle with those before them, as bits; false: no column does. */
static bool add_columns(struct transition *t, uint64_t *refused)
{
	bool any = false;

	route_watch_begin(t->watch, "credit loops of mixtures", count_bits(t, t->changes));
	bits_each(t->changes, 0, t->n_lids, lid) {
		if (!route_watch_step(t->watch))
			break;
		load(t, lid);
		if (t->column.home == FABRIC_NONE || add_column(t, SIDES_ALL, false))
			continue;
		bits_put(refused, lid, true);
		any = true;
	}
	return any;
}

/* Moves columns that close no cycle now from later to this group; false: there are none. */
static bool fill_group(struct transition *t, unsigned int group, uint64_t *later)
{
	bool any = false;

	bits_each(later, 0, t->n_lids, lid) {
		if (!route_watch_look(t->watch))
			break;
		load(t, lid);
		if (t->column.home != FABRIC_NONE && !add_column(t, SIDES_ALL, false))
			continue;
		t->group[lid] = group;
		bits_put(later, lid, false);
		any = true;
	}
	return any;
}

/*
 * Deals the changing columns to groups, but for those that discard first. Bits of those that have
 * no group remain in later.
 */
static void deal_groups(struct transition *t, const uint64_t *discarded, uint64_t *later)
{
	for (uint32_t block = 0; block < t->routing->n_blocks; block++)
		later[block] = t->changes[block] & ~discarded[block];
	for (t->n_groups = 0; count_bits(t, later) && t->n_groups < GROUPS_MOST; t->n_groups++) {
		if (is_too_much(t, t->routing->top + count_bits(t, later)))
			return;
		note_sides(t, later);
		if (!acyclic_sort(t->lanes) || !fill_group(t, t->n_groups, later))
			return;
	}
}

/* Fewer columns discard first, or none, if they change in groups one after another. */
static void find_groups(struct transition *t)
{
	size_t size = t->routing->n_blocks * sizeof(uint64_t);
	g_autofree uint64_t *discarded = g_new0(uint64_t, t->routing->n_blocks);
	g_autofree uint64_t *later = g_new0(uint64_t, t->routing->n_blocks);

	deal_groups(t, discarded, later);
	if (count_bits(t, later)) { /* once more, without what is in the way */
		memcpy(discarded, later, size);
		deal_groups(t, discarded, later);
	}
	if (count_bits(t, later) || count_bits(t, discarded) >= count_bits(t, t->discarded))
		t->n_groups = 1;
	else
		memcpy(t->discarded, discarded, size);
}

/*
 * Columns in any order if that closes no cycle; else all ordered; those that still do close one
 * change in groups, or discard.
 */
static void find_discards(struct transition *t)
{
	g_autofree uint64_t *refused = g_new0(uint64_t, t->routing->n_blocks);

	if (!note_tables(t, 1) || !add_columns(t, refused) || !note_tables(t, 0))
		return; /* it could deadlock before, or can after, or never can */
	t->strict = true;
	memcpy(t->ordered, t->changes, t->routing->n_blocks * sizeof(*t->ordered));
	note_tables(t, 1);
	if (add_columns(t, t->discarded))
		find_groups(t);
}

/* ---- by entries ---- */

enum { HAZARD_CUT = 1, HAZARD_LATE = 2 };

static bool goes_up(const struct transition *t, const struct hop *hop, unsigned int side)
{
	return hop->channel[side] != FABRIC_NONE && leads_up(t, hop->channel[side]);
}

/* The switch to which an entry leads down, or FABRIC_NONE. */
static uint32_t down_to(const struct transition *t, const struct hop *hop, unsigned int side)
{
	return goes_up(t, hop, side) ? FABRIC_NONE : hop->to[side];
}

static uint8_t hazards_of(const struct transition *t, uint32_t sw)
{
	const struct hop *hops = t->column.hops, *hop = &hops[sw], *next;
	uint8_t hazards = 0;
	uint32_t below = down_to(t, hop, 0);

	if (below != FABRIC_NONE && (goes_up(t, &hops[below], 0) || goes_up(t, &hops[below], 1)))
		hazards |= HAZARD_CUT;
	if (hop->to[1] == FABRIC_NONE)
		return hazards;
	next = &hops[hop->to[1]];
	if ((down_to(t, hop, 1) != FABRIC_NONE && goes_up(t, next, 0)) ||
	    (leads_on(hop) && !leads_on(next)))
		hazards |= HAZARD_LATE;
	return hazards;
}

/* Cuts the second of two late entries in a row, since it must not lead up after the first. */
static void cut_late(struct transition *t)
{
	for (uint32_t sw = 0; sw < t->n; sw++) {
		uint32_t next = t->column.hops[sw].to[1];

		if (t->marks[sw] & HAZARD_LATE && next != FABRIC_NONE &&
		    t->marks[next] & HAZARD_LATE)
			t->marks[next] |= HAZARD_CUT;
	}
}

#define ENTRIES_MAX (1u << 24)

/*
 * Cuts and late entries of all changing columns, instead of whole columns. False if there are more
 * than there is memory for.
 */
static bool find_entries(struct transition *t)
{
	memset(t->ordered, 0, t->routing->n_blocks * sizeof(*t->ordered));
	memset(t->discarded, 0, t->routing->n_blocks * sizeof(*t->discarded));
	route_watch_begin(t->watch, "order of entries", count_bits(t, t->changes));
	bits_each(t->changes, 0, t->n_lids, lid) {
		if (!route_watch_step(t->watch))
			break;
		if (t->late->len + t->cuts->len > ENTRIES_MAX)
			return false;
		load_entries(t, lid);
		for (uint32_t sw = 0; sw < t->n; sw++)
			t->marks[sw] = hazards_of(t, sw);
		cut_late(t);
		for (uint32_t sw = 0; sw < t->n; sw++) {
			struct late late = {sw, lid, 1, 2};
			struct cut cut = {sw, lid};

			if (t->marks[sw] & HAZARD_LATE &&
			    (t->column.hops[sw].moves || t->marks[sw] & HAZARD_CUT))
				g_array_append_val(t->late, late);
			if (!(t->marks[sw] & HAZARD_CUT))
				continue;
			g_array_append_val(t->cuts, cut);
			bits_put(t->cut, lid, true);
		}
	}
	t->n_stages = t->late->len ? 2 : 1;
	t->n_groups = 1;
	t->by_entries = true;
	return true;
}

static void discard_all(struct transition *t)
{
	memcpy(t->discarded, t->changes, t->routing->n_blocks * sizeof(*t->discarded));
	memset(t->cut, 0, t->routing->n_blocks * sizeof(*t->cut));
	g_array_set_size(t->cuts, 0);
	g_array_set_size(t->late, 0);
	t->n_groups = 1;
	t->budget_exceeded = true;
}

/* ---- stages ---- */

/* Marks entries that must not be written at once; true if some could close a credit loop. */
static bool find_hazards(struct transition *t, bool ordered)
{
	bool turning = false;

	route_watch_begin(t->watch, "mixtures of tables", count_bits(t, t->changes));
	bits_each(t->changes, 0, t->n_lids, lid) {
		if (!route_watch_step(t->watch))
			break;
		load(t, lid);
		if (t->column.may_loop || t->column.loses || any_needs_link(t))
			bits_put(t->ordered, lid, true);
		turning |= !ordered || (t->column.home != FABRIC_NONE && turns(t));
	}
	return turning;
}

/* Ignores credit loops. */
static void plan_without_credits(struct transition *t, uint32_t changes)
{
	t->no_credits = true;
	t->only_loops = t->budget_exceeded = is_too_much(t, ROUNDS_MOST * changes);
	if (t->only_loops)
		memcpy(t->ordered, t->changes, t->routing->n_blocks * sizeof(*t->ordered));
	else
		find_hazards(t, false);
}

static void plan_with_credits(struct transition *t, uint32_t changes, bool ordered)
{
	bool in_order = ordered && t->routing->order, enough;

	t->work_max *= in_order ? 1 : 4; /* without an order there is no other way */
	enough = !is_too_much(t, 2 * changes);
	if (enough && !find_hazards(t, ordered))
		return;
	enough = enough && !is_too_much(t, 3 * t->routing->top + 2 * changes);
	if (enough)
		find_discards(t);
	t->budget_exceeded = !enough;
	if (enough && 4 * count_bits(t, t->discarded) <= changes)
		return;
	if (in_order ? !find_entries(t) : !enough)
		discard_all(t);
}

/* How many times the work of one lane it takes to follow packets whose lanes depend on turns. */
static unsigned int n_kinds(const struct transition *t)
{
	return routing_has_turns(t->routing) ? __builtin_popcount(t->routing->lanes->sls) : 1;
}

/*
 * Decides what to order, and what to discard first. If a routing has a credit loop of its own, or
 * turns make it too much work to find any, nothing is done against these.
 */
static void plan(struct transition *t, bool cyclic, const struct route_verdict *verdict)
{
	uint32_t changes = count_bits(t, t->changes);
	uint64_t all = 3 * t->routing->top + 3 * changes;

	cyclic = cyclic && is_too_much(t, all);
	if (cyclic || !verdict->acyclic ||
	    (routing_has_turns(t->routing) && is_too_much(t, n_kinds(t) * all / 4)))
		plan_without_credits(t, changes);
	else
		plan_with_credits(t, changes, verdict->by_order && !t->routing->lanes);
}

/*
 * Orders the columns of each group. If there is not enough work left for one of several groups, all
 * that changes discards first: what was found for the groups does not hold for other columns then.
 */
static void order_groups(struct transition *t)
{
	g_autofree uint32_t *stage = g_new0(uint32_t, t->n + 1);
	uint32_t n_blocks = t->routing->n_blocks, discards = count_bits(t, t->discarded);
	unsigned int n_groups = t->n_groups;

	route_watch_begin(t->watch, "order of writes", (uint64_t)n_groups * n_blocks);
	for (unsigned int group = 0; group < n_groups; group++) {
		for (uint32_t block = 0; block < n_blocks && route_watch_step(t->watch); block++)
			order_block(t, block, group, stage);
		t->links_up = t->n_linked > 0;
		t->stages_before = t->links_up ? LINKED_STAGES + t->n_linked - 1 : t->n_stages;
	}
	if (n_groups < 2 || count_bits(t, t->discarded) == discards)
		return;
	discard_all(t);
	t->n_stages = 1;
	t->n_linked = 0;
}

static uint8_t *own_row(const struct transition *t, struct route_stages *stages, uint32_t stage,
			uint32_t sw)
{
	const uint8_t **rows = (const uint8_t **)stages->rows[stage];
	uint8_t *row;

	if (rows[sw] != t->tables[0][sw] && rows[sw] != t->routing->lft[sw])
		return (uint8_t *)rows[sw];
	row = g_memdup2(rows[sw], t->n_lids);
	g_ptr_array_add(stages->owned, row);
	rows[sw] = row;
	return row;
}

/* Entries that change, of LIDs that discard first. */
static void discard(const struct transition *t, struct route_stages *stages)
{
	for (uint32_t sw = 0; sw < t->n && route_watch_look(t->watch); sw++)
		bits_each(t->discarded, 0, t->n_lids, lid)
			if (t->tables[0][sw][lid] != t->tables[1][sw][lid])
				own_row(t, stages, 0, sw)[lid] = ROUTE_NO_PORT;
	for (uint32_t i = 0; i < t->cuts->len; i++) {
		const struct cut *cut = &g_array_index(t->cuts, struct cut, i);

		own_row(t, stages, 0, cut->sw)[cut->lid] = ROUTE_NO_PORT;
	}
}

#define LATE_PER_STEP 4096
/* Late entries keep their old value; number: from 1, as the stages of late entries. */
static void keep_late(const struct transition *t, struct route_stages *stages,
		      const uint8_t *const *before, uint32_t stage, uint32_t number)
{
	for (uint32_t i = 0; i < t->late->len; i++) {
		const struct late *late = &g_array_index(t->late, struct late, i);

		if (i % LATE_PER_STEP == 0 && !route_watch_look(t->watch))
			break;
		if (stage_number(t, late->stage) > number)
			memcpy(own_row(t, stages, stage, late->sw) + late->lid,
			       before[late->sw] + late->lid, late->n);
	}
}

static uint32_t count_ordered(const struct transition *t)
{
	uint32_t n = 0;

	for (uint32_t block = 0; block < t->routing->n_blocks; block++)
		n += __builtin_popcountll(t->ordered[block] & ~t->discarded[block]);
	return n;
}

static struct route_stages *make_stages(struct transition *t)
{
	struct route_stages *stages = g_new0(struct route_stages, 1);
	uint32_t first, n = t->n_stages + t->n_linked;

	stages->routing = routing_ref((struct routing *)t->routing);
	stages->owned = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(stages->owned, g_steal_pointer(&t->none));
	stages->n_ordered = count_ordered(t);
	stages->n_discarded = count_bits(t, t->discarded) + count_bits(t, t->cut);
	first = stages->n_discarded != 0;
	stages->n = first + n;
	stages->first_linked = first + t->n_stages;
	stages->rows = g_new0(const uint8_t *const *, stages->n);
	for (uint32_t i = 0; i < stages->n; i++) {
		const uint8_t *const *rows = t->tables[i < first ? 0 : 1];

		stages->rows[i] = g_memdup2(rows, t->n * sizeof(*rows));
	}
	if (first)
		discard(t, stages);
	route_watch_begin(t->watch, "stages", n);
	for (uint32_t i = 1; i <= n && route_watch_step(t->watch); i++)
		keep_late(t, stages, first ? stages->rows[0] : t->tables[0], first + i - 1, i);
	return stages;
}

static bool is_coming_up(const struct fabric *fabric, uint32_t port)
{
	uint8_t state = fabric->ports[port].info.port_state;

	return state == IBA_PORT_INIT || state == IBA_PORT_ARMED;
}

static void find_rising(struct transition *t)
{
	for (uint32_t c = 0; c < t->channels->n; c++) {
		uint32_t port = fabric_switch_port(t->fabric, t->channels->from[c],
						   t->graph->links[c]);

		if (!is_coming_up(t->fabric, port) &&
		    !is_coming_up(t->fabric, t->fabric->ports[port].peer))
			continue;
		if (!t->is_rising)
			t->is_rising = g_new0(bool, t->channels->n);
		t->is_rising[c] = true;
	}
}

static void transition_init(struct transition *t, const struct fabric *fabric,
			    const uint8_t *const *held, const struct routing *routing,
			    struct route_watch *watch)
{
	uint32_t n = fabric->n_switches, n_blocks = routing->n_blocks;
	const uint8_t **before;

	*t = (struct transition){.fabric = fabric, .routing = routing, .n = n, .n_stages = 1};
	t->watch = watch;
	t->n_lids = n_blocks * PER_BLOCK;
	t->graph = route_graph_new(fabric);
	t->channels = route_channels_new(t->graph, fabric);
	t->none = g_malloc(t->n_lids);
	memset(t->none, ROUTE_NO_PORT, t->n_lids);
	before = g_new0(const uint8_t *, n + 1);
	for (uint32_t sw = 0; sw < n; sw++)
		before[sw] = held[sw] ? held[sw] : t->none;
	t->tables[0] = before;
	t->tables[1] = (const uint8_t *const *)routing->lft;
	t->column.hops = g_new0(struct hop, n + 1);
	t->changes = g_new0(uint64_t, n_blocks);
	t->ordered = g_new0(uint64_t, n_blocks);
	t->discarded = g_new0(uint64_t, n_blocks);
	t->group = g_new0(uint8_t, t->n_lids);
	t->n_groups = 1;
	t->cut = g_new0(uint64_t, n_blocks);
	t->cuts = g_array_new(FALSE, FALSE, sizeof(struct cut));
	t->marks = g_new(uint8_t, n + 1);
	t->late = g_array_new(FALSE, FALSE, sizeof(struct late));
	t->steps = g_array_new(FALSE, FALSE, sizeof(struct acyclic_step));
	t->waits = g_array_new(FALSE, FALSE, sizeof(struct wait));
	t->senders = g_new0(uint32_t, n + 1);
	t->by_lane = lane_channels_new(t->channels, n, route_lanes_used(routing->lanes));
	find_rising(t);
	find_changes(t);
}

static void transition_clear(struct transition *t)
{
	route_graph_free(t->graph);
	route_channels_free(t->channels);
	g_free(t->none);
	g_free((void *)t->tables[0]);
	g_free(t->column.hops);
	g_free(t->changes);
	g_free(t->ordered);
	g_free(t->discarded);
	g_free(t->group);
	g_free(t->cut);
	g_array_unref(t->cuts);
	g_free(t->marks);
	g_array_unref(t->late);
	g_array_unref(t->steps);
	g_array_unref(t->waits);
	g_free(t->senders);
	g_free(t->is_rising);
	acyclic_free(t->lanes);
	lane_channels_free(t->by_lane);
}

void route_stages_free(struct route_stages *stages)
{
	if (!stages)
		return;
	for (uint32_t i = 0; i < stages->n; i++)
		g_free((void *)stages->rows[i]);
	g_free(stages->rows);
	g_ptr_array_unref(stages->owned);
	routing_unref(stages->routing);
	g_free(stages);
}

/* Orders what was planned. NULL if it was cancelled. */
static struct route_stages *finish(struct transition *t)
{
	struct route_stages *stages;

	order_groups(t);
	stages = make_stages(t);
	stages->budget_exceeded = t->budget_exceeded;
	stages->by_entries = t->by_entries;
	stages->only_loops = t->only_loops;
	transition_clear(t);
	if (route_is_cancelled(t->watch))
		g_clear_pointer(&stages, route_stages_free);
	return stages;
}

struct route_stages *route_stages_new(const struct fabric *fabric, const uint8_t *const *held,
				      bool cyclic, const struct routing *routing,
				      const struct route_verdict *verdict, uint64_t work,
				      struct route_watch *watch)
{
	struct transition t;

	transition_init(&t, fabric, held, routing, watch);
	t.work_max = work;
	plan(&t, cyclic, verdict);
	return finish(&t);
}

struct route_stages *route_stages_without_credits(const struct fabric *fabric,
						  const uint8_t *const *held,
						  const struct routing *routing, uint64_t work,
						  struct route_watch *watch)
{
	struct transition t;

	transition_init(&t, fabric, held, routing, watch);
	t.work_max = work;
	plan_without_credits(&t, count_bits(&t, t.changes));
	return finish(&t);
}
