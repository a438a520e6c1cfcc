// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Forwarding tables of switches, unicast and multicast. */
#ifndef SM_FORWARD_FORWARD_H
#define SM_FORWARD_FORWARD_H

#include "sm/sm_private.h"

/* ---- program.c ---- */
/* written: called when all switches that accept the routes have them. */
struct program *program_new(void (*written)(struct sm *sm));
void program_free(struct program *program);
/* Shares the rows of held with the tables that were read, unless tables share rows already. */
void program_see(struct sm *sm, struct routing *held);
struct held *program_held(struct sm *sm); /* what switches hold, as far as known; or NULL */
/* The stages in which the routing is written; takes ownership of both, which may be NULL. */
void program_take_stages(struct sm *sm, struct route_stages *stages, struct held *held,
			 bool maps_first);

/* ---- multicast.c ---- */
struct multicast *multicast_new(void);
void multicast_free(struct multicast *multicast);

#endif
