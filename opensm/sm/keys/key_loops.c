// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Loop probes: they identify the other end of unknown cables between switches. If each switch has a
 * key of its own, it does not answer from protection level 2 on to an SM that does not know which,
 * and keys of switches are not sent to where a host might be plugged in (key_strays.c). Packets are
 * forwarded whatever key they have. So after a sweep a Get(SMInfo) goes out through each port that
 * is silent, on from each switch that has another such port, and back to this SM, which answers it:
 *
 *	SM --> switch --(silent port)--> ? --(way back of another switch)--> SM
 *
 * The ports through which it entered each switch on its way back show that it passed that switch,
 * and through which of its ports. So the device behind the cable is known, and a sweep queries it
 * with its key. In place of an M_Key the probe has a number to identify it, which does not open any
 * port.
 */
#include <string.h>

#include "sm/discover/discover.h"
#include "sm/keys/keys.h"
#include "sm/keys/keys_private.h"
#include "sm/smp/smp.h"

#define LOOPS_MAX UINT64_C(256)	/* after a sweep; a power of two */
#define PAIRS_MAX 100000	/* maximum number checked then */
#define ROUNDS UINT64_MAX	/* a generation that keys of ports never have */

struct key_loops {
	struct sm *sm;
	uint64_t round, from; /* where the next round continues */
	unsigned int out;     /* in flight */
	_Atomic uint64_t number; /* of the first probe of this round, 0: none yet */
	struct iba_dr_smp seen[LOOPS_MAX]; /* as received; owned by "mad" until answered */
};

struct loop {
	struct mad_request mad;
	struct key_loops *loops;
	uint64_t node, by;  /* NodeGUIDs: the switch with the port, and the possible neighbour */
	uint8_t port, hops; /* of the first, and to it */
};

bool key_loops_came_in(struct keys *keys, const struct vendor_mad *mad)
{
	struct key_loops *loops = keys->loops;
	uint64_t number = atomic_load(&loops->number);
	struct iba_dr_smp smp, *seen;

	wire_decode(&iba_dr_smp_type, mad->data, &smp);
	if (smp.mgmt_class != IBA_CLASS_SUBN_DIRECTED || !number ||
	    smp.m_key - number >= LOOPS_MAX || smp.hop_count >= sizeof(smp.return_path))
		return false;
	seen = &loops->seen[smp.m_key - number];
	if (seen->m_key != smp.m_key)
		*seen = smp;
	return true;
}

/* ---- received probes ---- */

static void learn(struct sm *sm, struct builder_port *here, struct builder_port *there)
{
	char name[SM_NAME_SIZE], other[SM_NAME_SIZE];

	log_info(sm->log, "port %u of %s leads to port %u of %s: an SMP came back by it", here->num,
		 sm_node_name(here->node, name, sizeof(name)), there->num,
		 sm_node_name(there->node, other, sizeof(other)));
	neighbors_set(sm->keys->neighbors, here->node->ports[0].guid, here->num,
		      there->node->ports[0].guid, there->num);
	builder_mark(there->node);
	sweep_look_at(sm, here->node);
}

static bool is_silent(const struct builder_port *port)
{
	return builder_link_is_up(port) && !port->peer && cable_end_is_silent(&port->cable);
}

static void check(const struct loop *loop)
{
	struct sm *sm = loop->loops->sm;
	struct builder_node *node = builder_find(sm->builder, loop->node);
	struct builder_node *by = builder_find(sm->builder, loop->by);
	const struct iba_dr_smp *seen =
		&loop->loops->seen[loop->mad.m_key - atomic_load(&loop->loops->number)];
	const struct builder_port *out;
	unsigned int in = seen->return_path[loop->hops + 1];

	if (!node || loop->port > node->info.num_ports || !by ||
	    seen->m_key != loop->mad.m_key || seen->hop_count != loop->mad.route.hops)
		return;
	out = sm_port_of_path(sm, seen, loop->hops + 1u);
	if (out && out->node == by && in && in <= by->info.num_ports &&
	    is_silent(&by->ports[in]) && is_silent(&node->ports[loop->port]))
		learn(sm, &node->ports[loop->port], &by->ports[in]);
}

static void on_loop(struct mad_request *mad)
{
	struct loop *loop = (struct loop *)mad;

	if (mad->result == MAD_OK)
		check(loop);
	loop->loops->out--;
	g_free(loop);
}

