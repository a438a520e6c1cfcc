// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Belief against hardware, block by block. A wrong belief is what an SM cannot repair: it sends
 * only what differs from what it regards as known, so a wrongly known block stays wrong, or is
 * changed back one day by the Set of another program.
 *
 * The fields of infos that are compared are those that the SM sets, or bases decisions on.
 */
#include "belief.h"

#include <inttypes.h>

#include "fabric/builder.h"
#include "sm/sm.h"

#define BLOCK_BYTES 64
#define LFT_BLOCK 64  /* entries */
#define MFT_BLOCK 32  /* MLIDs */
#define P_KEY_BLOCK 32

struct pair {
	const struct scenario *s;
	const bool *reached; /* nodes of the simulated fabric */
	const struct builder_node *node;
	unsigned int index; /* of the node in the simulated fabric */
	struct sim_node_view view;
};

/* The only place that tells whether a block is known: NULL if it is not. */
static const void *known_block(const struct pair *pair, const struct trust_table *table,
			       uint32_t block)
{
	return trust_get(pair->node, table, block, BLOCK_BYTES);
}

static char *differs(const struct pair *pair, const char *what, unsigned int number,
		     uint64_t believed, uint64_t is)
{
	return g_strdup_printf("%s: %s %u is 0x%" PRIx64 ", the SM believes 0x%" PRIx64,
			       pair->view.description, what, number, is, believed);
}

/* A link that is up leads from the port to a node that the SM can reach. */
static bool is_reached(const struct scenario *s, const bool *reached, unsigned int node,
		       unsigned int port)
{
	unsigned int peer, peer_port;

	return sim_link_up(s->sim, node, port) && sim_peer(s->sim, node, port, &peer, &peer_port) &&
	       reached[peer];
}

/* ---- tables ---- */

static char *check_lft_block(const struct pair *pair, uint32_t block)
{
	const uint8_t *known = known_block(pair, &pair->node->lft, block);

	for (unsigned int i = 0; known && i < LFT_BLOCK; i++) {
		unsigned int lid = block * LFT_BLOCK + i;

		if (known[i] != pair->view.lft[lid])
			return differs(pair, "LFT entry", lid, known[i], pair->view.lft[lid]);
	}
	return NULL;
}

static char *check_mft_block(const struct pair *pair, uint32_t number)
{
	const uint16_t *known = known_block(pair, &pair->node->mft, number);
	unsigned int positions = IBA_MFT_POSITIONS_OF(pair->node->info.num_ports);
	unsigned int position = number % positions;
	uint16_t mask[IBA_MFT_POSITIONS];

	for (unsigned int i = 0; known && i < MFT_BLOCK; i++) {
		unsigned int mlid = IBA_LID_MCAST_FIRST + number / positions * MFT_BLOCK + i;

		sim_mft(pair->s->sim, pair->index, (uint16_t)mlid, mask);
		if (known[i] != mask[position])
			return differs(pair, "MFT entry", mlid, known[i], mask[position]);
	}
	return NULL;
}

static char *check_p_key_block(const struct pair *pair, const struct builder_port *port,
			       uint32_t block)
{
	const uint16_t *known = known_block(pair, &port->p_keys, block), *is;
	unsigned int n;

	is = sim_p_keys(pair->s->sim, pair->index, port->num, &n);
	for (unsigned int i = 0; known && i < P_KEY_BLOCK; i++) {
		unsigned int at = block * P_KEY_BLOCK + i;

		if (at < n && known[i] != is[at])
			return differs(pair, "P_Key of port", port->num, known[i], is[at]);
	}
	return NULL;
}

static char *check_tables(const struct pair *pair)
{
	char *wrong = NULL;

	for (uint32_t i = 0; !wrong && i < trust_n_blocks(&pair->node->lft); i++)
		wrong = check_lft_block(pair, i);
	for (uint32_t i = 0; !wrong && i < trust_n_blocks(&pair->node->mft); i++)
		wrong = check_mft_block(pair, i);
	return wrong;
}

/* ---- infos ---- */

