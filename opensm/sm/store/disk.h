// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lets a sweep wait until what the SM has put into files is on the disk, where the next process has
 * to know it before the subnet does: which keys ports get, and which SLs hosts are told.
 */
#ifndef SM_STORE_DISK_H
#define SM_STORE_DISK_H

#include <stdbool.h>

struct disk;
struct sm;

struct disk *disk_new(struct sm *sm); /* of sm->writer */
void disk_free(struct disk *disk);

/* In the first round of a step. True: that is to return STEP_LATER, and comes again. */
bool disk_wait(struct sm *sm);

#endif
