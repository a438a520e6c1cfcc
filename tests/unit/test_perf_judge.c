// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* When rules about counters are broken, and when that is over; and what the log says of it. */
#include <check.h>
#include <string.h>

#include "complib/actor.h"
#include "core/options.h"
#include "iba/constants.h"
#include "perf/judge/judge.h"
#include "perf/judge/verdict.h"
#include "tests/run_suite.h"
#include "tests/unit/perf_fixture.h"

#define HOST 1
#define LEAF 2
#define SPINE 3

/* A host at port 1 of a leaf, and a spine at its port 2; and their judge. */
struct bench {
	struct perf_net *net;
	struct perf_judge *judge;
	struct perf_rules *rules;
	GPtrArray *images; /* struct perf_image, the oldest first */
	unsigned int ring; /* how many are kept at most */
	struct perf_held held;
	GString *told;
	gint64 took_us;		 /* by the judge, in the last sweep */
	uint32_t host, leaf, up; /* rows: the host's port, ports 1 and 2 of the leaf */
};

static struct perf_rules *parse(const char *text)
{
	g_autoptr(GError) error = NULL;
	struct perf_rules *rules =
		text ? perf_rules_parse("f", text, strlen(text), &error) : perf_rules_built_in();

	ck_assert_msg(rules != NULL, "%s", error ? error->message : "");
	return rules;
}

static void make_net(struct bench *b, bool with_host)
{
	struct perf_net *net = b->net = perf_net_new();

	if (with_host)
		fixture_add(net->layout, HOST, IBA_NODE_CA, 1, "host");
	fixture_add(net->layout, LEAF, IBA_NODE_SWITCH, 3, "leaf");
	fixture_add(net->layout, SPINE, IBA_NODE_SWITCH, 1, "spine");
	perf_net_ready(net);
	b->host = perf_layout_row(net->layout, HOST, 1);
	b->leaf = fixture_row(net->layout, LEAF, 1);
	b->up = fixture_row(net->layout, LEAF, 2);
	if (with_host)
		fixture_join(net->layout, b->host, b->leaf);
	fixture_join(net->layout, b->up, fixture_row(net->layout, SPINE, 1));
}

/* The host leaves the subnet, or returns; all totals are 0 again, but those of the leaf's ports. */
static void set_host(struct bench *b, bool there)
{
	struct perf_net *before = b->net;
	uint32_t old = fixture_row(before->layout, LEAF, 1);

	make_net(b, there);
	b->net->seconds = before->seconds;
	for (unsigned int i = 0; i < PERF_COUNTERS; i++)
		b->net->now->total[i][b->leaf] = before->now->total[i][old];
	if (there)
		b->net->now->flags[b->host] |= PERF_BASELINE;
	perf_net_free(before);
}

/* Text NULL: the rules built in. */
static struct bench *bench_new(const char *text)
{
	struct bench *b = g_new0(struct bench, 1);

	make_net(b, true);
	b->judge = perf_judge_new();
	b->rules = parse(text);
	b->images = g_ptr_array_new_with_free_func((GDestroyNotify)perf_image_unref);
	b->ring = 10;
	b->told = g_string_new(NULL);
	return b;
}

static void bench_free(struct bench *b)
{
	perf_net_free(b->net);
	perf_judge_free(b->judge);
	perf_rules_unref(b->rules);
	g_ptr_array_unref(b->images);
	g_string_free(b->told, TRUE);
	g_free(b);
}

static void tell(GString *told, const struct perf_event *event)
{
	const struct perf_alarm *alarm = event->alarm;

	g_string_append_printf(told, "%s%c%s %s %u:%u %.3g", told->len ? "; " : "",
			       event->began ? '+' : '-', perf_level_word(alarm->level),
			       alarm->value, (unsigned int)alarm->guid, alarm->port,
			       event->measured);
	if (event->began && alarm->at_least)
		g_string_append(told, " at least");
	if (!event->began && event->level)
		g_string_append_printf(told, " to %s", perf_level_word(event->level));
	if (!event->began && event->why == PERF_END_UNUSED)
		g_string_append(told, " unused");
	if (!event->began && event->why == PERF_END_GONE)
		g_string_append(told, " gone");
	if (!event->began && event->why == PERF_END_NO_RULE)
		g_string_append(told, " no rule");
}

/* As the ports are that many seconds after the last image. */
static struct perf_images next_images(struct bench *b, uint64_t seconds)
{
	g_ptr_array_add(b->images, perf_net_image(b->net, seconds));
	if (b->images->len > b->ring)
		g_ptr_array_remove_index(b->images, 0);
	return (struct perf_images){.n = b->images->len,
				    .images = (struct perf_image **)b->images->pdata};
}

