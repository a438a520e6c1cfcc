// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Any octets as requests to the SA of a small subnet, which a new registry serves one after the
 * other. An answer is a response to the same TID, whole records long.
 *
 * The first octet says whether there are broadcast groups to begin with. A request is two octets of
 * its length less the SA header, one that selects the requester, and the request itself.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/unit/test_sa_make.h"

#define REQUESTS_MAX 8
#define INPUT_MAX 2048
#define GUID_CAP 16

struct server {
	struct subnet *subnet;
	struct subnet_view *view;
};

static GByteArray *new_input(uint8_t first)
{
	return g_byte_array_append(g_byte_array_new(), &first, 1);
}

static void add_request(GByteArray *input, uint8_t from, const uint8_t *octets, size_t size)
{
	const uint8_t head[] = {(size - IBA_SA_DATA_OFFSET) >> 8, size - IBA_SA_DATA_OFFSET, from};

	g_byte_array_append(input, head, sizeof(head));
	g_byte_array_append(input, octets, size);
}

/* Without components, and with all. */
static void add_queries(GPtrArray *seeds, const struct sa_row *row)
{
	g_autofree void *host = g_malloc0(row->asks->size);
	size_t size = IBA_SA_DATA_OFFSET + wire_bytes(row->asks);

	for (unsigned int i = 0; i < 2; i++) {
		GByteArray *input = new_input(0);
		struct ask ask = {
			.method = row->method,
			.attribute = row->attribute,
			.mask = i ? UINT64_MAX : 0,
			.sm_key = TEST_SA_KEY,
			.type = row->asks,
			.record = host,
		};
		uint8_t octets[IBA_MAD_BYTES];

		ask_encode(&ask, octets);
		add_request(input, i, octets, MIN(size, sizeof(octets)));
		g_ptr_array_add(seeds, g_byte_array_free_to_bytes(input));
	}
}

static void add_path(GByteArray *input, const struct subnet *subnet)
{
	struct iba_path_record path = {
		.slid = subnet->fabric->ports[endport(subnet, 0, true)].lid,
		.dlid = subnet->fabric->ports[endport(subnet, 1, true)].lid,
		.numb_path = 1,
	};
	struct ask ask = {
		.method = IBA_METHOD_GET,
		.attribute = IBA_ATTR_PATH_RECORD,
		.mask = IBA_COMPONENT(path_record, slid) | IBA_COMPONENT(path_record, dlid),
		.type = &iba_path_record_type,
		.record = &path,
	};
	uint8_t octets[IBA_MAD_BYTES];

	ask_encode(&ask, octets);
	add_request(input, 1, octets, IBA_SA_DATA_OFFSET + wire_bytes(ask.type));
}

/* Join, as IPoIB does, or leave. */
static void add_join(GByteArray *input, const struct subnet *subnet, uint8_t who, bool join)
{
	struct iba_mc_member_record member = {
		.mgid = {UINT64_C(0xFF12401BFFFF0000), 0x16},
		.port_gid = {subnet->options->subnet_prefix,
			     subnet->fabric->ports[endport(subnet, who, true)].guid},
		.q_key = 0x0B1B,
		.p_key = 0xFFFF,
		.join_state = 1,
	};
	struct ask ask = {
		.method = join ? IBA_METHOD_SET : IBA_METHOD_DELETE,
		.attribute = IBA_ATTR_MC_MEMBER_RECORD,
		.mask = IBA_COMPONENT(mc_member_record, mgid) |
			IBA_COMPONENT(mc_member_record, port_gid) |
			IBA_COMPONENT(mc_member_record, q_key) |
			IBA_COMPONENT(mc_member_record, p_key) |
			IBA_COMPONENT(mc_member_record, join_state) |
			IBA_COMPONENT(mc_member_record, sl) |
			IBA_COMPONENT(mc_member_record, flow_label) |
			IBA_COMPONENT(mc_member_record, t_class),
		.type = &iba_mc_member_record_type,
		.record = &member,
	};
	uint8_t octets[IBA_MAD_BYTES];

	ask_encode(&ask, octets);
	add_request(input, who, octets, IBA_SA_DATA_OFFSET + wire_bytes(ask.type));
}

/* Two join, a path to the group, all members, both leave. */
static void add_life_of_group(GPtrArray *seeds, const struct subnet *subnet)
{
	GByteArray *input = new_input(0xFF);

	add_join(input, subnet, 0, true);
	add_join(input, subnet, 1, true);
	add_path(input, subnet);
	add_join(input, subnet, 0, false);
	add_join(input, subnet, 1, false);
	g_ptr_array_add(seeds, g_byte_array_free_to_bytes(input));
}

/* Two alias GUIDs, one of them released. */
static void add_aliases(GPtrArray *seeds, const struct subnet *subnet)
{
	const struct iba_guid_info_record record = {
		.lid = subnet->fabric->ports[endport(subnet, 1, false)].lid,
		.guid_info.guid = {[1] = 0x1234},
	};
	struct ask ask = {
		.attribute = IBA_ATTR_GUID_INFO_RECORD,
		.type = &iba_guid_info_record_type,
		.record = &record,
	};
	GByteArray *input = new_input(0);
	uint8_t octets[IBA_MAD_BYTES];

	ask.method = IBA_METHOD_SET;
	ask.mask = 0x63; /* LID, BlockNum, GID1, GID2 */
	ask_encode(&ask, octets);
	add_request(input, 1, octets, IBA_SA_DATA_OFFSET + wire_bytes(ask.type));
	ask.method = IBA_METHOD_DELETE;
	ask.mask = 0x23;
	ask_encode(&ask, octets);
	add_request(input, 1, octets, IBA_SA_DATA_OFFSET + wire_bytes(ask.type));
	g_ptr_array_add(seeds, g_byte_array_free_to_bytes(input));
}

