// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Virtual lanes of a routing: which SL two ports use, and which lane packets of an SL take from
 * switch to switch. Engines whose paths need several lanes to be free of credit loops have them.
 */
#ifndef ROUTE_VALUE_LANES_H
#define ROUTE_VALUE_LANES_H

#include "route/engine.h"

#define ROUTE_SLS 16
#define ROUTE_NO_SL 0xFF /* no path between the two closes no credit loop */

/*
 * SLtoVLMappingTables where the lane depends on the ports of arrival and departure: a row has 4
 * bits for each SL, from the lowest.
 */
struct route_turns {
	size_t *first;	 /* [switch]: its first row */
	uint16_t *width; /* [switch]: ports, 0 included */
	uint64_t *rows;	 /* [first + in * width + out] */
};

struct route_lanes {
	uint32_t n_switches;
	uint8_t first, n;      /* lanes of paths: first .. first + n - 1 */
	uint8_t sm_sl;	       /* for traffic to and from the SM, overrides sl */
	uint8_t vl[ROUTE_SLS]; /* [SL]: at each port of a switch that leads to a switch */
	uint8_t *sl; /* [from * n_switches + to], symmetric; NULL: first for all */
	struct route_turns *turns; /* NULL: vl[] is all; else the members below count too */
	uint16_t sls;		   /* bits of the SLs of paths */
	uint16_t sls_unsafe_for_multicast; /* bits of SLs: trees may close loops; see layered.h */
	uint8_t levels;	 /* bits of the SL that are free on a path: levels of QoS */
	bool sm_by_path; /* traffic to the SM has the SL of its path, not sm_sl */
	bool level_ends; /* host links have one lane per level of QoS, VL 0 and 1, whatever vl is */
};

/* Data VLs that every cable between switches has, at most input->vls. */
unsigned int route_data_vls(const struct fabric *fabric, const struct route_input *input);

struct route_turns *route_turns_new(const struct fabric *fabric);
void route_turns_put(struct route_turns *turns, uint32_t sw, uint8_t in, uint8_t out, uint8_t sl,
		     uint8_t vl);

/* The lane on which a packet leaves a switch for another switch. */
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

/* The SL from switch to switch, by index. */
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
 * VLs, as bits, of packets between two switches, either of which may use the SL of the reverse
 * path, and that of the SM if the SM is at one of them; without turns. lanes may be NULL: VL 0.
 */
static inline uint16_t route_lanes_between(const struct route_lanes *lanes, uint32_t from,
					   uint32_t to, uint32_t sm)
{
	uint16_t bits;

	if (!lanes)
		return 1;
	bits = route_lanes_bit(lanes, route_lanes_sl(lanes, from, to)) |
	       route_lanes_bit(lanes, route_lanes_sl(lanes, to, from));
	if (!lanes->sm_by_path && (from == sm || to == sm))
		bits |= route_lanes_bit(lanes, lanes->sm_sl);
	return bits;
}

/* SLs, as bits, of these packets, with or without turns; lanes may be NULL: SL 0. */
uint16_t route_lanes_sls_between(const struct route_lanes *lanes, uint32_t from, uint32_t to,
				 uint32_t sm);
/* VLs, as bits, of all packets between switches; lanes may be NULL: VL 0. */
uint16_t route_lanes_used(const struct route_lanes *lanes);

/*
 * Adapts the SL of a path between two endports to the lanes of a routing, if it has any: false if
 * the path must not be used, because it has none, or not with this SL, which is fixed. routing may
 * be NULL.
 */
bool routing_path_sl(const struct routing *routing, const struct fabric *fabric, uint32_t from,
		     uint32_t to, bool fixed, uint8_t *sl);

/*
 * Bits of the SLs of paths, and of those that hosts were told before (told.h), and the lanes to
 * which these must be mapped at ports between switches; 0: the routing needs no mapping. routing
 * may be NULL.
 */
uint16_t routing_sl_to_vl(const struct routing *routing, uint8_t vl[ROUTE_SLS]);
/* routing_sl_to_vl() for packets from one port of a switch to another (ports of the fabric). */
uint16_t routing_turn_vls(const struct routing *routing, const struct fabric *fabric, uint32_t in,
			  uint32_t out, uint8_t vl[ROUTE_SLS]);
/* routing_sl_to_vl() for packets that leave on a link with this many VLs, not to a switch. */
uint16_t routing_end_vls(const struct routing *routing, unsigned int vls, uint8_t vl[ROUTE_SLS]);
/* Whether the mapping depends on the port at which packets arrive. */
bool routing_has_turns(const struct routing *routing);

/* Whether the SL to the SM is that of the path to it, and not sm_sl. */
bool routing_has_sm_sl(const struct routing *routing);
/* The SL for PortInfo of an endport, with which it reaches the SM; sm_sl is that of the option. */
uint8_t routing_sm_sl(const struct routing *routing, const struct fabric *fabric, uint32_t port,
		      uint8_t sm_sl);

#endif
