// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Cores in the SA: each registers a ServiceRecord, by which nodes whose configuration names no core
 * find it. The record has the ServiceName "opensm-ssa" and, in its data, the address of the core's
 * server as text, "HOST:PORT", padded with NUL.
 *
 * Any port of the subnet may register such a record. So what is found is only an address: the
 * scheme, the user and the CA of its server are those of the configuration, and epochs count only
 * with their signature.
 */
#ifndef SSA_NODE_CORES_H
#define SSA_NODE_CORES_H

#include <stdbool.h>

#include "ssa/node/sa.h"

#define SSA_CORES_MAX 16u
#define SSA_CORE_ADDRESS 64 /* octets of data in a ServiceRecord */

/* "HOST:PORT", of a length that a record can hold. */
bool ssa_core_is_address(const char *text);

/* Addresses (char *), each once, in one order on all nodes. NULL and error. */
GPtrArray *ssa_cores_find(GError **error);
/* Of an answer to GetTable: what is not such a record is left out. */
GPtrArray *ssa_cores_parse(const struct ssa_sa_answer *answer);

/*
 * A thread that registers a core, renews that long before the lease ends, and withdraws it at the
 * end. Failures are logged once.
 */
struct ssa_announcer;
struct ssa_announcer *ssa_announcer_start(const char *address);
void ssa_announcer_stop(struct ssa_announcer *announcer); /* NULL is fine */

#endif
