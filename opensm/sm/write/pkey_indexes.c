// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Indexes of P_Key tables that a P_Key has left (pkey_memory.h). Before the first Set of a change
 * they are written to the disk and sent to the standbys, so that the next SM after a crash at any
 * moment knows them; the wait for a hanging disk or standby is short. Deviations from the rules are
 * reported by health.
 *
 * Indexes of switch tables are not recorded: no client uses them.
 */
#include <inttypes.h>
#include <string.h>

#include "complib/hash.h"
#include "sm/discover/discover.h"
#include "sm/keys/keys.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/store/pkey_memory.h"
#include "core/state/state_writer.h"
#include "sm/write/pkey_plan.h"
#include "sm/write/pkey_private.h"

#define PATIENCE_NS (2 * NS_PER_S) /* for the disk */
#define WHAT "vacated P_Key indexes"

/* What health reports of a port. */
struct note {
	uint64_t guid;
	char *without; /* a P_Key has no index yet; NULL: all have */
	char *reused;  /* an index changed owner in its quarantine; NULL: none did */
	uint64_t reused_until_ns;
};

struct p_key_indexes {
	struct sm *sm;
	struct p_key_memory *memory;
	GHashTable *notes;     /* port GUID -> struct note, owned */
	uint64_t put, told;    /* changes of the memory when last written, and replicated */
	uint64_t waits_serial; /* of the waiting sweep */
	unsigned int waits;    /* number of pending answers: the disk, the standbys */
	bool failed;	       /* the last write failed */
	struct timer patience;
	struct timer quarantine; /* ends when the first index is free that a P_Key waits for */
};

struct wait {
	struct replicator_wait wait; /* first */
	struct sm *sm;
	uint64_t serial; /* of the sweep */
};

static uint64_t quarantine_ms(const struct sm *sm)
{
	return (uint64_t)sm->options->pkey_index_quarantine * 1000;
}

static uint64_t now_ms(const struct sm *sm)
{
	return p_key_memory_time(sm->settings->p_keys->indexes->memory, actor_now(sm->actor));
}

/* ---- for the plan of a table ---- */

void p_key_indexes_plan(const struct sm *sm, const struct builder_port *port,
			struct p_key_plan *plan, struct p_key_left *left)
{
	uint64_t now = now_ms(sm), quarantine = quarantine_ms(sm);

	plan->left = left;
	plan->closes = quarantine && !sm->options->reuse_pkey_indexes;
	for (uint32_t i = 0; i < plan->room; i++) {
		left[i].p_key = p_key_memory_left(sm->settings->p_keys->indexes->memory, port->guid,
						  (uint16_t)i, &left[i].since);
		left[i].closed = left[i].p_key && plan->closes && left[i].since + quarantine > now;
	}
}

void p_key_indexes_leave(struct sm *sm, const struct builder_port *port, const uint16_t *is,
			 const uint16_t *want, uint32_t room)
{
	for (uint32_t i = 0; i < room; i++)
		if (is[i] && P_KEY_BASE(is[i]) != P_KEY_BASE(want[i]))
			p_key_memory_leave(sm->settings->p_keys->indexes->memory, port->guid,
					   (uint16_t)i, is[i], actor_now(sm->actor));
}

/* ---- to the disk and the standbys ---- */

static bool is_there(void *arg, uint64_t guid)
{
	const struct sm *sm = arg;

	return fabric_port_by_guid(sm->fabric, guid) != FABRIC_NONE;
}

static void wait_less(struct sm *sm, uint64_t serial)
{
	struct p_key_indexes *indexes = sm->settings->p_keys->indexes;

	if (!indexes->waits || indexes->waits_serial != serial)
		return;
	indexes->waits--;
	if (!indexes->waits)
		timer_stop(&indexes->patience);
	if (serial != sm->sweep.serial || !sweep_runs(sm))
		return;
	sm->sweep.pending--;
	sweep_advance(sm);
}

