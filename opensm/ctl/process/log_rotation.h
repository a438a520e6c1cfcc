// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SIGUSR1: the file of the log is closed and opened again by its name, beside the thread of the
 * daemon's loop, on which all calls are. Until it is there lines go to the one before.
 */
#ifndef CTL_PROCESS_LOG_ROTATION_H
#define CTL_PROCESS_LOG_ROTATION_H

#include <complib/actor.h>
#include <complib/log.h>

struct log_rotation;

struct log_rotation *log_rotation_new(struct log *log, struct actor *main);
void log_rotation_ask(struct log_rotation *rotation);
void log_rotation_free(struct log_rotation *rotation); /* NULL is fine */

#endif
