// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See site_policy.h. */
#include "ctl/site/site_policy.h"

#include <string.h>

#include "ctl/process/logging.h"
#include "perf/judge/perf_rules.h"
#include "policy/files/ports_policy.h"
#include "policy/files/prefix_routes.h"
#include "policy/files/route_files.h"
#include "policy/names/node_name_map.h"
#include "policy/partition/partition_changes.h"
#include "policy/partition/partition_file.h"
#include "policy/partition/partition_memory.h"
#include "policy/qos/qos_file.h"

/* ---- names ---- */

/* A simulated fabric ignores the default files of this host that no option names. */
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

const char *site_first_name(const GPtrArray *names)
{
	return names->len && names->pdata[0] ? names->pdata[0] : "";
}

char *site_all_names(const GPtrArray *names)
{
	GString *all = g_string_new(NULL);

	for (guint i = 0; i < names->len; i++)
		if (names->pdata[i])
			g_string_append_printf(all, "%s%s", all->len ? ", " : "",
					       (char *)names->pdata[i]);
	return g_string_free(all, FALSE);
}

/* ---- files of the routing options ---- */

static void name_routes(const struct options *options, const void *now, GPtrArray *names)
{
	(void)now;
	route_files_names(options, names);
}

static void *load_routes(struct site_source *source, GError **error)
{
	const char *engines = source->options->routing_engine;

	return source->old ? route_files_reload(source->old, source->options, engines, error)
			   : route_files_load_for(source->options, engines, error);
}

static bool same_routes(const void *a, const void *b)
{
	return route_files_same(a, b);
}

static const GPtrArray *warnings_of_routes(const void *files)
{
	return route_files_warnings(files);
}

/* ---- partitions.conf ---- */

/* The rules in effect name the files that it includes. */
static void name_partitions(const struct options *options, const void *now, GPtrArray *names)
{
	const struct partition_rules *rules = now;

	g_ptr_array_add(names, (char *)daemon_partition_file(options));
	for (guint i = 1; rules && i < rules->n_own_files; i++)
		g_ptr_array_add(names, rules->files->pdata[i]);
}

static void *load_partitions(struct site_source *source, GError **error)
{
	const char *file = daemon_partition_file(source->options);
	const struct partition_rules *old = source->old;
	struct partition_rules *rules;

	if (old)
		return partition_rules_reload(old, file, old->changes, error);
	rules = partition_rules_start(
		file, options_is_named(source->options, OPTION_partition_config_file),
		source->cache_dir, &source->instead, error);
	if (rules)
		rules->serial = MAX(1, rules->changes->serial);
	return rules;
}

static bool same_partitions(const void *a, const void *b)
{
	return partition_rules_same(a, b);
}

static const GPtrArray *warnings_of_partitions(const void *rules)
{
	return ((const struct partition_rules *)rules)->warnings;
}

/* ---- qos-policy.conf ---- */

static void name_qos(const struct options *options, const void *now, GPtrArray *names)
{
	(void)now;
	g_ptr_array_add(names, (char *)daemon_qos_file(options));
}

static void *load_qos(struct site_source *source, GError **error)
{
	return qos_policy_load(daemon_qos_file(source->options), error);
}

static bool same_qos(const void *a, const void *b)
{
	return qos_policy_same(a, b);
}

static bool is_qos_missing(const void *policy)
{
	return !((const struct qos_policy *)policy)->is_there;
}

static bool is_no_qos(const void *policy)
{
	return !((const struct qos_policy *)policy)->text;
}

static const GPtrArray *warnings_of_qos(const void *policy)
{
	return ((const struct qos_policy *)policy)->warnings;
}

/* ---- prefix-routes.conf ---- */

static void name_prefix_routes(const struct options *options, const void *now, GPtrArray *names)
{
	(void)now;
	g_ptr_array_add(names, (char *)daemon_prefix_routes_file(options));
}

static void *load_prefix_routes(struct site_source *source, GError **error)
{
	return prefix_routes_load(daemon_prefix_routes_file(source->options), error);
}

static bool is_prefix_routes_missing(const void *routes)
{
	return !((const struct prefix_routes *)routes)->has_file;
}

static bool are_no_prefix_routes(const void *routes)
{
	return !((const struct prefix_routes *)routes)->routes->len;
}

/* ---- the policy of ports that misbehave ---- */

static void name_ports(const struct options *options, const void *now, GPtrArray *names)
{
	(void)now;
	g_ptr_array_add(names, options->hm_ports_health_policy_file);
}

static void *load_ports(struct site_source *source, GError **error)
{
	return ports_policy_load(source->options, error);
}

static bool is_no_ports_policy(const void *policy)
{
	return ((const struct ports_policy *)policy)->n_rules == 0;
}

/* ---- names of nodes ---- */