static void on_patience(struct timer *timer)
{
	struct p_key_indexes *indexes = container_of(timer, struct p_key_indexes, patience);
	uint64_t serial = indexes->waits_serial;

	log_error(indexes->sm->log,
		  WHAT " are not on the disk yet: P_Keys are set, but if the daemon dies now, "
		       "the next one may reuse such an index too early");
	for (unsigned int n = indexes->waits; n; n--)
		wait_less(indexes->sm, serial);
}

static void on_written(void *arg, bool good)
{
	struct sm *sm = arg;
	struct p_key_indexes *indexes = sm->settings->p_keys->indexes;

	indexes->failed = !good;
	disk_written(sm, DISK_P_KEY_INDEXES, good);
	if (!state_writer_is_busy(sm->store.writer, p_key_memory_file(indexes->memory)))
		wait_less(sm, indexes->waits_serial);
}

/* True if on_written() will be called. */
static bool write_file(struct sm *sm)
{
	struct p_key_indexes *indexes = sm->settings->p_keys->indexes;
	const char *file = p_key_memory_file(indexes->memory);

	indexes->put = p_key_memory_changes(indexes->memory);
	if (!file || !sm->context->files)
		return false;
	p_key_memory_limit(indexes->memory, is_there, sm, actor_now(sm->actor));
	state_writer_put(sm->store.writer, file, WHAT, p_key_memory_format(indexes->memory),
			 sm->options->fsync_high_avail_files, on_written, sm);
	return true;
}

static void add_entry(void *arg, uint64_t guid, uint16_t index, uint16_t p_key, uint64_t when)
{
	const uint64_t place[] = {GUINT64_TO_BE(guid), GUINT64_TO_BE(index)};
	const uint64_t value[] = {GUINT64_TO_BE(p_key), GUINT64_TO_BE(when)};

	g_ptr_array_add(arg, replica_entry_new(REPLICA_P_KEY_INDEXES, place, sizeof(place), value,
					       sizeof(value)));
}

bool p_key_indexes_replicate(struct sm *sm)
{
	struct p_key_indexes *indexes = sm->settings->p_keys->indexes;
	GPtrArray *entries;

	if (!replicator_is_on(sm->context->replicator) ||
	    indexes->told == p_key_memory_changes(indexes->memory))
		return false;
	indexes->told = p_key_memory_changes(indexes->memory);
	entries = g_ptr_array_new();
	p_key_memory_each(indexes->memory, add_entry, entries);
	replicator_replace(sm->context->replicator, REPLICA_P_KEY_INDEXES, entries);
	return true;
}

static void on_replicated(struct replicator_wait *done, bool kept)
{
	struct wait *wait = (struct wait *)done;

	(void)kept;
	wait_less(wait->sm, wait->serial);
	g_free(wait);
}

static void drop_wait(struct message *message)
{
	g_free(message);
}

static void wait_for_standbys(struct sm *sm)
{
	struct wait *wait = g_new0(struct wait, 1);

	wait->sm = sm;
	wait->serial = sm->sweep.serial;
	wait->wait.owner = sm->actor;
	wait->wait.done = on_replicated;
	wait->wait.message.drop = drop_wait;
	replicator_wait(sm->context->replicator, &wait->wait);
}

void p_key_indexes_keep(struct sm *sm)
{
	struct p_key_indexes *indexes = sm->settings->p_keys->indexes;

	if (sm->dry || indexes->put == p_key_memory_changes(indexes->memory))
		return;
	indexes->waits = 0;
	indexes->waits_serial = sm->sweep.serial;
	indexes->waits += write_file(sm);
	if (p_key_indexes_replicate(sm)) {
		indexes->waits++;
		wait_for_standbys(sm);
	}
	sm->sweep.pending += indexes->waits;
	if (indexes->waits)
		timer_start(&indexes->patience, PATIENCE_NS);
}

void p_key_indexes_write_again(struct sm *sm)
{
	if (sm->settings->p_keys->indexes->failed && !sm->dry && sm_is_master(sm))
		write_file(sm);
}

/* ---- a takeover ---- */

