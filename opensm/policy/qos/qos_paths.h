// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The qos keys of opensm.conf and qos-policy.conf on a given fabric: which ports are in which
 * groups, and hence which rule applies to a pair of ports, and which scope to a table. Immutable
 * and reference counted.
 */
#ifndef POLICY_QOS_QOS_PATHS_H
#define POLICY_QOS_QOS_PATHS_H

#include "fabric/fabric.h"
#include "policy/partition/partition.h"
#include "policy/qos/qos_file.h"

struct qos_paths {
	struct ref ref;
	struct qos_policy *policy;
	struct options *options;
	struct partitions *partitions;
	uint64_t shape, names; /* of the fabric; names: a digest of its NodeDescriptions */
	struct qos qos;	       /* tables by role, unless a scope sets others */
	bool has_rows;	       /* a scope sets SL2VL tables */
	uint8_t **members;     /* for each group, one bit per port */
	uint16_t dropped;      /* bits of SLs that some SL2VL tables drop: see policy_drops() */
	GPtrArray *problems;   /* texts: scopes that contradict each other, or apply to no port */
	GPtrArray *unknown;    /* texts: names of ports that this fabric does not have */
};

/* NULL if QoS is off. */
struct qos_paths *qos_paths_make(struct qos_policy *policy, const struct options *options,
				 const struct fabric *fabric, const struct partitions *partitions);
/* For tables that must be set although QoS is off: without keys, scopes and levels. */
struct qos_paths *qos_paths_built_in(const struct options *options, const struct fabric *fabric,
				     const struct partitions *partitions);
/* Whether paths would be the same if made from these. */
bool qos_paths_are_of(const struct qos_paths *paths, const struct qos_policy *policy,
		      const struct options *options, const struct fabric *fabric,
		      const struct partitions *partitions);
/*
 * Whether both mean the same tables for the ports of this fabric, from which one of them was made.
 */
bool qos_paths_same_tables(const struct qos_paths *a, const struct qos_paths *b,
			   const struct fabric *fabric);
struct qos_paths *qos_paths_ref(struct qos_paths *paths);
void qos_paths_unref(struct qos_paths *paths); /* NULL is fine */

/* The level of a path between two ports; sets is_in and arg of the query. */
const struct qos_level *qos_paths_level(const struct qos_paths *paths, struct qos_query *query,
					uint32_t from, uint32_t to);

/* Whether a port, or the switch it belongs to, is in a group. */
bool qos_paths_is_in(const struct qos_paths *paths, const struct fabric *fabric, unsigned int group,
		     uint32_t port);

#endif
