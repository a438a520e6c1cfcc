// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An HTTP request as its handler gets it, whole, and its answer. It knows nothing of the server, so
 * that handlers can be tested without one. All on the main thread.
 */
#ifndef WEB_BASE_REQUEST_H
#define WEB_BASE_REQUEST_H

#include <glib.h>
#include <stdbool.h>

#include "web/base/held.h"

enum web_role {
	WEB_NOBODY,
	WEB_READER,
	WEB_WRITER, /* and reads */
};

struct request {
	const char *method; /* in capitals; a HEAD arrives as GET, and its answer loses its body */
	const char *path;   /* decoded, without the arguments; begins with '/' */
	const char *type;   /* Content-Type of the body, "" if it has none */
	GBytes *body;	    /* NULL: none */
	enum web_role role;
	const char *user; /* for the audit log: name and address */
	/* The rest is for request.c. */
	struct request_state *state;
};

/* An argument of the address, decoded, or a header of the request; NULL: it has none. */
const char *request_argument(const struct request *request, const char *name);
const char *request_header(const struct request *request, const char *name);
/* All arguments of that name in their order, up to NULL. */
const char *const *request_arguments(const struct request *request, const char *name);
/* Accept-Encoding has gzip, and not with ";q=0". */
bool request_takes_gzip(const struct request *request);

/*
 * Every request is answered once, in its handler or later: a handler that returns without an answer
 * holds a reference until it has answered. An answer whose client is gone goes nowhere.
 */
struct request *request_ref(struct request *request);
void request_unref(struct request *request);
bool request_is_gone(const struct request *request);

/*
 * Until it is answered, yield(arg) will answer it at any time: a client that waits for news gives
 * its place to others.
 */
typedef void yield_fn(void *arg);
void request_may_yield(struct request *request, yield_fn *yield, void *arg);

/*
 * It is to be answered within that time after its last octet has arrived, whatever it waits for.
 * Each step may take what is left, but at least 1 ms and at most most_ms.
 */
void request_set_patience(struct request *request, unsigned int patience_ms);
unsigned int request_left_ms(const struct request *request, unsigned int most_ms);

/* What it asks for, for the log: lines, of which the first one says most. Takes over the text. */
void request_set_about(struct request *request, char *text);

/* A header of the answer, before that. */
void request_set_header(struct request *request, const char *name, const char *value);
/* Takes over the reference to the body; NULL: none. */
void request_answer(struct request *request, unsigned int status, const char *type, GBytes *body);
/* Takes over the text. */
void request_answer_text(struct request *request, unsigned int status, const char *type,
			 char *text);
/* The whole file is the body; takes over the reference. */
void request_answer_file(struct request *request, unsigned int status, const char *type,
			 struct held *file);
/* {"error":"..."} */
void request_fail(struct request *request, unsigned int status, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

#define WEB_JSON "application/json"

#endif
