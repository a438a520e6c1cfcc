// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Targets that are dead, silent, lossy, written to twice; requests that are cancelled. */
#include <check.h>
#include <string.h>

#include "libvendor/transfers.h"
#include "mad/ask.h"
#include "mad/mad_private.h"
#include "mad/tid.h"
#include "tests/run_suite.h"
#include "tests/unit/mad_port.h"

/* ---- dead targets ---- */

/* Requests that wait for a target are not tried once it is known to be dead. */
START_TEST(test_dead_target_ends_its_queue)
{
	start();
	for (unsigned int i = 0; i < 50; i++)
		mad_send(mad, &make(1, 1)->mad);
	run_ms(TIMEOUT_MS * 4 * 3 / 2);
	ck_assert_uint_eq(done_timeout, 50);
	ck_assert_uint_eq(never_sent, 46);
	ck_assert_uint_eq(done_dead, 49);
	ck_assert_uint_eq(port.sent->len, 4 + 3); /* one is retried to the end */
	ck_assert_uint_eq(count(smp_waiting) + count(smp_on_wire), 0);
	send_one(1, 1); /* a new request is tried again */
	answer(sent_at(7));
	ck_assert_uint_eq(done_ok, 1);
}
END_TEST

/* One that was sent later waits for what the first one finds. */
START_TEST(test_one_request_tests_the_target)
{
	start();
	send_one(1, 1);
	run_ms(TIMEOUT_MS / 2);
	for (unsigned int i = 2; i < 5; i++) {
		struct tracked *tracked = make(1, 1);

		tracked->mad.modifier = i;
		mad_send(mad, &tracked->mad);
	}
	run_ms(TIMEOUT_MS + 1);
	ck_assert_uint_eq(port.sent->len, 4 + 1);
	ck_assert_uint_eq(count(smp_waiting), 3);
	ck_assert_uint_eq(count(smp_on_wire), 1);
	if (_i) {
		answer(sent_at(4)); /* it lives: the others again, in their order */
		ck_assert_uint_eq(port.sent->len, 5 + 3);
		for (unsigned int i = 0; i < 3; i++) {
			ck_assert_uint_eq(sent_at(5 + i)->data[23], 2 + i);
			answer(sent_at(5 + i));
		}
		ck_assert_uint_eq(done_ok, 4);
		return;
	}
	run_ms(10000);
	ck_assert_uint_eq(done_timeout, 4);
	ck_assert_uint_eq(never_sent, 0);
	ck_assert_uint_eq(port.sent->len, 4 + 3);
}
END_TEST

/* Another port of the same node is another SMA. */
START_TEST(test_dead_port)
{
	struct tracked *other;

	start();
	for (unsigned int i = 0; i < 6; i++)
		mad_send(mad, &make(1, 1)->mad);
	run_ms(4 * TIMEOUT_MS);
	other = make(1, 1);
	other->mad.target_port = 2;
	mad_send(mad, &other->mad);
	run_ms(0);
	answer(sent_at(port.sent->len - 1));
	ck_assert_uint_eq(done_ok, 1);
	run_ms(10000);
	ck_assert_uint_eq(done_timeout, 6);
}
END_TEST

/* A target that answers others lives: only this request fails. */
START_TEST(test_one_request_unanswered)
{
	unsigned int seen = 0;

	start();
	for (unsigned int i = 0; i < 100; i++) {
		struct tracked *tracked = make(1, 1);

		tracked->mad.modifier = i;
		mad_send(mad, &tracked->mad);
	}
	for (unsigned int ms = 0; ms < 10000; ms += 10) {
		run_ms(10);
		for (; seen < port.sent->len; seen++)
			if (sent_at(seen)->data[23] != 2)
				answer(sent_at(seen));
	}
	ck_assert_uint_eq(done_ok, 99);
	ck_assert_uint_eq(done_timeout, 1);
	ck_assert_uint_eq(never_sent, 0);
}
END_TEST

static void send_number(unsigned int number)
{
	struct tracked *tracked = make(1, 1);

	tracked->mad.modifier = number;
	mad_send(mad, &tracked->mad);
	run_ms(0);
}

static unsigned int times_sent(uint8_t modifier)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < port.sent->len; i++)
		n += sent_at(i)->data[23] == modifier;
	return n;
}

