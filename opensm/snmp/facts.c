// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "snmp/facts.h"

#include <string.h>

#include "client/json.h"

#define P_KEY_MAX 0x7FFF

/* ---- life ---- */

static void clear_counter(gpointer counter)
{
	g_free(((struct facts_counter *)counter)->name);
}

static void clear_partition(gpointer partition)
{
	g_free(((struct facts_partition *)partition)->name);
}

static void clear_port(gpointer port)
{
	g_free(((struct facts_port *)port)->text);
}

static GArray *list_new(guint size, GDestroyNotify clear)
{
	GArray *list = g_array_new(FALSE, TRUE, size);

	if (clear)
		g_array_set_clear_func(list, clear);
	return list;
}

struct facts *facts_new(void)
{
	struct facts *facts = g_new0(struct facts, 1);

	facts->counters = list_new(sizeof(struct facts_counter), clear_counter);
	facts->standbys = list_new(sizeof(struct facts_port), clear_port);
	facts->unhealthy = list_new(sizeof(struct facts_port), clear_port);
	facts->partitions = list_new(sizeof(struct facts_partition), clear_partition);
	facts->members = list_new(sizeof(struct facts_member), NULL);
	facts_take_status(facts, NULL);
	facts_take_health(facts, NULL);
	return facts;
}

void facts_free(struct facts *facts)
{
	if (!facts)
		return;
	g_array_unref(facts->counters);
	g_array_unref(facts->standbys);
	g_array_unref(facts->unhealthy);
	g_array_unref(facts->partitions);
	g_array_unref(facts->members);
	g_free(facts->version);
	g_free(facts->summary);
	g_free(facts->problems);
	g_free(facts->partition_problems);
	g_free(facts->sweep_kind);
	facts_take_image(facts, 0);
	g_free(facts);
}

/* ---- answers ---- */

/* The object of a text, of which the parser must live as long; NULL: there is none. */
static JsonObject *parse(JsonParser *parser, const char *text)
{
	g_autoptr(GBytes) octets = text ? g_bytes_new_static(text, strlen(text)) : NULL;

	return octets ? json_read(parser, octets) : NULL;
}

static uint64_t to_guid(const char *text)
{
	guint64 guid;

	if (!g_str_has_prefix(text, "0x") ||
	    !g_ascii_string_to_unsigned(text + 2, 16, 0, G_MAXUINT64, &guid, NULL))
		return 0;
	return guid;
}

uint64_t facts_guid(JsonObject *object, const char *name)
{
	return to_guid(json_text(object, name));
}

static uint64_t number_of(JsonObject *object, const char *name)
{
	return (uint64_t)MAX(json_number(object, name), 0);
}

static uint8_t octet_of(JsonObject *object, const char *name)
{
	return (uint8_t)MIN(number_of(object, name), UINT8_MAX);
}

static void replace(char **text, const char *by)
{
	g_free(*text);
	*text = g_strdup(by);
}

static enum facts_state state_of(JsonObject *status)
{
	static const char *const words[] = {"Not Active", "Discovering", "Standby", "Master"};
	const char *word = json_text(status, "sm_state");

	for (unsigned int i = 0; i < G_N_ELEMENTS(words); i++)
		if (!strcmp(words[i], word))
			return i;
	return FACTS_UNREACHABLE;
}

static void add_counter(JsonObject *object, const char *name, JsonNode *node, gpointer arg)
{
	struct facts_counter counter = {.value = number_of(object, name)};

	(void)node;
	counter.name = g_strdup(name);
	g_array_append_val((GArray *)arg, counter);
}

/* Standbys that have all that the master knows. */
static void take_standbys(struct facts *facts, JsonObject *status)
{
	JsonArray *list = json_list(json_object(status, "replication"), "standbys");

	g_array_set_size(facts->standbys, 0);
	for (guint i = 0; i < json_rows(list); i++) {
		JsonObject *row = json_row(list, i);
		struct facts_port port = {.guid = facts_guid(row, "guid")};

		if (port.guid && json_flag(row, "in_step"))
			g_array_append_val(facts->standbys, port);
	}
}

void facts_take_status(struct facts *facts, const char *text)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *status = parse(parser, text);
	JsonObject *subnet = json_object(status, "subnet"), *counters;

	facts->state = state_of(status);
	replace(&facts->version, json_text(status, "version"));
	facts->guid = facts_guid(status, "sm_guid");
	facts->priority = number_of(status, "sm_priority");
	facts->has_subnet = json_flag(status, "has_subnet");
	facts->errors = json_flag(json_object(status, "subnet_flags"), "init_errors");
	facts->generation = number_of(subnet, "generation");
	facts->switches = number_of(subnet, "switches");
	facts->hosts = number_of(subnet, "hosts");
	facts->links = number_of(subnet, "links");
	g_array_set_size(facts->counters, 0);
	counters = json_object(status, "counters");
	if (counters)
		json_object_foreach_member(counters, add_counter, facts->counters);
	take_standbys(facts, status);
}

