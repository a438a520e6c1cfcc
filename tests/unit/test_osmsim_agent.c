// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* MADs between programs on a simulated fabric, by the rules of the kernel's user MAD interface. */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "tests/unit/osmsim_net.h"

#define VENDOR_CLASS 0x30
#define MEGABYTE (1U << 20)

static struct osmsim_net *net;
static struct program a, b;

static void setup(void)
{
	net = osmsim_net_new();
	program_start(&a, net, "a");
	program_start(&b, net, "b");
}

static void teardown(void)
{
	program_end(&a);
	program_end(&b);
	ck_assert_uint_eq(g_hash_table_size(net->sim->agents), 0);
	osmsim_net_free(net);
}

/* ---- what ib_register_mad_agent() refuses ---- */

static const struct {
	struct osmsim_register request;
	int result;
} registrations[] = {
	{{.qpn = 1, .mgmt_class = 0x03, .class_version = 2, .rmpp_version = 1}, 0},
	{{.qpn = 1, .mgmt_class = 0x03, .class_version = 2, .rmpp_version = 2}, -EINVAL},
	{{.qpn = 1, .mgmt_class = 0x04, .class_version = 1, .rmpp_version = 1}, -EINVAL},
	{{.qpn = 1, .mgmt_class = 0x06, .class_version = 1, .rmpp_version = 1}, 0},
	{{.qpn = 0, .mgmt_class = 0x01, .class_version = 1}, 0},
	{{.qpn = 0, .mgmt_class = 0x81, .class_version = 1}, 0},
	{{.qpn = 1, .mgmt_class = 0x81, .class_version = 1}, -EINVAL},
	{{.qpn = 1, .mgmt_class = 0x01, .class_version = 1}, -EINVAL},
	{{.qpn = 0, .mgmt_class = 0x04, .class_version = 1}, -EINVAL},
	{{.qpn = 2, .mgmt_class = 0x04, .class_version = 1}, -EINVAL},
	{{.qpn = 1, .mgmt_class = 0x50, .class_version = 1}, -EINVAL},
	{{.qpn = 1, .mgmt_class = 0x104, .class_version = 1}, -EINVAL},
	{{.qpn = 1, .mgmt_class = 0x04, .class_version = 0x83}, -EINVAL},
	{{.qpn = 1, .mgmt_class = 0x30, .class_version = 1}, -EINVAL}, /* no OUI */
	{{.qpn = 1, .mgmt_class = 0x30, .class_version = 1, .oui = 0x1000000}, -EINVAL},
	{{.qpn = 1, .mgmt_class = 0x30, .class_version = 1, .oui = 1, .rmpp_version = 1}, 0},
	{{.qpn = 1, .mgmt_class = 0}, 0}, /* may send anything, gets responses only */
};

START_TEST(test_registration)
{
	ck_assert_int_eq(program_register(&a, &registrations[_i].request),
			 registrations[_i].result);
}
END_TEST

/* A method of a class, version and OUI has one agent a port. */
START_TEST(test_overlap)
{
	struct osmsim_register request = {
		.qpn = 1,
		.mgmt_class = VENDOR_CLASS,
		.class_version = 1,
		.oui = 1,
		.method_mask = {1 << 1 | 1 << 2, 0},
	};
	struct osmsim_unregister unregister = {.handle = a.handle};
	struct osmsim_result result;
	struct program again;

	program_start(&again, net, "a");
	ck_assert_int_eq(program_register(&a, &request), 0);
	ck_assert_int_eq(program_register(&b, &request), 0); /* another port */
	request.method_mask[0] = 1 << 2 | 1 << 3;
	ck_assert_int_eq(program_register(&a, &request), -EINVAL);
	ck_assert_int_eq(program_register(&again, &request), -EINVAL);
	request.method_mask[0] = 1 << 3;
	ck_assert_int_eq(program_register(&again, &request), 0);
	request.method_mask[0] = 1 << 2;
	request.oui = 2;
	ck_assert_int_eq(program_register(&again, &request), 1);
	request.oui = 1;
	request.class_version = 2;
	ck_assert_int_eq(program_register(&again, &request), 2);
	request.class_version = 1;
	net_ask(net, a.control, OSMSIM_UNREGISTER, &unregister, sizeof(unregister), &result,
		sizeof(result));
	ck_assert_int_eq(program_register(&again, &request), 3);
	program_end(&again);
}
END_TEST

