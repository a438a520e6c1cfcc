// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Up and down where neither a tree nor the operator says what is up. */
#ifndef ROUTE_ROOTS_H
#define ROUTE_ROOTS_H

#include "route/graph.h"

/*
 * Orients the graph by that one of several orders by which routes seem to load links most evenly.
 * Each connects all hosts that cables connect, but for that by the distance from the hosts, which
 * is among them. False if by none of them paths are short enough; the graph is oriented all the
 * same.
 */
bool route_orient_best(struct route_graph *graph, const uint64_t *key);

#endif
