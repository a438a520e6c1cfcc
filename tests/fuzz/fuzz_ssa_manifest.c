// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Manifests, lists and chunks out of a store that others write: nothing of them leads
 * out of a buffer, or to a snapshot that has not been checked.
 *
 * The first octet of the input says what the rest is: a manifest; one whose sum is made right,
 * which is joined from a store of correct chunks; the list of a table; a chunk of a table.
 */
#include "ssa/wire/wire.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/ssa_tables.h"

#define LIMIT (1u << 20) /* octets of a snapshot */

enum what { RAW, WITH_SUM, LIST, CHUNK, N_WHAT };

struct bed {
	struct ssa_made made;
	struct ssa_manifest manifest;
	GHashTable *chunks;   /* GBytes by name */
	GBytes *key, *forged; /* forged: the chunk of the input */
	char forged_name[SSA_NAME_LENGTH + 1];
	struct ssa_wanted whole, host;
};

static bool put(void *arg, const char *name, GBytes *frame, GError **error)
{
	struct bed *bed = arg;

	(void)error;
	g_hash_table_insert(bed->chunks, g_strdup(name), g_bytes_ref(frame));
	return true;
}

static GBytes *get(void *arg, const char *name, GError **error)
{
	struct bed *bed = arg;
	GBytes *frame = g_hash_table_lookup(bed->chunks, name);

	fuzz_expect(ssa_chunk_is_name(name));
	if (bed->forged && !strcmp(name, bed->forged_name))
		frame = bed->forged;
	if (!frame)
		g_set_error(error, SSA_WIRE_ERROR, SSA_WIRE_ERROR_BROKEN, "no chunk %s", name);
	return frame ? g_bytes_ref(frame) : NULL;
}

static void add(GPtrArray *seeds, uint8_t what, GBytes *bytes)
{
	GByteArray *seed = g_byte_array_new();

	g_byte_array_append(seed, &what, 1);
	g_byte_array_append(seed, g_bytes_get_data(bytes, NULL), (guint)g_bytes_get_size(bytes));
	g_ptr_array_add(seeds, g_byte_array_free_to_bytes(seed));
}

/* What the first chunk of a table has, and its list. */
static void add_table(struct bed *bed, GPtrArray *seeds, const struct ssa_listed *listed)
{
	uint8_t head[] = {LIST, (uint8_t)(listed - bed->manifest.tables)};
	g_autoptr(GBytes) list = NULL;
	GByteArray *seed;

	if (!listed->rows)
		return;
	list = ssa_chunk_unpack(g_hash_table_lookup(bed->chunks, listed->list), listed->list, LIMIT,
				NULL);
	fuzz_expect(list);
	seed = g_byte_array_new();
	g_byte_array_append(seed, head, sizeof(head));
	g_byte_array_append(seed, g_bytes_get_data(list, NULL), (guint)g_bytes_get_size(list));
	g_ptr_array_add(seeds, g_byte_array_free_to_bytes(seed));
	add(seeds, CHUNK, g_hash_table_lookup(bed->chunks, listed->list));
}

static void *setup(GPtrArray *seeds)
{
	static const struct ssa_size size = {.leaves = 3,
					     .spines = 2,
					     .hosts = 3,
					     .lmc = 1,
					     .classes = 2,
					     .addresses = 3,
					     .lanes = true};
	static const char key[] = "0123456789abcdef";
	struct bed *bed = g_new0(struct bed, 1);
	g_autoptr(GBytes) plain = NULL, with_mac = NULL;

	ssa_tables_make(&bed->made, &size, 1);
	bed->chunks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
					    (GDestroyNotify)g_bytes_unref);
	bed->key = g_bytes_new_static(key, sizeof(key) - 1);
	bed->whole = (struct ssa_wanted){.whole = true, .limit = LIMIT};
	bed->host = (struct ssa_wanted){.guids = {ssa_tables_guid(4)}, .limit = LIMIT};
	fuzz_expect(ssa_wire_cut(&bed->made, NULL, put, bed, &bed->manifest, NULL));
	plain = ssa_manifest_encode(&bed->manifest, NULL);
	with_mac = ssa_manifest_encode(&bed->manifest, bed->key);
	add(seeds, RAW, plain);
	add(seeds, RAW, with_mac);
	add(seeds, WITH_SUM, plain);
	for (unsigned int i = 0; i < bed->manifest.n; i++)
		add_table(bed, seeds, &bed->manifest.tables[i]);
	return bed;
}

