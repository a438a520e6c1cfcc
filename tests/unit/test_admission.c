// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which requests are admitted or refused, and in which order they are served. */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/run_suite.h"
#include "vendor/vendor_private.h"

#define SOURCE_SHARE 3
#define TOTAL 8

static struct runtime *rt;
static struct actor *actor;
static struct vendor vendor;
static GQueue kept = G_QUEUE_INIT; /* MADs being served */
static GArray *order;		   /* LIDs of served requests */
static unsigned int refused, to_binder;
static bool keep;

static void serve(void *arg, struct vendor_mad *mad)
{
	(void)arg;
	g_array_append_val(order, mad->remote.lid);
	if (keep)
		g_queue_push_tail(&kept, mad);
	else
		vendor_mad_free(mad);
}

static void bound(void *arg, struct vendor_mad *mad)
{
	(void)arg;
	to_binder++;
	vendor_mad_free(mad);
}

static void on_refused(void *arg, const struct vendor_mad *mad)
{
	ck_assert_ptr_eq(arg, &vendor);
	ck_assert_uint_ne(mad->remote.lid, 0);
	refused++;
}

static void serve_class(unsigned int source, unsigned int total)
{
	const struct vendor_client client = {.actor = actor, .receive = serve};
	const struct vendor_shares shares = {
		.source = source, .total = total, .refused = on_refused, .arg = &vendor};

	vendor_serve(&vendor, IBA_CLASS_SUBN_ADM, &client, &shares);
}

static void setup(void)
{
	rt = runtime_new(RUNTIME_VIRTUAL);
	actor = actor_new(rt, "server");
	memset(&vendor, 0, sizeof(vendor));
	order = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	refused = to_binder = 0;
	keep = false;
	serve_class(SOURCE_SHARE, TOTAL);
}

static void teardown(void)
{
	while (kept.length)
		vendor_mad_free(g_queue_pop_head(&kept));
	vendor_serve(&vendor, IBA_CLASS_SUBN_ADM, NULL, NULL);
	actor_stop(actor);
	actor_free(actor);
	runtime_free(rt);
	g_array_unref(order);
}

static struct vendor_mad *request(uint16_t lid)
{
	struct vendor_mad *mad = vendor_mad_new(&vendor, NULL, IBA_MAD_BYTES);

	memset(mad->data, 0, IBA_MAD_BYTES);
	mad->data[0] = IBA_BASE_VERSION;
	mad->data[1] = IBA_CLASS_SUBN_ADM;
	mad->data[3] = IBA_METHOD_GET;
	mad->remote.lid = lid;
	return mad;
}

static void post(struct vendor_mad *mad)
{
	const struct vendor_client binder = {.actor = actor, .receive = bound};

	vendor_mad_post(mad, &binder);
}

static void arrive(uint16_t lid, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		post(request(lid));
}

static void run(void)
{
	runtime_run(rt, NULL, NULL, runtime_now(rt));
}

/* A flood reduces only its own source's share; waiting sources are served in turn. */
START_TEST(test_share_and_turns)
{
	static const uint16_t expected[] = {7, 9, 8, 7, 8, 7};

	arrive(7, 100);
	arrive(9, 1);
	arrive(8, 2);
	ck_assert_uint_eq(refused, 100 - SOURCE_SHARE);
	run();
	ck_assert_uint_eq(order->len, G_N_ELEMENTS(expected));
	ck_assert_mem_eq(order->data, expected, sizeof(expected));
	arrive(7, 1); /* all of it was served: there is room again */
	run();
	ck_assert_uint_eq(order->len, G_N_ELEMENTS(expected) + 1);
	ck_assert_uint_eq(to_binder, 0);
}
END_TEST

/* A request counts from being served until it is freed. */
START_TEST(test_share_while_served)
{
	keep = true;
	arrive(7, SOURCE_SHARE);
	run();
	arrive(7, 1);
	ck_assert_uint_eq(refused, 1);
	vendor_mad_free(g_queue_pop_head(&kept));
	arrive(7, 2);
	ck_assert_uint_eq(refused, 2);
	run();
	ck_assert_uint_eq(order->len, SOURCE_SHARE + 1);
}
END_TEST

