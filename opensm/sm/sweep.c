// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The sweep: a list of steps (steps.def) and the loop that runs them. A step sends SMPs or
 * describes how to make them (walk.c), or sends a job to the pool, and returns; the loop continues
 * when all of them have come back. Reasons for the next sweep gather in sm->schedule; plan.c turns
 * them into the kind of sweep, which selects the steps.
 *
 *	         reasons, after their delay;
 *	         for a heavy one files read again      last step, or STEP_ABORT
 *	  IDLE ------------------------------> RUNNING -----------------------> IDLE
 *	   ^                                     |  a cable was lost, a trap:
 *	   |                                     |   while discovering: handled by this sweep
 *	   +--------- sweep_cancel() ------------+   after that: cancelled, and a partial one begins
 *
 * A repeated trap does not cancel a sweep: what it reports has been read (trap.c).
 *
 * A sweep has a number. Its SMPs and jobs carry it; results with an older number have no effect, so
 * a sweep can be cancelled at any moment.
 */
#include "sm/discover/discover.h"
#include "sm/election/mastership.h"
#include "sm/health/health.h"
#include "sm/keys/keys.h"
#include "sm/read/read.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/write/write.h"

struct step {
	const char *name;
	enum step_result (*run)(struct sm *sm);
	unsigned int kinds;
};

static const struct step steps[] = {
#define STEP(name, function, kinds, text) {#name, function, kinds},
#include "sm/steps.def"
};
_Static_assert(G_N_ELEMENTS(steps) <= CONTEXT_STEPS, "each has its time");

/* Limits the sweeps that a storm of traps can cause. */
#define TRAP_SWEEPS_PER_SECOND 2
#define TRAP_SWEEPS_BURST 4
/* With a very large fabric, the log shows every day that the sweep is still running. */
#define LONG_STEP_NS (5 * NS_PER_S)
/*
 * A heavy sweep does not wait longer for files to be read; their contents apply in another sweep.
 */
#define FILES_NS NS_PER_S

static void show(struct sm *sm, const char *step, uint64_t took, bool finished)
{
	struct sm_progress progress = {.step = step, .step_ns = took, .finished = finished};

	if (!sm->schedule.show)
		return;
	if (sm->fabric) {
		progress.switches = sm->fabric->n_switches;
		progress.hosts = sm->fabric->n_nodes - sm->fabric->n_switches;
		progress.links = sm->fabric->n_links;
		for (uint32_t i = 0; finished && i < sm->fabric->n_ports; i++)
			progress.active += sm->fabric->ports[i].known &&
					   sm->fabric->ports[i].info.port_state == IBA_PORT_ACTIVE;
	}
	progress.errors = sm->sweep.errors != 0;
	sm->schedule.show(sm->schedule.show_arg, &progress);
}

static struct about about_sweep(const struct sm *sm)
{
	return (struct about){
		.kind = "sweep",
		.generation = sm->fabric ? sm->fabric->generation : 0,
	};
}

static void announce_up(struct sm *sm)
{
	const struct about about = about_sweep(sm);

	if (!sm->schedule.up)
		log_milestone_about(sm->log, SUBNET_UP, &about, "SUBNET UP");
	else
		log_about(sm->log, LOG_INFO, &about, "SUBNET UP");
	sm->schedule.up = true;
	sm->schedule.succeeded = true;
	sweep_flag(sm, SWEEP_FLAG_UP_BEFORE, true);
	event_emit(&sm->context->bus, EVENT_SUBNET_UP, 0);
}

static void count_sweep(struct counters *counters, enum sweep_kind kind)
{
	switch (kind) {
	case SWEEP_KIND_PARTIAL:
		counter_inc(counters, sweeps_partial);
		break;
	case SWEEP_KIND_REROUTE:
		counter_inc(counters, sweeps_reroute);
		break;
	case SWEEP_KIND_GROUPS:
		counter_inc(counters, sweeps_multicast);
		break;
	case SWEEP_KIND_POLICY:
		counter_inc(counters, sweeps_policy);
		break;
	case SWEEP_KIND_LIGHT:
		counter_inc(counters, sweeps_light);
		break;
	default:
		counter_inc(counters, sweeps_heavy);
	}
}

static void all_is_well(struct sm *sm)
{
	struct schedule *schedule = &sm->schedule;

	if (!sm->schedule.names_wanted)
		builder_settled(sm->builder);
	options_unref(schedule->settled_for);
	schedule->settled_for = options_ref(sm->options);
	schedule->settled_lid = sm->builder->sm_port->lid;
}

