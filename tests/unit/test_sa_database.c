// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The SA database as text: what is written can be read again, also files of the classic daemon. */
#include <check.h>
#include <string.h>

#include "complib/actor.h"
#include "core/options.h"
#include "sa/database.h"
#include "sa/dump.h"
#include "sa/report/replicate.h"
#include "tests/directory.h"
#include "tests/run_suite.h"
#include "tests/unit/test_sa_make.h"

#define PREFIX IBA_DEFAULT_GID_PREFIX
#define NOW NS_PER_S
#define TIME 0x6b039b64 /* the clock then */
#define MOMENT ((struct sa_moment){NOW, TIME})

static unsigned int out; /* groups skipped in the last file read */

static void fill(const struct sa_registries *registries)
{
	struct iba_mc_member_record group = {
		.mgid = {UINT64_C(0xFF12401BFFFF0000), 5},
		.q_key = 0xB1B,
		.mtu_selector = 2,
		.mtu = 4,
		.t_class = 3,
		.p_key = 0xFFFF,
		.rate_selector = 2,
		.rate = 3,
		.packet_life_time_selector = 2,
		.packet_life_time = 18,
		.sl = 9,
		.flow_label = 0xABCDE,
		.hop_limit = 7,
		.scope = 2,
	};
	struct iba_service_record service = {
		.service_id = 11,
		.service_gid = {PREFIX, 12},
		.service_p_key = 0x8001,
		.service_lease = 100,
		.service_key = {1, 2, 3},
		.service_name = "it's\nMC Group 0xc000 : \xff\\",
		.service_data8 = {[15] = 8},
		.service_data16 = {[1] = 9},
		.service_data32 = {[2] = 10},
		.service_data64 = {11, 12},
	};
	struct iba_inform_info info = {.lid_range_begin = 0xFFFF,
				       .is_generic = 1,
				       .type = 0xFFFF,
				       .trap_number = 64,
				       .producer_type = 0xFFFFFF,
				       .resp_time_value = 18};
	struct vendor_address to = {.lid = 0x1234, .qpn = 1, .qkey = IBA_QP1_Q_KEY, .sl = 3};

	for (unsigned int i = 0; i < 2; i++) {
		struct sa_group *made = sa_store_create(registries->groups, &group, PREFIX, 0);

		sa_store_join(registries->groups, made, 77, 1, false);
		sa_store_join(registries->groups, made, 78 + i, 4, true);
		sa_store_keep(registries->groups, made, i);
		group.mgid.guid++;
	}
	ck_assert(sa_aliases_set(registries->aliases, 77, 1, 0x111));
	ck_assert(sa_aliases_set(registries->aliases, 77, 9, 0x222));
	ck_assert(sa_aliases_set(registries->aliases, 77, 15, 0x223));
	ck_assert(sa_aliases_set(registries->aliases, 78, 7, 0x100));
	ck_assert(sa_aliases_set(registries->aliases, 78, 16, 0x101));
	ck_assert_ptr_nonnull(sa_services_put(registries->services, &service, 12, false, NOW));
	service.service_id++;
	service.service_lease = SA_LEASE_FOREVER;
	ck_assert_ptr_nonnull(sa_services_put(registries->services, &service, 12, false, NOW));
	for (; info.trap_number < 68; info.trap_number++)
		ck_assert_ptr_nonnull(
			sa_subscribers_add(registries->subscribers, 77, &to, &info, false));
}

static char *text_of(const struct sa_registries *registries)
{
	return sa_database_write(registries, PREFIX, MOMENT);
}

