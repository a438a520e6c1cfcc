// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What windows of images tell, against figures computed by hand. */
#include <math.h>

#include "complib/random.h"
#include "iba/constants.h"
#include "iba/iba.h"
#include "perf/image/query.h"
#include "tests/run_suite.h"
#include "tests/unit/perf_fixture.h"

#define TOLERANCE 1e-9

static const struct fixture_node nodes[] = {
	{0x10, IBA_NODE_SWITCH, 3}, {0x20, IBA_NODE_SWITCH, 3}, {0x30, IBA_NODE_CA, 1}};

/* Two switches with a cable between their ports 1, and a host at port 2 of the first. */
static struct perf_layout *small_layout(void)
{
	struct perf_layout *layout = fixture_layout(nodes, G_N_ELEMENTS(nodes));

	fixture_cable(layout, 0x10, 1, 0x20, 1);
	fixture_cable(layout, 0x10, 2, 0x30, 1);
	return layout;
}

static void add(struct perf_fold *fold, struct perf_image *image)
{
	perf_fold_add(fold, image);
	perf_image_unref(image);
}

static struct perf_measure measure_at(const struct perf_fold *fold, uint64_t guid, uint8_t port,
				      struct perf_value value)
{
	struct perf_measure measure;

	perf_fold_measure(fold, fixture_row(fold->layout, guid, port), value, &measure);
	return measure;
}

static struct perf_measure count_at(const struct perf_fold *fold, uint64_t guid, uint8_t port,
				    unsigned int column)
{
	return measure_at(fold, guid, port, (struct perf_value){PERF_COUNT, column});
}

static void check_count(const struct perf_fold *fold, uint64_t guid, uint8_t port,
			unsigned int column, uint64_t count, unsigned int flags)
{
	struct perf_measure measure = count_at(fold, guid, port, column);

	ck_assert_uint_eq(measure.count, count);
	ck_assert_uint_eq(measure.flags, flags);
}

/* Each port was read at its own time: that is what its rate is by. */
START_TEST(own_time)
{
	struct perf_layout *layout = small_layout();
	struct perf_image *one = fixture_image(layout, 1, 10, 0);
	struct perf_image *two = fixture_image(layout, 2, 20, 0);
	struct perf_fold *fold = perf_fold_new(PERF_ALL_COUNTERS);
	uint32_t row = fixture_row(layout, 0x20, 1);
	struct perf_measure rate;

	one->total[PERF_XMIT_DATA][row] = 1000;
	two->total[PERF_XMIT_DATA][row] = 5000;
	one->read_ns[row] -= UINT64_C(1000000000);
	two->read_ns[row] -= UINT64_C(3000000000);
	add(fold, one);
	check_count(fold, 0x20, 1, PERF_XMIT_DATA, 0, PERF_UNKNOWN);
	add(fold, two);
	check_count(fold, 0x20, 1, PERF_XMIT_DATA, 4000, 0);
	rate = measure_at(fold, 0x20, 1, (struct perf_value){PERF_RATE, PERF_XMIT_DATA});
	ck_assert_uint_eq(rate.ns, UINT64_C(8000000000));
	ck_assert_double_eq_tol(rate.value, 4000 * 4 / 8.0, TOLERANCE);
	rate = measure_at(fold, 0x20, 1, (struct perf_value){PERF_RATE, PERF_XMIT_PKTS});
	ck_assert_double_eq(rate.value, 0);
	perf_fold_free(fold);
	perf_layout_unref(layout);
}
END_TEST

START_TEST(missed_between)
{
	struct perf_layout *layout = small_layout();
	uint32_t row = fixture_row(layout, 0x10, 1), other = fixture_row(layout, 0x10, 2);
	struct perf_fold *fold = perf_fold_new(PERF_ALL_COUNTERS);

	for (unsigned int i = 0; i < 4; i++) {
		struct perf_image *image = fixture_image(layout, i + 1, i, 0);

		image->total[PERF_RCV_ERRORS][row] = image->total[PERF_RCV_ERRORS][other] = i;
		image->missed[row] = i == 2 ? 1u << PERF_RCV_ERRORS : 0;
		image->at_least[row] = i >= 2 ? 1u << PERF_RCV_ERRORS : 0;
		image->missed[other] = i == 0 ? 1u << PERF_RCV_ERRORS : 0;
		image->at_least[other] = 1u << PERF_RCV_ERRORS;
		add(fold, image);
	}
	check_count(fold, 0x10, 1, PERF_RCV_ERRORS, 3, PERF_AT_LEAST);
	/* Before the window. */
	check_count(fold, 0x10, 2, PERF_RCV_ERRORS, 3, 0);
	check_count(fold, 0x10, 1, PERF_XMIT_DATA, 0, 0);
	perf_fold_free(fold);
	perf_layout_unref(layout);
}
END_TEST

