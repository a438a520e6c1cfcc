// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The assembly of a subnet manager.
 *
 *	vendor -> mad -> sm, sa	MADs up: mad dispatches by class
 *	sm, sa -> mad -> vendor	MADs down: transactions and replies
 *	sm <-> sa		events and the published subnet only
 *
 * Each of mad, sm and sa is an actor; "main" is the fourth, on the owner's loop, for what must
 * happen there. With single_thread all of them run from that loop, and in virtual time from
 * runtime_run(); the code is the same.
 *
 * Stopping goes against the direction of work: sm and sa first, so that nothing new is asked; then
 * IsSM, while the port still works; then mad, so that nobody sends through the port any more; then
 * the port itself. The pool is emptied last of all that run: its answers find a closed mailbox.
 */
#include "ctl/daemon.h"

#include <inttypes.h>

#include "core/traps.h"
#include "ctl/check_config.h"
#include "ctl/console_key.h"
#include "ctl/followed.h"
#include "ctl/logging.h"
#include "ctl/plan.h"
#include "ha/replicator.h"
#include "mad/mad.h"
#include "policy/aliases.h"
#include "policy/groups.h"
#include "policy/trees.h"
#include "policy/inventory.h"
#include "policy/partition_changes.h"
#include "policy/qos_file.h"
#include "policy/ports_policy.h"
#include "policy/route_files.h"
#include "policy/subnet.h"
#include "sa/sa.h"
#include "sm/run_time_partitions.h"
#include "sm/plan.h"
#include "sm/sm.h"
#include "sm/unhealthy.h"

#define POOL_THREADS 2
#define FILES_PATIENCE_S 2 /* for a dump that is being written when the daemon is to end */

struct daemon {
	struct context context;
	struct options_stamp refused; /* of the opensm.conf that was complained of last */
	struct refusal refusals[DAEMON_FILES];
	struct followed followed[DAEMON_FILES];
	struct timer again; /* looks at those that are being written */
	struct vendor *vendor;
	struct actor *main;
	struct mad *mad;
	struct replicator *replicator;
	struct sm *sm;
	struct sa *sa;
	GMainContext *loop;
	char *cache_dir;
	bool running;
	daemon_finished_fn *finished;
	void *finished_arg;
	/* Serials of policies: standbys were asked whether they have it, did answer, or could not.
	 */
	uint64_t keep_asked, kept, not_kept;
	struct plan *plan; /* that is being made; NULL: none */
	unsigned int plan_nodes;
	daemon_plan_fn *plan_done; /* who waits for it, or NULL */
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
COUNTED(mc_groups)
COUNTED(alias_guids)
COUNTED(traps)
COUNTED(mc_trees)
COUNTED(inventory)
COUNTED(route_files)
COUNTED(partition_rules)
COUNTED(qos_policy)
COUNTED(prefix_routes)
COUNTED(ports_policy)
COUNTED(unhealthy_ports)
COUNTED(replica)
COUNTED(replication_status)
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
	slot_init(&context->options, get_options, put_options);
	slot_init(&context->subnet, get_subnet, put_subnet);
	slot_init(&context->groups, get_mc_groups, put_mc_groups);
	slot_init(&context->aliases, get_alias_guids, put_alias_guids);
	slot_init(&context->traps, get_traps, put_traps);
	slot_init(&context->trees, get_mc_trees, put_mc_trees);
	slot_init(&context->inventory, get_inventory, put_inventory);
	slot_init(&context->replica, get_replica, put_replica);
	slot_init(&context->followed_lids, get_replica, put_replica);
	slot_init(&context->later_partitions, get_bytes, put_bytes);
	slot_init(&context->replication, get_replication_status, put_replication_status);
	slot_init(&context->route_files, get_route_files, put_route_files);
	slot_init(&context->partition_rules, get_partition_rules, put_partition_rules);
	slot_init(&context->qos_policy, get_qos_policy, put_qos_policy);
	slot_init(&context->prefix_routes, get_prefix_routes, put_prefix_routes);
	slot_init(&context->ports_policy, get_ports_policy, put_ports_policy);
	slot_init(&context->unhealthy_ports, get_unhealthy_ports, put_unhealthy_ports);
	slot_publish(&context->options, options_ref(config->options));
	atomic_init(&context->sm_state, IBA_SM_NOT_ACTIVE);
	atomic_init(&context->sweep, 0);
	atomic_init(&context->sweep_since, 0);
	atomic_init(&context->ability, 0);
	atomic_init(&context->master_ability, 0);
	atomic_init(&context->contested_until, 0);
	atomic_init(&context->unkept, context->cache_refused);
	atomic_init(&context->undumped, false);
	atomic_init(&context->sa_unkept, false);
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
	slot_clear(&context->replica);
	slot_clear(&context->followed_lids);
	slot_clear(&context->later_partitions);
	slot_clear(&context->replication);
	slot_clear(&context->inventory);
	slot_clear(&context->groups);
	slot_clear(&context->aliases);
	slot_clear(&context->traps);
	slot_clear(&context->trees);
	slot_clear(&context->subnet);
	slot_clear(&context->options);
	slot_clear(&context->route_files);
	slot_clear(&context->partition_rules);
	slot_clear(&context->qos_policy);
	slot_clear(&context->prefix_routes);
	event_bus_clear(&context->bus);
}

