// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Channels stand in a topological order, which is mended where a new step goes against it (Pearce
 * and Kelly, A dynamic topological sort algorithm for directed acyclic graphs, 2006): only channels
 * whose places lie between the two are looked at. Taking steps out leaves the order right.
 *
 * Lanes only fill. A step that closes a cycle now always will, and is remembered, so that each
 * possible step is searched for about once however many paths ask for it.
 */
#include "route/acyclic.h"

#include <glib.h>
#include <string.h>

#include "route/bits.h"

struct acyclic {
	const struct route_channels *channels;
	uint32_t outs; /* bits for the channels that leave one switch, in whole words */
	/* [channel * outs / 64] */
	uint64_t *out;	   /* next ones, by their index at the switch it leads to */
	uint64_t *in;	   /* ones before, by the index there of the way back */
	uint64_t *blocked; /* as out: steps that would close a cycle */
	uint32_t *place, *at; /* [channel], and the other way round */
	uint32_t *forward, *backward; /* channels found in a search */
	uint32_t n_forward, n_backward;
	bool *found;   /* [channel]: by the search at hand */
	uint32_t *movers, *places; /* scratch of reorder() */
	uint64_t *marks; /* places; none between calls of sort_places() */
	GArray *added; /* struct acyclic_step: so far, of those to be added together */
};

static uint32_t count_outs(const struct route_channels *channels)
{
	uint32_t most = 1;

	for (uint32_t c = 0; c < channels->n; c++)
		most = MAX(most, c + 1 - channels->first[channels->from[c]]);
	return (most + 63) / 64 * 64;
}

static uint64_t *row(const struct acyclic *acyclic, uint64_t *bits, uint32_t channel)
{
	return bits + (size_t)channel * (acyclic->outs / 64);
}

struct acyclic *acyclic_new(const struct route_channels *channels, const struct acyclic *like)
{
	struct acyclic *acyclic = g_new0(struct acyclic, 1);
	uint32_t n = channels->n;

	acyclic->channels = channels;
	acyclic->outs = count_outs(channels);
	acyclic->out = g_new0(uint64_t, (size_t)n * acyclic->outs / 64 + 1);
	acyclic->in = g_new0(uint64_t, (size_t)n * acyclic->outs / 64 + 1);
	acyclic->blocked = g_new0(uint64_t, (size_t)n * acyclic->outs / 64 + 1);
	acyclic->place = g_new(uint32_t, n + 1);
	acyclic->at = g_new(uint32_t, n + 1);
	acyclic->forward = g_new(uint32_t, n + 1);
	acyclic->backward = g_new(uint32_t, n + 1);
	acyclic->found = g_new0(bool, n + 1);
	acyclic->movers = g_new(uint32_t, n + 1);
	acyclic->places = g_new(uint32_t, n + 1);
	acyclic->marks = g_new0(uint64_t, n / 64 + 1);
	acyclic->added = g_array_new(FALSE, FALSE, sizeof(struct acyclic_step));
	for (uint32_t place = 0; place < n; place++) {
		acyclic->at[place] = like ? like->at[place] : place;
		acyclic->place[acyclic->at[place]] = place;
	}
	return acyclic;
}

void acyclic_free(struct acyclic *acyclic)
{
	if (!acyclic)
		return;
	g_free(acyclic->out);
	g_free(acyclic->in);
	g_free(acyclic->blocked);
	g_free(acyclic->place);
	g_free(acyclic->at);
	g_free(acyclic->forward);
	g_free(acyclic->backward);
	g_free(acyclic->found);
	g_free(acyclic->movers);
	g_free(acyclic->places);
	g_free(acyclic->marks);
	g_array_unref(acyclic->added);
	g_free(acyclic);
}

static uint32_t index_of(const struct acyclic *acyclic, uint32_t channel)
{
	return channel - acyclic->channels->first[acyclic->channels->from[channel]];
}

bool acyclic_has(const struct acyclic *acyclic, struct acyclic_step step)
{
	return bits_has(row(acyclic, acyclic->out, step.from), index_of(acyclic, step.to));
}

