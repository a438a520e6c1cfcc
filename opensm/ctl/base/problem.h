// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is wrong with files, in answers: from texts that begin "FILE:LINE: " or "FILE:LINE:COLUMN:
 * ", as all that read files write them, with the option that names the file before it, "OPTION: ",
 * or not: dictionaries of file, line, column, severity and text, which keeps the option. What a
 * text does not say is "" or 0.
 */
#ifndef CTL_BASE_PROBLEM_H
#define CTL_BASE_PROBLEM_H

#include "ctl/base/answer.h"

#define PROBLEM_ERROR "error" /* the file is refused */
#define PROBLEM_WARNING "warning"

/* Appends them, of each line of a text; NULL: none. */
void problem_add(GVariantBuilder *list, const char *severity, const char *text);
void problem_add_all(GVariantBuilder *list, const char *severity, const GPtrArray *texts);
/* "FILE:LINE: error: TEXT" as compilers write it, a line for each line of a text. */
void problem_write_all(GString *out, const char *severity, const GPtrArray *texts);
/* A line for people; of an error none, as that is told with the file. For answer_each(). */
void problem_print(GVariant *row, GString *out);

#endif
