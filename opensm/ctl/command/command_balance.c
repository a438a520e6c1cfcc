// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Whether routes use links evenly: for each switch the LIDs of hosts behind each of its links to
 * other switches (switchbalance); for each host with several LIDs, how a switch spreads them
 * (lidbalance). A difference of one counts as even.
 */
#include <inttypes.h>
#include <string.h>

#include "ctl/command/command_private.h"

#define PORTS 256
#define MAX_ROWS 1000 /* of lidbalance: one per host and switch could be millions */

struct balance {
	const struct fabric *fabric;
	const struct routing *routing;
	uint32_t paths[PORTS]; /* LIDs routed to each port */
	bool used[PORTS];      /* the ports to compare */
};

/* Whether the port leads to another switch. */
static bool is_link(const struct fabric *fabric, uint32_t sw, unsigned int num)
{
	const struct fabric_port *port = &fabric->ports[fabric_switch_port(fabric, sw, num)];

	return num && port->peer != FABRIC_NONE &&
	       fabric_is_switch(fabric, fabric->ports[port->peer].node) &&
	       fabric->ports[port->peer].node != port->node;
}

static uint32_t peer_switch(const struct fabric *fabric, uint32_t sw, unsigned int num)
{
	uint32_t peer = fabric->ports[fabric_switch_port(fabric, sw, num)].peer;

	return fabric->nodes[fabric->ports[peer].node].sw;
}

static unsigned int num_ports(const struct fabric *fabric, uint32_t sw)
{
	return fabric->nodes[fabric->switches[sw].node].num_ports;
}

/* By how much the numbers of LIDs of the used ports differ. */
static uint32_t spread(const struct balance *balance, uint32_t sw)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (unsigned int num = 1; num <= num_ports(balance->fabric, sw); num++) {
		if (!balance->used[num])
			continue;
		least = MIN(least, balance->paths[num]);
		most = MAX(most, balance->paths[num]);
	}
	return most > least ? most - least : 0;
}

/* [{"port": 3, "paths": 7}] for the used ports. */
static void add_paths(const struct balance *balance, uint32_t sw, GVariantBuilder *list)
{
	answer_begin_list(list);
	for (unsigned int num = 1; num <= num_ports(balance->fabric, sw); num++) {
		GVariantBuilder row;

		if (!balance->used[num])
			continue;
		answer_begin(&row);
		answer_number(&row, "port", num);
		answer_number(&row, "paths", balance->paths[num]);
		answer_append(list, &row);
	}
}

static void print_paths(GVariant *row, GString *out)
{
	g_string_append_printf(out, "Port %" PRIu64 ": %" PRIu64 "\n",
			       answer_get_number(row, "port"), answer_get_number(row, "paths"));
}

/* ---- switchbalance ---- */

static void count_paths(struct balance *balance, uint32_t sw)
{
	for (unsigned int num = 0; num < PORTS; num++)
		balance->used[num] =
			num <= num_ports(balance->fabric, sw) && is_link(balance->fabric, sw, num);
	memset(balance->paths, 0, sizeof(balance->paths));
	for (unsigned int lid = 1; lid <= balance->routing->top; lid++) {
		uint32_t port = fabric_port_by_lid(balance->fabric, (uint16_t)lid);

		if (port != FABRIC_NONE &&
		    !fabric_is_switch(balance->fabric, balance->fabric->ports[port].node))
			balance->paths[routing_port(balance->routing, sw, (uint16_t)lid)]++;
	}
}

static void balance_switch(struct balance *balance, uint32_t sw, bool verbose,
			   GVariantBuilder *switches)
{
	GVariantBuilder row, list;
	bool unbalanced;

	count_paths(balance, sw);
	unbalanced = spread(balance, sw) > 1;
	if (!unbalanced && !verbose)
		return;
	add_paths(balance, sw, &list);
	answer_begin(&row);
	answer_node(&row, balance->fabric, balance->fabric->switches[sw].node);
	answer_flag(&row, "unbalanced", unbalanced);
	answer_member(&row, "ports", &list);
	answer_append(switches, &row);
}

/* True if word is a GUID; *sw gets the switch with it, or FABRIC_NONE if no switch has it. */
static bool one_switch(const struct fabric *fabric, const char *word, uint32_t *sw)
{
	uint64_t guid;
	uint32_t node;

	if (!find_number(word, UINT64_MAX, &guid))
		return false;
	node = fabric_node_by_guid(fabric, guid);
	*sw = node == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[node].sw;
	return true;
}

GVariant *command_switchbalance(struct command_call *call, GError **error)
{
	struct balance balance = {.fabric = call->fabric, .routing = call->subnet->routing};
	bool verbose = call->n && !strcmp(call->words[0], "verbose");
	GVariantBuilder builder, switches;
	uint32_t only = FABRIC_NONE;

	if (call->n > verbose + 1u)
		return command_usage(error, "too many arguments");
	if (call->n > verbose && !one_switch(call->fabric, call->words[verbose], &only))
		return command_usage(error, "'%s' is not a GUID", call->words[verbose]);
	if (call->n > verbose && only == FABRIC_NONE)
		return command_failed(error, "guid not found");
	answer_begin(&builder);
	answer_begin_list(&switches);
	for (uint32_t sw = 0; sw < call->fabric->n_switches; sw++)
		if (only == FABRIC_NONE || only == sw)
			balance_switch(&balance, sw, verbose, &switches);
	answer_member(&builder, "switches", &switches);
	return g_variant_builder_end(&builder);
}

static void print_switch(GVariant *row, GString *out)
{
	g_string_append_printf(out, "%sSwitch: %s (%s)\n",
			       answer_get_flag(row, "unbalanced") ? "Unbalanced " : "",
			       answer_get_text(row, "guid"), answer_get_text(row, "node"));
	answer_each(row, "ports", print_paths, out);
}

