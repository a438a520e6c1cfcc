// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From the builder to the immutable fabric: one pass over the nodes. A cable is in the fabric if
 * the walk reached both of its ends and neither is down. The sm actor freezes; after that any
 * thread may read the fabric, and the last reference frees it.
 *
 * Nodes are ordered by their LIDs, which outlive the SM and do not depend on where it is: so
 * another SM computes the same routes for the same subnet.
 *
 * A sweep that found a small change copies the previous fabric, and freezes only the nodes that
 * were touched, and the ports at the other ends of their cables. That works as long as every node
 * keeps its index and no endport changes its GUID or LID: then the indexes are unchanged.
 */
#include <string.h>

#include "fabric/builder.h"
#include "fabric/fabric_private.h"
#include "iba/codes.h"

/* ---- order ---- */

/* The lowest LID of a node; nodes without a LID come last. */
static uint32_t first_lid(const struct builder_node *node)
{
	unsigned int last = builder_is_switch(node) ? 0 : node->info.num_ports;
	uint32_t lid = FABRIC_LIDS;

	for (unsigned int num = 0; num <= last; num++)
		if (node->ports[num].lid)
			lid = MIN(lid, node->ports[num].lid);
	return lid;
}

static int compare_places(const void *a, const void *b)
{
	const struct builder_node *x = *(struct builder_node *const *)a;
	const struct builder_node *y = *(struct builder_node *const *)b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* The nodes of a walk in the order of a fabric; sets the place of each. */
static GPtrArray *by_lid(const GPtrArray *walk)
{
	GPtrArray *order = g_ptr_array_sized_new(walk->len);

	for (guint i = 0; i < walk->len; i++) {
		struct builder_node *node = walk->pdata[i];

		node->place = first_lid(node);
		g_ptr_array_add(order, node);
	}
	g_ptr_array_sort(order, compare_places);
	for (guint i = 0; i < order->len; i++)
		((struct builder_node *)order->pdata[i])->place = i;
	return order;
}

/* ---- values ---- */

static struct fabric *fabric_alloc(const GPtrArray *order)
{
	struct fabric *fabric = g_new0(struct fabric, 1);

	ref_init(&fabric->ref);
	fabric->n_nodes = order->len;
	for (uint32_t i = 0; i < order->len; i++) {
		const struct builder_node *node = order->pdata[i];

		fabric->n_ports += node->info.num_ports + 1u;
		fabric->n_switches += builder_is_switch(node);
	}
	fabric->nodes = g_new0(struct fabric_node, fabric->n_nodes);
	fabric->switches = g_new0(struct fabric_switch, fabric->n_switches);
	fabric->ports = g_new0(struct fabric_port, fabric->n_ports);
	fabric->lid_port = g_new(uint32_t, FABRIC_LIDS);
	memset(fabric->lid_port, 0xFF, FABRIC_LIDS * sizeof(uint32_t));
	return fabric;
}

static void freeze_node(struct fabric_node *to, const struct builder_node *from)
{
	to->guid = from->guid;
	to->type = from->info.node_type;
	to->num_ports = from->info.num_ports;
	to->info = from->info;
	to->silent = builder_is_silent(from);
	to->life = from->arrival << 32 | from->epoch;
	/* While it is being read again: its previous value. */
	memcpy(to->description, from->description.node_string,
	       sizeof(from->description.node_string));
}

/* The switches, and what each does not accept. */
static void freeze_switches(struct fabric *fabric, const GPtrArray *order)
{
	GArray *refusals = g_array_new(FALSE, FALSE, sizeof(struct fabric_refusal));

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		struct fabric_switch *to = &fabric->switches[sw];
		const struct builder_node *node = order->pdata[to->node];
		uint32_t mft = trust_next_refused(&node->mft, 0);

		to->hops = node->hops;
		to->info = node->switch_info;
		to->lids_taken = node->top_refused ? node->switch_info.linear_fdb_top + 1 : 0;
		if (mft != TRUST_NONE)
			to->mft_refused = mft / IBA_MFT_POSITIONS_OF(node->info.num_ports) + 1;
		else
			to->mft_refused = 0;
		for (uint32_t block = trust_next_refused(&node->lft, 0); block != TRUST_NONE;
		     block = trust_next_refused(&node->lft, block + 1)) {
			const struct fabric_refusal refusal = {sw, block};

			g_array_append_val(refusals, refusal);
		}
	}
	g_free(fabric->refusals);
	fabric->n_refusals = refusals->len;
	fabric->refusals = (struct fabric_refusal *)g_array_free(refusals, !refusals->len);
}

