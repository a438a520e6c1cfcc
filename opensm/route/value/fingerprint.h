// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a routing was made of, so that it need not be made again of the same. */
#ifndef ROUTE_VALUE_FINGERPRINT_H
#define ROUTE_VALUE_FINGERPRINT_H

#include "route/engine.h"

/* Whether all that engines look at is the same: what nodes call themselves is not. */
bool fingerprint_same_fabric(const struct fabric *a, const struct fabric *b, bool avoid_throttled);

/*
 * A word of hexadecimal digits that is the same if the operator said the same, but for the number
 * of threads; and one for who sends to whom and is in which partition, in a fabric that is the
 * same. To be freed with g_free().
 */
char *fingerprint_of_input(const struct route_input *input);
/* The word of what a routing was made of; NULL: that is not known. */
const char *fingerprint_of_routing(const struct routing *routing);
char *fingerprint_of_demand(const struct route_input *input, const struct fabric *fabric);

#endif
