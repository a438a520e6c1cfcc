// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verifier: follows what a set of LFTs really does and knows nothing of how it was made.
 *
 * First pass, in the order of memory: if at every switch the next hop for a LID is nearer to its
 * leaf by true distance, the LID is reached from everywhere and cannot loop. LIDs for which that
 * fails anywhere (engines that detour, or broken tables) are walked switch by switch, each switch
 * coloured once.
 *
 * Channel dependencies are those of packets from any channel adapter to any LID, and from any
 * switch to any channel adapter. Left out are packets from switch to switch: management of VL 15
 * needs no credits that a cycle could hold, and general packets between two switches need a
 * subnet manager or client on a switch. In trees these would close cycles that no other can.
 *
 * LIDs that nobody owns are not looked at.
 *
 * The first pass is shared among threads by switches. They write the dependencies of their own
 * switches, and what they find wrong into atomic variables.
 */
#include <stdatomic.h>
#include <string.h>

#include "route/dependency.h"
#include "route/engine.h"
#include "route/graph.h"
#include "route/parallel.h"

#define WITNESS_HOPS 64
#define TILE 64 /* columns transposed together */

enum { STATE_NEW, STATE_ON_PATH, STATE_REACHED, STATE_DISCARDED, STATE_HOLE, STATE_LOOP };

struct verify {
	const struct fabric *fabric;
	const struct routing *routing;
	struct route_verdict *verdict;
	struct route_graph *graph;
	uint16_t *lids;	  /* of the targets of the graph */
	uint32_t *first;  /* [switch]: of its port 0 in to */
	uint32_t *to;	  /* switch across a port, or FABRIC_NONE */
	uint8_t *hops;	  /* NULL if switches are too far apart: then every LID is walked */
	uint32_t *part;	  /* [switch]: number of its connected part */
	atomic_bool *suspect; /* [LID]: not shown to be right by the first pass */
	atomic_uint widest;   /* hops of LIDs shown by the first pass */
	struct dependency *dependency;
	uint8_t *no_hops, *no_ports; /* rows of a neighbour that is no switch */
	uint8_t *state;		     /* [switch]: of a walk */
	uint16_t *depth;
	uint32_t *path;
};

/* ---- first pass ---- */

/* The neighbours of one switch as rows, by exit port; and what is found out there. */
struct view {
	uint32_t sw;
	const uint8_t *lft;
	const uint8_t *hops[256];
	const uint8_t *ports[256];
	uint8_t wanted[256][256]; /* [exit port][exit port of the neighbour] */
	unsigned int widest;	  /* of all switches of this thread */
};

static void suspect(struct verify *verify, uint16_t lid)
{
	atomic_store_explicit(&verify->suspect[lid], true, memory_order_relaxed);
}

/* The switch across a port, or FABRIC_NONE. */
static uint32_t across(const struct verify *verify, uint32_t sw, uint8_t num)
{
	uint32_t channel = verify->first[sw] + num;

	return channel < verify->first[sw + 1] ? verify->to[channel] : FABRIC_NONE;
}

static void view_switch(const struct verify *verify, uint32_t sw, struct view *view)
{
	view->sw = sw;
	view->lft = verify->routing->lft[sw];
	for (unsigned int num = 0; num < 256; num++) {
		uint32_t to = across(verify, sw, num);

		view->hops[num] = verify->no_hops;
		view->ports[num] = verify->no_ports;
		if (to == FABRIC_NONE)
			continue;
		view->hops[num] = verify->hops + (size_t)to * verify->graph->n;
		view->ports[num] = verify->routing->lft[to];
	}
}

/* Targets of one leaf as one switch sends them. The innermost loop: all LIDs at all switches. */
static void check_targets(struct verify *verify, struct view *view, uint32_t leaf,
			  unsigned int far)
{
	const struct route_graph *graph = verify->graph;
	uint32_t last = graph->first_target[leaf + 1];
	const uint16_t *lids = verify->lids;

	for (uint32_t t = graph->first_target[leaf]; t < last; t++) {
		uint16_t lid = lids[t];
		uint8_t port = view->lft[lid];

		view->wanted[port][view->ports[port][lid]] = 1;
		if (G_UNLIKELY(view->hops[port][leaf] + 1u != far) &&
		    (far || port != graph->targets[t].exit))
			suspect(verify, lid);
	}
}

