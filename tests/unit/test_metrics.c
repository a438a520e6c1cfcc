// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Metrics: the two formats, requests, those of a daemon, and names in the manual and samples. */
#include <check.h>
#include <string.h>

#include "core/counters.h"
#include "ctl/command/command.h"
#include "ctl/metrics/metrics.h"
#include "tests/run_suite.h"
#include "tests/scenario/client.h"
#include "tests/scenario/scenario.h"
#include "vendor/sim_cc.h"

/* ---- text ---- */

static const struct metric a_counter = {"x_data_bytes", METRIC_COUNTER, "bytes", "octets"};
static const struct metric an_info = {"x", METRIC_INFO, "", "names"};
static const struct metric a_time = {"x_seconds", METRIC_HISTOGRAM, "seconds", "times"};

static char *write_text(bool open_metrics)
{
	g_autoptr(GString) labels = g_string_new(NULL);
	struct timing timing = {0};
	struct metrics_text text;
	char *result;

	timing_add(&timing, 1000000);	    /* 1 ms: on the bound */
	timing_add(&timing, 1000001);	    /* above */
	timing_add(&timing, 200000000000u); /* above all */
	metrics_text_init(&text, -1, open_metrics);
	text.created = 1.5;
	metrics_family(&text, &a_counter);
	metrics_number(&text, &a_counter, NULL, UINT64_MAX);
	metrics_family(&text, &an_info);
	metrics_label(labels, "a", "\"\\\n\xff\xc3\xa4");
	metrics_label_guid(labels, "g", 0x12);
	metrics_number(&text, &an_info, labels->str, 1);
	metrics_family(&text, &a_time);
	metrics_timing(&text, &a_time, "k=\"v\"", &timing, 4, 5);
	metrics_text_end(&text);
	result = g_strdup(text.out->str);
	metrics_text_clear(&text);
	return result;
}

#define HISTOGRAM                                                                                  \
	"x_seconds_bucket{k=\"v\",le=\"0.001\"} 1\n"                                               \
	"x_seconds_bucket{k=\"v\",le=\"0.003\"} 2\n"                                               \
	"x_seconds_bucket{k=\"v\",le=\"+Inf\"} 3\n"                                                \
	"x_seconds_sum{k=\"v\"} 200.002000001\n"                                                   \
	"x_seconds_count{k=\"v\"} 3\n"

START_TEST(plain_text)
{
	g_autofree char *text = write_text(false);

	ck_assert_str_eq(text,
			 "# HELP x_data_bytes_total octets\n"
			 "# TYPE x_data_bytes_total counter\n"
			 "x_data_bytes_total 18446744073709551615\n"
			 "# HELP x_info names\n"
			 "# TYPE x_info gauge\n"
			 "x_info{a=\"\\\"\\\\\\\\x0a\\\\xff\xc3\xa4\",g=\"0x0000000000000012\"} 1\n"
			 "# HELP x_seconds times\n"
			 "# TYPE x_seconds histogram\n" HISTOGRAM);
}
END_TEST

START_TEST(open_metrics)
{
	g_autofree char *text = write_text(true);

	ck_assert_str_eq(text,
			 "# HELP x_data_bytes octets\n"
			 "# TYPE x_data_bytes counter\n"
			 "# UNIT x_data_bytes bytes\n"
			 "x_data_bytes_total 18446744073709551615\n"
			 "x_data_bytes_created 1.5\n"
			 "# HELP x names\n"
			 "# TYPE x info\n"
			 "x_info{a=\"\\\"\\\\\\\\x0a\\\\xff\xc3\xa4\",g=\"0x0000000000000012\"} 1\n"
			 "# HELP x_seconds times\n"
			 "# TYPE x_seconds histogram\n"
			 "# UNIT x_seconds seconds\n" HISTOGRAM "x_seconds_created{k=\"v\"} 1.5\n"
			 "# EOF\n");
}
END_TEST

START_TEST(buckets)
{
	for (unsigned int i = 0; i < TIMING_BOUNDS; i++) {
		uint64_t bound = timing_bound_ns(i);

		ck_assert_uint_eq(timing_bucket(bound), i);
		ck_assert_uint_eq(timing_bucket(bound + 1), i + 1);
	}
	ck_assert_uint_eq(timing_bucket(0), 0);
	ck_assert_uint_eq(timing_bucket(UINT64_MAX), TIMING_BOUNDS);
	ck_assert_uint_eq(timing_bound_ns(0), 10000);
	ck_assert_uint_eq(timing_bound_ns(13), UINT64_C(30000000000));
	ck_assert_uint_eq(timing_bound_ns(14), UINT64_C(100000000000));
}
END_TEST

