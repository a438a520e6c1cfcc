// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Partition members that were added and removed at run time: definitions in the language of
 * partitions.conf that are read after it, so that they take precedence. Immutable and reference
 * counted.
 *
 * They are kept in a file of the cache directory, whose first line has a serial and the checksum of
 * what follows: an edited or truncated file is refused and never read in part.
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
	char *file;	 /* its path; NULL: it is not kept */
	char *text;	 /* the whole file; "" with serial 0 */
};

/*
 * Loads the changes kept in that directory; empty if there is no such file or cache_dir is NULL.
 * NULL and an error: the file cannot be read, or is not what was written.
 */
struct partition_changes *partition_changes_load(const char *cache_dir, GError **error);
/* Parses length octets of text, the contents of that file. */
struct partition_changes *partition_changes_parse(const char *file, const char *text, size_t length,
						  GError **error);
/* Whether text begins like such a file. */
bool partition_changes_is(const char *text);
/* When it returns true the file is on the disk; otherwise false and an error. */
bool partition_changes_save(const struct partition_changes *changes, GError **error);

/* What is asked for. */
struct partition_request {
	/*
	 * Definitions as in partitions.conf, each with its P_Key, whose members are GUIDs: full,
	 * limited, both, or none to remove them. A partition goes with the last of its members,
	 * unless it has the flag "stays". NULL: the changes of a partition are undone.
	 */
	const char *text;
	uint16_t forget; /* the P_Key of that partition; 0: all */
	/*
	 * Flags that are given change, all others stay; "ipoib=no", "indx0=no" and "stays=no" take
	 * one away. Otherwise flags that are given replace all that there are.
	 */
	bool merge;
	bool replace;  /* merge; the members given replace all that were given before */
	bool existing; /* the partitions must exist */
	bool strict;   /* none may be defined in partitions.conf, and ports must have room */
};

/*
 * The changes after a request, which is applied as a whole or not at all. A removed GUID that the
 * files of these rules cannot name is forgotten. The new object has that serial; if the request
 * changes nothing, the old object is returned. NULL and an error on failure.
 */
struct partition_changes *partition_changes_make(struct partition_changes *changes,
						 const struct partition_rules *rules,
						 const struct partition_request *request,
						 uint64_t serial, GError **error);
/* For a request that has only a text. */
struct partition_changes *partition_changes_edit(struct partition_changes *changes,
						 const struct partition_rules *rules,
						 const char *request, uint64_t serial,
						 GError **error);
/*
 * The changes without those to one P_Key, or with 0 to all P_Keys, which are then as in
 * partitions.conf.
 */
struct partition_changes *partition_changes_forget(struct partition_changes *changes,
						   uint16_t p_key, uint64_t serial, GError **error);

struct partition_changes *partition_changes_ref(struct partition_changes *changes);
void partition_changes_unref(struct partition_changes *changes); /* NULL is fine */

#endif
