// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The queue of events of a plug-in: order, series, limits, gaps. */
#include "ctl/feed/feed.h"
#include "tests/run_suite.h"

#include <check.h>
#include <string.h>

static uint64_t octets[512];

static const struct feed_moment moment = {.time_ns = 5, .real_us = 6, .generation = 7};

static void push(struct feed *feed, uint32_t id, uint64_t value)
{
	struct feed_event event = {.id = id};

	FEED_BODY(&event, struct osm_about)->value = value;
	feed_text(&event, "text");
	feed_push(feed, &moment, &event);
}

/* ---- a series of numbers from first to last ---- */

struct numbers {
	struct feed_series series; /* first */
	uint64_t first, last;
};

static unsigned int n_numbers; /* that exist */

static void numbers_free(struct feed_series *series)
{
	n_numbers--;
	g_free(series);
}

static bool numbers_next(const struct feed_series *series, struct feed_cursor *cursor,
			 uint64_t events, struct feed_event *event)
{
	const struct numbers *numbers = (const struct numbers *)series;
	uint64_t value = numbers->first + cursor->at;

	if (value > numbers->last || !(events & OSM_EVENT_BIT(OSM_EVENT_PORT_ERRORS)))
		return false;
	cursor->at++;
	if (!event)
		return true;
	event->id = OSM_EVENT_PORT_ERRORS;
	FEED_BODY(event, struct osm_about)->value = value;
	feed_text(event, "one of a series");
	return true;
}

static struct feed_series *numbers_new(enum feed_rank rank, uint64_t first, uint64_t last)
{
	struct numbers *numbers = g_new0(struct numbers, 1);

	ref_init(&numbers->series.ref);
	numbers->series.rank = rank;
	numbers->series.moment = moment;
	numbers->series.next = numbers_next;
	numbers->series.free = numbers_free;
	numbers->first = first;
	numbers->last = last;
	n_numbers++;
	return &numbers->series;
}

static struct feed_series *numbers_join(const struct feed_series *older,
					const struct feed_series *newer)
{
	const struct numbers *a = (const struct numbers *)older;
	const struct numbers *b = (const struct numbers *)newer;

	return a->last + 1 == b->first ? numbers_new(older->rank, a->first, b->last) : NULL;
}

static void push_numbers(struct feed *feed, enum feed_rank rank, uint64_t first, uint64_t last,
			 bool joins)
{
	struct feed_series *series = numbers_new(rank, first, last);

	series->join = joins ? numbers_join : NULL;
	feed_push_series(feed, series);
	feed_series_unref(series);
}

/* ---- what was taken ---- */

struct took {
	uint32_t id;
	uint64_t serial, value;
};

/* At most that many, one after the other. */
static GArray *take(struct feed *feed, unsigned int most)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct took));
	unsigned int n;
	size_t used = feed_take(feed, octets, sizeof(octets), &n, most);
	const uint8_t *at = (const uint8_t *)octets;

	while (used) {
		const struct event_record *record = (const struct event_record *)(const void *)at;
		const struct osm_about *about = (const void *)(at + sizeof(*record));
		const char *text = (const char *)about + record->body_octets;
		struct took took = {record->id, record->serial, about->value};

		ck_assert_uint_eq(record->octets % 8, 0);
		ck_assert_uint_le(record->octets, used);
		ck_assert_uint_eq(record->body_octets, sizeof(*about));
		ck_assert_uint_eq(about->size, sizeof(*about));
		ck_assert_uint_eq(record->text_octets, strlen(text) + 1);
		ck_assert_uint_eq(record->time_ns, 5);
		ck_assert_int_eq(record->real_us, 6);
		ck_assert_uint_eq(record->generation, 7);
		g_array_append_val(all, took);
		at += record->octets;
		used -= record->octets;
	}
	ck_assert_uint_eq(all->len, n);
	return all;
}