static GPtrArray *judge(struct bench *b, uint64_t seconds)
{
	struct perf_images images = next_images(b, seconds);
	gint64 began = g_get_monotonic_time();
	GPtrArray *events = perf_judge_sweep(b->judge, b->rules, &images, &b->held,
					     perf_images_last(&images)->ended_ns);

	b->took_us = g_get_monotonic_time() - began;
	return events;
}

/* What a sweep says that many seconds after the last: "+warning VL15Dropped 2:1 3". */
static const char *sweep(struct bench *b, uint64_t seconds)
{
	g_autoptr(GPtrArray) events = judge(b, seconds);

	g_string_truncate(b->told, 0);
	for (guint i = 0; i < events->len; i++)
		tell(b->told, events->pdata[i]);
	return b->told->str;
}

/* The text of the first event of a sweep. */
static const char *sweep_text(struct bench *b, uint64_t seconds)
{
	g_autoptr(GPtrArray) events = judge(b, seconds);
	g_autofree char *text = events->len ? perf_event_text(events->pdata[0]) : g_strdup("");

	g_string_assign(b->told, text);
	return b->told->str;
}

static void grow(struct bench *b, uint32_t row, unsigned int counter, uint64_t by)
{
	b->net->now->total[counter][row] += by;
}

static unsigned int states(const struct bench *b)
{
	size_t bytes;

	return perf_judge_states(b->judge, &bytes);
}

/* Sweeps that say nothing. */
static void quiet(struct bench *b, unsigned int sweeps, uint64_t seconds)
{
	for (unsigned int i = 0; i < sweeps; i++)
		ck_assert_str_eq(sweep(b, seconds), "");
}

/* ---- windows and hysteresis ---- */

/* One event when it begins, one when it ends, none between. */
START_TEST(once)
{
	struct bench *b = bench_new("PortRcvErrors all alarm 4 in 60");

	quiet(b, 3, 10);
	grow(b, b->leaf, PERF_RCV_ERRORS, 3);
	quiet(b, 1, 10);
	grow(b, b->leaf, PERF_RCV_ERRORS, 1);
	ck_assert_str_eq(sweep(b, 10), "+alarm PortRcvErrors 2:1 4");
	for (int i = 0; i < 20; i++) { /* worse, and less again, but not below 2 in 60 s */
		grow(b, b->leaf, PERF_RCV_ERRORS, i < 10 ? 50 : 1);
		quiet(b, 1, 10);
	}
	quiet(b, 10, 10); /* the last two windows are not all below 2 yet */
	ck_assert_str_eq(sweep(b, 10), "-alarm PortRcvErrors 2:1 0");
	quiet(b, 3, 10);
	ck_assert_uint_eq(states(b), 0);
	bench_free(b);
}
END_TEST

/* As many errors as the limit, but in more time than the window. */
START_TEST(buckets)
{
	struct bench *b = bench_new("PortRcvErrors all alarm 6 in 60");

	quiet(b, 1, 10);
	for (int i = 0; i < 40; i++) {
		if (i % 2)
			grow(b, b->leaf, PERF_RCV_ERRORS, 1);
		quiet(b, 1, 10);
	}
	quiet(b, 7, 10);
	ck_assert_uint_eq(states(b), 0);
	for (int i = 0; i < 5; i++) {
		grow(b, b->leaf, PERF_RCV_ERRORS, 1);
		quiet(b, 1, 10);
	}
	grow(b, b->leaf, PERF_RCV_ERRORS, 1);
	ck_assert_str_eq(sweep(b, 9), "+alarm PortRcvErrors 2:1 6");
	bench_free(b);
}
END_TEST

/* Readings further apart than the window: only what must have happened within one. */
START_TEST(short_windows)
{
	struct bench *b = bench_new("SymbolErrorCounter all alarm 100 in 10\n"
				    "LinkDownedCounter all warning 1 in 10");

	quiet(b, 2, 180);
	grow(b, b->leaf, PERF_SYMBOL_ERRORS, 99 * 18);
	quiet(b, 1, 180);
	grow(b, b->leaf, PERF_SYMBOL_ERRORS, 99 * 18 + 1);
	ck_assert_str_eq(sweep(b, 180), "+alarm SymbolErrorCounter 2:1 100");
	grow(b, b->leaf, PERF_LINK_DOWNED, 1);
	ck_assert_str_eq(sweep(b, 180), "+warning LinkDownedCounter 2:1 1; "
					"-alarm SymbolErrorCounter 2:1 0");
	bench_free(b);
}
END_TEST

