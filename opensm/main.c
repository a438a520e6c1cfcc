// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * opensm: parse, build, run, tear down in reverse.
 *
 * Everything before program_start() may fail, with a message on the standard error and exit code 1.
 * With --daemon the first process waits for this result and passes it on.
 */
#include "config.h"

#include <complib/file.h>
#include <glib-unix.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/milestones.h"
#include "core/notify.h"
#include "core/options.h"
#include "ctl/base/answer.h"
#include "ctl/base/cache.h"
#include "ctl/console/console.h"
#include "ctl/console/console_tls.h"
#include "ctl/daemon.h"
#include "ctl/dump/dump.h"
#include "ctl/plan/plan.h"
#include "ctl/plugin/plugins.h"
#include "ctl/process/background.h"
#include "ctl/process/device.h"
#include "ctl/process/log_rotation.h"
#include "ctl/process/logging.h"
#include "ctl/process/service.h"
#include "ctl/process/signals.h"
#include "ctl/report/journal.h"
#include "ctl/report/progress.h"
#include "ctl/report/status.h"
#include "ctl/site/check_config.h"
#include "plugin/host/exit_guard.h"
#include "plugin/host/host.h"
#include "route/engine.h"

#define PLAN_NODES 20	    /* nodes with details in a plan, unless more are requested */
#define RETIRE_MS 3000	    /* for a handover, before the daemon ends without one */
#define DESCRIPTORS_MIN 128 /* files, threads' events, sessions of console and control socket */

struct program {
	struct options *options;
	uint64_t port_guid; /* chosen by the user, or as in the options */
	char *cache_dir;
	bool cache_refused;
	struct runtime *rt;
	struct log *log;
	struct device device;
	struct daemon *daemon;
	struct service *service;
	struct dumps *dumps;
	struct journal *journal;
	struct progress *progress;
	struct plugins *plugins; /* NULL: none */
	struct console *console;
	struct log_rotation *rotation;
	GMainLoop *loop;
	int ready_handle; /* of the background; -1 in the foreground */
	int pidfile;	  /* its lock; -1: none */
	bool quitting;	  /* a signal asked to quit */
	guint impatience; /* timer of on_impatience(); 0: none */
	int exit_code;
};

static int complain(const GError *error)
{
	fprintf(stderr, "opensm: %s\n", error->message);
	return 1;
}

/* Reports other errors that would stop the start that error has stopped. */
static int complain_of_others(const struct options *options, const GError *error)
{
	g_autofree char *others = check_config_others(options, error);
	g_auto(GStrv) lines = g_strsplit(others, "\n", -1);

	for (unsigned int i = 0; lines[i]; i++)
		if (*lines[i])
			fprintf(stderr, "opensm: %s\n", lines[i]);
	return 1;
}

/* Whether a program reads the log, which expects nothing but JSON. */
static bool is_collected(const struct options *options)
{
	return options->log_format == LOG_FORMAT_JSON && !strcmp(options->log_file, "stdout");
}

/* To the log, and to the user at the terminal. */
static void warn(struct program *program, const char *text)
{
	const struct options *options = program->options;

	log_error(program->log, "%s", text);
	if (program->ready_handle < 0 && strcmp(options->log_file, "stderr") != 0 &&
	    !is_collected(options))
		fprintf(stderr, "opensm: %s\n", text);
}

/* ---- options ---- */

static bool only_told(enum options_request request)
{
	g_autofree char *help = NULL;

	if (request == OPTIONS_HELP) {
		help = options_help();
		fputs(help, stdout);
	} else if (request == OPTIONS_VERSION) {
		puts("OpenSM " PACKAGE_VERSION);
	}
	return request != OPTIONS_RUN;
}

/*
 * First line as in the classic daemon, unless the standard output is used otherwise, or what reads
 * it expects JSON.
 */
static void tell_beginning(const struct options *options)
{
	static const char rule[] = "-------------------------------------------------";
	g_autofree char *given = options_tell_given(options);

	if (options->progress || options->console == CONSOLE_LOCAL ||
	    options->log_format == LOG_FORMAT_JSON)
		return;
	printf("%s\nOpenSM " PACKAGE_VERSION "\n%s%s\n", rule, given, rule);
	fflush(stdout);
}

/* -g 0 on the command line asks for the port; allowed in the foreground only. */
static bool choose_port(struct program *program, GError **error)
{
	const struct options *options = program->options;
	bool good;

	program->port_guid = options->guid;
	if (options->guid || options->sim ||
	    options_source(options, OPTION_guid) != OPTION_FROM_COMMAND)
		return true;
	signals_release(); /* nothing needs to be torn down yet */
	good = device_ask(&program->port_guid, error);
	signals_hold();
	return good;
}

/* ---- signals, all on the main loop ---- */

