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
#include <stdlib.h>
#include <string.h>

#include "route/bits.h"

#define OUTS 256

/* Channels that leave one switch, by their index there. */
struct bits {
	uint64_t word[OUTS / 64];
};

struct acyclic {
	const struct route_channels *channels;
	struct bits *out;     /* [channel]: next ones, by their index at the switch it leads to */
	struct bits *in;      /* [channel]: ones before, by the index there of the way back */
	struct bits *blocked; /* as out: steps that would close a cycle */
	uint32_t *place, *at; /* [channel], and the other way round */
	uint32_t *forward, *backward; /* channels found in a search */
	uint32_t n_forward, n_backward;
	bool *found;   /* [channel]: by the search at hand */
	GArray *added; /* struct acyclic_step: so far, of those to be added together */
};

struct acyclic *acyclic_new(const struct route_channels *channels, const struct acyclic *like)
{
	struct acyclic *acyclic = g_new0(struct acyclic, 1);
	uint32_t n = channels->n;

	acyclic->channels = channels;
	acyclic->out = g_new0(struct bits, n + 1);
	acyclic->in = g_new0(struct bits, n + 1);
	acyclic->blocked = g_new0(struct bits, n + 1);
	acyclic->place = g_new(uint32_t, n + 1);
	acyclic->at = g_new(uint32_t, n + 1);
	acyclic->forward = g_new(uint32_t, n + 1);
	acyclic->backward = g_new(uint32_t, n + 1);
	acyclic->found = g_new0(bool, n + 1);
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
	g_array_unref(acyclic->added);
	g_free(acyclic);
}

static uint32_t index_of(const struct acyclic *acyclic, uint32_t channel)
{
	return channel - acyclic->channels->first[acyclic->channels->from[channel]];
}

bool acyclic_has(const struct acyclic *acyclic, struct acyclic_step step)
{
	return bits_has(acyclic->out[step.from].word, index_of(acyclic, step.to));
}

static void put(struct acyclic *acyclic, struct acyclic_step step, bool value)
{
	bits_put(acyclic->out[step.from].word, index_of(acyclic, step.to), value);
	bits_put(acyclic->in[step.to].word, index_of(acyclic, acyclic->channels->back[step.from]),
		 value);
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

		for (unsigned int w = 0; w < OUTS / 64; w++)
			for (uint64_t rest = acyclic->out[channel].word[w]; rest;
			     rest &= rest - 1) {
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

		for (unsigned int w = 0; w < OUTS / 64; w++)
			for (uint64_t rest = acyclic->in[channel].word[w]; rest; rest &= rest - 1) {
				uint32_t back = first + w * 64 + __builtin_ctzll(rest);
				uint32_t before = channels->back[back];

				if (acyclic->place[before] > least)
					find(acyclic, before, acyclic->backward,
					     &acyclic->n_backward);
			}
	}
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* A list of channels becomes that of their places, ascending. */
static void sort_places(const struct acyclic *acyclic, uint32_t *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		list[i] = acyclic->place[list[i]];
	qsort(list, n, sizeof(*list), compare);
}

/* What was found backward takes the first of all the places, each list in the order that it had. */
static void reorder(struct acyclic *acyclic)
{
	uint32_t n_back = acyclic->n_backward, n = n_back + acyclic->n_forward;
	g_autofree uint32_t *movers = g_new(uint32_t, n), *places = g_new(uint32_t, n);

	sort_places(acyclic, acyclic->backward, n_back);
	sort_places(acyclic, acyclic->forward, acyclic->n_forward);
	for (uint32_t i = 0; i < n; i++)
		movers[i] = acyclic->at[i < n_back ? acyclic->backward[i]
						   : acyclic->forward[i - n_back]];
	for (uint32_t i = 0, back = 0, ahead = 0; i < n; i++)
		if (ahead == acyclic->n_forward ||
		    (back < n_back && acyclic->backward[back] < acyclic->forward[ahead]))
			places[i] = acyclic->backward[back++];
		else
			places[i] = acyclic->forward[ahead++];
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

bool acyclic_add(struct acyclic *acyclic, const struct acyclic_step *steps, uint32_t n)
{
	const struct acyclic_step *added;
	uint32_t i = 0;

	for (uint32_t k = 0; k < n; k++)
		if (bits_has(acyclic->blocked[steps[k].from].word, index_of(acyclic, steps[k].to)))
			return false;
	g_array_set_size(acyclic->added, 0);
	while (i < n && add_step(acyclic, steps[i]))
		i++;
	if (i == n)
		return true;
	added = (const struct acyclic_step *)(const void *)acyclic->added->data;
	for (guint k = 0; k < acyclic->added->len; k++)
		put(acyclic, added[k], false);
	if (!mend(acyclic, steps[i])) /* also without those that were added together with it */
		bits_put(acyclic->blocked[steps[i].from].word, index_of(acyclic, steps[i].to),
			 true);
	return false;
}

/* ---- all at once ---- */

void acyclic_note(struct acyclic *acyclic, struct acyclic_step step)
{
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

		last->next = bits_next(acyclic->out[last->channel].word, last->next, OUTS);
		if (last->next == OUTS) {
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
		bits_each(acyclic->out[c].word, OUTS, k)
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
