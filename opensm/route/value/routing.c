// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The immutable result of an engine, and of repairs. The rows that an engine fills are one piece of
 * memory, the base tables, which outlives the routing while repaired ones share its rows. Rows that
 * differ from the base tables are reference counted one by one: a series of repairs copies each
 * only when it changes.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "route/fill/shortest.h"
#include "route/value/base.h"
#include "route/transition/fdb_cap.h"
#include "route/value/lanes.h"
#include "route/value/told.h"

#define HUGE_PAGE (2u << 20)

/* Large tables are written once, row by row: huge pages save thousands of page faults. */
static uint8_t *alloc_rows(size_t bytes)
{
	void *rows = NULL;

	if (posix_memalign(&rows, bytes < 2 * HUGE_PAGE ? 64 : HUGE_PAGE, MAX(bytes, 1)))
		g_error("no memory for %zu octets of forwarding tables", bytes);
	if (bytes >= 2 * HUGE_PAGE)
		madvise(rows, bytes, MADV_HUGEPAGE); /* a hint: a refusal only costs time */
	return rows;
}

/* ---- rows ---- */

struct route_row {
	struct ref ref;
	uint8_t ports[];
};

static void row_unref(struct route_row *row)
{
	if (row && ref_put(&row->ref))
		g_free(row);
}

static size_t row_bytes(const struct routing *routing)
{
	return (size_t)routing->n_blocks * ROUTE_BLOCK;
}

/* While the routing is new, no other routing can share a row that only it holds. */
uint8_t *routing_changed_row(struct routing *routing, uint32_t sw)
{
	struct route_row *row, *old = routing->changed_rows[sw];

	if (old && atomic_load(&old->ref.count) == 1)
		return routing->lft[sw];
	row = g_malloc(sizeof(*row) + row_bytes(routing));
	ref_init(&row->ref);
	memcpy(row->ports, routing->lft[sw], row_bytes(routing));
	routing->changed_rows[sw] = row;
	routing->lft[sw] = row->ports;
	row_unref(old);
	return row->ports;
}

void routing_put(struct routing *routing, uint32_t sw, uint16_t lid, uint8_t port)
{
	if (routing->lft[sw][lid] == port)
		return;
	if (!routing->changed_rows)
		routing->lft[sw][lid] = port; /* filled by an engine */
	else
		routing_changed_row(routing, sw)[lid] = port;
}

/* ---- base tables ---- */

static struct route_base *base_new(const struct fabric *fabric, size_t row)
{
	struct route_base *base = g_new0(struct route_base, 1);

	ref_init(&base->ref);
	base->fabric = fabric_ref((struct fabric *)fabric);
	base->bytes = alloc_rows(row * fabric->n_switches);
	base->rows = g_new(uint8_t *, fabric->n_switches + 1);
	for (uint32_t i = 0; i < fabric->n_switches; i++)
		base->rows[i] = base->bytes + i * row;
	return base;
}

static void base_unref(struct route_base *base)
{
	if (!ref_put(&base->ref))
		return;
	fabric_unref(base->fabric);
	free(base->bytes);
	g_free(base->rows);
	g_free(base->order);
	g_free(base);
}

uint32_t *route_places(const struct fabric *fabric, const struct fabric *other)
{
	uint32_t *places = g_new(uint32_t, fabric->n_switches + 1);

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		places[sw] = route_switch_by_guid(
			other, fabric->nodes[fabric->switches[sw].node].guid);
	return places;
}

/* ---- what a repair starts from ---- */

static void repair_state_free(struct route_repair_state *state)
{
	if (!state)
		return;
	route_plan_clear(&state->plan);
	g_free(state->hops);
	g_free(state);
}

void routing_set_repair_state(struct routing *routing, struct route_plan *plan, uint8_t *hops)
{
	uint32_t n = plan->graph->n;

	routing->repair_state = g_new0(struct route_repair_state, 1);
	routing->repair_state->plan = *plan;
	routing->repair_state->hops = hops;
	routing->order = g_memdup2(plan->order.place, n * sizeof(*routing->order));
	*plan = (struct route_plan){0};
}

void routing_make_repairable(struct routing *routing, struct route_plan *plan, uint8_t *hops)
{
	const struct route_order *order = &plan->order;
	const uint32_t *place = order->base ? order->base : order->place;

	routing->base->order = g_memdup2(place, plan->graph->n * sizeof(*place));
	routing_set_repair_state(routing, plan, hops);
}

/* ---- routings ---- */

