// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "sm/store/pkey_memory.h"

#include "complib/hash.h"
#include "policy/partition/partition.h"
#include "core/state/state_file.h"

#define KEPT_MAX (1u << 18) /* entries; those of absent ports are dropped first */
#define AWAY_MS (UINT64_C(30) * 24 * 3600 * 1000)

struct entry {
	uint64_t guid; /* these two are the key */
	uint16_t index;
	uint16_t p_key;
	uint64_t when;
};

struct p_key_memory {
	struct log *log;
	char *file;
	GHashTable *entries; /* a set of struct entry, owned */
	uint64_t base_ms;    /* the time when the clock of the runtime started */
	uint64_t changes;
};

struct reading {
	struct p_key_memory *memory;
	uint64_t now_ms;
};

static guint entry_hash(gconstpointer key)
{
	const struct entry *entry = key;

	return hash_uint64(&entry->guid) * 31 + entry->index;
}

static gboolean entry_equal(gconstpointer a, gconstpointer b)
{
	const struct entry *x = a, *y = b;

	return x->guid == y->guid && x->index == y->index;
}

static const struct entry *find(const struct p_key_memory *memory, uint64_t guid, uint16_t index)
{
	const struct entry key = {.guid = guid, .index = index};

	return g_hash_table_lookup(memory->entries, &key);
}

static void put(struct p_key_memory *memory, const struct entry *entry)
{
	g_hash_table_add(memory->entries, g_memdup2(entry, sizeof(*entry)));
	memory->changes++;
}

/* ---- reading ---- */

static const char *take_line(void *arg, const char *line)
{
	struct reading *reading = arg;
	struct p_key_memory *memory = reading->memory;
	const struct entry *old;
	uint64_t guid, index, p_key, when;
	struct entry entry;

	if (!state_hex(&line, &guid) || !state_number(&line, &index) || !state_hex(&line, &p_key) ||
	    !state_number(&line, &when) || !state_end(line) || !guid || index > UINT16_MAX ||
	    p_key > UINT16_MAX || !P_KEY_BASE(p_key))
		return "expected 0xPORTGUID INDEX 0xPKEY TIME";
	if (g_hash_table_size(memory->entries) >= KEPT_MAX)
		return "too many lines";
	entry = (struct entry){guid, (uint16_t)index, (uint16_t)p_key, MIN(when, reading->now_ms)};
	old = find(memory, guid, entry.index);
	if (!old || old->when < entry.when)
		put(memory, &entry);
	return NULL;
}

void p_key_memory_parse(struct p_key_memory *memory, const char *what, const char *text,
			uint64_t now_ns)
{
	struct reading reading = {memory, p_key_memory_time(memory, now_ns)};

	state_parse(memory->log, what, text, take_line, &reading);
}

struct p_key_memory *p_key_memory_new(const char *directory, struct log *log,
				      enum runtime_mode mode, uint64_t now_ns)
{
	struct p_key_memory *memory = g_new0(struct p_key_memory, 1);
	struct reading reading = {.memory = memory};

	memory->log = log;
	memory->entries = g_hash_table_new_full(entry_hash, entry_equal, g_free, NULL);
	if (mode != RUNTIME_VIRTUAL) /* the virtual clock continues when the daemon starts again */
		memory->base_ms = (uint64_t)(g_get_real_time() / 1000) - now_ns / NS_PER_MS;
	if (directory) {
		memory->file = g_build_filename(directory, P_KEY_MEMORY_FILE, NULL);
		reading.now_ms = p_key_memory_time(memory, now_ns);
		state_load(log, memory->file, "vacated P_Key indexes", take_line, &reading);
	}
	return memory;
}

void p_key_memory_free(struct p_key_memory *memory)
{
	g_hash_table_unref(memory->entries);
	g_free(memory->file);
	g_free(memory);
}

/* ---- use ---- */

uint64_t p_key_memory_time(const struct p_key_memory *memory, uint64_t now_ns)
{
	return memory->base_ms + now_ns / NS_PER_MS;
}

void p_key_memory_leave(struct p_key_memory *memory, uint64_t guid, uint16_t index, uint16_t p_key,
			uint64_t now_ns)
{
	const struct entry entry = {guid, index, p_key, p_key_memory_time(memory, now_ns)};

	put(memory, &entry);
}

uint16_t p_key_memory_left(const struct p_key_memory *memory, uint64_t guid, uint16_t index,
			   uint64_t *when)
{
	const struct entry *entry = find(memory, guid, index);

	*when = entry ? entry->when : 0;
	return entry ? entry->p_key : 0;
}

uint64_t p_key_memory_next(const struct p_key_memory *memory, uint64_t guid, uint64_t than)
{
	uint64_t next = UINT64_MAX;
	const struct entry *entry;
	GHashTableIter iter;

	g_hash_table_iter_init(&iter, memory->entries);
	while (g_hash_table_iter_next(&iter, (void **)&entry, NULL))
		if (entry->guid == guid && entry->when > than)
			next = MIN(next, entry->when);
	return next;
}

void p_key_memory_limit(struct p_key_memory *memory, bool (*is_there)(void *arg, uint64_t guid),
			void *arg, uint64_t now_ns)
{
	uint64_t now_ms = p_key_memory_time(memory, now_ns);
	bool full = g_hash_table_size(memory->entries) > KEPT_MAX;
	const struct entry *entry;
	GHashTableIter iter;

	g_hash_table_iter_init(&iter, memory->entries);
	while (g_hash_table_iter_next(&iter, (void **)&entry, NULL))
		if ((full || entry->when + AWAY_MS < now_ms) && !is_there(arg, entry->guid)) {
			g_hash_table_iter_remove(&iter);
			memory->changes++;
		}
}

/* ---- writing ---- */

static gint by_place(gconstpointer a, gconstpointer b)
{
	const struct entry *x = *(void *const *)a, *y = *(void *const *)b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->index - y->index;
}

static GPtrArray *sorted(const struct p_key_memory *memory)
{
	GPtrArray *entries = g_ptr_array_new();
	struct entry *entry;
	GHashTableIter iter;

	g_hash_table_iter_init(&iter, memory->entries);
	while (g_hash_table_iter_next(&iter, (void **)&entry, NULL))
		g_ptr_array_add(entries, entry);
	g_ptr_array_sort(entries, by_place);
	return entries;
}

char *p_key_memory_format(const struct p_key_memory *memory)
{
	g_autoptr(GPtrArray) entries = sorted(memory);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < entries->len; i++) {
		const struct entry *entry = entries->pdata[i];

		g_string_append_printf(
			text, "0x%016" G_GINT64_MODIFIER "x %u 0x%04x %" G_GUINT64_FORMAT "\n",
			entry->guid, entry->index, entry->p_key, entry->when);
	}
	return g_string_free(text, FALSE);
}

void p_key_memory_each(const struct p_key_memory *memory,
		       void (*each)(void *arg, uint64_t guid, uint16_t index, uint16_t p_key,
				    uint64_t when),
		       void *arg)
{
	g_autoptr(GPtrArray) entries = sorted(memory);

	for (guint i = 0; i < entries->len; i++) {
		const struct entry *entry = entries->pdata[i];

		each(arg, entry->guid, entry->index, entry->p_key, entry->when);
	}
}

uint64_t p_key_memory_changes(const struct p_key_memory *memory)
{
	return memory->changes;
}

const char *p_key_memory_file(const struct p_key_memory *memory)
{
	return memory->file;
}
