// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The groups of switches of an image. */
#ifndef WEB_FABRIC_VIEW_H
#define WEB_FABRIC_VIEW_H

#include "web/fabric/emit.h"
#include "web/fabric/fabric.h"

/* Switches of a level that are connected by it and those below, and the groups that it connects. */
struct view_group {
	uint32_t parent;	    /* IMAGE_NONE: none */
	uint32_t head;		    /* node: the switch of its level with the least GUID */
	uint32_t n_switches, n_own; /* in all; of its level */
	uint8_t level;
};

struct fabric_view {
	struct image image;
	struct view_group *groups; /* by level, then by head */
	uint32_t n_groups;
	uint32_t *group_of; /* [node]: the group of a switch's level; IMAGE_NONE: not a switch */
};

static inline bool view_is_switch(const struct fabric_view *view, uint32_t node)
{
	return view->image.nodes[node].type == IMAGE_SWITCH;
}

/* The node at the other end of a port's cable, also of one that was lost; or IMAGE_NONE. */
static inline uint32_t view_across(const struct fabric_view *view, uint32_t port)
{
	uint32_t peer = view->image.ports[port].peer;

	return peer == IMAGE_NONE ? IMAGE_NONE : view->image.ports[peer].node;
}

static inline bool view_is_up(const struct image_port *port)
{
	return port->state > 1;
}

/* The group with that head, or IMAGE_NONE; a group has the GUID of its head. */
uint32_t view_group_by_guid(const struct fabric_view *view, uint64_t guid);
/* The only group without parent; IMAGE_NONE: there are several, or none. */
uint32_t view_root(const struct fabric_view *view);

/* The first members of an answer. */
void view_emit_header(const struct fabric_view *view, struct emit *emit);

#endif
