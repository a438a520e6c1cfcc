// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The table, and the streams that carry it. The digest of a section is the sum of the digests of
 * its entries, so that each change updates it at once; that of the table is the sum of these.
 */
#include "ha/replica.h"

#include <string.h>

#include "complib/handoff.h"

#define ENTRY_COST 64 /* octets of memory besides its contents */
#define DIGEST_BYTES sizeof(uint64_t)
#define HEAD_BYTES 4 /* before an entry in a stream */

struct replica {
	struct ref ref;
	GHashTable *entries; /* struct replica_entry by section and key */
	size_t octets, octets_max;
	uint64_t digest[UINT8_MAX + 1]; /* [section] */
};

static guint entry_hash(gconstpointer data)
{
	const struct replica_entry *entry = data;
	guint hash = 5381 + entry->section;

	for (unsigned int i = 0; i < entry->key_length; i++)
		hash = hash * 33 + entry->octets[i];
	return hash;
}

static gboolean entry_equal(gconstpointer a, gconstpointer b)
{
	const struct replica_entry *x = a, *y = b;

	return x->section == y->section && x->key_length == y->key_length &&
	       memcmp(x->octets, y->octets, x->key_length) == 0;
}

GHashTable *replica_keys_new(void)
{
	return g_hash_table_new_full(entry_hash, entry_equal, g_free, NULL);
}

static size_t value_bytes(const struct replica_entry *entry)
{
	return replica_is_removal(entry) ? 0 : entry->value_length;
}

struct replica_entry *replica_entry_new(uint8_t section, const void *key, size_t key_length,
					const void *value, size_t value_length)
{
	struct replica_entry *entry = g_malloc(sizeof(*entry) + key_length + value_length);

	g_assert(key_length <= REPLICA_KEY_MAX && value_length <= REPLICA_VALUE_MAX);
	entry->section = section;
	entry->key_length = (uint8_t)key_length;
	entry->value_length = value ? (uint16_t)value_length : REPLICA_REMOVED;
	memcpy(entry->octets, key, key_length);
	if (value)
		memcpy(entry->octets + key_length, value, value_length);
	return entry;
}

struct replica *replica_new(size_t octets_max)
{
	struct replica *replica = g_new0(struct replica, 1);

	ref_init(&replica->ref);
	replica->entries = replica_keys_new();
	replica->octets_max = octets_max;
	return replica;
}

struct replica *replica_ref(struct replica *replica)
{
	ref_get(&replica->ref);
	return replica;
}

void replica_unref(struct replica *replica)
{
	if (!replica || !ref_put(&replica->ref))
		return;
	g_hash_table_unref(replica->entries);
	g_free(replica);
}

size_t replica_octets(const struct replica *replica)
{
	return replica->octets;
}

unsigned int replica_size(const struct replica *replica)
{
	return g_hash_table_size(replica->entries);
}

const struct replica_entry *replica_find(const struct replica *replica,
					 const struct replica_entry *key)
{
	return g_hash_table_lookup(replica->entries, key);
}

uint64_t replica_digest(const struct replica *replica, enum replica_section section)
{
	return replica->digest[section];
}

static uint64_t whole_digest(const struct replica *replica)
{
	uint64_t digest = 0;

	for (unsigned int section = 0; section <= UINT8_MAX; section++)
		digest += replica->digest[section];
	return digest;
}

void replica_each(const struct replica *replica, uint8_t section,
		  void (*each)(void *arg, const struct replica_entry *entry), void *arg)
{
	GHashTableIter iter;
	void *entry;

	g_hash_table_iter_init(&iter, replica->entries);
	while (g_hash_table_iter_next(&iter, &entry, NULL))
		if (((struct replica_entry *)entry)->section == section)
			each(arg, entry);
}

/* ---- changes ---- */

