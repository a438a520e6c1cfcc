// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files of a site and of the cache directory: what is saved of them, and which users may read it.
 */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/command/command.h"
#include "ctl/report/journal.h"
#include "managers.h"
#include "tests/run_suite.h"

#define M_KEY 0x1234
#define PROTECTED "subnet_timeout 17\nm_key 0x1234\nm_key_protection_level 2\nlmc 0\n"
#define CRASHED 9 /* exit code */
#define EARLY 40  /* writes after which everything is saved that has one file at the start */

/* ---- the cache directory ---- */

/* Files there that users other than the owner may read, newly allocated; "": none. */
static char *readable_by_others(const char *directory)
{
	g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
	GString *names = g_string_new(NULL);
	const char *name;

	while ((name = g_dir_read_name(dir))) {
		g_autofree char *file = g_build_filename(directory, name, NULL);
		struct stat is;

		if (g_stat(file, &is) == 0 && is.st_mode & 077)
			g_string_append_printf(names, " %s", name);
	}
	return g_string_free(names, FALSE);
}

/* Also those that an older version left readable for all. */
START_TEST(cache_is_private)
{
	static const char *const kept[] = {"guid2lid", "guid2mkey", "neighbors", "path_sls",
					   "partitions.state"};
	struct scenario *s = scenario_new("mesh:3x3", 1);
	g_autofree char *seed = scenario_keys_of_ports(s, 1);
	g_autofree char *conf = g_strconcat(seed, "routing_engine dfsssp\n", NULL);
	g_autoptr(GError) error = NULL;
	uint64_t serial;

	scenario_conf(s, conf);
	for (unsigned int run = 0; run < 2; run++) {
		g_autofree char *names = NULL;

		scenario_start(s);
		scenario_converge(s, 20);
		if (run == 0)
			ck_assert(daemon_change_partitions(s->daemon, "0x9: 0x1=full", 0, &serial,
							   &error));
		scenario_run_ms(s, 1000);
		scenario_stop(s);
		names = readable_by_others(s->cache_dir);
		ck_assert_str_eq(names, "");
		for (unsigned int i = 0; i < G_N_ELEMENTS(kept); i++) {
			g_autofree char *file = g_build_filename(s->cache_dir, kept[i], NULL);

			ck_assert_msg(g_chmod(file, 0644) == 0, "there is no %s", file);
		}
	}
	scenario_free(s);
}
END_TEST

/* No port gets a key of a generation that the next process would not know. */
START_TEST(generation_that_cannot_be_kept)
{
	struct scenario *s = scenario_new("mesh:3x3", 1);
	g_autofree char *seed = scenario_keys_of_ports(s, 1);
	g_autofree char *conf = g_strconcat(seed, "m_key_update_interval 10\n", NULL);
	g_autofree char *file = g_build_filename(s->cache_dir, "m_key_generation", NULL);
	const struct iba_port_info *host = sim_port_info(s->sim, scenario_node(s, "host-3"), 1);
	uint64_t first;

	scenario_conf(s, conf);
	scenario_start(s);
	scenario_converge(s, 20);
	ck_assert_int_eq(g_mkdir(file, 0700), 0); /* a directory in its place */
	first = host->m_key;
	ck_assert_uint_ne(first, 0);
	scenario_run_ms(s, 25 * 60 * 1000);
	ck_assert_uint_eq(host->m_key, first);
	scenario_check_log(s, "m_key_generation could not be saved: ", true);
	g_rmdir(file);
	scenario_run_ms(s, 10 * 60 * 1000);
	ck_assert_uint_ne(host->m_key, first);
	ck_assert(g_file_test(file, G_FILE_TEST_IS_REGULAR));
	scenario_free(s);
}
END_TEST

/* ---- partitions.conf at the start ---- */

#define APART "Default=0x7fff,ipoib:ALL=limited,SELF=full;\nA=0x11:0x1=full,ALL_SWITCHES=full;\n"

static char *add_partitions(struct scenario *s, const char *text)
{
	char *file = g_build_filename(s->directory, "partitions.conf", NULL);

	g_assert(g_file_set_contents(file, text, -1, NULL));
	scenario_option(s, "-P", file);
	return file;
}

static uint16_t first_key(struct scenario *s, const char *host)
{
	unsigned int n;

	return sim_p_keys(s->sim, scenario_node(s, host), 1, &n)[0];
}

static void spoil(const char *file, unsigned int how)
{
	if (how == 0)
		g_assert(g_unlink(file) == 0);
	else if (how == 1)
		g_assert(g_file_set_contents(file, "", -1, NULL));
	else if (how == 2)
		g_assert(g_file_set_contents(file, "# A=0x11:0x1;\n", -1, NULL));
	else if (how == 3)
		g_assert(g_file_set_contents(file, "A=0x11:0x1=full;\n\0\0\0", 20, NULL));
	else
		g_assert(g_unlink(file) == 0 && g_mkdir(file, 0700) == 0);
}

