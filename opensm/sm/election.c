// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state machine of IBA 14.4.1:
 *
 *	                    a master, or one of higher rank
 *	  DISCOVERING ---------------------------------------> STANDBY --DISABLE--> NOT-ACTIVE
 *	   |      ^  ^------- DISCOVER, the master is silent ----'  ^ ^--- STANDBY ----'
 *	   |      |                                                 |
 *	   | none | its own port is down                            | ACKNOWLEDGE of a HANDOVER
 *	   v      |                                                 |
 *	  MASTER -+-------------------------------------------------+
 *	   ^---------------------- HANDOVER -----------------------'
 *
 * A master that meets a master of lower rank waits for its HANDOVER; one that meets an SM of
 * higher rank, master or standby, hands over to it. Who is only discovering is left to find out.
 */
#include "sm/election.h"

#include <stddef.h>

#include "iba/iba.h"

bool election_outranks(const struct election_sm *a, const struct election_sm *b)
{
	return a->priority != b->priority ? a->priority > b->priority : a->guid < b->guid;
}

const struct election_sm *election_highest(const struct election_sm *others, unsigned int n,
					   unsigned int states)
{
	const struct election_sm *best = NULL;

	for (unsigned int i = 0; i < n; i++)
		if (states >> others[i].state & 1 && (!best || election_outranks(&others[i], best)))
			best = &others[i];
	return best;
}

#define MASTERS (1u << IBA_SM_MASTER)
#define STANDBYS (1u << IBA_SM_STANDBY)
#define DISCOVERERS (1u << IBA_SM_DISCOVERING)

static enum election_verdict decide_as_master(const struct election_sm *own,
					      const struct election_sm *others, unsigned int n,
					      const struct election_sm **whom)
{
	*whom = election_highest(others, n, MASTERS | STANDBYS);
	if (*whom && election_outranks(*whom, own))
		return ELECTION_HAND_OVER;
	*whom = election_highest(others, n, MASTERS);
	return *whom ? ELECTION_AWAIT : ELECTION_MASTER;
}

enum election_verdict election_decide(const struct election_sm *own,
				      const struct election_sm *others, unsigned int n,
				      const struct election_sm **whom)
{
	if (own->state == IBA_SM_MASTER)
		return decide_as_master(own, others, n, whom);
	*whom = election_highest(others, n, MASTERS);
	if (*whom)
		return ELECTION_FOLLOW;
	*whom = election_highest(others, n, STANDBYS | DISCOVERERS);
	return *whom && election_outranks(*whom, own) ? ELECTION_FOLLOW : ELECTION_MASTER;
}

/* C14-59 ff.: only a master controls others; only who was standby acknowledges. */
static bool may_send(unsigned int control, uint8_t state)
{
	if (control == IBA_SM_INFO_ACKNOWLEDGE)
		return state == IBA_SM_STANDBY || state == IBA_SM_MASTER;
	return state == IBA_SM_MASTER;
}

static struct election_answer as_standby(unsigned int control)
{
	switch (control) {
	case IBA_SM_INFO_HANDOVER:
		return (struct election_answer){
			.state = IBA_SM_MASTER, .acknowledge = true, .sweep = true};
	case IBA_SM_INFO_DISABLE:
		return (struct election_answer){.state = IBA_SM_NOT_ACTIVE};
	case IBA_SM_INFO_DISCOVER:
		return (struct election_answer){.state = IBA_SM_DISCOVERING, .sweep = true};
	default: /* STANDBY; an ACKNOWLEDGE that comes again */
		return (struct election_answer){.state = IBA_SM_STANDBY};
	}
}

static struct election_answer as_master(unsigned int control, bool awaited)
{
	struct election_answer answer = {.state = IBA_SM_MASTER};

	switch (control) {
	case IBA_SM_INFO_HANDOVER:
		answer.acknowledge = answer.sweep = true;
		break;
	case IBA_SM_INFO_ACKNOWLEDGE:
		if (awaited)
			answer.state = IBA_SM_STANDBY;
		break;
	default:
		answer.refused = true;
	}
	return answer;
}

struct election_answer election_control(const struct election_sm *own, unsigned int control,
					const struct election_sm *sender, bool awaited)
{
	const struct election_answer refused = {.refused = true, .state = own->state};

	if (control < IBA_SM_INFO_HANDOVER || control > IBA_SM_INFO_DISCOVER ||
	    !may_send(control, sender->state))
		return refused;
	switch (own->state) {
	case IBA_SM_STANDBY:
		return as_standby(control);
	case IBA_SM_MASTER:
		return as_master(control, awaited);
	case IBA_SM_NOT_ACTIVE:
		if (control == IBA_SM_INFO_STANDBY)
			return (struct election_answer){.state = IBA_SM_STANDBY};
		if (control == IBA_SM_INFO_DISABLE)
			return (struct election_answer){.state = IBA_SM_NOT_ACTIVE};
		return refused;
	default: /* DISCOVERING: it will find out by itself */
		return refused;
	}
}
