// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "core/printable.h"

#include <glib.h>

char *printable_text(const char *text)
{
	GString *out = g_string_new(NULL);

	while (*text) {
		gunichar c = g_utf8_get_char_validated(text, -1);

		if (c < 0x110000 && g_unichar_isprint(c)) {
			g_string_append_unichar(out, c);
			text = g_utf8_next_char(text);
		} else {
			g_string_append_printf(out, "\\x%02x", (unsigned char)*text++);
		}
	}
	return g_string_free(out, FALSE);
}
