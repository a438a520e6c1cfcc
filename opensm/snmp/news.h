// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Waits for news of the daemon, on a connection of its own, without asking again and again. On the
 * default main context.
 */
#ifndef SNMP_NEWS_H
#define SNMP_NEWS_H

struct news;

/*
 * Calls on_news() when something has happened, if the daemon ends, and now and then; at most once
 * a second.
 */
struct news *news_new(const char *path, void (*on_news)(void *arg), void *arg);
void news_free(struct news *news); /* NULL is fine */

#endif
