// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Turns from down to up that may be allowed in an oriented graph, one after the other, as long as
 * channel dependencies have no cycle: those of all legal paths, whether an engine uses them or not,
 * and of all turns allowed so far. Channels are edges: what holds for one of parallel links holds
 * for all.
 */
#ifndef ROUTE_TURNS_H
#define ROUTE_TURNS_H

#include "route/graph.h"

struct turns;

/*
 * Turns at transit, and on the way up from it, cost nothing to judge if only one way leads down to
 * it from each switch above it.
 */
struct turns *turns_new(const struct route_graph *graph, uint32_t transit);
void turns_free(struct turns *turns);

/* The switch that an edge leaves. */
uint32_t turns_from(const struct turns *turns, uint32_t edge);

/* Whether packets may go on from an edge to the next one already: legal, or allowed before. */
bool turns_known(const struct turns *turns, uint32_t edge, uint32_t then);

/* Whether they may, be it from now on. */
bool turns_allow(struct turns *turns, uint32_t edge, uint32_t then);

/* Takes back a turn that turns_known() did not know before it was allowed. */
void turns_withdraw(struct turns *turns, uint32_t edge, uint32_t then);

/* What all judging has cost so far, in edges looked at. */
uint64_t turns_work(const struct turns *turns);

#endif
