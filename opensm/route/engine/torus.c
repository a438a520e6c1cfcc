// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine torus-2QoS: dimension order routing in a torus or mesh of two or three dimensions.
 *
 * A seed gives the places of a switch and some of its neighbours. From there on, a switch with
 * placed neighbours is placed when only one place is possible: the place is free; it is beside the
 * places of all these neighbours; and seen from each of them it is not in a dimension in which that
 * neighbour has another neighbour that closes a square of cables with the switch, since a square
 * has two dimensions. (But a ring of four is a square in one dimension: then squares tell nothing,
 * and seeds must name both neighbours in it.)
 *
 * A dimension that the operator calls a line may have the cable that makes it a ring: if not all
 * switches find a place without it, places are searched for as in a ring, and that cable carries
 * nothing.
 *
 * An SL has a bit for each dimension: whether the path, if nothing is broken, crosses the dateline
 * of its ring, between the last coordinate and 0; a switch maps to VL bit 0 the bit of the
 * dimension in which a packet leaves. Where a ring has lost a cable all packets go the other way
 * round and keep the SL: such a ring closes no cycle. Paths around a missing switch turn into a
 * later dimension just before it; the turn back, which dimension order does not have, leads to VL
 * bit 1 for one hop. SL bit 3 and VL bit 2 tell two levels of QoS apart.
 *
 * Where more is broken, some switches have no such path to others. Then old tables are repaired by
 * whatever paths close no loop with the old ones, on the same SLs (renew/keep_sls.c), until the
 * rules above have paths for all again.
 *
 * Multicast follows a tree that is the rings cut at the dateline, or where they are broken: a row
 * in x, from there columns in y, from there in z.
 */
#include <string.h>

#include "route/fill/shortest.h"
#include "route/value/lanes.h"

#define LEVEL 8 /* bit of the SL for the level of QoS */
#define WAYS 6	/* 2 * dimension, plus 1 against its direction */

struct torus {
	const struct fabric *fabric;
	const struct route_graph *graph;
	const struct route_torus *file;
	struct routing *routing;
	const uint32_t *radix;	/* from the file */
	uint32_t stride[3];	/* from a place to the next in a dimension */
	bool loops[3];		/* a dimension is a ring of at least three */
	unsigned int last;	/* last dimension with more than one coordinate */
	uint32_t n;		/* places */
	uint32_t *sw;		/* [place]: switch, or FABRIC_NONE */
	uint32_t *place;	/* [switch] */
	uint32_t *edge;		/* [place * WAYS + way]: of its switch; FABRIC_NONE: none */
	unsigned int gone;	/* missing switches */
	unsigned int low, high; /* their coordinates in the last dimension, if any */
	uint32_t root;		/* of the multicast tree: a place */
};

/* ---- places ---- */

static unsigned int coordinate_of(const struct torus *torus, uint32_t place, unsigned int d)
{
	return place / torus->stride[d] % torus->radix[d];
}

/* The place with another coordinate in a dimension. */
static uint32_t with(const struct torus *torus, uint32_t place, unsigned int d,
		     unsigned int coordinate)
{
	return place + (coordinate - coordinate_of(torus, place, d)) * torus->stride[d];
}

/* The next place, or FABRIC_NONE where a mesh ends. */
static uint32_t step(const struct torus *torus, uint32_t place, unsigned int way)
{
	unsigned int d = way / 2, radix = torus->radix[d], at = coordinate_of(torus, place, d);
	unsigned int last = way % 2 ? 0 : radix - 1;

	if (at == last && !torus->loops[d])
		return FABRIC_NONE;
	return with(torus, place, d, (at + (way % 2 ? radix - 1 : 1)) % radix);
}

/* The edge in one of the directions, or FABRIC_NONE. */
static uint32_t edge_of(const struct torus *torus, uint32_t place, unsigned int way)
{
	return way < WAYS ? torus->edge[place * WAYS + way] : FABRIC_NONE;
}

/* The direction from a place to an adjacent one, or WAYS. */
static unsigned int way_to(const struct torus *torus, uint32_t from, uint32_t to)
{
	unsigned int way = 0;

	while (way < WAYS && step(torus, from, way) != to)
		way++;
	return way;
}

