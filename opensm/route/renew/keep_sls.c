// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A repair after which every two switches use the SL that they had. Hosts learn the SL of a path
 * once and use it as long as a connection lasts: what makes Linux ask again (ClientReregister, a
 * change of LIDs) concerns IPoIB and new connections only. So a repair that gives pairs another SL
 * may leave packets on lanes that were not meant for them.
 *
 * The lanes begin with all steps of the old paths, as far as their cables are left, and of the
 * trunk. Switches that have lost their path to a LID join again one after the other, the nearest
 * first, each by a channel whose path closes no loop on the lane that the pair has; or others make
 * way for it. So old and new paths together close none either. Where the tables of the last full
 * computation fit in like that, they come back. The lane of a packet depends on its SL, or on its
 * turns as well: keep_lanes.c.
 */
#include <string.h>

#include "route/fill/shortest.h"
#include "route/graph/flows.h"
#include "route/graph/watch.h"
#include "route/layers/layered.h"
#include "route/renew/keeper.h"
#include "route/renew/renew.h"
#include "route/value/base.h"
#include "route/value/throttled.h"

#define FAR UINT16_MAX

/* ---- the old tables ---- */

uint32_t keeper_channel_at(const struct keeper *k, const struct routing *routing,
			   const uint32_t *row, uint32_t sw, uint8_t port)
{
	uint32_t channel = route_channel(k->channels, sw, port), was;

	if (channel == FABRIC_NONE)
		return FABRIC_NONE;
	was = route_switch_across(routing->fabric,
				  fabric_switch_port(routing->fabric, row[sw], port));
	return was != FABRIC_NONE && was == row[k->channels->to[channel]] ? channel : FABRIC_NONE;
}

/* The channel by which a switch sent a LID, if there is one still. */
static uint32_t channel_before(const struct keeper *k, const struct routing *routing,
			       const uint32_t *row, uint32_t sw, uint16_t lid)
{
	if (row[sw] == FABRIC_NONE)
		return FABRIC_NONE;
	return keeper_channel_at(k, routing, row, sw, routing_port(routing, row[sw], lid));
}

/* ---- columns ---- */

static void turn_to(struct keeper *k, struct keeper_column column)
{
	k->home = column.home;
	k->lid = layered_lid(k->graph, column.home, column.i);
	k->is_own = column.i >= route_n_hosts(k->graph, column.home);
}

/* Finds far[] of all switches by the entries; those that do not arrive have none. */
static void measure(struct keeper *k)
{
	uint32_t n = k->graph->n;

	for (uint32_t sw = 0; sw < n; sw++)
		k->far[sw] = FAR;
	k->far[k->home] = 0;
	for (uint32_t start = 0; start < n; start++) {
		uint32_t sw = start, hops = 0, base;

		while (k->far[sw] == FAR && hops <= n) {
			uint32_t c = route_columns_get(&k->columns, sw, k->lid);

			if (c == FABRIC_NONE)
				break;
			sw = k->channels->to[c];
			hops++;
		}
		if (k->far[sw] == FAR)
			continue;
		base = k->far[sw] + hops;
		for (sw = start; k->far[sw] == FAR; base--) {
			k->far[sw] = base;
			sw = k->channels->to[route_columns_get(&k->columns, sw, k->lid)];
		}
	}
}

/*
 * Notes the steps of packets of an SL from a switch on, as far as entries lead. passed: [switch]:
 * VLs on which such packets have left it, all by the same entry.
 */
static void note_path(struct keeper *k, uint32_t sw, unsigned int sl, uint16_t *passed)
{
	uint32_t last = FABRIC_NONE;
	unsigned int last_vl = 0;

	while (sw != k->home) {
		uint32_t c = route_columns_get(&k->columns, sw, k->lid);
		unsigned int vl;
		bool again;

		if (c == FABRIC_NONE)
			return;
		vl = keeper_fix_turn(k, last, c, sl);
		again = passed[sw] >> vl & 1;
		if (last != FABRIC_NONE)
			keeper_note(k, last, last_vl, c, vl);
		if (again)
			return;
		passed[sw] |= 1u << vl;
		last = c;
		last_vl = vl;
		sw = k->channels->to[c];
	}
}