static void check_own_lids(struct verify *verify, const struct view *view, uint32_t sw,
			   unsigned int far)
{
	const struct route_graph *graph = verify->graph;
	unsigned int n = graph->own_lid[sw] ? 1u << graph->own_lmc[sw] : 0;

	for (unsigned int i = 0; i < n; i++) {
		uint16_t lid = graph->own_lid[sw] + i;
		uint8_t port = lid > verify->routing->top ? ROUTE_NO_PORT : view->lft[lid];

		if (far ? view->hops[port][sw] + 1u != far : port != 0)
			suspect(verify, lid);
	}
}

static bool has_lids(const struct route_graph *graph, uint32_t sw)
{
	return graph->own_lid[sw] || graph->first_target[sw] != graph->first_target[sw + 1];
}

static void check_switch(struct verify *verify, struct view *view, uint32_t sw)
{
	const struct fabric *fabric = verify->fabric;
	unsigned int num_ports = fabric->nodes[fabric->switches[sw].node].num_ports;
	const uint8_t *hops = verify->hops + (size_t)sw * verify->graph->n;

	view_switch(verify, sw, view);
	memset(view->wanted, 0, (num_ports + 1) * sizeof(view->wanted[0]));
	for (uint32_t leaf = 0; leaf < verify->graph->n; leaf++) {
		check_targets(verify, view, leaf, hops[leaf]);
		check_own_lids(verify, view, leaf, hops[leaf]);
		if (hops[leaf] != ROUTE_FAR && has_lids(verify->graph, leaf))
			view->widest = MAX(view->widest, hops[leaf]);
	}
	for (unsigned int num = 1; num <= num_ports; num++)
		if (across(verify, sw, num) != FABRIC_NONE)
			dependency_add_set(verify->dependency, sw, num, view->wanted[num]);
}

static void check_switches(void *arg, uint32_t first, uint32_t last)
{
	struct verify *verify = arg;
	struct view *view = g_new0(struct view, 1);
	unsigned int widest = atomic_load(&verify->widest);

	for (uint32_t sw = first; sw < last; sw++)
		check_switch(verify, view, sw);
	while (widest < view->widest &&
	       !atomic_compare_exchange_weak(&verify->widest, &widest, view->widest))
		;
	g_free(view);
}

/* Without distances nothing is shown: all LIDs are walked, all dependencies taken singly. */
static void suspect_all(struct verify *verify)
{
	const struct route_graph *graph = verify->graph;

	for (uint32_t lid = 0; lid < FABRIC_LIDS; lid++)
		suspect(verify, lid);
	for (uint32_t t = 0; t < route_n_targets(graph); t++) {
		uint16_t lid = graph->targets[t].lid;

		for (uint32_t sw = 0; sw < graph->n; sw++) {
			uint8_t port = routing_port(verify->routing, sw, lid);
			uint32_t to = across(verify, sw, port);

			if (to != FABRIC_NONE)
				dependency_add(verify->dependency, sw, port,
					       routing_port(verify->routing, to, lid));
		}
	}
}

/* ---- dependencies of packets to switches, which only channel adapters send ---- */

static void follow_hosts(struct verify *verify, const uint8_t *column)
{
	const struct route_graph *graph = verify->graph;

	memset(verify->state, STATE_NEW, graph->n);
	for (uint32_t leaf = 0; leaf < graph->n; leaf++) {
		uint32_t sw = leaf;

		if (graph->first_target[leaf] == graph->first_target[leaf + 1])
			continue;
		while (verify->state[sw] == STATE_NEW) {
			uint32_t to = across(verify, sw, column[sw]);

			verify->state[sw] = STATE_ON_PATH;
			if (to == FABRIC_NONE)
				break;
			dependency_add(verify->dependency, sw, column[sw], column[to]);
			sw = to;
		}
	}
}

