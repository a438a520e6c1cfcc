// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lanes of keep_sls.c. Packets on a channel are told apart by their VL: the graph of what they wait
 * for has channels by lane, whether VLs depend on the SL alone or on turns.
 *
 * An entry of an SLtoVLMappingTable that packets of an SL use on their old paths is fixed: other
 * switches rely on it as long as such packets are under way. Any other turn gets its lane when the
 * first new path takes it, and is fixed then. So tables of old paths do not change while old paths
 * are in use, and those of new paths can be written before the first entry that needs them.
 */
#include <string.h>

#include "route/graph/graph.h"
#include "route/renew/keeper.h"
#include "route/renew/renew.h"
#include "route/value/base.h"

#define LANES_MORE 2 /* than before, which turns may use */
#define TRIES 64     /* lanes of turns that are tried for a path */

/* ---- the old lanes ---- */

/* Of what an earlier process made, only the SLs are known. */
static void find_range(struct route_lanes *lanes)
{
	size_t n = (size_t)lanes->n_switches * lanes->n_switches;
	unsigned int least = ROUTE_SLS, most = 0;

	for (size_t i = 0; i < n; i++) {
		if (lanes->sl[i] >= ROUTE_SLS || i % (lanes->n_switches + 1) == 0)
			continue;
		least = MIN(least, lanes->sl[i]);
		most = MAX(most, lanes->sl[i]);
	}
	lanes->first = MIN(least, most);
	lanes->n = most - lanes->first + 1;
	for (uint32_t sw = 0; sw < lanes->n_switches; sw++)
		route_lanes_put(lanes, sw, sw, lanes->first);
}

/* The old VLs of SLs, if all cables have them; what switches held at the start has none. */
static void copy_vls(const struct keeper *k, struct route_lanes *lanes)
{
	const struct route_lanes *old = k->old->lanes;
	uint16_t unsafe = old->sls_unsafe_for_multicast;
	bool are_there = !routing_is_held(k->old);

	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		are_there &= old->vl[sl] < k->vls;
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		lanes->vl[sl] = are_there ? old->vl[sl] : sl % k->vls;
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		for (unsigned int other = 0; other < ROUTE_SLS; other++)
			if (unsafe >> other & 1 && lanes->vl[sl] == lanes->vl[other])
				lanes->sls_unsafe_for_multicast |= 1u << sl;
}

/* What lanes that depend on turns have besides. */
static void copy_rest(const struct keeper *k, struct route_lanes *lanes)
{
	const struct route_lanes *old = k->old->lanes;

	memcpy(lanes->vl, old->vl, sizeof(lanes->vl));
	lanes->sls = old->sls;
	lanes->sls_unsafe_for_multicast = old->sls_unsafe_for_multicast;
	lanes->levels = old->levels;
	lanes->level_ends = old->level_ends;
}

static struct route_lanes *copy_lanes(const struct keeper *k)
{
	const struct route_lanes *old = k->old->lanes;
	uint32_t n = k->graph->n;
	struct route_lanes *lanes;

	if (!old)
		return NULL;
	lanes = route_lanes_new(n, k->has_turns ? route_lanes_sl(old, 0, 0) : old->first);
	lanes->first = old->first;
	lanes->n = old->n;
	lanes->sm_sl = k->has_turns ? old->sm_sl : k->input->sm_sl;
	lanes->sm_by_path = old->sm_by_path;
	if (k->has_turns)
		copy_rest(k, lanes);
	else
		copy_vls(k, lanes);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = a + 1; k->row[a] != FABRIC_NONE && b < n; b++)
			if (k->row[b] != FABRIC_NONE)
				route_lanes_put(lanes, a, b,
						route_lanes_sl(old, k->row[a], k->row[b]));
	if (routing_is_held(k->old))
		find_range(lanes);
	return lanes;
}

/* ---- SLs ---- */

static uint16_t bits_of(unsigned int first, unsigned int n)
{
	return ((1u << n) - 1) << first;
}

