// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Agents that send requests elsewhere. */
#include <inttypes.h>

#include "ctl/perfmgr/target.h"
#include "ctl/perfmgr/word.h"
#include "iba/constants.h"

/* ---- the table ---- */

static void add_port(GVariantBuilder *list, const struct perf_redirection *to)
{
	GVariantBuilder row;

	answer_begin(&row);
	answer_number(&row, "port", to->port);
	answer_flag(&row, "valid", true);
	answer_number(&row, "lid", to->from_lid);
	answer_number(&row, "to_lid", to->lid);
	answer_hex16(&row, "p_key", to->p_key);
	answer_number(&row, "qp", to->qpn);
	answer_number(&row, "p_key_index", to->p_key_index);
	answer_append(list, &row);
}

/* Redirections and nodes are in the order of GUIDs: *at is the first not before this node's. */
static void add_node(GVariantBuilder *list, const struct perf_images *images,
		     const struct perf_node *node, unsigned int *at)
{
	const struct perf_redirection *all = images->redirections;
	GVariantBuilder row, ports;

	while (*at < images->n_redirections && all[*at].guid < node->guid)
		(*at)++;
	if (*at == images->n_redirections || all[*at].guid != node->guid)
		return;
	answer_begin_list(&ports);
	for (; *at < images->n_redirections && all[*at].guid == node->guid; (*at)++)
		add_port(&ports, &all[*at]);
	answer_begin(&row);
	answer_text(&row, "node", node->name);
	answer_text(&row, "description", node->description ? node->description : "");
	answer_guid(&row, "guid", node->guid);
	answer_flag(&row, "enhanced_port_0", node->type == IBA_NODE_SWITCH && !node->first_port);
	answer_member(&row, "ports", &ports);
	answer_append(list, &row);
}

/* Both words say whether redirection is off, and which node is not there. */
static void begin(struct perfmgr_call *call, GVariantBuilder *answer, struct perfmgr_target *target)
{
	g_autofree char *why = NULL;
	bool found = perfmgr_target_find(target, call->image ? call->image->layout : NULL,
					 call->words, &why);

	answer_flag(answer, "enabled", call->options->perfmgr_redir);
	if (!found)
		answer_text(answer, "error", why);
	call->failed = !found;
}

bool perfmgr_redir(struct perfmgr_call *call, GVariantBuilder *answer, GError **error)
{
	struct perfmgr_target target;
	GVariantBuilder nodes;
	unsigned int at = 0;

	(void)error;
	answer_begin_list(&nodes);
	begin(call, answer, &target);
	for (guint i = 0; i < target.nodes->len; i++)
		add_node(&nodes, call->images,
			 &call->image->layout->nodes[g_array_index(target.nodes, uint32_t, i)],
			 &at);
	answer_flag(answer, "table", true);
	answer_member(answer, "nodes", &nodes);
	perfmgr_target_clear(&target);
	return true;
}

bool perfmgr_forget_redir(struct perfmgr_call *call, GVariantBuilder *answer, GError **error)
{
	struct perfmgr_target target;

	(void)error;
	begin(call, answer, &target);
	if (!call->n)
		perf_order(call->perf, PERF_FORGET_REDIR, 0);
	else
		for (guint i = 0; i < target.nodes->len; i++)
			perf_order(
				call->perf, PERF_FORGET_REDIR,
				call->image->layout->nodes[g_array_index(target.nodes, uint32_t, i)]
					.guid);
	answer_flag(answer, "table", false);
	perfmgr_target_clear(&target);
	return true;
}

/* ---- as the classic daemon prints it ---- */

static void print_port(GVariant *row, GString *out)
{
	g_string_append_printf(out,
			       "   %" PRIu64 "    %d      %" PRIu64 "->%" PRIu64 "  0x%" PRIx64
			       " 0x%" PRIx64 "   %" PRIu64 "\n",
			       answer_get_number(row, "port"), answer_get_flag(row, "valid"),
			       answer_get_number(row, "lid"), answer_get_number(row, "to_lid"),
			       g_ascii_strtoull(answer_get_text(row, "p_key"), NULL, 16),
			       answer_get_number(row, "qp"), answer_get_number(row, "p_key_index"));
}

static void print_node(GVariant *row, GString *out)
{
	g_string_append_printf(out,
			       "   Node GUID       ESP0   Name\n"
			       "   ---------       ----   ----\n"
			       "   0x%" PRIx64 " %d      %s\n"
			       "\n   Port Valid  LIDs     PKey  QP    PKey Index\n"
			       "   ---- -----  ----     ----  --    ----------\n",
			       g_ascii_strtoull(answer_get_text(row, "guid"), NULL, 16),
			       answer_get_flag(row, "enhanced_port_0"),
			       answer_get_text(row, "node"));
	answer_each(row, "ports", print_port, out);
	g_string_append_c(out, '\n');
}

void perfmgr_print_redir(GVariant *answer, GString *out)
{
	const char *why = answer_get_text(answer, "error");

	if (!answer_get_flag(answer, "enabled"))
		g_string_append(out, "Perfmgr redirection not enabled\n");
	if (answer_get_flag(answer, "table"))
		g_string_append(out, "\nRedirection Table\n-----------------\n");
	answer_each(answer, "nodes", print_node, out);
	if (*why)
		g_string_append_printf(out, "%s\n", why);
}
