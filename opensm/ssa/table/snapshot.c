// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Opening a snapshot: the header, the directory, then each table against the others. What the
 * checks here promise is what look/ relies on.
 */
#include "ssa/table/snapshot.h"

#include <string.h>

#define MAX_RATE_CODES 64
#define LANE_NONE 0xFF

GQuark ssa_snapshot_error_quark(void)
{
	return g_quark_from_static_string("ssa-snapshot-error");
}

G_GNUC_PRINTF(2, 3) static bool broken(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_propagate_error(error, g_error_new_valist(SSA_SNAPSHOT_ERROR, SSA_SNAPSHOT_ERROR_BROKEN,
						    format, args));
	va_end(args);
	return false;
}

/* ---- header and directory ---- */

static bool read_header(struct ssa_snapshot *snapshot, const uint8_t *data, size_t length,
			uint32_t *n_tables, GError **error)
{
	struct ssa_header header;

	if (length < SSA_PAGE)
		return broken(error, "%zu octets: expected at least a header of %u", length,
			      SSA_PAGE);
	memcpy(&header, data, sizeof(header));
	if (memcmp(header.magic, SSA_MAGIC, sizeof(header.magic)) != 0)
		return broken(error, "the first octets are not those of a snapshot");
	if (ssa_16(header.major) != SSA_MAJOR) {
		g_set_error(error, SSA_SNAPSHOT_ERROR, SSA_SNAPSHOT_ERROR_VERSION,
			    "format %u.%u: expected %u", ssa_16(header.major), ssa_16(header.minor),
			    SSA_MAJOR);
		return false;
	}
	if (ssa_64(header.length) != length)
		return broken(error, "%zu octets: expected %" G_GUINT64_FORMAT, length,
			      ssa_64(header.length));
	*n_tables = ssa_32(header.n_tables);
	if (*n_tables > SSA_MAX_TABLES)
		return broken(error, "%u tables: expected at most %zu", *n_tables, SSA_MAX_TABLES);
	snapshot->prefix = ssa_64(header.prefix);
	snapshot->term = ssa_64(header.term);
	snapshot->epoch = ssa_64(header.epoch);
	snapshot->time_us = ssa_64(header.time_us);
	snapshot->sm_guid = ssa_64(header.sm_guid);
	return true;
}

static bool is_partial(unsigned int id)
{
	return id == SSA_PATHS || id == SSA_REACH || id == SSA_LANES;
}

/* That table, as one of its entries says. */
static struct ssa_table table_of(const struct ssa_entry *entry)
{
	return (struct ssa_table){
		.row_size = ssa_32(entry->row_size),
		.rows = ssa_64(entry->rows),
		.epoch = ssa_64(entry->epoch),
		.hash = {ssa_64(entry->hash[0]), ssa_64(entry->hash[1])},
	};
}

static bool check_table(unsigned int id, const struct ssa_table *table, GError **error)
{
	const char *name = ssa_table_name(id);

	if (!table->row_size ||
	    (ssa_table_row_size(id) && ssa_table_row_size(id) != table->row_size))
		return broken(error, "%s: rows of %u octets: expected %u", name, table->row_size,
			      ssa_table_row_size(id));
	if (table->rows > UINT32_MAX)
		return broken(error, "%s: %" G_GUINT64_FORMAT " rows", name, table->rows);
	return true;
}

/* A further entry of a table. */
static bool check_again(unsigned int id, const struct ssa_table *table,
			const struct ssa_table *again, uint64_t first, GError **error)
{
	const char *name = ssa_table_name(id);
	const struct ssa_part *last = &table->parts[table->n_parts - 1];

	if (!is_partial(id) || table->n_parts == SSA_PARTS || table->row_size != again->row_size ||
	    table->rows != again->rows || table->epoch != again->epoch ||
	    table->hash[0] != again->hash[0] || table->hash[1] != again->hash[1])
		return broken(error, "%s: its entry %u is not expected", name, table->n_parts);
	if (first < last->first + last->here)
		return broken(error,
			      "%s: row %" G_GUINT64_FORMAT " stands after row %" G_GUINT64_FORMAT,
			      name, first, last->first + last->here);
	return true;
}

