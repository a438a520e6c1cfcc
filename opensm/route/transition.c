// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Stages of a change of tables. A column is all that switches hold for one LID, before and after;
 * in a mixture each switch goes by one or the other.
 *
 * A column that neither loops nor loses anything in any mixture may be written at once. In another
 * an entry that changes waits for those that change further on, along its new path: packets keep to
 * their old path until they meet an entry that is new, and then to the new one. Where only loops
 * are to be feared, entries wait for those that are part of one with them. A block of 64 LIDs is
 * written once, unless its LIDs want their switches in different orders.
 *
 * Credit loops concern all columns together. If all paths go up and then down in one order, and
 * those of the mixtures too, there is none. Else the channel dependencies of the routing are put
 * together with those of the mixtures of each column. A column that closes a cycle is written in an
 * order, as above; if that does not help, what changes of it is discarded first: then its packets
 * have old paths among old ones, or new ones.
 */
#include "route/transition.h"

#include <string.h>

#include "route/acyclic.h"
#include "route/lanes.h"

#define PER_BLOCK 64

/* Entries that keep what they were in earlier stages. */
struct late {
	uint32_t sw;
	uint16_t lid, n;
	uint32_t stage;
};

/* All of a LID, by switches. */
struct column {
	uint16_t lid;
	uint32_t home; /* the switch of its owner, or FABRIC_NONE */
	uint8_t exit;
	uint32_t *to[2];  /* the next switch before and after; FABRIC_NONE: there is none */
	bool *arrives[2]; /* packets get to the owner */
	bool *moves;	  /* the entry changes */
	bool *knot;	  /* part of a loop in some mixture, or between two of these */
	bool *fails;	  /* packets may be lost in some mixture */
	bool knots, loses;
};

struct transition {
	const struct fabric *fabric;
	const struct routing *routing;
	struct route_graph *graph;
	struct route_channels *channels;
	const uint8_t *const *tables[2]; /* [switch]: before and after */
	uint32_t n;
	uint32_t *across; /* [switch * 256 + port]: the switch there, or FABRIC_NONE */
	uint8_t *none;	  /* a row of a switch of which nothing is known */
	const uint8_t **held;
	struct column column;
	uint64_t *changes, *ordered, *discarded; /* [block]: LIDs */
	uint64_t *strict; /* these are ordered as if they could lose packets: no credit loop then */
	GArray *late;
	uint32_t n_stages;
	uint32_t *list;	 /* [switch]: work space */
	uint16_t *lanes; /* [switch]: VLs of packets that may pass */
	struct acyclic *lane[ROUTE_SLS];
	unsigned int vl; /* of steps */
	GArray *steps;
};

/* ---- the tables ---- */

static void index_ports(struct transition *t)
{
	const struct fabric *fabric = t->fabric;

	memset(t->across, 0xFF, (size_t)t->n * 256 * sizeof(*t->across));
	for (uint32_t sw = 0; sw < t->n; sw++) {
		const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];

		for (unsigned int num = 1; num <= node->num_ports && num < ROUTE_NO_PORT; num++) {
			uint32_t peer = fabric->ports[node->first_port + num].peer;

			if (peer != FABRIC_NONE)
				t->across[sw * 256 + num] =
					fabric->nodes[fabric->ports[peer].node].sw;
		}
	}
}

static void find_changes(struct transition *t)
{
	for (uint32_t sw = 0; sw < t->n; sw++) {
		const uint8_t *old = t->tables[0][sw], *now = t->tables[1][sw];

		for (uint32_t lid = 0; old != now && lid < t->routing->n_blocks * PER_BLOCK; lid++)
			t->changes[lid / 64] |= (uint64_t)(old[lid] != now[lid]) << lid % 64;
	}
}

static uint8_t entry(const struct transition *t, unsigned int side, uint32_t sw)
{
	return t->tables[side][sw][t->column.lid];
}

static bool hands_over(const struct transition *t, unsigned int side, uint32_t sw)
{
	return sw == t->column.home && entry(t, side, sw) == t->column.exit;
}

