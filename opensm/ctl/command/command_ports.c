// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Commands about nodes and ports: querylid, portstatus, ports, dump_portguid. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "complib/file.h"
#include "ctl/command/command_private.h"
#include "fabric/link_quality.h"
#include "iba/constants.h"

static const char *node_type_name(const struct fabric_node *node)
{
	const char *name = iba_name(IBA_SET_NODE_TYPE, node->type);

	return name ? name : "unknown";
}

/* ---- querylid ---- */

static void add_port(GVariantBuilder *list, const struct fabric *fabric, uint32_t port)
{
	const struct fabric_port *p = &fabric->ports[port];
	const char *state = iba_name(IBA_SET_PORT_STATE, p->info.port_state);
	GVariantBuilder row;

	answer_begin(&row);
	answer_number(&row, "port", p->num);
	answer_text(&row, "health", p->known ? "OK" : "not read");
	if (p->known)
		answer_text(&row, "state", state ? state : "?");
	answer_append(list, &row);
}

GVariant *command_querylid(struct command_call *call, GError **error)
{
	const struct fabric *fabric = call->fabric;
	const struct fabric_node *node;
	GVariantBuilder builder, list;
	uint64_t lid;
	uint32_t port;

	if (call->n != 1)
		return command_usage(error, "no LID specified");
	if (!find_number(call->words[0], UINT16_MAX, &lid) ||
	    (port = fabric_port_by_lid(fabric, (uint16_t)lid)) == FABRIC_NONE)
		return command_failed(error, "Invalid lid %s", call->words[0]);
	node = &fabric->nodes[fabric->ports[port].node];
	answer_begin(&builder);
	answer_number(&builder, "lid", lid);
	answer_guid(&builder, "port_guid", fabric->ports[port].guid);
	answer_node(&builder, fabric, fabric->ports[port].node);
	answer_text(&builder, "type", node_type_name(node));
	answer_number(&builder, "num_ports", node->num_ports);
	answer_begin_list(&list);
	for (unsigned int num = fabric_is_switch(fabric, fabric->ports[port].node) ? 0 : 1;
	     num <= node->num_ports; num++)
		add_port(&list, fabric, node->first_port + num);
	answer_member(&builder, "ports", &list);
	return g_variant_builder_end(&builder);
}

static void print_port(GVariant *row, GString *out)
{
	g_string_append_printf(out, "   Port %" PRIu64 " health       : %s\n",
			       answer_get_number(row, "port"), answer_get_text(row, "health"));
}

void print_querylid(GVariant *answer, GString *out)
{
	g_string_append_printf(out, "Query results for LID %" PRIu64 "\n",
			       answer_get_number(answer, "lid"));
	g_string_append_printf(out, "   GUID                : %s\n",
			       answer_get_text(answer, "port_guid"));
	g_string_append_printf(out, "   Node Desc           : %s\n",
			       answer_get_text(answer, "node"));
	g_string_append_printf(out, "   Node Type           : %s\n",
			       answer_get_text(answer, "type"));
	g_string_append_printf(out, "   Num Ports           : %" PRIu64 "\n",
			       answer_get_number(answer, "num_ports"));
	answer_each(answer, "ports", print_port, out);
}

/* ---- portstatus ---- */

static const struct {
	unsigned int issue;
	const char *key, *text;
} issue_lists[] = {
	{LINK_DISABLED, "disabled", "disabled"},
	{LINK_UNENABLED_SPEED, "unenabled_speed", "with unenabled speed"},
	{LINK_REDUCED_SPEED, "reduced_speed", "with reduced speed"},
	{LINK_UNKNOWN_SPEED, "unknown_speed", "with unknown speed"},
	{LINK_UNENABLED_WIDTH, "unenabled_width", "with unenabled width"},
	{LINK_REDUCED_WIDTH, "reduced_width", "with reduced width"},
	{LINK_UNKNOWN_WIDTH, "unknown_width", "with unknown width"},
};

struct census {
	uint64_t ports, nodes, down, active, other;
	GHashTable *widths, *speeds; /* name -> count */
	GVariantBuilder issues[G_N_ELEMENTS(issue_lists)];
	unsigned int all_issues;
};