void print_switchbalance(GVariant *answer, GString *out)
{
	answer_each(answer, "switches", print_switch, out);
}

/* ---- lidbalance ---- */

/* Hops from each switch to that one, UINT16_MAX if there is no path; free it with g_free(). */
static uint16_t *distances(const struct fabric *fabric, uint32_t to)
{
	uint16_t *hops = g_new(uint16_t, fabric->n_switches);
	g_autofree uint32_t *queue = g_new(uint32_t, fabric->n_switches);
	uint32_t first = 0, last = 0;

	memset(hops, 0xFF, fabric->n_switches * sizeof(*hops));
	hops[to] = 0;
	queue[last++] = to;
	while (first < last) {
		uint32_t sw = queue[first++];

		for (unsigned int num = 1; num <= num_ports(fabric, sw); num++) {
			uint32_t next;

			if (!is_link(fabric, sw, num))
				continue;
			next = peer_switch(fabric, sw, num);
			if (hops[next] != UINT16_MAX)
				continue;
			hops[next] = hops[sw] + 1;
			queue[last++] = next;
		}
	}
	return hops;
}

struct lid_walk {
	struct balance balance;
	uint32_t only; /* this switch only, or FABRIC_NONE */
	uint32_t n_rows;
	GVariantBuilder rows;
};

static void add_host(struct lid_walk *walk, uint32_t sw, const struct fabric_port *port)
{
	const struct fabric *fabric = walk->balance.fabric;
	GVariantBuilder row, list;

	if (walk->n_rows++ >= MAX_ROWS)
		return;
	add_paths(&walk->balance, sw, &list);
	answer_begin(&row);
	answer_node(&row, fabric, port->node);
	answer_number(&row, "lid", port->lid);
	answer_name(&row, "switch", fabric, fabric->switches[sw].node);
	answer_guid(&row, "switch_guid", fabric->nodes[fabric->switches[sw].node].guid);
	answer_member(&row, "ports", &list);
	answer_append(&walk->rows, &row);
}

static void balance_host(struct lid_walk *walk, uint32_t sw, const struct fabric_port *port)
{
	struct balance *balance = &walk->balance;

	memset(balance->paths, 0, sizeof(balance->paths));
	for (unsigned int i = 0; i < 1u << port->lmc; i++)
		balance->paths[routing_port(balance->routing, sw, (uint16_t)(port->lid + i))]++;
	if (spread(balance, sw) > 1)
		add_host(walk, sw, port);
}

/* Ports of CAs and routers on that switch with several LIDs. */
static GArray *hosts_of(const struct fabric *fabric, uint32_t leaf)
{
	GArray *hosts = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (unsigned int num = 1; num <= num_ports(fabric, leaf); num++) {
		uint32_t host = fabric->ports[fabric_switch_port(fabric, leaf, num)].peer;

		if (host != FABRIC_NONE && fabric_is_endport(fabric, host) &&
		    fabric->ports[host].lid && fabric->ports[host].lmc)
			g_array_append_val(hosts, host);
	}
	return hosts;
}

/* The hosts on one switch, as all other switches see them. */
static void balance_leaf(struct lid_walk *walk, uint32_t leaf)
{
	struct balance *balance = &walk->balance;
	const struct fabric *fabric = balance->fabric;
	g_autoptr(GArray) hosts = hosts_of(fabric, leaf);
	g_autofree uint16_t *hops = hosts->len ? distances(fabric, leaf) : NULL;

	for (uint32_t sw = 0; hops && sw < fabric->n_switches; sw++) {
		if (sw == leaf || (walk->only != FABRIC_NONE && walk->only != sw) ||
		    hops[sw] == UINT16_MAX)
			continue;
		for (unsigned int num = 0; num < PORTS; num++)
			balance->used[num] = num <= num_ports(fabric, sw) &&
					     is_link(fabric, sw, num) &&
					     hops[peer_switch(fabric, sw, num)] < hops[sw];
		for (guint i = 0; i < hosts->len; i++)
			balance_host(walk, sw, &fabric->ports[g_array_index(hosts, uint32_t, i)]);
	}
}

GVariant *command_lidbalance(struct command_call *call, GError **error)
{
	struct lid_walk walk = {
		.balance = {.fabric = call->fabric, .routing = call->subnet->routing},
		.only = FABRIC_NONE,
	};
	GVariantBuilder builder;

	if (call->n > 1)
		return command_usage(error, "too many arguments");
	if (call->n &&
	    (!one_switch(call->fabric, call->words[0], &walk.only) || walk.only == FABRIC_NONE))
		return command_failed(error, "switchguid not found");
	answer_begin(&builder);
	answer_begin_list(&walk.rows);
	for (uint32_t sw = 0; sw < call->fabric->n_switches; sw++)
		balance_leaf(&walk, sw);
	answer_number(&builder, "unbalanced", walk.n_rows);
	answer_member(&builder, "hosts", &walk.rows);
	return g_variant_builder_end(&builder);
}

static void print_host(GVariant *row, GString *out)
{
	g_string_append_printf(out, "Unbalanced LIDs: %s (%s) at switch %s (%s)\n",
			       answer_get_text(row, "guid"), answer_get_text(row, "node"),
			       answer_get_text(row, "switch_guid"), answer_get_text(row, "switch"));
	answer_each(row, "ports", print_paths, out);
}

void print_lidbalance(GVariant *answer, GString *out)
{
	uint64_t n = answer_get_number(answer, "unbalanced");

	answer_each(answer, "hosts", print_host, out);
	if (n > MAX_ROWS)
		g_string_append_printf(out, "... and %" PRIu64 " more\n", n - MAX_ROWS);
}