static void on_finished(void *arg, uint64_t exit_code)
{
	struct daemon *daemon = arg;

	if (daemon->finished)
		daemon->finished(daemon->finished_arg, (int)exit_code);
}

/* ---- which files there are, and which are refused ---- */

/* A simulated fabric has nothing to do with the files of this host that nobody named. */
static bool is_left_alone(const struct options *options, enum option_id file)
{
	return options->sim && options_source(options, file) == OPTION_FROM_DEFAULT;
}

const char *daemon_partition_file(const struct options *options)
{
	return is_left_alone(options, OPTION_partition_config_file)
		       ? NULL
		       : options->partition_config_file;
}

const char *daemon_qos_file(const struct options *options)
{
	return !options->qos || is_left_alone(options, OPTION_qos_policy_file)
		       ? NULL
		       : options->qos_policy_file;
}

const char *daemon_prefix_routes_file(const struct options *options)
{
	return is_left_alone(options, OPTION_prefix_routes_file) ? NULL
								 : options->prefix_routes_file;
}

/* rules: those in force, which name what partitions.conf includes; NULL: none are yet. */
static GPtrArray *names_of(enum daemon_files files, const struct options *options,
			   const struct partition_rules *rules)
{
	GPtrArray *names = g_ptr_array_new();

	if (files == DAEMON_OPENSM_CONF) {
		g_ptr_array_add(names, options->file);
	} else if (files == DAEMON_PARTITIONS) {
		g_ptr_array_add(names, (char *)daemon_partition_file(options));
		for (guint i = 1; rules && i < rules->n_own_files; i++)
			g_ptr_array_add(names, rules->files->pdata[i]);
	} else if (files == DAEMON_QOS) {
		g_ptr_array_add(names, (char *)daemon_qos_file(options));
	} else if (files == DAEMON_PREFIX_ROUTES) {
		g_ptr_array_add(names, (char *)daemon_prefix_routes_file(options));
	} else if (files == DAEMON_ROUTE_FILES) {
		route_files_names(options, names);
	} else if (files == DAEMON_PORTS_POLICY) {
		g_ptr_array_add(names, options->hm_ports_health_policy_file);
	}
	return names;
}

/* Before that is done. */
static void note_read(struct daemon *daemon, enum daemon_files files, const struct options *options)
{
	struct partition_rules *rules = slot_take(&daemon->context.partition_rules);
	g_autoptr(GPtrArray) names = names_of(files, options, rules);

	followed_read(&daemon->followed[files], names);
	partition_rules_unref(rules);
}

/*
 * Whether these are to be read, though nobody asked for it: if they changed and are not being
 * written, or were refused, which may be due to another file. May be true later if it is not now.
 */
static bool are_other(struct daemon *daemon, enum daemon_files files, const struct options *options)
{
	struct partition_rules *rules = slot_take(&daemon->context.partition_rules);
	g_autoptr(GPtrArray) names = names_of(files, options, rules);
	enum followed_state state =
		followed_look(&daemon->followed[files], names, actor_now(daemon->main));

	if (state == FOLLOWED_YOUNG && !timer_running(&daemon->again))
		timer_start(&daemon->again, FOLLOWED_AGAIN_NS);
	partition_rules_unref(rules);
	return state == FOLLOWED_OTHER ||
	       (state == FOLLOWED_SAME && daemon->refusals[files].why);
}

