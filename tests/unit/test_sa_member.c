// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* MCMemberRecord: create, join, leave, query; and how the registry follows the subnet. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/memory_used.h"
#include "tests/run_suite.h"
#include "tests/unit/test_sa_make.h"

#define C(name) IBA_COMPONENT(mc_member_record, name)
#define JOIN (C(mgid) | C(port_gid) | C(join_state))
#define CREATE (JOIN | C(q_key) | C(t_class) | C(p_key) | C(flow_label) | C(sl))

static struct subnet *subnet;
static struct sa_store *store;

static const uint16_t rows[][4] = {{0xFFFF, 0x8001}, {0x7FFF, 0x8001}, {0xFFFF}};
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
}};
static const struct partition partitions[] = {
	{.p_key = 0x7FFF,
	 .name = "Default",
	 .ipoib = true,
	 .n_groups = 1,
	 .groups = default_groups,
	 .sl = 1},
	{.p_key = 0x0001, .name = "one", .ipoib = true, .n_groups = 1, .groups = one_groups},
};

static void setup(void)
{
	subnet = with_partitions(make_subnet("fattree:4", 0, 0), rows, 3, partitions, 2);
	store = sa_store_new(0);
	sa_store_follow(store, subnet, 0);
}

static void teardown(void)
{
	sa_store_free(store);
	subnet_unref(subnet);
}

static const struct iba_gid free_mgid = {UINT64_C(0xFF12A01C00000000), 77};

/* Endport number n whose row of P_Keys is row. */
static uint32_t port_in(unsigned int row, unsigned int n)
{
	for (unsigned int i = 0;; i++) {
		uint32_t port = endport(subnet, i, false);
		unsigned int index = 0;

		for (uint32_t j = 0; j < port; j++)
			index += fabric_is_endport(subnet->fabric, j);
		if (index % 3 == row && !fabric_is_switch(subnet->fabric,
							   subnet->fabric->ports[port].node) &&
		    n-- == 0)
			return port;
	}
}

static struct iba_gid gid_of(uint32_t port)
{
	return (struct iba_gid){subnet->options->subnet_prefix, subnet->fabric->ports[port].guid};
}

static struct iba_mc_member_record create_record(uint32_t port)
{
	return (struct iba_mc_member_record){
		.mgid = free_mgid,
		.port_gid = gid_of(port),
		.q_key = 0x55,
		.t_class = 4,
		.p_key = 0x8001,
		.sl = 2,
		.flow_label = 6,
		.join_state = IBA_JOIN_FULL_MEMBER,
	};
}

static struct ask ask_member(uint32_t from, uint8_t method, uint64_t mask,
			     const struct iba_mc_member_record *record)
{
	return (struct ask){
		.subnet = subnet,
		.store = store,
		.from = from,
		.attribute = IBA_ATTR_MC_MEMBER_RECORD,
		.method = method,
		.mask = mask,
		.type = &iba_mc_member_record_type,
		.record = record,
	};
}