/*
 * A restart without partitions.conf, or with a useless one, is not a moment without partitions; it
 * is logged, and ends when the file is back.
 */
START_TEST(lost_before_the_start)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *file = add_partitions(s, APART);
	struct command_env env = {0};
	struct command_answer answer;

	scenario_start(s);
	scenario_run_ms(s, 5000);
	scenario_stop(s);
	ck_assert_uint_eq(first_key(s, "host-9"), 0x7FFF);
	spoil(file, (unsigned int)_i);
	g_string_truncate(s->text, 0);
	for (unsigned int run = 0; run < 2; run++) {
		scenario_start(s);
		scenario_run_ms(s, 5000);
		scenario_heavy_sweep(s, 10);
		ck_assert_uint_eq(first_key(s, "host-9"), 0x7FFF);
		scenario_check_log(s, "the last accepted partitions are in force", true);
		env.daemon = s->daemon;
		command_run(&env, "health", true, &answer);
		ck_assert_msg(strstr(answer.text, "partitions.conf"), "%s", answer.text);
		ck_assert_uint_ne(answer.status, 0);
		g_free(answer.text);
		if (run == 0)
			scenario_stop(s);
	}
	if (_i == 4)
		g_assert(g_rmdir(file) == 0);
	scenario_old_file(file, "Default=0x7fff,ipoib:ALL=full;\n");
	scenario_heavy_sweep(s, 10);
	scenario_run_ms(s, 1000);
	ck_assert_uint_eq(first_key(s, "host-9"), 0xFFFF);
	ck_assert_ptr_null(daemon_refusal(s->daemon, DAEMON_PARTITIONS)->why);
	scenario_free(s);
}
END_TEST

/*
 * An included file must not be empty, like the file itself: while the daemon runs, and at a start.
 * /dev/null says that nothing is intended.
 */
START_TEST(emptied_include)
{
	static const char *const spoils[] = {"", "# A=0x11:0x1;\n"};
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *file = add_partitions(s, "include default.inc\nA=0x11:0x1=full;\n");
	g_autofree char *included = g_build_filename(s->directory, "default.inc", NULL);
	const struct refusal *refusal;

	scenario_old_file(included, "Default=0x7fff,ipoib:ALL=limited,SELF=full;\n");
	scenario_start(s);
	scenario_run_ms(s, 5000);
	scenario_old_file(included, spoils[_i]);
	ck_assert(!daemon_reread_partitions(s->daemon));
	refusal = daemon_refusal(s->daemon, DAEMON_PARTITIONS);
	ck_assert_msg(refusal->why && strstr(refusal->why, "partitions.conf:1: include: ") &&
			      strstr(refusal->why, "default.inc: it is empty"),
		      "%s", refusal->why);
	for (unsigned int run = 0; run < 2; run++) {
		scenario_stop(s);
		scenario_start(s);
		scenario_run_ms(s, 5000);
		ck_assert_uint_eq(first_key(s, "host-9"), 0x7FFF);
		ck_assert_ptr_nonnull(daemon_refusal(s->daemon, DAEMON_PARTITIONS)->why);
	}
	scenario_old_file(file, "include /dev/null\nDefault=0x7fff:ALL=full;\n");
	ck_assert(daemon_reread_partitions(s->daemon));
	ck_assert_ptr_null(daemon_refusal(s->daemon, DAEMON_PARTITIONS)->why);
	scenario_free(s);
}
END_TEST

/* Members that were added at run time stay, and more can be. */
START_TEST(lost_beside_changes)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *file = add_partitions(s, APART), *request = NULL;
	unsigned int host = scenario_node(s, "host-9"), n;
	g_autoptr(GError) error = NULL;
	uint64_t serial;

	request = g_strdup_printf("0x12: 0x%016" G_GINT64_MODIFIER "x=full",
				  sim_port_guid(s->sim, host, 1));
	scenario_start(s);
	scenario_run_ms(s, 5000);
	ck_assert(daemon_change_partitions(s->daemon, request, 0, &serial, &error));
	scenario_run_ms(s, 2000);
	for (unsigned int run = 0; run < 3; run++) {
		scenario_stop(s);
		spoil(file, run % 2);
		scenario_start(s);
		scenario_run_ms(s, 5000);
		ck_assert_uint_eq(sim_p_keys(s->sim, host, 1, &n)[0], 0x7FFF);
		ck_assert_uint_eq(sim_p_keys(s->sim, host, 1, &n)[1], 0x8012);
	}
	ck_assert(daemon_change_partitions(s->daemon, "0x13: 0x7=full", 0, &serial, &error));
	scenario_run_ms(s, 2000);
	scenario_check_log(s, "the last accepted partitions are in force", true);
	scenario_free(s);
}
END_TEST

