// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ServiceRecord: which port may register what, which may see it, and when it ends. */
#include <check.h>
#include <string.h>

#include "complib/actor.h"
#include "tests/run_suite.h"
#include "tests/unit/test_sa_make.h"

#define C(name) IBA_COMPONENT(service_record, name)

static struct subnet *subnet;
static struct sa_registries registries;
static uint64_t now;

static void setup(void)
{
	subnet = make_subnet("fattree:4", 0, 0);
	registries =
		(struct sa_registries){.groups = sa_store_new(0), .services = sa_services_new()};
	now = NS_PER_S;
}

static void teardown(void)
{
	sa_services_free(registries.services);
	sa_store_free(registries.groups);
	subnet_unref(subnet);
}

/* A service of host number who, with ServiceID id. */
static struct iba_service_record service_of(unsigned int who, uint64_t id)
{
	return (struct iba_service_record){
		.service_id = id,
		.service_gid = {IBA_DEFAULT_GID_PREFIX,
				subnet->fabric->ports[endport(subnet, who, true)].guid},
		.service_p_key = 0xFFFF,
		.service_lease = SA_LEASE_FOREVER,
		.service_name = "a service",
	};
}

#define ALL (C(service_id) | C(service_gid) | C(service_p_key) | C(service_lease) | C(service_name))

static uint64_t sm_key;

/* Host who asks; returns the status, and if that is 0 the number of records and the last one. */
static uint16_t ask_as(unsigned int who, uint8_t method, uint64_t mask,
		       struct iba_service_record *record, unsigned int *n)
{
	struct ask ask = {
		.subnet = subnet,
		.registries = &registries,
		.now = now,
		.from = endport(subnet, who, true),
		.sm_key = sm_key,
		.method = method,
		.attribute = IBA_ATTR_SERVICE_RECORD,
		.mask = mask,
		.type = &iba_service_record_type,
		.record = record,
	};
	struct told told = tell(&ask);
	uint16_t status = told.header.status;

	for (unsigned int i = 0; status == IBA_STATUS_OK && i < told.n; i++)
		told_record(&told, &iba_service_record_type, i, record);
	if (n)
		*n = told.n;
	told_clear(&told);
	return status;
}

static uint16_t set_as(unsigned int who, uint64_t more, struct iba_service_record record)
{
	return ask_as(who, IBA_METHOD_SET, ALL | more, &record, NULL);
}

static uint16_t delete_as(unsigned int who, uint64_t more, struct iba_service_record record)
{
	return ask_as(who, IBA_METHOD_DELETE, ALL | more, &record, NULL);
}

static unsigned int count_as(unsigned int who, uint64_t mask, struct iba_service_record record)
{
	unsigned int n;

	ck_assert_uint_eq(ask_as(who, IBA_METHOD_GET_TABLE, mask, &record, &n), IBA_STATUS_OK);
	return n;
}

START_TEST(test_life)
{
	struct iba_service_record record = service_of(0, 7);

	ck_assert_uint_eq(ask_as(0, IBA_METHOD_SET, C(service_id), &record, NULL),
			  IBA_SA_INSUFFICIENT_COMPONENTS);
	ck_assert_uint_eq(set_as(0, 0, record), IBA_STATUS_OK);
	ck_assert_uint_eq(set_as(0, 0, service_of(0, 8)), IBA_STATUS_OK);
	ck_assert_uint_eq(set_as(1, 0, service_of(1, 8)), IBA_STATUS_OK);
	ck_assert_uint_eq(count_as(2, 0, record), 3);
	ck_assert_uint_eq(count_as(2, C(service_id), service_of(0, 8)), 2);
	ck_assert_uint_eq(count_as(2, C(service_gid), record), 2);
	ck_assert_uint_eq(count_as(2, C(service_id), service_of(0, 9)), 0);
	ck_assert_uint_eq(count_as(2, C(service_name), record), 3);
	memcpy(record.service_name, "another", sizeof("another"));
	ck_assert_uint_eq(count_as(2, C(service_name), record), 0);
	ck_assert_uint_eq(set_as(0, 0, record), IBA_STATUS_OK); /* it is renamed */
	ck_assert_uint_eq(count_as(2, C(service_name), record), 1);
	ck_assert_uint_eq(count_as(2, 0, record), 3);
	ck_assert_uint_eq(delete_as(0, 0, record), IBA_STATUS_OK);
	ck_assert_uint_eq(delete_as(0, 0, record), IBA_SA_NO_RECORDS);
	ck_assert_uint_eq(count_as(2, 0, record), 2);
}
END_TEST

