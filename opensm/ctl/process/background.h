// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Going to the background, and the PID file. */
#ifndef CTL_PROCESS_BACKGROUND_H
#define CTL_PROCESS_BACKGROUND_H

#include <glib.h>
#include <stdbool.h>

/*
 * Continues in a new process with a session of its own; call before any thread is made. The calling
 * process waits and exits: with 0 when background_ready is called, with 1 if the new process ends
 * before. Returns the handle for background_ready; -1 and error if no process can be made.
 */
int background_begin(GError **error);

/* Leaves the terminal: standard files become /dev/null and the waiting process exits. */
void background_ready(int handle);

/*
 * Makes a new file with this process's PID, locked as long as the returned handle is open; -1 and
 * error if it cannot be written, or if another process holds the file of this name.
 */
int pidfile_open(const char *path, GError **error);
/* Removes the file unless it has the PID of another process by now. */
void pidfile_close(const char *path, int handle);

#endif
