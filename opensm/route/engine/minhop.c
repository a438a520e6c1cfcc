// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine minhop: every path of a host is as short as the cabling allows, by the weights of
 * hop_weights_file if there is one; the choice among the shortest ones is by balance (tree.c where
 * the network is layered, balance.c elsewhere).
 *
 * In a tree, whole or damaged, that hardly ever needs paths that go up after they went down. So
 * these are not used: paths are those of updn, and the routing promises freedom from deadlock. The
 * only paths that are not shortest then are those between switches without hosts, and detours from
 * or to a switch that lost a cable. In other networks, and in a tree so badly damaged that legal
 * paths of hosts are longer than others or some switch has none, channel dependencies may be
 * cyclic, and only shortest paths are promised.
 */
#include "route/fill/shortest.h"
#include "route/order/hosts_shortest.h"
#include "route/order/orient.h"

static uint8_t *minhop_hops(struct route_plan *plan, const struct fabric *fabric,
			    const struct route_input *input, uint8_t *next, GError **error)
{
	g_autofree uint64_t *keys = route_keys(fabric, input);
	uint8_t *hops = NULL;

	if (input->n_weights)
		hops = route_hops_by_weight(plan, fabric, input, next, error);
	if (input->n_weights && (!hops || plan->order.weight))
		return hops;
	g_free(hops);
	hops = route_tree_hops_shortest(plan, fabric, keys, next);
	return hops ? hops : route_hops_or_error(&plan->order, next, error);
}

/* Paths of least weight are not those of the fewest hops. */
static void count_hops(struct routing *routing, const struct route_input *input)
{
	struct route_verdict verdict;

	route_verify_by(routing->fabric, routing, input, &verdict);
	routing->max_hops = verdict.max_hops;
	routing->promises &= ~ROUTE_SHORTEST;
	route_verdict_clear(&verdict);
}

static void minhop_finish(struct routing *routing, const struct route_input *input)
{
	if (routing->order)
		routing->promises |= ROUTE_DEADLOCK_FREE;
	if (input->n_weights)
		count_hops(routing, input);
}

const struct route_engine route_engine_minhop = {
	.name = "minhop",
	.summary = "shortest paths, balanced; free of credit loops in trees, else not",
	.promises = ROUTE_SHORTEST,
	.preferences = true,
	.ties = true,
	.hops = minhop_hops,
	.finish = minhop_finish,
};
