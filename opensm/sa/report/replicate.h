// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The registries of the SA as entries of a replica. */
#ifndef SA_REPORT_REPLICATE_H
#define SA_REPORT_REPLICATE_H

#include "ha/replicator.h"
#include "sa/registries.h"

/* The watch's arg is a struct replicator. */
extern const struct sa_store_watch sa_replicate_watch;
extern const struct sa_subscribers_watch sa_replicate_subscriptions;
/* The watch for services; its arg is a struct replicator too. */
void sa_replicate_service(void *replicator, const struct sa_service *service, bool gone);
void sa_replicate_alias(void *replicator, const struct alias_guid *alias, bool forgotten);

/* Replicates the time by which leases end. */
void sa_replicate_clock(struct replicator *replicator, uint64_t now);

/*
 * Loads the registries of another SM into empty ones; returns the number of malformed entries,
 * which are skipped. Leases continue from the last time the other SM was heard of, see
 * sa_replicate_clock().
 */
unsigned int sa_replicate_adopt(const struct sa_registries *registries,
				const struct replica *replica, uint64_t now);

#endif
