// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* TLS of the console if other hosts may reach it. */
#ifndef CTL_CONSOLE_CONSOLE_TLS_H
#define CTL_CONSOLE_CONSOLE_TLS_H

#include <gio/gio.h>

#include "core/options.h"

struct console_tls;

/* Whether the options ask for TLS: one of its files is named. */
bool console_tls_is_wanted(const struct options *options);
/* Disables TLS before 1.2. Call before any thread or any use of TLS. */
void console_tls_init(void);
/* Reads the files. NULL and error, naming option and file: there is no console then. */
struct console_tls *console_tls_new(const struct options *options, GError **error);
void console_tls_free(struct console_tls *tls); /* NULL is fine */

/* Makes a client's connection, before anything is read from it, one with TLS. NULL and error. */
GIOStream *console_tls_wrap(const struct console_tls *tls, GSocketConnection *connection,
			    GError **error);

#endif
