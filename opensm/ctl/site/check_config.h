// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Would the daemon start with these files? For opensm --check-config, and for files read again. */
#ifndef CTL_SITE_CHECK_CONFIG_H
#define CTL_SITE_CHECK_CONFIG_H

#include "core/options.h"

/*
 * Reads every file that the options name, as a start does, without a port. A newly allocated text
 * for people, "FILE:LINE: error: TEXT" a line, or JSON: errors, each of which stops a start, and
 * warnings, as of ctl/base/problem.h. error says what is wrong with the options themselves (NULL:
 * nothing), warnings are those of the options, which are NULL where no file can be known. *good:
 * there was no error.
 */
char *check_config(const struct options *options, const GError *error, const GPtrArray *warnings,
		   bool json, bool *good);

/* After a start that error stopped: a line for each other error that would. */
char *check_config_others(const struct options *options, const GError *error);

/* Whether there are the engines that routing_engine names, and one that may be used. */
bool check_config_engines(const struct options *options, GError **error);

/*
 * While the daemon runs with options before: false and error if a start would refuse what the
 * file says now of keys that need one.
 */
bool check_config_restart(const struct options *options, const struct options *before,
			  GError **error);
/*
 * The same of a file that is read again: nor may it have lost all keys that it had, or one that
 * guards the subnet (guarded_options.h), or its end.
 */
bool check_config_again(const struct options *options, const struct options *before,
			GError **error);

#endif