/* Until it is taken, why NULL; as long as it is the same, since when stays. */
void daemon_refuse(struct daemon *daemon, enum daemon_files files, const char *why)
{
	struct refusal *refusal = &daemon->refusals[files];
	g_autoptr(GDateTime) now = g_date_time_new_now_local();

	if (!g_strcmp0(refusal->why, why))
		return;
	g_free(refusal->why);
	g_free(refusal->since);
	refusal->why = g_strdup(why);
	refusal->since = why ? g_date_time_format(now, "%F %T") : NULL;
}

/*
 * A file was read again, and taken if there is no error. Of a refusal who asked for it hears each
 * time; a sweep that only looks again says what is new.
 */
static void note_reading(struct daemon *daemon, enum daemon_files files, const char *stays,
			 const GError *error, bool asked)
{
	const char *why = error ? error->message : NULL;

	if (error && (asked || g_strcmp0(why, daemon->refusals[files].why) != 0))
		log_error(daemon->context.log, "%s: %s", stays, why);
	daemon_refuse(daemon, files, why);
}

const struct refusal *daemon_refusal(const struct daemon *daemon, enum daemon_files files)
{
	return &daemon->refusals[files];
}

/* ---- partitions.conf ---- */

static void tell_partition_warnings(struct log *log, const struct partition_rules *rules)
{
	const char *file = rules->files->pdata[0];

	for (guint i = 0; i < rules->warnings->len; i++)
		log_error(log, "%s", (char *)rules->warnings->pdata[i]);
	if (rules->built_in)
		log_info(log, "%s%sno partitions are defined: every port is in the default one",
			 file, *file ? ": " : "");
}

static bool load_partitions(struct context *context, const struct options *options, GError **error)
{
	struct partition_changes *changes = partition_changes_load(context->cache_dir, error);
	struct partition_rules *rules =
		changes ? partition_rules_load_with(daemon_partition_file(options), changes, error)
		     : NULL;

	partition_changes_unref(changes);
	if (!rules)
		return false;
	rules->serial = MAX(1, rules->changes->serial);
	tell_partition_warnings(context->log, rules);
	slot_publish(&context->partition_rules, rules);
	return true;
}

static bool reread_partitions(struct daemon *daemon, const struct options *options, bool asked)
{
	struct context *context = &daemon->context;
	struct partition_rules *old = slot_take(&context->partition_rules);
	g_autoptr(GError) error = NULL;
	struct partition_rules *new =
		partition_rules_reload(old, daemon_partition_file(options), old->changes, &error);
	bool changed = new && !partition_rules_same(old, new);

	note_reading(daemon, DAEMON_PARTITIONS, "the partitions stay as they were", error, asked);
	if (changed) {
		log_info(context->log, "%s changed", options->partition_config_file);
		tell_partition_warnings(context->log, new);
		new->serial = old->serial + 1;
		slot_publish(&context->partition_rules, partition_rules_ref(new));
	}
	partition_rules_unref(new);
	partition_rules_unref(old);
	return changed;
}

/* On the disk before it counts: what was promised is there after a restart. */
static bool take_changes(struct daemon *daemon, struct partition_changes *changes, uint64_t serial,
		      GError **error)
{
	struct context *context = &daemon->context;
	struct options *options = slot_take(&context->options);
	struct partition_rules *old = slot_take(&context->partition_rules);
	struct partition_rules *new =
		partition_rules_reload(old, daemon_partition_file(options), changes, error);
	bool good = new &&partition_changes_save(changes, error);

	partition_rules_unref(old);
	options_unref(options);
	if (!good) {
		partition_rules_unref(new);
		return false;
	}
	daemon_refuse(daemon, DAEMON_PARTITIONS, NULL);
	new->serial = serial;
	slot_publish(&context->partition_rules, new);
	event_emit(&context->bus, EVENT_SWEEP_WANTED, SWEEP_POLICY);
	return true;
}

static bool is_for_master(struct daemon *daemon, GError **error)
{
	if (atomic_load(&daemon->context.sm_state) == IBA_SM_MASTER)
		return true;
	g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_LIMIT,
		    "only the SM that is MASTER changes partitions, and this one is not");
	return false;
}

