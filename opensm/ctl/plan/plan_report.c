// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A plan as a dictionary, which becomes JSON, and the dictionary as text. */
#include <inttypes.h>
#include <string.h>

#include "ctl/base/answer.h"
#include "ctl/plan/plan.h"
#include "sm/smp/dry_run.h"

#define LIDS_MAX 100 /* listed one by one */

/* ---- sums ---- */

struct sum {
	uint16_t attribute;
	uint64_t sets, nodes, entries;
	const struct dry_node *last; /* last one counted in nodes */
};

struct sums {
	GArray *attributes; /* of struct sum, in the order of first occurrence */
	uint64_t sets, reregister, taken_up, lids_new, lids_changed;
};

static struct sum *sum_of(struct sums *sums, uint16_t attribute)
{
	struct sum new = {.attribute = attribute};

	for (guint i = 0; i < sums->attributes->len; i++) {
		struct sum *sum = &g_array_index(sums->attributes, struct sum, i);

		if (sum->attribute == attribute)
			return sum;
	}
	g_array_append_val(sums->attributes, new);
	return &g_array_index(sums->attributes, struct sum, sums->attributes->len - 1);
}

static void add_port(struct sums *sums, const struct dry_change *change)
{
	struct iba_port_info before, after;
	uint16_t was, is;

	if (change->attribute != IBA_ATTR_PORT_INFO)
		return;
	wire_decode(&iba_port_info_type, change->before, &before);
	wire_decode(&iba_port_info_type, change->after, &after);
	sums->reregister += after.client_reregister;
	sums->taken_up += change->known && after.port_state == IBA_PORT_ACTIVE &&
			  before.port_state != IBA_PORT_ACTIVE;
	if (!dry_lids(change, &was, &is))
		return;
	sums->lids_new += !was;
	sums->lids_changed += was != 0;
}

typedef void change_fn(void *arg, const struct dry_node *node, const struct dry_change *change);

static void each_change(const struct dry_run *dry, change_fn *call, void *arg)
{
	for (guint i = 0; i < dry->nodes->len; i++) {
		const struct dry_node *node = dry->nodes->pdata[i];

		for (guint n = 0; n < node->changes->len; n++)
			call(arg, node, node->changes->pdata[n]);
	}
}

static void add_change(void *arg, const struct dry_node *node, const struct dry_change *change)
{
	struct sums *sums = arg;
	struct sum *sum = sum_of(sums, change->attribute);

	sum->sets += change->sets;
	sum->entries += change->entries;
	sum->nodes += sum->last != node;
	sum->last = node;
	sums->sets += change->sets;
	add_port(sums, change);
}

/* ---- the dictionary ---- */

static const char *attribute_name(uint16_t attribute)
{
	const char *name = iba_name(IBA_SET_ATTR, attribute);

	return name ? name : "?";
}

static void append_field(void *arg, const char *name, const char *before, const char *after)
{
	GVariantBuilder row;

	answer_begin(&row);
	answer_text(&row, "field", name);
	if (before)
		answer_text(&row, "before", before);
	answer_text(&row, "after", after);
	answer_append(arg, &row);
}

/* Consecutive ports of a node whose same fields change in the same way. */
struct group {
	const struct dry_change *first; /* NULL: none yet */
	GString *fields;
	GArray *ports; /* of uint32_t */
	uint64_t sets, entries;
};

static void add_text(void *arg, const char *name, const char *before, const char *after)
{
	g_string_append_printf(arg, "%s %s %s\n", name, before ? before : "", after);
}

static void append_group(GVariantBuilder *list, struct group *group)
{
	const struct dry_change *change = group->first;
	g_autofree char *blocks = NULL;
	GVariantBuilder row, fields;

	answer_begin(&row);
	answer_text(&row, "attribute", attribute_name(change->attribute));
	if (change->port != DRY_NODE)
		answer_value(&row, "ports",
			     g_variant_new_fixed_array(G_VARIANT_TYPE_UINT32, group->ports->data,
						       group->ports->len, sizeof(uint32_t)));
	answer_number(&row, "sets", group->sets);
	if (dry_is_table(change->attribute)) {
		blocks = dry_ranges(change->modifiers);
		if (dry_has_blocks(change->attribute))
			answer_text(&row, "blocks", blocks);
		answer_number(&row, "entries", group->entries);
	} else {
		answer_begin_list(&fields);
		dry_each_field(change, append_field, &fields);
		answer_member(&row, "fields", &fields);
	}
	answer_append(list, &row);
}

