// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#ifndef COMPLIB_MEMORY_H
#define COMPLIB_MEMORY_H

/* Gives free heap memory back to the system, if the C library supports it. */
void memory_trim(void);

#endif
