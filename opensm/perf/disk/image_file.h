// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* An image as a file that needs no other (columns.h). Pure functions, but for the file read. */
#ifndef PERF_IMAGE_FILE_H
#define PERF_IMAGE_FILE_H

#include <glib.h>

#include "perf/image/image.h"
#include "perf/image/query.h"

#define PERF_FILE_ROWS_MAX (1u << 20) /* rows, nodes or details of an image */
#define PERF_FILE_LEVEL 1	      /* of compression: higher ones save little */

/*
 * The file; run: of this process, not 0; missed and flags: those of all images since the one with
 * id `after`, NULL: of this one. NULL if it has too many rows.
 */
GByteArray *perf_image_encode(const struct perf_image *image, uint64_t run, uint64_t after,
			      const uint32_t *missed, const uint16_t *flags, int level);

/* What can be told without reading the rest. */
struct perf_image_head {
	uint64_t id, run;
	int64_t ended_us;
	uint32_t n_nodes, n_rows, n_details;
};
/* False or NULL, and error, as from columns_open(); so are those of the next two functions. */
bool perf_image_peek(const char *file, struct perf_image_head *head, GError **error);

/* In place of a column: names of nodes, and places; else these are empty but for node and port. */
#define PERF_WITH_NAMES (UINT64_C(1) << 63)
/*
 * An image with these columns, the others are zeros; run: of this process, the image's is 0 if it
 * has that run.
 */
struct perf_image *perf_image_load(const char *file, uint64_t run, uint64_t columns,
				   GError **error);
/*
 * An image of one port, as perf_image_slice() makes it, from the few chunks that concern it.
 * NULL without error: the image does not have the port.
 */
struct perf_image *perf_image_load_port(const char *file, uint64_t run, uint64_t guid, uint8_t port,
					uint64_t columns, GError **error);

/* ---- for other files with a layout (resume.c) ---- */

struct columns_writer;
struct columns_reader;

/* Columns that describe a layout, in this order. */
enum {
	LAYOUT_GUID,
	LAYOUT_TYPE,
	LAYOUT_FIRST_PORT,
	LAYOUT_NUM_PORTS,
	LAYOUT_ACTIVE,
	LAYOUT_SINCE,
	LAYOUT_NAMES, /* of all nodes: name NUL description NUL */
	LAYOUT_PEER,
	LAYOUT_LID,
	LAYOUT_RATE,
	LAYOUT_LANES,
	LAYOUT_TICK,
	LAYOUT_FEC,
	LAYOUT_EXTENDED,
	LAYOUT_TO_SWITCH,
	LAYOUT_COLUMNS
};
void perf_layout_write(struct columns_writer *writer, const struct perf_layout *layout);
struct perf_layout *perf_layout_read(struct columns_reader *reader, unsigned int first_column,
				     bool names, GError **error);

#endif