static void put(struct acyclic *acyclic, struct acyclic_step step, bool value)
{
	uint32_t back = acyclic->channels->back[step.from];

	bits_put(row(acyclic, acyclic->out, step.from), index_of(acyclic, step.to), value);
	bits_put(row(acyclic, acyclic->in, step.to), index_of(acyclic, back), value);
}

/* ---- mending the order ---- */

static void find(struct acyclic *acyclic, uint32_t channel, uint32_t *list, uint32_t *n)
{
	if (acyclic->found[channel])
		return;
	acyclic->found[channel] = true;
	list[(*n)++] = channel;
}

/* What follows a channel, up to a place. False: the channel there does. */
static bool search_forward(struct acyclic *acyclic, uint32_t start, uint32_t last)
{
	const struct route_channels *channels = acyclic->channels;

	find(acyclic, start, acyclic->forward, &acyclic->n_forward);
	for (uint32_t i = 0; i < acyclic->n_forward; i++) {
		uint32_t channel = acyclic->forward[i];
		uint32_t first = channels->first[channels->to[channel]];
		const uint64_t *out = row(acyclic, acyclic->out, channel);

		for (unsigned int w = 0; w < acyclic->outs / 64; w++)
			for (uint64_t rest = out[w]; rest; rest &= rest - 1) {
				uint32_t next = first + w * 64 + __builtin_ctzll(rest);

				if (acyclic->place[next] == last)
					return false;
				if (acyclic->place[next] < last)
					find(acyclic, next, acyclic->forward, &acyclic->n_forward);
			}
	}
	return true;
}

/* What comes before a channel, down to a place. */
static void search_backward(struct acyclic *acyclic, uint32_t start, uint32_t least)
{
	const struct route_channels *channels = acyclic->channels;

	find(acyclic, start, acyclic->backward, &acyclic->n_backward);
	for (uint32_t i = 0; i < acyclic->n_backward; i++) {
		uint32_t channel = acyclic->backward[i];
		uint32_t first = channels->first[channels->from[channel]];
		const uint64_t *in = row(acyclic, acyclic->in, channel);

		for (unsigned int w = 0; w < acyclic->outs / 64; w++)
			for (uint64_t rest = in[w]; rest; rest &= rest - 1) {
				uint32_t back = first + w * 64 + __builtin_ctzll(rest);
				uint32_t before = channels->back[back];

				if (acyclic->place[before] > least)
					find(acyclic, before, acyclic->backward,
					     &acyclic->n_backward);
			}
	}
}

/* The places of these channels, ascending. */
static void sort_places(struct acyclic *acyclic, const uint32_t *channels, uint32_t n,
			uint32_t *places)
{
	uint32_t least = UINT32_MAX, last = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t place = acyclic->place[channels[i]];

		bits_put(acyclic->marks, place, true);
		least = MIN(least, place / 64);
		last = MAX(last, place / 64);
	}
	for (uint32_t w = least; n && w <= last; w++)
		for (uint64_t *mark = &acyclic->marks[w]; *mark; *mark &= *mark - 1)
			*places++ = w * 64 + __builtin_ctzll(*mark);
}

/* What was found backward takes the first of all the places, each list in the order that it had. */
static void reorder(struct acyclic *acyclic)
{
	uint32_t n_back = acyclic->n_backward, n = n_back + acyclic->n_forward;
	uint32_t *movers = acyclic->movers, *places = acyclic->places;

	sort_places(acyclic, acyclic->backward, n_back, places);
	sort_places(acyclic, acyclic->forward, acyclic->n_forward, places + n_back);
	for (uint32_t i = 0; i < n; i++)
		movers[i] = acyclic->at[places[i]];
	sort_places(acyclic, movers, n, places);
	for (uint32_t i = 0; i < n; i++) {
		acyclic->found[movers[i]] = false;
		acyclic->place[movers[i]] = places[i];
		acyclic->at[places[i]] = movers[i];
	}
}

