// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Switches whose LinearFDBCap is too small for the LIDs in use. */
#ifndef ROUTE_FDB_CAP_H
#define ROUTE_FDB_CAP_H

#include "fabric/fabric.h"

/*
 * [switch]: it forwards LIDs below this; FABRIC_LIDS if all that are in use. NULL if that is so
 * for all switches. Of few different values: where there are many, less than they forward. g_free
 * it.
 */
uint32_t *route_caps(const struct fabric *fabric);

/* The least of n caps above this LID: LIDs up to there are forwarded by the same switches. */
uint32_t route_next_cap(const uint32_t *caps, uint32_t n, uint32_t lid);

#endif
