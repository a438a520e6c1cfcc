// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Epochs that are cut into chunks and joined again, from good stores and bad ones. */
#include <check.h>
#include <string.h>

#include "ssa/wire/wire.h"
#include "tests/run_suite.h"
#include "tests/unit/ssa_tables.h"

static const struct ssa_size small = {
	.leaves = 70, .spines = 9, .hosts = 8, .classes = 4, .addresses = 600, .lanes = true};

/* ---- a store in memory ---- */

struct kept {
	GHashTable *chunks; /* GBytes by name */
	unsigned int puts, gets;
	size_t octets_put, octets_got;
	const char *absent; /* a chunk that cannot be had; NULL: none */
	GHashTable *got;    /* the names that were asked for */
};

static void kept_init(struct kept *kept)
{
	*kept = (struct kept){
		.chunks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
						(GDestroyNotify)g_bytes_unref),
		.got = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	};
}

static void kept_clear(struct kept *kept)
{
	g_hash_table_unref(kept->chunks);
	g_hash_table_unref(kept->got);
}

/* Counts from here. */
static void kept_begin(struct kept *kept)
{
	kept->puts = kept->gets = 0;
	kept->octets_put = kept->octets_got = 0;
	g_hash_table_remove_all(kept->got);
}

static bool put(void *arg, const char *name, GBytes *frame, GError **error)
{
	struct kept *kept = arg;

	(void)error;
	ck_assert(ssa_chunk_is_name(name));
	if (g_hash_table_contains(kept->chunks, name))
		return true;
	kept->puts++;
	kept->octets_put += g_bytes_get_size(frame);
	g_hash_table_insert(kept->chunks, g_strdup(name), g_bytes_ref(frame));
	return true;
}

static GBytes *get(void *arg, const char *name, GError **error)
{
	struct kept *kept = arg;
	GBytes *frame = g_hash_table_lookup(kept->chunks, name);

	if (!frame || (kept->absent && !strcmp(kept->absent, name))) {
		g_set_error(error, SSA_WIRE_ERROR, SSA_WIRE_ERROR_BROKEN, "no chunk %s", name);
		return NULL;
	}
	kept->gets++;
	kept->octets_got += g_bytes_get_size(frame);
	g_hash_table_add(kept->got, g_strdup(name));
	return g_bytes_ref(frame);
}

static void cut(struct kept *kept, const struct ssa_made *made, const struct ssa_manifest *before,
		struct ssa_manifest *manifest)
{
	g_autoptr(GError) error = NULL;
	bool done = ssa_wire_cut(made, before, put, kept, manifest, &error);

	ck_assert_msg(done, "%s", error ? error->message : "no error");
}

static struct ssa_snapshot *join(struct kept *kept, const struct ssa_manifest *manifest,
				 const struct ssa_snapshot *before, const struct ssa_wanted *wanted)
{
	g_autoptr(GError) error = NULL;
	struct ssa_snapshot *snapshot = ssa_wire_join(manifest, before, wanted, get, kept, &error);

	ck_assert_msg(snapshot, "%s", error ? error->message : "no error");
	return snapshot;
}

/* That it fails, and says so with that text. */
static void join_fails(struct kept *kept, const struct ssa_manifest *manifest,
		       const struct ssa_wanted *wanted, const char *text)
{
	g_autoptr(GError) error = NULL;
	struct ssa_snapshot *snapshot = ssa_wire_join(manifest, NULL, wanted, get, kept, &error);

	ck_assert_ptr_null(snapshot);
	ck_assert(error);
	ck_assert_msg(strstr(error->message, text), "expected \"%s\" in \"%s\"", text,
		      error->message);
}

static struct ssa_listed *listed(struct ssa_manifest *manifest, unsigned int id)
{
	for (unsigned int i = 0; i < manifest->n; i++)
		if (manifest->tables[i].id == id)
			return &manifest->tables[i];
	ck_abort_msg("no table %u", id);
}

static const struct ssa_wanted whole = {.whole = true};

/* ---- epochs ---- */

struct bed {
	struct ssa_made made;
	struct kept kept;
	struct ssa_manifest manifest;
};

static void bed_init(struct bed *bed, const struct ssa_size *size)
{
	ssa_tables_make(&bed->made, size, 1);
	kept_init(&bed->kept);
	cut(&bed->kept, &bed->made, NULL, &bed->manifest);
	for (unsigned int id = 1; id < SSA_TABLE_END; id++)
		ssa_rows_hash(&bed->made.rows[id]);
	ck_assert_uint_eq(g_hash_table_size(bed->kept.chunks), bed->kept.puts);
}

static void bed_clear(struct bed *bed)
{
	ssa_made_clear(&bed->made);
	kept_clear(&bed->kept);
}

/* The next epoch, in which one octet of a table is another. */
static void bed_change(struct bed *bed, enum ssa_table_id id, size_t at)
{
	gsize length;
	uint8_t *data = g_bytes_unref_to_data(g_steal_pointer(&bed->made.rows[id].bytes), &length);

	ck_assert_uint_lt(at, length);
	data[at] ^= 1;
	ssa_tables_replace(&bed->made, id, g_bytes_new_take(data, length));
	bed->made.epoch++;
}

