// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Transactions over a port that is a list: tests look at what was sent, and make up what comes
 * back, in virtual time.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "mad/late.h"
#include "mad/window.h"
#include "tests/run_suite.h"
#include "tests/unit/mad_port.h"

#define OWN_LID 7

/* ---- tests ---- */

START_TEST(test_answer)
{
	start();
	send_one(1, 2);
	ck_assert_uint_eq(port.sent->len, 1);
	ck_assert_uint_eq(sent_at(0)->data[1], IBA_CLASS_SUBN_DIRECTED);
	ck_assert_uint_eq(sent_at(0)->data[7], 2);
	ck_assert_uint_eq(sent_at(0)->data[129], 11);
	ck_assert_uint_eq(sent_at(0)->data[130], 12);
	ck_assert_uint_eq(sent_at(0)->to.lid, IBA_LID_PERMISSIVE);
	ck_assert_uint_eq(sent_at(0)->timeout_ms, LATE_MS); /* the device accepts late answers */
	answer(sent_at(0));
	ck_assert_uint_eq(done_ok, 1);
	run_ms(10000);
	ck_assert_uint_eq(port.sent->len, 1);
	ck_assert_uint_eq(count(smp_sent), 1);
	ck_assert_uint_eq(count(smp_received), 1);
	ck_assert_uint_eq(count(smp_directed), 1);
	ck_assert_uint_eq(count(smp_directed_hops), 2);
	ck_assert_uint_eq(count(smp_retries) + count(smp_timeouts) + count(mad_unknown), 0);
	ck_assert_uint_eq(count(smp_bad_status), 0);
}
END_TEST

START_TEST(test_status)
{
	start();
	send_one(1, 1);
	answer_changed(sent_at(0), 5, 0x1C);
	ck_assert_uint_eq(done_status, 1);
	ck_assert_uint_eq(count(smp_bad_status), 1);
}
END_TEST

/* _i 0: the device never reports a timeout; 1: it does, sooner than requested. */
START_TEST(test_retries)
{
	start();
	send_one(1, 1);
	for (unsigned int i = 0; _i && i < 4; i++) {
		run_ms(TIMEOUT_MS - 1);
		ck_assert_uint_eq(done_timeout, 0);
		report(sent_at(i), VENDOR_TIMED_OUT);
	}
	run_ms(_i ? 0 : 10000);
	ck_assert_uint_eq(port.sent->len, 4);
	ck_assert_uint_eq(done_timeout, 1);
	ck_assert_uint_eq(count(smp_sent), 4);
	ck_assert_uint_eq(count(smp_retries), 3);
	ck_assert_uint_eq(count(smp_timeouts), 1);
	for (unsigned int i = 1; !_i && i < 4; i++) {
		uint64_t gap = sent_at(i)->when - sent_at(i - 1)->when;

		ck_assert_uint_eq(gap, TIMEOUT_MS * NS_PER_MS);
	}
	report(sent_at(3), VENDOR_TIMED_OUT); /* late: no request waits any more */
	answer(sent_at(0));
	answer(sent_at(0));
	ck_assert_uint_eq(done_timeout + done_ok, 1);
	ck_assert_uint_eq(count(smp_late), 1);
	ck_assert_uint_eq(count(mad_unknown), 1);
}
END_TEST

/* A try that the device refuses was not made: it is repeated later, under another TID. */
START_TEST(test_refused)
{
	start();
	send_one(1, 1);
	for (unsigned int i = 0; i < 3; i++) {
		report(sent_at(i), VENDOR_FAILED);
		ck_assert_uint_eq(port.sent->len, i + 1);
		run_ms(TIMEOUT_MS + 1);
		ck_assert_uint_eq(port.sent->len, i + 2);
		ck_assert_uint_ne(tid_of(sent_at(i)), tid_of(sent_at(i + 1)));
	}
	run_ms(10000);
	ck_assert_uint_eq(port.sent->len, 3 + 4);
	ck_assert_uint_eq(done_timeout, 1);
	ck_assert_uint_eq(never_sent, 0);
}
END_TEST

/* Endless refusals end the request all the same, but prove nothing about its target. */
START_TEST(test_always_refused)
{
	start();
	for (unsigned int i = 0; i < 5; i++)
		mad_send(mad, &make(1, 1)->mad);
	run_ms(0);
	for (unsigned int i = 0; i < port.sent->len && i < 1000; i++) {
		report(sent_at(i), VENDOR_FAILED);
		if (i + 1 == port.sent->len)
			run_ms(TIMEOUT_MS + 1);
	}
	ck_assert_uint_eq(done_timeout, 5);
	ck_assert_uint_eq(never_sent, 5);
	ck_assert_uint_eq(done_dead, 0);
	ck_assert_uint_gt(port.sent->len, 5 * 4);
}
END_TEST

/* The device reports each timeout when our own deadline has passed and the next try is out. */
START_TEST(test_timeouts_reported_late)
{
	start();
	send_one(1, 1);
	for (unsigned int i = 0; i < 3; i++) {
		run_ms(TIMEOUT_MS * 5 / 4 + 2);
		ck_assert_uint_eq(port.sent->len, i + 2);
		report(sent_at(i), VENDOR_TIMED_OUT);
		ck_assert_uint_eq(port.sent->len, i + 2);
	}
	answer(sent_at(3));
	ck_assert_uint_eq(done_ok, 1);
}
END_TEST