/* One SL for each lane of these, as packets on a lane need not be told apart. */
static uint16_t one_for_each_lane(const struct keeper *k, uint16_t sls)
{
	uint16_t vls = 0, found = 0;

	if (k->has_turns)
		return sls;
	for (; sls; sls &= sls - 1) {
		uint16_t bit = route_lanes_bit(k->lanes, __builtin_ctz(sls));

		found |= vls & bit ? 0 : sls & -sls;
		vls |= bit;
	}
	return found;
}

uint16_t keeper_sls_from(const struct keeper *k, uint32_t sw)
{
	if (sw == k->home || (k->is_own && !route_is_source(k->graph, sw)))
		return 0;
	if (!k->lanes)
		return 1;
	return one_for_each_lane(
		k, route_lanes_sls_between(k->lanes, sw, k->home, k->graph->sm_switch) |
			   route_told_at_levels(k->told, sw, k->home, k->lanes->levels));
}

uint16_t keeper_sls_of(const struct keeper *k, unsigned int sl)
{
	uint16_t levels = k->lanes->levels, sls = 0;

	for (unsigned int other = 0; other < ROUTE_SLS; other++)
		if ((other & ~levels) == sl)
			sls |= 1u << other;
	return sls;
}

uint16_t keeper_sls_of_pairs(const struct keeper *k)
{
	const struct route_lanes *lanes = k->lanes;
	uint16_t sls = 0;

	if (!k->has_turns)
		return bits_of(lanes->first, lanes->n) | 1u << lanes->sm_sl;
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		if (lanes->sls >> sl & 1 && !(sl & lanes->levels))
			sls |= 1u << sl;
	return sls;
}

uint16_t keeper_sls_of_trunk(const struct keeper *k)
{
	const struct route_lanes *lanes = k->lanes;
	uint16_t used, sls = 0;

	if (!lanes)
		return 1;
	if (k->has_turns)
		return lanes->sls & ~lanes->sls_unsafe_for_multicast;
	used = route_lanes_used(lanes);
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		if (route_lanes_bit(lanes, sl) & used &&
		    !(lanes->sls_unsafe_for_multicast >> sl & 1))
			sls |= 1u << sl;
	return one_for_each_lane(k, sls);
}

void keeper_give_up(struct keeper *k, unsigned int sl)
{
	struct route_lanes *lanes = k->lanes;

	for (unsigned int other = 0; other < ROUTE_SLS; other++)
		if (k->has_turns ? other == sl : lanes->vl[other] == lanes->vl[sl])
			lanes->sls_unsafe_for_multicast |= 1u << other;
}

/* ---- turns ---- */

static uint32_t turn_of(const struct keeper *k, uint32_t last, uint32_t channel)
{
	return last == FABRIC_NONE ? k->channels->n_steps + channel
				   : route_step_of(k->channels, last, channel);
}

static uint8_t lane_in(uint64_t lanes, unsigned int sl)
{
	return lanes >> 4 * sl & 0xF;
}

static unsigned int lane_of(const struct keeper *k, uint32_t turn, unsigned int sl)
{
	if (k->has_turns)
		return lane_in(k->turns.lanes[turn], sl);
	return k->lanes ? k->lanes->vl[sl] : 0;
}

static bool is_fixed(const struct keeper *k, uint32_t turn, unsigned int sl)
{
	return !k->has_turns || k->turns.fixed[turn] >> sl & 1;
}

static void put_lane(struct keeper *k, uint32_t turn, unsigned int sl, unsigned int vl, bool fixed)
{
	uint64_t *lanes = &k->turns.lanes[turn];

	*lanes = (*lanes & ~(UINT64_C(0xF) << 4 * sl)) | (uint64_t)vl << 4 * sl;
	k->turns.fixed[turn] = (k->turns.fixed[turn] & ~(1u << sl)) | (unsigned int)fixed << sl;
}

static void fix(struct keeper *k, uint32_t turn, unsigned int sl, unsigned int vl)
{
	struct keeper_undo undo = {turn, sl, lane_of(k, turn, sl)};

	g_array_append_val(k->turns.undo, undo);
	put_lane(k, turn, sl, vl, true);
}