static void follow_to_switches(struct verify *verify)
{
	const struct route_graph *graph = verify->graph;
	uint8_t *tile = g_malloc((size_t)TILE * graph->n + 1);
	GArray *lids = g_array_new(FALSE, FALSE, sizeof(uint16_t));

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		for (unsigned int i = 0; graph->own_lid[sw] && i < 1u << graph->own_lmc[sw]; i++) {
			uint16_t lid = graph->own_lid[sw] + i;

			g_array_append_val(lids, lid);
		}
	}
	for (uint32_t first = 0; first < lids->len; first += TILE) {
		uint32_t n = MIN(lids->len - first, TILE);
		const uint16_t *lid = &g_array_index(lids, uint16_t, first);

		for (uint32_t sw = 0; sw < graph->n; sw++)
			for (uint32_t i = 0; i < n; i++)
				tile[(size_t)i * graph->n + sw] =
					routing_port(verify->routing, sw, lid[i]);
		for (uint32_t i = 0; i < n; i++)
			follow_hosts(verify, tile + (size_t)i * graph->n);
	}
	g_array_unref(lids);
	g_free(tile);
}

/* ---- walks ---- */

static void add_hop(const struct verify *verify, GString *text, uint32_t sw, uint8_t num)
{
	const struct fabric *fabric = verify->fabric;
	uint32_t node = fabric->switches[sw].node;
	char name[128];

	if (num <= fabric->nodes[node].num_ports) {
		g_string_append(text, fabric_port_name(fabric, fabric_port_of(fabric, node, num),
						       name, sizeof(name)));
		return;
	}
	fabric_port_name(fabric, fabric_port_of(fabric, node, 0), name, sizeof(name));
	*strrchr(name, 'p') = '\0'; /* its port is none of this switch */
	g_string_append_printf(text, "%sentry 0x%02x", name, num);
}

static void witness_walk(struct verify *verify, uint16_t lid, uint32_t sw, const char *what)
{
	GString *text = g_string_new(NULL);

	g_string_printf(text, "LID %u: %s: ", lid, what);
	memset(verify->state, STATE_NEW, verify->graph->n);
	for (unsigned int i = 0; i < WITNESS_HOPS && sw != FABRIC_NONE; i++) {
		uint8_t num = routing_port(verify->routing, sw, lid);

		if (i)
			g_string_append(text, " -> ");
		add_hop(verify, text, sw, num);
		if (verify->state[sw] != STATE_NEW)
			break;
		verify->state[sw] = STATE_ON_PATH;
		sw = across(verify, sw, num);
	}
	verify->verdict->witness = g_string_free(text, FALSE);
}

/* Whether the entry of sw hands the LID to its owner. */
static bool delivers(const struct verify *verify, uint32_t sw, uint8_t num, uint32_t endport)
{
	const struct fabric *fabric = verify->fabric;
	uint32_t node = fabric->switches[sw].node;

	if (num > fabric->nodes[node].num_ports)
		return false;
	if (num == 0)
		return fabric_port_of(fabric, node, 0) == endport;
	return fabric->ports[fabric_port_of(fabric, node, num)].peer == endport &&
	       !fabric_is_switch(fabric, fabric->ports[endport].node);
}

/* Walks from sw to a switch whose fate is known and gives the fate to all on the way. */
static void walk_from(struct verify *verify, uint16_t lid, uint32_t endport, uint32_t sw)
{
	uint32_t n = 0, depth = 0;
	uint8_t state;

	for (;;) {
		uint8_t num = routing_port(verify->routing, sw, lid);

		if (verify->state[sw] != STATE_NEW) {
			state = verify->state[sw] == STATE_ON_PATH ? STATE_LOOP : verify->state[sw];
			depth = verify->depth[sw] + 1u;
			break;
		}
		verify->state[sw] = STATE_ON_PATH;
		verify->path[n++] = sw;
		if (delivers(verify, sw, num, endport)) {
			state = STATE_REACHED;
			break;
		}
		sw = across(verify, sw, num);
		if (sw == FABRIC_NONE) {
			state = num == ROUTE_NO_PORT ? STATE_DISCARDED : STATE_HOLE;
			break;
		}
	}
	while (n--) {
		verify->state[verify->path[n]] = state;
		verify->depth[verify->path[n]] = MIN(depth, UINT16_MAX);
		depth++;
	}
}

/* Whether an engine may leave a pair without a path: one of them is for management only. */
static bool may_discard(const struct verify *verify, uint32_t sw, uint32_t endport)
{
	return verify->routing->promises & ROUTE_DEADLOCK_FREE &&
	       (!route_has_hosts(verify->graph, sw) ||
		fabric_is_switch(verify->fabric, verify->fabric->ports[endport].node));
}

