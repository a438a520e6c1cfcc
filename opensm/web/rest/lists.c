// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Virtual ports, as far as they have registered their GUIDs, and ports that misbehave. */
#include <string.h>

#include "web/api/api.h"
#include "web/api/asker.h"
#include "web/base/say.h"
#include "web/rest/rest_private.h"

/* An object, without its braces, for each row of an answer. */
typedef void write_row_fn(GString *out, JsonObject *row);

static void answer_list(struct call *call, enum control_status status, GBytes *text,
			const char *name, write_row_fn *write)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonArray *list = status == CONTROL_DONE ? json_list(json_read(parser, text), name) : NULL;
	GString *out;

	if (!list) {
		api_fail(call->web, call->request, status, text, 503);
		call_free(call);
		return;
	}
	out = g_string_new("[");
	for (guint i = 0; i < json_rows(list); i++) {
		g_string_append(out, i ? ",\n{" : "{");
		write(out, json_row(list, i));
		g_string_append_c(out, '}');
	}
	g_string_append(out, "]\n");
	request_answer_text(call->request, 200, WEB_JSON, g_string_free(out, FALSE));
	call_free(call);
}

/* Clients know GUIDs without 0x. */
static const char *guid(JsonObject *row, const char *name)
{
	const char *text = json_text(row, name);

	return g_str_has_prefix(text, "0x") ? text + 2 : text;
}

static void add_text(GString *out, const char *key, const char *text)
{
	g_string_append_printf(out, ",\"%s\":", key);
	say_json(out, text);
}

/* ---- virtual ports ---- */

static void write_vport(GString *out, JsonObject *row)
{
	const char *node = json_text(row, "node"), *port = guid(row, "port_guid");
	g_autofree char *host = g_strndup(node, strcspn(node, " \t"));
	g_autofree char *name = g_strdup_printf("%s_%" G_GINT64_FORMAT, port,
						json_number(row, "port"));

	g_string_append(out, "\"virtual_port_guid\":");
	say_json(out, guid(row, "guid"));
	add_text(out, "virtual_port_state", json_flag(row, "active") ? "Active" : "Down");
	g_string_append_printf(out,
			       ",\"virtual_port_lid\":%" G_GINT64_FORMAT
			       ",\"physical_port_number\":%" G_GINT64_FORMAT,
			       json_number(row, "lid"), json_number(row, "port"));
	add_text(out, "system_guid", guid(row, "system_guid"));
	add_text(out, "system_name", host);
	add_text(out, "node_description", node);
	add_text(out, "port_guid", port);
	add_text(out, "port_name", name);
}

static void on_aliases(void *arg, enum control_status status, GBytes *text)
{
	answer_list(arg, status, text, "aliases", write_vport);
}

void read_vports(struct call *call)
{
	asker_ask(call->web->asker, "aliases json", 500, patience_of(call), on_aliases, call);
}

/* ---- ports that misbehave ---- */

/* The port is that of a switch; behind it is the node that is blamed, if it is known. */
static void write_unhealthy(GString *out, JsonObject *row)
{
	const char *node = json_text(row, "switch"), *condition = json_text(row, "condition");
	gint64 number = json_number(row, "port");
	g_autofree char *port = g_strdup_printf("%s/%" G_GINT64_FORMAT, node, number);

	g_string_append(out, "\"UnhealthyGUID\":");
	say_json(out, guid(row, "switch_guid"));
	g_string_append_printf(out, ",\"UnhealthyPortNumber\":%" G_GINT64_FORMAT, number);
	add_text(out, "UnhealthyNode", node);
	add_text(out, "UnhealthyPort", port);
	add_text(out, "PeerGUID", guid(row, "node_guid"));
	add_text(out, "PeerNode", json_text(row, "node"));
	add_text(out, "Condition", condition);
	add_text(out, "State", "Warning");
	add_text(out, "why", json_text(row, "why"));
	add_text(out, "action", json_text(row, "action"));
}

static void on_unhealthy(void *arg, enum control_status status, GBytes *text)
{
	answer_list(arg, status, text, "ports", write_unhealthy);
}

void read_unhealthy(struct call *call)
{
	asker_ask(call->web->asker, "unhealthy json", 500, patience_of(call), on_unhealthy, call);
}
