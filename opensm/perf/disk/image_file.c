// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* An image as a file: see image_file.h. */
#include "perf/disk/image_file.h"

#include <string.h>

#include "perf/disk/columns.h"

#define MAGIC "OSMIMAGE"
#define VERSION 2
#define NAME_MAX_OCTETS 512

/* Numbers about the whole image: the first column. */
enum { HEAD_ID, HEAD_RUN, HEAD_AFTER, HEAD_BEGAN, HEAD_ENDED, HEAD_ENDED_US, HEAD_NUMBERS };

enum {
	AT_HEAD,
	AT_LAYOUT,
	AT_READ_NS = AT_LAYOUT + LAYOUT_COLUMNS,
	AT_AT_LEAST,
	AT_MISSED,
	AT_FLAGS,
	AT_HAVE,
	AT_TOTAL,
	AT_DETAIL_ROW = AT_TOTAL + PERF_COUNTERS,
	AT_DETAIL_HAVE,
	AT_DETAIL_AT_LEAST,
	AT_DETAIL_READ_NS,
	AT_DETAIL_TOTAL,
	N_COLUMNS = AT_DETAIL_TOTAL + PERF_DETAILS
};
G_STATIC_ASSERT(N_COLUMNS <= COLUMNS_MAX);

static struct column in_steps(struct column column)
{
	column.steps = true;
	return column;
}

/* ---- layouts ---- */

static void add_name(GByteArray *octets, const char *name)
{
	size_t length = name ? strlen(name) : 0;

	g_byte_array_append(octets, (const guint8 *)name, (guint)MIN(length, NAME_MAX_OCTETS));
	g_byte_array_append(octets, (const guint8 *)"", 1);
}

void perf_layout_write(struct columns_writer *writer, const struct perf_layout *layout)
{
	g_autoptr(GByteArray) names = g_byte_array_new();
	struct perf_node *nodes = layout->nodes;
	struct perf_place *places = layout->places;

	for (uint32_t i = 0; i < layout->n_nodes; i++) {
		bool same = !g_strcmp0(nodes[i].name, nodes[i].description);

		add_name(names, nodes[i].name);
		add_name(names, same ? "" : nodes[i].description);
	}
	columns_add(writer, in_steps(COLUMN_MEMBER(nodes, guid)), layout->n_nodes);
	columns_add(writer, COLUMN_MEMBER(nodes, type), layout->n_nodes);
	columns_add(writer, COLUMN_MEMBER(nodes, first_port), layout->n_nodes);
	columns_add(writer, COLUMN_MEMBER(nodes, num_ports), layout->n_nodes);
	columns_add(writer, COLUMN_MEMBER(nodes, active), layout->n_nodes);
	columns_add(writer, in_steps(COLUMN_MEMBER(nodes, since_us)), layout->n_nodes);
	columns_add(writer, COLUMN_OF(names->data), names->len);
	columns_add(writer, in_steps(COLUMN_MEMBER(places, peer)), layout->n_rows);
	columns_add(writer, in_steps(COLUMN_MEMBER(places, lid)), layout->n_rows);
	columns_add(writer, COLUMN_MEMBER(places, rate), layout->n_rows);
	columns_add(writer, COLUMN_MEMBER(places, lanes), layout->n_rows);
	columns_add(writer, COLUMN_MEMBER(places, tick), layout->n_rows);
	columns_add(writer, COLUMN_MEMBER(places, fec), layout->n_rows);
	columns_add(writer, COLUMN_MEMBER(places, extended), layout->n_rows);
	columns_add(writer, COLUMN_MEMBER(places, to_switch), layout->n_rows);
}

/* Reads a column of 0 and 1 into a member that must not have another value even for a moment. */
static bool read_bools(struct columns_reader *reader, unsigned int column, bool *into,
		       size_t stride, uint32_t first, uint32_t n, GError **error)
{
	g_autofree uint8_t *octets = g_new0(uint8_t, MAX(n, 1));

	if (!columns_read(reader, column, COLUMN_OF(octets), first, n, error))
		return false;
	for (uint32_t i = 0; i < n; i++)
		*(bool *)((char *)into + i * stride) = octets[i] != 0;
	return true;
}

