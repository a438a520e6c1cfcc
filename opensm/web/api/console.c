// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * /api/v1/NAME. The daemon lets opensm-web do anything, so what it is asked is made here of words
 * that are known to change nothing; what a client gives is an argument between them.
 */
#include <string.h>

#include "web/api/api.h"
#include "web/api/asker.h"

#define PREFIX "/api/v1/"
#define AGE_MS 500
#define OLD_MS 2000 /* of what takes the daemon long */
#define PATIENCE_MS 15000
#define PATIENT_MS 60000 /* for what the daemon computes, or reads from files */

/* Adds the words of the command after its first; what is wrong, newly allocated, or NULL. */
typedef char *take_words_fn(const struct request *request, const char *rest, GPtrArray *words);

static void add(GPtrArray *words, const char *word)
{
	g_ptr_array_add(words, g_strdup(word));
}

static char *take_nothing(const struct request *request, const char *rest, GPtrArray *words)
{
	(void)request;
	(void)words;
	return *rest ? g_strdup_printf("'%s': expected nothing after the name", rest) : NULL;
}

static char *take_number(const struct request *request, const char *rest, GPtrArray *words)
{
	const char *text = request_argument(request, "n");
	guint64 number;

	if (text && !g_ascii_string_to_unsigned(text, 10, 1, 100000, &number, NULL))
		return g_strdup("n: expected a number from 1 to 100000");
	if (text)
		add(words, text);
	return take_nothing(request, rest, words);
}

static char *take_p_key(const struct request *request, const char *rest, GPtrArray *words)
{
	bool hex = g_str_has_prefix(rest, "0x");
	guint64 number;
	char text[16];

	if (!*rest)
		return take_nothing(request, rest, words);
	if (!g_ascii_string_to_unsigned(hex ? rest + 2 : rest, hex ? 16 : 10, 1, 0xffff, &number,
					NULL))
		return g_strdup_printf("'%s': expected a P_Key", rest);
	g_snprintf(text, sizeof(text), "0x%04x", (unsigned int)number);
	add(words, text);
	return NULL;
}

static char *take_type(const struct request *request, const char *rest, GPtrArray *words)
{
	static const char *const types[] = {"ca", "switch", "router", NULL};
	const char *type = request_argument(request, "type");

	if (type && !g_strv_contains(types, type))
		return g_strdup("type: expected ca, switch or router");
	if (type)
		add(words, type);
	return take_nothing(request, rest, words);
}

/* Of the name of a node, which may be anything that is not taken for a word of the command. */
static char *take_node(const struct request *request, const char *rest, GPtrArray *words)
{
	const char *node = request_argument(request, "node");
	const char *port = request_argument(request, "port");
	guint64 number;

	if (port && (!node || !g_ascii_string_to_unsigned(port, 10, 0, 254, &number, NULL)))
		return g_strdup("port: expected a number from 0 to 254, and node beside it");
	if (node && (!*node || !strcmp(node, "reload")))
		return g_strdup("node: expected a LID, a GUID or a NodeDescription");
	if (node)
		add(words, node);
	if (port)
		add(words, port);
	return take_nothing(request, rest, words);
}

static char *take_ends(const struct request *request, const char *rest, GPtrArray *words)
{
	const char *from = request_argument(request, "from");
	const char *to = request_argument(request, "to");

	if (!from || !*from || !to || !*to)
		return g_strdup("expected from and to, each a LID, a GUID or a NodeDescription");
	add(words, from);
	add(words, to);
	return take_nothing(request, rest, words);
}

/* One of these words, which only look, and arguments behind it. */
static char *take_look(const struct request *request, const char *rest, GPtrArray *words,
		       const char *const *looks)
{
	const char *const *arguments = request_arguments(request, "arg");
	g_autofree char *all = g_strjoinv(", ", (char **)looks);

	if (*rest && !g_strv_contains(looks, rest))
		return g_strdup_printf("'%s': expected one of %s", rest, all);
	if (*rest)
		add(words, rest);
	for (; *rest && *arguments; arguments++)
		add(words, *arguments);
	return NULL;
}

static char *take_perfmgr(const struct request *request, const char *rest, GPtrArray *words)
{
	static const char *const looks[] = {"top",    "history", "cable",	 "images",
					    "groups", "rules",	 "print_errors", NULL};

	return take_look(request, rest, words, looks);
}

