// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The slow checker of forwarding tables. One walk for each switch and LID; each pair of channels
 * that a packet holds one after the other goes into a set; Kahn's algorithm removes channels on
 * which none of the remaining ones depends, until nothing is left or only cycles.
 *
 * Inner loops do not use ck_assert_*(): each of these is a system call.
 */
#include "tests/unit/route_checker.h"

#include <check.h>
#include <string.h>

#include "iba/codes.h"
#include "route/value/lanes.h"

/* Channels are ports of the fabric that lead from switch to switch. */
struct dependencies {
	uint32_t n_ports;
	GHashTable *seen; /* first * n_ports + second */
	GArray *pairs;	  /* uint64_t, as in seen */
	bool used;	  /* at least one packet takes the channel */
};

/* ---- the fabric ---- */

static unsigned int n_ports(const struct fabric *fabric, uint32_t sw)
{
	return fabric->nodes[fabric->switches[sw].node].num_ports;
}

uint32_t checker_next_switch(const struct fabric *fabric, uint32_t sw, uint8_t num)
{
	uint32_t peer;

	if (num == 0 || num > n_ports(fabric, sw))
		return FABRIC_NONE;
	peer = fabric->ports[fabric_switch_port(fabric, sw, num)].peer;
	return peer == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[fabric->ports[peer].node].sw;
}

uint32_t checker_leaf(const struct fabric *fabric, uint16_t lid)
{
	uint32_t endport = fabric_port_by_lid(fabric, lid), peer;

	if (endport == FABRIC_NONE)
		return FABRIC_NONE;
	if (fabric->nodes[fabric->ports[endport].node].type == IBA_NODE_SWITCH)
		return fabric->nodes[fabric->ports[endport].node].sw;
	peer = fabric->ports[endport].peer;
	return peer == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[fabric->ports[peer].node].sw;
}

static bool hands_over(const struct fabric *fabric, uint32_t sw, uint8_t num, uint32_t endport)
{
	if (num > n_ports(fabric, sw))
		return false;
	if (num == 0)
		return fabric_switch_port(fabric, sw, 0) == endport;
	return fabric->ports[fabric_switch_port(fabric, sw, num)].peer == endport &&
	       fabric->nodes[fabric->ports[endport].node].sw == FABRIC_NONE;
}

static void find_distances(struct checker *checker)
{
	const struct fabric *fabric = checker->fabric;
	uint32_t n = fabric->n_switches;
	uint32_t *queue = g_new(uint32_t, n + 1);

	checker->distance = g_new(uint32_t, (size_t)n * n + 1);
	memset(checker->distance, 0xFF, (size_t)n * n * sizeof(uint32_t));
	for (uint32_t from = 0; from < n; from++) {
		uint32_t *distance = checker->distance + (size_t)from * n, tail = 0;

		distance[from] = 0;
		queue[tail++] = from;
		for (uint32_t head = 0; head < tail; head++) {
			uint32_t sw = queue[head];

			for (unsigned int num = 1; num <= n_ports(fabric, sw); num++) {
				uint32_t to = checker_next_switch(fabric, sw, num);

				if (to == FABRIC_NONE || distance[to] != CHECKER_FAR)
					continue;
				distance[to] = distance[sw] + 1;
				queue[tail++] = to;
			}
		}
	}
	g_free(queue);
}

/* [switch]: cables lead from there to the leaf through switches that can hold the LID. */
static bool *find_joined(const struct fabric *fabric, uint32_t leaf, uint16_t lid)
{
	bool *joined = g_new0(bool, fabric->n_switches + 1), more = true;

	joined[leaf] = fabric_holds(fabric, leaf, lid);
	while (more) {
		more = false;
		for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
			for (unsigned int num = 1; !joined[sw] && num <= n_ports(fabric, sw);
			     num++) {
				uint32_t to = checker_next_switch(fabric, sw, num);

				joined[sw] = to != FABRIC_NONE && joined[to] &&
					     fabric_holds(fabric, sw, lid);
				more |= joined[sw];
			}
	}
	return joined;
}

static void find_hosts(struct checker *checker)
{
	const struct fabric *fabric = checker->fabric;

	checker->hosts = g_new0(bool, fabric->n_switches + 1);
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint32_t port = fabric_port_by_lid(fabric, lid), leaf = checker_leaf(fabric, lid);

		if (leaf != FABRIC_NONE && !fabric_is_switch(fabric, fabric->ports[port].node))
			checker->hosts[leaf] = true;
	}
}

