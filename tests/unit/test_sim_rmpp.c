// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RMPP: whole messages of class SubnAdm through a fabric that loses packets; bad packets. */
#include <check.h>
#include <string.h>

#include "libvendor/rmpp.h"
#include "libvendor/sim/agent.h"
#include "tests/run_suite.h"
#include "tests/unit/sim_net.h"

#define SERVER_TIMEOUT_MS 60000

/* A server that answers each GetTable with a message of the given size. */
struct server {
	struct net *net;
	struct vendor *vendor;
	size_t octets;
	double loss; /* of packets from the first request on */
	unsigned int requests, ends[VENDOR_DROPPED + 1];
};

static uint8_t octet_at(size_t i)
{
	return i * 7 + (i >> 8) * 13 + 1;
}

static struct server server;
static struct net *net;

static void answered(struct vendor_message *message, enum vendor_end end)
{
	server.ends[end]++;
	g_free(message);
}

static void serve(void *arg, struct vendor_mad *mad)
{
	struct vendor_message *message = g_new0(struct vendor_message, 1);
	uint8_t *answer = g_malloc0(RMPP_HEADERS + server.octets);

	(void)arg;
	ck_assert_int_eq(mad->status, VENDOR_RECEIVED);
	server.requests++;
	if (server.loss)
		sim_set_loss(net->sim, server.loss);
	memcpy(answer, mad->data, 24);
	answer[3] |= IBA_METHOD_RESPONSE;
	answer[RMPP_AT_FLAGS] = IBA_RMPP_ACTIVE;
	answer[44] = 0x12; /* in the SA header */
	for (size_t i = 0; i < server.octets; i++)
		answer[RMPP_HEADERS + i] = octet_at(i);
	message->to = mad->remote;
	message->data = answer;
	message->length = RMPP_HEADERS + server.octets;
	message->done = answered;
	vendor_send_message(server.vendor, message);
	vendor_mad_free(mad);
}

static struct sim_config config;

static void start_with(bool kernel_rmpp)
{
	struct vendor_client client;
	unsigned int node;

	net = net_new("fattree:4", &config);
	net_bring_up(net);
	ck_assert(vendor_bind(net->vendor, IBA_CLASS_SUBN_ADM, false, &net->client, NULL));
	node = sim_find_name(net->sim, "host-13");
	server = (struct server){.net = net};
	server.vendor = sim_open(net->sim, sim_port_guid(net->sim, node, 1), NULL);
	if (kernel_rmpp)
		vendor_use_kernel_rmpp(server.vendor);
	client = (struct vendor_client){net->actor, &server, serve};
	ck_assert(vendor_bind(server.vendor, IBA_CLASS_SUBN_ADM, true, &client, NULL));
}

static void start(void)
{
	start_with(false);
}

static void stop(void)
{
	vendor_close(server.vendor);
	net_free(net);
}

static void setup(void)
{
	sim_config_default(&config);
}

static void request(uint8_t mad[256])
{
	struct iba_mad_header header = {
		.base_version = IBA_BASE_VERSION,
		.mgmt_class = IBA_CLASS_SUBN_ADM,
		.class_version = IBA_SA_CLASS_VERSION,
		.method = IBA_METHOD_GET_TABLE,
		.transaction_id = ++net->tid,
		.attribute_id = IBA_ATTR_NODE_RECORD,
	};

	memset(mad, 0, 256);
	wire_encode(&iba_mad_header_type, &header, mad);
}

static struct vendor_address server_address(void)
{
	return (struct vendor_address){
		.lid = net_lid(sim_find_name(net->sim, "host-13")),
		.qpn = IBA_QP1,
		.qkey = IBA_QP1_Q_KEY,
	};
}

static struct vendor_mad *get_table(size_t octets)
{
	struct vendor_address to = server_address();
	uint8_t mad[256];

	server.octets = octets;
	request(mad);
	ck_assert(vendor_send(net->vendor, &to, mad, 256, SERVER_TIMEOUT_MS));
	return net_take(net, 2 * SERVER_TIMEOUT_MS);
}

