// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Routes where some switches cannot be written: those that do not answer, and go on forwarding. */
#ifndef ROUTE_FIXED_H
#define ROUTE_FIXED_H

#include "route/engine.h"

/*
 * Tables for a fabric where some switches keep the rows that they have. rows[switch]: what it holds,
 * made->n_blocks * 64 octets, 0xFF where that discards or is not known; NULL: it can be written.
 * A path that goes on as the engine made it does so; one that a switch leads elsewhere goes where
 * that leads, if it gets there; else the others go around it. Where nothing else leads there,
 * entries are as the engine made them.
 *
 * A reference to made itself if nothing differs; else one that has it as ->made, and a note.
 */
struct routing *routing_fix(const struct fabric *fabric, struct routing *made,
			    const uint8_t *const *rows);

#endif