START_TEST(test_total)
{
	for (uint16_t lid = 1; lid <= TOTAL + 4; lid++)
		arrive(lid, 1);
	ck_assert_uint_eq(refused, 4);
	run();
	ck_assert_uint_eq(order->len, TOTAL);
}
END_TEST

/* However many sources take all they can get, something is left for one that asks for little. */
START_TEST(test_something_is_left)
{
	keep = true;
	serve_class(100, 64);
	arrive(1, 100);
	ck_assert_uint_eq(refused, 100 - 32);
	arrive(2, 100);
	ck_assert_uint_eq(refused, 100 - 32 + 100 - 16);
	for (uint16_t lid = 3; lid <= 5; lid++)
		arrive(lid, 100);
	refused = 0;
	arrive(8, 1);
	ck_assert_uint_eq(refused, 0);
	run();
	while (kept.length)
		vendor_mad_free(g_queue_pop_head(&kept));
	arrive(2, 32); /* once the first one's share is free again */
	ck_assert_uint_eq(refused, 0);
}
END_TEST

static void over(struct timer *timer)
{
	(void)timer;
}

static void wait_ms(uint64_t ms)
{
	struct timer timer;

	timer_init(&timer, actor, over);
	timer_start(&timer, ms * NS_PER_MS);
	runtime_run(rt, NULL, NULL, runtime_now(rt) + ms * NS_PER_MS);
	timer_stop(&timer);
}

/* Number served for a source that sends n requests, one after the other, in a tenth of a second. */
static unsigned int served_of(unsigned int n)
{
	unsigned int before = order->len;

	wait_ms(100);
	for (unsigned int i = 0; i < n; i++) {
		arrive(7, 1);
		run();
	}
	arrive(8, 1);
	run();
	ck_assert_uint_eq(g_array_index(order, uint16_t, order->len - 1), 8);
	return order->len - before - 1;
}

/* A source that keeps the receiver busy is served less and less, until it keeps up; others not. */
START_TEST(test_receiver_does_not_keep_up)
{
	unsigned int before = 20001, now;

	ck_assert_uint_eq(served_of(20000), 20000);
	atomic_store(&vendor.pressed, true);
	for (unsigned int i = 0; i < 12; i++, before = now) {
		now = served_of(20000);
		ck_assert_uint_gt(now, 10);
		ck_assert(now <= before / 2 || now == before);
	}
	ck_assert_uint_lt(now, 100);
	ck_assert_uint_eq(refused, 20000 * 12 - (order->len - 20000 - 1 - 12));
	atomic_store(&vendor.pressed, false);
	for (unsigned int i = 0; i < 12; i++)
		served_of(1);
	ck_assert_uint_eq(served_of(20000), 20000);
}
END_TEST

static unsigned int served_alone(unsigned int n)
{
	unsigned int before = order->len;

	wait_ms(100);
	for (unsigned int i = 0; i < n; i++) {
		arrive(7, 1);
		run();
	}
	return order->len - before;
}

/* No source waits for others when there are none, as with a benchmark on a busy machine. */
START_TEST(test_nobody_to_make_room_for)
{
	atomic_store(&vendor.pressed, true);
	for (unsigned int i = 0; i < 12; i++)
		ck_assert_uint_eq(served_alone(20000), 20000);
	arrive(8, 1);
	run();
	ck_assert_uint_lt(served_alone(20000), 100); /* at once */
	wait_ms(59000);
	ck_assert_uint_lt(served_alone(20000), 100);
	wait_ms(1000);
	ck_assert_uint_eq(served_alone(20000), 20000);
	ck_assert_uint_eq(served_of(20000), 20000);
	ck_assert_uint_lt(served_of(20000), 100);
}
END_TEST

