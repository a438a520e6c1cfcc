// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine sssp: shortest paths, spread over the cables LID by LID (spread.c). Credit loops may
 * occur; dfsssp has none.
 */
#include "route/shortest.h"
#include "route/layered.h"

static bool route(struct layered *layered, G_GNUC_UNUSED GError **error)
{
	layered->in_batches = true;
	layered_spread(layered, SPREAD_LIDS);
	return true;
}

const struct route_engine route_engine_sssp = {
	.name = "sssp",
	.summary = "shortest paths by load so far; free of credit loops nowhere by promise",
	.promises = ROUTE_SHORTEST,
	.ties = true,
	.route = route,
};