/* Sweeps between two images that neither tells of: whatever was ever missed may have been then. */
START_TEST(gap)
{
	struct perf_layout *layout = small_layout();
	uint32_t row = fixture_row(layout, 0x10, 1);

	for (unsigned int covered = 0; covered < 2; covered++) {
		struct perf_image *one = fixture_image(layout, 1, 1, 0);
		struct perf_image *two = fixture_image(layout, 5, 5, 0);
		struct perf_fold *fold = perf_fold_new(PERF_ALL_COUNTERS);

		two->at_least[row] = 1u << PERF_RCV_ERRORS;
		two->after = covered ? 1 : 0;
		add(fold, one);
		add(fold, two);
		check_count(fold, 0x10, 1, PERF_RCV_ERRORS, 0, covered ? 0 : PERF_AT_LEAST);
		check_count(fold, 0x10, 1, PERF_LINK_DOWNED, 0, 0);
		perf_fold_free(fold);
	}
	perf_layout_unref(layout);
}
END_TEST

START_TEST(silent)
{
	struct perf_layout *layout = small_layout();
	uint32_t always = fixture_row(layout, 0x10, 1), last = fixture_row(layout, 0x20, 1);
	uint32_t never = fixture_row(layout, 0x30, 1), down = fixture_row(layout, 0x10, 3);
	struct perf_fold *fold = perf_fold_new(PERF_ALL_COUNTERS);
	struct perf_measure measure;

	for (unsigned int i = 1; i < 4; i++) {
		struct perf_image *image = fixture_image(layout, i, i, 0);

		image->flags[always] = PERF_EVER | PERF_SILENT;
		image->read_ns[always] = 500000000;
		image->flags[never] = PERF_SILENT;
		image->read_ns[never] = 0;
		image->have[never] = 0;
		if (i == 3) {
			image->flags[last] = PERF_EVER | PERF_SILENT;
			image->read_ns[last] = UINT64_C(2000000000) + FIXTURE_START_NS;
			image->flags[down] = PERF_EVER | PERF_DOWN;
			image->read_ns[down] = UINT64_C(2000000000) + FIXTURE_START_NS;
		}
		image->total[PERF_XMIT_PKTS][last] = i == 1 ? 0 : 100;
		add(fold, image);
	}
	check_count(fold, 0x10, 1, PERF_XMIT_PKTS, 0, PERF_UNKNOWN);
	check_count(fold, 0x30, 1, PERF_XMIT_PKTS, 0, PERF_UNKNOWN);
	check_count(fold, 0x20, 1, PERF_XMIT_PKTS, 100, PERF_OLD);
	check_count(fold, 0x10, 3, PERF_XMIT_PKTS, 0, 0);
	measure = measure_at(fold, 0x20, 1, (struct perf_value){PERF_RATE, PERF_XMIT_PKTS});
	ck_assert_double_eq_tol(measure.value, 100, TOLERANCE);
	perf_fold_free(fold);
	perf_layout_unref(layout);
}
END_TEST

