// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files for an ibacm without libibacmssa: its own provider can load paths and addresses when it
 * starts (route_preload opensm_full_v1, addr_preload acm_hosts).
 *
 * A line for a path has a LID, an SL, an MTU and a rate, and is used with any P_Key of the host. So
 * a destination has a line only if the SA would answer with these to a query for each P_Key that
 * the two share, and to one for none; for others that provider asks the SA.
 */
#ifndef SSA_NODE_ACM_FILES_H
#define SSA_NODE_ACM_FILES_H

#include "ssa/table/snapshot.h"

/* By these names that provider looks in the directory of its configuration. */
#define SSA_ACM_ROUTES "ibacm_route.data"
#define SSA_ACM_HOSTS "ibacm_hosts.data"

/* For the ports with these GUIDs, up to a 0 or n. Free with g_free(). */
char *ssa_acm_routes(const struct ssa_snapshot *snapshot, const uint64_t *guids, unsigned int n);
char *ssa_acm_hosts(const struct ssa_snapshot *snapshot);

/* Replaces each file as a whole, and only if it has other contents. False and error. */
bool ssa_acm_files_write(const char *directory, const struct ssa_snapshot *snapshot,
			 const uint64_t *guids, unsigned int n, GError **error);

#endif
