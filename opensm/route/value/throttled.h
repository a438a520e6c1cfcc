// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Cables between switches that run below what both ends support: avoid_throttled_links. */
#ifndef ROUTE_VALUE_THROTTLED_H
#define ROUTE_VALUE_THROTTLED_H

#include "fabric/fabric.h"

/* Whether one end of the link of a port reports less width or speed than both ends support. */
bool route_is_throttled(const struct fabric *fabric, uint32_t port);

/*
 * [port]: has such a cable, and without it the same switches still reach each other over cables at
 * full width and speed; counts these cables, and those that must stay. NULL if there is none.
 */
bool *route_throttled(const struct fabric *fabric, uint32_t *n, uint32_t *n_stay);

#endif