static gboolean on_impatience(gpointer arg)
{
	struct program *program = arg;

	program->impatience = 0;
	log_error(program->log, "the SM thread does not answer: exiting without a handover");
	g_main_loop_quit(program->loop);
	return G_SOURCE_REMOVE;
}

/*
 * A master first hands over to a standby; on_finished() ends the loop. A second signal does not
 * wait for the handover, a third one ends at once.
 */
static gboolean on_quit(gpointer arg)
{
	struct program *program = arg;

	if (program->quitting) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		g_main_loop_quit(program->loop);
		return G_SOURCE_CONTINUE;
	}
	program->quitting = true;
	log_info(program->log, "Exiting on a signal");
	service_stopping(program->service);
	daemon_retire(program->daemon);
	program->impatience = g_timeout_add(RETIRE_MS, on_impatience, program);
	return G_SOURCE_CONTINUE;
}

static gboolean on_hangup(gpointer arg)
{
	struct program *program = arg;

	log_info(program->log, "SIGHUP: reading the options again, then a heavy sweep");
	service_reloading(program->service);
	daemon_reread_logged(program->daemon);
	service_reloaded(program->service);
	daemon_sweep(program->daemon, SWEEP_HEAVY);
	console_listen_again(program->console);
	return G_SOURCE_CONTINUE;
}

static gboolean on_reopen(gpointer arg)
{
	struct program *program = arg;

	log_rotation_ask(program->rotation);
	return G_SOURCE_CONTINUE;
}

static gboolean on_dump(gpointer arg)
{
	struct program *program = arg;

	status_log(daemon_context(program->daemon));
	return G_SOURCE_CONTINUE;
}

static void catch_signals(struct program *program)
{
	signal(SIGPIPE, SIG_IGN);
	if (getpid() == 1) /* of a container: what its probes leave behind are children of this */
		signal(SIGCHLD, SIG_IGN);
	g_unix_signal_add(SIGINT, on_quit, program);
	g_unix_signal_add(SIGTERM, on_quit, program);
	g_unix_signal_add(SIGHUP, on_hangup, program);
	g_unix_signal_add(SIGUSR1, on_reopen, program);
	g_unix_signal_add(SIGUSR2, on_dump, program);
	signals_release();
}

/* ---- events ---- */

static void on_drained(void *arg)
{
	struct program *program = arg;

	g_main_loop_quit(program->loop);
}

/* With --once, plug-ins hear of all that has happened before they are stopped. */
static void on_finished(void *arg, int exit_code)
{
	struct program *program = arg;

	program->exit_code = exit_code;
	g_clear_handle_id(&program->impatience, g_source_remove);
	if (program->quitting)
		g_main_loop_quit(program->loop);
	else
		plugins_drain(program->plugins, on_drained, program);
}

/* ---- life ---- */

static void open_cache(struct program *program)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;

	program->cache_dir = cache_dir_open(program->options->sim != NULL, &error);
	program->cache_refused = error != NULL;
	if (!error)
		return;
	text = g_strdup_printf("%s; LIDs will not survive a restart", error->message);
	warn(program, text);
}

/* Lets the journal distinguish several daemons on one host. */
static void name_port(struct log *log, const struct vendor *vendor)
{
	g_autofree char *guid = g_strdup_printf("0x%016" PRIx64, vendor_port_guid(vendor));

	log_add_field(log, "OPENSM_DEVICE", vendor_name(vendor));
	log_add_field(log, "OPENSM_PORT_GUID", guid);
	log_info(log, "Using %s, port GUID %s", vendor_name(vendor), guid);
}

static bool make_daemon(struct program *program, GError **error)
{
	struct daemon_config config = {
		.rt = program->rt,
		.options = program->options,
		.log = program->log,
		.cache_dir = program->cache_dir,
		.cache_refused = program->cache_refused,
	};

	if (!device_open(&program->device, program->rt, program->log, program->options,
			 program->port_guid, error))
		return false;
	name_port(program->log, program->device.vendor);
	config.vendor = g_steal_pointer(&program->device.vendor);
	program->daemon = daemon_new(&config, error);
	return program->daemon != NULL;
}

/* The terminal is for one of them: the console, which was requested explicitly. */
static void show_progress(struct program *program)
{
	const struct options *options = program->options;

	if (!options->progress || options->daemon)
		return;
	if (options->console == CONSOLE_LOCAL)
		warn(program, "--console local uses the terminal: --progress shows nothing");
	else
		program->progress = progress_new(program->daemon, program->journal, stdout,
						 strcmp(options->log_file, "stdout") != 0);
}

