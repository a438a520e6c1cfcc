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

/* Port GUID, QPN, InformInfo without what differs between subscribing and its end. */
struct sa_subscription_key {
	uint8_t octets[8 + 4 + iba_inform_info_bytes];
};

struct sa_subscription {
	struct sa_subscription_key key;
	struct iba_inform_info info; /* qpn: that of the subscriber */
	uint64_t guid;		     /* of its port */
	struct vendor_address to;    /* where its request came from */
	bool trusted;		     /* that request was vouched for, see sa_requester */
	uint16_t enumeration;	     /* of InformInfoRecord */
	uint64_t id;		     /* never that of another */
	uint64_t gone_ns;	     /* since when the port is gone; 0: it is not */
	/* Of report.c. */
	bool is_followed;		/* it began to look at notices */
	uint64_t seen[SA_NOTICE_KINDS]; /* serial of the last notice of each that it looked at */
	unsigned int kind;		/* at which it looks next */
	struct sa_notice *told;	     /* of its last Report; NULL: that was answered, or given up */
	uint64_t missed;	     /* notices that it was not told of */
	bool is_stale;		     /* of some of these its client should have heard */
	uint64_t asked_until;	     /* its client is not asked to register again before */
	unsigned int unanswered;     /* Reports in a row */
	uint64_t rests_until;	     /* is told nothing; 0: it does not rest */
	uint16_t p_key;		     /* by which it subscribed; 0: not known */
	bool is_asked;		     /* a Report is out */
	bool is_slow;		     /* the first try of its last Report was not answered in time */
	struct sa_report_line *line; /* where it waits; NULL: it does not */
	GList link;		     /* in that line */
};

struct sa_subscribers;

/* Who is told of each change. */
struct sa_subscribers_watch {
	void (*added)(void *arg, struct sa_subscription *subscription);
	void (*removed)(void *arg, struct sa_subscription *subscription);
};

struct sa_subscribers *sa_subscribers_new(void);
void sa_subscribers_free(struct sa_subscribers *subscribers);
void sa_subscribers_clear(struct sa_subscribers *subscribers);
/* At most two watch. */
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
 * Adds a subscription of the QP that the address names, or takes over its address. NULL: the port,
 * or all, have as many as they may.
 */
struct sa_subscription *sa_subscribers_add(struct sa_subscribers *subscribers, uint64_t guid,
					   const struct vendor_address *to,
					   const struct iba_inform_info *info, bool trusted);
/* The same of one that was there before: the bounds of one port do not count. */
struct sa_subscription *sa_subscribers_restore(struct sa_subscribers *subscribers, uint64_t guid,
					       const struct vendor_address *to,
					       const struct iba_inform_info *info, bool trusted);
void sa_subscribers_bound(struct sa_subscribers *subscribers, const struct subnet *subnet);
void sa_subscribers_remove(struct sa_subscribers *subscribers,
			   struct sa_subscription *subscription);
/* Calls visit for each, by port GUID, until it returns false. It may not change the registry. */
void sa_subscribers_each(const struct sa_subscribers *subscribers,
			 bool (*visit)(struct sa_subscription *subscription, void *arg), void *arg);
/* As sa_services_follow(). */
void sa_subscribers_follow(struct sa_subscribers *subscribers, const struct subnet *subnet,
			   uint64_t now);

#endif
