// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Rights of other hosts, whatever one host makes, joins or registers: groups as IPoIB needs
 * them, MLIDs, room in the registries, and their own entries. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/test_sa_make.h"

#define C(name) IBA_COMPONENT(mc_member_record, name)
#define JOIN (C(mgid) | C(port_gid) | C(join_state))
#define CREATE (JOIN | C(q_key) | C(t_class) | C(p_key) | C(flow_label) | C(sl))

static struct subnet *subnet;
static struct sa_registries all;
static struct sa_store *store; /* of these */
static GArray *asked;	       /* GUIDs of ports that are told to rejoin */
static GPtrArray *repaired;    /* names of parameters */

static const uint16_t rows[][4] = {{0xFFFF, 0x8001, 0x8002}};
static struct partition_group default_groups[] = {{
	.mgid = {UINT64_C(0xFF12401BFFFF0000), UINT32_MAX},
	.mtu = IBA_MTU_2048,
	.rate = IBA_RATE_10,
	.scope = 2,
	.q_key = 0x0b1b,
}};
static struct partition_group one_groups[] = {{
	.mgid = {UINT64_C(0xFF15401B80010000), UINT32_MAX},
	.mtu = IBA_MTU_4096,
	.rate = IBA_RATE_20,
	.scope = 5,
	.q_key = 0x1111,
	.sl = 3,
}};
static const struct partition partitions[] = {
	{.p_key = 0x7FFF, .ipoib = true, .n_groups = 1, .groups = default_groups},
	{.p_key = 0x0001, .ipoib = true, .n_groups = 1, .groups = one_groups},
	{.p_key = 0x0002},
};

static void on_group(void *arg, const struct sa_group *group, bool gone)
{
	(void)arg, (void)group, (void)gone;
}

static void on_member(void *arg, const struct sa_group *group, const struct sa_member *member)
{
	(void)arg, (void)group, (void)member;
}

static void on_ask_again(void *arg, uint64_t port_guid)
{
	(void)arg;
	g_array_append_val(asked, port_guid);
}

static void on_repaired(void *arg, const struct sa_group *group, const char *what)
{
	(void)arg, (void)group;
	g_ptr_array_add(repaired, (char *)what);
}

static const struct sa_store_watch watch = {
	.group = on_group, .member = on_member, .ask_again = on_ask_again, .repaired = on_repaired};

/* Switches that support this many MLIDs; 0: all. */
static void follow(uint16_t mlids)
{
	for (uint32_t i = 0; mlids && i < subnet->fabric->n_switches; i++)
		subnet->fabric->switches[i].info.multicast_fdb_cap = mlids;
	sa_store_follow(store, subnet, 0);
}

static void setup(void)
{
	asked = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	repaired = g_ptr_array_new();
	subnet = with_partitions(make_subnet("fattree:8", 0, 0), rows, 1, partitions, 3);
	all = sa_registries_new(0);
	store = all.groups;
	sa_store_watch(store, &watch, NULL);
}

static void teardown(void)
{
	sa_registries_free(&all);
	subnet_unref(subnet);
	g_array_unref(asked);
	g_ptr_array_unref(repaired);
}

static uint64_t guid_of(unsigned int host)
{
	return subnet->fabric->ports[endport(subnet, host, true)].guid;
}

/* ---- asking ---- */

static uint16_t ask_one(uint32_t from, uint8_t method, uint64_t mask,
			const struct iba_mc_member_record *record, struct iba_mc_member_record *got)
{
	struct ask ask = {
		.subnet = subnet,
		.store = store,
		.registries = &all,
		.from = from,
		.attribute = IBA_ATTR_MC_MEMBER_RECORD,
		.method = method,
		.mask = mask,
		.type = &iba_mc_member_record_type,
		.record = record,
	};
	struct told told = tell(&ask);
	uint16_t status = told.header.status;

	if (status == IBA_STATUS_OK && got)
		told_record(&told, &iba_mc_member_record_type, 0, got);
	told_clear(&told);
	return status;
}

static uint16_t join(uint32_t from, uint64_t mask, const struct iba_mc_member_record *record)
{
	return ask_one(from, IBA_METHOD_SET, mask, record, NULL);
}

