// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The console: commands (command.h) by terminal, TCP or Unix socket, as the options say. Runs on
 * the thread of the daemon's loop, the default main context.
 */
#ifndef CTL_CONSOLE_CONSOLE_H
#define CTL_CONSOLE_CONSOLE_H

#include "ctl/daemon.h"

struct console;
struct journal;
struct sim;

/*
 * Opens the console, between daemon_new and daemon_start; sim: the simulated fabric, or NULL. NULL
 * without error if the options ask for no console; NULL and error if the key is unsuitable. A TCP
 * port or Unix socket that cannot be opened is only logged as an error.
 */
struct console *console_new(struct daemon *daemon, struct journal *journal, struct sim *sim,
			    GError **error);
/* The file of the key that clients must send; NULL: they need none, or none can connect. */
const char *console_key_file(const struct options *options);
/* Tries again to open what could not be opened, and reads the certificate again; NULL is fine. */
void console_listen_again(struct console *console);
/* Between daemon_stop and daemon_free; NULL is fine. */
void console_free(struct console *console);

#endif