static bool is_of(const struct group *group, const struct dry_change *change, const char *fields)
{
	return group->first->attribute == change->attribute && change->port != DRY_NODE &&
	       group->first->port != DRY_NODE && !dry_has_blocks(change->attribute) &&
	       !strcmp(group->fields->str, fields);
}

static void add_to_group(GVariantBuilder *list, struct group *group,
			 const struct dry_change *change)
{
	g_autoptr(GString) fields = g_string_new(NULL);
	uint32_t port = (uint32_t)change->port;

	dry_each_field(change, add_text, fields);
	if (group->first && !is_of(group, change, fields->str)) {
		append_group(list, group);
		group->first = NULL;
	}
	if (!group->first) {
		group->first = change;
		group->sets = group->entries = 0;
		g_array_set_size(group->ports, 0);
		g_string_assign(group->fields, fields->str);
	}
	group->sets += change->sets;
	group->entries += change->entries;
	g_array_append_val(group->ports, port);
}

static void append_changes(GVariantBuilder *list, const struct dry_node *node)
{
	struct group group = {
		.fields = g_string_new(NULL),
		.ports = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};

	for (guint i = 0; i < node->changes->len; i++)
		add_to_group(list, &group, node->changes->pdata[i]);
	if (group.first)
		append_group(list, &group);
	g_array_unref(group.ports);
	g_string_free(group.fields, TRUE);
}

static const char *type_name(uint8_t type)
{
	return type == IBA_NODE_SWITCH ? "switch" : type == IBA_NODE_ROUTER ? "router" : "CA";
}

static void append_name(GVariantBuilder *row, const struct dry_node *node)
{
	answer_called(row, "node", node->name ? node->name : "", node->description);
	answer_guid(row, "guid", node->guid);
	answer_text(row, "type", type_name(node->type));
}

static void append_nodes(GVariantBuilder *answer, const struct dry_run *dry, unsigned int max)
{
	guint n = MIN(dry->nodes->len, max);
	GVariantBuilder list, row, changes;

	answer_begin_list(&list);
	for (guint i = 0; i < n; i++) {
		const struct dry_node *node = dry->nodes->pdata[i];

		answer_begin(&row);
		append_name(&row, node);
		answer_begin_list(&changes);
		append_changes(&changes, node);
		answer_member(&row, "changes", &changes);
		answer_append(&list, &row);
	}
	answer_member(answer, "nodes", &list);
	answer_number(answer, "nodes_left_out", dry->nodes->len - n);
}

struct lids {
	GVariantBuilder *list;
	unsigned int n;
};

/* Only ports that had a LID, as clients and caches know those. */
static void append_lid(void *arg, const struct dry_node *node, const struct dry_change *change)
{
	struct lids *lids = arg;
	uint16_t before, after;
	GVariantBuilder row;

	if (!dry_lids(change, &before, &after) || !before || lids->n++ >= LIDS_MAX)
		return;
	answer_begin(&row);
	append_name(&row, node);
	answer_number(&row, "port", (uint64_t)change->port);
	answer_hex16(&row, "before", before);
	answer_hex16(&row, "after", after);
	answer_append(lids->list, &row);
}

static void append_lids(GVariantBuilder *answer, const struct dry_run *dry)
{
	GVariantBuilder list;
	struct lids lids = {.list = &list};

	answer_begin_list(&list);
	each_change(dry, append_lid, &lids);
	answer_member(answer, "lids", &list);
}

