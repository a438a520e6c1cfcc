// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Probes. Alive is a daemon that answers; ready one that serves: a MASTER with a subnet, or a
 * STANDBY that hears its master. A sick fabric makes a daemon unhealthy, not dead.
 */
#include <string.h>

#include "web/api/api.h"
#include "web/api/asker.h"
#include "client/json.h"

#define ALIVE_MS 5000
#define AGE_MS 500
#define MASTER_SILENT_S 30 /* of a STANDBY: a master that was not heard for so long is gone */

/* A probe that waits for the daemon, and what was found out so far. */
struct probe {
	struct web *web;
	struct request *request;
	GString *lines; /* one for each check */
	bool failed;
};

static struct probe *begin(struct web *web, struct request *request)
{
	struct probe *probe = g_new0(struct probe, 1);

	probe->web = web;
	probe->request = request_ref(request);
	probe->lines = g_string_new(NULL);
	return probe;
}

/* why: NULL if the check is passed. */
static void note(struct probe *probe, const char *name, const char *why)
{
	probe->failed |= why != NULL;
	if (why)
		g_string_append_printf(probe->lines, "[-]%s failed: %s\n", name, why);
	else
		g_string_append_printf(probe->lines, "[+]%s ok\n", name);
}

/* Only failures are told, unless ?verbose asks for all. */
static void end(struct probe *probe)
{
	bool verbose = request_argument(probe->request, "verbose") || probe->failed;
	char *text = verbose ? g_strdup(probe->lines->str) : g_strdup("ok\n");

	request_answer_text(probe->request, probe->failed ? 503 : 200, "text/plain; charset=utf-8",
			    text);
	request_unref(probe->request);
	g_string_free(probe->lines, TRUE);
	g_free(probe);
}

/* In one line. */
static char *words_of(GBytes *text)
{
	gsize size = 0;
	const char *octets = g_bytes_get_data(text, &size);

	return g_strdelimit(g_strchomp(g_strndup(octets, size)), "\r\n", ' ');
}

static bool is_answer(enum control_status status)
{
	return status == CONTROL_DONE || status >= CONTROL_NO_SM;
}

/* The check "daemon": true if it has answered. */
static bool note_daemon(struct probe *probe, enum control_status status, GBytes *text)
{
	g_autofree char *words = is_answer(status) ? NULL : words_of(text);

	note(probe, "daemon", words);
	return !words;
}

static void on_version(void *arg, enum control_status status, GBytes *text)
{
	struct probe *probe = arg;

	note_daemon(probe, status, text);
	end(probe);
}

void probe_live(struct web *web, struct request *request)
{
	asker_ask(web->probes, "version json", AGE_MS, ALIVE_MS, on_version, begin(web, request));
}

/* ---- ready ---- */

static void note_master(struct probe *probe, JsonObject *status)
{
	note(probe, "master", NULL);
	note(probe, "subnet", json_flag(status, "has_subnet") ? NULL : "no sweep has ended yet");
}

static void on_standby_health(void *arg, enum control_status status, GBytes *text)
{
	struct probe *probe = arg;
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *master = json_object(json_read(parser, text), "master");
	gint64 silent_s = json_number(master, "heard_seconds_ago");

	if (!is_answer(status))
		note_daemon(probe, status, text);
	else if (!master || !json_flag(master, "heard"))
		note(probe, "standby", "it has not heard a master yet");
	else
		note(probe, "standby",
		     silent_s > MASTER_SILENT_S ? "its master does not answer" : NULL);
	end(probe);
}

static void on_status(void *arg, enum control_status status, GBytes *text)
{
	struct probe *probe = arg;
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *object = json_read(parser, text);
	const char *state = json_text(object, "sm_state");
	const char *role = request_argument(probe->request, "role");
	g_autofree char *why = g_strdup_printf("the SM is %s", *state ? state : "unknown");

	if (note_daemon(probe, status, text)) {
		if (!strcmp(state, "Master")) {
			note_master(probe, object);
		} else if (!strcmp(state, "Standby") && !role) {
			asker_ask(probe->web->probes, "health json", AGE_MS, ALIVE_MS,
				  on_standby_health, probe);
			return;
		} else {
			note(probe, role ? "master" : "state", why);
		}
	}
	end(probe);
}

void probe_ready(struct web *web, struct request *request)
{
	const char *role = request_argument(request, "role");

	if (role && strcmp(role, "master") != 0)
		request_fail(request, 400, "role: expected master");
	else
		asker_ask(web->probes, "status json", AGE_MS, ALIVE_MS, on_status,
			  begin(web, request));
}

/* ---- health ---- */

static void on_health(void *arg, enum control_status status, GBytes *text)
{
	struct probe *probe = arg;
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *health = json_read(parser, text);

	if (is_answer(status) && health)
		request_answer(probe->request, json_flag(health, "healthy") ? 200 : 503, WEB_JSON,
			       g_bytes_ref(text));
	else
		api_fail(probe->web, probe->request, CONTROL_UNREACHABLE, text, 503);
	request_unref(probe->request);
	g_string_free(probe->lines, TRUE);
	g_free(probe);
}

void probe_health(struct web *web, struct request *request)
{
	asker_ask(web->probes, "health json", AGE_MS, ALIVE_MS, on_health, begin(web, request));
}
