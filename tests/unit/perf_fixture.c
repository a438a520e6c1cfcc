// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/perf_fixture.h"

#include <check.h>
#include <stdio.h>

#include "complib/random.h"
#include "iba/constants.h"
#include "iba/iba.h"

struct perf_layout *fixture_layout(const struct fixture_node *nodes, uint32_t n)
{
	struct perf_layout *layout = g_new0(struct perf_layout, 1);

	ref_init(&layout->ref);
	layout->n_nodes = n;
	layout->nodes = g_new0(struct perf_node, n);
	for (uint32_t i = 0; i < n; i++) {
		layout->nodes[i] = (struct perf_node){
			.guid = nodes[i].guid,
			.type = nodes[i].type,
			.first_port = 1,
			.num_ports = nodes[i].num_ports,
			.active = true,
			.since_us = 1,
			.first_row = layout->n_rows,
			.name = g_strdup_printf("node %" G_GINT64_MODIFIER "x", nodes[i].guid),
			.description = g_strdup_printf("n%" G_GINT64_MODIFIER "x", nodes[i].guid),
		};
		layout->n_rows += nodes[i].num_ports;
	}
	layout->places = g_new0(struct perf_place, layout->n_rows);
	for (uint32_t i = 0; i < n; i++)
		for (unsigned int port = 1; port <= nodes[i].num_ports; port++)
			layout->places[layout->nodes[i].first_row + port - 1] = (struct perf_place){
				.node = i,
				.peer = PERF_NONE,
				.lid = (uint16_t)(i + 1),
				.port = (uint8_t)port,
				.rate = IBA_RATE_100,
				.lanes = 4,
				.tick = 7,
			};
	return layout;
}

uint32_t fixture_row(const struct perf_layout *layout, uint64_t guid, uint8_t port)
{
	uint32_t row = perf_layout_row(layout, guid, port);

	ck_assert_uint_ne(row, PERF_NONE);
	return row;
}

void fixture_cable(struct perf_layout *layout, uint64_t guid_a, uint8_t port_a, uint64_t guid_b,
		   uint8_t port_b)
{
	uint32_t a = fixture_row(layout, guid_a, port_a), b = fixture_row(layout, guid_b, port_b);

	layout->places[a].peer = b;
	layout->places[b].peer = a;
	layout->places[a].to_switch = perf_layout_node_of(layout, b)->type == IBA_NODE_SWITCH;
	layout->places[b].to_switch = perf_layout_node_of(layout, a)->type == IBA_NODE_SWITCH;
}

struct perf_image *fixture_image(struct perf_layout *layout, uint64_t id, double seconds,
				 uint32_t n_details)
{
	struct perf_image *image = perf_image_new(layout, n_details);
	uint64_t ns = (uint64_t)(seconds * 1e9) + FIXTURE_START_NS;

	image->id = id;
	image->began_ns = ns - ns / 10;
	image->ended_ns = ns;
	image->ended_us = FIXTURE_EPOCH_US + (int64_t)(seconds * 1e6);
	for (uint32_t row = 0; row < layout->n_rows; row++) {
		image->read_ns[row] = ns;
		image->have[row] = (1u << PERF_COUNTERS) - 1;
		image->flags[row] = PERF_READ | PERF_EVER;
	}
	return image;
}

struct perf_images *fixture_ring(struct perf_image **images, unsigned int n)
{
	struct perf_images *ring = g_new0(struct perf_images, 1);

	ref_init(&ring->ref);
	ring->n = n;
	ring->images = g_memdup2(images, n * sizeof(struct perf_image *));
	return ring;
}

#define PORTS 32

struct perf_layout *fixture_large_layout(uint32_t n_switches)
{
	g_autofree struct fixture_node *nodes = g_new(struct fixture_node, n_switches);
	struct perf_layout *layout;

	for (uint32_t i = 0; i < n_switches; i++)
		nodes[i] = (struct fixture_node){UINT64_C(0x0002C90300000000) + i * 48,
						 IBA_NODE_SWITCH, PORTS};
	layout = fixture_layout(nodes, n_switches);
	for (uint32_t row = 0; row < layout->n_rows; row++) {
		layout->places[row].peer = row ^ 1;
		layout->places[row].to_switch = true;
	}
	return layout;
}

static uint64_t below(uint64_t *state, uint64_t n)
{
	return random_next(state) % n;
}

/* Up to 80 % of 100 Gb/s each way, packets of 1 to 2 KB, some waiting; 1 % of ports with errors. */
void fixture_count(struct perf_image *image, uint64_t seed, bool busy, double seconds)
{
	const double words = 100e9 / 32 * seconds;
	uint64_t state = seed;

	for (uint32_t row = 0; row < image->layout->n_rows; row++) {
		uint64_t sent = (uint64_t)(words * 0.8) / 1000 * below(&state, 1000);
		uint64_t received = (uint64_t)(words * 0.8) / 1000 * below(&state, 1000);

		image->read_ns[row] += below(&state, 1000000000);
		if (below(&state, 100) == 0)
			image->total[PERF_SYMBOL_ERRORS][row] = below(&state, 1000);
		if (!busy) {
			image->total[PERF_XMIT_DATA][row] = below(&state, 1000) * 72;
			image->total[PERF_XMIT_PKTS][row] = below(&state, 1000);
			continue;
		}
		image->total[PERF_XMIT_DATA][row] = sent + below(&state, 100000);
		image->total[PERF_RCV_DATA][row] = received + below(&state, 100000);
		image->total[PERF_XMIT_PKTS][row] = sent / 300 + below(&state, 1000);
		image->total[PERF_RCV_PKTS][row] = received / 300 + below(&state, 1000);
		image->total[PERF_UNICAST_XMIT_PKTS][row] = sent / 301;
		image->total[PERF_UNICAST_RCV_PKTS][row] = received / 301;
		image->total[PERF_MULTICAST_XMIT_PKTS][row] = below(&state, 10000);
		image->total[PERF_MULTICAST_RCV_PKTS][row] = below(&state, 10000);
		image->total[PERF_XMIT_WAIT][row] = below(&state, (uint64_t)(seconds * 1e6));
	}
}

void fixture_file(const char *file, const void *octets, size_t length)
{
	FILE *out;

	/* Some file systems flush a file that is emptied and written. */
	remove(file);
	out = fopen(file, "w");
	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(octets, 1, length, out), length);
	ck_assert_int_eq(fclose(out), 0);
}
