// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The commands about what clients have registered with the SA: multicast groups, as it has
 * published them to the sweep, and refusals; subscriptions, and how many notices each of them
 * missed; alias GUIDs.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "ctl/command/command_private.h"
#include "iba/codes.h"
#include "iba/constants.h"
#include "policy/partition/groups.h"
#include "subnet/aliases.h"
#include "subnet/refused_joins.h"
#include "subnet/subscriptions.h"

/* ---- multicast groups ---- */

static void answer_gid(GVariantBuilder *builder, const char *key, struct iba_gid gid)
{
	uint64_t wire[2] = {GUINT64_TO_BE(gid.prefix), GUINT64_TO_BE(gid.guid)};
	char text[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, wire, text, sizeof(text));
	answer_text(builder, key, text);
}

static void add_member(GVariantBuilder *list, const struct fabric *fabric,
		       const struct mc_group *group, uint32_t i)
{
	uint64_t guid = group->port_guids[i];
	uint32_t port = fabric_port_by_guid(fabric, guid);
	GVariantBuilder row;

	answer_begin(&row);
	answer_guid(&row, "port_guid", guid);
	if (port != FABRIC_NONE) {
		answer_name(&row, "node", fabric, fabric->ports[port].node);
		answer_number(&row, "lid", fabric->ports[port].lid);
	}
	answer_flag(&row, "only_sends", group->only_sends[i]);
	answer_append(list, &row);
}

static void add_group(GVariantBuilder *list, const struct fabric *fabric,
		      const struct mc_group *group)
{
	g_autofree char *rate = g_strdup_printf("%g Gb/s", iba_rate_tenths(group->rate) / 10.0);
	GVariantBuilder row, members;

	answer_begin(&row);
	answer_gid(&row, "mgid", group->mgid);
	answer_hex16(&row, "mlid", group->mlid);
	answer_hex16(&row, "p_key", group->p_key);
	answer_number(&row, "mtu", iba_mtu_bytes(group->mtu));
	answer_text(&row, "rate", rate);
	answer_number(&row, "sl", group->sl);
	answer_begin_list(&members);
	for (uint32_t i = 0; i < group->n_ports; i++)
		add_member(&members, fabric, group, i);
	answer_member(&row, "members", &members);
	answer_append(list, &row);
}

static void add_refused(GVariantBuilder *list, const struct command_call *call,
			const struct refused_join *join)
{
	uint32_t port = fabric_port_by_guid(call->fabric, join->port_guid);
	uint64_t now = runtime_now(call->context->rt);
	GVariantBuilder row;

	if (now > join->last_ns + REFUSED_JOIN_NS)
		return;
	answer_begin(&row);
	answer_guid(&row, "port_guid", join->port_guid);
	if (port != FABRIC_NONE)
		answer_name(&row, "node", call->fabric, call->fabric->ports[port].node);
	answer_number(&row, "lid", join->lid);
	answer_gid(&row, "mgid", join->mgid);
	answer_text(&row, "reason", join->why);
	answer_hex16(&row, "status", join->status);
	answer_number(&row, "times", join->times);
	answer_number(&row, "seconds_ago", (now - MIN(now, join->last_ns)) / NS_PER_S);
	answer_append(list, &row);
}

static void add_all_refused(GVariantBuilder *builder, const struct command_call *call)
{
	struct refused_joins *joins = slot_take(&call->context->refused_joins);
	GVariantBuilder list;

	answer_begin_list(&list);
	for (uint32_t i = 0; joins && i < joins->n; i++)
		add_refused(&list, call, &joins->all[i]);
	answer_member(builder, "refused", &list);
	refused_joins_unref(joins);
}

GVariant *command_mgroups(struct command_call *call, GError **error)
{
	const struct mc_group *group;
	struct mc_cursor cursor = {0};
	struct mc_groups *groups;
	GVariantBuilder builder, list;

	if (!command_no_arguments(call, error))
		return NULL;
	groups = slot_take(&call->context->groups);
	answer_begin(&builder);
	answer_begin_list(&list);
	while ((group = mc_groups_next(groups, &cursor)))
		add_group(&list, call->fabric, group);
	answer_member(&builder, "groups", &list);
	add_all_refused(&builder, call);
	mc_groups_unref(groups);
	return g_variant_builder_end(&builder);
}