/* ---- packets ---- */

static void depend(struct dependencies *dependencies, uint32_t first, uint32_t second)
{
	uint64_t pair = (uint64_t)first * dependencies->n_ports + second;

	if (g_hash_table_add(dependencies->seen, GSIZE_TO_POINTER(pair)))
		g_array_append_val(dependencies->pairs, pair);
}

/* dependencies may be NULL: then this packet does not count. */
static enum checker_fate follow(const struct fabric *fabric, const struct routing *routing,
				uint32_t sw, uint16_t lid, unsigned int *hops,
				struct dependencies *dependencies)
{
	uint32_t endport = fabric_port_by_lid(fabric, lid), last = FABRIC_NONE;

	for (*hops = 0; *hops <= fabric->n_switches; (*hops)++) {
		uint8_t num = routing_port(routing, sw, lid);
		uint32_t channel;

		if (!fabric_holds(fabric, sw, lid))
			return CHECKER_HOLE;
		if (hands_over(fabric, sw, num, endport))
			return CHECKER_REACHED;
		if (checker_next_switch(fabric, sw, num) == FABRIC_NONE)
			return num == ROUTE_NO_PORT ? CHECKER_DISCARDED : CHECKER_HOLE;
		channel = fabric_switch_port(fabric, sw, num);
		if (dependencies && last != FABRIC_NONE)
			depend(dependencies, last, channel);
		if (dependencies)
			dependencies->used = true;
		last = channel;
		sw = checker_next_switch(fabric, sw, num);
	}
	return CHECKER_LOOP;
}

enum checker_fate checker_walk(const struct fabric *fabric, const struct routing *routing,
			       uint32_t sw, uint16_t lid, unsigned int *hops)
{
	return follow(fabric, routing, sw, lid, hops, NULL);
}

static uint32_t sm_switch(const struct fabric *fabric)
{
	const struct fabric_port *port;

	if (fabric->sm_port == FABRIC_NONE)
		return FABRIC_NONE;
	port = &fabric->ports[fabric->sm_port];
	if (fabric_is_switch(fabric, port->node))
		return fabric->nodes[port->node].sw;
	return port->peer == FABRIC_NONE ? FABRIC_NONE
					 : fabric->nodes[fabric->ports[port->peer].node].sw;
}

/* ---- virtual lanes ---- */

/* Whether packets from one switch to the nodes of another may be on that lane. */
static bool is_on_lane(const struct checker *checker, uint32_t from, uint32_t to, unsigned int vl)
{
	const struct route_lanes *lanes = checker->routing->lanes;
	uint32_t n = checker->fabric->n_switches;
	uint32_t sm = sm_switch(checker->fabric);
	uint8_t there, back;

	if (!lanes)
		return vl == 0;
	there = lanes->sl ? lanes->sl[(size_t)from * n + to] : lanes->first;
	back = lanes->sl ? lanes->sl[(size_t)to * n + from] : lanes->first;
	if ((there < ROUTE_SLS && lanes->vl[there] == vl) ||
	    (back < ROUTE_SLS && lanes->vl[back] == vl))
		return true;
	return !lanes->sm_by_path && lanes->vl[lanes->sm_sl] == vl && (from == sm || to == sm);
}

/* Whether packets from one switch to the nodes of another may have that SL. */
static bool may_have_sl(const struct checker *checker, uint32_t from, uint32_t to, unsigned int sl)
{
	const struct route_lanes *lanes = checker->routing->lanes;
	uint32_t n = checker->fabric->n_switches, sm = sm_switch(checker->fabric);
	uint8_t there = lanes->sl ? lanes->sl[(size_t)from * n + to] : lanes->first;
	uint8_t back = lanes->sl ? lanes->sl[(size_t)to * n + from] : lanes->first;

	if ((from == sm || to == sm) && !lanes->sm_by_path && sl == lanes->sm_sl)
		return true;
	return (sl & ~(unsigned int)lanes->levels) == there ||
	       (sl & ~(unsigned int)lanes->levels) == back;
}

