// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * LIDs. Each endport keeps the LIDs that guid2lid has for it, else those it carries, if they are
 * valid and nobody else's; else it gets the first free ones, and LIDs that guid2lid holds for
 * absent ports are taken last. No two ports ever own the same LID.
 */
#include "complib/range.h"
#include "sm/sm_private.h"

struct assignment {
	struct sm *sm;
	GPtrArray *nodes;
	struct range_set free;	/* LIDs that no port present has */
	struct range_set fresh; /* of them, those not kept for an absent port */
	uint16_t last;		/* highest LID every switch can forward */
	unsigned int without;
};

static uint8_t wanted_lmc(const struct sm *sm, const struct builder_port *port)
{
	if (!builder_is_switch(port->node))
		return sm->options->lmc;
	return port->node->switch_info.enhanced_port0 && sm->options->lmc_esp0 ? sm->options->lmc
									       : 0;
}

static bool contains_all(const struct range_set *set, uint32_t lid, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!range_set_contains(set, lid + i))
			return false;
	return true;
}

static void take(struct assignment *a, struct builder_port *port, uint16_t lid, uint8_t lmc)
{
	uint32_t count = 1u << lmc;

	port->lid = lid;
	port->lmc = lmc;
	range_set_remove(&a->free, lid, lid + count - 1);
	range_set_remove(&a->fresh, lid, lid + count - 1);
	guid2lid_set(a->sm->guid2lid, port->guid, lid, count);
}

static bool take_if_valid(struct assignment *a, struct builder_port *port, uint32_t lid)
{
	uint8_t lmc = wanted_lmc(a->sm, port);
	uint32_t count = 1u << lmc;

	if (!lid || lid % count || lid + count - 1 > a->last || !contains_all(&a->free, lid, count))
		return false;
	take(a, port, lid, lmc);
	return true;
}

/* Pass 1: what guid2lid says, which holds everything this SM ever assigned. */
static void pass_remembered(struct assignment *a, struct builder_port *port)
{
	uint16_t count;
	uint16_t lid = guid2lid_get(a->sm->guid2lid, port->guid, &count);

	port->lid = 0;
	take_if_valid(a, port, lid);
}

/* Pass 2: what the port carries, unless that is kept for an absent port. */
static void pass_carried(struct assignment *a, struct builder_port *port)
{
	uint32_t count = 1u << wanted_lmc(a->sm, port);

	if (!port->lid && contains_all(&a->fresh, port->info.lid, count))
		take_if_valid(a, port, port->info.lid);
}

/* Pass 3: the first free. */
static void pass_new(struct assignment *a, struct builder_port *port)
{
	uint8_t lmc = wanted_lmc(a->sm, port);
	uint32_t count = 1u << lmc;
	uint64_t lid;
	char name[SM_NAME_SIZE];

	if (port->lid)
		return;
	if (range_set_find(&a->fresh, count, count, &lid) ||
	    range_set_find(&a->free, count, count, &lid)) {
		take(a, port, lid, lmc);
		return;
	}
	if (!a->without++)
		sm_problem(a->sm, "no free LID for %s: the switches forward LIDs up to 0x%04x",
			   sm_node_name(port->node, name, sizeof(name)), a->last);
}

static void each_endport(struct assignment *a,
			 void (*pass)(struct assignment *a, struct builder_port *port))
{
	for (guint i = 0; i < a->nodes->len; i++) {
		struct builder_node *node = a->nodes->pdata[i];

		for (unsigned int num = 0; num <= node->info.num_ports; num++)
			if (node->ports[num].guid && node->ports[num].known)
				pass(a, &node->ports[num]);
	}
}

/* ---- what may be given ---- */

static void keep_for_absent(void *arg, uint64_t guid, uint16_t lid, uint16_t count)
{
	struct assignment *a = arg;

	(void)guid;
	range_set_remove(&a->fresh, lid, lid + count - 1);
}

static void find_last(struct assignment *a)
{
	a->last = IBA_LID_UCAST_LAST;
	for (guint i = 0; i < a->nodes->len; i++) {
		const struct builder_node *node = a->nodes->pdata[i];

		if (!node->has_switch_info || !builder_is_switch(node))
			continue;
		if (node->switch_info.linear_fdb_cap && node->switch_info.linear_fdb_cap <= a->last)
			a->last = node->switch_info.linear_fdb_cap - 1;
	}
}

/* An absent port whose LIDs went to another one loses its place in the file. */
struct taken {
	struct assignment *a;
	GArray *lost; /* uint64_t GUIDs */
	GHashTable *present;
};

static void find_lost(void *arg, uint64_t guid, uint16_t lid, uint16_t count)
{
	struct taken *taken = arg;

	if (!g_hash_table_contains(taken->present, &guid) &&
	    !contains_all(&taken->a->free, lid, count))
		g_array_append_val(taken->lost, guid);
}

static void forget_lost(struct assignment *a)
{
	struct taken taken = {.a = a};

	taken.lost = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	taken.present = g_hash_table_new(g_int64_hash, g_int64_equal);
	for (guint i = 0; i < a->nodes->len; i++) {
		struct builder_node *node = a->nodes->pdata[i];

		for (unsigned int num = 0; num <= node->info.num_ports; num++)
			if (node->ports[num].lid)
				g_hash_table_add(taken.present, &node->ports[num].guid);
	}
	guid2lid_each(a->sm->guid2lid, find_lost, &taken);
	for (guint i = 0; i < taken.lost->len; i++)
		guid2lid_remove(a->sm->guid2lid, g_array_index(taken.lost, uint64_t, i));
	g_hash_table_unref(taken.present);
	g_array_unref(taken.lost);
}

static void assign(struct assignment *a)
{
	bool reassign = a->sm->options->reassign_lids && !a->sm->first_sweep_done;

	range_set_init(&a->free);
	range_set_init(&a->fresh);
	find_last(a);
	if (reassign)
		guid2lid_clear(a->sm->guid2lid);
	range_set_add(&a->free, IBA_LID_UCAST_FIRST, a->last);
	range_set_add(&a->fresh, IBA_LID_UCAST_FIRST, a->last);
	guid2lid_each(a->sm->guid2lid, keep_for_absent, a);
	each_endport(a, pass_remembered);
	if (!reassign)
		each_endport(a, pass_carried);
	each_endport(a, pass_new);
	forget_lost(a);
	range_set_clear(&a->free);
	range_set_clear(&a->fresh);
}

/* The SM's own port has its LID from here on: LID-routed SMPs need a source. */
static void configure_own_port(struct sm *sm)
{
	struct builder_port *own = sm->builder->sm_port;
	struct iba_port_info want;

	if (link_wanted(sm, own, &want))
		link_send(sm, own, &want, IBA_PORT_NO_CHANGE);
	mad_set_own_lid(sm->mad, own->lid, sm->options->sm_sl);
}

enum step_result step_settle_lids(struct sm *sm)
{
	struct assignment a = {.sm = sm, .nodes = builder_walk(sm->builder)};

	assign(&a);
	g_ptr_array_unref(a.nodes);
	if (!sm->builder->sm_port->lid)
		return STEP_ABORT;
	configure_own_port(sm);
	return STEP_WAIT;
}
