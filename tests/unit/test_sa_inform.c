// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* InformInfo and InformInfoRecord: what may be subscribed to, ended and seen, by which port. */
#include <check.h>

#include "complib/actor.h"
#include "tests/run_suite.h"
#include "tests/unit/test_sa_make.h"

#define C(name) IBA_COMPONENT(inform_info_record, name)
#define OWN_QP 1 /* of the requester: test_sa_make.c */

static struct subnet *subnet;
static struct sa_registries all;
static uint64_t sm_key;

static void setup(void)
{
	subnet = make_subnet("fattree:4", 0, 0);
	all = sa_registries_new(0);
	sm_key = 0;
}

static void teardown(void)
{
	sa_registries_free(&all);
	subnet_unref(subnet);
}

static uint64_t guid_of(unsigned int host)
{
	return subnet->fabric->ports[endport(subnet, host, true)].guid;
}

static struct iba_gid gid_of(unsigned int host)
{
	return (struct iba_gid){subnet->options->subnet_prefix, guid_of(host)};
}

static struct told ask(unsigned int who, uint8_t method, uint16_t attribute, uint64_t mask,
		       const struct wire_type *type, const void *record)
{
	const struct ask ask = {
		.subnet = subnet,
		.registries = &all,
		.from = endport(subnet, who, true),
		.sm_key = sm_key,
		.method = method,
		.attribute = attribute,
		.mask = mask,
		.type = type,
		.record = record,
	};

	return tell(&ask);
}

static int set_as(unsigned int who, struct iba_inform_info info)
{
	struct told told =
		ask(who, IBA_METHOD_SET, IBA_ATTR_INFORM_INFO, 0, &iba_inform_info_type, &info);
	int status = told.header.status;

	told_clear(&told);
	return status;
}

/* Traps of any port. */
static struct iba_inform_info traps(uint16_t trap_number)
{
	return (struct iba_inform_info){
		.lid_range_begin = IBA_LID_PERMISSIVE,
		.is_generic = 1,
		.subscribe = 1,
		.type = 0xFFFF,
		.trap_number = trap_number,
		.producer_type = 0xFFFFFF,
	};
}

static struct iba_inform_info no_more(struct iba_inform_info info)
{
	info.subscribe = 0;
	return info;
}

static struct sa_subscription *find(unsigned int host, uint32_t qpn, struct iba_inform_info info)
{
	struct sa_subscription_key key = sa_subscription_key(guid_of(host), qpn, &info);

	return sa_subscribers_find(all.subscribers, &key);
}

/* ---- what may be subscribed to ---- */

/* Two-valued fields have two values, a range of LIDs begins before its end. */
static const struct {
	uint8_t is_generic, subscribe;
	uint16_t begin, end;
	uint16_t status;
} cases[] = {
	{1, 1, 0xFFFF, 0, IBA_STATUS_OK},      {0, 1, 0xFFFF, 0, IBA_STATUS_OK},
	{2, 1, 0xFFFF, 0, IBA_SA_REQ_INVALID}, {0xFF, 1, 0xFFFF, 0, IBA_SA_REQ_INVALID},
	{1, 2, 0xFFFF, 0, IBA_SA_REQ_INVALID}, {1, 0xFF, 0xFFFF, 0, IBA_SA_REQ_INVALID},
	{1, 1, 0xFFFF, 5, IBA_STATUS_OK},      {1, 1, 5, 0, IBA_STATUS_OK}, /* one LID */
	{1, 1, 5, 1, IBA_SA_REQ_INVALID},      {1, 1, 5, 4, IBA_SA_REQ_INVALID},
	{1, 1, 5, 5, IBA_STATUS_OK},	       {1, 1, 5, 6, IBA_STATUS_OK},
};

