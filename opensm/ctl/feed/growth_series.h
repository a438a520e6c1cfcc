// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Series (feed.h) of how much the counters of each port grew between two images of the performance
 * manager: OSM_EVENT_PORT_ERRORS, OSM_EVENT_PORT_DATA_COUNTERS and OSM_EVENT_PORT_SELECT.
 */
#ifndef CTL_FEED_GROWTH_SERIES_H
#define CTL_FEED_GROWTH_SERIES_H

#include "ctl/feed/feed.h"
#include "perf/image/growth.h"

#define GROWTH_EVENTS                                                                              \
	(OSM_EVENT_BIT(OSM_EVENT_PORT_ERRORS) | OSM_EVENT_BIT(OSM_EVENT_PORT_DATA_COUNTERS) |      \
	 OSM_EVENT_BIT(OSM_EVENT_PORT_SELECT))

/* Both are of this process. */
struct feed_series *growth_series_new(const struct feed_moment *moment, struct perf_image *old,
				      struct perf_image *new);

#endif
