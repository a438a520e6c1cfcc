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
 * computation fit in like that, they come back.
 */
#include <string.h>

#include "route/fill/shortest.h"
#include "route/graph/flows.h"
#include "route/graph/watch.h"
#include "route/layers/layered.h"
#include "route/renew/renew.h"
#include "route/value/base.h"
#include "route/value/throttled.h"

#define FAR UINT16_MAX

struct keeper {
	const struct fabric *fabric;
	const struct route_engine *engine;
	const struct route_input *input;
	const struct routing *old;
	struct route_plan plan;
	struct route_graph *graph; /* of the plan */
	struct route_channels *channels;
	uint8_t *hops;		      /* of route_hops_all() */
	uint32_t *row;		      /* [switch]: in the old tables */
	struct route_columns columns; /* the new tables */
	struct route_lanes *lanes;    /* NULL: one lane for all */
	unsigned int vls;	      /* data VLs of all cables */
	struct acyclic *lane[ROUTE_SLS];
	bool *trunk;		    /* [channel] */
	uint8_t *parent;	    /* [switch]: port to it in the trunk */
	uint32_t *uses;		    /* [channel]: entries */
	GArray *steps;		    /* struct acyclic_step: of the current path */
	GArray *taken;		    /* struct keeper_step: all that were added to lanes */
	uint16_t lid;		    /* of the current column */
	uint32_t home;		    /* its switch */
	bool is_own;		    /* it is a LID of that switch itself */
	uint16_t *far;		    /* [switch]: hops by the new tables; FAR: it has no path yet */
	uint32_t *order;	    /* switches by their distance, the farthest first */
	struct keeper_column *todo; /* all, in the order of their turns */
	uint32_t n_todo;
	uint64_t n_longer; /* paths that are longer than the cables allow */
	uint64_t excluded; /* pairs for which no lane is left */
	uint64_t idle;	   /* pairs that send each other nothing, and have none */
	uint32_t n_throttled, n_throttled_stay; /* cables: from route_throttled() */
};

struct keeper_step {
	struct acyclic_step step;
	unsigned int vl;
};

/* A LID: number i of those at a switch, by layered_lid(). */
struct keeper_column {
	uint32_t home;
	unsigned int i;
};

/* ---- the old tables ---- */

/* The channel at a port of a switch that was there before, if it leads to the switch it led to. */
static uint32_t channel_at(const struct keeper *k, const struct routing *routing,
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
	return channel_at(k, routing, row, sw, routing_port(routing, row[sw], lid));
}

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

/* The lanes of a new routing start as those of the old one. */
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

static struct route_lanes *copy_lanes(const struct keeper *k)
{
	const struct route_lanes *old = k->old->lanes;
	uint32_t n = k->graph->n;
	struct route_lanes *lanes;