/* Which switches have packets arrive, by the tables before or after. */
static void find_arrivals(struct transition *t, unsigned int side)
{
	struct column *column = &t->column;
	uint8_t *state = (uint8_t *)t->lanes; /* 1: on this way, 2: known */

	memset(state, 0, t->n);
	for (uint32_t start = 0; start < t->n; start++) {
		uint32_t n = 0, sw = start;
		bool arrives;

		for (; sw != FABRIC_NONE && !state[sw]; sw = column->to[side][sw]) {
			state[sw] = 1;
			t->list[n++] = sw;
		}
		arrives = sw == FABRIC_NONE ? n && hands_over(t, side, t->list[n - 1])
					    : state[sw] == 2 && column->arrives[side][sw];
		while (n--) {
			column->arrives[side][t->list[n]] = arrives;
			state[t->list[n]] = 2;
		}
	}
}

/* What is left when switches are taken away that nobody sends to, and then those that send to none.
 */
static void find_knot(struct transition *t)
{
	struct column *column = &t->column;
	uint32_t *senders = t->list, left = t->n;
	bool more = true;

	memset(senders, 0, t->n * sizeof(*senders));
	memset(column->knot, true, t->n);
	for (uint32_t i = 0; i < 2 * t->n; i++)
		if (column->to[i % 2][i / 2] != FABRIC_NONE)
			senders[column->to[i % 2][i / 2]]++;
	while (more && left) {
		more = false;
		for (uint32_t sw = 0; sw < t->n; sw++) {
			bool sends = false;

			for (unsigned int side = 0; side < 2; side++)
				sends |= column->to[side][sw] != FABRIC_NONE &&
					 column->knot[column->to[side][sw]];
			if (!column->knot[sw] || (senders[sw] && sends))
				continue;
			column->knot[sw] = false;
			more = true;
			left--;
			for (unsigned int side = 0; side < 2; side++)
				if (column->to[side][sw] != FABRIC_NONE)
					senders[column->to[side][sw]]--;
		}
	}
	column->knots = left;
}

/* Whether some mixture loses what is delivered before and after. */
static void find_losses(struct transition *t)
{
	struct column *column = &t->column;
	bool more = false;

	for (uint32_t sw = 0; sw < t->n; sw++) {
		column->fails[sw] = false;
		for (unsigned int side = 0; side < 2; side++)
			column->fails[sw] |=
				column->to[side][sw] == FABRIC_NONE && !hands_over(t, side, sw);
		more |= column->fails[sw];
	}
	column->loses = false;
	while (more && column->home != FABRIC_NONE) {
		more = false;
		for (uint32_t i = 0; i < 2 * t->n; i++) {
			uint32_t to = column->to[i % 2][i / 2];

			if (to == FABRIC_NONE || column->fails[i / 2] || !column->fails[to])
				continue;
			column->fails[i / 2] = more = true;
		}
	}
	for (uint32_t sw = 0; column->home != FABRIC_NONE && sw < t->n; sw++)
		column->loses |=
			column->fails[sw] && column->arrives[0][sw] && column->arrives[1][sw];
}

static void load_entries(struct transition *t, uint16_t lid)
{
	struct column *column = &t->column;
	uint32_t owner = fabric_port_by_lid(t->fabric, lid);

	column->lid = lid;
	column->home = FABRIC_NONE;
	if (owner != FABRIC_NONE)
		column->home = fabric_leaf(t->fabric, owner, &column->exit);
	for (uint32_t sw = 0; sw < t->n; sw++) {
		for (unsigned int side = 0; side < 2; side++)
			column->to[side][sw] = t->across[sw * 256 + entry(t, side, sw)];
		column->moves[sw] = entry(t, 0, sw) != entry(t, 1, sw);
	}
}

/* And what mixtures of them can do. */
static void load(struct transition *t, uint16_t lid)
{
	struct column *column = &t->column;

	load_entries(t, lid);
	find_arrivals(t, 0);
	find_arrivals(t, 1);
	find_knot(t);
	find_losses(t);
	column->loses |= t->strict[lid / 64] >> lid % 64 & 1;
}

/* ---- order ---- */

/* Whether an entry that changes is to wait for another on its new path. */
static bool waits_for(const struct column *column, uint32_t sw, uint32_t other)
{
	return column->moves[other] && (column->loses || (column->knot[sw] && column->knot[other]));
}

