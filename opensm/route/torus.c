// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine torus-2QoS: dimension order routing in a torus or mesh of two or three dimensions.
 *
 * An SL says, a bit for each dimension, whether the path crosses the dateline of its ring, between
 * the last coordinate and 0, when nothing is broken; a switch maps to VL bit 0 the bit of the
 * dimension in which a packet leaves. Where a ring has lost a cable all go the other way round and
 * keep the SL: such a ring closes no cycle. A switch that is gone is gone around by a turn into a
 * later dimension just before it; the turn back from that, which dimension order has not, leads to
 * VL bit 1 for one hop. SL bit 3 and VL bit 2 tell two levels of QoS apart.
 *
 * Multicast keeps to a tree that is cut from the rings at the dateline, or where they are broken: a
 * row in x, from there columns in y, from there in z.
 */
#include <string.h>

#include "route/lanes.h"
#include "route/shortest.h"
#include "route/torus_place.h"

#define LEVEL 8 /* bit of the SL */

struct tables {
	struct torus torus;
	const struct route_torus *file;
	struct routing *routing;
	unsigned int gone; /* switches */
	unsigned int low, high; /* their coordinates in the last dimension, if any */
	uint32_t root;	   /* of the multicast tree: a place */
};

/* ---- ways ---- */

/* The way from coordinate to coordinate if nothing is broken; halves of a ring take turns. */
static unsigned int usual_way(const struct torus *torus, unsigned int d, unsigned int from,
			      unsigned int to)
{
	unsigned int radix = torus->radix[d], ahead = (to + radix - from) % radix;
	bool back = to < from;

	if (torus->loops[d] && ahead * 2 != radix)
		back = ahead * 2 > radix;
	else if (torus->loops[d] && MIN(from, to) % 2)
		back = !back;
	return 2 * d + back;
}

/* Bits of the dimensions in which a path crosses the dateline: the same both ways. */
static uint8_t sl_of(const struct torus *torus, uint32_t from, uint32_t to)
{
	uint8_t sl = 0;

	for (unsigned int d = 0; d < 3; d++) {
		unsigned int a = torus_coordinate(torus, from, d);
		unsigned int b = torus_coordinate(torus, to, d);

		if (a != b && usual_way(torus, d, a, b) % 2 != (b < a))
			sl |= 1u << d;
	}
	return sl;
}

/* Whether cables lead that way as far as a place, or to the place before it if it is empty. */
static bool is_whole(const struct torus *torus, uint32_t place, unsigned int way, uint32_t to)
{
	while (place != to) {
		uint32_t next = torus_step(torus, place, way);

		if (next == to && torus->sw[to] == FABRIC_NONE)
			return true;
		if (next == FABRIC_NONE || torus->edge[place * TORUS_WAYS + way] == FABRIC_NONE)
			return false;
		place = next;
	}
	return true;
}

/* In the dimension of the usual way, or TORUS_WAYS. */
static unsigned int whole_way(const struct torus *torus, uint32_t place, unsigned int usual,
			      uint32_t to)
{
	if (is_whole(torus, place, usual, to))
		return usual;
	return is_whole(torus, place, usual ^ 1, to) ? usual ^ 1 : TORUS_WAYS;
}

/* The first dimension in which they differ, but not into an empty corner. */
static unsigned int next_way(const struct torus *torus, uint32_t from, uint32_t to)
{
	unsigned int way = TORUS_WAYS;

	for (unsigned int d = 0; d < 3; d++) {
		unsigned int a = torus_coordinate(torus, from, d);
		unsigned int b = torus_coordinate(torus, to, d);
		uint32_t corner = torus_with(torus, from, d, b);

		if (a == b)
			continue;
		way = whole_way(torus, from, usual_way(torus, d, a, b), corner);
		if (way == TORUS_WAYS || torus->sw[corner] != FABRIC_NONE ||
		    torus_step(torus, from, way) != corner)
			return way;
	}
	return TORUS_WAYS;
}

/* ---- tables ---- */

static bool refuse(const struct tables *tables, GError **error, uint32_t from, uint32_t to)
{
	const struct torus *torus = &tables->torus;
	char a[FABRIC_NAME_SIZE], b[FABRIC_NAME_SIZE];

	fabric_node_name(torus->fabric, torus->fabric->switches[torus->sw[from]].node, a,
			 sizeof(a));
	fabric_node_name(torus->fabric, torus->fabric->switches[torus->sw[to]].node, b, sizeof(b));
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
		    "so much of a ring is broken that dimension order has no way from %s to %s", a,
		    b);
	return false;
}

