// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which LIDs the endports of a subnet get: a pure assignment. */
#ifndef SM_WRITE_LID_PLAN_H
#define SM_WRITE_LID_PLAN_H

#include "sm/store/guid2lid.h"

/* An endport that is there. */
struct lid_plan_port {
	uint64_t guid;
	uint16_t carried;    /* base LID that it has now, any number */
	uint8_t lmc;	     /* it shall have 2^lmc LIDs, lmc <= 7 */
	uint16_t cap;	     /* its switch forwards LIDs below this only; 0: all */
	bool keeps;	     /* but it rather keeps what it has */
	bool is_switch;	     /* it is a port 0 */
	uint16_t lid;	     /* result: base LID; 0: none was left */
	bool duplicate;	     /* result: a port before it has the same GUID */
	uint16_t remembered; /* result: base LID that memory had for it before; 0: none */
};

struct lid_plan {
	struct lid_plan_port *ports;
	uint32_t n;
	uint16_t last;	  /* highest LID that every switch can forward */
	bool reassign;	  /* what is remembered and carried does not count */
	bool memory_first; /* all that is remembered counts as assigned: honor_guid2lid_file */
	uint32_t without; /* result: ports that got none */
};

/*
 * Assigns: what memory has for the GUID if that was assigned since the SM is master; else what the
 * port carries if that was assigned to nobody, of several that carry it to the one that memory
 * has it for, or else to the first; else what memory has; else the first free, and LIDs kept for
 * absent ports last. A port with a cap gets a LID below it before others get a new one, in place of
 * one that is above, too; if none is left a switch takes that of a switch without a cap. memory is
 * what the next plan is made from: it gets all that was assigned, and loses ports whose LIDs were
 * given away.
 */
void lid_plan_make(struct lid_plan *plan, struct guid2lid *memory);

#endif
