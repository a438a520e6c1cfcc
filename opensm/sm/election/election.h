// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which SM is master (IBA 14.4.1): by ability, then by rank; from what each reports and sends.
 * Pure.
 */
#ifndef SM_ELECTION_ELECTION_H
#define SM_ELECTION_ELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "sm/election/ability.h"

/* What an SM reports of itself in SMInfo. */
struct election_sm {
	uint64_t guid;
	uint8_t priority;
	uint8_t state; /* IBA_SM_NOT_ACTIVE .. IBA_SM_MASTER */
	struct ability ability;
};

/*
 * By priority; among equal ones the lower GUID has the higher rank. An SM that reports that it is
 * unable to set the subnet is below all others.
 */
bool election_outranks(const struct election_sm *a, const struct election_sm *b);

/*
 * The highest in rank of the SMs in one of these states (bits 1 << IBA_SM_..); NULL: there are
 * none.
 */
const struct election_sm *election_highest(const struct election_sm *others, unsigned int n,
					   unsigned int states);

/* Whether the master should hand over to the other one, if that is standby or master. */
bool election_is_heir(const struct election_sm *other, const struct election_sm *master);

/* The standby to which a master hands over when it ends; NULL: none can lead. */
const struct election_sm *election_successor(const struct election_sm *own,
					     const struct election_sm *others, unsigned int n);

enum election_verdict {
	ELECTION_MASTER,    /* become or stay master */
	ELECTION_FOLLOW,    /* be the standby of *whom, which is master or about to be */
	ELECTION_HAND_OVER, /* *whom has the higher rank: the master hands over to it */
	ELECTION_AWAIT,	    /* *whom is also a master, of lower rank: it should hand over */
	ELECTION_ABSTAIN,   /* this SM is unable, and no other should lead: no master */
};

/* What an SM in DISCOVERING or MASTER does when it has found the n others of its subnet. */
enum election_verdict election_decide(const struct election_sm *own,
				      const struct election_sm *others, unsigned int n,
				      const struct election_sm **whom);

/* The effect of a Set(SMInfo) from another SM. */
struct election_answer {
	bool refused;	  /* answer with a status: wrong for this state or from this sender */
	uint8_t state;	  /* from now on */
	bool acknowledge; /* send an ACKNOWLEDGE to the sender */
	bool sweep;	  /* discover the subnet again */
};

/*
 * control is the AttributeModifier (IBA_SM_INFO_HANDOVER ..); awaited: own is currently handing
 * over to the sender.
 */
struct election_answer election_control(const struct election_sm *own, unsigned int control,
					const struct election_sm *sender, bool awaited);

#endif