/* All columns of nodes, and of rows, have as many values as there are nodes and rows. */
static bool check_counts(struct columns_reader *reader, unsigned int first, unsigned int n,
			 GError **error)
{
	uint32_t count = columns_count(reader, first);

	for (unsigned int i = 1; i < n; i++)
		if (columns_count(reader, first + i) != count)
			return columns_wrong(reader, "its columns do not have the same length",
					     error);
	return count <= PERF_FILE_ROWS_MAX ||
	       columns_wrong(reader, "it has more rows than this program reads", error);
}

static bool check_layout(struct columns_reader *reader, unsigned int at, GError **error)
{
	return check_counts(reader, at, LAYOUT_NAMES, error) &&
	       check_counts(reader, at + LAYOUT_PEER, LAYOUT_COLUMNS - LAYOUT_PEER, error);
}

/* The nodes: their GUIDs, ports and rows. */
static bool read_nodes(struct columns_reader *reader, unsigned int at, struct perf_layout *layout,
		       GError **error)
{
	uint32_t n = layout->n_nodes, row = 0;
	struct perf_node *nodes = layout->nodes;

	if (!columns_read(reader, at + LAYOUT_GUID, in_steps(COLUMN_MEMBER(nodes, guid)), 0, n,
			  error) ||
	    !columns_read(reader, at + LAYOUT_FIRST_PORT, COLUMN_MEMBER(nodes, first_port), 0, n,
			  error) ||
	    !columns_read(reader, at + LAYOUT_NUM_PORTS, COLUMN_MEMBER(nodes, num_ports), 0, n,
			  error))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (i && nodes[i].guid <= nodes[i - 1].guid)
			return columns_wrong(reader, "its GUIDs do not ascend", error);
		if (nodes[i].first_port > nodes[i].num_ports + 1u)
			return columns_wrong(reader, "the ports of a node are wrong", error);
		nodes[i].first_row = row;
		row += nodes[i].num_ports + 1u - nodes[i].first_port;
	}
	return row == columns_count(reader, at + LAYOUT_PEER) ||
	       columns_wrong(reader, "it does not have a row for each port", error);
}

/* Moves behind the name at *at; NULL: it does not end. Names may come from a foreign file. */
static char *take_name(const char **at, const char *end)
{
	const char *stop = *at < end ? memchr(*at, '\0', (size_t)(end - *at)) : NULL;
	char *name;

	if (!stop)
		return NULL;
	name = g_utf8_make_valid(*at, stop - *at);
	for (char *octet = name; *octet; octet++)
		if (g_ascii_iscntrl(*octet))
			*octet = '?';
	*at = stop + 1;
	return name;
}

static bool read_names(struct columns_reader *reader, unsigned int at, struct perf_layout *layout,
		       GError **error)
{
	uint32_t length = columns_count(reader, at + LAYOUT_NAMES);
	g_autofree char *octets = g_malloc0(MAX(length, 1));
	const char *from = octets, *end = octets + length;

	if (!columns_read(reader, at + LAYOUT_NAMES, COLUMN_OF(octets), 0, length, error))
		return false;
	for (uint32_t i = 0; i < layout->n_nodes; i++) {
		struct perf_node *node = &layout->nodes[i];

		node->name = take_name(&from, end);
		node->description = take_name(&from, end);
		if (!node->description)
			return columns_wrong(reader, "it has too few names", error);
		if (!*node->description) {
			g_free(node->description);
			node->description = g_strdup(node->name);
		}
	}
	return from == end || columns_wrong(reader, "it has too many names", error);
}

static void set_no_names(struct perf_layout *layout)
{
	for (uint32_t i = 0; i < layout->n_nodes; i++) {
		layout->nodes[i].name = g_strdup("");
		layout->nodes[i].description = g_strdup("");
	}
}