/*
 * A standby lost its file while it stood by: what it has read stays in use as it takes over. So
 * does what it has saved, if it was restarted without the file.
 */
START_TEST(standby_without_its_file)
{
	struct managers *m = managers_new("fattree:4", 1);
	struct scenario *s = m->s;
	g_autofree char *file = g_build_filename(s->directory, "partitions.conf", NULL);
	g_autofree char *conf = g_strdup_printf(MANAGERS_POLLS "partition_config_file %s\n", file);

	g_assert(g_file_set_contents(file, APART, -1, NULL));
	managers_add(m, "host-1", conf);
	managers_add(m, "host-9", conf);
	for (unsigned int i = 0; i < 2; i++) {
		managers_start(m, i);
		scenario_run_ms(s, 5000);
	}
	ck_assert_uint_eq(first_key(s, "host-5"), 0x7FFF);
	g_assert(g_unlink(file) == 0);
	if (_i) {
		managers_kill(m, 1);
		managers_start(m, 1);
		scenario_run_ms(s, 5000);
	}
	managers_kill(m, 0);
	scenario_run_ms(s, 20 * 1000);
	ck_assert_uint_eq(atomic_load(&daemon_context(m->sm[1].daemon)->sm_state), IBA_SM_MASTER);
	ck_assert_uint_eq(first_key(s, "host-5"), 0x7FFF);
	ck_assert_ptr_nonnull(daemon_refusal(m->sm[1].daemon, DAEMON_PARTITIONS)->why);
	managers_free(m);
}
END_TEST

static void expect_health(struct manager *sm, const char *text, bool there)
{
	struct command_env env = {.daemon = sm->daemon};
	struct command_answer answer;

	command_run(&env, "health", true, &answer);
	ck_assert_msg((strstr(answer.text, text) != NULL) == there, "%s", answer.text);
	g_free(answer.text);
}

/*
 * A standby that never had definitions does not open what its master kept apart, whatever happens
 * while it leads: sweeps of all kinds, a host that comes back. With definitions, or when the name
 * of the file says that there are none, it does as they say.
 */
START_TEST(standby_that_never_had_a_file)
{
	struct managers *m = managers_new("fattree:4", 1);
	struct scenario *s = m->s;
	g_autofree char *file = g_build_filename(s->directory, "partitions.conf", NULL);
	g_autofree char *file2 = g_build_filename(s->directory, "other.conf", NULL);
	g_autofree char *conf = g_strdup_printf(MANAGERS_POLLS "partition_config_file %s\n", file);
	g_autofree char *none = g_strconcat(MANAGERS_POLLS,
					    _i == 2 ? "partition_config_file "
						      "/dev/null\n"
						    : "",
					    NULL);
	g_autofree char *has = g_strdup_printf(MANAGERS_POLLS "partition_config_file %s\n", file2);
	unsigned int host = scenario_node(s, "host-12");

	g_assert(g_file_set_contents(file, _i == 3 ? "Default=0x7fff:ALL=full;\n" : APART, -1,
				     NULL));
	managers_add(m, "host-1", conf);
	managers_add(m, "host-9", none);
	for (unsigned int i = 0; i < 2; i++) {
		managers_start(m, i);
		scenario_run_ms(s, 5000);
	}
	managers_kill(m, 0);
	scenario_run_ms(s, 20 * 1000);
	ck_assert_uint_eq(atomic_load(&daemon_context(m->sm[1].daemon)->sm_state), IBA_SM_MASTER);
	if (_i >= 2) {
		ck_assert_uint_eq(first_key(s, "host-5"), 0xFFFF);
		expect_health(&m->sm[1], "separated by P_Keys", false);
		managers_free(m);
		return;
	}
	daemon_sweep(m->sm[1].daemon, SWEEP_HEAVY);
	scenario_run_ms(s, 3000);
	sim_node_set(s->sim, host, false);
	scenario_run_ms(s, 3000);
	sim_node_set(s->sim, host, true);
	scenario_run_ms(s, 5000);
	ck_assert_uint_eq(first_key(s, "host-5"), 0x7FFF);
	expect_health(&m->sm[1], "separated by P_Keys", true);
	scenario_check_log(s, "ports (such as ", true);
	if (_i == 1) {
		managers_kill(m, 1);
		managers_start(m, 1);
		scenario_run_ms(s, 10 * 1000);
		ck_assert_uint_eq(first_key(s, "host-5"), 0x7FFF);
		expect_health(&m->sm[1], "separated by P_Keys", true);
	}
	scenario_old_file(file2, "Default=0x7fff:ALL=full;\n");
	managers_configure(m, 1, has); /* the name of the file is used from the next start on */
	managers_kill(m, 1);
	managers_start(m, 1);
	scenario_run_ms(s, 10 * 1000);
	ck_assert_uint_eq(first_key(s, "host-5"), 0xFFFF);
	expect_health(&m->sm[1], "separated by P_Keys", false);
	managers_free(m);
}
END_TEST

