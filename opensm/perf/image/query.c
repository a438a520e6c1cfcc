// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Windows: folding images and measuring rows. See query.h. */
#include "perf/image/query.h"

#include <math.h>
#include <string.h>

#include "iba/codes.h"
#include "iba/constants.h"

#define COUNTERS 0 /* index of times */
#define DETAILS 1

/* State of a row in a window. */
enum {
	STATE_OLD = 1 << 0,	/* should have been read for the last image, and was not */
	STATE_UNTIMED = 1 << 1, /* some time between readings is not known */
	STATE_AGAIN = 1 << 2,	/* totals began again at 0 since the image before */
};

/* ---- rates of links ---- */

#define CORRECTED PERF_COLUMN_OF(PERF_DETAIL_FEC_CORRECTED_SYMBOLS)

/* The first name of a value is the one that is printed. Of a port, Utilisation is what it sends. */
static const struct value_name {
	const char *name;
	struct perf_value value;
} value_names[] = {
	{"XmitUtilisation", {PERF_UTILIZATION, PERF_XMIT_DATA}},
	{"xmit_utilization", {PERF_UTILIZATION, PERF_XMIT_DATA}},
	{"Utilisation", {PERF_UTILIZATION, PERF_XMIT_DATA}},
	{"utilization", {PERF_UTILIZATION, PERF_XMIT_DATA}},
	{"RcvUtilisation", {PERF_UTILIZATION, PERF_RCV_DATA}},
	{"rcv_utilization", {PERF_UTILIZATION, PERF_RCV_DATA}},
	{"XmitWaitShare", {PERF_WAITING, PERF_XMIT_WAIT}},
	{"waiting", {PERF_WAITING, PERF_XMIT_WAIT}},
	{"wait", {PERF_WAITING, PERF_XMIT_WAIT}},
	{"RawBER", {PERF_RAW_BER, CORRECTED}},
	{"raw_ber", {PERF_RAW_BER, CORRECTED}},
	{"ber", {PERF_RAW_BER, CORRECTED}},
};

double perf_payload_rate(uint8_t code)
{
	double nominal = iba_rate_tenths(code) * 1e8;

	switch (code) {
	case IBA_RATE_2_5:
	case IBA_RATE_5:
	case IBA_RATE_10:
	case IBA_RATE_20:
	case IBA_RATE_30:
	case IBA_RATE_40:
	case IBA_RATE_60:
	case IBA_RATE_80:
	case IBA_RATE_120:
		return nominal * 8 / 10;
	case IBA_RATE_14:
	case IBA_RATE_28:
	case IBA_RATE_56:
	case IBA_RATE_112:
	case IBA_RATE_168:
		return nominal / 14 * 14.0625 * 64 / 66;
	default:
		return nominal;
	}
}

double perf_wire_rate(uint8_t code, uint8_t lanes)
{
	unsigned int tenths = iba_rate_tenths(code);
	double payload = perf_payload_rate(code), nominal = tenths * 1e8;

	if (!lanes)
		return 0;
	if (payload < nominal && tenths % 14)
		return nominal; /* 8b/10b */
	if (payload < nominal)
		return payload * 66 / 64; /* FDR */
	/* EDR has 64b/66b; faster lanes, 256b/257b in RS(544, 514). */
	return tenths / lanes < 500 ? nominal * 66 / 64 : nominal * 257 / 256 * 544 / 514;
}

/* ---- what can be asked for ---- */

static int find_column(const char *name)
{
	int found = perf_counter_find(name);

	if (found < 0) {
		found = perf_detail_find(name);
		if (found >= 0)
			found += PERF_COUNTERS;
	}
	return found;
}

bool perf_value_find(const char *name, struct perf_value *value)
{
	bool rate = g_str_has_suffix(name, "/s");
	g_autofree char *plain = g_strndup(name, strlen(name) - (rate ? 2 : 0));
	int column = find_column(plain);

	for (size_t i = 0; i < G_N_ELEMENTS(value_names); i++)
		if (!g_ascii_strcasecmp(name, value_names[i].name)) {
			*value = value_names[i].value;
			return true;
		}
	if (column < 0)
		return false;
	*value = (struct perf_value){rate ? PERF_RATE : PERF_COUNT, (unsigned int)column};
	return true;
}

