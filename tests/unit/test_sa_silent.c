// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requesters of tables that acknowledge nothing, or end their requests, beside honest ones: the SA
 * behind a real MAD layer on a simulated fabric, in virtual time.
 */
#include <check.h>
#include <string.h>

#include "libvendor/sim/agent.h"
#include "sa/admit/held.h"
#include "tests/run_suite.h"
#include "tests/unit/test_sa_net.h"

#define SECOND NS_PER_S
#define GIVEN_UP (14 * SECOND) /* a transfer without any ACK */
#define HOST "host-7"

static struct net net;

/* A port that gets each packet of a transfer, and answers as it likes. */
struct silent {
	struct agent *agent;
	struct timer timer;
	uint64_t period_ns; /* of its requests; 0: none */
	uint32_t tid;
	uint8_t says; /* an RMPP type, to each DATA packet; 0: nothing */
	unsigned int packets;
};

static struct silent silent;

static void say(const struct vendor_address *to, const uint8_t *data, uint8_t type)
{
	uint8_t mad[IBA_MAD_BYTES] = {0};
	const struct agent_send send = {.to = *to, .data = mad, .length = sizeof(mad)};

	memcpy(mad, data, RMPP_HEADERS);
	mad[3] ^= IBA_METHOD_RESPONSE;
	mad[RMPP_AT_TYPE] = type;
	ck_assert_int_eq(agent_send(silent.agent, &send), 0);
}

static void silent_receives(void *arg, enum vendor_status status,
			    const struct vendor_address *remote, const uint8_t *data, size_t length)
{
	(void)arg;
	(void)length;
	if (status != VENDOR_RECEIVED || data[RMPP_AT_TYPE] != IBA_RMPP_DATA)
		return;
	silent.packets++;
	if (silent.says)
		say(remote, data, silent.says);
}

static void silent_asks(struct timer *timer)
{
	struct iba_mad_header header = {
		.base_version = 1,
		.mgmt_class = IBA_CLASS_SUBN_ADM,
		.class_version = 2,
		.method = IBA_METHOD_GET_TABLE,
		.transaction_id = ++silent.tid,
		.attribute_id = IBA_ATTR_PATH_RECORD,
	};
	uint8_t mad[IBA_MAD_BYTES] = {0};
	const struct agent_send send = {
		.to = {.lid = net.sm_lid, .qpn = 1, .qkey = IBA_QP1_Q_KEY},
		.timeout_ms = 100,
		.data = mad,
		.length = sizeof(mad),
	};

	wire_encode(&iba_mad_header_type, &header, mad);
	ck_assert_int_eq(agent_send(silent.agent, &send), 0);
	if (silent.period_ns)
		timer_start(timer, silent.period_ns);
}

static void start(void)
{
	const struct agent_filter filter = {
		.qpn = IBA_QP1, .mgmt_class = IBA_CLASS_SUBN_ADM, .class_version = 2};
	unsigned int node;

	net_start(&net, RUNTIME_VIRTUAL, "fattree:4");
	net_run_daemon(&net);
	ck_assert(net_wait_up(&net));
	silent = (struct silent){.says = 0};
	node = sim_find_name(net.sim, HOST);
	silent.agent = agent_new(net.sim, sim_port_at(net.sim, node, 1), silent_receives, NULL);
	ck_assert_int_eq(agent_register(silent.agent, &filter), 0);
	timer_init(&silent.timer, net.client, silent_asks);
}

static void stop(void)
{
	timer_stop(&silent.timer);
	agent_free(silent.agent);
	net_stop(&net);
}

static void pass(uint64_t ns)
{
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + ns);
}

static uint64_t held(void)
{
	return counter_get(&net.context.counters, sa_octets_held);
}

static bool answered(void *arg)
{
	(void)arg;
	return net.answer != NULL;
}

