// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a plug-in wrote as forwarding tables, lanes and turns: whatever it is, it is refused, or it
 * is a routing that can be verified and used.
 */
#include <string.h>

#include "plugin/base/route_sections.h"
#include "plugin/engine/exchange.h"
#include "route/value/lanes.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/fabric_make.h"

struct bed {
	struct fabric *fabric;
	struct route_input input;
	struct route_engine engine;
};

/* Sections in the order in which input fills them. */
static const unsigned int sections[] = {ROUTE_OUT_HEAD, ROUTE_OUT_ORDER, ROUTE_OUT_SL,
					ROUTE_OUT_LFT, ROUTE_OUT_TURNS};

static void *setup(GPtrArray *seeds)
{
	struct bed *bed = g_new0(struct bed, 1);
	struct route_output_head head = {.promises = 3, .note = "a note"};

	bed->fabric = make_fabric("torus:3x3:1", 0);
	bed->input = (struct route_input){.threads = 1};
	bed->engine = (struct route_engine){.name = "fuzz"};
	for (unsigned int i = 0; i < 8; i++) {
		head.has_sls = i & 1;
		head.has_turns = i & 2;
		head.has_order = i & 4;
		g_ptr_array_add(seeds, g_bytes_new(&head, sizeof(head)));
	}
	return bed;
}

static void use(const struct bed *bed, struct routing *routing)
{
	const struct fabric *fabric = bed->fabric;
	struct route_verdict verdict;
	uint8_t vl[ROUTE_SLS], sl = 0;

	route_verify_by(fabric, routing, &bed->input, &verdict);
	route_verdict_clear(&verdict);
	routing_sl_to_vl(routing, vl);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric_is_endport(fabric, i))
			routing_path_sl(routing, fabric, fabric->sm_port, i, false, &sl);
	for (uint32_t sw = 0; sw < routing->n_switches; sw++)
		fuzz_expect(!routing->order || routing->order[sw] < routing->n_switches);
	route_multicast_base_free(route_multicast_base_new(fabric, routing, 0));
}

static void run(void *state, const uint8_t *data, size_t size)
{
	const struct bed *bed = state;
	g_autoptr(GError) error = NULL;
	struct routing *routing;
	struct block block;

	fuzz_expect(exchange_output(&block, bed->fabric, &bed->input, NULL));
	for (unsigned int i = 0; i < G_N_ELEMENTS(sections); i++) {
		uint32_t element;
		uint64_t n;
		void *at = block_section(&block, sections[i], 1, &n, &element);
		size_t octets = MIN(size, n * element);

		memcpy(at, data, octets);
		data += octets;
		size -= octets;
	}
	routing = exchange_take(&block, &bed->engine, bed->fabric, &bed->input, &error);
	fuzz_expect(!routing == !!error);
	if (routing)
		use(bed, routing);
	routing_unref(routing);
	block_clear(&block);
}

static void teardown(void *state)
{
	struct bed *bed = state;

	fabric_unref(bed->fabric);
	g_free(bed);
}

const struct fuzz_target fuzz_target = {
	.name = "route_output",
	.max_size = 8192,
	.runs = 3000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
