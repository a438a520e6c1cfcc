// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The registry of groups by itself: MLIDs that switches support, and what is published when. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/memory_used.h"
#include "tests/run_suite.h"
#include "tests/unit/test_sa_make.h"

#define FIRST IBA_LID_MCAST_FIRST

static struct subnet *subnet;
static struct sa_store *store;

static const uint16_t rows[][4] = {{0xFFFF, 0x8001}};
static struct partition_group default_groups[] = {{
	.mgid = {UINT64_C(0xFF12401BFFFF0000), UINT32_MAX},
	.mtu = IBA_MTU_2048,
	.rate = IBA_RATE_10,
	.scope = 2,
	.q_key = 0x0b1b,
	.sl = 1,
}};
static struct partition_group one_groups[] = {{
	.mgid = {UINT64_C(0xFF15401B80010000), UINT32_MAX},
	.mtu = IBA_MTU_4096,
	.rate = IBA_RATE_20,
	.scope = 5,
	.q_key = 0x1111,
	.sl = 3,
	.t_class = 7,
	.flow_label = 0x12345,
}};
static const struct partition partitions[] = {
	{.p_key = 0x7FFF, .ipoib = true, .n_groups = 1, .groups = default_groups},
	{.p_key = 0x0001, .ipoib = true, .n_groups = 1, .groups = one_groups},
	{.p_key = 0x0002},
};

static void setup(void)
{
	subnet = with_partitions(make_subnet("fattree:4", 0, 0), rows, 1, partitions, 3);
	store = sa_store_new(0);
}

static void teardown(void)
{
	sa_store_free(store);
	subnet_unref(subnet);
}

static bool has_hosts(const struct fabric *fabric, uint32_t sw)
{
	uint8_t exit;

	for (uint32_t port = 0; port < fabric->n_ports; port++)
		if (fabric_is_endport(fabric, port) &&
		    !fabric_is_switch(fabric, fabric->ports[port].node) &&
		    fabric_leaf(fabric, port, &exit) == sw)
			return true;
	return false;
}

/*
 * Switches with hosts have room for that many MLIDs, except the first, which has none; others have
 * more, one of them less: it can be bypassed.
 */
static void follow_with_room(uint16_t cap)
{
	struct fabric *fabric = subnet->fabric;
	bool small = true;

	for (uint32_t i = 0; i < fabric->n_switches; i++) {
		bool is_leaf = has_hosts(fabric, i);

		fabric->switches[i].info.multicast_fdb_cap = is_leaf ? cap
							     : small ? 1
								     : cap + 1 + i;
		small &= is_leaf;
	}
	fabric->switches[0].info.multicast_fdb_cap = 0;
	sa_store_follow(store, subnet, 0);
}

static struct sa_group *make(uint64_t number, uint16_t mlid)
{
	struct iba_mc_member_record record = {
		.mgid = {UINT64_C(0xFF12A01C00000000), number},
		.p_key = 0x8001,
		.sl = number % 16, /* groups of equal SL would share */
		.mlid = mlid,
	};
	struct sa_group *group = sa_store_create(store, &record, 0, 0);

	if (group)
		sa_store_join(store, group, subnet->fabric->ports[endport(subnet, 0, true)].guid,
			      IBA_JOIN_FULL_MEMBER, false);
	return group;
}

/* The tables of the group are erased at once. */
static void leave(struct sa_group *group)
{
	sa_store_leave(store, group, subnet->fabric->ports[endport(subnet, 0, true)].guid,
		       IBA_JOIN_FULL_MEMBER);
	sa_store_programmed(store, UINT64_MAX);
}

/* Whether something was published since the last call, and how many ports its groups have. */
static int published(void)
{
	const struct mc_group *group;
	struct mc_cursor cursor = {0};
	struct mc_groups *groups;
	int ports = 0;

	if (!sa_store_changed(store))
		return -1;
	groups = sa_store_publish(store);
	ck_assert_ptr_nonnull(groups);
	while ((group = mc_groups_next(groups, &cursor)))
		ports += (int)group->n_ports;
	mc_groups_unref(groups);
	return ports;
}

/* The smallest switch decides; each MLID up to its limit is assigned once, and none above. */
START_TEST(test_as_many_as_switches_can_do)
{
	follow_with_room(8);
	for (unsigned int i = 2; i < 8; i++) { /* two are of partitions */
		struct sa_group *group = make(i, 0);

		ck_assert_ptr_nonnull(group);
		ck_assert_uint_eq(group->record.mlid, FIRST + i);
	}
	ck_assert_ptr_null(make(8, 0));
	ck_assert_ptr_null(make(8, FIRST + 8));
}
END_TEST

/* A group of a partition that finds no MLID is made when one is free. */
START_TEST(test_wish_waits)
{
	struct partition_group wish = one_groups[0];
	struct partition with_wish[G_N_ELEMENTS(partitions)];
	struct sa_group *last = NULL;

	memcpy(with_wish, partitions, sizeof(partitions));
	wish.mgid.prefix = UINT64_C(0xFF15401B80020000);
	with_wish[2].n_groups = 1;
	with_wish[2].groups = &wish;

	follow_with_room(8);
	for (unsigned int i = 2; i < 8; i++)
		last = make(i, 0);
	subnet = with_partitions(subnet, rows, 1, with_wish, G_N_ELEMENTS(with_wish));
	sa_store_follow(store, subnet, 0);
	ck_assert_uint_eq(sa_store_unmet(store), 1);
	ck_assert_ptr_null(sa_store_find(store, wish.mgid));
	leave(last);
	sa_store_wish(store, subnet);
	ck_assert_uint_eq(sa_store_unmet(store), 0);
	ck_assert(sa_store_find(store, wish.mgid)->well_known);
}
END_TEST