bool daemon_change_partitions(struct daemon *daemon, const char *request, uint16_t forget,
			      uint64_t *serial, GError **error)
{
	struct partition_rules *rules;
	struct partition_changes *changes;
	bool good = false;

	if (!is_for_master(daemon, error))
		return false;
	rules = slot_take(&daemon->context.partition_rules);
	*serial = rules->serial + 1;
	changes = request ? partition_changes_edit(rules->changes, rules, request, *serial, error)
		       : partition_changes_forget(rules->changes, forget, *serial, error);
	if (changes == rules->changes) {
		*serial = rules->serial;
		good = true;
	} else if (changes) {
		good = take_changes(daemon, changes, *serial, error);
	}
	partition_changes_unref(changes);
	partition_rules_unref(rules);
	return good;
}

uint64_t daemon_partitions_serial(struct daemon *daemon)
{
	struct subnet *subnet = slot_take(&daemon->context.subnet);
	uint64_t serial = subnet ? subnet->partitions->rules->serial : 0;

	subnet_unref(subnet);
	return serial;
}

struct keeping {
	struct replicator_wait wait; /* first */
	struct daemon *daemon;
	uint64_t serial;
};

static void drop_keeping(struct message *message)
{
	g_free(message);
}

static void on_kept(struct replicator_wait *wait, bool kept)
{
	struct keeping *keeping = (struct keeping *)wait;
	struct daemon *daemon = keeping->daemon;

	daemon->kept = MAX(daemon->kept, keeping->serial);
	daemon->not_kept = kept ? 0 : keeping->serial;
	if (!kept)
		daemon->keep_asked = 0; /* if it is asked once more */
	g_free(keeping);
}

/* The SM told the replicator of it before it was in effect. */
static void ask_if_kept(struct daemon *daemon, uint64_t serial)
{
	struct keeping *keeping = g_new0(struct keeping, 1);

	keeping->wait.message.drop = drop_keeping;
	keeping->wait.owner = daemon->main;
	keeping->wait.done = on_kept;
	keeping->daemon = daemon;
	keeping->serial = daemon->keep_asked = serial;
	replicator_wait(daemon->replicator, &keeping->wait);
}

bool daemon_partitions_settled(struct daemon *daemon, uint64_t serial)
{
	if (atomic_load(&daemon->context.sm_state) != IBA_SM_MASTER)
		return true;
	if (daemon_partitions_serial(daemon) < serial)
		return false;
	if (!replicator_is_on(daemon->replicator))
		return true;
	if (daemon->keep_asked < serial)
		ask_if_kept(daemon, serial);
	return daemon->kept >= serial;
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
	return !daemon->not_kept || daemon->not_kept < serial;
}

/*
 * The sm actor has taken over what the master before had, before it set anything by the rules; if
 * they were read again at that moment, that is done once more.
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
	replica_unref(replica);
}

/* What another SM had, to be freed; NULL, unless this one is MASTER or not, as wanted. */
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

/* Two halves of the subnet had a master each, or one slept: the later change counts. */
static void on_partitions_fetched(void *arg, uint64_t guid)
{
	struct daemon *daemon = arg;
	g_autofree char *text = take_later_partitions(daemon, true);
	uint64_t own = changes_serial(daemon);

	if (!text || !run_time_partitions_adopt(&daemon->context, text, ADOPT_IF_NEWER))
		return;
	log_sys_error(daemon->context.log,
		      "partition members as SM 0x%016" G_GINT64_MODIFIER
		      "x changed them while it was MASTER too (serial %" PRIu64
		      ") count, those that were changed here meanwhile (serial %" PRIu64 ") do not",
		      guid, changes_serial(daemon), own);
	event_emit(&daemon->context.bus, EVENT_SWEEP_WANTED, SWEEP_POLICY);
}

/*
 * What the master has is here, too, should both end. If this one was MASTER until now, its own
 * changes are lost by that, unless the master has just fetched them or is about to.
 */
