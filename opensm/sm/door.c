// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Partition members that were changed at run time (policy/partition_door.h), as standbys get them:
 * the text of the file that they are kept in. Its checksum tells whether it is whole; "" if the
 * master before never had a request.
 *
 * What the master before had is what its subnet is set to: whoever takes over goes by that,
 * whatever he remembers, before he looks at a table.
 */
#include "sm/door.h"

#include <string.h>

#include "policy/partition_door.h"
#include "sm/sm_private.h"

/* ---- telling ---- */

void door_replicate(struct sm *sm, const struct partition_door *door)
{
	if (!door || door->serial == sm->takeover.door_told ||
	    !replicator_is_on(sm->context->replicator) || !mastership_is_master(sm))
		return;
	sm->takeover.door_told = door->serial;
	replicator_replace(sm->context->replicator, REPLICA_PARTITIONS,
			   replica_text_new(REPLICA_PARTITIONS, door->text));
	replicator_hold(sm->context->replicator, door->serial, door->text);
}

/* ---- taking over ---- */

static bool take(struct context *context, const struct partition_rules *old,
		 struct partition_door *door, GError **error)
{
	const char *file = old->files->pdata[0];
	struct partition_rules *new = partition_rules_reload(old, *file ? file : NULL, door, error);

	if (!new)
		return false;
	if (!partition_door_save(door, error)) {
		log_error(context->log, "partition members could not be kept: %s",
			  (*error)->message);
		g_clear_error(error);
	}
	new->serial = MAX(old->serial + 1, door->serial);
	slot_publish(&context->partition_rules, new);
	return true;
}

bool door_adopt(struct context *context, const char *text, bool only_newer)
{
	struct partition_rules *old = slot_take(&context->partition_rules);
	const struct partition_door *own = old ? old->door : NULL;
	struct partition_door *door = NULL;
	g_autoptr(GError) error = NULL;
	bool taken = false;

	if (own && *text && strcmp(text, own->text) != 0)
		door = partition_door_parse(own->file ? own->file : "replica", text, strlen(text),
					    &error);
	if (door && (!only_newer || door->serial > own->serial))
		taken = take(context, old, door, &error);
	if (error)
		log_error(context->log, "partition members of the SM before are not taken over: %s",
			  error->message);
	partition_door_unref(door);
	partition_rules_unref(old);
	return taken;
}