/* The stage in which an entry may be written at the earliest. */
static uint32_t earliest(const struct transition *t, const uint32_t *stage, uint32_t sw,
			 uint32_t last_good)
{
	const struct column *column = &t->column;
	uint32_t least = column->loses && !column->arrives[1][sw] ? last_good + 1 : 1, hops = 0;

	for (uint32_t to = column->to[1][sw]; to != FABRIC_NONE && hops++ < t->n;
	     to = column->to[1][to])
		if (waits_for(column, sw, to))
			least = MAX(least, stage[to] + 1);
	return least;
}

/* True if something moved back. */
static bool delay(const struct transition *t, uint32_t *stage)
{
	const struct column *column = &t->column;
	uint32_t last_good = 0;
	bool moved = false;

	for (uint32_t sw = 0; sw < t->n; sw++)
		if (column->moves[sw] && column->arrives[1][sw])
			last_good = MAX(last_good, stage[sw]);
	for (uint32_t sw = 0; sw < t->n; sw++) {
		uint32_t least = column->moves[sw] ? earliest(t, stage, sw, last_good) : 0;

		moved |= least > stage[sw];
		stage[sw] = MAX(stage[sw], least);
	}
	return moved;
}

/* Stages of switches by which all of these LIDs of a block are safe; false: there are none. */
static bool find_stages(struct transition *t, uint32_t block, uint64_t lids, uint32_t *stage)
{
	uint32_t rounds = 0, most = 4 * MIN(t->n, 64) + 4;
	bool moved = true;

	memset(stage, 0, t->n * sizeof(*stage));
	for (; moved && rounds < most; rounds++) {
		moved = false;
		for (uint64_t rest = lids; rest; rest &= rest - 1) {
			load(t, block * PER_BLOCK + __builtin_ctzll(rest));
			moved |= delay(t, stage);
		}
	}
	return !moved;
}

static void note_late(struct transition *t, const uint32_t *stage, uint16_t lid, uint16_t n)
{
	for (uint32_t sw = 0; sw < t->n; sw++) {
		struct late late = {sw, lid, n, stage[sw]};

		if (stage[sw] > 1)
			g_array_append_val(t->late, late);
		t->n_stages = MAX(t->n_stages, stage[sw]);
	}
}

static void order_block(struct transition *t, uint32_t block, uint32_t *stage)
{
	uint64_t lids = t->ordered[block] & ~t->discarded[block];

	if (!lids)
		return;
	if (find_stages(t, block, lids, stage)) {
		note_late(t, stage, block * PER_BLOCK, PER_BLOCK);
		return;
	}
	for (; lids; lids &= lids - 1) {
		unsigned int bit = __builtin_ctzll(lids);

		/* Not where the routing itself loops, as what is left of a LID of nobody may. */
		if (find_stages(t, block, UINT64_C(1) << bit, stage))
			note_late(t, stage, block * PER_BLOCK + bit, 1);
	}
}

/* ---- credits ---- */

static uint16_t bits_of(const struct route_lanes *lanes, uint8_t sl)
{
	return sl < ROUTE_SLS ? 1u << lanes->vl[sl] : 0;
}

/* VLs of packets to the LID at hand that begin at a switch. */
static uint16_t lanes_from(const struct transition *t, uint32_t sw)
{
	const struct route_lanes *lanes = t->routing->lanes;
	uint32_t home = t->column.home, sm = t->graph->sm_switch;
	uint16_t bits;

	if (!route_is_source(t->graph, sw) && home != FABRIC_NONE && t->column.exit == 0)
		return 0;
	if (!lanes)
		return 1;
	if (home == FABRIC_NONE)
		return 0;
	bits = bits_of(lanes, route_lanes_sl(lanes, sw, home)) |
	       bits_of(lanes, route_lanes_sl(lanes, home, sw));
	if (sw == sm || home == sm)
		bits |= bits_of(lanes, lanes->sm_sl);
	return bits;
}

/* Who passes which switch, in any mixture. */
static void spread_lanes(struct transition *t)
{
	const struct column *column = &t->column;
	bool more = true;

	for (uint32_t sw = 0; sw < t->n; sw++)
		t->lanes[sw] = lanes_from(t, sw);
	while (more) {
		more = false;
		for (uint32_t i = 0; i < 2 * t->n; i++) {
			uint32_t to = column->to[i % 2][i / 2];

			if (to == FABRIC_NONE || !(t->lanes[i / 2] & ~t->lanes[to]))
				continue;
			t->lanes[to] |= t->lanes[i / 2];
			more = true;
		}
	}
}