static uint16_t ask_one(uint32_t from, uint8_t method, uint64_t mask,
			const struct iba_mc_member_record *record,
			struct iba_mc_member_record *got)
{
	struct ask ask = ask_member(from, method, mask, record);
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

static unsigned int members_of(struct iba_gid mgid)
{
	struct sa_group *group = sa_store_find(store, mgid);

	return group ? group->members->len : 0;
}

/* ---- creating ---- */

static const struct create_case {
	const char *what;
	uint64_t without;
	uint64_t with;
	struct iba_gid mgid; /* 0: the usual */
	uint8_t join_state;
	uint16_t p_key;
	uint16_t status;
} create_cases[] = {
	{"all it needs", 0, 0, {0, 0}, 1, 0x8001, 0},
	{"send-only full member", 0, 0, {0, 0}, 8, 0x8001, 0},
	{"full and non-member", 0, 0, {0, 0}, 3, 0x8001, 0},
	{"non-member", 0, 0, {0, 0}, 2, 0x8001, IBA_SA_REQ_INVALID},
	{"send-only non-member", 0, 0, {0, 0}, 4, 0x8001, IBA_SA_REQ_INVALID},
	{"no join state", 0, 0, {0, 0}, 0, 0x8001, IBA_SA_REQ_INVALID},
	{"limited P_Key", 0, 0, {0, 0}, 1, 0x0001, 0},
	{"foreign P_Key", 0, 0, {0, 0}, 1, 0x8009, IBA_SA_REQ_INVALID},
	{"no Q_Key", C(q_key), 0, {0, 0}, 1, 0x8001, IBA_SA_INSUFFICIENT_COMPONENTS},
	{"no TClass", C(t_class), 0, {0, 0}, 1, 0x8001, IBA_SA_INSUFFICIENT_COMPONENTS},
	{"no P_Key", C(p_key), 0, {0, 0}, 1, 0x8001, IBA_SA_INSUFFICIENT_COMPONENTS},
	{"no FlowLabel", C(flow_label), 0, {0, 0}, 1, 0x8001, IBA_SA_INSUFFICIENT_COMPONENTS},
	{"no SL", C(sl), 0, {0, 0}, 1, 0x8001, IBA_SA_INSUFFICIENT_COMPONENTS},
	{"no PortGID", C(port_gid), 0, {0, 0}, 1, 0x8001, IBA_SA_INSUFFICIENT_COMPONENTS},
	{"no MGID", C(mgid), 0, {0, 0}, 1, 0x8001, IBA_SA_INSUFFICIENT_COMPONENTS},
	{"no JoinState", C(join_state), 0, {0, 0}, 1, 0x8001, IBA_SA_INSUFFICIENT_COMPONENTS},
	{"unicast", 0, 0, {0xFE80000000000000, 1}, 1, 0x8001, IBA_SA_REQ_INVALID},
	{"a prefix alone", 0, 0, {0xFE80000000000000, 0}, 1, 0x8001, IBA_SA_REQ_INVALID},
	{"scope and P_Key of a broadcast group", 0, 0, {0xFF15A01C80010000, 5}, 1, 0x8001, 0},
	{"reserved flags", 0, 0, {0xFF32A01C00000000, 1}, 1, 0x8001, IBA_SA_REQ_INVALID},
	{"permanent", 0, 0, {0xFF02A01C00000000, 1}, 1, 0x8001, 0},
	{"scope 0", 0, 0, {0xFF10A01C00000000, 1}, 1, 0x8001, IBA_SA_REQ_INVALID},
	{"scope 15", 0, 0, {0xFF1FA01C00000000, 1}, 1, 0x8001, 0},
	{"made by another subnet", 0, 0, {0xFF12A01B00000000, 1}, 1, 0x8001, IBA_SA_REQ_INVALID},
	{"made by another SA", 0, 0, {0xFF15A01B00000000, 1}, 1, 0x8001, 0},
	{"made by us before", 0, 0, {0xFF12A01BFEC00000, 0x0000012300000009}, 1, 0x8001, 0},
	{"made by nobody",
	 0,
	 0,
	 {0xFF12A01BFEC00000, 0x0000012312345678},
	 1,
	 0x8001,
	 IBA_SA_REQ_INVALID},
	{"IPoIB of another P_Key", 0, 0, {0xFF15401B80020000, 5}, 1, 0x8001, IBA_SA_REQ_INVALID},
	{"IPoIB of another Q_Key", 0, 0, {0xFF15401B80010000, 5}, 1, 0x8001, IBA_SA_REQ_INVALID},
	{"IPv4 of no broadcast", 0, 0, {0xFF18401B80010000, 5}, 1, 0x8001, IBA_SA_REQ_INVALID},
	{"IPv6 of no broadcast", 0, 0, {0xFF18601B80010000, 5}, 1, 0x8001, IBA_SA_REQ_INVALID},
	{"broadcast of another Q_Key than the partition's",
	 0,
	 0,
	 {0xFF18401B80010000, UINT32_MAX},
	 1,
	 0x8001,
	 IBA_SA_REQ_INVALID},
	{"like one", 0, 0, {0xFF18601B80010000, UINT32_MAX}, 1, 0x8001, IBA_SA_REQ_INVALID},
};

START_TEST(test_create)
{
	const struct create_case *c = &create_cases[_i];
	uint32_t port = port_in(0, 0);
	struct iba_mc_member_record record = create_record(port), got;
	uint16_t status;

	if (c->mgid.prefix)
		record.mgid = c->mgid;
	record.join_state = c->join_state;
	record.p_key = c->p_key;
	status = ask_one(port, IBA_METHOD_SET, (CREATE & ~c->without) | c->with, &record, &got);
	ck_assert_msg(status == c->status, "%s: status 0x%x", c->what, status);
	ck_assert_msg(members_of(record.mgid) == (status == 0), "%s: members", c->what);
	if (status)
		return;
	ck_assert_uint_eq(got.join_state, record.join_state);
	ck_assert(iba_gid_equal(got.port_gid, record.port_gid));
	ck_assert_uint_eq(got.mlid, 0xC002); /* after the two of the partitions */
	ck_assert_uint_eq(got.q_key, 0x55);
	ck_assert_uint_eq(got.mtu_selector, 2);
	ck_assert_uint_eq(got.rate_selector, 2);
	ck_assert_uint_eq(got.packet_life_time_selector, 2);
	ck_assert_uint_eq(got.scope, record.mgid.prefix >> 48 & 0xF);
	ck_assert_uint_eq(got.mtu, IBA_MTU_4096); /* as much as the port supports */
	ck_assert_uint_eq(got.rate, IBA_RATE_40);
	ck_assert_uint_eq(got.packet_life_time, subnet->options->subnet_timeout);
}
END_TEST

/* Groups of IPoIB exist only where the partition has it; others exist anywhere. */
START_TEST(test_without_ipoib)
{
	struct partition without[] = {partitions[0], partitions[1]};
	struct iba_mc_member_record record;

	teardown();
	without[1].ipoib = false;
	without[1].n_groups = 0;
	subnet = with_partitions(make_subnet("fattree:4", 0, 0), rows, 3, without, 2);
	store = sa_store_new(0);
	sa_store_follow(store, subnet, 0);
	record = create_record(port_in(0, 0));
	ck_assert_uint_eq(join(port_in(0, 0), CREATE, &record), 0);
	record.mgid = (struct iba_gid){UINT64_C(0xFF15401B80010000), 5};
	ck_assert_uint_eq(join(port_in(0, 0), CREATE, &record), IBA_SA_REQ_INVALID);
}
END_TEST

START_TEST(test_made_mgid)
{
	uint32_t port = port_in(0, 0);
	struct iba_mc_member_record record = create_record(port), one, two;

	record.mgid = (struct iba_gid){0};
	record.scope = 8;
	ck_assert_uint_eq(ask_one(port, IBA_METHOD_SET, CREATE | C(scope), &record, &one), 0);
	ck_assert_uint_eq(ask_one(port, IBA_METHOD_SET, CREATE, &record, &two), 0);
	ck_assert(one.mgid.prefix == UINT64_C(0xFF18A01BFEC00000));
	ck_assert(one.mgid.guid >> 32 == 0x123);
	ck_assert_uint_eq(one.scope, 8);
	ck_assert(two.mgid.prefix == UINT64_C(0xFF12A01BFEC00000));
	ck_assert_uint_eq(two.scope, IBA_SCOPE_LINK_LOCAL);
	ck_assert(one.mgid.guid != two.mgid.guid);
	ck_assert_uint_ne(one.mlid, two.mlid);
	for (unsigned int scope = 0; scope < 16; scope++) { /* 0 and 15 are reserved */
		record.scope = scope;
		ck_assert_uint_eq(ask_one(port, IBA_METHOD_SET, CREATE | C(scope), &record, &one),
				  0);
		ck_assert_uint_eq(one.scope, scope % 15 ? scope : IBA_SCOPE_LINK_LOCAL);
		ck_assert_uint_eq(one.mgid.prefix >> 48, 0xFF10 | one.scope);
	}
}
END_TEST

/* selector, value, result for the group or 0 if impossible; the ports support MTU 5 and rate 7. */
static const struct {
	uint8_t selector, mtu, got_mtu, rate, got_rate;
} limits[] = {
	{0, IBA_MTU_1024, IBA_MTU_4096, IBA_RATE_20, IBA_RATE_40},
	{0, IBA_MTU_4096, 0, IBA_RATE_40, 0},
	{1, IBA_MTU_4096, IBA_MTU_2048, IBA_RATE_40, IBA_RATE_30},
	{1, IBA_MTU_256, 0, IBA_RATE_2_5, 0},
	{2, IBA_MTU_512, IBA_MTU_512, IBA_RATE_5, IBA_RATE_5},
	{2, 6, 0, IBA_RATE_80, 0},
	{3, 0, IBA_MTU_4096, 0, IBA_RATE_40},
};

START_TEST(test_create_limits)
{
	uint32_t port = port_in(0, 0);
	struct iba_mc_member_record record = create_record(port), got;
	uint16_t status;

	record.mtu_selector = record.rate_selector = limits[_i].selector;
	record.mtu = limits[_i].mtu;
	record.rate = limits[_i].rate;
	status = ask_one(port, IBA_METHOD_SET, CREATE | C(mtu) | C(mtu_selector), &record, &got);
	ck_assert_uint_eq(status, limits[_i].got_mtu ? 0 : IBA_SA_REQ_INVALID);
	if (!status)
		ck_assert_uint_eq(got.mtu, limits[_i].got_mtu);
	record.mgid.guid++;
	status = ask_one(port, IBA_METHOD_SET, CREATE | C(rate) | C(rate_selector), &record, &got);
	ck_assert_uint_eq(status, limits[_i].got_rate ? 0 : IBA_SA_REQ_INVALID);
	if (!status)
		ck_assert_uint_eq(got.rate, limits[_i].got_rate);
}
END_TEST

START_TEST(test_mlids_run_out)
{
	uint32_t port = port_in(0, 0);
	struct iba_mc_member_record record = create_record(port), other, got;
	struct mc_groups *groups;

	for (uint32_t i = 0; i < subnet->fabric->n_switches; i++)
		subnet->fabric->switches[i].info.multicast_fdb_cap = 4;
	sa_store_follow(store, subnet, 0);
	ck_assert_uint_eq(join(port, CREATE, &record), 0);
	record.mgid.guid++;
	record.mlid = 0xC003;
	ck_assert_uint_eq(ask_one(port, IBA_METHOD_SET, CREATE | C(mlid), &record, &got), 0);
	ck_assert_uint_eq(got.mlid, 0xC003);
	other = record;
	other.mgid.guid++;
	other.sl++;
	ck_assert_uint_eq(join(port, CREATE, &other), IBA_SA_NO_RESOURCES);
	other.sl--;
	ck_assert_uint_eq(ask_one(port, IBA_METHOD_SET, CREATE, &other, &got), 0);
	ck_assert_uint_eq(got.mlid, 0xC002); /* shared */
	ck_assert_uint_eq(ask_one(port, IBA_METHOD_DELETE, JOIN, &record, NULL), 0);
	other.mgid.guid++;
	other.sl++;
	ck_assert_uint_eq(join(port, CREATE, &other), IBA_SA_NO_RESOURCES); /* not erased */
	groups = sa_store_publish(store);
	sa_store_programmed(store, groups->serial - 1);
	ck_assert_uint_eq(join(port, CREATE, &other), IBA_SA_NO_RESOURCES);
	sa_store_programmed(store, groups->serial);
	mc_groups_unref(groups);
	ck_assert_uint_eq(ask_one(port, IBA_METHOD_SET, CREATE, &other, &got), 0);
	ck_assert_uint_eq(got.mlid, 0xC003); /* came back */
}
END_TEST

/* One port leaves MLIDs to others; those that it gives back it may use again. */
START_TEST(test_quota)
{
	uint32_t port = port_in(0, 0), other = port_in(0, 1);
	struct iba_mc_member_record record = create_record(port), theirs = create_record(other);
	unsigned int made = 0;

	for (uint32_t i = 0; i < subnet->fabric->n_switches; i++)
		subnet->fabric->switches[i].info.multicast_fdb_cap = 4096;
	sa_store_follow(store, subnet, 0);
	for (; join(port, CREATE, &record) == 0; made++)
		record.mgid.guid++;
	ck_assert_uint_eq(made, 4096 / 16);
	ck_assert_uint_eq(join(port, CREATE, &record), IBA_SA_NO_RESOURCES);
	theirs.mgid.guid += 1000000;
	ck_assert_uint_eq(join(other, CREATE, &theirs), 0);
	record.mgid.guid--;
	ck_assert_uint_eq(ask_one(port, IBA_METHOD_DELETE, JOIN, &record, NULL), 0);
	ck_assert_uint_eq(join(port, CREATE, &record), 0);
	record.mgid.guid++;
	ck_assert_uint_eq(join(port, CREATE, &record), IBA_SA_NO_RESOURCES);
}
END_TEST

/* Of the partition of default_groups[0]. */
static struct iba_mc_member_record ipoib_record(uint32_t port)
{
	struct iba_mc_member_record record = create_record(port);

