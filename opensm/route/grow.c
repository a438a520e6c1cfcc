// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Switches join the paths to a destination from near to far: by a channel only if the step from
 * that to the next one closes no loop with all that was taken before (acyclic.h). The way of the
 * least cost comes first; a step that was not taken before costs extra, for it forbids others.
 *
 * Escape paths are those of the trunk: all its steps were taken before anything else, so that they
 * are always free. Where a switch is left out, it has its escape path, as have all switches on
 * that, and the others join anew around these.
 */
#include "route/grow.h"

#include <string.h>

#define NEW_STEP (3 * GROW_HOP)
#define BUCKETS 4096 /* a power of two, more than costs that are on offer at a time differ by */

struct grow {
	const struct layered *layered;
	struct acyclic *lane;
	const uint16_t *hop_cost; /* [channel] */
	uint32_t dest;
	uint32_t *chosen; /* [switch]: channel towards the destination; FABRIC_NONE: none */
	uint32_t *cost;	  /* [switch]: of its way */
	uint32_t *escape; /* [switch]: first channel of its escape path */
	bool *left_out;	  /* [switch]: it takes its escape path to the destination */
	/* Channels by which switches could join: lists by the cost of the whole way, modulo. */
	uint32_t bucket[BUCKETS]; /* the first channel, or FABRIC_NONE */
	uint32_t *next;		  /* [channel] */
	uint32_t n_offers;
};

struct grow *grow_new(const struct layered *layered, struct acyclic *lane)
{
	struct grow *grow = g_new0(struct grow, 1);
	uint32_t n = layered->graph->n;

	grow->layered = layered;
	grow->lane = lane;
	grow->chosen = g_new(uint32_t, n + 1);
	grow->cost = g_new(uint32_t, n + 1);
	grow->escape = g_new(uint32_t, n + 1);
	grow->left_out = g_new(bool, n + 1);
	grow->next = g_new(uint32_t, layered->channels->n + 1);
	memset(grow->bucket, 0xFF, sizeof(grow->bucket));
	return grow;
}

void grow_free(struct grow *grow)
{
	g_free(grow->chosen);
	g_free(grow->cost);
	g_free(grow->escape);
	g_free(grow->left_out);
	g_free(grow->next);
	g_free(grow);
}

uint32_t grow_channel(const struct grow *grow, uint32_t sw)
{
	return grow->chosen[sw];
}

static bool is_in(const struct grow *grow, uint32_t sw)
{
	return grow->chosen[sw] != FABRIC_NONE || sw == grow->dest;
}

static void join(struct grow *grow, uint32_t channel, uint32_t cost)
{
	uint32_t sw = grow->layered->channels->from[channel];

	grow->chosen[sw] = channel;
	grow->cost[sw] = cost;
}

/* ---- by free steps ---- */

/* The step from a channel to the way on; false if that ends there. */
static bool step_of(const struct grow *grow, uint32_t channel, struct acyclic_step *step)
{
	step->from = channel;
	step->to = grow->chosen[grow->layered->channels->to[channel]];
	return step->to != FABRIC_NONE;
}

/* Ways over a switch that has joined. */
static void offer_ways(struct grow *grow, uint32_t sw)
{
	const struct route_channels *channels = grow->layered->channels;

	for (uint32_t c = channels->first[sw]; c < channels->first[sw + 1]; c++) {
		uint32_t back = channels->back[c], cost, *bucket;
		struct acyclic_step step;

		if (is_in(grow, channels->to[c]))
			continue;
		cost = grow->cost[sw] + grow->hop_cost[back];
		if (step_of(grow, back, &step) && !acyclic_has(grow->lane, step))
			cost += NEW_STEP;
		bucket = &grow->bucket[cost % BUCKETS];
		grow->next[back] = *bucket;
		*bucket = back;
		grow->n_offers++;
	}
}

static bool is_free(struct grow *grow, uint32_t channel)
{
	struct acyclic_step step;

	return !step_of(grow, channel, &step) || acyclic_add(grow->lane, &step, 1);
}

/* From all switches that have joined. */
static void join_others(struct grow *grow)
{
	const struct route_channels *channels = grow->layered->channels;

	for (uint32_t sw = 0; sw < grow->layered->graph->n; sw++)
		if (is_in(grow, sw))
			offer_ways(grow, sw);
	for (uint32_t cost = 0; grow->n_offers; cost++) {
		uint32_t c, *bucket = &grow->bucket[cost % BUCKETS];

		while ((c = *bucket) != FABRIC_NONE) {
			*bucket = grow->next[c];
			grow->n_offers--;
			if (is_in(grow, channels->from[c]) || !is_free(grow, c))
				continue;
			join(grow, c, cost);
			offer_ways(grow, channels->from[c]);
		}
	}
}

