// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "client/json.h"

JsonObject *json_read(JsonParser *parser, GBytes *text)
{
	gsize size = 0;
	const char *octets = g_bytes_get_data(text, &size);
	JsonNode *root;

	if (!size || !json_parser_load_from_data(parser, octets, (gssize)size, NULL))
		return NULL;
	root = json_parser_get_root(parser);
	return root && JSON_NODE_HOLDS_OBJECT(root) ? json_node_get_object(root) : NULL;
}

static JsonNode *member(JsonObject *object, const char *name)
{
	return object ? json_object_get_member(object, name) : NULL;
}

JsonObject *json_object(JsonObject *object, const char *name)
{
	JsonNode *node = member(object, name);

	return node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

JsonArray *json_list(JsonObject *object, const char *name)
{
	JsonNode *node = member(object, name);

	return node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

static bool holds(JsonNode *node, GType type)
{
	return node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == type;
}

const char *json_text(JsonObject *object, const char *name)
{
	JsonNode *node = member(object, name);

	return holds(node, G_TYPE_STRING) ? json_node_get_string(node) : "";
}

gint64 json_number(JsonObject *object, const char *name)
{
	JsonNode *node = member(object, name);

	return holds(node, G_TYPE_INT64) ? json_node_get_int(node) : 0;
}

bool json_flag(JsonObject *object, const char *name)
{
	JsonNode *node = member(object, name);

	return holds(node, G_TYPE_BOOLEAN) && json_node_get_boolean(node);
}

guint json_rows(JsonArray *list)
{
	return list ? json_array_get_length(list) : 0;
}

JsonObject *json_row(JsonArray *list, guint i)
{
	JsonNode *node = i < json_rows(list) ? json_array_get_element(list, i) : NULL;

	return node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}
