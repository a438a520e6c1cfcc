// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages in segments over a port that is a list, in virtual time: pace, replies of a receiver,
 * requests in segments and their number, the kernel's RMPP.
 */
#include <check.h>
#include <string.h>

#include "libvendor/rmpp.h"
#include "tests/run_suite.h"
#include "vendor/vendor_private.h"

#define LID 7
#define OCTETS 10000 /* of a message: 50 segments */
#define SEGMENTS 50
#define REQUEST_SHARE 20

static struct runtime *rt;
static struct actor *actor;
static struct timer tick;
static struct vendor vendor;
static GPtrArray *sent;	     /* uint8_t[IBA_MAD_BYTES], or a whole message's first */
static unsigned int room;    /* MADs that the device accepts before it is full */
static unsigned int batches; /* calls of send_many */
static unsigned int ended;   /* messages */
static enum vendor_end end;
static GPtrArray *served; /* struct vendor_mad */
static unsigned int refused, strays, repeats;

static bool port_bind(struct vendor *base, uint8_t mgmt_class, bool manager,
		      const struct vendor_client *client, GError **error)
{
	(void)base;
	(void)mgmt_class;
	(void)manager;
	(void)client;
	(void)error;
	return true;
}

static bool port_send(struct vendor *base, const struct vendor_address *to, const uint8_t *data,
		      size_t length, unsigned int timeout_ms)
{
	(void)base;
	(void)to;
	(void)timeout_ms;
	if (!room)
		return false;
	room--;
	ck_assert(vendor.rmpp == VENDOR_RMPP_KERNEL || length == IBA_MAD_BYTES);
	g_ptr_array_add(sent, g_memdup2(data, IBA_MAD_BYTES));
	return true;
}

static unsigned int port_send_many(struct vendor *base, const struct vendor_address *to,
				   const uint8_t (*mads)[IBA_MAD_BYTES], unsigned int n)
{
	unsigned int taken = 0;

	ck_assert_uint_ge(n, 1);
	ck_assert_uint_le(n, RMPP_MANY);
	batches++;
	while (taken < n && port_send(base, to, mads[taken], IBA_MAD_BYTES, 0))
		taken++;
	return taken;
}

static void port_close(struct vendor *base)
{
	(void)base;
}

static struct vendor_ops ops = {.bind = port_bind, .send = port_send, .close = port_close};

static void choose_single(void)
{
	ops.send_many = NULL;
}

static void choose_many(void)
{
	ops.send_many = port_send_many;
}

static void free_mad(void *mad)
{
	vendor_mad_free(mad);
}

static void serve(void *arg, struct vendor_mad *mad)
{
	(void)arg;
	g_ptr_array_add(served, mad);
}

static void on_refused(void *arg, const struct vendor_mad *mad)
{
	(void)arg;
	(void)mad;
	refused++;
}

static void on_dropped(void *arg, enum vendor_dropped what)
{
	(void)arg;
	strays += what == VENDOR_DROPPED_STRAY;
	repeats += what == VENDOR_DROPPED_REPEAT;
}

static void on_tick(struct timer *timer)
{
	(void)timer;
}

static struct vendor_client client;

static void start(enum vendor_rmpp rmpp)
{
	const struct vendor_shares shares = {
		.source = REQUEST_SHARE,
		.total = 1000,
		.refused = on_refused,
		.dropped = on_dropped,
	};

	rt = runtime_new(RUNTIME_VIRTUAL);
	actor = actor_new(rt, "test");
	timer_init(&tick, actor, on_tick);
	vendor = (struct vendor){.ops = &ops, .rmpp = rmpp};
	sent = g_ptr_array_new_with_free_func(g_free);
	served = g_ptr_array_new_with_free_func(free_mad);
	room = G_MAXUINT;
	ended = refused = strays = repeats = batches = 0;
	client = (struct vendor_client){.actor = actor, .receive = serve};
	ck_assert(vendor_bind(&vendor, IBA_CLASS_SUBN_ADM, true, &client, NULL));
	vendor_serve(&vendor, IBA_CLASS_SUBN_ADM, &client, &shares);
}

static void stop(void)
{
	actor_stop(actor);
	g_ptr_array_unref(served);
	vendor_close(&vendor);
	g_ptr_array_unref(sent);
	actor_free(actor);
	runtime_free(rt);
}

/* Time stands still in an idle runtime, hence the timer. */
static void run_ms(uint64_t ms)
{
	if (ms)
		timer_start(&tick, ms * NS_PER_MS);
	runtime_run(rt, NULL, NULL, runtime_now(rt) + ms * NS_PER_MS);
}