	record.mgid = (struct iba_gid){UINT64_C(0xFF12401BFFFF0000), 5};
	record.p_key = 0xFFFF;
	record.q_key = 0x0b1b;
	record.t_class = 0;
	record.flow_label = 0;
	record.sl = 1;
	return record;
}

/* RFC 4391, 5: an IPoIB group has the parameters of its broadcast group. */
START_TEST(test_create_ipoib)
{
	uint32_t port = port_in(0, 0);
	struct iba_mc_member_record record = ipoib_record(port), got;
	const uint64_t exactly = C(mtu) | C(mtu_selector) | C(rate) | C(rate_selector);

	record.q_key++;
	ck_assert_uint_eq(join(port, CREATE, &record), IBA_SA_REQ_INVALID);
	record.q_key--;
	record.t_class++;
	ck_assert_uint_eq(join(port, CREATE, &record), IBA_SA_REQ_INVALID);
	record.t_class--;
	record.flow_label++;
	ck_assert_uint_eq(join(port, CREATE, &record), IBA_SA_REQ_INVALID);
	record.flow_label--;
	record.hop_limit = 9;
	ck_assert_uint_eq(join(port, CREATE | C(hop_limit), &record), IBA_SA_REQ_INVALID);
	record.hop_limit = 0;
	record.sl++;
	ck_assert_uint_eq(join(port, CREATE, &record), IBA_SA_REQ_INVALID);
	subnet->options->ipoib_mcgroup_creation_validation = false;
	ck_assert_uint_eq(join(port, CREATE, &record), 0);
	subnet->options->ipoib_mcgroup_creation_validation = true;
	record = ipoib_record(port);
	record.mgid.guid++;
	ck_assert_uint_eq(ask_one(port, IBA_METHOD_SET, CREATE, &record, &got), 0);
	ck_assert_uint_eq(got.mtu, IBA_MTU_2048);
	ck_assert_uint_eq(got.rate, IBA_RATE_10);
	record.mgid.guid++;
	record.mtu_selector = record.rate_selector = IBA_SELECTOR_EXACTLY;
	record.mtu = IBA_MTU_2048;
	record.rate = IBA_RATE_10;
	ck_assert_uint_eq(ask_one(port, IBA_METHOD_SET, CREATE | exactly, &record, &got), 0);
	ck_assert_uint_eq(got.mtu, IBA_MTU_2048);
	ck_assert_uint_eq(got.rate, IBA_RATE_10);
}
END_TEST

/* A scope without a broadcast group has no others, until that is made. */
START_TEST(test_scope_of_ipoib)
{
	uint32_t port = port_in(0, 0);
	struct iba_mc_member_record record = ipoib_record(port);

	record.mgid.prefix = UINT64_C(0xFF15401BFFFF0000);
	ck_assert_uint_eq(join(port, CREATE, &record), IBA_SA_REQ_INVALID);
	subnet->options->ipoib_mcgroup_creation_validation = false;
	ck_assert_uint_eq(join(port, CREATE, &record), 0);
	subnet->options->ipoib_mcgroup_creation_validation = true;
	record.mgid.guid++;
	ck_assert_uint_eq(join(port, CREATE, &record), IBA_SA_REQ_INVALID);
	record.mgid = partition_broadcast_mgid(0xFFFF, 5);
	ck_assert_uint_eq(join(port, CREATE, &record), 0);
	record.mgid = (struct iba_gid){UINT64_C(0xFF15601BFFFF0000), 5};
	ck_assert_uint_eq(join(port, CREATE, &record), 0);
}
END_TEST

/* At most what the first port supports; one that reports no rate counts as 10 Gb/s. */
START_TEST(test_create_at_slow_port)
{
	uint32_t port = port_in(0, 0);
	struct iba_mc_member_record record = ipoib_record(port), got;

	subnet->fabric->ports[port].mtu = IBA_MTU_1024;
	subnet->fabric->ports[port].rate = IBA_RATE_5;
	ck_assert_uint_eq(join(port, CREATE, &record), IBA_SA_REQ_INVALID); /* less is not IPoIB */
	record = create_record(port);
	record.mgid.guid++;
	ck_assert_uint_eq(ask_one(port, IBA_METHOD_SET, CREATE, &record, &got), 0);
	ck_assert_uint_eq(got.mtu, IBA_MTU_1024);
	ck_assert_uint_eq(got.rate, IBA_RATE_5);
	subnet->fabric->ports[port].rate = 0;
	record = create_record(port);
	ck_assert_uint_eq(ask_one(port, IBA_METHOD_SET, CREATE, &record, &got), 0);
	ck_assert_uint_eq(got.rate, IBA_RATE_10);
}
END_TEST

/* For new groups, too, clients get only codes that they know. */
START_TEST(test_create_with_rates_told)
{
	uint32_t port = port_in(0, 0);
	struct iba_mc_member_record record = create_record(port), got;

	subnet->fabric->ports[port].rate = IBA_RATE_50;
	subnet->options->use_original_extended_sa_rates_only = true;
	ck_assert_uint_eq(ask_one(port, IBA_METHOD_SET, CREATE, &record, &got), 0);
	ck_assert_uint_eq(got.rate, IBA_RATE_40);
}
END_TEST

/* A field that is not a component of the request has no meaning, whatever it holds. */
START_TEST(test_create_with_other_fields)
{
	uint32_t port = port_in(0, 0);
	struct iba_mc_member_record record = create_record(port), got;

	record.hop_limit = 7;
	record.mlid = 0xC123;
	ck_assert_uint_eq(ask_one(port, IBA_METHOD_SET, CREATE, &record, &got), 0);
	ck_assert_uint_eq(got.hop_limit, 0); /* in link-local scope packets stay in the subnet */
	ck_assert_uint_eq(got.mlid, 0xC002);
	record.mgid.prefix = UINT64_C(0xFF15A01C00000000);
	ck_assert_uint_eq(ask_one(port, IBA_METHOD_SET, CREATE, &record, &got), 0);
	ck_assert_uint_eq(got.hop_limit, 0xFF);
	record.mgid.guid++;
	ck_assert_uint_eq(
		ask_one(port, IBA_METHOD_SET, CREATE | C(hop_limit) | C(mlid), &record, &got), 0);
	ck_assert_uint_eq(got.hop_limit, 7);
	ck_assert_uint_eq(got.mlid, 0xC123);
}
END_TEST

/* ---- joining ---- */

/* A request equal to the first one gets in, as osmtest -f m -M 2 does when run twice. */
START_TEST(test_join_as_created)
{
	uint32_t port = port_in(0, 0), other = port_in(1, 0);
	struct iba_mc_member_record record = create_record(port), got;

	record.mgid.prefix = UINT64_C(0xFF1FA01C00000000);
	record.scope = 2; /* not that of the MGID */
	ck_assert_uint_eq(ask_one(port, IBA_METHOD_SET, CREATE | C(scope), &record, &got), 0);
	ck_assert_uint_eq(got.scope, 2);
	record.port_gid = gid_of(other);
	ck_assert_uint_eq(ask_one(other, IBA_METHOD_SET, CREATE | C(scope), &record, &got), 0);
	record.scope = 3;
	ck_assert_uint_eq(join(other, CREATE | C(scope), &record), IBA_SA_REQ_INVALID);
}
END_TEST

/* A HopLimit that was not requested keeps no port out. */
START_TEST(test_join_with_hop_limit)
{
	uint32_t port = port_in(0, 0), other = port_in(1, 0);
	struct iba_mc_member_record record = create_record(port), got;

	record.mgid.prefix = UINT64_C(0xFF15A01C00000000);
	ck_assert_uint_eq(join(port, CREATE, &record), 0);
	record.port_gid = gid_of(other);
	record.hop_limit = 3;
	ck_assert_uint_eq(ask_one(other, IBA_METHOD_SET, JOIN | C(hop_limit), &record, &got), 0);
	ck_assert_uint_eq(got.hop_limit, 0xFF);
	record.mgid.guid++;
	ck_assert_uint_eq(join(other, CREATE | C(hop_limit), &record), 0);
	record.hop_limit = 4;
	ck_assert_uint_eq(join(other, JOIN | C(hop_limit), &record), IBA_SA_REQ_INVALID);
}
END_TEST

/* A group of MTU 2048 and 10 Gb/s. */
static uint16_t create_slow(uint32_t port)
{
	struct iba_mc_member_record record = create_record(port);

	record.mtu_selector = record.rate_selector = IBA_SELECTOR_EXACTLY;
	record.mtu = IBA_MTU_2048;
	record.rate = IBA_RATE_10;
	return join(port, CREATE | C(mtu_selector) | C(mtu) | C(rate_selector) | C(rate), &record);
}

static const struct join_case {
	const char *what;
	uint64_t mask; /* besides JOIN */
	struct iba_mc_member_record record;
	uint16_t status;
} join_cases[] = {
	{"nothing more", 0, {.q_key = 0}, 0},
	{"Q_Key", C(q_key), {.q_key = 0x55}, 0},
	{"other Q_Key", C(q_key), {.q_key = 0x56}, IBA_SA_REQ_INVALID},
	{"P_Key", C(p_key), {.p_key = 0x8001}, 0},
	{"P_Key as limited member", C(p_key), {.p_key = 0x0001}, 0},
	{"other P_Key", C(p_key), {.p_key = 0xFFFF}, IBA_SA_REQ_INVALID},
	{"TClass", C(t_class), {.t_class = 4}, 0},
	{"other TClass", C(t_class), {.t_class = 5}, IBA_SA_REQ_INVALID},
	{"SL", C(sl), {.sl = 2}, 0},
	{"other SL", C(sl), {.sl = 3}, IBA_SA_REQ_INVALID},
	{"FlowLabel", C(flow_label), {.flow_label = 6}, 0},
	{"other FlowLabel", C(flow_label), {.flow_label = 7}, IBA_SA_REQ_INVALID},
	{"other MLID", C(mlid), {.mlid = 0xC000}, IBA_SA_REQ_INVALID},
	{"other scope", C(scope), {.scope = 5}, IBA_SA_REQ_INVALID},
	{"MTU", C(mtu) | C(mtu_selector), {.mtu_selector = 2, .mtu = 4}, 0},
	{"MTU above", C(mtu) | C(mtu_selector), {.mtu_selector = 0, .mtu = 4}, IBA_SA_REQ_INVALID},
	{"MTU not below", C(mtu) | C(mtu_selector), {.mtu_selector = 1, .mtu = 4},
	 IBA_SA_REQ_INVALID},
	{"MTU below", C(mtu) | C(mtu_selector), {.mtu_selector = 1, .mtu = 5}, 0},
	{"rate", C(rate) | C(rate_selector), {.rate_selector = 2, .rate = 3}, 0},
	{"rate 5 is above 2.5 but below 10", C(rate) | C(rate_selector),
	 {.rate_selector = 1, .rate = IBA_RATE_5}, IBA_SA_REQ_INVALID},
	{"a value without its selector", C(mtu), {.mtu_selector = 2, .mtu = 1}, 0},
};

START_TEST(test_join)
{
	const struct join_case *c = &join_cases[_i];
	uint32_t port = port_in(1, 0), other = port_in(0, 0);
	struct iba_mc_member_record record = create_record(other);
	uint16_t status;

	ck_assert_uint_eq(create_slow(other), 0);
	record = c->record;
	record.mgid = free_mgid;
	record.port_gid = gid_of(port);
	record.join_state = IBA_JOIN_NON_MEMBER;
	status = join(port, JOIN | c->mask, &record);
	ck_assert_msg(status == c->status, "%s: status 0x%x", c->what, status);
	ck_assert_uint_eq(members_of(free_mgid), status ? 1 : 2);
	subnet->options->mcgroup_join_validation = false;
	ck_assert_uint_eq(join(port, JOIN | c->mask, &record), 0);
}
END_TEST

static const struct {
	uint8_t selector, life, got; /* 0xFF: refused */
} lives[] = {
	{IBA_SELECTOR_EXACTLY, 10, 10}, {IBA_SELECTOR_EXACTLY, 0, 0},
	{IBA_SELECTOR_EXACTLY, 30, 30}, {IBA_SELECTOR_LESS, 10, 9},
	{IBA_SELECTOR_LESS, 30, 18},	{IBA_SELECTOR_LESS, 0, 0xFF},
	{IBA_SELECTOR_GREATER, 10, 18}, {IBA_SELECTOR_GREATER, 18, 19},
	{IBA_SELECTOR_BEST, 0, 18},
};

START_TEST(test_life_of_a_new_group)
{
	uint32_t own = port_in(0, 0);
	struct iba_mc_member_record record = create_record(own), got;
	uint16_t status;

	record.packet_life_time_selector = lives[_i].selector;
	record.packet_life_time = lives[_i].life;
	status = ask_one(own, IBA_METHOD_SET,
			 CREATE | C(packet_life_time) | C(packet_life_time_selector), &record,
			 &got);
	ck_assert_uint_eq(status, lives[_i].got == 0xFF ? IBA_SA_REQ_INVALID : 0);
	if (!status)
		ck_assert_uint_eq(got.packet_life_time, lives[_i].got);
}
END_TEST

START_TEST(test_who_may_join)
{
	uint32_t own = port_in(0, 0), other = port_in(0, 1), outside = port_in(2, 0);
	struct iba_mc_member_record record = create_record(own);
	struct told told;
	struct ask ask;

	ck_assert_uint_eq(join(own, CREATE, &record), 0);
	record.port_gid = gid_of(outside); /* lacks the P_Key: for it there is no such group */
	ck_assert_uint_eq(join(outside, JOIN, &record), IBA_SA_INSUFFICIENT_COMPONENTS);
	ck_assert_uint_eq(join(outside, CREATE, &record), IBA_SA_REQ_INVALID);
	record.port_gid = gid_of(other);
	ck_assert_uint_eq(join(own, JOIN, &record), 0); /* osmtest sets no ProxyJoin */
	record.proxy_join = 1;
	ck_assert_uint_eq(join(own, JOIN | C(proxy_join), &record), 0);
	record.port_gid.prefix = IBA_DEFAULT_GID_PREFIX;
	ck_assert_uint_eq(join(other, JOIN, &record), 0);
	record.port_gid.prefix++;
	ck_assert_uint_eq(join(other, JOIN, &record), IBA_SA_INVALID_GID);
	record.port_gid = gid_of(other);
	record.port_gid.guid ^= UINT64_C(1) << 50;
	ck_assert_uint_eq(join(other, JOIN, &record), IBA_SA_INVALID_GID);
	record.port_gid = gid_of(other); /* joined by itself by now */
	ck_assert_uint_eq(join(own, JOIN, &record), IBA_SA_REQ_INVALID);
	ck_assert_uint_eq(join(outside, JOIN, &record), IBA_SA_INSUFFICIENT_COMPONENTS);
	record.port_gid = gid_of(port_in(1, 1)); /* nor a new one, from outside the partition */
	ck_assert_uint_eq(join(outside, JOIN, &record), IBA_SA_INSUFFICIENT_COMPONENTS);
	ck_assert_uint_eq(join(outside, CREATE, &record), IBA_SA_REQ_INVALID);
	record.mgid.guid ^= 1; /* nor makes its group */
	ck_assert_uint_eq(join(outside, CREATE, &record), IBA_SA_REQ_INVALID);
	ck_assert_uint_eq(join(own, CREATE, &record), 0);
	record = create_record(port_in(1, 0));
	ask = ask_member(own, IBA_METHOD_SET, JOIN, &record);
	ask.sm_key = TEST_SA_KEY;
	told = tell(&ask);
	ck_assert_uint_eq(told.header.status, 0);
	told_clear(&told);
	ck_assert_uint_eq(members_of(free_mgid), 3);
}
END_TEST

static uint32_t port_with(uint16_t p_key)
{
	for (unsigned int i = 0;; i++)
		if (partitions_member(subnet->partitions, endport(subnet, i, true), p_key))
			return endport(subnet, i, true);
}

/* A port that the requester may not know of looks as if it did not exist, member or not. */
START_TEST(test_hidden_port)
{
	static const uint16_t apart[][4] = {{0x8001}, {0x8002}};
	struct iba_mc_member_record record;
	uint32_t own, hidden;

	subnet = with_partitions(subnet, apart, 2, partitions, 0);
	own = port_with(1);
	hidden = port_with(2);
	for (unsigned int i = 0; i < 8; i++) {
		bool is_there = i % 2, reduced = i / 2 % 2, is_member = i / 4;

		record = create_record(hidden);
		record.p_key = 0x8002;
		if (is_member)
			ck_assert_uint_eq(join(hidden, CREATE, &record), 0);
		if (!is_there)
			record.port_gid.guid ^= UINT64_C(1) << 50;
		subnet->options->sa_enhanced_trust_model = reduced;
		ck_assert_uint_eq(join(own, CREATE, &record),
				  reduced ? IBA_SA_DENIED : IBA_SA_INVALID_GID);
		ck_assert_uint_eq(ask_one(own, IBA_METHOD_DELETE, JOIN, &record, NULL),
				  IBA_SA_DENIED);
	}
}
END_TEST

static uint16_t ask_with_key(uint32_t from, uint8_t method,
			     const struct iba_mc_member_record *record)
{
	struct ask ask = ask_member(from, method, CREATE, record);
	struct told told;
	uint16_t status;

	ask.sm_key = subnet->options->sa_key;
	told = tell(&ask);
	status = told.header.status;
	told_clear(&told);
	return status;
}

/* Nor may it with the well-known key; with one of the operator's it may. */
START_TEST(test_hidden_port_and_key)
{
	static const uint16_t apart[][4] = {{0x8001}, {0x8002}};
	struct iba_mc_member_record record;
	uint32_t own, hidden;

	subnet = with_partitions(subnet, apart, 2, partitions, 0);
	own = port_with(1);
	hidden = port_with(2);
	record = create_record(hidden);
	record.p_key = 0x8002;
	ck_assert_uint_eq(join(hidden, CREATE, &record), 0);
	subnet->options->sa_key = KNOWN_SA_KEY;
	ck_assert_uint_eq(ask_with_key(own, IBA_METHOD_SET, &record), IBA_SA_INVALID_GID);
	ck_assert_uint_eq(ask_with_key(own, IBA_METHOD_DELETE, &record), IBA_SA_DENIED);
	subnet->options->sa_key = TEST_SA_KEY;
	ck_assert_uint_eq(ask_with_key(own, IBA_METHOD_SET, &record), 0);
	ck_assert_uint_eq(ask_with_key(own, IBA_METHOD_DELETE, &record), 0);
}
END_TEST

START_TEST(test_port_too_slow)
{
	uint32_t own = port_in(0, 0), other = port_in(0, 1);
	struct iba_mc_member_record record = create_record(own);

	ck_assert_uint_eq(create_slow(own), 0);
	record.port_gid = gid_of(other);
	subnet->fabric->ports[other].mtu = IBA_MTU_1024;
	ck_assert_uint_eq(join(other, JOIN, &record), IBA_SA_REQ_INVALID);
	subnet->fabric->ports[other].mtu = IBA_MTU_2048;
	subnet->fabric->ports[other].rate = IBA_RATE_5; /* code 5, yet slower than code 3 */
	ck_assert_uint_eq(join(other, JOIN, &record), IBA_SA_REQ_INVALID);
	subnet->fabric->ports[other].rate = IBA_RATE_10;
	ck_assert_uint_eq(join(other, JOIN, &record), 0);
}
END_TEST

/* A request without a JoinState neither joins nor leaves. */
START_TEST(test_join_without_state)
{
	uint32_t own = port_in(0, 0);
	struct iba_mc_member_record record = create_record(own);

	ck_assert_uint_eq(join(own, CREATE, &record), 0);
	record.join_state = 0;
	ck_assert_uint_eq(join(own, JOIN, &record), IBA_SA_REQ_INVALID);
	ck_assert_uint_eq(ask_one(own, IBA_METHOD_DELETE, JOIN, &record, NULL), IBA_SA_REQ_INVALID);
}
END_TEST

/* A partition without IPoIB any more: its group keeps its members, and cannot be made again. */
START_TEST(test_join_without_ipoib)
{
	uint32_t own = port_in(0, 0), other = port_in(0, 1);
	struct iba_mc_member_record record = create_record(own);
	struct partition without[2] = {partitions[0], partitions[1]};

	without[1].ipoib = false;
	without[1].n_groups = 0;
	record.mgid = one_groups[0].mgid;
	ck_assert_uint_eq(join(own, JOIN, &record), 0);
	subnet = with_partitions(subnet, rows, 3, without, 2);
	sa_store_follow(store, subnet, 0);
	ck_assert_uint_eq(join(own, JOIN, &record), 0);
	record.port_gid = gid_of(other);
	ck_assert_uint_eq(join(other, JOIN, &record), IBA_SA_REQ_INVALID);
	record.port_gid = gid_of(own);
	ck_assert_uint_eq(ask_one(own, IBA_METHOD_DELETE, JOIN, &record, NULL), 0);
	ck_assert_ptr_null(sa_store_find(store, record.mgid));
	ck_assert_uint_eq(join(own, JOIN, &record), IBA_SA_INSUFFICIENT_COMPONENTS);
	ck_assert_uint_eq(join(own, CREATE, &record), IBA_SA_REQ_INVALID);
	record.p_key = 0xFFFF;
	ck_assert_uint_eq(join(own, CREATE, &record), IBA_SA_REQ_INVALID);
	ck_assert_ptr_null(sa_store_find(store, record.mgid));
}
END_TEST

/* The PortGID as requested, and whether another port sent the request (ProxyJoin). */
START_TEST(test_answer_tells_of_member)
{
	uint32_t own = port_in(0, 0), other = port_in(0, 1);
	struct iba_mc_member_record record = create_record(own), got;

	ck_assert_uint_eq(ask_one(own, IBA_METHOD_SET, CREATE, &record, &got), 0);
	ck_assert_uint_eq(got.proxy_join, 0);
	record.port_gid = (struct iba_gid){IBA_DEFAULT_GID_PREFIX, gid_of(other).guid};
	ck_assert_uint_eq(ask_one(own, IBA_METHOD_SET, JOIN, &record, &got), 0);
	ck_assert(iba_gid_equal(got.port_gid, record.port_gid));
	ck_assert_uint_eq(got.proxy_join, 1);
	ck_assert_uint_eq(ask_one(other, IBA_METHOD_SET, JOIN, &record, &got), 0);
	ck_assert_uint_eq(got.proxy_join, 0);
	ck_assert_uint_eq(ask_one(other, IBA_METHOD_DELETE, JOIN, &record, &got), 0);
	ck_assert(iba_gid_equal(got.port_gid, record.port_gid));
	record.port_gid.prefix++;
	ck_assert_uint_eq(ask_one(other, IBA_METHOD_DELETE, JOIN, &record, NULL),
			  IBA_SA_INVALID_GID);
}
END_TEST

/* ---- leaving ---- */

START_TEST(test_leave)
{
	uint32_t own = port_in(0, 0), other = port_in(0, 1);
	struct iba_mc_member_record record = create_record(own), got;

	record.join_state = 0x7;
	ck_assert_uint_eq(join(own, CREATE, &record), 0);
	record.join_state = 0x8;
	ck_assert_uint_eq(ask_one(own, IBA_METHOD_DELETE, JOIN, &record, NULL),
			  IBA_SA_REQ_INVALID); /* nothing of it is held */
	ck_assert_uint_eq(ask_one(own, IBA_METHOD_SET, JOIN, &record, &got), 0);
	ck_assert_uint_eq(got.join_state, 0xF); /* bits add up */
	record.join_state = 0x6;
	ck_assert_uint_eq(ask_one(other, IBA_METHOD_DELETE, JOIN, &record, NULL), IBA_SA_DENIED);
	ck_assert_uint_eq(ask_one(own, IBA_METHOD_DELETE, JOIN, &record, &got), 0);
	ck_assert_uint_eq(got.join_state, 0x9); /* only the requested ones go */
	ck_assert(iba_gid_equal(got.port_gid, gid_of(own)));
	ck_assert_uint_eq(
		ask_one(own, IBA_METHOD_DELETE, JOIN & ~C(join_state), &record, NULL),
		IBA_SA_INSUFFICIENT_COMPONENTS);
	record.join_state = 0x9;
	ck_assert_uint_eq(ask_one(own, IBA_METHOD_DELETE, JOIN, &record, &got), 0);
	ck_assert_uint_eq(got.join_state, 0);
	ck_assert_ptr_null(sa_store_find(store, free_mgid));
	ck_assert_uint_eq(ask_one(own, IBA_METHOD_DELETE, JOIN, &record, NULL),
			  IBA_SA_REQ_INVALID);
}
END_TEST

/* A port that was joined by another may be removed by any port of the partition, by no other. */
START_TEST(test_who_may_leave_for_another)
{
	uint32_t own = port_in(0, 0), other = port_in(0, 1), outside = port_in(2, 0);
	struct iba_mc_member_record record = create_record(own);

	ck_assert_uint_eq(join(own, CREATE, &record), 0);
	ck_assert_uint_eq(ask_one(other, IBA_METHOD_DELETE, JOIN, &record, NULL), IBA_SA_DENIED);
	record.port_gid = gid_of(other);
	ck_assert_uint_eq(join(own, JOIN, &record), 0);
	ck_assert_uint_eq(ask_one(outside, IBA_METHOD_DELETE, JOIN, &record, NULL), IBA_SA_DENIED);
	subnet->options->sa_enhanced_trust_model = true;
	ck_assert_uint_eq(ask_one(port_in(1, 0), IBA_METHOD_DELETE, JOIN, &record, NULL),
			  IBA_SA_DENIED);
	subnet->options->sa_enhanced_trust_model = false;
	record.port_gid = gid_of(own); /* by itself: nor with a well-known key */
	subnet->options->sa_key = KNOWN_SA_KEY;
	ck_assert_uint_eq(ask_with_key(other, IBA_METHOD_DELETE, &record), IBA_SA_DENIED);
	subnet->options->sa_key = TEST_SA_KEY;
	record.port_gid = gid_of(other);
	ck_assert_uint_eq(members_of(free_mgid), 2);
	ck_assert_uint_eq(ask_one(port_in(1, 0), IBA_METHOD_DELETE, JOIN, &record, NULL), 0);
	ck_assert_uint_eq(members_of(free_mgid), 1);
}
END_TEST

START_TEST(test_group_dies_with_last_full_member)
{
	uint32_t own = port_in(0, 0), other = port_in(0, 1);
	struct iba_mc_member_record record = create_record(own);

	ck_assert_uint_eq(join(own, CREATE, &record), 0);
	record.port_gid = gid_of(other);
	record.join_state = IBA_JOIN_SEND_ONLY_NON_MEMBER;
	ck_assert_uint_eq(join(other, JOIN, &record), 0);
	ck_assert_uint_eq(members_of(free_mgid), 2);
	record.port_gid = gid_of(own);
	record.join_state = IBA_JOIN_FULL_MEMBER;
	ck_assert_uint_eq(ask_one(own, IBA_METHOD_DELETE, JOIN, &record, NULL), 0);
	ck_assert_ptr_null(sa_store_find(store, free_mgid));
}
END_TEST

START_TEST(test_well_known_group_lives)
{
	uint32_t own = port_in(0, 0);
	struct iba_mc_member_record record = create_record(own);

	record.mgid = partition_broadcast_mgid(0xFFFF, 2);
	ck_assert(record.mgid.prefix == UINT64_C(0xFF12401BFFFF0000));
	ck_assert(record.mgid.guid == UINT64_C(0x00000000FFFFFFFF));
	ck_assert_uint_eq(join(own, JOIN, &record), 0);
	ck_assert_uint_eq(members_of(record.mgid), 1);
	ck_assert_uint_eq(ask_one(own, IBA_METHOD_DELETE, JOIN, &record, NULL), 0);
	ck_assert_ptr_nonnull(sa_store_find(store, record.mgid));
}
END_TEST

/* ---- queries ---- */

static unsigned int table(uint32_t from, bool trusted, uint64_t mask,
			  const struct iba_mc_member_record *wanted,
			  struct iba_mc_member_record *first)
{
	struct ask ask = ask_member(from, IBA_METHOD_GET_TABLE, mask, wanted);
	struct told told;
	unsigned int n;

