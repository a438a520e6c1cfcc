// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Joins of multicast groups that the SA refused recently, for finding out why a host has no IPoIB:
 * immutable and reference counted, in context->refused_joins; each refusal makes a new list.
 */
#ifndef SUBNET_REFUSED_JOINS_H
#define SUBNET_REFUSED_JOINS_H

#include "complib/handoff.h"
#include "iba/iba.h"

#define REFUSED_JOINS_KEPT 64
#define REFUSED_JOIN_WHY 200
#define REFUSED_JOIN_NS (10 * 60 * NS_PER_S) /* kept this long after the last refusal */

struct refused_join {
	uint64_t port_guid; /* of the requester */
	struct iba_gid mgid;
	uint16_t lid, status;
	uint32_t times;
	uint64_t last_ns;
	char why[REFUSED_JOIN_WHY];
};

struct refused_joins {
	struct ref ref;
	uint32_t n;
	/* By last_ns. If there are too many, the port that has most of them loses its oldest. */
	struct refused_join all[REFUSED_JOINS_KEPT];
};

/*
 * Adds a join, or counts it again if that port has asked for that group before; the caller need not
 * set times. before may be NULL.
 */
struct refused_joins *refused_joins_with(const struct refused_joins *before,
					 const struct refused_join *join);
/*
 * Removes a join, as the port has joined that group; NULL: it is not in the list. before may be
 * NULL.
 */
struct refused_joins *refused_joins_without(const struct refused_joins *before, uint64_t port_guid,
					    struct iba_gid mgid);
struct refused_joins *refused_joins_ref(struct refused_joins *joins);
void refused_joins_unref(struct refused_joins *joins); /* NULL is fine */

#endif
