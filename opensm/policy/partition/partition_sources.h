// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The texts that partition rules were made of: partitions.conf and what it includes, in the order
 * in which they were read. Rules can be made of them again without a look at the disk, with other
 * changes at run time or by the next process.
 */
#ifndef POLICY_PARTITION_PARTITION_SOURCES_H
#define POLICY_PARTITION_PARTITION_SOURCES_H

#include <glib.h>
#include <stdbool.h>

struct partition_sources;

struct partition_sources *partition_sources_new(void);
struct partition_sources *partition_sources_ref(struct partition_sources *sources);
void partition_sources_unref(struct partition_sources *sources); /* NULL is fine */

guint partition_sources_n(const struct partition_sources *sources); /* 0: there was no file */
const char *partition_sources_name(const struct partition_sources *sources, guint i);
bool partition_sources_same(const struct partition_sources *a, const struct partition_sources *b);

/*
 * Adds a file, and returns its text, which lives as long as sources: from the disk, or with kept
 * (not NULL) the one of kept that is next in turn, which must have that name. NULL and error as of
 * file_read().
 */
const char *partition_sources_read(struct partition_sources *sources,
				   const struct partition_sources *kept, const char *file,
				   gsize *length, GError **error);

/* Of the last one only the first octets are kept: what it says is not read from here. */
void partition_sources_cut_last(struct partition_sources *sources, gsize length);

/* One text of all of them, to be freed with g_free(), and back; NULL: it is none. */
char *partition_sources_format(const struct partition_sources *sources);
struct partition_sources *partition_sources_parse(const char *text, gsize length);

#endif
