// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Making, driving and ending a scenario. One thread, one runtime, one simulated fabric; the daemon
 * may be stopped and started again on it any number of times. All randomness comes from the seed:
 * that of the fabric (loss) and that of the scenario (what is broken when).
 */
#include "belief.h"

#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utime.h>

#include "complib/random.h"
#include "tests/directory.h"

#define LOG_TAIL 6000
#define LOG_VARIABLE "SCENARIO_LOG" /* log flags, 0xff for all; a failure prints the whole log */
#define POLL_MS 20
#define LINKS_TRIED 1000
#define STEADY_MS 1000

/* ---- life ---- */

static uint64_t virtual_clock(void *arg)
{
	return runtime_now(arg);
}

static void make_directory(struct scenario *s)
{
	s->directory = g_dir_make_tmp("opensm-scenario-XXXXXX", NULL);
	g_assert(s->directory);
	s->cache_dir = g_build_filename(s->directory, "cache", NULL);
	s->conf = g_build_filename(s->directory, "opensm.conf", NULL);
	g_assert(g_mkdir(s->cache_dir, 0700) == 0);
	scenario_conf(s, "");
}

void scenario_config_default(struct sim_config *config, uint64_t seed)
{
	sim_config_default(config);
	config->seed = seed;
	config->hop_ns = 200;
	config->sma_ns = 10 * NS_PER_US;
}

/* A topology file that does not exist is one of tests/scenario. */
static char *find_spec(const char *spec)
{
	const char *top = g_getenv("top_srcdir");

	if (!g_str_has_suffix(spec, ".topo") || g_file_test(spec, G_FILE_TEST_EXISTS))
		return g_strdup(spec);
	return g_build_filename(top ? top : "..", "tests/scenario", spec, NULL);
}

struct scenario *scenario_new_with(const char *spec, const struct sim_config *config,
				   enum runtime_mode mode)
{
	struct scenario *s = g_new0(struct scenario, 1);
	g_autoptr(GError) error = NULL;
	struct topology *topology;

	s->spec = find_spec(spec);
	topology = topology_load(s->spec, &error);
	if (!topology)
		g_error("%s", error->message);
	s->seed = s->random = config->seed;
	s->rt = runtime_new(mode);
	s->text = g_string_new(NULL);
	s->log = log_new_capture(s->text);
	if (mode == RUNTIME_VIRTUAL)
		log_set_clock(s->log, virtual_clock, s->rt);
	s->sim = sim_new(s->rt, s->log, topology, config);
	topology_free(topology);
	sim_start(s->sim);
	s->arguments = g_ptr_array_new_with_free_func(g_free);
	make_directory(s);
	scenario_option(s, "opensm", NULL);
	scenario_option(s, "-F", s->conf);
	if (g_getenv(LOG_VARIABLE)) {
		scenario_option(s, "-D", g_getenv(LOG_VARIABLE));
		log_set_flags(s->log, (unsigned int)strtoul(g_getenv(LOG_VARIABLE), NULL, 0));
	}
	return s;
}

struct scenario *scenario_new(const char *spec, uint64_t seed)
{
	struct sim_config config;

	scenario_config_default(&config, seed);
	return scenario_new_with(spec, &config, RUNTIME_VIRTUAL);
}

void scenario_free(struct scenario *s)
{
	scenario_stop(s);
	sim_free(s->sim);
	log_free(s->log);
	runtime_free(s->rt);
	directory_remove(s->directory);
	g_string_free(s->text, TRUE);
	g_ptr_array_unref(s->arguments);
	g_free(s->directory);
	g_free(s->cache_dir);
	g_free(s->conf);
	g_free(s->spec);
	g_free(s);
}

void scenario_fail(struct scenario *s, const char *format, ...)
{
	const char *tail = s->text->str;
	va_list args;

	if (s->text->len > LOG_TAIL && !g_getenv(LOG_VARIABLE))
		tail = strchr(tail + s->text->len - LOG_TAIL, '\n') + 1;
	fprintf(stderr, "--- end of the log ---\n%s--- FAILED at %.6f s: ", tail,
		(double)runtime_now(s->rt) / (double)NS_PER_S);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n--- again: %s (spec %s, seed %" PRIu64 ")\n",
		s->command ? s->command : g_get_prgname(), s->spec, s->seed);
	abort();
}