/* Nor does one of them wait for what another finds: neither begins its tries again. */
START_TEST(test_two_requests_unanswered)
{
	start();
	send_number(2);
	send_number(3);
	for (unsigned int i = 0; i < 400; i++) {
		run_ms(10);
		send_number(4);
		answer(sent_at(port.sent->len - 1));
	}
	ck_assert_uint_eq(done_ok, 400);
	ck_assert_uint_eq(done_timeout, 2);
	ck_assert_uint_eq(done_dead, 0);
	ck_assert_uint_eq(times_sent(3), times_sent(2));
}
END_TEST

/* A new request to a target with waiting ones goes behind them. */
START_TEST(test_more_for_a_busy_target)
{
	start();
	for (unsigned int i = 0; i < 6; i++)
		send_number(i);
	ck_assert_uint_eq(port.sent->len, 4);
	answer(sent_at(0));
	for (unsigned int i = 6; i < 8; i++)
		send_number(i);
	for (unsigned int i = 1; i < 8; i++) {
		ck_assert_uint_eq(sent_at(i)->data[23], i);
		answer(sent_at(i));
	}
	ck_assert_uint_eq(done_ok, 8);
	expect_nothing_left();
}
END_TEST

/* The younger request ends first, as the device reports: the older one makes no more tries. */
START_TEST(test_found_dead_by_the_younger)
{
	start();
	send_one(1, 1);
	send_one(1, 1);
	for (unsigned int i = 1; i < port.sent->len && i < 10; i++)
		report(sent_at(i), VENDOR_TIMED_OUT);
	ck_assert_uint_eq(done_timeout, 1);
	ck_assert_uint_eq(port.sent->len, 1 + 4);
	run_ms(10000);
	ck_assert_uint_eq(done_timeout, 2);
	ck_assert_uint_eq(done_dead, 1);
	ck_assert_uint_eq(port.sent->len, 1 + 4);
	expect_nothing_left();
}
END_TEST

/* A target that is behind with answers gets no new request until it answers one. */
START_TEST(test_silent_target_gets_nothing_new)
{
	start();
	send_one(1, 1);
	run_ms(TIMEOUT_MS * 5 / 4 + 2);
	ck_assert_uint_eq(port.sent->len, 2);
	for (unsigned int i = 0; i < 5; i++)
		send_one(1, 1);
	ck_assert_uint_eq(port.sent->len, 2);
	answer(sent_at(0));
	ck_assert_uint_eq(done_ok, 1);
	ck_assert_uint_eq(port.sent->len, 2 + 1); /* and, as it is slow, one request at a time */
}
END_TEST

/* Few tries prove little: they end only requests that would have made no more. */
START_TEST(test_few_tries_judge_few)
{
	start();
	for (unsigned int i = 0; i < 12; i++) {
		struct tracked *tracked = make(1, 1);

		tracked->mad.tries = i < 4 ? 2 : i % 2;
		mad_send(mad, &tracked->mad);
	}
	run_ms(TIMEOUT_MS * 5 / 2);
	ck_assert_uint_eq(done_timeout, 4 + 4);
	ck_assert_uint_eq(never_sent, 4);
	ck_assert_uint_eq(done_dead, 0);
	ck_assert_uint_eq(port.sent->len, 4 * 2 + 4);
	run_ms(10000);
	ck_assert_uint_eq(port.sent->len, 4 * 2 + 4 + 3);
	ck_assert_uint_eq(done_timeout, 12);
	ck_assert_uint_eq(done_dead, 3);
}
END_TEST

/*
 * One with tries of its own is in flight while another finds out that the target is dead: it makes
 * no more, and reports that it was found dead through another.
 */
START_TEST(test_found_dead_in_flight)
{
	struct tracked *patient;

	start();
	send_one(1, 1);
	patient = make(1, 1);
	patient->mad.tries = 100;
	mad_send(mad, &patient->mad);
	run_ms(0);
	ck_assert_uint_eq(port.sent->len, 2);
	run_ms(100 * TIMEOUT_MS);
	ck_assert_uint_eq(done_timeout, 2);
	ck_assert_uint_eq(done_dead, 1);
	ck_assert_uint_le(port.sent->len, 4 + 5);
	expect_nothing_left();
}
END_TEST

/* A request with few tries proves nothing for others, in flight or not. */
START_TEST(test_few_tries_in_flight)
{
	struct tracked *hasty = make(1, 1);

	start();
	hasty->mad.tries = 1;
	mad_send(mad, &hasty->mad);
	send_one(1, 1);
	run_ms(TIMEOUT_MS * 5 / 4 + 2);
	ck_assert_uint_eq(done_timeout, 1);
	run_ms(100 * TIMEOUT_MS);
	ck_assert_uint_eq(done_timeout, 2);
	ck_assert_uint_eq(done_dead, 0);
	ck_assert_uint_eq(port.sent->len, 1 + 4);
	expect_nothing_left();
}
END_TEST

