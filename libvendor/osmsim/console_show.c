// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Commands that show the fabric and the clients. */
#include <inttypes.h>

#include "iba/codes.h"
#include "libvendor/osmsim/console.h"

static const char *type_of(const struct sim_node *node)
{
	return node->type == IBA_NODE_SWITCH   ? "switch"
	       : node->type == IBA_NODE_ROUTER ? "router"
					       : "ca";
}

bool command_nodes(struct command *command)
{
	const struct sim *sim = command->server->sim;
	const char *pattern = command->n_words ? command->words[0] : "*";

	for (unsigned int i = 0; i < sim->n_nodes; i++) {
		const struct sim_node *node = &sim->nodes[i];
		/* It comes from a topology file; GLib's patterns accept only UTF-8. */
		g_autofree char *description = g_utf8_make_valid(node->description, -1);

		if (!g_pattern_match_simple(pattern, description))
			continue;
		g_string_append_printf(
			command->out, "%-6s 0x%016" PRIx64 " %3u ports  \"%s\"%s%s%s%s\n",
			type_of(node), node->claimed_guid, node->num_ports, node->description,
			node->removed ? " removed"
			: node->up    ? ""
				      : " down",
			node->mute ? " mute" : "", node->hung ? " hung" : "",
			node->stubborn ? " stubborn" : "");
	}
	return true;
}

static const char *named(enum iba_set set, uint32_t value)
{
	const char *name = iba_name(set, value);

	return name ? name : "?";
}

static void append_port(GString *out, const struct sim_port *port)
{
	const struct iba_port_info *info = &port->info;
	uint8_t rate = iba_link_rate(info->link_width_active, info->link_speed_active,
				     info->link_speed_ext_active, info->link_speed_ext_active2);
	unsigned int tenths = iba_rate_tenths(rate);

	g_string_append_printf(out, "%3u %-6s %-10s lid %5u %2uX %4u.%u Gb/s", port->number,
			       named(IBA_SET_PORT_STATE, info->port_state),
			       named(IBA_SET_PHYS_STATE, info->port_physical_state), info->lid,
			       iba_width_lanes(info->link_width_active), tenths / 10, tenths % 10);
	if (port->peer)
		g_string_append_printf(out, "  %s \"%s\" %u%s", port->cable ? "=>" : "-/-",
				       port->peer->description, port->peer_number,
				       port->black_hole ? " black hole" : "");
	g_string_append_c(out, '\n');
}

static void append_ports(GString *out, const struct sim_node *node)
{
	for (unsigned int i = node->sw ? 0 : 1; i <= node->num_ports; i++)
		append_port(out, &node->ports[i]);
}

bool command_ports(struct command *command)
{
	const struct sim_node *node = command_node(command, 0);

	if (!node)
		return false;
	append_ports(command->out, node);
	return true;
}

bool command_port(struct command *command)
{
	const struct sim_port *port = command_end(command, 0, false);

	if (!port)
		return false;
	wire_print(&iba_port_info_type, &port->info, command->out);
	return true;
}

/* ---- forwarding tables ---- */

static void append_lft(GString *out, const struct sim_node *node)
{
	for (unsigned int lid = 0; node->sw->lft && lid < SIM_LFT_ENTRIES; lid++)
		if (node->sw->lft[lid] != IBA_PORT_NONE)
			g_string_append_printf(
				out, "%5u %3u%s\n", lid, node->sw->lft[lid],
				lid > node->sw->info.linear_fdb_top ? " above LinearFDBTop" : "");
}

static void append_mft(GString *out, const struct sim *sim, const struct sim_node *node)
{
	for (unsigned int lid = IBA_LID_MCAST_FIRST; lid < IBA_LID_MCAST_FIRST + SIM_MFT_CAP;
	     lid++) {
		uint16_t mask[16];
		bool any = false;

		sim_mft(sim, node->index, lid, mask);
		for (unsigned int port = 0; port < 256; port++) {
			if (!(mask[port / 16] >> port % 16 & 1))
				continue;
			if (!any)
				g_string_append_printf(out, "0x%04x", lid);
			any = true;
			g_string_append_printf(out, " %u", port);
		}
		if (any)
			g_string_append_c(out, '\n');
	}
}

