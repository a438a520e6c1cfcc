// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The file "last": see resume.h. It has the frame of columns.h and the layout of image_file.h. */
#include "perf/disk/resume.h"

#include <glib/gstdio.h>

#include "perf/disk/columns.h"
#include "perf/disk/image_file.h"

#define MAGIC "OSMRESUM"
#define VERSION 2

enum { HEAD_ID, HEAD_SAVED, HEAD_NUMBERS };

enum {
	AT_HEAD,
	AT_LAYOUT,
	AT_READ = AT_LAYOUT + LAYOUT_COLUMNS,
	AT_AT_LEAST,
	AT_HAVE,
	AT_FLAGS,
	AT_WIDE,
	AT_ABSOLUTE,
	AT_TOTAL = AT_ABSOLUTE + PERF_COUNTERS,
	AT_DETAIL_ROW = AT_TOTAL + PERF_COUNTERS,
	AT_DETAIL_HAVE,
	AT_DETAIL_AT_LEAST,
	AT_DETAIL_READ,
	AT_DETAIL_ABSOLUTE,
	AT_DETAIL_TOTAL = AT_DETAIL_ABSOLUTE + PERF_DETAILS,
	N_COLUMNS = AT_DETAIL_TOTAL + PERF_DETAILS
};
G_STATIC_ASSERT(N_COLUMNS <= COLUMNS_MAX);

struct perf_resume *perf_resume_new(struct perf_layout *layout, uint32_t n_details)
{
	struct perf_resume *resume = g_new0(struct perf_resume, 1);
	uint32_t n = MAX(layout->n_rows, 1);

	resume->layout = perf_layout_ref(layout);
	for (unsigned int i = 0; i < PERF_COUNTERS; i++) {
		resume->absolute[i] = g_new0(uint64_t, n);
		resume->total[i] = g_new0(uint64_t, n);
	}
	resume->read_us = g_new0(int64_t, n);
	resume->at_least = g_new0(uint32_t, n);
	resume->have = g_new0(uint32_t, n);
	resume->flags = g_new0(uint16_t, n);
	resume->wide = g_new0(uint32_t, n);
	resume->n_details = n_details;
	resume->details = g_new0(struct perf_resume_detail, MAX(n_details, 1));
	return resume;
}

void perf_resume_free(struct perf_resume *resume)
{
	if (!resume)
		return;
	perf_layout_unref(resume->layout);
	for (unsigned int i = 0; i < PERF_COUNTERS; i++) {
		g_free(resume->absolute[i]);
		g_free(resume->total[i]);
	}
	g_free(resume->read_us);
	g_free(resume->at_least);
	g_free(resume->have);
	g_free(resume->flags);
	g_free(resume->wide);
	g_free(resume->details);
	g_free(resume);
}

/* ---- columns, as they are read and written ---- */

struct place {
	unsigned int number; /* of the column */
	struct column column;
	bool details; /* a value for each of the details, else for each row */
};

static void put(GArray *places, unsigned int number, struct column column, bool steps, bool details)
{
	struct place place = {number, column, details};

	place.column.steps = steps;
	g_array_append_val(places, place);
}

/* All columns behind those of the layout, in order. */
static GArray *places_of(const struct perf_resume *resume)
{
	GArray *places = g_array_new(FALSE, FALSE, sizeof(struct place));
	struct perf_resume_detail *details = resume->details;

	put(places, AT_READ, COLUMN_OF(resume->read_us), true, false);
	put(places, AT_AT_LEAST, COLUMN_OF(resume->at_least), false, false);
	put(places, AT_HAVE, COLUMN_OF(resume->have), false, false);
	put(places, AT_FLAGS, COLUMN_OF(resume->flags), false, false);
	put(places, AT_WIDE, COLUMN_OF(resume->wide), false, false);
	for (unsigned int i = 0; i < PERF_COUNTERS; i++)
		put(places, AT_ABSOLUTE + i, COLUMN_OF(resume->absolute[i]), false, false);
	for (unsigned int i = 0; i < PERF_COUNTERS; i++)
		put(places, AT_TOTAL + i, COLUMN_OF(resume->total[i]), false, false);
	put(places, AT_DETAIL_ROW, COLUMN_MEMBER(details, row), true, true);
	put(places, AT_DETAIL_HAVE, COLUMN_MEMBER(details, have), false, true);
	put(places, AT_DETAIL_AT_LEAST, COLUMN_MEMBER(details, at_least), false, true);
	put(places, AT_DETAIL_READ, COLUMN_MEMBER(details, read_us), true, true);
	for (unsigned int i = 0; i < PERF_DETAILS; i++)
		put(places, AT_DETAIL_ABSOLUTE + i, COLUMN_MEMBER(details, absolute[i]), false,
		    true);
	for (unsigned int i = 0; i < PERF_DETAILS; i++)
		put(places, AT_DETAIL_TOTAL + i, COLUMN_MEMBER(details, total[i]), false, true);
	return places;
}