	ask.sm_key = trusted ? TEST_SA_KEY : 0;
	told = tell(&ask);
	ck_assert_uint_eq(told.header.status, 0);
	n = told.n;
	if (n && first)
		told_record(&told, &iba_mc_member_record_type, 0, first);
	told_clear(&told);
	return n;
}

START_TEST(test_table)
{
	uint32_t own = port_in(0, 0), other = port_in(0, 1), outside = port_in(2, 0);
	struct iba_mc_member_record record = create_record(own), got, wanted = {0};

	ck_assert_uint_eq(join(own, CREATE, &record), 0);
	record.port_gid = gid_of(other);
	ck_assert_uint_eq(join(other, JOIN, &record), 0);
	ck_assert_uint_eq(table(own, false, 0, &wanted, &got), 3);
	ck_assert_uint_eq(got.join_state, 0);
	ck_assert(got.port_gid.guid == 0 && got.port_gid.prefix == 0);
	/* trusted clients see members: two of the third, none of two empty groups */
	ck_assert_uint_eq(table(own, true, 0, &wanted, &got), 2);
	ck_assert(got.port_gid.guid != 0);
	wanted.mgid = default_groups[0].mgid;
	ck_assert_uint_eq(table(own, true, C(mgid), &wanted, NULL), 0);
	ck_assert_uint_eq(table(own, false, C(mgid), &wanted, NULL), 1);
	ck_assert_uint_eq(table(outside, false, 0, &wanted, &got), 1); /* only the default P_Key */
	ck_assert_uint_eq(got.p_key, 0xFFFF);
	wanted.mgid = free_mgid;
	ck_assert_uint_eq(table(own, false, C(mgid), &wanted, &got), 1);
	ck_assert_uint_eq(got.q_key, 0x55);
	ck_assert_uint_eq(table(own, true, C(mgid), &wanted, &got), 2);
	ck_assert(got.port_gid.guid != 0 && got.join_state == 1);
	wanted.mlid = got.mlid;
	ck_assert_uint_eq(table(own, false, C(mlid), &wanted, &got), 1);
	wanted.p_key = 0x0001;
	ck_assert_uint_eq(table(own, false, C(p_key), &wanted, NULL), 2);
	wanted.port_gid = gid_of(other);
	ck_assert_uint_eq(table(own, true, C(port_gid), &wanted, &got), 1);
	ck_assert_uint_eq(table(own, false, C(port_gid), &wanted, &got), 0); /* not shown */
	wanted.port_gid = gid_of(own);
	wanted.port_gid.prefix = IBA_DEFAULT_GID_PREFIX;
	ck_assert_uint_eq(table(own, false, C(port_gid), &wanted, &got), 1); /* its own is */
	ck_assert_uint_eq(got.join_state, 1);
	ck_assert_uint_eq(ask_one(own, IBA_METHOD_GET, C(mgid), &wanted, &got), 0);
	ck_assert_uint_eq(ask_one(own, IBA_METHOD_GET, 0, &wanted, &got), IBA_SA_TOO_MANY_RECORDS);
}
END_TEST

/* A group that may not be seen does not hide those after it. */
START_TEST(test_table_of_partitions)
{
	uint32_t own = port_in(0, 0);
	struct iba_mc_member_record record = create_record(own), got;

	ck_assert_uint_eq(join(own, CREATE, &record), 0);
	record.mgid.guid++;
	record.p_key = 0xFFFF;
	ck_assert_uint_eq(join(own, CREATE, &record), 0);
	ck_assert_uint_eq(table(port_in(2, 0), false, 0, &record, NULL), 2);
	record.p_key = 0x7FFF;
	ck_assert_uint_eq(table(own, false, C(p_key), &record, NULL), 2);
	ck_assert_uint_eq(table(port_in(2, 0), false, C(mgid), &record, &got), 1);
}
END_TEST

/* Own memberships, or with the key all, of each group; none for a GID of another subnet. */
START_TEST(test_table_of_members)
{
	uint32_t own = port_in(0, 0), other = port_in(0, 1);
	struct iba_mc_member_record record = create_record(own), theirs = create_record(other);

	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_uint_eq(join(own, CREATE, &record), 0);
		ck_assert_uint_eq(join(other, JOIN, &theirs), 0);
		record.mgid.guid++;
		theirs.mgid.guid++;
	}
	record.join_state = IBA_JOIN_FULL_MEMBER;
	ck_assert_uint_eq(table(own, false, C(join_state), &record, NULL), 3);
	ck_assert_uint_eq(table(own, true, C(join_state), &record, NULL), 6);
	ck_assert_uint_eq(table(own, true, C(port_gid), &record, NULL), 3);
	ck_assert_uint_eq(table(port_in(0, 2), false, C(join_state), &record, NULL), 0);
	record.port_gid.prefix = 5;
	ck_assert_uint_eq(table(own, false, C(port_gid), &record, NULL), 0);
	ck_assert_uint_eq(table(own, true, C(port_gid), &record, NULL), 0);
}
END_TEST

