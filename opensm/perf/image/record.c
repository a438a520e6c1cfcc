// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "perf/image/record.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define US_PER_S 1000000

int64_t perf_read_seconds(const struct perf_image *image, uint32_t row)
{
	int64_t ago_us;

	if (!image->read_ns[row])
		return 0;
	ago_us = (int64_t)(image->ended_ns - image->read_ns[row]) / 1000;
	return (image->ended_us - ago_us) / US_PER_S;
}

bool perf_record_of(struct perf_record *record, const struct perf_image *image, uint32_t row)
{
	const struct perf_node *node = perf_layout_node_of(image->layout, row);

	if (!(image->flags[row] & PERF_EVER))
		return false;
	*record = (struct perf_record){
		.name = node->name,
		.guid = node->guid,
		.active = node->active,
		.port = image->layout->places[row].port,
		.since = (node->since_us ? node->since_us : image->ended_us) / US_PER_S,
		.read = perf_read_seconds(image, row),
	};
	for (int i = 0; i < PERF_COUNTERS; i++)
		record->total[i] = image->total[i][row];
	return true;
}

static bool is_error(int counter)
{
	return perf_counter_info[counter].dump && (perf_counter_info[counter].kind == PERF_ERROR ||
						   perf_counter_info[counter].kind == PERF_WAIT);
}

static bool is_data(int counter)
{
	return perf_counter_info[counter].dump && !is_error(counter);
}

bool perf_record_has_errors(const struct perf_record *record)
{
	for (int i = 0; i < PERF_COUNTERS; i++)
		if (is_error(i) && record->total[i])
			return true;
	return false;
}

/* ---- text ---- */

/* What would end the line or shift a column. */
static void put_name(GString *out, const char *name)
{
	for (; *name; name++)
		g_string_append_c(out, (unsigned char)*name < ' ' || *name == 0x7F ? '.' : *name);
}

/* As ctime() writes it, without its line end. */
static void put_time(GString *out, int64_t seconds)
{
	time_t when = (time_t)seconds;
	char text[26]; /* POSIX: enough for ctime_r() */

	if (!ctime_r(&when, text)) /* hostile: a year of more than 4 digits */
		strcpy(text, "?");
	g_string_append_len(out, text, (gssize)strcspn(text, "\n"));
}

/* The width of keys is that of the classic daemon. */
static void put_key(GString *out, const char *key)
{
	g_string_append_printf(out, "     %-21s: ", key);
}

static void put_moment(GString *out, const char *key, int64_t seconds)
{
	put_key(out, key);
	put_time(out, seconds);
	g_string_append_c(out, '\n');
}

/* Data in units of four octets, and beside it in octets, as a float has them. */
static void put_amount(GString *out, int counter, uint64_t total)
{
	static const char units[][2] = {"", "K", "M", "G", "T", "P", "E"};
	bool octets = perf_counter_info[counter].kind == PERF_DATA;
	float amount = (float)total * (octets ? 4.0f : 1.0f);
	unsigned int unit = 0;

	for (; amount >= 1024.0f && unit + 1 < G_N_ELEMENTS(units); unit++)
		amount /= 1024.0f;
	put_key(out, perf_counter_info[counter].dump);
	g_string_append_printf(out, "%" PRIu64 " (%5.3f%s%s)\n", total, (double)amount, units[unit],
			       octets ? "B" : "");
}

static void put_head(const struct perf_record *record, GString *out)
{
	g_string_append_c(out, '"');
	put_name(out, record->name);
	g_string_append_printf(out, "\" 0x%" PRIx64 " active %s port %u\n", record->guid,
			       record->active ? "TRUE" : "FALSE", record->port);
	put_moment(out, "Last Reset", record->since);
	put_moment(out, "Last Error Update", record->read);
}

static void put_error(GString *out, int counter, uint64_t total)
{
	put_key(out, perf_counter_info[counter].dump);
	g_string_append_printf(out, "%" PRIu64 "\n", total);
}

void perf_record_print(const struct perf_record *record, GString *out)
{
	put_head(record, out);
	for (int i = 0; i < PERF_COUNTERS; i++)
		if (is_error(i))
			put_error(out, i, record->total[i]);
	put_moment(out, "Last Data Update", record->read);
	for (int i = 0; i < PERF_COUNTERS; i++)
		if (is_data(i))
			put_amount(out, i, record->total[i]);
}

void perf_record_print_errors(const struct perf_record *record, GString *out)
{
	put_head(record, out);
	for (int i = 0; i < PERF_COUNTERS; i++)
		if (is_error(i) && record->total[i])
			put_error(out, i, record->total[i]);
}

void perf_record_titles(GString *out)
{
	g_string_append(out, "Name\tGUID\tActive\tPort\tLast Reset\tLast Error Update\t"
			     "Last Data Update");
	for (int i = 0; i < PERF_COUNTERS; i++)
		if (perf_counter_info[i].machine)
			g_string_append_printf(out, "\t%s", perf_counter_info[i].machine);
	g_string_append_c(out, '\n');
}

void perf_record_columns(const struct perf_record *record, GString *out)
{
	const int64_t times[] = {record->since, record->read, record->read};

	put_name(out, record->name);
	g_string_append_printf(out, "\t0x%" PRIx64 "\t%s\t%u", record->guid,
			       record->active ? "TRUE" : "FALSE", record->port);
	for (unsigned int i = 0; i < G_N_ELEMENTS(times); i++) {
		g_string_append_c(out, '\t');
		put_time(out, times[i]);
	}
	for (int i = 0; i < PERF_COUNTERS; i++)
		if (perf_counter_info[i].machine)
			g_string_append_printf(out, "\t%" PRIu64, record->total[i]);
	g_string_append_c(out, '\n');
}
