// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A text that is written once and read in two forms: in full, and without its details. Details are
 * times, digests, and counts that depend on times. Two builds can be compared by them, but in the
 * diff of a change they would hide what matters.
 */
#ifndef TESTS_TALE_H
#define TESTS_TALE_H

#include <glib.h>

enum tale_form { TALE_FULL, TALE_TERSE, TALE_FORMS };

struct tale;

struct tale *tale_new(void);
void tale_free(struct tale *tale);
/* May be changed. */
GString *tale_text(const struct tale *tale, enum tale_form form);

void tale_say(struct tale *tale, const char *format, ...) G_GNUC_PRINTF(2, 3);
void tale_detail(struct tale *tale, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* A line that begins with this text. A form in which no word follows is without the line. */
void tale_begin_line(struct tale *tale, const char *text);
/*
 * One more word, on a new line if this one is full: what is said, and a detail after it. Either may
 * be "".
 */
void tale_word(struct tale *tale, const char *said, const char *detail);
void tale_end_line(struct tale *tale);

#endif
