// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counts the entries of a registry, in all and per port; both numbers are limited.
 *
 *			of all ports		of one port
 *	groups		SA_MAX_GROUPS		sa_max_groups, 0: a sixteenth of the MLIDs
 *	memberships	SA_MAX_MEMBERSHIPS	sa_max_memberships
 *	services	SA_MAX_SERVICES		sa_max_services
 *	subscriptions	SA_MAX_SUBSCRIPTIONS	sa_max_subscriptions
 *	alias GUIDs	SA_ALIASES_MAX		its GUIDCap
 *
 * The limits of one port are options. Half of the limit for all ports is divided evenly: each
 * endport of the subnet may always use its part of it. The other half is for ports that want more;
 * a port may have at most an eighth of what is left of it, so that many ports that take as much as
 * they can do not take all of it.
 */
#ifndef SA_CLIENTS_QUOTA_H
#define SA_CLIENTS_QUOTA_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "fabric/fabric.h"

/* For one port, until options are known. */
#define SA_MEMBERSHIPS_OF_PORT 4096
#define SA_SERVICES_OF_PORT 1024
#define SA_SUBSCRIPTIONS_OF_PORT 64

#define SA_MAX_GROUPS (1u << 17)
#define SA_MAX_MEMBERSHIPS (1u << 22)
#define SA_MAX_SERVICES (1u << 16)
#define SA_MAX_SUBSCRIPTIONS (1u << 16)

struct sa_quota {
	GHashTable *by_port; /* uint64_t port GUID, owned -> entries */
	unsigned int n, max, max_of_port;
	unsigned int part;   /* each port may always have; 0: subnet not known yet */
	unsigned int beyond; /* entries of ports beyond their part */
};

void sa_quota_init(struct sa_quota *quota, unsigned int max, unsigned int max_of_port);
void sa_quota_clear(struct sa_quota *quota);
/*
 * max_of_port: limit for one port; 0: the same as for all. The parts are computed for this fabric.
 */
void sa_quota_follow(struct sa_quota *quota, unsigned int max_of_port, const struct fabric *fabric);
unsigned int sa_quota_of(const struct sa_quota *quota, uint64_t port_guid); /* entries */
/* Whether that port may have one more. GUID 0 is not a port: only the limit for all applies. */
bool sa_quota_allows(const struct sa_quota *quota, uint64_t port_guid);
/* Counts one more entry, whether it is allowed or not. */
void sa_quota_count(struct sa_quota *quota, uint64_t port_guid);
/* Checks and counts; false: that port, or all ports together, have reached the limit. */
bool sa_quota_take(struct sa_quota *quota, uint64_t port_guid);
void sa_quota_give(struct sa_quota *quota, uint64_t port_guid);

#endif