/* Makes room for a step; false if it closes a cycle. */
static bool mend(struct acyclic *acyclic, struct acyclic_step step)
{
	uint32_t least = acyclic->place[step.to], last = acyclic->place[step.from];

	if (last < least)
		return true;
	acyclic->n_forward = acyclic->n_backward = 0;
	if (!search_forward(acyclic, step.to, last)) {
		for (uint32_t i = 0; i < acyclic->n_forward; i++)
			acyclic->found[acyclic->forward[i]] = false;
		return false;
	}
	search_backward(acyclic, step.from, least);
	reorder(acyclic);
	return true;
}

/* ---- steps ---- */

static bool is_blocked(const struct acyclic *acyclic, struct acyclic_step step)
{
	return bits_has(row(acyclic, acyclic->blocked, step.from), index_of(acyclic, step.to));
}

static bool add_step(struct acyclic *acyclic, struct acyclic_step step)
{
	if (acyclic_has(acyclic, step))
		return true;
	if (!mend(acyclic, step))
		return false;
	put(acyclic, step, true);
	g_array_append_val(acyclic->added, step);
	return true;
}

/* Without those that were added together with it. */
static void remember(struct acyclic *acyclic, struct acyclic_step step)
{
	if (!mend(acyclic, step))
		bits_put(row(acyclic, acyclic->blocked, step.from), index_of(acyclic, step.to),
			 true);
}

bool acyclic_add(struct acyclic *acyclic, const struct acyclic_step *steps, uint32_t n)
{
	const struct acyclic_step *added;
	uint32_t i = 0;

	for (uint32_t k = 0; k < n; k++)
		if (is_blocked(acyclic, steps[k]))
			return false;
	g_array_set_size(acyclic->added, 0);
	while (i < n && add_step(acyclic, steps[i]))
		i++;
	if (i == n)
		return true;
	added = (const struct acyclic_step *)(const void *)acyclic->added->data;
	for (guint k = 0; k < acyclic->added->len; k++)
		put(acyclic, added[k], false);
	remember(acyclic, steps[i]);
	return false;
}

/* ---- all at once ---- */

void acyclic_note(struct acyclic *acyclic, struct acyclic_step step)
{
	if (!acyclic_has(acyclic, step))
		put(acyclic, step, true);
}

/* A channel on the path of a depth-first search, and where to go on in what follows it. */
struct visit {
	uint32_t channel, next;
};

/* Gives places from the last downwards to what is done, which is marked as found. */
static void sort_from(struct acyclic *acyclic, uint32_t start, GArray *path, uint32_t *left)
{
	const struct route_channels *channels = acyclic->channels;
	struct visit visit = {start, 0};

	acyclic->found[start] = true;
	g_array_append_val(path, visit);
	while (path->len) {
		struct visit *last = &g_array_index(path, struct visit, path->len - 1);

		last->next = bits_next(row(acyclic, acyclic->out, last->channel), last->next,
				       acyclic->outs);
		if (last->next == acyclic->outs) {
			acyclic->place[last->channel] = --*left;
			acyclic->at[*left] = last->channel;
			g_array_set_size(path, path->len - 1);
			continue;
		}
		visit.channel = channels->first[channels->to[last->channel]] + last->next++;
		if (!acyclic->found[visit.channel]) {
			acyclic->found[visit.channel] = true;
			g_array_append_val(path, visit);
		}
	}
}

static bool agrees(const struct acyclic *acyclic)
{
	const struct route_channels *channels = acyclic->channels;

	for (uint32_t c = 0; c < channels->n; c++)
		bits_each(row(acyclic, acyclic->out, c), acyclic->outs, k)
			if (acyclic->place[channels->first[channels->to[c]] + k] <
			    acyclic->place[c])
				return false;
	return true;
}

bool acyclic_sort(struct acyclic *acyclic)
{
	GArray *path = g_array_new(FALSE, FALSE, sizeof(struct visit));
	uint32_t n = acyclic->channels->n, left = n;

	for (uint32_t c = 0; c < n; c++)
		if (!acyclic->found[c])
			sort_from(acyclic, c, path, &left);
	memset(acyclic->found, 0, n * sizeof(*acyclic->found));
	g_array_unref(path);
	return agrees(acyclic);
}
