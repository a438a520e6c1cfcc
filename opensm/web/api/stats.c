// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/api/stats.h"

#include <inttypes.h>
#include <string.h>

static const double limits[] = {.01, .1, 1, 10};

#define LIMITS G_N_ELEMENTS(limits)

/* What a handler has answered. */
struct series {
	const char *handler;
	GArray *codes; /* of struct code, in their order */
	uint64_t requests, within[LIMITS];
	double seconds;
};

struct code {
	unsigned int code;
	uint64_t requests;
};

struct stats {
	GArray *all; /* of struct series, by handler */
};

static void series_clear(gpointer series)
{
	g_array_unref(((struct series *)series)->codes);
}

struct stats *stats_new(void)
{
	struct stats *stats = g_new(struct stats, 1);

	stats->all = g_array_new(FALSE, TRUE, sizeof(struct series));
	g_array_set_clear_func(stats->all, series_clear);
	return stats;
}

void stats_free(struct stats *stats)
{
	if (!stats)
		return;
	g_array_unref(stats->all);
	g_free(stats);
}

static struct series *find(struct stats *stats, const char *handler)
{
	struct series added = {.handler = handler};
	guint i;

	for (i = 0; i < stats->all->len; i++) {
		struct series *series = &g_array_index(stats->all, struct series, i);
		int order = strcmp(series->handler, handler);

		if (!order)
			return series;
		if (order > 0)
			break;
	}
	added.codes = g_array_new(FALSE, TRUE, sizeof(struct code));
	g_array_insert_val(stats->all, i, added);
	return &g_array_index(stats->all, struct series, i);
}

static void count_code(GArray *codes, unsigned int number)
{
	struct code added = {number, 0};
	guint i = 0;

	while (i < codes->len && g_array_index(codes, struct code, i).code < number)
		i++;
	if (i == codes->len || g_array_index(codes, struct code, i).code != number)
		g_array_insert_val(codes, i, added);
	g_array_index(codes, struct code, i).requests++;
}

void stats_add(struct stats *stats, const char *handler, unsigned int code, double seconds)
{
	struct series *series = find(stats, handler);

	count_code(series->codes, code);
	series->requests++;
	series->seconds += seconds;
	for (size_t i = 0; i < LIMITS; i++)
		series->within[i] += seconds <= limits[i];
}

static void head(GString *out, const char *family, const char *suffix, const char *type,
		 const char *help)
{
	g_string_append_printf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", family, suffix, help,
			       family, suffix, type);
}

/* A number as both formats take it: with a fraction. */
static void append_real(GString *out, double value)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	g_ascii_formatd(text, sizeof(text), "%.9g", value);
	g_string_append(out, text);
	if (!strpbrk(text, ".en"))
		g_string_append(out, ".0");
}

static void write_codes(GString *out, const struct series *series)
{
	for (guint i = 0; i < series->codes->len; i++) {
		const struct code *code = &g_array_index(series->codes, struct code, i);

		g_string_append_printf(
			out, "opensm_web_requests_total{handler=\"%s\",code=\"%u\"} %" PRIu64 "\n",
			series->handler, code->code, code->requests);
	}
}

static void write_durations(GString *out, const struct series *series)
{
	static const char family[] = "opensm_web_request_duration_seconds";

	for (size_t i = 0; i < LIMITS; i++) {
		g_string_append_printf(out, "%s_bucket{handler=\"%s\",le=\"", family,
				       series->handler);
		append_real(out, limits[i]);
		g_string_append_printf(out, "\"} %" PRIu64 "\n", series->within[i]);
	}
	g_string_append_printf(out, "%s_bucket{handler=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", family,
			       series->handler, series->requests);
	g_string_append_printf(out, "%s_sum{handler=\"%s\"} ", family, series->handler);
	append_real(out, series->seconds);
	g_string_append_printf(out, "\n%s_count{handler=\"%s\"} %" PRIu64 "\n", family,
			       series->handler, series->requests);
}

void stats_write(const struct stats *stats, unsigned int connections, bool open_metrics,
		 GString *out)
{
	head(out, "opensm_web_connections", "", "gauge", "Connections of clients to opensm-web.");
	g_string_append_printf(out, "opensm_web_connections %u\n", connections);
	head(out, "opensm_web_requests", open_metrics ? "" : "_total", "counter",
	     "Requests that opensm-web has answered, by handler and status.");
	for (guint i = 0; i < stats->all->len; i++)
		write_codes(out, &g_array_index(stats->all, struct series, i));
	head(out, "opensm_web_request_duration_seconds", "", "histogram",
	     "Times from the headers of a request until its answer was sent.");
	for (guint i = 0; i < stats->all->len; i++)
		write_durations(out, &g_array_index(stats->all, struct series, i));
}
