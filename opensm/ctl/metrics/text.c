// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/metrics/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/printable.h"

#define PIECE (256u << 10)   /* octets that are kept before they go to the file */
#define TEXT_MAX (32u << 20) /* octets of a text without a file */

static const char *const type_words[] = {
	[METRIC_COUNTER] = "counter",
	[METRIC_GAUGE] = "gauge",
	[METRIC_INFO] = "info",
	[METRIC_HISTOGRAM] = "histogram",
};

void metrics_text_init(struct metrics_text *text, int file, bool open_metrics)
{
	*text = (struct metrics_text){
		.out = g_string_sized_new(file < 0 ? 16384 : PIECE + 4096),
		.file = file,
		.open_metrics = open_metrics,
	};
}

void metrics_text_clear(struct metrics_text *text)
{
	if (text->out)
		g_string_free(text->out, TRUE);
	text->out = NULL;
}

static void flush(struct metrics_text *text)
{
	gsize done = 0;

	while (done < text->out->len && !text->trouble) {
		ssize_t n = write(text->file, text->out->str + done, text->out->len - done);

		if (n > 0)
			done += (gsize)n;
		else if (n == 0 || errno != EINTR)
			text->trouble = n ? errno : EIO;
	}
	g_string_truncate(text->out, 0);
}

static void end_line(struct metrics_text *text)
{
	g_string_append_c(text->out, '\n');
	if (text->file < 0 && text->out->len > TEXT_MAX) {
		text->trouble = EFBIG;
		g_string_truncate(text->out, 0);
	}
	if (text->file >= 0 && text->out->len >= PIECE)
		flush(text);
}

void metrics_text_end(struct metrics_text *text)
{
	if (text->open_metrics)
		g_string_append(text->out, "# EOF\n");
	if (text->file >= 0)
		flush(text);
}

/* ---- labels ---- */

static void begin_label(GString *labels, const char *name)
{
	if (labels->len)
		g_string_append_c(labels, ',');
	g_string_append(labels, name);
	g_string_append(labels, "=\"");
}

void metrics_label(GString *labels, const char *name, const char *value)
{
	g_autofree char *shown = printable_text(value);

	begin_label(labels, name);
	for (const char *c = shown; *c; c++) {
		if (*c == '"' || *c == '\\')
			g_string_append_c(labels, '\\');
		g_string_append_c(labels, *c);
	}
	g_string_append_c(labels, '"');
}

void metrics_label_guid(GString *labels, const char *name, uint64_t guid)
{
	begin_label(labels, name);
	g_string_append_printf(labels, "0x%016" PRIx64 "\"", guid);
}

void metrics_label_number(GString *labels, const char *name, uint64_t number)
{
	begin_label(labels, name);
	g_string_append_printf(labels, "%" PRIu64 "\"", number);
}

/* ---- families ---- */

/* In the text format an info is a gauge, whose family has the name of its samples. */
void metrics_family(struct metrics_text *text, const struct metric *metric)
{
	const char *suffix = text->open_metrics ? "" : metric_suffix(metric);
	bool info = metric->type == METRIC_INFO && !text->open_metrics;
	const char *word = type_words[info ? METRIC_GAUGE : metric->type];

	g_string_append_printf(text->out, "# HELP %s%s %s\n", metric->name, suffix, metric->help);
	g_string_append_printf(text->out, "# TYPE %s%s %s", metric->name, suffix, word);
	if (text->open_metrics && *metric->unit)
		g_string_append_printf(text->out, "\n# UNIT %s %s", metric->name, metric->unit);
	end_line(text);
}

/* Everything before the value. */
static void begin_sample(struct metrics_text *text, const struct metric *metric, const char *suffix,
			 const char *labels)
{
	g_string_append(text->out, metric->name);
	g_string_append(text->out, suffix);
	if (labels && *labels) {
		g_string_append_c(text->out, '{');
		g_string_append(text->out, labels);
		g_string_append_c(text->out, '}');
	}
	g_string_append_c(text->out, ' ');
}

static void add_digits(GString *out, uint64_t value)
{
	char digits[20];
	unsigned int n = sizeof(digits);

	do
		digits[--n] = (char)('0' + value % 10);
	while (value /= 10);
	g_string_append_len(out, digits + n, sizeof(digits) - n);
}

/* Whatever the locale is, with a point. */
static void add_real(GString *out, double value)
{
	char buffer[G_ASCII_DTOSTR_BUF_SIZE];

	g_string_append(out, g_ascii_formatd(buffer, sizeof(buffer), "%.15g", value));
}

static void tell_created(struct metrics_text *text, const struct metric *metric, const char *labels)
{
	if (!text->open_metrics || !(text->created > 0))
		return;
	begin_sample(text, metric, "_created", labels);
	add_real(text->out, text->created);
	end_line(text);
}

void metrics_number(struct metrics_text *text, const struct metric *metric, const char *labels,
		    uint64_t value)
{
	begin_sample(text, metric, metric_suffix(metric), labels);
	add_digits(text->out, value);
	end_line(text);
	if (metric->type == METRIC_COUNTER)
		tell_created(text, metric, labels);
}

void metrics_real(struct metrics_text *text, const struct metric *metric, const char *labels,
		  double value)
{
	begin_sample(text, metric, metric_suffix(metric), labels);
	add_real(text->out, value);
	end_line(text);
	if (metric->type == METRIC_COUNTER)
		tell_created(text, metric, labels);
}

/* OpenMetrics has canonical bounds, with a point: 1.0, 0.003, 1e-05. */
static void add_bucket(struct metrics_text *text, const struct metric *metric, const char *labels,
		       const char *bound, uint64_t count)
{
	g_string_append(text->out, metric->name);
	g_string_append_printf(text->out, "_bucket{%s%sle=\"%s\"} ", labels ? labels : "",
			       labels && *labels ? "," : "", bound);
	add_digits(text->out, count);
	end_line(text);
}

static void bound_text(unsigned int bucket, char *buffer, int size)
{
	g_ascii_formatd(buffer, size, "%.15g", (double)timing_bound_ns(bucket) / 1e9);
	if (!strpbrk(buffer, ".e"))
		g_strlcat(buffer, ".0", (gsize)size);
}

void metrics_timing(struct metrics_text *text, const struct metric *metric, const char *labels,
		    const struct timing *timing, unsigned int first, unsigned int last)
{
	char bound[G_ASCII_DTOSTR_BUF_SIZE];
	uint64_t count = 0;

	for (unsigned int i = 0; i <= TIMING_BOUNDS; i++) {
		count += atomic_load_explicit(&timing->buckets[i], memory_order_relaxed);
		if (i < first || i > last || i == TIMING_BOUNDS)
			continue;
		bound_text(i, bound, sizeof(bound));
		add_bucket(text, metric, labels, bound, count);
	}
	add_bucket(text, metric, labels, "+Inf", count);
	begin_sample(text, metric, "_sum", labels);
	add_real(text->out, (double)atomic_load(&timing->sum_ns) / 1e9);
	end_line(text);
	begin_sample(text, metric, "_count", labels);
	add_digits(text->out, count);
	end_line(text);
	tell_created(text, metric, labels);
}

void metrics_one(struct metrics_text *text, const struct metric *metric, uint64_t value)
{
	metrics_family(text, metric);
	metrics_number(text, metric, NULL, value);
}

void metrics_one_real(struct metrics_text *text, const struct metric *metric, double value)
{
	metrics_family(text, metric);
	metrics_real(text, metric, NULL, value);
}