/* Data of each width are separate components. */
START_TEST(test_data)
{
	struct iba_service_record record = service_of(0, 7);

	record.service_data8[3] = 1;
	record.service_data64[1] = 2;
	ck_assert_uint_eq(set_as(0, UINT64_MAX, record), IBA_STATUS_OK);
	record.service_data8[2] = 9;
	ck_assert_uint_eq(count_as(1, C(service_data8) << 3 | C(service_data64) << 1, record), 1);
	ck_assert_uint_eq(count_as(1, C(service_data8) << 2, record), 0);
}
END_TEST

START_TEST(test_defaults)
{
	struct iba_service_record record = {.service_id = 1};

	record.service_gid = service_of(0, 1).service_gid;
	ck_assert_uint_eq(ask_as(0, IBA_METHOD_SET, C(service_id) | C(service_gid), &record, NULL),
			  IBA_STATUS_OK);
	ck_assert_uint_eq(record.service_p_key, 0xFFFF);
	ck_assert_uint_eq(record.service_lease, SA_LEASE_FOREVER);
	ck_assert_uint_eq(count_as(1, C(service_p_key), service_of(0, 1)), 1);
}
END_TEST

/* Not for another port, except by trusted clients. */
START_TEST(test_whose)
{
	struct iba_service_record record = service_of(0, 7);

	ck_assert_uint_eq(set_as(1, 0, record), IBA_SA_REQ_INVALID);
	ck_assert_uint_eq(set_as(0, 0, record), IBA_STATUS_OK);
	ck_assert_uint_eq(set_as(1, 0, record), IBA_SA_REQ_INVALID);
	ck_assert_uint_eq(delete_as(1, 0, record), IBA_SA_DENIED);
	ck_assert_uint_eq(count_as(1, 0, record), 1);
	sm_key = TEST_SA_KEY;
	ck_assert_uint_eq(delete_as(1, 0, record), IBA_STATUS_OK);
	ck_assert_uint_eq(set_as(1, 0, record), IBA_STATUS_OK);
	sm_key = 0;
}
END_TEST

/* A client that knows the key may remove it; the key is not shown to untrusted clients. */
START_TEST(test_keys)
{
	struct iba_service_record record = service_of(0, 7), got;

	record.service_key[5] = 42;
	got = record;
	ck_assert_uint_eq(ask_as(0, IBA_METHOD_SET, ALL | C(service_key), &got, NULL), 0);
	ck_assert_uint_eq(got.service_key[5], 0);
	ck_assert_uint_eq(ask_as(1, IBA_METHOD_GET, ALL, &got, NULL), IBA_STATUS_OK);
	ck_assert_uint_eq(got.service_key[5], 0);
	sm_key = TEST_SA_KEY;
	ck_assert_uint_eq(ask_as(1, IBA_METHOD_GET, ALL, &got, NULL), IBA_STATUS_OK);
	ck_assert_uint_eq(got.service_key[5], 42);
	sm_key = 0;
	record.service_key[5] = 41;
	ck_assert_uint_eq(delete_as(1, C(service_key), record), IBA_SA_DENIED);
	record.service_key[5] = 42;
	ck_assert_uint_eq(delete_as(1, 0, record), IBA_SA_DENIED); /* not named as a component */
	ck_assert_uint_eq(delete_as(1, C(service_key), record), IBA_STATUS_OK);
	/* a zero key does not count */
	ck_assert_uint_eq(set_as(0, 0, service_of(0, 7)), IBA_STATUS_OK);
	ck_assert_uint_eq(delete_as(1, C(service_key), service_of(0, 7)), IBA_SA_DENIED);
}
END_TEST

/*
 * A port that knows the key of another port's service may change it, but not make one, nor one of
 * another partition. It does not become the owner: the service's port still changes it, and is
 * charged for it.
 */