/* ---- runs ---- */

static void join(struct bed *bed, const struct ssa_manifest *manifest)
{
	const struct ssa_wanted *wanted[] = {&bed->whole, &bed->host};

	for (unsigned int i = 0; i < G_N_ELEMENTS(wanted); i++) {
		g_autoptr(GError) error = NULL;
		struct ssa_snapshot *snapshot =
			ssa_wire_join(manifest, NULL, wanted[i], get, bed, &error);

		fuzz_expect(!snapshot == (error != NULL));
		if (snapshot) {
			fuzz_expect(snapshot->epoch == manifest->epoch);
			fuzz_expect(g_bytes_get_size(snapshot->bytes) <=
				    LIMIT + SSA_TABLE_END * SSA_PAGE);
		}
		ssa_snapshot_unref(snapshot);
	}
}

/* What is accepted means what it says: written again, it is read again. */
static void run_manifest(struct bed *bed, GBytes *bytes, GBytes *key)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) again = NULL;
	struct ssa_manifest manifest, read;

	if (!ssa_manifest_parse(bytes, key, &manifest, &error)) {
		fuzz_expect(error);
		return;
	}
	fuzz_expect(manifest.authenticated == (key != NULL));
	again = ssa_manifest_encode(&manifest, key);
	fuzz_expect(ssa_manifest_parse(again, key, &read, NULL));
	fuzz_expect(read.n == manifest.n && ssa_manifest_compare(&read, &manifest) == 0);
	join(bed, &manifest);
}

/* Flag 0: not signed, so that the sum is the last that counts. */
static GBytes *make_sum(const uint8_t *data, size_t size)
{
	uint8_t *copy = g_malloc0(MAX(size, 1));
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	uint8_t digest[32];
	gsize n = sizeof(digest);

	fuzz_take(&(struct fuzz_bytes){data, size}, copy, size);
	if (size >= 16) {
		g_checksum_update(sum, copy, (gssize)size - 16);
		g_checksum_get_digest(sum, digest, &n);
		memcpy(copy + size - 16, digest, 16);
	}
	return g_bytes_new_take(copy, size);
}

/* That chunk in place of the list of a table, as if the manifest had named it. */
static void run_list(struct bed *bed, const uint8_t *data, size_t size)
{
	struct ssa_manifest manifest = bed->manifest;
	struct ssa_listed *listed = &manifest.tables[size ? data[0] % manifest.n : 0];

	if (size) {
		data++;
		size--;
	}
	bed->forged = ssa_chunk_pack(data, size, bed->forged_name);
	strcpy(listed->list, bed->forged_name);
	listed->rows = MAX(listed->rows, 1);
	join(bed, &manifest);
	g_clear_pointer(&bed->forged, g_bytes_unref);
}

static void run_chunk(const uint8_t *data, size_t size)
{
	g_autoptr(GBytes) frame = g_bytes_new(data, size), octets = NULL;
	g_autofree char *sum = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, frame);
	g_autoptr(GError) error = NULL;

	sum[SSA_NAME_LENGTH] = '\0';
	octets = ssa_chunk_unpack(frame, sum, LIMIT, &error);
	fuzz_expect(octets ? g_bytes_get_size(octets) <= LIMIT : error != NULL);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct bed *bed = state;
	g_autoptr(GBytes) bytes = NULL;

	if (!size)
		return;
	data++;
	size--;
	switch (data[-1] % N_WHAT) {
	case RAW:
		bytes = g_bytes_new(data, size);
		run_manifest(bed, bytes, NULL);
		run_manifest(bed, bytes, bed->key);
		return;
	case WITH_SUM:
		bytes = make_sum(data, size);
		run_manifest(bed, bytes, NULL);
		return;
	case LIST:
		run_list(bed, data, size);
		return;
	default:
		run_chunk(data, size);
	}
}

static void teardown(void *state)
{
	struct bed *bed = state;

	ssa_made_clear(&bed->made);
	g_hash_table_unref(bed->chunks);
	g_bytes_unref(bed->key);
	g_free(bed);
}

const struct fuzz_target fuzz_target = {
	.name = "ssa_manifest",
	.max_size = SSA_MANIFEST_MAX + 64,
	.runs = 6000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
