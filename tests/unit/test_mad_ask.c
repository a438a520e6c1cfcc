// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* GMP transactions, with the performance agents of a simulated fabric as peers. */
#include <check.h>
#include <string.h>

#include "core/options.h"
#include "mad/ask.h"
#include "tests/run_suite.h"
#include "tests/unit/sim_net.h"

#define TIMEOUT_MS 100

static struct net *net;
static struct context context;
static struct options *options;
static struct vendor *vendor; /* of mad: the net's own client has another one */
static struct mad *mad;
static unsigned int done[MAD_CANCELLED + 1], never_sent, tries;
static uint64_t done_ns;
static struct mad_ask last; /* as it came back */

static void get_options(void *object)
{
	options_ref(object);
}

static void put_options(void *object)
{
	options_unref(object);
}

static void setup(void)
{
	unsigned int other;

	net = net_new("fattree:4", NULL);
	net_bring_up(net);
	other = sim_find_name(net->sim, "host-5");
	memset(&context, 0, sizeof(context));
	memset(done, 0, sizeof(done));
	never_sent = tries = 0;
	context.rt = net->rt;
	context.log = net->log;
	slot_init(&context.options, get_options, put_options);
	event_bus_init(&context.bus);
	options = options_new();
	slot_publish(&context.options, options_ref(options));
	vendor = sim_open(net->sim, sim_port_guid(net->sim, other, 1), NULL);
	mad = mad_new(&context, vendor, NULL);
	ck_assert_ptr_nonnull(mad);
	mad_start(mad);
}

static void teardown(void)
{
	vendor_close(vendor);
	mad_stop(mad);
	mad_free(mad);
	net_free(net);
	slot_clear(&context.options);
	event_bus_clear(&context.bus);
	options_unref(options);
}

static void on_done(struct mad_ask *ask)
{
	done[ask->result]++;
	never_sent += !ask->sent;
	tries += ask->sent;
	done_ns = runtime_now(net->rt);
	last = *ask;
	g_free(ask);
}

static uint16_t lid_of(const char *name)
{
	return net_lid(sim_find_name(net->sim, name));
}

static struct mad_ask *make(uint16_t lid, unsigned int retries)
{
	struct mad_ask *ask = g_new0(struct mad_ask, 1);

	ask->to = (struct vendor_address){.lid = lid, .qpn = IBA_QP1, .qkey = IBA_QP1_Q_KEY};
	ask->mgmt_class = IBA_CLASS_PERF;
	ask->class_version = IBA_PERF_CLASS_VERSION;
	ask->method = IBA_METHOD_GET;
	ask->attribute = IBA_ATTR_CLASS_PORT_INFO;
	ask->retries = retries;
	ask->timeout_ms = TIMEOUT_MS;
	ask->client = net;
	ask->serial = 1;
	ask->owner = net->actor;
	ask->done = on_done;
	return ask;
}

static void run_ms(uint64_t ms)
{
	net_run_ms(net, ms);
}

START_TEST(test_answer)
{
	mad_ask(mad, make(lid_of("host-9"), 3));
	run_ms(1);
	ck_assert_uint_eq(done[MAD_OK], 1);
	ck_assert_uint_eq(last.sent, 1);
	ck_assert_uint_eq(last.length, MAD_ASK_DATA);
	ck_assert_uint_eq(last.data[64 - 24], 1); /* BaseVersion of the ClassPortInfo */
}
END_TEST

/* A refusal by the agent is not a reason to ask again. */
START_TEST(test_status)
{
	struct mad_ask *ask = make(lid_of("host-9"), 3);

	ask->attribute = 0x7777;
	mad_ask(mad, ask);
	run_ms(10 * TIMEOUT_MS);
	ck_assert_uint_eq(done[MAD_STATUS], 1);
	ck_assert_uint_eq(last.sent, 1);
	ck_assert_uint_ne(last.status, 0);
}
END_TEST

/* No device there, or none that serves the class: each wait is twice the one before. */
START_TEST(test_silence)
{
	uint64_t start = runtime_now(net->rt);
	struct mad_ask *ask = make(_i ? lid_of("host-9") : 0x5555, 3);

	if (_i)
		ask->mgmt_class = IBA_CLASS_SUBN_ADM;
	mad_ask(mad, ask);
	run_ms(100 * TIMEOUT_MS);
	ck_assert_uint_eq(done[MAD_TIMEOUT], 1);
	ck_assert_uint_eq(last.sent, 4);
	ck_assert_uint_eq(done_ns - start, (1 + 2 + 4 + 8) * TIMEOUT_MS * NS_PER_MS);
}
END_TEST

