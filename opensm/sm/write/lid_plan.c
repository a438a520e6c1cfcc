// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The assignment of LIDs: passes over the ports, in their order, over sets of LIDs. No two ports
 * ever own the same LID. Of ports with the same GUID the first is the one remembered; the others
 * get LIDs too, so that they can be told apart, but no place in the memory.
 *
 * What this SM has assigned since it is master is known; the file may be older than assignments of
 * another SM since, which the ports carry. Hence the order of the passes.
 */
#include "sm/write/lid_plan.h"

#include "complib/hash.h"
#include "complib/range.h"
#include "iba/iba.h"

struct assignment {
	struct lid_plan *plan;
	struct guid2lid *memory;
	struct range_set free;	/* LIDs that no port present has */
	struct range_set open;	/* of these, LIDs that no port was assigned */
	struct range_set fresh; /* of these, LIDs that no port is remembered with */
	GHashTable *present;	/* uint64_t GUIDs */
	bool any;		/* from here on LIDs above caps are also used */
};

static bool contains_all(const struct range_set *set, uint32_t lid, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!range_set_contains(set, lid + i))
			return false;
	return true;
}

static void take(struct assignment *a, struct lid_plan_port *port, uint16_t lid)
{
	uint32_t count = 1u << port->lmc;

	port->lid = lid;
	range_set_remove(&a->free, lid, lid + count - 1);
	range_set_remove(&a->open, lid, lid + count - 1);
	range_set_remove(&a->fresh, lid, lid + count - 1);
	if (!port->duplicate)
		guid2lid_set(a->memory, port->guid, lid, count);
}

static bool is_below_cap(const struct lid_plan_port *port, uint32_t lid)
{
	return !port->cap || lid + (1u << port->lmc) <= port->cap;
}

static void take_if_in(struct assignment *a, const struct range_set *set,
		       struct lid_plan_port *port, uint16_t lid)
{
	uint32_t count = 1u << port->lmc;

	if (lid && lid % count == 0 && contains_all(set, lid, count) &&
	    (a->any || port->keeps || is_below_cap(port, lid)))
		take(a, port, lid);
}

static bool is_assigned(const struct assignment *a, uint64_t guid)
{
	return a->plan->memory_first || guid2lid_is_assigned(a->memory, guid);
}

static uint16_t remembered(const struct assignment *a, const struct lid_plan_port *port)
{
	uint16_t count;

	return port->duplicate ? 0 : guid2lid_get(a->memory, port->guid, &count);
}

/* Pass 1: LIDs assigned to it, whatever it carries. */
static void pass_assigned(struct assignment *a, struct lid_plan_port *port)
{
	if (!port->lid && is_assigned(a, port->guid))
		take_if_in(a, &a->free, port, remembered(a, port));
}

/* Pass 2: LIDs that it carries and is remembered with. */
static void pass_confirmed(struct assignment *a, struct lid_plan_port *port)
{
	if (!port->lid && port->carried == remembered(a, port))
		take_if_in(a, &a->open, port, port->carried);
}

/* Pass 3: LIDs that it carries. */
static void pass_carried(struct assignment *a, struct lid_plan_port *port)
{
	if (!port->lid)
		take_if_in(a, &a->open, port, port->carried);
}

/* Pass 4: LIDs that it is remembered with. */
static void pass_remembered(struct assignment *a, struct lid_plan_port *port)
{
	if (!port->lid)
		take_if_in(a, &a->free, port, remembered(a, port));
}

/* A switch whose table has room for any LID. */
static struct lid_plan_port *find_yielding(const struct assignment *a,
					   const struct lid_plan_port *to)
{
	for (uint32_t i = 0; i < a->plan->n; i++) {
		struct lid_plan_port *port = &a->plan->ports[i];

		if (port->is_switch && !port->cap && !port->lmc && port->lid &&
		    is_below_cap(to, port->lid))
			return port;
	}
	return NULL;
}

/* Pass 5, of ports with a cap only: the first free below it, or that of a switch. */
static void pass_low(struct assignment *a, struct lid_plan_port *port)
{
	uint32_t count = 1u << port->lmc;
	struct lid_plan_port *other;
	uint64_t lid;

	if ((range_set_find(&a->fresh, count, count, &lid) && is_below_cap(port, lid)) ||
	    (range_set_find(&a->free, count, count, &lid) && is_below_cap(port, lid))) {
		take(a, port, lid);
		return;
	}
	other = port->is_switch && !port->lmc ? find_yielding(a, port) : NULL;
	if (!other)
		return;
	take(a, port, other->lid);
	other->lid = 0;
}

