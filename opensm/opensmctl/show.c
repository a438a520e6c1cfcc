// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The daemon makes its texts harmless, but the server may be another program. */
#include "opensmctl/show.h"

#include "ctl/base/answer.h"

char *show_harmless(const char *text)
{
	g_auto(GStrv) parts = g_regex_split_simple("([\\n\\t])", text, G_REGEX_RAW, 0);
	GString *out = g_string_new(NULL);

	for (unsigned int i = 0; parts[i]; i++) {
		g_autofree char *part = i % 2 ? g_strdup(parts[i]) : answer_printable(parts[i]);

		g_string_append(out, part);
	}
	return g_string_free(out, FALSE);
}

void show(FILE *out, const char *text)
{
	g_autofree char *harmless = show_harmless(text);

	fputs(harmless, out);
	fflush(out);
}