START_TEST(test_fields)
{
	struct iba_inform_info info = traps(64);

	info.is_generic = cases[_i].is_generic;
	info.subscribe = cases[_i].subscribe;
	info.lid_range_begin = cases[_i].begin;
	info.lid_range_end = cases[_i].end;
	ck_assert_int_eq(set_as(0, info), cases[_i].status);
	ck_assert_uint_eq(sa_subscribers_count(all.subscribers), cases[_i].status == 0);
}
END_TEST

static const uint16_t two_worlds[][4] = {{0x8001}, {0x8002}};

/* A GID must be that of a port which the subscriber may know of; the LID range is ignored then. */
START_TEST(test_gids)
{
	struct iba_inform_info info = traps(64);
	unsigned int other = 0;

	info.lid_range_begin = 5;
	info.lid_range_end = 4;
	info.gid = gid_of(3);
	ck_assert_int_eq(set_as(0, info), IBA_STATUS_OK);
	info.gid.prefix = IBA_DEFAULT_GID_PREFIX;
	ck_assert_int_eq(set_as(0, info), IBA_STATUS_OK);
	info.gid.prefix++;
	ck_assert_int_eq(set_as(0, info), IBA_SA_REQ_INVALID);
	info.lid_range_end = 6; /* ignored */
	info.gid.prefix = 0;
	ck_assert_int_eq(set_as(0, info), IBA_SA_REQ_INVALID);
	info.gid = (struct iba_gid){IBA_DEFAULT_GID_PREFIX, 0};
	ck_assert_int_eq(set_as(0, info), IBA_SA_REQ_INVALID);
	info.gid.guid = 0xDEAD;
	ck_assert_int_eq(set_as(0, info), IBA_SA_REQ_INVALID);
	subnet = with_partitions(subnet, two_worlds, 2, NULL, 0);
	while (partitions_shared(subnet->partitions, endport(subnet, 0, true),
				 endport(subnet, other, true)))
		other++;
	info.gid = gid_of(other);
	ck_assert_int_eq(set_as(0, info), IBA_SA_REQ_INVALID);
	sm_key = TEST_SA_KEY;
	ck_assert_int_eq(set_as(0, info), IBA_STATUS_OK);
}
END_TEST

/* Violations of keys, traps 256 to 259, and type Security are for trusted clients only. */
START_TEST(test_secrets)
{
	for (uint16_t trap = 254; trap <= 262; trap++) {
		bool secret = trap >= 256 && trap <= 259;
		struct iba_inform_info info = traps(trap);

		ck_assert_int_eq(set_as(0, info), secret ? IBA_SA_DENIED : IBA_STATUS_OK);
		info.is_generic = 0; /* the number is a device ID then */
		ck_assert_int_eq(set_as(0, info), IBA_STATUS_OK);
		info = traps(trap);
		info.type = IBA_NOTICE_SECURITY;
		ck_assert_int_eq(set_as(0, info), IBA_SA_DENIED);
		sm_key = TEST_SA_KEY;
		ck_assert_int_eq(set_as(0, info), IBA_STATUS_OK);
		ck_assert(find(0, OWN_QP, info)->trusted);
		sm_key = 0;
		ck_assert_int_eq(set_as(0, no_more(info)), IBA_SA_DENIED);
	}
	ck_assert(!find(0, OWN_QP, traps(254))->trusted);
}
END_TEST

/* ---- the end ---- */

/* The named QP is unsubscribed if it subscribed, else the requester's; no other port's. */
START_TEST(test_end)
{
	const struct vendor_address other = {.lid = 1, .qpn = 5};
	struct iba_inform_info info = traps(64), named = no_more(info);

	named.qpn = other.qpn;
	ck_assert_ptr_nonnull(
		sa_subscribers_add(all.subscribers, guid_of(0), &other, &info, false));
	ck_assert_int_eq(set_as(0, info), IBA_STATUS_OK);
	ck_assert_int_eq(set_as(1, no_more(info)), IBA_SA_REQ_INVALID); /* another port's */
	ck_assert_uint_eq(sa_subscribers_count(all.subscribers), 2);
	ck_assert_int_eq(set_as(0, named), IBA_STATUS_OK);
	ck_assert_ptr_null(find(0, other.qpn, info));
	ck_assert_ptr_nonnull(find(0, OWN_QP, info));
	ck_assert_int_eq(set_as(0, named), IBA_STATUS_OK);
	ck_assert_ptr_null(find(0, OWN_QP, info));
	ck_assert_int_eq(set_as(0, named), IBA_SA_REQ_INVALID);
}
END_TEST