static bool add_part(unsigned int id, struct ssa_table *table, const uint8_t *data, size_t length,
		     const struct ssa_entry *entry, GError **error)
{
	const char *name = ssa_table_name(id);
	uint64_t offset = ssa_64(entry->offset);
	uint64_t first = ssa_64(entry->first), here = ssa_64(entry->here);

	if (here > table->rows || first > table->rows - here)
		return broken(error,
			      "%s: rows %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
			      " after it, of %" G_GUINT64_FORMAT,
			      name, first, here, table->rows);
	if (!is_partial(id) && here != table->rows)
		return broken(error, "%s: not all of its rows are there", name);
	if (offset % SSA_PAGE || offset < SSA_PAGE || offset > length ||
	    here > (length - offset) / table->row_size)
		return broken(error, "%s: it does not lie within the snapshot", name);
	if (!table->n_parts)
		table->data = data + offset;
	table->parts[table->n_parts++] = (struct ssa_part){data + offset, first, here};
	return true;
}

static bool read_entry(struct ssa_snapshot *snapshot, const uint8_t *data, size_t length,
		       const struct ssa_entry *entry, GError **error)
{
	unsigned int id = ssa_16(entry->id);
	struct ssa_table read = table_of(entry), *table;

	if (!ssa_table_name(id))
		return true; /* of a later minor format */
	table = &snapshot->tables[id];
	if (!check_table(id, &read, error) ||
	    (table->n_parts && !check_again(id, table, &read, ssa_64(entry->first), error)))
		return false;
	if (!table->n_parts)
		*table = read;
	return add_part(id, table, data, length, entry, error);
}

static bool read_directory(struct ssa_snapshot *snapshot, const uint8_t *data, size_t length,
			   uint32_t n, GError **error)
{
	unsigned int last = 1;

	for (unsigned int id = 0; id < SSA_TABLE_END; id++)
		snapshot->tables[id].data = data; /* not NULL, so that one may add 0 to it */
	for (uint32_t i = 0; i < n; i++) {
		struct ssa_entry entry;

		memcpy(&entry, data + sizeof(struct ssa_header) + i * sizeof(entry), sizeof(entry));
		if (ssa_16(entry.id) < last)
			return broken(error, "table %u stands after table %u", ssa_16(entry.id),
				      last);
		last = ssa_16(entry.id);
		if (!read_entry(snapshot, data, length, &entry, error))
			return false;
	}
	return true;
}

/* ---- tables against each other ---- */

static bool is_lane(uint8_t lane)
{
	return lane <= 15 || lane == LANE_NONE;
}

static bool check_subnet(struct ssa_snapshot *snapshot, GError **error)
{
	const struct ssa_table *table = &snapshot->tables[SSA_SUBNET];
	const struct ssa_subnet *subnet = (const void *)table->data;

	if (table->rows != 1)
		return broken(error, "SUBNET: %" G_GUINT64_FORMAT " rows: expected one",
			      table->rows);
	if (ssa_16(subnet->max_lid) >= SSA_LIDS)
		return broken(error, "SUBNET: highest LID %u", ssa_16(subnet->max_lid));
	if (ssa_64(subnet->prefix) != snapshot->prefix)
		return broken(error, "SUBNET: another prefix than in the header");
	if (subnet->lanes > SSA_LANES_PAIRS)
		return broken(error, "SUBNET: %u is not a kind of lanes", subnet->lanes);
	if (!is_lane(subnet->lane))
		return broken(error, "SUBNET: lane %u is not an SL", subnet->lane);
	for (unsigned int i = 0; i < G_N_ELEMENTS(subnet->rank_rate); i++)
		if (subnet->rank_rate[i] >= MAX_RATE_CODES)
			return broken(error, "SUBNET: rank %u has no rate code", i);
	snapshot->subnet = subnet;
	return true;
}

static bool check_switches(struct ssa_snapshot *snapshot, GError **error)
{
	const struct ssa_table *table = &snapshot->tables[SSA_SWITCHES];

	snapshot->switches = (const void *)table->data;
	snapshot->n_switches = (uint32_t)table->rows;
	for (uint32_t i = 0; i < snapshot->n_switches; i++) {
		uint32_t row = ssa_32(snapshot->switches[i].row);

		if (row != SSA_NONE && row >= snapshot->tables[SSA_PATHS].rows)
			return broken(error, "SWITCHES: row %u: PATHS has no row %u", i, row);
	}
	return true;
}

