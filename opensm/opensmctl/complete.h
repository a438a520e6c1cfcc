// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What may follow in a line of the console, by the list that "help json" prints. */
#ifndef OPENSMCTL_COMPLETE_H
#define OPENSMCTL_COMPLETE_H

#include <glib.h>

struct completer;

struct completer *
completer_new(const char *help_json); /* of anything else: one that knows nothing */
void completer_free(struct completer *completer);

/* The words that the last one of this line may become, newly allocated; *begin: where it begins. */
GPtrArray *complete(const struct completer *completer, const char *line, size_t *begin);

/* What all of them begin with; newly allocated. */
char *complete_common(const GPtrArray *words);

#endif
