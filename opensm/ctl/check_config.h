// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* opensm --check-config: would it start with these files? */
#ifndef CTL_CHECK_CONFIG_H
#define CTL_CHECK_CONFIG_H

#include "core/options.h"

/*
 * Reads every file that the options name, as a start does, without a port. JSON, newly allocated:
 * errors, each of which stops a start, and warnings, as of ctl/problem.h. options is NULL if they
 * are wrong themselves, then error says why; warnings are those of the options. *good: there was no
 * error.
 */
char *check_config(const struct options *options, const GError *error, const GPtrArray *warnings,
		   bool *good);

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