/* Nodes, switches and the first port of each: after this every port has an index. */
static void freeze_nodes(struct fabric *fabric, const GPtrArray *order)
{
	uint32_t first_port = 0, sw = 0;

	for (uint32_t i = 0; i < order->len; i++) {
		const struct builder_node *from = order->pdata[i];
		struct fabric_node *to = &fabric->nodes[i];

		freeze_node(to, from);
		to->first_port = first_port;
		to->sw = FABRIC_NONE;
		first_port += to->num_ports + 1u;
		if (!builder_is_switch(from))
			continue;
		to->sw = sw;
		fabric->switches[sw++].node = i;
	}
	freeze_switches(fabric, order);
}

/* The port at the other end of its cable, whether the link is in use or not. */
static uint32_t freeze_end(const struct fabric *fabric, const struct builder_port *port)
{
	const struct builder_port *peer = port->peer;

	if (!peer || peer->node->index == FABRIC_NONE || builder_is_down(port) ||
	    builder_is_down(peer))
		return FABRIC_NONE;
	return fabric->nodes[peer->node->place].first_port + peer->num;
}

/*
 * A link that is up carries packets, even if its speed is not known here: assume at least 4X SDR.
 */
static uint8_t freeze_rate(const struct builder_port *port)
{
	const struct iba_port_info *info = &port->info;
	uint8_t rate, width = info->link_width_active, speed = info->link_speed_active;

	if (info->port_state <= IBA_PORT_DOWN)
		return 0;
	rate = iba_link_rate(width, speed, info->link_speed_ext_active,
			     info->link_speed_ext_active2);
	if (!rate)
		rate = iba_link_rate(width, speed, info->link_speed_ext_active, 0);
	if (!rate)
		rate = iba_link_rate(width, speed, 0, 0);
	return rate || !port->num ? rate : IBA_RATE_10;
}

static uint8_t freeze_mtu(const struct builder_port *port)
{
	if (!port->num || !port->info.neighbor_mtu)
		return port->info.mtu_cap;
	return port->info.neighbor_mtu;
}

static void freeze_lids(struct fabric *fabric, uint32_t port)
{
	uint32_t lid = fabric->ports[port].lid, last = lid + (1u << fabric->ports[port].lmc) - 1;

	if (!lid || last >= FABRIC_LIDS)
		return;
	for (; lid <= last; lid++)
		if (fabric->lid_port[lid] == FABRIC_NONE)
			fabric->lid_port[lid] = port;
	fabric->max_lid = MAX(fabric->max_lid, last);
}

/* A cable is counted at one of its ends only. */
static bool counts(const struct fabric_port *port, uint32_t index)
{
	uint32_t end = port->held_up ? port->held_up : port->peer;

	return end != FABRIC_NONE && end >= index;
}

/* All of a port except its LIDs in the LID tables; the port must be zeroed before. */
static void fill_port(struct fabric *fabric, uint32_t index, const struct builder_port *from)
{
	struct fabric_port *to = &fabric->ports[index];
	bool endport = builder_is_switch(from->node) ? from->num == 0 : from->num != 0;

	to->node = from->node->place;
	to->num = from->num;
	to->peer = freeze_end(fabric, from);
	if (to->peer != FABRIC_NONE && (from->held_up || from->peer->held_up)) {
		to->held_up = to->peer;
		to->peer = FABRIC_NONE;
	}
	to->known = from->known;
	to->loopback = from->cable.state == CABLE_LOOPBACK;
	to->info = from->info;
	if (from->known) {
		to->rate = freeze_rate(from);
		to->fdr10 = from->fdr10.is;
		to->mtu = freeze_mtu(from);
	}
	fabric->n_links += counts(to, index);
	if (!endport || !from->guid)
		return;
	to->guid = from->guid;
	to->lid = from->lid;
	to->lmc = from->lmc;
}

static void freeze_port(struct fabric *fabric, uint32_t index, const struct builder_port *from)
{
	fill_port(fabric, index, from);
	if (fabric->ports[index].guid)
		freeze_lids(fabric, index);
}

static void give_names(const struct builder *builder, struct fabric *fabric)
{
	node_names_unref(fabric->names);
	fabric->names = builder->names ? node_names_ref(builder->names) : NULL;
}