/* Whether an entry of one side may be met with the next switch's of the other. */
static bool may_meet(const struct column *column, uint32_t sw, unsigned int side, uint32_t to,
		     unsigned int next_side)
{
	return side == 0 || next_side == 1 || !column->moves[sw] || !waits_for(column, sw, to);
}

/* Calls note for each pair of channels that follow each other, before, after, or mixed. */
static void each_step(struct transition *t, unsigned int sides,
		      bool (*note)(struct transition *t, uint32_t sw, struct acyclic_step step))
{
	const struct column *column = &t->column;

	for (uint32_t sw = 0; sw < t->n; sw++)
		for (unsigned int i = 0; t->lanes[sw] && i < 4; i++) {
			uint32_t to = column->to[i / 2][sw];
			struct acyclic_step step;

			if (!(sides >> i & 1) || to == FABRIC_NONE ||
			    !may_meet(column, sw, i / 2, to, i % 2))
				continue;
			step.from = route_channel(t->channels, sw, entry(t, i / 2, sw));
			step.to = route_channel(t->channels, to, entry(t, i % 2, to));
			if (step.from != FABRIC_NONE && step.to != FABRIC_NONE &&
			    !note(t, sw, step))
				return;
		}
}

#define SIDES_ALL 0xF
static bool leads_up(const struct transition *t, uint32_t channel)
{
	uint32_t from = t->channels->from[channel], to = t->channels->to[channel];
	const uint32_t *order = t->routing->order;

	return order[to] < order[from] || (order[to] == order[from] && to < from);
}

/* Leaves a step in steps if it goes down and then up. */
static bool note_turn(struct transition *t, uint32_t sw, struct acyclic_step step)
{
	(void)sw;
	if (leads_up(t, step.from) || !leads_up(t, step.to))
		return true;
	g_array_append_val(t->steps, step);
	return false;
}

static bool turns(struct transition *t)
{
	if (!t->routing->order)
		return true;
	g_array_set_size(t->steps, 0);
	spread_lanes(t);
	each_step(t, SIDES_ALL, note_turn);
	return t->steps->len;
}

static struct acyclic *lane_of(struct transition *t, unsigned int vl)
{
	if (!t->lane[vl])
		t->lane[vl] = acyclic_new(t->channels, NULL);
	return t->lane[vl];
}

static bool note_one(struct transition *t, uint32_t sw, struct acyclic_step step)
{
	for (unsigned int bits = t->lanes[sw]; bits; bits &= bits - 1)
		acyclic_note(lane_of(t, __builtin_ctz(bits)), step);
	return true;
}

static bool note_mixed(struct transition *t, uint32_t sw, struct acyclic_step step)
{
	if (t->lanes[sw] >> t->vl & 1)
		g_array_append_val(t->steps, step);
	return true;
}

/* One lane after the other; what a lane got stays if another refuses, which does no harm. */
static bool add_column(struct transition *t)
{
	unsigned int all = 0;

	spread_lanes(t);
	for (uint32_t sw = 0; sw < t->n; sw++)
		all |= t->lanes[sw];
	for (; all; all &= all - 1) {
		t->vl = __builtin_ctz(all);
		g_array_set_size(t->steps, 0);
		each_step(t, SIDES_ALL, note_mixed);
		if (!acyclic_add(lane_of(t, t->vl),
				 (const struct acyclic_step *)(const void *)t->steps->data,
				 t->steps->len))
			return false;
	}
	return true;
}

/* All of the tables before or after, and nothing else; false: they have a cycle. */
static bool note_tables(struct transition *t, unsigned int side)
{
	bool good = true;

	for (unsigned int vl = 0; vl < ROUTE_SLS; vl++)
		g_clear_pointer(&t->lane[vl], acyclic_free);
	for (uint32_t lid = 1; lid <= t->routing->top; lid++) {
		load_entries(t, lid);
		if (t->column.home == FABRIC_NONE)
			continue;
		for (uint32_t sw = 0; sw < t->n; sw++)
			t->column.to[!side][sw] = t->column.to[side][sw];
		spread_lanes(t);
		each_step(t, side ? 0x8 : 0x1, note_one);
	}
	for (unsigned int vl = 0; vl < ROUTE_SLS; vl++)
		good &= !t->lane[vl] || acyclic_sort(t->lane[vl]);
	return good;
}

