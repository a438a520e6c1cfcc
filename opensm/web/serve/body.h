// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Answers as libmicrohttpd sends them: whole, or compressed while they are sent. */
#ifndef WEB_SERVE_BODY_H
#define WEB_SERVE_BODY_H

#include <microhttpd.h>
#include <stdbool.h>

#include "web/base/exchange.h"

/*
 * The response with the headers of the answer and those that every answer has; NULL: it is not
 * possible. The file of the answer is closed with the response.
 */
struct MHD_Response *body_response(struct request *request);

/* Octets of the answer's body, before it is compressed. */
uint64_t body_size(const struct answer *answer);

#endif
