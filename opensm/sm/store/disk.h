// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes a sweep wait until what the SM has written to files is on the disk, where the next process
 * must find it before the subnet depends on it: the keys of ports, and the SLs given to hosts.
 */
#ifndef SM_STORE_DISK_H
#define SM_STORE_DISK_H

#include <stdbool.h>

struct disk;
struct sm;

struct disk *disk_new(struct sm *sm); /* after sm->store.writer */
void disk_free(struct disk *disk);

/* Files that the next start needs. */
enum disk_file { DISK_LIDS, DISK_M_KEYS, DISK_NEIGHBORS, DISK_P_KEY_INDEXES };

/* The last attempt to write one; context->unkept tells whether any failed. */
void disk_written(struct sm *sm, enum disk_file file, bool good);
/* Call in the first round of a step. True: return STEP_LATER, to be called again. */
bool disk_wait(struct sm *sm);

#endif
