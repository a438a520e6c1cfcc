// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a client is told when the daemon has no answer, and which daemon might have one. */
#include <json-glib/json-glib.h>
#include <string.h>

#include "web/api/api.h"
#include "web/api/asker.h"
#include "client/json.h"
#include "web/base/say.h"

#define STATUS_AGE_MS 500
#define STATUS_PATIENCE_MS 5000

/* A request that waits for the reason. */
struct failure {
	struct request *request;
	GBytes *text; /* the daemon's own words */
	unsigned int failed;
};

static char *text_of(GBytes *bytes)
{
	gsize size = 0;
	const char *octets = g_bytes_get_data(bytes, &size);

	return g_strchomp(g_strndup(octets, size));
}

/* The member "error" of an answer in JSON, or all of a plain text. */
static char *words_of(GBytes *bytes)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *object = json_read(parser, bytes);
	const char *error = json_text(object, "error");

	return *error ? g_strdup(error) : text_of(bytes);
}

/*
 * Of a command that takes other arguments, what is wrong with them: without the name of the command
 * before, and the line of its arguments after it, which are those of the console.
 */
static char *usage_of(GBytes *bytes)
{
	g_autofree char *words = words_of(bytes);
	char *end;

	words[strcspn(words, "\n")] = '\0';
	end = strstr(words, " command: ");
	if (g_str_has_prefix(words, "Invalid ") && end)
		return g_strdup(end + strlen(" command: "));
	return g_steal_pointer(&words);
}

static void unavailable(struct request *request, const char *why, const char *master)
{
	GString *json = g_string_new("{\"error\":");

	say_json(json, why);
	if (*master) {
		g_string_append(json, ",\"master\":");
		say_json(json, master);
	}
	g_string_append(json, "}\n");
	request_set_header(request, "Retry-After", "5");
	request_answer_text(request, 503, WEB_JSON, g_string_free(json, FALSE));
}

static void on_health(void *arg, enum control_status status, GBytes *text)
{
	struct failure *failure = arg;
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *health = json_read(parser, text);
	const char *master = json_text(json_object(health, "master"), "guid");
	g_autofree char *words = words_of(failure->text);
	g_autofree char *why = NULL;

	/* A standby, or no SM yet, or no subnet yet: another daemon knows, or this one will. */
	if (!health) {
		why = text_of(text);
		unavailable(failure->request, why, "");
	} else if (*master || status == CONTROL_NO_SM || !json_object(health, "last_sweep")) {
		why = g_strdup_printf("%s: %s", json_text(health, "state"), words);
		unavailable(failure->request, why, master);
	} else {
		request_fail(failure->request, failure->failed, "%s", words);
	}
	request_unref(failure->request);
	g_bytes_unref(failure->text);
	g_free(failure);
}

void api_fail(struct web *web, struct request *request, enum control_status status, GBytes *text,
	      unsigned int failed)
{
	g_autofree char *words = status == CONTROL_USAGE ? usage_of(text) : words_of(text);
	struct failure *failure;

	if (status == CONTROL_UNREACHABLE || status == CONTROL_REFUSED) {
		unavailable(request, words, "");
	} else if (status == CONTROL_USAGE) {
		request_fail(request, 400, "%s", words);
	} else {
		failure = g_new(struct failure, 1);
		*failure = (struct failure){request_ref(request), g_bytes_ref(text), failed};
		asker_ask(web->asker, "health json", STATUS_AGE_MS,
			  request_left_ms(request, STATUS_PATIENCE_MS), on_health, failure);
	}
}
