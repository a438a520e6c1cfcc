// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What handlers share. All on the main thread. */
#ifndef WEB_BASE_WEB_H
#define WEB_BASE_WEB_H

#include "client/link.h"
#include "client/say.h"
#include "web/base/config.h"
#include "web/base/request.h"

struct web {
	struct config *config;	 /* another one after SIGHUP: not to be kept */
	struct link *link;	 /* to the daemon */
	struct asker *asker;	 /* answers of the daemon that several requests share */
	struct link *probe_link; /* for probes, which wait for no other question */
	struct asker *probes;
	struct waits *waits; /* clients that wait for news */
	struct views *views; /* the fabric as it was last read */
	uint64_t held;	     /* octets of the files that answers hold (held.h) */
	struct stats *stats;
	struct users *users; /* another one after SIGHUP */
	struct login *login;
	struct say_limit refused; /* lines about writes that need another role */
	struct server *server; /* NULL: in tests */
};

/* Answers the request, at once or later. */
typedef void web_handler_fn(struct web *web, struct request *request);

#endif
