// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "published.h"

#include <string.h>

#include "core/events.h"
#include "sm/health/unhealthy.h"
#include "subnet/subnet.h"
#include "subnet/trees.h"

static void add(GByteArray *out, uint64_t number)
{
	uint64_t octets = GUINT64_TO_BE(number);

	g_byte_array_append(out, (const guint8 *)&octets, sizeof(octets));
}

static void add_text(GByteArray *out, const char *text)
{
	if (text)
		g_byte_array_append(out, (const guint8 *)text, (guint)strlen(text));
	add(out, text != NULL);
}

static void add_lines(GByteArray *out, char *const *lines)
{
	for (; lines && *lines; lines++)
		add_text(out, *lines);
	add(out, 0);
}

static void add_wire(GByteArray *out, const struct wire_type *type, const void *value)
{
	uint8_t octets[IBA_MAD_BYTES] = {0};

	wire_encode(type, value, octets);
	g_byte_array_append(out, octets, sizeof(octets));
}

static void add_node(GByteArray *out, const struct fabric *fabric, uint32_t index)
{
	const struct fabric_node *node = &fabric->nodes[index];

	add(out, node->guid);
	add(out, node->sw);
	add_text(out, node->description);
	add_wire(out, &iba_node_info_type, &node->info);
	if (node->sw == FABRIC_NONE)
		return;
	add(out, fabric->switches[node->sw].hops);
	add_wire(out, &iba_switch_info_type, &fabric->switches[node->sw].info);
}

static void add_port(GByteArray *out, const struct fabric_port *port)
{
	add(out, port->guid);
	add(out, port->node);
	add(out, port->peer);
	add(out, port->num);
	add(out, port->known);
	add(out, port->lid);
	add(out, port->lmc);
	add(out, port->rate);
	add(out, port->mtu);
	add_wire(out, &iba_port_info_type, &port->info);
}

static void add_fabric(GByteArray *out, const struct fabric *fabric)
{
	add(out, fabric->sm_port);
	add(out, fabric->max_lid);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		add_node(out, fabric, i);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		add_port(out, &fabric->ports[i]);
}

static void add_routing(GByteArray *out, const struct routing *routing)
{
	add_text(out, routing->engine->name);
	add_text(out, routing->note);
	add(out, routing->top);
	for (uint32_t sw = 0; sw < routing->n_switches; sw++)
		for (uint16_t lid = 0; lid <= routing->top; lid++)
			add(out, routing_port(routing, sw, lid));
}

GByteArray *published_subnet(struct context *context)
{
	struct subnet *subnet = slot_take(&context->subnet);
	GByteArray *out = g_byte_array_new();

	if (!subnet)
		return out;
	add_fabric(out, subnet->fabric);
	if (subnet->routing)
		add_routing(out, subnet->routing);
	add(out, subnet->sm_guid);
	add(out, subnet->sm_lid);
	for (guint i = 0; subnet->sm_p_keys && i < subnet->sm_p_keys->len; i++)
		add(out, g_array_index(subnet->sm_p_keys, uint16_t, i));
	add(out, subnet->errors);
	add_text(out, subnet->credit_loop);
	add(out, subnet->only_switches);
	add_text(out, subnet->fallback);
	add_lines(out, subnet->unknown_keys);
	add_lines(out, subnet->small_tables);
	add_text(out, subnet->held);
	subnet_unref(subnet);
	return out;
}

static void add_tree(GByteArray *out, const struct route_tree *tree)
{
	add(out, tree->root);
	for (uint32_t i = 0; i < tree->n; i++) {
		add(out, tree->switches[i]);
		for (unsigned int word = 0; word < G_N_ELEMENTS(tree->ports[i].bits); word++)
			add(out, tree->ports[i].bits[word]);
	}
}

GByteArray *published_trees(struct context *context)
{
	struct mc_trees *trees = slot_take(&context->trees);
	GByteArray *out = g_byte_array_new();

	for (uint32_t i = 0; trees && i < MC_N_MLIDS; i++) {
		if (!trees->trees[i])
			continue;
		add(out, i);
		add_tree(out, trees->trees[i]);
	}
	mc_trees_unref(trees);
	return out;
}

GByteArray *published_unhealthy(struct context *context)
{
	struct unhealthy_ports *ports = slot_take(&context->unhealthy_ports);
	GByteArray *out = g_byte_array_new();

	for (unsigned int i = 0; ports && i < ports->n; i++) {
		const struct unhealthy_port *port = &ports->ports[i];

		add(out, port->guid);
		add(out, port->num);
		add(out, port->type);
		add(out, port->condition);
		add(out, port->action);
		add(out, port->cut_off);
		add(out, port->again);
		add(out, port->blamed);
		add_text(out, port->name);
		add(out, port->id);
		add(out, port->until_ns);
	}
	unhealthy_ports_unref(ports);
	return out;
}