/* A row of earlier tables; 0 if the cables of the turn were not there. */
static uint64_t row_before(const struct keeper *k, const struct routing *routing,
			   const uint32_t *row, uint32_t last, uint32_t channel)
{
	const uint8_t *links = k->graph->links;
	uint32_t sw = k->channels->from[channel];
	uint8_t in = last == FABRIC_NONE ? 0 : links[k->channels->back[last]];
	const struct route_turns *turns;

	if (!routing_has_turns(routing) || row[sw] == FABRIC_NONE ||
	    keeper_channel_at(k, routing, row, sw, links[channel]) == FABRIC_NONE ||
	    (in && keeper_channel_at(k, routing, row, sw, in) == FABRIC_NONE))
		return 0;
	turns = routing->lanes->turns;
	return turns->rows[turns->first[row[sw]] + (size_t)in * turns->width[row[sw]] +
			   links[channel]];
}

static uint64_t *rows_before(const struct keeper *k, const struct routing *routing,
			     const uint32_t *row)
{
	uint64_t *rows = g_new0(uint64_t, (size_t)k->channels->n_steps + k->channels->n + 1);

	for (uint32_t c = 0; c < k->channels->n; c++) {
		rows[turn_of(k, FABRIC_NONE, c)] = row_before(k, routing, row, FABRIC_NONE, c);
		route_each_step(k->channels, c, next)
			rows[turn_of(k, c, next)] = row_before(k, routing, row, c, next);
	}
	return rows;
}

static void take_turns(struct keeper *k)
{
	const struct routing *base = k->old->layered.base;

	k->turns.lanes = rows_before(k, k->old, k->row);
	k->turns.fixed = g_new0(uint16_t, (size_t)k->channels->n_steps + k->channels->n + 1);
	k->turns.undo = g_array_new(FALSE, FALSE, sizeof(struct keeper_undo));
	if (base && routing_has_turns(base))
		k->turns.wished = rows_before(k, base, k->base_row);
}

/* ---- the whole ---- */

/* VLs, as bits, that packets may use. */
static uint16_t lanes_to_use(const struct keeper *k)
{
	unsigned int n = k->lanes ? k->lanes->n : 1;
	uint16_t vls = 0;

	if (!k->has_turns) {
		for (uint16_t sls = k->lanes ? k->told_sls : 0; sls; sls &= sls - 1)
			vls |= route_lanes_bit(k->lanes, __builtin_ctz(sls));
		return vls | route_lanes_used(k->lanes);
	}
	if (!k->lanes->sm_by_path)
		n = MAX(n, MIN(k->vls, n + LANES_MORE));
	return bits_of(0, n);
}

bool keeper_take_lanes(struct keeper *k)
{
	uint16_t vls;

	k->lanes = copy_lanes(k);
	vls = lanes_to_use(k);
	if (vls >> k->vls || (k->lanes && k->lanes->first + 0u + k->lanes->n > k->vls))
		return false;
	k->by_lane = lane_channels_new(k->channels, k->graph->n, vls);
	k->waits = acyclic_new(k->by_lane->channels);
	if (k->has_turns)
		take_turns(k);
	return true;
}

void keeper_drop_lanes(struct keeper *k)
{
	g_clear_pointer(&k->waits, acyclic_free);
	g_clear_pointer(&k->by_lane, lane_channels_free);
	g_clear_pointer(&k->lanes, route_lanes_free);
	g_clear_pointer(&k->turns.lanes, g_free);
	g_clear_pointer(&k->turns.fixed, g_free);
	g_clear_pointer(&k->turns.wished, g_free);
	g_clear_pointer(&k->turns.undo, g_array_unref);
	g_array_set_size(k->taken, 0);
}

/* The SL whose lanes an SL has: another one if no path uses it. */
static unsigned int sl_like(const struct route_lanes *lanes, unsigned int sl)
{
	if (lanes->sls >> sl & 1)
		return sl;
	return lanes->sm_by_path ? sl % 8 : lanes->sm_sl;
}