/* ---- loss ---- */

/* Requests answered at the given try; one per target. */
static void answered_at_try(unsigned int n, unsigned int requests)
{
	for (unsigned int i = 0; i < requests; i++) {
		unsigned int before = port.sent->len;

		send_one(1000 + i, 1);
		while (port.sent->len < before + n)
			run_ms(1);
		answer(sent_at(port.sent->len - 1));
	}
}

/* Number of tries that a dead target gets, and in *ms their duration. */
static unsigned int tries_of_the_dead(uint64_t *ms)
{
	unsigned int before = port.sent->len, timeouts = done_timeout;
	uint64_t start_ns = runtime_now(rt);

	send_one(1, 1);
	while (done_timeout == timeouts)
		run_ms(1);
	*ms = (runtime_now(rt) - start_ns) / NS_PER_MS;
	return port.sent->len - before;
}

START_TEST(test_loss_asks_for_more_tries)
{
	unsigned int base, lossy;
	uint64_t base_ms, lossy_ms;

	start();
	answered_at_try(1, 300);
	base = tries_of_the_dead(&base_ms);
	ck_assert_uint_eq(base, 4 + 4);
	for (unsigned int i = 0; i < 300; i++)
		answered_at_try(1 + (i % 2) + (i % 4 == 3), 1);
	lossy = tries_of_the_dead(&lossy_ms);
	ck_assert_uint_ge(lossy, 12); /* 0.43 lost: 14 times in a row once in 10^5 */
	ck_assert_uint_le(lossy, 12 * base);
	ck_assert_uint_lt(lossy_ms, base_ms + 20 * 30); /* quick ones */
	answered_at_try(1, 5000);
	ck_assert_uint_eq(tries_of_the_dead(&lossy_ms), base);
}
END_TEST

/* First tries are lost at random and later ones too, as with few bad nodes among many. */
START_TEST(test_loss_of_few)
{
	uint64_t ms;

	start();
	for (unsigned int i = 0; i < 400; i++) {
		answered_at_try(1, 20);
		answered_at_try(2 + i % 3, 1);
	}
	ck_assert_uint_ge(tries_of_the_dead(&ms), 12);
}
END_TEST

/* A request that the device refused was not lost in the fabric. */
START_TEST(test_refused_is_no_loss)
{
	uint64_t ms;

	start();
	answered_at_try(1, 300);
	for (unsigned int i = 0; i < 300; i++) {
		unsigned int before = port.sent->len;

		send_one(1000 + i, 1);
		report(sent_at(before), VENDOR_FAILED);
		run_ms(TIMEOUT_MS + 1);
		answer(sent_at(before + 1));
	}
	ck_assert_uint_eq(done_ok, 600);
	ck_assert_uint_eq(tries_of_the_dead(&ms), 4 + 4);
}
END_TEST

START_TEST(test_dead_are_no_loss)
{
	uint64_t ms;

	start();
	answered_at_try(1, 300);
	for (unsigned int i = 0; i < 50; i++)
		ck_assert_uint_eq(tries_of_the_dead(&ms), 4 + 4);
}
END_TEST

/* Without loss each wait is twice the one before, up to the timeout: load may pass. */
START_TEST(test_waits_grow)
{
	uint64_t gaps[7], ms;
	unsigned int before;

	start();
	answered_at_try(1, 300);
	before = port.sent->len;
	ck_assert_uint_eq(tries_of_the_dead(&ms), 4 + 4);
	for (unsigned int i = 0; i < G_N_ELEMENTS(gaps); i++)
		gaps[i] = sent_at(before + i + 1)->when - sent_at(before + i)->when;
	for (unsigned int i = 1; i < 4; i++)
		ck_assert_uint_eq(gaps[i], 2 * gaps[i - 1]);
	for (unsigned int i = 4; i < G_N_ELEMENTS(gaps); i++)
		ck_assert_uint_eq(gaps[i], TIMEOUT_MS * NS_PER_MS);
}
END_TEST

/* An answer in time lets the window grow; one after its try was given up does not. */
START_TEST(test_late_answers_widen_no_window)
{
	double before;

	start();
	before = mad->window.size;
	send_one(1, 1);
	answer(sent_at(0));
	ck_assert(mad->window.size > before);
	before = mad->window.size;
	send_one(2, 1);
	while (port.sent->len < 3)
		run_ms(1);
	answer(sent_at(1));
	ck_assert_uint_eq(done_ok, 2);
	ck_assert(mad->window.size <= before);
}
END_TEST

