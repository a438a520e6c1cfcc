// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "core/skipped_lines.h"

#include <stdbool.h>
#include <string.h>

#include "complib/file.h"

#define SHOWN 64 /* octets of what was found that a warning shows */

void skip_line(struct skipped_lines *lines, const char *found, const char *expected)
{
	g_autofree char *shown = g_strndup(found, SHOWN), *escaped = g_strescape(shown, "\"\\");

	if (lines->n++ < SKIPPED_LINES_TOLD)
		g_ptr_array_add(lines->warnings,
				g_strdup_printf("%s:%u: found '%s%s', expected %s", lines->file,
						lines->number, escaped,
						strlen(found) > SHOWN ? "..." : "", expected));
}

void skipped_lines_read(struct skipped_lines *lines, const char *text, size_t length,
			void (*take)(struct skipped_lines *lines, char *line))
{
	const char *end = text + length;

	while (text < end) {
		bool has_nul;
		g_autofree char *line = file_next_line(&text, end, &has_nul);

		lines->number++;
		if (has_nul)
			skip_line(lines, line, "text, without NUL");
		else
			take(lines, line);
	}
	if (lines->n > SKIPPED_LINES_TOLD)
		g_ptr_array_add(lines->warnings,
				g_strdup_printf("%s: %u more lines are wrong", lines->file,
						lines->n - SKIPPED_LINES_TOLD));
}
