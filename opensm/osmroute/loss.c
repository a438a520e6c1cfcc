// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Cables are listed in the order of the walk, so the same seed selects the same cables. */
#include "osmroute/loss.h"

#include "complib/random.h"

struct cable {
	struct builder_port *a, *b;
};

/* Each cable is found from both ends and listed from the first. */
static GArray *list_cables(struct builder *builder)
{
	GPtrArray *order = builder_walk(builder);
	GArray *cables = g_array_new(FALSE, FALSE, sizeof(struct cable));

	for (uint32_t i = 0; i < order->len; i++) {
		struct builder_node *node = order->pdata[i];

		for (unsigned int num = 1; builder_is_switch(node) && num <= node->info.num_ports;
		     num++) {
			struct cable cable = {&node->ports[num], node->ports[num].peer};

			if (!cable.b || !builder_is_switch(cable.b->node) ||
			    cable.b->node->index < node->index ||
			    (cable.b->node == node && cable.b->num < num))
				continue;
			g_array_append_val(cables, cable);
		}
	}
	g_ptr_array_unref(order);
	return cables;
}

uint32_t loss_cables(struct builder *builder)
{
	g_autoptr(GArray) cables = list_cables(builder);

	return cables->len;
}

GArray *loss_take(struct builder *builder, uint32_t n, uint64_t *state)
{
	GArray *cables = list_cables(builder);

	n = MIN(n, cables->len);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t other = i + random_below(state, cables->len - i);
		struct cable *here = &g_array_index(cables, struct cable, i), swap = *here;

		*here = g_array_index(cables, struct cable, other);
		g_array_index(cables, struct cable, other) = swap;
		builder_unlink(here->a);
	}
	return g_array_set_size(cables, n);
}

static void take(GArray *lost, struct builder_port *port)
{
	struct cable cable = {port, port->peer};

	if (!cable.b)
		return;
	builder_unlink(port);
	g_array_append_val(lost, cable);
}

GArray *loss_take_cable(struct builder_port *port)
{
	GArray *lost = g_array_new(FALSE, FALSE, sizeof(struct cable));

	take(lost, port);
	return lost;
}

GArray *loss_take_node(struct builder_node *node)
{
	GArray *lost = g_array_new(FALSE, FALSE, sizeof(struct cable));

	for (unsigned int num = 1; num <= node->info.num_ports; num++)
		take(lost, &node->ports[num]);
	return lost;
}

void loss_restore(GArray *lost)
{
	for (uint32_t i = 0; i < lost->len; i++) {
		const struct cable *cable = &g_array_index(lost, struct cable, i);

		builder_link(cable->a, cable->b);
	}
	g_array_unref(lost);
}
