// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* SMAs that need long to answer: what is learned of them, and that others do not suffer. */
#include <check.h>

#include "mad/mad_private.h"
#include "tests/run_suite.h"
#include "tests/unit/mad_port.h"

#define SLOW 77 /* the GUID of a slow one */
#define SLOW_MS 900
#define GIVEN_UP_MS (8 * TIMEOUT_MS) /* all tries of a request have failed by then */

static void send_block(uint64_t target, uint8_t method, uint32_t modifier)
{
	struct tracked *tracked = make(target, 1);

	tracked->mad.method = method;
	tracked->mad.modifier = modifier;
	mad_send(mad, &tracked->mad);
	run_ms(0);
}

/* Many others are quick. */
static void know_others(void)
{
	for (unsigned int i = 0; i < 100; i++) {
		send_one(1000 + i, 1);
		answer(sent_at(port.sent->len - 1));
	}
	done_ok = 0;
}

/* Milliseconds until the last request is sent again. */
static unsigned int retried_after(void)
{
	unsigned int before = port.sent->len, ms = 0;

	for (; port.sent->len == before && ms < 100000; ms++)
		run_ms(1);
	return ms;
}

/* One that answers after its request was given up. */
static void meet_slow(void)
{
	unsigned int first = port.sent->len;

	send_one(SLOW, 1);
	run_ms(SLOW_MS);
	answer(sent_at(first));
	ck_assert_uint_eq(done_ok, 1);
	run_ms(GIVEN_UP_MS);
}

/* It is waited for as long as it needs, whether its first answer was late or far too late. */
START_TEST(waited_for)
{
	unsigned int first;

	start();
	know_others();
	first = port.sent->len;
	send_one(SLOW, 1);
	run_ms(_i ? GIVEN_UP_MS : SLOW_MS);
	ck_assert_uint_eq(done_timeout, _i);
	answer(sent_at(first));
	ck_assert_uint_eq(done_ok, !_i);
	ck_assert_uint_eq(count(smp_late), _i);
	run_ms(10000);
	send_one(SLOW, 1);
	ck_assert_uint_gt(retried_after(), SLOW_MS);
	answer(sent_at(port.sent->len - 1));
	ck_assert_uint_eq(done_ok, 1 + !_i);
}
END_TEST

/* Others are waited for as usual, except for a moment. */
START_TEST(others_are_not)
{
	start();
	know_others();
	meet_slow();
	send_one(5, 1);
	ck_assert_uint_le(retried_after(), 100);
	answer(sent_at(port.sent->len - 1));
	know_others();
	send_one(5, 1);
	ck_assert_uint_le(retried_after(), 21);
	answer(sent_at(port.sent->len - 1));
	for (unsigned int i = 0; i < 40; i++) { /* whatever other requests it gets */
		send_one(SLOW, 1);
		run_ms(SLOW_MS);
		answer(sent_at(port.sent->len - 1));
	}
	send_one(5, 1);
	ck_assert_uint_le(retried_after(), 21);
}
END_TEST

/* A repeated request needs no answer of its own; a first one does. */
START_TEST(late_answer_counts)
{
	unsigned int first;

	start();
	know_others();
	first = port.sent->len;
	send_block(SLOW, IBA_METHOD_GET, 3);
	run_ms(GIVEN_UP_MS);
	ck_assert_uint_eq(done_timeout, 1);
	send_block(SLOW, IBA_METHOD_GET, 4);
	send_block(SLOW, IBA_METHOD_GET, 3);
	if (_i)
		run_ms(TIMEOUT_MS); /* one of them waits for its turn by now */
	answer(sent_at(first));
	ck_assert_uint_eq(done_ok, 1);
	run_ms(60 * 1000);
	ck_assert_uint_eq(done_ok, 1);
	ck_assert_uint_eq(done_timeout, 2);
}
END_TEST

/* A later Set may have written since; a forged answer never counts. */
START_TEST(late_answer_to_a_set)
{
	unsigned int first;

	start();
	know_others();
	first = port.sent->len;
	send_block(SLOW, IBA_METHOD_SET, 3);
	run_ms(GIVEN_UP_MS);
	send_block(SLOW, IBA_METHOD_SET, 3);
	answer_changed(sent_at(first), 23, 9); /* of another modifier */
	ck_assert_uint_eq(count(smp_late), 0);
	answer(sent_at(first));
	ck_assert_uint_eq(count(smp_late), 1);
	ck_assert_uint_eq(done_ok, 0);
	answer(sent_at(port.sent->len - 1));
	ck_assert_uint_eq(done_ok, 1);
}
END_TEST

static void send_many(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		send_block(SLOW, IBA_METHOD_GET, 100 + i);
}