static void expect(struct feed *feed, const struct took *expected, unsigned int n)
{
	g_autoptr(GArray) all = take(feed, n);

	ck_assert_uint_eq(all->len, n);
	for (guint i = 0; i < n; i++) {
		const struct took *took = &g_array_index(all, struct took, i);

		ck_assert_uint_eq(took->id, expected[i].id);
		ck_assert_uint_eq(took->serial, expected[i].serial);
		ck_assert_uint_eq(took->value, expected[i].value);
	}
}

#define EXPECT(feed, ...)                                                                          \
	expect(feed, (const struct took[]){__VA_ARGS__},                                           \
	       sizeof((const struct took[]){__VA_ARGS__}) / sizeof(struct took))

/* ---- order ---- */

static void count_call(void *arg)
{
	++*(unsigned int *)arg;
}

START_TEST(in_order)
{
	struct feed *feed = feed_new(OSM_EVENTS_ALL);
	unsigned int n, calls = 0;

	feed_on_ready(feed, count_call, &calls);
	ck_assert_uint_eq(feed_take(feed, octets, sizeof(octets), &n, 9), 0);
	push(feed, OSM_EVENT_NODE, 1);
	push(feed, OSM_EVENT_LINK, 2);
	push_numbers(feed, FEED_COUNTERS, 10, 12, false);
	push(feed, OSM_EVENT_PORT, 3);
	ck_assert_uint_eq(calls, 1);
	ck_assert_uint_eq(feed_waiting(feed), 4);
	EXPECT(feed, {OSM_EVENT_NODE, 1, 1}, {OSM_EVENT_LINK, 2, 2}, {OSM_EVENT_PORT_ERRORS, 3, 10},
	       {OSM_EVENT_PORT_ERRORS, 4, 11}, {OSM_EVENT_PORT_ERRORS, 5, 12},
	       {OSM_EVENT_PORT, 6, 3});
	ck_assert_uint_eq(feed_waiting(feed), 0);
	ck_assert_uint_eq(feed_delivered(feed), 6);
	push(feed, OSM_EVENT_NODE, 4);
	ck_assert_uint_eq(calls, 2);
	feed_free(feed);
	ck_assert_uint_eq(n_numbers, 0);
}
END_TEST

START_TEST(only_what_is_wanted)
{
	struct feed *feed = feed_new(OSM_EVENT_BIT(OSM_EVENT_LINK));

	push(feed, OSM_EVENT_NODE, 1);
	push(feed, OSM_EVENT_LINK, 2);
	push_numbers(feed, FEED_COUNTERS, 10, 12, false);
	push(feed, OSM_EVENT_LINK, 3);
	EXPECT(feed, {OSM_EVENT_LINK, 1, 2}, {OSM_EVENT_LINK, 2, 3});
	ck_assert_uint_eq(feed_waiting(feed), 0);
	feed_free(feed);
}
END_TEST

/* What does not fit comes next time, whole. */
START_TEST(room)
{
	struct feed *feed = feed_new(OSM_EVENTS_ALL);
	uint64_t next = 0;
	unsigned int n = 1;

	push_numbers(feed, FEED_COUNTERS, 0, 99, false);
	for (uint64_t i = 100; i < 200; i++)
		push(feed, OSM_EVENT_NODE, i);
	while (n) {
		size_t used = feed_take(feed, octets, FEED_RECORD_MAX + 8, &n, 1000);
		const uint8_t *at = (const uint8_t *)octets, *end = at + used;

		ck_assert_uint_le(used, FEED_RECORD_MAX + 8);
		for (; at < end; next++) {
			const struct event_record *record = (const void *)at;
			const struct osm_about *about = (const void *)(at + sizeof(*record));

			ck_assert_uint_eq(about->value, next);
			ck_assert_uint_eq(record->serial, next + 1);
			at += record->octets;
		}
	}
	ck_assert_uint_eq(next, 200);
	feed_free(feed);
}
END_TEST