/* "subject: text", a line each; of that subject only, if it is not NULL. */
static void add_lines(GString *out, JsonArray *list, const char *subject)
{
	for (guint i = 0; i < json_rows(list); i++) {
		JsonObject *row = json_row(list, i);
		const char *of = json_text(row, "subject");

		if (subject && strcmp(subject, of) != 0)
			continue;
		g_string_append_printf(out, "%s%s: %s", out->len ? "\n" : "", of,
				       json_text(row, "text"));
	}
}

static void take_sweep(struct facts *facts, JsonObject *sweep)
{
	facts->swept = sweep != NULL;
	replace(&facts->sweep_kind, json_text(sweep, "kind"));
	facts->sweep_errors = json_flag(sweep, "errors");
	facts->sweep_us = number_of(sweep, "took_us");
	facts->sweep_age_s = number_of(sweep, "seconds_ago");
}

/* That of this SM if it is master, or of the one that it follows. */
static uint64_t master_of(JsonObject *health)
{
	JsonArray *list = json_list(health, "sms");

	for (guint i = 0; i < json_rows(list); i++) {
		JsonObject *row = json_row(list, i);

		if (!g_ascii_strcasecmp(json_text(row, "state"), "MASTER"))
			return facts_guid(row, "guid");
	}
	return facts_guid(json_object(health, "master"), "guid");
}

static void take_own_guid(struct facts *facts, JsonObject *health)
{
	JsonArray *list = json_list(health, "sms");

	for (guint i = 0; !facts->guid && i < json_rows(list); i++)
		if (json_flag(json_row(list, i), "self"))
			facts->guid = facts_guid(json_row(list, i), "guid");
	facts->master = master_of(health);
	if (!facts->master && facts->state == FACTS_MASTER)
		facts->master = facts->guid;
}

void facts_take_health(struct facts *facts, const char *text)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *health = parse(parser, text);
	JsonArray *problems = json_list(health, "problems");
	g_autoptr(GString) all = g_string_new(NULL), partitions = g_string_new(NULL);

	facts->health_known = health != NULL;
	facts->healthy = json_flag(health, "healthy");
	replace(&facts->summary, json_text(health, "state"));
	add_lines(all, problems, NULL);
	add_lines(partitions, problems, "partitions");
	add_lines(partitions, json_list(health, "warnings"), "partitions");
	replace(&facts->problems, all->str);
	replace(&facts->partition_problems, partitions->str);
	take_sweep(facts, json_object(health, "last_sweep"));
	take_own_guid(facts, health);
}

void facts_take_unhealthy(struct facts *facts, const char *text)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonArray *list = json_list(parse(parser, text), "ports");

	g_array_set_size(facts->unhealthy, 0);
	for (guint i = 0; i < json_rows(list); i++) {
		JsonObject *row = json_row(list, i);
		struct facts_port port = {.guid = facts_guid(row, "switch_guid"),
					  .port = number_of(row, "port")};

		if (!port.guid)
			port.guid = facts_guid(row, "node_guid");
		if (!port.guid)
			continue;
		port.text = g_strdup_printf("port %" G_GUINT64_FORMAT " of %s: %s, action: %s",
					    port.port, json_text(row, "switch"),
					    json_text(row, "why"), json_text(row, "action"));
		g_array_append_val(facts->unhealthy, port);
	}
}

static int compare_partitions(gconstpointer a, gconstpointer b)
{
	const struct facts_partition *left = a, *right = b;

	return (left->p_key > right->p_key) - (left->p_key < right->p_key);
}

static int compare_members(gconstpointer a, gconstpointer b)
{
	const struct facts_member *left = a, *right = b;

	if (left->p_key != right->p_key)
		return left->p_key < right->p_key ? -1 : 1;
	return (left->guid > right->guid) - (left->guid < right->guid);
}

static uint16_t p_key_of(JsonObject *row)
{
	uint64_t p_key = facts_guid(row, "p_key");

	return p_key && p_key <= P_KEY_MAX ? (uint16_t)p_key : 0;
}

static void take_list(struct facts *facts, JsonObject *row, const char *name, uint16_t p_key,
		      enum facts_membership membership)
{
	JsonArray *list = json_list(row, name);

	for (guint i = 0; i < json_rows(list); i++) {
		struct facts_member member = {.p_key = p_key,
					      .membership = membership,
					      .absent = membership == FACTS_NONE};
		JsonNode *node = json_array_get_element(list, i);
		const char *text = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_string(node) : NULL;

		member.guid = text ? to_guid(text) : 0;
		if (member.guid)
			g_array_append_val(facts->members, member);
	}
}

