// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Metrics of the daemon: the contents of the context, and what the kernel tells of the process. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cc/report.h"
#include "ctl/metrics/metrics.h"
#include "fabric/link_quality.h"
#include "ha/replicator.h"
#include "iba/attributes.h"
#include "iba/constants.h"
#include "policy/files/ports_policy.h"
#include "policy/partition/groups.h"
#include "sm/election/peers.h"
#include "sm/health/unhealthy.h"
#include "sm/schedule/plan.h"
#include "subnet/perf_alarms.h"
#include "subnet/subscriptions.h"

/* Buckets of core/timing.h. */
#define BUCKET_100US 2
#define BUCKET_1MS 4
#define BUCKET_10MS 6
#define BUCKET_1S 10
#define BUCKET_3S 11
#define BUCKET_100S 14

static const char *const step_names[] = {
#define STEP(name, function, kinds, text) #name,
#include "sm/steps.def"
#undef STEP
};

/* ---- samples with one label ---- */

static void labelled(struct metrics_text *text, enum metric_id id, const char *label,
		     const char *value, uint64_t number)
{
	g_autoptr(GString) labels = g_string_new(NULL);

	metrics_label(labels, label, value);
	metrics_number(text, &metrics[id], labels->str, number);
}

/* A family with a sample for each word. */
static void each_word(struct metrics_text *text, enum metric_id id, const char *label,
		      const char *const *words, const uint64_t *numbers, unsigned int n)
{
	metrics_family(text, &metrics[id]);
	for (unsigned int i = 0; i < n; i++)
		labelled(text, id, label, words[i], numbers[i]);
}
#define EACH_WORD(text, id, label, words, numbers)                                                 \
	each_word(text, id, label, words, numbers, G_N_ELEMENTS(words))

static void timing_of(struct metrics_text *text, enum metric_id id, const char *label,
		      const char *value, const struct timing *timing, unsigned int first,
		      unsigned int last)
{
	g_autoptr(GString) labels = g_string_new(NULL);

	if (!atomic_load_explicit(&timing->n, memory_order_relaxed))
		return;
	metrics_label(labels, label, value);
	metrics_timing(text, &metrics[id], labels->str, timing, first, last);
}

/* ---- the SM and its sweeps ---- */

static const char *const sm_words[] = {"discovering", "standby", "notactive", "master"};
static const unsigned int sm_states[] = {IBA_SM_DISCOVERING, IBA_SM_STANDBY, IBA_SM_NOT_ACTIVE,
					 IBA_SM_MASTER};

static void write_sm(struct metrics_text *text, const struct metrics_source *source)
{
	unsigned int state = atomic_load(&source->context->sm_state);
	unsigned int sweep = atomic_load(&source->context->sweep);
	g_autoptr(GString) labels = g_string_new(NULL);
	uint64_t is[G_N_ELEMENTS(sm_states)];

	metrics_label(labels, "version", PACKAGE_VERSION);
	metrics_label_guid(labels, "guid", source->port_guid);
	metrics_family(text, &metrics[METRIC_BUILD]);
	metrics_number(text, &metrics[METRIC_BUILD], labels->str, 1);
	for (unsigned int i = 0; i < G_N_ELEMENTS(sm_states); i++)
		is[i] = state == sm_states[i];
	EACH_WORD(text, METRIC_SM_STATE, "state", sm_words, is);
	metrics_one(text, &metrics[METRIC_SM_PRIORITY], source->options->sm_priority);
	metrics_one(text, &metrics[METRIC_SUBNET_UP],
		    state == IBA_SM_MASTER && sweep & SWEEP_FLAG_UP_BEFORE &&
			    !(sweep & SWEEP_FLAG_ERRORS));
	metrics_one(text, &metrics[METRIC_RELOAD], !source->refused);
	if (source->reread_us)
		metrics_one_real(text, &metrics[METRIC_RELOAD_TIME],
				 (double)source->reread_us / 1e6);
}

