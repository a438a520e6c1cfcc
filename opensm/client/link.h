// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Asks a daemon on this host without blocking, by its Unix socket (client/control.h). For the
 * default main context and its thread.
 *
 * A link has a few connections, which it makes when they are needed and keeps. Each of them has one
 * request at a time; further requests wait in order. A daemon that ends or does not answer costs
 * the requests that it has been sent, and the next one connects again.
 */
#ifndef CLIENT_LINK_H
#define CLIENT_LINK_H

#include <stdint.h>

#include "client/record.h"

#define LINK_WAITING_MAX 1000

struct link;

/*
 * path: the socket; NULL: the only one of the run directory, looked for at each connection.
 * connections: at most; a user of the daemon's group may have 4 in all. Nothing is sent yet.
 */
struct link *link_new(const char *path, unsigned int connections);
/* Requests that were not answered are forgotten: their done() is not called. NULL is fine. */
void link_free(struct link *link);

/*
 * The answer, or status CONTROL_UNREACHABLE or CONTROL_REFUSED with the reason as output. What it
 * keeps of the reply it must replace there with NULL, or the file with 0. It must not free the
 * link.
 */
typedef void link_done_fn(void *arg, struct reply *reply);

/*
 * Sends a line of the console; done is called once, later. The answer has to come within
 * patience_ms from now. While LINK_WAITING_MAX requests wait, another one fails. Returns a number
 * for link_cancel(), never 0.
 */
uint64_t link_ask(struct link *link, const char *line, unsigned int patience_ms, link_done_fn *done,
		  void *arg);
/* Its done() will not be called, unless it was already. The daemon may run it all the same. */
void link_cancel(struct link *link, uint64_t request);

/* Requests that were not answered yet. */
unsigned int link_waiting(const struct link *link);

/*
 * The words as one line of the console, newly allocated, each in quotes if it needs them, so that
 * none can be taken for two words or end the line. NULL if a word has a line end, or both kinds of
 * quotes.
 */
char *link_line(const char *const *words, unsigned int n);

#endif
