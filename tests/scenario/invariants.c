// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What must hold in a fabric that an SM has set up, read from the simulated hardware: ports, LIDs,
 * forwarding tables, P_Keys, multicast trees. Only what can be reached from the SM's port counts
 * (IBA 14.4).
 */
#include <inttypes.h>
#include <string.h>

#include "scenario.h"

struct view {
	const struct scenario *s;
	unsigned int n_nodes;
	bool *reached;		     /* node */
	struct sim_node_view *nodes; /* of all */
	GArray *owner;	       /* [LID] unsigned int: 1 + number in endports; 0: not assigned */
	GArray *endports;      /* struct endport */
	unsigned int *arrived; /* [node] the last LID to which packets from there arrive */
	uint8_t lmc;
	uint16_t sm_lid;
	struct subnet *subnet; /* the published one; or NULL */
};

struct endport {
	unsigned int node, port;
	const struct iba_port_info *info;
};

/* ---- the fabric ---- */

static bool is_switch(const struct view *view, unsigned int node)
{
	return view->nodes[node].type == IBA_NODE_SWITCH;
}

/* The port at the other end of a link that carries packets. */
static bool link_peer(const struct view *view, unsigned int node, unsigned int port,
		      unsigned int *peer, unsigned int *peer_port)
{
	return port && sim_link_up(view->s->sim, node, port) &&
	       sim_peer(view->s->sim, node, port, peer, peer_port) && view->nodes[*peer].up;
}

static void add_endport(struct view *view, unsigned int node, unsigned int port)
{
	struct endport endport = {node, port, sim_port_info(view->s->sim, node, port)};

	g_array_append_val(view->endports, endport);
}

/* Breadth first over links that are up; CAs do not forward. */
static void reach(struct view *view)
{
	unsigned int sm_port, sm = scenario_sm_node(view->s, &sm_port), peer, peer_port;
	g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(unsigned int));

	view->reached[sm] = true;
	add_endport(view, sm, sm_port);
	view->sm_lid = sim_port_info(view->s->sim, sm, sm_port)->lid;
	if (is_switch(view, sm)) {
		g_array_append_val(queue, sm);
	} else if (link_peer(view, sm, sm_port, &peer, &peer_port)) {
		view->reached[peer] = true;
		add_endport(view, peer, is_switch(view, peer) ? 0 : peer_port);
		if (is_switch(view, peer))
			g_array_append_val(queue, peer);
	}
	for (unsigned int i = 0; i < queue->len; i++) {
		unsigned int node = g_array_index(queue, unsigned int, i);

		for (unsigned int p = 1; p <= view->nodes[node].num_ports; p++) {
			if (!link_peer(view, node, p, &peer, &peer_port))
				continue;
			if (!is_switch(view, peer)) {
				if (peer != sm || peer_port != sm_port)
					add_endport(view, peer, peer_port);
			} else if (!view->reached[peer]) {
				add_endport(view, peer, 0);
				g_array_append_val(queue, peer);
			}
			view->reached[peer] = true;
		}
	}
}

static uint8_t option_lmc(const struct scenario *s)
{
	struct options *options = slot_take(&daemon_context(s->daemon)->options);
	uint8_t lmc = options->lmc;

	options_unref(options);
	return lmc;
}

static void view_init(struct view *view, const struct scenario *s)
{
	*view = (struct view){.s = s, .n_nodes = sim_nodes(s->sim)};
	view->reached = g_new0(bool, view->n_nodes);
	view->nodes = g_new0(struct sim_node_view, view->n_nodes);
	view->arrived = g_new0(unsigned int, view->n_nodes);
	view->owner = g_array_new(FALSE, TRUE, sizeof(unsigned int));
	view->endports = g_array_new(FALSE, FALSE, sizeof(struct endport));
	view->lmc = s->daemon ? option_lmc(s) : 0;
	view->subnet = s->daemon ? slot_take(&daemon_context(s->daemon)->subnet) : NULL;
	for (unsigned int i = 0; i < view->n_nodes; i++)
		sim_node_view(s->sim, i, &view->nodes[i]);
	reach(view);
}

static void view_clear(struct view *view)
{
	g_free(view->reached);
	g_free(view->nodes);
	g_free(view->arrived);
	g_array_unref(view->owner);
	g_array_unref(view->endports);
	subnet_unref(view->subnet);
}

