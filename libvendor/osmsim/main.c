// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* osmsim: parse, build the fabric and the server, run, tear down in reverse. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libvendor/osmsim/server.h"

struct program {
	char *socket;
	char **arguments;
	bool version, debug;
	double loss, duplicate, corrupt;
	int64_t hop_ns, sma_ns, jitter_ns, seed;
	struct runtime *rt;
	struct log *log;
	struct topology *topology;
	struct sim *sim;
	struct server *server;
	struct watch signals;
};

static int complain(const char *text)
{
	fprintf(stderr, "osmsim: %s\n", text);
	return 1;
}

static bool parse(struct program *program, int *argc, char ***argv, GError **error)
{
	gboolean version = FALSE, debug = FALSE;
	const GOptionEntry entries[] = {
		{"socket", 's', 0, G_OPTION_ARG_FILENAME, &program->socket,
		 "Unix socket to listen on", "PATH"},
		{"hop-ns", 0, 0, G_OPTION_ARG_INT64, &program->hop_ns,
		 "Latency of a link and forwarding step", "NS"},
		{"sma-ns", 0, 0, G_OPTION_ARG_INT64, &program->sma_ns,
		 "Time an SMA needs for one MAD", "NS"},
		{"jitter-ns", 0, 0, G_OPTION_ARG_INT64, &program->jitter_ns,
		 "Random extra latency, at most", "NS"},
		{"loss", 0, 0, G_OPTION_ARG_DOUBLE, &program->loss,
		 "Probability that a packet is lost", "P"},
		{"duplicate", 0, 0, G_OPTION_ARG_DOUBLE, &program->duplicate,
		 "Probability that it arrives twice", "P"},
		{"corrupt", 0, 0, G_OPTION_ARG_DOUBLE, &program->corrupt,
		 "Probability that one bit of it flips", "P"},
		{"seed", 0, 0, G_OPTION_ARG_INT64, &program->seed, "Seed of all chance", "N"},
		{"debug", 'd', 0, G_OPTION_ARG_NONE, &debug, "Log what becomes of packets", NULL},
		{"version", 'V', 0, G_OPTION_ARG_NONE, &version, "Print the version", NULL},
		{G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &program->arguments, NULL,
		 "FILE|SPEC"},
		{0},
	};
	GOptionContext *context = g_option_context_new("- a simulated InfiniBand fabric");
	bool parsed;

	program->seed = 1;
	g_option_context_add_main_entries(context, entries, NULL);
	parsed = g_option_context_parse(context, argc, argv, error);
	g_option_context_free(context);
	program->version = version;
	program->debug = debug;
	return parsed;
}

/* The directory of the default socket is this user's alone. */
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
	    !S_ISDIR(status.st_mode) || status.st_uid != getuid()) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_ACCES,
			    "%s is no directory of this user", directory);
		return NULL;
	}
	return g_build_filename(directory, OSMSIM_SOCKET_DEFAULT, NULL);
}

static bool build(struct program *program, const char *what, GError **error)
{
	const struct log_config log_config = {
		.file = "stderr",
		.flags = LOG_ERROR | LOG_INFO | (program->debug ? LOG_VERBOSE | LOG_DEBUG : 0),
	};
	struct sim_config config;

	sim_config_default(&config);
	config.seed = program->seed;
	config.hop_ns = program->hop_ns;
	config.sma_ns = program->sma_ns;
	config.jitter_ns = program->jitter_ns;
	config.loss = program->loss;
	config.duplicate = program->duplicate;
	config.corrupt = program->corrupt;
	if (!program->socket && !(program->socket = default_socket(error)))
		return false;
	program->log = log_new(&log_config, error);
	program->topology = topology_load(what, error);
	if (!program->log || !program->topology)
		return false;
	program->sim = sim_new(program->rt, program->log, program->topology, &config);
	program->server =
		server_new(program->rt, program->log, program->sim, program->socket, error);
	return program->server != NULL;
}

static void signal_ready(struct watch *watch, uint32_t events)
{
	struct program *program =
		(struct program *)((char *)watch - offsetof(struct program, signals));

	(void)events;
	program->server->quit = true;
}

static void run(struct program *program)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	program->signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	program->signals.ready = signal_ready;
	server_watch(program->server, &program->signals, EPOLLIN);
	printf("osmsim: %u hosts and %u switches at %s\n", topology_hosts(program->topology),
	       topology_switches(program->topology), program->socket);
	fflush(stdout);
	while (!program->server->quit)
		server_turn(program->server, UINT64_MAX);
	close(program->signals.fd);
}

static void tear_down(struct program *program)
{
	server_free(program->server);
	sim_free(program->sim);
	if (program->topology)
		topology_free(program->topology);
	log_free(program->log);
	runtime_free(program->rt);
	g_free(program->socket);
	g_strfreev(program->arguments);
}

int main(int argc, char **argv)
{
	struct program program = {.rt = runtime_new(RUNTIME_REAL)};
	g_autoptr(GError) error = NULL;
	int code = 0;

	if (!parse(&program, &argc, &argv, &error))
		code = complain(error->message);
	else if (program.version)
		puts("osmsim " PACKAGE_VERSION);
	else if (!program.arguments || program.arguments[1])
		code = complain("one topology is needed, a FILE or SPEC; see --help");
	else if (!build(&program, program.arguments[0], &error))
		code = complain(error->message);
	else
		run(&program);
	tear_down(&program);
	return code;
}