/* RespTimeValue does not make another subscription; the answer repeats the request. */
START_TEST(test_again)
{
	struct iba_inform_info info = traps(64), got;
	struct sa_subscription *subscription;
	uint64_t id;
	struct told told;

	ck_assert_int_eq(set_as(0, info), IBA_STATUS_OK);
	subscription = find(0, OWN_QP, info);
	id = subscription->id;
	subscription->unanswered = 2;
	subscription->to.lid = 7;
	info.resp_time_value = 18;
	told = ask(0, IBA_METHOD_SET, IBA_ATTR_INFORM_INFO, 0, &iba_inform_info_type, &info);
	told_record(&told, &iba_inform_info_type, 0, &got);
	ck_assert(got.trap_number == 64 && got.subscribe == 1 && got.resp_time_value == 18);
	told_clear(&told);
	ck_assert_uint_eq(sa_subscribers_count(all.subscribers), 1);
	ck_assert_uint_eq(subscription->id, id);
	ck_assert_uint_eq(subscription->unanswered, 0); /* it lives */
	ck_assert_uint_eq(subscription->to.lid,
			  subnet->fabric->ports[endport(subnet, 0, true)].lid);
	info.resp_time_value = 3;
	ck_assert_int_eq(set_as(0, no_more(info)), IBA_STATUS_OK);
}
END_TEST

/* Subscriptions to a port that is gone, or out of reach by now, last until unsubscribed. */
START_TEST(test_end_of_unknown)
{
	const struct vendor_address own = {.lid = 1, .qpn = OWN_QP};
	struct iba_inform_info gone = traps(64), hidden = traps(65), none = traps(66);
	unsigned int other = 0;

	gone.gid = none.gid = (struct iba_gid){subnet->options->subnet_prefix, 0xDEAD};
	subnet = with_partitions(subnet, two_worlds, 2, NULL, 0);
	while (partitions_shared(subnet->partitions, endport(subnet, 0, true),
				 endport(subnet, other, true)))
		other++;
	hidden.gid = gid_of(other);
	sa_subscribers_add(all.subscribers, guid_of(0), &own, &gone, false);
	sa_subscribers_add(all.subscribers, guid_of(0), &own, &hidden, false);
	ck_assert_int_eq(set_as(0, gone), IBA_SA_REQ_INVALID);
	ck_assert_int_eq(set_as(0, hidden), IBA_SA_REQ_INVALID);
	ck_assert_int_eq(set_as(other, no_more(gone)), IBA_SA_REQ_INVALID); /* another port's */
	ck_assert_int_eq(set_as(0, no_more(none)), IBA_SA_REQ_INVALID);
	ck_assert_uint_eq(sa_subscribers_count(all.subscribers), 2);
	ck_assert_int_eq(set_as(0, no_more(gone)), IBA_STATUS_OK);
	ck_assert_int_eq(set_as(0, no_more(hidden)), IBA_STATUS_OK);
	ck_assert_uint_eq(sa_subscribers_count(all.subscribers), 0);
}
END_TEST

START_TEST(test_bounds)
{
	struct iba_inform_info info = traps(0);

	for (; info.trap_number < SA_SUBSCRIPTIONS_OF_PORT; info.trap_number++)
		ck_assert_int_eq(set_as(0, info), IBA_STATUS_OK);
	ck_assert_int_eq(set_as(0, info), IBA_SA_NO_RESOURCES);
	ck_assert_int_eq(set_as(1, info), IBA_STATUS_OK); /* another port may */
	ck_assert_uint_eq(sa_subscribers_of(all.subscribers, guid_of(0)), SA_SUBSCRIPTIONS_OF_PORT);
	ck_assert_int_eq(set_as(0, no_more(traps(5))), IBA_STATUS_OK);
	ck_assert_int_eq(set_as(0, info), IBA_STATUS_OK);
}
END_TEST