static bool own_lids(struct ssa_snapshot *snapshot, uint32_t i, GError **error)
{
	const struct ssa_endport *port = &snapshot->endports[i];
	uint32_t lid = ssa_16(port->lid);

	if (port->lmc > 7 ||
	    (lid && lid + (1u << port->lmc) - 1 > ssa_16(snapshot->subnet->max_lid)))
		return broken(error, "ENDPORTS: row %u: LID %u with LMC %u", i, lid, port->lmc);
	for (uint32_t n = 0; lid && n < 1u << port->lmc; n++) {
		if (snapshot->lid_endport[lid + n] != SSA_NONE)
			return broken(error, "ENDPORTS: row %u: another has LID %u", i, lid + n);
		snapshot->lid_endport[lid + n] = i;
	}
	return true;
}

static bool check_endport(struct ssa_snapshot *snapshot, uint32_t i, GError **error)
{
	const struct ssa_endport *port = &snapshot->endports[i];
	uint32_t sw = ssa_32(port->sw), peer = ssa_32(port->peer);
	const struct ssa_table *names = &snapshot->tables[SSA_DESCRIPTIONS];
	const uint8_t *description = names->data + (size_t)i * names->row_size;
	bool has_verdicts = !(ssa_32(snapshot->subnet->flags) & SSA_NO_VERDICTS);

	if (i && ssa_64(port[-1].guid) >= ssa_64(port->guid))
		return broken(error, "ENDPORTS: row %u: not in the order of GUIDs", i);
	if ((sw != SSA_NONE && sw >= snapshot->n_switches) ||
	    (peer != SSA_NONE && peer >= snapshot->n_endports))
		return broken(error, "ENDPORTS: row %u: its cable leads out of the tables", i);
	if (has_verdicts && ssa_32(port->class) >= ssa_32(snapshot->subnet->n_classes))
		return broken(error, "ENDPORTS: row %u: class %u of %u", i, ssa_32(port->class),
			      ssa_32(snapshot->subnet->n_classes));
	if (description[names->row_size - 1])
		return broken(error, "DESCRIPTIONS: row %u has no end", i);
	if (port->rates >= snapshot->tables[SSA_RATES].rows)
		return broken(error, "ENDPORTS: row %u: RATES has no row %u", i, port->rates);
	return own_lids(snapshot, i, error);
}

static bool check_endports(struct ssa_snapshot *snapshot, GError **error)
{
	const struct ssa_table *table = &snapshot->tables[SSA_ENDPORTS];
	const struct ssa_table *names = &snapshot->tables[SSA_DESCRIPTIONS];

	snapshot->endports = (const void *)table->data;
	snapshot->n_endports = (uint32_t)table->rows;
	snapshot->lid_endport = g_new(uint32_t, SSA_LIDS);
	memset(snapshot->lid_endport, 0xFF, SSA_LIDS * sizeof(uint32_t));
	if (names->rows != table->rows)
		return broken(error, "DESCRIPTIONS: %" G_GUINT64_FORMAT " rows: expected %u",
			      names->rows, snapshot->n_endports);
	for (uint32_t i = 0; i < snapshot->n_endports; i++)
		if (!check_endport(snapshot, i, error))
			return false;
	return true;
}

static bool check_aliases(const struct ssa_snapshot *snapshot, GError **error)
{
	const struct ssa_table *table = &snapshot->tables[SSA_ALIASES];
	const struct ssa_alias *aliases = (const void *)table->data;

	for (uint32_t i = 0; i < table->rows; i++) {
		if (i && ssa_64(aliases[i - 1].guid) >= ssa_64(aliases[i].guid))
			return broken(error, "ALIASES: row %u: not in the order of GUIDs", i);
		if (ssa_32(aliases[i].endport) >= snapshot->n_endports)
			return broken(error, "ALIASES: row %u: of no port", i);
	}
	return true;
}

