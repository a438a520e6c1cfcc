// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/ssa_tables.h"

#include <string.h>

struct making {
	struct ssa_made *made;
	const struct ssa_size *size;
	GRand *rand;
	uint32_t n_switches, n_hosts, lids;
};

uint64_t ssa_tables_guid(uint32_t n)
{
	/* As vendors give them: ascending, in steps that vary. */
	return UINT64_C(0x0002C90300000000) + n * UINT64_C(1000) + n * UINT32_C(2654435761) % 997;
}

static uint32_t first_host_lid(const struct ssa_size *size)
{
	uint32_t step = 1u << size->lmc;

	return (size->leaves + size->spines + step) / step * step;
}

uint16_t ssa_tables_lid(const struct ssa_size *size, uint32_t n)
{
	return (uint16_t)(first_host_lid(size) + (n << size->lmc));
}

static void *add(struct making *making, enum ssa_table_id id, uint32_t row_size, uint64_t rows)
{
	struct ssa_rows *table = &making->made->rows[id];
	uint8_t *data = g_malloc0(row_size * rows);

	table->row_size = row_size;
	table->rows = rows;
	table->bytes = g_bytes_new_take(data, row_size * rows);
	return data;
}

void ssa_tables_replace(struct ssa_made *made, enum ssa_table_id id, GBytes *bytes)
{
	struct ssa_rows *table = &made->rows[id];

	g_clear_pointer(&table->bytes, g_bytes_unref);
	table->bytes = bytes;
	table->rows = g_bytes_get_size(bytes) / table->row_size;
	memset(table->hash, 0, sizeof(table->hash));
}

static void make_subnet(struct making *making)
{
	struct ssa_subnet *subnet = add(making, SSA_SUBNET, sizeof(*subnet), 1);
	uint8_t *rates = add(making, SSA_RATES, 64, 2);

	subnet->prefix = ssa_64(SSA_TABLES_PREFIX);
	subnet->n_classes = ssa_32(making->size->classes);
	subnet->max_lid = ssa_16((uint16_t)(making->lids - 1));
	subnet->lanes = making->size->lanes ? SSA_LANES_PAIRS : SSA_LANES_FREE;
	subnet->hop_limit = 64;
	for (uint8_t rank = 1; rank < 8; rank++)
		subnet->rank_rate[rank] = rank + 1;
	for (uint8_t i = 0; i < 128; i++)
		rates[i] = i % 64;
}

static void make_switches(struct making *making)
{
	struct ssa_switch *sw =
		add(making, SSA_SWITCHES, sizeof(struct ssa_switch), making->n_switches);

	for (uint32_t i = 0; i < making->n_switches; i++) {
		sw[i].guid = ssa_64(UINT64_C(0x00066A0000000000) + i * UINT64_C(512));
		sw[i].row = ssa_32(i < making->size->leaves ? i : SSA_NONE);
		sw[i].lid = ssa_16((uint16_t)(i + 1));
	}
}

static void make_ports(struct making *making)
{
	const struct ssa_size *size = making->size;
	struct ssa_endport *port = add(making, SSA_ENDPORTS, sizeof(*port), making->n_hosts);
	char *names = add(making, SSA_DESCRIPTIONS, 72, making->n_hosts);

	for (uint32_t i = 0; i < making->n_hosts; i++) {
		port[i] = (struct ssa_endport){
			.guid = ssa_64(ssa_tables_guid(i)),
			.sw = ssa_32(i / size->hosts),
			.peer = ssa_32(SSA_NONE),
			.class = ssa_32(g_rand_int_range(making->rand, 0, (gint32)size->classes)),
			.lid = ssa_16(ssa_tables_lid(size, i)),
			.lmc = size->lmc,
			.kind = SSA_CA,
			.own = ssa_way(5, 7),
			.inside = ssa_way(5, 7),
			.rates = 1,
			.port = 1,
		};
		g_snprintf(names + (size_t)i * 72, 72, "node%05u HCA-1", i);
	}
}

