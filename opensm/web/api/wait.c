// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * All clients wait by one question to the daemon, on a connection of its own. A client first gets
 * what it has missed; one that has missed nothing joins the others, and the question is asked for
 * as long as any of them is left.
 */
#include "web/api/wait.h"

#include <inttypes.h>
#include <string.h>

#include "web/api/api.h"
#include "web/api/asker.h"
#include "client/json.h"

#define WAIT_S 25
#define PATIENCE_MS 5000 /* beyond the wait */

struct client {
	struct web *web;
	struct request *request;
	uint64_t since;
	GBytes *no_news; /* the answer if nothing happens; NULL: it does not wait yet */
};

struct waits {
	struct link *link;
	uint64_t asked;	    /* number of the question; 0: none */
	uint64_t since;	    /* of the question */
	GPtrArray *clients; /* of struct client */
};

static void client_free(gpointer data)
{
	struct client *client = data;

	request_may_yield(client->request, NULL, NULL);
	request_unref(client->request);
	if (client->no_news)
		g_bytes_unref(client->no_news);
	g_free(client);
}

struct waits *waits_new(const char *path)
{
	struct waits *waits = g_new0(struct waits, 1);

	waits->link = link_new(path, 1);
	waits->clients = g_ptr_array_new_with_free_func(client_free);
	return waits;
}

void waits_free(struct waits *waits)
{
	if (!waits)
		return;
	link_free(waits->link);
	g_ptr_array_unref(waits->clients);
	g_free(waits);
}

static void answer(struct client *client, enum control_status status, GBytes *text)
{
	if (status == CONTROL_DONE)
		request_answer(client->request, 200, WEB_JSON, g_bytes_ref(text));
	else
		api_fail(client->web, client->request, status, text, 503);
}

/* ---- the shared question ---- */

static void look(struct client *client);

static void on_news(void *arg, struct reply *reply)
{
	struct waits *waits = arg;
	g_autoptr(GPtrArray) clients = g_steal_pointer(&waits->clients);
	g_autofree char *output = g_steal_pointer(&reply->output);
	g_autoptr(GBytes) text = g_bytes_new(output, strlen(output));

	waits->clients = g_ptr_array_new_with_free_func(client_free);
	waits->asked = 0;
	g_ptr_array_set_free_func(clients, NULL);
	for (guint i = 0; i < clients->len; i++) {
		struct client *client = clients->pdata[i];

		/* The news of others are not its own. */
		request_may_yield(client->request, NULL, NULL);
		if (client->since != waits->since && reply->status == CONTROL_DONE) {
			look(client);
			continue;
		}
		answer(client, reply->status, text);
		client_free(client);
	}
}

/* The others go on waiting. */
static void give_way(void *arg)
{
	struct client *client = arg;
	struct waits *waits = client->web->waits;

	request_set_header(client->request, "Connection", "close");
	answer(client, CONTROL_DONE, client->no_news);
	g_ptr_array_remove_fast(waits->clients, client);
}

static void join(struct client *client, GBytes *no_news)
{
	struct waits *waits = client->web->waits;
	g_autofree char *line = NULL;

	if (client->no_news)
		g_bytes_unref(client->no_news);
	client->no_news = g_bytes_ref(no_news);
	request_may_yield(client->request, give_way, client);
	g_ptr_array_add(waits->clients, client);
	if (waits->asked)
		return;
	waits->since = client->since;
	line = g_strdup_printf("events since %" PRIu64 " wait %d json", client->since, WAIT_S);
	waits->asked = link_ask(waits->link, line, WAIT_S * 1000 + PATIENCE_MS, on_news, waits);
}

/* ---- what is there already ---- */

static void on_present(void *arg, enum control_status status, GBytes *text)
{
	struct client *client = arg;
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *present = json_read(parser, text);
	gint64 serial = json_number(present, "serial");

	if (request_is_gone(client->request)) {
		client_free(client);
	} else if (status == CONTROL_DONE && serial >= 0 && (uint64_t)serial == client->since) {
		join(client, text);
	} else {
		answer(client, status, text);
		client_free(client);
	}
}

static void look(struct client *client)
{
	g_autofree char *line = g_strdup_printf("events since %" PRIu64 " json", client->since);

	asker_ask(client->web->asker, line, 0, PATIENCE_MS, on_present, client);
}

void wait_for_news(struct web *web, struct request *request)
{
	const char *text = request_argument(request, "since");
	struct client *client;
	guint64 since;

	if (!text || !g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT64, &since, NULL)) {
		request_fail(request, 400, "since: expected the serial number of an answer, or 0");
		return;
	}
	client = g_new(struct client, 1);
	*client = (struct client){.web = web, .request = request_ref(request), .since = since};
	look(client);
}
