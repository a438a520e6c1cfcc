// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/transition/change_plan.h"

#include "route/graph/watch.h"
#include "route/transition/lane_changes.h"
#include "route/value/base.h"

/* What switches hold by the old routing, as rows of the new one; NULL elements: nothing. */
static GPtrArray *rows_of_old(const struct route_change *change)
{
	const struct routing *old = change->old, *new = change->new;
	g_autofree uint32_t *was = route_places(new->fabric, old->fabric);
	GPtrArray *rows = g_ptr_array_new_with_free_func(g_free);

	for (uint32_t sw = 0; sw < new->n_switches && route_watch_look(change->watch); sw++) {
		uint8_t *row = was[sw] == FABRIC_NONE ? NULL : g_malloc(new->top + 1u);

		for (uint32_t lid = 0; row && lid <= new->top; lid++)
			row[lid] = routing_port(old, was[sw], lid);
		g_ptr_array_add(rows, row);
	}
	return rows;
}

/* Whether packets can deadlock on the way, though written in these stages. */
static bool is_unsafe(const struct route_change *change, const struct lane_changes *changes,
		      const struct route_stages *stages)
{
	g_autoptr(GPtrArray) rows = NULL;
	struct lane_change mixed = {
		.old = change->old,
		.new = change->new,
		.held = change->held,
		.stages = stages,
		.maps = changes->maps,
		.watch = change->watch,
	};

	if (!route_lane_changes_any(changes))
		return changes->given_up;
	if (change->map_unsure)
		return true;
	if (!change->held && change->old) {
		rows = rows_of_old(change);
		mixed.held = (const uint8_t *const *)rows->pdata;
	}
	return !route_is_cancelled(change->watch) && !route_lanes_mix(&mixed, ROUTE_MIX_WORK);
}

/* In an order that closes no loop for packets with new SLs on new maps; LIDs may discard first. */
static struct route_stages *strict_stages(const struct route_change *change)
{
	return change->held ? route_stages_new(change->new->fabric, change->held, change->cyclic,
					       change->new, change->verdict, ROUTE_STAGES_WORK,
					       change->watch)
			    : NULL;
}

/*
 * If lanes depend on turns, most changes are safe without a search for credit loops. Only for
 * others it is worthwhile, as LIDs may discard first then, which loses packets; but not if that
 * does not make them safe either.
 */
static void find_stages(const struct route_change *change, const struct lane_changes *changes,
			struct route_change_plan *plan)
{
	struct route_stages *gentle = NULL;

	if (change->held && changes->entries) {
		gentle = route_stages_without_credits(change->new->fabric, change->held,
						      change->new, ROUTE_STAGES_WORK,
						      change->watch);
		if (!is_unsafe(change, changes, gentle)) {
			plan->stages = gentle;
			return;
		}
	}
	plan->stages = strict_stages(change);
	if (is_unsafe(change, changes, plan->stages)) {
		plan->exposed = route_lane_changes_tell(changes, change->new);
		plan->exposed_lasts = plan->exposed && route_lane_changes_last(changes);
		if (gentle) {
			route_stages_free(plan->stages);
			plan->stages = g_steal_pointer(&gentle);
		}
	}
	route_stages_free(gentle);
}

void route_change_plan(const struct route_change *change, struct route_change_plan *plan)
{
	struct lane_changes changes =
		route_lane_changes(change->old, change->new, change->watch);

	*plan = (struct route_change_plan){.maps_first = changes.maps || change->map_unsure};
	find_stages(change, &changes, plan);
}

void route_change_plan_clear(struct route_change_plan *plan)
{
	g_clear_pointer(&plan->stages, route_stages_free);
	g_clear_pointer(&plan->exposed, g_free);
}
