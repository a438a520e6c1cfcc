// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Follows a packet from each host to the LID of each other host through the tables. */
#include "lives.h"

#define HOPS_MAX 64

struct lives {
	unsigned int n;	     /* nodes */
	uint16_t *lids;	     /* [node]: of hosts, port 1 */
	bool *talk;	     /* [from * n + to] */
	bool *fixed; /* [node]: a switch that cannot be written */
	unsigned int pairs;
};

static bool is_host(const struct scenario *s, unsigned int node)
{
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	return view.type != IBA_NODE_SWITCH && view.up;
}

static uint16_t lid_of(const struct scenario *s, unsigned int node)
{
	const struct iba_port_info *info = sim_port_info(s->sim, node, 1);

	return info->port_state == IBA_PORT_ACTIVE ? info->lid : 0;
}

/* Crosses the cable of a port, whose ends must both be ACTIVE; false: nothing gets through. */
static bool cross(const struct scenario *s, unsigned int *node, unsigned int port)
{
	unsigned int peer, peer_port;
	const struct iba_port_info *here, *there;

	if (!port || !sim_peer(s->sim, *node, port, &peer, &peer_port))
		return false;
	here = sim_port_info(s->sim, *node, port);
	there = sim_port_info(s->sim, peer, peer_port);
	*node = peer;
	return here->port_state == IBA_PORT_ACTIVE && there->port_state == IBA_PORT_ACTIVE;
}

static bool arrives(const struct scenario *s, unsigned int from, uint16_t lid, unsigned int to)
{
	unsigned int node = from, port = 1;

	for (unsigned int hops = 0; hops < HOPS_MAX; hops++) {
		struct sim_node_view view;

		if (!cross(s, &node, port))
			return false;
		sim_node_view(s->sim, node, &view);
		if (view.type != IBA_NODE_SWITCH)
			return node == to;
		if (lid > view.switch_info->linear_fdb_top)
			return false;
		port = view.lft[lid];
		if (port == IBA_PORT_NONE)
			return false;
	}
	return false;
}

/* Whether a packet to a LID may leave a node through a port, if other switches are written well. */
static bool may_leave(const struct lives *lives, const struct sim_node_view *view,
		      unsigned int node, unsigned int port, uint16_t lid)
{
	return !lives->fixed[node] ||
	       (lid <= view->switch_info->linear_fdb_top && view->lft[lid] == port);
}

/* Nodes that packets to a LID can reach from this node, if tables are written well. */
static bool *joined_to(const struct lives *lives, const struct scenario *s, unsigned int from,
		       uint16_t lid)
{
	unsigned int n = lives->n;
	bool *joined = g_new0(bool, n);
	g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(unsigned int));

	joined[from] = true;
	g_array_append_val(queue, from);
	for (guint i = 0; i < queue->len; i++) {
		unsigned int node = g_array_index(queue, unsigned int, i);
		struct sim_node_view view;

		sim_node_view(s->sim, node, &view);
		if (view.type != IBA_NODE_SWITCH && node != from)
			continue;
		for (unsigned int port = 1; port <= view.num_ports; port++) {
			unsigned int next = node;

			if (!may_leave(lives, &view, node, port, lid) ||
			    !cross(s, &next, port) || joined[next])
				continue;
			joined[next] = true;
			g_array_append_val(queue, next);
		}
	}
	return joined;
}

struct lives *lives_new(const struct scenario *s)
{
	struct lives *lives = g_new0(struct lives, 1);
	unsigned int n = lives->n = sim_nodes(s->sim);

	lives->lids = g_new0(uint16_t, n);
	lives->talk = g_new0(bool, (gsize)n * n);
	lives->fixed = g_new0(bool, n);
	for (unsigned int node = 0; node < n; node++)
		lives->lids[node] = is_host(s, node) ? lid_of(s, node) : 0;
	for (unsigned int from = 0; from < n; from++)
		for (unsigned int to = 0; to < n && lives->lids[from]; to++) {
			bool talk = from != to && lives->lids[to] &&
				    arrives(s, from, lives->lids[to], to);

			lives->talk[from * n + to] = talk;
			lives->pairs += talk;
		}
	return lives;
}

