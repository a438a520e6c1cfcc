// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A Redis server by its URI, and what a client shows it: for stores, and for all else that is kept
 * in such a server.
 */
#ifndef SSA_STORE_CONNECT_H
#define SSA_STORE_CONNECT_H

#include "ssa/store/resp.h"
#include "ssa/store/store.h"

struct ssa_redis {
	char *uri;
	struct resp_server server;
	char *user, *password; /* NULL: none */
};

/* The URI alone: no file is read. False and SSA_STORE_ERROR_URI; to be cleared in any case. */
bool ssa_redis_parse(struct ssa_redis *redis, const char *uri, GError **error);
/* Reads the files of the options, too. Connects to nothing. */
bool ssa_redis_open(struct ssa_redis *redis, const char *uri,
		    const struct ssa_store_options *options, GError **error);
void ssa_redis_clear(struct ssa_redis *redis);

/*
 * A new connection, by TLS if the URI says so, as the user of the URI. NULL and error:
 * SSA_STORE_ERROR_GONE, or SSA_STORE_ERROR_REFUSED if the server does not take the password.
 * cancel_fd: as in resp.h.
 */
struct resp_link *ssa_redis_connect(const struct ssa_redis *redis, int cancel_fd,
				    int64_t deadline_us, GError **error);

/*
 * Sets the error for what a server has said (its text, made printable) when it was asked for that
 * (NULL: what does not matter).
 */
void ssa_redis_refused(const char *uri, const char *what, const char *text, GError **error);
/* For a reply that the protocol does not have. */
void ssa_redis_broken(const char *uri, const char *what, GError **error);

#endif
