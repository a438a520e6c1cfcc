// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/transition/lane_changes.h"

#include <inttypes.h>
#include <string.h>

#include "route/graph/graph.h"
#include "route/graph/watch.h"
#include "route/value/base.h"
#include "route/value/lanes.h"
#include "route/value/told.h"

static uint64_t guid_of(const struct routing *routing, uint32_t sw)
{
	const struct fabric *fabric = routing->fabric;

	return fabric->nodes[fabric->switches[sw].node].guid;
}

/* [switch of new]: the same switch in old, if it forwards anything; else FABRIC_NONE. */
static uint32_t *find_live(const struct routing *old, const struct routing *new)
{
	uint32_t *was = g_new(uint32_t, new->n_switches + 1);

	for (uint32_t sw = 0; sw < new->n_switches; sw++) {
		uint32_t node = fabric_node_by_guid(old->fabric, guid_of(new, sw));
		uint32_t is = FABRIC_NONE;

		if (node != FABRIC_NONE && fabric_is_switch(old->fabric, node))
			is = old->fabric->nodes[node].sw;
		was[sw] = is != FABRIC_NONE && routing_has_entries(old, is) ? is : FABRIC_NONE;
	}
	return was;
}

/* Without lanes, hosts were given SL 0, unless QoS sets another. */
static uint8_t sl_of(const struct routing *routing, uint32_t a, uint32_t b)
{
	return routing->lanes ? route_lanes_sl(routing->lanes, a, b) : 0;
}

static uint64_t count_pairs(const struct routing *old, const struct routing *new,
			    const uint32_t *was, struct route_watch *watch)
{
	uint64_t pairs = 0;

	for (uint32_t a = 0; a < new->n_switches && route_watch_step(watch); a++)
		for (uint32_t b = a + 1; was[a] != FABRIC_NONE && b < new->n_switches; b++) {
			uint8_t before;

			if (was[b] == FABRIC_NONE)
				continue;
			before = sl_of(old, was[a], was[b]);
			pairs += before != ROUTE_NO_SL && before != sl_of(new, a, b);
		}
	return pairs;
}

/* ---- SLtoVLMappingTables ---- */

/* The engine that made what switches hold. */
static const struct route_engine *maker_of(const struct routing *routing)
{
	return routing->maker ? routing->maker : routing->engine;
}

static bool same_vls(const struct route_lanes *a, const struct route_lanes *b, uint16_t sls)
{
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		if (sls >> sl & 1 && a->vl[sl] != b->vl[sl])
			return false;
	return true;
}

/* The switch across a port, by its GUID; 0: there is none. */
static uint64_t across(const struct routing *routing, uint32_t sw, unsigned int port)
{
	uint32_t to = port ? route_switch_across(routing->fabric,
						 fabric_switch_port(routing->fabric, sw, port))
			   : FABRIC_NONE;

	return to == FABRIC_NONE ? 0 : guid_of(routing, to);
}

/* For one switch: turns between cables that were there before, or from its hosts and itself. */
static bool same_turns(const struct routing *old, uint32_t was, const struct routing *new,
		       uint32_t sw)
{
	const struct route_turns *a = old->lanes->turns, *b = new->lanes->turns;
	uint16_t width = a->width[was];
	uint16_t sls = (old->lanes->sls & new->lanes->sls) | routing_told_sls(new);

	if (width != b->width[sw])
		return false;
	for (unsigned int out = 1; out < width; out++) {
		uint64_t to = across(new, sw, out);

		for (unsigned int in = 0; to && to == across(old, was, out) && in < width; in++)
			for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
				if (sls >> sl & 1 && across(new, sw, in) == across(old, was, in) &&
				    route_lanes_vl(old->lanes, was, in, out, sl) !=
					    route_lanes_vl(new->lanes, sw, in, out, sl))
					return false;
	}
	return true;
}

static bool same_maps(const struct routing *old, uint32_t was, const struct routing *new,
		      uint32_t sw)
{
	const struct route_lanes *a = old->lanes, *b = new->lanes;
	uint8_t vl[ROUTE_SLS];

	if (!a || !a->turns != !b->turns)
		return false;
	return a->turns ? same_turns(old, was, new, sw)
			: same_vls(a, b, routing_sl_to_vl(new, vl));
}

/*
 * Maps programmed by another process are unknown: they are taken to be those of the same engine, if
 * that process used it.
 */
static uint32_t count_maps(const struct routing *old, const struct routing *new,
			   const uint32_t *was, struct route_watch *watch)
{
	bool assumed = old->maker && maker_of(old) == new->engine;
	uint32_t maps = 0;

	for (uint32_t sw = 0; !assumed && sw < new->n_switches && route_watch_step(watch); sw++)
		maps += was[sw] != FABRIC_NONE && !same_maps(old, was[sw], new, sw);
	return maps;
}

struct lane_changes route_lane_changes(const struct routing *old, const struct routing *new,
				       struct route_watch *watch)
{
	struct lane_changes changes = {0};
	g_autofree uint32_t *was = NULL;

	if (!old || old->lanes == new->lanes)
		return changes;
	if (!new->lanes) {
		changes.given_up = true;
		return changes;
	}
	was = find_live(old, new);
	route_watch_begin(watch, "changes of lanes", 2 * (uint64_t)new->n_switches);
	changes.pairs = count_pairs(old, new, was, watch);
	changes.told = routing_count_told(new);
	changes.maps = count_maps(old, new, was, watch);
	changes.entries = routing_has_turns(new);
	return changes;
}

char *route_lane_changes_tell(const struct lane_changes *changes, const struct routing *new)
{
	g_autofree char *pairs = NULL, *maps = NULL;

	if (changes->given_up)
		return g_strdup_printf("a change to routes of %s may deadlock during the change: "
				       "hosts use the virtual lanes of the routes before",
				       new->engine->name);
	if (!route_lane_changes_any(changes))
		return NULL;
	if (!route_lane_changes_last(changes) && !changes->maps)
		return g_strdup_printf("a change to routes of %s may deadlock during the change: "
				       "old and new entries together have a credit loop",
				       new->engine->name);
	if (changes->pairs)
		pairs = g_strdup_printf("%" PRIu64 " pairs of switches get another SL",
					changes->pairs);
	else if (changes->told)
		pairs = g_strdup_printf("hosts of %" PRIu64 " pairs of switches may use an SL from "
					"before", changes->told);
	if (changes->maps)
		maps = g_strdup_printf("%u switches get other SLtoVLMappingTables, which are "
				       "written before forwarding tables",
				       changes->maps);
	return g_strdup_printf(
		"a change to routes of %s may deadlock %s: %s%s%s", new->engine->name,
		pairs ? "until hosts have queried their paths again" : "during the change",
		pairs ? pairs : "", pairs && maps ? "; " : "", maps ? maps : "");
}