/* NULL: a daemon does not start with these files, as *error says. */
static struct daemon *new_daemon(struct scenario *s, GError **error)
{
	struct daemon_config config = {.rt = s->rt, .log = s->log, .cache_dir = s->cache_dir};
	enum options_request request;
	struct daemon *daemon = NULL;

	if (!options_load(&config.options, &request, (int)s->arguments->len,
			  (char **)s->arguments->pdata, NULL, error))
		return NULL;
	config.vendor = sim_open(s->sim, s->sm_guid, error);
	g_assert(config.vendor);
	daemon = daemon_new(&config, error);
	options_unref(config.options);
	return daemon;
}

/* ---- a crash at every write ---- */

/*
 * Replaces functions of the C library: the process ends before, or halfway through, the nth write
 * to the cache directory. 0: never.
 */
static unsigned int crash_at;

static void may_crash(void)
{
	if (crash_at && --crash_at == 0)
		_exit(CRASHED);
}

static bool is_regular(int fd)
{
	struct stat is;

	return fstat(fd, &is) == 0 && S_ISREG(is.st_mode);
}

ssize_t write(int fd, const void *octets, size_t length)
{
	bool last = crash_at == 1 && is_regular(fd);

	if (last && syscall(SYS_write, fd, octets, length / 2) < 0)
		return -1;
	if (is_regular(fd))
		may_crash();
	return syscall(SYS_write, fd, octets, length);
}

int fsync(int fd)
{
	may_crash();
	return (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
	int result;

	may_crash();
	result = (int)syscall(SYS_rename, from, to);
	may_crash();
	return result;
}

/* A daemon that starts, adopts other partitions and members, and another opensm.conf. */
static void live(struct scenario *s, const char *file, unsigned int at)
{
	static const char other[] = "Default=0x7fff:ALL=limited,SELF=full;\nB=0x12:0x1=full;\n";
	g_autoptr(GError) error = NULL;
	uint64_t serial;

	crash_at = at;
	scenario_start(s);
	scenario_run_ms(s, 2000);
	scenario_old_file(file, other);
	daemon_reread_partitions(s->daemon);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	scenario_run_ms(s, 2000);
	if (!daemon_change_partitions(s->daemon, "0x13: 0x7=full", 0, &serial, &error))
		_exit(1);
	scenario_conf(s, PROTECTED "sa_key 0x77\n");
	daemon_reread_logged(s->daemon);
	scenario_run_ms(s, 2000);
	scenario_stop(s);
	_exit(0);
}

/* With the files of a crashed process; partitions.conf and opensm.conf are lost. */
static int after_a_crash(unsigned int at)
{
	struct scenario *s = scenario_new("fattree:2", 1);
	g_autofree char *file = add_partitions(s, APART);
	g_autoptr(GError) error = NULL;
	pid_t child;
	int status;

	scenario_conf(s, PROTECTED);
	child = fork();
	if (!child)
		live(s, file, at);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	g_assert(g_unlink(file) == 0);
	s->daemon = new_daemon(s, &error);
	if (s->daemon) {
		daemon_start(s->daemon);
		scenario_run_ms(s, 3000);
		ck_assert_msg(first_key(s, "host-1") == 0x7FFF, "crash %u", at);
		scenario_stop(s);
	} else { /* it had not yet saved anything */
		ck_assert_msg(strstr(error->message, "the configuration names it"), "%u: %s", at,
			      error->message);
		ck_assert_uint_lt(at, EARLY);
	}
	scenario_free(s);
	return WEXITSTATUS(status);
}

START_TEST(crashes)
{
	unsigned int at = 1;
	int status;

	while ((status = after_a_crash(at)) == CRASHED)
		at++;
	ck_assert_int_eq(status, 0);
	ck_assert_uint_gt(at, 20);
}
END_TEST

/* ---- opensm.conf ---- */

static const struct {
	const char *text; /* NULL: the file is gone */
	const char *why; /* NULL: it is accepted */
	bool stops; /* a start fails, too */
} spoilt[] = {
	{"", "it no longer sets any option", true},
	{"# m_key 0x1234\n\n", "it no longer sets any option", true},
	{NULL, "No such file", true},
	/* Cut off, at the end of a line or not. */
	{"subnet_timeout 17\n", "m_key is missing", true},
	{"subnet_timeout 17\nm_key 0x12", "its last line has no end", true},
	{"subnet_timeout 17\nm_key 0x1234\n", "m_key_protection_level is missing", true},
	{"subnet_timeout 17\nm_", "its last line has no end", true},
	{"subnet_timeout 17\nm_key_protection_level 2\nm_key 0x12", "its last line has no end",
	 true},
	{"subnet_timeout 17\nm_key 0x1234\nm_key_protection_level 2\nlmc 0",
	 "its last line has no end", true},
	/* Explicit values apply. */
	{"subnet_timeout 17\nm_key 0\n", NULL, false},
	{"m_key 0x1234\nm_key_protection_level 0\n", NULL, false},
};

static void spoil_conf(struct scenario *s, int i)
{
	if (spoilt[i].text)
		g_assert(g_file_set_contents(s->conf, spoilt[i].text, -1, NULL));
	else
		g_assert(g_unlink(s->conf) == 0);
}

/* On SIGHUP and in a sweep that checks the file. */
START_TEST(protection_is_not_lost)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int host = scenario_node(s, "host-9");

	scenario_conf(s, PROTECTED);
	scenario_start(s);
	scenario_converge(s, 10);
	spoil_conf(s, _i);
	ck_assert(daemon_reread_logged(s->daemon) == !spoilt[_i].why);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	scenario_run_ms(s, 20 * 1000);
	if (spoilt[_i].why) {
		ck_assert_uint_eq(sim_port_info(s->sim, host, 1)->m_key, M_KEY);
		ck_assert_uint_eq(sim_port_info(s->sim, host, 1)->m_key_protect_bits, 2);
		scenario_check_log(s, spoilt[_i].why, true);
		ck_assert_ptr_nonnull(daemon_refusal(s->daemon, DAEMON_OPENSM_CONF)->why);
	} else {
		ck_assert_uint_eq(sim_port_info(s->sim, host, 1)->m_key_protect_bits, 0);
	}
	scenario_free(s);
}
END_TEST