static bool is_there(const struct ssa_snapshot *snapshot, enum ssa_table_id id, uint64_t row)
{
	return ssa_snapshot_row(snapshot, id, row) != NULL;
}

/* The octets of a list: names, lengths, rows. */
static GBytes *list_of(struct bed *bed, unsigned int id)
{
	const char *name = listed(&bed->manifest, id)->list;
	GBytes *list = ssa_chunk_unpack(g_hash_table_lookup(bed->kept.chunks, name), name,
					SSA_CHUNK_MAX, NULL);

	ck_assert(list && g_bytes_get_size(list) % 24 == 0);
	return list;
}

/* Where tables are cut is part of the format: else two SMs share no chunks. */
START_TEST(places_of_cuts)
{
	const struct {
		unsigned int id, n;
		const char *sum; /* of the numbers of rows */
	} expected[] = {
		{SSA_NAMES, 15, "93d7d894"},   {SSA_DESCRIPTIONS, 15, "6d085b65"},
		{SSA_ENDPORTS, 7, "98cc7911"}, {SSA_PATHS, 3, "fc2c9fc0"},
		{SSA_LANES, 5, "98fa6308"},    {SSA_REACH, 14, "66bd4a38"},
	};
	struct ssa_size size = small;
	struct bed bed;

	size.hosts = 100;
	size.addresses = 5000;
	bed_init(&bed, &size);
	for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
		g_autoptr(GBytes) list = list_of(&bed, expected[i].id);
		size_t n = g_bytes_get_size(list) / 24;
		const uint8_t *rows = (const uint8_t *)g_bytes_get_data(list, NULL) + 20 * n;
		g_autofree char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, rows, 4 * n);

		sum[8] = '\0';
		ck_assert_msg(n == expected[i].n && !strcmp(sum, expected[i].sum),
			      "%s: {%u, \"%s\"}", ssa_table_name(expected[i].id), (unsigned int)n,
			      sum);
	}
	bed_clear(&bed);
}
END_TEST

/* In a chunk, rows of at most 128 octets stand column by column, longer ones one after the other.
 */
START_TEST(turned_rows)
{
	struct bed bed;
	const unsigned int ids[] = {SSA_ENDPORTS, SSA_PATHS, SSA_NAMES, SSA_SUBNET,
				    SSA_DESCRIPTIONS};

	bed_init(&bed, &small);
	for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
		g_autoptr(GBytes) list = list_of(&bed, ids[i]);
		size_t n = g_bytes_get_size(list) / 24;
		const uint8_t *start = g_bytes_get_data(list, NULL);
		size_t size = bed.made.rows[ids[i]].row_size;
		size_t rows = start[20 * n] | (size_t)start[20 * n + 1] << 8;
		const uint8_t *whole_rows = g_bytes_get_data(bed.made.rows[ids[i]].bytes, NULL);
		char name[SSA_NAME_LENGTH + 1];
		g_autoptr(GBytes) chunk = NULL;
		const uint8_t *octets;

		for (unsigned int k = 0; k < 16; k++)
			g_snprintf(name + 2 * k, 3, "%02x", start[k]);
		chunk = ssa_chunk_unpack(g_hash_table_lookup(bed.kept.chunks, name), name,
					 SSA_CHUNK_MAX, NULL);
		ck_assert(chunk && g_bytes_get_size(chunk) == rows * size);
		octets = g_bytes_get_data(chunk, NULL);
		for (size_t k = 0; k < rows * size; k++)
			ck_assert_uint_eq(octets[k],
					  size <= 128 ? whole_rows[k % rows * size + k / rows]
						      : whole_rows[k]);
	}
	bed_clear(&bed);
}
END_TEST

/* Contexts that were used for other tables before do not change a frame. */
START_TEST(tables_alone)
{
	struct bed bed;

	bed_init(&bed, &small);
	kept_begin(&bed.kept);
	for (unsigned int id = SSA_TABLE_END - 1; id > 0; id--) {
		struct ssa_made alone = bed.made;
		struct ssa_manifest manifest;

		if (!alone.rows[id].bytes)
			continue;
		for (unsigned int other = 0; other < SSA_TABLE_END; other++)
			if (other != id)
				alone.rows[other].bytes = NULL;
		cut(&bed.kept, &alone, NULL, &manifest);
		ck_assert_uint_eq(manifest.n, 1);
		ck_assert_str_eq(manifest.tables[0].list, listed(&bed.manifest, id)->list);
	}
	ck_assert_uint_eq(bed.kept.puts, 0);
	bed_clear(&bed);
}
END_TEST

/* Octet for octet what the core has. */
START_TEST(whole_epoch)
{
	struct bed bed;
	struct ssa_snapshot *snapshot;
	g_autoptr(GBytes) bytes = NULL;

	bed_init(&bed, &small);
	snapshot = join(&bed.kept, &bed.manifest, NULL, &whole);
	bytes = ssa_made_bytes(&bed.made);
	ck_assert(g_bytes_equal(bytes, snapshot->bytes));
	ck_assert_uint_eq(bed.kept.gets, bed.kept.puts);
	ssa_snapshot_unref(snapshot);
	bed_clear(&bed);
}
END_TEST

