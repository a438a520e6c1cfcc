// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The nodes that cables connect to a port: switches pass packets on, adapters with several ports do
 * not.
 */
#include "libvendor/sim/topology.h"

#define NAMES_TOLD 16

struct place {
	unsigned int node, port;
};

/* As in sim_open(): the port with that GUID; 0: the first of a host with a cable. */
static bool find_place(const struct topology *topology, uint64_t guid, struct place *place)
{
	for (unsigned int i = 0; i < topology->nodes->len; i++) {
		const struct topology_node *node = topology_node(topology, i);

		for (unsigned int num = 0; num <= node->num_ports; num++) {
			const struct topology_port *port = topology_port(topology, i, num);

			*place = (struct place){i, num};
			if (guid ? port->guid == guid
				 : num && node->type == IBA_NODE_CA && port->peer >= 0)
				return true;
		}
	}
	return false;
}

static void join(bool *joined, GArray *queue, unsigned int node)
{
	if (!joined[node])
		g_array_append_val(queue, node);
	joined[node] = true;
}

static void walk(const struct topology *topology, const struct place *from, bool *joined)
{
	g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(unsigned int));
	bool is_switch = topology_node(topology, from->node)->type == IBA_NODE_SWITCH;
	int32_t peer = topology_port(topology, from->node, from->port)->peer;

	joined[from->node] = true;
	if (is_switch)
		g_array_append_val(queue, from->node);
	else if (peer >= 0)
		join(joined, queue, (unsigned int)peer);
	for (guint i = 0; i < queue->len; i++) {
		unsigned int node = g_array_index(queue, unsigned int, i);

		if (topology_node(topology, node)->type != IBA_NODE_SWITCH)
			continue;
		for (unsigned int num = 1; num <= topology_node(topology, node)->num_ports; num++) {
			peer = topology_port(topology, node, num)->peer;
			if (peer >= 0)
				join(joined, queue, (unsigned int)peer);
		}
	}
}

static char *name_of(const struct topology *topology, const struct place *place)
{
	const struct topology_node *node = topology_node(topology, place->node);
	g_autofree char *name = g_strescape(node->description, NULL);

	return node->type == IBA_NODE_SWITCH ? g_steal_pointer(&name)
					     : g_strdup_printf("%s port %u", name, place->port);
}

static void add_count(GString *text, unsigned int n, const char *one, const char *many)
{
	if (n)
		g_string_append_printf(text, "%s%u %s", text->len ? " and " : "", n,
				       n == 1 ? one : many);
}

/* Adds the names of the switches, or of the hosts if there are none. */
static void add_names(GString *text, const struct topology *topology, const bool *joined,
		      bool switches)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < topology->nodes->len; i++) {
		const struct topology_node *node = topology_node(topology, i);
		g_autofree char *name = NULL;

		if (joined[i] || (node->type == IBA_NODE_SWITCH) != switches || n++ >= NAMES_TOLD)
			continue;
		name = g_strescape(node->description, NULL);
		g_string_append_printf(text, "%s%s", n > 1 ? ", " : ": ", name);
	}
	if (n > NAMES_TOLD)
		g_string_append_printf(text, " and %u more", n - NAMES_TOLD);
}

char *topology_tell_unjoined(const struct topology *topology, uint64_t port_guid)
{
	g_autofree bool *joined = g_new0(bool, topology->nodes->len);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *name = NULL;
	unsigned int switches = 0, others = 0;
	struct place from;

	if (!find_place(topology, port_guid, &from))
		return NULL;
	walk(topology, &from, joined);
	for (unsigned int i = 0; i < topology->nodes->len; i++) {
		bool is_switch = topology_node(topology, i)->type == IBA_NODE_SWITCH;

		switches += !joined[i] && is_switch;
		others += !joined[i] && !is_switch;
	}
	if (!switches && !others)
		return NULL;
	name = name_of(topology, &from);
	add_count(text, switches, "switch", "switches");
	add_count(text, others, "other node", "other nodes");
	g_string_append_printf(text, " of the topology that no cables join to %s", name);
	add_names(text, topology, joined, switches > 0);
	return g_string_free(g_steal_pointer(&text), FALSE);
}
