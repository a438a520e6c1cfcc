// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A breadth-first search from all switches with hosts at once. */
#include "osmroute/ranks.h"

#include <glib.h>

static uint8_t ports_of(const struct fabric *fabric, uint32_t sw)
{
	return fabric->nodes[fabric->switches[sw].node].num_ports;
}

uint32_t ranks_across(const struct fabric *fabric, uint32_t sw, uint8_t num)
{
	uint32_t peer = fabric->ports[fabric_switch_port(fabric, sw, num)].peer;

	return peer == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[fabric->ports[peer].node].sw;
}

static void count_hosts(struct ranks *ranks, const struct fabric *fabric)
{
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		for (unsigned int num = 1; num <= ports_of(fabric, sw); num++) {
			uint32_t peer = fabric->ports[fabric_switch_port(fabric, sw, num)].peer;

			ranks->hosts[sw] += peer != FABRIC_NONE &&
					    !fabric_is_switch(fabric, fabric->ports[peer].node);
		}
	}
}

static void search(struct ranks *ranks, const struct fabric *fabric)
{
	g_autofree uint32_t *queue = g_new(uint32_t, fabric->n_switches + 1);
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		ranks->of[sw] = ranks->hosts[sw] ? 0 : FABRIC_NONE;
		if (ranks->hosts[sw])
			queue[n++] = sw;
	}
	for (uint32_t i = 0; i < n; i++) {
		for (unsigned int num = 1; num <= ports_of(fabric, queue[i]); num++) {
			uint32_t to = ranks_across(fabric, queue[i], num);

			if (to == FABRIC_NONE || ranks->of[to] != FABRIC_NONE)
				continue;
			ranks->of[to] = ranks->of[queue[i]] + 1;
			queue[n++] = to;
		}
	}
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		if (ranks->of[sw] == FABRIC_NONE)
			ranks->of[sw] = 0;
}

static bool is_layered(const struct ranks *ranks, const struct fabric *fabric)
{
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		for (unsigned int num = 1; num <= ports_of(fabric, sw); num++) {
			uint32_t to = ranks_across(fabric, sw, num);

			if (to != FABRIC_NONE && ranks->of[sw] + 1 != ranks->of[to] &&
			    ranks->of[to] + 1 != ranks->of[sw])
				return false;
		}
	}
	return ranks->n > 1;
}

void ranks_init(struct ranks *ranks, const struct fabric *fabric)
{
	*ranks = (struct ranks){
		.of = g_new(uint32_t, fabric->n_switches + 1),
		.hosts = g_new0(uint32_t, fabric->n_switches + 1),
		.n = 1,
	};
	count_hosts(ranks, fabric);
	search(ranks, fabric);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		ranks->n = MAX(ranks->n, ranks->of[sw] + 1);
	ranks->layered = is_layered(ranks, fabric);
}

void ranks_clear(struct ranks *ranks)
{
	g_free(ranks->of);
	g_free(ranks->hosts);
	*ranks = (struct ranks){0};
}