/* Of an IPoIB group of the default partition. */
static struct iba_mc_member_record ask_record(uint32_t port)
{
	return (struct iba_mc_member_record){
		.mgid = {UINT64_C(0xFF12401BFFFF0000), 5},
		.port_gid = {subnet->options->subnet_prefix, subnet->fabric->ports[port].guid},
		.join_state = IBA_JOIN_FULL_MEMBER,
		.p_key = 0xFFFF,
		.q_key = 0x0b1b,
	};
}

/* ---- IPoIB groups that are made ---- */

/* However the first host makes a group, a host that joins as Linux does is not shut out. */
static const struct poison {
	const char *what;
	struct iba_gid mgid;
	uint8_t selector, mtu, rate, scope; /* 0: not given */
	uint16_t status;
} poisons[] = {
	{"SNM, smaller MTU", {0xFF12601BFFFF0000, 0x1FF00ABCD}, 2, 1, 0, 0, 0x200},
	{"SNM, greater MTU", {0xFF12601BFFFF0000, 0x1FF00ABCD}, 2, 5, 0, 0, 0x200},
	{"SNM, slower", {0xFF12601BFFFF0000, 0x1FF00ABCD}, 2, 0, 2, 0, 0x200},
	{"SNM, faster", {0xFF12601BFFFF0000, 0x1FF00ABCD}, 2, 0, 6, 0, 0x200},
	{"IPv4, less than", {0xFF12401BFFFF0000, 0xE0000116}, 1, 4, 0, 0, 0x200},
	{"IPv4, largest", {0xFF12401BFFFF0000, 0xE0000116}, 3, 1, 1, 0, 0},
	{"IPv4, more than", {0xFF12401BFFFF0000, 0xE0000116}, 0, 1, 2, 0, 0},
	{"IPv4, other scope", {0xFF12401BFFFF0000, 0xE0000116}, 0, 0, 0, 8, 0x200},
	{"IPv4, not given", {0xFF12401BFFFF0000, 0xE0000116}, 0, 0, 0, 0, 0},
	{"P_Key without the full bit", {0xFF12401B7FFF0000, 0xE0000116}, 0, 0, 0, 0, 0x200},
};

START_TEST(test_poisoned_ipoib)
{
	const struct poison *poison = &poisons[_i];
	uint32_t port = endport(subnet, 0, true);
	struct iba_mc_member_record record = ask_record(port), got;
	uint64_t mask = CREATE | (poison->mtu ? C(mtu) | C(mtu_selector) : 0) |
			(poison->rate ? C(rate) | C(rate_selector) : 0) |
			(poison->scope ? C(scope) : 0);
	uint16_t status;

	follow(0);
	record.mgid = poison->mgid;
	record.mtu_selector = record.rate_selector = poison->selector;
	record.mtu = poison->mtu;
	record.rate = poison->rate;
	record.scope = poison->scope;
	status = ask_one(port, IBA_METHOD_SET, mask, &record, NULL);
	ck_assert_msg(status == poison->status, "%s: 0x%x", poison->what, status);
	record = ask_record(endport(subnet, 1, true)); /* as Linux asks */
	record.mgid = poison->mgid;
	record.mgid.prefix |= UINT64_C(0x80000000);
	record.mtu_selector = record.rate_selector = IBA_SELECTOR_EXACTLY;
	record.mtu = IBA_MTU_2048;
	record.rate = IBA_RATE_10;
	mask = CREATE | C(mtu) | C(mtu_selector) | C(rate) | C(rate_selector) | C(hop_limit);
	ck_assert_uint_eq(ask_one(endport(subnet, 1, true), IBA_METHOD_SET, mask, &record, &got),
			  0);
	ck_assert_uint_eq(got.mtu, IBA_MTU_2048);
	ck_assert_uint_eq(got.rate, IBA_RATE_10);
	ck_assert_uint_eq(got.scope, 2);
}
END_TEST