/* Rows move as nodes come and go; totals of a node begin again. */
START_TEST(other_layout)
{
	const struct fixture_node later[] = {
		{0x08, IBA_NODE_SWITCH, 2}, {0x20, IBA_NODE_SWITCH, 4}, {0x30, IBA_NODE_CA, 1}};
	struct perf_layout *layout = small_layout();
	struct perf_layout *other = fixture_layout(later, G_N_ELEMENTS(later));
	struct perf_image *image = fixture_image(layout, 1, 1, 0);
	struct perf_fold *fold = perf_fold_new(PERF_ALL_COUNTERS);

	image->total[PERF_RCV_ERRORS][fixture_row(layout, 0x20, 2)] = 5;
	image->total[PERF_RCV_ERRORS][fixture_row(layout, 0x30, 1)] = 7;
	add(fold, image);
	other->nodes[2].since_us = 2; /* 0x30 left and came back */
	image = fixture_image(other, 2, 2, 0);
	image->total[PERF_RCV_ERRORS][fixture_row(other, 0x20, 2)] = 9;
	image->total[PERF_RCV_ERRORS][fixture_row(other, 0x30, 1)] = 8;
	add(fold, image);
	check_count(fold, 0x20, 2, PERF_RCV_ERRORS, 4, 0);
	check_count(fold, 0x30, 1, PERF_RCV_ERRORS, 8, PERF_AT_LEAST);
	check_count(fold, 0x08, 1, PERF_RCV_ERRORS, 0, PERF_UNKNOWN);
	check_count(fold, 0x20, 4, PERF_RCV_ERRORS, 0, PERF_UNKNOWN);
	image = fixture_image(other, 3, 3, 0);
	image->total[PERF_RCV_ERRORS][fixture_row(other, 0x08, 1)] = 3;
	image->total[PERF_RCV_ERRORS][fixture_row(other, 0x30, 1)] = 10;
	add(fold, image);
	check_count(fold, 0x08, 1, PERF_RCV_ERRORS, 3, PERF_SINCE_NEW);
	check_count(fold, 0x30, 1, PERF_RCV_ERRORS, 10, PERF_AT_LEAST);
	/* Totals of 0x20 went from 9 to 0 though nothing told so. */
	check_count(fold, 0x20, 2, PERF_RCV_ERRORS, 4, PERF_AT_LEAST);
	perf_fold_free(fold);
	perf_layout_unref(layout);
	perf_layout_unref(other);
}
END_TEST

START_TEST(baseline)
{
	struct perf_layout *layout = small_layout();
	uint32_t row = fixture_row(layout, 0x10, 1);
	struct perf_fold *fold = perf_fold_new(PERF_BIT(PERF_RCV_ERRORS));

	for (unsigned int i = 1; i < 5; i++) {
		struct perf_image *image = fixture_image(layout, i, i, 0);

		image->total[PERF_RCV_ERRORS][row] = i == 3 ? 2 : i == 4 ? 6 : i;
		if (i == 1)
			image->flags[row] = 0; /* not read yet */
		if (i == 3)
			image->flags[row] |= PERF_BASELINE;
		add(fold, image);
	}
	check_count(fold, 0x10, 1, PERF_RCV_ERRORS, 2 + 4, PERF_AT_LEAST | PERF_SINCE_NEW);
	/* Columns that were not asked for. */
	check_count(fold, 0x10, 1, PERF_XMIT_DATA, 0, PERF_UNKNOWN);
	perf_fold_free(fold);
	perf_layout_unref(layout);
}
END_TEST

/* Another process: its clock is another, so the time between is that of the wall clock. */
START_TEST(other_run)
{
	for (unsigned int back = 0; back < 2; back++) {
		struct perf_layout *layout = small_layout();
		uint32_t row = fixture_row(layout, 0x10, 1);
		struct perf_image *one = fixture_image(layout, 7, 1000, 0);
		struct perf_image *two = fixture_image(layout, 8, 5, 0);
		struct perf_image *three = fixture_image(layout, 9, 8, 0);
		struct perf_fold *fold = perf_fold_new(PERF_ALL_COUNTERS);
		struct perf_measure measure;

		one->run = 1;
		one->total[PERF_XMIT_PKTS][row] = 100;
		two->ended_us = one->ended_us + (back ? -60000000 : 60000000);
		two->total[PERF_XMIT_PKTS][row] = 700;
		three->total[PERF_XMIT_PKTS][row] = 763;
		add(fold, one);
		add(fold, two);
		add(fold, three);
		measure = measure_at(fold, 0x10, 1, (struct perf_value){PERF_RATE, PERF_XMIT_PKTS});
		if (back) {
			ck_assert_uint_eq(measure.flags, PERF_UNKNOWN);
			check_count(fold, 0x10, 1, PERF_XMIT_PKTS, 663, PERF_UNTIMED);
		} else {
			ck_assert_uint_eq(measure.flags, 0);
			ck_assert_uint_eq(measure.ns, UINT64_C(63000000000));
			ck_assert_double_eq_tol(measure.value, 663 / 63.0, 1e-6);
		}
		perf_fold_free(fold);
		perf_layout_unref(layout);
	}
}
END_TEST

