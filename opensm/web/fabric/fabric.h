// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Answers about the fabric as JSON, out of an image (client/image.h). Pure: no HTTP, no daemon.
 *
 * Each answer begins with what it is about: run, serial, generation, counters (numbers as in the
 * image), made and counters_read (seconds since 1970), window (seconds that rates are about).
 * Tables are {"columns": [names], "rows": [[...], ...]}. GUIDs are "0x" and 16 digits; a number
 * from 2^53 on is a text. A list has at most 1,000 rows, and "next" if there are more: the argument
 * after for the next part.
 */
#ifndef WEB_FABRIC_FABRIC_H
#define WEB_FABRIC_FABRIC_H

#include "client/image.h"

#define FABRIC_ERROR fabric_error_quark()
GQuark fabric_error_quark(void);
enum fabric_error {
	FABRIC_WRONG,	  /* an argument */
	FABRIC_NOT_FOUND, /* what an argument names */
};

#define FABRIC_WHOLE_MAX 500

/* An image with the groups of its switches. Immutable. */
struct fabric_view;

/* The file remains the caller's. NULL and error if it is not an image. */
struct fabric_view *fabric_view_new(int file, GError **error);
void fabric_view_free(struct fabric_view *view); /* NULL is fine */
const struct image_header *fabric_view_header(const struct fabric_view *view);

/* The value of an argument; NULL: it was not given. */
typedef const char *fabric_argument_fn(const void *from, const char *name);

/*
 * Each appends an answer to out. False and error: nothing was appended.
 *
 * fabric_summary: totals, levels, and what fabric_links() has without arguments; no arguments.
 *
 * fabric_links: boxes and the bundles of cables between them. Switches at the same or a lower level
 * that cables connect are a group; a group opens to its highest switches and to the groups that
 * remain without these. Many switches with the same neighbours are a set, and many groups are
 * together. Without arguments: the fabric. group=, set=, groups=GUID: what a box has as "open".
 *
 * fabric_whole: each switch as a box, the groups they are in, and all bundles; no arguments. For
 * fabrics of at most FABRIC_WHOLE_MAX switches.
 *
 * fabric_where: node=GUID: the boxes that are to be opened one after the other to see a switch, or
 * the switch at which a host is, and the box of that switch.
 *
 * fabric_nodes: level=N: switches of that level, 1 being the lowest, 0 all others; switch=GUID:
 * hosts at it; group=, set=, groups=: the boxes alone; name=, lid=, problem=, limit=, after=: of
 * all nodes.
 *
 * fabric_ports: node=GUID, state=, problem=, name= (part of the node's name), lid=, limit=, after=;
 * sort=load|wait|errors: those with the greatest, without after.
 *
 * fabric_cable: node=GUID port=N: both ends of a cable with all counters.
 */
typedef bool fabric_answer_fn(const struct fabric_view *view, fabric_argument_fn *get,
			      const void *from, GString *out, GError **error);
fabric_answer_fn fabric_summary;
fabric_answer_fn fabric_links;
fabric_answer_fn fabric_whole;
fabric_answer_fn fabric_where;
fabric_answer_fn fabric_nodes;
fabric_answer_fn fabric_ports;
fabric_answer_fn fabric_cable;

/*
 * The line of the console that asks for the history of a port, newly allocated: node=GUID port=N,
 * value=rate|load|wait|errors (PortRcvErrors), hours=1..24 (0: what is in memory). NULL and error.
 */
char *fabric_history_line(fabric_argument_fn *get, const void *from, GError **error);

#endif
