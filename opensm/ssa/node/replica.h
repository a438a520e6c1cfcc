// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The Redis server of a distribution or access node: a thread makes it the replica of the primary
 * parent, and of the backup as soon as the primary is lost. It watches a connection of its own to
 * the parent, since a server that has lost its master does not say so.
 *
 * The server is started by others, as by redis-server.service: so that this program may start
 * nothing, and the server outlives it.
 */
#ifndef SSA_NODE_REPLICA_H
#define SSA_NODE_REPLICA_H

#include "ssa/tree/report.h"
#include "ssa/store/store.h"

struct ssa_replica_config {
	uint64_t prefix;
	const char *server;		 /* URI */
	struct ssa_store_options own;	 /* of the server */
	struct ssa_store_options parent; /* of parents */
	struct ssa_reporter *reporter;
};

struct ssa_replica;

/* The strings of the configuration must stay valid. */
struct ssa_replica *ssa_replica_start(const struct ssa_replica_config *config);
void ssa_replica_stop(struct ssa_replica *replica); /* NULL is fine */
/* URIs, each may be NULL; any thread. */
void ssa_replica_parents(struct ssa_replica *replica, const char *primary, const char *backup);

#endif