/* Once more, or older: the ring behind images from the disk. */
START_TEST(same_image)
{
	struct perf_layout *layout = small_layout();
	struct perf_image *one = fixture_image(layout, 1, 1, 0),
			  *two = fixture_image(layout, 2, 2, 0);
	struct perf_fold *fold = perf_fold_new(PERF_ALL_COUNTERS);

	perf_fold_add(fold, one);
	perf_fold_add(fold, two);
	perf_fold_add(fold, one);
	perf_fold_add(fold, two);
	ck_assert_uint_eq(fold->n_images, 2);
	ck_assert_uint_eq(count_at(fold, 0x10, 1, PERF_XMIT_DATA).ns, UINT64_C(1000000000));
	perf_fold_free(fold);
	perf_image_unref(one);
	perf_image_unref(two);
	perf_layout_unref(layout);
}
END_TEST

START_TEST(ring)
{
	struct perf_layout *layout = small_layout();
	struct perf_image *images[5];
	struct perf_images *all;

	for (unsigned int i = 0; i < G_N_ELEMENTS(images); i++) {
		images[i] = fixture_image(layout, i + 1, 10 * i, 0);
		for (uint32_t row = 0; row < layout->n_rows; row++)
			images[i]->total[PERF_XMIT_PKTS][row] = i * i;
	}
	all = fixture_ring(images, G_N_ELEMENTS(images));
	for (unsigned int seconds = 0; seconds < 60; seconds += 5) {
		struct perf_fold *fold = perf_fold_new(PERF_ALL_COUNTERS);
		bool far = perf_fold_add_ring(fold, all, seconds * UINT64_C(1000000000));
		unsigned int steps = MIN((seconds + 9) / 10, 4);

		ck_assert(far == (seconds <= 40));
		ck_assert_uint_eq(fold->n_images, steps + 1);
		check_count(fold, 0x10, 1, PERF_XMIT_PKTS, 16 - (4 - steps) * (4 - steps),
			    steps ? 0 : PERF_UNKNOWN);
		perf_fold_free(fold);
	}
	perf_images_unref(all);
	perf_layout_unref(layout);
}
END_TEST

START_TEST(no_images)
{
	struct perf_fold *fold = perf_fold_new(PERF_ALL_COLUMNS);
	struct perf_series series;
	struct perf_top top[3];
	struct perf_sum sum;

	ck_assert(!perf_fold_add_ring(fold, NULL, 0));
	ck_assert_uint_eq(perf_fold_top(fold, (struct perf_value){PERF_COUNT, PERF_XMIT_DATA},
					PERF_EVERY_PORT, NULL, top, 3),
			  0);
	perf_fold_sum(fold, NULL, &sum);
	ck_assert_uint_eq(sum.ports, 0);
	perf_series_init(&series, (struct perf_value){PERF_COUNT, PERF_XMIT_DATA});
	perf_series_add_ring(&series, NULL, 1, 1);
	ck_assert_uint_eq(series.points->len, 0);
	perf_series_clear(&series);
	perf_fold_free(fold);
}
END_TEST

/* ---- figures ---- */

/* Gb/s of 4x links by speed, from the IBA and its annexes. */
START_TEST(rates)
{
	static const struct {
		uint8_t code, lanes;
		double payload, wire;
	} links[] = {
		{IBA_RATE_2_5, 1, 2, 2.5},
		{IBA_RATE_10, 4, 8, 10},
		{IBA_RATE_30, 12, 24, 30},
		{IBA_RATE_20, 4, 16, 20},
		{IBA_RATE_40, 4, 32, 40},
		{IBA_RATE_120, 12, 96, 120},
		{IBA_RATE_14, 1, 13.6364, 14.0625},
		{IBA_RATE_56, 4, 54.5455, 56.25},
		{IBA_RATE_168, 12, 163.6364, 168.75},
		{IBA_RATE_25, 1, 25, 25.78125},
		{IBA_RATE_100, 4, 100, 103.125},
		{IBA_RATE_100, 2, 100, 106.25},
		{IBA_RATE_200, 4, 200, 212.5},
		{IBA_RATE_400, 4, 400, 425},
		{IBA_RATE_800, 4, 800, 850},
		{0, 4, 0, 0},
		{63, 4, 0, 0},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(links); i++) {
		ck_assert_double_eq_tol(perf_payload_rate(links[i].code) / 1e9, links[i].payload,
					1e-3);
		ck_assert_double_eq_tol(perf_wire_rate(links[i].code, links[i].lanes) / 1e9,
					links[i].wire, 1e-2);
	}
	ck_assert_double_eq(perf_wire_rate(IBA_RATE_100, 0), 0);
}
END_TEST