static void check_message(struct vendor_mad *mad, size_t octets)
{
	size_t same = 0;

	ck_assert_ptr_nonnull(mad);
	ck_assert_int_eq(mad->status, VENDOR_RECEIVED);
	ck_assert_uint_eq(mad->length, RMPP_HEADERS + octets);
	ck_assert_uint_eq(mad->data[3], IBA_METHOD_GET_TABLE_RESP);
	ck_assert_uint_eq(mad->data[44], 0x12);
	/* One check: libcheck writes each check to a file, and reads the file at the end. */
	while (same < octets && mad->data[RMPP_HEADERS + same] == octet_at(same))
		same++;
	ck_assert_uint_eq(same, octets);
	vendor_mad_free(mad);
}

static const size_t sizes[] = {
	0, 1, 199, 200, 201, 400, 64 * 200, 64 * 200 + 1, 65 * 200, 66 * 200, 129 * 200, 300007};

static void all_sizes(void)
{
	start();
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
		check_message(get_table(sizes[i]), sizes[i]);
	ck_assert_ptr_null(net_take(net, 1000));
	ck_assert_uint_ge(server.requests, G_N_ELEMENTS(sizes)); /* a request may come twice */
	stop();
}

START_TEST(test_sizes)
{
	struct sim_counters counters;

	all_sizes();
	/* Segments and ACKs are packets of the fabric. */
	start();
	check_message(get_table(10 * 200), 10 * 200);
	sim_counters(net->sim, &counters);
	ck_assert_uint_eq(counters.gmps, 1 + 10 + 2);
	stop();
}
END_TEST

START_TEST(test_latency)
{
	config.hop_ns = 200;
	config.sma_ns = 5000;
	config.jitter_ns = 3000; /* out of order */
	all_sizes();
}
END_TEST

START_TEST(test_duplicates)
{
	config.duplicate = 0.5;
	all_sizes();
}
END_TEST

/* Lost requests are the client's affair, lost segments and ACKs RMPP's. */
START_TEST(test_loss)
{
	unsigned int whole = 0;

	config.seed = _i + 1;
	start();
	for (unsigned int i = 0; i < 20; i++) {
		struct vendor_mad *mad;

		sim_set_loss(net->sim, 0.1);
		mad = get_table(100 * 200 + i);
		sim_set_loss(net->sim, 0);
		ck_assert_ptr_nonnull(mad);
		whole += mad->status == VENDOR_RECEIVED;
		if (mad->status == VENDOR_RECEIVED)
			check_message(mad, 100 * 200 + i);
		else
			vendor_mad_free(mad);
	}
	ck_assert_uint_ge(whole, 13); /* 0.9 of 20 requests arrive */
	ck_assert_uint_lt(whole, 21);
	stop();
}
END_TEST

#define BIG 1800000 /* octets: 9000 segments */

/*
 * The table of a big subnet at 2 % loss: by our own transfers, which retry after 0.2 s, and by the
 * kernel's, which wait 2 s and give up after VENDOR_RMPP_RETRIES without progress.
 */
static const struct {
	bool kernel_rmpp;
	uint64_t seed;
	unsigned int max_s; /* until it has arrived */
} big[] = {
	{false, 1, 30}, {false, 2, 30}, {false, 3, 30},
	{true, 1, 300}, {true, 2, 300}, {true, 3, 300},
};

START_TEST(test_big_table_with_loss)
{
	struct sim_counters counters;
	struct vendor_address to;
	struct vendor_mad *answer;
	uint8_t mad[256];

	config.seed = big[_i].seed;
	start_with(big[_i].kernel_rmpp);
	to = server_address();
	server.octets = BIG;
	server.loss = 0.02;
	request(mad);
	ck_assert(vendor_send(net->vendor, &to, mad, 256, big[_i].max_s * 1000));
	answer = net_take(net, big[_i].max_s * 1000);
	check_message(answer, BIG);
	sim_counters(net->sim, &counters);
	ck_assert_uint_ge(counters.lost, BIG / RMPP_DATA / 100);
	ck_assert_uint_eq(server.requests, 1);
	net_run_ms(net, 20000);
	ck_assert_uint_eq(server.ends[VENDOR_DELIVERED], 1);
	stop();
}
END_TEST

