// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * LID after LID is taken out and put in again, in random order: each switch, the nearest first,
 * takes the path of least cost, which grows with a high power of the load of its cables. That is
 * not the best that can be had, but near it.
 */
#include "tests/unit/route_search.h"

#include <math.h>
#include <string.h>

#include "complib/random.h"
#include "iba/codes.h"

/* ---- the network ---- */

static uint32_t switch_across(const struct fabric *fabric, uint32_t sw, unsigned int num)
{
	const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];
	uint32_t peer = fabric->ports[node->first_port + num].peer;

	return peer == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[fabric->ports[peer].node].sw;
}

static void list_channels(struct search *search)
{
	const struct fabric *fabric = search->fabric;
	uint32_t n = 0;

	search->first = g_new0(uint32_t, search->n + 1);
	search->to = g_new(uint32_t, fabric->n_ports + 1);
	search->port = g_new(uint8_t, fabric->n_ports + 1);
	search->weight = g_new(double, fabric->n_ports + 1);
	for (uint32_t sw = 0; sw < search->n; sw++) {
		const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];

		search->first[sw] = n;
		for (unsigned int num = 1; num <= node->num_ports; num++) {
			uint32_t to = switch_across(fabric, sw, num);

			if (to == FABRIC_NONE || to == sw)
				continue;
			search->to[n] = to;
			search->port[n] = num;
			search->weight[n++] = fabric->ports[node->first_port + num].rate;
		}
	}
	search->first[search->n] = search->n_channels = n;
}

/* From the rate of each channel to its weight. */
static void weigh(struct search *search)
{
	double most = 0;

	for (uint32_t c = 0; c < search->n_channels; c++) {
		search->weight[c] = iba_rate_tenths(search->weight[c]);
		most = fmax(most, search->weight[c]);
	}
	for (uint32_t c = 0; c < search->n_channels; c++)
		search->weight[c] = search->weight[c] > 0 ? most / search->weight[c] : 1;
}

static void list_lids(struct search *search)
{
	const struct fabric *fabric = search->fabric;

	search->lids = g_new(uint16_t, 0x10000);
	search->leaf = g_new(uint32_t, 0x10000);
	search->hosts = g_new0(uint32_t, search->n + 1);
	for (uint32_t p = 0; p < fabric->n_ports; p++) {
		const struct fabric_port *port = &fabric->ports[p];
		uint32_t leaf;

		if (!port->lid || port->peer == FABRIC_NONE ||
		    fabric->nodes[port->node].sw != FABRIC_NONE)
			continue;
		leaf = fabric->nodes[fabric->ports[port->peer].node].sw;
		for (uint32_t i = 0; leaf != FABRIC_NONE && i < 1u << port->lmc; i++) {
			search->lids[search->n_lids] = port->lid + i;
			search->leaf[search->n_lids++] = leaf;
			search->hosts[leaf]++;
		}
	}
}

static void find_rises(struct search *search, const uint32_t *place)
{
	search->rises = place ? g_new(bool, search->n_channels + 1) : NULL;
	for (uint32_t sw = 0; place && sw < search->n; sw++)
		for (uint32_t c = search->first[sw]; c < search->first[sw + 1]; c++)
			search->rises[c] = place[search->to[c]] < place[sw];
}

/* ---- tables ---- */

static uint8_t step_by(const struct search *search, uint32_t sw, uint8_t port)
{
	for (uint32_t c = search->first[sw]; c < search->first[sw + 1]; c++)
		if (search->port[c] == port)
			return c - search->first[sw];
	return SEARCH_NO_STEP;
}

static uint32_t next_of(const struct search *search, const uint8_t *step, uint32_t sw)
{
	return search->to[search->first[sw] + step[sw]];
}

static void read_hops(struct search *search, uint32_t number)
{
	const uint8_t *step = search->step + (size_t)number * search->n;
	uint8_t *hops = search->hops + (size_t)number * search->n;

	for (uint32_t sw = 0; sw < search->n; sw++) {
		uint32_t at = sw, far = 0;

		for (; at != search->leaf[number] && far < SEARCH_FAR; far++) {
			if (step[at] == SEARCH_NO_STEP)
				far = SEARCH_FAR - 1;
			else
				at = next_of(search, step, at);
		}
		hops[sw] = far;
	}
}

static void read_tables(struct search *search, const struct routing *routing)
{
	size_t size = (size_t)search->n_lids * search->n + 1;

	search->step = g_malloc(size);
	search->hops = g_malloc(size);
	for (uint32_t i = 0; i < search->n_lids; i++) {
		for (uint32_t sw = 0; sw < search->n; sw++)
			search->step[(size_t)i * search->n + sw] =
				step_by(search, sw, routing_port(routing, sw, search->lids[i]));
		read_hops(search, i);
	}
}

/* Switches from the farthest from the leaf of a LID to the nearest; returns their number. */
static uint32_t order_by_hops(const struct search *search, uint32_t number, uint32_t *order)
{
	const uint8_t *hops = search->hops + (size_t)number * search->n;
	uint32_t at[SEARCH_FAR + 2] = {0};

	for (uint32_t sw = 0; sw < search->n; sw++)
		at[SEARCH_FAR - hops[sw] + 1]++;
	at[1] = 0; /* those that do not lead there */
	for (unsigned int i = 1; i <= SEARCH_FAR; i++)
		at[i] += at[i - 1];
	for (uint32_t sw = 0; sw < search->n; sw++)
		if (hops[sw] && hops[sw] != SEARCH_FAR)
			order[at[SEARCH_FAR - hops[sw]]++] = sw;
	return at[SEARCH_FAR - 1];
}

