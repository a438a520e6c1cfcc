// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which ports are unhealthy: counting, verdicts, their end, bounds, and the file. */
#include <check.h>
#include <string.h>

#include "complib/actor.h"
#include "sm/health/unhealthy.h"
#include "tests/memory_used.h"
#include "tests/run_suite.h"

#define S NS_PER_S

static const struct port_rule three_in_ten = {
	.action = PORT_ISOLATE, .count = 3, .window = 10, .release = 60};
static const struct port_rule reported = {
	.action = PORT_REPORT, .count = 1, .window = 1, .release = 60};
static const struct port_rule disabled = {
	.action = PORT_DISABLE, .count = 1, .window = 1, .release = 0};
static const struct port_rule ignored = {.action = PORT_IGNORE, .count = 1, .window = 1};
static const struct port_rule of_sweeps = {
	.action = PORT_ISOLATE, .sweeps = true, .count = 3, .window = 5, .release = 60};

static struct unhealthy *all;

static void setup(void)
{
	all = unhealthy_new();
}

static void teardown(void)
{
	unhealthy_free(all);
}

static struct unhealthy_port *event_of(uint64_t guid, uint8_t num, const struct port_rule *rule,
				       uint64_t now)
{
	struct unhealthy_port who = {
		.guid = guid, .num = num, .type = IBA_NODE_SWITCH, .blamed = guid + 1};

	return unhealthy_event(all, &who, PORT_FLAPPING, rule, now);
}

static struct unhealthy_port *event(const struct port_rule *rule, uint64_t now)
{
	return event_of(5, 1, rule, now);
}

START_TEST(within_the_window)
{
	struct unhealthy_port *port;

	ck_assert_ptr_null(event(&three_in_ten, 0));
	ck_assert_ptr_null(event(&three_in_ten, 5 * S));
	ck_assert_ptr_null(event(&three_in_ten, 10 * S + 1)); /* the first is too old */
	ck_assert_ptr_null(unhealthy_find(all, 5, 1));
	port = event(&three_in_ten, 15 * S);
	ck_assert_ptr_nonnull(port);
	ck_assert_ptr_eq(unhealthy_find(all, 5, 1), port);
	ck_assert_int_eq(port->action, PORT_ISOLATE);
	ck_assert_int_eq(port->condition, PORT_FLAPPING);
	ck_assert_int_eq(port->type, IBA_NODE_SWITCH);
	ck_assert_uint_eq(port->blamed, 6);
	ck_assert_uint_eq(port->until_ns, 75 * S);
	ck_assert_uint_eq(unhealthy_next(all), 75 * S);
	ck_assert_uint_eq(unhealthy_count(all), 1);
	ck_assert_ptr_null(unhealthy_find(all, 5, 2));
}
END_TEST

START_TEST(in_sweeps)
{
	for (unsigned int i = 0; i < 100; i++) /* one sweep, however many tries it makes */
		ck_assert_ptr_null(event(&of_sweeps, 10 * S + i));
	ck_assert_ptr_null(event(&of_sweeps, 30 * S));
	ck_assert_ptr_null(event(&of_sweeps, 60 * S));	  /* the first was six sweeps ago */
	ck_assert_ptr_nonnull(event(&of_sweeps, 70 * S)); /* of 3, 4, 5, 6 and 7 */
}
END_TEST

START_TEST(any_event_prolongs)
{
	struct unhealthy_port *port;

	port = event(&reported, 0);
	ck_assert_uint_eq(port->until_ns, 60 * S);
	ck_assert_ptr_null(event(&three_in_ten, 50 * S)); /* only counted, but not a good sign */
	ck_assert_uint_eq(port->until_ns, 110 * S);
	ck_assert_ptr_null(event(&ignored, 55 * S));
	ck_assert_uint_eq(port->until_ns, 110 * S);
}
END_TEST

/* Unhealthy again within its time: twice as long; after it: as the first time. */
START_TEST(again_in_time)
{
	struct unhealthy_port *port = event(&reported, S);
	uint64_t now = S;

	for (unsigned int again = 1; again <= 6; again++) {
		uint64_t time = (60 * S) << MIN(again - 1, 4);

		unhealthy_release(all, port, false, now);
		now += time - 1;
		port = event(&reported, now);
		ck_assert_uint_eq(port->again, MIN(again, 4));
		ck_assert_uint_eq(port->until_ns, now + ((60 * S) << MIN(again, 4)));
	}
	unhealthy_release(all, port, false, now);
	now += (60 * S) << 4;
	port = event(&reported, now);
	ck_assert_uint_eq(port->again, 0);
	unhealthy_release(all, port, true, now); /* by the operator */
	port = event(&reported, now + 1);
	ck_assert_uint_eq(port->again, 0);
}
END_TEST

