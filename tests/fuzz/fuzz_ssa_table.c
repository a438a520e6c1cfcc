// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Snapshots that cannot be trusted: of what is opened, all rows can be read, and all queries can be
 * answered.
 *
 * The first octet of the input says what the rest is: the octets of a snapshot; or tables, one
 * after the other, of which a snapshot is made, so that few octets say much.
 */
#include "ssa/look/look.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/ssa_tables.h"

enum what { OCTETS, TABLES, N_WHAT };

struct head { /* before the rows of a table */
	uint8_t id;
	uint8_t row_size[2], rows[2], first[2], here[2];
} __attribute__((packed));

/* ---- inputs ---- */

static void put_16(uint8_t at[2], uint64_t value)
{
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
}

static unsigned int get_16(const uint8_t at[2])
{
	return at[0] | at[1] << 8;
}

static void add_head(GByteArray *seed, unsigned int id, const struct ssa_rows *rows, uint64_t first,
		     uint64_t end)
{
	const uint8_t *data = g_bytes_get_data(rows->bytes, NULL);
	struct head head = {.id = (uint8_t)id};

	put_16(head.row_size, rows->row_size);
	put_16(head.rows, rows->rows);
	put_16(head.first, first);
	put_16(head.here, end - first);
	g_byte_array_append(seed, (const guint8 *)&head, sizeof(head));
	g_byte_array_append(seed, data + first * rows->row_size,
			    (guint)((end - first) * rows->row_size));
}

/* Of a whole snapshot, or, with gaps, of a host that has every other row of PATHS. */
static void add_tables(GPtrArray *seeds, const struct ssa_made *made, bool gaps)
{
	GByteArray *seed = g_byte_array_new();
	const uint8_t what = TABLES;

	g_byte_array_append(seed, &what, 1);
	for (unsigned int id = 1; id < SSA_TABLE_END; id++) {
		const struct ssa_rows *rows = &made->rows[id];

		if (!rows->bytes || !rows->rows)
			continue;
		if (gaps && id == SSA_PATHS)
			for (uint64_t row = 0; row < rows->rows; row += 2)
				add_head(seed, id, rows, row, row + 1);
		else
			add_head(seed, id, rows, 0, rows->rows);
	}
	g_ptr_array_add(seeds, g_byte_array_free_to_bytes(seed));
}

static void add_seeds(GPtrArray *seeds, const struct ssa_size *size)
{
	GByteArray *octets = g_byte_array_new();
	const uint8_t what = OCTETS;
	struct ssa_made made;
	GBytes *bytes;

	ssa_tables_make(&made, size, 1);
	add_tables(seeds, &made, false);
	add_tables(seeds, &made, true);
	bytes = ssa_made_bytes(&made);
	g_byte_array_append(octets, &what, 1);
	g_byte_array_append(octets, g_bytes_get_data(bytes, NULL), (guint)g_bytes_get_size(bytes));
	g_ptr_array_add(seeds, g_byte_array_free_to_bytes(octets));
	g_bytes_unref(bytes);
	ssa_made_clear(&made);
}

static void *setup(GPtrArray *seeds)
{
	static const struct ssa_size sizes[] = {
		{.leaves = 3, .spines = 1, .hosts = 2, .classes = 2, .addresses = 2, .lanes = true},
		{.leaves = 1, .hosts = 3, .lmc = 1, .classes = 1},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(sizes); i++)
		add_seeds(seeds, &sizes[i]);
	return g_new0(uint64_t, 1); /* a sum of all that was read */
}

/* The next rows of a table, or its first ones. */
static void add_rows(struct ssa_rows *rows, const struct head *head, GBytes *bytes)
{
	unsigned int i = 0;

	if (!rows->bytes) {
		rows->row_size = MAX(get_16(head->row_size), 1);
		rows->rows = get_16(head->rows);
		rows->first = get_16(head->first);
		rows->bytes = bytes;
		return;
	}
	while (i < G_N_ELEMENTS(rows->more) - 1 && rows->more[i].bytes)
		i++;
	g_clear_pointer(&rows->more[i].bytes, g_bytes_unref);
	rows->more[i].bytes = bytes;
	rows->more[i].first = get_16(head->first);
}

static GBytes *make_tables(const uint8_t *data, size_t size)
{
	struct fuzz_bytes in = {data, size};
	struct ssa_made made = {.prefix = SSA_TABLES_PREFIX};
	struct head head;
	GBytes *bytes;

	while (in.left) {
		size_t length;
		uint8_t *rows;

		fuzz_take(&in, &head, sizeof(head));
		length = (size_t)get_16(head.here) * MAX(get_16(head.row_size), 1);
		length = MIN(length, 2 * in.left);
		rows = g_malloc0(MAX(length, 1));
		fuzz_take(&in, rows, length);
		add_rows(&made.rows[head.id % SSA_TABLE_END], &head,
			 g_bytes_new_take(rows, length));
	}
	bytes = ssa_made_bytes(&made);
	ssa_made_clear(&made);
	return bytes;
}