/* Rows number first up to first + n of the file, into the first places. */
static bool read_places(struct columns_reader *reader, unsigned int at, struct perf_place *places,
			uint32_t first, uint32_t n, GError **error)
{
	return columns_read(reader, at + LAYOUT_PEER, in_steps(COLUMN_MEMBER(places, peer)), first,
			    n, error) &&
	       columns_read(reader, at + LAYOUT_LID, in_steps(COLUMN_MEMBER(places, lid)), first, n,
			    error) &&
	       columns_read(reader, at + LAYOUT_RATE, COLUMN_MEMBER(places, rate), first, n,
			    error) &&
	       columns_read(reader, at + LAYOUT_LANES, COLUMN_MEMBER(places, lanes), first, n,
			    error) &&
	       columns_read(reader, at + LAYOUT_TICK, COLUMN_MEMBER(places, tick), first, n,
			    error) &&
	       read_bools(reader, at + LAYOUT_FEC, &places->fec, sizeof(*places), first, n,
			  error) &&
	       read_bools(reader, at + LAYOUT_EXTENDED, &places->extended, sizeof(*places), first,
			  n, error) &&
	       read_bools(reader, at + LAYOUT_TO_SWITCH, &places->to_switch, sizeof(*places), first,
			  n, error);
}

static bool check_peers(struct columns_reader *reader, const struct perf_layout *layout,
			GError **error)
{
	for (uint32_t i = 0; i < layout->n_rows; i++)
		if (layout->places[i].peer >= layout->n_rows && layout->places[i].peer != PERF_NONE)
			return columns_wrong(reader, "a cable leads to a port that does not exist",
					     error);
	return true;
}

/* Places know their nodes and ports from these. */
static void number_places(struct perf_layout *layout)
{
	for (uint32_t i = 0; i < layout->n_nodes; i++) {
		const struct perf_node *node = &layout->nodes[i];

		for (unsigned int port = node->first_port; port <= node->num_ports; port++) {
			struct perf_place *place =
				&layout->places[node->first_row + port - node->first_port];

			place->node = i;
			place->port = (uint8_t)port;
		}
	}
}

/* Nodes without names; n_rows is still 0. */
static struct perf_layout *read_bare(struct columns_reader *reader, unsigned int at, GError **error)
{
	struct perf_layout *layout;

	if (!check_layout(reader, at, error))
		return NULL;
	layout = g_new0(struct perf_layout, 1);
	ref_init(&layout->ref);
	layout->n_nodes = columns_count(reader, at + LAYOUT_GUID);
	layout->nodes = g_new0(struct perf_node, MAX(layout->n_nodes, 1));
	if (read_nodes(reader, at, layout, error))
		return layout;
	perf_layout_unref(layout);
	return NULL;
}

struct perf_layout *perf_layout_read(struct columns_reader *reader, unsigned int at, bool names,
				     GError **error)
{
	struct perf_layout *layout = read_bare(reader, at, error);
	struct perf_node *nodes;
	uint32_t n;

	if (!layout)
		return NULL;
	nodes = layout->nodes;
	n = layout->n_nodes;
	layout->n_rows = columns_count(reader, at + LAYOUT_PEER);
	layout->places = g_new0(struct perf_place, MAX(layout->n_rows, 1));
	number_places(layout);
	if (!names)
		set_no_names(layout);
	for (uint32_t i = 0; !names && i < layout->n_rows; i++)
		layout->places[i].peer = PERF_NONE;
	if (columns_read(reader, at + LAYOUT_TYPE, COLUMN_MEMBER(nodes, type), 0, n, error) &&
	    read_bools(reader, at + LAYOUT_ACTIVE, &nodes->active, sizeof(*nodes), 0, n, error) &&
	    columns_read(reader, at + LAYOUT_SINCE, in_steps(COLUMN_MEMBER(nodes, since_us)), 0, n,
			 error) &&
	    (!names ||
	     (read_places(reader, at, layout->places, 0, layout->n_rows, error) &&
	      check_peers(reader, layout, error) && read_names(reader, at, layout, error))))
		return layout;
	perf_layout_unref(layout);
	return NULL;
}

/* ---- writing ---- */

