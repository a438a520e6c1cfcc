// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ssadmin ping, stats, nodeinfo, tree: the nodes that a core knows. */
#include <stdio.h>
#include <string.h>

#include "ssa/admin/admin.h"
#include "ssa/tree/remote.h"

#define DEPTH_MAX 8

struct view {
	const struct admin *admin;
	struct ssa_store_options options;
	uint64_t prefix;
	struct ssa_remote *core;
	GArray *nodes;	    /* struct ssa_listed_node */
	GHashTable *chosen; /* struct ssa_listed_node *: those that are asked about */
};

/* ---- the list ---- */

static const char *core_uri(const struct admin *admin)
{
	const struct ssa_settings *settings = admin->settings;

	if (admin->core)
		return admin->core;
	if (!settings)
		return NULL;
	return settings->cores->len		 ? settings->cores->pdata[0]
	       : settings->roles & SSA_ROLE_CORE ? settings->server
						 : NULL;
}

static bool view_open(struct view *view, const struct admin *admin, GError **error)
{
	const char *uri = core_uri(admin);
	g_autofree char *key = NULL, *text = NULL;
	GError *problem = NULL;

	*view = (struct view){.admin = admin,
			      .options = {.more = &ssa_store_redis},
			      .prefix = admin->settings ? admin->settings->prefix
							: UINT64_C(0xFE80000000000000),
			      .chosen = g_hash_table_new(NULL, NULL)};
	if (!uri) {
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_URI,
			    "expected --core, or a configuration with core");
		return false;
	}
	if (admin->settings)
		view->options = ssa_settings_store(admin->settings, false);
	view->core = ssa_remote_open(uri, &view->options, error);
	if (!view->core)
		return false;
	key = ssa_remote_key(view->prefix, "tree", 0);
	text = ssa_remote_get(view->core, key, &problem);
	if (problem) {
		g_propagate_error(error, problem);
		return false;
	}
	if (!text) {
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_ABSENT,
			    "%s: no core has told of its nodes for %u s",
			    ssa_remote_uri(view->core), SSA_JOIN_KEPT_S);
		return false;
	}
	view->nodes = ssa_tree_parse(text);
	return true;
}

static void view_close(struct view *view)
{
	ssa_remote_close(view->core);
	g_hash_table_unref(view->chosen);
	if (view->nodes)
		g_array_unref(view->nodes);
}

static const struct ssa_listed_node *node_at(const struct view *view, guint i)
{
	return &g_array_index(view->nodes, struct ssa_listed_node, i);
}

static const struct ssa_listed_node *find_node(const struct view *view, uint64_t guid)
{
	for (guint i = 0; guid && i < view->nodes->len; i++)
		if (node_at(view, i)->guid == guid)
			return node_at(view, i);
	return NULL;
}

static char *roles_text(unsigned int roles)
{
	GString *text = g_string_new(NULL);

	for (unsigned int role = SSA_ROLE_CORE; role <= SSA_ROLE_AGENT; role <<= 1)
		if (roles & role)
			g_string_append_printf(text, "%s%s", text->len ? "+" : "",
					       ssa_role_name(role));
	return g_string_free(text, FALSE);
}

/* ---- which nodes ---- */

static void choose(struct view *view, const struct ssa_listed_node *node, unsigned int depth)
{
	if (!node || depth > DEPTH_MAX || !g_hash_table_add(view->chosen, (gpointer)node))
		return;
	if (view->admin->direction == 'u')
		choose(view, find_node(view, node->parents[0]), depth + 1);
	for (guint i = 0; view->admin->direction == 'd' && i < view->nodes->len; i++)
		if (node_at(view, i)->parents[0] == node->guid)
			choose(view, node_at(view, i), depth + 1);
}

