// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <string.h>

#include "web/base/exchange.h"
#include "web/base/say.h"

struct request_state {
	unsigned int references;
	bool begun, answered, gone;
	GHashTable *arguments; /* name -> GPtrArray of values, the last of them NULL */
	GHashTable *headers;   /* name in small letters -> value */
	char *host;	       /* of the target; NULL: none */
	struct caller caller;
	char **names; /* of the caller's certificate */
	char *name;   /* of the user */
	const char *handler;
	gint64 since_us, whole_us, until_us; /* until: 0: for ever */
	struct answer answer;
	GPtrArray *answer_headers;
	answered_fn *done;
	void *arg;
	answered_fn *watch; /* NULL: none */
	void *watch_arg;
	char *about;	 /* NULL: nothing */
	yield_fn *yield; /* NULL: none */
	void *yield_arg;
};

/* ---- what a handler may ask ---- */

const char *const *request_arguments(const struct request *request, const char *name)
{
	static const char *const none[] = {NULL};
	GPtrArray *values = g_hash_table_lookup(request->state->arguments, name);

	return values ? (const char *const *)values->pdata : none;
}

const char *request_argument(const struct request *request, const char *name)
{
	return request_arguments(request, name)[0];
}

const char *request_header(const struct request *request, const char *name)
{
	g_autofree char *small = g_ascii_strdown(name, -1);

	return g_hash_table_lookup(request->state->headers, small);
}

bool request_is_gone(const struct request *request)
{
	return request->state->gone;
}

const struct caller *request_caller(const struct request *request)
{
	return &request->state->caller;
}

/* ---- how it is made ---- */

static void free_values(gpointer values)
{
	g_ptr_array_unref(values);
}

struct request *request_new(const char *method, const char *path)
{
	struct request *request = g_new0(struct request, 1);
	struct request_state *state = g_new0(struct request_state, 1);

	state->references = 1;
	state->arguments = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_values);
	state->headers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	state->answer_headers = g_ptr_array_new_with_free_func(g_free);
	state->names = g_new0(char *, 1);
	state->caller = (struct caller){.address = g_strdup("?"),
					.names = (const char *const *)state->names};
	state->handler = "none";
	state->since_us = state->whole_us = g_get_monotonic_time();
	request->state = state;
	request->method = g_strdup(method);
	request->path = g_strdup(path);
	request->type = g_strdup("");
	request->user = g_strdup("");
	return request;
}

static void set_text(const char **text, char *value)
{
	g_free((char *)*text);
	*text = value;
}

void request_set_host(struct request *request, const char *host)
{
	g_free(request->state->host);
	request->state->host = g_strdup(host);
}

const char *request_host(const struct request *request)
{
	return request->state->host;
}

void request_add_argument(struct request *request, const char *name, const char *value)
{
	GPtrArray *values = g_hash_table_lookup(request->state->arguments, name);

	if (!values) {
		values = g_ptr_array_new_with_free_func(g_free);
		g_ptr_array_add(values, NULL);
		g_hash_table_insert(request->state->arguments, g_strdup(name), values);
	}
	g_ptr_array_insert(values, (gint)values->len - 1, g_strdup(value));
}

void request_add_header(struct request *request, const char *name, const char *value)
{
	char *small = g_ascii_strdown(name, -1);
	const char *before = g_hash_table_lookup(request->state->headers, small);
	char *all = before ? g_strconcat(before, ", ", value, NULL) : g_strdup(value);

	g_hash_table_replace(request->state->headers, small, all);
	if (!strcmp(small, "content-type"))
		set_text(&request->type, g_strdup(all));
}

void request_set_body(struct request *request, GBytes *body)
{
	if (request->body)
		g_bytes_unref(request->body);
	request->body = body;
}

static void tell_user(struct request *request)
{
	struct request_state *state = request->state;
	const char *address = state->caller.address;

	set_text(&request->user, state->name ? g_strdup_printf("%s at %s", state->name, address)
					     : g_strdup(address));
}

void request_set_caller(struct request *request, const struct caller *caller)
{
	struct request_state *state = request->state;

	g_strfreev(state->names);
	g_free((char *)state->caller.address);
	state->names = caller->names ? g_strdupv((char **)caller->names) : g_new0(char *, 1);
	state->caller = (struct caller){
		.address = g_strdup(caller->address),
		.local = caller->local,
		.tls = caller->tls,
		.names = (const char *const *)state->names,
	};
	tell_user(request);
}

void request_set_role(struct request *request, enum web_role role, const char *name)
{
	request->role = role;
	g_free(request->state->name);
	request->state->name = g_strdup(name);
	tell_user(request);
}

void request_set_handler(struct request *request, const char *handler)
{
	request->state->handler = handler;
}

const char *request_handler(const struct request *request)
{
	return request->state->handler;
}

double request_seconds(const struct request *request)
{
	return (double)(g_get_monotonic_time() - request->state->since_us) / G_USEC_PER_SEC;
}

/* ---- how long it may take ---- */

void request_set_patience(struct request *request, unsigned int patience_ms)
{
	request->state->until_us = request->state->whole_us + (gint64)patience_ms * 1000;
}

unsigned int request_left_ms(const struct request *request, unsigned int most_ms)
{
	gint64 left_ms = (request->state->until_us - g_get_monotonic_time()) / 1000;

	return request->state->until_us ? (unsigned int)CLAMP(left_ms, 1, most_ms) : most_ms;
}