/* Loss costs tries, not answers; reports of timeouts come late. */
START_TEST(test_loss)
{
	sim_set_loss(net->sim, 0.1);
	sim_set_timeout_delay(net->sim, _i * 2 * NS_PER_S);
	for (unsigned int i = 0; i < 500; i++)
		mad_ask(mad, make(lid_of(i % 2 ? "host-9" : "leaf-1-0"), 15));
	run_ms(1000 * TIMEOUT_MS);
	ck_assert_uint_eq(done[MAD_OK], 500);
	ck_assert_uint_gt(tries, 550);
	ck_assert_uint_lt(tries, 1000);
}
END_TEST

/* ---- SMPs beside them ---- */

static void on_smp_done(struct mad_request *request)
{
	done[request->result]++;
	tries += request->sent;
	g_free(request);
}

/* Packets get lost, and the port holds requests long after their time is up, as the kernel may. */
START_TEST(test_smps)
{
	sim_set_loss(net->sim, 0.1);
	sim_set_timeout_delay(net->sim, 2 * NS_PER_S);
	mad_set_own_lid(mad, lid_of("host-5"), 0);
	for (unsigned int i = 0; i < 500; i++) {
		struct mad_request *request = g_new0(struct mad_request, 1);

		request->target = request->route.lid = net_lid(i % sim_nodes(net->sim));
		request->lid_only = true;
		request->method = IBA_METHOD_GET;
		request->attribute = IBA_ATTR_NODE_INFO;
		request->owner = net->actor;
		request->done = on_smp_done;
		mad_send(mad, request);
	}
	run_ms(5000);
	ck_assert_uint_eq(done[MAD_OK], 500);
	ck_assert_uint_gt(tries, 550);
	ck_assert_uint_lt(tries, 800);
}
END_TEST

/* ---- a simulated peer ---- */

struct peer {
	struct vendor *vendor;
	GPtrArray *requests;   /* struct vendor_mad */
	unsigned int busy;     /* number of BUSY answers */
	unsigned int answered; /* or else it answers */
	unsigned int waiting, waiting_most;
};

static void respond(struct peer *peer, struct vendor_mad *request, uint16_t status)
{
	request->data[3] |= IBA_METHOD_RESPONSE;
	request->data[5] = status;
	ck_assert(vendor_send(peer->vendor, &request->remote, request->data, 256, 0));
	request->data[3] &= ~IBA_METHOD_RESPONSE;
}

static void on_request(void *arg, struct vendor_mad *request)
{
	struct peer *peer = arg;

	g_ptr_array_add(peer->requests, request);
	if (!peer->busy)
		return;
	peer->busy--;
	respond(peer, request, IBA_STATUS_BUSY);
}

static void free_mad(void *arg)
{
	vendor_mad_free(arg);
}

static void peer_open(struct peer *peer, const char *name)
{
	struct vendor_client client = {.actor = net->actor, .arg = peer, .receive = on_request};
	unsigned int node = sim_find_name(net->sim, name);

	*peer = (struct peer){.requests = g_ptr_array_new_with_free_func(free_mad)};
	peer->vendor = sim_open(net->sim, sim_port_guid(net->sim, node, 1), NULL);
	ck_assert(vendor_bind(peer->vendor, IBA_CLASS_PERF, true, &client, NULL));
}

static void peer_close(struct peer *peer)
{
	vendor_close(peer->vendor);
	g_ptr_array_unref(peer->requests);
}

