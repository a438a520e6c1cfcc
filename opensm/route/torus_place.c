// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A seed gives the places of a switch and some of its neighbours. From there on, a switch is placed
 * beside a neighbour s that has a place if only one place around s is left for it: it is taken by
 * nobody; it is beside those of all its neighbours that have one; and it is not in the dimension in
 * which s has a neighbour with which it closes a square of cables, since a square has two. (But a
 * ring of four is a square in one dimension: then s says nothing, and seeds must name both
 * neighbours in it.)
 *
 * What the operator calls a line may have the cable that makes it a ring: if not all have places
 * without, they are looked for as if it were one, and that cable carries nothing.
 */
#include "route/torus_place.h"

#include <string.h>

unsigned int torus_coordinate(const struct torus *torus, uint32_t place, unsigned int dimension)
{
	for (unsigned int d = 0; d < dimension; d++)
		place /= torus->radix[d];
	return place % torus->radix[dimension];
}

uint32_t torus_with(const struct torus *torus, uint32_t place, unsigned int dimension,
		    unsigned int coordinate)
{
	uint32_t stride = 1;

	for (unsigned int d = 0; d < dimension; d++)
		stride *= torus->radix[d];
	return place + (coordinate - torus_coordinate(torus, place, dimension)) * stride;
}

uint32_t torus_step(const struct torus *torus, uint32_t place, unsigned int way)
{
	unsigned int d = way / 2, radix = torus->radix[d], at = torus_coordinate(torus, place, d);
	unsigned int last = way % 2 ? 0 : radix - 1;

	if (at == last && !torus->loops[d])
		return FABRIC_NONE;
	return torus_with(torus, place, d, (at + (way % 2 ? radix - 1 : 1)) % radix);
}

