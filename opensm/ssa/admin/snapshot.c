// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ssadmin snapshot: what is in one, and what differs between two. */
#include <stdio.h>
#include <string.h>

#include "ssa/admin/admin.h"
#include "ssa/look/look.h"

#define SHOWN_MAX 20 /* ports that differ */

/* ---- one ---- */

static uint64_t rows_here(const struct ssa_table *table)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < table->n_parts; i++)
		n += table->parts[i].here;
	return n;
}

static void print_tables(const struct ssa_snapshot *snapshot)
{
	printf("%-10s %10s %10s %6s %8s %s\n", "table", "rows", "here", "octets", "epoch", "hash");
	for (unsigned int id = 0; id < SSA_TABLE_END; id++) {
		const struct ssa_table *table = &snapshot->tables[id];

		if (table->row_size)
			printf("%-10s %10" G_GUINT64_FORMAT " %10" G_GUINT64_FORMAT
			       " %6u %8" G_GUINT64_FORMAT " %016" G_GINT64_MODIFIER "x\n",
			       ssa_table_name(id), table->rows, rows_here(table), table->row_size,
			       table->epoch, table->hash[1]);
	}
}

static void print_snapshot(const struct ssa_snapshot *snapshot)
{
	g_autoptr(GDateTime) time =
		g_date_time_new_from_unix_utc((gint64)(snapshot->time_us / G_USEC_PER_SEC));
	g_autofree char *text = time ? g_date_time_format(time, "%Y-%m-%d %H:%M:%S UTC") : NULL;

	printf("subnet 0x%016" G_GINT64_MODIFIER "x, term %" G_GUINT64_FORMAT
	       ", epoch %" G_GUINT64_FORMAT "\n",
	       snapshot->prefix, snapshot->term, snapshot->epoch);
	printf("made %s by SM 0x%016" G_GINT64_MODIFIER "x\n", text ? text : "at an unknown time",
	       snapshot->sm_guid);
	printf("%u ports, %u switches, %" G_GSIZE_FORMAT " octets\n", snapshot->n_endports,
	       snapshot->n_switches, g_bytes_get_size(snapshot->bytes));
	print_tables(snapshot);
}

static void add_snapshot(JsonBuilder *builder, const struct ssa_snapshot *snapshot)
{
	json_builder_begin_object(builder);
	admin_add_hex(builder, "prefix", snapshot->prefix, 16);
	admin_add_number(builder, "term", snapshot->term);
	admin_add_number(builder, "epoch", snapshot->epoch);
	admin_add_number(builder, "time_us", snapshot->time_us);
	admin_add_hex(builder, "sm_guid", snapshot->sm_guid, 16);
	admin_add_number(builder, "ports", snapshot->n_endports);
	admin_add_number(builder, "switches", snapshot->n_switches);
	admin_add_number(builder, "octets", g_bytes_get_size(snapshot->bytes));
	json_builder_set_member_name(builder, "tables");
	json_builder_begin_array(builder);
	for (unsigned int id = 0; id < SSA_TABLE_END; id++) {
		const struct ssa_table *table = &snapshot->tables[id];

		if (!table->row_size)
			continue;
		json_builder_begin_object(builder);
		admin_add_text(builder, "name", ssa_table_name(id));
		admin_add_number(builder, "rows", table->rows);
		admin_add_number(builder, "here", rows_here(table));
		admin_add_number(builder, "row_octets", table->row_size);
		admin_add_number(builder, "epoch", table->epoch);
		json_builder_end_object(builder);
	}
	json_builder_end_array(builder);
	json_builder_end_object(builder);
}

/* ---- two ---- */

static bool same_table(const struct ssa_table *a, const struct ssa_table *b)
{
	return a->rows == b->rows && a->row_size == b->row_size && a->hash[0] == b->hash[0] &&
	       a->hash[1] == b->hash[1];
}

/* Rows that are in both, at one place. */
static uint64_t rows_that_differ(const struct ssa_snapshot *a, const struct ssa_snapshot *b,
				 unsigned int id)
{
	const struct ssa_table *table = &a->tables[id];
	uint64_t n = 0;

	for (unsigned int i = 0; table->row_size == b->tables[id].row_size && i < table->n_parts;
	     i++) {
		const struct ssa_part *part = &table->parts[i];

		for (uint64_t row = part->first; row < part->first + part->here; row++) {
			const void *old = ssa_snapshot_row(a, id, row);
			const void *new = ssa_snapshot_row(b, id, row);

			n += old && new &&memcmp(old, new, table->row_size) != 0;
		}
	}
	return n;
}

