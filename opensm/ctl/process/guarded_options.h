// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Options that keep others out of the subnet. An opensm.conf that does not mention one any more may
 * be an empty or a cut file: protection ends only where it says so, while the daemon runs and at
 * the next start, for which the names of those in use, not their values, are kept in a file of the
 * cache directory.
 */
#ifndef CTL_PROCESS_GUARDED_OPTIONS_H
#define CTL_PROCESS_GUARDED_OPTIONS_H

#include "core/options.h"

#define GUARDED_OPTIONS_FILE "options.state"

/* False and error: now says nothing of an option that before, read of the file, has. */
bool guarded_options_check(const struct options *now, const struct options *before, GError **error);

/* False and error: a start with these says nothing of an option that was in use before. */
bool guarded_options_check_start(const struct options *options, const char *cache_dir,
				 GError **error);
/* Where their names are kept, and what is to be kept there; to be freed with g_free(). */
char *guarded_options_file(const char *cache_dir); /* NULL if cache_dir is */
char *guarded_options_text(const struct options *options);

#endif
