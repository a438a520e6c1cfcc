// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the files of perf/. All of it belongs to the actor "perf", except atomics. */
#ifndef PERF_PERF_PRIVATE_H
#define PERF_PERF_PRIVATE_H

#include "mad/ask.h"
#include "perf/disk/history.h"
#include "perf/image/image.h"
#include "perf/judge/verdict.h"
#include "perf/perf.h"
#include "perf/read/account.h"
#include "perf/read/agent.h"
#include "subnet/subnet.h"

/* A request in flight. */
struct perf_request {
	struct mad_ask ask; /* first */
	struct perf *perf;
	struct perf_agent *agent;
	struct perf_step step;
};

/* A sweep of counters; sweep.c. */
struct perf_sweep {
	bool runs;
	uint64_t number; /* of the sweep that runs, or of the last one */
	uint64_t began_ns, took_us, mads;
	struct perf_plan plan;
	struct options *options;
	struct fabric *fabric;
	GArray *p_keys; /* of the SM's port, as struct subnet.sm_p_keys; NULL: unknown */
	GQueue ready; /* struct perf_agent: may have something to ask */
	unsigned int in_flight_max;
};

struct perf {
	struct context *context;
	struct mad *mad;
	struct actor *actor;
	char *directory;
	struct timer period;
	struct options *options; /* as last seen */
	int64_t epoch_us;	 /* time of day at runtime_now() 0, by the clock as last seen */
	GHashTable *agents; /* struct perf_agent by GUID and port */
	struct perf_accounts *accounts; /* NULL: no sweep yet */
	bool resumed; /* accounts are of the process before, and this is the first sweep */
	struct perf_sweep sweep;
	struct perf_images *images;
	struct perf_verdict *verdict; /* by the rules */
	struct perf_history *history; /* NULL: nothing is kept on disk */
	uint64_t last_id; /* of the last image */
	unsigned int late; /* bits of enum perf_order that wait for the end of the sweep */
	GArray *late_redirections; /* uint64_t: values of PERF_FORGET_REDIR */
	/* Read by any thread: perf_status(). */
	atomic_bool enabled, rm_nodes, query_cpi;
	atomic_uint period_s, sweep_state, in_flight, in_flight_max, n_agents, n_silent, n_refusing;
	_Atomic uint64_t sweeps, took_us, mads, mads_total;
};

/* ---- sweep.c ---- */
void perf_sweep_init(struct perf *perf);
void perf_sweep_now(struct perf *perf); /* unless one runs, or this SM may not */
void perf_sweep_clear(struct perf *perf);

/* ---- resumed.c ---- */
struct perf_resume *resumed_save(const struct perf *perf);
void resumed_take(struct perf *perf); /* accounts and last_id of the process before, if any */

/* ---- late.c ---- */
void perf_obey_late(struct perf *perf);

/* ---- images.c ---- */
void perf_see_clock(struct perf *perf); /* which may have been set */
int64_t perf_wall_us(const struct perf *perf);
void images_add(struct perf *perf); /* of what accounts hold now */
void images_add_changed(struct perf *perf); /* accounts have changed without a sweep */
void images_forget_gone(struct perf *perf);
void images_zero(struct perf *perf); /* totals begin now */

#endif