bool command_dump(struct command *command)
{
	const char *what = command->n_words == 2 ? command->words[0] : "ports";
	const struct sim_node *node = command_node(command, command->n_words - 1);

	if (!node)
		return false;
	if (!g_ascii_strcasecmp(what, "ports"))
		append_ports(command->out, node);
	else if (!node->sw)
		return command_fail(command, "'%s' is not a switch", node->description);
	else if (!g_ascii_strcasecmp(what, "lft"))
		append_lft(command->out, node);
	else if (!g_ascii_strcasecmp(what, "mft"))
		append_mft(command->out, command->server->sim, node);
	else
		return command_fail(command, "'%s' is neither lft, mft nor ports", what);
	return true;
}

/* ---- counters ---- */

static void append_counters(GString *out, const struct sim_counters *counters)
{
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{"MADs sent by clients", counters->mads_sent},
		{"MADs received by clients", counters->mads_received},
		{"SMPs", counters->smps},
		{"GMPs", counters->gmps},
		{"directed SMPs", counters->directed_smps},
		{"directed hops", counters->directed_hops},
		{"Gets served", counters->gets},
		{"Sets served", counters->sets},
		{"traps", counters->traps},
		{"lost", counters->lost},
		{"corrupted", counters->corrupted},
		{"dropped", counters->dropped},
		{"outstanding at most", counters->outstanding_max},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(rows); i++)
		g_string_append_printf(out, "%-26s %" PRIu64 "\n", rows[i].name, rows[i].value);
}

bool command_counters(struct command *command)
{
	const struct sim *sim = command->server->sim;
	const struct sim_port *port;

	if (!command->n_words) {
		append_counters(command->out, &sim->counters);
		g_string_append_printf(command->out, "%-26s %" PRIu64 "\n", "clients refused",
				       command->server->refused);
		return true;
	}
	if (command->n_words != 2)
		return command_fail(command, "a port needs NODE and PORT");
	port = command_end(command, 0, true);
	if (!port)
		return false;
	for (unsigned int i = 0; i < SIM_PORT_COUNTERS; i++) {
		uint64_t n = sim_port_counter(sim, port->node->index, port->number, i);
		g_autofree char *name = sim_counter_name(i);

		/* Those of lanes, VLs and SLs are many. */
		if (n || i < SIM_COUNT_DETAILS)
			g_string_append_printf(command->out, "%-30s %" PRIu64 "\n", name, n);
	}
	return true;
}

/* ---- clients ---- */

static void append_agents(GString *out, const struct connection *connection)
{
	for (unsigned int i = 0; i < OSMSIM_MAX_AGENTS; i++) {
		const struct agent *agent = connection->agents[i].agent;
		const struct agent_filter *filter;

		if (!agent)
			continue;
		filter = &g_array_index(agent->filters, struct agent_filter, 0);
		g_string_append_printf(out,
				       "    agent %2u class 0x%02x version %u QP%u RMPP %u "
				       "methods 0x%016" PRIx64 "%016" PRIx64 ", %u waiting\n",
				       i, filter->mgmt_class, filter->class_version, filter->qpn,
				       filter->rmpp_version, filter->methods[1], filter->methods[0],
				       g_hash_table_size(agent->pending));
	}
}

static int by_number(const void *a, const void *b)
{
	const struct connection *const *x = a, *const *y = b;

	return (*x)->number < (*y)->number ? -1 : (*x)->number > (*y)->number;
}

bool command_clients(struct command *command)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new();
	GHashTableIter iter;
	void *key;

	g_hash_table_iter_init(&iter, command->server->connections);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		g_ptr_array_add(all, key);
	g_ptr_array_sort(all, by_number);
	for (unsigned int i = 0; i < all->len; i++) {
		const struct connection *connection = all->pdata[i];

		g_string_append_printf(command->out, "%u process %u", connection->number,
				       connection->pid);
		if (connection->node)
			g_string_append_printf(command->out, " on \"%s\"",
					       connection->node->description);
		if (connection->kind == CONNECTION_PORT) {
			g_string_append_printf(command->out,
					       " port %u: %" PRIu64 " MADs sent, %" PRIu64
					       " received, %" PRIu64 " dropped\n",
					       connection->port->number, connection->sent,
					       connection->received, connection->dropped);
			append_agents(command->out, connection);
		} else {
			g_string_append(command->out, " control\n");
		}
	}
	return true;
}
