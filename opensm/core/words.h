// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A file of rules in words: one rule per line, words between blanks, '#' begins a comment. A wrong
 * line is reported with its place and what was expected (mistakes.h), and the next one is read.
 */
#ifndef CORE_WORDS_H
#define CORE_WORDS_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* The words of a line. The word has length octets, 0 at the end of the line. */
struct words {
	const char *file;
	GQuark domain;	   /* of the errors */
	bool takes_quotes; /* "a word" may have blanks; the word is without its quotes */

	/* Of the line that is being read. */
	unsigned int line;
	const char *word;
	size_t length;
	bool quoted;
	bool torn; /* the final quote is missing */

	const char *begin, *end; /* private */
};

/*
 * Calls read() at the first word of each line that has one. False and an error with all mistakes,
 * if there are some.
 */
bool words_read(struct words *words, const char *text, size_t length,
		bool (*read)(struct words *words, GError **error), GError **error);

void words_next(struct words *words);
bool words_at_end(const struct words *words);		     /* of the line */
bool words_is(const struct words *words, const char *known); /* not if it is quoted */

/* False, and the error that the word was found where that was expected. */
bool words_refuse(const struct words *words, GError **error, const char *expected, ...)
	G_GNUC_PRINTF(3, 4);

#endif
