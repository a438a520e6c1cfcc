// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * GetTable of everything without transport: seconds, octets, and the peak of memory.
 *
 *	sa_tables [TOPOLOGY]
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/memory_used.h"
#include "tests/unit/test_sa_make.h"

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double peak_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

/* All ports alike, except for their GUIDs. */
static void equip(struct fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		struct iba_port_info *info = &fabric->ports[i].info;

		info->vl_cap = IBA_VLS_VL0_7;
		info->vl_arbitration_low_cap = info->vl_arbitration_high_cap = 8;
		info->capability_mask = IBA_PORT_CAP_SL_MAPPING;
		info->guid_cap = 128;
	}
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		fabric->nodes[i].info.partition_cap = 128;
}

static void put_all(struct inventory_maker *maker, const struct fabric *fabric,
		    enum inventory_kind kind)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct fabric_port *port = &fabric->ports[i];
		const struct fabric_node *node = &fabric->nodes[port->node];
		uint32_t n = inventory_blocks(fabric, i, kind);
		uint8_t blocks[16 * 64] = {0}, has[255];

		memset(has, true, n);
		memcpy(blocks, &port->guid, kind == INVENTORY_GUID_INFO ? sizeof(port->guid) : 0);
		if (n)
			inventory_put(maker, node->guid, node->num_ports + 1u, port->num, kind,
				      blocks, has, n, 1, 1);
	}
}

static struct inventory *make_inventory(struct fabric *fabric)
{
	static const enum inventory_kind kinds[] = {INVENTORY_VL_ARBITRATION, INVENTORY_GUID_INFO,
						    INVENTORY_P_KEYS, INVENTORY_SM_INFO};
	struct inventory_maker *maker = inventory_maker_new();
	struct inventory *inventory;
	size_t before = memory_used();
	double start = seconds();

	equip(fabric);
	for (unsigned int i = 0; i < G_N_ELEMENTS(kinds); i++)
		put_all(maker, fabric, kinds[i]);
	printf("inventory: %.3f s, ", seconds() - start);
	start = seconds();
	inventory = inventory_publish(maker);
	printf("published in %.4f s, %u different tables, %.1f MB\n", seconds() - start,
	       inventory_maker_lists(maker),
	       (double)(memory_used() - before) / 1e6);
	inventory_maker_free(maker);
	return inventory;
}

static void ask_all(const struct subnet_view *view, const struct inventory *inventory,
		    const struct sa_row *row)
{
	struct vendor_address from = {.lid = view->subnet->sm_lid, .qpn = 1};
	struct ask ask = {
		.method = IBA_METHOD_GET_TABLE,
		.attribute = row->attribute,
		.sm_key = TEST_SA_KEY,
	};
	uint8_t octets[IBA_MAD_BYTES], *data;
	struct sa_query query;
	double start = seconds();
	size_t length;

	ask_encode(&ask, octets);
	if (!sa_query_begin(&query, view, &from, octets, sizeof(octets)) ||
	    sa_query_place(&query) == SA_AT_REGISTRIES)
		return;
	query.inventory = inventory;
	query.now = 1;
	sa_query_run(&query, NULL);
	if (query.waits) {
		printf("%-32s to be read first\n", row->name);
		return;
	}
	data = sa_query_finish(&query, &length);
	printf("%-32s status 0x%04x, %8u records, %6.1f MB, %.3f s, peak %.0f MB\n", row->name,
	       query.status, query.reply.n_records, (double)length / 1e6, seconds() - start,
	       peak_mb());
	g_free(data);
}

int main(int argc, char *argv[])
{
	struct subnet *subnet = make_subnet(argc > 1 ? argv[1] : "fattree:16", 0, 0);
	struct subnet_view *view = subnet_view_new(subnet);
	struct inventory *inventory;
	unsigned int n;
	const struct sa_row *all = sa_rows(&n);

	printf("%u endports, %u ports; peak %.0f MB before\n", n_endports(subnet),
	       subnet->fabric->n_ports, peak_mb());
	inventory = make_inventory(subnet->fabric);
	for (unsigned int i = 0; i < n; i++)
		if (all[i].method == IBA_METHOD_GET_TABLE)
			ask_all(view, inventory, &all[i]);
	inventory_unref(inventory);
	subnet_view_unref(view);
	return 0;
}