static void name_node_names(const struct options *options, const void *now, GPtrArray *names)
{
	(void)now;
	g_ptr_array_add(names, options->node_name_map_name);
}

/* A start goes on without them. */
static void *load_node_names(struct site_source *source, GError **error)
{
	return node_name_map_load(source->options->node_name_map_name, !source->old, error);
}

static bool same_node_names(const void *a, const void *b)
{
	return node_names_same(a, b);
}

static const GPtrArray *warnings_of_node_names(const void *names)
{
	return ((const struct node_names *)names)->warnings;
}

/* ---- log flags of single source files ---- */

static const char *modules_file(const struct options *options)
{
	return is_left_alone(options, OPTION_per_module_logging_file)
		       ? NULL
		       : options->per_module_logging_file;
}

static void name_modules(const struct options *options, const void *now, GPtrArray *names)
{
	(void)now;
	g_ptr_array_add(names, (char *)modules_file(options));
}

static void *load_modules(struct site_source *source, GError **error)
{
	return module_flags_load(modules_file(source->options),
				 options_is_named(source->options, OPTION_per_module_logging_file),
				 error);
}

static bool same_modules(const void *a, const void *b)
{
	return module_flags_same(a, b);
}

static const GPtrArray *warnings_of_modules(const void *flags)
{
	return ((const struct module_flags *)flags)->warnings;
}

static void use_modules(struct context *context)
{
	struct module_flags *flags = slot_take(&context->module_flags);

	module_flags_apply(flags, context->log);
	module_flags_unref(flags);
}

/* ---- the rules by which counters are judged ---- */

static void name_perf_rules(const struct options *options, const void *now, GPtrArray *names)
{
	(void)now;
	g_ptr_array_add(names, options->perfmgr_rules_file);
}

static void *load_perf_rules(struct site_source *source, GError **error)
{
	return perf_rules_load(source->options, error);
}

static bool same_perf_rules(const void *a, const void *b)
{
	return perf_rules_same(a, b);
}

static bool are_no_perf_rules(const void *rules)
{
	return ((const struct perf_rules *)rules)->n == 0;
}

/* ---- the table ---- */

#define PUT(type)                                                                                  \
	static void put_##type(void *object)                                                       \
	{                                                                                          \
		type##_unref(object);                                                              \
	}
PUT(route_files)
PUT(partition_rules)
PUT(qos_policy)
PUT(prefix_routes)
PUT(ports_policy)
PUT(node_names)
PUT(module_flags)
PUT(perf_rules)
#undef PUT

#define SLOT(type) .slot = offsetof(struct context, type), .put = put_##type
static const struct site_kind kinds[DAEMON_FILES] = {
	[DAEMON_ROUTE_FILES] =
		{
			SLOT(route_files),
			.what = "routing files",
			.stays = "the routing files read before stay in effect",
			.reasons = SWEEP_HEAVY,
			.names = name_routes,
			.load = load_routes,
			.same = same_routes,
			.warnings = warnings_of_routes,
		},
	[DAEMON_PARTITIONS] =
		{
			SLOT(partition_rules),
			.stays = "the partitions are unchanged",
			.reasons = SWEEP_POLICY,
			.names = name_partitions,
			.load = load_partitions,
			.same = same_partitions,
			.warnings = warnings_of_partitions,
		},
	[DAEMON_QOS] =
		{
			SLOT(qos_policy),
			.stays = "the QoS policy is unchanged",
			.reasons = SWEEP_POLICY,
			.names = name_qos,
			.load = load_qos,
			.same = same_qos,
			.warnings = warnings_of_qos,
			.option = OPTION_qos_policy_file,
			.is_missing = is_qos_missing,
			.says_nothing = is_no_qos,
		},
	[DAEMON_PREFIX_ROUTES] =
		{
			/* used by queries at once */
			SLOT(prefix_routes),
			.stays = "the prefix routes are unchanged",
			.names = name_prefix_routes,
			.load = load_prefix_routes,
			.option = OPTION_prefix_routes_file,
			.is_missing = is_prefix_routes_missing,
			.says_nothing = are_no_prefix_routes,
		},
	[DAEMON_PORTS_POLICY] =
		{
			SLOT(ports_policy),
			.stays = "the policy of unhealthy ports is unchanged",
			.names = name_ports,
			.load = load_ports,
			.option = OPTION_hm_ports_health_policy_file,
			.says_nothing = is_no_ports_policy,
		},
	[DAEMON_NODE_NAMES] =
		{
			SLOT(node_names),
			.what = "node names",
			.stays = "the node names are unchanged",
			.reasons = SWEEP_HEAVY, /* publishes them, and applies patterns to them */
			.names = name_node_names,
			.load = load_node_names,
			.same = same_node_names,
			.warnings = warnings_of_node_names,
		},
	[DAEMON_MODULES] =
		{
			SLOT(module_flags),
			.what = "log flags of single source files",
			.stays = "the log flags of single source files are unchanged",
			.names = name_modules,
			.load = load_modules,
			.same = same_modules,
			.warnings = warnings_of_modules,
			.use = use_modules,
		},
	[DAEMON_PERF_RULES] =
		{
			/* used by the next sweep of counters */
			SLOT(perf_rules),
			.what = "the rules for counters",
			.stays = "the rules for counters are unchanged",
			.names = name_perf_rules,
			.load = load_perf_rules,
			.same = same_perf_rules,
			.option = OPTION_perfmgr_rules_file,
			.says_nothing = are_no_perf_rules,
		},
};
#undef SLOT

