// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Windows of time that a word looks at: images in memory, and on disk if those are not enough. */
#ifndef CTL_PERFMGR_WINDOW_H
#define CTL_PERFMGR_WINDOW_H

#include "ctl/perfmgr/word.h"
#include "perf/history.h"

/* window_ns 0: the images in memory. Returns whether they reach back that far. */
bool perfmgr_window(const struct perfmgr_call *call, uint64_t window_ns, struct perf_fold *fold,
		    struct perf_history_read *read);
/* Its members of an answer; clears read. */
void perfmgr_add_window(GVariantBuilder *answer, const struct perf_fold *fold, bool whole,
			struct perf_history_read *read);
/* A line, and one more if files could not be used. */
void perfmgr_print_window(GVariant *answer, GString *out);

#endif
