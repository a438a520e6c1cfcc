// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The way to a verdict on any table: true distances, and all channel dependencies.
 *
 * If at every switch the next hop for a LID is nearer to its leaf by true distance, the LID is
 * reached from everywhere and cannot loop. LIDs for which that fails anywhere (engines that detour,
 * or broken tables) are suspect, and so are all if switches are too far apart.
 *
 * Switches are shared among threads, which write the dependencies of their own ones, for LIDs of
 * hosts, whose packets come from everywhere. Those of others are followed (verify_lanes.c).
 */
#include <string.h>

#include "route/parallel.h"
#include "route/verify.h"

struct near {
	struct verify *verify;
	bool notes;	     /* dependencies of targets */
	uint16_t *lids;	     /* of the targets of the graph */
	uint8_t *hops;	     /* as of route_hops_all() */
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

/* The LIDs of a switch itself. */
static void check_own(struct verify *verify, const struct view *view, uint32_t leaf,
		      unsigned int far)
{
	const struct route_graph *graph = verify->graph;
	uint32_t lid = graph->own_lid[leaf], end = lid + route_n_own(graph, leaf);

	for (; lid < end && lid <= verify->routing->top; lid++) {
		uint8_t port = view->lft[lid];

		if (far ? view->hops[port][leaf] + 1u != far : port != 0)
			verify_suspect(verify, lid);
	}
}

static void check_switch(struct near *near, struct view *view, uint32_t sw)
{
	struct verify *verify = near->verify;
	unsigned int num_ports = verify_width(verify, sw) - 1;
	const uint8_t *hops = near->hops + (size_t)sw * verify->graph->n;

	view_switch(near, sw, view);
	memset(view->wanted, 0, (num_ports + 1) * sizeof(view->wanted[0]));
	for (uint32_t leaf = 0; leaf < verify->graph->n; leaf++) {
		check_targets(near, view, leaf, hops[leaf]);
		check_own(verify, view, leaf, hops[leaf]);
		if (hops[leaf] != ROUTE_FAR && route_lid_of(verify->graph, leaf))
			view->widest = MAX(view->widest, hops[leaf]);
	}
	for (unsigned int num = 1; near->notes && num <= num_ports; num++)
		if (verify_across(verify, sw, num) != FABRIC_NONE)
			dependency_add_wanted(verify->dependency, verify->first[sw] + num,
					      view->wanted[num]);
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

/* ---- the whole ---- */

/*
 * Targets that the table has no room for read as LID 0, which is never used. What is neither a
 * target nor of the range of a switch that has all of it is not looked at, hence suspect: what
 * ranges of LIDs leave behind that overlap.
 */
static void list_lids(struct near *near)
{
	struct verify *verify = near->verify;
	const struct route_graph *graph = verify->graph;
	g_autofree bool *is_target = g_new0(bool, verify->n_lids);

	near->lids = g_new(uint16_t, route_n_targets(graph) + 1);
	for (uint32_t t = 0; t < route_n_targets(graph); t++) {
		uint16_t lid = graph->targets[t].lid;

		near->lids[t] = lid <= verify->routing->top ? lid : 0;
		is_target[lid] = true;
		verify->noted[lid] = near->notes;
	}
	for (uint32_t lid = 1; lid <= verify->routing->top && lid < verify->n_lids; lid++) {
		const struct verify_owner *owner = &verify->owners[lid];

		if (owner->sw == FABRIC_NONE || is_target[lid])
			continue;
		if (owner->exit ||
		    lid - graph->own_lid[owner->sw] >= route_n_own(graph, owner->sw))
			verify_suspect(verify, lid);
	}
}

void verify_by_hops(struct verify *verify)
{
	uint32_t n = verify->graph->n;
	size_t row = verify->routing->n_blocks * 64;
	struct near near = {.verify = verify, .notes = !verify->routing->lanes};

	/* Who is joined in spite of caps is known to the walk only. */
	near.hops = verify->caps ? NULL : route_hops_all(verify->graph, NULL);
	if (!near.hops) {
		verify_suspect_from(verify, 1);
		return;
	}
	near.no_hops = g_malloc(n + 1);
	memset(near.no_hops, ROUTE_FAR, n + 1);
	near.no_ports = g_malloc(row);
	memset(near.no_ports, ROUTE_NO_PORT, row);
	list_lids(&near);
	route_parallel(verify->graph->threads, n, check_switches, &near);
	verify->verdict->max_hops = near.widest;
	g_free(near.hops);
	g_free(near.no_hops);
	g_free(near.no_ports);
	g_free(near.lids);
}
