// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which endports may send to each other by their partitions, in the form that routing engines read.
 */
#ifndef POLICY_PARTITION_DEMAND_H
#define POLICY_PARTITION_DEMAND_H

#include "policy/partition/partition.h"
#include "route/engine.h"

/*
 * It points into the partitions, which must outlive it. NULL if there are none, or too many
 * classes for it to pay.
 */
struct route_demand *demand_of_partitions(const struct partitions *partitions);
void demand_free(struct route_demand *demand); /* NULL is fine */

#endif