GByteArray *perf_resume_encode(const struct perf_resume *resume, int level)
{
	uint64_t head[HEAD_NUMBERS] = {resume->id, (uint64_t)resume->saved_us};
	g_autoptr(GArray) places = NULL;
	struct columns_writer *writer;

	if (resume->layout->n_rows > PERF_FILE_ROWS_MAX ||
	    resume->layout->n_nodes > PERF_FILE_ROWS_MAX)
		return NULL;
	writer = columns_begin(MAGIC, VERSION, level);
	columns_add(writer, COLUMN_OF(head), HEAD_NUMBERS);
	perf_layout_write(writer, resume->layout);
	places = places_of(resume);
	for (guint i = 0; i < places->len; i++) {
		const struct place *place = &g_array_index(places, struct place, i);

		columns_add(writer, place->column,
			    place->details ? resume->n_details : resume->layout->n_rows);
	}
	return columns_end(writer);
}

/* ---- reading ---- */

static bool read_places(struct columns_reader *reader, const struct perf_resume *resume,
			GError **error)
{
	g_autoptr(GArray) places = places_of(resume);

	for (guint i = 0; i < places->len; i++) {
		const struct place *place = &g_array_index(places, struct place, i);
		uint32_t n = place->details ? resume->n_details : resume->layout->n_rows;

		if (columns_count(reader, place->number) != n)
			return columns_wrong(reader, "its columns do not have the same length",
					     error);
		if (!columns_read(reader, place->number, place->column, 0, n, error))
			return false;
	}
	return true;
}

/* Rows of details ascend; bits of columns that this program does not know mean nothing. */
static bool check(struct columns_reader *reader, const struct perf_resume *resume, GError **error)
{
	for (uint32_t i = 0; i < resume->layout->n_rows; i++) {
		resume->at_least[i] &= PERF_ALL_COUNTERS;
		resume->have[i] &= PERF_ALL_COUNTERS;
		resume->wide[i] &= PERF_ALL_COUNTERS;
	}
	for (uint32_t i = 0; i < resume->n_details; i++) {
		struct perf_resume_detail *detail = &resume->details[i];

		if (detail->row >= resume->layout->n_rows ||
		    (i && detail->row <= resume->details[i - 1].row))
			return columns_wrong(reader, "the rows of details are wrong", error);
		detail->have &= (1u << PERF_DETAILS) - 1;
		detail->at_least &= (1u << PERF_DETAILS) - 1;
	}
	return true;
}

struct perf_resume *perf_resume_load(const char *file, GError **error)
{
	struct columns_reader *reader = columns_open(file, MAGIC, VERSION, N_COLUMNS, error);
	struct perf_resume *resume = NULL;
	uint64_t head[HEAD_NUMBERS] = {0};
	struct perf_layout *layout = NULL;

	if (!reader)
		return NULL;
	if (columns_count(reader, AT_HEAD) != HEAD_NUMBERS)
		columns_wrong(reader, "its first column is wrong", error);
	else if (columns_count(reader, AT_DETAIL_ROW) > columns_count(reader, AT_READ))
		columns_wrong(reader, "it has more details than rows", error);
	else if (columns_read(reader, AT_HEAD, COLUMN_OF(head), 0, HEAD_NUMBERS, error))
		layout = perf_layout_read(reader, AT_LAYOUT, true, error);
	if (layout) {
		resume = perf_resume_new(layout, columns_count(reader, AT_DETAIL_ROW));
		resume->id = head[HEAD_ID];
		resume->saved_us = (int64_t)head[HEAD_SAVED];
		if (!read_places(reader, resume, error) || !check(reader, resume, error))
			g_clear_pointer(&resume, perf_resume_free);
		perf_layout_unref(layout);
	}
	columns_close(reader);
	return resume;
}

char *perf_resume_file(const char *directory)
{
	return g_build_filename(directory, "last", NULL);
}

struct perf_resume *perf_resume_take(struct log *log, const char *directory)
{
	g_autofree char *file = perf_resume_file(directory);
	g_autofree char *bad = g_strconcat(file, ".bad", NULL);
	g_autoptr(GError) error = NULL;
	struct perf_resume *resume = perf_resume_load(file, &error);

	if (resume || g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
		return resume;
	if (g_rename(file, bad) == 0)
		log_error(log, "%s: totals of counters begin at 0; saved as %s", error->message,
			  bad);
	else
		log_error(log, "%s: totals of counters begin at 0", error->message);
	return NULL;
}
