// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is remembered of M_Keys over restarts, with m_key_lookup: guid2mkey and neighbors in the
 * format of the classic daemon, m_key_generation with the number that keys of ports are made of.
 * A generation is on the disk before the first port gets a key of it, so that it is among those
 * that are tried after a crash at any moment. Where no port has a key nothing is written.
 */
#include "complib/hash.h"
#include "sm/keys.h"
#include "sm/state_file.h"

#define WHAT "M_Keys"
#define KEPT_MAX (1u << 19) /* lines of a file; those of ports that are away go first */

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
	keys->ring_saved = key_ring_edition(keys->ring);
	keys->neighbors_saved = neighbors_edition(keys->neighbors);
}

static bool save(const struct sm *sm, const char *name, const char *text, bool fsync_it)
{
	g_autofree char *file = path(sm->keys, name);

	return state_save(sm->log, file, name, text, fsync_it);
}

bool key_memory_save_generation(struct sm *sm, uint64_t generation)
{
	g_autofree char *text = g_strdup_printf("0x%" G_GINT64_MODIFIER "x\n", generation);

	return !sm->keys->directory || save(sm, "m_key_generation", text, true);
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

/* True: the files have all that is known. */
static bool save_all(const struct sm *sm)
{
	bool fsync_it = sm->options->fsync_high_avail_files;
	struct keys *keys = sm->keys;
	g_autofree char *ring = NULL, *neighbors = NULL;

	if (!keys->directory || (!keys_are_used(sm->options) && !key_ring_edition(keys->ring)))
		return true;
	if (keys->ring_saved != key_ring_edition(keys->ring)) {
		ring = key_ring_format(keys->ring);
		if (save(sm, "guid2mkey", ring, fsync_it))
			keys->ring_saved = key_ring_edition(keys->ring);
	}
	if (keys->neighbors_saved != neighbors_edition(keys->neighbors)) {
		neighbors = neighbors_format(keys->neighbors);
		if (save(sm, "neighbors", neighbors, fsync_it))
			keys->neighbors_saved = neighbors_edition(keys->neighbors);
	}
	return keys->ring_saved == key_ring_edition(keys->ring) &&
	       keys->neighbors_saved == neighbors_edition(keys->neighbors);
}

void keys_remember(struct sm *sm)
{
	bool saved;

	limit(sm);
	saved = save_all(sm);
	atomic_store(&sm->context->unkept, !saved || guid2lid_has_failed(sm->guid2lid) ||
						   p_key_indexes_have_failed(sm) ||
						   sm->context->cache_refused);
}