static char *of_port(const struct view *view, unsigned int node, unsigned int port,
		     const char *what, uint64_t is, uint64_t should)
{
	return g_strdup_printf("%s port %u: %s is %" PRIu64 " (0x%" PRIx64 "), should be %" PRIu64
			       " (0x%" PRIx64 ")",
			       view->nodes[node].description, port, what, is, is, should, should);
}

/* ---- links ---- */

static char *check_link(const struct view *view, unsigned int node, unsigned int port)
{
	const struct iba_port_info *info = sim_port_info(view->s->sim, node, port), *other;
	unsigned int peer, peer_port;

	if (!link_peer(view, node, port, &peer, &peer_port))
		return NULL;
	other = sim_port_info(view->s->sim, peer, peer_port);
	if (info->port_state != IBA_PORT_ACTIVE)
		return of_port(view, node, port, "PortState", info->port_state, IBA_PORT_ACTIVE);
	if (other->port_state != IBA_PORT_ACTIVE)
		return of_port(view, peer, peer_port, "PortState", other->port_state,
			       IBA_PORT_ACTIVE);
	if (info->neighbor_mtu != MIN(info->mtu_cap, other->mtu_cap))
		return of_port(view, node, port, "NeighborMTU", info->neighbor_mtu,
			       MIN(info->mtu_cap, other->mtu_cap));
	if (info->operational_vls != other->operational_vls)
		return of_port(view, node, port, "OperationalVLs", info->operational_vls,
			       other->operational_vls);
	return NULL;
}

static char *check_links(const struct view *view)
{
	char *wrong = NULL;

	for (unsigned int i = 0; !wrong && i < view->endports->len; i++) {
		const struct endport *endport = &g_array_index(view->endports, struct endport, i);
		unsigned int last =
			endport->port ? endport->port : view->nodes[endport->node].num_ports;

		for (unsigned int p = MAX(endport->port, 1); !wrong && p <= last; p++)
			wrong = check_link(view, endport->node, p);
	}
	return wrong;
}

/* ---- endports ---- */

static unsigned int *owner_of(const struct view *view, unsigned int lid)
{
	return &g_array_index(view->owner, unsigned int, lid);
}

static char *claim_lids(struct view *view, unsigned int number, const struct endport *endport)
{
	uint8_t lmc = is_switch(view, endport->node) ? 0 : view->lmc;
	uint16_t lid = endport->info->lid;

	if (lid == 0 || lid >= IBA_LID_MCAST_FIRST)
		return of_port(view, endport->node, endport->port, "LID", lid, 1);
	if (endport->info->lmc != lmc)
		return of_port(view, endport->node, endport->port, "LMC", endport->info->lmc, lmc);
	if (lid & ((1u << lmc) - 1))
		return of_port(view, endport->node, endport->port, "base LID", lid,
			       lid & ~((1u << lmc) - 1));
	g_array_set_size(view->owner, MAX(view->owner->len, lid + (1u << lmc)));
	for (unsigned int i = lid; i < lid + (1u << lmc); i++) {
		if (*owner_of(view, i))
			return of_port(view, endport->node, endport->port, "LID of another", i, 0);
		*owner_of(view, i) = number + 1;
	}
	return NULL;
}

static char *check_endport(struct view *view, unsigned int number)
{
	const struct endport *endport = &g_array_index(view->endports, struct endport, number);
	const struct iba_port_info *info = endport->info;
	unsigned int node = endport->node, port = endport->port, n;
	const uint16_t *p_keys = sim_p_keys(view->s->sim, node, port, &n);
	bool member = false;
	char *wrong = claim_lids(view, number, endport);

	if (wrong)
		return wrong;
	if (info->master_sm_lid != view->sm_lid)
		return of_port(view, node, port, "MasterSMLID", info->master_sm_lid, view->sm_lid);
	if (info->gid_prefix != IBA_DEFAULT_GID_PREFIX)
		return of_port(view, node, port, "GidPrefix", info->gid_prefix,
			       IBA_DEFAULT_GID_PREFIX);
	for (unsigned int i = 0; i < n; i++)
		member = member || p_keys[i] == P_KEY_DEFAULT;
	if (!member)
		return of_port(view, node, port, "P_Key", n ? p_keys[0] : 0, P_KEY_DEFAULT);
	return NULL;
}

