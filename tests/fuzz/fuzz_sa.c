// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Any octets as a query to the SA of a small subnet, with the registry that earlier ones left
 * behind. An answer is a response to the same TID, whole records long.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/test_sa_make.h"

#define QUERY_MAX 1024

struct server {
	struct subnet *subnet;
	struct sa_view *view;
	struct sa_store *store;
};

/* A wildcard and an all-components query of each record, and a join. */
static void add_queries(GPtrArray *seeds, const struct sa_record *record)
{
	static const uint8_t methods[] = {IBA_METHOD_GET, IBA_METHOD_GET_TABLE, IBA_METHOD_SET,
					  IBA_METHOD_DELETE};
	g_autofree void *host = g_malloc0(record->type->size);

	for (unsigned int i = 0; i < 2 * G_N_ELEMENTS(methods); i++) {
		struct ask ask = {
			.method = methods[i / 2],
			.attribute = record->attribute,
			.mask = i % 2 ? UINT64_MAX : 0,
			.sm_key = TEST_SA_KEY,
			.type = record->type,
			.record = host,
		};
		uint8_t octets[IBA_MAD_BYTES];

		ask_encode(&ask, octets);
		g_ptr_array_add(seeds, g_bytes_new(octets, sizeof(octets)));
	}
}

static void add_path(GPtrArray *seeds, const struct subnet *subnet)
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
	g_ptr_array_add(seeds, g_bytes_new(octets, sizeof(octets)));
}

static void *setup(GPtrArray *seeds)
{
	struct server *server = g_new(struct server, 1);
	unsigned int n;
	const struct sa_record *records = sa_records(&n);

	server->subnet = make_subnet("fattree:4", 1, 1);
	server->view = sa_view_new(subnet_ref(server->subnet));
	server->store = sa_store_new();
	for (unsigned int i = 0; i < n; i++)
		add_queries(seeds, &records[i]);
	add_path(seeds, server->subnet);
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

static void run(void *state, const uint8_t *data, size_t size)
{
	struct server *server = state;
	const struct subnet *subnet = server->subnet;
	struct vendor_address from = {.qpn = 1};
	g_autofree uint8_t *answer = NULL;
	struct sa_query query;
	size_t length;

	from.lid = subnet->fabric->ports[endport(subnet, size ? data[size - 1] % 4 : 0, false)].lid;
	if (!sa_query_begin(&query, server->view, &from, data, size))
		return;
	sa_query_run(&query, server->store);
	answer = sa_query_finish(&query, &length);
	check_answer(data, answer, length);
}

static void teardown(void *state)
{
	struct server *server = state;

	sa_store_free(server->store);
	sa_view_unref(server->view);
	subnet_unref(server->subnet);
	g_free(server);
}

const struct fuzz_target fuzz_target = {
	.name = "sa",
	.max_size = QUERY_MAX,
	.runs = 50000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
