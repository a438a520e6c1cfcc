// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * opensm-web: serves HTTP for a running opensm, which it asks by its control socket.
 */
#include "config.h"

#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "web/api/asker.h"
#include "web/api/stats.h"
#include "web/api/fabric.h"
#include "web/api/wait.h"
#include "web/auth/login.h"
#include "web/base/exchange.h"
#include "web/base/say.h"
#include "web/base/web.h"
#include "web/routes.h"
#include "web/serve/listen.h"
#include "web/serve/server.h"

#define CONFIG_FILE OSM_CONF_DIR "/opensm-web.conf"
/* Connections to the daemon, which gives a user of its group 4; one is for waits (api/wait.c). */
#define CONNECTIONS 2
#define CONNECTIONS_OF_PROBES 1

/* Besides connections: files that are sent (web/base/held.h), libraries, the loop, the daemon. */
#define DESCRIPTORS (HELD_MAX / HELD_LEAST + 32)

struct program {
	char *path; /* of the configuration */
	bool path_given, check;
	struct web web;
	struct config *started; /* the configuration of the start */
	bool tls;		/* is served */
	GPtrArray *listeners;
	GMainLoop *loop;
};

static int complain(const GError *error)
{
	g_auto(GStrv) lines = g_strsplit(error->message, "\n", -1);

	for (unsigned int i = 0; lines[i]; i++)
		say(LOG_ERR, "%s", lines[i]);
	return 1;
}

/* ---- files ---- */

/* What the configuration says, and the files that it names. */
struct files {
	struct config *config;
	struct users *users;
	struct tls_files *tls; /* NULL: none */
};

static void files_clear(struct files *files)
{
	config_free(files->config);
	users_free(files->users);
	tls_files_free(files->tls);
	*files = (struct files){0};
}

/* To be cleared in both cases. */
static bool files_read(struct files *files, const struct program *program, GError **error)
{
	struct config *config = config_read(program->path, program->path_given, error);

	*files = (struct files){.config = config};
	if (!config || !config_check(config, program->path, error))
		return false;
	files->users = users_read(config, error);
	if (files->users && config->tls_cert)
		files->tls = tls_read(config->tls_cert, config->tls_key, config->tls_ca, error);
	return files->users && (files->tls || !config->tls_cert);
}

/* From now on they are in effect. */
static void keep(struct program *program, struct files *files)
{
	struct web *web = &program->web;

	if (!program->started)
		program->started = files->config;
	else if (web->config != program->started)
		config_free(web->config);
	users_free(web->users);
	web->config = g_steal_pointer(&files->config);
	web->users = g_steal_pointer(&files->users);
}

/* ---- requests ---- */

static void begun(void *arg, struct request *request)
{
	routes_begun(arg, request);
}

static void serve(void *arg, struct request *request)
{
	routes_serve(arg, request);
}

static void served(void *arg, const struct request *request, unsigned int status)
{
	struct web *web = arg;

	if (status)
		stats_add(web->stats, request_handler(request), status, request_seconds(request));
}

/* ---- signals ---- */

static void tell_what_stays(const struct program *program)
{
	g_autofree char *later = config_later(program->started, program->web.config);

	if (later)
		say(LOG_WARNING, "SIGHUP: %s: what has changed takes effect at the next start",
		    later);
	if (program->tls && !program->web.config->tls_cert)
		say(LOG_WARNING, "SIGHUP: tls_cert: TLS with the last certificate stays until the "
				 "next start");
}

/* The old values stay if there is a mistake in the new ones. */
static gboolean on_hangup(gpointer data)
{
	struct program *program = data;
	g_autoptr(GError) error = NULL;
	struct files files;

	if (files_read(&files, program, &error) &&
	    (!files.tls ||
	     server_renew(program->web.server, g_steal_pointer(&files.tls), &error))) {
		keep(program, &files);
		program->tls |= program->web.config->tls_cert != NULL;
		say(LOG_NOTICE, "SIGHUP: the files were read again");
		tell_what_stays(program);
	} else {
		complain(error);
		say(LOG_ERR, "SIGHUP: the files that were in effect before stay so");
	}
	files_clear(&files);
	return G_SOURCE_CONTINUE;
}

static gboolean on_quit(gpointer data)
{
	g_main_loop_quit(((struct program *)data)->loop);
	return G_SOURCE_CONTINUE;
}

/* ---- life ---- */

