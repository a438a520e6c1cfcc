// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine minhop: every path is as short as the cabling allows; which of the shortest ones is a
 * matter of balance (tree.c where the network is layered, balance.c elsewhere). Channel
 * dependencies may be cyclic: it promises no freedom from deadlock.
 */
#include "route/shortest.h"

static uint8_t *minhop_hops(struct route_graph *graph, const struct fabric *fabric,
			    const struct route_input *input, uint8_t *next, GError **error)
{
	(void)fabric;
	(void)input;
	return route_hops_or_error(graph, next, error);
}

static struct routing *minhop_compute(const struct fabric *fabric,
				      const struct route_input *input, GError **error)
{
	return route_by_hops(&route_engine_minhop, fabric, input, error);
}

const struct route_engine route_engine_minhop = {
	.name = "minhop",
	.summary = "shortest paths, balanced; may have credit loops",
	.promises = ROUTE_SHORTEST,
	.wishes = true,
	.compute = minhop_compute,
	.hops = minhop_hops,
};