/* As a line of the file, whose reader checks everything. */
static void add_line(void *arg, const struct replica_entry *entry)
{
	uint64_t place[2], value[2];

	if (entry->key_length != sizeof(place) || entry->value_length != sizeof(value))
		return;
	memcpy(place, entry->octets, sizeof(place));
	memcpy(value, replica_value(entry), sizeof(value));
	g_string_append_printf(arg, "0x%016" PRIx64 " %" PRIu64 " 0x%04" PRIx64 " %" PRIu64 "\n",
			       GUINT64_FROM_BE(place[0]), GUINT64_FROM_BE(place[1]),
			       GUINT64_FROM_BE(value[0]), GUINT64_FROM_BE(value[1]));
}

/*
 * The SM's own port shows which SM configured it last. Without partitions no P_Key leaves an index.
 */
static bool may_have_left(const struct sm *sm)
{
	const struct builder_port *own = sm->builder->sm_port;
	struct partition_rules *rules = slot_take(&sm->context->partition_rules);
	bool built_in = rules->built_in;

	partition_rules_unref(rules);
	return !built_in && own && own->info.master_sm_lid &&
	       own->info.master_sm_lid != own->info.lid;
}

void p_key_indexes_adopt(struct sm *sm, const struct replica *replica)
{
	struct p_key_indexes *indexes = sm->settings->p_keys->indexes;
	g_autoptr(GString) text = g_string_new(NULL);

	indexes->told = 0;
	if (replica)
		replica_each(replica, REPLICA_P_KEY_INDEXES, add_line, text);
	else if (may_have_left(sm))
		log_info(sm->log, "the P_Key indexes vacated under the previous SM are unknown, "
				  "as it did not replicate to this SM: empty indexes count as "
				  "never used");
	p_key_memory_parse(indexes->memory, WHAT " under the previous SM", text->str,
			   actor_now(sm->actor));
}

/* ---- what health reports ---- */

static void note_free(gpointer data)
{
	struct note *note = data;

	g_free(note->without);
	g_free(note->reused);
	g_free(note);
}

static struct note *note_of(struct sm *sm, const struct builder_port *port, bool make)
{
	GHashTable *notes = sm->settings->p_keys->indexes->notes;
	struct note *note = g_hash_table_lookup(notes, &port->guid);

	if (!note && make) {
		note = g_new0(struct note, 1);
		note->guid = port->guid;
		g_hash_table_add(notes, note);
	}
	return note;
}

/* A P_Key of the plan that has no index. */
static uint16_t first_without(const struct p_key_plan *plan, const uint16_t *want)
{
	for (uint32_t i = 0; i < plan->n; i++) {
		uint32_t at = 0;

		while (at < plan->room && want[at] != plan->keys[i])
			at++;
		if (at == plan->room)
			return plan->keys[i];
	}
	return 0;
}

void p_key_indexes_note_without(struct sm *sm, const struct builder_port *port,
				const struct p_key_plan *plan, const uint16_t *want, uint32_t n)
{
	struct note *note = note_of(sm, port, n != 0);
	g_autofree char *line = NULL;
	char name[SM_NAME_SIZE];

	if (n)
		line = g_strdup_printf(
			"%s port %u lacks %u P_Key%s, first 0x%04x: each free index held another "
			"P_Key less than pkey_index_quarantine, %u s, ago",
			sm_node_name(port->node, name, sizeof(name)), port->num, n,
			n > 1 ? "s" : "", first_without(plan, want),
			sm->options->pkey_index_quarantine);
	if (line && g_strcmp0(note->without, line) != 0)
		log_error(sm->log, "%s", line);
	if (note) {
		g_free(note->without);
		note->without = g_steal_pointer(&line);
	}
}

