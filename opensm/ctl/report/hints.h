// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the user at a terminal may type next. */
#ifndef CTL_REPORT_HINTS_H
#define CTL_REPORT_HINTS_H

#include "ctl/daemon.h"

/*
 * Commands, one per line, that work unchanged in another shell of this user: they ask the daemon by
 * its control socket. One of them pulls a cable, if the fabric is simulated. NULL: there is no such
 * socket. Newly allocated; on the daemon's actor "main".
 */
char *hints_text(struct daemon *daemon);

#endif