/* All old entries that still lead to the same switch; sls, passed: scratch for each switch. */
static void take_old_column(struct keeper *k, uint16_t *sls, uint16_t *passed)
{
	uint32_t n = k->graph->n;
	uint16_t all = 0;

	for (uint32_t sw = 0; sw < n; sw++) {
		uint32_t c =
			sw == k->home ? FABRIC_NONE : channel_before(k, k->old, k->row, sw, k->lid);

		all |= sls[sw] = keeper_sls_from(k, sw);
		if (c == FABRIC_NONE)
			continue;
		route_columns_put(&k->columns, sw, k->lid, c);
		k->uses[c]++;
	}
	for (; all; all &= all - 1) {
		unsigned int sl = __builtin_ctz(all);

		memset(passed, 0, n * sizeof(*passed));
		for (uint32_t sw = 0; sw < n; sw++)
			if (sls[sw] >> sl & 1)
				note_path(k, sw, sl, passed);
	}
}

/* ---- paths ---- */

/* Lists the path of a switch that sends by a channel; the rest of it is known. */
static void list_path(struct keeper *k, uint32_t c)
{
	g_array_set_size(k->path, 0);
	g_array_append_val(k->path, c);
	while (k->channels->to[c] != k->home) {
		c = route_columns_get(&k->columns, k->channels->to[c], k->lid);
		g_array_append_val(k->path, c);
	}
}

static bool join_by(struct keeper *k, uint32_t sw, uint32_t c)
{
	struct keeper_mark mark = keeper_mark(k);

	list_path(k, c);
	if (!keeper_add_path(k, keeper_sls_from(k, sw))) {
		keeper_take_back(k, mark);
		return false;
	}
	route_columns_put(&k->columns, sw, k->lid, c);
	k->far[sw] = k->far[k->channels->to[c]] + 1;
	k->uses[c]++;
	return true;
}

/* Whether a channel is better than another one (FABRIC_NONE: none). */
static bool is_better(const struct keeper *k, uint32_t c, uint32_t other, uint32_t old)
{
	uint16_t far, other_far;

	if (other == FABRIC_NONE)
		return true;
	far = k->far[k->channels->to[c]];
	other_far = k->far[k->channels->to[other]];
	if (far != other_far)
		return far < other_far;
	return c == old || (other != old && k->uses[c] < k->uses[other]);
}

/* By the shortest path that can be; among equals by the old entry, or the channel least used. */
static bool join(struct keeper *k, uint32_t sw, bool *tried)
{
	const struct route_channels *channels = k->channels;
	uint32_t old = channel_before(k, k->old, k->row, sw, k->lid);

	memset(tried, 0, channels->first[sw + 1] - channels->first[sw]);
	for (;;) {
		uint32_t best = FABRIC_NONE;

		for (uint32_t c = channels->first[sw]; c < channels->first[sw + 1]; c++)
			if (k->far[channels->to[c]] != FAR && !tried[c - channels->first[sw]] &&
			    is_better(k, c, best, old))
				best = c;
		if (best == FABRIC_NONE)
			return false;
		if (join_by(k, sw, best))
			return true;
		tried[best - channels->first[sw]] = true;
	}
}

static void count_uses(struct keeper *k, uint32_t change)
{
	for (uint32_t sw = 0; sw < k->graph->n; sw++) {
		uint32_t c = route_columns_get(&k->columns, sw, k->lid);

		if (c != FABRIC_NONE)
			k->uses[c] += change;
	}
}

static uint32_t count_missing(const struct keeper *k)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < k->graph->n; sw++)
		n += k->far[sw] == FAR && k->hops[(size_t)sw * k->graph->n + k->home] != ROUTE_FAR;
	return n;
}

/* Whether the current column has a path from everywhere. */
static bool is_whole(const struct keeper *k)
{
	return !count_missing(k);
}

/* ---- paths that others make way for ---- */

