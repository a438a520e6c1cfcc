// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#ifndef ROUTE_MEMORY_H
#define ROUTE_MEMORY_H

#include "route/engine.h"

/*
 * Octets that an engine and the verifier of its tables need, besides those of the fabric and of old
 * tables: an upper bound, mostly less than twice what they use. Takes little more time than a
 * search from a switch.
 */
uint64_t route_memory(const struct route_engine *engine, const struct fabric *fabric,
		      const struct route_input *input);

#endif