/* Groups above a new, lower top stay, but their MLIDs are not reused until the top is higher. */
START_TEST(test_top_falls_and_rises)
{
	struct sa_group *high, *last;

	follow_with_room(16);
	high = make(1, FIRST + 10);
	last = make(2, FIRST + 3);
	ck_assert_uint_eq(high->record.mlid, FIRST + 10);
	follow_with_room(4);
	ck_assert_ptr_eq(sa_store_find_mlid(store, FIRST + 10), high);
	ck_assert_uint_eq(make(3, FIRST + 12)->record.mlid, FIRST + 2); /* the only one left */
	ck_assert_ptr_null(make(4, 0));
	leave(high);
	ck_assert_ptr_null(sa_store_find_mlid(store, FIRST + 10));
	ck_assert_ptr_null(make(4, FIRST + 10));
	leave(last);
	ck_assert_uint_eq(make(5, FIRST + 4)->record.mlid, FIRST + 3);
	follow_with_room(6);
	ck_assert_uint_eq(make(6, 0)->record.mlid, FIRST + 4);
	ck_assert_uint_eq(make(7, FIRST + 5)->record.mlid, FIRST + 5);
	ck_assert_ptr_null(make(8, 0));
}
END_TEST

/* A group of a partition above the top gets an MLID that fits once it has no members. */
START_TEST(test_top_falls_below_a_wish)
{
	const struct iba_mc_member_record record = {
		.mgid = one_groups[0].mgid,
		.p_key = 0x8001,
		.mlid = FIRST + 10,
		.mtu = _i ? IBA_MTU_4096 : 0,
		.rate = _i ? IBA_RATE_20 : 0,
		.sl = _i ? 3 : 0,
	};
	uint64_t guid = subnet->fabric->ports[endport(subnet, 0, true)].guid;
	struct sa_group *group;

	if (_i) /* it would share its MLID with groups of these parameters */
		subnet->options->mlid_sharing = g_strdup("ff15:401b::/ffff:ffff::=1");
	sa_store_follow_mlids(store, subnet);
	group = sa_store_restore(store, &record, 0);
	sa_store_join(store, group, guid, IBA_JOIN_FULL_MEMBER, false);
	follow_with_room(16);
	follow_with_room(4);
	ck_assert_uint_eq(group->record.mlid, FIRST + 10);
	sa_store_leave(store, group, guid, IBA_JOIN_FULL_MEMBER);
	follow_with_room(4);
	ck_assert_ptr_eq(sa_store_find_mlid(store, FIRST + 1), group);
	ck_assert_uint_eq(group->record.mlid, FIRST + 1);
	ck_assert_uint_eq(group->record.mtu, IBA_MTU_4096);
}
END_TEST

/* While a group lives above the top, a top that rises over it does not reassign its MLID. */
START_TEST(test_top_rises_over_a_group)
{
	follow_with_room(16);
	ck_assert_uint_eq(make(1, FIRST + 4)->record.mlid, FIRST + 4);
	follow_with_room(4);
	follow_with_room(6);
	for (unsigned int i = 2; i < 5; i++)
		ck_assert_uint_ne(make(i, FIRST + 4)->record.mlid, FIRST + 4);
	ck_assert_ptr_null(make(5, 0));
}
END_TEST

/* Changes of the members' ports are published, others are not. */
START_TEST(test_what_is_published)
{
	uint64_t guid = subnet->fabric->ports[endport(subnet, 1, true)].guid;
	struct sa_group *group;

	sa_store_follow(store, subnet, 0);
	ck_assert_int_eq(published(), 0);
	sa_store_follow(store, subnet, 0);
	ck_assert_int_eq(published(), -1);
	ck_assert_ptr_null(sa_store_publish(store));
	group = make(1, 0);
	ck_assert_int_eq(published(), 1);
	sa_store_join(store, group, guid, IBA_JOIN_NON_MEMBER, true);
	ck_assert_int_eq(published(), 2);
	ck_assert(sa_group_member(group, guid)->proxy);
	sa_store_join(store, group, guid, IBA_JOIN_FULL_MEMBER, false);
	ck_assert_int_eq(published(), -1);
	ck_assert_uint_eq(sa_group_member(group, guid)->join_state,
			  IBA_JOIN_FULL_MEMBER | IBA_JOIN_NON_MEMBER);
	sa_store_leave(store, group, guid, IBA_JOIN_FULL_MEMBER);
	ck_assert_int_eq(published(), -1);
	sa_store_leave(store, group, guid, IBA_JOIN_NON_MEMBER);
	ck_assert_int_eq(published(), 1);
	sa_store_join(store, group, guid, IBA_JOIN_SEND_ONLY_NON_MEMBER, false);
	ck_assert_int_eq(published(), 2);
	sa_store_leave(store, group, guid, IBA_JOIN_SEND_ONLY_NON_MEMBER);
	ck_assert_int_eq(published(), 1);
	sa_store_leave(store, group, guid, IBA_JOIN_NON_MEMBER); /* not a member */
	ck_assert_int_eq(published(), -1);
	leave(group);
	ck_assert_int_eq(published(), 0);
}
END_TEST

static bool stop_at_second(const struct sa_group *group, void *arg)
{
	unsigned int *n = arg;

	ck_assert_uint_eq(group->record.mlid, FIRST + *n);
	return ++*n < 2;
}

/* In the order of their MLIDs, for as long as the caller wants more. */
START_TEST(test_each)
{
	unsigned int n = 0;

	sa_store_follow(store, subnet, 0);
	make(1, 0);
	sa_store_each(store, stop_at_second, &n);
	ck_assert_uint_eq(n, 2);
}
END_TEST

/* Fields of a member are not fields of the group, whichever port made it. */
START_TEST(test_group_is_no_member)
{
	struct iba_mc_member_record record = {
		.mgid = {UINT64_C(0xFF12A01C00000000), 1},
		.port_gid = {1, 2},
		.join_state = IBA_JOIN_FULL_MEMBER,
		.proxy_join = 1,
		.q_key = 0x55,
	};
	const struct sa_group *group = sa_store_create(store, &record, 0, 7);

	ck_assert(iba_gid_equal(group->record.port_gid, (struct iba_gid){0}));
	ck_assert_uint_eq(group->record.join_state, 0);
	ck_assert_uint_eq(group->record.proxy_join, 0);
	ck_assert_uint_eq(group->record.q_key, 0x55);
	ck_assert_uint_eq(group->creator, 7);
	ck_assert_uint_eq(group->n_full, 0);
}
END_TEST

