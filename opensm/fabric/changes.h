// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What changed from one fabric to the next, as a list. Objects are matched by GUID, cables by both
 * of their ends. Of connected nodes that appeared or disappeared together, the change of one tells
 * of all: a leaf switch with its hosts. Those of the others, their cables and ports are in the list
 * as well, marked.
 */
#ifndef FABRIC_CHANGES_H
#define FABRIC_CHANGES_H

#include <glib.h>

#include "fabric/fabric.h"

enum fabric_change_kind {
	FABRIC_NODES_GONE,
	FABRIC_LINK_DOWN,
	FABRIC_PORT_GONE, /* an endport with a LID: out of service */
	FABRIC_NODES_NEW,
	FABRIC_LINK_UP,
	FABRIC_PORT_NEW, /* an endport with a LID: in service */
	FABRIC_LID_CHANGED,
};

/* Indices refer to the old fabric for what was removed, else to the new one. */
struct fabric_change {
	enum fabric_change_kind kind;
	/*
	 * Nodes that lead others: the one nearest to the SM, how many more appeared or disappeared
	 * with it, and the number of their cables to nodes that stay.
	 */
	uint32_t node, more_switches, more_hosts;
	uint32_t links;
	/*
	 * Links: the end nearer to the SM, and the other. Nodes: the two ends of their first cable
	 * to a node that stays; FABRIC_NONE: there is none. Ports: the endport, and FABRIC_NONE.
	 */
	uint32_t port, peer;
	/*
	 * The change of a node tells of it: one that it leads, a cable at one of these, or an
	 * endport of the node, which was added or removed too.
	 */
	bool with_node;
	uint16_t old_lid; /* FABRIC_LID_CHANGED only */
};

/* Array of struct fabric_change, in the order of the kinds. */
GArray *fabric_changes(const struct fabric *old, const struct fabric *now);

/* Whether its indices refer to the old fabric. */
static inline bool fabric_change_is_loss(const struct fabric_change *change)
{
	return change->kind <= FABRIC_PORT_GONE;
}

#endif
