// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file guid2lid: see state_file.h. Of overlapping ranges the first counts. LIDs written by a
 * user without 0x are decimal, as in the classic daemon; all that is written here has 0x.
 */
#include "sm/store/guid2lid.h"

#include "complib/hash.h"
#include "complib/range.h"
#include "iba/iba.h"
#include "core/state/state_file.h"
#include "core/state/state_writer.h"

struct entry {
	uint64_t guid;
	uint16_t lid, count;
	bool assigned; /* by this SM, since it was read or doubted */
};

struct guid2lid {
	char *file; /* NULL: nothing is stored */
	struct log *log;
	GHashTable *entries; /* uint64_t GUID -> struct entry, owned */
	bool dirty;  /* the file is outdated, and is not being written */
	bool failed; /* as of guid2lid_has_failed() */
	uint64_t changes;
	GArray *guids; /* of all ports, after this many changes; NULL: not made yet */
	uint64_t guids_changes;
	void (*on_failed)(void *arg); /* for an asynchronous writer */
	void *on_failed_arg;
};

struct loading {
	struct guid2lid *map;
	struct range_set used;
};

static struct entry *find(const struct guid2lid *map, uint64_t guid)
{
	return g_hash_table_lookup(map->entries, &guid);
}

static void put(struct guid2lid *map, uint64_t guid, uint16_t lid, uint16_t count)
{
	struct entry *entry = g_new(struct entry, 1);

	*entry = (struct entry){.guid = guid, .lid = lid, .count = count};
	g_hash_table_replace(map->entries, &entry->guid, entry);
	map->changes++;
}

static const char *check_entry(const struct loading *loading, const uint64_t n[3])
{
	uint64_t count = n[2] - n[1] + 1;

	if (!n[0])
		return "GUID 0";
	if (n[1] < IBA_LID_UCAST_FIRST || n[2] > IBA_LID_UCAST_LAST || n[2] < n[1])
		return "expected LIDs from 0x1 to 0xbfff, the first not greater than the last";
	if (count > 128 || (count & (count - 1)) || n[1] % count)
		return "expected a range of 2^LMC LIDs that starts at a multiple of its size";
	if (find(loading->map, n[0]))
		return "this GUID is listed twice";
	for (uint64_t lid = n[1]; lid <= n[2]; lid++)
		if (range_set_contains(&loading->used, lid))
			return "these LIDs already belong to another GUID";
	return NULL;
}

static const char *take_line(void *arg, const char *line)
{
	struct loading *loading = arg;
	const char *wrong;
	uint64_t n[3];

	if (!state_hex(&line, &n[0]) || !state_number(&line, &n[1]) ||
	    !state_number(&line, &n[2]) || !state_end(line))
		return "expected 0xGUID 0xMINLID 0xMAXLID";
	wrong = check_entry(loading, n);
	if (!wrong) {
		put(loading->map, n[0], n[1], n[2] - n[1] + 1);
		range_set_add(&loading->used, n[1], n[2]);
	}
	return wrong;
}

unsigned int guid2lid_parse(struct guid2lid *map, const char *file, const char *text)
{
	struct loading loading = {.map = map};
	unsigned int bad_lines;

	range_set_init(&loading.used);
	bad_lines = state_parse(map->log, file, text, take_line, &loading);
	range_set_clear(&loading.used);
	return bad_lines;
}

static void load(struct guid2lid *map)
{
	struct loading loading = {.map = map};

	range_set_init(&loading.used);
	state_load(map->log, map->file, "LIDs", take_line, &loading);
	range_set_clear(&loading.used);
}

struct guid2lid *guid2lid_new(const char *directory, struct log *log)
{
	struct guid2lid *map = g_new0(struct guid2lid, 1);

	map->log = log;
	map->entries = g_hash_table_new_full(hash_uint64, g_int64_equal, NULL, g_free);
	if (directory) {
		map->file = g_build_filename(directory, "guid2lid", NULL);
		load(map);
	}
	return map;
}

void guid2lid_free(struct guid2lid *map)
{
	if (map->guids)
		g_array_unref(map->guids);
	g_hash_table_unref(map->entries);
	g_free(map->file);
	g_free(map);
}

uint16_t guid2lid_get(const struct guid2lid *map, uint64_t port_guid, uint16_t *count)
{
	const struct entry *entry = find(map, port_guid);

	*count = entry ? entry->count : 0;
	return entry ? entry->lid : 0;
}

