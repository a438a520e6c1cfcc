// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* /api/v1/wait?since=SERIAL: what happened since then, or what happens in the next 25 s. */
#ifndef WEB_API_WAIT_H
#define WEB_API_WAIT_H

#include "web/base/web.h"

/* path: the daemon's socket, as link_new() takes it. */
struct waits *waits_new(const char *path);
/* Forgets those that wait. NULL is fine. */
void waits_free(struct waits *waits);

web_handler_fn wait_for_news;

#endif
