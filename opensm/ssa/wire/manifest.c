// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Manifests:
 *
 *    struct head, n times struct entry by ascending id, the first 16 octets of the SHA-256 of all
 *    that, and, if it is signed, the HMAC-SHA256 of all that
 *
 * Integers are little-endian. A reader without the key finds what is torn by the SHA-256, which
 * any program can make. One with the key also finds what is forged.
 */
#include <string.h>

#include "ssa/wire/wire_private.h"

#define MAGIC "OSMSSAM\n"
#define SUM_OCTETS 16u
#define MAC_OCTETS 32u

enum flags {
	SIGNED = 1 << 0,
};

struct head {
	char magic[8];
	uint16_t major, minor;
	uint16_t flags; /* enum flags */
	uint16_t n;	/* entries */
	uint64_t prefix, term, epoch, time_us, sm_guid;
	uint8_t reserved[8];
};

struct entry {
	uint16_t id;
	uint16_t flags; /* 0 */
	uint32_t row_size;
	uint64_t rows, epoch;
	uint64_t hash[2];
	uint8_t list[SSA_NAME_OCTETS]; /* 0: no rows */
	uint8_t reserved[8];
};

G_STATIC_ASSERT(sizeof(struct head) == 64);
G_STATIC_ASSERT(sizeof(struct entry) == 64);
G_STATIC_ASSERT(sizeof(struct head) + SSA_TABLE_END * sizeof(struct entry) + SUM_OCTETS +
			MAC_OCTETS <
		SSA_MANIFEST_MAX);

/* ---- sums ---- */

static void make_sum(const uint8_t *data, size_t length, uint8_t sum[SUM_OCTETS])
{
	g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
	uint8_t digest[32];
	gsize n = sizeof(digest);

	g_checksum_update(checksum, data, (gssize)length);
	g_checksum_get_digest(checksum, digest, &n);
	memcpy(sum, digest, SUM_OCTETS);
}

static void make_mac(GBytes *key, const uint8_t *data, size_t length, uint8_t mac[MAC_OCTETS])
{
	gsize size, n = MAC_OCTETS;
	const guchar *secret = g_bytes_get_data(key, &size);
	GHmac *hmac = g_hmac_new(G_CHECKSUM_SHA256, secret, size);

	g_hmac_update(hmac, data, (gssize)length);
	g_hmac_get_digest(hmac, mac, &n);
	g_hmac_unref(hmac);
}

/* Takes as long for any difference. */
static bool is_equal(const uint8_t *a, const uint8_t *b, size_t length)
{
	uint8_t different = 0;

	for (size_t i = 0; i < length; i++)
		different |= a[i] ^ b[i];
	return !different;
}

/* ---- encoding ---- */

static void encode_entry(const struct ssa_listed *listed, struct entry *entry)
{
	*entry = (struct entry){
		.id = GUINT16_TO_LE(listed->id),
		.row_size = ssa_32(listed->row_size),
		.rows = ssa_64(listed->rows),
		.epoch = ssa_64(listed->epoch),
		.hash = {ssa_64(listed->hash[0]), ssa_64(listed->hash[1])},
	};
	if (listed->rows)
		ssa_name_scan(listed->list, entry->list);
}

GBytes *ssa_manifest_encode(const struct ssa_manifest *manifest, GBytes *key)
{
	struct head head = {
		.magic = MAGIC,
		.major = ssa_16(SSA_MAJOR),
		.minor = ssa_16(SSA_MINOR),
		.flags = ssa_16(key ? SIGNED : 0),
		.n = ssa_16((uint16_t)manifest->n),
		.prefix = ssa_64(manifest->prefix),
		.term = ssa_64(manifest->term),
		.epoch = ssa_64(manifest->epoch),
		.time_us = ssa_64(manifest->time_us),
		.sm_guid = ssa_64(manifest->sm_guid),
	};
	GByteArray *octets = g_byte_array_new();
	uint8_t sum[SUM_OCTETS], mac[MAC_OCTETS];

	g_assert(!key || g_bytes_get_size(key) >= SSA_KEY_MIN);
	g_byte_array_append(octets, (const guint8 *)&head, sizeof(head));
	for (unsigned int i = 0; i < manifest->n; i++) {
		struct entry entry;

		encode_entry(&manifest->tables[i], &entry);
		g_byte_array_append(octets, (const guint8 *)&entry, sizeof(entry));
	}
	make_sum(octets->data, octets->len, sum);
	g_byte_array_append(octets, sum, sizeof(sum));
	if (key) {
		make_mac(key, octets->data, octets->len, mac);
		g_byte_array_append(octets, mac, sizeof(mac));
	}
	return g_byte_array_free_to_bytes(octets);
}

/* ---- parsing ---- */

static bool check_head(const struct head *head, size_t length, GError **error)
{
	uint16_t n = ssa_16(head->n);
	size_t expected = sizeof(*head) + n * sizeof(struct entry) + SUM_OCTETS;

	if (ssa_16(head->flags) & SIGNED)
		expected += MAC_OCTETS;
	if (length != expected || length > SSA_MANIFEST_MAX)
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
				     "a manifest of %u tables with %zu octets, %zu are expected", n,
				     length, expected);
	return true;
}

