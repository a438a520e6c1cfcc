// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* GuidInfoRecord Set and Delete: which port may have which alias GUID, and its effects. */
#include <check.h>
#include <string.h>

#include "complib/actor.h"
#include "tests/run_suite.h"
#include "tests/unit/test_sa_make.h"

#define C(name) IBA_COMPONENT(guid_info_record, name)
#define WHERE (C(lid) | C(block_num))
#define G(i) (UINT64_C(1) << (4 + (i)))
#define ALL (WHERE | 0xFF0)
#define CAP 12 /* entries of each port */
#define ALIAS UINT64_C(0x0002C903000A0001)

static struct subnet *subnet;
static struct sa_registries all;
static uint64_t sm_key;

static void setup(void)
{
	subnet = make_subnet("fattree:4", 0, 0);
	for (uint32_t i = 0; i < subnet->fabric->n_ports; i++)
		((struct fabric_port *)subnet->fabric->ports)[i].info.guid_cap = CAP;
	all = sa_registries_new(6);
	sm_key = 0;
}

static void teardown(void)
{
	sa_registries_free(&all);
	subnet_unref(subnet);
}

static const struct fabric_port *host(unsigned int n)
{
	return &subnet->fabric->ports[endport(subnet, n, true)];
}

static int ask_any(unsigned int who, uint8_t method, uint16_t attribute, uint64_t mask,
		   const struct wire_type *type, void *record)
{
	struct ask ask = {
		.subnet = subnet,
		.store = all.groups,
		.registries = &all,
		.from = endport(subnet, who, true),
		.sm_key = sm_key,
		.method = method,
		.attribute = attribute,
		.mask = mask,
		.type = type,
		.record = record,
	};
	struct told told = tell(&ask);
	int status = told.header.status;

	if (status == IBA_STATUS_OK && told.n)
		told_record(&told, type, 0, record);
	told_clear(&told);
	return status;
}

static int change(unsigned int who, uint8_t method, uint64_t mask, struct iba_guid_info_record *r)
{
	return ask_any(who, method, IBA_ATTR_GUID_INFO_RECORD, mask, &iba_guid_info_record_type, r);
}

/* Entries 1 and 2 of host n. */
static struct iba_guid_info_record record_of(unsigned int n, uint64_t one, uint64_t two)
{
	return (struct iba_guid_info_record){.lid = host(n)->lid,
					     .guid_info.guid = {[1] = one, [2] = two}};
}

START_TEST(test_life)
{
	struct iba_guid_info_record r = record_of(0, ALIAS, 0);

	ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(1) | G(2), &r), IBA_STATUS_OK);
	ck_assert(r.guid_info.guid[0] == host(0)->guid);
	ck_assert(r.guid_info.guid[1] == ALIAS);
	ck_assert(r.guid_info.guid[2] == UINT64_C(0x0014050000000007)); /* the SA's */
	r = record_of(0, 0, 0);
	ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(1) | G(2), &r), IBA_STATUS_OK);
	ck_assert(r.guid_info.guid[1] == ALIAS); /* it has some there */
	ck_assert(r.guid_info.guid[2] == UINT64_C(0x0014050000000007));
	r = record_of(0, 0, ALIAS + 1); /* only entry 2 is in the mask */
	ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(2), &r), IBA_STATUS_OK);
	ck_assert(r.guid_info.guid[1] == ALIAS && r.guid_info.guid[2] == ALIAS + 1);
	ck_assert_int_eq(change(0, IBA_METHOD_DELETE, WHERE | G(1), &r), IBA_STATUS_OK);
	ck_assert(r.guid_info.guid[1] == 0 && r.guid_info.guid[2] == ALIAS + 1);
	ck_assert_uint_eq(sa_aliases_now(all.aliases)->by_guid->len, 1);
	ck_assert_int_eq(change(0, IBA_METHOD_DELETE, ALL, &r), IBA_STATUS_OK);
	ck_assert(r.guid_info.guid[0] == host(0)->guid); /* stays */
	ck_assert_uint_eq(sa_aliases_now(all.aliases)->by_guid->len, 0);
}
END_TEST

