// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* From readings to totals: what is added, and where a total is only a lower bound. */
#include <check.h>

#include "complib/actor.h"
#include "iba/iba.h"
#include "perf/image/growth.h"
#include "perf/read/account.h"
#include "tests/run_suite.h"
#include "tests/unit/perf_fixture.h"

#define ROW 0
#define BIT(counter) (UINT32_C(1) << (counter))
#define ALL (BIT(PERF_COUNTERS) - 1)

static struct perf_layout *layout;
static struct perf_accounts *accounts;
static uint64_t now_ns;

static void setup(void)
{
	layout = fixture_layout(&(const struct fixture_node){1, IBA_NODE_CA, 1}, 1);
	accounts = perf_accounts_new(layout);
	perf_accounts_begin(accounts);
	now_ns = NS_PER_S;
}

static void teardown(void)
{
	perf_accounts_free(accounts);
	perf_layout_unref(layout);
}

/* One sweep later, the port shows this value of one counter, of 64 bits or less. */
static uint32_t read_one(enum perf_counter counter, uint64_t value, bool wide)
{
	struct perf_reading reading = {.have = BIT(counter), .wide = wide ? BIT(counter) : 0};

	reading.value[counter] = value;
	perf_accounts_begin(accounts);
	now_ns += 10 * NS_PER_S;
	return perf_account(accounts, ROW, &reading, now_ns);
}

static uint64_t total(enum perf_counter counter)
{
	return accounts->now->total[counter][ROW];
}

static bool is_bound(enum perf_counter counter)
{
	return accounts->now->at_least[ROW] & BIT(counter);
}

START_TEST(baseline)
{
	ck_assert_uint_eq(read_one(PERF_SYMBOL_ERRORS, 1000000, true), 0);
	ck_assert_uint_eq(total(PERF_SYMBOL_ERRORS), 0);
	ck_assert(accounts->now->flags[ROW] & PERF_BASELINE);
	ck_assert_uint_eq(read_one(PERF_SYMBOL_ERRORS, 1000007, true), BIT(PERF_SYMBOL_ERRORS));
	ck_assert_uint_eq(total(PERF_SYMBOL_ERRORS), 7);
	ck_assert(!(accounts->now->flags[ROW] & PERF_BASELINE));
	ck_assert(!is_bound(PERF_SYMBOL_ERRORS));
}
END_TEST

START_TEST(cleared_by_others)
{
	read_one(PERF_RCV_ERRORS, 50, false);
	read_one(PERF_RCV_ERRORS, 3, false);
	ck_assert_uint_eq(total(PERF_RCV_ERRORS), 3);
	ck_assert(is_bound(PERF_RCV_ERRORS));
	ck_assert_uint_eq(accounts->now->flags[ROW] &
				  (PERF_RESET | PERF_RESET_ERRORS | PERF_RESET_DATA | PERF_CLEARED),
			  PERF_RESET | PERF_RESET_ERRORS);
	read_one(PERF_RCV_ERRORS, 5, false);
	ck_assert_uint_eq(total(PERF_RCV_ERRORS), 5);
	ck_assert(is_bound(PERF_RCV_ERRORS)); /* for good */
	ck_assert_uint_eq(accounts->now->missed[ROW], 0);
}
END_TEST

/* Of 4, 8, 16 and 32 bits: a counter at its maximum may have counted more. */
START_TEST(saturated)
{
	static const struct {
		enum perf_counter counter;
		uint64_t limit;
	} rows[] = {{PERF_LINK_INTEGRITY_ERRORS, 15},
		    {PERF_LINK_DOWNED, 255},
		    {PERF_VL15_DROPPED, 65535},
		    {PERF_XMIT_WAIT, UINT32_MAX}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		read_one(rows[i].counter, 1, false);
		read_one(rows[i].counter, rows[i].limit - 1, false);
		ck_assert(!is_bound(rows[i].counter));
		read_one(rows[i].counter, rows[i].limit, false);
		ck_assert(is_bound(rows[i].counter));
		ck_assert(accounts->now->flags[ROW] & PERF_SATURATED);
		ck_assert_uint_eq(total(rows[i].counter), rows[i].limit - 1);
	}
}
END_TEST

