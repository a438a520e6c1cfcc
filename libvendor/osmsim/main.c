// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * osmsim: parse, build the fabric and the server, run, tear down in reverse. Without a topology it
 * sends commands to a running server.
 */
#include "config.h"

#include <complib/file.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libvendor/osmsim/console.h"
#include "libvendor/osmsim/request.h"
#include "libvendor/osmsim/server.h"
#include "vendor/capture.h"

struct program {
	char *socket, *commands, *pcap;
	char **arguments;
	gboolean version, debug, interactive;
	double loss, duplicate, corrupt;
	int64_t hop_ns, sma_ns, jitter_ns, seed;
	struct runtime *rt;
	struct log *log;
	struct topology *topology;
	struct capture *capture;
	struct sim *sim;
	struct server *server;
	struct console *console;
	struct watch signals;
};

static int complain(const char *text)
{
	fprintf(stderr, "osmsim: %s\n", text);
	return 1;
}

/* ---- options ---- */

static bool range_error(GError **error, const char *what)
{
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s", what);
	return false;
}

static bool check(const struct program *program, GError **error)
{
	const double chances[] = {program->loss, program->duplicate, program->corrupt};

	for (unsigned int i = 0; i < G_N_ELEMENTS(chances); i++)
		if (!(chances[i] >= 0 && chances[i] <= 1))
			return range_error(error, "loss, duplicate and corrupt are probabilities "
						  "from 0 to 1");
	if (program->hop_ns < 0 || program->sma_ns < 0 || program->jitter_ns < 0)
		return range_error(error, "times cannot be negative");
	if (program->arguments && program->arguments[1])
		return range_error(error, "expected only one topology");
	if (!program->version && !program->arguments && !program->commands)
		return range_error(error, "a topology is needed, FILE or SPEC; or -c for a "
					  "running server: see --help");
	return true;
}

static bool parse(struct program *program, int *argc, char ***argv, GError **error)
{
	const GOptionEntry entries[] = {
		{"socket", 's', 0, G_OPTION_ARG_FILENAME, &program->socket,
		 "Unix socket to listen on, or of a running server", "PATH"},
		{"command", 'c', 0, G_OPTION_ARG_STRING, &program->commands,
		 "Run console commands at the start; without a topology, in a running server",
		 "COMMANDS"},
		{"interactive", 'i', 0, G_OPTION_ARG_NONE, &program->interactive,
		 "Read commands from standard input, even if it is not a terminal", NULL},
		{"pcap", 0, 0, G_OPTION_ARG_FILENAME, &program->pcap,
		 "Write every packet that enters the fabric, for Wireshark", "FILE"},
		{"hop-ns", 0, 0, G_OPTION_ARG_INT64, &program->hop_ns,
		 "Latency of a link and forwarding step", "NS"},
		{"sma-ns", 0, 0, G_OPTION_ARG_INT64, &program->sma_ns,
		 "Time an SMA needs for one MAD", "NS"},
		{"jitter-ns", 0, 0, G_OPTION_ARG_INT64, &program->jitter_ns,
		 "Upper limit of random extra latency", "NS"},
		{"loss", 0, 0, G_OPTION_ARG_DOUBLE, &program->loss,
		 "Probability that a packet is lost", "P"},
		{"duplicate", 0, 0, G_OPTION_ARG_DOUBLE, &program->duplicate,
		 "Probability that it arrives twice", "P"},
		{"corrupt", 0, 0, G_OPTION_ARG_DOUBLE, &program->corrupt,
		 "Probability that one bit of it flips", "P"},
		{"seed", 0, 0, G_OPTION_ARG_INT64, &program->seed, "Seed of all random events",
		 "N"},
		{"debug", 'd', 0, G_OPTION_ARG_NONE, &program->debug,
		 "Log what happens to "
		 "packets",
		 NULL},
		{"version", 'V', 0, G_OPTION_ARG_NONE, &program->version, "Print the version",
		 NULL},
		{G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &program->arguments, NULL,
		 "FILE|SPEC"},
		{0},
	};
	GOptionContext *context = g_option_context_new(NULL);
	bool parsed;

	g_option_context_set_summary(context, "Simulates an InfiniBand fabric; osmsim-run runs "
					      "programs on its nodes.");
	g_option_context_add_main_entries(context, entries, NULL);
	parsed = g_option_context_parse(context, argc, argv, error);
	g_option_context_free(context);
	return parsed && check(program, error);
}

/* The directory of the default socket is private to this user. */
static char *default_socket(GError **error)
{
	const char *runtime = g_getenv("XDG_RUNTIME_DIR"), *given = g_getenv(OSMSIM_ENV_SOCKET);
	g_autofree char *directory = NULL;
	struct stat status;

	if (given && *given)
		return g_strdup(given);
	directory = runtime && *runtime ? g_strdup(runtime)
					: g_strdup_printf("/tmp/osmsim-%u", (unsigned int)getuid());
	if ((mkdir(directory, 0700) != 0 && errno != EEXIST) || lstat(directory, &status) != 0 ||
	    !S_ISDIR(status.st_mode) || status.st_uid != getuid() || status.st_mode & 022) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_ACCES,
			    "%s is not a directory of this user alone", directory);
		return NULL;
	}
	return g_build_filename(directory, OSMSIM_SOCKET_DEFAULT, NULL);
}

/* ---- as a client ---- */

