// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The sweep: a list of steps (steps.def) and the loop that runs them. A step sends SMPs and
 * returns; the loop goes on when all of them came back. Reasons for the next sweep gather in
 * sm->reasons; plan.c turns them into the kind of sweep, which picks the steps.
 */
#include "sm/sm_private.h"

struct step {
	const char *name;
	enum step_result (*run)(struct sm *sm);
	unsigned int kinds;
};

static const struct step steps[] = {
#define STEP(name, function, kinds, text) {#name, function, kinds},
#include "sm/steps.def"
};

/*
 * Traps come in bunches: a sweep starts this long after the first. When all was quiet before, it
 * starts almost at once: what comes in while it discovers is looked at by the same sweep.
 */
#define SETTLE_NS (10 * NS_PER_MS)
#define SETTLE_QUIET_NS NS_PER_MS
/* A storm of traps makes no more sweeps than this. */
#define TRAP_SWEEPS_PER_SECOND 2
#define TRAP_SWEEPS_BURST 4
/* After a sweep with errors the next one waits, twice as long each time. */
#define RETRY_FIRST_NS (100 * NS_PER_MS)
#define RETRY_MAX_NS (10 * NS_PER_S)

static void show(struct sm *sm, const char *step, uint64_t took, bool finished)
{
	struct sm_progress progress = {.step = step, .step_ns = took, .finished = finished};

	if (!sm->show)
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
	sm->show(sm->show_arg, &progress);
}

void sweep_flag(struct sm *sm, unsigned int flag, bool on)
{
	if (on)
		atomic_fetch_or(&sm->context->sweep, flag);
	else
		atomic_fetch_and(&sm->context->sweep, ~flag);
}

/* When to look again: soon after errors, else after sweep_interval. */
static void start_interval(struct sm *sm)
{
	uint64_t delay = sm->options->sweep_interval * NS_PER_S;
	uint64_t retry = RETRY_FIRST_NS << MIN(sm->failures, 10u);

	if (sm->standing_aside)
		delay = RETRY_MAX_NS;
	else if (sm->failures)
		delay = MIN(retry, RETRY_MAX_NS);
	if (delay)
		timer_start(&sm->interval, delay);
}

static void announce_up(struct sm *sm)
{
	if (!sm->up || !sm->first_sweep_done)
		log_sys(sm->log, "SUBNET UP");
	else
		log_info(sm->log, "SUBNET UP");
	sm->up = true;
	sm->first_sweep_done = true;
	sweep_flag(sm, SWEEP_FLAG_UP_BEFORE, true);
}

static void end_light(struct sm *sm)
{
	counter_inc(&sm->context->counters, sweeps_light);
	if (sm->sweep.errors)
		sm->reasons |= SWEEP_HEAVY;
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
	default:
		counter_inc(counters, sweeps_heavy);
	}
}

bool sweep_is_local(const struct sm *sm)
{
	const struct builder *builder = sm->builder;

	return sm->sweep.kind == SWEEP_KIND_PARTIAL && !builder->all_touched &&
	       sm->options == sm->settled_for && builder->sm_port &&
	       builder->sm_port->lid == sm->settled_lid;
}

static void all_is_well(struct sm *sm)
{
	if (!sm->names_wanted)
		builder_settled(sm->builder);
	options_unref(sm->settled_for);
	sm->settled_for = options_ref(sm->options);
	sm->settled_lid = sm->builder->sm_port->lid;
}

