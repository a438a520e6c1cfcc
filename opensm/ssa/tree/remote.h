// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A connection to a Redis server for what is not an epoch: nodes and their parents, whose replica a
 * server is, and that the core lives. Everything blocks, at most for the timeout of the options.
 *
 * Keys, with PREFIX that of the subnet in 16 hex digits:
 *
 *    opensm:ssa:PREFIX:node:GUID      what a node says of itself (member.h)
 *    opensm:ssa:PREFIX:parents:GUID   what the core answers
 *    opensm:ssa:PREFIX:tree           all nodes, for ssadmin and for a core that starts (tree.h)
 *    opensm:ssa:PREFIX:alive          the pulse of the daemon that is MASTER (ssa/wire/alive.h)
 *    opensm:ssa:PREFIX:join           the channel on which nodes say that they have said something
 */
#ifndef SSA_TREE_REMOTE_H
#define SSA_TREE_REMOTE_H

#include "ssa/store/resp.h"
#include "ssa/store/store.h"

struct ssa_remote;

/* options: those of the store in that server. NULL and error. */
struct ssa_remote *ssa_remote_open(const char *uri, const struct ssa_store_options *options,
				   GError **error);
/* When cancel_fd is readable, all that is done with it ends with an error. */
struct ssa_remote *ssa_remote_open_until(const char *uri, const struct ssa_store_options *options,
					 int cancel_fd, GError **error);
void ssa_remote_close(struct ssa_remote *remote); /* NULL is fine */
const char *ssa_remote_uri(const struct ssa_remote *remote);

/*
 * Sends words up to NULL as one command and returns its reply, to be freed with resp_reply_free().
 * NULL and error if the connection is lost: close it; or SSA_STORE_ERROR_REFUSED, if the server has
 * answered with an error.
 */
struct resp_reply *ssa_remote_ask(struct ssa_remote *remote, GError **error,
				  ...) G_GNUC_NULL_TERMINATED;
/* As above; false if the reply is not of that kind. */
bool ssa_remote_order(struct ssa_remote *remote, enum resp_kind kind, GError **error,
		      ...) G_GNUC_NULL_TERMINATED;
/* The text of a key; NULL without an error: it does not exist. */
char *ssa_remote_get(struct ssa_remote *remote, const char *key, GError **error);
/* SET, and EX with that many seconds unless 0. */
bool ssa_remote_set(struct ssa_remote *remote, const char *key, const char *text,
		    unsigned int seconds, GError **error);

/* PUBLISH; *listeners: how many have heard it. */
bool ssa_remote_publish(struct ssa_remote *remote, const char *channel, const char *text,
			int64_t *listeners, GError **error);

/*
 * Waits for something that was not asked for: a message of a channel, or the end of the connection.
 * *reply NULL: the time is over. False and error: the connection is lost.
 */
bool ssa_remote_wait(struct ssa_remote *remote, unsigned int ms, struct resp_reply **reply,
		     GError **error);

/* "opensm:ssa:PREFIX:NAME", and with "GUID" behind it if that is not 0; free with g_free(). */
char *ssa_remote_key(uint64_t prefix, const char *name, uint64_t guid);
/* The scheme and user of a URI with another HOST:PORT. */
char *ssa_remote_beside(const char *uri, const char *address);
/* "HOST:PORT" of a URI. */
char *ssa_remote_address(const char *uri);

#endif