/* Without a GUID, from the cores; up, from all nodes. */
static bool choose_nodes(struct view *view, const char *text, GError **error)
{
	const struct ssa_listed_node *node;
	guint64 guid = 0;

	if (text) {
		const char *digits = g_str_has_prefix(text, "0x") ? text + 2 : text;

		node = g_ascii_string_to_unsigned(digits, 16, 1, G_MAXUINT64, &guid, NULL)
			       ? find_node(view, guid)
			       : NULL;
		if (!node) {
			g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_ABSENT,
				    "'%s': expected the GUID of a node of the tree", text);
			return false;
		}
		choose(view, node, 0);
		return true;
	}
	for (guint i = 0; i < view->nodes->len; i++) {
		node = node_at(view, i);
		if (node->roles & SSA_ROLE_CORE || view->admin->direction == 'u')
			choose(view, node, 0);
	}
	return true;
}

static bool is_chosen(const struct view *view, const struct ssa_listed_node *node)
{
	return g_hash_table_contains(view->chosen, node) &&
	       (!view->admin->filter || node->roles & view->admin->filter);
}

static void add_node(JsonBuilder *builder, const struct ssa_listed_node *node)
{
	g_autofree char *roles = roles_text(node->roles);

	admin_add_hex(builder, "guid", node->guid, 16);
	admin_add_text(builder, "roles", roles);
	admin_add_text(builder, "address", node->address);
	admin_add_hex(builder, "primary", node->parents[0], 16);
	admin_add_hex(builder, "backup", node->parents[1], 16);
	admin_add_number(builder, "term", node->term);
	admin_add_number(builder, "epoch", node->epoch);
	admin_add_number(builder, "seen_s", (uint64_t)MAX(node->seen_s, 0));
}

/* ---- ping ---- */

/* Milliseconds until the node's server has answered; negative: it does not. */
static double ping(const struct view *view, const struct ssa_listed_node *node)
{
	g_autofree char *uri = ssa_remote_beside(core_uri(view->admin), node->address);
	int64_t begun_us = g_get_monotonic_time();
	struct ssa_remote *remote = ssa_remote_open(uri, &view->options, NULL);
	bool good = remote && ssa_remote_order(remote, RESP_STATUS, NULL, "PING", NULL);

	ssa_remote_close(remote);
	return good ? (double)(g_get_monotonic_time() - begun_us) / 1000 : -1;
}

/* An agent has no server: when the core last heard of it. */
static bool tell_ping(const struct view *view, const struct ssa_listed_node *node,
		      JsonBuilder *builder)
{
	int64_t ago = g_get_real_time() / G_USEC_PER_SEC - node->seen_s;
	double ms = *node->address ? ping(view, node) : 0;
	g_autofree char *roles = roles_text(node->roles);

	if (view->admin->json) {
		json_builder_begin_object(builder);
		add_node(builder, node);
		json_builder_set_member_name(builder, "ms");
		json_builder_add_double_value(builder, ms);
		json_builder_end_object(builder);
	} else if (ms < 0) {
		printf("0x%016" G_GINT64_MODIFIER "x %s %s: no answer\n", node->guid, roles,
		       node->address);
	} else if (*node->address) {
		printf("0x%016" G_GINT64_MODIFIER "x %s %s: %.2f ms\n", node->guid, roles,
		       node->address, ms);
	} else {
		printf("0x%016" G_GINT64_MODIFIER "x %s: heard of %" G_GINT64_FORMAT " s ago\n",
		       node->guid, roles, ago);
	}
	return ms >= 0;
}

/* ---- nodeinfo and stats ---- */

static char *get_join(const struct view *view, uint64_t guid)
{
	g_autofree char *key = ssa_remote_key(view->prefix, "node", guid);

	return ssa_remote_get(view->core, key, NULL);
}

