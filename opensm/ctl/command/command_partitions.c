// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The command about partitions: those in effect in the subnet, and those it cannot have. */
#include <inttypes.h>
#include <string.h>

#include "ctl/base/problem.h"
#include "ctl/command/command_private.h"
#include "policy/partition/partition.h"
#include "subnet/inventory.h"

#define ASKED_MAX 256 /* tables requested at a time */

/* Finds a partition by P_Key, with or without the membership bit, or by name. NULL: none. */
static const struct partition_rule *find(const struct partition_rules *rules, const char *word)
{
	char *end;
	uint64_t p_key = g_ascii_strtoull(word, &end, 0);

	if (g_ascii_isdigit(*word) && !*end)
		return p_key <= 0xFFFF ? partition_rules_find(rules, P_KEY_BASE(p_key)) : NULL;
	for (guint i = 0; i < rules->rules->len; i++) {
		const struct partition_rule *rule = rules->rules->pdata[i];

		if (!g_strcmp0(rule->name, word))
			return rule;
	}
	return NULL;
}

static const char *membership(const struct partitions *partitions, uint32_t port, uint16_t base)
{
	bool full = false, limited = false;
	uint32_t n;
	const uint16_t *keys = partitions_of(partitions, port, &n);

	for (uint32_t i = 0; i < n; i++) {
		full |= keys[i] == (base | P_KEY_FULL);
		limited |= keys[i] == base;
	}
	if (full && limited)
		return "both";
	return full ? "full" : limited ? "limited" : NULL;
}

/* Where the port's table has a key of that partition, as far as the table was read back. */
static void add_indexes(GVariantBuilder *row, const struct inventory_list *table, uint16_t base)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (uint32_t b = 0; b < inventory_list_blocks(table); b++) {
		const struct iba_p_key_table *block = inventory_list_block(table, b);

		for (uint32_t i = 0; block && i < G_N_ELEMENTS(block->p_key); i++)
			if (block->p_key[i] && P_KEY_BASE(block->p_key[i]) == base)
				g_string_append_printf(text, "%s%u", text->len ? "," : "",
						       b * (uint32_t)G_N_ELEMENTS(block->p_key) +
							       i);
	}
	answer_text(row, "index", text->len ? text->str : "none");
}

/*
 * What the sweep knows of the tables needs no MAD, but the SM must be asked for it: true if it was.
 */
static bool look_at_table(GVariantBuilder *row, struct command_call *call,
			  const struct inventory *inventory, uint32_t port, uint16_t base)
{
	const struct fabric_port *p = &call->fabric->ports[port];
	const struct inventory_list *table;
	uint64_t now = actor_now(daemon_actor(call->env->daemon));
	enum inventory_state state = inventory_look(inventory, call->fabric->nodes[p->node].guid,
						    p->num, INVENTORY_P_KEYS, now, &table);

	if (state == INVENTORY_KNOWN)
		add_indexes(row, table, base);
	if (state != INVENTORY_UNKNOWN)
		return false;
	call->again = true;
	event_emit(&call->context->bus, EVENT_INVENTORY_WANTED,
		   inventory_want(INVENTORY_P_KEYS, p->lid, p->num));
	return true;
}

static void add_members(GVariantBuilder *builder, struct command_call *call,
			const struct partition *partition)
{
	const struct fabric *fabric = call->fabric;
	struct inventory *inventory = slot_take(&call->context->inventory);
	GVariantBuilder list, row;
	unsigned int asked = 0;

	answer_begin_list(&list);
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const char *is = membership(call->subnet->partitions, i, partition->p_key);

		if (!is)
			continue;
		answer_begin(&row);
		answer_guid(&row, "port_guid", fabric->ports[i].guid);
		answer_name(&row, "node", fabric, fabric->ports[i].node);
		answer_number(&row, "port", fabric->ports[i].num);
		answer_text(&row, "membership", is);
		if (asked < ASKED_MAX)
			asked += look_at_table(&row, call, inventory, i, partition->p_key);
		answer_append(&list, &row);
	}
	answer_member(builder, "members", &list);
	inventory_unref(inventory);
}