#define CHECK_FIELD(pair, info, is, field, number)                                                 \
	do {                                                                                       \
		if ((info)->field != (is)->field)                                                  \
			return differs((pair), #field " of port", (number), (info)->field,         \
				       (is)->field);                                               \
	} while (0)

static char *check_switch_info(const struct pair *pair)
{
	const struct iba_switch_info *believed = &pair->node->switch_info;

	if (!pair->node->has_switch_info)
		return NULL;
	CHECK_FIELD(pair, believed, pair->view.switch_info, linear_fdb_top, 0);
	CHECK_FIELD(pair, believed, pair->view.switch_info, multicast_fdb_top, 0);
	CHECK_FIELD(pair, believed, pair->view.switch_info, life_time_value, 0);
	CHECK_FIELD(pair, believed, pair->view.switch_info, default_port, 0);
	return NULL;
}

static char *check_endport(const struct pair *pair, const struct builder_port *port,
			   const struct iba_port_info *is)
{
	uint64_t claimed = sim_claimed_port_guid(pair->s->sim, pair->index, port->num);

	CHECK_FIELD(pair, &port->info, is, lid, port->num);
	CHECK_FIELD(pair, &port->info, is, lmc, port->num);
	CHECK_FIELD(pair, &port->info, is, gid_prefix, port->num);
	CHECK_FIELD(pair, &port->info, is, master_sm_lid, port->num);
	CHECK_FIELD(pair, &port->info, is, subnet_timeout, port->num);
	CHECK_FIELD(pair, &port->info, is, m_key, port->num);
	if (port->guid && port->guid != claimed)
		return differs(pair, "GUID of port", port->num, port->guid, claimed);
	return NULL;
}

static char *check_link(const struct pair *pair, const struct builder_port *port,
			const struct iba_port_info *is)
{
	CHECK_FIELD(pair, &port->info, is, port_state, port->num);
	if (is->port_state == IBA_PORT_DOWN)
		return NULL;
	CHECK_FIELD(pair, &port->info, is, neighbor_mtu, port->num);
	CHECK_FIELD(pair, &port->info, is, operational_vls, port->num);
	return NULL;
}

static char *check_port(const struct pair *pair, const struct builder_port *port)
{
	const struct iba_port_info *is = sim_port_info(pair->s->sim, pair->index, port->num);
	bool is_switch = pair->view.type == IBA_NODE_SWITCH;
	char *wrong = NULL;

	if (port->known && (!is_switch || !port->num))
		wrong = check_endport(pair, port, is);
	if (!wrong && port->known && port->num)
		wrong = check_link(pair, port, is);
	/* PortInfo of an endport is behind its own link, and is read when that link is back. */
	if (!is_switch && !is_reached(pair->s, pair->reached, pair->index, port->num))
		return wrong;
	for (uint32_t i = 0; !wrong && i < trust_n_blocks(&port->p_keys); i++)
		wrong = check_p_key_block(pair, port, i);
	return wrong;
}

/* ---- all ---- */

static char *check_node(const struct pair *pair)
{
	char *wrong = NULL;

	if (pair->view.type == IBA_NODE_SWITCH) {
		wrong = check_switch_info(pair);
		if (!wrong)
			wrong = check_tables(pair);
	}
	for (unsigned int p = 0; !wrong && p <= pair->view.num_ports; p++)
		wrong = check_port(pair, &pair->node->ports[p]);
	return wrong;
}

char *scenario_belief_violation(const struct scenario *s)
{
	const struct builder *builder = sm_builder(daemon_sm(s->daemon));
	g_autofree bool *reached = scenario_reached(s);
	struct pair pair = {.s = s, .reached = reached};
	char *wrong = NULL;

	for (unsigned int i = 0; !wrong && i < sim_nodes(s->sim); i++) {
		sim_node_view(s->sim, i, &pair.view);
		pair.index = i;
		pair.node = builder_find(builder, pair.view.node_guid);
		if (reached[i] && pair.node)
			wrong = check_node(&pair);
	}
	return wrong;
}

/* ---- what is published ---- */