START_TEST(shares)
{
	struct perf_layout *layout = small_layout();
	uint32_t row = fixture_row(layout, 0x10, 1), above = fixture_row(layout, 0x10, 2);
	uint32_t down = fixture_row(layout, 0x10, 3);
	struct perf_image *image = fixture_image(layout, 1, 1, 0);
	struct perf_fold *fold = perf_fold_new(PERF_ALL_COUNTERS);
	struct perf_value used = {PERF_UTILIZATION, PERF_RCV_DATA};
	struct perf_value waiting = {PERF_WAITING, PERF_XMIT_WAIT};

	layout->places[down].rate = 0;
	add(fold, image);
	image = fixture_image(layout, 2, 3, 0);
	image->total[PERF_RCV_DATA][row] = UINT64_C(50000000000) * 2 / 32;
	image->total[PERF_RCV_DATA][above] = UINT64_C(101000000000) * 2 / 32;
	image->total[PERF_XMIT_WAIT][row] = 500000000 / 32; /* half a second of two */
	image->total[PERF_XMIT_WAIT][above] = 2100000000 / 32;
	add(fold, image);
	ck_assert_double_eq_tol(measure_at(fold, 0x10, 1, used).value, 0.5, TOLERANCE);
	ck_assert_double_eq(measure_at(fold, 0x10, 2, used).value, 1);
	ck_assert_uint_eq(measure_at(fold, 0x10, 2, used).flags, PERF_ABOVE);
	ck_assert_uint_eq(measure_at(fold, 0x10, 3, used).flags, PERF_UNKNOWN);
	ck_assert_double_eq_tol(measure_at(fold, 0x10, 1, waiting).value, 0.25, TOLERANCE);
	ck_assert_double_eq(measure_at(fold, 0x10, 2, waiting).value, 1);
	ck_assert_uint_eq(measure_at(fold, 0x10, 2, waiting).flags, PERF_ABOVE);
	ck_assert_double_eq(measure_at(fold, 0x10, 3, waiting).value, 0);
	ck_assert_uint_eq(measure_at(fold, 0x10, 3, waiting).flags, 0);
	perf_fold_free(fold);
	perf_layout_unref(layout);
}
END_TEST

START_TEST(details)
{
	struct perf_layout *layout = small_layout();
	uint32_t row = fixture_row(layout, 0x20, 3);
	struct perf_fold *fold = perf_fold_new(PERF_ALL_COLUMNS);
	unsigned int symbols = PERF_COLUMN_OF(PERF_DETAIL_FEC_CORRECTED_SYMBOLS);
	struct perf_measure ber;

	for (unsigned int i = 1; i < 4; i++) {
		struct perf_image *image = fixture_image(layout, i, i, i > 1);

		if (i > 1)
			image->details[0] = (struct perf_detail_row){
				.row = row,
				.have = 1u << PERF_DETAIL_FEC_CORRECTED_SYMBOLS,
				.read_ns = (i == 2 ? 2 : 4) * UINT64_C(1000000000),
				.total = {[PERF_DETAIL_FEC_CORRECTED_SYMBOLS] = i * 1000},
			};
		add(fold, image);
	}
	check_count(fold, 0x20, 3, symbols, 1000, PERF_SINCE_NEW);
	check_count(fold, 0x20, 2, symbols, 0, PERF_UNKNOWN);
	check_count(fold, 0x20, 3, PERF_COLUMN_OF(PERF_DETAIL_LOOPING), 0, PERF_UNKNOWN);
	ber = measure_at(fold, 0x20, 3, (struct perf_value){PERF_RAW_BER, symbols});
	ck_assert_double_eq_tol(ber.value, 1000 / (103.125e9 * 2), 1e-15);
	perf_fold_free(fold);
	perf_layout_unref(layout);
}
END_TEST