static bool open_console(struct program *program, GError **error)
{
	const struct options *options = program->options;
	GError *trouble = NULL;

	if (options->console == CONSOLE_SOCKET && !options->console_key_file)
		warn(program, "console socket without console_key_file: the console only listens "
			      "on this host");
	program->console =
		console_new(program->daemon, program->journal, program->device.sim, &trouble);
	if (!trouble)
		return true;
	g_propagate_error(error, trouble);
	return false;
}

/* A simulated fabric and one thread: the order of events then depends only on the seed. */
static bool is_repeatable(const struct options *options)
{
	return options->sim && options->single_thread;
}

static bool load_plugins(struct program *program, GError **error)
{
	const struct plugins_config config = {
		.daemon = program->daemon,
		.journal = program->journal,
		.sim = program->device.sim,
	};

	exit_guard_set();
	if (!plugins_new(&program->plugins, &config, error))
		return false;
	daemon_set_plugins(program->daemon, plugins_face(program->plugins));
	return true;
}

/*
 * Now that plug-ins are loaded, all engines are known; but if the options allow a start without a
 * plug-in, they allow one without its engines, too.
 */
static bool check_engines(const struct program *program, GError **error)
{
	struct route_registry *engines = daemon_context(program->daemon)->engines;
	g_autoptr(GError) trouble = NULL;

	if (check_config_engines(program->options, engines, &trouble))
		return true;
	if (plugins_are_loaded(program->plugins)) {
		g_propagate_error(error, g_steal_pointer(&trouble));
		return false;
	}
	log_error(program->log,
		  "%s; the start goes on, as a plug-in that is not loaded may have it",
		  trouble->message);
	return true;
}

static bool program_build(struct program *program, GError **error)
{
	const struct options *options = program->options;

	/* Before the log: a refused daemon must not empty the log of the running one. */
	if (options->pidfile && (program->pidfile = pidfile_open(options->pidfile, error)) < 0)
		return false;
	program->rt = runtime_new(is_repeatable(options) ? RUNTIME_VIRTUAL : RUNTIME_REAL);
	runtime_set_seed(program->rt, options->sim_seed);
	program->log = logging_open(options, error);
	if (!program->log)
		return false;
	log_start_writer(program->log);
	log_milestone(program->log, START, "OpenSM " PACKAGE_VERSION);
	if (program->options->daemon && notify_is_on())
		log_sys(program->log, "daemon is ignored: the service manager (NOTIFY_SOCKET) "
				      "waits for this process");
	open_cache(program);
	if (!make_daemon(program, error))
		return false;
	program->rotation = log_rotation_new(program->log, daemon_actor(program->daemon));
	program->service = service_new(program->daemon);
	daemon_on_finished(program->daemon, on_finished, program);
	program->dumps = dumps_new(program->daemon);
	program->journal = journal_new(program->daemon);
	show_progress(program);
	return load_plugins(program, error) && check_engines(program, error) &&
	       open_console(program, error);
}

static void program_run(struct program *program)
{
	program->loop = g_main_loop_new(NULL, FALSE);
	catch_signals(program);
	daemon_start(program->daemon);
	if (is_repeatable(program->options))
		runtime_attach(program->rt, NULL);
	if (program->ready_handle >= 0)
		background_ready(program->ready_handle);
	g_main_loop_run(program->loop);
	log_milestone(program->log, STOP, "Exiting SM");
	service_stopping(program->service);
}

static void program_clear(struct program *program)
{
	plugins_stop(program->plugins);
	if (program->daemon)
		daemon_stop(program->daemon);
	log_rotation_free(program->rotation);
	console_free(program->console);
	plugins_free(program->plugins);
	progress_free(program->progress);
	journal_free(program->journal);
	dumps_free(program->dumps);
	service_free(program->service);
	daemon_free(program->daemon);
	device_close(&program->device);
	if (program->pidfile >= 0)
		pidfile_close(program->options->pidfile, program->pidfile);
	g_clear_pointer(&program->loop, g_main_loop_unref);
	g_clear_pointer(&program->log, log_free);
	g_clear_pointer(&program->rt, runtime_free);
	g_free(program->cache_dir);
	options_unref(program->options);
}

/* ---- --plan ---- */

static void on_plan_done(void *arg, struct plan *plan)
{
	struct program *program = arg;
	const struct options *options = program->options;
	bool all = options->json || options->log_flags & LOG_VERBOSE;
	g_autoptr(GVariant) answer =
		g_variant_ref_sink(plan_answer(plan_result(plan), all ? UINT_MAX : PLAN_NODES));
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *json = options->json ? answer_json(answer) : NULL;

	if (!json)
		print_plan(answer, text);
	program->exit_code = plan_exit_code(answer);
	fputs(json ? json : text->str, stdout);
	g_main_loop_quit(program->loop);
}