/* ---- requests and responses ---- */

static void expect(struct program *program, uint32_t agent, uint32_t status, uint8_t method,
		   uint32_t tid)
{
	struct ib_user_mad umad;
	g_autofree uint8_t *mad = NULL;

	program_receive(program, &umad, &mad);
	ck_assert_uint_eq(umad.agent_id, agent);
	ck_assert_uint_eq(umad.status, status);
	ck_assert_uint_eq(mad[3], method);
	ck_assert_uint_eq(sim_read32(mad + 12), tid);
}

START_TEST(test_exchange)
{
	struct ib_user_mad umad;
	g_autofree uint8_t *request = NULL, *response = NULL;
	uint8_t mad[256];

	ck_assert_int_eq(program_agent(&a, VENDOR_CLASS, 0, 0), 0);
	ck_assert_int_eq(program_agent(&b, VENDOR_CLASS, 0, 5), 0);
	ck_assert_int_eq(program_agent(&b, VENDOR_CLASS, 0, IBA_METHOD_GET), 1);
	mad_make(mad, VENDOR_CLASS, IBA_METHOD_GET, 4711);
	mad[100] = 42;
	program_send(&a, 0, 2, mad, 256, 1000, 0);
	ck_assert_uint_eq(program_receive(&b, &umad, &request), 256);
	ck_assert_uint_eq(umad.agent_id, 1);
	ck_assert_uint_eq(umad.status, 0);
	ck_assert_uint_eq(be16toh(umad.addr.lid), 1);
	ck_assert_uint_eq(be32toh(umad.addr.qpn), 1);
	ck_assert_uint_eq(request[100], 42);
	ck_assert_uint_ne(sim_read32(request + 8), 0); /* the number of the agent */
	request[3] |= IBA_METHOD_RESPONSE;
	request[100] = 43;
	program_send(&b, umad.agent_id, be16toh(umad.addr.lid), request, 256, 0, 0);
	ck_assert_uint_eq(program_receive(&a, &umad, &response), 256);
	ck_assert_uint_eq(umad.agent_id, 0);
	ck_assert_uint_eq(umad.status, 0);
	ck_assert_uint_eq(response[100], 43);
	ck_assert_mem_eq(response + 8, request + 8, 8);
	/* A second response goes to no agent, nor does another method. */
	program_send(&b, 1, 1, request, 256, 0, 0);
	mad_make(mad, VENDOR_CLASS, IBA_METHOD_SET, 1);
	program_send(&a, 0, 2, mad, 256, 0, 0);
	osmsim_net_run_ms(net, 5);
	ck_assert_uint_eq(net->sim->counters.dropped, 2);
}
END_TEST

/* Sent retries + 1 times, then returned: the header only. */
START_TEST(test_retries)
{
	struct ib_user_mad umad;
	g_autofree uint8_t *back = NULL;
	uint64_t start = runtime_now(net->rt);
	uint8_t mad[256];

	ck_assert_int_eq(program_agent(&a, VENDOR_CLASS, 0, 0), 0);
	ck_assert_int_eq(program_agent(&b, VENDOR_CLASS, 0, IBA_METHOD_GET), 0);
	mad_make(mad, VENDOR_CLASS, IBA_METHOD_GET, 5);
	program_send(&a, 0, 2, mad, 256, 20, 2);
	ck_assert_uint_eq(program_receive(&a, &umad, &back), 24);
	ck_assert_uint_eq(umad.status, ETIMEDOUT);
	ck_assert_uint_eq(sim_read32(back + 12), 5);
	ck_assert_uint_ge(runtime_now(net->rt) - start, 60 * NS_PER_MS);
	for (unsigned int i = 0; i < 3; i++)
		expect(&b, 0, 0, IBA_METHOD_GET, 5);
	ck_assert_uint_eq(net->sim->counters.gmps, 3);
	/* Its TransactionID is free again. */
	program_send(&a, 0, 2, mad, 256, 20, 0);
	expect(&a, 0, ETIMEDOUT, IBA_METHOD_GET, 5);
}
END_TEST

