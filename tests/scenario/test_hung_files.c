// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files of the site on a server that does not answer: open() and stat() of them hang, here through
 * functions of the same names that replace those of the C library. The loop of the daemon goes on,
 * a client that asks for the files gets an error, and their contents are used once they can be
 * read. This also holds for the directory of saved files: sweeps go on, and what was promised to be
 * saved waits.
 */
#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ctl/command/command.h"
#include "ctl/console/console.h"
#include "ctl/process/log_rotation.h"
#include "scenario.h"
#include "subnet/subnet.h"
#include "tests/run_suite.h"

#define SITE ".site" /* names with this end are on that server */
#define STALL_MS 1000 /* more than the daemon blocks on a busy machine */
#define HANG_MS 3000

static atomic_bool hangs;
static const char *_Atomic hung_directory; /* with everything in it; NULL: none */

static bool is_hung(const char *file)
{
	const char *directory = atomic_load(&hung_directory);

	return (atomic_load(&hangs) && strstr(file, SITE)) ||
	       (directory && g_str_has_prefix(file, directory));
}

static void hang(const char *file)
{
	while (is_hung(file))
		usleep(1000);
}

int open(const char *file, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	hang(file);
	return (int)syscall(SYS_openat, AT_FDCWD, file, flags, mode);
}

/* As GLib calls it. */
int open64(const char *file, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	hang(file);
	return (int)syscall(SYS_openat, AT_FDCWD, file, flags, mode);
}

int stat(const char *file, struct stat *st)
{
	hang(file);
	return (int)syscall(SYS_newfstatat, AT_FDCWD, file, st, 0);
}

int lstat(const char *file, struct stat *st)
{
	hang(file);
	return (int)syscall(SYS_newfstatat, AT_FDCWD, file, st, AT_SYMLINK_NOFOLLOW);
}

/* ---- a daemon on threads, with a loop ---- */

static const struct {
	enum daemon_files files;
	const char *name, *option, *before, *after;
} kinds[] = {
	{DAEMON_PARTITIONS, "partitions" SITE, "partition_config_file",
	 "Default=0x7fff,ipoib:ALL=full;\n", "Default=0x7fff,ipoib:ALL=full;A=0x11:ALL=full;\n"},
	{DAEMON_QOS, "qos" SITE, "qos_policy_file", "qos-ulps\ndefault: 0\nend-qos-ulps\n",
	 "qos-ulps\ndefault: 1\nend-qos-ulps\n"},
	{DAEMON_PREFIX_ROUTES, "prefix" SITE, "prefix_routes_file", "* 1\n", "* 2\n"},
	{DAEMON_ROUTE_FILES, "roots" SITE, "root_guid_file", "0x1\n", "0x2\n"},
	{DAEMON_PORTS_POLICY, "ports" SITE, "hm_ports_health_policy_file", "flapping ca report\n",
	 "flapping ca ignore\n"},
	{DAEMON_PERF_RULES, "rules" SITE, "perfmgr_rules_file", "VL15Dropped all info 1 in 1\n",
	 "VL15Dropped all info 2 in 1\n"},
};

struct bed {
	struct scenario *s;
	char *files[G_N_ELEMENTS(kinds)];
	GString *conf;
	char *conf_file, *more; /* more: text added to it; NULL: none */
	struct console *console;
};

static void put(struct bed *bed, bool after)
{
	g_string_truncate(bed->conf, 0);
	g_string_append_printf(bed->conf, "qos TRUE\nsubnet_timeout %u\n%s", after ? 16 : 17,
			       bed->more ? bed->more : "");
	for (unsigned int i = 0; i < G_N_ELEMENTS(kinds); i++) {
		scenario_old_file(bed->files[i], after ? kinds[i].after : kinds[i].before);
		g_string_append_printf(bed->conf, "%s %s\n", kinds[i].option, bed->files[i]);
	}
	scenario_old_file(bed->conf_file, bed->conf->str);
}

static void bed_make(struct bed *bed)
{
	struct sim_config config;

	*bed = (struct bed){0};
	scenario_config_default(&config, 1);
	bed->s = scenario_new_with("fattree:4", &config, RUNTIME_REAL);
	bed->conf = g_string_new(NULL);
	bed->conf_file = g_build_filename(bed->s->directory, "opensm" SITE, NULL);
	for (unsigned int i = 0; i < G_N_ELEMENTS(kinds); i++)
		bed->files[i] = g_build_filename(bed->s->directory, kinds[i].name, NULL);
}

static void bed_start(struct bed *bed)
{
	put(bed, false);
	scenario_option(bed->s, "-F", bed->conf_file);
	scenario_start(bed->s);
}