static void on_partitions_followed(void *arg, uint64_t deposed)
{
	struct daemon *daemon = arg;
	g_autofree char *text = take_later_partitions(daemon, false);
	uint64_t own = changes_serial(daemon);

	if (!text ||
	    !run_time_partitions_adopt(&daemon->context, text,
				       deposed ? ADOPT_UNLESS_OLDER : ADOPT_ANY) ||
	    !deposed || !own)
		return;
	log_sys_error(daemon->context.log,
		      "partition members that were changed here while this SM was MASTER too "
		      "(serial %" PRIu64 ") do not count: those of the master (serial %" PRIu64
		      ") do",
		      own, changes_serial(daemon));
}

/* ---- qos-policy.conf ---- */

static void take_qos(struct context *context, struct qos_policy *policy)
{
	for (guint i = 0; i < policy->warnings->len; i++)
		log_error(context->log, "%s", (char *)policy->warnings->pdata[i]);
	slot_publish(&context->qos_policy, policy);
}

static bool load_qos(struct context *context, const struct options *options, GError **error)
{
	struct qos_policy *policy = qos_policy_load(daemon_qos_file(options), error);

	if (policy)
		take_qos(context, policy);
	return policy != NULL;
}

static bool reread_qos(struct daemon *daemon, const struct options *options, bool asked)
{
	struct context *context = &daemon->context;
	struct qos_policy *old = slot_take(&context->qos_policy);
	g_autoptr(GError) error = NULL;
	struct qos_policy *new = qos_policy_reload(old, daemon_qos_file(options), &error);
	bool changed = new && !qos_policy_same(old, new);

	note_reading(daemon, DAEMON_QOS, "the QoS policy stays as it was", error, asked);
	if (changed) {
		log_info(context->log, "%s changed", options->qos_policy_file);
		take_qos(context, qos_policy_ref(new));
	}
	qos_policy_unref(new);
	qos_policy_unref(old);
	return changed;
}

/* ---- prefix-routes.conf ---- */

static bool load_prefix_routes(struct context *context, const struct options *options,
			       GError **error)
{
	struct prefix_routes *routes =
		prefix_routes_load(daemon_prefix_routes_file(options), error);

	if (!routes)
		return false;
	slot_publish(&context->prefix_routes, routes);
	return true;
}

/* Queries go by them as soon as they are there. */
static bool reread_prefix_routes(struct daemon *daemon, const struct options *options, bool asked)
{
	struct context *context = &daemon->context;
	struct prefix_routes *old = slot_take(&context->prefix_routes);
	g_autoptr(GError) error = NULL;
	struct prefix_routes *new =
		prefix_routes_reload(old, daemon_prefix_routes_file(options), &error);

	note_reading(daemon, DAEMON_PREFIX_ROUTES, "the prefix routes stay as they were", error,
		     asked);
	if (new)
		slot_publish(&context->prefix_routes, new);
	prefix_routes_unref(old);
	return new != NULL;
}

/* ---- files of the routing options ---- */

/*
 * Says what is odd in the files of the routing options that an older reading of them did not have.
 * False if there was nothing to say.
 */
static bool tell_route_warnings(struct log *log, const struct route_files *files,
				const struct route_files *old)
{
	const GPtrArray *now = route_files_warnings(files);
	const GPtrArray *before = old ? route_files_warnings(old) : NULL;
	bool any = false;

	for (guint i = 0; i < now->len; i++) {
		if (before && g_ptr_array_find_with_equal_func((GPtrArray *)before, now->pdata[i],
							       g_str_equal, NULL))
			continue;
		log_error(log, "%s", (const char *)now->pdata[i]);
		any = true;
	}
	return any;
}

/* The files that were named at start may say something else now; if wrong, nothing changes. */
static bool reread_route_files(struct daemon *daemon, const struct options *options, bool asked)
{
	struct context *context = &daemon->context;
	g_autoptr(GError) error = NULL;
	struct route_files *old = slot_take(&context->route_files);
	struct route_files *new =
		route_files_reload(old, options, options->routing_engine, &error);
	bool changed = new && !route_files_same(old, new);

	note_reading(daemon, DAEMON_ROUTE_FILES, "what the files of the routing options said stays",
		     error, asked);
	if (new) {
		bool odd = tell_route_warnings(context->log, new, old);
		guint n_warnings = route_files_warnings(new)->len;

		if (changed)
			log_info(context->log, "files of the routing options changed");
		if (changed || odd || n_warnings != route_files_warnings(old)->len)
			slot_publish(&context->route_files, route_files_ref(new));
	}
	route_files_unref(new);
	route_files_unref(old);
	return changed;
}

