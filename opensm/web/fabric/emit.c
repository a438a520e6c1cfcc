// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/fabric/emit.h"

#include <math.h>
#include <string.h>

#define EXACT (UINT64_C(1) << 53) /* greater numbers are not exact in a browser */

void emit_init(struct emit *emit, GString *out)
{
	*emit = (struct emit){.out = out};
}

static void comma(struct emit *emit)
{
	if (emit->follows)
		g_string_append_c(emit->out, ',');
	emit->follows = true;
}

void emit_begin(struct emit *emit, char bracket)
{
	comma(emit);
	g_string_append_c(emit->out, bracket);
	emit->follows = false;
}

void emit_end(struct emit *emit, char bracket)
{
	g_string_append_c(emit->out, bracket);
	emit->follows = true;
}

static void append_text(GString *out, const char *text)
{
	g_string_append_c(out, '"');
	for (const char *c = text; *c; c++) {
		if (*c == '"' || *c == '\\')
			g_string_append_c(out, '\\');
		if ((unsigned char)*c < 0x20 || *c == 0x7F)
			g_string_append_printf(out, "\\u%04x", (unsigned int)(unsigned char)*c);
		else
			g_string_append_c(out, *c);
	}
	g_string_append_c(out, '"');
}

void emit_key(struct emit *emit, const char *key)
{
	comma(emit);
	append_text(emit->out, key);
	g_string_append_c(emit->out, ':');
	emit->follows = false;
}

void emit_text(struct emit *emit, const char *text)
{
	comma(emit);
	if (text)
		append_text(emit->out, text);
	else
		g_string_append(emit->out, "null");
}

void emit_number(struct emit *emit, uint64_t number)
{
	const char *quote = number >= EXACT ? "\"" : "";

	comma(emit);
	g_string_append_printf(emit->out, "%s%" G_GUINT64_FORMAT "%s", quote, number, quote);
}

void emit_real(struct emit *emit, double number)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	comma(emit);
	if (isfinite(number))
		g_string_append(emit->out, g_ascii_formatd(text, sizeof(text), "%.4g", number));
	else
		g_string_append(emit->out, "null");
}

void emit_flag(struct emit *emit, bool flag)
{
	comma(emit);
	g_string_append(emit->out, flag ? "true" : "false");
}

void emit_guid(struct emit *emit, uint64_t guid)
{
	comma(emit);
	if (guid)
		g_string_append_printf(emit->out, "\"0x%016" G_GINT64_MODIFIER "x\"", guid);
	else
		g_string_append(emit->out, "null");
}

void emit_table(struct emit *emit, const char *const *columns, unsigned int n)
{
	emit_begin(emit, '{');
	emit_key(emit, "columns");
	emit_begin(emit, '[');
	for (unsigned int i = 0; i < n; i++)
		emit_text(emit, columns[i]);
	emit_end(emit, ']');
	emit_key(emit, "rows");
	emit_begin(emit, '[');
}

void emit_table_end(struct emit *emit)
{
	emit_end(emit, ']');
	emit_end(emit, '}');
}
