// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The fabric and what else an engine may look at, as plain structs of opensm/plugin.h. */
#include <string.h>

#include "iba/codes.h"
#include "plugin/base/route_sections.h"
#include "plugin/engine/exchange.h"
#include "route/graph/graph.h"
#include "route/value/base.h"
#include "route/value/lanes.h"
#include "route/value/throttled.h"

struct encoding {
	const struct fabric *fabric;
	const struct route_input *input;
	struct route_graph *graph;
	GString *names;
	uint32_t *name; /* [switch]: in names */
	uint32_t *
		endport; /* [port of the fabric]: its place among endports; OSM_NONE: it has none */
	uint32_t n_endports, n_ports;
	struct block *block;
};

static const struct fabric_node *node_of(const struct fabric *fabric, uint32_t sw)
{
	return &fabric->nodes[fabric->switches[sw].node];
}

/* Whether it is a port of a channel adapter or router that can be reached. */
static bool is_target(const struct fabric *fabric, uint32_t port)
{
	return fabric_is_endport(fabric, port) && fabric->ports[port].lid &&
	       !fabric_is_switch(fabric, fabric->ports[port].node);
}

static void encoding_init(struct encoding *encoding)
{
	const struct fabric *fabric = encoding->fabric;

	encoding->graph = route_graph_new(fabric);
	encoding->names = g_string_new_len("", 1);
	encoding->name = g_new(uint32_t, fabric->n_switches + 1);
	encoding->endport = g_new(uint32_t, fabric->n_ports + 1);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		g_autofree char *name = fabric_shown_name(fabric, fabric->switches[sw].node);

		encoding->name[sw] = (uint32_t)encoding->names->len;
		g_string_append_len(encoding->names, name, (gssize)strlen(name) + 1);
		encoding->n_ports += node_of(fabric, sw)->num_ports + 1u;
	}
	for (uint32_t port = 0; port < fabric->n_ports; port++)
		encoding->endport[port] =
			is_target(fabric, port) ? encoding->n_endports++ : OSM_NONE;
}

static void encoding_clear(struct encoding *encoding)
{
	route_graph_free(encoding->graph);
	g_string_free(encoding->names, TRUE);
	g_free(encoding->name);
	g_free(encoding->endport);
}

static bool lay_out(struct encoding *encoding, GError **error)
{
	const struct fabric *fabric = encoding->fabric;
	const struct route_graph *graph = encoding->graph;
	const struct route_demand *demand = encoding->input->demand;
	struct block_plan plan = {0};
	uint32_t n = fabric->n_switches;

	block_want(&plan, ROUTE_IN_HEAD, sizeof(struct route_input_head), 1);
	if (demand)
		block_want(&plan, ROUTE_IN_SENDS, 1,
			   (uint64_t)demand->n_classes * demand->n_classes);
	if (encoding->input->old)
		block_want(&plan, ROUTE_IN_OLD, 1, (uint64_t)n * exchange_stride(fabric));
	block_want(&plan, ROUTE_IN_NAMES, 1, encoding->names->len);
	block_want(&plan, ROUTE_IN_LINKS, 1, graph->n_links);
	block_want(&plan, ROUTE_IN_SWITCHES, sizeof(struct osm_route_switch), n);
	block_want(&plan, ROUTE_IN_PORTS, sizeof(struct osm_route_port), encoding->n_ports);
	block_want(&plan, ROUTE_IN_FIRST_EDGE, sizeof(uint32_t), n + 1u);
	block_want(&plan, ROUTE_IN_EDGES, sizeof(struct osm_route_edge), graph->first_edge[n]);
	block_want(&plan, ROUTE_IN_ENDPORTS, sizeof(struct osm_route_endport),
		   encoding->n_endports);
	return block_new(encoding->block, "opensm-route-input", &plan, error);
}

static void *section(const struct encoding *encoding, unsigned int number)
{
	uint64_t n;

	return block_section(encoding->block, number, 1, &n, NULL);
}

static void put_head(const struct encoding *encoding)
{
	const struct fabric *fabric = encoding->fabric;
	const struct route_demand *demand = encoding->input->demand;
	struct route_input_head *head = section(encoding, ROUTE_IN_HEAD);
	uint8_t *sends = section(encoding, ROUTE_IN_SENDS);

	*head = (struct route_input_head){
		.generation = fabric->generation,
		.sm_switch = encoding->graph->sm_switch,
		.top = fabric->max_lid,
		.stride = exchange_stride(fabric),
		.vls = route_data_vls(fabric, encoding->input),
		.n_classes = demand ? demand->n_classes : 1,
	};
	for (size_t i = 0; sends && i < (size_t)demand->n_classes * demand->n_classes; i++)
		sends[i] = demand->sends[i];
	memcpy(section(encoding, ROUTE_IN_NAMES), encoding->names->str, encoding->names->len);
}

