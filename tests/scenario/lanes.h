// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Virtual lanes as the simulated hardware has them: by which channels and on which lanes packets
 * go, and whether these close a credit loop.
 */
#ifndef TESTS_SCENARIO_LANES_H
#define TESTS_SCENARIO_LANES_H

#include "scenario.h"

struct lanes;

/* Of the subnet that is published now: ports are those of its fabric. */
struct lanes *lanes_new(const struct scenario *s);
void lanes_free(struct lanes *lanes);
const struct subnet *lanes_subnet(const struct lanes *lanes);

/* Sends a packet from an endport to the LID of another, on an SL. */
void lanes_send(struct lanes *lanes, uint32_t from, uint32_t to, uint8_t sl);

/*
 * The first packet that did not arrive, or was put on a lane that its link does not have; or that
 * all that were sent close a credit loop. Newly allocated, or NULL.
 */
char *lanes_violation(struct lanes *lanes);

/* All hosts send to each other, and to the SM and back, on the SL of their path. The same form. */
char *scenario_lanes_violation(const struct scenario *s);

#endif
