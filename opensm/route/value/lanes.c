// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/value/lanes.h"

#include <string.h>

#include "iba/codes.h"
#include "route/graph/graph.h"
#include "route/value/told.h"

unsigned int route_data_vls(const struct fabric *fabric, const struct route_input *input)
{
	unsigned int least = input->vls ? input->vls : 15;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct fabric_port *port = &fabric->ports[i];

		if (fabric_is_switch(fabric, port->node) &&
		    route_switch_across(fabric, i) != FABRIC_NONE)
			least = MIN(least, MAX(iba_vls_count(port->info.vl_cap), 1));
	}
	return least;
}

struct route_turns *route_turns_new(const struct fabric *fabric)
{
	struct route_turns *turns = g_new0(struct route_turns, 1);
	size_t n = 0;

	turns->first = g_new(size_t, fabric->n_switches + 1);
	turns->width = g_new(uint16_t, fabric->n_switches + 1);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		turns->first[sw] = n;
		turns->width[sw] = fabric->nodes[fabric->switches[sw].node].num_ports + 1;
		n += (size_t)turns->width[sw] * turns->width[sw];
	}
	turns->rows = g_new0(uint64_t, n + 1);
	return turns;
}

void route_turns_put(struct route_turns *turns, uint32_t sw, uint8_t in, uint8_t out, uint8_t sl,
		     uint8_t vl)
{
	uint64_t *row = &turns->rows[turns->first[sw] + (size_t)in * turns->width[sw] + out];

	*row = (*row & ~(UINT64_C(0xF) << 4 * sl)) | (uint64_t)vl << 4 * sl;
}

struct route_lanes *route_lanes_new(uint32_t n_switches, uint8_t own_sl)
{
	struct route_lanes *lanes = g_new0(struct route_lanes, 1);

	lanes->n_switches = n_switches;
	lanes->sl = g_malloc((size_t)n_switches * n_switches + 1);
	memset(lanes->sl, ROUTE_NO_SL, (size_t)n_switches * n_switches);
	for (uint32_t sw = 0; sw < n_switches; sw++)
		route_lanes_put(lanes, sw, sw, own_sl);
	return lanes;
}

void route_lanes_free(struct route_lanes *lanes)
{
	if (!lanes)
		return;
	if (lanes->turns) {
		g_free(lanes->turns->first);
		g_free(lanes->turns->width);
		g_free(lanes->turns->rows);
		g_free(lanes->turns);
	}
	g_free(lanes->sl);
	g_free(lanes);
}

uint16_t route_lanes_sls_between(const struct route_lanes *lanes, uint32_t from, uint32_t to,
				 uint32_t sm)
{
	uint16_t sls = 0;

	if (!lanes)
		return 1;
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++) {
		uint8_t plain = sl & ~lanes->levels;

		if (plain == route_lanes_sl(lanes, from, to) ||
		    plain == route_lanes_sl(lanes, to, from) ||
		    (sl == lanes->sm_sl && !lanes->sm_by_path && (from == sm || to == sm)))
			sls |= 1u << sl;
	}
	return sls;
}

uint16_t route_lanes_used(const struct route_lanes *lanes)
{
	uint16_t used = 0;

	if (!lanes)
		return 1;
	if (lanes->turns)
		return (1u << lanes->n) - 1;
	for (unsigned int sl = 0; sl < lanes->n; sl++)
		used |= route_lanes_bit(lanes, lanes->first + sl);
	return used | route_lanes_bit(lanes, lanes->sm_sl);
}

bool routing_path_sl(const struct routing *routing, const struct fabric *fabric, uint32_t from,
		     uint32_t to, bool fixed, uint8_t *sl)
{
	const struct route_lanes *lanes = routing ? routing->lanes : NULL;
	uint8_t exit, lane;
	uint32_t a, b;

	if (!lanes)
		return true;
	a = fabric_leaf(fabric, from, &exit);
	b = fabric_leaf(fabric, to, &exit);
	if (a == FABRIC_NONE || b == FABRIC_NONE)
		return true; /* no switch between them */
	lane = route_lanes_sl(lanes, a, b);
	if (lane == ROUTE_NO_SL || (fixed && (*sl & ~lanes->levels) != lane))
		return false;
	*sl = lane | (*sl & lanes->levels);
	return true;
}

uint16_t routing_sl_to_vl(const struct routing *routing, uint8_t vl[ROUTE_SLS])
{
	const struct route_lanes *lanes = routing ? routing->lanes : NULL;

	if (!lanes)
		return 0;
	memcpy(vl, lanes->vl, ROUTE_SLS);
	if (lanes->turns)
		return lanes->sls | routing_told_sls(routing);
	return (uint16_t)(((1u << lanes->n) - 1) << lanes->first | 1u << lanes->sm_sl |
			  routing_told_sls(routing));
}

uint16_t routing_turn_vls(const struct routing *routing, const struct fabric *fabric, uint32_t in,
			  uint32_t out, uint8_t vl[ROUTE_SLS])
{
	const struct fabric_port *from = &fabric->ports[in], *to = &fabric->ports[out];
	const struct fabric_node *node = &fabric->nodes[to->node];
	uint16_t sls = routing_sl_to_vl(routing, vl);

	if (!routing_has_turns(routing))
		return sls;
	if (routing->n_switches != fabric->n_switches ||
	    routing->lanes->turns->width[node->sw] != node->num_ports + 1)
		return 0; /* a port of another fabric */
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		vl[sl] = route_lanes_vl(routing->lanes, node->sw, from->num, to->num, sl);
	return sls;
}

uint16_t routing_end_vls(const struct routing *routing, unsigned int vls, uint8_t vl[ROUTE_SLS])
{
	const struct route_lanes *lanes = routing ? routing->lanes : NULL;

	if (!lanes || !lanes->level_ends)
		return 0;
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		vl[sl] = vls > 1 && (sl & lanes->levels);
	return lanes->sls;
}

bool routing_has_turns(const struct routing *routing)
{
	return routing && routing->lanes && routing->lanes->turns;
}

bool routing_has_sm_sl(const struct routing *routing)
{
	return routing && routing->lanes && routing->lanes->sm_by_path;
}

uint8_t routing_sm_sl(const struct routing *routing, const struct fabric *fabric, uint32_t port,
		      uint8_t sm_sl)
{
	if (!routing_has_sm_sl(routing) || port == FABRIC_NONE || fabric->sm_port == FABRIC_NONE ||
	    routing->n_switches != fabric->n_switches)
		return sm_sl;
	routing_path_sl(routing, fabric, port, fabric->sm_port, false, &sm_sl);
	return sm_sl;
}
