// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The park: a bounded list of requests, each with the time at which it is given up. The SM is told
 * what they want when they arrive, and again at intervals while they wait, because it forgets wants
 * when its list is full.
 */
#include "sa/admit/park.h"

#include "subnet/inventory.h"

#define TICK_NS (250 * NS_PER_MS)

struct parked {
	struct vendor_mad *mad;
	uint64_t want, deadline_ns;
};

struct sa_park {
	struct context *context;
	struct actor *actor;
	struct sa_park_calls calls;
	struct timer tick;
	GArray *waiting; /* struct parked */
};

static void tell_sm(const struct sa_park *park, uint64_t want)
{
	if (want != SA_PARK_SUBNET)
		event_emit(&park->context->bus, EVENT_INVENTORY_WANTED, want);
}

static void on_tick(struct timer *timer)
{
	struct sa_park *park = container_of(timer, struct sa_park, tick);
	uint64_t now = actor_now(park->actor);

	for (guint i = 0; i < park->waiting->len;) {
		struct parked parked = g_array_index(park->waiting, struct parked, i);

		if (parked.deadline_ns > now) {
			tell_sm(park, parked.want);
			i++;
			continue;
		}
		g_array_remove_index(park->waiting, i);
		park->calls.expired(park->calls.arg, parked.mad);
	}
	if (park->waiting->len)
		timer_start(&park->tick, TICK_NS);
}

struct sa_park *sa_park_new(struct context *context, struct actor *actor,
			    const struct sa_park_calls *calls)
{
	struct sa_park *park = g_new0(struct sa_park, 1);

	park->context = context;
	park->actor = actor;
	park->calls = *calls;
	park->waiting = g_array_new(FALSE, FALSE, sizeof(struct parked));
	timer_init(&park->tick, actor, on_tick);
	return park;
}

void sa_park_free(struct sa_park *park)
{
	timer_stop(&park->tick);
	for (guint i = 0; i < park->waiting->len; i++)
		vendor_mad_free(g_array_index(park->waiting, struct parked, i).mad);
	g_array_unref(park->waiting);
	g_free(park);
}

bool sa_park_add(struct sa_park *park, struct vendor_mad *mad, uint64_t want, uint64_t deadline_ns)
{
	uint64_t now = actor_now(park->actor);
	struct parked parked = {.mad = mad, .want = want, .deadline_ns = deadline_ns};

	if (park->waiting->len >= SA_MAX_PARKED || (deadline_ns && deadline_ns <= now))
		return false;
	if (!deadline_ns) {
		parked.deadline_ns = now + SA_PARK_NS;
		counter_inc(&park->context->counters, sa_waited);
		tell_sm(park, want);
	}
	g_array_append_val(park->waiting, parked);
	if (!timer_running(&park->tick))
		timer_start(&park->tick, TICK_NS);
	return true;
}

static bool is_due(const struct parked *parked, uint64_t kinds)
{
	if (parked->want == SA_PARK_SUBNET || kinds == SA_PARK_EARLY)
		return parked->want == SA_PARK_SUBNET && kinds == SA_PARK_EARLY;
	return inventory_want_lid(parked->want) ||
	       kinds & UINT64_C(1) << inventory_want_kind(parked->want);
}

void sa_park_wake(struct sa_park *park, uint64_t kinds)
{
	GArray *waiting = park->waiting;

	park->waiting = g_array_new(FALSE, FALSE, sizeof(struct parked));
	for (guint i = 0; i < waiting->len; i++) {
		const struct parked *parked = &g_array_index(waiting, struct parked, i);

		if (is_due(parked, kinds))
			park->calls.again(park->calls.arg, parked->mad, parked->deadline_ns);
		else
			g_array_append_val(park->waiting, *parked);
	}
	g_array_unref(waiting);
}