static void write_known_sms(struct metrics_text *text, struct context *context)
{
	struct peers *peers = slot_take(&context->peers);
	uint64_t counts[G_N_ELEMENTS(sm_words)] = {0};

	for (unsigned int i = 0; peers && i < peers->n; i++)
		for (unsigned int state = 0; state < G_N_ELEMENTS(sm_states); state++)
			counts[state] += peers->peers[i].sm.guid != peers->own &&
					 peers->peers[i].sm.state == sm_states[state];
	EACH_WORD(text, METRIC_KNOWN_SMS, "state", sm_words, counts);
	peers_unref(peers);
}

static void write_events(struct metrics_text *text, const struct metrics_source *source)
{
	if (source->n_events)
		each_word(text, METRIC_EVENTS, "kind", source->event_kinds, source->events,
			  source->n_events);
}

/* The clock of the runtime cannot be set; the time of day is that of now. */
static void write_last_sweep(struct metrics_text *text, const struct metrics_source *source)
{
	uint64_t now = runtime_now(source->context->rt);

	if (!source->swept)
		return;
	metrics_one_real(text, &metrics[METRIC_SWEEP_TIME],
			 (double)g_get_real_time() / 1e6 -
				 (double)(now - source->last_sweep.ended_ns) / 1e9);
	metrics_one(text, &metrics[METRIC_SWEEP_ERRORS], source->last_sweep.done.errors);
}

static void write_routing_time(struct metrics_text *text, const struct context *context)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(step_names); i++)
		if (!strcmp(step_names[i], "ROUTE") && atomic_load(&context->steps[i].n))
			metrics_one_real(text, &metrics[METRIC_ROUTING_TIME],
					 (double)atomic_load(&context->steps[i].last_ns) / 1e9);
}

static void write_timings(struct metrics_text *text, const struct context *context)
{
	static const char *const routes[] = {"lid", "directed"};

	metrics_family(text, &metrics[METRIC_SWEEP]);
	for (unsigned int i = 0; i < CONTEXT_SWEEPS; i++)
		timing_of(text, METRIC_SWEEP, "kind", plan_kind_name((enum sweep_kind)(1 << i)),
			  &context->sweeps[i], BUCKET_10MS, BUCKET_100S);
	metrics_family(text, &metrics[METRIC_STEP]);
	for (unsigned int i = 0; i < G_N_ELEMENTS(step_names); i++) {
		g_autofree char *name = g_ascii_strdown(step_names[i], -1);

		timing_of(text, METRIC_STEP, "step", name, &context->steps[i], BUCKET_1MS,
			  BUCKET_100S);
	}
	write_routing_time(text, context);
	metrics_family(text, &metrics[METRIC_ROUND_TRIP]);
	for (unsigned int i = 0; i < G_N_ELEMENTS(routes); i++)
		timing_of(text, METRIC_ROUND_TRIP, "route", routes[i], &context->round_trips[i], 0,
			  BUCKET_1S);
	metrics_family(text, &metrics[METRIC_SA]);
	for (unsigned int i = 0; i < CONTEXT_ATTRIBUTES; i++) {
		const char *name = iba_attribute_name(IBA_CLASS_SUBN_ADM, (uint16_t)i);

		if (name)
			timing_of(text, METRIC_SA, "attribute", name, &context->sa_answers[i],
				  BUCKET_100US, BUCKET_3S);
	}
}

static void write_sa_results(struct metrics_text *text, struct context *context)
{
	static const char *const words[SA_RESULTS] = {
		[SA_RESULT_OK] = "ok",	     [SA_RESULT_NONE] = "no_records",
		[SA_RESULT_BUSY] = "busy",   [SA_RESULT_REFUSED] = "refused",
		[SA_RESULT_ERROR] = "error",
	};
	g_autoptr(GString) labels = g_string_new(NULL);

	metrics_family(text, &metrics[METRIC_SA_REQUESTS]);
	for (unsigned int i = 0; i < CONTEXT_ATTRIBUTES; i++) {
		const char *name = iba_attribute_name(IBA_CLASS_SUBN_ADM, (uint16_t)i);

		for (unsigned int result = 0; name && result < SA_RESULTS; result++) {
			uint64_t n = atomic_load_explicit(&context->sa_results[i][result],
							  memory_order_relaxed);

			if (!n)
				continue;
			g_string_truncate(labels, 0);
			metrics_label(labels, "attribute", name);
			metrics_label(labels, "result", words[result]);
			metrics_number(text, &metrics[METRIC_SA_REQUESTS], labels->str, n);
		}
	}
}

