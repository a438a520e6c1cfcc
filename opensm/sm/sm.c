// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The subnet manager's life cycle: what it owns, and what it listens to.
 *
 * It is a reconciler (sweep.c): read what is, compute what should be as values, send the
 * difference. The builder keeps what the hardware holds from sweep to sweep; fabric, routing and
 * partitions are the values of the last one. All of it belongs to the actor "sm"; others see what
 * step_publish publishes, and reach it by events and through mad/.
 */
#include "policy/files/route_files.h"
#include "sm/discover/discover.h"
#include "sm/election/mastership.h"
#include "sm/forward/forward.h"
#include "sm/health/health.h"
#include "sm/keys/keys.h"
#include "sm/read/read.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "core/state/state_writer.h"
#include "sm/takeover/replicate.h"
#include "sm/takeover/run_time_partitions.h"
#include "sm/write/write.h"

static void on_sweep_wanted(void *arg, uint64_t reasons)
{
	sweep_want(arg, reasons);
}

/* Or alias GUIDs: what the SA keeps, and ports and switches should hold. */
static void on_groups_changed(void *arg, uint64_t serial)
{
	(void)serial;
	sweep_want(arg, SWEEP_GROUPS);
}

static void on_reregister_wanted(void *arg, uint64_t port_guid)
{
	reregister_wanted(arg, port_guid);
}

static void on_inventory_wanted(void *arg, uint64_t want)
{
	table_reader_want(arg, want);
}

static void on_sweep_allowed(void *arg, uint64_t allowed)
{
	sweep_allow(arg, allowed);
}

static void on_options_changed(void *arg, uint64_t value)
{
	(void)value;
	sweep_take_options(arg);
	mastership_options_changed(arg);
}

static void on_files_read(void *arg, uint64_t reasons)
{
	sweep_files_read(arg, (unsigned int)reasons);
}

static void on_descriptions_wanted(void *arg, uint64_t value)
{
	(void)value;
	descriptions_forget(arg);
}

static void on_audit_wanted(void *arg, uint64_t nodes)
{
	audit_want(arg, (uint32_t)nodes);
}

static void on_unhealthy_released(void *arg, uint64_t id)
{
	port_health_operator(arg, id);
}

static void on_perf_alarms(void *arg, uint64_t n)
{
	(void)n;
	port_health_counters(arg);
}

static void on_retire(void *arg, uint64_t value)
{
	(void)value;
	mastership_retire(arg);
}

static void on_activate(void *arg, uint64_t value)
{
	(void)value;
	mastership_activate(arg);
}

static void on_lids_followed(void *arg, uint64_t value)
{
	(void)value;
	replicate_keep_lids(arg);
}

static void run_in_actor(struct sm *sm)
{
	struct event_bus *bus = &sm->context->bus;

	sm_info_serve(sm);
	vendor_watch(sm->vendor, sm->actor, own_port_event, sm);
	event_subscribe(bus, EVENT_SWEEP_WANTED, sm->actor, on_sweep_wanted, sm);
	event_subscribe(bus, EVENT_INVENTORY_WANTED, sm->actor, on_inventory_wanted, sm);
	event_subscribe(bus, EVENT_REREGISTER_WANTED, sm->actor, on_reregister_wanted, sm);
	event_subscribe(bus, EVENT_GROUPS_CHANGED, sm->actor, on_groups_changed, sm);
	event_subscribe(bus, EVENT_ALIASES_CHANGED, sm->actor, on_groups_changed, sm);
	event_subscribe(bus, EVENT_SWEEP_ALLOWED, sm->actor, on_sweep_allowed, sm);
	event_subscribe(bus, EVENT_OPTIONS_CHANGED, sm->actor, on_options_changed, sm);
	event_subscribe(bus, EVENT_FILES_READ, sm->actor, on_files_read, sm);
	event_subscribe(bus, EVENT_AUDIT_WANTED, sm->actor, on_audit_wanted, sm);
	event_subscribe(bus, EVENT_UNHEALTHY_RELEASED, sm->actor, on_unhealthy_released, sm);
	event_subscribe(bus, EVENT_PERF_ALARMS, sm->actor, on_perf_alarms, sm);
	event_subscribe(bus, EVENT_LIDS_FOLLOWED, sm->actor, on_lids_followed, sm);
	event_subscribe(bus, EVENT_RETIRE, sm->actor, on_retire, sm);
	run_time_partitions_listen(sm);
	event_subscribe(bus, EVENT_ACTIVATE, sm->actor, on_activate, sm);
	event_subscribe(bus, EVENT_DESCRIPTIONS_WANTED, sm->actor, on_descriptions_wanted, sm);
}

static void on_lids_not_kept(void *arg)
{
	disk_written(arg, DISK_LIDS, false);
}

/* What is to be remembered goes to the disk; what did not get there is tried again. */
static void on_sweep_done(void *arg, uint64_t value)
{
	struct sm *sm = arg;

	(void)value;
	key_update_schedule(sm);
	if (guid2lid_has_failed(
		    sm->store.guid2lid)) /* also in light sweeps: nothing new is needed */
		guid2lid_save(sm->store.guid2lid, sm->store.writer,
			      sm->options->fsync_high_avail_files);
	disk_written(sm, DISK_LIDS, !guid2lid_has_failed(sm->store.guid2lid));
	p_key_indexes_write_again(sm);
	keys_remember(sm);
}