static struct fabric *freeze_order(struct builder *builder, const GPtrArray *order)
{
	struct fabric *fabric;

	if (!order->len)
		return NULL;
	fabric = fabric_alloc(order);
	fabric->generation = fabric->shape = ++builder->generation;
	give_names(builder, fabric);
	freeze_nodes(fabric, order);
	for (uint32_t i = 0; i < order->len; i++) {
		const struct builder_node *node = order->pdata[i];

		for (unsigned int num = 0; num <= node->info.num_ports; num++)
			freeze_port(fabric, fabric_port_of(fabric, i, num), &node->ports[num]);
	}
	fabric->max_lid = MAX(fabric->max_lid, builder->hidden_top);
	fabric->sm_port =
		fabric_port_of(fabric, builder->sm_port->node->place, builder->sm_port->num);
	fabric_index_guids(fabric);
	return fabric;
}

struct fabric *builder_freeze(struct builder *builder)
{
	g_autoptr(GPtrArray) walk = builder_walk(builder);
	g_autoptr(GPtrArray) order = by_lid(walk);

	return freeze_order(builder, order);
}

/* ---- from the previous fabric ---- */

static bool same_walk(const struct builder *builder, const GPtrArray *walk)
{
	const GPtrArray *before = builder->frozen_walk;
	const struct builder_port *sm_port = builder->sm_port;

	return builder->frozen && !builder->all_touched &&
	       builder->frozen_population == builder->population && before->len == walk->len &&
	       builder->frozen->sm_port ==
		       fabric_port_of(builder->frozen, sm_port->node->place, sm_port->num) &&
	       (before == walk ||
		!memcmp(before->pdata, walk->pdata, walk->len * sizeof(*walk->pdata)));
}

struct fabric *fabric_copy(const struct fabric *old)
{
	struct fabric *fabric = g_new(struct fabric, 1);

	ref_init(&fabric->ref); /* other threads may be counting references to the old one */
	memcpy(&fabric->generation, &old->generation,
	       sizeof(*fabric) - offsetof(struct fabric, generation));
	fabric->nodes = g_memdup2(old->nodes, old->n_nodes * sizeof(*old->nodes));
	fabric->switches = g_memdup2(old->switches, old->n_switches * sizeof(*old->switches));
	fabric->ports = g_memdup2(old->ports, old->n_ports * sizeof(*old->ports));
	fabric->refusals = g_memdup2(old->refusals, old->n_refusals * sizeof(*old->refusals));
	fabric->lid_port = g_memdup2(old->lid_port, FABRIC_LIDS * sizeof(*old->lid_port));
	fabric_guid_index_ref(fabric->by_guid);
	if (fabric->names)
		node_names_ref(fabric->names);
	return fabric;
}

/* False if the indexes are no longer valid. */
static bool renew_port(struct fabric *fabric, const struct builder_port *from)
{
	uint32_t index = fabric_port_of(fabric, from->node->place, from->num);
	struct fabric_port *to = &fabric->ports[index], old = *to;

	fabric->n_links -= counts(&old, index);
	memset(to, 0, sizeof(*to));
	fill_port(fabric, index, from);
	return to->guid == old.guid && to->lid == old.lid && to->lmc == old.lmc;
}

static bool renew_node(struct fabric *fabric, const struct builder_node *from)
{
	struct fabric_node *to = &fabric->nodes[from->place];
	bool same = true;

	memset(to->description, 0, sizeof(to->description));
	freeze_node(to, from);
	for (unsigned int num = 0; num <= from->info.num_ports && same; num++) {
		const struct builder_port *peer = from->ports[num].peer;

		same = renew_port(fabric, &from->ports[num]) &&
		       (!peer || peer->node->index == FABRIC_NONE || renew_port(fabric, peer));
	}
	return same;
}

/* NULL if it is not the previous fabric with some nodes changed. */
static struct fabric *renew(struct builder *builder, const GPtrArray *walk)
{
	const GPtrArray *order = builder->frozen_order;
	struct fabric *fabric;
	bool same = true;

	if (!same_walk(builder, walk))
		return NULL;
	fabric = fabric_copy(builder->frozen);
	give_names(builder, fabric);
	for (guint i = 0; i < builder->touched->len && same; i++) {
		const struct builder_node *node = builder->touched->pdata[i];

		same = node->index == FABRIC_NONE || renew_node(fabric, node);
	}
	if (!same) {
		fabric_unref(fabric);
		return NULL;
	}
	freeze_switches(fabric, order);
	fabric->generation = ++builder->generation;
	return fabric;
}

