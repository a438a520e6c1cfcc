// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SLs that hosts were told before those of the present routing. A host uses the SL of its last
 * PathRecord until it asks for another, and nothing tells the SM when it does. So the SLs of all
 * earlier routings count, also for switches that are away: hosts behind one that comes back use the
 * SLs from before.
 */
#ifndef ROUTE_VALUE_TOLD_H
#define ROUTE_VALUE_TOLD_H

#include "route/engine.h"

struct route_told {
	struct ref ref;
	uint32_t n; /* switches: those of a fabric, by index, then absent ones, the latest first */
	uint64_t *guids;  /* [n] */
	uint16_t *sls;	  /* [pair of them]: bits of SLs, without levels of QoS */
	uint64_t n_pairs; /* of a routing: switches of its fabric that have any */
	uint16_t all;	  /* of these pairs, at all levels */
};

/*
 * All SLs that hosts may use when a routing is followed by another, for the switches of a new
 * fabric, and for at most as many that are absent from it. Newly allocated.
 */
struct route_told *route_told_by(const struct routing *old, const struct fabric *fabric);
void route_told_unref(struct route_told *told); /* NULL is fine */

/* SLs, as bits, that hosts may use between two switches of the fabric; told NULL: none. */
static inline uint16_t route_told_sls(const struct route_told *told, uint32_t a, uint32_t b)
{
	size_t most = MAX(a, b);

	return told && a != b ? told->sls[most * (most - 1) / 2 + MIN(a, b)] : 0;
}

/* route_told_sls() of packets at all levels of QoS (struct route_lanes; 0: there is one). */
uint16_t route_told_at_levels(const struct route_told *told, uint32_t a, uint32_t b,
			      uint8_t levels);

/*
 * Sets what hosts were told before a routing that follows an old one (NULL: there is none), of
 * whatever engine. It stays NULL, at no cost, as long as neither needs lanes.
 */
void routing_set_told(struct routing *routing, const struct routing *old);
/* Forgets it, once the operator knows that hosts must ask again. */
void routing_forget_told(struct routing *routing);

/* SLs, as bits, that hosts of its switches may use besides the present ones, at all levels. */
static inline uint16_t routing_told_sls(const struct routing *routing)
{
	return routing->told ? routing->told->all : 0;
}

/* Pairs of switches whose hosts may use another SL than the present one. */
static inline uint64_t routing_count_told(const struct routing *routing)
{
	return routing->told ? routing->told->n_pairs : 0;
}

#endif
