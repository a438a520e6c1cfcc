// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The builder: what the sweep knows of the subnet while it discovers it.
 *
 * Objects: nodes by GUID, each with its ports; a cable joins two ports both ways. The sm actor owns
 * all of it and no other actor sees it: others read the frozen copy (freeze.c).
 *
 * Only switches forward (IBA 18.2.4.3), so a walk leaves a channel adapter or router only through
 * the port that the SM uses. Walks take ports in ascending order: equal subnets seen from the same
 * port are numbered equally, in whatever order answers came in.
 */
#include "fabric/builder.h"

#include "complib/hash.h"

#define BUILDER_MAX_HOPS 63 /* IBA 14.2.2: InitialPath holds 63 hops */

/* Numbers for side tables. Nodes to which requests point may outlive their builder. */
struct builder_slots {
	unsigned int users; /* nodes, and the builder */
	uint32_t n;	    /* from 1: a node that no builder made has 0 */
	uint64_t born;
	GArray *idle; /* of uint32_t */
};

static struct builder_slots *slots_new(void)
{
	struct builder_slots *slots = g_new0(struct builder_slots, 1);

	slots->users = slots->n = 1;
	slots->idle = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return slots;
}

static void slots_unref(struct builder_slots *slots)
{
	if (!slots || --slots->users)
		return;
	g_array_unref(slots->idle);
	g_free(slots);
}

static void slots_take(struct builder_slots *slots, struct builder_node *node)
{
	guint idle = slots->idle->len;

	slots->users++;
	node->slots = slots;
	node->slot = idle ? g_array_index(slots->idle, uint32_t, idle - 1) : slots->n++;
	node->born = ++slots->born;
	g_array_set_size(slots->idle, idle ? idle - 1 : 0);
}

static void slots_give_back(struct builder_node *node)
{
	if (node->slots)
		g_array_append_val(node->slots->idle, node->slot);
	slots_unref(node->slots);
}

static void node_free(gpointer data)
{
	struct builder_node *node = data;

	node->builder = NULL;
	if (node->requests)
		return; /* the last release frees it */
	for (unsigned int i = 0; i <= node->info.num_ports; i++) {
		trust_free(&node->ports[i].p_keys);
		trust_free(&node->ports[i].guids);
		trust_free(&node->ports[i].sl_to_vl);
		trust_free(&node->ports[i].vl_arb);
	}
	trust_free(&node->lft);
	trust_free(&node->mft);
	slots_give_back(node);
	g_free(node->ports);
	g_free(node);
}

void builder_hold(struct builder_node *node)
{
	node->requests++;
}

void builder_release(struct builder_node *node)
{
	if (!--node->requests && !node->builder)
		node_free(node);
}

/* No more requests will come back. */
static void let_go(gpointer guid, gpointer node, gpointer none)
{
	(void)guid;
	(void)none;
	((struct builder_node *)node)->requests = 0;
}

/* ---- names ---- */

void builder_set_names(struct builder *builder, struct node_names *names)
{
	if (builder->names == names)
		return;
	node_names_unref(builder->names);
	builder->names = names ? node_names_ref(names) : NULL;
	builder->frozen_is_old = true;
}

static const char *given_name(const struct builder_node *node)
{
	const struct node_names *names = node->builder ? node->builder->names : NULL;
	const char *name = node_names_find(names, node->guid);

	if (node_names_are_empty(names))
		return NULL;
	if (!name)
		name = node_names_find(names, node->info.port_guid);
	for (unsigned int num = 0; num <= node->info.num_ports && !name; num++)
		if (node->ports[num].guid)
			name = node_names_find(names, node->ports[num].guid);
	return name;
}

const char *builder_called(const struct builder_node *node, char buffer[BUILDER_NAME_SIZE])
{
	const char *name = given_name(node);

	if (name)
		g_strlcpy(buffer, name, BUILDER_NAME_SIZE);
	else
		g_snprintf(buffer, BUILDER_NAME_SIZE, "%.*s",
			   (int)sizeof(node->description.node_string),
			   (const char *)node->description.node_string);
	return buffer;
}

/* ---- life ---- */

struct builder *builder_new(void)
{
	struct builder *builder = g_new0(struct builder, 1);

