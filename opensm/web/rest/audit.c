// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/rest/audit.h"

#include <string.h>

#include "client/json.h"
#include "web/base/exchange.h"
#include "web/base/say.h"

#define SHOWN_MAX 200 /* octets of a path */

/* Text of the client in quotes, so that it is not taken for another part of the line. */
static char *quoted(const char *text)
{
	g_autofree char *some = g_strndup(text, SHOWN_MAX);
	g_autofree char *safe = g_strescape(some, NULL);

	return g_strdup_printf("\"%s%s\"", safe, strlen(text) > SHOWN_MAX ? "..." : "");
}

static const char *settled(const struct answer *answer)
{
	for (guint i = 0; i + 1 < answer->headers->len; i += 2)
		if (!strcmp(answer->headers->pdata[i], "X-Opensm-Settled"))
			return !strcmp(answer->headers->pdata[i + 1], "true")
				       ? ", the tables are set"
				       : ", the tables are not set yet";
	return "";
}

static char *result_of(const struct request *request)
{
	const struct answer *answer = request_taken_answer(request);
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autofree char *error = NULL;

	if (!answer)
		return g_strdup("no answer: the client or opensm-web has ended before");
	if (answer->body)
		error = g_strdup(json_text(json_read(parser, answer->body), "error"));
	if (error && *error)
		return g_strdup_printf("%u, %s", answer->status, g_strdelimit(error, "\n", ' '));
	return g_strdup_printf("%u%s", answer->status, settled(answer));
}

char *audit_lines(const struct request *request)
{
	const char *about = request_about(request), *more = strchr(about, '\n');
	int first = more ? (int)(more - about) : (int)strlen(about);
	const struct answer *answer = request_taken_answer(request);
	g_autofree char *path = quoted(request->path), *result = result_of(request);
	bool done = answer && answer->status == 200;

	return g_strdup_printf("%s: %s %s%s%.*s: %s%s",
			       *request->user ? request->user : "unknown", request->method, path,
			       first ? ", " : "", first, about, result, more && done ? more : "");
}

/* Clients without the role to write cannot fill the log. */
static void on_answer(void *arg, struct request *request)
{
	struct web *web = arg;
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (request->role < WEB_WRITER && !say_may(&web->refused, g_get_monotonic_time()))
		return;
	text = audit_lines(request);
	lines = g_strsplit(text, "\n", -1);
	for (unsigned int i = 0; lines[i]; i++)
		say(LOG_NOTICE, "rest: %s", lines[i]);
}

void audit_watch(struct web *web, struct request *request)
{
	request_watch(request, on_answer, web);
}
