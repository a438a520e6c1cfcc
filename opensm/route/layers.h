// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Lanes for tables that are made: which pairs of switches share one. */
#ifndef ROUTE_LAYERS_H
#define ROUTE_LAYERS_H

#include "route/layered.h"

/*
 * Gives what hosts of two switches send each other, both ways, one of the lanes from first on, so
 * that no lane has a credit loop; and what hosts and switches send each other too, if one is left
 * for it. False, and error says how many it takes, if not all cables between switches have so many;
 * that takes time, which is spared without error.
 */
bool layered_assign(struct layered *layered, uint8_t first, GError **error);

/*
 * Spreads paths, all to the hosts of a switch alike, so that the busiest channel carries least; if
 * there are not lanes enough for these, in ways that take fewer.
 */
bool layered_assign_leaves(struct layered *layered, uint8_t first, GError **error);

/* Gives all lane 0; false if that closes a loop. */
bool layered_assign_one(struct layered *layered);

#endif
