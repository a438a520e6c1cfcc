// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Keeps partition members that were changed at run time (partition_changes.h) in their file:
 * written beside the actor "main", on which all calls are, one text after the other.
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
 * Has changes written, and written(arg, changes, error) called when they are on the disk, or error
 * says why not; written may be NULL, and then the log has it. Waits so long for it. Where others
 * are being written already these come after them, in place of those that wait: only without
 * written.
 */
void members_file_put(struct members_file *file, struct aside *aside,
		      struct partition_changes *changes, uint64_t patience_ns,
		      void (*written)(void *arg, struct partition_changes *changes,
				      const GError *error),
		      void *arg);
/* Some are being written. */
bool members_file_is_busy(const struct members_file *file);

#endif