/* Knowing the TIDs so far does not help to guess the next one: not near them nor by halves. */
START_TEST(test_tids_are_no_sequence)
{
	uint32_t last = 0, near = 0, same_low = 0;

	start();
	for (unsigned int i = 0; i < 1000; i++) {
		send_one(1 + i, 1);
		near += tid_of(sent_at(i)) - last + 0x100000 < 0x200000;
		same_low += (tid_of(sent_at(i)) & 0x1FFF) == (last & 0x1FFF);
		last = tid_of(sent_at(i));
		answer(sent_at(i));
	}
	ck_assert_uint_eq(done_ok, 1000);
	ck_assert_uint_lt(near, 10);
	ck_assert_uint_lt(same_low, 10);
}
END_TEST

/* The kernel refuses a request equal in TID and class to one that it still holds. */
START_TEST(test_tid_of_each_try)
{
	g_autoptr(GHashTable) tids = g_hash_table_new(NULL, NULL);

	start();
	for (unsigned int i = 0; i < 10; i++)
		mad_send(mad, &make(i, 1)->mad);
	run_ms(10000);
	ck_assert_uint_eq(port.sent->len, 40);
	for (unsigned int i = 0; i < port.sent->len; i++)
		ck_assert(g_hash_table_add(tids, GUINT_TO_POINTER(tid_of(sent_at(i)))));
}
END_TEST

START_TEST(test_tries_of_the_request)
{
	struct tracked *tracked;

	start();
	tracked = make(1, 1);
	tracked->mad.tries = 2;
	mad_send(mad, &tracked->mad);
	run_ms(10000);
	ck_assert_uint_eq(port.sent->len, 2);
	ck_assert_uint_eq(done_timeout, 1);
}
END_TEST

static void send_as(uint8_t method, bool gets_only)
{
	struct tracked *tracked = make(1, 1);

	tracked->mad.method = method;
	tracked->mad.gets_only = gets_only;
	mad_send(mad, &tracked->mad);
	run_ms(1);
}

/* In a dry run, and in a daemon that does nothing else. */
START_TEST(test_nothing_but_gets)
{
	const struct vendor_address to = {.lid = 1};

	context.gets_only = _i;
	start();
	send_as(IBA_METHOD_GET, !_i);
	ck_assert_uint_eq(port.sent->len, 1);
	send_as(IBA_METHOD_SET, !_i);
	send_as(IBA_METHOD_TRAP_REPRESS, !_i);
	if (_i)
		mad_post(mad, &to, g_malloc0(IBA_MAD_BYTES), IBA_MAD_BYTES);
	run_ms(1);
	ck_assert_uint_eq(port.sent->len, 1);
	ck_assert_uint_eq(done_cancelled, 2);
	ck_assert_uint_eq(never_sent, 2);
	if (!_i) { /* the master beside it goes on */
		send_as(IBA_METHOD_SET, false);
		ck_assert_uint_eq(port.sent->len, 2);
	}
}
END_TEST

/* The answer to the first try comes after the second was sent: it counts, once. */
START_TEST(test_late_and_duplicate_answers)
{
	start();
	send_one(1, 1);
	run_ms(TIMEOUT_MS);
	report(sent_at(0), VENDOR_TIMED_OUT);
	ck_assert_uint_eq(port.sent->len, 2);
	answer(sent_at(0));
	ck_assert_uint_eq(done_ok, 1);
	answer(sent_at(1));
	answer(sent_at(1));
	ck_assert_uint_eq(done_ok, 1);
	ck_assert_uint_eq(count(smp_late), 1);
	ck_assert_uint_eq(count(mad_unknown), 1);
	send_one(1, 1); /* possibly in the same slot */
	ck_assert_uint_ne(tid_of(sent_at(2)), tid_of(sent_at(0)));
	answer(sent_at(0));
	ck_assert_uint_eq(done_ok, 1);
	answer(sent_at(2));
	ck_assert_uint_eq(done_ok, 2);
}
END_TEST

static const struct forgery {
	unsigned int at;
	uint8_t value;
	bool malformed;
} forgeries[] = {
	{0, 2, true},				/* base version */
	{3, IBA_METHOD_GET_RESP | 0x20, false}, /* method */
	{3, 0x86, false},			/* ReportResp */
	{12, 0x77, false},			/* TID: age */
	{14, 0x7F, false},			/* TID: age and slot */
	{16, 0xFF, false},			/* attribute */
	{17, 0x10, false},
	{20, 0x80, false}, /* modifier */
	{23, 4, false},
};

START_TEST(test_forged_answers)
{
	const struct forgery *forgery = &forgeries[_i];

	start();
	send_one(1, 1);
	answer_changed(sent_at(0), forgery->at, forgery->value);
	ck_assert_uint_eq(done_ok + done_status + done_timeout, 0);
	ck_assert_uint_eq(count(mad_malformed), forgery->malformed);
	ck_assert_uint_eq(count(mad_unknown), !forgery->malformed);
	answer(sent_at(0));
	ck_assert_uint_eq(done_ok, 1);
}
END_TEST

