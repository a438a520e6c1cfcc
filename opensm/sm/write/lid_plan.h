// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which LIDs the endports of a subnet get: a pure assignment. */
#ifndef SM_WRITE_LID_PLAN_H
#define SM_WRITE_LID_PLAN_H

#include "sm/store/guid2lid.h"

/* A present endport. */
struct lid_plan_port {
	uint64_t guid;
	uint16_t carried;    /* its current base LID, any number */
	uint8_t lmc;	     /* it should get 2^lmc LIDs, lmc <= 7 */
	uint16_t cap;	     /* its switch forwards only LIDs below this; 0: all */
	bool keeps;	     /* it prefers to keep the LIDs that it has */
	bool is_switch;	     /* it is a switch port 0 */
	uint16_t lid;	     /* result: base LID; 0: none was free */
	bool duplicate;	     /* result: an earlier port has the same GUID */
	uint16_t remembered; /* result: base LID that memory had for it; 0: none */
};

struct lid_plan {
	struct lid_plan_port *ports;
	uint32_t n;
	uint16_t last;	  /* highest LID that every switch can forward */
	bool reassign;	  /* ignore remembered and carried LIDs */
	bool memory_first; /* all remembered LIDs count as assigned: honor_guid2lid_file */
	uint32_t without; /* result: number of ports without LIDs */
};

/*
 * Assigns, in this order: the LIDs that memory has for the GUID if they were assigned since this SM
 * is master; those that the port carries, if assigned to no other port (if several ports carry
 * them, the one that memory has them for, otherwise the first); those that memory has; the first
 * free ones; and last, LIDs reserved for absent ports. A port with a cap gets a LID below it before
 * others get new ones, also in place of one that is above; if none is free a switch takes that of a
 * switch without a cap. memory is the input of the next plan: all assignments are added to it, and
 * ports whose LIDs were given to others are removed.
 */
void lid_plan_make(struct lid_plan *plan, struct guid2lid *memory);

#endif
