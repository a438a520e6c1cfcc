// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What clients read of the subnet. They refuse a whole list for one value that they do not know, so
 * they are shown the nearest one that they do; what is in effect stands beside it, as "effective".
 */
#include <string.h>

#include "web/api/api.h"
#include "web/api/asker.h"
#include "web/base/say.h"
#include "web/rest/rest_private.h"

#define DEFAULT_KEY 0x7fff
#define MTU_DEFAULT 4  /* code of 2048 octets */
#define RATE_DEFAULT 3 /* code of 10 Gb/s */

static bool wants(const struct request *request, const char *name)
{
	const char *value = request_argument(request, name);

	return value && !g_ascii_strcasecmp(value, "true");
}

/* ---- a partition ---- */

static uint16_t key_of(JsonObject *partition)
{
	const char *text = json_text(partition, "p_key");

	return (uint16_t)(g_ascii_strtoull(text, NULL, 0) & 0x7fff);
}

static const char *flag(bool yes)
{
	return yes ? "true" : "false";
}

/* In Gb/s, without a fraction if it is a whole number. */
static void add_rate(GString *out, unsigned int rate)
{
	if (rate % 10)
		g_string_append_printf(out, "%u.%u", rate / 10, rate % 10);
	else
		g_string_append_printf(out, "%u", rate / 10);
}

static void add_qos(GString *out, JsonObject *partition)
{
	unsigned int mtu = (unsigned int)json_number(partition, "mtu");
	unsigned int rate = (unsigned int)json_number(partition, "rate");

	g_string_append_printf(out,
			       ",\"qos_conf\":{\"mtu_limit\":%u,\"service_level\":%u,"
			       "\"rate_limit\":",
			       (mtu ? mtu : MTU_DEFAULT) >= 5 ? 4u : 2u,
			       (unsigned int)json_number(partition, "sl") & 15);
	add_rate(out, body_rate_shown(rate ? rate : RATE_DEFAULT));
	g_string_append_c(out, '}');
}

/* MTU in octets, rate in Gb/s; only with a broadcast group. */
static void add_effective(GString *out, JsonObject *partition)
{
	JsonObject *effect = json_object(partition, "effective");
	unsigned int mtu = (unsigned int)json_number(effect, "mtu");
	unsigned int rate = body_rate_true((unsigned int)json_number(effect, "rate"));

	g_string_append_printf(out, ",\"effective\":{\"exists\":%s,\"ip_over_ib\":%s,"
				    "\"service_level\":%u",
			       flag(json_flag(effect, "exists")), flag(json_flag(effect, "ipoib")),
			       (unsigned int)json_number(effect, "sl"));
	if (mtu && mtu <= 5)
		g_string_append_printf(out, ",\"mtu\":%u", 128u << mtu);
	if (rate) {
		g_string_append(out, ",\"rate\":");
		add_rate(out, rate);
	}
	g_string_append_c(out, '}');
}

/* The table of a port has one index 0, which the last of its partitions with index0 has. */
static GHashTable *displaced(JsonObject *partition)
{
	GHashTable *guids = g_hash_table_new(g_str_hash, g_str_equal);
	JsonArray *list = json_list(partition, "not_at_index0");

	for (guint i = 0; i < json_rows(list); i++) {
		const char *guid = json_array_get_string_element(list, i);

		if (guid)
			g_hash_table_add(guids, (gpointer)guid);
	}
	return guids;
}

/* Clients compare GUIDs as text: 16 digits, without 0x. */
static void add_guids(GString *out, JsonObject *partition, const char *key, const char *membership,
		      GHashTable *elsewhere, bool *first)
{
	bool index0 = json_flag(partition, "indx0");
	JsonArray *list = json_list(partition, key);
	guint n = json_rows(list);

	for (guint i = 0; i < n; i++) {
		const char *guid = json_array_get_string_element(list, i);

		if (!guid || strlen(guid) != 18)
			continue;
		g_string_append_printf(out,
				       "%s{\"guid\":\"%s\",\"index0\":%s,"
				       "\"membership\":\"%s\"}",
				       *first ? "" : ",", guid + 2,
				       flag(index0 && !g_hash_table_contains(elsewhere, guid)),
				       membership);
		*first = false;
	}
}

static void add_members(GString *out, JsonObject *partition)
{
	g_autoptr(GHashTable) elsewhere = displaced(partition);
	bool first = true;

	g_string_append(out, ",\"guids\":[");
	if (key_of(partition) != DEFAULT_KEY) {
		add_guids(out, partition, "full", "full", elsewhere, &first);
		add_guids(out, partition, "both", "full", elsewhere, &first);
		add_guids(out, partition, "limited", "limited", elsewhere, &first);
	}
	g_string_append_c(out, ']');
}

