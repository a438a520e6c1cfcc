// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What changed in the subnet, in words: nodes, links, GIDs and LIDs, each with names, for the log
 * and the journal. A flapping object is reported a few times, then once a minute, and once it is
 * stable again with the number of its changes. All on one actor.
 */
#ifndef CTL_REPORT_CHANGES_H
#define CTL_REPORT_CHANGES_H

#include "complib/actor.h"
#include "fabric/changes.h"

#define CHANGES_TOLD 1000 /* lines per publication; further changes are only counted */
#define CHANGES_BURST 6	  /* lines about one node, cable or port; then one per interval */
#define CHANGES_INTERVAL_NS (60 * NS_PER_S)
#define CHANGES_CALM_NS (10 * NS_PER_S)

struct changes;

/* One line. GUIDs are node GUIDs; port 0 is no port; peer_guid 0: there is no other end. */
struct changes_line {
	enum fabric_change_kind kind;
	bool with_node; /* GID of a node that another line reports */
	uint64_t guid, peer_guid;
	uint8_t port, peer_port;
	/* Of nodes: those that came or went with this one. */
	uint32_t more_switches, more_hosts;
	uint16_t lid;	     /* of the port, or of the node's first; 0: it has none */
	uint64_t generation; /* of the subnet that has it, or had it last */
	char *node;	     /* its name */
	char *text;
	char *notice; /* additional text about a GID, as the classic daemon has it; NULL: none */
};

/* "nodes_gone", "link_down" and so on: names for programs. */
const char *changes_kind_name(enum fabric_change_kind kind);

typedef void changes_fn(void *arg, const struct changes_line *line);

struct changes *changes_new(struct actor *actor, changes_fn *tell, void *arg);
void changes_free(struct changes *changes); /* NULL is fine */

/*
 * Reports the differences, which are those of fabric_changes(), but what the change of a node tells
 * of; returns the number of changes that were too many to report.
 */
unsigned int changes_tell(struct changes *changes, const GArray *all, const struct fabric *old,
			  const struct fabric *now, uint64_t subnet_prefix);

/* The members of a line that are numbers; texts are NULL. The fabric is the one that has it. */
struct changes_line changes_line_of(const struct fabric *fabric,
				    const struct fabric_change *change);
/* The text of a line, newly allocated. */
char *changes_text_of(const struct fabric *fabric, const struct fabric_change *change);

#endif