static enum facts_membership to_membership(const char *word)
{
	static const char *const words[] = {"none", "full", "limited", "both"};

	for (unsigned int i = 0; i < G_N_ELEMENTS(words); i++)
		if (!strcmp(words[i], word))
			return i;
	return FACTS_NONE;
}

/*
 * Of the entries of a GUID, one says that it is absent, and another one its membership. What is
 * there twice otherwise counts once.
 */
static void merge_members(GArray *members)
{
	guint n = 0;

	g_array_sort(members, compare_members);
	for (guint i = 0; i < members->len; i++) {
		struct facts_member *member = &g_array_index(members, struct facts_member, i);
		struct facts_member *last =
			n ? &g_array_index(members, struct facts_member, n - 1) : NULL;

		if (last && !compare_members(last, member)) {
			last->membership = MAX(last->membership, member->membership);
			last->absent |= member->absent;
		} else {
			g_array_index(members, struct facts_member, n++) = *member;
		}
	}
	g_array_set_size(members, n);
}

/* What is asked counts at once, before it is in effect. */
static void count_members(struct facts *facts)
{
	for (guint i = 0; i < facts->members->len; i++) {
		const struct facts_member *member =
			&g_array_index(facts->members, struct facts_member, i);
		struct facts_partition *partition =
			(struct facts_partition *)facts_partition(facts, member->p_key);

		if (!partition || member->absent)
			continue;
		partition->full += member->membership != FACTS_LIMITED;
		partition->limited += member->membership != FACTS_FULL;
	}
}

void facts_take_members(struct facts *facts, const char *text)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonArray *list = json_list(parse(parser, text), "members");

	g_array_set_size(facts->partitions, 0);
	g_array_set_size(facts->members, 0);
	for (guint i = 0; i < json_rows(list); i++) {
		JsonObject *row = json_row(list, i);
		struct facts_partition partition = {
			.p_key = p_key_of(row),
			.ipoib = json_flag(row, "ipoib"),
			.own = strcmp(json_text(row, "origin"), "run time") == 0,
			.mtu = octet_of(row, "mtu"),
			.rate = octet_of(row, "rate"),
			.sl = octet_of(row, "sl"),
			.all = (uint8_t)to_membership(json_text(row, "all")),
		};

		if (!partition.p_key)
			continue;
		partition.name = g_strdup(json_text(row, "name"));
		g_array_append_val(facts->partitions, partition);
		take_list(facts, row, "full", partition.p_key, FACTS_FULL);
		take_list(facts, row, "limited", partition.p_key, FACTS_LIMITED);
		take_list(facts, row, "both", partition.p_key, FACTS_BOTH);
		take_list(facts, row, "absent", partition.p_key, FACTS_NONE);
	}
	g_array_sort(facts->partitions, compare_partitions);
	merge_members(facts->members);
	count_members(facts);
}

void facts_take_counts(struct facts *facts, const char *text)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonArray *list = json_list(parse(parser, text), "partitions");

	for (guint i = 0; i < json_rows(list); i++) {
		JsonObject *row = json_row(list, i);
		struct facts_partition *partition = (struct facts_partition *)facts_partition(
			facts, facts_guid(row, "p_key") & P_KEY_MAX);

		if (!partition || partition->all == FACTS_NONE)
			continue;
		partition->full = (uint32_t)MIN(number_of(row, "full"), UINT32_MAX);
		partition->limited = (uint32_t)MIN(number_of(row, "limited"), UINT32_MAX);
	}
}

void facts_take_image(struct facts *facts, int file)
{
	if (facts->image.header)
		image_unmap(&facts->image);
	facts->image = (struct image){0};
	if (file && !image_map(&facts->image, file, NULL))
		facts->image = (struct image){0};
}

/* ---- questions ---- */

const char *facts_state_word(enum facts_state state)
{
	static const char *const words[] = {"not active", "discovering", "standby", "master",
					    "unreachable"};

	return words[state];
}

bool facts_subnet_up(const struct facts *facts)
{
	return facts->state == FACTS_MASTER && facts->has_subnet && !facts->errors;
}

const struct facts_partition *facts_partition(const struct facts *facts, uint16_t p_key)
{
	const struct facts_partition wanted = {.p_key = p_key};
	guint at;

	return g_array_binary_search(facts->partitions, &wanted, compare_partitions, &at)
		       ? &g_array_index(facts->partitions, struct facts_partition, at)
		       : NULL;
}

const struct facts_member *facts_member(const struct facts *facts, uint16_t p_key, uint64_t guid)
{
	const struct facts_member wanted = {.p_key = p_key, .guid = guid};
	guint at;

	return g_array_binary_search(facts->members, &wanted, compare_members, &at)
		       ? &g_array_index(facts->members, struct facts_member, at)
		       : NULL;
}
