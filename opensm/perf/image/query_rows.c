// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the rows of a window are together: the greatest, sums, and cables. See query.h. */
#include <math.h>
#include <string.h>

#include "iba/constants.h"
#include "perf/image/query.h"

/* ---- the greatest ---- */

static bool is_switch(const struct perf_layout *layout, uint32_t row)
{
	return perf_layout_node_of(layout, row)->type == IBA_NODE_SWITCH;
}

bool perf_in_scope(const struct perf_layout *layout, uint32_t row, enum perf_scope scope)
{
	const struct perf_place *place = &layout->places[row];

	switch (scope) {
	case PERF_SWITCH_LINKS:
		return is_switch(layout, row) && place->to_switch;
	case PERF_HOST_LINKS:
		return !is_switch(layout, row) ||
		       (place->peer < layout->n_rows && !is_switch(layout, place->peer));
	default:
		return true;
	}
}

/* Counts are compared as they are: a double does not hold all of them. */
static bool greater(const struct perf_top *a, const struct perf_top *b, enum perf_figure figure)
{
	if (figure == PERF_COUNT && a->measure.count != b->measure.count)
		return a->measure.count > b->measure.count;
	if (a->measure.value > b->measure.value || a->measure.value < b->measure.value)
		return a->measure.value > b->measure.value;
	return a->row < b->row;
}

