// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Looks up each GUID of the files in the subnet. */
#include "policy/files/unknown_guids.h"

#include <inttypes.h>

struct count {
	const char *option, *expected;
	uint32_t n, strangers;
	uint64_t first;
	const char *what; /* what is wrong with the first one */
};

/* Why this is not a GUID of an endport; NULL if it is. */
static const char *port_fault(const struct fabric *fabric, uint64_t guid)
{
	if (fabric_port_by_guid(fabric, guid) != FABRIC_NONE)
		return NULL;
	return fabric_node_by_guid(fabric, guid) != FABRIC_NONE ? "is that of a node"
								: "is not in the subnet";
}

static const char *switch_fault(const struct fabric *fabric, uint64_t guid)
{
	uint32_t node = fabric_node_by_guid(fabric, guid);

	if (node != FABRIC_NONE)
		return fabric_is_switch(fabric, node) ? NULL : "is not a switch";
	return fabric_port_by_guid(fabric, guid) != FABRIC_NONE ? "is that of a port"
								: "is not in the subnet";
}

static const char *endport_fault(const struct fabric *fabric, const struct route_endport *endport)
{
	uint32_t node;

	if (endport->num < 0)
		return port_fault(fabric, endport->guid);
	node = fabric_node_by_guid(fabric, endport->guid);
	if (node == FABRIC_NONE)
		return fabric_port_by_guid(fabric, endport->guid) != FABRIC_NONE
			       ? "is that of a port, but a port number follows"
			       : "is not in the subnet";
	return endport->num > fabric->nodes[node].num_ports ? "has no port of that number" : NULL;
}

/* Bits of partitions that have endports in the fabric. */
static uint64_t inhabited(const struct fabric *fabric, const struct route_ties *ties)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		bits |= ties->partitions[i];
	return bits;
}

static const char *tie_fault(const struct fabric *fabric, const struct route_tie *tie,
			     uint64_t inhabited)
{
	const struct route_endport port = {tie->guid, tie->port};
	const char *fault = switch_fault(fabric, tie->guid);

	if (!fault)
		fault = endport_fault(fabric, &port);
	return fault || tie->partitions & inhabited ? fault : "names a partition without members";
}

static void add(struct count *count, uint64_t guid, const char *fault)
{
	count->n++;
	if (fault && !count->strangers++) {
		count->first = guid;
		count->what = fault;
	}
}

static void finish(GString *text, const struct count *count)
{
	if (count->strangers)
		g_string_append_printf(text, "%s%s: %u of %u lines name no %s of the subnet "
				       "(0x%016" PRIx64 " %s)", text->len ? "; " : "",
				       count->option, count->strangers, count->n, count->expected,
				       count->first, count->what);
}

static void look_at_ties(GString *text, const struct fabric *fabric, const struct route_ties *ties)
{
	struct count count = {"partition_links_file", "switch, port or partition"};
	uint64_t bits = ties ? inhabited(fabric, ties) : 0;

	for (uint32_t i = 0; ties && i < ties->n; i++)
		add(&count, ties->ties[i].guid, tie_fault(fabric, &ties->ties[i], bits));
	finish(text, &count);
}

static void look_at_ports(GString *text, const char *option, const struct fabric *fabric,
			  const uint64_t *guids, uint32_t n)
{
	struct count count = {option, "port"};

	for (uint32_t i = 0; i < n; i++)
		add(&count, guids[i], port_fault(fabric, guids[i]));
	finish(text, &count);
}

char *unknown_guids_tell(const struct fabric *fabric, const struct route_input *input)
{
	struct count ids = {"ids_guid_file", "switch"};
	struct count orders = {"port_search_ordering_file", "switch"};
	struct count ignored = {"port_prof_ignore_file", "port"};
	GString *text = g_string_new(NULL);

	look_at_ports(text, "cn_guid_file", fabric, input->compute, input->n_compute);
	look_at_ports(text, "io_guid_file", fabric, input->io, input->n_io);
	look_at_ports(text, "guid_routing_order_file", fabric, input->ahead, input->n_ahead);
	for (uint32_t i = 0; i < input->n_ids; i++)
		add(&ids, input->ids[i].guid, switch_fault(fabric, input->ids[i].guid));
	finish(text, &ids);
	for (uint32_t i = 0; i < input->n_port_orders; i++)
		add(&orders, input->port_orders[i].guid,
		    switch_fault(fabric, input->port_orders[i].guid));
	finish(text, &orders);
	for (uint32_t i = 0; i < input->n_ignored; i++)
		add(&ignored, input->ignored[i].guid, endport_fault(fabric, &input->ignored[i]));
	finish(text, &ignored);
	look_at_ties(text, fabric, input->ties);
	return g_string_free(text, !text->len);
}