/* An honest client's table of all paths: its status, and how long it took. */
static uint16_t honest_table(uint64_t *took_ns)
{
	uint64_t from = runtime_now(net.rt);
	struct iba_mad_header header;

	g_clear_pointer(&net.answer, vendor_mad_free);
	net_ask(&net, IBA_METHOD_GET_TABLE, IBA_ATTR_PATH_RECORD, 0, NULL, NULL);
	ck_assert(runtime_run(net.rt, answered, NULL, from + 2 * SECOND));
	*took_ns = runtime_now(net.rt) - from;
	ck_assert_int_eq(net.answer->status, VENDOR_RECEIVED);
	wire_decode(&iba_mad_header_type, net.answer->data, &header);
	return header.status;
}

/* One sends 400 requests a second and acknowledges nothing. */
START_TEST(test_silent_requester)
{
	uint64_t most = 0, took_ns, one;

	start();
	ck_assert_uint_eq(honest_table(&took_ns), IBA_STATUS_OK);
	one = net.answer->length;
	silent.period_ns = SECOND / 400;
	timer_start(&silent.timer, 0);
	for (unsigned int i = 0; i < 120; i++) {
		pass(SECOND / 4);
		most = MAX(most, held());
		ck_assert_uint_eq(honest_table(&took_ns), IBA_STATUS_OK);
		ck_assert_uint_lt(took_ns, SECOND / 10);
		if (i > 4 * GIVEN_UP / SECOND) /* nothing was acknowledged: little at a time */
			ck_assert_uint_le(held(), SA_MAX_HELD_IN_DOUBT + one);
	}
	ck_assert_uint_gt(most, SA_MAX_HELD_BY_ONE - 2 * one);
	ck_assert_uint_le(most, SA_MAX_HELD_BY_ONE + one);
	ck_assert_uint_gt(counter_get(&net.context.counters, rmpp_unacknowledged), 100);
	silent.period_ns = 0;
	pass(GIVEN_UP + SECOND);
	ck_assert_uint_eq(held(), 0);
	/* In doubt no longer, after a minute. */
	pass(SA_DOUBT_NS);
	silent.period_ns = SECOND / 400;
	timer_start(&silent.timer, 0);
	pass(SECOND);
	ck_assert_uint_gt(held(), 100 * one);
	stop();
}
END_TEST

/* It is over at once, and leaves no doubt. */
START_TEST(test_ended_by_requester)
{
	start();
	silent.says = _i ? IBA_RMPP_STOP : IBA_RMPP_ABORT;
	silent.period_ns = SECOND / 400;
	timer_start(&silent.timer, 0);
	pass(SECOND);
	silent.period_ns = 0;
	pass(SECOND / 100);
	ck_assert_uint_eq(held(), 0);
	ck_assert_uint_ge(silent.packets, 390);
	ck_assert_uint_eq(counter_get(&net.context.counters, rmpp_stopped), silent.packets);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_busy), 0);
	stop();
}
END_TEST

static bool all_done(void *arg)
{
	(void)arg;
	return atomic_load(&net.n_done) >= net.goal;
}

static void ask_table(struct net *of, unsigned int number)
{
	net_ask(of, IBA_METHOD_GET_TABLE, number % 2 ? IBA_ATTR_PATH_RECORD : IBA_ATTR_NODE_RECORD,
		0, NULL, NULL);
}

/* Eight at a time, each acknowledged: never BUSY. */
START_TEST(test_honest_loop)
{
	start();
	net.question = ask_table;
	net.goal = 1000;
	while (net.n_asked < 8)
		ask_table(&net, net.n_asked);
	ck_assert(runtime_run(net.rt, all_done, NULL, runtime_now(net.rt) + 60 * SECOND));
	ck_assert_uint_eq(atomic_load(&net.n_lost), 0);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_busy), 0);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_errors), 0);
	pass(SECOND);
	ck_assert_uint_eq(held(), 0);
	stop();
}
END_TEST