static void make_policy(struct making *making)
{
	uint32_t classes = making->size->classes;
	uint32_t *pair = add(making, SSA_PAIRS, sizeof(*pair), (uint64_t)classes * classes);
	struct ssa_verdict *verdict = add(making, SSA_VERDICTS, sizeof(*verdict), 2);

	for (uint32_t i = 0; i < classes * classes; i++)
		pair[i] = ssa_32(g_rand_int_range(making->rand, 0, 2));
	for (unsigned int i = 0; i < 2; i++)
		verdict[i] = (struct ssa_verdict){.p_key = 0xFFFF,
						  .flags = SSA_VERDICT_LAST | SSA_VERDICT_KNOWN,
						  .sl = (uint8_t)i,
						  .life = 18};
}

/* What is true of a LID is so in all rows, but for a few. */
static void make_ways(struct making *making)
{
	uint32_t leaves = making->size->leaves, bits = (making->n_switches + 7) / 8;
	uint8_t *paths = add(making, SSA_PATHS, making->lids, leaves);
	uint8_t *reach = add(making, SSA_REACH, bits, making->lids);

	for (uint32_t lid = 0; lid < making->lids; lid++)
		paths[lid] = ssa_way(5, g_rand_int_range(making->rand, 0, 50) ? 7 : 6);
	for (uint32_t row = 1; row < leaves; row++)
		memcpy(paths + (size_t)row * making->lids, paths, making->lids);
	for (uint32_t i = 0; i < leaves * 4; i++) {
		uint32_t row = g_rand_int_range(making->rand, 0, (gint32)leaves);
		uint32_t lid = g_rand_int_range(making->rand, 0, (gint32)making->lids);

		paths[(size_t)row * making->lids + lid] = ssa_way(4, 5);
		reach[(size_t)lid * bits + row / 8] |= (uint8_t)(1u << row % 8);
	}
	for (size_t i = 0; i < (size_t)bits * making->lids; i++)
		reach[i] ^= 0xFF;
}

static void make_lanes(struct making *making)
{
	uint8_t *lanes = add(making, SSA_LANES, making->n_switches, making->size->leaves);

	for (size_t i = 0; i < (size_t)making->n_switches * making->size->leaves; i++)
		lanes[i] = (uint8_t)g_rand_int_range(making->rand, 0, 8);
}

static void make_addresses(struct making *making)
{
	uint32_t n = making->size->addresses;
	struct ssa_name *name = add(making, SSA_NAMES, sizeof(*name), n);
	struct ssa_ipv4 *ipv4 = add(making, SSA_IPV4, sizeof(*ipv4), n);
	struct ssa_ipv6 *ipv6 = add(making, SSA_IPV6, sizeof(*ipv6), n);

	for (uint32_t i = 0; i < n; i++) {
		uint64_t guid = GUINT64_TO_BE(ssa_tables_guid(i % making->n_hosts));
		uint32_t address = GUINT32_TO_BE(0x0A000000 + i);
		struct ssa_address_rest rest = {
			.gid = {0xFE, 0x80}, .p_key = 0xFFFF, .flags = SSA_ADDRESS_RC};

		memcpy(rest.gid + 8, &guid, sizeof(guid));
		rest.qpn[1] = (uint8_t)g_rand_int(making->rand);
		g_snprintf(name[i].name, sizeof(name[i].name), "node%05u-ib0", i);
		memcpy(ipv4[i].address, &address, sizeof(address));
		memcpy(ipv6[i].address + 12, &address, sizeof(address));
		name[i].rest = ipv4[i].rest = ipv6[i].rest = rest;
	}
}

void ssa_tables_make(struct ssa_made *made, const struct ssa_size *size, uint32_t seed)
{
	struct making making = {
		.made = made,
		.size = size,
		.rand = g_rand_new_with_seed(seed),
		.n_switches = size->leaves + size->spines,
		.n_hosts = size->leaves * size->hosts,
	};

	*made = (struct ssa_made){.prefix = SSA_TABLES_PREFIX,
				  .term = 1,
				  .epoch = 1,
				  .time_us = 1795910400000000,
				  .sm_guid = ssa_tables_guid(0)};
	making.lids = first_host_lid(size) + (making.n_hosts << size->lmc);
	make_subnet(&making);
	make_switches(&making);
	make_ports(&making);
	make_policy(&making);
	make_ways(&making);
	if (size->lanes)
		make_lanes(&making);
	make_addresses(&making);
	add(&making, SSA_ALIASES, sizeof(struct ssa_alias), 0);
	for (unsigned int id = 1; id < SSA_TABLE_END; id++)
		if (made->rows[id].bytes)
			made->rows[id].epoch = made->epoch;
	g_rand_free(making.rand);
}