GByteArray *published_state(struct context *context)
{
	GByteArray *out = g_byte_array_new();

	add(out, atomic_load(&context->sweep));
	add(out, atomic_load(&context->unkept));
	return out;
}

/* ---- summaries ---- */

static unsigned int n_silent(const struct fabric *fabric)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		n += fabric->nodes[i].silent;
	return n;
}

static void add_flag(GString *out, bool is, const char *name)
{
	if (is)
		g_string_append_printf(out, ", %s", name);
}

static void add_count(GString *out, const char *name, unsigned int n)
{
	if (n)
		g_string_append_printf(out, ", %s %u", name, n);
}

static unsigned int n_lines(char **lines)
{
	return lines ? g_strv_length(lines) : 0;
}

char *published_subnet_summary(struct context *context)
{
	struct subnet *subnet = slot_take(&context->subnet);
	GString *out = g_string_new(NULL);
	const struct fabric *fabric;

	if (!subnet)
		return g_string_free(g_string_append(out, "none"), FALSE);
	fabric = subnet->fabric;
	g_string_append_printf(out, "%u switches, %u other nodes, %u links, LIDs to %u",
			       fabric->n_switches, fabric->n_nodes - fabric->n_switches,
			       fabric->n_links, fabric->max_lid);
	if (subnet->routing)
		add_flag(out, true, subnet->routing->engine->name);
	add_count(out, "silent nodes", n_silent(fabric));
	add_count(out, "refused blocks", fabric->n_refusals);
	add_count(out, "unknown M_Keys", n_lines(subnet->unknown_keys));
	add_count(out, "small tables", n_lines(subnet->small_tables));
	add_flag(out, subnet->errors, "errors");
	add_flag(out, subnet->credit_loop, "a credit loop");
	add_flag(out, subnet->fallback, "a fallback");
	add_flag(out, subnet->held, "files held");
	subnet_unref(subnet);
	return g_string_free(out, FALSE);
}

char *published_trees_summary(struct context *context)
{
	struct mc_trees *trees = slot_take(&context->trees);
	unsigned int n = 0, n_ports = 0;

	for (uint32_t i = 0; trees && i < MC_N_MLIDS; i++) {
		const struct route_tree *tree = trees->trees[i];

		n += tree != NULL;
		for (uint32_t sw = 0; tree && sw < tree->n; sw++)
			for (unsigned int word = 0; word < G_N_ELEMENTS(tree->ports[sw].bits);
			     word++)
				n_ports += (unsigned int)__builtin_popcountll(
					tree->ports[sw].bits[word]);
	}
	mc_trees_unref(trees);
	return g_strdup_printf("%u, with %u ports", n, n_ports);
}

char *published_unhealthy_summary(struct context *context)
{
	struct unhealthy_ports *ports = slot_take(&context->unhealthy_ports);
	GString *out = g_string_new(NULL);

	for (unsigned int i = 0; ports && i < ports->n; i++) {
		const struct unhealthy_port *port = &ports->ports[i];

		g_string_append_printf(
			out, "%s%s %s %s", i ? ", " : "", *port->name ? port->name : "?",
			port_condition_word(port->condition),
			port->action == PORT_ENABLE ? "released" : port_action_word(port->action));
	}
	if (!out->len)
		g_string_append(out, "none");
	unhealthy_ports_unref(ports);
	return g_string_free(out, FALSE);
}

char *published_state_summary(struct context *context)
{
	static const struct {
		enum sweep_flag flag;
		const char *name;
	} names[] = {
		{SWEEP_FLAG_INHIBITED, "inhibited"},
		{SWEEP_FLAG_RUNNING, "sweeping"},
		{SWEEP_FLAG_HOP0, "at its own port"},
		{SWEEP_FLAG_ERRORS, "errors"},
		{SWEEP_FLAG_UP_BEFORE, "up before"},
		{SWEEP_FLAG_TAKING_OVER, "taking over"},
		{SWEEP_FLAG_PORT_LOST, "device gone"},
		{SWEEP_FLAG_PORT_DOWN, "port down"},
		{SWEEP_FLAG_UNTOLD, "errors not published"},
	};
	unsigned int flags = atomic_load(&context->sweep);
	GString *out = g_string_new(NULL);

	for (unsigned int i = 0; i < G_N_ELEMENTS(names); i++) {
		add_flag(out, flags & names[i].flag, names[i].name);
		flags &= ~(unsigned int)names[i].flag;
	}
	if (flags)
		g_string_append_printf(out, ", 0x%x", flags);
	add_flag(out, atomic_load(&context->unkept), "files not saved");
	g_string_erase(out, 0, out->len ? 2 : 0);
	return g_string_free(out, FALSE);
}
