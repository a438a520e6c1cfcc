// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a routing was made of, so that it need not be made again of the same. */
#ifndef ROUTE_FINGERPRINT_H
#define ROUTE_FINGERPRINT_H

#include "route/engine.h"

struct route_fingerprint;

struct route_fingerprint *route_fingerprint_new(const struct fabric *fabric,
						const struct route_input *input);
void route_fingerprint_free(struct route_fingerprint *fingerprint); /* NULL is fine */

/* Whether all that engines look at is the same: what nodes call themselves is not. */
bool route_fingerprint_is_of(const struct route_fingerprint *fingerprint,
			     const struct fabric *fabric);
/* The same of what the operator said: the number of threads is not. */
bool route_fingerprint_is_of_input(const struct route_fingerprint *fingerprint,
				   const struct route_input *input);
/* That, as a word of hexadecimal digits, to be freed with g_free; and whether it is of an input. */
char *route_fingerprint_word(const struct route_fingerprint *fingerprint);
bool route_fingerprint_is_word(const char *word, const struct route_input *input);
/* The same of who sends to whom and is in which partition, in a fabric that is the same. */
bool route_fingerprint_is_of_demand(const struct route_fingerprint *fingerprint,
				    const struct route_input *input);

#endif
