// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/rest/body.h"

#include <math.h>
#include <string.h>

#include "client/json.h"
#include "web/rest/syntax.h"

#define NAME_MAX_LENGTH 64
#define SHOWN 40 /* octets of a wrong word shown */

/* In units of 100 Mb/s; shown: clients refuse to read other rates. */
static const struct {
	unsigned int rate, code;
	bool shown;
} rates[] = {
	{25, 2, true},	   {50, 5, true},     {100, 3, true},	{140, 11, true},  {200, 6, true},
	{250, 15, true},   {280, 19, false},  {300, 4, true},	{400, 7, true},	  {500, 20, false},
	{560, 12, true},   {600, 8, true},    {800, 9, true},	{1000, 16, true}, {1120, 13, true},
	{1200, 10, true},  {1680, 14, true},  {2000, 17, true}, {3000, 18, true}, {4000, 21, false},
	{6000, 22, false}, {8000, 23, false}, {12000, 24, false},
};

unsigned int body_rate_true(unsigned int code)
{
	for (size_t i = 0; i < G_N_ELEMENTS(rates); i++)
		if (rates[i].code == code)
			return rates[i].rate;
	return 0;
}

unsigned int body_rate_shown(unsigned int code)
{
	unsigned int rate = body_rate_true(code), shown = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(rates) && rates[i].rate <= rate; i++)
		if (rates[i].shown)
			shown = rates[i].rate;
	return shown;
}

/* ---- words ---- */

static char *wrong(const char *what, const char *found, const char *expected)
{
	g_autofree char *some = g_utf8_make_valid(found, (gssize)strnlen(found, SHOWN));
	g_autofree char *shown = g_strescape(some, NULL);

	return g_strdup_printf("%s: found '%s', expected %s", what, shown, expected);
}

