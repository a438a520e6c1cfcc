// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Series (feed.h) of what differs between two published subnets. Both are held until the series was
 * taken.
 */
#ifndef CTL_FEED_SUBNET_SERIES_H
#define CTL_FEED_SUBNET_SERIES_H

#include "ctl/feed/feed.h"
#include "subnet/subnet.h"

/* Nodes, links, ports and LIDs: each of fabric_changes(), of which a reference is taken. */
struct feed_series *subnet_series_changes(const struct feed_moment *moment, struct subnet *old,
					  struct subnet *now, GArray *changes);
/*
 * OSM_EVENT_LFT_CHANGE of each block that differs. A switch that old does not have discarded
 * everything before; one of which only LinearFDBTop differs has the block where that is. Of series
 * that were joined, also each block that differed at one of the steps, with what it has at the end.
 */
struct feed_series *subnet_series_lfts(const struct feed_moment *moment, struct subnet *old,
				       struct subnet *now);

#endif