/* Moves the entry at the root of a heap, the least of which is at the root, to its place. */
static void sift(struct perf_top *heap, unsigned int n, unsigned int at, enum perf_figure figure)
{
	const struct perf_top moved = heap[at];

	for (;;) {
		unsigned int child = 2 * at + 1;

		if (child + 1 < n && greater(&heap[child], &heap[child + 1], figure))
			child++;
		if (child >= n || !greater(&moved, &heap[child], figure))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

/* The greatest of a heap comes first. */
static void sort(struct perf_top *heap, unsigned int n, enum perf_figure figure)
{
	while (n > 1) {
		struct perf_top least = heap[0];

		heap[0] = heap[--n];
		heap[n] = least;
		sift(heap, n, 0, figure);
	}
}

unsigned int perf_fold_top(const struct perf_fold *fold, struct perf_value value,
			   enum perf_scope scope, const bool *only, struct perf_top *top,
			   unsigned int n)
{
	uint32_t n_rows = fold->layout && n ? fold->layout->n_rows : 0;
	unsigned int used = 0;

	for (uint32_t row = 0; row < n_rows; row++) {
		struct perf_top entry = {.row = row};

		if ((only && !only[row]) || !perf_in_scope(fold->layout, row, scope))
			continue;
		perf_fold_measure(fold, row, value, &entry.measure);
		if (!(entry.measure.value > 0))
			continue;
		if (used < n) {
			top[used++] = entry;
			for (unsigned int at = used / 2; used == n && at-- > 0;)
				sift(top, used, at, value.figure);
		} else if (greater(&entry, &top[0], value.figure)) {
			top[0] = entry;
			sift(top, n, 0, value.figure);
		}
	}
	for (unsigned int at = used / 2; used < n && at-- > 0;)
		sift(top, used, at, value.figure);
	sort(top, used, value.figure);
	return used;
}

/* ---- sums ---- */

static void add_side(const struct perf_fold *fold, uint32_t row, unsigned int direction,
		     struct perf_side *side)
{
	static const unsigned int data_of[2] = {PERF_XMIT_DATA, PERF_RCV_DATA};
	static const unsigned int packets_of[2] = {PERF_XMIT_PKTS, PERF_RCV_PKTS};
	struct perf_measure octets, packets, used;

	perf_fold_measure(fold, row, (struct perf_value){PERF_RATE, data_of[direction]}, &octets);
	perf_fold_measure(fold, row, (struct perf_value){PERF_RATE, packets_of[direction]},
			  &packets);
	perf_fold_measure(fold, row, (struct perf_value){PERF_UTILIZATION, data_of[direction]},
			  &used);
	side->ports += !(octets.flags & PERF_UNKNOWN);
	side->octets_s += octets.value;
	side->packets_s += packets.value;
	if (used.flags & PERF_UNKNOWN)
		return;
	side->least = side->utilized ? MIN(side->least, used.value) : used.value;
	side->most = MAX(side->most, used.value);
	side->mean += used.value; /* divided in the end */
	side->tenths[MIN((unsigned int)(used.value * 10), 9)]++;
	side->utilized++;
}

static void add_row(const struct perf_fold *fold, uint32_t row, const bool *only,
		    struct perf_sum *sum)
{
	uint32_t peer = fold->layout->places[row].peer;
	bool external = only && (peer >= fold->layout->n_rows || !only[peer]);
	unsigned int columns = 0, old = 0;

	for (unsigned int i = 0; i < PERF_COLUMNS; i++) {
		struct perf_measure measure;

		if (!(fold->columns & PERF_BIT(i)))
			continue;
		perf_fold_measure(fold, row, (struct perf_value){PERF_COUNT, i}, &measure);
		columns += !(measure.flags & PERF_UNKNOWN);
		old |= measure.flags & PERF_OLD;
		sum->count[i] += measure.count;
		if (measure.flags & PERF_AT_LEAST)
			sum->at_least |= PERF_BIT(i);
	}
	sum->ports++;
	sum->counted += columns != 0;
	sum->old += old != 0;
	for (unsigned int direction = 0; direction < 2; direction++)
		add_side(fold, row, direction, &sum->side[external][direction]);
}

void perf_fold_sum(const struct perf_fold *fold, const bool *only, struct perf_sum *sum)
{
	*sum = (struct perf_sum){0};
	for (uint32_t row = 0; fold->layout && row < fold->layout->n_rows; row++)
		if (!only || only[row])
			add_row(fold, row, only, sum);
	for (unsigned int i = 0; i < 4; i++) {
		struct perf_side *side = &sum->side[i / 2][i % 2];

		if (side->utilized)
			side->mean /= side->utilized;
	}
}

/* ---- cables ---- */

/* What end sent a second less what the other received. */
static double lost(const struct perf_fold *fold, const struct perf_cable *cable, unsigned int end,
		   unsigned int sent, unsigned int received)
{
	struct perf_measure out, in;

	perf_fold_measure(fold, cable->row[end], (struct perf_value){PERF_RATE, sent}, &out);
	perf_fold_measure(fold, cable->row[!end], (struct perf_value){PERF_RATE, received}, &in);
	return (out.flags | in.flags) & PERF_UNKNOWN ? (double)NAN : out.value - in.value;
}

static void measure_end(const struct perf_fold *fold, struct perf_cable *cable, unsigned int end)
{
	for (unsigned int i = 0; i < PERF_COLUMNS; i++)
		perf_fold_measure(fold, cable->row[end], (struct perf_value){PERF_COUNT, i},
				  &cable->count[end][i]);
}

void perf_fold_cable(const struct perf_fold *fold, uint32_t row, uint32_t peer,
		     struct perf_cable *cable)
{
	bool both = peer != PERF_NONE;

	*cable = (struct perf_cable){.row = {row, peer}};
	for (unsigned int i = 0; i < PERF_COLUMNS; i++)
		cable->count[1][i].flags = PERF_UNKNOWN;
	measure_end(fold, cable, 0);
	if (both)
		measure_end(fold, cable, 1);
	for (unsigned int end = 0; end < 2; end++) {
		cable->octets_s_lost[end] =
			both ? lost(fold, cable, end, PERF_XMIT_DATA, PERF_RCV_DATA) : (double)NAN;
		cable->packets_s_lost[end] =
			both ? lost(fold, cable, end, PERF_XMIT_PKTS, PERF_RCV_PKTS) : (double)NAN;
	}
}

/* ---- the history of a port ---- */

/* A layout of that row alone. */
static struct perf_layout *slice_layout(const struct perf_layout *from, uint32_t row)
{
	struct perf_layout *layout = g_new0(struct perf_layout, 1);
	const struct perf_place *place = &from->places[row];
	const struct perf_node *node = &from->nodes[place->node];

	ref_init(&layout->ref);
	layout->n_nodes = layout->n_rows = 1;
	layout->nodes = g_memdup2(node, sizeof(*node));
	layout->nodes->name = g_strdup(node->name);
	layout->nodes->description = g_strdup(node->description);
	layout->nodes->first_row = 0;
	layout->nodes->first_port = layout->nodes->num_ports = place->port;
	layout->places = g_memdup2(place, sizeof(*place));
	layout->places->node = 0;
	layout->places->peer = PERF_NONE;
	return layout;
}

struct perf_image *perf_image_slice(const struct perf_image *image, uint32_t row)
{
	const struct perf_detail_row *details = perf_image_details(image, row);
	struct perf_layout *layout = slice_layout(image->layout, row);
	struct perf_image *slice = perf_image_new(layout, details ? 1 : 0);

	perf_layout_unref(layout);
	slice->id = image->id;
	slice->run = image->run;
	slice->began_ns = image->began_ns;
	slice->ended_ns = image->ended_ns;
	slice->ended_us = image->ended_us;
	for (unsigned int i = 0; i < PERF_COUNTERS; i++)
		slice->total[i][0] = image->total[i][row];
	slice->read_ns[0] = image->read_ns[row];
	slice->at_least[0] = image->at_least[row];
	slice->missed[0] = image->missed[row];
	slice->flags[0] = image->flags[row];
	slice->have[0] = image->have[row];
	if (details) {
		slice->details[0] = *details;
		slice->details[0].row = 0;
	}
	return slice;
}

void perf_series_init(struct perf_series *series, struct perf_value value)
{
	*series = (struct perf_series){value, g_array_new(FALSE, FALSE, sizeof(struct perf_point)),
				       NULL};
}

void perf_series_clear(struct perf_series *series)
{
	g_array_unref(series->points);
	perf_image_unref(series->before);
}

void perf_series_add(struct perf_series *series, struct perf_image *image)
{
	struct perf_point point = {.us = image->ended_us};
	struct perf_fold *fold;

	if (series->before && series->before->run == image->run && series->before->id >= image->id)
		return;
	if (series->before) {
		fold = perf_fold_new(PERF_BIT(series->value.column));
		perf_fold_add(fold, series->before);
		perf_fold_add(fold, image);
		perf_fold_measure(fold, 0, series->value, &point.measure);
		perf_fold_free(fold);
		g_array_append_val(series->points, point);
	}
	perf_image_unref(series->before);
	series->before = perf_image_ref(image);
}

void perf_series_add_ring(struct perf_series *series, const struct perf_images *images,
			  uint64_t guid, uint8_t port)
{
	for (unsigned int i = 0; images && i < images->n; i++) {
		const struct perf_image *image = images->images[i];
		uint32_t row = perf_layout_row(image->layout, guid, port);
		struct perf_image *slice;

		if (row == PERF_NONE)
			continue;
		slice = perf_image_slice(image, row);
		perf_series_add(series, slice);
		perf_image_unref(slice);
	}
}
