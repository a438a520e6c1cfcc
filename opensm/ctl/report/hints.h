// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What somebody before a terminal may type next. */
#ifndef CTL_REPORT_HINTS_H
#define CTL_REPORT_HINTS_H

#include "ctl/daemon.h"

/*
 * Lines with commands that work as they stand in another shell of this user: they ask the daemon by
 * its control socket. One pulls a cable, if the fabric is simulated. NULL: there is no such socket.
 * Newly allocated; on the daemon's actor "main".
 */
char *hints_text(struct daemon *daemon);

#endif