START_TEST(graver)
{
	struct unhealthy_port *port = event(&reported, 0);

	ck_assert_ptr_eq(event(&disabled, S), port);
	ck_assert_int_eq(port->action, PORT_DISABLE);
	ck_assert_uint_eq(port->until_ns, UINT64_MAX);
	ck_assert_ptr_null(event(&reported, 2 * S)); /* no milder again */
	ck_assert_int_eq(port->action, PORT_DISABLE);
	ck_assert_uint_eq(unhealthy_count(all), 1);
}
END_TEST

START_TEST(enabled_before_it_is_forgotten)
{
	struct unhealthy_port *port = event(&disabled, 0);

	unhealthy_release(all, port, true, S);
	ck_assert_int_eq(port->action, PORT_ENABLE);
	ck_assert_ptr_eq(unhealthy_find(all, 5, 1), port);
	ck_assert_ptr_null(event(&disabled, 2 * S));
	ck_assert_int_eq(port->action, PORT_ENABLE);
	event_of(5, 1, &three_in_ten, 3 * S); /* does not make it give up */
	ck_assert_uint_eq(port->until_ns, UINT64_MAX);
	unhealthy_release(all, port, true, 4 * S); /* nor does the operator */
	ck_assert_ptr_eq(unhealthy_find(all, 5, 1), port);
	unhealthy_drop(all, port);
	ck_assert_ptr_null(unhealthy_find(all, 5, 1));
	ck_assert_uint_eq(unhealthy_count(all), 0);
}
END_TEST

static void misbehave(uint64_t now, uint64_t seconds)
{
	struct unhealthy_port *port;

	ck_assert_ptr_null(event(&three_in_ten, now)); /* counted from the beginning */
	ck_assert_ptr_null(event(&three_in_ten, now));
	port = event(&three_in_ten, now);
	ck_assert_ptr_nonnull(port);
	ck_assert_uint_eq(port->until_ns - now, seconds * S);
}

START_TEST(longer_each_time)
{
	static const unsigned int seconds[] = {60, 120, 240, 480, 960, 960};
	uint64_t now = S;

	for (unsigned int i = 0; i < G_N_ELEMENTS(seconds); i++) {
		misbehave(now, seconds[i]);
		now += seconds[i] * S;
		unhealthy_release(all, unhealthy_find(all, 5, 1), false, now);
		now += 59 * S;
	}
	now += 1000 * S;
	misbehave(now, 60); /* it was healthy meanwhile */
	unhealthy_release(all, unhealthy_find(all, 5, 1), true, now);
	misbehave(now, 60); /* the operator has intervened */
}
END_TEST

START_TEST(whole_switch)
{
	struct unhealthy_port *whole = event_of(9, 0, &disabled, 0), *copy;

	whole->blamed = 9;
	copy = unhealthy_copy(all, whole, 20, 3);
	ck_assert_ptr_nonnull(copy);
	ck_assert_ptr_null(unhealthy_copy(all, whole, 20, 3));
	ck_assert_int_eq(copy->action, PORT_DISABLE);
	ck_assert_uint_eq(copy->blamed, 9);
	ck_assert_uint_ne(copy->id, whole->id);
	ck_assert_uint_eq(copy->until_ns, UINT64_MAX);
	unhealthy_release(all, copy, false, S);
	ck_assert_int_eq(copy->action, PORT_ENABLE);
	unhealthy_release(all, whole, false, S); /* not what was switched off */
	ck_assert_ptr_null(unhealthy_find(all, 9, 0));
}
END_TEST

static void expect_port(const GPtrArray *list, unsigned int i, uint64_t guid, uint8_t num)
{
	const struct unhealthy_port *port = list->pdata[i];

	ck_assert_uint_eq(port->guid, guid);
	ck_assert_uint_eq(port->num, num);
}

