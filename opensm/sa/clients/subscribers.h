// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The registry of subscriptions (InformInfo, IBA 13.4.8.3), by port, QP and what is subscribed to.
 * Owned by the sa actor.
 */
#ifndef SA_CLIENTS_SUBSCRIBERS_H
#define SA_CLIENTS_SUBSCRIBERS_H

#include "sa/clients/notices.h"
#include "sa/clients/quota.h"
#include "subnet/subnet.h"
#include "vendor/vendor.h"

/* Port GUID, QPN, and InformInfo without what differs between Subscribe and Unsubscribe. */
struct sa_subscription_key {
	uint8_t octets[8 + 4 + iba_inform_info_bytes];
};

struct sa_subscription {
	struct sa_subscription_key key;
	struct iba_inform_info info; /* qpn: the subscriber's */
	uint64_t guid;		     /* of the subscriber's port */
	struct vendor_address to;    /* where its request came from */
	bool trusted;		     /* its request was vouched for, see sa_requester */
	uint16_t enumeration;	     /* as in InformInfoRecord */
	uint64_t id;		     /* unique, never used again */
	uint64_t gone_ns;	     /* since when the port is gone; 0: it is present */
	/* Used by report.c. */
	bool is_followed;		/* it has begun to look at notices */
	uint64_t seen[SA_NOTICE_KINDS]; /* serial of the last notice of each kind looked at */
	unsigned int kind;		/* the kind it looks at next */
	struct sa_notice *told;	     /* by its last Report; NULL: that was answered, or given up */
	uint64_t missed;	     /* notices that were not reported to it */
	bool is_stale;		     /* some of the missed notices mattered to its client */
	uint64_t asked_until;	     /* its client is not asked to register again before then */
	unsigned int unanswered;     /* Reports in a row */
	uint64_t rests_until;	     /* no Reports before then; 0: it does not rest */
	uint16_t p_key;		     /* with which it subscribed; 0: not known */
	bool is_asked;		     /* a Report is out */
	bool is_slow;		     /* the first try of its last Report was not answered in time */
	struct sa_report_line *line; /* where it waits; NULL: it does not wait */
	GList link;		     /* in that line */
};

struct sa_subscribers;

/* Callbacks for each change. */
struct sa_subscribers_watch {
	void (*added)(void *arg, struct sa_subscription *subscription);
	void (*removed)(void *arg, struct sa_subscription *subscription);
};

struct sa_subscribers *sa_subscribers_new(void);
void sa_subscribers_free(struct sa_subscribers *subscribers);
void sa_subscribers_clear(struct sa_subscribers *subscribers);
/* At most two watches. */
void sa_subscribers_watch(struct sa_subscribers *subscribers,
			  const struct sa_subscribers_watch *watch, void *arg);
unsigned int sa_subscribers_count(const struct sa_subscribers *subscribers);

struct sa_subscription_key sa_subscription_key(uint64_t guid, uint32_t qpn,
					       const struct iba_inform_info *info);
unsigned int sa_subscribers_of(const struct sa_subscribers *subscribers,
			       uint64_t guid); /* of a port */
struct sa_subscription *sa_subscribers_find(const struct sa_subscribers *subscribers,
					    const struct sa_subscription_key *key);
/*
 * Adds a subscription of the QP that the address names, or updates its address. NULL: the port, or
 * all ports together, have reached the limit.
 */
struct sa_subscription *sa_subscribers_add(struct sa_subscribers *subscribers, uint64_t guid,
					   const struct vendor_address *to,
					   const struct iba_inform_info *info, bool trusted);
/* Adds a subscription from before a restart: the limit of one port does not apply. */
struct sa_subscription *sa_subscribers_restore(struct sa_subscribers *subscribers, uint64_t guid,
					       const struct vendor_address *to,
					       const struct iba_inform_info *info, bool trusted);
void sa_subscribers_bound(struct sa_subscribers *subscribers, const struct subnet *subnet);
void sa_subscribers_remove(struct sa_subscribers *subscribers,
			   struct sa_subscription *subscription);
/*
 * Calls visit for each, by port GUID, until it returns false. visit must not change the registry.
 */
void sa_subscribers_each(const struct sa_subscribers *subscribers,
			 bool (*visit)(struct sa_subscription *subscription, void *arg), void *arg);
/* Removes those of absent ports, as sa_services_follow() does. */
void sa_subscribers_follow(struct sa_subscribers *subscribers, const struct subnet *subnet,
			   uint64_t now);

#endif