/* Every tenth packet gets lost, requests and ACKs too: what arrives is whole. */
START_TEST(test_loss)
{
	g_autoptr(GBytes) whole = NULL;
	unsigned int same = 0;
	uint64_t took_ns;

	start();
	ck_assert_uint_eq(honest_table(&took_ns), IBA_STATUS_OK);
	whole = g_bytes_new(net.answer->data + RMPP_HEADERS, net.answer->length - RMPP_HEADERS);
	net.timeout_ms = 30000;
	sim_set_loss(net.sim, 0.1);
	for (unsigned int i = 0; i < 20; i++) {
		g_clear_pointer(&net.answer, vendor_mad_free);
		net_ask(&net, IBA_METHOD_GET_TABLE, IBA_ATTR_PATH_RECORD, 0, NULL, NULL);
		runtime_run(net.rt, answered, NULL, runtime_now(net.rt) + 60 * SECOND);
		if (!net.answer || net.answer->status != VENDOR_RECEIVED)
			continue;
		ck_assert_uint_eq(net.answer->length - RMPP_HEADERS, g_bytes_get_size(whole));
		ck_assert_mem_eq(net.answer->data + RMPP_HEADERS, g_bytes_get_data(whole, NULL),
				 g_bytes_get_size(whole));
		same++;
	}
	ck_assert_uint_ge(same, 13); /* 0.9 of 20 requests arrive */
	sim_set_loss(net.sim, 0);
	pass(GIVEN_UP);
	ck_assert_uint_eq(held(), 0);
	stop();
}
END_TEST

/* ---- shares ---- */

START_TEST(test_shares)
{
	struct context context = {.rt = runtime_new(RUNTIME_VIRTUAL)};
	struct sa_held *shares = sa_held_new(&context);

	/* One answer may be large, if little else is on its way. */
	ck_assert(sa_held_take(shares, 1, 0, 3 * SA_MAX_HELD_BY_ONE));
	ck_assert(sa_held_take(shares, 1, 3 * SA_MAX_HELD_BY_ONE, SA_MAX_HELD_BY_ONE));
	ck_assert(!sa_held_take(shares, 1, 4 * SA_MAX_HELD_BY_ONE, 1));
	/* Of the rest, each may take half: something is left. */
	ck_assert(!sa_held_take(shares, 2, 0, 3 * SA_MAX_HELD_BY_ONE));
	ck_assert(sa_held_take(shares, 2, 0, 2 * SA_MAX_HELD_BY_ONE));
	ck_assert(sa_held_take(shares, 3, 0, SA_MAX_HELD_BY_ONE));
	ck_assert(!sa_held_take(shares, 4, 0, SA_MAX_HELD_BY_ONE));
	ck_assert(sa_held_take(shares, 4, 0, SA_MAX_HELD_BY_ONE / 2));
	ck_assert(sa_held_take(shares, 5, 0, 1000));
	ck_assert(sa_held_take(shares, 5, 0, 1000)); /* a second answer */
	/* Without an ACK, in doubt, only little beside one; an ACK ends the doubt. */
	sa_held_note(shares, 5, VENDOR_SILENT);
	ck_assert(sa_held_take(shares, 5, 0, 1000)); /* beside those of a process that died */
	ck_assert(sa_held_take(shares, 5, 1000, SA_MAX_HELD_IN_DOUBT));
	ck_assert(!sa_held_take(shares, 5, 0, SA_MAX_HELD_IN_DOUBT - 1999));
	sa_held_give(shares, 5, 500, 500);
	sa_held_give(shares, 5, 0, 500);
	ck_assert(sa_held_take(shares, 5, 0, SA_MAX_HELD_IN_DOUBT - 1000));
	sa_held_give(shares, 5, 0, SA_MAX_HELD_IN_DOUBT - 1000);
	ck_assert(!sa_held_take(shares, 5, 0, SA_MAX_HELD_IN_DOUBT));
	sa_held_note(shares, 5, VENDOR_DELIVERED);
	ck_assert(sa_held_take(shares, 5, 0, SA_MAX_HELD_IN_DOUBT));
	sa_held_give(shares, 5, 0, SA_MAX_HELD_IN_DOUBT);
	sa_held_give(shares, 5, 1000, SA_MAX_HELD_IN_DOUBT);
	sa_held_give(shares, 1, 0, 4 * SA_MAX_HELD_BY_ONE);
	ck_assert_uint_eq(counter_get(&context.counters, sa_octets_held),
			  SA_MAX_HELD_BY_ONE * 7 / 2 + 2000);
	sa_held_free(shares);
	runtime_free(context.rt);
}
END_TEST

