// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The model of a topology, and writing it to a file.
 *
 * A topology is plain data without a thread of its own: topology_file.c parses it,
 * topology_generate.c computes it, sim_new() copies what it needs. Every cable is recorded at both
 * of its ends, by node index and port number.
 */
#include <complib/file.h>
#include <inttypes.h>
#include <string.h>

#include "libvendor/sim/topology.h"

const char *const topology_speed_names[TOPOLOGY_SPEEDS] = {
	[TOPOLOGY_SDR] = "SDR",	    [TOPOLOGY_DDR] = "DDR", [TOPOLOGY_QDR] = "QDR",
	[TOPOLOGY_FDR10] = "FDR10", [TOPOLOGY_FDR] = "FDR", [TOPOLOGY_EDR] = "EDR",
	[TOPOLOGY_HDR] = "HDR",	    [TOPOLOGY_NDR] = "NDR", [TOPOLOGY_XDR] = "XDR",
};

static void node_clear(void *data)
{
	struct topology_node *node = data;

	g_free(node->id);
	g_free(node->description);
}

struct topology *topology_new(void)
{
	struct topology *topology = g_new0(struct topology, 1);

	topology->nodes = g_array_new(FALSE, TRUE, sizeof(struct topology_node));
	g_array_set_clear_func(topology->nodes, node_clear);
	topology->ports = g_array_new(FALSE, TRUE, sizeof(struct topology_port));
	return topology;
}

void topology_free(struct topology *topology)
{
	if (!topology)
		return;
	g_array_free(topology->nodes, TRUE);
	g_array_free(topology->ports, TRUE);
	g_free(topology);
}

unsigned int topology_hosts(const struct topology *topology)
{
	return topology->hosts;
}

unsigned int topology_switches(const struct topology *topology)
{
	return topology->switches;
}

unsigned int topology_add(struct topology *topology, uint8_t type, unsigned int num_ports,
			  const char *id, const char *description, uint64_t node_guid)
{
	struct topology_node node = {
		.type = type,
		.num_ports = num_ports,
		.node_guid = node_guid,
		.system_image_guid = node_guid,
		.first = topology->ports->len,
		.id = g_strdup(id),
		.description = g_strndup(description, 64),
	};
	struct topology_port port = {.peer = -1, .lanes = 4, .speed = TOPOLOGY_EDR};

	g_assert(num_ports >= 1 && num_ports <= TOPOLOGY_PORTS_MAX);
	for (unsigned int i = 0; i <= num_ports; i++)
		g_array_append_val(topology->ports, port);
	g_array_append_val(topology->nodes, node);
	if (type == IBA_NODE_SWITCH)
		topology->switches++;
	else if (type == IBA_NODE_CA)
		topology->hosts++;
	return topology->nodes->len - 1;
}

void topology_default_port_guids(struct topology *topology, unsigned int index)
{
	const struct topology_node *node = topology_node(topology, index);
	unsigned int last = node->type == IBA_NODE_SWITCH ? 0 : node->num_ports;

	/* Port 0 of a switch has the GUID of the switch. */
	for (unsigned int i = last ? 1 : 0; i <= last; i++) {
		struct topology_port *port = topology_port(topology, index, i);

		if (!port->guid)
			port->guid = node->node_guid + i;
	}
}

void topology_connect(struct topology *topology, unsigned int node_a, unsigned int port_a,
		      unsigned int node_b, unsigned int port_b)
{
	struct topology_port *a = topology_port(topology, node_a, port_a);
	struct topology_port *b = topology_port(topology, node_b, port_b);

	g_assert(a != b && a->peer < 0 && b->peer < 0);
	a->peer = node_b;
	a->peer_port = port_b;
	b->peer = node_a;
	b->peer_port = port_a;
	b->lanes = a->lanes;
	b->speed = a->speed;
}

struct topology *topology_load(const char *spec_or_file, GError **error)
{
	g_autoptr(GError) why = NULL;
	struct topology *topology = topology_generate(spec_or_file, &why);

	if (topology)
		return topology;
	if (why) {
		g_propagate_error(error, g_steal_pointer(&why));
		return NULL;
	}
	return topology_read(spec_or_file, error);
}

static char type_letter(uint8_t type)
{
	return type == IBA_NODE_SWITCH ? 'S' : type == IBA_NODE_CA ? 'H' : 'R';
}

static void write_id(GString *out, const struct topology_node *node)
{
	g_string_append_printf(out, "\"%c-%016" PRIx64 "\"", type_letter(node->type),
			       node->node_guid);
}

/* Descriptions come from files: keep quotes and lines of the output intact. */
static void write_description(GString *out, const char *description)
{
	g_string_append_c(out, '"');
	for (const char *c = description; *c; c++)
		g_string_append_c(out, *c == '"' || (unsigned char)*c < 0x20 ? '_' : *c);
	g_string_append_c(out, '"');
}

static void write_port(GString *out, const struct topology *topology, unsigned int index,
		       unsigned int number)
{
	const struct topology_node *node = topology_node(topology, index);
	const struct topology_port *port = topology_port(topology, index, number);
	const struct topology_node *peer = topology_node(topology, port->peer);
	const struct topology_port *far = topology_port(topology, port->peer, port->peer_port);

	g_string_append_printf(out, "[%u]", number);
	if (node->type != IBA_NODE_SWITCH)
		g_string_append_printf(out, "(%" PRIx64 ") ", port->guid);
	g_string_append_c(out, '\t');
	write_id(out, peer);
	g_string_append_printf(out, "[%u]", port->peer_port);
	if (peer->type != IBA_NODE_SWITCH)
		g_string_append_printf(out, "(%" PRIx64 ") ", far->guid);
	g_string_append(out, "\t\t# ");
	if (node->type != IBA_NODE_SWITCH)
		g_string_append(out, "lid 0 lmc 0 ");
	write_description(out, peer->description);
	g_string_append_printf(out, " lid 0 %ux%s\n", port->lanes,
			       topology_speed_names[port->speed]);
}

static void write_header(GString *out, const struct topology *topology, unsigned int index)
{
	const struct topology_node *node = topology_node(topology, index);
	bool is_switch = node->type == IBA_NODE_SWITCH;

	g_string_append_printf(out, "\nvendid=0x%x\ndevid=0x%x\nsysimgguid=0x%" PRIx64 "\n",
			       node->vendor_id, node->device_id, node->system_image_guid);
	g_string_append_printf(out, "%sguid=0x%" PRIx64,
			       is_switch		   ? "switch"
			       : node->type == IBA_NODE_CA ? "ca"
							   : "rt",
			       node->node_guid);
	if (is_switch)
		g_string_append_printf(out, "(%" PRIx64 ")",
				       topology_port(topology, index, 0)->guid);
	g_string_append_printf(out, "\n%s\t%u ",
			       is_switch		   ? "Switch"
			       : node->type == IBA_NODE_CA ? "Ca"
							   : "Rt",
			       node->num_ports);
	write_id(out, node);
	g_string_append(out, "\t\t# ");
	write_description(out, node->description);
	g_string_append(out, is_switch ? " base port 0 lid 0 lmc 0\n" : "\n");
}

bool topology_write(const struct topology *topology, const char *file, GError **error)
{
	g_autoptr(GString) out = g_string_new("# Topology file\n");

	for (unsigned int i = 0; i < topology->nodes->len; i++) {
		write_header(out, topology, i);
		for (unsigned int p = 1; p <= topology_node(topology, i)->num_ports; p++)
			if (topology_port(topology, i, p)->peer >= 0)
				write_port(out, topology, i, p);
	}
	return file_write(file, out->str, 0666, error);
}
