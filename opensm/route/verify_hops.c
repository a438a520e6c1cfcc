// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The way to a verdict on any table: true distances, and all channel dependencies.
 *
 * If at every switch the next hop for a LID is nearer to its leaf by true distance, the LID is
 * reached from everywhere and cannot loop. LIDs for which that fails anywhere (engines that detour,
 * or broken tables) are suspect.
 *
 * Switches are shared among threads, which write the dependencies of their own ones.
 */
#include <string.h>

#include "route/parallel.h"
#include "route/verify.h"

#define TILE 64 /* columns transposed together */

struct near {
	struct verify *verify;
	uint16_t *lids;	     /* of the targets of the graph */
	uint8_t *hops;	     /* NULL if switches are too far apart: then every LID is suspect */
	_Atomic unsigned int widest; /* hops of LIDs that are not suspect */
	uint8_t *no_hops, *no_ports; /* rows of a neighbour that is no switch */
};

/* The neighbours of one switch as rows, by exit port; and what is found out there. */
struct view {
	uint32_t sw;
	const uint8_t *lft;
	const uint8_t *hops[256];
	const uint8_t *ports[256];
	uint8_t wanted[256][256]; /* [exit port][exit port of the neighbour] */
	unsigned int widest;	  /* of all switches of this thread */
};

static void view_switch(const struct near *near, uint32_t sw, struct view *view)
{
	const struct verify *verify = near->verify;

	view->sw = sw;
	view->lft = verify->routing->lft[sw];
	for (unsigned int num = 0; num < 256; num++) {
		uint32_t to = verify_across(verify, sw, num);

		view->hops[num] = near->no_hops;
		view->ports[num] = near->no_ports;
		if (to == FABRIC_NONE)
			continue;
		view->hops[num] = near->hops + (size_t)to * verify->graph->n;
		view->ports[num] = verify->routing->lft[to];
	}
}

/* Targets of one leaf as one switch sends them. The innermost loop: all LIDs at all switches. */
static void check_targets(const struct near *near, struct view *view, uint32_t leaf,
			  unsigned int far)
{
	const struct route_graph *graph = near->verify->graph;
	uint32_t last = graph->first_target[leaf + 1];
	const uint16_t *lids = near->lids;

	for (uint32_t t = graph->first_target[leaf]; t < last; t++) {
		uint16_t lid = lids[t];
		uint8_t port = view->lft[lid];

		view->wanted[port][view->ports[port][lid]] = 1;
		if (G_UNLIKELY(view->hops[port][leaf] + 1u != far) &&
		    (far || port != graph->targets[t].exit))
			verify_suspect(near->verify, lid);
	}
}

static void check_own(struct verify *verify, const struct view *view, const uint8_t *hops)
{
	for (uint32_t i = 0; i < verify->n_own; i++) {
		const struct verify_column *own = &verify->own[i];
		uint8_t port = view->lft[own->lid];
		unsigned int far = hops[own->sw];

		if (far ? view->hops[port][own->sw] + 1u != far : port != 0)
			verify_suspect(verify, own->lid);
	}
}

static void check_switch(struct near *near, struct view *view, uint32_t sw)
{
	struct verify *verify = near->verify;
	unsigned int num_ports = verify->first[sw + 1] - verify->first[sw] - 1;
	const uint8_t *hops = near->hops + (size_t)sw * verify->graph->n;

	view_switch(near, sw, view);
	memset(view->wanted, 0, (num_ports + 1) * sizeof(view->wanted[0]));
	for (uint32_t leaf = 0; leaf < verify->graph->n; leaf++) {
		check_targets(near, view, leaf, hops[leaf]);
		if (hops[leaf] != ROUTE_FAR && route_lid_of(verify->graph, leaf))
			view->widest = MAX(view->widest, hops[leaf]);
	}
	check_own(verify, view, hops);
	for (unsigned int num = 1; num <= num_ports; num++)
		if (verify_across(verify, sw, num) != FABRIC_NONE)
			dependency_add_wanted(verify->dependency, sw, num, view->wanted[num]);
}

static void check_switches(void *arg, uint32_t first, uint32_t last)
{
	struct near *near = arg;
	struct view *view = g_new0(struct view, 1);

	for (uint32_t sw = first; sw < last; sw++)
		check_switch(near, view, sw);
	verify_widen(&near->widest, view->widest);
	g_free(view);
}

/* ---- single LIDs ---- */

static void add_dependencies(struct verify *verify, uint16_t lid)
{
	for (uint32_t sw = 0; sw < verify->graph->n; sw++) {
		uint8_t port = routing_port(verify->routing, sw, lid);
		uint32_t to = verify_across(verify, sw, port);

		if (to != FABRIC_NONE)
			dependency_add(verify->dependency, sw, port,
				       routing_port(verify->routing, to, lid));
	}
}

/* Without distances nothing is shown: all LIDs are walked, all dependencies taken singly. */
static void suspect_all(struct verify *verify)
{
	const struct route_graph *graph = verify->graph;

	for (uint32_t t = 0; t < route_n_targets(graph); t++) {
		verify_suspect(verify, graph->targets[t].lid);
		add_dependencies(verify, graph->targets[t].lid);
	}
	for (uint32_t i = 0; i < verify->n_own; i++)
		verify_suspect(verify, verify->own[i].lid);
}

