// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * qos-policy.conf on a given fabric: which rule is about a pair of ports. Immutable and counted.
 */
#ifndef POLICY_QOS_PATHS_H
#define POLICY_QOS_PATHS_H

#include "fabric/fabric.h"
#include "policy/partition.h"
#include "policy/qos_file.h"

struct qos_paths {
	struct ref ref;
	struct qos_policy *policy;
	uint32_t n_ports;
	uint8_t **members; /* of each group: a bit for each port */
	uint16_t dropped;  /* bits of SLs whose packets some ports drop by their SL2VL tables */
};

/* NULL if QoS is off. */
struct qos_paths *qos_paths_make(struct qos_policy *policy, const struct options *options,
				 const struct fabric *fabric, const struct partitions *partitions);
void qos_paths_unref(struct qos_paths *paths); /* NULL is fine */

/* What a path between two ports is held to; is_in and arg of the query are set here. */
const struct qos_level *qos_paths_level(const struct qos_paths *paths, struct qos_query *query,
					uint32_t from, uint32_t to);

#endif