/* The broadcast group of a scope that the partition does not name is like that of the named one. */
START_TEST(test_broadcast_of_another_scope)
{
	uint32_t port = endport(subnet, 0, true);
	struct iba_mc_member_record record = ask_record(port), got;

	follow(0);
	record.mgid = partition_broadcast_mgid(0xFFFF, 5);
	record.mtu_selector = IBA_SELECTOR_EXACTLY;
	record.mtu = IBA_MTU_256;
	ck_assert_uint_eq(join(port, CREATE | C(mtu) | C(mtu_selector), &record),
			  IBA_SA_REQ_INVALID);
	record.q_key++;
	ck_assert_uint_eq(join(port, CREATE, &record), IBA_SA_REQ_INVALID);
	record.q_key--;
	ck_assert_uint_eq(ask_one(port, IBA_METHOD_SET, CREATE, &record, &got), 0);
	ck_assert_uint_eq(got.mtu, IBA_MTU_2048);
	ck_assert_uint_eq(got.rate, IBA_RATE_10);
}
END_TEST

/* ---- IPoIB groups that were there before ---- */

static struct iba_mc_member_record good_record(void)
{
	return (struct iba_mc_member_record){
		.mgid = {UINT64_C(0xFF12601BFFFF0000), UINT64_C(0x1FF00ABCD)},
		.p_key = 0xFFFF,
		.q_key = 0x0b1b,
		.mtu_selector = IBA_SELECTOR_EXACTLY,
		.mtu = IBA_MTU_2048,
		.rate_selector = IBA_SELECTOR_EXACTLY,
		.rate = IBA_RATE_10,
		.packet_life_time_selector = IBA_SELECTOR_EXACTLY,
		.packet_life_time = 18,
		.scope = 2,
	};
}

static struct sa_group *restore(const struct iba_mc_member_record *record, unsigned int host)
{
	struct sa_group *group = sa_store_restore(store, record, guid_of(host));

	sa_store_join(store, group, guid_of(host), IBA_JOIN_FULL_MEMBER, false);
	return group;
}

static const struct {
	const char *what;
	struct iba_mc_member_record spoilt;
} spoils[] = {
	{"MTU", {.mtu = IBA_MTU_256}},
	{"MTU", {.mtu = IBA_MTU_4096}},
	{"rate", {.rate = IBA_RATE_2_5}},
	{"Q_Key", {.q_key = 0x55}},
	{"SL", {.sl = 7}},
	{"TClass", {.t_class = 7}},
	{"FlowLabel", {.flow_label = 7}},
	{"HopLimit", {.hop_limit = 7}},
};

START_TEST(test_repaired)
{
	const struct iba_mc_member_record *spoilt = &spoils[_i].spoilt;
	struct iba_mc_member_record record = good_record();
	const struct sa_group *group;

	record.mtu = spoilt->mtu ? spoilt->mtu : record.mtu;
	record.rate = spoilt->rate ? spoilt->rate : record.rate;
	record.q_key ^= spoilt->q_key;
	record.sl ^= spoilt->sl;
	record.t_class ^= spoilt->t_class;
	record.flow_label ^= spoilt->flow_label;
	record.hop_limit ^= spoilt->hop_limit;
	restore(&record, 1);
	follow(0);
	record = good_record();
	group = sa_store_find(store, record.mgid);
	record.mlid = group->record.mlid;
	ck_assert(wire_equal(&iba_mc_member_record_type, &record, &group->record));
	ck_assert_uint_eq(repaired->len, 1);
	ck_assert_str_eq(repaired->pdata[0], spoils[_i].what);
	ck_assert_uint_eq(asked->len, 1);
	ck_assert_uint_eq(g_array_index(asked, uint64_t, 0), guid_of(1));
	follow(0);
	ck_assert_uint_eq(repaired->len, 1);
	ck_assert_uint_eq(asked->len, 1);
}
END_TEST

START_TEST(test_good_is_left_alone)
{
	struct iba_mc_member_record record = good_record(), other = record;
	struct sa_group *group = restore(&record, 1);

	other.mgid.prefix = UINT64_C(0xFF12A01C00000000); /* not of IPoIB */
	other.mtu = IBA_MTU_256;
	restore(&other, 2);
	follow(0);
	ck_assert_uint_eq(repaired->len, 0);
	ck_assert_uint_eq(asked->len, 0);
	ck_assert_uint_eq(group->members->len, 1);
	subnet->options->ipoib_mcgroup_creation_validation = false;
	group->record.mtu = IBA_MTU_256;
	follow(0);
	ck_assert_uint_eq(group->record.mtu, IBA_MTU_256); /* the site wants it so */
	subnet->options->ipoib_mcgroup_creation_validation = true;
	follow(0);
	ck_assert_uint_eq(group->record.mtu, IBA_MTU_2048);
}
END_TEST