/* Columns that close a cycle with those before them, as bits; false: no column does. */
static bool add_columns(struct transition *t, uint64_t *refused)
{
	bool any = false;

	for (uint32_t block = 0; block < t->routing->n_blocks; block++)
		for (uint64_t rest = t->changes[block]; rest; rest &= rest - 1) {
			load(t, block * PER_BLOCK + __builtin_ctzll(rest));
			if (t->column.home == FABRIC_NONE || add_column(t))
				continue;
			refused[block] |= rest & -rest;
			any = true;
		}
	return any;
}

/* Columns in any order if that closes no cycle; else all in one; and what then still does. */
static void find_discards(struct transition *t)
{
	size_t bytes = t->routing->n_blocks * sizeof(uint64_t);
	g_autofree uint64_t *refused = g_malloc0(bytes);

	if (!note_tables(t, 1) || !add_columns(t, refused) || !note_tables(t, 0))
		return; /* it could deadlock before, or can after, or never */
	memcpy(t->strict, t->changes, bytes);
	memcpy(t->ordered, t->changes, bytes);
	note_tables(t, 1);
	add_columns(t, t->discarded);
}

/* ---- stages ---- */

/* Sets what may not be written at once; true if some of it could close a credit loop. */
static bool find_hazards(struct transition *t, bool ordered)
{
	bool turning = false;

	for (uint32_t block = 0; block < t->routing->n_blocks; block++)
		for (uint64_t rest = t->changes[block]; rest; rest &= rest - 1) {
			unsigned int bit = __builtin_ctzll(rest);

			load(t, block * PER_BLOCK + bit);
			if (t->column.knots || t->column.loses)
				t->ordered[block] |= UINT64_C(1) << bit;
			turning |= !ordered || (t->column.home != FABRIC_NONE && turns(t));
		}
	return turning;
}

static uint8_t *own_row(const struct transition *t, struct route_stages *stages, uint32_t stage,
			uint32_t sw)
{
	const uint8_t **rows = (const uint8_t **)stages->rows[stage];
	uint8_t *row;

	if (rows[sw] != t->held[sw] && rows[sw] != t->routing->lft[sw])
		return (uint8_t *)rows[sw];
	row = g_memdup2(rows[sw], (gsize)t->routing->n_blocks * PER_BLOCK);
	g_ptr_array_add(stages->owned, row);
	rows[sw] = row;
	return row;
}

/* Entries that change, of LIDs that are discarded. */
static void discard(const struct transition *t, struct route_stages *stages)
{
	for (uint32_t block = 0; block < t->routing->n_blocks; block++)
		for (uint64_t rest = t->discarded[block]; rest; rest &= rest - 1) {
			uint32_t lid = block * PER_BLOCK + __builtin_ctzll(rest);

			for (uint32_t sw = 0; sw < t->n; sw++)
				if (t->tables[0][sw][lid] != t->tables[1][sw][lid])
					own_row(t, stages, 0, sw)[lid] = ROUTE_NO_PORT;
		}
}

/* What is late is as it was before; number: from 1, as the stages of late entries are. */
static void keep_late(const struct transition *t, struct route_stages *stages,
		      const uint8_t *const *before, uint32_t stage, uint32_t number)
{
	for (uint32_t i = 0; i < t->late->len; i++) {
		const struct late *late = &g_array_index(t->late, struct late, i);

		if (late->stage > number)
			memcpy(own_row(t, stages, stage, late->sw) + late->lid,
			       before[late->sw] + late->lid, late->n);
	}
}

static uint32_t count_bits(const struct transition *t, const uint64_t *bits)
{
	uint32_t n = 0;

	for (uint32_t block = 0; block < t->routing->n_blocks; block++)
		n += __builtin_popcountll(bits[block]);
	return n;
}

static struct route_stages *make_stages(const struct transition *t)
{
	struct route_stages *stages = g_new0(struct route_stages, 1);
	uint32_t first;