/* The device must not drop an answer that is later than the next try. */
START_TEST(test_early_tries_stay_open)
{
	uint64_t ms;
	unsigned int before;

	start();
	answered_at_try(1, 300);
	before = port.sent->len;
	tries_of_the_dead(&ms);
	for (unsigned int i = before; i < port.sent->len; i++)
		ck_assert_uint_eq(sent_at(i)->timeout_ms, LATE_MS);
	ck_assert_uint_lt(sent_at(before + 1)->when - sent_at(before)->when, 21 * NS_PER_MS);
}
END_TEST

/* An answer to the first try that comes after the second is late, not lost. */
START_TEST(test_late_is_not_lost)
{
	uint64_t ms;

	start();
	answered_at_try(1, 300);
	for (unsigned int i = 0; i < 100; i++) {
		unsigned int before = port.sent->len;

		send_one(1, 1);
		while (port.sent->len < before + 2)
			run_ms(1);
		answer(sent_at(before));
	}
	ck_assert_uint_eq(done_ok, 400);
	ck_assert_uint_le(tries_of_the_dead(&ms), 4 + 4);
}
END_TEST

/* Wait of the first try of a request to a dead target, in ms. */
static uint64_t first_wait(void)
{
	unsigned int before = port.sent->len;

	send_one(1, 1);
	while (port.sent->len < before + 2)
		run_ms(1);
	for (unsigned int i = 0; i < 2; i++)
		run_ms(10000);
	return (sent_at(before + 1)->when - sent_at(before)->when) / NS_PER_MS;
}

/* Patience follows the time of answers: those to the latest try, and late ones to the first. */
START_TEST(test_patience_follows_answers)
{
	const unsigned int try = (unsigned int)_i, ms = try == 1 ? 60 : 30;

	start();
	answered_at_try(1, 100);
	ck_assert_uint_le(first_wait(), 21);
	for (unsigned int i = 0; i < 200; i++) {
		unsigned int before = port.sent->len;

		send_one(100 + i, 1);
		if (try == 2)
			while (port.sent->len < before + 2)
				run_ms(1);
		run_ms(ms);
		answer(sent_at(before + try - 1));
	}
	ck_assert_uint_eq(count(smp_received), 300);
	ck_assert_uint_ge(first_wait(), ms);
	ck_assert_uint_le(first_wait(), TIMEOUT_MS);
	answered_at_try(1, 400);
	ck_assert_uint_le(first_wait(), 21);
}
END_TEST

/* ---- writing the same thing twice ---- */

static void send_set(uint32_t modifier, uint8_t method)
{
	struct tracked *tracked = make(1, 1);

	tracked->mad.method = method;
	tracked->mad.modifier = modifier;
	tracked->mad.data[0] = port.sent->len;
	mad_send(mad, &tracked->mad);
	run_ms(0);
}

/* A newer Set of the same block waits for the older one, whose tries could overtake it. */
START_TEST(test_sets_of_a_block_in_turn)
{
	start();
	send_set(1, IBA_METHOD_SET);
	send_set(2, IBA_METHOD_SET);
	ck_assert_uint_eq(port.sent->len, 2);
	send_set(1, IBA_METHOD_SET);
	ck_assert_uint_eq(port.sent->len, 2);
	answer(sent_at(1));
	ck_assert_uint_eq(port.sent->len, 2);
	answer(sent_at(0));
	ck_assert_uint_eq(port.sent->len, 3);
	ck_assert_uint_eq(sent_at(2)->data[23], 1);
	send_set(1, IBA_METHOD_GET);
	ck_assert_uint_eq(port.sent->len, 4);
	answer(sent_at(2));
	answer(sent_at(3));
	ck_assert_uint_eq(done_ok, 4);
}
END_TEST

/* ---- cancelling ---- */

static void send_serial(uint64_t target, uint64_t serial)
{
	struct tracked *tracked = make(target, 1);

	tracked->mad.serial = serial;
	mad_send(mad, &tracked->mad);
	run_ms(0);
}

static void cancel(uint64_t serial)
{
	mad_cancel(mad, serial);
	run_ms(0);
}