static struct routing *new_for(const struct fabric *fabric, const struct route_engine *engine,
			       unsigned int promises)
{
	struct routing *routing = g_new0(struct routing, 1);

	ref_init(&routing->ref);
	routing->fabric = fabric_ref((struct fabric *)fabric);
	routing->engine = engine;
	routing->promises = promises;
	routing->n_switches = fabric->n_switches;
	routing->top = fabric->max_lid;
	routing->n_blocks = routing->top / ROUTE_BLOCK + 1;
	return routing;
}

struct routing *routing_new_unset(const struct fabric *fabric, const struct route_engine *engine,
				  unsigned int promises)
{
	struct routing *routing = new_for(fabric, engine, promises);

	routing->base = base_new(fabric, row_bytes(routing));
	routing->lft =
		g_memdup2(routing->base->rows, (routing->n_switches + 1) * sizeof(*routing->lft));
	return routing;
}

struct routing *routing_new(const struct fabric *fabric, const struct route_engine *engine,
			    unsigned int promises)
{
	struct routing *routing = routing_new_unset(fabric, engine, promises);

	memset(routing->base->bytes, ROUTE_NO_PORT, row_bytes(routing) * routing->n_switches);
	return routing;
}

struct routing *routing_new_held(const struct fabric *fabric)
{
	return routing_new(fabric, NULL, 0);
}

struct routing *routing_from(const struct fabric *fabric, const struct routing *old,
			     const uint32_t *row, const uint32_t *before)
{
	struct routing *routing = new_for(fabric, old->engine, old->promises);
	uint32_t n = fabric->n_switches;

	routing->top = MAX(old->top, fabric->max_lid);
	routing->n_blocks = old->n_blocks;
	routing->note = g_strdup(old->note);
	routing->base = old->base;
	ref_get(&old->base->ref);
	routing->lft = g_new(uint8_t *, n + 1);
	routing->changed_rows = g_new0(struct route_row *, n + 1);
	for (uint32_t sw = 0; sw < n; sw++) {
		routing->lft[sw] = old->base->rows[row[sw]];
		if (!old->changed_rows || before[sw] == FABRIC_NONE ||
		    !old->changed_rows[before[sw]])
			continue;
		routing->changed_rows[sw] = old->changed_rows[before[sw]];
		ref_get(&routing->changed_rows[sw]->ref);
		routing->lft[sw] = routing->changed_rows[sw]->ports;
	}
	return routing;
}

void routing_share(struct routing *routing, const uint32_t *row)
{
	for (uint32_t sw = 0; sw < routing->n_switches; sw++) {
		uint8_t *base = routing->base->rows[row[sw]];

		if (!routing->changed_rows[sw] ||
		    memcmp(base, routing->changed_rows[sw]->ports, row_bytes(routing)) != 0)
			continue;
		row_unref(routing->changed_rows[sw]);
		routing->changed_rows[sw] = NULL;
		routing->lft[sw] = base;
	}
}

void routing_note(struct routing *routing, const char *format, ...)
{
	g_autofree char *before = routing->note, *note = NULL;
	va_list args;

	va_start(args, format);
	note = g_strdup_vprintf(format, args);
	va_end(args);
	routing->note = before ? g_strdup_printf("%s; %s", before, note) : g_steal_pointer(&note);
}

struct routing *routing_ref(struct routing *routing)
{
	ref_get(&routing->ref);
	return routing;
}

void routing_unref(struct routing *routing)
{
	if (!routing || !ref_put(&routing->ref))
		return;
	for (uint32_t sw = 0; routing->changed_rows && sw < routing->n_switches; sw++)
		row_unref(routing->changed_rows[sw]);
	g_free(routing->changed_rows);
	g_free(routing->lft);
	base_unref(routing->base);
	fabric_unref(routing->fabric);
	repair_state_free(routing->repair_state);
	g_free(routing->demand_word);
	g_free(routing->order);
	g_free(routing->trunk);
	if (!routing->made)
		route_lanes_free(routing->lanes);
	route_told_unref(routing->told);
	routing_unref(routing->made);
	routing_unref(routing->unlimited);
	routing_unref(routing->layered.base);
	route_room_free(routing->room);
	g_free(routing->note);
	g_free(routing->input_word);
	g_free(routing);
}

bool routing_has_entries(const struct routing *routing, uint32_t sw)
{
	for (uint32_t lid = 0; lid <= routing->top; lid++)
		if (routing->lft[sw][lid] != ROUTE_NO_PORT)
			return true;
	return false;
}
