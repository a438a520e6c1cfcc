// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ServiceRecord (IBA 15.2.5.14): ports announce where a service is, and look services up.
 *
 * A port registers services of its own GIDs, and of multicast groups of its partitions. The port
 * that registered a service may change and remove it, as may any port that gives its ServiceKey;
 * the classic daemon lets any port do so. If another port has the GID by now, the service no longer
 * exists: no port is told of it, and the new port may register its own. The ServiceP_Key must be
 * one of the port's, and a port that has no P_Key of that partition is not told of the service.
 * Trusted requesters may do all of this.
 */
#include <string.h>

#include "sa/sa_private.h"

#define C(name) IBA_COMPONENT(service_record, name)
#define NEEDS (C(service_id) | C(service_gid))

/* ---- which service ---- */

/* Replaces the default prefix with the subnet's own. */
static struct iba_gid normal_gid(const struct sa_query *query, struct iba_gid gid)
{
	if (sa_prefix_is_local(query, gid.prefix))
		gid.prefix = query->subnet->options->subnet_prefix;
	return gid;
}

/*
 * The requested service, completed where the request leaves fields open. A Delete means the
 * identifiers in its record, whatever its ComponentMask says: osmtest's has only ServiceName.
 */
static struct iba_service_record wanted_service(const struct sa_query *query)
{
	bool is_set = query->header.method == IBA_METHOD_SET;
	struct iba_service_record record = query->wanted.service;

	record.service_gid = normal_gid(query, record.service_gid);
	if (!sa_wants(query, C(service_p_key)) && (is_set || !record.service_p_key))
		record.service_p_key = P_KEY_DEFAULT;
	if (!sa_wants(query, C(service_lease)))
		record.service_lease = SA_LEASE_FOREVER;
	if (!sa_wants(query, C(service_key)))
		memset(record.service_key, 0, sizeof(record.service_key));
	return record;
}

static uint64_t requester_guid(const struct sa_query *query)
{
	return query->subnet->fabric->ports[query->from.port].guid;
}

static bool knows_key(const struct sa_service *service, const struct iba_service_record *wanted)
{
	static const uint8_t none[sizeof(wanted->service_key)];

	return memcmp(service->record.service_key, none, sizeof(none)) != 0 &&
	       memcmp(service->record.service_key, wanted->service_key, sizeof(none)) == 0;
}

static bool is_stale(const struct sa_query *query, const struct sa_service *service)
{
	return sa_service_is_stale(service, query->subnet->fabric,
				   sa_port_by_guid(query, service->record.service_gid.guid));
}

/* A stale service may be changed by any port that may register it now. */
static bool may_change(const struct sa_query *query, const struct sa_service *service,
		       const struct iba_service_record *wanted)
{
	return query->from.privileged || service->owner == requester_guid(query) ||
	       knows_key(service, wanted) || is_stale(query, service);
}

/* The record as the requester may see it. */
static struct iba_service_record shown(const struct sa_query *query,
				       const struct sa_service *service)
{
	struct iba_service_record record = service->record;

	record.service_lease = sa_service_lease(service, query->now);
	if (!query->from.privileged)
		memset(record.service_key, 0, sizeof(record.service_key));
	return record;
}

static void put_answer(struct sa_query *query, const struct sa_service *service)
{
	struct iba_service_record record = shown(query, service);

	record.service_gid = query->wanted.service.service_gid;
	sa_put(query, &record);
}

/* ---- Set, Delete ---- */

/*
 * GIDs a port may register services for by itself. osmtest uses prefix 0x80fe: any prefix will do.
 */
static bool names_own(const struct sa_query *query, struct iba_gid gid)
{
	return iba_gid_is_multicast(gid) || sa_port_by_guid(query, gid.guid) == query->from.port;
}

/* A GID of the requester's own, which no other port may have. */
static bool owns(const struct sa_query *query, struct iba_gid gid)
{
	return !iba_gid_is_multicast(gid) && names_own(query, gid);
}