static void check_broadcast(const struct partition *partition, uint8_t hop_limit)
{
	const struct partition_group *wish = &partition->groups[0];
	const struct sa_group *group = sa_store_find(store, wish->mgid);
	const struct iba_mc_member_record *record = &group->record;

	ck_assert(group->well_known);
	ck_assert_uint_eq(record->p_key, partition->p_key | P_KEY_FULL);
	ck_assert_uint_eq(record->q_key, wish->q_key);
	ck_assert_uint_eq(record->mtu, wish->mtu);
	ck_assert_uint_eq(record->mtu_selector, IBA_SELECTOR_EXACTLY);
	ck_assert_uint_eq(record->rate, wish->rate);
	ck_assert_uint_eq(record->rate_selector, IBA_SELECTOR_EXACTLY);
	ck_assert_uint_eq(record->packet_life_time, subnet->options->subnet_timeout);
	ck_assert_uint_eq(record->packet_life_time_selector, IBA_SELECTOR_EXACTLY);
	ck_assert_uint_eq(record->sl, wish->sl);
	ck_assert_uint_eq(record->scope, wish->scope);
	ck_assert_uint_eq(record->t_class, wish->t_class);
	ck_assert_uint_eq(record->flow_label, wish->flow_label);
	ck_assert_uint_eq(record->hop_limit, hop_limit);
}

/* The broadcast groups that IPoIB expects (RFC 4391): packets of a wider scope may leave. */
START_TEST(test_broadcast_groups)
{
	struct iba_gid mgid = partition_broadcast_mgid(0x0001, 5);

	sa_store_follow(store, subnet, 0);
	check_broadcast(&partitions[0], 0);
	check_broadcast(&partitions[1], 0xFF);
	ck_assert(mgid.prefix == UINT64_C(0xFF15401B80010000) && mgid.guid == UINT64_C(0xFFFFFFFF));
	ck_assert_ptr_null(sa_store_find(store, partition_broadcast_mgid(0x0002, 2)));
	sa_store_clear(store);
	ck_assert_ptr_null(sa_store_find(store, mgid));
	ck_assert_ptr_null(sa_store_find_mlid(store, FIRST));
	ck_assert_int_eq(published(), 0);
}
END_TEST

/*
 * Members of the group of a partition that has lost its IPoIB stay, with the former parameters:
 * nothing would tell them to join again. After the last one has left it is gone.
 */
START_TEST(test_lost_group)
{
	static const struct partition with_ipoib = {
		.p_key = 0x0001, .ipoib = true, .n_groups = 1, .groups = one_groups};
	static const struct partition without = {.p_key = 0x0001};
	struct sa_group *group;
	uint64_t guid = subnet->fabric->ports[endport(subnet, 0, true)].guid;

	subnet = with_partitions(subnet, rows, 1, &with_ipoib, 1);
	sa_store_follow(store, subnet, 0);
	group = sa_store_find(store, one_groups[0].mgid);
	sa_store_join(store, group, guid, IBA_JOIN_FULL_MEMBER, false);
	ck_assert(group->well_known && group->n_full == 1);
	subnet = with_partitions(subnet, rows, 1, &without, 1);
	sa_store_follow(store, subnet, 0);
	group = sa_store_find(store, one_groups[0].mgid);
	ck_assert(!group->well_known);
	ck_assert_uint_eq(group->n_full, 1);
	ck_assert_uint_eq(group->record.mtu, IBA_MTU_4096);
	sa_store_leave(store, group, guid, IBA_JOIN_FULL_MEMBER);
	ck_assert_ptr_null(sa_store_find(store, one_groups[0].mgid));
	subnet = with_partitions(subnet, rows, 1, &with_ipoib, 1);
	sa_store_follow(store, subnet, 0);
	ck_assert(sa_store_find(store, one_groups[0].mgid)->well_known);
}
END_TEST

/* A partition's new parameters apply to its group once no member relies on the former ones. */
START_TEST(test_partition_changes)
{
	struct partition changed[G_N_ELEMENTS(partitions)];
	struct partition_group other = one_groups[0];
	struct sa_group *group;
	uint16_t mlid;

	memcpy(changed, partitions, sizeof(changed));
	other.mtu = IBA_MTU_1024;
	changed[1].groups = &other;
	sa_store_follow(store, subnet, 0);
	group = sa_store_find(store, partition_broadcast_mgid(0x0001, 5));
	mlid = group->record.mlid;
	sa_store_join(store, group, subnet->fabric->ports[endport(subnet, 0, true)].guid,
		      IBA_JOIN_NON_MEMBER, false);
	subnet = with_partitions(subnet, rows, 1, changed, 3);
	sa_store_follow(store, subnet, 0);
	ck_assert_uint_eq(group->record.mtu, IBA_MTU_4096);
	sa_store_leave(store, group, subnet->fabric->ports[endport(subnet, 0, true)].guid, 0xF);
	sa_store_follow(store, subnet, 0);
	ck_assert_uint_eq(group->record.mtu, IBA_MTU_1024);
	ck_assert_uint_eq(group->record.mlid, mlid);
	subnet = with_partitions(subnet, rows, 1, changed, 1);
	sa_store_follow(store, subnet, 0);
	ck_assert_ptr_null(sa_store_find(store, partition_broadcast_mgid(0x0001, 5)));
}
END_TEST

/* Events of the watch: a group that exists for the first time, again or no more, and members. */
static void on_group(void *arg, const struct sa_group *group, bool gone)
{
	g_string_append_printf(arg, "%s%u ",
			       gone		? "-G"
			       : group->is_told ? "=G"
						: "+G",
			       (unsigned int)group->record.mgid.guid);
}

static void on_member(void *arg, const struct sa_group *group, const struct sa_member *member)
{
	(void)group;
	g_string_append_printf(arg, "%s%u ", member->join_state ? "+m" : "-m",
			       (unsigned int)member->guid);
}

static void on_ask_again(void *arg, uint64_t port_guid)
{
	g_string_append_printf(arg, "?%u ", (unsigned int)port_guid);
}

static const struct sa_store_watch watch = {
	.group = on_group, .member = on_member, .ask_again = on_ask_again};

static void check_told(GString *told, const char *expected)
{
	ck_assert_str_eq(told->str, expected);
	g_string_truncate(told, 0);
}

