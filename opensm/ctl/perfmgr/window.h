// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Windows of time that a word looks at: images in memory, and on disk if those are not enough. */
#ifndef CTL_PERFMGR_WINDOW_H
#define CTL_PERFMGR_WINDOW_H

#include "ctl/perfmgr/word.h"
#include "perf/disk/history.h"

/*
 * window_ns 0: the images in memory. *whole: whether images reach back that far. False: files are
 * needed and may not be read here (word.h).
 */
bool perfmgr_window(struct perfmgr_call *call, uint64_t window_ns, struct perf_fold *fold,
		    struct perf_history_read *read, bool *whole);
/* Where to read files; false: nowhere, or not here, with needs_files. */
bool perfmgr_may_read(struct perfmgr_call *call, struct perf_history_read *read,
		      const char **directory, uint64_t *run);
/* Its members of an answer; clears read. */
void perfmgr_add_window(GVariantBuilder *answer, const struct perf_fold *fold, bool whole,
			struct perf_history_read *read);
/* A line, and one more if files could not be used. */
void perfmgr_print_window(GVariant *answer, GString *out);

#endif