START_TEST(between_the_limits)
{
	struct bench *b = bench_new("VL15Dropped all warning 10 in 60 clear 8 after 120");

	quiet(b, 1, 60);
	grow(b, b->leaf, PERF_VL15_DROPPED, 10);
	ck_assert_str_eq(sweep(b, 60), "+warning VL15Dropped 2:1 10");
	for (int i = 0; i < 5; i++) {
		grow(b, b->leaf, PERF_VL15_DROPPED, 8);
		quiet(b, 1, 60);
	}
	grow(b, b->leaf, PERF_VL15_DROPPED, 7);
	quiet(b, 1, 60);
	grow(b, b->leaf, PERF_VL15_DROPPED, 7);
	ck_assert_str_eq(sweep(b, 60), "-warning VL15Dropped 2:1 7");
	for (int i = 0; i < 5; i++) {
		grow(b, b->leaf, PERF_VL15_DROPPED, 9);
		quiet(b, 1, 60);
	}
	bench_free(b);
}
END_TEST

/* What stands: "alarm LinkDownedCounter 2:2 3 in 300". */
static const char *standing(struct bench *b)
{
	struct perf_alarms *alarms = perf_judge_alarms(b->judge);

	g_string_truncate(b->told, 0);
	for (uint32_t i = 0; i < alarms->n; i++) {
		const struct perf_alarm *alarm = &alarms->all[i];

		g_string_append_printf(b->told, "%s%s %s %u:%u %.3g in %u%s", i ? "; " : "",
				       perf_level_word(alarm->level), alarm->value,
				       (unsigned int)alarm->guid, alarm->port, alarm->measured,
				       alarm->window_s, alarm->unhealthy ? " unhealthy" : "");
	}
	perf_alarms_unref(alarms);
	return b->told->str;
}

/* Each "or" is a limit of its own, but one fault is one event and one entry of the list. */
START_TEST(several_limits)
{
	struct bench *b = bench_new(NULL);

	quiet(b, 1, 180);
	grow(b, b->up, PERF_LINK_DOWNED, 3);
	ck_assert_str_eq(sweep(b, 180), "+alarm LinkDownedCounter 2:2 3");
	ck_assert_str_eq(standing(b), "alarm LinkDownedCounter 2:2 3 in 300");
	ck_assert_uint_eq(states(b), 3);
	grow(b, b->up, PERF_LINK_DOWNED, 2);
	quiet(b, 1, 180);
	ck_assert_str_eq(standing(b), "alarm LinkDownedCounter 2:2 3 in 300");
	quiet(b, 6, 180);
	ck_assert_str_eq(standing(b), "alarm LinkDownedCounter 2:2 5 in 86400");
	bench_free(b);
}
END_TEST

/* A level that rises, falls back and ends: an event each, and the lower one shows again. */
START_TEST(levels)
{
	struct bench *b =
		bench_new("PortRcvErrors all warning 2 in 60 clear 1 after 300 unhealthy\n"
			  "PortRcvErrors all alarm 5 in 60\n"
			  "PortRcvErrors all info 1 in 60");
	const char *text;

	quiet(b, 1, 60);
	grow(b, b->up, PERF_RCV_ERRORS, 2);
	ck_assert_str_eq(sweep(b, 60), "+warning PortRcvErrors 2:2 2");
	ck_assert_str_eq(standing(b), "warning PortRcvErrors 2:2 2 in 60 unhealthy");
	grow(b, b->up, PERF_RCV_ERRORS, 5);
	ck_assert_str_eq(sweep(b, 60), "+alarm PortRcvErrors 2:2 5");
	ck_assert_str_eq(standing(b), "alarm PortRcvErrors 2:2 5 in 60 unhealthy");
	quiet(b, 1, 60);
	ck_assert_str_eq(sweep(b, 60), "-alarm PortRcvErrors 2:2 0 to warning");
	text = standing(b);
	ck_assert_str_eq(text, "warning PortRcvErrors 2:2 2 in 60 unhealthy");
	quiet(b, 2, 60); /* the info ends unseen */
	ck_assert_str_eq(sweep(b, 60), "-warning PortRcvErrors 2:2 0");
	ck_assert_str_eq(standing(b), "");
	bench_free(b);
}
END_TEST

/* ---- shares and rates ---- */

#define TICKS_PER_S (NS_PER_S / 32) /* of perf_net: 8 symbols of 4 ns */

