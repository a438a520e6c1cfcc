// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Channels stand in a topological order, which is repaired where a new step goes against it. The
 * channels between the two of the step that follow the second, or lead to the first, are searched
 * for from both ends in turn, by equal numbers of steps: the searches meet if there is a cycle; if
 * there is none, the side that finishes first is moved past the other channel. That side is mostly
 * a channel or two where the other has hundreds (Bender, Fineman, Gilbert, Tarjan, A new approach
 * to incremental cycle detection and related problems, 2016). The order stays valid when steps are
 * removed.
 *
 * Lanes only fill. A step that closes a cycle now always will, and is remembered, so that each
 * possible step is searched for about once, however many paths need it.
 */
#include "route/layers/acyclic.h"

#include <glib.h>
#include <string.h>

#include "route/graph/bits.h"

/* One of the two searches: forward from the end of a step, or backward from its start. */
struct side {
	uint32_t *found; /* channels */
	uint32_t n, n_done;
	uint64_t work; /* steps examined */
	uint64_t bound; /* the least label past the limit to which a step leads */
};

struct acyclic {
	const struct route_channels *channels;
	/* Bits of steps: */
	uint64_t *has;
	uint64_t *mirror;  /* steps in reverse, for the channels that lead to a channel */
	uint64_t *blocked; /* steps that would close a cycle */
	GArray *blocked_list; /* uint32_t: their numbers */
	uint64_t *label; /* [channel]: its place in the order: less than those of the next */
	struct side side[2]; /* [backward] */
	uint8_t *met;	     /* [channel]: 1 + backward: found by that search; 0: not found */
	GArray *added; /* struct acyclic_step: those of the current acyclic_add() so far */
};

/* ---- the order ---- */

static gint compare_labels(gconstpointer a, gconstpointer b, gpointer data)
{
	const uint64_t *label = data;
	uint64_t x = label[*(const uint32_t *)a], y = label[*(const uint32_t *)b];

	return x < y ? -1 : x > y;
}

/* Spreads channels over the labels between two, in their order; or leaves them unchanged. */
static bool spread_labels(struct acyclic *acyclic, uint32_t *channels, uint32_t n, uint64_t above,
			  uint64_t below)
{
	uint64_t step = (below - above) / (n + 1);

	g_qsort_with_data(channels, n, sizeof(*channels), compare_labels, acyclic->label);
	for (uint32_t i = 0; step && i < n; i++)
		acyclic->label[channels[i]] = above += step;
	return step != 0;
}

/* Makes room between all channels. */
static void spread_all(struct acyclic *acyclic)
{
	uint32_t n = acyclic->channels->n;
	g_autofree uint32_t *all = g_new(uint32_t, n + 1);

	for (uint32_t c = 0; c < n; c++)
		all[c] = c;
	spread_labels(acyclic, all, n, 0, UINT64_MAX);
}

/* ---- new and free ---- */

struct acyclic *acyclic_new(const struct route_channels *channels)
{
	struct acyclic *acyclic = g_new0(struct acyclic, 1);
	uint32_t n = channels->n, words = channels->n_steps / 64 + 1;

	acyclic->channels = channels;
	acyclic->has = g_new0(uint64_t, words);
	acyclic->mirror = g_new0(uint64_t, words);
	acyclic->blocked = g_new0(uint64_t, words);
	acyclic->label = g_new(uint64_t, n + 1);
	acyclic->side[false].found = g_new(uint32_t, n + 1);
	acyclic->side[true].found = g_new(uint32_t, n + 1);
	acyclic->met = g_new0(uint8_t, n + 1);
	acyclic->blocked_list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	acyclic->added = g_array_new(FALSE, FALSE, sizeof(struct acyclic_step));
	for (uint32_t c = 0; c < n; c++)
		acyclic->label[c] = UINT64_MAX / (n + 1) * (c + 1);
	return acyclic;
}

