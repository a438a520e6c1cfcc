// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The assembly of a subnet manager.
 *
 *	vendor -> mad -> sm, sa	MADs up: mad dispatches by class
 *	sm, sa -> mad -> vendor	MADs down: transactions and replies
 *	sm <-> sa		events and the published subnet only
 *
 *	perf -> mad		requests of the performance manager, by mad_ask()
 *
 * Each of mad, sm, sa and perf is an actor; "main" is another, on the owner's loop, for what must
 * happen there. With single_thread all of them run from that loop, and in virtual time from
 * runtime_run(); the code is the same.
 *
 * Stopping goes against the direction of work: sm and sa first, so that they make no new requests;
 * then IsSM is cleared, while the port still works; then mad, so that nothing is sent through the
 * port any more; then the port itself. The pool is emptied last: its answers find a closed mailbox.
 */
#include "ctl/daemon.h"

#include <inttypes.h>

#include "complib/aside.h"
#include "core/agreed.h"
#include "core/traps.h"
#include "ctl/console/console_key.h"
#include "ctl/plan/plan.h"
#include "ctl/process/module_flags.h"
#include "ctl/site/check_config.h"
#include "ctl/site/partition_requests.h"
#include "ctl/site/site_files.h"
#include "ha/replicator.h"
#include "mad/mad.h"
#include "cc/cc.h"
#include "cc/report.h"
#include "perf/image/image.h"
#include "perf/judge/perf_rules.h"
#include "perf/perf.h"
#include "policy/files/ports_policy.h"
#include "policy/files/route_files.h"
#include "policy/partition/groups.h"
#include "policy/partition/partition_changes.h"
#include "policy/qos/qos_file.h"
#include "route/graph/watch.h"
#include "route/registry.h"
#include "sa/sa.h"
#include "sm/election/peers.h"
#include "sm/health/unhealthy.h"
#include "sm/schedule/plan.h"
#include "sm/sm.h"
#include "sm/takeover/run_time_partitions.h"
#include "ssa/core/core.h"
#include "subnet/aliases.h"
#include "subnet/inventory.h"
#include "subnet/perf_alarms.h"
#include "subnet/refused_joins.h"
#include "subnet/subnet.h"
#include "subnet/subscriptions.h"
#include "subnet/trees.h"

#define POOL_THREADS 2
#define PLAN_PATIENCE_NS (250 * NS_PER_MS) /* to wait for the files of a plan */
#define FILES_PATIENCE_S 2 /* at the end: for a dump still being written */

struct daemon {
	struct context context;
	struct route_registry *engines;
	struct vendor *vendor;
	struct actor *main;
	struct site_files *site;
	struct partition_requests *requests;
	struct mad *mad;
	struct replicator *replicator;
	struct sm *sm;
	struct sa *sa;
	struct perf *perf;
	struct cc *cc;
	struct ssa_core *ssa; /* NULL: off */
	const struct plugins_face *plugins; /* the owner's; NULL: none */
	GMainContext *loop;
	char *cache_dir;
	bool running;
	daemon_finished_fn *finished;
	int exit_code;
	void *finished_arg;
	struct plan *plan; /* being made; NULL: none */
	bool plan_is_read;   /* its input files were read */
	GError *plan_error;  /* from reading them, until it is reported */
	unsigned int plan_nodes;
	daemon_plan_fn *plan_done; /* called with the finished plan, or NULL */
	void *plan_arg;
};

/* ---- the context ---- */

#define COUNTED(type)                                                                              \
	static void get_##type(void *object)                                                       \
	{                                                                                          \
		type##_ref(object);                                                                \
	}                                                                                          \
	static void put_##type(void *object)                                                       \
	{                                                                                          \
		type##_unref(object);                                                              \
	}