/* ---- the daemon ---- */

void scenario_option(struct scenario *s, const char *flag, const char *value)
{
	g_ptr_array_add(s->arguments, g_strdup(flag));
	if (value)
		g_ptr_array_add(s->arguments, g_strdup(value));
}

static bool mentions(const char *text, const char *key)
{
	g_autofree char *line = g_strconcat("\n", key, " ", NULL);

	return strstr(text, line) || g_str_has_prefix(text, line + 1);
}

void scenario_write_conf(const char *file, const char *text)
{
	static const char *const guards[][2] = {
		{"m_key", "0"},
		{"m_key_per_port", "FALSE"},
		{"m_key_protection_level", "0"},
		{"m_key_update_interval", "0"},
		{"sm_key", "0x1"},
		{"sa_key", "0x1"},
		{"allowed_sm_guids", "(null)"},
		{"sm_inactive", "FALSE"},
		{"disconnect_unconfigured_endports", "FALSE"},
		{"hm_ports_health_policy_file", "(null)"},
		{"babbling_port_policy", "FALSE"},
		{"sa_enhanced_trust_model", "FALSE"},
		{"sa_rate_threshold", "0"},
	};
	g_autoptr(GString) whole = g_string_new(text);
	g_autofree char *before = NULL;

	g_file_get_contents(file, &before, NULL, NULL);
	for (unsigned int i = 0; before && i < G_N_ELEMENTS(guards); i++)
		if (mentions(before, guards[i][0]) && !mentions(text, guards[i][0]))
			g_string_append_printf(whole, "%s %s\n", guards[i][0], guards[i][1]);
	g_assert(g_file_set_contents(file, whole->str, -1, NULL));
}

void scenario_conf(struct scenario *s, const char *text)
{
	scenario_write_conf(s->conf, text);
}

void scenario_old_file(const char *file, const char *text)
{
	const int64_t then = g_get_real_time() / G_USEC_PER_SEC - 60;
	struct utimbuf times = {.actime = then, .modtime = then};

	g_assert(g_file_set_contents(file, text, -1, NULL));
	g_assert(g_utime(file, &times) == 0);
}

char *scenario_keys_of_ports(const struct scenario *s, unsigned int level)
{
	g_autofree char *file = g_build_filename(s->directory, "seed", NULL);

	g_assert(g_file_set_contents_full(file, SCENARIO_SEED "\n", -1, 0, 0600, NULL));
	return g_strdup_printf("m_key_per_port TRUE\nm_key_seed_file %s\n"
			       "m_key_protection_level %u\n", file, level);
}

static void on_finished(void *arg, int exit_code)
{
	struct scenario *s = arg;

	if (s->exit_code < 0)
		s->exit_code = exit_code;
}

void scenario_start(struct scenario *s)
{
	g_autoptr(GError) error = NULL;
	enum options_request request;
	struct daemon_config config = {
		.rt = s->rt,
		.log = s->log,
		.cache_dir = s->cache_dir,
		.self_check = true,
	};

	g_assert(!s->daemon);
	s->exit_code = -1;
	if (!options_load(&config.options, &request, (int)s->arguments->len,
			  (char **)s->arguments->pdata, NULL, &error))
		g_error("%s", error->message);
	config.vendor = sim_open(s->sim, s->sm_guid, &error);
	if (!config.vendor)
		g_error("%s", error->message);
	s->sm_guid = vendor_port_guid(config.vendor);
	s->daemon = daemon_new(&config, &error);
	options_unref(config.options);
	if (!s->daemon)
		g_error("%s", error->message);
	daemon_on_finished(s->daemon, on_finished, s);
	if (s->made)
		s->made(s, s->made_arg);
	daemon_start(s->daemon);
}