static void bed_init(struct bed *bed)
{
	bed_make(bed);
	bed_start(bed);
}

static void bed_clear(struct bed *bed)
{
	atomic_store(&hangs, false);
	atomic_store(&hung_directory, NULL);
	scenario_free(bed->s);
	for (unsigned int i = 0; i < G_N_ELEMENTS(kinds); i++)
		g_free(bed->files[i]);
	g_string_free(bed->conf, TRUE);
	g_free(bed->conf_file);
	g_free(bed->more);
}

/* Runs the loop; the longest time in ms that one turn of it took. */
static int64_t run_loop(unsigned int ms)
{
	int64_t end = g_get_monotonic_time() + ms * 1000, longest = 0;

	while (g_get_monotonic_time() < end) {
		int64_t began = g_get_monotonic_time();

		if (!g_main_context_iteration(NULL, FALSE))
			usleep(1000);
		longest = MAX(longest, g_get_monotonic_time() - began);
	}
	return longest / 1000;
}

static bool is_master(const struct bed *bed)
{
	return atomic_load(&daemon_context(bed->s->daemon)->sm_state) == IBA_SM_MASTER;
}

static void until_master(const struct bed *bed)
{
	for (unsigned int i = 0; i < 600 && !is_master(bed); i++)
		run_loop(100);
	ck_assert(is_master(bed));
	run_loop(500);
}

static unsigned int subnet_timeout(const struct bed *bed)
{
	struct options *options = slot_take(&daemon_context(bed->s->daemon)->options);
	unsigned int value = options->subnet_timeout;

	options_unref(options);
	return value;
}

/* SIGHUP, as main() handles it; returns its ms. */
static int64_t hangup(struct bed *bed)
{
	int64_t began = g_get_monotonic_time();

	daemon_reread_logged(bed->s->daemon);
	daemon_sweep(bed->s->daemon, SWEEP_HEAVY);
	return (g_get_monotonic_time() - began) / 1000;
}

/* ---- tests ---- */

START_TEST(goes_on)
{
	struct bed bed;
	struct command_env env = {0};
	struct command_answer answer;
	g_autoptr(GError) error = NULL;
	int64_t began;

	bed_init(&bed);
	until_master(&bed);
	put(&bed, true);
	atomic_store(&hangs, true);
	ck_assert_int_lt(hangup(&bed), STALL_MS);
	ck_assert_int_lt(hangup(&bed), STALL_MS / 4); /* it no longer waits */
	ck_assert_int_lt(run_loop(HANG_MS), STALL_MS);
	began = g_get_monotonic_time();
	ck_assert(!daemon_reread_partitions(bed.s->daemon));
	ck_assert(!daemon_plan(bed.s->daemon, NULL, 3, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "cannot be read"));
	ck_assert_int_lt((g_get_monotonic_time() - began) / 1000, STALL_MS);
	/* All are named, and nothing has changed. */
	env.daemon = bed.s->daemon;
	command_run(&env, "health", true, &answer);
	ck_assert_msg(strstr(answer.text, "opensm" SITE " cannot be read: waited"), "%s",
		      answer.text);
	for (unsigned int i = 0; i < G_N_ELEMENTS(kinds); i++) {
		const struct refusal *refusal = daemon_refusal(bed.s->daemon, kinds[i].files);

		if (kinds[i].files == DAEMON_ROUTE_FILES ||
		    kinds[i].files == DAEMON_PORTS_POLICY || kinds[i].files == DAEMON_PERF_RULES)
			continue; /* these wait for opensm.conf, which names them */
		ck_assert_msg(refusal->why && strstr(refusal->why, "cannot be read: waited") &&
				      strstr(refusal->why, kinds[i].name),
			      "%s: %s", kinds[i].name, refusal->why);
		ck_assert_ptr_nonnull(strstr(answer.text, kinds[i].name));
	}
	g_free(answer.text);
	ck_assert_uint_eq(subnet_timeout(&bed), 17);
	/* A late answer counts. */
	atomic_store(&hangs, false);
	for (unsigned int i = 0; i < 300 && subnet_timeout(&bed) != 16; i++)
		run_loop(100);
	ck_assert_uint_eq(subnet_timeout(&bed), 16);
	run_loop(500);
	for (unsigned int i = 0; i < DAEMON_FILES; i++)
		ck_assert_msg(!daemon_refusal(bed.s->daemon, i)->why, "%s",
			      daemon_refusal(bed.s->daemon, i)->why);
	command_run(&env, "partitions", true, &answer);
	ck_assert_msg(strstr(answer.text, "0x0011"), "%s", answer.text);
	g_free(answer.text);
	bed_clear(&bed);
}
END_TEST

