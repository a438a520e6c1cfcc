// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The performance manager: an actor that reads the counters of all ports each perfmgr_sweep_time_s
 * and publishes them as images (image.h) in context->perf_images. It uses the published subnet and
 * mad_ask(), and is in the way of neither sweeps nor the SA.
 */
#ifndef PERF_PERF_H
#define PERF_PERF_H

#include "core/context.h"
#include "perf/disk/history.h"

struct perf;
struct mad;

/* directory: for what is kept over a restart; NULL: nothing is. */
struct perf *perf_new(struct context *context, struct mad *mad, const char *directory);
void perf_start(struct perf *perf);
void perf_attach(struct perf *perf, GMainContext *loop);
void perf_stop(struct perf *perf); /* before mad */
void perf_free(struct perf *perf); /* after mad; NULL is fine */

enum perf_sweep_state { PERF_SLEEPING, PERF_ACTIVE, PERF_SUSPENDED, PERF_POST_PROCESSING };

struct perf_status {
	bool enabled;
	enum perf_sweep_state sweep;
	unsigned int period_s;
	unsigned int outstanding, max_outstanding;
	bool rm_nodes, query_cpi;
	uint64_t sweeps;	       /* finished */
	uint64_t took_us;	       /* the last of them */
	uint64_t mads;		       /* that it sent, tries included */
	uint64_t mads_total;	       /* that all sweeps have sent */
	uint32_t agents, silent, refusing; /* known; that do not answer; that answer errors */
	bool keeps; /* images on disk; else the rest is 0 */
	struct perf_history_status history;
};

/* Any thread. */
void perf_status(const struct perf *perf, struct perf_status *status);

/*
 * Where images are kept on disk (history.h), and the number of this process there; false: nowhere.
 * Any thread.
 */
bool perf_stored(const struct perf *perf, const char **directory, uint64_t *run);

/* What the operator can ask for, until the next restart. Any thread; it takes effect soon. */
enum perf_order {
	PERF_ENABLE,	   /* value: bool */
	PERF_SWEEP_NOW,
	PERF_PERIOD,	   /* value: seconds; a sweep begins at once */
	PERF_RM_NODES,	   /* value: bool */
	PERF_QUERY_CPI,	   /* value: bool */
	PERF_ZERO,	   /* totals are 0 from now on; devices keep their counters */
	PERF_FORGET_GONE,  /* drop nodes that have left the subnet */
	PERF_FORGET_REDIR, /* value: node GUID; 0: all */
};
void perf_order(struct perf *perf, enum perf_order order, uint64_t value);

#endif