/* Ports of a that b does not have, or has otherwise; strings: their place may differ. */
static unsigned int add_ports(GPtrArray *lines, const struct ssa_snapshot *a,
			      const struct ssa_snapshot *b, bool back)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < a->n_endports; i++) {
		uint64_t guid = ssa_64(a->endports[i].guid);
		uint32_t other = ssa_look_guid(b, guid);
		const struct ssa_endport *port = &a->endports[i];
		bool gone = other == SSA_NONE;

		if (!gone && (back || port->lid == b->endports[other].lid))
			continue;
		if (n++ >= SHOWN_MAX)
			continue;
		g_ptr_array_add(lines,
				g_strdup_printf("%s 0x%016" G_GINT64_MODIFIER "x '%s' LID %u%s",
						!gone  ? "~"
						: back ? "+"
						       : "-",
						guid, ssa_look_name(a, i), ssa_16(port->lid),
						gone ? "" : ", which is another one now"));
	}
	return n;
}

static void print_differences(const struct ssa_snapshot *old, const struct ssa_snapshot *new,
			      const GPtrArray *ports)
{
	printf("term %" G_GUINT64_FORMAT ", epoch %" G_GUINT64_FORMAT " -> term %" G_GUINT64_FORMAT
	       ", epoch %" G_GUINT64_FORMAT "\n",
	       old->term, old->epoch, new->term, new->epoch);
	for (unsigned int id = 0; id < SSA_TABLE_END; id++) {
		const struct ssa_table *a = &old->tables[id], *b = &new->tables[id];

		if (!same_table(a, b))
			printf("%s: %" G_GUINT64_FORMAT " -> %" G_GUINT64_FORMAT
			       " rows, %" G_GUINT64_FORMAT " of those in both differ\n",
			       ssa_table_name(id), a->rows, b->rows,
			       rows_that_differ(old, new, id));
	}
	for (guint i = 0; i < ports->len; i++)
		puts(ports->pdata[i]);
}

static void add_differences(JsonBuilder *builder, const struct ssa_snapshot *old,
			    const struct ssa_snapshot *new, const GPtrArray *ports)
{
	json_builder_begin_object(builder);
	json_builder_set_member_name(builder, "tables");
	json_builder_begin_array(builder);
	for (unsigned int id = 0; id < SSA_TABLE_END; id++) {
		const struct ssa_table *a = &old->tables[id], *b = &new->tables[id];

		if (same_table(a, b))
			continue;
		json_builder_begin_object(builder);
		admin_add_text(builder, "name", ssa_table_name(id));
		admin_add_number(builder, "rows_before", a->rows);
		admin_add_number(builder, "rows", b->rows);
		admin_add_number(builder, "differ", rows_that_differ(old, new, id));
		json_builder_end_object(builder);
	}
	json_builder_end_array(builder);
	json_builder_set_member_name(builder, "ports");
	json_builder_begin_array(builder);
	for (guint i = 0; i < ports->len; i++)
		json_builder_add_string_value(builder, ports->pdata[i]);
	json_builder_end_array(builder);
	json_builder_end_object(builder);
}

static enum admin_status show_differences(const struct admin *admin, const struct ssa_snapshot *old,
					  const struct ssa_snapshot *new)
{
	g_autoptr(GPtrArray) ports = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(JsonBuilder) builder = json_builder_new();
	bool differ = false;

	add_ports(ports, old, new, false);
	add_ports(ports, new, old, true);
	for (unsigned int id = 0; id < SSA_TABLE_END; id++)
		differ |= !same_table(&old->tables[id], &new->tables[id]);
	if (admin->json) {
		add_differences(builder, old, new, ports);
		admin_print(builder);
	} else {
		print_differences(old, new, ports);
	}
	return differ ? ADMIN_NO : ADMIN_DONE;
}

enum admin_status admin_show_snapshot(const struct admin *admin, const char *other)
{
	g_autoptr(JsonBuilder) builder = json_builder_new();
	GError *error = NULL;
	struct ssa_snapshot *snapshot = admin_snapshot(admin, &error), *new = NULL;
	enum admin_status status = ADMIN_DONE;

	if (snapshot && other)
		new = ssa_snapshot_map(other, &error);
	if (error) {
		status = admin_fail(ADMIN_UNREACHABLE, error);
	} else if (new) {
		status = show_differences(admin, snapshot, new);
	} else if (admin->json) {
		add_snapshot(builder, snapshot);
		admin_print(builder);
	} else {
		print_snapshot(snapshot);
	}
	ssa_snapshot_unref(snapshot);
	ssa_snapshot_unref(new);
	return status;
}