START_TEST(protection_outlives_the_process)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *state = g_build_filename(s->cache_dir, "options.state", NULL);
	g_autoptr(GError) error = NULL;
	struct daemon *daemon;

	scenario_conf(s, PROTECTED);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_stop(s);
	spoil_conf(s, _i);
	daemon = new_daemon(s, &error);
	ck_assert_msg(!daemon == spoilt[_i].stops, "%s", error ? error->message : "");
	daemon_free(daemon);
	if (spoilt[_i].stops && spoilt[_i].text) {
		ck_assert_ptr_nonnull(strstr(error->message, s->conf));
		/* Not even with damaged saved files. */
		ck_assert(g_file_set_contents(state, "x\n", -1, NULL));
		g_clear_error(&error);
		daemon = new_daemon(s, &error);
		ck_assert(!daemon == !strstr(spoilt[_i].text, "\nm_key 0x12"));
		daemon_free(daemon);
	}
	scenario_conf(s, "m_key 0\n");
	g_clear_error(&error);
	daemon = new_daemon(s, &error);
	ck_assert_msg(daemon != NULL, "%s", error ? error->message : "");
	daemon_free(daemon);
	scenario_free(s);
}
END_TEST

/* Each option that keeps something out of the subnet; and the explicit value that turns it off. */
static const struct {
	const char *beside, *option, *value, *without;
} guards[] = {
	{"", "m_key", "0x1234", "0x0"},
	{"m_key_seed_file @\nm_key 0\n", "m_key_per_port", "TRUE", "FALSE"},
	{"m_key 1\n", "m_key_protection_level", "2", "0"},
	{"m_key_per_port TRUE\nm_key_seed_file @\n", "m_key_update_interval", "10", "0"},
	{"", "sm_key", "0x77", "1"},
	{"", "sa_key", "0x77", "1"},
	{"", "allowed_sm_guids", "0x200,0x100", "(null)"},
	{"", "sm_inactive", "TRUE", "FALSE"},
	{"", "partition_config_file", "/dev/null", OSM_CONF_DIR "/partitions.conf"},
	{"", "disconnect_unconfigured_endports", "TRUE", "FALSE"},
	{"", "hm_ports_health_policy_file", "/dev/null", "(null)"},
	{"", "babbling_port_policy", "TRUE", "FALSE"},
	{"", "sa_enhanced_trust_model", "TRUE", "FALSE"},
	{"", "sa_rate_threshold", "100", "0"},
	{"console loopback\n", "console_key_file", "@", "(null)"},
	{"console socket\n", "console_tls_cert", "/dev/null", "(null)"},
	{"console socket\n", "console_tls_ca", "/dev/null", "(null)"},
};

