// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a process must know of the one before, so that totals go on and what was counted between
 * them is not lost: the file "last" of the directory for performance data. A plain value, owned
 * by its maker.
 */
#ifndef PERF_RESUME_H
#define PERF_RESUME_H

#include <glib.h>

#include "complib/log.h"
#include "perf/image/image.h"

struct perf_resume_detail {
	uint32_t row;
	uint32_t have, at_least; /* as struct perf_detail_row */
	int64_t read_us;	 /* since 1970 */
	uint64_t absolute[PERF_DETAILS], total[PERF_DETAILS];
};

struct perf_resume {
	uint64_t id;	  /* of the last image */
	int64_t saved_us; /* since 1970 */
	struct perf_layout *layout;
	uint64_t *absolute[PERF_COUNTERS]; /* [row]: as the agent told last */
	uint64_t *total[PERF_COUNTERS];	   /* [row], as all others but those of details */
	int64_t *read_us;		   /* since 1970; 0: never */
	uint32_t *at_least, *have;	   /* as in struct perf_image */
	uint16_t *flags;
	uint32_t *wide; /* counters of which absolute is of 64 bits */
	uint32_t n_details;
	struct perf_resume_detail *details; /* by row */
};

/* All zeros; a reference to layout is taken. */
struct perf_resume *perf_resume_new(struct perf_layout *layout, uint32_t n_details);
void perf_resume_free(struct perf_resume *resume); /* NULL is fine */

/* NULL: it has too many rows for a file. */
GByteArray *perf_resume_encode(const struct perf_resume *resume, int level);
/* NULL and error as columns_open(). */
struct perf_resume *perf_resume_load(const char *file, GError **error);
/*
 * Loads the file of that directory. NULL: there is none, or it cannot be used, which is logged; it
 * is kept as last.bad then.
 */
struct perf_resume *perf_resume_take(struct log *log, const char *directory);
char *perf_resume_file(const char *directory); /* g_free it */

#endif
