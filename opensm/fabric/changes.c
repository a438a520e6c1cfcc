// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See changes.h. Both fabrics are searched for what the other one lacks. */
#include "fabric/changes.h"

/* One direction of the comparison. */
struct side {
	const struct fabric *has, *lacks;
	bool *lacking; /* per node of has: the other fabric has no node with its GUID */
	GArray *changes;
};

/* The port of the same node GUID and number in the other fabric, or FABRIC_NONE. */
static uint32_t counterpart(const struct side *side, uint32_t port)
{
	const struct fabric_port *p = &side->has->ports[port];
	uint32_t node = fabric_node_by_guid(side->lacks, side->has->nodes[p->node].guid);

	if (node == FABRIC_NONE || p->num > side->lacks->nodes[node].num_ports)
		return FABRIC_NONE;
	return fabric_port_of(side->lacks, node, p->num);
}

static bool is_linked(const struct fabric *fabric, uint32_t port)
{
	return port != FABRIC_NONE && fabric->ports[port].peer != FABRIC_NONE;
}

/* Switches come before the hosts connected to them, those nearer to the SM first. */
static uint32_t distance(const struct fabric *fabric, uint32_t node)
{
	uint32_t sw = fabric->nodes[node].sw;

	return sw == FABRIC_NONE ? UINT32_MAX : fabric->switches[sw].hops;
}

/* ---- nodes ---- */

/* Nodes behind the cables of an added or removed node are counted with it, else its cables are. */
static void visit(const struct side *side, uint32_t node, struct fabric_change *change,
		  bool *visited, GArray *queue)
{
	const struct fabric *fabric = side->has;

	for (unsigned int num = 1; num <= fabric->nodes[node].num_ports; num++) {
		uint32_t port = fabric_port_of(fabric, node, (uint8_t)num);
		uint32_t peer = fabric->ports[port].peer, other;

		if (peer == FABRIC_NONE)
			continue;
		other = fabric->ports[peer].node;
		if (!side->lacking[other]) {
			if (!change->links++) {
				change->port = peer;
				change->peer = port;
			}
		} else if (!visited[other]) {
			visited[other] = true;
			change->more_switches += fabric_is_switch(fabric, other);
			change->more_hosts += !fabric_is_switch(fabric, other);
			if (distance(fabric, other) < distance(fabric, change->node))
				change->node = other;
			g_array_append_val(queue, other);
		}
	}
}

/* The nodes in the queue but their leader. */
static void add_others(const struct side *side, const struct fabric_change *leader,
		       const GArray *queue)
{
	for (guint i = 0; i < queue->len; i++) {
		struct fabric_change change = {.kind = leader->kind,
					       .node = g_array_index(queue, uint32_t, i),
					       .port = FABRIC_NONE,
					       .peer = FABRIC_NONE,
					       .with_node = true};

		if (change.node != leader->node)
			g_array_append_val(side->changes, change);
	}
}

static void find_nodes(const struct side *side, enum fabric_change_kind kind)
{
	g_autofree bool *visited = g_new0(bool, side->has->n_nodes);
	g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t node = 0; node < side->has->n_nodes; node++) {
		struct fabric_change change = {
			.kind = kind, .node = node, .port = FABRIC_NONE, .peer = FABRIC_NONE};

		if (!side->lacking[node] || visited[node])
			continue;
		visited[node] = true;
		g_array_set_size(queue, 0);
		g_array_append_val(queue, node);
		for (guint i = 0; i < queue->len; i++)
			visit(side, g_array_index(queue, uint32_t, i), &change, visited, queue);
		if (fabric_is_switch(side->has, change.node) !=
		    fabric_is_switch(side->has, node)) { /* counted with a switch, so not itself */
			change.more_switches--;
			change.more_hosts++;
		}
		g_array_append_val(side->changes, change);
		add_others(side, &change, queue);
	}
}