/* In the place of a group of another partition. */
START_TEST(test_squatter_goes)
{
	struct iba_mc_member_record record = good_record();

	record.p_key = 0x8001;
	restore(&record, 1);
	follow(0);
	ck_assert_ptr_null(sa_store_find(store, record.mgid));
	ck_assert_uint_eq(asked->len, 1);
	ck_assert_str_eq(repaired->pdata[0], "P_Key");
}
END_TEST

/* A broadcast group made by a host, in the scope of the rule and in another one. */
START_TEST(test_broadcast_made_before)
{
	struct iba_mc_member_record record = good_record();

	record.mgid = partition_broadcast_mgid(0xFFFF, _i ? 5 : 2);
	record.scope = _i ? 5 : 2;
	record.mtu = IBA_MTU_256;
	record.q_key = 0xBAD;
	restore(&record, 1);
	record = good_record(); /* one that agrees with it */
	record.mgid.prefix = _i ? UINT64_C(0xFF15601BFFFF0000) : record.mgid.prefix;
	record.mtu = IBA_MTU_256;
	record.q_key = 0xBAD;
	restore(&record, 2);
	follow(0);
	record = sa_store_find(store, partition_broadcast_mgid(0xFFFF, _i ? 5 : 2))->record;
	ck_assert_uint_eq(record.mtu, IBA_MTU_2048);
	ck_assert_uint_eq(record.q_key, 0x0b1b);
	record = good_record();
	record.mgid.prefix = _i ? UINT64_C(0xFF15601BFFFF0000) : record.mgid.prefix;
	record = sa_store_find(store, record.mgid)->record;
	ck_assert_uint_eq(record.mtu, IBA_MTU_2048);
	ck_assert_uint_eq(record.q_key, 0x0b1b);
	ck_assert_uint_eq(asked->len, 2);
}
END_TEST

/* ---- limits of one port ---- */

/* Of the default partition, not IPoIB. */
static struct iba_mc_member_record own_record(unsigned int host, uint64_t number)
{
	struct iba_mc_member_record record = ask_record(endport(subnet, host, true));

	record.mgid = (struct iba_gid){UINT64_C(0xFF12A01C00000000), number};
	return record;
}

/* Host joins another one to an existing group. */
static uint16_t join_other(unsigned int host, unsigned int other, uint64_t number)
{
	struct iba_mc_member_record record = own_record(other, number);

	return join(endport(subnet, host, true), JOIN, &record);
}

static uint16_t leave_other(unsigned int host, unsigned int other, uint64_t number)
{
	struct iba_mc_member_record record = own_record(other, number);

	return ask_one(endport(subnet, host, true), IBA_METHOD_DELETE, JOIN, &record, NULL);
}

static void make_groups(unsigned int host, unsigned int n)
{
	for (unsigned int i = 1; i <= n; i++) {
		struct iba_mc_member_record record = own_record(host, i);

		ck_assert_uint_eq(join(endport(subnet, host, true), CREATE, &record), 0);
	}
}

/* Memberships by proxy are charged to the port that makes them, to no other. */
START_TEST(test_memberships)
{
	const unsigned int bound = 20, hosts = 8;
	unsigned int made = 0, refused = 0;

	subnet->options->sa_max_memberships = bound;
	follow(0);
	make_groups(0, 10);
	for (unsigned int i = 1; i <= 10; i++)
		for (unsigned int other = 1; other < hosts; other++) {
			uint16_t status = join_other(0, other, i);

			ck_assert(status == 0 || status == IBA_SA_NO_RESOURCES);
			made += !status;
			refused += status != 0;
		}
	ck_assert_uint_eq(made, bound - 10);
	ck_assert_uint_gt(refused, 0);
	for (unsigned int i = 1; i <= 10; i++) /* the victims are still allowed everything */
		ck_assert_uint_eq(join_other(1, 1, i), 0);
	ck_assert_uint_eq(join_other(1, 2, 10), 0);
	ck_assert_uint_eq(join_other(0, 0, 5), 0);
}
END_TEST

