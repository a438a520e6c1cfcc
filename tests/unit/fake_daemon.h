// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A daemon of a few lines at a Unix socket of its own, in the default main context. */
#ifndef TESTS_UNIT_FAKE_DAEMON_H
#define TESTS_UNIT_FAKE_DAEMON_H

#include <gio/gio.h>
#include <stdbool.h>

struct fake_daemon;

/*
 * What is answered to a line of a client: octets, newly allocated. NULL: nothing; the connection is
 * closed if *close is set, after the octets if there are some.
 */
typedef char *fake_answer_fn(void *arg, const char *line, bool *close);

/* arg is for answer, which is asked for all lines but the first; NULL: the real protocol. */
struct fake_daemon *fake_daemon_new(fake_answer_fn *answer, void *arg);
void fake_daemon_free(struct fake_daemon *fake);
const char *fake_daemon_path(const struct fake_daemon *fake);
/* It ends: connections are closed, and no more are taken. */
void fake_daemon_kill(struct fake_daemon *fake);
/* The octets of file go beside each answer that says so; it stays the caller's. */
void fake_daemon_set_file(struct fake_daemon *fake, int file);
/* Connections that were made so far. */
unsigned int fake_daemon_connections(const struct fake_daemon *fake);
/* A record with this status and text, newly allocated. */
char *fake_record(unsigned int status, const char *text);

/* Runs the default main context until *done, at most 20 s; false: it was not to be had. */
bool fake_run_until(const bool *done);

#endif