static const struct smp_observer smp_observer = {
	.skips = kept_skips,
	.answered = kept_answered,
	.failed = kept_failed,
	.port_seen = port_info_seen,
	.block_set = audit_set,
};

static struct sm *make(struct context *context, struct mad *mad, struct vendor *vendor,
		       struct actor *actor)
{
	struct sm *sm = g_new0(struct sm, 1);

	sm->context = context;
	sm->log = context->log;
	sm->mad = mad;
	sm->vendor = vendor;
	sm->actor = actor;
	sm->options = slot_take(&context->options);
	sm->builder = builder_new();
	sm->builder->self_check = context->self_check;
	sm->local = g_new0(struct builder_node, 1);
	sm->local->ports = g_new0(struct builder_port, 1);
	builder_hold(sm->local);
	sm->store.writer = state_writer_new(context, sm->actor);
	sm->store.disk = disk_new(sm);
	sm->store.guid2lid = guid2lid_new(context->cache_dir, context->log);
	guid2lid_watch(sm->store.guid2lid, on_lids_not_kept, sm);
	sm->routes = routes_new(sm);
	sm->store.path_sls = path_sls_new(context->cache_dir, context->log);
	sm->settings = settings_new(sm);
	sm->program = program_new(routes_written);
	sm->multicast = multicast_new();
	sm->smp = smp_state_new(&smp_observer);
	sm->table_reader = table_reader_new(sm);
	sm->audit = audit_new(sm);
	sm->mastership = mastership_new(sm);
	sm->policy = policy_new();
	sweep_init(sm);
	faults_init(sm);
	keys_init(sm);
	if (!context->gets_only) /* a dry run stores nothing */
		event_subscribe(&context->bus, EVENT_SWEEP_DONE, sm->actor, on_sweep_done, sm);
	sm->discovery = discovery_new(sm);
	return sm;
}

struct sm *sm_new(struct context *context, struct mad *mad, struct vendor *vendor)
{
	struct sm *sm = make(context, mad, vendor, actor_new_with(mad_actor(mad), "sm"));

	run_in_actor(sm);
	return sm;
}

/* This is not the first sweep of the running master: actions for that must not be repeated. */
static void go_on_from(struct sm *sm, const struct subnet *running)
{
	sm->schedule.succeeded = true;
	sm->lids.assigned = true;
	keys_go_on_from(sm, running->options);
	routes_go_on_from(sm, running);
}

struct sm *sm_new_dry(struct context *context, struct mad *mad, struct vendor *vendor,
		      const struct subnet *running)
{
	/* On a thread of its own: the mad may belong to a running SM, which must not wait. */
	struct sm *sm = make(context, mad, vendor, actor_new(context->rt, "dry sm"));

	/* The mad may belong to a master, which cancels by the numbers of its own sweeps. */
	sm->sweep.serial = UINT64_C(1) << 63;
	sm->dry = dry_new(running != NULL);
	atomic_store(&context->sm_state, running ? IBA_SM_MASTER : IBA_SM_DISCOVERING);
	if (running)
		go_on_from(sm, running);
	event_subscribe(&context->bus, EVENT_SWEEP_WANTED, sm->actor, on_sweep_wanted, sm);
	return sm;
}

void sm_set_progress(struct sm *sm, sm_progress_fn *show, void *arg)
{
	sm->schedule.show = show;
	sm->schedule.show_arg = arg;
}

/* Before the actor starts: messages in its mailbox must not begin a sweep of their own. */
static void begin(struct sm *sm)
{
	if (!sm->dry)
		mastership_begin(sm);
	event_emit(&sm->context->bus, EVENT_SWEEP_WANTED, SWEEP_STARTUP);
}

void sm_start(struct sm *sm)
{
	begin(sm);
	actor_start(sm->actor);
}

void sm_attach(struct sm *sm, GMainContext *loop)
{
	begin(sm);
	actor_attach(sm->actor, loop);
}

struct actor *sm_actor(const struct sm *sm)
{
	return sm->actor;
}

void sm_stop(struct sm *sm)
{
	actor_stop(sm->actor);
	routes_cancel(sm);
}

void sm_free(struct sm *sm)
{
	routes_cancel(sm);
	sm->sweep.serial++; /* requests in flight now are outdated */
	sm_requests_forget(sm, true);
	silence_forget(sm);
	walks_drop(sm);
	port_health_stop(sm);
	actor_free(sm->actor);
	dry_free(sm->dry);
	smp_state_free(sm->smp);
	discovery_free(sm->discovery);
	table_reader_free(sm->table_reader);
	audit_free(sm->audit);
	mastership_free(sm->mastership);
	faults_free(sm);
	routes_free(sm->routes);
	program_free(sm->program);
	multicast_free(sm->multicast);
	fabric_unref(sm->fabric);
	routing_unref(sm->routing);
	options_unref(sm->schedule.settled_for);
	partitions_unref(sm->partitions);
	qos_paths_unref(sm->qos);
	policy_free(sm->policy);
	mc_groups_unref(sm->groups);
	builder_free(sm->builder);
	builder_release(sm->local);
	disk_free(sm->store.disk);
	state_writer_free(sm->store.writer);
	guid2lid_free(sm->store.guid2lid);
	path_sls_free(sm->store.path_sls);
	settings_free(sm->settings);
	keys_free(sm);
	options_unref(sm->options);
	g_free(sm);
}

const struct builder *sm_builder(const struct sm *sm)
{
	return sm->builder;
}
