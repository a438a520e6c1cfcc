// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Links between switches that do not become ACTIVE, as one of the two refuses the configuration of
 * its port. They carry no data, so from the second time in a row on routes avoid them, as long as
 * all nodes can be reached over the others; they are tried again like every error (health.c), and
 * used when they are ACTIVE.
 *
 *	 a sweep left it in INIT or ARMED          again: at the next freeze
 *	 (none) ------------------------> counted ---------------------------> excluded from fabrics
 *	    ^                                |                                      |
 *	    +-- it is ACTIVE, DOWN or gone --+------- and a sweep brings it up -----+
 */
#include "sm/health/health_private.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

#define TIMES_MAX 2
#define LINKS_MAX 32 /* excluded at once: the fabric is walked for each */

struct held_up {
	struct builder_node *node; /* held */
	uint8_t num;
	unsigned int times; /* failed sweeps in a row */
	uint64_t sweep;	    /* the last one of these */
};

static struct held_up *find(const struct sm *sm, const struct builder_port *port)
{
	for (guint i = 0; i < sm->faults->links->len; i++) {
		struct held_up *link = &g_array_index(sm->faults->links, struct held_up, i);

		if (link->node == port->node && link->num == port->num)
			return link;
	}
	return NULL;
}

void held_up_note(struct sm *sm, struct builder_port *port)
{
	struct held_up *link = find(sm, port);

	if (!port->peer || !builder_is_switch(port->node) || !builder_is_switch(port->peer->node))
		return;
	if (!link) {
		const struct held_up new = {.node = port->node, .num = port->num};

		if (sm->faults->links->len >= LINKS_MAX)
			return;
		builder_hold(port->node);
		g_array_append_val(sm->faults->links, new);
		link = &g_array_index(sm->faults->links, struct held_up,
				      sm->faults->links->len - 1);
	}
	link->times += link->sweep != sm->sweep.serial;
	link->sweep = sm->sweep.serial;
}

static struct builder_port *port_of(const struct held_up *link)
{
	return &link->node->ports[link->num];
}

/* Number of nodes that can be reached over links that are not excluded. */
static guint count_reached(const struct sm *sm)
{
	g_autoptr(GHashTable) met = g_hash_table_new(NULL, NULL);
	g_autoptr(GPtrArray) queue = g_ptr_array_new();
	const struct builder_node *own = sm->builder->sm_port->node;

	g_hash_table_add(met, (gpointer)own);
	g_ptr_array_add(queue, (gpointer)own);
	for (guint i = 0; i < queue->len; i++) {
		const struct builder_node *node = queue->pdata[i];
		bool forwards = builder_is_switch(node) || node == own;

		for (unsigned int num = 1; forwards && num <= node->info.num_ports; num++) {
			const struct builder_port *port = &node->ports[num], *peer = port->peer;

			if (peer && !port->held_up && !peer->held_up &&
			    g_hash_table_add(met, peer->node))
				g_ptr_array_add(queue, peer->node);
		}
	}
	return queue->len;
}

static bool is_over(const struct held_up *link)
{
	const struct builder_port *port = port_of(link);

	return !link->node->builder || !port->peer || !builder_is_switch(port->peer->node) ||
	       port->info.port_state == IBA_PORT_ACTIVE || port->info.port_state == IBA_PORT_DOWN;
}

static void forget(struct sm *sm, guint i)
{
	struct builder_node *node = g_array_index(sm->faults->links, struct held_up, i).node;

	g_array_remove_index(sm->faults->links, i);
	builder_release(node);
}

void held_up_decide(struct sm *sm)
{
	bool was[LINKS_MAX];
	guint all;

	for (guint i = sm->faults->links->len; i-- > 0;) {
		const struct held_up *link = &g_array_index(sm->faults->links, struct held_up, i);
		struct builder_port *port = port_of(link);

		if (!is_over(link))
			continue;
		if (port->held_up)
			builder_touch(port->node);
		port->held_up = false;
		forget(sm, i);
	}
	if (!sm->faults->links->len)
		return;
	for (guint i = 0; i < sm->faults->links->len; i++) {
		struct builder_port *port =
			port_of(&g_array_index(sm->faults->links, struct held_up, i));

		was[i] = port->held_up;
		port->held_up = false;
	}
	all = count_reached(sm);
	for (guint i = 0; i < sm->faults->links->len; i++) {
		const struct held_up *link = &g_array_index(sm->faults->links, struct held_up, i);
		struct builder_port *port = port_of(link);

		port->held_up = link->times >= TIMES_MAX;
		if (port->held_up && count_reached(sm) < all)
			port->held_up = false; /* nodes behind it must at least be reported */
		if (port->held_up != was[i])
			builder_touch(port->node);
	}
}

void held_up_sweep_ended(struct sm *sm)
{
	for (guint i = 0; i < sm->faults->links->len; i++) {
		const struct held_up *link = &g_array_index(sm->faults->links, struct held_up, i);

		if (!is_over(link) || !port_of(link)->held_up || !link->node->builder)
			continue;
		builder_touch(link->node);
		sweep_want(sm, SWEEP_CHANGE);
	}
}

void held_up_init(struct sm *sm)
{
	sm->faults->links = g_array_new(FALSE, TRUE, sizeof(struct held_up));
}

void held_up_free(struct sm *sm)
{
	while (sm->faults->links->len)
		forget(sm, sm->faults->links->len - 1);
	g_array_unref(sm->faults->links);
}