char *perf_value_name(struct perf_value value)
{
	for (size_t i = 0; i < G_N_ELEMENTS(value_names); i++)
		if (value.figure == value_names[i].value.figure &&
		    value.column == value_names[i].value.column)
			return g_strdup(value_names[i].name);
	return g_strconcat(value.column < PERF_COUNTERS
				   ? perf_counter_info[value.column].iba
				   : perf_detail_info[value.column - PERF_COUNTERS].iba,
			   value.figure == PERF_RATE ? "/s" : "", NULL);
}

/* ---- windows ---- */

struct perf_fold *perf_fold_new(uint64_t columns)
{
	struct perf_fold *fold = g_new0(struct perf_fold, 1);

	fold->columns = columns & PERF_ALL_COLUMNS;
	return fold;
}

/* All arrays by row, for moving them to another layout: pointers to them, and octets of a row. */
static unsigned int arrays_of(struct perf_fold *fold, void ***arrays, size_t *sizes)
{
	unsigned int n = 0;

#define ARRAY(member) arrays[n] = (void **)&fold->member, sizes[n++] = sizeof(*fold->member)
	for (unsigned int i = 0; i < PERF_COLUMNS; i++) {
		if (!(fold->columns & PERF_BIT(i)))
			continue;
		ARRAY(count[i]);
		ARRAY(total[i]);
	}
	for (unsigned int i = 0; i < 2; i++) {
		ARRAY(read_ns[i]);
		ARRAY(ns[i]);
	}
	ARRAY(known);
	ARRAY(at_least);
	ARRAY(since_new);
	ARRAY(state);
#undef ARRAY
	return n;
}

#define ARRAYS_MAX (2 * PERF_COLUMNS + 8)

void perf_fold_free(struct perf_fold *fold)
{
	void **arrays[ARRAYS_MAX];
	size_t sizes[ARRAYS_MAX];
	unsigned int n = arrays_of(fold, arrays, sizes);

	for (unsigned int i = 0; i < n; i++)
		g_free(*arrays[i]);
	perf_layout_unref(fold->layout);
	g_free(fold);
}

static void *move_array(void *old, size_t size, const uint32_t *map, uint32_t n)
{
	char *new = g_malloc0(MAX(n, 1) * size);

	for (uint32_t row = 0; old && row < n; row++)
		if (map[row] != PERF_NONE)
			memcpy(new + row *size, (char *)old + map[row] * size, size);
	g_free(old);
	return new;
}

static bool same_rows(const struct perf_layout *a, const struct perf_layout *b)
{
	if (a->n_nodes != b->n_nodes || a->n_rows != b->n_rows)
		return false;
	for (uint32_t i = 0; i < a->n_nodes; i++)
		if (a->nodes[i].guid != b->nodes[i].guid ||
		    a->nodes[i].first_port != b->nodes[i].first_port ||
		    a->nodes[i].num_ports != b->nodes[i].num_ports)
			return false;
	return true;
}

static void move_rows(struct perf_fold *fold, const struct perf_layout *layout)
{
	g_autofree uint32_t *map = fold->layout ? perf_layout_map(fold->layout, layout) : NULL;
	void **arrays[ARRAYS_MAX];
	size_t sizes[ARRAYS_MAX];
	unsigned int n = arrays_of(fold, arrays, sizes);

	for (unsigned int i = 0; i < n; i++)
		*arrays[i] = move_array(*arrays[i], sizes[i], map, layout->n_rows);
}

/* Totals of a node that was zeroed, or left and came back. */
static void mark_again(struct perf_fold *fold, const struct perf_layout *layout)
{
	for (uint32_t i = 0; i < layout->n_nodes; i++) {
		const struct perf_node *node = &layout->nodes[i];
		uint32_t before = perf_layout_node(fold->layout, node->guid);

		if (before == PERF_NONE || fold->layout->nodes[before].since_us == node->since_us)
			continue;
		for (unsigned int port = node->first_port; port <= node->num_ports; port++)
			fold->state[node->first_row + port - node->first_port] |= STATE_AGAIN;
	}
}

/* Ports that are not in the new layout are left out from now on. */
static void change_layout(struct perf_fold *fold, struct perf_layout *layout)
{
	if (!fold->layout || !same_rows(fold->layout, layout))
		move_rows(fold, layout);
	if (fold->layout)
		mark_again(fold, layout);
	perf_layout_unref(fold->layout);
	fold->layout = perf_layout_ref(layout);
}

