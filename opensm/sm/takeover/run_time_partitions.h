// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Partition members that were changed at run time, passed from one SM to the next. */
#ifndef SM_TAKEOVER_RUN_TIME_PARTITIONS_H
#define SM_TAKEOVER_RUN_TIME_PARTITIONS_H

#include "core/context.h"

struct partition_changes;
struct sm;

/* As MASTER, sends them to the standbys, unless they have them. */
void run_time_partitions_replicate(struct sm *sm, const struct partition_changes *changes);
/* Does so at each EVENT_PARTITIONS_CHANGED. */
void run_time_partitions_listen(struct sm *sm);

/* Compares the serials of what another master had and of what is here. */
enum adopt_if { ADOPT_ANY, ADOPT_UNLESS_OLDER, ADOPT_IF_NEWER };
/*
 * Publishes rules based on the former. True if they changed. Any thread; the actor "main"
 * (ctl/daemon.c) writes the file, as the SM must not wait for a disk.
 */
bool run_time_partitions_adopt(struct context *context, const char *text, enum adopt_if adopt_if);

#endif
