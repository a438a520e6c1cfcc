// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Wrong passwords and tokens, counted by the address that they come from. Pure. */
#ifndef WEB_AUTH_TRIES_H
#define WEB_AUTH_TRIES_H

#include <glib.h>
#include <stdbool.h>

#define TRIES_MAX 10 /* a minute and address */

struct tries;

struct tries *tries_new(void);
/* NULL is fine. */
void tries_free(struct tries *tries);
/* Another one was wrong, or may be. Addresses of IPv6 count by their first 64 bits. */
void tries_add(struct tries *tries, const char *address, gint64 now_us);
/* One of those that were added was right. */
void tries_take_back(struct tries *tries, const char *address, gint64 now_us);
/* Whether this address has had too many in the last minute. */
bool tries_too_many(struct tries *tries, const char *address, gint64 now_us);

#endif