START_TEST(nearly_full)
{
	read_one(PERF_LINK_DOWNED, 100, false);
	ck_assert_uint_eq(perf_account_full(accounts, ROW), 0);
	read_one(PERF_LINK_DOWNED, 192, false);
	ck_assert_uint_eq(perf_account_full(accounts, ROW), BIT(PERF_LINK_DOWNED));
	read_one(PERF_SYMBOL_ERRORS, UINT64_MAX, true); /* wide ones are left alone */
	ck_assert_uint_eq(perf_account_full(accounts, ROW), BIT(PERF_LINK_DOWNED));
}
END_TEST

/* What came between the reading and the clearing is lost; what came after it is not. */
START_TEST(cleared_by_us)
{
	struct perf_reading after = {.have = BIT(PERF_LINK_DOWNED)};

	read_one(PERF_LINK_DOWNED, 0, false);
	read_one(PERF_LINK_DOWNED, 200, false);
	accounts->clearing[ROW] = BIT(PERF_LINK_DOWNED);
	after.value[PERF_LINK_DOWNED] = 2;
	perf_account_cleared(accounts, ROW, BIT(PERF_LINK_DOWNED), &after);
	ck_assert_uint_eq(total(PERF_LINK_DOWNED), 202);
	ck_assert(accounts->now->flags[ROW] & PERF_CLEARED);
	ck_assert(!(accounts->now->flags[ROW] & PERF_RESET));
	read_one(PERF_LINK_DOWNED, 5, false);
	ck_assert_uint_eq(total(PERF_LINK_DOWNED), 205);
}
END_TEST

/* The answer to the clearing was lost: that it fell is still no work of others. */
START_TEST(cleared_unanswered)
{
	read_one(PERF_LINK_DOWNED, 200, false);
	accounts->clearing[ROW] = BIT(PERF_LINK_DOWNED);
	read_one(PERF_LINK_DOWNED, 4, false);
	ck_assert_uint_eq(total(PERF_LINK_DOWNED), 4);
	ck_assert(accounts->now->flags[ROW] & PERF_CLEARED);
	ck_assert(!(accounts->now->flags[ROW] & PERF_RESET));
}
END_TEST

/* Another attribute tells the counter: a new beginning, and never a huge growth. */
START_TEST(other_width)
{
	read_one(PERF_SYMBOL_ERRORS, 70000, true);
	read_one(PERF_SYMBOL_ERRORS, 70010, true);
	read_one(PERF_SYMBOL_ERRORS, 65535, false);
	ck_assert_uint_eq(total(PERF_SYMBOL_ERRORS), 10);
	ck_assert(is_bound(PERF_SYMBOL_ERRORS));
	read_one(PERF_SYMBOL_ERRORS, 70020, true);
	ck_assert_uint_eq(total(PERF_SYMBOL_ERRORS), 10);
}
END_TEST

/* More than the link can carry in that time is nonsense. */
START_TEST(impossible)
{
	read_one(PERF_XMIT_DATA, 5, true);
	read_one(PERF_XMIT_DATA, UINT64_C(1) << 60, true);
	ck_assert_uint_eq(total(PERF_XMIT_DATA), 0);
	ck_assert(accounts->now->flags[ROW] & PERF_REFUSED);
	ck_assert(is_bound(PERF_XMIT_DATA));
}
END_TEST