static char *guarded_conf(struct scenario *s, int i, const char *value)
{
	g_autofree char *secret = g_build_filename(s->directory, "secret", NULL);
	g_auto(GStrv) parts = NULL;
	g_autofree char *text = NULL;

	ck_assert(g_file_set_contents_full(secret, "a secret of sixteen octets\n", -1, 0, 0600,
					   NULL));
	text = value ? g_strdup_printf("subnet_timeout 17\n%s%s %s\n", guards[i].beside,
				       guards[i].option, value)
		     : g_strdup_printf("subnet_timeout 17\n%s", guards[i].beside);
	parts = g_strsplit(text, "@", -1);
	return g_strjoinv(secret, parts);
}

/* The manual describes the option with the words of the refusal. */
static void check_manual(const char *option, const char *why)
{
	static const char before[] = "and without it ";
	const char *from = strstr(why, before) + strlen(before);
	g_autofree char *words = g_strndup(from, (gsize)(strstr(from, ": expected ") - from));
	g_autofree char *line = g_strdup_printf("\n.It Cm %s Ta %s\n", option, words);
	g_autofree char *manual = NULL;
	const char *top = g_getenv("top_srcdir");
	g_autofree char *file = g_build_filename(top ?: "..", "man/opensm.8.in", NULL);

	ck_assert(g_file_get_contents(file, &manual, NULL, NULL));
	ck_assert_msg(strstr(manual, line), "man/opensm.8.in lacks: %s", line);
}

START_TEST(guarded_option)
{
	struct scenario *s = scenario_new("fattree:2", 1);
	g_autofree char *conf = guarded_conf(s, _i, guards[_i].value);
	g_autofree char *cut = guarded_conf(s, _i, NULL);
	g_autofree char *meant = guarded_conf(s, _i, guards[_i].without);
	g_autofree char *told =
		g_strdup_printf(": %s is missing, which was in use ", guards[_i].option);
	g_autofree char *way = g_strdup_printf("or '%s ", guards[_i].option);
	const struct refusal *refusal;
	g_autoptr(GError) error = NULL;
	struct daemon *daemon;

	scenario_conf(s, conf);
	scenario_start(s);
	scenario_run_ms(s, 1000);
	ck_assert(g_file_set_contents(s->conf, cut, -1, NULL));
	ck_assert(!daemon_reread_logged(s->daemon));
	refusal = daemon_refusal(s->daemon, DAEMON_OPENSM_CONF);
	ck_assert_msg(strstr(refusal->why, told) && strstr(refusal->why, way), "%s", refusal->why);
	check_manual(guards[_i].option, refusal->why);
	scenario_stop(s);
	daemon = new_daemon(s, &error);
	ck_assert_msg(!daemon, "a start without %s", guards[_i].option);
	ck_assert_msg(strstr(error->message, told) && strstr(error->message, way), "%s",
		      error->message);
	g_clear_error(&error);
	scenario_conf(s, meant);
	daemon = new_daemon(s, &error);
	ck_assert_msg(daemon != NULL, "%s", error ? error->message : "");
	daemon_free(daemon);
	scenario_free(s);
}
END_TEST

/*
 * With options that guard nothing an emptied file, and one without its last newline, is refused all
 * the same; not another one, nor one that was always so.
 */
START_TEST(cut_at_a_start)
{
	static const char *const texts[] = {"", "# lmc 0\n", "subnet_timeout 17\nsweep_interval 1"};
	struct scenario *s = scenario_new("fattree:2", 1);
	g_autofree char *other = g_build_filename(s->directory, "other.conf", NULL);
	g_autoptr(GError) error = NULL;
	struct daemon *daemon;

	for (unsigned int i = 0; i < 2; i++) { /* as a site that never wrote a newline there */
		scenario_conf(s, "sweep_interval 10");
		daemon = new_daemon(s, &error);
		ck_assert(daemon != NULL);
		daemon_free(daemon);
	}
	scenario_conf(s, "subnet_timeout 17\nsweep_interval 10\n");
	daemon = new_daemon(s, &error);
	ck_assert(daemon != NULL);
	daemon_free(daemon);
	for (unsigned int i = 0; i < G_N_ELEMENTS(texts); i++) {
		scenario_conf(s, texts[i]);
		ck_assert_msg(!new_daemon(s, &error), "'%s' is taken", texts[i]);
		ck_assert_ptr_nonnull(strstr(error->message, s->conf));
		g_clear_error(&error);
	}
	ck_assert(g_file_set_contents(other, "lmc 1", -1, NULL));
	scenario_option(s, "-F", other);
	daemon = new_daemon(s, &error);
	ck_assert_msg(daemon != NULL, "%s", error ? error->message : "");
	daemon_free(daemon);
	scenario_free(s);
}
END_TEST