/* The client's node dies: the sender gives up, tells its own client, and forgets. */
START_TEST(test_receiver_dies_midway)
{
	struct vendor_address to;
	uint8_t mad[256];

	config.hop_ns = 100000;
	start();
	to = server_address();
	server.octets = 500000;
	request(mad);
	ck_assert(vendor_send(net->vendor, &to, mad, 256, SERVER_TIMEOUT_MS));
	net_run_ms(net, 5);
	ck_assert_uint_eq(server.requests, 1);
	sim_node_set(net->sim, net->self, false);
	net_run_ms(net, SERVER_TIMEOUT_MS);
	ck_assert_uint_eq(server.ends[VENDOR_SILENT], 1);
	ck_assert_uint_eq(g_queue_get_length(&net->mads), 1); /* the request timed out */
	stop();
}
END_TEST

/* Many at once from one client. */
START_TEST(test_concurrent)
{
	struct vendor_address to;
	uint8_t mad[256];

	config.hop_ns = 1000;
	start();
	to = server_address();
	server.octets = 30000;
	for (unsigned int i = 0; i < 50; i++) {
		request(mad);
		ck_assert(vendor_send(net->vendor, &to, mad, 256, SERVER_TIMEOUT_MS));
	}
	for (unsigned int i = 0; i < 50; i++)
		check_message(net_take(net, 1000), 30000);
	stop();
}
END_TEST

/* ---- retries, as the kernel does them ---- */

struct answering {
	struct vendor_address remote;
	uint8_t message[RMPP_HEADERS + 1000];
	unsigned int requests, failures;
};

static void note_request(void *arg, enum vendor_status status, const struct vendor_address *remote,
			 const uint8_t *data, size_t length)
{
	struct answering *answering = arg;

	(void)length;
	answering->failures += status == VENDOR_TIMED_OUT;
	if (status != VENDOR_RECEIVED)
		return;
	answering->requests++;
	answering->remote = *remote;
	memcpy(answering->message, data, 24);
	answering->message[3] |= IBA_METHOD_RESPONSE;
	answering->message[RMPP_AT_VERSION] = IBA_RMPP_VERSION;
	answering->message[RMPP_AT_TYPE] = IBA_RMPP_DATA;
	answering->message[RMPP_AT_FLAGS] = IBA_RMPP_ACTIVE;
}

/* An answer whose segments are all lost for lost_ms; true if it arrives all the same. */
static bool answer_gets_through(unsigned int timeout_ms, unsigned int retries, uint64_t lost_ms)
{
	struct answering answering = {.requests = 0};
	const struct agent_filter filter = {.qpn = IBA_QP1,
					    .mgmt_class = IBA_CLASS_SUBN_ADM,
					    .class_version = AGENT_ANY_VERSION,
					    .rmpp_version = IBA_RMPP_VERSION,
					    .methods = {UINT64_MAX, UINT64_MAX}};
	struct agent_send send = {.timeout_ms = timeout_ms, .retries = retries};
	struct vendor_address to = server_address();
	unsigned int node = sim_find_name(net->sim, "host-13");
	struct agent *agent;
	struct vendor_mad *mad;
	uint8_t ask[256];
	bool arrived;

	vendor_close(server.vendor);
	agent = agent_new(net->sim, sim_port_at(net->sim, node, 1), note_request, &answering);
	ck_assert_int_eq(agent_register(agent, &filter), 0);
	request(ask);
	ck_assert(vendor_send(net->vendor, &to, ask, 256, SERVER_TIMEOUT_MS));
	net_run_ms(net, 10);
	ck_assert_uint_eq(answering.requests, 1);
	ck_assert(sim_link_black_hole(net->sim, node, 1, true));
	send.to = answering.remote;
	send.data = answering.message;
	send.length = sizeof(answering.message);
	ck_assert_int_eq(agent_send(agent, &send), 0);
	net_run_ms(net, lost_ms);
	ck_assert(sim_link_black_hole(net->sim, node, 1, false));
	mad = net_take(net, SERVER_TIMEOUT_MS / 2);
	arrived = mad && mad->status == VENDOR_RECEIVED;
	ck_assert_uint_eq(answering.failures, !arrived);
	g_clear_pointer(&mad, vendor_mad_free);
	agent_free(agent);
	return arrived;
}