/* Every name is found again. */
START_TEST(names)
{
	struct perf_value value;

	for (unsigned int figure = 0; figure < 2; figure++)
		for (unsigned int i = 0; i < PERF_COLUMNS; i++) {
			struct perf_value named = {figure ? PERF_RATE : PERF_COUNT, i};
			g_autofree char *name = perf_value_name(named);

			ck_assert(perf_value_find(name, &value));
			ck_assert_uint_eq(value.figure, named.figure);
			ck_assert_uint_eq(value.column, i);
		}
	ck_assert(perf_value_find("Raw_BER", &value));
	ck_assert_uint_eq(value.figure, PERF_RAW_BER);
	ck_assert(perf_value_find("xmit_wait/s", &value));
	ck_assert_uint_eq(value.figure, PERF_RATE);
	ck_assert_uint_eq(value.column, PERF_XMIT_WAIT);
	ck_assert(!perf_value_find("", &value));
	ck_assert(!perf_value_find("/s", &value));
	ck_assert(!perf_value_find("waiting/s", &value));
	ck_assert(!perf_value_find("PortXmitWait/", &value));
}
END_TEST

/* ---- rows together ---- */

static int by_count(const void *a, const void *b)
{
	const struct perf_top *x = a, *y = b;

	if (x->measure.count != y->measure.count)
		return x->measure.count > y->measure.count ? -1 : 1;
	return x->row < y->row ? -1 : 1;
}

/* Counts beyond what a double tells apart, many of them equal. */
START_TEST(top)
{
	const struct perf_value value = {PERF_COUNT, PERF_XMIT_DATA};
	struct perf_layout *layout = fixture_large_layout(40);
	uint32_t n = layout->n_rows, n_above_0 = 0;
	g_autofree struct perf_top *all = g_new0(struct perf_top, n);
	g_autofree struct perf_top *found = g_new0(struct perf_top, n + 1);
	struct perf_fold *fold = perf_fold_new(PERF_BIT(PERF_XMIT_DATA));
	struct perf_image *image = fixture_image(layout, 2, 2, 0);
	uint64_t state = 5;

	for (uint32_t row = 0; row < n; row++) {
		uint32_t draw = random_below(&state, 300);

		image->total[PERF_XMIT_DATA][row] = draw ? (UINT64_C(1) << 60) + draw : 0;
		all[row].row = row;
		all[row].measure.count = image->total[PERF_XMIT_DATA][row];
		n_above_0 += draw != 0;
	}
	qsort(all, n, sizeof(*all), by_count);
	add(fold, fixture_image(layout, 1, 1, 0));
	add(fold, image);
	for (unsigned int wanted = 0; wanted <= n + 1; wanted += wanted < 20 ? 1 : n / 3) {
		unsigned int got = perf_fold_top(fold, value, PERF_EVERY_PORT, NULL, found, wanted);

		ck_assert_uint_eq(got, MIN(wanted, n_above_0));
		for (unsigned int i = 0; i < got; i++)
			ck_assert_uint_eq(found[i].row, all[i].row);
	}
	perf_fold_free(fold);
	perf_layout_unref(layout);
}
END_TEST

/* All ports of two nodes. */
static bool *rows_of(const struct perf_layout *layout, uint64_t a, uint64_t b)
{
	bool *rows = g_new(bool, layout->n_rows);

	for (uint32_t row = 0; row < layout->n_rows; row++) {
		uint64_t guid = perf_layout_node_of(layout, row)->guid;

		rows[row] = guid == a || guid == b;
	}
	return rows;
}

START_TEST(scopes)
{
	const struct perf_value value = {PERF_COUNT, PERF_XMIT_DATA};
	struct perf_layout *layout = small_layout();
	struct perf_fold *fold = perf_fold_new(PERF_ALL_COUNTERS);
	struct perf_image *image = fixture_image(layout, 2, 2, 0);
	g_autofree bool *only = rows_of(layout, 0x10, 0);
	struct perf_top found[8];

	for (uint32_t row = 0; row < layout->n_rows; row++)
		image->total[PERF_XMIT_DATA][row] = 100 + row;
	add(fold, fixture_image(layout, 1, 1, 0));
	add(fold, image);
	ck_assert_uint_eq(perf_fold_top(fold, value, PERF_EVERY_PORT, NULL, found, 8), 7);
	ck_assert_uint_eq(perf_fold_top(fold, value, PERF_SWITCH_LINKS, NULL, found, 8), 2);
	ck_assert_uint_eq(found[0].row, fixture_row(layout, 0x20, 1));
	ck_assert_uint_eq(found[1].row, fixture_row(layout, 0x10, 1));
	ck_assert_uint_eq(perf_fold_top(fold, value, PERF_HOST_LINKS, NULL, found, 8), 2);
	ck_assert_uint_eq(found[0].row, fixture_row(layout, 0x30, 1));
	ck_assert_uint_eq(found[1].row, fixture_row(layout, 0x10, 2));
	ck_assert_uint_eq(perf_fold_top(fold, value, PERF_EVERY_PORT, only, found, 8), 3);
	ck_assert_uint_eq(perf_fold_top(fold, value, PERF_HOST_LINKS, only, found, 8), 1);
	perf_fold_free(fold);
	perf_layout_unref(layout);
}
END_TEST

