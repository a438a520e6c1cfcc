// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engines updn and dnup: no path goes up after it went down, so channel dependencies have no cycle.
 * The shortest of the legal paths are balanced as in minhop.
 *
 * For updn, up is towards the roots that the operator named. Without any, it is towards the top of
 * the tree, if the network is a tree; else what roots.c finds best. If the operator numbers the
 * switches, up is away from the hosts, then by these numbers, before roots.c is asked. dnup always
 * uses the distance from the hosts.
 *
 * That alone leaves some pairs without a legal path; single_top.c adds these.
 */
#include "route/fill/shortest.h"
#include "route/order/hosts_shortest.h"
#include "route/order/orient.h"

static uint8_t *updn_hops(struct route_plan *plan, const struct fabric *fabric,
			  const struct route_input *input, uint8_t *next, GError **error)
{
	g_autofree uint64_t *keys = route_keys(fabric, input);
	g_autofree uint32_t *rank = NULL;
	struct route_order *order = &plan->order;
	uint8_t *hops;

	if (input->n_roots) {
		rank = route_rank_from_roots(order, fabric, input, keys, error);
		return rank ? route_ranked_hops(order, fabric, rank, keys, next, error) : NULL;
	}
	hops = route_tree_hops(plan, fabric, keys, next);
	if (!hops && input->n_ids && route_orient_from_hosts(order, keys))
		hops = route_legal_hops(order, fabric, next, NULL);
	if (hops)
		return hops;
	route_orient_best(order, keys);
	return route_legal_hops(order, fabric, next, error);
}

static uint8_t *dnup_hops(struct route_plan *plan, const struct fabric *fabric,
			  const struct route_input *input, uint8_t *next, GError **error)
{
	g_autofree uint64_t *keys = route_keys(fabric, input);
	struct route_order *order = &plan->order;
	uint8_t *hops = route_tree_hops(plan, fabric, keys, next);

	if (hops)
		return hops;
	route_orient_from_hosts(order, keys);
	return route_legal_hops(order, fabric, next, error);
}

const struct route_engine route_engine_updn = {
	.name = "updn",
	.summary = "up, then down, from roots given or found; free of credit loops",
	.promises = ROUTE_DEADLOCK_FREE,
	.preferences = true,
	.ties = true,
	.hops = updn_hops,
};

const struct route_engine route_engine_dnup = {
	.name = "dnup",
	.summary = "up, then down, by the distance from hosts; free of credit loops",
	.promises = ROUTE_DEADLOCK_FREE,
	.preferences = true,
	.ties = true,
	.hops = dnup_hops,
};
