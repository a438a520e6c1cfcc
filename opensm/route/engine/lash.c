// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine lash: one shortest path from switch to switch, free of credit loops by virtual lanes from
 * lash_start_vl on (layers.c). It takes fewer lanes than dfsssp, where each LID has its own path;
 * and even fewer, or one, if all paths take the dimensions in the same order (mesh.c).
 */
#include "route/fill/shortest.h"
#include "route/layers/layered.h"

static bool assign(struct layered *layered, GError **error)
{
	const struct route_input *input = layered->input;

	if (input->find_mesh && layered_spread(layered, SPREAD_DIMENSIONS) < UINT64_MAX &&
	    layered_assign(layered, input->lash_start_vl, NULL))
		return true;
	return layered_assign_leaves(layered, input->lash_start_vl, error);
}

const struct route_engine route_engine_lash = {
	.name = "lash",
	.summary = "a shortest path between switches; free of credit loops on several lanes",
	.promises = ROUTE_SHORTEST,
	.ties = true,
	.legal_first = true,
	.trunk = true,
	.route = assign,
	.need = { .in_trees = 3, .elsewhere = 5, .pairs = 4, .lanes = true },
};