static void on_added(void *arg, struct sa_subscription *subscription)
{
	g_string_append_printf(arg, "+%u ", subscription->info.trap_number);
}

static void on_removed(void *arg, struct sa_subscription *subscription)
{
	g_string_append_printf(arg, "-%u ", subscription->info.trap_number);
}

/* Both watchers are told of each subscription that is added, renewed, ended, and forgotten. */
START_TEST(test_watch)
{
	static const struct sa_subscribers_watch watch = {.added = on_added, .removed = on_removed};
	g_autoptr(GString) first = g_string_new(NULL), second = g_string_new(NULL);

	sa_subscribers_watch(all.subscribers, &watch, first);
	sa_subscribers_watch(all.subscribers, &watch, second);
	for (uint16_t trap = 64; trap < 67; trap++)
		ck_assert_int_eq(set_as(0, traps(trap)), IBA_STATUS_OK);
	ck_assert_int_eq(set_as(0, traps(65)), IBA_STATUS_OK);
	ck_assert_int_eq(set_as(0, no_more(traps(66))), IBA_STATUS_OK);
	sa_subscribers_clear(all.subscribers);
	ck_assert_str_eq(first->str, "+64 +65 +66 +65 -66 -64 -65 ");
	ck_assert_str_eq(second->str, first->str);
	ck_assert_uint_eq(sa_subscribers_count(all.subscribers), 0);
}
END_TEST

/* Subscribed again while its port is not seen, it lives as long as one that is gone since then. */
START_TEST(test_again_while_absent)
{
	struct subnet *empty = make_subnet("mesh:2x2", 0, 0);

	ck_assert_int_eq(set_as(15, traps(64)), IBA_STATUS_OK);
	sa_subscribers_follow(all.subscribers, empty, 1);
	ck_assert_int_eq(set_as(15, traps(64)), IBA_STATUS_OK);
	sa_subscribers_follow(all.subscribers, empty, 1 + SA_ABSENCE_NS);
	ck_assert_uint_eq(sa_subscribers_count(all.subscribers), 1);
	sa_subscribers_follow(all.subscribers, empty, 1 + 2 * SA_ABSENCE_NS);
	ck_assert_uint_eq(sa_subscribers_count(all.subscribers), 0);
	subnet_unref(empty);
}
END_TEST

/* Registrations outlive their port for a while, or with the option not at all. */
START_TEST(test_absence)
{
	struct subnet *empty = make_subnet("mesh:2x2", 0, 0); /* which has no hosts' GUIDs */
	uint64_t now = NS_PER_S;

	for (unsigned int drop = 0; drop < 2; drop++) {
		empty->options->drop_event_subscriptions = drop;
		ck_assert_int_eq(set_as(15, traps(64)), IBA_STATUS_OK);
		sa_subscribers_follow(all.subscribers, empty, now);
		ck_assert_uint_eq(sa_subscribers_count(all.subscribers), !drop);
		sa_subscribers_follow(all.subscribers, subnet, now + 1); /* it is back */
		now += SA_ABSENCE_NS;
		sa_subscribers_follow(all.subscribers, empty, now);
		ck_assert_uint_eq(sa_subscribers_count(all.subscribers), !drop);
		sa_subscribers_follow(all.subscribers, empty, now + SA_ABSENCE_NS - 1);
		ck_assert_uint_eq(sa_subscribers_count(all.subscribers), !drop);
		now += SA_ABSENCE_NS;
		sa_subscribers_follow(all.subscribers, empty, now);
		ck_assert_uint_eq(sa_subscribers_count(all.subscribers), 0);
	}
	subnet_unref(empty);
}
END_TEST

/* ---- visibility ---- */

