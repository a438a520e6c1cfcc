// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/base/problem.h"

#include <string.h>

/* The place at the start of a line, if there is one. */
static GMatchInfo *find_place(const char *line)
{
	static const char pattern[] = "^(\\w+: )?([^:]+):([0-9]{1,9}):(?:([0-9]{1,9}):)? ";
	g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_RAW, (GRegexMatchFlags)0, NULL);
	GMatchInfo *match;

	g_regex_match(regex, line, (GRegexMatchFlags)0, &match);
	return match;
}

static unsigned int number(const GMatchInfo *match, int group)
{
	g_autofree char *text = g_match_info_fetch(match, group);

	return text ? (unsigned int)g_ascii_strtoull(text, NULL, 10) : 0;
}

static void add_line(GVariantBuilder *list, const char *severity, const char *line)
{
	g_autoptr(GMatchInfo) match = find_place(line);
	bool has_place = g_match_info_matches(match);
	g_autofree char *option = has_place ? g_match_info_fetch(match, 1) : NULL;
	g_autofree char *file = has_place ? g_match_info_fetch(match, 2) : NULL;
	g_autofree char *text = NULL;
	int end = 0;
	GVariantBuilder row;

	if (has_place)
		g_match_info_fetch_pos(match, 0, NULL, &end);
	answer_begin(&row);
	answer_text(&row, "file", file ? file : "");
	answer_number(&row, "line", has_place ? number(match, 3) : 0);
	answer_number(&row, "column", has_place ? number(match, 4) : 0);
	answer_text(&row, "severity", severity);
	text = g_strconcat(option ? option : "", line + end, NULL);
	answer_text(&row, "text", text);
	answer_append(list, &row);
}

void problem_add(GVariantBuilder *list, const char *severity, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);

	for (unsigned int i = 0; lines[i]; i++)
		if (*lines[i])
			add_line(list, severity, lines[i]);
}

void problem_add_all(GVariantBuilder *list, const char *severity, const GPtrArray *texts)
{
	for (guint i = 0; texts && i < texts->len; i++)
		problem_add(list, severity, texts->pdata[i]);
}

static void write_row(GVariant *row, GString *out)
{
	const char *file = answer_get_text(row, "file");
	uint64_t line = answer_get_number(row, "line"), column = answer_get_number(row, "column");

	g_string_append_printf(out, "%s:", *file ? file : "opensm");
	if (line)
		g_string_append_printf(out, "%" G_GUINT64_FORMAT ":", line);
	if (column)
		g_string_append_printf(out, "%" G_GUINT64_FORMAT ":", column);
	g_string_append_printf(out, " %s: %s\n", answer_get_text(row, "severity"),
			       answer_get_text(row, "text"));
}

void problem_write_all(GString *out, const char *severity, const GPtrArray *texts)
{
	g_autoptr(GVariant) answer = NULL;
	GVariantBuilder builder, list;

	answer_begin(&builder);
	answer_begin_list(&list);
	problem_add_all(&list, severity, texts);
	answer_member(&builder, "problems", &list);
	answer = g_variant_ref_sink(g_variant_builder_end(&builder));
	answer_each(answer, "problems", write_row, out);
}

void problem_print(GVariant *row, GString *out)
{
	uint64_t line = answer_get_number(row, "line"), column = answer_get_number(row, "column");

	if (!strcmp(answer_get_text(row, "severity"), PROBLEM_ERROR))
		return;
	g_string_append(out, "   problem: ");
	if (line)
		g_string_append_printf(out, "%s:%" G_GUINT64_FORMAT ":",
				       answer_get_text(row, "file"), line);
	if (column)
		g_string_append_printf(out, "%" G_GUINT64_FORMAT ":", column);
	g_string_append_printf(out, "%s%s\n", line ? " " : "", answer_get_text(row, "text"));
}