START_TEST(test_watch)
{
	const struct iba_mc_member_record record = {.mgid = {UINT64_C(0xFF12A01C00000000), 7}};
	g_autoptr(GString) told = g_string_new(NULL);
	struct sa_group *group;

	sa_store_watch(store, &watch, told);
	group = sa_store_create(store, &record, 0, 0);
	sa_store_join(store, group, 1, IBA_JOIN_FULL_MEMBER, false);
	sa_store_join(store, group, 2, IBA_JOIN_NON_MEMBER, false);
	sa_store_join(store, group, 2, IBA_JOIN_SEND_ONLY_NON_MEMBER, false);
	sa_store_keep(store, group, true);
	sa_store_leave(store, group, 1, IBA_JOIN_FULL_MEMBER);
	check_told(told, "+G7 +m1 +m2 +m2 =G7 -m1 ");
	sa_store_join(store, group, 3, IBA_JOIN_FULL_MEMBER, false);
	ck_assert_uint_eq(sa_store_groups_of(store, 2), 1);
	ck_assert_uint_eq(sa_store_groups_of(store, 4), 0);
	sa_store_clear(store);
	check_told(told, "+m3 -m2 -m3 -G7 ");
	ck_assert_uint_eq(sa_store_groups_of(store, 2), 0);
	sa_store_follow(store, subnet, 0);
	check_told(told, "+G4294967295 =G4294967295 +G4294967295 =G4294967295 ");
}
END_TEST

/* The quota of a port counts groups made by ports: the SM's own do not count. */
START_TEST(test_groups_of_nobody)
{
	struct iba_mc_member_record record = {.mgid = {UINT64_C(0xFF12A01C00000000), 7}};

	sa_store_follow(store, subnet, 0);
	ck_assert_uint_eq(sa_store_find(store, default_groups[0].mgid)->creator, 0);
	sa_store_create(store, &record, 0, 0);
	sa_store_clear(store);
	ck_assert_ptr_nonnull(sa_store_create(store, &record, 0, 5));
}
END_TEST

/* Numbers of MGIDs continue from the first one; those of its last two years are an SA's own. */
START_TEST(test_made_mgids)
{
	const uint64_t prefix = UINT64_C(0xFEC0000000000123);
	const struct iba_mc_member_record record = {.scope = 5};
	const uint32_t first = 1u << 30, years = 1u << 29, ahead = 1u << 24;
	struct iba_gid mgid;

	sa_store_free(store);
	store = sa_store_new(first);
	mgid = sa_store_create(store, &record, prefix, 0)->record.mgid;
	ck_assert(mgid.prefix == UINT64_C(0xFF15A01BFEC00000));
	ck_assert(mgid.guid == (UINT64_C(0x123) << 32 | (first + 1)));
	mgid.guid += ahead;
	ck_assert(sa_store_made(store, mgid, prefix));
	mgid.guid++;
	ck_assert(!sa_store_made(store, mgid, prefix));
	mgid.guid -= ahead + years;
	ck_assert(sa_store_made(store, mgid, prefix));
	mgid.guid--;
	ck_assert(!sa_store_made(store, mgid, prefix));
	mgid.guid += UINT64_C(1) + (UINT64_C(1) << 32);
	ck_assert(!sa_store_made(store, mgid, prefix));
}
END_TEST

static bool note_group(const struct sa_group *group, void *arg)
{
	g_string_append_printf(arg, "%x:%u ", group->record.mlid,
			       (unsigned int)group->record.mgid.guid);
	return true;
}

/* By MLID, up to the last one, then by MGID. */
START_TEST(test_order)
{
	g_autoptr(GString) order = g_string_new(NULL);
	struct iba_mc_member_record record = {.p_key = 0x8001};

	follow_with_room(1);
	sa_store_clear(store);
	sa_store_programmed(store, UINT64_MAX);
	for (unsigned int i = 0; i < 4; i++) { /* all have to share */
		record.mgid.prefix = UINT64_C(0xFF12A01C00000000) + (i ^ 1) / 2;
		record.mgid.guid = 7 - i;
		ck_assert_ptr_nonnull(sa_store_create(store, &record, 0, 0));
	}
	sa_store_each(store, note_group, order);
	ck_assert_str_eq(order->str, "c000:6 c000:7 c000:4 c000:5 ");
	sa_store_free(store);
	store = sa_store_new(0);
	record.mlid = IBA_LID_MCAST_LAST;
	record.mgid.guid = 9;
	sa_store_create(store, &record, 0, 0);
	g_string_truncate(order, 0);
	sa_store_each(store, note_group, order);
	ck_assert_str_eq(order->str, "fffe:9 ");
}
END_TEST

/* What the sweep gets of a group, in the block of its MLID and no other. */
START_TEST(test_published_group)
{
	struct iba_mc_member_record record = {
		.mgid = {UINT64_C(0xFF12A01C00000000), 7},
		.p_key = 0x8001,
		.mtu = IBA_MTU_2048,
		.rate = IBA_RATE_20,
		.sl = 6,
		.mlid = FIRST + MC_PER_BLOCK,
	};
	uint64_t serial = sa_store_serial(store);
	const struct mc_group *group;
	struct mc_groups *groups;

	sa_store_create(store, &record, 0, 0);
	ck_assert_uint_eq(sa_store_serial(store), serial + 1);
	groups = sa_store_publish(store);
	ck_assert_uint_eq(groups->serial, serial + 1);
	ck_assert_uint_eq(sa_store_serial(store), serial + 1);
	ck_assert_uint_eq(groups->n, 1);
	ck_assert_ptr_null(groups->blocks[0]);
	ck_assert_uint_eq(groups->blocks[1]->n, 1);
	group = groups->blocks[1]->groups[0];
	ck_assert(iba_gid_equal(group->mgid, record.mgid));
	ck_assert_uint_eq(group->mlid, record.mlid);
	ck_assert_uint_eq(group->p_key, record.p_key);
	ck_assert_uint_eq(group->mtu, record.mtu);
	ck_assert_uint_eq(group->rate, record.rate);
	ck_assert_uint_eq(group->sl, record.sl);
	mc_groups_unref(groups);
	make(1, FIRST + MC_PER_BLOCK - 1);
	groups = sa_store_publish(store);
	ck_assert_uint_eq(groups->n, 2);
	ck_assert_uint_eq(groups->blocks[0]->n, 1);
	ck_assert_uint_eq(groups->blocks[1]->n, 1);
	mc_groups_unref(groups);
	sa_store_clear(store);
	groups = sa_store_publish(store); /* though it had no members */
	ck_assert_uint_eq(groups->n, 0);
	ck_assert_ptr_null(groups->blocks[0]);
	ck_assert_ptr_null(groups->blocks[1]);
	mc_groups_unref(groups);
}
END_TEST