/* One packet that enters a switch through a port, where lanes change by turns. */
static void follow_turns(const struct checker *checker, uint32_t sw, uint16_t lid, uint8_t in,
			 unsigned int sl, struct dependencies *dependencies)
{
	const struct fabric *fabric = checker->fabric;
	const struct route_turns *turns = checker->routing->lanes->turns;
	uint32_t last = FABRIC_NONE;

	for (uint32_t hops = 0; hops <= fabric->n_switches; hops++) {
		uint8_t out = routing_port(checker->routing, sw, lid);
		uint32_t port, next = checker_next_switch(fabric, sw, out);
		unsigned int vl;

		if (!fabric_holds(fabric, sw, lid) || next == FABRIC_NONE)
			return;
		port = fabric_switch_port(fabric, sw, out);
		vl = turns->rows[turns->first[sw] + in * turns->width[sw] + out] >> (sl * 4) & 15;
		dependencies[vl].used = true;
		if (last != FABRIC_NONE)
			depend(dependencies, last, port * ROUTE_SLS + vl);
		last = port * ROUTE_SLS + vl;
		in = fabric->ports[fabric->ports[port].peer].num;
		sw = next;
	}
}

static void follow_all_turns(const struct checker *checker, uint32_t sw, uint32_t leaf,
			     uint16_t lid, struct dependencies *dependencies)
{
	const struct fabric *fabric = checker->fabric;
	unsigned int n = fabric->nodes[fabric->switches[sw].node].num_ports;

	for (unsigned int in = 0; in <= n; in++) {
		uint32_t port = fabric_switch_port(fabric, sw, in);

		if (in && (fabric->ports[port].peer == FABRIC_NONE ||
			   checker_next_switch(fabric, sw, in) != FABRIC_NONE))
			continue;
		for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
			if (may_have_sl(checker, sw, leaf, sl))
				follow_turns(checker, sw, lid, in, sl, dependencies);
	}
}