START_TEST(texts_are_cut)
{
	struct feed *feed = feed_new(OSM_EVENTS_ALL);
	struct feed_event event = {.id = OSM_EVENT_NODE};
	g_autoptr(GString) text = g_string_new("a");
	const struct event_record *record = (const void *)octets;
	unsigned int n;

	for (unsigned int i = 0; i < EVENT_TEXT_MAX; i++)
		g_string_append(text, "\xC3\xA4");
	feed_text(&event, text->str);
	feed_push(feed, &moment, &event);
	ck_assert_uint_gt(feed_take(feed, octets, sizeof(octets), &n, 1), 0);
	ck_assert_uint_eq(record->body_octets, 0);
	ck_assert_uint_le(record->text_octets, EVENT_TEXT_MAX);
	ck_assert(g_utf8_validate((const char *)(record + 1), -1, NULL));
	feed_free(feed);
}
END_TEST

/* ---- limits ---- */

START_TEST(oldest_go)
{
	struct feed *feed = feed_new(OSM_EVENTS_ALL);
	g_autoptr(GArray) all = NULL;
	const struct took *took;

	for (uint64_t i = 1; i <= FEED_ENTRIES + 100; i++)
		push(feed, OSM_EVENT_NODE, i);
	ck_assert_uint_eq(feed_waiting(feed), FEED_ENTRIES);
	ck_assert_uint_eq(feed_lost(feed), 100);
	all = take(feed, 2);
	took = &g_array_index(all, struct took, 0);
	ck_assert_uint_eq(took[0].id, OSM_EVENT_LOST);
	ck_assert_uint_eq(took[0].value, 100);
	ck_assert_uint_eq(took[0].serial, 101);
	ck_assert_uint_eq(took[1].value, 101);
	ck_assert_uint_eq(took[1].serial, 102);
	feed_free(feed);
}
END_TEST

/* Long texts count by their octets. */
START_TEST(texts_are_bounded)
{
	struct feed *feed = feed_new(OSM_EVENTS_ALL);
	struct feed_event event = {.id = OSM_EVENT_NODE};

	memset(event.text, 'x', sizeof(event.text) - 1);
	event.body_octets = EVENT_BODY_MAX;
	for (unsigned int i = 0; i < FEED_ENTRIES; i++)
		feed_push(feed, &moment, &event);
	ck_assert_uint_lt(feed_waiting(feed) * EVENT_TEXT_MAX, FEED_OCTETS);
	ck_assert_uint_gt(feed_waiting(feed), FEED_OCTETS / FEED_RECORD_MAX - 1);
	ck_assert_uint_eq(feed_waiting(feed) + feed_lost(feed), FEED_ENTRIES);
	feed_free(feed);
}
END_TEST

/* Counters first, then tables, then the others, at their places. */
START_TEST(order_of_dropping)
{
	struct feed *feed = feed_new(OSM_EVENTS_ALL);
	g_autoptr(GArray) all = NULL;

	push(feed, OSM_EVENT_NODE, 1);
	push_numbers(feed, FEED_TABLES, 10, 14, false);
	push(feed, OSM_EVENT_NODE, 2);
	push_numbers(feed, FEED_COUNTERS, 20, 22, false);
	for (uint64_t i = 3; feed_waiting(feed) < FEED_ENTRIES; i++)
		push(feed, OSM_EVENT_LINK, i);
	ck_assert_uint_eq(feed_lost(feed), 0);
	push(feed, OSM_EVENT_LINK, 0);
	ck_assert_uint_eq(feed_lost(feed), 3);
	push(feed, OSM_EVENT_LINK, 0);
	ck_assert_uint_eq(feed_lost(feed), 8);
	EXPECT(feed, {OSM_EVENT_NODE, 1, 1});
	push(feed, OSM_EVENT_LINK, 0);
	push(feed, OSM_EVENT_LINK, 0);
	ck_assert_uint_eq(feed_lost(feed), 9);
	all = take(feed, 2);
	ck_assert_uint_eq(g_array_index(all, struct took, 0).id, OSM_EVENT_LOST);
	ck_assert_uint_eq(g_array_index(all, struct took, 0).value, 9);
	ck_assert_uint_eq(g_array_index(all, struct took, 0).serial, 11);
	ck_assert_uint_eq(g_array_index(all, struct took, 1).value, 3);
	feed_free(feed);
	ck_assert_uint_eq(n_numbers, 0);
}
END_TEST

