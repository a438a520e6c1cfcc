// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which handler serves which path, and which role it needs. */
#ifndef WEB_ROUTES_H
#define WEB_ROUTES_H

#include "web/base/web.h"

/* The headers of a request are there: what it asks for may have to be logged, however it ends. */
void routes_begun(struct web *web, struct request *request);
/* Serves a request as the server hands it over. */
void routes_serve(struct web *web, struct request *request);

#endif