static void on_done(struct vendor_message *message, enum vendor_end how)
{
	ck_assert_ptr_null(message->data);
	ended++;
	end = how;
	g_free(message);
}

static uint32_t number_at(const uint8_t *mad, unsigned int at)
{
	return (uint32_t)mad[at] << 24 | mad[at + 1] << 16 | mad[at + 2] << 8 | mad[at + 3];
}

static void put_number(uint8_t *mad, unsigned int at, uint32_t number)
{
	for (unsigned int i = 0; i < 4; i++)
		mad[at + i] = number >> (24 - 8 * i);
}

static void header(uint8_t *mad, uint8_t method, uint32_t tid)
{
	mad[0] = mad[2] = 1;
	mad[1] = IBA_CLASS_SUBN_ADM;
	mad[3] = method;
	put_number(mad, 12, tid);
}

static void send_message(uint32_t tid, struct vendor_mad *request)
{
	struct vendor_message *message = g_new0(struct vendor_message, 1);

	message->to.lid = LID;
	message->length = RMPP_HEADERS + OCTETS;
	message->data = g_malloc0(message->length);
	message->request = request;
	message->done = on_done;
	header(message->data, IBA_METHOD_GET_TABLE_RESP, tid);
	message->data[RMPP_AT_FLAGS] = IBA_RMPP_ACTIVE;
	for (size_t i = 0; i < OCTETS; i++)
		message->data[RMPP_HEADERS + i] = (uint8_t)(i / 200 + 1);
	vendor_send_message(&vendor, message);
	run_ms(0);
}

static void arrive(uint16_t lid, const uint8_t *data)
{
	struct vendor_mad *mad = vendor_mad_new(&vendor, data, IBA_MAD_BYTES);

	mad->remote.lid = lid;
	vendor_mad_post(mad, &client);
	run_ms(0);
}

static void tell(uint32_t tid, uint8_t type, uint32_t segment, uint32_t window)
{
	uint8_t mad[IBA_MAD_BYTES] = {0};

	header(mad, IBA_METHOD_GET_TABLE, tid);
	mad[RMPP_AT_VERSION] = 1;
	mad[RMPP_AT_TYPE] = type;
	mad[RMPP_AT_FLAGS] = IBA_RMPP_ACTIVE;
	put_number(mad, RMPP_AT_SEGMENT, segment);
	put_number(mad, RMPP_AT_DATA2, window);
	arrive(LID, mad);
}

static const uint8_t *sent_at(unsigned int i)
{
	ck_assert_uint_lt(i, sent->len);
	return sent->pdata[i];
}

START_TEST(test_window)
{
	start(VENDOR_RMPP_OWN);
	send_message(5, NULL);
	ck_assert_uint_eq(sent->len, 1);
	tell(5, IBA_RMPP_ACK, 1, 30);
	ck_assert_uint_eq(sent->len, 30);
	tell(5, IBA_RMPP_ACK, 30, 90);
	ck_assert_uint_eq(sent->len, SEGMENTS);
	for (unsigned int i = 0; i < SEGMENTS; i++) {
		ck_assert_uint_eq(number_at(sent_at(i), RMPP_AT_SEGMENT), i + 1);
		ck_assert_uint_eq(sent_at(i)[RMPP_HEADERS], i + 1);
	}
	ck_assert_uint_eq(batches, ops.send_many ? 1 + 2 + 2 : 0); /* 1, 29 and 20 segments */
	ck_assert_uint_eq(ended, 0);
	tell(5, IBA_RMPP_ACK, SEGMENTS, 90);
	ck_assert_uint_eq(ended, 1);
	ck_assert_int_eq(end, VENDOR_DELIVERED);
	tell(5, IBA_RMPP_ACK, SEGMENTS, 90); /* no longer in use */
	ck_assert_uint_eq(strays, 1);
	ck_assert_uint_eq(served->len, 0);
	stop();
}
END_TEST

/* A device that accepts no more: the transfer continues where it was. */
START_TEST(test_full_device)
{
	start(VENDOR_RMPP_OWN);
	send_message(5, NULL);
	room = 20;
	tell(5, IBA_RMPP_ACK, 1, 90);
	ck_assert_uint_eq(sent->len, 21);
	run_ms(10);
	ck_assert_uint_eq(sent->len, 21);
	room = G_MAXUINT;
	run_ms(2);
	ck_assert_uint_eq(sent->len, SEGMENTS);
	for (unsigned int i = 0; i < SEGMENTS; i++)
		ck_assert_uint_eq(number_at(sent_at(i), RMPP_AT_SEGMENT), i + 1);
	stop();
}
END_TEST