/*
 * The next image is of another process: last readings are converted to its clock, by the time of
 * day at the end of both images.
 */
static void change_run(struct perf_fold *fold, const struct perf_image *image)
{
	bool untimed = image->ended_us <= fold->until_us;
	uint64_t passed = ((uint64_t)image->ended_us - (uint64_t)fold->until_us) * 1000;
	uint64_t shift = image->ended_ns - passed - fold->ended_ns;

	for (uint32_t row = 0; row < fold->layout->n_rows; row++) {
		for (unsigned int i = 0; i < 2; i++)
			fold->read_ns[i][row] = (int64_t)((uint64_t)fold->read_ns[i][row] + shift);
		if (untimed && fold->known[row])
			fold->state[row] |= STATE_UNTIMED;
	}
}

/* Counters, or details, of a row at one reading. */
struct reading {
	uint64_t have, missed; /* columns */
	int64_t read_ns;
	bool baseline;
	unsigned int time; /* COUNTERS or DETAILS */
};

static void add_time(struct perf_fold *fold, uint32_t row, const struct reading *reading)
{
	int64_t *last = &fold->read_ns[reading->time][row];
	int64_t passed = (int64_t)((uint64_t)reading->read_ns - (uint64_t)*last);

	if (passed < 0)
		fold->state[row] |= STATE_UNTIMED;
	else
		fold->ns[reading->time][row] += (uint64_t)passed;
	*last = reading->read_ns;
}

static void add_total(struct perf_fold *fold, uint32_t row, unsigned int column, uint64_t total,
		      const struct reading *reading)
{
	uint64_t bit = PERF_BIT(column), *last = &fold->total[column][row];
	bool again = reading->baseline || total < *last;

	if (fold->known[row] & bit) {
		fold->count[column][row] += again ? total : total - *last;
		if (again || reading->missed & bit)
			fold->at_least[row] |= bit;
	} else if (fold->n_images) {
		fold->since_new[row] |= bit;
	}
	*last = total;
}

/* Whether images before this one are not told of, neither by it nor in the window. */
static bool has_gap(const struct perf_fold *fold, const struct perf_image *image)
{
	return fold->n_images && (image->after ? image->after : image->id - 1) > fold->id;
}

static void add_counters(struct perf_fold *fold, const struct perf_image *image, uint32_t row,
			 bool gap)
{
	const struct reading reading = {
		.have = image->have[row] & fold->columns & PERF_ALL_COUNTERS,
		.missed = image->missed[row] | (gap ? image->at_least[row] : 0),
		.read_ns = (int64_t)image->read_ns[row],
		.baseline = image->flags[row] & PERF_BASELINE || fold->state[row] & STATE_AGAIN,
		.time = COUNTERS,
	};

	if (!(image->flags[row] & PERF_EVER) || !image->read_ns[row])
		return;
	if (fold->known[row] & PERF_ALL_COUNTERS)
		add_time(fold, row, &reading);
	else
		fold->read_ns[COUNTERS][row] = reading.read_ns;
	for (uint64_t left = reading.have; left; left &= left - 1) {
		unsigned int column = (unsigned int)__builtin_ctzll(left);

		add_total(fold, row, column, image->total[column][row], &reading);
	}
	fold->known[row] |= reading.have;
}

static void add_details(struct perf_fold *fold, const struct perf_detail_row *detail)
{
	const uint32_t row = detail->row;
	const struct reading reading = {
		.have = ((uint64_t)detail->have << PERF_COUNTERS) & fold->columns,
		.missed = (uint64_t)detail->at_least << PERF_COUNTERS,
		.read_ns = (int64_t)detail->read_ns,
		.baseline = fold->state[row] & STATE_AGAIN,
		.time = DETAILS,
	};

	if (fold->known[row] & ~PERF_ALL_COUNTERS)
		add_time(fold, row, &reading);
	else
		fold->read_ns[DETAILS][row] = reading.read_ns;
	for (uint64_t left = reading.have; left; left &= left - 1) {
		unsigned int column = (unsigned int)__builtin_ctzll(left);

		add_total(fold, row, column, detail->total[column - PERF_COUNTERS], &reading);
	}
	fold->known[row] |= reading.have;
}

