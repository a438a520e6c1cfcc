// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The daemon's end of the link to the host of a plug-in, on the loop of the daemon. It never
 * blocks: what the host does not take yet waits here, and what is read costs at most a fifth of the
 * loop's time, however much the host sends.
 */
#ifndef CTL_PLUGIN_LINK_END_H
#define CTL_PLUGIN_LINK_END_H

#include "plugin/base/link.h"

struct link_end;

struct link_end_user {
	/*
	 * A message came. Files that are not set to -1 are closed afterwards. False: it is not one
	 * that a host may send now, and the end is closed.
	 */
	bool (*take)(void *arg, const struct link_head *head, const void *octets,
		     int files[LINK_FILES]);
	void (*clear)(void *arg); /* all that was sent is on its way */
	void (*ended)(void *arg); /* the last call, of the loop: the other end is closed */
	void *arg;
};

/* Takes the descriptor over. loop: NULL is the default one. The callbacks must not free it. */
struct link_end *link_end_new(int end, GMainContext *loop, const struct link_end_user *user);
void link_end_free(struct link_end *end); /* NULL is fine */

/* Sends head->length octets, and a file (-1: none), which is taken over. */
void link_end_send(struct link_end *end, const struct link_head *head, const void *octets,
		   int file);
bool link_end_is_clear(const struct link_end *end);
/* For a caller that does not run the loop: reads and writes what there is, within that time. */
void link_end_work(struct link_end *end, int timeout_ms);

#endif
