// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Balance of a repaired routing whose tables were made by load (balance.c). */
#ifndef ROUTE_REBALANCE_H
#define ROUTE_REBALANCE_H

#include "route/trace.h"

/*
 * Moves entries of a routing that nobody else holds yet from cables that carry too much, compared
 * with what the tables at home load on theirs, to others that begin a best path too. Sets moved and
 * uneven of its trace; excused is what is carried over from before.
 */
void route_rebalance(struct routing *routing);

/* The same of any repaired routing, until no cable carries more than this, if that can be had. */
void route_rebalance_to(struct routing *routing, uint64_t limit);

#endif