	stages->routing = routing_ref((struct routing *)t->routing);
	stages->owned = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(stages->owned, t->none);
	stages->n_ordered = count_bits(t, t->ordered);
	stages->n_discarded = count_bits(t, t->discarded);
	first = stages->n_discarded != 0;
	stages->n = first + t->n_stages;
	stages->rows = g_new0(const uint8_t *const *, stages->n);
	for (uint32_t i = 0; i < stages->n; i++) {
		const void *rows =
			i < first ? (const void *)t->held : (const void *)t->routing->lft;

		stages->rows[i] = g_memdup2(rows, t->n * sizeof(*t->held));
	}
	if (first)
		discard(t, stages);
	for (uint32_t i = 1; i <= t->n_stages; i++)
		keep_late(t, stages, first ? stages->rows[0] : t->held, first + i - 1, i);
	return stages;
}

static void transition_init(struct transition *t, const struct fabric *fabric,
			    const uint8_t *const *held, const struct routing *routing)
{
	uint32_t n = fabric->n_switches, n_blocks = routing->n_blocks;

	*t = (struct transition){.fabric = fabric, .routing = routing, .n = n, .n_stages = 1};
	t->graph = route_graph_new(fabric);
	t->channels = route_channels_new(t->graph, fabric);
	t->none = g_malloc(n_blocks * PER_BLOCK);
	memset(t->none, ROUTE_NO_PORT, n_blocks * PER_BLOCK);
	t->held = g_new0(const uint8_t *, n + 1);
	for (uint32_t sw = 0; sw < n; sw++)
		t->held[sw] = held[sw] ? held[sw] : t->none;
	t->tables[0] = t->held;
	t->tables[1] = (const uint8_t *const *)routing->lft;
	t->across = g_new(uint32_t, (size_t)n * 256 + 1);
	for (unsigned int side = 0; side < 2; side++) {
		t->column.to[side] = g_new(uint32_t, n + 1);
		t->column.arrives[side] = g_new0(bool, n + 1);
	}
	t->column.moves = g_new0(bool, n + 1);
	t->column.knot = g_new0(bool, n + 1);
	t->column.fails = g_new0(bool, n + 1);
	t->changes = g_new0(uint64_t, n_blocks);
	t->ordered = g_new0(uint64_t, n_blocks);
	t->discarded = g_new0(uint64_t, n_blocks);
	t->strict = g_new0(uint64_t, n_blocks);
	t->late = g_array_new(FALSE, FALSE, sizeof(struct late));
	t->steps = g_array_new(FALSE, FALSE, sizeof(struct acyclic_step));
	t->list = g_new0(uint32_t, n + 1);
	t->lanes = g_new0(uint16_t, n + 1);
	index_ports(t);
	find_changes(t);
}

static void transition_clear(struct transition *t)
{
	route_graph_free(t->graph);
	route_channels_free(t->channels);
	g_free(t->held);
	g_free(t->across);
	for (unsigned int side = 0; side < 2; side++) {
		g_free(t->column.to[side]);
		g_free(t->column.arrives[side]);
	}
	g_free(t->column.moves);
	g_free(t->column.knot);
	g_free(t->column.fails);
	g_free(t->changes);
	g_free(t->ordered);
	g_free(t->discarded);
	g_free(t->strict);
	g_array_unref(t->late);
	g_array_unref(t->steps);
	g_free(t->list);
	g_free(t->lanes);
	for (unsigned int vl = 0; vl < ROUTE_SLS; vl++)
		acyclic_free(t->lane[vl]);
}

struct route_stages *route_stages_new(const struct fabric *fabric, const uint8_t *const *held,
				      const struct routing *routing, bool ordered)
{
	uint32_t *stage = g_new0(uint32_t, fabric->n_switches + 1);
	struct route_stages *stages;
	struct transition t;

	transition_init(&t, fabric, held, routing);
	/* Lanes that change by turns: loops and losses are avoided, credits are not looked at. */
	if (find_hazards(&t, ordered && !routing->lanes) && !routing_has_turns(routing))
		find_discards(&t);
	for (uint32_t block = 0; block < routing->n_blocks; block++)
		order_block(&t, block, stage);
	stages = make_stages(&t);
	transition_clear(&t);
	g_free(stage);
	return stages;
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