/* Each rule refuses, and leaves everything as it was. */
START_TEST(test_refusals)
{
	struct iba_guid_info_record r = record_of(0, ALIAS, 0);

	ck_assert_int_eq(change(0, IBA_METHOD_SET, C(lid) | G(1), &r),
			 IBA_SA_INSUFFICIENT_COMPONENTS);
	ck_assert_int_eq(change(0, IBA_METHOD_DELETE, C(block_num) | G(1), &r),
			 IBA_SA_INSUFFICIENT_COMPONENTS);
	ck_assert_int_eq(change(1, IBA_METHOD_SET, ALL, &r), IBA_SA_DENIED); /* another's */
	ck_assert_int_eq(change(1, IBA_METHOD_DELETE, ALL, &r), IBA_SA_DENIED);
	r.lid = 0xBFFF;
	ck_assert_int_eq(change(0, IBA_METHOD_SET, ALL, &r), IBA_SA_DENIED);
	sm_key = TEST_SA_KEY;
	ck_assert_int_eq(change(0, IBA_METHOD_SET, ALL, &r), IBA_SA_NO_RECORDS);
	sm_key = 0;
	r = record_of(0, ALIAS, 0);
	r.block_num = (CAP + 7) / 8;
	ck_assert_int_eq(change(0, IBA_METHOD_SET, ALL, &r), IBA_SA_REQ_INVALID);
	r.block_num = 0xFF;
	ck_assert_int_eq(change(0, IBA_METHOD_SET, ALL, &r), IBA_SA_REQ_INVALID);
	ck_assert_uint_eq(sa_aliases_now(all.aliases)->by_port->len, 0);
	ck_assert(!sa_aliases_changed(all.aliases));
	r = record_of(0, ALIAS, 0); /* with the key any port's */
	sm_key = TEST_SA_KEY;
	ck_assert_int_eq(change(1, IBA_METHOD_SET, WHERE | G(1), &r), IBA_STATUS_OK);
	ck_assert(sa_aliases_get(all.aliases, host(0)->guid, 1) == ALIAS);
}
END_TEST

/* With the well-known key only those of a port that the requester may know of. */
START_TEST(test_known_key)
{
	static const uint16_t apart[][4] = {{0x8001}, {0x8002}};
	struct iba_guid_info_record r;
	unsigned int n[2] = {1, 1}; /* in its partition, in the other one */

	subnet = with_partitions(subnet, apart, 2, NULL, 0);
	while (!partitions_shared(subnet->partitions, endport(subnet, 0, true),
				  endport(subnet, n[0], true)))
		n[0]++;
	while (partitions_shared(subnet->partitions, endport(subnet, 0, true),
				 endport(subnet, n[1], true)))
		n[1]++;
	sm_key = subnet->options->sa_key = KNOWN_SA_KEY;
	for (unsigned int i = 0; i < 2; i++) {
		r = record_of(n[i], ALIAS + i, 0);
		ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(1), &r), IBA_SA_DENIED);
	}
}
END_TEST

/* Some entries are refused, others not: the refused ones are 0 in the answer. */
START_TEST(test_entries_refused)
{
	struct iba_guid_info_record r = record_of(0, ALIAS, ALIAS + 1), s;

	ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(1) | G(2), &r), IBA_STATUS_OK);
	s = record_of(1, ALIAS + 2, ALIAS + 3); /* two hosts want one */
	ck_assert_int_eq(change(1, IBA_METHOD_SET, WHERE | G(1) | G(2), &s), IBA_STATUS_OK);
	s.guid_info.guid[1] = ALIAS;
	s.guid_info.guid[2] = host(2)->guid; /* a base GUID */
	s.guid_info.guid[3] = ALIAS + 2;     /* its own, elsewhere */
	s.guid_info.guid[4] = ALIAS + 4;
	ck_assert_int_eq(change(1, IBA_METHOD_SET, ALL & ~G(5) & ~G(6) & ~G(7), &s), IBA_STATUS_OK);
	ck_assert(s.guid_info.guid[0] == host(1)->guid);
	ck_assert(!s.guid_info.guid[1] && !s.guid_info.guid[2] && !s.guid_info.guid[3]);
	ck_assert(s.guid_info.guid[4] == ALIAS + 4);
	ck_assert(sa_aliases_get(all.aliases, host(1)->guid, 1) == ALIAS + 2); /* as it was */
	ck_assert(alias_guids_find(sa_aliases_now(all.aliases), ALIAS)->port == host(0)->guid);
	s = (struct iba_guid_info_record){.lid = host(1)->lid, .block_num = 1};
	ck_assert_int_eq(change(1, IBA_METHOD_SET, ALL, &s), IBA_STATUS_OK);
	for (unsigned int i = 0; i < 8; i++)
		ck_assert_int_eq(s.guid_info.guid[i] != 0, 8 + i < CAP);
}
END_TEST

static int join(unsigned int who, uint64_t guid, uint8_t method)
{
	struct iba_mc_member_record r = {
		.mgid = {UINT64_C(0xFF12ABCD00000000), 1},
		.port_gid = {IBA_DEFAULT_GID_PREFIX, guid},
		.p_key = 0xFFFF,
		.join_state = IBA_JOIN_FULL_MEMBER,
	};
	const uint64_t mask =
		IBA_COMPONENT(mc_member_record, mgid) | IBA_COMPONENT(mc_member_record, port_gid) |
		IBA_COMPONENT(mc_member_record, join_state) |
		IBA_COMPONENT(mc_member_record, q_key) | IBA_COMPONENT(mc_member_record, t_class) |
		IBA_COMPONENT(mc_member_record, p_key) |
		IBA_COMPONENT(mc_member_record, flow_label) | IBA_COMPONENT(mc_member_record, sl);
	int status = ask_any(who, method, IBA_ATTR_MC_MEMBER_RECORD, mask,
			     &iba_mc_member_record_type, &r);

	ck_assert(status != IBA_STATUS_OK || r.port_gid.guid == guid);
	return status;
}

