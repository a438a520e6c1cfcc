// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Answers that are held or remembered, with made-up requests: see hold.h. */
#include <check.h>

#include "tests/run_suite.h"
#include "tests/unit/test_sa_net.h"

#define SECOND NS_PER_S

static void bring_up(struct net *net)
{
	net_start(net, RUNTIME_VIRTUAL, "fattree:4");
	net_run_daemon(net);
	ck_assert(net_wait_up(net));
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

/* As the client would send it; number tells them apart. */
static struct vendor_mad *request_of(const struct net *net, uint8_t number)
{
	struct vendor_mad *mad = g_malloc0(sizeof(*mad) + IBA_MAD_BYTES);

	mad->status = VENDOR_RECEIVED;
	mad->length = IBA_MAD_BYTES;
	mad->remote = (struct vendor_address){.lid = net->sm_lid, .qpn = 1};
	mad->data[1] = IBA_CLASS_SUBN_ADM;
	mad->data[3] = IBA_METHOD_SET;
	mad->data[15] = number; /* of the TransactionID */
	return mad;
}

static void hold(struct sa_hold *holds, const struct net *net, uint8_t number, uint64_t groups,
		 uint64_t aliases, uint64_t deadline_ns)
{
	const uint64_t until[SA_HOLD_TOPICS] = {
		[SA_HOLD_GROUPS] = groups, [SA_HOLD_ALIASES] = aliases};

	sa_hold_answer(holds, request_of(net, number), g_malloc0(IBA_MAD_BYTES), until,
		       deadline_ns);
}

static void check_known(struct sa_hold *holds, const struct net *net, uint8_t number, bool known)
{
	struct vendor_mad *again = request_of(net, number);

	if (known)
		ck_assert(sa_hold_again(holds, again));
	else
		ck_assert(!sa_hold_again(holds, again));
	if (!known)
		vendor_mad_free(again);
}

/* An answer is sent when all it waits for is done, or at its deadline; then it is remembered. */
START_TEST(test_held_answers)
{
	struct sa_hold *holds;
	struct net net;
	uint64_t start;

	bring_up(&net);
	holds = sa_hold_new(&net.context, net.client, net.mad);
	start = runtime_now(net.rt);
	check_known(holds, &net, 1, false);
	hold(holds, &net, 1, 5, 0, 0);
	hold(holds, &net, 2, 6, 9, 0);
	hold(holds, &net, 3, 7, 0, start + SECOND);
	ck_assert_uint_eq(sa_hold_waiting(holds), 3);
	check_known(holds, &net, 2, true); /* its answer is on its way */
	sa_hold_reached(holds, SA_HOLD_GROUPS, 4);
	ck_assert_uint_eq(sa_hold_waiting(holds), 3);
	sa_hold_reached(holds, SA_HOLD_GROUPS, 6);
	ck_assert_uint_eq(sa_hold_waiting(holds), 2);
	sa_hold_reached(holds, SA_HOLD_ALIASES, 9);
	ck_assert_uint_eq(sa_hold_waiting(holds), 1);
	hold(holds, &net, 4, 6, 0, 0); /* that is done already */
	ck_assert_uint_eq(sa_hold_waiting(holds), 1);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_unconfirmed), 0);
	runtime_run(net.rt, never, NULL, start + SECOND);
	ck_assert_uint_eq(sa_hold_waiting(holds), 0);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_unconfirmed), 1);
	for (uint8_t i = 1; i <= 4; i++)
		check_known(holds, &net, i, true);
	runtime_run(net.rt, never, NULL, start + SA_HOLD_NS);
	check_known(holds, &net, 1, false);
	check_known(holds, &net, 3, true);
	sa_hold_clear(holds);
	check_known(holds, &net, 3, false);
	sa_hold_free(holds);
	net_stop(&net);
}
END_TEST

/* Another requester, another QP or other octets make another request, whatever its number. */
START_TEST(test_held_of_others)
{
	struct vendor_mad *request;
	struct sa_hold *holds;
	struct net net;

	bring_up(&net);
	holds = sa_hold_new(&net.context, net.client, net.mad);
	hold(holds, &net, 1, 5, 0, 0);
	for (unsigned int i = 0; i < 7; i++) {
		request = request_of(&net, 1);
		request->remote.lid += i == 1;
		request->remote.qpn += i == 2;
		request->data[IBA_MAD_BYTES - 1] += i == 3;
		request->length -= i == 4;
		if (i == 5)
			request->status = VENDOR_TIMED_OUT;
		if (i == 6)
			request->length = 20; /* not even a header */
		ck_assert_int_eq(sa_hold_again(holds, request), i == 0);
		if (i)
			vendor_mad_free(request);
	}
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_repeated), 1);
	sa_hold_free(holds);
	net_stop(&net);
}
END_TEST