/* Rows of the host's own switch and of its LIDs, and nothing else of these tables. */
START_TEST(host_epoch)
{
	struct ssa_size size = small;
	struct bed bed;
	struct ssa_wanted wanted = {0};
	struct ssa_snapshot *snapshot, *all;
	uint32_t host = 33 * size.hosts + 3, lid;

	size.lmc = 2;
	bed_init(&bed, &size);
	lid = ssa_tables_lid(&size, host);
	wanted.guids[0] = ssa_tables_guid(host);
	all = join(&bed.kept, &bed.manifest, NULL, &whole);
	kept_begin(&bed.kept);
	snapshot = join(&bed.kept, &bed.manifest, NULL, &wanted);
	for (unsigned int id = 1; id < SSA_TABLE_END; id++)
		for (uint64_t row = 0; row < all->tables[id].rows; row++) {
			const void *here = ssa_snapshot_row(snapshot, id, row);
			bool needed = id == SSA_REACH ? row >= lid && row < lid + 4u
				      : id == SSA_PATHS || id == SSA_LANES
					      ? row == 33
					      : id < SSA_NAMES || id > SSA_IPV6;

			ck_assert_msg(!here == !needed, "%s, row %u", ssa_table_name(id),
				      (unsigned int)row);
			if (here)
				ck_assert_mem_eq(here, ssa_snapshot_row(all, id, row),
						 all->tables[id].row_size);
		}
	ck_assert_uint_lt(bed.kept.gets, g_hash_table_size(bed.kept.chunks));
	ssa_snapshot_unref(snapshot);
	wanted.addresses = true;
	snapshot = join(&bed.kept, &bed.manifest, NULL, &wanted);
	ck_assert(is_there(snapshot, SSA_NAMES, 0) && is_there(snapshot, SSA_IPV6, 599));
	ssa_snapshot_unref(snapshot);
	ssa_snapshot_unref(all);
	bed_clear(&bed);
}
END_TEST

static uint64_t rows_here(const struct ssa_snapshot *snapshot, enum ssa_table_id id)
{
	uint64_t rows = 0;

	for (unsigned int i = 0; i < snapshot->tables[id].n_parts; i++)
		rows += snapshot->tables[id].parts[i].here;
	return rows;
}

/* All ports of a host; a port that is not there. */
START_TEST(host_ports)
{
	struct bed bed;
	struct ssa_wanted wanted = {.guids = {ssa_tables_guid(9), 0xBAD, ssa_tables_guid(30)}};
	struct ssa_wanted unknown = {.guids = {0xBAD}}, none = {0};
	struct ssa_snapshot *snapshot;

	bed_init(&bed, &small);
	snapshot = join(&bed.kept, &bed.manifest, NULL, &wanted);
	ck_assert(is_there(snapshot, SSA_PATHS, 1) && is_there(snapshot, SSA_PATHS, 3));
	ck_assert_uint_eq(rows_here(snapshot, SSA_PATHS), 2);
	ck_assert_uint_eq(rows_here(snapshot, SSA_LANES), 2);
	ck_assert(is_there(snapshot, SSA_REACH, ssa_tables_lid(&small, 9)));
	ck_assert(is_there(snapshot, SSA_REACH, ssa_tables_lid(&small, 30)));
	ck_assert_uint_eq(rows_here(snapshot, SSA_REACH), 2);
	ssa_snapshot_unref(snapshot);
	snapshot = join(&bed.kept, &bed.manifest, NULL, &unknown);
	ck_assert_uint_eq(snapshot->tables[SSA_PATHS].rows, small.leaves);
	ck_assert_uint_eq(rows_here(snapshot, SSA_PATHS), 0);
	ssa_snapshot_unref(snapshot);
	snapshot = join(&bed.kept, &bed.manifest, NULL, &none);
	ck_assert_uint_eq(rows_here(snapshot, SSA_REACH), 0);
	ssa_snapshot_unref(snapshot);
	bed_clear(&bed);
}
END_TEST

/* Gives the leaves other rows of PATHS and LANES: n to n * step, modulo the leaves. */
static void turn_rows(struct ssa_made *made, uint32_t leaves, uint32_t step)
{
	gsize length;
	struct ssa_switch *switches =
		g_bytes_unref_to_data(g_steal_pointer(&made->rows[SSA_SWITCHES].bytes), &length);

	for (uint32_t i = 0; i < leaves; i++)
		switches[i].row = ssa_32(i * step % leaves);
	ssa_tables_replace(made, SSA_SWITCHES, g_bytes_new_take(switches, length));
	made->epoch++;
}

/*
 * Eight ports on switches apart, beside each other, and on one; their rows in the order of GUIDs,
 * or in any other.
 */