/* Responses, returned requests and other classes are not requests to be admitted. */
START_TEST(test_what_is_no_request)
{
	struct vendor_mad *mad;

	for (unsigned int i = 0; i < 10; i++) {
		mad = request(7);
		if (i % 4 == 0)
			mad->data[3] = IBA_METHOD_GET_RESP;
		else if (i % 4 == 1)
			mad->status = VENDOR_TIMED_OUT;
		else if (i % 4 == 2)
			mad->data[1] = IBA_CLASS_PERF;
		else
			mad->length = 2;
		post(mad);
	}
	run();
	ck_assert_uint_eq(to_binder, 10);
	ck_assert_uint_eq(order->len + refused, 0);
}
END_TEST

/* Forwarded to another client it is not judged again. */
START_TEST(test_handed_on)
{
	const struct vendor_client other = {.actor = actor, .receive = bound};

	keep = true;
	arrive(7, SOURCE_SHARE);
	run();
	while (kept.length)
		vendor_mad_post(g_queue_pop_head(&kept), &other);
	run();
	ck_assert_uint_eq(to_binder, SOURCE_SHARE);
	ck_assert_uint_eq(refused, 0);
	arrive(7, SOURCE_SHARE);
	ck_assert_uint_eq(refused, 0);
}
END_TEST

/* The port is closed, or the actor stopped, while some wait and some are being served. */
START_TEST(test_end)
{
	keep = true;
	arrive(7, 2);
	run();
	arrive(8, 2);
	if (_i)
		actor_stop(actor);
	vendor_serve(&vendor, IBA_CLASS_SUBN_ADM, NULL, NULL);
	arrive(7, 1);
	run();
	ck_assert_uint_eq(kept.length, _i ? 2 : 4);
	ck_assert_uint_eq(to_binder, _i ? 0 : 1);
}
END_TEST

/* ---- threads ---- */

#define SENDERS 4
#define SENT 5000

static atomic_uint served, refused_threads;

static void serve_thread(void *arg, struct vendor_mad *mad)
{
	(void)arg;
	atomic_fetch_add(&served, 1);
	vendor_mad_free(mad);
}

static void refused_thread(void *arg, const struct vendor_mad *mad)
{
	(void)arg;
	(void)mad;
	atomic_fetch_add(&refused_threads, 1);
}

static void *send_many(void *arg)
{
	for (unsigned int i = 0; i < SENT; i++)
		post(request((uint16_t)(uintptr_t)arg));
	return NULL;
}

START_TEST(test_threads)
{
	struct runtime *real = runtime_new(RUNTIME_REAL);
	const struct vendor_client client = {.actor = actor_new(real, "thread"),
					     .receive = serve_thread};
	const struct vendor_shares shares = {.source = 16, .total = 40, .refused = refused_thread};
	pthread_t senders[SENDERS];

	vendor_serve(&vendor, IBA_CLASS_SUBN_ADM, &client, &shares);
	actor_start(client.actor);
	for (uintptr_t i = 0; i < SENDERS; i++)
		ck_assert_int_eq(pthread_create(&senders[i], NULL, send_many, (void *)(i / 2 + 1)),
				 0);
	for (unsigned int i = 0; i < SENDERS; i++)
		pthread_join(senders[i], NULL);
	while (atomic_load(&served) + atomic_load(&refused_threads) < SENDERS * SENT)
		g_usleep(1000);
	actor_stop(client.actor);
	vendor_serve(&vendor, IBA_CLASS_SUBN_ADM, NULL, NULL);
	actor_free(client.actor);
	runtime_free(real);
	ck_assert_uint_eq(atomic_load(&served) + atomic_load(&refused_threads), SENDERS * SENT);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("admission");
	TCase *tcase = tcase_create("admission");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_share_and_turns);
	tcase_add_test(tcase, test_share_while_served);
	tcase_add_test(tcase, test_total);
	tcase_add_test(tcase, test_something_is_left);
	tcase_add_test(tcase, test_receiver_does_not_keep_up);
	tcase_add_test(tcase, test_nobody_to_make_room_for);
	tcase_add_test(tcase, test_what_is_no_request);
	tcase_add_test(tcase, test_handed_on);
	tcase_add_loop_test(tcase, test_end, 0, 2);
	tcase_add_test(tcase, test_threads);
	suite_add_tcase(suite, tcase);
	return suite;
}