/* ---- by escape paths ---- */

/* Up the trunk, but for the switches above the destination. */
static void turn_escapes(struct grow *grow)
{
	const struct route_channels *channels = grow->layered->channels;
	const uint8_t *trunk = grow->layered->way->routing->trunk;

	for (uint32_t sw = 0; sw < grow->layered->graph->n; sw++)
		grow->escape[sw] = route_channel(channels, sw, trunk[sw]);
	for (uint32_t sw = grow->dest, c; trunk[sw]; sw = channels->to[c]) {
		c = route_channel(channels, sw, trunk[sw]);
		grow->escape[channels->to[c]] = channels->back[c];
	}
}

/* A switch and those on its escape path; what these cost is bounded, for the buckets. */
static void join_escape(struct grow *grow, uint32_t sw)
{
	uint32_t c = grow->escape[sw], to;

	if (is_in(grow, sw))
		return;
	to = grow->layered->channels->to[c];
	join_escape(grow, to);
	join(grow, c, MIN(grow->cost[to] + grow->hop_cost[c], GROW_HOP_MAX));
}

static bool find_left_out(struct grow *grow)
{
	const struct layered *layered = grow->layered;
	uint32_t n = layered->graph->n;
	bool any = false;

	for (uint32_t sw = 0; sw < n; sw++)
		if (!is_in(grow, sw) && layered->hops[(size_t)sw * n + grow->dest] != ROUTE_FAR)
			grow->left_out[sw] = any = true;
	return any;
}

static void begin(struct grow *grow)
{
	memset(grow->chosen, 0xFF, grow->layered->graph->n * sizeof(*grow->chosen));
	grow->cost[grow->dest] = 0;
}

static void begin_to(struct grow *grow, uint32_t dest, const uint16_t *cost)
{
	grow->dest = dest;
	grow->hop_cost = cost;
	begin(grow);
}

bool grow_to(struct grow *grow, uint32_t dest, const uint16_t *cost)
{
	begin_to(grow, dest, cost);
	return grow_on(grow);
}

bool grow_on(struct grow *grow)
{
	uint32_t n = grow->layered->graph->n;
	bool escapes = false;

	memset(grow->left_out, 0, n * sizeof(*grow->left_out));
	join_others(grow);
	while (find_left_out(grow)) {
		escapes = true;
		turn_escapes(grow);
		begin(grow);
		for (uint32_t sw = 0; sw < n; sw++)
			if (grow->left_out[sw])
				join_escape(grow, sw);
		join_others(grow);
	}
	return escapes;
}

/* ---- what is kept ---- */

/* Where a way leads is not known before its end: a switch joins after all those on it. */
static bool join_kept(struct grow *grow, const struct route_kept *kept, uint32_t sw, uint16_t lid,
		      uint32_t hops)
{
	uint32_t c, to;

	if (is_in(grow, sw))
		return true;
	c = layered_kept_channel(grow->layered, kept, sw, lid);
	if (c == FABRIC_NONE || !hops)
		return false;
	to = grow->layered->channels->to[c];
	if (!join_kept(grow, kept, to, lid, hops - 1))
		return false;
	join(grow, c, MIN(grow->cost[to] + grow->hop_cost[c], GROW_HOP_MAX));
	return true;
}

/* The steps of all that joined, or none of them. */
static bool take_steps(struct grow *grow)
{
	GArray *steps = g_array_new(FALSE, FALSE, sizeof(struct acyclic_step));
	bool good;

	for (uint32_t sw = 0; sw < grow->layered->graph->n; sw++) {
		struct acyclic_step step;

		if (grow->chosen[sw] != FABRIC_NONE && step_of(grow, grow->chosen[sw], &step))
			g_array_append_val(steps, step);
	}
	good = acyclic_add(grow->lane, (const struct acyclic_step *)(const void *)steps->data,
			   steps->len);
	g_array_unref(steps);
	return good;
}

uint32_t grow_kept(struct grow *grow, uint32_t dest, uint16_t lid, const uint16_t *cost)
{
	const struct layered *layered = grow->layered;
	uint32_t n = layered->graph->n, missing = 0;

	for (unsigned int i = 0; i < KEPT_TABLES; i++) {
		missing = 0;
		begin_to(grow, dest, cost);
		for (uint32_t sw = 0; sw < n; sw++)
			if (layered->hops[(size_t)sw * n + dest] != ROUTE_FAR)
				missing += !join_kept(grow, &layered->kept[i], sw, lid, n);
		if ((!missing || i + 1 == KEPT_TABLES) && take_steps(grow))
			return missing;
	}
	begin(grow);
	return MAX(missing, 1);
}
