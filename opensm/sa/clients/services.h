// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The registry of services (IBA 15.2.5.14), by ServiceID, ServiceGID and ServiceP_Key without its
 * membership bit. Owned by the sa actor.
 */
#ifndef SA_CLIENTS_SERVICES_H
#define SA_CLIENTS_SERVICES_H

#include "sa/clients/quota.h"
#include "subnet/aliases.h"
#include "subnet/subnet.h"

#define SA_LEASE_FOREVER UINT32_MAX    /* seconds */
#define SA_ABSENCE_NS (600 * NS_PER_S) /* services outlive their port by this time */

struct sa_service {
	struct iba_service_record record; /* as registered; service_lease: see expires_ns */
	uint64_t owner;			  /* GUID of the port that registered it */
	bool by_gid;			  /* allowed because the ServiceGID was the port's own */
	uint64_t expires_ns;		  /* UINT64_MAX: never */
	uint64_t gone_ns;		  /* since when the port is gone; 0: it is present */
	size_t place;			  /* private: index in the heap of leases */
};

struct sa_services;

struct sa_services *sa_services_new(void);
void sa_services_free(struct sa_services *services);
void sa_services_clear(struct sa_services *services);
/* Sets a callback for each change. */
void sa_services_watch(struct sa_services *services,
		       void (*changed)(void *arg, const struct sa_service *service, bool gone),
		       void *arg);

/* The service with the record's ServiceID, ServiceGID and ServiceP_Key, or NULL. */
struct sa_service *sa_services_find(const struct sa_services *services,
				    const struct iba_service_record *record);
/*
 * Adds or replaces a service; its lease begins now. by_gid: the owner has the ServiceGID. NULL: the
 * owner, or all ports together, have reached the limit.
 */
struct sa_service *sa_services_put(struct sa_services *services,
				   const struct iba_service_record *record, uint64_t owner,
				   bool by_gid, uint64_t now);
/* Adds a service from before a restart: the limit of one port does not apply. */
struct sa_service *sa_services_restore(struct sa_services *services,
				       const struct iba_service_record *record, uint64_t owner,
				       bool by_gid, uint64_t now);
/* Whether the endport that has the ServiceGID now is not the one that registered the service. */
bool sa_service_is_stale(const struct sa_service *service, const struct fabric *fabric,
			 uint32_t port);
void sa_services_bound(struct sa_services *services, const struct subnet *subnet);
unsigned int sa_services_of(const struct sa_services *services, uint64_t owner); /* their number */
unsigned int sa_services_n(const struct sa_services *services);
void sa_services_remove(struct sa_services *services, struct sa_service *service);
/*
 * Calls visit for each service, in the order of ServiceIDs from first_id, until it returns false.
 */
void sa_services_each(const struct sa_services *services, uint64_t first_id,
		      bool (*visit)(const struct sa_service *service, void *arg), void *arg);
uint32_t sa_service_lease(const struct sa_service *service, uint64_t now); /* time left */

/* Removes services whose lease is over; returns when the next one ends, UINT64_MAX: never. */
uint64_t sa_services_expire(struct sa_services *services, uint64_t now);
/*
 * Removes services whose port has been gone from the subnet for SA_ABSENCE_NS (at once with
 * drop_event_subscriptions), and stale ones.
 */
void sa_services_follow(struct sa_services *services, const struct subnet *subnet,
			const struct alias_guids *aliases, uint64_t now);

#endif