static char *check_published_port(const struct scenario *s, const struct fabric *fabric,
				  unsigned int node, unsigned int port)
{
	uint32_t found = fabric_port_by_guid(fabric, sim_claimed_port_guid(s->sim, node, port));
	uint16_t lid = sim_port_info(s->sim, node, port)->lid;
	struct sim_node_view view;

	if (found != FABRIC_NONE && fabric->ports[found].lid == lid)
		return NULL;
	sim_node_view(s->sim, node, &view);
	if (found == FABRIC_NONE)
		return g_strdup_printf("%s port %u is not published", view.description, port);
	return g_strdup_printf("%s port %u: LID is %u, %u is published", view.description, port,
			       lid, fabric->ports[found].lid);
}

static char *check_published_node(const struct scenario *s, const struct fabric *fabric,
				  const bool *reached, unsigned int node)
{
	struct sim_node_view view;
	char *wrong = NULL;

	sim_node_view(s->sim, node, &view);
	if (fabric_node_by_guid(fabric, view.node_guid) == FABRIC_NONE)
		return g_strdup_printf("%s is not published", view.description);
	if (view.type == IBA_NODE_SWITCH)
		return check_published_port(s, fabric, node, 0);
	for (unsigned int p = 1; !wrong && p <= view.num_ports; p++)
		if (is_reached(s, reached, node, p))
			wrong = check_published_port(s, fabric, node, p);
	return wrong;
}

char *scenario_published_violation(const struct scenario *s)
{
	struct subnet *subnet = slot_take(&daemon_context(s->daemon)->subnet);
	g_autofree bool *reached = scenario_reached(s);
	unsigned int n = 0;
	char *wrong = NULL;

	if (!subnet)
		return g_strdup("nothing is published");
	for (unsigned int i = 0; !wrong && i < sim_nodes(s->sim); i++) {
		if (!reached[i])
			continue;
		n++;
		wrong = check_published_node(s, subnet->fabric, reached, i);
	}
	if (!wrong && subnet->fabric->n_nodes != n)
		wrong = g_strdup_printf("%u nodes are published, %u are there",
					subnet->fabric->n_nodes, n);
	subnet_unref(subnet);
	return wrong;
}

/* ---- what the options prescribe ---- */

static char *check_options(const struct scenario *s, const struct options *options,
			   const bool *reached, unsigned int node)
{
	struct sim_node_view view;
	unsigned int first, last;

	sim_node_view(s->sim, node, &view);
	first = view.type == IBA_NODE_SWITCH ? 0 : 1;
	last = view.type == IBA_NODE_SWITCH ? 0 : view.num_ports;
	if (view.switch_info && view.switch_info->life_time_value != options->packet_life_time)
		return g_strdup_printf("%s: LifeTimeValue is %u, packet_life_time %u",
				       view.description, view.switch_info->life_time_value,
				       options->packet_life_time);
	for (unsigned int p = first; p <= last; p++) {
		const struct iba_port_info *info = sim_port_info(s->sim, node, p);

		if (p && !is_reached(s, reached, node, p))
			continue;
		if (options->m_key_per_port ? !info->m_key : info->m_key != options->m_key)
			return g_strdup_printf("%s port %u: M_Key is 0x%" PRIx64
					       ", m_key 0x%" PRIx64,
					       view.description, p, info->m_key, options->m_key);
		if (info->subnet_timeout != options->subnet_timeout)
			return g_strdup_printf("%s port %u: SubnetTimeOut is %u, subnet_timeout %u",
					       view.description, p, info->subnet_timeout,
					       options->subnet_timeout);
	}
	return NULL;
}

char *scenario_options_violation(const struct scenario *s)
{
	struct options *options = slot_take(&daemon_context(s->daemon)->options);
	g_autofree bool *reached = scenario_reached(s);
	char *wrong = NULL;

	for (unsigned int i = 0; !wrong && i < sim_nodes(s->sim); i++)
		if (reached[i])
			wrong = check_options(s, options, reached, i);
	options_unref(options);
	return wrong;
}