/* ---- the subnet ---- */

static void write_nodes(struct metrics_text *text, const struct fabric *fabric)
{
	static const char *const words[] = {"switch", "ca", "router"};
	uint64_t counts[G_N_ELEMENTS(words)] = {0};
	uint32_t silent, loose;

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		uint8_t type = fabric->nodes[i].type;

		counts[type == IBA_NODE_SWITCH ? 0 : type == IBA_NODE_ROUTER ? 2 : 1]++;
	}
	fabric_count_silent(fabric, &silent, &loose);
	EACH_WORD(text, METRIC_NODES, "type", words, counts);
	metrics_one(text, &metrics[METRIC_NODES_SILENT], silent);
}

static void write_ports(struct metrics_text *text, const struct fabric *fabric)
{
	static const char *const states[] = {"down", "initialize", "armed", "active"};
	static const char *const words[] = {"ok", "slow"};
	uint64_t by_state[G_N_ELEMENTS(states)] = {0}, links[G_N_ELEMENTS(words)] = {0};

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct fabric_port *port = &fabric->ports[i];
		unsigned int state = port->info.port_state;

		if (port->known && (port->num || !fabric_is_switch(fabric, port->node)) &&
		    state >= IBA_PORT_DOWN && state <= IBA_PORT_ACTIVE)
			by_state[state - IBA_PORT_DOWN]++;
		if (port->peer != FABRIC_NONE && i < port->peer)
			links[link_percent(fabric, i) < 100]++;
	}
	EACH_WORD(text, METRIC_PORTS, "state", states, by_state);
	EACH_WORD(text, METRIC_LINKS, "state", words, links);
}

static void write_lids(struct metrics_text *text, const struct fabric *fabric)
{
	uint64_t n = 0;

	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++)
		n += fabric->lid_port[lid] != FABRIC_NONE;
	metrics_one(text, &metrics[METRIC_LIDS], n);
	metrics_one(text, &metrics[METRIC_LID_HIGHEST], fabric->max_lid);
}

static void write_routes(struct metrics_text *text, const struct subnet *subnet)
{
	const struct routing *routing = subnet->routing;

	metrics_family(text, &metrics[METRIC_ENGINE]);
	labelled(text, METRIC_ENGINE, "engine", routing->engine->name, 1);
	metrics_one(text, &metrics[METRIC_FALLBACK], subnet->fallback != NULL);
	metrics_one(text, &metrics[METRIC_LOOPS], subnet->credit_loop != NULL);
	metrics_one(text, &metrics[METRIC_CUT], routing->cut_by_caps);
}

static void write_partitions(struct metrics_text *text, const struct partitions *partitions)
{
	static const char *const words[] = {"full", "limited"};
	uint64_t members[G_N_ELEMENTS(words)] = {0};

	for (uint32_t i = 0; i < partitions->n; i++) {
		members[0] += partitions->all[i].n_full;
		members[1] += partitions->all[i].n_limited;
	}
	metrics_one(text, &metrics[METRIC_PARTITIONS], partitions->n);
	EACH_WORD(text, METRIC_PARTITION_MEMBERS, "membership", words, members);
}

static void write_subnet(struct metrics_text *text, const struct subnet *subnet)
{
	metrics_one(text, &metrics[METRIC_GENERATION], subnet->generation);
	write_nodes(text, subnet->fabric);
	write_ports(text, subnet->fabric);
	write_lids(text, subnet->fabric);
	if (subnet->routing && subnet->routing->engine)
		write_routes(text, subnet);
	if (subnet->partitions)
		write_partitions(text, subnet->partitions);
}

