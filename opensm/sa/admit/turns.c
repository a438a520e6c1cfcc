// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Turns of sources at a pool: see turns.h.
 *
 * A source has a virtual time: the nanoseconds spent on it. When one of its queries is handed out
 * it is charged the recent average; when the query is done, the actual cost. A source that comes
 * back cannot claim the time in which it asked nothing: it starts where the sources being served
 * are. What it overdrew it still owes, as long as it is remembered.
 */
#include "sa/admit/turns.h"

#include <glib.h>

#include "complib/heap.h"

#define FIRST_NS 100000 /* expected cost of a source's first query */
#define BUSY_NS 500000	/* expected work handed out at a time per thread, */
#define BUSY_MIN 2	/* or this many queries */
#define REMEMBERED 8192 /* sources in debt, at most */

struct source {
	struct sa_turn *first, **last; /* waiting */
	unsigned int waiting, running;
	uint64_t spent_ns;   /* virtual time */
	uint64_t average_ns; /* of its queries */
	size_t place;	     /* in the heap, while queries wait */
};

struct sa_turns {
	unsigned int threads, waiting, running;
	uint64_t running_ns; /* expected cost of what runs */
	uint64_t now_ns;     /* virtual time of the source that was served last */
	GHashTable *sources; /* struct source by LID */
	struct heap next;
	void (*run)(void *arg, struct sa_turn *turn);
	void *arg;
};

/* Its virtual time after its next query: cheap queries overtake expensive ones. */
static uint64_t end_of(const struct source *source)
{
	return source->spent_ns + source->average_ns;
}

static bool is_before(const void *a, const void *b)
{
	return end_of(a) < end_of(b);
}

static size_t *place_of(void *source)
{
	return &((struct source *)source)->place;
}

struct sa_turns *sa_turns_new(unsigned int threads, void (*run)(void *arg, struct sa_turn *turn),
			      void *arg)
{
	struct sa_turns *turns = g_new0(struct sa_turns, 1);

	turns->threads = threads;
	turns->run = run;
	turns->arg = arg;
	turns->sources = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	heap_init(&turns->next, is_before, place_of);
	return turns;
}

void sa_turns_free(struct sa_turns *turns, void (*drop)(struct sa_turn *turn))
{
	struct source *source;

	while ((source = heap_top(&turns->next))) {
		heap_remove(&turns->next, source);
		while (source->first) {
			struct sa_turn *turn = source->first;

			source->first = turn->next;
			drop(turn);
		}
	}
	heap_clear(&turns->next);
	g_hash_table_unref(turns->sources);
	g_free(turns);
}

static struct source *find(const struct sa_turns *turns, uint16_t lid)
{
	return g_hash_table_lookup(turns->sources, GUINT_TO_POINTER(lid));
}

static gboolean is_idle(gpointer lid, gpointer value, gpointer arg)
{
	const struct source *source = value;

	(void)lid;
	(void)arg;
	return !source->waiting && !source->running;
}

static struct source *get(struct sa_turns *turns, uint16_t lid)
{
	struct source *source = find(turns, lid);

	if (source)
		return source;
	if (g_hash_table_size(turns->sources) >= REMEMBERED)
		g_hash_table_foreach_remove(turns->sources, is_idle, NULL);
	source = g_new0(struct source, 1);
	source->last = &source->first;
	source->average_ns = FIRST_NS;
	g_hash_table_insert(turns->sources, GUINT_TO_POINTER(lid), source);
	return source;
}

static bool is_busy(const struct sa_turns *turns)
{
	return turns->running >= BUSY_MIN * turns->threads &&
	       turns->running_ns >= BUSY_NS * turns->threads;
}

static struct sa_turn *take_first(struct sa_turns *turns, struct source *source)
{
	struct sa_turn *turn = source->first;

	source->first = turn->next;
	if (!source->first) {
		source->last = &source->first;
		heap_remove(&turns->next, source);
	}
	source->waiting--;
	turns->waiting--;
	return turn;
}

static void hand_out(struct sa_turns *turns)
{
	while (turns->waiting && !is_busy(turns)) {
		struct source *source = heap_top(&turns->next);
		struct sa_turn *turn = take_first(turns, source);

		turns->now_ns = MAX(turns->now_ns, source->spent_ns);
		turn->expected_ns = source->average_ns;
		source->spent_ns += turn->expected_ns;
		if (source->place)
			heap_moved(&turns->next, source);
		source->running++;
		turns->running++;
		turns->running_ns += turn->expected_ns;
		turns->run(turns->arg, turn);
	}
}

void sa_turns_add(struct sa_turns *turns, struct sa_turn *turn, uint16_t lid)
{
	struct source *source = get(turns, lid);

	turn->lid = lid;
	turn->next = NULL;
	*source->last = turn;
	source->last = &turn->next;
	if (!source->waiting++) {
		if (!source->running)
			source->spent_ns = MAX(source->spent_ns, turns->now_ns);
		heap_insert(&turns->next, source);
	}
	turns->waiting++;
	hand_out(turns);
}

void sa_turns_done(struct sa_turns *turns, struct sa_turn *turn, uint64_t cost_ns)
{
	struct source *source = find(turns, turn->lid);

	source->running--;
	turns->running--;
	turns->running_ns -= turn->expected_ns;
	source->spent_ns += cost_ns;
	source->spent_ns -= turn->expected_ns;
	source->average_ns = MAX((source->average_ns * 7 + cost_ns) / 8, 1);
	if (source->place)
		heap_moved(&turns->next, source);
	else if (!source->running && source->spent_ns <= turns->now_ns)
		g_hash_table_remove(turns->sources, GUINT_TO_POINTER(turn->lid));
	hand_out(turns);
}

unsigned int sa_turns_waiting(const struct sa_turns *turns)
{
	return turns->waiting;
}

static struct source *longest(const struct sa_turns *turns)
{
	struct source *best = NULL, *source;
	GHashTableIter iter;

	g_hash_table_iter_init(&iter, turns->sources);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&source))
		if (!best || source->waiting > best->waiting)
			best = source;
	return best;
}

struct sa_turn *sa_turns_refuse(struct sa_turns *turns)
{
	struct source *source;
	struct sa_turn **at, *turn;

	if (!turns->waiting)
		return NULL;
	source = longest(turns);
	if (source->waiting == 1)
		return take_first(turns, source);
	for (at = &source->first; (*at)->next; at = &(*at)->next)
		;
	turn = *at;
	*at = NULL;
	source->last = at;
	source->waiting--;
	turns->waiting--;
	return turn;
}