/* A member cannot be removed; and for the switches it is the port. */
START_TEST(test_member)
{
	struct iba_guid_info_record r = record_of(0, ALIAS, ALIAS + 1);
	struct mc_groups *groups;

	ck_assert_int_eq(join(0, ALIAS, IBA_METHOD_SET), IBA_SA_INVALID_GID);
	ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(1) | G(2), &r), IBA_STATUS_OK);
	ck_assert_int_eq(join(1, ALIAS, IBA_METHOD_SET), IBA_STATUS_OK); /* for another port */
	ck_assert_int_eq(join(0, ALIAS, IBA_METHOD_SET), IBA_STATUS_OK);
	ck_assert_int_eq(change(0, IBA_METHOD_DELETE, ALL, &r), IBA_SA_DENIED);
	r = record_of(0, ALIAS + 2, 0);
	ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(1), &r), IBA_SA_DENIED);
	ck_assert_uint_eq(sa_aliases_now(all.aliases)->by_guid->len, 2);
	sa_store_set_aliases(all.groups, sa_aliases_now(all.aliases));
	sa_store_follow(all.groups, subnet, 1);
	groups = sa_store_publish(all.groups);
	ck_assert_uint_eq(groups->n, 2); /* one is the broadcast group */
	ck_assert_uint_eq(
		groups->blocks[0]->groups[0]->n_ports + groups->blocks[0]->groups[1]->n_ports, 1);
	for (unsigned int i = 0; i < 2; i++)
		if (groups->blocks[0]->groups[i]->n_ports)
			ck_assert(groups->blocks[0]->groups[i]->port_guids[0] == host(0)->guid);
	mc_groups_unref(groups);
	ck_assert_int_eq(join(0, ALIAS, IBA_METHOD_DELETE), IBA_STATUS_OK);
	ck_assert_int_eq(change(0, IBA_METHOD_DELETE, ALL, &r), IBA_STATUS_OK);
}
END_TEST

/* A member's entry may be named again, without affecting others. */
START_TEST(test_member_of_other_entries)
{
	struct iba_guid_info_record r = record_of(0, ALIAS, ALIAS + 1);

	ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(1) | G(2), &r), IBA_STATUS_OK);
	ck_assert_int_eq(join(0, ALIAS, IBA_METHOD_SET), IBA_STATUS_OK);
	r = record_of(0, ALIAS, 0);
	ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(1), &r), IBA_STATUS_OK);
	r = record_of(0, 0, 0); /* to see which one it is */
	ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(1), &r), IBA_STATUS_OK);
	ck_assert(r.guid_info.guid[1] == ALIAS);
	ck_assert_int_eq(change(0, IBA_METHOD_DELETE, WHERE | G(2), &r), IBA_STATUS_OK);
	ck_assert_int_eq(change(0, IBA_METHOD_DELETE, WHERE | G(1), &r), IBA_SA_DENIED);
}
END_TEST

/* Entry 0 of a later block is like any other; a block begins below GUIDCap. */
START_TEST(test_second_block)
{
	struct iba_guid_info_record r = record_of(0, ALIAS, 0);

	ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(1), &r), IBA_STATUS_OK);
	r = (struct iba_guid_info_record){.lid = host(0)->lid, .block_num = 1};
	r.guid_info.guid[0] = ALIAS; /* it has that elsewhere */
	ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(0), &r), IBA_STATUS_OK);
	ck_assert(r.guid_info.guid[0] == 0);
	r.guid_info.guid[0] = ALIAS + 1;
	ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(0), &r), IBA_STATUS_OK);
	r.guid_info.guid[0] = ALIAS;
	ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(0), &r), IBA_STATUS_OK);
	ck_assert(r.guid_info.guid[0] == 0); /* refused, though it has one */
	ck_assert(sa_aliases_get(all.aliases, host(0)->guid, 8) == ALIAS + 1);
	ck_assert_int_eq(join(0, ALIAS + 1, IBA_METHOD_SET), IBA_STATUS_OK);
	ck_assert_int_eq(change(0, IBA_METHOD_DELETE, WHERE | G(0), &r), IBA_SA_DENIED);
	ck_assert_int_eq(join(0, ALIAS + 1, IBA_METHOD_DELETE), IBA_STATUS_OK);
	ck_assert_int_eq(change(0, IBA_METHOD_DELETE, WHERE | G(0), &r), IBA_STATUS_OK);
	ck_assert(sa_aliases_get(all.aliases, host(0)->guid, 8) == 0);
	((struct fabric_port *)host(0))->info.guid_cap = 8;
	ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(0), &r), IBA_SA_REQ_INVALID);
}
END_TEST