/* Where a port comes in port_order, and then by its number. */
static unsigned int rank_of(const struct route_torus *file, uint8_t port)
{
	const uint8_t *at =
		file->n_port_order ? memchr(file->port_order, port, file->n_port_order) : NULL;

	return at ? at - file->port_order : 256u + port;
}

/* LIDs of a switch by its hosts take cables in parallel in turn. */
static uint32_t turn_of(const struct tables *tables, const struct route_target *target)
{
	const struct route_graph *graph = tables->torus.graph;
	unsigned int rank = rank_of(tables->file, target->exit);
	uint32_t turn = 0, first = graph->first_target[target->leaf];

	for (uint32_t t = first; t < graph->first_target[target->leaf + 1]; t++) {
		unsigned int other = rank_of(tables->file, graph->targets[t].exit);

		turn += other < rank || (other == rank && &graph->targets[t] < target);
	}
	return turn;
}

static void put(const struct tables *tables, uint32_t from, uint32_t to, const uint32_t *turns)
{
	const struct torus *torus = &tables->torus;
	const struct route_graph *graph = torus->graph;
	uint32_t sw = torus->sw[to], first = graph->first_target[sw];
	uint8_t *row = tables->routing->lft[torus->sw[from]];
	const struct route_edge *edge = NULL;
	const uint8_t *links = NULL;

	if (from != to) {
		edge = &graph->edges[torus->edge[from * TORUS_WAYS + next_way(torus, from, to)]];
		links = graph->links + edge->first_link;
	}
	for (uint32_t t = first; t < graph->first_target[sw + 1]; t++)
		row[graph->targets[t].lid] =
			edge ? links[turns[t] % edge->n_links] : graph->targets[t].exit;
	for (unsigned int i = 0; i < route_n_own(graph, sw); i++)
		row[graph->own_lid[sw] + i] = edge ? links[0] : 0;
}

/* How many hops it is; 0: there is no way. */
static unsigned int walk(const struct torus *torus, uint32_t from, uint32_t to)
{
	unsigned int hops = 0;

	while (from != to) {
		unsigned int way = next_way(torus, from, to);

		if (way == TORUS_WAYS || ++hops > torus->n ||
		    torus->edge[from * TORUS_WAYS + way] == FABRIC_NONE)
			return 0;
		from = torus_step(torus, from, way);
	}
	return hops;
}

static bool fill(struct tables *tables, GError **error)
{
	const struct torus *torus = &tables->torus;
	uint32_t n = route_n_targets(torus->graph);
	g_autofree uint32_t *turns = g_new(uint32_t, n + 1);

	for (uint32_t t = 0; t < n; t++)
		turns[t] = turn_of(tables, &torus->graph->targets[t]);
	for (uint32_t from = 0; from < torus->n; from++) {
		for (uint32_t to = 0; to < torus->n; to++) {
			unsigned int hops;

			if (torus->sw[from] == FABRIC_NONE || torus->sw[to] == FABRIC_NONE)
				continue;
			hops = walk(torus, from, to);
			if (!hops && from != to)
				return refuse(tables, error, from, to);
			put(tables, from, to, turns);
			tables->routing->max_hops = MAX(tables->routing->max_hops, hops);
		}
	}
	return true;
}

/* ---- lanes ---- */

static unsigned int vl_of(unsigned int vls, unsigned int in, unsigned int out, unsigned int sl)
{
	bool turned = in < TORUS_WAYS && in / 2 > out / 2;

	return (sl >> out / 2 & 1) | (vls >= 4 && turned) << 1 | (vls >= 8 && sl & LEVEL) << 2;
}

/* The way in which each port of a switch leads; TORUS_WAYS: to no other switch. */
static void list_ways(const struct torus *torus, uint32_t sw, uint8_t ways[256])
{
	const struct route_graph *graph = torus->graph;

	memset(ways, TORUS_WAYS, 256);
	for (unsigned int way = TORUS_WAYS; way-- > 0;) {
		uint32_t e = torus->edge[torus->place[sw] * TORUS_WAYS + way];

		for (unsigned int k = 0; e != FABRIC_NONE && k < graph->edges[e].n_links; k++)
			ways[graph->links[graph->edges[e].first_link + k]] = way;
	}
}