START_TEST(test_refused_mads)
{
	uint8_t mad[300] = {0};

	ck_assert_int_eq(program_agent(&a, VENDOR_CLASS, 0, 0), 0);
	ck_assert_int_eq(program_agent(&a, IBA_CLASS_SUBN_DIRECTED, 0, 0), 1);
	mad_make(mad, VENDOR_CLASS, IBA_METHOD_GET, 5);
	program_send(&a, 0, 7, mad, 256, 10000, 0);
	program_send(&a, 0, 7, mad, 256, 10000, 0); /* waits already */
	expect(&a, 0, EINVAL, IBA_METHOD_GET, 5);
	mad[15] = 6;
	program_send(&a, 2, 7, mad, 256, 10000, 0); /* no such agent */
	expect(&a, 2, EINVAL, IBA_METHOD_GET, 6);
	program_send(&a, UINT32_MAX, 7, mad, 256, 10000, 0);
	expect(&a, UINT32_MAX, EINVAL, IBA_METHOD_GET, 6);
	program_send(&a, 1, 7, mad, 256, 10000, 0); /* a GMP from QP 0 */
	expect(&a, 1, EINVAL, IBA_METHOD_GET, 6);
	program_send(&a, 0, 7, mad, 300, 10000, 0); /* too long without RMPP */
	expect(&a, 0, EINVAL, IBA_METHOD_GET, 6);
	mad_make(mad, IBA_CLASS_SUBN_LID, IBA_METHOD_GET, 7);
	program_send(&a, 0, 7, mad, 256, 10000, 0); /* an SMP from QP 1 */
	expect(&a, 0, EINVAL, IBA_METHOD_GET, 7);
}
END_TEST

/* ---- RMPP ---- */

static const struct {
	uint8_t mgmt_class;
	unsigned int headers;
} rmpp_classes[] = {{IBA_CLASS_SUBN_ADM, 56}, {VENDOR_CLASS, 40}, {IBA_CLASS_DEV_MGT, 64}};

static uint8_t octet_at(size_t i)
{
	return i * 7 + (i >> 8) * 13 + 1;
}

static void check_message(const uint8_t *message, size_t length, unsigned int headers)
{
	ck_assert_uint_eq(length, headers + MEGABYTE);
	for (size_t i = headers; i < length; i++)
		if (message[i] != octet_at(i))
			ck_abort_msg("octet %zu", i);
}

static void fill_message(uint8_t *message, unsigned int headers)
{
	message[24] = 1; /* RMPPVersion, DATA, Active */
	message[25] = 1;
	message[26] = 1;
	for (size_t i = headers; i < headers + MEGABYTE; i++)
		message[i] = octet_at(i);
}

/* A request of a megabyte and a response as long. */
START_TEST(test_rmpp)
{
	unsigned int headers = rmpp_classes[_i].headers;
	g_autofree uint8_t *message = g_malloc0(headers + MEGABYTE);
	g_autofree uint8_t *request = NULL, *response = NULL;
	struct ib_user_mad umad;
	uint8_t header[256];
	size_t length;

	ck_assert_int_eq(program_agent(&a, rmpp_classes[_i].mgmt_class, 1, 0), 0);
	ck_assert_int_eq(program_agent(&b, rmpp_classes[_i].mgmt_class, 1, IBA_METHOD_GET_MULTI),
			 0);
	mad_make(header, rmpp_classes[_i].mgmt_class, IBA_METHOD_GET_MULTI, 9);
	memcpy(message, header, headers);
	fill_message(message, headers);
	program_send(&a, 0, 2, message, headers + MEGABYTE, 3000, 0);
	length = program_receive(&b, &umad, &request);
	ck_assert_uint_eq(umad.status, 0);
	check_message(request, length, headers);
	request[3] |= IBA_METHOD_RESPONSE;
	fill_message(request, headers);
	program_send(&b, 0, 1, request, length, 0, 0);
	length = program_receive(&a, &umad, &response);
	ck_assert_uint_eq(umad.status, 0);
	check_message(response, length, headers);
	ck_assert_uint_eq(sim_read32(response + 12), 9);
}
END_TEST