COUNTED(options)
COUNTED(subnet)
COUNTED(fabric)
COUNTED(mc_groups)
COUNTED(refused_joins)
COUNTED(alias_guids)
COUNTED(traps)
COUNTED(mc_trees)
COUNTED(inventory)
COUNTED(route_files)
COUNTED(partition_rules)
COUNTED(qos_policy)
COUNTED(prefix_routes)
COUNTED(ports_policy)
COUNTED(node_names)
COUNTED(module_flags)
COUNTED(unhealthy_ports)
COUNTED(replica)
COUNTED(replication_status)
COUNTED(peers)
COUNTED(subscriptions)
COUNTED(perf_images)
COUNTED(perf_rules)
COUNTED(perf_alarms)
COUNTED(cc_report)
COUNTED(route_watch)
#undef COUNTED

static void get_bytes(void *object)
{
	g_bytes_ref(object);
}

static void put_bytes(void *object)
{
	g_bytes_unref(object);
}

void daemon_context_init(struct context *context, const struct daemon_config *config,
			 const char *cache_dir)
{
	context->rt = config->rt;
	context->log = config->log;
	context->cache_dir = cache_dir;
	context->cache_refused = config->cache_refused;
	context->self_check = config->self_check;
	event_bus_init(&context->bus);
	notices_init(&context->notices);
	slot_init(&context->options, get_options, put_options);
	slot_init(&context->subnet, get_subnet, put_subnet);
	slot_init(&context->seen, get_fabric, put_fabric);
	slot_init(&context->groups, get_mc_groups, put_mc_groups);
	slot_init(&context->refused_joins, get_refused_joins, put_refused_joins);
	slot_init(&context->aliases, get_alias_guids, put_alias_guids);
	slot_init(&context->traps, get_traps, put_traps);
	slot_init(&context->trees, get_mc_trees, put_mc_trees);
	slot_init(&context->inventory, get_inventory, put_inventory);
	slot_init(&context->replica, get_replica, put_replica);
	slot_init(&context->cc_memory, get_bytes, put_bytes);
	slot_init(&context->followed_lids, get_replica, put_replica);
	slot_init(&context->later_partitions, get_bytes, put_bytes);
	slot_init(&context->replication, get_replication_status, put_replication_status);
	slot_init(&context->peers, get_peers, put_peers);
	slot_init(&context->route_watch, get_route_watch, put_route_watch);
	slot_init(&context->subscriptions, get_subscriptions, put_subscriptions);
	slot_init(&context->route_files, get_route_files, put_route_files);
	slot_init(&context->partition_rules, get_partition_rules, put_partition_rules);
	slot_init(&context->qos_policy, get_qos_policy, put_qos_policy);
	slot_init(&context->prefix_routes, get_prefix_routes, put_prefix_routes);
	slot_init(&context->ports_policy, get_ports_policy, put_ports_policy);
	slot_init(&context->node_names, get_node_names, put_node_names);
	slot_init(&context->module_flags, get_module_flags, put_module_flags);
	slot_init(&context->unhealthy_ports, get_unhealthy_ports, put_unhealthy_ports);
	slot_init(&context->perf_images, get_perf_images, put_perf_images);
	slot_init(&context->perf_rules, get_perf_rules, put_perf_rules);
	slot_init(&context->perf_alarms, get_perf_alarms, put_perf_alarms);
	slot_init(&context->cc, get_cc_report, put_cc_report);
	agreed_slot_init(&context->agreed);
	context->engines = config->engines;
	slot_publish(&context->options, options_ref(config->options));
	atomic_init(&context->sm_state, IBA_SM_NOT_ACTIVE);
	atomic_init(&context->sweep, 0);
	atomic_init(&context->sweep_since, 0);
	atomic_init(&context->ability, 0);
	atomic_init(&context->contested_until, 0);
	atomic_init(&context->sends_fail_since, 0);
	atomic_init(&context->sends_failed, 0);
	atomic_init(&context->master_heard, 0);
	atomic_init(&context->master_misses, 0);
	atomic_init(&context->unkept, context->cache_refused);
	atomic_init(&context->undumped, false);
	atomic_init(&context->sa_unkept, false);
	atomic_init(&context->perf_unkept, false);
	atomic_init(&context->ssa_unpublished, false);
	context->pool_threads = config->options->single_thread ? 1 : POOL_THREADS;
	context->pool = pool_new(config->rt, "pool", context->pool_threads);
	context->slow = pool_new(config->rt, "slow", 1);
	context->routes = pool_new_background(config->rt, "routes", 1);
	context->files = pool_new_background(config->rt, "files", 1);
	atomic_init(&context->files_until, 0);
}