static void add_partition(GVariantBuilder *list, struct command_call *call,
			  const struct partition *partition, bool members)
{
	GVariantBuilder row;

	answer_begin(&row);
	answer_hex16(&row, "p_key", partition->p_key);
	answer_text(&row, "name", partition->name);
	answer_flag(&row, "ipoib", partition->ipoib);
	answer_flag(&row, "indx0", partition->indx0);
	answer_number(&row, "full", partition->n_full);
	answer_number(&row, "limited", partition->n_limited);
	answer_number(&row, "groups", partition->n_groups);
	if (members)
		add_members(&row, call, partition);
	answer_append(list, &row);
}

/* A partition without members in the subnet. */
static void add_empty(GVariantBuilder *list, struct command_call *call,
		      const struct partition_rule *rule, bool members)
{
	g_autofree char *name = g_strdup(rule->name);
	const struct partition empty = {
		.p_key = rule->p_key, .name = name, .ipoib = rule->ipoib, .indx0 = rule->indx0};

	if (!partitions_find(call->subnet->partitions, rule->p_key))
		add_partition(list, call, &empty, members);
}

static GVariant *tell(struct command_call *call, const struct partition_rule *only)
{
	const struct partitions *partitions = call->subnet->partitions;
	const struct refusal *refusal = daemon_refusal(call->env->daemon, DAEMON_PARTITIONS);
	GVariantBuilder builder, list;

	answer_begin(&builder);
	answer_begin_list(&list);
	for (uint32_t i = 0; i < partitions->n; i++)
		if (!only || only->p_key == partitions->all[i].p_key)
			add_partition(&list, call, &partitions->all[i], only != NULL);
	for (guint i = 0; i < partitions->rules->rules->len; i++)
		if (!only || only == partitions->rules->rules->pdata[i])
			add_empty(&list, call, partitions->rules->rules->pdata[i], only != NULL);
	answer_member(&builder, "partitions", &list);
	answer_number(&builder, "policy", partitions->rules->serial);
	answer_number(&builder, "classes", partitions->n_classes - 1);
	answer_flag(&builder, "enforced",
		    call->subnet->options->part_enforce != PART_ENFORCE_OFF);
	answer_begin_list(&list);
	problem_add(&list, PROBLEM_ERROR, refusal->why);
	problem_add_all(&list, PROBLEM_WARNING, partitions->problems);
	problem_add_all(&list, PROBLEM_WARNING, partitions->crowded);
	answer_member(&builder, "problems", &list);
	if (refusal->why) {
		answer_text(&builder, "refused", refusal->why);
		answer_text(&builder, "since", refusal->since);
	}
	return g_variant_builder_end(&builder);
}

static GVariant *reload(struct command_call *call, GError **error)
{
	const struct refusal *refusal = daemon_refusal(call->env->daemon, DAEMON_PARTITIONS);
	bool changed = daemon_reread_partitions(call->env->daemon);

	if (refusal->why)
		return command_failed(error, "the partitions are unchanged: %s", refusal->why);
	if (!changed)
		return answer_of_text("partitions.conf has not changed");
	event_emit(&call->context->bus, EVENT_SWEEP_WANTED, SWEEP_POLICY);
	return answer_of_text("partitions.conf was read; the P_Key tables will be updated");
}

/* ---- changes at run time ---- */

GVariant *command_policy_answer(const struct command_env *env, uint64_t serial)
{
	uint64_t now = daemon_partitions_serial(env->daemon);
	unsigned int with, without;
	bool kept = daemon_partitions_kept(env->daemon, serial, &with, &without);
	GVariantBuilder builder;

	answer_begin(&builder);
	answer_number(&builder, "serial", serial);
	answer_flag(&builder, "in_effect", now >= serial);
	answer_flag(&builder, "kept", kept);
	answer_number(&builder, "standbys", with);
	answer_number(&builder, "standbys_without", without);
	answer_number(&builder, "policy", now);
	answer_flag(&builder, "errors",
		    atomic_load(&daemon_context(env->daemon)->sweep) & SWEEP_FLAG_ERRORS);
	return g_variant_builder_end(&builder);
}

static bool wants_change(const char *word)
{
	return !strcmp(word, "change") || !strcmp(word, "forget");
}