/* A response of the SA with the TID of an SMP does not answer that SMP. */
START_TEST(test_answer_of_another_class)
{
	start();
	send_one(1, 1);
	answer_changed(sent_at(0), 1, IBA_CLASS_SUBN_ADM);
	ck_assert_uint_eq(done_ok + done_status + done_timeout, 0);
	ck_assert_uint_eq(count(mad_unhandled), 1);
	answer(sent_at(0));
	ck_assert_uint_eq(done_ok, 1);
}
END_TEST

START_TEST(test_short_mads)
{
	start();
	send_one(1, 1);
	for (unsigned int length = 0; length < 256; length++) {
		struct vendor_mad *received =
			vendor_mad_new(&port.base, sent_at(0)->data, IBA_MAD_BYTES);

		received->data[3] = IBA_METHOD_GET_RESP;
		received->length = length;
		deliver(received);
	}
	ck_assert_uint_eq(done_ok, 0);
	ck_assert_uint_eq(count(mad_malformed), 256);
	answer(sent_at(0));
	ck_assert_uint_eq(done_ok, 1);
}
END_TEST

/* ---- the window ---- */

static unsigned int in_flight_max(unsigned int requests)
{
	unsigned int answered = 0, most = 0;

	for (unsigned int i = 0; i < requests; i++)
		mad_send(mad, &make(1 + i, 1)->mad);
	run_ms(0);
	while (answered < port.sent->len) {
		most = MAX(most, port.sent->len - answered);
		answer(sent_at(answered++));
	}
	ck_assert_uint_eq(done_ok, requests);
	ck_assert_uint_eq(port.sent->len, requests);
	return most;
}

START_TEST(test_window_never_exceeded)
{
	static const unsigned int limits[][3] = {
		/* max_wire_smps, device, expected */
		{0, 1000, 1000}, {0, 5000, 4096}, {32, 1000, 32}, {100, 20, 20},
		{1, 1000, 1},	 {3, 1000, 3},	  {0, 1, 1},	  {0, 0, 1},
	};

	options->max_wire_smps = limits[_i][0];
	slot_publish(&context.options, options_ref(options));
	port.base.max_outstanding = limits[_i][1];
	start();
	ck_assert_uint_eq(in_flight_max(10000), limits[_i][2]);
}
END_TEST

/* Number of slots used by the sends from `first` on: at most as many were in flight. */
static unsigned int slots_since(unsigned int first)
{
	g_autoptr(GHashTable) slots = g_hash_table_new(NULL, NULL);

	for (unsigned int i = first; i < port.sent->len; i++)
		g_hash_table_add(slots, GUINT_TO_POINTER(tid_of(sent_at(i)) & 0xFFF));
	return g_hash_table_size(slots);
}

/* How many of `n` requests to live targets go out before one is answered. */
static unsigned int room_now(unsigned int n)
{
	static unsigned int target = 100000;
	unsigned int before = port.sent->len, room;

	for (unsigned int i = 0; i < n; i++)
		mad_send(mad, &make(target++, 1)->mad);
	run_ms(0);
	room = slots_since(before);
	for (unsigned int i = before; i < port.sent->len; i++)
		answer(sent_at(i));
	return room;
}

/* Answers that took two tries shrink it, those that took one let it grow. */
START_TEST(test_window_shrinks_and_grows)
{
	unsigned int before;

	start();
	in_flight_max(1000);
	ck_assert_uint_gt(room_now(3000), 400);
	for (unsigned int round = 0; round < 8; round++) {
		before = port.sent->len;
		send_one(1, 1);
		run_ms(2 * TIMEOUT_MS);
		answer(sent_at(port.sent->len - 1));
		ck_assert_uint_gt(port.sent->len, before + 1);
	}
	ck_assert_uint_le(room_now(100), WINDOW_MIN);
	room_now(1000);
	ck_assert_uint_gt(room_now(1000), WINDOW_MIN + 10);
}
END_TEST

/* Dead targets say nothing about what the fabric can carry. */
START_TEST(test_window_not_shrunk_by_the_dead)
{
	start();
	in_flight_max(1000);
	for (unsigned int i = 0; i < 300; i++)
		mad_send(mad, &make(5000 + i, 1)->mad);
	run_ms(100 * TIMEOUT_MS);
	ck_assert_uint_eq(done_timeout, 300);
	ck_assert_uint_gt(room_now(3000), 400);
}
END_TEST

/* Nor do they take the window from live ones, except while their first try is out. */
START_TEST(test_window_not_held_by_the_dead)
{
	unsigned int answered = 0;

	options->max_wire_smps = 8;
	slot_publish(&context.options, options_ref(options));
	start();
	for (unsigned int i = 0; i < 12 * 6; i++)
		mad_send(mad, &make(1 + i % 12, 1)->mad);
	for (unsigned int i = 0; i < 400; i++)
		mad_send(mad, &make(100 + i % 40, 2)->mad);
	for (unsigned int ms = 0; ms < 8 * TIMEOUT_MS; ms++) {
		run_ms(1);
		for (; answered < port.sent->len; answered++)
			if (sent_at(answered)->data[7] == 2)
				answer(sent_at(answered));
	}
	ck_assert_uint_eq(done_ok, 400);
	run_ms(10 * TIMEOUT_MS);
	ck_assert_uint_eq(done_timeout, 12 * 6);
	ck_assert_uint_ge(never_sent, 12 * 2);
}
END_TEST