void scenario_stop(struct scenario *s)
{
	daemon_free(g_steal_pointer(&s->daemon));
}

/* ---- time ---- */

void scenario_run_ms(struct scenario *s, uint64_t ms)
{
	runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + ms * NS_PER_MS);
}

/* The daemon's wrong belief, newly allocated; while a sweep runs belief may change. */
static char *wrong_belief(void *arg)
{
	struct scenario *s = arg;
	char *wrong;

	if (!s->daemon || atomic_load(&daemon_context(s->daemon)->sweep) & SWEEP_FLAG_RUNNING)
		return NULL;
	wrong = scenario_belief_violation(s);
	return wrong ? wrong : scenario_published_violation(s);
}

uint64_t scenario_until_steady(struct scenario *s, unsigned int seconds,
			       const struct scenario_state *state, char **wrong)
{
	uint64_t start = runtime_now(s->rt), good_since = 0, now = start, packets = 0;
	bool good = false, steady = false;

	*wrong = NULL;
	while (now - start <= seconds * NS_PER_S) {
		scenario_run_ms(s, POLL_MS);
		now = MAX(runtime_now(s->rt), now + POLL_MS * NS_PER_MS);
		steady = good && now - good_since >= STEADY_MS * NS_PER_MS;
		if (good && !steady && packets == sim_trace_digest(s->sim))
			continue; /* nothing was logged */
		packets = sim_trace_digest(s->sim);
		g_free(*wrong);
		*wrong = state->wrong(state->arg);
		if (!*wrong && !good)
			good_since = now;
		good = !*wrong;
		if (!good || !steady)
			continue;
		*wrong = state->wrong_at_last ? state->wrong_at_last(state->arg) : NULL;
		if (!*wrong)
			return (good_since - start) / NS_PER_MS;
	}
	if (!*wrong)
		*wrong = g_strdup("never for long");
	return UINT64_MAX;
}

static char *violation(void *s)
{
	return scenario_violation(s);
}

uint64_t scenario_converge(struct scenario *s, unsigned int seconds)
{
	struct scenario_state state = {violation, wrong_belief, s};
	g_autofree char *wrong = NULL;
	uint64_t ms = scenario_until_steady(s, seconds, &state, &wrong);

	if (ms == UINT64_MAX)
		scenario_fail(s, "not converged in %u s: %s", seconds, wrong);
	return ms;
}

struct more {
	struct counters *counters;
	uint64_t n;
};

static bool has_more(void *arg)
{
	const struct more *more = arg;

	return counter_get(more->counters, sweeps_heavy) > more->n;
}

void scenario_heavy_sweep(struct scenario *s, unsigned int seconds)
{
	struct more more = {.counters = &daemon_context(s->daemon)->counters};

	more.n = counter_get(more.counters, sweeps_heavy);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	if (!runtime_run(s->rt, has_more, &more, runtime_now(s->rt) + seconds * NS_PER_S))
		scenario_fail(s, "no heavy sweep in %u s", seconds);
}

/* ---- chance ---- */

unsigned int scenario_random(struct scenario *s, unsigned int n)
{
	return (unsigned int)(random_next(&s->random) % n);
}

static unsigned int random_node(struct scenario *s, uint8_t type)
{
	unsigned int sm = scenario_sm_node(s, NULL), node;
	struct sim_node_view view;

	do {
		node = scenario_random(s, sim_nodes(s->sim));
		sim_node_view(s->sim, node, &view);
	} while (view.type != type || node == sm);
	return node;
}

unsigned int scenario_random_switch(struct scenario *s)
{
	return random_node(s, IBA_NODE_SWITCH);
}

unsigned int scenario_random_host(struct scenario *s)
{
	return random_node(s, IBA_NODE_CA);
}