/* Hosts that cables connect have an SL; cables between switches have the lanes in use. */
static bool are_lanes_good(const struct checker *checker, const bool used[ROUTE_SLS])
{
	const struct route_lanes *lanes = checker->routing->lanes;
	const struct fabric *fabric = checker->fabric;
	uint32_t n = fabric->n_switches;
	bool good = true;

	for (uint32_t a = 0; lanes->sl && a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			good &= !checker->hosts[a] || !checker->hosts[b] ||
				checker_distance(checker, a, b) == CHECKER_FAR ||
				lanes->sl[(size_t)a * n + b] < ROUTE_SLS;
	for (uint32_t sw = 0; sw < n; sw++)
		for (unsigned int num = 1; num <= n_ports(fabric, sw); num++)
			for (unsigned int vl = 1; vl < ROUTE_SLS; vl++)
				good &= checker_next_switch(fabric, sw, num) == FABRIC_NONE ||
					!used[vl] ||
					vl < iba_vls_count(fabric->ports[fabric_switch_port(
										 fabric, sw, num)]
								   .info.vl_cap);
	return good;
}

static void check_lid(struct checker *checker, uint16_t lid, struct dependencies *dependencies)
{
	const struct fabric *fabric = checker->fabric;
	uint32_t endport = fabric_port_by_lid(fabric, lid), leaf = checker_leaf(fabric, lid);
	bool to_host = !fabric_is_switch(fabric, fabric->ports[endport].node);
	struct route_verdict *verdict = &checker->verdict;
	uint32_t sm = sm_switch(fabric);
	g_autofree bool *joins = NULL;

	if (checker->caps && leaf != FABRIC_NONE)
		joins = find_joined(fabric, leaf, lid);
	for (uint32_t sw = 0; leaf != FABRIC_NONE && sw < fabric->n_switches; sw++) {
		bool joined =
			joins ? joins[sw] : checker_distance(checker, sw, leaf) != CHECKER_FAR;
		bool counts = to_host || checker->hosts[sw] || sw == sm;
		unsigned int hops;
		enum checker_fate fate = follow(fabric, checker->routing, sw, lid, &hops, NULL);

		if (counts && checker->routing->lanes && checker->routing->lanes->turns)
			follow_all_turns(checker, sw, leaf, lid, dependencies);
		else
			for (unsigned int vl = 0; counts && vl < ROUTE_SLS; vl++)
				if (is_on_lane(checker, sw, leaf, vl))
					follow(fabric, checker->routing, sw, lid, &hops,
					       &dependencies[vl]);
		verdict->paths += joined;
		verdict->cut |= !joined;
		if (fate == CHECKER_LOOP)
			verdict->loop_free = false;
		if (fate == CHECKER_DISCARDED && joined &&
		    checker->routing->promises & ROUTE_DEADLOCK_FREE &&
		    !(checker->hosts[sw] && to_host) && sw != sm && leaf != sm)
			verdict->discarded++;
		else if (fate == CHECKER_LOOP || (fate != CHECKER_REACHED && joined))
			verdict->complete = false;
		if (fate == CHECKER_REACHED)
			verdict->max_hops = MAX(verdict->max_hops, hops);
	}
}

/* ---- cycles ---- */

static gint compare_pairs(gconstpointer a, gconstpointer b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Where the pairs of each channel begin, after sorting; [n_ports + 1]. */
static uint32_t *index_pairs(GArray *pairs, uint32_t n_ports)
{
	uint32_t *first = g_new(uint32_t, n_ports + 1), at = 0;

	g_array_sort(pairs, compare_pairs);
	for (uint32_t port = 0; port <= n_ports; port++) {
		while (at < pairs->len && g_array_index(pairs, uint64_t, at) / n_ports < port)
			at++;
		first[port] = at;
	}
	return first;
}

static bool is_acyclic(GArray *pairs, uint32_t n_ports)
{
	g_autofree uint32_t *first = index_pairs(pairs, n_ports);
	g_autofree uint32_t *before = g_new0(uint32_t, n_ports + 1);
	g_autofree uint32_t *queue = g_new(uint32_t, n_ports + 1);
	uint32_t tail = 0;

	for (uint32_t i = 0; i < pairs->len; i++)
		before[g_array_index(pairs, uint64_t, i) % n_ports]++;
	for (uint32_t port = 0; port < n_ports; port++)
		if (!before[port])
			queue[tail++] = port;
	for (uint32_t head = 0; head < tail; head++) {
		for (uint32_t i = first[queue[head]]; i < first[queue[head] + 1]; i++) {
			uint32_t to = g_array_index(pairs, uint64_t, i) % n_ports;

			if (!--before[to])
				queue[tail++] = to;
		}
	}
	return tail == n_ports;
}

/* ---- the whole ---- */

/* All that multicast may do on a lane, if it follows an order of the switches. */
static void add_order(const struct checker *checker, struct dependencies *dependencies)
{
	const struct fabric *fabric = checker->fabric;
	const uint32_t *order = checker->routing->order;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		for (unsigned int num = 1; num <= n_ports(fabric, sw); num++) {
			uint32_t to = checker_next_switch(fabric, sw, num);

			for (unsigned int out = 1; to != FABRIC_NONE && out <= n_ports(fabric, to);
			     out++) {
				uint32_t beyond = checker_next_switch(fabric, to, out);

				if (beyond != FABRIC_NONE && beyond != sw &&
				    (order[to] < order[sw] || order[beyond] > order[to]))
					depend(dependencies, fabric_switch_port(fabric, sw, num),
					       fabric_switch_port(fabric, to, out));
			}
		}
}

static void add_multicast(const struct checker *checker,
			  struct dependencies dependencies[ROUTE_SLS])
{
	const struct route_lanes *lanes = checker->routing->lanes;
	uint16_t vls = 0;

	if (!checker->routing->order || !lanes || lanes->turns)
		return;
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		vls |= !(lanes->sls_unsafe_for_multicast >> sl & 1) << lanes->vl[sl];
	for (unsigned int vl = 0; vl < ROUTE_SLS; vl++)
		if (vls >> vl & 1 && dependencies[vl].pairs->len)
			add_order(checker, &dependencies[vl]);
}

static void check_lanes(struct checker *checker, struct dependencies dependencies[ROUTE_SLS])
{
	bool used[ROUTE_SLS];

	checker->verdict.acyclic = true;
	for (unsigned int vl = 0; vl < ROUTE_SLS; vl++) {
		used[vl] = dependencies[vl].pairs->len || dependencies[vl].used;
		checker->verdict.acyclic &=
			is_acyclic(dependencies[vl].pairs, dependencies[vl].n_ports);
		g_hash_table_destroy(dependencies[vl].seen);
		g_array_unref(dependencies[vl].pairs);
	}
	if (checker->routing->lanes)
		checker->verdict.complete &= are_lanes_good(checker, used);
}

void checker_run(struct checker *checker, const struct fabric *fabric,
		 const struct routing *routing)
{
	struct dependencies dependencies[ROUTE_SLS];

	for (unsigned int vl = 0; vl < ROUTE_SLS; vl++)
		dependencies[vl] = (struct dependencies){
			.n_ports = routing->lanes && routing->lanes->turns
					   ? fabric->n_ports * ROUTE_SLS
					   : fabric->n_ports,
			.seen = g_hash_table_new(NULL, NULL),
			.pairs = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
		};
	*checker = (struct checker){ .fabric = fabric, .routing = routing };
	checker->verdict.complete = checker->verdict.loop_free = true;
	find_distances(checker);
	find_hosts(checker);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		checker->caps |= fabric->n_refusals || fabric_fdb_cap(fabric, sw) < FABRIC_LIDS;
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++)
		if (fabric_port_by_lid(fabric, lid) != FABRIC_NONE)
			check_lid(checker, lid, dependencies);
	add_multicast(checker, dependencies);
	check_lanes(checker, dependencies);
}

void checker_clear(struct checker *checker)
{
	g_free(checker->distance);
	g_free(checker->hosts);
}

/* A packet that came through a channel of the tree leaves through all others of the switch. */
static void add_tree(const struct fabric *fabric, const struct route_tree *tree,
		     struct dependencies *dependencies)
{
	g_autofree uint32_t *place = g_new(uint32_t, fabric->n_switches + 1);

	memset(place, 0xFF, fabric->n_switches * sizeof(*place));
	for (uint32_t i = 0; i < tree->n; i++)
		place[tree->switches[i]] = i;
	for (uint32_t i = 0; i < tree->n; i++)
		for (unsigned int num = 1; num < 256; num++) {
			uint32_t sw = tree->switches[i], to, at;

			if (!(tree->ports[i].bits[num / 64] >> num % 64 & 1))
				continue;
			to = checker_next_switch(fabric, sw, num);
			at = to == FABRIC_NONE ? FABRIC_NONE : place[to];
			for (unsigned int out = 1; at != FABRIC_NONE && out < 256; out++)
				if (tree->ports[at].bits[out / 64] >> out % 64 & 1 &&
				    checker_next_switch(fabric, to, out) != FABRIC_NONE &&
				    checker_next_switch(fabric, to, out) != sw)
					depend(dependencies, fabric_switch_port(fabric, sw, num),
					       fabric_switch_port(fabric, to, out));
		}
}

bool checker_is_free_with(const struct fabric *fabric, const struct routing *routing,
			  const struct route_tree *tree)
{
	struct dependencies dependencies = {
		.n_ports = fabric->n_ports,
		.seen = g_hash_table_new(NULL, NULL),
		.pairs = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
	};
	struct checker checker = {.fabric = fabric, .routing = routing};
	bool is_free;

	find_distances(&checker);
	find_hosts(&checker);
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++)
		if (fabric_port_by_lid(fabric, lid) != FABRIC_NONE)
			check_lid(&checker, lid, &dependencies);
	add_tree(fabric, tree, &dependencies);
	is_free = is_acyclic(dependencies.pairs, fabric->n_ports);
	g_hash_table_destroy(dependencies.seen);
	g_array_unref(dependencies.pairs);
	checker_clear(&checker);
	return is_free;
}

