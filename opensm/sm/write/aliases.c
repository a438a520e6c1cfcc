// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Alias GUIDs: GUIDInfo of ports that have entries in the SA's list, or had. Their blocks are read
 * if they are unknown, as after a reset or a takeover, and those that differ are set. Other ports
 * are not queried.
 *
 *	unknown --Get--> differs --Set--> as wanted; when all are, the SA is notified
 *
 * If a port does not accept its block for the second sweep in a row, clients no longer wait for it:
 * the SA is notified anyway, so that other ports are not held up.
 */
#include <string.h>

#include "complib/hash.h"
#include "sm/discover/discover.h"
#include "sm/read/read.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/write/write_private.h"
#include "subnet/aliases.h"

#define BLOCK_BYTES sizeof(struct iba_guid_info)

struct aliases {
	struct alias_guids *list; /* of the running or last sweep */
	GHashTable *failed;	  /* GUIDs of ports that are not as wanted: uint64_t, owned */
	GHashTable *written;	  /* GUIDs of nodes, in this sweep: uint64_t, owned */
	uint64_t told;		  /* serial of the list last reported to the SA */
	bool complete;		  /* all blocks were as wanted in this sweep */
};

struct aliases *aliases_new(void)
{
	struct aliases *aliases = g_new0(struct aliases, 1);

	aliases->failed = g_hash_table_new_full(hash_uint64, g_int64_equal, g_free, NULL);
	aliases->written = g_hash_table_new_full(hash_uint64, g_int64_equal, g_free, NULL);
	return aliases;
}

void aliases_free(struct aliases *aliases)
{
	alias_guids_unref(aliases->list);
	g_hash_table_unref(aliases->failed);
	g_hash_table_unref(aliases->written);
	g_free(aliases);
}

/* ---- blocks ---- */

static struct builder_port *find_port(const struct sm *sm, uint64_t guid)
{
	uint32_t port = fabric_port_by_guid(sm->fabric, guid);
	struct builder_node *node;

	if (port == FABRIC_NONE)
		return NULL;
	node = builder_node_of(sm->builder, sm->fabric, sm->fabric->ports[port].node);
	return node && node->ports[sm->fabric->ports[port].num].known
		       ? &node->ports[sm->fabric->ports[port].num]
		       : NULL;
}

typedef void block_fn(struct sm *sm, struct builder_port *port, uint8_t block);

static void each_block(struct sm *sm, block_fn *call)
{
	const GArray *entries = sm->settings->aliases->list->by_port;

	for (guint i = 0; i < entries->len; i = alias_guids_next_block(entries, i)) {
		const struct alias_guid *entry = alias_guids_at(entries, i);
		struct builder_port *port = find_port(sm, entry->port);

		if (port && entry->index < port->info.guid_cap)
			call(sm, port, entry->index / ALIAS_PER_BLOCK);
	}
}

static const void *known_block(const struct builder_port *port, uint8_t block)
{
	return trust_get(port->node, &port->guids, block, BLOCK_BYTES);
}

/* The wanted block; true if it is known to be set. Entry 0 of block 0 is the port's own. */
static bool is_as_wanted(const struct sm *sm, const struct builder_port *port, uint8_t block,
			 uint64_t want[ALIAS_PER_BLOCK])
{
	const uint64_t *is = known_block(port, block);

	alias_guids_block(sm->settings->aliases->list, port->guid, block, want);
	if (is && !block)
		want[0] = is[0];
	return is && memcmp(is, want, BLOCK_BYTES) == 0;
}

/* Of a known block. */
static void set_block(struct sm *sm, struct builder_port *port, uint8_t block)
{
	struct sm_request *request;
	uint64_t want[ALIAS_PER_BLOCK];

	if (is_as_wanted(sm, port, block, want))
		return;
	request = sm_request_port(sm, port, IBA_METHOD_SET, IBA_ATTR_GUID_INFO, block);
	wire_encode(&iba_guid_info_type, want, request->mad.data);
	request->block = block;
	counter_inc(&sm->context->counters, alias_blocks_set);
	g_hash_table_add(sm->settings->aliases->written,
			 g_memdup2(&port->node->guid, sizeof(port->node->guid)));
	sm_block_send(request);
}

static void on_read(struct sm_request *request)
{
	if (!sm_block_read(request))
		sm_request_failed(request);
	else if (request->node->builder)
		set_block(request->sm, request->port, (uint8_t)request->block);
}

static void bring_block(struct sm *sm, struct builder_port *port, uint8_t block)
{
	struct sm_request *request;

	trust_reserve(&port->guids, block + 1u, BLOCK_BYTES);
	if (known_block(port, block)) {
		set_block(sm, port, block);
		return;
	}
	request = sm_request_port(sm, port, IBA_METHOD_GET, IBA_ATTR_GUID_INFO, block);
	request->block = block;
	request->done = on_read;
	sm_request_send(request);
}

static void look_at_block(struct sm *sm, struct builder_port *port, uint8_t block)
{
	struct aliases *aliases = sm->settings->aliases;
	uint64_t want[ALIAS_PER_BLOCK];

	if (is_as_wanted(sm, port, block, want))
		g_hash_table_remove(aliases->failed, &port->guid);
	else if (g_hash_table_add(aliases->failed, g_memdup2(&port->guid, sizeof(port->guid))))
		aliases->complete = false;
}

/* ---- the step ---- */

static bool begin(struct sm *sm)
{
	struct aliases *aliases = sm->settings->aliases;

	alias_guids_unref(aliases->list);
	aliases->list = slot_take(&sm->context->aliases);
	g_hash_table_remove_all(aliases->written);
	if (!aliases->list || !sm->fabric)
		return false;
	/* Joins are frequent, and change nothing here. */
	return sm->sweep.kind != SWEEP_KIND_GROUPS || aliases->list->serial != aliases->told;
}

static void finish(struct sm *sm)
{
	struct aliases *aliases = sm->settings->aliases;

	aliases->complete = true;
	each_block(sm, look_at_block);
	table_reader_written(sm, aliases->written);
	if (!aliases->complete || aliases->list->serial == aliases->told)
		return;
	aliases->told = aliases->list->serial;
	event_emit(&sm->context->bus, EVENT_ALIASES_PROGRAMMED, aliases->told);
}

enum step_result step_aliases(struct sm *sm)
{
	if (!sm->sweep.round) {
		if (!begin(sm))
			return STEP_NEXT;
		each_block(sm, bring_block);
		return STEP_AGAIN;
	}
	if (sm->sweep.pending)
		return STEP_LATER;
	finish(sm);
	return STEP_NEXT;
}
