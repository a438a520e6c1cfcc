// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Switches are found by node GUID, LIDs by the port GUID beside them if there is one. Switches and
 * LIDs that are not in the fabric are skipped; a port that a switch does not have is left to the
 * verifier.
 */
#include "osmroute/tables.h"

/* The present LID of an entry; 0 if its owner is not in the fabric. */
static uint16_t lid_of(const struct fabric *fabric, const struct route_lft_entry *entry)
{
	uint32_t port = entry->guid ? fabric_port_by_guid(fabric, entry->guid)
				    : fabric_port_by_lid(fabric, entry->lid);
	uint16_t offset;

	if (port == FABRIC_NONE || !fabric->ports[port].lid)
		return 0;
	offset = entry->lid & ((1u << fabric->ports[port].lmc) - 1);
	return entry->guid ? fabric->ports[port].lid + offset : entry->lid;
}

static void take_switch(const struct fabric *fabric, const struct route_lfts *lfts,
			const struct route_lft *lft, struct routing *routing, uint32_t sw)
{
	for (uint32_t i = lft->first; i < lft->first + lft->n; i++) {
		uint16_t lid = lid_of(fabric, &lfts->entries[i]);

		if (lid)
			routing->lft[sw][lid] = lfts->entries[i].port;
	}
}

static struct routing *tables_compute(const struct route_engine *engine,
				      const struct fabric *fabric, const struct route_input *input,
				      GError **error)
{
	const struct route_lfts *lfts = &input->lfts;
	struct routing *routing;

	if (!lfts->file) {
		g_set_error_literal(error, ROUTE_ERROR, ROUTE_ERROR_INPUT, "no tables were given");
		return NULL;
	}
	routing = routing_new(fabric, engine, engine->promises);
	for (uint32_t i = 0; i < lfts->n; i++) {
		uint32_t node = fabric_node_by_guid(fabric, lfts->lfts[i].guid);

		if (node != FABRIC_NONE && fabric_is_switch(fabric, node))
			take_switch(fabric, lfts, &lfts->lfts[i], routing, fabric->nodes[node].sw);
	}
	return routing;
}

const struct route_engine tables_engine = {
	.name = "tables",
	.summary = "existing tables of a file",
	.compute = tables_compute,
};
