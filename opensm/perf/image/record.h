// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The counters of a port as text, in the two forms of the classic daemon: for people, as its
 * console prints them, and for machines, as columns. Pure functions.
 */
#ifndef PERF_RECORD_H
#define PERF_RECORD_H

#include <glib.h>

#include "perf/image/image.h"

struct perf_record {
	const char *name; /* of the node */
	uint64_t guid;
	bool active;
	uint8_t port;
	/* Seconds since 1970: the totals count from then, and were last read then. */
	int64_t since, read;
	uint64_t total[PERF_COUNTERS];
};

/* False: the port was never read, so it has no record. The name is that of the image's layout. */
bool perf_record_of(struct perf_record *record, const struct perf_image *image, uint32_t row);
/* Whether a counter of errors or of waiting is above 0. */
bool perf_record_has_errors(const struct perf_record *record);

void perf_record_print(const struct perf_record *record, GString *out);
/* Only the counters of errors and of waiting that are above 0. */
void perf_record_print_errors(const struct perf_record *record, GString *out);
/* The line of titles that is above the ports of each node. */
void perf_record_titles(GString *out);
void perf_record_columns(const struct perf_record *record, GString *out);

/* When a row was last read, in seconds since 1970; 0: never. */
int64_t perf_read_seconds(const struct perf_image *image, uint32_t row);

#endif
