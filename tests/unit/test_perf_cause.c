// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Why counters grew. */
#include <check.h>
#include <string.h>

#include "iba/constants.h"
#include "perf/judge/cause.h"
#include "perf/judge/perf_rules.h"
#include "tests/run_suite.h"
#include "tests/unit/perf_fixture.h"

/*
 *	host 1 -- 1 leaf 11 3 -- 1 spine 21 2 -- 3 leaf 12 1 -- host 3
 *	host 2 -- 2                                       2 -- host 4
 */
struct scene {
	struct perf_net *net;
	struct perf_image *before;
};

static uint32_t row(const struct scene *s, uint64_t guid, uint8_t port)
{
	return fixture_row(s->net->layout, guid, port);
}

static struct scene *scene_new(void)
{
	static const struct {
		uint64_t guid;
		uint8_t type, ports;
		const char *name;
	} nodes[] = {
		{1, IBA_NODE_CA, 1, "host-1"},	    {2, IBA_NODE_CA, 1, "host-2"},
		{3, IBA_NODE_CA, 1, "host-3"},	    {4, IBA_NODE_CA, 1, "host-4"},
		{11, IBA_NODE_SWITCH, 3, "leaf-1"}, {12, IBA_NODE_SWITCH, 3, "leaf-2"},
		{21, IBA_NODE_SWITCH, 2, "spine"},
	};
	static const struct {
		uint64_t a, b;
		uint8_t a_port, b_port;
	} cables[] = {{1, 11, 1, 1}, {2, 11, 1, 2},  {3, 12, 1, 1},
		      {4, 12, 1, 2}, {11, 21, 3, 1}, {12, 21, 3, 2}};
	struct scene *s = g_new0(struct scene, 1);

	s->net = perf_net_new();
	for (unsigned int i = 0; i < G_N_ELEMENTS(nodes); i++)
		fixture_add(s->net->layout, nodes[i].guid, nodes[i].type, nodes[i].ports,
			    nodes[i].name);
	perf_net_ready(s->net);
	for (unsigned int i = 0; i < G_N_ELEMENTS(cables); i++)
		fixture_join(s->net->layout, row(s, cables[i].a, cables[i].a_port),
			     row(s, cables[i].b, cables[i].b_port));
	return s;
}

static void grow(struct scene *s, uint64_t guid, uint8_t port, unsigned int counter, uint64_t by)
{
	s->net->now->total[counter][row(s, guid, port)] += by;
}

static void detail(struct scene *s, unsigned int detail, uint64_t by)
{
	s->net->details[detail] += by;
}

/* Details are read of this port. */
static void begin(struct scene *s, uint64_t guid, uint8_t port)
{
	s->net->details_row = row(s, guid, port);
	s->before = perf_net_image(s->net, 10);
}

/* The cause, as "word: text [guid:port]"; frees the scene. */
static void check_cause(struct scene *s, uint64_t guid, uint8_t port, unsigned int value,
			const char *expected)
{
	struct perf_image *now = perf_net_image(s->net, 10);
	struct perf_growth growth;
	struct perf_cause cause;
	g_autofree char *told = NULL, *place = g_strdup("");

	perf_growth_init(&growth, s->before, now);
	cause = perf_cause_find(&(struct perf_evidence){.last = &growth, .window = &growth},
				row(s, guid, port), value);
	if (cause.guid) {
		g_free(place);
		place = g_strdup_printf(" [%u:%u]", (unsigned int)cause.guid, cause.port);
	}
	told = g_strdup_printf("%s: %s%s", perf_cause_word(cause.kind), cause.text, place);
	ck_assert_msg(strstr(told, expected) != NULL, "%s\nexpected: %s", told, expected);
	g_free(cause.text);
	perf_growth_clear(&growth);
	perf_image_unref(now);
	perf_image_unref(s->before);
	perf_net_free(s->net);
	g_free(s);
}

static struct scene *scene_with(uint64_t guid, uint8_t port)
{
	struct scene *s = scene_new();

	begin(s, guid, port);
	return s;
}

/* Damaged between host 1 and its leaf, and marked by each switch on the way to host 3. */
START_TEST(upstream)
{
	struct scene *s = scene_with(3, 1);

	grow(s, 11, 1, PERF_RCV_ERRORS, 7);
	grow(s, 21, 1, PERF_RCV_REMOTE_PHYSICAL_ERRORS, 7);
	grow(s, 12, 3, PERF_RCV_REMOTE_PHYSICAL_ERRORS, 7);
	grow(s, 3, 1, PERF_RCV_REMOTE_PHYSICAL_ERRORS, 7);
	check_cause(s, 3, 1, PERF_RCV_REMOTE_PHYSICAL_ERRORS,
		    "upstream: the packets were damaged on their way to port 1 of 'leaf-1' "
		    "(0x000000000000000b) [11:1]");
}
END_TEST

