// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#ifndef COMPLIB_MEMORY_H
#define COMPLIB_MEMORY_H

#include <stdint.h>

/* Gives free heap memory back to the system, if the C library supports it. */
void memory_trim(void);

/*
 * Octets of memory that the machine has, or that the control group of this process may use, if that
 * is less; UINT64_MAX: unknown.
 */
uint64_t memory_of_machine(void);
/*
 * The least limit of the control group (version 2) that groups names in the format of
 * /proc/PID/cgroup, and of those around it, below the mount point root; UINT64_MAX: none.
 */
uint64_t memory_of_group(const char *root, const char *groups);

#endif