static gint compare_caps(gconstpointer a, gconstpointer b)
{
	const struct lid_plan_port *x = *(struct lid_plan_port *const *)a;
	const struct lid_plan_port *y = *(struct lid_plan_port *const *)b;

	return x->cap < y->cap ? -1 : x->cap > y->cap; /* the sort is stable */
}

/* The smallest tables first. */
static void each_without_by_cap(struct assignment *a)
{
	g_autoptr(GPtrArray) ports = g_ptr_array_new();

	for (uint32_t i = 0; i < a->plan->n; i++)
		if (a->plan->ports[i].cap && !a->plan->ports[i].lid)
			g_ptr_array_add(ports, &a->plan->ports[i]);
	g_ptr_array_sort(ports, compare_caps);
	for (guint i = 0; i < ports->len; i++)
		pass_low(a, ports->pdata[i]);
}

/* Pass 6: the first free. */
static void pass_new(struct assignment *a, struct lid_plan_port *port)
{
	uint32_t count = 1u << port->lmc;
	uint64_t lid;

	if (port->lid)
		return;
	if (range_set_find(&a->fresh, count, count, &lid) ||
	    range_set_find(&a->free, count, count, &lid))
		take(a, port, lid);
	else
		a->plan->without++;
}

static void each_port(struct assignment *a,
		      void (*pass)(struct assignment *a, struct lid_plan_port *port))
{
	for (uint32_t i = 0; i < a->plan->n; i++)
		pass(a, &a->plan->ports[i]);
}

static void meet(struct assignment *a, struct lid_plan_port *port)
{
	port->lid = 0;
	port->duplicate = !g_hash_table_add(a->present, &port->guid);
	port->remembered = remembered(a, port);
}

static void keep_for_absent(void *arg, uint64_t guid, uint16_t lid, uint16_t count)
{
	struct assignment *a = arg;

	range_set_remove(&a->fresh, lid, lid + count - 1);
	if (is_assigned(a, guid))
		range_set_remove(&a->open, lid, lid + count - 1);
}

/* ---- a port whose LIDs went to another one loses its place in the memory ---- */

struct lost {
	const struct assignment *a;
	GArray *guids; /* uint64_t */
};

static bool was_given_away(const struct assignment *a, uint32_t lid, uint32_t count)
{
	for (uint32_t i = lid; i < lid + count; i++)
		if (i <= a->plan->last && !range_set_contains(&a->free, i))
			return true;
	return false;
}

static void find_lost(void *arg, uint64_t guid, uint16_t lid, uint16_t count)
{
	struct lost *lost = arg;

	if (!g_hash_table_contains(lost->a->present, &guid) && was_given_away(lost->a, lid, count))
		g_array_append_val(lost->guids, guid);
}

static void forget_lost(struct assignment *a)
{
	struct lost lost = {.a = a, .guids = g_array_new(FALSE, FALSE, sizeof(uint64_t))};

	for (uint32_t i = 0; i < a->plan->n; i++)
		if (!a->plan->ports[i].lid && !a->plan->ports[i].duplicate)
			g_hash_table_remove(a->present, &a->plan->ports[i].guid);
	guid2lid_each(a->memory, find_lost, &lost);
	for (guint i = 0; i < lost.guids->len; i++)
		guid2lid_remove(a->memory, g_array_index(lost.guids, uint64_t, i));
	g_array_unref(lost.guids);
}

static void each_by_memory(struct assignment *a)
{
	each_port(a, pass_assigned);
	if (!a->plan->reassign) {
		each_port(a, pass_confirmed);
		each_port(a, pass_carried);
	}
	each_port(a, pass_remembered);
}

void lid_plan_make(struct lid_plan *plan, struct guid2lid *memory)
{
	struct assignment a = {.plan = plan, .memory = memory};

	plan->without = 0;
	range_set_init(&a.free);
	range_set_init(&a.open);
	range_set_init(&a.fresh);
	a.present = g_hash_table_new(hash_uint64, g_int64_equal);
	if (plan->reassign)
		guid2lid_clear(memory);
	if (plan->last >= IBA_LID_UCAST_FIRST) {
		range_set_add(&a.free, IBA_LID_UCAST_FIRST, plan->last);
		range_set_add(&a.open, IBA_LID_UCAST_FIRST, plan->last);
		range_set_add(&a.fresh, IBA_LID_UCAST_FIRST, plan->last);
	}
	guid2lid_each(memory, keep_for_absent, &a);
	each_port(&a, meet);
	each_by_memory(&a);
	each_without_by_cap(&a);
	a.any = true;
	each_by_memory(&a);
	each_port(&a, pass_new);
	forget_lost(&a);
	g_hash_table_unref(a.present);
	range_set_clear(&a.free);
	range_set_clear(&a.open);
	range_set_clear(&a.fresh);
}