/* Follows what hosts send along a column, which is [switch]: exit port; notes dependencies. */
static void follow(const struct verify *verify, struct dependency *dependency,
		   const uint8_t *column, bool *met)
{
	const struct route_graph *graph = verify->graph;

	memset(met, false, graph->n);
	for (uint32_t leaf = 0; leaf < graph->n; leaf++) {
		uint32_t sw = leaf;

		if (!route_is_source(graph, leaf))
			continue;
		while (!met[sw]) {
			uint32_t to = verify_across(verify, sw, column[sw]);

			met[sw] = true;
			if (to == FABRIC_NONE)
				break;
			dependency_add(dependency, sw, column[sw], column[to]);
			sw = to;
		}
	}
}

/* Threads note the dependencies of their shares of the LIDs of switches apart. */
struct following {
	const struct verify *verify;
	struct dependency **found; /* [share] */
	uint32_t n;		   /* shares */
};

static void follow_tile(const struct verify *verify, struct dependency *found, uint32_t first,
			uint8_t *tile, bool *met)
{
	const struct verify_column *own = verify->own + first;
	uint32_t n = MIN(verify->n_own - first, TILE), n_switches = verify->graph->n;

	for (uint32_t sw = 0; sw < n_switches; sw++)
		for (uint32_t i = 0; i < n; i++)
			tile[(size_t)i * n_switches + sw] = verify->routing->lft[sw][own[i].lid];
	for (uint32_t i = 0; i < n; i++)
		follow(verify, found, tile + (size_t)i * n_switches, met);
}

static void follow_shares(void *arg, uint32_t share, uint32_t last)
{
	const struct following *following = arg;
	const struct verify *verify = following->verify;
	g_autofree uint8_t *tile = g_malloc((size_t)TILE * verify->graph->n + 1);
	g_autofree bool *met = g_new(bool, verify->graph->n + 1);

	for (; share < last; share++)
		for (uint32_t i = share * TILE; i < verify->n_own; i += following->n * TILE)
			follow_tile(verify, following->found[share], i, tile, met);
}

/* Dependencies of packets to switches, which only channel adapters send. */
static void follow_to_switches(struct verify *verify)
{
	uint32_t n = CLAMP(verify->graph->threads, 1, verify->n_own / TILE + 1);
	g_autofree struct dependency **found = g_new(struct dependency *, n);
	struct following following = {verify, found, n};

	found[0] = verify->dependency;
	for (uint32_t i = 1; i < n; i++)
		found[i] = dependency_new(verify->graph->n, verify->first, verify->to);
	route_parallel(n, n, follow_shares, &following);
	for (uint32_t i = 1; i < n; i++) {
		dependency_add_all(verify->dependency, found[i]);
		dependency_free(found[i]);
	}
}

static void follow_odd(struct verify *verify)
{
	g_autofree uint8_t *column = g_malloc(verify->graph->n + 1);
	g_autofree bool *met = g_new(bool, verify->graph->n + 1);

	for (uint32_t i = 0; i < verify->odd->len; i++) {
		uint16_t lid = g_array_index(verify->odd, uint16_t, i);
		uint32_t endport = verify->fabric->lid_port[lid];

		if (!fabric_is_switch(verify->fabric, verify->fabric->ports[endport].node)) {
			add_dependencies(verify, lid);
			continue;
		}
		for (uint32_t sw = 0; sw < verify->graph->n; sw++)
			column[sw] = routing_port(verify->routing, sw, lid);
		follow(verify, verify->dependency, column, met);
	}
}

/* ---- the whole ---- */

/* Targets that the table has no room for read as LID 0, which is never used. */
static void list_lids(struct near *near)
{
	const struct route_graph *graph = near->verify->graph;

	near->lids = g_new(uint16_t, route_n_targets(graph) + 1);
	for (uint32_t t = 0; t < route_n_targets(graph); t++) {
		uint16_t lid = graph->targets[t].lid;

		near->lids[t] = lid <= near->verify->routing->top ? lid : 0;
	}
}

void verify_by_hops(struct verify *verify)
{
	struct near near = { .verify = verify };
	uint32_t n = verify->graph->n;
	size_t row = verify->routing->n_blocks * 64;

	near.hops = route_hops_all(verify->graph, NULL);
	near.no_hops = g_malloc(n + 1);
	memset(near.no_hops, ROUTE_FAR, n + 1);
	near.no_ports = g_malloc(row);
	memset(near.no_ports, ROUTE_NO_PORT, row);
	list_lids(&near);
	if (near.hops)
		route_parallel(verify->graph->threads, n, check_switches, &near);
	else
		suspect_all(verify);
	verify->verdict->max_hops = near.widest;
	follow_to_switches(verify);
	follow_odd(verify);
	g_free(near.hops);
	g_free(near.no_hops);
	g_free(near.no_ports);
	g_free(near.lids);
}
