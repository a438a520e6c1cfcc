// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Declarations shared by the files about M_Keys: keys.c and key_*.c. */
#ifndef SM_KEYS_KEYS_PRIVATE_H
#define SM_KEYS_KEYS_PRIVATE_H

#include "sm/keys/keys.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

/* Which orphan keys are tried on unknown devices: see key_orphans.c. */
enum orphan_kind {
	ORPHANS_HOSTS, /* not of switches */
	ORPHANS_ALL,
	ORPHANS_OWN, /* of switches, behind the SM's own cable */
	ORPHAN_KINDS,
};

struct keys {
	struct sm *sm;
	struct key_ring *ring;
	struct key_ring *goal; /* keys that a dry run beside a master wants; NULL: those of ring */
	struct neighbors *neighbors;
	uint64_t again_ns;   /* when requests outside sweeps last began a round */
	uint64_t generation; /* of per-port keys */
	/* The key of the SM's own port, and the one that it should have; 0: none. */
	_Atomic uint64_t own, own_wanted;

	/*
	 * Endport -> requests to it that wait, because a Set of another M_Key is in flight to it: a
	 * request that overtakes it needs the old key, a later one the new key, or each is lost.
	 */
	GHashTable *changing;

	/* key_memory.c */
	char *directory;		      /* NULL: nothing is stored */
	uint64_t ring_put, neighbors_put;     /* versions last given to the writer */
	bool ring_failed, neighbors_failed;   /* the last attempt to write failed */

	/* key_orphans.c */
	GArray *orphans[ORPHAN_KINDS]; /* of uint64_t */
	GHashTable *switches;	     /* GUIDs, at the time of listing */
	uint64_t orphans_ns;
	uint32_t orphans_from; /* the next request begins here */
};

/* The M_Key that a Set(PortInfo) sets. */
uint64_t keys_given(const struct sm_request *request);

/* The endport whose SMA answers for a port. */
const struct builder_port *keys_sma_of(const struct builder_port *port);

/* The rule according to the options. */
struct key_rule keys_rule(const struct sm *sm);

/* key_memory.c */
void key_memory_load(struct sm *sm);
/* key_orphans.c */
/* No answer came from beyond a cable: gives the request the next key of a missing endport. */
bool key_orphans_next(struct sm_request *request);
void key_orphans_init(struct keys *keys);
void key_orphans_free(struct keys *keys);

#endif
