// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/layers/lane_channels.h"

#include <glib.h>

struct lane_channels *lane_channels_new(const struct route_channels *channels, uint32_t n_switches,
					uint16_t vls)
{
	struct lane_channels *by_lane = g_new0(struct lane_channels, 1);
	struct route_channels *all = g_new0(struct route_channels, 1);
	unsigned int n;

	for (; vls; vls &= vls - 1)
		by_lane->place[__builtin_ctz(vls)] = by_lane->n++;
	n = by_lane->n;
	by_lane->channels = all;
	all->n = channels->n * n;
	all->first = g_new(uint32_t, n_switches + 1);
	all->from = g_new(uint32_t, all->n + 1);
	all->to = g_new(uint32_t, all->n + 1);
	all->back = g_new(uint32_t, all->n + 1);
	all->step_base = g_new(uint32_t, all->n + 1);
	for (uint32_t sw = 0; sw <= n_switches; sw++)
		all->first[sw] = channels->first[sw] * n;
	for (uint32_t c = 0; c < all->n; c++) {
		const uint32_t *first = &all->first[channels->to[c / n]];

		all->from[c] = channels->from[c / n];
		all->to[c] = channels->to[c / n];
		all->back[c] = channels->back[c / n] * n + c % n;
		all->step_base[c] = all->n_steps - first[0];
		all->n_steps += first[1] - first[0];
	}
	return by_lane;
}

void lane_channels_free(struct lane_channels *by_lane)
{
	if (!by_lane)
		return;
	route_channels_free(by_lane->channels);
	g_free(by_lane);
}
