// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The console: commands (command.h) by terminal, TCP or Unix socket, as the options say. All on
 * the thread of the daemon's loop, the default main context.
 */
#ifndef CTL_CONSOLE_CONSOLE_H
#define CTL_CONSOLE_CONSOLE_H

#include "ctl/daemon.h"

struct console;
struct journal;
struct sim;

/*
 * Opens it, between daemon_new and daemon_start; sim: the fabric, if it is a simulated one. NULL
 * without error if the options want none; NULL and error if the key is not fit. A TCP port or a
 * Unix socket that is not to be had is an error in the log only.
 */
struct console *console_new(struct daemon *daemon, struct journal *journal, struct sim *sim,
			    GError **error);
/* The file of the key that clients must have; NULL: they need none, or there are none. */
const char *console_key_file(const struct options *options);
/* Tries once more what was not to be had, and reads the certificate again; NULL is fine. */
void console_listen_again(struct console *console);
/* Between daemon_stop and daemon_free; NULL is fine. */
void console_free(struct console *console);

#endif