static void end_full(struct sm *sm)
{
	const struct sweep *sweep = &sm->sweep;
	uint64_t took = actor_now(sm->actor) - sweep->started_ns;

	count_sweep(&sm->context->counters, sweep->kind);
	log_info(sm->log, "%s sweep: %.1f ms, %u errors", plan_kind_name(sweep->kind),
		 took / (double)NS_PER_MS, sweep->errors);
	if (sweep->errors) {
		counter_inc(&sm->context->counters, sweeps_failed);
		sm->failures++;
		sm->up = false;
		sm->reasons |= SWEEP_ERRORS;
		log_sys(sm->log, "ERRORS DURING INITIALIZATION");
		return;
	}
	sm->failures = 0;
	if (sweep->kind & (SWEEP_KIND_HEAVY | SWEEP_KIND_PARTIAL))
		all_is_well(sm);
	if (sweep->kind & (SWEEP_KIND_HEAVY | SWEEP_KIND_PARTIAL | SWEEP_KIND_REROUTE))
		announce_up(sm);
}

/*
 * Whether others than the operator can cause the sweep as often as they like: by traps, and by
 * joins while errors make every sweep a heavy one.
 */
static bool is_provoked(unsigned int reasons)
{
	return reasons & (SWEEP_LINK_TRAP | SWEEP_LOCAL_TRAP | SWEEP_LIGHT) ||
	       (reasons & SWEEP_GROUPS && reasons & SWEEP_ERRORS);
}

/* How long the reasons at hand may wait: traps for their like, and for the rate of such sweeps. */
static uint64_t patience(const struct sm *sm)
{
	const unsigned int gathered =
		SWEEP_LINK_TRAP | SWEEP_LOCAL_TRAP | SWEEP_LIGHT | SWEEP_GROUPS | SWEEP_ERRORS;
	uint64_t now = actor_now(sm->actor);

	if (sm->reasons & ~gathered)
		return 0;
	if (!is_provoked(sm->reasons))
		return SETTLE_NS;
	if (bucket_is_full(&sm->trap_sweeps, now))
		return SETTLE_QUIET_NS;
	return MAX(SETTLE_NS, bucket_wait(&sm->trap_sweeps, now));
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

	sweep_flag(sm, SWEEP_FLAG_RUNNING | SWEEP_FLAG_HOP0 | SWEEP_FLAG_TAKING_OVER, false);
	sweep_flag(sm, SWEEP_FLAG_ERRORS, !sm->up);
	event_emit(&sm->context->bus, EVENT_SWEEP_DONE, sweep_done_pack(&done));
}

static void end_sweep(struct sm *sm)
{
	enum sweep_kind kind = sm->sweep.kind;
	bool light = kind == SWEEP_KIND_LIGHT;

	if (sm->standing_aside)
		sm->reasons |= SWEEP_ERRORS; /* nothing is known of the subnet */
	else if (light)
		end_light(sm);
	else
		end_full(sm);
	announce_done(sm);
	sm->sweep.kind = SWEEP_KIND_NONE;
	survey_sweep_ended(sm, kind);
	show(sm, "IDLE", 0, true);
	if (sm->options->once && !light)
		event_emit(&sm->context->bus, EVENT_FINISHED, sm->up ? 0 : 1);
	start_interval(sm);
	if (sm->reasons & ~SWEEP_ERRORS)
		timer_start(&sm->settle, MAX(sm->failures ? RETRY_FIRST_NS : 0, patience(sm)));
}

static void end_step(struct sm *sm)
{
	struct sweep *sweep = &sm->sweep;
	uint64_t now = actor_now(sm->actor);

	log_verbose(sm->log, "%s: %.3f ms", steps[sweep->step].name,
		    (now - sweep->step_started_ns) / (double)NS_PER_MS);
	show(sm, steps[sweep->step].name, now - sweep->step_started_ns, false);
	sweep->step_started_ns = now;
	sweep->step++;
	sweep->round = 0;
}