/* One file that hangs does not affect the others. */
START_TEST(one_of_them)
{
	struct bed bed;

	bed_init(&bed);
	until_master(&bed);
	put(&bed, true);
	atomic_store(&hangs, true);
	ck_assert(!daemon_reread_partitions(bed.s->daemon));
	/* Files that are not on the server are read as usual. */
	ck_assert_int_lt(run_loop(HANG_MS), STALL_MS);
	ck_assert_ptr_nonnull(daemon_refusal(bed.s->daemon, DAEMON_PARTITIONS)->why);
	ck_assert_ptr_null(daemon_refusal(bed.s->daemon, DAEMON_QOS)->why);
	bed_clear(&bed);
}
END_TEST

/* A sweep that checks files by itself is not held up, and the daemon ends while they hang. */
START_TEST(ends_meanwhile)
{
	struct bed bed;
	int64_t began;

	bed_init(&bed);
	until_master(&bed);
	atomic_store(&hangs, true);
	event_emit(&daemon_context(bed.s->daemon)->bus, EVENT_SWEEP_WANTED, SWEEP_HEAVY);
	ck_assert_int_lt(run_loop(1500), STALL_MS);
	began = g_get_monotonic_time();
	scenario_stop(bed.s);
	ck_assert_int_lt((g_get_monotonic_time() - began) / 1000, HANG_MS);
	atomic_store(&hangs, false);
	usleep(100 * 1000); /* the abandoned work ends on its own */
	bed_clear(&bed);
}
END_TEST

/* ---- the certificate of the console ---- */

static void open_console(struct scenario *s, void *arg)
{
	struct bed *bed = arg;
	g_autoptr(GError) error = NULL;

	bed->console = console_new(s->daemon, NULL, NULL, &error);
	ck_assert(bed->console != NULL);
}

/* Files without a certificate, which are refused when they are read: what matters is when. */
static void with_certificate(struct bed *bed)
{
	g_autofree char *cert = g_build_filename(bed->s->directory, "cert" SITE, NULL);
	g_autofree char *key = g_build_filename(bed->s->directory, "key" SITE, NULL);

	ck_assert(g_file_set_contents(cert, "no certificate\n", -1, NULL));
	ck_assert(g_file_set_contents_full(key, "no key\n", -1, 0, 0600, NULL));
	bed->more = g_strdup_printf("console socket\nconsole_port 10019\nconsole_tls_cert %s\n"
				    "console_tls_key %s\n",
				    cert, key);
	bed->s->made = open_console;
	bed->s->made_arg = bed;
}

static bool console_is_refused(const struct bed *bed, const char *why)
{
	const struct refusal *refusal = daemon_refusal(bed->s->daemon, DAEMON_CONSOLE);

	return refusal->why && strstr(refusal->why, why);
}

START_TEST(certificate)
{
	struct bed bed;
	int64_t began;

	bed_make(&bed);
	with_certificate(&bed);
	bed_start(&bed);
	until_master(&bed);
	ck_assert(console_is_refused(&bed, "console_tls_cert: "));
	atomic_store(&hangs, true);
	for (unsigned int i = 0; i < 2; i++) { /* the second time one is outstanding */
		began = g_get_monotonic_time();
		console_listen_again(bed.console);
		ck_assert_int_lt((g_get_monotonic_time() - began) / 1000, STALL_MS);
	}
	ck_assert_int_lt(run_loop(HANG_MS), STALL_MS);
	ck_assert(console_is_refused(&bed, "cert" SITE));
	ck_assert(console_is_refused(&bed, "cannot be read: waited 2 s"));
	atomic_store(&hangs, false);
	for (unsigned int i = 0; i < 50 && console_is_refused(&bed, "waited"); i++)
		run_loop(100);
	ck_assert(console_is_refused(&bed, "console_tls_cert: "));
	ck_assert(!console_is_refused(&bed, "waited"));
	/* The daemon ends while they hang. */
	run_loop(200);
	atomic_store(&hangs, true);
	console_listen_again(bed.console);
	began = g_get_monotonic_time();
	daemon_stop(bed.s->daemon);
	console_free(bed.console);
	scenario_stop(bed.s);
	ck_assert_int_lt((g_get_monotonic_time() - began) / 1000, HANG_MS);
	atomic_store(&hangs, false);
	usleep(100 * 1000); /* the abandoned work ends on its own */
	bed_clear(&bed);
}
END_TEST