/* ---- the policy of unhealthy ports ---- */

static bool reread_ports_policy(struct daemon *daemon, const struct options *options, bool asked)
{
	struct context *context = &daemon->context;
	g_autoptr(GError) error = NULL;
	struct ports_policy *policy = ports_policy_load(options, &error);

	note_reading(daemon, DAEMON_PORTS_POLICY, "the policy of unhealthy ports stays as it was",
		     error, asked);
	if (policy)
		slot_publish(&context->ports_policy, policy);
	return policy != NULL;
}

bool daemon_context_load(struct context *context, const struct options *options, GError **error)
{
	struct ports_policy *ports = ports_policy_load(options, error);

	if (ports)
		slot_publish(&context->ports_policy, ports);
	return ports && load_partitions(context, options, error) &&
	       load_qos(context, options, error) && load_prefix_routes(context, options, error);
}

/* ---- reading them again ---- */

/* True: they say something else now, or may do so. Of a refusal who asked hears each time. */
typedef bool reread_fn(struct daemon *daemon, const struct options *options, bool asked);

static const struct {
	reread_fn *reread;
	unsigned int reasons; /* bits of enum sweep_reason: to be done if they say something else */
} readers[DAEMON_FILES] = {
	[DAEMON_ROUTE_FILES] = {reread_route_files, SWEEP_HEAVY},
	[DAEMON_PARTITIONS] = {reread_partitions, SWEEP_POLICY},
	[DAEMON_QOS] = {reread_qos, SWEEP_POLICY},
	[DAEMON_PREFIX_ROUTES] = {reread_prefix_routes},
	[DAEMON_PORTS_POLICY] = {reread_ports_policy},
};

static bool reread(struct daemon *daemon, enum daemon_files files, const struct options *options,
		   bool asked)
{
	if (!asked && !are_other(daemon, files, options))
		return false;
	note_read(daemon, files, options);
	return readers[files].reread(daemon, options, asked);
}

static bool reread_for_asker(struct daemon *daemon, enum daemon_files files)
{
	struct options *options = slot_take(&daemon->context.options);
	bool changed = reread(daemon, files, options, true);

	options_unref(options);
	return changed;
}

void daemon_reread_routes(struct daemon *daemon)
{
	reread_for_asker(daemon, DAEMON_ROUTE_FILES);
}

bool daemon_reread_partitions(struct daemon *daemon)
{
	return reread_for_asker(daemon, DAEMON_PARTITIONS);
}

bool daemon_reread_qos(struct daemon *daemon)
{
	return reread_for_asker(daemon, DAEMON_QOS);
}

/* ---- opensm.conf ---- */

/*
 * Files first: a sweep must not go by these options and by files of others. If the options are
 * wrong, those that are in force name the files.
 */
static bool reread_options(struct daemon *daemon, bool asked, GError **error)
{
	struct context *context = &daemon->context;
	struct options *old = slot_take(&context->options), *new;
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	GError *wrong = NULL;
	char *unfinished;

	note_read(daemon, DAEMON_OPENSM_CONF, old);
	new = options_reread(old, NULL, asked ? check_config_restart : check_config_unasked,
			     warnings, &wrong);
	daemon_refuse(daemon, DAEMON_OPENSM_CONF, new ? NULL : wrong->message);
	unfinished = new ? options_tell_unfinished(new, old) : NULL;
	if (unfinished)
		g_ptr_array_add(warnings, unfinished);
	for (guint i = 0; new && i < warnings->len; i++)
		log_error(context->log, "%s", (const char *)warnings->pdata[i]);
	if (new || asked) { /* else follow_files() does it, which tells the sweep */
		reread(daemon, DAEMON_ROUTE_FILES, new ? new : old, asked);
		reread(daemon, DAEMON_PORTS_POLICY, new ? new : old, asked);
	}
	options_unref(old);
	if (!new) {
		g_propagate_error(error, wrong);
		return false;
	}
	logging_apply(context->log, new);
	slot_publish(&context->options, new);
	event_emit(&context->bus, EVENT_OPTIONS_CHANGED, 0);
	return true;
}

bool daemon_reread(struct daemon *daemon, GError **error)
{
	return reread_options(daemon, true, error);
}