static void use_limits(unsigned int first, unsigned int second, unsigned int timeout_us)
{
	options->max_wire_smps = first;
	options->max_wire_smps2 = second;
	options->max_smps_timeout = timeout_us;
	slot_publish(&context.options, options_ref(options));
}

/* Full and without an answer, the window lets out one more at a time, up to the second limit. */
START_TEST(test_window_second_limit)
{
	use_limits(4, 7, 2000);
	start();
	for (unsigned int i = 0; i < 20; i++)
		mad_send(mad, &make(1 + i, 1)->mad);
	run_ms(0);
	for (unsigned int n = 4; n <= 7; n++) {
		ck_assert_uint_eq(port.sent->len, n);
		run_ms(1);
		ck_assert_uint_eq(port.sent->len, n);
		run_ms(1);
	}
	run_ms(4);
	ck_assert_uint_eq(port.sent->len, 7);
	for (unsigned int i = 0; i < 3; i++) /* the first limit counts again: 4 are left */
		answer(sent_at(i));
	ck_assert_uint_eq(port.sent->len, 7);
	answer(sent_at(3));
	ck_assert_uint_eq(port.sent->len, 8);
	run_ms(1);
	answer(sent_at(4)); /* the interval begins again */
	ck_assert_uint_eq(port.sent->len, 9);
	run_ms(1);
	ck_assert_uint_eq(port.sent->len, 9);
	run_ms(1);
	ck_assert_uint_eq(port.sent->len, 10);
}
END_TEST

/* Unless it is above the first one, which may be changed at any time. */
START_TEST(test_window_without_second_limit)
{
	static const unsigned int off[][2] = {{4, 4}, {4, 0}, {4, 3}};

	use_limits(off[_i][0], off[_i][1], 1000);
	start();
	for (unsigned int i = 0; i < 20; i++)
		mad_send(mad, &make(1 + i, 1)->mad);
	run_ms(10);
	ck_assert_uint_eq(port.sent->len, 4);
	use_limits(4, INT32_MAX, 1000);
	event_emit(&context.bus, EVENT_OPTIONS_CHANGED, 0);
	run_ms(0);
	answer(sent_at(0));
	run_ms(4);
	ck_assert_uint_eq(port.sent->len, 5 + 4);
	use_limits(4, 0, 1000);
	event_emit(&context.bus, EVENT_OPTIONS_CHANGED, 0);
	run_ms(1);
	ck_assert_uint_eq(port.sent->len, 5 + 4);
}
END_TEST

/* How long the live ones take beside many dead ones, in ms. */
static unsigned int beside_the_dead(unsigned int first, unsigned int second, unsigned int us)
{
	unsigned int answered = 0, ms = 0;

	use_limits(first, second, us);
	start();
	for (unsigned int i = 0; i < 200; i++)
		mad_send(mad, &make(1 + i, 1)->mad);
	for (unsigned int i = 0; i < 200; i++)
		mad_send(mad, &make(1000 + i, 2)->mad);
	for (; done_ok < 200 && ms < 20000; ms++) {
		run_ms(1);
		for (; answered < port.sent->len; answered++)
			if (sent_at(answered)->data[7] == 2)
				answer(sent_at(answered));
	}
	return ms;
}

START_TEST(test_window_second_limit_beside_the_dead)
{
	static const struct {
		unsigned int first, second, timeout_us, least, most;
	} of[] = {
		{4, 0, 2000, 9000, 11000},
		{4, 64, 600000, 3000, 6000},
		{4, 64, 2000, 0, 1000},
	};
	unsigned int ms = beside_the_dead(of[_i].first, of[_i].second, of[_i].timeout_us);

	ck_assert_uint_ge(ms, of[_i].least);
	ck_assert_uint_le(ms, of[_i].most);
}
END_TEST

/* ---- targets ---- */

START_TEST(test_four_to_a_target_and_fair)
{
	start();
	for (unsigned int i = 0; i < 100; i++)
		mad_send(mad, &make(1, 1)->mad);
	for (unsigned int i = 0; i < 3; i++)
		mad_send(mad, &make(2, 2)->mad);
	run_ms(0);
	ck_assert_uint_eq(port.sent->len, 4 + 3);
	for (unsigned int i = 0; i < port.sent->len; i++)
		answer(sent_at(i));
	ck_assert_uint_eq(done_ok, 103);
	ck_assert_uint_eq(port.sent->len, 103);
}
END_TEST

