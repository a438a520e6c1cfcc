// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The key that opens the console to the network. */
#ifndef CTL_CONSOLE_CONSOLE_KEY_H
#define CTL_CONSOLE_CONSOLE_KEY_H

#include <glib.h>
#include <stdbool.h>

#define CONSOLE_KEY_MIN 16 /* octets */
#define CONSOLE_KEY_MAX 1024

/*
 * The first line of the file that the option names (option is for the error); free it with
 * console_key_free(). NULL and error if the file cannot be read, is not a regular file or is
 * readable for others than its owner, or if the key is too short or too long.
 */
char *console_key_load(const char *option, const char *file, GError **error);
void console_key_free(char *key); /* leaves nothing in memory; NULL is fine */

/* Takes the same time for every line. */
bool console_key_fits(const char *key, const char *line);

#endif
