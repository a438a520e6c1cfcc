// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine sssp: shortest paths, spread over the cables LID by LID (spread.c), with credit loops
 * except where all its paths are legal (layered.h).
 *
 * Engine dfsssp: as sssp, but free of credit loops by virtual lanes (layers.c). If its paths take
 * several lanes, though not because a few are not legal, it uses those of lash, which take fewer,
 * if they load no channel more; it also uses them if there are not enough lanes, as in tori, and
 * then reports it.
 */
#include "route/fill/shortest.h"
#include "route/layers/layered.h"

static bool route_sssp(struct layered *layered, G_GNUC_UNUSED GError **error)
{
	layered->any_lanes = true;
	layered_spread(layered, SPREAD_LIDS);
	return true;
}

const struct route_engine route_engine_sssp = {
	.name = "sssp",
	.summary = "shortest paths balanced by load; may have credit loops",
	.promises = ROUTE_SHORTEST,
	.ties = true,
	.legal_first = true,
	.route = route_sssp,
	.need = { .in_trees = 2, .elsewhere = 2 },
};

static bool assign(struct layered *layered, GError **error)
{
	uint64_t most;

	layered_spread_ahead(layered, SPREAD_LOADS);
	most = layered_spread(layered, SPREAD_LIDS);
	if (layered_assign_one(layered) ||
	    (layered->nearly_legal && layered_assign(layered, 0, NULL)) ||
	    (layered_spread_leaves(layered) <= most && layered_assign(layered, 0, NULL)))
		return true;
	layered_spread(layered, SPREAD_LIDS);
	if (layered_assign(layered, 0, NULL))
		return true;
	if (!layered_assign_leaves(layered, 0, error))
		return false;
	routing_note(layered->way->routing,
		     "paths of single LIDs need more virtual lanes than there are: all LIDs of a "
		     "switch share one path");
	return true;
}

const struct route_engine route_engine_dfsssp = {
	.name = "dfsssp",
	.summary = "shortest paths balanced by load; free of credit loops on several lanes",
	.promises = ROUTE_SHORTEST,
	.ties = true,
	.legal_first = true,
	.trunk = true,
	.route = assign,
	.need = { .in_trees = 2, .elsewhere = 5, .pairs = 3, .lanes = true },
};
