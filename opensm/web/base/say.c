// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/base/say.h"

void say_json(GString *out, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);

	g_string_append_c(out, '"');
	for (const char *c = valid; *c; c++)
		if (*c == '"' || *c == '\\')
			g_string_append_printf(out, "\\%c", *c);
		else if (g_ascii_iscntrl(*c))
			g_string_append_printf(out, "\\u%04x", *c);
		else
			g_string_append_c(out, *c);
	g_string_append_c(out, '"');
}
