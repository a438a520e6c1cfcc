// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What changed between two fabrics. Objects are matched by GUID, cables by those of their ends. */
#include <glib.h>

#include "fabric/fabric.h"

/* Endports of a whose GUID b lacks; *n_moved counts those that b has with another LID. */
static GArray *endports_missing(const struct fabric *a, const struct fabric *b, uint32_t *n_moved)
{
	GArray *missing = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < a->n_ports; i++) {
		uint32_t other;

		if (!fabric_is_endport(a, i))
			continue;
		other = fabric_port_by_guid(b, a->ports[i].guid);
		if (other == FABRIC_NONE)
			g_array_append_val(missing, i);
		else if (a->ports[i].lid != b->ports[other].lid && n_moved)
			(*n_moved)++;
	}
	return missing;
}

/* The port of the same node GUID and number, or FABRIC_NONE. */
static uint32_t counterpart(const struct fabric *from, uint32_t port, const struct fabric *to)
{
	uint32_t node = fabric_node_by_guid(to, from->nodes[from->ports[port].node].guid);
	uint8_t num = from->ports[port].num;

	if (node == FABRIC_NONE || num > to->nodes[node].num_ports)
		return FABRIC_NONE;
	return fabric_port_of(to, node, num);
}

static uint32_t links_missing(const struct fabric *a, const struct fabric *b)
{
	uint32_t missing = 0;

	for (uint32_t i = 0; i < a->n_ports; i++) {
		uint32_t peer = a->ports[i].peer, other;

		if (peer == FABRIC_NONE || peer < i)
			continue;
		other = counterpart(a, i, b);
		missing += other == FABRIC_NONE || b->ports[other].peer == FABRIC_NONE ||
			   b->ports[other].peer != counterpart(a, peer, b);
	}
	return missing;
}

void fabric_diff(const struct fabric *old, const struct fabric *now, struct fabric_diff *diff)
{
	GArray *ports_new, *ports_lost;

	*diff = (struct fabric_diff){ 0 };
	ports_new = endports_missing(now, old, &diff->n_moved);
	ports_lost = endports_missing(old, now, NULL);
	diff->n_new = ports_new->len;
	diff->n_lost = ports_lost->len;
	diff->ports_new = (uint32_t *)g_array_free(ports_new, FALSE);
	diff->ports_lost = (uint32_t *)g_array_free(ports_lost, FALSE);
	diff->links_new = links_missing(now, old);
	diff->links_lost = links_missing(old, now);
}

void fabric_diff_clear(struct fabric_diff *diff)
{
	g_free(diff->ports_new);
	g_free(diff->ports_lost);
	*diff = (struct fabric_diff){ 0 };
}