static unsigned int count(const char *text, const char *word)
{
	unsigned int n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

static bool is_subscribed(struct sa_subscription *subscription, void *arg)
{
	unsigned int *n = arg;

	*n += subscription->info.subscribe == 1;
	return true;
}

/* Entries that a replica does not have, or has otherwise. */
static void fill_more(const struct sa_registries *registries)
{
	const struct iba_service_record service = {
		.service_id = 0,
		.service_gid = {UINT64_C(0xFF12A01C00000000), 12},
		.service_p_key = 0xFFFF,
		.service_lease = SA_LEASE_FOREVER,
		.service_name = " name=' data8=0x7:0x8",
	};
	const struct iba_inform_info info = {
		.lid_range_begin = 5, .lid_range_end = 9, .resp_time_value = 18, .qpn = 1};
	const struct vendor_address to = {.lid = 7, .qpn = 1, .path_bits = 3, .p_key_index = 2};

	ck_assert_ptr_nonnull(sa_services_put(registries->services, &service, 13, false, NOW));
	ck_assert_ptr_nonnull(sa_subscribers_add(registries->subscribers, 78, &to, &info, false));
}

START_TEST(test_round_trip)
{
	const struct iba_service_record keyed = {11, {PREFIX, 12}, .service_p_key = 0x8001};
	const struct iba_service_record shared = {
		0, {UINT64_C(0xFF12A01C00000000), 12}, .service_p_key = 0xFFFF};
	struct sa_registries first = sa_registries_new(0), second = sa_registries_new(0);
	g_autofree char *text = NULL, *again = NULL;
	g_autoptr(GError) error = NULL;
	unsigned int n = 0;

	fill(&first);
	fill_more(&first);
	text = text_of(&first);
	ck_assert_uint_eq(count(text, "GUIDInfo Record:"), 4);
	ck_assert_uint_eq(count(text, " qpn_resp_time_val=0x112 "), 5); /* QP 1, 18 */
	ck_assert_uint_eq(count(text, " mgid="), 2);
	ck_assert_uint_eq(count(text, " (well known):"), 1);
	ck_assert_uint_eq(count(text, "mcm_port:"), 4);
	ck_assert_uint_eq(count(text, " scope_state=0x21 proxy_join=0x0\n"), 4); /* 2 of groups */
	ck_assert_uint_eq(count(text, " scope_state=0x24 proxy_join=0x1\n"), 2);
	ck_assert_uint_eq(count(text, " modified_time=0x6b039b64 lease_period=0x64\n"), 1);
	ck_assert_uint_eq(count(text, "InformInfo Record:"), 5);
	ck_assert_uint_eq(count(text, "Service Record:"), 3);
	ck_assert(sa_database_read(&second, "f", text, PREFIX, MOMENT, &out, &error));
	again = text_of(&second);
	ck_assert_str_eq(again, text);
	sa_subscribers_each(second.subscribers, is_subscribed, &n);
	ck_assert_uint_eq(n, 5);
	ck_assert_uint_eq(sa_services_find(second.services, &keyed)->record.service_key[0], 1);
	ck_assert_uint_eq(sa_services_find(second.services, &keyed)->owner, 12);
	ck_assert_uint_eq(sa_services_find(second.services, &shared)->owner, 0); /* has no owner */
	sa_registries_free(&first);
	sa_registries_free(&second);
}
END_TEST

/* ---- as replicated to a standby ---- */

/* Replaces the replicator's: writes directly into the standby's replica. */
void replicator_put(struct replicator *replicator, struct replica_entry *entry)
{
	ck_assert_int_eq(replica_put((struct replica *)replicator, entry), REPLICA_CHANGED);
}

static bool put_group(const struct sa_group *group, void *replica)
{
	sa_replicate_watch.group(replica, group, false);
	for (guint i = 0; i < group->members->len; i++)
		sa_replicate_watch.member(replica, group,
					  &g_array_index(group->members, struct sa_member, i));
	return true;
}

static bool put_subscription(struct sa_subscription *subscription, void *replica)
{
	sa_replicate_subscriptions.added(replica, subscription);
	return true;
}

static bool put_service(const struct sa_service *service, void *replica)
{
	sa_replicate_service(replica, service, false);
	return true;
}

static void put_all(const struct sa_registries *registries, struct replica *replica)
{
	sa_store_each(registries->groups, put_group, replica);
	sa_subscribers_each(registries->subscribers, put_subscription, replica);
	sa_services_each(registries->services, 0, put_service, replica);
	for (guint i = 0; i < sa_aliases_now(registries->aliases)->by_guid->len; i++)
		sa_replicate_alias(replica,
				   &g_array_index(sa_aliases_now(registries->aliases)->by_guid,
						  struct alias_guid, i),
				   false);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted lines, with equal numbers for subscriptions: their order of arrival does not matter. */
static char **lines_of(const struct sa_registries *registries)
{
	g_autofree char *text = text_of(registries);
	char **lines;

	for (char *at = text; (at = strstr(at, "_enum=0x")); at += 8)
		at[8] = '0';
	lines = g_strsplit(text, "\n", -1);
	qsort(lines, g_strv_length(lines), sizeof(*lines), by_text);
	return lines;
}

/* All of an address except the P_Key index, whether it was trusted, and the owner of a service. */
START_TEST(test_standby)
{
	struct sa_registries first = sa_registries_new(0), second = sa_registries_new(0);
	struct replica *replica = replica_new(1 << 20);
	const struct iba_inform_info info = {.trap_number = 144, .qpn = 5};
	const struct vendor_address far = {
		.lid = 0x1234,
		.sl = 3,
		.qpn = 5,
		.qkey = 0x80010203,
		.has_grh = true,
		.gid = {PREFIX, UINT64_C(0x123456789ABCDEF0)},
		.hop_limit = 64,
		.traffic_class = 33,
		.flow_label = 0xABCDE,
	};
	const struct iba_service_record wanted = {11, {PREFIX, 12}, .service_p_key = 0x8001};
	struct sa_subscription_key key = sa_subscription_key(99, 5, &info);
	const struct sa_subscription *got;
	g_auto(GStrv) lines = NULL, again = NULL;

	fill(&first);
	ck_assert_ptr_nonnull(sa_subscribers_add(first.subscribers, 99, &far, &info, true));
	put_all(&first, replica);
	ck_assert_uint_eq(sa_replicate_adopt(&second, replica, NOW), 0);
	lines = lines_of(&first);
	again = lines_of(&second);
	ck_assert_uint_eq(g_strv_length(again), g_strv_length(lines));
	for (unsigned int i = 0; lines[i]; i++)
		ck_assert_str_eq(again[i], lines[i]);
	got = sa_subscribers_find(second.subscribers, &key);
	ck_assert_ptr_nonnull(got);
	ck_assert(got->trusted && got->to.has_grh && iba_gid_equal(got->to.gid, far.gid));
	ck_assert_uint_eq(got->to.qkey, far.qkey);
	ck_assert_uint_eq(got->to.hop_limit, far.hop_limit);
	ck_assert_uint_eq(got->to.traffic_class, far.traffic_class);
	ck_assert_uint_eq(got->to.flow_label, far.flow_label);
	ck_assert_uint_eq(sa_services_find(second.services, &wanted)->owner, 12);
	sa_registries_free(&first);
	sa_registries_free(&second);
	replica_unref(replica);
}
END_TEST

/* ---- entries of a replica, one by one ---- */

/* A replica of one group with one member, or of one of anything else. */
struct one {
	struct replica *replica;
	struct sa_registries from;
};

static struct one one_new(void)
{
	const struct iba_mc_member_record group = {
		.mgid = {UINT64_C(0xFF12A01C00000000), 5}, .mlid = 0xC005, .p_key = 0xFFFF};
	const struct iba_service_record service = {
		.service_id = 11, .service_gid = {PREFIX, 12}, .service_p_key = 0x8001};
	const struct iba_inform_info info = {.trap_number = 64, .qpn = 1};
	const struct vendor_address to = {.lid = 7, .qpn = 1};
	struct one one = {.replica = replica_new(1 << 20), .from = sa_registries_new(0)};

	sa_store_join(one.from.groups, sa_store_create(one.from.groups, &group, PREFIX, 9), 77, 1,
		      false);
	ck_assert_ptr_nonnull(sa_services_put(one.from.services, &service, 12, false, NOW));
	ck_assert_ptr_nonnull(sa_subscribers_add(one.from.subscribers, 77, &to, &info, false));
	ck_assert(sa_aliases_set(one.from.aliases, 77, 1, 0x111));
	put_all(&one.from, one.replica);
	return one;
}

static void one_free(struct one *one)
{
	sa_registries_free(&one->from);
	replica_unref(one->replica);
}

static void copy_entry(void *arg, const struct replica_entry *entry)
{
	struct replica_entry **copy = arg;

	*copy = g_memdup2(entry, sizeof(*entry) + entry->key_length + entry->value_length);
}

/* Replaces an entry of a section by a changed one. */
static void replace(struct one *one, uint8_t section, size_t key_length, size_t value_length,
		    unsigned int octet, uint8_t value)
{
	struct replica_entry *entry = NULL;
	uint8_t key[256] = {0}, octets[1024] = {0};

	replica_each(one->replica, section, copy_entry, &entry);
	memcpy(key, entry->octets, entry->key_length);
	memcpy(octets, replica_value(entry), entry->value_length);
	replica_put(one->replica, replica_entry_new(section, key, entry->key_length, NULL, 0));
	if (octet < entry->key_length)
		key[octet] = value;
	else if (octet < UINT_MAX)
		octets[octet - entry->key_length] = value;
	replica_put(one->replica, replica_entry_new(section, key, entry->key_length + key_length,
						    octets, entry->value_length + value_length));
	g_free(entry);
}

/* Number of entries in the adopted text. */
static unsigned int adopt(const struct one *one, unsigned int bad)
{
	struct sa_registries second = sa_registries_new(0);
	g_autofree char *text = NULL;

	ck_assert_uint_eq(sa_replicate_adopt(&second, one->replica, NOW), bad);
	text = text_of(&second);
	sa_registries_free(&second);
	return count(text, "\n\n");
}

static const uint8_t sections[] = {REPLICA_GROUPS, REPLICA_MEMBERS, REPLICA_SERVICES,
				   REPLICA_SUBSCRIPTIONS, REPLICA_ALIASES};

/* A key has one length, a value may be longer: later versions know more. */
START_TEST(test_lengths)
{
	uint8_t section = sections[_i];
	unsigned int lost = section == REPLICA_GROUPS ? 2 : 1; /* with its member */
	/*
	 * Octets of the end of a lease, or of the port that made a member: older versions lack
	 * them.
	 */
	unsigned int may_lack = section == REPLICA_SERVICES  ? 9
				: section == REPLICA_MEMBERS ? 8
							     : 0;

	for (unsigned int what = 0; what < 5; what++) {
		struct one one = one_new();

		if (what == 1)
			replace(&one, section, 1, 0, UINT_MAX, 0);
		else if (what == 2)
			replace(&one, section, -(size_t)1, 0, UINT_MAX, 0);
		else if (what == 3)
			replace(&one, section, 0, -(size_t)(may_lack + 1), UINT_MAX, 0);
		else if (what == 4)
			replace(&one, section, 0, 1, UINT_MAX, 0);
		if (what % 4)
			ck_assert_uint_eq(adopt(&one, lost), 5 - lost);
		else
			ck_assert_uint_eq(adopt(&one, 0), 5);
		one_free(&one);
	}
}
END_TEST

/* Octets of keys and values that are invalid, or still valid. */
static const struct {
	uint8_t section;
	unsigned int octet; /* of the value after the key */
	uint8_t value;
	unsigned int bad;
} octets_cases[] = {
	{REPLICA_GROUPS, 15, 6, 2},	    /* not the MGID of its record */
	{REPLICA_GROUPS, 16, 0xFE, 2},	    /* nor a multicast one */
	{REPLICA_GROUPS, 16 + 36, 0xBF, 2}, /* a unicast LID */
	{REPLICA_MEMBERS, 15, 6, 1},	    /* of no group */
	{REPLICA_MEMBERS, 23, 0, 1},	    /* of no port */
	{REPLICA_MEMBERS, 24, 0, 1},	    /* without JoinState */
	{REPLICA_MEMBERS, 24, 0xF, 0},	    {REPLICA_MEMBERS, 24, 0x10, 1},
	{REPLICA_MEMBERS, 25, 0xFF, 0},	   /* flags of later versions */
	{REPLICA_SERVICES, 7, 6, 1},	   /* not the ServiceID of its record */
	{REPLICA_SUBSCRIPTIONS, 11, 6, 1}, /* not the QP of its record */
	{REPLICA_ALIASES, 7, 0, 1},	   /* of no port */
	{REPLICA_ALIASES, 8, 0, 1},	   /* the base GUID */
};

START_TEST(test_octets)
{
	struct one one = one_new();
	unsigned int bad = octets_cases[_i].bad;

	replace(&one, octets_cases[_i].section, 0, 0, octets_cases[_i].octet,
		octets_cases[_i].value);
	ck_assert_uint_eq(adopt(&one, bad), 5 - bad);
	one_free(&one);
}
END_TEST

/* Groups of two partitions cannot have one MLID: the second has another one here. */
START_TEST(test_mlid_taken)
{
	const struct sa_group group = {
		.record.mgid = {UINT64_C(0xFF12A01C00000000), 6},
		.record.mlid = 0xC005,
		.record.p_key = _i ? 0x8001 : 0xFFFF,
	};
	struct one one = one_new();

	sa_replicate_watch.group(one.replica, &group, false);
	ck_assert_uint_eq(adopt(&one, _i), 6);
	one_free(&one);
}
END_TEST

/* Entries that ended at the master are not adopted by the standby. */
START_TEST(test_ended)
{
	const struct iba_service_record service = {11, {PREFIX, 12}, .service_p_key = 0x8001};
	const struct iba_inform_info info = {.trap_number = 64};
	const struct sa_subscription_key key = sa_subscription_key(77, 1, &info);
	const struct alias_guid alias = {.port = 77, .index = 1};
	struct one one = one_new();
	struct sa_group *group = sa_store_find_mlid(one.from.groups, 0xC005);
	struct sa_member member = {.guid = 77};

	sa_replicate_watch.member(one.replica, group, &member);
	ck_assert_uint_eq(adopt(&one, 0), 4);
	sa_replicate_watch.group(one.replica, group, true);
	ck_assert_uint_eq(adopt(&one, 0), 3);
	sa_replicate_service(one.replica, sa_services_find(one.from.services, &service), true);
	ck_assert_uint_eq(adopt(&one, 0), 2);
	sa_replicate_subscriptions.removed(one.replica,
					   sa_subscribers_find(one.from.subscribers, &key));
	ck_assert_uint_eq(adopt(&one, 0), 1);
	sa_replicate_alias(one.replica, &alias, true);
	ck_assert_uint_eq(adopt(&one, 0), 0);
	one_free(&one);
}
END_TEST

/* The maker of a group; missing parts of an address. */
START_TEST(test_details)
{
	const struct iba_inform_info info = {.trap_number = 64};
	const struct sa_subscription_key key = sa_subscription_key(77, 1, &info);
	struct sa_registries second = sa_registries_new(0);
	const struct sa_subscription *got;
	struct one one = one_new();

	ck_assert_uint_eq(sa_replicate_adopt(&second, one.replica, NOW), 0);
	ck_assert_uint_eq(sa_store_find_mlid(second.groups, 0xC005)->creator, 9);
	got = sa_subscribers_find(second.subscribers, &key);
	ck_assert(!got->to.has_grh && !got->trusted);
	sa_registries_free(&second);
	one_free(&one);
}
END_TEST

/* Services that differ in the last octet of the GID or the first of the P_Key are separate. */
START_TEST(test_service_keys)
{
	struct iba_service_record service = {
		.service_id = 1, .service_gid = {PREFIX, 12}, .service_p_key = 0x8001};
	struct one one = one_new();

	for (unsigned int i = 0; i < 4; i++) {
		service.service_gid.guid ^= i % 2;
		service.service_p_key ^= i % 2 ? 0 : 0x100;
		sa_replicate_service(one.replica,
				     sa_services_put(one.from.services, &service, 12, false, NOW),
				     false);
	}
	ck_assert_uint_eq(adopt(&one, 0), 5 + 4);
	one_free(&one);
}
END_TEST

/* When the other SM was last heard of, and the rest of a lease of 100 s then, counted from NOW. */
static const struct {
	uint64_t clock; /* s after NOW; UINT64_MAX: not reported */
	uint32_t lease, left;
} spent_cases[] = {
	{UINT64_MAX, 100, 100}, {0, 100, 100}, {40, 100, 60},
	{100, 100, 0},		{170, 100, 0}, {40, SA_LEASE_FOREVER, SA_LEASE_FOREVER},
};

START_TEST(test_spent)
{
	struct iba_service_record service = {.service_id = 11,
					     .service_gid = {PREFIX, 12},
					     .service_p_key = 0x8001,
					     .service_lease = spent_cases[_i].lease};
	struct sa_registries second = sa_registries_new(0);
	const uint64_t later = NOW + 1000 * NS_PER_S;
	struct one one = one_new();
	uint64_t expected = later + spent_cases[_i].left * NS_PER_S;

	sa_replicate_service(one.replica,
			     sa_services_put(one.from.services, &service, 12, false, NOW), false);
	if (spent_cases[_i].clock != UINT64_MAX)
		sa_replicate_clock((struct replicator *)one.replica,
				   NOW + spent_cases[_i].clock * NS_PER_S);
	ck_assert_uint_eq(sa_replicate_adopt(&second, one.replica, later), 0);
	if (spent_cases[_i].left == SA_LEASE_FOREVER)
		expected = UINT64_MAX;
	ck_assert_uint_eq(sa_services_find(second.services, &service)->expires_ns, expected);
	sa_registries_free(&second);
	one_free(&one);
}
END_TEST

/* A clock that went back, one that is too short, and a lease without an end: it is whole. */
START_TEST(test_lease_of_other_versions)
{
	struct iba_service_record service = {.service_id = 11,
					     .service_gid = {PREFIX, 12},
					     .service_p_key = 0x8001,
					     .service_lease = 100};
	struct sa_registries second = sa_registries_new(0);
	struct one one = one_new();

	sa_replicate_service(one.replica,
			     sa_services_put(one.from.services, &service, 12, false, NOW), false);
	sa_replicate_clock((struct replicator *)one.replica, _i ? NOW + 40 * NS_PER_S : NOW - 1);
	if (_i == 1)
		replace(&one, REPLICA_SERVICES, 0, -(size_t)8, UINT_MAX, 0);
	else if (_i == 2)
		replace(&one, REPLICA_CLOCK, 0, -(size_t)1, UINT_MAX, 0);
	ck_assert_uint_eq(sa_replicate_adopt(&second, one.replica, NOW), 0);
	ck_assert_uint_eq(sa_services_find(second.services, &service)->expires_ns,
			  NOW + 100 * NS_PER_S);
	sa_registries_free(&second);
	one_free(&one);
}
END_TEST

/* ---- truncated texts ---- */

/* Cut anywhere: what is read is the beginning of it, and nothing else. */
START_TEST(test_torn)
{
	struct sa_registries first = sa_registries_new(0);
	g_autofree char *text = NULL;

	fill(&first);
	text = text_of(&first);
	sa_registries_free(&first);
	for (size_t length = strlen(text); length-- > 0;) {
		struct sa_registries second = sa_registries_new(0);
		g_autofree char *torn = g_strndup(text, length), *again = NULL;
		g_autoptr(GError) error = NULL;
		bool whole = length == 0 || torn[length - 1] == '\n';

		ck_assert(sa_database_read(&second, "f", torn, PREFIX, MOMENT, &out, &error) ==
			  whole);
		ck_assert(whole || g_str_has_prefix(error->message, "f:"));
		again = text_of(&second);
		ck_assert_uint_le(strlen(again), length + 1);
		sa_registries_free(&second);
	}
}
END_TEST

/* Lines of the classic daemon. */
START_TEST(test_classic)
{
	static const char text[] =
		"GUIDInfo Record: base_guid=0x0002c90300000001 lid=0x0001 block_num=0x0"
		" guid0=0x0002c90300000001\n\n"
		"GUIDInfo Record: base_guid=0x0002c90300000001 lid=0x0001 block_num=0x1"
		" guid0=0x0014050000000007 guid1=0x0000000000000000 guid2=0x0014050000000009"
		" guid3=0x0000000000000000 guid4=0x0000000000000000 guid5=0x0000000000000000"
		" guid6=0x0000000000000000 guid7=0x0000000000000000\n\n"
		"MC Group 0xc000  (well known): mgid=0xff12401bffff0000:0x00000000ffffffff"
		" port_gid=0x0000000000000000:0x0000000000000000 qkey=0x00000b1b mlid=0xc000"
		" mtu=0x84 tclass=0x00 pkey=0xffff rate=0x83 pkt_life=0x92"
		" sl_flow_hop=0x00000000 scope_state=0x21 proxy_join=0x0\n\n"
		"mcm_port: port_gid=0xfe80000000000000:0x0200000000000601 scope_state=0x21"
		" proxy_join=0x0\n\n"
		"Service Record: id=0x00000000663345b5"
		" gid=0x00000000000080fe:0x0200000000000601 pkey=0x0 lease=0xa"
		" key=0x0c00000000000000:0x0000000000000000 name='osmt.srvc.1714636912.699'"
		" data8=0x0002000000000000:0x0000000000000000"
		" data16=0x0000000300000000:0x0000000000000000"
		" data32=0x0000000000000004:0x0000000000000000"
		" data64=0x0000000000000000:0x0000000000000005 modified_time=0x6b039b64"
		" lease_period=0x9\n\n";
	struct sa_registries all = sa_registries_new(0);
	const struct sa_group *group;
	const struct sa_service *service;
	const struct iba_service_record wanted = {
		.service_id = 0x663345b5,
		.service_gid = {0x80fe, UINT64_C(0x0200000000000601)},
		.service_p_key = 0xFFFF,
	};
	g_autoptr(GError) error = NULL;

	ck_assert(sa_database_read(&all, "f", text, PREFIX, MOMENT, &out, &error));
	group = sa_store_find(all.groups,
			      (struct iba_gid){UINT64_C(0xff12401bffff0000), UINT32_MAX});
	ck_assert(sa_aliases_get(all.aliases, UINT64_C(0x2c90300000001), 8) ==
		  UINT64_C(0x14050000000007));
	ck_assert(sa_aliases_get(all.aliases, UINT64_C(0x2c90300000001), 10) ==
		  UINT64_C(0x14050000000009));
	ck_assert_uint_eq(sa_aliases_now(all.aliases)->by_guid->len, 2);
	ck_assert_ptr_nonnull(group);
	ck_assert(group->well_known);
	ck_assert_uint_eq(group->record.mtu, 4);
	ck_assert_ptr_nonnull(sa_group_member(group, UINT64_C(0x0200000000000601)));
	service = sa_services_find(all.services, &wanted);
	ck_assert_ptr_nonnull(service);
	ck_assert_uint_eq(service->record.service_data16[1], 3);
	ck_assert_uint_eq(service->record.service_data32[1], 4);
	ck_assert_uint_eq(service->record.service_key[0], 0x0c);
	ck_assert_uint_eq(sa_service_lease(service, NOW), 9);
	sa_registries_free(&all);
}
END_TEST

/* The rest of a lease of 100 s that was read this many seconds after it was written. */
static const struct {
	int64_t written, read;
	unsigned int left; /* 0: it is over */
} ages[] = {
	{TIME, TIME, 100},	  {TIME, TIME + 1, 99},	 {TIME, TIME + 99, 1},
	{TIME, TIME + 100, 0},	  {TIME, TIME + 86400, 0},
	{TIME, TIME - 5, 100}, /* the clock was set back */
	{TIME, 100, 100},	  {100, TIME, 100}, /* the clock was not set, or is not */
	{0, TIME, 100}, /* written by older versions */
};

START_TEST(test_ages)
{
	const struct iba_service_record finite = {11, {PREFIX, 12}, .service_p_key = 0x8001};
	const struct iba_service_record endless = {12, {PREFIX, 12}, .service_p_key = 0x8001};
	struct sa_registries first = sa_registries_new(0), second = sa_registries_new(0);
	const struct sa_moment written = {NOW, ages[_i].written};
	const struct sa_moment later = {5, ages[_i].read}; /* another start, another time base */
	g_autofree char *text = NULL;
	g_autoptr(GError) error = NULL;
	const struct sa_service *service;

	fill(&first);
	text = sa_database_write(&first, PREFIX, written);
	ck_assert(sa_database_read(&second, "f", text, PREFIX, later, &out, &error));
	service = sa_services_find(second.services, &finite);
	ck_assert_uint_eq(service ? sa_service_lease(service, 5) : 0, ages[_i].left);
	service = sa_services_find(second.services, &endless);
	ck_assert_uint_eq(sa_service_lease(service, 5), SA_LEASE_FOREVER);
	sa_registries_free(&first);
	sa_registries_free(&second);
}
END_TEST

START_TEST(test_wrong)
{
	static const char *const cases[][2] = {
		{"\nnonsense\n", "f:2: expected a record"},
		{"MC Group 0xc000 : mgid=0xff12:0x1 qkey=0x\n", "f:1: expected qkey"},
		{"MC Group 0xc000 : mgid=0x12\n", "f:1: expected mgid"},
		{"MC Group 0xc000 : mgid=0xff12:0xg\n", "f:1: expected mgid"},
		{"MC Group 0xc000 : mgid=0xff12;0x1\n", "f:1: expected mgid"},
		{"GUIDInfo Record: base_guid=0x10000000000000000 lid=0x1 block_num=0x1\n",
		 "f:1: expected base_guid"},
		{"Service Record: id=0x1 gid=0xfe80:0x2 pkey=0x0 lease=0x0 key=0x0:0x0"
		 " data8=0x0:0x0\n",
		 "f:1: expected name"},
		{"GUIDInfo Record: base_guid=0x1 lid=0x1 block_num=0x20 guid0=0x1\n",
		 "f:1: expected block_num"},
		{"GUIDInfo Record: base_guid=0x1 lid=0x1 block_num=0x1 guid0=0x\n",
		 "f:1: expected guid0"},
		{"mcm_port: port_gid=0x1:0x2 scope_state=0x100 proxy_join=0x0\n",
		 "f:1: expected scope_state"},
		{"Service Record: id=0x1 gid=0xfe80:0x2 pkey=0x0\n", "f:1: expected lease"},
		{"Service Record: id=0x1 gid=0xfe80:0x2 pkey=0x0 lease=0x0 key=0x0:0x0 name=''"
		 " data8=0x0:0x0 data16=0x0:0x0 data32=0x0:0x0 data64=0x0:0x0"
		 " modified_time=0x0 lease_period=0x100000000\n",
		 "f:1: expected lease_period"},
		{"InformInfo Record: subscriber_gid=0xfe80:0x2\n", "f:1: expected gid"},
		{"InformInfo Record: subscriber_gid=0xfe80:0x2 gid=0x0:0x0 lid_range_begin=0xffff"
		 " lid_range_end=0x0 is_generic=0x1 trap_type=0xffff trap_num=0x40"
		 " qpn_resp_time_val=0x0 node_type=0xffffff lid=0xc000 path_bits=0x0"
		 " remote_qp=0x1 remote_qkey=0x0 pkey_ix=0x0 sl=0x0\n",
		 "f:1: expected lid and GID"},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct sa_registries all = sa_registries_new(0);
		g_autoptr(GError) error = NULL;
		g_autofree char *text = NULL;

		ck_assert(!sa_database_read(&all, "f", cases[i][0], PREFIX, MOMENT, &out, &error));
		ck_assert_msg(g_str_has_prefix(error->message, cases[i][1]), "%s", error->message);
		text = text_of(&all);
		ck_assert_str_eq(text, "");
		sa_registries_free(&all);
	}
}
END_TEST

/* Bits that a number of a record may have. */
static const struct {
	const char *record, *name;
	unsigned int bits;
} numbers[] = {
	{"MC Group ", "qkey", 32},
	{"MC Group ", "mlid", 16},
	{"MC Group ", "mtu", 8},
	{"MC Group ", "tclass", 8},
	{"MC Group ", "pkey", 16},
	{"MC Group ", "rate", 8},
	{"MC Group ", "pkt_life", 8},
	{"MC Group ", "sl_flow_hop", 32},
	{"MC Group ", "scope_state", 8},
	{"mcm_port:", "scope_state", 8},
	{"mcm_port:", "proxy_join", 8},
	{"InformInfo ", "lid_range_begin", 16},
	{"InformInfo ", "lid_range_end", 16},
	{"InformInfo ", "is_generic", 1},
	{"InformInfo ", "trap_type", 16},
	{"InformInfo ", "trap_num", 16},
	{"InformInfo ", "qpn_resp_time_val", 32},
	{"InformInfo ", "node_type", 24},
	{"InformInfo ", "lid", 16},
	{"InformInfo ", "path_bits", 8},
	{"InformInfo ", "remote_qp", 24},
	{"InformInfo ", "remote_qkey", 32},
	{"InformInfo ", "pkey_ix", 16},
	{"InformInfo ", "sl", 4},
	{"Service ", "pkey", 16},
	{"Service ", "lease", 32},
	{"Service ", "lease_period", 32},
	{"GUIDInfo ", "block_num", 5},
};

/* A number that is too large for its field is not cut. */
START_TEST(test_too_large)
{
	struct sa_registries first = sa_registries_new(0), second = sa_registries_new(0);
	g_autofree char *text = NULL, *name = NULL, *wrong = NULL, *expected = NULL;
	g_autoptr(GError) error = NULL;
	char *at;

	fill(&first);
	text = text_of(&first);
	name = g_strdup_printf(" %s=0x", numbers[_i].name);
	at = strstr(strstr(text, numbers[_i].record), name) + strlen(name);
	wrong = g_strdup_printf("%.*s%" G_GINT64_MODIFIER "x%s", (int)(at - text), text,
				UINT64_C(1) << numbers[_i].bits,
				at + strspn(at, "0123456789abcdef"));
	ck_assert(!sa_database_read(&second, "f", wrong, PREFIX, MOMENT, &out, &error));
	expected = g_strdup_printf(": expected %s;", numbers[_i].name);
	ck_assert_msg(strstr(error->message, expected), "%s", error->message);
	sa_registries_free(&first);
	sa_registries_free(&second);
}
END_TEST

#define GROUP_LINE(mgid, mlid)                                                                     \
	"MC Group 0xc000 : mgid=" mgid " qkey=0x0 mlid=" mlid " mtu=0x84 tclass=0x0 pkey=0xffff"   \
	" rate=0x83 pkt_life=0x92 sl_flow_hop=0x0 scope_state=0x21 proxy_join=0x0\n"
#define MEMBER_LINE(guid, join_state)                                                              \
	"mcm_port: port_gid=0xfe80000000000000:" guid " scope_state=" join_state " proxy_join="    \
										 "0x0\n"

/* Members belong to the group before them, if that was new, and must be a port that joined. */
START_TEST(test_members)
{
	static const char text[] = MEMBER_LINE("0x1", "0x21")
		GROUP_LINE("0xff12a01c00000000:0x1", "0xc001") MEMBER_LINE("0x2", "0x21")
			MEMBER_LINE("0x0", "0x21") MEMBER_LINE("0x3", "0x20")
				GROUP_LINE("0xff12a01c00000000:0x2", "0xc002")
					GROUP_LINE("0xff12a01c00000000:0x1", "0xc001")
						MEMBER_LINE("0x4", "0x21");
	struct sa_registries all = sa_registries_new(0);
	g_autoptr(GError) error = NULL;
	const struct sa_group *group;

	ck_assert(sa_database_read(&all, "f", text, PREFIX, MOMENT, &out, &error));
	group = sa_store_find_mlid(all.groups, 0xC001);
	ck_assert_uint_eq(group->members->len, 1);
	ck_assert_ptr_nonnull(sa_group_member(group, 2));
	ck_assert_uint_eq(group->creator, 0);
	ck_assert_uint_eq(sa_store_find_mlid(all.groups, 0xC002)->members->len, 0);
	sa_registries_free(&all);
}
END_TEST

/* A group has a multicast GID, and a multicast LID. */
START_TEST(test_no_group)
{
	static const char *const texts[] = {GROUP_LINE("0xfe80000000000000:0x1", "0xc001"),
					    GROUP_LINE("0xff12a01c00000000:0x1", "0xbfff")};
	struct sa_registries all = sa_registries_new(0);
	g_autoptr(GError) error = NULL;

	ck_assert(!sa_database_read(&all, "f", texts[_i], PREFIX, MOMENT, &out, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "f:1: expected mgid and mlid of a group"));
	sa_registries_free(&all);
}
END_TEST

/* ---- files ---- */

static void set_files(struct context *context, const char *directory, const char *file)
{
	struct options *options = options_new();

	g_free(options->dump_files_dir);
	g_free(options->sa_db_file);
	options->dump_files_dir = g_strdup(directory);
	options->sa_db_file = g_strdup(file);
	slot_publish(&context->options, options);
}

static void expect_loaded(struct context *context, const char *file, const char *text)
{
	struct sa_registries all = sa_registries_new(0);
	g_autofree char *got = NULL;

	set_files(context, NULL, file);
	sa_dump_load(context, &all);
	got = sa_database_write(&all, PREFIX,
				(struct sa_moment){runtime_now(context->rt), TIME});
	ck_assert_uint_eq(strlen(got), strlen(text));
	sa_registries_free(&all);
}

/* Groups with MLIDs that switches do not support get others; with none free they are skipped. */
START_TEST(test_no_mlid)
{
	static const char text[] = GROUP_LINE("0xff12a01c00000000:0x1", "0xc004")
		"MC Group 0xc005 : mgid=0xff12a01c00000000:0x2 qkey=0x0 mlid=0xc005 mtu=0x84"
		" tclass=0x0 pkey=0x8001 rate=0x83 pkt_life=0x92 sl_flow_hop=0x0 scope_state=0x21"
		" proxy_join=0x0\n" MEMBER_LINE("0x2", "0x21");
	g_autoptr(GString) log = g_string_new(NULL);
	struct context context = {.log = log_new_capture(log), .rt = runtime_new(RUNTIME_VIRTUAL)};
	g_autofree char *directory = g_dir_make_tmp("opensm-sa-XXXXXX", NULL);
	g_autofree char *file = g_build_filename(directory, "opensm-sa.dump", NULL);
	struct subnet *subnet = make_subnet("fattree:4", 0, 0);
	struct sa_registries all = sa_registries_new(0);

	for (uint32_t i = 0; i < subnet->fabric->n_switches; i++)
		subnet->fabric->switches[i].info.multicast_fdb_cap = 1;
	ck_assert(g_file_set_contents(file, text, -1, NULL));
	options_slot_init(&context.options);
	set_files(&context, NULL, file);
	sa_store_follow_mlids(all.groups, subnet);
	sa_dump_load(&context, &all);
	ck_assert(iba_gid_equal(sa_store_find_mlid(all.groups, 0xC000)->record.mgid,
				(struct iba_gid){UINT64_C(0xff12a01c00000000), 1}));
	ck_assert_ptr_null(sa_store_find_mlid(all.groups, 0xC004));
	ck_assert_ptr_null(sa_store_find_mlid(all.groups, 0xC005));
	ck_assert_ptr_nonnull(strstr(log->str, "SA: 1 multicast groups of "));
	sa_registries_free(&all);
	subnet_unref(subnet);
	slot_clear(&context.options);
	runtime_free(context.rt);
	log_free(context.log);
	directory_remove(directory);
}
END_TEST

/* Faults of the files are logged, and nothing else is. */
START_TEST(test_file_faults)
{
	g_autoptr(GString) log = g_string_new(NULL);
	struct context context = {.log = log_new_capture(log), .rt = runtime_new(RUNTIME_VIRTUAL)};
	g_autofree char *directory = g_dir_make_tmp("opensm-sa-XXXXXX", NULL);
	g_autofree char *missing = g_build_filename(directory, "missing", NULL);
	g_autofree char *file = g_build_filename(directory, "opensm-sa.dump", NULL);
	bool before = g_file_test("opensm-sa.dump", G_FILE_TEST_EXISTS); /* not requested */
	struct sa_registries none = sa_registries_new(0);

	event_bus_init(&context.bus);
	options_slot_init(&context.options);
	context.files = pool_new_background(context.rt, "files", 1);
	set_files(&context, NULL, NULL);
	sa_dump_write(&context, &none);
	set_files(&context, "", "");
	sa_dump_write(&context, &none);
	sa_dump_load(&context, &none);
	set_files(&context, directory, NULL);
	sa_dump_write(&context, &none);
	sa_dump_load(&context, &none);
	runtime_run(context.rt, NULL, NULL, NS_PER_S);
	ck_assert_str_eq(log->str, "");
	ck_assert_int_eq(g_file_test("opensm-sa.dump", G_FILE_TEST_EXISTS), before);
	set_files(&context, missing, missing);
	sa_dump_write(&context, &none);
	runtime_run(context.rt, NULL, NULL, 2 * NS_PER_S);
	ck_assert_uint_eq(count(log->str, missing), 1);
	sa_dump_load(&context, &none);
	ck_assert_uint_eq(count(log->str, missing), 2);
	set_files(&context, NULL, file);
	sa_dump_load(&context, &none);
	ck_assert_uint_eq(count(log->str, "SA: loaded "), 1);
	ck_assert(g_file_set_contents(file, "nonsense\n", -1, NULL));
	sa_dump_load(&context, &none);
	ck_assert_uint_eq(count(log->str, "SA: loaded "), 1);
	ck_assert_uint_eq(count(log->str, ":1: expected a record"), 1);
	sa_registries_free(&none);
	pool_free(context.files);
	event_bus_clear(&context.bus);
	slot_clear(&context.options);
	runtime_free(context.rt);
	log_free(context.log);
	directory_remove(directory);
}
END_TEST

/* Written to where the option says, readable only by its owner, and loaded again; or neither. */
START_TEST(test_file)
{
	struct context context = {.log = log_new_null(), .rt = runtime_new(RUNTIME_VIRTUAL)};
	g_autofree char *directory = g_dir_make_tmp("opensm-sa-XXXXXX", NULL);
	g_autofree char *file = g_build_filename(directory, "opensm-sa.dump", NULL), *text = NULL;
	struct sa_registries first = sa_registries_new(0);
	GStatBuf status;

	event_bus_init(&context.bus);
	options_slot_init(&context.options);
	context.files = pool_new_background(context.rt, "files", 1);
	fill(&first);
	set_files(&context, "", NULL);
	sa_dump_write(&context, &first);
	set_files(&context, directory, NULL);
	sa_dump_write(&context, &first);
	runtime_run(context.rt, NULL, NULL, NS_PER_S);
	ck_assert_int_eq(g_stat(file, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	ck_assert(g_file_get_contents(file, &text, NULL, NULL));
	ck_assert_uint_eq(count(text, "InformInfo Record:"), 4);
	expect_loaded(&context, file, text);
	expect_loaded(&context, "", "");
	expect_loaded(&context, NULL, "");
	expect_loaded(&context, directory, "");
	sa_registries_free(&first);
	pool_free(context.files);
	event_bus_clear(&context.bus);
	slot_clear(&context.options);
	runtime_free(context.rt);
	log_free(context.log);
	directory_remove(directory);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_database");
	TCase *tcase = tcase_create("database");

	tcase_add_test(tcase, test_round_trip);
	tcase_add_test(tcase, test_standby);
	tcase_add_test(tcase, test_torn);
	tcase_add_test(tcase, test_classic);
	tcase_add_test(tcase, test_wrong);
	tcase_add_loop_test(tcase, test_ages, 0, G_N_ELEMENTS(ages));
	tcase_add_loop_test(tcase, test_lengths, 0, G_N_ELEMENTS(sections));
	tcase_add_loop_test(tcase, test_octets, 0, G_N_ELEMENTS(octets_cases));
	tcase_add_loop_test(tcase, test_mlid_taken, 0, 2);
	tcase_add_test(tcase, test_ended);
	tcase_add_test(tcase, test_details);
	tcase_add_test(tcase, test_service_keys);
	tcase_add_loop_test(tcase, test_spent, 0, G_N_ELEMENTS(spent_cases));
	tcase_add_loop_test(tcase, test_lease_of_other_versions, 0, 3);
	tcase_add_loop_test(tcase, test_too_large, 0, G_N_ELEMENTS(numbers));
	tcase_add_test(tcase, test_members);
	tcase_add_loop_test(tcase, test_no_group, 0, 2);
	tcase_add_test(tcase, test_file);
	tcase_add_test(tcase, test_no_mlid);
	tcase_add_test(tcase, test_file_faults);
	suite_add_tcase(suite, tcase);
	return suite;
}