/* ---- what others publish ---- */

static void write_unhealthy(struct metrics_text *text, struct context *context)
{
	struct unhealthy_ports *ports = slot_take(&context->unhealthy_ports);

	metrics_family(text, &metrics[METRIC_UNHEALTHY]);
	for (unsigned int condition = 0; condition < PORT_CONDITIONS; condition++) {
		uint64_t n = 0;

		for (unsigned int i = 0; ports && i < ports->n; i++)
			n += ports->ports[i].condition == condition;
		labelled(text, METRIC_UNHEALTHY, "condition", port_condition_word(condition), n);
	}
	unhealthy_ports_unref(ports);
}

static void write_groups(struct metrics_text *text, struct context *context)
{
	struct mc_groups *groups = slot_take(&context->groups);
	struct mc_cursor cursor = {0};
	const struct mc_group *group;
	uint64_t members = 0, mlids = 0;
	uint16_t last = 0;

	while ((group = mc_groups_next(groups, &cursor))) {
		members += group->n_ports;
		mlids += group->mlid != last;
		last = group->mlid;
	}
	metrics_one(text, &metrics[METRIC_GROUPS], groups ? groups->n : 0);
	metrics_one(text, &metrics[METRIC_MEMBERS], members);
	metrics_one(text, &metrics[METRIC_MLIDS], mlids);
	if (groups)
		mc_groups_unref(groups);
}

static void write_subscriptions(struct metrics_text *text, struct context *context)
{
	struct subscriptions *subscriptions = slot_take(&context->subscriptions);

	metrics_one(text, &metrics[METRIC_SUBSCRIPTIONS], subscriptions ? subscriptions->n : 0);
	subscriptions_unref(subscriptions);
}

static void write_peers(struct metrics_text *text, struct context *context)
{
	static const char *const words[] = {"in_step", "not_in_step"};
	struct replication_status *status = slot_take(&context->replication);
	uint64_t counts[G_N_ELEMENTS(words)] = {0};

	for (unsigned int i = 0; status && i < status->n; i++)
		counts[status->peers[i].state != REPLICATION_IN_STEP]++;
	EACH_WORD(text, METRIC_PEERS, "state", words, counts);
	if (status)
		replication_status_unref(status);
}

static void write_insecure(struct metrics_text *text, const struct metrics_source *source,
			   metrics_insecure_fn *insecure)
{
	const char *check;
	bool is;

	metrics_family(text, &metrics[METRIC_INSECURE]);
	for (unsigned int i = 0; (check = insecure(source->options, source->subnet, i, &is)); i++)
		labelled(text, METRIC_INSECURE, "check", check, is);
}

/* ---- the performance manager ---- */

/* Counters of data count 32-bit words; their sum may begin again at 0 after days of full load. */
static void write_grown(struct metrics_text *text, const struct perf_image *image)
{
	for (unsigned int i = 0; i < n_metrics_port; i++) {
		unsigned int column = metrics_port[i].column;
		bool is_data = column == PERF_XMIT_DATA || column == PERF_RCV_DATA;

		metrics_one(text, &metrics_port[i].sum, image->grown[column] * (is_data ? 4 : 1));
	}
}

static void write_image(struct metrics_text *text, struct context *context)
{
	struct perf_images *images = slot_take(&context->perf_images);
	const struct perf_image *image = perf_images_last(images);
	uint64_t unanswered = 0;

	for (uint32_t row = 0; image && row < image->layout->n_rows; row++)
		unanswered += (image->flags[row] & (PERF_SILENT | PERF_REFUSED)) != 0;
	if (image) {
		metrics_one_real(text, &metrics[METRIC_PERF_TIME], (double)image->ended_us / 1e6);
		metrics_one_real(text, &metrics[METRIC_PERF_DURATION],
				 (double)(image->ended_ns - image->began_ns) / 1e9);
		metrics_one(text, &metrics[METRIC_PERF_UNANSWERED], unanswered);
		write_grown(text, image);
	}
	perf_images_unref(images);
}

