// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What opensm.conf must not lose unnoticed. One that has no keys any more, whose last line has lost
 * its end, or that does not mention an option which keeps others out of the subnet, may be an empty
 * or a cut file: protection ends only where the file says so, while the daemon runs and at the next
 * start, for which it is kept in a file of the cache directory which of them there were, not their
 * values.
 */
#ifndef CTL_PROCESS_GUARDED_OPTIONS_H
#define CTL_PROCESS_GUARDED_OPTIONS_H

#include "core/options.h"

#define GUARDED_OPTIONS_FILE "options.state"

/* False and error: now has lost something that before, read of the file, has. */
bool guarded_options_check(const struct options *now, const struct options *before, GError **error);

/* False and error: a start with these has lost something that was there before. */
bool guarded_options_check_start(const struct options *options, const char *cache_dir,
				 GError **error);
/* Where that is kept, and what is to be kept there; to be freed with g_free(). */
char *guarded_options_file(const char *cache_dir); /* NULL if cache_dir is */
char *guarded_options_text(const struct options *options);

#endif
