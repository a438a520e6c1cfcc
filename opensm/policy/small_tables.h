// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Switches whose forwarding table has no room for all LIDs in use, in words. */
#ifndef POLICY_SMALL_TABLES_H
#define POLICY_SMALL_TABLES_H

#include "route/engine.h"

/*
 * A line for each of them, and what it costs; of many the first few only. NULL if there are none.
 * *n gets their number. Those follow that hold fewer MLIDs than groups may have. g_strfreev it.
 */
char **small_tables_tell(const struct fabric *fabric, const struct routing *routing, uint32_t *n);

#endif
