// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast groups as the SA publishes them to the sweep: immutable and reference counted.
 * Successive lists share the blocks in which nothing changed, and within a block the groups, so
 * that comparing one pointer shows that a part is unchanged.
 */
#ifndef POLICY_PARTITION_GROUPS_H
#define POLICY_PARTITION_GROUPS_H

#include "complib/handoff.h"
#include "iba/iba.h"

#define MC_PER_BLOCK 32u /* MLIDs per block of a multicast forwarding table */

struct mc_group {
	struct ref ref;
	struct iba_gid mgid;
	uint16_t mlid;
	uint16_t p_key;
	uint8_t mtu, rate, sl;
	uint32_t n_ports;
	uint64_t *port_guids; /* of members of any kind, by PortGID; a port may have several */
	bool *only_sends;     /* [n_ports]: the member receives no packets */
};

/* The groups of a block of MLIDs. */
struct mc_block {
	struct ref ref;
	uint32_t n;
	struct mc_group **groups; /* by MLID, then MGID; groups may share an MLID */
};

struct mc_groups {
	struct ref ref;
	uint64_t serial; /* increases with each change */
	uint32_t n;	 /* groups */
	struct mc_block *blocks[IBA_MFT_BLOCKS]; /* NULL: no groups */
};

static inline uint32_t mc_block_of(uint16_t mlid)
{
	return (mlid - IBA_LID_MCAST_FIRST) / MC_PER_BLOCK;
}

/* With room for n_ports members. */
struct mc_group *mc_group_new(uint32_t n_ports);
struct mc_group *mc_group_ref(struct mc_group *group);
void mc_group_unref(struct mc_group *group);
struct mc_block *mc_block_new(uint32_t n);
struct mc_block *mc_block_ref(struct mc_block *block);
void mc_block_unref(struct mc_block *block); /* and its groups; NULL is fine */

struct mc_groups *mc_groups_new(uint64_t serial);
struct mc_groups *mc_groups_ref(struct mc_groups *groups);
void mc_groups_unref(struct mc_groups *groups);

/*
 * Initialize it with {0}. Returns the next group by MLID and MGID; NULL after the last one, or if
 * groups is NULL.
 */
struct mc_cursor {
	uint32_t block, place;
};
const struct mc_group *mc_groups_next(const struct mc_groups *groups, struct mc_cursor *cursor);

#endif
