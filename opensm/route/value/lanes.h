// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Virtual lanes of a routing: which SL two ports use, and which lane packets of an SL take from
 * switch to switch. Engines whose paths are free of credit loops only on several lanes have one.
 */
#ifndef ROUTE_VALUE_LANES_H
#define ROUTE_VALUE_LANES_H

#include "route/engine.h"

#define ROUTE_SLS 16
#define ROUTE_NO_SL 0xFF /* the two have no path that closes no credit loop */

/*
 * SLtoVLMappingTables where the lane is a matter of the ports by which a packet comes and goes:
 * a row has 4 bits for each SL, from the lowest.
 */
struct route_turns {
	size_t *first;	 /* [switch]: in rows */
	uint16_t *width; /* [switch]: ports, 0 included */
	uint64_t *rows;	 /* [first + in * width + out] */
};

struct route_lanes {
	uint32_t n_switches;
	uint8_t first, n;      /* lanes of paths: first .. first + n - 1 */
	uint8_t sm_sl;	       /* of what goes to the SM and comes from it, whatever sl says */
	uint8_t vl[ROUTE_SLS]; /* [SL]: at each port of a switch that leads to a switch */
	uint8_t *sl; /* [from * n_switches + to], the same both ways; NULL: first for all */
	struct route_turns *turns; /* NULL: vl[] says it all; else what follows counts too */
	uint16_t sls;		   /* bits of the SLs of paths */
	uint16_t bare;	 /* bits of SLs with which multicast may close loops; see layered.h */
	uint8_t levels;	 /* bits of the SL that a path may have set or not: levels of QoS */
	bool sm_by_path; /* what goes to the SM has the SL of its path, whatever sm_sl is */
	bool level_ends; /* links of hosts have a lane a level of QoS, VL 0 and 1, whatever vl is */
};

/* Lanes for data that every cable between switches has, at most input->vls. */
unsigned int route_data_vls(const struct fabric *fabric, const struct route_input *input);

struct route_turns *route_turns_new(const struct fabric *fabric);
void route_turns_put(struct route_turns *turns, uint32_t sw, uint8_t in, uint8_t out, uint8_t sl,
		     uint8_t vl);

/* The lane on which a packet leaves a switch for another one. */
static inline uint8_t route_lanes_vl(const struct route_lanes *lanes, uint32_t sw, uint8_t in,
				     uint8_t out, uint8_t sl)
{
	const struct route_turns *turns = lanes->turns;

	if (!turns)
		return lanes->vl[sl];
	return turns->rows[turns->first[sw] + (size_t)in * turns->width[sw] + out] >> 4 * sl & 0xF;
}

/* No two switches have an SL yet, but each has one for its own hosts. */
struct route_lanes *route_lanes_new(uint32_t n_switches, uint8_t own_sl);
void route_lanes_free(struct route_lanes *lanes); /* NULL is fine */

/* Gives two switches an SL, both ways. */
static inline void route_lanes_put(struct route_lanes *lanes, uint32_t a, uint32_t b, uint8_t sl)
{
	lanes->sl[(size_t)a * lanes->n_switches + b] = sl;
	lanes->sl[(size_t)b * lanes->n_switches + a] = sl;
}

/* The SL from switch to switch, by their index. */
static inline uint8_t route_lanes_sl(const struct route_lanes *lanes, uint32_t from, uint32_t to)
{
	return lanes->sl ? lanes->sl[(size_t)from * lanes->n_switches + to] : lanes->first;
}

/* The VL of an SL as a bit; none for ROUTE_NO_SL. */
static inline uint16_t route_lanes_bit(const struct route_lanes *lanes, uint8_t sl)
{
	return sl < ROUTE_SLS ? 1u << lanes->vl[sl] : 0;
}

/*
 * VLs, as bits, of packets between two switches, each of which may use the SL of the way back, and
 * that of the SM if it is at one of them; without turns. lanes may be NULL: VL 0.
 */
static inline uint16_t route_lanes_between(const struct route_lanes *lanes, uint32_t from,
					   uint32_t to, uint32_t sm)
{
	uint16_t bits;

	if (!lanes)
		return 1;
	bits = route_lanes_bit(lanes, route_lanes_sl(lanes, from, to)) |
	       route_lanes_bit(lanes, route_lanes_sl(lanes, to, from));
	if (from == sm || to == sm)
		bits |= route_lanes_bit(lanes, lanes->sm_sl);
	return bits;
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
/* The same for what comes in by one port of a switch and goes out by another (in the fabric). */
uint16_t routing_turn_vls(const struct routing *routing, const struct fabric *fabric, uint32_t in,
			  uint32_t out, uint8_t vl[ROUTE_SLS]);
/* The same for what goes out to no switch, by a link of so many lanes. */
uint16_t routing_end_vls(const struct routing *routing, unsigned int vls, uint8_t vl[ROUTE_SLS]);
/* Whether that differs by the port by which packets come. */
bool routing_has_turns(const struct routing *routing);

/* Whether the SL to the SM is that of the path to it, and not sm_sl. */
bool routing_has_sm_sl(const struct routing *routing);
/* The SL for PortInfo of an endport to reach the SM with, where the option says sm_sl. */
uint8_t routing_sm_sl(const struct routing *routing, const struct fabric *fabric, uint32_t port,
		      uint8_t sm_sl);

#endif
