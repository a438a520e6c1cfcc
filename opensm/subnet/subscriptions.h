// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Subscriptions to notices as the SA shows them, by port GUID: immutable and reference counted. */
#ifndef SUBNET_SUBSCRIPTIONS_H
#define SUBNET_SUBSCRIPTIONS_H

#include "complib/handoff.h"
#include "iba/iba.h"

struct subscription_shown {
	uint64_t guid; /* of the subscriber's port */
	uint16_t lid;
	uint32_t qpn;
	struct iba_inform_info info;
	uint64_t missed;	 /* notices not reported to it, since it subscribed */
	unsigned int unanswered; /* Reports in a row */
};

struct subscriptions {
	struct ref ref;
	unsigned int n;
	struct subscription_shown rows[];
};

struct subscriptions *subscriptions_new(unsigned int n); /* all zero */
struct subscriptions *subscriptions_ref(struct subscriptions *subscriptions);
void subscriptions_unref(struct subscriptions *subscriptions); /* NULL is fine */

#endif
