// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The daemon makes its texts harmless, but the server may be another program. */
#include "opensmctl/show.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/printable.h"
#include "ctl/base/answer.h"

#define PIECE 65536

char *show_harmless(const char *text)
{
	g_auto(GStrv) parts = g_regex_split_simple("([\\n\\t])", text, G_REGEX_RAW, 0);
	GString *out = g_string_new(NULL);

	for (unsigned int i = 0; parts[i]; i++) {
		g_autofree char *part = i % 2 ? g_strdup(parts[i]) : printable_text(parts[i]);

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

bool show_takes_file(FILE *out, int file)
{
	g_autofree char *piece = g_malloc(PIECE);
	ssize_t n = 0;

	if (isatty(fileno(out)))
		n = pread(file, piece, PIECE, 0);
	return n <= 0 || !memchr(piece, '\0', (size_t)n);
}

/* Where the file was written to last is where its descriptor is, so it is read by position. */
bool show_file(FILE *out, int file)
{
	g_autofree char *piece = g_malloc(PIECE + 1);
	off_t at = 0;
	ssize_t n;

	while ((n = pread(file, piece, PIECE, at)) > 0) {
		piece[n] = '\0';
		if (isatty(fileno(out)))
			show(out, piece);
		else if (fwrite(piece, 1, (size_t)n, out) != (size_t)n)
			return false;
		at += n;
	}
	return n == 0 && fflush(out) == 0;
}