/* ---- requests ---- */

static const struct {
	const char *words, *why; /* "": it is fine */
} requests[] = {
	{"", ""},
	{"--openmetrics", ""},
	{"all openmetrics shard=8/8 guid=0x1 guid=2 scope=hosts group=a", ""},
	{"ports", "'ports': expected off, daemon, "},
	{"all shard=0/2", "shard=0/2: expected I/N"},
	{"all shard=3/2", "shard=3/2: expected I/N"},
	{"all shard=1/1025", "shard=1/1025: expected I/N"},
	{"all shard=1/2/3", "shard=1/2/3: expected I/N"},
	{"all shard=", "shard=: expected I/N"},
	{"all guid=0", "guid=0: expected 0x"},
	{"all guid=0x12345678123456781", "guid=0x12345678123456781: expected 0x"},
	{"all scope=ports", "scope=ports: expected all, "},
	{"all group=", "group=: expected the name"},
	{"shard=1/2", "shard=, guid=, scope= and group= choose ports"},
	{"off guid=1", "shard=, guid=, scope= and group= choose ports"},
};

START_TEST(words_of_a_request)
{
	g_auto(GStrv) words = g_strsplit(requests[_i].words, " ", -1);
	struct metrics_request request;
	g_autofree char *why = metrics_request_parse(&request, words);

	if (*requests[_i].why)
		ck_assert_msg(why && g_str_has_prefix(why, requests[_i].why), "%s", why);
	else
		ck_assert_msg(!why, "%s", why);
	metrics_request_clear(&request);
}
END_TEST

/* ---- names ---- */

static char *sample_name(const struct metric *metric)
{
	return g_strconcat(metric->name, metric_suffix(metric), NULL);
}

/* Names of samples, as the text format has them. */
static GHashTable *all_names(void)
{
	static const char *const parts[] = {"_bucket", "_sum", "_count"};
	GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const struct metric *metric;

	for (unsigned int i = 0; (metric = metric_at(i)); i++) {
		ck_assert_msg(g_hash_table_add(names, sample_name(metric)), "%s is there twice",
			      metric->name);
		for (unsigned int j = 0; metric->type == METRIC_HISTOGRAM && j < 3; j++)
			g_hash_table_add(names, g_strconcat(metric->name, parts[j], NULL));
	}
	return names;
}