static void append_texts(GVariantBuilder *answer, const char *key, const GPtrArray *texts)
{
	GVariantBuilder list, row;

	answer_begin_list(&list);
	for (guint i = 0; i < texts->len; i++) {
		answer_begin(&row);
		answer_text(&row, "text", texts->pdata[i]);
		answer_append(&list, &row);
	}
	answer_member(answer, key, &list);
}

static void append_sums(GVariantBuilder *answer, const struct dry_run *dry)
{
	struct sums sums = {.attributes = g_array_new(FALSE, FALSE, sizeof(struct sum))};
	GVariantBuilder list, row;

	each_change(dry, add_change, &sums);
	answer_begin_list(&list);
	for (guint i = 0; i < sums.attributes->len; i++) {
		const struct sum *sum = &g_array_index(sums.attributes, struct sum, i);

		answer_begin(&row);
		answer_text(&row, "attribute", attribute_name(sum->attribute));
		answer_number(&row, "sets", sum->sets);
		answer_number(&row, "nodes", sum->nodes);
		answer_number(&row, "entries", sum->entries);
		answer_append(&list, &row);
	}
	answer_member(answer, "attributes", &list);
	answer_number(answer, "sets", sums.sets);
	answer_number(answer, "ports_taken_up", sums.taken_up);
	answer_number(answer, "lids_new", sums.lids_new);
	answer_number(answer, "lids_changed", sums.lids_changed);
	answer_number(answer, "clients_to_register_again", sums.reregister);
	g_array_unref(sums.attributes);
}

GVariant *plan_answer(const struct dry_run *dry, unsigned int max_nodes)
{
	GVariantBuilder answer;

	answer_begin(&answer);
	answer_flag(&answer, "complete", dry->complete);
	answer_flag(&answer, "changes", dry_run_changes(dry));
	answer_number(&answer, "switches", dry->switches);
	answer_number(&answer, "hosts", dry->hosts);
	answer_number(&answer, "links", dry->links);
	answer_number(&answer, "gets", dry->gets);
	append_texts(&answer, "notes", dry->notes);
	append_texts(&answer, "problems", dry->problems);
	answer_number(&answer, "problems_left_out", dry->unsaid);
	append_sums(&answer, dry);
	append_lids(&answer, dry);
	append_nodes(&answer, dry, max_nodes);
	return g_variant_builder_end(&answer);
}

static gsize length_of(GVariant *answer, const char *key)
{
	g_autoptr(GVariant) list = answer_get(answer, key);

	return list ? g_variant_n_children(list) : 0;
}

enum plan_exit plan_exit_code(GVariant *answer)
{
	if (!answer_get_flag(answer, "complete"))
		return PLAN_ERROR;
	if (answer_get_flag(answer, "changes"))
		return PLAN_CHANGES;
	return length_of(answer, "problems") ? PLAN_ERROR : PLAN_NOTHING;
}

/* ---- text ---- */

static void print_field(GVariant *field, GString *out)
{
	const char *before = answer_get_text(field, "before");

	g_string_append_printf(out, "%s%s %s -> %s", out->len ? ", " : "",
			       answer_get_text(field, "field"), *before ? before : "?",
			       answer_get_text(field, "after"));
}

static void print_ports(GVariant *change, GString *out)
{
	g_autoptr(GVariant) ports = answer_get(change, "ports");
	g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autofree char *text = NULL;
	gconstpointer data;
	gsize n;

	if (!ports)
		return;
	data = g_variant_get_fixed_array(ports, &n, sizeof(uint32_t));
	g_array_append_vals(numbers, data, (guint)n);
	text = dry_ranges(numbers);
	g_string_append_printf(out, "%s %s ", n > 1 ? "ports" : "port", text);
}

static void print_change(GVariant *change, GString *out)
{
	g_autoptr(GString) fields = g_string_new(NULL);
	const char *blocks = answer_get_text(change, "blocks");

	g_string_append(out, "    ");
	print_ports(change, out);
	g_string_append_printf(out, "%s: ", answer_get_text(change, "attribute"));
	answer_each(change, "fields", print_field, fields);
	if (*blocks)
		g_string_append_printf(fields, "%" PRIu64 " entries in blocks %s",
				       answer_get_number(change, "entries"), blocks);
	else if (!fields->len)
		g_string_append_printf(fields, "%" PRIu64 " entries by %" PRIu64 " Sets",
				       answer_get_number(change, "entries"),
				       answer_get_number(change, "sets"));
	g_string_append_printf(out, "%s\n", fields->str);
}

