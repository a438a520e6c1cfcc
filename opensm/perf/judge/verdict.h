// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What follows from the judgement of a sweep: lines of the log, and context->perf_alarms. Belongs
 * to the actor "perf".
 */
#ifndef PERF_VERDICT_H
#define PERF_VERDICT_H

#include "core/context.h"
#include "perf/image/image.h"

struct perf_verdict;

struct perf_verdict *perf_verdict_new(struct context *context);
void perf_verdict_free(struct perf_verdict *verdict); /* NULL is fine */

/*
 * After a sweep, the last of these images: judges what was counted since the one before by
 * context->perf_rules, logs at most perfmgr_log_lines lines, and publishes what stands, with
 * EVENT_PERF_ALARMS, if anything began or ended.
 */
void perf_verdict_sweep(struct perf_verdict *verdict, const struct perf_images *images,
			uint64_t now_ns);
/* No more sweeps: nothing is known to be wrong any longer. */
void perf_verdict_forget(struct perf_verdict *verdict);

#endif
