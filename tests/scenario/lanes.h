// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Virtual lanes as set in the simulated hardware: which channels and lanes packets take, and
 * whether these close a credit loop.
 */
#ifndef TESTS_SCENARIO_LANES_H
#define TESTS_SCENARIO_LANES_H

#include "scenario.h"

struct lanes;

/* Of the currently published subnet: ports are those of its fabric. */
struct lanes *lanes_new(const struct scenario *s);
void lanes_free(struct lanes *lanes);
const struct subnet *lanes_subnet(const struct lanes *lanes);

/* Sends a packet from an endport to the LID of another, on an SL. */
void lanes_send(struct lanes *lanes, uint32_t from, uint32_t to, uint8_t sl);

/*
 * The first packet that did not arrive, or was put on a lane that its link does not have; or the
 * credit loop that the packets sent so far close. Newly allocated, or NULL.
 */
char *lanes_violation(struct lanes *lanes);

/* All hosts send to each other, and to the SM and back, on the SL of their path. As above. */
char *scenario_lanes_violation(const struct scenario *s);

#endif