/* Whether the fate of a packet from sw breaks what the tables must do. */
static bool is_wrong(struct verify *verify, uint32_t sw, uint32_t endport, uint32_t leaf)
{
	uint8_t state = verify->state[sw];

	if (state == STATE_REACHED || state == STATE_LOOP)
		return state == STATE_LOOP;
	if (verify->part[sw] != verify->part[leaf])
		return false;
	if (state == STATE_HOLE || !may_discard(verify, sw, endport))
		return true;
	verify->verdict->discarded++;
	return false;
}

static void walk_lid(struct verify *verify, uint16_t lid, uint32_t endport, uint32_t leaf)
{
	struct route_verdict *verdict = verify->verdict;
	const char *what = NULL;
	uint32_t where = 0;

	memset(verify->state, STATE_NEW, verify->graph->n);
	for (uint32_t sw = 0; sw < verify->graph->n; sw++) {
		if (verify->state[sw] == STATE_NEW)
			walk_from(verify, lid, endport, sw);
		if (verify->state[sw] == STATE_LOOP)
			verdict->loop_free = false;
		if (verify->state[sw] == STATE_REACHED)
			verdict->max_hops = MAX(verdict->max_hops, verify->depth[sw]);
		if (!is_wrong(verify, sw, endport, leaf))
			continue;
		verdict->complete = false;
		if (!what) {
			what = verify->state[sw] == STATE_LOOP ? "loop" : "not delivered";
			where = sw;
		}
	}
	if (what && !verdict->witness)
		witness_walk(verify, lid, where, what);
}

static void count_paths(struct verify *verify, uint32_t leaf)
{
	for (uint32_t sw = 0; sw < verify->graph->n; sw++) {
		if (verify->part[sw] == verify->part[leaf])
			verify->verdict->paths++;
		else
			verify->verdict->cut = true;
	}
}

/* Every owned LID once: counted, and walked unless shown right. */
static void walk_suspects(struct verify *verify)
{
	bool whole = true;

	for (uint32_t sw = 0; sw < verify->graph->n; sw++)
		whole &= verify->part[sw] == 0;
	for (uint32_t lid = 1; lid < FABRIC_LIDS; lid++) {
		uint32_t endport = verify->fabric->lid_port[lid], leaf;
		uint8_t exit;

		if (endport == FABRIC_NONE)
			continue;
		leaf = fabric_leaf(verify->fabric, endport, &exit);
		if (leaf == FABRIC_NONE)
			continue;
		if (whole)
			verify->verdict->paths += verify->graph->n;
		else
			count_paths(verify, leaf);
		if (atomic_load_explicit(&verify->suspect[lid], memory_order_relaxed))
			walk_lid(verify, lid, endport, leaf);
	}
}

/* ---- the whole ---- */

/* Gives every switch that cables connect to start the number of the part. */
static void mark_part(struct verify *verify, uint32_t start, uint32_t part)
{
	const struct route_graph *graph = verify->graph;
	uint32_t *queue = verify->path, n = 0;

	verify->part[start] = part;
	queue[n++] = start;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = queue[i];

		for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
			uint32_t to = graph->edges[e].to;

			if (verify->part[to] != FABRIC_NONE)
				continue;
			verify->part[to] = part;
			queue[n++] = to;
		}
	}
}

static void mark_parts(struct verify *verify)
{
	uint32_t part = 0;

	memset(verify->part, 0xFF, verify->graph->n * sizeof(uint32_t));
	for (uint32_t sw = 0; sw < verify->graph->n; sw++)
		if (verify->part[sw] == FABRIC_NONE)
			mark_part(verify, sw, part++);
}

static void find_cycle(struct verify *verify)
{
	struct route_verdict *verdict = verify->verdict;
	GArray *cycle = dependency_cycle(verify->dependency);
	GString *text;

	verdict->acyclic = !cycle;
	if (cycle && !verdict->witness) {
		text = g_string_new("credit loop: ");
		for (uint32_t i = 0; i < cycle->len && i < WITNESS_HOPS; i++) {
			const struct dependency_channel *channel =
				&g_array_index(cycle, struct dependency_channel, i);

			if (i)
				g_string_append(text, " -> ");
			add_hop(verify, text, channel->sw, channel->port);
		}
		verdict->witness = g_string_free(text, FALSE);
	}
	if (cycle)
		g_array_unref(cycle);
}

