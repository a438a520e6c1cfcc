// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Traps that the SM has received recently and accepted, for the SA to forward: immutable and
 * reference counted, in context->traps; each trap makes a new list, announced by
 * EVENT_TRAP_RECEIVED.
 */
#ifndef CORE_TRAPS_H
#define CORE_TRAPS_H

#include "complib/handoff.h"
#include "iba/iba.h"

#define TRAPS_KEPT 64

struct trap {
	struct iba_notice notice;
	uint16_t from;	 /* LID it came from */
	uint64_t serial; /* starts at 0 */
};

struct traps {
	struct ref ref;
	uint64_t end; /* serial after that of the last one */
	uint32_t n;
	/* By serial. If there are too many, the LID that sent most of them loses its oldest. */
	struct trap all[TRAPS_KEPT];
};

/* before may be NULL. */
struct traps *traps_with(const struct traps *before, const struct iba_notice *notice,
			 uint16_t from);
struct traps *traps_ref(struct traps *traps);
void traps_unref(struct traps *traps); /* NULL is fine */

#endif