#define DETOUR 3	 /* hops more than the least, at most */
#define VISITS_MOST 3000 /* channels that a search looks at */

/* A search for a path of a switch that cannot join; switches on it change their entries. */
struct search {
	struct keeper *k;
	unsigned int limit; /* hops */
	unsigned int visits;
	uint32_t path[ROUTE_HOPS_MAX + 1]; /* channels */
	uint16_t sls;
	uint8_t *column, *before; /* the entries that are tried, and those before */
	uint16_t *far;		  /* before */
};

static bool passes_changed(const struct search *search, uint32_t sw)
{
	const struct keeper *k = search->k;

	for (; sw != k->home; sw = k->channels->to[route_columns_get(&k->columns, sw, k->lid)])
		if (search->column[sw] != search->before[sw])
			return true;
	return false;
}

/* Whether all that had a path still have one, and all whose path is another one may use it. */
static bool is_accepted(struct search *search)
{
	struct keeper *k = search->k;

	measure(k);
	for (uint32_t sw = 0; sw < k->graph->n; sw++) {
		if (k->far[sw] == FAR && search->far[sw] != FAR)
			return false;
		if (sw == k->home || k->far[sw] == FAR || !passes_changed(search, sw))
			continue;
		list_path(k, route_columns_get(&k->columns, sw, k->lid));
		if (!keeper_add_path(k, keeper_sls_from(k, sw)))
			return false;
	}
	return true;
}

static bool try_path(struct search *search, unsigned int n)
{
	struct keeper *k = search->k;
	struct keeper_mark mark = keeper_mark(k);

	count_uses(k, -1);
	for (unsigned int i = 0; i < n; i++)
		route_columns_put(&k->columns, k->channels->from[search->path[i]], k->lid,
				  search->path[i]);
	if (is_accepted(search)) {
		count_uses(k, 1);
		return true;
	}
	keeper_take_back(k, mark);
	memcpy(search->column, search->before, k->graph->n);
	memcpy(k->far, search->far, k->graph->n * sizeof(*k->far));
	count_uses(k, 1);
	return false;
}

static bool is_on_path(const struct search *search, unsigned int n, uint32_t sw)
{
	for (unsigned int i = 0; i < n; i++)
		if (search->k->channels->from[search->path[i]] == sw)
			return true;
	return false;
}

/* Depth first, from a switch that is reached by n channels. */
static bool search_from(struct search *search, uint32_t sw, unsigned int n)
{
	const struct keeper *k = search->k;
	const struct route_channels *channels = k->channels;

	for (uint32_t c = channels->first[sw]; c < channels->first[sw + 1]; c++) {
		uint32_t to = channels->to[c];
		uint8_t left = k->hops[(size_t)to * k->graph->n + k->home];

		search->k->work++;
		if (search->visits++ > VISITS_MOST)
			return false;
		if (left == ROUTE_FAR || n + 1 + left > search->limit ||
		    is_on_path(search, n, to) ||
		    (n && !keeper_may_step(k, search->path[n - 1], c, search->sls)))
			continue;
		search->path[n] = c;
		if (to == k->home ? try_path(search, n + 1) : search_from(search, to, n + 1))
			return true;
	}
	return false;
}

/* Gives a switch a path on which others change their entries, too. */
static bool make_way(struct keeper *k, uint32_t sw)
{
	uint32_t n = k->graph->n;
	g_autofree uint8_t *before = g_memdup2(route_column(&k->columns, k->lid), n);
	g_autofree uint16_t *far = g_memdup2(k->far, n * sizeof(*far));
	unsigned int least = k->hops[(size_t)sw * n + k->home];
	struct search search = {
		.k = k,
		.sls = keeper_sls_from(k, sw),
		.column = route_column(&k->columns, k->lid),
		.before = before,
		.far = far,
	};
	bool good = false;

	for (unsigned int more = 0; more <= DETOUR && !good; more++) {
		search.limit = MIN(least + more, ROUTE_HOPS_MAX);
		search.visits = 0;
		good = search_from(&search, sw, 0);
	}
	return good;
}

/* ---- broken columns ---- */

