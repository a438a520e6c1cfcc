// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast LIDs and the groups that have them. While there are enough, each group has its own;
 * groups that a rule names share a few, and when no MLID is left all groups share. Only groups of
 * the same P_Key, MTU, rate and SL share (IBA C4-5): a packet reaches ports of other groups, which
 * drop it.
 *
 * An MLID that was given back is not used again until it is erased from the tables that had it.
 *
 * MLIDs are scarce, and any port may make groups: one sixteenth is reserved for groups of
 * partitions. Of the others a port may have at most an eighth of what is left, or 8, and all ports
 * of a partition together three times what is left, or 64, but each port its first; groups beyond
 * that share. Ports of a partition that has fewer than 4 may take from half of the reserve, so that
 * a new partition is usable.
 */
#ifndef SA_GROUPS_MLIDS_H
#define SA_GROUPS_MLIDS_H

#include <glib.h>

#include "core/mlid_rules.h"
#include "iba/iba.h"

#define SA_N_MLIDS (IBA_LID_MCAST_LAST - IBA_LID_MCAST_FIRST + 1u)

struct sa_mlids;

struct sa_mlid {
	uint16_t mlid;
	struct iba_mc_member_record terms; /* P_Key, MTU, rate and SL of its groups, and one MGID */
	uint64_t maker;			   /* GUID of the port that made the first; 0: this SM */
	uint16_t counted;		   /* the P_Key in whose share it counts */
	bool is_slot;			   /* it is the MLID of a rule's slot */
	uint64_t slot;			   /* that slot */
	GPtrArray *groups;		   /* owned and ordered by the caller */
};

struct sa_mlids *sa_mlids_new(void);
void sa_mlids_free(struct sa_mlids *mlids);

/* The highest MLID that switches support; groups above it keep theirs until they are empty. */
void sa_mlids_set_top(struct sa_mlids *mlids, uint16_t top);
uint32_t sa_mlids_count(const struct sa_mlids *mlids); /* usable MLIDs, free or not */
/*
 * Groups share MLIDs by the first of these rules that names them; if snm is not 0, IPv6
 * solicited-node groups share that many. MLIDs shared by previous rules stay until they are empty.
 */
void sa_mlids_share(struct sa_mlids *mlids, const struct mlid_rule *rules, unsigned int n,
		    uint16_t snm);

/*
 * The MLID for a group of these parameters: the record's own if it is free, or if exact is true and
 * its groups have the same parameters; else as the rules say, else the lowest free one, else one to
 * share, if possible one of the same maker; NULL if there is none. maker is the GUID of the port
 * that makes the group; 0 is this SM, which has no limit. With exact there is no limit either.
 */
struct sa_mlid *sa_mlids_take(struct sa_mlids *mlids, const struct iba_mc_member_record *record,
			      uint64_t maker, bool exact);
uint32_t sa_mlids_erasing(const struct sa_mlids *mlids); /* given back, not erased yet */
unsigned int sa_mlids_of(const struct sa_mlids *mlids, uint64_t maker); /* that this port made */
/*
 * Its last group is gone. It is erased when the list of that serial, or a later one, is programmed.
 */
void sa_mlids_give(struct sa_mlids *mlids, struct sa_mlid *mlid, uint64_t serial);
/* The list of that serial is programmed. */
void sa_mlids_erased(struct sa_mlids *mlids, uint64_t serial);

/* Whether a group of these parameters may have the MLID. */
bool sa_mlid_agrees(const struct sa_mlid *mlid, const struct iba_mc_member_record *record);
struct sa_mlid *sa_mlids_find(const struct sa_mlids *mlids, uint16_t mlid); /* NULL: no groups */

#endif
