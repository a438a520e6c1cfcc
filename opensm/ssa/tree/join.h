// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a node tells the core and what that answers, as JSON; and the list of all nodes that the
 * core keeps for others. What is read comes from outside: texts that are not understood are
 * refused, numbers are in their range.
 */
#ifndef SSA_TREE_JOIN_H
#define SSA_TREE_JOIN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SSA_JOIN_PERIOD_S 60u
#define SSA_JOIN_KEPT_S 180u /* as long a silent node is known, and what a core tells of nodes */
#define SSA_JOIN_TEXT_MAX 4096u
#define SSA_JOIN_ADDRESS 128

/* Bits: the numbers of ibssa2. */
enum ssa_role {
	SSA_ROLE_CORE = 1,
	SSA_ROLE_DISTRIBUTION = 2,
	SSA_ROLE_ACCESS = 4,
	SSA_ROLE_AGENT = 8,
};

/* "core" and so on, of one role; NULL: the number is none. */
const char *ssa_role_name(unsigned int role);
/* The role of that name; 0: none. */
unsigned int ssa_role_find(const char *name);

struct ssa_join {
	uint64_t guid;
	unsigned int roles;
	uint64_t number;     /* of this node's joins: the answer repeats it */
	uint64_t bad;	     /* a parent that does not serve it; 0: none */
	uint64_t parents[2]; /* that it was told */
	uint64_t term, epoch;
	char address[SSA_JOIN_ADDRESS]; /* HOST:PORT of its server; "": it has none */
	char parent[SSA_JOIN_ADDRESS];	/* that it reads from */
	char name[64];			/* of the host */
	uint64_t updates, errors, switches;
	int64_t started_us, updated_us, confirmed_us, error_us; /* UNIX time; 0: never */
	char error[256];					/* the last one; "": none */
};

struct ssa_answer {
	uint64_t number;
	uint64_t guids[2]; /* primary, backup; 0: none */
	char addresses[2][SSA_JOIN_ADDRESS];
};

/* Free with g_free(). */
char *ssa_join_text(const struct ssa_join *join);
bool ssa_join_parse(const char *text, struct ssa_join *join);
char *ssa_answer_text(const struct ssa_answer *answer);
bool ssa_answer_parse(const char *text, struct ssa_answer *answer);

/* One line of the list: "GUID ROLES PRIMARY BACKUP TERM EPOCH SEEN ADDRESS". */
struct ssa_listed_node {
	uint64_t guid;
	unsigned int roles;
	uint64_t parents[2];
	uint64_t term, epoch;
	int64_t seen_s; /* UNIX time of its last join */
	char address[SSA_JOIN_ADDRESS];
};

void ssa_tree_append(GString *text, const struct ssa_listed_node *node);
/* struct ssa_listed_node; lines that are none are skipped. */
GArray *ssa_tree_parse(const char *text);

#endif