static const struct {
	unsigned int timeout_ms, retries;
	uint64_t lost_ms;
	bool arrives;
} retrying[] = {
	{0, 0, 1, false},	  {0, 1, 1, true},	{0, 1, 1990, true},
	{0, 1, 2010, false},	  {0, 3, 5990, true},	{0, 3, 6010, false},
	{100, 1, 90, true},	  {100, 1, 110, false}, {60000, 1, 1990, true},
	{60000, 1, 2010, false},
};

START_TEST(test_retries)
{
	start();
	ck_assert_int_eq(answer_gets_through(retrying[_i].timeout_ms, retrying[_i].retries,
					     retrying[_i].lost_ms),
			 retrying[_i].arrives);
	net_free(net);
}
END_TEST

/* A port requests retries of its messages: one lost packet does not end a table. */
START_TEST(test_port_retries)
{
	unsigned int node;
	struct vendor_address to;
	uint8_t mad[256];

	start();
	node = sim_find_name(net->sim, "host-13");
	to = server_address();
	server.octets = 1000;
	request(mad);
	ck_assert(sim_link_black_hole(net->sim, node, 1, true));
	ck_assert(vendor_send(net->vendor, &to, mad, 256, SERVER_TIMEOUT_MS));
	net_run_ms(net, 5000);
	ck_assert(sim_link_black_hole(net->sim, node, 1, false));
	check_message(net_take(net, SERVER_TIMEOUT_MS), 1000);
	stop();
}
END_TEST

/* ---- the receiver against bad packets ---- */

struct reply {
	uint8_t mad[256];
	unsigned int n;
};

static bool keep(void *arg, const uint8_t mad[IBA_MAD_BYTES])
{
	struct reply *reply = arg;

	memcpy(reply->mad, mad, 256);
	reply->n++;
	return true;
}

static void ignore(void *arg)
{
	(void)arg;
}

static const struct {
	uint8_t version, type, flags;
	uint32_t segment, data2;
	uint8_t status;
} bad[] = {
	{2, IBA_RMPP_DATA, 0x3, 1, 0, IBA_RMPP_UNSUP_VERSION},
	{1, 9, 0x3, 1, 0, IBA_RMPP_BAD_TYPE},
	{1, IBA_RMPP_DATA, 0x3, 0, 0, IBA_RMPP_BAD_FIRST_SEGMENT},
	{1, IBA_RMPP_DATA, 0x3, 2, 0, IBA_RMPP_BAD_FIRST_SEGMENT},
	{1, IBA_RMPP_DATA, 0x1, 1, 0, IBA_RMPP_BAD_FIRST_SEGMENT},
	{1, IBA_RMPP_DATA, 0x7, 1, 19, IBA_RMPP_BAD_LAST_LENGTH},
	{1, IBA_RMPP_DATA, 0x7, 1, 221, IBA_RMPP_BAD_LAST_LENGTH},
	{1, IBA_RMPP_DATA, 0x7, 1, 0xFFFFFFFF, IBA_RMPP_BAD_LAST_LENGTH},
};

static void data_packet(uint8_t mad[256], uint8_t version, uint8_t type, uint8_t flags,
			uint32_t segment, uint32_t data2)
{
	memset(mad, 0, 256);
	mad[3] = IBA_METHOD_GET_TABLE_RESP;
	mad[RMPP_AT_VERSION] = version;
	mad[RMPP_AT_TYPE] = type;
	mad[RMPP_AT_FLAGS] = flags;
	for (unsigned int i = 0; i < 4; i++) {
		mad[RMPP_AT_SEGMENT + i] = segment >> (24 - 8 * i);
		mad[RMPP_AT_DATA2 + i] = data2 >> (24 - 8 * i);
	}
}

