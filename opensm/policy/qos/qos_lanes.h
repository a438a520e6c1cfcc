// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Where the lanes that a routing engine needs meet what QoS says of the same SLs. Pure. */
#ifndef POLICY_QOS_QOS_LANES_H
#define POLICY_QOS_QOS_LANES_H

#include "policy/qos/qos_setup.h"
#include "route/engine.h"

/*
 * Bits of the SLs that the routing needs on the lanes vl for what comes in by one port of a switch
 * and leaves by another; from is to itself on other nodes. That one has vls lanes, which counts
 * where it leads to no switch. 0: none. routing may be NULL.
 */
uint16_t qos_lanes(const struct fabric *fabric, const struct routing *routing, uint32_t from,
		   uint32_t to, unsigned int vls, uint8_t vl[QOS_SLS]);

/*
 * Texts, one for each sl2vl-scope, or key of opensm.conf, that gives such SLs other lanes and is
 * therefore not obeyed there; who says what is built in contradicts nobody.
 */
GPtrArray *qos_lanes_conflicts(const struct qos_place *place, const struct routing *routing);

#endif
