// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Pairs of switches one after the other, with what they send each other. */
#ifndef ROUTE_PAIRS_H
#define ROUTE_PAIRS_H

#include "route/acyclic.h"
#include "route/layered.h"

/* Whether two switches are of the kind at hand, in this order. */
typedef bool layered_kind_fn(void *arg, uint32_t a, uint32_t b);

/*
 * Takes the steps of the paths between two switches, both ways: from the hosts of one (or from
 * itself if it has none) to each LID behind the other and, if it sends to that, to its own LIDs.
 * LIDs that go together have one. A path goes on as long as each step begins with the channel to
 * which the one before leads. False: no more.
 */
typedef bool layered_pair_fn(void *arg, uint32_t a, uint32_t b, const struct acyclic_step *steps,
			     uint32_t n);

/*
 * Calls for each pair of a kind that has no SL yet in lanes (NULL: for all), while other threads
 * list the steps of the next.
 */
void layered_each_pair(const struct layered *layered, const struct route_lanes *lanes,
		       layered_kind_fn *is_kind, layered_pair_fn *call, void *arg);

#endif