static void print_node(GVariant *node, GString *out)
{
	g_string_append_printf(out, "%s '%s' (%s)\n", answer_get_text(node, "type"),
			       answer_get_text(node, "node"), answer_get_text(node, "guid"));
	answer_each(node, "changes", print_change, out);
}

static void print_lid(GVariant *lid, GString *out)
{
	g_string_append_printf(out, "LID of %s '%s' (%s) port %" PRIu64 ": %s -> %s\n",
			       answer_get_text(lid, "type"), answer_get_text(lid, "node"),
			       answer_get_text(lid, "guid"), answer_get_number(lid, "port"),
			       answer_get_text(lid, "before"), answer_get_text(lid, "after"));
}

static void print_note(GVariant *note, GString *out)
{
	g_string_append_printf(out, "note: %s\n", answer_get_text(note, "text"));
}

static void print_problem(GVariant *problem, GString *out)
{
	g_string_append_printf(out, "problem: %s\n", answer_get_text(problem, "text"));
}

static void print_sum(GVariant *sum, GString *out)
{
	uint64_t entries = answer_get_number(sum, "entries");

	g_string_append_printf(out, "  %-27s %8" PRIu64 " Sets, %6" PRIu64 " nodes",
			       answer_get_text(sum, "attribute"), answer_get_number(sum, "sets"),
			       answer_get_number(sum, "nodes"));
	if (entries)
		g_string_append_printf(out, ", %" PRIu64 " entries", entries);
	g_string_append_c(out, '\n');
}

static void print_left_out(GVariant *answer, const char *key, const char *what, GString *out)
{
	uint64_t n = answer_get_number(answer, key);

	if (n)
		g_string_append_printf(out, "... and %" PRIu64 " more %s\n", n, what);
}

static void print_sums(GVariant *answer, GString *out)
{
	bool sets = answer_get_number(answer, "sets");

	if (answer_get_flag(answer, "changes"))
		g_string_append(out, "Would be set:\n");
	else
		g_string_append_printf(out, "Nothing would change%s\n",
				       sets ? "; clients would be told to register again:" : "");
	if (!sets)
		return;
	answer_each(answer, "attributes", print_sum, out);
	g_string_append_printf(
		out,
		"Sets: %" PRIu64 "; ports brought up: %" PRIu64 "; LIDs: %" PRIu64 " new, %" PRIu64
		" changed; clients to register again: %" PRIu64 "\n",
		answer_get_number(answer, "sets"), answer_get_number(answer, "ports_taken_up"),
		answer_get_number(answer, "lids_new"), answer_get_number(answer, "lids_changed"),
		answer_get_number(answer, "clients_to_register_again"));
}

void print_plan(GVariant *answer, GString *out)
{
	bool changes = answer_get_flag(answer, "changes");

	g_string_append_printf(
		out,
		"Read: %" PRIu64 " switches, %" PRIu64 " hosts, %" PRIu64 " links, by %" PRIu64
		" Gets\n",
		answer_get_number(answer, "switches"), answer_get_number(answer, "hosts"),
		answer_get_number(answer, "links"), answer_get_number(answer, "gets"));
	answer_each(answer, "notes", print_note, out);
	answer_each(answer, "problems", print_problem, out);
	print_left_out(answer, "problems_left_out", "problems", out);
	if (!answer_get_flag(answer, "complete")) {
		g_string_append(out, "The plan is not complete\n");
		return;
	}
	if (changes) {
		answer_each(answer, "nodes", print_node, out);
		print_left_out(answer, "nodes_left_out", "nodes", out);
		answer_each(answer, "lids", print_lid, out);
	}
	print_sums(answer, out);
}
