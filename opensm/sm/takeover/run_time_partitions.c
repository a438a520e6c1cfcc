// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Partition members that were changed at run time (partition_changes.h), as sent to standbys: the
 * text of the file that stores them. Its checksum shows whether it is complete; "" if the previous
 * master never had a request.
 *
 * The subnet is set up as the previous master had it: an SM that takes over uses that, in place of
 * its own memory, before it reads any table.
 */
#include "sm/takeover/run_time_partitions.h"

#include <string.h>

#include "policy/partition/partition_changes.h"
#include "sm/discover/discover.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

/* ---- sending ---- */

void run_time_partitions_replicate(struct sm *sm, const struct partition_changes *changes)
{
	if (!changes || changes->serial == sm->takeover.partitions_told ||
	    !replicator_is_on(sm->context->replicator) || !sm_is_master(sm))
		return;
	sm->takeover.partitions_told = changes->serial;
	replicator_replace(sm->context->replicator, REPLICA_PARTITIONS,
			   replica_text_new(REPLICA_PARTITIONS, changes->text));
	replicator_hold(sm->context->replicator, changes->serial, changes->text);
	event_emit(&sm->context->bus, EVENT_PARTITIONS_TOLD, changes->serial);
}

/* Standbys have a change before it is in effect, whatever the SM does now. */
static void on_changed(void *arg, uint64_t serial)
{
	struct sm *sm = arg;
	struct partition_rules *rules = slot_take(&sm->context->partition_rules);

	(void)serial;
	run_time_partitions_replicate(sm, rules->changes);
	partition_rules_unref(rules);
}

void run_time_partitions_listen(struct sm *sm)
{
	event_subscribe(&sm->context->bus, EVENT_PARTITIONS_CHANGED, sm->actor, on_changed, sm);
}

/* ---- taking over ---- */

static bool take(struct context *context, const struct partition_rules *old,
		 struct partition_changes *changes, GError **error)
{
	struct partition_rules *new =
		partition_rules_remake(old->files->pdata[0], old->sources, changes, error);

	if (!new)
		return false;
	new->serial = MAX(old->serial + 1, changes->serial);
	slot_publish(&context->partition_rules, new);
	return true;
}

static bool fits(const struct partition_changes *changes, const struct partition_changes *own,
		 enum adopt_if adopt_if)
{
	return adopt_if == ADOPT_ANY || changes->serial > own->serial ||
	       (adopt_if == ADOPT_UNLESS_OLDER && changes->serial == own->serial);
}

bool run_time_partitions_adopt(struct context *context, const char *text, enum adopt_if adopt_if)
{
	struct partition_rules *old = slot_take(&context->partition_rules);
	const struct partition_changes *own = old ? old->changes : NULL;
	struct partition_changes *changes = NULL;
	g_autoptr(GError) error = NULL;
	bool taken = false;

	if (own && *text && strcmp(text, own->text) != 0)
		changes = partition_changes_parse(own->file ? own->file : "replica", text,
						  strlen(text), &error);
	if (changes && fits(changes, own, adopt_if))
		taken = take(context, old, changes, &error);
	if (error)
		log_error(context->log,
			  "partition members of the previous SM are not taken "
			  "over: %s",
			  error->message);
	partition_changes_unref(changes);
	partition_rules_unref(old);
	return taken;
}