/* ---- the log ---- */

static bool has_text(const char *file, const char *what)
{
	g_autofree char *text = NULL;

	return !is_hung(file) && g_file_get_contents(file, &text, NULL, NULL) &&
	       strstr(text, what);
}

/* The log's name, after the file was moved; lines go to the moved file until there is a new one. */
START_TEST(log_is_moved)
{
	struct bed bed;
	g_autofree char *file = NULL, *moved = NULL;
	struct log_config config = {.flags = LOG_ERROR | LOG_INFO};
	struct log_rotation *rotation;
	struct log *log;
	int64_t began;

	bed_init(&bed);
	until_master(&bed);
	config.file = file = g_build_filename(bed.s->directory, "log" SITE, NULL);
	moved = g_build_filename(bed.s->directory, "log.1", NULL);
	log = log_new(&config, NULL);
	log_start_writer(log);
	rotation = log_rotation_new(log, daemon_actor(bed.s->daemon));
	ck_assert_int_eq(rename(file, moved), 0);
	atomic_store(&hangs, true);
	for (unsigned int i = 0; i < 2; i++) { /* the second time one is outstanding */
		began = g_get_monotonic_time();
		log_rotation_ask(rotation);
		ck_assert_int_lt((g_get_monotonic_time() - began) / 1000, STALL_MS);
	}
	log_info(log, "meanwhile");
	ck_assert_int_lt(run_loop(HANG_MS), STALL_MS);
	ck_assert(has_text(moved, "meanwhile"));
	ck_assert(has_text(moved, "waited 2 s; lines still go to the old file"));
	ck_assert(log_is_astray(log));
	atomic_store(&hangs, false);
	for (unsigned int i = 0; i < 50 && log_is_astray(log); i++)
		run_loop(100);
	ck_assert(!log_is_astray(log));
	run_loop(200);
	log_info(log, "in the new one");
	run_loop(200);
	ck_assert(has_text(file, "in the new one") && !has_text(moved, "in the new one"));
	/* The daemon ends while it hangs. */
	atomic_store(&hangs, true);
	log_rotation_ask(rotation);
	began = g_get_monotonic_time();
	daemon_stop(bed.s->daemon);
	log_rotation_free(rotation);
	log_free(log);
	scenario_stop(bed.s);
	ck_assert_int_lt((g_get_monotonic_time() - began) / 1000, HANG_MS);
	atomic_store(&hangs, false);
	usleep(100 * 1000); /* the abandoned work ends on its own */
	bed_clear(&bed);
}
END_TEST

/* ---- the directory of saved files ---- */

static uint32_t nodes_up(const struct bed *bed)
{
	struct subnet *subnet = slot_take(&daemon_context(bed->s->daemon)->subnet);
	uint32_t n = 0;

	for (uint32_t i = 0; subnet && i < subnet->fabric->n_ports; i++)
		n += fabric_is_endport(subnet->fabric, i) && subnet->fabric->ports[i].lid;
	subnet_unref(subnet);
	return n;
}

static void power_on(struct sim *sim, void *arg)
{
	sim_node_set(sim, *(unsigned int *)arg, true);
}

/* ms until n nodes are up. */
static int64_t until_up(const struct bed *bed, uint32_t n)
{
	int64_t began = g_get_monotonic_time();

	while (nodes_up(bed) < n && g_get_monotonic_time() - began < 20 * G_USEC_PER_SEC)
		ck_assert_int_lt(run_loop(50), STALL_MS);
	ck_assert_uint_eq(nodes_up(bed), n);
	return (g_get_monotonic_time() - began) / 1000;
}

static char *ask(const struct bed *bed, const char *line, bool good)
{
	const struct command_env env = {.daemon = bed->s->daemon};
	struct command_answer answer;

	command_run(&env, line, true, &answer);
	ck_assert_msg(answer.failed != good, "%s: %s", line, answer.text);
	return answer.text;
}

static bool keeps(const struct bed *bed, const char *name, const char *what)
{
	g_autofree char *file = g_build_filename(bed->s->cache_dir, name, NULL), *text = NULL;

	return g_file_get_contents(file, &text, NULL, NULL) && strstr(text, what);
}

/*
 * New ports get keys once the files that help to find them are written, or after two seconds. What
 * an operator was promised to be saved does not take effect before it is.
 */
