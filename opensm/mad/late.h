// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Answers to requests that have already failed: late.c. */
#ifndef MAD_LATE_H
#define MAD_LATE_H

/* How long an answer to a try may take: the device accepts it, and late.c can match it. */
#define LATE_MS 30000

#endif