/* Without an ACK the first segment is sent 9 times in 13 s, then an ABORT; the request goes with
 * it. */
START_TEST(test_silence)
{
	start(VENDOR_RMPP_OWN);
	send_message(5, vendor_mad_new(&vendor, NULL, IBA_MAD_BYTES));
	run_ms(199);
	ck_assert_uint_eq(sent->len, 1);
	run_ms(2);
	ck_assert_uint_eq(sent->len, 2);
	run_ms(12000);
	ck_assert_uint_eq(ended, 0);
	ck_assert_uint_eq(sent->len, 9);
	run_ms(1000);
	ck_assert_uint_eq(ended, 1);
	ck_assert_int_eq(end, VENDOR_SILENT);
	ck_assert_uint_eq(sent_at(9)[RMPP_AT_TYPE], IBA_RMPP_ABORT);
	ck_assert_uint_eq(sent_at(9)[RMPP_AT_STATUS], IBA_RMPP_TOO_MANY_RETRIES);
	stop();
}
END_TEST

/* A receiver that rarely acknowledges a segment does not hold a message for ever. */
START_TEST(test_slowness)
{
	start(VENDOR_RMPP_OWN);
	send_message(5, NULL);
	for (uint32_t i = 1; i < SEGMENTS && !ended; i++) {
		run_ms(2500);
		if (!ended)
			tell(5, IBA_RMPP_ACK, i, i + 1);
	}
	ck_assert_uint_eq(ended, 1);
	ck_assert_int_eq(end, VENDOR_SILENT);
	ck_assert_uint_ge(runtime_now(rt), 59 * NS_PER_S);
	ck_assert_uint_le(runtime_now(rt), 64 * NS_PER_S);
	ck_assert_uint_eq(sent_at(sent->len - 1)[RMPP_AT_STATUS], IBA_RMPP_TOO_LONG);
	stop();
}
END_TEST

START_TEST(test_receiver_ends_it)
{
	start(VENDOR_RMPP_OWN);
	send_message(5, NULL);
	tell(5, _i ? IBA_RMPP_STOP : IBA_RMPP_ABORT, 0, 0);
	ck_assert_uint_eq(ended, 1);
	ck_assert_int_eq(end, VENDOR_STOPPED);
	ck_assert_uint_eq(sent->len, 1);
	stop();
}
END_TEST

/* The window goes back for a lost segment; then an earlier ACK arrives for one beyond it. */
START_TEST(test_late_ack)
{
	start(VENDOR_RMPP_OWN);
	send_message(5, NULL);
	tell(5, IBA_RMPP_ACK, 1, 40);
	ck_assert_uint_eq(sent->len, 40);
	room = 0;
	run_ms(250);
	tell(5, IBA_RMPP_ACK, 40, 60);
	ck_assert_uint_eq(ended, 0);
	room = G_MAXUINT;
	run_ms(2);
	ck_assert_uint_eq(sent->len, SEGMENTS);
	ck_assert_uint_eq(number_at(sent_at(40), RMPP_AT_SEGMENT), 41);
	stop();
}
END_TEST

/* The request again while its answer is on its way. */
START_TEST(test_repeats)
{
	uint8_t mad[IBA_MAD_BYTES] = {0};

	start(VENDOR_RMPP_OWN);
	header(mad, IBA_METHOD_GET_TABLE, 5);
	arrive(LID, mad);
	ck_assert_uint_eq(served->len, 1);
	send_message(5, NULL);
	arrive(LID, mad);
	ck_assert_uint_eq(served->len, 1);
	ck_assert_uint_eq(repeats, 1);
	arrive(LID + 1, mad); /* another client's */
	ck_assert_uint_eq(served->len, 2);
	send_message(5, NULL);
	ck_assert_int_eq(end, VENDOR_REPEATED);
	ck_assert_uint_eq(ended, 1);
	stop();
	ck_assert_uint_eq(ended, 2);
	ck_assert_int_eq(end, VENDOR_DROPPED);
}
END_TEST

/* ---- requests in segments ---- */

static void data(uint16_t lid, uint32_t tid, uint32_t segment, uint8_t flags, uint32_t payload)
{
	uint8_t mad[IBA_MAD_BYTES];

	memset(mad, (int)segment, sizeof(mad));
	memset(mad, 0, RMPP_HEADERS);
	header(mad, IBA_METHOD_GET_MULTI, tid);
	mad[RMPP_AT_VERSION] = 1;
	mad[RMPP_AT_TYPE] = IBA_RMPP_DATA;
	mad[RMPP_AT_FLAGS] = IBA_RMPP_ACTIVE | flags;
	put_number(mad, RMPP_AT_SEGMENT, segment);
	put_number(mad, RMPP_AT_DATA2, payload);
	arrive(lid, mad);
}

