// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Weights: how many hops the way out of a port counts as, in that direction only; 1 where the
 * operator says nothing. Distances are sums of weights, and a best path is one of least weight.
 *
 * Of parallel cables between two switches only the lightest count: a path over a heavier one would
 * not be a best one. They are taken out of the graph, so that nobody who reads it need know. A
 * weight of 255 closes a port, unless that cuts switches off from each other; then it is merely
 * very heavy.
 *
 * Distances are octets, as all tables of hops are. If sums do not fit, all weights are halved,
 * rounded up, as often as it takes. A subnet that grows or loses a cable may so get routes that
 * keep less exactly to what the operator said, but not none; the note says it.
 *
 * The search goes backwards from each destination, with a bucket for each distance (R. Dial, 1969).
 */
#include "route/weights.h"

#include <stdatomic.h>
#include <string.h>

#include "route/parallel.h"
#include "route/shortest.h"

#define NOBODY UINT32_MAX

/* ---- the search ---- */

/* Edges by the switch that they lead to. */
struct incoming {
	uint32_t *first; /* [n + 1] */
	uint32_t *edge, *from;
};

static void incoming_init(struct incoming *in, const struct route_graph *graph)
{
	uint32_t n_edges = graph->first_edge[graph->n];

	in->first = g_new0(uint32_t, graph->n + 2);
	in->edge = g_new(uint32_t, n_edges + 1);
	in->from = g_new(uint32_t, n_edges + 1);
	for (uint32_t e = 0; e < n_edges; e++)
		in->first[graph->edges[e].to + 2]++;
	for (uint32_t sw = 2; sw <= graph->n; sw++)
		in->first[sw] += in->first[sw - 1];
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			uint32_t at = in->first[graph->edges[e].to + 1]++;

			in->edge[at] = e;
			in->from[at] = sw;
		}
	}
}

static void incoming_clear(struct incoming *in)
{
	g_free(in->first);
	g_free(in->edge);
	g_free(in->from);
}

/* Switches to look at, by distance; one may stand in several buckets, and the first one counts. */
struct buckets {
	uint32_t head[ROUTE_HOPS_MAX + 1];
	uint32_t *sw, *next;
	uint32_t n;
};

static void push(struct buckets *buckets, uint32_t sw, unsigned int distance)
{
	buckets->sw[buckets->n] = sw;
	buckets->next[buckets->n] = buckets->head[distance];
	buckets->head[distance] = buckets->n++;
}

static void relax(const struct route_graph *graph, const struct incoming *in, uint32_t to,
		  uint8_t *distance, struct buckets *buckets)
{
	for (uint32_t i = in->first[to]; i < in->first[to + 1]; i++) {
		uint32_t from = in->from[i];
		unsigned int weight = graph->weight[in->edge[i]], sum = distance[to] + weight;

		if (weight != ROUTE_WEIGHT_CLOSED && sum < distance[from]) {
			distance[from] = sum;
			push(buckets, from, sum);
		}
	}
}

/* Whether no switch is farther than distances can say. */
static bool fits(const struct route_graph *graph, const struct incoming *in,
		 const uint8_t *distance)
{
	for (uint32_t to = 0; to < graph->n; to++)
		for (uint32_t i = in->first[to];
		     distance[to] != ROUTE_FAR && i < in->first[to + 1]; i++)
			if (distance[in->from[i]] == ROUTE_FAR &&
			    graph->weight[in->edge[i]] != ROUTE_WEIGHT_CLOSED)
				return false;
	return true;
}

static bool search(const struct route_graph *graph, const struct incoming *in, uint32_t dest,
		   uint8_t *distance, struct buckets *buckets)
{
	memset(distance, ROUTE_FAR, graph->n);
	memset(buckets->head, 0xFF, sizeof(buckets->head));
	buckets->n = 0;
	distance[dest] = 0;
	push(buckets, dest, 0);
	for (unsigned int d = 0; d <= ROUTE_HOPS_MAX; d++) {
		while (buckets->head[d] != NOBODY) {
			uint32_t at = buckets->head[d];

			buckets->head[d] = buckets->next[at];
			if (distance[buckets->sw[at]] == d)
				relax(graph, in, buckets->sw[at], distance, buckets);
		}
	}
	return fits(graph, in, distance);
}

/* What the threads of a search share. */
struct job {
	const struct route_graph *graph;
	const struct incoming *in;
	const uint32_t *dests;
	uint32_t n_dests;
	uint8_t *hops;
	atomic_bool too_far;
};

