// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "client/say.h"

#include <stdlib.h>
#include <unistd.h>

#define MINUTE_US (60 * G_USEC_PER_SEC)
#define LINES_A_MINUTE 20

/* Text of clients must not be taken for another line. */
static void append_shown(GString *out, const char *text)
{
	for (const char *c = text; *c; c++)
		if (g_ascii_iscntrl(*c))
			g_string_append_printf(out, "\\x%02x", (unsigned char)*c);
		else
			g_string_append_c(out, *c);
}

void say(int priority, const char *format, ...)
{
	const char *stream = getenv("JOURNAL_STREAM"), *name = g_get_prgname();
	g_autoptr(GString) line = g_string_new(NULL);
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	if (stream && *stream)
		g_string_append_printf(line, "<%d>", priority);
	else
		g_string_append_printf(line, "%s: ", name ? name : "?");
	append_shown(line, text);
	g_string_append_c(line, '\n');
	/* One write, so that lines are whole; nowhere to tell that it failed. */
	if (write(STDERR_FILENO, line->str, line->len) < 0)
		return;
}

bool say_may(struct say_limit *limit, gint64 now_us)
{
	if (!limit->told || now_us - limit->since_us >= MINUTE_US)
		*limit = (struct say_limit){.since_us = now_us};
	if (limit->told++ == LINES_A_MINUTE)
		say(LOG_WARNING, "more such lines are not told in the next minute");
	return limit->told <= LINES_A_MINUTE;
}
