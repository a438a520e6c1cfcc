// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#ifndef COMPLIB_MEMORY_H
#define COMPLIB_MEMORY_H

/* Gives free memory of the heap back to the system, where the C library can be told to. */
void memory_trim(void);

#endif