void acyclic_free(struct acyclic *acyclic)
{
	if (!acyclic)
		return;
	g_free(acyclic->has);
	g_free(acyclic->mirror);
	g_free(acyclic->blocked);
	g_free(acyclic->label);
	g_free(acyclic->side[false].found);
	g_free(acyclic->side[true].found);
	g_free(acyclic->met);
	g_array_unref(acyclic->blocked_list);
	g_array_unref(acyclic->added);
	g_free(acyclic);
}

static uint32_t number_of(const struct acyclic *acyclic, struct acyclic_step step)
{
	return route_step_of(acyclic->channels, step.from, step.to);
}

bool acyclic_has(const struct acyclic *acyclic, struct acyclic_step step)
{
	return bits_has(acyclic->has, number_of(acyclic, step));
}

uint32_t acyclic_lacks(const struct acyclic *acyclic, const struct acyclic_step *steps, uint32_t n)
{
	uint32_t lacks = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t number = number_of(acyclic, steps[i]);

		if (bits_has(acyclic->blocked, number))
			return UINT32_MAX;
		lacks += !bits_has(acyclic->has, number);
	}
	return lacks;
}

/* Numbers of the steps from a channel: the step to channel x is base + x. */
struct step_range {
	uint32_t base, first, end;
};

static struct step_range steps_from(const struct route_channels *channels, uint32_t channel)
{
	const uint32_t *first = &channels->first[channels->to[channel]];
	uint32_t base = channels->step_base[channel];

	return (struct step_range){base, base + first[0], base + first[1]};
}

static void put(struct acyclic *acyclic, struct acyclic_step step, bool value)
{
	const uint32_t *back = acyclic->channels->back;
	struct acyclic_step mirror = {back[step.to], back[step.from]};

	bits_put(acyclic->has, number_of(acyclic, step), value);
	bits_put(acyclic->mirror, number_of(acyclic, mirror), value);
}

/* ---- repairing the order ---- */

/* Continues from one channel, up to the label where the other search began; false if they meet. */
static inline bool search_on(struct acyclic *acyclic, bool backward, uint64_t limit)
{
	const struct route_channels *channels = acyclic->channels;
	struct side *side = &acyclic->side[backward];
	uint32_t channel = side->found[side->n_done++];
	struct step_range range =
		steps_from(channels, backward ? channels->back[channel] : channel);
	const uint64_t *bits = backward ? acyclic->mirror : acyclic->has;

	bits_each(bits, range.first, range.end, step) {
		uint32_t to = step - range.base, next = backward ? channels->back[to] : to;
		uint64_t label = acyclic->label[next];

		side->work++;
		if (acyclic->met[next] == 2 - backward)
			return false;
		if (acyclic->met[next])
			continue;
		if (backward ? label < limit : label > limit) {
			side->bound = backward ? MAX(side->bound, label) : MIN(side->bound, label);
			continue;
		}
		acyclic->met[next] = 1 + backward;
		side->found[side->n++] = next;
	}
	return true;
}

/* Searches until one of the two sides has finished; false if they meet. */
static bool search(struct acyclic *acyclic, struct acyclic_step step)
{
	struct side *sides = acyclic->side;
	const uint32_t start[2] = {step.to, step.from};
	bool good = true;

	for (unsigned int i = 0; i < 2; i++) {
		sides[i].found[0] = start[i];
		sides[i].n = 1;
		sides[i].n_done = sides[i].work = 0;
		sides[i].bound = i ? 0 : UINT64_MAX;
		acyclic->met[start[i]] = 1 + i;
	}
	while (good && sides[false].n_done < sides[false].n && sides[true].n_done < sides[true].n)
		good = sides[false].work <= sides[true].work
			       ? search_on(acyclic, false, acyclic->label[step.from])
			       : search_on(acyclic, true, acyclic->label[step.to]);
	for (unsigned int i = 0; i < 2; i++)
		for (uint32_t k = 0; k < sides[i].n; k++)
			acyclic->met[sides[i].found[k]] = 0;
	return good;
}