static unsigned int vls_of(const struct fabric *fabric, uint32_t port)
{
	return MAX(iba_vls_count(fabric->ports[port].info.vl_cap), 1);
}

static void put_port(const struct encoding *encoding, uint32_t port, struct osm_route_port *at)
{
	const struct fabric *fabric = encoding->fabric;
	uint32_t peer = fabric->ports[port].peer;

	*at = (struct osm_route_port){.sw = OSM_NONE, .endport = OSM_NONE};
	if (peer == FABRIC_NONE)
		return;
	at->sw = fabric->nodes[fabric->ports[peer].node].sw;
	at->endport = encoding->endport[peer];
	at->port = fabric->ports[peer].num;
	at->rate = iba_rate_tenths(fabric->ports[port].rate) * 100;
	at->vls = (uint8_t)MIN(vls_of(fabric, port), vls_of(fabric, peer));
	at->throttled = route_is_throttled(fabric, port);
}

static void put_switches(const struct encoding *encoding)
{
	const struct fabric *fabric = encoding->fabric;
	struct osm_route_switch *switches = section(encoding, ROUTE_IN_SWITCHES);
	struct osm_route_port *ports = section(encoding, ROUTE_IN_PORTS);
	uint32_t first = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		const struct fabric_node *node = node_of(fabric, sw);
		uint32_t cap = fabric_fdb_cap(fabric, sw);

		switches[sw] = (struct osm_route_switch){
			.guid = node->guid,
			.system_guid = node->info.system_image_guid,
			.first_port = first,
			.name = encoding->name[sw],
			.lid = fabric->ports[node->first_port].lid,
			.linear_fdb_cap = cap < FABRIC_LIDS ? (uint16_t)cap : 0,
			.n_ports = node->num_ports,
			.lmc = fabric->ports[node->first_port].lmc,
			.fixed = node->silent,
		};
		for (unsigned int num = 0; num <= node->num_ports; num++)
			put_port(encoding, node->first_port + num, &ports[first++]);
	}
}

static void put_edges(const struct encoding *encoding)
{
	const struct route_graph *graph = encoding->graph;
	struct osm_route_edge *edges = section(encoding, ROUTE_IN_EDGES);

	memcpy(section(encoding, ROUTE_IN_FIRST_EDGE), graph->first_edge,
	       (graph->n + 1) * sizeof(*graph->first_edge));
	if (graph->n_links)
		memcpy(section(encoding, ROUTE_IN_LINKS), graph->links, graph->n_links);
	for (uint32_t i = 0; i < graph->first_edge[graph->n]; i++)
		edges[i] = (struct osm_route_edge){graph->edges[i].to, graph->edges[i].first_link,
						   graph->edges[i].n_links};
}

static void put_endports(const struct encoding *encoding)
{
	const struct fabric *fabric = encoding->fabric;
	const struct route_demand *demand = encoding->input->demand;
	struct osm_route_endport *endports = section(encoding, ROUTE_IN_ENDPORTS);

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct fabric_port *port = &fabric->ports[i];
		const struct fabric_node *node = &fabric->nodes[port->node];
		struct osm_route_endport *at;

		if (encoding->endport[i] == OSM_NONE)
			continue;
		at = &endports[encoding->endport[i]];
		*at = (struct osm_route_endport){
			.guid = port->guid,
			.node_guid = node->guid,
			.demand_class = demand ? demand->class_of[i] : 0,
			.lid = port->lid,
			.lmc = port->lmc,
			.router = node->type == IBA_NODE_ROUTER,
		};
		at->sw = fabric_leaf(fabric, i, &at->exit);
	}
}

/* By node GUID; switches that are new discard. */
static void put_old(const struct encoding *encoding)
{
	const struct routing *old = encoding->input->old;
	uint32_t n = encoding->fabric->n_switches, stride = exchange_stride(encoding->fabric);
	uint8_t *rows = section(encoding, ROUTE_IN_OLD);
	g_autofree uint32_t *was = NULL;

	if (!old)
		return;
	was = route_places(encoding->fabric, old->fabric);
	memset(rows, ROUTE_NO_PORT, (size_t)n * stride);
	for (uint32_t sw = 0; sw < n; sw++)
		if (was[sw] != FABRIC_NONE)
			memcpy(rows + (size_t)sw * stride, old->lft[was[sw]],
			       MIN(stride, old->n_blocks * ROUTE_BLOCK));
}

bool exchange_input(struct block *block, const struct fabric *fabric,
		    const struct route_input *input, GError **error)
{
	struct encoding encoding = {.fabric = fabric, .input = input, .block = block};
	bool good;

	encoding_init(&encoding);
	good = lay_out(&encoding, error);
	if (good) {
		put_head(&encoding);
		put_switches(&encoding);
		put_edges(&encoding);
		put_endports(&encoding);
		put_old(&encoding);
		good = block_freeze(block, error);
	}
	encoding_clear(&encoding);
	return good;
}