const char *daemon_files_name(enum daemon_files files)
{
	switch (files) {
	case DAEMON_OPENSM_CONF:
		return "opensm.conf";
	case DAEMON_ROUTE_FILES:
		return "a file of the routing options";
	case DAEMON_PARTITIONS:
		return "partitions.conf";
	case DAEMON_QOS:
		return "qos-policy.conf";
	case DAEMON_PREFIX_ROUTES:
		return "prefix-routes.conf";
	case DAEMON_PORTS_POLICY:
		return "hm_ports_health_policy_file";
	case DAEMON_NODE_NAMES:
		return "node_name_map_name";
	case DAEMON_MODULES:
		return "per_module_logging_file";
	case DAEMON_PERF_RULES:
		return "perfmgr_rules_file";
	case DAEMON_CONSOLE:
		return "a file of console_tls_cert, _key or _ca";
	case DAEMON_FILES:
		break;
	}
	g_assert_not_reached();
}

const struct site_kind *site_kind(enum daemon_files files)
{
	return &kinds[files];
}

struct slot *site_slot(struct context *context, enum daemon_files files)
{
	return (struct slot *)(void *)((char *)context + kinds[files].slot);
}

/* ---- reading ---- */

static bool is_nothing_meant(const char *file)
{
	return !*file || !strcmp(file, "/dev/null");
}

/*
 * Whether contents may be used: a named file must exist and not be empty, and so must one that was
 * used before. Any other file may be missing; if it exists but is empty, that is reported.
 */
static bool check(const struct site_kind *kind, struct site_source *source, const void *new,
		  GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const char *file, *option;

	kind->names(source->options, source->old, names);
	file = site_first_name(names);
	if (!kind->says_nothing || is_nothing_meant(file) || !kind->says_nothing(new))
		return true;
	option = options_name(kind->option);
	if (options_is_named(source->options, kind->option) ||
	    (source->old && !kind->says_nothing(source->old)))
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "%s: %s; write its contents, or set '%s /dev/null' and restart to go "
			    "without it",
			    file,
			    kind->is_missing && kind->is_missing(new) ? "there is no such file"
								      : "it is empty",
			    option);
	else if (!source->old && kind->is_missing && !kind->is_missing(new))
		source->note = g_strdup_printf("%s: it is empty, and %s does not name it: "
					       "starting without it",
					       file, option);
	return !*error;
}

void *site_load(enum daemon_files files, struct site_source *source, GError **error)
{
	const struct site_kind *kind = &kinds[files];
	GError *wrong = NULL;
	void *new = kind->load(source, &wrong);

	if (new && check(kind, source, new, &wrong))
		return new;
	if (new)
		kind->put(new);
	g_propagate_error(error, wrong);
	return NULL;
}

/* ---- all of a start ---- */

struct site_policy *site_policy_load(const struct options *options, const char *cache_dir,
				     GError **error)
{
	struct site_policy *policy = g_new0(struct site_policy, 1);
	bool good = true;

	for (unsigned int i = 0; good && i < DAEMON_FILES; i++) {
		struct site_source source = {.options = options, .cache_dir = cache_dir};

		if (!kinds[i].load)
			continue;
		policy->objects[i] = site_load(i, &source, error);
		policy->instead[i] = source.instead;
		policy->notes[i] = source.note;
		good = policy->objects[i] != NULL;
	}
	if (!good)
		g_clear_pointer(&policy, site_policy_free);
	return policy;
}

void site_publish(struct context *context, enum daemon_files files, void *object)
{
	slot_publish(site_slot(context, files), object);
	if (kinds[files].use)
		kinds[files].use(context);
}

void site_policy_publish(struct site_policy *policy, struct context *context)
{
	for (unsigned int i = 0; i < DAEMON_FILES; i++)
		if (policy->objects[i])
			site_publish(context, i, g_steal_pointer(&policy->objects[i]));
}

void site_policy_free(struct site_policy *policy)
{
	for (unsigned int i = 0; policy && i < DAEMON_FILES; i++) {
		if (policy->objects[i])
			kinds[i].put(policy->objects[i]);
		g_free(policy->instead[i]);
		g_free(policy->notes[i]);
	}
	g_free(policy);
}
