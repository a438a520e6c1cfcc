// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What changed in the subnet, in words: nodes, links, GIDs and LIDs, each with names, for the log
 * and the journal. What flaps is told a few times, then once a minute, and when it is calm again
 * how often it changed. All on one actor.
 */
#ifndef CTL_REPORT_CHANGES_H
#define CTL_REPORT_CHANGES_H

#include "complib/actor.h"
#include "fabric/changes.h"

#define CHANGES_TOLD 1000 /* of one publication; of more the number is told */
#define CHANGES_BURST 6	  /* of one node, cable or port, then one each interval */
#define CHANGES_INTERVAL_NS (60 * NS_PER_S)
#define CHANGES_CALM_NS (10 * NS_PER_S)

struct changes;

/* One line. GUIDs are those of nodes, port 0 is none; peer_guid 0: there is no other end. */
struct changes_line {
	enum fabric_change_kind kind;
	bool with_node; /* a GID of a node that another line tells of */
	uint64_t guid, peer_guid;
	uint8_t port, peer_port;
	char *text;
	char *notice; /* how the classic daemon tells of a GID beside that; NULL: not at all */
};

/* "nodes_gone", "link_down" and so on: names for programs. */
const char *changes_kind_name(enum fabric_change_kind kind);

typedef void changes_fn(void *arg, const struct changes_line *line);

struct changes *changes_new(struct actor *actor, changes_fn *tell, void *arg);
void changes_free(struct changes *changes); /* NULL is fine */

/* Tells what differs; the number of changes that were too many to be told. */
unsigned int changes_compare(struct changes *changes, const struct fabric *old,
			     const struct fabric *now, uint64_t subnet_prefix);

#endif
