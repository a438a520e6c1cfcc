// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/tree/join.h"

#include <json-glib/json-glib.h>
#include <stdio.h>
#include <string.h>

#include "client/json.h"

#define ROLES_ALL 15u

static const struct {
	enum ssa_role role;
	const char *name;
} roles[] = {
	{SSA_ROLE_CORE, "core"},
	{SSA_ROLE_DISTRIBUTION, "distribution"},
	{SSA_ROLE_ACCESS, "access"},
	{SSA_ROLE_AGENT, "agent"},
};

const char *ssa_role_name(unsigned int role)
{
	for (size_t i = 0; i < G_N_ELEMENTS(roles); i++)
		if (roles[i].role == role)
			return roles[i].name;
	return NULL;
}

unsigned int ssa_role_find(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(roles); i++)
		if (!strcmp(roles[i].name, name))
			return roles[i].role;
	return 0;
}

/* ---- writing ---- */

static void add_number(JsonBuilder *builder, const char *name, uint64_t value)
{
	json_builder_set_member_name(builder, name);
	json_builder_add_int_value(builder, (gint64)value);
}

static void add_text(JsonBuilder *builder, const char *name, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);

	json_builder_set_member_name(builder, name);
	json_builder_add_string_value(builder, valid);
}

/* As text: JSON numbers of others have 53 bits only. */
static void add_guid(JsonBuilder *builder, const char *name, uint64_t guid)
{
	g_autofree char *text = g_strdup_printf("%016" G_GINT64_MODIFIER "x", guid);

	add_text(builder, name, text);
}

static char *end(JsonBuilder *builder)
{
	g_autoptr(JsonGenerator) generator = json_generator_new();
	g_autoptr(JsonNode) root = NULL;

	json_builder_end_object(builder);
	root = json_builder_get_root(builder);
	json_generator_set_root(generator, root);
	return json_generator_to_data(generator, NULL);
}

char *ssa_join_text(const struct ssa_join *join)
{
	g_autoptr(JsonBuilder) builder = json_builder_new();

	json_builder_begin_object(builder);
	add_guid(builder, "guid", join->guid);
	add_number(builder, "roles", join->roles);
	add_number(builder, "join", join->number);
	add_guid(builder, "bad", join->bad);
	add_guid(builder, "primary", join->parents[0]);
	add_guid(builder, "backup", join->parents[1]);
	add_number(builder, "term", join->term);
	add_number(builder, "epoch", join->epoch);
	add_text(builder, "address", join->address);
	add_text(builder, "parent", join->parent);
	add_text(builder, "name", join->name);
	add_number(builder, "updates", join->updates);
	add_number(builder, "errors", join->errors);
	add_number(builder, "switches", join->switches);
	add_number(builder, "started_us", (uint64_t)join->started_us);
	add_number(builder, "updated_us", (uint64_t)join->updated_us);
	add_number(builder, "confirmed_us", (uint64_t)join->confirmed_us);
	add_number(builder, "error_us", (uint64_t)join->error_us);
	add_text(builder, "error", join->error);
	return end(builder);
}

char *ssa_answer_text(const struct ssa_answer *answer)
{
	g_autoptr(JsonBuilder) builder = json_builder_new();

	json_builder_begin_object(builder);
	add_number(builder, "join", answer->number);
	add_guid(builder, "primary", answer->guids[0]);
	add_text(builder, "primary_address", answer->addresses[0]);
	add_guid(builder, "backup", answer->guids[1]);
	add_text(builder, "backup_address", answer->addresses[1]);
	return end(builder);
}

/* ---- reading ---- */

static JsonObject *read_object(JsonParser *parser, const char *text)
{
	g_autoptr(GBytes) bytes = NULL;
	size_t length = strlen(text);

	if (length > SSA_JOIN_TEXT_MAX)
		return NULL;
	bytes = g_bytes_new_static(text, length);
	return json_read(parser, bytes);
}

