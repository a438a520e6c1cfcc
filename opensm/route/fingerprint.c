// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Most heavy sweeps find what the one before found. Of the fabric a copy is kept of what engines
 * look at: nodes, cables and LIDs, in the order of the fabric, which is the same for equal subnets.
 * What the operator said can be long (forwarding tables in a file): of that a digest is kept.
 */
#include "route/fingerprint.h"

#include <glib.h>
#include <stddef.h>
#include <string.h>

#include "route/throttled.h"

#define DIGEST 32 /* octets of SHA-256 */

/* Both are compared as octets. */
struct node_print {
	uint64_t guid, system;
	uint32_t first_port;
	uint16_t type, num_ports;
};

struct port_print {
	uint64_t guid;
	uint32_t peer, lid;
	uint16_t lmc, vl_cap;
	uint32_t throttled; /* 0 unless the input has that avoided */
};

G_STATIC_ASSERT(sizeof(struct node_print) == 24 && sizeof(struct port_print) == 24); /* no gaps */

struct route_fingerprint {
	uint32_t n_nodes, n_ports, sm_port;
	struct node_print *nodes;
	struct port_print *ports;
	bool avoid_throttled;
	uint8_t digest[DIGEST];
	uint8_t demand[DIGEST]; /* digest of that; by ports, so the fabric must be the same */
};

/* ---- what the operator said ---- */

static void add(GChecksum *sum, const void *data, size_t size)
{
	g_checksum_update(sum, data, (gssize)size);
}

/* A number of things, and the things, which have no gaps. */
static void add_array(GChecksum *sum, const void *data, uint32_t n, size_t size)
{
	add(sum, &n, sizeof(n));
	if (n)
		add(sum, data, n * size);
}

/* The same of things with a gap behind their first octets. */
static void add_gapped(GChecksum *sum, const void *data, uint32_t n, size_t size, size_t used)
{
	const uint8_t *octets = data;

	add(sum, &n, sizeof(n));
	for (uint32_t i = 0; i < n; i++)
		add(sum, octets + i * size, used);
}

static void add_nodes(GChecksum *sum, const struct route_input *input)
{
	add_array(sum, input->roots, input->n_roots, sizeof(uint64_t));
	add_array(sum, input->ids, input->n_ids, sizeof(struct route_id));
	add_array(sum, input->compute, input->n_compute, sizeof(uint64_t));
	add_array(sum, input->io, input->n_io, sizeof(uint64_t));
	add_array(sum, input->ahead, input->n_ahead, sizeof(uint64_t));
	add_gapped(sum, input->ignored, input->n_ignored, sizeof(struct route_endport),
		   offsetof(struct route_endport, num) + sizeof(int16_t));
}

static void add_ports(GChecksum *sum, const struct route_input *input)
{
	add_gapped(sum, input->weights, input->n_weights, sizeof(struct route_weight),
		   offsetof(struct route_weight, weight) + 1);
	if (input->ties)
		add_gapped(sum, input->ties->ties, input->ties->n, sizeof(struct route_tie),
			   offsetof(struct route_tie, port) + 1);
	add(sum, &input->n_port_orders, sizeof(input->n_port_orders));
	for (uint32_t i = 0; i < input->n_port_orders; i++) {
		const struct route_port_order *order = &input->port_orders[i];

		add(sum, &order->guid, sizeof(order->guid));
		add_array(sum, order->ports, MIN(order->n, sizeof(order->ports)), 1);
	}
}

static void add_preferences(GChecksum *sum, const struct route_input *input)
{
	const uint32_t preferences[] = {input->scatter,		input->ahead_not_scattered,
					input->shift,		input->from_roots,
					input->count_switches,	input->vls,
					input->sm_sl,		input->lash_start_vl,
					input->nue_max_num_vls, input->avoid_throttled,
					input->find_mesh,	input->connect_roots};

	add(sum, preferences, sizeof(preferences));
}

static void add_name(GChecksum *sum, const char *name)
{
	add_array(sum, name, name ? (uint32_t)strlen(name) + 1 : 0, 1);
}

static void add_torus(GChecksum *sum, const struct route_torus *torus)
{
	const uint32_t shape[] = {torus->radix[0], torus->radix[1], torus->radix[2],
				  torus->loops[0], torus->loops[1], torus->loops[2],
				  torus->max_ports};

	add_name(sum, torus->file);
	add(sum, shape, sizeof(shape));
	add_gapped(sum, torus->seeds, torus->n_seeds, sizeof(struct route_torus_seed),
		   offsetof(struct route_torus_seed, dateline) + 3 * sizeof(int32_t));
	add_array(sum, torus->port_order, torus->n_port_order, 1);
}

static void add_files(GChecksum *sum, const struct route_input *input)
{
	const struct route_lfts *lfts = &input->lfts;
	const struct route_hops_rows *hops = &input->hops;

	add_name(sum, lfts->file);
	add_array(sum, lfts->lfts, lfts->n, sizeof(struct route_lft));
	for (uint32_t i = 0; i < lfts->n; i++) {
		const struct route_lft *lft = &lfts->lfts[i];

		add_gapped(sum, lft->n ? lfts->entries + lft->first : NULL, lft->n,
			   sizeof(struct route_lft_entry),
			   offsetof(struct route_lft_entry, port) + 1);
	}
	add_name(sum, hops->file);
	add_gapped(sum, hops->rows, hops->n, sizeof(struct route_hops_row),
		   offsetof(struct route_hops_row, lid) + sizeof(uint16_t));
	for (uint32_t i = 0; i < hops->n; i++) {
		const struct route_hops_row *row = &hops->rows[i];

		add_array(sum, row->n ? hops->hops + row->first : NULL, row->n, 1);
	}
}

