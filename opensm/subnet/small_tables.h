// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Text about switches whose forwarding table has no room for all LIDs in use. */
#ifndef SUBNET_SMALL_TABLES_H
#define SUBNET_SMALL_TABLES_H

#include "policy/partition/groups.h"
#include "route/engine.h"

/*
 * A line for each of them, and for each that supports fewer MLIDs than groups may have, with the
 * consequences; at most the first few. NULL if there are none; free with g_strfreev. *n is set to
 * the number of the former, *n_harmful to the number of lines, the first ones, about hosts or the
 * SM that cannot send to others, or hosts without multicast.
 */
char **small_tables_tell(const struct fabric *fabric, const struct routing *routing, uint32_t *n,
			 uint32_t *n_harmful);

/*
 * A line for each switch with hosts that cannot forward some of the groups, as these already had
 * their MLIDs; at most the first few. NULL if there are none; free with g_strfreev.
 */
char **small_tables_tell_groups(const struct fabric *fabric, const struct mc_groups *groups);

#endif