/* That it has not been torn, and with a key that it has not been forged. */
static bool check_sums(const uint8_t *data, size_t length, bool is_signed, GBytes *key,
		       GError **error)
{
	size_t covered = length - (is_signed ? MAC_OCTETS : 0);
	uint8_t sum[SUM_OCTETS], mac[MAC_OCTETS];

	if (key && !is_signed)
		return ssa_wire_fail(error, SSA_WIRE_ERROR_KEY,
				     "a manifest without signature, one by our key is expected");
	if (key) {
		make_mac(key, data, covered, mac);
		if (!is_equal(mac, data + covered, MAC_OCTETS))
			return ssa_wire_fail(error, SSA_WIRE_ERROR_KEY,
					     "the manifest is not signed by our key, or is torn");
	}
	make_sum(data, covered - SUM_OCTETS, sum);
	if (!is_equal(sum, data + covered - SUM_OCTETS, SUM_OCTETS))
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
				     "a manifest with a wrong sum: it is torn");
	return true;
}

bool ssa_listed_check(const struct ssa_listed *listed, GError **error)
{
	uint32_t row_size = ssa_table_row_size(listed->id);

	if (listed->row_size == 0 || listed->row_size > SSA_CHUNK_RAW ||
	    (row_size && listed->row_size != row_size))
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
				     "rows of %u octets, %u are expected", listed->row_size,
				     row_size);
	if (listed->rows > SSA_TABLE_MAX || listed->rows * listed->row_size > SSA_TABLE_MAX)
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
				     "%" G_GUINT64_FORMAT " rows of %u octets, at most %u octets "
				     "are expected",
				     listed->rows, listed->row_size, SSA_TABLE_MAX);
	return true;
}

static bool parse_entry(const uint8_t *at, struct ssa_listed *listed, GError **error)
{
	static const uint8_t none[SSA_NAME_OCTETS];
	struct entry entry;

	memcpy(&entry, at, sizeof(entry));
	*listed = (struct ssa_listed){
		.id = ssa_16(entry.id),
		.row_size = ssa_32(entry.row_size),
		.rows = ssa_64(entry.rows),
		.epoch = ssa_64(entry.epoch),
		.hash = {ssa_64(entry.hash[0]), ssa_64(entry.hash[1])},
	};
	if (!ssa_table_name(listed->id)) /* of a later minor version */
		return true;
	if (!ssa_listed_check(listed, error))
		return false;
	if (!listed->rows != !memcmp(entry.list, none, sizeof(none)))
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
				     "%" G_GUINT64_FORMAT " rows, and %s chunk list", listed->rows,
				     listed->rows ? "no" : "a");
	if (listed->rows)
		ssa_name_print(entry.list, listed->list);
	return true;
}

static bool parse_entries(const uint8_t *at, unsigned int n, struct ssa_manifest *manifest,
			  GError **error)
{
	int last = -1;

	for (unsigned int i = 0; i < n; i++, at += sizeof(struct entry)) {
		struct ssa_listed listed;

		if (!parse_entry(at, &listed, error)) {
			g_prefix_error(error, "table %s: ", ssa_table_name(listed.id));
			return false;
		}
		if (listed.id <= last)
			return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
					     "a manifest with table %u after table %d", listed.id,
					     last);
		last = listed.id;
		if (ssa_table_name(listed.id))
			manifest->tables[manifest->n++] = listed;
	}
	return true;
}

bool ssa_manifest_parse(GBytes *bytes, GBytes *key, struct ssa_manifest *manifest, GError **error)
{
	size_t length;
	const uint8_t *data = g_bytes_get_data(bytes, &length);
	struct ssa_manifest parsed;
	struct head head;

	if (key && g_bytes_get_size(key) < SSA_KEY_MIN)
		return ssa_wire_fail(error, SSA_WIRE_ERROR_KEY,
				     "a key of %zu octets, at least %u are expected",
				     g_bytes_get_size(key), SSA_KEY_MIN);
	if (length < sizeof(head) || memcmp(data, MAGIC, sizeof(head.magic)))
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
				     "%zu octets do not begin as a manifest does", length);
	memcpy(&head, data, sizeof(head));
	if (ssa_16(head.major) != SSA_MAJOR)
		return ssa_wire_fail(error, SSA_WIRE_ERROR_VERSION,
				     "a manifest of format %u.%u, %u.x is expected",
				     ssa_16(head.major), ssa_16(head.minor), SSA_MAJOR);
	if (!check_head(&head, length, error) ||
	    !check_sums(data, length, ssa_16(head.flags) & SIGNED, key, error))
		return false;
	parsed = (struct ssa_manifest){
		.prefix = ssa_64(head.prefix),
		.term = ssa_64(head.term),
		.epoch = ssa_64(head.epoch),
		.time_us = ssa_64(head.time_us),
		.sm_guid = ssa_64(head.sm_guid),
		.authenticated = key != NULL,
	};
	if (!parse_entries(data + sizeof(head), ssa_16(head.n), &parsed, error))
		return false;
	*manifest = parsed;
	return true;
}

static int compare_64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int ssa_manifest_compare(const struct ssa_manifest *a, const struct ssa_manifest *b)
{
	int order = compare_64(a->term, b->term);

	return order ? order : compare_64(a->epoch, b->epoch);
}