/* One request at a time: its SMA serves them one by one. Sometimes two, to see if that is so. */
START_TEST(one_at_a_time)
{
	unsigned int seen;

	start();
	know_others();
	meet_slow();
	seen = port.sent->len;
	send_many(20);
	for (; seen < port.sent->len; seen++) {
		ck_assert_uint_le(port.sent->len - seen, 2);
		run_ms(SLOW_MS);
		answer(sent_at(seen));
	}
	ck_assert_uint_eq(done_ok, 1 + 20);
	ck_assert_uint_eq(done_timeout, 0);
}
END_TEST

/* Where answers arrive together the path is slow: as many as usual, then. */
START_TEST(far_away)
{
	unsigned int seen, at_once = 0;

	start();
	know_others();
	meet_slow();
	seen = port.sent->len;
	send_many(40);
	while (seen < port.sent->len) {
		unsigned int n = port.sent->len;

		at_once = MAX(at_once, n - seen);
		run_ms(SLOW_MS);
		for (; seen < n; seen++)
			answer(sent_at(seen));
	}
	ck_assert_uint_eq(done_ok, 1 + 40);
	ck_assert_uint_eq(at_once, TARGET_WINDOW);
}
END_TEST

/* One that is slow for a while is then treated like all others. */
START_TEST(recovers)
{
	unsigned int at_once = 0;

	start();
	know_others();
	meet_slow();
	for (unsigned int i = 0; i < 40; i++) {
		unsigned int seen = port.sent->len;

		send_many(4);
		at_once = port.sent->len - seen;
		for (; seen < port.sent->len; seen++) {
			run_ms(1);
			answer(sent_at(seen));
		}
	}
	ck_assert_uint_eq(at_once, TARGET_WINDOW);
	send_one(SLOW, 1);
	ck_assert_uint_le(retried_after(), 21);
	run_ms(10000);
	expect_nothing_left();
}
END_TEST

/* Past slowness does not count for one that was not heard for long. */
START_TEST(forgotten)
{
	start();
	know_others();
	meet_slow();
	run_ms(61 * 1000);
	know_others();
	send_one(SLOW, 1);
	ck_assert_uint_le(retried_after(), 21);
}
END_TEST

/* If it dies, that is found out in time. */
START_TEST(dies)
{
	unsigned int first;

	start();
	know_others();
	meet_slow();
	first = port.sent->len;
	send_many(10);
	run_ms(4001);
	ck_assert_uint_eq(done_timeout, 10);
	ck_assert_uint_eq(port.sent->len - first, 2);
}
END_TEST

/* Quick Gets say nothing about Sets that are slow. */
START_TEST(slow_sets)
{
	unsigned int first;

	start();
	know_others();
	first = port.sent->len;
	send_block(SLOW, IBA_METHOD_SET, 3);
	run_ms(SLOW_MS);
	answer(sent_at(first));
	run_ms(GIVEN_UP_MS);
	for (unsigned int i = 0; i < 50; i++) {
		send_block(SLOW, IBA_METHOD_GET, 3);
		run_ms(1);
		answer(sent_at(port.sent->len - 1));
	}
	send_block(SLOW, IBA_METHOD_SET, 3);
	ck_assert_uint_gt(retried_after(), SLOW_MS);
}
END_TEST

/* Identified by the cable, before its GUID is known, it is the same SMA. */
START_TEST(known_before_its_name)
{
	struct iba_node_info info = {
		.node_type = IBA_NODE_CA, .node_guid = SLOW, .local_port_num = 1};
	struct tracked *tracked = make(5, 1);
	struct vendor_mad *received;
	unsigned int first;

	start();
	know_others();
	tracked->mad.target_port = 9;
	tracked->mad.attribute = IBA_ATTR_NODE_INFO;
	tracked->mad.modifier = 0;
	first = port.sent->len;
	mad_send(mad, &tracked->mad);
	run_ms(SLOW_MS);
	received = vendor_mad_new(&port.base, sent_at(first)->data, IBA_MAD_BYTES);
	received->data[3] = IBA_METHOD_GET_RESP;
	received->data[4] = 0x80;
	wire_encode(&iba_node_info_type, &info, received->data + 64);
	deliver(received);
	ck_assert_uint_eq(done_ok, 1);
	tracked = make(SLOW, 1);
	tracked->mad.target_port = 1;
	mad_send(mad, &tracked->mad);
	run_ms(0);
	ck_assert_uint_gt(retried_after(), SLOW_MS);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("mad_slow");
	TCase *tcase = tcase_create("mad_slow");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, waited_for, 0, 2);
	tcase_add_test(tcase, others_are_not);
	tcase_add_loop_test(tcase, late_answer_counts, 0, 2);
	tcase_add_test(tcase, late_answer_to_a_set);
	tcase_add_test(tcase, one_at_a_time);
	tcase_add_test(tcase, far_away);
	tcase_add_test(tcase, recovers);
	tcase_add_test(tcase, forgotten);
	tcase_add_test(tcase, dies);
	tcase_add_test(tcase, slow_sets);
	tcase_add_test(tcase, known_before_its_name);
	suite_add_tcase(suite, tcase);
	return suite;
}