/* With room for few in all, two targets get equal shares and each keeps its own order. */
START_TEST(test_turns)
{
	unsigned int of_first = 0;

	options->max_wire_smps = 4;
	slot_publish(&context.options, options_ref(options));
	start();
	for (unsigned int i = 0; i < 200; i++) {
		struct tracked *tracked = make(1 + i / 100, 1 + i / 100);

		tracked->mad.modifier = i % 100;
		mad_send(mad, &tracked->mad);
	}
	run_ms(0);
	for (unsigned int i = 0; i < port.sent->len; i++) {
		bool first = sent_at(i)->data[7] == 1;

		ck_assert_uint_eq(sent_at(i)->data[23], first ? of_first : i - of_first);
		of_first += first;
		if (i >= 8 && i < 180)
			ck_assert_int_le(abs((int)(2 * of_first) - (int)(i + 1)), 8);
		answer(sent_at(i));
	}
	ck_assert_uint_eq(done_ok, 200);
}
END_TEST

/* ---- routes ---- */

static void set_own_lid(uint16_t lid)
{
	mad_set_own_lid(mad, lid, 3);
	run_ms(0);
}

static void send_to_lid(void)
{
	struct tracked *tracked = make(1, 3);

	tracked->mad.route.lid = 42;
	mad_send(mad, &tracked->mad);
	run_ms(0);
}

static void check_form(const struct sent *sent, bool by_lid)
{
	ck_assert_uint_eq(sent->data[1], by_lid ? IBA_CLASS_SUBN_LID : IBA_CLASS_SUBN_DIRECTED);
	ck_assert_uint_eq(sent->to.lid, by_lid ? 42 : IBA_LID_PERMISSIVE);
	ck_assert_uint_eq(sent->to.sl, by_lid ? 3 : 0);
}

START_TEST(test_lid_first_then_directed)
{
	start();
	send_to_lid();
	ck_assert_uint_eq(port.sent->len, 1);
	check_form(sent_at(0), false); /* the SM has no LID to be answered at */
	answer(sent_at(0));
	set_own_lid(OWN_LID);
	send_to_lid();
	ck_assert_uint_eq(port.sent->len, 3);
	check_form(sent_at(1), false);
	check_form(sent_at(2), true); /* the probe: NodeInfo */
	ck_assert_uint_eq(sent_at(2)->data[17], IBA_ATTR_NODE_INFO);
	answer(sent_at(1));
	answer(sent_at(2));
	ck_assert_uint_eq(done_ok, 2);
	send_to_lid();
	answer_from(sent_at(3), 43, 65, 0); /* another port guessed the TID */
	ck_assert_uint_eq(done_ok, 2);
	ck_assert_uint_eq(count(mad_unknown), 1);
	run_ms(10000);
	/* Tries that wait as long as answers take to come, then four that wait the full time. */
	ck_assert_uint_ge(port.sent->len, 3 + 4);
	for (unsigned int i = 3; i < port.sent->len; i++) {
		check_form(sent_at(i), i % 2);
	}
}
END_TEST

/* The caller learns whether it took the directed route because the shorter one failed. */
START_TEST(test_falls_back)
{
	unsigned int before;

	start();
	set_own_lid(OWN_LID);
	send_to_lid();
	answer(sent_at(0));
	answer(sent_at(1)); /* the probe */
	send_to_lid();
	answer(sent_at(2));
	ck_assert_uint_eq(done_ok, 2);
	ck_assert_uint_eq(done_fell_back, 0);
	for (unsigned int try = 1; try < 4; try++) {
		before = port.sent->len;
		send_to_lid();
		while (port.sent->len <= before + try)
			run_ms(1);
		answer(sent_at(before + try));
		/* Each second try is directed; the third goes by LID again, and works. */
		ck_assert_uint_eq(done_ok, 2 + try);
		ck_assert_uint_eq(done_fell_back, (try + 1) / 2);
	}
	before = port.sent->len;
	send_to_lid();
	while (port.sent->len <= before + 1)
		run_ms(1);
	answer(sent_at(before)); /* by LID, only late */
	ck_assert_uint_eq(done_fell_back, 2);
	expect_nothing_left();
}
END_TEST

static bool is_mixed(const struct sent *sent)
{
	return sent->data[1] == IBA_CLASS_SUBN_DIRECTED && sent->to.lid == 42;
}

static void send_behind(uint64_t target, uint8_t via_hops)
{
	struct tracked *tracked = make(target, 3);

	tracked->mad.route.via = 42;
	tracked->mad.route.via_hops = via_hops;
	mad_send(mad, &tracked->mad);
	run_ms(0);
}

START_TEST(test_mixed_after_the_probe)
{
	start();
	set_own_lid(OWN_LID);
	send_behind(1, 1);
	ck_assert_uint_eq(port.sent->len, 2);
	ck_assert(!is_mixed(sent_at(0)));
	ck_assert(is_mixed(sent_at(1))); /* the probe */
	ck_assert_uint_eq(sent_at(1)->data[7], 1);
	ck_assert_uint_eq(sent_at(1)->data[129], 13);
	ck_assert_uint_eq(sent_at(1)->data[32] << 8 | sent_at(1)->data[33], OWN_LID);
	send_behind(2, 1); /* unproven, and one probe at a time */
	ck_assert_uint_eq(port.sent->len, 3);
	ck_assert(!is_mixed(sent_at(2)));
	answer(sent_at(1));
	answer(sent_at(0));
	answer(sent_at(2));
	send_behind(3, 2);
	ck_assert_uint_eq(port.sent->len, 4);
	ck_assert(is_mixed(sent_at(3)));
	ck_assert_uint_eq(sent_at(3)->data[7], 2);
	ck_assert_uint_eq(sent_at(3)->data[129], 12);
	ck_assert_uint_eq(sent_at(3)->data[130], 13);
	run_ms(10000);
	ck_assert_uint_eq(done_timeout, 1);
	ck_assert(!is_mixed(sent_at(4))); /* its second try */
}
END_TEST