GByteArray *perf_image_encode(const struct perf_image *image, uint64_t run, uint64_t after,
			      const uint32_t *missed, const uint16_t *flags, int level)
{
	uint64_t head[HEAD_NUMBERS] = {
		[HEAD_ID] = image->id,		[HEAD_RUN] = image->run ? image->run : run,
		[HEAD_AFTER] = after,		[HEAD_BEGAN] = image->began_ns,
		[HEAD_ENDED] = image->ended_ns, [HEAD_ENDED_US] = (uint64_t)image->ended_us,
	};
	uint32_t n = image->layout->n_rows, n_details = image->n_details;
	struct perf_detail_row *details = image->details;
	struct columns_writer *writer;

	if (n > PERF_FILE_ROWS_MAX || image->layout->n_nodes > PERF_FILE_ROWS_MAX)
		return NULL;
	writer = columns_begin(MAGIC, VERSION, level);
	columns_add(writer, COLUMN_OF(head), HEAD_NUMBERS);
	perf_layout_write(writer, image->layout);
	columns_add(writer, in_steps(COLUMN_OF(image->read_ns)), n);
	columns_add(writer, COLUMN_OF(image->at_least), n);
	columns_add(writer, COLUMN_OF(missed ? (uint32_t *)missed : image->missed), n);
	columns_add(writer, COLUMN_OF(flags ? (uint16_t *)flags : image->flags), n);
	columns_add(writer, COLUMN_OF(image->have), n);
	for (unsigned int i = 0; i < PERF_COUNTERS; i++)
		columns_add(writer, COLUMN_OF(image->total[i]), n);
	columns_add(writer, in_steps(COLUMN_MEMBER(details, row)), n_details);
	columns_add(writer, COLUMN_MEMBER(details, have), n_details);
	columns_add(writer, COLUMN_MEMBER(details, at_least), n_details);
	columns_add(writer, in_steps(COLUMN_MEMBER(details, read_ns)), n_details);
	for (unsigned int i = 0; i < PERF_DETAILS; i++)
		columns_add(writer, COLUMN_MEMBER(details, total[i]), n_details);
	return columns_end(writer);
}

/* ---- reading ---- */

static struct columns_reader *open_image(const char *file, uint64_t *head, GError **error)
{
	struct columns_reader *reader = columns_open(file, MAGIC, VERSION, N_COLUMNS, error);
	bool good;

	if (!reader)
		return NULL;
	good = columns_count(reader, AT_HEAD) == HEAD_NUMBERS ||
	       columns_wrong(reader, "its first column is wrong", error);
	good = good && columns_read(reader, AT_HEAD, COLUMN_OF(head), 0, HEAD_NUMBERS, error) &&
	       check_layout(reader, AT_LAYOUT, error) &&
	       check_counts(reader, AT_READ_NS, AT_DETAIL_ROW - AT_READ_NS, error) &&
	       check_counts(reader, AT_DETAIL_ROW, N_COLUMNS - AT_DETAIL_ROW, error);
	if (good &&
	    columns_count(reader, AT_READ_NS) != columns_count(reader, AT_LAYOUT + LAYOUT_PEER))
		good = columns_wrong(reader, "its columns do not have the same length", error);
	if (good && columns_count(reader, AT_DETAIL_ROW) > columns_count(reader, AT_READ_NS))
		good = columns_wrong(reader, "it has more details than rows", error);
	if (good)
		return reader;
	columns_close(reader);
	return NULL;
}

bool perf_image_peek(const char *file, struct perf_image_head *head, GError **error)
{
	uint64_t numbers[HEAD_NUMBERS] = {0};
	struct columns_reader *reader = open_image(file, numbers, error);

	if (!reader)
		return false;
	*head = (struct perf_image_head){
		.id = numbers[HEAD_ID],
		.run = numbers[HEAD_RUN],
		.ended_us = (int64_t)numbers[HEAD_ENDED_US],
		.n_nodes = columns_count(reader, AT_LAYOUT + LAYOUT_GUID),
		.n_rows = columns_count(reader, AT_READ_NS),
		.n_details = columns_count(reader, AT_DETAIL_ROW),
	};
	columns_close(reader);
	return true;
}

