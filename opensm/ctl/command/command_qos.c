// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The command about QoS: what qos-policy.conf means in this subnet, and for a node its tables as
 * they should be and as they are.
 */
#include <inttypes.h>
#include <string.h>

#include "ctl/base/problem.h"
#include "ctl/command/command_private.h"
#include "policy/qos/qos_lanes.h"
#include "subnet/inventory.h"

/* An SL-to-VL row of an output port, and a block of the arbitration table, as text. */
static char *row_text(const struct iba_sl_to_vl_table *row)
{
	GString *text = g_string_new(NULL);

	for (unsigned int sl = 0; sl < QOS_SLS; sl++)
		g_string_append_printf(text, sl ? ",%u" : "%u", row->vl[sl]);
	return g_string_free(text, FALSE);
}

static char *block_text(const struct iba_vl_arbitration_table *table, unsigned int n)
{
	GString *text = g_string_new(NULL);

	for (unsigned int i = 0; i < MIN(n, QOS_PER_BLOCK); i++)
		g_string_append_printf(text, i ? ",%u:%u" : "%u:%u", table->entry[i].vl,
				       table->entry[i].weight);
	return g_string_free(text, FALSE);
}

/* ---- one port ---- */

struct port_view {
	const struct command_call *call;
	struct qos_place place;
	struct inventory *inventory;
	uint32_t port;
	struct qos_tables tables;
	unsigned int vls;
};

/* The table as read back; NULL: not read yet, and now requested. */
static const struct inventory_list *held(const struct port_view *view, enum inventory_kind kind)
{
	const struct fabric *fabric = view->call->fabric;
	const struct fabric_port *port = &fabric->ports[view->port];
	const struct inventory_list *list;

	if (inventory_look(view->inventory, fabric->nodes[port->node].guid, port->num, kind,
			   runtime_now(view->call->context->rt), &list) == INVENTORY_KNOWN)
		return list;
	event_emit(&view->call->context->bus, EVENT_INVENTORY_WANTED,
		   inventory_want(kind, fabric->ports[fabric_endport_of(fabric, view->port)].lid,
				  port->num));
	return NULL;
}

static void add_pair(GVariantBuilder *list, const char *what, char *wanted, char *is,
		     unsigned int line)
{
	GVariantBuilder row;

	answer_begin(&row);
	answer_text(&row, "table", what);
	answer_text(&row, "wanted", wanted);
	answer_text(&row, "programmed", is ? is : "");
	answer_flag(&row, "differs", is && strcmp(is, wanted) != 0);
	answer_number(&row, "line", line);
	answer_append(list, &row);
	g_free(wanted);
	g_free(is);
}

/* For packets that enter at this port, or of a host. */
static void add_row(const struct port_view *view, const struct inventory_list *list,
		    unsigned int in, GVariantBuilder *rows)
{
	const struct fabric *fabric = view->call->fabric;
	uint32_t node = fabric->ports[view->port].node;
	bool is_switch = fabric_is_switch(fabric, node);
	uint32_t from = is_switch ? fabric_port_of(fabric, node, (uint8_t)in) : view->port;
	const struct iba_sl_to_vl_table *is = list ? inventory_list_block(list, in) : NULL;
	g_autofree char *what =
		is_switch ? g_strdup_printf("SL2VL from port %u", in) : g_strdup("SL2VL");
	struct iba_sl_to_vl_table row;
	const struct qos_scope *scope;
	uint8_t lanes[QOS_SLS];
	uint16_t sls;

	if (in && fabric->ports[from].peer == FABRIC_NONE)
		return;
	scope = qos_setup_row(&view->place, &view->tables, view->vls, from, view->port, &row);
	sls = qos_lanes(fabric, view->call->subnet->routing, from, view->port, view->vls, lanes);
	qos_merge(&row, sls, lanes);
	add_pair(rows, what, row_text(&row), is ? row_text(is) : NULL, scope ? scope->line : 0);
}

static void add_rows(const struct port_view *view, GVariantBuilder *rows)
{
	uint32_t n = inventory_blocks(view->call->fabric, view->port, INVENTORY_SL_TO_VL);
	const struct inventory_list *list = n ? held(view, INVENTORY_SL_TO_VL) : NULL;

	for (unsigned int in = 0; in < n; in++)
		add_row(view, list, in, rows);
}

