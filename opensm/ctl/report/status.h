// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The state of a daemon in words. Any thread. */
#ifndef CTL_REPORT_STATUS_H
#define CTL_REPORT_STATUS_H

#include "core/context.h"

/*
 * "MASTER, subnet up: 20 switches, 16 hosts, 48 links; 1 of these nodes silent"; free it with
 * g_free().
 */
char *status_line(struct context *context);

/* "DISCOVERING" and so on. */
const char *status_sm_state(const struct context *context);
/*
 * State of an unusable own port: "DISCOVERING, its port is down", or gone; free it with g_free().
 * NULL: the port is there and up.
 */
char *status_own_port(const struct context *context);
/* The routes that are being computed, and how far that is; NULL: none. To be freed. */
char *status_computing(struct context *context);

/* Writes that line and all counters to the log, whatever its flags. */
void status_log(struct context *context);

#endif