START_TEST(test_busy)
{
	struct peer peer;
	uint64_t start = runtime_now(net->rt);

	peer_open(&peer, "host-9");
	peer.busy = 2;
	mad_ask(mad, make(lid_of("host-9"), 5));
	run_ms((2 + 4) * TIMEOUT_MS + 2);
	ck_assert_uint_eq(peer.requests->len, 3); /* after each BUSY a pause */
	respond(&peer, peer.requests->pdata[2], 0);
	run_ms(1);
	ck_assert_uint_eq(done[MAD_OK], 1);
	ck_assert_uint_ge(done_ns - start, (2 + 4) * TIMEOUT_MS * NS_PER_MS);
	peer.busy = 100;
	mad_ask(mad, make(lid_of("host-9"), 2));
	run_ms(100 * TIMEOUT_MS);
	ck_assert_uint_eq(done[MAD_STATUS], 1);
	ck_assert_uint_eq(last.status, IBA_STATUS_BUSY);
	ck_assert_uint_eq(last.sent, 3);
	peer_close(&peer);
}
END_TEST

/* An answer to an earlier try counts; a second one, or a different one, does not. */
START_TEST(test_late_and_forged)
{
	struct peer peer;
	struct vendor_mad *first;

	peer_open(&peer, "host-9");
	mad_ask(mad, make(lid_of("host-9"), 5));
	run_ms(TIMEOUT_MS + 10);
	ck_assert_uint_eq(peer.requests->len, 2);
	first = peer.requests->pdata[0];
	ck_assert_mem_ne(first->data + 12,
			 ((struct vendor_mad *)peer.requests->pdata[1])->data + 12, 4);
	first->data[17] ^= 1; /* another attribute */
	respond(&peer, first, 0);
	run_ms(1);
	ck_assert_uint_eq(done[MAD_OK], 0);
	ck_assert_uint_eq(counter_get(&context.counters, mad_unknown), 1);
	first->data[17] ^= 1;
	respond(&peer, peer.requests->pdata[1], 0);
	run_ms(1);
	ck_assert_uint_eq(done[MAD_OK], 1);
	respond(&peer, first, 0);
	run_ms(1);
	ck_assert_uint_eq(done[MAD_OK], 1);
	peer_close(&peer);
}
END_TEST

/* A port that was not asked cannot answer, even if it knows the whole request. */
START_TEST(test_other_lid)
{
	struct peer peer, liar;

	peer_open(&peer, "host-9");
	peer_open(&liar, "host-10");
	mad_ask(mad, make(lid_of("host-9"), 0));
	run_ms(1);
	ck_assert_uint_eq(peer.requests->len, 1);
	respond(&liar, peer.requests->pdata[0], 0);
	run_ms(2 * TIMEOUT_MS);
	ck_assert_uint_eq(done[MAD_OK], 0);
	ck_assert_uint_eq(done[MAD_TIMEOUT], 1);
	peer_close(&peer);
	peer_close(&liar);
}
END_TEST

/* Two at a time to a LID, 256 in all, each LID in turn. */
START_TEST(test_windows)
{
	struct peer peer;
	struct sim_counters counters;

	peer_open(&peer, "host-9");
	for (unsigned int i = 0; i < 10; i++)
		mad_ask(mad, make(lid_of("host-9"), 0));
	run_ms(1);
	ck_assert_uint_eq(peer.requests->len, 2);
	respond(&peer, peer.requests->pdata[0], 0);
	run_ms(1);
	ck_assert_uint_eq(peer.requests->len, 3);
	for (unsigned int i = 0; i < 500; i++)
		mad_ask(mad, make(0x5000 + i, 0));
	run_ms(1);
	sim_counters(net->sim, &counters);
	ck_assert_uint_eq(counters.outstanding_max, 256);
	run_ms(100 * TIMEOUT_MS);
	ck_assert_uint_eq(done[MAD_OK] + done[MAD_TIMEOUT], 510);
	peer_close(&peer);
}
END_TEST

START_TEST(test_cancel)
{
	struct peer peer;
	struct mad_ask *other = make(lid_of("host-9"), 9);

	peer_open(&peer, "host-9");
	for (unsigned int i = 0; i < 10; i++)
		mad_ask(mad, make(lid_of("host-9"), 9));
	other->client = &peer;
	mad_ask(mad, other);
	run_ms(1);
	mad_ask_cancel(mad, net, 1);
	run_ms(1);
	ck_assert_uint_eq(done[MAD_CANCELLED], 8); /* those that waited */
	ck_assert_uint_eq(never_sent, 8);
	respond(&peer, peer.requests->pdata[0], 0); /* those in flight still accept an answer */
	run_ms(1);
	ck_assert_uint_eq(done[MAD_OK], 1);
	ck_assert_uint_eq(peer.requests->len, 3); /* the other client's */
	respond(&peer, peer.requests->pdata[2], 0);
	run_ms(2 * TIMEOUT_MS); /* and make no further try */
	ck_assert_uint_eq(done[MAD_OK], 2);
	ck_assert_uint_eq(done[MAD_CANCELLED], 9);
	ck_assert_uint_eq(peer.requests->len, 3);
	peer_close(&peer);
}
END_TEST

