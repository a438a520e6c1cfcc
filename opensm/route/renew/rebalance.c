// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A repair that changes only broken paths leaves too much load on the cables around the damage:
 * distant switches still send there. A full computation sends them elsewhere; so does this, but
 * only for LIDs that load a cable with more than the limit (relief.h).
 *
 * The limit comes from the base tables: the load of the busiest cable there, relative to the
 * mean, or the least that the damage leaves possible. If that cannot be reached, the reason
 * may be the damage, or the repair: sticky.c finds out.
 */
#include "route/fill/relief.h"
#include "route/renew/renew.h"
#include "route/value/base.h"

/* The load of the busiest link if it were as in the base tables, or what it is at least. */
static uint64_t expected_peak(const struct route_relief *relief)
{
	uint32_t n = relief->flows->graph->n_links;
	uint64_t sum = 0;

	for (uint32_t link = 0; link < n; link++)
		sum += relief->load[link];
	return MAX(relief->routing->base->peak * (double)sum / n, relief->bound);
}

void route_rebalance(struct routing *routing, uint64_t limit)
{
	struct route_repair_state *state = routing->repair_state;
	const struct route_graph *graph = state->plan.graph;
	struct route_flows flows;
	struct route_relief relief;
	bool by_load = routing->base->by_load;
	uint64_t expected, peak;

	if (!graph->n_links)
		return;
	route_flows_init(&flows, &state->plan, NULL, state->hops);
	route_relief_init(&relief, &flows, routing, ROUTE_RELIEF_ALL);
	expected = expected_peak(&relief);
	if (!limit)
		limit = expected + expected / (by_load ? RENEW_EXPECTED : RENEW_BUSIER);
	peak = route_greatest(graph, relief.load);
	for (unsigned int i = 0; i < RENEW_MOVES && peak > limit; i++) {
		state->moved = true;
		peak = route_relief_run(&relief, limit);
	}
	state->uneven = renew_is_busier(peak, MAX(expected, state->accepted_peak), RENEW_BUSIER);
	route_relief_clear(&relief);
	route_flows_clear(&flows);
}
