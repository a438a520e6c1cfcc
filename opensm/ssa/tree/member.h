// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Nodes of this process in the tree: a thread tells the core of them, every minute and whenever
 * something has happened to one, over a connection that it closes again, and passes on the parents
 * that the core answers. Cores are asked in the order of the configuration, until one answers.
 * Where that names none, they are looked for first.
 */
#ifndef SSA_TREE_MEMBER_H
#define SSA_TREE_MEMBER_H

#include "ssa/tree/report.h"
#include "ssa/store/store.h"

struct ssa_members_config {
	uint64_t prefix;
	const GPtrArray *cores; /* URIs (char *) */
	/*
	 * Called by the thread if there are none, or none has answered: others (char *), or NULL
	 * and error. NULL: those are all.
	 */
	GPtrArray *(*find)(void *arg, GError **error);
	void *arg;
	struct ssa_store_options options;
	bool all; /* each core is told, as by a core; parents are not asked for */
};

struct ssa_members;
struct ssa_member;

/* URIs of servers, NULL: none; called by the thread when they have changed. */
typedef void (*ssa_member_parents)(void *arg, const char *primary, const char *backup);

struct ssa_members *ssa_members_new(const struct ssa_members_config *config);
/* Before ssa_members_start(). address: HOST:PORT of its server; NULL: it has none. */
struct ssa_member *ssa_members_add(struct ssa_members *members, uint64_t guid, unsigned int roles,
				   const char *address, struct ssa_reporter *reporter,
				   ssa_member_parents parents, void *arg);
void ssa_members_start(struct ssa_members *members);
/* Ends the thread; members can still be told of changes. NULL is fine. */
void ssa_members_stop(struct ssa_members *members);
void ssa_members_free(struct ssa_members *members); /* stops it, too; NULL is fine */

/*
 * Something has happened to it, which its reporter knows: the core is told at once, or within some
 * seconds, as it happens to all nodes together. Any thread.
 */
void ssa_member_changed(struct ssa_member *member, bool at_once);

#endif
