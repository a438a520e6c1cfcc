// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The graph that engines compute on: switches by their index in the fabric, neighbours in
 * compressed rows with parallel cables as one edge, and the LIDs to route grouped by leaf switch.
 */
#ifndef ROUTE_GRAPH_GRAPH_H
#define ROUTE_GRAPH_GRAPH_H

#include "fabric/fabric.h"

#define ROUTE_NO_RANK UINT32_MAX

struct route_edge {
	uint32_t to;
	uint32_t first_link; /* in links */
	uint16_t n_links;
};

/* One LID of a channel adapter or router. */
struct route_target {
	uint32_t leaf;
	uint16_t lid;
	uint8_t exit;	/* port of the leaf */
	uint8_t offset; /* from the base LID: the base's entry is this many before */
};

struct route_watch;
struct route_graph {
	unsigned int threads;	   /* that searches and fills may use; 1 by default */
	struct route_watch *watch; /* to which they report; NULL by default */
	uint32_t n;		   /* switches */
	uint32_t *first_edge;	   /* [n + 1] */
	struct route_edge *edges;  /* of a switch by ascending lowest port */
	uint8_t *links;		   /* exit ports, ascending within an edge */
	uint32_t n_links;
	bool parallel;		   /* some edge has more than one link */
	uint32_t *first_target;	   /* [n + 1] */
	struct route_target *targets; /* by leaf, exit, LID */
	uint32_t *system;	   /* [switch]: lowest index with the same system image GUID */
	uint16_t *own_lid;	   /* of switch port 0; 0: none */
	uint8_t *own_lmc;
	uint32_t sm_switch; /* switch of the subnet manager, or FABRIC_NONE */
};

struct route_graph *route_graph_new(const struct fabric *fabric);
/* Without cables at ports in unused[], which has both ends of a cable or none. NULL: with all. */
struct route_graph *route_graph_new_without(const struct fabric *fabric, const bool *unused);
void route_graph_free(struct route_graph *graph);

static inline uint32_t route_n_targets(const struct route_graph *graph)
{
	return graph->first_target[graph->n];
}

/* The most LIDs that a port of a host has. */
uint32_t route_n_indexes(const struct route_graph *graph);

/* Number of LIDs of hosts attached to a switch. */
static inline uint32_t route_n_hosts(const struct route_graph *graph, uint32_t sw)
{
	return graph->first_target[sw + 1] - graph->first_target[sw];
}

/* Whether a switch is a leaf: some channel adapter or router is attached to it. */
static inline bool route_has_hosts(const struct route_graph *graph, uint32_t sw)
{
	return route_n_hosts(graph, sw) != 0;
}

/* The LID of a switch, or of a host attached to it; 0: none. */
static inline uint16_t route_lid_of(const struct route_graph *graph, uint32_t sw)
{
	if (graph->own_lid[sw] || !route_has_hosts(graph, sw))
		return graph->own_lid[sw];
	return graph->targets[graph->first_target[sw]].lid;
}

/* The number of a switch's own LIDs. */
static inline unsigned int route_n_own(const struct route_graph *graph, uint32_t sw)
{
	return graph->own_lid[sw] ? 1u << graph->own_lmc[sw] : 0;
}

/* The switch across the cable of a port of the fabric, or FABRIC_NONE. */
static inline uint32_t route_switch_across(const struct fabric *fabric, uint32_t port)
{
	uint32_t peer = fabric->ports[port].peer;

	return peer == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[fabric->ports[peer].node].sw;
}

/* The switch with this node GUID, or FABRIC_NONE. */
static inline uint32_t route_switch_by_guid(const struct fabric *fabric, uint64_t guid)
{
	uint32_t node = fabric_node_by_guid(fabric, guid);

	return node == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[node].sw;
}

/* The node with this node GUID or port GUID; or FABRIC_NONE. */
static inline uint32_t route_node_named(const struct fabric *fabric, uint64_t guid)
{
	uint32_t node = fabric_node_by_guid(fabric, guid);
	uint32_t port = node == FABRIC_NONE ? fabric_port_by_guid(fabric, guid) : FABRIC_NONE;

	return port == FABRIC_NONE ? node : fabric->ports[port].node;
}

/* The switch that delivers a LID, and its exit port (0 for its own LID); or FABRIC_NONE. */
static inline uint32_t route_leaf_of(const struct fabric *fabric, uint16_t lid, uint8_t *exit)
{
	uint32_t port = fabric_port_by_lid(fabric, lid);

	return port == FABRIC_NONE ? FABRIC_NONE : fabric_leaf(fabric, port, exit);
}

/* Whether packets to any LID may start at a switch: from hosts, or the subnet manager. */
static inline bool route_is_source(const struct route_graph *graph, uint32_t sw)
{
	return route_has_hosts(graph, sw) || sw == graph->sm_switch;
}

/* For each edge of a switch. */
#define route_each_edge(graph, sw, edge) \
	for (const struct route_edge *edge = &(graph)->edges[(graph)->first_edge[sw]]; \
	     edge < &(graph)->edges[(graph)->first_edge[(sw) + 1]]; edge++)

/* The edge that leads to another switch, or FABRIC_NONE. */
static inline uint32_t route_edge_to(const struct route_graph *graph, uint32_t from, uint32_t to)
{
	route_each_edge(graph, from, edge)
		if (edge->to == to)
			return edge - graph->edges;
	return FABRIC_NONE;
}

/* The edge of each exit port of a switch; FABRIC_NONE for ports that lead to no other switch. */
void route_edges_by_port(const struct route_graph *graph, uint32_t sw, uint32_t edges[256]);

/* The least number, from least on, that has no common divisor with n. */
uint32_t route_coprime(uint32_t n, uint32_t least);
/* Such a number, by which consecutive ones of n elements are far apart. */
uint32_t route_stride(uint32_t n);

static inline uint32_t route_degree(const struct route_graph *graph, uint32_t sw)
{
	return graph->first_edge[sw + 1] - graph->first_edge[sw];
}

/* Distance to the nearest of these switches, in edges: rank[switch], or ROUTE_NO_RANK. */
void route_rank(const struct route_graph *graph, const uint32_t *from, uint32_t n, uint32_t *rank);

/* Distance to the nearest switch that has hosts; returns the number of such switches. */
uint32_t route_rank_from_hosts(const struct route_graph *graph, uint32_t *rank);

/*
 * The connected part of each switch, as the least index of its switches. g_free it. Switches in
 * apart (NULL: none) are parts of their own, whatever their cables.
 */
uint32_t *route_parts(const struct route_graph *graph, const bool *apart);

#endif
