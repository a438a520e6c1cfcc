// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The command about multicast groups: what the SA has published to the sweep. */
#include <arpa/inet.h>
#include <inttypes.h>

#include "ctl/command_private.h"
#include "iba/codes.h"
#include "policy/groups.h"

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
		answer_text(&row, "node", fabric->nodes[fabric->ports[port].node].description);
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

void print_mgroups(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) groups = answer_get(answer, "groups");

	g_string_append_printf(out, "%" G_GSIZE_FORMAT " multicast group(s)\n",
			       g_variant_n_children(groups));
	answer_each(answer, "groups", print_group, out);
}