/* Lists switches without a path that could have one, the nearest first. */
static uint32_t list_missing(struct keeper *k)
{
	const uint8_t *hops = k->hops;
	uint32_t n = 0, next = 1, distance = 0;

	for (; next != ROUTE_FAR; distance = next) {
		next = ROUTE_FAR;
		for (uint32_t sw = 0; sw < k->graph->n; sw++) {
			uint8_t here = hops[(size_t)sw * k->graph->n + k->home];

			if (k->far[sw] != FAR || here < distance || here == ROUTE_FAR)
				continue;
			if (here == distance)
				k->order[n++] = sw;
			else
				next = MIN(next, here);
		}
	}
	return n;
}

/* Gives all switches a path that have none; false if some path would close a loop. */
static bool mend_column(struct keeper *k)
{
	uint32_t n = list_missing(k), left = n, before;
	bool tried[256];

	for (uint32_t sw = 0; sw < k->graph->n; sw++) {
		uint32_t c = route_columns_get(&k->columns, sw, k->lid);

		if (k->far[sw] != FAR || c == FABRIC_NONE)
			continue;
		k->uses[c]--;
		route_column(&k->columns, k->lid)[sw] = ROUTE_NO_STEP;
	}
	do {
		before = left;
		for (uint32_t i = 0; i < n; i++)
			left -= k->far[k->order[i]] == FAR && join(k, k->order[i], tried);
		for (uint32_t i = 0; left == before && i < n; i++)
			if (k->far[k->order[i]] == FAR && make_way(k, k->order[i]))
				left = count_missing(k);
	} while (left && left < before);
	return !left;
}

/* ---- the tables of the last full computation ---- */

struct keeper_base {
	const struct routing *routing;
	uint32_t *row;	/* [switch]: in its tables */
	uint8_t *steps; /* [switch]: the column as it was, if the base does not fit in */
};

/* Adds the steps of all paths of the current column. */
static bool add_column(struct keeper *k)
{
	for (uint32_t sw = 0; sw < k->graph->n; sw++) {
		uint32_t c = route_columns_get(&k->columns, sw, k->lid);

		if (c == FABRIC_NONE)
			continue;
		list_path(k, c);
		if (!keeper_add_path(k, keeper_sls_from(k, sw)))
			return false;
	}
	return true;
}

/* Puts the base's entries into the current column; false, with nothing changed, if that fails. */
static bool return_to(struct keeper *k, struct keeper_base *base)
{
	uint8_t *column = route_column(&k->columns, k->lid);
	uint32_t n = k->graph->n;
	struct keeper_mark mark = keeper_mark(k);

	memcpy(base->steps, column, n);
	count_uses(k, -1);
	for (uint32_t sw = 0; sw < n; sw++) {
		uint32_t c = sw == k->home
				     ? FABRIC_NONE
				     : channel_before(k, base->routing, base->row, sw, k->lid);

		column[sw] = c == FABRIC_NONE ? ROUTE_NO_STEP : c - k->channels->first[sw];
	}
	measure(k);
	if (!memcmp(base->steps, column, n) || !is_whole(k) || !add_column(k)) {
		memcpy(column, base->steps, n);
		keeper_take_back(k, mark);
	}
	count_uses(k, 1);
	measure(k);
	return is_whole(k);
}

/* ---- pairs that had no SL ---- */

/* Adds the paths from a switch to all LIDs of another, as far as entries lead. */
static bool add_paths_to(struct keeper *k, uint32_t from, uint32_t to, uint16_t sls)
{
	unsigned int n = layered_n_lids_from(k->graph, from, to);
	bool good = true;

	for (unsigned int i = 0; good && i < n; i++) {
		uint32_t sw = from;

		turn_to(k, (struct keeper_column){to, i});
		g_array_set_size(k->path, 0);
		while (sw != to) {
			uint32_t c = route_columns_get(&k->columns, sw, k->lid);

			if (c == FABRIC_NONE)
				break;
			g_array_append_val(k->path, c);
			sw = k->channels->to[c];
		}
		good = keeper_add_path(k, sls);
	}
	return good;
}

