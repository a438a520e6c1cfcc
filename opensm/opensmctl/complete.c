// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * In "verbose|[GUID]" a lower-case word is to be typed as it is, an upper-case one stands for a
 * value; COMMAND alone stands for the known commands.
 */
#include "opensmctl/complete.h"

#include <json-glib/json-glib.h>
#include <stdbool.h>
#include <string.h>

struct completer {
	GHashTable *arguments; /* by command: the words that may follow it, as GStrv */
	GPtrArray *commands;   /* in the order of help */
};

/* The member if it is text, else "". */
static const char *text_of(JsonObject *object, const char *name)
{
	JsonNode *node = json_object_get_member(object, name);
	bool is_text = node && json_node_get_value_type(node) == G_TYPE_STRING;

	return is_text ? json_node_get_string(node) : "";
}

static void add_command(struct completer *completer, JsonObject *row)
{
	const char *name = text_of(row, "command");
	const char *arguments = text_of(row, "arguments");

	if (!*name || g_hash_table_contains(completer->arguments, name))
		return;
	g_ptr_array_add(completer->commands, g_strdup(name));
	g_hash_table_insert(completer->arguments, g_strdup(name),
			    g_strsplit_set(arguments, "[]| .", -1));
}

/* The member as a list, or NULL. */
static JsonArray *list_of(JsonNode *root, const char *name)
{
	JsonNode *node = root && JSON_NODE_HOLDS_OBJECT(root)
				 ? json_object_get_member(json_node_get_object(root), name)
				 : NULL;

	return node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

struct completer *completer_new(const char *help_json)
{
	struct completer *completer = g_new(struct completer, 1);
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonArray *list = NULL;

	completer->commands = g_ptr_array_new_with_free_func(g_free);
	completer->arguments =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_strfreev);
	if (json_parser_load_from_data(parser, help_json, -1, NULL))
		list = list_of(json_parser_get_root(parser), "commands");
	for (guint i = 0; list && i < json_array_get_length(list); i++) {
		JsonNode *row = json_array_get_element(list, i);

		if (JSON_NODE_HOLDS_OBJECT(row))
			add_command(completer, json_node_get_object(row));
	}
	return completer;
}

void completer_free(struct completer *completer)
{
	g_ptr_array_unref(completer->commands);
	g_hash_table_unref(completer->arguments);
	g_free(completer);
}

static void offer(GPtrArray *words, const char *word, const char *beginning)
{
	if (*word && g_str_has_prefix(word, beginning) &&
	    !g_ptr_array_find_with_equal_func(words, word, g_str_equal, NULL))
		g_ptr_array_add(words, g_strdup(word));
}

static void offer_commands(const struct completer *completer, GPtrArray *words,
			   const char *beginning)
{
	for (guint i = 0; i < completer->commands->len; i++)
		offer(words, completer->commands->pdata[i], beginning);
}

/* The command that a line begins with, which may be abbreviated; NULL if none or several match. */
static const char *command_of(const struct completer *completer, const char *line)
{
	g_autofree char *name = g_strndup(line, strcspn(line, " \t"));
	g_autoptr(GPtrArray) fitting = g_ptr_array_new_with_free_func(g_free);
	const char *key = NULL;

	if (!g_hash_table_contains(completer->arguments, name)) {
		offer_commands(completer, fitting, name);
		if (fitting->len != 1)
			return NULL;
		g_free(name);
		name = g_strdup(fitting->pdata[0]);
	}
	g_hash_table_lookup_extended(completer->arguments, name, (gpointer *)&key, NULL);
	return key;
}

static void offer_arguments(const struct completer *completer, GPtrArray *words, const char *line,
			    const char *beginning)
{
	const char *command = command_of(completer, line);
	char **arguments = command ? g_hash_table_lookup(completer->arguments, command) : NULL;

	for (unsigned int i = 0; arguments && arguments[i]; i++) {
		if (!strcmp(arguments[i], "COMMAND"))
			offer_commands(completer, words, beginning);
		else if (g_ascii_islower(arguments[i][0]))
			offer(words, arguments[i], beginning);
	}
	if (command && *beginning)
		offer(words, "json", beginning);
}

GPtrArray *complete(const struct completer *completer, const char *line, size_t *begin)
{
	GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
	size_t start = strspn(line, " \t"), last = strlen(line);

	while (last > start && line[last - 1] != ' ' && line[last - 1] != '\t')
		last--;
	*begin = last;
	if (last == start)
		offer_commands(completer, words, line + last);
	else
		offer_arguments(completer, words, line + start, line + last);
	return words;
}

char *complete_common(const GPtrArray *words)
{
	char *common = g_strdup(words->len ? words->pdata[0] : "");

	for (guint i = 1; i < words->len; i++) {
		const char *word = words->pdata[i];
		size_t n = 0;

		while (common[n] && common[n] == word[n])
			n++;
		common[n] = '\0';
	}
	return common;
}
