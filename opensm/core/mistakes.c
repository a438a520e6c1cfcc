// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "core/mistakes.h"

void mistakes_add(struct mistakes *mistakes, const char *line)
{
	if (line && mistakes_have_room(mistakes)) {
		if (!mistakes->lines)
			mistakes->lines = g_string_new(NULL);
		g_string_append_printf(mistakes->lines, "%s%s", mistakes->lines->len ? "\n" : "",
				       line);
	}
	mistakes->n++;
}

void mistakes_take(struct mistakes *mistakes, GError *error)
{
	mistakes_add(mistakes, error->message);
	g_error_free(error);
}

bool mistakes_end(struct mistakes *mistakes, const char *file, GQuark domain, int code,
		  GError **error)
{
	if (mistakes->n > MISTAKES_TOLD)
		g_string_append_printf(mistakes->lines, "\n%s: %u more mistakes", file,
				       mistakes->n - MISTAKES_TOLD);
	if (mistakes->n)
		g_set_error_literal(error, domain, code, mistakes->lines->str);
	if (mistakes->lines)
		g_string_free(mistakes->lines, TRUE);
	mistakes->lines = NULL;
	return !mistakes->n;
}
