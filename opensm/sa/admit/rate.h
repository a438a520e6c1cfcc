// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Limits the requests of each port per 100 ms (sa_rate_threshold). */
#ifndef SA_ADMIT_RATE_H
#define SA_ADMIT_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct sa_rate;

struct sa_rate *sa_rate_new(void);
void sa_rate_free(struct sa_rate *rate);
/* False: that LID has sent more than threshold requests in 100 ms. threshold 0: no limit. */
bool sa_rate_pass(struct sa_rate *rate, uint16_t lid, unsigned int threshold, uint64_t now_ns);

#endif
