// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the other SMs of the subnet last reported of themselves, for readers: immutable and
 * reference-counted. A MASTER knows all SMs that it polls, a STANDBY its master.
 */
#ifndef SM_ELECTION_PEERS_H
#define SM_ELECTION_PEERS_H

#include "complib/handoff.h"
#include "sm/election/election.h"

struct peer {
	struct election_sm sm;
	uint64_t heard_ns; /* time of that report; 0: it was found, and has not answered since */
};

struct peers {
	struct ref ref;
	uint64_t own; /* GUID of this SM's port */
	unsigned int n;
	struct peer peers[];
};

struct peers *peers_new(unsigned int n); /* all zero */
struct peers *peers_ref(struct peers *peers);
void peers_unref(struct peers *peers); /* NULL is fine */

#endif
