// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "lanes.h"

#include "route/value/lanes.h"

#define VLS 16
#define NO_LANE VLS

struct lanes {
	const struct scenario *s;
	struct subnet *subnet;
	GHashTable *steps; /* first * (n_ports * VLS) + second channel and lane */
	char *wrong;	   /* the first violation */
};

struct lanes *lanes_new(const struct scenario *s)
{
	struct lanes *lanes = g_new0(struct lanes, 1);

	lanes->s = s;
	lanes->subnet = slot_take(&daemon_context(s->daemon)->subnet);
	lanes->steps = g_hash_table_new(NULL, NULL);
	return lanes;
}

void lanes_free(struct lanes *lanes)
{
	subnet_unref(lanes->subnet);
	g_hash_table_unref(lanes->steps);
	g_free(lanes->wrong);
	g_free(lanes);
}

const struct subnet *lanes_subnet(const struct lanes *lanes)
{
	return lanes->subnet;
}

/* ---- packets ---- */

static unsigned int sim_node_of(const struct lanes *lanes, uint32_t sw)
{
	const struct fabric *fabric = lanes->subnet->fabric;

	return (unsigned int)sim_find_guid(lanes->s->sim,
					   fabric->nodes[fabric->switches[sw].node].guid);
}

/*
 * The lane on which a packet leaves a switch through a port, as the hardware has it set, provided
 * the port has that lane. Until it is set, a lane that the port has.
 */
static unsigned int lane_of(const struct lanes *lanes, unsigned int node, unsigned int in,
			    uint8_t out, uint8_t sl)
{
	static const unsigned int operational_vls[] = {1, 1, 2, 4, 8, 15, 1, 1};
	const uint8_t *row = sim_sl_to_vl(lanes->s->sim, node, out, in);
	const struct iba_port_info *info = sim_port_info(lanes->s->sim, node, out);
	unsigned int vls = operational_vls[info->operational_vls & 7], vl = sl % vls;

	if (row)
		vl = row[sl / 2] >> (sl % 2 ? 0 : 4) & 0xF;
	return vl < vls ? vl : NO_LANE;
}

static void note_wrong(struct lanes *lanes, uint32_t from, uint32_t to, uint8_t sl,
		       const char *what)
{
	const struct fabric *fabric = lanes->subnet->fabric;

	if (!lanes->wrong)
		lanes->wrong = g_strdup_printf(
			"from %s to %s on SL %u: %s",
			fabric->nodes[fabric->ports[from].node].description,
			fabric->nodes[fabric->ports[to].node].description, sl, what);
}

static void note_step(struct lanes *lanes, gsize first, gsize second)
{
	gsize n = (gsize)lanes->subnet->fabric->n_ports * VLS;

	if (first != FABRIC_NONE)
		g_hash_table_add(lanes->steps, GSIZE_TO_POINTER(first * n + second));
}

/* The port through which a switch forwards, if it leads to a switch; or FABRIC_NONE. */
static uint32_t way_on(const struct lanes *lanes, uint32_t sw, unsigned int node, uint16_t lid)
{
	const struct fabric *fabric = lanes->subnet->fabric;
	struct sim_node_view view;
	uint32_t port, peer;
	uint8_t out;

	sim_node_view(lanes->s->sim, node, &view);
	out = view.lft[lid];
	if (!out || out > view.num_ports)
		return FABRIC_NONE;
	port = fabric_switch_port(fabric, sw, out);
	peer = fabric->ports[port].peer;
	if (peer == FABRIC_NONE || !fabric_is_switch(fabric, fabric->ports[peer].node))
		return FABRIC_NONE;
	return port;
}

