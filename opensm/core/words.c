// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "core/words.h"

#include <stdarg.h>
#include <string.h>

#include "core/mistakes.h"

#define SHOWN 40 /* characters of a wrong word shown in a message */

void words_next(struct words *words)
{
	const char *end;

	words->word += words->length + (words->quoted && !words->torn);
	while (words->word < words->end && memchr(" \t\r", *words->word, 3))
		words->word++;
	words->length = 0;
	words->quoted = words->torn = false;
	if (words->word < words->end && *words->word == '#')
		words->end = words->word;
	if (words->takes_quotes && words->word < words->end && *words->word == '"') {
		words->word++;
		end = memchr(words->word, '"', (size_t)(words->end - words->word));
		words->quoted = true;
		words->torn = !end;
		words->length = (size_t)((end ? end : words->end) - words->word);
		return;
	}
	while (words->word + words->length < words->end &&
	       !memchr(" \t\r#", words->word[words->length], 4))
		words->length++;
}

bool words_at_end(const struct words *words)
{
	return !words->length && !words->quoted;
}

bool words_is(const struct words *words, const char *known)
{
	return known && !words->quoted && strlen(known) == words->length &&
	       memcmp(words->word, known, words->length) == 0;
}

bool words_refuse(const struct words *words, GError **error, const char *expected, ...)
{
	g_autofree char *word = g_strndup(words->word, MIN(words->length, SHOWN));
	g_autofree char *shown = g_strescape(word, words->takes_quotes ? "\"\\" : NULL);
	g_autofree char *what = NULL;
	bool at_end = words_at_end(words);
	va_list args;

	va_start(args, expected);
	what = g_strdup_vprintf(expected, args);
	va_end(args);
	g_set_error(error, words->domain, 0, "%s:%u:%u: found %s%s%s, expected %s", words->file,
		    words->line, (unsigned int)(words->word - words->quoted - words->begin) + 1,
		    at_end ? "" : "'", at_end ? "the end of the line" : shown, at_end ? "" : "'",
		    what);
	return false;
}

bool words_read(struct words *words, const char *text, size_t length,
		bool (*read)(struct words *words, GError **error), GError **error)
{
	const char *end = text + length;
	struct mistakes mistakes = {0};

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		GError *why = NULL;

		words->line++;
		words->begin = words->word = text;
		words->end = stop ? stop : end;
		words->length = 0;
		words->quoted = words->torn = false;
		text = words->end + 1;
		words_next(words);
		if (!words_at_end(words) && !read(words, &why))
			mistakes_take(&mistakes, why);
	}
	return mistakes_end(&mistakes, words->file, words->domain, 0, error);
}