static void end_digest(GChecksum *sum, uint8_t digest[DIGEST])
{
	gsize size = DIGEST;

	g_checksum_get_digest(sum, digest, &size);
	g_assert(size == DIGEST);
	g_checksum_free(sum);
}

static void digest_of(const struct route_input *input, uint8_t digest[DIGEST])
{
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);

	add_nodes(sum, input);
	add_ports(sum, input);
	add_preferences(sum, input);
	add_files(sum, input);
	add_torus(sum, &input->torus);
	end_digest(sum, digest);
}

/* What is said of the ports of the fabric. */
static void digest_of_demand(const struct route_input *input, uint32_t n_ports,
			     uint8_t digest[DIGEST])
{
	const struct route_demand *demand = input->demand;
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	size_t n = demand ? demand->n_classes : 0;

	if (n) {
		add(sum, demand->class_of, n_ports * sizeof(*demand->class_of));
		add(sum, demand->sends, n * n * sizeof(*demand->sends));
	}
	if (input->ties)
		add(sum, input->ties->partitions, n_ports * sizeof(*input->ties->partitions));
	end_digest(sum, digest);
}

/* ---- the fabric ---- */

static struct node_print print_of_node(const struct fabric *fabric, uint32_t i)
{
	const struct fabric_node *node = &fabric->nodes[i];

	return (struct node_print){node->guid, node->info.system_image_guid, node->first_port,
				   node->type, node->num_ports};
}

static struct port_print print_of_port(const struct fabric *fabric, uint32_t i,
				       bool avoid_throttled)
{
	const struct fabric_port *port = &fabric->ports[i];

	return (struct port_print){port->guid, port->peer,	  port->lid,
				   port->lmc,  port->info.vl_cap, avoid_throttled &&
					   route_is_throttled(fabric, i)};
}

struct route_fingerprint *route_fingerprint_new(const struct fabric *fabric,
						const struct route_input *input)
{
	struct route_fingerprint *fingerprint = g_new(struct route_fingerprint, 1);

	fingerprint->n_nodes = fabric->n_nodes;
	fingerprint->n_ports = fabric->n_ports;
	fingerprint->sm_port = fabric->sm_port;
	fingerprint->avoid_throttled = input->avoid_throttled;
	fingerprint->nodes = g_new(struct node_print, fabric->n_nodes + 1);
	fingerprint->ports = g_new(struct port_print, fabric->n_ports + 1);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		fingerprint->nodes[i] = print_of_node(fabric, i);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		fingerprint->ports[i] = print_of_port(fabric, i, input->avoid_throttled);
	digest_of(input, fingerprint->digest);
	digest_of_demand(input, fabric->n_ports, fingerprint->demand);
	return fingerprint;
}

void route_fingerprint_free(struct route_fingerprint *fingerprint)
{
	if (!fingerprint)
		return;
	g_free(fingerprint->nodes);
	g_free(fingerprint->ports);
	g_free(fingerprint);
}

bool route_fingerprint_is_of(const struct route_fingerprint *fingerprint,
			     const struct fabric *fabric)
{
	if (fingerprint->n_nodes != fabric->n_nodes || fingerprint->n_ports != fabric->n_ports ||
	    fingerprint->sm_port != fabric->sm_port)
		return false;
	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		struct node_print print = print_of_node(fabric, i);

		if (memcmp(&print, &fingerprint->nodes[i], sizeof(print)))
			return false;
	}
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		struct port_print print =
			print_of_port(fabric, i, fingerprint->avoid_throttled);

		if (memcmp(&print, &fingerprint->ports[i], sizeof(print)))
			return false;
	}
	return true;
}

bool route_fingerprint_is_of_input(const struct route_fingerprint *fingerprint,
				   const struct route_input *input)
{
	uint8_t digest[DIGEST];

	digest_of(input, digest);
	return !memcmp(digest, fingerprint->digest, DIGEST);
}

static char *word_of(const uint8_t digest[DIGEST])
{
	GString *word = g_string_new(NULL);

	for (unsigned int i = 0; i < DIGEST; i++)
		g_string_append_printf(word, "%02x", digest[i]);
	return g_string_free(word, FALSE);
}

char *route_fingerprint_word(const struct route_fingerprint *fingerprint)
{
	return word_of(fingerprint->digest);
}

bool route_fingerprint_is_word(const char *word, const struct route_input *input)
{
	g_autofree char *now = NULL;
	uint8_t digest[DIGEST];

	digest_of(input, digest);
	now = word_of(digest);
	return !strcmp(word, now);
}

bool route_fingerprint_is_of_demand(const struct route_fingerprint *fingerprint,
				    const struct route_input *input)
{
	uint8_t digest[DIGEST];

	digest_of_demand(input, fingerprint->n_ports, digest);
	return !memcmp(digest, fingerprint->demand, DIGEST);
}
