// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* /api/v1/summary, nodes, links, ports, cable and history (web/fabric/fabric.h). */
#ifndef WEB_API_FABRIC_H
#define WEB_API_FABRIC_H

#include "client/link.h"
#include "web/base/web.h"

/* The last image of the fabric, and requests that wait for another one. */
struct views *views_new(struct link *link, struct asker *asker);
void views_free(struct views *views); /* after link and asker; NULL is fine */

web_handler_fn api_fabric;

#endif
