// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Sets up the log as the options say. */
#ifndef CTL_PROCESS_LOGGING_H
#define CTL_PROCESS_LOGGING_H

#include "complib/log.h"
#include "core/options.h"

/*
 * Opens the log and applies the options. NULL and error, which names the file, if the log cannot be
 * written, or if per_module_logging_file exists but cannot be read.
 */
struct log *logging_open(const struct options *options, GError **error);

/*
 * Applies flags, limit, flush and the flags of single source files. Mistakes in
 * per_module_logging_file are logged with file and line, and that line is skipped. A file that
 * cannot be read is logged too; a missing file is not a mistake.
 */
void logging_apply(struct log *log, const struct options *options);

/*
 * logging_apply() in two parts. Any thread: reads per_module_logging_file; free the text with
 * g_free(); NULL if there is no such file, and error if it cannot be read. Then: applies the
 * options and that text.
 */
char *logging_read(const struct options *options, GError **error);
void logging_apply_text(struct log *log, const struct options *options, const char *text);

/*
 * False and error if per_module_logging_file exists but cannot be read; mistakes (char *) gets the
 * mistakes in its lines.
 */
bool logging_check(const struct options *options, GPtrArray *mistakes, GError **error);

#endif
