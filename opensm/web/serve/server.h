// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * HTTP/1.1 by libmicrohttpd in the default main context. It hands on whole requests, and keeps
 * clients that are slow, many or wrong from harming others.
 */
#ifndef WEB_SERVE_SERVER_H
#define WEB_SERVE_SERVER_H

#include <stdint.h>

#include "web/base/request.h"
#include "web/serve/tls.h"

/* Connections beyond max_connections that were shut down, but are not gone yet. */
#define SERVER_SPARE(max_connections) MIN(64, (max_connections) / 4 + 1)
#define SERVER_BODY_MAX (1u << 20) /* octets of a request's body; more is answered with 413 */

struct server;

struct server_config {
	GPtrArray *listeners;  /* of listen.h; stay with the caller */
	struct tls_files *tls; /* for all but Unix sockets; NULL: none. Taken over */
	uint32_t max_connections, max_per_address;
	/* Its headers have arrived; NULL: nothing is to be done. */
	void (*begun)(void *arg, struct request *request);
	/* Serves a request that has arrived: it is answered once, now or later. */
	void (*serve)(void *arg, struct request *request);
	/* It was answered, or its client is gone: status 0. */
	void (*served)(void *arg, const struct request *request, unsigned int status);
	void *arg;
};

struct server *server_new(const struct server_config *config, GError **error);
/* Requests that were not answered are dropped; NULL is fine. */
void server_free(struct server *server);
/*
 * New connections get these certificates; takes them over. False and error: the old ones stay.
 */
bool server_renew(struct server *server, struct tls_files *tls, GError **error);
/* Connections that are open. */
unsigned int server_connections(const struct server *server);

#endif
