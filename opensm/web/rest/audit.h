// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The log of writes: user, address, what is asked, and the result, whatever that is. */
#ifndef WEB_REST_AUDIT_H
#define WEB_REST_AUDIT_H

#include "web/base/web.h"

/* What the request is about (request_set_about()) and its answer will be told once. */
void audit_watch(struct web *web, struct request *request);

/*
 * What is told, newly allocated: a line, and after a write that was done, further ones for what
 * that line does not hold.
 */
char *audit_lines(const struct request *request);

#endif