/* As many as there are descriptors for, at most the configured ones. */
static uint32_t connections_that_fit(const struct config *config)
{
	uint32_t max = config->max_connections;
	rlim_t wanted = (rlim_t)max + SERVER_SPARE(max) + DESCRIPTORS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return max;
	if (limit.rlim_cur < wanted) {
		limit.rlim_cur = MIN(limit.rlim_max, wanted);
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	while (max > 1 && (rlim_t)max + SERVER_SPARE(max) + DESCRIPTORS > limit.rlim_cur)
		max--;
	if (max < config->max_connections)
		say(LOG_WARNING,
		    "max_connections %u: only %u fit, as this process may open %llu files; "
		    "expected LimitNOFILE, or ulimit -n, of at least %llu",
		    config->max_connections, max, (unsigned long long)limit.rlim_cur,
		    (unsigned long long)wanted);
	return max;
}

static bool may_listen(const struct program *program, GError **error)
{
	const struct config *config = program->web.config;

	if (!program->listeners->len) {
		g_set_error(error, CONFIG_ERROR, 0, "%s: listen: expected an address to listen at",
			    program->path);
		return false;
	}
	if (listen_is_local(program->listeners) || config->tls_cert || config->insecure_listen)
		return true;
	g_set_error(error, CONFIG_ERROR, 0,
		    "%s: other hosts reach a socket of the service manager: expected tls_cert and "
		    "tls_key, or insecure_listen TRUE",
		    program->path);
	return false;
}

/* Takes over the certificates. */
static bool build(struct program *program, struct tls_files *tls, GError **error)
{
	struct web *web = &program->web;
	struct server_config config = {
		.begun = begun, .serve = serve, .served = served, .arg = web, .tls = tls};

	program->listeners = listen_open(web->config->listen, web->config->listen_mode, error);
	if (!program->listeners || !may_listen(program, error)) {
		tls_files_free(tls);
		return false;
	}
	web->link = link_new(web->config->control_socket, CONNECTIONS);
	web->asker = asker_new(web->link, &web->held);
	web->probe_link = link_new(web->config->control_socket, CONNECTIONS_OF_PROBES);
	web->probes = asker_new(web->probe_link, &web->held);
	web->waits = waits_new(web->config->control_socket);
	web->views = views_new(web->link, web->asker);
	web->stats = stats_new();
	web->login = login_new();
	config.listeners = program->listeners;
	config.max_connections = connections_that_fit(web->config);
	config.max_per_address = web->config->max_connections_per_address;
	web->server = server_new(&config, error);
	return web->server != NULL;
}

static void tell_addresses(const struct program *program)
{
	for (guint i = 0; i < program->listeners->len; i++) {
		const struct listener *listener = program->listeners->pdata[i];
		bool tls = listener->has_ip && program->web.config->tls_cert;

		say(LOG_NOTICE, "serving at %s%s", listener->text, tls ? ", with TLS" : "");
	}
}

static void run(struct program *program)
{
	program->loop = g_main_loop_new(NULL, FALSE);
	signal(SIGPIPE, SIG_IGN);
	g_unix_signal_add(SIGINT, on_quit, program);
	g_unix_signal_add(SIGTERM, on_quit, program);
	g_unix_signal_add(SIGHUP, on_hangup, program);
	tell_addresses(program);
	g_main_loop_run(program->loop);
	g_main_loop_unref(program->loop);
}

static void clear(struct program *program)
{
	struct web *web = &program->web;

	server_free(web->server);
	login_free(web->login);
	asker_free(web->asker);
	asker_free(web->probes);
	waits_free(web->waits);
	link_free(web->link);
	link_free(web->probe_link);
	views_free(web->views);
	stats_free(web->stats);
	listen_close(program->listeners);
	if (web->config != program->started)
		config_free(web->config);
	config_free(program->started);
	users_free(web->users);
	g_free(program->path);
}

/* False: *code is what to exit with. */
static bool take_arguments(struct program *program, int argc, char **argv, int *code)
{
	gboolean check = FALSE, version = FALSE;
	const GOptionEntry entries[] = {
		{"config", 'F', 0, G_OPTION_ARG_FILENAME, &program->path,
		 "configuration, instead of " CONFIG_FILE, "FILE"},
		{"check-config", 0, 0, G_OPTION_ARG_NONE, &check,
		 "read the configuration and the files that it names, report errors, and exit",
		 NULL},
		{"version", 0, 0, G_OPTION_ARG_NONE, &version, "print the version and exit", NULL},
		{NULL}};
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);
	g_autoptr(GError) error = NULL;

	g_option_context_set_summary(context, "Serves metrics, probes and answers of a running "
					      "opensm by HTTP.");
	g_option_context_add_main_entries(context, entries, NULL);
	*code = 0;
	if (!g_option_context_parse(context, &argc, &argv, &error)) {
		*code = complain(error);
		return false;
	}
	if (argc > 1) {
		say(LOG_ERR, "'%s' is not expected", argv[1]);
		*code = 1;
		return false;
	}
	program->check = check;
	program->path_given = program->path != NULL;
	if (!program->path)
		program->path = g_strdup(CONFIG_FILE);
	if (version)
		puts("opensm-web " PACKAGE_VERSION);
	return !version;
}

/* Returns what to exit with. */
static int serve_files(struct program *program)
{
	g_autoptr(GError) error = NULL;
	struct files files;
	int code = 0;

	if (!files_read(&files, program, &error)) {
		code = complain(error);
	} else if (program->check) {
		puts(files.config->listen->len
			     ? "the configuration is good"
			     : "the configuration has no listen: it serves only at sockets that "
			       "the "
			       "service manager hands over, as opensm-web.socket does");
	} else {
		keep(program, &files);
		program->tls = program->web.config->tls_cert != NULL;
		if (build(program, g_steal_pointer(&files.tls), &error))
			run(program);
		else
			code = complain(error);
	}
	files_clear(&files);
	return code;
}

int main(int argc, char **argv)
{
	struct program program = {0};
	int code = 0;

	prctl(PR_SET_DUMPABLE, 0); /* no core file with keys in it */
	if (take_arguments(&program, argc, argv, &code))
		code = serve_files(&program);
	clear(&program);
	return code;
}