/* ---- unicast ---- */

static bool has_hosts(const struct view *view, unsigned int node)
{
	unsigned int peer, peer_port;

	for (unsigned int p = 1; p <= view->nodes[node].num_ports; p++)
		if (link_peer(view, node, p, &peer, &peer_port) && !is_switch(view, peer))
			return true;
	return false;
}

/*
 * Whether the published routing ends here on purpose: an engine that promises freedom from deadlock
 * may omit paths to a switch, and paths from a switch without hosts (route/engine.h).
 */
static bool is_excluded(const struct view *view, unsigned int from, unsigned int node, uint16_t lid,
			const struct endport *to)
{
	const struct subnet *subnet = view->subnet;
	uint32_t here;

	if (!subnet || (!is_switch(view, to->node) && has_hosts(view, from)) ||
	    lid > subnet->routing->top || !(subnet->routing->promises & ROUTE_DEADLOCK_FREE))
		return false;
	here = fabric_node_by_guid(subnet->fabric, view->nodes[node].node_guid);
	return here != FABRIC_NONE &&
	       subnet->routing->lft[subnet->fabric->nodes[here].sw][lid] == ROUTE_NO_PORT;
}

/*
 * Whether no path is possible since the first or the last switch has no room for the LID; a lack of
 * room in other switches does not count.
 */
static bool is_above_cap(const struct view *view, unsigned int from, uint16_t lid,
			 const struct endport *to)
{
	unsigned int leaf = to->node, peer_port;

	if (!is_switch(view, leaf) && !link_peer(view, to->node, to->port, &leaf, &peer_port))
		return false;
	return lid >= view->nodes[from].switch_info->linear_fdb_cap ||
	       (is_switch(view, leaf) && lid >= view->nodes[leaf].switch_info->linear_fdb_cap);
}

/* Packets from this switch reach the LID, hence those of all switches on the way. */
static void note_arrival(const struct view *view, unsigned int node, uint16_t lid)
{
	unsigned int peer = node, peer_port;

	do {
		node = peer;
		view->arrived[node] = lid;
	} while (link_peer(view, node, view->nodes[node].lft[lid], &peer, &peer_port) &&
		 is_switch(view, peer) && view->arrived[peer] != lid);
}

/* Follows the tables from a switch to a LID. */
static char *walk(const struct view *view, unsigned int from, uint16_t lid,
		  const struct endport *to)
{
	unsigned int node = from, hops = 0, port, peer, peer_port;

	if (is_above_cap(view, from, lid, to))
		return NULL;
	while (view->arrived[node] != lid) {
		if (lid >= view->nodes[node].switch_info->linear_fdb_cap)
			return of_port(view, node, 0, "LinearFDBCap",
				       view->nodes[node].switch_info->linear_fdb_cap, lid);
		port = view->nodes[node].lft[lid];
		if (node == to->node && port == 0)
			break;
		if (lid > view->nodes[node].switch_info->linear_fdb_top)
			return of_port(view, node, 0, "LinearFDBTop",
				       view->nodes[node].switch_info->linear_fdb_top, lid);
		if (port == ROUTE_NO_PORT && is_excluded(view, from, node, lid, to))
			return NULL;
		if (port > view->nodes[node].num_ports ||
		    !link_peer(view, node, port, &peer, &peer_port))
			return g_strdup_printf("from %s to LID %u (%s): %s forwards to port %u",
					       view->nodes[from].description, lid,
					       view->nodes[to->node].description,
					       view->nodes[node].description, port);
		if (peer == to->node && peer_port == to->port)
			break;
		if (peer == to->node && !is_switch(view, peer))
			return of_port(view, peer, peer_port, "LID reaches port", peer_port,
				       to->port);
		if (!is_switch(view, peer) || ++hops > view->n_nodes)
			return g_strdup_printf("from %s to LID %u (%s): %s at %s",
					       view->nodes[from].description, lid,
					       view->nodes[to->node].description,
					       is_switch(view, peer) ? "loop" : "ends",
					       view->nodes[peer].description);
		node = peer;
	}
	note_arrival(view, from, lid);
	return NULL;
}