/* Same result as before: the SM's port still has no cable. */
static bool is_known_problem(const struct sm *sm)
{
	return sm->sweep.port_was_down && sm->schedule.port_down;
}

static void end_with_errors(struct sm *sm)
{
	const struct about about = about_sweep(sm);

	counter_inc(&sm->context->counters, sweeps_failed);
	sm->schedule.failures++;
	sm->schedule.up = false;
	if (!is_known_problem(sm))
		log_milestone_error_about(sm->log, SUBNET_ERRORS, &about,
					  "ERRORS DURING INITIALIZATION");
}

static void end_well(struct sm *sm)
{
	const unsigned int whole = SWEEP_KIND_HEAVY | SWEEP_KIND_PARTIAL;

	if (sm->sweep.kind & (whole | SWEEP_KIND_REROUTE))
		qos_settled(sm);
	if (sm->sweep.kind & whole) {
		sm->schedule.failures = 0;
		all_is_well(sm);
	}
	if (sm->sweep.kind & (whole | SWEEP_KIND_REROUTE | SWEEP_KIND_POLICY) && !health_errors(sm))
		announce_up(sm);
}

/* A client may join and leave very often: successful sweeps of groups are logged only at times. */
static void log_end(struct sm *sm)
{
	const struct sweep *sweep = &sm->sweep;
	const struct about about = about_sweep(sm);
	uint64_t now = actor_now(sm->actor);
	unsigned int held_back = 0;

	if (sweep->kind == SWEEP_KIND_GROUPS && !sweep->errors &&
	    !log_limit_pass(&sm->schedule.groups_log, now, 20, 60 * NS_PER_S, &held_back))
		return;
	log_about(sm->log, is_known_problem(sm) ? LOG_VERBOSE : LOG_INFO, &about,
		  "%s sweep: %.1f ms, %u errors%s", plan_kind_name(sweep->kind),
		  (now - sweep->started_ns) / (double)NS_PER_MS, sweep->errors,
		  held_back ? "; similar lines were suppressed" : "");
}

static void end_full(struct sm *sm)
{
	const struct sweep *sweep = &sm->sweep;

	log_end(sm);
	sweep_flag(sm, SWEEP_FLAG_UNTOLD, sweep->errors && !sweep->published);
	if (sweep->published) /* what clients report to that SM from now on is not in the replica */
		sm->takeover.vouched_lid = 0;
	if (sweep->errors)
		end_with_errors(sm);
	else
		end_well(sm);
	if (sweep->kind & (SWEEP_KIND_HEAVY | SWEEP_KIND_PARTIAL) && sm->builder->dirty->len)
		sm->schedule.reasons |= SWEEP_CHANGE; /* nodes marked since they were read */
}

static void announce_done(struct sm *sm)
{
	const struct sweep *sweep = &sm->sweep;
	struct sweep_done done = {
		.reasons = sweep->reasons,
		.kind = sweep->kind,
		.errors = sweep->errors != 0,
		.took_us = (actor_now(sm->actor) - sweep->started_ns) / NS_PER_US,
	};

	if (sweep->kind != SWEEP_KIND_NONE) /* else it was cancelled */
		timing_add(&sm->context->sweeps[__builtin_ctz(sweep->kind)],
			   done.took_us * NS_PER_US);
	sweep_flag(sm, SWEEP_FLAG_RUNNING | SWEEP_FLAG_HOP0 | SWEEP_FLAG_TAKING_OVER, false);
	sweep_flag(sm, SWEEP_FLAG_ERRORS, !sm->schedule.up);
	atomic_store(&sm->context->sweep_since, 0);
	event_emit(&sm->context->bus, EVENT_SWEEP_DONE, sweep_done_pack(&done));
}

/* Its requests still in flight no longer have any effect. */
static void leave_sweep(struct sm *sm)
{
	if (sm->sweep.pending && !sm->dry)
		mad_cancel(sm->mad, sm->sweep.serial);
	routes_cancel(sm);
	sm->sweep.serial++;
	sm->sweep.kind = SWEEP_KIND_NONE;
	sm->schedule.looks = false;
	walks_drop(sm);
	sm_requests_forget(sm, false);
	silence_forget(sm);
}

