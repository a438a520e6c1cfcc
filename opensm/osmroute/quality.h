// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How evenly a table spreads the load. A channel is one direction of a cable between switches; a
 * host is an end port of a channel adapter or router attached to a switch, with its base LID.
 */
#ifndef OSMROUTE_QUALITY_H
#define OSMROUTE_QUALITY_H

#include "route/engine.h"
#include "route/value/lanes.h"

/* How many patterns are tried. */
struct quality_effort {
	uint32_t shifts;    /* at most; spread over all possible ones */
	uint32_t matchings; /* random ones */
	uint64_t seed;	    /* of the matchings */
};

#define QUALITY_EFFORT_DEFAULT { .shifts = 512, .matchings = 50, .seed = 1 }

struct quality {
	uint32_t n_hosts;
	uint32_t n_channels;
	uint64_t pairs;	    /* of hosts, ordered */
	uint64_t routed;    /* pairs with a path */
	double mean_hops;   /* links between switches on the path of a routed pair */
	uint32_t max_hops;
	uint64_t most_load; /* flows on the busiest channel, all hosts sending to all */
	double mean_load;   /* mean flows on a channel, including idle ones */
	uint64_t lane_load[ROUTE_SLS]; /* most_load of each virtual lane by itself */
	double load_ratio;  /* most_load / mean_load; 0 without load */
	uint32_t shifts;    /* tried */
	uint64_t worst_shift; /* flows on the busiest channel, every host i sending to i + s */
	uint32_t worst_s;     /* the first s with that */
	uint32_t matchings;   /* tried */
	double bisection; /* mean over flows of random matchings, both ways, of 1 / flows on the
			     busiest channel of its path; 0 for a flow without a path */
};

/* pairs and loads are those of hosts that send to each other by demand; NULL: of all hosts. */
void quality_measure(const struct fabric *fabric, const struct routing *routing,
		     const struct route_demand *demand, const struct quality_effort *effort,
		     struct quality *quality);

/*
 * Flows that leave each port of a switch towards another, all hosts sending to all: [port of the
 * fabric]; g_free it.
 */
uint64_t *quality_load(const struct fabric *fabric, const struct routing *routing);

#endif
