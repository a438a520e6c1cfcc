// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Declarations shared by the files about M_Keys: keys.c and key_*.c. */
#ifndef SM_KEYS_KEYS_PRIVATE_H
#define SM_KEYS_KEYS_PRIVATE_H

#include "sm/discover/discover.h"
#include "sm/keys/keys.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

/* Which orphan keys are tried on unknown devices: see key_strays.c. */
enum stray_kind {
	STRAY_HOSTS, /* not of switches */
	STRAY_ALL,
	STRAY_OWN, /* of switches, behind the SM's own cable */
	STRAY_KINDS,
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

	struct key_loops *loops; /* key_loops.c */

	/* key_memory.c */
	char *directory;		      /* NULL: nothing is stored */
	uint64_t ring_put, neighbors_put;     /* versions last given to the writer */
	bool ring_failed, neighbors_failed;   /* the last attempt to write failed */

	/* key_strays.c */
	GArray *strays[STRAY_KINDS]; /* of uint64_t */
	GHashTable *switches;	     /* GUIDs, at the time of listing */
	uint64_t strays_ns;
	uint32_t strays_from; /* the next request begins here */

	/* key_trails.c */
	GHashTable *trails; /* a set of struct trail, owned */

	/* key_unknown.c */
	GHashTable *unknown; /* GUID of an endport -> struct unknown, owned */
	bool some_take;	     /* a port that seemed to hide an M_Key has none: it accepted a Set */

	struct timer lease; /* lease.c: checks M_Keys before their leases end */

	/* key_update.c */
	struct timer update; /* the next generation */
	uint64_t next;	     /* generation being written; it begins after that */
	struct timer pace;   /* for the next ports that get it */
	GArray *waiting;     /* of struct key_owner: ports that may not have it yet */
};

/* M_KeyProtectBits: all Gets are answered, but without the key. */
#define KEY_HIDES 1

/* The endport that the request goes to; NULL: unknown. */
struct builder_port *keys_sma(const struct sm_request *request);

/* The M_Key that a Set(PortInfo) sets. */
uint64_t keys_given(const struct sm_request *request);

/* The endport whose SMA answers for a port. */
const struct builder_port *keys_sma_of(const struct builder_port *port);

/* GUID of the device last found at the other end of the port's cable; 0: none. */
uint64_t keys_neighbour(const struct sm *sm, const struct builder_port *port);

/* The rule according to the options. */
struct key_rule keys_rule(const struct sm *sm);

/* key_loops.c */
/* A sweep has ended: identify unknown devices behind cables between switches. */
void key_loops_send(struct sm *sm);
/* Whether a received Get(SMInfo) is a loop probe; on the actor "mad". */
bool key_loops_came_in(struct keys *keys, const struct vendor_mad *mad);
void key_loops_init(struct keys *keys);

/* key_memory.c */
void key_memory_load(struct sm *sm);
/*
 * Call before a port gets a key of a newer generation. True: done(keys, good) will be called, if it
 * is not NULL and no later call replaces this one; false: nothing is stored.
 */
bool key_memory_save_generation(struct sm *sm, uint64_t generation,
				void (*done)(void *arg, bool good));

/* key_strays.c */
/* No answer came from beyond a cable: gives the request the next key of a missing endport. */
bool key_strays_next(struct sm_request *request);
void key_strays_init(struct keys *keys);
void key_strays_free(struct keys *keys);

/* key_trails.c */
/* Whether the target may have received the key of another port that the ring did not know of. */
bool key_trails_find(const struct sm_request *request, struct key_port port);
void key_trails_forget(struct keys *keys); /* what was sent long ago */
void key_trails_init(struct keys *keys);

/* key_unknown.c */
void key_unknown_init(struct keys *keys);

/* key_update.c */
void key_update_init(struct sm *sm);
void key_update_schedule(struct sm *sm); /* a sweep has ended, or the options changed */
void key_update_free(struct keys *keys);

#endif