/* ---- sending ---- */

static bool add_hop(struct mad_route *route, uint8_t port)
{
	if (route->hops >= IBA_MAX_HOPS - 1)
		return false;
	route->path[++route->hops] = port;
	return true;
}

/* Out through the silent port, and back as if from the other switch; false if that is too far. */
static bool find_way(const struct builder_port *port, const struct builder_node *by, uint8_t hops,
		     struct mad_route *route)
{
	route->hops = hops;
	if (!add_hop(route, port->num))
		return false;
	for (; by->entry && by->entry->peer; by = by->entry->peer->node)
		if (!add_hop(route, by->entry->num))
			return false;
	return !by->entry;
}

static void send(struct key_loops *loops, const struct builder_port *port,
		 const struct builder_node *by, uint64_t number)
{
	struct mad_route route = {0};
	int hops = builder_path(port->node, route.path);
	struct loop *loop;

	if (hops < 0 || !find_way(port, by, (uint8_t)hops, &route))
		return;
	loop = g_new(struct loop, 1);
	*loop = (struct loop){
		.mad = {.target = port->node->guid,
			.target_port = port->num,
			.route = route,
			.method = IBA_METHOD_GET,
			.attribute = IBA_ATTR_SM_INFO,
			.m_key = number,
			.tries = 2,
			.owner = loops->sm->actor,
			.done = on_loop},
		.loops = loops,
		.node = port->node->guid,
		.by = by->guid,
		.port = port->num,
		.hops = (uint8_t)hops,
	};
	loops->out++;
	mad_send(loops->sm->mad, &loop->mad);
}

static bool is_end(const struct sm *sm, const struct builder_port *port, GHashTable *switches)
{
	uint64_t before;

	if (!is_silent(port))
		return false;
	before = keys_neighbour(sm, port);
	return !g_hash_table_contains(switches, &before);
}

/* Silent ports of switches, except those behind which another switch was: its key is tried. */
static GPtrArray *list_ends(const struct sm *sm)
{
	g_autoptr(GHashTable) switches = neighbors_switches(sm->keys->neighbors);
	g_autoptr(GPtrArray) nodes = builder_order(sm->builder);
	GPtrArray *ends = g_ptr_array_new();

	for (guint i = 0; i < nodes->len; i++) {
		struct builder_node *node = nodes->pdata[i];

		for (unsigned int num = 1; builder_is_switch(node) && num <= node->info.num_ports;
		     num++)
			if (is_end(sm, &node->ports[num], switches))
				g_ptr_array_add(ends, &node->ports[num]);
	}
	return ends;
}

/* A port of one switch, and a later one in the list that is the first of another. */
static bool is_pair(const GPtrArray *ends, guint i, guint j)
{
	const struct builder_port *here = ends->pdata[i], *there = ends->pdata[j];
	const struct builder_port *before = j ? ends->pdata[j - 1] : NULL;

	return i < j && here->node != there->node && before->node != there->node;
}

static bool are_wanted(const struct sm *sm)
{
	return keys_silence(sm) && sm_is_master(sm) && sm->schedule.discovered &&
	       !sm->keys->loops->out;
}

void key_loops_send(struct sm *sm)
{
	struct key_loops *loops = sm->keys->loops;
	g_autoptr(GPtrArray) ends = NULL;
	uint64_t number, n_pairs;

	if (!are_wanted(sm))
		return;
	ends = list_ends(sm);
	n_pairs = (uint64_t)ends->len * ends->len;
	number = key_derive(sm->options->m_key_seed, ++loops->round, ROUNDS) & ~(LOOPS_MAX - 1);
	atomic_store(&loops->number, number);
	for (uint64_t i = 0; i < MIN(n_pairs, PAIRS_MAX) && loops->out < LOOPS_MAX; i++) {
		uint64_t pair = loops->from++ % n_pairs;
		guint here = (guint)(pair / ends->len), there = (guint)(pair % ends->len);
		const struct builder_port *by = ends->pdata[there];

		if (is_pair(ends, here, there))
			send(loops, ends->pdata[here], by->node, number + loops->out);
	}
}

void key_loops_init(struct keys *keys)
{
	keys->loops = g_new0(struct key_loops, 1);
	keys->loops->sm = keys->sm;
}
