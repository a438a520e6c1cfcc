// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Answers of Set and Delete: those that may not leave before what they promise is so, and those
 * that left lately. A request that comes again (same requester, TransactionID and octets) makes
 * nothing new: its answer is on its way, or is repeated word for word. Once another request about
 * the same object was answered that ends when no copy can be under way any more: then the same
 * octets are a new request, as of a client that was restarted and whose TransactionIDs begin anew.
 * It ends at once if that other one had the same TransactionID, as all of its client may have.
 * So they are when what was answered is no longer so, though no request undid it. Owned by the sa
 * actor.
 */
#ifndef SA_ADMIT_HOLD_H
#define SA_ADMIT_HOLD_H

#include "core/context.h"
#include "mad/mad.h"

/* What an answer may wait for. Each topic has serials of its own, which grow. */
enum sa_hold_topic {
	SA_HOLD_REPLICA, /* the standbys know of it */
	SA_HOLD_GROUPS,	 /* the groups of that serial are programmed */
	SA_HOLD_ALIASES, /* the alias GUIDs of that serial are */
	SA_HOLD_TOPICS,
};

#define SA_HOLD_MAX 16384	   /* answers that left and are remembered, */
#define SA_HOLD_NS (10 * NS_PER_S) /* for so long; */
#define SA_HOLD_PASSED_NS (2 * NS_PER_S) /* only so long once there was another of the object */

struct sa_hold;

struct sa_hold *sa_hold_new(struct context *context, struct actor *actor, struct mad *mad);
void sa_hold_free(struct sa_hold *hold);
/*
 * Has stands() asked, before an answer to that requester is repeated, whether what it tells is
 * still so. It is not asked once there was another request about the object.
 */
void sa_hold_judge(struct sa_hold *hold,
		   bool (*stands)(void *arg, const struct vendor_address *requester,
				  const uint8_t *answer),
		   void *arg);
/* Another SM is master: who still waits asks that one. */
void sa_hold_clear(struct sa_hold *hold);

/*
 * Sends a good answer of one MAD when all topics have reached the serials in until (0: it does not
 * wait for that), or at the deadline; 0: there is none. Takes over request and answer (g_free).
 */
void sa_hold_answer(struct sa_hold *hold, struct vendor_mad *request, uint8_t *answer,
		    const uint64_t until[SA_HOLD_TOPICS], uint64_t deadline_ns);
/* All up to that serial is done. */
void sa_hold_reached(struct sa_hold *hold, enum sa_hold_topic topic, uint64_t serial);

unsigned int sa_hold_waiting(const struct sa_hold *hold);

/* If it was here before, takes it over and sees to the answer. */
bool sa_hold_again(struct sa_hold *hold, struct vendor_mad *request);

#endif