static void append_entry(GByteArray *out, const struct replica_entry *entry)
{
	const uint8_t head[HEAD_BYTES] = {
		entry->section,
		entry->key_length,
		(uint8_t)(entry->value_length >> 8),
		(uint8_t)entry->value_length,
	};

	g_byte_array_append(out, head, sizeof(head));
	g_byte_array_append(out, entry->octets, (guint)(entry->key_length + value_bytes(entry)));
}

static uint64_t digest_of(const struct replica_entry *entry)
{
	g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
	GByteArray *octets = g_byte_array_new();
	uint8_t sum[32];
	gsize length = sizeof(sum);
	uint64_t digest;

	append_entry(octets, entry);
	g_checksum_update(checksum, octets->data, octets->len);
	g_checksum_get_digest(checksum, sum, &length);
	g_byte_array_unref(octets);
	memcpy(&digest, sum, sizeof(digest));
	return GUINT64_FROM_BE(digest);
}

static size_t cost_of(const struct replica_entry *entry)
{
	return ENTRY_COST + sizeof(*entry) + entry->key_length + value_bytes(entry);
}

static void count(struct replica *replica, const struct replica_entry *entry, bool in)
{
	uint64_t digest = digest_of(entry);

	replica->octets += in ? cost_of(entry) : -cost_of(entry);
	replica->digest[entry->section] += in ? digest : -digest;
}

static bool is_same(const struct replica_entry *old, const struct replica_entry *new)
{
	if (!old)
		return replica_is_removal(new);
	return old->value_length ==
	       new->value_length &&memcmp(replica_value(old), replica_value(new),
					  old->value_length) == 0;
}

enum replica_put replica_put(struct replica *replica, struct replica_entry *entry)
{
	const struct replica_entry *old = replica_find(replica, entry);

	if (is_same(old, entry)) {
		g_free(entry);
		return REPLICA_SAME;
	}
	if (!replica_is_removal(entry) && replica->octets + cost_of(entry) > replica->octets_max) {
		g_free(entry);
		return REPLICA_NO_ROOM;
	}
	if (old)
		count(replica, old, false);
	if (replica_is_removal(entry)) {
		g_hash_table_remove(replica->entries, entry);
		g_free(entry);
	} else {
		count(replica, entry, true);
		g_hash_table_add(replica->entries, entry);
	}
	return REPLICA_CHANGED;
}

/* ---- streams ---- */

static GByteArray *begin_stream(const struct replica *replica)
{
	uint64_t digest = GUINT64_TO_BE(whole_digest(replica));
	GByteArray *out = g_byte_array_new();

	g_byte_array_append(out, (const uint8_t *)&digest, sizeof(digest));
	return out;
}

GByteArray *replica_write_all(const struct replica *replica)
{
	GByteArray *out = begin_stream(replica);
	GHashTableIter iter;
	void *entry;

	g_hash_table_iter_init(&iter, replica->entries);
	while (g_hash_table_iter_next(&iter, &entry, NULL))
		append_entry(out, entry);
	return out;
}

GByteArray *replica_write(const struct replica *replica, GHashTable *keys)
{
	GByteArray *out = begin_stream(replica);
	GHashTableIter iter;
	void *key;

	g_hash_table_iter_init(&iter, keys);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		const struct replica_entry *entry = replica_find(replica, key), *id = key;

		if (entry) {
			append_entry(out, entry);
			continue;
		}
		entry = replica_entry_new(id->section, id->octets, id->key_length, NULL, 0);
		append_entry(out, entry);
		g_free((struct replica_entry *)entry);
	}
	return out;
}

/* The next entry of a stream; NULL: none, or incomplete. */
static struct replica_entry *read_entry(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *head = *at;
	uint16_t value_length;
	size_t value;

	if (end - head < HEAD_BYTES)
		return NULL;
	value_length = (uint16_t)(head[2] << 8 | head[3]);
	value = value_length == REPLICA_REMOVED ? 0 : value_length;
	if (value > REPLICA_VALUE_MAX || (size_t)(end - head - HEAD_BYTES) < head[1] + value)
		return NULL;
	*at = head + HEAD_BYTES + head[1] + value;
	return replica_entry_new(
		head[0], head + HEAD_BYTES, head[1],
		value_length == REPLICA_REMOVED ? NULL : head + HEAD_BYTES + head[1], value);
}