/* ---- following the subnet ---- */

START_TEST(test_follow)
{
	uint32_t own = port_in(0, 0), other = port_in(0, 1);
	struct iba_mc_member_record record = create_record(own);
	static const uint16_t no_ones[][4] = {{0xFFFF}};
	struct mc_groups *groups = sa_store_publish(store);
	uint64_t serial = groups->serial;

	mc_groups_unref(groups);
	ck_assert_ptr_null(sa_store_publish(store));
	ck_assert_uint_eq(join(own, CREATE, &record), 0);
	record.port_gid = gid_of(other);
	record.mgid = partition_broadcast_mgid(0xFFFF, 2);
	ck_assert_uint_eq(join(other, JOIN, &record), 0);
	groups = sa_store_publish(store);
	ck_assert(groups->serial > serial);
	ck_assert_uint_eq(groups->n, 3);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(groups->blocks[0]->groups[i]->mlid, 0xC000 + i);
		ck_assert_uint_eq(groups->blocks[0]->groups[i]->n_ports, i == 1 ? 0 : 1);
	}
	ck_assert(groups->blocks[0]->groups[2]->port_guids[0] == gid_of(own).guid);
	mc_groups_unref(groups);
	/* partition 1 goes, and with it its broadcast group and the group made in it */
	subnet = with_partitions(subnet, no_ones, 1, partitions, 1);
	sa_store_follow(store, subnet, 0);
	groups = sa_store_publish(store);
	ck_assert_uint_eq(groups->n, 1);
	ck_assert_uint_eq(groups->blocks[0]->groups[0]->n_ports, 1);
	mc_groups_unref(groups);
}
END_TEST

