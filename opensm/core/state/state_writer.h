// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes state files (state_file.h) asynchronously to the sweep: a disk that hangs delays only
 * them. What must be on the disk before it is relied on waits for done() or idle().
 */
#ifndef CORE_STATE_STATE_WRITER_H
#define CORE_STATE_STATE_WRITER_H

#include <stdbool.h>

#include "core/context.h"

struct state_writer;

/* Belongs to that actor, as all calls do. */
struct state_writer *state_writer_new(struct context *context, struct actor *owner);
void state_writer_free(struct state_writer *writer); /* after the pool for files has ended */

/*
 * Queues a file to be written after those before; of several texts waiting, only the last is
 * written. what: a literal, for messages; text: ownership is taken, NULL removes the file. Errors
 * are logged. done(arg, good), if not NULL, is called after the attempt, but not for a text that a
 * later one replaced while it waited.
 */
void state_writer_put(struct state_writer *writer, const char *file, const char *what, char *text,
		      bool fsync_it, void (*done)(void *arg, bool good), void *arg);
/* Something is queued that is not in the file yet. */
bool state_writer_is_busy(const struct state_writer *writer, const char *file);
/* No file is queued: everything was attempted. */
bool state_writer_is_idle(const struct state_writer *writer);
/* Calls idle(arg) each time that this becomes true. */
void state_writer_on_idle(struct state_writer *writer, void (*idle)(void *arg), void *arg);

#endif
