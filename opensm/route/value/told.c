// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/value/told.h"

#include "route/graph/graph.h"
#include "route/value/base.h"
#include "route/value/lanes.h"

static uint64_t guid_of(const struct fabric *fabric, uint32_t sw)
{
	return fabric->nodes[fabric->switches[sw].node].guid;
}

static size_t pairs_of(size_t n)
{
	return n ? n * (n - 1) / 2 : 0;
}

void route_told_unref(struct route_told *told)
{
	if (!told || !ref_put(&told->ref))
		return;
	g_free(told->guids);
	g_free(told->sls);
	g_free(told);
}

/* ---- switches, present and absent ---- */

/* Those of an old routing: the fabric's by index, then the absent ones that it remembers. */
struct past {
	const struct routing *routing;
	uint32_t n;
	bool *is_live; /* [switch of the fabric]: it forwards something, so hosts may use it */
};

static void past_init(struct past *past, const struct routing *old)
{
	*past = (struct past){old, old->told ? old->told->n : old->n_switches, NULL};
	past->is_live = g_new(bool, old->n_switches + 1);
	for (uint32_t sw = 0; sw < old->n_switches; sw++)
		past->is_live[sw] = routing_has_entries(old, sw);
}

static uint64_t past_guid(const struct past *past, uint32_t i)
{
	return i < past->routing->n_switches ? guid_of(past->routing->fabric, i)
					     : past->routing->told->guids[i];
}

static uint16_t past_sls(const struct past *past, uint32_t a, uint32_t b)
{
	const struct routing *old = past->routing;
	uint16_t sls = route_told_sls(old->told, a, b);
	uint8_t sl;

	if (a >= old->n_switches || b >= old->n_switches || !past->is_live[a] || !past->is_live[b])
		return sls;
	sl = old->lanes ? route_lanes_sl(old->lanes, a, b) : 0;
	return sl < ROUTE_SLS ? sls | 1u << sl : sls;
}

/*
 * Lists the switches of a fabric, then those of the past that it lacks; returns, for each, where it
 * is in the past: FABRIC_NONE if it is new.
 */
static uint32_t *list_switches(struct route_told *told, const struct past *past,
			       const struct fabric *fabric)
{
	uint32_t n = fabric->n_switches, most = n + MIN(n, past->n);
	g_autoptr(GHashTable) absent = g_hash_table_new(g_int64_hash, g_int64_equal);
	uint32_t *was = g_new(uint32_t, most + 1);

	told->guids = g_new(uint64_t, most + 1);
	for (uint32_t i = past->routing->n_switches; i < past->n; i++)
		g_hash_table_insert(absent, &past->routing->told->guids[i],
				    GUINT_TO_POINTER(i + 1));
	for (uint32_t sw = 0; sw < n; sw++) {
		uint64_t guid = told->guids[sw] = guid_of(fabric, sw);
		gpointer i = g_hash_table_lookup(absent, &guid);

		was[sw] = i ? GPOINTER_TO_UINT(i) - 1
			    : route_switch_by_guid(past->routing->fabric, guid);
	}
	told->n = n;
	for (uint32_t i = 0; i < past->n && told->n < most; i++) {
		uint64_t guid = past_guid(past, i);

		if (route_switch_by_guid(fabric, guid) != FABRIC_NONE)
			continue;
		was[told->n] = i;
		told->guids[told->n++] = guid;
	}
	return was;
}

struct route_told *route_told_by(const struct routing *old, const struct fabric *fabric)
{
	struct route_told *told = g_new0(struct route_told, 1);
	g_autofree uint32_t *was = NULL;
	struct past past;
	size_t pair = 0;

	ref_init(&told->ref);
	past_init(&past, old);
	was = list_switches(told, &past, fabric);
	told->sls = g_new(uint16_t, pairs_of(told->n) + 1);
	for (uint32_t a = 0; a < told->n; a++)
		for (uint32_t b = 0; b < a; b++)
			told->sls[pair++] = was[a] == FABRIC_NONE || was[b] == FABRIC_NONE
						    ? 0
						    : past_sls(&past, was[a], was[b]);
	g_free(past.is_live);
	return told;
}

uint16_t route_told_at_levels(const struct route_told *told, uint32_t a, uint32_t b, uint8_t levels)
{
	uint16_t plain = route_told_sls(told, a, b), sls = plain;

	for (unsigned int sl = 0; plain && levels && sl < ROUTE_SLS; sl++)
		if (plain >> (sl & ~levels) & 1)
			sls |= 1u << sl;
	return sls;
}

/* ---- of a routing ---- */

/* Without lanes, switches that come back matter only if the engine may then need lanes. */
static bool is_needed(const struct routing *routing, const struct routing *old)
{
	if (old->lanes || old->told || routing->lanes)
		return true;
	for (uint32_t sw = 0; routing->layered.n_channels && sw < old->n_switches; sw++)
		if (route_switch_by_guid(routing->fabric, guid_of(old->fabric, sw)) == FABRIC_NONE)
			return true;
	return false;
}

static void remove_present(struct route_told *told, const struct routing *routing)
{
	size_t pair = 0;

	for (uint32_t a = 0; a < routing->n_switches; a++)
		for (uint32_t b = 0; b < a; b++, pair++) {
			uint8_t sl = routing->lanes ? route_lanes_sl(routing->lanes, a, b) : 0;

			if (sl < ROUTE_SLS)
				told->sls[pair] &= ~(1u << sl);
		}
}

/* Whether any SL is left. */
static bool count(struct route_told *told, const struct routing *routing)
{
	uint8_t levels = routing->lanes ? routing->lanes->levels : 0;
	bool any = false;

	for (size_t pair = 0; !any && pair < pairs_of(told->n); pair++)
		any = told->sls[pair] != 0;
	for (uint32_t a = 0; any && a < routing->n_switches; a++)
		for (uint32_t b = 0; b < a; b++) {
			told->n_pairs += route_told_sls(told, a, b) != 0;
			told->all |= route_told_at_levels(told, a, b, levels);
		}
	return any;
}

void routing_set_told(struct routing *routing, const struct routing *old)
{
	struct route_told *told;

	if (!old || routing == old || !is_needed(routing, old))
		return;
	told = route_told_by(old, routing->fabric);
	remove_present(told, routing);
	routing_forget_told(routing);
	if (count(told, routing))
		routing->told = told;
	else
		route_told_unref(told);
}

void routing_forget_told(struct routing *routing)
{
	g_clear_pointer(&routing->told, route_told_unref);
}
