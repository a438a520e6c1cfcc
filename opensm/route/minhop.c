// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine minhop: every path is as short as the cabling allows, by the weights of hop_weights_file
 * if there is one; which of the shortest ones is a matter of balance (tree.c where the network is
 * layered, balance.c elsewhere). Channel dependencies may be cyclic: it promises no freedom from
 * deadlock.
 */
#include "route/shortest.h"
#include "route/weights.h"

static uint8_t *minhop_hops(struct route_graph *graph, const struct fabric *fabric,
			    const struct route_input *input, uint8_t *next, GError **error)
{
	if (input->n_weights)
		return route_hops_by_weight(graph, fabric, input, next, error);
	return route_hops_or_error(graph, next, error);
}

/* Paths of least weight are not those of the fewest hops. */
static void count_hops(const struct fabric *fabric, const struct route_input *input,
		       struct routing *routing)
{
	struct route_verdict verdict;

	route_verify_by(fabric, routing, input->threads, &verdict);
	routing->max_hops = verdict.max_hops;
	routing->promises &= ~ROUTE_SHORTEST;
	route_verdict_clear(&verdict);
}

static struct routing *minhop_compute(const struct fabric *fabric,
				      const struct route_input *input, GError **error)
{
	struct routing *routing = route_by_hops(&route_engine_minhop, fabric, input, error);

	if (routing && input->n_weights)
		count_hops(fabric, input, routing);
	return routing;
}

const struct route_engine route_engine_minhop = {
	.name = "minhop",
	.summary = "shortest paths, balanced; may have credit loops",
	.promises = ROUTE_SHORTEST,
	.wishes = true,
	.compute = minhop_compute,
	.hops = minhop_hops,
};