START_TEST(listed)
{
	g_autoptr(GPtrArray) list = NULL;
	struct unhealthy_ports *ports;

	event_of(7, 2, &reported, 0);
	event_of(5, 12, &reported, 0);
	event_of(7, 1, &reported, 0);
	event_of(UINT64_MAX - 1, 0, &reported, 0);
	event_of(5, 1, &three_in_ten, 0);
	list = unhealthy_list(all);
	ck_assert_uint_eq(list->len, 4);
	expect_port(list, 0, 5, 12);
	expect_port(list, 1, 7, 1);
	expect_port(list, 2, 7, 2);
	expect_port(list, 3, UINT64_MAX - 1, 0);
	ports = unhealthy_ports_new(all);
	ck_assert_uint_eq(ports->n, 4);
	for (unsigned int i = 0; i < ports->n; i++) {
		ck_assert_mem_eq(&ports->ports[i], list->pdata[i], sizeof(ports->ports[i]));
		for (unsigned int k = 0; k < i; k++)
			ck_assert_uint_ne(ports->ports[i].id, ports->ports[k].id);
	}
	unhealthy_ports_unref(ports);
}
END_TEST

/* Invented names and events cannot make it larger. */
START_TEST(strangers)
{
	const uint64_t n = 100000;
	struct unhealthy_port *held = event(&disabled, 0);
	size_t before = memory_used(), grown;
	g_autoptr(GPtrArray) list = NULL;

	for (uint64_t i = 0; i < n; i++)
		event_of(1000 + i, (uint8_t)(i % 255), i % 2 ? &three_in_ten : &reported, i);
	grown = memory_used() - before;
	ck_assert_uint_eq(unhealthy_counted(all), UNHEALTHY_PORTS_MAX);
	list = unhealthy_list(all);
	ck_assert_uint_eq(unhealthy_count(all), list->len);
	ck_assert_uint_eq(list->len, UNHEALTHY_PORTS_MAX / 2);
	ck_assert_uint_le(grown, 3 << 20);
	ck_assert_ptr_eq(unhealthy_find(all, 5, 1), held); /* it is not displaced */
	ck_assert_ptr_nonnull(unhealthy_find(all, 1000 + n - 2, (uint8_t)((n - 2) % 255)));
	for (uint64_t i = 0; i < n; i++)
		event_of(7, 7, &three_in_ten, i);
	ck_assert_uint_le(memory_used() - before, 3 << 20);
}
END_TEST

START_TEST(no_room_left)
{
	for (uint64_t i = 1; i <= UNHEALTHY_PORTS_MAX; i++)
		ck_assert_ptr_nonnull(event_of(i, 1, &disabled, i));
	ck_assert_ptr_null(event_of(99999, 1, &disabled, 0));
	ck_assert_uint_eq(unhealthy_counted(all), UNHEALTHY_PORTS_MAX);
	ck_assert_ptr_null(unhealthy_copy(all, unhealthy_find(all, 1, 1), 99999, 2));
}
END_TEST

/* ---- the file ---- */

static unsigned int parse(const char *text, uint64_t now, GString *said)
{
	struct log *log = log_new_capture(said);
	unsigned int bad = unhealthy_parse(all, "f", text, log, now);

	log_free(log);
	return bad;
}

START_TEST(there_and_back)
{
	g_autoptr(GString) said = g_string_new(NULL);
	struct unhealthy_port *port, odd = {.guid = 0x10,
					    .num = 254,
					    .type = IBA_NODE_ROUTER,
					    .condition = PORT_BABBLING,
					    .action = PORT_ISOLATE,
					    .cut_off = true,
					    .again = 3,
					    .release = 2592000,
					    .blamed = UINT64_MAX,
					    .until_ns = 30 * S};
	g_autofree char *text = NULL, *again = NULL;

	ck_assert_ptr_nonnull(unhealthy_restore(all, &odd));
	event(&disabled, 0);
	event_of(4, 9, &reported, 10 * S);
	unhealthy_release(all, event_of(3, 7, &disabled, 0), true, 0);
	text = unhealthy_format(all, 20 * S);
	unhealthy_free(all);
	all = unhealthy_new();
	ck_assert_uint_eq(parse(text, 1000 * S, said), 0);
	ck_assert_uint_eq(unhealthy_count(all), 4);
	port = unhealthy_find(all, 0x10, 254);
	ck_assert_uint_eq(port->again, 3);
	ck_assert(port->cut_off);
	ck_assert_uint_eq(port->release, 2592000);
	ck_assert_uint_eq(port->until_ns, 1010 * S);
	port = unhealthy_find(all, 4, 9);
	ck_assert_uint_eq(port->until_ns, 1050 * S);
	ck_assert_int_eq(port->condition, PORT_FLAPPING);
	ck_assert_int_eq(port->type, IBA_NODE_SWITCH);
	ck_assert_int_eq(unhealthy_find(all, 3, 7)->action, PORT_ENABLE);
	ck_assert_int_eq(unhealthy_find(all, 5, 1)->action, PORT_DISABLE);
	again = unhealthy_format(all, 1000 * S);
	ck_assert_str_eq(text, again);
	ck_assert_str_eq(said->str, "");
}
END_TEST

