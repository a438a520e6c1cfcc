// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine lash: one shortest path from switch to switch, free of credit loops by virtual lanes from
 * lash_start_vl on (layers.c). It takes fewer lanes than dfsssp, where each LID has its own path.
 */
#include "route/layers.h"
#include "route/shortest.h"

static struct routing *lash_compute(const struct fabric *fabric, const struct route_input *input,
				    GError **error)
{
	struct layered layered;

	if (!layered_init(&layered, &route_engine_lash, fabric, input, error))
		return NULL;
	layered_spread_leaves(&layered);
	return layered_end(&layered, layered_assign(&layered, input->lash_start_vl, error));
}

const struct route_engine route_engine_lash = {
	.name = "lash",
	.summary = "a shortest path between switches; free of credit loops on several lanes",
	.promises = ROUTE_SHORTEST,
	.compute = lash_compute,
};
