// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * When m_key changes, the ports still have the old one: each is opened with the key that it is
 * known to have until a Set gives it the new one. Where nothing is known, or what is known does
 * not work, the values of the option are tried, newest first. A wrong key looks like a dead node:
 * no answer. So no key is tried twice in a round, and as long as the option never changed there is
 * nothing to try and a dead node costs no more than it does without keys.
 *
 * M_Key 0 is no candidate of its own: a port that has it takes any key.
 */
#include "sm/key_ring.h"

#include <glib.h>

#define CANDIDATES_MAX (2 + KEY_RING_PREVIOUS) /* the one known, the option's, previous ones */

struct entry {
	struct entry_id {
		uint64_t guid;
		uint64_t port;
	} id;
	uint64_t known;
	uint64_t changes; /* of it */
	bool is_known, is_proven;
	uint64_t proven; /* number of changes of the option before */
	uint64_t round;	 /* that failed is of */
	uint64_t failed[CANDIDATES_MAX];
	unsigned int n_failed;
};

struct key_ring {
	struct value {
		uint64_t key;
		uint64_t until; /* number of the change that ended it; unused of the first */
	} values[1 + KEY_RING_PREVIOUS]; /* of the option, newest first, all different */
	unsigned int n_values;
	uint64_t changes; /* of the option */
	uint64_t round;
	GHashTable *entries; /* struct entry_id -> struct entry, owned */
};

static guint id_hash(gconstpointer key)
{
	const struct entry_id *id = key;

	return g_int64_hash(&id->guid) + (guint)id->port;
}

static gboolean id_equal(gconstpointer a, gconstpointer b)
{
	const struct entry_id *x = a, *y = b;

	return x->guid == y->guid && x->port == y->port;
}

static struct entry *find(const struct key_ring *ring, uint64_t guid, uint8_t port)
{
	struct entry_id id = {.guid = guid, .port = port};

	return g_hash_table_lookup(ring->entries, &id);
}

static struct entry *make(struct key_ring *ring, uint64_t guid, uint8_t port)
{
	struct entry *entry = find(ring, guid, port);

	if (!entry) {
		entry = g_new0(struct entry, 1);
		entry->id = (struct entry_id){.guid = guid, .port = port};
		g_hash_table_insert(ring->entries, &entry->id, entry);
	}
	if (entry->round != ring->round) {
		entry->round = ring->round;
		entry->n_failed = 0;
	}
	return entry;
}

static bool contains(const uint64_t *keys, unsigned int n, uint64_t key)
{
	for (unsigned int i = 0; i < n; i++)
		if (keys[i] == key)
			return true;
	return false;
}

/* Fills keys, in the order in which they are tried, and returns their number, at least 1. */
static unsigned int candidates(const struct key_ring *ring, const struct entry *entry,
			       uint64_t keys[CANDIDATES_MAX])
{
	bool is_proven = entry && entry->is_known && entry->is_proven;
	unsigned int n = 0;

	if (entry && entry->is_known)
		keys[n++] = entry->known;
	for (unsigned int i = 0; i < ring->n_values; i++) {
		const struct value *value = &ring->values[i];

		/* A Set may have given it a newer one, never one that was over before. */
		if (is_proven && i && value->until <= entry->proven)
			continue;
		if (!contains(keys, n, value->key))
			keys[n++] = value->key;
	}
	return n;
}

/* The next to be tried; false if all have failed, then it is the first. */
static bool next(const struct key_ring *ring, const struct entry *entry, uint64_t *key)
{
	bool tried = entry && entry->round == ring->round;
	uint64_t keys[CANDIDATES_MAX];
	unsigned int n = candidates(ring, entry, keys);

	for (unsigned int i = 0; i < n; i++) {
		*key = keys[i];
		if (!tried || !contains(entry->failed, entry->n_failed, keys[i]))
			return true;
	}
	*key = keys[0];
	return false;
}

struct key_ring *key_ring_new(uint64_t m_key)
{
	struct key_ring *ring = g_new0(struct key_ring, 1);

	ring->values[0].key = m_key;
	ring->n_values = 1;
	ring->round = 1;
	ring->entries = g_hash_table_new_full(id_hash, id_equal, NULL, g_free);
	return ring;
}

void key_ring_free(struct key_ring *ring)
{
	if (!ring)
		return;
	g_hash_table_unref(ring->entries);
	g_free(ring);
}

void key_ring_set(struct key_ring *ring, uint64_t m_key)
{
	unsigned int i = 0;

	if (ring->values[0].key == m_key)
		return;
	ring->values[0].until = ++ring->changes;
	/* Those newer than an older mention of the same value move up; the oldest falls off. */
	while (i < ring->n_values && ring->values[i].key != m_key)
		i++;
	if (i == ring->n_values)
		ring->n_values = MIN(i + 1, (unsigned int)G_N_ELEMENTS(ring->values));
	for (i = MIN(i, ring->n_values - 1); i > 0; i--)
		ring->values[i] = ring->values[i - 1];
	ring->values[0] = (struct value){.key = m_key};
	ring->round++;
}

void key_ring_again(struct key_ring *ring)
{
	ring->round++;
}

uint64_t key_ring_for(const struct key_ring *ring, uint64_t guid, uint8_t port)
{
	uint64_t key;

	next(ring, find(ring, guid, port), &key);
	return key;
}

bool key_ring_failed(struct key_ring *ring, uint64_t guid, uint8_t port, uint64_t key)
{
	struct entry *entry = find(ring, guid, port);
	uint64_t keys[CANDIDATES_MAX];
	unsigned int n = candidates(ring, entry, keys);

	if (n == 1 && keys[0] == key)
		return false; /* the usual case: there is only one, and nothing to keep in mind */
	entry = make(ring, guid, port);
	if (contains(keys, n, key) && !contains(entry->failed, entry->n_failed, key) &&
	    entry->n_failed < CANDIDATES_MAX)
		entry->failed[entry->n_failed++] = key;
	return next(ring, entry, &key);
}

static void note(struct key_ring *ring, const struct entry_id *id, uint64_t key, bool is_proven)
{
	struct entry *entry = make(ring, id->guid, (uint8_t)id->port);

	entry->changes += !entry->is_known || entry->known != key;
	entry->known = key;
	entry->is_known = true;
	entry->is_proven = is_proven;
	entry->proven = ring->changes;
	entry->n_failed = 0;
}

void key_ring_worked(struct key_ring *ring, uint64_t guid, uint8_t port, uint64_t key)
{
	note(ring, &(struct entry_id){.guid = guid, .port = port}, key, true);
}

void key_ring_likely(struct key_ring *ring, uint64_t guid, uint8_t port, uint64_t key)
{
	note(ring, &(struct entry_id){.guid = guid, .port = port}, key, false);
}

uint64_t key_ring_changes(const struct key_ring *ring, uint64_t guid, uint8_t port)
{
	const struct entry *entry = find(ring, guid, port);

	return entry ? entry->changes : 0;
}

void key_ring_keep(struct key_ring *ring, bool (*is_there)(void *arg, uint64_t guid), void *arg)
{
	GHashTableIter iter;
	struct entry *entry;

	g_hash_table_iter_init(&iter, ring->entries);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&entry))
		if (!is_there(arg, entry->id.guid))
			g_hash_table_iter_remove(&iter);
}

unsigned int key_ring_size(const struct key_ring *ring)
{
	return g_hash_table_size(ring->entries);
}
