// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From the frozen fabric to the graph of switches, their cables and the LIDs behind them; and what
 * can be read from it without an order.
 */
#include "route/graph/graph.h"

#include <glib.h>
#include <string.h>

#include "complib/hash.h"

static unsigned int ports_of(const struct fabric *fabric, uint32_t sw)
{
	return fabric->nodes[fabric->switches[sw].node].num_ports;
}

/* Edges of one switch, in the order of their lowest ports. */
static void add_edges(struct route_graph *graph, const struct fabric *fabric, const bool *unused,
		      uint32_t sw, GArray *edges)
{
	uint32_t to[256], n = ports_of(fabric, sw); /* by port, until it has an edge */

	for (unsigned int num = 1; num <= n; num++) {
		uint32_t port = fabric_switch_port(fabric, sw, num);

		to[num] = unused && unused[port] ? FABRIC_NONE : route_switch_across(fabric, port);
	}
	for (unsigned int num = 1; num <= n; num++) {
		struct route_edge edge = {.to = to[num], .first_link = graph->n_links};

		if (edge.to == FABRIC_NONE || edge.to == sw)
			continue;
		for (unsigned int other = num; other <= n; other++) {
			if (to[other] != edge.to)
				continue;
			to[other] = FABRIC_NONE;
			graph->links[graph->n_links++] = other;
		}
		edge.n_links = graph->n_links - edge.first_link;
		graph->parallel |= edge.n_links > 1;
		g_array_append_val(edges, edge);
	}
}

static void make_edges(struct route_graph *graph, const struct fabric *fabric, const bool *unused)
{
	GArray *edges = g_array_sized_new(FALSE, FALSE, sizeof(struct route_edge), graph->n + 1);

	graph->first_edge = g_new(uint32_t, graph->n + 1);
	graph->links = g_malloc(fabric->n_ports + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		graph->first_edge[sw] = edges->len;
		add_edges(graph, fabric, unused, sw, edges);
	}
	graph->first_edge[graph->n] = edges->len;
	graph->edges = (struct route_edge *)g_array_free(edges, FALSE);
}

/* Number of LIDs that count: the range must not leave the unicast space. */
static unsigned int lids_of(const struct fabric_port *port)
{
	if (!port->lid || port->lid + (1u << port->lmc) > FABRIC_LIDS)
		return 0;
	return 1u << port->lmc;
}

static void add_targets(const struct fabric *fabric, uint32_t sw, GArray *targets)
{
	for (unsigned int num = 1; num <= ports_of(fabric, sw); num++) {
		uint32_t peer = fabric->ports[fabric_switch_port(fabric, sw, num)].peer;
		struct route_target target = { .leaf = sw, .exit = num };
		unsigned int n;

		if (peer == FABRIC_NONE || !fabric_is_endport(fabric, peer) ||
		    fabric_is_switch(fabric, fabric->ports[peer].node))
			continue;
		n = lids_of(&fabric->ports[peer]);
		for (unsigned int i = 0; i < n; i++) {
			target.lid = fabric->ports[peer].lid + i;
			if (fabric_port_by_lid(fabric, target.lid) != peer)
				break;
			target.offset = i;
			g_array_append_val(targets, target);
		}
	}
}

static void make_targets(struct route_graph *graph, const struct fabric *fabric)
{
	GArray *targets = g_array_new(FALSE, FALSE, sizeof(struct route_target));

	graph->first_target = g_new(uint32_t, graph->n + 1);
	graph->own_lid = g_new0(uint16_t, graph->n + 1);
	graph->own_lmc = g_new0(uint8_t, graph->n + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		const struct fabric_port *own = &fabric->ports[fabric_switch_port(fabric, sw, 0)];

		graph->first_target[sw] = targets->len;
		add_targets(fabric, sw, targets);
		if (!lids_of(own) || &fabric->ports[fabric_port_by_lid(fabric, own->lid)] != own)
			continue;
		graph->own_lid[sw] = own->lid;
		graph->own_lmc[sw] = own->lmc;
	}
	graph->first_target[graph->n] = targets->len;
	graph->targets = (struct route_target *)g_array_free(targets, FALSE);
}