/* No request waits for the probe; and it is not tried again at once. */
START_TEST(test_probe_lost)
{
	unsigned int probes = 0;

	start();
	set_own_lid(OWN_LID);
	for (unsigned int i = 0; i < 1000; i++) {
		unsigned int before = port.sent->len;

		send_behind(i, 1);
		for (unsigned int j = before; j < port.sent->len; j++) {
			probes += is_mixed(sent_at(j));
			if (!is_mixed(sent_at(j)))
				answer(sent_at(j));
		}
		ck_assert_uint_eq(done_ok, i + 1);
		run_ms(10);
	}
	/* In ten seconds: at 0, after 1, 2 and 4. */
	ck_assert_uint_eq(probes, 4);
	ck_assert_uint_eq(count(smp_timeouts) + count(smp_retries), 0);
}
END_TEST

/* ---- a busy device ---- */

/* Refuses the first _i sends; no try is lost by that, nothing is sent twice. */
START_TEST(test_device_busy)
{
	options->transaction_retries = 0;
	slot_publish(&context.options, options_ref(options));
	start();
	port.busy = _i;
	for (unsigned int i = 0; i < 50; i++)
		mad_send(mad, &make(i, 1)->mad);
	run_ms(_i + 1);
	for (unsigned int i = 0; i < port.sent->len; i++)
		answer(sent_at(i));
	ck_assert_uint_eq(done_timeout, 0);
	ck_assert_uint_eq(done_ok, 50);
	ck_assert_uint_eq(port.sent->len, 50);
	ck_assert_uint_eq(count(smp_sent), 50);
	ck_assert_uint_eq(count(smp_retries), 0);
}
END_TEST

START_TEST(test_device_busy_at_a_retry)
{
	start();
	send_one(1, 1);
	port.busy = 30;
	run_ms(TIMEOUT_MS);
	report(sent_at(0), VENDOR_TIMED_OUT);
	report(sent_at(0), VENDOR_TIMED_OUT); /* again: of a try that is over */
	ck_assert_uint_eq(port.sent->len, 1);
	run_ms(31);
	ck_assert_uint_eq(port.sent->len, 2);
	run_ms(10000);
	ck_assert_uint_eq(port.sent->len, 4);
	ck_assert_uint_eq(count(smp_retries), 3);
	ck_assert_uint_eq(done_timeout, 1);
}
END_TEST

/* More may be out from now on, and fewer later: as many as answers allow within the new limit. */
START_TEST(test_window_is_widened)
{
	options->max_wire_smps = 1;
	slot_publish(&context.options, options_ref(options));
	start();
	for (unsigned int i = 0; i < 10; i++)
		mad_send(mad, &make(i, 1)->mad);
	run_ms(0);
	ck_assert_uint_eq(port.sent->len, 1);
	options->max_wire_smps = 5;
	slot_publish(&context.options, options_ref(options));
	event_emit(&context.bus, EVENT_OPTIONS_CHANGED, 0);
	run_ms(0);
	answer(sent_at(0));
	ck_assert_uint_eq(port.sent->len, 3); /* from 1 to 2 */
	for (unsigned int i = 1; i < port.sent->len; i++)
		answer(sent_at(i));
	ck_assert_uint_eq(done_ok, 10);
	ck_assert_uint_eq(room_now(20), 5);
	options->max_wire_smps = 2;
	slot_publish(&context.options, options_ref(options));
	event_emit(&context.bus, EVENT_OPTIONS_CHANGED, 0);
	ck_assert_uint_eq(room_now(20), 2);
	expect_nothing_left();
}
END_TEST

/* ---- the end ---- */

static unsigned int dropped;

static void drop(struct message *message)
{
	dropped++;
	g_free(message);
}

/* In flight, queued at a target, and still in the mailbox. */
START_TEST(test_free_drops_requests)
{
	dropped = 0;
	start();
	for (unsigned int i = 0; i < 20; i++) {
		struct tracked *tracked = make(i % 2, 1);

		tracked->mad.message.drop = i % 3 ? drop : NULL;
		mad_send(mad, &tracked->mad);
		if (i == 14)
			run_ms(0);
	}
	mad_stop(mad);
	mad_free(mad);
	mad = NULL;
	ck_assert_uint_eq(dropped, 13);
	ck_assert_uint_eq(done_ok + done_timeout, 0);
}
END_TEST

/* ---- unsolicited MADs ---- */

struct server {
	struct actor *actor;
	unsigned int received;
	struct vendor_address from;
};

static void serve(void *arg, struct vendor_mad *received)
{
	struct server *server = arg;

	server->received++;
	server->from = received->remote;
	mad_reply(mad, received, g_memdup2(received->data, received->length), received->length,
		  NULL);
}