void guid2lid_set(struct guid2lid *map, uint64_t port_guid, uint16_t lid, uint16_t count)
{
	struct entry *entry = find(map, port_guid);

	if (!entry || entry->lid != lid || entry->count != count) {
		put(map, port_guid, lid, count);
		map->dirty = true;
		entry = find(map, port_guid);
	}
	entry->assigned = true;
}

bool guid2lid_is_assigned(const struct guid2lid *map, uint64_t port_guid)
{
	const struct entry *entry = find(map, port_guid);

	return entry && entry->assigned;
}

void guid2lid_doubt(struct guid2lid *map)
{
	GHashTableIter iter;
	struct entry *entry;

	g_hash_table_iter_init(&iter, map->entries);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&entry))
		entry->assigned = false;
}

void guid2lid_remove(struct guid2lid *map, uint64_t port_guid)
{
	map->changes++;
	map->dirty |= g_hash_table_remove(map->entries, &port_guid);
}

void guid2lid_clear(struct guid2lid *map)
{
	g_hash_table_remove_all(map->entries);
	map->dirty = true;
	map->changes++;
}

uint64_t guid2lid_changes(const struct guid2lid *map)
{
	return map->changes + 1;
}

void guid2lid_each(const struct guid2lid *map,
		   void (*each)(void *arg, uint64_t guid, uint16_t lid, uint16_t count), void *arg)
{
	GHashTableIter iter;
	struct entry *entry;

	g_hash_table_iter_init(&iter, map->entries);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&entry))
		each(arg, entry->guid, entry->lid, entry->count);
}

static gint compare_guids(gconstpointer a, gconstpointer b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void add_guid(void *arg, uint64_t guid, uint16_t lid, uint16_t count)
{
	(void)lid, (void)count;
	g_array_append_val((GArray *)arg, guid);
}

GArray *guid2lid_guids(struct guid2lid *map)
{
	if (map->guids && map->guids_changes == map->changes)
		return g_array_ref(map->guids);
	if (map->guids)
		g_array_unref(map->guids);
	map->guids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	map->guids_changes = map->changes;
	guid2lid_each(map, add_guid, map->guids);
	g_array_sort(map->guids, compare_guids);
	return g_array_ref(map->guids);
}

static gint by_lid(gconstpointer a, gconstpointer b)
{
	const struct entry *const *x = a, *const *y = b;

	return (*x)->lid - (*y)->lid;
}

char *guid2lid_format(const struct guid2lid *map)
{
	GString *text = g_string_new(NULL);
	g_autoptr(GPtrArray) sorted = g_ptr_array_new();
	GHashTableIter iter;
	struct entry *entry;

	g_hash_table_iter_init(&iter, map->entries);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&entry))
		g_ptr_array_add(sorted, entry);
	g_ptr_array_sort(sorted, by_lid);
	for (guint i = 0; i < sorted->len; i++) {
		entry = sorted->pdata[i];
		g_string_append_printf(text, "0x%016" G_GINT64_MODIFIER "x 0x%04x 0x%04x\n\n",
				       entry->guid, entry->lid, entry->lid + entry->count - 1);
	}
	return g_string_free(text, FALSE);
}

bool guid2lid_has_failed(const struct guid2lid *map)
{
	return map->failed;
}

void guid2lid_watch(struct guid2lid *map, void (*failed)(void *arg), void *arg)
{
	map->on_failed = failed;
	map->on_failed_arg = arg;
}

static void on_saved(void *arg, bool good)
{
	struct guid2lid *map = arg;

	if (good)
		return;
	map->dirty = map->failed = true;
	map->on_failed(map->on_failed_arg);
}

bool guid2lid_save(struct guid2lid *map, struct state_writer *writer, bool fsync_it)
{
	g_autofree char *text = NULL;

	if (!map->file || !map->dirty)
		return true;
	text = guid2lid_format(map);
	if (writer) {
		map->dirty = map->failed = false;
		state_writer_put(writer, map->file, "LIDs", g_steal_pointer(&text), fsync_it,
				 on_saved, map);
		return true;
	}
	map->failed = !state_save(map->log, map->file, "LIDs", text, fsync_it);
	map->dirty = map->failed;
	return !map->failed;
}