/* ---- what it is about ---- */

void request_set_about(struct request *request, char *text)
{
	g_free(request->state->about);
	request->state->about = text;
}

const char *request_about(const struct request *request)
{
	return request->state->about ? request->state->about : "";
}

/* ---- references ---- */

static void drop_answer(struct request_state *state)
{
	if (state->answer.body)
		g_bytes_unref(state->answer.body);
	held_unref(state->answer.file);
	g_free((char *)state->answer.type);
	state->answer = (struct answer){0};
}

static void request_free(struct request *request)
{
	struct request_state *state = request->state;

	if (state->watch && !state->answered)
		state->watch(state->watch_arg, request);
	drop_answer(state);
	g_hash_table_unref(state->arguments);
	g_hash_table_unref(state->headers);
	g_ptr_array_unref(state->answer_headers);
	g_strfreev(state->names);
	g_free((char *)state->caller.address);
	g_free(state->host);
	g_free(state->name);
	g_free(state->about);
	g_free(state);
	if (request->body)
		g_bytes_unref(request->body);
	g_free((char *)request->method);
	g_free((char *)request->path);
	g_free((char *)request->type);
	g_free((char *)request->user);
	g_free(request);
}

bool request_takes_gzip(const struct request *request)
{
	const char *accept = request_header(request, "Accept-Encoding");
	g_auto(GStrv) codings = g_strsplit(accept ? accept : "", ",", 32);

	for (unsigned int i = 0; codings[i]; i++) {
		g_auto(GStrv) parts = g_strsplit(g_strstrip(codings[i]), ";", 2);
		double q = 1;

		if (!parts[0] || g_ascii_strcasecmp(g_strstrip(parts[0]), "gzip") != 0)
			continue;
		if (parts[1] && g_str_has_prefix(g_strstrip(parts[1]), "q="))
			q = g_ascii_strtod(parts[1] + 2, NULL);
		return q > 0;
	}
	return false;
}

struct request *request_ref(struct request *request)
{
	request->state->references++;
	return request;
}

/* Only the server has it, and waits for an answer that cannot come any more. */
static bool is_lost(const struct request_state *state)
{
	return state->references == 1 && state->begun && !state->answered && !state->gone;
}

void request_unref(struct request *request)
{
	if (!--request->state->references)
		request_free(request);
	else if (is_lost(request->state))
		request_fail(request, 500, "opensm-web gives no answer to this");
}

/* ---- the answer ---- */

void request_listen(struct request *request, answered_fn *answered, void *arg)
{
	request->state->done = answered;
	request->state->arg = arg;
	request->state->whole_us = g_get_monotonic_time();
}

void request_watch(struct request *request, answered_fn *watch, void *arg)
{
	request->state->watch = watch;
	request->state->watch_arg = arg;
}

void request_begun(struct request *request)
{
	request->state->begun = true;
	if (is_lost(request->state))
		request_fail(request, 500, "opensm-web gives no answer to this");
}

const struct answer *request_taken_answer(const struct request *request)
{
	return request->state->answered ? &request->state->answer : NULL;
}

void request_may_yield(struct request *request, yield_fn *yield, void *arg)
{
	request->state->yield = yield;
	request->state->yield_arg = arg;
}

bool request_can_yield(const struct request *request)
{
	return request->state->yield && !request->state->answered && !request->state->gone;
}

void request_yield(struct request *request)
{
	yield_fn *yield = g_steal_pointer(&request->state->yield);

	yield(request->state->yield_arg);
}

void request_forget(struct request *request)
{
	request->state->gone = true;
	request->state->done = NULL;
}

void request_set_header(struct request *request, const char *name, const char *value)
{
	if (request->state->answered || strpbrk(value, "\r\n"))
		return;
	g_ptr_array_add(request->state->answer_headers, g_strdup(name));
	g_ptr_array_add(request->state->answer_headers, g_strdup(value));
}

/* Takes over what is in it but the type. */
static void answer(struct request *request, struct answer *given)
{
	struct request_state *state = request->state;

	given->type = g_strdup(given->type);
	given->headers = state->answer_headers;
	if (state->answered) {
		struct request_state unused = {.answer = *given};

		drop_answer(&unused);
		return;
	}
	state->answered = true;
	state->answer = *given;
	if (state->watch)
		state->watch(state->watch_arg, request);
	if (state->gone)
		drop_answer(state);
	else if (state->done)
		state->done(state->arg, request);
}

void request_answer(struct request *request, unsigned int status, const char *type, GBytes *body)
{
	answer(request, &(struct answer){.status = status, .type = type, .body = body});
}

void request_answer_text(struct request *request, unsigned int status, const char *type, char *text)
{
	request_answer(request, status, type, g_bytes_new_take(text, strlen(text)));
}

void request_answer_file(struct request *request, unsigned int status, const char *type,
			 struct held *file)
{
	answer(request, &(struct answer){.status = status, .type = type, .file = file});
}

void request_fail(struct request *request, unsigned int status, const char *format, ...)
{
	g_autofree char *text = NULL;
	GString *json = g_string_new("{\"error\":");
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	say_json(json, text);
	g_string_append(json, "}\n");
	request_answer_text(request, status, WEB_JSON, g_string_free(json, FALSE));
}
