// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * opensm-ssa: what is of the Scalable SA outside of the daemon. See node.h for its parts.
 */
#include "config.h"

#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "client/say.h"
#include "ssa/node/node.h"

#define CONFIG_FILE OSM_CONF_DIR "/ssa.conf"

struct program {
	char *path; /* of the configuration; NULL: CONFIG_FILE */
	gboolean check;
	GMainLoop *loop;
};

static int complain(const GError *error)
{
	g_auto(GStrv) lines = g_strsplit(error->message, "\n", -1);

	for (unsigned int i = 0; lines[i]; i++)
		say(LOG_ERR, "%s", lines[i]);
	return 1;
}

static gboolean on_quit(gpointer data)
{
	g_main_loop_quit(((struct program *)data)->loop);
	return G_SOURCE_CONTINUE;
}

static int run(struct program *program)
{
	g_autoptr(GError) error = NULL;
	struct ssa_settings *settings =
		ssa_settings_read(program->path ? program->path : CONFIG_FILE, &error);
	struct ssa_node *node = NULL;

	if (settings && !program->check)
		node = ssa_node_start(settings, &error);
	if (node) {
		signal(SIGPIPE, SIG_IGN);
		program->loop = g_main_loop_new(NULL, FALSE);
		g_unix_signal_add(SIGINT, on_quit, program);
		g_unix_signal_add(SIGTERM, on_quit, program);
		g_main_loop_run(program->loop);
		g_main_loop_unref(program->loop);
	}
	ssa_node_stop(node);
	ssa_settings_free(settings);
	return error ? complain(error) : 0;
}

/* False: *code is what to exit with. */
static bool take_arguments(struct program *program, int argc, char **argv, int *code)
{
	gboolean version = FALSE;
	const GOptionEntry entries[] = {
		{"config", 'c', 0, G_OPTION_ARG_FILENAME, &program->path,
		 "configuration, instead of " CONFIG_FILE, "FILE"},
		{"check", 0, 0, G_OPTION_ARG_NONE, &program->check,
		 "read the configuration, tell its mistakes, and exit", NULL},
		{"version", 0, 0, G_OPTION_ARG_NONE, &version, "print the version and exit", NULL},
		{NULL}};
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);
	g_autoptr(GError) error = NULL;

	g_option_context_set_summary(context, "Passes on what hosts need to answer their own path "
					      "queries, and keeps it on this host.");
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
	if (version)
		puts("opensm-ssa " PACKAGE_VERSION);
	return !version;
}

int main(int argc, char **argv)
{
	struct program program = {0};
	int code = 0;

	prctl(PR_SET_DUMPABLE, 0);
	if (take_arguments(&program, argc, argv, &code))
		code = run(&program);
	g_free(program.path);
	return code;
}
