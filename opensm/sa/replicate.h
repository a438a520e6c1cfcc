// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The registry of multicast groups as entries of a replica. */
#ifndef SA_REPLICATE_H
#define SA_REPLICATE_H

#include "ha/replicator.h"
#include "sa/store.h"

/* Whose arg is a struct replicator. */
extern const struct sa_store_watch sa_replicate_watch;

/*
 * Takes groups and members of another SM into an empty store; returns how many entries make no
 * sense, and are left out.
 */
unsigned int sa_replicate_adopt(struct sa_store *store, const struct replica *replica);

#endif
