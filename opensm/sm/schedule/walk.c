// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Walks: how a step makes SMPs for many nodes. A large fabric has more than a million blocks of
 * forwarding tables. If made at once, their SMPs would take hundreds of megabytes, and traps,
 * SMInfo and the shutdown of the daemon would wait for seconds until the last is made. So a step
 * specifies which SMPs it needs, and they are made as earlier ones come back:
 *
 *	step --> walks: items x parts --> visit() makes some --> mad/ --> answer
 *	                        ^                                            |
 *	                        +------------- there is room ----------------+
 *
 * A step is over, or called again, when its walks have finished: until then the sweep does not
 * advance. SMPs to silent nodes take no room: they would keep those to all other nodes waiting.
 *
 * Part 0 of all items comes before part 1 of any: so all nodes have something to do, and none of
 * them has a queue longer than it can handle meanwhile.
 */
#include "sm/discover/discover.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

/*
 * SMPs in flight that are not slow. As many as mad/ may ever have in flight; with the usual window
 * of 64 its queue lasts while this actor is busy with something else.
 */
#define ROOM 4096

/* Steps and walks that need not wait for SMPs yield to other messages after this time. */
#define YIELD_NS NS_PER_MS

struct go_on {
	struct message message;
	struct sm *sm;
};

struct walk {
	sweep_visit *visit;
	GPtrArray *items;
	guint next; /* index of the next item */
	uint32_t part, n_parts;
};

static void walk_free(gpointer data)
{
	struct walk *walk = data;

	g_clear_pointer(&walk->items, g_ptr_array_unref);
	g_free(walk);
}

void sweep_walk(struct sm *sm, GPtrArray *items, uint32_t n_parts, sweep_visit *visit)
{
	struct walk *walk = g_new0(struct walk, 1);

	walk->visit = visit;
	walk->items = items;
	walk->n_parts = items && !items->len ? 0 : n_parts;
	g_queue_push_tail(&sm->schedule.walks, walk);
}

void walks_drop(struct sm *sm)
{
	g_queue_clear_full(&sm->schedule.walks, walk_free);
}

static bool is_full(const struct sweep *sweep)
{
	return sweep->pending >= sweep->slow + ROOM;
}

static void walk_on(struct sm *sm, struct walk *walk)
{
	sm->sweep.part = walk->part;
	sm->sweep.at_step = true;
	walk->visit(sm, walk->items ? walk->items->pdata[walk->next] : NULL);
	sm->sweep.at_step = false;
	if (walk->items && ++walk->next < walk->items->len)
		return;
	walk->next = 0;
	walk->part++;
}

static void run_go_on(struct message *message)
{
	struct go_on *go_on = (struct go_on *)message;

	go_on->sm->sweep.yielded = false;
	sweep_advance(go_on->sm);
	g_free(go_on);
}

bool sweep_yields(struct sm *sm, uint64_t since)
{
	struct go_on *go_on;

	if (actor_now(sm->actor) - since < YIELD_NS)
		return false;
	go_on = g_new0(struct go_on, 1);
	go_on->message.run = run_go_on;
	go_on->sm = sm;
	actor_post(sm->actor, &go_on->message);
	sm->sweep.yielded = true;
	return true;
}

bool walks_are_through(struct sm *sm, uint64_t since)
{
	struct walk *walk;

	while ((walk = g_queue_peek_head(&sm->schedule.walks))) {
		if (walk->part == walk->n_parts)
			walk_free(g_queue_pop_head(&sm->schedule.walks));
		else if (is_full(&sm->sweep) || sweep_yields(sm, since))
			return false;
		else
			walk_on(sm, walk);
	}
	return true;
}
