// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What clients register with the SA. Owned by the sa actor. */
#ifndef SA_REGISTRIES_H
#define SA_REGISTRIES_H

#include "sa/clients/aliases.h"
#include "sa/clients/services.h"
#include "sa/clients/subscribers.h"
#include "sa/groups/store.h"

struct sa_registries {
	struct sa_store *groups;
	struct sa_services *services;
	struct sa_subscribers *subscribers;
	struct sa_aliases *aliases;
};

/* Empty registries. first_made: number of the first MGID and alias GUID that the SA makes up. */
static inline struct sa_registries sa_registries_new(uint32_t first_made)
{
	return (struct sa_registries){.groups = sa_store_new(first_made),
				      .services = sa_services_new(),
				      .subscribers = sa_subscribers_new(),
				      .aliases = sa_aliases_new(first_made)};
}

/* Sets how many entries one port may make. */
static inline void sa_registries_bound(const struct sa_registries *registries,
				       const struct subnet *subnet)
{
	sa_store_bound(registries->groups, subnet);
	sa_services_bound(registries->services, subnet);
	sa_subscribers_bound(registries->subscribers, subnet);
}

/* The GUID of the port that has this GUID as an alias; if no port has it, the GUID itself. */
static inline uint64_t sa_registries_owner(const struct sa_registries *registries, uint64_t guid)
{
	const struct alias_guid *alias =
		alias_guids_find(sa_aliases_now(registries->aliases), guid);

	return alias ? alias->port : guid;
}

static inline void sa_registries_free(const struct sa_registries *registries)
{
	sa_store_free(registries->groups);
	sa_services_free(registries->services);
	sa_subscribers_free(registries->subscribers);
	sa_aliases_free(registries->aliases);
}

#endif
