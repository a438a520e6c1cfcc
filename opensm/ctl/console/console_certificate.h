// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The files of console_tls_cert, console_tls_key and console_tls_ca while the daemon runs. They are
 * read on a thread beside that of the daemon's loop, on which all calls are: a disk that hangs
 * delays only them.
 */
#ifndef CTL_CONSOLE_CONSOLE_CERTIFICATE_H
#define CTL_CONSOLE_CONSOLE_CERTIFICATE_H

#include "ctl/console/console_tls.h"
#include "ctl/daemon.h"

struct certificate;

/* taken: called when they were read; tls NULL: they were refused, for the reason why. */
struct certificate *
certificate_new(struct daemon *daemon,
		void (*taken)(void *arg, struct console_tls *tls, const char *why), void *arg);
/*
 * Reads them; after patience_ns "health" reports that they are late, and they are used on arrival.
 */
void certificate_read(struct certificate *certificate, uint64_t patience_ns);
void certificate_free(struct certificate *certificate); /* no taken() any more; NULL is fine */

#endif
