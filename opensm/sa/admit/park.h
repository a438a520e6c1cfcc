// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests that wait until the SM has read tables for them, or until it publishes a subnet that has
 * the requester: a port that just came up asks before the sweep ends, and takes BUSY for a refusal.
 * Owned by the sa actor.
 */
#ifndef SA_ADMIT_PARK_H
#define SA_ADMIT_PARK_H

#include "core/context.h"
#include "vendor/vendor.h"

#define SA_MAX_PARKED 4096	  /* more are answered BUSY */
#define SA_PARK_NS (3 * NS_PER_S) /* as are requests that waited this long */

#define SA_PARK_SUBNET UINT64_MAX /* what a request wants if it waits for a subnet */
#define SA_PARK_EARLY (UINT64_C(1) << 63) /* the kind that wakes it */

struct sa_park;

/* Both are called on the actor and own the MAD. */
struct sa_park_calls {
	void *arg;
	void (*again)(void *arg, struct vendor_mad *mad, uint64_t deadline_ns);
	void (*expired)(void *arg, struct vendor_mad *mad);
};

struct sa_park *sa_park_new(struct context *context, struct actor *actor,
			    const struct sa_park_calls *calls);
void sa_park_free(struct sa_park *park); /* drops waiting requests */

/*
 * Keeps a request whose query wants tables (inventory_want) and asks the SM to read them.
 * deadline_ns is 0 the first time, then the value passed to again(). False: there is no room, or
 * the time is up; the caller still owns the MAD.
 */
bool sa_park_add(struct sa_park *park, struct vendor_mad *mad, uint64_t want, uint64_t deadline_ns);
/*
 * Calls again() for requests that want tables of one LID, and for those that want tables of all
 * ports of a kind whose bit is set. SA_PARK_EARLY alone wakes those that wait for a subnet, and no
 * others.
 */
void sa_park_wake(struct sa_park *park, uint64_t kinds);

#endif