/* The way from a place to one beside it, or TORUS_WAYS. */
static unsigned int way_to(const struct torus *torus, uint32_t from, uint32_t to)
{
	unsigned int way = 0;

	while (way < TORUS_WAYS && torus_step(torus, from, way) != to)
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

/* Dimensions in which a switch is not seen from a neighbour that has a place, as bits. */
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

static bool fits(const struct torus *torus, uint32_t sw, uint32_t place)
{
	if (place == FABRIC_NONE || torus->sw[place] != FABRIC_NONE)
		return false;
	route_each_edge(torus->graph, sw, edge) {
		uint32_t beside = torus->place[edge->to];

		if (beside != FABRIC_NONE && way_to(torus, place, beside) == TORUS_WAYS)
			return false;
	}
	return true;
}

static void put(struct torus *torus, uint32_t sw, uint32_t place)
{
	torus->sw[place] = sw;
	torus->place[sw] = place;
}

/* Whether a switch has a place now. */
static bool try_beside(struct torus *torus, uint32_t sw, uint32_t beside)
{
	unsigned int closed = closed_to(torus, sw, beside);
	uint32_t found = FABRIC_NONE;

	for (unsigned int way = 0; way < TORUS_WAYS; way++) {
		uint32_t place = torus_step(torus, torus->place[beside], way);

		if (closed >> way / 2 & 1 || !fits(torus, sw, place))
			continue;
		if (found != FABRIC_NONE && found != place)
			return false;
		found = place;
	}
	if (found != FABRIC_NONE)
		put(torus, sw, found);
	return found != FABRIC_NONE;
}

static bool try_switch(struct torus *torus, uint32_t sw)
{
	route_each_edge(torus->graph, sw, edge)
		if (torus->place[edge->to] != FABRIC_NONE && try_beside(torus, sw, edge->to))
			return true;
	return false;
}

/* ---- seeds ---- */

/* False if one of its switches is not there, or two of them would stand in one place. */
static bool plant(struct torus *torus, const struct route_torus_seed *seed)
{
	uint32_t from = route_switch_by_guid(torus->fabric, seed->from), origin = 0;

	memset(torus->sw, 0xFF, torus->n * sizeof(*torus->sw));
	memset(torus->place, 0xFF, torus->graph->n * sizeof(*torus->place));
	for (unsigned int d = 0; d < 3; d++)
		origin = torus_with(torus, origin, d,
				    (torus->radix[d] - seed->dateline[d]) % torus->radix[d]);
	if (from == FABRIC_NONE)
		return false;
	put(torus, from, origin);
	for (unsigned int way = 0; way < TORUS_WAYS; way++) {
		uint32_t place = torus_step(torus, origin, way);
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

/* How many switches have a place in the end. */
static uint32_t grow(struct torus *torus)
{
	uint32_t n = 0;
	bool more;

	do {
		more = false;
		for (uint32_t sw = 0; sw < torus->graph->n; sw++)
			if (torus->place[sw] == FABRIC_NONE)
				more |= try_switch(torus, sw);
	} while (more);
	for (uint32_t sw = 0; sw < torus->graph->n; sw++)
		n += torus->place[sw] != FABRIC_NONE;
	return n;
}

/* From the seed that places most; false if no seed can be used. */
static bool place_all(struct torus *torus, const struct route_torus *file)
{
	uint32_t most = 0, best = 0;

	for (uint32_t i = 0; i < file->n_seeds && most < torus->graph->n; i++) {
		uint32_t n = plant(torus, &file->seeds[i]) ? grow(torus) : 0;

		if (n > most)
			best = i;
		most = MAX(most, n);
	}
	if (most && most < torus->graph->n) {
		plant(torus, &file->seeds[best]);
		grow(torus);
	}
	return most != 0;
}

/* ---- what there is ---- */

static bool refuse(const struct torus *torus, GError **error, const char *what, uint32_t sw)
{
	char name[FABRIC_NAME_SIZE] = "it";

	if (sw != FABRIC_NONE)
		fabric_node_name(torus->fabric, torus->fabric->switches[sw].node, name,
				 sizeof(name));
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_UNSUITABLE,
		    "the network is not the %ux%ux%u torus or mesh of torus_config: %s %s",
		    torus->radix[0], torus->radix[1], torus->radix[2], name, what);
	return false;
}

/* Whether a cable between these places would make a ring of a line. */
static bool closes_line(const struct torus *torus, uint32_t a, uint32_t b)
{
	for (unsigned int d = 0; d < 3; d++) {
		unsigned int at = torus_coordinate(torus, a, d);

		if (!torus->loops[d] && torus->radix[d] > 2 && (!at || at + 1 == torus->radix[d]) &&
		    torus_with(torus, a, d, at ? 0 : torus->radix[d] - 1) == b)
			return true;
	}
	return false;
}

static bool list_edges(struct torus *torus, GError **error)
{
	const struct route_graph *graph = torus->graph;

	memset(torus->edge, 0xFF, (size_t)torus->n * TORUS_WAYS * sizeof(*torus->edge));
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint32_t place = torus->place[sw];

		if (place == FABRIC_NONE)
			return refuse(torus, error, "has no place in it that cables tell", sw);
		route_each_edge(graph, sw, edge) {
			uint32_t to = torus->place[edge->to];

			if (to == FABRIC_NONE || closes_line(torus, place, to))
				continue;
			if (way_to(torus, place, to) == TORUS_WAYS)
				return refuse(torus, error,
					      "has a cable to a switch that is not beside it", sw);
			for (unsigned int way = 0; way < TORUS_WAYS; way++)
				if (torus_step(torus, place, way) == to)
					torus->edge[place * TORUS_WAYS + way] = edge - graph->edges;
		}
	}
	return true;
}

/* If rings, each line is taken for one while places are looked for. */
static bool place(struct torus *torus, const struct route_torus *file, bool rings, GError **error)
{
	bool loops[3], good;

	memcpy(loops, torus->loops, sizeof(loops));
	for (unsigned int d = 0; rings && d < 3; d++)
		torus->loops[d] = torus->radix[d] > 2;
	good = place_all(torus, file);
	memcpy(torus->loops, loops, sizeof(loops));
	return good ? list_edges(torus, error)
		    : refuse(torus, error, "has none of its seeds whole", FABRIC_NONE);
}

bool torus_init(struct torus *torus, const struct fabric *fabric, const struct route_graph *graph,
		const struct route_torus *file, GError **error)
{
	*torus = (struct torus){.fabric = fabric, .graph = graph, .n = 1};
	for (unsigned int d = 0; d < 3; d++) {
		torus->radix[d] = file->radix[d];
		torus->loops[d] = file->loops[d] && file->radix[d] > 2;
		torus->n *= file->radix[d];
		torus->last = file->radix[d] > 1 ? d : torus->last;
	}
	torus->sw = g_new(uint32_t, torus->n + 1);
	torus->place = g_new(uint32_t, graph->n + 1);
	torus->edge = g_new(uint32_t, (size_t)torus->n * TORUS_WAYS + 1);
	if (place(torus, file, false, error))
		return true;
	if (!place(torus, file, true, NULL))
		return false;
	g_clear_error(error);
	return true;
}

void torus_clear(struct torus *torus)
{
	g_free(torus->sw);
	g_free(torus->place);
	g_free(torus->edge);
}