/* A name with a colon is that of a recording rule. Returns how many names of metrics there are. */
static unsigned int check_names(const char *file, GHashTable *names)
{
	g_autofree char *path = g_build_filename(SOURCE_DIR, file, NULL);
	g_autoptr(GRegex) regex = g_regex_new("(?<![\\w:/.-])(opensm|infiniband|process)_[a-z0-9_]+"
					      "(?![\\w:])",
					      0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	g_autofree char *text = NULL;
	unsigned int n = 0;

	ck_assert_msg(g_file_get_contents(path, &text, NULL, NULL), "%s", path);
	for (g_regex_match(regex, text, 0, &match); g_match_info_matches(match);
	     g_match_info_next(match, NULL), n++) {
		g_autofree char *name = g_match_info_fetch(match, 0);

		if (strcmp(name, "infiniband_exporter") != 0)
			ck_assert_msg(g_hash_table_contains(names, name), "%s: %s", file, name);
	}
	return n;
}

START_TEST(names_in_samples)
{
	g_autoptr(GHashTable) names = all_names();

	ck_assert_uint_gt(check_names("config/samples/opensm.rules.yml", names), 25);
	ck_assert_uint_gt(check_names("config/samples/opensm-dashboard.json", names), 30);
	ck_assert_uint_gt(check_names("man/opensm-metrics.5", names), 100);
}
END_TEST

/* Each has an entry, and its help is there. */
START_TEST(names_in_the_manual)
{
	g_autofree char *path = g_build_filename(SOURCE_DIR, "man/opensm-metrics.5", NULL);
	g_autofree char *text = NULL;
	const struct metric *metric;

	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	for (unsigned int i = 0; (metric = metric_at(i)); i++) {
		g_autofree char *name = sample_name(metric);
		g_autofree char *item = g_strdup_printf("\n.It Ic %s\n", name);
		const char *entry = strstr(text, item), *end;
		g_autofree char *part = NULL;

		ck_assert_msg(entry, "%s", name);
		end = strstr(strstr(entry + 1, ".\n"), "\n.It");
		part = end ? g_strndup(entry, (gsize)(end - entry)) : g_strdup(entry);
		ck_assert_msg(strstr(part, metric->help + 1), "%s: no \"%s\" in%s", name,
			      metric->help, part);
	}
}
END_TEST

/* ---- of a daemon ---- */

static struct scenario *s;
static struct command_env env;

static void make_journal(struct scenario *scenario, void *arg)
{
	(void)arg;
	env.daemon = scenario->daemon;
	env.journal = journal_new(scenario->daemon);
	env.sim = scenario->sim;
}

static void start(void)
{
	s = scenario_new("fattree:4", 1);
	scenario_option(s, "--perfmgr", NULL);
	s->made = make_journal;
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_run_ms(s, 20000);
}

static void stop(void)
{
	scenario_stop(s);
	journal_free(env.journal);
	scenario_free(s);
}

static char *run(const char *line)
{
	struct command_answer answer;

	command_run(&env, line, true, &answer);
	ck_assert_msg(answer.work, "%s: %s", line, answer.text);
	g_free(answer.text);
	while (!command_work_is_done(answer.work))
		scenario_run_ms(s, 1);
	command_answer_work(answer.work, &answer);
	ck_assert(!answer.failed);
	return answer.text;
}

static void expect(const char *text, const char *line)
{
	ck_assert_msg(strstr(text, line), "no \"%s\" in %s", line, text);
}

START_TEST(of_the_daemon)
{
	struct counters *counters = &daemon_context(s->daemon)->counters;
	uint64_t sent = counter_get(counters, smp_sent);
	struct client *client = client_new(s, scenario_node(s, "host-7"));
	struct iba_path_record path;
	g_autofree char *text = NULL;

	ck_assert_int_eq(client_path(client, client_guid(client), &path), 0);
	client_free(client);
	sent = counter_get(counters, smp_sent);
	text = run("metrics");
	ck_assert_uint_eq(counter_get(counters, smp_sent), sent);
	ck_assert_uint_lt(strlen(text), 100000);
	expect(text, "\nopensm_sm_state{state=\"master\"} 1\n");
	expect(text, "\nopensm_sm_state{state=\"standby\"} 0\n");
	expect(text, "\nopensm_subnet_up 1\n");
	expect(text, "\nopensm_nodes{type=\"switch\"} 20\n");
	expect(text, "\nopensm_nodes{type=\"ca\"} 16\n");
	expect(text, "\nopensm_ports{state=\"active\"} 96\n");
	expect(text, "\nopensm_links{state=\"ok\"} 48\n");
	expect(text, "\nopensm_lids_used 36\n");
	expect(text, "\n# TYPE opensm_smp_waiting gauge\nopensm_smp_waiting 0\n");
	expect(text, "\n# TYPE opensm_sweeps_heavy_total counter\nopensm_sweeps_heavy_total 1\n");
	expect(text, "\nopensm_sweep_duration_seconds_count{kind=\"heavy\"} 1\n");
	expect(text, "\nopensm_sweep_step_duration_seconds_count{step=\"discover\"} 1\n");
	expect(text, "\nopensm_smp_round_trip_seconds_count{route=\"directed\"} ");
	expect(text, "\nopensm_smp_round_trip_seconds_count{route=\"lid\"} ");
	expect(text, "\nopensm_sa_request_duration_seconds_count{attribute=\"PathRecord\"} 1\n");
	expect(text, "\nopensm_sa_requests_total{attribute=\"PathRecord\",result=\"ok\"} 1\n");
	expect(text, "\nopensm_known_sms{state=\"standby\"} 0\n");
	expect(text, "\nopensm_routing_duration_seconds ");
	expect(text, "\nopensm_events_total{kind=\"state\"} 2\n");
	expect(text, "\nopensm_events_total{kind=\"link\"} 0\n");
	expect(text, "\n# TYPE opensm_fabric_transmit_data_bytes_total counter\n");
	expect(text, "\nopensm_fabric_symbol_error_total 0\n");
	ck_assert_ptr_null(strstr(text, "opensm_config_last_reload_timestamp_seconds"));
	expect(text, "\nopensm_insecure{check=\"m_key\"} 1\n");
	expect(text, "\nopensm_insecure{check=\"console\"} 0\n");
	expect(text, "\nopensm_perf_agents{state=\"answers\"} 36\n");
	expect(text, "\nopensm_metrics_incomplete 0\n");
	expect(text, "\nprocess_open_fds ");
}
END_TEST

/* What the SA refused, a link that went down, and files read again. */
START_TEST(what_happened)
{
	struct client *client = client_new(s, scenario_node(s, "host-7"));
	struct command_answer answer;
	struct iba_path_record path;
	g_autofree char *text = NULL;

	ck_assert_int_ne(client_path(client, 0x77, &path), 0);
	client_free(client);
	command_run(&env, "sim unlink leaf-0-0 3", true, &answer);
	g_free(answer.text);
	scenario_converge(s, 10);
	daemon_reread_logged(s->daemon);
	scenario_run_ms(s, 1000);
	text = run("metrics");
	expect(text, "\nopensm_sa_requests_total{attribute=\"PathRecord\",result=\"");
	ck_assert_ptr_null(strstr(text, "attribute=\"PathRecord\",result=\"ok\""));
	expect(text, "\nopensm_events_total{kind=\"link\"} 1\n");
	expect(text, "\nopensm_events_total{kind=\"options\"} 1\n");
	expect(text, "\nopensm_config_last_reload_timestamp_seconds ");
}
END_TEST

/* Values by name and labels of all counters, and of the counts of histograms. */
static GHashTable *counters_of(const char *line)
{
	GHashTable *values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_autofree char *text = run(line);
	g_auto(GStrv) rows = g_strsplit(text, "\n", -1);
	bool counts = false;

	for (char **row = rows; **row; row++) {
		char *value = strrchr(*row, ' ') + 1;

		if (g_str_has_prefix(*row, "# TYPE "))
			counts = !strcmp(value, "counter") || !strcmp(value, "histogram");
		if (**row == '#' || !counts)
			continue;
		value[-1] = '\0';
		g_hash_table_insert(values, g_strdup(*row), g_strdup(value));
	}
	return values;
}

/* Returns the counters of line, which are not below those of before. */
static GHashTable *counters_above(GHashTable *before, const char *line, const char *since)
{
	GHashTable *after = counters_of(line);
	GHashTableIter iter;
	void *name, *value;

	g_hash_table_iter_init(&iter, before);
	while (g_hash_table_iter_next(&iter, &name, &value)) {
		const char *now = g_hash_table_lookup(after, name);

		ck_assert_msg(now, "%s: no %s", since, (char *)name);
		ck_assert_msg(g_ascii_strtod(now, NULL) >= g_ascii_strtod(value, NULL),
			      "%s: %s fell from %s to %s", since, (char *)name, (char *)value, now);
	}
	g_hash_table_unref(before);
	return after;
}

/* What the daemon is told to do, or sees, takes no counter back. */
START_TEST(counters_only_grow)
{
	static const char *const lines[] = {
		"perfmgr sweep",	  "perfmgr sweep",	   "perfmgr clear_counters",
		"sim unlink leaf-0-0 3",  "perfmgr sweep",	   "sim link leaf-0-0 3",
		"perfmgr clear_inactive", "resweep heavy",	   "reroute",
		"perfmgr sweep",	  "perfmgr clear_counters"};
	GHashTable *counters;

	counters = counters_of("metrics");
	ck_assert_uint_gt(g_hash_table_size(counters), 100);
	for (unsigned int i = 0; i < G_N_ELEMENTS(lines); i++) {
		struct command_answer answer;

		command_run(&env, lines[i], true, &answer);
		ck_assert_msg(!answer.failed, "%s: %s", lines[i], answer.text);
		g_free(answer.text);
		scenario_run_ms(s, 20);
		counters = counters_above(counters, "metrics", lines[i]);
		scenario_run_ms(s, 3000);
		counters = counters_above(counters, "metrics", lines[i]);
	}
	scenario_conf(s, "perfmgr_sweep_time_s 1\nperfmgr_max_outstanding_queries 1\n");
	ck_assert(daemon_reread_logged(s->daemon));
	scenario_run_ms(s, 5000);
	g_hash_table_unref(counters_above(counters, "metrics", "options"));
	counters = counters_of("metrics all");
	for (unsigned int i = 0; i < 3; i++) {
		scenario_run_ms(s, 2000);
		counters = counters_above(counters, "metrics all", "sweeps");
	}
	ck_assert_uint_gt(g_hash_table_size(counters), 1000);
	g_hash_table_unref(counters);
}
END_TEST

/* A node has one name, however it calls itself and wherever it is told. */
START_TEST(one_name)
{
	static const char told[] = "a\\xff\\xe2\\x80\\xae\\x0a b";
	static const char escaped[] = "\"a\\\\xff\\\\xe2\\\\x80\\\\xae\\\\x0a b\"";
	g_autofree char *metrics_text = NULL;
	struct command_answer answer;

	ck_assert(sim_set_description(s->sim, scenario_node(s, "host-1"), "a\xff\xe2\x80\xae\n b"));
	command_run(&env, "update_desc", true, &answer);
	g_free(answer.text);
	scenario_run_ms(s, 3000);
	command_run(&env, "perfmgr sweep", true, &answer);
	g_free(answer.text);
	scenario_run_ms(s, 3000);
	metrics_text = run("metrics all");
	expect(metrics_text, escaped);
	command_run(&env, "path host-0 0x200000000000201", true, &answer);
	expect(answer.text, told);
	g_free(answer.text);
}
END_TEST

/* Nothing of congestion control until it has been on. */
START_TEST(of_congestion_control)
{
	g_autofree char *before = run("metrics"), *after = NULL;
	const struct sim_cc_event event = {.slid = 1, .dlid = 2};

	ck_assert_ptr_null(strstr(before, "opensm_cc_"));
	scenario_conf(s, "perfmgr TRUE\ncongestion_control TRUE\ncc_profile standard\n"
			 "cc_log_poll 10\n");
	ck_assert(daemon_reread_logged(s->daemon));
	scenario_run_ms(s, 3000);
	ck_assert(sim_cc_event(s->sim, scenario_node(s, "leaf-0-0"), 1, &event, 3));
	scenario_run_ms(s, 12000);
	after = run("metrics");
	expect(after, "\nopensm_cc_ports{state=\"right\",type=\"switch\"} 20\n");
	expect(after, "\nopensm_cc_ports{state=\"right\",type=\"ca\"} 16\n");
	expect(after, "\nopensm_cc_ports{state=\"locked\",type=\"ca\"} 0\n");
	expect(after, "\nopensm_cc_round_mads ");
	expect(after, "\nopensm_cc_round_seconds ");
	expect(after, "\nopensm_cc_wrong_key_traps_total 0\n");
	expect(after, "\nopensm_cc_log_events_total{type=\"switch\"} 3\n");
	expect(after, "\nopensm_cc_log_events_total{type=\"ca\"} 0\n");
}
END_TEST

/* Every name is one of the table, every family is one block, and none is told twice. */
START_TEST(families)
{
	static const char *const lines[] = {"metrics", "metrics all", "metrics traffic"};
	g_autoptr(GHashTable) names = all_names();

	for (unsigned int i = 0; i < G_N_ELEMENTS(lines); i++) {
		g_autoptr(GHashTable) told =
			g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
		g_autoptr(GHashTable) samples = g_hash_table_new(g_str_hash, g_str_equal);
		g_autofree char *text = run(lines[i]), *family = g_strdup("");
		g_auto(GStrv) rows = g_strsplit(text, "\n", -1);

		for (char **row = rows; **row; row++) {
			g_auto(GStrv) parts = g_strsplit_set(*row, " {", 4);

			if (g_str_has_prefix(*row, "# TYPE ")) {
				g_free(family);
				family = g_strdup(parts[2]);
				ck_assert_msg(g_hash_table_add(told, g_strdup(family)), "%s", *row);
			} else if (**row != '#') {
				gsize n = (gsize)(strrchr(*row, ' ') - *row);

				ck_assert_msg(g_str_has_prefix(*row, family), "%s", *row);
				ck_assert_msg(g_hash_table_contains(names, parts[0]), "%s", *row);
				(*row)[n] = '\0';
				ck_assert_msg(g_hash_table_add(samples, *row), "%s twice", *row);
			}
		}
		ck_assert_uint_gt(g_hash_table_size(told), 10);
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("metrics");
	TCase *text = tcase_create("text"), *daemon = tcase_create("daemon");

	tcase_add_test(text, plain_text);
	tcase_add_test(text, open_metrics);
	tcase_add_test(text, buckets);
	tcase_add_loop_test(text, words_of_a_request, 0, G_N_ELEMENTS(requests));
	tcase_add_test(text, names_in_samples);
	tcase_add_test(text, names_in_the_manual);
	suite_add_tcase(suite, text);
	tcase_set_timeout(daemon, 60);
	tcase_add_checked_fixture(daemon, start, stop);
	tcase_add_test(daemon, of_the_daemon);
	tcase_add_test(daemon, what_happened);
	tcase_add_test(daemon, counters_only_grow);
	tcase_add_test(daemon, one_name);
	tcase_add_test(daemon, of_congestion_control);
	tcase_add_test(daemon, families);
	suite_add_tcase(suite, daemon);
	return suite;
}