START_TEST(test_changed_by_key)
{
	struct iba_service_record record = service_of(0, 7), changed;

	record.service_key[5] = 42;
	changed = record;
	memcpy(changed.service_name, "another", sizeof("another"));
	ck_assert_uint_eq(set_as(1, C(service_key), record), IBA_SA_REQ_INVALID);
	ck_assert_uint_eq(set_as(0, C(service_key), record), IBA_STATUS_OK);
	ck_assert_uint_eq(set_as(1, 0, changed), IBA_SA_REQ_INVALID); /* no component */
	changed.service_key[5] = 41;
	ck_assert_uint_eq(set_as(1, C(service_key), changed), IBA_SA_REQ_INVALID);
	changed.service_key[5] = 42;
	changed.service_id = 8;
	ck_assert_uint_eq(set_as(1, C(service_key), changed), IBA_SA_REQ_INVALID);
	changed.service_p_key = 0x8001;
	sm_key = TEST_SA_KEY;
	ck_assert_uint_eq(set_as(0, C(service_key), changed), IBA_STATUS_OK);
	sm_key = 0;
	ck_assert_uint_eq(set_as(1, C(service_key), changed), IBA_SA_REQ_INVALID);
	changed.service_p_key = 0xFFFF;
	changed.service_id = 7;
	ck_assert_uint_eq(set_as(1, C(service_key), changed), IBA_STATUS_OK);
	ck_assert_uint_eq(count_as(1, 0, record), 1);
	ck_assert_uint_eq(count_as(1, C(service_name), changed), 1);
	ck_assert_uint_eq(sa_services_of(registries.services, record.service_gid.guid), 2);
	ck_assert_uint_eq(delete_as(1, 0, record), IBA_SA_DENIED);
	ck_assert_uint_eq(set_as(0, 0, service_of(0, 7)), IBA_STATUS_OK); /* without a key now */
	ck_assert_uint_eq(set_as(1, C(service_key), service_of(0, 7)), IBA_SA_REQ_INVALID);
}
END_TEST

/* Nor does a trusted client take a service from its port. */
START_TEST(test_changed_by_trusted)
{
	struct iba_service_record record = service_of(0, 7);

	ck_assert_uint_eq(set_as(0, 0, record), IBA_STATUS_OK);
	sm_key = TEST_SA_KEY;
	ck_assert_uint_eq(set_as(1, 0, record), IBA_STATUS_OK);
	sm_key = 0;
	ck_assert_uint_eq(sa_services_of(registries.services, record.service_gid.guid), 1);
	ck_assert_uint_eq(set_as(0, 0, record), IBA_STATUS_OK);
}
END_TEST

/* A service is found by its key only with that key, and is shown without; 0 matches none. */
START_TEST(test_found_by_key)
{
	struct iba_service_record record = service_of(0, 7), other = service_of(0, 8), got;
	unsigned int n;

	record.service_key[5] = 42;
	other.service_key[5] = 41;
	ck_assert_uint_eq(set_as(0, C(service_key), record), IBA_STATUS_OK);
	ck_assert_uint_eq(set_as(0, C(service_key), other), IBA_STATUS_OK);
	ck_assert_uint_eq(set_as(0, 0, service_of(0, 9)), IBA_STATUS_OK);
	for (unsigned int trusted = 0; trusted < 2; trusted++) {
		sm_key = trusted ? TEST_SA_KEY : 0;
		got = record;
		ck_assert_uint_eq(ask_as(1, IBA_METHOD_GET_TABLE, C(service_key), &got, &n), 0);
		ck_assert_uint_eq(n, 1);
		ck_assert_uint_eq(got.service_id, 7);
		ck_assert_uint_eq(got.service_key[5], trusted ? 42 : 0);
		ck_assert_uint_eq(count_as(1, C(service_key) | C(service_id), other), 1);
		other.service_key[15] = 1;
		ck_assert_uint_eq(count_as(1, C(service_key), other), 0);
		other.service_key[15] = 0;
		got = service_of(0, 0);
		ck_assert_uint_eq(ask_as(1, IBA_METHOD_GET, C(service_key), &got, NULL), 0);
		ck_assert_uint_eq(got.service_id, 9);
	}
	sm_key = 0;
}
END_TEST