START_TEST(test_cancel)
{
	start();
	for (unsigned int i = 0; i < 10; i++)
		send_serial(1, 7);
	send_serial(1, 0);
	send_serial(1, 8);
	ck_assert_uint_eq(port.sent->len, 4);
	cancel(7);
	ck_assert_uint_eq(done_cancelled, 6);
	ck_assert_uint_eq(never_sent, 6);
	ck_assert_uint_eq(count(smp_waiting), 2);
	answer(sent_at(0)); /* those in flight still accept an answer */
	ck_assert_uint_eq(done_ok, 1);
	answer(sent_at(4));
	ck_assert_uint_eq(done_ok, 2);
	ck_assert_uint_eq(port.sent->len, 6);
	answer(sent_at(5));
	ck_assert_uint_eq(done_ok, 3);
	run_ms(TIMEOUT_MS * 5 / 4 + 2); /* and make no further try */
	ck_assert_uint_eq(done_cancelled, 6 + 3);
	ck_assert_uint_eq(never_sent, 6);
	run_ms(10000);
	ck_assert_uint_eq(port.sent->len, 6);
	ck_assert_uint_eq(done_timeout, 0);
	expect_nothing_left();
}
END_TEST

START_TEST(test_cancelled_before_it_came)
{
	start();
	cancel(7);
	send_serial(1, 7);
	ck_assert_uint_eq(done_cancelled, 1);
	ck_assert_uint_eq(port.sent->len, 0);
	send_serial(1, 8);
	ck_assert_uint_eq(port.sent->len, 1);
}
END_TEST

/* A dead target's cancelled requests delay new ones only as long as their try is out. */
START_TEST(test_cancelled_hold_nobody_back)
{
	start();
	for (unsigned int i = 0; i < 6; i++)
		send_serial(1, 7);
	run_ms(TIMEOUT_MS * 5 / 4 + 2);
	ck_assert_uint_eq(port.sent->len, 5);
	cancel(7);
	ck_assert_uint_eq(done_cancelled, 5);
	send_serial(1, 8);
	run_ms(TIMEOUT_MS * 5 / 4 + 2);
	ck_assert_uint_eq(done_cancelled, 6);
	ck_assert_uint_eq(done_timeout, 0);
	ck_assert_uint_eq(port.sent->len, 6);
	answer(sent_at(5));
	ck_assert_uint_eq(done_ok, 1);
}
END_TEST

/* Requests that a busy device has not accepted yet were not sent. */
START_TEST(test_cancel_at_a_busy_device)
{
	start();
	port.busy = 1000;
	send_serial(1, 7);
	cancel(7);
	run_ms(2);
	ck_assert_uint_eq(done_cancelled, 1);
	ck_assert_uint_eq(never_sent, 1);
	port.busy = 0;
	run_ms(10000);
	ck_assert_uint_eq(port.sent->len, 0);
}
END_TEST

/* One that the device then returns unsent is not kept for another try. */
START_TEST(test_cancelled_then_refused)
{
	start();
	send_serial(1, 7);
	cancel(7);
	ck_assert_uint_eq(done_cancelled, 0);
	report(sent_at(0), VENDOR_FAILED);
	ck_assert_uint_eq(done_cancelled, 1);
	ck_assert_uint_eq(never_sent, 1);
	expect_nothing_left();
}
END_TEST

/* Each refusal costs a timeout: the ninth of one request ends it. */
START_TEST(test_refused_too_often)
{
	start();
	send_one(1, 1);
	for (unsigned int i = 0; i < 9; i++) {
		ck_assert_uint_eq(done_timeout, 0);
		ck_assert_uint_eq(port.sent->len, i + 1);
		report(sent_at(i), VENDOR_FAILED);
		run_ms(TIMEOUT_MS + 1);
	}
	ck_assert_uint_eq(done_timeout, 1);
	ck_assert_uint_eq(port.sent->len, 9);
	expect_nothing_left();
}
END_TEST

/* ---- GMPs that a device refuses ---- */

#define ASK_MS 100

static struct {
	unsigned int n;
	enum mad_result result;
	uint8_t sent;
	uint32_t length;
	uint8_t data[MAD_ASK_DATA];
} asked;

static void on_asked(struct mad_ask *ask)
{
	asked.n++;
	asked.result = ask->result;
	asked.sent = ask->sent;
	asked.length = ask->length;
	memcpy(asked.data, ask->data, sizeof(asked.data));
	g_free(ask);
}

static struct mad_ask *make_ask(void)
{
	struct mad_ask *ask = g_new0(struct mad_ask, 1);

	ask->to = (struct vendor_address){.lid = 5, .qpn = 1, .qkey = IBA_QP1_Q_KEY};
	ask->mgmt_class = IBA_CLASS_PERF;
	ask->class_version = 1;
	ask->method = IBA_METHOD_GET;
	ask->retries = 2;
	ask->timeout_ms = ASK_MS;
	ask->owner = owner;
	ask->done = on_asked;
	ask->client = &asked;
	return ask;
}

