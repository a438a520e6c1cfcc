// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/perf_fixture.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "complib/actor.h"
#include "complib/random.h"
#include "iba/constants.h"
#include "iba/iba.h"

#define PORTS 32 /* of each switch of a large fabric */
#define PERF_NET_START_S 1000

/* ---- layouts ---- */

void fixture_add(struct perf_layout *layout, uint64_t guid, uint8_t type, uint8_t ports,
		 const char *name)
{
	uint32_t node = layout->n_nodes++, first = layout->n_rows;

	layout->n_rows += ports;
	if (!(node & (node + 1))) /* doubles */
		layout->nodes = g_renew(struct perf_node, layout->nodes, 2 * node + 2);
	layout->places = g_renew(struct perf_place, layout->places, layout->n_rows);
	layout->nodes[node] = (struct perf_node){
		.guid = guid,
		.name = g_strdup(name),
		.description = g_strdup(name),
		.first_row = first,
		.type = type,
		.first_port = 1,
		.num_ports = ports,
		.active = true,
		.since_us = 1,
	};
	for (unsigned int port = 1; port <= ports; port++)
		layout->places[first + port - 1] = (struct perf_place){
			.node = node,
			.peer = PERF_NONE,
			.lid = (uint16_t)layout->n_nodes,
			.port = (uint8_t)port,
			.rate = IBA_RATE_100,
			.lanes = 4,
			.tick = 7,
		};
}

struct perf_layout *fixture_layout(const struct fixture_node *nodes, uint32_t n)
{
	struct perf_layout *layout = g_new0(struct perf_layout, 1);

	ref_init(&layout->ref);
	for (uint32_t i = 0; i < n; i++) {
		g_autofree char *name =
			g_strdup_printf("node %" G_GINT64_MODIFIER "x", nodes[i].guid);

		fixture_add(layout, nodes[i].guid, nodes[i].type, nodes[i].num_ports, name);
		g_free(layout->nodes[i].description);
		layout->nodes[i].description =
			g_strdup_printf("n%" G_GINT64_MODIFIER "x", nodes[i].guid);
	}
	return layout;
}

uint32_t fixture_row(const struct perf_layout *layout, uint64_t guid, uint8_t port)
{
	uint32_t row = perf_layout_row(layout, guid, port);

	ck_assert_uint_ne(row, PERF_NONE);
	return row;
}

void fixture_join(struct perf_layout *layout, uint32_t a, uint32_t b)
{
	layout->places[a].peer = b;
	layout->places[b].peer = a;
	layout->places[a].to_switch = perf_layout_node_of(layout, b)->type == IBA_NODE_SWITCH;
	layout->places[b].to_switch = perf_layout_node_of(layout, a)->type == IBA_NODE_SWITCH;
}

void fixture_cable(struct perf_layout *layout, uint64_t guid_a, uint8_t port_a, uint64_t guid_b,
		   uint8_t port_b)
{
	fixture_join(layout, fixture_row(layout, guid_a, port_a),
		     fixture_row(layout, guid_b, port_b));
}

/* ---- images ---- */

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

/* ---- one leaf ---- */

struct perf_layout *perf_leaf_layout(int64_t since)
{
	struct perf_layout *layout = fixture_layout(NULL, 0);
	uint32_t down;

	fixture_add(layout, PERF_LEAF_HOST_A, IBA_NODE_CA, 1, "host a");
	fixture_add(layout, PERF_LEAF_HOST_B, IBA_NODE_CA, 1, "host-b");
	fixture_add(layout, PERF_LEAF_WEIRD, IBA_NODE_CA, 1, "weird:name");
	fixture_add(layout, PERF_LEAF_SWITCH, IBA_NODE_SWITCH, 4, "leaf one");
	for (uint32_t i = 0; i < layout->n_nodes; i++)
		layout->nodes[i].since_us = since * 1000000;
	for (uint32_t row = 0; row < layout->n_rows; row++)
		layout->places[row].fec = true;
	for (uint32_t i = 0; i < 3; i++)
		fixture_join(layout, i, 3 + i);
	down = fixture_row(layout, PERF_LEAF_SWITCH, 4);
	layout->places[down].rate = layout->places[down].lanes = 0;
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

/* ---- any fabric, and what it counts ---- */

struct perf_net *perf_net_new(void)
{
	struct perf_net *net = g_new0(struct perf_net, 1);

	net->layout = fixture_layout(NULL, 0);
	net->details_row = PERF_NONE;
	net->seconds = PERF_NET_START_S;
	return net;
}

void perf_net_free(struct perf_net *net)
{
	perf_image_unref(net->now);
	perf_layout_unref(net->layout);
	g_free(net);
}

void perf_net_ready(struct perf_net *net)
{
	net->now = perf_image_new(net->layout, 0);
	for (uint32_t row = 0; row < net->layout->n_rows; row++) {
		net->now->flags[row] = PERF_READ | PERF_EVER;
		net->now->have[row] = (1u << PERF_COUNTERS) - 1;
	}
}

struct perf_image *perf_net_image(struct perf_net *net, uint64_t seconds)
{
	struct perf_image *image, *now = net->now;

	net->seconds += seconds;
	now->ended_ns = net->seconds * NS_PER_S;
	for (uint32_t row = 0; row < net->layout->n_rows; row++)
		if (now->flags[row] & PERF_READ)
			now->read_ns[row] = now->ended_ns;
	image = perf_image_new(net->layout, net->details_row == PERF_NONE ? 0 : 1);
	perf_image_copy_columns(image, now);
	image->ended_ns = now->ended_ns;
	if (image->n_details) {
		image->details[0].row = net->details_row;
		image->details[0].have = (1u << PERF_DETAILS) - 1;
		image->details[0].read_ns = now->read_ns[net->details_row];
		memcpy(image->details[0].total, net->details, sizeof(net->details));
	}
	for (uint32_t row = 0; row < net->layout->n_rows; row++) {
		now->flags[row] = PERF_READ | PERF_EVER;
		now->missed[row] = 0;
	}
	return image;
}