static void put_turns(const struct torus *torus, struct route_lanes *lanes, unsigned int vls,
		      uint32_t sw)
{
	uint16_t width = lanes->turns->width[sw];
	uint8_t ways[256];

	list_ways(torus, sw, ways);
	for (unsigned int in = 0; in < width; in++)
		for (unsigned int out = 0; out < width; out++)
			for (unsigned int sl = 0; sl < ROUTE_SLS && ways[out] < TORUS_WAYS; sl++)
				route_turns_put(lanes->turns, sw, in, out, sl,
						vl_of(vls, ways[in], ways[out], sl));
}

static void make_lanes(struct tables *tables, unsigned int vls)
{
	const struct torus *torus = &tables->torus;
	uint32_t n = torus->graph->n;
	struct route_lanes *lanes = route_lanes_new(n, 0);

	lanes->n = vls;
	lanes->levels = vls >= 8 ? LEVEL : 0;
	lanes->bare = 0xFFFF & ~(1u | 1u << lanes->levels);
	lanes->sls = vls >= 8 ? 0xFFFF : 0xFF;
	lanes->sm_by_path = true;
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < a; b++)
			route_lanes_put(lanes, a, b,
					sl_of(torus, torus->place[a], torus->place[b]));
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		lanes->vl[sl] = sl % vls;
	lanes->turns = route_turns_new(torus->fabric);
	for (uint32_t sw = 0; sw < n; sw++)
		put_turns(torus, lanes, vls, sw);
	tables->routing->lanes = lanes;
}

/* ---- the multicast tree ---- */

/*
 * In the middle; if switches are gone, on that side of them in the last dimension which has all but
 * one of the rest of their ring at most. Else a cycle around them is closed by what multicast sends
 * past the dateline and what goes around them: then there is no such tree, and FABRIC_NONE.
 */
static uint32_t find_root(const struct tables *tables)
{
	const struct torus *torus = &tables->torus;
	unsigned int last = torus->last, radix = torus->radix[last];
	unsigned int low = tables->low, high = tables->high, at = radix / 2;
	uint32_t root = 0;

	if (tables->gone && low <= 1 && high + 1 < radix)
		at = MAX(at, high + 1);
	else if (tables->gone && low && high + 2 >= radix)
		at = MIN(at, low - 1);
	else if (tables->gone)
		return FABRIC_NONE;
	for (unsigned int d = 0; d < 3; d++)
		root = torus_with(torus, root, d, d == last ? at : torus->radix[d] / 2);
	return root;
}

/* Whether a ring lacks a cable: then its dateline does not count. */
static bool is_broken(const struct torus *torus, uint32_t place, unsigned int d)
{
	for (unsigned int i = 0; i < torus->radix[d]; i++) {
		uint32_t at = torus_with(torus, place, d, i);

		if (torus->loops[d] && torus->edge[at * TORUS_WAYS + 2 * d] == FABRIC_NONE)
			return true;
	}
	return false;
}

/* The way to the root on the tree; TORUS_WAYS if there is none. */
static unsigned int trunk_way(const struct tables *tables, uint32_t place)
{
	const struct torus *torus = &tables->torus;

	for (unsigned int d = 3; d-- > 0;) {
		unsigned int a = torus_coordinate(torus, place, d);
		unsigned int b = torus_coordinate(torus, tables->root, d), way = 2 * d + (b < a);
		uint32_t to = torus_with(torus, place, d, b);

		if (a == b)
			continue;
		if (!is_broken(torus, place, d))
			return way;
		return torus->sw[to] == FABRIC_NONE ? TORUS_WAYS : whole_way(torus, place, way, to);
	}
	return TORUS_WAYS;
}

static bool make_trunk(struct tables *tables, GError **error)
{
	const struct torus *torus = &tables->torus;
	const struct route_graph *graph = torus->graph;

	tables->root = find_root(tables);
	if (tables->root == FABRIC_NONE)
		return true;
	tables->routing->trunk = g_malloc0(graph->n + 1);
	for (uint32_t place = 0; place < torus->n; place++) {
		unsigned int way;
		uint32_t e;

		if (torus->sw[place] == FABRIC_NONE || place == tables->root)
			continue;
		way = trunk_way(tables, place);
		e = way < TORUS_WAYS ? torus->edge[place * TORUS_WAYS + way] : FABRIC_NONE;
		if (e == FABRIC_NONE || torus->sw[tables->root] == FABRIC_NONE)
			return refuse(tables, error, place, place);
		tables->routing->trunk[torus->sw[place]] = graph->links[graph->edges[e].first_link];
	}
	return true;
}

