// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * This SM's part in replication: the SM that it follows, the takeover, and the LIDs and SLs that it
 * has assigned. The groups belong to the SA.
 *
 * After taking over a complete replica an SM does not ask clients to register again; but if a
 * multicast table has a member that the replica lacks (multicast.c), that port is asked. LIDs and
 * groups of an incomplete replica are used all the same, and all clients are asked.
 */
#include <string.h>

#include "sm/discover/discover.h"
#include "sm/election/mastership.h"
#include "sm/election/other_sm.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/takeover/replicate.h"
#include "sm/takeover/run_time_partitions.h"
#include "sm/write/write.h"

#define BEATS_MISSED 3 /* a master may miss before its information counts as outdated */

struct lead {
	struct replicator_lead lead; /* first */
	struct sm *sm;
	uint64_t serial; /* of the waiting sweep */
};

/* ---- LIDs ---- */

static void add_lids(void *arg, uint64_t guid, uint16_t lid, uint16_t count)
{
	uint64_t key = GUINT64_TO_BE(guid);
	const uint8_t value[] = {(uint8_t)(lid >> 8), (uint8_t)lid, (uint8_t)(count >> 8),
				 (uint8_t)count};

	g_ptr_array_add(arg,
			replica_entry_new(REPLICA_LIDS, &key, sizeof(key), value, sizeof(value)));
}

void replicate_lids(struct sm *sm)
{
	GPtrArray *entries;

	if (!replicator_is_on(sm->context->replicator) ||
	    sm->takeover.lids_told == guid2lid_changes(sm->store.guid2lid))
		return;
	sm->takeover.lids_told = guid2lid_changes(sm->store.guid2lid);
	entries = g_ptr_array_new();
	guid2lid_each(sm->store.guid2lid, add_lids, entries);
	replicator_replace(sm->context->replicator, REPLICA_LIDS, entries);
}

/* As a line of the file guid2lid, whose reader checks everything. */
static void add_line(void *arg, const struct replica_entry *entry)
{
	const uint8_t *value = replica_value(entry);
	unsigned int lid, count;
	uint64_t guid;

	if (entry->key_length != sizeof(guid) || entry->value_length < 4)
		return;
	memcpy(&guid, entry->octets, sizeof(guid));
	lid = value[0] << 8 | value[1];
	count = value[2] << 8 | value[3];
	g_string_append_printf(arg, "0x%016" G_GINT64_MODIFIER "x 0x%04x 0x%04x\n",
			       GUINT64_FROM_BE(guid), lid, lid + count - 1);
}

static void adopt_lids(struct sm *sm, const struct replica *replica)
{
	g_autoptr(GString) text = g_string_new(NULL);

	replica_each(replica, REPLICA_LIDS, add_line, text);
	if (!text->len)
		return;
	guid2lid_clear(sm->store.guid2lid);
	guid2lid_parse(sm->store.guid2lid, "LIDs of the previous SM", text->str);
}

void replicate_keep_lids(struct sm *sm)
{
	struct replica *lids = slot_take(&sm->context->followed_lids);

	if (lids && !sm_is_master(sm)) {
		adopt_lids(sm, lids);
		guid2lid_save(sm->store.guid2lid, sm->store.writer,
			      sm->options->fsync_high_avail_files);
	}
	replica_unref(lids);
}

/* ---- SLs of paths ---- */

void replicate_path_sls(struct sm *sm)
{
	uint64_t changes = path_sls_changes(sm->store.path_sls);

	if (!replicator_is_on(sm->context->replicator) || sm->takeover.sls_told == changes)
		return;
	sm->takeover.sls_told = changes;
	replicator_replace(sm->context->replicator, REPLICA_PATH_SLS,
			   replica_text_new(REPLICA_PATH_SLS, path_sls_text(sm->store.path_sls)));
}

static void adopt_path_sls(struct sm *sm, const struct replica *replica)
{
	g_autofree char *text = replica_text(replica, REPLICA_PATH_SLS);

	path_sls_parse(sm->store.path_sls, "SLs of the previous SM", text);
}