/* Tables of which rows have the size that the subnet says. */
static bool check_sizes(const struct ssa_snapshot *snapshot, GError **error)
{
	const struct ssa_table *paths = &snapshot->tables[SSA_PATHS];
	const struct ssa_table *reach = &snapshot->tables[SSA_REACH];
	const struct ssa_table *lanes = &snapshot->tables[SSA_LANES];
	uint32_t lids = ssa_16(snapshot->subnet->max_lid) + 1u;

	if (paths->rows && paths->row_size != lids)
		return broken(error, "PATHS: rows of %u octets: expected %u", paths->row_size,
			      lids);
	if (paths->rows &&
	    (reach->rows != lids || reach->row_size != (snapshot->n_switches + 7) / 8))
		return broken(error,
			      "REACH: %" G_GUINT64_FORMAT " rows of %u octets: expected %u "
			      "of %u",
			      reach->rows, reach->row_size, lids, (snapshot->n_switches + 7) / 8);
	if (snapshot->subnet->lanes == SSA_LANES_PAIRS && paths->rows &&
	    (lanes->rows != paths->rows || lanes->row_size != snapshot->n_switches))
		return broken(error,
			      "LANES: %" G_GUINT64_FORMAT " rows of %u octets: expected "
			      "%" G_GUINT64_FORMAT " of %u",
			      lanes->rows, lanes->row_size, paths->rows, snapshot->n_switches);
	return true;
}

static bool check_lanes(const struct ssa_snapshot *snapshot, GError **error)
{
	const struct ssa_table *table = &snapshot->tables[SSA_LANES];

	for (unsigned int n = 0; n < table->n_parts; n++) {
		const struct ssa_part *part = &table->parts[n];

		for (uint64_t i = 0; i < part->here * table->row_size; i++)
			if (!is_lane(part->data[i]))
				return broken(error,
					      "LANES: row %" G_GUINT64_FORMAT ": %u is not an SL",
					      part->first + i / table->row_size, part->data[i]);
	}
	return true;
}

static bool check_rates(const struct ssa_snapshot *snapshot, GError **error)
{
	const struct ssa_table *table = &snapshot->tables[SSA_RATES];

	if (!table->rows)
		return broken(error, "RATES: row 0 is missing");
	for (uint32_t i = 0; i < table->rows * MAX_RATE_CODES; i++)
		if (table->data[i] >= MAX_RATE_CODES)
			return broken(error, "RATES: row %u: %u is not a code of a rate",
				      i / MAX_RATE_CODES, table->data[i]);
	return true;
}

static bool check_verdicts(const struct ssa_snapshot *snapshot, GError **error)
{
	const struct ssa_table *pairs = &snapshot->tables[SSA_PAIRS];
	const struct ssa_table *table = &snapshot->tables[SSA_VERDICTS];
	const struct ssa_verdict *verdicts = (const void *)table->data;
	const uint32_t *pair = (const void *)pairs->data;
	uint64_t n = ssa_32(snapshot->subnet->n_classes);

	if (ssa_32(snapshot->subnet->flags) & SSA_NO_VERDICTS)
		return true;
	if (pairs->rows != n * n)
		return broken(error,
			      "PAIRS: %" G_GUINT64_FORMAT " rows for %" G_GUINT64_FORMAT " classes",
			      pairs->rows, n);
	for (uint64_t i = 0; i < pairs->rows; i++)
		if (ssa_32(pair[i]) >= table->rows)
			return broken(error, "PAIRS: row %" G_GUINT64_FORMAT ": not in VERDICTS",
				      i);
	if (table->rows && !(verdicts[table->rows - 1].flags & SSA_VERDICT_LAST))
		return broken(error, "VERDICTS: the last pair has no end");
	for (uint32_t i = 0; i < table->rows; i++) {
		const struct ssa_verdict *verdict = &verdicts[i];

		if (ssa_16(verdict->path_bits) > snapshot->tables[SSA_PATH_BITS].rows)
			return broken(error, "VERDICTS: row %u: not in PATH_BITS", i);
		if (verdict->sl > 15 || verdict->rate >= MAX_RATE_CODES || verdict->mtu > 7 ||
		    verdict->mtu_best > 7 || verdict->life > 63)
			return broken(error, "VERDICTS: row %u: a value has too many bits", i);
	}
	return true;
}