	if (!old)
		return NULL;
	lanes = route_lanes_new(n, old->first);
	lanes->first = old->first;
	lanes->n = old->n;
	lanes->sm_sl = k->input->sm_sl;
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

/* VLs, as bits, of packets from a switch to the current LID. */
static uint16_t lanes_from(const struct keeper *k, uint32_t sw)
{
	if (sw == k->home || (k->is_own && !route_is_source(k->graph, sw)))
		return 0;
	return route_lanes_between(k->lanes, sw, k->home, k->graph->sm_switch);
}

static uint16_t lanes_in_use(const struct keeper *k)
{
	const struct route_lanes *lanes = k->lanes;

	if (!lanes)
		return 1;
	return (uint16_t)(((1u << lanes->n) - 1) << lanes->first) |
	       route_lanes_bit(lanes, lanes->sm_sl);
}

/* Lanes, as bits, in which the trunk has its place. */
static uint16_t lanes_of_trunk(const struct keeper *k)
{
	uint16_t bits = lanes_in_use(k);

	for (unsigned int sl = 0; k->lanes && sl < ROUTE_SLS; sl++)
		if (k->lanes->sls_unsafe_for_multicast >> sl & 1)
			bits &= ~route_lanes_bit(k->lanes, sl);
	return bits;
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

/* Notes the steps from a switch on, in one lane, as far as entries lead; passed: [switch]. */
static void note_path(const struct keeper *k, uint32_t sw, unsigned int vl, uint16_t *passed)
{
	struct acyclic_step step = {FABRIC_NONE, FABRIC_NONE};

	while (sw != k->home) {
		bool again = passed[sw] >> vl & 1;

		step.to = route_columns_get(&k->columns, sw, k->lid);
		if (step.to == FABRIC_NONE)
			return;
		if (step.from != FABRIC_NONE)
			acyclic_note(k->lane[vl], step);
		if (again)
			return;
		passed[sw] |= 1u << vl;
		step.from = step.to;
		sw = k->channels->to[step.to];
	}
}

/* All old entries that still lead to the same switch. */
static void take_old_column(struct keeper *k, uint16_t *passed)
{
	uint32_t n = k->graph->n;

	memset(passed, 0, n * sizeof(*passed));
	for (uint32_t sw = 0; sw < n; sw++) {
		uint32_t c =
			sw == k->home ? FABRIC_NONE : channel_before(k, k->old, k->row, sw, k->lid);

		if (c == FABRIC_NONE)
			continue;
		route_columns_put(&k->columns, sw, k->lid, c);
		k->uses[c]++;
	}
	for (uint32_t sw = 0; sw < n; sw++)
		for (uint16_t bits = lanes_from(k, sw); bits; bits &= bits - 1)
			note_path(k, sw, __builtin_ctz(bits), passed);
}

/* Adds the listed steps to lanes; false if they close a loop on one of them. */
static bool add_steps(struct keeper *k, uint16_t lanes)
{
	const struct acyclic_step *steps =
		(const struct acyclic_step *)(const void *)k->steps->data;

	for (; lanes; lanes &= lanes - 1) {
		struct keeper_step taken = {.vl = __builtin_ctz(lanes)};
		const struct acyclic_step *added;
		uint32_t n;

		if (!acyclic_add(k->lane[taken.vl], steps, k->steps->len))
			return false;
		added = acyclic_added(k->lane[taken.vl], &n);
		for (uint32_t i = 0; i < n; i++) {
			taken.step = added[i];
			g_array_append_val(k->taken, taken);
		}
	}
	return true;
}

/* Takes out the steps that were added after the first n. */
static void take_back(struct keeper *k, guint n)
{
	for (guint i = n; i < k->taken->len; i++) {
		const struct keeper_step *taken = &g_array_index(k->taken, struct keeper_step, i);

		acyclic_remove(k->lane[taken->vl], &taken->step, 1);
	}
	g_array_set_size(k->taken, n);
}

/* ---- the trunk ---- */

static void note_trunk(const struct keeper *k, struct acyclic *lane)
{
	for (uint32_t c = 0; c < k->channels->n; c++)
		route_each_step(k->channels, c, next)
		{
			struct acyclic_step step = {c, next};

			if (k->trunk[c] && k->trunk[next] && next != k->channels->back[c])
				acyclic_note(lane, step);
		}
}

static void take_old_trunk(struct keeper *k)
{
	const uint8_t *old = k->old->trunk;

	if (!old && !routing_is_held(k->old))
		return;
	k->trunk = g_new0(bool, k->channels->n + 1);
	k->parent = g_malloc0(k->graph->n + 1);
	for (uint32_t sw = 0; old && sw < k->graph->n; sw++) {
		uint8_t port = k->row[sw] == FABRIC_NONE ? 0 : old[k->row[sw]];
		uint32_t c = port ? channel_at(k, k->old, k->row, sw, port) : FABRIC_NONE;

		if (c == FABRIC_NONE)
			continue;
		k->parent[sw] = port;
		k->trunk[c] = k->trunk[k->channels->back[c]] = true;
	}
}

static uint32_t root_of(const struct keeper *k, uint32_t sw)
{
	while (k->parent[sw])
		sw = k->channels->to[route_channel(k->channels, sw, k->parent[sw])];
	return sw;
}

/* Steps of packets that come through the trunk and go on by a channel, or come by it and go on. */
static void list_trunk_steps(struct keeper *k, uint32_t c)
{
	const struct route_channels *channels = k->channels;
	uint32_t from = channels->from[c], back = channels->back[c];

	for (uint32_t out = channels->first[from]; out < channels->first[from + 1]; out++) {
		struct acyclic_step in = {channels->back[out], c}, on = {back, out};

		if (!k->trunk[out])
			continue;
		g_array_append_val(k->steps, in);
		g_array_append_val(k->steps, on);
	}
}

/* Groups on the lanes of such SLs may close loops. */
static void give_up_lane(struct keeper *k, unsigned int vl)
{
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		if (k->lanes->vl[sl] == vl)
			k->lanes->sls_unsafe_for_multicast |= 1u << sl;
}

/*
 * Joins two parts of the trunk by a cable; false if that closes a loop on some lane. The lanes of
 * other SLs than 0 may be given up for that.
 */
static bool join_trunk(struct keeper *k, uint32_t c, bool give_up)
{
	uint16_t bits = lanes_of_trunk(k), first = k->lanes ? route_lanes_bit(k->lanes, 0) : 1;
	uint32_t sw = k->channels->from[c], via = c;

	g_array_set_size(k->steps, 0);
	list_trunk_steps(k, c);
	list_trunk_steps(k, k->channels->back[c]);
	if (!add_steps(k, give_up ? bits & first : bits))
		return false;
	for (bits &= give_up ? ~first : 0; bits; bits &= bits - 1)
		if (!add_steps(k, bits & -bits))
			give_up_lane(k, __builtin_ctz(bits));
	k->trunk[c] = k->trunk[k->channels->back[c]] = true;
	for (;;) { /* the part now hangs from this cable */
		uint8_t up = k->parent[sw];
		uint32_t next = up ? route_channel(k->channels, sw, up) : FABRIC_NONE;

		k->parent[sw] = k->graph->links[via];
		if (next == FABRIC_NONE)
			return true;
		sw = k->channels->to[next];
		via = k->channels->back[next];
	}
}

/* Along the paths to the SM, as trunks begin. */
static void guess_trunk(struct keeper *k)
{
	uint32_t sm = k->graph->sm_switch;
	uint16_t lid = sm == FABRIC_NONE ? 0 : route_lid_of(k->graph, sm);

	for (uint32_t sw = 0; lid && sw < k->graph->n; sw++) {
		uint32_t c = sw == sm ? FABRIC_NONE : route_columns_get(&k->columns, sw, lid);

		if (c != FABRIC_NONE && root_of(k, sw) != root_of(k, k->channels->to[c]))
			join_trunk(k, c, false);
	}
}

/* Joins the parts that the trunk fell into as far as cables allow; false if lanes do not. */
static bool mend_trunk(struct keeper *k)
{
	g_autofree uint32_t *part = route_parts(k->graph, NULL);
	bool good = true;

	if (k->trunk && routing_is_held(k->old))
		guess_trunk(k);
	for (int give_up = 0; k->trunk && give_up < 2; give_up++)
		for (uint32_t c = 0; c < k->channels->n; c++)
			if (root_of(k, k->channels->from[c]) != root_of(k, k->channels->to[c]))
				join_trunk(k, c, give_up);
	for (uint32_t sw = 0; k->trunk && sw < k->graph->n; sw++)
		good &= root_of(k, sw) == root_of(k, part[sw]);
	return good;
}

/* ---- paths ---- */

/* Lists the steps from a switch that sends by a channel; the rest of the path is known. */
static void list_path(struct keeper *k, uint32_t c)
{
	struct acyclic_step step = {.from = c};

	g_array_set_size(k->steps, 0);
	for (uint32_t sw = k->channels->to[c]; sw != k->home; sw = k->channels->to[step.to]) {
		step.to = route_columns_get(&k->columns, sw, k->lid);
		g_array_append_val(k->steps, step);
		step.from = step.to;
	}
}

static bool join_by(struct keeper *k, uint32_t sw, uint32_t c)
{
	guint taken = k->taken->len;

	list_path(k, c);
	if (!add_steps(k, lanes_from(k, sw))) {
		take_back(k, taken);
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
	uint16_t lanes;
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
		if (!add_steps(k, lanes_from(k, sw)))
			return false;
	}
	return true;
}

static bool try_path(struct search *search, unsigned int n)
{
	struct keeper *k = search->k;
	guint taken = k->taken->len;

	count_uses(k, -1);
	for (unsigned int i = 0; i < n; i++)
		route_columns_put(&k->columns, k->channels->from[search->path[i]], k->lid,
				  search->path[i]);
	if (is_accepted(search)) {
		count_uses(k, 1);
		return true;
	}
	take_back(k, taken);
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

static bool step_is_free(const struct search *search, uint32_t from, uint32_t to)
{
	struct acyclic_step step = {from, to};

	for (uint16_t bits = search->lanes; bits; bits &= bits - 1)
		if (acyclic_lacks(search->k->lane[__builtin_ctz(bits)], &step, 1) == UINT32_MAX)
			return false;
	return true;
}

/* Depth first, from a switch that is reached by n channels. */
static bool search_from(struct search *search, uint32_t sw, unsigned int n)
{
	const struct keeper *k = search->k;
	const struct route_channels *channels = k->channels;

	for (uint32_t c = channels->first[sw]; c < channels->first[sw + 1]; c++) {
		uint32_t to = channels->to[c];
		uint8_t left = k->hops[(size_t)to * k->graph->n + k->home];

		if (search->visits++ > VISITS_MOST)
			return false;
		if (left == ROUTE_FAR || n + 1 + left > search->limit ||
		    is_on_path(search, n, to) ||
		    (n && !step_is_free(search, search->path[n - 1], c)))
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
		.lanes = lanes_from(k, sw),
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
		if (!add_steps(k, lanes_from(k, sw)))
			return false;
	}
	return true;
}

/* Puts the base's entries into the current column; false, with nothing changed, if that fails. */
static bool return_to(struct keeper *k, struct keeper_base *base)
{
	uint8_t *column = route_column(&k->columns, k->lid);
	uint32_t n = k->graph->n;

	guint taken = k->taken->len;

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
		take_back(k, taken);
	}
	count_uses(k, 1);
	measure(k);
	return is_whole(k);
}

/* ---- pairs that had no SL ---- */

static void list_lids(struct keeper *k, uint32_t from, uint32_t to)
{
	unsigned int n = layered_n_lids_from(k->graph, from, to);

	for (unsigned int i = 0; i < n; i++) {
		struct acyclic_step step = {FABRIC_NONE, FABRIC_NONE};

		turn_to(k, (struct keeper_column){to, i});
		for (uint32_t sw = from; sw != to; sw = k->channels->to[step.to]) {
			step.to = route_columns_get(&k->columns, sw, k->lid);
			if (step.to == FABRIC_NONE)
				break;
			if (step.from != FABRIC_NONE)
				g_array_append_val(k->steps, step);
			step.from = step.to;
		}
	}
}

/* Gives two switches a lane; false if it cannot take their paths, which are listed. */
static bool try_lane(struct keeper *k, uint32_t a, uint32_t b, unsigned int vl)
{
	struct route_lanes *lanes = k->lanes;
	uint8_t of_sm = lanes->vl[lanes->sm_sl];
	bool with_sm = a == k->graph->sm_switch || b == k->graph->sm_switch;

	if (vl < lanes->first || (with_sm && vl != of_sm && of_sm >= lanes->first) ||
	    !k->lane[vl] || !add_steps(k, 1u << vl))
		return false;
	route_lanes_put(lanes, a, b, vl);
	return true;
}

/* The lane that they had in the base, or the first that can take their paths. */
static bool place(struct keeper *k, const struct keeper_base *base, uint32_t a, uint32_t b)
{
	const struct route_kept kept = {base->routing, base->row};
	uint8_t before = base->routing ? route_kept_sl(&kept, a, b) : ROUTE_NO_SL;

	g_array_set_size(k->steps, 0);
	list_lids(k, a, b);
	list_lids(k, b, a);
	if (before < ROUTE_SLS && try_lane(k, a, b, before))
		return true;
	for (unsigned int vl = 0; vl < ROUTE_SLS; vl++)
		if (try_lane(k, a, b, vl))
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
	g_autofree uint16_t *passed = g_new(uint16_t, k->graph->n + 1);
	uint16_t trunk, lanes;
	bool good = true;

	route_columns_init(&k->columns, k->channels, k->graph->n, k->fabric->max_lid);
	memset(k->uses, 0, k->channels->n * sizeof(*k->uses));
	k->lanes = copy_lanes(k);
	lanes = lanes_in_use(k);
	trunk = lanes_of_trunk(k);
	if (lanes >> k->vls)
		return false;
	for (unsigned int vl = 0; vl < ROUTE_SLS; vl++)
		if (lanes >> vl & 1)
			k->lane[vl] = acyclic_new(k->channels);
	for (uint32_t i = 0; i < k->n_todo; i++) {
		turn_to(k, k->todo[i]);
		take_old_column(k, passed);
	}
	take_old_trunk(k);
	for (; lanes; lanes &= lanes - 1) {
		unsigned int vl = __builtin_ctz(lanes);

		if (k->trunk && trunk >> vl & 1)
			note_trunk(k, k->lane[vl]);
		good &= acyclic_sort(k->lane[vl]);
	}
	return good;
}

static void drop_all(struct keeper *k)
{
	for (unsigned int vl = 0; vl < ROUTE_SLS; vl++)
		g_clear_pointer(&k->lane[vl], acyclic_free);
	route_columns_clear(&k->columns);
	g_clear_pointer(&k->lanes, route_lanes_free);
	g_clear_pointer(&k->trunk, g_free);
	g_clear_pointer(&k->parent, g_free);
}

/* Columns that cannot be mended get their turn before all others the next time. */
static void move_ahead(struct keeper *k, uint32_t i)
{
	struct keeper_column column = k->todo[i];

	memmove(&k->todo[1], &k->todo[0], i * sizeof(*k->todo));
	k->todo[0] = column;
}

/* Broken columns first. */
static bool mend_all(struct keeper *k, struct keeper_base *base)
{
	g_autofree bool *mended = g_new0(bool, k->n_todo + 1);

	route_watch_begin(k->input->watch, "paths on the old lanes", k->n_todo);
	for (uint32_t i = 0; i < k->n_todo; i++) {
		if (!route_watch_step(k->input->watch))
			return false;
		turn_to(k, k->todo[i]);
		measure(k);
		mended[i] = !is_whole(k);
		if (!mended[i] || (base->routing && return_to(k, base)) || mend_column(k))
			continue;
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

static bool keep(struct keeper *k)
{
	struct routing *routing = k->old->layered.base;
	struct keeper_base base = {.routing = routing};
	bool good = false;

	if (routing) {
		base.row = route_places(k->fabric, routing->fabric);
		base.steps = g_malloc(k->graph->n + 1);
	}
	for (unsigned int i = 0; i < TRIES && !good; i++) {
		drop_all(k);
		if (route_is_cancelled(k->input->watch) || !take_old(k) || !mend_trunk(k))
			break;
		good = mend_all(k, &base) && place_new(k, &base);
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
	k->taken = g_array_new(FALSE, FALSE, sizeof(struct keeper_step));
	k->far = g_new(uint16_t, n + 1);
	k->order = g_new(uint32_t, n + 1);
	for (uint32_t sw = 0; sw < n; sw++)
		k->n_todo += layered_n_lids(k->graph, sw);
	k->todo = g_new(struct keeper_column, k->n_todo + 1);
	k->n_todo = 0;
	for (uint32_t sw = 0; sw < n; sw++)
		for (unsigned int i = 0; i < layered_n_lids(k->graph, sw); i++)
			k->todo[k->n_todo++] = (struct keeper_column){sw, i};
	return k->hops != NULL;
}

static void clear(struct keeper *k)
{
	drop_all(k);
	route_channels_free(k->channels);
	route_plan_clear(&k->plan);
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
	routing->lanes = g_steal_pointer(&k->lanes);
	routing->trunk = g_steal_pointer(&k->parent);
	routing->layered.n_channels = k->channels->n;
	if (!routing_is_held(k->old))
		routing->layered.base = routing_ref(base ? base : (struct routing *)k->old);
	route_columns_fill(&k->columns, k->graph, routing);
	layered_note_throttled(routing, k->n_throttled, k->n_throttled_stay);
	layered_note_pairs(routing, k->excluded, k->idle);
	if (!routing->trunk)
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

struct routing *routing_keep_sls(const struct route_engine *engine, const struct fabric *fabric,
				 const struct route_input *input, const struct routing *old)
{
	struct keeper k = {.engine = engine, .fabric = fabric, .input = input, .old = old};
	struct routing *routing = NULL;

	if (init(&k) && keep(&k))
		routing = make(&k);
	clear(&k);
	return routing;
}