/* ---- judgements ---- */

bool checker_agrees(const struct checker *checker, unsigned int threads, const char *what)
{
	const struct route_verdict *slow = &checker->verdict;
	struct route_verdict fast;
	const struct route_input input = {.threads = threads};
	bool ok = route_verify_by(checker->fabric, checker->routing, &input, &fast);
	bool wrong = !fast.complete || !fast.loop_free || !fast.acyclic;

	ck_assert_msg(fast.complete == slow->complete && fast.loop_free == slow->loop_free &&
			      fast.acyclic == slow->acyclic && fast.cut == slow->cut &&
			      fast.discarded == slow->discarded && fast.paths == slow->paths,
		      "%s: verifier and checker say complete %d %d, loop free %d %d, acyclic %d %d,"
		      " cut %d %d, discarded %u %u, paths %u %u: %s",
		      what, fast.complete, slow->complete, fast.loop_free, slow->loop_free,
		      fast.acyclic, slow->acyclic, fast.cut, slow->cut,
		      (unsigned int)fast.discarded, (unsigned int)slow->discarded,
		      (unsigned int)fast.paths, (unsigned int)slow->paths,
		      fast.witness ? fast.witness : "no example");
	if (fast.complete && !fast.discarded)
		ck_assert_msg(fast.max_hops == slow->max_hops, "%s: at most %u hops, not %u", what,
			      slow->max_hops, fast.max_hops);
	ck_assert_msg(wrong == (fast.witness != NULL), "%s: witness %s", what,
		      fast.witness ? fast.witness : "missing");
	ck_assert_msg(ok == (fast.complete && fast.loop_free &&
			     (fast.acyclic ||
			      !(checker->routing->promises & ROUTE_DEADLOCK_FREE))),
		      "%s: accepted %d", what, ok);
	route_verdict_clear(&fast);
	return ok;
}