static char *check_lid(const struct view *view, uint16_t lid, unsigned int endport)
{
	const struct endport *to = &g_array_index(view->endports, struct endport, endport);
	char *wrong = NULL;

	for (unsigned int node = 0; !wrong && node < view->n_nodes; node++)
		if (view->reached[node] && is_switch(view, node))
			wrong = walk(view, node, lid, to);
	return wrong;
}

static char *check_routes(const struct view *view)
{
	char *wrong = NULL;

	for (unsigned int lid = 1; !wrong && lid < view->owner->len; lid++)
		if (*owner_of(view, lid))
			wrong = check_lid(view, (uint16_t)lid, *owner_of(view, lid) - 1);
	return wrong;
}

/* ---- multicast ---- */

struct flood {
	const struct view *view;
	uint16_t mlid;
	bool lax;	      /* other ports may get packets too */
	unsigned int *visits; /* of each switch */
	unsigned int *copies; /* that reached each node's port 0, or the CA */
};

/* Whether a switch uses its entry for the MLID: MulticastFDBTop 0 sets no limit (14.2.5.4). */
static bool uses_entry(const struct flood *flood, unsigned int node)
{
	const struct iba_switch_info *info = flood->view->nodes[node].switch_info;
	const struct iba_port_info *port = sim_port_info(flood->view->s->sim, node, 0);

	if (flood->mlid >= IBA_LID_MCAST_FIRST + info->multicast_fdb_cap)
		return false;
	return !info->multicast_fdb_top || flood->mlid <= info->multicast_fdb_top ||
	       !(port->capability_mask & IBA_PORT_CAP_MULTICAST_FDB_TOP);
}

static bool mft_has(const struct flood *flood, unsigned int node, unsigned int port)
{
	uint16_t mask[16];

	if (!uses_entry(flood, node))
		return false;
	sim_mft(flood->view->s->sim, node, flood->mlid, mask);
	return mask[port / 16] & 1u << port % 16;
}

/* The packet has entered a switch through port in. */
static void flood_from(struct flood *flood, unsigned int node, unsigned int in)
{
	unsigned int peer, peer_port;

	if (flood->visits[node]++)
		return;
	for (unsigned int p = 0; p <= flood->view->nodes[node].num_ports; p++) {
		if (p == in || !mft_has(flood, node, p))
			continue;
		if (p == 0)
			flood->copies[node]++;
		else if (!link_peer(flood->view, node, p, &peer, &peer_port))
			continue;
		else if (is_switch(flood->view, peer))
			flood_from(flood, peer, peer_port);
		else
			flood->copies[peer]++;
	}
}

/* Where the packets of a member enter the fabric; false if it is not connected. */
static bool flood_begin(struct flood *flood, uint64_t guid)
{
	const struct sim *sim = flood->view->s->sim;
	int found = sim_find_guid(sim, guid);
	unsigned int node = (unsigned int)found, peer, peer_port, port = 0;

	if (found < 0 || !flood->view->reached[node])
		return false;
	while (port < flood->view->nodes[node].num_ports && sim_port_guid(sim, node, port) != guid)
		port++;
	if (is_switch(flood->view, node))
		flood_from(flood, node, 0);
	else if (!link_peer(flood->view, node, port, &peer, &peer_port))
		return false;
	else
		flood_from(flood, peer, peer_port);
	return true;
}

static char *check_copies(const struct flood *flood, uint64_t from, const uint64_t *guids,
			  unsigned int n)
{
	const struct sim *sim = flood->view->s->sim;
	unsigned int got = 0;

	for (unsigned int i = 0; i < flood->view->n_nodes; i++) {
		got += flood->copies[i];
		if (flood->visits[i] > 1)
			return g_strdup_printf(
				"MLID 0x%x: packet of 0x%016" PRIx64 " comes to %s again",
				flood->mlid, from, flood->view->nodes[i].description);
	}
	for (unsigned int i = 0; i < n; i++) {
		unsigned int copies = flood->copies[sim_find_guid(sim, guids[i])];

		if (guids[i] != from && copies != 1)
			return g_strdup_printf("MLID 0x%x: packet of 0x%016" PRIx64
					       " reaches 0x%016" PRIx64 " %u times",
					       flood->mlid, from, guids[i], copies);
	}
	if (got == n - 1 || flood->lax)
		return NULL;
	return g_strdup_printf("MLID 0x%x: packet of 0x%016" PRIx64 " reaches %u ports, not %u",
			       flood->mlid, from, got, n - 1);
}