/* The remaining time is shown in whole seconds, and as 0 only when none is left. */
START_TEST(test_lease_ends)
{
	struct iba_service_record record = service_of(0, 1);
	const struct sa_service *service;

	record.service_lease = 10;
	ck_assert_uint_eq(set_as(0, 0, record), IBA_STATUS_OK);
	record.service_gid.prefix = subnet->options->subnet_prefix;
	service = sa_services_find(registries.services, &record);
	ck_assert_uint_eq(sa_service_lease(service, now), 10);
	ck_assert_uint_eq(sa_service_lease(service, now + 10 * NS_PER_S - 1), 1);
	ck_assert_uint_eq(sa_service_lease(service, now + 10 * NS_PER_S), 0);
	ck_assert_uint_eq(sa_service_lease(service, now + 11 * NS_PER_S), 0);
}
END_TEST

/* The subnet's own prefix and the default one are equal; any other makes another service. */
START_TEST(test_prefixes)
{
	struct iba_service_record record = service_of(0, 1), got;

	ck_assert_uint_eq(set_as(0, 0, record), IBA_STATUS_OK);
	record.service_gid.prefix = subnet->options->subnet_prefix;
	ck_assert_uint_eq(set_as(0, 0, record), IBA_STATUS_OK);
	ck_assert_uint_eq(count_as(0, 0, record), 1);
	ck_assert_uint_eq(count_as(0, C(service_gid), record), 1);
	record.service_gid.prefix = 0x80FE; /* osmtest's */
	ck_assert_uint_eq(set_as(0, 0, record), IBA_STATUS_OK);
	ck_assert_uint_eq(count_as(0, 0, record), 2);
	ck_assert_uint_eq(count_as(0, C(service_gid), record), 1);
	got = service_of(0, 1);
	ck_assert_uint_eq(ask_as(0, IBA_METHOD_SET, ALL, &got, NULL), IBA_STATUS_OK);
	ck_assert(got.service_gid.prefix == IBA_DEFAULT_GID_PREFIX); /* as requested */
	got = service_of(0, 1);
	memset(got.service_name, 0, sizeof(got.service_name));
	ck_assert_uint_eq(ask_as(0, IBA_METHOD_DELETE, ALL & ~C(service_name), &got, NULL),
			  IBA_STATUS_OK);
	ck_assert(got.service_gid.prefix == IBA_DEFAULT_GID_PREFIX);
	ck_assert_str_eq((const char *)got.service_name, "a service"); /* of the removed one */
	ck_assert_uint_eq(count_as(0, 0, record), 1);
}
END_TEST

/* One of a multicast GID belongs to the first port, until another shows its key: then to that. */
START_TEST(test_owner_changes)
{
	struct iba_service_record record = service_of(0, 1);

	record.service_gid = (struct iba_gid){UINT64_C(0xFF12A01C00000000), 7};
	record.service_key[0] = 1;
	ck_assert_uint_eq(set_as(0, C(service_key), record), IBA_STATUS_OK);
	ck_assert_uint_eq(set_as(1, 0, record), IBA_SA_DENIED);
	ck_assert_uint_eq(set_as(1, C(service_key), record), IBA_STATUS_OK);
	ck_assert_uint_eq(count_as(0, 0, record), 1);
	for (unsigned int host = 0; host < 2; host++)
		ck_assert_uint_eq(
			sa_services_of(registries.services, service_of(host, 1).service_gid.guid),
			host);
}
END_TEST

/* ServiceID 0 is one, too; a field that is not a component has no meaning. */
START_TEST(test_all_ids)
{
	ck_assert_uint_eq(set_as(0, 0, service_of(0, 0)), IBA_STATUS_OK);
	ck_assert_uint_eq(set_as(0, 0, service_of(0, 1)), IBA_STATUS_OK);
	ck_assert_uint_eq(count_as(1, 0, service_of(0, 9)), 2);
	ck_assert_uint_eq(count_as(1, C(service_id), service_of(0, 0)), 1);
}
END_TEST

static const uint16_t two_worlds[][4] = {{0x8001}, {0x8002}, {0x8001, 0x8002}};