static bool is_hex(const char *text)
{
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

char *body_p_key(const char *text, uint16_t *p_key)
{
	bool hex = is_hex(text);
	guint64 number;

	if (!g_ascii_string_to_unsigned(hex ? text + 2 : text, hex ? 16 : 10, 1, 0x7fff, &number,
					NULL))
		return wrong("pkey", text, "a P_Key from 0x1 to 0x7fff without the membership bit");
	*p_key = (uint16_t)number;
	return NULL;
}

/* 1 to 16 hexadecimal digits, with or without 0x or colons. */
static bool to_guid(const char *text, uint64_t *guid)
{
	unsigned int digits = 0;

	*guid = 0;
	for (text += is_hex(text) ? 2 : 0; *text; text++) {
		if (*text == ':' && digits && text[1])
			continue;
		if (!g_ascii_isxdigit(*text) || digits++ == 16)
			return false;
		*guid = *guid << 4 | (uint64_t)g_ascii_xdigit_value(*text);
	}
	return *guid != 0;
}

static char *add_guid(struct body *body, const char *text)
{
	struct body_member member = {.membership = NULL};

	if (!to_guid(text, &member.guid))
		return wrong("guids", text, "the GUID of a port, of up to 16 hexadecimal digits");
	if (body->members->len == BODY_GUIDS_MAX)
		return g_strdup_printf("guids: expected at most %u", BODY_GUIDS_MAX);
	g_array_append_val(body->members, member);
	return NULL;
}

static char *add_host(struct body *body, const char *text)
{
	if (!*text || !g_utf8_validate(text, -1, NULL))
		return wrong("hosts_names", text, "the name of a host");
	if (body->hosts->len == BODY_HOSTS_MAX)
		return g_strdup_printf("hosts_names: expected at most %u", BODY_HOSTS_MAX);
	g_ptr_array_add(body->hosts, g_strdup(text));
	return NULL;
}

static char *add_each(struct body *body, const char *list,
		      char *(*add)(struct body *body, const char *text))
{
	g_auto(GStrv) words = g_strsplit(list, ",", -1);
	char *mistake = NULL;

	for (unsigned int i = 0; !mistake && words[i]; i++)
		mistake = add(body, g_strstrip(words[i]));
	return mistake;
}

char *body_guids(struct body *body, const char *list)
{
	return add_each(body, list, add_guid);
}

char *body_hosts(struct body *body, const char *list)
{
	return add_each(body, list, add_host);
}

/* ---- fields ---- */

static bool is_value(JsonNode *node, GType type)
{
	return JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == type;
}

static const char *text_of(JsonNode *node)
{
	return is_value(node, G_TYPE_STRING) ? json_node_get_string(node) : NULL;
}

static char *take_p_key(struct body *body, JsonNode *node)
{
	g_autofree char *number = is_value(node, G_TYPE_INT64)
					  ? g_strdup_printf("%" G_GINT64_FORMAT,
							    json_node_get_int(node))
					  : NULL;
	const char *text = number ? number : text_of(node);

	return text ? body_p_key(text, &body->p_key) : g_strdup("pkey: expected a text");
}

/* A list of texts, or a text with commas. */
static char *take_list(struct body *body, JsonNode *node, const char *what,
		       char *(*add)(struct body *body, const char *text))
{
	JsonArray *list = JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
	guint n = json_rows(list);
	const char *text = text_of(node);
	char *mistake = NULL;

	if (!list && !text)
		return g_strdup_printf("%s: expected a list of texts", what);
	if (text)
		return *text ? add_each(body, text, add) : NULL;
	for (guint i = 0; !mistake && i < n; i++) {
		text = text_of(json_array_get_element(list, i));
		mistake = text ? add(body, text)
			       : g_strdup_printf("%s: expected a list of texts", what);
	}
	return mistake;
}

static char *take_guids(struct body *body, JsonNode *node)
{
	return take_list(body, node, "guids", add_guid);
}

static char *take_hosts(struct body *body, JsonNode *node)
{
	return take_list(body, node, "hosts_names", add_host);
}

static char *to_membership(const char *text, const char **membership)
{
	static const char *const words[] = {"full", "limited", "both"};

	for (size_t i = 0; text && i < G_N_ELEMENTS(words); i++)
		if (!g_ascii_strcasecmp(text, words[i])) {
			*membership = words[i];
			return NULL;
		}
	return wrong("membership", text ? text : "", "full or limited");
}

static char *take_membership(struct body *body, JsonNode *node)
{
	return to_membership(text_of(node), &body->membership);
}

static char *to_flag(JsonNode *node, const char *what, int *flag)
{
	const char *text = text_of(node);

	if (is_value(node, G_TYPE_BOOLEAN))
		*flag = json_node_get_boolean(node);
	else if (text && !g_ascii_strcasecmp(text, "true"))
		*flag = 1;
	else if (text && !g_ascii_strcasecmp(text, "false"))
		*flag = 0;
	else
		return g_strdup_printf("%s: expected true or false", what);
	return NULL;
}

static char *take_ip_over_ib(struct body *body, JsonNode *node)
{
	return to_flag(node, "ip_over_ib", &body->ip_over_ib);
}

static char *take_index0(struct body *body, JsonNode *node)
{
	return to_flag(node, "index0", &body->index0);
}

/* NAN: it is not a number. */
static double number_of(JsonNode *node)
{
	const char *text = text_of(node);
	double number = NAN;
	char *end;

	if (is_value(node, G_TYPE_INT64) || is_value(node, G_TYPE_DOUBLE))
		return json_node_get_double(node);
	if (text && g_ascii_isdigit(*text)) {
		number = g_ascii_strtod(text, &end);
		return *end ? NAN : number;
	}
	return NAN;
}

static char *take_mtu(struct body *body, JsonNode *node)
{
	double number = number_of(node);

	if (number != 2 && number != 4)
		return g_strdup("mtu_limit: expected 2 or 4");
	body->mtu = number == 2 ? 4 : 5;
	return NULL;
}

static char *take_sl(struct body *body, JsonNode *node)
{
	double number = number_of(node);

	if (!(number >= 0 && number <= 15) || number != floor(number))
		return g_strdup("service_level: expected 0 to 15");
	body->sl = (int)number;
	return NULL;
}

static char *take_rate(struct body *body, JsonNode *node)
{
	double number = number_of(node) * 10;

	for (size_t i = 0; i < G_N_ELEMENTS(rates); i++)
		if (number == rates[i].rate) {
			body->rate = (int)rates[i].code;
			return NULL;
		}
	return g_strdup("rate_limit: expected a rate of InfiniBand in Gb/s, such as 2.5, 10, 100 "
			"or 200");
}

/* What means something in a definition becomes '_'. */
static char *take_name(struct body *body, JsonNode *node)
{
	const char *text = text_of(node);

	if (!text || strlen(text) > NAME_MAX_LENGTH)
		return g_strdup_printf("partition_name: expected a text of at most %u octets",
				       NAME_MAX_LENGTH);
	g_free(body->name);
	body->name = g_strdup(text);
	for (char *c = body->name; *c; c++)
		if (!g_ascii_isalnum(*c) && !strchr("-._", *c))
			*c = '_';
	return NULL;
}

static char *set_memberships(struct body *body, JsonNode *node)
{
	JsonArray *list = node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
	char *mistake = NULL;

	if (node && (!list || json_rows(list) != body->members->len))
		return g_strdup("memberships: expected as many as there are guids");
	for (guint i = 0; !mistake && i < body->members->len; i++) {
		struct body_member *member = &g_array_index(body->members, struct body_member, i);

		member->membership = body->membership ? body->membership : "full";
		if (list)
			mistake = to_membership(text_of(json_array_get_element(list, i)),
						&member->membership);
	}
	return mistake;
}

/* Names that other partitions are shown by (reads.c). */
static char *refuse_name(const struct body *body)
{
	g_autofree char *unnamed = g_strdup_printf(BODY_UNNAMED "0x%x", body->p_key);
	bool of_other = body->name && g_str_has_prefix(body->name, BODY_UNNAMED) &&
			strcmp(body->name, unnamed) != 0;

	if (!of_other && g_strcmp0(body->name, BODY_DEFAULT_NAME) != 0)
		return NULL;
	return wrong("partition_name", body->name, "one that is not that of another partition");
}

static char *take_fields(struct body *body, JsonObject *object)
{
	static const struct {
		const char *name;
		char *(*take)(struct body *body, JsonNode *node);
	} fields[] = {
		{"pkey", take_p_key},
		{"guids", take_guids},
		{"hosts_names", take_hosts},
		{"default_membership", take_membership},
		{"membership", take_membership},
		{"ip_over_ib", take_ip_over_ib},
		{"index0", take_index0},
		{"mtu_limit", take_mtu},
		{"service_level", take_sl},
		{"rate_limit", take_rate},
		{"partition_name", take_name},
	};
	char *mistake = NULL;

	for (size_t i = 0; !mistake && i < G_N_ELEMENTS(fields); i++) {
		JsonNode *node = json_object_get_member(object, fields[i].name);

		if (node && !JSON_NODE_HOLDS_NULL(node))
			mistake = fields[i].take(body, node);
	}
	if (!mistake)
		mistake = set_memberships(body, json_object_get_member(object, "memberships"));
	return mistake ? mistake : refuse_name(body);
}

/* ---- the object ---- */

void body_init(struct body *body)
{
	*body = (struct body){
		.members = g_array_new(FALSE, FALSE, sizeof(struct body_member)),
		.hosts = g_ptr_array_new_with_free_func(g_free),
		.ip_over_ib = -1,
		.index0 = -1,
		.mtu = -1,
		.rate = -1,
		.sl = -1,
	};
}

void body_clear(struct body *body)
{
	g_array_unref(body->members);
	g_ptr_array_unref(body->hosts);
	g_free(body->name);
}

char *body_parse(struct body *body, const char *octets, gsize size)
{
	g_autofree char *text = g_strndup(octets, size);
	g_autoptr(JsonParser) parser = NULL;
	const char *mistake;
	JsonNode *root;

	if (!size || strlen(text) != size || !g_utf8_validate(text, -1, NULL))
		return g_strdup("the body: expected an object in JSON");
	mistake = syntax_mistake(text, BODY_DEPTH_MAX);
	if (mistake)
		return g_strdup_printf("the body is not JSON of at most %u levels: see octet "
				       "%" G_GSIZE_FORMAT,
				       BODY_DEPTH_MAX, (gsize)(mistake - text) + 1);
	parser = json_parser_new();
	if (!json_parser_load_from_data(parser, text, (gssize)size, NULL))
		return g_strdup("the body cannot be read as JSON");
	root = json_parser_get_root(parser);
	if (!root || !JSON_NODE_HOLDS_OBJECT(root))
		return g_strdup("the body: expected an object in JSON");
	return take_fields(body, json_node_get_object(root));
}