/* Groups and memberships that it gives back or leaves, or members take over, free its share. */
START_TEST(test_memberships_given_back)
{
	subnet->options->sa_max_memberships = 4;
	follow(0);
	make_groups(0, 2);
	ck_assert_uint_eq(join_other(0, 1, 1), 0);
	ck_assert_uint_eq(join_other(0, 2, 1), 0);
	ck_assert_uint_eq(join_other(0, 3, 1), IBA_SA_NO_RESOURCES);
	ck_assert_uint_eq(leave_other(0, 1, 1), 0);
	ck_assert_uint_eq(join_other(0, 3, 1), 0);
	ck_assert_uint_eq(join_other(0, 4, 1), IBA_SA_NO_RESOURCES);
	ck_assert_uint_eq(join_other(2, 2, 1), 0); /* by itself */
	ck_assert_uint_eq(join_other(0, 4, 1), 0);
	ck_assert_uint_eq(leave_other(3, 3, 1), 0);
	ck_assert_uint_eq(join_other(0, 5, 1), 0);
	ck_assert_uint_eq(join_other(0, 6, 1), IBA_SA_NO_RESOURCES);
	subnet->options->sa_max_memberships = 0;
	follow(0);
	ck_assert_uint_eq(join_other(0, 6, 1), 0);
}
END_TEST

/* The port that joined others is gone: they stay only for the grace time, as it would. */
START_TEST(test_proxy_is_gone)
{
	uint64_t grace = subnet->options->membership_grace * NS_PER_S;
	struct sa_group *group;

	follow(0);
	make_groups(1, 1);
	ck_assert_uint_eq(join_other(0, 2, 1), 0);
	ck_assert_uint_eq(join_other(0, 3, 1), 0);
	ck_assert_uint_eq(join_other(3, 3, 1), 0);
	subnet->fabric->ports[endport(subnet, 0, true)].peer = FABRIC_NONE;
	sa_store_follow(store, subnet, 1);
	group = sa_store_find(store, own_record(0, 1).mgid);
	ck_assert_uint_eq(group->members->len, 3);
	sa_store_expire(store, grace);
	ck_assert_uint_eq(group->members->len, 3);
	sa_store_expire(store, grace + 1);
	ck_assert_uint_eq(group->members->len, 2);
	ck_assert_ptr_null(sa_group_member(group, guid_of(2)));
}
END_TEST

/* It lost the P_Key that let it join others. */
START_TEST(test_proxy_lost_its_p_key)
{
	static const uint16_t one_less[][4] = {{0xFFFF, 0x8001, 0x8002}, {0x8001}};
	struct sa_group *group;
	unsigned int proxy = 0, n = 0;

	follow(0);
	subnet = with_partitions(subnet, one_less, 2, partitions, 3);
	while (partitions_member(subnet->partitions, endport(subnet, proxy, true), 0xFFFF))
		proxy++;
	subnet = with_partitions(subnet, rows, 1, partitions, 3);
	follow(0);
	while (n == proxy || n == proxy + 2)
		n++;
	make_groups(n, 1);
	ck_assert_uint_eq(join_other(proxy, proxy + 2, 1), 0);
	group = sa_store_find(store, own_record(0, 1).mgid);
	ck_assert_uint_eq(group->members->len, 2);
	subnet = with_partitions(subnet, one_less, 2, partitions, 3);
	follow(0);
	ck_assert_ptr_null(sa_group_member(group, guid_of(proxy + 2)));
}
END_TEST

