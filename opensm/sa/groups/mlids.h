// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast LIDs and the groups that have them. Groups have one each while there are enough; those
 * that a rule names share a few, and when none is left all do. They share only with groups of the
 * same P_Key, MTU, rate and SL (IBA C4-5): a packet gets to ports of other groups, which drop it.
 *
 * An MLID that was given back is not given again until the tables that had it are erased.
 *
 * MLIDs are few, and any port may make groups: a sixteenth is kept for groups of partitions. Of the
 * others a port has at most an eighth of what is left, or 8, and all ports of a partition together
 * three quarters, or 64, but each port its first; groups beyond that share. Ports of a partition
 * that has less than 4 find some in half of what is kept, so that a new one is of use.
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
	struct iba_mc_member_record terms; /* those of its groups that count, and the MGID of one */
	uint64_t maker;			   /* GUID of the port that made the first; 0: this SM */
	uint16_t counted;		   /* P_Key whose share it is of */
	bool is_slot;			   /* of a rule */
	uint64_t slot;			   /* that it stands for then */
	GPtrArray *groups;		   /* of the caller, in the caller's order */
};

struct sa_mlids *sa_mlids_new(void);
void sa_mlids_free(struct sa_mlids *mlids);

/* Up to which MLID switches can do; those of groups that are above stay until they are empty. */
void sa_mlids_set_top(struct sa_mlids *mlids, uint16_t top);
uint32_t sa_mlids_count(const struct sa_mlids *mlids); /* that there may be, free or not */
/*
 * Groups share MLIDs by the first of these rules that names them, then, if snm is not 0, IPv6
 * solicited-node groups that many. MLIDs that are shared by other rules stay until they are empty.
 */
void sa_mlids_share(struct sa_mlids *mlids, const struct mlid_rule *rules, unsigned int n,
		    uint16_t snm);

/*
 * The MLID for a group of these parameters: the record's own if that is free or exact is true and
 * its groups have the same parameters, else as the rules say, else the lowest free one, else one to
 * share, which is one of the same maker if there is one; NULL if there is none. maker is the GUID
 * of the port that makes the group, 0 this SM, which has no bound; nor has any with exact.
 */
struct sa_mlid *sa_mlids_take(struct sa_mlids *mlids, const struct iba_mc_member_record *record,
			      uint64_t maker, bool exact);
uint32_t sa_mlids_erasing(const struct sa_mlids *mlids); /* that are free when they are erased */
unsigned int sa_mlids_of(const struct sa_mlids *mlids, uint64_t maker); /* made by that port */
/* Its last group is gone; it is to be erased by who programs lists from that serial on. */
void sa_mlids_give(struct sa_mlids *mlids, struct sa_mlid *mlid, uint64_t serial);
/* The list of that serial is programmed. */
void sa_mlids_erased(struct sa_mlids *mlids, uint64_t serial);

/* Whether a group of these parameters may have the MLID. */
bool sa_mlid_agrees(const struct sa_mlid *mlid, const struct iba_mc_member_record *record);
struct sa_mlid *sa_mlids_find(const struct sa_mlids *mlids, uint16_t mlid); /* NULL: no groups */

#endif