static bool check_prefixes(const struct ssa_snapshot *snapshot, GError **error)
{
	const struct ssa_table *table = &snapshot->tables[SSA_PREFIXES];
	const struct ssa_prefix *prefixes = (const void *)table->data;

	for (uint32_t i = 0; i < table->rows; i++)
		if (ssa_32(prefixes[i].endport) >= snapshot->n_endports)
			return broken(error, "PREFIXES: row %u: of no port", i);
	return true;
}

static bool check_order(const struct ssa_snapshot *snapshot, enum ssa_table_id id, size_t key,
			GError **error)
{
	const struct ssa_table *table = &snapshot->tables[id];

	for (uint64_t i = 1; i < table->rows; i++) {
		const uint8_t *row = table->data + i * table->row_size;

		if (memcmp(row - table->row_size, row, key) > 0)
			return broken(error, "%s: row %" G_GUINT64_FORMAT ": not in order",
				      ssa_table_name(id), i);
	}
	return true;
}

static bool check_addresses(const struct ssa_snapshot *snapshot, GError **error)
{
	const struct ssa_table *names = &snapshot->tables[SSA_NAMES];
	const struct ssa_name *name = (const void *)names->data;

	for (uint32_t i = 0; i < names->rows; i++)
		if (name[i].name[sizeof(name[i].name) - 1])
			return broken(error, "NAMES: row %u: the name has no end", i);
	return check_order(snapshot, SSA_NAMES, sizeof(name->name), error) &&
	       check_order(snapshot, SSA_IPV4, 4, error) &&
	       check_order(snapshot, SSA_IPV6, 16, error);
}

static bool check(struct ssa_snapshot *snapshot, GError **error)
{
	return check_subnet(snapshot, error) && check_switches(snapshot, error) &&
	       check_rates(snapshot, error) && check_endports(snapshot, error) &&
	       check_aliases(snapshot, error) && check_sizes(snapshot, error) &&
	       check_lanes(snapshot, error) && check_verdicts(snapshot, error) &&
	       check_prefixes(snapshot, error) && check_addresses(snapshot, error);
}

/* ---- the object ---- */

struct ssa_snapshot *ssa_snapshot_open(GBytes *bytes, GError **error)
{
	struct ssa_snapshot *snapshot = g_new0(struct ssa_snapshot, 1);
	gsize length;
	const uint8_t *data = g_bytes_get_data(bytes, &length);
	uint32_t n_tables = 0;

	ref_init(&snapshot->ref);
	snapshot->bytes = g_bytes_ref(bytes);
	if ((uintptr_t)data % sizeof(uint64_t)) {
		g_bytes_unref(snapshot->bytes);
		snapshot->bytes = g_bytes_new(data, length);
		data = g_bytes_get_data(snapshot->bytes, NULL);
	}
	if (read_header(snapshot, data, length, &n_tables, error) &&
	    read_directory(snapshot, data, length, n_tables, error) && check(snapshot, error))
		return snapshot;
	ssa_snapshot_unref(snapshot);
	return NULL;
}

struct ssa_snapshot *ssa_snapshot_map(const char *file, GError **error)
{
	g_autoptr(GMappedFile) mapped = g_mapped_file_new(file, FALSE, error);
	g_autoptr(GBytes) bytes = mapped ? g_mapped_file_get_bytes(mapped) : NULL;
	struct ssa_snapshot *snapshot = bytes ? ssa_snapshot_open(bytes, error) : NULL;

	if (bytes && !snapshot)
		g_prefix_error(error, "%s: ", file);
	return snapshot;
}

struct ssa_snapshot *ssa_snapshot_ref(struct ssa_snapshot *snapshot)
{
	ref_get(&snapshot->ref);
	return snapshot;
}

void ssa_snapshot_unref(struct ssa_snapshot *snapshot)
{
	if (!snapshot || !ref_put(&snapshot->ref))
		return;
	g_bytes_unref(snapshot->bytes);
	g_free(snapshot->lid_endport);
	g_free(snapshot);
}

const void *ssa_snapshot_row(const struct ssa_snapshot *snapshot, enum ssa_table_id id,
			     uint64_t row)
{
	const struct ssa_table *table = &snapshot->tables[id];

	for (unsigned int i = 0; i < table->n_parts; i++) {
		const struct ssa_part *part = &table->parts[i];

		if (row >= part->first && row - part->first < part->here)
			return part->data + (row - part->first) * table->row_size;
	}
	return NULL;
}