/*
 * Every path is as short as cables allow, those of hosts if there is an order; none where cables do
 * not lead.
 */
static void check_shortest(const struct checker *checker, const char *what)
{
	const struct fabric *fabric = checker->fabric;
	bool all = !checker->routing->order;

	ck_assert_msg(!all || checker->verdict.max_hops <= checker->routing->max_hops,
		      "%s: %u hops, at most %u were told", what, checker->verdict.max_hops,
		      checker->routing->max_hops);
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint32_t leaf = checker_leaf(fabric, lid);

		if (leaf == FABRIC_NONE ||
		    (!all &&
		     fabric_is_switch(fabric,
				      fabric->ports[fabric_port_by_lid(fabric, lid)].node)))
			continue;
		for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
			unsigned int hops;

			if (checker_distance(checker, sw, leaf) == CHECKER_FAR ||
			    (!all && !checker->hosts[sw]))
				continue;
			checker_walk(fabric, checker->routing, sw, lid, &hops);
			if (hops != checker_distance(checker, sw, leaf))
				ck_abort_msg("%s: %u hops from switch %u to LID %u, could be %u",
					     what, hops, sw, lid,
					     checker_distance(checker, sw, leaf));
		}
	}
}

/* Unassigned LIDs, and those that no cable leads to, are discarded. */
static void check_unowned(const struct checker *checker, const char *what)
{
	const struct routing *routing = checker->routing;

	for (uint32_t lid = 0; lid < routing->n_blocks * 64; lid++) {
		uint32_t leaf = checker_leaf(checker->fabric, lid);

		for (uint32_t sw = 0; sw < checker->fabric->n_switches; sw++) {
			if (leaf != FABRIC_NONE &&
			    checker_distance(checker, sw, leaf) != CHECKER_FAR)
				continue;
			if (routing->lft[sw][lid] != ROUTE_NO_PORT)
				ck_abort_msg("%s: switch %u has port %u for LID %u, which is not "
					     "there",
					     what, sw, routing->lft[sw][lid], lid);
		}
	}
}

static void refuse(const struct checker *checker, const char *what)
{
	struct route_verdict verdict;

	route_verify(checker->fabric, checker->routing, &verdict);
	ck_abort_msg("%s: refused, as it promises %u and is complete %d, loop free %d, acyclic %d: "
		     "%s",
		     what, checker->routing->promises, verdict.complete, verdict.loop_free,
		     verdict.acyclic, verdict.witness);
}

static void accept_tables(const struct fabric *fabric, const struct routing *routing,
			  bool all_lids, const char *what)
{
	struct checker checker;

	ck_assert_msg(routing->n_switches == fabric->n_switches &&
			      routing->top >= fabric->max_lid &&
			      routing->n_blocks == routing->top / 64u + 1u,
		      "%s: of %u switches, up to LID %u", what, routing->n_switches, routing->top);
	checker_run(&checker, fabric, routing);
	if (!checker_agrees(&checker, 1, what))
		refuse(&checker, what);
	if (routing->promises & ROUTE_SHORTEST)
		check_shortest(&checker, what);
	if (all_lids)
		check_unowned(&checker, what);
	checker_clear(&checker);
}

void checker_accept(const struct fabric *fabric, const struct routing *routing, const char *what)
{
	accept_tables(fabric, routing, true, what);
}

void checker_accept_owned(const struct fabric *fabric, const struct routing *routing,
			  const char *what)
{
	accept_tables(fabric, routing, false, what);
}

void checker_same_tables(const struct routing *a, const struct routing *b, const char *what)
{
	ck_assert_msg(a->n_switches == b->n_switches && a->n_blocks == b->n_blocks,
		      "%s: sizes differ", what);
	for (uint32_t sw = 0; sw < a->n_switches; sw++)
		for (uint32_t lid = 0; lid < a->n_blocks * 64; lid++)
			if (a->lft[sw][lid] != b->lft[sw][lid])
				ck_abort_msg("%s: switch %u LID %u: port %u or %u", what, sw, lid,
					     a->lft[sw][lid], b->lft[sw][lid]);
}
