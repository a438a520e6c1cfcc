// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Only the first thread ends the daemon. If a plug-in calls exit() on a thread, that would look
 * like a stop that was asked for, after which nothing starts the daemon again.
 */
#ifndef PLUGIN_HOST_EXIT_GUARD_H
#define PLUGIN_HOST_EXIT_GUARD_H

/* From now on, exit() on another thread is told on standard error and to syslog, with code 1. */
void exit_guard_set(void);

#endif
