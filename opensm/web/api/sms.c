// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* /api/v1/sms: what the status says of this SM and of the others. */
#include "web/api/api.h"
#include "web/api/asker.h"
#include "client/json.h"

#define AGE_MS 500
#define PATIENCE_MS 15000

static const char *const members[] = {"sm_state",  "sm_priority", "sm_guid",	"sm_lid",
				      "known_sms", "sms",	  "replication"};

/* A request that waits for the status. */
struct asked {
	struct web *web;
	struct request *request;
};

static char *part_of(JsonObject *status)
{
	JsonObject *part = json_object_new();
	JsonNode *node = json_node_new(JSON_NODE_OBJECT);
	char *text;

	for (size_t i = 0; i < G_N_ELEMENTS(members); i++)
		if (json_object_has_member(status, members[i]))
			json_object_set_member(part, members[i],
					       json_object_dup_member(status, members[i]));
	json_node_take_object(node, part);
	text = json_to_string(node, FALSE);
	json_node_unref(node);
	return text;
}

static void on_status(void *arg, enum control_status code, GBytes *text)
{
	struct asked *asked = arg;
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *status = code == CONTROL_DONE ? json_read(parser, text) : NULL;

	if (status)
		request_answer_text(asked->request, 200, WEB_JSON, part_of(status));
	else
		api_fail(asked->web, asked->request, code, text, 503);
	request_unref(asked->request);
	g_free(asked);
}

void api_sms(struct web *web, struct request *request)
{
	struct asked *asked = g_new(struct asked, 1);

	*asked = (struct asked){web, request_ref(request)};
	asker_ask(web->asker, "status json", AGE_MS, PATIENCE_MS, on_status, asked);
}
