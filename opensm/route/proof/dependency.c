// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Channel dependencies. Sets that are never written take no memory. */
#include "route/graph/bits.h"
#include "route/proof/verify.h"
#include "route/value/lanes.h"

#define NONE UINT32_MAX

static size_t n_words(const struct dependency *dependency)
{
	return (size_t)dependency->n * (dependency->n_outs / 64);
}

struct dependency *dependency_new(const struct verify *verify)
{
	struct dependency *dependency = g_new0(struct dependency, 1);

	dependency->verify = verify;
	dependency->n_channels = verify->first[verify->graph->n];
	dependency->n = dependency->n_channels * (verify->routing->lanes ? ROUTE_SLS : 1);
	dependency->n_outs = 256 * (routing_has_turns(verify->routing) ? ROUTE_SLS : 1);
	dependency->wants = g_new0(uint64_t, n_words(dependency) + 1);
	return dependency;
}

void dependency_free(struct dependency *dependency)
{
	if (!dependency)
		return;
	g_free(dependency->wants);
	g_free(dependency);
}

static uint64_t *wants_of(const struct dependency *dependency, uint32_t node)
{
	return &dependency->wants[(size_t)node * (dependency->n_outs / 64)];
}

uint16_t dependency_vls(const struct dependency *dependency)
{
	uint16_t vls = 0;

	for (uint32_t node = 0; node < dependency->n; node++)
		if (bits_next(wants_of(dependency, node), 0, dependency->n_outs) <
		    dependency->n_outs)
			vls |= 1u << node / dependency->n_channels;
	return vls;
}

/* ---- the search for a cycle ---- */

/* A node on the path of the depth-first search, and where to continue among its outs. */
struct step {
	uint32_t node, bit;
};

/* The next node after a node, from the bit on, which moves past it; or NONE. */
static uint32_t next_node(const struct dependency *dependency, struct step *step)
{
	const struct verify *verify = dependency->verify;
	uint32_t own = step->node / dependency->n_channels;
	uint32_t sw = verify->to[step->node % dependency->n_channels];

	bits_each(wants_of(dependency, step->node), step->bit, dependency->n_outs, bit) {
		uint32_t vl = dependency->n_outs > 256 ? bit / 256 : own;

		step->bit = bit + 1;
		if (verify_across(verify, sw, bit % 256) != FABRIC_NONE)
			return vl * dependency->n_channels + verify->first[sw] + bit % 256;
	}
	return NONE;
}

static void push(GArray *path, uint8_t *colour, uint32_t node)
{
	struct step step = {node, 0};

	colour[node] = 1;
	g_array_append_val(path, step);
}

/* Searches from one node. Colours: 0 new, 1 on the path, 2 done. Where a cycle closes, or NONE. */
static uint32_t search_from(const struct dependency *dependency, uint32_t start, uint8_t *colour,
			    GArray *path)
{
	push(path, colour, start);
	while (path->len) {
		struct step *step = &g_array_index(path, struct step, path->len - 1);
		uint32_t next = next_node(dependency, step);

		if (next == NONE) {
			colour[step->node] = 2;
			g_array_set_size(path, path->len - 1);
		} else if (colour[next] == 1) {
			return next;
		} else if (colour[next] == 0) {
			push(path, colour, next);
		}
	}
	return NONE;
}

GArray *dependency_cycle(const struct dependency *dependency)
{
	g_autoptr(GArray) path = g_array_new(FALSE, FALSE, sizeof(struct step));
	g_autofree uint8_t *colour = g_malloc0(dependency->n + 1);
	uint32_t closing = NONE;
	bool on = false;
	GArray *cycle;

	for (uint32_t node = 0; node < dependency->n && closing == NONE; node++)
		if (!colour[node])
			closing = search_from(dependency, node, colour, path);
	if (closing == NONE)
		return NULL;
	cycle = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = 0; i < path->len; i++) {
		uint32_t node = g_array_index(path, struct step, i).node;
		uint32_t channel = node % dependency->n_channels;

		on |= node == closing;
		if (on)
			g_array_append_val(cycle, channel);
	}
	return cycle;
}
