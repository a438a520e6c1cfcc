// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How the targets of a graph count as load, and which links they should use: the demand and the
 * operator's wishes. They change the choice among best paths, never which paths are best.
 */
#ifndef ROUTE_GRAPH_WISHES_H
#define ROUTE_GRAPH_WISHES_H

#include "route/engine.h"
#include "route/graph/graph.h"

/* Of one target. */
struct route_wish {
	uint16_t demand_class; /* of route_demand; 0 without one */
	bool later : 1;	       /* others are spread first, as if this target did not exist */
	bool ahead : 1;	       /* is in the ahead list */
	bool ignored : 1;      /* does not count as load */
};

struct route_wishes {
	const struct route_graph *graph;
	struct route_wish *of; /* [target] */
	uint32_t n_classes;    /* of demand; 0: all hosts send to all */
	uint32_t *senders;    /* [class * n + switch]: LIDs there that send to the class; or NULL */
	uint64_t *tied;	      /* [link]: partitions that it is tied to, see ties.h; NULL: no ties */
	uint64_t *partitions; /* [target]: its partitions; set if there are ties */
	uint32_t *ahead;      /* targets that are spread before all others, in this order */
	uint32_t n_ahead;
	bool from_roots; /* leaves are in the order in which a search from the roots finds them */
	bool shift;	 /* each switch starts at another place when it chooses among equals */
};

/* No wishes: all hosts send to all; clear them. */
void route_wishes_init(struct route_wishes *wishes, const struct route_graph *graph);
void route_wishes_clear(struct route_wishes *wishes);

/* Counts the senders to each class of demand, if the input has one; targets get their class. */
void route_mark_demand(struct route_wishes *wishes, const struct fabric *fabric,
		       const struct route_input *input);

/* How many LIDs of hosts on a switch send to a target. */
static inline uint32_t route_n_senders(const struct route_wishes *wishes, uint32_t sw,
				       uint32_t target)
{
	size_t row = (size_t)wishes->of[target].demand_class * wishes->graph->n;

	return wishes->senders ? wishes->senders[row + sw] : route_n_hosts(wishes->graph, sw);
}

/*
 * Whether hosts of two switches may send each other anything by the demand. Everything may send to
 * the subnet manager and back, whatever the demand.
 */
bool route_sends(const struct route_wishes *wishes, uint32_t a, uint32_t b);

#endif
