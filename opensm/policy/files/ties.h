// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file of cables that partitions are tied to (partition_links_file), and what it means for the
 * endports of a fabric, in the form that routing engines read.
 */
#ifndef POLICY_FILES_TIES_H
#define POLICY_FILES_TIES_H

#include "policy/partition/partition.h"
#include "route/engine.h"

#define TIES_PARTITIONS_MAX 63 /* that can be tied: one bit each in struct route_tie */

/* A line of the file. */
struct tie_row {
	uint64_t guid;	/* of a switch */
	uint32_t line;
	uint16_t p_key; /* base */
	uint8_t port;	/* 0: all */
};

/*
 * GArray of struct tie_row; empty if no file is named, NULL and an error with file and line if it
 * is wrong. Adds to warnings what is accepted but questionable (char *).
 */
GArray *ties_load(const char *file, GPtrArray *warnings, GError **error);

/*
 * The rows for a fabric whose endports are in these partitions. NULL if there are no rows. The rows
 * may be freed afterwards.
 */
struct route_ties *ties_make(const GArray *rows, const struct partitions *partitions);
void ties_free(struct route_ties *ties); /* NULL is fine */

#endif