START_TEST(host_of_eight_ports)
{
	static const uint32_t hosts[][8] = {
		{400, 8, 300, 100, 550, 200, 40, 500},
		{8, 16, 24, 32, 40, 48, 56, 64},
		{0, 1, 2, 3, 4, 5, 6, 7},
		{559, 0, 551, 8, 543, 16, 535, 24},
		{300, 308, 316, 0, 1, 2, 324, 559},
	};
	struct ssa_wanted wanted = {0};
	struct ssa_snapshot *all, *here, *again;
	bool rows[70] = {false};
	uint64_t n = 0;
	const uint32_t steps[] = {1, 69, 27, 33}, step = steps[_i / G_N_ELEMENTS(hosts)];
	struct ssa_manifest first;
	struct bed bed;

	bed_init(&bed, &small);
	first = bed.manifest;
	turn_rows(&bed.made, small.leaves, step);
	cut(&bed.kept, &bed.made, &first, &bed.manifest);
	for (unsigned int i = 0; i < 8; i++) {
		uint32_t host = hosts[_i % G_N_ELEMENTS(hosts)][i];

		wanted.guids[i] = ssa_tables_guid(host);
		rows[host / small.hosts * step % small.leaves] = true;
	}
	all = join(&bed.kept, &bed.manifest, NULL, &whole);
	kept_begin(&bed.kept);
	here = join(&bed.kept, &bed.manifest, NULL, &wanted);
	ck_assert_uint_eq(bed.kept.gets, g_hash_table_size(bed.kept.got)); /* no chunk twice */
	for (unsigned int row = 0; row < small.leaves; row++) {
		n += rows[row];
		ck_assert(rows[row] == is_there(here, SSA_PATHS, row));
		if (rows[row])
			ck_assert_mem_eq(ssa_snapshot_row(here, SSA_PATHS, row),
					 ssa_snapshot_row(all, SSA_PATHS, row),
					 all->tables[SSA_PATHS].row_size);
	}
	ck_assert_uint_eq(rows_here(here, SSA_PATHS), n);
	ck_assert_uint_eq(rows_here(here, SSA_REACH), 8);
	for (unsigned int i = 0; i < 8; i++) {
		uint16_t lid = ssa_tables_lid(&small, hosts[_i % G_N_ELEMENTS(hosts)][i]);

		ck_assert_mem_eq(ssa_snapshot_row(here, SSA_REACH, lid),
				 ssa_snapshot_row(all, SSA_REACH, lid),
				 all->tables[SSA_REACH].row_size);
	}
	kept_begin(&bed.kept);
	again = join(&bed.kept, &bed.manifest, here, &wanted);
	ck_assert_uint_eq(bed.kept.gets, 0);
	ck_assert(g_bytes_equal(again->bytes, here->bytes));
	ssa_snapshot_unref(again);
	again = join(&bed.kept, &bed.manifest, all, &wanted);
	ck_assert(g_bytes_equal(again->bytes, here->bytes));
	ssa_snapshot_unref(again);
	ssa_snapshot_unref(here);
	ssa_snapshot_unref(all);
	bed_clear(&bed);
}
END_TEST

static void open_fails(const struct ssa_made *made, const char *text)
{
	g_autoptr(GBytes) bytes = ssa_made_bytes(made);
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(ssa_snapshot_open(bytes, &error));
	ck_assert(error);
	ck_assert_msg(strstr(error->message, text), "expected \"%s\" in \"%s\"", text,
		      error->message);
}

/* Rows that stand twice, or not in their order; a table of two parts that must be whole. */
START_TEST(wrong_parts)
{
	struct ssa_made made;
	struct ssa_rows *paths = &made.rows[SSA_PATHS], *ports = &made.rows[SSA_ENDPORTS];
	g_autoptr(GBytes) bytes = NULL;

	ssa_tables_make(&made, &small, 1);
	ssa_tables_replace(&made, SSA_PATHS,
			   g_bytes_new_from_bytes(paths->bytes, 0, 2 * paths->row_size));
	paths->rows = small.leaves;
	paths->first = 10;
	paths->more[0].bytes = g_bytes_ref(paths->bytes);
	paths->more[0].first = 12;
	bytes = ssa_made_bytes(&made);
	{
		struct ssa_snapshot *snapshot = ssa_snapshot_open(bytes, NULL);

		ck_assert(snapshot && rows_here(snapshot, SSA_PATHS) == 4);
		ck_assert(is_there(snapshot, SSA_PATHS, 13) && !is_there(snapshot, SSA_PATHS, 14));
		ssa_snapshot_unref(snapshot);
	}
	paths->more[0].first = 11;
	open_fails(&made, "PATHS: row 11 ");
	paths->more[0].first = 2;
	open_fails(&made, "PATHS: row 2 ");
	paths->more[0].first = small.leaves - 1;
	open_fails(&made, "PATHS: rows 69 ");
	paths->more[0].first = UINT64_MAX;
	open_fails(&made, "PATHS: rows ");
	paths->more[0].first = 12;
	ports->more[0].bytes = g_bytes_ref(ports->bytes);
	ports->more[0].first = ports->rows;
	open_fails(&made, "ENDPORTS: ");
	ssa_made_clear(&made);
}
END_TEST

