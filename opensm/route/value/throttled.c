// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Cables at full width and speed join switches to parts of the network; slower cables between parts
 * stay, because there is no other path.
 */
#include "route/value/throttled.h"

#include <glib.h>

#include "fabric/link_quality.h"
#include "route/order/orient.h"

bool route_is_throttled(const struct fabric *fabric, uint32_t port)
{
	uint32_t peer = fabric->ports[port].peer;

	return peer != FABRIC_NONE && (link_issues(fabric, port) | link_issues(fabric, peer)) &
					      (LINK_REDUCED_WIDTH | LINK_REDUCED_SPEED);
}

bool *route_throttled(const struct fabric *fabric, uint32_t *n, uint32_t *n_stay)
{
	g_autofree bool *throttled = g_new0(bool, fabric->n_ports + 1);
	g_autofree uint32_t *part = NULL;
	struct route_graph *full;
	bool any = false;

	*n = *n_stay = 0;
	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		throttled[port] = fabric->nodes[fabric->ports[port].node].sw != FABRIC_NONE &&
				  route_switch_across(fabric, port) != FABRIC_NONE &&
				  route_is_throttled(fabric, port);
		any |= throttled[port];
	}
	if (!any)
		return NULL;
	full = route_graph_new_without(fabric, throttled);
	part = route_parts(full, NULL);
	route_graph_free(full);
	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		bool *is = &throttled[port];

		if (!*is)
			continue;
		*is = part[fabric->nodes[fabric->ports[port].node].sw] ==
		      part[route_switch_across(fabric, port)];
		*(*is ? n : n_stay) += port < fabric->ports[port].peer;
	}
	return g_steal_pointer(&throttled);
}