START_TEST(test_partitions)
{
	struct iba_service_record record;
	unsigned int mine = 0, other = 0;

	subnet = with_partitions(subnet, two_worlds, 3, NULL, 0);
	while (!partitions_member(subnet->partitions, endport(subnet, mine, true), 0x8001))
		mine++;
	while (partitions_member(subnet->partitions, endport(subnet, other, true), 0x8001))
		other++;
	record = service_of(mine, 7);
	ck_assert_uint_eq(set_as(mine, 0, record), IBA_SA_REQ_INVALID); /* the default one */
	record.service_p_key = 0x0001;
	ck_assert_uint_eq(set_as(mine, 0, record), IBA_STATUS_OK);
	ck_assert_uint_eq(count_as(mine, 0, record), 1);
	ck_assert_uint_eq(count_as(other, 0, record), 0);
	sm_key = TEST_SA_KEY;
	ck_assert_uint_eq(count_as(other, 0, record), 1);
	sm_key = 0;
}
END_TEST

/* Services that differ only by their P_Key; full and limited members mean the same one. */
START_TEST(test_p_keys)
{
	struct iba_service_record one = service_of(0, 7), two = one, got = one;
	const uint64_t open = ALL & ~C(service_p_key);

	subnet = with_partitions(subnet, two_worlds, 3, NULL, 0);
	sm_key = TEST_SA_KEY;
	one.service_p_key = 0x8001;
	two.service_p_key = 0x8002;
	ck_assert_uint_eq(set_as(0, 0, one), IBA_STATUS_OK);
	ck_assert_uint_eq(set_as(0, 0, two), IBA_STATUS_OK);
	ck_assert_uint_eq(count_as(0, 0, one), 2);
	one.service_p_key = 0x0001;
	ck_assert_uint_eq(set_as(0, 0, one), IBA_STATUS_OK);
	ck_assert_uint_eq(count_as(0, 0, one), 2);
	ck_assert_uint_eq(count_as(0, C(service_p_key), two), 1);
	two.service_p_key = 0x0002;
	ck_assert_uint_eq(count_as(0, C(service_p_key), two), 1);
	two.service_p_key = 0; /* which none has */
	ck_assert_uint_eq(count_as(0, C(service_p_key), two), 0);
	two.service_p_key = 0x0002;
	got.service_p_key = 0x8002; /* not a component: the default one is meant */
	ck_assert_uint_eq(ask_as(0, IBA_METHOD_SET, open, &got, NULL), IBA_STATUS_OK);
	ck_assert_uint_eq(got.service_p_key, 0xFFFF);
	ck_assert_uint_eq(count_as(0, 0, one), 3);
	got.service_p_key = 0x8002; /* for a Delete the record counts */
	ck_assert_uint_eq(ask_as(0, IBA_METHOD_DELETE, open, &got, NULL), IBA_STATUS_OK);
	ck_assert_uint_eq(count_as(0, C(service_p_key), two), 0);
	got.service_p_key = 0;
	ck_assert_uint_eq(ask_as(0, IBA_METHOD_DELETE, open, &got, NULL), IBA_STATUS_OK);
	ck_assert_uint_eq(count_as(0, 0, one), 1);
	sm_key = 0;
}
END_TEST

/* One that may not be seen does not hide those after it. */
START_TEST(test_hidden)
{
	struct iba_service_record record = service_of(0, 1);
	unsigned int who = 0;

	subnet = with_partitions(subnet, two_worlds, 3, NULL, 0);
	while (partitions_member(subnet->partitions, endport(subnet, who, true), 0x8001))
		who++;
	sm_key = TEST_SA_KEY;
	record.service_p_key = 0x8001;
	ck_assert_uint_eq(set_as(0, 0, record), IBA_STATUS_OK);
	record.service_p_key = 0x8002;
	record.service_id = 2;
	ck_assert_uint_eq(set_as(0, 0, record), IBA_STATUS_OK);
	sm_key = 0;
	ck_assert_uint_eq(count_as(who, 0, record), 1);
	ck_assert_uint_eq(count_as(who, C(service_p_key), record), 1);
}
END_TEST

