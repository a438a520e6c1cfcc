// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shows an operator at a terminal what a daemon does (--progress). */
#ifndef CTL_REPORT_PROGRESS_H
#define CTL_REPORT_PROGRESS_H

#include <stdio.h>

#include "ctl/daemon.h"

struct journal;
struct progress;

/*
 * Shows the steps of the first sweep, commands to try next, a line for each later sweep, and once a
 * second the state of the daemon, the reason of the last sweep and the latest event. On a terminal
 * that the daemon has to itself these last lines are rewritten in place; elsewhere a line is
 * written when something changed. Between daemon_new and daemon_start; the journal outlives it.
 */
struct progress *progress_new(struct daemon *daemon, const struct journal *journal, FILE *out,
			      bool alone);
void progress_free(struct progress *progress); /* after daemon_stop; NULL is fine */

#endif