static void count_name(GHashTable *table, const char *name)
{
	void *n;

	if (!name)
		return;
	n = g_hash_table_lookup(table, name);
	g_hash_table_insert(table, (void *)name, GUINT_TO_POINTER(GPOINTER_TO_UINT(n) + 1));
}

static void note_issues(struct census *census, const struct fabric *fabric, uint32_t port)
{
	unsigned int issues = link_issues(fabric, port);

	census->all_issues |= issues;
	for (unsigned int i = 0; i < G_N_ELEMENTS(issue_lists); i++) {
		GVariantBuilder row;

		if (!(issues & issue_lists[i].issue))
			continue;
		answer_begin(&row);
		answer_node(&row, fabric, fabric->ports[port].node);
		answer_number(&row, "port", fabric->ports[port].num);
		answer_append(&census->issues[i], &row);
	}
}

static void count_port(struct census *census, const struct fabric *fabric, uint32_t port)
{
	const struct iba_port_info *info = &fabric->ports[port].info;

	census->ports++;
	note_issues(census, fabric, port);
	if (info->port_state == IBA_PORT_DOWN) {
		census->down++;
		return;
	}
	if (info->port_state == IBA_PORT_ACTIVE)
		census->active++;
	else
		census->other++;
	count_name(census->widths, link_width_name(info));
	count_name(census->speeds, link_speed_name(&fabric->ports[port]));
}

static void count_ports(struct census *census, const struct fabric *fabric, unsigned int type)
{
	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		const struct fabric_node *node = &fabric->nodes[i];

		if (type && node->type != type)
			continue;
		census->nodes++;
		for (unsigned int num = 1; num <= node->num_ports; num++)
			if (fabric->ports[node->first_port + num].known)
				count_port(census, fabric, node->first_port + num);
	}
}

static int compare_names(const void *a, const void *b)
{
	double x = g_ascii_strtod(*(char *const *)a, NULL),
	       y = g_ascii_strtod(*(char *const *)b, NULL);

	return (x > y) - (x < y);
}

/* [{"rate": "4X", "count": 96}], slowest first. */
static void add_counts(GVariantBuilder *builder, const char *key, GHashTable *counts)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	GHashTableIter iter;
	GVariantBuilder list;
	void *name;

	g_hash_table_iter_init(&iter, counts);
	while (g_hash_table_iter_next(&iter, &name, NULL))
		g_ptr_array_add(names, name);
	g_ptr_array_sort(names, compare_names);
	answer_begin_list(&list);
	for (guint i = 0; i < names->len; i++) {
		GVariantBuilder row;

		answer_begin(&row);
		answer_text(&row, "rate", names->pdata[i]);
		answer_number(&row, "count",
			      GPOINTER_TO_UINT(g_hash_table_lookup(counts, names->pdata[i])));
		answer_append(&list, &row);
	}
	answer_member(builder, key, &list);
}

static GVariant *census_end(struct census *census, const char *type, int64_t began)
{
	GVariantBuilder builder, issues;

	answer_begin(&builder);
	answer_number(&builder, "us", (uint64_t)(g_get_monotonic_time() - began));
	answer_text(&builder, "type", type);
	answer_number(&builder, "ports", census->ports);
	answer_number(&builder, "nodes", census->nodes);
	answer_number(&builder, "down", census->down);
	answer_number(&builder, "active", census->active);
	answer_number(&builder, "not_active_yet", census->other);
	add_counts(&builder, "widths", census->widths);
	add_counts(&builder, "speeds", census->speeds);
	answer_begin(&issues);
	for (unsigned int i = 0; i < G_N_ELEMENTS(issue_lists); i++)
		answer_member(&issues, issue_lists[i].key, &census->issues[i]);
	answer_member(&builder, "issues", &issues);
	answer_flag(&builder, "has_issues", census->all_issues != 0);
	g_hash_table_unref(census->widths);
	g_hash_table_unref(census->speeds);
	return g_variant_builder_end(&builder);
}