static void ask_one(void)
{
	asked.n = 0;
	mad_ask(mad, make_ask());
	run_ms(0);
}

/* A refused send does not count as a try: it waits as long as a try, and is sent again. */
START_TEST(test_ask_refused)
{
	start();
	ask_one();
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_uint_eq(port.sent->len, i + 1);
		report(sent_at(i), VENDOR_FAILED);
		report(sent_at(i), VENDOR_TIMED_OUT); /* of a try that is over */
		ck_assert_uint_eq(port.sent->len, i + 1);
		run_ms(ASK_MS - 1);
		ck_assert_uint_eq(port.sent->len, i + 1);
		run_ms(2);
	}
	run_ms(10000);
	ck_assert_uint_eq(asked.n, 1);
	ck_assert_int_eq(asked.result, MAD_TIMEOUT);
	ck_assert_uint_eq(asked.sent, 3);
	ck_assert_uint_eq(port.sent->len, 3 + 3);
	ck_assert_uint_eq(sent_at(5)->when - sent_at(4)->when, 2 * ASK_MS * NS_PER_MS);
	expect_nothing_left();
}
END_TEST

/* A device that never sends it ends it all the same, and so does a cancel. */
START_TEST(test_ask_always_refused)
{
	start();
	ask_one();
	for (unsigned int i = 0; i < 100 && !asked.n; i++) {
		report(sent_at(port.sent->len - 1), VENDOR_FAILED);
		run_ms(ASK_MS + 1);
	}
	ck_assert_int_eq(asked.result, MAD_TIMEOUT);
	ck_assert_uint_eq(asked.sent, 0);
	ck_assert_uint_eq(port.sent->len, 9); /* REFUSALS_MAX and one */
	ask_one();
	mad_ask_cancel(mad, &asked, 0);
	run_ms(0);
	ck_assert_uint_eq(asked.n, 0); /* a try is out */
	report(sent_at(9), VENDOR_FAILED);
	ck_assert_uint_eq(asked.n, 1);
	ck_assert_int_eq(asked.result, MAD_CANCELLED);
	expect_nothing_left();
}
END_TEST

/* It is offered to a busy device again and again, which costs no try either. */
START_TEST(test_ask_at_a_busy_device)
{
	start();
	port.busy = 20;
	ask_one();
	ck_assert_uint_eq(port.sent->len, 0);
	run_ms(30);
	ck_assert_uint_eq(port.sent->len, 1);
	report(sent_at(0), VENDOR_TIMED_OUT);
	ck_assert_uint_eq(port.sent->len, 2);
	report(sent_at(1), VENDOR_TIMED_OUT);
	ck_assert_uint_eq(port.sent->len, 3);
	report(sent_at(2), VENDOR_TIMED_OUT);
	ck_assert_uint_eq(asked.n, 1);
	ck_assert_uint_eq(asked.sent, 3);
	expect_nothing_left();
}
END_TEST

/* A busy peer answers BUSY to each try (13.4.7); for a past try that changes nothing. */
START_TEST(test_ask_busy)
{
	start();
	ask_one();
	answer_from(sent_at(0), 5, 5, IBA_STATUS_BUSY);
	answer_from(sent_at(0), 5, 5, IBA_STATUS_BUSY);
	ck_assert_uint_eq(asked.n, 0);
	run_ms(2 * ASK_MS + 1);
	ck_assert_uint_eq(port.sent->len, 2);
	answer_from(sent_at(1), 5, 5, 0);
	ck_assert_uint_eq(asked.n, 1);
	ck_assert_int_eq(asked.result, MAD_OK);
	ck_assert_uint_eq(count(mad_unknown), 0);
	expect_nothing_left();
}
END_TEST

#define SHORT 4

/* A subscriber may omit the rest of its answer to a Report: that counts as zeros. */
START_TEST(test_ask_answered_in_short)
{
	struct mad_ask *ask = make_ask();
	struct vendor_mad *received;

	start();
	ask->mgmt_class = IBA_CLASS_SUBN_ADM;
	ask->method = IBA_METHOD_REPORT;
	memset(ask->data, 0x5A, sizeof(ask->data));
	mad_ask(mad, ask);
	run_ms(0);
	received = vendor_mad_new(&port.base, sent_at(0)->data, IBA_MAD_BYTES);
	received->remote.lid = 5;
	received->data[3] = IBA_METHOD_REPORT_RESP;
	received->length = iba_mad_header_bytes + SHORT;
	deliver(received);
	ck_assert_int_eq(asked.result, MAD_OK);
	ck_assert_uint_eq(asked.length, SHORT);
	for (unsigned int i = 0; i < MAD_ASK_DATA; i++)
		ck_assert_uint_eq(asked.data[i], i < SHORT ? 0x5A : 0);
}
END_TEST