static struct plan *make_plan(struct program *program, GError **error)
{
	struct plan_config config = {
		.base = {.rt = program->rt,
			 .options = program->options,
			 .cache_dir = program->cache_dir},
		.done = on_plan_done,
		.arg = program,
	};

	if (!device_open(&program->device, program->rt, program->log, program->options,
			 program->port_guid, error))
		return NULL;
	config.base.vendor = g_steal_pointer(&program->device.vendor);
	return plan_new(&config, error);
}

/* Leaves nothing behind: no log file, no PID file, no console. */
static int tell_plan(struct program *program)
{
	g_autoptr(GError) error = NULL;
	struct plan *plan;

	program->rt = runtime_new(is_repeatable(program->options) ? RUNTIME_VIRTUAL : RUNTIME_REAL);
	runtime_set_seed(program->rt, program->options->sim_seed);
	program->log = log_new_null();
	program->cache_dir = cache_dir_name(program->options->sim != NULL);
	plan = make_plan(program, &error);
	if (!plan)
		return complain(error);
	program->loop = g_main_loop_new(NULL, FALSE);
	signals_release(); /* there is nothing to tidy up */
	plan_start(plan);
	if (is_repeatable(program->options))
		runtime_attach(program->rt, NULL);
	g_main_loop_run(program->loop);
	plan_free(plan);
	return program->exit_code;
}

/* With fewer, the console could not accept connections and would try again and again. */
static bool has_descriptors(GError **error)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= DESCRIPTORS_MIN)
		return true;
	limit.rlim_cur = MIN(limit.rlim_max, DESCRIPTORS_MIN);
	if (limit.rlim_cur == DESCRIPTORS_MIN && setrlimit(RLIMIT_NOFILE, &limit) == 0)
		return true;
	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_MFILE,
		    "the limit of open files (ulimit -n) is %ju, expected %d or more",
		    (uintmax_t)limit.rlim_max, DESCRIPTORS_MIN);
	return false;
}

static int serve(struct program *program)
{
	g_autoptr(GError) error = NULL;

	if (!has_descriptors(&error))
		return complain(error);
	if (!check_config_engines(program->options, NULL, &error)) {
		complain(error);
		return complain_of_others(program->options, error);
	}
	if (!choose_port(program, &error))
		return complain(error);
	if (program->options->plan)
		return tell_plan(program);
	file_ignore_closed_output();
	tell_beginning(program->options);
	/* A service manager tracks the process that it started, and ends the others with it. */
	if (program->options->daemon && !notify_is_on() &&
	    (program->ready_handle = background_begin(&error)) < 0)
		return complain(error);
	if (!program_build(program, &error)) {
		if (program->log)
			log_error(program->log, "%s", error->message);
		complain(error);
		return complain_of_others(program->options, error);
	}
	program_run(program);
	return program->exit_code;
}

/* --check-config; error: what is wrong with the options themselves. */
static int check_files(struct options *options, const GPtrArray *warnings, bool json,
		       const GError *error)
{
	g_autofree char *text = NULL;
	bool good;

	text = check_config(options, error, warnings, json, &good);
	options_unref(options);
	puts(text);
	return !good;
}

/* Only in full, so that mistakes in other options can be reported in the same form. */
static bool has_word(char **argv, const char *word)
{
	return g_strv_contains((const char *const *)argv, word);
}

/* Reports all that is wrong at once, including files that the start did not reach. */
static int complain_of_options(int argc, char **argv, const GPtrArray *warnings,
			       const GError *error)
{
	struct options *options = options_load_right(argc, argv);

	if (has_word(argv, "--check-config"))
		return check_files(options, warnings, has_word(argv, "--json"), error);
	complain(error);
	if (options)
		complain_of_others(options, error);
	options_unref(options);
	return 1;
}

int main(int argc, char **argv)
{
	struct program program = {.ready_handle = -1, .pidfile = -1};
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	enum options_request request;
	int exit_code;

	if (argc > 1 && !strcmp(argv[1], PLUGIN_HOST_FLAG))
		return plugin_host_main(argc, argv);
	signals_hold();
	file_guard_standard();
	console_tls_init();
	if (!options_load(&program.options, &request, argc, argv, warnings, &error))
		return complain_of_options(argc, argv, warnings, error);
	if (only_told(request))
		return 0;
	if (program.options->check_config)
		return check_files(program.options, warnings, program.options->json, NULL);
	for (guint i = 0; i < warnings->len; i++)
		fprintf(stderr, "opensm: %s\n", (char *)warnings->pdata[i]);
	if (program.options->create_config) {
		exit_code = options_write(program.options, program.options->create_config, &error)
				    ? 0
				    : complain(error);
		options_unref(program.options);
		return exit_code;
	}
	exit_code = serve(&program);
	program_clear(&program);
	return exit_code;
}