/* Packets that start at a switch come from ports that lead to no switch, or from port 0. */
static void put_rows(const struct keeper *k, struct route_lanes *lanes, uint32_t channel,
		     unsigned int sl)
{
	uint32_t sw = k->channels->from[channel];
	uint8_t out = k->graph->links[channel];

	for (unsigned int in = 0; in < lanes->turns->width[sw]; in++) {
		uint32_t back = in ? route_channel(k->channels, sw, in) : FABRIC_NONE;
		uint32_t last = back == FABRIC_NONE ? back : k->channels->back[back];
		unsigned int vl = lane_of(k, turn_of(k, last, channel), sl_like(lanes, sl));

		route_turns_put(lanes->turns, sw, in, out, sl, vl);
		if (lanes->sls >> sl & 1)
			lanes->n = MAX(lanes->n, vl + 1);
	}
}

void keeper_put_lanes(struct keeper *k, struct routing *routing)
{
	struct route_lanes *lanes = g_steal_pointer(&k->lanes);

	routing->lanes = lanes;
	if (!k->has_turns)
		return;
	lanes->turns = route_turns_new(k->fabric);
	for (uint32_t c = 0; c < k->channels->n; c++)
		for (unsigned int sl = 0; k->channels->to[c] != k->channels->from[c] &&
					  sl < ROUTE_SLS; sl++)
			put_rows(k, lanes, c, sl);
}

/* ---- paths ---- */

unsigned int keeper_fix_turn(struct keeper *k, uint32_t last, uint32_t channel, unsigned int sl)
{
	uint32_t turn = turn_of(k, last, channel);

	if (k->has_turns)
		k->turns.fixed[turn] |= 1u << sl;
	return lane_of(k, turn, sl);
}

static struct acyclic_step step_by_lane(const struct keeper *k, uint32_t from, unsigned int vl,
					uint32_t to, unsigned int next_vl)
{
	return (struct acyclic_step){lane_channel(k->by_lane, from, vl),
				     lane_channel(k->by_lane, to, next_vl)};
}

void keeper_note(const struct keeper *k, uint32_t from, unsigned int vl, uint32_t to,
		 unsigned int next_vl)
{
	acyclic_note(k->waits, step_by_lane(k, from, vl, to, next_vl));
}

static bool add(struct keeper *k, const struct acyclic_step *steps, uint32_t n)
{
	const struct acyclic_step *added;

	if (!acyclic_add(k->waits, steps, n))
		return false;
	added = acyclic_added(k->waits, &n);
	g_array_append_vals(k->taken, added, n);
	return true;
}

/* On one lane from end to end. */
static bool add_on(struct keeper *k, unsigned int vl)
{
	const uint32_t *path = (const uint32_t *)(const void *)k->path->data;

	g_array_set_size(k->steps, 0);
	for (guint i = 1; i < k->path->len; i++) {
		struct acyclic_step step = step_by_lane(k, path[i - 1], vl, path[i], vl);

		g_array_append_val(k->steps, step);
	}
	return add(k, (const struct acyclic_step *)(const void *)k->steps->data, k->steps->len);
}

/* Number i of the lanes in the order in which they are tried: the base's, the last one, all. */
static unsigned int lane_to_try(const struct keeper *k, unsigned int i, uint32_t turn,
				unsigned int sl, unsigned int last_vl)
{
	if (i == 0)
		return k->turns.wished ? lane_in(k->turns.wished[turn], sl)
				       : lane_of(k, turn, sl);
	return i == 1 ? last_vl : i - 2;
}

/* Levels of QoS have half of the lanes each. */
static bool is_of_level(const struct keeper *k, unsigned int vl, unsigned int sl)
{
	const struct route_lanes *lanes = k->lanes;

	if (vl >= k->by_lane->n)
		return false;
	return !lanes->levels || (vl >= lanes->n / 2u) == ((sl & lanes->levels) != 0);
}