static void write_alarms(struct metrics_text *text, struct context *context)
{
	struct perf_alarms *alarms = slot_take(&context->perf_alarms);

	metrics_family(text, &metrics[METRIC_ALARMS]);
	for (unsigned int level = PERF_INFO; level < PERF_LEVELS; level++)
		labelled(text, METRIC_ALARMS, "level", perf_level_word(level),
			 alarms ? alarms->count[level] : 0);
	perf_alarms_unref(alarms);
}

static void write_perf(struct metrics_text *text, const struct metrics_source *source)
{
	static const char *const words[] = {"answers", "silent", "refuses"};
	const struct perf_status *perf = &source->perf;
	uint32_t bad = perf->silent + perf->refusing;
	const uint64_t agents[] = {perf->agents - MIN(bad, perf->agents), perf->silent,
				   perf->refusing};

	if (!perf->enabled)
		return;
	metrics_one(text, &metrics[METRIC_PERF_INTERVAL], perf->period_s);
	metrics_one(text, &metrics[METRIC_PERF_SWEEPS], perf->sweeps);
	metrics_one(text, &metrics[METRIC_PERF_MADS], perf->mads_total);
	EACH_WORD(text, METRIC_PERF_AGENTS, "state", words, agents);
	write_image(text, source->context);
	write_alarms(text, source->context);
}

/* ---- congestion control ---- */

static const char *const agent_words[] = {"ca", "switch"};

static void write_agents(struct metrics_text *text, const struct cc_report *report)
{
	g_autoptr(GString) labels = g_string_new(NULL);

	metrics_family(text, &metrics[METRIC_CC_PORTS]);
	for (unsigned int state = 0; state < CC_STATES; state++)
		for (unsigned int i = 0; i < G_N_ELEMENTS(agent_words); i++) {
			g_string_truncate(labels, 0);
			metrics_label(labels, "state", cc_state_word(state));
			metrics_label(labels, "type", agent_words[i]);
			metrics_number(text, &metrics[METRIC_CC_PORTS], labels->str,
				       report->n[i][state]);
		}
}

/* Nothing before it is on for the first time. */
static void write_congestion(struct metrics_text *text, struct context *context)
{
	struct cc_report *report = slot_take(&context->cc);

	if (report) {
		write_agents(text, report);
		metrics_one(text, &metrics[METRIC_CC_MADS], report->mads);
		metrics_one_real(text, &metrics[METRIC_CC_TIME], (double)report->took_us / 1e6);
		metrics_one(text, &metrics[METRIC_CC_TRAPS], report->traps);
		EACH_WORD(text, METRIC_CC_EVENTS, "type", agent_words, report->log_events);
	}
	cc_report_unref(report);
}

/* ---- plug-ins ---- */

static void write_plugins(struct metrics_text *text, const GArray *plugins)
{
	static const struct {
		enum metric_id id;
		size_t offset;
	} columns[] = {
		{METRIC_PLUGIN_UP, offsetof(struct metrics_plugin, up)},
		{METRIC_PLUGIN_EVENTS, offsetof(struct metrics_plugin, events)},
		{METRIC_PLUGIN_LOST, offsetof(struct metrics_plugin, lost)},
		{METRIC_PLUGIN_REQUESTS, offsetof(struct metrics_plugin, requests)},
		{METRIC_PLUGIN_RESTARTS, offsetof(struct metrics_plugin, restarts)},
	};

	for (unsigned int i = 0; plugins && i < G_N_ELEMENTS(columns); i++) {
		metrics_family(text, &metrics[columns[i].id]);
		for (guint j = 0; j < plugins->len; j++) {
			const struct metrics_plugin *plugin =
				&g_array_index(plugins, struct metrics_plugin, j);

			labelled(text, columns[i].id, "plugin", plugin->name,
				 G_STRUCT_MEMBER(uint64_t, plugin, columns[i].offset));
		}
	}
}

