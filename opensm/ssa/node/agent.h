// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a host knows of the subnet: a snapshot of its half-world, in a file that others map. It is
 * replaced as a whole, only if its octets change, and never by one of an earlier term or epoch.
 *
 * The file's modification time says when the epoch was last known to be the current one: consumers
 * go by it (ssa_max_age of libibacmssa).
 */
#ifndef SSA_NODE_AGENT_H
#define SSA_NODE_AGENT_H

#include "ssa/store/store.h"

struct ssa_agent_config {
	uint64_t prefix;
	GBytes *key; /* NULL: manifests need not be signed */
	struct ssa_wanted wanted;
	const char *file; /* NULL: none is written */
};

enum ssa_update {
	SSA_UPDATE_FAILED,
	SSA_UPDATE_SAME,  /* the store has the epoch that the agent has */
	SSA_UPDATE_NEWER, /* the snapshot is another one */
};

struct ssa_agent;

/* Goes on from the file, if there is one; what is wrong with that is told. */
struct ssa_agent *ssa_agent_new(const struct ssa_agent_config *config);
void ssa_agent_free(struct ssa_agent *agent); /* NULL is fine */

/* Takes up what the store has. An epoch that is older than the agent's is an error. */
enum ssa_update ssa_agent_update(struct ssa_agent *agent, struct ssa_store *store, GError **error);
/* It is known that no newer epoch has been published than the agent has. */
void ssa_agent_confirm(struct ssa_agent *agent);

/* What it has; NULL: nothing yet. Valid until the next update. */
const struct ssa_snapshot *ssa_agent_snapshot(const struct ssa_agent *agent);
/* Octets of frames that it got from stores. */
uint64_t ssa_agent_fetched(const struct ssa_agent *agent);

#endif