/* Two of the paths from two hosts to two others. */
static void add_multi_path(GPtrArray *seeds, const struct subnet *subnet)
{
	const struct iba_multi_path_record record = {
		.sgid_count = 2,
		.dgid_count = 2,
		.numb_path = 2,
	};
	struct ask ask = {
		.method = IBA_METHOD_GET_MULTI,
		.attribute = IBA_ATTR_MULTI_PATH_RECORD,
		.mask = IBA_COMPONENT(multi_path_record, sgid_count) |
			IBA_COMPONENT(multi_path_record, dgid_count) |
			IBA_COMPONENT(multi_path_record, numb_path),
		.type = &iba_multi_path_record_type,
		.record = &record,
	};
	size_t size = IBA_SA_DATA_OFFSET + wire_bytes(ask.type);
	GByteArray *input = new_input(0);
	uint8_t octets[IBA_MAD_BYTES];

	ask_encode(&ask, octets);
	for (unsigned int i = 0; i < 4; i++, size += iba_gid_bytes) {
		const struct iba_gid gid = {
			subnet->options->subnet_prefix,
			subnet->fabric->ports[endport(subnet, i, true)].guid,
		};

		wire_encode(&iba_gid_type, &gid, octets + size);
	}
	add_request(input, 0, octets, size);
	g_ptr_array_add(seeds, g_byte_array_free_to_bytes(input));
}

static void *setup(GPtrArray *seeds)
{
	struct server *server = g_new(struct server, 1);
	unsigned int n;
	const struct sa_row *rows = sa_rows(&n);

	server->subnet = make_subnet("mesh:2x2", 1, 1);
	for (uint32_t i = 0; i < server->subnet->fabric->n_ports; i++)
		((struct fabric_port *)server->subnet->fabric->ports)[i].info.guid_cap = GUID_CAP;
	server->view = subnet_view_new(subnet_ref(server->subnet));
	for (unsigned int i = 0; i < n; i++)
		add_queries(seeds, &rows[i]);
	add_life_of_group(seeds, server->subnet);
	add_multi_path(seeds, server->subnet);
	add_aliases(seeds, server->subnet);
	return server;
}

static void check_answer(const uint8_t *request, const uint8_t *answer, size_t length)
{
	struct iba_mad_header asked, told;
	struct iba_sa_header sa;

	fuzz_expect(length >= IBA_SA_DATA_OFFSET);
	wire_decode(&iba_mad_header_type, request, &asked);
	wire_decode(&iba_mad_header_type, answer, &told);
	wire_decode(&iba_sa_header_type, answer + 36, &sa);
	fuzz_expect(told.transaction_id == asked.transaction_id);
	fuzz_expect(told.mgmt_class == asked.mgmt_class);
	fuzz_expect(told.method & 0x80);
	fuzz_expect(sa.sm_key == 0);
}

static void ask_octets(const struct server *server, const struct sa_registries *registries,
		       uint8_t who, const uint8_t *data, size_t size)
{
	const struct subnet *subnet = server->subnet;
	struct vendor_address from = {.qpn = 1};
	g_autofree uint8_t *answer = NULL;
	struct subnet_view *view;
	struct sa_query query;
	size_t length;

	if (who < 0xF0) /* else an unknown LID */
		from.lid = subnet->fabric->ports[endport(subnet, who % 4, who & 4)].lid;
	view = subnet_view_with(server->view, (void *)sa_aliases_now(registries->aliases));
	if (sa_query_begin(&query, view, &from, data, size)) {
		sa_query_run(&query, registries);
		answer = sa_query_finish(&query, &length);
		check_answer(data, answer, length);
	}
	subnet_view_unref(view);
}

/* Each alias is found by its GUID, at its endport. */
static void check_aliases(const struct alias_guids *aliases)
{
	guint n = 0;

	for (guint i = 0; i < aliases->by_port->len; i++) {
		const struct alias_guid *alias = alias_guids_at(aliases->by_port, i), *found;

		found = alias->guid ? alias_guids_find(aliases, alias->guid) : NULL;
		fuzz_expect(!alias->guid ||
			    (found && found->port == alias->port && found->index == alias->index));
		fuzz_expect(alias->index && alias->index < GUID_CAP);
		n += alias->guid != 0;
	}
	fuzz_expect(n == aliases->by_guid->len);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	const struct server *server = state;
	struct fuzz_bytes bytes = {data, size};
	struct sa_registries registries = sa_registries_new(0);

	if (fuzz_octet(&bytes) == 0xFF) /* rarely: it takes longer than many requests */
		sa_store_follow(registries.groups, server->subnet, 0);
	for (unsigned int i = 0; i < REQUESTS_MAX && bytes.left; i++) {
		size_t high = fuzz_octet(&bytes), low = fuzz_octet(&bytes);
		size_t length = MIN(IBA_SA_DATA_OFFSET + (high << 8 | low), INPUT_MAX);
		uint8_t who = fuzz_octet(&bytes);
		/* Short requests stay short, and end where a sanitizer sees it. */
		size_t there = MIN(length, bytes.left);
		g_autofree uint8_t *request = g_malloc(there);

		fuzz_take(&bytes, request, there);
		ask_octets(server, &registries, who, request, there);
	}
	check_aliases(sa_aliases_now(registries.aliases));
	sa_registries_free(&registries);
}

static void teardown(void *state)
{
	struct server *server = state;

	subnet_view_unref(server->view);
	subnet_unref(server->subnet);
	g_free(server);
}

const struct fuzz_target fuzz_target = {
	.name = "sa",
	.max_size = INPUT_MAX,
	.runs = 10000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
