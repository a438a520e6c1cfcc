// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Partition members that were changed at run time, from one SM to the next. */
#ifndef SM_ELECTION_RUN_TIME_PARTITIONS_H
#define SM_ELECTION_RUN_TIME_PARTITIONS_H

#include "core/context.h"

struct partition_changes;
struct sm;

/* Tells the standbys, as MASTER, unless they know. */
void run_time_partitions_replicate(struct sm *sm, const struct partition_changes *changes);

/* By the serials of what another master had and of what is there. */
enum adopt_if { ADOPT_ANY, ADOPT_UNLESS_OLDER, ADOPT_IF_NEWER };
/*
 * Publishes rules that go by the former. True if they are others now. Any thread; the file is the
 * business of the actor "main" (ctl/daemon.c), as the SM shall not wait for a disk.
 */
bool run_time_partitions_adopt(struct context *context, const char *text, enum adopt_if adopt_if);

#endif