/* Whether two neighbours of a switch have another one in common. */
static bool is_square(const struct route_graph *graph, uint32_t sw, uint32_t a, uint32_t b)
{
	route_each_edge(graph, a, edge)
		if (edge->to != sw && edge->to != b &&
		    route_edge_to(graph, edge->to, b) != FABRIC_NONE)
			return true;
	return false;
}

/* Dimensions, as bits, in which a switch cannot be, seen from a neighbour with a place. */
static unsigned int closed_to(const struct torus *torus, uint32_t sw, uint32_t beside)
{
	const struct route_graph *graph = torus->graph;
	unsigned int closed = 0;

	route_each_edge(graph, beside, edge) {
		unsigned int d;

		if (edge->to == sw || torus->place[edge->to] == FABRIC_NONE)
			continue;
		d = way_to(torus, torus->place[beside], torus->place[edge->to]) / 2;
		if (d < 3 && !(torus->loops[d] && torus->radix[d] == 4) &&
		    is_square(graph, beside, sw, edge->to))
			closed |= 1u << d;
	}
	return closed;
}

/* Whether a switch could be at a place: beside all neighbours with a place, as these allow. */
static bool fits(const struct torus *torus, uint32_t sw, uint32_t place)
{
	if (place == FABRIC_NONE || torus->sw[place] != FABRIC_NONE)
		return false;
	route_each_edge(torus->graph, sw, edge) {
		uint32_t beside = torus->place[edge->to];
		unsigned int way = beside == FABRIC_NONE ? WAYS : way_to(torus, place, beside);

		if (beside != FABRIC_NONE &&
		    (way == WAYS || closed_to(torus, sw, edge->to) >> way / 2 & 1))
			return false;
	}
	return true;
}

static void put(struct torus *torus, uint32_t sw, uint32_t place)
{
	torus->sw[place] = sw;
	torus->place[sw] = place;
}

/* Whether a switch now gets a place: the only one that it fits. */
static bool try_switch(struct torus *torus, uint32_t sw)
{
	uint32_t found = FABRIC_NONE;

	route_each_edge(torus->graph, sw, edge)
		for (unsigned int i = 0; i < WAYS && torus->place[edge->to] != FABRIC_NONE; i++) {
			uint32_t place = step(torus, torus->place[edge->to], i);

			if (place == found || !fits(torus, sw, place))
				continue;
			if (found != FABRIC_NONE)
				return false;
			found = place;
		}
	if (found != FABRIC_NONE)
		put(torus, sw, found);
	return found != FABRIC_NONE;
}

/* ---- seeds ---- */

/* False if one of its switches is not in the fabric, or two of them would share a place. */
static bool plant(struct torus *torus, const struct route_torus_seed *seed)
{
	uint32_t from = route_switch_by_guid(torus->fabric, seed->from), origin = 0;

	memset(torus->sw, 0xFF, torus->n * sizeof(*torus->sw));
	memset(torus->place, 0xFF, torus->graph->n * sizeof(*torus->place));
	for (unsigned int d = 0; d < 3; d++)
		origin = with(torus, origin, d,
			      (torus->radix[d] - seed->dateline[d]) % torus->radix[d]);
	if (from == FABRIC_NONE)
		return false;
	put(torus, from, origin);
	for (unsigned int way = 0; way < WAYS; way++) {
		uint32_t place = step(torus, origin, way);
		uint32_t sw = route_switch_by_guid(torus->fabric, seed->to[way]);

		if (!seed->to[way] || (sw != FABRIC_NONE && torus->place[sw] == place))
			continue;
		if (sw == FABRIC_NONE || place == FABRIC_NONE || torus->sw[place] != FABRIC_NONE ||
		    torus->place[sw] != FABRIC_NONE)
			return false;
		put(torus, sw, place);
	}
	return true;
}

/* Returns how many switches have a place in the end. */
static uint32_t grow(struct torus *torus)
{
	uint32_t n = 0, before;

	do {
		before = n;
		n = 0;
		for (uint32_t sw = 0; sw < torus->graph->n; sw++)
			n += torus->place[sw] != FABRIC_NONE || try_switch(torus, sw);
	} while (n > before);
	return n;
}