/* Of each kind: packets, ticks and errors are bounded by the link and by time, too. */
START_TEST(impossible_kinds)
{
	static const enum perf_counter counters[] = {PERF_XMIT_PKTS, PERF_MULTICAST_RCV_PKTS,
						     PERF_XMIT_WAIT, PERF_LINK_DOWNED,
						     PERF_SYMBOL_ERRORS};

	for (size_t i = 0; i < G_N_ELEMENTS(counters); i++) {
		read_one(counters[i], 5, true);
		read_one(counters[i], UINT64_MAX / 2, true);
		ck_assert_uint_eq(total(counters[i]), 0);
		ck_assert(accounts->now->flags[ROW] & PERF_REFUSED);
		read_one(counters[i], UINT64_MAX / 2 - 3, true);
		ck_assert_uint_eq(total(counters[i]), 0);
		ck_assert(!(accounts->now->flags[ROW] & PERF_RESET));
	}
}
END_TEST

/* Also those of few bits: they were not cleared, and nothing is added. */
START_TEST(backwards)
{
	read_one(PERF_RCV_ERRORS, 32767, false);
	for (uint64_t value = 32766; value > 32750; value -= 2) {
		read_one(PERF_RCV_ERRORS, value, false);
		ck_assert_uint_eq(total(PERF_RCV_ERRORS), 0);
		ck_assert(accounts->now->flags[ROW] & PERF_REFUSED);
		ck_assert(!(accounts->now->flags[ROW] & PERF_RESET));
		ck_assert(is_bound(PERF_RCV_ERRORS));
	}
}
END_TEST

/* One of two attributes did not come: what it would have told is a lower bound. */
START_TEST(half_read)
{
	struct perf_reading reading = {.have = ALL, .wide = ALL};

	perf_account(accounts, ROW, &reading, now_ns);
	perf_accounts_end(accounts);
	ck_assert_uint_eq(accounts->now->at_least[ROW], 0);
	read_one(PERF_RCV_ERRORS, 0, true);
	perf_accounts_end(accounts);
	ck_assert_uint_eq(accounts->now->missed[ROW], ALL & ~BIT(PERF_RCV_ERRORS));
}
END_TEST

START_TEST(zero)
{
	read_one(PERF_RCV_ERRORS, 50, false);
	read_one(PERF_RCV_ERRORS, 3, false);
	perf_accounts_zero(accounts);
	ck_assert_uint_eq(total(PERF_RCV_ERRORS), 0);
	ck_assert(!is_bound(PERF_RCV_ERRORS));
	read_one(PERF_RCV_ERRORS, 4, false);
	ck_assert_uint_eq(total(PERF_RCV_ERRORS), 1);
}
END_TEST

/* The first details of a port count from 0, and ports with nothing but zeros take no room. */
START_TEST(first_details)
{
	struct iba_port_rcv_error_details details = {.port_select = 1};
	uint8_t data[IBA_PM_DATA_BYTES] = {0};
	struct perf_image *old, *new;
	struct perf_growth growth;
	uint64_t delta = 0, dt_ns = 0;

	read_one(PERF_RCV_ERRORS, 0, true);
	wire_encode(&iba_port_rcv_error_details_type, &details, data);
	perf_account_details(accounts, ROW, PERF_RCV_ERROR_DETAILS, data, false, now_ns);
	old = perf_accounts_image(accounts);
	ck_assert_uint_eq(old->n_details, 0);
	read_one(PERF_RCV_ERRORS, 7, true);
	details.port_local_physical_errors = 7;
	wire_encode(&iba_port_rcv_error_details_type, &details, data);
	perf_account_details(accounts, ROW, PERF_RCV_ERROR_DETAILS, data, true, now_ns);
	new = perf_accounts_image(accounts);
	ck_assert_uint_eq(new->n_details, 1);
	perf_growth_init(&growth, old, new);
	ck_assert(perf_growth_detail(&growth, ROW, PERF_DETAIL_LOCAL_PHYSICAL, &delta, &dt_ns));
	ck_assert_uint_eq(delta, 7);
	ck_assert_uint_eq(dt_ns, 10 * NS_PER_S);
	perf_growth_clear(&growth);
	perf_image_unref(old);
	perf_image_unref(new);
}
END_TEST

