// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads lines that the user types: edited, completed and remembered on a terminal, plain elsewhere.
 */
#ifndef OPENSMCTL_EDITOR_H
#define OPENSMCTL_EDITOR_H

#include <stdbool.h>

#include "opensmctl/complete.h"

struct editor;

bool editor_is_wanted(void); /* the standard input and output are a terminal */

struct editor *editor_new(const struct completer *completer);
void editor_free(struct editor *editor);

/* The next line without its end, newly allocated; NULL after the last. */
char *editor_line(struct editor *editor);
/* The next line of the standard input without editing, for scripts. */
char *editor_plain_line(void);
/*
 * Reads a line without echo, for a key; NULL if there is no terminal. Do not keep it longer than
 * needed: clear it with explicit_bzero().
 */
char *editor_secret(const char *prompt);

#endif
