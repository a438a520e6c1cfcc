// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The server's side of a request: how it is made, and how its answer is taken. */
#ifndef WEB_BASE_EXCHANGE_H
#define WEB_BASE_EXCHANGE_H

#include "web/base/request.h"

/* The other end of the connection; for as long as the request. */
struct caller {
	const char *address; /* as text, without the port; "unix" */
	bool local;	     /* a loopback address or a Unix socket */
	bool tls;
	/*
	 * Of a client certificate that was verified: its subject as in RFC 4514, and its
	 * alternative names that are URIs. Ends with NULL; empty: there is none.
	 */
	const char *const *names;
};

struct answer {
	unsigned int status;
	const char *type;	  /* NULL: no body */
	GBytes *body;		  /* NULL: it is in the file, or there is none */
	struct held *file;	  /* NULL: none */
	const GPtrArray *headers; /* names and values by turns */
};

typedef void answered_fn(void *arg, struct request *request);

/* The method and the path are copied, as are all texts below. */
struct request *request_new(const char *method, const char *path);
/* The host that its target names; NULL: none. */
void request_set_host(struct request *request, const char *host);
const char *request_host(const struct request *request);
void request_add_argument(struct request *request, const char *name, const char *value);
/* A second header of the same name is added to the first one, after a comma. */
void request_add_header(struct request *request, const char *name, const char *value);
/* Takes over the reference to the body. */
void request_set_body(struct request *request, GBytes *body);
void request_set_caller(struct request *request, const struct caller *caller);
const struct caller *request_caller(const struct request *request);
/* The role, and the name of the user if it is known by one. */
void request_set_role(struct request *request, enum web_role role, const char *name);
/* What serves it, in words of the metrics; "none" before. */
void request_set_handler(struct request *request, const char *handler);
const char *request_handler(const struct request *request);
/* Seconds since it was made. */
double request_seconds(const struct request *request);

/* All of it is there. answered: called once, in request_answer(). */
void request_listen(struct request *request, answered_fn *answered, void *arg);
/* Called once, with its answer, or at its end without one; also if its client is gone. */
void request_watch(struct request *request, answered_fn *watch, void *arg);
/* "": nothing was said. */
const char *request_about(const struct request *request);
/*
 * Its handler has returned, and the caller has the only reference that is not the handler's: if the
 * handler gives up its own without an answer, that is one, with status 500.
 */
void request_begun(struct request *request);
/* NULL: not yet. */
const struct answer *request_taken_answer(const struct request *request);
/* Whether request_yield() will answer it. */
bool request_can_yield(const struct request *request);
void request_yield(struct request *request);
/* The client is gone: nothing will be called. */
void request_forget(struct request *request);

#endif
