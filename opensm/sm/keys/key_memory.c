// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The M_Keys remembered over restarts, with m_key_lookup: guid2mkey and neighbors in the format of
 * the classic daemon, m_key_generation with the number from which keys of ports are derived. A
 * generation is on the disk before the first port gets a key of it, so that it is among those that
 * are tried after a crash at any moment (key_update.c waits for it). If no port has a key nothing
 * is written.
 */
#include "complib/hash.h"
#include "sm/keys/keys.h"
#include "sm/keys/keys_private.h"
#include "sm/smp/smp.h"
#include "core/state/state_file.h"
#include "core/state/state_writer.h"

#define WHAT "M_Keys"
#define KEPT_MAX (1u << 19) /* lines of a file; those of absent ports are dropped first */

static char *path(const struct keys *keys, const char *name)
{
	return g_build_filename(keys->directory, name, NULL);
}

static const char *take_generation(void *arg, const char *line)
{
	uint64_t *generation = arg, number;

	if (!state_hex(&line, &number) || !state_end(line) || number >= UINT64_MAX / 2)
		return "expected one hexadecimal number";
	*generation = number;
	return NULL;
}

static void load(struct sm *sm, const char *name, state_line_fn *take, void *arg)
{
	g_autofree char *file = path(sm->keys, name);

	state_load_keys(sm->log, file, WHAT, take, arg);
}

void key_memory_load(struct sm *sm)
{
	struct keys *keys = sm->keys;

	if (!keys->directory)
		return;
	load(sm, "m_key_generation", take_generation, &keys->generation);
	load(sm, "guid2mkey", key_ring_take_line, keys->ring);
	load(sm, "neighbors", neighbors_take_line, keys->neighbors);
	keys->ring_put = key_ring_edition(keys->ring);
	keys->neighbors_put = neighbors_edition(keys->neighbors);
}

/* ---- writing: asynchronous; the sweep waits for it before ports get keys (disk.c) ---- */

static void on_ring_written(void *arg, bool good)
{
	struct keys *keys = arg;

	keys->ring_failed = !good;
	disk_written(keys->sm, DISK_M_KEYS, good);
}

static void on_neighbors_written(void *arg, bool good)
{
	struct keys *keys = arg;

	keys->neighbors_failed = !good;
	disk_written(keys->sm, DISK_NEIGHBORS, good);
}

static void put(struct sm *sm, const char *name, char *text, void (*done)(void *arg, bool good))
{
	g_autofree char *file = path(sm->keys, name);

	state_writer_put(sm->store.writer, file, name, text, sm->options->fsync_high_avail_files,
			 done, sm->keys);
}

bool key_memory_save_generation(struct sm *sm, uint64_t generation,
				void (*done)(void *arg, bool good), void *arg)
{
	g_autofree char *file = NULL;

	if (!sm->keys->directory)
		return false;
	file = path(sm->keys, "m_key_generation");
	state_writer_put(sm->store.writer, file, "m_key_generation",
			 g_strdup_printf("0x%" G_GINT64_MODIFIER "x\n", generation), true, done,
			 arg);
	return true;
}

static bool is_there(void *arg, uint64_t guid)
{
	return g_hash_table_contains(arg, &guid);
}

/* Ports come and go, and devices may claim any GUID. */
static void limit(struct sm *sm)
{
	g_autoptr(GHashTable) there = NULL;
	GHashTableIter iter;
	struct builder_node *node;

	if (MAX(key_ring_size(sm->keys->ring), neighbors_size(sm->keys->neighbors)) <= KEPT_MAX)
		return;
	there = g_hash_table_new(hash_uint64, g_int64_equal);
	g_hash_table_iter_init(&iter, sm->builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node))
		for (unsigned int num = 0; num <= node->info.num_ports; num++)
			g_hash_table_add(there, &node->ports[num].guid);
	key_ring_keep(sm->keys->ring, is_there, there);
	neighbors_keep(sm->keys->neighbors, is_there, there);
}

/* A failed write is retried with each sweep. */
static void put_all(struct sm *sm)
{
	struct keys *keys = sm->keys;
	uint64_t ring = key_ring_edition(keys->ring);
	uint64_t neighbors = neighbors_edition(keys->neighbors);

	if (!keys->directory || (!keys_are_used(sm->options) && !ring))
		return;
	if (keys->ring_put != ring || keys->ring_failed)
		put(sm, "guid2mkey", key_ring_format(keys->ring), on_ring_written);
	if (keys->neighbors_put != neighbors || keys->neighbors_failed)
		put(sm, "neighbors", neighbors_format(keys->neighbors), on_neighbors_written);
	keys->ring_put = ring;
	keys->neighbors_put = neighbors;
}

void keys_remember(struct sm *sm)
{
	limit(sm);
	put_all(sm);
}