/* A request waiting for its turn at a LID is sent when one before it is given up. */
START_TEST(test_ask_turns)
{
	unsigned int out;

	start();
	for (unsigned int i = 0; i < 20; i++)
		ask_one();
	out = port.sent->len;
	ck_assert_uint_lt(out, 20);
	for (unsigned int i = 0; i < 2; i++)
		report(sent_at(i ? port.sent->len - 1 : 0), VENDOR_TIMED_OUT);
	ck_assert_uint_eq(asked.n, 0);
	report(sent_at(port.sent->len - 1), VENDOR_TIMED_OUT);
	ck_assert_uint_eq(asked.n, 1);
	ck_assert_uint_eq(port.sent->len, out + 2 + 1);
}
END_TEST

/* The daemon ends: requesters get back requests in flight, and waiting ones. */
static unsigned int asks_dropped;

static void drop_ask(struct message *message)
{
	asks_dropped++;
	g_free(message);
}

START_TEST(test_ask_dropped)
{
	asks_dropped = 0;
	start();
	for (unsigned int i = 0; i < 20; i++) {
		struct mad_ask *ask = make_ask();

		ask->message.drop = drop_ask;
		mad_ask(mad, ask);
	}
	run_ms(0);
	mad_stop(mad);
	mad_free(g_steal_pointer(&mad));
	ck_assert_uint_eq(asks_dropped, 20);
}
END_TEST

/* ---- messages ---- */

static void receive(void *arg, struct vendor_mad *received)
{
	(void)arg;
	vendor_mad_free(received);
}

static void put_header(uint8_t *data, uint8_t type)
{
	data[0] = data[2] = 1;
	data[1] = IBA_CLASS_SUBN_ADM;
	data[3] = type == IBA_RMPP_DATA ? IBA_METHOD_GET_TABLE_RESP : IBA_METHOD_GET_TABLE;
	data[15] = 5; /* TransactionID */
	data[24] = 1;
	data[25] = type;
	data[VENDOR_RMPP_FLAGS_AT] = type ? IBA_RMPP_ACTIVE : 0;
}

static void post_message(void)
{
	uint8_t *data = g_malloc0(1000);

	put_header(data, IBA_RMPP_DATA);
	mad_post(mad, &(struct vendor_address){.lid = 9, .qpn = 1}, data, 1000);
	run_ms(0);
}

static void tell_sender(uint8_t type)
{
	struct vendor_mad *told = vendor_mad_new(&port.base, NULL, IBA_MAD_BYTES);

	memset(told->data, 0, IBA_MAD_BYTES);
	put_header(told->data, type);
	told->remote.lid = 9;
	deliver(told);
}

/* The counters show why answers in segments did not get through. */
START_TEST(test_how_messages_end)
{
	const struct vendor_client client = {.actor = owner, .receive = receive};

	port.base.rmpp = VENDOR_RMPP_OWN;
	mad = mad_new(&context, &port.base, NULL);
	mad_serve(mad, IBA_CLASS_SUBN_ADM, &client);
	mad_start(mad);
	tell_sender(IBA_RMPP_ACK); /* of nothing */
	ck_assert_uint_eq(count(rmpp_strays), 1);
	post_message();
	ck_assert_uint_eq(count(rmpp_repeated), 0);
	post_message();
	ck_assert_uint_eq(count(rmpp_repeated), 1);
	tell_sender(0); /* the request again: its answer is on its way */
	ck_assert_uint_eq(count(rmpp_repeated), 2);
	tell_sender(IBA_RMPP_STOP);
	ck_assert_uint_eq(count(rmpp_stopped), 1);
	post_message();
	run_ms(60000);
	ck_assert_uint_eq(count(rmpp_unacknowledged), 1);
	ck_assert_uint_eq(count(mad_replies_dropped), 0);
	post_message();
	transfers_close(port.base.transfers);
	ck_assert_uint_eq(count(mad_replies_dropped), 1);
	ck_assert_uint_eq(count(rmpp_strays), 1);
	ck_assert_uint_eq(count(rmpp_repeated), 2);
	transfers_free(port.base.transfers);
	port.base.transfers = NULL;
}
END_TEST

