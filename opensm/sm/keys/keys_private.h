// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files about M_Keys share: keys.c and key_*.c. */
#ifndef SM_KEYS_KEYS_PRIVATE_H
#define SM_KEYS_KEYS_PRIVATE_H

#include "sm/discover/discover.h"
#include "sm/keys/keys.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

/* Whose keys are tried where nobody knows who is there: see key_strays.c. */
enum stray_kind {
	STRAY_HOSTS, /* not of switches */
	STRAY_ALL,
	STRAY_OWN, /* of switches, behind the SM's own cable */
	STRAY_KINDS,
};

struct keys {
	struct sm *sm;
	struct key_ring *ring;
	struct key_ring *goal; /* what a dry run beside a master wants; NULL: what ring wants */
	struct neighbors *neighbors;
	uint64_t again_ns;   /* when requests beside sweeps last began a round */
	uint64_t generation; /* of keys that ports have of their own */
	/* The key of the SM's own port, and the one that it should have; 0: none. */
	_Atomic uint64_t own, own_wanted;

	/*
	 * Endport -> requests to it that wait, for a Set of another M_Key is on its way there: one
	 * that overtakes it has the key of before, one behind it the new one, or each is lost.
	 */
	GHashTable *changing;

	struct key_loops *loops; /* key_loops.c */

	/* key_memory.c */
	char *directory;		      /* NULL: nothing is kept */
	uint64_t ring_put, neighbors_put;     /* editions that the writer got last */
	bool ring_failed, neighbors_failed;   /* what was tried last could not be written */

	/* key_strays.c */
	GArray *strays[STRAY_KINDS]; /* of uint64_t */
	GHashTable *switches;	     /* GUIDs, when they were listed */
	uint64_t strays_ns;
	uint32_t strays_from; /* where the next request begins */

	/* key_trails.c */
	GHashTable *trails; /* a set of struct trail, owned */

	/* key_unknown.c */
	GHashTable *unknown; /* GUID of an endport -> struct unknown, owned */
	bool some_take;	     /* a port that seemed to hide an M_Key has none: it took a Set */

	/* key_update.c */
	struct timer update; /* the next generation */
	uint64_t next;	     /* the generation that is being written, to begin when it is */
	struct timer pace;   /* the next ports that get it */
	GArray *waiting;     /* of struct key_owner: those that may not have it yet */
};

/* M_KeyProtectBits: Gets are answered to all, but without the key. */
#define KEY_HIDES 1

/* The endport that the request goes to; NULL: it is not known. */
struct builder_port *keys_sma(const struct sm_request *request);

/* The M_Key that a Set(PortInfo) gives. */
uint64_t keys_given(const struct sm_request *request);

/* The endport whose SMA answers for a port. */
const struct builder_port *keys_sma_of(const struct builder_port *port);

/* GUID of who was last met at the other end of the port's cable; 0: nobody. */
uint64_t keys_neighbour(const struct sm *sm, const struct builder_port *port);

/* The rule that the options ask for. */
struct key_rule keys_rule(const struct sm *sm);

/* key_loops.c */
/* A sweep has ended: who is behind cables between switches that nobody knows? */
void key_loops_send(struct sm *sm);
/* Whether a Get(SMInfo) that came in is one of those; on the actor "mad". */
bool key_loops_came_in(struct keys *keys, const struct vendor_mad *mad);
void key_loops_init(struct keys *keys);

/* key_memory.c */
void key_memory_load(struct sm *sm);
/*
 * Before a port gets a key of a newer generation. True: done(keys, good) will be called, if it is
 * not NULL, but not for one that a later one has replaced; false: nothing is kept.
 */
bool key_memory_save_generation(struct sm *sm, uint64_t generation,
				void (*done)(void *arg, bool good));

/* key_strays.c */
/* No answer came from beyond a cable: it has the next key of an endport that is missed. */
bool key_strays_next(struct sm_request *request);
void key_strays_init(struct keys *keys);
void key_strays_free(struct keys *keys);

/* key_trails.c */
/* Whether who is asked may have got the key of another port, and the ring did not know that. */
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