/* Runs steps until one has to wait. */
static void run_steps(struct sm *sm)
{
	struct sweep *sweep = &sm->sweep;

	while (sweep->step < G_N_ELEMENTS(steps)) {
		const struct step *step = &steps[sweep->step];
		enum step_result result;

		if (!(step->kinds & sweep->kind)) {
			sweep->step++;
			continue;
		}
		sweep->at_step = true;
		sweep_flag(sm, SWEEP_FLAG_HOP0, step->run == step_hop0);
		result = step->run(sm);
		sweep->at_step = false;
		sweep->again = result == STEP_AGAIN;
		sweep->round++;
		if (result == STEP_ABORT) {
			sweep->errors++;
			break;
		}
		if (sweep->pending)
			return;
		if (!sweep->again)
			end_step(sm);
	}
	end_sweep(sm);
}

void sweep_advance(struct sm *sm)
{
	if (sm->sweep.pending || sm->sweep.at_step || sm->sweep.kind == SWEEP_KIND_NONE)
		return;
	if (!sm->sweep.again)
		end_step(sm);
	run_steps(sm);
}

static void take_options(struct sm *sm)
{
	options_unref(sm->options);
	sm->options = slot_take(&sm->context->options);
}

static void begin_sweep(struct sm *sm)
{
	struct plan_state state = {
		.first_done = sm->first_sweep_done,
		.failures = sm->failures,
	};
	enum sweep_kind kind;

	if (sm->inhibited)
		return;
	take_options(sm);
	state.force_heavy = sm->options->force_heavy_sweep;
	state.sweep_on_trap = sm->options->sweep_on_trap;
	kind = plan_sweep(&state, sm->reasons);
	if (kind == SWEEP_KIND_NONE)
		return;
	timer_stop(&sm->interval);
	if (is_provoked(sm->reasons))
		bucket_take(&sm->trap_sweeps, actor_now(sm->actor));
	sm->sweep = (struct sweep){.kind = kind, .reasons = sm->reasons & plan_answers(kind)};
	sm->reasons &= ~plan_answers(kind);
	sm->reroute |= (sm->sweep.reasons & SWEEP_REROUTE) != 0;
	sweep_flag(sm, SWEEP_FLAG_RUNNING, true);
	sm->sweep.started_ns = sm->sweep.step_started_ns = actor_now(sm->actor);
	sm->sweep.smps_before = counter_get(&sm->context->counters, smp_sent);
	sm->sweep.retries_before = counter_get(&sm->context->counters, smp_retries);
	if (kind == SWEEP_KIND_HEAVY)
		log_info(sm->log, "Entering HEAVY SWEEP");
	else
		log_verbose(sm->log, "beginning a %s sweep", plan_kind_name(kind));
	run_steps(sm);
}

void sweep_want(struct sm *sm, unsigned int reasons)
{
	uint64_t delay;

	sm->reasons |= reasons;
	if (sm->sweep.kind != SWEEP_KIND_NONE)
		return;
	delay = patience(sm);
	if (!timer_running(&sm->settle) || sm->settle.when > actor_now(sm->actor) + delay)
		timer_start(&sm->settle, delay);
}

void sweep_allow(struct sm *sm, bool allowed)
{
	sm->inhibited = !allowed;
	sweep_flag(sm, SWEEP_FLAG_INHIBITED, !allowed);
	if (allowed)
		sweep_want(sm, 0);
}

void sweep_take_options(struct sm *sm)
{
	if (sm->sweep.kind == SWEEP_KIND_NONE)
		take_options(sm);
}

static void on_settle(struct timer *timer)
{
	struct sm *sm = (struct sm *)((char *)timer - offsetof(struct sm, settle));

	if (sm->sweep.kind == SWEEP_KIND_NONE)
		begin_sweep(sm);
}

static void on_interval(struct timer *timer)
{
	struct sm *sm = (struct sm *)((char *)timer - offsetof(struct sm, interval));

	sweep_want(sm, SWEEP_TIMER);
}

void sweep_init(struct sm *sm)
{
	timer_init(&sm->interval, sm->actor, on_interval);
	timer_init(&sm->settle, sm->actor, on_settle);
	bucket_init(&sm->trap_sweeps, TRAP_SWEEPS_PER_SECOND, TRAP_SWEEPS_BURST);
}