/* The nearest port with errors of its own is the first one that matters. */
START_TEST(upstream_nearby)
{
	struct scene *s = scene_with(3, 1);

	grow(s, 11, 1, PERF_RCV_ERRORS, 7);
	grow(s, 12, 3, PERF_SYMBOL_ERRORS, 7);
	grow(s, 3, 1, PERF_RCV_REMOTE_PHYSICAL_ERRORS, 7);
	check_cause(s, 3, 1, PERF_RCV_REMOTE_PHYSICAL_ERRORS, "[12:3]");
}
END_TEST

START_TEST(upstream_unknown)
{
	struct scene *s = scene_with(3, 1);

	grow(s, 3, 1, PERF_RCV_REMOTE_PHYSICAL_ERRORS, 7);
	check_cause(s, 3, 1, PERF_RCV_REMOTE_PHYSICAL_ERRORS, "no port upstream shows where");
	s = scene_with(11, 1);
	grow(s, 11, 1, PERF_RCV_REMOTE_PHYSICAL_ERRORS, 7);
	check_cause(s, 11, 1, PERF_RCV_REMOTE_PHYSICAL_ERRORS,
		    "sender: the damaged packets come "
		    "from port 1 of 'host-1'");
	s = scene_with(21, 1); /* in a circle, as agents lie */
	grow(s, 21, 1, PERF_RCV_REMOTE_PHYSICAL_ERRORS, 7);
	grow(s, 11, 3, PERF_RCV_REMOTE_PHYSICAL_ERRORS, 7);
	grow(s, 21, 2, PERF_RCV_REMOTE_PHYSICAL_ERRORS, 7);
	grow(s, 12, 3, PERF_RCV_REMOTE_PHYSICAL_ERRORS, 7);
	check_cause(s, 21, 1, PERF_RCV_REMOTE_PHYSICAL_ERRORS, "upstream: ");
}
END_TEST

START_TEST(cable)
{
	struct scene *s = scene_with(11, 3);

	grow(s, 11, 3, PERF_SYMBOL_ERRORS, 7);
	check_cause(s, 11, 3, PERF_SYMBOL_ERRORS,
		    "cable: only this end receives errors: the cable, or the transmitter of port 1 "
		    "of 'spine' (0x0000000000000015) [21:1]");
	s = scene_with(11, 3);
	grow(s, 11, 3, PERF_SYMBOL_ERRORS, 7);
	grow(s, 21, 1, PERF_LINK_ERROR_RECOVERIES, 1);
	check_cause(s, 11, 3, PERF_SYMBOL_ERRORS, "cable: the receivers of both ends see errors");
	s = scene_with(11, 3);
	s->net->now->flags[row(s, 21, 1)] = PERF_SILENT;
	check_cause(s, 11, 3, PERF_VALUE_RAW_BER,
		    "the counters of the other end, port 1 of "
		    "'spine' (0x0000000000000015), are unknown");
}
END_TEST

static struct scene *flapped(uint64_t symbol_errors)
{
	struct scene *s = scene_with(11, 3);

	grow(s, 11, 3, PERF_LINK_DOWNED, 3);
	grow(s, 11, 3, PERF_LINK_ERROR_RECOVERIES, 3);
	grow(s, 11, 3, PERF_SYMBOL_ERRORS, symbol_errors);
	grow(s, 21, 1, PERF_SYMBOL_ERRORS, symbol_errors);
	return s;
}

/* A link that comes up counts errors at both ends; more than a few are of the cable. */
START_TEST(training)
{
	check_cause(flapped(300), 11, 3, PERF_SYMBOL_ERRORS,
		    "flap: the link to port 1 of 'spine' (0x0000000000000015) went down, and such "
		    "errors are normal while it trains [21:1]");
	check_cause(flapped(300), 11, 3, PERF_LINK_ERROR_RECOVERIES, "flap: the link to port 1");
	check_cause(flapped(300), 11, 3, PERF_LINK_INTEGRITY_ERRORS, "cable: ");
	check_cause(flapped(301), 11, 3, PERF_SYMBOL_ERRORS, "cable: the receivers of both ends");
}
END_TEST

START_TEST(receive_errors)
{
	struct scene *s = scene_with(11, 3);

	detail(s, PERF_DETAIL_LOCAL_PHYSICAL, 7);
	check_cause(s, 11, 3, PERF_RCV_ERRORS, "cable: only this end");
	s = scene_with(11, 3);
	detail(s, PERF_DETAIL_MALFORMED, 7);
	check_cause(s, 11, 3, PERF_RCV_ERRORS,
		    "sender: port 1 of 'spine' (0x0000000000000015) "
		    "sends malformed packets");
	s = scene_with(11, 3);
	detail(s, PERF_DETAIL_BUFFER_OVERRUN, 7);
	check_cause(s, 11, 3, PERF_RCV_ERRORS, "sender: its buffers overflow");
	s = scene_with(11, 3);
	detail(s, PERF_DETAIL_LOOPING, 7);
	check_cause(s, 11, 3, PERF_RCV_SWITCH_RELAY_ERRORS, "routing: packets go back");
	s = scene_with(11, 3);
	detail(s, PERF_DETAIL_VL_MAPPING, 7);
	check_cause(s, 11, 3, PERF_RCV_SWITCH_RELAY_ERRORS, "routing: packets have an SL");
}
END_TEST