/* A switch without a system image GUID is its own system. */
static void find_systems(struct route_graph *graph, const struct fabric *fabric)
{
	g_autoptr(GHashTable) first = g_hash_table_new(hash_uint64, g_int64_equal);

	graph->system = g_new(uint32_t, graph->n + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		const uint64_t *guid =
			&fabric->nodes[fabric->switches[sw].node].info.system_image_guid;
		uint32_t found = GPOINTER_TO_UINT(g_hash_table_lookup(first, guid));

		graph->system[sw] = found ? found - 1 : sw;
		if (*guid && !found)
			g_hash_table_insert(first, (gpointer)guid, GUINT_TO_POINTER(sw + 1));
	}
}

struct route_graph *route_graph_new_without(const struct fabric *fabric, const bool *unused)
{
	struct route_graph *graph = g_new0(struct route_graph, 1);
	uint8_t exit;

	graph->threads = 1;
	graph->n = fabric->n_switches;
	make_edges(graph, fabric, unused);
	make_targets(graph, fabric);
	find_systems(graph, fabric);
	graph->sm_switch = fabric->sm_port == FABRIC_NONE
				   ? FABRIC_NONE
				   : fabric_leaf(fabric, fabric->sm_port, &exit);
	return graph;
}

struct route_graph *route_graph_new(const struct fabric *fabric)
{
	return route_graph_new_without(fabric, NULL);
}

void route_edges_by_port(const struct route_graph *graph, uint32_t sw, uint32_t edges[256])
{
	memset(edges, 0xFF, 256 * sizeof(*edges));
	route_each_edge(graph, sw, edge)
		for (unsigned int k = 0; k < edge->n_links; k++)
			edges[graph->links[edge->first_link + k]] = edge - graph->edges;
}

/* All switches connected to the n in queue[] get the label of the one that finds them, + step. */
static void spread(const struct route_graph *graph, uint32_t *queue, uint32_t n, uint32_t step,
		   const bool *apart, uint32_t *label)
{
	for (uint32_t head = 0; head < n; head++)
		route_each_edge(graph, queue[head], edge) {
			if (label[edge->to] != ROUTE_NO_RANK || (apart && apart[edge->to]))
				continue;
			label[edge->to] = label[queue[head]] + step;
			queue[n++] = edge->to;
		}
}

void route_rank(const struct route_graph *graph, const uint32_t *from, uint32_t n, uint32_t *rank)
{
	g_autofree uint32_t *queue = g_new(uint32_t, graph->n + 1);
	uint32_t tail = 0;

	memset(rank, 0xFF, graph->n * sizeof(*rank));
	for (uint32_t i = 0; i < n; i++) {
		if (rank[from[i]] != ROUTE_NO_RANK)
			continue;
		rank[from[i]] = 0;
		queue[tail++] = from[i];
	}
	spread(graph, queue, tail, 1, NULL, rank);
}

uint32_t route_rank_from_hosts(const struct route_graph *graph, uint32_t *rank)
{
	g_autofree uint32_t *leaves = g_new(uint32_t, graph->n + 1);
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < graph->n; sw++)
		if (route_has_hosts(graph, sw))
			leaves[n++] = sw;
	route_rank(graph, leaves, n, rank);
	return n;
}

uint32_t *route_parts(const struct route_graph *graph, const bool *apart)
{
	g_autofree uint32_t *queue = g_new(uint32_t, graph->n + 1);
	uint32_t *part = g_new(uint32_t, graph->n + 1);

	memset(part, 0xFF, graph->n * sizeof(*part));
	for (uint32_t first = 0; first < graph->n; first++) {
		if (part[first] != ROUTE_NO_RANK)
			continue;
		part[first] = queue[0] = first;
		spread(graph, queue, !(apart && apart[first]), 0, apart, part);
	}
	return part;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	return b ? common_divisor(b, a % b) : a;
}

uint32_t route_coprime(uint32_t n, uint32_t least)
{
	while (n && common_divisor(n, least) != 1)
		least++;
	return least;
}

uint32_t route_stride(uint32_t n)
{
	return route_coprime(n, n * 0.382 + 1); /* the golden section */
}

void route_graph_free(struct route_graph *graph)
{
	if (!graph)
		return;
	g_free(graph->first_edge);
	g_free(graph->edges);
	g_free(graph->links);
	g_free(graph->first_target);
	g_free(graph->targets);
	g_free(graph->system);
	g_free(graph->own_lid);
	g_free(graph->own_lmc);
	g_free(graph);
}

uint32_t route_n_indexes(const struct route_graph *graph)
{
	uint32_t n = 1;

	for (uint32_t t = 0; t < route_n_targets(graph); t++)
		n = MAX(n, graph->targets[t].offset + 1u);
	return n;
}