static void arrive(uint8_t mgmt_class, uint8_t method)
{
	struct vendor_mad *received = vendor_mad_new(&port.base, NULL, IBA_MAD_BYTES);

	memset(received->data, 0, IBA_MAD_BYTES);
	received->data[0] = 1;
	received->data[1] = mgmt_class;
	received->data[3] = method;
	received->remote.lid = 99;
	received->remote.qpn = 1;
	vendor_mad_post(received, &port.clients[mgmt_class == 0x33 ? 1 : mgmt_class]);
	run_ms(0);
}

START_TEST(test_dispatch_and_reply)
{
	struct server sm = {.actor = owner}, sa = {.actor = owner};
	struct vendor_client to_sm = {.actor = owner, .arg = &sm, .receive = serve};
	struct vendor_client to_sa = {.actor = owner, .arg = &sa, .receive = serve};

	mad = mad_new(&context, &port.base, NULL);
	mad_serve(mad, IBA_CLASS_SUBN_LID, &to_sm);
	mad_serve(mad, IBA_CLASS_SUBN_ADM, &to_sa);
	mad_start(mad);
	arrive(IBA_CLASS_SUBN_LID, IBA_METHOD_TRAP);
	arrive(IBA_CLASS_SUBN_DIRECTED, IBA_METHOD_GET);
	arrive(IBA_CLASS_SUBN_ADM, IBA_METHOD_GET_TABLE);
	arrive(IBA_CLASS_SUBN_ADM, IBA_METHOD_REPORT_RESP); /* the SA sends reports itself */
	arrive(0x33, IBA_METHOD_GET);
	ck_assert_uint_eq(sm.received, 2);
	ck_assert_uint_eq(sa.received, 2);
	ck_assert_uint_eq(sa.from.lid, 99);
	ck_assert_uint_eq(count(mad_unhandled), 1);
	ck_assert_uint_eq(port.sent->len, 4);
	ck_assert_uint_eq(sent_at(0)->to.lid, 99);
	ck_assert_uint_eq(sent_at(0)->timeout_ms, 0);
	ck_assert_uint_eq(count(smp_unicasts), 2); /* those to SMPs */
	port.busy = 1;
	arrive(IBA_CLASS_SUBN_LID, IBA_METHOD_TRAP);
	ck_assert_uint_eq(count(mad_replies_dropped), 1);
	ck_assert_uint_eq(port.sent->len, 4);
}
END_TEST

static void keep(void *arg, struct vendor_mad *received)
{
	g_queue_push_tail(arg, received);
}

static void fill_share(uint8_t mgmt_class, unsigned int share)
{
	for (unsigned int i = 0; i < share; i++)
		arrive(mgmt_class, IBA_METHOD_GET);
	ck_assert_uint_eq(count(mad_refused), 0);
}

static void serve_and_keep(GQueue *kept)
{
	struct vendor_client client = {.actor = owner, .arg = kept, .receive = keep};

	mad = mad_new(&context, &port.base, NULL);
	mad_serve(mad, IBA_CLASS_SUBN_LID, &client);
	mad_serve(mad, IBA_CLASS_SUBN_ADM, &client);
	mad_start(mad);
}

#define SA_SHARE 1024 /* of one LID: mad.c */

/* A requester that has its share already gets BUSY if it waits for an answer, in its own class. */
START_TEST(test_refused_are_told)
{
	static const uint8_t methods[][2] = {
		{IBA_METHOD_GET, IBA_METHOD_GET_RESP},
		{IBA_METHOD_SET, IBA_METHOD_GET_RESP},
		{IBA_METHOD_GET_TABLE, IBA_METHOD_GET_TABLE_RESP},
		{IBA_METHOD_TRAP, 0},
		{IBA_METHOD_REPORT, 0},
	};
	GQueue kept = G_QUEUE_INIT;

	serve_and_keep(&kept);
	fill_share(IBA_CLASS_SUBN_ADM, SA_SHARE);
	for (unsigned int i = 0; i < G_N_ELEMENTS(methods); i++) {
		unsigned int before = port.sent->len;

		arrive(IBA_CLASS_SUBN_ADM, methods[i][0]);
		ck_assert_uint_eq(count(mad_refused), i + 1);
		ck_assert_uint_eq(port.sent->len, before + (methods[i][1] != 0));
		if (!methods[i][1])
			continue;
		ck_assert_uint_eq(sent_at(before)->data[0], IBA_BASE_VERSION);
		ck_assert_uint_eq(sent_at(before)->data[1], IBA_CLASS_SUBN_ADM);
		ck_assert_uint_eq(sent_at(before)->data[3], methods[i][1]);
		ck_assert_uint_eq(sent_at(before)->data[4] << 8 | sent_at(before)->data[5],
				  IBA_STATUS_BUSY);
		ck_assert_uint_eq(sent_at(before)->to.lid, 99);
		ck_assert_uint_eq(sent_at(before)->to.qpn, 1);
	}
	g_queue_clear_full(&kept, (GDestroyNotify)vendor_mad_free);
}
END_TEST

