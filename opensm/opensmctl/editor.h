// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Lines that the user types: edited, completed and remembered on a terminal, read elsewhere. */
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
/* The same from the standard input, for scripts. */
char *editor_plain_line(void);
/* A line that is not shown, for a key; NULL if there is no terminal. Not to be kept longer than
 * needed: clear it with explicit_bzero(). */
char *editor_secret(const char *prompt);

#endif
