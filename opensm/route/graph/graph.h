// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The graph that engines compute on: switches by their index in the fabric, neighbours in
 * compressed rows with parallel cables as one edge, and the LIDs to route grouped by leaf switch.
 */
#ifndef ROUTE_GRAPH_GRAPH_H
#define ROUTE_GRAPH_GRAPH_H

#include "fabric/fabric.h"

#define ROUTE_FAR 0xFF /* hops: there is no path */
#define ROUTE_HOPS_MAX 0xFD
#define ROUTE_UP 0x80 /* hops in an oriented graph: the path begins upwards */
#define ROUTE_UP_HOPS_MAX 0x7D
#define ROUTE_WEIGHT_CLOSED 0xFF /* of an edge: no path leads over it */

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
	bool later : 1;	  /* others are spread first, as if this target did not exist */
	bool ahead : 1;	  /* is in the ahead list of the graph */
	bool ignored : 1; /* does not count as load */
	uint16_t demand_class; /* of route_demand; 0 without one */
};

struct route_graph {
	unsigned int threads;	   /* that searches and fills may use; 1 by default */
	uint32_t n;		   /* switches */
	uint32_t *first_edge;	   /* [n + 1] */
	struct route_edge *edges;  /* of a switch by ascending lowest port */
	uint8_t *links;		   /* exit ports, ascending within an edge */
	uint32_t n_links;
	bool parallel;		   /* some edge has more than one link */
	uint32_t *first_target;	   /* [n + 1] */
	struct route_target *targets; /* by leaf, exit, LID */
	uint32_t n_classes; /* of demand; 0: all hosts send to all */
	uint32_t *senders; /* [class * n + switch]: LIDs there that send to the class; or NULL */
	uint64_t *tied; /* [link]: partitions that it is tied to, see ties.h; NULL: no ties */
	uint64_t *partitions; /* [target]: its partitions; set if there are ties */
	uint32_t *ahead;	   /* targets that are spread before all others, in this order */
	uint32_t n_ahead;
	bool connect_roots; /* route_join_tops() leaves one top, even if hosts do not need it */
	bool from_roots; /* leaves are in the order in which a search from the roots finds them */
	bool shift; /* each switch starts at another place when it chooses among equals */
	uint32_t *system;	   /* [switch]: lowest index with the same system image GUID */
	uint16_t *own_lid;	   /* of switch port 0; 0: none */
	uint8_t *own_lmc;
	uint8_t *weight; /* [edge]: number of hops it counts as, see weights.c; NULL: 1 each */
	bool is_weighed; /* weights.c was applied: some heavier parallel cables are left out */
	char *note; /* about the weights, for the operator; NULL: none */
	bool *up; /* [edge]: leads up, see orient.h; NULL: not oriented, every path is legal */
	char *roots_note; /* what is odd about the roots that the operator named; NULL: nothing */
	uint32_t *order; /* [switch]: its place; up is towards lower places. NULL if not oriented */
	bool *inverted;	 /* [switch]: is part of an inverted root, see single_top.c; or NULL */
	uint32_t *base;	 /* order before route_join_tops() changed it; NULL: unchanged */
	/*
	 * joined[switch]: it got extra neighbours above it, which send nothing down to it that
	 * leads to a leaf (by leaf[], or a switch with hosts), unless open. NULL: no switch did.
	 */
	bool *joined, *leaf;
	bool open;
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

/* Number of LIDs of hosts attached to a switch. */
static inline uint32_t route_n_hosts(const struct route_graph *graph, uint32_t sw)
{
	return graph->first_target[sw + 1] - graph->first_target[sw];
}

/* How many of these send to a target. */
static inline uint32_t route_n_senders(const struct route_graph *graph, uint32_t sw,
				       const struct route_target *target)
{
	return graph->senders ? graph->senders[(size_t)target->demand_class * graph->n + sw]
			      : route_n_hosts(graph, sw);
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

/* Whether an edge is closed for traffic to leaves. */
static inline bool route_is_closed(const struct route_graph *graph, uint32_t edge)
{
	return graph->joined && !graph->open && graph->joined[graph->edges[edge].to] &&
	       !graph->up[edge];
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

/*
 * Hops from every switch to each of the destination switches: hops[sw * n_dests + i], ROUTE_FAR
 * without a path. If next is not NULL it gets the lowest exit port towards each destination on one
 * of the shortest paths, rotating among neighbours (0xFF where there is none). False if some path
 * is longer than ROUTE_HOPS_MAX.
 *
 * In an oriented graph paths are legal ones only: up, then down. A switch that can reach the
 * destination by going down alone does so, even if another way is shorter, since packets that came
 * down to it must not go up again; the others have ROUTE_UP set in their hops, of which the rest is
 * the distance, at most ROUTE_UP_HOPS_MAX. Where no legal path exists hops is ROUTE_FAR.
 *
 * In a graph with weights hops are sums of weights, ROUTE_FAR also if the sum is too great, and may
 * differ by direction; next is not set. No graph has both weights and an orientation.
 */
bool route_hops(const struct route_graph *graph, const uint32_t *dests, uint32_t n_dests,
		uint8_t *hops, uint8_t *next);

/* route_hops() with all switches as destinations; g_free the result. NULL if a path is too long. */
uint8_t *route_hops_all(const struct route_graph *graph, uint8_t *next);

/* The number of hops in an element of such a table; ROUTE_FAR is unchanged. */
static inline unsigned int route_distance(const struct route_graph *graph, uint8_t hops)
{
	return graph->up && hops != ROUTE_FAR ? hops & ~ROUTE_UP : hops;
}

/* Whether an edge begins a best path, by the hops to the destination here and at its other end. */
static inline bool route_leads(const struct route_graph *graph, uint32_t edge, uint8_t here,
			       uint8_t there)
{
	if (graph->weight)
		return here != ROUTE_FAR && there + (unsigned int)graph->weight[edge] == here;
	if (!graph->up)
		return there + 1u == here;
	if (graph->up[edge])
		return (there | ROUTE_UP) + 1u == here;
	return there < ROUTE_UP && there + 1u == here;
}

#endif