/* Gives two switches an SL; false if its lanes cannot take their paths. */
static bool try_sl(struct keeper *k, uint32_t a, uint32_t b, unsigned int sl)
{
	const struct route_lanes *lanes = k->lanes;
	bool with_sm = a == k->graph->sm_switch || b == k->graph->sm_switch;
	struct keeper_mark mark = keeper_mark(k);
	uint16_t sls = keeper_sls_of(k, sl);

	if (!(keeper_sls_of_pairs(k) >> sl & 1) || sl < lanes->first ||
	    (with_sm && !lanes->sm_by_path && sl != lanes->sm_sl && lanes->sm_sl >= lanes->first))
		return false;
	if (add_paths_to(k, a, b, sls) && add_paths_to(k, b, a, sls)) {
		route_lanes_put(k->lanes, a, b, sl);
		return true;
	}
	keeper_take_back(k, mark);
	return false;
}

/* The SL that they had in the base, or one that hosts use, or the first that has room. */
static bool place(struct keeper *k, const struct keeper_base *base, uint32_t a, uint32_t b)
{
	const struct route_kept kept = {base->routing, base->row};
	uint8_t before = base->routing ? route_kept_sl(&kept, a, b) : ROUTE_NO_SL;

	if (before < ROUTE_SLS && try_sl(k, a, b, before))
		return true;
	for (uint16_t sls = route_told_sls(k->told, a, b); sls; sls &= sls - 1)
		if (try_sl(k, a, b, __builtin_ctz(sls)))
			return true;
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		if (try_sl(k, a, b, sl))
			return true;
	return false;
}

/* Hosts must be able to talk to each other; a switch without hosts need not. */
static bool place_new(struct keeper *k, const struct keeper_base *base)
{
	const struct route_graph *graph = k->graph;
	bool good = true;

	k->excluded = k->idle = 0;
	for (uint32_t a = 0; k->lanes && a < graph->n; a++)
		for (uint32_t b = a + 1; b < graph->n; b++) {
			bool hosts = route_has_hosts(graph, a) && route_has_hosts(graph, b);

			if (route_lanes_sl(k->lanes, a, b) != ROUTE_NO_SL ||
			    k->hops[(size_t)a * graph->n + b] == ROUTE_FAR ||
			    !(route_has_hosts(graph, a) || route_has_hosts(graph, b)) ||
			    (hosts && !route_sends(&k->plan.wishes, a, b))) {
				k->idle += route_lanes_sl(k->lanes, a, b) == ROUTE_NO_SL && hosts;
				continue;
			}
			if (place(k, base, a, b))
				continue;
			good &= !hosts;
			k->excluded++;
		}
	return good;
}

/* ---- the whole ---- */

/* Starts with the old tables as far as cables are left; false if they already have a loop. */
static bool take_old(struct keeper *k)
{
	g_autofree uint16_t *sls = g_new(uint16_t, k->graph->n + 1);
	g_autofree uint16_t *passed = g_new(uint16_t, k->graph->n + 1);

	route_columns_init(&k->columns, k->channels, k->graph->n, k->fabric->max_lid);
	memset(k->uses, 0, k->channels->n * sizeof(*k->uses));
	if (!keeper_take_lanes(k))
		return false;
	k->work += (uint64_t)k->graph->n * k->n_todo;
	for (uint32_t i = 0; i < k->n_todo; i++) {
		turn_to(k, k->todo[i]);
		take_old_column(k, sls, passed);
	}
	keeper_take_trunk(k);
	keeper_note_trunk(k);
	return acyclic_sort(k->waits);
}

static void drop_all(struct keeper *k)
{
	keeper_drop_lanes(k);
	route_columns_clear(&k->columns);
	g_clear_pointer(&k->place, g_free);
	g_clear_pointer(&k->trunk, g_free);
	g_clear_pointer(&k->parent, g_free);
}

/* What is gained is not worth that much time, in which packets are lost. */
static bool is_too_much(const struct keeper *k)
{
	uint64_t entries = (uint64_t)k->graph->n * k->n_todo;

	return k->work > MAX(RENEW_SAME_SLS_WORK, RENEW_SAME_SLS_TIMES * entries);
}

