// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of health/ keep. */
#ifndef SM_HEALTH_HEALTH_PRIVATE_H
#define SM_HEALTH_HEALTH_PRIVATE_H

#include "sm/health/health.h"

struct health;	    /* health.c */
struct port_health; /* port_health.c */

/* The faults of the subnet that are known. */
struct faults {
	struct health *nodes;
	struct port_health *ports;
	GArray *links; /* of struct held_up: between switches: held_up.c */
};

/* ---- port_health.c ---- */
void port_health_init(struct sm *sm);
void port_health_free(struct port_health *health);

/* ---- held_up.c ---- */
void held_up_init(struct sm *sm);
void held_up_free(struct sm *sm);

#endif
