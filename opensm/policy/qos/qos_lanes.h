// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Conflicts between the lanes that a routing engine needs and what QoS sets for the same SLs. Pure.
 */
#ifndef POLICY_QOS_QOS_LANES_H
#define POLICY_QOS_QOS_LANES_H

#include "policy/qos/qos_setup.h"
#include "route/engine.h"

/*
 * Bits of the SLs that the routing needs on the lanes vl for packets that enter a switch by one
 * port and leave by another; on other nodes from equals to. That port has vls lanes, which counts
 * if it does not lead to a switch. 0: none. routing may be NULL.
 */
uint16_t qos_lanes(const struct fabric *fabric, const struct routing *routing, uint32_t from,
		   uint32_t to, unsigned int vls, uint8_t vl[QOS_SLS]);

/*
 * Texts, one for each sl2vl-scope, or key of opensm.conf, that gives such SLs other lanes and is
 * therefore not followed there; a value equal to the built-in one conflicts with nothing.
 */
GPtrArray *qos_lanes_conflicts(const struct qos_place *place, const struct routing *routing);

#endif