static void print_stats(const struct ssa_join *join)
{
	printf("  host %s, reads from %s\n", join->name, *join->parent ? join->parent : "-");
	printf("  epochs taken %" G_GUINT64_FORMAT ", errors %" G_GUINT64_FORMAT
	       ", parents given up %" G_GUINT64_FORMAT "\n",
	       join->updates, join->errors, join->switches);
	for (unsigned int i = 0; i < 4; i++) {
		const int64_t times[] = {join->started_us, join->updated_us, join->confirmed_us,
					 join->error_us};
		static const char *const names[] = {"started", "last epoch taken",
						    "epoch last known to be current", "last error"};
		g_autoptr(GDateTime) time =
			g_date_time_new_from_unix_utc(times[i] / G_USEC_PER_SEC);
		g_autofree char *text =
			time ? g_date_time_format(time, "%Y-%m-%d %H:%M:%S UTC") : NULL;

		if (times[i])
			printf("  %s %s\n", names[i], text ? text : "?");
	}
	if (*join->error)
		printf("  %s\n", join->error);
}

static void print_info(const struct ssa_listed_node *node)
{
	g_autofree char *roles = roles_text(node->roles);

	printf("0x%016" G_GINT64_MODIFIER "x %s %s term %" G_GUINT64_FORMAT
	       " epoch %" G_GUINT64_FORMAT "\n",
	       node->guid, roles, *node->address ? node->address : "-", node->term, node->epoch);
}

static void print_up(const struct ssa_listed_node *node)
{
	printf("  up: primary 0x%016" G_GINT64_MODIFIER "x, backup 0x%016" G_GINT64_MODIFIER "x\n",
	       node->parents[0], node->parents[1]);
}

/* A child, and how it fares, as it has told the core. */
static void print_child(const struct view *view, const struct ssa_listed_node *child, bool backup)
{
	g_autofree char *text = get_join(view, child->guid);
	struct ssa_join join;

	printf("  down: %s of 0x%016" G_GINT64_MODIFIER "x, term %" G_GUINT64_FORMAT
	       " epoch %" G_GUINT64_FORMAT,
	       backup ? "backup" : "primary", child->guid, child->term, child->epoch);
	if (text && ssa_join_parse(text, &join))
		printf(", epochs taken %" G_GUINT64_FORMAT ", errors %" G_GUINT64_FORMAT
		       ", parents given up %" G_GUINT64_FORMAT,
		       join.updates, join.errors, join.switches);
	printf("\n");
}

static void print_down(const struct view *view, const struct ssa_listed_node *node)
{
	for (guint i = 0; i < view->nodes->len; i++)
		for (unsigned int k = 0; k < 2; k++)
			if (node_at(view, i)->parents[k] == node->guid)
				print_child(view, node_at(view, i), k);
}

/* What a node has to do. */
struct load {
	unsigned int children, backups, behind; /* behind: children whose epoch is older */
};

static struct load load_of(const struct view *view, const struct ssa_listed_node *node)
{
	struct load load = {0};

	for (guint i = 0; i < view->nodes->len; i++) {
		const struct ssa_listed_node *child = node_at(view, i);

		load.backups += child->parents[1] == node->guid;
		if (child->parents[0] != node->guid)
			continue;
		load.children++;
		load.behind += child->term < node->term ||
			       (child->term == node->term && child->epoch < node->epoch);
	}
	return load;
}

static void print_load(const struct load *load)
{
	if (load->children || load->backups)
		printf("  children %u, of which %u have an older epoch; backup of %u\n",
		       load->children, load->behind, load->backups);
}

static bool tell_info(const struct view *view, const struct ssa_listed_node *node,
		      const char *format, JsonBuilder *builder)
{
	g_autofree char *text = strcmp(format, "short") != 0 ? get_join(view, node->guid) : NULL;
	struct ssa_join join;
	bool has_join = text && ssa_join_parse(text, &join);
	bool full = !strcmp(format, "full"), conn = !strcmp(format, "conn");
	const struct load load = load_of(view, node);

	if (view->admin->json) {
		json_builder_begin_object(builder);
		add_node(builder, node);
		admin_add_number(builder, "children", load.children);
		admin_add_number(builder, "behind", load.behind);
		admin_add_number(builder, "backup_of", load.backups);
		if (has_join) {
			json_builder_set_member_name(builder, "node");
			json_builder_add_value(builder, json_from_string(text, NULL));
		}
		json_builder_end_object(builder);
		return true;
	}
	print_info(node);
	if (has_join && (full || !strcmp(format, "stats")))
		print_stats(&join);
	if (full || !strcmp(format, "stats"))
		print_load(&load);
	if (full || conn || !strcmp(format, "up"))
		print_up(node);
	if (full || conn || !strcmp(format, "down"))
		print_down(view, node);
	return true;
}