struct machine {
	struct runtime *rt;
	struct rmpp_config config;
};

static void machine_start(struct machine *machine)
{
	machine->rt = runtime_new(RUNTIME_VIRTUAL);
	machine->config = (struct rmpp_config){
		.actor = actor_new(machine->rt, "rmpp"),
		.wait_ns = NS_PER_S,
		.wait_max_ns = NS_PER_S,
		.expire_ns = NS_PER_S,
		.retries = 3,
		.window = 8,
		.message_max = 1 << 20,
	};
}

static void machine_stop(struct machine *machine)
{
	actor_stop(machine->config.actor);
	actor_free(machine->config.actor);
	runtime_free(machine->rt);
}

START_TEST(test_bad_packets)
{
	struct machine machine;
	struct reply reply = {.n = 0};
	struct rmpp_receive *receive;
	uint8_t mad[256];

	machine_start(&machine);
	receive = rmpp_receive_new(&machine.config, keep, ignore, &reply);
	data_packet(mad, bad[_i].version, bad[_i].type, bad[_i].flags, bad[_i].segment,
		    bad[_i].data2);
	ck_assert_int_eq(rmpp_receive_handle(receive, mad), RMPP_ENDED);
	ck_assert_uint_eq(reply.n, 1);
	ck_assert_uint_eq(reply.mad[RMPP_AT_TYPE], IBA_RMPP_ABORT);
	ck_assert_uint_eq(reply.mad[RMPP_AT_STATUS], bad[_i].status);
	ck_assert_uint_eq(reply.mad[3], IBA_METHOD_GET_TABLE);
	rmpp_receive_free(receive);
	machine_stop(&machine);
}
END_TEST

/* A segment number far beyond the window must not make the receiver allocate for it. */
START_TEST(test_window_bounds)
{
	struct machine machine;
	struct reply reply = {.n = 0};
	struct rmpp_receive *receive;
	uint8_t mad[256];
	size_t length;

	machine_start(&machine);
	receive = rmpp_receive_new(&machine.config, keep, ignore, &reply);
	data_packet(mad, 1, IBA_RMPP_DATA, 0x1, 0xFFFFFFFF, 0);
	ck_assert_int_eq(rmpp_receive_handle(receive, mad), RMPP_MORE);
	ck_assert_uint_eq(reply.n, 0);
	data_packet(mad, 1, IBA_RMPP_DATA, 0x5, 2, 20 + 7); /* the last one first */
	ck_assert_int_eq(rmpp_receive_handle(receive, mad), RMPP_MORE);
	data_packet(mad, 1, IBA_RMPP_DATA, 0x3, 1, 0);
	ck_assert_int_eq(rmpp_receive_handle(receive, mad), RMPP_COMPLETE);
	rmpp_receive_message(receive, &length);
	ck_assert_uint_eq(length, RMPP_HEADERS + 207);
	ck_assert_uint_eq(reply.mad[RMPP_AT_TYPE], IBA_RMPP_ACK);
	ck_assert_uint_eq(reply.mad[RMPP_AT_SEGMENT + 3], 2);
	rmpp_receive_free(receive);
	machine_stop(&machine);
}
END_TEST

struct sending {
	struct reply last;
	int result; /* -1: not yet */
};

static bool keep_sent(void *arg, const uint8_t mad[IBA_MAD_BYTES])
{
	return keep(&((struct sending *)arg)->last, mad);
}

static void sent(void *arg, enum rmpp_end end)
{
	((struct sending *)arg)->result = end == RMPP_DELIVERED;
}