/* However many ports take all they can, each port gets its share, and a few get more. */
START_TEST(test_shares)
{
	unsigned int n = n_endports(subnet), part = SA_MAX_SERVICES / 2 / n, least = 0;
	struct sa_quota quota;

	sa_quota_init(&quota, SA_MAX_SERVICES, 1);
	sa_quota_follow(&quota, 0, subnet->fabric);
	ck_assert_uint_eq(quota.part, part);
	for (unsigned int i = 1; i < n; i++) {
		while (sa_quota_take(&quota, i))
			;
		least = sa_quota_of(&quota, i);
		ck_assert_uint_ge(least, part);
		ck_assert(i > 16 || least > part + 50); /* of the other half */
	}
	for (unsigned int i = 0; i < part; i++)
		ck_assert(sa_quota_take(&quota, n));
	sa_quota_follow(&quota, 0, subnet->fabric);
	ck_assert_uint_le(quota.n, SA_MAX_SERVICES);
	ck_assert_uint_eq(quota.beyond + part * n, quota.n);
	while (sa_quota_of(&quota, 1))
		sa_quota_give(&quota, 1);
	least = quota.beyond;
	ck_assert_uint_eq(least + part * (n - 1), quota.n);
	sa_quota_follow(&quota, 0, subnet->fabric);
	ck_assert_uint_eq(quota.beyond, least);
	sa_quota_clear(&quota);
}
END_TEST

/* ---- MLIDs ---- */

/* As many of n groups as the host may make; all different, or all alike. */
static unsigned int make_all(unsigned int host, unsigned int n, bool alike)
{
	const uint64_t limits = C(mtu) | C(mtu_selector) | C(rate) | C(rate_selector);
	uint32_t port = endport(subnet, host, true);
	unsigned int made = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct iba_mc_member_record record = own_record(host, host * 1000 + i);

		record.mtu_selector = record.rate_selector = IBA_SELECTOR_EXACTLY;
		record.mtu = alike ? IBA_MTU_256 : 1 + i % 5;
		record.rate = alike ? IBA_RATE_10 : 2 + i / 5 % 6;
		record.sl = alike ? 0 : i / 30 % 16;
		made += join(port, CREATE | limits, &record) == 0;
	}
	return made;
}

static struct partition_group new_groups[] = {{
	.mgid = {UINT64_C(0xFF12401B80030000), UINT32_MAX},
	.mtu = IBA_MTU_2048,
	.rate = IBA_RATE_10,
	.scope = 2,
}};

/* As above, with one more partition, with IPoIB. */
static void add_partition(void)
{
	static const uint16_t more[][4] = {{0xFFFF, 0x8001, 0x8003}};
	struct partition with[] = {partitions[0], partitions[1], {.p_key = 0x0003}};

	with[2].ipoib = true;
	with[2].n_groups = 1;
	with[2].groups = new_groups;
	subnet = with_partitions(subnet, more, 1, with, 3);
	sa_store_follow(store, subnet, 0);
}

/* Many hosts make as many groups as they may, none of which can share: of 1, of 16, of all. */
START_TEST(test_mlids_are_left)
{
	static const struct {
		uint16_t cap;
		unsigned int hosts;
	} cases[] = {{4096, 16}, {4096, 20}, {1024, 30}, {256, 20}, {64, 4}};
	struct iba_mc_member_record record;
	unsigned int host = cases[_i].hosts;

	follow(cases[_i].cap);
	for (unsigned int i = 0; i < host; i++)
		make_all(i, 300, false);
	record = own_record(host, 999999); /* of the same partition: shares, if need be */
	ck_assert_uint_eq(join(endport(subnet, host, true), CREATE, &record), 0);
	record.p_key = 0x8002; /* and of another one */
	for (unsigned int i = 0; i < 2; i++) {
		record.mgid.guid++;
		record.sl = i;
		ck_assert_uint_eq(join(endport(subnet, host, true), CREATE, &record), 0);
	}
	add_partition();
	ck_assert_uint_eq(sa_store_unmet(store), 0);
	ck_assert_ptr_nonnull(sa_store_find(store, new_groups[0].mgid));
}
END_TEST

/* Groups that may share do so beyond the port's share, with those of the same port. */
START_TEST(test_hog_shares_with_itself)
{
	struct iba_mc_member_record record;
	const struct sa_group *group;

	subnet->options->sa_max_groups = 1000;
	follow(1024);
	record = own_record(1, 1);
	record.mtu_selector = record.rate_selector = IBA_SELECTOR_EXACTLY;
	record.mtu = IBA_MTU_256;
	record.rate = IBA_RATE_10;
	ck_assert_uint_eq(join(endport(subnet, 1, true),
			       CREATE | C(mtu) | C(mtu_selector) | C(rate) | C(rate_selector),
			       &record),
			  0);
	group = sa_store_find(store, record.mgid);
	ck_assert_uint_eq(make_all(0, 1000, true), 1000);
	ck_assert_uint_eq(group->mlid->groups->len, 1);
	ck_assert_uint_eq(make_all(2, 1000, true), 1000);
	ck_assert_uint_eq(group->mlid->groups->len, 1);
}
END_TEST