/* An epoch in which nothing, or one table, changed costs nothing else. */
START_TEST(next_epoch)
{
	struct ssa_wanted wanted = {.guids = {ssa_tables_guid(9)}, .addresses = true};
	struct ssa_manifest next;
	struct ssa_snapshot *host, *after, *all;
	g_autoptr(GBytes) bytes = NULL;
	struct bed bed;

	bed_init(&bed, &small);
	host = join(&bed.kept, &bed.manifest, NULL, &wanted);
	all = join(&bed.kept, &bed.manifest, NULL, &whole);
	kept_begin(&bed.kept);
	bed.made.epoch++;
	cut(&bed.kept, &bed.made, &bed.manifest, &next);
	ck_assert_uint_eq(bed.kept.puts, 0);
	ck_assert_uint_eq(next.epoch, 2);
	ck_assert_uint_eq(listed(&next, SSA_PATHS)->epoch, 1);
	bed_change(&bed, SSA_PATHS, 60 * bed.made.rows[SSA_PATHS].row_size);
	cut(&bed.kept, &bed.made, &next, &bed.manifest);
	ck_assert_uint_eq(bed.kept.puts, 2); /* the chunk and the list */
	ck_assert_uint_eq(listed(&bed.manifest, SSA_PATHS)->epoch, 3);
	ck_assert_uint_eq(listed(&bed.manifest, SSA_REACH)->epoch, 1);
	after = join(&bed.kept, &bed.manifest, host, &wanted);
	ck_assert_uint_eq(bed.kept.gets, 2);
	ck_assert_uint_eq(after->epoch, 3);
	ck_assert_uint_eq(after->tables[SSA_REACH].epoch, 1);
	ck_assert(is_there(after, SSA_NAMES, 3));
	ssa_snapshot_unref(after);
	/* The whole of it, from a whole one before and from a host's. */
	ssa_rows_hash(&bed.made.rows[SSA_PATHS]);
	bed.made.rows[SSA_PATHS].epoch = 3;
	bytes = ssa_made_bytes(&bed.made);
	after = join(&bed.kept, &bed.manifest, all, &whole);
	ck_assert(g_bytes_equal(bytes, after->bytes));
	ssa_snapshot_unref(after);
	after = join(&bed.kept, &bed.manifest, host, &whole);
	ck_assert(g_bytes_equal(bytes, after->bytes));
	ssa_snapshot_unref(after);
	ssa_snapshot_unref(host);
	ssa_snapshot_unref(all);
	bed_clear(&bed);
}
END_TEST

static struct ssa_snapshot *join_frames(struct ssa_frames *frames,
					const struct ssa_manifest *manifest,
					const struct ssa_wanted *wanted)
{
	g_autoptr(GError) error = NULL;
	struct ssa_snapshot *snapshot =
		ssa_wire_join(manifest, NULL, wanted, ssa_frames_get, frames, &error);

	ck_assert_msg(snapshot, "%s", error ? error->message : "no error");
	ssa_frames_turn(frames);
	return snapshot;
}

/* One row of a table that is fetched as a whole: its chunk and its list are asked for, no others.
 */
START_TEST(frames_kept)
{
	struct ssa_wanted wanted = {.guids = {ssa_tables_guid(9)}};
	struct ssa_frames *frames;
	struct ssa_manifest next;
	struct ssa_size size = small;
	struct bed bed;

	size.hosts = 100; /* several chunks of ENDPORTS */
	bed_init(&bed, &size);
	frames = ssa_frames_new(get, &bed.kept);
	ssa_snapshot_unref(join_frames(frames, &bed.manifest, &wanted));
	bed_change(&bed, SSA_ENDPORTS, 3500 * sizeof(struct ssa_endport) + 28);
	kept_begin(&bed.kept);
	cut(&bed.kept, &bed.made, &bed.manifest, &next);
	ck_assert_uint_le(bed.kept.puts, 4);
	for (unsigned int i = 0; i < 2; i++)
		ssa_snapshot_unref(join_frames(frames, &next, &wanted));
	ck_assert_uint_eq(bed.kept.gets, bed.kept.puts);
	/* What the last one did not use is gone. */
	ssa_snapshot_unref(join_frames(frames, &bed.manifest, &wanted));
	ck_assert_uint_ge(bed.kept.gets, 2 * bed.kept.puts - 1);
	ssa_frames_free(frames);
	bed_clear(&bed);
}
END_TEST

/* What a store had torn is asked for again. */
START_TEST(frames_torn)
{
	struct ssa_frames *frames;
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) good = NULL;
	const char *name;
	struct bed bed;

	bed_init(&bed, &small);
	frames = ssa_frames_new(get, &bed.kept);
	name = listed(&bed.manifest, SSA_REACH)->list;
	good = g_bytes_ref(g_hash_table_lookup(bed.kept.chunks, name));
	g_hash_table_insert(bed.kept.chunks, g_strdup(name), g_bytes_new("torn", 4));
	ck_assert(!ssa_wire_join(&bed.manifest, NULL, &whole, ssa_frames_get, frames, &error));
	ck_assert(strstr(error->message, "table REACH: "));
	g_hash_table_insert(bed.kept.chunks, g_strdup(name), g_bytes_ref(good));
	ssa_snapshot_unref(join_frames(frames, &bed.manifest, &whole));
	ssa_frames_free(frames);
	bed_clear(&bed);
}
END_TEST