static void search_dests(void *arg, uint32_t first, uint32_t last)
{
	struct job *job = arg;
	uint32_t n = job->graph->n, n_edges = job->graph->first_edge[n];
	g_autofree uint8_t *distance = g_malloc(n + 1);
	struct buckets buckets = {
		.sw = g_new(uint32_t, n_edges + 1),
		.next = g_new(uint32_t, n_edges + 1),
	};

	for (uint32_t i = first; i < last; i++) {
		if (!search(job->graph, job->in, job->dests[i], distance, &buckets)) {
			atomic_store(&job->too_far, true);
			break;
		}
		for (uint32_t sw = 0; sw < n; sw++)
			job->hops[(size_t)sw * job->n_dests + i] = distance[sw];
	}
	g_free(buckets.sw);
	g_free(buckets.next);
}

/* Exit ports on best paths, the edges of a switch taking turns. */
static void fill_next(const struct route_graph *graph, const uint8_t *hops, uint32_t n_dests,
		      uint8_t *next)
{
	memset(next, 0xFF, (size_t)graph->n * n_dests);
	for (uint32_t sw = 0; sw < graph->n; sw++) {
		const uint8_t *here = hops + (size_t)sw * n_dests;
		uint32_t first = graph->first_edge[sw], m = route_degree(graph, sw);

		for (uint32_t i = 0; i < n_dests; i++) {
			for (uint32_t turn = 0; turn < m; turn++) {
				uint32_t e = first + (sw + i + turn) % m;
				const struct route_edge *edge = &graph->edges[e];

				if (!route_leads(graph, e, here[i],
						 hops[(size_t)edge->to * n_dests + i]))
					continue;
				next[(size_t)sw * n_dests + i] = graph->links[edge->first_link];
				break;
			}
		}
	}
}

bool route_weighted_hops(const struct route_graph *graph, const uint32_t *dests, uint32_t n_dests,
			 uint8_t *hops, uint8_t *next)
{
	struct incoming in;
	struct job job = {graph, &in, dests, n_dests, hops};

	incoming_init(&in, graph);
	atomic_init(&job.too_far, false);
	memset(hops, ROUTE_FAR, (size_t)graph->n * n_dests);
	route_parallel(graph->threads, n_dests, search_dests, &job);
	incoming_clear(&in);
	if (next)
		fill_next(graph, hops, n_dests, next);
	return !atomic_load(&job.too_far);
}

/* ---- what the operator says ---- */

struct tally {
	uint32_t gone_switches, gone_ports, idle_ports;
};

static uint32_t find_switch(const struct fabric *fabric, uint64_t guid)
{
	uint32_t node = fabric_node_by_guid(fabric, guid), port;

	if (node != FABRIC_NONE && fabric_is_switch(fabric, node))
		return fabric->nodes[node].sw;
	port = fabric_port_by_guid(fabric, guid);
	return port == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[fabric->ports[port].node].sw;
}

/* The link that begins at this port, or FABRIC_NONE. */
static uint32_t find_link(const struct route_graph *graph, uint32_t sw, uint8_t port)
{
	uint32_t first = graph->n_links, last = graph->n_links;

	if (graph->first_edge[sw] < graph->first_edge[graph->n])
		first = graph->edges[graph->first_edge[sw]].first_link;
	if (graph->first_edge[sw + 1] < graph->first_edge[graph->n])
		last = graph->edges[graph->first_edge[sw + 1]].first_link;
	for (uint32_t link = first; link < last; link++)
		if (graph->links[link] == port)
			return link;
	return FABRIC_NONE;
}

/* Weight by link. */
static uint8_t *read_weights(const struct route_graph *graph, const struct fabric *fabric,
			     const struct route_input *input, struct tally *tally)
{
	uint8_t *weight = g_malloc(graph->n_links + 1);

	memset(weight, 1, graph->n_links + 1);
	for (uint32_t i = 0; i < input->n_weights; i++) {
		const struct route_weight *given = &input->weights[i];
		uint32_t sw = find_switch(fabric, given->guid), link;

		if (sw == FABRIC_NONE) {
			tally->gone_switches++;
		} else if (given->port > fabric->nodes[fabric->switches[sw].node].num_ports) {
			tally->gone_ports++;
		} else {
			link = find_link(graph, sw, given->port);
			tally->idle_ports += link == FABRIC_NONE;
			if (link != FABRIC_NONE)
				weight[link] = given->weight;
		}
	}
	return weight;
}

