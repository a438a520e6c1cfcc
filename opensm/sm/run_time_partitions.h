// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Partition members that were changed at run time, from one SM to the next. */
#ifndef SM_RUN_TIME_PARTITIONS_H
#define SM_RUN_TIME_PARTITIONS_H

#include "core/context.h"

struct partition_changes;
struct sm;

/* Tells the standbys, as MASTER, unless they know. */
void run_time_partitions_replicate(struct sm *sm, const struct partition_changes *changes);
/* Whether the text is of a lower serial than those that are there; not if it is bad. Any thread. */
bool run_time_partitions_are_older(struct context *context, const char *text);
/*
 * Publishes, and keeps, rules that go by what another master had; only_newer: unless those that
 * are there are newer. True if they are others now. Any thread.
 */
bool run_time_partitions_adopt(struct context *context, const char *text, bool only_newer);

#endif