/* Of another subnet, nothing is kept. */
START_TEST(other_subnet)
{
	struct ssa_wanted wanted = {.guids = {ssa_tables_guid(9)}};
	struct ssa_snapshot *before, *after;
	struct ssa_manifest next;
	struct ssa_subnet *subnet;
	struct bed bed;
	gsize length;

	bed_init(&bed, &small);
	before = join(&bed.kept, &bed.manifest, NULL, &wanted);
	bed.made.prefix++;
	subnet = g_bytes_unref_to_data(g_steal_pointer(&bed.made.rows[SSA_SUBNET].bytes), &length);
	subnet->prefix = ssa_64(bed.made.prefix);
	ssa_tables_replace(&bed.made, SSA_SUBNET, g_bytes_new_take(subnet, length));
	bed.made.epoch = 7;
	cut(&bed.kept, &bed.made, &bed.manifest, &next);
	ck_assert_uint_eq(listed(&next, SSA_PATHS)->epoch, 7);
	kept_begin(&bed.kept);
	after = join(&bed.kept, &next, before, &wanted);
	ck_assert_uint_ge(bed.kept.gets, 20); /* a chunk and a list of each */
	ssa_snapshot_unref(before);
	ssa_snapshot_unref(after);
	bed_clear(&bed);
}
END_TEST

/* A host that comes or goes moves the rows after it, but few of the cuts. */
START_TEST(row_taken_out)
{
	struct ssa_size size = small;
	struct bed bed;
	struct ssa_manifest next;
	gsize length;
	const uint8_t *data;
	size_t gone;

	size.addresses = 20000;
	bed_init(&bed, &size);
	data = g_bytes_get_data(bed.made.rows[SSA_NAMES].bytes, &length);
	gone = length / 2 / 92 * 92;
	{
		GByteArray *rest = g_byte_array_new();

		g_byte_array_append(rest, data, (guint)gone);
		g_byte_array_append(rest, data + gone + 92, (guint)(length - gone - 92));
		ssa_tables_replace(&bed.made, SSA_NAMES, g_byte_array_free_to_bytes(rest));
	}
	bed.made.epoch++;
	kept_begin(&bed.kept);
	cut(&bed.kept, &bed.made, &bed.manifest, &next);
	ck_assert_uint_ge(bed.kept.puts, 2);
	ck_assert_uint_le(bed.kept.puts, 6);
	ck_assert_uint_eq(listed(&next, SSA_NAMES)->rows, 19999);
	bed_clear(&bed);
}
END_TEST

/* All that a store must keep: what was put, no more, also of tables that kept their lists. */
START_TEST(all_names)
{
	g_autoptr(GPtrArray) names = NULL, none = NULL;
	g_autoptr(GError) error = NULL;
	struct ssa_manifest next;
	struct bed bed;

	bed_init(&bed, &small);
	bed.made.epoch++;
	cut(&bed.kept, &bed.made, &bed.manifest, &next);
	kept_begin(&bed.kept);
	names = ssa_wire_names(&next, get, &bed.kept, &error);
	ck_assert(names);
	ck_assert_uint_eq(names->len, g_hash_table_size(bed.kept.chunks));
	for (guint i = 0; i < names->len; i++)
		ck_assert(g_hash_table_contains(bed.kept.chunks, g_ptr_array_index(names, i)));
	ck_assert_uint_lt(bed.kept.gets, next.n);
	bed.kept.absent = listed(&next, SSA_LANES)->list;
	none = ssa_wire_names(&next, get, &bed.kept, &error);
	ck_assert(!none && strstr(error->message, "table LANES: "));
	bed_clear(&bed);
}
END_TEST

static bool refuse_put(void *arg, const char *name, GBytes *frame, GError **error)
{
	unsigned int *left = arg;

	(void)frame;
	if ((*left)--)
		return true;
	g_set_error(error, SSA_WIRE_ERROR, SSA_WIRE_ERROR_BROKEN, "no room for %s", name);
	return false;
}

START_TEST(store_is_full)
{
	struct bed bed;
	unsigned int n;

	bed_init(&bed, &small);
	for (n = 0;; n++) {
		struct ssa_manifest manifest;
		g_autoptr(GError) error = NULL;
		unsigned int left = n;

		if (ssa_wire_cut(&bed.made, NULL, refuse_put, &left, &manifest, &error))
			break;
		ck_assert(error && g_str_has_prefix(error->message, "table "));
		ck_assert(strstr(error->message, ": no room for "));
	}
	ck_assert_uint_ge(n, bed.kept.puts);
	bed_clear(&bed);
}
END_TEST

/* Tables that contradict themselves. */
START_TEST(wrong_tables)
{
	struct ssa_manifest manifest;
	struct bed bed;
	unsigned int left = UINT32_MAX;

	bed_init(&bed, &small);
	for (unsigned int what = 0; what < 4; what++) {
		struct ssa_made made = bed.made;
		g_autoptr(GError) error = NULL;

		made.rows[SSA_PATHS].rows += what == 0;
		made.rows[SSA_PATHS].first = what == 1;
		if (what == 2)
			made.rows[SSA_PATHS].row_size = 0;
		if (what == 3)
			made.rows[SSA_PATHS].rows = UINT64_MAX / 2;
		ck_assert(!ssa_wire_cut(&made, NULL, refuse_put, &left, &manifest, &error));
		ck_assert(g_str_has_prefix(error->message, "table PATHS: "));
	}
	bed_clear(&bed);
}
END_TEST