void daemon_context_join(struct context *context)
{
	g_clear_pointer(&context->pool, pool_free);
	g_clear_pointer(&context->slow, pool_free);
	g_clear_pointer(&context->routes, pool_free);
	g_clear_pointer(&context->files, pool_free);
}

void daemon_context_clear(struct context *context)
{
	slot_clear(&context->unhealthy_ports);
	slot_clear(&context->ports_policy);
	slot_clear(&context->node_names);
	slot_clear(&context->module_flags);
	slot_clear(&context->replica);
	slot_clear(&context->followed_lids);
	slot_clear(&context->cc_memory);
	slot_clear(&context->later_partitions);
	slot_clear(&context->replication);
	slot_clear(&context->peers);
	slot_clear(&context->subscriptions);
	slot_clear(&context->perf_images);
	slot_clear(&context->perf_rules);
	slot_clear(&context->perf_alarms);
	slot_clear(&context->cc);
	slot_clear(&context->route_watch);
	slot_clear(&context->agreed);
	slot_clear(&context->inventory);
	slot_clear(&context->groups);
	slot_clear(&context->refused_joins);
	slot_clear(&context->aliases);
	slot_clear(&context->traps);
	slot_clear(&context->trees);
	slot_clear(&context->subnet);
	slot_clear(&context->seen);
	slot_clear(&context->options);
	slot_clear(&context->route_files);
	slot_clear(&context->partition_rules);
	slot_clear(&context->qos_policy);
	slot_clear(&context->prefix_routes);
	notices_clear(&context->notices);
	event_bus_clear(&context->bus);
}

static void finish(void *arg)
{
	struct daemon *daemon = arg;

	if (daemon->finished)
		daemon->finished(daemon->finished_arg, daemon->exit_code);
}

/* With --once, the devices get the settings of congestion control before the end, too. */
static void on_finished(void *arg, uint64_t exit_code)
{
	struct daemon *daemon = arg;
	struct options *options = slot_take(&daemon->context.options);

	daemon->exit_code = (int)exit_code;
	if (options->once && !exit_code)
		cc_finish(daemon->cc, daemon->main, finish, daemon);
	else
		finish(daemon);
	options_unref(options);
}

/* ---- files of the site ---- */

bool daemon_reread(struct daemon *daemon, GError **error)
{
	return site_files_reread_options(daemon->site, error);
}

bool daemon_reread_logged(struct daemon *daemon)
{
	return site_files_reread_options_logged(daemon->site);
}

const struct refusal *daemon_refusal(const struct daemon *daemon, enum daemon_files files)
{
	return site_files_refusal(daemon->site, files);
}

void daemon_refuse(struct daemon *daemon, enum daemon_files files, const char *why)
{
	site_files_refuse(daemon->site, files, why);
}

void daemon_reread_routes(struct daemon *daemon)
{
	site_files_reread(daemon->site, DAEMON_ROUTE_FILES);
}

bool daemon_reread_partitions(struct daemon *daemon)
{
	return site_files_reread(daemon->site, DAEMON_PARTITIONS);
}

bool daemon_reread_qos(struct daemon *daemon)
{
	return site_files_reread(daemon->site, DAEMON_QOS);
}

/* ---- partition members at run time ---- */

