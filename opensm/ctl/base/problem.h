// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Problems with files, in answers. The input are texts that begin "FILE:LINE: " or
 * "FILE:LINE:COLUMN: ", as every reader of files writes them, with or without the option that names
 * the file before it ("OPTION: "). The output are dictionaries of file, line, column, severity and
 * text, which keeps the option. What a text does not say is "" or 0.
 */
#ifndef CTL_BASE_PROBLEM_H
#define CTL_BASE_PROBLEM_H

#include "ctl/base/answer.h"

#define PROBLEM_ERROR "error" /* the file is refused */
#define PROBLEM_WARNING "warning"

/* Appends one dictionary per line of text; NULL: none. */
void problem_add(GVariantBuilder *list, const char *severity, const char *text);
void problem_add_all(GVariantBuilder *list, const char *severity, const GPtrArray *texts);
/* Writes "FILE:LINE: error: TEXT", as compilers do, for each line of each text. */
void problem_write_all(GString *out, const char *severity, const GPtrArray *texts);
/* A line for people; nothing for an error, which is shown with its file. For answer_each(). */
void problem_print(GVariant *row, GString *out);

#endif
