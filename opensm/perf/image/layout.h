// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which ports an image has, made from the published subnet. */
#ifndef PERF_LAYOUT_H
#define PERF_LAYOUT_H

#include "fabric/fabric.h"
#include "perf/image/image.h"

struct perf_layout_wish {
	bool keep_gone;	 /* nodes that have left the subnet stay, inactive */
	bool ignore_cas; /* no rows for CAs */
	int64_t now_us;	 /* totals of new nodes begin now, us since 1970 */
};

/* The layout of the fabric, or a reference to old (NULL: none) if that is still right. */
struct perf_layout *perf_layout_make(const struct fabric *fabric, struct perf_layout *old,
				     const struct perf_layout_wish *wish);
/* A copy without inactive nodes, or with ticks as in tick[row]; old keeps its reference. */
struct perf_layout *perf_layout_without_gone(const struct perf_layout *old);
struct perf_layout *perf_layout_with_ticks(const struct perf_layout *old, const uint8_t *ticks);
/* Its ports, whose totals begin now. */
struct perf_layout *perf_layout_since(const struct perf_layout *old, int64_t now_us);

#endif
