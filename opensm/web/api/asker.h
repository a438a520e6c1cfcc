// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Questions to the daemon whose answers are shared: requests that ask the same while it is being
 * answered, or shortly after, cost it nothing.
 */
#ifndef WEB_API_ASKER_H
#define WEB_API_ASKER_H

#include "client/link.h"

struct asker;

struct asker *asker_new(struct link *link);
/* What was not answered is forgotten; before its link. NULL is fine. */
void asker_free(struct asker *asker);

/* text: the answer, or the reason; it may be kept by a reference. */
typedef void asker_done_fn(void *arg, enum control_status status, GBytes *text);

/*
 * Asks a line of the console. An answer of the last age_ms will do; else done is called later,
 * once, and at most about patience_ms later.
 */
void asker_ask(struct asker *asker, const char *line, unsigned int age_ms, unsigned int patience_ms,
	       asker_done_fn *done, void *arg);

#endif