static const struct {
	const char *line, *message;
} bad_lines[] = {
	{"0x5 1 flapping ca isolate 0x6 60 60 0", "expected 10 words"},
	{"0x5 1 flapping ca isolate 0x6 60 60 0 0 0", "expected 10 words"},
	{"0x5  1 flapping ca isolate 0x6 60 60 0", "expected a port from 0 to 254"},
	{"0x0 1 flapping ca isolate 0x6 60 60 0 0", "expected the GUID of a switch"},
	{"-5 1 flapping ca isolate 0x6 60 60 0 0", "expected the GUID of a switch"},
	{"0x10000000000000000 1 flapping ca isolate 0x6 60 60 0 0", "expected the GUID of a"},
	{"0x0x5 1 flapping ca isolate 0x6 60 60 0 0", "expected the GUID of a switch"},
	{"0x5 0x1 flapping ca isolate 0x6 60 60 0 0", "expected a port from 0 to 254"},
	{"0x5 255 flapping ca isolate 0x6 60 60 0 0", "expected a port from 0 to 254"},
	{"0x5 1 flappin ca isolate 0x6 60 60 0 0", "expected a condition"},
	{"0x5 1 flapping all isolate 0x6 60 60 0 0", "expected ca, switch or router"},
	{"0x5 1 flapping ca ignore 0x6 60 60 0 0", "expected an action after"},
	{"0x5 1 flapping ca isol", "expected 10 words"},
	{"0x5 1 flapping ca isolate x 60 60 0 0", "expected a GUID after"},
	{"0x5 1 flapping ca isolate 0x6 99999999999 60 0 0", "expected seconds or never"},
	{"0x5 1 flapping ca isolate 0x6 60 99999999 0 0", "expected seconds, a number"},
	{"0x5 1 flapping ca isolate 0x6 60 60 5 0", "expected seconds, a number"},
	{"0x5 1 flapping ca isolate 0x6 60 60 0 2", "expected seconds, a number"},
	{"\xff\xfe\x01", "expected 10 words"},
	{"0x4 1 flapping ca isolate 0x6 60 60 0 0", "listed twice"},
};

START_TEST(bad_line)
{
	g_autofree char *text = g_strdup_printf("0x4 1 flapping ca isolate 0x6 never 60 0 0\n%s\n"
						"0x7 0 reboot switch report 0x7 5 60 4 1",
						bad_lines[_i].line);
	g_autoptr(GString) said = g_string_new(NULL);

	ck_assert_uint_eq(parse(text, 0, said), 1);
	ck_assert_ptr_nonnull(strstr(said->str, "f:2: '"));
	ck_assert_ptr_nonnull(strstr(said->str, bad_lines[_i].message));
	ck_assert_uint_eq(unhealthy_count(all), 2);
	ck_assert_ptr_nonnull(unhealthy_find(all, 4, 1));
	ck_assert_uint_eq(unhealthy_find(all, 7, 0)->until_ns, 5 * S);
}
END_TEST

START_TEST(too_many_lines)
{
	g_autoptr(GString) text = g_string_new(NULL), said = g_string_new(NULL);

	for (unsigned int i = 1; i <= UNHEALTHY_PORTS_MAX + 100; i++)
		g_string_append_printf(text, "0x%x 1 flapping ca isolate 0x6 60 60 0 0\n", i);
	ck_assert_uint_eq(parse(text->str, 0, said), 100);
	ck_assert_uint_eq(unhealthy_counted(all), UNHEALTHY_PORTS_MAX);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("unhealthy_ports");
	TCase *tcase = tcase_create("unhealthy_ports");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, within_the_window);
	tcase_add_test(tcase, in_sweeps);
	tcase_add_test(tcase, any_event_prolongs);
	tcase_add_test(tcase, again_in_time);
	tcase_add_test(tcase, graver);
	tcase_add_test(tcase, enabled_before_it_is_forgotten);
	tcase_add_test(tcase, longer_each_time);
	tcase_add_test(tcase, whole_switch);
	tcase_add_test(tcase, listed);
	tcase_add_test(tcase, strangers);
	tcase_add_test(tcase, no_room_left);
	tcase_add_test(tcase, there_and_back);
	tcase_add_loop_test(tcase, bad_line, 0, G_N_ELEMENTS(bad_lines));
	tcase_add_test(tcase, too_many_lines);
	suite_add_tcase(suite, tcase);
	return suite;
}