static const struct {
	unsigned int detail;
	const char *cause;
} discards[] = {
	{PERF_DETAIL_INACTIVE, "flap: the link was down"},
	{PERF_DETAIL_NEIGHBOR_MTU, "mtu: packets are larger"},
	{PERF_DETAIL_SW_LIFETIME, "congestion: packets waited longer"},
	{PERF_DETAIL_SW_HOQ_LIFETIME, "congestion: packets waited longer"},
};

START_TEST(discarded)
{
	struct scene *s = scene_with(11, 3);

	for (unsigned int i = 0; i < G_N_ELEMENTS(discards); i++)
		detail(s, discards[i].detail, i == (unsigned int)_i ? 7 : 1);
	check_cause(s, 11, 3, PERF_XMIT_DISCARDS, discards[_i].cause);
}
END_TEST

/* Without details, other counters may tell it. */
START_TEST(discarded_without_details)
{
	struct scene *s = scene_with(1, 1);

	grow(s, 11, 3, PERF_LINK_DOWNED, 1);
	check_cause(s, 11, 3, PERF_XMIT_DISCARDS, "flap: ");
	s = scene_with(1, 1);
	grow(s, 12, 1, PERF_XMIT_WAIT, 1000);
	check_cause(s, 12, 1, PERF_XMIT_DISCARDS, "congestion: port 1 of 'host-3'");
	s = scene_with(1, 1);
	check_cause(s, 12, 1, PERF_XMIT_DISCARDS, "(null)");
}
END_TEST

/* Host 4 is slow: all ports on the way to it wait. */
START_TEST(congestion)
{
	struct scene *s = scene_with(1, 1);

	grow(s, 1, 1, PERF_XMIT_WAIT, 1000);
	grow(s, 11, 3, PERF_XMIT_WAIT, 2000);
	grow(s, 21, 2, PERF_XMIT_WAIT, 2000);
	grow(s, 12, 2, PERF_XMIT_WAIT, 2000);
	grow(s, 12, 1, PERF_XMIT_WAIT, 20);
	check_cause(s, 1, 1, PERF_VALUE_XMIT_WAIT_SHARE,
		    "congestion: congestion that begins at port 2 of 'leaf-2' "
		    "(0x000000000000000c) [12:2]");
	s = scene_with(1, 1); /* all send to host 4, whose link is full */
	grow(s, 1, 1, PERF_XMIT_WAIT, 1000);
	grow(s, 11, 3, PERF_XMIT_WAIT, 2000);
	grow(s, 21, 2, PERF_XMIT_WAIT, 2000);
	grow(s, 12, 2, PERF_XMIT_DATA, UINT64_C(10) * 12500000000 / 4);
	grow(s, 12, 1, PERF_XMIT_DATA, 1000);
	check_cause(s, 1, 1, PERF_VALUE_XMIT_WAIT_SHARE,
		    "congestion: more is sent to port 2 of 'leaf-2' (0x000000000000000c) than its "
		    "link carries [12:2]");
	s = scene_with(1, 1);
	grow(s, 11, 3, PERF_XMIT_WAIT, 1000);
	check_cause(s, 11, 3, PERF_XMIT_WAIT, "more packets are sent to this port");
}
END_TEST

/* All values have a cause or none, without a crash, also for a port without a cable. */
START_TEST(each_value)
{
	for (unsigned int value = 0; value < PERF_VALUES; value++) {
		struct scene *s = scene_with(11, 3);

		s->net->layout->places[row(s, 11, 3)].peer = PERF_NONE;
		for (unsigned int i = 0; i < PERF_COUNTERS; i++)
			grow(s, 11, 3, i, 5);
		for (unsigned int i = 0; i < PERF_DETAILS; i++)
			detail(s, i, 5);
		check_cause(s, 11, 3, value, ": ");
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("perf_cause");
	TCase *tcase = tcase_create("perf_cause");

	tcase_add_test(tcase, upstream);
	tcase_add_test(tcase, upstream_nearby);
	tcase_add_test(tcase, upstream_unknown);
	tcase_add_test(tcase, cable);
	tcase_add_test(tcase, training);
	tcase_add_test(tcase, receive_errors);
	tcase_add_loop_test(tcase, discarded, 0, G_N_ELEMENTS(discards));
	tcase_add_test(tcase, discarded_without_details);
	tcase_add_test(tcase, congestion);
	tcase_add_test(tcase, each_value);
	suite_add_tcase(suite, tcase);
	return suite;
}
