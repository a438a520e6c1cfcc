// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Sets up the log as the options say. */
#ifndef CTL_PROCESS_LOGGING_H
#define CTL_PROCESS_LOGGING_H

#include "complib/log.h"
#include "core/options.h"
#include "ctl/process/module_flags.h"

/*
 * Opens the log and applies the options and per_module_logging_file; what is wrong with that file
 * is told when the files of the site are read. NULL and error, which names the file, if the log
 * cannot be written.
 */
struct log *logging_open(const struct options *options, GError **error);

/* Applies flags, limit, flush and the flags of single source files (NULL: none). */
void logging_apply(struct log *log, const struct options *options,
		   const struct module_flags *modules);

#endif
