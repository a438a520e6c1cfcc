// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Cables at full width and speed join switches to parts of the network; what leads from part to
 * part at less than that stays, for there is no other way.
 */
#include "route/throttled.h"

#include <glib.h>

#include "fabric/link_quality.h"
#include "route/graph.h"

static bool is_reduced(const struct fabric *fabric, uint32_t port)
{
	return link_issues(fabric, port) & (LINK_REDUCED_WIDTH | LINK_REDUCED_SPEED);
}

bool route_is_throttled(const struct fabric *fabric, uint32_t port)
{
	uint32_t peer = fabric->ports[port].peer;

	return peer != FABRIC_NONE && (is_reduced(fabric, port) || is_reduced(fabric, peer));
}

/* Some switch of the part in which a switch is, the same one for all of it. */
static uint32_t part_of(uint32_t *part, uint32_t sw)
{
	while (part[sw] != sw)
		sw = part[sw] = part[part[sw]];
	return sw;
}

/* Notes which cables between switches are throttled, and joins switches by the others. */
static bool join_parts(const struct fabric *fabric, bool *throttled, uint32_t *part)
{
	bool any = false;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		part[sw] = sw;
	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		uint32_t a = fabric->nodes[fabric->ports[port].node].sw;
		uint32_t b = route_switch_across(fabric, port);

		if (a == FABRIC_NONE || b == FABRIC_NONE)
			continue;
		throttled[port] = route_is_throttled(fabric, port);
		any |= throttled[port];
		if (!throttled[port])
			part[part_of(part, a)] = part_of(part, b);
	}
	return any;
}

bool *route_throttled(const struct fabric *fabric, uint32_t *n, uint32_t *n_stay)
{
	bool *throttled = g_new0(bool, fabric->n_ports + 1);
	g_autofree uint32_t *part = g_new(uint32_t, fabric->n_switches + 1);
	bool any = join_parts(fabric, throttled, part);

	*n = *n_stay = 0;
	for (uint32_t port = 0; any && port < fabric->n_ports; port++) {
		uint32_t peer = fabric->ports[port].peer;

		if (!throttled[port])
			continue;
		throttled[port] =
			part_of(part, fabric->nodes[fabric->ports[port].node].sw) ==
			part_of(part, route_switch_across(fabric, port));
		*n += throttled[port] && port < peer;
		*n_stay += !throttled[port] && port < peer;
	}
	if (!any)
		g_clear_pointer(&throttled, g_free);
	return throttled;
}