static void add_arbitration(const struct port_view *view, GVariantBuilder *tables)
{
	static const char *const names[] = {"VLArb low", "VLArb low, upper half", "VLArb high",
					    "VLArb high, upper half"};
	const struct iba_port_info *info = &view->call->fabric->ports[view->port].info;
	const struct inventory_list *list = held(view, INVENTORY_VL_ARBITRATION);

	for (unsigned int block = 0; block < QOS_ARB_BLOCKS; block++) {
		unsigned int cap =
			block < 2 ? info->vl_arbitration_low_cap : info->vl_arbitration_high_cap;
		unsigned int first = block % 2 * QOS_PER_BLOCK;
		const struct iba_vl_arbitration_table *is;
		struct iba_vl_arbitration_table table;

		if (cap <= first)
			continue;
		is = list ? inventory_list_block(list, block) : NULL;
		qos_arbitration(&view->tables, view->vls, block, cap, &table);
		add_pair(tables, names[block], block_text(&table, cap - first),
			 is ? block_text(is, cap - first) : NULL, 0);
	}
}

static void add_port(struct port_view *view, GVariantBuilder *ports)
{
	const struct fabric_port *port = &view->call->fabric->ports[view->port];
	GVariantBuilder row, list;

	qos_setup_port(&view->place, view->port, &view->tables);
	view->vls = qos_vls(&view->tables, port->info.operational_vls);
	answer_begin(&row);
	answer_number(&row, "port", port->num);
	answer_number(&row, "vls", view->vls);
	answer_number(&row, "high_limit_wanted", view->tables.high_limit);
	answer_number(&row, "high_limit", port->info.vl_high_limit);
	answer_begin_list(&list);
	add_rows(view, &list);
	add_arbitration(view, &list);
	answer_member(&row, "tables", &list);
	answer_append(ports, &row);
}

static GVariant *tell_node(struct command_call *call, uint32_t node, unsigned int only)
{
	const struct fabric *fabric = call->fabric;
	struct port_view view = {.call = call, .place = {call->subnet->qos, fabric}};
	GVariantBuilder builder, ports;

	view.inventory = slot_take(&call->context->inventory);
	answer_begin(&builder);
	answer_node(&builder, fabric, node);
	answer_begin_list(&ports);
	for (unsigned int num = 0; num <= fabric->nodes[node].num_ports; num++) {
		view.port = fabric_port_of(fabric, node, (uint8_t)num);
		if (fabric->ports[view.port].peer != FABRIC_NONE &&
		    (only == UINT_MAX || num == only))
			add_port(&view, &ports);
	}
	answer_member(&builder, "ports", &ports);
	inventory_unref(view.inventory);
	return g_variant_builder_end(&builder);
}

/* ---- all of it ---- */

static void add_groups(GVariantBuilder *builder, const struct command_call *call)
{
	const struct qos_paths *qos = call->subnet->qos;
	GVariantBuilder list, row;

	answer_begin_list(&list);
	for (guint i = 0; i < qos->policy->groups->len; i++) {
		const struct qos_group *group = qos->policy->groups->pdata[i];
		uint32_t n = 0;

		for (uint32_t port = 0; port < call->fabric->n_ports; port++)
			n += qos->members[i][port / 8] >> port % 8 & 1;
		if (!group->name)
			continue;
		answer_begin(&row);
		answer_text(&row, "name", group->name);
		answer_number(&row, "ports", n);
		answer_append(&list, &row);
	}
	answer_member(builder, "groups", &list);
}

static GVariant *tell(struct command_call *call)
{
	const struct refusal *refusal = daemon_refusal(call->env->daemon, DAEMON_QOS);
	const struct qos_paths *qos = call->subnet->qos;
	GVariantBuilder builder, list;

	answer_begin(&builder);
	answer_number(&builder, "levels", qos->policy->levels->len);
	answer_number(&builder, "rules", qos->policy->rules->len);
	answer_number(&builder, "scopes", qos->policy->scopes->len);
	add_groups(&builder, call);
	answer_begin_list(&list);
	problem_add(&list, PROBLEM_ERROR, refusal->why);
	problem_add_all(&list, PROBLEM_WARNING, qos->unknown);
	problem_add_all(&list, PROBLEM_WARNING, qos->problems);
	answer_member(&builder, "problems", &list);
	if (refusal->why) {
		answer_text(&builder, "refused", refusal->why);
		answer_text(&builder, "since", refusal->since);
	}
	return g_variant_builder_end(&builder);
}

