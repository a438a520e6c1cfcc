// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/test_sa_make.h"

#include <check.h>
#include <string.h>

#define TEST_TID UINT64_C(0x0123456789ABCDEF)

static void vary_port(struct builder_port *port, uint64_t *state)
{
	static const uint8_t widths[] = {IBA_WIDTH_1X, IBA_WIDTH_4X, IBA_WIDTH_12X};
	static const uint8_t speeds[] = {IBA_SPEED_SDR, IBA_SPEED_DDR, IBA_SPEED_QDR};
	struct iba_port_info *info = &port->info, *other = &port->peer->info;

	info->link_width_active = widths[make_number(state, 3)];
	info->link_speed_active = speeds[make_number(state, 3)];
	info->neighbor_mtu = 1 + make_number(state, 5);
	other->link_width_active = info->link_width_active;
	other->link_speed_active = info->link_speed_active;
	other->neighbor_mtu = info->neighbor_mtu;
}

static void vary(struct builder *builder, uint64_t seed)
{
	GPtrArray *order = builder_walk(builder);

	for (guint i = 0; i < order->len; i++) {
		struct builder_node *node = order->pdata[i];

		for (unsigned int num = 1; num <= node->info.num_ports; num++)
			if (node->ports[num].peer)
				vary_port(&node->ports[num], &seed);
	}
	g_ptr_array_unref(order);
}

static struct routing *route(const struct fabric *fabric)
{
	const struct route_engine *engine = route_find("minhop");
	struct route_input input = {.threads = 1};
	GError *error = NULL;
	struct routing *routing = route_compute(engine, fabric, &input, &error);

	if (!routing) /* not by check: benchmarks use this too */
		g_error("%s", error->message);
	return routing;
}

struct subnet *make_subnet(const char *spec, uint8_t lmc, uint64_t variety)
{
	struct builder *builder = make_builder_of(spec);
	struct options *options = options_new();
	struct partitions *partitions;
	struct routing *routing;
	struct fabric *fabric;
	struct subnet *subnet;

	options->sa_key = TEST_SA_KEY;
	options->subnet_prefix = UINT64_C(0xFEC0000000000123);
	make_lids(builder, lmc);
	if (variety)
		vary(builder, variety);
	fabric = builder_freeze(builder);
	builder_free(builder);
	routing = route(fabric);
	partitions = partitions_default(fabric);
	subnet = subnet_new(fabric, routing, partitions, options);
	fabric_unref(fabric);
	routing_unref(routing);
	partitions_unref(partitions);
	options_unref(options);
	return subnet;
}

static struct partitions *make_partitions(const struct fabric *fabric, const uint16_t (*rows)[4],
					  unsigned int n_rows)
{
	g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(struct partition_key));
	uint32_t n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const uint16_t *row;

		if (!fabric_is_endport(fabric, i))
			continue;
		row = rows[n++ % n_rows];
		for (unsigned int j = 0; j < 4 && row[j]; j++) {
			struct partition_key key = {i, row[j]};

			g_array_append_val(keys, key);
		}
	}
	return partitions_of_keys(fabric->n_ports, keys);
}

static int by_p_key(const void *a, const void *b)
{
	return ((const struct partition *)a)->p_key - ((const struct partition *)b)->p_key;
}

struct subnet *with_partitions(struct subnet *subnet, const uint16_t (*rows)[4],
			       unsigned int n_rows, const struct partition *all, unsigned int n)
{
	struct partitions *partitions = make_partitions(subnet->fabric, rows, n_rows);
	struct subnet *other;

	partitions->n = n;
	partitions->all = g_new0(struct partition, n);
	for (unsigned int i = 0; i < n; i++) {
		partitions->all[i] = all[i];
		partitions->all[i].name = g_strdup(all[i].name);
		partitions->all[i].groups =
			g_memdup2(all[i].groups, all[i].n_groups * sizeof(*all[i].groups));
	}
	if (n)
		qsort(partitions->all, n, sizeof(*all), by_p_key);
	other = subnet_new(subnet->fabric, subnet->routing, partitions, subnet->options);
	partitions_unref(partitions);
	subnet_unref(subnet);
	return other;
}

uint32_t endport(const struct subnet *subnet, unsigned int n, bool ca_only)
{
	const struct fabric *fabric = subnet->fabric;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric_is_endport(fabric, i) && fabric->ports[i].lid &&
		    !(ca_only && fabric_is_switch(fabric, fabric->ports[i].node)) && n-- == 0)
			return i;
	g_error("no such endport");
}

unsigned int n_endports(const struct subnet *subnet)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < subnet->fabric->n_ports; i++)
		n += fabric_is_endport(subnet->fabric, i) && subnet->fabric->ports[i].lid;
	return n;
}