/* Paths from and to it, a service at it. */
START_TEST(test_resolves)
{
	struct iba_guid_info_record r = record_of(0, ALIAS, 0);
	struct iba_path_record path = {.sgid = {IBA_DEFAULT_GID_PREFIX, host(1)->guid},
				       .dgid = {IBA_DEFAULT_GID_PREFIX, ALIAS}};
	const uint64_t ends = IBA_COMPONENT(path_record, sgid) | IBA_COMPONENT(path_record, dgid);
	struct iba_service_record service = {.service_id = 7,
					     .service_gid = {IBA_DEFAULT_GID_PREFIX, ALIAS}};
	const uint64_t names = IBA_COMPONENT(service_record, service_id) |
			       IBA_COMPONENT(service_record, service_gid);

	ck_assert_int_eq(ask_any(1, IBA_METHOD_GET, IBA_ATTR_PATH_RECORD, ends,
				 &iba_path_record_type, &path),
			 IBA_SA_NO_RECORDS);
	ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(1), &r), IBA_STATUS_OK);
	ck_assert_int_eq(ask_any(1, IBA_METHOD_GET, IBA_ATTR_PATH_RECORD, ends,
				 &iba_path_record_type, &path),
			 IBA_STATUS_OK);
	ck_assert(path.dgid.guid == ALIAS && path.dlid == host(0)->lid);
	ck_assert(path.sgid.guid == host(1)->guid && path.slid == host(1)->lid);
	path.dgid.guid = host(1)->guid;
	path.sgid.guid = ALIAS;
	ck_assert_int_eq(ask_any(0, IBA_METHOD_GET, IBA_ATTR_PATH_RECORD, ends,
				 &iba_path_record_type, &path),
			 IBA_STATUS_OK);
	ck_assert(path.sgid.guid == ALIAS && path.slid == host(0)->lid);
	ck_assert_int_eq(ask_any(1, IBA_METHOD_SET, IBA_ATTR_SERVICE_RECORD, names,
				 &iba_service_record_type, &service),
			 IBA_SA_REQ_INVALID); /* another's */
	ck_assert_int_eq(ask_any(0, IBA_METHOD_SET, IBA_ATTR_SERVICE_RECORD, names,
				 &iba_service_record_type, &service),
			 IBA_STATUS_OK);
}
END_TEST

/* A publication does not change; removed ones stay in it until their port has been told. */
START_TEST(test_publication)
{
	struct alias_guids *first, *second, *third;
	uint64_t guids[ALIAS_PER_BLOCK];

	ck_assert_ptr_null(sa_aliases_publish(all.aliases));
	ck_assert(sa_aliases_set(all.aliases, 5, 1, 11));
	ck_assert(sa_aliases_set(all.aliases, 5, 9, 12));
	ck_assert(!sa_aliases_set(all.aliases, 6, 1, 12));
	first = sa_aliases_publish(all.aliases);
	ck_assert(sa_aliases_set(all.aliases, 5, 1, 0));
	ck_assert(sa_aliases_set(all.aliases, 6, 1, 11));
	second = sa_aliases_publish(all.aliases);
	ck_assert(second->serial == first->serial + 1);
	ck_assert(alias_guids_find(first, 11)->port == 5);
	ck_assert(alias_guids_find(second, 11)->port == 6);
	alias_guids_block(first, 5, 0, guids);
	ck_assert(guids[0] == 5 && guids[1] == 11);
	alias_guids_block(first, 5, 1, guids);
	ck_assert(guids[0] == 0 && guids[1] == 12);
	alias_guids_block(second, 5, 0, guids);
	ck_assert(guids[0] == 5 && guids[1] == 0);
	ck_assert_uint_eq(second->by_port->len, 3);
	sa_aliases_programmed(all.aliases, first->serial);
	ck_assert_uint_eq(sa_aliases_now(all.aliases)->by_port->len, 3);
	sa_aliases_programmed(all.aliases, second->serial);
	ck_assert_uint_eq(sa_aliases_now(all.aliases)->by_port->len, 2);
	ck_assert_uint_eq(second->by_port->len, 3);
	sa_aliases_clear(all.aliases);
	third = sa_aliases_publish(all.aliases);
	ck_assert_uint_eq(third->by_port->len + third->by_guid->len, 0);
	alias_guids_unref(first);
	alias_guids_unref(second);
	alias_guids_unref(third);
}
END_TEST