/* ---- what is refused for one file is refused for each ---- */

static const struct {
	enum daemon_files files;
	const char *option, *conf, *text;
} kinds[] = {
	{DAEMON_PARTITIONS, "partition_config_file", "", APART},
	{DAEMON_QOS, "qos_policy_file", "qos TRUE\n",
	 "qos-ulps\ndefault: 0\nend-qos-ulps\n"},
	{DAEMON_PREFIX_ROUTES, "prefix_routes_file", "", "* 1\n"},
	{DAEMON_PORTS_POLICY, "hm_ports_health_policy_file", "", "flapping ca report\n"},
	{DAEMON_PERF_RULES, "perfmgr_rules_file", "", "VL15Dropped all info 1 in 1\n"},
	{DAEMON_ROUTE_FILES, "root_guid_file", "", "0x1\n"},
	{DAEMON_ROUTE_FILES, "cn_guid_file", "routing_engine ftree\n", "0x1\n"},
	{DAEMON_ROUTE_FILES, "guid_routing_order_file", "", "0x1\n"},
	{DAEMON_ROUTE_FILES, "hop_weights_file", "", "0x1 1 2\n"},
	{DAEMON_ROUTE_FILES, "port_search_ordering_file", "", "0x1 1 2\n"},
	{DAEMON_ROUTE_FILES, "io_guid_file", "routing_engine ftree\n", "0x1\n"},
	{DAEMON_ROUTE_FILES, "ids_guid_file", "", "0x1 1\n"},
	{DAEMON_ROUTE_FILES, "port_prof_ignore_file", "", "0x1\n"},
	{DAEMON_ROUTE_FILES, "partition_links_file", "", "0x1 0x8011\n"},
	{DAEMON_ROUTE_FILES, "lfts_file", "routing_engine file\n",
	 "Unicast lids [0x0-0x1] of switch Lid 1 guid 0x1 (x):\n0x0001 001 : (x)\n"},
	{DAEMON_ROUTE_FILES, "lid_matrix_dump_file", "routing_engine file\n",
	 "Switch: guid 0x1\n0x0001: 1\n"},
};

/* Whether a start with these files works; partitions may be the last accepted ones. */
static void check_start(struct scenario *s, int i, const char *file, const char *text)
{
	const enum daemon_files files = kinds[i].files;
	const char *option = kinds[i].option;
	const bool is_kept = files == DAEMON_PARTITIONS;
	g_autoptr(GError) error = NULL;
	struct daemon *daemon;

	if (text)
		scenario_old_file(file, text);
	else
		g_assert(g_unlink(file) == 0);
	daemon = new_daemon(s, &error);
	ck_assert_msg(!daemon == !is_kept, "%s: '%s' is taken at a start", option,
		      text ?: "none");
	ck_assert_msg(is_kept || strstr(error->message, file), "%s", error ? error->message : "");
	if (is_kept)
		ck_assert_ptr_nonnull(daemon_refusal(daemon, DAEMON_PARTITIONS)->why);
	daemon_free(daemon);
	if (!text)
		scenario_old_file(file, "");
}

/* Gone, emptied, or nothing but comments; while the daemon runs, then at a start. */
START_TEST(each_file)
{
	static const char *const spoils[] = {NULL, "", "# nothing\n"};
	struct scenario *s = scenario_new("fattree:2", 1);
	g_autofree char *file = g_build_filename(s->directory, "file", NULL), *conf = NULL;
	const enum daemon_files files = kinds[_i].files;
	g_autoptr(GError) error = NULL;
	struct daemon *daemon;

	conf = g_strdup_printf("%s%s %s\n", kinds[_i].conf, kinds[_i].option, file);
	scenario_conf(s, conf);
	scenario_old_file(file, kinds[_i].text);
	scenario_start(s);
	scenario_run_ms(s, 2000);
	for (unsigned int i = 0; i < G_N_ELEMENTS(spoils); i++) {
		ck_assert_ptr_null(daemon_refusal(s->daemon, files)->why);
		if (spoils[i])
			scenario_old_file(file, spoils[i]);
		else
			g_assert(g_unlink(file) == 0);
		daemon_reread_logged(s->daemon);
		daemon_sweep(s->daemon, SWEEP_HEAVY);
		scenario_run_ms(s, 1000);
		ck_assert_msg(daemon_refusal(s->daemon, files)->why != NULL, "%s: '%s' is taken",
			      kinds[_i].option, spoils[i] ?: "none");
		ck_assert_ptr_nonnull(strstr(daemon_refusal(s->daemon, files)->why, file));
		scenario_old_file(file, kinds[_i].text);
		daemon_reread_logged(s->daemon);
		daemon_sweep(s->daemon, SWEEP_HEAVY);
		scenario_run_ms(s, 1000);
	}
	scenario_stop(s);
	for (unsigned int i = 0; i < G_N_ELEMENTS(spoils); i++)
		check_start(s, _i, file, spoils[i]);
	/* An explicit "nothing" is accepted, except by the engine that needs the file. */
	g_free(conf);
	conf = g_strdup_printf("%s%s /dev/null\n", kinds[_i].conf, kinds[_i].option);
	scenario_conf(s, conf);
	daemon = new_daemon(s, &error);
	ck_assert_msg(!daemon == !!strstr(conf, "engine file"), "%s", error ? error->message : "");
	daemon_free(daemon);
	scenario_free(s);
}
END_TEST