START_TEST(waiting)
{
	struct bench *b = bench_new("XmitWaitShare all warning 25 in 60\n"
				    "XmitWaitShare all alarm 75 in 300");

	quiet(b, 2, 30);
	ck_assert_uint_eq(states(b), 0);
	grow(b, b->up, PERF_XMIT_WAIT, 30 * TICKS_PER_S / 5);
	quiet(b, 1, 30);
	ck_assert_uint_eq(states(b), 0); /* 20 % leads to nothing */
	grow(b, b->up, PERF_XMIT_WAIT, 30 * TICKS_PER_S);
	quiet(b, 1, 30); /* half a window */
	ck_assert_uint_eq(states(b), 2);
	grow(b, b->up, PERF_XMIT_WAIT, 30 * TICKS_PER_S / 10);
	ck_assert_str_eq(sweep(b, 30), "+warning XmitWaitShare 2:2 55");
	for (int i = 0; i < 15; i++) {
		grow(b, b->up, PERF_XMIT_WAIT, 30 * TICKS_PER_S * 9 / 10);
		if (*sweep(b, 30))
			break;
	}
	ck_assert_ptr_nonnull(strstr(b->told->str, "+alarm XmitWaitShare 2:2 8"));
	for (int i = 0; i < 40 && !*sweep(b, 30); i++)
		;
	ck_assert_str_eq(b->told->str, "-alarm XmitWaitShare 2:2 0"); /* and the warning before */
	bench_free(b);
}
END_TEST

/* 100 Gb/s are 12.5 GB/s, counted in units of 4. A device that counts more is at 100 %. */
START_TEST(utilisation)
{
	struct bench *b = bench_new("Utilisation all info 90 in 60");

	quiet(b, 1, 60);
	grow(b, b->up, PERF_RCV_DATA, UINT64_C(60) * 12500000000 / 4 * 91 / 100);
	grow(b, b->up, PERF_XMIT_DATA, 1);
	grow(b, b->host, PERF_XMIT_DATA, UINT64_C(60) * 12500000000);
	grow(b, b->leaf, PERF_XMIT_DATA, UINT64_C(60) * 12500000000 / 4 * 89 / 100);
	ck_assert_str_eq(sweep(b, 60), "+info Utilisation 1:1 100; +info Utilisation 2:2 91");
	bench_free(b);
}
END_TEST

START_TEST(bit_errors)
{
	struct bench *b = bench_new(NULL);

	b->net->details_row = b->up;
	quiet(b, 2, 900);
	b->net->details[PERF_DETAIL_FEC_CORRECTED_SYMBOLS] += UINT64_C(900) * 100000000000 / 500000;
	ck_assert_str_eq(sweep(b, 900), "+warning RawBER 2:2 2e-06");
	quiet(b, 8, 900); /* 125 minutes must be good */
	ck_assert_str_eq(sweep(b, 900), "-warning RawBER 2:2 0");
	bench_free(b);
}
END_TEST

/* ---- readings that say less ---- */

START_TEST(baseline)
{
	struct bench *b = bench_new("PortRcvErrors all alarm 1 in 60");

	grow(b, b->leaf, PERF_RCV_ERRORS, 1000000);
	quiet(b, 1, 10); /* no image before */
	b->net->now->flags[b->leaf] |= PERF_BASELINE;
	grow(b, b->leaf, PERF_RCV_ERRORS, 1000000);
	quiet(b, 2, 10);
	ck_assert_uint_eq(states(b), 0);
	bench_free(b);
}
END_TEST

/* An agent that does not answer: neither the begin nor the end, until the truth is known. */
START_TEST(silent)
{
	struct bench *b = bench_new("PortRcvErrors all alarm 4 in 60");

	quiet(b, 1, 10);
	grow(b, b->leaf, PERF_RCV_ERRORS, 4);
	ck_assert_str_eq(sweep(b, 10), "+alarm PortRcvErrors 2:1 4");
	for (int i = 0; i < 100; i++) {
		b->net->now->flags[b->leaf] = PERF_SILENT | PERF_EVER;
		quiet(b, 1, 10);
	}
	grow(b, b->leaf, PERF_RCV_ERRORS, 10); /* in 1010 s: 1 in a window */
	ck_assert_str_eq(sweep(b, 10), "-alarm PortRcvErrors 2:1 1");
	for (int i = 0; i < 100; i++) {
		b->net->now->flags[b->leaf] = PERF_SILENT | PERF_EVER;
		quiet(b, 1, 10);
	}
	grow(b, b->leaf, PERF_RCV_ERRORS, 70); /* 4 or more in a window */
	ck_assert_str_eq(sweep(b, 10), "+alarm PortRcvErrors 2:1 5");
	bench_free(b);
}
END_TEST