/* With the well-known key only services of its own partitions may be seen or changed. */
START_TEST(test_known_key)
{
	static const uint16_t worlds[][4] = {{0x8001}, {0x8002}};
	struct iba_service_record record;
	unsigned int there = 0, same, other = 0;

	subnet = with_partitions(subnet, worlds, 2, NULL, 0);
	while (!partitions_member(subnet->partitions, endport(subnet, there, true), 0x8001))
		there++;
	for (same = there + 1;
	     !partitions_member(subnet->partitions, endport(subnet, same, true), 0x8001);)
		same++;
	while (partitions_member(subnet->partitions, endport(subnet, other, true), 0x8001))
		other++;
	record = service_of(there, 1);
	record.service_p_key = 0x8001;
	ck_assert_uint_eq(set_as(there, 0, record), IBA_STATUS_OK);
	sm_key = subnet->options->sa_key = KNOWN_SA_KEY;
	ck_assert_uint_eq(count_as(other, 0, record), 0);
	ck_assert_uint_eq(set_as(other, 0, record), IBA_SA_REQ_INVALID);
	ck_assert_uint_eq(delete_as(other, 0, record), IBA_SA_NO_RECORDS);
	ck_assert_uint_eq(count_as(same, 0, record), 1);
	ck_assert_uint_eq(set_as(same, 0, record), IBA_SA_REQ_INVALID);
	ck_assert_uint_eq(delete_as(same, 0, record), IBA_SA_DENIED);
	sm_key = subnet->options->sa_key = TEST_SA_KEY;
	ck_assert_uint_eq(set_as(other, 0, record), IBA_STATUS_OK);
	ck_assert_uint_eq(delete_as(other, 0, record), IBA_STATUS_OK);
	sm_key = 0;
}
END_TEST

START_TEST(test_leases)
{
	struct iba_service_record record = service_of(0, 1);

	for (uint32_t i = 1; i <= 3; i++) {
		record.service_id = i;
		record.service_lease = 10 * (4 - i);
		ck_assert_uint_eq(set_as(0, 0, record), IBA_STATUS_OK);
	}
	ck_assert_uint_eq(set_as(0, 0, service_of(0, 4)), IBA_STATUS_OK);
	ck_assert_uint_eq(sa_services_expire(registries.services, now), now + 10 * NS_PER_S);
	now += 10 * NS_PER_S;
	record.service_id = 1;
	ck_assert_uint_eq(ask_as(1, IBA_METHOD_GET, C(service_id), &record, NULL), IBA_STATUS_OK);
	ck_assert_uint_eq(record.service_lease, 20);
	ck_assert_uint_eq(sa_services_expire(registries.services, now), now + 10 * NS_PER_S);
	ck_assert_uint_eq(count_as(1, 0, record), 3);
	record.service_lease = 100; /* renewed */
	ck_assert_uint_eq(set_as(0, 0, record), IBA_STATUS_OK);
	now += 20 * NS_PER_S;
	sa_services_expire(registries.services, now);
	ck_assert_uint_eq(count_as(1, 0, record), 2);
	now += 80 * NS_PER_S;
	ck_assert_uint_eq(sa_services_expire(registries.services, now), UINT64_MAX);
	ck_assert_uint_eq(count_as(1, 0, record), 1);
}
END_TEST

START_TEST(test_quota)
{
	for (unsigned int i = 0; i < SA_SERVICES_OF_PORT; i++)
		ck_assert_uint_eq(set_as(0, 0, service_of(0, i)), IBA_STATUS_OK);
	ck_assert_uint_eq(set_as(0, 0, service_of(0, SA_SERVICES_OF_PORT)), IBA_SA_NO_RESOURCES);
	ck_assert_uint_eq(set_as(0, 0, service_of(0, 5)), IBA_STATUS_OK); /* it has that */
	ck_assert_uint_eq(set_as(1, 0, service_of(1, 5)), IBA_STATUS_OK); /* another port may */
	ck_assert_uint_eq(delete_as(0, 0, service_of(0, 5)), IBA_STATUS_OK);
	ck_assert_uint_eq(set_as(0, 0, service_of(0, SA_SERVICES_OF_PORT)), IBA_STATUS_OK);
}
END_TEST

