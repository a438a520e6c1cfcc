// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The last image of the fabric stays mapped. A request asks the daemon only whether there is a
 * newer one, which requests within half a second share; the image is asked for if there is. Answers
 * have the number of their image as ETag, so that a page that asks again costs nothing. A request
 * with "Cache-Control: max-stale" is answered from the last image while a newer one is made, if
 * that has other counters only.
 */
#include "web/api/fabric.h"

#include <inttypes.h>
#include <string.h>

#include "web/api/api.h"
#include "web/api/asker.h"
#include "client/json.h"
#include "web/fabric/fabric.h"

#define PREFIX "/api/v1/"
#define AGE_MS 500
#define PATIENCE_MS 15000
#define HISTORY_PATIENCE_MS 60000 /* files may be read */

static const struct question {
	const char *name;
	fabric_answer_fn *answer;
} questions[] = {
	{"summary", fabric_summary}, {"nodes", fabric_nodes}, {"links", fabric_links},
	{"ports", fabric_ports},     {"cable", fabric_cable}, {"whole", fabric_whole},
	{"where", fabric_where},
};

struct client {
	struct web *web;
	struct request *request;
	fabric_answer_fn *answer;
};

struct views {
	struct link *link;
	struct asker *asker;
	struct fabric_view *view; /* NULL: none yet */
	GPtrArray *clients;	  /* of struct client: those that wait */
	bool asks;		  /* the daemon is being asked */
	bool refreshes;		  /* for an image of the same subnet as that of the view */
};

static void client_free(gpointer data)
{
	struct client *client = data;

	request_unref(client->request);
	g_free(client);
}

struct views *views_new(struct link *link, struct asker *asker)
{
	struct views *views = g_new0(struct views, 1);

	views->link = link;
	views->asker = asker;
	views->clients = g_ptr_array_new_with_free_func(client_free);
	return views;
}

void views_free(struct views *views)
{
	if (!views)
		return;
	fabric_view_free(views->view);
	g_ptr_array_unref(views->clients);
	g_free(views);
}

/* ---- answers ---- */

static const char *argument(const void *from, const char *name)
{
	return request_argument(from, name);
}

static bool is_known(const struct request *request, const char *tag)
{
	const char *known = request_header(request, "If-None-Match");

	return known && !strcmp(known, tag);
}

static void answer(const struct client *client, const struct fabric_view *view)
{
	const struct image_header *header = fabric_view_header(view);
	g_autofree char *tag =
		g_strdup_printf("\"%016" PRIx64 "-%" PRIu64 "\"", header->run, header->serial);
	GString *out = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	bool known = is_known(client->request, tag);

	if (!known && !client->answer(view, argument, client->request, out, &error)) {
		request_fail(client->request,
			     g_error_matches(error, FABRIC_ERROR, FABRIC_NOT_FOUND) ? 404 : 400,
			     "%s", error->message);
		g_string_free(out, TRUE);
		return;
	}
	request_set_header(client->request, "ETag", tag);
	if (known)
		request_answer(client->request, 304, WEB_JSON, NULL);
	else
		request_answer_text(client->request, 200, WEB_JSON, g_string_free(out, FALSE));
	if (known)
		g_string_free(out, TRUE);
}

static GPtrArray *take_clients(struct views *views)
{
	GPtrArray *clients = views->clients;

	views->clients = g_ptr_array_new_with_free_func(client_free);
	views->asks = views->refreshes = false;
	return clients;
}

static void answer_if_there(const struct client *client, const struct fabric_view *view)
{
	if (!request_is_gone(client->request))
		answer(client, view);
}

static void answer_all(struct views *views)
{
	g_autoptr(GPtrArray) clients = take_clients(views);

	for (guint i = 0; i < clients->len; i++)
		answer_if_there(clients->pdata[i], views->view);
}

/* RFC 9111, 5.2.1.2; any age will do. */
static bool takes_stale(const struct request *request)
{
	const char *control = request_header(request, "Cache-Control");

	return control && strstr(control, "max-stale") != NULL;
}

static void answer_patient(struct views *views)
{
	for (guint i = 0; i < views->clients->len;) {
		const struct client *client = views->clients->pdata[i];

		if (takes_stale(client->request)) {
			answer_if_there(client, views->view);
			g_ptr_array_remove_index(views->clients, i);
		} else {
			i++;
		}
	}
}