/* But a flood does not make a flood of answers, and SMPs have no such answer. */
START_TEST(test_refused_are_many)
{
	GQueue kept = G_QUEUE_INIT;

	serve_and_keep(&kept);
	fill_share(IBA_CLASS_SUBN_LID, 64);
	arrive(IBA_CLASS_SUBN_LID, IBA_METHOD_GET);
	ck_assert_uint_eq(count(mad_refused), 1);
	ck_assert_uint_eq(port.sent->len, 0);
	for (unsigned int i = 0; i < SA_SHARE + 1500; i++)
		arrive(IBA_CLASS_SUBN_ADM, IBA_METHOD_GET);
	ck_assert_uint_eq(count(mad_refused), 1 + 1500);
	ck_assert_uint_eq(port.sent->len, 1000);
	run_ms(100);
	for (unsigned int i = 0; i < 500; i++)
		arrive(IBA_CLASS_SUBN_ADM, IBA_METHOD_GET);
	ck_assert_uint_eq(port.sent->len, 1100);
	g_queue_clear_full(&kept, (GDestroyNotify)vendor_mad_free);
}
END_TEST

static void give_back(const struct mad_held *held, uint16_t lid, enum vendor_end end)
{
	(void)end;
	ck_assert_uint_eq(lid, 99);
	atomic_fetch_sub((atomic_size_t *)held->arg, held->octets);
}

static void answer_held(const struct mad_held *held)
{
	struct vendor_mad *request = vendor_mad_new(&port.base, NULL, IBA_MAD_BYTES);

	memset(request->data, 0, IBA_MAD_BYTES);
	request->data[1] = IBA_CLASS_SUBN_ADM;
	request->remote.lid = 99;
	mad_reply(mad, request, g_memdup2(request->data, IBA_MAD_BYTES), IBA_MAD_BYTES, held);
}

/* The memory of an answer is returned when it is gone, sent or not. */
START_TEST(test_held_answers)
{
	atomic_size_t weight = 100;
	const struct mad_held held = {.give_back = give_back, .arg = &weight, .octets = 30};

	start();
	for (unsigned int i = 0; i < 2; i++) {
		port.busy = i;
		answer_held(&held);
		ck_assert_uint_eq(atomic_load(&weight), 100 - i * 30);
		run_ms(0);
		ck_assert_uint_eq(atomic_load(&weight), 70 - i * 30);
	}
	ck_assert_uint_eq(port.sent->len, 1);
	ck_assert_uint_eq(count(mad_replies_dropped), 1);
	answer_held(&held);
	mad_stop(mad);
	mad_free(g_steal_pointer(&mad));
	ck_assert_uint_eq(atomic_load(&weight), 10);
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_test(tcase, test_answer);
	tcase_add_test(tcase, test_status);
	tcase_add_loop_test(tcase, test_retries, 0, 2);
	tcase_add_test(tcase, test_refused);
	tcase_add_test(tcase, test_always_refused);
	tcase_add_test(tcase, test_timeouts_reported_late);
	tcase_add_test(tcase, test_tid_of_each_try);
	tcase_add_test(tcase, test_tids_are_no_sequence);
	tcase_add_test(tcase, test_tries_of_the_request);
	tcase_add_loop_test(tcase, test_nothing_but_gets, 0, 2);
	tcase_add_test(tcase, test_late_and_duplicate_answers);
	tcase_add_loop_test(tcase, test_forged_answers, 0, G_N_ELEMENTS(forgeries));
	tcase_add_test(tcase, test_answer_of_another_class);
	tcase_add_test(tcase, test_short_mads);
	tcase_add_loop_test(tcase, test_window_never_exceeded, 0, 8);
	tcase_add_test(tcase, test_window_shrinks_and_grows);
	tcase_add_test(tcase, test_window_not_shrunk_by_the_dead);
	tcase_add_test(tcase, test_window_not_held_by_the_dead);
	tcase_add_test(tcase, test_window_second_limit);
	tcase_add_loop_test(tcase, test_window_without_second_limit, 0, 3);
	tcase_add_loop_test(tcase, test_window_second_limit_beside_the_dead, 0, 3);
	tcase_add_test(tcase, test_four_to_a_target_and_fair);
	tcase_add_test(tcase, test_turns);
	tcase_add_test(tcase, test_lid_first_then_directed);
	tcase_add_test(tcase, test_falls_back);
	tcase_add_test(tcase, test_window_is_widened);
	tcase_add_test(tcase, test_held_answers);
	tcase_add_test(tcase, test_refused_are_told);
	tcase_add_test(tcase, test_refused_are_many);
	tcase_add_test(tcase, test_mixed_after_the_probe);
	tcase_add_test(tcase, test_probe_lost);
	tcase_add_loop_test(tcase, test_device_busy, 0, 120);
	tcase_add_test(tcase, test_device_busy_at_a_retry);
	tcase_add_test(tcase, test_free_drops_requests);
	tcase_add_test(tcase, test_dispatch_and_reply);
}

TEST_SUITE
{
	Suite *suite = suite_create("mad");
	TCase *tcase = tcase_create("mad");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	add_tests(tcase);
	suite_add_tcase(suite, tcase);
	return suite;
}