GVariant *command_portstatus(struct command_call *call, GError **error)
{
	int64_t began = g_get_monotonic_time();
	static const char *const words[] = {"", "ca", "switch", "router"};
	const char *word = call->n ? call->words[0] : "";
	const char *name;
	unsigned int type = 0;
	struct census census = {0};

	while (type < G_N_ELEMENTS(words) && strcmp(words[type], word) != 0)
		type++;
	if (type == G_N_ELEMENTS(words) || call->n > 1)
		return command_usage(error, "Node type not understood");
	census.widths = g_hash_table_new(g_str_hash, g_str_equal);
	census.speeds = g_hash_table_new(g_str_hash, g_str_equal);
	for (unsigned int i = 0; i < G_N_ELEMENTS(issue_lists); i++)
		answer_begin_list(&census.issues[i]);
	count_ports(&census, call->fabric, type);
	name = type ? iba_name(IBA_SET_NODE_TYPE, type) : "ALL";
	return census_end(&census, name, began);
}

static void print_count(GVariant *row, GString *out)
{
	g_string_append_printf(out, "   %" PRIu64 " at %s\n", answer_get_number(row, "count"),
			       answer_get_text(row, "rate"));
}

static void print_issue(GVariant *row, GString *out)
{
	g_string_append_printf(out, "      %s %" PRIu64 " (%s)\n", answer_get_text(row, "guid"),
			       answer_get_number(row, "port"), answer_get_text(row, "node"));
}

static void print_issues(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) issues = answer_get(answer, "issues");

	g_string_append(out, "\nPossible issues:\n");
	for (unsigned int i = 0; i < G_N_ELEMENTS(issue_lists); i++) {
		g_autoptr(GVariant) list = answer_get(issues, issue_lists[i].key);

		if (!g_variant_n_children(list))
			continue;
		g_string_append_printf(out, "   %" G_GSIZE_FORMAT " %s\n",
				       g_variant_n_children(list), issue_lists[i].text);
		answer_each(issues, issue_lists[i].key, print_issue, out);
	}
}

static void print_nonzero(GVariant *answer, const char *key, const char *text, GString *out)
{
	uint64_t n = answer_get_number(answer, key);

	if (n)
		g_string_append_printf(out, "   %" PRIu64 " %s\n", n, text);
}

void print_portstatus(GVariant *answer, GString *out)
{
	g_string_append_printf(out, "\"%s\" port status:\n", answer_get_text(answer, "type"));
	g_string_append_printf(
		out, "   %" PRIu64 " port(s) scanned on %" PRIu64 " nodes in %" PRIu64 " us\n",
		answer_get_number(answer, "ports"), answer_get_number(answer, "nodes"),
		answer_get_number(answer, "us"));
	print_nonzero(answer, "down", "down", out);
	print_nonzero(answer, "active", "active", out);
	print_nonzero(answer, "not_active_yet", "initialized or armed", out);
	answer_each(answer, "widths", print_count, out);
	answer_each(answer, "speeds", print_count, out);
	if (answer_get_flag(answer, "has_issues"))
		print_issues(answer, out);
	g_string_append_c(out, '\n');
}

/* ---- ports down|slow ---- */

static void add_where(GVariantBuilder *row, const struct fabric *fabric, uint32_t port)
{
	answer_node(row, fabric, fabric->ports[port].node);
	answer_number(row, "port", fabric->ports[port].num);
}

static bool add_down(GVariantBuilder *row, const struct fabric *fabric, uint32_t port)
{
	const struct iba_port_info *info = &fabric->ports[port].info;
	const char *physical = iba_name(IBA_SET_PHYS_STATE, info->port_physical_state);

	if (info->port_state != IBA_PORT_DOWN)
		return false;
	answer_begin(row);
	add_where(row, fabric, port);
	answer_text(row, "state", physical ? physical : "?");
	return true;
}