/* For a while they may come back soon. */
START_TEST(test_ports_that_vanish)
{
	uint32_t own = port_in(0, 3);
	struct iba_mc_member_record record = create_record(own);
	struct subnet *smaller = make_subnet("random:1:0:1:5", 0, 0);
	uint64_t grace = subnet->options->membership_grace * NS_PER_S;

	ck_assert_uint_eq(join(own, CREATE, &record), 0);
	record.mgid = partition_broadcast_mgid(0xFFFF, 2);
	ck_assert_uint_eq(join(own, JOIN, &record), 0);
	if (fabric_port_by_guid(smaller->fabric, gid_of(own).guid) != FABRIC_NONE)
		ck_abort_msg("the smaller subnet has the port too");
	sa_store_follow(store, smaller, 1);
	ck_assert_uint_eq(members_of(free_mgid), 1);
	ck_assert_uint_eq(sa_store_expire(store, 1), grace + 1);
	sa_store_follow(store, subnet, grace);
	ck_assert_uint_eq(sa_store_expire(store, 2 * grace), 0);
	ck_assert_uint_eq(members_of(free_mgid), 1);
	sa_store_follow(store, smaller, 2 * grace);
	sa_store_follow(store, smaller, 3 * grace - 1);
	ck_assert_uint_eq(members_of(free_mgid), 1);
	ck_assert_uint_eq(sa_store_expire(store, 3 * grace), 0);
	ck_assert_uint_eq(members_of(free_mgid), 0);
	ck_assert_ptr_null(sa_store_find(store, free_mgid));
	ck_assert_uint_eq(members_of(record.mgid), 0);
	subnet_unref(smaller);
}
END_TEST