#define LARGE (SA_MAX_HELD / 2 - 1000) /* beside 1000 others */

/* Beside its largest answer a requester has others, in whatever order they come and go. */
START_TEST(test_beside_the_largest)
{
	struct context context = {.rt = runtime_new(RUNTIME_VIRTUAL)};
	struct sa_held *shares = sa_held_new(&context);
	size_t most = _i ? SA_MAX_HELD_IN_DOUBT : SA_MAX_HELD_BY_ONE;

	ck_assert(sa_held_take(shares, 1, 0, 1000));
	if (_i)
		sa_held_note(shares, 1, VENDOR_SILENT);
	/* A large one as it grows, and one that existed before. */
	ck_assert(sa_held_take(shares, 1, 0, 256));
	ck_assert(sa_held_take(shares, 1, 256, LARGE - 256));
	ck_assert(sa_held_take(shares, 1, 0, most - 2000));
	ck_assert(sa_held_take(shares, 1, 0, 256));
	ck_assert(sa_held_take(shares, 1, 256, 744));
	ck_assert(!sa_held_take(shares, 1, 0, 1));
	ck_assert(!sa_held_take(shares, 1, 1000, 1));
	sa_held_give(shares, 1, 0, 1000);
	ck_assert(sa_held_take(shares, 1, 0, 1000));
	ck_assert(!sa_held_take(shares, 1, 0, 1));
	/* Trimmed, and then gone: the others stay, and there may be another one beside them. */
	sa_held_give(shares, 1, 2 * most, LARGE - 2 * most);
	ck_assert(!sa_held_take(shares, 1, 0, 1));
	sa_held_give(shares, 1, 0, 2 * most);
	ck_assert(sa_held_take(shares, 1, 0, 3 * most));
	ck_assert(!sa_held_take(shares, 1, 0, 1));
	ck_assert_uint_eq(counter_get(&context.counters, sa_octets_held), 4 * most);
	sa_held_free(shares);
	runtime_free(context.rt);
}
END_TEST

/* As much as one may have beside another; other ends neither begin nor end a doubt. */
START_TEST(test_bounds)
{
	struct context context = {.rt = runtime_new(RUNTIME_VIRTUAL)};
	struct sa_held *shares = sa_held_new(&context);

	ck_assert(sa_held_take(shares, 1, 0, SA_MAX_HELD_BY_ONE));
	ck_assert(sa_held_take(shares, 1, 0, SA_MAX_HELD_BY_ONE));
	ck_assert(!sa_held_take(shares, 1, 0, 1));
	ck_assert(sa_held_take(shares, 2, 0, 1000));
	sa_held_note(shares, 2, VENDOR_STOPPED);
	ck_assert(sa_held_take(shares, 2, 0, 1000));
	sa_held_note(shares, 2, VENDOR_SILENT);
	sa_held_note(shares, 2, VENDOR_STOPPED);
	ck_assert(sa_held_take(shares, 2, 0, SA_MAX_HELD_IN_DOUBT));
	ck_assert(!sa_held_take(shares, 2, 0, SA_MAX_HELD_IN_DOUBT - 1999));
	sa_held_free(shares);
	runtime_free(context.rt);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_silent");
	TCase *tcase = tcase_create("all");

	tcase_add_test(tcase, test_silent_requester);
	tcase_add_loop_test(tcase, test_ended_by_requester, 0, 2);
	tcase_add_test(tcase, test_honest_loop);
	tcase_add_test(tcase, test_loss);
	tcase_add_test(tcase, test_shares);
	tcase_add_loop_test(tcase, test_beside_the_largest, 0, 2);
	tcase_add_test(tcase, test_bounds);
	tcase_set_timeout(tcase, 120);
	suite_add_tcase(suite, tcase);
	return suite;
}