static bool reread_options_logged(struct daemon *daemon, bool asked)
{
	struct options *options = slot_take(&daemon->context.options);
	struct options_stamp stamp = options_file_stamp(options);
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) lines = NULL;

	options_unref(options);
	daemon->refused = (struct options_stamp){0};
	if (reread_options(daemon, asked, &error))
		return true;
	daemon->refused = stamp;
	lines = g_strsplit(error->message, "\n", -1);
	for (unsigned int i = 0; lines[i]; i++)
		log_error(daemon->context.log, "the options stay as they were: %s", lines[i]);
	return false;
}

bool daemon_reread_logged(struct daemon *daemon)
{
	return reread_options_logged(daemon, true);
}

/* Reads opensm.conf if it changed and was not refused as it is; true: there are new options. */
static bool follow_options(struct daemon *daemon, bool asked)
{
	struct options *options = slot_take(&daemon->context.options);
	struct options_stamp now = options_file_stamp(options);
	bool changed = options_file_changed(options) &&
		       !options_stamp_same(&now, &daemon->refused) &&
		       (asked || are_other(daemon, DAEMON_OPENSM_CONF, options));

	if (changed)
		log_info(daemon->context.log, "%s changed: reading it again", options->file);
	options_unref(options);
	return changed && reread_options_logged(daemon, asked);
}

/* ---- all of them ---- */

/* Bits of enum sweep_reason: what is to be done for those that say something else now. */
static unsigned int follow_files(struct daemon *daemon)
{
	unsigned int reasons = follow_options(daemon, false) ? SWEEP_HEAVY : 0;
	struct options *options = slot_take(&daemon->context.options);

	for (unsigned int i = 0; i < DAEMON_FILES; i++)
		if (readers[i].reread && reread(daemon, i, options, false))
			reasons |= readers[i].reasons;
	options_unref(options);
	return reasons;
}

/* The sweep that waits for it goes by them. */
static void on_files_wanted(void *arg, uint64_t value)
{
	struct daemon *daemon = arg;

	(void)value;
	event_emit(&daemon->context.bus, EVENT_FILES_READ, follow_files(daemon));
}

static void on_again(struct timer *timer)
{
	struct daemon *daemon = (struct daemon *)((char *)timer - offsetof(struct daemon, again));
	unsigned int reasons = follow_files(daemon);

	if (reasons)
		event_emit(&daemon->context.bus, EVENT_SWEEP_WANTED, reasons);
}

/* ---- life ---- */

/* False: the key that is asked for is not fit to be one. */
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
	return true;
}

struct daemon *daemon_new(const struct daemon_config *config, GError **error)
{
	struct daemon *daemon = g_new0(struct daemon, 1);
	struct route_files *files;