/* ---- ports that are gone ---- */

static uint64_t guid_of(unsigned int host)
{
	return subnet->fabric->ports[endport(subnet, host, true)].guid;
}

/* The cable of a host is pulled, or plugged in again. */
static void plug(unsigned int host, bool plugged)
{
	static uint32_t peers[16];
	struct fabric_port *port = &subnet->fabric->ports[endport(subnet, host, true)];

	if (plugged) {
		port->peer = peers[host];
	} else {
		peers[host] = port->peer;
		port->peer = FABRIC_NONE;
	}
}

/* Each has its own time; the group goes with the last one. */
START_TEST(test_two_are_gone)
{
	uint64_t grace = subnet->options->membership_grace * NS_PER_S;
	struct sa_group *group, *other;

	subnet = with_partitions(subnet, rows, 1, partitions + 2, 1);
	group = make(1, 0);
	other = make(2, 0);
	sa_store_join(store, other, guid_of(2), IBA_JOIN_FULL_MEMBER, false);
	sa_store_leave(store, other, guid_of(2), IBA_JOIN_FULL_MEMBER); /* it was not gone */
	sa_store_join(store, group, guid_of(1), IBA_JOIN_FULL_MEMBER, false);
	sa_store_join(store, group, guid_of(3), IBA_JOIN_NON_MEMBER, false);
	sa_store_join(store, other, guid_of(3), IBA_JOIN_FULL_MEMBER, false);
	ck_assert_uint_eq(sa_store_expire(store, 1), 0);
	plug(0, false);
	sa_store_follow(store, subnet, 1);
	ck_assert_uint_eq(sa_store_expire(store, 1), 1 + grace);
	plug(1, false);
	sa_store_follow(store, subnet, 1 + grace / 2);
	ck_assert_uint_eq(sa_store_expire(store, grace), 1 + grace);
	ck_assert_uint_eq(group->members->len, 3);
	ck_assert_uint_eq(sa_store_expire(store, 1 + grace), 1 + grace + grace / 2);
	ck_assert_uint_eq(group->members->len, 2);
	ck_assert_uint_eq(other->members->len, 1);
	ck_assert_uint_eq(sa_store_expire(store, 1 + 2 * grace), 0);
	ck_assert_ptr_null(sa_store_find_mlid(store, FIRST));
	ck_assert_ptr_eq(sa_store_find_mlid(store, FIRST + 1), other);
}
END_TEST

static void make_reregister(unsigned int host)
{
	uint32_t port = fabric_port_by_guid(subnet->fabric, guid_of(host));
	struct iba_port_info *info = (struct iba_port_info *)&subnet->fabric->ports[port].info;

	info->capability_mask = IBA_PORT_CAP_CLIENT_REREGISTRATION;
}

/* A host that was reset is told to reregister; groups that it does not join by then it has left. */
START_TEST(test_back_after_a_reset)
{
	uint64_t grace = subnet->options->membership_grace * NS_PER_S;
	struct sa_group *kept, *left;

	subnet = with_partitions(subnet, rows, 1, partitions + 2, 1);
	kept = make(1, 0);
	left = make(2, 0);
	sa_store_join(store, kept, guid_of(1), IBA_JOIN_FULL_MEMBER, false);
	sa_store_join(store, left, guid_of(1), IBA_JOIN_FULL_MEMBER, false);
	sa_store_join(store, left, guid_of(2), IBA_JOIN_NON_MEMBER, false); /* cannot be told */
	leave(left);
	sa_store_join(store, kept, guid_of(3), IBA_JOIN_NON_MEMBER, true); /* by another */
	make_reregister(1);
	make_reregister(3);
	for (unsigned int host = 0; host < 4; host++)
		plug(host, false);
	sa_store_follow(store, subnet, 1);
	for (unsigned int host = 0; host < 4; host++)
		plug(host, true);
	sa_store_follow(store, subnet, 5);
	ck_assert_uint_eq(sa_store_expire(store, 5), 5 + grace);
	sa_store_join(store, kept, guid_of(1), IBA_JOIN_FULL_MEMBER, false);
	sa_store_follow(store, subnet, grace); /* no change */
	ck_assert_uint_eq(sa_store_expire(store, grace + 4), 5 + grace);
	ck_assert_uint_eq(left->members->len, 2);
	ck_assert_uint_eq(sa_store_expire(store, grace + 5), 0);
	ck_assert_uint_eq(kept->members->len, 3);
	ck_assert_ptr_null(sa_store_find_mlid(store, FIRST + 1)); /* no member keeps it */
	ck_assert_uint_eq(sa_store_groups_of(store, guid_of(2)), 0);
}
END_TEST

static const uint16_t without_one[][4] = {{0xFFFF}};

/* Whether it may still be a member is decided when it is back. */
START_TEST(test_p_key_lost_while_gone)
{
	struct sa_group *group;

	subnet = with_partitions(subnet, rows, 1, partitions + 2, 1);
	group = make(1, 0);
	sa_store_join(store, group, guid_of(3), IBA_JOIN_FULL_MEMBER, false);
	sa_store_follow(store, subnet, 1);
	plug(3, false);
	subnet = with_partitions(subnet, without_one, 1, partitions + 2, 1);
	sa_store_follow(store, subnet, 2);
	ck_assert_ptr_eq(sa_store_find_mlid(store, FIRST), group);
	ck_assert_uint_eq(group->members->len, 1);
	plug(3, true);
	sa_store_follow(store, subnet, 3);
	ck_assert_ptr_null(sa_store_find_mlid(store, FIRST));
}
END_TEST

static void follow_rows(const uint16_t (*p_keys)[4])
{
	subnet = with_partitions(subnet, p_keys, 1, partitions + 2, 1);
	sa_store_follow(store, subnet, 1);
}

/*
 * A port that left groups for lack of a P_Key is told to rejoin when it has that one; not if
 * another joined it, nor if it was gone meanwhile.
 */
