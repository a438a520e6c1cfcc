// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Answers to what was given up: late.c. */
#ifndef MAD_LATE_H
#define MAD_LATE_H

/* So long an answer to a try may come: the device takes it, and late.c knows what it is for. */
#define LATE_MS 30000

#endif
