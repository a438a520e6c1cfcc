// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Channel dependencies as one bit set of 256 exit ports a channel, and the search for a cycle. */
#include "route/dependency.h"

#include <string.h>

#define NO_CHANNEL UINT32_MAX

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
	wants_of(dependency, sw, port)->word[out / 64] |= UINT64_C(1) << out % 64;
}

void dependency_add_all(struct dependency *dependency, const struct dependency *other)
{
	for (uint32_t channel = 0; channel < dependency->n; channel++)
		for (unsigned int w = 0; w < 4; w++)
			dependency->wants[channel].word[w] |= other->wants[channel].word[w];
}

/* A channel on the path of the depth-first search, and what of its wants is still to be tried. */
struct step {
	uint32_t channel;
	struct ports rest;
};

/* The next channel to try from this step that leads to a switch, or NO_CHANNEL. */
static uint32_t next_channel(const struct dependency *dependency, struct step *step)
{
	uint32_t sw = dependency->across[step->channel];

	for (unsigned int w = 0; w < 4; w++) {
		while (step->rest.word[w]) {
			unsigned int bit = __builtin_ctzll(step->rest.word[w]);
			unsigned int out = w * 64 + bit;
			uint32_t channel = dependency->first[sw] + out;

			step->rest.word[w] &= step->rest.word[w] - 1;
			if (out != 0xFF && channel < dependency->first[sw + 1] &&
			    dependency->across[channel] != FABRIC_NONE)
				return channel;
		}
	}
	return NO_CHANNEL;
}

static void push(const struct dependency *dependency, GArray *path, uint8_t *colour,
		 uint32_t channel)
{
	struct step step = { channel, dependency->wants[channel] };

	if (dependency->across[channel] == FABRIC_NONE)
		step.rest = (struct ports){{0}};
	colour[channel] = 1;
	g_array_append_val(path, step);
}

/* Searches from one channel. Colours: 0 new, 1 on the path, 2 done. True: the cycle ends path. */
static bool search_from(const struct dependency *dependency, uint32_t start, uint8_t *colour,
			GArray *path, uint32_t *closing)
{
	push(dependency, path, colour, start);
	while (path->len) {
		struct step *step = &g_array_index(path, struct step, path->len - 1);
		uint32_t next = next_channel(dependency, step);

		if (next == NO_CHANNEL) {
			colour[step->channel] = 2;
			g_array_set_size(path, path->len - 1);
		} else if (colour[next] == 1) {
			*closing = next;
			return true;
		} else if (colour[next] == 0) {
			push(dependency, path, colour, next);
		}
	}
	return false;
}

static struct dependency_channel channel_name(const struct dependency *dependency, uint32_t channel)
{
	uint32_t low = 0, high = dependency->n_switches;

	while (high - low > 1) {
		uint32_t mid = (low + high) / 2;

		if (dependency->first[mid] <= channel)
			low = mid;
		else
			high = mid;
	}
	return (struct dependency_channel){ low, channel - dependency->first[low] };
}

static GArray *cycle_of(const struct dependency *dependency, const GArray *path, uint32_t closing)
{
	GArray *cycle = g_array_new(FALSE, FALSE, sizeof(struct dependency_channel));
	uint32_t i = path->len;

	while (g_array_index(path, struct step, --i).channel != closing)
		;
	for (; i < path->len; i++) {
		struct dependency_channel name =
			channel_name(dependency, g_array_index(path, struct step, i).channel);

		g_array_append_val(cycle, name);
	}
	return cycle;
}

GArray *dependency_cycle(const struct dependency *dependency)
{
	GArray *path = g_array_new(FALSE, FALSE, sizeof(struct step)), *cycle = NULL;
	uint8_t *colour = g_malloc0(dependency->n + 1);
	uint32_t closing = NO_CHANNEL;

	for (uint32_t c = 0; c < dependency->n && !cycle; c++)
		if (!colour[c] && search_from(dependency, c, colour, path, &closing))
			cycle = cycle_of(dependency, path, closing);
	g_array_unref(path);
	g_free(colour);
	return cycle;
}