/* ---- log flags of single source files ---- */

static void expect_modules(struct scenario *s, const char *text)
{
	const struct command_env env = {.daemon = s->daemon};
	struct command_answer answer;

	command_run(&env, "permodlog", true, &answer);
	ck_assert_str_eq(answer.text, text);
	g_free(answer.text);
}

/* Read at the start, again if it has changed when a heavy sweep begins, and gone if it is gone. */
START_TEST(log_flags_of_files_follow)
{
	struct scenario *s = scenario_new("fattree:2", 1);
	g_autofree char *file = g_build_filename(s->directory, "modules", NULL);
	g_autofree char *conf = g_strdup_printf("per_module_logging_file %s\n", file);

	scenario_conf(s, conf);
	scenario_old_file(file, "osm_ucast_updn.c 0x08\nsweep.c 1\n"
				"osm_congestion_control.c 1\nsm.c\n");
	scenario_start(s);
	scenario_run_ms(s, 1000);
	ck_assert(log_wants(s->log, LOG_DEBUG, "updn.c"));
	ck_assert(!log_wants(s->log, LOG_INFO, "sweep.c"));
	scenario_check_log(s, "modules:3: found 'osm_congestion_control.c', expected a source ",
			   true);
	scenario_check_log(s, "modules:4: found 'sm.c', expected the log flags after", true);
	scenario_old_file(file, "osm_trap_rcv.c=4\n");
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	scenario_run_ms(s, 1000);
	scenario_check_log(s, "log flags of single source files changed", true);
	expect_modules(s, "trap.c 0x07\n");
	g_unlink(file);
	daemon_reread_logged(s->daemon);
	scenario_run_ms(s, 1000);
	expect_modules(s, "");
	scenario_check_log(s, "per_module_logging_file: ", true);
	scenario_free(s);
}
END_TEST

/* ---- ages ---- */

static void make_journal(struct scenario *s, void *arg)
{
	struct command_env *env = arg;

	env->daemon = s->daemon;
	env->journal = journal_new(s->daemon);
}

/* By a clock that cannot be set: the wall clock does not move at all here. */
START_TEST(age_of_the_last_sweep)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	struct command_answer answer;
	struct command_env env = {0};

	scenario_conf(s, "sweep_interval 100000\n");
	s->made = make_journal;
	s->made_arg = &env;
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_heavy_sweep(s, 10);
	scenario_run_ms(s, 77 * 1000);
	command_run(&env, "health", true, &answer);
	ck_assert_msg(strstr(answer.text, "ended 76 s ago") ||
			      strstr(answer.text, "ended 77 s ago"),
		      "%s", answer.text);
	g_free(answer.text);
	scenario_stop(s);
	journal_free(env.journal);
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("site_files");
	TCase *tcase = tcase_create("site_files");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, cache_is_private);
	tcase_add_test(tcase, generation_that_cannot_be_kept);
	tcase_add_loop_test(tcase, lost_before_the_start, 0, 5);
	tcase_add_loop_test(tcase, emptied_include, 0, 2);
	tcase_add_test(tcase, lost_beside_changes);
	tcase_add_loop_test(tcase, standby_without_its_file, 0, 2);
	tcase_add_loop_test(tcase, standby_that_never_had_a_file, 0, 4);
	tcase_add_loop_test(tcase, protection_is_not_lost, 0, G_N_ELEMENTS(spoilt));
	tcase_add_loop_test(tcase, protection_outlives_the_process, 0, G_N_ELEMENTS(spoilt));
	tcase_add_loop_test(tcase, guarded_option, 0, G_N_ELEMENTS(guards));
	tcase_add_test(tcase, cut_at_a_start);
	tcase_add_test(tcase, crashes);
	tcase_add_loop_test(tcase, each_file, 0, G_N_ELEMENTS(kinds));
	tcase_add_test(tcase, log_flags_of_files_follow);
	tcase_add_test(tcase, age_of_the_last_sweep);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