/* The answer comes once the policy is in effect. */
static GVariant *change(struct command_call *call, GError **error)
{
	bool forget = !strcmp(call->words[0], "forget");
	g_autofree char *request = forget ? NULL : g_strjoinv(" ", call->words + 1);
	g_autoptr(GError) wrong = NULL;
	uint64_t p_key = 0, serial;

	if (forget && (call->n != 2 ||
		       (strcmp(call->words[1], "all") != 0 &&
			(!find_number(call->words[1], 0xFFFF, &p_key) || !P_KEY_BASE(p_key)))))
		return command_usage(error, "expected a P_Key or all");
	if (!forget && !*g_strstrip(request))
		return command_usage(error, "expected a definition");
	if (!daemon_change_partitions(call->env->daemon, request, (uint16_t)p_key, &serial, &wrong))
		return command_failed(error, "no change was made: %s", wrong->message);
	log_info(call->context->log, "console: partitions %s: policy %" PRIu64, call->words[0],
		 serial);
	call->policy = serial;
	call->later = !command_policy_is_there(call->env, serial);
	return call->later ? NULL : command_policy_answer(call->env, serial);
}

GVariant *command_partitions(struct command_call *call, GError **error)
{
	const struct partition_rule *only = NULL;

	if (call->n && wants_change(call->words[0]))
		return change(call, error);
	if (call->n > 1)
		return command_usage(error, "expected one argument at most");
	if (call->n == 1 && !strcmp(call->words[0], "reload"))
		return reload(call, error);
	if (call->n == 1 && !(only = find(call->subnet->partitions->rules, call->words[0])))
		return command_failed(error, "there is no partition '%s'", call->words[0]);
	return tell(call, only);
}

static void print_member(GVariant *row, GString *out)
{
	const char *index = answer_get_text(row, "index");

	g_string_append_printf(out, "      %s %s port %" PRIu64 ": %s%s%s\n",
			       answer_get_text(row, "port_guid"), answer_get_text(row, "node"),
			       answer_get_number(row, "port"), answer_get_text(row, "membership"),
			       *index ? ", at index " : "", index);
}

static void print_partition(GVariant *row, GString *out)
{
	g_string_append_printf(out,
			       "   P_Key %s '%s': %" PRIu64 " full and %" PRIu64
			       " limited members, %" PRIu64 " group(s)%s%s\n",
			       answer_get_text(row, "p_key"), answer_get_text(row, "name"),
			       answer_get_number(row, "full"), answer_get_number(row, "limited"),
			       answer_get_number(row, "groups"),
			       answer_get_flag(row, "ipoib") ? ", IPoIB" : "",
			       answer_get_flag(row, "indx0") ? ", at index 0" : "");
	answer_each(row, "members", print_member, out);
}

static void print_change(GVariant *answer, GString *out)
{
	uint64_t with = answer_get_number(answer, "standbys");
	uint64_t without = answer_get_number(answer, "standbys_without");

	g_string_append_printf(
		out, "policy %" PRIu64 " is %sin effect%s", answer_get_number(answer, "serial"),
		answer_get_flag(answer, "in_effect") ? "" : "not yet ",
		answer_get_flag(answer, "errors") ? ", but part of the subnet could not be "
						    "configured"
						  : "");
	if (with)
		g_string_append_printf(out, "; %" PRIu64 " standby(s) have it", with);
	if (without)
		g_string_append_printf(out, "; %" PRIu64 " other SM(s) did not confirm it in time",
				       without);
	g_string_append(out, answer_get_flag(answer, "kept")
				     ? "\n"
				     : "; another SM is master now and may not know it\n");
}

void print_partitions(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) partitions = answer_get(answer, "partitions");
	g_autoptr(GVariant) changed = answer_get(answer, "in_effect");

	if (changed) {
		print_change(answer, out);
		return;
	}
	if (!partitions) {
		g_string_append_printf(out, "%s\n", answer_get_text(answer, "text"));
		return;
	}
	g_string_append_printf(
		out, "%" G_GSIZE_FORMAT " partition(s), %" PRIu64 " class(es) of ports, %s\n",
		g_variant_n_children(partitions), answer_get_number(answer, "classes"),
		answer_get_flag(answer, "enforced") ? "enforced by switches"
						    : "not enforced by switches");
	answer_each(answer, "partitions", print_partition, out);
	answer_each(answer, "problems", problem_print, out);
	if (*answer_get_text(answer, "refused"))
		g_string_append_printf(out, "   refused at %s: %s\n",
				       answer_get_text(answer, "since"),
				       answer_get_text(answer, "refused"));
}