static GVariant *reload(struct command_call *call, GError **error)
{
	const struct refusal *refusal = daemon_refusal(call->env->daemon, DAEMON_QOS);
	bool changed = daemon_reread_qos(call->env->daemon);

	if (refusal->why)
		return command_failed(error, "the QoS policy is unchanged: %s", refusal->why);
	if (!changed)
		return answer_of_text("qos-policy.conf has not changed");
	event_emit(&call->context->bus, EVENT_SWEEP_WANTED, SWEEP_POLICY);
	return answer_of_text("qos-policy.conf was read; the tables will be updated");
}

GVariant *command_qos(struct command_call *call, GError **error)
{
	uint64_t only = UINT_MAX;
	uint16_t lid;
	uint32_t port;

	if (call->n > 2)
		return command_usage(error, "expected two arguments at most");
	if (!call->subnet->qos)
		return answer_of_text("QoS is off: opensm.conf says qos FALSE");
	if (call->n == 1 && !strcmp(call->words[0], "reload"))
		return reload(call, error);
	if (!call->n)
		return tell(call);
	if (call->n == 2 && !find_number(call->words[1], UINT8_MAX, &only))
		return command_usage(error, "'%s' is not a port number", call->words[1]);
	port = find_endport(call->fabric, call->words[0], &lid, error);
	if (port == FABRIC_NONE)
		return NULL;
	return tell_node(call, call->fabric->ports[port].node, (unsigned int)only);
}

/* ---- in words ---- */

static void print_group(GVariant *row, GString *out)
{
	g_string_append_printf(out, "   group '%s': %" PRIu64 " port(s)\n",
			       answer_get_text(row, "name"), answer_get_number(row, "ports"));
}

static void print_table(GVariant *row, GString *out)
{
	const char *is = answer_get_text(row, "programmed");

	g_string_append_printf(out, "      %s: %s", answer_get_text(row, "table"),
			       answer_get_text(row, "wanted"));
	if (answer_get_number(row, "line"))
		g_string_append_printf(out, " by line %" PRIu64, answer_get_number(row, "line"));
	if (!*is)
		g_string_append(out, "; not read yet, ask again");
	else if (answer_get_flag(row, "differs"))
		g_string_append_printf(out, "; but it is %s", is);
	g_string_append_c(out, '\n');
}

static void print_port(GVariant *row, GString *out)
{
	uint64_t wanted = answer_get_number(row, "high_limit_wanted");
	uint64_t is = answer_get_number(row, "high_limit");

	g_string_append_printf(out, "   port %" PRIu64 ": %" PRIu64 " VL(s), VLHighLimit %" PRIu64,
			       answer_get_number(row, "port"), answer_get_number(row, "vls"),
			       wanted);
	if (is != wanted)
		g_string_append_printf(out, "; but it is %" PRIu64, is);
	g_string_append_c(out, '\n');
	answer_each(row, "tables", print_table, out);
}

void print_qos(GVariant *answer, GString *out)
{
	if (*answer_get_text(answer, "text")) {
		g_string_append_printf(out, "%s\n", answer_get_text(answer, "text"));
		return;
	}
	if (*answer_get_text(answer, "guid")) {
		g_string_append_printf(out, "%s %s\n", answer_get_text(answer, "guid"),
				       answer_get_text(answer, "node"));
		answer_each(answer, "ports", print_port, out);
		return;
	}
	g_string_append_printf(
		out, "%" PRIu64 " level(s), %" PRIu64 " rule(s), %" PRIu64 " scope(s)\n",
		answer_get_number(answer, "levels"), answer_get_number(answer, "rules"),
		answer_get_number(answer, "scopes"));
	answer_each(answer, "groups", print_group, out);
	answer_each(answer, "problems", problem_print, out);
	if (*answer_get_text(answer, "refused"))
		g_string_append_printf(out, "   refused at %s: %s\n",
				       answer_get_text(answer, "since"),
				       answer_get_text(answer, "refused"));
}