/* Each link once, from its first end. */
static bool add_slow(GVariantBuilder *row, const struct fabric *fabric, uint32_t port)
{
	const struct fabric_port *p = &fabric->ports[port];
	g_autofree char *now = NULL, *best = NULL;

	if (p->peer == FABRIC_NONE || (p->peer < port && fabric->ports[p->peer].known) ||
	    !(link_issues(fabric, port) & (LINK_REDUCED_SPEED | LINK_REDUCED_WIDTH)))
		return false;
	now = g_strdup_printf("%s %s", link_width_name(&p->info), link_speed_name(p));
	best = link_best_name(fabric, port);
	answer_begin(row);
	add_where(row, fabric, port);
	answer_name(row, "peer", fabric, fabric->ports[p->peer].node);
	answer_guid(row, "peer_guid", fabric->nodes[fabric->ports[p->peer].node].guid);
	answer_number(row, "peer_port", fabric->ports[p->peer].num);
	answer_text(row, "state", now);
	answer_text(row, "possible", best);
	return true;
}

GVariant *command_ports(struct command_call *call, GError **error)
{
	const struct fabric *fabric = call->fabric;
	bool down = call->n == 1 && !strcmp(call->words[0], "down");
	GVariantBuilder builder, list, row;

	if (!down && (call->n != 1 || strcmp(call->words[0], "slow") != 0))
		return command_usage(error, "expected down or slow");
	answer_begin(&builder);
	answer_begin_list(&list);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].known && fabric->ports[i].num &&
		    (down ? add_down(&row, fabric, i) : add_slow(&row, fabric, i)))
			answer_append(&list, &row);
	answer_text(&builder, "what", call->words[0]);
	answer_member(&builder, "ports", &list);
	return g_variant_builder_end(&builder);
}

static void print_where(GVariant *row, GString *out)
{
	const char *possible = answer_get_text(row, "possible");

	g_string_append_printf(out, "   %s port %" PRIu64 " (%s)", answer_get_text(row, "guid"),
			       answer_get_number(row, "port"), answer_get_text(row, "node"));
	if (*possible)
		g_string_append_printf(
			out, " to %s port %" PRIu64 " (%s)", answer_get_text(row, "peer_guid"),
			answer_get_number(row, "peer_port"), answer_get_text(row, "peer"));
	g_string_append_printf(out, ": %s%s%s\n", answer_get_text(row, "state"),
			       *possible ? ", could be " : "", possible);
}

void print_ports(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) list = answer_get(answer, "ports");
	bool down = !strcmp(answer_get_text(answer, "what"), "down");

	g_string_append_printf(out, "%" G_GSIZE_FORMAT " %s\n", g_variant_n_children(list),
			       down ? "port(s) down" : "link(s) below what both ends can do");
	answer_each(answer, "ports", print_where, out);
}

/* ---- dump_portguid ---- */

/* Limits the time that an expression typed by a user can make the daemon search. */
#define MATCH_LIMIT "(*LIMIT_MATCH=10000)"

static GPtrArray *compile(struct command_call *call, unsigned int first, GError **error)
{
	GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)g_regex_unref);

	for (unsigned int i = first; i < call->n; i++) {
		g_autofree char *pattern = g_strconcat(MATCH_LIMIT, call->words[i], NULL);
		g_autoptr(GError) mistake = NULL;
		GRegex *regex = g_regex_new(pattern, G_REGEX_RAW, 0, &mistake);

		if (!regex) {
			command_failed(error, "Cannot parse regular expression '%s'",
				       call->words[i]);
			g_ptr_array_unref(all);
			return NULL;
		}
		g_ptr_array_add(all, regex);
	}
	return all;
}

/* Whether one of them matches; sets error if the search took too long. NULL: nothing to match. */
static bool fits(const GPtrArray *all, const char *name, GError **error)
{
	for (guint i = 0; name && i < all->len && !*error; i++)
		if (g_regex_match_full(all->pdata[i], name, -1, 0, 0, NULL, error))
			return true;
	return false;
}

static int compare_guids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static GArray *matching(const struct fabric *fabric, const GPtrArray *all, GError **error)
{
	GArray *guids = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	for (uint32_t i = 0; i < fabric->n_ports && !*error; i++) {
		const struct fabric_port *port = &fabric->ports[i];

		if (port->guid && (fits(all, fabric->nodes[port->node].description, error) ||
				   fits(all, fabric_given_name(fabric, port->node), error)))
			g_array_append_val(guids, port->guid);
	}
	g_array_sort(guids, compare_guids);
	return guids;
}

