// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See services.h. A tree by key, a heap by end of lease, and quotas of ports that register. */
#include "sa/clients/services.h"

#include "complib/actor.h"
#include "complib/heap.h"

struct sa_services {
	GTree *all; /* struct sa_service, owned, by its record */
	struct heap leases;
	struct sa_quota quota;
	void (*changed)(void *arg, const struct sa_service *service, bool gone);
	void *arg;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static gint compare(gconstpointer a, gconstpointer b, gpointer arg)
{
	const struct iba_service_record *x = a, *y = b;
	int order = compare_numbers(x->service_id, y->service_id);

	(void)arg;
	if (!order)
		order = compare_numbers(x->service_gid.prefix, y->service_gid.prefix);
	if (!order)
		order = compare_numbers(x->service_gid.guid, y->service_gid.guid);
	if (!order)
		order = P_KEY_BASE(x->service_p_key) - P_KEY_BASE(y->service_p_key);
	return order;
}

static bool ends_before(const void *a, const void *b)
{
	const struct sa_service *x = a, *y = b;

	return x->expires_ns < y->expires_ns;
}

static size_t *place_of(void *service)
{
	return &((struct sa_service *)service)->place;
}

struct sa_services *sa_services_new(void)
{
	struct sa_services *services = g_new0(struct sa_services, 1);

	services->all = g_tree_new_full(compare, NULL, NULL, g_free);
	heap_init(&services->leases, ends_before, place_of);
	sa_quota_init(&services->quota, SA_MAX_SERVICES, SA_SERVICES_OF_PORT);
	return services;
}

void sa_services_free(struct sa_services *services)
{
	heap_clear(&services->leases);
	g_tree_unref(services->all);
	sa_quota_clear(&services->quota);
	g_free(services);
}

void sa_services_clear(struct sa_services *services)
{
	GTreeNode *node;

	while ((node = g_tree_node_first(services->all)))
		sa_services_remove(services, g_tree_node_value(node));
}

void sa_services_watch(struct sa_services *services,
		       void (*changed)(void *arg, const struct sa_service *service, bool gone),
		       void *arg)
{
	services->changed = changed;
	services->arg = arg;
}

static void tell(const struct sa_services *services, const struct sa_service *service, bool gone)
{
	if (services->changed)
		services->changed(services->arg, service, gone);
}

struct sa_service *sa_services_find(const struct sa_services *services,
				    const struct iba_service_record *record)
{
	return g_tree_lookup(services->all, record);
}

static void begin_lease(struct sa_services *services, struct sa_service *service, uint64_t now)
{
	uint32_t lease = service->record.service_lease;

	if (service->place)
		heap_remove(&services->leases, service);
	service->expires_ns = lease == SA_LEASE_FOREVER ? UINT64_MAX : now + lease * NS_PER_S;
	if (lease != SA_LEASE_FOREVER)
		heap_insert(&services->leases, service);
}

void sa_services_bound(struct sa_services *services, const struct subnet *subnet)
{
	sa_quota_follow(&services->quota, subnet->options->sa_max_services, subnet->fabric);
}

/* Adds or replaces. */
static struct sa_service *put(struct sa_services *services, const struct iba_service_record *record,
			      uint64_t owner, bool by_gid, uint64_t now)
{
	struct sa_service *service = sa_services_find(services, record);

	if (!service || service->owner != owner) {
		sa_quota_count(&services->quota, owner);
		if (service)
			sa_quota_give(&services->quota, service->owner);
	}
	if (!service) {
		service = g_new0(struct sa_service, 1);
		service->record = *record;
		g_tree_insert(services->all, &service->record, service);
	}
	service->record = *record;
	service->owner = owner;
	service->by_gid = by_gid;
	service->gone_ns = 0;
	begin_lease(services, service, now);
	tell(services, service, false);
	return service;
}

struct sa_service *sa_services_put(struct sa_services *services,
				   const struct iba_service_record *record, uint64_t owner,
				   bool by_gid, uint64_t now)
{
	const struct sa_service *service = sa_services_find(services, record);

	if (!(service && service->owner == owner) && !sa_quota_allows(&services->quota, owner))
		return NULL;
	return put(services, record, owner, by_gid, now);
}

struct sa_service *sa_services_restore(struct sa_services *services,
				       const struct iba_service_record *record, uint64_t owner,
				       bool by_gid, uint64_t now)
{
	if (!sa_services_find(services, record) && !sa_quota_allows(&services->quota, 0))
		return NULL;
	return put(services, record, owner, by_gid, now);
}

unsigned int sa_services_of(const struct sa_services *services, uint64_t owner)
{
	return sa_quota_of(&services->quota, owner);
}

unsigned int sa_services_n(const struct sa_services *services)
{
	return (unsigned int)g_tree_nnodes(services->all);
}

void sa_services_remove(struct sa_services *services, struct sa_service *service)
{
	tell(services, service, true);
	if (service->place)
		heap_remove(&services->leases, service);
	sa_quota_give(&services->quota, service->owner);
	g_tree_remove(services->all, &service->record);
}

void sa_services_each(const struct sa_services *services, uint64_t first_id,
		      bool (*visit)(const struct sa_service *service, void *arg), void *arg)
{
	const struct iba_service_record first = {.service_id = first_id};
	GTreeNode *node = g_tree_lower_bound(services->all, &first);

	for (; node; node = g_tree_node_next(node))
		if (!visit(g_tree_node_value(node), arg))
			return;
}

uint32_t sa_service_lease(const struct sa_service *service, uint64_t now)
{
	if (service->expires_ns == UINT64_MAX)
		return SA_LEASE_FOREVER;
	return now >= service->expires_ns
		       ? 0
		       : (uint32_t)((service->expires_ns - now + NS_PER_S - 1) / NS_PER_S);
}

uint64_t sa_services_expire(struct sa_services *services, uint64_t now)
{
	struct sa_service *first;

	while ((first = heap_top(&services->leases)) && first->expires_ns <= now)
		sa_services_remove(services, first);
	return first ? first->expires_ns : UINT64_MAX;
}

bool sa_service_is_stale(const struct sa_service *service, const struct fabric *fabric,
			 uint32_t port)
{
	return service->by_gid && port != FABRIC_NONE && fabric->ports[port].guid != service->owner;
}

void sa_services_follow(struct sa_services *services, const struct subnet *subnet,
			const struct alias_guids *aliases, uint64_t now)
{
	uint64_t patience = subnet->options->drop_event_subscriptions ? 0 : SA_ABSENCE_NS;
	GTreeNode *node = g_tree_node_first(services->all);

	while (node) {
		struct sa_service *service = g_tree_node_value(node);
		uint32_t holder =
			alias_guids_port(aliases, subnet->fabric, service->record.service_gid.guid);

		node = g_tree_node_next(node);
		if (fabric_port_by_guid(subnet->fabric, service->owner) != FABRIC_NONE)
			service->gone_ns = 0;
		else if (!service->gone_ns)
			service->gone_ns = MAX(now, 1);
		if (sa_service_is_stale(service, subnet->fabric, holder) ||
		    (service->gone_ns && now - service->gone_ns >= patience))
			sa_services_remove(services, service);
	}
}
