// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes files of what is remembered (state_file.h) beside the sweep: a disk that hangs holds up
 * nothing but them. What nobody may rely on before it is on the disk waits for done() or idle().
 */
#ifndef SM_STORE_STATE_WRITER_H
#define SM_STORE_STATE_WRITER_H

#include <stdbool.h>

#include "core/context.h"

struct state_writer;

/* Belongs to that actor, as all calls do. */
struct state_writer *state_writer_new(struct context *context, struct actor *owner);
void state_writer_free(struct state_writer *writer); /* after the pool for files has ended */

/*
 * Has a file written as soon as what was put before is; of several texts that wait the last one.
 * what: a literal, for messages; text: taken over, NULL removes the file. Errors are logged.
 * done(arg, good), if it is not NULL, is called when it was tried, but not for a text in place of
 * which a later one waits.
 */
void state_writer_put(struct state_writer *writer, const char *file, const char *what, char *text,
		      bool fsync_it, void (*done)(void *arg, bool good), void *arg);
/* Something that was put is not in the file yet. */
bool state_writer_is_busy(const struct state_writer *writer, const char *file);
/* The same of no file: all that was put was tried. */
bool state_writer_is_idle(const struct state_writer *writer);
/* Calls idle(arg) each time that this becomes so. */
void state_writer_on_idle(struct state_writer *writer, void (*idle)(void *arg), void *arg);

#endif