static char *flood_all(const struct view *view, uint16_t mlid, const uint64_t *guids,
		       unsigned int n, bool lax)
{
	struct flood flood = {.view = view, .mlid = mlid, .lax = lax};
	char *wrong = NULL;

	flood.visits = g_new0(unsigned int, view->n_nodes);
	flood.copies = g_new0(unsigned int, view->n_nodes);
	for (unsigned int i = 0; i < n && !wrong; i++) {
		memset(flood.visits, 0, view->n_nodes * sizeof(*flood.visits));
		memset(flood.copies, 0, view->n_nodes * sizeof(*flood.copies));
		if (flood_begin(&flood, guids[i]))
			wrong = check_copies(&flood, guids[i], guids, n);
		else
			wrong = g_strdup_printf("MLID 0x%x: member 0x%016" PRIx64 " is not there",
						mlid, guids[i]);
	}
	g_free(flood.visits);
	g_free(flood.copies);
	return wrong;
}

static char *tree_violation(const struct scenario *s, uint16_t mlid, const uint64_t *guids,
			    unsigned int n, bool lax)
{
	struct view view;
	char *wrong;

	view_init(&view, s);
	wrong = flood_all(&view, mlid, guids, n, lax);
	view_clear(&view);
	return wrong;
}

static struct fabric *published_fabric(const struct scenario *s)
{
	struct subnet *subnet = slot_take(&daemon_context(s->daemon)->subnet);
	struct fabric *fabric = subnet ? fabric_ref(subnet->fabric) : NULL;

	subnet_unref(subnet);
	return fabric;
}

char *scenario_tree_violation(const struct scenario *s, uint16_t mlid, const uint64_t *guids,
			      unsigned int n)
{
	return tree_violation(s, mlid, guids, n, false);
}

char *scenario_tree_loss(const struct scenario *s, uint16_t mlid, const uint64_t *guids,
			 unsigned int n)
{
	return tree_violation(s, mlid, guids, n, true);
}

/* Members that are present and get packets; each once. */
static void add_members(GArray *guids, const struct mc_group *group, const struct fabric *fabric)
{
	for (uint32_t i = 0; i < group->n_ports; i++) {
		uint32_t port = fabric_port_by_guid(fabric, group->port_guids[i]);
		bool known = group->only_sends[i] || port == FABRIC_NONE ||
			     !fabric_is_connected(fabric, port);

		for (guint k = 0; k < guids->len && !known; k++)
			known = g_array_index(guids, uint64_t, k) == group->port_guids[i];
		if (!known)
			g_array_append_val(guids, group->port_guids[i]);
	}
}

static char *check_trees(const struct view *view)
{
	const struct scenario *s = view->s;
	struct mc_groups *groups = s->daemon ? slot_take(&daemon_context(s->daemon)->groups) : NULL;
	struct fabric *fabric = groups ? published_fabric(s) : NULL;
	struct mc_cursor cursor = {0};
	const struct mc_group *group = mc_groups_next(groups, &cursor);
	char *wrong = NULL;

	while (fabric && group && !wrong) {
		uint16_t mlid = group->mlid;
		GArray *guids = g_array_new(FALSE, FALSE, sizeof(uint64_t));

		for (; group && group->mlid == mlid; group = mc_groups_next(groups, &cursor))
			add_members(guids, group, fabric);
		wrong = flood_all(view, mlid, (const uint64_t *)(void *)guids->data, guids->len,
				  false);
		g_array_unref(guids);
	}
	if (fabric)
		fabric_unref(fabric);
	mc_groups_unref(groups);
	return wrong;
}

bool *scenario_reached(const struct scenario *s)
{
	struct view view;
	bool *reached;

	view_init(&view, s);
	reached = g_steal_pointer(&view.reached);
	view_clear(&view);
	return reached;
}

char *scenario_violation(const struct scenario *s)
{
	struct view view;
	char *wrong;

	view_init(&view, s);
	wrong = check_links(&view);
	for (unsigned int i = 0; !wrong && i < view.endports->len; i++)
		wrong = check_endport(&view, i);
	if (!wrong)
		wrong = check_routes(&view);
	if (!wrong)
		wrong = check_trees(&view);
	view_clear(&view);
	return wrong;
}
