// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The MTU and rate of a path, from those of its links. */
#include <check.h>

#include "iba/codes.h"
#include "subnet/view.h"
#include "tests/run_suite.h"
#include "tests/unit/test_sa_make.h"

static struct subnet *subnet;
static struct subnet_view *view;

static void teardown(void)
{
	subnet_view_unref(view);
	view = NULL;
}

/* All links alike; differences are set before look(). */
static void make(const char *spec)
{
	subnet = make_subnet(spec, 0, 0);
	for (uint32_t i = 0; i < subnet->fabric->n_ports; i++) {
		struct fabric_port *port = (struct fabric_port *)&subnet->fabric->ports[i];

		if (port->peer != FABRIC_NONE) {
			port->mtu = IBA_MTU_4096;
			port->rate = IBA_RATE_40;
		}
	}
}

static struct fabric_port *port_at(uint32_t index)
{
	return (struct fabric_port *)&subnet->fabric->ports[index];
}

static void look(void)
{
	view = subnet_view_new(subnet);
}

static struct subnet_way way_of(uint32_t from, uint32_t to)
{
	struct subnet_way way = {0};

	ck_assert(subnet_view_walk(view, from, to, port_at(from)->lid, port_at(to)->lid, &way));
	return way;
}

static void expect(uint32_t from, uint32_t to, uint8_t mtu, uint8_t rate)
{
	for (unsigned int round = 0; round < 2; round++) { /* the second is remembered */
		struct subnet_way way = way_of(from, to);

		ck_assert_uint_eq(way.mtu, mtu);
		ck_assert_uint_eq(way.rate, rate);
		ck_assert(way.reversible);
	}
}

/* From the slowest to the fastest, though the codes are not in that order. */
START_TEST(test_ranks)
{
	unsigned int rates = 0;

	make("fattree:4");
	look();
	for (unsigned int code = 0; code < 64; code++) {
		rates += iba_rate_tenths(code) != 0;
		ck_assert_uint_eq(view->rank[code] != 0, iba_rate_tenths(code) != 0);
		for (unsigned int other = 0; other < 64; other++)
			if (view->rank[code] && view->rank[other])
				ck_assert_int_eq(view->rank[code] < view->rank[other],
						 iba_rate_compare(code, other) < 0);
	}
	ck_assert_uint_eq(view->n_rates, rates);
	ck_assert_uint_eq(view->rate[1], IBA_RATE_2_5);
	ck_assert_uint_eq(view->rank[view->rate[rates]], rates);
}
END_TEST

/* Host 0 and 1 of a leaf, another one far away: the least on the path, in both directions. */
START_TEST(test_least_on_the_way)
{
	uint32_t near, far, leaf;

	make("fattree:4");
	near = endport(subnet, 0, true);
	far = endport(subnet, 15, true);
	leaf = port_at(near)->peer;
	port_at(near)->rate = port_at(leaf)->rate = IBA_RATE_10;
	port_at(far)->mtu = port_at(port_at(far)->peer)->mtu = IBA_MTU_1024;
	look();
	expect(near, far, IBA_MTU_1024, IBA_RATE_10);
	expect(far, near, IBA_MTU_1024, IBA_RATE_10);
	expect(endport(subnet, 1, true), far, IBA_MTU_1024, IBA_RATE_40);
	expect(endport(subnet, 2, true), near, IBA_MTU_4096, IBA_RATE_10);
	expect(near, near, IBA_MTU_4096, IBA_RATE_10);
}
END_TEST

/* One side of a cable may report less than the other: both count. */
START_TEST(test_ends_disagree)
{
	uint32_t near, far;

	make("fattree:4");
	near = endport(subnet, 0, true);
	far = endport(subnet, 15, true);
	port_at(far)->rate = IBA_RATE_5;
	port_at(far)->mtu = IBA_MTU_512;
	look();
	expect(near, far, IBA_MTU_512, IBA_RATE_5);
}
END_TEST

