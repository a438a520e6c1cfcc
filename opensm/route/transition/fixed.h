// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Routes where some switches do not answer: those that are known, and cannot be written, and those
 * of which nothing is known but that a link leads there.
 */
#ifndef ROUTE_TRANSITION_FIXED_H
#define ROUTE_TRANSITION_FIXED_H

#include "route/engine.h"

/*
 * Tables for a fabric where some switches keep the rows that they have. held[switch]: what it
 * holds, made->n_blocks * 64 octets, 0xFF where that discards or is not known; NULL: nothing is
 * known. A switch with fixed[switch] cannot be written; if nothing is known of it, it forwards
 * nothing.
 * A path that goes on as the engine made it does so; one that a switch leads elsewhere goes where
 * that leads, if it gets there; else the others go around it. Where nothing else leads there,
 * entries are as the engine made them, but for those that would lead round in a ring: they discard.
 *
 * A LID that nobody is known to have, and that tables lead out by a link which is up and has nobody
 * known behind it, belongs to somebody there: these entries stay as they are, and the other
 * switches lead to them.
 *
 * A reference to made itself if nothing differs; else one that has it as ->made, and a note.
 */
struct routing *routing_fix(const struct fabric *fabric, struct routing *made,
			    const uint8_t *const *held, const bool *fixed);

#endif
