// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Bookkeeping at the start and end of discovery: nothing of the last sweep counts as seen, and in
 * the end what was not seen again is removed.
 */
#include "sm/discover/discover.h"
#include "sm/election/mastership.h"
#include "sm/forward/forward.h"
#include "sm/health/health.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

/* The devices behind its cables have to be probed again. */
static void mark_neighbours(const struct builder_node *node)
{
	for (unsigned int num = 1; num <= node->info.num_ports; num++) {
		const struct builder_port *peer = node->ports[num].peer;

		if (peer && builder_is_switch(peer->node))
			builder_mark(peer->node);
	}
}

/* Between steps only: discovery does not run then. */
static void drop_gone(struct sm *sm)
{
	g_autoptr(GPtrArray) gone = g_ptr_array_new();
	GHashTableIter iter;
	struct builder_node *node;

	if (!sm->builder->some_gone)
		return;
	sm->builder->some_gone = false;
	g_hash_table_iter_init(&iter, sm->builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node))
		if (node->gone)
			g_ptr_array_add(gone, node);
	for (guint i = 0; i < gone->len; i++) {
		mark_neighbours(gone->pdata[i]);
		builder_remove(sm->builder, gone->pdata[i]);
	}
}

static void unmark_all(struct builder *builder)
{
	while (builder->dirty->len)
		builder_unmark(builder->dirty->pdata[0]);
}

/* A heavy sweep uses only cables that it has seen itself. */
enum step_result step_forget(struct sm *sm)
{
	struct builder *builder = sm->builder;

	builder->sweep++;
	builder_only_seen(builder, sm->sweep.kind == SWEEP_KIND_HEAVY);
	drop_gone(sm); /* of a cancelled sweep */
	if (sm->sweep.kind != SWEEP_KIND_HEAVY)
		return STEP_NEXT;
	sm->schedule.discovered = false;
	builder_touch_all(builder);
	unmark_all(builder); /* every node is read */
	return STEP_NEXT;
}

/* After a heavy discovery a cable not found again is gone. */
static void drop_unseen(struct sm *sm)
{
	GHashTableIter iter;
	struct builder_node *node;

	g_hash_table_iter_init(&iter, sm->builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node))
		for (unsigned int num = 0; num <= node->info.num_ports; num++) {
			struct builder_port *port = &node->ports[num];

			if (port->peer && !builder_cable_is(port, CABLE_SEEN))
				builder_lose_link(port);
		}
}

void switch_set_confirmed(struct builder_node *node)
{
	node->confirmed_until = node->builder->sweep + 1;
}

/* All ports that may have bounced have been read. */
static void calm_down(struct sm *sm)
{
	const struct builder *builder = sm->builder;

	for (guint i = 0; i < builder->switches->len; i++) {
		struct builder_node *node = builder->switches->pdata[i];
		bool all_read = node->ports[0].read == builder->sweep;

		for (unsigned int num = 1; all_read && num <= node->info.num_ports; num++)
			all_read = node->ports[num].read == builder->sweep;
		if (!all_read)
			continue;
		node->recheck_from = UINT64_MAX;
		node->confirmed_until = builder->sweep;
	}
}

/*
 * A link that is up leads to a device. It may have been taken for another since, or be gone: then
 * the port is probed again. Devices that cannot be helped are not waited for.
 */
static void mark_loose_ends(struct sm *sm)
{
	const struct builder *builder = sm->builder;

	for (guint i = 0; i < builder->switches->len; i++) {
		struct builder_node *node = builder->switches->pdata[i];

		if (node->looked_at != sm->sweep.serial || health_is_sick(sm, node))
			continue;
		for (unsigned int num = 1; num <= node->info.num_ports; num++)
			if (builder_link_is_up(&node->ports[num]) && !node->ports[num].peer &&
			    !cable_end_is_silent(&node->ports[num].cable))
				builder_mark(node);
	}
}

static bool is_cut_off(struct sm *sm)
{
	const struct builder_port *port = sm->builder->sm_port;
	struct sm_about own;

	if (!port || !port->known)
		return true;
	if (builder_is_switch(port->node) || builder_link_is_up(port)) {
		if (sm->schedule.port_down)
			log_sys(sm->log, "SM port is up again");
		sm->schedule.port_down = false;
		sweep_flag(sm, SWEEP_FLAG_PORT_DOWN, false);
		return false;
	}
	sm_about_own(&own, "port", sm);
	if (!sm->schedule.port_down)
		log_milestone_error_about(sm->log, PORT_DOWN, &own.about,
					  "SM port is down: no subnet to manage");
	dry_problem(sm, "SM port is down: no subnet to manage");
	sm->schedule.port_down = true;
	sweep_flag(sm, SWEEP_FLAG_PORT_DOWN, true);
	mastership_cut_off(sm);
	return true;
}

/*
 * Whether the SM's own port was read. If not, its other end was not probed: what was there before
 * may well be there. If the port's SMA is silent, the node at the other end must answer.
 */
static bool own_port_was_read(const struct sm *sm)
{
	const struct builder_port *port = sm->builder->sm_port;

	if (!port || !builder_is_silent(port->node))
		return port && port->read == sm->builder->sweep;
	return port->peer && !builder_is_silent(port->peer->node);
}

enum step_result step_settle(struct sm *sm)
{
	unsigned int dropped, switches;

	drop_gone(sm);
	builder_only_seen(sm->builder, false);
	if (sm->sweep.kind == SWEEP_KIND_HEAVY) {
		if (!own_port_was_read(sm))
			return STEP_ABORT;
		drop_unseen(sm);
	}
	calm_down(sm);
	sm->schedule.discovered = !is_cut_off(sm);
	if (!sm->schedule.discovered)
		return STEP_ABORT;
	switches = sm->builder->switches->len;
	dropped = builder_prune(sm->builder);
	if (sm->builder->switches->len < switches)
		port_health_switches_gone(sm);
	if (dropped) {
		log_verbose(sm->log, "%u nodes are gone", dropped);
		health_nodes_gone(sm);
	}
	mark_loose_ends(sm);
	log_verbose(sm->log, "discovered %u nodes", g_hash_table_size(sm->builder->nodes));
	return STEP_NEXT;
}

/* Now there is a master, which will check the cables once more: unsure.c. */
static void clear_change(struct sm *sm, void *item)
{
	struct builder_node *node = item;

	if (node->read_uncleared) /* the Set carries the bit, which clears it */
		switch_info_send(sm, node, &node->switch_info);
}

enum step_result step_calm(struct sm *sm)
{
	sweep_walk(sm, g_ptr_array_copy(sm->builder->switches, NULL, NULL), 1, clear_change);
	return STEP_NEXT;
}