static int hand_over(const struct program *program)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *out = NULL;
	bool failed = false;

	if (!request_commands(program->socket, program->commands, &out, &failed, &error))
		return complain(error->message);
	fputs(out, failed ? stderr : stdout);
	return failed;
}

/* ---- as the server ---- */

static void trace(void *arg, uint64_t now_ns, const struct vendor_address *to,
		  uint64_t from_port_guid, const uint8_t *data, size_t length)
{
	const struct program *program = arg;
	const struct sim_port *from = g_hash_table_lookup(program->sim->by_guid, &from_port_guid);
	const struct capture_address address = {
		.slid = to->lid == IBA_LID_PERMISSIVE || !from ? IBA_LID_PERMISSIVE
							       : from->info.lid,
		.dlid = to->lid,
		.sl = to->sl,
		.src_qp = to->qpn == IBA_QP0 ? IBA_QP0 : IBA_QP1,
		.dest_qp = to->qpn,
		.q_key = to->qkey,
		.p_key = IBA_P_KEY_DEFAULT_FULL,
	};

	(void)now_ns;
	capture_write(program->capture, (uint64_t)g_get_real_time() * NS_PER_US, &address, data,
		      length);
}

static void make_sim(struct program *program)
{
	struct sim_config config;

	sim_config_default(&config);
	config.seed = program->seed;
	config.hop_ns = program->hop_ns;
	config.sma_ns = program->sma_ns;
	config.jitter_ns = program->jitter_ns;
	config.loss = program->loss;
	config.duplicate = program->duplicate;
	config.corrupt = program->corrupt;
	program->sim = sim_new(program->rt, program->log, program->topology, &config);
	if (program->capture)
		sim_set_trace(program->sim, trace, program);
}

static bool build(struct program *program, GError **error)
{
	const struct log_config log_config = {
		.file = "stderr",
		.flags = LOG_ERROR | LOG_INFO | (program->debug ? LOG_VERBOSE | LOG_DEBUG : 0),
	};

	program->log = log_new(&log_config, error);
	if (!program->log)
		return false;
	program->topology = topology_load(program->arguments[0], error);
	if (!program->topology)
		return false;
	if (program->pcap && !(program->capture = capture_new(program->pcap, program->log, error)))
		return false;
	make_sim(program);
	program->server =
		server_new(program->rt, program->log, program->sim, program->socket, error);
	return program->server != NULL;
}

static void signal_ready(struct watch *watch, uint32_t events)
{
	struct program *program = container_of(watch, struct program, signals);

	(void)events;
	program->server->quit = true;
}

static void catch_signals(struct program *program)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	program->signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	program->signals.ready = signal_ready;
	server_watch(program->server, &program->signals, EPOLLIN);
}

/* False: a command failed. */
static bool run_commands(struct program *program)
{
	g_autoptr(GString) out = g_string_new(NULL);
	bool done = !program->commands || console_run(program->server, program->commands, out);

	fputs(out->str, done ? stdout : stderr);
	fflush(stdout);
	return done;
}

/* Not in the background: input there is for other programs, and reading it would stop osmsim. */
static bool has_terminal(void)
{
	/* -1: not a terminal, or that of another session. */
	pid_t foreground = tcgetpgrp(STDIN_FILENO);

	return isatty(STDIN_FILENO) && (foreground < 0 || foreground == getpgrp());
}

static int run(struct program *program)
{
	g_autofree char *unjoined = topology_tell_unjoined(program->topology, 0);
	bool terminal = has_terminal();

	catch_signals(program);
	signal(SIGTTIN, SIG_IGN); /* if moved to the background later, it reads an end of input */
	if (!run_commands(program))
		return 1;
	if (unjoined)
		printf("osmsim: %s\n", unjoined);
	printf("osmsim: %u hosts and %u switches at %s\n", topology_hosts(program->topology),
	       topology_switches(program->topology), program->socket);
	fflush(stdout);
	g_clear_pointer(&program->topology, topology_free);
	if (terminal || program->interactive)
		program->console = console_new(program->server, STDIN_FILENO, terminal);
	while (!program->server->quit)
		server_turn(program->server, UINT64_MAX);
	return 0;
}

static int serve(struct program *program)
{
	g_autoptr(GError) error = NULL;
	int code = build(program, &error) ? run(program) : complain(error->message);

	console_free(program->console);
	server_free(program->server);
	sim_free(program->sim);
	capture_free(program->capture);
	if (program->topology)
		topology_free(program->topology);
	if (program->log)
		log_free(program->log);
	if (program->signals.fd >= 0)
		close(program->signals.fd);
	return code;
}

int main(int argc, char **argv)
{
	struct program program = {.seed = 1, .signals.fd = -1};
	g_autoptr(GError) error = NULL;
	int code = 0;

	file_guard_standard();
	program.rt = runtime_new(RUNTIME_REAL);
	if (!parse(&program, &argc, &argv, &error))
		code = complain(error->message);
	else if (program.version)
		puts("osmsim " PACKAGE_VERSION);
	else if (!program.socket && !(program.socket = default_socket(&error)))
		code = complain(error->message);
	else
		code = program.arguments ? serve(&program) : hand_over(&program);
	runtime_free(program.rt);
	g_free(program.socket);
	g_free(program.commands);
	g_free(program.pcap);
	g_strfreev(program.arguments);
	return code;
}
