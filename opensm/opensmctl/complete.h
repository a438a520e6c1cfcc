// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Completion of console lines from the list that "help json" prints. */
#ifndef OPENSMCTL_COMPLETE_H
#define OPENSMCTL_COMPLETE_H

#include <glib.h>

struct completer;

struct completer *
completer_new(const char *help_json); /* other text: it completes nothing */
void completer_free(struct completer *completer);

/*
 * The words that the last word of this line can be completed to, newly allocated; *begin: where
 * that word begins.
 */
GPtrArray *complete(const struct completer *completer, const char *line, size_t *begin);

/* Their longest common prefix; newly allocated. */
char *complete_common(const GPtrArray *words);

#endif
