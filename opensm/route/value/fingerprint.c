// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Most heavy sweeps find the same as the one before. The fabric that a routing was made for is kept
 * for comparison: nodes, cables and LIDs, in the order of the fabric, which is the same for equal
 * subnets. The operator's input can be long (forwarding tables in a file), so only a digest of it
 * is kept.
 */
#include "route/value/fingerprint.h"

#include <glib.h>
#include <stddef.h>
#include <string.h>

#include "route/value/throttled.h"

/* ---- the operator's input ---- */

static void add(GChecksum *sum, const void *data, size_t size)
{
	g_checksum_update(sum, data, (gssize)size);
}

/* Adds n elements, each of which may have padding after its first octets. */
static void add_each(GChecksum *sum, const void *data, uint32_t n, size_t size, size_t used)
{
	const uint8_t *octets = data;

	add(sum, &n, sizeof(n));
	if (n && used == size)
		add(sum, data, n * size);
	for (uint32_t i = 0; used < size && i < n; i++)
		add(sum, octets + i * size, used);
}

/* Numbers; and structures up to a member that is the last one before padding. */
#define add_numbers(sum, data, n) add_each(sum, data, n, sizeof(*(data)), sizeof(*(data)))
#define add_structs(sum, data, n, type, last) \
	add_each(sum, data, n, sizeof(type), offsetof(type, last) + sizeof(((type *)NULL)->last))

static void add_name(GChecksum *sum, const char *name)
{
	add_numbers(sum, name, name ? (uint32_t)strlen(name) + 1 : 0);
}

static void add_guids(GChecksum *sum, const uint64_t *guids, uint32_t n)
{
	add_numbers(sum, guids, n);
}

static void add_ids(GChecksum *sum, const struct route_id *ids, uint32_t n)
{
	add_structs(sum, ids, n, struct route_id, id);
}

static void add_endports(GChecksum *sum, const struct route_endport *ports, uint32_t n)
{
	add_structs(sum, ports, n, struct route_endport, num);
}

static void add_weights(GChecksum *sum, const struct route_weight *weights, uint32_t n)
{
	add_structs(sum, weights, n, struct route_weight, weight);
}

static void add_orders(GChecksum *sum, const struct route_port_order *orders, uint32_t n)
{
	add(sum, &n, sizeof(n));
	for (uint32_t i = 0; i < n; i++) {
		add(sum, &orders[i].guid, sizeof(orders[i].guid));
		add_numbers(sum, orders[i].ports, MIN(orders[i].n, sizeof(orders[i].ports)));
	}
}

static void add_files(GChecksum *sum, const struct route_input *input)
{
	const struct route_lfts *lfts = &input->lfts;
	const struct route_hops_rows *hops = &input->hops;

	add_name(sum, lfts->file);
	add_structs(sum, lfts->lfts, lfts->n, struct route_lft, n);
	for (uint32_t i = 0; i < lfts->n; i++) {
		const struct route_lft *lft = &lfts->lfts[i];

		add_structs(sum, lft->n ? lfts->entries + lft->first : NULL, lft->n,
			    struct route_lft_entry, port);
	}
	add_name(sum, hops->file);
	add_structs(sum, hops->rows, hops->n, struct route_hops_row, lid);
	for (uint32_t i = 0; i < hops->n; i++) {
		const struct route_hops_row *row = &hops->rows[i];

		add_numbers(sum, row->n ? hops->hops + row->first : NULL, row->n);
	}
}

static char *word_of(GChecksum *sum)
{
	char *word = g_strdup(g_checksum_get_string(sum));

	g_checksum_free(sum);
	return word;
}

char *fingerprint_of_input(const struct route_input *input)
{
	const struct route_torus *torus = &input->torus;
	const uint32_t words[] = {
#define INPUT(member, type, option) input->member,
#include "route/inputs.def"
		input->vls,
	};
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);

	add(sum, words, sizeof(words));
