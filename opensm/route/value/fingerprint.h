// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Fingerprints of what a routing was made from, so that it is not computed again for the same. */
#ifndef ROUTE_VALUE_FINGERPRINT_H
#define ROUTE_VALUE_FINGERPRINT_H

#include "route/engine.h"

/* Whether all that engines look at is the same; node descriptions may differ. */
bool fingerprint_same_fabric(const struct fabric *a, const struct fabric *b, bool avoid_throttled);

/*
 * For two fabrics of which this is true: whether the rest that a plug-in sees is equal too, which
 * is names of switches, how fast links are and could be, and which switches do not answer.
 */
bool fingerprint_same_details(const struct fabric *a, const struct fabric *b);

/*
 * A word of hexadecimal digits that is the same if the operator's input is the same, apart from the
 * number of threads; and one for the demand and the partitions of hosts, in the same fabric.
 * g_free() them.
 */
char *fingerprint_of_input(const struct route_input *input);
/* fingerprint_of_input(), with what the engine itself depends on. */
char *fingerprint_for(const struct route_engine *engine, const struct route_input *input);
/* The word for a routing's input; NULL: unknown. */
const char *fingerprint_of_routing(const struct routing *routing);
char *fingerprint_of_demand(const struct route_input *input, const struct fabric *fabric);

#endif