	builder->nodes = g_hash_table_new_full(hash_uint64, g_int64_equal, NULL, node_free);
	builder->slots = slots_new();
	builder->switches = g_ptr_array_new();
	builder->dirty = g_ptr_array_new();
	builder->touched = g_ptr_array_new();
	builder->round = 1;
	builder->reach_epoch = 1;
	builder->all_touched = true;
	return builder;
}

void builder_free(struct builder *builder)
{
	if (!builder)
		return;
	g_hash_table_foreach(builder->nodes, let_go, NULL);
	g_hash_table_destroy(builder->nodes);
	slots_unref(builder->slots);
	g_ptr_array_unref(builder->switches);
	g_ptr_array_unref(builder->dirty);
	g_ptr_array_unref(builder->touched);
	g_clear_pointer(&builder->order, g_ptr_array_unref);
	g_clear_pointer(&builder->frozen_walk, g_ptr_array_unref);
	g_clear_pointer(&builder->frozen_order, g_ptr_array_unref);
	fabric_unref(builder->frozen);
	node_names_unref(builder->names);
	g_free(builder);
}

struct builder_node *builder_find(const struct builder *builder, uint64_t node_guid)
{
	return g_hash_table_lookup(builder->nodes, &node_guid);
}

/* ---- touched nodes ---- */

static void forget_order(struct builder *builder)
{
	g_clear_pointer(&builder->order, g_ptr_array_unref);
}

void builder_touch(struct builder_node *node)
{
	struct builder *builder = node->builder;

	if (!builder)
		return;
	builder->frozen_is_old = true;
	if (builder_is_touched(node))
		return;
	node->touched = builder->round;
	g_ptr_array_add(builder->touched, node);
}

void builder_switch_info_set(struct builder_node *node)
{
	if (node->builder)
		node->builder->frozen_is_old = true;
}

void builder_touch_all(struct builder *builder)
{
	builder->all_touched = true;
	builder->frozen_is_old = true;
	g_ptr_array_set_size(builder->touched, 0);
	forget_order(builder);
}

void builder_settled(struct builder *builder)
{
	if (builder->frozen_is_old)
		return; /* the next fabric must show it */
	builder->all_touched = false;
	builder->round++;
	g_ptr_array_set_size(builder->touched, 0);
}

void builder_mark(struct builder_node *node)
{
	if (!node->dirty)
		g_ptr_array_add(node->builder->dirty, node);
	node->dirty = true;
}

void builder_unmark(struct builder_node *node)
{
	if (node->dirty)
		g_ptr_array_remove_fast(node->builder->dirty, node);
	node->dirty = false;
}

/* ---- nodes, ports and links ---- */

/* The port whose GUID NodeInfo carries: port 0 of a switch, else the port it was read through. */
static unsigned int port_of_guid(const struct builder_node *node)
{
	if (builder_is_switch(node))
		return 0;
	return MIN(node->info.local_port_num, node->info.num_ports);
}

struct builder_node *builder_add(struct builder *builder, const struct iba_node_info *info)
{
	struct builder_node *node = g_new0(struct builder_node, 1);

	g_assert(!builder_find(builder, info->node_guid));
	node->builder = builder;
	slots_take(builder->slots, node);
	node->guid = info->node_guid;
	node->info = *info;
	node->hops = builder->sm_port ? UINT32_MAX : 0;
	node->epoch = 1;
	node->recheck_from = UINT64_MAX;
	node->index = FABRIC_NONE;
	node->seen = builder->sweep;
	node->ports = g_new0(struct builder_port, info->num_ports + 1u);
	for (unsigned int i = 0; i <= info->num_ports; i++) {
		node->ports[i].node = node;
		node->ports[i].num = i;
	}
	node->ports[port_of_guid(node)].guid = info->port_guid;
	g_hash_table_insert(builder->nodes, &node->guid, node);
	if (builder_is_switch(node))
		g_ptr_array_add(builder->switches, node);
	node->arrival = ++builder->arrivals;
	builder->population++;
	builder_touch(node);
	return node;
}

/* A cable was added or removed. */
static void touch_end(struct builder_port *port)
{
	builder_touch(port->node);
	builder_reach_changed(port->node->builder);
	if (port->node->builder)
		forget_order(port->node->builder);
}

