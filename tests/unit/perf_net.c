// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/perf_net.h"

#include <glib.h>
#include <string.h>

#include "complib/actor.h"
#include "iba/constants.h"

#define START_S 1000

struct perf_net *perf_net_new(void)
{
	struct perf_net *net = g_new0(struct perf_net, 1);

	net->layout = g_new0(struct perf_layout, 1);
	ref_init(&net->layout->ref);
	net->details_row = PERF_NONE;
	net->seconds = START_S;
	return net;
}

void perf_net_free(struct perf_net *net)
{
	perf_image_unref(net->now);
	perf_layout_unref(net->layout);
	g_free(net);
}

void perf_net_node(struct perf_net *net, uint64_t guid, uint8_t type, uint8_t ports,
		   const char *name)
{
	struct perf_layout *layout = net->layout;
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
	};
	for (unsigned int port = 1; port <= ports; port++)
		layout->places[first + port - 1] = (struct perf_place){
			.node = node,
			.peer = PERF_NONE,
			.port = (uint8_t)port,
			.rate = PERF_NET_RATE,
			.lanes = 4,
			.tick = 7,
		};
}

void perf_net_ready(struct perf_net *net)
{
	net->now = perf_image_new(net->layout, 0);
	for (uint32_t row = 0; row < net->layout->n_rows; row++) {
		net->now->flags[row] = PERF_READ | PERF_EVER;
		net->now->have[row] = (1u << PERF_COUNTERS) - 1;
	}
}

uint32_t perf_net_row(const struct perf_net *net, uint64_t guid, uint8_t port)
{
	return perf_layout_row(net->layout, guid, port);
}

void perf_net_cable(struct perf_net *net, uint32_t a, uint32_t b)
{
	struct perf_layout *layout = net->layout;

	layout->places[a].peer = b;
	layout->places[b].peer = a;
	layout->places[a].to_switch = perf_layout_node_of(layout, b)->type == IBA_NODE_SWITCH;
	layout->places[b].to_switch = perf_layout_node_of(layout, a)->type == IBA_NODE_SWITCH;
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
