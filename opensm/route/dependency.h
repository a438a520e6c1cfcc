// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The channel dependency graph of one virtual lane. A channel is an exit port of a switch towards
 * another switch; it depends on those that its packets ask for next. Packets cannot block each
 * other for ever if the graph has no cycle.
 */
#ifndef ROUTE_DEPENDENCY_H
#define ROUTE_DEPENDENCY_H

#include <glib.h>

#include "fabric/fabric.h"

struct dependency;

struct dependency_channel {
	uint32_t sw;
	uint8_t port;
};

/*
 * Port p of switch s is channel first[s] + p, first has n_switches + 1 elements; across says which
 * switch it leads to, or FABRIC_NONE. Both must live as long.
 */
struct dependency *dependency_new(uint32_t n_switches, const uint32_t *first,
				  const uint32_t *across);
void dependency_free(struct dependency *dependency);

/* Adds what is in another one of the same channels. */
void dependency_add_all(struct dependency *dependency, const struct dependency *other);

/*
 * Packets that leave sw by port leave the next switch by each out with wanted[out] != 0, or by one.
 * Threads may do so at once for different switches.
 */
void dependency_add_wanted(struct dependency *dependency, uint32_t sw, uint8_t port,
			   const uint8_t wanted[256]);
void dependency_add(struct dependency *dependency, uint32_t sw, uint8_t port, uint8_t out);

/* The channels of a cycle in order, each once (free the array); NULL if there is none. */
GArray *dependency_cycle(const struct dependency *dependency);

/*
 * The same of any graph of such channels on several lanes. Its nodes are channel * lanes + lane;
 * next tells one of those that follow a node, from *bit on, and moves that (0 at first) behind it.
 */
#define DEPENDENCY_NONE UINT32_MAX /* no more follow */
typedef uint32_t dependency_next_fn(const void *graph, uint32_t node, uint32_t *bit);
GArray *dependency_search(uint32_t n_switches, const uint32_t *first, uint32_t lanes,
			  const void *graph, dependency_next_fn *next);

#endif
