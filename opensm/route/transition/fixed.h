// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Routes where some switches do not answer: known ones that cannot be written, and unknown devices
 * behind a link.
 */
#ifndef ROUTE_TRANSITION_FIXED_H
#define ROUTE_TRANSITION_FIXED_H

#include "route/engine.h"

/*
 * Tables for a fabric where some switches keep the rows that they have. held[switch]: what it
 * holds, made->n_blocks * 64 octets, 0xFF where that discards or is unknown; NULL: nothing is
 * known. A switch with fixed[switch] cannot be written; if nothing is known of it, it forwards
 * nothing.
 *
 * A path that continues as the engine made it stays so; one that a fixed switch diverts follows
 * that switch, if it arrives; else the other switches go around it. Where no other path leads
 * there, entries are as the engine made them, except for those that would close a loop: these
 * discard.
 *
 * A LID that no known device has, and that tables lead out by a link which is up and has no known
 * device behind it, belongs to a device there: these entries stay as they are, and the other
 * switches lead to them.
 *
 * Returns a reference to made itself if nothing differs; else a routing that has it as ->made, and
 * a note. It is incomplete if the watch was cancelled (graph/watch.h).
 */
struct routing *routing_fix(const struct fabric *fabric, struct routing *made,
			    const uint8_t *const *held, const bool *fixed,
			    struct route_watch *watch);

#endif
