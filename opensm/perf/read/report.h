// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What one sweep of the counters tells the log, in the lines of the classic daemon. */
#ifndef PERF_REPORT_H
#define PERF_REPORT_H

#include "complib/log.h"
#include "core/options.h"
#include "perf/image/image.h"

/*
 * Compares an image with the last of those before it (NULL: there are none). Writes at most
 * perfmgr_log_lines errors, the worst first, and one line about the rest: counters that grew (ERR
 * 5431 to 543D), counters that others have cleared (540A, 540B), and agents that have become silent
 * or refuse to answer (5402). A first reading causes no line. An agent whose rows keep PERF_SILENT
 * or PERF_REFUSED from image to image is reported once.
 */
void perf_report_sweep(struct log *log, const struct options *options,
		       const struct perf_images *before, const struct perf_image *new);

#endif