/* The replica's present value for that key, as an entry that restores it. */
static struct replica_entry *copy_of(const struct replica *replica, const struct replica_entry *key)
{
	const struct replica_entry *old = replica_find(replica, key);

	return replica_entry_new(key->section, key->octets, key->key_length,
				 old ? replica_value(old) : NULL, old ? old->value_length : 0);
}

/* Puts the entries of a stream; undo gets the previous values. */
static const char *put_entries(struct replica *replica, const uint8_t *at, const uint8_t *end,
			       GPtrArray *undo)
{
	while (at < end) {
		struct replica_entry *entry = read_entry(&at, end);

		if (!entry)
			return "it ends in the middle of an entry";
		g_ptr_array_add(undo, copy_of(replica, entry));
		if (replica_put(replica, entry) == REPLICA_NO_ROOM)
			return "it is larger than replication_max_memory allows";
	}
	return NULL;
}

bool replica_apply(struct replica *replica, const uint8_t *stream, size_t length,
		   const char **wrong)
{
	g_autoptr(GPtrArray) undo = g_ptr_array_new();
	uint64_t digest;

	*wrong = "it is too short";
	if (length < DIGEST_BYTES)
		return false;
	memcpy(&digest, stream, sizeof(digest));
	*wrong = put_entries(replica, stream + DIGEST_BYTES, stream + length, undo);
	if (!*wrong && whole_digest(replica) != GUINT64_FROM_BE(digest))
		*wrong = "its digest is wrong";
	for (guint i = undo->len; i-- > 0;)
		if (*wrong)
			replica_put(replica, undo->pdata[i]);
		else
			g_free(undo->pdata[i]);
	return !*wrong;
}

/* ---- one section ---- */

static void add_copy(void *arg, const struct replica_entry *entry)
{
	replica_put(arg, replica_entry_new(entry->section, entry->octets, entry->key_length,
					   replica_value(entry), entry->value_length));
}

struct replica *replica_section(const struct replica *replica, enum replica_section section)
{
	struct replica *alone = replica_new(replica->octets_max);

	replica_each(replica, section, add_copy, alone);
	return alone;
}

/* ---- texts ---- */

GPtrArray *replica_text_new(enum replica_section section, const char *text)
{
	GPtrArray *entries = g_ptr_array_new();
	size_t length = strlen(text);

	for (size_t at = 0; at < length; at += REPLICA_VALUE_MAX) {
		uint32_t key = GUINT32_TO_BE((uint32_t)(at / REPLICA_VALUE_MAX));

		g_ptr_array_add(entries,
				replica_entry_new(section, &key, sizeof(key), text + at,
						  MIN(length - at, REPLICA_VALUE_MAX)));
	}
	return entries;
}

static void find_piece(void *arg, const struct replica_entry *entry)
{
	g_ptr_array_add(arg, (gpointer)entry);
}

static gint compare_pieces(gconstpointer a, gconstpointer b)
{
	const struct replica_entry *const *x = a, *const *y = b;

	return memcmp((*x)->octets, (*y)->octets, MIN((*x)->key_length, (*y)->key_length));
}

char *replica_text(const struct replica *replica, enum replica_section section)
{
	g_autoptr(GPtrArray) pieces = g_ptr_array_new();
	GString *text = g_string_new(NULL);

	replica_each(replica, section, find_piece, pieces);
	g_ptr_array_sort(pieces, compare_pieces);
	for (guint i = 0; i < pieces->len; i++) {
		const struct replica_entry *piece = pieces->pdata[i];

		g_string_append_len(text, (const char *)replica_value(piece), piece->value_length);
	}
	return g_string_free(text, FALSE);
}
