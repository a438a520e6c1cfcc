// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* TLS of the console that others than this host may reach. */
#ifndef CTL_CONSOLE_CONSOLE_TLS_H
#define CTL_CONSOLE_CONSOLE_TLS_H

#include <gio/gio.h>

#include "core/options.h"

struct console_tls;

/* Whether the options ask for it: one of its files is named. */
bool console_tls_is_wanted(const struct options *options);
/* No TLS before 1.2. Before threads, and before anything of TLS. */
void console_tls_init(void);
/* Reads the files. NULL and error naming option and file: there is no console then. */
struct console_tls *console_tls_new(const struct options *options, GError **error);
void console_tls_free(struct console_tls *tls); /* NULL is fine */

/* A connection of a client, who has not yet said anything, made one of TLS. NULL and error. */
GIOStream *console_tls_wrap(const struct console_tls *tls, GSocketConnection *connection,
			    GError **error);

#endif