START_TEST(test_cancel_in_pause)
{
	struct peer peer;

	peer_open(&peer, "host-9");
	peer.busy = 100;
	mad_ask(mad, make(lid_of("host-9"), 9));
	run_ms(1);
	mad_ask_cancel(mad, net, 0); /* older ones */
	run_ms(1);
	ck_assert_uint_eq(done[MAD_CANCELLED], 0);
	mad_ask_cancel(mad, net, 1);
	run_ms(1);
	ck_assert_uint_eq(done[MAD_CANCELLED], 1);
	run_ms(100 * TIMEOUT_MS);
	ck_assert_uint_eq(peer.requests->len, 1);
	peer_close(&peer);
}
END_TEST

/* In flight, waiting, and still in the mailbox: none is leaked. */
START_TEST(test_free)
{
	for (unsigned int i = 0; i < 20; i++) {
		mad_ask(mad, make(0x5000 + i % 3, 5));
		if (i == 14)
			run_ms(1);
	}
	ck_assert_uint_eq(done[MAD_OK] + done[MAD_TIMEOUT], 0);
}
END_TEST

/* Whatever was asked for, an agent may answer with where to ask instead (IBA 13.5.2). */
START_TEST(test_redirected)
{
	const struct sim_redirect to = {.lid = lid_of("host-3"),
					.p_key = 0xFFFF,
					.qp = 5,
					.q_key = IBA_QP1_Q_KEY};
	struct mad_ask *ask = make(lid_of("host-9"), 3);

	sim_pma_redirect(net->sim, sim_find_name(net->sim, "host-9"), &to);
	ask->attribute = IBA_ATTR_PORT_COUNTERS;
	mad_ask(mad, ask);
	run_ms(1);
	ck_assert_uint_eq(done[MAD_STATUS], 1);
	ck_assert_uint_eq(last.sent, 1);
	ck_assert_uint_eq(last.status, IBA_STATUS_REDIRECT);
	ck_assert_uint_eq(last.answered, IBA_ATTR_CLASS_PORT_INFO);
}
END_TEST

/* Answers show how long they take; the last try waits for the whole timeout all the same. */
START_TEST(test_hurry)
{
	struct mad_ask *ask;
	uint64_t began;

	for (int i = 0; i < 20; i++) {
		ask = make(lid_of("host-9"), 3);
		ask->hurry = true;
		mad_ask(mad, ask);
		run_ms(5);
	}
	ck_assert_uint_eq(done[MAD_OK], 20);
	sim_pma_set(net->sim, sim_find_name(net->sim, "host-9"), SIM_PMA_SILENT);
	ask = make(lid_of("host-9"), 2);
	ask->hurry = true;
	ask->timeout_ms = 1000;
	began = runtime_now(net->rt);
	mad_ask(mad, ask);
	run_ms(5000);
	ck_assert_uint_eq(done[MAD_TIMEOUT], 1);
	ck_assert_uint_eq(last.sent, 3);
	ck_assert_uint_ge(done_ns - began, 1000 * NS_PER_MS);
	ck_assert_uint_lt(done_ns - began, 1200 * NS_PER_MS);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("mad_ask");
	TCase *tcase = tcase_create("mad_ask");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_answer);
	tcase_add_test(tcase, test_status);
	tcase_add_loop_test(tcase, test_silence, 0, 2);
	tcase_add_loop_test(tcase, test_loss, 0, 2);
	tcase_add_test(tcase, test_smps);
	tcase_add_test(tcase, test_busy);
	tcase_add_test(tcase, test_late_and_forged);
	tcase_add_test(tcase, test_other_lid);
	tcase_add_test(tcase, test_windows);
	tcase_add_test(tcase, test_cancel);
	tcase_add_test(tcase, test_cancel_in_pause);
	tcase_add_test(tcase, test_free);
	tcase_add_test(tcase, test_redirected);
	tcase_add_test(tcase, test_hurry);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
