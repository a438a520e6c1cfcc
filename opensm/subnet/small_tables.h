// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Switches whose forwarding table has no room for all LIDs in use, in words. */
#ifndef SUBNET_SMALL_TABLES_H
#define SUBNET_SMALL_TABLES_H

#include "policy/partition/groups.h"
#include "route/engine.h"

/*
 * A line for each of them, and for those that hold fewer MLIDs than groups may have, with what
 * comes of it; of many the first few only. NULL if there are none. g_strfreev it. *n gets the
 * number of the former, *n_harmful how many lines, the first ones, tell that hosts or the SM cannot
 * send to some others, or hosts get no multicast.
 */
char **small_tables_tell(const struct fabric *fabric, const struct routing *routing, uint32_t *n,
			 uint32_t *n_harmful);

/*
 * Switches with hosts that cannot forward some of the groups, as these had their MLIDs before: a
 * line for each; of many the first few only. NULL if there are none. g_strfreev it.
 */
char **small_tables_tell_groups(const struct fabric *fabric, const struct mc_groups *groups);

#endif