START_TEST(test_p_key_comes_back)
{
	static const uint16_t other[][4] = {{0xFFFF, 0x8002}}, both[][4] = {{0xFFFF, 1, 2}};
	g_autoptr(GString) told = g_string_new(NULL);
	g_autofree char *asked = g_strdup_printf("?%u ", (unsigned int)guid_of(3));
	struct sa_group *group;

	follow_rows(rows);
	for (unsigned int i = 1; i <= 2; i++) {
		group = make(i, 0);
		sa_store_join(store, group, guid_of(3), IBA_JOIN_FULL_MEMBER, false);
		sa_store_join(store, group, guid_of(4), IBA_JOIN_FULL_MEMBER, true);
		sa_store_leave(store, group, guid_of(0), IBA_JOIN_FULL_MEMBER);
	}
	follow_rows(without_one);
	sa_store_watch(store, &watch, told);
	follow_rows(other);
	check_told(told, "");
	follow_rows(both);
	check_told(told, asked);
	follow_rows(other);
	follow_rows(both);
	check_told(told, "");
	sa_store_watch(store, NULL, NULL);
	make(1, 0);
	follow_rows(without_one);
	sa_store_watch(store, &watch, told);
	plug(0, false);
	follow_rows(without_one);
	plug(0, true);
	follow_rows(rows);
	check_told(told, "");
}
END_TEST

/* ---- partitions that change ---- */

static struct partition_group changed_group;

/* As partitions, but the second one wants its group otherwise. */
static void change_partition(uint8_t mtu)
{
	struct partition changed[G_N_ELEMENTS(partitions)];

	memcpy(changed, partitions, sizeof(changed));
	changed_group = one_groups[0];
	changed_group.mtu = mtu;
	changed[1].groups = &changed_group;
	subnet = with_partitions(subnet, rows, 1, changed, 3);
	sa_store_follow(store, subnet, 0);
}

static struct iba_mc_member_record like_broadcast(uint8_t mtu)
{
	return (struct iba_mc_member_record){
		.mgid = {UINT64_C(0xFF15401B80010000), mtu},
		.p_key = 0x8001,
		.mtu = mtu,
		.rate = IBA_RATE_20,
		.sl = 3,
	};
}

/* A group that shares its MLID leaves it to those that still agree. */
START_TEST(test_shared_partition_group)
{
	struct iba_mc_member_record record = like_broadcast(IBA_MTU_4096);
	struct sa_group *group, *other;
	struct mc_groups *groups;

	g_free(subnet->options->mlid_sharing);
	subnet->options->mlid_sharing = g_strdup("ff15:401b::/ffff:ffff::=1");
	subnet->options->ipoib_mcgroup_creation_validation = false; /* else it follows */
	sa_store_follow(store, subnet, 0);
	group = sa_store_find(store, one_groups[0].mgid);
	other = sa_store_create(store, &record, 0, 0);
	sa_store_join(store, other, 1, IBA_JOIN_FULL_MEMBER, false);
	ck_assert_uint_eq(other->record.mlid, group->record.mlid);
	mc_groups_unref(sa_store_publish(store));
	change_partition(IBA_MTU_1024);
	ck_assert_uint_eq(group->record.mtu, IBA_MTU_1024);
	ck_assert_uint_eq(other->record.mlid, FIRST + 1);
	ck_assert_uint_eq(group->record.mlid, FIRST + 2);
	ck_assert_ptr_eq(sa_store_find_mlid(store, FIRST + 1), other);
	ck_assert_ptr_eq(sa_store_find_mlid(store, FIRST + 2), group);
	groups = sa_store_publish(store);
	ck_assert_uint_eq(groups->n, 3);
	ck_assert_uint_eq(groups->blocks[0]->groups[2]->mtu, IBA_MTU_1024);
	mc_groups_unref(groups);
}
END_TEST

/* Until there is another MLID it stays as it was. */
START_TEST(test_shared_partition_group_stays)
{
	struct iba_mc_member_record record = like_broadcast(IBA_MTU_4096);
	struct sa_group *group, *other;

	follow_with_room(2);
	group = sa_store_find(store, one_groups[0].mgid);
	other = sa_store_create(store, &record, 0, 0); /* none is left: they share */
	sa_store_join(store, other, 1, IBA_JOIN_FULL_MEMBER, false);
	ck_assert_uint_eq(other->record.mlid, group->record.mlid);
	change_partition(IBA_MTU_1024);
	ck_assert_uint_eq(group->record.mtu, IBA_MTU_4096);
	ck_assert_uint_eq(group->record.mlid, other->record.mlid);
	follow_with_room(3);
	ck_assert_uint_eq(group->record.mtu, IBA_MTU_1024);
	ck_assert_uint_ne(group->record.mlid, other->record.mlid);
}
END_TEST

/* Others share its MLID by its present parameters, not the former ones. */
START_TEST(test_terms_of_partition_group)
{
	struct iba_mc_member_record before = like_broadcast(IBA_MTU_4096),
				    after = like_broadcast(IBA_MTU_1024);
	struct mc_groups *groups;

	follow_with_room(2);
	mc_groups_unref(sa_store_publish(store));
	change_partition(IBA_MTU_1024);
	groups = sa_store_publish(store);
	ck_assert_uint_eq(groups->blocks[0]->groups[1]->mtu, IBA_MTU_1024);
	mc_groups_unref(groups);
	ck_assert_ptr_null(sa_store_create(store, &before, 0, 0));
	ck_assert_ptr_nonnull(sa_store_create(store, &after, 0, 0));
}
END_TEST

/* More groups of partitions than MLIDs: some do not exist. */
START_TEST(test_no_room_for_partitions)
{
	follow_with_room(1);
	ck_assert_ptr_nonnull(sa_store_find(store, default_groups[0].mgid));
	ck_assert_ptr_null(sa_store_find(store, one_groups[0].mgid));
}
END_TEST

/* The group of the lowest MLID follows its partition as the others do. */
START_TEST(test_first_group_goes)
{
	sa_store_follow(store, subnet, 0);
	ck_assert_uint_eq(sa_store_find(store, default_groups[0].mgid)->record.mlid, FIRST);
	subnet = with_partitions(subnet, rows, 1, partitions + 1, 2);
	sa_store_follow(store, subnet, 0);
	ck_assert_ptr_null(sa_store_find_mlid(store, FIRST));
	ck_assert_ptr_nonnull(sa_store_find(store, one_groups[0].mgid));
}
END_TEST

/* ---- sharing ---- */

#define N_HOSTS 10240u