static uint64_t read_guid(JsonObject *object, const char *name)
{
	guint64 guid;

	return g_ascii_string_to_unsigned(json_text(object, name), 16, 0, G_MAXUINT64, &guid, NULL)
		       ? guid
		       : 0;
}

static uint64_t read_number(JsonObject *object, const char *name)
{
	return (uint64_t)MAX(json_number(object, name), 0);
}

/* Printable, of one line; an address has no space as well. False: too long. */
static bool read_text(JsonObject *object, const char *name, char *to, size_t size, bool is_address)
{
	g_strlcpy(to, json_text(object, name), size);
	for (char *at = to; *at; at++)
		if (g_ascii_iscntrl(*at) || (is_address && (*at == ' ' || *at == '/')))
			*at = '?';
	return strlen(json_text(object, name)) < size;
}

bool ssa_join_parse(const char *text, struct ssa_join *join)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *object = read_object(parser, text);

	memset(join, 0, sizeof(*join));
	if (!object)
		return false;
	join->guid = read_guid(object, "guid");
	join->roles = (unsigned int)(read_number(object, "roles") & ROLES_ALL);
	join->number = read_number(object, "join");
	join->bad = read_guid(object, "bad");
	join->parents[0] = read_guid(object, "primary");
	join->parents[1] = read_guid(object, "backup");
	join->term = read_number(object, "term");
	join->epoch = read_number(object, "epoch");
	join->updates = read_number(object, "updates");
	join->errors = read_number(object, "errors");
	join->switches = read_number(object, "switches");
	join->started_us = json_number(object, "started_us");
	join->updated_us = json_number(object, "updated_us");
	join->confirmed_us = json_number(object, "confirmed_us");
	join->error_us = json_number(object, "error_us");
	read_text(object, "name", join->name, sizeof(join->name), false);
	read_text(object, "error", join->error, sizeof(join->error), false);
	return join->guid && join->roles &&
	       read_text(object, "address", join->address, sizeof(join->address), true) &&
	       read_text(object, "parent", join->parent, sizeof(join->parent), true);
}

bool ssa_answer_parse(const char *text, struct ssa_answer *answer)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *object = read_object(parser, text);

	memset(answer, 0, sizeof(*answer));
	if (!object)
		return false;
	answer->number = read_number(object, "join");
	answer->guids[0] = read_guid(object, "primary");
	answer->guids[1] = read_guid(object, "backup");
	return read_text(object, "primary_address", answer->addresses[0], SSA_JOIN_ADDRESS, true) &&
	       read_text(object, "backup_address", answer->addresses[1], SSA_JOIN_ADDRESS, true);
}

/* ---- the list ---- */

#define U64 "%" G_GUINT64_FORMAT
#define X64 "%016" G_GINT64_MODIFIER "x"

void ssa_tree_append(GString *text, const struct ssa_listed_node *node)
{
	g_string_append_printf(
		text, X64 " %u " X64 " " X64 " " U64 " " U64 " %" G_GINT64_FORMAT " %s\n",
		node->guid, node->roles, node->parents[0], node->parents[1], node->term,
		node->epoch, node->seen_s, *node->address ? node->address : "-");
}

GArray *ssa_tree_parse(const char *text)
{
	GArray *nodes = g_array_new(FALSE, TRUE, sizeof(struct ssa_listed_node));
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (unsigned int i = 0; lines[i]; i++) {
		struct ssa_listed_node node = {0};

		if (sscanf(lines[i],
			   "%16" G_GINT64_MODIFIER "x %2u %16" G_GINT64_MODIFIER
			   "x %16" G_GINT64_MODIFIER "x %20" G_GINT64_MODIFIER
			   "u %20" G_GINT64_MODIFIER "u %19" G_GINT64_MODIFIER "d %127s",
			   &node.guid, &node.roles, &node.parents[0], &node.parents[1], &node.term,
			   &node.epoch, &node.seen_s, node.address) != 8 ||
		    !node.guid || !node.roles || node.roles > ROLES_ALL)
			continue;
		if (!strcmp(node.address, "-"))
			*node.address = '\0';
		g_array_append_val(nodes, node);
	}
	return nodes;
}
