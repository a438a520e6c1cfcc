// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What an operator at a terminal sees of a daemon (--progress). */
#ifndef CTL_PROGRESS_H
#define CTL_PROGRESS_H

#include <stdio.h>

#include "ctl/daemon.h"

struct progress;

/*
 * Shows the steps of the first sweep, a line for each later one, and how the daemon is once a
 * second. On a terminal that is its alone the last line is rewritten in place; elsewhere a line is
 * written when something has changed. Between daemon_new and daemon_start.
 */
struct progress *progress_new(struct daemon *daemon, FILE *out, bool alone);
void progress_free(struct progress *progress); /* after daemon_stop; NULL is fine */

#endif