/* 14.2.1.2: the answer to a directed SMP has the status and the M_Key of the responder. */
START_TEST(test_directed_answer)
{
	struct iba_smp smp = {
		.header = {.mgmt_class = IBA_CLASS_SUBN_DIRECTED,
			   .method = IBA_METHOD_GET_RESP,
			   .status = IBA_STATUS_INVALID_FIELD},
		.m_key = UINT64_C(0x1122334455667788),
	};
	struct vendor_mad *request = vendor_mad_new(&port.base, NULL, IBA_MAD_BYTES);
	struct iba_dr_smp directed;

	start();
	memset(request->data, 0, IBA_MAD_BYTES);
	request->data[1] = IBA_CLASS_SUBN_DIRECTED;
	memset(smp.data, 0x5A, sizeof(smp.data));
	mad_reply_smp(mad, request, &smp);
	wire_decode(&iba_dr_smp_type, sent_at(0)->data, &directed);
	ck_assert_uint_eq(directed.direction, 1);
	ck_assert_uint_eq(directed.status, IBA_STATUS_INVALID_FIELD);
	ck_assert_uint_eq(directed.method, IBA_METHOD_GET_RESP);
	ck_assert_uint_eq(directed.m_key, smp.m_key);
	ck_assert_mem_eq(directed.data, smp.data, sizeof(smp.data));
}
END_TEST

/* Only virtual time may have predictable numbers: otherwise a stranger could forge answers. */
START_TEST(test_tids_of_real_time)
{
	struct runtime *real = runtime_new(RUNTIME_REAL);
	struct tid_table table = {0};

	tid_init(&table, real);
	ck_assert_uint_eq(table.seed, 0);
	tid_clear(&table);
	tid_init(&table, rt);
	ck_assert_uint_ne(table.seed, 0);
	tid_clear(&table);
	runtime_free(real);
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_test(tcase, test_dead_target_ends_its_queue);
	tcase_add_loop_test(tcase, test_one_request_tests_the_target, 0, 2);
	tcase_add_test(tcase, test_dead_port);
	tcase_add_test(tcase, test_one_request_unanswered);
	tcase_add_test(tcase, test_two_requests_unanswered);
	tcase_add_test(tcase, test_more_for_a_busy_target);
	tcase_add_test(tcase, test_found_dead_by_the_younger);
	tcase_add_test(tcase, test_silent_target_gets_nothing_new);
	tcase_add_test(tcase, test_few_tries_judge_few);
	tcase_add_test(tcase, test_found_dead_in_flight);
	tcase_add_test(tcase, test_few_tries_in_flight);
	tcase_add_loop_test(tcase, test_patience_follows_answers, 1, 3);
	tcase_add_test(tcase, test_loss_asks_for_more_tries);
	tcase_add_test(tcase, test_loss_of_few);
	tcase_add_test(tcase, test_refused_is_no_loss);
	tcase_add_test(tcase, test_dead_are_no_loss);
	tcase_add_test(tcase, test_early_tries_stay_open);
	tcase_add_test(tcase, test_waits_grow);
	tcase_add_test(tcase, test_late_answers_widen_no_window);
	tcase_add_test(tcase, test_late_is_not_lost);
	tcase_add_test(tcase, test_sets_of_a_block_in_turn);
	tcase_add_test(tcase, test_cancel);
	tcase_add_test(tcase, test_cancelled_before_it_came);
	tcase_add_test(tcase, test_cancelled_hold_nobody_back);
	tcase_add_test(tcase, test_cancel_at_a_busy_device);
	tcase_add_test(tcase, test_cancelled_then_refused);
	tcase_add_test(tcase, test_refused_too_often);
	tcase_add_test(tcase, test_ask_refused);
	tcase_add_test(tcase, test_ask_always_refused);
	tcase_add_test(tcase, test_ask_at_a_busy_device);
	tcase_add_test(tcase, test_ask_busy);
	tcase_add_test(tcase, test_ask_answered_in_short);
	tcase_add_test(tcase, test_ask_turns);
	tcase_add_test(tcase, test_ask_dropped);
	tcase_add_test(tcase, test_how_messages_end);
	tcase_add_test(tcase, test_directed_answer);
	tcase_add_test(tcase, test_tids_of_real_time);
}

TEST_SUITE
{
	Suite *suite = suite_create("mad_target");
	TCase *tcase = tcase_create("mad_target");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	add_tests(tcase);
	suite_add_tcase(suite, tcase);
	return suite;
}
