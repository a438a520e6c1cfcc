// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ports left behind by an SM: their MasterSMLID is that of an SM that is not there. It may have
 * died a moment ago, and may have written its last values after these were read.
 */
#include "sm/election/mastership.h"
#include "sm/sm_private.h"

static bool is_orphan(const struct sm *sm, const struct builder_port *port)
{
	uint16_t lid = port->info.master_sm_lid;
	const struct builder_port *master;

	if (!port->known || !lid || lid == sm->builder->sm_port->info.lid)
		return false;
	master = builder_port_by_lid(sm->builder, lid);
	return !master || !(master->info.capability_mask & IBA_PORT_CAP_SM);
}

bool orphans_are_there(const struct sm *sm)
{
	g_autoptr(GPtrArray) nodes = builder_order(sm->builder);
	uint16_t present = 0; /* LID of a present SM: nearly all ports have the same one */

	for (guint i = 0; i < nodes->len; i++) {
		const struct builder_node *node = nodes->pdata[i];

		for (unsigned int num = 0; num <= node->info.num_ports; num++) {
			const struct builder_port *port = &node->ports[num];

			if (!port->guid || port->info.master_sm_lid == present)
				continue; /* only endports have the field */
			if (is_orphan(sm, port))
				return true;
			present = port->info.master_sm_lid;
		}
	}
	return false;
}