/* From the seed that places the most; false if no seed can be used. */
static bool grow_most(struct torus *torus)
{
	const struct route_torus *file = torus->file;
	uint32_t n = 0, most = 0, best = 0;

	for (uint32_t i = 0; i < file->n_seeds && most < torus->graph->n; i++) {
		n = plant(torus, &file->seeds[i]) ? grow(torus) : 0;
		if (n > most)
			best = i;
		most = MAX(most, n);
	}
	if (n < most) {
		plant(torus, &file->seeds[best]);
		grow(torus);
	}
	return most != 0;
}

/* ---- cables ---- */

static void name_of(const struct torus *torus, uint32_t sw, char name[FABRIC_NAME_SIZE])
{
	fabric_node_name(torus->fabric, torus->fabric->switches[sw].node, name, FABRIC_NAME_SIZE);
}

static bool refuse_network(const struct torus *torus, GError **error, const char *what, uint32_t sw)
{
	char name[FABRIC_NAME_SIZE] = "it";

	if (sw != FABRIC_NONE)
		name_of(torus, sw, name);
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
		    "the network is not the %ux%ux%u torus or mesh of torus_config: %s %s",
		    torus->radix[0], torus->radix[1], torus->radix[2], name, what);
	return false;
}

/* A line may have the cable that makes it a ring; that cable carries nothing. */
static bool list_edges(struct torus *torus, const struct torus *rings, GError **error)
{
	const struct route_graph *graph = torus->graph;

	memset(torus->edge, 0xFF, (size_t)torus->n * WAYS * sizeof(*torus->edge));
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint32_t place = torus->place[sw];

		if (place == FABRIC_NONE)
			return refuse_network(torus, error, "cannot be placed in it by its cables",
					      sw);
		route_each_edge(graph, sw, edge) {
			uint32_t to = torus->place[edge->to];
			unsigned int way = way_to(rings, place, to);

			if (to != FABRIC_NONE && way == WAYS)
				return refuse_network(
					torus, error,
					"has a cable to a switch that is not its neighbour", sw);
			if (to != FABRIC_NONE && step(torus, place, way) == to)
				torus->edge[place * WAYS + way] = edge - graph->edges;
		}
	}
	return true;
}

/* Finds places, with lines as given or as rings. */
static bool place_all(struct torus *torus, bool as_rings, GError **error)
{
	struct torus rings = *torus;

	for (unsigned int d = 0; d < 3; d++)
		rings.loops[d] = torus->radix[d] > 2;
	if (!grow_most(as_rings ? &rings : torus))
		return refuse_network(torus, error, "has no complete seed", FABRIC_NONE);
	return list_edges(torus, &rings, error);
}

/* False and error if the network is not as the file describes it. */
static bool init(struct torus *torus, GError **error)
{
	const struct route_torus *file = torus->file;

	torus->radix = file->radix;
	torus->n = 1;
	for (unsigned int d = 0; d < 3; d++) {
		torus->loops[d] = file->loops[d] && file->radix[d] > 2;
		torus->stride[d] = torus->n;
		torus->n *= file->radix[d];
		torus->last = file->radix[d] > 1 ? d : torus->last;
	}
	torus->sw = g_new(uint32_t, torus->n + 1);
	torus->place = g_new(uint32_t, torus->graph->n + 1);
	torus->edge = g_new(uint32_t, (size_t)torus->n * WAYS + 1);
	if (place_all(torus, false, error))
		return true;
	if (!place_all(torus, true, NULL))
		return false;
	g_clear_error(error);
	return true;
}

/* ---- directions ---- */

/* The direction between coordinates if nothing is broken; halves of a ring take turns. */
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

/* Bits of the dimensions in which a path crosses the dateline: symmetric. */
static uint8_t sl_of(const struct torus *torus, uint32_t from, uint32_t to)
{
	uint8_t sl = 0;

	for (unsigned int d = 0; d < 3; d++) {
		unsigned int a = coordinate_of(torus, from, d);
		unsigned int b = coordinate_of(torus, to, d);

		if (a != b && usual_way(torus, d, a, b) % 2 != (b < a))
			sl |= 1u << d;
	}
	return sl;
}

/*
 * The usual direction, or the opposite one, by which cables lead to a place, or to the place before
 * it if it is empty; or WAYS.
 */
