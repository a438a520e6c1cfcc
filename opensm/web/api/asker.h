// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Questions to the daemon whose answers are shared: requests that ask the same while it is being
 * answered, or shortly after, cost it nothing.
 */
#ifndef WEB_API_ASKER_H
#define WEB_API_ASKER_H

#include "client/link.h"
#include "web/base/held.h"

struct asker;

/* held: the octets of files that answers hold (web/base/held.h); lives as long as those files. */
struct asker *asker_new(struct link *link, uint64_t *held);
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

/*
 * file: what the daemon has sent beside its answer; it may be kept by a reference. NULL: nothing.
 * CONTROL_UNREACHABLE if the file would be too large beside those that are held already.
 */
typedef void asker_file_fn(void *arg, enum control_status status, GBytes *text, struct held *file);

/* As asker_ask(), for a question that is answered by a file. */
void asker_ask_file(struct asker *asker, const char *line, unsigned int age_ms,
		    unsigned int patience_ms, asker_file_fn *done, void *arg);

#endif