/* ---- a takeover ---- */

/* Clients that the other SM served know that they are registered. */
static void vouch(struct sm *sm, uint64_t of)
{
	g_autoptr(GPtrArray) nodes = builder_order(sm->builder);
	uint16_t count;

	sm->takeover.vouched_lid = guid2lid_get(sm->store.guid2lid, of, &count);
	for (guint i = 0; i < nodes->len && sm->takeover.vouched_lid; i++) {
		struct builder_node *node = nodes->pdata[i];

		for (unsigned int num = 0; num <= node->info.num_ports; num++)
			if (node->ports[num].info.master_sm_lid == sm->takeover.vouched_lid)
				node->ports[num].reregistered = true;
	}
}

static void adopt(struct sm *sm, struct replicator_lead *lead)
{
	g_autofree char *changes = NULL, *cc_text = NULL;

	sm->takeover.lids_told = 0;
	sm->takeover.sls_told = 0;
	sm->takeover.partitions_told = 0;
	sm->takeover.vouched_lid = 0;
	sm->takeover.of = 0;
	p_key_indexes_adopt(sm, lead->replica);
	if (!lead->replica)
		return;
	sm->takeover.of = lead->of;
	adopt_lids(sm, lead->replica);
	adopt_path_sls(sm, lead->replica);
	changes = replica_text(lead->replica, REPLICA_PARTITIONS);
	run_time_partitions_adopt(sm->context, changes, ADOPT_ANY);
	if (lead->vouched)
		vouch(sm, lead->of);
	sm->takeover.reconcile = lead->vouched;
	log_sys(sm->log, "replication: %u entries of SM 0x%016" G_GINT64_MODIFIER "x taken over%s",
		replica_size(lead->replica), lead->of,
		lead->vouched ? ""
			      : "; they may be outdated, so all clients are asked to "
				"register again");
	cc_text = replica_text(lead->replica, REPLICA_CC);
	slot_publish(&sm->context->cc_memory,
		     *cc_text ? g_bytes_new(cc_text, strlen(cc_text)) : NULL);
	slot_publish(&sm->context->replica, g_steal_pointer(&lead->replica));
	event_emit(&sm->context->bus, EVENT_REPLICA_ADOPTED, 0);
}

static void drop_lead(struct message *message)
{
	replica_unref(((struct replicator_lead *)message)->replica);
	g_free(message);
}

static void on_lead(struct replicator_lead *done)
{
	struct lead *lead = (struct lead *)done;
	struct sm *sm = lead->sm;
	bool waits = lead->serial == sm->sweep.serial;

	if (sm_is_master(sm)) {
		adopt(sm, done);
		other_sms_tell_replicator(sm);
	}
	drop_lead(&done->message);
	if (!waits)
		return;
	sm->sweep.pending--;
	sweep_advance(sm);
}

/* Maximum age of a replica: a dead master is detected only after its polls have failed. */
static uint64_t fresh_ns(const struct options *options)
{
	return options->sminfo_polling_timeout * NS_PER_MS * (options->polling_retry_number + 2) +
	       BEATS_MISSED * NS_PER_S;
}

enum step_result step_adopt(struct sm *sm)
{
	struct lead *lead;

	if (!sm->takeover.due)
		return STEP_NEXT;
	sm->takeover.due = false;
	p_key_guard_forget(sm);
	if (!sm->context->replicator)
		return STEP_NEXT;
	lead = g_new0(struct lead, 1);
	lead->sm = sm;
	lead->serial = sm->sweep.serial;
	lead->lead.owner = sm->actor;
	lead->lead.done = on_lead;
	lead->lead.message.drop = drop_lead;
	lead->lead.fresh_ns = fresh_ns(sm->options);
	sm->sweep.pending++;
	replicator_lead(sm->context->replicator, &lead->lead);
	return STEP_NEXT;
}