/* Port 0 of a switch often reports nothing: that is not a limit; what it reports is one. */
START_TEST(test_to_a_switch)
{
	uint32_t host, sw = FABRIC_NONE;

	make("fattree:4");
	host = endport(subnet, 0, true);
	for (uint32_t i = 0; i < subnet->fabric->n_ports; i++)
		if (port_at(i)->num == 0 && fabric_is_switch(subnet->fabric, port_at(i)->node))
			sw = i;
	port_at(sw)->rate = port_at(sw)->mtu = 0;
	look();
	expect(host, sw, IBA_MTU_4096, IBA_RATE_40);
	expect(sw, host, IBA_MTU_4096, IBA_RATE_40);
	expect(sw, sw, IBA_MTU_4096, IBA_RATE_2_5);
	subnet_ref(subnet);
	teardown();
	port_at(sw)->rate = IBA_RATE_20;
	port_at(sw)->mtu = IBA_MTU_2048;
	look();
	expect(host, sw, IBA_MTU_2048, IBA_RATE_20);
	expect(sw, host, IBA_MTU_2048, IBA_RATE_20);
	expect(sw, sw, IBA_MTU_2048, IBA_RATE_20);
}
END_TEST

/* Two hosts on one cable need no switch; without the cable there is no path. */
START_TEST(test_two_hosts)
{
	struct subnet_way way;
	uint32_t a, b;

	make(TOPOLOGIES "/two_hosts.topo");
	a = endport(subnet, 0, true);
	b = endport(subnet, 1, true);
	port_at(b)->mtu = IBA_MTU_2048;
	look();
	expect(a, b, IBA_MTU_2048, IBA_RATE_40);
	expect(b, a, IBA_MTU_2048, IBA_RATE_40);
	subnet_ref(subnet);
	teardown();
	port_at(a)->peer = port_at(b)->peer = FABRIC_NONE;
	look();
	ck_assert(!subnet_view_walk(view, a, b, port_at(a)->lid, port_at(b)->lid, &way));
	subnet_ref(subnet);
	teardown();
	port_at(a)->peer = a; /* a plug that leads back */
	look();
	ck_assert(!subnet_view_walk(view, a, b, port_at(a)->lid, port_at(b)->lid, &way));
}
END_TEST

/* An unassigned LID leads nowhere, and so does a link that is down. */
START_TEST(test_no_way)
{
	struct subnet_way way;
	uint32_t a, b;

	make("fattree:4");
	a = endport(subnet, 0, true);
	b = endport(subnet, 15, true);
	look();
	ck_assert(
		!subnet_view_walk(view, a, b, port_at(a)->lid, subnet->fabric->max_lid + 1, &way));
	ck_assert(subnet_view_walk(view, a, b, subnet->fabric->max_lid + 1, port_at(b)->lid, &way));
	ck_assert(!way.reversible);
	subnet_ref(subnet);
	teardown();
	port_at(b)->rate = port_at(port_at(b)->peer)->rate = 0;
	look();
	ck_assert(!subnet_view_walk(view, a, b, port_at(a)->lid, port_at(b)->lid, &way));
}
END_TEST

/* What is prefetched may be anything. */
START_TEST(test_prefetch)
{
	make("fattree:4");
	look();
	ck_assert_ptr_eq(subnet_view_ref(view), view);
	subnet_view_unref(view);
	subnet_view_prefetch(view, FABRIC_NONE);
	subnet_view_prefetch(view, subnet->fabric->n_ports);
	subnet_view_prefetch(view, 0);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("subnet_view");
	TCase *tcase = tcase_create("view");

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_add_test(tcase, test_ranks);
	tcase_add_test(tcase, test_least_on_the_way);
	tcase_add_test(tcase, test_ends_disagree);
	tcase_add_test(tcase, test_to_a_switch);
	tcase_add_test(tcase, test_two_hosts);
	tcase_add_test(tcase, test_no_way);
	tcase_add_test(tcase, test_prefetch);
	suite_add_tcase(suite, tcase);
	return suite;
}
