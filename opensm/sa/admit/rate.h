// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Requests of each port in a tenth of a second, bounded (sa_rate_threshold). */
#ifndef SA_ADMIT_RATE_H
#define SA_ADMIT_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct sa_rate;

struct sa_rate *sa_rate_new(void);
void sa_rate_free(struct sa_rate *rate);
/* False: who has that LID has asked more than threshold times in 100 ms; 0: no bound. */
bool sa_rate_pass(struct sa_rate *rate, uint16_t lid, unsigned int threshold, uint64_t now_ns);

#endif