#define LIST(member, kind, option, readers) add_##kind(sum, input->member, input->n_##member);
#include "route/inputs.def"
	if (input->ties)
		add_structs(sum, input->ties->ties, input->ties->n, struct route_tie, port);
	add_files(sum, input);
	add_numbers(sum, torus->radix, G_N_ELEMENTS(torus->radix));
	add_numbers(sum, torus->loops, G_N_ELEMENTS(torus->loops));
	add_numbers(sum, &torus->max_ports, 1);
	add_name(sum, torus->file);
	add_structs(sum, torus->seeds, torus->n_seeds, struct route_torus_seed, dateline);
	add_numbers(sum, torus->port_order, torus->n_port_order);
	return word_of(sum);
}

char *fingerprint_for(const struct route_engine *engine, const struct route_input *input)
{
	char *word = fingerprint_of_input(input);
	g_autofree char *own = NULL, *of_input = NULL;
	GChecksum *sum;

	if (!engine->word)
		return word;
	of_input = word;
	own = engine->word(engine);
	sum = g_checksum_new(G_CHECKSUM_SHA256);
	add_name(sum, of_input);
	add_name(sum, own);
	return word_of(sum);
}

const char *fingerprint_of_routing(const struct routing *routing)
{
	if (routing->made)
		routing = routing->made;
	return routing->unlimited ? routing->unlimited->input_word : routing->input_word;
}

char *fingerprint_of_demand(const struct route_input *input, const struct fabric *fabric)
{
	const struct route_demand *demand = input->demand;
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	size_t n = demand ? demand->n_classes : 0, n_ports = fabric->n_ports;

	if (n) {
		add(sum, demand->class_of, n_ports * sizeof(*demand->class_of));
		add(sum, demand->sends, n * n * sizeof(*demand->sends));
	}
	if (input->ties)
		add(sum, input->ties->partitions, n_ports * sizeof(*input->ties->partitions));
	return word_of(sum);
}

/* ---- the fabric ---- */

static bool same_node(const struct fabric_node *a, const struct fabric_node *b)
{
	return a->guid == b->guid && a->info.system_image_guid == b->info.system_image_guid &&
	       a->first_port == b->first_port && a->type == b->type &&
	       a->num_ports == b->num_ports;
}

static bool same_port(const struct fabric_port *a, const struct fabric_port *b)
{
	return a->guid == b->guid && a->peer == b->peer && a->lid == b->lid && a->lmc == b->lmc &&
	       a->info.vl_cap == b->info.vl_cap;
}

bool fingerprint_same_fabric(const struct fabric *a, const struct fabric *b, bool avoid_throttled)
{
	bool same = a->n_nodes == b->n_nodes && a->n_ports == b->n_ports &&
		    a->n_links == b->n_links && a->sm_port == b->sm_port;

	for (uint32_t i = 0; same && i < a->n_nodes; i++)
		same = same_node(&a->nodes[i], &b->nodes[i]);
	for (uint32_t i = 0; same && i < a->n_ports; i++)
		same = same_port(&a->ports[i], &b->ports[i]) &&
		       (!avoid_throttled || route_is_throttled(a, i) == route_is_throttled(b, i));
	return same;
}

bool fingerprint_same_details(const struct fabric *a, const struct fabric *b)
{
	bool same = true;

	for (uint32_t sw = 0; same && sw < a->n_switches; sw++) {
		const struct fabric_node *one = &a->nodes[a->switches[sw].node];
		const struct fabric_node *other = &b->nodes[b->switches[sw].node];

		same = one->silent == other->silent &&
		       fabric_fdb_cap(a, sw) == fabric_fdb_cap(b, sw) &&
		       !g_strcmp0(fabric_called(a, a->switches[sw].node),
				  fabric_called(b, b->switches[sw].node));
	}
	for (uint32_t i = 0; same && i < a->n_ports; i++)
		same = a->ports[i].rate == b->ports[i].rate &&
		       route_is_throttled(a, i) == route_is_throttled(b, i);
	return same;
}
