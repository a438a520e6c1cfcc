// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tale.h"

#include <string.h>

#define COLUMNS 100
#define TAB 6 /* columns that it has beyond its characters, and a line break */

struct tale {
	struct {
		GString *text;
		size_t line;  /* offset of the line that was begun */
		size_t words; /* offset of its first word */
	} forms[TALE_FORMS];
};

struct tale *tale_new(void)
{
	struct tale *tale = g_new0(struct tale, 1);

	for (unsigned int i = 0; i < TALE_FORMS; i++)
		tale->forms[i].text = g_string_new(NULL);
	return tale;
}

void tale_free(struct tale *tale)
{
	for (unsigned int i = 0; i < TALE_FORMS; i++)
		g_string_free(tale->forms[i].text, TRUE);
	g_free(tale);
}

GString *tale_text(const struct tale *tale, enum tale_form form)
{
	return tale->forms[form].text;
}

void tale_say(struct tale *tale, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	for (unsigned int i = 0; i < TALE_FORMS; i++)
		g_string_append(tale->forms[i].text, text);
}

void tale_detail(struct tale *tale, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_string_append_vprintf(tale->forms[TALE_FULL].text, format, args);
	va_end(args);
}

void tale_begin_line(struct tale *tale, const char *text)
{
	for (unsigned int i = 0; i < TALE_FORMS; i++) {
		tale->forms[i].line = tale->forms[i].text->len;
		g_string_append(tale->forms[i].text, text);
		tale->forms[i].words = tale->forms[i].text->len;
	}
}

static void add_word(struct tale *tale, enum tale_form form, const char *said, const char *detail)
{
	GString *text = tale->forms[form].text;
	const char *line = text->str + tale->forms[form].line, *begin = strrchr(line, '\n');
	size_t used = begin ? strlen(begin) + TAB : strlen(line);

	g_string_append(text, used + strlen(said) + strlen(detail) < COLUMNS ? " " : "\n\t");
	g_string_append(text, said);
	g_string_append(text, detail);
}

void tale_word(struct tale *tale, const char *said, const char *detail)
{
	add_word(tale, TALE_FULL, said, detail);
	if (*said)
		add_word(tale, TALE_TERSE, said, "");
}

void tale_end_line(struct tale *tale)
{
	for (unsigned int i = 0; i < TALE_FORMS; i++) {
		GString *text = tale->forms[i].text;

		if (text->len > tale->forms[i].words)
			g_string_append_c(text, '\n');
		else
			g_string_truncate(text, tale->forms[i].line);
	}
}