static void print_member(GVariant *row, GString *out)
{
	const char *node = answer_get_text(row, "node");

	g_string_append_printf(out, "      %s LID %" PRIu64 " (%s)%s\n",
			       answer_get_text(row, "port_guid"), answer_get_number(row, "lid"),
			       *node ? node : "not in the subnet",
			       answer_get_flag(row, "only_sends") ? ", only sends" : "");
}

static void print_group(GVariant *row, GString *out)
{
	g_autoptr(GVariant) members = answer_get(row, "members");

	g_string_append_printf(out,
			       "   MLID %s MGID %s P_Key %s MTU %" PRIu64 " rate %s SL %" PRIu64
			       ": %" G_GSIZE_FORMAT " member(s)\n",
			       answer_get_text(row, "mlid"), answer_get_text(row, "mgid"),
			       answer_get_text(row, "p_key"), answer_get_number(row, "mtu"),
			       answer_get_text(row, "rate"), answer_get_number(row, "sl"),
			       g_variant_n_children(members));
	answer_each(row, "members", print_member, out);
}

static void print_refused(GVariant *row, GString *out)
{
	const char *node = answer_get_text(row, "node");

	g_string_append_printf(out,
			       "   %s LID %" PRIu64 " (%s) MGID %s: %s (%" PRIu64
			       " time(s), %" PRIu64 " s ago)\n",
			       answer_get_text(row, "port_guid"), answer_get_number(row, "lid"),
			       *node ? node : "not in the subnet", answer_get_text(row, "mgid"),
			       answer_get_text(row, "reason"), answer_get_number(row, "times"),
			       answer_get_number(row, "seconds_ago"));
}

void print_mgroups(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) groups = answer_get(answer, "groups");
	g_autoptr(GVariant) refused = answer_get(answer, "refused");

	g_string_append_printf(out, "%" G_GSIZE_FORMAT " multicast group(s)\n",
			       g_variant_n_children(groups));
	answer_each(answer, "groups", print_group, out);
	if (g_variant_n_children(refused))
		g_string_append_printf(out, "%" G_GSIZE_FORMAT " refused join(s)\n",
				       g_variant_n_children(refused));
	answer_each(answer, "refused", print_refused, out);
}

/* ---- subscriptions ---- */

static void add_subscription(GVariantBuilder *list, const struct fabric *fabric,
			     const struct subscription_shown *shown)
{
	uint32_t port = fabric_port_by_guid(fabric, shown->guid);
	const struct iba_inform_info *info = &shown->info;
	GVariantBuilder row;

	answer_begin(&row);
	answer_guid(&row, "port_guid", shown->guid);
	if (port != FABRIC_NONE)
		answer_name(&row, "node", fabric, fabric->ports[port].node);
	answer_number(&row, "lid", shown->lid);
	answer_number(&row, "qp", shown->qpn);
	answer_flag(&row, "generic", info->is_generic);
	answer_flag(&row, "all_traps", info->trap_number == IBA_TRAP_ALL);
	if (info->trap_number != IBA_TRAP_ALL)
		answer_number(&row, "trap", info->trap_number);
	answer_number(&row, "missed", shown->missed);
	answer_number(&row, "unanswered", shown->unanswered);
	answer_append(list, &row);
}

GVariant *command_subscriptions(struct command_call *call, GError **error)
{
	bool only_missed = call->n == 1 && !strcmp(call->words[0], "missed");
	struct subscriptions *all;
	GVariantBuilder builder, list;
	uint64_t missed = 0;

	if (call->n && !only_missed)
		return command_usage(error, "expected missed or nothing");
	all = slot_take(&call->context->subscriptions);
	answer_begin(&builder);
	answer_begin_list(&list);
	for (unsigned int i = 0; all && i < all->n; i++) {
		missed += all->rows[i].missed;
		if (!only_missed || all->rows[i].missed)
			add_subscription(&list, call->fabric, &all->rows[i]);
	}
	answer_number(&builder, "n", all ? all->n : 0);
	answer_number(&builder, "missed", missed);
	answer_member(&builder, "subscriptions", &list);
	subscriptions_unref(all);
	return g_variant_builder_end(&builder);
}