struct turning {
	unsigned int sl, tries;
};

/* Goes on at channel i of the path; the one before is taken on a lane. */
static bool turn_on(struct keeper *k, struct turning *turning, guint i, unsigned int last_vl)
{
	const uint32_t *path = (const uint32_t *)(const void *)k->path->data;
	unsigned int sl = turning->sl;
	uint32_t last, turn;
	bool fixed;

	if (i == k->path->len)
		return true;
	last = i ? path[i - 1] : FABRIC_NONE;
	turn = turn_of(k, last, path[i]);
	fixed = is_fixed(k, turn, sl);
	for (unsigned int n = 0; n < (fixed ? 1 : k->by_lane->n + 2); n++) {
		struct keeper_mark mark = keeper_mark(k);
		unsigned int vl = fixed ? lane_of(k, turn, sl)
					: lane_to_try(k, n, turn, sl, last_vl);
		struct acyclic_step step;

		if ((!fixed && !is_of_level(k, vl, sl)) || turning->tries++ > TRIES)
			continue;
		step = step_by_lane(k, i ? last : path[i], i ? last_vl : vl, path[i], vl);
		if (i && !add(k, &step, 1))
			continue;
		if (!fixed)
			fix(k, turn, sl, vl);
		if (turn_on(k, turning, i + 1, vl))
			return true;
		keeper_take_back(k, mark);
	}
	return false;
}

bool keeper_add_path(struct keeper *k, uint16_t sls)
{
	bool good = true;

	k->work += k->path->len;
	for (; good && sls; sls &= sls - 1) {
		struct turning turning = {.sl = __builtin_ctz(sls)};

		good = k->has_turns ? turn_on(k, &turning, 0, 0)
				    : add_on(k, lane_of(k, 0, turning.sl));
	}
	return good;
}

struct keeper_mark keeper_mark(const struct keeper *k)
{
	return (struct keeper_mark){k->taken->len, k->has_turns ? k->turns.undo->len : 0};
}

void keeper_take_back(struct keeper *k, struct keeper_mark mark)
{
	const struct acyclic_step *taken =
		(const struct acyclic_step *)(const void *)k->taken->data;

	if (k->taken->len > mark.taken)
		acyclic_remove(k->waits, taken + mark.taken, k->taken->len - mark.taken);
	g_array_set_size(k->taken, mark.taken);
	if (!k->has_turns)
		return;
	for (guint i = k->turns.undo->len; i-- > mark.undo;) {
		const struct keeper_undo *undo =
			&g_array_index(k->turns.undo, struct keeper_undo, i);

		put_lane(k, undo->turn, undo->sl, undo->vl, false);
	}
	g_array_set_size(k->turns.undo, mark.undo);
}

/* Whether packets may go on by a fixed lane, or some lane, from some lane. */
static bool may_turn(const struct keeper *k, uint32_t from, uint32_t to, unsigned int sl)
{
	uint32_t turn = turn_of(k, from, to);
	bool fixed = is_fixed(k, turn, sl);

	for (unsigned int vl = 0; vl < k->by_lane->n; vl++)
		for (unsigned int next = 0; next < k->by_lane->n; next++) {
			struct acyclic_step step = step_by_lane(k, from, vl, to, next);

			if ((!fixed || next == lane_of(k, turn, sl)) &&
			    acyclic_lacks(k->waits, &step, 1) != UINT32_MAX)
				return true;
		}
	return false;
}

bool keeper_may_step(const struct keeper *k, uint32_t from, uint32_t to, uint16_t sls)
{
	for (; sls; sls &= sls - 1) {
		unsigned int sl = __builtin_ctz(sls), vl = lane_of(k, 0, sl);
		struct acyclic_step step;

		if (k->has_turns) {
			if (!may_turn(k, from, to, sl))
				return false;
			continue;
		}
		step = step_by_lane(k, from, vl, to, vl);
		if (acyclic_lacks(k->waits, &step, 1) == UINT32_MAX)
			return false;
	}
	return true;
}