void builder_unlink(struct builder_port *port)
{
	if (!port->peer)
		return;
	touch_end(port);
	touch_end(port->peer);
	if (port->node->builder)
		port->node->builder->cut = true;
	builder_cable(port, CABLE_EVENT_UNLINKED);
	builder_cable(port->peer, CABLE_EVENT_UNLINKED);
	port->avoided = port->peer->avoided = false;
	port->peer->peer = NULL;
	port->peer = NULL;
}

void builder_link_seen(struct builder_port *port)
{
	struct builder *builder = port->node->builder;

	builder_cable(port, CABLE_EVENT_SEEN);
	builder_cable(port->peer, CABLE_EVENT_SEEN);
	if (builder->only_seen)
		forget_order(builder);
}

void builder_only_seen(struct builder *builder, bool on)
{
	builder->only_seen = on;
	forget_order(builder);
}

/* It is unknown what the client of a removed port has heard or missed in the meantime. */
static void forget_end(struct builder_port *port)
{
	port->reregistered = false;
	if (!builder_is_switch(port->node) && port != port->node->builder->sm_port)
		port->known = false;
}

void builder_lose_link(struct builder_port *port)
{
	struct builder_port *peer = port->peer;

	if (!peer)
		return;
	builder_unlink(port);
	forget_end(port);
	forget_end(peer);
}

void builder_link(struct builder_port *a, struct builder_port *b)
{
	if (a->peer == b)
		return;
	builder_lose_link(a);
	builder_lose_link(b);
	touch_end(a);
	touch_end(b);
	a->peer = b;
	b->peer = a;
}

/* Removes it from everything but the table of nodes, which owns it. */
static void take_out(struct builder *builder, struct builder_node *node)
{
	for (unsigned int i = 0; i <= node->info.num_ports; i++)
		builder_lose_link(&node->ports[i]);
	if (builder->sm_port && builder->sm_port->node == node)
		builder->sm_port = NULL;
	if (builder_is_switch(node))
		g_ptr_array_remove_fast(builder->switches, node);
	builder_unmark(node);
	if (!builder->all_touched && node->touched == builder->round)
		g_ptr_array_remove_fast(builder->touched, node);
	builder->frozen_is_old = true;
	builder->population++;
	forget_order(builder);
}

/* No answer has reported that node again; NULL: checks the nodes that the SM cannot reach. */
static void forget_far_ends(struct builder *builder, const struct builder_node *which)
{
	GHashTableIter iter;
	struct builder_node *node;

	g_hash_table_iter_init(&iter, builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node))
		for (unsigned int num = 0; num <= node->info.num_ports; num++) {
			struct cable_end *end = &node->ports[num].cable;
			const struct builder_node *far = end->far_end ? end->far_end->node : NULL;

			if (far && (which ? far == which : far->index == FABRIC_NONE))
				end->far_end = NULL;
		}
}

void builder_remove(struct builder *builder, struct builder_node *node)
{
	forget_far_ends(builder, node);
	take_out(builder, node);
	g_hash_table_remove(builder->nodes, &node->guid);
}

void builder_set_info(struct builder_port *port, const struct iba_port_info *info)
{
	bool was_down = builder_is_down(port);

	port->info = *info;
	port->known = true;
	port->avoided = false;
	if (port->peer)
		port->peer->avoided = false;
	builder_touch(port->node);
	if (was_down == builder_is_down(port) || !port->node->builder)
		return;
	builder_reach_changed(port->node->builder);
	port->node->builder->cut |= !was_down;
	forget_order(port->node->builder);
}

void builder_set_guid(struct builder_port *port, uint64_t guid)
{
	if (port->guid == guid)
		return;
	port->guid = guid;
	builder_touch(port->node);
	if (port->node->builder)
		port->node->builder->arrivals++;
}

void builder_set_silent(struct builder_node *node, uint64_t since_ns)
{
	node->silent_ns = since_ns;
	builder_touch(node);
	if (!node->builder)
		return;
	builder_reach_changed(node->builder);
	node->builder->cut = true;
	forget_order(node->builder);
}

/* ---- walks ---- */

