// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Questions about the subnet, which only a MASTER that has one answers: others see it empty. */
#include "web/api/api.h"
#include "web/api/asker.h"
#include "client/json.h"

#include <string.h>

#define AGE_MS 500
#define PATIENCE_MS 9000
#define NO_SUBNET "this SM has no subnet to tell about"

struct client {
	struct web *web;
	struct request *request;
	web_handler_fn *serve;
};

static void on_status(void *arg, enum control_status status, GBytes *text)
{
	struct client *client = arg;
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autoptr(GBytes) none = g_bytes_new_static(NO_SUBNET, strlen(NO_SUBNET));
	JsonObject *object = json_read(parser, text);

	if (status != CONTROL_DONE)
		api_fail(client->web, client->request, status, text, 503);
	else if (strcmp(json_text(object, "sm_state"), "Master") != 0 ||
		 !json_flag(object, "has_subnet"))
		api_fail(client->web, client->request, CONTROL_FAILED, none, 503);
	else
		client->serve(client->web, client->request);
	request_unref(client->request);
	g_free(client);
}

void api_of_master(struct web *web, struct request *request, web_handler_fn *serve)
{
	struct client *client = g_new(struct client, 1);

	*client = (struct client){web, request_ref(request), serve};
	asker_ask(web->asker, "status json", AGE_MS, request_left_ms(request, PATIENCE_MS),
		  on_status, client);
}