/* Group: the first switch and the host. Its port 1 is its border. */
START_TEST(sums)
{
	struct perf_layout *layout = small_layout();
	struct perf_fold *fold = perf_fold_new(PERF_ALL_COLUMNS);
	struct perf_image *image = fixture_image(layout, 2, 2, 0);
	g_autofree bool *only = rows_of(layout, 0x10, 0x30);
	const struct perf_side *out, *in, *inside;
	struct perf_sum sum;

	for (uint32_t row = 0; row < layout->n_rows; row++)
		image->total[PERF_RCV_ERRORS][row] = 1;
	image->missed[fixture_row(layout, 0x10, 3)] = 1u << PERF_VL15_DROPPED;
	image->flags[fixture_row(layout, 0x30, 1)] = PERF_EVER | PERF_SILENT;
	image->total[PERF_XMIT_DATA][fixture_row(layout, 0x10, 1)] = UINT64_C(25000000000) / 32;
	image->total[PERF_RCV_DATA][fixture_row(layout, 0x10, 1)] = UINT64_C(95000000000) / 32;
	image->total[PERF_XMIT_DATA][fixture_row(layout, 0x10, 2)] = UINT64_C(10000000000) / 32;
	image->total[PERF_XMIT_PKTS][fixture_row(layout, 0x10, 2)] = 77;
	add(fold, fixture_image(layout, 1, 1, 0));
	add(fold, image);
	perf_fold_sum(fold, only, &sum);
	ck_assert_uint_eq(sum.ports, 4);
	ck_assert_uint_eq(sum.counted, 4);
	ck_assert_uint_eq(sum.old, 1);
	ck_assert_uint_eq(sum.count[PERF_RCV_ERRORS], 4);
	ck_assert_uint_eq(sum.at_least, PERF_BIT(PERF_VL15_DROPPED));
	out = &sum.side[PERF_EXTERNAL][PERF_SEND];
	in = &sum.side[PERF_EXTERNAL][PERF_RECEIVE];
	inside = &sum.side[PERF_INTERNAL][PERF_SEND];
	/* Port 3 has no cable: nothing in the group is at its other end. */
	ck_assert_uint_eq(out->ports, 2);
	ck_assert_double_eq_tol(out->octets_s, 25e9 / 8, 8);
	ck_assert_double_eq_tol(out->most, 0.25, 1e-6);
	ck_assert_double_eq_tol(out->mean, 0.125, 1e-6);
	ck_assert_double_eq(out->least, 0);
	ck_assert_uint_eq(in->tenths[9], 1);
	ck_assert_uint_eq(in->tenths[0], 1);
	ck_assert_uint_eq(inside->ports, 2);
	ck_assert_double_eq_tol(inside->octets_s, 10e9 / 8, 8);
	ck_assert_double_eq_tol(inside->packets_s, 77, 1e-6);
	perf_fold_sum(fold, NULL, &sum);
	ck_assert_uint_eq(sum.ports, 7);
	ck_assert_uint_eq(sum.side[PERF_EXTERNAL][PERF_SEND].ports, 0);
	perf_fold_free(fold);
	perf_layout_unref(layout);
}
END_TEST