/* ---- joins and leaves without end ---- */

#define CHURN_GROUPS 40
#define CHURN_SLACK 512 /* octets of tables that grow once */

static struct iba_mc_member_record churn_record(uint32_t port, uint64_t group, uint8_t join_state)
{
	struct iba_mc_member_record record = create_record(port);

	record.mgid = (struct iba_gid){UINT64_C(0xFF12A01C00000000), group};
	record.p_key = 0xFFFF;
	record.sl = group % 3;
	record.join_state = join_state;
	return record;
}

static void publish_some(uint64_t *state)
{
	struct mc_groups *groups = make_number(state, 8) ? NULL : sa_store_publish(store);

	if (groups && make_number(state, 2))
		sa_store_programmed(store, groups->serial);
	mc_groups_unref(groups);
}

/* All leave in the end; the MLIDs that were erased are free. */
static void churn(unsigned int steps, uint64_t *state)
{
	unsigned int n = n_endports(subnet);
	struct mc_groups *groups;

	for (unsigned int i = 0; i < steps; i++) {
		uint8_t join_state = 1 + make_number(state, 15);
		uint64_t group = make_number(state, CHURN_GROUPS);
		uint32_t member = endport(subnet, make_number(state, n), false);
		struct iba_mc_member_record record = churn_record(member, group, join_state);
		uint8_t method = make_number(state, 2) ? IBA_METHOD_SET : IBA_METHOD_DELETE;
		uint32_t port = fabric_port_by_guid(subnet->fabric, record.port_gid.guid);

		ask_one(port, method, method == IBA_METHOD_SET ? CREATE : JOIN, &record, NULL);
		publish_some(state);
	}
	for (unsigned int i = 0; i < n; i++)
		for (uint64_t group = 0; group < CHURN_GROUPS; group++) {
			uint32_t port = endport(subnet, i, false);

			for (uint8_t bit = 1; bit <= 8; bit <<= 1) {
				struct iba_mc_member_record record = churn_record(port, group, bit);

				ask_one(port, IBA_METHOD_DELETE, JOIN, &record, NULL);
			}
		}
	groups = sa_store_publish(store);
	if (groups)
		sa_store_programmed(store, groups->serial);
	mc_groups_unref(groups);
}

