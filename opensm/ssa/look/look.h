// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a host answers from a snapshot instead of asking the SA. A record that is given is, octet
 * for octet, the one that the SA would give; where the snapshot cannot tell, the answer is to ask
 * the SA, never a guess. Pure; no allocation; any thread.
 */
#ifndef SSA_LOOK_LOOK_H
#define SSA_LOOK_LOOK_H

#include "iba/iba.h"
#include "ssa/table/snapshot.h"

enum ssa_look {
	SSA_LOOK_FOUND,
	SSA_LOOK_NONE, /* the SA would find no record, or say that the query is invalid */
	SSA_LOOK_ASK,  /* only the SA knows */
};

/* For each path, in the order of the SA's answer; false: no more are wanted. */
typedef bool (*ssa_look_take)(void *arg, const struct iba_path_record *record);

/*
 * The paths that a query of that endport finds. mask: the components of wanted that count, as in an
 * SA packet. why (may be NULL): set to a constant text if the answer is not SSA_LOOK_FOUND.
 */
enum ssa_look ssa_look_paths(const struct ssa_snapshot *snapshot, uint32_t requester,
			     const struct iba_path_record *wanted, uint64_t mask,
			     ssa_look_take take, void *arg, const char **why);
/* The first of them, which is what the SA answers to Get. */
enum ssa_look ssa_look_path(const struct ssa_snapshot *snapshot, uint32_t requester,
			    const struct iba_path_record *wanted, uint64_t mask,
			    struct iba_path_record *record, const char **why);

/* Index in endports of the port with that GUID or alias GUID; SSA_NONE. */
uint32_t ssa_look_guid(const struct ssa_snapshot *snapshot, uint64_t guid);
/* Index of the owner of a LID; SSA_NONE. */
uint32_t ssa_look_lid(const struct ssa_snapshot *snapshot, uint16_t lid);
/* NodeDescription. */
const char *ssa_look_name(const struct ssa_snapshot *snapshot, uint32_t endport);

/* Addresses, as administered; the first row with that address, NULL: none. *n: how many follow. */
const struct ssa_name *ssa_look_named(const struct ssa_snapshot *snapshot, const char *name,
				      uint32_t *n);
const struct ssa_ipv4 *ssa_look_ipv4(const struct ssa_snapshot *snapshot, const uint8_t address[4],
				     uint32_t *n);
const struct ssa_ipv6 *ssa_look_ipv6(const struct ssa_snapshot *snapshot,
				     const uint8_t address[16], uint32_t *n);

#endif