void perf_fold_add(struct perf_fold *fold, const struct perf_image *image)
{
	bool gap = has_gap(fold, image);

	if (fold->n_images && image->id <= fold->id && fold->run == image->run)
		return;
	if (fold->layout != image->layout)
		change_layout(fold, image->layout);
	if (fold->n_images && fold->run != image->run)
		change_run(fold, image);
	for (uint32_t row = 0; row < fold->layout->n_rows; row++) {
		if (image->flags[row] & (PERF_READ | PERF_DOWN))
			fold->state[row] &= (uint8_t)~STATE_OLD;
		else
			fold->state[row] |= STATE_OLD;
		add_counters(fold, image, row, gap);
	}
	if (fold->columns & ~PERF_ALL_COUNTERS)
		for (uint32_t i = 0; i < image->n_details; i++)
			add_details(fold, &image->details[i]);
	for (uint32_t row = 0; row < fold->layout->n_rows; row++)
		fold->state[row] &= (uint8_t)~STATE_AGAIN;
	if (!fold->n_images++)
		fold->since_us = image->ended_us;
	fold->id = image->id;
	fold->run = image->run;
	fold->ended_ns = image->ended_ns;
	fold->until_us = image->ended_us;
}

bool perf_fold_add_ring(struct perf_fold *fold, const struct perf_images *images, uint64_t ns)
{
	const struct perf_image *last = perf_images_last(images);
	unsigned int first = last ? images->n - 1 : 0;
	bool far = last;

	while (first && last->ended_ns - images->images[first]->ended_ns < ns)
		first--;
	if (last)
		far = last->ended_ns - images->images[first]->ended_ns >= ns;
	for (unsigned int i = first; last && i < images->n; i++)
		perf_fold_add(fold, images->images[i]);
	return far;
}

/* ---- measuring ---- */

static double share(double value, struct perf_measure *measure)
{
	if (value > 1)
		measure->flags |= PERF_ABOVE;
	return MIN(value, 1);
}

static void set_unknown(struct perf_measure *measure)
{
	*measure = (struct perf_measure){.flags = PERF_UNKNOWN};
}

/* Figures by time; ns is not 0. */
static void set_figure(const struct perf_place *place, struct perf_value value,
		       struct perf_measure *measure)
{
	double count = (double)measure->count, seconds = (double)measure->ns / 1e9, full = 0;
	bool data =
		value.column < PERF_COUNTERS && perf_counter_info[value.column].kind == PERF_DATA;

	switch (value.figure) {
	case PERF_COUNT:
		break;
	case PERF_RATE:
		measure->value = count * (data ? 4 : 1) / seconds;
		break;
	case PERF_UTILIZATION:
		full = perf_payload_rate(place->rate) * seconds;
		if (full > 0)
			measure->value = share(count * 32 / full, measure);
		break;
	case PERF_WAITING:
		full = 1;
		measure->value = share(count * (place->tick + 1) * 4 / 1e9 / seconds, measure);
		break;
	case PERF_RAW_BER:
		full = perf_wire_rate(place->rate, place->lanes) * seconds;
		if (full > 0)
			measure->value = count / full;
		break;
	}
	if (value.figure >= PERF_UTILIZATION && !(full > 0))
		set_unknown(measure);
}

void perf_fold_measure(const struct perf_fold *fold, uint32_t row, struct perf_value value,
		       struct perf_measure *measure)
{
	unsigned int time = value.column < PERF_COUNTERS ? COUNTERS : DETAILS;
	uint64_t bit = PERF_BIT(value.column), ns;
	uint8_t state;

	set_unknown(measure);
	if (!(fold->columns & bit) || !fold->layout || !(fold->known[row] & bit))
		return;
	ns = fold->ns[time][row];
	state = fold->state[row];
	if (!ns && !(state & STATE_UNTIMED))
		return; /* one reading */
	if (value.figure != PERF_COUNT && (state & STATE_UNTIMED))
		return;
	*measure = (struct perf_measure){
		.count = fold->count[value.column][row],
		.ns = state & STATE_UNTIMED ? 0 : ns,
		.flags = (fold->at_least[row] & bit ? PERF_AT_LEAST : 0) |
			 (fold->since_new[row] & bit ? PERF_SINCE_NEW : 0) |
			 (state & STATE_OLD ? PERF_OLD : 0) |
			 (state & STATE_UNTIMED ? PERF_UNTIMED : 0),
	};
	measure->value = (double)measure->count;
	set_figure(&fold->layout->places[row], value, measure);
}