static unsigned int whole_way(const struct torus *torus, uint32_t from, unsigned int usual,
			      uint32_t to)
{
	for (unsigned int against = 0; against < 2; against++) {
		unsigned int way = usual ^ against;
		uint32_t place = from;

		while (place != to && edge_of(torus, place, way) != FABRIC_NONE)
			place = step(torus, place, way);
		if (place == to ||
		    (step(torus, place, way) == to && torus->sw[to] == FABRIC_NONE))
			return way;
	}
	return WAYS;
}

/* The first dimension in which they differ, unless it leads into an empty corner. */
static unsigned int next_way(const struct torus *torus, uint32_t from, uint32_t to)
{
	unsigned int way = WAYS;

	for (unsigned int d = 0; d < 3; d++) {
		unsigned int a = coordinate_of(torus, from, d);
		unsigned int b = coordinate_of(torus, to, d);
		uint32_t corner = with(torus, from, d, b);

		if (a == b)
			continue;
		way = whole_way(torus, from, usual_way(torus, d, a, b), corner);
		if (way == WAYS || torus->sw[corner] != FABRIC_NONE ||
		    step(torus, from, way) != corner)
			return way;
	}
	return WAYS;
}

/* ---- tables ---- */

static bool refuse_way(const struct torus *torus, GError **error, uint32_t from, uint32_t to)
{
	char a[FABRIC_NAME_SIZE], b[FABRIC_NAME_SIZE];

	name_of(torus, from, a);
	name_of(torus, to, b);
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
		    "too much of a ring is broken: dimension order has no path from %s to %s", a,
		    b);
	return false;
}

/* LIDs of a switch take parallel cables in turn, by their hosts: first those of port_order. */
static void list_turns(const struct torus *torus, uint32_t sw, uint32_t *turns)
{
	const struct route_graph *graph = torus->graph;
	const struct route_torus *file = torus->file;
	uint32_t turn = 0, first = graph->first_target[sw], last = graph->first_target[sw + 1];

	memset(turns + first, 0xFF, (last - first) * sizeof(*turns));
	for (uint32_t i = 0; i <= file->n_port_order; i++)
		for (uint32_t t = first; t < last; t++)
			if (turns[t] == UINT32_MAX &&
			    (i == file->n_port_order ||
			     graph->targets[t].exit == file->port_order[i]))
				turns[t] = turn++;
}

static void put_entries(const struct torus *torus, uint32_t from, uint32_t to,
			const uint32_t *turns)
{
	const struct route_graph *graph = torus->graph;
	uint32_t place = torus->place[from], first = graph->first_target[to];
	uint8_t *row = torus->routing->lft[from];
	uint32_t e = edge_of(torus, place, next_way(torus, place, torus->place[to]));
	const struct route_edge *edge = e == FABRIC_NONE ? NULL : &graph->edges[e];
	const uint8_t *links = edge ? graph->links + edge->first_link : NULL;

	for (uint32_t t = first; t < graph->first_target[to + 1]; t++)
		row[graph->targets[t].lid] =
			edge ? links[turns[t] % edge->n_links] : graph->targets[t].exit;
	for (unsigned int i = 0; i < route_n_own(graph, to); i++)
		row[graph->own_lid[to] + i] = edge ? links[0] : 0;
}

/* The number of hops; 0: no path. */
static unsigned int walk(const struct torus *torus, uint32_t from, uint32_t to)
{
	unsigned int hops = 0;

	while (from != to) {
		unsigned int way = next_way(torus, from, to);

		if (edge_of(torus, from, way) == FABRIC_NONE || ++hops > torus->n)
			return 0;
		from = step(torus, from, way);
	}
	return hops;
}

static bool fill(struct torus *torus, GError **error)
{
	const struct route_graph *graph = torus->graph;
	uint16_t *most = &torus->routing->max_hops;
	g_autofree uint32_t *turns = g_new(uint32_t, route_n_targets(graph) + 1);

	for (uint32_t sw = 0; sw < graph->n; sw++)
		list_turns(torus, sw, turns);
	for (uint32_t from = 0; from < graph->n; from++)
		for (uint32_t to = 0; to < graph->n; to++) {
			unsigned int hops = walk(torus, torus->place[from], torus->place[to]);

			if (!hops && from != to)
				return refuse_way(torus, error, from, to);
			put_entries(torus, from, to, turns);
			*most = MAX(*most, hops);
		}
	return true;
}

