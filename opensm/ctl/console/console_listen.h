// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Listening for sessions: services of GIO on the default main context. */
#ifndef CTL_CONSOLE_CONSOLE_LISTEN_H
#define CTL_CONSOLE_CONSOLE_LISTEN_H

#include <gio/gio.h>
#include <stdbool.h>

#include "complib/log.h"

/* On all addresses, or only those of this host; not started yet. NULL and error. */
GSocketService *console_listen_tcp(uint16_t port, bool everywhere, struct log *log, GError **error);
/* On a socket that listens already. */
GSocketService *console_listen_at(GSocket *socket, GError **error);

/* Accepts no more connections; console: the object that handled its signals. NULL is fine. */
void console_listen_end(GSocketService *service, void *console);

#endif
