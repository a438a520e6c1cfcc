// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files of the site on a server that does not answer: open() and stat() of them hang, here by
 * functions of the same names in place of those of the C library. The loop of the daemon goes on,
 * whoever asks for files is told, and what they say at last is taken when they answer.
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

#include "ctl/command.h"
#include "scenario.h"
#include "tests/run_suite.h"

#define SITE ".site" /* names that end so are on that server */
#define STALL_MS 1000 /* more than the daemon takes at once on a busy machine */
#define HANG_MS 3000

static atomic_bool hangs;

static void hang(const char *file)
{
	while (atomic_load(&hangs) && strstr(file, SITE))
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

int stat(const char *file, struct stat *st)
{
	hang(file);
	return (int)syscall(SYS_newfstatat, AT_FDCWD, file, st, 0);
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
};

struct bed {
	struct scenario *s;
	char *files[G_N_ELEMENTS(kinds)];
	GString *conf;
	char *conf_file;
};

static void put(struct bed *bed, bool after)
{
	g_string_truncate(bed->conf, 0);
	g_string_append_printf(bed->conf, "qos TRUE\nsubnet_timeout %u\n", after ? 16 : 17);
	for (unsigned int i = 0; i < G_N_ELEMENTS(kinds); i++) {
		scenario_old_file(bed->files[i], after ? kinds[i].after : kinds[i].before);
		g_string_append_printf(bed->conf, "%s %s\n", kinds[i].option, bed->files[i]);
	}
	scenario_old_file(bed->conf_file, bed->conf->str);
}

static void bed_init(struct bed *bed)
{
	struct sim_config config;

	scenario_config_default(&config, 1);
	bed->s = scenario_new_with("fattree:4", &config, RUNTIME_REAL);
	bed->conf = g_string_new(NULL);
	bed->conf_file = g_build_filename(bed->s->directory, "opensm" SITE, NULL);
	for (unsigned int i = 0; i < G_N_ELEMENTS(kinds); i++)
		bed->files[i] = g_build_filename(bed->s->directory, kinds[i].name, NULL);
	put(bed, false);
	scenario_option(bed->s, "-F", bed->conf_file);
	scenario_start(bed->s);
}

static void bed_clear(struct bed *bed)
{
	atomic_store(&hangs, false);
	scenario_free(bed->s);
	for (unsigned int i = 0; i < G_N_ELEMENTS(kinds); i++)
		g_free(bed->files[i]);
	g_string_free(bed->conf, TRUE);
	g_free(bed->conf_file);
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

/* SIGHUP, as main() takes it; ms that it took. */
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
	ck_assert_int_lt(hangup(&bed), STALL_MS / 4); /* it has lost patience */
	ck_assert_int_lt(run_loop(HANG_MS), STALL_MS);
	began = g_get_monotonic_time();
	ck_assert(!daemon_reread_partitions(bed.s->daemon));
	ck_assert(!daemon_plan(bed.s->daemon, NULL, 3, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "cannot be read"));
	ck_assert_int_lt((g_get_monotonic_time() - began) / 1000, STALL_MS);
	/* All are told, by name, and nothing has changed. */
	env.daemon = bed.s->daemon;
	command_run(&env, "health", true, &answer);
	ck_assert_msg(strstr(answer.text, "opensm" SITE " cannot be read: waited"), "%s",
		      answer.text);
	for (unsigned int i = 0; i < G_N_ELEMENTS(kinds); i++) {
		const struct refusal *refusal = daemon_refusal(bed.s->daemon, kinds[i].files);

		if (kinds[i].files == DAEMON_ROUTE_FILES || kinds[i].files == DAEMON_PORTS_POLICY)
			continue; /* wait for opensm.conf, which names them */
		ck_assert_msg(refusal->why && strstr(refusal->why, "cannot be read: waited") &&
				      strstr(refusal->why, kinds[i].name),
			      "%s: %s", kinds[i].name, refusal->why);
		ck_assert_ptr_nonnull(strstr(answer.text, kinds[i].name));
	}
	g_free(answer.text);
	ck_assert_uint_eq(subnet_timeout(&bed), 17);
	/* What comes late counts. */
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

/* Of one file that hangs the others hear nothing. */
START_TEST(one_of_them)
{
	struct bed bed;

	bed_init(&bed);
	until_master(&bed);
	put(&bed, true);
	atomic_store(&hangs, true);
	ck_assert(!daemon_reread_partitions(bed.s->daemon));
	/* Files that are not on the server are read as ever. */
	ck_assert_int_lt(run_loop(HANG_MS), STALL_MS);
	ck_assert_ptr_nonnull(daemon_refusal(bed.s->daemon, DAEMON_PARTITIONS)->why);
	ck_assert_ptr_null(daemon_refusal(bed.s->daemon, DAEMON_QOS)->why);
	bed_clear(&bed);
}
END_TEST

/* A sweep that looks at files by itself is not held up, and the daemon ends while they hang. */
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
	usleep(100 * 1000); /* the work that was left ends on its own */
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
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
