// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Answers of Set and Delete: those that may not leave before what they promise is true, and those
 * that left recently. A repeated request (same requester, TransactionID and octets) changes
 * nothing: its answer is on its way, or is sent again unchanged. Once another request about the
 * same object was answered, this ends as soon as no copy can still be in flight: then the same
 * octets are a new request, as from a client that was restarted and whose TransactionIDs start
 * over. It ends at once if the other request had the same TransactionID, as all requests of that
 * client may have. A repeated request is also new if its answer has become outdated without another
 * request. Owned by the sa actor.
 */
#ifndef SA_ADMIT_HOLD_H
#define SA_ADMIT_HOLD_H

#include "core/context.h"
#include "mad/mad.h"

/* What an answer may wait for. Each topic has its own serials, which grow. */
enum sa_hold_topic {
	SA_HOLD_REPLICA, /* the standbys have the change */
	SA_HOLD_GROUPS,	 /* the groups of that serial are programmed */
	SA_HOLD_ALIASES, /* the alias GUIDs of that serial are programmed */
	SA_HOLD_TOPICS,
};

#define SA_HOLD_MAX 16384	   /* answers remembered after they left, */
#define SA_HOLD_NS (10 * NS_PER_S) /* for so long; */
#define SA_HOLD_PASSED_NS (2 * NS_PER_S) /* after another request about the object */

struct sa_hold;

struct sa_hold *sa_hold_new(struct context *context, struct actor *actor, struct mad *mad);
void sa_hold_free(struct sa_hold *hold);
/*
 * Before an answer to that requester is repeated, stands() is asked whether what it says is still
 * true. It is not asked once there was another request about the object.
 */
void sa_hold_judge(struct sa_hold *hold,
		   bool (*stands)(void *arg, const struct vendor_address *requester,
				  const uint8_t *answer),
		   void *arg);
/* Another SM is master: clients that still wait repeat their requests there. */
void sa_hold_clear(struct sa_hold *hold);

/*
 * Sends a successful answer of one MAD when all topics have reached the serials in until (0: do not
 * wait for that topic), or at the deadline; 0: no deadline. Takes ownership of request and answer
 * (g_free).
 */
void sa_hold_answer(struct sa_hold *hold, struct vendor_mad *request, uint8_t *answer,
		    const uint64_t until[SA_HOLD_TOPICS], uint64_t deadline_ns);
/* Everything up to that serial is done. */
void sa_hold_reached(struct sa_hold *hold, enum sa_hold_topic topic, uint64_t serial);

unsigned int sa_hold_waiting(const struct sa_hold *hold);

/* If the request is a repeated one, takes ownership of it, sees to the answer and returns true. */
bool sa_hold_again(struct sa_hold *hold, struct vendor_mad *request);

#endif