static void fail_all(struct views *views, enum control_status status, const char *why)
{
	g_autoptr(GPtrArray) clients = take_clients(views);
	g_autoptr(GBytes) text = g_bytes_new(why, strlen(why));

	for (guint i = 0; i < clients->len; i++) {
		const struct client *client = clients->pdata[i];

		api_fail(client->web, client->request, status, text, 503);
	}
}

/* ---- asking the daemon ---- */

/* The old image goes first, so that there is never more than one. */
static void on_image(void *arg, struct reply *reply)
{
	struct views *views = arg;
	g_autoptr(GError) error = NULL;

	if (reply->status != CONTROL_DONE || !reply->file) {
		fail_all(views, reply->status == CONTROL_DONE ? CONTROL_UNREACHABLE : reply->status,
			 reply->output);
		return;
	}
	g_clear_pointer(&views->view, fabric_view_free);
	views->view = fabric_view_new(reply->file, &error);
	if (views->view)
		answer_all(views);
	else
		fail_all(views, CONTROL_UNREACHABLE, error->message);
}

enum standing { OF_ANOTHER_SUBNET, OF_OLD_COUNTERS, CURRENT };

/* Of the view, by {"run":"0x...","serial":N,"generation":N} of what an image would show. */
static enum standing standing_of(const struct views *views, GBytes *text)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *object = json_read(parser, text);
	const char *run = json_text(object, "run");
	const struct image_header *header = views->view ? fabric_view_header(views->view) : NULL;

	if (!header || g_ascii_strtoull(run, NULL, 16) != header->run)
		return OF_ANOTHER_SUBNET;
	if (json_number(object, "serial") == (gint64)header->serial)
		return CURRENT;
	return json_number(object, "generation") == (gint64)header->generation ? OF_OLD_COUNTERS
									     : OF_ANOTHER_SUBNET;
}

static void on_serial(void *arg, enum control_status status, GBytes *text)
{
	struct views *views = arg;
	enum standing standing =
		status == CONTROL_DONE ? standing_of(views, text) : OF_ANOTHER_SUBNET;
	g_autofree char *why = NULL;
	gsize size;

	if (standing == CURRENT) {
		answer_all(views);
	} else if (status == CONTROL_DONE) {
		views->refreshes = standing == OF_OLD_COUNTERS;
		if (views->refreshes)
			answer_patient(views);
		link_ask(views->link, "image descriptor", PATIENCE_MS, on_image, views);
	} else {
		why = g_strndup(g_bytes_get_data(text, &size), g_bytes_get_size(text));
		fail_all(views, status, why);
	}
}

static void ask(struct web *web, struct request *request, fabric_answer_fn *question)
{
	struct views *views = web->views;
	struct client *client = g_new(struct client, 1);

	*client = (struct client){web, request_ref(request), question};
	g_ptr_array_add(views->clients, client);
	if (views->refreshes)
		answer_patient(views);
	if (views->asks)
		return;
	views->asks = true;
	asker_ask(views->asker, "image json", AGE_MS, PATIENCE_MS, on_serial, views);
}

/* ---- history ---- */

static void on_history(void *arg, enum control_status status, GBytes *text)
{
	struct client *client = arg;

	if (status == CONTROL_DONE)
		request_answer(client->request, 200, WEB_JSON, g_bytes_ref(text));
	else
		api_fail(client->web, client->request, status, text, 404);
	client_free(client);
}

static void ask_history(struct web *web, struct request *request)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *line = fabric_history_line(argument, request, &error);
	struct client *client;

	if (!line) {
		request_fail(request, 400, "%s", error->message);
		return;
	}
	client = g_new(struct client, 1);
	*client = (struct client){web, request_ref(request), NULL};
	asker_ask(web->asker, line, AGE_MS, HISTORY_PATIENCE_MS, on_history, client);
}

static void serve(struct web *web, struct request *request)
{
	const char *name = request->path + strlen(PREFIX);

	for (size_t i = 0; i < G_N_ELEMENTS(questions); i++)
		if (!strcmp(questions[i].name, name)) {
			ask(web, request, questions[i].answer);
			return;
		}
	ask_history(web, request);
}

void api_fabric(struct web *web, struct request *request)
{
	api_of_master(web, request, serve);
}