/* ---- lanes ---- */

static unsigned int vl_of(unsigned int vls, unsigned int in, unsigned int out, unsigned int sl)
{
	bool turned = in < WAYS && in / 2 > out / 2;

	return (sl >> out / 2 & 1) | (vls >= 4 && turned) << 1 | (vls >= 8 && sl & LEVEL) << 2;
}

static void put_turns(const struct torus *torus, struct route_lanes *lanes, unsigned int vls,
		      uint32_t sw)
{
	const struct route_graph *graph = torus->graph;
	uint16_t width = lanes->turns->width[sw];
	uint32_t edges[256];
	uint8_t ways[256]; /* direction of each port; WAYS: to no other switch */

	route_edges_by_port(graph, sw, edges);
	for (unsigned int port = 0; port < 256; port++)
		ways[port] = edges[port] == FABRIC_NONE
				     ? WAYS
				     : way_to(torus, torus->place[sw],
					      torus->place[graph->edges[edges[port]].to]);
	for (unsigned int in = 0; in < width; in++)
		for (unsigned int out = 0; out < width; out++)
			for (unsigned int sl = 0; sl < ROUTE_SLS && ways[out] < WAYS; sl++)
				route_turns_put(lanes->turns, sw, in, out, sl,
						vl_of(vls, ways[in], ways[out], sl));
}

static void make_lanes(struct torus *torus, unsigned int vls)
{
	uint32_t n = torus->graph->n;
	struct route_lanes *lanes = route_lanes_new(n, 0);

	lanes->n = vls;
	lanes->levels = vls >= 8 ? LEVEL : 0;
	lanes->sls_unsafe_for_multicast = 0xFFFF & ~(1u | 1u << lanes->levels);
	lanes->sls = vls >= 8 ? 0xFFFF : 0xFF;
	lanes->sm_by_path = true;
	lanes->level_ends = true;
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < a; b++)
			route_lanes_put(lanes, a, b,
					sl_of(torus, torus->place[a], torus->place[b]));
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		lanes->vl[sl] = sl % vls;
	lanes->turns = route_turns_new(torus->fabric);
	for (uint32_t sw = 0; sw < n; sw++)
		put_turns(torus, lanes, vls, sw);
	torus->routing->lanes = lanes;
}

/* ---- the multicast tree ---- */

/*
 * In the middle; if switches are missing, on that side of them in the last dimension which has all
 * but at most one of the rest of their ring. Otherwise multicast past the dateline and paths around
 * the missing switches would close a cycle: then there is no such tree, and the result is
 * FABRIC_NONE.
 */
static uint32_t find_root(const struct torus *torus)
{
	unsigned int last = torus->last, radix = torus->radix[last];
	unsigned int low = torus->low, high = torus->high, at = radix / 2;
	uint32_t root = 0;

	if (torus->gone && low <= 1 && high + 1 < radix)
		at = MAX(at, high + 1);
	else if (torus->gone && low && high + 2 >= radix)
		at = MIN(at, low - 1);
	else if (torus->gone)
		return FABRIC_NONE;
	for (unsigned int d = 0; d < 3; d++)
		root = with(torus, root, d, d == last ? at : torus->radix[d] / 2);
	return root;
}

/* The direction to the root on the tree; WAYS if there is none. None of its corners is empty. */
static unsigned int trunk_way(const struct torus *torus, uint32_t place)
{
	for (unsigned int d = 3; d-- > 0;) {
		unsigned int a = coordinate_of(torus, place, d);
		unsigned int b = coordinate_of(torus, torus->root, d);

		if (a != b)
			return whole_way(torus, place, 2 * d + (b < a), with(torus, place, d, b));
	}
	return WAYS;
}

static bool make_trunk(struct torus *torus, GError **error)
{
	const struct route_graph *graph = torus->graph;

	torus->root = find_root(torus);
	if (torus->root == FABRIC_NONE)
		return true;
	torus->routing->trunk = g_malloc0(graph->n + 1);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint32_t place = torus->place[sw], e;

		if (place == torus->root)
			continue;
		e = edge_of(torus, place, trunk_way(torus, place));
		if (e == FABRIC_NONE)
			return refuse_way(torus, error, sw, torus->sw[torus->root]);
		torus->routing->trunk[sw] = graph->links[graph->edges[e].first_link];
	}
	return true;
}