/* Columns that cannot be mended get their turn before all others the next time. */
static void move_ahead(struct keeper *k, uint32_t i)
{
	struct keeper_column column = k->todo[i];

	memmove(&k->todo[1], &k->todo[0], i * sizeof(*k->todo));
	k->todo[0] = column;
}

/* Broken columns first. If the first cannot be mended, no order helps: *again is false. */
static bool mend_all(struct keeper *k, struct keeper_base *base, bool *again)
{
	g_autofree bool *mended = g_new0(bool, k->n_todo + 1);

	route_watch_begin(k->input->watch, "paths on the old lanes", k->n_todo);
	for (uint32_t i = 0; i < k->n_todo; i++) {
		if (!route_watch_step(k->input->watch))
			return false;
		if (is_too_much(k))
			return false;
		turn_to(k, k->todo[i]);
		measure(k);
		mended[i] = !is_whole(k);
		if (!mended[i] || (base->routing && return_to(k, base)) || mend_column(k))
			continue;
		*again = i > 0;
		move_ahead(k, i);
		return false;
	}
	for (uint32_t i = 0; base->routing && i < k->n_todo; i++) {
		turn_to(k, k->todo[i]);
		measure(k);
		if (!mended[i])
			return_to(k, base);
	}
	return true;
}

/* Adds what hosts of all switches send to a LID. */
static void add_load(const struct keeper *k, uint32_t target, uint64_t *load)
{
	for (uint32_t from = 0; from < k->graph->n; from++) {
		uint32_t sent = route_n_senders(&k->plan.wishes, from, target);

		for (uint32_t sw = from; sent && k->far[from] != FAR && sw != k->home;) {
			uint32_t c = route_columns_get(&k->columns, sw, k->lid);

			load[c] += sent;
			sw = k->channels->to[c];
		}
	}
}

/* Counts longer paths; returns the load of the busiest channel. */
static uint64_t judge(struct keeper *k)
{
	g_autofree uint64_t *load = g_new0(uint64_t, k->channels->n + 1);

	for (uint32_t i = 0; i < k->n_todo; i++) {
		turn_to(k, k->todo[i]);
		measure(k);
		for (uint32_t sw = 0; sw < k->graph->n; sw++)
			k->n_longer += k->far[sw] != FAR &&
				       k->far[sw] > k->hops[(size_t)sw * k->graph->n + k->home];
		if (!k->is_own)
			add_load(k, k->graph->first_target[k->home] + k->todo[i].i, load);
	}
	return route_greatest(k->graph, load);
}

#define TRIES 12

static void list_columns(struct keeper *k)
{
	k->n_todo = 0;
	for (uint32_t sw = 0; sw < k->graph->n; sw++)
		for (unsigned int i = 0; i < layered_n_lids(k->graph, sw); i++)
			k->todo[k->n_todo++] = (struct keeper_column){sw, i};
}

static bool keep(struct keeper *k)
{
	struct routing *routing = k->old->layered.base;
	struct keeper_base base = {.routing = routing};
	bool good = false, again = true;

	k->work = 0;
	list_columns(k);
	if (routing) {
		base.row = k->base_row = route_places(k->fabric, routing->fabric);
		base.steps = g_malloc(k->graph->n + 1);
	}
	for (unsigned int i = 0; i < TRIES && again && !good && !is_too_much(k); i++) {
		drop_all(k);
		if (route_is_cancelled(k->input->watch) || !take_old(k) || !keeper_mend_trunk(k))
			break;
		good = mend_all(k, &base, &again) && place_new(k, &base);
	}
	g_free(base.row);
	g_free(base.steps);
	return good;
}

