// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A core's work on epochs: two stores, that of the daemon of this host and that of its Redis
 * server, are brought level: both get the newer one by term, then by epoch. If this SM is MASTER,
 * that goes out; if another one is, its epoch comes in, so that this one continues from there when
 * it becomes MASTER. What is newer at other cores is taken from there, so the server of each core
 * is alike. The pulse of the daemon that is MASTER (ssa/wire/alive.h) goes the same ways.
 */
#ifndef SSA_NODE_PUSH_H
#define SSA_NODE_PUSH_H

#include "ssa/tree/report.h"
#include "ssa/store/store.h"

struct ssa_push_config {
	uint64_t prefix;
	GBytes *key;		    /* NULL: manifests are not signed */
	const char *local, *shared; /* URIs: of the daemon's store, and of the Redis server */
	const GPtrArray *others;    /* URIs of the servers of all cores (char *); NULL: none */
	struct ssa_store_options options; /* of all */
	struct ssa_reporter *reporter;
};

struct ssa_push;

/* All of the configuration must stay valid. */
struct ssa_push *ssa_push_start(const struct ssa_push_config *config);
void ssa_push_stop(struct ssa_push *push); /* NULL is fine */

/*
 * Once: copies the epoch of one store into the other if that has none, or an older one, and the
 * pulse as well; with both_ways, also back. manifest: of the newer. *moved: octets of chunks that
 * were copied. False and error.
 */
bool ssa_push_once(struct ssa_store *from, struct ssa_store *to, bool both_ways, GBytes *key,
		   struct ssa_manifest *manifest, uint64_t *moved, GError **error);

#endif