static void end_sweep(struct sm *sm)
{
	struct schedule *schedule = &sm->schedule;
	enum sweep_kind kind = sm->sweep.kind;
	bool light = kind == SWEEP_KIND_LIGHT, rests = sm_rests(sm);

	if (sm->dry) {
		bool complete = sm->sweep.step == G_N_ELEMENTS(steps);

		leave_sweep(sm);
		dry_end(sm, complete);
		return;
	}
	count_sweep(&sm->context->counters, kind);
	if (kind == SWEEP_KIND_HEAVY && sm->sweep.step < STEP_INDEX_ELECT)
		mastership_saw_nothing(sm);
	if (!rests && !light && !schedule->discovered)
		schedule->reasons |= SWEEP_ERRORS; /* nothing is known of the subnet */
	health_sweep_ended(sm);
	if (!rests && !light)
		end_full(sm);
	announce_done(sm);
	audit_sweep_ended(sm);
	leave_sweep(sm);
	schedule->cancelled = 0;
	table_reader_sweep_ended(sm, kind);
	show(sm, "IDLE", 0, true);
	if (sm->options->once && !light)
		event_emit(&sm->context->bus, EVENT_FINISHED, schedule->up ? 0 : 1);
	if (rests)
		return;
	schedule_interval(sm);
	if (!light) /* which does not read the port, and may run often */
		own_port_watch(sm);
	if (schedule->reasons & ~SWEEP_ERRORS)
		timer_start(&schedule->settle, schedule_patience(sm));
}

static enum routed what_was_routed(const struct sm *sm)
{
	if (counter_get(&sm->context->counters, lft_blocks_set) == sm->sweep.blocks_before)
		return ROUTED_UNCHANGED;
	return sm->sweep.kind == SWEEP_KIND_REROUTE ? ROUTED_AGAIN : ROUTED_HEAVY;
}

/* What can be followed while a sweep runs. */
static void tell_step_ended(struct sm *sm, const struct step *step)
{
	const struct event_bus *bus = &sm->context->bus;

	if (step->run == step_settle)
		event_emit(bus, EVENT_DISCOVERED, sm->sweep.kind == SWEEP_KIND_HEAVY);
	else if (step->run == step_program)
		event_emit(bus, EVENT_ROUTED, what_was_routed(sm));
}

static void end_step(struct sm *sm)
{
	struct sweep *sweep = &sm->sweep;
	uint64_t now = actor_now(sm->actor), took = now - sweep->step_started_ns;

	log_at(sm->log, took < LONG_STEP_NS ? LOG_VERBOSE : LOG_INFO, "%s: %.3f ms",
	       steps[sweep->step].name, took / (double)NS_PER_MS);
	show(sm, steps[sweep->step].name, took, false);
	timing_add(&sm->context->steps[sweep->step], took);
	tell_step_ended(sm, &steps[sweep->step]);
	sweep->step_started_ns = now;
	sweep->step++;
	sweep->round = 0;
	sweep->again = false;
}

/* What it found and wrote stays known; the reasons for which it began are pending again. */
static void cancel(struct sm *sm)
{
	struct schedule *schedule = &sm->schedule;
	unsigned int reasons = sm->sweep.reasons;

	log_verbose(sm->log, "%s sweep cancelled in step %s", plan_kind_name(sm->sweep.kind),
		    steps[sm->sweep.step].name);
	counter_inc(&sm->context->counters, sweeps_cancelled);
	if (schedule->discovered)
		reasons &= ~(unsigned int)(SWEEP_HEAVY | SWEEP_STARTUP);
	schedule->reasons |= reasons;
	if (sm->sweep.kind & (SWEEP_KIND_HEAVY | SWEEP_KIND_PARTIAL))
		schedule->reasons |= SWEEP_CHANGE;
	schedule->cancelled++;
	leave_sweep(sm);
}

static void start_over(struct sm *sm)
{
	sm->schedule.discovered = false;
	cancel(sm);
	timer_start(&sm->schedule.settle, 0);
}

/* Whether the step that ran is to be called again, or the next one, without waiting. */
static bool goes_on(const struct sweep *sweep)
{
	switch (sweep->result) {
	case STEP_AGAIN:
		return sweep->pending <= sweep->slow;
	default:
		return !sweep->pending;
	}
}

