// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Tables of the Scalable SA that no daemon has made: of a random subnet of leaves and spines. */
#ifndef TESTS_UNIT_SSA_TABLES_H
#define TESTS_UNIT_SSA_TABLES_H

#include "ssa/table/snapshot.h"

struct ssa_size {
	uint32_t leaves, spines;
	uint32_t hosts; /* a leaf */
	uint8_t lmc;
	uint32_t classes;   /* of ports */
	uint32_t addresses; /* names, and as many of IPv4 and IPv6 */
	bool lanes;	    /* by pairs of switches */
};

#define SSA_TABLES_PREFIX UINT64_C(0xFE80000000000000)

/* GUID of host n (of all hosts, leaf by leaf): they ascend. */
uint64_t ssa_tables_guid(uint32_t n);
/* The first LID of host n. */
uint16_t ssa_tables_lid(const struct ssa_size *size, uint32_t n);

/* Of term 1 and epoch 1. ways: at most 2 % differ from the others, and most of these in all rows.
 */
void ssa_tables_make(struct ssa_made *made, const struct ssa_size *size, uint32_t seed);

/* Replaces the octets of a table, of which nothing else changes. */
void ssa_tables_replace(struct ssa_made *made, enum ssa_table_id id, GBytes *bytes);

#endif
