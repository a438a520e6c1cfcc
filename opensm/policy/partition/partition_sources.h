// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The texts that partition rules were made from: partitions.conf and the files it includes, in the
 * order in which they were read. Rules can be made from them again without access to the disk, with
 * other changes at run time or by the next process.
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
 * Adds a file, and returns its text, which lives as long as sources. The text is read from the disk
 * or, if kept is not NULL, is the next one in kept, which must have that name. NULL and an error as
 * in file_read().
 */
const char *partition_sources_read(struct partition_sources *sources,
				   const struct partition_sources *kept, const char *file,
				   gsize *length, GError **error);

/* Keeps only the first length octets of the last text: the rest is not read from here. */
void partition_sources_cut_last(struct partition_sources *sources, gsize length);

/*
 * All texts as one, freed with g_free(); partition_sources_parse() is the inverse, NULL: malformed.
 */
char *partition_sources_format(const struct partition_sources *sources);
struct partition_sources *partition_sources_parse(const char *text, gsize length);

#endif