/* ---- the whole ---- */

/* Missing switches must be adjacent in the last dimension: others may close a cycle. */
static bool may_be_gone(struct torus *torus, GError **error)
{
	uint32_t one = FABRIC_NONE;

	for (uint32_t place = 0; place < torus->n; place++) {
		if (torus->sw[place] != FABRIC_NONE)
			continue;
		torus->gone++;
		if (one != FABRIC_NONE && with(torus, place, torus->last, 0) != one) {
			g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
				    "%u or more switches of the torus are gone, and not all of "
				    "them are neighbours in its last dimension",
				    torus->gone);
			return false;
		}
		one = with(torus, place, torus->last, 0);
		torus->high = coordinate_of(torus, place, torus->last);
		torus->low = torus->gone == 1 ? torus->high : torus->low;
	}
	return true;
}

/* Whether the file allows for all parallel cables and hosts. */
static bool has_room(const struct torus *torus, GError **error)
{
	const struct route_graph *graph = torus->graph;
	unsigned int most = 0;

	for (uint32_t e = 0; e < graph->first_edge[graph->n]; e++)
		most = MAX(most, graph->edges[e].n_links);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint32_t first = graph->first_target[sw], ports = 1;

		for (uint32_t t = first; t < graph->first_target[sw + 1]; t++)
			ports += t == first || graph->targets[t].exit != graph->targets[t - 1].exit;
		most = MAX(most, ports);
	}
	if (most <= torus->file->max_ports)
		return true;
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
		    "%s: portgroup_max_ports is %u, but %u are needed for parallel cables and "
		    "for the hosts and port 0 of a switch",
		    torus->file->file, torus->file->max_ports, most);
	return false;
}

/* Lanes to use of those available: 8, 4, 2 or 1; 0 and error if more are needed. */
static unsigned int choose_lanes(const struct torus *torus, unsigned int vls, GError **error)
{
	const bool *loops = torus->loops;
	unsigned int least = torus->gone ? 4 : loops[0] || loops[1] || loops[2] ? 2 : 1, use = 8;

	while (use > vls)
		use /= 2;
	if (use >= least)
		return use;
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
		    "it takes %u virtual lanes%s, but the cables between switches have only %u "
		    "in common",
		    least, torus->gone ? " to go around a switch" : "", vls);
	return 0;
}

static bool route(struct torus *torus, unsigned int vls, GError **error)
{
	unsigned int use;

	if (!has_room(torus, error) || !may_be_gone(torus, error))
		return false;
	use = choose_lanes(torus, vls, error);
	if (!use || !fill(torus, error) || !make_trunk(torus, error))
		return false;
	if (use > 1)
		make_lanes(torus, use);
	if (torus->gone)
		torus->routing->note = g_strdup_printf(
			"%u switches of the torus are gone, and paths go around them%s",
			torus->gone,
			torus->routing->trunk ? ""
					      : "; multicast has no tree without credit loops "
						"with these paths");
	return true;
}

static struct routing *torus_2qos_compute(const struct route_engine *engine,
					  const struct fabric *fabric,
					  const struct route_input *input, GError **error)
{
	struct torus torus = {.fabric = fabric, .file = &input->torus};
	struct route_graph *graph;

	if (!input->torus.file) {
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_INPUT,
			    "it needs torus-2QoS.conf, which torus_config names");
		return NULL;
	}
	torus.graph = graph = route_graph_new(fabric);
	torus.routing = routing_new(fabric, engine, ROUTE_DEADLOCK_FREE);
	if (!init(&torus, error) || !route(&torus, route_data_vls(fabric, input), error))
		g_clear_pointer(&torus.routing, routing_unref);
	g_free(torus.sw);
	g_free(torus.place);
	g_free(torus.edge);
	route_graph_free(graph);
	return torus.routing;
}

const struct route_engine route_engine_torus_2qos = {
	.name = "torus-2QoS",
	.summary = "dimension order in a torus or mesh of torus_config, two QoS levels",
	.promises = ROUTE_DEADLOCK_FREE,
	.repairs = true,
	.compute = torus_2qos_compute,
	.need = { .lanes = true, .turns = true },
};
