// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The partition policy that was taken last, in a file of the cache directory, and what a start goes
 * by: nobody who loses or damages partitions.conf opens the subnet, or finds it without an SM.
 *
 *	partitions.conf		remembered		the start goes by
 *	has definitions		whatever		partitions.conf
 *	bad, missing, empty	definitions		those, and says so
 *	missing or empty	none, or nothing	every port in one partition, unless a
 *				at all			file was named
 *	bad			none, or nothing	nothing: there is no start
 *	missing or empty	something unusable	nothing: there is no start
 *
 * /dev/null as the name of the file, or no name, says that there are no partitions.
 */
#ifndef POLICY_PARTITION_PARTITION_MEMORY_H
#define POLICY_PARTITION_PARTITION_MEMORY_H

#include "policy/partition/partition_file.h"

#define PARTITION_MEMORY_FILE "partitions.last"

/* Where it is kept, to be freed with g_free(); NULL if cache_dir is. */
char *partition_memory_file(const char *cache_dir);
/* What is to be in that file for these rules; to be freed with g_free(). */
char *partition_memory_text(const struct partition_rules *rules);

/*
 * The rules of a start. named: the operator has named the file, so that it is to be there and to
 * say something. *instead: why that is not so, if they are what was remembered, else NULL; to be
 * freed with g_free(). NULL and error: there are none to go by.
 */
struct partition_rules *partition_rules_start(const char *file, bool named, const char *cache_dir,
					      char **instead, GError **error);

#endif