START_TEST(test_request)
{
	const struct vendor_mad *mad;

	start(VENDOR_RMPP_OWN);
	data(LID, 9, 2, 0, 0); /* in any order */
	data(LID, 9, 1, IBA_RMPP_FIRST, 0);
	ck_assert_uint_eq(served->len, 0);
	data(LID, 9, 3, IBA_RMPP_LAST, 20 + 100);
	ck_assert_uint_eq(served->len, 1);
	mad = served->pdata[0];
	ck_assert_uint_eq(mad->length, RMPP_HEADERS + 500);
	ck_assert_uint_eq(mad->remote.lid, LID);
	ck_assert_uint_eq(mad->data[RMPP_HEADERS + 200], 2);
	ck_assert_uint_eq(mad->data[RMPP_HEADERS + 499], 3);
	ck_assert_uint_eq(sent_at(sent->len - 1)[RMPP_AT_TYPE], IBA_RMPP_ACK);
	ck_assert_uint_eq(sent_at(sent->len - 1)[3], IBA_METHOD_GET_MULTI | IBA_METHOD_RESPONSE);
	data(LID, 9, 3, IBA_RMPP_LAST, 20 + 100); /* it missed the ACK */
	ck_assert_uint_eq(served->len, 1);
	ck_assert_uint_eq(number_at(sent_at(sent->len - 1), RMPP_AT_SEGMENT), 3);
	stop();
}
END_TEST

/* ACKs, and STOPs that report a lack of room; both go back to the requester. */
static void check_sent(unsigned int n_acks, unsigned int n_stops)
{
	unsigned int acks = 0, stops = 0;

	for (unsigned int i = 0; i < sent->len; i++) {
		const uint8_t *mad = sent_at(i);
		bool is_stop = mad[RMPP_AT_TYPE] == IBA_RMPP_STOP;

		acks += mad[RMPP_AT_TYPE] == IBA_RMPP_ACK;
		stops += is_stop;
		ck_assert_uint_eq(mad[3], IBA_METHOD_GET_MULTI | IBA_METHOD_RESPONSE);
		ck_assert_uint_eq(mad[RMPP_AT_STATUS],
				  is_stop ? IBA_RMPP_RESOURCES_EXHAUSTED : IBA_RMPP_NORMAL);
		ck_assert_uint_eq(mad[RMPP_AT_FLAGS] & 7, IBA_RMPP_ACTIVE);
	}
	ck_assert_uint_eq(acks, n_acks);
	ck_assert_uint_eq(stops, n_stops);
}

/* Half a request from an unknown LID takes a place, a few of them at most, for a time. */
START_TEST(test_half_requests)
{
	start(VENDOR_RMPP_OWN);
	for (uint32_t tid = 0; tid < 100; tid++)
		data(LID, tid, 1, IBA_RMPP_FIRST, 0);
	check_sent(4, 96);
	data(LID, 100, 2, 0, 0); /* not even the first packet: it is not answered */
	check_sent(4, 96);
	for (uint16_t lid = LID + 1; lid < 600; lid++)
		data(lid, 1, 1, IBA_RMPP_FIRST, 0);
	check_sent(256, 600 - LID - 1 - 252 + 96);
	for (uint32_t tid = 0; tid < 2000; tid++)
		data(LID, tid + 200, 1, IBA_RMPP_FIRST, 0);
	ck_assert_uint_le(sent->len, 256 + 1000 + 100); /* nor does a flood cause one of ours */
	run_ms(9000);
	g_ptr_array_set_size(sent, 0);
	data(LID, 1000, 1, IBA_RMPP_FIRST, 0);
	check_sent(0, 1);
	run_ms(2000);
	data(LID, 1000, 1, IBA_RMPP_FIRST | IBA_RMPP_LAST, 20 + 8);
	ck_assert_uint_eq(served->len, 1);
	for (uint32_t i = 1; i < REQUEST_SHARE;
	     i++) /* a whole one has its place until it is freed */
		data(LID, 1000 + i, 1, IBA_RMPP_FIRST | IBA_RMPP_LAST, 20 + 8);
	ck_assert_uint_eq(served->len, REQUEST_SHARE);
	ck_assert_uint_eq(refused, 0);
	data(LID, 5000, 1, IBA_RMPP_FIRST | IBA_RMPP_LAST, 20 + 8);
	ck_assert_uint_eq(refused, 1);
	stop();
}
END_TEST

