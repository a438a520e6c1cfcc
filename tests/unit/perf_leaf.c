// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/perf_leaf.h"

#include <check.h>
#include <glib.h>
#include <string.h>

#include "iba/constants.h"

#define NS_PER_S UINT64_C(1000000000)
#define ROWS 7
#define RATE_EDR_4X 16 /* SA rate code: 100 Gb/s */

static const struct {
	uint64_t guid;
	const char *name;
	uint8_t type, ports;
} nodes[] = {
	{PERF_LEAF_HOST_A, "host a", IBA_NODE_CA, 1},
	{PERF_LEAF_HOST_B, "host-b", IBA_NODE_CA, 1},
	{PERF_LEAF_WEIRD, "weird:name", IBA_NODE_CA, 1},
	{PERF_LEAF_SWITCH, "leaf one", IBA_NODE_SWITCH, 4},
};

static void connect_rows(struct perf_layout *layout, uint32_t a, uint32_t b)
{
	layout->places[a].peer = b;
	layout->places[b].peer = a;
	layout->places[a].to_switch = layout->nodes[layout->places[b].node].type == IBA_NODE_SWITCH;
	layout->places[b].to_switch = layout->nodes[layout->places[a].node].type == IBA_NODE_SWITCH;
}

struct perf_layout *perf_leaf_layout(int64_t since)
{
	struct perf_layout *layout = g_new0(struct perf_layout, 1);
	uint32_t row = 0;

	ref_init(&layout->ref);
	layout->n_nodes = G_N_ELEMENTS(nodes);
	layout->nodes = g_new0(struct perf_node, G_N_ELEMENTS(nodes));
	layout->places = g_new0(struct perf_place, ROWS);
	for (uint32_t i = 0; i < G_N_ELEMENTS(nodes); i++) {
		layout->nodes[i] = (struct perf_node){
			.guid = nodes[i].guid,
			.name = g_strdup(nodes[i].name),
			.description = g_strdup(nodes[i].name),
			.first_row = row,
			.type = nodes[i].type,
			.first_port = 1,
			.num_ports = nodes[i].ports,
			.active = true,
			.since_us = since * 1000000,
		};
		for (unsigned int port = 1; port <= nodes[i].ports; port++, row++)
			layout->places[row] = (struct perf_place){
				.node = i,
				.peer = PERF_NONE,
				.lid = (uint16_t)(i + 1),
				.port = (uint8_t)port,
				.rate = port == 4 ? 0 : RATE_EDR_4X,
				.lanes = port == 4 ? 0 : 4,
				.tick = 7,
				.fec = true,
			};
	}
	ck_assert_uint_eq(row, ROWS);
	layout->n_rows = row;
	for (uint32_t i = 0; i < 3; i++)
		connect_rows(layout, i, 3 + i);
	return layout;
}

struct perf_image *perf_leaf_image(struct perf_layout *layout, unsigned int seconds)
{
	struct perf_image *image = perf_image_new(layout, 0);

	image->id = seconds + 1;
	image->began_ns = (1000 + seconds) * NS_PER_S;
	image->ended_ns = image->began_ns + NS_PER_S / 2;
	image->ended_us = (PERF_LEAF_TIME + seconds) * 1000000 + 500000;
	for (uint32_t row = 0; row < layout->n_rows; row++) {
		if (!layout->places[row].rate) {
			image->flags[row] = PERF_DOWN;
			continue;
		}
		image->flags[row] = PERF_READ | PERF_EVER;
		image->read_ns[row] = image->began_ns + NS_PER_S / 4;
		image->have[row] = (1u << PERF_COUNTERS) - 1;
	}
	return image;
}

struct perf_image *perf_leaf_next(const struct perf_image *before, unsigned int seconds)
{
	struct perf_image *image = perf_leaf_image(before->layout, seconds);

	memcpy(image->total[0], before->total[0],
	       (size_t)before->layout->n_rows * PERF_COUNTERS * sizeof(uint64_t));
	memcpy(image->at_least, before->at_least, before->layout->n_rows * sizeof(uint32_t));
	return image;
}

struct perf_images *perf_leaf_images(struct perf_image *const *images, unsigned int n)
{
	struct perf_images *all = g_new0(struct perf_images, 1);

	ref_init(&all->ref);
	all->n = n;
	all->images = g_new(struct perf_image *, n);
	if (n)
		memcpy(all->images, images, n * sizeof(*images));
	return all;
}

uint32_t perf_leaf_row(const struct perf_image *image, uint64_t guid, uint8_t port)
{
	uint32_t row = perf_layout_row(image->layout, guid, port);

	ck_assert_uint_ne(row, PERF_NONE);
	return row;
}
