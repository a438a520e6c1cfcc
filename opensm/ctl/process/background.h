// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Going to the background, and the file with the process number. */
#ifndef CTL_PROCESS_BACKGROUND_H
#define CTL_PROCESS_BACKGROUND_H

#include <glib.h>
#include <stdbool.h>

/*
 * Goes on in a process of its own session; before any thread is made. The process it was called in
 * waits and exits: 0 when background_ready is called, 1 if this one ends before. Returns what
 * background_ready wants, -1 and error if there is no process to be had.
 */
int background_begin(GError **error);

/* From now on without a terminal: standard files become /dev/null and the waiting process exits. */
void background_ready(int handle);

/*
 * A new file with the number of this process, locked as long as what is returned is open; -1 and
 * error if it cannot be written, or if another process holds that of this name.
 */
int pidfile_open(const char *path, GError **error);
/* Removes it unless it has the number of another process by now. */
void pidfile_close(const char *path, int handle);

#endif