START_TEST(at_least)
{
	struct bench *b = bench_new("PortRcvErrors all alarm 4 in 60");

	quiet(b, 1, 10);
	grow(b, b->leaf, PERF_RCV_ERRORS, 5);
	b->net->now->missed[b->leaf] = 1u << PERF_RCV_ERRORS;
	b->net->now->flags[b->leaf] |= PERF_RESET;
	ck_assert_str_eq(sweep(b, 10), "+alarm PortRcvErrors 2:1 5 at least");
	for (int i = 0; i < 40;
	     i++) { /* at its maximum a counter does not show whether it is over */
		b->net->now->missed[b->leaf] = 1u << PERF_RCV_ERRORS;
		b->net->now->flags[b->leaf] |= PERF_SATURATED;
		quiet(b, 1, 10);
	}
	quiet(b, 6, 10);
	ck_assert_str_eq(sweep(b, 10), "-alarm PortRcvErrors 2:1 0");
	bench_free(b);
}
END_TEST

/* ---- links that go down for a reason ---- */

#define FLAPS "LinkDownedCounter all alarm 1 in 300\nSymbolErrorCounter all alarm 1 in 300"

static void take_down(struct bench *b, unsigned int times)
{
	grow(b, b->leaf, PERF_LINK_DOWNED, times);
	grow(b, b->leaf, PERF_SYMBOL_ERRORS, 100);
}

START_TEST(restarted)
{
	struct bench *b = bench_new(FLAPS);

	quiet(b, 1, 180);
	take_down(b, 2);
	b->net->now->flags[b->host] |= PERF_RESTARTED;
	quiet(b, 1, 180);
	take_down(b, 2); /* the switch itself */
	b->net->now->flags[b->leaf] |= PERF_RESTARTED;
	quiet(b, 1, 180);
	take_down(b, 3); /* once more than a boot does */
	b->net->now->flags[b->host] |= PERF_RESTARTED;
	ck_assert_str_eq(sweep(b, 180), "+alarm LinkDownedCounter 2:1 1");
	bench_free(b);
}
END_TEST

START_TEST(host_gone_and_back)
{
	struct bench *b = bench_new(FLAPS);

	quiet(b, 1, 180);
	set_host(b, false);
	take_down(b, 1);
	quiet(b, 1, 180);
	set_host(b, true);
	take_down(b, 1);
	quiet(b, 1, 180);
	quiet(b, 1, 180);
	take_down(b, 1); /* it stayed where it was: its cable flaps */
	ck_assert_str_eq(sweep(b, 180), "+alarm SymbolErrorCounter 2:1 100; "
					"+alarm LinkDownedCounter 2:1 1");
	bench_free(b);
}
END_TEST

START_TEST(taken_down_by_the_sm)
{
	static const struct perf_rule_member ports[] = {{LEAF, 1}, {SPINE, 1}};
	struct bench *b = bench_new(FLAPS);

	quiet(b, 1, 180);
	b->held = (struct perf_held){G_N_ELEMENTS(ports), ports};
	take_down(b, 1);
	grow(b, b->up, PERF_LINK_DOWNED, 1); /* its other end is held */
	quiet(b, 1, 180);
	b->held = (struct perf_held){0};
	grow(b, b->up, PERF_LINK_DOWNED, 1);
	ck_assert_str_eq(sweep(b, 180), "+alarm LinkDownedCounter 2:2 1");
	bench_free(b);
}
END_TEST

START_TEST(link_down)
{
	struct bench *b = bench_new("PortRcvErrors all alarm 4 in 60\n"
				    "VL15Dropped all alarm 4 in 60 unhealthy");

	quiet(b, 1, 10);
	grow(b, b->leaf, PERF_RCV_ERRORS, 4);
	grow(b, b->leaf, PERF_VL15_DROPPED, 4);
	sweep(b, 10);
	b->net->now->flags[b->leaf] = PERF_DOWN | PERF_EVER;
	ck_assert_str_eq(sweep(b, 10), "-alarm VL15Dropped 2:1 0 unused"); /* perhaps by the SM */
	for (int i = 0; i < 10; i++) {
		b->net->now->flags[b->leaf] = PERF_DOWN | PERF_EVER;
		quiet(b, 1, 10);
	}
	b->net->now->flags[b->leaf] = PERF_DOWN | PERF_EVER;
	ck_assert_str_eq(sweep(b, 10), "-alarm PortRcvErrors 2:1 0 unused");
	quiet(b, 2, 10);
	bench_free(b);
}
END_TEST

