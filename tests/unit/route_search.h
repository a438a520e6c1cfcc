// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How evenly tables load the cables, beside what a plain local search finds with the same hops. It
 * shares no code with the engines: next switches, legal steps and loads are all read from the
 * tables and the ports of the fabric. Slow.
 *
 * All hosts send to all. The load of a cable in one direction is the number of (sender, LID) pairs
 * on it, as a multiple of what a cable of the greatest rate would count: at half the rate twice as
 * much.
 */
#ifndef TESTS_UNIT_ROUTE_SEARCH_H
#define TESTS_UNIT_ROUTE_SEARCH_H

#include "route/engine.h"

struct search {
	const struct fabric *fabric;
	uint32_t n, n_lids, n_channels;
	uint16_t *lids;	   /* [number]: of hosts */
	uint32_t *leaf;	   /* [number] */
	uint32_t *hosts;   /* [switch]: LIDs */
	uint32_t *first;   /* [switch]: its first channel; n + 1 elements */
	uint32_t *to;	   /* [channel] */
	uint8_t *port;	   /* [channel] */
	bool *rises;	   /* [channel]: up, by the order of the routing; NULL: no order */
	double *weight;	   /* [channel]: 1 / its rate, relative to the greatest */
	uint8_t *step;	   /* [number * n + switch]: channel from the first one on, or NO_STEP */
	uint8_t *hops;	   /* [number * n + switch]: to the leaf; SEARCH_FAR: does not lead there */
	uint64_t *load;	   /* [channel] */
	uint64_t state;	   /* of random numbers */
};

#define SEARCH_NO_STEP 0xFF
#define SEARCH_FAR 0xFF

/* Reads tables, which need not be complete, and their loads. */
void search_init(struct search *search, const struct fabric *fabric, const struct routing *routing);
void search_clear(struct search *search);

/* The load of the busiest cable. */
double search_busiest(const struct search *search);
/* Rounds of changes of steps, but never of hops; returns the least load that was seen. */
double search_run(struct search *search, unsigned int n_rounds);

/* search_init() and search_run(): the busiest load of a routing over what the search finds. */
double search_ratio(const struct fabric *fabric, const struct routing *routing,
		    unsigned int n_rounds);

#endif
