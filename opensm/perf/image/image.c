// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "perf/image/image.h"

#include <glib.h>
#include <string.h>

const struct perf_counter_info perf_counter_info[PERF_COUNTERS] = {
#define PERF_COUNTER(name, field, width, select, kind, iba, dump, machine, number)                 \
	[PERF_##name] = {iba, dump, machine, number, kind, width, select},
#define PERF_WIDE_COUNTER(name, field, iba, dump)                                                  \
	[PERF_##name] = {iba, dump, dump, NULL, PERF_PACKETS, 0, 0},
#include "perf/image/counters.def"
};

const struct perf_detail_info perf_detail_info[PERF_DETAILS] = {
#define PERF_DETAIL(name, attribute, type, field, width, iba)                                      \
	[PERF_DETAIL_##name] = {iba, PERF_##attribute, width},
#include "perf/image/details.def"
};

int perf_counter_find(const char *name)
{
	for (int i = 0; i < PERF_COUNTERS; i++)
		if (!g_ascii_strcasecmp(name, perf_counter_info[i].iba) ||
		    (perf_counter_info[i].dump &&
		     (!g_ascii_strcasecmp(name, perf_counter_info[i].dump) ||
		      !g_ascii_strcasecmp(name, perf_counter_info[i].machine))))
			return i;
	return -1;
}

int perf_detail_find(const char *name)
{
	for (int i = 0; i < PERF_DETAILS; i++)
		if (!g_ascii_strcasecmp(name, perf_detail_info[i].iba))
			return i;
	return -1;
}

/* ---- layouts ---- */

struct perf_layout *perf_layout_ref(struct perf_layout *layout)
{
	ref_get(&layout->ref);
	return layout;
}

void perf_layout_unref(struct perf_layout *layout)
{
	if (!layout || !ref_put(&layout->ref))
		return;
	for (uint32_t i = 0; i < layout->n_nodes; i++) {
		g_free(layout->nodes[i].name);
		g_free(layout->nodes[i].description);
	}
	g_free(layout->nodes);
	g_free(layout->places);
	g_free(layout);
}

uint32_t perf_layout_node(const struct perf_layout *layout, uint64_t guid)
{
	uint32_t low = 0, high = layout->n_nodes;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (layout->nodes[middle].guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < layout->n_nodes && layout->nodes[low].guid == guid ? low : PERF_NONE;
}

uint32_t perf_layout_row(const struct perf_layout *layout, uint64_t guid, uint8_t port)
{
	uint32_t node = perf_layout_node(layout, guid);
	const struct perf_node *at;

	if (node == PERF_NONE)
		return PERF_NONE;
	at = &layout->nodes[node];
	if (port < at->first_port || port > at->num_ports)
		return PERF_NONE;
	return at->first_row + port - at->first_port;
}

uint32_t *perf_layout_map(const struct perf_layout *from, const struct perf_layout *to)
{
	uint32_t *map = g_new(uint32_t, to->n_rows);

	for (uint32_t i = 0, at = 0; i < to->n_nodes; i++) {
		const struct perf_node *node = &to->nodes[i];

		while (at < from->n_nodes && from->nodes[at].guid < node->guid)
			at++;
		for (unsigned int port = node->first_port; port <= node->num_ports; port++) {
			const struct perf_node *old = &from->nodes[at];
			uint32_t row = node->first_row + port - node->first_port;

			map[row] = PERF_NONE;
			if (at < from->n_nodes && old->guid == node->guid &&
			    port >= old->first_port && port <= old->num_ports)
				map[row] = old->first_row + port - old->first_port;
		}
	}
	return map;
}

/* ---- images ---- */

/* Columns are one allocation, the widest first. */
static size_t columns_bytes(uint32_t n_rows)
{
	return (size_t)n_rows * (PERF_COUNTERS * sizeof(uint64_t) + sizeof(uint64_t) +
				 3 * sizeof(uint32_t) + sizeof(uint16_t));
}

struct perf_image *perf_image_new(struct perf_layout *layout, uint32_t n_details)
{
	struct perf_image *image = g_new0(struct perf_image, 1);
	uint32_t n = layout->n_rows;
	uint64_t *column = g_malloc0(columns_bytes(MAX(n, 1)));

	ref_init(&image->ref);
	image->layout = perf_layout_ref(layout);
	for (int i = 0; i < PERF_COUNTERS; i++)
		image->total[i] = column + (size_t)i * n;
	image->read_ns = column + (size_t)PERF_COUNTERS * n;
	image->at_least = (uint32_t *)(image->read_ns + n);
	image->missed = image->at_least + n;
	image->have = image->missed + n;
	image->flags = (uint16_t *)(image->have + n);
	image->n_details = n_details;
	image->details = g_new0(struct perf_detail_row, n_details);
	return image;
}

struct perf_image *perf_image_ref(struct perf_image *image)
{
	ref_get(&image->ref);
	return image;
}

void perf_image_unref(struct perf_image *image)
{
	if (!image || !ref_put(&image->ref))
		return;
	perf_layout_unref(image->layout);
	g_free(image->total[0]);
	g_free(image->details);
	g_free(image);
}

const struct perf_detail_row *perf_image_details(const struct perf_image *image, uint32_t row)
{
	uint32_t low = 0, high = image->n_details;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (image->details[middle].row < row)
			low = middle + 1;
		else
			high = middle;
	}
	return low < image->n_details && image->details[low].row == row ? &image->details[low]
									: NULL;
}

void perf_image_copy_columns(struct perf_image *to, const struct perf_image *from)
{
	memcpy(to->total[0], from->total[0], columns_bytes(from->layout->n_rows));
}

size_t perf_image_bytes(const struct perf_image *image)
{
	return sizeof(*image) + columns_bytes(image->layout->n_rows) +
	       image->n_details * sizeof(*image->details);
}

struct perf_images *perf_images_ref(struct perf_images *images)
{
	ref_get(&images->ref);
	return images;
}

void perf_images_unref(struct perf_images *images)
{
	if (!images || !ref_put(&images->ref))
		return;
	for (unsigned int i = 0; i < images->n; i++)
		perf_image_unref(images->images[i]);
	g_free(images->images);
	g_free(images->redirections);
	g_free(images);
}

struct perf_far perf_images_far(const struct perf_images *images, const struct perf_layout *layout,
				uint32_t row)
{
	uint64_t guid = perf_layout_node_of(layout, row)->guid;
	struct perf_far far = {layout, layout->places[row].peer};
	uint8_t port = layout->places[row].port;

	for (unsigned int i = images ? images->n : 0; far.row == PERF_NONE && i-- > 0;) {
		const struct perf_layout *before = images->images[i]->layout;

		if (before == far.layout)
			continue;
		row = perf_layout_row(before, guid, port);
		if (row != PERF_NONE)
			far = (struct perf_far){before, before->places[row].peer};
	}
	return far;
}
