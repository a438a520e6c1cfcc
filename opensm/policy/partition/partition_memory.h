// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The last accepted partition policy, in a file of the cache directory, and which policy a start
 * uses: losing or damaging partitions.conf must neither open the subnet nor leave it without an SM.
 *
 *	partitions.conf		remembered		the start uses
 *	has definitions		anything		partitions.conf
 *	bad, missing, empty	definitions		those, and logs it
 *	missing or empty	no definitions, or	every port in one partition, unless a
 *				not there		file was named
 *	bad			no definitions, or	nothing: the start fails
 *				not there
 *	missing or empty	unusable		nothing: the start fails
 *
 * /dev/null as the name of the file, or no name, means that there are no partitions.
 */
#ifndef POLICY_PARTITION_PARTITION_MEMORY_H
#define POLICY_PARTITION_PARTITION_MEMORY_H

#include "policy/partition/partition_file.h"

#define PARTITION_MEMORY_FILE "partitions.last"

/* Its path, freed with g_free(); NULL if cache_dir is NULL. */
char *partition_memory_file(const char *cache_dir);
/* The contents of that file for these rules; freed with g_free(). */
char *partition_memory_text(const struct partition_rules *rules);

/*
 * The rules for a start. named: the operator has named the file, so it must exist and have
 * definitions. *instead: if the remembered rules are used, the reason why, freed with g_free();
 * otherwise NULL. NULL and an error: there are no rules to use.
 */
struct partition_rules *partition_rules_start(const char *file, bool named, const char *cache_dir,
					      char **instead, GError **error);

#endif
