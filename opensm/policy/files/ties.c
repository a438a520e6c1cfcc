// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "policy/files/ties.h"

#include <inttypes.h>

#include "policy/files/guid_file.h"

#define PORT_MAX 254

static const struct guid_file_form form = {
	.columns = "a switch GUID, a P_Key and the number of a port or none",
	.least = 1,
	.most = 2,
	.min = 1,
	.max = 0xFFFF,
	.repeated = true,
	.exact = true, /* an ignored port number would tie all ports */
};

/* The bit of a partition among the tied ones, in order of appearance; -1: too many. */
static int bit_of(GArray *tied, uint16_t p_key)
{
	guint i = 0;

	while (i < tied->len && g_array_index(tied, uint16_t, i) != p_key)
		i++;
	if (i == TIES_PARTITIONS_MAX)
		return -1;
	if (i == tied->len)
		g_array_append_val(tied, p_key);
	return i;
}

/* A line of the right form; false and an error if it makes no sense. */
static bool add_row(GArray *rows, GArray *tied, const struct guid_table *table,
		    const struct guid_row *line, const char *file, GError **error)
{
	const uint64_t *numbers = &g_array_index(table->numbers, uint64_t, line->first);
	uint64_t port = line->n > 1 ? numbers[1] : 0;
	struct tie_row row = {line->guid, line->line, P_KEY_BASE(numbers[0]), port};

	if (!row.p_key)
		g_set_error(error, GUID_FILE_ERROR, 0,
			    "%s:%u: P_Key 0x%04" PRIx64 " does not belong to a partition, "
			    "expected 0x0001 to 0x7fff, with or without the membership bit",
			    file, row.line, numbers[0]);
	else if (port > PORT_MAX)
		g_set_error(error, GUID_FILE_ERROR, 0,
			    "%s:%u: port %" PRIu64 ", expected 1 to %u, or none for all of switch "
			    "0x%016" PRIx64, file, row.line, port, PORT_MAX, row.guid);
	else if (bit_of(tied, row.p_key) < 0)
		g_set_error(error, GUID_FILE_ERROR, 0,
			    "%s:%u: partition 0x%04x exceeds the limit of %u partitions with "
			    "reserved cables",
			    file, row.line, row.p_key, TIES_PARTITIONS_MAX);
	else {
		g_array_append_val(rows, row);
		return true;
	}
	return false;
}

GArray *ties_load(const char *file, GPtrArray *warnings, GError **error)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct tie_row));
	g_autoptr(GArray) tied = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	struct guid_table *table = file ? guid_file_load(file, &form, warnings, error) : NULL;
	bool good = !file || table;

	for (guint i = 0; good && table && i < table->rows->len; i++)
		good = add_row(rows, tied, table, &g_array_index(table->rows, struct guid_row, i),
			       file, error);
	guid_table_free(table);
	if (!good)
		g_clear_pointer(&rows, g_array_unref);
	return rows;
}

/* Bits of the tied partitions that ports of a class belong to. */
static uint64_t bits_of_class(const struct partitions *partitions, uint32_t class,
			      const GArray *tied)
{
	uint64_t bits = 0;

	for (uint32_t k = partitions->first[class]; k < partitions->first[class + 1]; k++)
		for (guint i = 0; i < tied->len; i++)
			if (g_array_index(tied, uint16_t, i) == P_KEY_BASE(partitions->p_keys[k]))
				bits |= UINT64_C(1) << i;
	return bits;
}

static uint64_t *bits_of_ports(const struct partitions *partitions, const GArray *tied)
{
	uint64_t *bits = g_new(uint64_t, partitions->n_ports + 1);
	g_autofree uint64_t *of_class = g_new(uint64_t, partitions->n_classes + 1);

	for (uint32_t class = 0; class < partitions->n_classes; class++)
		of_class[class] = bits_of_class(partitions, class, tied);
	for (uint32_t port = 0; port < partitions->n_ports; port++)
		bits[port] = of_class[partitions->class_of[port]];
	return bits;
}

struct route_ties *ties_make(const GArray *rows, const struct partitions *partitions)
{
	g_autoptr(GArray) tied = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	struct route_ties *ties;
	struct route_tie *list;

	if (!rows || !rows->len || !partitions)
		return NULL;
	list = g_new(struct route_tie, rows->len);
	for (guint i = 0; i < rows->len; i++) {
		const struct tie_row *row = &g_array_index(rows, struct tie_row, i);

		list[i] = (struct route_tie){
			row->guid, UINT64_C(1) << bit_of(tied, row->p_key), row->port};
	}
	ties = g_new0(struct route_ties, 1);
	ties->ties = list;
	ties->n = rows->len;
	ties->partitions = bits_of_ports(partitions, tied);
	return ties;
}

void ties_free(struct route_ties *ties)
{
	if (!ties)
		return;
	g_free((struct route_tie *)ties->ties);
	g_free((uint64_t *)ties->partitions);
	g_free(ties);
}