static struct sa_group *make_snm(uint32_t host, uint8_t sl)
{
	struct iba_mc_member_record record = {
		.mgid = {UINT64_C(0xFF12601B80010000), UINT64_C(0x1FF000000) | (host * 2 + 17)},
		.p_key = 0x8001,
		.mtu = IBA_MTU_4096,
		.rate = IBA_RATE_40,
		.sl = sl,
	};
	struct sa_group *group = sa_store_create(store, &record, 0, host + 1);

	ck_assert_ptr_nonnull(group);
	sa_store_join(store, group, host + 1, IBA_JOIN_FULL_MEMBER, false);
	return group;
}

/* Groups of hosts with consecutive addresses spread over as many MLIDs as allowed. */
START_TEST(test_solicited_node_groups)
{
	unsigned int groups[SA_N_MLIDS] = {0}, used = 0, most = 0;
	uint16_t other;

	subnet->options->consolidate_ipv6_snm_req = true;
	sa_store_follow(store, subnet, 0);
	for (uint32_t host = 0; host < N_HOSTS; host++)
		groups[make_snm(host, 0)->record.mlid - FIRST]++;
	for (uint32_t i = 0; i < SA_N_MLIDS; i++) {
		used += groups[i] != 0;
		most = MAX(most, groups[i]);
	}
	ck_assert_uint_eq(used, 16);
	ck_assert_uint_lt(most, 2 * N_HOSTS / 16);
	other = make_snm(N_HOSTS, 1)->record.mlid; /* of another SL: not with these */
	ck_assert_uint_eq(groups[other - FIRST], 0);
	sa_store_clear(store);
	ck_assert_ptr_null(sa_store_find_mlid(store, other));
}
END_TEST

static uint16_t mlid_of(uint64_t prefix, uint64_t guid, uint8_t rate)
{
	struct iba_mc_member_record record = {
		.mgid = {prefix, guid}, .p_key = 0xFFFF, .mtu = IBA_MTU_4096, .rate = rate};
	struct sa_group *group = sa_store_create(store, &record, 0, 0);

	ck_assert_ptr_nonnull(group);
	sa_store_join(store, group, guid, IBA_JOIN_FULL_MEMBER, false);
	return group->record.mlid;
}

static void share(const char *rules)
{
	g_free(subnet->options->mlid_sharing);
	subnet->options->mlid_sharing = g_strdup(rules);
	sa_store_follow(store, subnet, 0);
}

/* By rules of the operator: the first that names a group, within equal parameters. */
START_TEST(test_sharing_rules)
{
	const uint64_t ours = UINT64_C(0xFF15A01C00000000), other = UINT64_C(0xFF15A01D00000000);
	bool seen[SA_N_MLIDS] = {false};
	unsigned int used = 0;
	uint16_t one;

	share("ff15:a01c::8000:0/ffff:ffff::8000:0=1, ff15:a01c::/ffff:ffff::=3");
	one = mlid_of(ours, 0x80000001, IBA_RATE_40);
	for (uint64_t i = 1; i < 100; i++) {
		uint16_t mlid = mlid_of(ours, i, IBA_RATE_40);

		ck_assert_uint_ne(mlid, one);
		used += !seen[mlid - FIRST];
		seen[mlid - FIRST] = true;
		ck_assert_uint_eq(mlid_of(ours, 0x80000001 + i, IBA_RATE_40), one);
	}
	ck_assert_uint_eq(used, 3);
	ck_assert_uint_ne(mlid_of(ours, 0x80001000, IBA_RATE_10), one);
	ck_assert_uint_ne(mlid_of(other, 1, IBA_RATE_40), mlid_of(other, 2, IBA_RATE_40));
}
END_TEST

/* Other rules: existing groups stay where they are, new ones follow them. */
START_TEST(test_sharing_rules_change)
{
	const uint64_t ours = UINT64_C(0xFF15A01C00000000);
	uint16_t one, two;

	share("ff15:a01c::/ffff:ffff::=1");
	one = mlid_of(ours, 1, IBA_RATE_40);
	share("ff15:a01c::/ffff:ffff::=1, ff12::/ffff::=2");
	two = mlid_of(ours, 2, IBA_RATE_40);
	ck_assert_uint_ne(one, two);
	ck_assert_uint_eq(mlid_of(ours, 3, IBA_RATE_40), two);
	share("ff15:a01c::/ffff:ffff::=1"); /* only one rule */
	ck_assert_uint_eq(mlid_of(ours, 5, IBA_RATE_40), mlid_of(ours, 6, IBA_RATE_40));
	share(NULL);
	ck_assert_uint_eq(sa_store_find(store, (struct iba_gid){ours, 3})->record.mlid, two);
	ck_assert_uint_ne(mlid_of(ours, 4, IBA_RATE_40), two);
	sa_store_clear(store);
	ck_assert_ptr_null(sa_store_find_mlid(store, two));
}
END_TEST

/* Only where the operator wants it. */
START_TEST(test_solicited_node_groups_apart)
{
	sa_store_follow(store, subnet, 0);
	ck_assert_uint_ne(make_snm(1, 0)->record.mlid, make_snm(1 + 16, 0)->record.mlid);
}
END_TEST

/*
 * A member that only sends is not a receiver; one joined by proxy that joins by itself is its own.
 */
START_TEST(test_kinds_of_members)
{
	uint64_t guid = subnet->fabric->ports[endport(subnet, 1, true)].guid;
	struct sa_group *group = make(1, 0);
	struct mc_groups *groups;

	sa_store_join(store, group, guid, IBA_JOIN_SEND_ONLY_NON_MEMBER, true);
	groups = sa_store_publish(store);
	ck_assert_uint_eq(groups->blocks[0]->groups[0]->n_ports, 2);
	ck_assert(groups->blocks[0]->groups[0]->only_sends[0] !=
		  groups->blocks[0]->groups[0]->only_sends[1]);
	mc_groups_unref(groups);
	ck_assert(sa_group_member(group, guid)->proxy);
	sa_store_join(store, group, guid, IBA_JOIN_NON_MEMBER, false);
	ck_assert(!sa_group_member(group, guid)->proxy);
	sa_store_join(store, group, guid, IBA_JOIN_FULL_MEMBER, true);
	ck_assert(!sa_group_member(group, guid)->proxy); /* it stays its own */
	groups = sa_store_publish(store);
	ck_assert(!groups->blocks[0]->groups[0]->only_sends[0]);
	ck_assert(!groups->blocks[0]->groups[0]->only_sends[1]);
	mc_groups_unref(groups);
}
END_TEST