/* Runs steps until one has to wait. */
static void run_steps(struct sm *sm)
{
	struct sweep *sweep = &sm->sweep;
	uint64_t since = actor_now(sm->actor);

	while (sweep->step < G_N_ELEMENTS(steps)) {
		const struct step *step = &steps[sweep->step];

		if (!(step->kinds & sweep->kind) || (sm->dry && step->kinds & STEP_LOOKS_AFTER)) {
			sweep->step++;
			continue;
		}
		sweep->at_step = true;
		sweep->round += sweep->again;
		sweep->again = true;
		sweep_flag(sm, SWEEP_FLAG_HOP0, step->run == step_hop0);
		sweep->result = step->run(sm);
		sweep->at_step = false;
		if (sweep->result == STEP_HEAVY && sm->dry) {
			sm_problem(sm, "the subnet changed while it was being read");
			break;
		}
		if (sweep->result == STEP_HEAVY) {
			start_over(sm);
			return;
		}
		if (sweep->result == STEP_ABORT || sweep->result == STEP_END) {
			sweep->errors += sweep->result == STEP_ABORT;
			break;
		}
		if (!walks_are_through(sm, since) || !goes_on(sweep) || sweep_yields(sm, since))
			return;
		if (sweep->result == STEP_NEXT)
			end_step(sm);
	}
	end_sweep(sm);
}

static void advance(struct sm *sm)
{
	struct sweep *sweep = &sm->sweep;

	if (sweep->at_step || sweep->yielded || !sweep_runs(sm) ||
	    !walks_are_through(sm, actor_now(sm->actor)) ||
	    (sweep->result != STEP_LATER && !goes_on(sweep)))
		return;
	if (sweep->result == STEP_NEXT)
		end_step(sm);
	run_steps(sm);
}

/* ---- start ---- */

static void take_options(struct sm *sm)
{
	options_unref(sm->options);
	sm->options = slot_take(&sm->context->options);
}

static void take_names(struct sm *sm)
{
	struct node_names *names = slot_take(&sm->context->node_names);

	builder_set_names(sm->builder, names);
	node_names_unref(names);
}

static enum sweep_kind plan(const struct sm *sm)
{
	struct plan_state state = {
		.discovered = sm->schedule.discovered,
		.force_heavy = sm->options->force_heavy_sweep,
		.sweep_on_trap = sm->options->sweep_on_trap,
	};

	return plan_sweep(&state, sm->schedule.reasons);
}

static void tell_begin(const struct sm *sm, enum sweep_kind kind)
{
	if (kind == SWEEP_KIND_HEAVY)
		log_at(sm->log, sm->schedule.port_down ? LOG_VERBOSE : LOG_INFO,
		       "Entering HEAVY SWEEP");
	else
		log_verbose(sm->log, "beginning a %s sweep", plan_kind_name(kind));
	if (kind & (SWEEP_KIND_HEAVY | SWEEP_KIND_PARTIAL))
		event_emit(&sm->context->bus, EVENT_DISCOVERY_BEGUN, kind == SWEEP_KIND_HEAVY);
}

/*
 * A heavy sweep uses the files as they are when it begins. This matters most for a standby that
 * takes over: its master may have been notified of changes, and it was not. "main" reads them.
 */
static bool waits_for_files(struct sm *sm, enum sweep_kind kind)
{
	struct schedule *schedule = &sm->schedule;
	const struct event_bus *bus = &sm->context->bus;

	if (kind != SWEEP_KIND_HEAVY || schedule->files_read || schedule->looks ||
	    !event_is_heard(bus, EVENT_FILES_WANTED))
		return false;
	if (!timer_running(&schedule->files)) {
		timer_start(&schedule->files, FILES_NS);
		event_emit(bus, EVENT_FILES_WANTED, 0);
	}
	return true;
}

static void begin_sweep(struct sm *sm)
{
	struct schedule *schedule = &sm->schedule;
	uint64_t now = actor_now(sm->actor);
	enum sweep_kind kind;

	if (schedule->inhibited || (sm_rests(sm) && !schedule->looks)) {
		atomic_store(&sm->context->sweep_since, 0);
		return;
	}
	take_options(sm);
	take_names(sm);
	kind = plan(sm);
	if (kind == SWEEP_KIND_NONE || waits_for_files(sm, kind))
		return;
	timer_stop(&schedule->interval);
	if (schedule_is_provoked(schedule->reasons))
		bucket_take(&schedule->provoked, now);
	sm->sweep = (struct sweep){
		.serial = sm->sweep.serial,
		.kind = kind,
		.reasons = schedule->reasons & plan_answers(kind),
		.port_was_down = schedule->port_down,
		.started_ns = now,
		.step_started_ns = now,
		.blocks_before = counter_get(&sm->context->counters, lft_blocks_set),
	};
	schedule->reasons &= ~plan_answers(kind);
	schedule->inhibited |= sm->dry != NULL; /* it is the only sweep, and nothing cancels it */
	if (sm->sweep.reasons & SWEEP_REROUTE)
		routes_compute_anew(sm);
	if (kind == SWEEP_KIND_PARTIAL)
		health_mark_due(sm);
	if (kind == SWEEP_KIND_LIGHT || kind == SWEEP_KIND_HEAVY)
		schedule->traps_lost = false; /* all switches are read */
	sweep_flag(sm, SWEEP_FLAG_RUNNING, true);
	if (!atomic_load(&sm->context->sweep_since))
		atomic_store(&sm->context->sweep_since, now);
	tell_begin(sm, kind);
	run_steps(sm);
}