/* Adds the node across the port's cable to the walk, unless the walk has reached it before. */
static void walk_cross(GPtrArray *order, struct builder_port *port)
{
	const struct builder *builder = port->node->builder;
	struct builder_port *peer = port->peer;

	/*
	 * Most cables lead to nodes already reached: check that first, in memory that is in cache.
	 */
	if (!peer || peer->node->index != FABRIC_NONE || builder_is_down(port) ||
	    builder_is_down(peer))
		return;
	if (builder->only_seen && !builder_cable_is(port, CABLE_SEEN))
		return;
	peer->node->index = order->len;
	peer->node->hops = port->node->hops + 1;
	peer->node->entry = peer;
	g_ptr_array_add(order, peer->node);
}

static void walk_forget(struct builder *builder)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct builder_node *node = value;

		node->index = FABRIC_NONE;
		node->hops = UINT32_MAX;
		node->entry = NULL;
	}
}

/* Through the cables of a switch; if it is silent, first those by which other nodes answer. */
static void walk_through(GPtrArray *order, struct builder_node *node, bool all)
{
	for (unsigned int num = 1; builder_is_switch(node) && num <= node->info.num_ports; num++) {
		struct builder_port *peer = node->ports[num].peer;

		if (all || (peer && !peer->avoided && !builder_is_silent(peer->node)))
			walk_cross(order, &node->ports[num]);
	}
}

/*
 * Continues from all nodes reached. Directed routes may end at a switch that does not answer: it is
 * passed through only if there is no other way. The last resort is to reach another silent switch
 * through it, or to use a cable through which no answer came, as that may no longer exist.
 */
static void walk_on(GPtrArray *order)
{
	g_autoptr(GPtrArray) silent = g_ptr_array_new();
	guint i = 0, late = 0, last = 0;

	while (i < order->len || last < silent->len) {
		struct builder_node *node;

		if (i < order->len) {
			node = order->pdata[i++];
			if (builder_is_silent(node))
				g_ptr_array_add(silent, node);
			else
				walk_through(order, node, true);
		} else if (late < silent->len) {
			walk_through(order, silent->pdata[late++], false);
		} else {
			walk_through(order, silent->pdata[last++], true);
		}
	}
}

GPtrArray *builder_walk(struct builder *builder)
{
	GPtrArray *order = g_ptr_array_sized_new(g_hash_table_size(builder->nodes));
	struct builder_port *sm_port = builder->sm_port;

	forget_order(builder);
	builder->cut = false;
	walk_forget(builder);
	if (!sm_port)
		return order;
	sm_port->node->index = 0;
	sm_port->node->hops = 0;
	g_ptr_array_add(order, sm_port->node);
	if (!builder_is_switch(sm_port->node))
		walk_cross(order, sm_port);
	walk_on(order);
	builder->order = g_ptr_array_ref(order);
	return order;
}

GPtrArray *builder_order(struct builder *builder)
{
	return builder->order ? g_ptr_array_ref(builder->order) : builder_walk(builder);
}

struct builder_port *builder_port_by_lid(const struct builder *builder, uint16_t lid)
{
	GHashTableIter iter;
	struct builder_node *node;

	g_hash_table_iter_init(&iter, builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node))
		for (unsigned int num = 0; num <= node->info.num_ports; num++)
			if (node->ports[num].guid && node->ports[num].info.lid == lid)
				return &node->ports[num];
	return NULL;
}

unsigned int builder_prune(struct builder *builder)
{
	GPtrArray *order = builder_order(builder);
	bool all_met = order->len == g_hash_table_size(builder->nodes);
	unsigned int dropped = 0;
	GHashTableIter iter;
	gpointer value;

	g_ptr_array_unref(order);
	if (all_met)
		return 0;
	forget_far_ends(builder, NULL);
	g_hash_table_iter_init(&iter, builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct builder_node *node = value;

		if (node->index != FABRIC_NONE)
			continue;
		take_out(builder, node);
		g_hash_table_iter_remove(&iter);
		dropped++;
	}
	return dropped;
}

int builder_path(const struct builder_node *node, uint8_t out[64])
{
	const struct builder_port *back[BUILDER_MAX_HOPS];
	int n = 0;

	for (; node->entry; node = node->entry->peer->node) {
		if (n == BUILDER_MAX_HOPS || !node->entry->peer)
			return -1;
		back[n++] = node->entry->peer;
	}
	if (node->hops != 0)
		return -1;
	for (int i = 0; i < n; i++)
		out[i + 1] = back[n - 1 - i]->num;
	return n;
}