/* A list shares with the one before it what did not change. */
START_TEST(test_publication_shares)
{
	struct mc_groups *before, *after;

	for (unsigned int i = 0; i < 100; i++)
		make(i, 0);
	before = sa_store_publish(store);
	make(100, 0);
	after = sa_store_publish(store);
	for (unsigned int i = 0; i < 3; i++)
		ck_assert_ptr_eq(before->blocks[i], after->blocks[i]);
	ck_assert_ptr_ne(before->blocks[3], after->blocks[3]);
	for (unsigned int i = 0; i < before->blocks[3]->n; i++)
		ck_assert_ptr_eq(before->blocks[3]->groups[i], after->blocks[3]->groups[i]);
	mc_groups_unref(before);
	mc_groups_unref(after);
}
END_TEST

/* ---- joins and leaves in random order ---- */

#define CHURN_GROUPS 300u
#define CHURN_PORTS 40u
#define SLACK 512 /* octets of tables that grow once */

static void churn_one(struct mc_groups **published, uint64_t *state)
{
	uint64_t number = make_number(state, CHURN_GROUPS);
	uint64_t guid = 1 + make_number(state, CHURN_PORTS);
	struct iba_mc_member_record record = {
		.mgid = {UINT64_C(0xFF12601B80010000), UINT64_C(0x1FF000000) | number},
		.p_key = 0x8001,
		.sl = number % 3,
	};
	struct sa_group *group = sa_store_find(store, record.mgid);

	if (!group && make_number(state, 2))
		group = sa_store_create(store, &record, 0, guid);
	if (group && make_number(state, 2)) {
		bool proxied = make_number(state, 2);

		sa_store_join(store, group, guid, 1 + make_number(state, 15), proxied);
	} else if (group)
		sa_store_leave(store, group, guid, 0xF);
	if (make_number(state, 8) || !sa_store_changed(store))
		return;
	mc_groups_unref(*published);
	*published = sa_store_publish(store);
	if (make_number(state, 2))
		sa_store_programmed(store, (*published)->serial);
}

static void leave_all(void)
{
	for (uint64_t number = 0; number < CHURN_GROUPS; number++)
		for (uint64_t guid = 1; guid <= CHURN_PORTS; guid++) {
			struct iba_gid mgid = {UINT64_C(0xFF12601B80010000),
					       UINT64_C(0x1FF000000) | number};
			struct sa_group *group = sa_store_find(store, mgid);

			if (group && !group->n_full) /* made, and never joined */
				sa_store_join(store, group, guid, IBA_JOIN_FULL_MEMBER, false);
			if (group)
				sa_store_leave(store, group, guid, 0xF);
		}
}

static void churn(unsigned int steps, uint64_t *state)
{
	struct mc_groups *published = NULL;

	for (unsigned int i = 0; i < steps; i++)
		churn_one(&published, state);
	leave_all();
	mc_groups_unref(published);
	published = sa_store_publish(store);
	if (published) {
		ck_assert_uint_eq(published->n, 0);
		sa_store_programmed(store, published->serial);
	}
	mc_groups_unref(published);
}

/*
 * No group, MLID or octet is left. CHURN_STEPS=1000000 is the campaign: its second half must not
 * need more memory than the first.
 */
START_TEST(test_churn)
{
	const char *text = getenv("CHURN_STEPS");
	unsigned int steps = text ? (unsigned int)strtoul(text, NULL, 10) : 20000;
	uint64_t state = 1;
	size_t before;

	subnet->options->consolidate_ipv6_snm_req = _i != 0;
	subnet->options->consolidate_ipv6_snm_mlids = 7;
	subnet = with_partitions(subnet, rows, 1, partitions + 2, 1);
	sa_store_follow(store, subnet, 0);
	churn(steps / 2, &state);
	before = memory_used();
	churn(steps / 2, &state);
	ck_assert_uint_le(memory_used(), before + SLACK);
	ck_assert_ptr_null(sa_store_find_mlid(store, FIRST));
	for (unsigned int i = 0; i < 16; i++) /* all MLIDs are free again */
		ck_assert_uint_eq(make(i, 0)->record.mlid, FIRST + i);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("sa_store");
	TCase *tcase = tcase_create("store");

	(void)argc;
	memory_used_exactly(argv);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_as_many_as_switches_can_do);
	tcase_add_test(tcase, test_top_falls_and_rises);
	tcase_add_loop_test(tcase, test_top_falls_below_a_wish, 0, 2);
	tcase_add_test(tcase, test_top_rises_over_a_group);
	tcase_add_test(tcase, test_what_is_published);
	tcase_add_test(tcase, test_each);
	tcase_add_test(tcase, test_group_is_no_member);
	tcase_add_test(tcase, test_broadcast_groups);
	tcase_add_test(tcase, test_wish_waits);
	tcase_add_test(tcase, test_lost_group);
	tcase_add_test(tcase, test_partition_changes);
	tcase_add_test(tcase, test_watch);
	tcase_add_test(tcase, test_groups_of_nobody);
	tcase_add_test(tcase, test_made_mgids);
	tcase_add_test(tcase, test_order);
	tcase_add_test(tcase, test_published_group);
	tcase_add_test(tcase, test_two_are_gone);
	tcase_add_test(tcase, test_back_after_a_reset);
	tcase_add_test(tcase, test_p_key_lost_while_gone);
	tcase_add_test(tcase, test_p_key_comes_back);
	tcase_add_test(tcase, test_shared_partition_group);
	tcase_add_test(tcase, test_shared_partition_group_stays);
	tcase_add_test(tcase, test_terms_of_partition_group);
	tcase_add_test(tcase, test_no_room_for_partitions);
	tcase_add_test(tcase, test_first_group_goes);
	tcase_add_test(tcase, test_solicited_node_groups);
	tcase_add_test(tcase, test_solicited_node_groups_apart);
	tcase_add_test(tcase, test_sharing_rules);
	tcase_add_test(tcase, test_sharing_rules_change);
	tcase_add_test(tcase, test_kinds_of_members);
	tcase_add_test(tcase, test_publication_shares);
	tcase_add_loop_test(tcase, test_churn, 0, 2);
	tcase_set_timeout(tcase, 600);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
