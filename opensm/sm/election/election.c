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
 * A master that finds a master of lower rank waits for its HANDOVER; a master that finds an SM of
 * higher rank, master or standby, hands over to it. An SM in DISCOVERING decides for itself.
 *
 * Ability takes precedence over rank. An SM that is unable to set the subnet hands over to any that
 * is able, and does not become master: if there is no other SM it abstains. No SM hands over to one
 * that falls short of it; but it does to a master of which it falls short itself, whatever their
 * ranks.
 */
#include "sm/election/election.h"

#include <stddef.h>

#include "iba/iba.h"

bool election_outranks(const struct election_sm *a, const struct election_sm *b)
{
	if (a->ability.unable != b->ability.unable)
		return b->ability.unable;
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

/* Whether the other SM may lead instead of own. */
static bool may_lead(const struct election_sm *own, const struct election_sm *other)
{
	if (other->ability.unable)
		return false;
	return own->ability.unable || !ability_falls_short(&other->ability, &own->ability);
}

bool election_is_heir(const struct election_sm *other, const struct election_sm *master)
{
	return may_lead(master, other) && election_outranks(other, master);
}

/* The highest in rank of the SMs in one of these states that may lead instead of own; or NULL. */
static const struct election_sm *best_leader(const struct election_sm *own,
					     const struct election_sm *others, unsigned int n,
					     unsigned int states)
{
	const struct election_sm *best = NULL;

	for (unsigned int i = 0; i < n; i++)
		if (states >> others[i].state & 1 && may_lead(own, &others[i]) &&
		    (!best || election_outranks(&others[i], best)))
			best = &others[i];
	return best;
}

const struct election_sm *election_successor(const struct election_sm *own,
					     const struct election_sm *others, unsigned int n)
{
	const struct election_sm *best = best_leader(own, others, n, STANDBYS);

	if (!best)
		best = election_highest(others, n, STANDBYS);
	return best && best->ability.unable ? NULL : best;
}

static enum election_verdict decide_as_master(const struct election_sm *own,
					      const struct election_sm *others, unsigned int n,
					      const struct election_sm **whom)
{
	*whom = best_leader(own, others, n, MASTERS | STANDBYS);
	if (*whom && election_outranks(*whom, own))
		return ELECTION_HAND_OVER;
	*whom = best_leader(own, others, n, MASTERS); /* of lower rank */
	if (*whom && ability_falls_short(&own->ability, &(*whom)->ability))
		return ELECTION_HAND_OVER;
	if (own->ability.unable)
		return ELECTION_ABSTAIN;
	*whom = election_highest(others, n, MASTERS);
	return *whom ? ELECTION_AWAIT : ELECTION_MASTER;
}

static enum election_verdict decide_as_discoverer(const struct election_sm *own,
						  const struct election_sm *others, unsigned int n,
						  const struct election_sm **whom)
{
	*whom = election_highest(others, n, MASTERS);
	if (*whom && (own->ability.unable || !(*whom)->ability.unable))
		return ELECTION_FOLLOW;
	*whom = best_leader(own, others, n, STANDBYS | DISCOVERERS);
	if (*whom && election_outranks(*whom, own))
		return ELECTION_FOLLOW;
	return own->ability.unable ? ELECTION_ABSTAIN : ELECTION_MASTER;
}

enum election_verdict election_decide(const struct election_sm *own,
				      const struct election_sm *others, unsigned int n,
				      const struct election_sm **whom)
{
	return own->state == IBA_SM_MASTER ? decide_as_master(own, others, n, whom)
					   : decide_as_discoverer(own, others, n, whom);
}

/* C14-59 ff.: only a master controls others; only a former standby acknowledges. */
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
	default: /* STANDBY; a repeated ACKNOWLEDGE */
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
	if (control == IBA_SM_INFO_HANDOVER && own->ability.unable)
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
	default: /* DISCOVERING: it decides for itself */
		return refused;
	}
}
