// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Waits for news of the daemon, on a connection of its own, without asking again and again. On the
 * default main context.
 */
#ifndef SNMP_NEWS_H
#define SNMP_NEWS_H

#include <json-glib/json-glib.h>

struct news;

/* events: those that came since the last call, at most 200 of them; NULL: none, or unknown ones. */
typedef void news_fn(void *arg, JsonArray *events);

/*
 * Calls on_news() when something has happened, if the daemon ends, and now and then; at most once
 * a second, unless there are more events than one call can tell. What happened before the first
 * call, or while the daemon did not answer, is not told.
 */
struct news *news_new(const char *path, news_fn *on_news, void *arg);
void news_free(struct news *news); /* NULL is fine */

#endif