/* A file name within dump_files_dir only: a console user must not overwrite other files. */
static char *dump_path(struct command_call *call, const char *name, GError **error)
{
	struct options *options = slot_take(&call->context->options);
	char *path = options->dump_files_dir && *name != '.' && !strchr(name, '/')
			     ? g_build_filename(options->dump_files_dir, name, NULL)
			     : NULL;

	if (!options->dump_files_dir)
		command_failed(error, "'%s' cannot be written, as dump_files_dir is not set", name);
	else if (!path)
		command_failed(error, "expected the name of a file in dump_files_dir, %s, found "
			       "'%s'", options->dump_files_dir, name);
	options_unref(options);
	return path;
}

/* Written by the pool for files, so that a disk that hangs does not delay the console. */
struct guid_file {
	struct message message; /* first */
	struct context *context;
	char *path;
	GString *text;
};

static void guid_file_free(struct message *message)
{
	struct guid_file *file = (struct guid_file *)message;

	g_free(file->path);
	g_string_free(file->text, TRUE);
	g_free(file);
}

static void guid_file_write(struct message *message)
{
	struct guid_file *file = (struct guid_file *)message;
	g_autoptr(GError) error = NULL;

	if (!file_write(file->path, file->text->str, 0644, &error))
		log_error(file->context->log, "dump_portguid: %s", error->message);
	guid_file_free(message);
}

/* Writes the same lines into a file; ends builder. */
static GVariant *write_guids(struct command_call *call, const GArray *guids,
			     GVariantBuilder *builder, GError **error)
{
	char *path = dump_path(call, call->words[1], error);
	struct guid_file *file;

	if (!path) {
		g_variant_builder_clear(builder);
		return NULL;
	}
	answer_text(builder, "file", path);
	file = g_new(struct guid_file, 1);
	*file = (struct guid_file){
		.message.run = guid_file_write,
		.message.drop = guid_file_free,
		.context = call->context,
		.path = path,
		.text = g_string_new(NULL),
	};
	for (guint i = 0; i < guids->len; i++)
		g_string_append_printf(file->text, "0x%" PRIx64 "\n",
				       g_array_index(guids, uint64_t, i));
	pool_post(call->context->files, &file->message);
	return g_variant_builder_end(builder);
}

GVariant *command_dump_portguid(struct command_call *call, GError **error)
{
	g_autoptr(GPtrArray) all = NULL;
	g_autoptr(GArray) guids = NULL;
	g_autoptr(GError) trouble = NULL;
	GVariantBuilder builder, list;
	unsigned int first;

	if (!call->n)
		return command_usage(error, "No valid expression provided. Aborting");
	first = strcmp(call->words[0], "file") ? 0 : 2;
	if (call->n <= first)
		return command_usage(error, "No valid expression provided. Aborting");
	all = compile(call, first, error);
	if (!all)
		return NULL;
	guids = matching(call->fabric, all, &trouble);
	if (trouble)
		return command_failed(error, "the expression takes too long: %s", trouble->message);
	answer_begin(&builder);
	answer_begin_list(&list);
	for (guint i = 0; i < guids->len; i++) {
		uint64_t guid = g_array_index(guids, uint64_t, i);
		uint32_t port = fabric_port_by_guid(call->fabric, guid);
		GVariantBuilder row;

		answer_begin(&row);
		answer_guid(&row, "port_guid", guid);
		answer_node(&row, call->fabric, call->fabric->ports[port].node);
		answer_append(&list, &row);
	}
	answer_member(&builder, "ports", &list);
	return first ? write_guids(call, guids, &builder, error)
		     : g_variant_builder_end(&builder);
}

static void print_portguid(GVariant *row, GString *out)
{
	uint64_t guid = g_ascii_strtoull(answer_get_text(row, "port_guid"), NULL, 16);

	g_string_append_printf(out, "0x%" PRIx64 "\n", guid);
}

void print_dump_portguid(GVariant *answer, GString *out)
{
	if (*answer_get_text(answer, "file"))
		g_string_append_printf(out, "Written to %s\n", answer_get_text(answer, "file"));
	else
		answer_each(answer, "ports", print_portguid, out);
}
