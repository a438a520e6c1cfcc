// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of discover/ keep from sweep to sweep. */
#ifndef SM_DISCOVER_DISCOVER_PRIVATE_H
#define SM_DISCOVER_DISCOVER_PRIVATE_H

#include "fabric/node_table.h"
#include "sm/discover/discover.h"

struct discovery {
	struct sm *sm;
	struct node_table *lost_by; /* struct builder_port *: kept.c */
	GHashTable *trap_sources;   /* LID -> struct source: trap.c */
	struct timer own_port;	    /* the next query of it: own_port.c */
	struct timer lease;	    /* half a lease of M_Keys: lease.c */
};

/* ---- own_port.c ---- */
void own_port_init(struct discovery *discovery);

/* ---- lease.c ---- */
void lease_init(struct discovery *discovery);

#endif
