// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of smp/ keep of the nodes to which SMPs are sent. */
#ifndef SM_SMP_SMP_PRIVATE_H
#define SM_SMP_SMP_PRIVATE_H

#include "fabric/node_table.h"
#include "sm/smp/smp.h"

struct silence;	     /* silence.c */
struct unknown_keys; /* key_unknown.c */

struct smp_state {
	const struct smp_observer *observer;
	struct silence *silence;	   /* nodes that do not answer */
	struct unknown_keys *unknown_keys; /* ports whose M_Key is not known */
	struct node_table *identified;	   /* uint64_t: when NodeInfo was last read: identity.c */
};

/* ---- silence.c ---- */
struct silence *silence_new(void);
void silence_free(struct silence *silence);

/* ---- key_unknown.c ---- */
struct unknown_keys *unknown_keys_new(void);
void unknown_keys_free(struct unknown_keys *unknown);

#endif