void lives_free(struct lives *lives)
{
	g_free(lives->lids);
	g_free(lives->talk);
	g_free(lives->fixed);
	g_free(lives);
}

void lives_fix(struct lives *lives, unsigned int node, bool fixed)
{
	lives->fixed[node] = fixed;
}

unsigned int lives_pairs(const struct lives *lives)
{
	return lives->pairs;
}

static bool still_talks(const struct lives *lives, const struct scenario *s, unsigned int from,
			unsigned int to)
{
	return lid_of(s, to) == lives->lids[to] && lid_of(s, from) == lives->lids[from] &&
	       arrives(s, from, lives->lids[to], to);
}

static char *tell_pair(const struct scenario *s, unsigned int from, unsigned int to)
{
	struct sim_node_view a, b;

	sim_node_view(s->sim, from, &a);
	sim_node_view(s->sim, to, &b);
	return g_strdup_printf("'%s' does not reach '%s' any more", a.description, b.description);
}

unsigned int lives_lost(const struct lives *lives, const struct scenario *s, char **example)
{
	unsigned int lost = 0, n = lives->n;

	if (example)
		*example = NULL;
	for (unsigned int from = 0; from < n; from++)
		for (unsigned int to = 0; to < n; to++) {
			g_autofree bool *joined = NULL;

			if (!lives->talk[from * n + to] || still_talks(lives, s, from, to))
				continue;
			joined = joined_to(lives, s, from, lives->lids[to]);
			if (joined[to] && !lost++ && example)
				*example = tell_pair(s, from, to);
		}
	return lost;
}

void lives_check(const struct lives *lives, struct scenario *s)
{
	g_autofree char *example = NULL;
	unsigned int lost = lives_lost(lives, s, &example);

	if (lost)
		scenario_fail(s, "%u of %u pairs of live hosts are cut off: %s", lost,
			      lives->pairs, example);
}

void lives_run(const struct lives *lives, struct scenario *s, unsigned int ms, unsigned int step)
{
	for (unsigned int past = 0; past < ms; past += step) {
		scenario_run_ms(s, step);
		lives_check(lives, s);
	}
}

/* Number of switches that cables connect to the SM without passing through this one. */
static unsigned int reached_without(struct scenario *s, unsigned int without)
{
	g_autofree bool *met = g_new0(bool, sim_nodes(s->sim));
	g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(unsigned int));
	unsigned int port, node = scenario_sm_node(s, &port), n = 0;

	g_array_append_val(queue, node);
	met[node] = met[without] = true;
	for (guint i = 0; i < queue->len; i++) {
		struct sim_node_view view;

		node = g_array_index(queue, unsigned int, i);
		sim_node_view(s->sim, node, &view);
		n += view.type == IBA_NODE_SWITCH;
		for (port = 1; port <= view.num_ports; port++) {
			unsigned int peer, peer_port;

			if (!sim_peer(s->sim, node, port, &peer, &peer_port) || met[peer] ||
			    !sim_link_up(s->sim, node, port))
				continue;
			met[peer] = true;
			g_array_append_val(queue, peer);
		}
	}
	return n;
}

bool lives_lose_cable(struct scenario *s, unsigned int silent)
{
	unsigned int n = reached_without(s, silent), node, port;

	for (unsigned int i = 0; i < 20; i++) {
		scenario_random_link(s, &node, &port);
		if (!sim_link_up(s->sim, node, port))
			continue;
		sim_link_set(s->sim, node, port, false);
		if (reached_without(s, silent) == n)
			return true;
		sim_link_set(s->sim, node, port, true);
	}
	return false;
}