void ask_encode(const struct ask *ask, uint8_t octets[IBA_MAD_BYTES])
{
	struct iba_mad_header header = {
		.base_version = 1,
		.mgmt_class = IBA_CLASS_SUBN_ADM,
		.class_version = 2,
		.method = ask->method,
		.transaction_id = TEST_TID,
		.attribute_id = ask->attribute,
		.attribute_modifier = ask->modifier,
	};
	struct iba_sa_header sa = {.sm_key = ask->sm_key, .component_mask = ask->mask};

	memset(octets, 0, IBA_MAD_BYTES);
	wire_encode(&iba_mad_header_type, &header, octets);
	wire_encode(&iba_sa_header_type, &sa, octets + 36);
	if (ask->type)
		wire_encode(ask->type, ask->record, octets + IBA_SA_DATA_OFFSET);
}

static struct subnet_view *make_view(const struct ask *ask, const struct sa_registries *registries)
{
	struct subnet_view *plain, *view;

	if (!ask->subnet)
		return NULL;
	plain = subnet_view_new(subnet_ref((void *)ask->subnet));
	if (!registries->aliases)
		return plain;
	view = subnet_view_with(plain, (void *)sa_aliases_now(registries->aliases));
	subnet_view_unref(plain);
	return view;
}

static struct told tell_with(const struct ask *ask, const struct sa_registries *registries,
			     const uint8_t *data, size_t length)
{
	struct vendor_address from = {.qpn = 1, .p_key_index = ask->p_key_index};
	struct subnet_view *view = make_view(ask, registries);
	struct told told = {0};
	struct sa_query query;

	from.has_grh = ask->grh_guid != 0;
	from.gid = (struct iba_gid){IBA_DEFAULT_GID_PREFIX, ask->grh_guid};
	if (ask->subnet && ask->from != FABRIC_NONE)
		from.lid = ask->subnet->fabric->ports[ask->from].lid;
	told.answered = sa_query_begin(&query, view, &from, data, length);
	if (!told.answered) {
		subnet_view_unref(view);
		return told;
	}
	ck_assert(sa_query_place(&query) != SA_AT_REGISTRIES || registries->groups);
	query.inventory = ask->inventory;
	query.now = ask->now;
	sa_query_run(&query, registries);
	told.waits = query.waits;
	told.want = query.want;
	told.data = sa_query_finish(&query, &told.length);
	subnet_view_unref(view);
	ck_assert_uint_ge(told.length, IBA_SA_DATA_OFFSET);
	wire_decode(&iba_mad_header_type, told.data, &told.header);
	wire_decode(&iba_rmpp_header_type, told.data + 24, &told.rmpp);
	wire_decode(&iba_sa_header_type, told.data + 36, &told.sa);
	if (told.header.status != IBA_STATUS_OK)
		return told;
	if (told.header.method != IBA_METHOD_GET_RESP &&
	    told.header.method != IBA_METHOD_DELETE_RESP && told.sa.attribute_offset)
		told.n = (told.length - IBA_SA_DATA_OFFSET) / (told.sa.attribute_offset * 8u);
	else if (told.header.method == IBA_METHOD_GET_RESP ||
		 told.header.method == IBA_METHOD_DELETE_RESP)
		told.n = 1;
	return told;
}

struct told tell_octets(const struct ask *ask, const uint8_t *data, size_t length)
{
	struct sa_registries empty = sa_registries_new(0), registries = empty;
	struct told told;

	registries.groups = ask->store;
	told = tell_with(ask, ask->registries ? ask->registries : &registries, data, length);
	sa_registries_free(&empty);
	return told;
}

struct told tell(const struct ask *ask)
{
	uint8_t octets[IBA_MAD_BYTES];
	struct told told;

	ask_encode(ask, octets);
	told = tell_octets(ask, octets, sizeof(octets));
	ck_assert(told.answered);
	ck_assert(told.header.transaction_id == TEST_TID);
	ck_assert_uint_eq(told.header.attribute_id, ask->attribute);
	ck_assert(told.sa.sm_key == 0);
	return told;
}

void told_record(const struct told *told, const struct wire_type *type, unsigned int index,
		 void *record)
{
	size_t at = IBA_SA_DATA_OFFSET + index * told->sa.attribute_offset * 8u;

	ck_assert_uint_lt(index, told->n);
	ck_assert_uint_le(at + wire_bytes(type), told->length);
	wire_decode(type, told->data + at, record);
}

void told_clear(struct told *told)
{
	g_free(told->data);
	told->data = NULL;
}