static void set_head(struct perf_image *image, const uint64_t *numbers, uint64_t run)
{
	image->id = numbers[HEAD_ID];
	image->run = numbers[HEAD_RUN] == run ? 0 : numbers[HEAD_RUN];
	image->after = numbers[HEAD_AFTER];
	image->began_ns = numbers[HEAD_BEGAN];
	image->ended_ns = numbers[HEAD_ENDED];
	image->ended_us = (int64_t)numbers[HEAD_ENDED_US];
}

/* Rows number first to first + n of the file, into the first ones. */
static bool read_rows(struct columns_reader *reader, struct perf_image *image, uint64_t columns,
		      uint32_t first, uint32_t n, GError **error)
{
	if (!columns_read(reader, AT_READ_NS, in_steps(COLUMN_OF(image->read_ns)), first, n,
			  error) ||
	    !columns_read(reader, AT_AT_LEAST, COLUMN_OF(image->at_least), first, n, error) ||
	    !columns_read(reader, AT_MISSED, COLUMN_OF(image->missed), first, n, error) ||
	    !columns_read(reader, AT_FLAGS, COLUMN_OF(image->flags), first, n, error) ||
	    !columns_read(reader, AT_HAVE, COLUMN_OF(image->have), first, n, error))
		return false;
	for (unsigned int i = 0; i < PERF_COUNTERS; i++)
		if (columns & PERF_BIT(i) &&
		    !columns_read(reader, AT_TOTAL + i, COLUMN_OF(image->total[i]), first, n,
				  error))
			return false;
	return true;
}

static bool read_details(struct columns_reader *reader, struct perf_detail_row *details,
			 uint64_t columns, uint32_t first, uint32_t n, GError **error)
{
	if (!columns_read(reader, AT_DETAIL_HAVE, COLUMN_MEMBER(details, have), first, n, error) ||
	    !columns_read(reader, AT_DETAIL_AT_LEAST, COLUMN_MEMBER(details, at_least), first, n,
			  error) ||
	    !columns_read(reader, AT_DETAIL_READ_NS, in_steps(COLUMN_MEMBER(details, read_ns)),
			  first, n, error))
		return false;
	for (unsigned int i = 0; i < PERF_DETAILS; i++)
		if (columns & PERF_BIT(PERF_COLUMN_OF(i)) &&
		    !columns_read(reader, AT_DETAIL_TOTAL + i, COLUMN_MEMBER(details, total[i]),
				  first, n, error))
			return false;
	return true;
}

/* Bits of columns that this program does not know mean nothing. */
static void mask_bits(struct perf_image *image)
{
	for (uint32_t i = 0; i < image->layout->n_rows; i++) {
		image->at_least[i] &= PERF_ALL_COUNTERS;
		image->missed[i] &= PERF_ALL_COUNTERS;
		image->have[i] &= PERF_ALL_COUNTERS;
	}
	for (uint32_t i = 0; i < image->n_details; i++) {
		image->details[i].have &= (1u << PERF_DETAILS) - 1;
		image->details[i].at_least &= (1u << PERF_DETAILS) - 1;
	}
}

/* The rows that have details, in ascending order. */
static bool read_detail_rows(struct columns_reader *reader, struct perf_detail_row *details,
			     uint32_t n, GError **error)
{
	uint32_t n_rows = columns_count(reader, AT_READ_NS);

	if (!columns_read(reader, AT_DETAIL_ROW, in_steps(COLUMN_MEMBER(details, row)), 0, n,
			  error))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (details[i].row >= n_rows || (i && details[i].row <= details[i - 1].row))
			return columns_wrong(reader, "the rows of details are wrong", error);
	return true;
}

struct perf_image *perf_image_load(const char *file, uint64_t run, uint64_t columns, GError **error)
{
	uint64_t numbers[HEAD_NUMBERS] = {0};
	struct columns_reader *reader = open_image(file, numbers, error);
	struct perf_image *image = NULL;
	struct perf_layout *layout;
	uint32_t n_details = 0;