bool daemon_request_partitions(struct daemon *daemon, const struct partition_request *request,
			       uint64_t *serial, GError **error)
{
	return partition_requests_take(daemon->requests, request, serial, error);
}

bool daemon_change_partitions(struct daemon *daemon, const char *request, uint16_t forget,
			      uint64_t *serial, GError **error)
{
	const struct partition_request only = {.text = request, .forget = forget};

	return daemon_request_partitions(daemon, &only, serial, error);
}

uint64_t daemon_partitions_serial(struct daemon *daemon)
{
	struct subnet *subnet = slot_take(&daemon->context.subnet);
	uint64_t serial = subnet ? subnet->partitions->rules->serial : 0;

	subnet_unref(subnet);
	return serial;
}

enum partition_progress daemon_partitions_progress(struct daemon *daemon, uint64_t serial)
{
	return partition_requests_progress(daemon->requests, daemon->replicator, serial);
}

bool daemon_partitions_held(struct daemon *daemon)
{
	return partition_requests_are_held(daemon->requests);
}

uint64_t daemon_partitions_kept_to(struct daemon *daemon)
{
	return partition_requests_kept_to(daemon->requests, daemon->replicator);
}

bool daemon_partitions_failed(struct daemon *daemon, unsigned int number, uint64_t *from,
			      uint64_t *to, const char **why)
{
	return partition_requests_failed(daemon->requests, number, from, to, why);
}

const char *daemon_partitions_failure(struct daemon *daemon, uint64_t serial)
{
	return partition_requests_failure(daemon->requests, serial);
}

bool daemon_partitions_settled(struct daemon *daemon, uint64_t serial)
{
	return daemon_partitions_progress(daemon, serial) == PARTITION_SETTLED;
}

bool daemon_partitions_kept(struct daemon *daemon, uint64_t serial, unsigned int *with,
			    unsigned int *without)
{
	struct replication_status *status = slot_take(&daemon->context.replication);

	*with = *without = 0;
	for (unsigned int i = 0; status && i < status->n; i++) {
		*with += status->peers[i].state == REPLICATION_IN_STEP;
		*without += status->peers[i].state != REPLICATION_IN_STEP &&
			    status->peers[i].state != REPLICATION_NOT_STANDBY;
	}
	replication_status_unref(status);
	return partition_requests_are_kept(daemon->requests, serial);
}

/*
 * The sm actor has adopted the previous master's state before it set anything by the rules; if the
 * rules were read again at that moment, adopts it again.
 */
static void on_replica_adopted(void *arg, uint64_t value)
{
	struct daemon *daemon = arg;
	struct replica *replica = slot_take(&daemon->context.replica);
	g_autofree char *text = NULL;

	(void)value;
	if (replica)
		text = replica_text(replica, REPLICA_PARTITIONS);
	if (text && run_time_partitions_adopt(&daemon->context, text, ADOPT_IF_NEWER))
		event_emit(&daemon->context.bus, EVENT_SWEEP_WANTED, SWEEP_POLICY);
	if (text && *text)
		partition_requests_save(daemon->requests);
	replica_unref(replica);
}

