// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The view of the performance manager on a terminal: the ports with the most of something, drawn
 * again every two seconds until q or Ctrl-C.
 */
#ifndef OPENSMCTL_WATCH_H
#define OPENSMCTL_WATCH_H

#include "opensmctl/peer.h"

/* The command of this line is shown as that view if there is a terminal. */
bool watch_is_meant(const char *line);
/* The standard input and output are a terminal that can move its cursor. */
bool watch_is_wanted(void);

/* False and error, of CLIENT_ERROR, if the connection is lost. The terminal is left as it was. */
bool watch_run(struct peer *peer, GError **error);

/* ---- for tests ---- */

struct watch_look {
	unsigned int columns, rows;
	bool colour, utf8;
};
/*
 * A picture of at most rows lines, each of at most columns characters, from the answers to
 * "perfmgr json" and "perfmgr top ... json"; newly allocated. Nothing in them can control the
 * terminal.
 */
char *watch_draw(const char *state, const char *top, const struct watch_look *look);
/* What each answer about the ports is asked with: by the key that chose it; NULL: no such key. */
const char *watch_value_of_key(char key);

#endif