	if (!reader)
		return NULL;
	layout = perf_layout_read(reader, AT_LAYOUT, columns & PERF_WITH_NAMES, error);
	if (layout) {
		if (columns & PERF_ALL_COLUMNS & ~PERF_ALL_COUNTERS)
			n_details = columns_count(reader, AT_DETAIL_ROW);
		image = perf_image_new(layout, n_details);
		set_head(image, numbers, run);
		if (read_rows(reader, image, columns, 0, layout->n_rows, error) &&
		    read_detail_rows(reader, image->details, n_details, error) &&
		    read_details(reader, image->details, columns, 0, n_details, error))
			mask_bits(image);
		else
			g_clear_pointer(&image, perf_image_unref);
		perf_layout_unref(layout);
	}
	columns_close(reader);
	return image;
}

/* ---- one port ---- */

/* Its row in the file, and a layout of it alone; PERF_NONE: it has none, or there is an error. */
static uint32_t find_port(struct columns_reader *reader, uint64_t guid, uint8_t port,
			  struct perf_layout **slice, GError **error)
{
	struct perf_layout *all = read_bare(reader, AT_LAYOUT, error);
	struct perf_node *node;
	uint32_t row, i;

	if (!all)
		return PERF_NONE;
	row = perf_layout_row(all, guid, port);
	i = perf_layout_node(all, guid);
	perf_layout_unref(all);
	if (row == PERF_NONE)
		return PERF_NONE;
	*slice = g_new0(struct perf_layout, 1);
	ref_init(&(*slice)->ref);
	(*slice)->n_nodes = (*slice)->n_rows = 1;
	(*slice)->nodes = node = g_new0(struct perf_node, 1);
	(*slice)->places = g_new0(struct perf_place, 1);
	set_no_names(*slice);
	node->guid = guid;
	node->first_port = node->num_ports = port;
	number_places(*slice);
	if (columns_read(reader, AT_LAYOUT + LAYOUT_TYPE, COLUMN_MEMBER(node, type), i, 1, error) &&
	    read_bools(reader, AT_LAYOUT + LAYOUT_ACTIVE, &node->active, sizeof(*node), i, 1,
		       error) &&
	    columns_read(reader, AT_LAYOUT + LAYOUT_SINCE, in_steps(COLUMN_MEMBER(node, since_us)),
			 i, 1, error) &&
	    read_places(reader, AT_LAYOUT, (*slice)->places, row, 1, error)) {
		(*slice)->places->peer = PERF_NONE;
		return row;
	}
	g_clear_pointer(slice, perf_layout_unref);
	return PERF_NONE;
}

/* The number of the details of that row, or PERF_NONE. */
static uint32_t find_details(struct columns_reader *reader, uint32_t row, GError **error)
{
	uint32_t n = columns_count(reader, AT_DETAIL_ROW), found = PERF_NONE;
	g_autofree uint32_t *rows = g_new0(uint32_t, MAX(n, 1));

	if (!columns_read(reader, AT_DETAIL_ROW, in_steps(COLUMN_OF(rows)), 0, n, error))
		return PERF_NONE;
	for (uint32_t i = 0; i < n && found == PERF_NONE; i++)
		if (rows[i] == row)
			found = i;
	return found;
}

struct perf_image *perf_image_load_port(const char *file, uint64_t run, uint64_t guid, uint8_t port,
					uint64_t columns, GError **error)
{
	uint64_t numbers[HEAD_NUMBERS] = {0};
	struct columns_reader *reader = open_image(file, numbers, error);
	uint32_t row, details = PERF_NONE;
	struct perf_layout *layout = NULL;
	struct perf_image *image = NULL;
	GError *wrong = NULL;

	if (!reader)
		return NULL;
	row = find_port(reader, guid, port, &layout, &wrong);
	if (layout && columns & PERF_ALL_COLUMNS & ~PERF_ALL_COUNTERS)
		details = find_details(reader, row, &wrong);
	if (layout && !wrong) {
		image = perf_image_new(layout, details != PERF_NONE);
		set_head(image, numbers, run);
		if (read_rows(reader, image, columns, row, 1, &wrong) && details != PERF_NONE)
			read_details(reader, image->details, columns, details, 1, &wrong);
		mask_bits(image);
	}
	if (wrong) {
		g_clear_pointer(&image, perf_image_unref);
		g_propagate_error(error, wrong);
	}
	perf_layout_unref(layout);
	columns_close(reader);
	return image;
}