static void index_ports(struct verify *verify)
{
	const struct fabric *fabric = verify->fabric;
	uint32_t n = 0;

	verify->first = g_new(uint32_t, fabric->n_switches + 1);
	verify->to = g_new(uint32_t, fabric->n_ports + 1);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];

		verify->first[sw] = n;
		for (unsigned int num = 0; num <= node->num_ports; num++, n++) {
			uint32_t peer = fabric->ports[node->first_port + num].peer;

			verify->to[n] = FABRIC_NONE;
			if (num && peer != FABRIC_NONE)
				verify->to[n] = fabric->nodes[fabric->ports[peer].node].sw;
		}
	}
	verify->first[fabric->n_switches] = n;
}

/* Targets that the table has no room for are suspect; they read as LID 0, which is never used. */
static void list_lids(struct verify *verify)
{
	const struct route_graph *graph = verify->graph;

	verify->lids = g_new(uint16_t, route_n_targets(graph) + 1);
	for (uint32_t t = 0; t < route_n_targets(graph); t++) {
		uint16_t lid = graph->targets[t].lid;

		verify->lids[t] = lid <= verify->routing->top ? lid : 0;
		if (lid > verify->routing->top)
			suspect(verify, lid);
	}
}

static struct verify *verify_new(const struct fabric *fabric, const struct routing *routing,
				 unsigned int threads, struct route_verdict *verdict)
{
	struct verify *verify = g_new0(struct verify, 1);
	uint32_t n = fabric->n_switches;

	verify->fabric = fabric;
	verify->routing = routing;
	verify->verdict = verdict;
	verify->graph = route_graph_new(fabric);
	verify->graph->threads = threads;
	verify->hops = route_hops_all(verify->graph, NULL);
	verify->part = g_new(uint32_t, n + 1);
	verify->suspect = g_new0(atomic_bool, FABRIC_LIDS);
	index_ports(verify);
	list_lids(verify);
	verify->dependency = dependency_new(fabric);
	verify->no_hops = g_malloc(n + 1);
	memset(verify->no_hops, ROUTE_FAR, n + 1);
	verify->no_ports = g_malloc(routing->n_blocks * 64);
	memset(verify->no_ports, ROUTE_NO_PORT, routing->n_blocks * 64);
	verify->state = g_malloc(n + 1);
	verify->depth = g_new0(uint16_t, n + 1);
	verify->path = g_new(uint32_t, n + 1);
	return verify;
}

static void verify_free(struct verify *verify)
{
	route_graph_free(verify->graph);
	dependency_free(verify->dependency);
	g_free(verify->hops);
	g_free(verify->part);
	g_free(verify->lids);
	g_free(verify->first);
	g_free(verify->to);
	g_free(verify->suspect);
	g_free(verify->no_hops);
	g_free(verify->no_ports);
	g_free(verify->state);
	g_free(verify->depth);
	g_free(verify->path);
	g_free(verify);
}

bool route_verify_by(const struct fabric *fabric, const struct routing *routing,
		     unsigned int threads, struct route_verdict *verdict)
{
	struct verify *verify;

	g_assert(routing->n_switches == fabric->n_switches);
	*verdict = (struct route_verdict){ .complete = true, .loop_free = true };
	verify = verify_new(fabric, routing, threads, verdict);
	mark_parts(verify);
	if (verify->hops) {
		route_parallel(threads, verify->graph->n, check_switches, verify);
	} else {
		suspect_all(verify);
	}
	verdict->max_hops = atomic_load(&verify->widest);
	walk_suspects(verify);
	follow_to_switches(verify);
	find_cycle(verify);
	verify_free(verify);
	return verdict->complete && verdict->loop_free &&
	       (verdict->acyclic || !(routing->promises & ROUTE_DEADLOCK_FREE));
}

bool route_verify(const struct fabric *fabric, const struct routing *routing,
		  struct route_verdict *verdict)
{
	return route_verify_by(fabric, routing, 1, verdict);
}

void route_verdict_clear(struct route_verdict *verdict)
{
	g_free(verdict->witness);
	*verdict = (struct route_verdict){ 0 };
}