void lanes_send(struct lanes *lanes, uint32_t from, uint32_t to, uint8_t sl)
{
	const struct fabric *fabric = lanes->subnet->fabric;
	uint8_t in, exit;
	uint32_t sw = fabric_leaf(fabric, from, &in), leaf = fabric_leaf(fabric, to, &exit);
	gsize last = FABRIC_NONE;

	for (unsigned int hops = 0; sw != leaf; hops++) {
		unsigned int node = sim_node_of(lanes, sw), vl;
		uint32_t out = way_on(lanes, sw, node, fabric->ports[to].lid), peer;

		if (out == FABRIC_NONE || hops > fabric->n_switches) {
			note_wrong(lanes, from, to, sl, "it does not arrive");
			return;
		}
		vl = lane_of(lanes, node, in, fabric->ports[out].num, sl);
		if (vl == NO_LANE)
			note_wrong(lanes, from, to, sl, "on a lane that there is not");
		if (last != FABRIC_NONE && vl != last % VLS && lanes->subnet->routing->lanes &&
		    !routing_has_turns(lanes->subnet->routing))
			note_wrong(lanes, from, to, sl, "from lane to lane");
		note_step(lanes, last, (gsize)out * VLS + vl % VLS);
		last = (gsize)out * VLS + vl % VLS;
		peer = fabric->ports[out].peer;
		in = fabric->ports[peer].num;
		sw = fabric->nodes[fabric->ports[peer].node].sw;
	}
}

/* ---- loops ---- */

/* Removes steps that no step leads to; what remains has a cycle. */
static bool is_acyclic(GHashTable *steps, gsize n)
{
	unsigned int before;

	do {
		g_autoptr(GHashTable) entered = g_hash_table_new(NULL, NULL);
		GHashTableIter iter;
		gpointer key;

		before = g_hash_table_size(steps);
		g_hash_table_iter_init(&iter, steps);
		while (g_hash_table_iter_next(&iter, &key, NULL))
			g_hash_table_add(entered, GSIZE_TO_POINTER(GPOINTER_TO_SIZE(key) % n));
		g_hash_table_iter_init(&iter, steps);
		while (g_hash_table_iter_next(&iter, &key, NULL))
			if (!g_hash_table_contains(entered,
						   GSIZE_TO_POINTER(GPOINTER_TO_SIZE(key) / n)))
				g_hash_table_iter_remove(&iter);
	} while (g_hash_table_size(steps) < before);
	return before == 0;
}

char *lanes_violation(struct lanes *lanes)
{
	if (lanes->wrong)
		return g_strdup(lanes->wrong);
	if (!is_acyclic(lanes->steps, (gsize)lanes->subnet->fabric->n_ports * VLS))
		return g_strdup_printf("%s: credit loop", lanes->subnet->routing->engine->name);
	return NULL;
}

/* ---- all ---- */

static bool is_host(const struct fabric *fabric, uint32_t port)
{
	uint8_t exit;

	return fabric->ports[port].lid && !fabric_is_switch(fabric, fabric->ports[port].node) &&
	       fabric_leaf(fabric, port, &exit) != FABRIC_NONE;
}

static void send_both_ways(struct lanes *lanes, uint32_t a, uint32_t b, uint8_t sl)
{
	lanes_send(lanes, a, b, sl);
	lanes_send(lanes, b, a, sl);
}

static const struct iba_port_info *info_of(const struct lanes *lanes, uint32_t port)
{
	const struct fabric_port *at = &lanes->subnet->fabric->ports[port];
	uint64_t guid = lanes->subnet->fabric->nodes[at->node].guid;

	return sim_port_info(lanes->s->sim, (unsigned int)sim_find_guid(lanes->s->sim, guid),
			     at->num);
}

static void send_all(struct lanes *lanes, uint32_t from)
{
	const struct fabric *fabric = lanes->subnet->fabric;
	const struct routing *routing = lanes->subnet->routing;

	for (uint32_t to = 0; to < fabric->n_ports; to++) {
		uint8_t sl = 0;

		if (to != from && is_host(fabric, to) &&
		    routing_path_sl(routing, fabric, from, to, false, &sl))
			send_both_ways(lanes, from, to, sl);
	}
	if (from != fabric->sm_port && is_host(fabric, fabric->sm_port))
		send_both_ways(lanes, from, fabric->sm_port, info_of(lanes, from)->master_sm_sl);
}

char *scenario_lanes_violation(const struct scenario *s)
{
	struct lanes *lanes = lanes_new(s);
	const struct fabric *fabric = lanes->subnet->fabric;
	char *wrong;

	for (uint32_t port = 0; port < fabric->n_ports; port++)
		if (is_host(fabric, port))
			send_all(lanes, port);
	wrong = lanes_violation(lanes);
	lanes_free(lanes);
	return wrong;
}