START_TEST(node_gone)
{
	struct bench *b = bench_new("PortRcvErrors all alarm 4 in 60");

	quiet(b, 1, 10);
	grow(b, b->host, PERF_RCV_ERRORS, 4);
	ck_assert_str_eq(sweep(b, 10), "+alarm PortRcvErrors 1:1 4");
	set_host(b, false);
	quiet(b, 11, 10);
	ck_assert_str_eq(sweep(b, 10), "-alarm PortRcvErrors 1:1 0 gone");
	ck_assert_uint_eq(states(b), 0);
	bench_free(b);
}
END_TEST

/* ---- other rules ---- */

static void set_rules(struct bench *b, const char *text)
{
	perf_rules_unref(b->rules);
	b->rules = parse(text);
}

START_TEST(new_rules)
{
	struct bench *b =
		bench_new("PortRcvErrors all alarm 4 in 60\nVL15Dropped all alarm 4 in 60");

	quiet(b, 1, 10);
	grow(b, b->leaf, PERF_RCV_ERRORS, 3);
	grow(b, b->leaf, PERF_VL15_DROPPED, 4);
	ck_assert_str_eq(sweep(b, 10), "+alarm VL15Dropped 2:1 4");
	set_rules(b, "QP1Dropped all info 1 in 1\nVL15Dropped all alarm 4 in 60\n"
		     "PortRcvErrors all alarm 4 in 60");
	grow(b, b->leaf, PERF_RCV_ERRORS, 1); /* what was counted before still counts */
	ck_assert_str_eq(sweep(b, 10), "+alarm PortRcvErrors 2:1 4");
	set_rules(b, "VL15Dropped all alarm 5 in 60\nPortRcvErrors all alarm 4 in 60\n"
		     "PortRcvErrors 0x2 off");
	ck_assert_str_eq(sweep(b, 10), "-alarm VL15Dropped 2:1 0 no rule; "
				       "-alarm PortRcvErrors 2:1 0 no rule");
	ck_assert_uint_eq(states(b), 0);
	bench_free(b);
}
END_TEST

/* A rule that asks for the unhealthy ports while its alarm stands is a new request. */
START_TEST(unhealthy_later)
{
	struct bench *b = bench_new("PortRcvErrors all alarm 4 in 60");
	struct perf_alarms *before, *after;

	quiet(b, 1, 10);
	grow(b, b->leaf, PERF_RCV_ERRORS, 4);
	sweep(b, 10);
	before = perf_judge_alarms(b->judge);
	ck_assert_uint_eq(before->all[0].unhealthy, 0);
	set_rules(b, "PortRcvErrors all alarm 4 in 60 unhealthy");
	quiet(b, 1, 10);
	after = perf_judge_alarms(b->judge);
	ck_assert_uint_gt(after->all[0].unhealthy, before->last_serial);
	ck_assert_uint_eq(after->all[0].serial, before->all[0].serial);
	ck_assert_uint_eq(after->last_serial, after->all[0].unhealthy);
	perf_alarms_unref(before);
	perf_alarms_unref(after);
	bench_free(b);
}
END_TEST

/* ---- causes ---- */

#define RECOVERIES "LinkErrorRecoveryCounter all warning 2 in 3600"

/* The ends of one cable count errors in turn, so that a sweep sees those of one end only. */
static void check_both_ends(struct bench *b)
{
	uint32_t spine = fixture_row(b->net->layout, SPINE, 1);

	quiet(b, 1, 10);
	for (int i = 0; i < 2; i++) {
		grow(b, spine, PERF_LINK_ERROR_RECOVERIES, 1);
		sweep(b, 10);
		quiet(b, 3, 10);
	}
	grow(b, b->up, PERF_LINK_ERROR_RECOVERIES, 2);
	ck_assert_ptr_nonnull(strstr(sweep_text(b, 10), "the receivers of both ends see errors"));
	bench_free(b);
}

START_TEST(cause_in_the_window)
{
	check_both_ends(bench_new(RECOVERIES));
}
END_TEST

/* Images do not reach that far back, but the judge remembers. */
START_TEST(cause_before_the_images)
{
	struct bench *b = bench_new(RECOVERIES);

	b->ring = 2;
	check_both_ends(b);
}
END_TEST

/* A cable that is pulled: the image before knows its other end. */
START_TEST(cause_of_a_pulled_cable)
{
	struct bench *b = bench_new("LinkDownedCounter all warning 1 in 300");
	struct perf_net *before = b->net;

	quiet(b, 1, 180);
	make_net(b, true);
	b->net->seconds = before->seconds;
	b->net->layout->places[b->up].peer = PERF_NONE;
	b->net->layout->places[fixture_row(b->net->layout, SPINE, 1)].peer = PERF_NONE;
	grow(b, b->up, PERF_LINK_DOWNED, 1);
	ck_assert_ptr_nonnull(strstr(sweep_text(b, 180), "the link to port 1 of 'spine' (0x"));
	perf_net_free(before);
	bench_free(b);
}
END_TEST

