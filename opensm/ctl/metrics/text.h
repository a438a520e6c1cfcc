// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes metrics as text: the format 0.0.4 of Prometheus, or OpenMetrics 1.0.0, which names the
 * family of a counter without _total, tells units and when counting began, and ends with "# EOF".
 */
#ifndef CTL_METRICS_TEXT_H
#define CTL_METRICS_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/timing.h"
#include "ctl/metrics/families.h"

struct metrics_text {
	GString *out;
	int file; /* a long text goes there, piece by piece; -1: none */
	bool open_metrics;
	double created; /* seconds since 1970: counting began; 0: not told */
	int trouble;	/* errno of writing to the file, EFBIG without one; 0: none */
};

void metrics_text_init(struct metrics_text *text, int file, bool open_metrics);
void metrics_text_clear(struct metrics_text *text);
/* Writes the last line and what is left for the file. */
void metrics_text_end(struct metrics_text *text);

/* Appends NAME="VALUE" to the labels of a sample. Octets that are not UTF-8 are replaced. */
void metrics_label(GString *labels, const char *name, const char *value);
void metrics_label_guid(GString *labels, const char *name, uint64_t guid);
void metrics_label_number(GString *labels, const char *name, uint64_t number);

/* Begins a family: all its samples have to follow before the next one begins. */
void metrics_family(struct metrics_text *text, const struct metric *metric);
/* A sample of it, with these labels; NULL: none. */
void metrics_number(struct metrics_text *text, const struct metric *metric, const char *labels,
		    uint64_t value);
void metrics_real(struct metrics_text *text, const struct metric *metric, const char *labels,
		  double value);
/* A histogram with the buckets first to last of core/timing.h, and +Inf. */
void metrics_timing(struct metrics_text *text, const struct metric *metric, const char *labels,
		    const struct timing *timing, unsigned int first, unsigned int last);

/* A family with one sample. */
void metrics_one(struct metrics_text *text, const struct metric *metric, uint64_t value);
void metrics_one_real(struct metrics_text *text, const struct metric *metric, double value);

#endif
