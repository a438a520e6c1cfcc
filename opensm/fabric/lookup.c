// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Look-ups in a frozen fabric: by GUID, the leaf of an endport, the name of a port. */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "complib/hash.h"
#include "core/printable.h"
#include "fabric/fabric_private.h"

/* Open addressing, at most half full; a slot holds an index or FABRIC_NONE. */
struct guid_table {
	uint32_t *slots;
	uint32_t mask;
};

struct fabric_guid_index {
	struct ref ref;
	struct guid_table ports, nodes;
};

static uint32_t guid_hash(uint64_t guid)
{
	return (uint32_t)(hash_spread(guid) >> 32);
}

static void table_init(struct guid_table *table, uint32_t n)
{
	uint32_t size = 8;

	while (size < 2 * n)
		size *= 2;
	table->mask = size - 1;
	table->slots = g_new(uint32_t, size);
	memset(table->slots, 0xFF, size * sizeof(uint32_t));
}

static uint64_t port_guid(const struct fabric *fabric, uint32_t port)
{
	return fabric->ports[port].guid;
}

static uint64_t node_guid(const struct fabric *fabric, uint32_t node)
{
	return fabric->nodes[node].guid;
}

/* The slot that holds the GUID, or the empty one where it belongs. */
static uint32_t *table_slot(const struct fabric *fabric, const struct guid_table *table,
			    uint64_t guid,
			    uint64_t (*guid_of)(const struct fabric *fabric, uint32_t object))
{
	uint32_t i = guid_hash(guid) & table->mask;

	while (table->slots[i] != FABRIC_NONE && guid_of(fabric, table->slots[i]) != guid)
		i = (i + 1) & table->mask;
	return &table->slots[i];
}

void fabric_index_guids(struct fabric *fabric)
{
	struct fabric_guid_index *index = g_new0(struct fabric_guid_index, 1);
	uint32_t n_endports = 0;

	ref_init(&index->ref);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		n_endports += fabric->ports[i].guid != 0;
	table_init(&index->ports, n_endports);
	table_init(&index->nodes, fabric->n_nodes);
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint32_t *slot;

		if (!fabric->ports[i].guid)
			continue;
		slot = table_slot(fabric, &index->ports, fabric->ports[i].guid, port_guid);
		if (*slot == FABRIC_NONE)
			*slot = i;
	}
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		*table_slot(fabric, &index->nodes, fabric->nodes[i].guid, node_guid) = i;
	fabric->by_guid = index;
}

struct fabric_guid_index *fabric_guid_index_ref(struct fabric_guid_index *index)
{
	ref_get(&index->ref);
	return index;
}

void fabric_guid_index_unref(struct fabric_guid_index *index)
{
	if (!index || !ref_put(&index->ref))
		return;
	g_free(index->ports.slots);
	g_free(index->nodes.slots);
	g_free(index);
}

uint32_t fabric_port_by_guid(const struct fabric *fabric, uint64_t guid)
{
	return *table_slot(fabric, &fabric->by_guid->ports, guid, port_guid);
}

uint32_t fabric_port_guess(const struct fabric *fabric, uint64_t guid)
{
	const struct guid_table *table = &fabric->by_guid->ports;

	return table->slots[guid_hash(guid) & table->mask];
}

uint32_t fabric_node_by_guid(const struct fabric *fabric, uint64_t guid)
{
	return *table_slot(fabric, &fabric->by_guid->nodes, guid, node_guid);
}

uint32_t fabric_leaf(const struct fabric *fabric, uint32_t endport, uint8_t *exit)
{
	const struct fabric_port *port = &fabric->ports[endport];
	uint32_t sw = fabric->nodes[port->node].sw;

	*exit = 0;
	if (sw != FABRIC_NONE)
		return sw;
	if (port->peer == FABRIC_NONE)
		return FABRIC_NONE;
	*exit = fabric->ports[port->peer].num;
	return fabric->nodes[fabric->ports[port->peer].node].sw;
}

/* ---- names ---- */

/*
 * Escapes characters other than printable ASCII as \xNN; does not cut an escape. Returns the
 * length.
 */
static size_t escape(const char *text, char *buffer, size_t size)
{
	size_t n = 0;

	for (const char *c = text; *c; c++) {
		bool plain = g_ascii_isprint(*c) && *c != '\\';

		if (n + (plain ? 1 : 4) >= size)
			break;
		if (plain)
			buffer[n++] = *c;
		else
			n += snprintf(buffer + n, size - n, "\\x%02x", (unsigned char)*c);
	}
	buffer[n] = '\0';
	return n;
}

/* A switch has a port GUID at port 0 only. */
static const char *name_by_port(const struct fabric *fabric, const struct fabric_node *node)
{
	const char *name = node_names_find(fabric->names, node->info.port_guid);
	unsigned int last = node->sw == FABRIC_NONE ? node->num_ports : 0;

	for (unsigned int num = 0; num <= last && !name; num++)
		name = node_names_find(fabric->names, fabric->ports[node->first_port + num].guid);
	return name;
}

const char *fabric_given_name(const struct fabric *fabric, uint32_t index)
{
	const struct fabric_node *node = &fabric->nodes[index];
	const char *name;

	if (node_names_are_empty(fabric->names))
		return NULL;
	name = node_names_find(fabric->names, node->guid);
	return name ? name : name_by_port(fabric, node);
}

const char *fabric_called(const struct fabric *fabric, uint32_t node)
{
	const char *name = fabric_given_name(fabric, node);

	return name ? name : fabric->nodes[node].description;
}