static bool count_group(const struct sa_group *group, void *arg)
{
	ck_assert(group->well_known);
	ck_assert_uint_eq(group->members->len, 0);
	++*(unsigned int *)arg;
	return true;
}

/*
 * By requests: no group, MLID or octet is left. CHURN_STEPS=1000000 is the campaign: its second
 * half must not need more memory than the first.
 */
START_TEST(test_churn)
{
	const char *text = getenv("CHURN_STEPS");
	unsigned int steps = text ? (unsigned int)strtoul(text, NULL, 10) : 5000, n = 0;
	uint64_t state = 1;
	size_t before;

	churn(steps / 2, &state);
	before = memory_used();
	churn(steps / 2, &state);
	ck_assert_uint_le(memory_used(), before + CHURN_SLACK);
	sa_store_each(store, count_group, &n);
	ck_assert_uint_eq(n, 2); /* those of the partitions */
	for (unsigned int i = 0; i < CHURN_GROUPS; i++) {
		uint32_t port = endport(subnet, 0, false);
		struct iba_mc_member_record record = churn_record(port, i, 1), got;

		ck_assert_uint_eq(ask_one(port, IBA_METHOD_SET, CREATE, &record, &got), 0);
		ck_assert_uint_eq(got.mlid, IBA_LID_MCAST_FIRST + 2 + i);
	}
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("sa_member");
	TCase *tcase = tcase_create("groups");

	(void)argc;
	memory_used_exactly(argv);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_create, 0, G_N_ELEMENTS(create_cases));
	tcase_add_test(tcase, test_without_ipoib);
	tcase_add_test(tcase, test_made_mgid);
	tcase_add_loop_test(tcase, test_create_limits, 0, G_N_ELEMENTS(limits));
	tcase_add_test(tcase, test_create_ipoib);
	tcase_add_test(tcase, test_join_as_created);
	tcase_add_test(tcase, test_join_with_hop_limit);
	tcase_add_test(tcase, test_scope_of_ipoib);
	tcase_add_test(tcase, test_create_at_slow_port);
	tcase_add_test(tcase, test_create_with_rates_told);
	tcase_add_test(tcase, test_create_with_other_fields);
	tcase_add_test(tcase, test_join_without_state);
	tcase_add_test(tcase, test_join_without_ipoib);
	tcase_add_test(tcase, test_answer_tells_of_member);
	tcase_add_test(tcase, test_who_may_leave_for_another);
	tcase_add_test(tcase, test_table_of_partitions);
	tcase_add_test(tcase, test_table_of_members);
	tcase_add_test(tcase, test_mlids_run_out);
	tcase_add_test(tcase, test_quota);
	tcase_add_loop_test(tcase, test_join, 0, G_N_ELEMENTS(join_cases));
	tcase_add_loop_test(tcase, test_life_of_a_new_group, 0, G_N_ELEMENTS(lives));
	tcase_add_test(tcase, test_who_may_join);
	tcase_add_test(tcase, test_hidden_port);
	tcase_add_test(tcase, test_hidden_port_and_key);
	tcase_add_test(tcase, test_port_too_slow);
	tcase_add_test(tcase, test_leave);
	tcase_add_test(tcase, test_group_dies_with_last_full_member);
	tcase_add_test(tcase, test_well_known_group_lives);
	tcase_add_test(tcase, test_table);
	tcase_add_test(tcase, test_follow);
	tcase_add_test(tcase, test_ports_that_vanish);
	tcase_add_test(tcase, test_churn);
	tcase_set_timeout(tcase, getenv("CHURN_STEPS") ? 3600 : 60);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