/* Whether the requester may register the service, replacing service; NULL: there is none yet. */
static bool may_register(const struct sa_query *query, const struct sa_service *service,
			 const struct iba_service_record *wanted)
{
	if (!sa_is_of_partition(query, wanted->service_p_key))
		return false;
	return query->from.privileged || names_own(query, wanted->service_gid) ||
	       (service && knows_key(service, wanted));
}

/* Changing a service of another port does not change its owner. */
static uint64_t owner_after(const struct sa_query *query, const struct sa_service *service,
			    const struct iba_service_record *wanted)
{
	return service && !names_own(query, wanted->service_gid) ? service->owner
								 : requester_guid(query);
}

uint16_t sa_service_set(struct sa_query *query)
{
	struct sa_services *services = query->registries->services;
	struct iba_service_record wanted = wanted_service(query);
	struct sa_service *service = sa_services_find(services, &wanted);
	uint64_t owner = owner_after(query, service, &wanted);

	if (~query->mask & NEEDS)
		return IBA_SA_INSUFFICIENT_COMPONENTS;
	if (!may_register(query, service, &wanted))
		return IBA_SA_REQ_INVALID;
	if (service && !may_change(query, service, &wanted))
		return IBA_SA_DENIED;
	if (!(service && service->owner == owner) &&
	    !sa_has_quota(query, sa_services_of(services, owner),
			  query->subnet->options->sa_etm_max_num_srvcs))
		return IBA_SA_NO_RESOURCES;
	service = sa_services_put(services, &wanted, owner, owns(query, wanted.service_gid),
				  query->now);
	if (!service)
		return sa_refuse_more(query);
	put_answer(query, service);
	return IBA_STATUS_OK;
}

uint16_t sa_service_remove(struct sa_query *query)
{
	struct sa_services *services = query->registries->services;
	struct iba_service_record wanted = wanted_service(query);
	struct sa_service *service = sa_services_find(services, &wanted);

	if (!service || is_stale(query, service))
		return IBA_SA_NO_RECORDS;
	if (!may_change(query, service, &wanted)) /* as if it did not exist, if hidden */
		return sa_is_of_partition(query, service->record.service_p_key) ? IBA_SA_DENIED
										: IBA_SA_NO_RECORDS;
	put_answer(query, service);
	sa_services_remove(services, service);
	return IBA_STATUS_OK;
}

/* ---- Get, GetTable ---- */

struct visit {
	struct sa_query *query;
	uint64_t id; /* the only one wanted, if has_id */
	bool has_id, has_p_key;
	uint16_t p_key;	    /* the only one wanted, if has_p_key */
	const uint8_t *key; /* NULL: any */
};

/* Compares what sa_offer() cannot: P_Keys without membership bit, and a key that is not shown. */
static bool is_meant(const struct visit *visit, const struct iba_service_record *record)
{
	if (visit->has_p_key && P_KEY_BASE(visit->p_key) != P_KEY_BASE(record->service_p_key))
		return false;
	return !visit->key ||
	       memcmp(visit->key, record->service_key, sizeof(record->service_key)) == 0;
}

static bool offer_service(const struct sa_service *service, void *arg)
{
	const struct visit *visit = arg;
	struct sa_query *query = visit->query;
	struct iba_service_record record = shown(query, service);

	if (visit->has_id && record.service_id != visit->id)
		return false;
	if (!is_meant(visit, &service->record) ||
	    !sa_is_of_partition(query, service->record.service_p_key) || is_stale(query, service))
		return true;
	return sa_offer(query, &record, FABRIC_NONE);
}

uint16_t sa_service_each(struct sa_query *query)
{
	struct iba_service_record *wanted = &query->wanted.service;
	struct visit visit = {
		.query = query,
		.has_id = sa_wants(query, C(service_id)),
		.id = wanted->service_id,
		.has_p_key = sa_wants(query, C(service_p_key)),
		.p_key = wanted->service_p_key,
		.key = sa_wants(query, C(service_key)) ? wanted->service_key : NULL,
	};

	wanted->service_gid = normal_gid(query, wanted->service_gid);
	query->mask &= ~C(service_p_key);
	sa_services_each(query->registries->services, visit.has_id ? visit.id : 0, offer_service,
			 &visit);
	return IBA_STATUS_OK;
}