char *fabric_shown_name(const struct fabric *fabric, uint32_t node)
{
	char *name = printable_text(fabric_called(fabric, node));

	if (*name)
		return name;
	g_free(name);
	return g_strdup_printf("0x%016" G_GINT64_MODIFIER "x", fabric->nodes[node].guid);
}

bool fabric_is_called(const struct fabric *fabric, uint32_t node, const char *word)
{
	return !g_strcmp0(fabric_given_name(fabric, node), word) ||
	       !strcmp(fabric->nodes[node].description, word);
}

/* A given name is harmless. */
const char *fabric_node_name(const struct fabric *fabric, uint32_t index, char *buffer, size_t size)
{
	const struct fabric_node *node = &fabric->nodes[index];
	const char *name = fabric_given_name(fabric, index);
	size_t n;

	g_assert(size > 0);
	n = name ? MIN(g_strlcpy(buffer, name, size), size - 1)
		 : escape(node->description, buffer, size);
	snprintf(buffer + n, size - n, "%s(0x%016" G_GINT64_MODIFIER "x)", n ? " " : "",
		 node->guid);
	return buffer;
}

const char *fabric_port_name(const struct fabric *fabric, uint32_t port, char *buffer, size_t size)
{
	size_t n = strlen(fabric_node_name(fabric, fabric->ports[port].node, buffer, size));

	snprintf(buffer + n, size - n, " port %u", fabric->ports[port].num);
	return buffer;
}

/* ---- room for multicast ---- */

static bool has_endports(const struct fabric *fabric, uint32_t sw)
{
	const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];

	for (unsigned int num = 1; num <= node->num_ports; num++) {
		uint32_t peer = fabric->ports[node->first_port + num].peer;

		if (peer != FABRIC_NONE && !fabric_is_switch(fabric, fabric->ports[peer].node))
			return true;
	}
	return false;
}

/*
 * Searches from a switch through those with that much room; returns how many wanted ones it
 * reaches.
 */
static uint32_t spread(const struct fabric *fabric, uint32_t from, uint32_t room,
		       const bool *wanted, bool *met, uint32_t *queue)
{
	uint32_t n = 0, n_wanted = 0;

	met[from] = true;
	queue[n++] = from;
	for (uint32_t i = 0; i < n; i++) {
		const struct fabric_node *node = &fabric->nodes[fabric->switches[queue[i]].node];

		n_wanted += wanted[queue[i]];
		for (unsigned int num = 1; num <= node->num_ports; num++) {
			uint32_t peer = fabric->ports[node->first_port + num].peer, to;

			to = peer == FABRIC_NONE ? FABRIC_NONE
						 : fabric->nodes[fabric->ports[peer].node].sw;
			if (to == FABRIC_NONE || met[to] || fabric_mlids(fabric, to) < room)
				continue;
			met[to] = true;
			queue[n++] = to;
		}
	}
	return n_wanted;
}

/*
 * Whether switches with that much room join as many of the wanted ones as those with any room do.
 */
static bool room_joins(const struct fabric *fabric, uint32_t room, const bool *wanted)
{
	g_autofree bool *met = g_new0(bool, fabric->n_switches);
	g_autofree bool *met_with_any = g_new0(bool, fabric->n_switches);
	g_autofree uint32_t *queue = g_new(uint32_t, fabric->n_switches);

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		if (wanted[sw] && !met_with_any[sw] &&
		    (fabric_mlids(fabric, sw) < room ||
		     spread(fabric, sw, room, wanted, met, queue) !=
			     spread(fabric, sw, 1, wanted, met_with_any, queue)))
			return false;
	return true;
}

static uint32_t next_room(const struct fabric *fabric, uint32_t below)
{
	uint32_t next = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		if (fabric_mlids(fabric, sw) < below)
			next = MAX(next, fabric_mlids(fabric, sw));
	return next;
}

/* Switches with endports, except those that do not forward multicast. */
static bool *wanted_switches(const struct fabric *fabric)
{
	bool *wanted = g_new0(bool, fabric->n_switches);

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		wanted[sw] = fabric_mlids(fabric, sw) && has_endports(fabric, sw);
	return wanted;
}

uint32_t fabric_multicast_parts(const struct fabric *fabric)
{
	g_autofree bool *wanted = wanted_switches(fabric);
	g_autofree bool *met = g_new0(bool, fabric->n_switches);
	g_autofree uint32_t *queue = g_new(uint32_t, fabric->n_switches);
	uint32_t parts = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		if (wanted[sw] && !met[sw]) {
			spread(fabric, sw, 1, wanted, met, queue);
			parts++;
		}
	return parts;
}

uint16_t fabric_mlid_top(const struct fabric *fabric)
{
	g_autofree bool *wanted = wanted_switches(fabric);
	uint32_t room = next_room(fabric, UINT32_MAX);

	while (room && !room_joins(fabric, room, wanted))
		room = next_room(fabric, room);
	room = room ? room : IBA_LID_MCAST_LAST;
	return (uint16_t)(IBA_LID_MCAST_FIRST - 1 +
			  MIN(room, IBA_LID_MCAST_LAST - IBA_LID_MCAST_FIRST + 1u));
}

void fabric_count_silent(const struct fabric *fabric, uint32_t *nodes, uint32_t *links)
{
	*nodes = *links = 0;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		*nodes += fabric->nodes[i].silent;
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		*links += fabric_is_silent_link(fabric, i);
}