/* What was before the window does not count. */
START_TEST(cause_of_today)
{
	struct bench *b = bench_new("LinkErrorRecoveryCounter all warning 2 in 60");

	quiet(b, 1, 10);
	grow(b, fixture_row(b->net->layout, SPINE, 1), PERF_LINK_ERROR_RECOVERIES, 1);
	quiet(b, 9, 10);
	grow(b, b->up, PERF_LINK_ERROR_RECOVERIES, 2);
	ck_assert_ptr_nonnull(strstr(sweep_text(b, 10), "only this end receives errors"));
	bench_free(b);
}
END_TEST

/* Discards whose details are of an earlier sweep. */
START_TEST(cause_by_earlier_details)
{
	struct bench *b = bench_new("PortXmitDiscards all warning 100 in 300");

	b->net->details_row = b->up;
	quiet(b, 2, 30);
	grow(b, b->up, PERF_XMIT_DISCARDS, 99);
	b->net->details[PERF_DETAIL_NEIGHBOR_MTU] += 99;
	quiet(b, 2, 30);
	grow(b, b->up, PERF_XMIT_DISCARDS, 1);
	ck_assert_ptr_nonnull(strstr(sweep_text(b, 30), ": packets are larger than the MTU"));
	bench_free(b);
}
END_TEST

/* ---- large fabrics ---- */

#define LEAVES 1250
#define PORTS 80

static struct bench *large(const char *text)
{
	struct bench *b = bench_new(text);

	perf_net_free(b->net);
	b->net = perf_net_new();
	for (unsigned int i = 1; i <= LEAVES; i++)
		fixture_add(b->net->layout, i, IBA_NODE_SWITCH, PORTS, "leaf");
	perf_net_ready(b->net);
	return b;
}

START_TEST(many_quiet_ports)
{
	struct bench *b = large(NULL);

	sweep(b, 10);
	for (uint32_t row = 0; row < b->net->layout->n_rows; row++) {
		grow(b, row, PERF_XMIT_DATA, 1000);
		grow(b, row, PERF_RCV_DATA, 1000);
		grow(b, row, PERF_XMIT_WAIT, 10);
	}
	quiet(b, 1, 10);
	printf("judged %u ports without errors in %.1f ms\n", b->net->layout->n_rows,
	       (double)b->took_us / 1000);
	ck_assert_uint_eq(states(b), 0);
	bench_free(b);
}
END_TEST

START_TEST(many_alarms)
{
	struct bench *b = large("PortRcvErrors all alarm 5 in 300");
	struct perf_alarms *alarms;
	size_t bytes;

	sweep(b, 10);
	for (uint32_t row = 0; row < b->net->layout->n_rows; row += 4)
		grow(b, row, PERF_RCV_ERRORS, 5 + row / 1000);
	sweep(b, 10);
	printf("judged %u ports of which a quarter alarms in %.1f ms\n", b->net->layout->n_rows,
	       (double)b->took_us / 1000);
	ck_assert(g_str_has_prefix(b->told->str, "+alarm PortRcvErrors 1238:"));
	ck_assert_uint_eq(perf_judge_states(b->judge, &bytes), LEAVES * PORTS / 4);
	ck_assert_uint_le(bytes, LEAVES * PORTS / 4 * 64);
	alarms = perf_judge_alarms(b->judge);
	ck_assert_uint_eq(alarms->n, PERF_ALARMS_MAX);
	ck_assert_uint_eq(alarms->count[PERF_ALARM], LEAVES * PORTS / 4);
	ck_assert_double_eq(alarms->all[0].measured, 5 + 99);
	perf_alarms_unref(alarms);
	bench_free(b);
}
END_TEST

/* ---- the log and the list ---- */

static void get_rules(void *object)
{
	perf_rules_ref(object);
}

static void put_rules(void *object)
{
	perf_rules_unref(object);
}

static void get_alarms(void *object)
{
	perf_alarms_ref(object);
}

static void put_alarms(void *object)
{
	perf_alarms_unref(object);
}

static void get_options(void *object)
{
	options_ref(object);
}

static void put_options(void *object)
{
	options_unref(object);
}

static unsigned int count_lines(const char *text, const char *with)
{
	unsigned int n = 0;

	for (; (text = strstr(text, with)); text++)
		n++;
	return n;
}