/* The changes of another SM, to be freed; NULL unless whether this SM is MASTER is as_master. */
static char *take_later_partitions(struct daemon *daemon, bool as_master)
{
	g_autoptr(GBytes) bytes = slot_take(&daemon->context.later_partitions);
	bool is_master = atomic_load(&daemon->context.sm_state) == IBA_SM_MASTER;

	if (!bytes || is_master != as_master)
		return NULL;
	return g_strndup(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
}

static uint64_t changes_serial(struct daemon *daemon)
{
	struct partition_rules *rules = slot_take(&daemon->context.partition_rules);
	uint64_t serial = rules->changes ? rules->changes->serial : 0;

	partition_rules_unref(rules);
	return serial;
}

/* Two parts of the subnet had a master each, or one SM was suspended: the later change wins. */
static void on_partitions_fetched(void *arg, uint64_t guid)
{
	struct daemon *daemon = arg;
	g_autofree char *text = take_later_partitions(daemon, true);
	uint64_t own = changes_serial(daemon);

	if (!text || !run_time_partitions_adopt(&daemon->context, text, ADOPT_IF_NEWER))
		return;
	partition_requests_save(daemon->requests);
	log_sys_error(daemon->context.log,
		      "two SMs changed partition members while both were MASTER: the changes of "
		      "SM 0x%016" G_GINT64_MODIFIER "x (serial %" PRIu64 ") take effect, those "
		      "made here (serial %" PRIu64 ") are dropped",
		      guid, changes_serial(daemon), own);
	event_emit(&daemon->context.bus, EVENT_SWEEP_WANTED, SWEEP_POLICY);
}

/*
 * Takes the master's changes, so that they survive if both SMs end. If this SM was MASTER until
 * now, this discards its own changes, unless the master has just fetched them or is about to.
 */
static void on_partitions_followed(void *arg, uint64_t deposed)
{
	struct daemon *daemon = arg;
	g_autofree char *text = take_later_partitions(daemon, false);
	uint64_t own = changes_serial(daemon);

	if (!text || !run_time_partitions_adopt(&daemon->context, text,
						deposed ? ADOPT_UNLESS_OLDER : ADOPT_ANY))
		return;
	partition_requests_save(daemon->requests);
	if (!deposed || !own)
		return;
	log_sys_error(daemon->context.log,
		      "partition members that were changed here while another SM was also MASTER "
		      "(serial %" PRIu64 ") are dropped: those of the master (serial %" PRIu64
		      ") take effect",
		      own, changes_serial(daemon));
}

/* ---- life ---- */

/* False: the configured key is not suitable. */
static bool add_replicator(struct daemon *daemon, const char *key_file, GError **error)
{
	char *key = NULL;

	if (key_file) {
		key = console_key_load("replication_key_file", key_file, error);
		if (!key)
			return false;
	}
	daemon->replicator = replicator_new(&daemon->context, daemon->mad,
					    vendor_port_guid(daemon->vendor), key);
	daemon->context.replicator = daemon->replicator;
	console_key_free(key);
	site_files_publish_agreed(&daemon->context);
	return true;
}

/* False: the configured key, or the file of addresses, is not suitable. */
static bool add_ssa(struct daemon *daemon, const struct options *options, GError **error)
{
	g_autofree char *directory = options->ssa_directory
					     ? g_strdup(options->ssa_directory)
					     : g_build_filename(daemon->cache_dir, "ssa", NULL);
	struct ssa_core_config ssa = {
		.directory = directory,
		.address_file = options->ssa_address_file,
	};
	char *key = NULL;

	if (!options->ssa)
		return true;
	if (options->ssa_key_file) {
		key = console_key_load("ssa_key_file", options->ssa_key_file, error);
		if (!key)
			return false;
	}
	ssa.key = key;
	if (!options->ssa_address_file || ssa_core_check(options->ssa_address_file, error))
		daemon->ssa = ssa_core_new(&daemon->context, &ssa);
	console_key_free(key);
	return daemon->ssa != NULL;
}

struct daemon *daemon_new(const struct daemon_config *config, GError **error)
{
	struct daemon *daemon = g_new0(struct daemon, 1);

	daemon->vendor = config->vendor;
	daemon->loop = config->loop;
	daemon->cache_dir = g_strdup(config->cache_dir);
	daemon_context_init(&daemon->context, config, daemon->cache_dir);
	daemon->context.engines = daemon->engines = route_registry_new();
	daemon->main = actor_new(config->rt, "main");
	daemon->site = site_files_new(&daemon->context, daemon->main, error);
	daemon->requests =
		partition_requests_new(&daemon->context, daemon->main, daemon->site);
	if (daemon->site)
		daemon->mad = mad_new(&daemon->context, daemon->vendor, error);
	if (!daemon->mad || !add_replicator(daemon, config->options->replication_key_file, error) ||
	    !add_ssa(daemon, config->options, error)) {
		daemon_free(daemon);
		return NULL;
	}
	daemon->sm = sm_new(&daemon->context, daemon->mad, daemon->vendor);
	daemon->sa = sa_new(&daemon->context, daemon->mad);
	daemon->perf = perf_new(&daemon->context, daemon->mad, daemon->cache_dir);
	daemon->cc = cc_new(&daemon->context, daemon->mad, daemon->cache_dir);
	event_subscribe(&daemon->context.bus, EVENT_FINISHED, daemon->main, on_finished, daemon);
	event_subscribe(&daemon->context.bus, EVENT_REPLICA_ADOPTED, daemon->main,
			on_replica_adopted, daemon);
	event_subscribe(&daemon->context.bus, EVENT_PARTITIONS_FETCHED, daemon->main,
			on_partitions_fetched, daemon);
	event_subscribe(&daemon->context.bus, EVENT_PARTITIONS_FOLLOWED, daemon->main,
			on_partitions_followed, daemon);
	return daemon;
}

void daemon_on_finished(struct daemon *daemon, daemon_finished_fn *finished, void *arg)
{
	daemon->finished = finished;
	daemon->finished_arg = arg;
}

void daemon_retire(struct daemon *daemon)
{
	atomic_store(&daemon->context.files_until,
		     g_get_monotonic_time() + FILES_PATIENCE_S * G_USEC_PER_SEC);
	event_emit(&daemon->context.bus, EVENT_RETIRE, 0);
}

/* Others find SMs by IsSM (IBA 14.4.1); if it cannot be set, this SM still does its work. */
static void set_is_sm(struct daemon *daemon, bool on)
{
	g_autoptr(GError) error = NULL;

	if (!vendor_set_is_sm(daemon->vendor, on, &error))
		log_error(daemon->context.log, "cannot %s IsSM: %s", on ? "set" : "clear",
			  error->message);
}

/* The port is already bound; MADs that arrive before an actor starts wait in its mailbox. */
void daemon_start(struct daemon *daemon)
{
	struct options *options = slot_take(&daemon->context.options);

	daemon->running = true;
	set_is_sm(daemon, true);
	actor_attach(daemon->main, daemon->loop);
	if (daemon->ssa)
		ssa_core_attach(daemon->ssa, daemon->loop);
	if (options->single_thread) {
		mad_attach(daemon->mad, daemon->loop);
		replicator_attach(daemon->replicator, daemon->loop);
		sa_attach(daemon->sa, daemon->loop);
		sm_attach(daemon->sm, daemon->loop);
		perf_attach(daemon->perf, daemon->loop);
		cc_attach(daemon->cc, daemon->loop);
	} else {
		mad_start(daemon->mad);
		replicator_start(daemon->replicator);
		sa_start(daemon->sa);
		sm_start(daemon->sm);
		perf_start(daemon->perf);
		cc_start(daemon->cc);
	}
	options_unref(options);
}

void daemon_stop(struct daemon *daemon)
{
	if (!daemon->running)
		return;
	daemon->running = false;
	if (daemon->ssa)
		ssa_core_stop(daemon->ssa);
	cc_stop(daemon->cc);
	perf_stop(daemon->perf);
	sm_stop(daemon->sm);
	sa_stop(daemon->sa);
	if (daemon->plan)
		plan_stop(daemon->plan);
	replicator_stop(daemon->replicator);
	set_is_sm(daemon, false);
	mad_stop(daemon->mad);
	g_clear_pointer(&daemon->vendor, vendor_close);
	daemon_context_join(&daemon->context);
	site_files_stop(daemon->site);
	actor_stop(daemon->main);
}

/* In an order in which they may still refer to each other: requests come back from mad. */
void daemon_free(struct daemon *daemon)
{
	if (!daemon)
		return;
	daemon_stop(daemon);
	/* For a daemon that never ran. */
	g_clear_pointer(&daemon->vendor, vendor_close);
	daemon_context_join(&daemon->context);
	if (daemon->mad)
		mad_free(daemon->mad);
	plan_free(daemon->plan);
	if (daemon->sm)
		sm_free(daemon->sm);
	sa_free(daemon->sa);
	cc_free(daemon->cc);
	perf_free(daemon->perf);
	ssa_core_free(daemon->ssa);
	replicator_free(daemon->replicator);
	site_files_free(daemon->site);
	partition_requests_free(daemon->requests);
	actor_free(daemon->main);
	daemon_context_clear(&daemon->context);
	route_registry_free(daemon->engines);
	g_free(daemon->cache_dir);
	g_free(daemon);
}

/* ---- plans ---- */

static void on_plan_done(void *arg, struct plan *plan)
{
	struct daemon *daemon = arg;
	g_autoptr(GVariant) answer =
		g_variant_ref_sink(plan_answer(plan_result(plan), daemon->plan_nodes));
	daemon_plan_fn *done = daemon->plan_done;

	daemon->plan = NULL;
	daemon->plan_done = NULL;
	plan_free(plan);
	if (done)
		done(daemon->plan_arg, answer);
}

void daemon_plan_listen(struct daemon *daemon, daemon_plan_fn *done, void *arg)
{
	daemon->plan_done = done;
	daemon->plan_arg = arg;
}

static struct plan *make_plan(struct daemon *daemon, struct options *options,
			      struct site_policy *policy, GError **error)
{
	struct context *context = &daemon->context;
	bool is_master = atomic_load(&context->sm_state) == IBA_SM_MASTER;
	struct subnet *running = is_master ? slot_take(&context->subnet) : NULL;
	struct mc_groups *groups = is_master ? slot_take(&context->groups) : NULL;
	struct mc_trees *trees = is_master ? slot_take(&context->trees) : NULL;
	const struct plan_config config = {
		.base = {.rt = context->rt,
			 .options = options,
			 .vendor = daemon->vendor,
			 .cache_dir = daemon->cache_dir,
			 .engines = daemon->engines,
			 .loop = daemon->loop},
		.mad = daemon->mad,
		.main = daemon->main,
		.running = running,
		.groups = groups,
		.trees = trees,
		.policy = policy,
		.done = on_plan_done,
		.arg = daemon,
	};
	struct plan *plan = plan_new(&config, error);

	subnet_unref(running);
	mc_groups_unref(groups);
	mc_trees_unref(trees);
	return plan;
}

/* The input of a plan, read on another thread. */
struct plan_reading {
	struct aside_job job; /* first */
	struct daemon *daemon; /* for done only */
	struct options *old, *new;
	char *file, *cache_dir;
	GPtrArray *warnings;
	struct site_policy *policy;
	GError *error;
	unsigned int max_nodes;
	bool late;
};

static void read_for_plan(struct aside_job *job)
{
	struct plan_reading *reading = (struct plan_reading *)job;
	options_check_fn *check = reading->file ? check_config_restart : check_config_again;

	reading->new = options_reread(reading->old, reading->file, check, reading->warnings,
				      &reading->error);
	if (reading->new)
		reading->policy =
			site_policy_load(reading->new, reading->cache_dir, &reading->error);
}

static void drop_for_plan(struct aside_job *job)
{
	struct plan_reading *reading = (struct plan_reading *)job;

	options_unref(reading->old);
	options_unref(reading->new);
	g_ptr_array_unref(reading->warnings);
	site_policy_free(reading->policy);
	g_clear_error(&reading->error);
	g_free(reading->file);
	g_free(reading->cache_dir);
	g_free(reading);
}

static void plan_by(struct daemon *daemon, struct plan_reading *reading)
{
	daemon->plan = make_plan(daemon, reading->new, reading->policy, &reading->error);
	if (!daemon->plan)
		return;
	for (guint i = 0; i < reading->warnings->len; i++)
		plan_note(daemon->plan, reading->warnings->pdata[i]);
	daemon->plan_nodes = reading->max_nodes;
	plan_start(daemon->plan);
}

/* The requester no longer waits for a late result. */
static void done_for_plan(struct aside_job *job)
{
	struct plan_reading *reading = (struct plan_reading *)job;
	struct daemon *daemon = reading->daemon;

	daemon->plan_is_read = false;
	if (reading->policy && !reading->late)
		plan_by(daemon, reading);
	if (reading->error && !reading->late)
		daemon->plan_error = g_steal_pointer(&reading->error);
	drop_for_plan(job);
}

static bool read_plan(struct daemon *daemon, const char *file, unsigned int max_nodes,
		      GError **error)
{
	struct plan_reading *reading = g_new0(struct plan_reading, 1);

	reading->job = (struct aside_job){
		.work = read_for_plan, .done = done_for_plan, .drop = drop_for_plan};
	reading->daemon = daemon;
	reading->old = slot_take(&daemon->context.options);
	reading->file = g_strdup(file);
	reading->cache_dir = g_strdup(daemon->cache_dir);
	reading->warnings = g_ptr_array_new_with_free_func(g_free);
	reading->max_nodes = max_nodes;
	daemon->plan_is_read = true;
	if (!aside_run(site_files_aside(daemon->site), &reading->job, PLAN_PATIENCE_NS)) {
		reading->late = true;
		g_set_error_literal(error, OPTIONS_ERROR, OPTIONS_ERROR_FILE,
				    "a file that the plan needs cannot be read: its disk or "
				    "server does not answer");
		return false;
	}
	if (!daemon->plan_error)
		return true;
	g_propagate_error(error, g_steal_pointer(&daemon->plan_error));
	return false;
}

bool daemon_plan(struct daemon *daemon, const char *file, unsigned int max_nodes, GError **error)
{
	if (!daemon->plan && !daemon->plan_is_read)
		return read_plan(daemon, file, max_nodes, error);
	g_set_error_literal(error, OPTIONS_ERROR, OPTIONS_ERROR_USAGE,
			    "another plan is being made already");
	return false;
}

void daemon_sweep(struct daemon *daemon, unsigned int reasons)
{
	if (reasons & SWEEP_HEAVY) {
		site_files_follow_options(daemon->site);
		daemon_reread_partitions(daemon);
		daemon_reread_qos(daemon);
		site_files_reread(daemon->site, DAEMON_PREFIX_ROUTES);
	}
	event_emit(&daemon->context.bus, EVENT_SWEEP_WANTED, reasons);
}

struct context *daemon_context(struct daemon *daemon)
{
	return &daemon->context;
}

struct cc *daemon_cc(struct daemon *daemon)
{
	return daemon->cc;
}

struct perf *daemon_perf(struct daemon *daemon)
{
	return daemon->perf;
}

struct sm *daemon_sm(struct daemon *daemon)
{
	return daemon->sm;
}

struct mad *daemon_mad(struct daemon *daemon)
{
	return daemon->mad;
}

void daemon_set_plugins(struct daemon *daemon, const struct plugins_face *plugins)
{
	daemon->plugins = plugins;
}

const struct plugins_face *daemon_plugins(struct daemon *daemon)
{
	return daemon->plugins;
}

uint64_t daemon_port_guid(const struct daemon *daemon)
{
	return vendor_port_guid(daemon->vendor);
}

struct actor *daemon_actor(struct daemon *daemon)
{
	return daemon->main;
}

void daemon_watched(const struct daemon *daemon, struct actor *actors[DAEMON_WATCHED])
{
	actors[0] = mad_actor(daemon->mad);
	actors[1] = sm_actor(daemon->sm);
	actors[2] = sa_actor(daemon->sa);
}