/* ---- links and ports ---- */

static void add_link(const struct side *side, enum fabric_change_kind kind, uint32_t first)
{
	const struct fabric_port *port = &side->has->ports[first];
	uint32_t other = side->has->ports[port->peer].node;
	struct fabric_change change = {.kind = kind,
				       .node = port->node,
				       .port = first,
				       .peer = port->peer,
				       .with_node =
					       side->lacking[port->node] || side->lacking[other]};

	g_array_append_val(side->changes, change);
}

static void find_links(const struct side *side, enum fabric_change_kind kind)
{
	const struct fabric *fabric = side->has;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint32_t peer = fabric->ports[i].peer, same, first;

		if (peer == FABRIC_NONE || peer < i)
			continue;
		same = counterpart(side, i);
		if (is_linked(side->lacks, same) &&
		    side->lacks->ports[same].peer == counterpart(side, peer))
			continue;
		first = distance(fabric, fabric->ports[peer].node) <
					distance(fabric, fabric->ports[i].node)
				? peer
				: i;
		add_link(side, kind, first);
	}
}

static bool is_in_service(const struct fabric *fabric, uint32_t port)
{
	return port != FABRIC_NONE && fabric_is_endport(fabric, port) &&
	       fabric->ports[port].known && fabric->ports[port].lid != 0 &&
	       fabric_is_connected(fabric, port);
}

static void find_ports(const struct side *side, enum fabric_change_kind kind)
{
	for (uint32_t i = 0; i < side->has->n_ports; i++) {
		const struct fabric_port *port = &side->has->ports[i];
		struct fabric_change change = {.kind = kind,
					       .node = port->node,
					       .port = i,
					       .peer = FABRIC_NONE,
					       .with_node = side->lacking[port->node]};

		if (is_in_service(side->has, i) &&
		    !is_in_service(side->lacks, fabric_port_by_guid(side->lacks, port->guid)))
			g_array_append_val(side->changes, change);
	}
}

/* Ports that are in service in both fabrics. */
static void find_lids(const struct side *side)
{
	for (uint32_t i = 0; i < side->has->n_ports; i++) {
		const struct fabric_port *port = &side->has->ports[i];
		uint32_t was = is_in_service(side->has, i)
				       ? fabric_port_by_guid(side->lacks, port->guid)
				       : FABRIC_NONE;
		struct fabric_change change = {.kind = FABRIC_LID_CHANGED,
					       .node = port->node,
					       .port = i,
					       .peer = FABRIC_NONE};

		if (!is_in_service(side->lacks, was) || side->lacks->ports[was].lid == port->lid)
			continue;
		change.old_lid = side->lacks->ports[was].lid;
		g_array_append_val(side->changes, change);
	}
}

static void compare(struct side *side, enum fabric_change_kind nodes, enum fabric_change_kind links,
		    enum fabric_change_kind ports)
{
	g_autofree bool *lacking = g_new(bool, side->has->n_nodes);

	for (uint32_t i = 0; i < side->has->n_nodes; i++)
		lacking[i] =
			fabric_node_by_guid(side->lacks, side->has->nodes[i].guid) == FABRIC_NONE;
	side->lacking = lacking;
	find_nodes(side, nodes);
	find_links(side, links);
	find_ports(side, ports);
}

GArray *fabric_changes(const struct fabric *old, const struct fabric *now)
{
	GArray *changes = g_array_new(FALSE, FALSE, sizeof(struct fabric_change));
	struct side lost = {.has = old, .lacks = now, .changes = changes};
	struct side found = {.has = now, .lacks = old, .changes = changes};

	compare(&lost, FABRIC_NODES_GONE, FABRIC_LINK_DOWN, FABRIC_PORT_GONE);
	compare(&found, FABRIC_NODES_NEW, FABRIC_LINK_UP, FABRIC_PORT_NEW);
	find_lids(&found);
	return changes;
}