static void remember(struct builder *builder, struct fabric *fabric, GPtrArray *walk,
		     GPtrArray *order)
{
	fabric_unref(builder->frozen);
	g_clear_pointer(&builder->frozen_walk, g_ptr_array_unref);
	g_clear_pointer(&builder->frozen_order, g_ptr_array_unref);
	builder->frozen = fabric ? fabric_ref(fabric) : NULL;
	builder->frozen_walk = walk;
	builder->frozen_order = order;
	builder->frozen_population = builder->population;
	builder->frozen_is_old = false;
}

/* The complete fabric, frozen again, must be the same. */
static void check(struct builder *builder, const struct fabric *fabric, const GPtrArray *order)
{
	uint64_t generation = builder->generation;
	g_autoptr(GPtrArray) walk = builder_walk(builder);
	g_autoptr(GPtrArray) anew = by_lid(walk);
	struct fabric *whole = freeze_order(builder, anew);

	g_assert(anew->len == order->len && fabric->n_links == whole->n_links);
	for (uint32_t i = 0; i < whole->n_nodes; i++)
		g_assert(anew->pdata[i] == order->pdata[i] &&
			 !memcmp(&fabric->nodes[i], &whole->nodes[i], sizeof(whole->nodes[i])));
	for (uint32_t i = 0; i < whole->n_switches; i++)
		g_assert(!memcmp(&fabric->switches[i], &whole->switches[i],
				 sizeof(whole->switches[i])));
	for (uint32_t i = 0; i < whole->n_ports; i++)
		g_assert(!memcmp(&fabric->ports[i], &whole->ports[i], sizeof(whole->ports[i])));
	g_assert(fabric->n_refusals == whole->n_refusals);
	g_assert(!memcmp(fabric->lid_port, whole->lid_port, FABRIC_LIDS * sizeof(uint32_t)));
	fabric_unref(whole);
	builder->generation = generation;
}

/* Whether indexes mean the same in both fabrics. */
static bool same_places(const struct fabric *a, const struct fabric *b)
{
	if (!a || a->n_nodes != b->n_nodes || a->n_ports != b->n_ports || a->sm_port != b->sm_port)
		return false;
	for (uint32_t i = 0; i < a->n_nodes; i++)
		if (a->nodes[i].guid != b->nodes[i].guid)
			return false;
	for (uint32_t i = 0; i < a->n_ports; i++)
		if (a->ports[i].guid != b->ports[i].guid || a->ports[i].lid != b->ports[i].lid ||
		    a->ports[i].lmc != b->ports[i].lmc)
			return false;
	return true;
}

struct fabric *builder_freeze_changes(struct builder *builder)
{
	GPtrArray *walk = builder_order(builder), *order;
	struct fabric *fabric = renew(builder, walk);

	if (fabric) {
		order = g_ptr_array_ref(builder->frozen_order);
		if (builder->self_check)
			check(builder, fabric, order);
	} else {
		order = by_lid(walk);
		fabric = freeze_order(builder, order);
		if (same_places(builder->frozen, fabric))
			fabric->shape = builder->frozen->shape;
	}
	remember(builder, fabric, walk, order);
	return fabric;
}

bool builder_is_frozen(const struct builder *builder, const struct fabric *fabric)
{
	return fabric && fabric == builder->frozen && !builder->frozen_is_old;
}

struct builder_node *builder_node_of(const struct builder *builder, const struct fabric *fabric,
				     uint32_t node)
{
	if (fabric == builder->frozen && builder->frozen_population == builder->population)
		return builder->frozen_order->pdata[node];
	return builder_find(builder, fabric->nodes[node].guid);
}

/* ---- references ---- */

struct fabric *fabric_ref(struct fabric *fabric)
{
	ref_get(&fabric->ref);
	return fabric;
}

void fabric_unref(struct fabric *fabric)
{
	if (!fabric || !ref_put(&fabric->ref))
		return;
	fabric_guid_index_unref(fabric->by_guid);
	node_names_unref(fabric->names);
	g_free(fabric->lid_port);
	g_free(fabric->refusals);
	g_free(fabric->ports);
	g_free(fabric->switches);
	g_free(fabric->nodes);
	g_free(fabric);
}