/* Registrations outlive their port for a while, or with the option not at all. */
START_TEST(test_absence)
{
	struct subnet *empty = make_subnet("mesh:2x2", 0, 0); /* which has no hosts' GUIDs */

	for (unsigned int drop = 0; drop < 2; drop++) {
		empty->options->drop_event_subscriptions = drop;
		ck_assert_uint_eq(set_as(15, 0, service_of(15, 1)), IBA_STATUS_OK);
		ck_assert_uint_eq(
			fabric_port_by_guid(empty->fabric, service_of(15, 1).service_gid.guid),
			FABRIC_NONE);
		sa_services_follow(registries.services, empty, NULL, now);
		ck_assert_uint_eq(count_as(1, 0, service_of(15, 1)), !drop);
		now += SA_ABSENCE_NS / 2;
		sa_services_follow(registries.services, subnet, NULL, now); /* it is back */
		now += SA_ABSENCE_NS - 1;
		sa_services_follow(registries.services, empty, NULL, now);
		ck_assert_uint_eq(count_as(1, 0, service_of(15, 1)), !drop);
		now += SA_ABSENCE_NS;
		sa_services_follow(registries.services, empty, NULL, now);
		ck_assert_uint_eq(count_as(1, 0, service_of(15, 1)), 0);
	}
	subnet_unref(empty);
}
END_TEST

/* Registered again while its port is not seen, it lives as long as one that is gone since then. */
START_TEST(test_again_while_absent)
{
	struct subnet *empty = make_subnet("mesh:2x2", 0, 0);

	ck_assert_uint_eq(set_as(15, 0, service_of(15, 1)), IBA_STATUS_OK);
	sa_services_follow(registries.services, empty, NULL, now);
	ck_assert_uint_eq(set_as(15, 0, service_of(15, 1)), IBA_STATUS_OK);
	now += SA_ABSENCE_NS;
	sa_services_follow(registries.services, empty, NULL, now);
	ck_assert_uint_eq(count_as(1, 0, service_of(15, 1)), 1);
	now += SA_ABSENCE_NS;
	sa_services_follow(registries.services, empty, NULL, now);
	ck_assert_uint_eq(count_as(1, 0, service_of(15, 1)), 0);
	subnet_unref(empty);
}
END_TEST

static void on_change(void *arg, const struct sa_service *service, bool gone)
{
	g_string_append_printf(arg, "%s%u ", gone ? "-" : "+",
			       (unsigned int)service->record.service_id);
}

/* Watchers are told of each that is added, changed, removed, ends or is forgotten. */
START_TEST(test_watch)
{
	g_autoptr(GString) told = g_string_new(NULL);
	struct iba_service_record record = service_of(0, 2);

	sa_services_watch(registries.services, on_change, told);
	for (unsigned int id = 1; id <= 4; id++)
		ck_assert_uint_eq(set_as(0, 0, service_of(0, id)), IBA_STATUS_OK);
	record.service_lease = 1;
	ck_assert_uint_eq(set_as(0, 0, record), IBA_STATUS_OK);
	ck_assert_uint_eq(delete_as(0, 0, service_of(0, 1)), IBA_STATUS_OK);
	sa_services_expire(registries.services, now + NS_PER_S);
	sa_services_clear(registries.services);
	ck_assert_str_eq(told->str, "+1 +2 +3 +4 +2 -1 -2 -3 -4 ");
	ck_assert_uint_eq(sa_services_of(registries.services, record.service_gid.guid), 0);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_service");
	TCase *tcase = tcase_create("service");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_life);
	tcase_add_test(tcase, test_data);
	tcase_add_test(tcase, test_defaults);
	tcase_add_test(tcase, test_whose);
	tcase_add_test(tcase, test_keys);
	tcase_add_test(tcase, test_changed_by_key);
	tcase_add_test(tcase, test_changed_by_trusted);
	tcase_add_test(tcase, test_found_by_key);
	tcase_add_test(tcase, test_partitions);
	tcase_add_test(tcase, test_known_key);
	tcase_add_test(tcase, test_leases);
	tcase_add_test(tcase, test_quota);
	tcase_add_test(tcase, test_absence);
	tcase_add_test(tcase, test_lease_ends);
	tcase_add_test(tcase, test_prefixes);
	tcase_add_test(tcase, test_owner_changes);
	tcase_add_test(tcase, test_all_ids);
	tcase_add_test(tcase, test_p_keys);
	tcase_add_test(tcase, test_hidden);
	tcase_add_test(tcase, test_again_while_absent);
	tcase_add_test(tcase, test_watch);
	suite_add_tcase(suite, tcase);
	return suite;
}