START_TEST(remembered)
{
	struct bed bed;
	unsigned int hosts[2];
	g_autofree char *first = NULL, *second = NULL, *third = NULL, *wrong = NULL;
	uint64_t serial;

	bed_make(&bed);
	bed.more = scenario_keys_of_ports(bed.s, 1);
	for (unsigned int i = 0; i < G_N_ELEMENTS(hosts); i++) {
		hosts[i] = scenario_node(bed.s, i ? "host-9" : "host-7");
		sim_node_set(bed.s->sim, hosts[i], false);
	}
	bed_start(&bed);
	until_master(&bed);
	until_up(&bed, 34);
	run_loop(500);
	atomic_store(&hung_directory, bed.s->cache_dir);
	sim_call(bed.s->sim, power_on, &hosts[0]);
	ck_assert_int_ge(until_up(&bed, 35), 1500);
	sim_call(bed.s->sim, power_on, &hosts[1]);
	ck_assert_int_lt(until_up(&bed, 36), 1500); /* it hangs: nothing waits a second time */
	serial = daemon_partitions_serial(bed.s->daemon) + 1;
	first = ask(&bed, "partitions change 0x33: 0x7=full;", true);
	ck_assert_int_lt(run_loop(500), STALL_MS);
	ck_assert(!daemon_partitions_settled(bed.s->daemon, serial));
	ck_assert_uint_lt(daemon_partitions_serial(bed.s->daemon), serial);
	/* further requests wait for it, and are then written together */
	second = ask(&bed, "partitions change 0x34: 0x7=full;", true);
	wrong = ask(&bed, "partitions change strict 0x7fff: 0x7=full;", false);
	third = ask(&bed, "partitions change merge 0x34: 0x8=full;", true);
	atomic_store(&hung_directory, NULL);
	for (unsigned int i = 0; i < 50 && !daemon_partitions_settled(bed.s->daemon, serial + 2);
	     i++)
		run_loop(100);
	ck_assert_uint_eq(daemon_partitions_serial(bed.s->daemon), serial + 2);
	ck_assert(keeps(&bed, "partitions.state", "0x0033"));
	run_loop(500);
	ck_assert(keeps(&bed, "partitions.state", "0x0034"));
	ck_assert(keeps(&bed, "neighbors", "0x"));
	scenario_stop(bed.s);
	scenario_check_log(bed.s, "are not on the disk yet: sweeps continue", true);
	bed_clear(&bed);
}
END_TEST

struct p_key_look {
	unsigned int host;
	uint16_t p_key;
	bool has;
};

static void look_for_p_key(struct sim *sim, void *arg)
{
	struct p_key_look *look = arg;
	unsigned int n;
	const uint16_t *p_keys = sim_p_keys(sim, look->host, 1, &n);

	look->has = false;
	for (unsigned int i = 0; i < n; i++)
		look->has |= p_keys[i] == look->p_key;
}

/* ms until that host has the P_Key or no longer has it. */
static int64_t until_p_key(const struct bed *bed, uint16_t p_key, bool there)
{
	struct p_key_look look = {scenario_node(bed->s, "host-7"), p_key, !there};
	int64_t began = g_get_monotonic_time();

	while (look.has != there && g_get_monotonic_time() - began < 20 * G_USEC_PER_SEC) {
		ck_assert_int_lt(run_loop(50), STALL_MS);
		sim_call(bed->s->sim, look_for_p_key, &look);
	}
	ck_assert(look.has == there);
	return (g_get_monotonic_time() - began) / 1000;
}

/* That an index was vacated is written to disk before it takes effect; after two seconds it is
 * logged instead. */
START_TEST(vacated)
{
	struct bed bed;

	bed_init(&bed);
	until_master(&bed);
	put(&bed, true);
	hangup(&bed);
	until_p_key(&bed, 0x8011, true);
	run_loop(500);
	atomic_store(&hung_directory, bed.s->cache_dir);
	put(&bed, false);
	hangup(&bed);
	ck_assert_int_ge(until_p_key(&bed, 0x8011, false), 1500);
	atomic_store(&hung_directory, NULL);
	for (unsigned int i = 0; i < 50 && !keeps(&bed, "pkey_indexes", "0x"); i++)
		run_loop(100);
	ck_assert(keeps(&bed, "pkey_indexes", "0x"));
	scenario_stop(bed.s);
	scenario_check_log(bed.s, "vacated P_Key indexes are not on the disk yet", true);
	bed_clear(&bed);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hung_files");
	TCase *tcase = tcase_create("hung_files");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, goes_on);
	tcase_add_test(tcase, one_of_them);
	tcase_add_test(tcase, ends_meanwhile);
	tcase_add_test(tcase, certificate);
	tcase_add_test(tcase, log_is_moved);
	tcase_add_test(tcase, remembered);
	tcase_add_test(tcase, vacated);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