/* An agent without RMPP gets the segments as they are, and its own are sent as they are. */
START_TEST(test_rmpp_by_user)
{
	g_autofree uint8_t *segment = NULL, *ack = NULL;
	uint8_t message[56 + 300] = {0}, header[256];
	struct ib_user_mad umad;

	ck_assert_int_eq(program_agent(&a, VENDOR_CLASS, 1, 0), 0);
	ck_assert_int_eq(program_agent(&b, VENDOR_CLASS, 0, IBA_METHOD_GET), 0);
	mad_make(header, VENDOR_CLASS, IBA_METHOD_GET, 9);
	memcpy(message, header, 40);
	message[24] = message[25] = message[26] = 1;
	program_send(&a, 0, 2, message, sizeof(message), 3000, 0);
	ck_assert_uint_eq(program_receive(&b, &umad, &segment), 256);
	ck_assert_uint_eq(segment[25], IBA_RMPP_DATA);
	ck_assert_uint_eq(segment[26] & 7, IBA_RMPP_ACTIVE | IBA_RMPP_FIRST);
	ck_assert_uint_eq(sim_read32(segment + 28), 1);
	/* An ACK of the first allows the second, which is the last. */
	segment[3] |= IBA_METHOD_RESPONSE;
	segment[25] = IBA_RMPP_ACK;
	segment[26] = IBA_RMPP_ACTIVE;
	memset(segment + 32, 0, 4);
	segment[35] = 2;
	program_send(&b, 0, 1, segment, 256, 0, 0);
	ck_assert_uint_eq(program_receive(&b, &umad, &ack), 256);
	ck_assert_uint_eq(sim_read32(ack + 28), 2);
	ck_assert_uint_eq(ack[26] & 7, IBA_RMPP_ACTIVE | IBA_RMPP_LAST);
}
END_TEST

/* The receiver sends STOP: the request comes back. */
START_TEST(test_rmpp_abort)
{
	uint8_t message[40 + 1000] = {0}, header[256];
	g_autofree uint8_t *segment = NULL;
	struct ib_user_mad umad;

	ck_assert_int_eq(program_agent(&a, VENDOR_CLASS, 1, 0), 0);
	ck_assert_int_eq(program_agent(&b, VENDOR_CLASS, 0, IBA_METHOD_GET), 0);
	mad_make(header, VENDOR_CLASS, IBA_METHOD_GET, 9);
	memcpy(message, header, 40);
	message[24] = message[25] = message[26] = 1;
	program_send(&a, 0, 2, message, sizeof(message), 3000, 3);
	program_receive(&b, &umad, &segment);
	segment[3] |= IBA_METHOD_RESPONSE;
	segment[25] = IBA_RMPP_ABORT;
	segment[26] = IBA_RMPP_ACTIVE;
	segment[27] = IBA_RMPP_UNSPECIFIED;
	program_send(&b, 0, 1, segment, 256, 0, 0);
	expect(&a, 0, ETIMEDOUT, IBA_METHOD_GET, 9);
}
END_TEST

/* With latencies everything is driven by timers. */
START_TEST(test_latency)
{
	uint64_t start = runtime_now(net->rt);
	uint8_t mad[256];

	sim_set_delay(net->sim, 2 * NS_PER_MS, 0);
	ck_assert_int_eq(program_agent(&a, IBA_CLASS_SUBN_DIRECTED, 0, 0), 0);
	mad_make(mad, IBA_CLASS_SUBN_DIRECTED, IBA_METHOD_GET, 3);
	mad[7] = 2;
	mad[17] = IBA_ATTR_NODE_INFO;
	memset(mad + 32, 0xFF, 4);
	mad[129] = 1;
	mad[130] = 2;
	program_send(&a, 0, IBA_LID_PERMISSIVE, mad, 256, 1000, 0);
	expect(&a, 0, 0, IBA_METHOD_GET_RESP, 3);
	ck_assert_uint_ge(runtime_now(net->rt) - start, 8 * NS_PER_MS);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("osmsim_agent");
	TCase *tcase = tcase_create("all");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_registration, 0, G_N_ELEMENTS(registrations));
	tcase_add_test(tcase, test_overlap);
	tcase_add_test(tcase, test_exchange);
	tcase_add_test(tcase, test_retries);
	tcase_add_test(tcase, test_refused_mads);
	tcase_add_loop_test(tcase, test_rmpp, 0, G_N_ELEMENTS(rmpp_classes));
	tcase_add_test(tcase, test_rmpp_by_user);
	tcase_add_test(tcase, test_rmpp_abort);
	tcase_add_test(tcase, test_latency);
	suite_add_tcase(suite, tcase);
	return suite;
}