void scenario_random_link(struct scenario *s, unsigned int *node, unsigned int *port)
{
	struct sim_node_view view;
	unsigned int peer, peer_port;

	for (unsigned int i = 0;; i++) {
		*node = scenario_random_switch(s);
		sim_node_view(s->sim, *node, &view);
		*port = 1 + scenario_random(s, view.num_ports);
		if (!sim_link_up(s->sim, *node, *port) ||
		    !sim_peer(s->sim, *node, *port, &peer, &peer_port))
			continue;
		sim_node_view(s->sim, peer, &view);
		if (view.type == IBA_NODE_SWITCH || i >= LINKS_TRIED)
			return;
	}
}

void scenario_set_links(struct scenario *s, unsigned int node, bool up)
{
	unsigned int peer, peer_port;
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	for (unsigned int port = 1; port <= view.num_ports; port++)
		if (sim_peer(s->sim, node, port, &peer, &peer_port))
			sim_link_set(s->sim, node, port, up);
}

/* ---- looking ---- */

unsigned int scenario_switches(const struct scenario *s)
{
	struct sim_node_view view;
	unsigned int n = 0;

	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		sim_node_view(s->sim, i, &view);
		n += view.type == IBA_NODE_SWITCH && view.up;
	}
	return n;
}

unsigned int scenario_node(const struct scenario *s, const char *description)
{
	int node = sim_find_name(s->sim, description);

	if (node < 0)
		g_error("no node %s in %s", description, s->spec);
	return (unsigned int)node;
}

unsigned int scenario_sm_node(const struct scenario *s, unsigned int *port)
{
	unsigned int node = (unsigned int)sim_find_guid(s->sim, s->sm_guid);
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	for (unsigned int i = 0; port && i <= view.num_ports; i++)
		if (sim_port_guid(s->sim, node, i) == s->sm_guid)
			*port = i;
	return node;
}

uint16_t scenario_lid(const struct scenario *s, unsigned int node)
{
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	return sim_port_info(s->sim, node, view.type == IBA_NODE_SWITCH ? 0 : 1)->lid;
}

uint16_t *scenario_lids(const struct scenario *s)
{
	uint16_t *lids = g_new0(uint16_t, sim_nodes(s->sim));

	for (unsigned int i = 0; i < sim_nodes(s->sim); i++)
		lids[i] = scenario_lid(s, i);
	return lids;
}

struct vendor_address scenario_sa(const struct scenario *s, unsigned int node)
{
	const struct iba_port_info *info = sim_port_info(s->sim, node, 1);

	return (struct vendor_address){
		.lid = info->master_sm_lid,
		.sl = info->master_sm_sl,
		.qpn = IBA_QP1,
		.qkey = IBA_QP1_Q_KEY,
	};
}

bool scenario_is_smp(const uint8_t *data, size_t length, uint8_t method, uint16_t attribute)
{
	return length >= IBA_MAD_BYTES && iba_class_is_smp(data[1]) && data[3] == method &&
	       (data[16] << 8 | data[17]) == attribute;
}

bool scenario_sets_port_info(const uint8_t *data, size_t length, struct iba_port_info *info)
{
	if (!scenario_is_smp(data, length, IBA_METHOD_SET, IBA_ATTR_PORT_INFO))
		return false;
	wire_decode(&iba_port_info_type, data + IBA_SMP_DATA_OFFSET, info);
	return true;
}

struct sim_counters scenario_counters(const struct scenario *s)
{
	struct sim_counters counters;

	sim_counters(s->sim, &counters);
	return counters;
}

void scenario_check(struct scenario *s)
{
	g_autofree char *wrong = scenario_violation(s);

	if (wrong)
		scenario_fail(s, "%s", wrong);
}

void scenario_check_tree(struct scenario *s, uint16_t mlid, const uint64_t *guids, unsigned int n)
{
	g_autofree char *wrong = scenario_tree_violation(s, mlid, guids, n);

	if (wrong)
		scenario_fail(s, "%s", wrong);
}

void scenario_check_log(struct scenario *s, const char *text, bool there)
{
	if ((strstr(s->text->str, text) != NULL) != there)
		scenario_fail(s, "the log %s \"%s\"", there ? "lacks" : "has", text);
}
