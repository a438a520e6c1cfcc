// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What multicast follows, in keep_sls.c: the old order of switches; or a tree of cables, what is
 * left of it joined again.
 */
#include <string.h>

#include "route/graph/graph.h"
#include "route/renew/keeper.h"

static bool leads_up(const struct keeper *k, uint32_t channel)
{
	return k->place[k->channels->to[channel]] < k->place[k->channels->from[channel]];
}

static bool is_in(const struct keeper *k, uint32_t channel)
{
	return k->place || k->trunk[channel];
}

static bool in_trunk(const struct keeper *k, uint32_t from, uint32_t to)
{
	if (!is_in(k, from) || !is_in(k, to) || to == k->channels->back[from])
		return false;
	return !k->place || (k->channels->to[to] != k->channels->from[from] &&
			     (leads_up(k, from) || !leads_up(k, to)));
}

/* Packets that reach a channel of the trunk on some lane may go on by all others. */
static void note_from(struct keeper *k, uint32_t last, uint32_t channel, unsigned int sl)
{
	unsigned int vl = keeper_fix_turn(k, last, channel, sl);

	route_each_step(k->channels, channel, next)
		if (in_trunk(k, channel, next))
			keeper_note(k, channel, vl, next, keeper_fix_turn(k, channel, next, sl));
}

void keeper_note_trunk(struct keeper *k)
{
	uint16_t sls = k->trunk || k->place ? keeper_sls_of_trunk(k) : 0;

	for (; sls; sls &= sls - 1)
		for (uint32_t c = 0; c < k->channels->n; c++) {
			if (is_in(k, c))
				note_from(k, FABRIC_NONE, c, __builtin_ctz(sls));
			for (uint32_t next = k->channels->first[k->channels->to[c]];
			     k->has_turns && next < k->channels->first[k->channels->to[c] + 1];
			     next++)
				if (in_trunk(k, c, next))
					note_from(k, c, next, __builtin_ctz(sls));
		}
}

/* The old order; switches that it lacks come last, so that nothing leads through them. */
static void take_order(struct keeper *k)
{
	uint32_t n = k->graph->n, n_old = k->old->n_switches, next = 0;
	g_autofree uint32_t *at = g_new(uint32_t, n_old + 1); /* [old place] */

	memset(at, 0xFF, n_old * sizeof(*at));
	k->place = g_new(uint32_t, n + 1);
	for (uint32_t sw = 0; sw < n; sw++)
		if (k->row[sw] != FABRIC_NONE)
			at[k->old->order[k->row[sw]]] = sw;
	for (uint32_t place = 0; place < n_old; place++)
		if (at[place] != FABRIC_NONE)
			k->place[at[place]] = next++;
	for (uint32_t sw = 0; sw < n; sw++)
		if (k->row[sw] == FABRIC_NONE)
			k->place[sw] = next++;
}

void keeper_take_trunk(struct keeper *k)
{
	const uint8_t *old = k->old->trunk;

	/* multicast by an order takes unused cables too, of which lanes know nothing */
	if (!old && k->old->order && !k->has_turns && !k->n_throttled)
		take_order(k);
	if (!old && !routing_is_held(k->old))
		return;
	k->trunk = g_new0(bool, k->channels->n + 1);
	k->parent = g_malloc0(k->graph->n + 1);
	for (uint32_t sw = 0; old && sw < k->graph->n; sw++) {
		uint8_t port = k->row[sw] == FABRIC_NONE ? 0 : old[k->row[sw]];
		uint32_t c = port ? keeper_channel_at(k, k->old, k->row, sw, port) : FABRIC_NONE;

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

/* ---- a cable that joins two parts ---- */

static bool add_path(struct keeper *k, const uint32_t *path, unsigned int n, uint16_t sls)
{
	g_array_set_size(k->path, 0);
	g_array_append_vals(k->path, path, n);
	return keeper_add_path(k, sls);
}

/* Packets through the trunk that go on by a channel: two channels of it decide their lane. */
static bool add_ways_in(struct keeper *k, uint32_t c, uint16_t sls)
{
	const struct route_channels *channels = k->channels;
	uint32_t from = channels->from[c];
	bool good = add_path(k, &c, 1, sls);

	for (uint32_t out = channels->first[from]; good && out < channels->first[from + 1]; out++) {
		uint32_t path[] = {FABRIC_NONE, channels->back[out], c};
		uint32_t before = channels->from[path[1]];

		if (!k->trunk[out] || out == c)
			continue;
		good = add_path(k, path + 1, 2, sls);
		for (uint32_t on = channels->first[before];
		     good && k->has_turns && on < channels->first[before + 1]; on++) {
			path[0] = channels->back[on];
			if (k->trunk[on] && on != path[1])
				good = add_path(k, path, 3, sls);
		}
	}
	return good;
}

/* Packets that come by a channel and go on through the trunk. */
static bool add_ways_on(struct keeper *k, uint32_t c, uint16_t sls)
{
	const struct route_channels *channels = k->channels;
	uint32_t from = channels->from[c];
	bool good = true;

	route_each_step(channels, c, out)
	{
		uint32_t path[] = {FABRIC_NONE, c, out, FABRIC_NONE};

		if (!k->trunk[out] || out == channels->back[c])
			continue;
		good = good && add_path(k, path + 1, 2, sls);
		for (uint32_t on = channels->first[from];
		     good && k->has_turns && on < channels->first[from + 1]; on++) {
			path[0] = channels->back[on];
			if (k->trunk[on] && on != c)
				good = add_path(k, path, 3, sls);
		}
		route_each_step(channels, out, last)
		{
			path[3] = last;
			if (k->has_turns && in_trunk(k, out, last))
				good = good && add_path(k, path + 1, 3, sls);
		}
	}
	return good;
}

/* False, with nothing added, if a cable closes a loop with the trunk on these SLs. */
static bool add_cable(struct keeper *k, uint32_t c, uint16_t sls)
{
	uint32_t back = k->channels->back[c];
	struct keeper_mark mark = keeper_mark(k);

	if (add_ways_in(k, c, sls) && add_ways_in(k, back, sls) && add_ways_on(k, c, sls) &&
	    add_ways_on(k, back, sls))
		return true;
	keeper_take_back(k, mark);
	return false;
}

/* SLs of groups that share the lane of SL 0. */
static uint16_t first_sls(const struct keeper *k, uint16_t sls)
{
	uint16_t first = sls & 1;

	for (; !k->has_turns && sls && !first; sls &= sls - 1)
		if (route_lanes_bit(k->lanes, __builtin_ctz(sls)) == route_lanes_bit(k->lanes, 0))
			first = sls & -sls;
	return first;
}

/*
 * Joins two parts of the trunk by a cable; false if that closes a loop on some lane. The lanes of
 * other SLs than 0 may be given up for that.
 */
static bool join_trunk(struct keeper *k, uint32_t c, bool give_up)
{
	uint16_t sls = keeper_sls_of_trunk(k), first = k->lanes ? first_sls(k, sls) : 1;
	uint32_t sw = k->channels->from[c], via = c;

	if (!add_cable(k, c, give_up ? first : sls))
		return false;
	for (sls &= give_up ? ~first : 0; sls; sls &= sls - 1)
		if (!add_cable(k, c, sls & -sls))
			keeper_give_up(k, __builtin_ctz(sls));
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

bool keeper_mend_trunk(struct keeper *k)
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