START_TEST(test_ports_that_are_gone)
{
	struct subnet *other = make_subnet("random:1:0:1:5", 0, 0);
	uint64_t guid = host(3)->guid;

	ck_assert(fabric_port_by_guid(other->fabric, guid) == FABRIC_NONE);
	ck_assert(sa_aliases_set(all.aliases, guid, 1, ALIAS));
	for (uint64_t now = 1; now < 10 * SA_ABSENCE_NS; now += SA_ABSENCE_NS - 1) {
		sa_aliases_follow(all.aliases, other, now); /* it is gone, and comes back */
		sa_aliases_follow(all.aliases, other, now + SA_ABSENCE_NS - 2);
		sa_aliases_follow(all.aliases, subnet, now + SA_ABSENCE_NS - 2);
	}
	ck_assert(sa_aliases_get(all.aliases, guid, 1) == ALIAS);
	sa_aliases_follow(all.aliases, other, 1);
	sa_aliases_follow(all.aliases, other, 1 + SA_ABSENCE_NS);
	ck_assert(sa_aliases_get(all.aliases, guid, 1) == 0);
	subnet_unref(other);
}
END_TEST

/* One without alias GUIDs when it came back does not count as absent since long before. */
START_TEST(test_gone_without_any)
{
	struct subnet *other = make_subnet("random:1:0:1:5", 0, 0);
	uint64_t guid = host(3)->guid;

	ck_assert(sa_aliases_set(all.aliases, guid, 1, ALIAS));
	ck_assert(sa_aliases_set(all.aliases, UINT64_MAX, 1, ALIAS + 1));
	sa_aliases_follow(all.aliases, other, 1);
	ck_assert(sa_aliases_set(all.aliases, guid, 1, 0));
	alias_guids_unref(sa_aliases_publish(all.aliases));
	sa_aliases_programmed(all.aliases, sa_aliases_serial(all.aliases));
	ck_assert_uint_eq(sa_aliases_now(all.aliases)->by_port->len, 1);
	sa_aliases_follow(all.aliases, subnet, 2);
	ck_assert(sa_aliases_set(all.aliases, guid, 1, ALIAS));
	sa_aliases_follow(all.aliases, other, 1 + SA_ABSENCE_NS);
	ck_assert(sa_aliases_get(all.aliases, guid, 1) == ALIAS);
	sa_aliases_follow(all.aliases, other, 1 + 2 * SA_ABSENCE_NS);
	ck_assert(sa_aliases_get(all.aliases, guid, 1) == 0);
	subnet_unref(other);
}
END_TEST

/* All of a port that was away for long is forgotten, and nothing of other ports. */
START_TEST(test_gone_beside_others)
{
	struct subnet *other = make_subnet("random:1:0:1:5", 0, 0);

	for (uint8_t i = 1; i <= 3; i++)
		ck_assert(sa_aliases_set(all.aliases, UINT64_MAX, i, ALIAS + i));
	ck_assert(sa_aliases_set(all.aliases, host(3)->guid, 1, ALIAS));
	alias_guids_unref(sa_aliases_publish(all.aliases));
	sa_aliases_follow(all.aliases, subnet, 1);
	sa_aliases_follow(all.aliases, subnet, SA_ABSENCE_NS / 2);
	ck_assert(!sa_aliases_changed(all.aliases));
	sa_aliases_follow(all.aliases, subnet, 1 + SA_ABSENCE_NS);
	ck_assert_uint_eq(sa_aliases_now(all.aliases)->by_guid->len, 1);
	ck_assert(sa_aliases_get(all.aliases, host(3)->guid, 1) == ALIAS);
	ck_assert(sa_aliases_changed(all.aliases));
	sa_aliases_follow(all.aliases, other, 1);
	sa_aliases_clear(all.aliases); /* including since when ports are gone */
	ck_assert(sa_aliases_set(all.aliases, host(3)->guid, 1, ALIAS));
	sa_aliases_follow(all.aliases, other, 1 + SA_ABSENCE_NS);
	ck_assert(sa_aliases_get(all.aliases, host(3)->guid, 1) == ALIAS);
	subnet_unref(other);
}
END_TEST

static void count_lost(void *arg, const struct alias_guid *alias, const char *why)
{
	ck_assert(alias->port == host(3)->guid && alias->index == 2);
	ck_assert_str_eq(why, "it is the GUID of a port");
	++*(unsigned int *)arg;
}