/* ---- commands ---- */

typedef bool tell_fn(const struct view *view, const struct ssa_listed_node *node,
		     JsonBuilder *builder);

static bool tell_format(const struct view *view, const struct ssa_listed_node *node,
			JsonBuilder *builder)
{
	return tell_info(view, node, view->admin->format, builder);
}

static bool tell_stats(const struct view *view, const struct ssa_listed_node *node,
		       JsonBuilder *builder)
{
	return tell_info(view, node, "stats", builder);
}

static enum admin_status for_each(const struct admin *admin, const char *guid, tell_fn *tell)
{
	g_autoptr(JsonBuilder) builder = json_builder_new();
	enum admin_status status = ADMIN_DONE;
	struct view view;
	GError *error = NULL;

	json_builder_begin_array(builder);
	if (!view_open(&view, admin, &error))
		status = admin_fail(ADMIN_UNREACHABLE, error);
	else if (!choose_nodes(&view, guid, &error))
		status = admin_fail(ADMIN_NO, error);
	for (guint i = 0; status != ADMIN_UNREACHABLE && !error && i < view.nodes->len; i++)
		if (is_chosen(&view, node_at(&view, i)) && !tell(&view, node_at(&view, i), builder))
			status = ADMIN_NO;
	json_builder_end_array(builder);
	if (admin->json && !error)
		admin_print(builder);
	view_close(&view);
	return status;
}

enum admin_status admin_ping(const struct admin *admin, const char *guid)
{
	return for_each(admin, guid, tell_ping);
}

enum admin_status admin_stats(const struct admin *admin, const char *guid)
{
	return for_each(admin, guid, tell_stats);
}

enum admin_status admin_nodeinfo(const struct admin *admin, const char *guid)
{
	static const char *const formats[] = {"full", "short", "conn", "up", "down", NULL};

	if (g_strv_contains(formats, admin->format))
		return for_each(admin, guid, tell_format);
	fprintf(stderr, "ssadmin: -f %s: expected full, short, conn, up or down\n", admin->format);
	return ADMIN_USAGE;
}

/* ---- the tree ---- */

static void print_below(const struct view *view, const struct ssa_listed_node *node,
			unsigned int depth, JsonBuilder *builder)
{
	bool shown = !view->admin->filter || node->roles & view->admin->filter;

	if (view->admin->json) {
		json_builder_begin_object(builder);
		add_node(builder, node);
		json_builder_set_member_name(builder, "children");
		json_builder_begin_array(builder);
	} else if (shown) {
		printf("%*s", (int)depth * 2, "");
		print_info(node);
	}
	for (guint i = 0; depth < DEPTH_MAX && i < view->nodes->len; i++)
		if (node_at(view, i)->parents[0] == node->guid)
			print_below(view, node_at(view, i), depth + 1, builder);
	if (view->admin->json) {
		json_builder_end_array(builder);
		json_builder_end_object(builder);
	}
}

/* Roots are the cores, and nodes whose parent is not in the tree. */
enum admin_status admin_tree(const struct admin *admin)
{
	g_autoptr(JsonBuilder) builder = json_builder_new();
	struct view view;
	GError *error = NULL;

	if (!view_open(&view, admin, &error)) {
		view_close(&view);
		return admin_fail(ADMIN_UNREACHABLE, error);
	}
	json_builder_begin_array(builder);
	for (guint i = 0; i < view.nodes->len; i++)
		if (!find_node(&view, node_at(&view, i)->parents[0]))
			print_below(&view, node_at(&view, i), 0, builder);
	json_builder_end_array(builder);
	if (admin->json)
		admin_print(builder);
	view_close(&view);
	return ADMIN_DONE;
}
