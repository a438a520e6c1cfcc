// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a routing was made of, so that it need not be made again of the same. */
#ifndef ROUTE_SEEN_H
#define ROUTE_SEEN_H

#include "route/engine.h"

struct route_seen;

struct route_seen *route_seen_new(const struct fabric *fabric, const struct route_input *input);
void route_seen_free(struct route_seen *seen); /* NULL is fine */

/* Whether all that engines look at is the same: what nodes call themselves is not. */
bool route_seen_fabric(const struct route_seen *seen, const struct fabric *fabric);
/* The same of what the operator said: the number of threads is not. */
bool route_seen_input(const struct route_seen *seen, const struct route_input *input);

#endif