START_TEST(cable)
{
	struct perf_layout *layout = small_layout();
	uint32_t a = fixture_row(layout, 0x10, 1), b = fixture_row(layout, 0x20, 1);
	struct perf_fold *fold = perf_fold_new(PERF_ALL_COUNTERS);
	struct perf_image *image = fixture_image(layout, 2, 3, 0);
	struct perf_cable found;

	image->total[PERF_XMIT_PKTS][a] = 1000;
	image->total[PERF_RCV_PKTS][b] = 980;
	image->total[PERF_XMIT_DATA][b] = image->total[PERF_RCV_DATA][a] = 5000;
	image->total[PERF_SYMBOL_ERRORS][b] = 20;
	add(fold, fixture_image(layout, 1, 1, 0));
	add(fold, image);
	perf_fold_cable(fold, a, b, &found);
	ck_assert_uint_eq(found.row[1], b);
	ck_assert_double_eq_tol(found.packets_s_lost[0], 10, TOLERANCE);
	ck_assert_double_eq_tol(found.packets_s_lost[1], 0, TOLERANCE);
	ck_assert_double_eq_tol(found.octets_s_lost[1], 0, TOLERANCE);
	ck_assert_uint_eq(found.count[1][PERF_SYMBOL_ERRORS].count, 20);
	perf_fold_cable(fold, a, PERF_NONE, &found); /* the other node has left */
	ck_assert_uint_eq(found.count[0][PERF_XMIT_PKTS].count, 1000);
	ck_assert_uint_eq(found.count[1][PERF_XMIT_PKTS].flags, PERF_UNKNOWN);
	ck_assert(isnan(found.packets_s_lost[0]));
	perf_fold_free(fold);
	fold = perf_fold_new(PERF_BIT(PERF_XMIT_DATA));
	add(fold, fixture_image(layout, 1, 1, 0));
	add(fold, fixture_image(layout, 2, 2, 0));
	perf_fold_cable(fold, b, a, &found);
	ck_assert(isnan(found.octets_s_lost[0]));
	perf_fold_free(fold);
	perf_layout_unref(layout);
}
END_TEST

START_TEST(series)
{
	const struct fixture_node fewer[] = {{0x20, IBA_NODE_SWITCH, 3}};
	struct perf_layout *layout = small_layout(), *other = fixture_layout(fewer, 1);
	struct perf_image *images[6];
	struct perf_images *all;
	struct perf_series found;

	for (unsigned int i = 0; i < G_N_ELEMENTS(images); i++) {
		struct perf_layout *of = i == 2 ? other : layout;

		images[i] = fixture_image(of, i + 1, 10 * i, 0);
		images[i]->total[PERF_XMIT_PKTS][fixture_row(of, 0x20, 3)] = 10 * i * i;
	}
	all = fixture_ring(images, G_N_ELEMENTS(images));
	perf_series_init(&found, (struct perf_value){PERF_RATE, PERF_XMIT_PKTS});
	perf_series_add_ring(&found, all, 0x20, 3);
	perf_series_add_ring(&found, all, 0x20, 3); /* nothing new */
	ck_assert_uint_eq(found.points->len, 5);
	for (unsigned int i = 0; i < 5; i++) {
		const struct perf_point *point = &g_array_index(found.points, struct perf_point, i);

		ck_assert_int_eq(point->us, images[i + 1]->ended_us);
		ck_assert_double_eq_tol(point->measure.value, 2 * i + 1, TOLERANCE);
		ck_assert_uint_eq(point->measure.flags, 0);
	}
	perf_series_clear(&found);
	/* A node that was away for one image: one point less. */
	perf_series_init(&found, (struct perf_value){PERF_RATE, PERF_XMIT_PKTS});
	perf_series_add_ring(&found, all, 0x10, 1);
	ck_assert_uint_eq(found.points->len, 4);
	perf_series_clear(&found);
	perf_images_unref(all);
	perf_layout_unref(layout);
	perf_layout_unref(other);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("perf_query");
	TCase *windows = tcase_create("windows"), *figures = tcase_create("figures");
	TCase *rows = tcase_create("rows");

	tcase_add_test(windows, own_time);
	tcase_add_test(windows, missed_between);
	tcase_add_test(windows, gap);
	tcase_add_test(windows, silent);
	tcase_add_test(windows, other_layout);
	tcase_add_test(windows, baseline);
	tcase_add_test(windows, other_run);
	tcase_add_test(windows, same_image);
	tcase_add_test(windows, ring);
	tcase_add_test(windows, no_images);
	suite_add_tcase(suite, windows);
	tcase_add_test(figures, rates);
	tcase_add_test(figures, shares);
	tcase_add_test(figures, details);
	tcase_add_test(figures, names);
	suite_add_tcase(suite, figures);
	tcase_add_test(rows, top);
	tcase_add_test(rows, scopes);
	tcase_add_test(rows, sums);
	tcase_add_test(rows, cable);
	tcase_add_test(rows, series);
	suite_add_tcase(suite, rows);
	return suite;
}