START_TEST(told)
{
	struct bench *b = large("PortRcvErrors all alarm 5 in 300\nVL15Dropped all info 1 in 10");
	g_autoptr(GString) log = g_string_new(NULL);
	struct context *context = g_new0(struct context, 1);
	struct perf_verdict *verdict;
	struct perf_alarms *alarms;
	struct perf_images images;

	context->log = log_new_capture(log);
	event_bus_init(&context->bus);
	slot_init(&context->options, get_options, put_options);
	slot_init(&context->subnet, NULL, NULL);
	slot_init(&context->perf_rules, get_rules, put_rules);
	slot_init(&context->perf_alarms, get_alarms, put_alarms);
	slot_publish(&context->options, options_new());
	slot_publish(&context->perf_rules, perf_rules_ref(b->rules));
	verdict = perf_verdict_new(context);
	next_images(b, 10);
	for (uint32_t row = 0; row < 10000; row++)
		grow(b, row, PERF_RCV_ERRORS, 5);
	grow(b, 0, PERF_VL15_DROPPED, 1);
	images = next_images(b, 10);
	perf_verdict_sweep(verdict, &images, perf_images_last(&images)->ended_ns);
	ck_assert_uint_eq(count_lines(log->str, "\n"), 11);
	ck_assert_uint_eq(count_lines(log->str, "ERR alarm: port "), 10);
	ck_assert_ptr_nonnull(strstr(log->str, "events of counters not shown: 9991; began: alarm "
					       "9990, warning 0, info 1; ended: 0"));
	alarms = slot_take(&context->perf_alarms);
	ck_assert_uint_eq(alarms->n, 10001);
	ck_assert_uint_eq(alarms->count[PERF_INFO], 1);
	ck_assert_ptr_nonnull(strstr(log->str, "ERR alarm: port 1 of 'leaf' (0x0000000000000001): "
					       "PortRcvErrors was 5 within 300 s (limit 5): "));
	perf_alarms_unref(alarms);
	g_string_truncate(log, 0);
	images = next_images(b, 700);
	perf_verdict_sweep(verdict, &images, perf_images_last(&images)->ended_ns);
	ck_assert_uint_eq(count_lines(log->str, "\n"), 11);
	ck_assert_uint_eq(count_lines(log->str, "alarm ended: port "), 10);
	ck_assert_ptr_nonnull(strstr(log->str, "ended: 9991"));
	alarms = slot_take(&context->perf_alarms);
	ck_assert_uint_eq(alarms->n, 0);
	perf_alarms_unref(alarms);
	g_string_truncate(log, 0);
	grow(b, 0, PERF_RCV_ERRORS, 500);
	images = next_images(b, 10);
	perf_verdict_sweep(verdict, &images, perf_images_last(&images)->ended_ns);
	ck_assert_uint_eq(count_lines(log->str, "\n"), 1);
	perf_verdict_forget(verdict); /* the manager is switched off */
	alarms = slot_take(&context->perf_alarms);
	ck_assert_uint_eq(alarms->n, 0);
	perf_alarms_unref(alarms);
	perf_verdict_free(verdict);
	slot_clear(&context->options);
	slot_clear(&context->perf_rules);
	slot_clear(&context->perf_alarms);
	event_bus_clear(&context->bus);
	log_free(context->log);
	g_free(context);
	bench_free(b);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("perf_judge");
	TCase *tcase = tcase_create("perf_judge");

	tcase_add_test(tcase, once);
	tcase_add_test(tcase, buckets);
	tcase_add_test(tcase, short_windows);
	tcase_add_test(tcase, between_the_limits);
	tcase_add_test(tcase, several_limits);
	tcase_add_test(tcase, levels);
	tcase_add_test(tcase, waiting);
	tcase_add_test(tcase, utilisation);
	tcase_add_test(tcase, bit_errors);
	tcase_add_test(tcase, baseline);
	tcase_add_test(tcase, silent);
	tcase_add_test(tcase, at_least);
	tcase_add_test(tcase, restarted);
	tcase_add_test(tcase, host_gone_and_back);
	tcase_add_test(tcase, taken_down_by_the_sm);
	tcase_add_test(tcase, link_down);
	tcase_add_test(tcase, node_gone);
	tcase_add_test(tcase, new_rules);
	tcase_add_test(tcase, unhealthy_later);
	tcase_add_test(tcase, cause_in_the_window);
	tcase_add_test(tcase, cause_before_the_images);
	tcase_add_test(tcase, cause_of_a_pulled_cable);
	tcase_add_test(tcase, cause_of_today);
	tcase_add_test(tcase, cause_by_earlier_details);
	tcase_add_test(tcase, many_quiet_ports);
	tcase_add_test(tcase, many_alarms);
	tcase_add_test(tcase, told);
	suite_add_tcase(suite, tcase);
	return suite;
}
