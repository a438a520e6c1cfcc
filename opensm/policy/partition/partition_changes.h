// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Partition members that were added and removed at run time: definitions in the language of
 * partitions.conf that are read after it, so that they have the last word. Immutable and counted.
 *
 * They are kept in a file of the cache directory, whose first line tells a serial and the checksum
 * of what follows: one that somebody has altered or cut off is refused and never read in part.
 *
 *	# opensm partition requests, serial 17, sha256 9f86d0...
 *	Jobs=0x10,ipoib:
 *		0x0002c90300a1b2c3=full,
 *		0x0002c90300a1b2d4=none;
 */
#ifndef POLICY_PARTITION_PARTITION_CHANGES_H
#define POLICY_PARTITION_PARTITION_CHANGES_H

#include "policy/partition/partition_file.h"

#define PARTITION_CHANGES_FILE "partitions.state"
#define PARTITION_CHANGES_MEMBERS_MAX (1u << 17)

struct partition_changes {
	struct ref ref;
	uint64_t serial; /* of the policy in which its last change took effect; 0: none yet */
	char *file;	 /* where it is kept; NULL: nowhere */
	char *text;	 /* the whole file; "" with serial 0 */
};

/*
 * What is kept in that directory; nothing, if there is no such file or cache_dir is NULL. NULL and
 * error: the file cannot be read, or is not what was written.
 */
struct partition_changes *partition_changes_load(const char *cache_dir, GError **error);
/* Of length octets of text, the contents of that file. */
struct partition_changes *partition_changes_parse(const char *file, const char *text, size_t length,
						  GError **error);
/* Whether text begins as such a file does. */
bool partition_changes_is(const char *text);
/* On the disk when it returns; false and error if not. */
bool partition_changes_save(const struct partition_changes *changes, GError **error);

/*
 * What is changed after a request, all of it or nothing: definitions as in partitions.conf, each
 * with its P_Key, whose members are GUIDs: full, limited, both, or none to take them out. Whoever
 * the files of these rules cannot name is forgotten when he is taken out. The new object has that
 * serial; one that the request does not change is returned itself. NULL and error.
 */
struct partition_changes *partition_changes_edit(struct partition_changes *changes,
						 const struct partition_rules *rules,
						 const char *request, uint64_t serial,
						 GError **error);
/* The same with nothing about one P_Key, or, with 0, about any: all is as partitions.conf says. */
struct partition_changes *partition_changes_forget(struct partition_changes *changes,
						   uint16_t p_key, uint64_t serial, GError **error);

struct partition_changes *partition_changes_ref(struct partition_changes *changes);
void partition_changes_unref(struct partition_changes *changes); /* NULL is fine */

#endif
