// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What changed from one fabric to the next, as a list. Objects are matched by GUID, cables by both
 * of their ends. Nodes that hung together and came or went at once are one change: a leaf switch
 * with its hosts; what connected them to each other is not told apart from them.
 */
#ifndef FABRIC_CHANGES_H
#define FABRIC_CHANGES_H

#include <glib.h>

#include "fabric/fabric.h"

enum fabric_change_kind {
	FABRIC_NODES_GONE,
	FABRIC_LINK_DOWN, /* between nodes that both stay */
	FABRIC_PORT_GONE, /* an endport with a LID: out of service */
	FABRIC_NODES_NEW,
	FABRIC_LINK_UP,
	FABRIC_PORT_NEW, /* an endport with a LID: in service */
	FABRIC_LID_CHANGED,
};

/* Indices are those of the old fabric for what is gone, else of the new one. */
struct fabric_change {
	enum fabric_change_kind kind;
	/* Of nodes: the one nearest to the SM, and how many more came or went with it. */
	uint32_t node, more_switches, more_hosts;
	/* Of nodes: their cables to nodes that stay. */
	uint32_t links;
	/*
	 * The cable, or of nodes the first of theirs: the end nearer to the SM, and the other;
	 * FABRIC_NONE: there is none. Of ports: the endport, and FABRIC_NONE.
	 */
	uint32_t port, peer;
	bool with_node;	  /* of ports: its node came or went, too, and is a change of its own */
	uint16_t old_lid; /* of FABRIC_LID_CHANGED */
};

/* Of struct fabric_change, in the order of the kinds. */
GArray *fabric_changes(const struct fabric *old, const struct fabric *now);

/* Whether its indices are those of the old fabric. */
static inline bool fabric_change_is_loss(const struct fabric_change *change)
{
	return change->kind <= FABRIC_PORT_GONE;
}

#endif