/* ---- the whole ---- */

/* Those that are gone must follow each other in the last dimension: others may close a cycle. */
static bool may_be_gone(struct tables *tables)
{
	const struct torus *torus = &tables->torus;
	uint32_t one = FABRIC_NONE;

	for (uint32_t place = 0; place < torus->n; place++) {
		if (torus->sw[place] != FABRIC_NONE)
			continue;
		tables->gone++;
		if (one != FABRIC_NONE && torus_with(torus, place, torus->last, 0) != one)
			return false;
		one = torus_with(torus, place, torus->last, 0);
		tables->high = torus_coordinate(torus, place, torus->last);
		tables->low = tables->gone == 1 ? tables->high : tables->low;
	}
	return true;
}

/* Parallel cables and hosts that the file leaves room for. */
static bool has_room(const struct tables *tables, GError **error)
{
	const struct route_graph *graph = tables->torus.graph;
	unsigned int most = 0;

	for (uint32_t e = 0; e < graph->first_edge[graph->n]; e++)
		most = MAX(most, graph->edges[e].n_links);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint32_t first = graph->first_target[sw], ports = 1;

		for (uint32_t t = first; t < graph->first_target[sw + 1]; t++)
			ports += t == first || graph->targets[t].exit != graph->targets[t - 1].exit;
		most = MAX(most, ports);
	}
	if (most <= tables->file->max_ports)
		return true;
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
		    "%s: portgroup_max_ports is %u, and it takes %u for the cables in parallel and "
		    "for the hosts of a switch with its port 0",
		    tables->file->file, tables->file->max_ports, most);
	return false;
}

/* Lanes that it uses of those that there are: 8, 4, 2 or 1; 0 and error if it takes more. */
static unsigned int choose_lanes(const struct tables *tables, unsigned int vls, GError **error)
{
	const bool *loops = tables->torus.loops;
	unsigned int least = tables->gone ? 4 : loops[0] || loops[1] || loops[2] ? 2 : 1, use = 8;

	while (use > vls)
		use /= 2;
	if (use >= least)
		return use;
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
		    "it takes %u virtual lanes%s, and there are but %u that every cable between "
		    "switches has",
		    least, tables->gone ? " to go around a switch" : "", vls);
	return 0;
}

static bool route(struct tables *tables, unsigned int vls, GError **error)
{
	unsigned int use;

	if (!has_room(tables, error))
		return false;
	if (!may_be_gone(tables)) {
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
			    "%u or more switches of the torus are gone, and not all beside each "
			    "other in its last dimension",
			    tables->gone);
		return false;
	}
	use = choose_lanes(tables, vls, error);
	if (!use || !fill(tables, error) || !make_trunk(tables, error))
		return false;
	if (use > 1)
		make_lanes(tables, use);
	if (tables->gone)
		tables->routing->note = g_strdup_printf(
			"%u switches of the torus are gone, and gone around%s", tables->gone,
			tables->routing->trunk ? ""
					       : "; multicast has no tree there that closes no "
						 "credit loop with that");
	return true;
}

static struct routing *torus_2qos_compute(const struct fabric *fabric,
					  const struct route_input *input, GError **error)
{
	struct route_graph *graph = route_graph_new(fabric);
	struct tables tables = {.file = &input->torus};
	bool good = input->torus.file != NULL;

	if (!good)
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_INPUT,
			    "it needs torus-2QoS.conf, which torus_config names");
	tables.routing = routing_new(fabric, "torus-2QoS", ROUTE_DEADLOCK_FREE);
	good = good && torus_init(&tables.torus, fabric, graph, &input->torus, error) &&
	       route(&tables, route_data_vls(fabric, input), error);
	torus_clear(&tables.torus);
	route_graph_free(graph);
	if (!good)
		g_clear_pointer(&tables.routing, routing_unref);
	return tables.routing;
}

const struct route_engine route_engine_torus_2qos = {
	.name = "torus-2QoS",
	.summary = "dimension order in a torus or mesh of torus_config, two QoS levels",
	.promises = ROUTE_DEADLOCK_FREE,
	.compute = torus_2qos_compute,
};
