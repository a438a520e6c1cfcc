// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The log as the options want it. */
#ifndef CTL_PROCESS_LOGGING_H
#define CTL_PROCESS_LOGGING_H

#include "complib/log.h"
#include "core/options.h"

/*
 * Opens the log and applies the options; NULL and error naming the file if it cannot be written, or
 * if per_module_logging_file is there and cannot be read.
 */
struct log *logging_open(const struct options *options, GError **error);

/*
 * Flags, limit, flush and the flags of single source files; mistakes of per_module_logging_file
 * are logged by file and line, and that line is left out. One that cannot be read is
 * logged too; one that is not there is no mistake.
 */
void logging_apply(struct log *log, const struct options *options);

/*
 * The same in two parts: what per_module_logging_file has, to be freed with g_free(), by any
 * thread, NULL if there is none to go by, and error if it cannot be read; and what goes by it.
 */
char *logging_read(const struct options *options, GError **error);
void logging_apply_text(struct log *log, const struct options *options, const char *text);

/*
 * False and error if per_module_logging_file is there and cannot be read; mistakes (char *) are
 * those of its lines.
 */
bool logging_check(const struct options *options, GPtrArray *mistakes, GError **error);

#endif