/* Each chunk in turn is missing, changed in some octet, cut off, or another one. */
START_TEST(bad_store)
{
	struct bed bed;
	GHashTableIter iter;
	gpointer name, frame;
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	uint32_t seed = 1;

	bed_init(&bed, &small);
	g_hash_table_iter_init(&iter, bed.kept.chunks);
	while (g_hash_table_iter_next(&iter, &name, NULL))
		g_ptr_array_add(names, name);
	for (guint i = 0; i < names->len; i++) {
		g_autoptr(GBytes) good = NULL;
		uint8_t *data;
		gsize length;

		name = g_ptr_array_index(names, i);
		bed.kept.absent = name;
		join_fails(&bed.kept, &bed.manifest, &whole, name);
		join_fails(&bed.kept, &bed.manifest, &whole, "table ");
		bed.kept.absent = NULL;
		good = g_bytes_ref(g_hash_table_lookup(bed.kept.chunks, name));
		for (unsigned int what = 0; what < 8; what++) {
			data = g_memdup2(g_bytes_get_data(good, &length), g_bytes_get_size(good));
			seed = seed * 1103515245 + 12345;
			if (what < 6)
				data[seed % length] ^= (uint8_t)(1u << what);
			else
				length = what == 6 ? 0 : seed % length;
			g_hash_table_insert(bed.kept.chunks, g_strdup(name),
					    g_bytes_new_take(data, length));
			join_fails(&bed.kept, &bed.manifest, &whole, "table ");
		}
		frame = g_hash_table_lookup(bed.kept.chunks,
					    g_ptr_array_index(names, (i + 1) % names->len));
		g_hash_table_insert(bed.kept.chunks, g_strdup(name), g_bytes_ref(frame));
		join_fails(&bed.kept, &bed.manifest, &whole, "table ");
		g_hash_table_insert(bed.kept.chunks, g_strdup(name), g_bytes_ref(good));
	}
	ssa_snapshot_unref(join(&bed.kept, &bed.manifest, NULL, &whole));
	bed_clear(&bed);
}
END_TEST

/* Puts a list in place of that of a table: n pieces. */
static void forge_list(struct bed *bed, enum ssa_table_id id, unsigned int n,
		       const uint32_t (*pieces)[2], const char *name)
{
	g_autofree uint8_t *list = g_malloc0(n * 24);
	g_autoptr(GBytes) frame = NULL;

	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int j = 0; j < 16; j++)
			list[i * 16 + j] = (uint8_t)(g_ascii_xdigit_value(name[2 * j]) << 4 |
						     g_ascii_xdigit_value(name[2 * j + 1]));
		for (unsigned int j = 0; j < 4; j++) {
			list[n * 16 + i * 4 + j] = (uint8_t)(pieces[i][0] >> 8 * j);
			list[n * 20 + i * 4 + j] = (uint8_t)(pieces[i][1] >> 8 * j);
		}
	}
	frame = ssa_chunk_pack(list, n * 24, listed(&bed->manifest, id)->list);
	put(&bed->kept, listed(&bed->manifest, id)->list, frame, NULL);
}

/* A store whose owner makes lists and manifests that fit, without a key to stop it. */
START_TEST(forged_lists)
{
	char name[SSA_NAME_LENGTH + 1];
	g_autofree uint8_t *zeros = g_malloc0(SSA_CHUNK_MAX);
	g_autoptr(GBytes) frame = ssa_chunk_pack(zeros, SSA_CHUNK_MAX, name);
	uint32_t length = (uint32_t)g_bytes_get_size(frame), rows = small.leaves;
	const uint32_t none[][2] = {{length, 0}, {length, rows}}, few[][2] = {{length, rows - 1}};
	const uint32_t many[][2] = {{length, rows}, {length, rows}};
	const uint32_t wraps[][2] = {{length, UINT32_MAX}, {length, rows + 1}};
	const uint32_t fits[][2] = {{length, rows}}, wrong[][2] = {{length + 1, rows}};
	const uint32_t padded[][2] = {{SSA_CHUNK_MAX, rows}};
	const struct ssa_wanted host = {.guids = {ssa_tables_guid(9)}};
	struct ssa_listed *paths;
	struct bed bed;

	bed_init(&bed, &small);
	put(&bed.kept, name, frame, NULL);
	paths = listed(&bed.manifest, SSA_PATHS);
	forge_list(&bed, SSA_PATHS, 2, none, name);
	join_fails(&bed.kept, &bed.manifest, &whole, "table PATHS: list ");
	forge_list(&bed, SSA_PATHS, 1, few, name);
	join_fails(&bed.kept, &bed.manifest, &whole, "table PATHS: list ");
	forge_list(&bed, SSA_PATHS, 2, many, name);
	join_fails(&bed.kept, &bed.manifest, &whole, "table PATHS: list ");
	forge_list(&bed, SSA_PATHS, 2, wraps, name);
	join_fails(&bed.kept, &bed.manifest, &whole, "table PATHS: list ");
	forge_list(&bed, SSA_PATHS, 1, wrong, name);
	join_fails(&bed.kept, &bed.manifest, &whole, "table PATHS: chunk ");
	forge_list(&bed, SSA_PATHS, 1, fits, name); /* of other octets than the rows have */
	join_fails(&bed.kept, &bed.manifest, &whole, "table PATHS: chunk ");
	forge_list(&bed, SSA_PATHS, 1, padded, name);
	join_fails(&bed.kept, &bed.manifest, &whole, "table PATHS: list ");
	/* A table of 4 GB out of one chunk: the limit is looked at before anything is fetched. */
	paths->row_size = 1u << 20;
	paths->rows = 4095;
	kept_begin(&bed.kept);
	join_fails(&bed.kept, &bed.manifest, &whole, "table PATHS: ");
	ck_assert(!g_hash_table_contains(bed.kept.got, paths->list));
	/* A host needs less: its limit is lower. */
	listed(&bed.manifest, SSA_PAIRS)->rows = 40u << 20;
	kept_begin(&bed.kept);
	join_fails(&bed.kept, &bed.manifest, &host, "table PAIRS: ");
	ck_assert(!g_hash_table_contains(bed.kept.got, listed(&bed.manifest, SSA_PAIRS)->list));
	bed_clear(&bed);
}
END_TEST