/* All MLIDs are taken, as before shares existed, by groups of a few kinds; 3 by each host. */
static void take_all(unsigned int n_hosts)
{
	for (unsigned int i = 0;; i++) {
		struct iba_mc_member_record record = own_record(i % n_hosts, i);
		struct sa_group *group;

		record.mlid = IBA_LID_MCAST_FIRST + i;
		record.sl = i % 2;
		if (record.mlid > IBA_LID_MCAST_FIRST + 63)
			return;
		group = sa_store_restore(store, &record, guid_of(i % n_hosts));
		sa_store_join(store, group, guid_of(i % n_hosts), IBA_JOIN_FULL_MEMBER, false);
	}
}

static void make_reregister(bool can)
{
	for (uint32_t i = 0; i < subnet->fabric->n_ports; i++)
		((struct iba_port_info *)&subnet->fabric->ports[i].info)->capability_mask =
			can ? IBA_PORT_CAP_CLIENT_REREGISTRATION : 0;
}

static void program(void)
{
	struct mc_groups *groups = sa_store_publish(store);

	if (groups)
		sa_store_programmed(store, groups->serial);
	mc_groups_unref(groups);
}

/* For a partition's group that finds none, groups of the port with most MLIDs are merged. */
START_TEST(test_brought_together)
{
	const unsigned int n_hosts = 7;
	unsigned int n_shared = 0;

	for (uint32_t i = 0; i < subnet->fabric->n_switches; i++)
		subnet->fabric->switches[i].info.multicast_fdb_cap = 64;
	sa_store_follow_mlids(store, subnet);
	take_all(n_hosts); /* host 0 has one more */
	make_reregister(_i != 1);
	subnet->options->no_clients_rereg = _i == 2;
	follow(64);
	ck_assert_uint_eq(sa_store_unmet(store), 2);
	program();
	sa_store_wish(store, subnet);
	ck_assert_uint_eq(sa_store_unmet(store), _i ? 2 : 0);
	ck_assert_uint_eq(asked->len, _i ? 0 : 2);
	for (unsigned int i = 0; i < 64; i++) {
		const struct sa_group *group = sa_store_find(store, own_record(0, i).mgid);

		ck_assert_uint_eq(group->members->len, 1);
		n_shared += group->mlid->groups->len > 1;
		ck_assert(group->mlid->groups->len == 1 || group->creator == guid_of(0));
		ck_assert(sa_mlid_agrees(group->mlid, &group->record));
	}
	ck_assert_uint_eq(n_shared != 0, !_i);
	for (guint i = 0; i < asked->len; i++)
		ck_assert_uint_eq(g_array_index(asked, uint64_t, i), guid_of(0));
	follow(64);
	ck_assert_uint_eq(asked->len, _i ? 0 : 2); /* not again */
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_bystanders");
	TCase *tcase = tcase_create("ipoib");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_poisoned_ipoib, 0, G_N_ELEMENTS(poisons));
	tcase_add_test(tcase, test_broadcast_of_another_scope);
	tcase_add_loop_test(tcase, test_repaired, 0, G_N_ELEMENTS(spoils));
	tcase_add_test(tcase, test_good_is_left_alone);
	tcase_add_test(tcase, test_squatter_goes);
	tcase_add_loop_test(tcase, test_broadcast_made_before, 0, 2);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("bounds");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_memberships);
	tcase_add_test(tcase, test_memberships_given_back);
	tcase_add_test(tcase, test_proxy_is_gone);
	tcase_add_test(tcase, test_proxy_lost_its_p_key);
	tcase_add_test(tcase, test_shares);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("mlids");
	tcase_set_timeout(tcase, 30);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_mlids_are_left, 0, 5);
	tcase_add_test(tcase, test_hog_shares_with_itself);
	tcase_add_loop_test(tcase, test_brought_together, 0, 3);
	suite_add_tcase(suite, tcase);
	return suite;
}