/* ---- what a reader does ---- */

static uint64_t read_part(const struct ssa_snapshot *snapshot, unsigned int id,
			  const struct ssa_part *part)
{
	uint64_t sum = 0;

	for (uint64_t row = part->first; row < part->first + part->here; row++) {
		const uint8_t *octets = ssa_snapshot_row(snapshot, id, row);

		fuzz_expect(octets ==
			    part->data + (row - part->first) * snapshot->tables[id].row_size);
		for (uint32_t i = 0; i < snapshot->tables[id].row_size; i++)
			sum += octets[i];
	}
	return sum;
}

static uint64_t read_rows(const struct ssa_snapshot *snapshot)
{
	uint64_t sum = 0;

	for (unsigned int id = 0; id < SSA_TABLE_END; id++) {
		const struct ssa_table *table = &snapshot->tables[id];

		for (unsigned int i = 0; i < table->n_parts; i++)
			sum += read_part(snapshot, id, &table->parts[i]);
		fuzz_expect(!ssa_snapshot_row(snapshot, id, table->rows));
	}
	return sum;
}

static bool take(void *arg, const struct iba_path_record *record)
{
	*(uint64_t *)arg += record->mtu + record->rate;
	return true;
}

static void look_up_paths(const struct ssa_snapshot *snapshot, uint32_t from, uint32_t to,
			  uint64_t *sum)
{
	const uint64_t by_lid = IBA_COMPONENT(path_record, slid) | IBA_COMPONENT(path_record, dlid);
	const uint64_t by_gid = IBA_COMPONENT(path_record, sgid) | IBA_COMPONENT(path_record, dgid);
	struct iba_path_record wanted = {
		.sgid = {snapshot->prefix, ssa_64(snapshot->endports[from].guid)},
		.dgid = {snapshot->prefix, ssa_64(snapshot->endports[to].guid)},
		.slid = ssa_16(snapshot->endports[from].lid),
		.dlid = ssa_16(snapshot->endports[to].lid),
		.p_key = 0xFFFF,
		.sl = 1,
	};
	const char *why;

	ssa_look_paths(snapshot, from, &wanted, by_lid, take, sum, &why);
	ssa_look_paths(snapshot, from, &wanted, by_gid, take, sum, &why);
	ssa_look_paths(snapshot, to, &wanted, by_lid | IBA_COMPONENT(path_record, p_key), take, sum,
		       &why);
	ssa_look_paths(snapshot, from, &wanted, by_gid | IBA_COMPONENT(path_record, sl), take, sum,
		       &why);
	wanted.dgid.prefix++;
	ssa_look_paths(snapshot, from, &wanted, by_gid, take, sum, &why);
}

static void look_up_addresses(const struct ssa_snapshot *snapshot, uint64_t *sum)
{
	static const uint8_t ipv4[4] = {10, 0, 0, 1}, ipv6[16] = {[12] = 10, [15] = 1};
	uint32_t n;

	if (ssa_look_named(snapshot, "node00001-ib0", &n))
		*sum += n;
	if (ssa_look_ipv4(snapshot, ipv4, &n))
		*sum += n;
	if (ssa_look_ipv6(snapshot, ipv6, &n))
		*sum += n;
}

static void look_up(const struct ssa_snapshot *snapshot, uint64_t *sum)
{
	uint32_t n = MIN(snapshot->n_endports, 8);

	for (uint32_t from = 0; from < n; from++) {
		*sum += strlen(ssa_look_name(snapshot, from));
		fuzz_expect(ssa_look_guid(snapshot, ssa_64(snapshot->endports[from].guid)) == from);
		for (uint32_t to = 0; to < n; to++)
			look_up_paths(snapshot, from, to, sum);
	}
	look_up_addresses(snapshot, sum);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autoptr(GBytes) bytes = NULL;
	g_autoptr(GError) error = NULL;
	struct ssa_snapshot *snapshot;

	if (!size)
		return;
	if (data[0] % N_WHAT == TABLES)
		bytes = make_tables(data + 1, size - 1);
	else
		bytes = g_bytes_new(data + 1, size - 1);
	snapshot = ssa_snapshot_open(bytes, &error);
	fuzz_expect(!snapshot == (error != NULL));
	if (!snapshot)
		return;
	*(uint64_t *)state += read_rows(snapshot);
	look_up(snapshot, state);
	ssa_snapshot_unref(snapshot);
}

static void teardown(void *state)
{
	g_free(state);
}

const struct fuzz_target fuzz_target = {
	.name = "ssa_table",
	.max_size = 80000,
	.runs = 20000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
