// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An agent that follows its parents: a thread that takes up each epoch at once, goes from the
 * primary to the backup as soon as that fails, and keeps what it has while both are gone.
 */
#ifndef SSA_NODE_FOLLOW_H
#define SSA_NODE_FOLLOW_H

#include "ssa/node/agent.h"
#include "ssa/tree/report.h"

struct ssa_follow_config {
	struct ssa_agent_config agent;
	struct ssa_store_options options; /* of stores of parents */
	struct ssa_reporter *reporter;
	unsigned int look_ms; /* a store that says nothing is looked at that often; 0: 5,000 */
	/* Called by the thread for each new snapshot; may be NULL. */
	void (*taken)(void *arg, const struct ssa_snapshot *snapshot);
	void *arg;
};

struct ssa_follow;

/* The strings of the options must stay valid. It waits for parents. */
struct ssa_follow *ssa_follow_start(const struct ssa_follow_config *config);
/* Ends its thread. NULL is fine. */
void ssa_follow_stop(struct ssa_follow *follow);
/* URIs of stores, each may be NULL; any thread. */
void ssa_follow_parents(struct ssa_follow *follow, const char *primary, const char *backup);

#endif