/* NoIETF and AdditionalPortCountersExtended decide what PortCountersExtended has. */
START_TEST(capabilities)
{
	uint32_t data =
		BIT(PERF_XMIT_DATA) | BIT(PERF_RCV_DATA) | BIT(PERF_XMIT_PKTS) | BIT(PERF_RCV_PKTS);

	ck_assert_uint_eq(perf_wide_counters(IBA_PM_CAP_EXTENDED_WIDTH_NO_IETF, 0), data);
	ck_assert_uint_eq(perf_wide_counters(IBA_PM_CAP_EXTENDED_WIDTH, 0),
			  data | ALL >> PERF_UNICAST_XMIT_PKTS << PERF_UNICAST_XMIT_PKTS);
	ck_assert_uint_eq(
		perf_wide_counters(IBA_PM_CAP_EXTENDED_WIDTH, IBA_PM_CAP2_ADDITIONAL_EXTENDED),
		ALL & ~BIT(PERF_XMIT_WAIT) & ~BIT(PERF_QP1_DROPPED));
	ck_assert_uint_eq(perf_wide_counters(IBA_PM_CAP_EXTENDED_WIDTH | IBA_PM_CAP_XMIT_WAIT |
						     IBA_PM_CAP_QP1_DROP,
					     IBA_PM_CAP2_ADDITIONAL_EXTENDED),
			  ALL);
}
END_TEST

static void read_all(uint64_t value)
{
	struct perf_reading reading = {.have = BIT(PERF_XMIT_DATA), .wide = BIT(PERF_XMIT_DATA)};

	reading.value[PERF_XMIT_DATA] = value;
	perf_accounts_begin(accounts);
	now_ns += 10 * NS_PER_S;
	for (uint32_t row = 0; row < accounts->now->layout->n_rows; row++)
		perf_account(accounts, row, &reading, now_ns);
}

/* The sum over switches does not fall: not when one leaves, nor when totals are set to 0. */
START_TEST(sum_of_switches)
{
	const struct fixture_node nodes[] = {{1, IBA_NODE_CA, 1}, {2, IBA_NODE_SWITCH, 2}};
	struct perf_layout *both = fixture_layout(nodes, G_N_ELEMENTS(nodes));
	struct perf_image *image;

	perf_accounts_move(accounts, both);
	read_all(1000);
	ck_assert_uint_eq(accounts->grown[PERF_XMIT_DATA], 0);
	read_all(1050);
	ck_assert_uint_eq(accounts->grown[PERF_XMIT_DATA], 2 * 50);
	perf_accounts_zero(accounts);
	perf_accounts_move(accounts, layout);
	read_all(2000);
	ck_assert_uint_eq(accounts->grown[PERF_XMIT_DATA], 2 * 50);
	perf_accounts_move(accounts, both);
	read_all(10);
	read_all(17);
	image = perf_accounts_image(accounts);
	ck_assert_uint_eq(image->grown[PERF_XMIT_DATA], 2 * 50 + 2 * 7);
	perf_image_unref(image);
	perf_layout_unref(both);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("perf_account");
	TCase *tcase = tcase_create("account");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, baseline);
	tcase_add_test(tcase, cleared_by_others);
	tcase_add_test(tcase, saturated);
	tcase_add_test(tcase, nearly_full);
	tcase_add_test(tcase, cleared_by_us);
	tcase_add_test(tcase, cleared_unanswered);
	tcase_add_test(tcase, other_width);
	tcase_add_test(tcase, impossible);
	tcase_add_test(tcase, impossible_kinds);
	tcase_add_test(tcase, backwards);
	tcase_add_test(tcase, half_read);
	tcase_add_test(tcase, zero);
	tcase_add_test(tcase, sum_of_switches);
	tcase_add_test(tcase, first_details);
	tcase_add_test(tcase, capabilities);
	suite_add_tcase(suite, tcase);
	return suite;
}