/* ---- counters ---- */

static void write_counters(struct metrics_text *text, const struct counters *counters)
{
	unsigned int i = 0;

#define COUNTER(name, kind, help)                                                                  \
	metrics_one(text, &metrics_counter[i++], counter_get(counters, name));
#include "core/counters.def"
#undef COUNTER
}

/* ---- the process ---- */

struct process {
	double cpu_s, start_s; /* start_s: since 1970 */
	uint64_t memory, fds, max_fds;
};

/* Field number of /proc/self/stat, as proc(5) counts them; the name before may have blanks. */
static bool stat_field(const char *stat, unsigned int number, uint64_t *value)
{
	const char *at = strrchr(stat, ')');

	for (unsigned int i = 2; at && i < number; i++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at && sscanf(at, "%" SCNu64, value) == 1;
}

/* Seconds since 1970. */
static bool boot_time(double *time)
{
	g_autofree char *text = NULL;
	const char *line;
	uint64_t seconds;

	if (!g_file_get_contents("/proc/stat", &text, NULL, NULL))
		return false;
	line = strstr(text, "\nbtime ");
	if (!line || sscanf(line, "\nbtime %" SCNu64, &seconds) != 1)
		return false;
	*time = (double)seconds;
	return true;
}

static bool count_files(uint64_t *n)
{
	g_autoptr(GDir) directory = g_dir_open("/proc/self/fd", 0, NULL);

	for (*n = 0; directory && g_dir_read_name(directory); ++*n)
		;
	*n -= *n > 0; /* that of the directory */
	return directory;
}

static bool read_process(struct process *process)
{
	double ticks = (double)sysconf(_SC_CLK_TCK), boot;
	uint64_t user, kernel, start, pages;
	g_autofree char *stat = NULL;
	struct rlimit limit;

	if (!g_file_get_contents("/proc/self/stat", &stat, NULL, NULL) ||
	    !stat_field(stat, 14, &user) || !stat_field(stat, 15, &kernel) ||
	    !stat_field(stat, 22, &start) || !stat_field(stat, 24, &pages) || !boot_time(&boot) ||
	    !count_files(&process->fds) || getrlimit(RLIMIT_NOFILE, &limit))
		return false;
	process->cpu_s = (double)(user + kernel) / ticks;
	process->start_s = boot + (double)start / ticks;
	process->memory = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	process->max_fds = limit.rlim_cur;
	return true;
}

static void write_process(struct metrics_text *text, const struct process *process)
{
	metrics_one_real(text, &metrics[METRIC_CPU], process->cpu_s);
	metrics_one(text, &metrics[METRIC_MEMORY], process->memory);
	metrics_one(text, &metrics[METRIC_FDS], process->fds);
	metrics_one(text, &metrics[METRIC_MAX_FDS], process->max_fds);
	metrics_one_real(text, &metrics[METRIC_START], process->start_s);
}

/* ---- all ---- */

void metrics_write_daemon(struct metrics_text *text, const struct metrics_source *source,
			  metrics_insecure_fn *insecure)
{
	struct context *context = source->context;
	struct process process = {0};
	bool known = read_process(&process);

	text->created = process.start_s; /* all counters began at 0 then */
	write_sm(text, source);
	write_known_sms(text, context);
	write_events(text, source);
	if (source->subnet)
		write_subnet(text, source->subnet);
	write_unhealthy(text, context);
	write_last_sweep(text, source);
	write_timings(text, context);
	write_sa_results(text, context);
	write_groups(text, context);
	write_subscriptions(text, context);
	write_peers(text, context);
	write_insecure(text, source, insecure);
	write_perf(text, source);
	write_congestion(text, context);
	write_plugins(text, source->plugins);
	write_counters(text, &context->counters);
	if (known)
		write_process(text, &process);
	metrics_one(text, &metrics[METRIC_INCOMPLETE], !known);
}
