// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Virtual lanes of a routing: which SL two ports use, and which lane packets of an SL take from
 * switch to switch. Engines whose paths are free of credit loops only on several lanes have one.
 */
#ifndef ROUTE_LANES_H
#define ROUTE_LANES_H

#include "route/engine.h"

#define ROUTE_SLS 16
#define ROUTE_NO_SL 0xFF /* the two have no path that closes no credit loop */

struct route_lanes {
	uint32_t n_switches;
	uint8_t first, n;      /* lanes of paths: first .. first + n - 1 */
	uint8_t sm_sl;	       /* of what goes to the SM and comes from it, whatever sl says */
	uint8_t vl[ROUTE_SLS]; /* [SL]: at each port of a switch that leads to a switch */
	uint8_t *sl; /* [from * n_switches + to], the same both ways; NULL: first for all */
};

/* Lanes for data that every cable between switches has, at most input->vls. */
unsigned int route_data_vls(const struct fabric *fabric, const struct route_input *input);

void route_lanes_free(struct route_lanes *lanes); /* NULL is fine */

/* The SL from switch to switch, by their index. */
static inline uint8_t route_lanes_sl(const struct route_lanes *lanes, uint32_t from, uint32_t to)
{
	return lanes->sl ? lanes->sl[(size_t)from * lanes->n_switches + to] : lanes->first;
}

/*
 * What the lanes of a routing, if it has any, make of the SL of a path between two endports: false
 * if it must not be used, as there is none, or not with the SL, which is fixed. routing may be
 * NULL.
 */
bool routing_path_sl(const struct routing *routing, const struct fabric *fabric, uint32_t from,
		     uint32_t to, bool fixed, uint8_t *sl);

/*
 * Bits of the SLs that paths have, and the lanes that these must be mapped to at ports between
 * switches; 0: the routing demands nothing. routing may be NULL.
 */
uint16_t routing_sl_to_vl(const struct routing *routing, uint8_t vl[ROUTE_SLS]);

#endif