/* A header alone is refused once, too. */
START_TEST(test_held_of_a_header)
{
	const uint64_t until[SA_HOLD_TOPICS] = {0};
	struct vendor_mad *request;
	struct sa_hold *holds;
	struct net net;

	bring_up(&net);
	holds = sa_hold_new(&net.context, net.client, net.mad);
	for (unsigned int i = 0; i < 3; i++) {
		request = request_of(&net, 1);
		request->length = iba_mad_header_bytes;
		ck_assert_int_eq(sa_hold_again(holds, request), i != 0);
		if (!i)
			sa_hold_answer(holds, request, g_malloc0(IBA_MAD_BYTES), until, 0);
	}
	sa_hold_free(holds);
	net_stop(&net);
}
END_TEST

/* An answer without a deadline waits while one behind it is sent at its own. */
START_TEST(test_held_without_deadline)
{
	struct sa_hold *holds;
	struct net net;
	uint64_t start;

	bring_up(&net);
	holds = sa_hold_new(&net.context, net.client, net.mad);
	start = runtime_now(net.rt);
	hold(holds, &net, 1, 5, 0, 0);
	hold(holds, &net, 2, 5, 0, start + 2 * SECOND);
	hold(holds, &net, 3, 6, 0, start + SECOND);
	runtime_run(net.rt, never, NULL, start + 2 * SECOND);
	ck_assert_uint_eq(sa_hold_waiting(holds), 1);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_unconfirmed), 2);
	runtime_run(net.rt, never, NULL, start + 30 * SECOND);
	ck_assert_uint_eq(sa_hold_waiting(holds), 1);
	sa_hold_reached(holds, SA_HOLD_GROUPS, 5);
	ck_assert_uint_eq(sa_hold_waiting(holds), 0);
	check_known(holds, &net, 1, true);
	runtime_run(net.rt, never, NULL, start + 30 * SECOND + SA_HOLD_NS);
	check_known(holds, &net, 1, false); /* nothing arrived meanwhile that would displace it */
	hold(holds, &net, 4, 0, 0, 0);	    /* it waits for nothing */
	ck_assert_uint_eq(sa_hold_waiting(holds), 0);
	runtime_run(net.rt, never, NULL, runtime_now(net.rt) + SA_HOLD_NS);
	check_known(holds, &net, 4, false);
	sa_hold_free(holds);
	net_stop(&net);
}
END_TEST

/* Answers that standbys have to know first; known ones are sent at once. */
START_TEST(test_held_for_the_replica)
{
	const uint64_t until[SA_HOLD_TOPICS] = {[SA_HOLD_REPLICA] = 3};
	struct sa_hold *holds;
	struct net net;

	bring_up(&net);
	holds = sa_hold_new(&net.context, net.client, net.mad);
	sa_hold_answer(holds, request_of(&net, 1), g_malloc0(IBA_MAD_BYTES), until, 0);
	ck_assert_uint_eq(sa_hold_waiting(holds), 1);
	sa_hold_reached(holds, SA_HOLD_REPLICA, 2);
	ck_assert_uint_eq(sa_hold_waiting(holds), 1);
	sa_hold_reached(holds, SA_HOLD_REPLICA, 3);
	ck_assert_uint_eq(sa_hold_waiting(holds), 0);
	sa_hold_answer(holds, request_of(&net, 2), g_malloc0(IBA_MAD_BYTES), until, 0);
	ck_assert_uint_eq(sa_hold_waiting(holds), 0);
	sa_hold_answer(holds, request_of(&net, 3), g_malloc0(IBA_MAD_BYTES),
		       (const uint64_t[SA_HOLD_TOPICS]){[SA_HOLD_REPLICA] = 9}, 0);
	sa_hold_clear(holds); /* another is master: that one is asked */
	ck_assert_uint_eq(sa_hold_waiting(holds), 0);
	sa_hold_reached(holds, SA_HOLD_REPLICA, 9);
	check_known(holds, &net, 3, false);
	sa_hold_free(holds);
	net_stop(&net);
}
END_TEST

/* A bounded number is remembered: the oldest are forgotten for new ones. */
START_TEST(test_remembered_are_bounded)
{
	const uint64_t until[SA_HOLD_TOPICS] = {0};
	struct sa_hold *holds;
	struct net net;

	bring_up(&net);
	holds = sa_hold_new(&net.context, net.client, net.mad);
	for (unsigned int i = 0; i <= SA_HOLD_MAX; i++) {
		struct vendor_mad *request = request_of(&net, (uint8_t)i);

		request->data[14] = (uint8_t)(i >> 8);
		request->data[20] = (uint8_t)(i >> 16);
		sa_hold_answer(holds, request, g_malloc0(IBA_MAD_BYTES), until, 0);
		if (i == 0 || i == SA_HOLD_MAX - 1)
			check_known(holds, &net, 0, true);
	}
	check_known(holds, &net, 0, false);
	check_known(holds, &net, 1, true);
	sa_hold_free(holds);
	net_stop(&net);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_hold");
	TCase *tcase = tcase_create("hold");

	tcase_add_test(tcase, test_held_answers);
	tcase_add_test(tcase, test_held_of_others);
	tcase_add_test(tcase, test_held_of_a_header);
	tcase_add_test(tcase, test_held_without_deadline);
	tcase_add_test(tcase, test_held_for_the_replica);
	tcase_add_test(tcase, test_remembered_are_bounded);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