START_TEST(few_series)
{
	struct feed *feed = feed_new(OSM_EVENTS_ALL);

	for (unsigned int i = 0; i <= FEED_SERIES; i++)
		push_numbers(feed, FEED_OTHERS, 10 * i, 10 * i + 1, false);
	ck_assert_uint_eq(feed_waiting(feed), FEED_SERIES);
	ck_assert_uint_eq(feed_lost(feed), 2);
	EXPECT(feed, {OSM_EVENT_LOST, 3, 2}, {OSM_EVENT_PORT_ERRORS, 4, 10});
	feed_free(feed);
	ck_assert_uint_eq(n_numbers, 0);
}
END_TEST

/* The rest of a series that was begun is what is lost. */
START_TEST(a_begun_series)
{
	struct feed *feed = feed_new(OSM_EVENTS_ALL);
	g_autoptr(GArray) first = NULL;

	push_numbers(feed, FEED_COUNTERS, 1, 9, false);
	first = take(feed, 2);
	for (uint64_t i = 0; i < FEED_ENTRIES; i++)
		push(feed, OSM_EVENT_NODE, i);
	ck_assert_uint_eq(feed_lost(feed), 7);
	EXPECT(feed, {OSM_EVENT_LOST, 10, 7}, {OSM_EVENT_NODE, 11, 0});
	feed_free(feed);
}
END_TEST

/* ---- joining ---- */

START_TEST(series_are_joined)
{
	struct feed *feed = feed_new(OSM_EVENTS_ALL);
	g_autoptr(GArray) first = NULL;

	push_numbers(feed, FEED_COUNTERS, 1, 2, true);
	push(feed, OSM_EVENT_NODE, 7);
	push_numbers(feed, FEED_COUNTERS, 3, 4, true);
	ck_assert_uint_eq(feed_waiting(feed), 2);
	first = take(feed, 2);
	push_numbers(feed, FEED_COUNTERS, 5, 5, true); /* the other was begun */
	push_numbers(feed, FEED_COUNTERS, 9, 9, true); /* it does not follow */
	ck_assert_uint_eq(feed_waiting(feed), 3);
	EXPECT(feed, {OSM_EVENT_PORT_ERRORS, 3, 2}, {OSM_EVENT_PORT_ERRORS, 4, 3},
	       {OSM_EVENT_PORT_ERRORS, 5, 4}, {OSM_EVENT_PORT_ERRORS, 6, 5},
	       {OSM_EVENT_PORT_ERRORS, 7, 9});
	ck_assert_uint_eq(feed_lost(feed), 0);
	feed_free(feed);
	ck_assert_uint_eq(n_numbers, 0);
}
END_TEST

START_TEST(gaps_from_outside)
{
	struct feed *feed = feed_new(OSM_EVENTS_ALL);

	push(feed, OSM_EVENT_NODE, 1);
	feed_push_gap(feed, &moment, 5);
	feed_push_gap(feed, &moment, 6);
	push(feed, OSM_EVENT_NODE, 2);
	ck_assert_uint_eq(feed_lost(feed), 11);
	EXPECT(feed, {OSM_EVENT_NODE, 1, 1}, {OSM_EVENT_LOST, 13, 11}, {OSM_EVENT_NODE, 14, 2});
	feed_free(feed);
}
END_TEST

