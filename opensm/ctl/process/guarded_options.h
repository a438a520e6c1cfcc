// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What opensm.conf must not lose unnoticed. A file that has no keys any more, whose last line has
 * lost its end, or that does not mention an option which keeps others out of the subnet, may be
 * empty or cut off. So protection ends only if the file says so, while the daemon runs and at the
 * next start. For the latter a file in the cache directory keeps the names of the options that were
 * set, not their values.
 */
#ifndef CTL_PROCESS_GUARDED_OPTIONS_H
#define CTL_PROCESS_GUARDED_OPTIONS_H

#include "core/options.h"

#define GUARDED_OPTIONS_FILE "options.state"

/* False and error: now has lost an option that before, read from the file, has. */
bool guarded_options_check(const struct options *now, const struct options *before, GError **error);

/* False and error: these options of a start have lost one that was there before. */
bool guarded_options_check_start(const struct options *options, const char *cache_dir,
				 GError **error);
/* The file with the names of guarded options, and its text; free them with g_free(). */
char *guarded_options_file(const char *cache_dir); /* NULL if cache_dir is */
char *guarded_options_text(const struct options *options);

#endif
