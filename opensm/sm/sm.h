// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The subnet manager: sweeps, traps, SMInfo. One actor, "sm", owns all of it. */
#ifndef SM_SM_H
#define SM_SM_H

#include "core/context.h"
#include "mad/mad.h"
#include "vendor/vendor.h"

struct builder;
struct sm;

/* Where a sweep stands, for callers that show progress. Called on the actor "sm". */
struct sm_progress {
	const char *step; /* name of a step, "LIGHT" or "IDLE" */
	uint64_t step_ns; /* time that the previous step took */
	unsigned int switches, hosts, links;
	unsigned int active; /* ports ACTIVE at the end of the sweep */
	bool finished, errors;
};
typedef void sm_progress_fn(void *arg, const struct sm_progress *progress);

struct sm *sm_new(struct context *context, struct mad *mad, struct vendor *vendor);
/*
 * One sweep of which only the Gets are sent: EVENT_FINISHED on the bus of its context reports the
 * end, after which sm_dry_run() has what it would have set. running: what the master of this
 * process has published, from which the dry run continues; NULL: it begins as a new SM would. Its
 * context shares only the runtime and cache directories with a working SM, and has gets_only true.
 */
struct subnet;
struct sm *sm_new_dry(struct context *context, struct mad *mad, struct vendor *vendor,
		      const struct subnet *running);
struct dry_run *sm_dry_run(const struct sm *sm);		      /* until sm_free */
void sm_set_progress(struct sm *sm, sm_progress_fn *show, void *arg); /* before sm_start */
void sm_start(struct sm *sm);			   /* begins with a heavy sweep */
void sm_attach(struct sm *sm, GMainContext *loop); /* alternative to sm_start: on that loop */
struct actor *sm_actor(const struct sm *sm);
void sm_stop(struct sm *sm);
void sm_free(struct sm *sm);
/* What it believes of the hardware, for tests: read-only, on the actor "sm" or in virtual time. */
const struct builder *sm_builder(const struct sm *sm);

#endif