/* Events that were lost on their way have their numbers already. */
START_TEST(numbers_after_a_loss)
{
	struct feed *feed = feed_new(OSM_EVENTS_ALL);
	GArray *first;

	for (uint64_t value = 1; value <= 6; value++)
		push(feed, OSM_EVENT_NODE, value);
	first = take(feed, 6);
	g_array_unref(first);
	push(feed, OSM_EVENT_NODE, 7);
	feed_lose(feed, &moment, 4);
	ck_assert_uint_eq(feed_lost(feed), 4);
	ck_assert_uint_eq(feed_delivered(feed), 2);
	EXPECT(feed, {OSM_EVENT_LOST, 7, 4}, {OSM_EVENT_NODE, 8, 7});
	ck_assert_uint_eq(feed_delivered(feed), 4);
	feed_push_gap(feed, &moment, 5);
	feed_lose(feed, &moment, 2); /* one gap with that */
	EXPECT(feed, {OSM_EVENT_LOST, 14, 7});
	feed_lose(feed, &moment, 0);
	EXPECT(feed, {OSM_EVENT_LOST, 16, 1});
	feed_free(feed);
}
END_TEST

/* ---- against a model ---- */

/*
 * Values rise by one with each event that is pushed, whatever it is. What comes out rises too, and
 * each jump is told exactly by the gap before it; the numbers of events count all.
 */
START_TEST(at_random)
{
	g_autoptr(GRand) chance = g_rand_new_with_seed((guint32)_i);
	struct feed *feed = feed_new(OSM_EVENTS_ALL);
	uint64_t pushed = 0, seen = 0, serial = 0, lost = 0, gaps = 0;
	bool is_over = false;

	for (unsigned int step = 0; !is_over; step++) {
		unsigned int n, pushes = (unsigned int)g_rand_int_range(chance, 0, 900);
		unsigned int most = (unsigned int)g_rand_int_range(chance, 1, 900);
		size_t used;

		is_over = step >= 60 && !feed_waiting(feed);
		for (unsigned int i = 0; step < 60 && i < pushes; i++) {
			uint64_t many = (uint64_t)g_rand_int_range(chance, 1, 30);

			if (g_rand_int_range(chance, 0, 40)) {
				push(feed, OSM_EVENT_NODE, ++pushed);
				continue;
			}
			push_numbers(feed, (enum feed_rank)g_rand_int_range(chance, 0, 3),
				     pushed + 1, pushed + many, false);
			pushed += many;
		}
		ck_assert_uint_le(feed_waiting(feed), FEED_ENTRIES);
		for (; most; most -= n) {
			const uint8_t *at = (const uint8_t *)octets;

			used = feed_take(feed, octets, sizeof(octets), &n, most);
			for (unsigned int i = 0; i < n; i++) {
				const struct event_record *record = (const void *)at;
				const struct osm_about *about = (const void *)(record + 1);

				at += record->octets;
				if (record->id == OSM_EVENT_LOST) {
					serial += about->value + 1;
					seen += about->value;
					lost += about->value;
					gaps++;
				} else {
					serial++;
					ck_assert_uint_eq(about->value, ++seen);
				}
				ck_assert_uint_eq(record->serial, serial);
			}
			if (!used)
				break;
		}
	}
	ck_assert_uint_eq(seen, pushed);
	ck_assert_uint_eq(lost, feed_lost(feed));
	ck_assert_uint_eq(serial, pushed + gaps);
	ck_assert_uint_eq(feed_delivered(feed), pushed - lost + gaps);
	feed_free(feed);
	ck_assert_uint_eq(n_numbers, 0);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("feed");
	TCase *tcase = tcase_create("feed");

	tcase_add_test(tcase, in_order);
	tcase_add_test(tcase, only_what_is_wanted);
	tcase_add_test(tcase, room);
	tcase_add_test(tcase, texts_are_cut);
	tcase_add_test(tcase, oldest_go);
	tcase_add_test(tcase, texts_are_bounded);
	tcase_add_test(tcase, order_of_dropping);
	tcase_add_test(tcase, few_series);
	tcase_add_test(tcase, a_begun_series);
	tcase_add_test(tcase, series_are_joined);
	tcase_add_test(tcase, gaps_from_outside);
	tcase_add_test(tcase, numbers_after_a_loss);
	tcase_add_loop_test(tcase, at_random, 0, 20);
	suite_add_tcase(suite, tcase);
	return suite;
}
