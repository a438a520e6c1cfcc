// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Pairs of switches one after the other, with what they send each other. */
#ifndef ROUTE_PAIRS_H
#define ROUTE_PAIRS_H

#include "route/layered.h"

struct layered_pair {
	uint32_t a, b;
};

/*
 * Takes the paths between two switches, both ways: from the hosts of one (or from itself if it has
 * none) to each LID behind the other and, if it sends to that, to its own LIDs. LIDs that go
 * together have one. Behind the channels of each path stands FABRIC_NONE. False: no more.
 */
typedef bool layered_pair_fn(void *arg, uint32_t a, uint32_t b, const uint32_t *channels,
			     size_t n);

/* Calls for each pair (struct layered_pair), in this order, while other threads list the next. */
void layered_each_pair(const struct layered *layered, const GArray *pairs, layered_pair_fn *call,
		       void *arg);

#endif