/* ---- events during a sweep ---- */

void sweep_break(struct sm *sm)
{
	struct schedule *schedule = &sm->schedule;

	if (!sweep_runs(sm) || schedule->inhibited)
		return;
	schedule->discovered &= !sweep_is_discovering(sm);
	cancel(sm);
	sweep_want(sm, SWEEP_CHANGE);
}

void sweep_look(struct sm *sm)
{
	struct schedule *schedule = &sm->schedule;

	if (sweep_runs(sm))
		return;
	schedule->reasons = SWEEP_HEAVY;
	schedule->looks = true;
	begin_sweep(sm);
	schedule->looks &= sweep_runs(sm);
}

void sweep_rest(struct sm *sm)
{
	struct schedule *schedule = &sm->schedule;

	if (sweep_runs(sm) && !sm->sweep.at_step) {
		cancel(sm);
		announce_done(sm);
	}
	timer_stop(&schedule->interval);
	timer_stop(&schedule->settle);
	health_rest(sm);
	own_port_rest(sm);
	lease_rest(sm);
	atomic_store(&sm->context->sweep_since, 0);
	schedule->reasons = 0;
	schedule->discovered = schedule->up = false;
	schedule->failures = 0;
}

void sweep_allow(struct sm *sm, bool allowed)
{
	sm->schedule.inhibited = !allowed;
	sweep_flag(sm, SWEEP_FLAG_INHIBITED, !allowed);
	if (allowed)
		sweep_want(sm, 0);
}

void sweep_take_options(struct sm *sm)
{
	if (sweep_runs(sm))
		return;
	take_options(sm);
	take_names(sm);
}

static void on_settle(struct timer *timer)
{
	struct sm *sm = container_of(timer, struct sm, schedule.settle);

	if (sweep_runs(sm) && sweep_is_discovering(sm)) {
		sweep_advance(sm); /* it handles the marked nodes */
		return;
	}
	if (sweep_runs(sm)) {
		if (sm->schedule.inhibited || !sm->options->sweep_on_trap)
			return;
		cancel(sm);
	}
	begin_sweep(sm);
}

/* Starts the sweep that waited for them, if still wanted; it covers all reasons added meanwhile. */
static void begin_with_files(struct sm *sm)
{
	struct schedule *schedule = &sm->schedule;

	if (sweep_runs(sm))
		return;
	timer_stop(&schedule->settle);
	schedule->files_read = true;
	begin_sweep(sm);
	schedule->files_read = false;
}

void sweep_files_read(struct sm *sm, unsigned int reasons)
{
	struct timer *waits = &sm->schedule.files;

	if (reasons)
		sweep_want(sm, reasons);
	if (!timer_running(waits))
		return;
	timer_stop(waits);
	begin_with_files(sm);
}

static void on_files_late(struct timer *timer)
{
	struct sm *sm = container_of(timer, struct sm, schedule.files);

	begin_with_files(sm);
}

static void on_interval(struct timer *timer)
{
	struct sm *sm = container_of(timer, struct sm, schedule.interval);

	sweep_want(sm, SWEEP_TIMER);
}

void sweep_init(struct sm *sm)
{
	struct schedule *schedule = &sm->schedule;

	sm->sweep.serial = 1;
	schedule->advance = advance;
	timer_init(&schedule->interval, sm->actor, on_interval);
	timer_init(&schedule->settle, sm->actor, on_settle);
	timer_init(&schedule->files, sm->actor, on_files_late);
	bucket_init(&schedule->provoked, TRAP_SWEEPS_PER_SECOND, TRAP_SWEEPS_BURST);
}