void reads_add_partition(GString *out, JsonObject *partition, bool guids, bool qos)
{
	const char *name = json_text(partition, "name");
	uint16_t key = key_of(partition);
	g_autofree char *unnamed = g_strdup_printf(BODY_UNNAMED "0x%x", key);

	g_string_append(out, "{\"partition\":");
	say_json(out, key == DEFAULT_KEY ? BODY_DEFAULT_NAME : *name ? name : unnamed);
	g_string_append_printf(out, ",\"ip_over_ib\":%s", flag(json_flag(partition, "ipoib")));
	if (key == DEFAULT_KEY)
		g_string_append_printf(out, ",\"index0\":%s,\"membership\":\"%s\"",
				       flag(json_flag(partition, "indx0")),
				       strcmp(json_text(partition, "all"), "limited") != 0
					       ? "full"
					       : "limited");
	if (guids)
		add_members(out, partition);
	if (qos)
		add_qos(out, partition);
	if (guids || qos)
		add_effective(out, partition);
	g_string_append_c(out, '}');
}

/* ---- partitions ---- */

static JsonObject *read_answer(struct call *call, JsonParser *parser, enum control_status status,
			       GBytes *text)
{
	JsonObject *answer = status == CONTROL_DONE ? json_read(parser, text) : NULL;

	if (!answer)
		api_fail(call->web, call->request, status, text, 503);
	return answer;
}

static char *all_as_text(const struct request *request, JsonArray *list)
{
	bool guids = wants(request, "guids_data"), qos = wants(request, "qos_conf");
	guint n = json_rows(list);
	GString *out = g_string_new("{");

	for (guint i = 0; i < n; i++) {
		JsonObject *partition = json_row(list, i);

		g_string_append_printf(out, "%s\"0x%x\":", i ? "," : "", key_of(partition));
		reads_add_partition(out, partition, guids, qos);
	}
	g_string_append(out, "}\n");
	return g_string_free(out, FALSE);
}

static void on_all(void *arg, enum control_status status, GBytes *text)
{
	struct call *call = arg;
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *answer = read_answer(call, parser, status, text);

	if (answer)
		request_answer_text(call->request, 200, WEB_JSON,
				    all_as_text(call->request, json_list(answer, "members")));
	call_free(call);
}

void read_partitions(struct call *call)
{
	asker_ask(call->web->asker, "partitions members json", 0, patience_of(call), on_all, call);
}

static void on_one(void *arg, enum control_status status, GBytes *text)
{
	struct call *call = arg;
	const struct request *request = call->request;
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *answer = json_read(parser, text);
	JsonArray *list = json_list(answer, "members");
	GString *out;

	if (!strcmp(json_text(answer, "kind"), "unknown")) {
		call_done(call);
		return;
	}
	if (status == CONTROL_DONE && json_rows(list)) {
		out = g_string_new(NULL);
		reads_add_partition(out, json_row(list, 0), wants(request, "guids_data"),
				    wants(request, "qos_conf"));
		g_string_append_c(out, '\n');
		request_answer_text(call->request, 200, WEB_JSON, g_string_free(out, FALSE));
	} else {
		api_fail(call->web, call->request, status, text, 503);
	}
	call_free(call);
}

void read_partition(struct call *call)
{
	g_autofree char *line = g_strdup_printf("partitions members 0x%x json", call->body.p_key);

	asker_ask(call->web->asker, line, 0, patience_of(call), on_one, call);
}

/* ---- the manager ---- */

static void on_version(void *arg, enum control_status status, GBytes *text)
{
	struct call *call = arg;
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *answer = read_answer(call, parser, status, text);
	GString *out;

	if (answer) {
		out = g_string_new("{\"ufm_release_version\":");
		say_json(out, call->web->config->ufm_version);
		g_string_append(out, ",\"server\":");
		say_json(out, json_text(answer, "version"));
		g_string_append(out, "}\n");
		request_answer_text(call->request, 200, WEB_JSON, g_string_free(out, FALSE));
	}
	call_free(call);
}

void read_version(struct call *call)
{
	asker_ask(call->web->asker, "version json", 1000, patience_of(call), on_version, call);
}

/* Never a key: whether it is a well-known one. */
static void on_status(void *arg, enum control_status status, GBytes *text)
{
	struct call *call = arg;
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *answer = read_answer(call, parser, status, text);
	JsonObject *keys = json_object(answer, "keys");

	if (answer && !keys)
		request_fail(call->request, 503, "this daemon does not tell about its keys");
	else if (answer)
		request_answer_text(
			call->request, 200, WEB_JSON,
			g_strdup_printf("{\"subnet_prefix\":\"%s\",\"m_key\":\"%s\","
					"\"sm_key\":\"%s\",\"sa_key\":\"%s\","
					"\"m_key_per_port\":%s}\n",
					json_text(keys, "subnet_prefix"),
					json_flag(keys, "m_key") ? "0x2" : "0x0",
					json_flag(keys, "sm_key_is_known") ? "0x1" : "0x2",
					json_flag(keys, "sa_key_is_known") ? "0x1" : "0x2",
					flag(json_flag(keys, "m_key_per_port"))));
	call_free(call);
}

void read_smconf(struct call *call)
{
	asker_ask(call->web->asker, "status json", 500, patience_of(call), on_status, call);
}
