// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The command about subscriptions: which ports get notices, and how many each of them missed. */
#include <inttypes.h>
#include <string.h>

#include "ctl/command/command_private.h"
#include "iba/constants.h"
#include "subnet/subscriptions.h"

static void add_row(GVariantBuilder *list, const struct fabric *fabric,
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
			add_row(&list, call->fabric, &all->rows[i]);
	}
	answer_number(&builder, "n", all ? all->n : 0);
	answer_number(&builder, "missed", missed);
	answer_member(&builder, "subscriptions", &list);
	subscriptions_unref(all);
	return g_variant_builder_end(&builder);
}

static void print_row(GVariant *row, GString *out)
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
	answer_each(answer, "subscriptions", print_row, out);
}
