// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SIGUSR1: closes the log file and opens it again by its name, on a thread beside that of the
 * daemon's loop, on which all calls are. Until the new file is open, lines go to the old one.
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