/* Makes room for a step; false if it closes a cycle. */
static bool mend(struct acyclic *acyclic, struct acyclic_step step)
{
	const struct side *forward = &acyclic->side[false], *backward = &acyclic->side[true];
	const uint64_t *label = acyclic->label;

	while (label[step.from] >= label[step.to]) {
		if (!search(acyclic, step))
			return false;
		if (!(forward->n_done == forward->n
			      ? spread_labels(acyclic, forward->found, forward->n, label[step.from],
					      forward->bound)
			      : spread_labels(acyclic, backward->found, backward->n,
					      backward->bound, label[step.to])))
			spread_all(acyclic);
	}
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

	if (acyclic_lacks(acyclic, steps, n) == UINT32_MAX)
		return false;
	g_array_set_size(acyclic->added, 0);
	while (i < n && add_step(acyclic, steps[i]))
		i++;
	if (i == n)
		return true;
	added = (const struct acyclic_step *)(const void *)acyclic->added->data;
	for (guint k = 0; k < acyclic->added->len; k++)
		put(acyclic, added[k], false);
	g_array_set_size(acyclic->added, 0);
	if (!mend(acyclic, steps[i])) { /* without those added together with it */
		uint32_t number = number_of(acyclic, steps[i]);

		bits_put(acyclic->blocked, number, true);
		g_array_append_val(acyclic->blocked_list, number);
	}
	return false;
}

const struct acyclic_step *acyclic_added(const struct acyclic *acyclic, uint32_t *n)
{
	*n = acyclic->added->len;
	return (const struct acyclic_step *)(const void *)acyclic->added->data;
}

/* What closed a cycle with them may not do so any more. */
void acyclic_remove(struct acyclic *acyclic, const struct acyclic_step *steps, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		put(acyclic, steps[i], false);
	if (!n)
		return;
	for (guint i = 0; i < acyclic->blocked_list->len; i++)
		bits_put(acyclic->blocked, g_array_index(acyclic->blocked_list, uint32_t, i),
			 false);
	g_array_set_size(acyclic->blocked_list, 0);
}

/* ---- all steps at once ---- */

void acyclic_note(struct acyclic *acyclic, struct acyclic_step step)
{
	uint32_t number = number_of(acyclic, step);
	uint64_t *word = &acyclic->has[number / 64], bit = UINT64_C(1) << number % 64;

	if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit))
		__atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}

/*
 * A depth-first search: its path is in side[false].found, and for each channel there,
 * side[true].found holds the channel at which to continue. Finished channels are marked as met, and
 * get labels below those of all channels finished earlier, of which label is the last.
 */
static uint64_t sort_from(struct acyclic *acyclic, uint32_t next, uint64_t label)
{
	const struct route_channels *channels = acyclic->channels;
	uint32_t *path = acyclic->side[false].found, *on = acyclic->side[true].found, n = 0;

	for (;;) {
		struct step_range range;

		if (!acyclic->met[next]) {
			acyclic->met[next] = 1;
			path[n] = next;
			on[n++] = steps_from(channels, next).first;
		}
		range = steps_from(channels, path[n - 1]);
		on[n - 1] = bits_next(acyclic->has, on[n - 1], range.end);
		if (on[n - 1] < range.end) {
			next = on[n - 1]++ - range.base;
			continue;
		}
		acyclic->label[path[--n]] = label -= UINT64_MAX / (channels->n + 1);
		if (!n)
			return label;
	}
}

/* Whether all steps agree with the order, which then has no others. */
static bool agrees(struct acyclic *acyclic)
{
	for (uint32_t c = 0; c < acyclic->channels->n; c++)
		route_each_step(acyclic->channels, c, next) {
			struct acyclic_step step = {c, next};

			if (!acyclic_has(acyclic, step))
				continue;
			if (acyclic->label[next] < acyclic->label[c])
				return false;
			put(acyclic, step, true);
		}
	return true;
}

bool acyclic_sort(struct acyclic *acyclic)
{
	uint32_t n = acyclic->channels->n;
	uint64_t label = UINT64_MAX;

	for (uint32_t c = 0; c < n; c++)
		if (!acyclic->met[c])
			label = sort_from(acyclic, c, label);
	memset(acyclic->met, 0, n);
	return agrees(acyclic);
}
