// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * IP over InfiniBand (RFC 4391, 4 and 5). The MGID of an IPoIB group contains a P_Key and a scope:
 * the group belongs to the broadcast group of both, and has its parameters. A host asks for exactly
 * these when it joins, so it cannot join a group with others.
 */
#ifndef SA_GROUPS_IPOIB_H
#define SA_GROUPS_IPOIB_H

#include "iba/iba.h"
#include "policy/partition/partition.h"

bool ipoib_owns(struct iba_gid mgid);
/* The P_Key in an IPoIB MGID; in a valid one the full-member bit is set. */
uint16_t ipoib_p_key(struct iba_gid mgid);
/* The MGID of the broadcast group that an IPoIB group belongs to; itself, if it is that group. */
struct iba_gid ipoib_broadcast(struct iba_gid mgid);
/*
 * What the rules of a partition say about the broadcast group of that MGID: the rule for its scope
 * or, if there is none, for another scope. False: the partition has none.
 */
bool ipoib_rule(const struct partition *partition, struct iba_gid mgid,
		struct partition_group *rule);
/* The first parameter in which a group differs from its broadcast group; NULL: in none. */
const char *ipoib_difference(const struct iba_mc_member_record *group,
			     const struct iba_mc_member_record *broadcast);
/* Gives the group all parameters of its broadcast group. */
void ipoib_take_parameters(struct iba_mc_member_record *group,
			   const struct iba_mc_member_record *broadcast);

#endif