static bool init(struct keeper *k)
{
	const struct route_input *input = k->input;
	g_autofree bool *unused = NULL;
	uint32_t n;

	if (input->avoid_throttled)
		unused = route_throttled(k->fabric, &k->n_throttled, &k->n_throttled_stay);
	route_plan_init_for(&k->plan, route_graph_new_without(k->fabric, unused));
	k->graph = k->plan.graph;
	k->graph->threads = input->threads;
	k->graph->watch = input->watch;
	n = k->graph->n;
	route_mark_demand(&k->plan.wishes, k->fabric, input);
	k->channels = route_channels_new(k->graph, k->fabric);
	k->hops = route_hops_all(&k->plan.order, NULL);
	k->row = route_places(k->fabric, k->old->fabric);
	k->vls = route_data_vls(k->fabric, input);
	k->uses = g_new0(uint32_t, k->channels->n + 1);
	k->steps = g_array_new(FALSE, FALSE, sizeof(struct acyclic_step));
	k->path = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	k->taken = g_array_new(FALSE, FALSE, sizeof(struct acyclic_step));
	k->far = g_new(uint16_t, n + 1);
	k->order = g_new(uint32_t, n + 1);
	for (uint32_t sw = 0; sw < n; sw++)
		k->n_todo += layered_n_lids(k->graph, sw);
	k->todo = g_new(struct keeper_column, k->n_todo + 1);
	return k->hops != NULL;
}

static void clear(struct keeper *k)
{
	drop_all(k);
	route_told_unref(k->told);
	route_channels_free(k->channels);
	route_plan_clear(&k->plan);
	g_array_unref(k->path);
	g_array_unref(k->steps);
	g_array_unref(k->taken);
	g_free(k->todo);
	g_free(k->hops);
	g_free(k->row);
	g_free(k->uses);
	g_free(k->far);
	g_free(k->order);
}

static struct routing *make(struct keeper *k)
{
	struct routing *routing =
		routing_new_unset(k->fabric, k->engine, k->engine->promises | ROUTE_DEADLOCK_FREE);
	struct routing *base = k->old->layered.base;

	routing->layered.busiest = judge(k);
	if (k->n_longer)
		routing->promises &= ~ROUTE_SHORTEST;
	routing->max_hops = route_most_hops(&k->plan.order, k->hops);
	keeper_put_lanes(k, routing);
	routing->order = g_steal_pointer(&k->place);
	routing->trunk = g_steal_pointer(&k->parent);
	routing->layered.n_channels = k->channels->n;
	if (!routing_is_held(k->old))
		routing->layered.base = routing_ref(base ? base : (struct routing *)k->old);
	route_columns_fill(&k->columns, k->graph, routing);
	layered_note_throttled(routing, k->n_throttled, k->n_throttled_stay);
	layered_note_pairs(routing, k->excluded, k->idle);
	if (!routing->trunk && !routing->order)
		routing_note(routing, "multicast trees may close credit loops with paths on the "
				      "lane of their SL");
	if (k->n_longer)
		routing_note(routing,
			     "%" G_GUINT64_FORMAT
			     " entries lead on longer paths than there are, so "
			     "that hosts keep their SLs",
			     k->n_longer);
	return routing;
}

/*
 * With all SLs that hosts may use; or else, as the change will be announced, with the old ones. Not
 * if lanes depend on turns: a turn has no lane of its own for an SL that no path has.
 */
static bool keep_told(struct keeper *k)
{
	bool good;

	k->told = route_told_by(k->old, k->fabric);
	for (uint32_t a = 0; a < k->graph->n; a++)
		for (uint32_t b = 0; b < a; b++)
			k->told_sls |= route_told_at_levels(k->told, a, b, k->old->lanes->levels);
	good = keep(k);
	if (!good) {
		g_clear_pointer(&k->told, route_told_unref);
		k->told_sls = 0;
	}
	return good;
}

struct routing *routing_keep_sls(const struct route_engine *engine, const struct fabric *fabric,
				 const struct route_input *input, const struct routing *old)
{
	struct keeper k = {
		.engine = engine,
		.fabric = fabric,
		.input = input,
		.old = old,
		.has_turns = routing_has_turns(old),
	};
	struct routing *routing = NULL;

	if (init(&k) && ((old->told && old->lanes && !k.has_turns && keep_told(&k)) || keep(&k)))
		routing = make(&k);
	clear(&k);
	return routing;
}