/* Adds what all hosts send to a LID, or takes it out; sent is scratch. */
static void add_flow(struct search *search, uint32_t number, const uint32_t *order, uint32_t n,
		     bool out, uint64_t *sent)
{
	const uint8_t *step = search->step + (size_t)number * search->n;

	for (uint32_t sw = 0; sw < search->n; sw++)
		sent[sw] = search->hosts[sw];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = order[i];

		search->load[search->first[sw] + step[sw]] += out ? -sent[sw] : sent[sw];
		sent[next_of(search, step, sw)] += sent[sw];
	}
}

static void add_flows(struct search *search)
{
	g_autofree uint32_t *order = g_new(uint32_t, search->n + 1);
	g_autofree uint64_t *sent = g_new(uint64_t, search->n + 1);

	search->load = g_new0(uint64_t, search->n_channels + 1);
	for (uint32_t i = 0; i < search->n_lids; i++)
		add_flow(search, i, order, order_by_hops(search, i, order), false, sent);
}

void search_init(struct search *search, const struct fabric *fabric, const struct routing *routing)
{
	*search = (struct search){.fabric = fabric, .n = fabric->n_switches, .state = 1};
	list_channels(search);
	weigh(search);
	list_lids(search);
	find_rises(search, routing->order);
	read_tables(search, routing);
	add_flows(search);
}

void search_clear(struct search *search)
{
	g_free(search->lids);
	g_free(search->leaf);
	g_free(search->hosts);
	g_free(search->first);
	g_free(search->to);
	g_free(search->port);
	g_free(search->rises);
	g_free(search->weight);
	g_free(search->step);
	g_free(search->hops);
	g_free(search->load);
}

double search_busiest(const struct search *search)
{
	double most = 0;

	for (uint32_t c = 0; c < search->n_channels; c++)
		most = fmax(most, search->load[c] * search->weight[c]);
	return most;
}

/* ---- the search ---- */

/*
 * Whether a channel may take the place of the one that leads on to a LID: as near, up if that one
 * is, and not down to where the path rises.
 */
static bool is_legal(const struct search *search, const uint8_t *step, const uint8_t *hops,
		     uint32_t sw, uint32_t channel)
{
	uint32_t was = search->first[sw] + step[sw], to = search->to[channel];

	if (hops[to] + 1 != hops[sw])
		return false;
	if (!search->rises)
		return true;
	return search->rises[channel] == search->rises[was] &&
	       (search->rises[channel] || !hops[to] ||
		!search->rises[search->first[to] + step[to]]);
}

static double cost_of(const struct search *search, uint32_t channel, double scale)
{
	double load = search->load[channel] * search->weight[channel] * scale, square = load * load;
	double fourth = square * square;

	return fourth * fourth * fourth + 1e-9;
}

/* Puts a LID in again, the nearest switch first. */
static void choose(struct search *search, uint32_t number, const uint32_t *order, uint32_t n,
		   double *cost, double scale)
{
	uint8_t *step = search->step + (size_t)number * search->n;
	const uint8_t *hops = search->hops + (size_t)number * search->n;

	cost[search->leaf[number]] = 0;
	for (uint32_t i = n; i-- > 0;) {
		uint32_t sw = order[i], first = search->first[sw], degree;
		uint32_t start;
		uint8_t best = step[sw];

		degree = search->first[sw + 1] - first;
		start = random_below(&search->state, degree);
		cost[sw] = INFINITY;
		for (uint32_t k = 0; k < degree; k++) {
			uint32_t c = first + (start + k) % degree;
			double by = cost[search->to[c]] + cost_of(search, c, scale);

			if (!is_legal(search, step, hops, sw, c) || by >= cost[sw])
				continue;
			cost[sw] = by;
			best = c - first;
		}
		step[sw] = best;
	}
}

double search_run(struct search *search, unsigned int n_rounds)
{
	g_autofree uint32_t *order = g_new(uint32_t, search->n + 1);
	g_autofree uint64_t *sent = g_new(uint64_t, search->n + 1);
	g_autofree double *cost = g_new(double, search->n + 1);
	double least = search_busiest(search), now = least;

	for (unsigned int round = 0; round < n_rounds && now > 0; round++) {
		uint32_t start = random_below(&search->state, search->n_lids), stride = 7919;

		while (search->n_lids % stride == 0)
			stride++;
		for (uint32_t i = 0; i < search->n_lids; i++) {
			uint32_t number = (start + (uint64_t)i * stride) % search->n_lids;
			uint32_t n = order_by_hops(search, number, order);

			add_flow(search, number, order, n, true, sent);
			choose(search, number, order, n, cost, 1 / least);
			add_flow(search, number, order, n, false, sent);
		}
		now = search_busiest(search);
		least = fmin(least, now);
	}
	return least;
}

double search_ratio(const struct fabric *fabric, const struct routing *routing,
		    unsigned int n_rounds)
{
	struct search search;
	double busiest, found;

	search_init(&search, fabric, routing);
	busiest = search_busiest(&search);
	found = search_run(&search, n_rounds);
	search_clear(&search);
	return found > 0 ? busiest / found : 1;
}
