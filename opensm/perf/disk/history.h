// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Images on disk, for windows that are longer than the images in memory: one file each
 * perfmgr_history_interval, whose "missed" and flags are those of all sweeps since the file before.
 * With each, the file "last" (resume.h) is written. The pool for files does all of it: a disk that
 * hangs or is full delays no sweep and costs no older file, and is tried again after the next
 * interval.
 *
 * Names are image-20261128T181500.123Z-ID, with the time of the image and its id, which ascends
 * over restarts. The clock may be set either way, or be wrong for a while, so the order of images
 * is that of their ids. A window consists of those whose times agree with that order. Files are
 * removed when those behind them tell of more than perfmgr_history_hours, or when all together are
 * larger than perfmgr_history_max_size, the oldest first, but never the last one: neither a step
 * of the clock nor the time in which no image was made counts for that. At the start, a file that
 * is damaged is renamed to FILE.bad, which ages as the others do; one of another version stays as
 * it is.
 */
#ifndef PERF_HISTORY_H
#define PERF_HISTORY_H

#include "core/context.h"
#include "perf/disk/resume.h"
#include "perf/image/image.h"
#include "perf/image/query.h"

/* ---- writing: all calls by the owner, unless said otherwise; NULL is fine for each ---- */

struct perf_history;

/* directory: of performance data, made when needed; NULL: returns NULL, and nothing is kept. */
struct perf_history *perf_history_new(struct context *context, struct actor *owner,
				      const char *directory);
void perf_history_free(struct perf_history *history); /* after the pool for files has ended */

/* A sweep has ended with this image. */
void perf_history_add(struct perf_history *history, struct perf_image *image);
/* The interval is over: perf_history_write() should be called. */
bool perf_history_due(const struct perf_history *history);
/* Writes the last image that was added, and what a restart needs, which is taken over. */
void perf_history_write(struct perf_history *history, struct perf_resume *resume);
/* The daemon ends: writes both before it returns; image as last added. */
void perf_history_end(struct perf_history *history, struct perf_resume *resume);
/* Of this process, for the functions below: random, not 0. Any thread. */
uint64_t perf_history_run(const struct perf_history *history);

struct perf_history_status {
	uint64_t files, octets;	  /* of images on disk */
	uint64_t written, failed; /* since the start */
	bool failing;		  /* the last attempt failed: context->perf_unkept */
};
/* Any thread. */
void perf_history_status(struct perf_history *history, struct perf_history_status *status);

/* ---- reading: any thread ---- */

/* What was read. Clear it with perf_history_read_clear(). */
struct perf_history_read {
	unsigned int files, skipped;
	char *why;		 /* the first was skipped; NULL: none was */
	bool (*stop)(void *arg); /* asked before each file: true ends it there; NULL: never */
	void *arg;
};
void perf_history_read_clear(struct perf_history_read *read);

/*
 * Adds images to a window (one at a time is in memory): from the last one that is not later than
 * since_us to the last one not later than until_us. Images in memory can be added behind them.
 */
void perf_history_fold(const char *directory, uint64_t run, int64_t since_us, int64_t until_us,
		       struct perf_fold *fold, struct perf_history_read *read);
/* Adds the points of a port in the same way, reading only what tells of it. */
void perf_history_series(const char *directory, uint64_t run, uint64_t guid, uint8_t port,
			 int64_t since_us, int64_t until_us, struct perf_series *series,
			 struct perf_history_read *read);
/* The greatest id of an image there, to go on from; 0: there is none. */
uint64_t perf_history_last_id(const char *directory);

#endif