/* Leaves the lightest of the links of an edge, and returns their weight. */
static uint8_t keep_lightest(struct route_graph *graph, struct route_edge *edge,
			     const uint8_t *weight)
{
	uint8_t least = ROUTE_WEIGHT_CLOSED;
	unsigned int n = 0;

	for (unsigned int k = 0; k < edge->n_links; k++)
		least = MIN(least, weight[edge->first_link + k]);
	for (unsigned int k = 0; k < edge->n_links; k++)
		if (weight[edge->first_link + k] == least)
			graph->links[edge->first_link + n++] = graph->links[edge->first_link + k];
	edge->n_links = n;
	return least;
}

/* From weights of links to those of edges, which the graph has only if some count. */
static void weigh(struct route_graph *graph, const uint8_t *weight)
{
	uint32_t n_edges = graph->first_edge[graph->n];
	uint8_t most = 1;

	graph->weight = g_malloc(n_edges + 1);
	graph->parallel = false;
	for (uint32_t e = 0; e < n_edges; e++) {
		graph->weight[e] = keep_lightest(graph, &graph->edges[e], weight);
		graph->parallel |= graph->edges[e].n_links > 1;
		most = MAX(most, graph->weight[e]);
	}
	if (most == 1)
		g_clear_pointer(&graph->weight, g_free);
}

/* ---- weights that cannot be had ---- */

/* Whether all switches that cables connect reach each other. */
static bool all_reach(const struct route_graph *graph, const uint8_t *hops)
{
	uint32_t n_edges = graph->first_edge[graph->n];

	for (uint32_t e = 0, sw = 0; e < n_edges; e++) {
		while (e == graph->first_edge[sw + 1])
			sw++;
		if (hops[(size_t)sw * graph->n + graph->edges[e].to] == ROUTE_FAR)
			return false;
	}
	return true;
}

/* False if none is closed. */
static bool open_closed(struct route_graph *graph)
{
	bool any = false;

	for (uint32_t e = 0; e < graph->first_edge[graph->n]; e++) {
		if (graph->weight[e] != ROUTE_WEIGHT_CLOSED)
			continue;
		graph->weight[e] = ROUTE_WEIGHT_CLOSED - 1;
		any = true;
	}
	return any;
}

/* False if all are 1 already. */
static bool halve(struct route_graph *graph)
{
	bool any = false;

	for (uint32_t e = 0; e < graph->first_edge[graph->n]; e++) {
		if (graph->weight[e] == 1 || graph->weight[e] == ROUTE_WEIGHT_CLOSED)
			continue;
		graph->weight[e] = (graph->weight[e] + 1) / 2;
		any = true;
	}
	return any;
}

static char *make_note(const struct tally *tally, uint32_t n, unsigned int divisor, bool opened)
{
	GString *text = g_string_new("hop_weights_file: ");

	g_string_append_printf(text, "%u ports weighed", n - tally->gone_switches -
			       tally->gone_ports - tally->idle_ports);
	if (tally->gone_switches)
		g_string_append_printf(text, ", %u of switches that are not in the subnet",
				       tally->gone_switches);
	if (tally->gone_ports)
		g_string_append_printf(text, ", %u ports that their switch does not have",
				       tally->gone_ports);
	if (tally->idle_ports)
		g_string_append_printf(text, ", %u ports that lead to no switch now",
				       tally->idle_ports);
	if (divisor > 1)
		g_string_append_printf(text, "; all weights are divided by %u, as sums of them "
				       "exceed %u", divisor, ROUTE_HOPS_MAX);
	if (opened)
		g_string_append(text, "; ports of weight 255 are used all the same, as without "
				      "them some switches cannot reach each other");
	return g_string_free(text, FALSE);
}

uint8_t *route_hops_by_weight(struct route_graph *graph, const struct fabric *fabric,
			      const struct route_input *input, uint8_t *next, GError **error)
{
	struct tally tally = {0};
	g_autofree uint8_t *weight = read_weights(graph, fabric, input, &tally);
	unsigned int divisor = 1;
	bool opened = false;
	uint8_t *hops;

	weigh(graph, weight);
	while (graph->weight) {
		hops = route_hops_all(graph, next);
		if (hops && (all_reach(graph, hops) || !open_closed(graph)))
			break;
		opened |= hops != NULL;
		if (!hops && !halve(graph))
			g_clear_pointer(&graph->weight, g_free);
		divisor <<= !hops;
		g_clear_pointer(&hops, g_free);
	}
	if (!graph->weight)
		hops = route_hops_or_error(graph, next, error);
	graph->note = make_note(&tally, input->n_weights, divisor, opened);
	return hops;
}
