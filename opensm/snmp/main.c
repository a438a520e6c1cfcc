// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * opensm-snmp: a subagent of snmpd that shows a running opensm, which it asks by its control
 * socket.
 */
#include "config.h"

#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "client/say.h"
#include "snmp/subagent.h"
#include "snmp/mirror.h"
#include "snmp/news.h"
#include "snmp/notices.h"

#define UNSENT_MS 1000 /* until a notification is tried again that snmpd could not be given */

struct program {
	char *control_socket, *agentx, *base;
	gboolean fabric;
	struct mirror *mirror;
	struct news *news;
	struct notices *notices;
	struct subagent *agent;
	guint timer; /* until the next notification */
	GMainLoop *loop;
};

/* ---- notifications ---- */

static gboolean on_timer(gpointer data);

static void set_timer(struct program *program)
{
	gint64 due = notices_due(program->notices), wait;

	if (program->timer || due < 0)
		return;
	wait = (due - g_get_monotonic_time()) / 1000 + 1;
	if (!subagent_is_connected(program->agent))
		wait = UNSENT_MS;
	program->timer = g_timeout_add((guint)MAX(wait, 0), on_timer, program);
}

static gboolean on_timer(gpointer data)
{
	struct program *program = data;
	struct notice notice;

	program->timer = 0;
	if (subagent_is_connected(program->agent) &&
	    notices_take(program->notices, g_get_monotonic_time(), &notice)) {
		subagent_notify(program->agent, &notice);
		notice_clear(&notice);
	}
	set_timer(program);
	return G_SOURCE_REMOVE;
}

static void on_known(void *arg)
{
	struct program *program = arg;

	notices_look(program->notices, mirror_facts(program->mirror));
	set_timer(program);
}

static void on_news(void *arg, JsonArray *events)
{
	struct program *program = arg;

	notices_read(program->notices, mirror_facts(program->mirror), events);
	set_timer(program);
	mirror_forget(program->mirror, MIRROR_STATUS);
	mirror_want(program->mirror, MIRROR_STATUS, on_known, program);
}

/* ---- life ---- */

static int complain(const GError *error)
{
	say(LOG_ERR, "%s", error->message);
	return 1;
}

static gboolean on_quit(gpointer data)
{
	g_main_loop_quit(((struct program *)data)->loop);
	return G_SOURCE_CONTINUE;
}

static int run(struct program *program)
{
	const struct subagent_config config = {program->base ? program->base : SUBAGENT_BASE,
					       program->agentx, program->fabric};
	g_autoptr(GError) error = NULL;

	signal(SIGPIPE, SIG_IGN);
	program->mirror = mirror_new(program->control_socket);
	program->notices = notices_new();
	program->agent = subagent_new(&config, program->mirror, &error);
	if (!program->agent)
		return complain(error);
	program->news = news_new(program->control_socket, on_news, program);
	program->loop = g_main_loop_new(NULL, FALSE);
	g_unix_signal_add(SIGINT, on_quit, program);
	g_unix_signal_add(SIGTERM, on_quit, program);
	g_main_loop_run(program->loop);
	g_main_loop_unref(program->loop);
	return 0;
}

static void clear(struct program *program)
{
	if (program->timer)
		g_source_remove(program->timer);
	news_free(program->news);
	subagent_free(program->agent);
	mirror_free(program->mirror);
	notices_free(program->notices);
	g_free(program->control_socket);
	g_free(program->agentx);
	g_free(program->base);
}

/* False: *code is what to exit with. */
static bool take_arguments(struct program *program, int argc, char **argv, int *code)
{
	gboolean version = FALSE;
	const GOptionEntry entries[] = {
		{"control-socket", 's', 0, G_OPTION_ARG_FILENAME, &program->control_socket,
		 "socket of the daemon, instead of the only one in " OSM_RUN_DIR, "FILE"},
		{"agentx", 'x', 0, G_OPTION_ARG_STRING, &program->agentx,
		 "where snmpd listens for subagents, as in its agentXSocket", "ADDRESS"},
		{"base", 'b', 0, G_OPTION_ARG_STRING, &program->base,
		 "OID of which OPENSM-MIB is .1, instead of " SUBAGENT_BASE, "OID"},
		{"fabric", 'f', 0, G_OPTION_ARG_NONE, &program->fabric,
		 "show tables of all nodes and ports, too", NULL},
		{"version", 0, 0, G_OPTION_ARG_NONE, &version, "print the version and exit", NULL},
		{NULL}};
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);
	g_autoptr(GError) error = NULL;

	g_option_context_set_summary(context, "Shows a running opensm to SNMP managers, as a "
					      "subagent of snmpd.");
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
		puts("opensm-snmp " PACKAGE_VERSION);
	return !version;
}

int main(int argc, char **argv)
{
	struct program program = {0};
	int code = 0;

	prctl(PR_SET_DUMPABLE, 0);
	if (take_arguments(&program, argc, argv, &code))
		code = run(&program);
	clear(&program);
	return code;
}
