// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What grows: tables, and columns of their size, of which an engine may have several (struct
 * route_need); distances and SLs of all pairs of switches; channels by the ports of switches, a
 * graph of their dependencies for each lane, and one for the verifier, in which a channel has a bit
 * for each port of the next switch. If lanes depend on turns, that graph joins all lanes, and each
 * switch has a row for each pair of its ports. Nothing else matters in a large network; a small one
 * has room to spare in MEMORY_LEAST.
 */
#include "route/memory.h"

#include "route/fill/shortest.h"
#include "route/graph/plan.h"
#include "route/value/lanes.h"

#define MEMORY_LEAST (UINT64_C(1) << 20)
#define PORTS 256 /* of a switch, in tables by ports */
#define LINK_OCTETS 100 /* edges, channels, loads of a direction of a cable */
#define TARGET_OCTETS 40 /* of a LID of a host */
#define LANE_OCTETS 25 /* of a channel in a graph of a lane */
#define STEP_BITS 3 /* of two consecutive channels there */
#define THREAD_OCTETS 100 /* of a switch, in the searches of a thread */
#define THREAD_LINK_OCTETS 8 /* of a link, in the loads of a thread */
#define THREAD_LANE_OCTETS 160 /* of a link, where a thread also has costs by lanes */

struct measures {
	const struct route_graph *graph;
	uint64_t n, tables, pairs, ports, turns, steps;
	bool tree;
	unsigned int lanes; /* at most; 0: the engine uses none */
	unsigned int depth; /* hops of the longest path, or slightly fewer */
};

/* The switch that is farthest from another one, and the hops to it. */
static uint32_t find_farthest(const struct route_graph *graph, uint32_t from, unsigned int *hops)
{
	g_autofree uint32_t *queue = g_new(uint32_t, graph->n + 1);
	g_autofree uint32_t *far = g_new0(uint32_t, graph->n + 1);
	uint32_t tail = 0;

	queue[tail++] = from;
	far[from] = 1;
	for (uint32_t i = 0; i < tail; i++)
		route_each_edge(graph, queue[i], edge)
			if (!far[edge->to]) {
				far[edge->to] = far[queue[i]] + 1;
				queue[tail++] = edge->to;
			}
	*hops = far[queue[tail - 1]] - 1;
	return queue[tail - 1];
}

static void count_ports(const struct fabric *fabric, struct measures *of)
{
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		uint64_t width = fabric->nodes[fabric->switches[sw].node].num_ports + 1, links = 0;

		route_each_edge(of->graph, sw, edge)
			links += edge->n_links;
		of->ports += width;
		of->turns += width * width;
		of->steps += links * links;
	}
}

static void measure(const struct route_engine *engine, const struct fabric *fabric,
		    const struct route_input *input, const struct route_plan *plan,
		    struct measures *of)
{
	g_autofree uint32_t *rank = g_new(uint32_t, fabric->n_switches + 1);

	of->graph = plan->graph;
	of->n = plan->graph->n;
	of->tables = of->n * (fabric->max_lid / FABRIC_LFT_BLOCK + 1) * FABRIC_LFT_BLOCK;
	of->pairs = of->n * of->n;
	of->tree = route_tree_rank(&plan->wishes, rank);
	of->lanes = engine->need.lanes ? route_data_vls(fabric, input) : 0;
	if (of->n)
		find_farthest(of->graph, find_farthest(of->graph, 0, &of->depth), &of->depth);
	count_ports(fabric, of);
}

static uint64_t of_engine(const struct measures *of, const struct route_need *need,
			  unsigned int threads)
{
	uint64_t lane = of->graph->n_links * LANE_OCTETS + of->steps * STEP_BITS / 8;
	uint64_t by_port = of->n * PORTS * sizeof(uint32_t);
	uint64_t by_thread = of->lanes && !of->tree ? THREAD_LANE_OCTETS : THREAD_LINK_OCTETS;
	unsigned int tables = of->tree ? need->in_trees : need->elsewhere;

	if (!tables)
		tables = of->tree ? 1 : 2;
	return tables * of->tables + MAX(need->pairs, 2) * of->pairs +
	       (of->lanes ? 4 : 2) * by_port + of->graph->n_links * LINK_OCTETS +
	       route_n_targets(of->graph) * TARGET_OCTETS + (of->tree ? 1 : of->lanes) * lane +
	       (need->turns && !of->tree ? of->turns * sizeof(uint64_t) : 0) +
	       threads * (of->n * THREAD_OCTETS + of->graph->n_links * by_thread);
}

/* Tables and lanes of the engine, and the graph of the verifier. */
static uint64_t of_verifier(const struct measures *of, const struct route_need *need,
			    unsigned int threads)
{
	bool turns = need->turns && !of->tree;
	unsigned int lanes = of->tree ? 1 : CLAMP(of->lanes, 1, turns ? of->depth + 2 : 16);
	uint64_t row = PORTS / 8 * (turns ? ROUTE_SLS : 1);
	uint64_t copies = turns || threads == 1 ? 1 : threads + 1;

	return of->tables + 2 * of->pairs + copies * lanes * of->ports * row +
	       (turns ? of->turns * sizeof(uint64_t) : 0);
}

uint64_t route_memory(const struct route_engine *engine, const struct fabric *fabric,
		      const struct route_input *input)
{
	unsigned int threads = MAX(input->threads, 1);
	struct route_plan plan;
	struct measures of = {0};
	uint64_t octets;

	route_plan_init(&plan, fabric);
	measure(engine, fabric, input, &plan, &of);
	octets = MAX(of_engine(&of, &engine->need, threads),
		     of_verifier(&of, &engine->need, threads));
	route_plan_clear(&plan);
	return MEMORY_LEAST + octets;
}