/* The rows are whole and correct, but not what the manifest says. */
START_TEST(wrong_hash)
{
	struct ssa_wanted wanted = {.guids = {ssa_tables_guid(9)}};
	struct bed bed;

	bed_init(&bed, &small);
	listed(&bed.manifest, SSA_VERDICTS)->hash[1]++;
	join_fails(&bed.kept, &bed.manifest, &whole, "table VERDICTS: ");
	join_fails(&bed.kept, &bed.manifest, &wanted, "table VERDICTS: ");
	bed_clear(&bed);
}
END_TEST

START_TEST(limit)
{
	struct ssa_wanted wanted = {.whole = true};
	struct bed bed;
	uint64_t octets = 0;

	bed_init(&bed, &small);
	for (unsigned int i = 0; i < bed.manifest.n; i++)
		octets += bed.manifest.tables[i].rows * bed.manifest.tables[i].row_size;
	wanted.limit = octets;
	ssa_snapshot_unref(join(&bed.kept, &bed.manifest, NULL, &wanted));
	wanted.limit = octets - 1;
	join_fails(&bed.kept, &bed.manifest, &wanted, "table LANES: ");
	bed_clear(&bed);
}
END_TEST

/* Subnets of all kinds: the whole is what the core has, a host's rows are those of the whole. */
START_TEST(random_subnets)
{
	struct ssa_size size = {.leaves = 1 + _i * 7 % 60,
				.spines = _i % 5,
				.hosts = 1 + _i % 9,
				.lmc = _i % 4,
				.classes = 1 + _i % 3,
				.addresses = _i % 4 ? _i * 50 : 0,
				.lanes = _i % 2};
	uint32_t host = _i * 31 % (size.leaves * size.hosts);
	struct ssa_wanted wanted = {.guids = {ssa_tables_guid(host)}, .addresses = _i % 3};
	struct ssa_snapshot *all, *here;
	g_autoptr(GBytes) bytes = NULL;
	struct bed bed;

	bed_init(&bed, &size);
	all = join(&bed.kept, &bed.manifest, NULL, &whole);
	bytes = ssa_made_bytes(&bed.made);
	ck_assert(g_bytes_equal(bytes, all->bytes));
	here = join(&bed.kept, &bed.manifest, _i % 5 ? NULL : all, &wanted);
	ck_assert_uint_eq(rows_here(here, SSA_PATHS), 1);
	ck_assert(is_there(here, SSA_PATHS, host / size.hosts));
	ck_assert_uint_eq(rows_here(here, SSA_REACH), 1u << size.lmc);
	ck_assert(is_there(here, SSA_REACH, ssa_tables_lid(&size, host)));
	for (unsigned int id = 1; id < SSA_TABLE_END; id++)
		for (uint64_t row = 0; row < all->tables[id].rows; row++)
			if (is_there(here, id, row))
				ck_assert_mem_eq(ssa_snapshot_row(here, id, row),
						 ssa_snapshot_row(all, id, row),
						 all->tables[id].row_size);
	ssa_snapshot_unref(here);
	ssa_snapshot_unref(all);
	bed_clear(&bed);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_epoch");
	TCase *tcase = tcase_create("epoch");

	tcase_add_test(tcase, places_of_cuts);
	tcase_add_test(tcase, turned_rows);
	tcase_add_test(tcase, tables_alone);
	tcase_add_test(tcase, whole_epoch);
	tcase_add_test(tcase, host_epoch);
	tcase_add_test(tcase, host_ports);
	tcase_add_loop_test(tcase, host_of_eight_ports, 0, 20);
	tcase_add_test(tcase, wrong_parts);
	tcase_add_test(tcase, next_epoch);
	tcase_add_test(tcase, frames_kept);
	tcase_add_test(tcase, frames_torn);
	tcase_add_test(tcase, other_subnet);
	tcase_add_test(tcase, row_taken_out);
	tcase_add_test(tcase, all_names);
	tcase_add_test(tcase, store_is_full);
	tcase_add_test(tcase, wrong_tables);
	tcase_add_test(tcase, bad_store);
	tcase_add_test(tcase, forged_lists);
	tcase_add_test(tcase, wrong_hash);
	tcase_add_test(tcase, limit);
	tcase_add_loop_test(tcase, random_subnets, 0, 30);
	suite_add_tcase(suite, tcase);
	return suite;
}
