// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Cables that partitions are tied to (struct route_ties): of the best paths to an endport, those
 * are taken that pass the fewest cables of others, and then the most of its own. No path is longer
 * for it, or goes another way up and down.
 */
#ifndef ROUTE_FILL_TIES_H
#define ROUTE_FILL_TIES_H

#include "route/engine.h"
#include "route/graph/graph.h"

#define ROUTE_TOLL_OTHERS 256 /* over that of the longest path without */

/* Marks links and targets of the graph, if the input has ties and any of them is in the fabric. */
void route_mark_ties(struct route_graph *graph, const struct fabric *fabric,
		     const struct route_input *input);

/* What a link of a graph with ties costs those who are in these partitions. */
static inline uint32_t route_toll(const struct route_graph *graph, uint32_t link,
				  uint64_t partitions)
{
	uint64_t tied = graph->tied[link];

	return !tied ? 1 : tied & partitions ? 0 : ROUTE_TOLL_OTHERS;
}

/* The same of the edge to another switch, of its dearest link; 1 if there is none any more. */
uint32_t route_toll_to(const struct route_graph *graph, uint32_t sw, uint32_t to,
		       uint64_t partitions);

/* [switch]: the least toll of ways up to the top of a layered network; newly allocated. */
uint32_t *route_tolls_up(const struct route_graph *graph, const uint8_t *rank,
			 unsigned int max_rank, uint64_t partitions);

/*
 * Tables that were filled by ancestors mind what is tied where these are chosen, not on the ways
 * that lead there from elsewhere: entries that begin no path of least toll become others that do.
 */
void route_mend_tolls(struct routing *routing, const struct route_graph *graph,
		      const uint8_t *hops);

/* Notes how many paths of hosts, all of the shortest, pass cables of others, if any do. */
void route_note_ties(struct routing *routing, const struct route_graph *graph,
		     const uint8_t *hops);

#endif
