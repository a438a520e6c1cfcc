// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Keeps the partition members changed at run time (partition_changes.h) in their file. All calls
 * are on the actor "main"; other threads write the file, one text after the other.
 */
#ifndef CTL_SITE_MEMBERS_FILE_H
#define CTL_SITE_MEMBERS_FILE_H

#include "core/context.h"
#include "policy/partition/partition_changes.h"

struct aside;
struct members_file;

struct members_file *members_file_new(struct context *context);
void members_file_free(struct members_file *file); /* after aside */

/*
 * Writes changes, and calls written(arg, changes, error) when they are on the disk; error says why
 * they are not. written may be NULL: an error then goes to the log. It never waits for the disk.
 * While others are being written, these changes are queued, in place of those already queued, which
 * are forgotten.
 */
void members_file_put(struct members_file *file, struct aside *aside,
		      struct partition_changes *changes,
		      void (*written)(void *arg, struct partition_changes *changes,
				      const GError *error),
		      void *arg);

#endif