/* No ACK: the first segment again and again, then an ABORT and the end. */
START_TEST(test_sender_gives_up)
{
	struct machine machine;
	struct sending sending = {.result = -1};
	uint8_t message[RMPP_HEADERS + 1000] = {0};
	struct rmpp_send *send;

	machine_start(&machine);
	send = rmpp_send_new(&machine.config, message, sizeof(message), keep_sent, sent, &sending);
	rmpp_send_start(send);
	ck_assert_uint_eq(sending.last.n, 1);
	ck_assert_uint_eq(sending.last.mad[RMPP_AT_FLAGS], IBA_RMPP_ACTIVE | IBA_RMPP_FIRST);
	ck_assert_uint_eq(sending.last.mad[RMPP_AT_DATA2 + 2] << 8 |
				  sending.last.mad[RMPP_AT_DATA2 + 3],
			  5 * 20 + 1000);
	runtime_run(machine.rt, NULL, NULL, 100 * NS_PER_S);
	ck_assert_int_eq(sending.result, 0);
	ck_assert_uint_eq(sending.last.n, 5);
	ck_assert_uint_eq(sending.last.mad[RMPP_AT_TYPE], IBA_RMPP_ABORT);
	ck_assert_uint_eq(sending.last.mad[RMPP_AT_STATUS], IBA_RMPP_TOO_MANY_RETRIES);
	rmpp_send_free(send);
	machine_stop(&machine);
}
END_TEST

static const struct {
	uint8_t type;
	uint32_t segment, window;
	int result;
	uint8_t status; /* of an ABORT that is sent, or 0 */
} answers[] = {
	{IBA_RMPP_ABORT, 0, 0, 0, 0},
	{IBA_RMPP_STOP, 0, 0, 0, 0},
	{IBA_RMPP_ACK, 2, 9, 0, IBA_RMPP_SEGMENT_TOO_BIG},
	{IBA_RMPP_ACK, 1, 0, 0, IBA_RMPP_WINDOW_TOO_SMALL},
	{IBA_RMPP_ACK, 0, 1, -1, 0},
	{IBA_RMPP_ACK, 1, 3, -1, 0},
	{IBA_RMPP_DATA, 1, 3, -1, 0},
};

START_TEST(test_sender_answers)
{
	struct machine machine;
	struct sending sending = {.result = -1};
	uint8_t message[RMPP_HEADERS + 1000] = {0}, mad[256];
	struct rmpp_send *send;

	machine_start(&machine);
	send = rmpp_send_new(&machine.config, message, sizeof(message), keep_sent, sent, &sending);
	rmpp_send_start(send);
	data_packet(mad, 1, answers[_i].type, IBA_RMPP_ACTIVE, answers[_i].segment,
		    answers[_i].window);
	rmpp_send_handle(send, mad);
	ck_assert_int_eq(sending.result, answers[_i].result);
	if (answers[_i].status) {
		ck_assert_uint_eq(sending.last.mad[RMPP_AT_TYPE], IBA_RMPP_ABORT);
		ck_assert_uint_eq(sending.last.mad[RMPP_AT_STATUS], answers[_i].status);
	}
	if (answers[_i].window == 3 && answers[_i].type == IBA_RMPP_ACK) {
		ck_assert_uint_eq(sending.last.n, 3); /* 2 and 3, no more */
		ck_assert_uint_eq(sending.last.mad[RMPP_AT_SEGMENT + 3], 3);
	}
	rmpp_send_free(send);
	machine_stop(&machine);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sim_rmpp");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, test_sizes);
	tcase_add_test(tcase, test_latency);
	tcase_add_test(tcase, test_duplicates);
	tcase_add_loop_test(tcase, test_loss, 0, 5);
	tcase_add_loop_test(tcase, test_big_table_with_loss, 0, G_N_ELEMENTS(big));
	tcase_add_test(tcase, test_receiver_dies_midway);
	tcase_add_test(tcase, test_concurrent);
	tcase_add_loop_test(tcase, test_retries, 0, G_N_ELEMENTS(retrying));
	tcase_add_test(tcase, test_port_retries);
	tcase_add_loop_test(tcase, test_bad_packets, 0, G_N_ELEMENTS(bad));
	tcase_add_test(tcase, test_window_bounds);
	tcase_add_test(tcase, test_sender_gives_up);
	tcase_add_loop_test(tcase, test_sender_answers, 0, G_N_ELEMENTS(answers));
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
