// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/lanes.h"

#include <string.h>

#include "iba/codes.h"

static unsigned int vls_of(const struct fabric *fabric, uint32_t port)
{
	return iba_vls_count(fabric->ports[port].info.vl_cap);
}

unsigned int route_data_vls(const struct fabric *fabric, const struct route_input *input)
{
	unsigned int least = input->vls ? input->vls : 15;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct fabric_port *port = &fabric->ports[i];

		if (port->num && port->peer != FABRIC_NONE &&
		    fabric_is_switch(fabric, port->node) &&
		    fabric_is_switch(fabric, fabric->ports[port->peer].node))
			least = MIN(least, MAX(vls_of(fabric, i), 1));
	}
	return least;
}

void route_lanes_free(struct route_lanes *lanes)
{
	if (!lanes)
		return;
	g_free(lanes->sl);
	g_free(lanes);
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
	if (lane == ROUTE_NO_SL || (fixed && *sl != lane))
		return false;
	*sl = lane;
	return true;
}

uint16_t routing_sl_to_vl(const struct routing *routing, uint8_t vl[ROUTE_SLS])
{
	const struct route_lanes *lanes = routing ? routing->lanes : NULL;

	if (!lanes)
		return 0;
	memcpy(vl, lanes->vl, ROUTE_SLS);
	return (uint16_t)(((1u << lanes->n) - 1) << lanes->first | 1u << lanes->sm_sl);
}