static unsigned int table(uint64_t mask, struct iba_inform_info_record wanted,
			  struct iba_inform_info_record *first)
{
	struct told told = ask(2, IBA_METHOD_GET_TABLE, IBA_ATTR_INFORM_INFO_RECORD, mask,
			       &iba_inform_info_record_type, &wanted);
	unsigned int n = told.n;

	ck_assert_uint_eq(told.header.status, IBA_STATUS_OK);
	if (n)
		told_record(&told, &iba_inform_info_record_type, 0, first);
	told_clear(&told);
	return n;
}

/* By subscriber and its number, whatever else is asked; QPs are shown only to trusted clients. */
START_TEST(test_records)
{
	struct iba_inform_info_record wanted = {.subscriber_gid = gid_of(1)}, got;

	ck_assert_int_eq(set_as(0, traps(64)), IBA_STATUS_OK);
	ck_assert_int_eq(set_as(1, traps(65)), IBA_STATUS_OK);
	ck_assert_uint_eq(table(0, wanted, &got), 2);
	ck_assert_uint_ne(find(0, OWN_QP, traps(64))->enumeration,
			  find(1, OWN_QP, traps(65))->enumeration);
	ck_assert_uint_eq(table(C(subscriber_gid), wanted, &got), 1);
	ck_assert_uint_eq(got.inform_info.trap_number, 65);
	ck_assert(iba_gid_equal(got.subscriber_gid, gid_of(1)));
	ck_assert_uint_eq(got.inform_info.qpn, 0);
	wanted.subscriber_gid.prefix = IBA_DEFAULT_GID_PREFIX;
	ck_assert_uint_eq(table(UINT64_MAX & ~C(enumeration), wanted, &got), 1);
	wanted.enumeration = got.enumeration;
	ck_assert_uint_eq(table(C(subscriber_gid) | C(enumeration), wanted, &got), 1);
	wanted.enumeration++;
	ck_assert_uint_eq(table(C(subscriber_gid) | C(enumeration), wanted, &got), 0);
	wanted.subscriber_gid.prefix++;
	ck_assert_uint_eq(table(C(subscriber_gid), wanted, &got), 0);
	sm_key = TEST_SA_KEY;
	ck_assert_uint_eq(table(0, wanted, &got), 2);
	ck_assert_uint_eq(got.inform_info.qpn, OWN_QP);
}
END_TEST

/* Only trusted clients see those of a port that is gone. */
START_TEST(test_records_of_who_is_gone)
{
	const struct vendor_address to = {.lid = 1, .qpn = 5};
	const struct iba_inform_info info = traps(64);
	struct iba_inform_info_record got;

	ck_assert_ptr_nonnull(sa_subscribers_add(all.subscribers, 0xDEAD, &to, &info, false));
	ck_assert_uint_eq(table(0, (struct iba_inform_info_record){0}, &got), 0);
	ck_assert_int_eq(set_as(0, info), IBA_STATUS_OK); /* after the other */
	ck_assert_uint_eq(table(0, (struct iba_inform_info_record){0}, &got), 1);
	sm_key = TEST_SA_KEY;
	ck_assert_uint_eq(table(0, (struct iba_inform_info_record){0}, &got), 2);
	ck_assert_uint_eq(got.subscriber_gid.guid, 0xDEAD);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_inform");
	TCase *tcase = tcase_create("inform");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_fields, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tcase, test_gids);
	tcase_add_test(tcase, test_secrets);
	tcase_add_test(tcase, test_end);
	tcase_add_test(tcase, test_end_of_unknown);
	tcase_add_test(tcase, test_again);
	tcase_add_test(tcase, test_bounds);
	tcase_add_test(tcase, test_watch);
	tcase_add_test(tcase, test_again_while_absent);
	tcase_add_test(tcase, test_absence);
	tcase_add_test(tcase, test_records);
	tcase_add_test(tcase, test_records_of_who_is_gone);
	suite_add_tcase(suite, tcase);
	return suite;
}
