// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A cable is plugged in as long as nothing keeps it out: neither itself nor a node at its ends. So
 * things can come back in another order than they went.
 */
#include "tests/unit/route_churn.h"

#include "complib/random.h"

struct churn_cable {
	struct builder_port *a, *b;
	bool out; /* by itself */
};

static struct churn_cable *cable_at(const struct churn *churn, uint32_t i)
{
	return &g_array_index(churn->cables, struct churn_cable, i);
}

static struct churn_thing *thing_at(const struct churn *churn, uint32_t i)
{
	return &g_array_index(churn->things, struct churn_thing, i);
}

/* Cables of the node that were not found from their other end. */
static void add_cables(struct churn *churn, struct builder_node *node)
{
	for (unsigned int num = 1; num <= node->info.num_ports; num++) {
		struct churn_cable cable = { &node->ports[num], node->ports[num].peer, false };
		struct churn_thing thing = { .kind = CHURN_CABLE, .cable = churn->cables->len };

		if (!cable.b || cable.b->node->index < node->index || cable.b->node == node ||
		    cable.b->node->index == FABRIC_NONE)
			continue;
		g_array_append_val(churn->cables, cable);
		if (builder_is_switch(node) && builder_is_switch(cable.b->node))
			g_array_append_val(churn->things, thing);
	}
}

static bool has_hosts(const struct builder_node *node)
{
	for (unsigned int num = 1; num <= node->info.num_ports; num++)
		if (node->ports[num].peer && !builder_is_switch(node->ports[num].peer->node))
			return true;
	return false;
}

static void add_node(struct churn *churn, struct builder_node *node)
{
	const struct builder_port *sm_port = churn->builder->sm_port;
	struct churn_thing thing = { .kind = CHURN_HOST, .node = node };

	if (node == sm_port->node || (sm_port->peer && sm_port->peer->node == node))
		return;
	if (builder_is_switch(node)) {
		thing.kind = CHURN_SWITCH;
		thing.leaf = has_hosts(node);
	}
	g_array_append_val(churn->things, thing);
}

struct churn *churn_new(struct builder *builder)
{
	struct churn *churn = g_new0(struct churn, 1);
	GPtrArray *order = builder_walk(builder);

	churn->builder = builder;
	churn->cables = g_array_new(FALSE, FALSE, sizeof(struct churn_cable));
	churn->things = g_array_new(FALSE, FALSE, sizeof(struct churn_thing));
	churn->gone = g_hash_table_new(NULL, NULL);
	churn->exchanged = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = 0; i < order->len; i++) {
		add_cables(churn, order->pdata[i]);
		add_node(churn, order->pdata[i]);
	}
	g_ptr_array_unref(order);
	return churn;
}

void churn_free(struct churn *churn)
{
	g_array_unref(churn->cables);
	g_array_unref(churn->things);
	g_array_unref(churn->exchanged);
	g_hash_table_destroy(churn->gone);
	g_free(churn);
}

/* Plugs the cable in if nothing keeps it out. */
static void plug(const struct churn *churn, struct churn_cable *cable)
{
	if (cable->out || g_hash_table_contains(churn->gone, cable->a->node) ||
	    g_hash_table_contains(churn->gone, cable->b->node))
		builder_unlink(cable->a);
	else
		builder_link(cable->a, cable->b);
}

void churn_toggle(struct churn *churn, uint32_t i)
{
	struct churn_thing *thing = thing_at(churn, i);

	thing->out = !thing->out;
	churn->n_out += thing->out ? 1 : -1u;
	if (thing->kind == CHURN_CABLE)
		cable_at(churn, thing->cable)->out = thing->out;
	else if (thing->out)
		g_hash_table_add(churn->gone, thing->node);
	else
		g_hash_table_remove(churn->gone, thing->node);
	for (uint32_t c = 0; c < churn->cables->len; c++)
		plug(churn, cable_at(churn, c));
}

/* ---- exchanges ---- */

/* The end of a cable that is at the switch. */
static struct builder_port **switch_end(struct churn_cable *cable)
{
	return builder_is_switch(cable->a->node) ? &cable->a : &cable->b;
}

static void exchange(struct churn *churn, uint32_t a, uint32_t b)
{
	struct churn_cable *one = cable_at(churn, a), *other = cable_at(churn, b);
	struct builder_port **x = switch_end(one), **y = switch_end(other), *swap = *x;

	builder_unlink(one->a);
	builder_unlink(other->a);
	*x = *y;
	*y = swap;
	plug(churn, one);
	plug(churn, other);
}

static uint32_t first_cable(const struct churn *churn, const struct builder_node *host)
{
	for (uint32_t c = 0; c < churn->cables->len; c++)
		if (cable_at(churn, c)->a->node == host || cable_at(churn, c)->b->node == host)
			return c;
	return FABRIC_NONE;
}

void churn_exchange(struct churn *churn, uint32_t thing, uint32_t other)
{
	uint32_t a = first_cable(churn, thing_at(churn, thing)->node);
	uint32_t b = first_cable(churn, thing_at(churn, other)->node);

	if (a == FABRIC_NONE || b == FABRIC_NONE)
		return;
	exchange(churn, a, b);
	g_array_append_val(churn->exchanged, a);
	g_array_append_val(churn->exchanged, b);
}

void churn_return_exchanged(struct churn *churn)
{
	for (uint32_t i = churn->exchanged->len; i > 1; i -= 2)
		exchange(churn, g_array_index(churn->exchanged, uint32_t, i - 2),
			 g_array_index(churn->exchanged, uint32_t, i - 1));
	g_array_set_size(churn->exchanged, 0);
}

/* ---- choice ---- */

uint32_t churn_choose(const struct churn *churn, uint64_t *state, enum churn_kind kind, bool out)
{
	uint32_t chosen = FABRIC_NONE, n = 0;

	for (uint32_t i = 0; i < churn->things->len; i++) {
		const struct churn_thing *thing = thing_at(churn, i);

		if (thing->kind == kind && thing->out == out && random_below(state, ++n) == 0)
			chosen = i;
	}
	return chosen;
}

const char *churn_name(const struct churn *churn, uint32_t i, char *buffer, size_t size)
{
	const struct churn_thing *thing = thing_at(churn, i);
	const struct churn_cable *cable = cable_at(churn, thing->cable);

	if (thing->kind == CHURN_CABLE)
		g_snprintf(buffer, size, "%c%s/%u-%s/%u", thing->out ? '-' : '+',
			   (const char *)cable->a->node->description.node_string, cable->a->num,
			   (const char *)cable->b->node->description.node_string, cable->b->num);
	else
		g_snprintf(buffer, size, "%c%s", thing->out ? '-' : '+',
			   (const char *)thing->node->description.node_string);
	return buffer;
}