void p_key_indexes_note_reuse(struct sm *sm, const struct builder_port *port, uint32_t index,
			      uint16_t old, uint16_t p_key)
{
	struct p_key_indexes *indexes = sm->settings->p_keys->indexes;
	uint64_t when, now = now_ms(sm);
	uint64_t until = quarantine_ms(sm);
	char name[SM_NAME_SIZE];
	struct note *note;

	sm_node_name(port->node, name, sizeof(name));
	log_info(sm->log, "P_Key index %u of %s port %u was 0x%04x and is now 0x%04x", index, name,
		 port->num, old, p_key);
	if (!p_key_memory_left(indexes->memory, port->guid, (uint16_t)index, &when) ||
	    when + until <= now)
		return;
	note = note_of(sm, port, true);
	g_free(note->reused);
	note->reused = g_strdup_printf("P_Key index %u of %s port %u was 0x%04x and was reused "
				       "for 0x%04x before pkey_index_quarantine, %u s, had "
				       "passed: no other index was free",
				       index, name, port->num, old, p_key,
				       sm->options->pkey_index_quarantine);
	note->reused_until_ns = actor_now(sm->actor) + until * NS_PER_MS;
}

static gboolean has_ended(gpointer key, gpointer value, gpointer arg)
{
	struct note *note = value;
	struct sm *sm = arg;

	(void)key;
	if (note->reused && note->reused_until_ns <= actor_now(sm->actor))
		g_clear_pointer(&note->reused, g_free);
	return (!note->without && !note->reused) || !is_there(sm, note->guid);
}

static gint by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **lines_of(const struct sm *sm, size_t member)
{
	GPtrArray *lines = g_ptr_array_new();
	GHashTableIter iter;
	struct note *note;

	g_hash_table_iter_init(&iter, sm->settings->p_keys->indexes->notes);
	while (g_hash_table_iter_next(&iter, (void **)&note, NULL)) {
		const char *line = *(char **)((char *)note + member);

		if (line)
			g_ptr_array_add(lines, g_strdup(line));
	}
	g_ptr_array_sort(lines, by_text);
	g_ptr_array_add(lines, NULL);
	return (char **)g_ptr_array_free(lines, FALSE);
}

/* When the first index of such a port is free. */
static void await_quarantine(struct sm *sm)
{
	struct p_key_indexes *indexes = sm->settings->p_keys->indexes;
	uint64_t now = now_ms(sm), first = UINT64_MAX;
	GHashTableIter iter;
	struct note *note;

	g_hash_table_iter_init(&iter, indexes->notes);
	while (g_hash_table_iter_next(&iter, (void **)&note, NULL))
		if (note->without)
			first = MIN(first, p_key_memory_next(indexes->memory, note->guid,
							     now - MIN(now, quarantine_ms(sm))));
	if (first == UINT64_MAX)
		timer_stop(&indexes->quarantine);
	else
		timer_start(&indexes->quarantine, (first + quarantine_ms(sm) - now) * NS_PER_MS);
}

static void on_quarantine(struct timer *timer)
{
	struct p_key_indexes *indexes = container_of(timer, struct p_key_indexes, quarantine);

	p_keys_changed(indexes->sm);
	sweep_want(indexes->sm, SWEEP_POLICY);
}

void p_key_indexes_tell(struct sm *sm, char ***without, char ***reused)
{
	g_hash_table_foreach_remove(sm->settings->p_keys->indexes->notes, has_ended, sm);
	*without = lines_of(sm, offsetof(struct note, without));
	*reused = lines_of(sm, offsetof(struct note, reused));
	if (!sm->dry)
		await_quarantine(sm);
}

/* ---- life ---- */

struct p_key_indexes *p_key_indexes_new(struct sm *sm)
{
	struct p_key_indexes *indexes = g_new0(struct p_key_indexes, 1);

	indexes->sm = sm;
	indexes->memory =
		p_key_memory_new(sm->context->cache_dir, sm->log, runtime_mode(sm->context->rt),
				 runtime_now(sm->context->rt));
	indexes->put = p_key_memory_changes(indexes->memory);
	indexes->notes = g_hash_table_new_full(hash_uint64, g_int64_equal, NULL, note_free);
	timer_init(&indexes->patience, sm->actor, on_patience);
	timer_init(&indexes->quarantine, sm->actor, on_quarantine);
	return indexes;
}

void p_key_indexes_free(struct p_key_indexes *indexes)
{
	timer_stop(&indexes->patience);
	timer_stop(&indexes->quarantine);
	g_hash_table_unref(indexes->notes);
	p_key_memory_free(indexes->memory);
	g_free(indexes);
}