static char *take_cc(const struct request *request, const char *rest, GPtrArray *words)
{
	static const char *const looks[] = {"ports", "values", "log", "effect", NULL};

	return take_look(request, rest, words, looks);
}

static const struct question {
	const char *name, *command;
	take_words_fn *take;
	unsigned int patience_ms, age_ms; /* age_ms: of an answer that will do */
	bool of_master;			  /* others would answer with an empty subnet */
} questions[] = {
	{"version", "version", take_nothing, PATIENCE_MS, AGE_MS, false},
	{"health", "health", take_nothing, PATIENCE_MS, AGE_MS, false},
	{"status", "status", take_nothing, PATIENCE_MS, AGE_MS, false},
	{"events", "events", take_number, PATIENCE_MS, AGE_MS, false},
	{"partitions", "partitions", take_p_key, PATIENCE_MS, AGE_MS, false},
	{"mgroups", "mgroups", take_nothing, PATIENCE_MS, OLD_MS, false},
	{"portstatus", "portstatus", take_type, PATIENCE_MS, OLD_MS, true},
	{"ports_down", "ports down", take_nothing, PATIENCE_MS, AGE_MS, true},
	{"ports_slow", "ports slow", take_nothing, PATIENCE_MS, AGE_MS, true},
	{"unhealthy", "unhealthy", take_nothing, PATIENCE_MS, AGE_MS, true},
	{"subscriptions", "subscriptions", take_nothing, PATIENCE_MS, OLD_MS, true},
	{"switchbalance", "switchbalance", take_nothing, PATIENCE_MS, OLD_MS, true},
	{"qos", "qos", take_node, PATIENCE_MS, AGE_MS, false},
	{"plan", "plan", take_nothing, PATIENT_MS, OLD_MS, false},
	{"path", "path", take_ends, PATIENCE_MS, AGE_MS, false},
	{"perfmgr", "perfmgr", take_perfmgr, PATIENT_MS, OLD_MS, true},
	{"cc", "cc", take_cc, PATIENT_MS, AGE_MS, true},
};

/* NULL: there is none. */
static const struct question *find(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(questions); i++)
		if (!strcmp(questions[i].name, name))
			return &questions[i];
	return NULL;
}

/* A request that waits for the daemon. */
struct asked {
	struct web *web;
	struct request *request;
};

static void on_answer(void *arg, enum control_status status, GBytes *text)
{
	struct asked *asked = arg;

	/* From CONTROL_NO_SM on, the status is part of an answer. */
	if (status == CONTROL_DONE || status >= CONTROL_NO_SM)
		request_answer(asked->request, 200, WEB_JSON, g_bytes_ref(text));
	else
		api_fail(asked->web, asked->request, status, text, 404);
	request_unref(asked->request);
	g_free(asked);
}

static void ask(struct web *web, struct request *request, const struct question *question,
		const GPtrArray *words)
{
	g_autofree char *line =
		link_line((const char *const *)words->pdata, (unsigned int)words->len);
	g_autofree char *whole =
		line ? g_strconcat(question->command, *line ? " " : "", line, " json", NULL) : NULL;
	struct asked *asked;

	if (!whole) {
		request_fail(request, 400, "expected words without both kinds of quotes");
		return;
	}
	asked = g_new(struct asked, 1);
	*asked = (struct asked){web, request_ref(request)};
	asker_ask(web->asker, whole, question->age_ms, question->patience_ms, on_answer, asked);
}

static void serve(struct web *web, struct request *request)
{
	g_auto(GStrv) parts = g_strsplit(request->path + strlen(PREFIX), "/", 2);
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	const struct question *question = find(parts[0]);
	g_autofree char *mistake = question->take(request, parts[1] ? parts[1] : "", words);

	if (mistake)
		request_fail(request, 400, "%s", mistake);
	else
		ask(web, request, question, words);
}

void api_console(struct web *web, struct request *request)
{
	g_auto(GStrv) parts = g_strsplit(request->path + strlen(PREFIX), "/", 2);
	const struct question *question = find(parts[0] ? parts[0] : "");

	if (!question)
		request_fail(request, 404, "%s: not found", request->path);
	else if (question->of_master)
		api_of_master(web, request, serve);
	else
		serve(web, request);
}