/* An alias GUID that turns out to be a port's own is removed, as if released. */
START_TEST(test_owner_is_back)
{
	const uint64_t guid = host(3)->guid;
	unsigned int n = 0;

	ck_assert(sa_aliases_set(all.aliases, guid, 1, ALIAS));
	ck_assert(sa_aliases_set(all.aliases, guid, 2, host(5)->guid));
	alias_guids_unref(sa_aliases_publish(all.aliases));
	for (unsigned int i = 0; i < 2; i++)
		sa_aliases_yield(all.aliases, subnet, count_lost, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert(sa_aliases_get(all.aliases, guid, 1) == ALIAS);
	ck_assert(sa_aliases_get(all.aliases, guid, 2) == 0);
	ck_assert_uint_eq(sa_aliases_now(all.aliases)->by_port->len, 2); /* the port is told */
	ck_assert(sa_aliases_changed(all.aliases));
}
END_TEST

/* By port and index, both. */
START_TEST(test_which)
{
	ck_assert(sa_aliases_set(all.aliases, 5, 9, 1));
	for (uint64_t port = 4; port <= 6; port++)
		for (uint8_t index = 8; index <= 10; index++)
			ck_assert(sa_aliases_get(all.aliases, port, index) ==
				  (port == 5 && index == 9));
}
END_TEST

/* One with an unused byte of sm_assigned_guid; after many failures, none. */
START_TEST(test_made)
{
	const uint64_t first = UINT64_C(0x0014054200000007); /* setup: 6 was used before */

	for (unsigned int i = 0; i < 999; i++)
		ck_assert(sa_aliases_set(all.aliases, 1 + i / 255, (uint8_t)(1 + i % 255),
					 first + i));
	ck_assert(sa_aliases_make(all.aliases, subnet, 0, 0x42) == first + 999);
	sa_aliases_free(all.aliases);
	all.aliases = sa_aliases_new(6);
	for (unsigned int i = 0; i < 1000; i++)
		ck_assert(sa_aliases_set(all.aliases, 1 + i / 255, (uint8_t)(1 + i % 255),
					 first + i));
	ck_assert(sa_aliases_make(all.aliases, subnet, 0, 0x42) == 0);
}
END_TEST

static void publish_and_program(void)
{
	alias_guids_unref(sa_aliases_publish(all.aliases));
	sa_aliases_programmed(all.aliases, sa_aliases_serial(all.aliases));
}

/* One removed before this SM was master is forgotten after its port was told, too. */
START_TEST(test_removed_before)
{
	ck_assert(sa_aliases_restore(all.aliases, 5, 1, 0));
	ck_assert(sa_aliases_set(all.aliases, 5, 2, UINT64_C(1) << 32));
	publish_and_program();
	ck_assert_uint_eq(sa_aliases_now(all.aliases)->by_port->len, 1);
	ck_assert(sa_aliases_set(all.aliases, 5, 2, 0));
	publish_and_program();
	ck_assert_uint_eq(sa_aliases_now(all.aliases)->by_port->len, 0);
	sa_aliases_clear(all.aliases);
	ck_assert(!sa_aliases_changed(all.aliases)); /* there was none */
	ck_assert(sa_aliases_set(all.aliases, 5, 2, 7));
	alias_guids_unref(sa_aliases_publish(all.aliases));
	sa_aliases_clear(all.aliases);
	ck_assert(sa_aliases_changed(all.aliases));
}
END_TEST

static void on_change(void *arg, const struct alias_guid *alias, bool forgotten)
{
	g_string_append_printf(arg, "%s%u/%u=%u ", forgotten ? "-" : "+", (unsigned int)alias->port,
			       alias->index, (unsigned int)alias->guid);
}

/* Watchers are told of each that is added, removed and forgotten. */
START_TEST(test_watch)
{
	g_autoptr(GString) told = g_string_new(NULL);

	sa_aliases_watch(all.aliases, on_change, told);
	ck_assert(sa_aliases_set(all.aliases, 5, 1, 11));
	ck_assert(sa_aliases_set(all.aliases, 5, 1, 11)); /* no change */
	ck_assert(sa_aliases_set(all.aliases, 5, 1, 0));
	ck_assert(sa_aliases_set(all.aliases, 6, 2, 12));
	publish_and_program();
	sa_aliases_clear(all.aliases);
	ck_assert_str_eq(told->str, "+5/1=11 +5/1=0 +6/2=12 -5/1=0 -6/2=12 ");
}
END_TEST

START_TEST(test_bounds)
{
	for (unsigned int i = 0; i < SA_ALIASES_MAX; i++)
		ck_assert(sa_aliases_set(all.aliases, 1 + i / 255, (uint8_t)(1 + i % 255),
					 ALIAS + i));
	ck_assert(!sa_aliases_set(all.aliases, UINT64_MAX, 1, 1));
	ck_assert(sa_aliases_set(all.aliases, 1, 1, 1)); /* replaces another */
	ck_assert(alias_guids_find(sa_aliases_now(all.aliases), 1)->port == 1);
	ck_assert_ptr_null(alias_guids_find(sa_aliases_now(all.aliases), ALIAS));
}
END_TEST

/* ---- GUIDs of others ---- */

static const struct fabric_node *node_of(unsigned int n)
{
	return &subnet->fabric->nodes[host(n)->node];
}

/* Entry 1 of host 0 after a Set. */
static uint64_t set_one(uint64_t guid)
{
	struct iba_guid_info_record r = record_of(0, guid, 0);

	ck_assert_int_eq(change(0, IBA_METHOD_SET, WHERE | G(1), &r), IBA_STATUS_OK);
	return r.guid_info.guid[1];
}

START_TEST(test_guids_of_others)
{
	const uint64_t away = UINT64_C(0x0002C90300AA0001);
	struct fabric_node *nodes = subnet->fabric->nodes;

	for (uint32_t i = 0; i < subnet->fabric->n_nodes; i++)
		nodes[i].info.system_image_guid = UINT64_C(0x0002C90300BB0000) + i / 2;
	subnet->lid_guids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_array_append_val(subnet->lid_guids, away);
	ck_assert(set_one(UINT64_MAX) == 0);
	ck_assert(set_one(UINT64_MAX - 1) == 0);
	ck_assert(set_one(UINT64_C(0xFF12401BFFFF0000)) == 0); /* as a multicast GID begins */
	ck_assert(set_one(subnet->sm_guid) == 0);
	ck_assert(set_one(host(0)->guid) == 0);
	ck_assert(set_one(host(1)->guid) == 0);
	ck_assert(set_one(node_of(1)->guid) == 0);
	ck_assert(set_one(nodes[subnet->fabric->switches[0].node].guid) == 0);
	ck_assert(set_one(UINT64_C(0x0002C90300BB0000) + (subnet->fabric->n_nodes - 1) / 2 -
			  (node_of(0) >= &nodes[subnet->fabric->n_nodes - 2])) == 0);
	ck_assert(set_one(away) == 0);
	ck_assert(set_one(away + 1) == away + 1);
	sm_key = TEST_SA_KEY; /* a deleted host leaves its GUID to another */
	ck_assert(set_one(away) == away);
	ck_assert(set_one(UINT64_MAX) == 0);
	ck_assert(set_one(host(1)->guid) == 0);
	sm_key = 0;
	ck_assert(set_one(node_of(0)->info.system_image_guid) ==
		  node_of(0)->info.system_image_guid);
}
END_TEST

/* Loaded alias GUIDs that no port may have: they are dropped, with a reason. */
static void note_lost(void *arg, const struct alias_guid *alias, const char *why)
{
	(void)why;
	*(uint64_t *)arg ^= alias->guid;
}

START_TEST(test_loaded_are_judged)
{
	const uint64_t bad[] = {UINT64_MAX, UINT64_C(0xFF00000000000001), node_of(1)->guid,
				host(2)->guid};
	uint64_t expected = 0, lost = 0;

	for (unsigned int i = 0; i < G_N_ELEMENTS(bad); i++) {
		ck_assert(sa_aliases_restore(all.aliases, host(0)->guid, (uint8_t)(i + 1), bad[i]));
		expected ^= bad[i];
	}
	ck_assert(sa_aliases_restore(all.aliases, host(0)->guid, 7, ALIAS));
	sa_aliases_yield(all.aliases, subnet, note_lost, &lost);
	ck_assert(lost == expected);
	ck_assert_uint_eq(sa_aliases_now(all.aliases)->by_guid->len, 1);
}
END_TEST

static int member(unsigned int who, uint8_t method, uint64_t guid)
{
	struct iba_mc_member_record r = {
		.mgid = {UINT64_C(0xFF12A01C00000000), 7},
		.port_gid = {subnet->options->subnet_prefix, guid},
		.join_state = IBA_JOIN_FULL_MEMBER,
		.p_key = 0xFFFF,
	};
	uint64_t mask =
		IBA_COMPONENT(mc_member_record, mgid) | IBA_COMPONENT(mc_member_record, port_gid) |
		IBA_COMPONENT(mc_member_record, join_state) |
		IBA_COMPONENT(mc_member_record, p_key) | IBA_COMPONENT(mc_member_record, q_key) |
		IBA_COMPONENT(mc_member_record, t_class) |
		IBA_COMPONENT(mc_member_record, flow_label) | IBA_COMPONENT(mc_member_record, sl);

	return ask_any(who, method, IBA_ATTR_MC_MEMBER_RECORD, mask, &iba_mc_member_record_type,
		       &r);
}

static unsigned int members_with(uint64_t guid)
{
	return sa_store_groups_of(all.groups, guid);
}

/* However another port came to have the GUID, memberships stay with the port that made them. */
START_TEST(test_memberships_stay_with_their_maker)
{
	ck_assert(set_one(ALIAS) == ALIAS);
	ck_assert_int_eq(member(0, IBA_METHOD_SET, ALIAS), IBA_STATUS_OK);
	ck_assert_int_eq(member(2, IBA_METHOD_SET, host(2)->guid), IBA_STATUS_OK);
	ck_assert(sa_aliases_set(all.aliases, host(0)->guid, 1, 0));
	ck_assert(sa_aliases_set(all.aliases, host(1)->guid, 1, ALIAS));
	ck_assert_int_eq(member(1, IBA_METHOD_DELETE, ALIAS), IBA_SA_DENIED);
	ck_assert_uint_eq(members_with(ALIAS), 1);
	sa_store_disown(all.groups, ALIAS, host(1)->guid);
	ck_assert_uint_eq(members_with(ALIAS), 1); /* not its own */
	sa_store_disown(all.groups, ALIAS, host(0)->guid);
	ck_assert_uint_eq(members_with(ALIAS), 0);
	ck_assert_uint_eq(members_with(host(2)->guid), 1);
}
END_TEST

/* A port that gets a GUID gets no membership with it. */
START_TEST(test_granted_without_memberships)
{
	ck_assert_int_eq(member(2, IBA_METHOD_SET, host(2)->guid), IBA_STATUS_OK);
	sa_store_join_by(
		all.groups,
		sa_store_find(all.groups, (struct iba_gid){UINT64_C(0xFF12A01C00000000), 7}), ALIAS,
		IBA_JOIN_FULL_MEMBER, false, 12345);
	ck_assert(set_one(ALIAS) == ALIAS);
	ck_assert_uint_eq(members_with(ALIAS), 0);
	ck_assert_uint_eq(members_with(host(2)->guid), 1);
}
END_TEST

static int service(unsigned int who, uint8_t method, uint64_t guid)
{
	struct iba_service_record r = {.service_id = 5,
				       .service_gid = {subnet->options->subnet_prefix, guid},
				       .service_name = "s"};

	return ask_any(who, method, IBA_ATTR_SERVICE_RECORD,
		       IBA_COMPONENT(service_record, service_id) |
			       IBA_COMPONENT(service_record, service_gid),
		       &iba_service_record_type, &r);
}

/* A service of a GID that another port has by now has no owner until that port registers one. */
START_TEST(test_service_of_a_guid_that_moved)
{
	ck_assert(set_one(ALIAS) == ALIAS);
	ck_assert_int_eq(service(0, IBA_METHOD_SET, ALIAS), IBA_STATUS_OK);
	ck_assert_int_eq(service(1, IBA_METHOD_SET, ALIAS), IBA_SA_REQ_INVALID);
	ck_assert_int_eq(service(2, IBA_METHOD_GET, ALIAS), IBA_STATUS_OK);
	ck_assert(sa_aliases_set(all.aliases, host(0)->guid, 1, 0));
	ck_assert(sa_aliases_set(all.aliases, host(1)->guid, 1, ALIAS));
	ck_assert_int_eq(service(2, IBA_METHOD_GET, ALIAS), IBA_SA_NO_RECORDS);
	ck_assert_int_eq(service(0, IBA_METHOD_SET, ALIAS), IBA_SA_REQ_INVALID);
	if (_i) {
		sa_services_follow(all.services, subnet, sa_aliases_now(all.aliases), 1);
		ck_assert_uint_eq(sa_services_of(all.services, host(0)->guid), 0);
	}
	ck_assert_int_eq(service(1, IBA_METHOD_SET, ALIAS), IBA_STATUS_OK);
	ck_assert_int_eq(service(2, IBA_METHOD_GET, ALIAS), IBA_STATUS_OK);
	ck_assert_uint_eq(sa_services_of(all.services, host(0)->guid), 0);
	ck_assert_uint_eq(sa_services_of(all.services, host(1)->guid), 1);
	sa_services_follow(all.services, subnet, sa_aliases_now(all.aliases), 2);
	ck_assert_int_eq(service(2, IBA_METHOD_GET, ALIAS), IBA_STATUS_OK);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_aliases");
	TCase *tcase = tcase_create("aliases");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_life);
	tcase_add_test(tcase, test_refusals);
	tcase_add_test(tcase, test_known_key);
	tcase_add_test(tcase, test_entries_refused);
	tcase_add_test(tcase, test_member);
	tcase_add_test(tcase, test_resolves);
	tcase_add_test(tcase, test_publication);
	tcase_add_test(tcase, test_ports_that_are_gone);
	tcase_add_test(tcase, test_gone_without_any);
	tcase_add_test(tcase, test_gone_beside_others);
	tcase_add_test(tcase, test_owner_is_back);
	tcase_add_test(tcase, test_which);
	tcase_add_test(tcase, test_made);
	tcase_add_test(tcase, test_removed_before);
	tcase_add_test(tcase, test_watch);
	tcase_add_test(tcase, test_member_of_other_entries);
	tcase_add_test(tcase, test_second_block);
	tcase_add_test(tcase, test_bounds);
	tcase_add_test(tcase, test_guids_of_others);
	tcase_add_test(tcase, test_loaded_are_judged);
	tcase_add_test(tcase, test_memberships_stay_with_their_maker);
	tcase_add_test(tcase, test_granted_without_memberships);
	tcase_add_loop_test(tcase, test_service_of_a_guid_that_moved, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}