	daemon->vendor = config->vendor;
	daemon->loop = config->loop;
	daemon->cache_dir = g_strdup(config->cache_dir);
	daemon_context_init(&daemon->context, config, daemon->cache_dir);
	daemon->main = actor_new(config->rt, "main");
	for (unsigned int i = 0; i < DAEMON_FILES; i++)
		if (i != DAEMON_OPENSM_CONF) /* which was read earlier, and has a stamp of that */
			note_read(daemon, i, config->options);
	timer_init(&daemon->again, daemon->main, on_again);
	files = daemon_context_load(&daemon->context, config->options, error)
			? route_files_load_for(config->options, config->options->routing_engine,
					       error)
			: NULL;
	if (files) {
		tell_route_warnings(config->log, files, NULL);
		slot_publish(&daemon->context.route_files, files);
		daemon->mad = mad_new(&daemon->context, daemon->vendor, error);
	}
	if (!daemon->mad || !add_replicator(daemon, config->options->replication_key_file, error)) {
		daemon_free(daemon);
		return NULL;
	}
	daemon->sm = sm_new(&daemon->context, daemon->mad, daemon->vendor);
	daemon->sa = sa_new(&daemon->context, daemon->mad);
	event_subscribe(&daemon->context.bus, EVENT_FINISHED, daemon->main, on_finished, daemon);
	event_subscribe(&daemon->context.bus, EVENT_FILES_WANTED, daemon->main, on_files_wanted,
			daemon);
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

/* Others find SMs by it (IBA 14.4.1); without it this one still does its work. */
static void set_is_sm(struct daemon *daemon, bool on)
{
	g_autoptr(GError) error = NULL;

	if (!vendor_set_is_sm(daemon->vendor, on, &error))
		log_error(daemon->context.log, "cannot %s IsSM: %s", on ? "set" : "clear",
			  error->message);
}

/* The port is bound already; what arrives before an actor starts waits in its mailbox. */
void daemon_start(struct daemon *daemon)
{
	struct options *options = slot_take(&daemon->context.options);

	daemon->running = true;
	set_is_sm(daemon, true);
	actor_attach(daemon->main, daemon->loop);
	if (options->single_thread) {
		mad_attach(daemon->mad, daemon->loop);
		replicator_attach(daemon->replicator, daemon->loop);
		sa_attach(daemon->sa, daemon->loop);
		sm_attach(daemon->sm, daemon->loop);
	} else {
		mad_start(daemon->mad);
		replicator_start(daemon->replicator);
		sa_start(daemon->sa);
		sm_start(daemon->sm);
	}
	options_unref(options);
}

void daemon_stop(struct daemon *daemon)
{
	if (!daemon->running)
		return;
	daemon->running = false;
	sm_stop(daemon->sm);
	sa_stop(daemon->sa);
	if (daemon->plan)
		plan_stop(daemon->plan);
	replicator_stop(daemon->replicator);
	set_is_sm(daemon, false);
	mad_stop(daemon->mad);
	g_clear_pointer(&daemon->vendor, vendor_close);
	daemon_context_join(&daemon->context);
	actor_stop(daemon->main);
}

/* In the order in which they may still know of each other: requests come back from mad. */
void daemon_free(struct daemon *daemon)
{
	if (!daemon)
		return;
	daemon_stop(daemon);
	/* Of one that never ran. */
	g_clear_pointer(&daemon->vendor, vendor_close);
	daemon_context_join(&daemon->context);
	if (daemon->mad)
		mad_free(daemon->mad);
	plan_free(daemon->plan);
	if (daemon->sm)
		sm_free(daemon->sm);
	sa_free(daemon->sa);
	replicator_free(daemon->replicator);
	actor_free(daemon->main);
	daemon_context_clear(&daemon->context);
	for (unsigned int i = 0; i < DAEMON_FILES; i++) {
		daemon_refuse(daemon, i, NULL);
		followed_clear(&daemon->followed[i]);
	}
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

static struct plan *make_plan(struct daemon *daemon, struct options *options, GError **error)
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
			 .loop = daemon->loop},
		.mad = daemon->mad,
		.main = daemon->main,
		.running = running,
		.groups = groups,
		.trees = trees,
		.done = on_plan_done,
		.arg = daemon,
	};
	struct plan *plan = plan_new(&config, error);

	subnet_unref(running);
	mc_groups_unref(groups);
	mc_trees_unref(trees);
	return plan;
}

bool daemon_plan(struct daemon *daemon, const char *file, unsigned int max_nodes, GError **error)
{
	struct options *old, *new;
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);

	if (daemon->plan) {
		g_set_error_literal(error, OPTIONS_ERROR, OPTIONS_ERROR_USAGE,
				    "a plan is being made already");
		return false;
	}
	old = slot_take(&daemon->context.options);
	new = options_reread(old, file, check_config_restart, warnings, error);
	options_unref(old);
	if (!new)
		return false;
	daemon->plan = make_plan(daemon, new, error);
	options_unref(new);
	if (!daemon->plan)
		return false;
	for (guint i = 0; i < warnings->len; i++)
		plan_note(daemon->plan, warnings->pdata[i]);
	daemon->plan_nodes = max_nodes;
	plan_start(daemon->plan);
	return true;
}

void daemon_sweep(struct daemon *daemon, unsigned int reasons)
{
	if (reasons & SWEEP_HEAVY) {
		follow_options(daemon, true);
		daemon_reread_partitions(daemon);
		daemon_reread_qos(daemon);
		reread_for_asker(daemon, DAEMON_PREFIX_ROUTES);
	}
	event_emit(&daemon->context.bus, EVENT_SWEEP_WANTED, reasons);
}

struct context *daemon_context(struct daemon *daemon)
{
	return &daemon->context;
}

struct sm *daemon_sm(struct daemon *daemon)
{
	return daemon->sm;
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