/* Neither its length nor a trickle of packets makes it bigger or older than allowed. */
START_TEST(test_endless_request)
{
	uint32_t segment = 1;

	start(VENDOR_RMPP_OWN);
	while (segment < 2000 &&
	       (!sent->len || sent_at(sent->len - 1)[RMPP_AT_TYPE] == IBA_RMPP_ACK)) {
		data(LID, 9, segment, segment == 1 ? IBA_RMPP_FIRST : 0, 0);
		segment++;
	}
	ck_assert_uint_lt(segment, 65536 / 200 + 3);
	ck_assert_uint_eq(sent_at(sent->len - 1)[RMPP_AT_TYPE], IBA_RMPP_STOP);
	ck_assert_uint_eq(sent_at(sent->len - 1)[RMPP_AT_STATUS], IBA_RMPP_RESOURCES_EXHAUSTED);
	data(LID, 10, 1, IBA_RMPP_FIRST, 0);
	for (segment = 2; segment < 6; segment++) {
		run_ms(8000);
		data(LID, 10, segment, 0, 0);
	}
	data(LID, 10, 6, IBA_RMPP_LAST, 20 + 1);
	ck_assert_uint_eq(served->len, 0);
	stop();
}
END_TEST

/* Answers to no known request, and packets that do not exist in RMPP. */
START_TEST(test_strays)
{
	uint8_t mad[IBA_MAD_BYTES] = {0};

	start(VENDOR_RMPP_OWN);
	send_message(5, NULL);
	header(mad, IBA_METHOD_GET_TABLE_RESP, 5);
	mad[RMPP_AT_TYPE] = IBA_RMPP_DATA;
	mad[RMPP_AT_FLAGS] = IBA_RMPP_ACTIVE;
	arrive(LID, mad);
	tell(6, IBA_RMPP_ACK, 1, 1);
	tell(6, IBA_RMPP_STOP, 1, 1);
	tell(5, 9, 1, 1);
	ck_assert_uint_eq(strays, 4);
	ck_assert_uint_eq(sent->len, 1);
	ck_assert_uint_eq(served->len, 0);
	stop();
}
END_TEST

/* ---- the kernel's ---- */

START_TEST(test_kernel)
{
	uint8_t mad[IBA_MAD_BYTES] = {0};

	start(VENDOR_RMPP_OWN);
	vendor_use_kernel_rmpp(&vendor);
	header(mad, IBA_METHOD_GET_TABLE, 5);
	for (unsigned int i = 0; i < REQUEST_SHARE; i++)
		arrive(LID, mad);
	ck_assert_uint_eq(served->len, REQUEST_SHARE);
	send_message(5, g_ptr_array_steal_index(served, 0));
	ck_assert_uint_eq(sent->len, 1);
	arrive(LID, mad); /* the place is free at once */
	ck_assert_uint_eq(served->len, REQUEST_SHARE);
	run_ms(6000);
	send_message(6, NULL);
	run_ms(5900);
	ck_assert_uint_eq(ended, 0);
	run_ms(200);
	ck_assert_uint_eq(ended, 1);
	ck_assert_int_eq(end, VENDOR_DELIVERED);
	run_ms(6000);
	ck_assert_uint_eq(ended, 2);
	room = 0;
	send_message(7, NULL);
	ck_assert_int_eq(end, VENDOR_DROPPED);
	stop();
	ck_assert_uint_eq(ended, 3);
}
END_TEST

static TCase *tests(const char *name, void (*choose)(void))
{
	TCase *tcase = tcase_create(name);

	tcase_add_checked_fixture(tcase, choose, NULL);
	tcase_add_test(tcase, test_window);
	tcase_add_test(tcase, test_full_device);
	tcase_add_test(tcase, test_silence);
	tcase_add_test(tcase, test_slowness);
	tcase_add_loop_test(tcase, test_receiver_ends_it, 0, 2);
	tcase_add_test(tcase, test_late_ack);
	tcase_add_test(tcase, test_repeats);
	tcase_add_test(tcase, test_request);
	tcase_add_test(tcase, test_half_requests);
	tcase_add_test(tcase, test_endless_request);
	tcase_add_test(tcase, test_strays);
	tcase_add_test(tcase, test_kernel);
	return tcase;
}

TEST_SUITE
{
	Suite *suite = suite_create("transfers");

	suite_add_tcase(suite, tests("one by one", choose_single));
	suite_add_tcase(suite, tests("many at once", choose_many));
	return suite;
}
