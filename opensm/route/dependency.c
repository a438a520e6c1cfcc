// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Channel dependencies as one bit set of 256 exit ports a channel, and the search for a cycle. */
#include "route/dependency.h"

#include <string.h>

#include "route/bits.h"

#define NO_PORT 0xFF /* it leads nowhere, whatever ports a switch has */

/* Exit ports of a switch. */
struct ports {
	uint64_t word[4];
};

struct dependency {
	uint32_t n_switches, n; /* channels, those that lead to no switch included */
	const uint32_t *first, *across;
	struct ports *wants; /* [channel]: exit ports of the next switch */
};

struct dependency *dependency_new(uint32_t n_switches, const uint32_t *first,
				  const uint32_t *across)
{
	struct dependency *dependency = g_new0(struct dependency, 1);

	dependency->n_switches = n_switches;
	dependency->n = first[n_switches];
	dependency->first = first;
	dependency->across = across;
	dependency->wants = g_new0(struct ports, dependency->n + 1);
	return dependency;
}

void dependency_free(struct dependency *dependency)
{
	if (!dependency)
		return;
	g_free(dependency->wants);
	g_free(dependency);
}

static struct ports *wants_of(struct dependency *dependency, uint32_t sw, uint8_t port)
{
	return &dependency->wants[dependency->first[sw] + port];
}

void dependency_add_wanted(struct dependency *dependency, uint32_t sw, uint8_t port,
			   const uint8_t wanted[256])
{
	struct ports *wants = wants_of(dependency, sw, port);

	for (unsigned int first = 0; first < 256; first += 8) {
		uint64_t eight;

		memcpy(&eight, wanted + first, 8);
		for (unsigned int out = first; eight && out < first + 8; out++)
			wants->word[out / 64] |= (uint64_t)(wanted[out] != 0) << out % 64;
	}
}

void dependency_add(struct dependency *dependency, uint32_t sw, uint8_t port, uint8_t out)
{
	bits_put(wants_of(dependency, sw, port)->word, out, true);
}

void dependency_add_all(struct dependency *dependency, const struct dependency *other)
{
	for (uint32_t channel = 0; channel < dependency->n; channel++)
		for (unsigned int w = 0; w < 4; w++)
			dependency->wants[channel].word[w] |= other->wants[channel].word[w];
}

/* A node on the path of the depth-first search, and where to go on in what follows it. */
struct step {
	uint32_t node, bit;
};

static void push(GArray *path, uint8_t *colour, uint32_t node)
{
	struct step step = {node, 0};

	colour[node] = 1;
	g_array_append_val(path, step);
}

/* Searches from one node. Colours: 0 new, 1 on the path, 2 done. Where a cycle closes, or NONE. */
static uint32_t search_from(const void *graph, dependency_next_fn *next_of, uint32_t start,
			    uint8_t *colour, GArray *path)
{
	push(path, colour, start);
	while (path->len) {
		struct step *step = &g_array_index(path, struct step, path->len - 1);
		uint32_t next = next_of(graph, step->node, &step->bit);

		if (next == DEPENDENCY_NONE) {
			colour[step->node] = 2;
			g_array_set_size(path, path->len - 1);
		} else if (colour[next] == 1) {
			return next;
		} else if (colour[next] == 0) {
			push(path, colour, next);
		}
	}
	return DEPENDENCY_NONE;
}

static struct dependency_channel channel_name(const uint32_t *first, uint32_t n_switches,
					      uint32_t channel)
{
	uint32_t low = 0, high = n_switches;

	while (high - low > 1) {
		uint32_t mid = (low + high) / 2;

		if (first[mid] <= channel)
			low = mid;
		else
			high = mid;
	}
	return (struct dependency_channel){ low, channel - first[low] };
}

GArray *dependency_search(uint32_t n_switches, const uint32_t *first, uint32_t lanes,
			  const void *graph, dependency_next_fn *next_of)
{
	g_autoptr(GArray) path = g_array_new(FALSE, FALSE, sizeof(struct step));
	uint32_t n = first[n_switches] * lanes, closing = DEPENDENCY_NONE;
	g_autofree uint8_t *colour = g_malloc0(n + 1);
	bool on = false;
	GArray *cycle;

	for (uint32_t node = 0; node < n && closing == DEPENDENCY_NONE; node++)
		if (!colour[node])
			closing = search_from(graph, next_of, node, colour, path);
	if (closing == DEPENDENCY_NONE)
		return NULL;
	cycle = g_array_new(FALSE, FALSE, sizeof(struct dependency_channel));
	for (uint32_t i = 0; i < path->len; i++) {
		uint32_t node = g_array_index(path, struct step, i).node;
		struct dependency_channel name = channel_name(first, n_switches, node / lanes);

		on |= node == closing;
		if (on)
			g_array_append_val(cycle, name);
	}
	return cycle;
}

static uint32_t next_channel(const void *graph, uint32_t channel, uint32_t *out)
{
	const struct dependency *dependency = graph;
	const uint32_t *first = dependency->first, *across = dependency->across;
	uint32_t sw = across[channel];

	while (sw != FABRIC_NONE) {
		uint32_t next;

		*out = bits_next(dependency->wants[channel].word, *out, NO_PORT);
		next = first[sw] + *out;
		if (*out == NO_PORT || next >= first[sw + 1])
			break;
		++*out;
		if (across[next] != FABRIC_NONE)
			return next;
	}
	return DEPENDENCY_NONE;
}

GArray *dependency_cycle(const struct dependency *dependency)
{
	return dependency_search(dependency->n_switches, dependency->first, 1, dependency,
				 next_channel);
}
