// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which SM is master (IBA 14.4.1): by ability, then by rank; by what each tells and sends. Pure. */
#ifndef SM_ELECTION_ELECTION_H
#define SM_ELECTION_ELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "sm/election/ability.h"

/* What an SM tells of itself in SMInfo. */
struct election_sm {
	uint64_t guid;
	uint8_t priority;
	uint8_t state; /* IBA_SM_NOT_ACTIVE .. IBA_SM_MASTER */
	struct ability ability;
};

/*
 * By priority; of equal ones the lower GUID is the higher rank. One that says that it is unable to
 * set the subnet is below all others.
 */
bool election_outranks(const struct election_sm *a, const struct election_sm *b);

/* The highest in rank of those in one of the states (bits 1 << IBA_SM_..); NULL: there are none. */
const struct election_sm *election_highest(const struct election_sm *others, unsigned int n,
					   unsigned int states);

/* Whether the master is to hand over to the other one, if that is standby or master. */
bool election_is_heir(const struct election_sm *other, const struct election_sm *master);

/* The standby to which a master hands over as it ends; NULL: none could lead. */
const struct election_sm *election_successor(const struct election_sm *own,
					     const struct election_sm *others, unsigned int n);

enum election_verdict {
	ELECTION_MASTER,    /* be master, or stay it */
	ELECTION_FOLLOW,    /* be the standby of *whom, who is master or about to be */
	ELECTION_HAND_OVER, /* *whom has the higher rank: the master hands over to it */
	ELECTION_AWAIT,	    /* *whom is a master too, of lower rank: it is to hand over */
	ELECTION_ABSTAIN,   /* this SM is unable, and no other one is to lead: nobody is */
};

/* What an SM in DISCOVERING or MASTER does when it has found the n others of its subnet. */
enum election_verdict election_decide(const struct election_sm *own,
				      const struct election_sm *others, unsigned int n,
				      const struct election_sm **whom);

/* What a Set(SMInfo) that another SM sends leads to. */
struct election_answer {
	bool refused;	  /* an answer with a status: it is not for this state, or this sender */
	uint8_t state;	  /* from now on */
	bool acknowledge; /* the sender is to be sent an ACKNOWLEDGE */
	bool sweep;	  /* the subnet is to be discovered, whatever is known */
};

/*
 * control is the AttributeModifier (IBA_SM_INFO_HANDOVER ..), awaited whether own hands over to
 * the sender just now.
 */
struct election_answer election_control(const struct election_sm *own, unsigned int control,
					const struct election_sm *sender, bool awaited);

#endif