static void print_subscription(GVariant *row, GString *out)
{
	const char *node = answer_get_text(row, "node");
	uint64_t unanswered = answer_get_number(row, "unanswered");

	g_string_append_printf(out, "   %s LID %" PRIu64 " QP %" PRIu64 " (%s): ",
			       answer_get_text(row, "port_guid"), answer_get_number(row, "lid"),
			       answer_get_number(row, "qp"), *node ? node : "not in the subnet");
	if (answer_get_flag(row, "all_traps"))
		g_string_append(out, "all traps");
	else
		g_string_append_printf(out, "trap %" PRIu64, answer_get_number(row, "trap"));
	if (!answer_get_flag(row, "generic"))
		g_string_append(out, " of vendors");
	g_string_append_printf(out, ", missed %" PRIu64, answer_get_number(row, "missed"));
	if (unanswered)
		g_string_append_printf(out, ", did not answer the last %" PRIu64 " Reports",
				       unanswered);
	g_string_append_c(out, '\n');
}

void print_subscriptions(GVariant *answer, GString *out)
{
	g_string_append_printf(out,
			       "%" PRIu64 " subscription(s), which missed %" PRIu64 " notices in "
			       "all\n",
			       answer_get_number(answer, "n"), answer_get_number(answer, "missed"));
	answer_each(answer, "subscriptions", print_subscription, out);
}

/* ---- alias GUIDs ---- */

/* Without node, port and LID if the port is not in the subnet. */
static void add_alias(GVariantBuilder *list, const struct fabric *fabric,
		      const struct alias_guid *alias)
{
	uint32_t index = fabric_port_by_guid(fabric, alias->port);
	const struct fabric_port *port = index == FABRIC_NONE ? NULL : &fabric->ports[index];
	GVariantBuilder row;

	answer_begin(&row);
	answer_guid(&row, "guid", alias->guid);
	answer_guid(&row, "port_guid", alias->port);
	answer_number(&row, "index", alias->index);
	answer_flag(&row, "present", port != NULL);
	if (port) {
		answer_name(&row, "node", fabric, port->node);
		answer_guid(&row, "system_guid", fabric->nodes[port->node].info.system_image_guid);
		answer_number(&row, "port", port->num);
		answer_number(&row, "lid", port->lid);
		answer_flag(&row, "active", port->info.port_state == IBA_PORT_ACTIVE);
	}
	answer_append(list, &row);
}

GVariant *command_aliases(struct command_call *call, GError **error)
{
	struct alias_guids *aliases;
	GVariantBuilder builder, list;

	if (call->n)
		return command_usage(error, "expected no argument");
	aliases = slot_take(&call->context->aliases);
	answer_begin(&builder);
	answer_begin_list(&list);
	for (guint i = 0; aliases && i < aliases->by_guid->len; i++)
		add_alias(&list, call->fabric, alias_guids_at(aliases->by_guid, i));
	answer_member(&builder, "aliases", &list);
	alias_guids_unref(aliases);
	return g_variant_builder_end(&builder);
}

static void print_alias(GVariant *row, GString *out)
{
	g_string_append_printf(out, "   %s: %" PRIu64 " of port %s", answer_get_text(row, "guid"),
			       answer_get_number(row, "index"), answer_get_text(row, "port_guid"));
	if (answer_get_flag(row, "present"))
		g_string_append_printf(out, ", LID %" PRIu64 " (%s)\n",
				       answer_get_number(row, "lid"), answer_get_text(row, "node"));
	else
		g_string_append(out, ", which is not in the subnet\n");
}

void print_aliases(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) aliases = answer_get(answer, "aliases");

	g_string_append_printf(out, "%" G_GSIZE_FORMAT " alias GUIDs\n",
			       g_variant_n_children(aliases));
	answer_each(answer, "aliases", print_alias, out);
}
