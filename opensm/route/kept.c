// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/kept.h"

#include "route/trace.h"

void route_kept_init(struct route_kept *kept, const struct fabric *fabric,
		     const struct routing *routing)
{
	kept->routing = routing;
	kept->row = g_new(uint32_t, fabric->n_switches + 1);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		kept->row[sw] = route_home_row(routing->home,
					       fabric->nodes[fabric->switches[sw].node].guid);
}

void route_kept_clear(struct route_kept *kept)
{
	g_free(kept->row);
}
