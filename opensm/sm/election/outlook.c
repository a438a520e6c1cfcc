// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The outlook of an SM, found out by Gets alone, so that it knows before it becomes master. It sees
 * the endports that answered. A port that hides its M_Key (protection level 1) answers Gets, but
 * accepts no Set; from level 2 on, everything behind a cable that is up is silent. Ports beyond a
 * switch that accepts no Set count as seen but not settable: no route leads there.
 *
 * A port without an M_Key may look as if it hid one. Only a Set can tell, one that changes nothing;
 * it is sent only if no other SM should lead (key_unknown.c).
 */
#include "sm/election/outlook.h"

#include "sm/discover/discover.h"
#include "sm/election/mastership_private.h"
#include "sm/keys/keys.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

struct walk {
	const struct sm *sm;
	GPtrArray *switches; /* to be visited, and visited ones */
	bool *met;	     /* visited nodes, by index */
	unsigned int settable;
};

static unsigned int saturated(unsigned int n)
{
	return MIN(n, UINT16_MAX);
}

/*
 * Whether it has answered since the last heavy sweep began: all that is known, except kept nodes.
 */
static bool is_there(const struct sm *sm, const struct builder_node *node)
{
	return node->index != FABRIC_NONE && node->seen >= sm->mastership->outlook_since;
}

/* The port whose SMA answers for this one. */
static const struct builder_port *sma_of(const struct builder_port *port)
{
	return builder_is_switch(port->node) ? &port->node->ports[0] : port;
}

static void go_beyond(struct walk *walk, const struct builder_port *port)
{
	const struct builder_port *peer = port->peer;
	bool is_switch = peer && builder_is_switch(peer->node);

	if (!peer || !is_there(walk->sm, peer->node) || walk->met[peer->node->index])
		return;
	walk->met[peer->node->index] = is_switch; /* each port of an adapter counts */
	if (keys_bar(walk->sm, sma_of(peer)))
		return;
	walk->settable += sma_of(peer)->known;
	if (is_switch)
		g_ptr_array_add(walk->switches, peer->node);
}

/* Endports beyond the SM's own that it can set, as all switches on the way accept Sets. */
static unsigned int settable_beyond(const struct sm *sm, const GPtrArray *nodes)
{
	const struct builder_port *own = sm->builder->sm_port;
	g_autoptr(GPtrArray) switches = g_ptr_array_new();
	g_autofree bool *met = g_new0(bool, nodes->len);
	struct walk walk = {sm, switches, met, 0};

	met[own->node->index] = true;
	if (builder_is_switch(own->node))
		g_ptr_array_add(switches, own->node);
	else
		go_beyond(&walk, own);
	for (guint i = 0; i < switches->len; i++) {
		const struct builder_node *node = switches->pdata[i];

		for (unsigned int num = 1; num <= node->info.num_ports; num++)
			go_beyond(&walk, &node->ports[num]);
	}
	return walk.settable;
}

static unsigned int count_endports(const struct sm *sm, const struct builder_node *node)
{
	unsigned int n = 0;

	for (unsigned int num = 0; is_there(sm, node) && num <= node->info.num_ports; num++)
		n += node->ports[num].guid && node->ports[num].known;
	return n;
}

static bool has_cable(const struct sm *sm)
{
	const struct builder_port *own = sm->builder->sm_port;

	if (!builder_is_switch(own->node))
		return builder_link_is_up(own);
	for (unsigned int num = 1; num <= own->node->info.num_ports; num++)
		if (own->node->ports[num].peer)
			return true;
	return false;
}

struct ability outlook_of(struct sm *sm)
{
	g_autoptr(GPtrArray) nodes = builder_order(sm->builder);
	const struct builder_port *own = sm->builder->sm_port;
	unsigned int switches = 0, endports = keys_count_excluded(sm), beyond;
	bool own_bars = keys_bar(sm, own);

	if (sm->sweep.kind == SWEEP_KIND_HEAVY)
		sm->mastership->outlook_since = sm->builder->sweep;
	for (guint i = 0; i < nodes->len; i++) {
		switches += builder_is_switch(nodes->pdata[i]) && is_there(sm, nodes->pdata[i]);
		endports += count_endports(sm, nodes->pdata[i]);
	}
	beyond = settable_beyond(sm, nodes);
	return (struct ability){
		.known = true,
		.unable = own_bars || (!beyond && has_cable(sm)),
		.switches = (uint16_t)saturated(switches),
		.endports = (uint16_t)saturated(MAX(endports, beyond + !own_bars)),
		.settable = (uint16_t)saturated(beyond + !own_bars),
	};
}

/* The port that stands for the others: the SM's own, or the one at the other end of its cable. */
static struct builder_port *barring_port(const struct sm *sm)
{
	struct builder_port *own = sm->builder->sm_port, *peer = own->peer;
	struct builder_port *sma;

	if (keys_bar(sm, own))
		return own;
	if (!peer)
		return NULL;
	sma = builder_is_switch(peer->node) ? &peer->node->ports[0] : peer;
	return keys_bar(sm, sma) ? sma : NULL;
}

bool outlook_inquires(struct sm *sm)
{
	struct builder_port *port = barring_port(sm);

	return port && keys_judge(sm, port);
}

/* Why the neighbour is silent; it may be known from an earlier run. */
static char *why_silent(const struct sm *sm)
{
	uint64_t before = keys_neighbour(sm, sm->builder->sm_port);
	g_autofree char *name =
		before ? g_strdup_printf(" (0x%016" G_GINT64_MODIFIER "x earlier)", before) : NULL;

	return g_strdup_printf("the device connected to the SM's port%s does not answer; it may "
			       "require an M_Key that this SM does not have (check m_key and "
			       "m_key_seed_file, and copy the files neighbors and guid2mkey of "
			       "the previous SM), or its management agent may hang",
			       name ? name : "");
}

char *outlook_why_unable(struct sm *sm)
{
	const struct builder_port *port = barring_port(sm);
	char name[SM_NAME_SIZE];

	if (!port)
		return why_silent(sm);
	return g_strdup_printf("%s hides its M_Key and rejects every Set of this SM: give this "
			       "SM the m_key or m_key_seed_file of the SM that configured the "
			       "subnet",
			       sm_node_name(port->node, name, sizeof(name)));
}
