// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Requests that wait for tables or for a subnet: until when, and what wakes them. */
#include <check.h>

#include "sa/admit/park.h"
#include "subnet/inventory.h"
#include "tests/run_suite.h"
#include "vendor/vendor_private.h"

static struct runtime *rt;
static struct context context;
static struct actor *actor;
static struct sa_park *park;
static unsigned int asked, again, expired;
static uint64_t deadline;

static void on_wanted(void *arg, uint64_t value)
{
	(void)arg;
	ck_assert_uint_ne(value, 0);
	asked++;
}

static void on_again(void *arg, struct vendor_mad *mad, uint64_t deadline_ns)
{
	(void)arg;
	again++;
	deadline = deadline_ns;
	vendor_mad_free(mad);
}

static void on_expired(void *arg, struct vendor_mad *mad)
{
	(void)arg;
	expired++;
	vendor_mad_free(mad);
}

static void start_park(void)
{
	const struct sa_park_calls calls = {.again = on_again, .expired = on_expired};

	asked = again = expired = 0;
	rt = runtime_new(RUNTIME_VIRTUAL);
	context = (struct context){.rt = rt};
	event_bus_init(&context.bus);
	actor = actor_new(rt, "sa");
	event_subscribe(&context.bus, EVENT_INVENTORY_WANTED, actor, on_wanted, NULL);
	actor_start(actor);
	park = sa_park_new(&context, actor, &calls);
}

static void stop_park(void)
{
	actor_stop(actor);
	sa_park_free(park);
	actor_free(actor);
	event_bus_clear(&context.bus);
	runtime_free(rt);
}

static void run_park(uint64_t ms)
{
	runtime_run(rt, NULL, NULL, runtime_now(rt) + ms * NS_PER_MS);
}

static bool add_want(uint64_t want, uint64_t deadline_ns)
{
	static const uint8_t octets[IBA_MAD_BYTES];
	struct vendor_mad *mad = vendor_mad_new(NULL, octets, sizeof(octets));
	bool added = sa_park_add(park, mad, want, deadline_ns);

	if (!added)
		vendor_mad_free(mad);
	return added;
}

static bool add(enum inventory_kind kind, uint16_t lid, uint64_t deadline_ns)
{
	return add_want(inventory_want(kind, lid, INVENTORY_ALL_PORTS), deadline_ns);
}

/* The SM is asked at once and again, until the tables are there or the time is up. */
START_TEST(test_parked_until_the_deadline)
{
	start_park();
	ck_assert(add(INVENTORY_SL_TO_VL, 7, 0));
	run_park(0);
	ck_assert_uint_eq(asked, 1);
	run_park(1100);
	ck_assert_uint_eq(asked, 5);
	sa_park_wake(park, 0); /* a request for tables of one LID looks whenever any arrived */
	ck_assert_uint_eq(again, 1);
	ck_assert_uint_eq(deadline, SA_PARK_NS);
	ck_assert(add(INVENTORY_SL_TO_VL, 7, deadline));
	ck_assert(!add(INVENTORY_SL_TO_VL, 7, runtime_now(rt)));
	run_park(1000);
	ck_assert_uint_eq(asked, 9);
	ck_assert_uint_eq(expired, 0);
	run_park(1000);
	ck_assert_uint_eq(expired, 1);
	asked = 0;
	run_park(1000);
	ck_assert_uint_eq(asked, 0);
	ck_assert_uint_eq(counter_get(&context.counters, sa_waited), 1);
	stop_park();
}
END_TEST

/* Requests for all tables of a kind wait until all of that kind are there. */
START_TEST(test_parked_by_kind)
{
	start_park();
	ck_assert(add(INVENTORY_SL_TO_VL, 0, 0));
	ck_assert(add(INVENTORY_GUID_INFO, 0, 0));
	sa_park_wake(park, 0);
	ck_assert_uint_eq(again, 0);
	sa_park_wake(park, UINT64_C(1) << INVENTORY_GUID_INFO);
	ck_assert_uint_eq(again, 1);
	sa_park_wake(park, UINT64_C(1) << INVENTORY_GUID_INFO);
	ck_assert_uint_eq(again, 1);
	sa_park_wake(park, UINT64_C(1) << INVENTORY_SL_TO_VL);
	ck_assert_uint_eq(again, 2);
	stop_park();
}
END_TEST

/* A request that waits for a subnet asks the SM for no tables, and is woken only by a subnet. */
START_TEST(test_parked_for_a_subnet)
{
	start_park();
	ck_assert(add_want(SA_PARK_SUBNET, 0));
	ck_assert(add(INVENTORY_SL_TO_VL, 7, 0));
	ck_assert(add(INVENTORY_GUID_INFO, 0, 0));
	run_park(0);
	ck_assert_uint_eq(asked, 2);
	sa_park_wake(park, SA_PARK_EARLY);
	ck_assert_uint_eq(again, 1);
	ck_assert(add_want(SA_PARK_SUBNET, 0));
	sa_park_wake(park, UINT64_C(1) << INVENTORY_GUID_INFO);
	ck_assert_uint_eq(again, 3);
	sa_park_wake(park, UINT64_MAX);
	ck_assert_uint_eq(again, 3);
	run_park(SA_PARK_NS / NS_PER_MS + 300);
	ck_assert_uint_eq(expired, 1);
	stop_park();
}
END_TEST

/* A stream of later requests does not postpone the end of the first one. */
START_TEST(test_parked_among_others)
{
	start_park();
	for (unsigned int i = 0; i < 34; i++) {
		ck_assert(add(INVENTORY_SL_TO_VL, 7, 0));
		run_park(100);
	}
	ck_assert_uint_ge(expired, 1);
	stop_park();
}
END_TEST

START_TEST(test_park_is_bounded)
{
	start_park();
	for (unsigned int i = 0; i < SA_MAX_PARKED; i++)
		ck_assert(add(INVENTORY_SL_TO_VL, 7, 0));
	ck_assert(!add(INVENTORY_SL_TO_VL, 7, 0));
	ck_assert_uint_eq(counter_get(&context.counters, sa_waited), SA_MAX_PARKED);
	run_park(SA_PARK_NS / NS_PER_MS + 300);
	ck_assert_uint_eq(expired, SA_MAX_PARKED);
	ck_assert(add(INVENTORY_SL_TO_VL, 7, 0));
	stop_park();
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_park");
	TCase *tcase = tcase_create("park");

	tcase_add_test(tcase, test_parked_until_the_deadline);
	tcase_add_test(tcase, test_parked_by_kind);
	tcase_add_test(tcase, test_parked_for_a_subnet);
	tcase_add_test(tcase, test_parked_among_others);
	tcase_add_test(tcase, test_park_is_bounded);
	suite_add_tcase(suite, tcase);
	return suite;
}
